"""The zero test: whether a number is zero, by the value that it takes at a point.

A number made by sums, products and inverses of exponential sums is a rational
function of the powers ``e^(sqrt(r)/m)`` in it, with roots as coefficients. These powers
are algebraically independent for distinct square-free r (Lindemann-Weierstrass; A.
Baker, *Transcendental Number Theory*, theorem 1.4), and so are those with symbols in the
exponent (J. Ax, *On Schanuel's conjectures*, 1971), so the number is zero exactly when
the function is, and other values may be put in their place:

- random ones modulo a prime: where the function doesn't vanish there, the number is
  not zero (J. T. Schwartz, *Fast probabilistic algorithms for verification of
  polynomial identities*, JACM 27, 1980, has how seldom a zero misleads; one of
  these proves nothing here);
- a power of two beyond its coefficients (Kronecker substitution): a polynomial with whole
  coefficients below 2**b that vanishes at 2**b vanishes. This proves that a number is zero, and
  costs one run of its straight-line program, where its closed form may be far too long.

Waves are functions of more such powers, ``e^(i sqrt(r)/m)``, or of the tangent u of half
that angle: ``cos = (1 - u^2)/(1 + u^2)``, ``sin = 2u/(1 + u^2)``, and u is random modulo
a prime. A number that vanishes whatever its waves are is zero as well."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from math import lcm, prod
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from flint import fmpq, fmpz, fmpz_mod, fmpz_mod_ctx, fmpz_mod_poly_ctx

from symattn.limits import BOUNDED, EVALUATED, EVALUATION
from symattn.numbers.exponential_sums import (
    Base,
    Monomial,
    NumberAtom,
    Sum,
    Symbol,
    Wave,
)
from symattn.numbers.quotients import Denominator, Normaliser, Parts
from symattn.verdicts import Verdict

#: How a line is made.
InstructionKind = Literal["number", "total", "products", "inverse"]


class ZeroTestLine(NamedTuple):
    """One step of a straight-line program: a closed form, or made of those at earlier lines."""

    kind: InstructionKind
    operands: Sequence[int] = ()
    parts: Parts = {}  # noqa: RUF012


#: What other values are put in the place of: ``e^(r/m)`` by its base r, ``sqrt(p)`` by the
#: prime p, an atom by itself.
Variable = tuple[Literal["power", "root"], Base] | NumberAtom
#: A monomial as whole powers of variables.
Powers = Mapping[Variable, int]

#: Primes are looked for below this times a step; the seed makes every run the same.
_BELOW, _SEED, _TRIES = 1 << 58, 20, 40

F = TypeVar("F")
K = TypeVar("K")


class _Field(Protocol[F]):
    """Where a straight-line program is evaluated."""

    def term(self, q: fmpq, powers: Powers) -> F: ...

    def total(self, items: Iterable[F]) -> F: ...

    def products(self, pairs: Iterable[tuple[F, F]]) -> F: ...

    def inverse(self, x: F) -> F: ...


@dataclass(frozen=True)
class _Numbers:
    """The arithmetic of numbers, of which ``number`` makes one of a rational number."""

    number: Callable[[fmpq], Any]
    monomial: Callable[[Powers], Any]

    def term(self, q: fmpq, powers: Powers) -> Any:
        return self.number(q) * self.monomial(powers)

    def total(self, items: Iterable[Any]) -> Any:
        return sum(items)

    def products(self, pairs: Iterable[tuple[Any, Any]]) -> Any:
        return self.total(x * y for x, y in pairs)

    def inverse(self, x: Any) -> Any:
        return 1 / x


@lru_cache(maxsize=1024)
def _primes(number: int) -> tuple[int, ...]:
    return tuple(int(prime) for prime, _ in fmpz(number).factor())


class _Variables:
    """The variables of a program: ``steps`` are the common denominators of exponents."""

    def __init__(self, lines: Iterable[ZeroTestLine]) -> None:
        self.steps: dict[Base, int] = {}
        self.turns: dict[Base, int] = {}
        self.atoms: set[NumberAtom] = set()
        self.roots: set[int] = set()
        for exponent, radicand, atoms in _monomials(lines):
            for r, _, q in exponent:
                self.steps[r] = lcm(self.steps.get(r, 1), q)
            for atom, _ in atoms:
                self.atoms.add(atom)
                for r, _, q in atom.angle if isinstance(atom, Wave) else ():
                    self.turns[r] = lcm(self.turns.get(r, 1), q)
            if radicand != 1:
                self.roots.update(_primes(radicand))

    def powers(self, monomial: Monomial) -> Powers:
        """Return what a monomial is of the variables."""
        exponent, radicand, atoms = monomial
        powers: dict[Variable, int] = {
            ("power", r): p * (self.steps[r] // q) for r, p, q in exponent
        }
        if radicand != 1:
            powers |= {("root", prime): 1 for prime in _primes(radicand)}
        return powers | dict(atoms)


def _monomials(lines: Iterable[ZeroTestLine]) -> Iterator[Monomial]:
    for line in lines:
        for denominator, terms in line.parts.items():
            yield from terms
            for normaliser, _ in denominator:
                yield from normaliser.terms


def _walked(lines: Sequence[ZeroTestLine], variables: _Variables, field: _Field[F]) -> F:
    """The value of the last line in a field."""
    inverses: dict[Normaliser, F] = {}

    def of_sum(terms: Sum) -> F:
        return field.total(field.term(q, variables.powers(key)) for key, q in terms.items())

    def inverse(normaliser: Normaliser) -> F:
        if normaliser not in inverses:
            inverses[normaliser] = field.inverse(of_sum(normaliser.terms))
        return inverses[normaliser]

    def part(denominator: Denominator, terms: Sum) -> F:
        value = of_sum(terms)
        for normaliser, power in denominator:
            for _ in range(power):
                value = field.products([(value, inverse(normaliser))])
        return value

    values: list[F] = []
    for line in lines:
        below = [values[k] for k in line.operands]
        match line.kind:
            case "number":
                value = field.total(part(*each) for each in line.parts.items())
            case "total":
                value = field.total(below)
            case "products":
                value = field.products(zip(below[::2], below[1::2], strict=True))
            case "inverse":
                value = field.inverse(below[0])
        values.append(value)
    return values[-1]


def is_zero(lines: Sequence[ZeroTestLine]) -> Verdict:
    """Return whether the number of the last line is zero; ``undecided`` where it seems so, but
    a proof is beyond :data:`~symattn.limits.EVALUATION`.

    >>> from flint import fmpq
    >>> power = {(): {(((1, 1, 1),), 1, ()): fmpq(1)}}
    >>> one = {(): {((), 1, ()): fmpq(1)}}
    >>> line, minus = ZeroTestLine, {(): {((), 1, ()): fmpq(-1)}}
    >>> lines = [line("number", parts=power), line("inverse", (0,)), line("products", (0, 1)),
    ...     line("number", parts=minus), line("total", (2, 3))]
    >>> is_zero(lines), is_zero(lines[:3])
    (<Verdict.HOLDS: 'holds'>, <Verdict.REFUTED: 'refuted'>)
    """
    if len(lines) > EVALUATED:
        return Verdict.UNDECIDED
    variables = _Variables(lines)
    residue = _residue(lines, variables)
    if residue is None:
        return Verdict.UNDECIDED
    if residue:
        # Nobody knows whether opaque numbers depend on the others.
        plain = all(isinstance(atom, Symbol | Wave) for atom in variables.atoms)
        return Verdict.REFUTED if plain else Verdict.UNDECIDED
    return Verdict.HOLDS if _vanishes(lines, variables) else Verdict.UNDECIDED


# -- modulo a prime ------------------------------------------------------------------------


def _residue(lines: Sequence[ZeroTestLine], variables: _Variables) -> Any:
    """The value at a random point modulo a prime; None where a divisor vanishes at
    every point that is tried."""
    chance = random.Random(_SEED)
    for _ in range(_TRIES):
        with suppress(ZeroDivisionError):
            return _walked(lines, variables, _modulo_prime(variables, chance))
    return None


def _modulo_prime(variables: _Variables, chance: random.Random) -> _Numbers:
    """The numbers modulo a prime, with the variables at random."""
    prime = _prime(chance, variables.roots)
    residue = fmpz_mod_ctx(prime)
    values: dict[Variable, fmpz_mod] = {
        ("root", p): residue(p) ** ((prime + 1) // 4) for p in variables.roots
    }
    for variable in (*(("power", r) for r in sorted(variables.steps)), *variables.atoms):
        values[variable] = residue(chance.randrange(2, prime - 1))  # type: ignore[index]
    values.update(_waves(variables, chance, residue))
    return _Numbers(
        lambda q: q.p / residue(q.q),
        lambda powers: prod(values[variable] ** power for variable, power in powers.items()),
    )


def _waves(
    variables: _Variables, chance: random.Random, residue: fmpz_mod_ctx
) -> dict[Variable, fmpz_mod]:
    """The waves at random angles, modulo a prime that is 3 modulo 4: no square is -1."""
    numbers = fmpz_mod_poly_ctx(residue)
    # The cosine and i times the sine, with i in place of an unknown whose square is -1.
    unit, circle = numbers([1, 0, 1]), {}
    for r in sorted(variables.turns):
        half = numbers([1, chance.randrange(2, int(residue.modulus()) - 1)])
        circle[r] = half * half / numbers([half(0) ** 2 + half[1] ** 2]) % unit

    def at(wave: Wave) -> fmpz_mod:
        turned = numbers([1])
        for r, p, q in wave.angle:
            step = circle[r] if p > 0 else numbers([circle[r][0], -circle[r][1]])
            turned = turned * step.pow_mod(abs(p) * (variables.turns[r] // q), unit) % unit
        return turned[wave.function == "sin"]

    return {wave: at(wave) for wave in variables.atoms if isinstance(wave, Wave)}


def _prime(chance: random.Random, roots: Iterable[int]) -> int:
    """A prime modulo which each of these primes is a square: it is -1 modulo 8 and modulo
    each (quadratic reciprocity). So it is 3 modulo 4, and roots are powers."""
    step = 8 * prod(roots)
    while True:
        prime = chance.randrange(_BELOW >> 1, _BELOW) * step - 1
        if fmpz(prime).is_prime():
            return prime


# -- at a power of two ---------------------------------------------------------------------


@dataclass(frozen=True)
class _Bound:
    """A bound on a fraction of polynomials: the numerator, times ``whole``, has whole
    coefficients whose sizes sum to less than ``2**bits``, and powers of each variable
    from ``low`` to ``high``; ``below`` are the denominator's factors with their powers."""

    bits: int
    whole: int
    low: Powers
    high: Powers
    below: Mapping[int, int]


def _vanishes(lines: Sequence[ZeroTestLine], variables: _Variables) -> bool:
    """Return whether the number is proved to be zero, by its value where each variable is a power
    of two: so large that no two monomials meet, nor their coefficients."""
    bound = _Bounds(variables).last(lines)
    if bound is None:
        return False
    at: dict[Variable, int] = {}
    bits = bound.bits + 1
    for variable in {*bound.low, *bound.high}:
        count = bound.high.get(variable, 0) - bound.low.get(variable, 0) + 1
        # A power that all monomials share may be huge, and tells nothing: 1.
        at[variable] = bits if count > 1 else 0
        bits *= count
    sizes = [len(line.operands) + sum(map(len, line.parts.values())) for line in lines]
    if bits * sum(sizes) > EVALUATION:
        return False

    def monomial(powers: Powers) -> fmpq:
        exponent = sum(at.get(variable, 0) * power for variable, power in powers.items())
        if abs(exponent) > EVALUATION:
            raise OverflowError
        return fmpq(fmpz(1) << exponent) if exponent >= 0 else fmpq(1, fmpz(1) << -exponent)

    try:
        return bool(_walked(lines, variables, _Numbers(fmpq, monomial)) == 0)
    except (OverflowError, ZeroDivisionError):
        return False


class _Bounds:
    """Bounds of all lines, as another arithmetic; factors of denominators are numbered."""

    def __init__(self, variables: _Variables) -> None:
        self._variables = variables
        self._factors: list[_Bound] = []
        self._left = BOUNDED

    def last(self, lines: Sequence[ZeroTestLine]) -> _Bound | None:
        """The bound of the last line; None where one is out of all proportion."""
        try:
            return _walked(lines, self._variables, self)
        except OverflowError:
            return None

    def term(self, q: fmpq, powers: Powers) -> _Bound:
        return _Bound(int(q.p).bit_length(), int(q.q), powers, powers, {})

    def total(self, items: Iterable[_Bound]) -> _Bound:
        many = [x for x in items if x.bits]
        if not many:
            return _Bound(0, 1, {}, {}, {})
        whole = lcm(*{x.whole for x in many})
        below: dict[int, int] = {}
        for x in many:
            for factor, power in x.below.items():
                below[factor] = max(power, below.get(factor, 0))
        wide = [self._over(x, whole, below) for x in many]
        bits = max(x.bits for x in wide) + len(wide).bit_length()
        if bits > EVALUATION:
            raise OverflowError
        return _Bound(bits, whole, _each(min, wide, "low"), _each(max, wide, "high"), below)

    def _over(self, x: _Bound, whole: int, below: Mapping[int, int]) -> _Bound:
        """The numerator over a larger denominator."""
        missing = {factor: power - x.below.get(factor, 0) for factor, power in below.items()}
        self._left -= len(missing)
        if self._left < 0:
            raise OverflowError
        bound = _Bound(x.bits + (whole // x.whole).bit_length(), 1, x.low, x.high, {})
        for factor, power in missing.items():
            bound = _times(bound, self._factors[factor], power) if power else bound
        return bound

    def products(self, pairs: Iterable[tuple[_Bound, _Bound]]) -> _Bound:
        return self.total(
            _Bound(
                x.bits + y.bits,
                x.whole * y.whole,
                _sum(x.low, y.low),
                _sum(x.high, y.high),
                _sum(x.below, y.below),
            )
            for x, y in pairs
            if x.bits and y.bits
        )

    def inverse(self, x: _Bound) -> _Bound:
        """The denominator above, the numerator as a new factor below."""
        bound = _Bound(x.whole.bit_length(), 1, {}, {}, {})
        for factor, power in x.below.items():
            bound = _times(bound, self._factors[factor], power)
        self._factors.append(_Bound(x.bits, 1, x.low, x.high, {}))
        return _Bound(bound.bits, 1, bound.low, bound.high, {len(self._factors) - 1: 1})


def _times(x: _Bound, factor: _Bound, power: int) -> _Bound:
    low, high = x.low, x.high
    for _ in range(power):
        low, high = _sum(low, factor.low), _sum(high, factor.high)
    return _Bound(x.bits + power * factor.bits, 1, low, high, {})


def _sum(x: Mapping[K, int], y: Mapping[K, int]) -> Mapping[K, int]:
    if not x or not y:
        return x or y
    return {key: x.get(key, 0) + y.get(key, 0) for key in {**x, **y}}


def _each(choose: Callable[[Iterable[int]], int], many: list[_Bound], end: str) -> Powers:
    """The least or the largest power of every variable."""
    ends: list[Powers] = [getattr(x, end) for x in many]
    variables = {variable: None for powers in ends for variable in powers}
    return {v: choose(powers.get(v, 0) for powers in ends) for v in variables}
