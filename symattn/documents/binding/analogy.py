"""Analogies: what is worked for one row of a table holds for the others of the same columns.

"V_coffee = [0, 0, 1, 1] W_V = [1, 1, 1]" works the cell of *coffee* under *V* from its cell under
*Embedding*, or a row of V from that row of X: so each other cell or row comes of the one beside it.
That is known if most of them do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from symattn.documents.binding import values
from symattn.documents.trees import Chain, ReadTable, Words
from symattn.expressions import syntax

#: Fewer rows say nothing, more are not compared; so many columns are, and parts of expressions.
_FEWEST, _MOST, _COLUMNS, _PARTS = 3, 64, 64, 64


class Alike(NamedTuple):
    """A cell, what it is by analogy, and how much was stated before it."""

    order: int
    said: syntax.Tree
    value: syntax.Tree


@dataclass(frozen=True)
class _Column:
    order: int
    cells: Mapping[str, syntax.Tree]

    @cached_property
    def labels(self) -> Mapping[tuple[str, ...], str]:
        """By the numbers of a cell that no other has: its label."""
        texts = [(*values.texts(cell),) for cell in self.cells.values()]
        pairs = zip(texts, self.cells, strict=True)
        return {numbers: label for numbers, label in pairs if texts.count(numbers) == 1}


@dataclass
class Columns:
    """The columns of the tables of an article whose rows have labels, and its matrices, whose rows
    are counted."""

    _columns: list[_Column] = field(default_factory=list)

    def table(self, table: ReadTable, order: int) -> None:
        """Take a table that stands behind so many chains."""
        labels = [_label(row[0]) if row else "" for row in table.rows]
        if "" not in labels and len(set(labels)) == len(labels):
            for k in range(1, min(map(len, table.rows), default=0)):
                self._take(labels, [_value(row[k]) for row in table.rows], order)

    def matrix(self, value: syntax.Tree, order: int) -> None:
        """Take a printed matrix."""
        if len(values.shape(value)) == 2:
            rows = [*syntax.inside(value)]
            self._take([*map(str, range(len(rows)))], rows, order)

    def _take(self, labels: Sequence[str], cells: Sequence[syntax.Tree | None], order: int) -> None:
        found = {x: y for x, y in zip(labels, cells, strict=True) if y is not None}
        is_small = _FEWEST <= len(found) == len(labels) <= _MOST
        if is_small and len(self._columns) < _COLUMNS:
            self._columns.append(_Column(order, found))

    def alike(self, said: syntax.Tree, value: syntax.Tree) -> Iterator[Sequence[Alike]]:
        """Yield what other cells are by what is said of a value, column by column."""
        numbers = (*values.texts(value),)
        columns = [one for one in self._columns if numbers in one.labels]
        parts = [*islice(syntax.walk(said), _PARTS)] if columns else []
        operands = [(part, (*values.texts(part),)) for part in parts if values.is_value(part)]
        for column in columns:
            label = column.labels[numbers]
            for other in self._columns:
                found = [x for x, texts in operands if other.labels.get(texts) == label]
                if other is column or len(found) != 1 or column.cells.keys() != other.cells.keys():
                    continue
                yield [
                    Alike(column.order, _put(said, found[0], other.cells[name]), cell)
                    for name, cell in column.cells.items()
                    if name != label
                ]


def _put(tree: syntax.Tree, old: syntax.Tree, new: syntax.Tree) -> syntax.Tree:
    return syntax.replaced(tree, lambda part: new if part is old else None)


def _label(cell: Sequence[Words | Chain]) -> str:
    words = "".join(piece.text for piece in cell if isinstance(piece, Words))
    return words.strip(" *_`\"'").casefold()


def _value(cell: Sequence[Words | Chain]) -> syntax.Tree | None:
    """Return the only value in a cell."""
    match cell:
        case [Chain(members=(value,))] if values.is_value(value):
            return value
    return None
