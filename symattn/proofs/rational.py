"""Exact functions of finitely many unknowns: rational in them and in exponentials.

Exponentials of different monomials satisfy no algebraic relation over the
rational functions, so whether such a function is zero is decided both ways by
clearing its denominators; only logarithms can leave it open.

>>> field = Functions()
>>> x, y = field.symbol("x"), field.symbol("y")
>>> total = field.add(x, y)
>>> part = field.multiply(x, field.inverse(total))
>>> rest = field.multiply(y, field.inverse(total))
>>> field.is_zero(field.add(field.add(part, rest), field.number(-1)))
<Verdict.HOLDS: 'holds'>
"""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

from symattn.proofs.language import Target
from symattn.proofs.polynomials import (
    BITS,
    Generator,
    Polynomial,
    Polynomials,
    exponent_of,
    plain,
    polynomial_of,
    size_of,
)
from symattn.proofs.structure import Undecidable
from symattn.verdicts import Verdict


class Functions(Polynomials):
    """Polynomials with inverses, exponentials, logarithms, and the question of zero."""

    def __init__(self) -> None:
        super().__init__()
        self._inverses: dict[frozenset[tuple[int, Fraction | int]], Polynomial] = {}

    def inverse(self, value: Polynomial) -> Polynomial:
        """One over a value. Raises ZeroDivisionError for zero."""
        key = frozenset(value.items())
        if key not in self._inverses:
            self._inverses[key] = self._inverse_of(value)
        return self._inverses[key]

    def _inverse_of(self, value: Polynomial) -> Polynomial:
        parts = self.split(value)
        found: Polynomial = {-parts.shared: plain(1 / Fraction(parts.leading))}
        if parts.rest != {0: 1}:
            inverse = Generator("inverse", tuple(sorted(parts.rest.items())))
            found = self.multiply(found, {self.monomial(inverse): 1})
        for inverse, exponent in parts.below:
            found = self.multiply(found, self.power(polynomial_of(inverse), exponent))
        return found

    def exp(self, value: Polynomial) -> Polynomial:
        """The exponential. Raises :class:`Undecidable` for exponents with denominators."""
        found = self.number(1)
        for monomial, coefficient in value.items():
            found = self.multiply(found, self._exp_of(monomial, Fraction(coefficient)))
        return found

    def _exp_of(self, monomial: int, coefficient: Fraction) -> Polynomial:
        front = 0
        for place, generator, exponent in self.decoded(monomial):
            if generator.sort == "binary":
                # e^(b x) = 1 + b (e^x - 1) where b is 0 or 1.
                rest = monomial - (exponent << (BITS * place))
                change = self.add(self._exp_of(rest, coefficient), self.number(-1))
                step = self.multiply({1 << (BITS * place): 1}, change)
                return self.add(self.number(1), step)
            if generator.sort == "root" and exponent not in (0, -1):
                # Only one power of a root stands in an exponent: r = d / r.
                lower, size = (exponent + 1) // 2, size_of(generator)
                front -= 2 * lower << (BITS * place)
                coefficient *= Fraction(size) ** lower
            if generator.sort == "log":
                if monomial != 1 << (BITS * place) or coefficient.denominator != 1:
                    raise Undecidable("a power that is not whole")
                inside = polynomial_of(generator)
                inside = inside if coefficient > 0 else self.inverse(inside)
                return self.power(inside, abs(int(coefficient)))
            if generator.sort == "inverse":
                raise Undecidable("an exponent with a denominator")
        base = Generator("exp", (monomial + front, coefficient.denominator))
        return {coefficient.numerator * self.monomial(base): 1}

    def log(self, value: Polynomial) -> Polynomial:
        """The logarithm of a positive value, split over products."""
        parts = self.split(value)
        leading, rest = parts.leading, parts.rest
        if leading < 0:
            leading, rest = -leading, {m: -c for m, c in rest.items()}
        found = self.add(self._log_of({0: leading}, 1), self._log_of(rest, 1))
        for inverse, exponent in parts.below:
            found = self.add(found, self._log_of(polynomial_of(inverse), -exponent))
        for _, generator, exponent in self.decoded(parts.shared):
            if generator.sort == "exp":
                inner, divisor = exponent_of(generator)
                found = self.add(found, {inner: plain(Fraction(exponent, divisor))})
            else:
                found = self.add(found, self._log_of({self.monomial(generator): 1}, exponent))
        return found

    def _log_of(self, value: Polynomial, times: int) -> Polynomial:
        if value == {0: 1}:
            return {}
        return {self.monomial(Generator("log", tuple(sorted(value.items())))): times}

    def is_zero(self, value: Polynomial) -> Verdict:
        """Whether a value is zero; undecided only where logarithms leave it open."""
        if not value:
            return Verdict.HOLDS
        above, _ = self.cleared(value)
        reduced = self.reduced(above)
        if not reduced:
            return Verdict.HOLDS
        if self._independent():
            return Verdict.REFUTED
        clearly = any(abs(self._sampled(value, Random(seed))) > 1e-6 for seed in range(3))
        return Verdict.REFUTED if clearly else Verdict.UNDECIDED

    def _independent(self) -> bool:
        """Whether no algebraic relation between generators is unknown to :meth:`reduced`.

        Logarithms may have one, and so may ``e^(m/2)`` and ``e^(m/3)``.
        """
        powers: dict[int, set[int]] = {}
        for generator in self._generators:
            if generator.sort == "log":
                return False
            if generator.sort == "exp":
                inner, divisor = exponent_of(generator)
                powers.setdefault(inner, set()).add(divisor)
        return all(len(divisors) == 1 for divisors in powers.values())

    def limit(self, value: Polynomial, variable: Polynomial, target: Target) -> Polynomial:
        """What a value tends to as an unknown does. Raises :class:`Undecidable` if unsure."""
        ((moving, _),) = variable.items()
        # Over a common denominator first: there what grows alike cancels.
        above, below = self.cleared(value)
        found: Polynomial = {}
        for monomial, coefficient in above.items():
            kept, degree, vanishes = monomial, 0, False
            for place, generator, exponent in self.decoded(monomial):
                single = 1 << (BITS * place)
                if not self._involves(generator, moving):
                    continue
                kept -= exponent * single
                if single == moving:
                    degree = exponent
                elif generator.sort == "exp":
                    vanishes |= self._vanishes(generator, exponent, moving, target)
                else:
                    raise Undecidable("the limit of a logarithm")
            if (degree < 0) if target == "0" else (degree > 0 and not vanishes):
                raise Undecidable("a limit that is not finite")
            if degree == 0 and not vanishes:
                found = self.add(found, {kept: coefficient})
        for inverse, exponent in below:
            under = self.limit(polynomial_of(inverse), variable, target)
            if self.is_zero(under) is not Verdict.REFUTED:
                raise Undecidable("the limit of a quotient whose denominator vanishes")
            found = self.multiply(found, self.power(self.inverse(under), exponent))
        return found

    def _vanishes(self, generator: Generator, exponent: int, moving: int, target: Target) -> bool:
        """Whether a power of ``e`` tends to 0 (True) or to 1 (False)."""
        inner, _ = exponent_of(generator)
        others = [g for _, g, _ in self.decoded(inner - moving)]
        if self._involves_monomial(inner - moving, moving):
            raise Undecidable("a limit in a power of the unknown")
        if target == "0":
            return False
        if any(other.sort not in ("positive", "root") for other in others):
            raise Undecidable("the limit of an exponential whose sign is not known")
        if (exponent > 0) == (target == "oo"):
            raise Undecidable("a limit that is not finite")
        return True

    def mean(self, value: Polynomial) -> Polynomial:
        """The expected value over the random unknowns, up to second moments."""
        found: Polynomial = {}
        for monomial, coefficient in value.items():
            kept, zero = monomial, False
            for place, generator, exponent in self.decoded(monomial):
                if generator.sort == "random":
                    if exponent not in (1, 2):
                        raise Undecidable("a moment of higher order than the variance")
                    zero |= exponent == 1
                    kept -= exponent << (BITS * place)
                elif generator.sort in ("exp", "inverse", "log"):
                    raise Undecidable("the mean of a function of random entries")
            if not zero:
                found = self.add(found, {kept: coefficient})
        return found

    def _involves(self, generator: Generator, moving: int) -> bool:
        if generator.sort == "exp":
            return self._involves_monomial(exponent_of(generator)[0], moving)
        if generator.sort in ("inverse", "log"):
            return any(self._involves_monomial(m, moving) for m in polynomial_of(generator))
        return self.monomial(generator) == moving

    def _involves_monomial(self, monomial: int, moving: int) -> bool:
        return any(self._involves(generator, moving) for _, generator, _ in self.decoded(monomial))

    def _sampled(self, value: Polynomial, random: Random) -> float:
        """The value at random positive unknowns, in floating point."""
        drawn: dict[Generator, float] = {}

        def of(generator: Generator) -> float:
            if generator not in drawn:
                match generator.sort:
                    case "root":
                        found = math.sqrt(size_of(generator))
                    case "exp":
                        inner, divisor = exponent_of(generator)
                        found = math.exp(at({inner: 1}) / divisor)
                    case "inverse":
                        found = 1 / at(polynomial_of(generator))
                    case "log":
                        found = math.log(abs(at(polynomial_of(generator))))
                    case _:
                        found = random.uniform(0.5, 1.5)
                drawn[generator] = found
            return drawn[generator]

        def at(polynomial: Polynomial) -> float:
            total = 0.0
            for monomial, coefficient in polynomial.items():
                one = float(coefficient)
                for _, generator, exponent in self.decoded(monomial):
                    one *= of(generator) ** exponent
                total += one
            return total

        return at(value)
