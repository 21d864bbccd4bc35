"""Exact values: lazy expressions, with closed forms in a readable normal form.

A closed form is a sum of parts ``numerator / (D_1^k_1 D_2^k_2 ...)``. Every denominator is a
:class:`~symattn.numbers.quotients.Normaliser`, a primitive exponential sum such as
``1 + sqrt(e) + e``, kept whole: what a softmax row divides by stays one named thing, through sums,
products and gradients, instead of being multiplied out.

Equality is decided (:func:`compare`) where the difference has a closed form:
over one common denominator it is zero exactly when its numerator has no terms
left. Rational numbers are worked out at once; everything else waits in a
:class:`~symattn.numbers.lazy.LazyExpression` until its closed form is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any, NoReturn, TypeVar

from flint import fmpq, fmpz

from symattn.errors import Malformed, NoClosedForm, Undecided
from symattn.expressions.elementary import ELEMENTARY
from symattn.expressions.formulas import latex
from symattn.expressions.syntax import Tree, shown
from symattn.limits import NO_CLOSED_FORM, POWER, RATIONAL
from symattn.numbers import closed_forms, exponential_sums, functions, lazy, quotients, rationals
from symattn.numbers.balls import FIRST
from symattn.numbers.closed_forms import Names
from symattn.numbers.exponential_sums import Symbol
from symattn.numbers.float_formats import FloatFormat, float_format, nearest
from symattn.numbers.kronecker import PackedQuotient
from symattn.numbers.lazy import LazyExpression, Operation
from symattn.numbers.quotients import Parts
from symattn.numbers.rounding import RoundingMode, decimal, significant
from symattn.verdicts import Verdict

T = TypeVar("T")


def _beside(operation: Callable[[Value, Value], T]) -> Callable[[Value, Operand], T]:
    """An operator between a value and whatever is a number."""

    def operator(self: Value, other: Operand) -> T:
        right = _operand(other)
        return NotImplemented if right is None else operation(self, right)

    return operator


class Value(LazyExpression):
    """An exact number, or an exact linear form where symbols occur.

    Values add, multiply and compare with each other and with integers, Fractions and Decimals.
    ``==``, ``<`` and ``bool()`` decide exactly, or raise :class:`~symattn.errors.Undecided`;
    :func:`compare` has three answers. A float is refused, and no value becomes one unasked.

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

    __slots__ = ("number",)

    operands: tuple[Value, ...]

    # NumPy leaves sums of its numbers with a value to the value.
    __array_ufunc__ = None

    def __init__(self, operation: Operation, operands: Iterable[Value]) -> None:
        super().__init__(operation, tuple(operands))
        #: The number itself where it is rational and was worked out.
        self.number: fmpq | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        if self.number is None:
            raise TypeError(f"only rational numbers can be handed to other processes: {self!r}")
        return _fraction, (int(self.number.p), int(self.number.q))

    # -- arithmetic ---------------------------------------------------------

    __add__ = __radd__ = _beside(lambda x, y: total((x, y)))
    __sub__ = _beside(lambda x, y: total((x, -y)))
    __rsub__ = _beside(lambda x, y: total((y, -x)))
    __mul__ = __rmul__ = _beside(lambda x, y: sum_of_products(((x, y),)))
    __truediv__ = _beside(lambda x, y: x * y.inverse())
    __rtruediv__ = _beside(lambda x, y: y * x.inverse())

    def __pow__(self, exponent: int) -> Value:
        if not isinstance(exponent, int):
            return NotImplemented
        if exponent < 0:
            return self.inverse() ** -exponent
        if exponent == 0:
            return ONE
        if exponent > POWER.most:
            raise Malformed(POWER.said(exponent))
        root = self ** (exponent // 2)
        return root * root * self if exponent % 2 else root * root

    def __neg__(self) -> Value:
        return sum_of_products(((self, MINUS_ONE),))

    def __abs__(self) -> Value:
        return -self if self.is_negative() else self

    def inverse(self) -> Value:
        """``1 / self``; :class:`Malformed` for zero."""
        verdict = self.is_zero()
        if verdict is Verdict.HOLDS:
            raise Malformed("division by zero")
        if verdict is Verdict.UNDECIDED:
            raise Undecided(f"can't decide whether the divisor {self!r} is zero")
        if self.number is not None:
            return rational(1 / self.number)
        return Value(lazy.INVERSE, (self,))

    def exp(self) -> Value:
        """``e ** self``."""
        return self.applied("exp")

    def log(self) -> Value:
        """The natural logarithm of a positive value."""
        if self.sign() <= 0:
            raise Malformed(f"the logarithm of {self!r}, which is not positive")
        return Value(lazy.FUNCTIONS["log"], (self,))

    def sqrt(self) -> Value:
        """The square root of a non-negative value."""
        if self.is_negative():
            raise Malformed(f"the square root of {self!r}, which is negative")
        return ZERO if self.is_zero() is Verdict.HOLDS else Value(lazy.FUNCTIONS["sqrt"], (self,))

    def tanh(self) -> Value:
        """The hyperbolic tangent, a quotient of exponentials.

        >>> ONE.tanh()
        (e^2 - 1)/(1 + e^2)
        """
        power = (self + self).exp()
        return (power - ONE) / (power + ONE)

    def cos(self) -> Value:
        """The cosine; like exponentials, those of distinct sums of roots are independent.

        >>> x, y = rational(fmpq(1, 2)), rational(2).sqrt()
        >>> x.cos() * y.cos() + x.sin() * y.sin() == (x - y).cos(), x.cos() ** 2
        (True, 1/2 + cos(1)/2)
        """
        return self.applied("cos")

    def sin(self) -> Value:
        """The sine."""
        return self.applied("sin")

    def erf(self) -> Value:
        """The error function: of another field, so that its equalities are mostly undecided.

        >>> ONE.erf().decimal(6), ONE.erf() + MINUS_ONE.erf() == 0
        (Decimal('0.842701'), True)
        """
        return self.applied("erf")

    def applied(self, name: str) -> Value:
        """An elementary function by its name, such as ``"log"``; raises what that does.

        >>> ONE.applied("log"), ONE.applied("erf").decimal(3)
        (0, Decimal('0.843'))
        """
        if (own := _OWN.get(name)) is not None:
            return own(self)
        exact = ELEMENTARY[name].at(self.number)
        return Value(lazy.FUNCTIONS[name], (self,)) if exact is None else rational(exact)

    def maximum(self, other: Operand) -> Value:
        """The larger of two numbers; :class:`Undecided` where that can't be told.

        >>> rational(3).maximum(ONE.exp()), rational(2).maximum(ONE.exp())
        (3, e)
        """
        right = _operand(other)
        if right is None:
            raise Malformed(f"expected a number to compare with, found {type(other).__name__}")
        try:
            return right if (self - right).is_negative() else self
        except Undecided as error:
            message = f"can't decide which is larger, {self!r} or {right!r}: {error}"
            raise Undecided(message) from None

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

    __lt__ = _beside(lambda x, y: (x - y).sign() < 0)
    __le__ = _beside(lambda x, y: (x - y).sign() <= 0)
    __gt__ = _beside(lambda x, y: (x - y).sign() > 0)
    __ge__ = _beside(lambda x, y: (x - y).sign() >= 0)

    # -- symbols ------------------------------------------------------------

    @property
    def parts(self) -> Parts:
        """The closed form's parts; :class:`NoClosedForm` beyond the budget."""
        parts = self.form()
        if parts is None:
            raise NoClosedForm(NO_CLOSED_FORM.format(found=repr(self)))
        return parts

    def rational(self) -> fmpq | None:
        """The value as a rational number, if its closed form shows it is one."""
        return super().rational() if self.number is None else self.number

    @property
    def has_symbols(self) -> bool:
        """Return whether the value is a form in symbols rather than a number."""
        return bool(self.symbols)

    @property
    def is_linear_form(self) -> bool:
        """Return whether symbols occur, at most one in each term and none below."""
        if not self.letters:
            return False
        parts = self.form()
        return self.degree == 1 if parts is None else quotients.is_linear(parts)

    def coefficient(self, symbol: str | None) -> Value:
        """Return what stands before ``symbol`` in a linear form; None: the constant.

        :class:`Malformed` if the value is not linear in its symbols.
        """
        if self.has_symbols and not self.is_linear_form:
            raise Malformed(f"{self!r} is not linear in its symbols")
        parts = self.form() if self.letters else None
        if parts is not None:
            return of_parts(quotients.coefficient(parts, symbol))
        return _coefficient(self, symbol)

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

    # -- form ---------------------------------------------------------------

    @property
    def is_closed(self) -> bool:
        """Return whether there is a closed form within the budget."""
        return self.checked_form() is not None

    def formula(self, names: Names | None = None) -> Tree:
        """The closed form; normalisers in ``names`` appear by name.

        :class:`NoClosedForm` where there is none within the budget
        :data:`~symattn.limits.SHOWN`: the digits are certain all the same.
        """
        form = self._closed(names)
        if form is None:
            raise NoClosedForm(NO_CLOSED_FORM.format(found=repr(self)))
        return form

    def _closed(self, names: Names | None = None) -> Tree | None:
        if isinstance(self.operation, PackedQuotient) and not names:
            whole = self.operation.whole()
            return None if whole is None else closed_forms.of_whole(*whole)
        parts = self.checked_form()
        return None if parts is None else closed_forms.formula(parts, names)

    def coefficients(self) -> Iterator[tuple[str | None, Value]]:
        """The terms of a linear form: what stands alone (None), and before
        each symbol; zeros are left out.

        >>> from symattn.numbers.reading import read
        >>> [(name, str(value)) for name, value in read("g1/3 - 2*g2 + 1", True).coefficients()]
        [(None, '1'), ('g1', '1/3'), ('g2', '-2')]
        """
        for symbol in (None, *self.symbols):
            coefficient = self.coefficient(symbol)
            if coefficient.is_zero() is not Verdict.HOLDS:
                yield symbol, coefficient

    def __str__(self) -> str:
        return self._text(None)

    def __repr__(self) -> str:
        return self._text(closed_forms.MAX_SHORT)

    def _text(self, most: int | None) -> str:
        form = self._closed()
        if form is not None:
            written = shown(form)
            return written if most is None or len(written) <= most else f"{written[: most - 3]}..."
        if self.letters:
            return f"a form in {len(self.letters)} symbols"
        # Of what is too large for balls nothing is known, which isn't that it is no number.
        return str(self.enclosure(FIRST).str(8)).replace("nan", "[+/- inf]")

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {latex(self.formula())}$"


#: What may stand beside a value in a sum, a product or a comparison.
Operand = Value | int | Fraction | Decimal | fmpq | fmpz


def _operand(number: object) -> Value | None:
    """A number beside a value, as a value; None for what is no number."""
    if isinstance(number, Value):
        return number
    fraction = rationals.from_number(number)
    if fraction is None and isinstance(number, Real):
        raise Malformed(rationals.refusal(float(number)))
    return None if fraction is None else rational(fraction)


#: Functions that are not defined everywhere, or are written with others.
_OWN = {"log": Value.log, "sqrt": Value.sqrt, "tanh": Value.tanh}


def of_parts(parts: Parts) -> Value:
    """The value of a closed form that is known."""
    value = Value(lazy.NUMBER, ())
    value._forms[0] = parts
    value.letters = frozenset(quotients.symbols(parts))
    if value.letters:
        value.degree = 1 if quotients.is_linear(parts) else 2
    else:
        value.number = value.rational()
    return value


def rational(value: fmpq | int) -> Value:
    """A rational number as a value."""
    number = fmpq(value)
    result = Value(lazy.NUMBER, ())
    result._forms[0] = {(): exponential_sums.constant(number)} if number else {}
    result.number = number
    return result


def _fraction(above: int, below: int) -> Value:
    return rational(fmpq(above, below))


ZERO, ONE, MINUS_ONE = rational(0), rational(1), rational(-1)
PI = of_parts(functions.PI)


def symbol(name: str) -> Value:
    """A symbol as a value: algebraically independent of every number."""
    return of_symbol(Symbol(name))


def of_symbol(atom: Symbol) -> Value:
    """A symbol that may be known to be positive."""
    return of_parts({(): {((), 1, ((atom, 1),)): fmpq(1)}})


def compare(left: Value, right: Value) -> Verdict:
    """Return whether two values are equal.

    >>> compare(ONE.exp() * (-ONE).exp(), ONE)
    <Verdict.HOLDS: 'holds'>
    """
    return (left - right).is_zero()


def total(values: Iterable[Value]) -> Value:
    """The sum of the values, brought to normal form once."""
    known, rest = fmpq(0), []
    for value in values:
        if value.number is None or value.number.height_bits() > RATIONAL:
            rest.append(value)
        else:
            known += value.number
    if known or not rest:
        rest.append(rational(known))
    return rest[0] if len(rest) == 1 else Value(lazy.TOTAL, rest)


def sum_of_products(pairs: Iterable[tuple[Value, Value]]) -> Value:
    """``sum(a * b)``, brought to normal form once: an entry of a product."""
    known, rest = fmpq(0), []
    for left, right in pairs:
        a, b = left.number, right.number
        if a == 0 or b == 0:
            continue
        if a is not None and b is not None and a.height_bits() + b.height_bits() <= RATIONAL:
            known += a * b
        else:
            rest.append((left, right))
    if not rest:
        return rational(known)
    if known:
        rest.append((rational(known), ONE))
    if len(rest) == 1 and 1 in (rest[0][0].number, rest[0][1].number):
        left, right = rest[0]
        return left if right.number == 1 else right
    return Value(lazy.PRODUCTS, [value for pair in rest for value in pair])


def _coefficient(value: Value, symbol: str | None) -> Value:
    """The coefficient by the lazy expression: of a sum of products of numbers and forms."""
    coefficients: dict[int, Value] = {}
    for node in lazy.in_order(value, lambda node: [x for x in node.operands if x.letters]):
        parts = [coefficients.get(id(x), x) for x in node.operands]
        if not node.letters:
            result = node if symbol is None else ZERO
        elif node.operation is lazy.TOTAL:
            terms = zip(node.operands, parts, strict=True)
            result = total(y for x, y in terms if x.letters or symbol is None)
        elif node.operation is lazy.PRODUCTS:
            pairs = zip(
                parts[::2], parts[1::2], node.operands[::2], node.operands[1::2], strict=True
            )
            result = sum_of_products(
                (a, b) for a, b, x, y in pairs if x.letters or y.letters or symbol is None
            )
        else:
            result = of_parts(quotients.coefficient(node._forms[0], symbol))
        coefficients[id(node)] = result
    return coefficients[id(value)]
