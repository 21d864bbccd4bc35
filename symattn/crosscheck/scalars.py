"""The scalars that the definitions run in.

The same definition is run on five kinds of scalar: Python's ``float``,
:class:`Tracked` (a float with a bound on its error), such floats that move (:class:`Dual`),
complex NumPy vectors (one component per perturbed entry), and numbers of any of these kinds
that note what they are made of (:class:`Noted`). Only the functions behind
them have to know which one they are given.

The running error analysis is that of J. H. Wilkinson; see N. J. Higham,
*Accuracy and Stability of Numerical Algorithms*, 2nd ed., section 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial, reduce
from typing import Any

import numpy as np

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

    The true value lies within ``UNIT * error`` of ``value``. An error of 0 means exact; an infinite
    error means that nothing is known (overflow, a divisor that may be zero). The value NaN with
    error 0 is certain to have no value, such as ``1 / 0``. Products of numbers by an exact 0 are an
    exact 0. ``exact`` is the true value where it is known as a fraction.

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
            other = _lifted(other)
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
            other = _lifted(other)
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
            other = _lifted(other)
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
        return _lifted(other) / self

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
        right = plain_of(other)
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
        if isinstance(other, Dual):
            # What moves knows how the lesser one does, too.
            return other.extreme(self, way)
        right: Tracked = other if other.__class__ is Tracked else _lifted(other)
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
        """The hyperbolic tangent, whose slope is 1 / cosh^2."""
        return self._by_slope(math.tanh, lambda x: 4.0 * math.exp(-2.0 * x) if x > 1.0 else 1.0)

    def sin(self) -> Tracked:
        """The sine, whose slope is at most 1; two values are never further apart than 2."""
        return self._by_slope(math.sin, lambda x: 1.0, 2.0 / UNIT)

    def cos(self) -> Tracked:
        """The cosine, likewise."""
        return self._by_slope(math.cos, lambda x: 1.0, 2.0 / UNIT)

    def erf(self) -> Tracked:
        """The error function, whose slope is 2 / sqrt(pi) * exp(-x^2)."""
        # 1.13 is above 2 / sqrt(pi).
        return self._by_slope(math.erf, lambda x: 1.13 * math.exp(-x * x))

    def _by_slope(
        self,
        function: Callable[[float], float],
        slope: Callable[[float], float],
        most: float = _INFINITE,
    ) -> Tracked:
        """A function of all numbers by a bound on its slope, which is largest nearest to 0, and the
        ``most`` that it moves. The C library's result is off by up to two units in the last
        place, each up to two of ours."""
        if not math.isfinite(self.value):
            return self._outside(self.error == 0.0)
        value = function(self.value)
        nearest = max(abs(self.value) - UNIT * self.error, 0.0)
        moves = min(slope(nearest) * self.error, most)
        return Tracked(value, moves + 4.0 * abs(value) + TINY)

    def log_of_weight(self) -> Tracked:
        """The logarithm; unknown of an exact 0, so that 0 times it is 0."""
        return UNKNOWN if self.is_zero else self.log()

    def _outside(self, certain: bool) -> Tracked:
        return Tracked(math.nan, 0.0 if certain else _INFINITE)


def _lifted(number: Any) -> Tracked:
    return tracked(number) if isinstance(number, Fraction) else Tracked(float(number))


def _at_infinity(value: float, left: Tracked, right: Tracked, *, factors: bool = False) -> Tracked:
    """The result of an operation where something is infinite or NaN.

    It is exact where only exact infinities (masked scores) made it so; of ``factors``, the sign of
    the finite one must be certain too. Otherwise nothing is known.
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


# -- functions of every kind of scalar ---------------------------------------------------
Function = Callable[[Any], Any]


def _smooth(name: str) -> Function:
    """A function that all kinds of scalar have by that name."""
    of_floats, of_vectors = getattr(math, name), getattr(np, name)

    def function(x: Any) -> Any:
        if isinstance(x, Tracked):
            return getattr(x, name)()
        return of_vectors(x) if isinstance(x, np.ndarray) else of_floats(x)

    return function


exp: Function = _smooth("exp")
log: Function = _smooth("log")
tanh: Function = _smooth("tanh")
sin: Function = _smooth("sin")
cos: Function = _smooth("cos")


def ln(x: Any) -> Any:
    """The natural logarithm of a weight, by which it is multiplied: 0 ln 0 is 0, and has no
    slope there.

    >>> 0.0 * ln(0.0), (Tracked(0.0) * ln(Tracked(0.0))).error
    (0.0, 0.0)
    """
    if isinstance(x, Tracked):
        return x.log_of_weight()
    if isinstance(x, np.ndarray):
        return np.log(np.where(x == 0, 1, _sloped(x)))
    return math.log(x) if x else 0.0


def sqrt(x: Any) -> Any:
    """The square root, which has no slope at 0.

    >>> sqrt(4.0), sqrt(Tracked(4.0)).value
    (2.0, 2.0)
    """
    if isinstance(x, Tracked):
        return x.sqrt()
    return np.sqrt(_sloped(x)) if isinstance(x, np.ndarray) else math.sqrt(x)


def erf(x: Any) -> Any:
    """The error function.

    Of a complex vector it is the value and the slope times what moves: NumPy has no
    complex one, and the square of a complex step is far below the last place.

    >>> erf(0.0), erf(Tracked(0.0)).value
    (0.0, 0.0)
    """
    if isinstance(x, Tracked):
        return x.erf()
    if isinstance(x, np.ndarray):
        place = _place(x)
        slope = 2.0 / math.sqrt(math.pi) * math.exp(-place * place)
        return _vector(math.erf(place), slope * x.imag)
    return math.erf(x)


def sign(x: Any) -> Any:
    """-1, 0 or 1, which doesn't move.

    >>> sign(-3.0), sign(Tracked(0.0)).value
    (-1.0, 0.0)
    """
    if isinstance(x, Tracked):
        return x.sign()
    place = _place(x)
    return math.nan if math.isnan(place) else float((place > 0) - (place < 0))


def magnitude(x: Any) -> Any:
    """The absolute value.

    >>> magnitude(-3.0), magnitude(Tracked(-3.0)).value
    (3.0, 3.0)
    """
    return abs(x) if isinstance(x, Tracked) else _further(x, -x, 1)


def _place(x: Any) -> Any:
    """Return where a number or a complex vector is, however it moves; components that have met
    a kink know nothing any more."""
    if not isinstance(x, np.ndarray):
        return x
    return float(x.real[int(np.argmin(np.isnan(x.real)))])


def _sloped(x: Any) -> Any:
    """A complex vector for a function that has no slope at 0: what moves from there would get
    a real part."""
    return np.where((x.real == 0) & (x.imag != 0), math.nan, x)


def _vector(place: float, moves: Any) -> Any:
    """The complex vector at a place, with what its components move by."""
    vector = np.full(len(moves), complex(place))
    vector.imag = moves
    return vector


def _further(x: Any, y: Any, way: int) -> Any:
    """The one of two that lies further on the way, up (1) or down (-1); where both are
    the same and move apart there is no slope."""
    if isinstance(x, Tracked):
        return x.extreme(y, way)
    if isinstance(y, Tracked):
        return y.extreme(x, way)
    left, right = way * _place(x), way * _place(y)
    if left != right:
        return x if left > right or math.isnan(left) else y
    moves = [item.imag if isinstance(item, np.ndarray) else 0.0 for item in (x, y)]
    together = moves[0] == moves[1]
    return x if np.all(together) else _vector(_place(x), np.where(together, moves[0], math.nan))


def _extreme(*numbers: Any, way: int, is_shared: bool = True) -> Any:
    row = numbers[0] if len(numbers) == 1 else numbers
    for number in row:
        if isinstance(number, Noted):
            return number.greatest_of(row, way, is_shared)
    return reduce(partial(_further, way=way), row)


#: The greatest and the least of some numbers, or of a row of them: those that are equal share
#: what flows back evenly, as in PyTorch's amax.
greatest, least = partial(_extreme, way=1), partial(_extreme, way=-1)
#: The same, where the first one of those that are equal has all that flows back.
first_greatest, first_least = (partial(_extreme, way=way, is_shared=False) for way in (1, -1))


# -- the chain rule ----------------------------------------------------------------------
# What becomes of a small change on its way through an operation, once for both directions:
# forwards, where a number carries its slope, and backwards, along what numbers have noted
# (A. Griewank and A. Walther, *Evaluating Derivatives*, 2nd ed., chapters 3 and 5).

#: What becomes of a change of a number in one that is made of it, and of what flows back.
Edge = Function


def _chained(function: Function, slope: Callable[[Any, Any, Any], Any]) -> Function:
    """A function of a number in the chain rule: by the change, the number, and what it is there."""

    def made(self: Chained) -> Any:
        x = self.plain
        y = function(x)
        return self._made(y, (self, lambda change: slope(change, x, y)))

    return made


class Chained(Tracked):
    """A number of another kind, ``plain``, that follows the chain rule.

    It derives from the other scalars so that Python asks it first how it goes with them.
    """

    __slots__ = ("plain",)
    # Vectors leave operations with it to it.
    __array_ufunc__ = None
    plain: Any
    #: What becomes of a change where an absolute value has its kink.
    _kink: Edge

    def _made(self, value: Any, *edges: tuple[Any, Edge]) -> Any:
        """A number of this kind that is made of others; those of another kind are constants."""
        raise NotImplementedError

    def _with(self, other: Any) -> tuple[Chained, Any, Any]:
        """Return the one of two that their result is of the kind of, and both without that."""
        if other.__class__ is self.__class__:
            return self, self.plain, other.plain
        if isinstance(other, Noted):
            return other, self, other.plain
        return self, self.plain, other

    def __add__(self, other: Any) -> Any:
        kind, x, y = self._with(other)
        return kind._made(x + y, (self, _same), (other, _same))

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self._made(-self.plain, (self, _minus))

    def __sub__(self, other: Any) -> Any:
        kind, x, y = self._with(other)
        return kind._made(x - y, (self, _same), (other, _minus))

    def __rsub__(self, other: Any) -> Any:
        return self._made(other - self.plain, (self, _minus))

    def __mul__(self, other: Any) -> Any:
        kind, x, y = self._with(other)
        return kind._made(
            x * y, (self, lambda change: change * y), (other, lambda change: change * x)
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        kind, x, below = self._with(other)
        quotient = x / below
        return kind._made(
            quotient,
            (self, lambda change: change / below),
            (other, lambda change: -(change * quotient) / below),
        )

    def __rtruediv__(self, other: Any) -> Any:
        below = self.plain
        quotient = other / below
        return self._made(quotient, (self, lambda change: -(change * quotient) / below))

    def __pow__(self, exponent: Any) -> Any:
        base = self.plain
        power = base**exponent
        if not isinstance(exponent, int):
            # The base is above 0.
            return self._made(power, (self, lambda change: change * exponent * power / base))
        if exponent == 0:
            return self._made(power)
        return self._made(power, (self, lambda change: change * exponent * base ** (exponent - 1)))

    def __abs__(self) -> Any:
        edges = {1: _same, -1: _minus, 0: self._kink, None: _lost}
        return self._made(magnitude(self.plain), (self, edges[_side(self.plain, 0)]))

    exp = _chained(exp, lambda g, x, y: g * y)
    log = _chained(log, lambda g, x, y: g / x)
    sqrt = _chained(sqrt, lambda g, x, y: g / (y * 2.0))
    tanh = _chained(tanh, lambda g, x, y: g * (1.0 - y * y))
    sin = _chained(sin, lambda g, x, y: g * cos(x))
    cos = _chained(cos, lambda g, x, y: -(g * sin(x)))
    erf = _chained(erf, lambda g, x, y: g * 2.0 / sqrt(_pi(x)) * exp(-(x * x)))

    def log_of_weight(self) -> Any:
        """See :meth:`Tracked.log_of_weight`; at 0 it doesn't move."""
        return ln(self.plain) if _side(self.plain, 0) == 0 else self.log()


def _pi(beside: Any) -> Any:
    return PI if isinstance(beside, Tracked) else math.pi


def _same(change: Any) -> Any:
    return change


def _minus(change: Any) -> Any:
    return -change


def _lost(change: Any) -> Any:
    """Nothing is known of it, but where it is none."""
    return change * UNKNOWN


def _side(x: Any, y: Any) -> int | None:
    """1 where a number lies above another, -1 below, 0 where they are the same; None where that
    can't be told."""
    try:
        if isinstance(x, Tracked):
            return x._side(y)
        if isinstance(y, Tracked):
            return -y._side(x)
    except CannotTell:
        return None
    left, right = _place(x), _place(y)
    return int(left > right) - int(left < right)


_ZERO = Tracked(0.0)


class Dual(Chained):
    """A tracked float with its slope along one direction, a tracked float too. Where it meets a
    kink, or may, its slope is unknown.

    So a gradient in dual numbers gives second derivatives, with bounds.

    >>> x = Dual(Tracked(3.0), Tracked(1.0))
    >>> (x * x).slope.value, (1 / x).slope.value, abs(-x).slope.value
    (6.0, -0.1111111111111111, 1.0)
    """

    __slots__ = ("slope",)
    _kink = staticmethod(_lost)

    def __init__(self, plain: Tracked, slope: Tracked) -> None:
        super().__init__(plain.value, plain.error, plain.exact)
        self.plain = plain
        self.slope = slope

    def _made(self, value: Any, *edges: tuple[Any, Edge]) -> Dual:
        moving = (edge(of.slope) for of, edge in edges if isinstance(of, Dual))
        return Dual(value, sum(moving, _ZERO))

    def _side(self, other: Any) -> int:
        plain: Tracked = self.plain
        return plain._side(plain if other is self else plain_of(other))

    __hash__ = object.__hash__

    def extreme(self, other: Any, way: int) -> Tracked:
        """See :meth:`Tracked.extreme`; of two that are equal, or may be, the slope is known where
        they move together."""
        right = plain_of(other)
        side = _side(self.plain, right)
        if side is None:
            return Dual(self.plain.extreme(right, way), UNKNOWN)
        if side:
            return self if way * side > 0 else Dual(right, slope_of(other))
        return self if (self.slope - slope_of(other)).is_zero else Dual(self.plain, UNKNOWN)


def plain_of(number: Any) -> Tracked:
    """A number without its slope."""
    if isinstance(number, Dual):
        number = number.plain
    return number if number.__class__ is Tracked else _lifted(number)


def slope_of(number: Any) -> Tracked:
    """Return how a number changes: 0 where it is a constant."""
    return number.slope if isinstance(number, Dual) else _ZERO


class Noted(Chained):
    """A number of any kind, with the numbers that it is made of.

    A definition is run on such numbers; what arrives at its results is then sent back along the
    notes, last one first. ``journal`` has all that were made, in their order. What is agreed
    where there is no derivative holds here: at its kink an absolute value passes nothing on.

    >>> journal = []
    >>> x = Noted(3.0, journal)
    >>> y = x * x + 1 / x
    >>> sent_back(journal, [(y, 1.0)])
    >>> round(x.arrived, 4)
    5.8889
    """

    __slots__ = ("arrived", "edges", "journal")

    @staticmethod
    def _kink(change: Any) -> Any:
        return change * 0.0

    def __init__(
        self, plain: Any, journal: list[Noted], edges: Sequence[tuple[Noted, Edge]] = ()
    ) -> None:
        self.plain, self.journal, self.edges = plain, journal, edges
        self.arrived: Any = None
        journal.append(self)

    def _made(self, value: Any, *edges: tuple[Any, Edge]) -> Noted:
        noted = [(of, edge) for of, edge in edges if isinstance(of, Noted)]
        return Noted(value, self.journal, noted)

    def greatest_of(self, row: Sequence[Any], way: int, is_shared: bool) -> Noted:
        """The greatest number of a row (``way`` 1) or the least (-1). Of several that are equal
        each passes an even share on, or the first all of it."""
        inner = [number.plain if isinstance(number, Noted) else number for number in row]
        value = reduce(partial(_further, way=way), inner)
        sides = [_side(number, value) for number in inner]
        reaching = [x for x, side in zip(row, sides, strict=True) if side in (0, None)]
        if None in sides:
            return self._made(value, *((x, _lost) for x in reaching))
        if len(reaching) == 1 or not is_shared:
            return self._made(value, (reaching[0], _same))
        return self._made(value, *((x, lambda change: change / len(reaching)) for x in reaching))


def sent_back(journal: Sequence[Noted], arriving: Sequence[tuple[Any, Any]]) -> None:
    """Send what arrives at results back to all that they are made of.

    Each number then has what ``arrived`` at it, None where nothing did.
    """
    for result, flow in arriving:
        if isinstance(result, Noted):
            result.arrived = flow if result.arrived is None else result.arrived + flow
    for number in reversed(journal):
        if number.arrived is None:
            continue
        for of, edge in number.edges:
            sent = edge(number.arrived)
            of.arrived = sent if of.arrived is None else of.arrived + sent
