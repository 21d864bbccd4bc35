"""Balls of single entries: each costs only what it depends on, at the precision it needs.

Whole matrices of balls are quicker by the entry (:mod:`~symattn.programs.enclosures`);
here one entry in doubt is followed up. The precision is that of the surrounding
:func:`~symattn.numbers.balls.precision` block, in which entries must be asked for.

Which axes of a program's quantities run over the same things.

Two axes are the same where an operation lines them up: the columns of S in
``S = Q @ K.T`` run over the rows of K. A sheet labels with tokens the axes
that are the same as the rows of the output, and no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

from flint import arb, ctx

from symattn.numbers.reading import Masked
from symattn.numbers.values import Value
from symattn.programs.cancellation import closer_product
from symattn.programs.enclosures import above
from symattn.programs.entrywise import Compute, Entrywise, Keeps, LazyGrid
from symattn.programs.nodes import Elementwise, Node, ancestors
from symattn.programs.program import Program


class _BallScalars:
    """Balls as scalars; see :class:`~symattn.programs.entrywise.Scalars`."""

    def constant(self, value: Value) -> arb:
        return value.enclosure(ctx.prec)

    def total(self, items: Iterable[arb]) -> arb:
        return sum(items, arb(0))

    def sum_of_products(self, pairs: Iterable[tuple[arb, arb]]) -> arb:
        result = arb(0)
        for x, y in pairs:
            result += x * y
        return result

    def negative(self, x: arb) -> arb:
        return -x

    def divisor(self, y: arb) -> arb:
        return y

    def quotient(self, x: arb, divisor: arb) -> arb:
        return x / divisor

    def function(self, name: Elementwise, x: arb) -> arb:
        result: arb = getattr(x, name)()
        return result

    def largest(self, items: Sequence[arb], *, to_first: bool) -> arb:
        return reduce(arb.max, items)

    def above(self, x: arb, y: arb) -> arb:
        return above(x, y)

    def is_positive(self, x: arb) -> bool:
        return bool(x > 0)


class EntrywiseBalls(Entrywise[arb]):
    """The operations on single balls; ``keeps`` says what a mask keeps."""

    centres, sees_factors = True, False

    def __init__(self, keeps: Keeps[arb]) -> None:
        super().__init__(_BallScalars(), keeps)

    def _subtract(self, node: Node, *operands: LazyGrid[arb]) -> Compute[arb]:
        if len(operands) == 2:
            return super()._subtract(node, *operands)
        x, _, weights = operands

        def apart(i: int) -> tuple[int, arb]:
            # Seen from the heaviest entry, the mean is of the others alone: where one has
            # nearly all the weight, nothing cancels.
            row = [weights.number(i, k) for k in range(x.columns)]
            heaviest = max(range(x.columns), key=lambda k: float(row[k].mid()))
            middle = x.number(i, heaviest)
            others = (k for k in range(x.columns) if k != heaviest)
            return heaviest, self.scalars.sum_of_products(
                (row[k], x.number(i, k) - middle) for k in others
            )

        rows: dict[int, tuple[int, arb]] = {}

        def entry(i: int, j: int) -> arb | Masked:
            if i not in rows:
                rows[i] = apart(i)
            heaviest, mean = rows[i]
            return x.number(i, j) - x.number(i, heaviest) - mean if j != heaviest else -mean

        return entry

    def _matmul(self, node: Node, x: LazyGrid[arb], y: LazyGrid[arb]) -> Compute[arb]:
        product, closer = super()._matmul(node, x, y), closer_product(node)
        if closer is None:
            return product

        def entry(i: int, j: int) -> arb | Masked:
            value = product(i, j)
            if isinstance(value, Masked) or not value.contains(0) or value.is_zero():
                return value
            left = [_Row(x, k) for k in range(x.rows)]
            return closer(i, left, [y.number(k, j) for k in range(y.rows)])

        return entry


class _Row(Sequence[arb]):
    """A row of a grid: entries are computed when they are asked for."""

    def __init__(self, grid: LazyGrid[arb], row: int) -> None:
        self._grid, self._row = grid, row

    def __len__(self) -> int:
        return self._grid.columns

    def __getitem__(self, key: Any) -> Any:
        return self._grid.number(self._row, range(len(self))[key])


def balls(rows: Iterable[Iterable[Value | Masked]]) -> LazyGrid[arb]:
    """Exact entries as balls, each made when it is asked for."""
    table = [tuple(row) for row in rows]

    def entry(i: int, j: int) -> arb | Masked:
        value = table[i][j]
        return value if isinstance(value, Masked) else value.enclosure(ctx.prec)

    return LazyGrid(len(table), len(table[0]), entry)


_NodeAxis = tuple[int, int]


class Axes:
    """The classes of equal axes of a program.

    >>> from symattn.programs.program import program
    >>> p = program({"X": (2, 2), "W": (2, 2)}, {"Q": "X @ W", "S": "Q @ Q.T"})
    >>> axes = Axes(p)
    >>> axes.same(p.quantities["S"], 1, p.quantities["X"], 0)
    True
    >>> axes.same(p.quantities["W"], 0, p.quantities["X"], 0)
    False
    """

    def __init__(self, program: Program) -> None:
        self._parents: dict[_NodeAxis, _NodeAxis] = {}
        for node in ancestors(program.quantities.values()):
            self._line_up(node)
        for name, gradient in program.gradients.items():
            for axis in (0, 1):
                self._join((gradient, axis), (program.quantities[name], axis))

    def same(self, x: Node, i: int, y: Node, j: int) -> bool:
        """Whether axis i of ``x`` (0 rows, 1 columns) runs over what axis j of
        ``y`` does."""
        return self._root((x.serial, i)) == self._root((y.serial, j))

    def _root(self, axis: _NodeAxis) -> _NodeAxis:
        while (parent := self._parents.get(axis, axis)) != axis:
            axis = parent
        return axis

    def _join(self, a: tuple[Node, int], b: tuple[Node, int]) -> None:
        self._parents[self._root((a[0].serial, a[1]))] = self._root((b[0].serial, b[1]))

    def _line_up(self, node: Node) -> None:
        x = node.operands
        match node.op:
            case "matmul":
                self._join((node, 0), (x[0], 0))
                self._join((node, 1), (x[1], 1))
                self._join((x[0], 1), (x[1], 0))
            case "transpose":
                self._join((node, 0), (x[0], 1))
                self._join((node, 1), (x[0], 0))
            case "concat":
                for part in x:
                    self._join((node, 0), (part, 0))
            case "total":
                pass
            case "pick" | "scatter":
                for axis, places in enumerate(node.extra):
                    # Rows in another order are others.
                    length = node.grid[axis]
                    if length > 1 and places == range(length) == range(x[0].grid[axis]):
                        self._join((node, axis), (x[0], axis))
            case _:
                for operand in x:
                    for axis in (0, 1):
                        if operand.grid[axis] == node.grid[axis] > 1:
                            self._join((node, axis), (operand, axis))
