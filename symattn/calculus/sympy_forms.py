"""Normal forms as SymPy writes them, and SymPy's expressions in normal form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from symattn.calculus.atoms import At, Atom, Mono, NoNormalForm, Poly, summed
from symattn.calculus.differentiating import AT_MOST, Above, Reciprocal, rational, size
from symattn.calculus.language import Array, Axis
from symattn.calculus.sums import Sums


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
                return AT_MOST(*map(self.at, atom.data))
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
        if value.func == AT_MOST:
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
