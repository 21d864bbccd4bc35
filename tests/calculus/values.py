"""The value of a term of the kernel in floats: each atom for what it stands for.

With it all that is computed on the way to a proof is checked, not only where it leads.
"""

from __future__ import annotations

import math
from itertools import product

import mpmath

from symattn.calculus import language as term
from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.signs import Exists
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
        for one, e in sorted(mono, key=lambda pair: not isinstance(pair[0], kinds.Boolean)):
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
        match one:
            case kinds.Entry(array, places):
                return self.entry(array, tuple(self.place(at, env, bound) for at in places))
            case kinds.Derivative((of, here), (by, there)):
                own, other = (
                    tuple(term.AxisPlace(offset=self.place(each, env, bound)) for each in places)
                    for places in (here, there)
                )
                return exact(self.point.evaluate(term.Partial(term.Entry(of, own), by, other)))
            case kinds.Delta():
                first, second = (self.place(at, env, bound) for at in one.places)
                return mp.mpf(int(first == second))
            case kinds.AtMost():
                first, second = (self.place(at, env, bound) for at in one.places)
                return mp.mpf(int(first <= second))
            case kinds.Position(at):
                return mp.mpf(self.place(at, env, bound))
            case kinds.Size(axis):
                return mp.mpf(self.point.length(axis))
            case kinds.Constant():
                return +mp.pi
            case kinds.Bracket(of):
                return self.poly(of, env, bound)
            case kinds.Positive(of):
                return mp.mpf(int(self.poly(of, env, bound) > 0))
            case kinds.Function(name, of):
                value = self.poly(of, env, bound)
                assert name != "log" or value > 0
                return FUNCTIONS[name](value)
            case kinds.Sum(axes, factors):
                ranges = [range(1, self.point.length(axis) + 1) for axis in axes]
                # The last index is the innermost.
                return mp.fsum(
                    self.mono(factors, env, (*reversed(at), *bound)) for at in product(*ranges)
                )
        raise Unknown(one.letter)

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
        ranges = [range(1, self.point.length(axis) + 1) for axis in condition.axes]
        return all(self._holds_at(condition, env, bound) for bound in product(*ranges))

    def _holds_at(self, condition, env, bound):
        if isinstance(condition, Exists):
            return 1 <= self.place(condition.at, env, bound) <= self.point.length(condition.axis)
        value = self.poly(condition.of, env, bound)
        return {"!=": value != 0, ">": value > 0, ">=": value >= 0}[condition.relation]


def close(one, other) -> bool:
    """Whether two numbers are the same but for rounding."""
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)
