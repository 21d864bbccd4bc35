"""Expressions as terms: definitions unfolded, derivatives taken by the chain rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction

from symattn.calculus import language as term
from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.kinds import UNIT, Exponent, Place
from symattn.calculus.kernel.signs import Condition, Exists, Relation, Sign, Source, in_order
from symattn.calculus.kernel.slopes import Slopes
from symattn.calculus.kernel.terms import (
    Poly,
    Unproved,
    composed,
    depends,
    number,
    plain,
    power,
    replaced,
    summed,
)
from symattn.calculus.language import Array, AxisPlace, Entry, Expr, Index

Env = Mapping[Index, Place]


class Reading(Slopes):
    """Reads expressions."""

    def read(self, value: Expr, env: Env | None = None) -> Poly:
        """The term that an expression stands for. Raises :class:`Unproved`."""
        env = env or {}
        match value:
            case term.Number(fraction):
                return number(fraction)
            case term.Constant(name):
                return power(self.atom(kinds.Constant, name))
            case term.Size():
                return self.size(term.length(value))
            case term.Position(index):
                return self.position(self.place(AxisPlace(index), env))
            case term.Entry(array, at):
                return self.entry(array, self.places_on(array, at, env))
            case term.Add(parts):
                return self._with_sign(
                    value, lambda: summed(self.read(part, env) for part in parts)
                )
            case term.Neg(body):
                return -self.read(body, env)
            case term.Mul(parts):
                with self._guarded(parts, env):
                    return self.product(self.read(part, env) for part in parts)
            case term.Div(above, below):
                self._mean_nonzero(below, env)
                return self.mul(self.read(above, env), self._raised(below, env, -1))
            case term.Power(base, exponent):
                if exponent.denominator > 1:
                    self._mean(">" if exponent < 0 else ">=", base, env)
                elif exponent < 0:
                    self._mean_nonzero(base, env)
                return self._raised(base, env, exponent)
            case term.Apply("log", body):
                self._mean(">", body, env)
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
        if self.is_met(">", base) or not exponent % 2 or self.is_met(">=", base):
            return self.raised(base, exponent)
        return self.raised(self.raised(base, 2), exponent / 2)

    def _logarithm(self, value: Expr, env: Env) -> Poly:
        factors = self._factors(value, env)
        above = [(base, e) for base, e in factors if self.is_met(">", base)]
        rest = self.product(self.raised(base, e) for base, e in factors if (base, e) not in above)
        logs = [self.function("log", base) * e for base, e in above]
        return summed([*logs, self.function("log", rest)] if rest != number(1) else logs)

    def _step(self, value: Expr, env: Env) -> Poly:
        factors = self._factors(value, env)
        below = [(base, e) for base, e in factors if not self.is_met(">", base)]
        return self.function("positive", self.product(self.raised(base, e) for base, e in below))

    @contextmanager
    def _guarded(self, parts: Iterable[Expr], env: Env) -> Iterator[None]:
        """While this lasts comparisons among factors hold: where they don't, the product is 0."""
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

    def _mean(self, relation: Relation, value: Expr, env: Env) -> None:
        """Note what an expression has no meaning without, unless it is so by its form."""
        poly = self._with_sign(value, lambda: self.read(value, env))
        if self._sign_by_form(value) not in (">", relation):
            self.mean(relation, poly, None if self.moving else Source(value, env))

    def _with_sign(self, value: Expr, read: Callable[[], Poly]) -> Poly:
        """The term that an expression stands for, known to have the sign that this has by its
        form: not where it is that term under a condition only."""
        with self.apart() as noted:
            poly = read()
        self.conditions |= noted
        if not noted:
            self._know_by_form(value, poly)
        return poly

    def _know_by_form(self, value: Expr, poly: Poly) -> None:
        """Know the sign that an expression has by what stands in it, at any place: where it
        has no meaning at some of them, it says nothing of a term that has."""
        sign = self._sign_by_form(value)
        if sign is not None and not self.is_met(sign, poly) and self._is_total(value):
            free = sorted(poly.free, key=lambda index: index.number)
            known = self.for_all({Sign(sign, poly.frozen())}, free)
            self.forms |= known
            self.know(known)

    def _sign_by_form(self, value: Expr) -> Relation | None:
        """The sign that an expression has by what stands in it, where it has a meaning: squares
        and roots, and sums and products of what has one."""
        match value:
            case term.Apply("exp") | term.Size() | term.Constant() | term.Position():
                return ">"
            case term.Delta() | term.AtMost() | term.Apply("positive"):
                return ">="
            case term.Number(fraction):
                return ">" if fraction > 0 else None if fraction < 0 else ">="
            case term.Entry(array, _):
                if (">", array) in self.known.arrays:
                    return ">"
                body = None if array in self.folded else array.body
                by_definition = self._sign_by_form(body) if body is not None else None
                return by_definition or (">=" if (">=", array) in self.known.arrays else None)
            case term.Power(base, exponent):
                is_even = exponent.denominator % 2 == 0 or exponent % 2 == 0
                return ">" if self._sign_by_form(base) == ">" else ">=" if is_even else None
            case term.Add() | term.Mul() | term.Div() | term.Sum():
                signs = {self._sign_by_form(part) for part in term.inside(value)}
                if None in signs:
                    return None
                # What is not below 0 takes nothing from what is above it.
                is_above = ">" in signs and (len(signs) == 1 or isinstance(value, term.Add))
                return ">" if is_above else ">="
        return None

    def _is_total(self, value: Expr) -> bool:
        """Return whether an expression is seen to have a meaning whatever its entries are."""
        match value:
            case term.Div(_, below) if self._sign_by_form(below) != ">":
                return False
            case term.Apply("log", of) if self._sign_by_form(of) != ">":
                return False
            case term.Power(base, exponent) if exponent < 0 or exponent.denominator > 1:
                sign = self._sign_by_form(base)
                if sign is None or (sign == ">=" and exponent < 0):
                    return False
            case term.Entry(_, places) if any(
                at.offset and (at.index or at.size or at.offset != 1) for at in places
            ):
                return False
            case term.Entry(array, _) if array.body is not None and array not in self.folded:
                return self._is_total(array.body)
            case term.Partial() | term.Limit() | term.Expectation():
                return False
        return all(map(self._is_total, term.inside(value)))

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
                self._mean("!=", value, env)

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
        expression, key = array.body, (array, self.folded, self.moving)
        body = self.remembered(self._bodies, key, lambda: self.read(expression))
        to = dict(zip(array.params, at, strict=True))
        self.conditions |= self.moved(body.conditions, to)
        return self.put(body.value, to)

    def moved(self, conditions: Iterable[Condition], to: Mapping[Index, Place]) -> set[Condition]:
        """Conditions at other places."""
        changed = {condition: self._moved(condition, to) for condition in in_order(conditions)}
        for condition, other in changed.items():
            if condition in self.sources:
                value, at = self.sources[condition]
                moved = {**to, **{index: replaced(place, to) for index, place in at.items()}}
                self.sources.setdefault(other, Source(value, moved))
        return {*changed.values()}

    def _moved(self, condition: Condition, to: Mapping[Index, Place]) -> Condition:
        """A condition at other places."""
        if isinstance(condition, Exists):
            return condition._replace(at=replaced(condition.at, to))
        return condition._replace(of=self.at(condition.of, to))

    # -- derivatives ----------------------------------------------------------------------------

    def _partial(self, of: Expr, array: Array, at: tuple[Place, ...], env: Env) -> Poly:
        with self._varying(array), self.apart() as conditions:
            slope = self.slope(self.read(of, env), array, at)
        self.conditions |= {self._strict(each, array) for each in conditions}
        return self.again(slope)

    @staticmethod
    def _strict(condition: Condition, array: Array) -> Condition:
        """A condition of a slope: the end of where something has a meaning is not enough."""
        match condition:
            case Sign(">=", of, axes) if depends(Poly(of).arrays, {array}):
                return Sign(">", of, axes)
        return condition

    # -- operations ------------------------------------------------------------------------------

    def _operations(self, array: Array) -> Poly:
        """Count the operations that all entries of an array take."""
        if array in self.folded or array.body is None:
            return self.made(kinds.Operations, array)
        return self.product([self._counted(array.body), *map(self.size, array.axes)])

    def _counted(self, value: Expr) -> Poly:
        """Count the operations of one value: those of its parts, and its own."""
        match value:
            case term.Power(term.Size() | term.Number(), _):
                return Poly()
            case term.Add(parts) | term.Mul(parts):
                own = number(len(parts) - 1)
            case term.Div() | term.Power() | term.Apply() | term.AtMost() | term.Delta():
                own = number(1)
            case term.Neg() | term.Entry() | term.Number():
                own = Poly()
            case term.Size() | term.Constant() | term.Position():
                own = Poly()
            case term.Sum(index, body):
                size = self.size(index.size)
                return summed([self.mul(size, self._counted(body)), size, number(-1)])
            case _:
                raise Unproved(f"the operations in {type(value).__name__}")
        return summed([own, *map(self._counted, term.inside(value))])
