"""Limits by expansion: what a term is near the end that its variable goes to.

Near its end the variable is ``c + u``, ``1 / u`` or ``-1 / u`` with a small u above 0. A germ is a
sum of products of an exponential of negative powers of u, a power of u and a term without it,
known up to a power of u. Exponentials that fade outweigh all powers of u
(G. Hardy, Orders of infinity, 1910). The limit is the part without u, where nothing grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import factorial, prod
from typing import TypeAlias

from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.computing import Computing
from symattn.calculus.kernel.kinds import UNIT, Atom, Exponent, Frozen, Mono, Target
from symattn.calculus.kernel.signs import Relation
from symattn.calculus.kernel.terms import Poly, Unproved, depends, number, power, single
from symattn.calculus.language import Array

Growth: TypeAlias = "frozenset[tuple[Fraction, Frozen]]"
"""Negative powers of u whose exponential is taken, each with the term beside it."""
Rate: TypeAlias = tuple[Growth, Fraction]
"""An exponential and a power of u, of which a germ has multiples."""
Lemma = tuple[str, Callable[[int], Fraction]]
"""Power series in x: what each says, and the coefficient of each power."""
REGULAR: Growth = frozenset()
ZERO = Fraction(0)
STILL: Rate = (REGULAR, ZERO)
_MOST_TERMS = 12
_SOON = Fraction(1, 10**9)
"""A power of u in place of what just tends to 0."""


SERIES: Mapping[str, Lemma] = {
    "exp": ("e^x = 1 + x + x^2/2! + ...", lambda k: UNIT / factorial(k)),
    "log": ("log(1 + x) = x - x^2/2 + ...", lambda k: -((-UNIT) ** k) / k if k else ZERO),
    "sin": ("sin x = x - x^3/3! + ...", lambda k: (ZERO, UNIT, ZERO, -UNIT)[k % 4] / factorial(k)),
    "cos": ("cos x = 1 - x^2/2! + ...", lambda k: (UNIT, ZERO, -UNIT, ZERO)[k % 4] / factorial(k)),
}
ADDITION: Mapping[str, tuple[tuple[str, str, int], ...]] = {
    "sin": (("sin", "cos", 1), ("cos", "sin", 1)),
    "cos": (("cos", "cos", 1), ("sin", "sin", -1)),
}
"""A function of ``a + b`` by products of one function of a, another of b, and a sign."""


def _binomial(e: Exponent) -> Lemma:
    """Newton's series of a power."""
    factors = [(Fraction(e) - k) / (k + 1) for k in range(_MOST_TERMS)]
    return "(1 + x)^e = 1 + e x + e (e - 1)/2 x^2 + ...", lambda k: prod(factors[:k], start=UNIT)


@dataclass(frozen=True)
class Germ:
    """Exponentials and powers of u with the terms beside them; what is left out is no more
    than a multiple of the ``errors``."""

    parts: Mapping[Rate, Poly]
    errors: frozenset[Rate] = frozenset()

    def rates(self) -> list[Rate]:
        """The errors, and of each exponential the lowest power of u beside it."""
        lowest: dict[Growth, Fraction] = {}
        for growth, order in self.parts:
            lowest[growth] = min(order, lowest.get(growth, order))
        return [*lowest.items(), *self.errors]

    def regular(self) -> dict[Fraction, Poly]:
        """The terms without exponentials, by the power of u beside them."""
        return {order: poly for (growth, order), poly in self.parts.items() if not growth}


class Germs:
    """Computes with germs, to a number of terms of each series; at a number from above, or from
    below, which is the ``side`` -1."""

    def __init__(
        self, kernel: Computing, variable: Array, target: Target, terms: int, side: int = 1
    ) -> None:
        self.kernel, self.variable, self.terms = kernel, variable, terms
        self._target = target
        self._is_soft = self._has_log = False
        entry = power(kernel.atom(kinds.Entry, variable, ()))
        self._log = kernel.atom(kinds.Function, "log", entry.frozen())
        if isinstance(target, Fraction):
            orders = {ZERO: number(target), Fraction(1): number(side)}
        else:
            orders = {Fraction(-1): number(1 if target == "oo" else -1)}
        self._end = self._sum_of((REGULAR, order, c) for order, c in orders.items())

    @staticmethod
    def _sum_of(parts: Iterable[tuple[Growth, Fraction, Poly]]) -> Germ:
        """A germ that is known exactly."""
        return Germ({(growth, order): poly for growth, order, poly in parts if poly})

    def limit(self, poly: Poly) -> Poly:
        """Return what a term tends to."""
        germ = self.of(poly)
        self._is_known_to(germ, STILL)
        if not all(rate == STILL or self._vanishes(rate) for rate in germ.parts):
            raise Unproved("a limit that is not finite")
        value = germ.parts.get(STILL, Poly())
        if self._holds_log(value) or (self._is_soft and self._has_log):
            raise Unproved("a limit that is not finite")
        return value

    def _is_known_to(self, germ: Germ, rate: Rate) -> None:
        """See to it that what is left out of a germ is less than a part of it."""
        for other, k in germ.errors:
            apart = self._together(other, rate[0], -1)
            if not self._vanishes((apart, k - rate[1])):
                raise Unproved("a limit for which more terms are needed")

    def sign(self, relation: Relation, poly: Poly) -> None:
        """Note what a term needs near the end."""
        _, lead, _ = self._led(self.of(poly))
        self.kernel.need("!=" if relation == "!=" else ">", lead)

    def _holds_log(self, poly: Poly) -> bool:
        return self._log in poly.atoms

    # -- terms -----------------------------------------------------------------------------------

    def of(self, poly: Poly) -> Germ:
        """The germ of a term."""
        total = Germ({})
        for mono, c in poly.items():
            still: Mono = tuple(pair for pair in mono if not self._moves(pair[0]))
            germ = self._still(single(still, c))
            for atom, e in mono:
                if self._moves(atom):
                    known = self._known(atom, e)
                    factor = self._power(self._atom(atom), e) if known is None else known
                    germ = self._mul(germ, factor)
            total = self._add(total, germ)
        return total

    def _moves(self, atom: Atom) -> bool:
        """Return whether an atom depends on the variable."""
        return depends(atom.arrays, {self.variable})

    def _known(self, atom: Atom, e: Exponent) -> Germ | None:
        """A factor whose limit is given: that is all that is known of it near its end."""
        of = power(atom, e).frozen()
        limit = self.kernel.atom(kinds.Limit, self.variable, self._target, of)
        fact = self.kernel.given_limit(limit)
        if fact is None:
            return None
        self._is_soft = True
        return Germ(self._still(fact).parts, frozenset({(REGULAR, _SOON)}))

    def _still(self, poly: Poly) -> Germ:
        """The germ of what does not depend on the variable."""
        return self._sum_of([(*STILL, poly)])

    def _atom(self, atom: Atom) -> Germ:
        match atom:
            case kinds.Entry(array) if array is self.variable:
                return self._end
            case kinds.Bracket(term):
                return self.of(Poly(term))
            case kinds.Positive(term):
                _, lead, _ = self._led(self.of(Poly(term)))
                self.kernel.need("!=", lead)
                return self._still(self.kernel.function("positive", lead))
            case kinds.Sum():
                return self._sum(atom)
            case kinds.Function("exp", term):
                return self._exp(self.of(Poly(term)))
            case kinds.Function("log", term):
                return self._logarithm(self.of(Poly(term)))
            case kinds.Function(_, term):
                return self._wave(atom, self.of(Poly(term)))
        raise Unproved("a limit of this kind")

    def _sum(self, atom: kinds.Sum) -> Germ:
        kernel = self.kernel
        with kernel.inside(*atom.axes) as variables:
            germ = self.of(single(kernel.opened(atom.body, variables)))
            growths = [growth for growth, _ in (*germ.parts, *germ.errors) if growth]
            if not all(map(self._fades, growths)):
                raise Unproved("a sum of what grows")
            parts = [(REGULAR, k, kernel.sum(variables, c)) for k, c in germ.regular().items()]
            # What fades at every place fades in their sum; how fast is not told.
            soon = {(REGULAR, Fraction(self.terms))} if growths else set()
            errors = soon.union(rate for rate in germ.errors if not rate[0])
            return Germ(self._sum_of(parts).parts, frozenset(errors))

    # -- growth ----------------------------------------------------------------------------------

    def _fades(self, growth: Growth) -> bool:
        """Return whether an exponential tends to 0; else it grows. Its sign has to be known."""
        _, frozen = min(growth, key=lambda pair: pair[0])
        for sign in (1, -1):
            signed = Poly(frozen) * sign
            if self.kernel.is_positive(signed) or self.kernel.is_not_below(signed):
                self.kernel.need(">", signed)
                return sign < 0
        raise Unproved("the limit of an exponential whose sign is not known")

    def _vanishes(self, rate: Rate) -> bool:
        """Return whether an exponential with a power of u tends to 0."""
        growth, order = rate
        return self._fades(growth) if growth else order > 0

    @staticmethod
    def _together(first: Growth, second: Growth, sign: Exponent = 1) -> Growth:
        """The exponent of a product of exponentials, of which the second is raised."""
        orders = {order: Poly(poly) for order, poly in first}
        for order, poly in second:
            orders[order] = orders.get(order, Poly()) + Poly(poly) * sign
        return frozenset((order, c.frozen()) for order, c in orders.items() if c)

    def _led(self, germ: Germ) -> tuple[Rate, Poly, Germ]:
        """The part of a germ that outweighs all others: its exponential and its power of u, and
        the term beside; and the germ over that, less 1."""
        if not germ.parts:
            raise Unproved("a quotient by what tends to 0 faster than can be seen")
        growth = next(iter(germ.parts))[0]
        for other in dict.fromkeys(each for each, _ in germ.parts):
            apart = self._together(other, growth, -1)
            if apart and not self._fades(apart):
                growth = other
        rate = growth, min(order for each, order in germ.parts if each == growth)
        lead = germ.parts[rate]
        self._is_known_to(germ, rate)
        if self._holds_log(lead):
            raise Unproved("the limit of a quotient by a logarithm")
        inverse = self.kernel.raised(lead, -1)
        opposite = self._together(REGULAR, growth, -1)
        over = self._mul(germ, self._sum_of([(opposite, -rate[1], inverse)]))
        rest = {rate: poly for rate, poly in over.parts.items() if rate != STILL}
        return rate, lead, Germ(rest, over.errors)

    # -- computing -------------------------------------------------------------------------------

    def _add(self, left: Germ, right: Germ) -> Germ:
        parts = dict(left.parts)
        for rate, poly in right.parts.items():
            parts[rate] = parts.get(rate, Poly()) + poly
        return self._tidy(parts, left.errors | right.errors)

    @staticmethod
    def _tidy(parts: Mapping[Rate, Poly], errors: frozenset[Rate]) -> Germ:
        """A germ without what is no larger than an error."""
        least = min((order for growth, order in errors if not growth), default=None)
        kept = {
            (growth, order): poly
            for (growth, order), poly in parts.items()
            if poly and (growth or least is None or order < least)
        }
        return Germ(kept, errors)

    def _mul(self, left: Germ, right: Germ) -> Germ:
        parts: dict[Rate, Poly] = {}
        for (growth, order), a in left.parts.items():
            for (other, k), b in right.parts.items():
                rate = self._together(growth, other), order + k
                parts[rate] = parts.get(rate, Poly()) + self.kernel.mul(a, b)
        errors = {
            (self._together(growth, other), order + k)
            for one, two in ((left, right), (right, left))
            for growth, order in one.errors
            for other, k in two.rates()
            if self._keeps_small(order, other, k)
        }
        return self._tidy(parts, frozenset(errors))

    def _keeps_small(self, order: Fraction, growth: Growth, k: Fraction) -> bool:
        """Return whether what just tends to 0 still does beside something else."""
        if order.denominator % _SOON.denominator == 0 and (growth or k < 0):
            raise Unproved("what just tends to 0 beside what may grow")
        return True

    def _series(self, small: Germ, lemma: Lemma) -> Germ:
        """A power series in a germ that tends to 0."""
        rates = small.rates()
        if not all(map(self._vanishes, rates)):
            raise Unproved("a series in what does not tend to 0")
        total, raised = Germ({}), self._still(number(1))
        for k in range(self.terms):
            total = self._add(total, self._mul(raised, self._still(number(lemma[1](k)))))
            raised = self._mul(raised, small)
        left = {
            (self._together(REGULAR, growth, self.terms), k * self.terms) for growth, k in rates
        }
        return self._tidy(total.parts, total.errors | left)

    def _power(self, germ: Germ, e: Exponent) -> Germ:
        if isinstance(e, int) and e >= 0:
            product = self._still(number(1))
            for _ in range(e):
                product = self._mul(product, germ)
            return product
        (growth, order), lead, rest = self._led(germ)
        self.kernel.need("!=" if isinstance(e, int) else ">", lead)
        raised = self._together(REGULAR, growth, e), order * e, self.kernel.raised(lead, e)
        return self._mul(self._sum_of([raised]), self._series(rest, _binomial(e)))

    def _parted(self, germ: Germ) -> tuple[Growth, Poly, Germ]:
        """The negative powers of u in a germ, what stands without u, and the rest."""
        self._is_known_to(germ, STILL)
        orders = germ.regular()
        if any(self._holds_log(poly) for order, poly in orders.items() if order <= 0):
            raise Unproved("a function of a logarithm that grows")
        growth = frozenset((k, c.frozen()) for k, c in orders.items() if k < 0)
        rest = {rate: poly for rate, poly in germ.parts.items() if rate[0] or rate[1] > 0}
        return growth, orders.get(ZERO, Poly()), Germ(rest, germ.errors)

    def _exp(self, germ: Germ) -> Germ:
        growth, still, rest = self._parted(germ)
        series = self._series(rest, SERIES["exp"])
        return self._mul(self._sum_of([(growth, ZERO, self.kernel.exp(still))]), series)

    def _logarithm(self, germ: Germ) -> Germ:
        (growth, order), lead, rest = self._led(germ)
        self.kernel.need(">", lead)
        grown = self._sum_of((REGULAR, k, Poly(c)) for k, c in growth)
        still = self.kernel.function("log", lead) + power(self._log) * order
        self._has_log |= bool(order)
        series = self._series(rest, SERIES["log"])
        return self._add(self._add(grown, self._still(still)), series)

    def _wave(self, atom: kinds.Function, germ: Germ) -> Germ:
        """Sine and cosine of a sum, and others that have a slope."""
        growth, still, rest = self._parted(germ)
        if growth:
            raise Unproved("a limit of what swings")
        if atom.name not in ADDITION:
            if rest.parts:
                raise Unproved(f"a limit in {atom.name}")
            return Germ(self._still(self.kernel.function(atom.name, still)).parts, rest.errors)
        total = Germ({})
        for outer, inner, sign in ADDITION[atom.name]:
            value = self._still(self.kernel.function(outer, still) * sign)
            total = self._add(total, self._mul(value, self._series(rest, SERIES[inner])))
        return total


def expansion(kernel: Computing, mono: Mono, terms: int) -> Poly:
    """``limit(t, 0, sin(t) / t) == 1``: what a term tends to by its expansion, to so many terms."""
    match mono:
        case ((kinds.Limit(variable, target, of), 1),) if 0 < terms <= _MOST_TERMS:
            return Germs(kernel, variable, target, terms).limit(Poly(of))
    raise Unproved("this rule is for a limit")
