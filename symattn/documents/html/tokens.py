"""The tokens of HTML: tags, comments and characters, each with its place.

The standard library's parser tells where a tag begins, not where its attributes do,
and formulas stand in those too.

Formulas in the text of pages that MathJax or KaTeX render where they are read.

What elements of HTML mean to a reader of formulas and figures.

Tables of HTML while their cells come.

MathML to the source that LaTeX would have, each character with its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from typing import Literal

from symattn.documents.article import BlockPart, PartKind, TableCell
from symattn.documents.latex.macros import joined
from symattn.documents.text import DISPLAYS, INNER, Span, Text
from symattn.spelling import words

_TOKEN = re.compile(
    r"""
    (?P<comment> <!-- )
    # As browsers have it: a tag goes on to its end, whatever is in it.
    | < (?P<closes> / )?+ (?P<name> [A-Za-z][\w:-]*+ ) (?= [\s/>] | \Z )
      (?P<attributes> (?: [^>"'=]++ | = \s*+ " [^"]*+ " | = \s*+ ' [^']*+ ' | ["'=] )*+ ) >?+
    | <[!?/] [^>]*+ >?+
    | (?: [^<]++ | < (?![A-Za-z!?/]) )++
    | <
    """,
    re.VERBOSE,
)
_ATTRIBUTE = re.compile(
    r"""(?P<name> [^\s=>"'/]++ )
    (?: \s*+ = \s*+ (?: "(?P<double>[^"]*+)" | '(?P<single>[^']*+)' | (?P<bare>[^\s>"']++) ) )?+""",
    re.VERBOSE,
)
_ENTITY = re.compile(r"&(?:#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z][A-Za-z0-9]{0,40});?")
#: Elements whose text has no tags.
_RAW = {"script", "style", "textarea", "title", "xmp"}


@dataclass(frozen=True)
class Tag:
    """A tag, as a whole and what stands behind its name."""

    name: str
    closes: bool
    whole: Text
    rest: Text

    @cached_property
    def attributes(self) -> Mapping[str, Text]:
        """The values of its attributes by their names in lower case."""
        values: dict[str, Text] = {}
        for match in _ATTRIBUTE.finditer(self.rest.string):
            group = match.lastgroup if match.lastgroup != "name" else None
            value = self.rest.group(match, group) if group else self.rest[:0]
            values.setdefault(match["name"].lower(), value)
        return values

    def value(self, name: str) -> str:
        """The value of an attribute; '' where it has none."""
        text = self.attributes.get(name)
        return unescape(text.string) if text is not None else ""

    @cached_property
    def classes(self) -> frozenset[str]:
        """Its classes."""
        return frozenset(self.value("class").split())


@dataclass(frozen=True)
class Comment:
    """What a comment says."""

    text: Text


@dataclass(frozen=True)
class Characters:
    """Characters between tags; entities stand as they are written."""

    text: Text


Token = Tag | Comment | Characters


def tokens(source: Text) -> Iterator[Token]:
    """The tokens of a source; the text of scripts, styles and the title is one.

    >>> [type(token).__name__ for token in tokens(Text.whole("<p>a<!-- b --></p>"))]
    ['Tag', 'Characters', 'Comment', 'Tag']
    """
    string, at = source.string, 0
    while match := _TOKEN.match(string, at):
        start, at = at, match.end()
        if match["comment"]:
            end = string.find("-->", at)
            yield Comment(source[at : len(string) if end < 0 else end])
            at = len(string) if end < 0 else end + 3
        elif name := match["name"]:
            name = name.lower()
            rest = source.group(match, "attributes")
            yield Tag(name, bool(match["closes"]), source[start:at], rest)
            if name in _RAW and not match["closes"]:
                ending = re.compile(f"</{name}", re.IGNORECASE).search(string, at)
                start, at = at, ending.start() if ending else len(string)
                yield Characters(source[start:at])
        elif string[start : start + 2] not in ("<!", "<?", "</"):
            yield Characters(source[start:at])


def decoded(text: Text) -> Text:
    """Text with its entities as the characters that they stand for.

    >>> decoded(Text.whole("1 &lt; 2")).span(2, 3)
    Span(start=2, end=6)
    """
    return text.sub(_ENTITY, lambda entity: unescape(entity[0]))


_OPENING = re.compile(r"\\[\\$]|\\\(|\\\[|\$\$|\$|\\begin\{(?P<name>[A-Za-z]{1,20}\*?)\}")
_CLOSING = {"\\(": "\\)", "\\[": "\\]", "$$": "$$", "$": "$"}

Display = Literal["display"]


def split(text: Text, dollars: bool) -> Iterator[tuple[PartKind | Display, Text]]:
    """A text as words and the sources of formulas in it; ``dollars`` where a single one
    is a mark too.

    >>> [(kind, str(piece)) for kind, piece in split(Text.whole(r"so \\(x\\): $5"), False)]
    [('text', 'so '), ('math', 'x'), ('text', ': $5')]
    """
    string, at, done = text.string, 0, 0
    missing: set[str] = set()
    while match := _OPENING.search(string, at):
        at, mark, name = match.end(), match[0], match["name"]
        is_inner = name is not None and name.rstrip("*") in INNER
        if name is None:
            closing = _CLOSING.get(mark, "")
        else:
            closing = f"\\end{{{name}}}" if is_inner or name.rstrip("*") in DISPLAYS else ""
        if not closing or closing in missing or (mark == "$" and not dollars):
            continue
        end = string.find(closing, at)
        if end < 0:
            missing.add(closing)
            continue
        if mark == "$" and not _is_formula(string, at, end):
            continue
        yield "text", text[done : match.start()]
        done = end + len(closing)
        inner = text[match.start() : done] if is_inner else text[at:end]
        yield ("math" if mark in ("$", "\\(") else "display"), inner
        at = done
    yield "text", text[done:]


def _is_formula(string: str, at: int, end: int) -> bool:
    """Whether what stands between two dollars is a formula, and not two prices."""
    following = string[end + 1 : end + 2]
    return not (string[at].isspace() or string[end - 1].isspace() or following.isdigit())


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


#: Columns and rows that one cell may span.
_SPANNED = 50
#: Empty cells of a table that are put in for such cells; beyond, each is one cell.
_EMPTIES = 10_000
_EMPTY = {False: TableCell(()), True: TableCell((), is_head=True)}


class HtmlTable:
    """Cells in rows; what spans several leaves empty ones beside and below it."""

    def __init__(self) -> None:
        self.in_head = False
        #: Whether a cell has begun and not ended.
        self.in_cell = False
        self._rows: list[tuple[TableCell, ...]] = []
        self._row: list[TableCell] = []
        self._tag: Tag | None = None
        #: Of the columns from the left: how many rows more a cell above takes.
        self._below: dict[int, int] = {}
        self._empties = 0

    def begin(self, tag: Tag) -> None:
        """A cell begins."""
        self._tag, self.in_cell = tag, True

    def end(self, parts: tuple[BlockPart, ...]) -> None:
        """The cell ends, if there is one."""
        if self._tag is None:
            return
        is_head = self.in_head or self._tag.name == "th"
        self._fill()
        columns, rows = _number(self._tag, "colspan"), _number(self._tag, "rowspan")
        self._empties += columns * rows - 1
        if self._empties > _EMPTIES:
            columns, rows = 1, 1
        for column in range(len(self._row), len(self._row) + columns):
            if rows > 1:
                self._below[column] = rows - 1
        self._row += [TableCell(parts, is_head), *[_EMPTY[is_head]] * (columns - 1)]
        self._tag, self.in_cell = None, False

    def line(self) -> None:
        """A row ends."""
        if self._row:
            self._fill()
            self._rows.append(tuple(self._row))
        self._row = []

    def _fill(self) -> None:
        """Leave out columns that a cell above takes."""
        while rows := self._below.get(len(self._row), 0):
            self._below[len(self._row)] = rows - 1
            self._row.append(_EMPTY[False])

    def rows(self) -> tuple[tuple[TableCell, ...], ...]:
        """All rows that have something in them."""
        self.line()
        return tuple(row for row in self._rows if any(cell.parts for cell in row))


def _number(tag: Tag, name: str) -> int:
    value = tag.value(name).strip()[:4]
    return min(max(int(value), 1), _SPANNED) if value.isdecimal() else 1


#: Elements nested deeper are read as if they were not there.
_DEPTH = 100
_TEX = {"application/x-tex", "latex", "tex", "math/tex", "text/x-tex"}
_OPENING_FENCES, _CLOSING_FENCES = "([{|⟨‖", ")]}|⟩‖"
#: Characters of operators that LaTeX writes otherwise.
_OPERATORS = {
    "−": "-",
    "{": "\\{",
    "}": "\\}",
    "%": "\\%",
    "#": "\\#",
    "&": "\\&",
    "$": "\\$",
    "\u2061": "",
    "\u2062": "",
    "\u2063": ",",
    "\u2064": "+",
}
#: Marks over a letter.
_ACCENTS = {
    "^": "\\hat",
    "ˆ": "\\hat",
    "~": "\\tilde",
    "˜": "\\tilde",
    "¯": "\\bar",
    "‾": "\\bar",
    "―": "\\bar",
    "_": "\\bar",
    "→": "\\vec",
    "⃗": "\\vec",
    "˙": "\\dot",
    "¨": "\\ddot",
}
_UNREAD = {"annotation-xml", "mphantom", "mprescripts", "none", "maligngroup", "malignmark"}


@dataclass
class _Element:
    """An element while its children come; in the end each child is a list of pieces."""

    name: str
    tag: Tag
    children: list[list[Text]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def formula(start: Tag, tokens: Iterator[Token]) -> Text:
    """The source of the formula that a ``math`` tag begins: its annotation in LaTeX, or
    what is made of its elements. Reads up to its end.

    >>> from symattn.documents.html.tokens import tokens
    >>> found = tokens(Text.whole("<math><mfrac><mi>x</mi><mn>2</mn></mfrac></math>"))
    >>> str(formula(next(found), found))
    '\\\\frac{x}{2}'
    """
    stack, source = [_Element("math", start)], start.attributes.get("alttext")
    source = decoded(source) if source is not None and "\\" in source.string else None
    for token in tokens:
        if isinstance(token, Characters):
            _say(stack[-1], decoded(token.text))
        elif isinstance(token, Tag) and not token.closes:
            if len(stack) < _DEPTH and not token.rest.string.endswith("/"):
                stack.append(_Element(token.name, token))
        elif isinstance(token, Tag):
            if token.name == "math":
                break
            while any(element.name == token.name for element in stack[1:]):
                ended = stack.pop()
                if ended.name == "annotation" and ended.tag.value("encoding").lower() in _TEX:
                    source = Text.joined([piece for child in ended.children for piece in child])
                _end(stack[-1], ended, token.whole)
                if ended.name == token.name:
                    break
    while len(stack) > 1:
        ended = stack.pop()
        _end(stack[-1], ended, ended.tag.whole)
    return (source if source is not None else joined(_row(stack[0]))).stripped()


def _say(element: _Element, text: Text) -> None:
    """Add the text of a leaf; white space between elements is none."""
    if element.name == "annotation":
        element.children.append([text])
    elif text.string.strip():
        element.children.append([text.stripped()])
        element.names.append("")


def _end(parent: _Element, element: _Element, closing: Text) -> None:
    if element.name not in _UNREAD and element.name != "annotation":
        pieces = _made(element, closing.span())
        parent.children.append(pieces)
        parent.names.append(element.name)


def _made(element: _Element, end: Span) -> list[Text]:
    name, children, begin = element.name, element.children, element.tag.whole.span()

    def pieces(*parts: str | list[Text]) -> list[Text]:
        """Strings stand where the element begins, or where it ends behind its last child."""
        last = max((at for at, part in enumerate(parts) if not isinstance(part, str)), default=-1)
        texts: list[Text] = []
        for at, part in enumerate(parts):
            texts += [Text.at(part, begin if at < last else end)] if isinstance(part, str) else part
        return texts

    def listed(between: str, parts: Sequence[list[Text]]) -> list[Text]:
        return [
            text
            for at, part in enumerate(parts)
            for text in pieces(between if at else "", part, "")
        ]

    row = _row(element)
    match name:
        case "mi":
            word = "".join(piece.string for piece in row)
            return pieces("\\operatorname{", row, "}") if len(word) > 1 else row
        case "mo":
            return [_operator(piece) for piece in row]
        case "mtext" | "ms":
            return pieces("\\text{", row, "}")
        case "msqrt":
            return pieces("\\sqrt{", row, "}")
        case "mtd":
            return row
        case "mtr" | "mlabeledtr":
            return listed(" & ", children[name == "mlabeledtr" :])
        case "mtable":
            return pieces("\\begin{matrix} ", listed(" \\\\ ", children), " \\end{matrix}")
        case "mfenced":
            opening = element.tag.value("open") or "("
            closing = element.tag.value("close") or ")"
            between = (element.tag.value("separators").strip() or ",")[0]
            left = f"\\left{_OPERATORS.get(opening, opening)} "
            right = f" \\right{_OPERATORS.get(closing, closing)}"
            return pieces(left, listed(between, children), right)
    match name, children:
        case "mfrac", [over, under]:
            return pieces("\\frac{", over, "}{", under, "}")
        case "mroot", [base, index]:
            return pieces("\\sqrt[", index, "]{", base, "}")
        case "msub" | "munder", [base, below]:
            return pieces(base, "_{", below, "}")
        case "msup", [base, above]:
            return pieces(base, "^{", above, "}")
        case "msubsup" | "munderover", [base, below, above]:
            return pieces(base, "_{", below, "}^{", above, "}")
        case "mover", [base, above]:
            mark = _ACCENTS.get("".join(piece.string for piece in above).strip())
            if mark:
                return pieces(f"{mark}{{", base, "}")
            return pieces(base, "^{", above, "}")
        case _:
            return row


def _row(element: _Element) -> list[Text]:
    """Children one after the other; brackets around a table grow with it."""
    pieces: list[Text] = []
    for at, child in enumerate(element.children):
        string = child[0].string if len(child) == 1 else ""
        if string and string in _OPENING_FENCES and element.names[at + 1 : at + 2] == ["mtable"]:
            pieces.append(Text.at(f"\\left{string} ", child[0].span()))
        elif string and string in _CLOSING_FENCES and at and element.names[at - 1] == "mtable":
            pieces.append(Text.at(f" \\right{string}", child[0].span()))
        else:
            pieces += child
    return pieces


def _operator(text: Text) -> Text:
    meant = _OPERATORS.get(text.string)
    return text if meant is None else Text.at(meant, text.span())
