"""Exact values: quotients of exponential sums, in a readable normal form.

A value is a sum of parts ``numerator / (D_1^k_1 D_2^k_2 ...)``. Every
denominator is a :class:`Normaliser`, a primitive exponential sum such as
``1 + sqrt(e) + e``, kept whole: what a softmax row divides by stays one named
thing, through sums, products and gradients, instead of being multiplied out.

Equality is decided (:func:`compare`): the difference over one common
denominator is zero exactly when its numerator has no terms left.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import isqrt

from flint import arb, ctx, fmpq

from symattn.errors import Malformed, Undecided
from symattn.formulas import Function, Root, Symbol, latex, text
from symattn.numbers import quotients, sums
from symattn.numbers.balls import FIRST, LAST, precision
from symattn.numbers.quotients import Denominator, Parts
from symattn.numbers.sums import UNIT, Atom, Sum
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

    def __sub__(self, other: Value) -> Value:
        return total((self, -other))

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
            if inner := _only_atom(held, "log"):
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
            return _denested(numerator) or _nested_root(numerator)
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
        found = {name for held in self.parts.values() for name in quotients.symbols_of(held)}
        for denominator in self.parts:
            for normaliser, _ in denominator:
                found |= normaliser.symbols
        return tuple(sorted(found))

    @property
    def has_symbols(self) -> bool:
        """Whether the value is a form in symbols rather than a number."""
        return bool(self.symbols)

    @property
    def is_linear_form(self) -> bool:
        """Whether symbols occur, at most one in each term and none below."""
        if any(normaliser.symbols for d in self.parts for normaliser, _ in d):
            return False
        terms = [atoms for held in self.parts.values() for _, _, atoms in held]
        powers = [[k for a, k in atoms if a.ball is None] for atoms in terms]
        return any(powers) and all(held in ([], [1]) for held in powers)

    def coefficient(self, symbol: str | None) -> Value:
        """What stands before ``symbol`` in a linear form; None: the constant.

        :class:`Malformed` if the value is not linear in its symbols.
        """
        if self.has_symbols and not self.is_linear_form:
            raise Malformed(f"{self} is not linear in its symbols")
        result: Parts = {}
        for denominator, held in self.parts.items():
            for (exponent, radicand, atoms), q in held.items():
                symbols = [a.key for a, _ in atoms if a.ball is None]
                if (symbols[0] if symbols else None) == symbol:
                    rest = tuple(item for item in atoms if item[0].ball is not None)
                    sums.accumulate(
                        result.setdefault(denominator, {}), {(exponent, radicand, rest): q}
                    )
        return Value(quotients.simplified(result))

    # -- numbers ------------------------------------------------------------

    @property
    def value(self) -> Value:
        """The value itself: it is a :class:`~symattn.numbers.rounding.Real`."""
        return self

    def ball(self, bits: int) -> arb:
        """An enclosure computed at ``bits`` bits; :class:`Malformed` with symbols."""
        if self.has_symbols:
            raise Malformed(f"{self} has symbols in it and is not one number")
        with precision(bits):
            result = arb(0)
            for denominator, held in self.parts.items():
                part = quotients.ball(held)
                for normaliser, power in denominator:
                    part /= quotients.ball(normaliser.terms) ** power
                result += part
            return result

    # -- form ---------------------------------------------------------------

    def over_one_denominator(self) -> tuple[Denominator, Sum]:
        """The value as one quotient."""
        return quotients.over_one(self.parts)

    def _only_monomial(self) -> tuple[sums.Monomial, fmpq] | None:
        if len(self.parts) == 1 and len(held := self.parts.get((), {})) == 1:
            return next(iter(held.items()))
        return None

    def __str__(self) -> str:
        from symattn.numbers.forms import formula

        return text(formula(self))

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        from symattn.numbers.forms import formula

        return f"$\\displaystyle {latex(formula(self))}$"


ZERO = Value({})
ONE = Value({(): sums.constant(1)})


def rational(value: fmpq | int) -> Value:
    """A rational number as a value."""
    return Value({(): sums.constant(value)}) if value else ZERO


def symbol(name: str) -> Value:
    """A symbol as a value: algebraically independent of every number."""
    return Value({(): {((), 1, ((Atom(name, Symbol(name)), 1),)): fmpq(1)}})


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
    return any(atom.ball is not None for _, _, held in terms for atom, _ in held)


def _opaque(kind: str, argument: Value) -> Value:
    """A value that the field does not hold, as an atom known by its argument."""
    from symattn.numbers.forms import formula

    if argument.has_symbols:
        raise Malformed(f"{kind} of a value with symbols is not supported")
    shown = Function(kind, (formula(argument),))
    apply = arb.exp if kind == "exp" else arb.log
    atom = OpaqueAtom(f"{kind}({argument})", shown, lambda: apply(argument.ball(ctx.prec)))
    atom.argument = argument
    return Value({(): {((), 1, ((atom, 1),)): fmpq(1)}})


class OpaqueAtom(Atom):
    """An atom that remembers what it is a function of."""

    __slots__ = ("argument",)
    argument: Value


def _only_atom(terms: Sum, kind: str) -> Value | None:
    """The argument, if ``terms`` is exactly one atom of that kind."""
    if len(terms) != 1:
        return None
    ((exponent, radicand, atoms), q), *_ = terms.items()
    if exponent or radicand != 1 or q != 1 or len(atoms) != 1 or atoms[0][1] != 1:
        return None
    atom = atoms[0][0]
    is_kind = isinstance(atom, OpaqueAtom) and atom.key.startswith(f"{kind}(")
    return atom.argument if is_kind and isinstance(atom, OpaqueAtom) else None


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
    from symattn.numbers.forms import formula

    under = Value({(): terms})
    if under.has_symbols:
        raise Malformed("the root of a value with symbols is not supported")
    shown = Root(formula(under))
    atom = Atom(f"sqrt({under})", shown, lambda: quotients.ball(terms).sqrt(), radicand=terms)
    return Value({(): {((), 1, ((atom, 1),)): fmpq(1)}})
