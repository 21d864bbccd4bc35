"""Sines, cosines and the error function of double-doubles: Taylor series about the nearest
point of a table.

Points are less than ``2**-6`` apart, so a number is a point and h, ``|h| < 2**-7``. What the
series of all three functions lose is bounded at once. Where ``|z - a| <= 2``, ``|sin z|`` and
``|cos z|`` are at most ``cosh 2 < 4``, and ``|erf z| < 1 + 2/sqrt(pi)`` times the integral of
``exp(y**2)`` from 0 to 2, which is less than 20; so the coefficient of ``h**k`` is below
``20/2**k`` (Cauchy), and its term below ``20/2**(8 k)``:

- terms from 13 on, which are left out: less than 2**-99 together;
- terms from 6 on, computed in floats: the sixth is rounded twice, its coefficient and the
  sum with the rest, which is less than 2**-6 of it and off by some ten U: less than ``3 U 20
  2**-48 < 2**-94``;
- sums and products of double-doubles: each off by 16 U**2 of what it gives, ``20/2**k`` at most,
  times ``h**k``: less than ``2 16 U**2 20 / (1 - 2**-8) < 2**-96``.

That is less than 2**-93, whatever the number is.

Exponentials and logarithms of double-doubles.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import factorial
from typing import NamedTuple

import numpy as np
from flint import arb

from symattn.numbers import double_double
from symattn.numbers.balls import precision
from symattn.numbers.double_double import (
    PAIR,
    TINY,
    UP,
    Array,
    DoubleDouble,
    add,
    exact,
    in_blocks,
    in_parts,
    multiply,
    negative,
    of_balls,
    settled,
    two_sum,
)

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
        total = double_double.add_pairs(
            high[k], low[k], *double_double.multiply_pairs(h, more, *total)
        )
    return total


@in_blocks
def sin(x: DoubleDouble) -> DoubleDouble:
    """``sin(x)``; not known beyond 2**15, nor of a masked score.

    With N whole, ``x = N 2 pi/512 + h``. N has 22 bits and the first two parts of ``2 pi/512``
    have 31, so their products with N are exact. So is the first difference: where N isn't
    0, it is a multiple of 2**-60 and less than 2**-7. What is rounded are the third part with
    its product, less than 2**-46, and two sums no larger than that and the low float: less
    than ``2 U**2 |x| + 2**-98`` together. The slope is 1 at most.

    >>> from symattn.numbers.double_double import exact
    >>> near = sin(exact(np.array([1.0, 1e6])))
    >>> near.high, near.error < 2.0**-92
    (array([0.84147098, 0.        ]), array([ True, False]))
    """
    return _turned(x, 0)


@in_blocks
def cos(x: DoubleDouble) -> DoubleDouble:
    """``cos(x)``, the sine a quarter of a turn further; see :func:`sin`.

    >>> from symattn.numbers.double_double import exact
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

    >>> from symattn.numbers.double_double import exact
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
    sixth = double_double.multiply_pairs(t, more, np.array(1 / 6), np.array(_SIXTH))
    series = double_double.add_pairs(np.array(0.5), np.array(0.0), *sixth)
    series = double_double.multiply_pairs(*series, *double_double.multiply_pairs(t, more, t, more))
    series = double_double.add_pairs(*series, tail, np.array(0.0))
    series = double_double.add_pairs(t, more, *series)
    whole = step.astype(np.int32)
    head, rest = (part[whole % _ENTRIES] for part in _powers())
    power = double_double.add_pairs(head, rest, *double_double.multiply_pairs(head, rest, *series))
    scale = whole // _ENTRIES
    high, low = double_double.fast_two_sum(*(np.ldexp(part, scale) for part in power))
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
