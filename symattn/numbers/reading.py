"""Reading numbers exactly: text, integers, fractions and decimals.

A Python float is refused: ``0.1`` is not one tenth. :func:`~symattn.numbers.arrays.from_floats`
is the one door for floats, and gives their exact binary values.
"""

from __future__ import annotations

import math
from decimal import Decimal

from symattn.errors import Malformed, short
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions.elementary import ELEMENTWISE
from symattn.numbers import rationals
from symattn.numbers.letters import Letters, letters_of
from symattn.numbers.values import PI, Value, rational


class Masked:
    """Minus infinity, the score of a position that is masked."""

    def __str__(self) -> str:
        return "-inf"

    __repr__ = __str__


MASKED = Masked()


def read(number: object, symbols: Letters | bool = False) -> Value:
    """The exact value of an integer, fraction, decimal or text.

    Text may use ``+ - * /``, brackets, ``pi`` and elementary functions; with
    ``symbols`` it may also have whole powers ``**`` and name symbols, all or those of some
    :class:`~symattn.numbers.letters.Letters`. Raises :class:`~symattn.errors.Malformed`.

    >>> print(read("1/3"), read("sqrt(8)"), read(Decimal("0.50")))
    1/3 2*sqrt(2) 1/2
    >>> read(0.1)
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: 0.1 is a float, not an exact number: write '0.1' as text, \
Decimal('0.1') or a Fraction, or take its binary value with symattn.from_floats
    """
    if isinstance(number, Value):
        return number
    if isinstance(number, str):
        value = rationals.from_text(number)
        return _read_expression(number, letters_of(symbols)) if value is None else rational(value)
    value = rationals.from_number(number)
    return _read_foreign(number, letters_of(symbols)) if value is None else rational(value)


def read_entry(number: object, symbols: Letters | bool = False) -> Value | Masked:
    """Like :func:`read`, but ``"-inf"`` is a masked score.

    >>> read_entry("-inf")
    -inf
    """
    if isinstance(number, Masked):
        return number
    if isinstance(number, str) and number.strip().replace("−", "-") == "-inf":
        return MASKED
    # Comparing a signalling NaN raises.
    if isinstance(number, Decimal) and number.is_infinite() and number < 0:
        return MASKED
    if isinstance(number, float) and number == -math.inf:
        return MASKED
    return read(number, symbols)


def _read_expression(text: str, letters: Letters | None) -> Value:
    if text.strip().lstrip("+-").lower() in ("nan", "inf", "infinity"):
        raise Malformed(f"expected a finite number, found {text!r}")
    return evaluate(syntax.parse(text), text, letters)


def evaluate(tree: syntax.Tree, text: str, letters: Letters | None = None) -> Value:
    """The exact value of a parsed number, which may name these letters."""
    match tree:
        case syntax.Literal(digits):
            number = rationals.from_text(digits)
            if number is None:
                raise Malformed(f"{short(digits, 40)} is beyond the numbers that can be read")
            return rational(number)
        case syntax.Negative(operand):
            return -evaluate(operand, text, letters)
        case syntax.Binary(op, left, right) if op != "@":
            a, b = evaluate(left, text, letters), evaluate(right, text, letters)
            return a + b if op == "+" else a - b if op == "-" else a * b if op == "*" else a / b
        case syntax.Call(name, (operand,), ()) if name in ELEMENTWISE:
            return evaluate(operand, text, letters).applied(name)
        case syntax.Power(base, exponent) if letters and (power := _whole(exponent)) is not None:
            return evaluate(base, text, letters) ** power
        case syntax.Name("pi"):
            return PI
        case syntax.Name(name) if letters and (named := letters.named(name)):
            return named
        case syntax.Name(name) if letters and name not in ("e", "inf", "nan", *ELEMENTWISE):
            raise Malformed(
                f"unknown name {short(name)!r} in {short(text)!r}: a symbol is declared, as in"
                f' symbols = {{ {short(name)} = "real" }}'
            )
    what = f"numbers, pi, + - * /, {' '.join(ELEMENTWISE)}" + (" and symbols" if letters else "")
    raise Malformed(f"{text!r} is not an exact number: only {what} are read here")


def _whole(exponent: syntax.Tree) -> int | None:
    """A whole exponent."""
    match exponent:
        case syntax.Literal(digits) if digits.isdigit():
            return int(digits)
        case syntax.Negative(operand):
            power = _whole(operand)
            return None if power is None else -power
    return None


def written(value: Value) -> str:
    """The closed form as text that :func:`read` reads.

    >>> written(read("2*exp(a)**2/(1 + sqrt(2))", symbols=True))
    '2*sqrt(2)*exp(2*a) - 2*exp(2*a)'
    """
    return syntax.shown(f.with_exp(value.formula())).replace("^", "**")


def read_tree(tree: syntax.Tree) -> Value | Masked:
    """The exact value of a parsed number; ``-inf`` is a masked score.

    >>> print(read_tree(syntax.parse("1/3")), read_tree(syntax.parse("-inf")))
    1/3 -inf
    """
    match tree:
        case syntax.Negative(syntax.Name("inf")) | syntax.Literal("-inf"):
            return MASKED
    return evaluate(tree, syntax.text(tree))


def _read_foreign(number: object, letters: Letters | None) -> Value:
    """NumPy's scalars and SymPy's expressions, without importing either."""
    home = type(number).__module__.partition(".")[0]
    if home == "numpy" and getattr(number, "ndim", 1) == 0 and hasattr(number, "item"):
        item = number.item()
        # A longdouble has no Python number that it could become.
        if type(item) is not type(number):
            return read(item, letters or False)
    elif home == "sympy":
        from symattn.numbers.sympy_bridge import from_sympy

        return from_sympy(number, letters or False)
    found = f"expected a number, found {type(number).__name__}"
    raise Malformed(rationals.array_refusal(number) or found)
