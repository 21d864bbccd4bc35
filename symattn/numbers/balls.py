"""Working precision of ball arithmetic (Arb, through python-flint).

Arb's precision is one global number; it is set and restored here and nowhere
else, under a lock, so that threads don't change each other's.

Counting the work on closed forms, so that it ends at its budget.

What would exceed that of one form raises :class:`Exceeded`, which only :mod:`.lazy`
catches: the number is then one without a closed form. What would exceed that of a whole
task, such as to decide a statement, raises :class:`Exhausted`, and is caught by who set it:
of the form that was under way nothing is known.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from flint import ctx

#: Bits to start with; 96 certify float64 for ordinary inputs.
FIRST = 128
#: Bits at which a digit, or a float, is given up as undecided.
LAST = 1 << 15

_lock = threading.RLock()


def growing(bits: int = FIRST, last: int = LAST) -> Iterator[int]:
    """Precisions to be tried one after the other, each four times that before.

    >>> list(growing(128, 2048))
    [128, 512, 2048]
    """
    while bits <= last:
        yield bits
        bits *= 4


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Ball arithmetic at ``bits`` bits inside the block.

    >>> from flint import arb
    >>> with precision(200):
    ...     close = arb(2).sqrt().rel_accuracy_bits() > 190
    >>> close
    True
    """
    with _lock:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


class Exceeded(Exception):
    """A closed form is beyond its budget."""


class Exhausted(Exception):
    """The budget of a whole task is spent."""


class _Meter(threading.local):
    """What is left of the budgets of the operation and of the task under way."""

    left: int | None = None
    task: int | None = None


_meter = _Meter()


@contextmanager
def _allowing(budget: str, products: int) -> Iterator[None]:
    before = getattr(_meter, budget)
    setattr(_meter, budget, products)
    try:
        yield
    finally:
        setattr(_meter, budget, before)


def spending(products: int) -> AbstractContextManager[None]:
    """A block that may form so many products.

    >>> with spending(100):
    ...     spend(60)
    ...     spend(60)
    Traceback (most recent call last):
    ...
    symattn.numbers.balls.Exceeded
    """
    return _allowing("left", products)


def task(products: int) -> AbstractContextManager[None]:
    """A block that may form so many products, whatever budgets its operations have.

    >>> with task(100), spending(80):
    ...     spend(60)
    >>> with task(100):
    ...     for _ in range(2):
    ...         with spending(80):
    ...             spend(60)
    Traceback (most recent call last):
    ...
    symattn.numbers.balls.Exhausted
    """
    return _allowing("task", products)


def remaining() -> int:
    """Return what the task under way may still spend; below 0 where it wanted more."""
    return _meter.task or 0


def charge(work: int) -> None:
    """Count other work of the task under way as so many products; of no operation's budget."""
    if _meter.task is not None:
        _meter.task -= work
        if _meter.task < 0:
            raise Exhausted


def spend(products: int) -> None:
    """Count products that are about to be formed."""
    charge(products)
    if _meter.left is not None:
        _meter.left -= products
        if _meter.left < 0:
            raise Exceeded
