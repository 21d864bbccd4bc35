"""The functions of the definitions, each for every kind of scalar.

A scalar is a float, a :class:`~symattn.crosscheck.scalars.Tracked` or a complex
vector, whose imaginary parts are what its components move by.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np

from symattn.crosscheck.scalars import Tracked

Function = Callable[[Any], Any]


def _smooth(name: str) -> Function:
    """A function that all kinds of scalar have by that name."""
    of_floats, of_vectors = getattr(math, name), getattr(np, name)

    def function(x: Any) -> Any:
        if x.__class__ is Tracked:
            return getattr(x, name)()
        return of_vectors(x) if isinstance(x, np.ndarray) else of_floats(x)

    return function


exp, log, tanh, sin, cos = map(_smooth, ("exp", "log", "tanh", "sin", "cos"))


def ln(x: Any) -> Any:
    """The natural logarithm of a weight, by which it is multiplied: 0 ln 0 is 0, and has no
    slope there.

    >>> 0.0 * ln(0.0), (Tracked(0.0) * ln(Tracked(0.0))).error
    (0.0, 0.0)
    """
    if x.__class__ is Tracked:
        return x.log_of_weight()
    if isinstance(x, np.ndarray):
        return np.log(np.where(x == 0, 1, _sloped(x)))
    return math.log(x) if x else 0.0


def sqrt(x: Any) -> Any:
    """The square root, which has no slope at 0.

    >>> sqrt(4.0), sqrt(Tracked(4.0)).value
    (2.0, 2.0)
    """
    if x.__class__ is Tracked:
        return x.sqrt()
    return np.sqrt(_sloped(x)) if isinstance(x, np.ndarray) else math.sqrt(x)


def erf(x: Any) -> Any:
    """The error function.

    Of a complex vector it is the value and the slope times what moves: NumPy has no
    complex one, and the square of a complex step is far below the last place.

    >>> erf(0.0), erf(Tracked(0.0)).value
    (0.0, 0.0)
    """
    if x.__class__ is Tracked:
        return x.erf()
    if isinstance(x, np.ndarray):
        place = _place(x)
        slope = 2.0 / math.sqrt(math.pi) * math.exp(-place * place)
        return _moving(math.erf(place), slope * x.imag)
    return math.erf(x)


def sign(x: Any) -> Any:
    """-1, 0 or 1, which doesn't move.

    >>> sign(-3.0), sign(Tracked(0.0)).value
    (-1.0, 0.0)
    """
    if x.__class__ is Tracked:
        return x.sign()
    place = _place(x)
    return math.nan if math.isnan(place) else float((place > 0) - (place < 0))


def magnitude(x: Any) -> Any:
    """The absolute value.

    >>> magnitude(-3.0), magnitude(Tracked(-3.0)).value
    (3.0, 3.0)
    """
    return abs(x) if x.__class__ is Tracked else _further(x, -x, 1)


def _place(x: Any) -> Any:
    """Where a number or a complex vector is, however it moves; components that have met
    a kink know nothing any more."""
    if not isinstance(x, np.ndarray):
        return x
    return float(x.real[int(np.argmin(np.isnan(x.real)))])


def _sloped(x: Any) -> Any:
    """A complex vector for a function that has no slope at 0: what moves from there would get
    a real part."""
    return np.where((x.real == 0) & (x.imag != 0), math.nan, x)


def _moving(place: float, moves: Any) -> Any:
    """The complex vector at a place, with what its components move by."""
    vector = np.full(len(moves), complex(place))
    vector.imag = moves
    return vector


def _further(x: Any, y: Any, way: int) -> Any:
    """The one of two that lies further on the way, up (1) or down (-1); where both are
    the same and move apart there is no slope."""
    if x.__class__ is Tracked:
        return x.extreme(y, way)
    if y.__class__ is Tracked:
        return y.extreme(x, way)
    left, right = way * _place(x), way * _place(y)
    if left != right:
        return x if left > right or math.isnan(left) else y
    moves = [item.imag if isinstance(item, np.ndarray) else 0.0 for item in (x, y)]
    together = moves[0] == moves[1]
    return x if np.all(together) else _moving(_place(x), np.where(together, moves[0], math.nan))


def _extreme(*numbers: Any, way: int) -> Any:
    row = numbers[0] if len(numbers) == 1 else numbers
    return reduce(partial(_further, way=way), row)


#: The greatest and the least of some numbers, or of a row of them.
greatest, least = partial(_extreme, way=1), partial(_extreme, way=-1)
