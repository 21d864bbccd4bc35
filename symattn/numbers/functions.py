"""Functions of parts, simplified where they can be: exponentials, logarithms, square roots and
waves; others stay what they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isqrt

from flint import fmpq

from symattn.errors import Undecided
from symattn.expressions.elementary import ELEMENTARY
from symattn.numbers import exponential_sums, quotients, signs
from symattn.numbers.balls import LAST, Exceeded, growing, precision
from symattn.numbers.exponential_sums import (
    UNIT,
    Atoms,
    Circular,
    Monomial,
    NumberAtom,
    Root,
    Sum,
    Symbol,
)
from symattn.numbers.quotients import Constant, OpaqueAtom, Parts

#: Largest power of what stands in a logarithm that is worked out.
MAX_POWER = 16


def exp(parts: Parts) -> Parts:
    """``e`` to the power of a number."""
    if not parts:
        return {(): exponential_sums.constant(1)}
    if parts.keys() == {()}:
        exponent = exponential_sums.exponent_of(parts[()])
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
    return _of_atom(OpaqueAtom("exp", parts))


def _logarithm(key: Monomial) -> OpaqueAtom | None:
    """The logarithm that a monomial is, if it is one and nothing else."""
    match key:
        case ((), 1, ((OpaqueAtom(function="log") as atom, 1),)):
            return atom
    return None


def log(parts: Parts) -> Parts:
    """The natural logarithm of a positive number; that of a rational multiple
    of an exponential, and of positive symbols, is split."""
    match _only_term(parts):
        case (exponent, 1, atoms), q if all(_is_positive(atom) for atom, _ in atoms):
            pieces: list[Parts] = [{(): exponential_sums.terms_of(exponent)}]
            if q != 1:
                pieces.append(_logarithm_of({(): exponential_sums.constant(q)}, 1))
            pieces += (_logarithm_of(_of_atom(atom), power) for atom, power in atoms)
            return quotients.total(pieces)
    return _logarithm_of(parts, 1)


def _logarithm_of(parts: Parts, times: int) -> Parts:
    return {(): {((), 1, ((OpaqueAtom("log", parts), 1),)): fmpq(times)}}


def _is_positive(atom: NumberAtom) -> bool:
    return isinstance(atom, Symbol) and atom.is_positive


def sqrt(parts: Parts) -> Parts:
    """The square root of a positive number."""
    match _only_term(parts):
        case (exponent, 1, atoms), q if all(_is_positive(atom) for atom, _ in atoms) and q > 0:
            half = tuple((m, *exponential_sums.lowest(p, 2 * d)) for m, p, d in exponent)
            factors: Atoms = ()
            for atom, power in atoms:
                halves = (atom, power // 2), (Root(_of_atom(atom)[()]), power % 2)
                factors = exponential_sums.merged(factors, halves)
            return {
                (): exponential_sums.multiply(
                    exponential_sums.root_of_rational(q), {(half, 1, factors): fmpq(1)}
                )
            }
    denominator, above = quotients.over_one(parts)
    if not denominator:
        simple = _denested(above)
        return _of_atom(Root(above)) if simple is None else {(): simple}
    below = quotients.expanded(denominator)
    if _is_negative(below):
        # What the root is divided by must be positive: 1 - e is not.
        above, below = (
            exponential_sums.scale(above, fmpq(-1)),
            exponential_sums.scale(below, fmpq(-1)),
        )
    root = _of_atom(Root(exponential_sums.multiply(above, below)))
    return quotients.sum_of_products(((root, quotients.inverse({(): below})),))


def _turned(function: Circular, parts: Parts) -> Parts:
    """A wave of a number, quarter turns and whole twelfths of pi taken out before: ``sin(x + t)
    = sin x cos t + cos x sin t``, and ``cos x = sin(x + pi/2)``.

    What is left of pi is less than a quarter of it, of either sign: the opposite for opposite
    angles, so that their waves are the same but for the sign.
    """
    halves = parts.get((), {}).get(_PI, fmpq(0)) * 2
    if not halves:
        return _wave(function, parts)
    quarters = int((halves + fmpq(1, 2)).floor())
    left = (halves - quarters) / 2
    turn = 6 * quarters + (6 if function == "cos" else 0)
    if (12 * left).q == 1:
        turn += int((12 * left).p)
        left = fmpq(0)
    rest = _with_pi(parts, left)
    pairs: list[tuple[Parts, Parts]] = [
        (_wave("sin", rest), {(): _cosine(turn)}),
        (_wave("cos", rest), {(): _cosine(turn - 6)}),
    ]
    return quotients.sum_of_products(pairs)


def _with_pi(parts: Parts, factor: fmpq) -> Parts:
    """A number with another factor before pi where that stands alone."""
    terms = {key: q for key, q in parts[()].items() if key != _PI}
    if factor:
        terms[_PI] = factor
    return {below: above for below, above in {**parts, (): terms}.items() if above}


_PI: Monomial = ((), 1, ((Constant("pi"), 1),))
#: The number pi.
PI: Parts = {(): {_PI: fmpq(1)}}


#: The cosines of multiples of a twelfth of pi, by what stands before each root.
_COSINES: tuple[dict[int, fmpq], ...] = (
    {1: fmpq(1)},
    {2: fmpq(1, 4), 6: fmpq(1, 4)},
    {3: fmpq(1, 2)},
    {2: fmpq(1, 2)},
    {1: fmpq(1, 2)},
    {2: fmpq(-1, 4), 6: fmpq(1, 4)},
    {},
)


def _cosine(twelfths: int) -> Sum:
    """The cosine of so many twelfths of pi.

    >>> _cosine(8) == {UNIT: fmpq(-1, 2)}
    True
    """
    place = abs((twelfths + 12) % 24 - 12)
    if place > 6:
        return exponential_sums.scale(_cosine(12 - place), fmpq(-1))
    return {((), m, ()): q for m, q in _COSINES[place].items()}


def _wave(function: Circular, parts: Parts) -> Parts:
    if parts.keys() <= {()}:
        angle = exponential_sums.exponent_of(parts.get((), {}))
        if angle is not None:
            terms = exponential_sums.wave(function, angle)
            return {(): terms} if terms else {}
    return _opaque(function, parts)


def _opaque(function: str, parts: Parts) -> Parts:
    """A function of what is opaque; an even or odd one of that or of its negative, the one that
    starts with a positive term."""
    row = ELEMENTARY[function]
    if not parts and (exact := row.at(0)) is not None:
        return {(): exponential_sums.constant(exact)} if exact else {}
    terms = parts[quotients.denominators(parts)[0]]
    if not row.parity or terms[min(terms, key=exponential_sums.by_size)] > 0:
        return _of_atom(OpaqueAtom(function, parts))
    positive = _of_atom(OpaqueAtom(function, _negative(parts)))
    return positive if row.parity == "even" else _negative(positive)


def _negative(parts: Parts) -> Parts:
    return {below: exponential_sums.scale(above, fmpq(-1)) for below, above in parts.items()}


def _is_negative(terms: Sum) -> bool:
    """Return whether a sum, not zero, is negative; :class:`Undecided` where symbols decide."""
    if quotients.symbols({(): terms}):
        sign = signs.of_parts({(): terms})
        if sign is None:
            raise Undecided("the sign of what a root is divided by depends on symbols")
        return sign < 0
    for bits in growing(last=LAST // 4):
        with precision(bits):
            ball = quotients.ball({(): terms})
        if not ball.contains(0):
            return bool(ball < 0)
    raise Exceeded


def _only_term(parts: Parts) -> tuple[Monomial, fmpq] | None:
    """The monomial with its coefficient, where there is one and no denominator."""
    if parts.keys() == {()} and len(parts[()]) == 1:
        return next(iter(parts[()].items()))
    return None


def _of_atom(atom: NumberAtom) -> Parts:
    return {(): {((), 1, ((atom, 1),)): fmpq(1)}}


def _denested(terms: Sum) -> Sum | None:
    """``sqrt(a + b sqrt(m))`` as a sum of two roots, where it is one.

    It is exactly when ``a^2 - b^2 m`` is the square of a rational (A. Borodin et al., *Decreasing
    the nesting depth of expressions involving square roots*, 1985, theorem 1).
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
    second = exponential_sums.scale(
        exponential_sums.root_of_rational(smaller), fmpq(1 if b > 0 else -1)
    )
    return exponential_sums.add(exponential_sums.root_of_rational(larger), second)


_OWN = {"exp": exp, "log": log, "sqrt": sqrt}
_OWN |= {"cos": partial(_turned, "cos"), "sin": partial(_turned, "sin")}


def function(name: str) -> Callable[[Parts], Parts]:
    """Return an elementary function of parts by its name.

    >>> function("erf")({})
    {}
    """
    return _OWN.get(name) or partial(_opaque, name)
