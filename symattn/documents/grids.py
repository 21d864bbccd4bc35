"""Arrays printed over several lines: in outputs, in code, in plain text, and tables of figures.

Every such array is written as one line, each character with its place, for
:func:`symattn.documents.notation.read_line` to read like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from symattn import syntax
from symattn.documents import brackets, columns
from symattn.documents.columns import FlatLine
from symattn.documents.text import Span, Text
from symattn.documents.trees import Chain, Labelled, Opaque, PrintedFigure, ReadTable, Words, walk
from symattn.spelling import is_figure


def flattened(lines: Sequence[Text], are_printed: bool = False) -> Iterator[FlatLine]:
    """Lines with each array on one line; ``are_printed`` where a program printed them.

    >>> text = Text.whole("A =\\n[[1. 0.]\\n [0. 1.]]\\nB")
    >>> [str(line.text) for line in flattened(list(text.lines()))]
    ['A =', '[[1., 0.], [0., 1.]]', 'B']
    """
    at = 0
    for stack in columns.beside(lines):
        yield from _single(lines, at, stack[0].first, are_printed)
        yield from stack
        at = stack[0].last + 1
    yield from _single(lines, at, len(lines), are_printed)


def _single(lines: Sequence[Text], first: int, end: int, are_printed: bool) -> Iterator[FlatLine]:
    """Lines from ``first`` to before ``end``: arrays in brackets, then what stands in
    columns on the lines that are left."""
    run: list[FlatLine] = []
    for line in _bracketed(lines, first, end):
        if line.first == line.last:
            run.append(line)
            continue
        yield from _under(lines, run, are_printed)
        run = []
        yield line
    yield from _under(lines, run, are_printed)


def _under(lines: Sequence[Text], run: Sequence[FlatLine], are_printed: bool) -> Iterator[FlatLine]:
    if not run:
        return
    first, at = run[0].first, 0
    for stack in columns.under(lines[first : first + len(run)], are_printed):
        yield from run[at : stack[0].first]
        for line in stack:
            yield replace(line, first=first + line.first, last=first + line.last)
        at = stack[0].last + 1
    yield from run[at:]


def _bracketed(lines: Sequence[Text], first: int, end: int) -> Iterator[FlatLine]:
    """Lines from ``first`` to before ``end``, those of an array in brackets as one."""
    if first >= end:
        return
    text = Text.joined(lines[first:end], "\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines[first : end - 1])]
    arrays = iter(brackets.arrays(text))
    array = next(arrays, None)
    number = 0
    while number < len(starts):
        at, begun = starts[number], number
        pieces: list[Text] = []
        labels: list[tuple[Span, tuple[str, ...], tuple[str, ...]]] = []
        while array is not None and array.start < starts[number] + len(lines[first + number]) + 1:
            pieces += [text[at : array.start], array.text]
            if any(array.labels):
                labels.append((array.text.span(), array.labels, ()))
            at = array.end
            while number + 1 < len(starts) and starts[number + 1] < at:
                number += 1
            array = next(arrays, None)
        pieces.append(text[at : starts[number] + len(lines[first + number])])
        yield FlatLine(Text.joined(pieces), first + begun, first + number, tuple(labels))
        number += 1


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
    """Whether the first of each row is its number, under a heading that isn't one of the
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
