"""Exponentials and logarithms of double-doubles."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
from flint import arb

from symattn.numbers import words
from symattn.numbers.balls import precision
from symattn.numbers.doubles import (
    TINY,
    UP,
    DoubleDouble,
    add,
    exact,
    in_blocks,
    in_parts,
    multiply,
    negative,
    of_balls,
    settled,
)
from symattn.numbers.words import Array, two_sum

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
    at = np.clip(np.where(x.hidden, 0.0, x.high), -2 * _MOST, _MOST + 1)
    step = np.rint(at * (_ENTRIES / np.log(2.0)))
    high, low = two_sum(at - step * first, -step * second)
    t, more = two_sum(high, low + (np.where(x.hidden, 0.0, x.low) - step * third))
    tail = t * t
    tail = tail * tail * (1 / 24 + t * (1 / 120 + t * (1 / 720 + t * (1 / 5040 + t / 40320))))
    sixth = words.multiply(t, more, np.array(1 / 6), np.array(_SIXTH))
    series = words.add(np.array(0.5), np.array(0.0), *sixth)
    series = words.multiply(*series, *words.multiply(t, more, t, more))
    series = words.add(*series, tail, np.array(0.0))
    series = words.add(t, more, *series)
    whole = step.astype(np.int32)
    head, rest = (part[whole % _ENTRIES] for part in _powers())
    power = words.add(head, rest, *words.multiply(head, rest, *series))
    scale = whole // _ENTRIES
    high, low = words.fast_two_sum(*(np.ldexp(part, scale) for part in power))
    near = np.minimum(x.error, 1.0)
    # exp(e) - 1 <= e (1 + e) up to 1.
    share = np.where(x.error <= 1, near * (1 + near) + _EXP, np.inf)
    error = (high * share + TINY) * UP
    known = (x.high <= _MOST) & (x.high >= -_MOST)
    # Below, what is known is that it is next to nothing.
    below = (x.high < -_MOST) & (x.error <= 1)
    result = settled(high, low, np.where(known, error, np.inf))
    for part, off in ((below, TINY), (x.hidden, 0.0)):
        if part.any():
            high, low = np.where(part, 0.0, result.high), np.where(part, 0.0, result.low)
            result = DoubleDouble(high, low, np.where(part, off, result.error))
    return result


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
