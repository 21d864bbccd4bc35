"""Functions of rows or columns: weights, sums, norms."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symattn.crosscheck.calls.arguments import Axis, Flag, Whole, each, given_or, kept_axis, row
from symattn.crosscheck.lines import Place, TapeLines, worded
from symattn.errors import Malformed


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


#: The functions of steps that this module writes, by name.
FUNCTIONS: Mapping[str, Callable[..., Place]] = {
    "softmax": _softmax, "log_softmax": _of_rows("log_softmax", "log_softmax"),
    "cumsum": _of_rows("cumsum", "cumulative"),
    "logsumexp": _reduction("logsumexp", 1), "entropy": _reduction("entropy", 1),
    "sum": _sum, "mean": _reduction("mean"), "var": _var, "std": _std,
    "max": _reduction("row_maximum"), "min": _reduction("row_minimum"),
    "norm": _reduction("length"),
    "rowsum": _for_rows("rowsum", "rowsum"), "colsum": _colsum, "total": _total,
    "rowmax": _for_rows("rowmax", "row_maximum"), "rowmin": _for_rows("rowmin", "row_minimum"),
    "layernorm": _layernorm, "rmsnorm": _rmsnorm, "l2norm": _l2norm,
}  # fmt: skip
