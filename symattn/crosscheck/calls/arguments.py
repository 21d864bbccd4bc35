"""How functions of steps take their arguments.

An argument is read as its type says: a quantity (``Place``), an axis, a whole
number that is known, a switch or a word.
"""

from __future__ import annotations

from collections.abc import Callable

from symattn.crosscheck.lines import Place, Shape, TapeLines, worded
from symattn.errors import Malformed

#: 0 down the columns, 1 along the rows.
Axis = int
Whole = int
Flag = bool
Word = str


def row(w: TapeLines, X: Place, function: str) -> Place:
    """A quantity that has to be a row or a matrix."""
    if not w.shape(X):
        raise Malformed(f"{function} expects a row or a matrix, found a number")
    return X


def given_or(w: TapeLines, given: Place | None, default: float) -> Place:
    """What is given, or a number that stands for it."""
    return w.number(default) if given is None else given


def sizes_of(sizes: tuple[int, ...], function: str) -> Shape:
    """The sizes of a vector or a matrix."""
    if not 1 <= len(sizes) <= 2 or min(sizes) < 1:
        raise Malformed(f"{function} expects one or two sizes of at least 1, found {sizes}")
    return sizes


def classes(w: TapeLines, ids: Place, function: str) -> Shape:
    """The shape of whole numbers, each of which names a row."""
    shape = w.shape(ids)
    if len(shape) > 1:
        raise Malformed(f"{function} expects a vector of whole numbers, found {worded(shape)}")
    return shape


def kept_axis(keepdims: bool) -> None:
    """Refuses to drop an axis: what is reduced keeps it."""
    if not keepdims:
        raise Malformed("keepdims=False has no meaning here: a sum along an axis keeps it")


def each(operation: str) -> Callable[..., Place]:
    """A function of every entry by itself."""

    def call(w: TapeLines, X: Place) -> Place:
        return w.add(operation, (X,), w.shape(X))

    return call
