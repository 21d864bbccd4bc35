"""Points: what each answer is worth, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from symattn.errors import Malformed, SymattnError
from symattn.numbers.reading import read
from symattn.tables.entries import table, unknown

if TYPE_CHECKING:
    from symattn.exercises.exercise import Part
    from symattn.exercises.marking.judging import JudgedScript, Mark, Outcome

#: What can be set: all that is neither right nor no answer at all.
_SET = ("early", "follows", "slip", "wrong")


@dataclass(frozen=True)
class Scheme:
    """The part of its points that an answer gets which is not right: rounded too
    early, following from an earlier slip, a slip that can be named, wrong.

    What is right gets all, and what is blank or no number nothing.
    """

    early: Fraction = Fraction(3, 4)
    follows: Fraction = Fraction(1)
    slip: Fraction = Fraction(1, 2)
    wrong: Fraction = Fraction(0)

    @property
    def table(self) -> dict[str, str]:
        """The table that says this.

        >>> Scheme().table["early"]
        '3/4'
        """
        return {name: str(getattr(self, name)) for name in _SET}

    def worth(self, outcome: Outcome) -> Fraction:
        """The part of its points that an answer gets.

        >>> Scheme().worth("slip"), Scheme().worth("right"), Scheme().worth("blank")
        (Fraction(1, 2), Fraction(1, 1), Fraction(0, 1))
        """
        if outcome in _SET:
            share: Fraction = getattr(self, outcome)
            return share
        return Fraction(outcome == "right")

    def of_part(self, part: Part, marks: tuple[Mark, ...]) -> Fraction:
        """The points of a part: each of its answers is worth the same."""
        return sum((self.worth(mark.outcome) for mark in marks), Fraction(0)) * Fraction(
            part.points, len(marks)
        )

    def of(self, judged: JudgedScript) -> Fraction:
        """The points of a script."""
        return sum((self.of_part(part, marks) for part, marks in judged.parts), Fraction(0))


#: The scheme where nothing else is said.
DEFAULT = Scheme()


def most(judged: JudgedScript) -> int:
    """The points that there are."""
    return sum(part.points for part, _ in judged.parts)


def read_scheme(entry: object) -> Scheme:
    """The scheme of a table; what it leaves out is as it is by default.

    Raises :class:`Malformed` with every fault.

    >>> read_scheme({"slip": "1/3", "early": Decimal("0.5")}).slip
    Fraction(1, 3)
    >>> read_scheme({"slip": 2, "erly": 0})
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: 2 faults
      erly: unknown key 'erly': did you mean early?
      slip: expected a share from 0 to 1, found 2
    """
    stated: Mapping[str, object] = table(entry)
    faults = unknown(stated, _SET)
    parts: dict[str, Fraction] = {}
    for key in _SET:
        if key in stated:
            with faults.inside(key):
                parts[key] = _part(stated[key])
    faults.raise_all()
    return Scheme(**parts)


def _part(raw: object) -> Fraction:
    try:
        number = read(raw).rational()
    except SymattnError:
        number = None
    if number is None or isinstance(raw, bool) or not 0 <= number <= 1:
        raise Malformed(f"expected a share from 0 to 1, found {raw}")
    return Fraction(int(number.p), int(number.q))


def points_text(points: Fraction) -> str:
    """Points as people read them: to two places, without final zeros.

    >>> points_text(Fraction(15, 2)), points_text(Fraction(22, 3)), points_text(Fraction(4))
    ('7.5', '7.33', '4')
    """
    hundredths = points * 100
    rounded = Decimal((2 * hundredths.numerator + hundredths.denominator)
                      // (2 * hundredths.denominator)).scaleb(-2)  # fmt: skip
    return f"{rounded.normalize() if rounded % 1 else rounded.to_integral_value():f}"
