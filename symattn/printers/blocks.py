"""Blocks that a sheet is made of, without markup.

A sheet is a sequence of blocks; printers such as
:mod:`symattn.printers.latex` turn them into a document. Mathematics is carried
as rows of :mod:`symattn.expressions.typesetting`, which every printer walks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from symattn.expressions.typesetting import Row
from symattn.languages.language import ENGLISH, Language


@dataclass(frozen=True)
class Math:
    """Mathematics inside a line of text."""

    formula: Row


@dataclass(frozen=True)
class Code:
    """A command or a name, set as it is typed."""

    text: str


@dataclass(frozen=True)
class Strong:
    """Words that are stressed."""

    text: str


@dataclass(frozen=True)
class Link:
    """Words that lead to the :class:`Target` of that name, where a printer has links."""

    text: str
    to: str


@dataclass(frozen=True)
class Target:
    """Words that links lead to; the name is letters, digits and hyphens."""

    text: str
    name: str


Piece = str | Math | Code | Strong | Link | Target
#: A line of text: plain words with mathematics, code, stress and links in between.
Line = tuple[Piece, ...]


def joined(parts: Iterable[Piece | Line], between: str = ", ") -> Line:
    """Pieces or lines with the same words between them.

    >>> joined(["a", ("b", "c"), "d"])
    ('a', ', ', 'b', 'c', ', ', 'd')
    """
    pieces: list[Piece] = []
    for place, part in enumerate(parts):
        pieces += [between] if place else []
        pieces += part if isinstance(part, tuple) else (part,)
    return tuple(pieces)


def words(line: Line) -> str:
    """The words of a line, without its mathematics."""
    return "".join(x if isinstance(x, str) else "" if isinstance(x, Math) else x.text for x in line)


def written(
    line: Line,
    text: Callable[[str], str],
    math: Callable[[Row], str],
    code: Callable[[str], str],
    strong: Callable[[str], str],
    link: Callable[[Link | Target], str] | None = None,
) -> Iterator[str]:
    """The pieces of a line, each written as what it is; links are their words, unless said."""
    for piece in line:
        match piece:
            case Math(formula):
                yield math(formula)
            case Code(typed):
                yield code(typed)
            case Strong(stressed):
                yield strong(stressed)
            case Link() | Target():
                yield link(piece) if link else text(piece.text)
            case _:
                yield text(piece)


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is a section.

    What follows it to a height of ``room`` mm stays on its page, if it fits on one.
    """

    text: Line
    level: int = 1
    room: float = 0.0


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: Line


#: A line of equations: its left side, its relation and its right side.
Equation = tuple[Row, Row, Row]


@dataclass(frozen=True)
class Equations:
    """Displayed lines ``left &= right``, aligned at the relation.

    An empty left continues the line above. In several ``columns`` short ones
    stand side by side, row by row.
    """

    lines: tuple[Equation, ...]
    columns: int = 1

    @property
    def rows(self) -> Iterator[tuple[Equation, ...]]:
        """The lines that stand side by side."""
        places = range(0, len(self.lines), self.columns)
        return (self.lines[k : k + self.columns] for k in places)


#: What is told of a figure where a reader asks for it: a chain of lines from its
#: name over where it comes from to its digits. Printers on paper leave it out.
Hint = Equations


@dataclass(frozen=True)
class Matrix:
    """A matrix of cells with what stands before it (``S =``), and labels;
    without cells only what stands before. Where there are ``hints`` each cell has one."""

    before: Row
    cells: tuple[tuple[Row, ...], ...]
    row_labels: tuple[str, ...] = ()
    hints: tuple[tuple[Hint, ...], ...] = ()


@dataclass(frozen=True)
class Matrices:
    """Matrices side by side, as many on a line as fit."""

    items: tuple[Matrix, ...]


@dataclass(frozen=True)
class Table:
    """A table; ``align`` has one of l, c, r for each column.

    A row of one cell is a title of the rows below it.
    """

    header: tuple[Line, ...]
    rows: tuple[tuple[Line, ...], ...]
    align: str


@dataclass(frozen=True)
class HeatMap:
    """A matrix of numbers from 0 to 1 as shades, with the figures inside.

    Where there are ``hints`` each cell has one.
    """

    title: Line
    shades: tuple[tuple[float, ...], ...]
    figures: tuple[tuple[Row, ...], ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    hints: tuple[tuple[Hint, ...], ...] = ()


@dataclass(frozen=True)
class HeatMaps:
    """Heat maps side by side."""

    items: tuple[HeatMap, ...]


@dataclass(frozen=True)
class Beside:
    """Displays side by side, as many on a line as fit: a working, and what came of it."""

    items: tuple[Equations | Matrices | HeatMaps, ...]


@dataclass(frozen=True)
class Listing:
    """Commands to type, one a line."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class RedPen:
    """Printed figures with corrections in them, and notes in the margin."""

    where: str
    matrix: Matrix
    notes: tuple[Line, ...]


@dataclass(frozen=True)
class Picture:
    """A drawing as SVG, which tells in words what is in it; what can't show one leaves it out.
    It takes most of a page of paper, and is there only where it ``is_asked`` for."""

    svg: str
    is_asked: bool = False


Block = (
    Heading | Paragraph | Equations | Matrices | Table | HeatMaps | Beside | Listing | RedPen
    | Picture
)  # fmt: skip


def introduces(block: Block, after: Block | None) -> bool:
    """Tell whether a paragraph belongs to the display below it."""
    return isinstance(block, Paragraph) and not isinstance(after, Paragraph | Heading | None)


def on_paper(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """Return what is printed on paper: drawings that are asked for stand at the end."""
    pictures = tuple(x for x in blocks if isinstance(x, Picture) and x.is_asked)
    return (*(x for x in blocks if not isinstance(x, Picture)), *pictures)


@dataclass(frozen=True)
class Logo:
    """An image that stands above a sheet: its bytes, and their ``kind``: ``png``, for pages
    also ``svg``, for LaTeX also ``pdf``."""

    data: bytes
    kind: str

    @property
    def file(self) -> str:
        """Return what its file is called beside a LaTeX document."""
        return f"symattn-logo.{self.kind}"


@dataclass(frozen=True)
class PageScript:
    """The behaviour of a page in a browser: a script of ours, and plain data that it finds as JSON
    in the element ``data``. What runs no scripts leaves it out."""

    code: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Sheet:
    """A document: its head and its blocks.

    ``say`` is the language of its words, for those that printers add; ``paper``
    is ``a4`` or ``letter``.
    """

    name: str
    title: str | Line
    subtitle: Line
    blocks: tuple[Block, ...]
    say: Language = ENGLISH
    paper: str = "a4"
    logo: Logo | None = None
    script: PageScript | None = None

    def __repr__(self) -> str:
        return f"<Sheet {self.name[:60]!r}: {len(self.blocks)} blocks>"

    @property
    def heading(self) -> Line:
        """The title as a line.

        >>> Sheet("x", "By hand", (), ()).heading
        ('By hand',)
        """
        return (self.title,) if isinstance(self.title, str) else self.title
