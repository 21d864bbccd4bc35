"""The answer of a check: three-valued, so that "unknown" is never "false"."""

from __future__ import annotations

from collections.abc import Iterable
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

    @property
    def negated(self) -> Verdict:
        """The verdict on the contrary.

        >>> Verdict.HOLDS.negated
        <Verdict.REFUTED: 'refuted'>
        """
        if self is Verdict.UNDECIDED:
            return self
        return Verdict.HOLDS if self is Verdict.REFUTED else Verdict.REFUTED

    @staticmethod
    def all(verdicts: Iterable[Verdict]) -> Verdict:
        """``refuted`` as soon as one is, else ``undecided`` if any is, else ``holds``.

        >>> Verdict.all([Verdict.HOLDS, Verdict.UNDECIDED])
        <Verdict.UNDECIDED: 'undecided'>
        """
        outcome = Verdict.HOLDS
        for verdict in verdicts:
            if verdict is Verdict.REFUTED:
                return verdict
            if verdict is Verdict.UNDECIDED:
                outcome = verdict
        return outcome
