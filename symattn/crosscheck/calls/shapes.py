"""Sizes, the same entries in other places, and matrices that hold places."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

from symattn.crosscheck.calls.arguments import Axis, Whole, classes, row, sizes_of
from symattn.crosscheck.lines import Place, Shape, TapeLines, worded
from symattn.errors import Malformed


def _rows(w: TapeLines, X: Place) -> Place:
    return w.number(float(_sized(w, X)[0]))


def _cols(w: TapeLines, X: Place) -> Place:
    return w.number(float(_sized(w, X)[-1]))


def _sized(w: TapeLines, X: Place) -> Shape:
    if not w.shape(X):
        raise Malformed("a number has no rows and columns")
    return w.shape(X)


def _concat(w: TapeLines, *parts: Place, axis: Axis = 1) -> Place:
    if not parts:
        raise Malformed("concat expects quantities, found none")
    return reduce(lambda left, right: w.joined(left, right, axis), parts)


def _stack(w: TapeLines, *parts: Place) -> Place:
    for part in parts:
        if len(w.shape(part)) != 1:
            raise Malformed(f"stack expects vectors, found {worded(w.shape(part))}")
    if not parts:
        raise Malformed("stack expects vectors, found none")
    first = w.reshaped(parts[0], (1, *w.shape(parts[0])))
    return reduce(lambda left, right: w.joined(left, right, 0), parts[1:], first)


def _reshape(w: TapeLines, X: Place, *sizes: Whole) -> Place:
    return w.reshaped(X, sizes_of(sizes, "reshape"))


def _outer(w: TapeLines, u: Place, v: Place) -> Place:
    for line in (u, v):
        if len(w.shape(line)) != 1:
            raise Malformed(f"outer expects vectors, found {worded(w.shape(line))}")
    return w.add("outer", (u, v), w.shape(u) + w.shape(v))


def _diag(w: TapeLines, v: Place) -> Place:
    shape = w.shape(v)
    if not shape:
        raise Malformed("diag expects a vector or a matrix, found a number")
    if len(shape) == 1:
        return w.add("diagonal_matrix", (v,), shape * 2)
    return w.add("diagonal", (v,), (min(shape),))


def _repeat(w: TapeLines, X: Place, k: Whole, axis: Axis = 0) -> Place:
    if k < 1:
        raise Malformed(f"repeat expects a number of at least 1, found {k}")
    shape = w.shape(row(w, X, "repeat"))
    if len(shape) == 1:
        column = w.reshaped(X, (*shape, 1))
        return w.reshaped(
            w.add("repeat", (column,), (k * shape[0], 1), sizes={"a": k}), (k * shape[0],)
        )
    if axis == 1:
        return w.turned(_repeat(w, w.turned(X), k))
    return w.add("repeat", (X,), (k * shape[0], shape[1]), sizes={"a": k})


def _eye(w: TapeLines, n: Whole) -> Place:
    return w.add("identity", (), sizes_of((n, n), "eye"))


def _zeros(w: TapeLines, *sizes: Whole) -> Place:
    return w.filled(0.0, sizes_of(sizes, "zeros"))


def _ones(w: TapeLines, *sizes: Whole) -> Place:
    return w.filled(1.0, sizes_of(sizes, "ones"))


def onehot(w: TapeLines, ids: Place, n: Whole) -> Place:
    """Rows that are 1 in the column of their class, else 0."""
    return w.add(
        "one_hot", (ids,), (*classes(w, ids, "onehot"), *sizes_of((n,), "onehot")), sizes={"m": n}
    )


def _embedding(w: TapeLines, ids: Place, E: Place) -> Place:
    rows, columns = w.matrix(E, "embedding")
    return w.add("embedding", (ids, E), (*classes(w, ids, "embedding"), columns), sizes={"m": rows})


#: The functions of steps that this module writes, by name.
FUNCTIONS: Mapping[str, Callable[..., Place]] = {
    "rows": _rows, "cols": _cols, "concat": _concat, "stack": _stack, "reshape": _reshape,
    "outer": _outer, "diag": _diag, "repeat": _repeat, "eye": _eye, "zeros": _zeros,
    "ones": _ones, "onehot": onehot, "embedding": _embedding,
}  # fmt: skip
