"""Exact values: quotients of exponential sums, in a readable normal form.

A value is a sum of parts ``numerator / (D_1^k_1 D_2^k_2 ...)``. Every
denominator is a :class:`Normaliser`, a primitive exponential sum such as
``1 + sqrt(e) + e``, kept whole: what a softmax row divides by stays one named
thing, through sums, products and gradients, instead of being multiplied out.

Equality is decided (:func:`compare`): the difference over one common
denominator is zero exactly when its numerator has no terms left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import comb
from numbers import Real
from typing import NoReturn

from flint import arb, fmpq, fmpz

from symattn.errors import Malformed, Undecided
from symattn.formulas import Formula, latex, text
from symattn.numbers import forms, functions, quotients, rationals, signs, sums
from symattn.numbers.forms import Names
from symattn.numbers.quotients import Parts
from symattn.numbers.rounding import (
    FloatFormat,
    RoundingMode,
    decimal,
    float_format,
    nearest,
    significant,
)
from symattn.numbers.signs import MAX_EXPANSION
from symattn.numbers.sums import UNIT, Symbol
from symattn.verdicts import Verdict

#: Largest power that is worked out.
MAX_POWER = 1000


@dataclass(frozen=True, eq=False)
class Value:
    """An exact number, or an exact linear form where symbols occur.

    Values add, multiply and compare with each other and with integers,
    Fractions and Decimals. ``==``, ``<`` and ``bool()`` decide exactly, or
    raise :class:`~symattn.errors.Undecided`; :func:`compare` has three answers.
    A float is refused, and no value becomes one unasked.

    >>> e = rational(1).exp()
    >>> print(e / (1 + rational(fmpq(1, 2)).exp() + e))
    e/(1 + sqrt(e) + e)
    >>> rational(8).sqrt() == 2 * rational(2).sqrt(), 19 * e > Fraction(516, 10)
    (True, True)
    >>> e == 2.71828
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: 2.71828 is a float, not an exact number: write '2.71828' as text, \
Decimal('2.71828') or a Fraction, or take its binary value with symattn.from_floats
    """

    parts: Parts

    # NumPy leaves sums of its numbers with a value to the value.
    __array_ufunc__ = None

    # -- arithmetic ---------------------------------------------------------

    def __add__(self, other: Operand) -> Value:
        right = _operand(other)
        return NotImplemented if right is None else total((self, right))

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Value:
        right = _operand(other)
        return NotImplemented if right is None else total((self, -right))

    def __rsub__(self, other: Operand) -> Value:
        left = _operand(other)
        return NotImplemented if left is None else total((left, -self))

    def __mul__(self, other: Operand) -> Value:
        right = _operand(other)
        return NotImplemented if right is None else sum_of_products(((self, right),))

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Value:
        right = _operand(other)
        return NotImplemented if right is None else self * right.inverse()

    def __rtruediv__(self, other: Operand) -> Value:
        left = _operand(other)
        return NotImplemented if left is None else left * self.inverse()

    def __pow__(self, exponent: int) -> Value:
        if not isinstance(exponent, int):
            return NotImplemented
        if exponent < 0:
            return self.inverse() ** -exponent
        if exponent == 0:
            return ONE
        half, terms = exponent // 2, max(1, sum(map(len, self.parts.values())))
        # So many terms has the half power; squaring it is most of the work.
        if exponent > MAX_POWER or comb(terms + half - 1, half) ** 2 > MAX_EXPANSION:
            raise Malformed(f"{self!r} to the power of {exponent} is too long to work out")
        root = self**half
        return root * root * self if exponent % 2 else root * root

    def __neg__(self) -> Value:
        return Value({d: sums.scale(t, fmpq(-1)) for d, t in self.parts.items()})

    def __abs__(self) -> Value:
        return -self if self.sign() < 0 else self

    def inverse(self) -> Value:
        """``1 / self``; :class:`Malformed` for zero."""
        verdict = self.is_zero()
        if verdict is Verdict.HOLDS:
            raise Malformed("division by zero")
        if verdict is Verdict.UNDECIDED:
            raise Undecided(f"can't decide whether the divisor {self!r} is zero")
        return Value(quotients.inverse(self.parts))

    def exp(self) -> Value:
        """``e ** self``."""
        return Value(functions.exp(self.parts))

    def log(self) -> Value:
        """The natural logarithm of a positive value."""
        if self.sign() <= 0:
            raise Malformed(f"the logarithm of {self!r}, which is not positive")
        return Value(functions.log(self.parts))

    def sqrt(self) -> Value:
        """The square root of a non-negative value."""
        sign = self.sign()
        if sign < 0:
            raise Malformed(f"the square root of {self!r}, which is negative")
        return Value(functions.sqrt(self.parts)) if sign else ZERO

    def tanh(self) -> Value:
        """The hyperbolic tangent, a quotient of exponentials.

        >>> ONE.tanh()
        (e^2 - 1)/(1 + e^2)
        """
        power = (self + self).exp()
        return (power - ONE) / (power + ONE)

    # -- questions ----------------------------------------------------------

    def __bool__(self) -> bool:
        verdict = self.is_zero()
        if verdict is Verdict.UNDECIDED:
            raise Undecided(f"can't decide whether {self!r} is zero")
        return verdict is Verdict.REFUTED

    # Equal values may have different parts, so there is no hash.
    def __eq__(self, other: object) -> bool:
        right = _operand(other)
        return NotImplemented if right is None else not self - right

    def __lt__(self, other: Operand) -> bool:
        right = _operand(other)
        return NotImplemented if right is None else (self - right).sign() < 0

    def __le__(self, other: Operand) -> bool:
        right = _operand(other)
        return NotImplemented if right is None else (self - right).sign() <= 0

    def __gt__(self, other: Operand) -> bool:
        right = _operand(other)
        return NotImplemented if right is None else (self - right).sign() > 0

    def __ge__(self, other: Operand) -> bool:
        right = _operand(other)
        return NotImplemented if right is None else (self - right).sign() >= 0

    def is_zero(self) -> Verdict:
        """Whether the value is zero, decided by its normal form.

        ``undecided`` only for values with opaque numbers in them, and those
        that would take too long to bring over one denominator.
        """
        return signs.is_zero(self.parts)

    def sign(self) -> int:
        """-1, 0 or 1."""
        return signs.sign(self.parts)

    def rational(self) -> fmpq | None:
        """The value as a rational number, if its normal form shows it is one."""
        if not self.parts:
            return fmpq(0)
        if len(self.parts) == 1:
            held = self.parts.get(())
            if held is not None and len(held) == 1:
                return held.get(UNIT)
        return None

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The symbols that occur, sorted."""
        return quotients.symbols(self.parts)

    @property
    def has_symbols(self) -> bool:
        """Whether the value is a form in symbols rather than a number."""
        return bool(self.symbols)

    @property
    def is_linear_form(self) -> bool:
        """Whether symbols occur, at most one in each term and none below."""
        return quotients.is_linear(self.parts)

    def coefficient(self, symbol: str | None) -> Value:
        """What stands before ``symbol`` in a linear form; None: the constant.

        :class:`Malformed` if the value is not linear in its symbols.
        """
        self._need_linear()
        return Value(quotients.coefficient(self.parts, symbol))

    def _need_linear(self) -> None:
        if self.has_symbols and not self.is_linear_form:
            raise Malformed(f"{self!r} is not linear in its symbols")

    # -- numbers ------------------------------------------------------------

    def decimal(self, places: int = 4, rounding: RoundingMode = "half-even") -> Decimal:
        """The number to ``places`` decimal places, correctly rounded.

        >>> ONE.exp().decimal(6), rational(fmpq(1, 8)).decimal(2, "half-up")
        (Decimal('2.718282'), Decimal('0.13'))
        """
        return decimal(self, places, rounding)

    def significant(self, digits: int = 6, rounding: RoundingMode = "half-even") -> Decimal:
        """The number to ``digits`` significant digits, correctly rounded."""
        return significant(self, digits, rounding)

    def nearest(self, name: FloatFormat = "float64") -> float:
        """The nearest ``float64``, ``float32``, ``float16`` or ``bfloat16``.

        >>> rational(fmpq(1, 3)).nearest("bfloat16")
        0.333984375
        """
        return nearest(self, float_format(name))

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(
            "an exact value is not rounded unasked: write value.nearest('float64') for a "
            "float, value.decimal(4) for digits"
        )

    __float__ = __int__ = __complex__ = __array__ = _refuse

    @property
    def value(self) -> Value:
        """The value itself: it is a :class:`~symattn.numbers.rounding.Real`."""
        return self

    def ball(self, bits: int) -> arb:
        """An enclosure computed at ``bits`` bits; :class:`Malformed` with symbols."""
        return signs.enclosure(self.parts, bits)

    # -- form ---------------------------------------------------------------

    def formula(self, names: Names | None = None) -> Formula:
        """The closed form; normalisers in ``names`` appear by name."""
        return forms.formula(self.parts, names)

    def linear_form(self, shown_as: Callable[[Value], Formula]) -> Formula:
        """Coefficient times symbol, the coefficients shown by the function.

        :class:`Malformed` if the value is not linear in its symbols.
        """
        self._need_linear()
        return forms.linear_form(self.parts, lambda parts: shown_as(Value(parts)))

    def __str__(self) -> str:
        return text(self.formula())

    def __repr__(self) -> str:
        return forms.short(self.parts)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {latex(self.formula())}$"


#: What may stand beside a value in a sum, a product or a comparison.
Operand = Value | int | Fraction | Decimal | fmpq | fmpz


def _operand(number: object) -> Value | None:
    """A number beside a value, as a value; None for what is no number."""
    if isinstance(number, Value):
        return number
    found = rationals.from_number(number)
    if found is None and isinstance(number, Real):
        raise Malformed(rationals.refusal(float(number)))
    return None if found is None else rational(found)


ZERO = Value({})
ONE = Value({(): sums.constant(1)})


def rational(value: fmpq | int) -> Value:
    """A rational number as a value."""
    return Value({(): sums.constant(value)}) if value else ZERO


def symbol(name: str) -> Value:
    """A symbol as a value: algebraically independent of every number."""
    return Value({(): {((), 1, ((Symbol(name), 1),)): fmpq(1)}})


def compare(left: Value, right: Value) -> Verdict:
    """Whether two values are equal.

    >>> compare(ONE.exp() * (-ONE).exp(), ONE)
    <Verdict.HOLDS: 'holds'>
    """
    return (left - right).is_zero()


def total(values: Iterable[Value]) -> Value:
    """The sum of the values, brought to normal form once."""
    return Value(quotients.total(value.parts for value in values))


def sum_of_products(pairs: Iterable[tuple[Value, Value]]) -> Value:
    """``sum(a * b)``, brought to normal form once: an entry of a product."""
    return Value(quotients.sum_of_products((a.parts, b.parts) for a, b in pairs))
