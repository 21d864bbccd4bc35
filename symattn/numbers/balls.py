"""Working precision of ball arithmetic (Arb, through python-flint).

Arb's precision is one global number; it is set and restored here and nowhere
else, under a lock, so that threads don't change each other's.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from flint import ctx

#: Bits to start with; 96 certify float64 for ordinary inputs.
FIRST = 128
#: Bits at which a digit of an opaque number is given up as undecided.
LAST = 1 << 13

_lock = threading.RLock()


def growing(bits: int = FIRST, last: int = 4 * LAST) -> Iterator[int]:
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
