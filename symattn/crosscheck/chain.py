"""The chain rule through a definition: numbers that note what they are made of.

A definition is run on such numbers; what arrives at its results is then sent back along the
notes, last one first (A. Griewank and A. Walther, *Evaluating Derivatives*, 2nd ed., chapter 3).
So one definition gives a result and its gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from symattn.crosscheck.duals import Dual
from symattn.crosscheck.lines import cos, exp, log, sin, sqrt, tanh
from symattn.crosscheck.lines import erf as error_function
from symattn.crosscheck.scalars import PI, Tracked

#: What becomes of what arrives at a number on its way to one that it is made of.
Edge = Callable[[Any], Any]


class Noted(Dual):
    """A number of any kind, with the numbers that it is made of.

    ``journal`` has all that were made, in their order. It derives from the other scalars so
    that Python asks it first how it goes with them.

    >>> journal = []
    >>> x = Noted(3.0, journal)
    >>> y = x * x + 1 / x
    >>> sent_back(journal, [(y, 1.0)])
    >>> round(x.arrived, 4)
    5.8889
    """

    __slots__ = ("arrived", "edges", "journal")
    # Vectors leave operations with it to it.
    __array_ufunc__ = None

    def __init__(
        self, value: Any, journal: list[Noted], edges: Sequence[tuple[Noted, Edge]] = ()
    ) -> None:
        self.value, self.journal, self.edges = value, journal, edges
        self.arrived: Any = None
        journal.append(self)

    def _made(self, value: Any, *edges: tuple[Any, Edge]) -> Noted:
        """A number that is made of this one, and of others of which those count that are noted."""
        noted = [(of, edge) for of, edge in edges if isinstance(of, Noted)]
        return Noted(value, self.journal, noted)

    def __add__(self, other: Any) -> Noted:
        return self._made(self.value + plain(other), (self, _same), (other, _same))

    __radd__ = __add__

    def __neg__(self) -> Noted:
        return self._made(-self.value, (self, _minus))

    def __sub__(self, other: Any) -> Noted:
        return self._made(self.value - plain(other), (self, _same), (other, _minus))

    def __rsub__(self, other: Any) -> Noted:
        return self._made(other - self.value, (self, _minus))

    def __mul__(self, other: Any) -> Noted:
        left, right = self.value, plain(other)
        return self._made(
            left * right, (self, lambda flow: flow * right), (other, lambda flow: flow * left)
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Noted:
        below = plain(other)
        quotient = self.value / below
        return self._made(
            quotient,
            (self, lambda flow: flow / below),
            (other, lambda flow: -(flow * quotient) / below),
        )

    def __rtruediv__(self, other: Any) -> Noted:
        below = self.value
        quotient = other / below
        return self._made(quotient, (self, lambda flow: -(flow * quotient) / below))

    def __pow__(self, exponent: Any) -> Noted:
        base = self.value
        power = base**exponent
        if not isinstance(exponent, int):
            # The base is above 0.
            return self._made(power, (self, lambda flow: flow * exponent * power / base))
        if exponent == 0:
            return self._made(power)
        return self._made(power, (self, lambda flow: flow * exponent * base ** (exponent - 1)))

    def exp(self) -> Noted:
        """Return the exponential."""
        value = exp(self.value)
        return self._made(value, (self, lambda flow: flow * value))

    def log(self) -> Noted:
        """Return the natural logarithm."""
        return self._made(log(self.value), (self, lambda flow: flow / self.value))

    def sqrt(self) -> Noted:
        """Return the square root."""
        root = sqrt(self.value)
        return self._made(root, (self, lambda flow: flow / (2 * root)))

    def tanh(self) -> Noted:
        """Return the hyperbolic tangent."""
        value = tanh(self.value)
        return self._made(value, (self, lambda flow: flow * (1 - value * value)))

    def sin(self) -> Noted:
        """Return the sine."""
        return self._made(sin(self.value), (self, lambda flow: flow * cos(self.value)))

    def cos(self) -> Noted:
        """Return the cosine."""
        return self._made(cos(self.value), (self, lambda flow: -(flow * sin(self.value))))

    def erf(self) -> Noted:
        """Return the error function."""
        x = self.value
        pi = PI if isinstance(x, Tracked) else math.pi
        return self._made(
            error_function(x), (self, lambda flow: 2 * flow / sqrt(pi) * exp(-(x * x)))
        )


def plain(number: Any) -> Any:
    """Return a number without what is noted of it."""
    return number.value if isinstance(number, Noted) else number


def _same(flow: Any) -> Any:
    return flow


def _minus(flow: Any) -> Any:
    return -flow


def sent_back(journal: Sequence[Noted], arriving: Sequence[tuple[Any, Any]]) -> None:
    """Send what arrives at results back to all that they are made of.

    Each number then has what ``arrived`` at it, None where nothing did.
    """
    for result, flow in arriving:
        if isinstance(result, Noted):
            result.arrived = flow if result.arrived is None else result.arrived + flow
    for number in reversed(journal):
        if number.arrived is None:
            continue
        for of, edge in number.edges:
            sent = edge(number.arrived)
            of.arrived = sent if of.arrived is None else of.arrived + sent
