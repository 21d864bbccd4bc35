"""The tokens of HTML: tags, comments and characters, each with its place.

The standard library's parser tells where a tag begins, not where its attributes do,
and formulas stand in those too.

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

from symattn.documents.article import BlockPart, TableBuilder
from symattn.documents.latex.macros import joined
from symattn.documents.text import Span, Text
from symattn.spelling import pairs, words

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

    @property
    def is_void(self) -> bool:
        """Whether an element has no end."""
        return self.name in _VOID or self.rest.string.endswith("/")

    @property
    def is_skipped(self) -> bool:
        """Whether an element has nothing of the article: also what only decorates it, as the
        brackets of a matrix that is set as a table."""
        return (
            self.name in _SKIPPED
            or not self.classes.isdisjoint(_SKIPPED_CLASSES)
            or self.value("role") in _SKIPPED_ROLES
            or "hidden" in self.attributes
            or self.value("aria-hidden") == "true"
        )

    @property
    def is_output(self) -> bool:
        """Whether an element holds what code printed."""
        return self.name == "samp" or not self.classes.isdisjoint(_OUTPUTS)

    @property
    def is_rendered(self) -> bool:
        """Whether an element is a formula that MathJax rendered."""
        return self.name == "mjx-container" or not self.classes.isdisjoint(_RENDERED)

    @property
    def is_formula_image(self) -> bool:
        """Whether an image says that its text is a formula."""
        return any(name in _IMAGES or name.startswith("mwe-math") for name in self.classes)

    @property
    def language(self) -> str:
        """The language of code that an element's classes tell, in lower case; or ''."""
        for name in sorted(self.classes):
            if match := _LANGUAGE.fullmatch(name):
                return match[1].lower()
        if "sourceCode" in self.classes:
            return min(self.classes - _BESIDE, default="").lower()
        return ""


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


class HtmlTable(TableBuilder):
    """The table that is read: whether its head is, and the cell that has begun."""

    def __init__(self) -> None:
        super().__init__()
        self.in_head = False
        self.tag: Tag | None = None

    def end(self, parts: tuple[BlockPart, ...]) -> None:
        """The cell ends, if there is one."""
        if self.tag is not None:
            is_head = self.in_head or self.tag.name == "th"
            self.cell(parts, is_head, *(_number(self.tag, name) for name in ("colspan", "rowspan")))
        self.tag = None


def _number(tag: Tag, name: str) -> int:
    value = tag.value(name).strip()[:4]
    return int(value) if value.isdecimal() else 1


#: Elements nested deeper are read as if they were not there.
_DEPTH = 100
_TEX = {"application/x-tex", "latex", "tex", "math/tex", "text/x-tex"}
_OPENING_FENCES, _CLOSING_FENCES = "([{|⟨‖", ")]}|⟩‖"
#: Characters of operators that LaTeX writes otherwise.
_OPERATORS = {
    **pairs(r"− - { \{ } \} % \% # \# & \& $ \$"),
    **{"\u2061": "", "\u2062": "", "\u2063": ",", "\u2064": "+"},
}
#: Marks over a letter.
_ACCENTS = pairs(
    r"^ \hat ˆ \hat ~ \tilde ˜ \tilde ¯ \bar ‾ \bar ― \bar _ \bar → \vec ˙ \dot ¨ \ddot"
) | {"\u20d7": r"\vec"}
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


#: What elements become: a digit is that child, of just so many, a star all of them.
_MADE = pairs(
    r"mtext \text{*} ms \text{*} msqrt \sqrt{*} mfrac \frac{0}{1} mroot \sqrt[1]{0}"
    r" msub 0_{1} munder 0_{1} msup 0^{1} mover 0^{1} msubsup 0_{1}^{2} munderover 0_{1}^{2}"
)
_CHILD = re.compile("([0-9*])")


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

    def filled(form: str) -> list[Text]:
        parts = _CHILD.split(form)
        if sum(part.isdigit() for part in parts) not in (0, len(children)):
            return row
        return pieces(
            *(
                row if part == "*" else children[int(part)] if part.isdigit() else part
                for part in parts
                if part
            )
        )

    row = _row(element)
    match name:
        case "mi":
            word = "".join(piece.string for piece in row)
            return filled(r"\operatorname{*}") if len(word) > 1 else row
        case "mo":
            return [_operator(piece) for piece in row]
        case "mtr" | "mlabeledtr":
            return listed(" & ", children[name == "mlabeledtr" :])
        case "mtable":
            return pieces("\\begin{matrix} ", listed(" \\\\ ", children), " \\end{matrix}")
        case "mfenced":
            opening, closing = element.tag.value("open") or "(", element.tag.value("close") or ")"
            between = (element.tag.value("separators").strip() or ",")[0]
            left = f"\\left{_OPERATORS.get(opening, opening)} "
            right = f" \\right{_OPERATORS.get(closing, closing)}"
            return pieces(left, listed(between, children), right)
        case "mover" if len(children) == 2:
            mark = _ACCENTS.get("".join(piece.string for piece in children[1]).strip())
            return filled("0^{1}") if mark is None else pieces(f"{mark}{{", children[0], "}")
    return filled(_MADE.get(name, "*"))


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
