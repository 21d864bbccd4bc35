"""A line in numbers: one side of it, at one size and one point, in balls.

The second witness of every line. It shares no code with the kernel
of :mod:`symattn.calculus.kernel`: each expression is evaluated as it stands, sums
term by term, derivatives by numbers that carry them (:class:`Jet`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import reduce
from itertools import product
from math import factorial
from operator import add
from typing import Any, TypeAlias

import flint
from flint import arb, ctx, fmpq

from symattn.calculus import language as term
from symattn.calculus.language import Array, Axis, AxisPlace, Expr, Index, ParsedLine
from symattn.numbers.balls import precision

# -- numbers that carry a derivative -----------------------------------------------------
# Balls, and balls with the slope in a variable.
#
# Forward differentiation, nested by tags: the slope in one variable may itself carry the slope in
# another (B. Pearlmutter, J. Siskind, Perturbation confusion, 2005). Plain whole numbers and
# fractions are exact.

Value: TypeAlias = Any
"""An ``int``, an ``fmpq``, an ``arb`` or a :class:`Jet`."""


#: Whole numbers of up to so many bits are raised to powers up to this exactly.
_EXACT = 64


class Jet:
    """``base + slope * e`` with ``e * e = 0``; the tag tells one ``e`` from another."""

    __slots__ = ("base", "slope", "tag")

    def __init__(self, tag: int, base: Value, slope: Value) -> None:
        self.tag, self.base, self.slope = tag, base, slope

    def _parts(self, other: Jet) -> tuple[int, Value, Value, Value, Value]:
        """The tag to go by, and both numbers in base and slope."""
        if self.tag == other.tag:
            return self.tag, self.base, self.slope, other.base, other.slope
        if self.tag > other.tag:
            return self.tag, self.base, self.slope, other, 0
        return other.tag, self, 0, other.base, other.slope

    def __add__(self, other: Value) -> Value:
        if not isinstance(other, Jet):
            return Jet(self.tag, self.base + other, self.slope)
        tag, a, da, b, db = self._parts(other)
        return Jet(tag, a + b, da + db)

    __radd__ = __add__

    def __sub__(self, other: Value) -> Value:
        return self + -other

    def __rsub__(self, other: Value) -> Value:
        return -self + other

    def __mul__(self, other: Value) -> Value:
        if not isinstance(other, Jet):
            return Jet(self.tag, self.base * other, _scaled(self.slope, other))
        tag, a, da, b, db = self._parts(other)
        return Jet(tag, a * b, _scaled(da, b) + _scaled(db, a))

    __rmul__ = __mul__

    def __neg__(self) -> Value:
        return Jet(self.tag, -self.base, -self.slope)

    def map(self, function: Callable[[Value], Value], slope: Callable[[Value], Value]) -> Value:
        """A function of this number, given its derivative."""
        return Jet(self.tag, function(self.base), _scaled(self.slope, slope(self.base)))


class Slopes:
    """Slopes in many variables at once, by what tells these apart; in all others they are 0."""

    __slots__ = ("of",)

    def __init__(self, of: dict[tuple[int, ...], Value]) -> None:
        self.of = of

    def __add__(self, other: Value) -> Value:
        if not isinstance(other, Slopes):
            return self
        slopes = {**self.of, **other.of}
        for tag in self.of.keys() & other.of.keys():
            slopes[tag] = self.of[tag] + other.of[tag]
        return Slopes(slopes)

    __radd__ = __add__

    def __mul__(self, factor: Value) -> Value:
        return Slopes({tag: slope * factor for tag, slope in self.of.items()})

    def __neg__(self) -> Value:
        return Slopes({tag: -slope for tag, slope in self.of.items()})


def _scaled(slope: Value, factor: Value) -> Value:
    """A slope, or many, times a number, which comes second as it may be a jet of its own."""
    return 0 if isinstance(slope, int) and slope == 0 else slope * factor


def slope(value: Value, tag: int) -> Value:
    """The derivative in the variable of a tag; :class:`Slopes` in many, 0 in none."""
    return value.slope if isinstance(value, Jet) and value.tag == tag else 0


def power(base: Value, exponent: Fraction) -> Value:
    """A rational power; of a number below 0 only a whole one is finite."""
    if isinstance(base, Jet):
        return base.map(
            lambda x: power(x, exponent),
            lambda x: in_ball(exponent) * power(x, exponent - 1) if exponent else 0,
        )
    if exponent.denominator == 1:
        # Exact numbers stay short.
        exact = abs(exponent) <= _EXACT and _is_short(base) and (exponent >= 0 or base != 0)
        raised = _times(base if exact else in_ball(base), int(abs(exponent)))
        return raised if exponent >= 0 else (fmpq(1) if exact else 1) / raised
    ball = in_ball(base)
    if exponent.denominator == 2:
        root = _times(ball.sqrt(), abs(exponent.numerator))
        return root if exponent > 0 else 1 / root
    return ball ** arb(fmpq(exponent.numerator, exponent.denominator))


def _is_short(base: Value) -> bool:
    """Tell whether a number is rational, of a few bits."""
    parts = () if isinstance(base, arb) else (base.p, base.q) if isinstance(base, fmpq) else (base,)
    return bool(parts) and all(abs(part) < 1 << _EXACT for part in parts)


def _times(base: Value, exponent: int) -> Value:
    """A power by multiplication: a ball around 0 has one."""
    power: Value = 1
    while exponent:
        if exponent & 1:
            power = power * base
        exponent >>= 1
        if exponent:
            base = base * base
    return power


_Function: TypeAlias = Callable[[Value], Value]


def _function(name: str, order: int = 0) -> _Function:
    """A function of Arb's, or its derivative of some order, by Arb's power series."""

    def function(x: Value) -> Value:
        if isinstance(x, Jet):
            return x.map(function, _function(name, order + 1))
        if not order or name == "exp":
            return getattr(in_ball(x), name)()
        series = getattr(flint.arb_series([in_ball(x), 1], prec=order + 1), name)()
        return series[order] * factorial(order)

    return function


def positive(x: Value) -> Value:
    """1 above 0, else 0, where it has no slope; not finite where it is not decided."""
    if isinstance(x, Jet):
        return x.map(positive, lambda base: arb("nan")) if plain(x) == 0 else positive(x.base)
    if x > 0:
        return 1
    return 0 if x < 0 or x == 0 else arb("nan")


def plain(x: Value) -> Value:
    """A number without its slopes."""
    return plain(x.base) if isinstance(x, Jet) else x


FUNCTIONS: dict[str, _Function] = {name: _function(name) for name in term.PRIMITIVE} | {
    "positive": positive
}


def in_ball(x: Fraction | int | fmpq | arb) -> arb:
    """A number as a ball."""
    if isinstance(x, Fraction):
        return arb(fmpq(x.numerator, x.denominator))
    return x if isinstance(x, flint.arb) else arb(x)


# -- sampling ----------------------------------------------------------------------------

#: Where a limit is looked at: so close to its end in powers of 2, times a number
#: that is no whole one, so that what swings does not look at rest.
_NEAR = ((100, fmpq(5, 3)), (200, fmpq(4, 3)), (300, fmpq(7, 5)))
#: So many bits a limit is looked at with: differences cancel there.
_LIMIT_BITS = 1600
#: So many expressions are evaluated for one line at a point.
WORK = 400_000
#: So many sums of entries a loss is made of; the first alone is a loss of given slopes.
LOSS = 4
#: So many derivatives may stand in one another: each doubles what a number carries.
_NESTED = 4
#: Random entries whose every outcome is counted are at most so many.
OUTCOMES = 6


_Varied: TypeAlias = tuple[Array, int | None, Any]
"""What is varied: an array; the tag of its slopes, or None where numbers are set for it; the
place of the one entry that has a slope, or the numbers."""


class Missing(Exception):
    """A place does not exist at these sizes."""


class Unclear(Exception):
    """A number can't be found; the message says why."""


class SamplePoint:
    """Numbers for all that is given, at one choice of sizes.

    ``values`` are the entries of given arrays by place, ``images`` where each
    permutation sends 1, 2, ..., ``losses`` the coefficients of losses.
    """

    def __init__(
        self,
        sizes: Mapping[str, int],
        values: Mapping[Array, dict[tuple[int, ...], Value]],
        images: Mapping[str, Sequence[int]],
        random: Sequence[Array] = (),
    ) -> None:
        self.sizes = sizes
        self.values = values
        self.images = images
        self.random = random
        self.env: dict[Index, int] = {}
        self._left = WORK
        self._set: list[_Varied] = []
        self._known: dict[tuple[Any, ...], dict[tuple[int, ...], Value]] = {}
        self._tables: dict[Array, dict[tuple[int, ...], Value]] = {}

    def length(self, axis: Axis) -> int:
        """Return how long an axis is here."""
        return axis if isinstance(axis, int) else self.sizes[axis]

    def places(self, axes: Sequence[Axis]) -> Iterator[tuple[int, ...]]:
        """All places of an array."""
        return product(*(range(1, self.length(axis) + 1) for axis in axes))

    def indices(self, line: ParsedLine) -> Iterator[tuple[int, ...]]:
        """All places of the free indices of a line."""
        return self.places([index.size for index in line.free])

    def evaluate(self, value: Expr) -> Value:
        """The number that an expression stands for, its free indices being in ``env``.

        Raises :class:`Missing` and :class:`Unclear`.
        """
        self._left -= 1
        if self._left < 0:
            raise Unclear(f"more than {WORK} steps of computing at one point")
        return _RULES[type(value)](self, value)

    def copy(self) -> SamplePoint:
        """A point with the same numbers, which may be changed by themselves."""
        values = {array: dict(entries) for array, entries in self.values.items()}
        return SamplePoint(self.sizes, values, self.images, self.random)

    @property
    def worked(self) -> int:
        """Return how many expressions were evaluated since the last line began."""
        return WORK - self._left

    def renew(self) -> None:
        """Allow as much work again: another line begins."""
        self._left = WORK

    def forget(self) -> None:
        """Forget what was computed: the numbers given have changed."""
        self._known.clear()
        self._tables.clear()

    @contextmanager
    def _while(self, *varied: _Varied) -> Iterator[None]:
        """While this lasts more is varied; the tables of entries go by it."""
        before, tables = self._set, self._tables
        self._set, self._tables = [*before, *varied], {}
        try:
            yield
        finally:
            self._set, self._tables = before, tables

    @contextmanager
    def varied(self, array: Array, at: tuple[int, ...] | None = None) -> Iterator[int]:
        """While this lasts values carry their slope in one entry, or their slopes in all
        entries of an array, under the tag given."""
        tag = 1 + sum(tag is not None for _, tag, _ in self._set)
        if tag > _NESTED:
            raise Unclear(f"more than {_NESTED} derivatives in one another")
        with self._while((array, tag, at)):
            yield tag

    # -- places ------------------------------------------------------------------

    def place(self, at: AxisPlace, axis: Axis) -> int:
        """Return where a place lies along an axis. Raises :class:`Missing` beyond its ends."""
        position = self._start(at)
        if not 1 <= position <= self.length(axis):
            raise Missing
        return self._sent(at, position) if at.images else position

    def _loose(self, at: AxisPlace) -> int:
        """A place to be compared; it may lie beyond the end of its axis."""
        return self._sent(at, self._start(at)) if at.images else self._start(at)

    def _sent(self, at: AxisPlace, position: int) -> int:
        for image in at.images:
            position = self.images[image][position - 1]
        return position

    def _start(self, at: AxisPlace) -> int:
        """A place before permutations send it on."""
        position = at.offset
        if at.index is not None:
            position += self.env[at.index]
        elif at.size:
            position += self.sizes[at.size]
        return position

    # -- entries -----------------------------------------------------------------

    def entry(self, array: Array, at: tuple[int, ...]) -> Value:
        """An entry of an array, with its slopes in what is being varied."""
        table = self._tables.get(array)
        if table is None:
            table = self._tables[array] = self._table(array, self._varied_in(array))
        value = table.get(at)
        if value is None:
            value = table[at] = self._moved(self._varied_in(array), array, at)
        return value

    def _varied_in(self, array: Array) -> list[_Varied]:
        return [varied for varied in self._set if varied[0] is array or varied[0] in array.uses]

    def _table(self, array: Array, varied: list[_Varied]) -> dict[tuple[int, ...], Value]:
        """The entries that are known of an array while this is varied."""
        if array.body is None and array.of is None and not varied:
            return self.values[array]
        if any(tag is None for _, tag, _ in varied):
            # A number set for now: what follows from it is forgotten with it.
            return {}
        return self._known.setdefault((array, *varied), {})

    def _moved(self, varied: list[_Varied], array: Array, at: tuple[int, ...]) -> Value:
        for place in range(len(varied) - 1, -1, -1):
            whose, tag, where = varied[place]
            if whose is array:
                if tag is None:
                    return where[at] if isinstance(where, dict) else where
                others = [*varied[:place], *varied[place + 1 :]]
                table = self._table(array, others)
                base = table.get(at)
                if base is None:
                    base = table[at] = self._moved(others, array, at)
                if where is None:
                    return Jet(tag, base, Slopes({at: 1}))
                return Jet(tag, base, 1) if where == at else base
        if array.body is None and array.of is None:
            return self.values[array][at]
        before, self._set = self._set, varied
        try:
            return self._computed(array, at)
        finally:
            self._set = before

    def _computed(self, array: Array, at: tuple[int, ...]) -> Value:
        if array.of is not None:
            return self._loss(array, array.of)
        assert array.body is not None
        outer = [self.env.get(param) for param in array.params]
        self.env.update(zip(array.params, at, strict=True))
        try:
            return self.evaluate(array.body)
        finally:
            for param, before in zip(array.params, outer, strict=True):
                if before is not None:
                    self.env[param] = before

    def _loss(self, loss: Array, of: Array) -> Value:
        """A loss is sums of entries with random coefficients: one as it is, a sine and powers."""
        places = list(self.places(of.axes))
        entries = [self.entry(of, place) for place in places]
        coefficients = self.values[loss]
        rows = [[coefficients[(part, *place)] for place in places] for part in range(LOSS)]
        return _loss_of(rows, entries)

    # -- rules, one for each kind of expression ------------------------------------

    def _number(self, value: term.Number) -> Value:
        number = value.value
        if number.denominator == 1:
            return int(number)
        return fmpq(number.numerator, number.denominator)

    def _entry(self, value: term.Entry) -> Value:
        array = value.array
        return self.entry(array, tuple(map(self.place, value.at, array.axes)))

    def _mul(self, value: term.Mul) -> Value:
        product: Value = 1
        missing = False
        for part in value.factors:
            if isinstance(product, arb) and not product.is_finite() and not _is_guard(part):
                # Nothing but a guard makes a number of it again.
                continue
            try:
                factor = self.evaluate(part)
            except Missing:
                # A step or delta that is 0 there takes care of it, as of all without a meaning.
                missing = True
                continue
            if isinstance(factor, int) and factor == 0 and self._is_ruled_out(part):
                return 0
            product = product * factor
        if missing:
            raise Missing
        return product

    def _is_ruled_out(self, value: Expr) -> bool:
        """Return whether a step or a delta makes 0 of an expression, of which it is a factor."""
        match value:
            case term.Mul(factors):
                return any(map(self._is_ruled_out, factors))
            case term.Neg(body):
                return self._is_ruled_out(body)
        return _is_guard(value) and self.evaluate(value) == 0

    def _div(self, value: term.Div) -> Value:
        above = self.evaluate(value.above)
        below = self.evaluate(value.below)
        return above * power(below, Fraction(-1))

    def _sum(self, value: term.Sum) -> Value:
        total: Value = 0
        index = value.index
        for place in range(1, self.length(index.size) + 1):
            self.env[index] = place
            total = total + self.evaluate(value.body)
        return total

    def _partial(self, value: term.Partial) -> Value:
        at = tuple(map(self.place, value.at, value.array.axes))
        with self.varied(value.array) as tag:
            moved = self.evaluate(value.of)
        if isinstance(number := plain(moved), arb) and not number.is_finite():
            # Where a function has no meaning it has no slope.
            return arb("nan")
        found = slope(moved, tag)
        return found.of.get(at, 0) if isinstance(found, Slopes) else found

    def _limit(self, value: term.Limit) -> Value:
        """Return what a body comes near to; at a number from both sides that have a meaning."""
        with precision(max(_LIMIT_BITS, ctx.prec)):
            if isinstance(value.target, str):
                return self._approached(value, 1 if value.target == "oo" else -1)
            above = self._approached(value, 1)
            try:
                below = self._approached(value, -1)
            except Unclear:
                return above
        if not above.overlaps(below):
            raise Unclear("a limit that differs from both sides")
        return above

    def _approached(self, value: term.Limit, side: int) -> arb:
        numbers = []
        for near, times in _NEAR:
            step = arb(side * times) * arb(2) ** (near if isinstance(value.target, str) else -near)
            if isinstance(value.target, Fraction):
                step = step + arb(fmpq(value.target.numerator, value.target.denominator))
            with self._while((value.variable, None, step)):
                numbers.append(self.evaluate(value.body))
        if any(isinstance(number, Jet) for number in numbers):
            raise Unclear("the derivative of a limit")
        first, second, close = (arb(number) for number in numbers)
        before, apart = abs(first - second), abs(second - close)
        settled = apart.is_finite() and apart < arb(2) ** -20 * (1 + abs(close))
        if not settled or apart > before:
            # It moves on, and faster: its end is farther away than these numbers tell.
            raise Unclear("a limit that is not seen to be finite")
        return close + arb(0, 4 * apart.upper() + arb(2) ** -_NEAR[-1][0])

    def _expectation(self, value: term.Expectation) -> Value:
        """Each entry takes two values of mean 0 and variance 1: all outcomes are counted."""
        named = term.arrays(value.body)
        places = [
            (array, at) for array in self.random if array in named for at in self.values[array]
        ]
        if len(places) > OUTCOMES:
            raise Unclear("too many random entries to count their outcomes")
        total: Value = 0
        both = []
        for array, at in places:
            a = self.values[array][at]
            both.append(((a, 1 / (1 + a * a)), (-1 / a, a * a / (1 + a * a))))
        for outcome in product(*both):
            chance: Value = 1
            drawn: dict[Array, dict[tuple[int, ...], Value]] = {}
            for (array, at), (value_there, odds) in zip(places, outcome, strict=True):
                drawn.setdefault(array, {})[at] = value_there
                chance = chance * odds
            with self._while(*((array, None, entries) for array, entries in drawn.items())):
                total = total + chance * self.evaluate(value.body)
        return total

    def _operations(self, value: term.Operations) -> Value:
        total = 0
        for array in value.arrays:
            assert array.body is not None
            for at in self.places(array.axes):
                self.env.update(zip(array.params, at, strict=True))
                total += self._counted(array.body)
        return total

    def _counted(self, value: Expr) -> int:
        """Return how many operations one value of an expression takes."""
        match value:
            case term.Sum(index, body):
                count = self.length(index.size) - 1
                for place in range(1, self.length(index.size) + 1):
                    self.env[index] = place
                    count += self._counted(body)
                return count
            case term.Power(term.Size() | term.Number(), _):
                return 0
            case term.Add(parts) | term.Mul(parts):
                own = len(parts) - 1
            case term.Div() | term.Power() | term.Apply() | term.AtMost() | term.Delta():
                own = 1
            case term.Neg() | term.Entry() | term.Number():
                own = 0
            case term.Size() | term.Constant() | term.Position():
                own = 0
            case _:
                raise Unclear(f"the operations in {type(value).__name__}")
        return own + sum(map(self._counted, term.inside(value)))


def _is_guard(value: Expr) -> bool:
    """Return whether an expression is made of steps and deltas: beside their 0 all is left out."""
    match value:
        case term.Delta() | term.AtMost() | term.Apply("positive"):
            return True
        case term.Entry(array, _):
            return array.body is not None and _is_guard(array.body)
        case term.Add(parts) | term.Mul(parts):
            beside = [part for part in parts if not isinstance(part, term.Number)]
            return bool(beside) and all(map(_is_guard, beside))
        case term.Neg(body) | term.Sum(_, body):
            return _is_guard(body)
    return False


def _loss_of(rows: Sequence[Sequence[Value]], entries: Sequence[Value]) -> Value:
    """``t + sin(x) + y^2 + z^3`` of four sums of entries with the coefficients of their rows.

    Its slope is worked out as one sum over the entries, each with one factor.
    """
    tag = max((entry.tag for entry in entries if isinstance(entry, Jet)), default=0)
    moved = [isinstance(entry, Jet) and entry.tag == tag for entry in entries]
    bases = [entry.base if moves else entry for entry, moves in zip(entries, moved, strict=True)]
    t, x, y, z = (sum(c * base for c, base in zip(row, bases, strict=True)) for row in rows)
    if not tag:
        return t + FUNCTIONS["sin"](x) + y * y + z * z * z
    factors = 1, FUNCTIONS["cos"](x), 2 * y, 3 * z * z
    slope: Value = 0
    for place, entry in enumerate(entries):
        if moved[place]:
            part = sum(row[place] * factor for row, factor in zip(rows, factors, strict=True))
            slope = slope + entry.slope * part
    return Jet(tag, _loss_of(rows, bases), slope)


_RULES: dict[type, Any] = {
    term.Number: SamplePoint._number,
    term.Constant: lambda self, value: arb.pi(),
    term.Size: lambda self, value: self.length(term.length(value)),
    term.Position: lambda self, value: self.env[value.index],
    term.Entry: SamplePoint._entry,
    term.Add: lambda self, value: reduce(add, map(self.evaluate, value.terms)),
    term.Neg: lambda self, value: -self.evaluate(value.body),
    term.Mul: SamplePoint._mul,
    term.Div: SamplePoint._div,
    term.Power: lambda self, value: power(self.evaluate(value.base), value.exponent),
    term.Apply: lambda self, value: FUNCTIONS[value.function](self.evaluate(value.body)),
    term.Sum: SamplePoint._sum,
    term.Delta: lambda self, value: int(self._loose(value.first) == self._loose(value.second)),
    term.AtMost: lambda self, value: int(self._loose(value.first) <= self._loose(value.second)),
    term.Partial: SamplePoint._partial,
    term.Limit: SamplePoint._limit,
    term.Expectation: SamplePoint._expectation,
    term.Operations: SamplePoint._operations,
}
