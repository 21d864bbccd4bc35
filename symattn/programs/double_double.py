"""Pairs of floats with proved bounds: certified enclosures, many entries at a time.

Quicker than balls of Arb (:mod:`~symattn.programs.enclosures`) and of a fixed precision: what
:mod:`~symattn.numbers.double_double` leaves in doubt is for those. A matrix may have axes before
its rows and columns, as in :mod:`~symattn.programs.enclosures`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt
from flint import arb

from symattn.ieee import need_ieee
from symattn.numbers import double_double
from symattn.numbers.balls import FIRST
from symattn.numbers.double_double import DoubleDouble
from symattn.numbers.reading import Masked
from symattn.numbers.tables import NumberTable
from symattn.numbers.values import Value
from symattn.programs.enclosures import MOVES
from symattn.programs.nodes import FLOW, SUMS, Node, sums_to_zero


class DoubleDoubleMatrices:
    """The operations on pairs of floats; a masked score is ``-inf``.

    Raises :class:`~symattn.errors.Unsound` where floats aren't those of IEEE 754, which may
    change between two operations.
    """

    centres = sees_factors = True

    def apply(self, node: Node, operands: list[DoubleDouble]) -> DoubleDouble:
        """See :class:`~symattn.programs.nodes.Arithmetic`."""
        need_ieee()
        with np.errstate(all="ignore"):
            return _OPERATIONS.get(node.op, _left_open)(node, *operands)


#: Powers of two up to here are divided by exactly.
_FAR = 500
#: Rows are not looked at for equal entries where their zeros lie in more ways than these.
_PATTERNS = 8


def enclose(rows: Sequence[Sequence[Value | Masked]]) -> DoubleDouble:
    """Pairs around exact entries; of what has symbols nothing is known."""
    if isinstance(rows, NumberTable):
        return rows.pairs()
    balls = [
        None if isinstance(x, Masked) else arb.nan() if x.letters else x.enclosure(FIRST)
        for row in rows
        for x in row
    ]
    grid = len(rows), len(rows[0])
    return double_double.of_balls(balls, FIRST).map(lambda part: part.reshape(grid))


def _add(node: Node, x: DoubleDouble, y: DoubleDouble) -> DoubleDouble:
    # A masked score with what may be no number isn't known to be one.
    doubt = (x.masked & ~np.isfinite(y.error)) | (y.masked & ~np.isfinite(x.error))
    return _unknown(double_double.add(x, y), doubt)


def _subtract(node: Node, x: DoubleDouble, y: DoubleDouble, *more: DoubleDouble) -> DoubleDouble:
    if not more:
        # Of two masked scores there is no difference.
        return _add(node, x, double_double.negative(_open(y)))
    # Seen from the heaviest entry of the row, the mean of what is subtracted is of the
    # others alone: where one has nearly all the weight, nothing cancels.
    weights, factors = more[0], more[1:]
    heaviest = np.argmax(weights.high, axis=-1)[..., None]
    chosen = x.map(lambda part: np.take_along_axis(part, heaviest, -1))
    apart = double_double.add(x, double_double.negative(chosen))
    apart = apart.but(np.arange(x.shape[-1]) == heaviest, 0.0, 0.0)
    if factors and x.high.ndim == 2 and (~double_double.is_apart(apart) & (apart.error > 0)).any():
        apart = apart.but(_equal_products(factors[0], factors[1], heaviest), 0.0, 0.0)
    mean = double_double.total(double_double.multiply(weights, apart), -1)
    centred = double_double.add(apart, double_double.negative(mean))
    # There is no mean of masked scores.
    return _unknown(centred, np.broadcast_to(x.masked.any(axis=-1, keepdims=True), centred.shape))


def _equal_products(
    left: DoubleDouble, right: DoubleDouble, heaviest: npt.NDArray[np.intp]
) -> npt.NDArray[np.bool_]:
    """Return which entries of each row of a matrix product are the same as one of the row, because
    the columns of the right factor are the same wherever the row of the left one is not 0."""
    used = ~left.is_zero
    equal = np.zeros((left.shape[0], right.shape[1]), dtype=bool)
    patterns, of_row = np.unique(used, axis=0, return_inverse=True)
    if right.error.any() or right.low.any() or len(patterns) > _PATTERNS:
        return equal
    for k, pattern in enumerate(patterns):
        rows = np.flatnonzero(of_row.ravel() == k)
        _, kinds = np.unique(right.high[pattern], axis=1, return_inverse=True)
        kinds = kinds.ravel()
        equal[rows] = kinds == kinds[heaviest[rows]]
    return equal


def _open(x: DoubleDouble) -> DoubleDouble:
    """Nothing is known where a masked score stands."""
    return _unknown(x, x.masked)


def _unknown(x: DoubleDouble, where: npt.NDArray[np.bool_]) -> DoubleDouble:
    return x.but(where, 0.0, np.inf)


def _multiply(node: Node, x: DoubleDouble, y: DoubleDouble) -> DoubleDouble:
    if node.extra == FLOW:
        x, y = (z.map(lambda part: np.where(np.isneginf(part), 0.0, part)) for z in (x, y))
    return double_double.multiply(x, y)


def _divide(node: Node, x: DoubleDouble, y: DoubleDouble) -> DoubleDouble:
    # Scores are divided by the root of their width, which often is a power of two.
    if y.high.size == 1 and not (y.low.any() or y.error.any()) and x.shape == node.grid:
        mantissa, exponent = np.frexp(y.high.item())
        if mantissa == 0.5 and abs(exponent) < _FAR:
            return double_double.scaled(x, 2.0 ** (1 - int(exponent)))
    return double_double.divide(x, _open(y))


def _tanh(node: Node, x: DoubleDouble) -> DoubleDouble:
    """``(1 - q) / (1 + q)`` with ``q = exp(-2|x|)``, and the sign."""
    sign = np.where(x.high < 0, -1.0, 1.0)
    twice = double_double.multiply(_open(x), double_double.exact(-2.0 * sign))
    power = double_double.exp(twice)
    ones = double_double.exact(np.ones_like(x.high))
    size = double_double.divide(
        double_double.add(ones, double_double.negative(power)), double_double.add(ones, power)
    )
    return double_double.multiply(size, double_double.exact(sign))


def _softmax(node: Node, x: DoubleDouble, *factors: DoubleDouble) -> DoubleDouble:
    """Shifted by a float near the largest score of the row."""
    largest = np.max(x.high, axis=-1, keepdims=True)
    powers = double_double.exp(
        double_double.add(x, double_double.exact(np.where(np.isfinite(largest), -largest, 0.0)))
    )
    weights = double_double.divide(powers, double_double.total(powers, -1))
    # Scores that are all the same have one weight, exactly where their number is a power of 2.
    same = (x.high == largest) & ~x.masked
    some = same.sum(axis=-1, keepdims=True)
    even = (some > 0) & ((some & (some - 1)) == 0) & (same | x.masked).all(axis=-1, keepdims=True)
    even &= np.isfinite(x.error).all(axis=-1, keepdims=True)
    if not even.any():
        return weights
    heaviest = np.argmax(x.high, axis=-1)[..., None]
    equal = np.arange(x.shape[-1]) == heaviest
    if (even & (some > 1)).any():
        chosen = x.map(lambda part: np.take_along_axis(part, heaviest, -1))
        equal |= (x.error == 0) & (x.low == chosen.low) & (chosen.error == 0)
        if factors and x.high.ndim == 2:
            equal |= _equal_products(factors[0], factors[1], heaviest)
    even &= (equal | x.masked).all(axis=-1, keepdims=True)
    return weights.but(even, np.where(same, 1.0 / np.maximum(some, 1), 0.0), 0.0)


def _matmul(node: Node, x: DoubleDouble, y: DoubleDouble) -> DoubleDouble:
    x, y = _open(x), _open(y)
    product = double_double.matmul(x, y)
    if not sums_to_zero(*node.operands) or y.error.any() or y.low.any():
        return product
    # Nothing is left of what is the same for all that sums to 0.
    same = (y.high == y.high[..., :1, :]).all(axis=-2, keepdims=True)
    if not sums_to_zero(node.operands[0]):
        same = same.all(axis=-1, keepdims=True) & np.ones_like(same)
    return product.but(same & np.isfinite(product.error), 0.0, 0.0)


def _rowmax(node: Node, x: DoubleDouble) -> DoubleDouble:
    def column(k: int) -> DoubleDouble:
        return x.map(lambda part: part[..., k : k + 1])

    return reduce(double_double.maximum, map(column, range(x.shape[-1])))


def _hide(node: Node, x: DoubleDouble, keep: DoubleDouble) -> DoubleDouble:
    keep = keep.map(lambda part: np.broadcast_to(part, x.shape))
    hides = (keep.high == 0) & (keep.error == 0)
    keeps = (keep.high == 1) & (keep.low == 0) & (keep.error == 0)
    # Only the exact entry tells whether another is 0, 1 or no mask at all.
    known = DoubleDouble(x.high, x.low, np.where(keeps, x.error, np.inf))
    return known.but(hides, -np.inf, 0.0)


def _moved(node: Node, *operands: DoubleDouble) -> DoubleDouble:
    parts = zip(*((x.high, x.low, x.error) for x in operands), strict=True)
    return DoubleDouble(*(MOVES[node.op](node, *part) for part in parts))


def _left_open(node: Node, *operands: DoubleDouble) -> DoubleDouble:
    """Nothing is known of what an operation without a row here gives: balls tell."""
    lead = np.broadcast_shapes(*(x.shape[:-2] for x in operands))
    return _unknown(double_double.exact(np.zeros(lead + node.grid)), np.array(True))


_OPERATIONS: Mapping[str, Callable[..., DoubleDouble]] = {
    "constant": lambda node: enclose([[node.extra]]), "table": lambda node: enclose(node.extra),
    "triangle": lambda node: double_double.exact(np.tril(np.ones(node.grid))),
    **dict.fromkeys(MOVES, _moved),
    # Of a masked score that is put among zeros nothing is known.
    "scatter": lambda node, x: _moved(node, _open(x)),
    "negate": lambda node, x: double_double.negative(_open(x)), "add": _add,
    "subtract": _subtract, "multiply": _multiply, "divide": _divide, "matmul": _matmul,
    **dict.fromkeys(
        ("sqrt", "log", "sin", "cos", "erf"),
        lambda node, x: getattr(double_double, node.op)(_open(x)),
    ),
    "exp": lambda node, x: double_double.exp(x), "tanh": _tanh, "softmax": _softmax, "hide": _hide,
    "maximum": lambda node, x, y: double_double.maximum(x, y),
    "above": lambda node, x, y: double_double.above(x, y),
    **dict.fromkeys(SUMS, lambda node, x: reduce(double_double.total, SUMS[node.op], _open(x))),
    "rowmax": _rowmax,
}  # fmt: skip
