"""Between what an expression of printed numbers can lie: each was rounded to its last place.

What numbers are worked out from is looked for by value first: a quantity that is not in
these bounds has no working with these numbers, whatever its form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from symattn import syntax
from symattn.errors import SymattnError
from symattn.numbers.rationals import read_printed
from symattn.programs.floats import Matrix

#: A value that rounds to a figure may be this part of its last place off in floats.
_SLACK = 1e-6
#: As bounds are worked out in floats they may be this part of themselves off.
_ROUNDING = 1e-9


@lru_cache(maxsize=1 << 14)
def interval(text: str) -> tuple[float, float] | None:
    """Between what a value lies that rounds to a printed figure, as floats can tell; None
    of what is no figure.

    >>> [float(round(end, 4)) for end in interval("50.7%")], interval("-inf"), interval("x")
    ([0.5065, 0.5075], (-inf, -inf), None)
    """
    try:
        figure = read_printed(text)
        if figure is None:
            return -np.inf, -np.inf
        middle, half = float(figure.value), float(figure.unit) * (0.5 + _SLACK)
    except (SymattnError, OverflowError):
        return None
    return middle - half, middle + half


@dataclass(frozen=True)
class Bounds:
    """The least and the largest that each entry can be."""

    low: Matrix
    high: Matrix

    def holds(self, values: Matrix | np.float64) -> npt.NDArray[np.bool_]:
        """Which of some values lie in them."""
        return np.asarray((self.low <= values) & (values <= self.high))


def bounds(tree: syntax.Tree) -> Bounds | None:
    """The bounds of an expression of numbers, without axes of length 1; None where they
    are not known.

    >>> found = bounds(syntax.parse("0.5 * 2 + [1, 3] @ [1, 1]"))
    >>> float(found.low) < 5.0 < float(found.high), bounds(syntax.parse("1 / 0"))
    (True, None)
    """
    with np.errstate(all="ignore"):
        found = _bounds(tree)
    if found is None or not (np.isfinite(found.low).all() and np.isfinite(found.high).all()):
        return None
    low, high = found.low.squeeze(), found.high.squeeze()
    return Bounds(low - _ROUNDING * (1 + abs(low)), high + _ROUNDING * (1 + abs(high)))


def _bounds(tree: syntax.Tree) -> Bounds | None:
    match tree:
        case syntax.Literal(text):
            ends = interval(text)
            return None if ends is None else Bounds(np.array(ends[0]), np.array(ends[1]))
        case syntax.Array(items):
            return _stacked([_bounds(one) for one in items])
        case syntax.Negative(operand):
            of = _bounds(operand)
            return None if of is None else Bounds(-of.high, -of.low)
        case syntax.Transposed(operand):
            of = _bounds(operand)
            return None if of is None else Bounds(of.low.T, of.high.T)
        case syntax.Binary(op, left, right):
            x, y = _bounds(left), _bounds(right)
            return None if x is None or y is None else _operated(op, x, y)
        case syntax.Call(function, (operand,)) if function in _GROWING:
            of = _bounds(operand)
            grow = _GROWING[function]
            return None if of is None else Bounds(grow(of.low), grow(of.high))
    return None


#: Functions that grow with each entry.
_GROWING: dict[str, Callable[[Matrix], Matrix]] = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": lambda x: np.sqrt(np.maximum(x, 0)),
    "total": lambda x: np.asarray(x.sum()),
}


def _stacked(items: list[Bounds | None]) -> Bounds | None:
    known = [one for one in items if one is not None]
    if len(known) < len(items) or len({one.low.shape for one in known}) != 1:
        return None
    return Bounds(np.stack([one.low for one in known]), np.stack([one.high for one in known]))


def _operated(op: str, x: Bounds, y: Bounds) -> Bounds | None:
    scalar = x.low.ndim == 0 or y.low.ndim == 0
    if op == "@":
        return _product(x, y)
    if not scalar and x.low.shape != y.low.shape:
        return None
    match op:
        case "+":
            return Bounds(x.low + y.low, x.high + y.high)
        case "-":
            return Bounds(x.low - y.high, x.high - y.low)
        case "*":
            return _times(x, y)
        case "/" if not np.any((y.low <= 0) & (y.high >= 0)):
            return _times(x, Bounds(1 / y.high, 1 / y.low))
    return None


def _times(x: Bounds, y: Bounds) -> Bounds:
    corners = [x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high]
    return Bounds(np.minimum.reduce(corners), np.maximum.reduce(corners))


def _product(x: Bounds, y: Bounds) -> Bounds | None:
    """A matrix product: of middles, and how far it can be off."""
    if not (x.low.ndim and y.low.ndim) or x.low.shape[-1] != y.low.shape[0]:
        return None
    (a, da), (b, db) = (((one.low + one.high) / 2, (one.high - one.low) / 2) for one in (x, y))
    middle, off = a @ b, abs(a) @ db + da @ abs(b) + da @ db
    return Bounds(np.asarray(middle - off), np.asarray(middle + off))
