"""Trying to refute a line: its two sides in balls, at random sizes and points.

Sizes are pairwise distinct and one of them is 1, so that a size taken for
another, or a line that holds for some sizes only, shows. A line that stands all
trials is not proved by them; one that fails is refuted, by numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice, product
from random import Random
from typing import Any, Literal
from zlib import crc32

from flint import arb, ctx

from symattn.calculus import language as term
from symattn.calculus.language import Array, Expr, Index
from symattn.calculus.sample_points import Ground, Style, draw, indices
from symattn.calculus.sampling import LOSS, Missing, SamplePoint, Unclear
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
_LARGE = 16
_LARGEST = 4096
_WHOLE = 6
"""So often small whole numbers are drawn at each choice of small sizes."""
_SHOWN = 24
"""So many entries of an array are told."""
_STYLES: tuple[Style, ...] = ("any", "above", "below", "wide")


@dataclass(frozen=True)
class Counterexample:
    """Where the sides of a line differ: sizes, indices, numbers given, both sides."""

    sizes: dict[str, int]
    indices: dict[str, int]
    values: dict[str, str]
    left: str
    right: str

    def __str__(self) -> str:
        where = [f"{name} = {size}" for name, size in (*self.sizes.items(), *self.indices.items())]
        where += [f"{name} = {value}" for name, value in _grids(self.values).items()]
        return f"{', '.join(where) or 'always'}: {self.left} is not {self.right}"

    def to_dict(self) -> dict[str, Any]:
        """The counterexample as plain data."""
        return asdict(self)


def _grids(values: Mapping[str, str]) -> dict[str, str]:
    """Entries put together to matrices and vectors: ``S = [[0, 1], [2, 0]]``."""
    rows: dict[str, dict[str, list[str]]] = {}
    for name, value in values.items():
        array, _, at = name.rpartition("[") if name.endswith("]") else (name, "", "")
        rows.setdefault(array, {}).setdefault(at.rpartition(",")[0], []).append(value)
    grids = {}
    for array, entries in rows.items():
        if array in values:
            grids[array] = values[array]
        elif all("," not in before for before in entries):
            inner = [f"[{', '.join(row)}]" for row in entries.values()]
            grids[array] = inner[0] if "" in entries else f"[{', '.join(inner)}]"
        else:
            grids |= {name: value for name, value in values.items() if name.startswith(f"{array}[")}
    return grids


@dataclass(frozen=True)
class _Difference:
    """Where the sides of a line differ."""

    point: SamplePoint
    at: tuple[int, ...]
    left: arb
    right: arb


@dataclass(frozen=True)
class Outcome:
    """What trying to refute a line gave; ``sizes`` are those at which it held."""

    verdict: Literal["held", "refuted", "unclear"]
    sizes: tuple[dict[str, int], ...] = ()
    counterexample: Counterexample | None = None
    why: str = ""


class Sampler:
    """Points at which the lines of one derivation are tried; they share them."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._points: dict[tuple[object, ...], SamplePoint | None] = {}

    def of(self, line: ParsedLine) -> Outcome:
        """Try to refute a line; the same line is tried at the same points."""
        ground = self._ground
        needed = _needed(line, ground)
        names = sorted(_sizes(line, ground, needed))
        assumed = ground.assumed(needed)
        # Without sizes there are only numbers to vary; what is assumed leaves few kinds of them.
        more = _ALONE if not names else _ASSUMED if assumed else 0
        if not names and any(map(_jumps, term.walk(*line.sides))):
            more = _JUMPING
        tried: list[dict[str, int]] = []
        points, why = 0, ""
        rng = Random(len(names))
        for number, bits in enumerate((*BITS, *(BITS[0],) * more)):
            for attempt in range(_DRAWS):
                sizes = _drawn(names, rng, number, attempt)
                style = _STYLES[(number + attempt) % len(_STYLES)]
                outcome = self._at(line, needed, sizes, style, bits, number)
                if isinstance(outcome, _Difference):
                    counterexample = self._smallest(line, needed, names) or _counterexample(
                        line, outcome
                    )
                    return Outcome("refuted", counterexample=counterexample)
                if outcome is True:
                    points += 1
                    if sizes not in tried:
                        tried.append(sizes)
                    break
                why = outcome or why
        if points < _LEAST:
            why = why or "no values were found at which both sides are defined"
            return Outcome("unclear", why=why)
        if 0 < len(names) <= 2 and not assumed and _is_cheap(line, needed):
            # A line may hold but for one size, or for all small sizes only.
            for size in (*range(1, _LARGE), *_named_numbers(line)):
                sizes = {name: max(_LARGE - size, 1) if k else size for k, name in enumerate(names)}
                outcome = self._at(line, needed, sizes, "any", BITS[0], 0, _FEW)
                if isinstance(outcome, _Difference):
                    return Outcome("refuted", counterexample=_counterexample(line, outcome))
        return Outcome("held", tuple(tried))

    def _at(
        self,
        line: ParsedLine,
        needed: frozenset[Array],
        sizes: dict[str, int],
        style: Style,
        bits: int,
        number: int,
        entries: int = ENTRIES,
    ) -> bool | str | _Difference:
        """What one point says: True, a reason why it says nothing, or where the sides differ."""
        try:
            with precision(bits):
                point = self._point(needed, sizes, style, number)
                if point is None:
                    return "no values were found that satisfy the hypotheses"
                point.renew()
                exact = not self._ground.assumed(needed)
                return _compared(line, point, Random(number), exact, entries)
        except Unclear as reason:
            return str(reason)
        except (Missing, OverflowError):
            return ""

    def _point(
        self, needed: frozenset[Array], sizes: dict[str, int], style: Style, number: int
    ) -> SamplePoint | None:
        given = frozenset(array for array in needed if array.body is None)
        key = (given, *sizes.items(), style, ctx.prec, number)
        if key not in self._points:
            seed = ".".join([style, str(number), *sorted(array.name for array in given)])
            rng = Random(crc32(f"{seed}.{sizes}".encode()))
            self._points[key] = draw(self._ground, given, sizes, rng, style)
        return self._points[key]

    def _smallest(
        self, line: ParsedLine, needed: frozenset[Array], names: Sequence[str]
    ) -> Counterexample | None:
        """A counterexample with small sizes and plain numbers, if there is one near at hand."""
        sums = product((1, 2, 3), repeat=len(names))
        small = sorted(sums, key=lambda lengths: (max(lengths, default=0), sum(lengths)))
        for total in small[:24]:
            sizes = dict(zip(names, total, strict=True))
            for number in range(_WHOLE):
                outcome = self._at(line, needed, sizes, "whole", BITS[0], number)
                if isinstance(outcome, _Difference):
                    return _counterexample(line, self._plainest(line, needed, outcome))
        return None

    @precision(BITS[0])
    def _plainest(
        self, line: ParsedLine, needed: frozenset[Array], place: _Difference
    ) -> _Difference:
        """The same difference where as many numbers as can be are 0, or else 1."""
        sides = [side for given in self._ground.hypotheses for side in given.sides]
        assumed = {array for side in sides for array in term.arrays(side)}
        exact = not self._ground.assumed(needed)
        for array, at in [
            (given, at) for given, entries in place.point.values.items() for at in entries
        ]:
            now = place.point.values[array][at]
            for plain in () if array in assumed or now == 0 else (0, 1):
                point = place.point.copy()
                point.values[array][at] = arb(plain)
                with suppress(Unclear, Missing, OverflowError):
                    other = _compared(line, point, Random(0), exact, ENTRIES)
                    if isinstance(other, _Difference):
                        place = other
                        break
        return place


def _compared(
    line: ParsedLine, point: SamplePoint, rng: Random, exact: bool, entries: int
) -> bool | str | _Difference:
    every = list(islice(indices(line.free, point), _LARGEST))
    if len(every) > entries:
        # Where indices agree, and where they don't, at both ends and between.
        every = [every[0], every[-1], *(_picked(line.free, point, rng) for _ in range(entries))]
    some, why = False, ""
    limits = any(isinstance(part, term.Limit) for part in term.walk(*line.sides))
    for at in every:
        point.env.update(zip(line.free, at, strict=True))
        try:
            sides = [_ball(point.evaluate(side)) for side in line.sides]
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


def _is_cheap(line: ParsedLine, needed: frozenset[Array]) -> bool:
    """Whether a line can be tried at large sizes: few sums in one another, no derivatives."""
    bodies = [*line.sides, *(part.body for part in needed if part.body is not None)]
    return all(_depth(part) <= 1 for part in bodies)


def _depth(value: Expr) -> int:
    """How many sums stand in one another; a derivative is as many as are too many."""
    if isinstance(value, term.Partial | term.Limit | term.Expectation):
        return 9
    inner = max(map(_depth, term.inside(value)), default=0)
    return inner + isinstance(value, term.Sum)


def _jumps(value: Expr) -> bool:
    """Whether an expression is a step of a value."""
    return isinstance(value, term.Apply) and value.function == "positive"


def _small(beside: arb, part: int) -> arb:
    """So small beside a number as it counts for nothing at this precision."""
    return (1 + abs(beside)) * arb(2) ** (-ctx.prec // part)


def _ball(value: Any) -> arb:
    return value if isinstance(value, arb) else arb(value)


def _picked(free: Sequence[Index], point: SamplePoint, rng: Random) -> tuple[int, ...]:
    """Places of indices, of which those of one axis often agree."""
    places: dict[Index, int] = {}
    for index in free:
        same = [at for other, at in places.items() if other.size == index.size]
        fresh = rng.randint(1, point.length(index.size))
        places[index] = rng.choice(same) if same and rng.random() < 0.5 else fresh
    return tuple(places.values())


def _needed(line: ParsedLine, ground: Ground) -> frozenset[Array]:
    """All arrays that a line and the hypotheses about them speak of."""
    arrays = {array for side in line.sides for array in term.arrays(side)}
    grown = True
    while grown:
        grown = False
        for hypothesis in ground.hypotheses:
            named = {array for side in hypothesis.sides for array in term.arrays(side)}
            if named & arrays and not named <= arrays:
                arrays |= named
                grown = True
    return frozenset(arrays)


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


def _named_numbers(line: ParsedLine) -> list[int]:
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
    if number == 3:
        return dict.fromkeys(names, rng.randint(2, 3) + attempt)
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


def _counterexample(line: ParsedLine, place: _Difference) -> Counterexample:
    point, at = place.point, place.at
    values = {name: _digits(value) for name, value in _numbers(line, point)}
    free = {index.name: number for index, number in zip(line.free, at, strict=True)}
    return Counterexample(dict(point.sizes), free, values, *_apart(place.left, place.right))


def _numbers(line: ParsedLine, point: SamplePoint) -> Iterator[tuple[str, Any]]:
    """The entries that a line speaks of; of a loss that is a plain sum, its gradient."""
    named = {array for side in line.sides for array in term.arrays(side)}
    for array in sorted(named & point.values.keys(), key=lambda each: each.name):
        entries = point.values[array]
        if array.of is None:
            for where, value in list(entries.items())[:_SHOWN]:
                yield _entry(array.name, where), value
        elif all(value == 0 for where, value in entries.items() if where[0]):
            name = _gradient(array, named) or f"diff({array.name}, {array.of.name})"
            for where, value in list(entries.items())[: min(len(entries) // LOSS, _SHOWN)]:
                yield _entry(name, where[1:]), value


def _entry(name: str, at: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, at))}]" if at else name


def _gradient(loss: Array, named: set[Array]) -> str:
    """What a line calls the gradient of a loss in what it is a function of."""
    for candidate in named:
        match candidate.body:
            case term.Partial(term.Entry(of, ()), array, at) if of is loss and array is loss.of:
                if at == tuple(map(term.AxisPlace, candidate.params)):
                    return candidate.name
    return ""


def _apart(left: arb, right: arb) -> tuple[str, str]:
    """Both sides in as many digits as show that they differ."""
    texts = ("", "")
    for digits in (6, 12, 25, 60, 400):
        texts = _decimal(left, digits), _decimal(right, digits)
        if texts[0] != texts[1]:
            break
    return texts


def _decimal(value: arb, digits: int) -> str:
    """A ball by its middle; 0 where that is all that can be told."""
    if value.contains(0):
        return "0"
    text = str(value.str(digits, radius=False))
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def _digits(value: arb) -> str:
    whole = value.unique_fmpz()
    return str(value.str(12, radius=False) if whole is None else whole)
