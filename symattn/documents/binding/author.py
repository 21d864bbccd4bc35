"""What the author says of an article, taken where it is read."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import prod

from symattn import syntax
from symattn.documents.binding import values
from symattn.documents.binding.claims import Claims
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Opaque, Passage, Piece, Table, Words
from symattn.shapes import Shape, show

_BARE = re.compile(r"[+-]?[0-9]+\Z")


def without(passages: Iterable[Passage], ignored: Sequence[Span]) -> list[Passage]:
    """The passages without what lies in pieces of the article that claim nothing: chains
    with a part in one, and the numbers among words there."""
    inside = _Inside(ignored)
    left = (
        replace(passage, pieces=tuple(_left(passage.pieces, inside)))
        if inside.touches_any(passage)
        else passage
        for passage in passages
    )
    return [passage for passage in left if passage.pieces]


class _Inside:
    """Tells what has a part in one of some pieces of the article."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans: list[Span] = []
        for span in sorted(spans):
            if self._spans and span.start <= self._spans[-1].end:
                self._spans[-1] = self._spans[-1].to(span)
            else:
                self._spans.append(span)
        self._starts = [span.start for span in self._spans]

    def touches(self, span: Span) -> bool:
        k = bisect_right(self._starts, max(span.end - 1, span.start)) - 1
        return k >= 0 and self._spans[k].end > span.start

    def touches_any(self, passage: Passage) -> bool:
        return bool(self._spans) and any(self.touches(piece.span) for piece in passage.pieces)


def _left(pieces: Iterable[Piece], inside: _Inside) -> Iterator[Piece]:
    for piece in pieces:
        match piece:
            case Chain():
                if not inside.touches(piece.span):
                    yield piece
            case Words(_, _, figures):
                kept = tuple(one for one in figures if not inside.touches(one.span))
                yield replace(piece, figures=kept)
            case Table(head, rows):
                yield replace(
                    piece,
                    head=_cells(head, inside),
                    rows=tuple(_cells(row, inside) for row in rows),
                )


def _cells(
    row: tuple[tuple[Words | Chain, ...], ...], inside: _Inside
) -> tuple[tuple[Words | Chain, ...], ...]:
    return tuple(
        tuple(one for one in _left(cell, inside) if isinstance(one, Words | Chain)) for cell in row
    )


class Printed:
    """The values that an article prints, in their order."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        held = [one for passage in passages for piece in passage.pieces for one in _values(piece)]
        self._values = sorted(held, key=lambda one: _start(one[0]))
        self._starts = [_start(value) for value, _ in self._values]

    def first(self, place: int) -> int:
        """The number of the first value from a place on."""
        return bisect_left(self._starts, place)

    def next(
        self, at: int, end: int, tree: syntax.Tree, shape: Shape, claims: Claims
    ) -> tuple[syntax.Tree | None, int, int]:
        """The next value of a shape that is printed before ``end``, from that of number
        ``at`` on: one that fits, or the figures of several; whole numbers among words
        only where there are not enough without them.

        Gives it, or None, with the number of the value behind it and how many figures
        there are.
        """
        most = prod(shape)
        count = 0
        for with_whole in (False, True):
            figures: list[syntax.Tree] = []
            k = at
            while k < len(self._values) and self._starts[k] < end and len(figures) < most:
                value, is_word = self._values[k]
                k += 1
                if is_word and not with_whole:
                    continue
                if not figures and claims.fits(tree, value):
                    return value, k, most
                figures += values.leaves(value)
            if len(figures) == most:
                return _shaped(figures, shape), k, most
            count = len(figures)
        return None, at, count


def _shaped(figures: Sequence[syntax.Tree], shape: Shape) -> syntax.Tree:
    """Figures in a shape, row by row."""
    if not shape:
        return figures[0]
    if len(shape) == 1:
        return syntax.Array(tuple(figures))
    width = shape[1]
    rows = (figures[k : k + width] for k in range(0, len(figures), width))
    return syntax.Array(tuple(syntax.Array(tuple(row)) for row in rows))


def _start(value: syntax.Tree) -> int:
    return next(values.figures(value)).span.start


def _values(piece: Piece) -> Iterator[tuple[syntax.Tree, bool]]:
    """The values of a piece, and of each whether it is a whole number among words."""
    match piece:
        case Words(_, _, figures):
            yield from ((one, bool(_BARE.match(one.text))) for one in figures)
        case Chain(members):
            for member in members:
                if isinstance(member, Opaque):
                    yield from ((one, False) for one in member.figures)
                elif values.is_value(member) and any(values.figures(member)):
                    yield member, False
        case Table(head, rows):
            for row in (head, *rows):
                for cell in row:
                    for part in cell:
                        yield from _values(part)


def unlike(text: str, shape: Shape, count: int) -> str:
    """What is wrong with a quantity that printed figures were said to be.

    >>> unlike("A[0]", (3,), 2)
    'A[0] is a vector of 3, found 2 figures'
    """
    figures = "no figure" if not count else "1 figure" if count == 1 else f"{count} figures"
    return f"{text} is {show(shape)}, found {figures}"
