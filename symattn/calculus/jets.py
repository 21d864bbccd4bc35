"""Numbers that carry a derivative: balls, and balls with the slope in a variable.

Forward differentiation, nested by tags: the slope in one variable may itself
carry the slope in another (B. Pearlmutter, J. Siskind, Perturbation confusion,
2005). Plain whole numbers and fractions are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import flint
from flint import arb, fmpq

Value: TypeAlias = Any
"""An ``int``, an ``fmpq``, an ``arb`` or a :class:`Jet`."""


#: Whole numbers of up to so many bits are raised to powers up to this exactly.
_EXACT = 64


class Jet:
    """``base + slope * e`` with ``e * e = 0``; the tag tells one ``e`` from another."""

    __slots__ = ("base", "slope", "tag")

    def __init__(self, tag: int, base: Value, slope: Value) -> None:
        self.tag, self.base, self.slope = tag, base, slope

    def _parts(self, other: Jet) -> tuple[int, Value, Value, Value, Value]:
        """The tag to go by, and both numbers in base and slope."""
        if self.tag == other.tag:
            return self.tag, self.base, self.slope, other.base, other.slope
        if self.tag > other.tag:
            return self.tag, self.base, self.slope, other, 0
        return other.tag, self, 0, other.base, other.slope

    def __add__(self, other: Value) -> Value:
        if not isinstance(other, Jet):
            return Jet(self.tag, self.base + other, self.slope)
        tag, a, da, b, db = self._parts(other)
        return Jet(tag, a + b, da + db)

    __radd__ = __add__

    def __sub__(self, other: Value) -> Value:
        return self + -other

    def __rsub__(self, other: Value) -> Value:
        return -self + other

    def __mul__(self, other: Value) -> Value:
        if not isinstance(other, Jet):
            return Jet(self.tag, self.base * other, _scaled(self.slope, other))
        tag, a, da, b, db = self._parts(other)
        return Jet(tag, a * b, _scaled(da, b) + _scaled(db, a))

    __rmul__ = __mul__

    def __neg__(self) -> Value:
        return Jet(self.tag, -self.base, -self.slope)

    def map(self, function: Callable[[Value], Value], slope: Callable[[Value], Value]) -> Value:
        """A function of this number, given its derivative."""
        return Jet(self.tag, function(self.base), _scaled(self.slope, slope(self.base)))


class Slopes:
    """Slopes in many variables at once, by what tells these apart; in all others they are 0."""

    __slots__ = ("of",)

    def __init__(self, of: dict[tuple[int, ...], Value]) -> None:
        self.of = of

    def __add__(self, other: Value) -> Value:
        if not isinstance(other, Slopes):
            return self
        slopes = {**self.of, **other.of}
        for tag in self.of.keys() & other.of.keys():
            slopes[tag] = self.of[tag] + other.of[tag]
        return Slopes(slopes)

    __radd__ = __add__

    def __mul__(self, factor: Value) -> Value:
        return Slopes({tag: slope * factor for tag, slope in self.of.items()})

    def __neg__(self) -> Value:
        return Slopes({tag: -slope for tag, slope in self.of.items()})


def _scaled(slope: Value, factor: Value) -> Value:
    """A slope, or many, times a number, which comes second as it may be a jet of its own."""
    return 0 if isinstance(slope, int) and slope == 0 else slope * factor


def slope(value: Value, tag: int) -> Value:
    """The derivative in the variable of a tag; :class:`Slopes` in many, 0 in none."""
    return value.slope if isinstance(value, Jet) and value.tag == tag else 0


def power(base: Value, exponent: Fraction) -> Value:
    """A rational power; of a number below 0 only a whole one is finite."""
    if isinstance(base, Jet):
        return base.map(
            lambda x: power(x, exponent),
            lambda x: _ball(exponent) * power(x, exponent - 1) if exponent else 0,
        )
    if exponent.denominator == 1:
        # Exact numbers stay short.
        exact = abs(exponent) <= _EXACT and _is_short(base) and (exponent >= 0 or base != 0)
        raised = _times(base if exact else _ball(base), int(abs(exponent)))
        return raised if exponent >= 0 else (fmpq(1) if exact else 1) / raised
    ball = _ball(base)
    if exponent.denominator == 2:
        root = _times(ball.sqrt(), abs(exponent.numerator))
        return root if exponent > 0 else 1 / root
    return ball ** arb(fmpq(exponent.numerator, exponent.denominator))


def _is_short(base: Value) -> bool:
    """Tell whether a number is rational, of a few bits."""
    parts = () if isinstance(base, arb) else (base.p, base.q) if isinstance(base, fmpq) else (base,)
    return bool(parts) and all(abs(part) < 1 << _EXACT for part in parts)


def _times(base: Value, exponent: int) -> Value:
    """A power by multiplication: a ball around 0 has one."""
    power: Value = 1
    while exponent:
        if exponent & 1:
            power = power * base
        exponent >>= 1
        if exponent:
            base = base * base
    return power


_Function: TypeAlias = Callable[[Value], Value]


def _function(name: str, slope: _Function) -> _Function:
    """A function of Arb's, with its derivative."""

    def function(x: Value) -> Value:
        return x.map(function, slope) if isinstance(x, Jet) else getattr(_ball(x), name)()

    return function


exp: _Function = _function("exp", lambda x: exp(x))
#: Not finite but above 0.
log = _function("log", lambda x: power(x, Fraction(-1)))
sin = _function("sin", lambda x: cos(x))
cos: _Function = _function("cos", lambda x: -sin(x))
erf = _function("erf", lambda x: 2 * power(arb.pi(), Fraction(-1, 2)) * exp(-(x * x)))


def positive(x: Value) -> Value:
    """1 above 0, else 0, where it has no slope; not finite where it is not decided."""
    if isinstance(x, Jet):
        return x.map(positive, lambda base: arb("nan")) if plain(x) == 0 else positive(x.base)
    if x > 0:
        return 1
    return 0 if x < 0 or x == 0 else arb("nan")


def plain(x: Value) -> Value:
    """A number without its slopes."""
    return plain(x.base) if isinstance(x, Jet) else x


FUNCTIONS: dict[str, _Function] = {
    "exp": exp,
    "log": log,
    "sin": sin,
    "cos": cos,
    "erf": erf,
    "positive": positive,
}


def _ball(x: Fraction | int | fmpq | arb) -> arb:
    if isinstance(x, Fraction):
        return arb(fmpq(x.numerator, x.denominator))
    return x if isinstance(x, flint.arb) else arb(x)
