"""Scores of attention: who is seen, from where, and how far away.

How functions of steps take their arguments.

An argument is read as its type says: a quantity (``Place``), an axis, a whole
number that is known, a switch or a word.

Functions of entries: each by itself, or two by two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from symattn.crosscheck.lines import Place, Shape, TapeLines, broadcast, worded
from symattn.crosscheck.scalars import Tracked, tracked
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


def _angles(w: TapeLines, p: Place, base: Place | None, d: int) -> Place:
    """The angle of each position in each pair of d columns."""
    n = w.grid(p)[1]
    operands = (p, w.scalar(given_or(w, base, 10000.0), "base"))
    return w.add("angle", operands, (n, (d + 1) // 2), sizes={"n": n, "d": d})


def _counted(w: TapeLines, n: int) -> Place:
    """The positions 0 to n - 1."""
    return w.add("entries", (), (n,), entries=(tuple(Tracked(float(i)) for i in range(n)),))


def _positions(w: TapeLines, n: Whole, d: Whole, base: Place | None = None) -> Place:
    rows, columns = sizes_of((n, d), "positions")
    theta = _angles(w, _counted(w, rows), base, columns)
    table = w.add("sinusoids", (theta,), (rows, columns + columns % 2))
    return w.selection(table, (slice(None), slice(columns))) if columns % 2 else table


def _rope(
    w: TapeLines,
    X: Place,
    positions: Place | None = None,
    base: Place | None = None,
    interleaved: Flag = True,
) -> Place:
    rows, columns = w.grid(row(w, X, "rope"))
    if columns % 2:
        raise Malformed(f"rope turns pairs of columns, found {columns} columns")
    p = _counted(w, rows) if positions is None else positions
    if not w.shape(p):
        p = w.spread(p, (rows,))
    if w.grid(p) != (1, rows):
        raise Malformed(f"rope expects {rows} positions, found {worded(w.shape(p))}")
    theta = _angles(w, p, base, columns)
    if interleaved:
        return w.add("rope", (X, theta), w.shape(X))
    return w.add("rope_halves", (X, theta), w.shape(X), sizes={"a": columns // 2})


def _head(w: TapeLines, X: Place, k: Whole, heads: Whole) -> Place:
    _, columns = w.matrix(X, "head")
    if heads < 1 or columns % heads or not 0 <= k < heads:
        raise Malformed(f"head expects one of {heads} equal parts of {columns} columns, found {k}")
    width = columns // heads
    return w.selection(X, (slice(None), slice(k * width, (k + 1) * width)))


def _causal(w: TapeLines, S: Place, align: Word = "top-left") -> Place:
    shape = w.matrix(S, "causal")
    operations = {"top-left": "causal", "bottom-right": "causal_last"}
    if align not in operations:
        raise Malformed(f"align expects 'top-left' or 'bottom-right', found {align!r}")
    return w.add(operations[align], (S,), shape)


def _mask(w: TapeLines, S: Place, M: Place) -> Place:
    scores, kept = w.shape(S), w.shape(M)
    if broadcast(scores, kept) != scores:
        raise Malformed(f"a mask of {worded(kept)} doesn't fit scores of {worded(scores)}")
    return w.add("mask", (S, w.spread(M, scores)), scores)


def _window(w: TapeLines, S: Place, left: Whole, right: Whole = 0) -> Place:
    return w.add("window", (S,), w.matrix(S, "window"), sizes={"a": left, "b": right})


def _padding(w: TapeLines, S: Place, lengths: Whole) -> Place:
    keys = w.grid(S)[1]
    if not 0 <= lengths <= keys:
        raise Malformed(f"padding expects a length from 0 to {keys}, found {lengths}")
    return w.add("padding", (row(w, S, "padding"),), w.shape(S), sizes={"a": lengths})


def _alibi(w: TapeLines, S: Place, slope: Place) -> Place:
    return w.add("distance_bias", (S, w.scalar(slope, "slope")), w.matrix(S, "alibi"))


def _additive(w: TapeLines, Q: Place, K: Place, v: Place) -> Place:
    (queries, width), (keys, other) = w.matrix(Q, "additive"), w.matrix(K, "additive")
    if not width == other == w.grid(v)[1] or w.grid(v)[0] != 1:
        shapes = ", ".join(worded(w.shape(line)) for line in (Q, K, v))
        raise Malformed(f"additive expects as many columns in Q and K as v has entries: {shapes}")
    return w.add("additive", (Q, K, v), (queries, keys))


#: The functions of steps that this module writes, by name.
_SCORES: Mapping[str, Callable[..., Place]] = {
    "positions": _positions, "rope": _rope, "head": _head, "causal": _causal,
    "mask": _mask, "window": _window, "padding": _padding, "alibi": _alibi,
    "additive": _additive,
}  # fmt: skip


#: What the cube of gelu's tanh form is multiplied by.
_CUBE = Fraction(44715, 1000000)


def _of_two(operation: str) -> Callable[..., Place]:
    """A function of two entries."""

    def call(w: TapeLines, X: Place, Y: Place) -> Place:
        return w.entrywise(operation, X, Y)

    return call


def _gelu(w: TapeLines, X: Place, approximate: Word = "none") -> Place:
    if approximate == "none":
        return each("gelu")(w, X)
    if approximate != "tanh":
        raise Malformed(f"approximate expects 'tanh' or 'none', found {approximate!r}")
    U = w.add("gelu_inner", (X, w.number(tracked(_CUBE))), w.shape(X))
    return w.add("gelu_tanh", (X, U), w.shape(X))


def _clip(w: TapeLines, X: Place, low: Place, high: Place) -> Place:
    return w.entrywise("clip", X, low, high)


def _where(w: TapeLines, M: Place, X: Place, Y: Place) -> Place:
    return w.entrywise("where", M, X, Y)


def _softcap(w: TapeLines, S: Place, c: Place) -> Place:
    return w.add("softcap", (S, w.scalar(c, "softcap")), w.shape(S))


#: The functions of steps that this module writes, by name.
_ENTRIES: Mapping[str, Callable[..., Place]] = {
    **{
        name: each(operation)
        for name, operation in {
            "sqrt": "square_root", "exp": "exponential", "log": "logarithm", "sin": "sine",
            "tanh": "hyperbolic_tangent", "cos": "cosine", "erf": "error_function",
            "sigmoid": "sigmoid", "softplus": "softplus", "silu": "silu", "relu": "relu",
            "abs": "absolute", "sign": "sign",
        }.items()
    },
    "gelu": _gelu, "softcap": _softcap, "maximum": _of_two("maximum"),
    "minimum": _of_two("minimum"), "clip": _clip, "clamp": _clip, "where": _where,
}  # fmt: skip


FUNCTIONS = {**_SCORES, **_ENTRIES}
