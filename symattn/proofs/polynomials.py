"""Sparse polynomials over a growing list of generators, with exact coefficients.

A polynomial is a dictionary from monomials to rational coefficients; a monomial
packs the exponents of all generators, 16 bits each and possibly negative, into
one integer, so that multiplying monomials is adding integers.

Generators are the unknowns, roots of sizes, exponentials ``e^m`` of monomials,
inverses ``1/P`` and logarithms of polynomials. An inverse is one more generator,
so sums and products need no common denominator; :meth:`Polynomials.cleared`
brings a value over one with ``P * (1/P) = 1``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Literal, NamedTuple, TypeAlias, cast

from symattn.proofs.matrices import Kind
from symattn.proofs.quotients import shared_exponent

Polynomial: TypeAlias = dict[int, Fraction | int]
Frozen: TypeAlias = tuple[tuple[int, Fraction | int], ...]

BITS = 16
HALF = 1 << (BITS - 1)
MASK = (1 << BITS) - 1


@dataclass(frozen=True, slots=True)
class Generator:
    """What one place in a monomial stands for.

    ``of`` is the name of an unknown, the size under a root, the monomial and
    the whole divisor of an exponent, or the polynomial inverted or logarithmed.
    """

    sort: Literal["number", "binary", "positive", "random", "root", "exp", "inverse", "log"]
    of: object


class Polynomials:
    """The generators met so far, and arithmetic with polynomials in them."""

    def __init__(self) -> None:
        super().__init__()
        self._generators: list[Generator] = []
        self._numbers: dict[Generator, int] = {}
        self._spelled: dict[int, tuple[tuple[int, Generator, int], ...]] = {}

    def number(self, value: Fraction | int) -> Polynomial:
        """A rational constant."""
        if isinstance(value, Fraction) and value.denominator == 1:
            value = value.numerator
        return {0: value} if value else {}

    def symbol(self, name: object, sort: Kind = "number") -> Polynomial:
        """An unknown, the same for the same name."""
        return {self.monomial(Generator(sort, name)): 1}

    def root_of(self, size: int) -> Polynomial:
        """The positive root of a whole number."""
        whole = isqrt(size)
        if whole * whole == size:
            return self.number(whole)
        return {self.monomial(Generator("root", size)): 1}

    def add(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """The sum."""
        if len(left) < len(right):
            left, right = right, left
        found = dict(left)
        for monomial, coefficient in right.items():
            total = found.get(monomial, 0) + coefficient
            if total:
                found[monomial] = total
            else:
                del found[monomial]
        return found

    def multiply(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """The product."""
        if len(left) > len(right):
            left, right = right, left
        if len(left) <= 1:
            # Nothing can meet and cancel.
            return {a + b: p * q for a, p in left.items() for b, q in right.items()}
        found: Polynomial = {}
        for a, p in left.items():
            for b, q in right.items():
                found[a + b] = found.get(a + b, 0) + p * q
        return {monomial: c for monomial, c in found.items() if c}

    def power(self, value: Polynomial, exponent: int) -> Polynomial:
        """A power with exponent zero or more."""
        found = self.number(1)
        for _ in range(exponent):
            found = self.multiply(found, value)
        return found

    def monomial(self, generator: Generator) -> int:
        """The monomial that is one generator."""
        if generator not in self._numbers:
            self._numbers[generator] = len(self._generators)
            self._generators.append(generator)
        return 1 << (BITS * self._numbers[generator])

    def decoded(self, monomial: int) -> tuple[tuple[int, Generator, int], ...]:
        """Place, generator and exponent of every generator in a monomial."""
        if monomial not in self._spelled:
            found, place, left = [], 0, monomial
            while left:
                exponent = ((left + HALF) & MASK) - HALF
                if exponent:
                    found.append((place, self._generators[place], exponent))
                left = (left - exponent) >> BITS
                place += 1
            self._spelled[monomial] = tuple(found)
        return self._spelled[monomial]

    def cleared(self, value: Polynomial) -> tuple[Polynomial, list[tuple[Generator, int]]]:
        """A value as a polynomial without inverses, over powers of polynomials."""
        below: list[tuple[Generator, int]] = []
        while True:
            found = [
                place
                for monomial in value
                for place, generator, _ in self.decoded(monomial)
                if generator.sort == "inverse"
            ]
            if not found:
                return value, below
            place = max(found)
            inverse = self._generators[place]
            grouped: dict[int, Polynomial] = {}
            for monomial, coefficient in value.items():
                power = next((e for p, _, e in self.decoded(monomial) if p == place), 0)
                grouped.setdefault(power, {})[monomial - (power << (BITS * place))] = coefficient
            most = max(grouped)
            value = {}
            for power, part in grouped.items():
                by = self.power(polynomial_of(inverse), most - power)
                value = self.add(value, self.multiply(part, by))
            below.append((inverse, most))

    def split(self, value: Polynomial) -> Parts:
        """A value as a monomial times a number times the rest, over polynomials."""
        above, below = self.cleared(value)
        if not above:
            raise ZeroDivisionError("one over, or the logarithm of, a value that is zero")
        exponents = [{p: e for p, _, e in self.decoded(monomial)} for monomial in above]
        shared = 0
        for place in {place for one in exponents for place in one}:
            if self._generators[place].sort != "binary":
                power = shared_exponent([one.get(place, 0) for one in exponents])
                shared += power << (BITS * place)
        leading = above[max(above)]
        rest = {m - shared: plain(Fraction(c) / leading) for m, c in above.items()}
        return Parts(shared, leading, rest, below)

    def reduced(self, value: Polynomial) -> Polynomial:
        """Squares of roots as numbers, and powers of what is 0 or 1 as itself."""
        found: Polynomial = {}
        for monomial, coefficient in value.items():
            kept, front = monomial, Fraction(coefficient)
            for place, generator, exponent in self.decoded(monomial):
                if generator.sort == "root":
                    squares, rest = divmod(exponent, 2)
                    front *= Fraction(size_of(generator)) ** squares
                    kept += (rest - exponent) << (BITS * place)
                elif generator.sort == "binary":
                    kept += (1 - exponent) << (BITS * place)
            found = self.add(found, {kept: front})
        return found


class Parts(NamedTuple):
    """A value taken apart: ``shared * leading * rest / product of below``."""

    shared: int
    leading: Fraction | int
    rest: Polynomial
    below: list[tuple[Generator, int]]


def plain(value: Fraction | int) -> Fraction | int:
    """Whole numbers as int, which multiply faster."""
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else value


def polynomial_of(generator: Generator) -> Polynomial:
    """What an inverse or a logarithm is of."""
    return dict(cast(Frozen, generator.of))


def exponent_of(generator: Generator) -> tuple[int, int]:
    """The monomial and the whole divisor of an exponent."""
    return cast(tuple[int, int], generator.of)


def size_of(generator: Generator) -> int:
    """What a root is of."""
    return cast(int, generator.of)
