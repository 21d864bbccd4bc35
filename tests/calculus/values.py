"""The value of a term of the kernel in floats: each atom for what it stands for.

With it all that is computed on the way to a proof is checked, not only where it leads.
"""

from __future__ import annotations

import math
from itertools import product

import mpmath

from symattn.calculus import language as term
from symattn.calculus.sampling import Missing

mp = mpmath.mp.clone()
mp.dps = 40
FUNCTIONS = {"sin": mp.sin, "cos": mp.cos, "erf": mp.erf, "exp": mp.exp, "log": mp.log}


def exact(value):
    """The middle of a ball, or a whole number, as a number of mpmath."""
    if isinstance(value, int):
        return mp.mpf(value)
    middle, exponent = value.mid().man_exp()
    return mp.ldexp(mp.mpf(int(middle)), int(exponent))


class Unknown(Exception):
    """Something stands in a term that was not worked out."""


class Values:
    """Values of terms at one point; ``env`` are the places of free indices, ``bound`` those of
    bound ones, the innermost first."""

    def __init__(self, point) -> None:
        self.point = point

    def poly(self, poly, env, bound=()):
        """The value of a sum of products."""
        parts = (
            mp.mpf(c.numerator) / c.denominator * self.mono(mono, env, bound) for mono, c in poly
        )
        return mp.fsum(parts)

    def mono(self, mono, env, bound):
        """The value of a product; what is 0 or 1 comes first and hides the places it rules out."""
        found = mp.one
        for one, e in sorted(mono, key=lambda pair: pair[0].kind not in "dmh"):
            if not found:
                return found
            value = self.atom(one, env, bound)
            if e != int(e):
                assert value >= 0
                value = mp.power(value, mp.mpf(e.numerator) / e.denominator)
            elif e < 0 and not value:
                raise ZeroDivisionError
            else:
                value = value ** int(e)
            found *= value
        return found

    def atom(self, one, env, bound):
        data = one.data
        match one.kind:
            case "x":
                return self.entry(data[0], tuple(self.place(at, env, bound) for at in data[1]))
            case "D":
                (of, here), (array, at) = data
                here, at = (
                    tuple(term.AxisPlace(offset=self.place(each, env, bound)) for each in places)
                    for places in (here, at)
                )
                return exact(self.point.evaluate(term.Partial(term.Entry(of, here), array, at)))
            case "d":
                first, second = (self.place(at, env, bound) for at in data)
                return mp.mpf(int(first == second))
            case "m":
                first, second = (self.place(at, env, bound) for at in data)
                return mp.mpf(int(first <= second))
            case "i":
                return mp.mpf(self.place(data, env, bound))
            case "s":
                return mp.mpf(self.point.length(data))
            case "c":
                return +mp.pi
            case "p":
                return self.poly(data, env, bound)
            case "h":
                return mp.mpf(int(self.poly(data, env, bound) > 0))
            case "F":
                value = self.poly(data[1], env, bound)
                assert data[0] != "log" or value > 0
                return FUNCTIONS[data[0]](value)
            case "S":
                axes, factors = data
                ranges = [range(1, self.point.length(axis) + 1) for axis in axes]
                # The last index is the innermost.
                return mp.fsum(
                    self.mono(factors, env, (*reversed(at), *bound)) for at in product(*ranges)
                )
        raise Unknown(one.kind)

    def place(self, at, env, bound):
        base, offset, images = at
        match base:
            case None:
                found = offset
            case str():
                found = self.point.sizes[base] + offset
            case int():
                found = bound[base] + offset
            case _:
                found = env[base] + offset
        for image, way in images:
            order = self.point.images[image]
            if not 1 <= found <= len(order):
                raise Missing
            found = order[found - 1] if way > 0 else order.index(found) + 1
        return found

    def entry(self, array, at):
        if array.of is not None or array.body is not None:
            places = tuple(term.AxisPlace(offset=one) for one in at)
            return exact(self.point.evaluate(term.Entry(array, places)))
        values = self.point.values[array]
        if at not in values:
            raise Missing
        return exact(values[at])

    def holds(self, condition, env) -> bool:
        """Whether a condition holds, for all values of its bound indices."""
        relation, of, axes = condition
        ranges = [range(1, self.point.length(axis) + 1) for axis in axes]
        for bound in product(*ranges):
            if relation == "exists":
                axis, at = of
                if not 1 <= self.place(at, env, bound) <= self.point.length(axis):
                    return False
                continue
            value = self.poly(of, env, bound)
            if not {"!=": value != 0, ">": value > 0, ">=": value >= 0}[relation]:
                return False
        return True


def close(one, other) -> bool:
    """Whether two numbers are the same but for rounding."""
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)
