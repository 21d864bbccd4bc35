"""Live figures in Sphinx and Jupyter Book: an extension, ``symattn.live.sphinx``.

A page is computed from the file that it names, by a directive or in its front matter, else
from the page itself. What can't be computed is a warning of Sphinx, with file and line,
which ``sphinx-build -W`` fails on, and an error at its place on the page.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx
from sphinx.domains import Domain
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from symattn.errors import SymattnError
from symattn.live.figures import IN_MATHEMATICS, Mathematics, Paragraph, Piece, Text
from symattn.live.myst import data_address
from symattn.live.names import CASE, NAMES, Kind
from symattn.live.origins import Origin, origin
from symattn.live.places import file_named

_log = logging.getLogger(__name__)
#: Where a build keeps what a page is computed from while it is read.
_KEY = "symattn"
#: The directive that names its file, in reStructuredText.
_DIRECTIVE = re.compile(rf"^[ \t]*\.\.[ \t]+{CASE}::[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the roles, the directives, and what computes figures in mathematics."""
    app.add_role(_Domain.name, _Role("number"))
    app.add_directive(_Domain.name, _directive("number"))
    app.add_domain(_Domain)
    app.add_transform(_InMathematics)
    app.connect("env-get-outdated", _outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _outdated(app: Sphinx, env: BuildEnvironment, *changes: object) -> list[str]:
    """Pages with live figures are read in every build: what they are computed from may have
    changed, and what that extends."""
    domain = env.get_domain(_Domain.name)
    return sorted(domain.data["pages"])


def _origin(env: BuildEnvironment) -> Origin:
    """What the figures of the page that is read are computed from; raises
    :class:`SymattnError` where that fails, each time again."""
    found = env.temp_data.get(_KEY)
    env.get_domain(_Domain.name).data["pages"].add(env.docname)
    if found is None:
        page = Path(env.doc2path(env.docname))
        try:
            text = page.read_text("utf-8")
            directive = _DIRECTIVE.search(text)
            named = directive[1] if directive else file_named(text)
            path = page
            if named is not None:
                _, absolute = env.relfn2path(named)
                path = Path(absolute)
            found = origin(path)
        except SymattnError as error:
            found = error
        env.temp_data[_KEY] = found
    if isinstance(found, SymattnError):
        raise found
    assert isinstance(found, Origin)
    return found


def _fault(text: str, error: SymattnError, place: Any) -> nodes.Node:
    """What a reader sees where a figure can't be computed; Sphinx warns of it."""
    message = f"{text}: {error}"
    _log.warning(message, location=place, type="symattn")
    return nodes.strong("", f"[symattn: {message}]", classes=["error"])


class _Role(SphinxRole):
    """A figure inside a line."""

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self._kind: Kind = kind

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        try:
            pieces = _origin(self.env).figures.inline(self._kind, self.text)
        except SymattnError as error:
            return [_fault(self.text, error, self.get_location())], []
        return [*map(_node, pieces)], []


def _directive(kind: Kind) -> type[Directive]:
    """The directive of figures of one kind on lines of their own."""

    class Figure(SphinxDirective):
        required_arguments = 1
        final_argument_whitespace = True

        def run(self) -> list[nodes.Node]:
            text = self.arguments[0]
            try:
                paragraphs = _origin(self.env).figures.paragraphs(kind, text)
            except SymattnError as error:
                return [nodes.paragraph("", "", _fault(text, error, self.get_location()))]
            return [*map(_paragraph, paragraphs)]

    return Figure


def _inside(name: str) -> str:
    """A name inside its domain."""
    return name.partition(":")[2]


class _Case(SphinxDirective):
    """Names the file that the figures of a page are computed from; nothing stands there."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        return []


class _Domain(Domain):
    """What is called ``symattn:`` something, and the pages that have live figures."""

    name = "symattn"
    label = "symattn"
    roles = {_inside(name): _Role(kind) for name, kind in NAMES.items()}  # noqa: RUF012
    directives = {  # noqa: RUF012
        _inside(CASE): _Case,
        **{_inside(name): _directive(kind) for name, kind in NAMES.items()},
    }

    initial_data = {"pages": set()}  # noqa: RUF012

    def clear_doc(self, docname: str) -> None:
        """Forget a page that is read anew."""
        self.data["pages"].discard(docname)

    def merge_domaindata(self, docnames: object, otherdata: Any) -> None:
        """Take over the pages that another process has read."""
        self.data["pages"] |= otherdata["pages"]


class _InMathematics(SphinxTransform):
    r"""Computes ``\symattn{A[0, 1]}`` in formulas."""

    default_priority = 500

    def apply(self, **named: Any) -> None:
        for kind in (nodes.math, nodes.math_block):
            for formula in [*self.document.findall(kind)]:
                latex = formula.astext()
                if not IN_MATHEMATICS.search(latex):
                    continue
                try:
                    computed = _origin(self.env).figures.mathematics(latex)
                except SymattnError as error:
                    fault = _fault(latex, error, formula)
                    inline = kind is nodes.math
                    formula.replace_self(fault if inline else nodes.paragraph("", "", fault))
                else:
                    formula.clear()
                    formula.append(nodes.Text(computed))
                    formula.rawsource = computed


def _paragraph(pieces: Paragraph) -> nodes.Node:
    made = [*map(_node, pieces)]
    if len(made) == 1 and isinstance(made[0], nodes.math_block | nodes.image):
        return made[0]
    return nodes.paragraph("", "", *made)


def _node(piece: Piece) -> nodes.Node:
    match piece:
        case Text(text):
            return nodes.Text(text)
        case Mathematics(_, display):
            latex = piece.latex
            if display:
                return nodes.math_block(latex, latex, number=None, nowrap=False, label=None)
            return nodes.math(latex, latex)
        case _:
            return nodes.image("", uri=data_address(piece), alt=piece.words)
