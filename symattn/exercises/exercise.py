"""An exercise: a walkthrough as questions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from symattn.cases.case import Case
from symattn.solution.solution import Solution, solve

#: What an exercise can ask for: the forward pass, the same under a mask, the
#: gradients too, or why a formula holds.
LEVELS = ("forward", "masked", "backward", "proof")


@dataclass(frozen=True)
class Part:
    """One question: every entry of ``quantity``, a step or ``dL/d(name)``,
    rounded to ``places``; ``points`` for all of it."""

    quantity: str
    points: int
    places: int = 4

    @property
    def tolerance(self) -> Fraction:
        """How far an answer may be from the exact value: a unit of its last place.

        >>> Part("S", points=2, places=3).tolerance
        Fraction(1, 1000)
        """
        return Fraction(1, 10**self.places)


@dataclass(frozen=True)
class Exercise:
    """A case to be solved by hand; ``version`` counts the variants of one
    ``seed``, and 0 is the case as it is."""

    case: Case
    level: str
    parts: tuple[Part, ...]
    seed: int = 0
    version: int = 0

    @property
    def name(self) -> str:
        """What its files are called: the case's name, and the version's number."""
        return f"{self.case.name}-{self.version:02}" if self.version else self.case.name

    @cached_property
    def solution(self) -> Solution:
        """The exact answers."""
        return solve(self.case)
