"""Bounds on printed numbers, and on what is computed from them, in floats.

Printed numbers are rounded, so an expression of them has bounds: a quantity outside of these
isn't what they work out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np
import numpy.typing as npt

from symattn.documents.binding import values
from symattn.errors import SymattnError
from symattn.expressions import syntax
from symattn.numbers.rationals import read_printed
from symattn.programs.enclosures import Matrix
from symattn.spelling import NUMBER, POWER_OF_TEN, SIGN, written

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
        """Return which of some values lie in them."""
        return np.asarray((self.low <= values) & (values <= self.high))


def bounds(tree: syntax.Tree) -> Bounds | None:
    """The bounds of an expression of numbers, without axes of length 1; None where they
    are not known.

    >>> found = bounds(syntax.parse("0.5 * 2 + [1, 3] @ [1, 1]"))
    >>> float(found.low) < 5.0 < float(found.high), bounds(syntax.parse("1 / 0"))
    (True, None)
    """
    with np.errstate(all="ignore"):
        ends = _bounds(tree)
    if ends is None or not (np.isfinite(ends.low).all() and np.isfinite(ends.high).all()):
        return None
    low, high = ends.low.squeeze(), ends.high.squeeze()
    return Bounds(low - _ROUNDING * (1 + abs(low)), high + _ROUNDING * (1 + abs(high)))


def coming(
    tree: syntax.Tree, value: syntax.Tree, rounded: bool = False
) -> npt.NDArray[np.bool_] | None:
    """Return which figures of a printed value an expression of numbers may come to, as those with
    less than two decimals are exact, unless they may be ``rounded``; None where their shapes
    differ, or it is not known.

    >>> coming(syntax.parse("exp([0.0, 1.0])"), syntax.parse("[1.0, 2.8]")).tolist()
    [True, False]
    """
    near = bounds(tree if rounded else syntax.replaced(tree, _exact))
    parts = values.leaves(value)
    ends = [interval(part.text) for part in parts if isinstance(part, syntax.Literal)]
    known = [one for one in ends if one is not None]
    shape = tuple(size for size in values.shape(value) if size != 1)
    if near is None or near.low.shape != shape or not len(known) == len(ends) == prod(shape):
        return None
    low, high = np.array(known).T.reshape(2, *shape)
    return np.asarray((near.low <= high) & (low <= near.high))


def _exact(part: syntax.Tree) -> syntax.Tree | None:
    """A number that has too few decimals to be rounded, with more of them."""
    if not isinstance(part, syntax.Literal) or not _PLAIN.fullmatch(part.text):
        return None
    if not written(part.text).is_exact:
        return None
    mantissa, power, exponent = part.text.lower().partition("e")
    point = "" if "." in mantissa else "."
    return syntax.Literal(f"{mantissa}{point}000000000{power}{exponent}")


#: Exponents that are whole numbers.
_WHOLE = re.compile(r"([1-9][0-9]?)(?:\.0*)?")
_PLAIN = re.compile(rf"{SIGN}?{NUMBER}{POWER_OF_TEN}?")


def _bounds(tree: syntax.Tree) -> Bounds | None:
    match tree:
        case syntax.Literal(text):
            ends = interval(text)
            return None if ends is None else Bounds(np.array(ends[0]), np.array(ends[1]))
        case syntax.Array(items):
            return _stacked([_bounds(item) for item in items])
        case syntax.Negative(operand):
            of = _bounds(operand)
            return None if of is None else Bounds(-of.high, -of.low)
        case syntax.Transposed(operand):
            of = _bounds(operand)
            return None if of is None else Bounds(of.low.T, of.high.T)
        case syntax.Binary(op, left, right):
            x, y = _bounds(left), _bounds(right)
            return None if x is None or y is None else _operated(op, x, y)
        case syntax.Power(base, syntax.Literal(text)) if _WHOLE.fullmatch(text):
            of = _bounds(base)
            return None if of is None else _raised(of, int(text.partition(".")[0]))
        case syntax.Call(function, (operand,)) if function in _GROWING:
            of = _bounds(operand)
            grow = _GROWING[function]
            return None if of is None else Bounds(grow(of.low), grow(of.high))
        case syntax.Call("softmax", (operand,), ()):
            of = _bounds(operand)
            return None if of is None or not of.low.ndim else _shares(of)
    return None


def _raised(of: Bounds, times: int) -> Bounds:
    """The bounds of powers of each entry; an even one is least where an entry may be 0."""
    ends = of.low**times, of.high**times
    least = np.minimum(*ends)
    is_least = (of.low < 0) & (of.high > 0) & (times % 2 == 0)
    return Bounds(np.where(is_least, 0.0, least), np.maximum(*ends))


def _shares(of: Bounds) -> Bounds:
    """The bounds of a softmax: what grows is one entry, or all others."""
    most = of.high.max(axis=-1, keepdims=True)
    low, high = np.exp(of.low - most), np.exp(of.high - most)
    others = low.sum(axis=-1, keepdims=True) - low, high.sum(axis=-1, keepdims=True) - high
    return Bounds(low / (low + others[1]), high / (high + others[0]))


#: Functions that grow with each entry.
_GROWING: dict[str, Callable[[Matrix], Matrix]] = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": lambda x: np.sqrt(np.maximum(x, 0)),
    "total": lambda x: np.asarray(x.sum()),
}


def _stacked(items: list[Bounds | None]) -> Bounds | None:
    known = [item for item in items if item is not None]
    if len(known) < len(items) or len({bounds.low.shape for bounds in known}) != 1:
        return None
    return Bounds(
        np.stack([bounds.low for bounds in known]), np.stack([bounds.high for bounds in known])
    )


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
    (a, da), (b, db) = (
        ((bounds.low + bounds.high) / 2, (bounds.high - bounds.low) / 2) for bounds in (x, y)
    )
    middle, off = a @ b, abs(a) @ db + da @ abs(b) + da @ db
    return Bounds(np.asarray(middle - off), np.asarray(middle + off))


def halves(tree: syntax.Tree) -> Matrix:
    """Return how far what the figures of a block show may be off: nothing where all have too few
    decimals to have been rounded; one with less than others ends in zeros that it lost."""
    texts = [getattr(figure, "text", "") for figure in values.leaves(tree)]
    ends = [interval(text) or (0.0, 0.0) for text in texts]
    halves = np.array([(high - low) / 2 for low, high in ends])
    numbers = [written(text) for text in texts]
    rounded = np.array([not number.is_exact for number in numbers])
    if not rounded.any():
        return np.zeros_like(halves)
    broken = np.array([number.part != "" for number in numbers])
    return np.where(rounded, halves, np.where(broken, halves[rounded].min(), 0.0))


def rounds(value: float, text: str) -> bool:
    """Return whether a value rounds to a printed figure, as floats can tell.

    >>> rounds(0.50648, "0.5065"), rounds(0.50648, "50.7%"), rounds(-np.inf, "-inf")
    (True, False, True)
    """
    ends = interval(text)
    return ends is not None and ends[0] <= value <= ends[1]


def same(one: Matrix, other: Matrix) -> bool:
    """Return whether two values are the same, as floats can tell; masked scores are."""
    if one.shape != other.shape:
        return False
    with np.errstate(invalid="ignore"):
        return bool(np.all((one == other) | (np.abs(one - other) < 1e-12)))
