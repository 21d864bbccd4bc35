"""Double-double numbers with proved error bounds.

A :class:`DoubleDouble` is an array of double-doubles ``high + low`` (T. J. Dekker, 1971),
each within ``error`` of the exact number: a ball whose middle has 106 bits, in three NumPy
arrays. It stands between floats, which certify nothing, and Arb, which takes a Python object
per entry: what it leaves in doubt is for Arb. Matrix products are sums of slices that are
exact; exponentials, logarithms, sines and the error function are Taylor series.

What is relied on: operations on floats are rounded to nearest, with gradual underflow (IEEE
754-2019; :mod:`symattn.ieee`). The bounds in the literature, ``3 U**2`` and ``5 U**2``, are here
taken to be ``16 U**2``, U being 2**-53. Bounds are computed in floats themselves: what the
roundings of a sum of up to 2**20 terms may take from them is less than the factor :data:`UP` adds.
What underflows in a product or a quotient, of the numbers or of their bounds, is less than
:data:`TINY`, which is added wherever neither factor is known to be 0; sums and differences lose
nothing there.

What functions of pairs return is a double-double: ``high`` is the float nearest to the sum. The
transformations are those of D. E. Knuth, *The Art of Computer Programming*, volume 2, 4.2.2, and
T. J. Dekker, *A floating-point technique for extending the available precision*, Numerische
Mathematik 18, 1971; the bounds are those of M. Joldes, J.-M. Muller and V. Popescu, *Tight and
rigorous error bounds for basic building blocks of double-word arithmetic*, ACM TOMS 44, 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, wraps
from math import factorial, prod
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from flint import arb, arb_mat

from symattn.numbers.balls import precision

Array = npt.NDArray[np.float64]

#: Dekker's constant splits a float into halves of 26 bits.
_SPLIT = 2.0**27 + 1


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """``a + b`` as its float and the rest, exactly (Knuth).

    >>> two_sum(np.array(1.0), np.array(2.0**-60))[1] == 2.0**-60
    np.True_
    """
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """``a * b`` as its float and the rest, exactly (Dekker) but for what underflows, which
    is less than 2**-1070; not a number where a factor is beyond 2**996.

    >>> two_product(np.array(1 + 2.0**-30), np.array(1 + 2.0**-30))[1] == 2.0**-60
    np.True_
    """
    product = a * b
    wide = a * _SPLIT
    a1 = wide - (wide - a)
    wide = b * _SPLIT
    b1 = wide - (wide - b)
    a2, b2 = a - a1, b - b1
    return product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def fast_two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """:func:`two_sum` where ``a`` is the larger (Dekker).

    >>> fast_two_sum(np.array(1.0), np.array(2.0**-60))[1] == 2.0**-60
    np.True_
    """
    total = a + b
    return total, b - (total - a)


def add_pairs(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array]:
    """``(a + b) + (c + d)`` of double-doubles, off by at most ``3 U**2 / (1 - 4 U)`` of it, in
    the whole range: what is less than 2**-1021 is added without loss.

    >>> high, low = add_pairs(*np.array([1.0, 2.0**-60, -1.0, 2.0**-70]))
    >>> high + low == 2.0**-60 + 2.0**-70
    np.True_
    """
    high, low = two_sum(a, c)
    more, rest = two_sum(b, d)
    high, low = fast_two_sum(high, low + more)
    return fast_two_sum(high, low + rest)


def multiply_pairs(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array]:
    """``(a + b) * (c + d)`` of double-doubles, off by at most ``5 U**2`` of it, and less than
    2**-1068 where it underflows.

    >>> high, low = multiply_pairs(*np.array([1.0, 2.0**-60, 1.0, 2.0**-60]))
    >>> high == 1, low == 2.0**-59
    (np.True_, np.True_)
    """
    high, low = two_product(a, c)
    return fast_two_sum(high, low + (a * d + b * c))


#: An operation on two double-doubles is off by less than this much of its result.
PAIR = 2.0**-102
#: What is lost where a result, or a part of one, is less than floats can hold.
TINY = 2.0**-1000
UP = 1 + 2.0**-30


@dataclass(frozen=True)
class DoubleDouble:
    """Numbers within ``error`` of ``high + low``, entry by entry.

    ``high`` is the float nearest to ``high + low``; an error of ``inf`` is that of a number
    that isn't known. ``high`` is ``-inf`` and the error 0 for a masked score.
    """

    high: Array
    low: Array
    error: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the arrays."""
        return self.high.shape

    @property
    def is_zero(self) -> npt.NDArray[np.bool_]:
        """Return where numbers are known to be exactly 0."""
        zero: npt.NDArray[np.bool_] = (self.high == 0) & (self.error == 0)
        return zero

    @property
    def masked(self) -> npt.NDArray[np.bool_]:
        """Return where masked scores stand."""
        return np.isneginf(self.high)

    def map(self, change: Callable[[Array], Array]) -> DoubleDouble:
        """The same change of place of all three arrays: a transpose, a choice."""
        return DoubleDouble(change(self.high), change(self.low), change(self.error))

    def but(self, where: npt.NDArray[np.bool_], high: Array | float, error: float) -> DoubleDouble:
        """The numbers but for some entries, which are a float within an error."""
        if not where.any():
            return self
        parts = (self.high, high), (self.low, 0.0), (self.error, error)
        return DoubleDouble(*(np.where(where, number, part) for part, number in parts))


def exact(values: Array) -> DoubleDouble:
    """Floats as they are; ``-inf`` is a masked score.

    >>> exact(np.array([0.5])).error
    array([0.])
    """
    return DoubleDouble(values, np.zeros_like(values), np.zeros_like(values))


#: Entries worked on at a time: so many stay near the processor.
_BLOCK = 1 << 13

Operation = Callable[..., DoubleDouble]


def of_balls(balls: Sequence[arb | None], bits: int) -> DoubleDouble:
    """Double-doubles around balls of so many bits, in a row; None is a masked score.

    >>> near = of_balls([arb(1) / 3, None], 128)
    >>> near.high.tolist(), float(near.error[1])
    ([0.3333333333333333, -inf], 0.0)
    """
    masked = np.array([ball is None for ball in balls])
    with precision(bits):
        high = np.array([0.0 if ball is None else float(ball) for ball in balls])
        known = np.isfinite(high)
        high = np.where(known, high, 0.0)
        flat = [
            ball if ball is not None and sure else arb(0)
            for ball, sure in zip(balls, known, strict=True)
        ]
        rest = arb_mat(1, len(flat), flat) - arb_mat(1, len(flat), high.tolist())
        low = np.array([float(x) for x in rest.entries()])
        rest -= arb_mat(1, len(flat), low.tolist())
        error = np.array([float(x.abs_upper()) for x in rest.entries()])
        exactly = np.array([bool(x.is_zero()) for x in rest.entries()])
    # What is less than the smallest float is not nothing.
    error = np.where(exactly, 0.0, error * (1 + 2.0**-50) + TINY)
    # A low float that is subnormal may have been rounded to half a unit of the high one.
    high, low = fast_two_sum(high, low)
    return _masking(settled(high, low, np.where(known, error, np.inf)), masked)


def joined(parts: Sequence[DoubleDouble], axis: int) -> DoubleDouble:
    """The parts one after the other along an axis."""
    if len(parts) == 1:
        return parts[0]
    arrays = zip(*((x.high, x.low, x.error) for x in parts), strict=True)
    return DoubleDouble(*(np.concatenate(part, axis=axis) for part in arrays))


def in_blocks(operation: Operation) -> Operation:
    """An operation entry by entry, done for some rows of large arrays at a time.

    >>> in_blocks(negative)(exact(np.ones((2, 10_000)))).shape
    (2, 10000)
    """

    @wraps(operation)
    def whole(*operands: DoubleDouble) -> DoubleDouble:
        shape = np.broadcast_shapes(*(x.shape for x in operands))
        entries = prod(shape)
        if entries <= 2 * _BLOCK or len(shape) < 2:
            return operation(*operands)
        wide = [x.map(lambda part: np.broadcast_to(part, shape)) for x in operands]
        rows = [x.map(lambda part: part.reshape(-1, shape[-1])) for x in wide]
        step = max(1, _BLOCK // shape[-1])
        cuts = [slice(k, k + step) for k in range(0, entries // shape[-1], step)]
        blocks = [operation(*(x.map(itemgetter(cut)) for x in rows)) for cut in cuts]
        return joined(blocks, 0).map(lambda part: part.reshape(shape))

    return whole


def in_parts(number: arb, *units: float) -> tuple[float, ...]:
    """A number at the working precision in floats: whole multiples of units, and the rest."""
    parts = []
    for unit in units:
        whole = (number / unit).floor().unique_fmpz()
        assert whole is not None
        parts.append(float(whole) * unit)
        number -= parts[-1]
    return (*parts, float(number.mid()))


def settled(high: Array, low: Array, error: Array) -> DoubleDouble:
    """Double-doubles of these parts; what isn't finite isn't known.

    >>> settled(np.array([1.0, np.nan]), np.zeros(2), np.zeros(2)).error
    array([ 0., inf])
    """
    known = np.isfinite(high) & np.isfinite(low) & np.isfinite(error)
    return DoubleDouble(high, low, error).but(~known, 0.0, np.inf)


def _masking(x: DoubleDouble, masked: npt.NDArray[np.bool_]) -> DoubleDouble:
    return x.but(masked, -np.inf, 0.0)


def negative(x: DoubleDouble) -> DoubleDouble:
    """``-x``."""
    return settled(-x.high, -x.low, x.error)


@in_blocks
def add(x: DoubleDouble, y: DoubleDouble) -> DoubleDouble:
    """``x + y``, with broadcasting; a masked score stays one. Of floats it is exact."""
    high, low = add_pairs(x.high, x.low, y.high, y.low)
    error = ((x.error + y.error) + PAIR * np.abs(high)) * UP
    if not (x.error.any() or y.error.any()):
        # The sum of two floats is a double-double, and all other parts are 0.
        error = np.where((x.low == 0) & (y.low == 0), 0.0, error)
    return _masking(settled(high, low, error), np.broadcast_to(x.masked | y.masked, high.shape))


@in_blocks
def multiply(x: DoubleDouble, y: DoubleDouble) -> DoubleDouble:
    """``x * y``, with broadcasting; a masked score stays one beside what is positive.

    A factor that is exactly 0 makes a product that is.
    """
    high, low = multiply_pairs(x.high, x.low, y.high, y.low)
    error = np.abs(x.high) * y.error + (np.abs(y.high) + y.error) * x.error
    # Above, the lows are left out: less than 2**-53 of the highs.
    lost = np.where(x.is_zero | y.is_zero, 0.0, TINY)
    error = (error + PAIR * np.abs(high) + lost) * (UP * (1 + 2.0**-50))
    product = settled(high, low, error)
    first, other = (np.broadcast_to(z.masked, high.shape) for z in (x, y))
    if not (first.any() or other.any()):
        return product
    positive = [np.broadcast_to(z.high > z.error, high.shape) for z in (x, y)]
    return _masking(product, (first & positive[1]) | (other & positive[0]))


def scaled(x: DoubleDouble, power: float) -> DoubleDouble:
    """``x * power`` for a power of two, exactly but for what underflows; a masked score stays one.

    >>> scaled(exact(np.array([3.0])), 0.5).high
    array([1.5])
    """
    lost = np.where(x.is_zero | (power >= 1), 0.0, TINY)
    high, low, error = x.high * power, x.low * power, (x.error * power + lost) * UP
    return _masking(settled(high, low, error), x.masked)


@in_blocks
def divide(x: DoubleDouble, y: DoubleDouble) -> DoubleDouble:
    """``x / y``, with broadcasting; not known where ``y`` may be 0.

    With ``q = fl(x.high / y.high)``, the rest ``x - q y`` is at most ``3 U |x|``; relative to
    x, the product ``q y`` is off by ``3 U**2``, the difference of the lows by ``2 U**2``, their
    sum with that of the highs, which is exact, by ``3 U**2``; the division by ``y.high`` in
    place of y and its rounding cost ``3 U**2`` each. That is ``14 U**2``, and terms in U**3.

    The exact numbers X and Y are within the errors of x and y: ``X/Y - x/y = ((X - x) - x/y
    (Y - y)) / Y``, where ``|Y|`` is not less than ``least``.
    """
    high = x.high / y.high
    part, rest = two_product(high, y.high)
    part, rest = fast_two_sum(part, rest + high * y.low)
    rest = (x.high - part) + (x.low - rest)
    high, low = fast_two_sum(high, rest / y.high)
    least = np.abs(y.high) * (1 - 2.0**-50) - y.error
    error = (x.error + np.abs(high) * y.error) / least * (1 + 2.0**-49)
    lost = np.where(x.is_zero, 0.0, TINY * (1 + 1 / least))
    error = (error + PAIR * np.abs(high) + lost) * UP
    quotient = settled(high, low, np.where(least > 0, error, np.inf))
    positive = np.broadcast_to(y.high > y.error, high.shape)
    return _masking(quotient, np.broadcast_to(x.masked, high.shape) & positive)


@in_blocks
def sqrt(x: DoubleDouble) -> DoubleDouble:
    """``sqrt(x)``; not known where ``x`` may be negative.

    The result is off by less than 4 U**2 of it (25/8 in Lefevre, Louvet, Muller, Picot
    and Rideau, *Accurate calculation of Euclidean norms*, ACM TOMS 49, 2023). What
    underflows in the square is divided by the root. The root of a square is exact.
    """
    high = np.sqrt(x.high)
    square, rest = two_product(high, high)
    with_rest = ((x.high - square) - rest) + x.low
    high, low = fast_two_sum(high, np.where(high != 0, with_rest / (2 * high), 0.0))
    least = x.high * (1 - 2.0**-50) - x.error
    error = x.error / np.sqrt(least) + PAIR * high + TINY * (1 + 1 / high)
    # Above 2**-400 nothing underflows in a square.
    is_exact = (with_rest == 0) & (x.low == 0) & (x.error == 0) & (high > 2.0**-400)
    is_exact |= x.is_zero
    error = np.where(is_exact, 0.0, np.where(least > 0, error * UP, np.inf))
    return settled(np.where(x.is_zero, 0.0, high), np.where(x.is_zero, 0.0, low), error)


@in_blocks
def maximum(x: DoubleDouble, y: DoubleDouble) -> DoubleDouble:
    """``maximum(x, y)``, with broadcasting; a masked score is less than any number.

    The larger of the two is within the larger of their errors of it, and within its own where
    their difference shows which number is meant.

    >>> maximum(exact(np.array([1.0, -2.0])), exact(np.zeros(1))).high
    array([1., 0.])
    """
    first = (x.high > y.high) | ((x.high == y.high) & (x.low >= y.low))
    apart = is_apart(add(x, negative(y))) | x.masked | y.masked
    high, low = np.where(first, x.high, y.high), np.where(first, x.low, y.low)
    larger = np.where(first, x.error, y.error)
    return DoubleDouble(high, low, np.where(apart, larger, np.maximum(x.error, y.error)))


def sign(x: DoubleDouble) -> DoubleDouble:
    """-1, 0 or 1; not known where ``x`` may have another sign.

    >>> sign(exact(np.array([-0.5, 0.0]))).high
    array([-1.,  0.])
    """
    known = is_apart(x) | x.is_zero
    return settled(np.sign(x.high), np.zeros_like(x.high), np.where(known, 0.0, np.inf))


def above(x: DoubleDouble, y: DoubleDouble) -> DoubleDouble:
    """1 where ``x > y``, else 0, with broadcasting; not known where they may be equal.

    A masked score is less than any number.

    >>> above(exact(np.array([-np.inf, 0.5])), exact(np.array([0.0, -np.inf]))).high
    array([0., 1.])
    """
    first, second = (z.map(lambda part: np.where(np.isneginf(part), 0.0, part)) for z in (x, y))
    signs = sign(add(first, negative(second)))
    masked = x.masked | y.masked
    high = np.where(masked, ~x.masked, np.maximum(signs.high, 0.0))
    return DoubleDouble(high, np.zeros_like(high), np.where(masked, 0.0, signs.error))


def is_apart(x: DoubleDouble) -> npt.NDArray[np.bool_]:
    """Return where numbers are known not to be 0: the double-double is larger than its error."""
    apart: npt.NDArray[np.bool_] = np.abs(x.high) * (1 - 2.0**-50) > x.error
    return apart


def total(x: DoubleDouble, axis: int) -> DoubleDouble:
    """The sum along an axis, which stays with length 1.

    Halves are added until one entry is left: every one passes through as many sums
    as the length has bits, and of each sum ``16 U**2`` is lost.
    """
    high, low = (np.moveaxis(z, axis, 0) for z in (x.high, x.low))
    steps = 0
    size = np.abs(high).sum(axis=0)
    while len(high) > 1:
        half = len(high) // 2
        sums = add_pairs(high[:half], low[:half], high[half : 2 * half], low[half : 2 * half])
        if len(high) % 2:
            high, low = (
                np.concatenate([z, y[-1:]]) for z, y in zip(sums, (high, low), strict=True)
            )
        else:
            high, low = sums
        steps += 1
    error = np.moveaxis(x.error, axis, 0).sum(axis=0) + steps * 2 * PAIR * size
    total = settled(high[0], low[0], error * UP)
    return total.map(lambda z: np.expand_dims(z, axis))


# -- sines, cosines, the error function; exponentials and logarithms ---------------------
# Taylor series about the nearest point of a table.
#
# Points are less than ``2**-6`` apart, so a number is a point and h, ``|h| < 2**-7``. What the
# series of all three functions lose is bounded at once. Where ``|z - a| <= 2``, ``|sin z|`` and
# ``|cos z|`` are at most ``cosh 2 < 4``, and ``|erf z| < 1 + 2/sqrt(pi)`` times the integral of
# ``exp(y**2)`` from 0 to 2, which is less than 20; so the coefficient of ``h**k`` is below
# ``20/2**k`` (Cauchy), and its term below ``20/2**(8 k)``:
#
# - terms from 13 on, which are left out: less than 2**-99 together;
# - terms from 6 on, computed in floats: the sixth is rounded twice, its coefficient and the
#   sum with the rest, which is less than 2**-6 of it and off by some ten U: less than ``3 U 20
#   2**-48 < 2**-94``;
# - sums and products of double-doubles: each off by 16 U**2 of what it gives, ``20/2**k`` at most,
#   times ``h**k``: less than ``2 16 U**2 20 / (1 - 2**-8) < 2**-96``.
#
# That is less than 2**-93, whatever the number is.

#: What the series lose; the terms taken, and those in double-doubles.
_SERIES = 2.0**-93
_TERMS, _PAIRS = 13, 6
#: Points in a full turn; numbers of up to 22 bits times a step are exact.
_TURN = 512
_FARTHEST = 2.0**15
#: Points from one number to the next, and where the error function is 1 but for 2**-96.
_EVERY, _ONE = 64, 8


class _TaylorTable(NamedTuple):
    """Coefficients by power and point, the first ones with their low floats."""

    high: Array
    low: Array


def _table(columns: list[list[arb]]) -> _TaylorTable:
    """The coefficients at each point, of at least 256 bits."""
    high = np.array([[float(x.mid()) for x in column] for column in columns]).T
    low = [[float((x - float(x.mid())).mid()) for x in column[:_PAIRS]] for column in columns]
    return _TaylorTable(high, np.array(low).T)


@cache
def _sines() -> _TaylorTable:
    """The sine about ``2 pi j / 512``."""
    with precision(256):
        # In multiples of pi, so that zeros are exact.
        angles = [arb(j) / (_TURN // 2) for j in range(_TURN)]
        waves = [(x.sin_pi(), x.cos_pi()) for x in angles]
        cycles = [(sin, cos, -sin, -cos) for sin, cos in waves]
        return _table([[c[k % 4] / factorial(k) for k in range(_TERMS)] for c in cycles])


@cache
def _errors() -> _TaylorTable:
    """The error function about ``j / 64``; its derivative g has ``g' = -2 x g``."""
    columns = []
    with precision(256):
        for j in range(_EVERY * _ONE + 1):
            at = arb(j) / _EVERY
            slopes = [arb(0), 2 / arb.pi().sqrt() * (-at * at).exp()]
            for k in range(_TERMS - 2):
                slopes.append(-2 * (at * slopes[-1] + slopes[-2]) / (k + 1))
            columns.append([at.erf(), *(x / (k + 1) for k, x in enumerate(slopes[1:]))])
        return _table(columns)


@cache
def _step() -> tuple[float, ...]:
    """``2 pi / 512`` in three parts: whole multiples of 2**-37 and 2**-68, and the rest."""
    with precision(256):
        return in_parts(2 * arb.pi() / _TURN, 2.0**-37, 2.0**-68)


def _series(table: _TaylorTable, place: Array, h: Array, more: Array) -> tuple[Array, Array]:
    """The function at ``h + more`` from points of the table."""
    at = place.astype(np.int32)
    high, low = table.high[:, at], table.low[:, at]
    rest = high[-1]
    for k in range(_TERMS - 2, _PAIRS - 1, -1):
        rest = high[k] + h * rest
    total = rest, np.zeros_like(rest)
    for k in range(_PAIRS - 1, -1, -1):
        total = add_pairs(high[k], low[k], *multiply_pairs(h, more, *total))
    return total


@in_blocks
def sin(x: DoubleDouble) -> DoubleDouble:
    """``sin(x)``; not known beyond 2**15, nor of a masked score.

    With N whole, ``x = N 2 pi/512 + h``. N has 22 bits and the first two parts of ``2 pi/512``
    have 31, so their products with N are exact. So is the first difference: where N isn't
    0, it is a multiple of 2**-60 and less than 2**-7. What is rounded are the third part with
    its product, less than 2**-46, and two sums no larger than that and the low float: less
    than ``2 U**2 |x| + 2**-98`` together. The slope is 1 at most.

    >>> near = sin(exact(np.array([1.0, 1e6])))
    >>> near.high, near.error < 2.0**-92
    (array([0.84147098, 0.        ]), array([ True, False]))
    """
    return _turned(x, 0)


@in_blocks
def cos(x: DoubleDouble) -> DoubleDouble:
    """``cos(x)``, the sine a quarter of a turn further; see :func:`sin`.

    >>> cos(exact(np.zeros(1)))
    DoubleDouble(high=array([1.]), low=array([0.]), error=array([0.]))
    """
    return _turned(x, _TURN // 4)


def _turned(x: DoubleDouble, ahead: int) -> DoubleDouble:
    known = np.abs(x.high) <= _FARTHEST
    high, low = (np.where(known, part, 0.0) for part in (x.high, x.low))
    first, second, third = _step()
    step = np.rint(high * (_TURN / (2 * np.pi)))
    h, more = two_sum(high - step * first, -step * second)
    h, more = two_sum(h, more + (low - step * third))
    pair = _series(_sines(), (step + ahead) % _TURN, h, more)
    error = np.where(x.is_zero, 0.0, x.error + PAIR * np.abs(high) + _SERIES) * UP
    return settled(*pair, np.where(known, error, np.inf))


@in_blocks
def erf(x: DoubleDouble) -> DoubleDouble:
    """``erf(x)``; not known of a masked score.

    The difference to the point is exact: of numbers that are multiples of the float's last
    place, and no larger than it. From 8 on ``1 - erf(x) < 2**-96``. The slope is below 1.13.

    >>> near = erf(exact(np.array([-1.0, 1e6])))
    >>> near.high, near.error < 2.0**-92
    (array([-0.84270079,  1.        ]), array([ True,  True]))
    """
    size = np.abs(x.high)
    near = size <= _ONE
    place = np.rint(np.where(near, size, 0.0) * _EVERY)
    sign = np.where(x.high < 0, -1.0, 1.0)
    h, more = two_sum(np.where(near, size - place / _EVERY, 0.0), np.where(near, sign * x.low, 0.0))
    high, low = _series(_errors(), place, h, more)
    high, low = np.where(near, high, 1.0), np.where(near, low, 0.0)
    error = np.where(x.is_zero, 0.0, 1.13 * x.error + _SERIES) * UP
    return settled(sign * high, sign * low, np.where(x.masked, np.inf, error))


#: The table of powers has so many entries from 1 to 2.
_ENTRIES = 256
#: The exponential is off by less than this much of its value; see :func:`exp`.
_EXP = 2.0**-88
_MOST = 700.0


@cache
def _powers() -> tuple[Array, Array]:
    """``2**(j / 256)`` as double-doubles, j from 0 to 255."""
    with precision(256):
        balls = [(arb(2).log() * j / _ENTRIES).exp() for j in range(_ENTRIES)]
    powers = of_balls(balls, 256)
    return powers.high, powers.low


@cache
def _steps() -> tuple[float, ...]:
    """``log(2) / 256`` in three parts: whole multiples of 2**-39 and 2**-69, and the rest."""
    with precision(256):
        return in_parts(arb(2).log() / _ENTRIES, 2.0**-39, 2.0**-69)


@in_blocks
def exp(x: DoubleDouble) -> DoubleDouble:
    """``exp(x)``; 0 for a masked score, not known above 700.

    With N whole and ``|t| < 2**-9.4``, ``x = N log(2)/256 + t``, so that ``exp(x) = 2**(N //
    256) 2**((N % 256) / 256) exp(t)``. N is below 2**19 and the first two parts of ``log(2) /
    256`` have 31 bits, so their products with N are exact; so is the first difference,
    of nearly equal numbers (Sterbenz). What is rounded is below 2**-43 (``low``, where the
    number is near 700) and adds less than ``3 U 2**-43 < 2**-94`` to t. Of the series, t**4/24
    and what follows are below 2**-42 and computed in floats, off by less than ``16 U 2**-42 <
    2**-90``, and of t without its low float, which changes them by less than ``2**-30 2**-63``;
    leaving ``t**9/9! < 2**-102`` out, and the roundings of double-doubles, are less. The sum of
    all is less than 2**-88.

    >>> near = exp(exact(np.array([1.0])))
    >>> near.high, near.error < 2.0**-86
    (array([2.71828183]), array([ True]))
    """
    first, second, third = _steps()
    at = np.clip(np.where(x.masked, 0.0, x.high), -2 * _MOST, _MOST + 1)
    step = np.rint(at * (_ENTRIES / np.log(2.0)))
    high, low = two_sum(at - step * first, -step * second)
    t, more = two_sum(high, low + (np.where(x.masked, 0.0, x.low) - step * third))
    tail = t * t
    tail = tail * tail * (1 / 24 + t * (1 / 120 + t * (1 / 720 + t * (1 / 5040 + t / 40320))))
    sixth = multiply_pairs(t, more, np.array(1 / 6), np.array(_SIXTH))
    series = add_pairs(np.array(0.5), np.array(0.0), *sixth)
    series = multiply_pairs(*series, *multiply_pairs(t, more, t, more))
    series = add_pairs(*series, tail, np.array(0.0))
    series = add_pairs(t, more, *series)
    whole = step.astype(np.int32)
    head, rest = (part[whole % _ENTRIES] for part in _powers())
    power = add_pairs(head, rest, *multiply_pairs(head, rest, *series))
    scale = whole // _ENTRIES
    high, low = fast_two_sum(*(np.ldexp(part, scale) for part in power))
    near = np.minimum(x.error, 1.0)
    # exp(e) - 1 <= e (1 + e) up to 1.
    share = np.where(x.error <= 1, near * (1 + near) + _EXP, np.inf)
    error = (high * share + TINY) * UP
    known = (x.high <= _MOST) & (x.high >= -_MOST)
    # Below, what is known is that it is next to nothing.
    below = (x.high < -_MOST) & (x.error <= 1)
    result = settled(high, low, np.where(known, error, np.inf))
    return result.but(below, 0.0, TINY).but(x.masked, 0.0, 0.0)


#: What 1/6 has beyond its float.
_SIXTH = float(Fraction(1, 6) - Fraction(1 / 6))


def log(x: DoubleDouble) -> DoubleDouble:
    """``log(x)``; not known where ``x`` may be 0 or less.

    One step of Newton's: with y near ``log(x)`` and ``w = x exp(-y) - 1``, ``log(x) = y +
    log(1 + w)``, which is ``w - w**2/2`` but for less than ``|w|**3`` where w is below 1/2.
    However bad the float's own logarithm is, w tells.

    >>> near = log(exact(np.array([2.0, 0.0])))
    >>> near.high, near.error < 2.0**-86
    (array([0.69314718, 0.        ]), array([ True, False]))
    """
    start = exact(np.where(x.high > 0, np.log(np.where(x.high > 0, x.high, 1.0)), 0.0))
    w = add(multiply(x, exp(negative(start))), exact(np.full_like(x.high, -1.0)))
    half = multiply(multiply(w, w), exact(np.full_like(x.high, -0.5)))
    result = add(add(start, w), half)
    size = np.abs(w.high) * (1 + 2.0**-50) + w.error
    good = (x.high > x.error) & (size < 0.5)
    return settled(result.high, result.low, np.where(good, result.error + size**3 * UP, np.inf))


# -- matrix products of double-doubles by Ozaki slices -----------------------------------

#: Ozaki slices that a factor is cut into at most.
_SLICES = 4
#: Entries of a product that are added at a time: so many stay near the processor.
_TILE = 1 << 13


def matmul(x: DoubleDouble, y: DoubleDouble) -> DoubleDouble:
    """The matrix product of the last two axes, to about 85 bits of ``n * max|x_i| *
    max|y_j|``, row i by column j.

    Each factor is cut into Ozaki slices of few bits, whose products are exact in every
    order of summation (K. Ozaki, T. Ogita, S. Oishi and S. M. Rump, *Error-free
    transformations of matrix multiplication*, Numerical Algorithms 59, 2012). With n terms,
    powers of two a and c more than twice the entries of the row and of the column, and b
    bits, slice i is at most ``a 2**(-(b+1) i)``, half of it for the first one, and what s
    slices leave is at most ``a 2**(-(b+1) s)``, half a unit of the last one. The products of
    slices i and j with ``i + j >= s`` are left out, and those of what is left: they sum
    to less than ``(s + 1) n a c 2**(-(b+1) s)``, times 1.01. The m others are added from the
    smallest on. Where ``i + j >= 2`` they are at most ``n a c 2**(-2 (b+1))`` each and added
    as floats; the highs of the rest are added exactly, and their lows, at most ``U n a c``
    each, to those. So at most m sums are rounded, of numbers that are at most ``m (2**(-2 (b+1))
    + U) n a c`` together: they are off by less than ``m**2 U (2**(-2 (b+1)) + U) n a c``, times
    1.01. Where all products are added and no sum was rounded, the product is exact.

    >>> product = matmul(exact(np.array([[1.0, 2.0**-60]])), exact(np.array([[1.0], [1.0]])))
    >>> product.high, product.low == 2.0**-60, product.error < 2.0**-90
    (array([[1.]]), array([[ True]]), array([[ True]]))
    """
    terms = x.shape[-1]
    # Sums of n products of 2 b bits have one to spare, for the third slice; see _slices.
    bits = (52 - max(terms - 1, 1).bit_length()) // 2
    left, above, cut = _slices(x, bits, -1)
    right, beside, cut_too = _slices(y, bits, -2)
    pairs = [(i, j) for i in range(len(left)) for j in range(len(right)) if i + j < _SLICES]
    pairs.sort(key=sum, reverse=True)
    whole = not (cut or cut_too) and len(pairs) == len(left) * len(right)
    high, low, is_exact = _sums(left, right, pairs, whole)
    small = 2.0 ** (-2 * (bits + 1)) if sum(pairs[0]) >= 2 else 0.0
    share = len(pairs) ** 2 * 2.0**-53 * (small + 2.0**-53)
    if cut or cut_too or len(left) + len(right) - 1 > _SLICES:
        share += (_SLICES + 1) * 2.0 ** (-(bits + 1) * _SLICES)
    error = (1.02 * terms * share) * (above * beside)
    error = error + np.where(_some(x, above, -1) & _some(y, beside, -2), TINY, 0.0)
    if whole:
        # Nothing can be lost but in sums, where it is seen, and in what underflows.
        normal = (above >= 2.0**-300) & (beside >= 2.0**-300)
        error = np.where(is_exact & normal, 0.0, error)
    if y.error.any():
        error = error + (np.abs(x.high) * (1 + 2.0**-50) + x.error) @ y.error
    if x.error.any():
        error = error + x.error @ (np.abs(y.high) * (1 + 2.0**-50))
    return settled(high, low, error * UP)


def _sums(
    left: Sequence[Array],
    right: Sequence[Array],
    pairs: Sequence[tuple[int, int]],
    watched: bool,
) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """The sums of products of slices, some rows or columns of them at a time, and if they are
    ``watched`` which of them no rounding has changed."""
    rows, columns = left[0].shape[-2], right[0].shape[-1]
    many = np.broadcast_shapes(left[0].shape[:-2], right[0].shape[:-2])
    high, low = np.empty((*many, rows, columns)), np.empty((*many, rows, columns))
    is_exact = np.full(high.shape, watched)
    step = max(1, _TILE // min(rows, columns))
    for start in range(0, max(rows, columns), step):
        across = (..., slice(start, start + step))
        down = (..., slice(start, start + step), slice(None))
        first, second = (down, ...) if rows > columns else (..., across)
        total, rest, lost = np.zeros(()), np.zeros(()), np.zeros((), dtype=bool)
        for i, j in pairs:
            more = left[i][first] @ right[j][second]
            if i + j < 2:
                total, more = two_sum(total, more)
            if watched:
                rest, over = two_sum(rest, more)
                lost = lost | (over != 0)
            else:
                rest = rest + more
        place = down if rows > columns else across
        high[place], low[place] = two_sum(total, rest)
        is_exact[place] &= ~lost
    return high, low, is_exact


def _some(x: DoubleDouble, above: Array, axis: int) -> npt.NDArray[np.bool_]:
    """Rows or columns with entries that may not be 0."""
    some: npt.NDArray[np.bool_] = (above != 0) | x.error.any(axis=axis, keepdims=True)
    return some


def _slices(x: DoubleDouble, bits: int, axis: int) -> tuple[list[Array], Array, bool]:
    """Ozaki slices of the entries, each a whole multiple of one power of two by row (or
    column) that ``bits`` bits and a sign hold; powers of two above twice the entries along
    the axis, 0 where all are 0; and whether something is left over.

    Adding and subtracting ``1.5 * 2**52 * unit`` rounds to multiples of the unit, ``2**-bits``
    of the power of two at first; what is left is at most half a unit, so the next slice
    begins a bit lower. The low floats join when two slices are cut: they are at most half
    the unit of the second one, so that the third may have a bit more; what is lost in
    joining them, U of half that unit, is less than what four slices leave.
    """
    largest = np.max(np.abs(x.high), axis=axis, keepdims=True, initial=0.0)
    above = np.where(largest > 0, np.ldexp(2.0, np.frexp(largest)[1]), 0.0)
    slices: list[Array] = []
    rest = x.high
    unit = above * 2.0**-bits
    lost = False
    for k in range(_SLICES):
        big = unit * (1.5 * 2.0**52)
        part = (rest + big) - big
        slices.append(part)
        rest = rest - part
        if k == 1:
            rest, over = two_sum(rest, x.low)
            lost = bool(over.any())
        if not rest.any() and (k >= 1 or not x.low.any()):
            return slices, above, lost
        unit = unit * 2.0 ** -(bits + 1)
    return slices, above, True
