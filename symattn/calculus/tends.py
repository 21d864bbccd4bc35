"""Limits and expected values of normal forms."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Literal

from symattn.calculus.atoms import (
    ONE,
    At,
    Atom,
    Exponent,
    Mono,
    Poly,
    Undecided,
    add,
    entries,
    order,
    scaled,
    within,
)
from symattn.calculus.sums import Sums


class Unsigned(Undecided):
    """A limit depends on a sign that is not known: nobody can find it."""


def limit(
    algebra: Sums, poly: Poly, variable: Atom, target: Fraction | Literal["oo", "-oo"]
) -> Poly:
    """What a sum tends to. Raises :class:`Undecided` where that is not seen."""
    poly = algebra.cancelled(poly)
    if isinstance(target, Fraction):
        try:
            return _at(algebra, poly, variable, algebra.number(target))
        except Undecided:
            if target:
                raise
    # Over a common denominator first: there what grows alike cancels.
    above, below = algebra.cleared(poly)
    bases = []
    for atom, e in below:
        # What grows fastest is taken out of a denominator.
        base: Poly = dict(atom.data)
        growth = _growth(base, variable, target)
        above = algebra.mul(above, {tuple((a, -k * e) for a, k in growth): ONE})
        bases.append((algebra.mul(base, {tuple((a, -k) for a, k in growth): ONE}), e))
    value = _term_by_term(algebra, algebra.identified(above), variable, target)
    for base, e in bases:
        under = limit(algebra, base, variable, target)
        if not under:
            raise Undecided("the limit of a quotient whose denominator vanishes")
        value = algebra.mul(value, algebra.raised(under, -e))
    return value


def _growth(
    poly: Poly, variable: Atom, target: Fraction | Literal["oo", "-oo"]
) -> tuple[tuple[Atom, Exponent], ...]:
    """The highest powers of exponentials in a sum that grow as its variable does."""
    exponents: dict[Atom, Exponent] = {}
    way = 0 if isinstance(target, Fraction) else 1 if target == "oo" else -1
    for mono in poly:
        for atom, e in mono:
            if atom.kind == "e" and e * way > 0 and contains(atom, variable):
                exponents[atom] = max(e * way, exponents.get(atom, 0) * way) * way
    return tuple(sorted(exponents.items(), key=order))


def by_parts(
    algebra: Sums,
    poly: Poly,
    still: Callable[[Atom], bool],
    known: Callable[[Poly], Poly | None],
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


def _at(algebra: Sums, poly: Poly, variable: Atom, value: Poly) -> Poly:
    """A sum at a value of the variable, where it is continuous."""
    total: Poly = {}
    for mono, c in poly.items():
        part = algebra.number(c)
        for atom, e in mono:
            part = algebra.mul(part, algebra.raised(_atom_at(algebra, atom, variable, value), e))
        total = add(total, part)
    return total


def _atom_at(algebra: Sums, atom: Atom, variable: Atom, value: Poly) -> Poly:
    if atom is variable:
        return value
    if not contains(atom, variable):
        return algebra.one(atom)
    match atom.kind:
        case "e":
            return algebra.exp(_at(algebra, {atom.data: ONE}, variable, value))
        case "l":
            return algebra.log(_at(algebra, dict(atom.data), variable, value))
        case "p":
            return _at(algebra, dict(atom.data), variable, value)
        case "f":
            return algebra.apply(atom.data[0], _at(algebra, dict(atom.data[1]), variable, value))
        case "S":
            bounds, body = algebra.opened(atom)
            body = _at(algebra, body, variable, value)
            return algebra.bound_all(body, bounds)
    raise Undecided("a limit in a step")


def contains(outer: Atom, inner: Atom) -> bool:
    """Whether an atom occurs in another."""
    return any(atom is inner for atom in within(outer))


def _term_by_term(
    algebra: Sums, poly: Poly, variable: Atom, target: Fraction | Literal["oo", "-oo"]
) -> Poly:
    total: Poly = {}
    for mono, c in poly.items():
        inner: list[tuple[Atom, Exponent]] = []
        outer: list[tuple[Atom, Exponent]] = []
        for atom, e in mono:
            (inner if contains(atom, variable) else outer).append((atom, e))
        part = _of_product(algebra, tuple(inner), variable, target)
        total = add(total, scaled(algebra.mul({tuple(outer): ONE}, part), c))
    return total


def _of_product(
    algebra: Sums, mono: Mono, variable: Atom, target: Fraction | Literal["oo", "-oo"]
) -> Poly:
    """The limit of a product of powers, exponentials and sums of such."""
    degree = Fraction(0)
    vanishes = False
    product = algebra.number(1)
    for atom, e in mono:
        if atom is variable:
            degree += Fraction(e)
        elif atom.kind == "e":
            vanishes |= _fades(algebra, atom, Fraction(e), variable, target)
        elif atom.kind == "S" and e == 1 and not isinstance(target, Fraction):
            bounds, summed = algebra.opened(atom)
            part = _term_by_term(algebra, summed, variable, target)
            if not part:
                vanishes |= all(_all_fade(algebra, m, variable, target) for m in summed)
            product = algebra.mul(product, algebra.bound_all(part, bounds))
        elif atom.kind == "p" and not isinstance(target, Fraction):
            under = limit(algebra, dict(atom.data), variable, target)
            if not under:
                raise Undecided("the limit of a quotient whose denominator vanishes")
            product = algebra.mul(product, algebra.raised(under, e))
        else:
            raise Undecided("a limit of this kind")
    if isinstance(target, Fraction):
        if degree < 0 or vanishes:
            raise Undecided("a limit that is not seen to be finite")
        return {} if degree > 0 else product
    if vanishes:
        # An exponential outweighs every power.
        return {}
    if degree > 0:
        if not product:
            raise Undecided("a limit of the kind oo times 0")
        raise Undecided("a limit that is not finite")
    return {} if degree < 0 else product


def _all_fade(
    algebra: Sums, mono: Mono, variable: Atom, target: Fraction | Literal["oo", "-oo"]
) -> bool:
    return any(
        atom.kind == "e"
        and contains(atom, variable)
        and _fades(algebra, atom, Fraction(e), variable, target)
        for atom, e in mono
    )


def _fades(
    algebra: Sums,
    atom: Atom,
    e: Fraction,
    variable: Atom,
    target: Fraction | Literal["oo", "-oo"],
) -> bool:
    """Whether a power of ``e`` tends to 0; Undecided where it grows or its sign is not known."""
    others = tuple(pair for pair in atom.data if pair[0] is not variable)
    if dict(atom.data).get(variable) != 1 or any(contains(a, variable) for a, _ in others):
        raise Undecided("a limit inside a nested exponential")
    if isinstance(target, Fraction):
        raise Undecided("a limit of this kind")
    if not algebra.is_positive({others: ONE}):
        raise Unsigned("the limit of an exponential whose sign is not known")
    if (e > 0) == (target == "oo"):
        raise Undecided("a limit that is not finite")
    return True


def expectation(algebra: Sums, poly: Poly, random: frozenset[str], unknown: frozenset[str]) -> Poly:
    """The expected value over random entries, up to second moments of each array.

    Entries are independent, with mean 0 and variance 1; those of ``unknown`` arrays
    depend on them in ways that are not known.
    """
    total: Poly = {}
    for mono, c in poly.items():
        total = add(total, scaled(_expected(algebra, mono, random, unknown), c))
    return total


def _expected(algebra: Sums, mono: Mono, random: frozenset[str], unknown: frozenset[str]) -> Poly:
    drawing = random | unknown
    bounds = {}
    flat = algebra.number(1)
    for atom, e in mono:
        if atom.kind == "S" and draws(atom, drawing):
            if not isinstance(e, int) or not 0 < e <= 2:
                raise Undecided("a moment of higher order than the variance")
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
                    raise Undecided("the mean of a function of random entries")
                drawn.setdefault(atom.data[0], []).extend([atom.data[1]] * e)
            elif draws(atom, random):
                raise Undecided("the mean of a function of random entries")
            else:
                kept.append((atom, e))
        part: Poly = {tuple(kept): c}
        for places in drawn.values():
            if len(places) > 2:
                raise Undecided("a moment of higher order than the variance")
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
