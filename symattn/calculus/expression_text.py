"""Expressions as text, in the language of derivation files: for conditions and messages."""

from __future__ import annotations

from fractions import Fraction

from symattn.calculus import language as term
from symattn.calculus.language import Array, AxisPlace, Expr
from symattn.expressions.trees import ATOM, POSTFIX, PRODUCT, SUM, bracketed


def text(value: Expr) -> str:
    """An expression as it could stand in a file; parts without a name are written out."""
    return _written(value)[0]


def place(at: AxisPlace) -> str:
    """A place as it stands in brackets."""
    base = at.index.name if at.index else at.size
    written = f"{base} {'+' if at.offset > 0 else '-'} {abs(at.offset)}" if at.offset else base
    written = written if base else str(at.offset)
    for image in at.images:
        written = f"{image}[{written}]"
    return written


def _written(value: Expr) -> tuple[str, int]:
    match value:
        case term.Number(number):
            return (str(number), ATOM if number.denominator == 1 and number >= 0 else SUM)
        case term.Constant(name):
            return name, ATOM
        case term.Size():
            return str(term.length(value)), ATOM
        case term.Position(index):
            return index.name, ATOM
        case term.Entry(array, at):
            return _entry(array, at)
        case term.Add(terms):
            written = _bracketed(terms[0], PRODUCT)
            for part in terms[1:]:
                if isinstance(part, term.Neg):
                    written += f" - {_bracketed(part.body, PRODUCT)}"
                else:
                    written += f" + {_bracketed(part, PRODUCT)}"
            return written, SUM
        case term.Neg(body):
            return f"-{_bracketed(body, PRODUCT)}", SUM
        case term.Mul(factors):
            return " * ".join(_bracketed(part, PRODUCT) for part in factors), PRODUCT
        case term.Div(above, below):
            return f"{_bracketed(above, PRODUCT)} / {_bracketed(below, POSTFIX)}", PRODUCT
        case term.Power(base, Fraction(numerator=1, denominator=2)):
            return f"sqrt({text(base)})", ATOM
        case term.Power(base, exponent):
            return f"{_bracketed(base, ATOM)}**{_exponent(exponent)}", POSTFIX
        case term.Apply("positive", body):
            return f"step(0 < {text(body)})", ATOM
        case term.Apply(function, body):
            return f"{function}({text(body)})", ATOM
        case term.Sum(index, body):
            return f"sum({index.name}, {text(body)})", ATOM
        case term.Delta(first, second):
            return f"delta({place(first)}, {place(second)})", ATOM
        case term.AtMost(first, second):
            return f"step({place(first)} <= {place(second)})", ATOM
        case term.Partial(of, array, at):
            return f"diff({text(of)}, {_entry(array, at)[0]})", ATOM
        case term.Limit(body, variable, target):
            return f"limit({variable.name}, {target}, {text(body)})", ATOM
        case term.Expectation(body):
            return f"expect({text(body)})", ATOM
        case term.Operations(arrays):
            return f"operations({', '.join(part.name for part in arrays)})", ATOM
    raise TypeError(type(value).__name__)


def _bracketed(value: Expr, tightness: int) -> str:
    return bracketed(_written(value), tightness, "({})".format)


def _exponent(exponent: Fraction) -> str:
    plain = exponent.denominator == 1 and exponent >= 0
    return str(exponent) if plain else f"({exponent})"


def _entry(array: Array, at: tuple[AxisPlace, ...]) -> tuple[str, int]:
    if array.body is not None and "." in array.name:
        # A part of a line that has no name.
        return _written(term.replaced(array.body, dict(zip(array.params, at, strict=True))))
    places = ", ".join(map(place, at))
    return (f"{array.name}[{places}]" if at else array.name), ATOM
