"""Trees of notation: the one grammar's trees, with the places of what was written.

The trees are those of :mod:`symattn.expressions.syntax`; a figure and a name know where they
stand. What only documents write (an array with labels, something not understood)
is added here.

What a reader did not expect is kept to the piece that it was reading. That piece is then not
understood: its numbers are counted as not read, and why stands where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from symattn.documents.text import Span, Text
from symattn.errors import lacks_memory, shows_tracebacks, unforeseen
from symattn.expressions import syntax
from symattn.expressions.trees import Walk
from symattn.spelling import DECIMAL, is_figure

NOWHERE = Span(0, 0)


@dataclass(frozen=True)
class PrintedFigure(syntax.Literal):
    """A printed number: ``text`` as a claim has it (``-0.50``, ``50.7%``,
    ``1.2e-3``, ``-inf``), a sign right before it included."""

    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Named(syntax.Name):
    """A name in plain letters (``W_Q`` for ``W^{(Q)}``, ``S_scaled``, ``A_hat``)."""

    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Labelled(syntax.Array):
    """An array with labels of its rows and columns, empty where there are none.

    ``rows_said`` or ``columns_said`` has one text for each row or column.
    """

    rows_said: tuple[str, ...] = ()
    columns_said: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Opaque:
    """Something that is not understood; ``figures`` are the numbers in it, ``why`` is said
    where a reader failed."""

    text: str
    span: Span = field(default=NOWHERE, compare=False)
    figures: tuple[PrintedFigure, ...] = field(default=(), compare=False)
    why: str = field(default="", compare=False)


def plain(tree: syntax.Tree) -> syntax.Tree:
    """A tree as the grammar itself makes it: without places, each sign before its number.

    >>> plain(syntax.Binary("*", Named("x"), PrintedFigure("-2")))
    Binary(op='*', left=Name(name='x'), right=Negative(operand=Literal(text='2')))
    """
    match tree:
        case syntax.Literal(text):
            number = syntax.Literal(text.lstrip("+-"))
            return syntax.Negative(number) if text.startswith("-") else number
        case syntax.Name(name):
            return syntax.Name(name)
        case syntax.Array(items):
            return syntax.Array(tuple(map(plain, items)))
    return syntax.mapped(tree, plain)


#: A tree of the grammar (whose leaves may be those above), or what is none.
Member = syntax.Tree | Opaque


_walk: Walk[Member] = Walk()
walk = _walk.walk

#: What stands between two members of a chain: equal; about equal; an arrow that gives
#: a value ("please → [1, 0]"); a colon behind a name or a label.
Link = Literal["=", "≈", "→", ":"]


@dataclass(frozen=True)
class Chain:
    """Members that are said to be equal: ``Q = X W_Q = [[1, 0], [0, 2]]``.

    There is one link less than members; a chain of one member only mentions it.
    ``spans`` are those of the members. ``is_code`` where it is an assignment or an
    expression of a program; ``after`` is the link to a value in the next block.
    """

    members: tuple[Member, ...]
    links: tuple[Link, ...]
    spans: tuple[Span, ...]
    is_code: bool = False
    after: Link = "="

    @property
    def span(self) -> Span:
        """From its first member to its last."""
        return self.spans[0].to(self.spans[-1])


@dataclass(frozen=True)
class Words:
    """Words between formulas, as they are written; ``figures`` are numbers among them."""

    text: str
    span: Span
    figures: tuple[PrintedFigure, ...] = ()


@dataclass(frozen=True)
class ReadTable:
    """A table: its cells, each the pieces in it; ``head`` is empty where it has none.

    ``workings`` are by columns the cells that may be worked out in those before them, read with
    these: ``| 4 * 768 | 3072 |``.
    """

    head: tuple[tuple[Words | Chain, ...], ...]
    rows: tuple[tuple[tuple[Words | Chain, ...], ...], ...]
    span: Span
    workings: tuple[tuple[Words | Chain, ...], ...] = ()

    @property
    def pieces(self) -> tuple[Words | Chain, ...]:
        """All that stands in its cells, row by row."""
        return tuple(piece for row in (self.head, *self.rows) for cell in row for piece in cell)


Piece = Words | Chain | ReadTable


@dataclass(frozen=True)
class Passage:
    """A passage that is read together: a heading, a paragraph, a display, a line of code or output.

    ``level`` is that of a heading, from 1; 0 else. In code and output, and in plain
    text, each line is a passage of its own; a chain that goes on over several lines
    is one.
    """

    kind: Literal["heading", "prose", "formula", "code", "output", "table", "note"]
    pieces: tuple[Piece, ...]
    level: int = 0
    tags: tuple[str, ...] = ()


def of_table(table: ReadTable) -> Labelled | None:
    """The figures of a table, where its cells are figures and labels alone.

    A first column that has other things is the labels of the rows. None of a table of
    one column of figures, which may be of different things, without a name above it.
    """
    rows = [[_figure(cell) for cell in row] for row in table.rows]
    if not rows or not rows[0]:
        return None
    labels: tuple[str, ...] = ()
    if not all(row and row[0] for row in rows):
        labels = tuple(_said(row[0]) if row else "" for row in table.rows)
        rows = [row[1:] for row in rows]
    elif _are_counted(rows, table.head):
        labels = tuple(row[0].text for row in rows if row[0])
        rows = [row[1:] for row in rows]
    width = len(rows[0])
    if not width or any(len(row) != width or not all(row) for row in rows):
        return None
    head = tuple(map(_said, table.head))
    if len(head) == width + 1 and labels:
        head = head[1:]
    figures = [[cell for cell in row if cell] for row in rows]
    return Labelled(
        tuple(Labelled(tuple(row), span=row[0].span.to(row[-1].span)) for row in figures),
        rows_said=labels,
        columns_said=head if len(head) == width else (),
        span=figures[0][0].span.to(figures[-1][-1].span),
    )


def _are_counted(
    rows: Sequence[Sequence[PrintedFigure | None]], head: Sequence[Sequence[Words | Chain]]
) -> bool:
    """Return whether the first of each row is its number, under a heading that isn't one of the
    others' kind."""
    numbers = [row[0].text for row in rows if row[0]]
    if len(rows) < 2 or len(rows[0]) < 3 or not all(number.isdigit() for number in numbers):
        return False
    plain = [number.lstrip("0") or "0" for number in numbers]
    counted = any(plain == [str(k) for k in range(first, first + len(rows))] for first in (0, 1))
    return counted and len(head) == len(rows[0])


def _figure(cell: Sequence[Words | Chain]) -> PrintedFigure | None:
    match list(cell):
        case [Chain(members=(PrintedFigure() as figure,))]:
            return figure
        case [Words(text, figures=(figure,))] if is_figure(text):
            return figure
    return None


def _said(cell: Sequence[Words | Chain]) -> str:
    return " ".join(
        piece.text.strip() if isinstance(piece, Words) else _written(piece) for piece in cell
    )


def _written(chain: Chain) -> str:
    first = chain.members[0]
    if isinstance(first, Opaque):
        return first.text
    # An array may have items that are not understood.
    return "…" if any(isinstance(part, Opaque) for part in walk(first)) else syntax.text(first)


T = TypeVar("T")


def contained(read: Callable[[], Iterable[T]], otherwise: Callable[[str], T]) -> tuple[T, ...]:
    """Return what a reader finds in a piece; where it fails, what stands for a piece that is not
    understood, made of the reason. Who asked for tracebacks gets the exception instead.

    >>> contained(lambda: [1, 2], len)
    (1, 2)
    """
    try:
        return tuple(read())
    except Exception as error:
        if lacks_memory(error) or shows_tracebacks():
            raise
        return (otherwise(unforeseen(error)),)


def opaque(why: str, *texts: Text) -> Opaque:
    """Texts that are not understood, with the numbers in them, and why.

    >>> opaque("", Text.whole("A = 0.5")).figures
    (PrintedFigure(text='0.5', span=Span(start=4, end=7)),)
    """
    found = [(text, one) for text in texts for one in re.finditer(DECIMAL, text.string)]
    figures = tuple(PrintedFigure(one[0], text.span(*one.span())) for text, one in found)
    said = " ".join(text.string for text in texts)
    return Opaque(said, texts[0].span().to(texts[-1].span()), figures, why)


def alone(member: Opaque) -> Chain:
    """A chain of that alone."""
    return Chain((member,), (), (member.span,))
