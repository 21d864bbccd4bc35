"""Computing with terms: sums, products and powers, functions, deltas, sums over axes.

What is computed here holds in any commutative ring with exponentials: ``e^(a + b)`` is
``e^a e^b``, sums are linear. Whatever needs a choice is a rule (:mod:`.rules`): a fact says that
a product is another term, and is put in wherever that product comes up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import floor
from typing import Any

from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.kinds import UNIT, Atom, Exponent, Mono, Place
from symattn.calculus.kernel.signs import Condition, Signs
from symattn.calculus.kernel.terms import (
    FIRST,
    P,
    Poly,
    Unproved,
    base_of,
    end_of,
    is_fixed,
    number,
    ordered,
    plain,
    power,
    replaced,
    single,
    summed,
)
from symattn.calculus.language import Array, Axis, Index
from symattn.expressions.elementary import ELEMENTARY

_MOST_TERMS = 3000
_MOST_EXPONENT = 64
_LARGEST = 10**12
"""Numbers above are not split into primes."""


@dataclass(frozen=True)
class Step:
    """A rule, the product that it is applied to, and what it is applied with."""

    rule: str
    to: Mono
    data: Any = None


@dataclass(frozen=True)
class Fact:
    """The term that a product is, and under which conditions."""

    value: Poly
    conditions: frozenset[Condition] = frozenset()


Choice = Callable[[Mono], Step | None]
"""The rule to apply to a product, if any."""
Rule = Callable[[Any, Mono, Any], Poly]
"""A rule is given the kernel, the product that it is applied to, and what it is applied with: that
differs from rule to rule, and may be anything that was read."""


class Computing(Signs):
    """Terms with facts about them; ``choose`` is asked once about every product that comes up."""

    rules: Mapping[str, Rule] = {}
    # Limits and expected values, whose bodies are computed while something varies, and limits that
    # are given as equations: of these the classes above know.
    tending: Callable[..., Poly]
    expected: Callable[[Callable[[], Poly]], Poly]
    given_limit: Callable[[kinds.Limit], Poly | None]

    def __init__(self, choose: Choice | None = None) -> None:
        super().__init__()
        self.choose = choose
        self.facts: dict[Mono, Fact | None] = {}
        self.steps: list[Step] = []
        self._makers: Mapping[type[Atom], Callable[..., Poly]] = {
            kinds.Entry: self.entry,
            kinds.Derivative: lambda of, by: self.made(kinds.Derivative, of, by),
            kinds.Position: self.position,
            kinds.Delta: self.equal,
            kinds.AtMost: self.at_most,
            kinds.Function: self.function,
            kinds.Positive: partial(self.function, "positive"),
            kinds.Bracket: Poly,
        }
        self.random: frozenset[Array] = frozenset()
        self.permutations: Mapping[str, Axis] = {}

    # -- facts -----------------------------------------------------------------------------------

    def settled(self, mono: Mono) -> Poly:
        """Return what a product is known to be; itself where nothing is known."""
        if not mono:
            return number(1)
        if mono not in self.facts:
            self.facts[mono] = None
            with self.apart():
                step = self.choose(mono) if self.choose else None
            if step is not None:
                if step.to != mono:
                    raise Unproved("a step for another product")
                self.apply(step)
        fact = self.facts[mono]
        if fact is None:
            return single(mono)
        self.conditions |= fact.conditions
        return fact.value

    def apply(self, step: Step) -> Fact:
        """Make a fact by a rule. Raises :class:`Unproved` where it doesn't apply."""
        if any(self.is_beyond(index) for index in kinds.indices_of(step.data)):
            raise Unproved("a step names an index of a sum that it is not in")
        if not kinds.is_plain(step.data):
            raise Unproved("a step with what is no term")
        with self.apart() as conditions:
            value = self.rules[step.rule](self, step.to, step.data)
        if any(each.name.startswith("%") for each in value.free - single(step.to).free):
            raise Unproved("a step names an index of a sum that its product is not in")
        fact = self.facts[step.to] = Fact(value, frozenset(conditions))
        self.steps.append(step)
        return fact

    # -- the ring --------------------------------------------------------------------------------

    def mul(self, left: Poly, right: Poly) -> Poly:
        """The product of two terms."""
        total = Poly()
        for first, a in left.items():
            for second, b in right.items():
                total.put(self._product(first, second), a * b)
            if len(total) > _MOST_TERMS:
                raise Unproved("too many terms")
        return total

    def product(self, parts: Iterable[Poly]) -> Poly:
        """The product of several terms."""
        product = number(1)
        for part in parts:
            product = self.mul(product, part)
        return product

    def _product(self, first: Mono, second: Mono) -> Poly:
        self.work()
        if not first or not second:
            return single(first or second)
        exponents = dict(first)
        opened: list[Atom] = []
        for atom, e in second:
            before = exponents.get(atom)
            if before is None:
                exponents[atom] = e
            elif not isinstance(atom, kinds.Boolean):
                exponents[atom] = self._merged(atom, before, e)
                if isinstance(atom, kinds.Bracket):
                    opened.append(atom)
        if any(e == 0 or atom in opened for atom, e in exponents.items()):
            kept = ordered((a, e) for a, e in exponents.items() if e and a not in opened)
            bases = (self.raised(base_of(a), exponents[a]) for a in opened if exponents[a])
            return self.product([self.settled(kept), *bases])
        return self.settled(ordered(exponents.items()))

    def _merged(self, atom: Atom, first: Exponent, second: Exponent) -> Exponent:
        """The exponent of a product of two powers."""
        if not self.is_above(atom):
            is_root = isinstance(first, Fraction) or isinstance(second, Fraction)
            if first < 0 or second < 0:
                self.need(">" if is_root else "!=", base_of(atom))
            elif is_root:
                self.need(">=", base_of(atom))
        return plain(Fraction(first) + second)

    def times(self, poly: Poly, exponent: int) -> Poly:
        """A power with a whole exponent from 0."""
        if exponent > _MOST_EXPONENT and len(poly) > 1:
            raise Unproved("too high a power of a sum")
        result = number(1)
        if len(poly) == 1 and exponent > 1:
            ((mono, c),) = poly.items()
            if not any(isinstance(atom, kinds.Boolean | kinds.Bracket) for atom, _ in mono):
                raised = tuple((atom, plain(e * exponent)) for atom, e in mono)
                return self.settled(raised) * c**exponent
        while exponent:
            if exponent & 1:
                result = self.mul(result, poly)
            exponent >>= 1
            if exponent:
                poly = self.mul(poly, poly)
        return result

    def raised(self, poly: Poly, exponent: Exponent) -> Poly:
        """A rational power."""
        exponent = plain(exponent)
        if isinstance(exponent, int) and exponent >= 0:
            return self.times(poly, exponent)
        if not poly:
            if exponent > 0:
                return Poly()
            raise Unproved("a quotient by 0")
        if len(poly) == 1:
            ((mono, c),) = poly.items()
            if not mono:
                return self._number_raised(c, exponent)
            if isinstance(exponent, int):
                # 1 / (a b) is 1/a 1/b, where a quotient by 0 is taken to be 0, too.
                inverse = (self._atom_raised(atom, e * exponent) for atom, e in mono)
                return self.product(inverse) * c**exponent
            if c == 1 and len(mono) == 1 and mono[0][1] == 1:
                return self._atom_raised(mono[0][0], exponent)
        whole = floor(exponent)
        if whole > 0:
            return self.mul(self.times(poly, whole), self.raised(poly, exponent - whole))
        return self.settled(((self.atom(kinds.Bracket, poly.frozen()), exponent),))

    def _atom_raised(self, atom: Atom, exponent: Exponent) -> Poly:
        exponent = plain(exponent)
        if isinstance(atom, kinds.Bracket):
            return self.raised(Poly(atom.of), exponent)
        if isinstance(atom, kinds.Boolean) and exponent:
            # A quotient by 0 is taken to be 0.
            return power(atom)
        return self.settled(((atom, exponent),))

    def _number_raised(self, value: Fraction, exponent: Exponent) -> Poly:
        """A power of a number, by its primes."""
        if isinstance(exponent, int):
            return number(value**exponent)
        if value < 0:
            raise Unproved("a root of a number below 0")
        result, roots = UNIT, []
        for prime, k in primes(value).items():
            e = k * exponent
            result *= Fraction(prime) ** floor(e)
            if e != floor(e):
                roots.append((self.atom(kinds.Bracket, number(prime).frozen()), e - floor(e)))
        return single(ordered(roots), result)

    def made(self, kind: Callable[P, Atom], *of: P.args, **_: P.kwargs) -> Poly:
        """An atom as what it is known to be."""
        return self.settled(((self.atom(kind, *of, **_), 1),))

    # -- functions -------------------------------------------------------------------------------

    def exp(self, poly: Poly) -> Poly:
        """The exponential of a term: the product of those of its parts."""
        return self.product(self._exp(mono, c) for mono, c in poly.items())

    def _exp(self, mono: Mono, c: Fraction) -> Poly:
        match mono:
            case ((kinds.Function("log", of), 1),):
                self.need(">", Poly(of))
                return self.raised(Poly(of), c)
        atom = self.atom(kinds.Function, "exp", single(mono).frozen())
        return self.settled(((atom, plain(c)),))

    def function(self, name: str, poly: Poly) -> Poly:
        """A function of a term."""
        if name == "exp":
            return self.exp(poly)
        if name == "positive":
            if poly.keys() == {()}:
                return number(int(poly[()] > 0))
            return self.made(kinds.Positive, poly.frozen())
        if not poly and (exact := ELEMENTARY[name].at(0)) is not None:
            return number(exact)
        return self.made(kinds.Function, name, poly.frozen())

    # -- places ----------------------------------------------------------------------------------

    def position(self, at: Place) -> Poly:
        """A place as a number."""
        base, offset, images = at
        if images:
            return power(self.atom(kinds.Position, at))
        if base is None:
            return number(offset)
        if isinstance(base, str):
            return self.size(base) + offset
        return power(self.atom(kinds.Position, (base, 0, ()))) + offset

    def equal(self, first: Place, second: Place) -> Poly:
        """Kronecker's delta."""
        delta = self.delta(first, second)
        return summed(self.settled(mono) * c for mono, c in delta.items())

    def at_most(self, first: Place, second: Place) -> Poly:
        """1 where the first place is not after the second, else 0."""
        if first[0] == second[0] and (first == second or not (first[2] or second[2])):
            return number(int(first[1] <= second[1]))
        from_start = first == FIRST and second[0] is not None and second[1] >= 0
        if from_start or _is_end(first, second):
            return number(1)
        to_start = second == FIRST and not is_fixed(first) and first[1] >= 0
        if to_start or _is_end(second, first):
            return self.equal(first, second)
        return self.made(kinds.AtMost, first, second)

    def is_there(self, axis: Axis, at: Place) -> Poly:
        """1 where a place exists along an axis, else 0."""
        if self.is_place(axis, at):
            return number(1)
        return self.mul(self.at_most(FIRST, at), self.at_most(at, end_of(axis)))

    # -- sums over axes --------------------------------------------------------------------------

    def sum(self, variables: tuple[Index, ...], poly: Poly) -> Poly:
        """The sum of a term over indices, which is linear."""
        total = Poly()
        for mono, c in poly.items():
            total.put(self._sum(variables, mono), c)
        return total

    def _sum(self, variables: tuple[Index, ...], mono: Mono) -> Poly:
        bound = frozenset(variables)
        inner = tuple(pair for pair in mono if not pair[0].free.isdisjoint(bound))
        outer = tuple(pair for pair in mono if pair[0].free.isdisjoint(bound))
        used = single(inner).free & bound
        parts = [single(outer), *(self.size(each.size) for each in variables if each not in used)]
        if inner:
            own = tuple(each for each in variables if each in used)
            axes = tuple(each.size for each in own)
            parts.append(self.made(kinds.Sum, axes, self.closed(inner, own)))
        return self.product(parts)

    # -- making again ----------------------------------------------------------------------------

    def put(self, poly: Poly, to: Mapping[Index, Place]) -> Poly:
        """A term with indices replaced by places."""
        names = frozenset(to)
        if not names or names.isdisjoint(poly.free):
            return poly
        return self.remade(poly, to, lambda atom: not atom.free.isdisjoint(names))

    def again(self, poly: Poly) -> Poly:
        """A term computed once more, with all that is known by now."""
        return self.remade(poly, {}, lambda _: True)

    def remade(
        self, poly: Poly, to: Mapping[Index, Place], changes: Callable[[Atom], bool]
    ) -> Poly:
        """A term with its places replaced, computed where atoms change."""
        total = Poly()
        for mono, c in poly.items():
            kept = tuple(pair for pair in mono if not changes(pair[0]))
            product = self.settled(kept) if len(kept) < len(mono) else single(kept)
            for atom, e in mono:
                if changes(atom):
                    made = self._remade(atom, e, to, changes)
                    product = self.mul(product, made)
            total.put(product, c)
        return total

    def _remade(
        self, atom: Atom, e: Exponent, to: Mapping[Index, Place], changes: Callable[[Atom], bool]
    ) -> Poly:
        def of(parts: Iterable[tuple[Mono, Fraction]]) -> Poly:
            return self.remade(Poly(parts), to, changes)

        match atom:
            case kinds.Size() | kinds.Constant() | kinds.Operations():
                return power(atom, e)
            case kinds.Sum(axes):
                with self.inside(*axes) as variables:
                    value = self.sum(variables, of([(self.opened(atom.body, variables), UNIT)]))
            case kinds.Limit(variable, target):
                # Its body was computed above the end, if that is a number.
                value = self.tending(variable, target, lambda: of(atom.parts), is_above=True)
            case kinds.Mean():
                value = self.expected(lambda: of(atom.parts))
            case _:
                parts = kinds.mapped(atom, lambda place: replaced(place, to), of)
                value = self._makers[type(atom)](*parts)
        return self.raised(value, e)

    def entry(self, array: Array, at: tuple[Place, ...]) -> Poly:
        """An entry of an array."""
        return self.made(kinds.Entry, array, at)


def _is_end(first: Place, second: Place) -> bool:
    """Return whether the second place is the last of the axis that the first, an index, is on."""
    on_axis = isinstance(first[0], Index) and second[:1] == (first[0].size,)
    return on_axis and first[1] <= 0 and second[1:] == (0, ())


def primes(value: Fraction) -> dict[int, int]:
    """The primes of a rational number above 0, with their exponents."""
    if max(value.numerator, value.denominator) > _LARGEST:
        raise Unproved("the primes of a large number")
    exponents: dict[int, int] = {}
    for whole, sign in ((value.numerator, 1), (value.denominator, -1)):
        factor = 2
        while whole > 1:
            factor = factor if factor * factor <= whole else whole
            if whole % factor == 0:
                exponents[factor] = exponents.get(factor, 0) + sign
                whole //= factor
            else:
                factor += 1
    return exponents
