"""Expressions as text, in the language of derivation files: for conditions and messages.

What must be so that a line has a meaning: no denominator 0, logarithms and
roots of what they are defined for, places that exist."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from fractions import Fraction

from symattn.calculus import language as term
from symattn.calculus.atoms import NoNormalForm, Poly, poly_text
from symattn.calculus.language import Array, Axis, AxisPlace, Expr, Index
from symattn.calculus.normal import Normal
from symattn.calculus.tensors import ParsedLine

_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4


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
            return (str(number), _ATOM if number.denominator == 1 and number >= 0 else _SUM)
        case term.Constant(name):
            return name, _ATOM
        case term.Size():
            return str(term.length(value)), _ATOM
        case term.Position(index):
            return index.name, _ATOM
        case term.Entry(array, at):
            return _entry(array, at)
        case term.Add(terms):
            written = _bracketed(terms[0], _PRODUCT)
            for part in terms[1:]:
                if isinstance(part, term.Neg):
                    written += f" - {_bracketed(part.body, _PRODUCT)}"
                else:
                    written += f" + {_bracketed(part, _PRODUCT)}"
            return written, _SUM
        case term.Neg(body):
            return f"-{_bracketed(body, _PRODUCT)}", _SUM
        case term.Mul(factors):
            return " * ".join(_bracketed(part, _PRODUCT) for part in factors), _PRODUCT
        case term.Div(above, below):
            return f"{_bracketed(above, _PRODUCT)} / {_bracketed(below, _POWER)}", _PRODUCT
        case term.Power(base, Fraction(numerator=1, denominator=2)):
            return f"sqrt({text(base)})", _ATOM
        case term.Power(base, exponent):
            return f"{_bracketed(base, _ATOM)}**{_exponent(exponent)}", _POWER
        case term.Apply("positive", body):
            return f"step(0 < {text(body)})", _ATOM
        case term.Apply(function, body):
            return f"{function}({text(body)})", _ATOM
        case term.Sum(index, body):
            return f"sum({index.name}, {text(body)})", _ATOM
        case term.Delta(first, second):
            return f"delta({place(first)}, {place(second)})", _ATOM
        case term.AtMost(first, second):
            return f"step({place(first)} <= {place(second)})", _ATOM
        case term.Partial(of, array, at):
            return f"diff({text(of)}, {_entry(array, at)[0]})", _ATOM
        case term.Limit(body, variable, target):
            return f"limit({variable.name}, {target}, {text(body)})", _ATOM
        case term.Expectation(body):
            return f"expect({text(body)})", _ATOM
        case term.Operations(arrays):
            return f"operations({', '.join(part.name for part in arrays)})", _ATOM
    raise TypeError(type(value).__name__)


def _bracketed(value: Expr, tightness: int) -> str:
    written, tight = _written(value)
    return written if tight >= tightness else f"({written})"


def _exponent(exponent: Fraction) -> str:
    plain = exponent.denominator == 1 and exponent >= 0
    return str(exponent) if plain else f"({exponent})"


def _entry(array: Array, at: tuple[AxisPlace, ...]) -> tuple[str, int]:
    if array.body is not None and "." in array.name:
        # A part of a line that has no name.
        return _written(replaced(array.body, dict(zip(array.params, at, strict=True))))
    places = ", ".join(map(place, at))
    return (f"{array.name}[{places}]" if at else array.name), _ATOM


def replaced(value: Expr, by: dict[Index, AxisPlace]) -> Expr:
    """An expression with indices replaced by places."""

    def at(part: AxisPlace) -> AxisPlace:
        if part.index not in by:
            return part
        other = by[part.index]
        return AxisPlace(
            other.index, other.size, other.offset + part.offset, other.images + part.images
        )

    match value:
        case term.Position(index):
            goal = by.get(index, AxisPlace(index)).index
            return term.Position(goal) if goal else value
    return term.mapped(value, lambda part: replaced(part, by), at)


@dataclass(frozen=True)
class _Condition:
    """A number that is not 0 (``!=``), above 0 (``>``) or not below it (``>=``)."""

    value: Expr
    relation: str

    @property
    def text(self) -> str:
        """The condition as it is printed."""
        return f"{text(self.value)} {self.relation} 0"


def conditions(line: ParsedLine, normal: Normal) -> tuple[list[str], list[Poly]]:
    """The conditions of a line that are not met anyway, as text; and what is above 0 by them."""
    unmet: dict[str, str] = {}
    above: list[Poly] = []
    strict: set[str] = set()
    for condition in _all(line):
        if _above(condition.value, normal.positive):
            continue
        if condition.relation == ">=" and _not_below(condition.value, normal.positive):
            continue
        try:
            poly = normal.read(condition.value)
        except (NoNormalForm, RecursionError):
            unmet.setdefault(condition.text, condition.text)
            continue
        if _met(condition, poly, normal):
            continue
        if condition.relation != "!=":
            above.append(poly)
        if condition.relation == ">":
            strict.add(poly_text(poly))
        unmet.setdefault(poly_text(poly) + condition.relation, condition.text)
    # What is above 0 is not 0, nor below it.
    remaining = [
        text
        for key, text in unmet.items()
        if not (key.endswith("!=") and key[:-2] in strict)
        and not (key.endswith(">=") and f"{key[:-2]}>" in unmet)
    ]
    return [*dict.fromkeys((*_lengths(line), *remaining))], above


def _met(condition: _Condition, poly: Poly, normal: Normal) -> bool:
    if condition.relation == ">=":
        return not poly or normal.never_negative(poly) or normal.is_positive(poly)
    if condition.relation == "!=" and len(poly) == 1:
        ((mono, _),) = poly.items()
        # Powers of what is a denominator elsewhere, or above 0.
        if all(normal.above(atom, e) for atom, e in mono):
            return True
    return normal.is_positive(poly)


def _above(value: Expr, positive: Set[str]) -> bool:
    """Whether an expression is above 0 by what stands in it, no number being known."""
    match value:
        case term.Apply("exp") | term.Size() | term.Constant() | term.Position():
            return True
        case term.Number(number):
            return number > 0
        case term.Entry(array, _):
            return array.name in positive or (
                array.body is not None and _above(array.body, positive)
            )
        case term.Sum(index, term.Mul(factors)) if any(_meets(part, index) for part in factors):
            return all(_above(part, positive) or _meets(part, index) for part in factors) and (
                sum(isinstance(part, term.AtMost) for part in factors) == 1
            )
        case term.Add(terms):
            # What is not below 0 takes nothing from what is above it.
            return all(_not_below(part, positive) for part in terms) and any(
                _above(part, positive) for part in terms
            )
        case term.Mul() | term.Div() | term.Power() | term.Sum():
            return all(_above(part, positive) for part in term.inside(value))
    return False


def _not_below(value: Expr, positive: Set[str]) -> bool:
    """Whether an expression is not below 0 by what stands in it: squares, and sums of such."""
    match value:
        case term.Power(_, exponent) if exponent.denominator == 2 or exponent % 2 == 0:
            # A root of what has one; conditions say where.
            return exponent > 0
        case term.Entry(array, _) if array.body is not None:
            return _not_below(array.body, positive)
        case term.Div(above, below):
            return _not_below(above, positive) and _above(below, positive)
        case term.Add() | term.Mul() | term.Sum():
            return all(_not_below(part, positive) for part in term.inside(value))
    return _above(value, positive)


def _meets(value: Expr, index: Index) -> bool:
    """Whether a comparison of a summed index with another holds somewhere: at the first
    place or the last."""
    match value:
        case term.AtMost(AxisPlace(first, "", 0, ()), AxisPlace(other, "", 0, ())):
            return None not in (first, other) and (first is index) != (other is index)
    return False


def _all(line: ParsedLine) -> Iterator[_Condition]:
    seen: set[Array] = set()
    todo = list(line.sides)
    while todo:
        value = todo.pop(0)
        todo.extend(term.inside(value))
        match value:
            case term.Entry(array, _) | term.Partial(_, array, _):
                if array.body is not None and array not in seen:
                    seen.add(array)
                    todo.append(array.body)
            case term.Div(_, below):
                yield from _nonzero(below)
            case term.Power(base, exponent) if exponent.denominator > 1:
                yield _Condition(base, ">" if exponent < 0 else ">=")
            case term.Power(base, exponent) if exponent < 0:
                yield from _nonzero(base)
            case term.Apply("log", body):
                yield _Condition(body, ">")


def _nonzero(value: Expr) -> Iterator[_Condition]:
    """A product is not 0 where none of its factors is."""
    match value:
        case term.Mul(factors):
            for factor in factors:
                yield from _nonzero(factor)
        case term.Power(base, exponent) if exponent > 0:
            yield from _nonzero(base)
        case term.Neg(body):
            yield from _nonzero(body)
        case _:
            yield _Condition(value, "!=")


def _lengths(line: ParsedLine) -> Iterator[str]:
    """How long axes are at least, so that numbered places exist."""
    least: dict[Axis, int] = {}
    for part in term.walk(*line.sides):
        if isinstance(part, term.Entry | term.Partial):
            for axis, at in zip(part.array.axes, part.at, strict=True):
                if at.index is None and isinstance(axis, str):
                    needed = at.offset if not at.size else 1 - at.offset
                    if needed > 1:
                        least[axis] = max(least.get(axis, 1), needed)
    for axis, length in least.items():
        yield f"{axis} >= {length}"
