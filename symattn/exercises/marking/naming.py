"""Naming: which slip gives the wrong answers of a part.

Each slip that may show in a part (:func:`symattn.exercises.faults.suspects`) is computed: from the
exact numbers before it, or else from those that the student wrote down. Wrong answers that it gives
are evidence for it, the more the further they are from the right ones; it costs its price, that of
its number among those of its kind, and what it contradicts. All this is counted in whole numbers,
quarters of a bit, so that a page counts as marking does (the script ``judging.js``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, log2
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from flint import arb, fmpq

from symattn.auditing.edits import floating
from symattn.exercises.exercise import Exercise, Part
from symattn.exercises.faults import InjectedFault, suspects
from symattn.exercises.marking.follow_through import FollowThrough, Steps
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.rationals import PrintedNumber
from symattn.programs.enclosures import Matrix
from symattn.programs.nodes import Node, ancestors
from symattn.slips.catalogue import KINDS

Flags = npt.NDArray[np.bool_]


class Weighing(NamedTuple):
    """The numbers that slips are weighed by, in quarters of a bit: what an answer says at
    ``least``, at ``most``, and at most ``alone``; what a slip must say beyond its cost (the
    ``gate``), how far it must be ``ahead`` of others, and what a right answer costs that is
    ``broken``, or a wrong one that is changed to no avail (``missed``).
    """

    least: int = 8
    most: int = 64
    alone: int = 40
    gate: int = 16
    ahead: int = 8
    broken: int = 16
    missed: int = 4


WEIGHING = Weighing()
#: Floats are sure of what is further from a bound than so many parts of it.
_SURE = 1e-9


class Answer(NamedTuple):
    """An answer that is right, or wrong in itself: where it stands, None for a masked score."""

    i: int
    j: int
    printed: PrintedNumber | None
    is_wrong: bool

    @property
    def number(self) -> float:
        """The answer as a float."""
        return -inf if self.printed is None else floating(self.printed.value)


@dataclass(frozen=True)
class NamedSlip:
    """The slip behind wrong answers of a part, those it gives, and others that give the same.

    ``bits`` are quarters; it ``is_sure`` where people often make it, all wrong answers come of
    it, and no right one contradicts it.
    """

    fault: InjectedFault
    bits: int
    is_sure: bool
    gives: tuple[Answer, ...]
    rivals: tuple[InjectedFault, ...]

    @property
    def strength(self) -> tuple[bool, int]:
        """Return how it compares with others: what is sure is the better one."""
        return self.is_sure, self.bits


class SlipSearch:
    """Looks for slips in the answers of one version of an exercise."""

    def __init__(self, exercise: Exercise) -> None:
        self._exercise = exercise
        self._named = exercise.case.program.named
        self._truth = FollowThrough(exercise.solution)
        self._exact = self._truth.in_floats()
        self._predicted: dict[str, dict[InjectedFault, Matrix]] = {}

    @cached_property
    def of_parts(self) -> Mapping[str, tuple[tuple[InjectedFault, int], ...]]:
        """The slips that may be made in each part, and what each costs."""
        known, found = suspects(self._exercise), {}
        asked = {self._named[part.quantity].serial for part in self._exercise.parts}
        for part in self._exercise.parts:
            # It is made behind the parts that this one is computed from.
            own = self._named[part.quantity]
            steps = ancestors([own], stop=lambda x, own=own: x is not own and x.serial in asked)  # type: ignore[misc]
            here = {x.serial for x in steps}
            shown = [fault for fault in known if fault.instead.keys() <= here]
            counts = Counter(fault.kind for fault in shown)
            found[part.quantity] = tuple(
                (fault, round(4 * (KINDS[fault.kind].price + log2(counts[fault.kind]))))
                for fault in shown
            )
        return found

    def named(
        self,
        part: Part,
        answers: Sequence[Answer],
        own: FollowThrough,
        before: Sequence[InjectedFault],
        missing: Container[str],
    ) -> NamedSlip | None:
        """The slip that gives the wrong answers of a part, if one can be named.

        ``own`` has the student's own numbers in it, ``before`` are the slips that were named in
        parts before, which cost nothing again; what is made in parts that are ``missing``,
        as they were not answered whole, may show here.
        """
        serial = self._named[part.quantity].serial
        first = [part.quantity, *(x for x in self.of_parts if x != part.quantity and x in missing)]
        again = {fault.key for fault in before}
        known = [(fault, 0) for fault in before if serial in fault.reached]
        known += [
            (fault, 0 if fault.key in again else cost)
            for name in first
            for fault, cost in self.of_parts[name]
            if serial in fault.reached
        ]
        if not known:
            return None
        weighed = _Weighed(part, answers, self._truth.computed(part.quantity))
        faults, costs = [fault for fault, _ in known], np.array([cost for _, cost in known])
        node = self._named[part.quantity]
        exactly = self._exactly(part.quantity, faults)
        found = weighed.best(faults, costs, exactly, self._exact[node], self._truth)
        if found is None or not found.is_sure:
            steps = own.in_floats()
            other = weighed.best(faults, costs, _values(steps, node, faults), steps[node], own)
            if found is None or (other is not None and other.strength > found.strength):
                return other
        return found

    def _exactly(self, name: str, faults: Sequence[InjectedFault]) -> Matrix:
        """Return what a part is by each of some slips, from exact numbers."""
        known = self._predicted.setdefault(name, {})
        if missing := [fault for fault in faults if fault not in known]:
            values = _values(self._exact, self._named[name], missing)
            known |= zip(missing, values, strict=True)
        return np.array([known[fault] for fault in faults])


def _values(steps: Steps[Matrix], node: Node, faults: Sequence[InjectedFault]) -> Matrix:
    """Return what a step is by each of some slips: those of one place together."""
    values, places = np.empty((len(faults), *node.grid), np.longdouble), defaultdict(list)
    for k, fault in enumerate(faults):
        places[tuple(fault.instead)].append(k)
    for place, those in places.items():
        if len(place) == 1:
            stack = np.array([steps.instead(faults[k]) for k in those])
            values[those] = steps.slipped(faults[those[0]], stack)[node]
        else:
            values[those] = [steps.slipped(faults[k])[node] for k in those]
    return values  # type: ignore[return-value]


class _Weighed:
    """Answers of a part, weighed."""

    def __init__(
        self, part: Part, answers: Sequence[Answer], right: Sequence[Sequence[arb | None]]
    ) -> None:
        self._part, self._answers = part, answers
        self._rows, self._columns = [x.i for x in answers], [x.j for x in answers]
        self._wrong = np.array([x.is_wrong for x in answers])
        self._numbers = np.array([x.number for x in answers])
        self._written = [None if x.printed is None else x.printed.value for x in answers]
        self._bits = np.array([_bits(x.printed, right[x.i][x.j]) for x in answers])

    def best(
        self,
        faults: Sequence[InjectedFault],
        costs: npt.NDArray[np.int64],
        values: Matrix,
        right: Matrix,
        track: FollowThrough,
    ) -> NamedSlip | None:
        """The best of some slips, if it is good enough and nothing else is nearly as good;
        ``values`` are what the part is by each, ``right`` what it is without."""
        at = (..., self._rows, self._columns)
        predicted, base = values[at], right[at]
        given, given_sure = self._near(predicted, self._numbers)
        same, same_sure = self._near(predicted, base)
        may_be = ((given | ~given_sure) & self._wrong).any(axis=1)
        for k in np.flatnonzero(may_be & ~(given_sure & same_sure).all(axis=1)):
            given[k], same[k] = self._exactly_near(faults[int(k)], track)
        explained, missed = given & self._wrong, ~given & self._wrong & ~same
        broken = ~given & ~self._wrong & ~same
        said = explained @ self._bits
        found, lost, wrong = (x.sum(axis=1) for x in (explained, missed, broken))
        said = np.where(found == 1, np.minimum(said, WEIGHING.alone), said) - costs
        # A number that is written many times is one piece of evidence for what is rare.
        once = np.array([self._once(row) for row in explained]) - costs
        against = WEIGHING.broken * wrong + WEIGHING.missed * lost
        bits = np.minimum(said, once) - against
        is_whole = (found == self._wrong.sum()) & (wrong == 0)
        # A single sign may be one of the pen.
        is_usual = np.array([fault.pieces is not None for fault in faults])
        is_usual |= np.array([KINDS[fault.kind].by_hand for fault in faults]) & (found > 1)
        passes = (bits >= WEIGHING.gate) & (10 * found >= 6 * (found + lost))
        passes &= 10 * wrong <= found + lost
        is_sure = is_whole & is_usual & (said > 0)
        passing = np.flatnonzero((found > 0) & (passes | is_sure)).tolist()
        if not passing:
            return None
        first = max(passing, key=lambda k: (is_sure[k], bits[k]))
        near = [
            k
            for k in np.flatnonzero(found > 0).tolist()
            if k != first
            and bits[k] > bits[first] - WEIGHING.ahead
            and (explained[k] & explained[first]).any()
        ]
        alike = [k for k in near if np.array_equal(explained[k], explained[first])]
        if len(alike) < len(near) and not is_sure[first]:
            return None
        return NamedSlip(
            faults[first],
            int(bits[first]),
            bool(is_sure[first]),
            tuple(x for x, gives in zip(self._answers, explained[first], strict=True) if gives),
            tuple(faults[k] for k in alike if faults[k].key != faults[first].key),
        )

    def _once(self, explained: Flags) -> int:
        """Return what the numbers say that are explained, each once."""
        once: dict[object, int] = {}
        for k in np.flatnonzero(explained):
            once.setdefault(self._written[k], int(self._bits[k]))
        return sum(once.values())

    def _near(self, predicted: Matrix, numbers: Matrix) -> tuple[Flags, Flags]:
        """Return what is within a unit of numbers, and of what floats are sure."""
        unit = 10.0**-self._part.places
        with np.errstate(all="ignore"):
            off = np.where(predicted == numbers, 0.0, np.abs(predicted - numbers))
            near = off <= unit
            sure = ~(np.abs(off - unit) <= _SURE * (1 + np.abs(predicted)))
        return near, sure

    def _exactly_near(self, fault: InjectedFault, track: FollowThrough) -> tuple[Flags, Flags]:
        """The same by balls: which answers a slip gives, and which it leaves as they are."""
        name, unit = self._part.quantity, fmpq(1, 10**self._part.places)
        base, slipped = track.computed(name), track.computed(name, fault)
        with precision(FIRST):
            written = [None if x is None else arb(x) for x in self._written]
            answered = zip(self._answers, written, strict=True)
            given = [_is_near(slipped[x.i][x.j], number, unit) for x, number in answered]
            same = [_is_near(slipped[x.i][x.j], base[x.i][x.j], unit) for x in self._answers]
        return np.array(given), np.array(same)


def _is_near(x: arb | None, y: arb | None, unit: fmpq) -> bool:
    if x is None or y is None:
        return x is y
    return bool(x.is_finite() and y.is_finite()) and not abs(x - y) > unit


def _bits(printed: PrintedNumber | None, right: arb | None) -> int:
    """Return what it says that a slip gives a wrong answer, by how many units of its last digit
    that is off, or from 0 where a score is masked: final zeros tell nothing."""
    if printed is None:
        return WEIGHING.least
    digits = str(abs(printed.count))
    zeros = len(digits) - len(digits.rstrip("0")) if printed.count else 0
    with precision(FIRST):
        off = arb(printed.value) - (0 if right is None else right.mid())
        off = 2 * abs(off) / (printed.unit * 10**zeros) + 1 + _SURE
        size = int(off.mid().floor().unique_fmpz()) if off.is_finite() else 1
    return min(max(4 * (size.bit_length() - 1), WEIGHING.least), WEIGHING.most)
