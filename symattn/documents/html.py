"""HTML to blocks: the tokens of a page, put together without recursion.

Formulas are found as KaTeX, MathJax, MathML, Pandoc, WordPress and Wikipedia write them; where a
page has a main part, only that is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import unescape
from typing import NamedTuple

from symattn.documents import commonmark
from symattn.documents.article import (
    Block,
    BlockPart,
    Contents,
    ParagraphBuilder,
    PartKind,
    TableBuilder,
)
from symattn.documents.commonmark import (
    Piece,
    drawn,
    note,
    page_formulas,
    paragraphs,
    script,
    together,
)
from symattn.documents.latex import Macros, joined
from symattn.documents.text import Span, Text
from symattn.limits import MACROS
from symattn.spelling import pairs, words

# -- the tokens of HTML ------------------------------------------------------------------
# The standard library's parser tells where a tag begins, not where its attributes do, and
# formulas stand in those too.

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
#: Blanks between what stands beside each other: "= 8.2&nbsp;&nbsp;e^0.4 = 1.5".
_APART = re.compile(r"(?<=[0-9])(?:&nbsp;|\xa0){2,}(?=[A-Za-z])")
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
        """Return whether an element has no end."""
        return self.name in _VOID or self.rest.string.endswith("/")

    @property
    def is_skipped(self) -> bool:
        """Return whether an element has nothing of the article: also what only decorates it, as the
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
        """Return whether an element holds what code printed."""
        return self.name == "samp" or not self.classes.isdisjoint(_OUTPUTS)

    @property
    def is_rendered(self) -> bool:
        """Return whether an element is a formula that MathJax rendered."""
        return self.name == "mjx-container" or not self.classes.isdisjoint(_RENDERED)

    @property
    def is_formula_image(self) -> bool:
        """Return whether an image says that its text is a formula."""
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
    """The text of a comment."""

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
    text = text.sub(_APART, ";")
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


# -- body --------------------------------------------------------------------------------

_MAIN = re.compile(r"<(main|article)\b", re.IGNORECASE)
#: A single dollar among the marks of formulas in a page's settings.
_DOLLARS = re.compile(r"""["']\$["']\s*+,\s*+(?:right\s*+:\s*+)?+["']\$["']""")
_MARKED = re.compile(r"\s*+(?:\\\((.*)\\\)|\\\[(.*)\\\]|\$\$(.*)\$\$|\$(.*)\$)\s*+", re.DOTALL)
#: A line end right behind the tag of code is none of its own.
_FIRST_END = re.compile(r"\A(?:\r\n?|\n)")
_STYLED = re.compile(r"\s*+\{\s*+\\(?:display|text)style\b(.*)\}\s*+", re.DOTALL)
#: Scripts in scripts: those that are nested deeper are read without their marks.
_SCRIPTS = 8


class _Open(NamedTuple):
    name: str
    end: Callable[[Span], None] | None


class _Around(NamedTuple):
    """The elements around a place: one of an output, of a display, or a link inside of the
    page; and the language of code in it."""

    is_output: bool = False
    is_display: bool = False
    is_link: bool = False
    language: str = ""


class PageReader:
    """Reads a source; :meth:`contents` is what it found."""

    def __init__(self, source: Text) -> None:
        self._source = source.string
        self._tokens = tokens(source)
        self._macros = Macros()
        self._dollars = _DOLLARS.search(source.string) is not None
        #: A page of MathJax 2 keeps sources in scripts, beside what it rendered.
        self._has_scripts = "math/tex" in source.string
        places = [match[1].lower() for match in _MAIN.finditer(source.string)]
        self._main = "main" if "main" in places else "article" if len(places) == 1 else ""
        self._blocks: list[Block] = []
        self._here = ParagraphBuilder()
        self._open: list[_Open] = []
        self._counts: dict[str, int] = {}
        self._table: HtmlTable | None = None
        self._level = 0
        self._title = ""
        self._around = _Around()
        #: Whether what is set higher is the number of a note.
        self._noted = False
        #: What the last formula was.
        self._formula = ""
        self._lost = 0

    def contents(self) -> Contents:
        """Read all of it."""
        for token in self._tokens:
            if isinstance(token, Characters):
                self._here.add(decoded(token.text))
            elif isinstance(token, Comment):
                self._note(token)
            elif token.closes:
                self._close(token)
            else:
                self._begin(token)
        end = len(self._source)
        self._end_to(0, Span(end, end))
        self._end_table()
        notes = []
        if self._macros.stopped is not None:
            notes.append(MACROS.said(self._source.count("\n", 0, self._macros.stopped.start) + 1))
        if self._lost:
            notes.append(f"formulas without a source, not read: {self._lost}")
        return Contents(tuple(self._blocks), self._title, tuple(notes))

    # -- elements ---------------------------------------------------------------------

    def _begin(self, tag: Tag) -> None:
        name = tag.name
        end: Callable[[Span], None] | None = None
        if name == "math":
            is_display = tag.value("display") == "block" or self._around.is_display
            self._add_formula(formula(tag, self._tokens), is_display)
            return
        if name == "script" and tag.value("type").startswith("math/tex"):
            self._add_formula(self._text(tag), "mode=display" in tag.value("type"))
            return
        if name == "title":
            title = " ".join(self._text(tag).string.split())
            self._title = self._title or title
            return
        if tag.is_rendered:
            self._rendered(tag)
            return
        if tag.is_skipped:
            self._skip(tag)
            return
        if name == "pre":
            self._pre(tag)
            return
        if name == "math-renderer" or (
            "math" in tag.classes and tag.classes & {"inline", "display"}
        ):
            self._marked(tag)
            return
        if name == "a" and self._counts.get("sup") and tag.value("href").startswith("#"):
            self._noted = True
        if name == "img":
            self._image(tag)
        elif name == "br":
            self._here.add(Text.at("\n", tag.whole.span()))
        elif name in HEADINGS:
            self._end_table()
            self._level = HEADINGS[name]
            end = self._end_heading
        elif name in ("sub", "sup") and self._scripts() < _SCRIPTS:
            end = self._script(tag)
        elif name in CODE:
            end = self._kind("code")
        elif name == "table":
            end = self._begin_table(tag)
        elif name in ("td", "th") and self._table is not None:
            self._end_cell()
            self._table.tag = tag
        elif name == "tr" and self._table is not None:
            self._end_cell()
            self._table.line()
        elif name == "thead" and self._table is not None:
            self._table.in_head = True
        elif name == "caption" and self._table is not None:
            end = self._aside(lambda parts, _: self._emit(Block("prose", parts)))
        elif name in APART:
            self._apart(tag.whole)
        if tag.is_void:
            return
        self._open.append(_Open(name, self._with_classes(tag, end)))
        self._counts[name] = self._counts.get(name, 0) + 1

    def _close(self, tag: Tag) -> None:
        name = tag.name
        if self._counts.get(name):
            at = len(self._open) - 1
            while self._open[at].name != name:
                at -= 1
            self._end_to(at, tag.whole.span())
        table = self._table
        if table is not None and name in ("td", "th", "tr"):
            self._end_cell()
            if name == "tr":
                table.line()
        elif table is not None and name == "thead":
            self._end_cell()
            table.in_head = False
        elif name in APART:
            self._apart(tag.whole)

    def _end_to(self, count: int, span: Span) -> None:
        while len(self._open) > count:
            name, end = self._open.pop()
            if end is not None:
                end(span)
            self._counts[name] -= 1

    def _with_classes(
        self, tag: Tag, end: Callable[[Span], None] | None
    ) -> Callable[[Span], None] | None:
        """Return what is done where an element ends, with what its classes began."""
        outer = self._around
        self._around = _Around(
            outer.is_output or tag.is_output,
            outer.is_display or "katex-display" in tag.classes,
            outer.is_link or (tag.name == "a" and tag.value("href").startswith("#")),
            tag.language or outer.language,
        )
        is_katex = "katex" in tag.classes
        self._formula = "" if is_katex else self._formula
        if self._around == outer and not is_katex:
            return end

        def restore(span: Span) -> None:
            if end is not None:
                end(span)
            self._around = outer
            self._lost += is_katex and not self._formula

        return restore

    def _skip(self, tag: Tag) -> None:
        for _ in self._inside(tag):
            pass

    def _inside(self, tag: Tag) -> Iterator[Tag | Characters]:
        """The tokens up to the end of an element; notes are taken wherever they stand."""
        depth = 1
        if tag.is_void:
            return
        for token in self._tokens:
            if isinstance(token, Tag) and token.name == tag.name:
                depth += -1 if token.closes else not token.is_void
                if depth == 0:
                    return
            if isinstance(token, Comment):
                self._note(token)
            else:
                yield token

    def _text(self, tag: Tag) -> Text:
        """The text in an element, with its lines; what is skipped is left out."""
        pieces: list[Text] = []
        inside = self._inside(tag)
        for token in inside:
            if isinstance(token, Characters):
                pieces.append(token.text if tag.name == "script" else decoded(token.text))
            elif token.name == "br" and not token.closes:
                pieces.append(Text.at("\n", token.whole.span()))
            elif not token.closes and token.is_skipped and token.name != tag.name:
                self._skip(token)
            elif not token.closes and token.name in ("code", "samp") and token.language:
                self._around = self._around._replace(language=token.language)
        return Text.joined(pieces)

    # -- paragraphs -------------------------------------------------------------------

    def _apart(self, mark: Text) -> None:
        """A paragraph ends; in a cell that is only white space."""
        if self._table is not None and self._table.tag:
            self._here.add(Text.at(" ", mark.span()), "text")
            return
        self._flush()
        self._level = 0

    def _flush(self) -> None:
        if self._level:
            self._emit(Block("heading", together(self._pieces()), level=self._level))
        else:
            for block in paragraphs(self._pieces()):
                self._emit(block)

    def _pieces(self) -> Iterator[Piece]:
        """The pieces of the paragraph that ends here."""
        for part in self._here.end():
            if part.kind != "text":
                yield Piece(part.kind, part.text)
                continue
            for piece in page_formulas(part.text, self._dollars):
                if piece.kind == "text":
                    yield piece
                elif (text := self._macros.expanded(piece.text)).string:
                    yield replace(piece, text=text)

    def _emit(self, block: Block) -> None:
        is_read = not self._main or self._counts.get(self._main) or block.kind == "note"
        if is_read and (block.parts or block.rows):
            self._blocks.append(block)
            if block.level == 1 and not self._title:
                self._title = " ".join(block.text.string.split())

    def _note(self, comment: Comment) -> None:
        """A note stands before the block that it stands in."""
        if (text := note(comment.text)) is not None:
            self._emit(Block.of("note", text))

    def _end_heading(self, span: Span) -> None:
        self._flush()
        self._level = 0

    def _kind(self, kind: PartKind) -> Callable[[Span], None]:
        outer, old = self._here, self._here.kind
        outer.kind = kind
        return lambda span: setattr(outer, "kind", old)

    def _aside(self, end: Callable[[tuple[BlockPart, ...], Span], None]) -> Callable[[Span], None]:
        """Gather an element by itself; ``end`` takes its parts."""
        outer, self._here = self._here, ParagraphBuilder()
        self._here.kind = outer.kind

        def restore(span: Span) -> None:
            parts, self._here = self._here.end(), outer
            end(parts, span)

        return restore

    def _scripts(self) -> int:
        return self._counts.get("sub", 0) + self._counts.get("sup", 0)

    def _script(self, tag: Tag) -> Callable[[Span], None]:
        """Return what is set lower or higher, but for the numbers of notes."""
        is_link = self._around.is_link
        self._noted = False

        def end(parts: tuple[BlockPart, ...], span: Span) -> None:
            text = Text.joined([part.text for part in parts]) if parts else None
            if text is None or is_link or self._noted:
                self._noted = False
            else:
                self._here.add(script(tag.name, tag.whole.span(), text, span))

        return self._aside(end)

    # -- code -------------------------------------------------------------------------

    def _pre(self, tag: Tag) -> None:
        """Code, or what it printed; a table around it only lays it out."""
        self._end_table()
        outer = self._around
        self._around = outer._replace(language=tag.language or outer.language)
        text = self._text(tag).sub(_FIRST_END, "").rstripped()
        if text.string.strip():
            if outer.is_output or tag.is_output:
                self._emit(Block.of("output", text))
            else:
                self._emit(Block.of("code", text, self._around.language))
        self._around = outer

    # -- formulas ---------------------------------------------------------------------

    def _add_formula(self, source: Text, is_display: bool) -> None:
        if match := _STYLED.fullmatch(source.string):
            source = source.group(match, 1)
        text = self._macros.expanded(commonmark.formula(source))
        if not text.string:
            return
        self._formula = source.string.strip()
        if is_display and not self._level and not (self._table and self._table.tag):
            self._flush()
            self._emit(Block.of("formula", text))
        else:
            self._here.add(text, "math")

    def _rendered(self, tag: Tag) -> None:
        """What MathJax made of a formula: its source, or the MathML beside it."""
        is_display = tag.value("display") == "true" or "MathJax_Display" in tag.classes
        source: Text | None = None
        markup: Text | None = None
        for token in self._inside(tag):
            if not isinstance(token, Tag) or token.closes:
                continue
            if source is None and "data-latex" in token.attributes:
                source = decoded(token.attributes["data-latex"])
            if token.name == "math":
                markup = formula(token, self._tokens)
        seen = source if source is not None else markup
        if self._has_scripts or "MathJax_Preview" in tag.classes:
            return
        if seen is None:
            self._lost += 1
        else:
            self._add_formula(seen, is_display)

    def _marked(self, tag: Tag) -> None:
        """An element whose text is a formula, with its marks or without."""
        is_display = "display" in tag.classes
        text = self._text(tag)
        if match := _MARKED.fullmatch(text.string):
            text = text.group(match, match.lastindex or 0)
            is_display = is_display or match.lastindex in (2, 3)
        self._add_formula(text, is_display)

    def _image(self, tag: Tag) -> None:
        """A formula as an image: its source stands in the address, or as its text."""
        if (source := drawn(decoded(tag.attributes.get("src", tag.rest[:0])))) is not None:
            self._add_formula(source, False)
        elif tag.is_formula_image and "alt" in tag.attributes:
            source = decoded(tag.attributes["alt"])
            inner = _STYLED.fullmatch(source.string)
            formula = inner[1] if inner else source.string
            if formula.strip() != self._formula:
                self._add_formula(source, False)

    # -- tables -----------------------------------------------------------------------

    def _begin_table(self, tag: Tag) -> Callable[[Span], None] | None:
        self._end_table()
        self._level = 0
        if tag.classes & LAYOUTS or tag.value("role") == "presentation":
            return None
        table = self._table = HtmlTable()

        def end(span: Span) -> None:
            if self._table is table:
                self._end_table()

        return end

    def _end_cell(self) -> None:
        if self._table is None or not self._table.tag:
            self._flush()
            return
        self._table.end(together(self._pieces()))

    def _end_table(self) -> None:
        """The table ends, if there is one, and so does what stands beside it."""
        if self._table is not None:
            self._end_cell()
            rows, self._table = self._table.rows(), None
            self._emit(Block("table", rows=rows))
        self._flush()


def read(source: Text) -> Contents:
    """The blocks of a page, its title, and what was left out.

    >>> contents = read(Text.whole("<title>Attention</title><p>So <code>a</code> &lt; 1"))
    >>> contents.title, [str(part.text) for part in contents.blocks[0].parts]
    ('Attention', ['So ', 'a', ' < 1'])
    """
    return PageReader(source).contents()
