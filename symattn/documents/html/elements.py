"""What elements of HTML mean to a reader of formulas and figures."""

from __future__ import annotations

import re

from symattn.documents.html.tokens import Tag
from symattn.spelling import words

HEADINGS = {f"h{level}": level for level in range(1, 7)}
#: Elements that begin and end a paragraph.
APART = words(
    "address article aside blockquote body caption center dd details div dl dt fieldset figcaption"
    " figure footer form header hr html li main ol p section summary table tbody tfoot thead tr td"
    " th ul"
)
CODE = frozenset(("code", "tt", "samp"))
_VOID = words("area base br col embed hr img input link meta param source track wbr")
#: Elements, classes and roles of what is no part of an article's text.
_SKIPPED = words(
    "audio button canvas datalist footer iframe kbd nav noscript object script select style svg"
    " template textarea video"
)
_SKIPPED_CLASSES = words(
    "katex-html katex-error anchor-link headerlink header-anchor code-copy-button prompt"
    " jp-InputPrompt jp-OutputPrompt linenos linenodiv lineno linenumber gutter line-numbers"
    " rouge-gutter hljs-ln-numbers lnt ln"
)
_SKIPPED_ROLES = frozenset(("navigation", "search", "contentinfo", "doc-noteref"))
#: Classes of tables that only put numbers of lines beside code.
LAYOUTS = frozenset(("highlighttable", "rouge-table", "lntable", "hljs-ln"))
#: Classes of what a cell of a notebook printed.
_OUTPUTS = words(
    "jp-OutputArea-output jp-RenderedText output_area output_text output_subarea cell-output"
    " cell_output output"
)
#: Classes of what MathJax rendered.
_RENDERED = words("MathJax MathJax_Display MathJax_Preview MathJax_SVG MathJax_CHTML")
_IMAGES = words("latex tex math ql-img-inline-formula ql-img-displayed-equation")
_LANGUAGE = re.compile(r"(?:language|lang|highlight-source|highlight|hl)-([\w+#-]++)")
#: Classes beside the language in what Pandoc highlights.
_BESIDE = words("sourceCode numberSource numberLines cell-code code-with-copy")


def is_void(tag: Tag) -> bool:
    """Whether an element has no end."""
    return tag.name in _VOID or tag.rest.string.endswith("/")


def is_skipped(tag: Tag) -> bool:
    """Whether an element has nothing of the article."""
    return (
        tag.name in _SKIPPED
        or not tag.classes.isdisjoint(_SKIPPED_CLASSES)
        or tag.value("role") in _SKIPPED_ROLES
        or "hidden" in tag.attributes
    )


def is_output(tag: Tag) -> bool:
    """Whether an element holds what code printed."""
    return tag.name == "samp" or not tag.classes.isdisjoint(_OUTPUTS)


def is_rendered(tag: Tag) -> bool:
    """Whether an element is a formula that MathJax rendered."""
    return tag.name == "mjx-container" or not tag.classes.isdisjoint(_RENDERED)


def is_formula_image(tag: Tag) -> bool:
    """Whether an image says that its text is a formula."""
    return any(name in _IMAGES or name.startswith("mwe-math") for name in tag.classes)


def language(tag: Tag) -> str:
    """The language of code that an element's classes tell, in lower case; or ''."""
    for name in sorted(tag.classes):
        if match := _LANGUAGE.fullmatch(name):
            return match[1].lower()
    if "sourceCode" in tag.classes:
        return min(tag.classes - _BESIDE, default="").lower()
    return ""
