"""The functions of steps: what each writes on the tape.

Their names, orders and defaults are those of the steps. A function takes the lines and its
arguments, each read as its type says: a quantity (``Place``), an axis, a whole number that is
known, a switch or a word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce

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
    """Return what is given, or a number that stands for it."""
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


# -- sizes, places, losses, rows ------------------------------------------------------------


def _length(axis: int) -> Callable[..., Place]:
    """Return how many rows (0) or columns (-1) a quantity has."""

    def call(w: TapeLines, X: Place) -> Place:
        if not w.shape(X):
            raise Malformed("a number has no rows and columns")
        return w.number(float(w.shape(X)[axis]))

    return call


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
        return w.reshaped(_repeat(w, w.reshaped(X, (*shape, 1)), k), (k * shape[0],))
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


def _cross_entropy(
    w: TapeLines, logits: Place, targets: Place, label_smoothing: Place | None = None
) -> Place:
    shape, aim = w.shape(row(w, logits, "cross_entropy")), w.shape(targets)
    P = w.add("log_softmax", (logits,), shape)
    if aim == shape[:-1]:
        if label_smoothing is None:
            return _nll(w, P, targets)
        targets = onehot(w, targets, shape[-1])
    elif aim != shape:
        raise Malformed(
            f"targets of {worded(aim)} don't fit logits of {worded(shape)}: expected a class or "
            "the probabilities of all for each row"
        )
    if label_smoothing is not None:
        part = w.scalar(label_smoothing, "label_smoothing")
        targets = w.add("smoothed", (targets, part), shape)
    return w.add("cross_entropy", (P, targets), ())


def _nll(w: TapeLines, logp: Place, ids: Place) -> Place:
    shape = w.shape(row(w, logp, "nll"))
    if w.shape(ids) == shape:
        return w.add("cross_entropy", (logp, ids), ())
    if w.shape(ids) != shape[:-1]:
        raise Malformed(f"classes of {worded(w.shape(ids))} don't fit rows of {worded(shape)}")
    return w.add("nll", (logp, ids), (), sizes={"m": shape[-1]})


def _mean_of(operation: str) -> Callable[..., Place]:
    """A mean over the entries of two quantities."""

    def call(w: TapeLines, X: Place, Y: Place) -> Place:
        if w.shape(X) != w.shape(Y):
            shapes = " and ".join(worded(w.shape(line)) for line in (X, Y))
            raise Malformed(f"expected the same shape twice, found {shapes}")
        return w.add(operation, (X, Y), ())

    return call


def _of_rows(function: str, operation: str) -> Callable[..., Place]:
    """A function of the entries of a row together, as many as there are."""

    def call(w: TapeLines, S: Place, axis: Axis = 1) -> Place:
        return w.along(row(w, S, function), axis, lambda X: w.add(operation, (X,), w.shape(X)))

    return call


def _reduction(operation: str, by_default: Axis | None = None) -> Callable[..., Place]:
    """A number for each row or column, or for all."""

    def call(
        w: TapeLines, X: Place, axis: Axis | None = by_default, keepdims: Flag = True
    ) -> Place:
        kept_axis(keepdims)
        return w.along(X, axis, lambda rows: w.reduced(operation, rows))

    return call


def _for_rows(function: str, operation: str) -> Callable[..., Place]:
    """A number for each row of a matrix, as a column."""

    def call(w: TapeLines, X: Place) -> Place:
        w.matrix(X, function)
        return w.reduced(operation, X)

    return call


def _sum(w: TapeLines, X: Place, axis: Axis | None = None, keepdims: Flag = True) -> Place:
    kept_axis(keepdims)
    if axis is None or len(w.shape(X)) < 2:
        return w.add("total", (X,), ())
    return _colsum(w, X) if axis == 0 else w.reduced("rowsum", X)


def _colsum(w: TapeLines, X: Place) -> Place:
    return w.add("colsum", (X,), (1, w.matrix(X, "colsum")[1]))


def _total(w: TapeLines, X: Place) -> Place:
    return w.add("total", (X,), ())


def _var(
    w: TapeLines, X: Place, axis: Axis | None = None, ddof: Whole = 0, keepdims: Flag = True
) -> Place:
    kept_axis(keepdims)
    return w.along(
        X, axis, lambda rows: w.reduced("variance", rows, w.reduced("mean", rows), a=ddof)
    )


def _std(
    w: TapeLines, X: Place, axis: Axis | None = None, ddof: Whole = 0, keepdims: Flag = True
) -> Place:
    return each("square_root")(w, _var(w, X, axis, ddof, keepdims))


def _softmax(w: TapeLines, S: Place, axis: Axis = 1, sink: Place | None = None) -> Place:
    return w.along(row(w, S, "softmax"), axis, lambda rows: _weights(w, rows, sink))


def _weights(w: TapeLines, S: Place, sink: Place | None) -> Place:
    """The weights of the rows; a sink is one more score, whose weight is left out."""
    shape = w.shape(S)
    if sink is not None:
        rows = shape[:-1]
        sink_shape = w.shape(sink)
        if w.grid(sink) == (1, 1):
            sink, sink_shape = w.reshaped(sink, ()), ()
        if sink_shape not in ((), rows, (*rows, 1)):
            raise Malformed(f"a sink of {worded(sink_shape)} doesn't fit scores of {worded(shape)}")
        column = (*rows, 1)
        fits = w.reshaped(sink, column) if sink_shape == rows and rows else w.spread(sink, column)
        S = w.joined(S, w.reshaped(fits, column), 1)
    A = w.add("softmax", (S,), w.shape(S))
    return A if sink is None else w.selection(A, (slice(None),) * (len(shape) - 1) + (slice(-1),))


def _along_columns(w: TapeLines, given: Place | None, default: float, X: Place, what: str) -> Place:
    """A vector with an entry for each column of X."""
    width = w.grid(X)[1]
    line = given_or(w, given, default)
    if w.grid(line) not in ((1, 1), (1, width)):
        raise Malformed(
            f"{what} expects one number for each of {width} columns, found {worded(w.shape(line))}"
        )
    return w.spread(line, (width,))


def _layernorm(
    w: TapeLines,
    X: Place,
    gamma: Place | None = None,
    beta: Place | None = None,
    eps: Place | None = None,
) -> Place:
    if eps is None:
        raise Malformed("layernorm needs eps: write it, eps=1e-5 or eps=0")
    mean = w.reduced("mean", row(w, X, "layernorm"))
    operands = (
        X,
        mean,
        w.reduced("variance", X, mean, a=0),
        _along_columns(w, gamma, 1.0, X, "gamma"),
        _along_columns(w, beta, 0.0, X, "beta"),
        w.scalar(eps, "eps"),
    )
    return w.add("layer_norm", operands, w.shape(X))


def _rmsnorm(w: TapeLines, X: Place, gamma: Place | None = None, eps: Place | None = None) -> Place:
    if eps is None:
        raise Malformed("rmsnorm needs eps: write it, eps=1e-5 or eps=0")
    square = w.reduced("mean_square", row(w, X, "rmsnorm"))
    gain = _along_columns(w, gamma, 1.0, X, "gamma")
    return w.add("rms_norm", (X, square, gain, w.scalar(eps, "eps")), w.shape(X))


def _l2norm(w: TapeLines, X: Place) -> Place:
    return w.add("unit_rows", (X, w.reduced("length", row(w, X, "l2norm"))), w.shape(X))


#: The functions of steps, by name.
FUNCTIONS: Mapping[str, Callable[..., Place]] = {
    # Entry by entry
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
    # Rows and columns
    "softmax": _softmax, "log_softmax": _of_rows("log_softmax", "log_softmax"),
    "cumsum": _of_rows("cumsum", "cumulative"),
    "logsumexp": _reduction("logsumexp", 1), "entropy": _reduction("entropy", 1),
    "sum": _sum, "mean": _reduction("mean"), "var": _var, "std": _std,
    "max": _reduction("row_maximum"), "min": _reduction("row_minimum"),
    "norm": _reduction("length"),
    "rowsum": _for_rows("rowsum", "rowsum"), "colsum": _colsum, "total": _total,
    "rowmax": _for_rows("rowmax", "row_maximum"), "rowmin": _for_rows("rowmin", "row_minimum"),
    "layernorm": _layernorm, "rmsnorm": _rmsnorm, "l2norm": _l2norm,
    # Shapes
    "rows": _length(0), "cols": _length(-1), "concat": _concat, "stack": _stack,
    "reshape": _reshape, "outer": _outer, "diag": _diag, "repeat": _repeat, "eye": _eye,
    "zeros": _zeros, "ones": _ones, "onehot": onehot, "embedding": _embedding,
    # Scores and losses
    "positions": _positions, "rope": _rope, "head": _head, "causal": _causal,
    "mask": _mask, "window": _window, "padding": _padding, "alibi": _alibi,
    "additive": _additive, "cross_entropy": _cross_entropy, "nll": _nll,
    "binary_cross_entropy": _mean_of("binary_cross_entropy"), "mse": _mean_of("squared_error"),
}  # fmt: skip
#: Other names of options.
ALIASES: Mapping[str, str] = {"dim": "axis", "correction": "ddof", "keepdim": "keepdims"}
