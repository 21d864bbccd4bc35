"""The effort of work: the processor's time in units of a yardstick that is taken beside it.

A machine that is slow, or busy, is as slow with the yardstick: what is held to so many units
fails where work grows faster than it should, and nowhere else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from time import process_time
from typing import Any

_WORDS = " ".join(f"x{k} = {k} / {k + 1}," for k in range(400))


def effort(work: Callable[[], Any]) -> float:
    """The units that work takes; each a millisecond of a machine of 2026."""
    before = _yardstick()
    start = process_time()
    work()
    taken = process_time() - start
    return taken / max(before, _yardstick())


def _yardstick() -> float:
    """The processor's seconds that some reading, counting and reckoning takes, for one round."""
    start = process_time()
    for _ in range(_ROUNDS):
        found = re.findall(r"(\w+)\s*=\s*(\d+)\s*/\s*(\d+)", _WORDS)
        total = sum((Fraction(int(top), int(under)) for _, top, under in found[:100]), Fraction(0))
        assert Counter(name[0] for name, *_ in found) == {"x": 400}
        assert total > 90
    return (process_time() - start) / _ROUNDS


_ROUNDS = 20
