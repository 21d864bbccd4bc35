"""SymPy differentiates: what stands on a page, one stage at a time.

A stage is the body of one definition, or one expression of a line. It becomes
SymPy's ``Indexed``, ``Sum`` (over fresh dummies, so that no index is captured),
``KroneckerDelta`` and ``Piecewise``; SymPy takes the derivative in an entry.
Stages are put together by the chain rule in :mod:`symattn.calculus.normal`:
differentiating a whole attention expression would take seconds, and SymPy's
matrix calculus drops terms of the softmax derivative.

Normal forms as SymPy writes them, and SymPy's expressions in normal form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from symattn.calculus import language as term
from symattn.calculus.atoms import At, Atom, Mono, NoNormalForm, Poly, summed
from symattn.calculus.index_sums import Sums
from symattn.calculus.language import Array, Axis, AxisPlace, Expr, Index
from symattn.calculus.tensors import ParsedLine


def size(axis: Axis) -> Any:
    """The length of an axis."""
    return (
        sp.Integer(axis) if isinstance(axis, int) else sp.Symbol(axis, integer=True, positive=True)
    )


def goal(target: Fraction | str) -> Any:
    """Where the variable of a limit goes."""
    return {"oo": sp.oo, "-oo": -sp.oo}.get(str(target)) or sp.Rational(str(target))


def entry(array: Array, at: tuple[Any, ...]) -> Any:
    """An entry of an array; a number has a single place."""
    return sp.IndexedBase(sp.Symbol(array.name, real=True))[at or (sp.Integer(0),)]


_AT_MOST = sp.Function("at_most")
"""1 where the first place is not after the second, else 0."""


class Above(sp.Function):  # type: ignore[misc]
    """1 where its argument is above 0, else 0; its slope, where it has one, is 0."""

    def fdiff(self, argindex: int = 1) -> Any:
        """SymPy's hook for the derivative."""
        return sp.Integer(0)


class Reciprocal(sp.Function):  # type: ignore[misc]
    """One divided by its argument. SymPy differentiates a power by way of its logarithm, and
    asks for the sign of the base: of a sum of exponentials that takes as long as all the rest."""

    def fdiff(self, argindex: int = 1) -> Any:
        """SymPy's hook for the derivative."""
        return -(self**2)


class Stage:
    """Expressions as SymPy writes them; every index is a dummy."""

    def __init__(self) -> None:
        self.names: dict[Index, Any] = {}

    def index(self, index: Index) -> Any:
        """The dummy of a free index."""
        if index not in self.names:
            self.names[index] = sp.Dummy(index.name, integer=True, positive=True)
        return self.names[index]

    def place(self, at: AxisPlace) -> Any:
        """A place."""
        place = sp.Integer(at.offset)
        if at.index is not None:
            place += self.index(at.index)
        elif at.size:
            place += size(at.size)
        for image in at.images:
            place = sp.Function(image, integer=True)(place)
        return place

    def read(self, value: Expr) -> Any:
        """An expression in SymPy's objects.

        Raises :class:`NoNormalForm` for derivatives, limits and means, which are
        worked out before.
        """
        match value:
            case term.Number(number):
                return sp.Rational(number.numerator, number.denominator)
            case term.Constant():
                return sp.pi
            case term.Size():
                return size(term.length(value))
            case term.Position(index):
                return self.index(index)
            case term.Entry(array, at):
                return entry(array, tuple(map(self.place, at)))
            case term.Add(terms):
                return sp.Add(*map(self.read, terms))
            case term.Neg(body):
                return -self.read(body)
            case term.Mul(factors):
                return sp.Mul(*map(self.read, factors))
            case term.Div(above, below):
                return self.read(above) * Reciprocal(self.read(below))
            case term.Power(base, exponent):
                return self.read(base) ** sp.Rational(exponent.numerator, exponent.denominator)
            case term.Apply("positive", body):
                return Above(self.read(body))
            case term.Apply(function, body):
                return getattr(sp, function)(self.read(body))
            case term.Sum(index, body):
                return sp.Sum(self.read(body), (self.index(index), 1, size(index.size)))
            case term.Delta(first, second):
                return sp.KroneckerDelta(self.place(first), self.place(second))
            case term.AtMost(first, second):
                return _AT_MOST(self.place(first), self.place(second))
        raise NoNormalForm(f"a {type(value).__name__.lower()} inside what is differentiated")


class _Shown(Stage):
    """What is handed out: free indices are symbols, steps ``Piecewise``, derivatives not taken."""

    def index(self, index: Index) -> Any:
        if index not in self.names:
            self.names[index] = sp.Symbol(index.name, integer=True, positive=True)
        return self.names[index]

    def read(self, value: Expr) -> Any:
        match value:
            case term.Sum(index, body):
                self.names[index] = sp.Dummy(index.name, integer=True, positive=True)
                return super().read(term.Sum(index, body))
            case term.AtMost(first, second):
                return sp.Piecewise((1, self.place(first) <= self.place(second)), (0, True))
            case term.Div(above, below):
                return self.read(above) / self.read(below)
            case term.Apply("positive", body):
                return sp.Piecewise((1, self.read(body) > 0), (0, True))
            case term.Partial(of, array, at):
                return sp.Derivative(self.read(of), entry(array, tuple(map(self.place, at))))
            case term.Limit(body, variable, target):
                return sp.Limit(self.read(body), entry(variable, ()), goal(target), "+")
            case term.Expectation(body):
                return sp.Function("E")(self.read(body))
            case term.Operations(counted):
                return sp.Function("ops")(*(sp.Symbol(quantity.name) for quantity in counted))
        return super().read(value)


def equation(line: ParsedLine) -> Any:
    """A line as SymPy's equation of its first and last side."""
    reader = _Shown()
    return sp.Eq(reader.read(line.sides[0]), reader.read(line.sides[-1]), evaluate=False)


def derivative(value: Any, array: Array) -> tuple[Any, tuple[Any, ...]]:
    """SymPy's derivative of an expression in an entry of an array, and the entry's places."""
    via = tuple(sp.Dummy(f"p{k}", integer=True) for k in range(len(array.axes)))
    return value.diff(entry(array, via)), via


_LONGEST_LIMIT = 60
"""SymPy is asked for limits of expressions of at most so many operations."""


def limit(value: Any, variable: Any, target: Fraction | str) -> Any:
    """SymPy's limit of an expression without sums. Raises :class:`NoNormalForm`."""
    if sp.count_ops(value) > _LONGEST_LIMIT:
        raise NoNormalForm("the limit of a long expression")
    plain = {atom: sp.Dummy("x", real=True) for atom in value.atoms(sp.Indexed)}
    end = goal(target)
    try:
        limit = sp.limit(
            value.xreplace(plain), plain[variable], end, "+-" if end.is_finite else "-"
        )
    except (NotImplementedError, ValueError, TypeError, RecursionError):
        raise NoNormalForm("a limit that SymPy does not find") from None
    if not limit.is_finite or limit.has(sp.Limit, sp.AccumBounds, sp.sign):
        raise NoNormalForm("a limit that SymPy does not find")
    return limit.xreplace({dummy: atom for atom, dummy in plain.items()})


def slope(of: Expr, array: Array) -> tuple[Any, dict[Index, Any], tuple[Any, ...]]:
    """SymPy's derivative of an expression in an entry of an array at places of its own:
    the derivative, the dummies of the expression's indices, and those places."""
    order: dict[Index, int] = {}
    key = (_form(of, order), array.name, array.axes)
    if key not in _SLOPES:
        if len(_SLOPES) >= _MOST_SLOPES:
            _SLOPES.clear()
        stage = Stage()
        derived, via = derivative(stage.read(of), array)
        _SLOPES[key] = derived, tuple(map(stage.index, order)), via
    derived, dummies, via = _SLOPES[key]
    return derived, dict(zip(order, dummies, strict=True)), via


_SLOPES: dict[Any, tuple[Any, tuple[Any, ...], tuple[Any, ...]]] = {}
"""Derivatives that SymPy has taken: definitions such as that of softmax come again and again."""
_MOST_SLOPES = 2000


def _form(value: Any, order: dict[Index, int]) -> Any:
    """What an expression looks like, its indices numbered as they come."""
    match value:
        case Index():
            return order.setdefault(value, len(order)), value.size
        case Array():
            return value.name, value.axes
        case Expr() | AxisPlace():
            inside = (_form(getattr(value, part.name), order) for part in fields(value))  # type: ignore[arg-type]
            return type(value), *inside
        case tuple():
            return tuple(_form(part, order) for part in value)
    return value


def names_in(value: Expr) -> frozenset[Array]:
    """The arrays whose entries stand in an expression itself."""
    return frozenset(part.array for part in term.walk(value) if isinstance(part, term.Entry))


def rational(value: Any) -> Fraction:
    """SymPy's rational as Python's."""
    return Fraction(int(value.p), int(value.q))


class ToSympy:
    """Normal forms as SymPy writes them; ``names`` are the dummies of their indices."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self.arrays: dict[str, Array] = {}

    @property
    def places(self) -> dict[Any, At]:
        """The index that each dummy stands for."""
        return {dummy: (name, 0, ()) for name, dummy in self.names.items()}

    def at(self, at: At) -> Any:
        """A place."""
        name, offset, images = at
        if name == "=":
            place = sp.Integer(offset)
        elif name.startswith("="):
            place = size(name[1:]) + offset
        else:
            if name not in self.names:
                self.names[name] = sp.Dummy(name.strip("#%@$"), integer=True, positive=True)
            place = self.names[name] + offset
        for image, way in images:
            place = sp.Function(image if way > 0 else f"{image}^-1", integer=True)(place)
        return place

    def poly(self, poly: Poly) -> Any:
        """A sum of products."""
        return sp.Add(
            *(sp.Rational(c.numerator, c.denominator) * self.mono(mono) for mono, c in poly.items())
        )

    def mono(self, mono: Mono) -> Any:
        """A product."""
        return sp.Mul(*(self.atom(atom) ** sp.Rational(Fraction(e)) for atom, e in mono))

    def atom(self, atom: Atom) -> Any:
        """An atom."""
        match atom.kind:
            case "x":
                name, at = atom.data
                self.arrays.setdefault(name, Array(name, ("",) * len(at)))
                base = sp.IndexedBase(sp.Symbol(name, real=True))
                return base[tuple(map(self.at, at)) or (sp.Integer(0),)]
            case "d":
                return sp.KroneckerDelta(*map(self.at, atom.data))
            case "m":
                return _AT_MOST(*map(self.at, atom.data))
            case "i":
                return self.at(atom.data)
            case "s":
                return size(atom.data)
            case "q":
                return sp.Integer(atom.data)
            case "c":
                return sp.pi
            case "e":
                return sp.exp(self.mono(atom.data))
            case "l":
                return sp.log(self.poly(dict(atom.data)))
            case "p":
                return self.poly(dict(atom.data))
            case "h":
                return Above(self.poly(dict(atom.data)))
            case "f" if atom.data[0] not in ("sin", "cos", "erf"):
                raise NoNormalForm(f"the derivative of {atom.data[0]}")
            case "f":
                return getattr(sp, atom.data[0])(self.poly(dict(atom.data[1])))
        axes, factors = atom.data
        body = self.mono(factors)
        limits = [
            (self.at((f"@{atom.height}.{k}", 0, ())), 1, size(axis)) for k, axis in enumerate(axes)
        ]
        fresh = {index: sp.Dummy(index.name, integer=True, positive=True) for index, _, _ in limits}
        return sp.Sum(
            body.xreplace(fresh), *((fresh[index], low, high) for index, low, high in limits)
        )


@dataclass(frozen=True)
class FromSympy:
    """SymPy's expressions in normal form; ``places`` are what its indices stand for."""

    algebra: Sums
    entry: Callable[[Array, tuple[At, ...]], Poly]
    arrays: Mapping[str, Array]
    places: Mapping[Any, At]

    def read(self, value: Any) -> Poly:
        """The normal form of an expression. Raises :class:`NoNormalForm`."""
        algebra = self.algebra
        match value:
            case sp.Rational():
                return algebra.number(rational(value))
            case sp.Add(args=args):
                return summed(map(self.read, args))
            case sp.Mul(args=args):
                poly = algebra.number(1)
                for part in sorted(args, key=_last):
                    poly = algebra.mul(poly, self.read(part))
                    if not poly:
                        break
                return poly
            case sp.Pow(base=base, exp=exponent) if exponent.is_Rational:
                return algebra.raised(self.read(base), rational(exponent))
            case sp.exp(args=(body,)):
                return algebra.exp(self.read(body))
            case sp.log(args=(body,)):
                return algebra.log(self.read(body))
            case sp.sin(args=(body,)) | sp.cos(args=(body,)) | sp.erf(args=(body,)):
                return algebra.apply(type(value).__name__, self.read(body))
            case sp.Sum(function=body, limits=limits):
                inner: dict[Any, At] = {limit[0]: (algebra.fresh(), 0, ()) for limit in limits}
                poly = replace(self, places={**self.places, **inner}).read(body)
                bounds = {inner[index][0]: _axis(end) for index, _, end in limits}
                return algebra.bound_all(poly, bounds)
            case sp.Indexed():
                array = self.arrays[str(value.base.label)]
                at = tuple(map(self.at, value.indices[: len(array.axes)]))
                return self.entry(array, at)
            case sp.KroneckerDelta(args=args):
                return algebra.delta(*map(self.at, args))
            case Reciprocal(args=(body,)):
                return algebra.raised(self.read(body), -1)
            case Above(args=(body,)):
                return algebra.above_zero(self.read(body))
            case sp.Symbol() if value in self.places:
                return algebra.position(self.places[value])
            case sp.Symbol():
                return algebra.size(_axis(value))
        if value.func == _AT_MOST:
            return algebra.at_most(*map(self.at, value.args))
        if value is sp.pi:
            return algebra.constant("pi")
        if value is sp.E:
            return algebra.exp(algebra.number(1))
        raise NoNormalForm(f"SymPy's {type(value).__name__}")

    def at(self, value: Any) -> At:
        """A place."""
        if value.is_Integer:
            return ("=", int(value), ())
        if value.is_Symbol:
            return self.places.get(value) or (f"={value}", 0, ())
        if value.is_Add:
            offset, (rest,) = value.args[0], value.args[1:]
            name, before, images = self.at(rest)
            return name, before + int(offset), images
        name, before, images = self.at(value.args[0])
        return name, before, (*images, (value.func.__name__, 1))


def _axis(value: Any) -> Axis:
    return int(value) if value.is_Integer else str(value)


def _last(value: Any) -> int:
    """Deltas first: they shorten what follows."""
    return 0 if isinstance(value, sp.KroneckerDelta) else 2 if isinstance(value, sp.Sum) else 1
