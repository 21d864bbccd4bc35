"""Lines as SymPy writes them: ``Indexed``, ``Sum``, ``KroneckerDelta``, ``Piecewise`` for steps,
``Derivative`` and ``Limit`` as they were to be taken."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from symattn.calculus import language as term
from symattn.calculus.language import Array, Axis, AxisPlace, Expr, Index
from symattn.calculus.tensors import ParsedLine


def equation(line: ParsedLine) -> Any:
    """A line as SymPy's equation of its first and last side."""
    writer = _Writer()
    return sp.Eq(writer.write(line.sides[0]), writer.write(line.sides[-1]), evaluate=False)


def _size(axis: Axis) -> Any:
    if isinstance(axis, int):
        return sp.Integer(axis)
    return sp.Symbol(axis, integer=True, positive=True)


def _target(target: Fraction | str) -> Any:
    return {"oo": sp.oo, "-oo": -sp.oo}.get(str(target)) or sp.Rational(str(target))


def _entry(array: Array, at: tuple[Any, ...]) -> Any:
    """An entry of an array; a number has a single place."""
    return sp.IndexedBase(sp.Symbol(array.name, real=True))[at or (sp.Integer(0),)]


class _Writer:
    """Writes expressions; summed indices are dummies, so that no index is captured."""

    def __init__(self) -> None:
        self._names: dict[Index, Any] = {}

    def _index(self, index: Index) -> Any:
        if index not in self._names:
            self._names[index] = sp.Symbol(index.name, integer=True, positive=True)
        return self._names[index]

    def _place(self, at: AxisPlace) -> Any:
        place = sp.Integer(at.offset)
        if at.index is not None:
            place += self._index(at.index)
        elif at.size:
            place += _size(at.size)
        for image in at.images:
            place = sp.Function(image, integer=True)(place)
        return place

    def _places(self, at: tuple[AxisPlace, ...]) -> tuple[Any, ...]:
        return tuple(map(self._place, at))

    def write(self, value: Expr) -> Any:
        """An expression in SymPy's objects."""
        match value:
            case term.Number(number):
                return sp.Rational(number.numerator, number.denominator)
            case term.Constant():
                return sp.pi
            case term.Size():
                return _size(term.length(value))
            case term.Position(index):
                return self._index(index)
            case term.Entry(array, at):
                return _entry(array, self._places(at))
            case term.Add(terms):
                return sp.Add(*map(self.write, terms))
            case term.Neg(body):
                return -self.write(body)
            case term.Mul(factors):
                return sp.Mul(*map(self.write, factors))
            case term.Div(above, below):
                return self.write(above) / self.write(below)
            case term.Power(base, exponent):
                return self.write(base) ** sp.Rational(exponent.numerator, exponent.denominator)
            case term.Apply("positive", body):
                return sp.Piecewise((1, self.write(body) > 0), (0, True))
            case term.Apply(function, body):
                return getattr(sp, function)(self.write(body))
            case term.Sum(index, body):
                self._names[index] = sp.Dummy(index.name, integer=True, positive=True)
                return sp.Sum(self.write(body), (self._index(index), 1, _size(index.size)))
            case term.Delta(first, second):
                return sp.KroneckerDelta(self._place(first), self._place(second))
            case term.AtMost(first, second):
                return sp.Piecewise((1, self._place(first) <= self._place(second)), (0, True))
            case term.Partial(of, array, at):
                return sp.Derivative(self.write(of), _entry(array, self._places(at)))
            case term.Limit(body, variable, target):
                return sp.Limit(self.write(body), _entry(variable, ()), _target(target), "+")
            case term.Expectation(body):
                return sp.Function("E")(self.write(body))
            case term.Operations(counted):
                return sp.Function("ops")(*(sp.Symbol(quantity.name) for quantity in counted))
        raise TypeError(type(value).__name__)
