"""Double-double numbers with proved error bounds.

A :class:`DoubleDouble` is an array of double-doubles ``high + low`` (T. J. Dekker, 1971; see
:mod:`~symattn.numbers.double_double`), each within ``error`` of the exact number: a ball whose
middle has 106 bits, in three NumPy arrays. It stands between floats, which certify
nothing, and Arb, which takes a Python object per entry: what it leaves in doubt is
for Arb. Matrix products are in
:mod:`~symattn.numbers.products`, exponentials and logarithms in
:mod:`~symattn.numbers.series`.

What is relied on: operations on floats are rounded to nearest, with gradual underflow
(IEEE 754-2019). The bounds of :mod:`~symattn.numbers.double_double`, ``3 U**2`` and ``5 U**2``,
are here taken to be ``16 U**2``, U being 2**-53. Bounds are computed in floats
themselves: what the roundings of a sum of up to 2**20 terms may take from them is
less than the factor :data:`UP` adds. What underflows in a product or a quotient, of the
numbers or of their bounds, is less than :data:`TINY`, which is added wherever neither
factor is known to be 0; sums lose nothing there.

Error-free transformations of floats, and double-double arithmetic built on them.

A double-double is ``high + low``, ``high`` being the float nearest to the sum; what these
functions return is one. What is relied on: addition, subtraction and multiplication are
rounded to nearest and underflow is gradual (:mod:`symattn.ieee`), so that sums and differences
never lose what is small. ``U`` is 2**-53.

The transformations are those of D. E. Knuth, *The Art of Computer Programming*, volume 2,
4.2.2, and T. J. Dekker, *A floating-point technique for extending the available precision*,
Numerische Mathematik 18, 1971; the bounds are those of M. Joldes, J.-M. Muller and V. Popescu,
*Tight and rigorous error bounds for basic building blocks of double-word arithmetic*, ACM TOMS
44, 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from math import prod
from operator import itemgetter

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
        """Where numbers are known to be exactly 0."""
        zero: npt.NDArray[np.bool_] = (self.high == 0) & (self.error == 0)
        return zero

    @property
    def masked(self) -> npt.NDArray[np.bool_]:
        """Where masked scores stand."""
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
    """``x * power`` for a power of two, exactly but for what underflows; a masked score stays
    one.

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
    """Where numbers are known not to be 0: the double-double is larger than its error."""
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
