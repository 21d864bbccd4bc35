"""The value of a normal form in floats: each atom for what it stands for.

With it the steps to a normal form are checked, not only where they lead.
"""

from __future__ import annotations

import math
from itertools import product

import mpmath

from symattn.calculus import language as term
from symattn.calculus.sampling import Missing

mp = mpmath.mp.clone()
mp.dps = 40
FUNCTIONS = {"sin": mp.sin, "cos": mp.cos, "erf": mp.erf}


def exact(value):
    """The middle of a ball, or a whole number, as a number of mpmath."""
    if isinstance(value, int):
        return mp.mpf(value)
    middle, exponent = value.mid().man_exp()
    return mp.ldexp(mp.mpf(int(middle)), int(exponent))


class Unknown(Exception):
    """Something stands in a normal form that was not worked out."""


class Values:
    """Values of normal forms at one point; ``env`` are the places of free indices by name."""

    def __init__(self, point, losses=()) -> None:
        self.point = point
        self.arrays = {array.name: array for array in point.values}
        self.losses = {f"d{one.name}/d{one.of.name}": one for one in losses}

    def poly(self, poly, env):
        """The value of a sum of products."""
        found = mp.zero
        for mono, c in poly.items():
            part = mp.mpf(c.numerator) / c.denominator
            found += part * self.mono(mono, env)
        return found

    def mono(self, mono, env):
        """The value of a product; what is 0 or 1 comes first and hides the places it rules out."""
        found = mp.one
        for one, e in sorted(mono, key=lambda pair: pair[0].kind not in "dmh"):
            if not found:
                return found
            value = self.atom(one, env)
            if e != int(e):
                assert value >= 0
                value = mp.power(value, mp.mpf(e.numerator) / e.denominator)
            elif e < 0 and not value:
                raise ZeroDivisionError
            else:
                value = value ** int(e)
            found *= value
        return found

    def atom(self, one, env):
        data = one.data
        match one.kind:
            case "x":
                return self.entry(data[0], tuple(self.place(at, env) for at in data[1]))
            case "d":
                first, second = (self.place(at, env) for at in data)
                return mp.mpf(int(first == second))
            case "m":
                first, second = (self.place(at, env) for at in data)
                return mp.mpf(int(first <= second))
            case "i":
                return mp.mpf(self.place(data, env))
            case "s":
                return mp.mpf(self.point.length(data))
            case "q":
                return mp.mpf(data)
            case "c":
                return +mp.pi
            case "e":
                return mp.exp(self.mono(data, env))
            case "l":
                value = self.poly(dict(data), env)
                assert value > 0
                return mp.log(value)
            case "p":
                return self.poly(dict(data), env)
            case "h":
                return mp.mpf(int(self.poly(dict(data), env) > 0))
            case "f":
                if data[0] not in FUNCTIONS:
                    # The limit of a sum, which was not found.
                    raise Unknown
                return FUNCTIONS[data[0]](self.poly(dict(data[1]), env))
            case "S":
                axes, factors = data
                names = [f"@{one.height}.{k}" for k in range(len(axes))]
                ranges = [range(1, self.point.length(axis) + 1) for axis in axes]
                return mp.fsum(
                    self.mono(factors, {**env, **dict(zip(names, at, strict=True))})
                    for at in product(*ranges)
                )
        raise AssertionError(one.kind)

    def place(self, at, env):
        name, offset, images = at
        if name.startswith("="):
            found = offset + (self.point.sizes[name[1:]] if name != "=" else 0)
        else:
            found = env[name] + offset
        for image, way in images:
            if image.endswith("^-1"):
                # A derivative of a derivative names the way back so.
                image, way = image.removesuffix("^-1"), -way
            order = self.point.images[image]
            if not 1 <= found <= len(order):
                raise Missing
            found = order[found - 1] if way > 0 else order.index(found) + 1
        return found

    def entry(self, name, at):
        if name in self.losses:
            loss = self.losses[name]
            places = tuple(term.AxisPlace(offset=one) for one in at)
            slope = term.Partial(term.Entry(loss, ()), loss.of, places)
            return exact(self.point.evaluate(slope))
        array = self.arrays[name]
        if array.of is not None:
            return exact(self.point.evaluate(term.Entry(array, ())))
        values = self.point.values[array]
        if at not in values:
            raise Missing
        return exact(values[at])


def close(one, other) -> bool:
    """Whether two numbers are the same but for rounding."""
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)
