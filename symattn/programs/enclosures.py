"""Balls: certified enclosures of every entry, whole matrices at a time.

The precision is that of the surrounding :func:`~symattn.numbers.balls.precision` block. An
operation that is not defined on a ball (a division by one that contains zero) gives a ball without
bound; the exact arithmetic then settles what the entry is.

Floats: the quick arithmetic, for sizing things up; never for a printed digit.

A matrix may have axes before its rows and columns: then it stands for many at
once, and so does all that is computed from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import chain, starmap
from operator import neg, truediv
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
from flint import arb, arb_mat, ctx, fmpq

from symattn.errors import Malformed
from symattn.expressions.elementary import ELEMENTARY, ELEMENTWISE, Elementwise
from symattn.numbers.reading import Masked
from symattn.numbers.tables import NumberTable
from symattn.numbers.values import Value
from symattn.programs.entrywise import Compute, Entrywise, Keeps, LazyGrid
from symattn.programs.nodes import FLOW, SUMS, Arithmetic, Node, Op, sums_to_zero

_NOT_POSITIVE = "a masked score (-inf) is scaled by a number that is not positive"


@dataclass(frozen=True)
class Enclosure:
    """A matrix of balls; ``hidden`` are the flat places of masked scores."""

    matrix: arb_mat
    masked: frozenset[int] = frozenset()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.matrix.nrows(), self.matrix.ncols()

    @property
    def flat(self) -> list[arb | None]:
        """The balls row by row; None for a masked score."""
        flat: list[arb | None] = [*self.matrix.entries()]
        for place in self.masked:
            flat[place] = None
        return flat

    @property
    def rows(self) -> list[list[arb | None]]:
        """The balls by rows; None for a masked score."""
        flat, columns = self.flat, self.shape[1]
        return [flat[k : k + columns] for k in range(0, len(flat), columns)]

    def filled(self, number: arb) -> arb_mat:
        """The matrix with a number where masked scores stand."""
        return put(self.matrix, self.masked, number)


def put(matrix: arb_mat, places: Collection[int], number: arb) -> arb_mat:
    """A matrix with a number at some flat places.

    >>> put(arb_mat(1, 2, [1, 2]), [1], arb(3)).entries()
    [1.00000000000000, 3.00000000000000]
    """
    if not places:
        return matrix
    flat = matrix.entries()
    for place in places:
        flat[place] = number
    return arb_mat(matrix.nrows(), matrix.ncols(), flat)


def enclose(rows: Sequence[Sequence[Value | Masked]], bits: int) -> Enclosure:
    """Balls around exact entries at ``bits`` bits; symbols are generic numbers."""
    if isinstance(rows, NumberTable):
        numbers = rows.numbers()
        places = frozenset(k for k, number in enumerate(numbers) if number is None)
        known = [fmpq(0) if number is None else number for number in numbers]
        return Enclosure(arb_mat(len(rows), rows.columns, known), places)
    masked = set()
    flat: list[arb | fmpq] = []
    for row in rows:
        for entry in row:
            if isinstance(entry, Masked):
                masked.add(len(flat))
                flat.append(fmpq(0))
            else:
                flat.append(entry.enclosure(bits) if entry.number is None else entry.number)
    return Enclosure(arb_mat(len(rows), len(rows[0]), flat), frozenset(masked))


class BallMatrices:
    """The operations on enclosures."""

    centres, sees_factors = True, False

    def apply(self, node: Node, operands: list[Enclosure]) -> Enclosure:
        """See :class:`~symattn.programs.nodes.Arithmetic`."""
        if node.extra == FLOW:
            operands = [Enclosure(x.filled(arb(0))) for x in operands]
        if node.op in ("copy", "reshape"):
            return operands[0]
        if node.op == "transpose" and not operands[0].masked:
            return Enclosure(operands[0].matrix.transpose())
        if node.op in MOVES:
            return _moved(node.op, node, *operands)
        if node.op in SUMS:
            return Enclosure(_summed(SUMS[node.op], *map(_open, operands)))
        if node.op in ("multiply", "divide") and operands[1].shape == (1, 1):
            return self._scaled(node, *operands)
        if node.op in _SPREADING:
            operands = [x if x.shape == node.grid else _moved("spread", node, x) for x in operands]
        if node.op in ELEMENTWISE:
            return Enclosure(self._function(node.op, *operands))
        result = getattr(self, f"_{node.op}")(node, *operands)
        return result if isinstance(result, Enclosure) else Enclosure(result)

    def _constant(self, node: Node) -> arb_mat:
        return arb_mat(1, 1, [node.extra.ball(ctx.prec)])

    def _table(self, node: Node) -> Enclosure:
        return enclose(node.extra, ctx.prec)

    def _triangle(self, node: Node) -> arb_mat:
        rows, columns = node.grid
        return arb_mat(rows, columns, [int(j <= i) for i in range(rows) for j in range(columns)])

    def _negate(self, node: Node, x: Enclosure) -> arb_mat:
        return -_open(x)

    def _add(self, node: Node, x: Enclosure, y: Enclosure) -> Enclosure:
        return Enclosure(x.matrix + y.matrix, x.masked | y.masked)

    def _subtract(self, node: Node, x: Enclosure, y: Enclosure, *weights: Enclosure) -> Enclosure:
        if weights and not x.masked:
            # A masked score that stands where a weight should, as a student may write, is none.
            pairs = zip(x.matrix.tolist(), _open(weights[0]).tolist(), strict=True)
            return Enclosure(arb_mat(*x.shape, [*chain.from_iterable(starmap(_centred, pairs))]))
        # Of two masked scores there is no difference.
        return Enclosure(x.matrix - _open(y), x.masked - y.masked)

    def _scaled(self, node: Node, x: Enclosure, y: Enclosure) -> Enclosure:
        factor = _open(y)[0, 0]
        scaled = x.matrix * factor if node.op == "multiply" else x.matrix / factor
        return _masked(Enclosure(scaled, x.masked), dict.fromkeys(x.masked, factor))

    def _multiply(self, node: Node, x: Enclosure, y: Enclosure) -> Enclosure:
        left, right = _open(x).entries(), _open(y).entries()
        if x.masked & y.masked:
            raise Malformed(_NOT_POSITIVE)
        flat = [a * b for a, b in zip(x.matrix.entries(), y.matrix.entries(), strict=True)]
        factors = {k: right[k] for k in x.masked} | {k: left[k] for k in y.masked}
        return _masked(Enclosure(arb_mat(*node.grid, flat), x.masked | y.masked), factors)

    def _divide(self, node: Node, x: Enclosure, y: Enclosure) -> Enclosure:
        divisors = _open(y).entries()
        flat = [a / b for a, b in zip(x.matrix.entries(), divisors, strict=True)]
        factors = {k: divisors[k] for k in x.masked}
        return _masked(Enclosure(arb_mat(*node.grid, flat), x.masked), factors)

    def _maximum(self, node: Node, x: Enclosure, y: Enclosure) -> Enclosure:
        flat = [a.max(b) for a, b in zip(x.matrix.entries(), y.matrix.entries(), strict=True)]
        for first, other in ((x, y), (y, x)):
            flat = [
                b if k in first.masked else a
                for k, (a, b) in enumerate(zip(flat, other.matrix.entries(), strict=True))
            ]
        return Enclosure(arb_mat(*node.grid, flat), x.masked & y.masked)

    def _above(self, node: Node, x: Enclosure, y: Enclosure) -> arb_mat:
        flat = [above(a, b) for a, b in zip(x.matrix.entries(), y.matrix.entries(), strict=True)]
        larger = put(arb_mat(*node.grid, flat), y.masked, arb(1))
        return put(larger, x.masked, arb(0))

    def _matmul(self, node: Node, x: Enclosure, y: Enclosure) -> arb_mat:
        left, right = _open(x), _open(y)
        product = left * right
        if sums_to_zero(*node.operands) and _has_equal_rows(right):
            # Of what isn't defined, nothing is left over either.
            flat = [arb(0) if entry.is_finite() else entry for entry in product.entries()]
            return arb_mat(product.nrows(), product.ncols(), flat)
        closer = _closer_product(node)
        if closer is None:
            return product
        flat, columns = product.entries(), product.ncols()
        doubtful = [k for k, entry in enumerate(flat) if entry.contains(0) and not entry.is_zero()]
        if doubtful:
            rows, below = left.tolist(), right.tolist()
            for k in doubtful:
                i, j = divmod(k, columns)
                flat[k] = closer(i, rows, [row[j] for row in below])
        return arb_mat(product.nrows(), columns, flat)

    def _function(self, name: Elementwise, x: Enclosure) -> arb_mat:
        if name == "exp":
            return _powers(x)
        function: Callable[[arb], arb] = getattr(arb, name)
        return arb_mat(*x.shape, [function(entry) for entry in _open(x).entries()])

    def _softmax(self, node: Node, x: Enclosure) -> arb_mat:
        rows, columns = x.shape
        powers = _powers(x).entries()
        flat = []
        for i in range(rows):
            row = powers[i * columns : (i + 1) * columns]
            normaliser = sum(row, arb(0))
            flat += [entry / normaliser for entry in row]
        return arb_mat(rows, columns, flat)

    def _hide(self, node: Node, x: Enclosure, keep: Enclosure) -> Enclosure:
        flat, masked = x.matrix.entries(), set(x.masked)
        for k, entry in enumerate(_open(keep).entries()):
            if entry.is_zero():
                masked.add(k)
            elif not (entry - 1).is_zero():
                # Only the exact entry tells whether it is 0, 1 or no mask at all.
                flat[k] = arb.nan()
        return Enclosure(arb_mat(*x.shape, flat), frozenset(masked))

    def _rowmax(self, node: Node, x: Enclosure) -> Enclosure:
        rows = [[entry for entry in row if entry is not None] for row in x.rows]
        largest = [reduce(arb.max, row) if row else arb(0) for row in rows]
        masked = frozenset(k for k, row in enumerate(rows) if not row)
        return Enclosure(arb_mat(len(rows), 1, largest), masked)


#: Operations whose operands are spread to the shape of the result.
_SPREADING = (*get_args(Arithmetic), "hide")


def above(x: arb, y: arb) -> arb:
    """1 where x is the larger, else 0; both where the balls don't tell.

    >>> above(arb(2), arb(1)), above(arb(1), arb(1))
    (1.00000000000000, 0)
    """
    apart = x - y
    return arb(1) if apart > 0 else arb(0) if apart <= 0 else arb(0.5, 0.5)


def _centred(row: Sequence[arb], shares: Sequence[arb]) -> list[arb]:
    """A row less its mean, seen from the heaviest entry: the mean of what is subtracted is
    of the others alone, and where one has nearly all the weight, nothing cancels.

    >>> _centred([arb(5), arb(1)], [arb(1) - arb("1e-99"), arb("1e-99")])[0] < 5e-99
    True
    """
    heaviest = max(range(len(row)), key=lambda k: float(shares[k].mid()))
    apart = [entry - row[heaviest] for entry in row]
    apart[heaviest] = arb(0)
    mean = sum((a * b for a, b in zip(shares, apart, strict=True)), arb(0))
    return [entry - mean for entry in apart]


def _masked(scaled: Enclosure, factors: Mapping[int, arb]) -> Enclosure:
    """Masked scores after they were scaled: they stay so by what is positive.

    Where a ball can't tell, only the exact entry does.
    """
    if any(factor <= 0 for factor in factors.values()):
        raise Malformed(_NOT_POSITIVE)
    doubtful = frozenset(k for k, factor in factors.items() if not factor > 0)
    return Enclosure(put(scaled.matrix, doubtful, arb.nan()), scaled.masked - doubtful)


def _powers(x: Enclosure) -> arb_mat:
    """``exp(x)``; of a masked score 0."""
    powers = arb_mat(*x.shape, [entry.exp() for entry in x.matrix.entries()])
    return put(powers, x.masked, arb(0))


def _open(x: Enclosure) -> arb_mat:
    """The matrix, with no bound where a masked score stands."""
    return x.filled(arb.nan())


def _moved(op: Op, node: Node, *operands: Enclosure) -> Enclosure:
    """Entries where an operation moves them, as it moves their numbers from 1 on; at 0 is zero."""
    if op == "scatter":
        # Of a masked score that is put among zeros nothing is known.
        operands = (Enclosure(_open(operands[0])),)
    known, hidden, numbered = [arb(0)], set[int](), []
    for x in operands:
        first = len(known)
        known += x.matrix.entries()
        hidden |= {first + place for place in x.masked}
        numbered.append(np.arange(first, len(known)).reshape(x.shape))
    numbers = MOVES[op](node, *numbered)
    rows, columns = numbers.shape
    flat = numbers.ravel().tolist()
    masked = (place for place, number in enumerate(flat) if number in hidden) if hidden else ()
    return Enclosure(arb_mat(rows, columns, [known[k] for k in flat]), frozenset(masked))


def _summed(axes: tuple[int, ...], x: arb_mat) -> arb_mat:
    rows, columns = x.nrows(), x.ncols()
    if -1 in axes:
        x, columns = x * arb_mat(columns, 1, [1] * columns), 1
    return arb_mat(1, rows, [1] * rows) * x if -2 in axes else x


# -- what cancels in a product -----------------------------------------------------------
# What flows into scores sums to 0 by rows, weights sum to 1: products are enclosed closely, or
# known to be 0, where the terms that are as good as all of them cancel.


def _has_equal_rows(x: arb_mat) -> bool:
    """Return whether all rows are exactly the same.

    >>> _has_equal_rows(arb_mat(2, 1, [3, 3])), _has_equal_rows(arb_mat(2, 1, [3, 4]))
    (True, False)
    """
    first, *others = x.tolist()
    return all(a.is_exact() and a == b for row in others for a, b in zip(first, row, strict=True))


#: An entry of a product, of the row at that place of the left factor, and of a column.
_Dot = Callable[[int, Sequence[Sequence[arb]], Sequence[arb]], arb]


def _closer_product(node: Node) -> _Dot | None:
    """Return what encloses entries of a matrix product closely; None where nothing is known of the
    left factor. Two of a row that sums to 0 and share nearly all of it are as good as opposite, two
    weights that are nearly 1 as good as equal."""
    left = node.operands[0]
    if sums_to_zero(left):
        return _from_heaviest
    if left.op == "transpose" and left.operands[0].op == "softmax":
        return _by_complements
    return None


def _from_heaviest(i: int, left: Sequence[Sequence[arb]], y: Sequence[arb]) -> arb:
    """``sum of x_k y_k`` for x that sum to 0, y seen from where x is heaviest.

    >>> _from_heaviest(0, [[arb(-3), arb("3 +/- 0.1")]], [arb(5), arb(5)])
    0
    """
    x = left[i]
    heaviest = max(range(len(x)), key=lambda k: abs(x[k].mid()))
    middle = y[heaviest]
    others = (k for k in range(len(x)) if k != heaviest)
    return sum((x[k] * (y[k] - middle) for k in others), arb(0))


def _by_complements(i: int, left: Sequence[Sequence[arb]], y: Sequence[arb]) -> arb:
    """``sum of x_k y_k`` where each x_k is one of a column that sums to 1: one that is nearly
    1 by what the others leave.

    >>> tiny = arb("1e-99")
    >>> _by_complements(0, [[1 - tiny, 1 - tiny], [tiny, tiny]], [arb(5), arb(-5)]) < 1e-110
    True
    """
    whole = rest = arb(0)
    for k, factor in enumerate(y):
        weight = left[i][k]
        if weight > 0.5:
            whole += factor
            weight = -sum((row[k] for at, row in enumerate(left) if at != i), arb(0))
        rest += weight * factor
    return whole + rest


# -- floats ------------------------------------------------------------------------------

Matrix = npt.NDArray[np.float64]
Array = npt.NDArray[Any]


class FloatOperations:
    """The operations on NumPy arrays; a masked score is ``-inf``."""

    centres = sees_factors = False

    def apply(self, node: Node, operands: list[Matrix]) -> Matrix:
        """See :class:`~symattn.programs.nodes.Arithmetic`."""
        with np.errstate(all="ignore"):
            return applied(node, operands)


def applied(node: Node, operands: Sequence[Matrix]) -> Matrix:
    """Return what an operation makes of floats, where NumPy must not warn of what is no number."""
    result: Matrix = _OPERATIONS[node.op](node, *operands)
    return result


def _product(node: Node, x: Matrix, y: Matrix) -> Matrix:
    if node.extra == FLOW:
        x, y = (np.where(np.isneginf(factor), 0.0, factor) for factor in (x, y))
    product: Matrix = x * y
    return product


def _softmax(node: Node, x: Matrix) -> Matrix:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    weights: Matrix = powers / powers.sum(axis=-1, keepdims=True)
    return weights


def _concat(node: Node, *parts: Array) -> Array:
    many = np.broadcast_shapes(*(part.shape[:-2] for part in parts))
    return np.concatenate([np.broadcast_to(x, many + x.shape[-2:]) for x in parts], axis=-1)


def _pick(node: Node, x: Array) -> Array:
    rows, columns = node.extra
    picked: Array = x[..., np.array(rows)[:, None], np.array(columns)]
    return picked


def _scatter(node: Node, x: Array) -> Array:
    rows, columns = node.extra
    result = np.zeros(x.shape[:-2] + node.grid, x.dtype)
    result[..., np.array(rows)[:, None], np.array(columns)] = x
    return result


def in_numpy(name: str) -> Callable[[npt.ArrayLike], Matrix]:
    """Return an elementary function in NumPy, which has no error function."""
    made: Any = getattr(np, ELEMENTARY[name].numpy or name, None)
    return made or np.vectorize(getattr(math, name), otypes=[float])


_IN_NUMPY = {name: in_numpy(name) for name in ELEMENTARY}


def matrix(rows: Iterable[Iterable[Value | Masked]]) -> Matrix:
    """Floats close to exact entries."""
    return np.array(
        [[-np.inf if isinstance(x, Masked) else float(x.ball(64)) for x in row] for row in rows]
    )


#: How each operation that only moves entries moves those of an array of any kind of number.
MOVES: Mapping[str, Callable[..., Array]] = {
    "copy": lambda node, x: x, "reshape": lambda node, x: x,
    "transpose": lambda node, x: x.swapaxes(-1, -2), "concat": _concat, "pick": _pick,
    "scatter": _scatter, "spread": lambda node, x: np.broadcast_to(x, x.shape[:-2] + node.grid),
}  # fmt: skip
_OPERATIONS: Mapping[str, Callable[..., Matrix]] = {
    **MOVES,
    "constant": lambda node: np.full((1, 1), float(node.extra.ball(64))),
    "table": lambda node: matrix(node.extra),
    "triangle": lambda node: np.tril(np.ones(node.grid)),
    "negate": lambda node, x: -x,
    "add": lambda node, x, y: x + y,
    "subtract": lambda node, x, y: x - y,
    "multiply": _product,
    "divide": lambda node, x, y: x / y,
    "matmul": lambda node, x, y: x @ y,
    "maximum": lambda node, x, y: np.maximum(x, y),
    "above": lambda node, x, y: (x > y).astype(float),
    **dict.fromkeys(ELEMENTARY, lambda node, x: _IN_NUMPY[node.op](x)),
    "softmax": _softmax,
    "hide": lambda node, x, keep: np.where(keep == 0, -np.inf, x),
    **dict.fromkeys(SUMS, lambda node, x: x.sum(axis=SUMS[node.op], keepdims=True)),
    "rowmax": lambda node, x: x.max(axis=-1, keepdims=True),
}


# -- balls of single entries -------------------------------------------------------------
# Whole matrices are quicker by the entry; here one entry in doubt is followed up, and costs only
# what it depends on. It must be asked for in a block of its precision.


class _BallScalars:
    """Balls as scalars; see :class:`~symattn.programs.entrywise.Scalars`."""

    negative, quotient, above = staticmethod(neg), staticmethod(truediv), staticmethod(above)

    def constant(self, value: Value) -> arb:
        return value.enclosure(ctx.prec)

    def total(self, items: Iterable[arb]) -> arb:
        return sum(items, arb(0))

    def sum_of_products(self, pairs: Iterable[tuple[arb, arb]]) -> arb:
        return sum((x * y for x, y in pairs), arb(0))

    def divisor(self, y: arb) -> arb:
        return y

    def function(self, name: Elementwise, x: arb) -> arb:
        result: arb = getattr(x, name)()
        return result

    def largest(self, items: Sequence[arb], *, to_first: bool) -> arb:
        return reduce(arb.max, items)

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

        @cache
        def row(i: int) -> list[arb]:
            return _centred([*_Row(x, i)], [*_Row(weights, i)])

        return lambda i, j: row(i)[j]

    def _matmul(self, node: Node, x: LazyGrid[arb], y: LazyGrid[arb]) -> Compute[arb]:
        product, closer = super()._matmul(node, x, y), _closer_product(node)
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
