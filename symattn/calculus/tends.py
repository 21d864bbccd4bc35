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
    for one, e in below:
        # What grows fastest is taken out of a denominator.
        base: Poly = dict(one.data)
        growth = _growth(base, variable, target)
        above = algebra.mul(above, {tuple((a, -k * e) for a, k in growth): ONE})
        bases.append((algebra.mul(base, {tuple((a, -k) for a, k in growth): ONE}), e))
    found = _term_by_term(algebra, algebra.identified(above), variable, target)
    for base, e in bases:
        under = limit(algebra, base, variable, target)
        if not under:
            raise Undecided("the limit of a quotient whose denominator vanishes")
        found = algebra.mul(found, algebra.raised(under, -e))
    return found


def _growth(
    poly: Poly, variable: Atom, target: Fraction | Literal["oo", "-oo"]
) -> tuple[tuple[Atom, Exponent], ...]:
    """The highest powers of exponentials in a sum that grow as its variable does."""
    found: dict[Atom, Exponent] = {}
    way = 0 if isinstance(target, Fraction) else 1 if target == "oo" else -1
    for mono in poly:
        for one, e in mono:
            if one.kind == "e" and e * way > 0 and contains(one, variable):
                found[one] = max(e * way, found.get(one, 0) * way) * way
    return tuple(sorted(found.items(), key=order))


def by_parts(
    algebra: Sums,
    poly: Poly,
    still: Callable[[Atom], bool],
    known: Callable[[Poly], Poly | None],
) -> Poly | None:
    """The limit of a sum by the limits of its parts, if all of them are known and finite."""
    found: Poly = {}
    for mono, c in poly.items():
        product = algebra.number(c)
        for one, e in mono:
            part = algebra.one(one, e) if still(one) else known(algebra.one(one, e))
            if part is None and one.kind in "Sp":
                bounds, inner = algebra.opened(one) if one.kind == "S" else ({}, dict(one.data))
                part = by_parts(algebra, inner, still, known)
                if part is None or (e < 0 and not part):
                    return None
                part = algebra.raised(algebra.bound_all(part, bounds), e)
            elif part is None and isinstance(e, int) and e > 1:
                part = known(algebra.one(one))
                part = part and algebra.times(part, e)
            if part is None:
                return None
            product = algebra.mul(product, part)
        found = add(found, product)
    return found


def _at(algebra: Sums, poly: Poly, variable: Atom, value: Poly) -> Poly:
    """A sum at a value of the variable, where it is continuous."""
    found: Poly = {}
    for mono, c in poly.items():
        part = algebra.number(c)
        for one, e in mono:
            part = algebra.mul(part, algebra.raised(_atom_at(algebra, one, variable, value), e))
        found = add(found, part)
    return found


def _atom_at(algebra: Sums, one: Atom, variable: Atom, value: Poly) -> Poly:
    if one is variable:
        return value
    if not contains(one, variable):
        return algebra.one(one)
    match one.kind:
        case "e":
            return algebra.exp(_at(algebra, {one.data: ONE}, variable, value))
        case "l":
            return algebra.log(_at(algebra, dict(one.data), variable, value))
        case "p":
            return _at(algebra, dict(one.data), variable, value)
        case "f":
            return algebra.apply(one.data[0], _at(algebra, dict(one.data[1]), variable, value))
        case "S":
            bounds, found = algebra.opened(one)
            found = _at(algebra, found, variable, value)
            return algebra.bound_all(found, bounds)
    raise Undecided("a limit in a step")


def contains(one: Atom, inner: Atom) -> bool:
    """Whether an atom occurs in another."""
    return any(atom is inner for atom in within(one))


def _term_by_term(
    algebra: Sums, poly: Poly, variable: Atom, target: Fraction | Literal["oo", "-oo"]
) -> Poly:
    found: Poly = {}
    for mono, c in poly.items():
        inner: list[tuple[Atom, Exponent]] = []
        outer: list[tuple[Atom, Exponent]] = []
        for one, e in mono:
            (inner if contains(one, variable) else outer).append((one, e))
        part = _of_product(algebra, tuple(inner), variable, target)
        found = add(found, scaled(algebra.mul({tuple(outer): ONE}, part), c))
    return found


def _of_product(
    algebra: Sums, mono: Mono, variable: Atom, target: Fraction | Literal["oo", "-oo"]
) -> Poly:
    """The limit of a product of powers, exponentials and sums of such."""
    degree = Fraction(0)
    vanishes = False
    found = algebra.number(1)
    for one, e in mono:
        if one is variable:
            degree += Fraction(e)
        elif one.kind == "e":
            vanishes |= _fades(algebra, one, Fraction(e), variable, target)
        elif one.kind == "S" and e == 1 and not isinstance(target, Fraction):
            bounds, summed = algebra.opened(one)
            part = _term_by_term(algebra, summed, variable, target)
            if not part:
                vanishes |= all(_all_fade(algebra, m, variable, target) for m in summed)
            found = algebra.mul(found, algebra.bound_all(part, bounds))
        elif one.kind == "p" and not isinstance(target, Fraction):
            under = limit(algebra, dict(one.data), variable, target)
            if not under:
                raise Undecided("the limit of a quotient whose denominator vanishes")
            found = algebra.mul(found, algebra.raised(under, e))
        else:
            raise Undecided("a limit of this kind")
    if isinstance(target, Fraction):
        if degree < 0 or vanishes:
            raise Undecided("a limit that is not seen to be finite")
        return {} if degree > 0 else found
    if vanishes:
        # An exponential outweighs every power.
        return {}
    if degree > 0:
        if not found:
            raise Undecided("a limit of the kind oo times 0")
        raise Undecided("a limit that is not finite")
    return {} if degree < 0 else found


def _all_fade(
    algebra: Sums, mono: Mono, variable: Atom, target: Fraction | Literal["oo", "-oo"]
) -> bool:
    return any(
        one.kind == "e"
        and contains(one, variable)
        and _fades(algebra, one, Fraction(e), variable, target)
        for one, e in mono
    )


def _fades(
    algebra: Sums,
    one: Atom,
    e: Fraction,
    variable: Atom,
    target: Fraction | Literal["oo", "-oo"],
) -> bool:
    """Whether a power of ``e`` tends to 0; Undecided where it grows or its sign is not known."""
    others = tuple(pair for pair in one.data if pair[0] is not variable)
    if dict(one.data).get(variable) != 1 or any(contains(a, variable) for a, _ in others):
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
    found: Poly = {}
    for mono, c in poly.items():
        found = add(found, scaled(_expected(algebra, mono, random, unknown), c))
    return found


def _expected(algebra: Sums, mono: Mono, random: frozenset[str], unknown: frozenset[str]) -> Poly:
    drawing = random | unknown
    bounds = {}
    flat = algebra.number(1)
    for one, e in mono:
        if one.kind == "S" and draws(one, drawing):
            if not isinstance(e, int) or not 0 < e <= 2:
                raise Undecided("a moment of higher order than the variance")
            for _ in range(e):
                more, summed = algebra.opened(one)
                bounds.update(more)
                flat = algebra.mul(flat, summed)
        else:
            flat = algebra.mul(flat, algebra.one(one, e))
    found: Poly = {}
    for factors, c in flat.items():
        if any(draws(one, unknown) for one, _ in factors):
            inner = tuple(pair for pair in factors if draws(pair[0], drawing))
            outer = tuple(pair for pair in factors if not draws(pair[0], drawing))
            whole = algebra.one(algebra.function("expect", {inner: ONE}))
            found = add(found, algebra.mul({outer: c}, whole))
            continue
        drawn: dict[str, list[tuple[At, ...]]] = {}
        kept = []
        for one, e in factors:
            if one.kind == "x" and one.data[0] in random:
                if not isinstance(e, int) or e < 0:
                    raise Undecided("the mean of a function of random entries")
                drawn.setdefault(one.data[0], []).extend([one.data[1]] * e)
            elif draws(one, random):
                raise Undecided("the mean of a function of random entries")
            else:
                kept.append((one, e))
        part: Poly = {tuple(kept): c}
        for places in drawn.values():
            if len(places) > 2:
                raise Undecided("a moment of higher order than the variance")
            if len(places) == 1:
                part = {}
                continue
            for first, second in zip(*places, strict=True):
                part = algebra.mul(part, algebra.delta(first, second))
        found = add(found, part)
    return algebra.bound_all(found, bounds)


def draws(one: Atom, random: frozenset[str]) -> bool:
    """Whether a random entry occurs in an atom."""
    return any(name in random for name in entries(one))
