"""A proof of a line: its steps, replayed; and the conditions under which it holds.

What is given, hypotheses and lines that were proved before, are equations of terms for all
values of their indices. A line follows where its sides are one term, or where their difference
vanishes by the last steps: it may be multiplied by what stands below in it, and looked at where
a delta is 1 and where it is 0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import ceil, prod
from typing import Any

from symattn.calculus.kernel import kinds, sum_rules
from symattn.calculus.kernel.computing import Choice
from symattn.calculus.kernel.kinds import Frozen, Mono, Place
from symattn.calculus.kernel.reading import Reading
from symattn.calculus.kernel.rules import MOST_WRITTEN, RULES, check, cleared, identified
from symattn.calculus.kernel.signs import (
    Condition,
    Exists,
    Relation,
    Sign,
    Source,
    refuse_beyond,
)
from symattn.calculus.kernel.terms import (
    Poly,
    Unproved,
    depends,
    inverse,
    merged,
    numbered,
    plain,
    power,
    single,
)
from symattn.calculus.language import Array, Expr, Index, ParsedLine, arrays

_MOST_DIVIDED = 100
_TABLE = sum_rules
"""Its rules, and those of what it is made with, fill the table."""


@dataclass(frozen=True)
class Shown:
    """Conditions under which a line was shown before, and arrays of which more was assumed.

    Of what is ``defined`` it was shown by the definition only, but for what was ``folded``.
    """

    conditions: frozenset[Condition] = frozenset()
    bound: frozenset[Array] = frozenset()
    folded: frozenset[Array] = frozenset()
    defined: frozenset[Array] = frozenset()
    sources: Mapping[Condition, Source] = field(default_factory=dict)


@dataclass(frozen=True)
class Given:
    """A term that is 0 for all values of its indices, under conditions."""

    zero: Poly
    free: frozenset[Index]
    conditions: frozenset[Condition] = frozenset()
    bound: frozenset[Array] = frozenset()
    """Arrays of which it need not hold but for the values that are assumed of them."""
    defined: frozenset[Array] = frozenset()
    """Arrays of which it need not hold but for what they are defined as."""


@dataclass(frozen=True)
class Instance:
    """A use of an equation: its number, the product replaced, at which places, beside what."""

    number: int
    left: Mono
    at: tuple[tuple[Index, Place], ...]
    beside: Mono


@dataclass(frozen=True)
class Last:
    """A step for the difference of two sides as a whole."""

    rule: str
    """``clear`` what stands below, ``cases`` of a delta, ``reversal`` of a comparison."""
    data: Any = None


class Kernel(Reading):
    """Replays proofs. ``given`` are the equations that may be used."""

    rules = RULES

    def __init__(self, folded: Collection[Array] = (), choose: Choice | None = None) -> None:
        super().__init__(folded, choose)
        self.given: list[Given] = []
        self.supposed: set[Array] = set()
        """Arrays of which signs were assumed."""
        self._used: list[Given] = []
        """The equations that were used of late."""

    def differences(self, sides: Sequence[Expr]) -> list[Poly]:
        """Return how the sides of a line differ from the first."""
        first, *rest = map(self.read, sides)
        return [self.again(first - side) for side in rest]

    def assume(self, line: ParsedLine, shown: Shown | None = None) -> list[int]:
        """Take an equation for granted: the numbers of its parts. It was ``shown`` before, or is
        assumed, and then has a meaning, too."""
        (first, *rest), conditions, meaning = self._granted(line)
        named = arrays(*line.sides)
        if shown is None:
            meaning = self._wherever(meaning)
            self.know(self.for_all(meaning, line.free))
            self.supposed |= named if meaning else set()
            conditions -= meaning
            bound, defined = named, frozenset[Array]()
        else:
            conditions |= shown.conditions
            self.sources = {**shown.sources, **self.sources}
            all_named = named.union(*(array.uses for array in named))
            # It is read with what is known of signs.
            bound = shown.bound | (all_named & self.supposed)
            own = (array for array in all_named - shown.folded if array.body is not None)
            defined = shown.defined.union(own)
        under = frozenset(conditions)
        for zero in (first - side for side in rest):
            self.given.append(self._with_used(Given(zero, zero.free, under, bound, defined)))
        return list(range(len(self.given) - len(rest), len(self.given)))

    def _with_used(self, given: Given) -> Given:
        """An equation that was made with those that were used of late."""
        bound = given.bound.union(*(each.bound for each in self._used))
        defined = given.defined.union(*(each.defined for each in self._used))
        return replace(given, bound=bound, defined=defined)

    def _granted(self, line: ParsedLine) -> tuple[list[Poly], set[Condition], set[Condition]]:
        """The sides of a line that is taken for granted, under which conditions they are these
        terms, and which of those its sides have no meaning without."""
        # Facts do not tell which equations they come of.
        self.forget()
        self._used.clear()
        before, self.sources, self.is_given = self.sources, {}, True
        try:
            with self.apart() as conditions:
                sides = [self.read(side) for side in line.sides]
            return sides, conditions, conditions & self.sources.keys()
        finally:
            self.sources, self.is_given = self.sources | before, False

    @staticmethod
    def _wherever(conditions: set[Condition]) -> set[Condition]:
        """Return what is assumed: nothing where a place is named that need not exist."""
        there = (isinstance(x, Exists) and isinstance(x.at[0], Index) for x in conditions)
        return set() if any(there) else conditions

    def suppose(self, line: ParsedLine) -> None:
        """Take it that one term is above another, or not below it."""
        (larger, smaller), conditions, meaning = self._granted(line)
        if conditions != meaning:
            raise Unproved("what is assumed is this term under conditions only")
        self.supposed |= arrays(*line.sides)
        relation: Relation = ">" if line.relation == ">" else ">="
        above = Sign(relation, (larger - smaller).frozen())
        self.know(self.for_all(self._wherever({above, *meaning}), line.free))

    def derive(self, how: str, number: int) -> int:
        """The number of an equation that is made of another: ``restated`` with all that is known
        put into it, ``whole`` times all that stands below in it."""
        given = self.given[number]
        self.forget()
        self._used.clear()
        with self.apart() as conditions:
            zero = self.again(given.zero) if how == "restated" else self._whole(given.zero)
        if zero == given.zero:
            return number
        other = replace(given, zero=zero, conditions=given.conditions | conditions)
        self.given.append(self._with_used(other))
        return len(self.given) - 1

    def _whole(self, zero: Poly) -> Poly:
        while bases := [atom for mono in zero for atom, e in mono if e < 0]:
            atom = bases[0]
            k = -min(Fraction(dict(mono).get(atom, 0)) for mono in zero)
            if isinstance(atom, kinds.Bracket):
                zero = cleared(self, zero, atom, ceil(k))
            else:
                self.need("!=", power(atom))
                zero = self.mul(zero, power(atom, plain(k)))
        return zero

    def instance(self, mono: Mono, use: Instance) -> Poly:
        """A product by an equation that is given, at places that exist."""
        given = self.given[use.number]
        if depends(given.bound, self.moving):
            raise Unproved("what is assumed need not hold where it is varied")
        if given.defined & self.moving:
            raise Unproved("what is defined need not hold where it is varied")
        to = dict(use.at)
        if not given.free <= to.keys() or use.left not in given.zero:
            raise Unproved("an instance without all of its indices")
        for index, (base, _, images) in use.at:
            axes = {self.permutations.get(name) for name, _ in images}
            if base is not None:
                axes.add(base.size if isinstance(base, Index) else base)
            if not axes <= {index.size}:
                raise Unproved("an instance at a place that is none along its axis")
        powers = dict(use.beside)
        ((left, _),) = self.at(single(use.left).frozen(), to)
        check(all(powers.get(atom, 0) >= 0 for atom, _ in left))
        for index, place in use.at:
            self.need_place(index.size, place)
        self._used.append(given)
        self.conditions |= self.moved(given.conditions, to)
        if merged((*left, *use.beside)) != mono:
            raise Unproved("an instance of another product")
        others = given.zero - single(use.left, given.zero[use.left])
        right = self.mul(self.put(others, to), single(use.beside))
        return right * (-1 / given.zero[use.left])

    def least(self, conditions: Iterable[Condition]) -> list[Condition]:
        """The conditions that do not follow from the others: the first are left out first."""
        kept = list(conditions)
        for condition in list(kept):
            with self.knowing(self.known, (each for each in kept if each is not condition)):
                follows = self._follows(condition)
            if follows:
                kept.remove(condition)
        return kept

    def refuse_excluded(self, conditions: Collection[Condition]) -> None:
        """Refuse conditions that are met nowhere, as they exclude one another."""
        for condition in conditions:
            match condition:
                case Exists(axis, (base, offset, _) as at, axes):
                    refuse_beyond(axis, at)
                    own = axes[base] if isinstance(base, int) and base < len(axes) else None
                    if own == axis and offset:
                        raise Unproved("a place beyond the ends of an axis")
                case Sign((">" | ">=") as relation, of, ()):
                    others = (each for each in conditions if each != condition)
                    with self.knowing(self.known, others):
                        opposite = -Poly(of)
                        if self.is_met(">=" if relation == ">" else ">", opposite):
                            raise Unproved("its conditions exclude one another")

    def _follows(self, condition: Condition) -> bool:
        if isinstance(condition, Exists):
            return self.is_place(condition.axis, condition.at)
        relation, of, axes = condition
        with self.inside(*axes) as variables:
            places = tuple((each, 0, ()) for each in variables)
            if self.is_met(relation, self.opened_at(of, places)):
                return True
            written = [_written_out(place) for place in places]
            if prod(map(len, written)) > MOST_WRITTEN:
                written = [[place] for place in places]
            return all(self._is_met_at(relation, of, way) for way in product(*written))

    def _is_met_at(self, relation: Relation, of: Frozen, way: tuple[Place, ...]) -> bool:
        """Return whether a term has a sign as it is computed at some places."""
        before = self.facts, self.choose
        # What was found while the condition was known says nothing of it.
        self.facts, self.choose = {}, None
        try:
            with suppress(Unproved), self.apart() as conditions:
                return self.is_met(relation, self.again(self.opened_at(of, way))) and not conditions
            return False
        finally:
            self.facts, self.choose = before

    def given_limit(self, atom: kinds.Limit) -> Poly | None:
        """A limit that is given as an equation; None where it isn't."""
        given = (each for equation in self.given for each in equation.zero.atoms)
        ends = {(each.variable, each.target) for each in given if isinstance(each, kinds.Limit)}
        if (atom.variable, atom.target) not in ends:
            return None
        value = self.settled(((atom, 1),))
        return None if value.has(kinds.Limit) else value

    def last(self, poly: Poly, step: Last) -> list[Poly]:
        """Return what has to vanish for a term to vanish."""
        match step:
            case Last("clear", (below, k)):
                return [self.again(cleared(self, poly, below, k))]
            case Last("cases", delta) if any((delta, 1) in key for key in poly):
                return [self.again(self.put(poly, identified(delta))), poly.at(delta, 0)]
            case Last("signs", kinds.Positive(of)):
                return self._by_sign(poly, Poly(of))
            case Last("reversal", atom):
                other = RULES["reversal"](self, ((atom, 1),), None)
                off = poly.at(atom, 0)
                return [self.again(off + self.mul(poly.at(atom, 1) - off, other))]
        raise Unproved(f"there is no last step {step.rule!r}")

    def _by_sign(self, poly: Poly, of: Poly) -> list[Poly]:
        """The term where another is above 0, where it is below, and what is left of it by that."""
        above, below = (self.atom(kinds.Positive, (of * k).frozen()) for k in (1, -1))
        ways = (poly.at(below, 0).at(above, 1), poly.at(above, 0).at(below, 1))
        if not any(of):
            raise Unproved("a step of a number")
        leading = max((mono for mono in of if mono), key=_degree)
        left = poly.at(above, 0).at(below, 0)
        for _ in range(_MOST_DIVIDED):
            divided = (mono for mono in left if all(dict(mono).get(a, 0) >= e for a, e in leading))
            mono = next(divided, None)
            if mono is None:
                break
            c = left[mono]
            quotient = single(merged((*mono, *inverse(leading))), c / of[leading])
            left = left - self.mul(quotient, of)
        return [*map(self.again, ways), left]


def _degree(mono: Mono) -> tuple[Fraction, list[tuple[int, Fraction]]]:
    degree = sum((Fraction(e) for _, e in mono), Fraction(0))
    return degree, numbered(mono[::-1])


def _base(kernel: Kernel, mono: Mono, use: Instance) -> Poly:
    """A power of what is replaced."""
    ((atom, e),) = mono
    return kernel.raised(kernel.instance(((atom, 1),), use), e)


RULES["instance"], RULES["base"] = Kernel.instance, _base


def _written_out(place: Place) -> list[Place]:
    """All places of an axis of few, else the place itself."""
    axis = place[0].size if isinstance(place[0], Index) else None
    if isinstance(axis, int) and axis <= MOST_WRITTEN:
        return [(None, k, ()) for k in range(1, axis + 1)]
    return [place]
