"""Numbers as sums of two floats with a proved bound on what they are off.

A :class:`Doubles` is an array of numbers ``high + low``, each within ``error`` of
the exact one: a ball whose middle has 106 bits, in three NumPy arrays. It is a
rung between floats, which certify nothing, and Arb, which takes a Python object
per entry: what it leaves in doubt is for Arb.

What is relied on: addition, subtraction, multiplication, division and square
root are rounded to nearest (IEEE 754-2019); a matrix product of floats that are
small whole multiples of one power of two is exact in every order of summation.
Underflow may be flushed to zero. ``U`` is 2**-53.

The error-free transformations are those of Dekker and Knuth; the bounds of the
sums, products and quotients of pairs are those of M. Joldes, J.-M. Muller and V.
Popescu, *Tight and rigorous error bounds for basic building blocks of
double-word arithmetic*, ACM TOMS 44, 2017: 3, 5 and 15 U**2, and what is below
U**2; here all are taken to be ``16 U**2``. Bounds are computed in floats
themselves: what the roundings of a sum of up to 2**20 terms may take from them is
less than the factor :data:`_UP` adds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, wraps
from math import prod

import numpy as np
import numpy.typing as npt
from flint import arb, arb_mat, fmpz

from symattn.numbers.balls import precision

Array = npt.NDArray[np.float64]

#: An operation on two pairs is off by less than this much of its result.
_PAIR = 2.0**-102
#: What is lost where a result, or a part of one, is less than floats can hold.
_TINY = 2.0**-1000
_UP = 1 + 2.0**-30
#: Dekker's constant splits a float into halves of 26 bits.
_SPLIT = 2.0**27 + 1


@dataclass(frozen=True)
class Doubles:
    """Numbers within ``error`` of ``high + low``, entry by entry.

    ``high`` is the float nearest to the sum; an error of ``inf`` is that of a number
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
    def hidden(self) -> npt.NDArray[np.bool_]:
        """Where masked scores stand."""
        return np.isneginf(self.high)

    def map(self, change: Callable[[Array], Array]) -> Doubles:
        """The same change of place of all three arrays: a transpose, a choice."""
        return Doubles(change(self.high), change(self.low), change(self.error))


def exact(values: Array) -> Doubles:
    """Floats as they are; ``-inf`` is a masked score.

    >>> exact(np.array([0.5])).error
    array([0.])
    """
    return Doubles(values, np.zeros_like(values), np.zeros_like(values))


#: Entries worked on at a time: so many stay near the processor.
_BLOCK = 1 << 13

Operation = Callable[..., Doubles]


def of_balls(balls: Sequence[arb | None], bits: int) -> Doubles:
    """Pairs around balls of so many bits, in a row; None is a masked score.

    >>> near = of_balls([arb(1) / 3, None], 128)
    >>> near.high.tolist(), float(near.error[1])
    ([0.3333333333333333, -inf], 0.0)
    """
    hidden = np.array([ball is None for ball in balls])
    with precision(bits):
        high = np.array([-np.inf if ball is None else float(ball) for ball in balls])
        known = np.isfinite(high)
        flat = [
            ball if ball is not None and sure else arb(0)
            for ball, sure in zip(balls, known, strict=True)
        ]
        rest = arb_mat(1, len(flat), flat) - arb_mat(
            1, len(flat), np.where(known, high, 0.0).tolist()
        )
        low = np.array([float(x) for x in rest.entries()])
        rest -= arb_mat(1, len(flat), low.tolist())
        error = np.array([float(x.abs_upper()) for x in rest.entries()])
        exactly = np.array([bool(x.is_zero()) for x in rest.entries()])
    # What is less than the smallest float is not nothing.
    error = np.where(exactly, 0.0, error * (1 + 2.0**-50) + _TINY)
    unknown = ~known & ~hidden
    return Doubles(
        np.where(unknown, 0.0, high), low, np.where(unknown | ~np.isfinite(error), np.inf, error)
    )


def joined(parts: Sequence[Doubles], axis: int) -> Doubles:
    """The parts one after the other along an axis."""
    arrays = zip(*((x.high, x.low, x.error) for x in parts), strict=True)
    return Doubles(*(np.concatenate(part, axis=axis) for part in arrays))


def _cut(x: Doubles, start: int, stop: int) -> Doubles:
    return x.map(lambda part: part[start:stop])


def _in_blocks(operation: Operation) -> Operation:
    """An operation entry by entry, done for some rows of large arrays at a time."""

    @wraps(operation)
    def whole(*operands: Doubles) -> Doubles:
        shape = np.broadcast_shapes(*(x.shape for x in operands))
        entries = prod(shape)
        if entries <= 2 * _BLOCK or len(shape) < 2:
            return operation(*operands)
        wide = [x.map(lambda part: np.broadcast_to(part, shape)) for x in operands]
        rows = [x.map(lambda part: part.reshape(-1, shape[-1])) for x in wide]
        step = max(1, _BLOCK // shape[-1])
        made = [
            operation(*(_cut(x, k, k + step) for x in rows))
            for k in range(0, entries // shape[-1], step)
        ]
        joined = (
            np.concatenate(parts)
            for parts in zip(*((x.high, x.low, x.error) for x in made), strict=True)
        )
        return Doubles(*(part.reshape(shape) for part in joined))

    return whole


def _sum(a: Array, b: Array) -> tuple[Array, Array]:
    """``a + b`` as its float and the rest, exactly (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """``a * b`` as its float and the rest, exactly (Dekker) but for what underflows."""
    product = a * b
    wide = a * _SPLIT
    a1 = wide - (wide - a)
    wide = b * _SPLIT
    b1 = wide - (wide - b)
    a2, b2 = a - a1, b - b1
    return product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def _quick(a: Array, b: Array) -> tuple[Array, Array]:
    """:func:`_sum` where ``a`` is the larger."""
    total = a + b
    return total, b - (total - a)


def _add_pairs(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array]:
    high, low = _sum(a, c)
    more, rest = _sum(b, d)
    high, low = _quick(high, low + more)
    return _quick(high, low + rest)


def _multiply_pairs(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array]:
    high, low = _product(a, c)
    return _quick(high, low + (a * d + b * c))


def _settled(high: Array, low: Array, error: Array) -> Doubles:
    """What isn't finite isn't known."""
    known = np.isfinite(high) & np.isfinite(low) & np.isfinite(error)
    if known.all():
        return Doubles(high, low, error)
    return Doubles(
        np.where(known, high, 0.0), np.where(known, low, 0.0), np.where(known, error, np.inf)
    )


def _hiding(x: Doubles, hidden: npt.NDArray[np.bool_]) -> Doubles:
    if not hidden.any():
        return x
    return Doubles(
        np.where(hidden, -np.inf, x.high),
        np.where(hidden, 0.0, x.low),
        np.where(hidden, 0.0, x.error),
    )


def negative(x: Doubles) -> Doubles:
    """``-x``."""
    return _settled(-x.high, -x.low, x.error)


@_in_blocks
def add(x: Doubles, y: Doubles) -> Doubles:
    """``x + y``, with broadcasting; a masked score stays one."""
    high, low = _add_pairs(x.high, x.low, y.high, y.low)
    error = ((x.error + y.error) + _PAIR * np.abs(high)) * _UP
    return _hiding(_settled(high, low, error), np.broadcast_to(x.hidden | y.hidden, high.shape))


@_in_blocks
def multiply(x: Doubles, y: Doubles) -> Doubles:
    """``x * y``, with broadcasting; a masked score stays one beside what is positive.

    A factor that is exactly 0 makes a product that is.
    """
    high, low = _multiply_pairs(x.high, x.low, y.high, y.low)
    error = np.abs(x.high) * y.error + (np.abs(y.high) + y.error) * x.error
    lost = (x.high != 0) & (y.high != 0)
    error = (error + _PAIR * np.abs(high) + np.where(lost, _TINY, 0.0)) * (_UP * (1 + 2.0**-50))
    product = _settled(high, low, error)
    one, other = (np.broadcast_to(z.hidden, high.shape) for z in (x, y))
    if not (one.any() or other.any()):
        return product
    positive = [np.broadcast_to(z.high > z.error, high.shape) for z in (x, y)]
    return _hiding(product, (one & positive[1]) | (other & positive[0]))


@_in_blocks
def divide(x: Doubles, y: Doubles) -> Doubles:
    """``x / y``, with broadcasting; not known where ``y`` may be 0."""
    high = x.high / y.high
    part, rest = _product(high, y.high)
    part, rest = _quick(part, rest + high * y.low)
    rest = (x.high - part) + (x.low - rest)
    high, low = _quick(high, rest / y.high)
    least = np.abs(y.high) * (1 - 2.0**-50) - y.error
    error = (x.error + np.abs(high) * y.error) / least * (1 + 2.0**-49)
    lost = np.where(x.high != 0, _TINY * (1 + 1 / least), 0.0)
    error = (error + _PAIR * np.abs(high) + lost) * _UP
    quotient = _settled(high, low, np.where(least > 0, error, np.inf))
    positive = np.broadcast_to(y.high > y.error, high.shape)
    return _hiding(quotient, np.broadcast_to(x.hidden, high.shape) & positive)


@_in_blocks
def sqrt(x: Doubles) -> Doubles:
    """``sqrt(x)``; not known where ``x`` may be negative.

    The pair is off by less than 4 U**2 of it (25/8 in Lefevre, Louvet, Muller, Picot
    and Rideau, *Accurate calculation of Euclidean norms*, ACM TOMS 49, 2023).
    """
    high = np.sqrt(x.high)
    square, rest = _product(high, high)
    with_rest = ((x.high - square) - rest) + x.low
    high, low = _quick(high, np.where(high != 0, with_rest / (2 * high), 0.0))
    least = x.high * (1 - 2.0**-50) - x.error
    is_zero = (x.high == 0) & (x.error == 0)
    error = x.error / np.sqrt(least) + _PAIR * high + _TINY
    error = np.where(is_zero, 0.0, np.where(least > 0, error * _UP, np.inf))
    return _settled(np.where(is_zero, 0.0, high), np.where(is_zero, 0.0, low), error)


def total(x: Doubles, axis: int) -> Doubles:
    """The sum along an axis, which stays with length 1.

    Halves are added until one entry is left: every one passes through as many sums
    as the length has bits, and of each sum ``16 U**2`` is lost.
    """
    high, low = (np.moveaxis(z, axis, 0) for z in (x.high, x.low))
    steps = 0
    size = np.abs(high).sum(axis=0)
    while len(high) > 1:
        half = len(high) // 2
        sums = _add_pairs(high[:half], low[:half], high[half : 2 * half], low[half : 2 * half])
        if len(high) % 2:
            high, low = (
                np.concatenate([z, y[-1:]]) for z, y in zip(sums, (high, low), strict=True)
            )
        else:
            high, low = sums
        steps += 1
    error = np.moveaxis(x.error, axis, 0).sum(axis=0) + steps * 2 * _PAIR * size
    made = _settled(high[0], low[0], error * _UP)
    return made.map(lambda z: np.expand_dims(z, axis))


# -- matrix products ---------------------------------------------------------------------


def matmul(x: Doubles, y: Doubles, slices: int = 4) -> Doubles:
    """The matrix product of the last two axes, to about ``22 * slices`` bits of
    ``n * max|x_i| * max|y_j|``, row i by column j.

    Each factor is cut into slices of few bits, so that products of slices are exact
    (K. Ozaki, T. Ogita, S. Oishi and S. M. Rump, *Error-free transformations of
    matrix multiplication*, Numerical Algorithms 59, 2012). With n terms, ``2**a`` and
    ``2**b`` above the entries of the row and of the column, and slices of b bits, the
    product of slices i and j (from 0) is below ``n 2**(a + b - (b+1)(i+j))``: those with
    ``i + j >= slices``, which are left out, sum to less than ``(slices + 1) n 2**(a + b -
    (b+1) slices)``, times 1.01. The sum of the others is off by less than ``m**2 U**2 n
    2**(a+b) * 1.01`` for m products: their highs are added exactly, and each of the m
    lows is at most ``U n 2**(a+b) * 1.01`` and takes part in m sums.
    """
    terms = x.shape[-1]
    bits = (53 - max(terms - 1, 1).bit_length()) // 2
    left, above, cut = _slices(x, bits, slices, -1)
    right, beside, cut_too = _slices(y, bits, slices, -2)
    pairs = [(i, j) for i in range(len(left)) for j in range(len(right)) if i + j < slices]
    pairs.sort(key=lambda pair: -sum(pair))
    high: Array | None = None
    for i, j in pairs:
        product = left[i] @ right[j]
        if high is None:
            high, low = product, np.zeros_like(product)
        else:
            high, rest = _sum(high, product)
            low = low + rest
    if high is None:
        many = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        high = np.zeros((*many, x.shape[-2], y.shape[-1]))
        low = high
    high, low = _sum(high, low)
    share = len(pairs) ** 2 * 2.0**-106
    if cut or cut_too or len(left) + len(right) - 1 > slices:
        share += (slices + 1) * 2.0 ** (-(bits + 1) * slices)
    size = above * beside
    error = (1.02 * terms * share) * size + np.where(size != 0, _TINY, 0.0)
    if y.error.any():
        error = error + (np.abs(x.high) * (1 + 2.0**-50) + x.error) @ y.error
    if x.error.any():
        error = error + x.error @ (np.abs(y.high) * (1 + 2.0**-50))
    return _settled(high, low, error * _UP)


def _slices(x: Doubles, bits: int, most: int, axis: int) -> tuple[list[Array], Array, bool]:
    """Slices of the entries, each a whole multiple of one power of two by row (or
    column) that ``bits`` bits and a sign hold; powers of two above the entries along the
    axis, 0 where all are 0; and whether something is left over.

    Adding and subtracting ``1.5 * 2**(52 + e - bits)`` rounds to multiples of ``2**(e -
    bits)``; what is left is at most half of one, so the next slice begins a bit lower.
    """
    largest = np.max(np.abs(x.high), axis=axis, keepdims=True, initial=0.0)
    above = np.where(largest > 0, np.ldexp(2.0, np.frexp(largest)[1]), 0.0)
    found: list[Array] = []
    rest = x.high
    unit = above * 2.0**-bits
    for k in range(most):
        big = unit * (1.5 * 2.0**52)
        part = (rest + big) - big
        found.append(part)
        rest = rest - part
        if k == 1:
            # What is left of the high floats has room for the low ones.
            rest = rest + x.low
        if not rest.any() and (k >= 1 or not x.low.any()):
            return found, above, False
        unit = unit * 2.0 ** -(bits + 1)
    return found, above, True


# -- exponentials and logarithms -----------------------------------------------------------

#: The table of powers has so many entries from 1 to 2.
_ENTRIES = 256
#: The exponential is off by less than this much of its value; see :func:`exp`.
_EXP = 2.0**-88
_MOST = 700.0


@cache
def _powers() -> tuple[Array, Array]:
    """``2**(j / 256)`` as pairs, j from 0 to 255."""
    with precision(256):
        balls = [(arb(2).log() * j / _ENTRIES).exp() for j in range(_ENTRIES)]
        high = [float(ball.mid()) for ball in balls]
        low = [float((ball - h).mid()) for ball, h in zip(balls, high, strict=True)]
    return np.array(high), np.array(low)


@cache
def _steps() -> tuple[float, float, float]:
    """``log(2) / 256`` in three parts: whole multiples of 2**-39 and 2**-69, and the rest."""
    with precision(256):
        whole = arb(2).log() / _ENTRIES
        first = float((whole * 2.0**39).floor().unique_fmpz() or fmpz(0)) * 2.0**-39
        rest = whole - first
        second = float((rest * 2.0**69).floor().unique_fmpz() or fmpz(0)) * 2.0**-69
        return first, second, float((rest - second).mid())


@_in_blocks
def exp(x: Doubles) -> Doubles:
    """``exp(x)``; 0 for a masked score, not known above 700.

    With N whole and ``|t| < 2**-9.4``, ``x = N log(2)/256 + t``, so that ``exp(x) = 2**(N //
    256) 2**((N % 256) / 256) exp(t)``. N is below 2**19 and the first two parts of ``log(2) /
    256`` have 31 bits, so their products with N are exact; so is the first difference,
    of nearly equal numbers (Sterbenz). What is rounded is below 2**-43 (``low``, where the
    number is near 700) and adds less than ``3 U 2**-43 < 2**-94`` to t. Of the series, t**4/24
    and what follows are below 2**-42 and computed in floats, off by less than ``16 U 2**-42 <
    2**-90``; leaving ``t**9/9! < 2**-102`` out, and the roundings of pairs, are less. The sum of
    all is less than 2**-88.
    """
    first, second, third = _steps()
    at = np.clip(np.where(x.hidden, 0.0, x.high), -2 * _MOST, _MOST + 1)
    step = np.rint(at * (_ENTRIES / np.log(2.0)))
    high, low = _sum(at - step * first, -step * second)
    t, more = _sum(high, low + (np.where(x.hidden, 0.0, x.low) - step * third))
    tail = t * t
    tail = tail * tail * (1 / 24 + t * (1 / 120 + t * (1 / 720 + t * (1 / 5040 + t / 40320))))
    sixth = _multiply_pairs(t, more, np.array(1 / 6), np.array(_SIXTH))
    series = _add_pairs(np.array(0.5), np.array(0.0), *sixth)
    series = _multiply_pairs(*series, *_multiply_pairs(t, more, t, more))
    series = _add_pairs(*series, tail, np.array(0.0))
    series = _add_pairs(t, more, *series)
    whole = step.astype(np.int64)
    one, rest = (part[whole % _ENTRIES] for part in _powers())
    power = _add_pairs(one, rest, *_multiply_pairs(one, rest, *series))
    scale = whole // _ENTRIES
    high, low = (np.ldexp(part, scale) for part in power)
    near = np.minimum(x.error, 1.0)
    # exp(e) - 1 <= e (1 + e) up to 1.
    share = np.where(x.error <= 1, near * (1 + near) + _EXP, np.inf)
    error = (high * share + _TINY) * _UP
    known = (x.high <= _MOST) & (x.high >= -_MOST)
    # Below, what is known is that it is next to nothing.
    below = (x.high < -_MOST) & (x.error <= 1)
    made = _settled(high, low, np.where(known, error, np.inf))
    small = Doubles(np.zeros_like(high), np.zeros_like(high), np.full_like(high, _TINY))
    for part, zero in ((below, False), (x.hidden, True)):
        if part.any():
            made = Doubles(
                np.where(part, 0.0, made.high),
                np.where(part, 0.0, made.low),
                np.where(part, 0.0 if zero else small.error, made.error),
            )
    return made


#: What 1/6 has beyond its float.
_SIXTH = float(Fraction(1, 6) - Fraction(1 / 6))


def log(x: Doubles) -> Doubles:
    """``log(x)``; not known where ``x`` may be 0 or less.

    One step of Newton's: with y near ``log(x)`` and ``w = x exp(-y) - 1``, ``log(x) = y +
    log(1 + w)``, which is ``w - w**2/2`` but for less than ``|w|**3`` where w is below 1/2.
    However bad the float's own logarithm is, w tells.
    """
    start = exact(np.where(x.high > 0, np.log(np.where(x.high > 0, x.high, 1.0)), 0.0))
    w = add(multiply(x, exp(negative(start))), exact(np.full_like(x.high, -1.0)))
    half = multiply(multiply(w, w), exact(np.full_like(x.high, -0.5)))
    made = add(add(start, w), half)
    size = np.abs(w.high) * (1 + 2.0**-50) + w.error
    good = (x.high > x.error) & (size < 0.5)
    return _settled(made.high, made.low, np.where(good, made.error + size**3 * _UP, np.inf))
