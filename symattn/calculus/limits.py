"""Limits and expected values of normal forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from symattn.calculus.atoms import (
    ONE,
    At,
    Atom,
    Exponent,
    Mono,
    NoNormalForm,
    Poly,
    add,
    entries,
    order,
    scaled,
    summed,
    within,
    without,
)
from symattn.calculus.index_sums import Sums


class Unsigned(NoNormalForm):
    """A limit depends on a sign that is not known: nobody can find it."""


Target = Fraction | Literal["oo", "-oo"]
"""Where the variable of a limit goes."""


def limit(algebra: Sums, poly: Poly, variable: Atom, target: Target) -> Poly:
    """What a sum tends to. Raises :class:`NoNormalForm` where that is not seen."""
    return _Limit(algebra, variable, target).of(poly)


@dataclass(frozen=True)
class _Limit:
    algebra: Sums
    variable: Atom
    target: Target

    def of(self, poly: Poly) -> Poly:
        algebra = self.algebra
        poly = algebra.cancelled(poly)
        if isinstance(self.target, Fraction):
            try:
                return self._at(poly, algebra.number(self.target))
            except NoNormalForm:
                if self.target:
                    raise
        # Over a common denominator first: there what grows alike cancels.
        above, below = algebra.cleared(poly)
        bases = []
        for atom, e in below:
            # What grows fastest is taken out of a denominator.
            base: Poly = dict(atom.data)
            growth = self._growth(base)
            above = algebra.mul(above, {tuple((a, -k * e) for a, k in growth): ONE})
            bases.append((algebra.mul(base, {tuple((a, -k) for a, k in growth): ONE}), e))
        value = self._term_by_term(algebra.identified(above))
        for base, e in bases:
            value = algebra.mul(value, self._below(base, -e))
        return value

    def _below(self, base: Poly, e: Exponent) -> Poly:
        """The limit of a negative power."""
        limit = self.of(base)
        if not limit:
            raise NoNormalForm("the limit of a quotient whose denominator vanishes")
        return self.algebra.raised(limit, e)

    def _growth(self, poly: Poly) -> Mono:
        """The highest powers of exponentials in a sum that grow as its variable does."""
        exponents: dict[Atom, Exponent] = {}
        way = 0 if isinstance(self.target, Fraction) else 1 if self.target == "oo" else -1
        for mono in poly:
            for atom, e in mono:
                if atom.kind == "e" and e * way > 0 and contains(atom, self.variable):
                    exponents[atom] = max(e * way, exponents.get(atom, 0) * way) * way
        return tuple(sorted(exponents.items(), key=order))

    def _at(self, poly: Poly, value: Poly) -> Poly:
        """A sum at a value of the variable, where it is continuous."""
        algebra = self.algebra
        return summed(
            algebra.product(
                [
                    algebra.number(c),
                    *(algebra.raised(self._atom_at(atom, value), e) for atom, e in mono),
                ]
            )
            for mono, c in poly.items()
        )

    def _atom_at(self, atom: Atom, value: Poly) -> Poly:
        algebra = self.algebra
        if atom is self.variable:
            return value
        if not contains(atom, self.variable):
            return algebra.one(atom)
        match atom.kind:
            case "e":
                return algebra.exp(self._at({atom.data: ONE}, value))
            case "l":
                return algebra.log(self._at(dict(atom.data), value))
            case "p":
                return self._at(dict(atom.data), value)
            case "f":
                return algebra.apply(atom.data[0], self._at(dict(atom.data[1]), value))
            case "S":
                bounds, body = algebra.opened(atom)
                return algebra.bound_all(self._at(body, value), bounds)
        raise NoNormalForm("a limit in a step")

    def _term_by_term(self, poly: Poly) -> Poly:
        total: Poly = {}
        for mono, c in poly.items():
            inner = tuple(pair for pair in mono if contains(pair[0], self.variable))
            outer = tuple(pair for pair in mono if pair not in inner)
            part = self.algebra.mul({outer: ONE}, self._of_product(inner))
            total = add(total, scaled(part, c))
        return total

    def _of_product(self, mono: Mono) -> Poly:
        """The limit of a product of powers, exponentials and sums of such."""
        algebra, finite = self.algebra, isinstance(self.target, Fraction)
        degree = Fraction(0)
        vanishes = False
        product = algebra.number(1)
        for atom, e in mono:
            if atom is self.variable:
                degree += Fraction(e)
            elif atom.kind == "e":
                vanishes |= self._fades(atom, e)
            elif atom.kind == "S" and e == 1 and not finite:
                bounds, body = algebra.opened(atom)
                part = self._term_by_term(body)
                if not part:
                    vanishes |= all(map(self._any_fades, body))
                product = algebra.mul(product, algebra.bound_all(part, bounds))
            elif atom.kind == "p" and not finite:
                product = algebra.mul(product, self._below(dict(atom.data), e))
            else:
                raise NoNormalForm("a limit of this kind")
        if finite:
            if degree < 0 or vanishes:
                raise NoNormalForm("a limit that is not seen to be finite")
            return {} if degree > 0 else product
        if vanishes:
            # An exponential outweighs every power.
            return {}
        if degree > 0:
            if not product:
                raise NoNormalForm("a limit of the kind oo times 0")
            raise NoNormalForm("a limit that is not finite")
        return {} if degree < 0 else product

    def _any_fades(self, mono: Mono) -> bool:
        return any(
            atom.kind == "e" and contains(atom, self.variable) and self._fades(atom, e)
            for atom, e in mono
        )

    def _fades(self, atom: Atom, e: Exponent) -> bool:
        """Whether a power of ``e`` tends to 0; Undecided where it grows or its sign is not
        known."""
        others = without(atom.data, self.variable)
        if dict(atom.data).get(self.variable) != 1 or any(
            contains(a, self.variable) for a, _ in others
        ):
            raise NoNormalForm("a limit inside a nested exponential")
        if isinstance(self.target, Fraction):
            raise NoNormalForm("a limit of this kind")
        if not self.algebra.is_positive({others: ONE}):
            raise Unsigned("the limit of an exponential whose sign is not known")
        if (e > 0) == (self.target == "oo"):
            raise NoNormalForm("a limit that is not finite")
        return True


def contains(outer: Atom, inner: Atom) -> bool:
    """Whether an atom occurs in another."""
    return any(atom is inner for atom in within(outer))


def by_parts(
    algebra: Sums, poly: Poly, still: Callable[[Atom], bool], known: Callable[[Poly], Poly | None]
) -> Poly | None:
    """The limit of a sum by the limits of its parts, if all of them are known and finite."""
    total: Poly = {}
    for mono, c in poly.items():
        product = algebra.number(c)
        for atom, e in mono:
            part = algebra.one(atom, e) if still(atom) else known(algebra.one(atom, e))
            if part is None and atom.kind in "Sp":
                bounds, inner = algebra.opened(atom) if atom.kind == "S" else ({}, dict(atom.data))
                part = by_parts(algebra, inner, still, known)
                if part is None or (e < 0 and not part):
                    return None
                part = algebra.raised(algebra.bound_all(part, bounds), e)
            elif part is None and isinstance(e, int) and e > 1:
                part = known(algebra.one(atom))
                part = part and algebra.times(part, e)
            if part is None:
                return None
            product = algebra.mul(product, part)
        total = add(total, product)
    return total


def expectation(algebra: Sums, poly: Poly, random: frozenset[str], unknown: frozenset[str]) -> Poly:
    """The expected value over random entries, up to second moments of each array.

    Entries are independent, with mean 0 and variance 1; those of ``unknown`` arrays
    depend on them in ways that are not known.
    """
    return summed(scaled(_expected(algebra, mono, random, unknown), c) for mono, c in poly.items())


def _expected(algebra: Sums, mono: Mono, random: frozenset[str], unknown: frozenset[str]) -> Poly:
    drawing = random | unknown
    bounds = {}
    flat = algebra.number(1)
    for atom, e in mono:
        if atom.kind == "S" and draws(atom, drawing):
            if not isinstance(e, int) or not 0 < e <= 2:
                raise NoNormalForm("a moment of higher order than the variance")
            for _ in range(e):
                more, summed = algebra.opened(atom)
                bounds.update(more)
                flat = algebra.mul(flat, summed)
        else:
            flat = algebra.mul(flat, algebra.one(atom, e))
    total: Poly = {}
    for factors, c in flat.items():
        if any(draws(atom, unknown) for atom, _ in factors):
            inner = tuple(pair for pair in factors if draws(pair[0], drawing))
            outer = tuple(pair for pair in factors if not draws(pair[0], drawing))
            whole = algebra.one(algebra.function("expect", {inner: ONE}))
            total = add(total, algebra.mul({outer: c}, whole))
            continue
        drawn: dict[str, list[tuple[At, ...]]] = {}
        kept = []
        for atom, e in factors:
            if atom.kind == "x" and atom.data[0] in random:
                if not isinstance(e, int) or e < 0:
                    raise NoNormalForm("the mean of a function of random entries")
                drawn.setdefault(atom.data[0], []).extend([atom.data[1]] * e)
            elif draws(atom, random):
                raise NoNormalForm("the mean of a function of random entries")
            else:
                kept.append((atom, e))
        part: Poly = {tuple(kept): c}
        for places in drawn.values():
            if len(places) > 2:
                raise NoNormalForm("a moment of higher order than the variance")
            if len(places) == 1:
                part = {}
                continue
            for first, second in zip(*places, strict=True):
                part = algebra.mul(part, algebra.delta(first, second))
        total = add(total, part)
    return algebra.bound_all(total, bounds)


def draws(atom: Atom, random: frozenset[str]) -> bool:
    """Whether a random entry occurs in an atom."""
    return any(name in random for name in entries(atom))
