"""Variants of an exercise: the same steps with other numbers, found by search.

Candidates are drawn and judged in floats, many at once, a little too kindly;
those that pass are solved, and judged again by the floats nearest to the exact
values. These are the same on every machine, and so are the variants of a seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from symattn.cases.case import Case, with_numbers
from symattn.errors import Malformed, SymattnError
from symattn.exercises.exercise import Exercise, exercise
from symattn.exercises.faults import VISIBLE, catalogue, inputs, mask_names, restricted_names
from symattn.exercises.key import Draws, Integers
from symattn.expressions.shapes import nested, show
from symattn.numbers.balls import FIRST
from symattn.programs.enclosures import FloatOperations, Matrix, matrix
from symattn.programs.nodes import Node, Run, ancestors
from symattn.solution.solution import Solution

Flags = npt.NDArray[np.bool_]

#: Versions of one exercise at most, and candidates that are judged at once, at most, and by
#: one criterion that none of them meets.
MOST = 999
_AT_ONCE, _CANDIDATES, _IN_VAIN = 256, 1_000_000, 100_000
#: A mistake that shows in none of so many is not one of this exercise; nor is asked of versions
#: what none of so many meet, nor the case itself: words that occur twice have equal scores.
_UNMET = 1000
#: So often a matrix of a candidate is drawn until its rows are distinct.
_TRIES = 8

#: Figures that are asked for have no larger size.
_SIZE = 60
#: A weight has at least this size, or so many units of the last place, and the weights of a
#: row differ by so much.
_WEIGHT, _UNITS, _SPREAD = 0.01, 20, 0.05
#: Scores that differ by less are equal, and rows of weights alike whose sums do.
_EQUAL, _ALIKE_ROWS = 1e-6, 1e-3
#: Entries of a quantity beyond which nobody computes by hand.
_ENTRIES = 400
#: No figure is so near, in units of its last place, to where rounding would be in doubt.
_TIE = 0.01
#: What floats may be off by, in comparison with what they are.
_OFF = 1e-9

#: How entries are drawn: from the first to the second, and how many in ten are not 0.
_STYLES = (
    (0, 1, 10), (0, 1, 5), (0, 2, 10), (0, 2, 6), (-1, 1, 10), (-1, 1, 5), (-1, 2, 8),
    (-1, 2, 4), (1, 2, 4), (-2, 2, 10), (-2, 2, 4), (0, 1, 3), (-3, 3, 8), (0, 3, 6),
)  # fmt: skip

#: Why a candidate is passed over, and what helps.
REASONS: Mapping[str, str] = {
    "what is given has equal rows, or rows of zeros": "draw larger numbers (--largest 9)",
    "an answer is too large": "draw smaller numbers (--largest 1)",
    "a weight is nearly 0, or the weights of a row are nearly equal":
        "draw smaller numbers (--largest 1), or ask for more --places",
    "two scores of a row are equal": "allow ties (--ties)",
    "two rows of weights are equal": "draw larger numbers (--largest 4)",
    "all answers of a part are 0": "ask for other parts",
    "an answer is too close to a rounding tie": "ask for other --places",
    "a common mistake would not show": "ask for more --places, or for more steps",
    "they have occurred before": "ask for fewer versions, or draw larger numbers (--largest 4)",
}  # fmt: skip
_GIVEN, _LARGE, _WEIGHTS, _TIES, _ALIKE, _ZERO, _DIGITS, _FAULTS, _AGAIN = REASONS


@dataclass(frozen=True)
class NumberRange:
    """The range of numbers: the largest that is given, and whether scores of a row may be equal."""

    largest: int = 3
    ties: bool = False


def variants(
    case: Case,
    count: int,
    seed: int = 0,
    level: str = "",
    places: int | None = None,
    wanted: NumberRange | None = None,
) -> Iterator[Exercise]:
    """The first ``count`` versions of a case as an exercise, with numbers of their own.

    Steps, shapes, tokens and given scalars stay; at level masked a mask that is
    given changes too, and symbols upstream become numbers. The versions of a seed
    are the same on every machine, and however many are asked for.

    Raises :class:`Malformed` where there is nothing to draw, and where the search
    ends without as many: why, and what helps.

    >>> from symattn.cases.library import load
    >>> first, second = variants(load("cat-sat-mat"), 2, seed=7)
    >>> first.name, first.case.raw["X"] == second.case.raw["X"]
    ('cat-sat-mat-01', False)
    """
    if not 1 <= count <= MOST:
        raise Malformed(f"expected 1 to {MOST} versions, found {count}")
    base = exercise(with_numbers_upstream(case), level, places)
    if base.is_proof:
        raise Malformed("level proof asks for derivations, which have no numbers to draw")
    yield from _Search(base, seed, wanted or NumberRange()).versions(count)


def with_numbers_upstream(case: Case) -> Case:
    """The case with numbers for the symbols of its upstream gradient, to be drawn anew."""
    if not case.symbols:
        return case
    node = case.program.quantities[case.output]
    pattern = _pattern(case).astype(int).tolist()
    return with_numbers(case, {}, nested(node.shape, pattern))


def _pattern(case: Case) -> Flags:
    return np.array([[str(entry) != "0" for entry in row] for row in case.upstream])


class _Search:
    def __init__(self, base: Exercise, seed: int, wanted: NumberRange) -> None:
        self.base = base
        self.seed = seed
        self.wanted = wanted
        self.faults = catalogue(base)
        program = base.case.program
        self._nodes = {part.quantity: program.named[part.quantity] for part in base.parts}
        faulty = [node for fault in self.faults for node in fault.nodes.values()]
        used = ancestors([*self._nodes.values()])
        self._softmaxes = [node for node in used if node.op == "softmax"]
        scores = [node.operands[0] for node in self._softmaxes]
        self._judged = {
            node.serial: node
            for node in (*self._nodes.values(), *faulty, *self._softmaxes, *scores)
        }
        self._masks = mask_names(base.case) if base.level == "masked" else set()
        every = mask_names(base.case) | restricted_names(base.case)
        serials = {node.serial for node in used}
        #: What numbers are drawn for, by name.
        self._drawn = {
            name: node
            for name in program.given
            if (node := program.quantities[name]).shape
            and node.serial in serials
            and (name in self._masks or name not in every)
        }
        for node in (*self._judged.values(), *self._drawn.values()):
            if prod(node.grid) > _ENTRIES:
                raise Malformed(
                    f"{base.case.name} is too large for variants: {show(node.shape)}, "
                    f"more than {_ENTRIES} entries"
                )
        if not self._drawn:
            raise Malformed(f"{base.case.name} has no given matrix to draw numbers for")
        if base.case.raw_upstream is not None:
            upstream = program.upstream
            if upstream is not None and upstream.serial in serials:
                self._drawn["upstream"] = upstream
        self._styles = [
            (max(low, -wanted.largest), min(high, wanted.largest), dense)
            for low, high, dense in _STYLES
        ]
        #: The least weight.
        self._least = max(_WEIGHT, _UNITS * 10.0 ** -min(part.places for part in base.parts))
        self._failed: Counter[str] = Counter()
        #: Of how many candidates each criterion was asked, and how many met it, by its place.
        self._asked: Counter[int] = Counter()
        self._met: Counter[int] = Counter()
        #: The criteria that are asked no more.
        self._dropped: set[int] = set()

    def versions(self, count: int) -> Iterator[Exercise]:
        draws = Draws(self.seed)
        seen: set[object] = set()
        number = 0
        count_drawn = 0
        while count_drawn < _CANDIDATES and not self._is_in_vain():
            drawn = {x: self._numbers(draws, x, node.grid) for x, node in self._drawn.items()}
            count_drawn += _AT_ONCE
            # What cannot be had, whatever is drawn, is asked no more.
            for place, asked in self._asked.items():
                if asked >= _UNMET and not self._met[place] and place in self._unmet_by_case:
                    self._dropped.add(place)
            for k in np.flatnonzero(self._pass(drawn)):
                exercise = self._exercise(
                    {name: rows[k] for name, rows in drawn.items()}, number + 1
                )
                if exercise is None:
                    continue
                answers = tuple(exercise.right(part) for part in exercise.parts)
                if answers in seen:
                    self._failed[_AGAIN] += 1
                    continue
                seen.add(answers)
                number += 1
                yield exercise
                if number == count:
                    return
        (reason, often), *_ = self._failed.most_common(1)
        raise Malformed(
            f"{self.base.case.name}: found {number} of {count} versions in {count_drawn} draws; "
            f"most often ({often} times) {reason}: {REASONS[reason]}"
        )

    @cached_property
    def _unmet_by_case(self) -> set[int]:
        """The criteria that the case itself does not meet, and all that are about mistakes."""
        values = self._exactly(self.base)
        if values is None:
            return set()
        with np.errstate(all="ignore"):
            criteria = [*enumerate(self._criteria(values, 0.0))]
        return {place for place, (reason, met) in criteria if reason == _FAULTS or not met.all()}

    def _is_in_vain(self) -> bool:
        """Return whether a criterion is met by none of very many: later ones are never asked."""
        return any(
            asked >= _IN_VAIN and not self._met[place]
            for place, asked in self._asked.items()
            if place not in self._dropped
        )

    # -- candidates ------------------------------------------------------------------

    def _numbers(self, draws: Draws, name: str, grid: tuple[int, int]) -> Integers:
        """Numbers for many candidates."""
        if name in self._masks:
            return self._mask(draws, grid)
        if name != "upstream":
            return self._matrix(draws, grid)
        shape = (_AT_ONCE, *grid)
        size = 1 + draws.below(min(2, self.wanted.largest), shape)
        sign = 1 - 2 * draws.below(2, shape)
        return np.where(_pattern(self.base.case), size * sign, 0)

    def _matrix(self, draws: Draws, grid: tuple[int, int]) -> Integers:
        """Matrices without two equal rows, or one of zeros."""
        shape = (_AT_ONCE, _TRIES, *grid)
        styles = np.array(self._styles)[draws.below(len(_STYLES), shape[:2])]
        low, high, dense = styles[..., None, None].transpose(2, 0, 1, 3, 4)
        # The remainder is nowhere near uniform in theory, and quite so for ranges this small.
        values = low + draws.below(1 << 20, shape) % (high - low + 1)
        values = np.where(draws.below(10, shape) < dense, values, 0)
        good = values.any(axis=-1).all(axis=-1) & _distinct(values)
        if grid[1] <= 2 * grid[0]:
            good &= values.any(axis=-2).all(axis=-1)
        return _first(values, good)

    def _mask(self, draws: Draws, grid: tuple[int, int]) -> Integers:
        """Masks: up to a query's own key, without the last keys, or any; half of the
        queries or more keep several keys."""
        rows, columns = grid
        shape = (_AT_ONCE, _TRIES, rows, columns)
        kind = draws.below(4, shape[:2])[..., None, None]
        place = np.arange(columns)
        own = (np.arange(rows) + max(columns - rows, 0))[:, None]
        last = columns - 1 - draws.below(max(columns - 1, 1), shape[:2])[..., None, None]
        free = draws.below(10, shape) < 6
        keep = np.where(kind == 0, place <= own, np.where(kind == 1, place < last, free))
        kept = keep.sum(axis=-1)
        good = kept.all(-1) & (kept < columns).any(-1) & (2 * (kept > 1).sum(-1) >= rows)
        return _first(keep.astype(np.int64), good)

    # -- judgement -------------------------------------------------------------------

    def _pass(self, drawn: Mapping[str, Integers]) -> Flags:
        distinct = np.ones(_AT_ONCE, bool)
        for name, rows in drawn.items():
            distinct &= rows.any(axis=(-1, -2)) | (name == "upstream")
        good = self._counted(-1, _GIVEN, np.ones(_AT_ONCE, bool), distinct)
        if not good.any():
            return good
        candidates = np.flatnonzero(good)
        given = {name: matrix(rows) for name, rows in inputs(self.base.case).items()}
        given |= {name: rows[candidates].astype(float) for name, rows in drawn.items()}
        run: Run[Matrix] = Run(
            FloatOperations(), lambda node: given[node.extra] if node.op == "given" else None
        )
        values = {serial: run[node] for serial, node in self._judged.items()}
        good[candidates] = self._judge(values, len(candidates), _OFF)
        return good

    def _exercise(self, numbers: Mapping[str, Integers], version: int) -> Exercise | None:
        case = self.base.case
        given = {
            name: nested(node.shape, numbers[name].tolist()) for name, node in self._drawn.items()
        }
        upstream = given.pop("upstream", case.raw_upstream)
        exercise = replace(
            self.base, case=with_numbers(case, given, upstream), seed=self.seed, version=version
        )
        values = self._exactly(exercise)
        return exercise if values is not None and self._judge(values, 1, 0.0).all() else None

    def _exactly(self, exercise: Exercise) -> dict[int, Matrix] | None:
        """The floats nearest to what is judged; None where a part is not defined."""
        values: dict[int, Matrix] = {}
        for serial, node in self._judged.items():
            try:
                values[serial] = _nearest(exercise.solution, node)
            except SymattnError:
                if any(node is x for x in (*self._nodes.values(), *self._softmaxes)):
                    return None
                # With a fault the step may not be defined: a row masked whole.
                values[serial] = np.full((1, *node.grid), np.nan)
        return values

    def _judge(self, values: Mapping[int, Matrix], count: int, off: float) -> Flags:
        """Return which of many candidates are pleasant, all comparisons ``off`` by so much."""
        good = np.ones(count, bool)
        with np.errstate(all="ignore"):
            for place, (reason, passed) in enumerate(self._criteria(values, off)):
                if place not in self._dropped:
                    good = self._counted(place, reason, good, passed)
        return good

    def _counted(self, place: int, reason: str, asked: Flags, passed: Flags) -> Flags:
        """Return which of those asked have passed; how many have and have not is counted."""
        good = asked & passed
        self._failed[reason] += int((asked & ~passed).sum())
        self._asked[place] += int(asked.sum())
        self._met[place] += int(good.sum())
        return good

    def _criteria(self, values: Mapping[int, Matrix], off: float) -> Iterator[tuple[str, Flags]]:
        for node in self._softmaxes:
            scores, weights = values[node.operands[0].serial], values[node.serial]
            kept = np.broadcast_to(scores > -np.inf, weights.shape)
            yield _WEIGHTS, _are_telling(weights, kept, self._least, off)
            yield _ALIKE, _are_others(weights, kept, off)
            if not self.wanted.ties:
                yield _TIES, _have_no_ties(scores, off)
        for part in self.base.parts:
            figures = values[self._nodes[part.quantity].serial]
            size = np.where(np.isfinite(figures), np.abs(figures), 0)
            yield _LARGE, _every(size <= _SIZE * (1 + off))
            units = size * 10.0**part.places
            yield _ZERO, _any(units >= VISIBLE * (1 - off))
            if part.places <= 8:
                beside = np.abs(units - np.floor(units) - 0.5)
                yield _DIGITS, _every(beside >= _TIE - off * (1 + units))
        parts = {part.quantity: part for part in self.base.parts}
        for fault in self.faults:
            right = values[self._nodes[fault.part].serial]
            wrong = values[fault.nodes[fault.part].serial]
            apart = np.where(right == wrong, 0.0, np.abs(right - wrong))
            limit = (VISIBLE + 1) * 10.0 ** -parts[fault.part].places
            slack = off * (1 + np.where(np.isfinite(right), np.abs(right), 0))
            seen = np.isnan(apart) | (apart >= limit - slack)
            yield _FAULTS, _any(seen)


def _nearest(solution: Solution, node: Node) -> Matrix:
    """The floats nearest to the entries of a node, as those of one candidate.

    They are rounded from balls far narrower than floats are apart: only where there
    are none the exact values are asked.
    """
    quantity = solution.quantity(node)
    balls = quantity.source.balls(FIRST)
    if balls is None or not all(ball is None or ball.is_finite() for ball in balls):
        return np.asarray(quantity.nearest(), dtype=float).reshape(1, *node.grid)
    # What has no ball is a masked score.
    floats = [-np.inf if ball is None else float(ball) for ball in balls]
    return np.array(floats).reshape(1, *node.grid)


def _every(flags: Flags) -> Flags:
    """Of every candidate whether all its entries have it."""
    return np.asarray(flags.all(axis=(-1, -2)))


def _any(flags: Flags) -> Flags:
    """Of every candidate whether any of its entries has it."""
    return np.asarray(flags.any(axis=(-1, -2)))


def _distinct(rows: Integers) -> Flags:
    """Return whether no two rows are the same: told by sums that only equal rows share."""
    by = Draws(rows.shape[-1]).below(1 << 32, rows.shape[-1:])
    sums = np.sort((rows * by).sum(axis=-1), axis=-1)
    return np.asarray((np.diff(sums, axis=-1) != 0).all(axis=-1))


def _first(values: Integers, good: Flags) -> Integers:
    """Of the tries of every candidate the first that is good; zeros where none is."""
    place = good.argmax(axis=1)
    chosen = values[np.arange(len(values)), place]
    exists = np.asarray(good.any(axis=1))
    return np.where(exists[:, None, None], chosen, 0)


def _are_telling(weights: Matrix, kept: Flags, least: float, off: float) -> Flags:
    """Return whether no weight is nearly 0, and no row nearly alike, but for rows of one key."""
    enough = _every(~kept | (weights >= least - off))
    high = np.where(kept, weights, 0.0).max(-1)
    low = np.where(kept, weights, 1.0).min(-1)
    apart = (high - low >= _SPREAD - off) | (kept.sum(axis=-1) == 1)
    return np.asarray(enough & apart.all(-1))


def _are_others(weights: Matrix, kept: Flags, off: float) -> Flags:
    """Return whether no two rows of several keys are alike: told by sums that only those share."""
    rows, columns = weights.shape[-2:]
    sums = (weights * np.sqrt(np.arange(2, columns + 2))).sum(axis=-1)
    sums = np.where(kept.sum(axis=-1) > 1, sums, -1.0 - np.arange(rows))
    return np.asarray((np.diff(np.sort(sums, axis=-1), axis=-1) >= _ALIKE_ROWS - off).all(axis=-1))


def _have_no_ties(scores: Matrix, off: float) -> Flags:
    steps = np.diff(np.sort(scores, axis=-1), axis=-1)
    # Between two masked scores there is no step.
    return _every(~(steps < _EQUAL - off))
