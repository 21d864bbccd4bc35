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
"""

from __future__ import annotations

from functools import cache
from math import factorial
from typing import NamedTuple

import numpy as np
from flint import arb

from symattn.numbers import words
from symattn.numbers.balls import precision
from symattn.numbers.doubles import PAIR, UP, DoubleDouble, in_blocks, in_parts, settled
from symattn.numbers.words import Array, two_sum

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
        total = words.add(high[k], low[k], *words.multiply(h, more, *total))
    return total


@in_blocks
def sin(x: DoubleDouble) -> DoubleDouble:
    """``sin(x)``; not known beyond 2**15, nor of a masked score.

    With N whole, ``x = N 2 pi/512 + h``. N has 22 bits and the first two parts of ``2 pi/512``
    have 31, so their products with N are exact. So is the first difference: where N isn't
    0, it is a multiple of 2**-60 and less than 2**-7. What is rounded are the third part with
    its product, less than 2**-46, and two sums no larger than that and the low float: less
    than ``2 U**2 |x| + 2**-98`` together. The slope is 1 at most.

    >>> from symattn.numbers.doubles import exact
    >>> near = sin(exact(np.array([1.0, 1e6])))
    >>> near.high, near.error < 2.0**-92
    (array([0.84147098, 0.        ]), array([ True, False]))
    """
    return _turned(x, 0)


@in_blocks
def cos(x: DoubleDouble) -> DoubleDouble:
    """``cos(x)``, the sine a quarter of a turn further; see :func:`sin`.

    >>> from symattn.numbers.doubles import exact
    >>> cos(exact(np.zeros(1)))
    Doubles(high=array([1.]), low=array([0.]), error=array([0.]))
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

    >>> from symattn.numbers.doubles import exact
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
    return settled(sign * high, sign * low, np.where(x.hidden, np.inf, error))
