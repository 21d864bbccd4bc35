"""Derivatives by the chain rule, entry by entry; and what is computed while something varies:
slopes, limits, expected values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TypeVar

from symattn.calculus import language as term
from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.computing import Choice, Computing, Fact
from symattn.calculus.kernel.germs import Germs
from symattn.calculus.kernel.kinds import Atom, Frozen, Mono, Place, Target, within
from symattn.calculus.kernel.signs import Condition, Exists, Known, Sign, in_order
from symattn.calculus.kernel.terms import (
    Poly,
    Unproved,
    base_of,
    depends,
    number,
    power,
    single,
    summed,
    without,
)
from symattn.calculus.language import Array
from symattn.expressions.elementary import ELEMENTARY, Arithmetic

_TERMS = 3
_JUMPING = kinds.Positive | kinds.Limit | kinds.Derivative | kinds.Mean
Key = TypeVar("Key")


class Slopes(Computing):
    """Computes while arrays vary; ``folded`` arrays are taken as they stand, as if they were given.

    While a derivative or a limit is taken the arrays that it varies are ``moving``: what is only
    assumed of them, or of what depends on them, is of no use then.
    """

    def __init__(self, folded: Collection[Array] = (), choose: Choice | None = None) -> None:
        super().__init__(choose)
        self.folded = frozenset(folded)
        self.moving: frozenset[Array] = frozenset()
        self.epoch = 0
        """The count of times that facts were forgotten."""
        self.is_given = False
        """True while what is read is taken for granted, with the sides of its limits."""
        self.forms: set[Condition] = set()
        """Signs that expressions have by their form."""
        self._bodies: dict[tuple[Array, frozenset[Array], frozenset[Array]], Fact] = {}
        self._slopes: dict[tuple[Atom, Array, tuple[Place, ...], int, frozenset[Array]], Fact] = {}
        self._tables: dict[frozenset[Array], dict[Mono, Fact | None]] = {}

    @contextmanager
    def _varying(self, *arrays: Array, is_near: bool = True) -> Iterator[None]:
        """While this lasts arrays vary, and nothing is known of them that need not hold then:
        near where they are (a slope is taken there) what is not 0 or above 0 stays so; facts
        are noted apart."""
        before = self.moving, self.folded, self.facts, self.forms
        tables = self._tables, self._bodies, self._slopes
        self.moving |= frozenset(arrays)
        self.folded |= frozenset(arrays)
        if not is_near:
            self._tables, self._bodies, self._slopes = {}, {}, {}
        self.facts = self._tables.setdefault(self.moving, {})
        self.forms = set()
        try:
            with self.knowing(self._known_still(is_near)):
                yield
        finally:
            self.moving, self.folded, self.facts, self.forms = before
            self._tables, self._bodies, self._slopes = tables

    def _known_still(self, is_near: bool) -> Known:
        """The part of what is known that holds while what is varied moves."""

        def stays(arrays: Iterable[Array]) -> bool:
            return not depends(arrays, self.moving)

        def is_smooth(of: Frozen) -> bool:
            """Return whether a term keeps a strict sign nearby: it may jump where it moves."""
            atoms = (inner for mono, _ in of for atom, _ in mono for inner in within(atom))
            return all(stays(atom.arrays) or not may_jump(atom) for atom in atoms)

        def may_jump(atom: Atom) -> bool:
            is_defined = isinstance(atom, kinds.Entry) and atom.array.body is not None
            return is_defined or isinstance(atom, _JUMPING)

        def holds(sign: Sign) -> bool:
            is_strict = is_near and sign.relation != ">="
            return stays(Poly(sign.of).arrays) or (is_strict and is_smooth(sign.of))

        arrays = {
            (relation, each)
            for relation, each in self.known.arrays
            if stays([each]) or (is_near and relation == ">" and each.body is None)
        }
        signs, everywhere = self.known.signs, self.known.everywhere
        return Known(
            {*filter(holds, signs)}, {*filter(holds, everywhere)}, arrays, self.known.places
        )

    def slope(self, poly: Poly, array: Array, at: tuple[Place, ...]) -> Poly:
        """The derivative of a term in an entry of an array."""
        total = Poly()
        for mono, c in poly.items():
            for atom, e in mono:
                inner = self._slope(atom, array, at)
                if not inner:
                    continue
                if e != 1 and (e < 0 or isinstance(e, Fraction)):
                    self.need("!=" if isinstance(e, int) else ">", base_of(atom))
                outer = self.raised(power(atom), e - 1)
                rest = single(without(mono, atom), c * e)
                total = total + self.mul(self.mul(rest, outer), inner)
        return total

    def _slope(self, atom: Atom, array: Array, at: tuple[Place, ...]) -> Poly:
        if not depends(atom.arrays, {array}):
            return Poly()
        key = (atom, array, at, self._level, self.moving)
        fact = self.remembered(self._slopes, key, lambda: self._slope_of(atom, array, at))
        self.conditions |= fact.conditions
        return fact.value

    def remembered(self, table: dict[Key, Fact], key: Key, value: Callable[[], Poly]) -> Fact:
        """A fact as it is found in a table, put there with its conditions the first time."""
        if key not in table:
            with self.apart() as conditions:
                found = value()
            table[key] = Fact(found, frozenset(conditions))
        return table[key]

    def _slope_of(self, atom: Atom, array: Array, at: tuple[Place, ...]) -> Poly:
        match atom:
            case kinds.Entry(of, here):
                return self._slope_of_entry(of, here, array, at)
            case kinds.Function(_, term):
                inner = self.slope(Poly(term), array, at)
                return self.mul(self._outer_slope(atom, Poly(term)), inner) if inner else inner
            case kinds.Bracket(term):
                return self.slope(Poly(term), array, at)
            case kinds.Positive(term):
                self.need("!=", Poly(term))
                return Poly()
            case kinds.Sum(axes):
                with self.inside(*axes) as variables:
                    body = single(self.opened(atom.body, variables))
                    return self.sum(variables, self.slope(body, array, at))
        raise Unproved("the derivative of what is not taken apart")

    def _outer_slope(self, atom: kinds.Function, of: Poly) -> Poly:
        """The derivative of a function at its argument."""
        if atom.name == "log":
            self.need(">", of)

        def function(name: str, x: Poly) -> Poly:
            return self.raised(x, Fraction(1, 2)) if name == "sqrt" else self.function(name, x)

        terms = Arithmetic(
            number=number,
            pi=lambda: power(self.atom(kinds.Constant, "pi")),
            plus=lambda x, y: summed((x, y)),
            minus=lambda x, y: summed((x, -y)),
            times=self.mul,
            over=lambda x, y: self.mul(x, self.raised(y, -1)),
            negative=lambda x: -x,
            function=function,
        )
        flow: Poly = ELEMENTARY[atom.name].flow(terms, number(1), of, power(atom))
        return flow

    def _slope_of_entry(
        self, of: Array, here: tuple[Place, ...], array: Array, at: tuple[Place, ...]
    ) -> Poly:
        if of is array:
            return self.product(self.equal(*two) for two in zip(here, at, strict=True))
        if of.of is None and of.body is None:
            return Poly()
        if of.of is array:
            return self.made(kinds.Derivative, (of, here), (array, at))
        if of.of is not None:
            return self._through(of, here, of.of, array, at)
        middle = self._between(of, array)
        if not middle:
            return self.made(kinds.Derivative, (of, here), (array, at))
        return summed(self._through(of, here, each, array, at) for each in middle)

    def _through(
        self, of: Array, here: tuple[Place, ...], middle: Array, array: Array, at: tuple[Place, ...]
    ) -> Poly:
        """The chain rule: over all entries of an array that lies between."""
        with self.inside(*middle.axes) as variables:
            via = tuple((each, 0, ()) for each in variables)
            outer = self.made(kinds.Derivative, (of, here), (middle, via))
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
            popped = todo.pop()
            # A loss depends on what it is a function of.
            inner = set() if popped.of is None else {popped.of}
            for part in term.walk(popped.body) if popped.body is not None else ():
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

    def tending(
        self, variable: Array, target: Target, body: Callable[[], Poly], is_above: bool = False
    ) -> Poly:
        """A limit; at a number from both sides, unless it is noted to be from above. What its
        body needs it needs near the end only, not where the variable is."""
        with self.apart() as outer, self._varying(variable, is_near=False):
            if target == "oo" or (isinstance(target, Fraction) and target >= 0):
                self.known.arrays.add((">", variable))
            with self.apart() as conditions:
                value = body()
                if depends(value.arrays, {variable}):
                    value = self.made(kinds.Limit, variable, target, value.frozen())
            self._need_near(conditions, Germs(self, variable, target, _TERMS))
        self.conditions |= outer
        if isinstance(target, Fraction) and not self.is_given:
            above = power(self.atom(kinds.Entry, variable, ())) - target
            if is_above or not self._is_so_below(variable, value, target, body):
                if variable in self.moving:
                    raise Unproved("a limit from one side within another")
                # That it is above is known where just that is.
                is_array = not target and (">", variable) in self.known.arrays
                if not (is_array or self._is_known(">", above)):
                    if self.is_met(">", above):
                        raise Unproved("a limit from one side of where its variable never comes")
                    self.conditions.add(Sign(">", above.frozen()))
        return self._again_outside(value)

    def _is_so_below(
        self, variable: Array, value: Poly, target: Fraction, body: Callable[[], Poly]
    ) -> bool:
        """Return whether a limit from below is seen to be the same."""
        germs = Germs(self, variable, target, _TERMS, side=-1)
        with self._varying(variable, is_near=False), self.apart() as outer:
            try:
                with self.apart() as conditions:
                    poly = body()
                    apart = self.again(germs.limit(poly) - value)
                self._need_near(conditions, germs)
            except Unproved:
                return False
        if not apart:
            self.conditions |= outer
        return not apart

    def _need_near(self, conditions: Iterable[Condition], germs: Germs) -> None:
        """Note conditions as they are near the end of a limit."""
        variable = germs.variable
        for condition in in_order(conditions):
            if isinstance(condition, Exists) or not depends(Poly(condition.of).arrays, {variable}):
                self.conditions.add(condition)
                continue
            with self.inside(*condition.axes) as variables:
                at = tuple((each, 0, ()) for each in variables)
                germs.sign(condition.relation, self.opened_at(condition.of, at))

    def expected(self, body: Callable[[], Poly]) -> Poly:
        """An expected value; nothing is known of random entries."""
        with self._varying(*self.random, is_near=False):
            value = body()
            if depends(value.arrays, self.random):
                value = self.made(kinds.Mean, value.frozen())
        return self._again_outside(value)

    def _again_outside(self, value: Poly) -> Poly:
        """A term computed while something varied, again unless a limit or a mean is left in it."""
        return value if value.has(kinds.Limit | kinds.Mean) else self.again(value)
