"""How Sphinx builds these pages: ``sphinx-build -W docs build/docs``."""

from symattn import __version__

project = "symattn"
author = "the symattn maintainers"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = f"symattn {release}"
myst_heading_anchors = 3
autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
# Tables of answers are shown as csv, which Pygments does not colour.
suppress_warnings = ["misc.highlighting_failure"]
