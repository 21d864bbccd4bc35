"""Random sizes and numbers at which a line is tried, its hypotheses being met."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from random import Random
from typing import Any, Literal, TypeAlias

from flint import arb, ctx, fmpq

from symattn.calculus import language as term
from symattn.calculus.language import Array, Axis
from symattn.calculus.sampling import LOSS, Missing, SamplePoint, slope
from symattn.calculus.tensors import ParsedLine
from symattn.numbers.balls import precision

Style = Literal["any", "above", "below", "wide", "whole", "edge", "alike"]
"""A way to draw numbers; :data:`_STYLES` says which."""

_TRIES = 12
_EDGES = (fmpq(0), fmpq(0), fmpq(0), fmpq(1))
_STEPS = 40
_VAIN = 60_000
"""So many steps of computing are done in vain before numbers are given up."""
_PATIENCE = 6
"""In so many steps towards equations half of what is missing is made up for, at least."""


_KEPT = 0.7
"""How often an entry of a mask is 1."""
_PARTS = (1, 2, 0, 8)
_LEGS = (0, 3, 5, 7, 8, 12, 15, 24, 4, 1)
_HYPOTENUSES = (1, 5, 13, 25, 17, 13, 17, 25, 5, 1)
_FEW = 24
_DENOMINATOR = 10**6
_CLOSE = 60
_TINY = 1e-8
"""So many numbers at most are rounded to such parts of 1, or for 0 to legs of right triangles by
their hypotenuse, as have cosine and sine; others to fractions with denominators up to that; a
solution is looked for within 2**-60; slopes that are so small beside others are none."""

_Number: TypeAlias = tuple[Array, tuple[int, ...]]
"""An array, and a place in it."""


@dataclass(frozen=True)
class Ground:
    """The ground that lines stand on: what is given, and what is assumed of it."""

    given: tuple[Array, ...] = ()
    losses: tuple[Array, ...] = ()
    permutations: Mapping[str, Axis] | None = None
    random: tuple[Array, ...] = ()
    hypotheses: tuple[ParsedLine, ...] = ()

    def assumed(self, needed: frozenset[Array]) -> list[ParsedLine]:
        """The equations that are assumed of what is needed."""
        return [line for line in self._of(needed) if line.relation == "=="]

    def beside(self, needed: frozenset[Array]) -> list[ParsedLine]:
        """The inequalities that are assumed of what is needed."""
        return [line for line in self._of(needed) if line.relation != "=="]

    def _of(self, needed: frozenset[Array]) -> Iterator[ParsedLine]:
        return (line for line in self.hypotheses if set(_named([line])) <= needed)

    def tie(self, line: ParsedLine) -> tuple[Array, Array] | None:
        """Something given that a line varies, and other in it that an equation is assumed to tie
        to it; None where there is none."""
        named = set(_named([line]))
        bodies = [array.body for array in term.arrays(*line.sides) if array.body is not None]
        parts = [*term.walk(*line.sides, *bodies)]
        varied = {part.array for part in parts if isinstance(part, term.Partial)}
        varied |= {part.variable for part in parts if isinstance(part, term.Limit)}
        if any(isinstance(part, term.Expectation) for part in parts):
            varied |= {*self.random}
            named |= {*self.random}
        for other in self.hypotheses:
            tied = {*_named([other])} & named if other.relation == "==" else set()
            for array in sorted(tied & varied, key=lambda each: each.name):
                for rest in sorted(tied - {array}, key=lambda each: each.name):
                    return array, rest
        return None

    def positive(self) -> frozenset[Array]:
        """The given arrays that are assumed to be above 0 as such."""
        return frozenset(filter(None, map(above_zero, self.hypotheses)))


def above_zero(line: ParsedLine) -> Array | None:
    """The array all of whose entries a hypothesis such as ``x[i] > 0`` puts above 0."""
    match line:
        case ParsedLine((term.Entry(array, at), term.Number(least)), free, ">") if least >= 0:
            plain = [term.AxisPlace(index) for index in free]
            return array if len(at) == len(free) and all(place in plain for place in at) else None
    return None


def draw(
    ground: Ground,
    needed: frozenset[Array],
    sizes: Mapping[str, int],
    rng: Random,
    style: Style,
    flat: tuple[Array | None, fmpq, bool] = (None, _EDGES[0], False),
    named: Sequence[fmpq] = (),
) -> SamplePoint | None:
    """Numbers for what is needed that meet all hypotheses; None where none were found.

    All entries of the array ``flat`` are the number beside it, or the first of them alone;
    ``named`` are numbers that a line speaks of.
    """
    above = ground.positive()
    equations = ground.assumed(needed)
    masks = frozenset(item for line in equations if (item := mask(line)) is not None)
    masks -= frozenset(_named([line for line in equations if mask(line) is None]))
    equations = [line for line in equations if mask(line) not in masks]
    bound = frozenset(_named(equations))
    others = ground.beside(needed)
    images = {
        name: _shuffled(rng, axis if isinstance(axis, int) else sizes[axis])
        for name, axis in (ground.permutations or {}).items()
    }
    spent = 0
    for attempt in range(_TRIES):
        values: dict[Array, dict[tuple[int, ...], Any]] = {}
        point = SamplePoint(sizes, values, images, ground.random)
        for array in (*ground.given, *ground.losses):
            if array not in needed:
                continue
            own = style
            if (array in ground.random and style not in ("alike", "edge")) or (
                array in above and style in ("below", "wide")
            ):
                own = "above"
            elif array in bound and attempt >= _TRIES // 2:
                # From far apart many numbers are moved beyond what they are bound to.
                own = "alike"
            elif array in bound and style == "wide":
                own = "any"
            axes = array.axes if array.of is None else (LOSS, *array.of.axes)
            every = [*point.places(axes)]
            if array.of is not None:
                every = [(part - 1, *at) for part, *at in every]
            level = arb(flat[1] if array not in masks else min(flat[1], fmpq(1)))
            if array is flat[0] and not flat[2]:
                values[array] = dict.fromkeys(every, level)
            elif array in masks:
                values[array] = {at: arb(int(rng.random() < _KEPT)) for at in every}
            else:
                values[array] = {at: _number(rng, own, array in above, named) for at in every}
            if array is flat[0]:
                values[array][every[0]] = level
            if array.of is not None and style == "whole":
                # The slopes of a loss are whole numbers too.
                values[array] |= {at: arb(0) for at in every if at[0]}
        # One entry alone stays what it was set to, and the others are moved.
        alone = flat[0] if flat[2] else None
        kept = [(alone, next(iter(values[alone])))] if alone in values and alone else []
        if equations and not _solved(point, equations, kept):
            spent += point.worked
            if spent > _VAIN:
                break
            continue
        if all(_holds(point, item) for item in others):
            return point
    return None


def mask(line: ParsedLine) -> Array | None:
    """The array all of whose entries ``M[i, j] * M[i, j] == M[i, j]`` says to be 0 or 1."""
    match line:
        case ParsedLine(
            (term.Mul((term.Entry() as first, term.Entry() as two)), term.Entry() as last)
        ):
            same = first.array is two.array is last.array and first.at == two.at == last.at
            plain = [term.AxisPlace(index) for index in line.free]
            whole = len(first.at) == len(plain) and all(at in plain for at in first.at)
            return first.array if same and whole else None
    return None


def _shuffled(rng: Random, length: int) -> list[int]:
    order = list(range(1, length + 1))
    rng.shuffle(order)
    return order


def _fraction(rng: Random, sign: int) -> fmpq:
    # Exact in balls, and never whole.
    return fmpq(sign * rng.randrange(9, 199, 2), 64)


def _far(rng: Random, sign: int) -> fmpq:
    ten = 10 ** (rng.randint(0, 8) if rng.random() < 0.7 else rng.randint(9, 30))
    return fmpq(sign * rng.randint(1, 99), 10) * (ten if rng.random() < 0.6 else fmpq(1, ten))


_Draws: TypeAlias = Callable[[Random, int, Sequence[fmpq]], fmpq]
_STYLES: Mapping[Style, _Draws] = {
    "any": lambda rng, sign, named: _fraction(rng, sign),
    "above": lambda rng, sign, named: _fraction(rng, 1),
    "below": lambda rng, sign, named: _fraction(rng, -1),
    "wide": lambda rng, sign, named: _far(rng, sign),
    "whole": lambda rng, sign, named: fmpq(rng.randint(-2, 3)),
    "edge": lambda rng, sign, named: sign * rng.choice((*_EDGES, *named)),
    "alike": lambda rng, sign, named: fmpq(1, 2),
}
"""Rationals of either sign; above 0; below 0; very large and small; small whole numbers; numbers at
which something ends, 0 above all, and those that a line names; all the same. Each draws by a
random sign and the numbers that a line names."""


def _number(rng: Random, style: Style, above: bool, named: Sequence[fmpq]) -> arb:
    """A number in a style; above 0 where it has to be."""
    for _ in range(_TRIES):
        number = _STYLES[style](rng, 1 if above else rng.choice((1, -1)), named)
        if number > 0 or not above:
            return arb(number)
    return arb(1)


def _holds(point: SamplePoint, line: ParsedLine) -> bool:
    """Return whether an inequality is so at a point, for all its indices."""
    is_reached = line.relation == ">="
    return all(apart > 0 or (is_reached and apart == 0) for apart in _residuals(point, [line]))


def _solved(point: SamplePoint, equations: Sequence[ParsedLine], kept: Collection[_Number]) -> bool:
    """Move a point, but for some of its numbers, so that it meets equations: by the steps of
    Gauss and Newton in floats, then on with their last matrix in balls, to nearly all bits."""
    import numpy as np

    unknown = [each for each in _unknowns(point, equations) if each not in kept]
    if not unknown:
        left = _residuals(point, equations)
        return all(x.contains(0) if isinstance(x, arb) else x == 0 for x in left)
    equations = _active(point, equations)
    with precision(64):
        rests: list[float] = []
        for _ in range(_STEPS):
            try:
                residuals = list(_residuals(point, equations))
                slopes = _matrix(point, equations, unknown)
            except (Missing, ValueError):
                return False
            rest = np.array([float(x) for x in residuals])
            if not np.all(np.isfinite(slopes)) or not np.all(np.isfinite(rest)):
                return False
            inverse = np.linalg.pinv(slopes, rcond=1e-9)
            rests.append(float(np.max(np.abs(rest), initial=0.0)))
            if rests[-1] < 1e-11:
                break
            if len(rests) > _PATIENCE and rests[-1] > rests[-_PATIENCE] / 2:
                return False
            for (array, at), step in zip(unknown, inverse @ rest, strict=True):
                moved = float(point.values[array][at]) - float(step)
                point.values[array][at] = arb(moved)
            point.forget()
        else:
            return False
    matrix = [[arb(float(x)) for x in row] for row in inverse]
    for _ in range(_STEPS):
        point.forget()
        residuals = [arb(x) for x in _residuals(point, equations)]
        if all(abs(x) < arb(2) ** (30 - ctx.prec) for x in residuals):
            _rounded(point, unknown)
            return True
        for (array, at), step in zip(unknown, _applied(matrix, residuals), strict=True):
            point.values[array][at] = arb(point.values[array][at] - step).mid()
    return False


def _applied(matrix: Sequence[Sequence[Any]], column: Sequence[Any]) -> list[Any]:
    return [sum((a * x for a, x in zip(row, column, strict=True)), arb(0)) for row in matrix]


def _unknowns(point: SamplePoint, equations: Sequence[ParsedLine]) -> list[_Number]:
    """The numbers that are moved to meet equations."""
    named = _named(_active(point, equations))
    return [
        (array, at)
        for array in named
        if array in point.values and array.of is None
        for at in point.values[array]
    ]


def _matrix(point: SamplePoint, equations: Sequence[ParsedLine], of: Sequence[_Number]) -> Any:
    """The slopes of equations in some numbers, in floats."""
    import numpy as np

    rows = [[float(x) for x in _slopes(point, equations, number)] for number in of]
    return np.array(rows).T


def met(point: SamplePoint, ground: Ground, needed: frozenset[Array]) -> Iterator[SamplePoint]:
    """Points near one that certainly meet what is assumed: fractions, or balls with a solution."""
    equations = ground.assumed(needed)
    near = chain(_in_fractions(point, equations), _in_balls(point, equations))
    return (each for each in near if all(_holds(each, line) for line in ground.beside(needed)))


def _in_fractions(point: SamplePoint, equations: Sequence[ParsedLine]) -> Iterator[SamplePoint]:
    """Points whose numbers meet equations exactly: some are rounded, others follow from them."""
    if _are_met(point, equations):
        yield point
        return
    unknown = _unknowns(point, equations)
    if len(unknown) > _FEW:
        return
    _, columns = _pivots(_matrix(point, equations, unknown))
    free = [each for place, each in enumerate(unknown) if place not in columns]
    for parts in _PARTS:
        near = point.copy()
        for array, at in free:
            near.values[array][at] = _rounded_to(parts, float(near.values[array][at]))
        if _solved(near, equations, free):
            for array, at in unknown:
                near.values[array][at] = _simplest(near.values[array][at])
            near.forget()
            if _are_met(near, equations):
                yield near


def _rounded_to(parts: int, value: float) -> fmpq:
    if parts or abs(value) > 1:
        return fmpq(round(value * (parts or 1)), parts or 1)
    legs = [fmpq(leg, by) for leg, by in zip(_LEGS, _HYPOTENUSES, strict=True)]
    return min(
        (sign * leg for leg in legs for sign in (1, -1)),
        key=lambda x: abs(int(x.p) / int(x.q) - value),
    )


def _simplest(value: Any) -> fmpq:
    """A fraction with a small denominator near a number."""
    exact = arb(value).mid().fmpq()
    near = Fraction(int(exact.p), int(exact.q)).limit_denominator(_DENOMINATOR)
    return fmpq(near.numerator, near.denominator)


def _in_balls(point: SamplePoint, equations: Sequence[ParsedLine]) -> Iterator[SamplePoint]:
    """A point of balls in which independent equations have one solution, the other numbers being
    as they are (R. Krawczyk, Computing 4, 1969)."""
    import numpy as np

    near, unknown = point.copy(), _unknowns(point, equations)
    slopes = _matrix(near, equations, unknown)
    rows, columns = _pivots(slopes)
    if len(rows) < len(slopes):
        return
    for array, at in unknown:
        near.values[array][at] = arb(near.values[array][at]).mid()
    near.forget()
    numbers = [unknown[column] for column in columns]
    inverse = np.linalg.inv(slopes[:, columns]).tolist()
    moves = _applied(inverse, [arb(x) for x in _residuals(near, equations)])
    middles = [near.values[array][at] for array, at in numbers]
    about = [arb(0, (1 + abs(x)) * arb(2) ** -_CLOSE) for x in middles]
    for (array, at), middle, within in zip(numbers, middles, about, strict=True):
        near.values[array][at] = middle + within
    near.forget()
    wide = [[*_slopes(near, equations, number)] for number in numbers]
    for place, (array, at) in enumerate(numbers):
        row = [-x for column in wide for x in _applied([inverse[place]], column)]
        row[place] += 1
        moved = sum((a * b for a, b in zip(row, about, strict=True)), -moves[place])
        if not about[place].contains_interior(moved):
            return
        near.values[array][at] = middles[place] + moved
    near.forget()
    yield near


def _pivots(slopes: Any) -> tuple[list[int], list[int]]:
    """Rows and columns of a matrix that are independent, as many as there are."""
    import numpy as np

    rest, rows, columns = slopes.copy(), [], []
    while rest.size and np.max(np.abs(rest)) > _TINY * np.max(np.abs(slopes)):
        row, column = np.unravel_index(np.argmax(np.abs(rest)), rest.shape)
        rest = rest - np.outer(rest[:, column], rest[row]) / rest[row, column]
        rows.append(int(row))
        columns.append(int(column))
    return rows, columns


def _active(point: SamplePoint, equations: Sequence[ParsedLine]) -> list[ParsedLine]:
    """The equations that are not met by a point yet, and those that moving it may touch."""
    missed = []
    for equation in equations:
        try:
            met = _are_met(point, [equation])
        except Missing:
            met = False
        if not met:
            missed.append(equation)
    touched = set(_named(missed))
    while more := [x for x in equations if x not in missed and touched & set(_named([x]))]:
        missed += more
        touched |= set(_named(more))
    return [equation for equation in equations if equation in missed]


def _rounded(point: SamplePoint, places: Sequence[_Number]) -> None:
    """Make whole numbers of those that are as good as whole: what is 0 is exactly so.

    The others are balls around what meets the equations, so that what these make 0 is
    not taken for a number beside 0.
    """
    for array, at in places:
        value = point.values[array][at]
        near = arb(round(float(value)))
        if abs(value - near) < arb(2) ** (40 - ctx.prec):
            point.values[array][at] = near
        else:
            about = (1 + abs(value)) * arb(2) ** (60 - ctx.prec)
            point.values[array][at] = arb(value.mid(), about.upper())
    point.forget()


def _named(lines: Sequence[ParsedLine]) -> list[Array]:
    arrays = term.arrays(*(side for line in lines for side in line.sides))
    return sorted((given for given in arrays if given.body is None), key=lambda given: given.name)


def _residuals(point: SamplePoint, equations: Sequence[ParsedLine]) -> Iterator[Any]:
    for line in equations:
        first, *rest = line.sides
        for at in point.indices(line):
            point.env.update(zip(line.free, at, strict=True))
            left = point.evaluate(first)
            for side in rest:
                yield left - point.evaluate(side)


def _slopes(point: SamplePoint, equations: Sequence[ParsedLine], of: _Number) -> Iterator[Any]:
    with point.varied(*of) as tag:
        for residual in _residuals(point, equations):
            yield slope(residual, tag)


def _are_met(point: SamplePoint, equations: Sequence[ParsedLine]) -> bool:
    return all(residual == 0 for residual in _residuals(point, equations))
