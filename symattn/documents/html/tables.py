"""Tables of HTML while their cells come."""

from __future__ import annotations

from symattn.documents.article import BlockPart, TableCell
from symattn.documents.html.tokens import Tag

#: Columns and rows that one cell may span.
_SPANNED = 50
#: Empty cells of a table that are put in for such cells; beyond, each is one cell.
_EMPTIES = 10_000
_EMPTY = {False: TableCell(()), True: TableCell((), is_head=True)}


class HtmlTable:
    """Cells in rows; what spans several leaves empty ones beside and below it."""

    def __init__(self) -> None:
        self.in_head = False
        #: Whether a cell has begun and not ended.
        self.in_cell = False
        self._rows: list[tuple[TableCell, ...]] = []
        self._row: list[TableCell] = []
        self._tag: Tag | None = None
        #: Of the columns from the left: how many rows more a cell above takes.
        self._below: dict[int, int] = {}
        self._empties = 0

    def begin(self, tag: Tag) -> None:
        """A cell begins."""
        self._tag, self.in_cell = tag, True

    def end(self, parts: tuple[BlockPart, ...]) -> None:
        """The cell ends, if there is one."""
        if self._tag is None:
            return
        is_head = self.in_head or self._tag.name == "th"
        self._fill()
        columns, rows = _number(self._tag, "colspan"), _number(self._tag, "rowspan")
        self._empties += columns * rows - 1
        if self._empties > _EMPTIES:
            columns, rows = 1, 1
        for column in range(len(self._row), len(self._row) + columns):
            if rows > 1:
                self._below[column] = rows - 1
        self._row += [TableCell(parts, is_head), *[_EMPTY[is_head]] * (columns - 1)]
        self._tag, self.in_cell = None, False

    def line(self) -> None:
        """A row ends."""
        if self._row:
            self._fill()
            self._rows.append(tuple(self._row))
        self._row = []

    def _fill(self) -> None:
        """Leave out columns that a cell above takes."""
        while rows := self._below.get(len(self._row), 0):
            self._below[len(self._row)] = rows - 1
            self._row.append(_EMPTY[False])

    def rows(self) -> tuple[tuple[TableCell, ...], ...]:
        """All rows that have something in them."""
        self.line()
        return tuple(row for row in self._rows if any(cell.parts for cell in row))


def _number(tag: Tag, name: str) -> int:
    value = tag.value(name).strip()[:4]
    return min(max(int(value), 1), _SPANNED) if value.isdecimal() else 1
