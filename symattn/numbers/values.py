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
from math import isqrt
from typing import Literal

from flint import arb, fmpq

from symattn.errors import Malformed, Undecided
from symattn.formulas import Formula, latex, text
from symattn.numbers import forms, quotients, sums
from symattn.numbers.balls import FIRST, LAST, precision
from symattn.numbers.forms import Names
from symattn.numbers.quotients import Denominator, Opaque, Parts
from symattn.numbers.rounding import decimal, float_format, nearest, significant
from symattn.numbers.sums import UNIT, Atom, Root, Sum, Symbol
from symattn.verdicts import Verdict

#: Most products that are formed to bring a sum over one denominator.
MAX_EXPANSION = 400_000


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
        denominator, numerator = self.over_one_denominator()
        upper = quotients.expanded(denominator)
        unit, rest = quotients.primitive(numerator)
        return Value(
            quotients.simplified({rest: sums.multiply(upper, quotients.inverse_unit(unit))})
        )

    def exp(self) -> Value:
        """``e ** self``."""
        if not self.parts:
            return ONE
        if len(self.parts) == 1 and () in self.parts:
            held = self.parts[()]
            exponent = sums.exponent_of(held)
            if exponent is not None:
                return Value({(): {(exponent, 1, ()): fmpq(1)}})
            if (inner := _under_log(held)) is not None:
                return inner
        if self.has_symbols:
            raise Malformed("an exponential of a symbol is not supported")
        return _opaque("exp", self)

    def log(self) -> Value:
        """The natural logarithm of a positive value."""
        if self.sign() <= 0:
            raise Malformed(f"the logarithm of {self}, which is not positive")
        if monomial := self._only_monomial():
            (exponent, radicand, atoms), q = monomial
            if radicand == 1 and not atoms:
                rest = ZERO if q == 1 else _opaque("log", Value({(): sums.constant(q)}))
                return Value({(): sums.terms_of(exponent)} if exponent else {}) + rest
        return _opaque("log", self)

    def sqrt(self) -> Value:
        """The square root of a non-negative value."""
        sign = self.sign()
        if sign < 0:
            raise Malformed(f"the square root of {self}, which is negative")
        if sign == 0:
            return ZERO
        if monomial := self._only_monomial():
            (exponent, radicand, atoms), q = monomial
            if radicand == 1 and not atoms:
                half = tuple((m, *_halved(p, d)) for m, p, d in exponent)
                root = sums.root_of_rational(q)
                return Value({(): sums.multiply(root, {(half, 1, ()): fmpq(1)})})
        denominator, numerator = self.over_one_denominator()
        if not denominator:
            simple = _denested(numerator)
            return _nested_root(numerator) if simple is None else simple
        below = quotients.expanded(denominator)
        if Value({(): below}).sign() < 0:
            # What the root is divided by must be positive: 1 - e is not.
            below = sums.scale(below, fmpq(-1))
            numerator = sums.scale(numerator, fmpq(-1))
        return _nested_root(sums.multiply(numerator, below)) / Value({(): below})

    # -- questions ----------------------------------------------------------

    def is_zero(self) -> Verdict:
        """Whether the value is zero, decided by its normal form.

        ``undecided`` only for values with opaque numbers in them.
        """
        if not self.parts:
            return Verdict.HOLDS
        if not self.has_symbols:
            ball = self.ball(FIRST)
            if not ball.contains(0):
                return Verdict.REFUTED
        if quotients.expansion(self.parts) <= MAX_EXPANSION:
            _, numerator = self.over_one_denominator()
            if not numerator:
                return Verdict.HOLDS
            if not _opaque_atoms(numerator):
                return Verdict.REFUTED
        if self.has_symbols:
            return Verdict.UNDECIDED
        bits = FIRST
        while bits < LAST:
            bits *= 4
            if not self.ball(bits).contains(0):
                return Verdict.REFUTED
        return Verdict.UNDECIDED

    def sign(self) -> int:
        """-1, 0 or 1."""
        zero = self.is_zero()
        if zero is Verdict.HOLDS:
            return 0
        bits = FIRST
        while bits <= LAST:
            ball = self.ball(bits)
            if ball > 0:
                return 1
            if ball < 0:
                return -1
            bits *= 4
        raise Undecided(f"can't decide the sign of {self}")

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
        if self.has_symbols:
            raise Malformed(f"{self} has symbols in it and is not one number")
        with precision(bits):
            return quotients.ball(self.parts)

    # -- form ---------------------------------------------------------------

    def over_one_denominator(self) -> tuple[Denominator, Sum]:
        """The value as one quotient."""
        return quotients.over_one(self.parts)

    def _only_monomial(self) -> tuple[sums.Monomial, fmpq] | None:
        if len(self.parts) == 1 and len(held := self.parts.get((), {})) == 1:
            return next(iter(held.items()))
        return None

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
    return _of_atom(Symbol(name))


def compare(left: Value, right: Value) -> Verdict:
    """Whether two values are equal.

    >>> compare(ONE.exp() * (-ONE).exp(), ONE)
    <Verdict.HOLDS: 'holds'>
    """
    return (left - right).is_zero()


def total(values: Iterable[Value]) -> Value:
    """The sum of the values, brought to normal form once."""
    parts: Parts = {}
    for value in values:
        for denominator, held in value.parts.items():
            if denominator in parts:
                sums.accumulate(parts[denominator], held)
            else:
                parts[denominator] = dict(held)
    return Value(quotients.simplified(parts))


def sum_of_products(pairs: Iterable[tuple[Value, Value]]) -> Value:
    """``sum(a * b)``, brought to normal form once: an entry of a product."""
    parts: Parts = {}
    for left, right in pairs:
        for d1, t1 in left.parts.items():
            for d2, t2 in right.parts.items():
                denominator = d1 if not d2 else d2 if not d1 else quotients.joined(d1, d2)
                product = sums.multiply(t1, t2)
                if denominator in parts:
                    sums.accumulate(parts[denominator], product)
                else:
                    parts[denominator] = dict(product)
    return Value(quotients.simplified(parts))


def _halved(p: int, q: int) -> tuple[int, int]:
    return (p // 2, q) if p % 2 == 0 else (p, 2 * q)


# -- opaque numbers -------------------------------------------------------------


def _opaque_atoms(terms: Sum) -> bool:
    return any(not isinstance(atom, Symbol) for _, _, held in terms for atom, _ in held)


def _opaque(function: Literal["exp", "log"], argument: Value) -> Value:
    """A value that the field does not hold, as an atom known by its argument."""
    if argument.has_symbols:
        raise Malformed(f"{function} of a value with symbols is not supported")
    return _of_atom(Opaque(function, argument.parts))


def _of_atom(atom: Atom) -> Value:
    return Value({(): {((), 1, ((atom, 1),)): fmpq(1)}})


def _under_log(terms: Sum) -> Value | None:
    """``x``, if ``terms`` is exactly ``log(x)``."""
    match tuple(terms.items()):
        case ((((), 1, ((Opaque(function="log") as atom, 1),)), q),) if q == 1:
            return Value(atom.argument)
    return None


def _denested(terms: Sum) -> Value | None:
    """``sqrt(a + b sqrt(m))`` as a sum of two roots, where it is one.

    It is exactly when ``a^2 - b^2 m`` is the square of a rational
    (A. Borodin et al., *Decreasing the nesting depth of expressions
    involving square roots*, 1985, theorem 1).
    """
    if any(exponent or atoms for exponent, _, atoms in terms) or len(terms) != 2:
        return None
    a = terms.get(UNIT)
    if a is None:
        return None
    ((_, m, _), b), *_ = ((key, q) for key, q in terms.items() if key != UNIT)
    inner = a * a - b * b * m
    under = int(inner.p) * int(inner.q)
    if under < 0 or (whole := isqrt(under)) ** 2 != under:
        return None
    half = fmpq(whole, inner.q)
    larger, smaller = (a + half) / 2, (a - half) / 2
    if smaller < 0:
        return None
    second = sums.scale(sums.root_of_rational(smaller), fmpq(1 if b > 0 else -1))
    return Value({(): sums.add(sums.root_of_rational(larger), second)})


def _nested_root(terms: Sum) -> Value:
    if quotients.symbols({(): terms}):
        raise Malformed("the root of a value with symbols is not supported")
    return _of_atom(Root(terms))
