"""Tracked floats that move: a number with its slope along one direction.

The definitions run in these as in every other scalar. What comes out beside the number is
how it changes, with a bound on its error: so a gradient in dual numbers gives second
derivatives (A. Griewank and A. Walther, *Evaluating Derivatives*, 2nd ed., section 5.3).
"""

from __future__ import annotations

from typing import Any

from symattn.crosscheck.scalars import PI, UNKNOWN, CannotTell, Tracked

_ZERO = Tracked(0.0)


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

    def exp(self) -> Tracked:
        """See :meth:`Tracked.exp`."""
        value = self.plain.exp()
        return Dual(value, value * self.slope)

    def log(self) -> Tracked:
        """See :meth:`Tracked.log`."""
        return Dual(self.plain.log(), self.slope / self.plain)

    def sqrt(self) -> Tracked:
        """See :meth:`Tracked.sqrt`."""
        root = self.plain.sqrt()
        return Dual(root, self.slope / (root * 2.0))

    def tanh(self) -> Tracked:
        """See :meth:`Tracked.tanh`."""
        value = self.plain.tanh()
        return Dual(value, self.slope * (1.0 - value * value))

    def sin(self) -> Tracked:
        """See :meth:`Tracked.sin`."""
        return Dual(self.plain.sin(), self.slope * self.plain.cos())

    def cos(self) -> Tracked:
        """See :meth:`Tracked.cos`."""
        return Dual(self.plain.cos(), -(self.slope * self.plain.sin()))

    def erf(self) -> Tracked:
        """See :meth:`Tracked.erf`."""
        bell = (-(self.plain * self.plain)).exp() * 2.0 / PI.sqrt()
        return Dual(self.plain.erf(), self.slope * bell)

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
    """How a number changes: 0 where it is a constant."""
    return number.slope if isinstance(number, Dual) else _ZERO
