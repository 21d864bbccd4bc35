"""The body of an HTML page: its tokens put into blocks, without recursion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from symattn.documents import commonmark
from symattn.documents.article import (
    Block,
    BlockKind,
    BlockPart,
    Contents,
    ParagraphBuilder,
    PartKind,
)
from symattn.documents.commonmark import note
from symattn.documents.drawings import drawn
from symattn.documents.html.tokens import (
    APART,
    CODE,
    HEADINGS,
    LAYOUTS,
    Characters,
    Comment,
    HtmlTable,
    Tag,
    decoded,
    formula,
    tokens,
)
from symattn.documents.inline import Display, page_formulas
from symattn.documents.latex.macros import Macros
from symattn.documents.text import Span, Text
from symattn.limits import MACROS

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
        self._language = ""
        #: Open elements of outputs, of displays, and of links inside of the page.
        self._outputs = self._displays = self._links = 0
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
        self._flush()
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
            is_display = tag.value("display") == "block" or bool(self._displays)
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
            self._flush()
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
            end = self._aside(self._end_caption)
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
        """What is done where an element ends, with what its classes began."""
        outputs, displays, links = self._outputs, self._displays, self._links
        outer, formula = self._language, self._formula
        self._outputs += tag.is_output
        self._displays += "katex-display" in tag.classes
        self._links += tag.name == "a" and tag.value("href").startswith("#")
        self._language = tag.language or outer
        is_katex = "katex" in tag.classes
        self._formula = "" if is_katex else formula
        now = (self._outputs, self._displays, self._links, self._language)
        if now == (outputs, displays, links, outer) and not is_katex:
            return end

        def restore(span: Span) -> None:
            if end is not None:
                end(span)
            self._outputs, self._displays, self._links = outputs, displays, links
            self._language = outer
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
            elif not token.closes and token.name in ("code", "samp"):
                self._language = token.language or self._language
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
        kind: BlockKind = "heading" if self._level else "prose"
        here = ParagraphBuilder()
        for kind_of_part, text in self._pieces(self._here.end()):
            if kind_of_part != "display":
                here.add(text, kind_of_part)
            elif self._level:
                here.add(text, "math")
            elif text.string:
                self._emit(kind, here.end())
                self._emit("formula", (BlockPart("math", text),))
        self._emit(kind, here.end())

    def _pieces(self, parts: tuple[BlockPart, ...]) -> Iterator[tuple[PartKind | Display, Text]]:
        for part in parts:
            if part.kind != "text":
                yield part.kind, part.text
                continue
            for kind, text in page_formulas(part.text, self._dollars):
                yield kind, text if kind == "text" else self._macros.expanded(text)

    def _emit(self, kind: BlockKind, parts: tuple[BlockPart, ...], language: str = "") -> None:
        if parts and (not self._main or self._counts.get(self._main) or kind == "note"):
            level = self._level if kind == "heading" else 0
            self._blocks.append(Block(kind, parts, level=level, language=language))
            if kind == "heading" and level == 1 and not self._title:
                self._title = " ".join("".join(part.text.string for part in parts).split())

    def _note(self, comment: Comment) -> None:
        """A note stands before the block that it stands in."""
        if (text := note(comment.text)) is not None:
            self._emit("note", (BlockPart("text", text),))

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
        """What is set lower or higher, but for the numbers of notes."""
        mark, begin, links = "_" if tag.name == "sub" else "^", tag.whole.span(), self._links
        self._noted = False

        def end(parts: tuple[BlockPart, ...], span: Span) -> None:
            text = Text.joined([part.text for part in parts]) if parts else None
            if text is None or links or self._noted:
                self._noted = False
            elif len(text) == 1:
                self._here.add(Text.joined([Text.at(mark, begin), text]))
            else:
                pieces = [Text.at(f"{mark}{{", begin), text, Text.at("}", span)]
                self._here.add(Text.joined(pieces))

        return self._aside(end)

    # -- code -------------------------------------------------------------------------

    def _pre(self, tag: Tag) -> None:
        """Code, or what it printed; a table around it only lays it out."""
        self._end_table()
        self._flush()
        outer, is_printed = self._language, bool(self._outputs) or tag.is_output
        self._language = tag.language or outer
        text = self._text(tag)
        text = text.sub(_FIRST_END, "").rstripped()
        if text.string.strip():
            kind: BlockKind = "output" if is_printed else "code"
            self._emit(
                kind, (BlockPart("code", text),), language="" if is_printed else self._language
            )
        self._language = outer

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
            self._emit("formula", (BlockPart("math", text),))
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
        self._flush()
        self._level = 0
        if tag.classes & LAYOUTS or tag.value("role") == "presentation":
            return None
        table = self._table = HtmlTable()

        def end(span: Span) -> None:
            if self._table is table:
                self._end_table()

        return end

    def _end_cell(self) -> None:
        if self._table is None:
            return
        if not self._table.tag:
            self._flush()
            return
        cell = ParagraphBuilder()
        for kind, text in self._pieces(self._here.end()):
            cell.add(text, "math" if kind == "display" else kind)
        self._table.end(cell.end())

    def _end_table(self) -> None:
        if self._table is None:
            return
        self._end_cell()
        rows, self._table = self._table.rows(), None
        if rows and (not self._main or self._counts.get(self._main)):
            self._blocks.append(Block("table", rows=rows))

    def _end_caption(self, parts: tuple[BlockPart, ...], span: Span) -> None:
        self._emit("prose", parts)
