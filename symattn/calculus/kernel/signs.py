"""Obligations: what has to hold where a rule is used, and when it does by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import gcd, lcm, prod
from typing import Literal, NamedTuple

from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.kinds import Atom, Exponent, Frozen, Place, within
from symattn.calculus.kernel.terms import (
    Poly,
    Terms,
    Unproved,
    base_of,
    is_fixed,
    merged,
    number,
    numbered,
    power,
)
from symattn.calculus.language import Array, Axis, Expr, Index

Relation = Literal["!=", ">", ">="]
_MOST_WAYS = 100


class Source(NamedTuple):
    """An expression, and where its indices are."""

    value: Expr
    at: Mapping[Index, Place]


class Sign(NamedTuple):
    """A term that is not 0, above 0 or not below it, for all values of the indices that are
    bound, which run along ``axes``, the innermost first."""

    relation: Relation
    of: Frozen
    axes: tuple[Axis, ...] = ()


class Exists(NamedTuple):
    """A place that exists along an axis, for all values of its index where that is bound."""

    axis: Axis
    at: Place
    axes: tuple[Axis, ...] = ()


Condition = Sign | Exists


@dataclass
class Known:
    """Knowledge: signs of terms, such for all values of some indices, signs that all entries
    of an array have, and places that exist."""

    signs: set[Sign] = field(default_factory=set)
    everywhere: set[Sign] = field(default_factory=set)
    arrays: set[tuple[Relation, Array]] = field(default_factory=set)
    places: set[Exists] = field(default_factory=set)

    def copy(self) -> Known:
        """The same, to which more can be added."""
        return Known({*self.signs}, {*self.everywhere}, {*self.arrays}, {*self.places})


class Signs(Terms):
    """Terms, and what is known of their signs."""

    def __init__(self) -> None:
        super().__init__()
        self.known = Known()
        self.sources: dict[Condition, Source] = {}
        """The expressions that would have no meaning without a condition."""
        self.guards: tuple[tuple[Place, Place], ...] = ()
        """Places of which the first is not after the second, where it matters."""
        self._plain: dict[tuple[bool, Frozen], Frozen] = {}
        self._level = 0
        self._variables: dict[tuple[int, Axis], Index] = {}
        self.conditions: set[Condition] = set()
        """Conditions that the terms that were computed last depend on."""

    # -- obligations -----------------------------------------------------------------------------

    def need(self, relation: Relation, poly: Poly) -> None:
        """Note that a term has to be not 0, above 0 or not below it, unless it is."""
        if self.is_met(relation, poly):
            return
        _refuse_numbers(relation, poly)
        if relation == "!=" and len(poly) == 1 and all(poly.values()):
            ((mono, _),) = poly.items()
            factors = (base_of(atom) for atom, _ in mono)
            unmet = (factor for factor in factors if not self.is_met("!=", factor))
            self.conditions |= {Sign("!=", factor.frozen()) for factor in unmet}
        else:
            self.conditions.add(Sign(relation, poly.frozen()))

    def mean(self, relation: Relation, poly: Poly, source: Source | None) -> None:
        """Note the same of what an expression would have no meaning without; without a source
        where the term is that expression only while something varies."""
        if not self.is_met(relation, poly):
            _refuse_numbers(relation, poly)
            condition = Sign(relation, poly.frozen())
            self.conditions.add(condition)
            if source is not None:
                self.sources.setdefault(condition, source)

    def is_met(self, relation: Relation, poly: Poly) -> bool:
        """Return whether a term has a sign by itself or by what is known."""
        if relation == ">=":
            return self.is_not_below(poly) or self.is_positive(poly)
        if relation == ">":
            return self.is_positive(poly)
        return self.is_nonzero(poly)

    def need_place(self, axis: Axis, at: Place) -> None:
        """Note that a place has to exist along an axis, unless it does."""
        if not self.is_place(axis, at):
            refuse_beyond(axis, at)
            self.conditions.add(Exists(axis, at))

    def is_place(self, axis: Axis, at: Place) -> bool:
        """Return whether a place is seen to exist along an axis."""
        base, offset, _ = at
        if Exists(axis, at) in self.known.places:
            return True
        if base is not None:
            return (base.size if isinstance(base, Index) else base) == axis and not offset
        known = (each.at for each in self.known.places if each.axis == axis)
        last = max((at[1] for at in known if at[0] is None), default=1)
        return 1 <= offset <= max(1, last, axis if isinstance(axis, int) else 1)

    def recall(self, known: Known) -> None:
        """Know this, and nothing else."""
        self._plain.clear()
        self.known = known.copy()

    @contextmanager
    def knowing(self, known: Known, conditions: Iterable[Condition] = ()) -> Iterator[None]:
        """While this lasts this is known, with these conditions, and nothing else."""
        before = self.known
        self.recall(known)
        self.know(conditions)
        try:
            yield
        finally:
            self._plain.clear()
            self.known = before

    def is_guarded(self, axis: Axis, at: Place) -> bool:
        """Return whether a comparison says that a place beside an index exists."""
        index, offset, _ = at
        if not isinstance(index, Index) or index.size != axis or at[2]:
            return False
        for (first, a, images), (second, b, more) in self.guards:
            if images or more:
                continue
            on_axis = second == axis or (isinstance(second, Index) and second.size == axis)
            if offset > 0 and first is index and on_axis and a - b >= offset:
                return True
            if offset > 0 and first is index and second is None and isinstance(axis, int):
                return b - a + offset <= axis
            if offset < 0 and second is index:
                if first is None and a - b >= 1 - offset:
                    return True
                if isinstance(first, Index) and first.size == axis and a - b >= -offset:
                    return True
        return False

    def know(self, conditions: Iterable[Condition]) -> None:
        """Take conditions for granted."""
        self._plain.clear()
        for condition in conditions:
            if isinstance(condition, Exists):
                self.known.places |= set() if condition.axes else {condition}
                continue
            relation, of, axes = condition
            if relation != "!=" and (array := _everywhere(of, axes)):
                self.known.arrays.add((relation, array))
                continue
            whole = (of,) if axes or relation != "!=" else ()
            terms = [self.plain(relation, each) for each in (*whole, *_factors(of, relation))]
            known = self.known.everywhere if axes else self.known.signs
            known |= {Sign(relation, each, axes) for each in terms}

    def plain(self, relation: Relation, of: Frozen) -> Frozen:
        """A term without what is above 0 in all of its parts, which has the same sign."""
        key = (relation == "!=", of)
        if key in self._plain:
            return self._plain[key]
        monos = [dict(mono) for mono, _ in of]
        least = {atom: min(e.get(atom, 0) for e in monos) for each in monos for atom in each}
        shared = tuple(
            (atom, -e)
            for atom, e in least.items()
            if e and not isinstance(atom, kinds.Bracket) and self.is_above(atom)
        )
        by = Fraction(
            gcd(*(c.numerator for _, c in of)), lcm(*(c.denominator for _, c in of))
        ) or Fraction(1)
        if relation == "!=" and of and max(of, key=lambda pair: numbered(pair[0]))[1] < 0:
            by = -by
        self._plain[key] = frozenset((merged((*mono, *shared)), c / by) for mono, c in of)
        return self._plain[key]

    def _is_known(self, relation: Relation, poly: Poly) -> bool:
        """Return whether just that is known of a term, at its places or for all."""
        of = self.plain(relation, poly.frozen())
        if Sign(relation, of) in self.known.signs:
            return True
        named = poly.arrays
        return any(
            each.relation == relation
            and len(each.of) == len(of)
            and Poly(each.of).arrays == named
            and self._is_instance(each, Poly(of))
            for each in self.known.everywhere
        )

    def _is_instance(self, known: Sign, poly: Poly) -> bool:
        """Return whether a term is another at some places."""
        atoms = [inner for mono in poly for atom, _ in mono for inner in within(atom)]
        places = {at for atom in atoms for at in atom.places if not at[1]}
        ways = [
            [at for at in places if isinstance(at[0], Index) and at[0].size == axis]
            for axis in known.axes
        ]
        if prod(map(len, ways)) > _MOST_WAYS:
            return False
        for way in product(*ways):
            with suppress(Unproved):
                if self.opened_at(known.of, way) == poly:
                    return True
        return False

    @contextmanager
    def apart(self) -> Iterator[set[Condition]]:
        """While this lasts conditions are noted in a set of their own."""
        outer, self.conditions = self.conditions, set()
        try:
            yield self.conditions
        finally:
            self.conditions = outer

    def for_all(self, conditions: set[Condition], indices: Iterable[Index]) -> set[Condition]:
        """Conditions for all values of indices, one after another."""
        for index in indices:
            bound = {each: self._quantified(each, index) for each in in_order(conditions)}
            for condition, other in bound.items():
                # They say the same of an expression.
                if condition in self.sources:
                    self.sources.setdefault(other, self.sources[condition])
            conditions = {*bound.values()}
        return conditions

    def _quantified(self, condition: Condition, variable: Index) -> Condition:
        axes = (*condition.axes, variable.size)
        bound = len(condition.axes)
        if isinstance(condition, Exists):
            axis, at, _ = condition
            return Exists(axis, (bound, *at[1:]), axes) if at[0] is variable else condition
        if variable not in Poly(condition.of).free:
            return condition

        def change(place: Place, depth: int) -> Place:
            return (bound + depth, *place[1:]) if place[0] is variable else place

        return Sign(condition.relation, self.changed(condition.of, change), axes)

    def variable_at(self, level: int, axis: Axis) -> Index:
        """The index of a sum that so many others are around."""
        key = (level, axis)
        if key not in self._variables:
            self._variables[key] = Index(f"%{level}", axis)
        return self._variables[key]

    def is_beyond(self, index: Index) -> bool:
        """Return whether an index is that of a sum which is not being looked into."""
        return index.name.startswith("%") and int(index.name[1:]) >= self._level

    @contextmanager
    def inside(self, *axes: Axis) -> Iterator[tuple[Index, ...]]:
        """Indices for a sum while this lasts; what is needed there is needed for all of them."""
        level = self._level
        variables = tuple(self.variable_at(level + k, axis) for k, axis in enumerate(axes))
        self._level += len(axes)
        try:
            with self.apart() as conditions:
                yield variables
        finally:
            self._level = level
        self.conditions |= self.for_all(conditions, variables)

    # -- signs -----------------------------------------------------------------------------------

    def is_positive(self, poly: Poly) -> bool:
        """Return whether a term is seen to be above 0."""
        if self._is_known(">", poly):
            return True
        if self._is_known(">=", poly) and self._is_known("!=", poly):
            return True
        if self._is_not_below(poly) and any(
            all(self.is_above(atom, e) for atom, e in mono) for mono in poly
        ):
            return True
        return self._outweighs(poly)

    def _outweighs(self, poly: Poly) -> bool:
        """Return whether a number outweighs what stands beside it: sines are within 1."""
        swinging = [(mono, c) for mono, c in poly.items() if mono and all(map(_is_within_1, mono))]
        rest = Poly(pair for pair in poly.items() if pair[0] and pair not in swinging)
        left = poly.get((), Fraction(0)) - sum(abs(c) for _, c in swinging)
        return bool(swinging) and left > 0 and (not rest or self.is_not_below(rest))

    def is_not_below(self, poly: Poly) -> bool:
        """Return whether a term is seen not to be below 0."""
        return self._is_known(">=", poly) or self._is_not_below(poly)

    def _is_not_below(self, poly: Poly) -> bool:
        """Return whether none of the products of a term is below 0."""
        return bool(poly) and all(
            c > 0 and all(self.is_above(atom, e) or self._keeps_off(atom, e) for atom, e in mono)
            for mono, c in poly.items()
        )

    def is_nonzero(self, poly: Poly) -> bool:
        """Return whether a term is seen not to be 0."""
        if self._is_known("!=", poly):
            return True
        if len(poly) == 1:
            ((mono, c),) = poly.items()
            return c != 0 and all(
                self.is_above(atom, e)
                or self._is_noted("!=", atom)
                or (isinstance(atom, kinds.Bracket) and self.is_nonzero(Poly(atom.of)))
                for atom, e in mono
            )
        return self.is_positive(poly) or self.is_positive(-poly)

    def is_above(self, atom: Atom, e: Exponent = 1) -> bool:
        """Return whether a power of an atom is seen to be above 0."""
        match atom:
            case kinds.Size() | kinds.Constant() | kinds.Function("exp"):
                return True
            case kinds.Position((base, offset, _)):
                return isinstance(base, Index | int) and offset >= 0
            case kinds.Sum(axes, body):
                meeting = [inner for inner, _ in body if _meets(inner, axes)]
                return len(meeting) <= 1 and all(
                    inner in meeting or self.is_above(inner, k) for inner, k in body
                )
            case kinds.Bracket(of):
                return self.is_positive(Poly(of))
            case kinds.Entry(array) if (">", array) in self.known.arrays:
                return True
        return self._is_noted(">", atom) or (e % 2 == 0 and self._is_noted("!=", atom))

    def _is_noted(self, relation: Relation, atom: Atom) -> bool:
        """Return whether just that is known of an atom."""
        return Sign(relation, power(atom).frozen()) in self.known.signs

    def _keeps_off(self, atom: Atom, e: Exponent) -> bool:
        """Return whether a power of an atom is not below 0: a root, an even power."""
        if Fraction(e).denominator % 2 == 0 or e % 2 == 0:
            return True
        match atom:
            case kinds.Boolean():
                return True
            case kinds.Sum(_, body):
                return all(self.is_above(a, k) or self._keeps_off(a, k) for a, k in body)
            case kinds.Bracket(of) if self.is_not_below(Poly(of)):
                return True
            case kinds.Entry(array) if (">=", array) in self.known.arrays:
                return True
        return self._is_noted(">=", atom)

    def size(self, axis: Axis) -> Poly:
        """The length of an axis."""
        return number(axis) if isinstance(axis, int) else power(self.atom(kinds.Size, axis))


def in_order(conditions: Iterable[Condition]) -> list[Condition]:
    """Conditions in the same order in every run, as atoms are numbered when they are made."""

    def rank(condition: Condition) -> tuple[object, ...]:
        if isinstance(condition, Exists):
            return ("",)
        products = sorted((numbered(mono), c) for mono, c in condition.of)
        return condition.relation, str(condition.axes), products

    return sorted(conditions, key=rank)


def refuse_beyond(axis: Axis, at: Place) -> None:
    """A place beyond the ends of its axis never exists."""
    base, offset, _ = at
    if (base is None and offset < 1) or (base == axis and offset > 0):
        raise Unproved("a place beyond the ends of an axis")


_NEVER: Mapping[Relation, str] = {
    "!=": "a quotient by 0",
    ">": "a logarithm or a slope where there is none",
    ">=": "a root of what is below 0",
}


def _refuse_numbers(relation: Relation, poly: Poly) -> None:
    """A number that has not the sign that it needs never has it."""
    if not any(poly):
        raise Unproved(_NEVER[relation])


def _is_within_1(pair: tuple[Atom, Exponent]) -> bool:
    atom, e = pair
    is_bounded = isinstance(atom, kinds.Function) and atom.name in ("sin", "cos", "erf")
    return (is_bounded or isinstance(atom, kinds.Boolean)) and isinstance(e, int) and e > 0


def _factors(of: Frozen, relation: Relation = "!=") -> Iterator[Frozen]:
    """Terms with the sign that a term has: all factors of what is not 0, the base of a root."""
    if len(of) != 1:
        if relation == "!=":
            yield of
        return
    ((mono, _),) = of
    for atom, e in mono:
        if relation == "!=" or (len(mono) == 1 and isinstance(e, Fraction)):
            yield base_of(atom).frozen()


def _meets(atom: Atom, axes: tuple[Axis, ...]) -> bool:
    """Return whether a comparison holds for some value of the one index that is summed: as places
    of one axis it is the first or the last that it holds for."""
    if len(axes) != 1 or not isinstance(atom, kinds.AtMost):
        return False
    bases = [at[0] for at in atom.places if at[1:] == (0, ()) and not is_fixed(at)]
    return len(bases) == 2 and (bases[0] == 0) != (bases[1] == 0)


def _everywhere(poly: Frozen, axes: tuple[Axis, ...]) -> Array | None:
    """The array of which a term is any entry."""
    match [*poly]:
        case [(((kinds.Entry(array, places), 1),), c)] if c > 0 and len(places) == len(axes):
            if {at[0] for at in places if at[1:] == (0, ())} == {*range(len(axes))}:
                return array
    return None
