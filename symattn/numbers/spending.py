"""Counting the work on a closed form, so that it ends at its budget.

What would exceed it raises :class:`Exceeded`, which only :mod:`.recipes`
catches: the number is then one without a closed form.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


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
    symattn.numbers.spending.Exceeded
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
