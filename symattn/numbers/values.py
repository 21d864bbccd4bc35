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
from functools import cached_property

from flint import arb, fmpq

from symattn.errors import Malformed, Undecided
from symattn.formulas import Formula, latex, text
from symattn.numbers import forms, functions, quotients, signs, sums
from symattn.numbers.forms import Names
from symattn.numbers.quotients import Parts
from symattn.numbers.rounding import decimal, float_format, nearest, significant
from symattn.numbers.sums import UNIT, Symbol
from symattn.verdicts import Verdict


@dataclass(frozen=True, eq=False)
class Value:
    """An exact number, or an exact linear form where symbols occur.

    >>> from symattn.numbers.reading import read
    >>> e = read("1").exp()
    >>> print(e / (e + read("1/2").exp() + read(1)))
    e/(1 + sqrt(e) + e)
    >>> (read("sqrt(8)") - read("2*sqrt(2)")).is_zero() is Verdict.HOLDS
    True
    """

    parts: Parts

    # -- arithmetic ---------------------------------------------------------

    def __add__(self, other: Value) -> Value:
        return total((self, other))

    def __neg__(self) -> Value:
        return Value({d: sums.scale(t, fmpq(-1)) for d, t in self.parts.items()})

    def __sub__(self, other: Value | fmpq) -> Value:
        return total((self, -other if isinstance(other, Value) else rational(-other)))

    def __mul__(self, other: Value) -> Value:
        return sum_of_products(((self, other),))

    def __truediv__(self, other: Value) -> Value:
        return self * other.inverse()

    def inverse(self) -> Value:
        """``1 / self``; :class:`Malformed` for zero."""
        verdict = self.is_zero()
        if verdict is Verdict.HOLDS:
            raise Malformed("division by zero")
        if verdict is Verdict.UNDECIDED:
            raise Undecided(f"can't decide whether the divisor {self} is zero")
        return Value(quotients.inverse(self.parts))

    def exp(self) -> Value:
        """``e ** self``."""
        return Value(functions.exp(self.parts))

    def log(self) -> Value:
        """The natural logarithm of a positive value."""
        if self.sign() <= 0:
            raise Malformed(f"the logarithm of {self}, which is not positive")
        return Value(functions.log(self.parts))

    def sqrt(self) -> Value:
        """The square root of a non-negative value."""
        sign = self.sign()
        if sign < 0:
            raise Malformed(f"the square root of {self}, which is negative")
        return Value(functions.sqrt(self.parts)) if sign else ZERO

    # -- questions ----------------------------------------------------------

    def is_zero(self) -> Verdict:
        """Whether the value is zero, decided by its normal form.

        ``undecided`` only for values with opaque numbers in them.
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
            raise Malformed(f"{self} is not linear in its symbols")

    # -- numbers ------------------------------------------------------------

    def decimal(self, places: int = 4, rounding: str = "half-even") -> Decimal:
        """The number to ``places`` decimal places, correctly rounded.

        >>> ONE.exp().decimal(6), rational(fmpq(1, 8)).decimal(2, "half-up")
        (Decimal('2.718282'), Decimal('0.13'))
        """
        return decimal(self, places, rounding)

    def significant(self, digits: int = 6, rounding: str = "half-even") -> Decimal:
        """The number to ``digits`` significant digits, correctly rounded."""
        return significant(self, digits, rounding)

    def nearest(self, name: str = "float64") -> float:
        """The nearest ``float64``, ``float32``, ``float16`` or ``bfloat16``.

        >>> rational(fmpq(1, 3)).nearest("bfloat16")
        0.333984375
        """
        return nearest(self, float_format(name))

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

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {latex(self.formula())}$"


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
