"""Exact values to SymPy expressions and back; the only module that loads SymPy here."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from functools import reduce
from math import prod

import sympy
from flint import fmpq, fmpz

from symattn.errors import Malformed
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions.elementary import ELEMENTWISE
from symattn.numbers import quotients
from symattn.numbers.exponential_sums import Symbol
from symattn.numbers.letters import Letters, letters_of
from symattn.numbers.values import ONE, PI, ZERO, Value, rational, total


def to_sympy(value: Value) -> sympy.Expr:
    """The closed form as a SymPy expression.

    >>> from symattn.numbers.reading import read
    >>> to_sympy(read(1).exp() / (read(1).exp() + read("1/2").exp() + read(1)))
    E/(1 + exp(1/2) + E)
    """
    if value.number is not None:
        return sympy.Rational(int(value.number.p), int(value.number.q))
    return _expression(value.formula(), quotients.letters(value.parts))


_FUNCTIONS = {x: getattr(sympy, x) for x in ELEMENTWISE if x not in ("sqrt", "tanh")}
_CLASSES = (*_FUNCTIONS.values(), sympy.tanh)


def _symbol(letter: Symbol | None, name: str) -> sympy.Symbol:
    """SymPy's symbol: the one that was given, or one of that name."""
    if letter is None or letter.written is None:
        return sympy.Symbol(name, positive=(letter is not None and letter.is_positive) or None)
    return letter.written


def _expression(tree: syntax.Tree, letters: Mapping[str, Symbol]) -> sympy.Expr:
    def of(part: syntax.Tree) -> sympy.Expr:
        return _expression(part, letters)

    match tree:
        case syntax.Literal(digits):
            # Through fmpz: Python limits the digits that int() reads.
            return sympy.Integer(int(fmpz(digits)))
        case syntax.Name("e"):
            return sympy.E
        case f.PI:
            return sympy.pi
        case syntax.Name(name):
            return _symbol(letters.get(name), name)
        case syntax.Negative(operand):
            return -of(operand)
        case syntax.Sum(terms):
            return sympy.Add(*map(of, terms))
        case syntax.Product(factors):
            return sympy.Mul(*map(of, factors))
        case syntax.Binary("/", numerator, denominator):
            return of(numerator) / of(denominator)
        case syntax.Power(base, exponent):
            return sympy.Pow(of(base), of(exponent))
        case syntax.Call("sqrt", (operand,)):
            return sympy.sqrt(of(operand))
        case syntax.Call(name, (operand,)) if name in _FUNCTIONS:
            return _FUNCTIONS[name](of(operand))
    raise AssertionError(f"no closed form contains {tree!r}")


def from_sympy(
    expression: sympy.Basic,
    symbols: Letters | bool = False,
    known: MutableMapping[sympy.Basic, Value] | None = None,
) -> Value:
    """The exact value of a SymPy expression made of rationals, roots, exponentials, their
    functions and ``symbols``; else :class:`Malformed`.
    ``known`` are parts that were read before; new ones are added.

    >>> print(from_sympy(sympy.sqrt(2) / 3 + sympy.exp(1)))
    sqrt(2)/3 + e
    """
    known = {} if known is None else known
    value = known.get(expression)
    if value is None:
        value = known[expression] = _read(expression, letters_of(symbols), known)
    return value


def _read(
    expression: sympy.Basic,
    letters: Letters | None,
    known: MutableMapping[sympy.Basic, Value],
) -> Value:
    def read(part: sympy.Basic) -> Value:
        return from_sympy(part, letters or False, known)

    match expression:
        case sympy.Rational():
            return rational(fmpq(int(expression.p), int(expression.q)))
        case sympy.Add():
            return total(map(read, expression.args))
        case sympy.Mul():
            return prod(map(read, expression.args), start=ONE)
        case sympy.Function() if expression.func in _CLASSES:
            return read(expression.args[0]).applied(type(expression).__name__)
        case sympy.Max():
            return reduce(Value.maximum, map(read, expression.args))
        case sympy.Heaviside():
            return ONE if read(expression.args[0]).sign() > 0 else ZERO
        case sympy.Pow():
            return _power(read(expression.base), expression.exp)
        case sympy.Symbol() if letters:
            return letters.written(expression)
    if expression is sympy.E:
        return ONE.exp()
    if expression is sympy.pi:
        return PI
    kind = "float" if isinstance(expression, sympy.Float) else type(expression).__name__
    raise Malformed(f"expected an exact number, found the SymPy {kind} {expression}")


def _power(base: Value, exponent: sympy.Expr) -> Value:
    twice = 2 * exponent
    if not isinstance(twice, sympy.Integer) or abs(int(twice)) > 64:
        raise Malformed(f"a power {exponent} is not read: only whole and half powers up to 32")
    return base.sqrt() ** int(twice) if int(twice) % 2 else base ** int(exponent)
