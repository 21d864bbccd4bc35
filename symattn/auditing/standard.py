"""The standard that a printed figure is judged by: what it must be to hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from flint import arb, fmpq

from symattn.errors import Undecided
from symattn.limits import PLACES
from symattn.numbers import rounding
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.rationals import MINUS_INFINITY, PrintedNumber
from symattn.numbers.rounding import RoundingMode
from symattn.numbers.values import Value
from symattn.solution.entries import EntryValue
from symattn.verdicts import Verdict

#: Why a figure that holds says less than it seems to, '' where it doesn't: a
#: coarse one is a bare whole number, taken for exact, of a value that is not
#: whole; a vacuous one has so few digits, or operands of so few, that almost
#: anything would hold.
Detail = Literal["", "coarse", "vacuous"]


@dataclass(frozen=True)
class Judgement:
    """What is said of one printed figure.

    ``correct`` is the right figure in the places and the style of the printed
    one; of a coarse figure in the places of those beside it, at least one; of one
    within rounding, what its operands come to as they are printed.
    ``off`` is how many units of its last place a figure is too large (None
    where it is no number). One that is ``within_rounding`` is not what its operands
    come to as they are printed, but what they may have come to before they were
    rounded to that.
    """

    verdict: Verdict
    correct: str
    off: int | None = None
    detail: Detail = ""
    within_rounding: bool = False


@dataclass(frozen=True)
class Standard:
    """What a document promises of its figures: a rounding, or a tolerance."""

    mode: RoundingMode = "half-even"
    tolerance: fmpq | None = None

    def judge(
        self,
        entry: EntryValue,
        printed: PrintedNumber | None,
        places: int = 0,
        reach: Callable[[], arb | None] = lambda: None,
    ) -> Judgement:
        """The verdict of a figure, and what is correct at its places; None is
        printed for a masked score. The finest figure beside it has ``places``.

        ``reach`` gives all that a figure of mere numbers may be, as these may have
        been rounded; None where it is what they come to.
        """
        masked = entry.is_hidden
        if masked or printed is None:
            same = masked and printed is None
            correct = MINUS_INFINITY if masked else str(entry.value)
            return Judgement(Verdict.HOLDS if same else Verdict.REFUTED, correct)
        verdict = self.verdict(entry, printed)
        try:
            count = correct_count(entry, printed, self.mode)
        except Undecided:
            return Judgement(verdict, "")
        off = printed.count - count
        detail = self._detail(entry.value, printed) if verdict is Verdict.HOLDS else ""
        if verdict is not Verdict.HOLDS or detail == "coarse":
            near = reach()
            if near is not None and self._may_be(near, printed, is_exact=detail == "coarse"):
                little = not detail and printed.digits <= 1
                detail = "vacuous" if little or _is_wide(near, printed) else ""
                text = printed.shown_as(count) if off else self._finer(entry, max(places, 1))
                return Judgement(Verdict.HOLDS, text, off, detail, within_rounding=True)
        if detail == "coarse":
            return Judgement(verdict, self._finer(entry, max(places, 1)), off, detail)
        # Of an exact tie either neighbour is right.
        kept = verdict is Verdict.HOLDS and self.tolerance is None
        correct = printed.text if kept else printed.shown_as(count)
        return Judgement(verdict, correct, off, detail)

    def _detail(self, value: Value, printed: PrintedNumber) -> Detail:
        # Who knows of a tolerance takes no figure for exact.
        if self.tolerance is None and is_coarse(value, printed):
            return "coarse"
        return "vacuous" if is_vacuous(value, printed) else ""

    def _finer(self, entry: EntryValue, places: int) -> str:
        """The right figure with so many places, '' where that is undecided."""
        try:
            return f"{rounding.decimal(entry, places, self.mode):f}"
        except Undecided:
            return ""

    def _may_be(self, near: arb, printed: PrintedNumber, is_exact: bool) -> bool:
        """Whether something in ``near`` would be printed so; ``is_exact``: is that itself."""
        if not near.is_finite():
            return True
        part = 2 if self.mode.startswith("half") else 1
        room = printed.unit / part if self.tolerance is None else self.tolerance
        with precision(FIRST):
            return not abs(near - arb(printed.value)) > (0 if is_exact else arb(room))

    def verdict(self, real: rounding.Real, printed: PrintedNumber) -> Verdict:
        """Whether a figure holds.

        It does when the exact value rounds to it at its printed places; on an
        exact tie either neighbour holds. A declared directed rounding must
        give the figure itself; a declared tolerance is the largest distance.
        """
        try:
            if self.tolerance is not None:
                return _within(real, printed.value, self.tolerance)
            if self.mode.startswith("half"):
                return _within(real, printed.value, printed.unit / 2)
            same = correct_count(real, printed, self.mode) == printed.count
            return Verdict.HOLDS if same else Verdict.REFUTED
        except Undecided:
            return Verdict.UNDECIDED


def _within(real: rounding.Real, centre: fmpq, distance: fmpq) -> Verdict:
    """Whether ``|real - centre| <= distance``, decided exactly at the ends; :class:`Undecided`
    where they can't be told from the number."""
    for bits in (FIRST, 4 * FIRST):
        with precision(bits):
            gap = abs(real.ball(bits) - arb(centre)) - arb(distance)
        if gap < 0:
            return Verdict.HOLDS
        if gap > 0:
            return Verdict.REFUTED
    low, high = ((real.value - end).sign() for end in (centre - distance, centre + distance))
    return Verdict.HOLDS if low >= 0 >= high else Verdict.REFUTED


def correct_count(real: rounding.Real, printed: PrintedNumber, mode: RoundingMode) -> int:
    """The exact value in units of the figure's last place, correctly rounded."""
    return rounding.to_integer(real, 1 / printed.unit, mode)


def places_of(figures: Iterable[PrintedNumber | None]) -> int:
    """How many decimal places the finest of printed figures has.

    >>> from symattn.numbers.rationals import read_printed
    >>> places_of(map(read_printed, ["3", "0.25", "12.5 %", "-inf"]))
    3
    """
    units = [figure.unit for figure in figures if figure is not None]
    return min(max((len(str(unit.q)) - 1 for unit in units), default=0), PLACES.most)


def is_truncated(real: rounding.Real, printed: PrintedNumber) -> bool:
    """Whether the figure is known to be the exact value cut off behind its last place."""
    try:
        return correct_count(real, printed, "down") == printed.count
    except Undecided:
        return False


def is_coarse(value: Value, printed: PrintedNumber) -> bool:
    """Whether a bare whole number is printed of a value that certainly is not that."""
    return printed.is_bare and (value - printed.value).is_zero() is Verdict.REFUTED


def _is_wide(near: arb, printed: PrintedNumber) -> bool:
    """Whether a ball leaves not even the first digit of a figure certain."""
    if not near.is_finite():
        return True
    first = printed.unit * fmpq(10) ** (printed.digits - 1)
    with precision(FIRST):
        return not 2 * near.rad() < arb(first)


def is_vacuous(value: Value, printed: PrintedNumber) -> bool:
    """Whether so few digits are printed that almost anything would pass:
    one or none, of a value that is not exactly what is printed."""
    return printed.digits <= 1 and (value - printed.value).is_zero() is not Verdict.HOLDS
