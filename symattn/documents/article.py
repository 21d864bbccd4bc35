"""An article as it was read: blocks of parts, each character with its place.

Paragraphs while their parts come, of any form of article.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, TypeVar

from symattn.documents.text import Span, Text
from symattn.languages.sentence import Sentence, joined
from symattn.spelling import ENTRY
from symattn.tables.places import Place

#: What a part is: words, the source of a formula in LaTeX, or code in a line.
PartKind = Literal["text", "math", "code"]

#: What a block is. Prose is a paragraph or an item of a list; a formula stands by
#: itself; ``code`` is shown, ``output`` was printed by it; a ``note`` is what the
#: author says to symattn in a comment.
BlockKind = Literal["heading", "prose", "formula", "code", "output", "table", "note"]

#: The forms of articles.
Form = Literal["markdown", "notebook", "latex", "html", "text", "pdf", "word"]

_WITHIN: Mapping[BlockKind, PartKind] = {"formula": "math", "code": "code", "output": "code"}


@dataclass(frozen=True)
class BlockPart:
    """A piece of a block, of one kind."""

    kind: PartKind
    text: Text


@dataclass(frozen=True)
class TableCell:
    """A cell of a table."""

    parts: tuple[BlockPart, ...]
    is_head: bool = False


@dataclass(frozen=True)
class Block:
    """A block of an article.

    ``parts`` of a heading or of prose alternate as they stand; a formula has one
    of kind ``math``, code and output one of kind ``code``, a note one of kind
    ``text``. A table has ``rows`` instead. ``level`` is that of a heading, from 1;
    ``language`` that of code, as its author writes it, in lower case; ``tags``
    are those of a notebook's cell.
    """

    kind: BlockKind
    parts: tuple[BlockPart, ...] = ()
    rows: tuple[tuple[TableCell, ...], ...] = ()
    level: int = 0
    language: str = ""
    tags: tuple[str, ...] = ()

    @classmethod
    def of(cls, kind: BlockKind, text: Text, language: str = "") -> Block:
        """A block of one part: a formula, code, what it printed, or a note."""
        return cls(kind, (BlockPart(_WITHIN.get(kind, "text"), text),), language=language)

    @property
    def text(self) -> Text:
        """All of its parts, without their marks."""
        return Text.joined([part.text for part in self.parts])

    @property
    def all_parts(self) -> tuple[BlockPart, ...]:
        """Its parts, or those in the cells of a table."""
        return self.parts + tuple(part for row in self.rows for cell in row for part in cell.parts)

    @property
    def span(self) -> Span:
        """Return where it begins and ends in the file."""
        spans = [part.text.span() for part in self.all_parts if len(part.text)]
        if not spans:
            return Span(0, 0)
        return Span(min(span.start for span in spans), max(span.end for span in spans))


@dataclass(frozen=True)
class CellText:
    """The text of a cell of a notebook, or what it printed; cells count from 1, all of them."""

    number: int
    is_output: bool
    text: Text


class CellPlace(NamedTuple):
    """A line and a column of a cell, or of what it printed, all counted from 1."""

    number: int
    is_output: bool
    line: int
    column: int

    @property
    def name(self) -> Sentence:
        """The cell, as reports name it.

        >>> CellPlace(7, True, 3, 1).name
        'output of cell 7'
        """
        if self.is_output:
            return Sentence("output of cell {cell}", cell=self.number)
        return Sentence("cell {cell}", cell=self.number)


#: What a paragraph of a Word document is counted as.
PlaceKind = Literal["paragraph", "table", "footnote", "endnote"]


class ParagraphPlace(NamedTuple):
    """A paragraph of a Word document, or a row of its table of that number; all count from 1."""

    kind: PlaceKind
    number: int
    table: int | None = None

    @property
    def name(self) -> Sentence:
        """The place, as reports name it.

        >>> ParagraphPlace("table", 3, 2).name, ParagraphPlace("footnote", 1).name
        ('table 2, row 3', 'footnote 1')
        """
        match self.kind:
            case "table":
                return Sentence("table {table}, row {row}", table=self.table, row=self.number)
            case "footnote":
                return Sentence("footnote {number}", number=self.number)
            case "endnote":
                return Sentence("endnote {number}", number=self.number)
        return Sentence("paragraph {number}", number=self.number)


class Packed(Protocol):
    """A file that knows where the text of an article stands in a file that is no text."""

    def with_text(self, new: str) -> bytes:
        """The file with another text."""


@dataclass(frozen=True)
class Contents:
    """The contents of a file as the reader of one form finds them: its blocks, its title, and what
    is said of what it left out; of a notebook also the texts of its cells, of a Word document the
    paragraph that each line is."""

    blocks: tuple[Block, ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    cells: tuple[CellText, ...] = ()
    paragraphs: tuple[ParagraphPlace, ...] = ()


@dataclass(frozen=True, repr=False)
class Article:
    """An article: its file's text, and what it consists of.

    ``source`` is the file decoded, byte for byte (a byte-order mark and line ends
    are kept), or the text that is seen of what is no text; all spans count its characters.
    """

    path: Path
    form: Form
    source: str
    blocks: tuple[Block, ...]
    encoding: str = "utf-8"
    title: str = ""
    notes: tuple[str, ...] = field(default=())
    cells: tuple[CellText, ...] = field(default=(), repr=False)
    paragraphs: tuple[ParagraphPlace, ...] = field(default=(), repr=False)
    packed: Packed | None = field(default=None, repr=False, compare=False)

    def encoded(self, text: str) -> bytes:
        """The bytes of the file with another text, such as its source with figures corrected.

        >>> Article(Path("x.md"), "markdown", "α", ()).encoded("β").decode()
        'β'
        """
        if self.packed is not None:
            return self.packed.with_text(text)
        return text.encode(self.encoding, "surrogateescape")

    def __repr__(self) -> str:
        return f"<Article {self.path.name[:60]!r}: {len(self.blocks)} blocks>"

    @cached_property
    def _lines(self) -> list[int]:
        """Return where lines begin; ``\\r\\n``, ``\\n`` and ``\\r`` end one. A byte-order mark
        is no character of the first."""
        source, at = self.source, 0
        starts = [int(source.startswith("\ufeff"))]
        for line in source.replace("\r\n", " \n").replace("\r", "\n").split("\n"):
            at += len(line) + 1
            starts.append(at)
        return starts[:-1]

    def place(self, offset: int) -> Place:
        """The line and the column of a character, both from 1.

        >>> article = Article(Path("x.md"), "markdown", "a\\r\\nbc", ())
        >>> article.place(4)
        Place(line=2, column=2)
        """
        line = bisect_right(self._lines, offset)
        return Place(line, offset - self._lines[line - 1] + 1)

    def cell(self, offset: int) -> CellPlace | None:
        """Return where in a cell a character stands; None in what is no notebook."""
        at = bisect_right(self.cells, offset, key=lambda cell: cell.text.span().start) - 1
        if at < 0:
            return None
        cell = self.cells[at]
        before = cell.text.string[: max(bisect_right(cell.text.starts, offset) - 1, 0)]
        column = len(before) - before.rfind("\n")
        return CellPlace(cell.number, cell.is_output, before.count("\n") + 1, column)

    def paragraph(self, offset: int) -> ParagraphPlace | None:
        """The paragraph, or the row, that a character stands in; None in what is no Word
        document."""
        if not self.paragraphs:
            return None
        return self.paragraphs[min(self.place(offset).line, len(self.paragraphs)) - 1]

    def said(self, offset: int) -> Sentence:
        """Return where a character stands, as people are told: its line; in a notebook that of
        its cell, in a Word document its paragraph or row.

        >>> cells = (CellText(7, False, Text.whole("a\\nb")[1:]),)
        >>> Article(Path("x.ipynb"), "notebook", "a\\nb", (), cells=cells).said(2)
        'cell 7, line 2'
        """
        if paragraph := self.paragraph(offset):
            return paragraph.name
        place = self.cell(offset)
        line = Sentence("line {line}", line=(place or self.place(offset)).line)
        return joined((place.name, line)) if place else line

    @property
    def line_count(self) -> int:
        """Return how many lines the file has; a line end at its end begins none."""
        lines = self._lines
        return len(lines) - (len(lines) > 1 and lines[-1] >= len(self.source))

    def lines(self, first: int, last: int) -> Span:
        """From the beginning of a line to the end of another, both counted from 1.

        >>> Article(Path("x.md"), "markdown", "a\\nbc\\nd", ()).lines(2, 2)
        Span(start=2, end=4)
        """
        start = self._lines[last - 1]
        return Span(self._lines[first - 1], start + len(self.line(last)))

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its end."""
        start = self._lines[number - 1]
        end = self._lines[number] if number < len(self._lines) else len(self.source)
        return self.source[start:end].rstrip("\r\n")

    def text(self, span: Span) -> str:
        """Return what the file has there."""
        return self.source[span.start : span.end]


class ParagraphBuilder:
    """Gathers parts: texts of one kind that follow each other are one part.

    >>> paragraph = ParagraphBuilder()
    >>> source = Text.whole(" so x")
    >>> paragraph.add(source[:4])
    >>> paragraph.add(source[4:], "math")
    >>> [(part.kind, str(part.text)) for part in paragraph.end()]
    [('text', 'so '), ('math', 'x')]
    """

    def __init__(self) -> None:
        #: What is added is of this kind, if nothing else is said.
        self.kind: PartKind = "text"
        self._parts: list[BlockPart] = []
        self._texts: list[Text] = []
        self._last: PartKind = "text"

    def add(self, text: Text, kind: PartKind | None = None) -> None:
        """Add a text; formulas are parts of their own each."""
        kind = kind or self.kind
        if not text.string:
            return
        if kind != self._last or kind == "math":
            self._turn(kind)
        self._texts.append(text)

    def _turn(self, kind: PartKind) -> None:
        if self._texts:
            self._parts.append(BlockPart(self._last, Text.joined(self._texts)))
        self._texts, self._last = [], kind

    def end(self) -> tuple[BlockPart, ...]:
        """Its parts without the white space around them; nothing is kept."""
        self._turn("text")
        parts, self._parts = self._parts, []
        return tuple(trimmed(parts))


P = TypeVar("P", bound=BlockPart)


def trimmed(parts: Sequence[P]) -> list[P]:
    """Return parts without the white space around them."""
    said = [at for at, part in enumerate(parts) if part.text.string.strip()]
    if not said:
        return []
    kept = [*parts[said[0] : said[-1] + 1]]
    kept[0] = replace(kept[0], text=kept[0].text.lstripped())
    kept[-1] = replace(kept[-1], text=kept[-1].text.rstripped())
    return kept


#: Columns and rows that one cell may span.
SPANNED = 50
#: Empty cells of a table that are put in for such cells; beyond, each is one cell.
_EMPTIES = 10_000


class TableBuilder:
    """Gathers the cells of a table; what spans several leaves empty ones beside and below it.

    >>> table = TableBuilder()
    >>> table.cell((BlockPart("text", Text.whole("a")),), columns=2)
    >>> [len(row) for row in table.rows()]
    [2]
    """

    def __init__(self) -> None:
        self._rows: list[tuple[TableCell, ...]] = []
        self._row: list[TableCell] = []
        #: Of the columns from the left: how many rows more a cell above takes.
        self._below: dict[int, int] = {}
        self._empties = 0

    def cell(
        self, parts: tuple[BlockPart, ...], is_head: bool = False, columns: int = 1, rows: int = 1
    ) -> None:
        """A cell ends."""
        self._fill()
        columns, rows = (min(max(count, 1), SPANNED) for count in (columns, rows))
        self._empties += columns * rows - 1
        if self._empties > _EMPTIES:
            columns, rows = 1, 1
        for column in range(len(self._row), len(self._row) + columns):
            if rows > 1:
                self._below[column] = rows - 1
        empty = TableCell((), is_head)
        self._row += [TableCell(parts, is_head), *[empty] * (columns - 1)]

    def line(self) -> int:
        """A row ends, of which nothing is kept if nothing is in it; how many there are."""
        if self._row:
            self._fill()
        if any(cell.parts for cell in self._row):
            self._rows.append(tuple(self._row))
        self._row = []
        return len(self._rows)

    def _fill(self) -> None:
        """Leave out columns that a cell above takes."""
        while rows := self._below.get(len(self._row), 0):
            self._below[len(self._row)] = rows - 1
            self._row.append(TableCell(()))

    def rows(self) -> tuple[tuple[TableCell, ...], ...]:
        """All rows."""
        self.line()
        return tuple(self._rows)


# -- listings: code, what it printed, or a session of both --------------------------------------

#: What a piece of a session is.
_Turn = Literal["code", "output"]

#: Languages of listings whose author says that they were printed, or says nothing.
_PRINTED = frozenset(("output", "stdout", "out", "result", "console-output"))
_UNSAID = frozenset(("", "text", "txt", "plain", "plaintext", "none", "console", "text-output"))
_ASSIGNMENT = re.compile(
    r"(?m)^[ \t]*+[^\W\d]\w*+(?:,[ \t]*+[^\W\d]\w*+|\.\w++|\[[^\]\n]*+\])*+[ \t]*+=(?!=)"
)
#: Arrays as NumPy and its like print them: numbers without commas between them.
_ARRAY = re.compile(rf"\[[ \t]*+{ENTRY}[ \t]++{ENTRY}")
_TENSOR = re.compile(r"(?m)^[ \t]*+(?:tensor|array|Array|<tf\.Tensor)\(")
#: Prompts of interactive Python: of a statement, of a line that goes on with it.
_PROMPT = re.compile(r"[ \t]*+(?:>>>(?: |$)|In ?\[[0-9 ]*+\]: ?)")
_MORE = re.compile(r"[ \t]*+(?:\.\.\.(?: |$)|\.\.\.: ?)")
_RESULT = re.compile(r"[ \t]*+Out ?\[[0-9 ]*+\]: ?")
#: What R's sessions have before what was printed.
_ANSWER = re.compile(r"#> ?")


def listing(
    text: Text, language: str = "", tags: tuple[str, ...] = (), before: Sequence[Block] = ()
) -> list[Block]:
    """The blocks of a listing: code, output, or both where it is a session.

    ``before`` are the blocks that stand before it: what follows code was printed by it.

    >>> [block.kind for block in listing(Text.whole(">>> 1 + 1\\n2"))]
    ['code', 'output']
    """
    language = language.lower()
    if turns := session(text):
        blocks = [_block(kind, typed, language, tags) for kind, typed in turns]
        return [block for block in blocks if block.text.string.strip()]
    lines = list(text.lines(keepends=True))
    kind: BlockKind = "code"
    if language in _PRINTED or (language in _UNSAID and _is_printed(text.string, before)):
        kind = "output"
        lines = _without_marks(lines)
    block = _block(kind, Text.joined(lines), language, tags)
    return [block] if block.text.string.strip() else []


def _block(kind: BlockKind, text: Text, language: str, tags: tuple[str, ...]) -> Block:
    return Block(kind, (BlockPart("code", text.rstripped()),), language=language, tags=tags)


def _is_printed(string: str, before: Sequence[Block]) -> bool:
    """Return whether a listing of no language is what code printed."""
    if _ARRAY.search(string):
        return True
    after_code = bool(before) and before[-1].kind == "code"
    has_assignment = _ASSIGNMENT.search(string) is not None
    return not has_assignment and (after_code or _TENSOR.search(string) is not None)


def _without_marks(lines: list[Text]) -> list[Text]:
    """Without the ``##`` that knitr sets before what code prints."""
    if all(line.string.startswith("##") or not line.string.strip() for line in lines):
        return [line[2:] if line.string.startswith("##") else line for line in lines]
    return lines


def session(text: Text) -> list[tuple[_Turn, Text]]:
    """Return what was typed and what was printed in turn, without prompts; none of what is no
    session.

    >>> [(kind, str(turn)) for kind, turn in session(Text.whole(">>> 1 + 1\\n2"))]
    [('code', '1 + 1\\n'), ('output', '2')]
    """
    lines = list(text.lines(keepends=True))
    has_prompts = any(_PROMPT.match(line.string) for line in lines)
    if not has_prompts and not any(_ANSWER.match(line.string) for line in lines):
        return []
    turns: list[tuple[_Turn, Text]] = []
    for line in lines:
        marker = (_RESULT if has_prompts else _ANSWER).match(line.string)
        kind: _Turn = "code" if marker is None and not has_prompts else "output"
        if has_prompts:
            goes_on = turns and turns[-1][0] == "code" and _MORE.match(line.string)
            if prompt := _PROMPT.match(line.string) or goes_on:
                kind, marker = "code", prompt
        turns.append((kind, line[marker.end() :] if marker else line))
    groups = groupby(turns, key=lambda turn: turn[0])
    return [(kind, Text.joined(line for _, line in group)) for kind, group in groups]
