"""What closed forms may cost: every number has digits, not every one has a short form.

A budget is counted in work, not in time, so the same number has the same form
on every machine. What would exceed it raises :class:`Exceeded`, which only
:mod:`.recipes` catches: the number is then one without a closed form.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """Limits of one closed form.

    ``size`` counts its terms;
    ``products`` the products of two terms that one operation forms on the way;
    ``bits`` the digits of a coefficient.
    """

    size: int
    products: int
    bits: int


#: Closed forms that are shown, with what stands under roots and inside
#: functions: longer ones nobody reads.
SHOWN = Budget(size=200, products=5_000, bits=2_048)
#: Closed forms that only decide a question (is it zero?) and are not shown;
#: in them, a number whose own is beyond the budget stands for itself. The
#: first is for questions that every entry of a large quantity may ask.
QUICK = Budget(size=100, products=1_000, bits=1 << 18)
DECIDING = Budget(size=20_000, products=400_000, bits=1 << 18)
#: From the smallest to the largest.
LEVELS = (SHOWN, QUICK, DECIDING)

#: Bits up to which a quick question is pursued.
QUICK_BITS = 512

#: Most products that are formed to bring a sum over one denominator, to decide
#: whether it is zero.
MAX_EXPANSION = 400_000

#: Largest number under a root whose square factors are looked for: FLINT finds
#: those of 40 digits in some 30 ms.
MAX_RADICAND = 10**40

#: Rational numbers with more bits are not worked out, but kept as recipes.
MAX_RATIONAL = 1 << 18

#: Largest power that is worked out.
MAX_POWER = 1000

#: Operations times bits that one enclosure may cost: some seconds.
MAX_ENCLOSURE = 1 << 24


class Exceeded(Exception):
    """A closed form is beyond its budget."""


class _Meter(threading.local):
    """What is left of the budget of the operation under way."""

    left: int | None = None


_meter = _Meter()


@contextmanager
def spending(products: int) -> Iterator[None]:
    """A block that may form so many products.

    >>> with spending(100):
    ...     spend(60)
    ...     spend(60)
    Traceback (most recent call last):
    ...
    symattn.numbers.budgets.Exceeded
    """
    before, _meter.left = _meter.left, products
    try:
        yield
    finally:
        _meter.left = before


def spend(products: int) -> None:
    """Count products that are about to be formed."""
    if _meter.left is not None:
        _meter.left -= products
        if _meter.left < 0:
            raise Exceeded
