"""What an expression is as a term: definitions unfolded, derivatives taken by the chain rule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from symattn.calculus import language as term
from symattn.calculus.kernel.computing import Choice, Computing, Fact
from symattn.calculus.kernel.germs import Germs
from symattn.calculus.kernel.signs import Condition, Relation, Source
from symattn.calculus.kernel.terms import (
    UNIT,
    Atom,
    Exponent,
    Frozen,
    Place,
    Poly,
    Unproved,
    add,
    arrays_in,
    atoms_of,
    composed,
    free_in,
    number,
    plain,
    power,
    scaled,
    summed,
    without,
)
from symattn.calculus.language import Array, AxisPlace, Entry, Expr, Index

Env = Mapping[Index, Place]
_TERMS = 3


class Reading(Computing):
    """Reads expressions; ``folded`` arrays are taken as they stand, as if they were given.

    While a derivative or a limit is taken the arrays that it varies are ``moving``: what is
    only assumed of them, or of what depends on them, is of no use then.
    """

    def __init__(self, folded: Collection[Array] = (), choose: Choice | None = None) -> None:
        super().__init__(choose)
        self.folded = frozenset(folded)
        self.moving: frozenset[Array] = frozenset()
        self.epoch = 0
        """How often facts were forgotten."""
        self.forms: set[Condition] = set()
        """Signs that expressions have by their form."""
        self._bodies: dict[tuple[Array, frozenset[Array], frozenset[Array]], Fact] = {}
        self._slopes: dict[tuple[Any, ...], Fact] = {}
        self._tables: dict[Any, dict[Any, Fact | None]] = {}

    def read(self, value: Expr, env: Env | None = None) -> Poly:
        """The term that an expression stands for. Raises :class:`Unproved`."""
        env = env or {}
        match value:
            case term.Number(fraction):
                return number(fraction)
            case term.Constant(name):
                return power(self.atom("c", name))
            case term.Size():
                return self.size(term.length(value))
            case term.Position(index):
                return self.position(self.place(AxisPlace(index), env))
            case term.Entry(array, at):
                return self.entry(array, self.places_on(array, at, env))
            case term.Add(parts):
                total = summed(self.read(part, env) for part in parts)
                if len(total) > 1:
                    self._know_by_form(value, total)
                return total
            case term.Neg(body):
                return scaled(self.read(body, env), -1)
            case term.Mul(parts):
                with self._guarded(parts, env):
                    return self.product(self.read(part, env) for part in parts)
            case term.Div(above, below):
                self._mean_nonzero(below, env)
                return self.mul(self.read(above, env), self._raised(below, env, -1))
            case term.Power(base, exponent):
                if exponent.denominator > 1:
                    self._mean(">" if exponent < 0 else ">=", base, self.read(base, env), env)
                elif exponent < 0:
                    self._mean_nonzero(base, env)
                return self._raised(base, env, exponent)
            case term.Apply("log", body):
                self._mean(">", body, self.read(body, env), env)
                return self._logarithm(body, env)
            case term.Apply("positive", body):
                return self._step(body, env)
            case term.Apply(function, body):
                return self.function(function, self.read(body, env))
            case term.Sum(index, body):
                with self.inside(index.size) as variables:
                    inside = {**env, index: (variables[0], 0, ())}
                    return self.sum(variables, self.read(body, inside))
            case term.Delta(first, second):
                return self.equal(self.place(first, env), self.place(second, env))
            case term.AtMost(first, second):
                return self.at_most(self.place(first, env), self.place(second, env))
            case term.Partial(of, array, at):
                return self._partial(of, array, self.places_on(array, at, env), env)
            case term.Limit(body, variable, target):
                return self.tending(variable, target, lambda: self.read(body, env))
            case term.Expectation(body):
                return self.expected(lambda: self.read(body, env))
            case term.Operations(arrays):
                return summed(self._operations(array) for array in arrays)
        raise Unproved(f"no rule for {type(value).__name__}")

    # -- factors, which keep what is known of them ------------------------------------------------

    def _factors(self, value: Expr, env: Env) -> list[tuple[Poly, Fraction]]:
        """The powers of which an expression is a product, as it is written."""
        match value:
            case term.Mul(parts):
                return [pair for part in parts for pair in self._factors(part, env)]
            case term.Div(above, below):
                self._mean_nonzero(below, env)
                inverse = [(base, -e) for base, e in self._factors(below, env)]
                return self._factors(above, env) + inverse
            case term.Power(base, exponent) if exponent.denominator == 1:
                if exponent < 0:
                    self._mean_nonzero(base, env)
                return [(inner, e * exponent) for inner, e in self._factors(base, env)]
        return [(self.read(value, env), UNIT)]

    def _raised(self, value: Expr, env: Env, exponent: Exponent) -> Poly:
        """A power of an expression: of a root factors that are above 0 are taken out."""
        factors = self._factors(value, env)
        if isinstance(plain(exponent), int):
            return self.product(self.raised(base, e * exponent) for base, e in factors)
        above = [(base, e) for base, e in factors if self.is_met(">", base) or not e % 2]
        rest = self.product(self.raised(base, e) for base, e in factors if (base, e) not in above)
        parts = [self._magnitude(base, e * exponent) for base, e in above]
        return self.product([*parts, self.raised(rest, exponent)])

    def _magnitude(self, base: Poly, exponent: Fraction) -> Poly:
        """A power of the magnitude of a term."""
        if self.is_met(">", base) or not exponent % 2:
            return self.raised(base, exponent)
        if self.is_met(">=", base):
            return self.raised(base, exponent)
        return self.raised(self.raised(base, 2), exponent / 2)

    def _logarithm(self, value: Expr, env: Env) -> Poly:
        factors = self._factors(value, env)
        above = [(base, e) for base, e in factors if self.is_met(">", base)]
        rest = self.product(self.raised(base, e) for base, e in factors if (base, e) not in above)
        logs = [scaled(self.function("log", base), e) for base, e in above]
        return summed([*logs, self.function("log", rest)] if rest != number(1) else logs)

    def _step(self, value: Expr, env: Env) -> Poly:
        factors = self._factors(value, env)
        below = [(base, e) for base, e in factors if not self.is_met(">", base)]
        return self.function("positive", self.product(self.raised(base, e) for base, e in below))

    @contextmanager
    def _guarded(self, parts: Iterable[Expr], env: Env) -> Iterator[None]:
        """While this lasts the comparisons among some factors hold: where they don't, the
        product is 0."""
        before = self.guards
        for part in parts:
            match part:
                case term.AtMost(first, second):
                    guard = self.place(first, env), self.place(second, env)
                case term.Add((term.Number(1), term.Neg(term.AtMost(second, first)))):
                    base, offset, images = self.place(first, env)
                    guard = (base, offset + 1, images), self.place(second, env)
                case _:
                    continue
            self.guards = (*self.guards, guard)
        try:
            yield
        finally:
            self.guards = before

    # -- meaning ---------------------------------------------------------------------------------

    def _mean(self, relation: Relation, value: Expr, poly: Poly, env: Env) -> None:
        """Note what an expression has no meaning without, unless it is so by its form."""
        self._know_by_form(value, poly)
        self.mean(relation, poly, Source(value, env))

    def _know_by_form(self, value: Expr, poly: Poly) -> None:
        """Know the sign that an expression has by what stands in it."""
        sign: Relation | None = (
            ">" if self._above_by_form(value) else ">=" if self._not_below_by_form(value) else None
        )
        if sign is not None and not self.is_met(sign, poly):
            known = self._everywhere(sign, poly)
            self.forms |= known
            self.know(known)

    def _everywhere(self, relation: Relation, poly: Poly) -> set[Condition]:
        """That a term has a sign, whatever its indices are."""
        conditions = {Condition(relation, frozenset(poly.items()))}
        for index in free_in(poly):
            conditions = self.quantified(conditions, index)
        return conditions

    def _mean_nonzero(self, value: Expr, env: Env) -> None:
        """A product is not 0 where none of its factors is."""
        match value:
            case term.Mul(factors):
                for factor in factors:
                    self._mean_nonzero(factor, env)
            case term.Power(base, exponent) if exponent > 0:
                self._mean_nonzero(base, env)
            case term.Neg(body):
                self._mean_nonzero(body, env)
            case _:
                self._mean("!=", value, self.read(value, env), env)

    def _above_by_form(self, value: Expr) -> bool:
        """Whether an expression is above 0 by what stands in it, where it has a meaning."""
        match value:
            case term.Apply("exp") | term.Size() | term.Constant() | term.Position():
                return True
            case term.Number(fraction):
                return fraction > 0
            case term.Entry(array, _):
                return array in self.positive or self._has_sign(array, self._above_by_form)
            case term.Add(parts):
                # What is not below 0 takes nothing from what is above it.
                return all(map(self._not_below_by_form, parts)) and any(
                    map(self._above_by_form, parts)
                )
            case term.Mul() | term.Div() | term.Power() | term.Sum():
                return all(map(self._above_by_form, term.inside(value)))
        return False

    def _not_below_by_form(self, value: Expr) -> bool:
        """Whether an expression is not below 0: squares, roots, and sums of such."""
        match value:
            case term.Power(_, exponent) if exponent.denominator % 2 == 0 or exponent % 2 == 0:
                return True
            case term.Entry(array, _):
                known = array in self.positive or array in self.not_negative
                return known or self._has_sign(array, self._not_below_by_form)
            case term.Number(fraction):
                return fraction >= 0
            case term.Delta() | term.AtMost() | term.Apply("positive"):
                return True
            case term.Add() | term.Mul() | term.Sum() | term.Div():
                return all(map(self._not_below_by_form, term.inside(value)))
        return self._above_by_form(value)

    def _has_sign(self, array: Array, sign: Callable[[Expr], bool]) -> bool:
        """Whether all entries of an array have a sign by its definition."""
        return array.body is not None and array not in self.folded and sign(array.body)

    def forget(self) -> None:
        """Forget all facts, as more is known now than when they were found."""
        self.epoch += 1
        self.facts.clear()
        self._tables.clear()
        self._bodies.clear()
        self._slopes.clear()
        self.steps.clear()
        self.conditions = set()

    # -- places and entries ----------------------------------------------------------------------

    def place(self, at: AxisPlace, env: Env) -> Place:
        """A place where its index is."""
        base: Place = (at.size or None, 0, ())
        if at.index is not None:
            base = env.get(at.index, (at.index, 0, ()))
            if base[2] and at.offset:
                raise Unproved("a number added to where a permutation sends an index")
        return composed((base[0], base[1] + at.offset, base[2]), [(name, 1) for name in at.images])

    def places_on(self, array: Array, at: Iterable[AxisPlace], env: Env) -> tuple[Place, ...]:
        """The places of an entry, which have to exist."""
        at = tuple(at)
        places = tuple(self.place(each, env) for each in at)
        for axis, place in zip(array.axes, places, strict=True):
            if self.is_guarded(axis, place):
                continue
            with self.apart() as conditions:
                self.need_place(axis, place)
            for condition in conditions:
                self.sources.setdefault(condition, Source(Entry(array, at), env))
            self.conditions |= conditions
        return places

    def entry(self, array: Array, at: tuple[Place, ...]) -> Poly:
        """An entry of an array, by its definition where it is unfolded."""
        if array.body is None or array in self.folded:
            return super().entry(array, at)
        key = (array, self.folded, self.moving)
        if key not in self._bodies:
            with self.apart() as conditions:
                value = self.read(array.body)
            self._bodies[key] = Fact(value, frozenset(conditions))
        body = self._bodies[key]
        to = dict(zip(array.params, at, strict=True))
        self.conditions |= self.moved(body.conditions, to)
        return self.put(body.value, to)

    def moved(self, conditions: Iterable[Condition], to: Mapping[Index, Place]) -> set[Condition]:
        """Conditions at other places."""
        changed = {condition: self._moved(condition, to) for condition in conditions}
        for condition, other in changed.items():
            if condition in self.sources:
                value, at = self.sources[condition]
                moved = {**to, **{index: self._led(place, to) for index, place in at.items()}}
                self.sources.setdefault(other, Source(value, moved))
        return {*changed.values()}

    @staticmethod
    def _led(place: Place, to: Mapping[Index, Place]) -> Place:
        if not isinstance(place[0], Index) or place[0] not in to:
            return place
        base, offset, images = to[place[0]]
        return composed((base, offset + place[1], images), place[2])

    def _moved(self, condition: Condition, to: Mapping[Index, Place]) -> Condition:
        """A condition at other places."""
        relation, of, axes = condition

        def change(place: Place, depth: int) -> Place:
            if not isinstance(place[0], Index) or place[0] not in to:
                return place
            base, offset, images = to[place[0]]
            return composed((base, offset + place[1], images), place[2])

        if relation == "exists":
            return Condition(relation, (of[0], change(of[1], 0)), axes)
        moved = self.changed(of, change)
        return Condition(relation, moved, axes)

    # -- derivatives -----------------------------------------------------------------------------

    @contextmanager
    def _varying(self, *arrays: Array, is_near: bool = True) -> Iterator[None]:
        """While this lasts arrays vary, and nothing is known of them that need not hold then:
        near where they are (a slope is taken there) what is not 0 or above 0 stays so; facts
        are noted apart."""
        before = self.moving, self.folded, self.facts, self.known()
        tables = self._tables, self._bodies, self._slopes
        self.moving |= frozenset(arrays)
        self.folded |= frozenset(arrays)
        if not is_near:
            self._tables, self._bodies, self._slopes = {}, {}, {}
        self.facts = self._tables.setdefault(self.moving, {})
        self._forget_signs(is_near)
        try:
            yield
        finally:
            self.moving, self.folded, self.facts, known = before
            self._tables, self._bodies, self._slopes = tables
            self.known(known)

    def _forget_signs(self, is_near: bool) -> None:
        """Forget signs of what depends on what is varied."""

        def stays(arrays: Iterable[Array]) -> bool:
            return not any(each in self.moving or each.uses & self.moving for each in arrays)

        self.not_negative = {each for each in self.not_negative if stays([each])}
        self.not_below = {of for of in self.not_below if stays(_arrays(of))}
        strict = (">", "!=") if is_near else ()
        self.everywhere = {
            each for each in self.everywhere if each.relation in strict or stays(_arrays(each.of))
        }
        if not is_near:
            self.positive = {each for each in self.positive if stays([each])}
            self.above = {of for of in self.above if stays(_arrays(of))}
            self.nonzero = {of for of in self.nonzero if stays(_arrays(of))}
        self.know(())

    def _partial(self, of: Expr, array: Array, at: tuple[Place, ...], env: Env) -> Poly:
        with self._varying(array), self.apart() as conditions:
            slope = self.slope(self.read(of, env), array, at)
        for relation, poly, axes in conditions:
            # A slope needs more than the end of where something has a meaning.
            if relation == ">=" and any(self._varies(each, array) for each in _arrays(poly)):
                self.conditions.add(Condition(">", poly, axes))
            else:
                self.conditions.add(Condition(relation, poly, axes))
        return self.again(slope)

    def slope(self, poly: Poly, array: Array, at: tuple[Place, ...]) -> Poly:
        """The derivative of a term in an entry of an array."""
        total: Poly = {}
        for mono, c in poly.items():
            for atom, e in mono:
                inner = self._slope(atom, array, at)
                if not inner:
                    continue
                if e != 1 and (e < 0 or isinstance(e, Fraction)):
                    base = dict(atom.data) if atom.kind == "p" else power(atom)
                    self.need("!=" if isinstance(e, int) else ">", base)
                outer = self.raised(power(atom), plain(Fraction(e) - 1))
                rest = {without(mono, atom): c * e}
                total = add(total, self.mul(self.mul(rest, outer), inner))
        return total

    def _slope(self, atom: Atom, array: Array, at: tuple[Place, ...]) -> Poly:
        if not any(self._varies(each, array) for each in atom.arrays):
            return {}
        key = (atom, array, at, self._level, self.moving)
        if key not in self._slopes:
            with self.apart() as conditions:
                value = self._slope_of(atom, array, at)
            self._slopes[key] = Fact(value, frozenset(conditions))
        fact = self._slopes[key]
        self.conditions |= fact.conditions
        return fact.value

    @staticmethod
    def _varies(array: Array, with_: Array) -> bool:
        return array is with_ or with_ in array.uses

    def _slope_of(self, atom: Atom, array: Array, at: tuple[Place, ...]) -> Poly:
        data: Any = atom.data
        match atom.kind:
            case "x":
                return self._slope_of_entry(data[0], data[1], array, at)
            case "F":
                name, of = data
                inner = self.slope(dict(of), array, at)
                return self.mul(self._outer_slope(name, atom, dict(of)), inner) if inner else {}
            case "p":
                return self.slope(dict(data), array, at)
            case "h":
                self.need("!=", dict(data))
                return {}
            case "S":
                with self.inside(*data[0]) as variables:
                    body = {self.summands(atom, variables): UNIT}
                    return self.sum(variables, self.slope(body, array, at))
        raise Unproved("the derivative of what is not taken apart")

    def _outer_slope(self, name: str, atom: Atom, of: Poly) -> Poly:
        """The derivative of a function at its argument."""
        match name:
            case "exp":
                return power(atom)
            case "log":
                self.need(">", of)
                return self.raised(of, -1)
            case "sin":
                return self.function("cos", of)
            case "cos":
                return scaled(self.function("sin", of), -1)
            case "erf":
                root = self.raised(power(self.atom("c", "pi")), Fraction(-1, 2))
                bell = self.exp(scaled(self.times(of, 2), -1))
                return scaled(self.mul(root, bell), 2)
        raise Unproved(f"no rule for the derivative of {name}")

    def _slope_of_entry(
        self, of: Array, here: tuple[Place, ...], array: Array, at: tuple[Place, ...]
    ) -> Poly:
        if of is array:
            return self.product(self.equal(*two) for two in zip(here, at, strict=True))
        if of.of is None and of.body is None:
            return {}
        if of.of is array:
            return self.derivative((of, here), (array, at))
        if of.of is not None:
            return self._through(of, here, of.of, array, at)
        middle = self._between(of, array)
        if not middle:
            return self.derivative((of, here), (array, at))
        return summed(self._through(of, here, each, array, at) for each in middle)

    def _through(
        self, of: Array, here: tuple[Place, ...], middle: Array, array: Array, at: tuple[Place, ...]
    ) -> Poly:
        """The chain rule: over all entries of an array that lies between."""
        with self.inside(*middle.axes) as variables:
            via = tuple((each, 0, ()) for each in variables)
            outer = self.derivative((of, here), (middle, via))
            inner = self.slope(self.entry(middle, via), array, at)
            return self.sum(variables, self.mul(outer, inner))

    def _between(self, of: Array, array: Array) -> list[Array]:
        """Unfolded arrays through which alone a folded one depends on another."""
        candidates = {
            each
            for each in of.uses - self.folded
            if each.body is not None and array in each.uses and "." not in each.name
        }
        last = {each for each in candidates if not any(each in other.uses for other in candidates)}
        todo, seen = [of], {of, *last}
        while todo:
            body = todo.pop().body
            if body is None:
                continue
            inner: set[Array] = set()
            for part in term.walk(body):
                match part:
                    case term.Entry(other, _):
                        inner.add(other)
                    case term.Partial() | term.Limit() | term.Expectation() | term.Operations():
                        return []
            if array in inner:
                return []
            todo += inner - seen
            seen |= inner
        return sorted(last, key=lambda each: each.name)

    def tending(self, variable: Array, target: Any, body: Callable[[], Poly]) -> Poly:
        """A limit. What its body needs it needs near the end only, not where the variable is."""
        with self.apart() as outer, self._varying(variable, is_near=False):
            if target == "oo" or (target != "-oo" and target >= 0):
                self.positive.add(variable)
            with self.apart() as conditions:
                value = self.limit(variable, target, body())
            for condition in conditions:
                relation, of, axes = condition
                if relation == "exists" or variable not in _arrays(of):
                    self.conditions.add(condition)
                    continue
                with self.inside(*axes) as variables:
                    at = tuple((each, 0, ()) for each in variables)
                    Germs(self, variable, target, _TERMS).sign(relation, self.opened_at(of, at))
        self.conditions |= outer
        return self._again_outside(value)

    def expected(self, body: Callable[[], Poly]) -> Poly:
        """An expected value; nothing is known of random entries."""
        with self._varying(*self.random, is_near=False):
            value = self.expectation(body())
        return self._again_outside(value)

    def _again_outside(self, value: Poly) -> Poly:
        """What was computed while something varied, with all that is known; what was not found
        stands as it is."""
        return value if any(each.kind in "LE" for each in atoms_of(value)) else self.again(value)

    # -- operations ------------------------------------------------------------------------------

    def _operations(self, array: Array) -> Poly:
        """How many operations all entries of an array take."""
        if array in self.folded or array.body is None:
            return self.settled(((self.atom("O", array), 1),))
        return self.product([self._counted(array.body), *map(self.size, array.axes)])

    def _counted(self, value: Expr) -> Poly:
        match value:
            case term.Add(parts) | term.Mul(parts):
                return summed([number(len(parts) - 1), *map(self._counted, parts)])
            case term.Neg(body):
                return self._counted(body)
            case term.Div(above, below):
                return summed([number(1), self._counted(above), self._counted(below)])
            case term.Power(term.Size() | term.Number(), _):
                return {}
            case term.Power(body, _) | term.Apply(_, body):
                return add(number(1), self._counted(body))
            case term.Sum(index, body):
                size = self.size(index.size)
                return summed([self.mul(size, self._counted(body)), size, number(-1)])
            case term.AtMost() | term.Delta():
                return number(1)
            case term.Entry() | term.Number() | term.Size() | term.Constant() | term.Position():
                return {}
        raise Unproved(f"the operations in {type(value).__name__}")


def _arrays(of: Frozen) -> frozenset[Array]:
    return arrays_in(mono for mono, _ in of)
