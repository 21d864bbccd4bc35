"""Limits by expansion: what a term is near the end that its variable goes to.

Near its end the variable is ``c + u``, ``1 / u`` or ``-1 / u`` with a small u above 0. A germ is a
sum of products of an exponential of negative powers of u, a power of u and a term without it,
known up to a power of u. Exponentials that fade outweigh all powers of u
(G. Hardy, Orders of infinity, 1910). The limit is the part without u, where nothing grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from typing import TypeAlias

from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.computing import Computing
from symattn.calculus.kernel.kinds import UNIT, Atom, Exponent, Frozen, Mono, Target
from symattn.calculus.kernel.signs import Relation
from symattn.calculus.kernel.terms import Poly, Unproved, depends, number, power, single
from symattn.calculus.language import Array

Orders: TypeAlias = dict[Fraction, Poly]
"""Terms by the power of u beside them."""
Growth: TypeAlias = "frozenset[tuple[Fraction, Frozen]]"
"""Negative powers of u whose exponential is taken, as :data:`Orders`."""
REGULAR: Growth = frozenset()
ZERO = Fraction(0)
_MOST_TERMS = 12
_SOON = Fraction(1, 10**9)
"""A power of u in place of what just tends to 0."""


@dataclass(frozen=True)
class Germ:
    """Exponentials and powers of u with what stands beside them; what is left out is no more
    than a multiple of the ``errors``, each an exponential and a power of u."""

    parts: dict[Growth, Orders]
    errors: frozenset[tuple[Growth, Fraction]] = frozenset()


class Germs:
    """Computes with germs, to a number of terms of each series; at a number from above, or from
    below, which is the ``side`` -1."""

    def __init__(
        self, kernel: Computing, variable: Array, target: Target, terms: int, side: int = 1
    ) -> None:
        self.kernel, self.variable, self.terms = kernel, variable, terms
        self._target = target
        self._is_soft = self._has_log = False
        mono: Mono = ((kernel.atom(kinds.Entry, variable, ()), 1),)
        self._log = kernel.atom(kinds.Function, "log", single(mono).frozen())
        if isinstance(target, Fraction):
            orders = {ZERO: number(target), Fraction(1): number(side)}
        else:
            orders = {Fraction(-1): number(1 if target == "oo" else -1)}
        self._end = Germ({REGULAR: {order: c for order, c in orders.items() if c}})

    def limit(self, poly: Poly) -> Poly:
        """What a term tends to."""
        germ = self.of(poly)
        self._is_known_to(germ, REGULAR, ZERO)
        for growth in germ.parts:
            if growth and not self._fades(growth):
                raise Unproved("a limit that is not finite")
        orders = germ.parts.get(REGULAR, {})
        if any(order < 0 for order in orders):
            raise Unproved("a limit that is not finite")
        value = orders.get(ZERO, Poly())
        if self._holds_log(value) or (self._is_soft and self._has_log):
            raise Unproved("a limit that is not finite")
        return value

    def _is_known_to(self, germ: Germ, growth: Growth, order: Fraction) -> None:
        """See to it that what is left out of a germ is less than a part of it."""
        for other, k in germ.errors:
            apart = self._together(other, growth, -1)
            if (apart and not self._fades(apart)) or (not apart and k <= order):
                raise Unproved("a limit for which more terms are needed")

    def sign(self, relation: Relation, poly: Poly) -> None:
        """Note what a term needs near the end."""
        _, _, lead, _ = self._led(self.of(poly))
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
        """Whether an atom depends on the variable."""
        return depends(atom.arrays, {self.variable})

    def _known(self, atom: Atom, e: Exponent) -> Germ | None:
        """A factor whose limit is given: that is all that is known of it near its end."""
        kernel = self.kernel
        of: Frozen = power(atom, e).frozen()
        fact = kernel.given_limit(kernel.atom(kinds.Limit, self.variable, self._target, of))
        if fact is None:
            return None
        self._is_soft = True
        return Germ(self._still(fact).parts, frozenset({(REGULAR, _SOON)}))

    @staticmethod
    def _still(poly: Poly, order: Fraction = ZERO) -> Germ:
        return Germ({REGULAR: {order: poly}} if poly else {})

    def _atom(self, atom: Atom) -> Germ:
        match atom:
            case kinds.Entry(array) if array is self.variable:
                return self._end
            case kinds.Bracket(term):
                return self.of(Poly(term))
            case kinds.Positive(term):
                _, _, lead, _ = self._led(self.of(Poly(term)))
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
            germ = self.of(single(kernel.summands(atom, variables)))
            for growth in (*germ.parts, *(growth for growth, _ in germ.errors)):
                if growth and not self._fades(growth):
                    raise Unproved("a sum of what grows")
            inner = germ.parts.get(REGULAR, {})
            orders = {order: kernel.sum(variables, c) for order, c in inner.items()}
            # What fades at every place fades in their sum; how fast is not told.
            if any(growth for growth in germ.parts) or any(growth for growth, _ in germ.errors):
                germ = Germ(germ.parts, germ.errors | {(REGULAR, Fraction(self.terms))})
            errors = frozenset(pair for pair in germ.errors if not pair[0])
            kept = {order: c for order, c in orders.items() if c}
            return Germ({REGULAR: kept} if kept else {}, errors)

    # -- growth ----------------------------------------------------------------------------------

    def _fades(self, growth: Growth) -> bool:
        """Whether an exponential tends to 0; else it grows. Its sign has to be known."""
        _, frozen = min(growth, key=lambda pair: pair[0])
        lead = Poly(frozen)
        for sign in (1, -1):
            signed = lead * sign
            if self.kernel.is_positive(signed) or self.kernel.is_not_below(signed):
                self.kernel.need(">", signed)
                return sign < 0
        raise Unproved("the limit of an exponential whose sign is not known")

    def _together(self, first: Growth, second: Growth, sign: int = 1) -> Growth:
        orders = {order: Poly(poly) for order, poly in first}
        for order, poly in second:
            orders[order] = orders.get(order, Poly()) + Poly(poly) * sign
        return frozenset((order, c.frozen()) for order, c in orders.items() if c)

    def _led(self, germ: Germ) -> tuple[Growth, Fraction, Poly, Germ]:
        """The part of a germ that outweighs all others: its exponential, its power of u and what
        stands beside; and the germ over that, less 1."""
        if not germ.parts:
            raise Unproved("a quotient by what tends to 0 faster than can be seen")
        growth = next(iter(germ.parts))
        for other in germ.parts:
            apart = self._together(other, growth, -1)
            if apart and not self._fades(apart):
                growth = other
        order = min(germ.parts[growth])
        lead = germ.parts[growth][order]
        self._is_known_to(germ, growth, order)
        if self._holds_log(lead):
            raise Unproved("the limit of a quotient by a logarithm")
        inverse = self.kernel.raised(lead, -1)
        opposite = self._together(REGULAR, growth, -1)
        over = self._mul(germ, Germ({opposite: {-order: inverse}}))
        rest = {key: dict(orders) for key, orders in over.parts.items()}
        rest[REGULAR].pop(ZERO, None)
        return growth, order, lead, Germ({k: o for k, o in rest.items() if o}, over.errors)

    # -- computing -------------------------------------------------------------------------------

    def _add(self, left: Germ, right: Germ) -> Germ:
        parts = {growth: dict(orders) for growth, orders in left.parts.items()}
        for growth, orders in right.parts.items():
            into = parts.setdefault(growth, {})
            for order, poly in orders.items():
                into[order] = into.get(order, Poly()) + poly
        return self._tidy(parts, left.errors | right.errors)

    @staticmethod
    def _tidy(parts: dict[Growth, Orders], errors: frozenset[tuple[Growth, Fraction]]) -> Germ:
        least = min((order for growth, order in errors if not growth), default=None)
        kept = {}
        for growth, orders in parts.items():
            known = {
                order: poly
                for order, poly in orders.items()
                if poly and (growth or least is None or order < least)
            }
            if known:
                kept[growth] = known
        return Germ(kept, errors)

    def _mul(self, left: Germ, right: Germ) -> Germ:
        parts: dict[Growth, Orders] = {}
        for growth, orders in left.parts.items():
            for other, more in right.parts.items():
                into = parts.setdefault(self._together(growth, other), {})
                for order, a in orders.items():
                    for k, b in more.items():
                        into[order + k] = into.get(order + k, Poly()) + self.kernel.mul(a, b)
        errors = {
            (self._together(growth, other), order + k)
            for one, two in ((left, right), (right, left))
            for growth, order in one.errors
            for other, k in (*((key, min(o)) for key, o in two.parts.items()), *two.errors)
            if self._keeps_small(order, other, k)
        }
        return self._tidy(parts, frozenset(errors))

    def _keeps_small(self, order: Fraction, growth: Growth, k: Fraction) -> bool:
        """Whether what just tends to 0 still does beside something else."""
        if order.denominator % _SOON.denominator == 0 and (growth or k < 0):
            raise Unproved("what just tends to 0 beside what may grow")
        return True

    def _series(self, small: Germ, coefficients: list[Fraction]) -> Germ:
        """A power series in a germ that tends to 0."""
        lowest = [(growth, min(orders)) for growth, orders in small.parts.items()]
        below = (*lowest, *small.errors)
        for growth, order in below:
            if not self._fades(growth) if growth else order <= 0:
                raise Unproved("a series in what does not tend to 0")
        total, raised = Germ({}), self._still(number(1))
        for c in coefficients:
            total = self._add(total, self._mul(raised, self._still(number(c))))
            raised = self._mul(raised, small)
        k = len(coefficients)
        left = {(self._times(growth, Fraction(k)), order * k) for growth, order in below}
        return self._tidy(total.parts, total.errors | left)

    @staticmethod
    def _times(growth: Growth, e: Exponent) -> Growth:
        return frozenset((order, (Poly(poly) * Fraction(e)).frozen()) for order, poly in growth)

    def _power(self, germ: Germ, e: Exponent) -> Germ:
        if isinstance(e, int) and e >= 0:
            product = self._still(number(1))
            for _ in range(e):
                product = self._mul(product, germ)
            return product
        growth, order, lead, rest = self._led(germ)
        self.kernel.need("!=" if isinstance(e, int) else ">", lead)
        coefficients, c = [], UNIT
        for k in range(self.terms):
            coefficients.append(c)
            c *= (Fraction(e) - k) / (k + 1)
        front = Germ({self._times(growth, e): {order * e: self.kernel.raised(lead, e)}})
        return self._mul(front, self._series(rest, coefficients))

    def _parted(self, germ: Germ) -> tuple[Growth, Poly, Germ]:
        """The negative powers of u in a germ, what stands without u, and the rest."""
        self._is_known_to(germ, REGULAR, ZERO)
        orders = germ.parts.get(REGULAR, {})
        if any(self._holds_log(poly) for order, poly in orders.items() if order <= 0):
            raise Unproved("a function of a logarithm that grows")
        growth = frozenset((k, c.frozen()) for k, c in orders.items() if k < 0)
        rest = {key: o for key, o in germ.parts.items() if key}
        above = {k: c for k, c in orders.items() if k > 0}
        if above:
            rest[REGULAR] = above
        return growth, orders.get(ZERO, Poly()), Germ(rest, germ.errors)

    def _exp(self, germ: Germ) -> Germ:
        growth, still, rest = self._parted(germ)
        series = self._series(rest, [Fraction(1, factorial(k)) for k in range(self.terms)])
        return self._mul(Germ({growth: {ZERO: self.kernel.exp(still)}}), series)

    def _logarithm(self, germ: Germ) -> Germ:
        growth, order, lead, rest = self._led(germ)
        self.kernel.need(">", lead)
        grown = Germ({REGULAR: {k: Poly(c) for k, c in growth}} if growth else {})
        still = self.kernel.function("log", lead) + power(self._log) * order
        self._has_log |= bool(order)
        coefficients = [ZERO, *(Fraction((-1) ** (k + 1), k) for k in range(1, self.terms))]
        return self._add(self._add(grown, self._still(still)), self._series(rest, coefficients))

    def _wave(self, atom: kinds.Function, germ: Germ) -> Germ:
        """Sine, cosine, and others that have a slope."""
        growth, still, rest = self._parted(germ)
        kernel, name = self.kernel, atom.name
        if growth:
            raise Unproved("a limit of what swings")
        if name not in ("sin", "cos"):
            if rest.parts:
                raise Unproved(f"a limit in {name}")
            return Germ(self._still(kernel.function(name, still)).parts, rest.errors)
        first = {"sin": 0, "cos": 1}[name]
        total = Germ({})
        for odd in (0, 1):
            outer = kernel.function("cos" if (first + odd) % 2 else "sin", still)
            # The derivatives of sin are cos, -sin, -cos, sin.
            signs = [
                (1, 1, -1, -1)[(first + k) % 4] if k % 2 == odd else 0 for k in range(self.terms)
            ]
            coefficients = [Fraction(sign, factorial(k)) for k, sign in enumerate(signs)]
            total = self._add(
                total, self._mul(self._still(outer), self._series(rest, coefficients))
            )
        return total


def expansion(kernel: Computing, mono: Mono, terms: int) -> Poly:
    """A limit by expanding what tends to so many terms."""
    match mono:
        case ((kinds.Limit(variable, target, of), 1),) if 0 < terms <= _MOST_TERMS:
            return Germs(kernel, variable, target, terms).limit(Poly(of))
    raise Unproved("this rule is for a limit")
