"""Tables of LaTeX while their cells come."""

from __future__ import annotations

from symattn.documents.article import BlockPart, TableCell
from symattn.spelling import is_figure


class LatexTable:
    """Cells in rows. ``depth`` is that of the groups around the cells; ``nested``
    counts tables inside of the cell that comes, ``spanned`` the columns that it
    takes beside its own."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.nested = 0
        self.spanned = 0
        self._rows: list[list[tuple[BlockPart, ...]]] = []
        self._row: list[tuple[BlockPart, ...]] = []
        self._head = 0

    def cell(self, parts: tuple[BlockPart, ...]) -> None:
        """A cell ends."""
        self._row.append(parts)
        self._row += [()] * self.spanned
        self.spanned = 0

    def line(self) -> None:
        """A row ends; one of a single empty cell is none."""
        if any(self._row) or len(self._row) > 1:
            self._rows.append(self._row)
        self._row = []

    def rule(self) -> None:
        """A rule: rows above the first between rows are the head."""
        self._head = self._head or len(self._rows)

    def rows(self) -> tuple[tuple[TableCell, ...], ...]:
        """All rows. A row of nothing but numbers is no head, whatever is ruled."""
        head = self._head if self._head < len(self._rows) else 0
        return tuple(
            tuple(TableCell(parts, at < head and not _is_numbers(row)) for parts in row)
            for at, row in enumerate(self._rows)
        )


def _is_numbers(row: list[tuple[BlockPart, ...]]) -> bool:
    return all(is_figure("".join(part.text.string for part in parts)) for parts in row)
