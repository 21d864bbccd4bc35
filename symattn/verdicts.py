"""The answer of a check: three-valued, so that "unknown" is never "false"."""

from __future__ import annotations

from enum import Enum
from typing import NoReturn


class Verdict(Enum):
    """``holds``, ``refuted`` or ``undecided``.

    A verdict has no truth value: asking for one raises, so a refuted check
    can't be dropped by a careless ``if``.

    >>> Verdict.HOLDS is Verdict.HOLDS
    True
    >>> str(Verdict.REFUTED)
    'refuted'
    >>> bool(Verdict.REFUTED)
    Traceback (most recent call last):
    ...
    TypeError: a verdict is not a bool: compare it, as in 'verdict is Verdict.HOLDS'
    """

    HOLDS = "holds"
    REFUTED = "refuted"
    UNDECIDED = "undecided"

    def __str__(self) -> str:
        return self.value

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict is not a bool: compare it, as in 'verdict is Verdict.HOLDS'")
