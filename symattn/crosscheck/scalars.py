"""The scalars that the definitions run in.

The same definition is run on four kinds of scalar: Python's ``float``,
:class:`Tracked` (a float with a bound on its error), such floats that move
(:class:`~Dual`) and complex NumPy vectors
(one component per perturbed entry). Only the functions of :mod:`~symattn.crosscheck.lines` have
to know which one they are given.

The running error analysis is that of J. H. Wilkinson; see N. J. Higham,
*Accuracy and Stability of Numerical Algorithms*, 2nd ed., section 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

#: The unit roundoff of float64: one rounding errs by at most ``UNIT * abs(result)``.
UNIT = 2.0**-53
#: What underflow can add to an error, in units of ``UNIT``: the smallest subnormal.
TINY = 2.0**-1021
#: Makes up for the roundings inside the bounds' own arithmetic.
SLACK = 1.0 + 2.0**-20
_INFINITE = math.inf


class CannotTell(ArithmeticError):
    """Two numbers are nearer to each other than the bounds on their errors."""


class Tracked:
    """A float with a bound on its error, in units of :data:`UNIT`.

    The true value lies within ``UNIT * error`` of ``value``. An error of 0
    means exact; an infinite error means that nothing is known (overflow, a
    divisor that may be zero). The value NaN with error 0 is certain to have no
    value, such as ``1 / 0``. Products of numbers by an exact 0 are an exact 0.
    ``exact`` is the true value where it is known as a fraction.

    >>> third = Tracked(1.0) / Tracked(3.0)
    >>> third.value, round(third.error, 3)
    (0.3333333333333333, 0.333)
    >>> (third * Tracked(0.0)).error
    0.0
    """

    __slots__ = ("error", "exact", "value")

    def __init__(self, value: float, error: float = 0.0, exact: Fraction | None = None) -> None:
        self.value = value
        self.error = error
        self.exact = exact

    def __repr__(self) -> str:
        return f"Tracked({self.value!r}, {self.error!r})"

    @property
    def is_masked(self) -> bool:
        """Return whether it is certainly minus infinity: an overflow is none.

        >>> Tracked(-math.inf).is_masked, Tracked(-math.inf, math.inf).is_masked
        (True, False)
        """
        return self.value == -_INFINITE and self.error == 0.0

    @property
    def is_zero(self) -> bool:
        """Return whether it is certainly 0."""
        return self.value == 0.0 and self.error == 0.0

    @property
    def is_nothing(self) -> bool:
        """Return whether it certainly has no value.

        >>> (Tracked(1.0) / Tracked(0.0)).is_nothing
        True
        """
        return self.value != self.value and self.error == 0.0

    @property
    def is_unknown(self) -> bool:
        """Return whether there is no number that the true value is known to be near.

        >>> Tracked(1.0).is_unknown, (Tracked(1e200) * Tracked(1e200)).is_unknown
        (False, True)
        """
        return self.value != self.value or not self.error < _INFINITE

    @property
    def fraction(self) -> Fraction | None:
        """The true value, where it is known as a fraction.

        >>> Tracked(0.5).fraction, (Tracked(1.0) / 3).fraction
        (Fraction(1, 2), None)
        """
        if self.exact is None and not self.error and math.isfinite(self.value):
            return Fraction(self.value)
        return self.exact

    def near(self, *numbers: float) -> tuple[float, ...]:
        """Return those of the numbers that the true value may be.

        >>> Tracked(1.0 + UNIT, 2.0).near(0.0, 1.0), Tracked(math.inf, math.inf).near(0.0, 1.0)
        ((1.0,), (0.0, 1.0))
        """
        if self.is_unknown:
            return numbers
        reach = UNIT * SLACK * self.error
        return tuple(number for number in numbers if abs(self.value - number) <= reach)

    def __add__(self, other: Any) -> Tracked:
        if other.__class__ is not Tracked:
            other = Tracked(float(other))
        right: Tracked = other
        if right.value == 0.0 and right.error == 0.0:
            return self
        if self.value == 0.0 and self.error == 0.0:
            return right
        value = self.value + right.value
        error = self.error + right.error + abs(value)
        if error < _INFINITE:
            return Tracked(value, error)
        return _at_infinity(value, self, right)

    __radd__ = __add__

    def __neg__(self) -> Tracked:
        return Tracked(-self.value, self.error)

    def __sub__(self, other: Any) -> Tracked:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Tracked:
        return self.__neg__().__add__(other)

    def __mul__(self, other: Any) -> Tracked:
        if other.__class__ is not Tracked:
            other = Tracked(float(other))
        left, left_error, right, right_error = self.value, self.error, other.value, other.error
        if (left == 0.0 and left_error == 0.0) or (right == 0.0 and right_error == 0.0):
            # Not of what has no value, such as a slope of the square root at 0.
            return NOTHING if self.is_nothing or other.is_nothing else Tracked(0.0)
        value = left * right
        # The last two terms make the bound rigorous, not only of first order.
        error = (
            abs(left) * right_error
            + abs(right) * left_error
            + abs(value)
            + UNIT * left_error * right_error
            + TINY
        )
        if error < _INFINITE:
            return Tracked(value, error)
        return _at_infinity(value, self, other, factors=True)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Tracked:
        if other.__class__ is not Tracked:
            other = Tracked(float(other))
        divisor = other.value
        # The least magnitude that the true divisor can have.
        least = abs(divisor) - UNIT * other.error
        if not least > 0.0:
            return Tracked(math.nan, 0.0 if divisor == 0.0 and other.error == 0.0 else _INFINITE)
        if self.value == 0.0 and self.error == 0.0:
            return self
        value = self.value / divisor
        error = (self.error + abs(value) * other.error) / least + abs(value) + TINY
        if error < _INFINITE:
            return Tracked(value, error)
        return _at_infinity(value, self, other)

    def __rtruediv__(self, other: Any) -> Tracked:
        return Tracked(float(other)) / self

    def __pow__(self, exponent: int | Tracked) -> Tracked:
        """A whole power by products, any other one of a positive number by logarithms."""
        if isinstance(exponent, Tracked):
            return (self.log() * exponent).exp()
        if exponent < 0:
            return Tracked(1.0) / self**-exponent
        if exponent < 2:
            return self if exponent else Tracked(1.0)
        half = self ** (exponent // 2)
        return half * half * self if exponent % 2 else half * half

    def _side(self, other: Any) -> int:
        """1 above the other number, -1 below it, 0 where the two are the same."""
        right = other if other.__class__ is Tracked else Tracked(float(other))
        if right is self and not self.is_nothing:
            return 0
        if not (self.is_unknown or right.is_unknown):
            # What is masked is below all numbers, and SLACK covers the difference's rounding.
            reach = UNIT * SLACK * (self.error + right.error)
            if self.value == right.value and not reach:
                return 0
            if abs(self.value - right.value) > reach:
                return 1 if self.value > right.value else -1
            own, other_one = self.fraction, right.fraction
            if own is not None and other_one is not None:
                return (own > other_one) - (own < other_one)
        raise CannotTell

    # Each raises CannotTell where floats don't decide it.
    def __gt__(self, other: Any) -> bool:
        return self._side(other) > 0

    def __ge__(self, other: Any) -> bool:
        return self._side(other) >= 0

    def __lt__(self, other: Any) -> bool:
        return self._side(other) < 0

    def __le__(self, other: Any) -> bool:
        return self._side(other) <= 0

    def __eq__(self, other: object) -> bool:
        return self._side(other) == 0

    __hash__ = object.__hash__

    def __abs__(self) -> Tracked:
        return Tracked(abs(self.value), self.error)

    def sign(self) -> Tracked:
        """-1, 0 or 1."""
        return Tracked(float(self._side(0)))

    def extreme(self, other: Any, way: int) -> Tracked:
        """The greater of two numbers (``way`` 1) or the lesser (-1): itself where that can be
        told, and else a number that is known all the same."""
        if isinstance(other, Tracked) and other.__class__ is not Tracked:
            # What moves knows how the lesser one does, too.
            return other.extreme(self, way)
        right: Tracked = other if other.__class__ is Tracked else Tracked(float(other))
        try:
            return self if way * self._side(right) > 0 else right
        except CannotTell:
            if self.is_unknown or right.is_unknown:
                return NOTHING if self.is_nothing or right.is_nothing else UNKNOWN
            # |max(a, b) - max(s, t)| <= max(|a - s|, |b - t|)
            value = way * max(way * self.value, way * right.value)
            return Tracked(value, max(self.error, right.error))

    def exp(self) -> Tracked:
        """The exponential; 2 units are the last place of the C library's result."""
        if self.value == -_INFINITE and self.error == 0.0:
            return Tracked(0.0)
        try:
            value = math.exp(self.value)
            spread = math.expm1(UNIT * self.error) / UNIT
        except OverflowError:
            return Tracked(_INFINITE, _INFINITE)
        error = value * (spread + 2.0) + TINY
        return Tracked(value, error if error < _INFINITE else _INFINITE)

    def log(self) -> Tracked:
        """The natural logarithm; NaN outside its domain."""
        least = self.value - UNIT * self.error
        if not least > 0.0:
            return self._outside(self.value + UNIT * self.error <= 0.0)
        if self.value == _INFINITE:
            return Tracked(_INFINITE, self.error)
        value = math.log(self.value)
        spread = -math.log1p(-UNIT * self.error / self.value) / UNIT
        return Tracked(value, spread + 2.0 * abs(value) + TINY)

    def sqrt(self) -> Tracked:
        """The square root; NaN outside its domain."""
        least = self.value - UNIT * self.error
        if self.value == 0.0 and self.error == 0.0:
            return self
        if not least >= 0.0:
            return self._outside(self.value + UNIT * self.error < 0.0)
        value = math.sqrt(self.value)
        # |sqrt(x) - sqrt(t)| = |x - t| / (sqrt(x) + sqrt(t)), and t is at least `least`.
        return Tracked(value, self.error / (value + math.sqrt(least)) + value + TINY)

    def tanh(self) -> Tracked:
        """The hyperbolic tangent; the C library's result is off by up to two
        units in the last place, each up to two of ours."""
        if not math.isfinite(self.value):
            return self._outside(self.error == 0.0)
        value = math.tanh(self.value)
        # The slope is 1 / cosh^2, and largest where the argument is nearest to 0.
        least = max(abs(self.value) - UNIT * self.error, 0.0)
        slope = 4.0 * math.exp(-2.0 * least) if least > 1.0 else 1.0
        return Tracked(value, slope * self.error + 4.0 * abs(value) + TINY)

    def sin(self) -> Tracked:
        """The sine; the C library's result is off by less than two units in the last place."""
        return self._wave(math.sin)

    def cos(self) -> Tracked:
        """The cosine, likewise."""
        return self._wave(math.cos)

    def _wave(self, function: Callable[[float], float]) -> Tracked:
        if not math.isfinite(self.value):
            return self._outside(self.error == 0.0)
        value = function(self.value)
        # The slope is at most 1, and two values are never further apart than 2.
        return Tracked(value, min(self.error, 2.0 / UNIT) + 4.0 * abs(value) + TINY)

    def erf(self) -> Tracked:
        """The error function, with the same allowance for the C library."""
        if not math.isfinite(self.value):
            return self._outside(self.error == 0.0)
        value = math.erf(self.value)
        # The slope is 2 / sqrt(pi) * exp(-x^2), and 1.13 is above 2 / sqrt(pi).
        least = max(abs(self.value) - UNIT * self.error, 0.0)
        slope = 1.13 * math.exp(-least * least)
        return Tracked(value, slope * self.error + 4.0 * abs(value) + TINY)

    def log_of_weight(self) -> Tracked:
        """The logarithm; unknown of an exact 0, so that 0 times it is 0."""
        return UNKNOWN if self.is_zero else self.log()

    def _outside(self, certain: bool) -> Tracked:
        return Tracked(math.nan, 0.0 if certain else _INFINITE)


def _at_infinity(value: float, left: Tracked, right: Tracked, *, factors: bool = False) -> Tracked:
    """The result of an operation where something is infinite or NaN.

    It is exact where only exact infinities (masked scores) made it so; of
    ``factors``, the sign of the finite one must be certain too. Otherwise
    nothing is known.
    """
    exact = not (math.isfinite(left.value) and math.isfinite(right.value))
    for operand in (left, right):
        if not math.isfinite(operand.value):
            exact = exact and operand.error == 0.0
        else:
            room = abs(operand.value) if factors else _INFINITE
            exact = exact and room > UNIT * operand.error
    return Tracked(value, 0.0 if exact else _INFINITE)


#: A number that nothing is known of, and what certainly is none.
UNKNOWN, NOTHING = Tracked(math.nan, _INFINITE), Tracked(math.nan)
#: Half a turn: the float nearest to pi is within one rounding of it.
PI = Tracked(math.pi, math.pi)


def tracked(number: Fraction) -> Tracked:
    """The float nearest to an exact rational, marked exact where it is.

    >>> tracked(Fraction(1, 4)), tracked(Fraction(1, 3))
    (Tracked(0.25, 0.0), Tracked(0.3333333333333333, 0.3333333333333333))
    """
    try:
        value = float(number)
    except OverflowError:
        return Tracked(_INFINITE if number > 0 else -_INFINITE, _INFINITE)
    return Tracked(value, 0.0 if Fraction(value) == number else abs(value) + TINY, number)


# -- tracked floats that move ------------------------------------------------------------
# A number with its slope along one direction.
#
# The definitions run in these as in every other scalar. What comes out beside the number is how
# it changes, with a bound on its error: so a gradient in dual numbers gives second derivatives
# (A. Griewank and A. Walther, *Evaluating Derivatives*, 2nd ed., section 5.3).

_ZERO = Tracked(0.0)


def _moving(
    name: str, slope: Callable[[Tracked, Tracked, Tracked], Tracked]
) -> Callable[[Any], Tracked]:
    """A function of a number that moves: by how that moves, the number, and what it is there."""

    def function(self: Dual) -> Tracked:
        value: Tracked = getattr(self.plain, name)()
        return Dual(value, slope(self.slope, self.plain, value))

    return function


class Dual(Tracked):
    """A tracked float with its slope, a tracked float too. Where it meets a kink, or may, its
    slope is unknown.

    >>> x = Dual(Tracked(3.0), Tracked(1.0))
    >>> (x * x).slope.value, (1 / x).slope.value, abs(-x).slope.value
    (6.0, -0.1111111111111111, 1.0)
    """

    __slots__ = ("plain", "slope")

    def __init__(self, plain: Tracked, slope: Tracked) -> None:
        super().__init__(plain.value, plain.error, plain.exact)
        self.plain = plain
        self.slope = slope

    def __add__(self, other: Any) -> Tracked:
        return Dual(self.plain + plain_of(other), self.slope + slope_of(other))

    __radd__ = __add__

    def __rsub__(self, other: Any) -> Tracked:
        return Dual(plain_of(other) - self.plain, slope_of(other) - self.slope)

    def __neg__(self) -> Tracked:
        return Dual(-self.plain, -self.slope)

    def __mul__(self, other: Any) -> Tracked:
        right = plain_of(other)
        return Dual(self.plain * right, self.slope * right + self.plain * slope_of(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Tracked:
        below = plain_of(other)
        quotient = self.plain / below
        return Dual(quotient, (self.slope - quotient * slope_of(other)) / below)

    def __rtruediv__(self, other: Any) -> Tracked:
        return Dual(plain_of(other), slope_of(other)) / self

    def _side(self, other: Any) -> int:
        return self.plain._side(self.plain if other is self else plain_of(other))

    __hash__ = object.__hash__

    def __abs__(self) -> Tracked:
        try:
            side = self.plain._side(0.0)
        except CannotTell:
            side = 0
        return Dual(abs(self.plain), self.slope * float(side) if side else _kink(self.slope))

    def extreme(self, other: Any, way: int) -> Tracked:
        """See :meth:`Tracked.extreme`; of two that are equal, or may be, the slope is known where
        they move together."""
        right = plain_of(other)
        apart = self.slope - slope_of(other)
        try:
            side = way * self.plain._side(right)
        except CannotTell:
            return Dual(self.plain.extreme(right, way), UNKNOWN)
        if side:
            return self if side > 0 else Dual(right, slope_of(other))
        return self if apart.is_zero else Dual(self.plain, UNKNOWN)

    exp = _moving("exp", lambda g, x, y: g * y)
    log = _moving("log", lambda g, x, y: g / x)
    sqrt = _moving("sqrt", lambda g, x, y: g / (y * 2.0))
    tanh = _moving("tanh", lambda g, x, y: g * (1.0 - y * y))
    sin = _moving("sin", lambda g, x, y: g * x.cos())
    cos = _moving("cos", lambda g, x, y: -(g * x.sin()))
    erf = _moving("erf", lambda g, x, y: g * ((-(x * x)).exp() * 2.0 / PI.sqrt()))

    def log_of_weight(self) -> Tracked:
        """See :meth:`Tracked.log_of_weight`."""
        return UNKNOWN if self.is_zero else self.log()


def _kink(slope: Tracked) -> Tracked:
    return _ZERO if slope.is_zero else UNKNOWN


def plain_of(number: Any) -> Tracked:
    """A number without its slope."""
    if isinstance(number, Dual):
        return number.plain
    return number if number.__class__ is Tracked else Tracked(float(number))


def slope_of(number: Any) -> Tracked:
    """Return how a number changes: 0 where it is a constant."""
    return number.slope if isinstance(number, Dual) else _ZERO
