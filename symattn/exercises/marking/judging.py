"""Judging: what each answer of a student is, and why.

An answer is right within the tolerance of its part. Of the others the first that fits is said:
rounded too early (right, but to fewer places than asked; or what comes of right numbers that were
rounded on the way), following (what comes of the student's own earlier answers, some of them
wrong), a slip that the audit can name or that is common, wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from flint import arb, fmpq

from symattn.auditing.standard import Recipes, Standard, correct_count, is_truncated
from symattn.errors import Malformed, Undecided
from symattn.exercises.exercise import Exercise, Part
from symattn.exercises.marking.collecting import (
    Blank,
    JudgedScript,
    Mark,
    MarkedSlip,
    Outcome,
    Script,
)
from symattn.exercises.marking.follow_through import FollowThrough
from symattn.exercises.marking.naming import Answer, NamedSlip, SlipSearch
from symattn.languages.sentence import Sentence
from symattn.numbers import rounding
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.rationals import MINUS_INFINITY, PrintedNumber
from symattn.slips.catalogue import pen_slips, phrase, together
from symattn.solution.entries import EntryValue
from symattn.verdicts import Verdict

#: So many units may rounding every step move a result that is still said to be just rounded.
FEW = 20
#: Nothing follows from numbers that are larger: a page that judges holds no more.
_LARGEST = 10**40


class Examiner:
    """Judges the scripts of one version of an exercise.

    >>> from symattn.exercises.marking.collecting import read_answer
    >>> from symattn.cases.library import load
    >>> asked = Exercise(load("cat-sat-mat"), "forward", (Part("S", 2), Part("T", 1)))
    >>> script = Script("Ada", 0, {Blank("S", 0, 1): read_answer("4"),
    ...                            Blank("T", 0, 1): read_answer("2.00")})
    >>> [(mark.label, mark.outcome) for mark in Examiner(asked).judged(script).marks if mark.text]
    [('S[0, 1]', 'wrong'), ('T[0, 1]', 'follows')]
    """

    def __init__(self, exercise: Exercise) -> None:
        if exercise.is_proof:
            raise Malformed("its parts are proofs, which only people can mark")
        self.exercise = exercise
        self.solution = exercise.solution
        self.nodes = self.solution.program.named
        self.recipes = Recipes(self.solution)
        #: The parts, each after those that it is computed from.
        self.in_order = sorted(exercise.parts, key=lambda part: self.nodes[part.quantity].serial)
        self._asked = {self.nodes[part.quantity].serial: part.quantity for part in self.in_order}
        self._sources: dict[Blank, tuple[Blank, ...]] = {}
        # Every step rounded to the places that are asked for, as a careful student does.
        self._rounded = FollowThrough(self.solution, max(part.places for part in self.in_order))

    def judged(self, script: Script) -> JudgedScript:
        """Return what every answer of a script is."""
        marks = _Judging(self, script).marks()
        parts = tuple(
            (part, tuple(marks[blank] for blank in self.blanks(part)))
            for part in self.exercise.parts
        )
        return JudgedScript(script, parts)

    def blanks(self, part: Part) -> Iterator[Blank]:
        """The blanks of a part, row by row."""
        rows, columns = self.nodes[part.quantity].grid
        return (Blank(part.quantity, i, j) for i in range(rows) for j in range(columns))

    def entry(self, blank: Blank) -> EntryValue:
        """The exact answer."""
        return EntryValue(self.solution[blank.quantity], blank.i, blank.j)

    @cached_property
    def labels(self) -> dict[str, list[list[str]]]:
        """Of each part what its entries are called."""
        return {part.quantity: self.exercise.labels(part) for part in self.in_order}

    @cached_property
    def search(self) -> SlipSearch:
        """Return what looks for slips in answers."""
        return SlipSearch(self.exercise)

    @cached_property
    def rounded(self) -> dict[str, list[list[arb | None]]]:
        """Of each part all that a careful student may have got."""
        return {part.quantity: self._rounded.computed(part.quantity) for part in self.in_order}

    def sources(self, blank: Blank) -> tuple[Blank, ...]:
        """The blanks that an entry is computed from, with no other blank in between."""
        if blank not in self._sources:
            sources: dict[Blank, None] = {}
            for definition in self.recipes.definitions(*blank):
                for term in definition.inside():
                    if term.op == "entry":
                        name, i, j = term.parts
                        asked = self._asked.get(self.nodes[name].serial)
                        below = Blank(asked or name, i, j)
                        sources |= dict.fromkeys([below] if asked else self.sources(below))
            self._sources[blank] = tuple(sources)
        return self._sources[blank]


class _Judging:
    def __init__(self, examiner: Examiner, script: Script) -> None:
        self._examiner = examiner
        self._script = script
        self._printed: dict[Blank, PrintedNumber | None] = {}
        self._outcomes: dict[Blank, Outcome] = {}
        self._fewer: set[Blank] = set()
        #: The slips that were named, by their keys, and which each answer comes of.
        self._named: dict[object, list[NamedSlip]] = {}
        self._of_slip: dict[Blank, object] = {}
        self._slips: dict[object, MarkedSlip] = {}
        # On from all answers, as they stand and as they may have been before they were
        # rounded; and on from those only that are right as far as they go.
        places = max(part.places for part in examiner.in_order)
        # What is large cancels against what is large.
        printed = [answer.printed for answer in script.answers.values() if answer.printed]
        sizes = (max(x.value.p.bit_length(), x.value.q.bit_length()) for x in printed)
        self._bits = FIRST + 4 * max(sizes, default=0)
        self._own, self._sound, self._loose = (
            FollowThrough(examiner.solution, rounded, self._bits)
            for rounded in (None, None, places)
        )

    def marks(self) -> dict[Blank, Mark]:
        for part in self._examiner.in_order:
            self._judge(part)
        for part in self._examiner.in_order:
            self._name(part)
        self._slips = {key: self._slip(key) for key in self._named}
        return {
            blank: self._mark(part, blank)
            for part in self._examiner.in_order
            for blank in self._examiner.blanks(part)
        }

    def _judge(self, part: Part) -> None:
        name = part.quantity
        tracks = (self._sound, self._own, self._loose)
        ways = [*(track.computed(name) for track in tracks), self._examiner.rounded[name]]
        for blank in self._examiner.blanks(part):
            if blank not in self._script.answers:
                self._outcomes[blank] = "unread" if blank in self._script.unread else "blank"
                continue
            entry = self._examiner.entry(blank)
            printed = _taken(self._script.answers[blank].printed, part)
            outcome, fewer = self._outcome(part, blank, entry, printed, ways)
            self._printed[blank] = printed
            self._outcomes[blank] = outcome
            if fewer:
                self._fewer.add(blank)
        self._put(part)

    def _outcome(
        self,
        part: Part,
        blank: Blank,
        entry: EntryValue,
        printed: PrintedNumber | None,
        ways: Sequence[Sequence[Sequence[arb | None]]],
    ) -> tuple[Outcome, bool]:
        """Return what an answer is, but for slips; and whether it only has too few places.

        The ``ways`` are what a step makes of sound answers, of the student's own, of these as they
        may have been before they were rounded, and of right numbers each rounded as was asked.
        """
        sound, own, loose, rounded = (way[blank.i][blank.j] for way in ways)
        if printed is None or entry.is_masked:
            if printed is None and entry.is_masked:
                return "right", False
            return ("follows" if printed is None and own is None else "wrong"), False
        tolerance = fmpq(part.tolerance.numerator, part.tolerance.denominator)
        standard = Standard(self._examiner.exercise.case.rounding, tolerance)
        # Who can't be refuted is right.
        if standard.verdict(entry, printed) is not Verdict.REFUTED:
            return "right", False
        tells = printed.unit <= _half(part)
        for shorter in (x for x in _shorter(printed) if x.unit <= _half(part)):
            rounds = Standard().verdict(entry, shorter) is Verdict.HOLDS
            if rounds or is_truncated(entry, shorter):
                return "early", True
        with precision(self._bits):
            reach = arb(max(tolerance, printed.unit / 2) if tells else tolerance)
            near = _Near(arb(printed.value), reach, entry.ball(self._bits))
            if near.comes_of(sound) or near.is_in(rounded):
                return "early", False
            if near.comes_of(own) or near.tells(loose):
                return "follows", False
        return "wrong", False

    def _put(self, part: Part) -> None:
        """Let the answers stand in what is computed on."""
        own: dict[tuple[int, int], arb | None] = {}
        loose: dict[tuple[int, int], arb | None] = {}
        sound: dict[tuple[int, int], arb | None] = {}
        for blank in self._examiner.blanks(part):
            if blank not in self._printed:
                continue
            place, printed = (blank.i, blank.j), self._printed[blank]
            with precision(self._bits):
                own[place] = loose[place] = None if printed is None else arb(printed.value)
                if printed and abs(printed.value) > _LARGEST:
                    own[place] = loose[place] = arb.nan()
                elif printed and printed.value:
                    loose[place] = arb(arb(printed.value).mid(), arb(printed.unit / 2))
            if self._outcomes[blank] in ("right", "early"):
                sound[place] = own[place]
        self._own.put(part.quantity, own)
        self._loose.put(part.quantity, loose)
        self._sound.put(part.quantity, sound)

    def _name(self, part: Part) -> None:
        """Name the slip that gives the answers of a part that are wrong in themselves.

        A slip counts once, where it shows first: what it makes of later quantities follows.
        """
        left = [
            (blank, self._outcomes[blank] == "wrong")
            for blank in self._examiner.blanks(part)
            if self._outcomes[blank] in ("right", "wrong")
        ]
        if not any(is_wrong for _, is_wrong in left):
            return
        answers = [
            Answer(blank.i, blank.j, self._printed[blank], is_wrong) for blank, is_wrong in left
        ]
        before = [found.fault for same in self._named.values() for found in same]
        search = self._examiner.search
        if found := search.named(part, answers, self._own, before, self._missing):
            key = found.fault.key
            outcome: Outcome = "follows" if key in self._named else "slip"
            for i, j in ((x.i, x.j) for x in found.gives):
                blank = Blank(part.quantity, i, j)
                self._outcomes[blank] = "early" if found.fault.kind == "rounded" else outcome
                self._of_slip[blank] = key
            self._named.setdefault(key, []).append(found)

    @cached_property
    def _missing(self) -> frozenset[str]:
        """The parts that were not answered whole."""
        blanks = (x for part in self._examiner.in_order for x in self._examiner.blanks(part))
        return frozenset(blank.quantity for blank in blanks if blank not in self._printed)

    def _slip(self, key: object) -> MarkedSlip:
        """A slip with all the places where it was made."""
        first, *_ = found = self._named[key]
        said = phrase(first.fault.kind, together(each.fault.words for each in found))
        rivals = dict.fromkeys(fault.phrase for fault in first.rivals)
        return MarkedSlip(first.fault.kind, said, tuple(rivals))

    def _pen_slips(self, blank: Blank) -> Iterator[Sentence]:
        entry, printed = self._examiner.entry(blank), self._printed[blank]
        if printed is None or entry.is_masked:
            return
        with suppress(Undecided):
            off = printed.count - correct_count(entry, printed, "half-even")
            yield from pen_slips(printed, off, entry.ball(FIRST))

    def _mark(self, part: Part, blank: Blank) -> Mark:
        examiner, outcome = self._examiner, self._outcomes[blank]
        answer = self._script.answers.get(blank)
        text = answer.text if answer else self._script.unread.get(blank, "")
        sources = examiner.sources(blank) if outcome == "follows" else ()
        because = (x for x in sources if self._outcomes.get(x) in ("follows", "slip", "wrong"))
        return Mark(
            blank=blank,
            label=examiner.labels[blank.quantity][blank.i][blank.j],
            text=text,
            outcome=outcome,
            correct=_correct(examiner.entry(blank), part, examiner.exercise.case.rounding),
            fewer=blank in self._fewer,
            because=tuple(because),
            slip=self._slips.get(self._of_slip.get(blank)),
            but=next(self._pen_slips(blank), "") if outcome == "wrong" else "",
        )


class _Near(NamedTuple):
    """A wrong answer that may be what is computed in some way: how far it reaches, and what would
    be right."""

    answer: arb
    reach: arb
    truth: arb

    def comes_of(self, number: arb | None) -> bool:
        """Return whether the answer is that number, as far as it is rounded."""
        if number is None or not number.is_finite():
            return False
        return not abs(self.answer - number) > self.reach

    def is_in(self, number: arb | None) -> bool:
        """Return whether the answer is one of those numbers, which are rounded already, and are
        few."""
        if number is None or number.rad() > self.reach * FEW:
            return False
        return bool(number.contains(self.answer))

    def tells(self, number: arb | None) -> bool:
        """Return whether the answer is one of those numbers, which are few enough to tell them from
        the right one."""
        if number is None or not self.comes_of(number):
            return False
        off = abs(self.answer - self.truth)
        return bool(abs(self.answer - number.mid()) < off and number.rad() * 2 < off)


def _taken(printed: PrintedNumber | None, part: Part) -> PrintedNumber | None:
    """An answer as it is taken: one with less than half of the places that are asked for,
    such as a whole number, is no rounding of anything, but meant exactly. Zero says least."""
    if printed is None or not printed.value or printed.unit <= _half(part):
        return printed
    unit = fmpq(1, 10**part.places)
    digits = len(str(abs(int((printed.value / unit).p))))
    return PrintedNumber(printed.text, printed.value, unit, digits, part.places, "")


def _half(part: Part) -> fmpq:
    return fmpq(1, 10 ** -(-part.places // 2))


def _shorter(printed: PrintedNumber) -> Iterator[PrintedNumber]:
    """A figure, and what it is without some of its last zeros, which are put there to fill a blank.

    >>> from symattn.numbers.rationals import read_printed
    >>> [x.places for x in _shorter(read_printed("0.6400"))]
    [4, 3, 2]
    """
    yield printed
    while printed.places and (printed.value / (10 * printed.unit)).q == 1:
        unit, places, digits = 10 * printed.unit, printed.places - 1, max(printed.digits - 1, 1)
        printed = replace(printed, unit=unit, digits=digits, places=places)
        yield printed


def _correct(entry: EntryValue, part: Part, mode: rounding.RoundingMode) -> str:
    if entry.is_masked:
        return MINUS_INFINITY
    try:
        return f"{rounding.decimal(entry, part.places, mode):f}"
    except Undecided:
        return ""
