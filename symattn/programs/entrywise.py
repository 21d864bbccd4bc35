"""Entry by entry: what every operation does, over any kind of scalar.

The one walk over a program's nodes by their entries. Exact values are one kind of scalar (here);
the audit's terms and the sheets' worked formulas are others. A :class:`LazyGrid` computes an entry
when it is asked for and keeps it, so one entry of a large gradient costs only what it depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import mul, neg
from typing import Generic, Protocol, TypeVar

from symattn.errors import Malformed
from symattn.expressions.elementary import ELEMENTWISE, Elementwise
from symattn.numbers import values
from symattn.numbers.balls import charge, spend
from symattn.numbers.reading import MASKED, Masked
from symattn.numbers.values import Value
from symattn.programs import nodes
from symattn.programs.nodes import FLOW, SUMS, Node
from symattn.verdicts import Verdict

S = TypeVar("S")

#: The entry at a row and a column of a grid.
Compute = Callable[[int, int], "S | Masked"]

#: Most operations that one entry waits for: each is a few calls deep, so the
#: entries of a longer program are computed now and then without being asked for.
MAX_DEPTH = 50


class Scalars(Protocol[S]):
    """Arithmetic of single entries."""

    def constant(self, value: Value) -> S:
        """A number of the program."""

    def total(self, items: Iterable[S]) -> S:
        """The sum of the items."""

    def sum_of_products(self, pairs: Iterable[tuple[S, S]]) -> S:
        """``sum(a * b)`` over the pairs."""

    def negative(self, x: S) -> S:
        """``-x``."""

    def divisor(self, y: S) -> S:
        """``y`` made ready to be divided by, once for all its quotients, where that is of use."""
        return y

    def quotient(self, x: S, divisor: S) -> S:
        """``x / y``, by the :meth:`divisor` of y."""

    def function(self, name: Elementwise, x: S) -> S:
        """``sqrt``, ``exp``, ... of x."""

    def largest(self, items: Sequence[S], *, to_first: bool) -> S:
        """The largest; of equal ones the gradient is the first one's, or shared."""

    def above(self, x: S, y: S) -> S:
        """1 where x is the larger, else 0."""

    def is_positive(self, x: S) -> bool:
        """Return whether x is known to be positive, if no exact run has seen to that before."""
        return True


class LazyGrid(Generic[S]):
    """A matrix whose entries are computed on demand, once."""

    __slots__ = ("columns", "compute", "depth", "entries", "rows")

    def __init__(self, rows: int, columns: int, compute: Compute[S], depth: int = 0) -> None:
        self.rows = rows
        self.columns = columns
        self.compute = compute
        self.depth = depth
        self.entries: dict[tuple[int, int], S | Masked] = {}

    def at(self, i: int, j: int) -> S | Masked:
        """Entry (i, j), or :data:`HIDDEN` for a masked score."""
        entry = self.entries.get((i, j))
        if entry is None:
            entry = self.entries[i, j] = self.compute(i, j)
        return entry

    def number(self, i: int, j: int) -> S:
        """Entry (i, j), which must not be a masked score."""
        entry = self.at(i, j)
        if isinstance(entry, Masked):
            raise Malformed(
                f"entry [{i}, {j}] is a masked score (-inf): only adding to it, scaling it by a "
                "positive number, exp and softmax are defined"
            )
        return entry


def grid(rows: Sequence[Sequence[S | Masked]]) -> LazyGrid[S]:
    """A grid of entries that are known."""
    return LazyGrid(len(rows), len(rows[0]), lambda i, j: rows[i][j])


#: Whether a masking node keeps an entry: (node, row, column, mask).
Keeps = Callable[[Node, int, int, LazyGrid[S]], bool]


class Entrywise(Generic[S]):
    """The operations over any scalars, each by the formula of its entry.

    ``keeps`` says what a mask keeps: not all scalars can tell 0 from 1.
    """

    centres = sees_factors = False

    def __init__(self, scalars: Scalars[S], keeps: Keeps[S]) -> None:
        self.scalars = scalars
        self.keeps = keeps

    def apply(self, node: Node, operands: list[LazyGrid[S]]) -> LazyGrid[S]:
        """See :class:`~symattn.programs.nodes.Arithmetic`."""
        compute = self._compute(node, operands)
        depth = 1 + max((x.depth for x in operands), default=0)
        if depth <= MAX_DEPTH:
            return LazyGrid(*node.grid, compute, depth)
        grid = LazyGrid(*node.grid, compute)
        for i in range(grid.rows):
            for j in range(grid.columns):
                grid.at(i, j)
        return grid

    def _compute(self, node: Node, operands: list[LazyGrid[S]]) -> Compute[S]:
        if node.op in ELEMENTWISE:
            return self._function(node.op, *operands)
        if node.op in SUMS:
            return self._sum(SUMS[node.op], *operands)
        compute: Compute[S] = getattr(self, f"_{node.op}")(node, *operands)
        return compute

    def read(self, rows: Sequence[Sequence[Value | Masked]]) -> LazyGrid[S]:
        """Exact entries as scalars, each made when it is asked for."""

        def entry(i: int, j: int) -> S | Masked:
            value = rows[i][j]
            return value if isinstance(value, Masked) else self.scalars.constant(value)

        return LazyGrid(len(rows), len(rows[0]), entry)

    def _constant(self, node: Node) -> Compute[S]:
        return self.read([[node.extra]]).at

    def _table(self, node: Node) -> Compute[S]:
        return self.read(node.extra).at

    def _triangle(self, node: Node) -> Compute[S]:
        unit, zero = (self.scalars.constant(v) for v in (values.ONE, values.ZERO))
        return lambda i, j: unit if j <= i else zero

    def _copy(self, node: Node, x: LazyGrid[S]) -> Compute[S]:
        return x.at

    _reshape = _copy

    def _transpose(self, node: Node, x: LazyGrid[S]) -> Compute[S]:
        return lambda i, j: x.at(j, i)

    def _negate(self, node: Node, x: LazyGrid[S]) -> Compute[S]:
        return lambda i, j: self.scalars.negative(x.number(i, j))

    def _add(self, node: Node, x: LazyGrid[S], y: LazyGrid[S]) -> Compute[S]:
        x, y = self._spread_to(node, x), self._spread_to(node, y)

        def entry(i: int, j: int) -> S | Masked:
            a, b = x.at(i, j), y.at(i, j)
            if isinstance(a, Masked) or isinstance(b, Masked):
                return MASKED
            return self.scalars.total((a, b))

        return entry

    def _subtract(self, node: Node, *operands: LazyGrid[S]) -> Compute[S]:
        x, y = (self._spread_to(node, each) for each in operands)

        def entry(i: int, j: int) -> S | Masked:
            a, b = x.at(i, j), y.number(i, j)
            if isinstance(a, Masked):
                return MASKED
            return self.scalars.total((a, self.scalars.negative(b)))

        return entry

    def _multiply(self, node: Node, x: LazyGrid[S], y: LazyGrid[S]) -> Compute[S]:
        x, y = self._spread_to(node, x), self._spread_to(node, y)

        def entry(i: int, j: int) -> S | Masked:
            a, b = x.at(i, j), y.at(i, j)
            if isinstance(a, Masked) or isinstance(b, Masked):
                if node.extra == FLOW:
                    return self.scalars.constant(values.ZERO)
                self._need_positive(b if isinstance(a, Masked) else a)
                return MASKED
            return self.scalars.sum_of_products(((a, b),))

        return entry

    def _divide(self, node: Node, x: LazyGrid[S], y: LazyGrid[S]) -> Compute[S]:
        by = LazyGrid(y.rows, y.columns, lambda i, j: self.scalars.divisor(y.number(i, j)))
        x, y, by = (self._spread_to(node, each) for each in (x, y, by))

        def entry(i: int, j: int) -> S | Masked:
            a, divisor = x.at(i, j), by.number(i, j)
            if isinstance(a, Masked):
                self._need_positive(y.at(i, j))
                return MASKED
            return self.scalars.quotient(a, divisor)

        return entry

    def _maximum(self, node: Node, x: LazyGrid[S], y: LazyGrid[S]) -> Compute[S]:
        x, y = self._spread_to(node, x), self._spread_to(node, y)
        to_first = node.extra == nodes.FIRST
        return lambda i, j: self._largest((x.at(i, j), y.at(i, j)), to_first)

    def _largest(self, items: Iterable[S | Masked], to_first: bool = False) -> S | Masked:
        """The largest one; a masked score is less than every number."""
        numbers = [x for x in items if not isinstance(x, Masked)]
        return self.scalars.largest(numbers, to_first=to_first) if numbers else MASKED

    def _above(self, node: Node, x: LazyGrid[S], y: LazyGrid[S]) -> Compute[S]:
        x, y = self._spread_to(node, x), self._spread_to(node, y)

        def entry(i: int, j: int) -> S | Masked:
            a, b = x.at(i, j), y.at(i, j)
            if isinstance(a, Masked):
                return self.scalars.constant(values.ZERO)
            if isinstance(b, Masked):
                return self.scalars.constant(values.ONE)
            return self.scalars.above(a, b)

        return entry

    def _need_positive(self, factor: S | Masked) -> None:
        if not isinstance(factor, Masked) and self.scalars.is_positive(factor):
            return
        raise Malformed(f"a masked score (-inf) scaled by {factor} is not defined")

    def _spread_to(self, node: Node, x: LazyGrid[S]) -> LazyGrid[S]:
        rows, columns = node.grid
        if (x.rows, x.columns) == (rows, columns):
            return x
        down, across = int(x.rows > 1), int(x.columns > 1)
        return LazyGrid(rows, columns, lambda i, j: x.at(i * down, j * across))

    def _spread(self, node: Node, x: LazyGrid[S]) -> Compute[S]:
        return self._spread_to(node, x).at

    def _matmul(self, node: Node, x: LazyGrid[S], y: LazyGrid[S]) -> Compute[S]:
        inner = range(x.columns)
        return lambda i, j: self.scalars.sum_of_products(
            (x.number(i, k), y.number(k, j)) for k in inner
        )

    def _function(self, name: Elementwise, x: LazyGrid[S]) -> Compute[S]:
        def entry(i: int, j: int) -> S:
            if name == "exp" and isinstance(x.at(i, j), Masked):
                return self.scalars.constant(values.ZERO)
            return self.scalars.function(name, x.number(i, j))

        return entry

    def _softmax(self, node: Node, x: LazyGrid[S]) -> Compute[S]:
        powers = LazyGrid(x.rows, x.columns, self._function("exp", x))

        def normaliser(i: int, _: int) -> S:
            if all(isinstance(x.at(i, k), Masked) for k in range(x.columns)):
                raise Malformed(f"row {i} is masked whole: nothing is left to attend to")
            row = self.scalars.total(powers.number(i, k) for k in range(x.columns))
            return self.scalars.divisor(row)

        by = LazyGrid(x.rows, 1, normaliser)
        return lambda i, j: self.scalars.quotient(powers.number(i, j), by.number(i, 0))

    def _hide(self, node: Node, x: LazyGrid[S], keep: LazyGrid[S]) -> Compute[S]:
        keep = self._spread_to(node, keep)
        return lambda i, j: x.at(i, j) if self.keeps(node, i, j, keep) else MASKED

    def _concat(self, node: Node, *parts: LazyGrid[S]) -> Compute[S]:
        places = [(part, k) for part in parts for k in range(part.columns)]
        return lambda i, j: places[j][0].at(i, places[j][1])

    def _sum(self, axes: tuple[int, ...], x: LazyGrid[S]) -> Compute[S]:
        def entry(i: int, j: int) -> S:
            rows = range(x.rows) if -2 in axes else (i,)
            columns = range(x.columns) if -1 in axes else (j,)
            return self.scalars.total(x.number(k, l) for k in rows for l in columns)

        return entry

    def _rowmax(self, node: Node, x: LazyGrid[S]) -> Compute[S]:
        return lambda i, j: self._largest(x.at(i, k) for k in range(x.columns))

    def _pick(self, node: Node, x: LazyGrid[S]) -> Compute[S]:
        rows, columns = node.extra
        return lambda i, j: x.at(rows[i], columns[j])

    def _scatter(self, node: Node, x: LazyGrid[S]) -> Compute[S]:
        zero = self.scalars.constant(values.ZERO)
        rows, columns = ({place: k for k, place in enumerate(axis)} for axis in node.extra)

        def entry(i: int, j: int) -> S | Masked:
            return x.at(rows[i], columns[j]) if i in rows and j in columns else zero

        return entry


class _Exact:
    """Exact values (:class:`~symattn.numbers.values.Value`)."""

    def constant(self, value: Value) -> Value:
        return value

    total = staticmethod(values.total)
    negative, quotient = staticmethod(neg), staticmethod(mul)
    divisor = staticmethod(Value.inverse)

    def sum_of_products(self, pairs: Iterable[tuple[Value, Value]]) -> Value:
        charge(0)  # Where nothing is left no pairs are made.
        known = [*pairs]
        spend(len(known))
        return values.sum_of_products(known)

    def function(self, name: Elementwise, x: Value) -> Value:
        return x.applied(name)

    def largest(self, items: Sequence[Value], *, to_first: bool) -> Value:
        return reduce(Value.maximum, items)

    def above(self, x: Value, y: Value) -> Value:
        return values.ONE if (x - y).sign() > 0 else values.ZERO

    def is_positive(self, x: Value) -> bool:
        return x.sign() > 0


def _keeps(node: Node, i: int, j: int, mask: LazyGrid[Value]) -> bool:
    kept = mask.number(i, j)
    # A number that is known by its enclosures can still be seen to be 0 or 1.
    for whole in (values.ZERO, values.ONE):
        if values.compare(kept, whole) is Verdict.HOLDS:
            return whole is values.ONE
    raise Malformed(f"a mask holds 0 (hide) and 1 (keep), found {kept}")


def exact() -> Entrywise[Value]:
    """The arithmetic of closed forms."""
    return Entrywise(_Exact(), _keeps)
