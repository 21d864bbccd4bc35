"""Exponentials, logarithms and square roots of parts, simplified where they can be."""

from __future__ import annotations

from math import isqrt

from flint import fmpq

from symattn.errors import Malformed
from symattn.numbers import quotients, sums
from symattn.numbers.balls import FIRST, LAST, precision
from symattn.numbers.quotients import Opaque, Parts
from symattn.numbers.spending import Exceeded
from symattn.numbers.sums import UNIT, Atom, Monomial, Root, Sum

#: Largest power of what stands in a logarithm that is worked out.
MAX_POWER = 16


def exp(parts: Parts) -> Parts:
    """``e`` to the power of a number."""
    if not parts:
        return {(): sums.constant(1)}
    if parts.keys() == {()}:
        exponent = sums.exponent_of(parts[()])
        if exponent is not None:
            return {(): {(exponent, 1, ()): fmpq(1)}}
        powers = {
            key: (atom, int(q.p))
            for key, q in parts[()].items()
            if (atom := _logarithm(key)) and q.q == 1 and abs(q.p) <= MAX_POWER
        }
        if powers:
            # e^(x + 2 log y) is y^2 e^x.
            rest = {key: q for key, q in parts[()].items() if key not in powers}
            product = exp({(): rest} if rest else {})
            for atom, power in powers.values():
                factor = atom.argument if power > 0 else quotients.inverse(atom.argument)
                for _ in range(abs(power)):
                    product = quotients.sum_of_products(((product, factor),))
            return product
    if quotients.symbols(parts):
        raise Malformed("an exponential of a symbol is not supported")
    return _of_atom(Opaque("exp", parts))


def _logarithm(key: Monomial) -> Opaque | None:
    """The logarithm that a monomial is, if it is one and nothing else."""
    match key:
        case ((), 1, ((Opaque(function="log") as atom, 1),)):
            return atom
    return None


def log(parts: Parts) -> Parts:
    """The natural logarithm of a positive number; that of a rational multiple
    of an exponential is split."""
    match _only_term(parts):
        case (exponent, 1, ()), q:
            rest = {} if q == 1 else _of_atom(Opaque("log", {(): sums.constant(q)}))
            return quotients.total(({(): sums.terms_of(exponent)}, rest))
    return _of_atom(Opaque("log", parts))


def sqrt(parts: Parts) -> Parts:
    """The square root of a positive number."""
    match _only_term(parts):
        case (exponent, 1, ()), q:
            half = tuple((m, *_halved(p, d)) for m, p, d in exponent)
            return {(): sums.multiply(sums.root_of_rational(q), {(half, 1, ()): fmpq(1)})}
    denominator, above = quotients.over_one(parts)
    if not denominator:
        simple = _denested(above)
        return _of_atom(Root(above)) if simple is None else {(): simple}
    below = quotients.expanded(denominator)
    if _is_negative(below):
        # What the root is divided by must be positive: 1 - e is not.
        above, below = sums.scale(above, fmpq(-1)), sums.scale(below, fmpq(-1))
    root = _of_atom(Root(sums.multiply(above, below)))
    return quotients.sum_of_products(((root, quotients.inverse({(): below})),))


def _is_negative(terms: Sum) -> bool:
    """Whether a sum that is not zero is negative."""
    bits = FIRST
    while bits <= LAST:
        with precision(bits):
            ball = quotients.ball({(): terms})
        if not ball.contains(0):
            return bool(ball < 0)
        bits *= 4
    raise Exceeded


def _only_term(parts: Parts) -> tuple[Monomial, fmpq] | None:
    """The monomial with its coefficient, where there is one and no denominator."""
    if parts.keys() == {()} and len(parts[()]) == 1:
        return next(iter(parts[()].items()))
    return None


def _halved(p: int, q: int) -> tuple[int, int]:
    return (p // 2, q) if p % 2 == 0 else (p, 2 * q)


def _of_atom(atom: Atom) -> Parts:
    return {(): {((), 1, ((atom, 1),)): fmpq(1)}}


def _denested(terms: Sum) -> Sum | None:
    """``sqrt(a + b sqrt(m))`` as a sum of two roots, where it is one.

    It is exactly when ``a^2 - b^2 m`` is the square of a rational
    (A. Borodin et al., *Decreasing the nesting depth of expressions
    involving square roots*, 1985, theorem 1).
    """
    if any(exponent or atoms for exponent, _, atoms in terms) or len(terms) != 2:
        return None
    a = terms.get(UNIT)
    if a is None:
        return None
    ((_, m, _), b), *_ = ((key, q) for key, q in terms.items() if key != UNIT)
    inner = a * a - b * b * m
    under = int(inner.p) * int(inner.q)
    if under < 0 or (whole := isqrt(under)) ** 2 != under:
        return None
    half = fmpq(whole, inner.q)
    larger, smaller = (a + half) / 2, (a - half) / 2
    second = sums.scale(sums.root_of_rational(smaller), fmpq(1 if b > 0 else -1))
    return sums.add(sums.root_of_rational(larger), second)
