"""Exponential sums: finite sums of ``q * sqrt(m) * exp(r) * atoms``.

``q`` is rational, ``m`` a square-free positive integer, ``r`` a sum of rational multiples of such
roots and of these times powers of symbols, and the atoms are symbols, waves (the cosine or the sine
of such a sum) or opaque numbers (a nested root; in :mod:`.quotients` a logarithm or an
exponential). A sum is a dictionary from the monomial ``(r, m, atoms)`` to ``q`` without zero
coefficients, and with one wave in a monomial at most: products of two are sums.

Square roots of distinct square-free integers are linearly independent over the rationals, and
exponentials of distinct algebraic numbers, the imaginary ones that waves are made of among them,
over the algebraic numbers (Lindemann-Weierstrass; A. Baker, *Transcendental Number Theory*, theorem
1.4). Those of polynomials in symbols that differ by more than a number are so over the algebraic
functions (J. Ax, *On Schanuel's conjectures*, Ann. Math. 93, 1971). So a sum without opaque atoms
is zero exactly when its dictionary is empty: that is what makes equality decidable."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import lru_cache, total_ordering
from itertools import chain
from math import gcd, isqrt, lcm
from typing import Any, Literal
from zlib import crc32

from flint import arb, fmpq, fmpz

from symattn.limits import RADICAND
from symattn.numbers.balls import Exceeded, spend


class NumberAtom:
    """An atom of a sum: a symbol or an opaque number.

    ``key`` is its structure and its identity; ``order`` sorts: by name, then by
    structure; ``size`` counts the terms inside it, of numbers of so many bits at most.
    """

    __slots__ = ("_hash", "bits", "key", "order", "size")

    def __init__(
        self, key: Hashable, order: tuple[object, ...], size: int = 0, bits: int = 0
    ) -> None:
        self.key = key
        self.order = order
        self.size = size
        self.bits = bits
        self._hash = hash(key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumberAtom) and self.key == other.key


class Symbol(NumberAtom):
    """A symbol: any real number, or any positive one. ``written`` is what SymPy knows it by, if
    that is no plain symbol of its name."""

    __slots__ = ("is_positive", "name", "written")

    def __init__(self, name: str, is_positive: bool = False, written: Any = None) -> None:
        # Not by the name alone: powers of equal symbols are kept, and would change those of others.
        super().__init__((name, is_positive, written), (name,))
        self.name = name
        self.is_positive = is_positive
        self.written = written


@total_ordering
class SymbolicBase:
    """The base of an exponent: a root times powers of symbols."""

    __slots__ = ("_hash", "_order", "atoms", "radicand", "weight")

    def __init__(self, radicand: int, atoms: Atoms) -> None:
        self.radicand = radicand
        self.atoms = atoms
        self._order = tuple((atom.order, power) for atom, power in atoms), radicand
        self._hash = hash((radicand, atoms))
        #: A number to sort by, whose multiples add up as the exponents do: by names, and no
        #: sum of others but by chance.
        self.weight = _root(radicand)
        for atom, power in atoms:
            self.weight *= _weight(str(atom.order[0])) ** power

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SymbolicBase)
            and self.radicand == other.radicand
            and self.atoms == other.atoms
        )

    def __lt__(self, other: SymbolicBase | int) -> bool:
        # Behind all roots.
        return isinstance(other, SymbolicBase) and self._order < other._order

    @property
    def symbols(self) -> list[Symbol]:
        """The symbols."""
        return [atom for atom, _ in self.atoms if isinstance(atom, Symbol)]


class Root(NumberAtom):
    """A nested square root, known by the sum that stands under it."""

    __slots__ = ("radicand",)

    def __init__(self, radicand: Sum) -> None:
        sorted_by = ("sqrt", *order(radicand))
        super().__init__(structure(radicand), sorted_by, length(radicand), height(radicand))
        self.radicand = radicand


class Wave(NumberAtom):
    """``cos`` or ``sin`` of an angle, whose first coefficient is positive; made by :func:`wave`."""

    __slots__ = ("angle", "function")

    def __init__(self, function: Circular, angle: Exponent) -> None:
        # Sorted as what is opaque: by the terms of the argument, over no denominator.
        terms = terms_of(angle)
        super().__init__((function, angle), (function, ((), order(terms))), bits=height(terms))
        self.function = function
        self.angle = angle


Circular = Literal["cos", "sin"]
#: What an exponent is a sum of rational multiples of: ``sqrt(m)`` by m, or that with symbols.
Base = int | SymbolicBase
#: ``((base, p, q), ...)``, the sum of ``p/q`` times each base, in order.
Exponent = tuple[tuple[Base, int, int], ...]
#: Atoms with their powers, in order.
Atoms = tuple[tuple[NumberAtom, int], ...]
Monomial = tuple[Exponent, int, Atoms]
Sum = dict[Monomial, fmpq]
Structure = frozenset[tuple[Monomial, int, int]]

UNIT: Monomial = ((), 1, ())
#: So many bits of two coefficients take as long as all else in their product; of fewer products
#: the bits don't matter.
_LONG, _MANY = 1 << 11, 16

#: So many primes are small: all below 100.
_SMALL = 25


def constant(value: fmpq | int) -> Sum:
    """The sum that is one rational number."""
    return {UNIT: fmpq(value)} if value else {}


def add(left: Sum, right: Sum) -> Sum:
    """``left + right``."""
    if len(left) < len(right):
        left, right = right, left
    result = dict(left)
    accumulate(result, right)
    return result


def accumulate(target: Sum, extra: Sum) -> None:
    """``target += extra``, in place."""
    for monomial, coefficient in extra.items():
        total = target.get(monomial)
        if total is None:
            target[monomial] = coefficient
        else:
            total = total + coefficient
            if total:
                target[monomial] = total
            else:
                del target[monomial]


def scale(terms: Sum, factor: fmpq) -> Sum:
    """``factor * terms``."""
    return {monomial: q * factor for monomial, q in terms.items()} if factor else {}


def multiply(left: Sum, right: Sum) -> Sum:
    """``left * right``."""
    products = len(left) * len(right)
    if products >= _MANY:
        bits = sum(max(q.height_bits() for q in terms.values()) for terms in (left, right))
        products *= 1 + bits // _LONG
    spend(products)
    if len(right) == 1 and UNIT in right:
        return scale(left, right[UNIT])
    if len(left) == 1 and UNIT in left:
        return scale(right, left[UNIT])
    result: Sum = {}
    for (r, m, a), p in left.items():
        for (s, n, b), q in right.items():
            coefficient = p * q
            if m == 1 or n == 1:
                radicand = m * n
            else:
                shared = gcd(m, n)
                radicand = (m // shared) * (n // shared)
                # In divisions sqrt(-m) is i sqrt(m).
                coefficient *= -shared if m < 0 and n < 0 else shared
            atoms = a if not b else b if not a else merged(a, b)
            monomial = (add_exponents(r, s), radicand, atoms)
            before = result.get(monomial)
            result[monomial] = coefficient if before is None else before + coefficient
    result = {monomial: q for monomial, q in result.items() if q}
    if any(atoms for _, _, atoms in result):
        return _reduced(result)
    return result


@lru_cache(maxsize=1 << 16)
def add_exponents(left: Exponent, right: Exponent) -> Exponent:
    """The sum of two exponents, in normal form."""
    if not left:
        return right
    if not right:
        return left
    total = {m: (p, q) for m, p, q in left}
    for m, p, q in right:
        if m in total:
            r, s = total[m]
            p, q = lowest(p * s + r * q, q * s)
        total[m] = (p, q)
    return tuple((m, p, q) for m, (p, q) in sorted(total.items()) if p)


def negative(exponent: Exponent) -> Exponent:
    """``-exponent``."""
    return tuple((m, -p, q) for m, p, q in exponent)


def merged(left: Atoms, right: Atoms) -> Atoms:
    """The product of atoms with their powers."""
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(((a, k) for a, k in powers.items() if k), key=lambda item: item[0].order))


def _reduced(terms: Sum) -> Sum:
    """Products of two waves as sums, even powers of nested roots as what is under the root."""
    result: Sum = {}
    for (r, m, atoms), q in terms.items():
        rest, factor = _split(atoms)
        if factor is None:
            accumulate(result, {(r, m, atoms): q})
        else:
            accumulate(result, multiply({(r, m, rest): q}, factor))
    return result


def _split(atoms: Atoms) -> tuple[Atoms, Sum | None]:
    """Atoms without two waves, or without a root's square, and that as a sum."""
    # Waves first: what stands under a root may have one of its own.
    waves = [atom for atom, power in atoms if isinstance(atom, Wave) for _ in range(power)]
    if len(waves) > 1:
        rest = tuple(item for item in atoms if not isinstance(item[0], Wave))
        return rest, _product_of_waves(*waves)
    for index, (atom, power) in enumerate(atoms):
        if power > 1 and isinstance(atom, Root):
            rest = atoms[:index] + (((atom, power - 2),) if power > 2 else ())
            return rest + atoms[index + 1 :], atom.radicand
    return atoms, None


def wave(function: Circular, angle: Exponent) -> Sum:
    """``cos(angle)`` or ``sin(angle)``.

    >>> angle = ((1, 1, 2),)
    >>> wave("sin", negative(angle)) == scale(wave("sin", angle), fmpq(-1))
    True
    """
    if not angle:
        return constant(1 if function == "cos" else 0)
    is_negative = angle[0][1] < 0
    atom = _wave(function, negative(angle) if is_negative else angle)
    return {((), 1, ((atom, 1),)): fmpq(-1 if is_negative and function == "sin" else 1)}


_wave = lru_cache(maxsize=1 << 12)(Wave)


def _product_of_waves(left: Wave, other: Wave) -> Sum:
    """``2 cos a cos b = cos(a - b) + cos(a + b)``, ``2 sin a sin b = cos(a - b) - cos(a + b)``,
    ``2 sin a cos b = sin(a + b) + sin(a - b)``."""
    outer = add_exponents(left.angle, other.angle)
    inner = add_exponents(left.angle, negative(other.angle))
    if left.function == other.function:
        first, second, minus = wave("cos", inner), wave("cos", outer), left.function == "sin"
    else:
        first, second, minus = wave("sin", outer), wave("sin", inner), other.function == "sin"
    half = fmpq(1, 2)
    return add(scale(first, half), scale(second, -half if minus else half))


def exponent_of(terms: Sum) -> Exponent | None:
    """The sum as an exponent, if it is a sum of rational multiples of bases."""
    if any(r or not all(isinstance(atom, Symbol) for atom, _ in atoms) for r, _, atoms in terms):
        return None
    return tuple(
        sorted(
            (SymbolicBase(m, atoms) if atoms else m, int(q.p), int(q.q))
            for (_, m, atoms), q in terms.items()
        )
    )


def terms_of(exponent: Exponent) -> Sum:
    """An exponent as a sum."""
    return {
        ((), base, ()) if isinstance(base, int) else ((), base.radicand, base.atoms): fmpq(p, q)
        for base, p, q in exponent
    }


def root_of_rational(value: fmpq) -> Sum:
    """``sqrt(value)`` of a non-negative rational: ``q * sqrt(m)``, m square-free.

    >>> root_of_rational(fmpq(1, 2)) == {((), 2, ()): fmpq(1, 2)}
    True
    """
    if not value:
        return {}
    under = int(value.p) * int(value.q)
    root = isqrt(under)
    if root * root == under:
        return {UNIT: fmpq(root, value.q)}
    outside, inside = 1, 1
    for prime, power in (*_factors(int(value.p)), *_factors(int(value.q))):
        outside *= prime ** (power // 2)
        inside *= prime ** (power % 2)
    return {((), inside, ()): fmpq(outside, value.q)}


def _factors(number: int) -> Iterator[tuple[int, int]]:
    """Primes with their powers; what is left after the small ones must not be
    too large to be factored quickly."""
    for factor, power in fmpz(number).factor(trial_limit=_SMALL):
        if factor > RADICAND:
            raise Exceeded
        for prime, times in factor.factor():
            yield int(prime), power * times


def invert_surd(terms: Sum) -> Sum:
    """``1 / terms`` for a non-zero sum of rational multiples of roots.

    Multiplies by the conjugate in one factor of the radicands after the other until the denominator
    is rational. Factors without a common divisor serve as primes do, and gcds find them: roots of
    coprime square-free integers are independent, so each can change its sign alone. So can i, which
    roots of negative integers are multiples of.
    """
    numerator, denominator = constant(1), terms
    for factor in (*reversed(_coprime(abs(m) for _, m, _ in terms)), -1):
        flipped = {
            key for key in denominator if (key[1] % factor == 0 if factor > 0 else key[1] < 0)
        }
        if flipped:
            conjugate = {key: -q if key in flipped else q for key, q in denominator.items()}
            numerator = multiply(numerator, conjugate)
            denominator = multiply(denominator, conjugate)
    return scale(numerator, 1 / denominator[UNIT])


def _coprime(numbers: Iterable[int]) -> list[int]:
    """Pairwise coprime integers above 1, sorted, whose products the (square-free) numbers are.

    >>> _coprime([6, 10, 1])
    [2, 3, 5]
    """
    base: list[int] = []
    waiting = [number for number in set(numbers) if number > 1]
    while waiting:
        number = waiting.pop()
        for place, known in enumerate(base):
            shared = gcd(number, known)
            if shared > 1:
                # Split both, and hold the pieces against the rest.
                del base[place]
                waiting += [x for x in (shared, known // shared, number // shared) if x > 1]
                break
        else:
            if number not in base:
                base.append(number)
    return sorted(base)


def content(terms: Sum) -> fmpq:
    """The positive rational whose removal leaves coprime integer coefficients."""
    factors = terms.values()
    return fmpq(gcd(*(int(q.p) for q in factors)), lcm(*(int(q.q) for q in factors)))


def generic(symbol: str) -> arb:
    """The number that stands for a symbol where forms are held against each
    other: transcendental, another one for every symbol."""
    return arb(fmpq(crc32(symbol.encode()), 1 << 33)).exp() + len(symbol) % 3


def exponent_ball(exponent: Exponent) -> arb:
    """Enclosure of an exponent at the working precision; see :func:`generic`."""
    return sum((arb(fmpq(p, q)) * _base_ball(base) for base, p, q in exponent), arb(0))


def _base_ball(base: Base) -> arb:
    if isinstance(base, int):
        return arb(base).sqrt()
    ball = arb(base.radicand).sqrt()
    for symbol, (_, power) in zip(base.symbols, base.atoms, strict=True):
        ball *= generic(symbol.name) ** power
    return ball


def _weight(name: str) -> fmpq:
    """A number of a name: by its letters, and with others of no sum that is seen."""
    letters = int.from_bytes(name.encode()[:4].ljust(4, b"\0"), "big")
    return 1 + fmpq(letters, 1 << 32) + fmpq(crc32(name.encode()), 1 << 70)


def _root(radicand: int) -> fmpq:
    return fmpq(isqrt(radicand << 80), 1 << 40)


@lru_cache(maxsize=1 << 14)
def size(exponent: Exponent) -> fmpq:
    """A rational near the exponent, for sorting what is shown; a float would overflow."""
    return sum(
        (fmpq(p, q) * (_root(b) if isinstance(b, int) else b.weight) for b, p, q in exponent),
        fmpq(0),
    )


def by_size(monomial: Monomial) -> tuple[object, ...]:
    """Sort key: by the atoms, then growing exponents."""
    exponent, radicand, atoms = monomial
    powers = tuple((atom.order, power) for atom, power in atoms)
    return powers, size(exponent), exponent, radicand


def length(terms: Sum) -> int:
    """The terms, with those inside their atoms."""
    return len(terms) + sum(atom.size for _, _, atoms in terms for atom, _ in atoms)


def height(terms: Sum) -> int:
    """Bits of the longest number in a sum, with those in exponents, roots and atoms."""
    return max(
        chain(
            map(fmpq.height_bits, terms.values()),
            (int(radicand).bit_length() for _, radicand, _ in terms),
            (max(abs(p), q).bit_length() for exponent, *_ in terms for _, p, q in exponent),
            (atom.bits for *_, atoms in terms for atom, _ in atoms),
        ),
        default=0,
    )


def structure(terms: Sum) -> Structure:
    """A sum as what it can be known by: hashed faster than with its rationals."""
    return frozenset((monomial, int(q.p), int(q.q)) for monomial, q in terms.items())


def order(terms: Sum) -> tuple[object, ...]:
    """Sort key of sums: term by term."""
    return tuple((by_size(monomial), terms[monomial]) for monomial in sorted(terms, key=by_size))


def lowest(p: int, q: int) -> tuple[int, int]:
    """A fraction in lowest terms.

    >>> lowest(2, 4)
    (1, 2)
    """
    shared = gcd(p, q)
    return p // shared, q // shared
