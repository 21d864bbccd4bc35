"""Whole arrays in mpmath with 120 digits: what is done with them, entry by entry and whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

mp = mpmath.mp.clone()
mp.dps = 120
#: What is as good as 0 where it is divided by.
NOTHING = mp.mpf(10) ** -90


class NoMeaning(Exception):
    """Nothing is said at this point: a denominator is 0, a place does not exist."""


class NoPlace(NoMeaning):
    """A place beyond the end of its axis."""


class Unreadable(Exception):
    """The line is not in the language."""


@dataclass(frozen=True)
class Grid:
    """An array with the names of its axes."""

    data: Any
    axes: tuple[str | int, ...]


def _log(x):
    if x <= NOTHING:
        raise NoMeaning
    return mp.log(x)


def _root(x):
    if x < 0:
        raise NoMeaning
    return mp.sqrt(x)


def _sigmoid(x):
    return 1 / (1 + mp.exp(-x))


def _quotient(x, y):
    if abs(y) <= NOTHING:
        raise NoMeaning
    return x / y


def _power(x, y):
    if y == int(y):
        return _quotient(mp.one, x ** -int(y)) if y < 0 else x ** int(y)
    if x < 0 or (x == 0 and y < 0):
        raise NoMeaning
    return x**y


EACH = {
    "exp": mp.exp,
    "log": _log,
    "sqrt": _root,
    "sin": mp.sin,
    "cos": mp.cos,
    "tanh": mp.tanh,
    "sigmoid": _sigmoid,
    "softplus": lambda x: mp.log(1 + mp.exp(x)),
    "silu": lambda x: x * _sigmoid(x),
    "relu": lambda x: max(x, mp.zero),
    "erf": mp.erf,
    "gelu": lambda x: x * (1 + mp.erf(x / mp.sqrt(2))) / 2,
}
PAIRS = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": _quotient,
    "**": _power,
}


def each(function, grid):
    """A function at every entry."""
    if not isinstance(grid, Grid):
        return function(grid)
    found = np.empty(grid.data.shape, dtype=object)
    for at in np.ndindex(found.shape):
        found[at] = None if grid.data[at] is None else function(grid.data[at])
    return Grid(found, grid.axes)


def fitted(left, right):
    """Two grids with as many axes; a vector is a column, or a row where only that fits."""
    if len(left.axes) < len(right.axes):
        second, first = fitted(right, left)
        return first, second
    if len(left.axes) == 2 and len(right.axes) == 1:
        if left.axes[0] == right.axes[0]:
            right = Grid(right.data[:, None], (right.axes[0], 1))
        else:
            right = Grid(right.data[None, :], (1, right.axes[0]))
            if left.axes == (1, 1):
                raise Unreadable("a vector beside one entry")
    while len(right.axes) < len(left.axes):
        right = Grid(right.data[None], (1, *right.axes))
    for one, other in zip(left.axes, right.axes, strict=True):
        if one != other and 1 not in (one, other):
            raise Unreadable(f"shapes {left.axes} and {right.axes}")
    return left, right


def pair(function, left, right):
    """Two values combined entry by entry."""
    if not isinstance(left, Grid) and not isinstance(right, Grid):
        return function(left, right)
    if not isinstance(left, Grid):
        return each(lambda y: function(left, y), right)
    if not isinstance(right, Grid):
        return each(lambda x: function(x, right), left)
    left, right = fitted(left, right)
    one, other = np.broadcast_arrays(left.data, right.data)
    found = np.empty(one.shape, dtype=object)
    for at in np.ndindex(found.shape):
        found[at] = function(one[at], other[at])
    axes = zip(left.axes, right.axes, strict=True)
    return Grid(found, tuple(b if a == 1 else a for a, b in axes))


def product(left: Any, right: Any) -> Any:
    """The matrix product."""
    if not isinstance(left, Grid) or not isinstance(right, Grid):
        raise Unreadable("@ of a number")
    one, other = left, right
    if len(one.axes) == 1 and len(other.axes) == 2 and other.axes[0] == 1:
        one = Grid(one.data[:, None], (*one.axes, 1))
    if one.axes[-1] != other.axes[max(len(other.axes) - 2, 0)]:
        raise Unreadable("@ of shapes that don't fit")
    if len(other.axes) > 2:
        if one.axes[:-2] != other.axes[:-2] or len(one.axes) != 3:
            raise Unreadable("@ of many axes")
        data = np.array([a @ b for a, b in zip(one.data, other.data, strict=True)], dtype=object)
        return Grid(data, (*one.axes[:-1], other.axes[-1]))
    found = one.data @ other.data
    axes = (*one.axes[:-1], *other.axes[1:])
    if axes in ((), (1,)):
        return found if axes == () else found[0]
    return Grid(found, axes)


def reduced(function: str, value: Grid) -> Any:
    """A function of an array as a whole."""
    data, axes = value.data, value.axes
    match function, len(axes):
        case "softmax", _:
            powers = each(mp.exp, value).data
            return Grid(powers / powers.sum(axis=-1, keepdims=True), axes)
        case "logsumexp", 1:
            return mp.log(each(mp.exp, value).data.sum())
        case "logsumexp", _:
            powers = each(mp.exp, value).data.sum(axis=-1, keepdims=True)
            return each(mp.log, Grid(powers, (*axes[:-1], 1)))
        case "rowsum", 2:
            return Grid(data.sum(axis=1, keepdims=True), (axes[0], 1))
        case "colsum", 2:
            return Grid(data.sum(axis=0, keepdims=True), (1, axes[1]))
        case (("total" | "sum"), _):
            return data.sum()
        case "mean", _:
            return data.sum() / data.size
        case "trace", 2 if axes[0] == axes[1]:
            return np.trace(data)
        case "diag", 1:
            found = np.full((data.size, data.size), mp.zero, dtype=object)
            found[np.diag_indices(data.size)] = data
            return Grid(found, (axes[0], axes[0]))
        case "diag", 2 if axes[0] == axes[1]:
            return Grid(np.diag(data), axes[:1])
    raise Unreadable(f"{function} of {axes}")
