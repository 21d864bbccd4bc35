"""Printed values as trees, for tests of what they are bound to."""

from __future__ import annotations

from itertools import count

from symattn.documents.text import Span
from symattn.documents.trees import PrintedFigure
from symattn.expressions import syntax


class Printer:
    """Prints values one behind another, so that each figure has a place of its own."""

    def __init__(self) -> None:
        self._places = count(1000, 10)

    def __call__(self, *rows: str) -> syntax.Tree:
        """A value: of one row a vector, of one figure that."""
        found = [self._row(row) for row in rows]
        if len(found) > 1:
            return syntax.Array(tuple(syntax.Array(row) for row in found))
        return found[0][0] if len(found[0]) == 1 else syntax.Array(found[0])

    def _row(self, row: str) -> tuple[syntax.Tree, ...]:
        return tuple(self._figure(text) for text in row.split())

    def _figure(self, text: str) -> PrintedFigure:
        start = next(self._places)
        return PrintedFigure(text, Span(start, start + len(text)))

    def matrix(self, values, decimals: int) -> syntax.Tree:
        """A matrix rounded to so many decimals; a vector is one too."""
        rows = values if getattr(values, "ndim", 2) == 2 else [values]
        return self(*(" ".join(f"{x:.{decimals}f}" for x in row) for row in rows))
