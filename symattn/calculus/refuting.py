"""Trying to refute a line: its two sides in balls, at random sizes and points.

Sizes are pairwise distinct and one of them is 1, so that a size taken for
another, or a line that holds for some sizes only, shows. A line that stands all
trials is not proved by them; one that fails is refuted, by numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product
from random import Random
from typing import Literal
from zlib import crc32

from flint import arb, ctx, fmpq

from symattn.calculus import language as term
from symattn.calculus.counterexamples import Counterexample, counterexample
from symattn.calculus.language import Array, Expr, Index
from symattn.calculus.sample_points import (
    Ground,
    Style,
    above_zero,
    draw,
    mask,
    met,
)
from symattn.calculus.sampling import Missing, SamplePoint, Unclear, in_ball
from symattn.calculus.tensors import ParsedLine
from symattn.numbers.balls import precision

BITS = (192, 192, 192, 192, 1200)
_ALONE, _ASSUMED, _JUMPING = 9, 4, 60
"""So many more for lines without sizes, lines under hypotheses, lines with steps of values."""
"""The precisions of the trials with their own sizes and numbers each."""
ENTRIES = 12
"""So many places of free indices are tried at each point."""
_FEW = 3
"""So many where only the size is of interest."""
_LEAST = 2
"""At so many points at least a line must have been found to hold."""
_DRAWS = 4
_ZERO = fmpq(0)
_FLAT = 8
"""So many arrays are set to 0, each in its turn; numbers to those that are named too."""
_UNKNOWNS = 50
"""So many entries are moved at edges that equations are met."""
_EDGE_WORK = 60_000
"""Edges may take so many steps of computing, or as many as all other trials."""
_FAILURES = 4
_HOPELESS = 12
"""After so many failures sizes are given up at which the hypotheses can't be met; after so many
in all, where they never were, all of them."""
_EDGES, _MEETING = 9, 60
"""So many points with numbers at edges are tried, and where a line has steps of values, which
may ask two numbers to meet."""
_NAMED = 64
"""Numbers up to this that a line names are tried as sizes."""
_SIMPLIFIED = 40
"""So many entries of a counterexample are made 0 or 1 where it stays such."""
_LARGE = 16
_LARGEST = 4096
_DOUBTS = 6
"""After so many points without exact ones beside them no more are tried."""
_WHOLE = 6
"""So often small whole numbers are drawn at each choice of small sizes."""
_NEAR: tuple[Style, ...] = ("any", "above", "below")
_STYLES: tuple[Style, ...] = (*_NEAR, "wide")
_AT_LENGTHS: tuple[Style, ...] = ("any", "above", "alike")


@dataclass(frozen=True)
class _Difference:
    """Where the sides of a line differ."""

    point: SamplePoint
    at: tuple[int, ...]
    left: arb
    right: arb


@dataclass(frozen=True)
class Outcome:
    """The outcome of trying to refute a line; ``sizes`` are those at which it held."""

    verdict: Literal["held", "refuted", "unclear"]
    sizes: tuple[dict[str, int], ...] = ()
    counterexample: Counterexample | None = None
    why: str = ""


@dataclass(frozen=True)
class _Trial:
    """What a line is tried at: sizes, how numbers are drawn, and in which precision."""

    sizes: dict[str, int]
    style: Style
    number: int
    flat: Array | None = None
    level: fmpq = _ZERO
    first: bool = False
    """Whether it is the first entry alone that is flat."""
    named: tuple[fmpq, ...] = ()
    bits: int = BITS[0]
    entries: int = ENTRIES


_INEXACT = "its sides differ, but at no numbers that were found to meet the hypotheses exactly"


class Sampler:
    """Points at which the lines of one derivation are tried; they share them."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._points: dict[tuple[object, ...], SamplePoint | None] = {}
        self._failed: Counter[tuple[object, ...]] = Counter()
        self._met: set[tuple[object, ...]] = set()
        self._worked = 0
        self._telling: _Trial | None = None

    def of(self, line: ParsedLine) -> Outcome:
        """Try to refute a line; the same line is tried at the same points."""
        needed, outcome = self._tried(line)
        if isinstance(outcome, _Difference):
            return self._refuted(line, needed, outcome)
        return outcome

    def holds(self, line: ParsedLine) -> bool:
        """Return whether a line stands all trials; where it does not is not asked."""
        needed, telling = _needed(line, self._ground), self._telling
        if telling is not None and _sizes(line, self._ground, needed) <= telling.sizes.keys():
            # What refuted the line that this is to mend refutes most others.
            again = self._at(line, needed, telling)
            if isinstance(again, _Difference):
                return False
        _, outcome = self._tried(line)
        return isinstance(outcome, Outcome) and outcome.verdict == "held"

    def _tried(self, line: ParsedLine) -> tuple[frozenset[Array], Outcome | _Difference]:
        """Return what trying a line gave, and the arrays that numbers were drawn for."""
        needed = _needed(line, self._ground)
        outcome = self._tried_with(line, needed)
        if isinstance(outcome, _Difference):
            # What is assumed of others has to be possible at the same sizes.
            every = _needed(line, self._ground, all_assumed=True)
            if every != needed:
                return every, self._tried_with(line, every)
        return needed, outcome

    def _tried_with(self, line: ParsedLine, needed: frozenset[Array]) -> Outcome | _Difference:
        names = sorted(_sizes(line, self._ground, needed))
        assumed = self._ground.assumed(needed)
        # Without sizes there are only numbers to vary; what is assumed leaves few kinds of them.
        more = _ALONE if not names else _ASSUMED if assumed else 0
        if not names and _jumps(line):
            more = _JUMPING
        # A limit is told by numbers near its end, which far ones put out of reach.
        bodies = [array.body for array in needed if array.body is not None]
        has_limit = any(isinstance(part, term.Limit) for part in term.walk(*line.sides, *bodies))
        styles = _NEAR if has_limit else _STYLES
        tried: list[dict[str, int]] = []
        points, doubts, why, before = 0, 0, "", self._worked
        rng = Random(len(names))
        for number, bits in enumerate((*BITS, *(BITS[0],) * more)):
            for attempt in range(_DRAWS):
                sizes = _drawn(names, rng, number, attempt)
                style = styles[(number + attempt) % len(styles)]
                trial = _Trial(sizes, style, number, bits=bits)
                outcome = self._at(line, needed, trial)
                if isinstance(outcome, _Difference):
                    self._telling = trial
                    return outcome
                if outcome is True:
                    points += 1
                    if sizes not in tried:
                        tried.append(sizes)
                    break
                why = outcome or why
                if outcome == _INEXACT:
                    doubts += 1
                    break
            if doubts > _DOUBTS:
                break
        most = self._worked - before + max(_EDGE_WORK, self._worked - before)
        for trial in self._edges(line, needed, names, points):
            if self._worked - before > most or doubts > _DOUBTS:
                break
            if not self._is_solvable(needed, trial.sizes):
                trial = replace(trial, style="alike")
            outcome = self._at(line, needed, trial)
            if isinstance(outcome, _Difference):
                self._telling = trial
                return outcome
            doubts += outcome == _INEXACT
            if outcome is True and trial.style == "any" and trial.flat is None:
                points += 1
                tried += [] if trial.sizes in tried else [trial.sizes]
        if doubts:
            return Outcome("unclear", why=_INEXACT)
        if points < _LEAST:
            why = why or "no values were found at which both sides are defined"
            return Outcome("unclear", why=why)
        if names and len(tried) < _LEAST and not assumed:
            (only,) = tried
            at = ", ".join(f"{name} = {size}" for name, size in only.items())
            return Outcome("unclear", why=f"both sides are defined at {at} only")
        return Outcome("held", tuple(tried[: len(BITS)]))

    def _edges(
        self, line: ParsedLine, needed: frozenset[Array], names: Sequence[str], points: int
    ) -> Iterator[_Trial]:
        """Trials where something ends: numbers that are 0, alike, or named; sizes that are
        1, alike, or named."""
        apart = {name: 2 + k % 4 for k, name in enumerate(names)}
        alike = dict.fromkeys(names, 2)
        given = sorted((x for x in needed if x.body is None), key=lambda each: each.name)
        named = _named_numbers(line, self._ground.hypotheses)
        # Numbers may meet sizes too.
        marks = dict.fromkeys((*named, Fraction(1), Fraction(2)))
        edges = tuple(fmpq(sign * x.numerator, x.denominator) for x in marks for sign in (1, -1))
        above = self._ground.positive()
        for array in given[:_FLAT]:
            for level in (_ZERO, fmpq(2)) if array.axes else (_ZERO, *edges):
                for first in (False, True) if array.axes else (False,):
                    if level > 0 or array not in above:
                        yield _Trial(alike, "any", 0, array, level, first)
        for number, sizes in enumerate((alike, apart, dict.fromkeys(names, 1))):
            yield _Trial(sizes, "alike", number)
        # It can be tried at large sizes: few nested sums, no derivatives.
        bodies = (part.body for part in needed if part.body is not None)
        cheap = all(_depth(part) <= 1 for part in (*line.sides, *bodies))
        # Sizes that are named, then those beside them; from 3 on, as others are tried anyway.
        beside = dict.fromkeys(int(number) + step for step in (0, 1, -1) for number in named)
        lengths = [length for length in beside if 2 < length <= _NAMED]
        if not cheap and points >= _LEAST:
            lengths = [length for length in lengths[:_FLAT] if length < _LARGE]
        for style, length, name in product(_AT_LENGTHS, lengths, names[:_FLAT]):
            if style == "any" or length < _LARGE:
                entries = ENTRIES if length < _LARGE else _FEW
                yield _Trial({**alike, name: length}, style, 0, entries=entries)
        for number in range(_MEETING if _jumps(line) else _EDGES):
            sizes = (alike, apart, dict.fromkeys(names, 1))[number % 3]
            yield _Trial(sizes, "edge", number, named=edges)
        for name in names[:_FLAT]:
            yield _Trial({**apart, name: 1}, "any", 0)
        if cheap and 0 < len(names) <= 2 and not self._ground.assumed(needed):
            # A line may hold but for one size, or for all small sizes only.
            for size in (*range(1, _LARGE), *_places(line)):
                sizes = {name: max(_LARGE - size, 1) if k else size for k, name in enumerate(names)}
                yield _Trial(sizes, "any", 0, entries=_FEW)

    def _is_solvable(self, needed: frozenset[Array], sizes: Mapping[str, int]) -> bool:
        """Return whether equations at these sizes have few numbers, and are soon solved."""
        equations = (given for given in self._ground.assumed(needed) if mask(given) is None)
        sides = [side for given in equations for side in given.sides]
        bound = [array for array in term.arrays(*sides) if array.body is None]
        point = SamplePoint(sizes, {}, {})
        return sum(len([*point.places(array.axes)]) for array in bound) <= _UNKNOWNS

    def _refuted(self, line: ParsedLine, needed: frozenset[Array], place: _Difference) -> Outcome:
        names = sorted(_sizes(line, self._ground, needed))
        smallest = self._smallest(line, needed, names)
        if smallest is None:
            plain = max(place.point.sizes.values(), default=0) < _LARGE
            smallest = self._plainest(line, place) if plain else place
        sides = smallest.left, smallest.right
        shown = _sizes(line, self._ground, _needed(line, self._ground))
        return Outcome(
            "refuted",
            counterexample=counterexample(line, smallest.point, smallest.at, sides, shown),
        )

    def _at(
        self, line: ParsedLine, needed: frozenset[Array], trial: _Trial
    ) -> bool | str | _Difference:
        """Return what one point says: True, why it says nothing, or where the sides differ."""
        try:
            with precision(trial.bits):
                point = self._point(needed, trial)
                if point is None:
                    return "no values were found that satisfy the hypotheses"
                point.renew()
                exact = not self._ground.assumed(needed)
                try:
                    outcome = _compared(line, point, Random(trial.number), exact, trial.entries)
                    if exact or not isinstance(outcome, _Difference):
                        return outcome
                    for near in met(point, self._ground, needed):
                        outcome = _compared(line, near, Random(0), True, trial.entries)
                        if isinstance(outcome, _Difference):
                            return outcome
                    return _INEXACT
                finally:
                    self._worked += point.worked
        except Unclear as reason:
            return str(reason)
        except (Missing, OverflowError):
            return ""

    def _point(self, needed: frozenset[Array], trial: _Trial) -> SamplePoint | None:
        given = frozenset(array for array in needed if array.body is None)
        sizes, style, number = trial.sizes, trial.style, trial.number
        where = (given, *sizes.items())
        flat = (trial.flat, trial.level, trial.first)
        key = (*where, style, *flat, trial.named, ctx.prec, number)
        is_hopeless = not self._met and self._failed.total() >= _HOPELESS
        is_hopeless |= where not in self._met and self._failed[where] >= _FAILURES
        if key not in self._points and not is_hopeless:
            seed = ".".join([style, str(number), *sorted(array.name for array in given)])
            rng = Random(crc32(f"{seed}.{sizes}".encode()))
            self._points[key] = draw(self._ground, given, sizes, rng, style, flat, trial.named)
            if self._points[key] is not None:
                self._met.add(where)
            self._failed[where] += trial.flat is None
        return self._points.get(key)

    def _smallest(
        self, line: ParsedLine, needed: frozenset[Array], names: Sequence[str]
    ) -> _Difference | None:
        """Return where sides differ at small sizes and plain numbers, if that is near at hand."""
        sums = product((1, 2, 3), repeat=len(names))
        small = sorted(sums, key=lambda lengths: (max(lengths, default=0), sum(lengths)))
        for total in small[:24]:
            sizes = dict(zip(names, total, strict=True))
            for number in range(_WHOLE):
                outcome = self._at(line, needed, _Trial(sizes, "whole", number))
                if isinstance(outcome, _Difference):
                    return self._plainest(line, outcome)
        return None

    @precision(BITS[0])
    def _plainest(self, line: ParsedLine, place: _Difference) -> _Difference:
        """The same difference where as many numbers as can be are 0, or else 1."""
        sides = [side for given in self._ground.hypotheses for side in given.sides]
        assumed = term.arrays(*sides)
        entries = [(given, at) for given, every in place.point.values.items() for at in every]
        for array, at in entries[:_SIMPLIFIED]:
            now = place.point.values[array][at]
            for plain in () if array in assumed or now == 0 else (0, 1):
                point = place.point.copy()
                point.values[array][at] = arb(plain)
                with suppress(Unclear, Missing, OverflowError):
                    other = _compared(line, point, Random(0), True, ENTRIES)
                    if isinstance(other, _Difference):
                        place = other
                        break
        return place


def _compared(
    line: ParsedLine, point: SamplePoint, rng: Random, exact: bool, entries: int
) -> bool | str | _Difference:
    every = list(islice(point.indices(line), _LARGEST))
    if len(every) > entries:
        # Where indices agree, and where they don't, at both ends and between.
        every = [every[0], every[-1], *(_picked(line.free, point, rng) for _ in range(entries))]
    some, why = False, ""
    limits = any(isinstance(part, term.Limit) for part in term.walk(*line.sides))
    for at in every:
        point.env.update(zip(line.free, at, strict=True))
        try:
            sides = [in_ball(point.evaluate(side)) for side in line.sides]
        except Missing:
            continue
        if not all(side.is_finite() for side in sides):
            continue
        for right in sides[1:]:
            apart = sides[0] - right
            if limits:
                differ, alike = not apart.contains(0), apart.rad() < arb(2) ** -16
            elif exact:
                differ, alike = not apart.contains(0), apart.rad() < _small(right, 3)
            else:
                differ, alike = abs(apart) > _small(right, 4), abs(apart) < _small(right, 3)
            if differ:
                return _Difference(point, at, sides[0], right)
            if not alike:
                why = "enclosures too wide to tell the sides apart"
        some = True
    return (why or True) if some else why


def _depth(value: Expr) -> int:
    """Return how many sums stand in one another; a derivative is as many as are too many."""
    if isinstance(value, term.Partial | term.Expectation):
        return 9
    inner = max(map(_depth, term.inside(value)), default=0)
    return inner + isinstance(value, term.Sum)


def _jumps(line: ParsedLine) -> bool:
    """Return whether there are steps of values in a line."""
    parts = term.walk(*line.sides)
    return any(isinstance(part, term.Apply) and part.function == "positive" for part in parts)


def _small(beside: arb, part: int) -> arb:
    """So small beside a number as it counts for nothing at this precision."""
    return (1 + abs(beside)) * arb(2) ** (-ctx.prec // part)


def _picked(free: Sequence[Index], point: SamplePoint, rng: Random) -> tuple[int, ...]:
    """Places of indices, of which those of one axis often agree."""
    places: dict[Index, int] = {}
    for index in free:
        same = [at for other, at in places.items() if other.size == index.size]
        fresh = rng.randint(1, point.length(index.size))
        places[index] = rng.choice(same) if same and rng.random() < 0.5 else fresh
    return tuple(places.values())


def _needed(line: ParsedLine, ground: Ground, all_assumed: bool = False) -> frozenset[Array]:
    """All arrays that a line and the hypotheses about them speak of, or all hypotheses."""
    arrays = term.arrays(*line.sides)
    assumed = [
        (term.arrays(*each.sides), all_assumed and above_zero(each) is None)
        for each in ground.hypotheses
    ]
    while more := [
        named for named, is_taken in assumed if (is_taken or named & arrays) and not named <= arrays
    ]:
        arrays = arrays.union(*more)
    return arrays


def _sizes(line: ParsedLine, ground: Ground, needed: frozenset[Array]) -> set[str]:
    """The sizes that matter."""
    axes = [axis for array in needed for axis in array.axes]
    axes += [axis for array in needed if array.of is not None for axis in array.of.axes]
    axes += [index.size for index in line.free]
    axes += list((ground.permutations or {}).values())
    bodies = [array.body for array in needed if array.body is not None]
    for part in term.walk(*line.sides, *bodies):
        axes += [place.size for place in term.places(part) if place.size]
        match part:
            case term.Size():
                axes.append(term.length(part))
            case term.Sum(index, _):
                axes.append(index.size)
    return {axis for axis in axes if isinstance(axis, str)}


def _named_numbers(line: ParsedLine, hypotheses: Sequence[ParsedLine]) -> list[Fraction]:
    """The numbers that a line and what is assumed speak of, those of definitions included."""
    sides = [side for each in (line, *hypotheses) for side in each.sides]
    bodies = [array.body for array in term.arrays(*sides) if array.body is not None]
    numbers: set[Fraction] = set()
    for part in term.walk(*sides, *bodies):
        if isinstance(part, term.Number):
            numbers.add(abs(part.value))
        numbers |= {Fraction(abs(place.offset)) for place in term.places(part)}
    return sorted(number for number in numbers if 0 < number <= _NAMED)[:_FLAT]


def _places(line: ParsedLine) -> list[int]:
    """Sizes about the numbers that places are compared with."""
    sizes: set[int] = set()
    for part in term.walk(*line.sides):
        if isinstance(part, term.Delta | term.AtMost):
            for place in term.places(part):
                near = range(abs(place.offset) - 1, abs(place.offset) + 3)
                sizes |= {size for size in near if size >= _LARGE}
    return sorted(sizes)


def _drawn(names: Sequence[str], rng: Random, number: int, attempt: int) -> dict[str, int]:
    """Sizes that differ pairwise, of which one is 1; once all the same; once without 1."""
    if not names:
        return {}
    if number == 3 or attempt == 2:
        return dict.fromkeys(names, rng.randint(2, 3) + attempt % 2)
    if len(names) == 1:
        small = (1, 3, 2, 0, 4)[number] if number < 5 else rng.randint(2, 4)
        return {names[0]: small + (rng.randint(0, 4) if attempt else 0)}
    pool = list(range(1 if number != 4 else 2, len(names) + 2 + (attempt > 1) * 2))
    chosen = rng.sample(pool, len(names))
    if number < 4 and 1 not in chosen and attempt < 2:
        chosen[rng.randrange(len(chosen))] = 1
    if number < 2:
        # Each size is once above each other.
        chosen.sort(reverse=number == 1)
    return dict(zip(names, chosen, strict=True))
