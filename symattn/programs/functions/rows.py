"""Functions of rows and columns: sums, means, extremes, softmax and norms."""

from __future__ import annotations

from collections.abc import Callable

from symattn.errors import Malformed
from symattn.expressions.shapes import is_any, show
from symattn.languages.sentence import Sentence
from symattn.programs import nodes
from symattn.programs.backward import above, minus, over, plus, times
from symattn.programs.functions.arranging import as_row, flat
from symattn.programs.functions.calls import Axis, Count, Domain, Flows, function
from symattn.programs.functions.entries import COMPARISONS, sloped
from symattn.programs.nodes import Node

#: Along each row, which for a vector is the vector.
_ROWS = Axis(-1)


@function()
def rowsum(x: Node) -> Node:
    """The sum of each row, as a column."""
    return nodes.rowsum(x)


@function()
def colsum(x: Node) -> Node:
    """The sum of each column, as a row."""
    return nodes.colsum(x)


@function()
def total(x: Node) -> Node:
    """The sum of all entries."""
    return nodes.total(x)


def _need_axis(x: Node, axis: int | None) -> None:
    is_rows = axis is None or (axis == -1 and x.shape)
    if not is_rows and (axis, len(x.shape)) not in ((0, 1), (0, 2), (1, 2)):
        raise Malformed(f"there is no axis {axis} of {show(x.shape)}")


def summed(x: Node, axis: int | None = None) -> Node:
    """The sum along an axis, which stays; None: of all entries."""
    _need_axis(x, axis)
    if axis is None or len(x.shape) == 1:
        return nodes.total(x)
    return nodes.rowsum(x) if axis else nodes.colsum(x)


def _count(x: Node, axis: int | None) -> int:
    """Return how many entries are one along an axis."""
    rows, columns = x.grid
    return rows * columns if axis is None else rows if axis == 0 and len(x.shape) == 2 else columns


def along(x: Node, axis: int, of_rows: Callable[[Node], Node]) -> Node:
    """Return what a function of rows gives along an axis."""
    _need_axis(x, axis)
    if axis == 0 and len(x.shape) == 2:
        return nodes.transpose(of_rows(nodes.transpose(x)))
    return of_rows(x)


@function(name="sum")
def sum_(x: Node, axis: Axis | None = None) -> Node:
    """The sum of all entries, or along an axis."""
    return summed(x, axis)


@function()
def mean(x: Node, axis: Axis | None = None) -> Node:
    """The mean of all entries, or along an axis."""
    return over(summed(x, axis), _count(x, axis))


def _variance_back(node: Node, g: Node, x: Node, axis: int | None, ddof: int) -> Flows:
    apart = minus(x, mean(x, axis))
    return [times(g, over(times(2, apart), _count(x, axis) - ddof))]


@function(_variance_back)
def var(x: Node, axis: Axis | None = None, ddof: Count = Count(0)) -> Node:  # noqa: B008
    """The mean square distance from the mean, of one number less for ddof=1."""
    count = _count(x, axis) - ddof
    if count < 1:
        raise Malformed(f"expected more than {ddof} numbers to take the variance of, as ddof is")
    apart = minus(x, mean(x, axis))
    return over(summed(times(apart, apart), axis), count)


def _deviation_back(node: Node, g: Node, x: Node, axis: int | None, ddof: int) -> Flows:
    apart = minus(x, mean(x, axis))
    return [times(g, over(apart, times(_count(x, axis) - ddof, node)))]


@function(_deviation_back)
def std(x: Node, axis: Axis | None = None, ddof: Count = Count(0)) -> Node:  # noqa: B008
    """The root of the variance."""
    return nodes.apply("sqrt", var(x, axis, ddof))


# -- extremes ------------------------------------------------------------------------------

#: What flows into a largest entry.
_SHARED = Sentence("shared evenly by entries that are equal")


def _largest(x: Node, axis: int | None) -> Node:
    if len(x.shape) > 2:
        raise Malformed(f"expected a matrix, or a row, found {show(x.shape)}")
    if axis is None:
        # Equal entries share a slope evenly, as those of one row: any number of rows make none.
        is_matrix = len(x.shape) == 2 and any(map(is_any, x.shape))
        row = nodes.transpose(nodes.rowmax(x)) if is_matrix else as_row(flat(x))
        return Node("reshape", (nodes.rowmax(row),), ())

    def of_rows(row: Node) -> Node:
        if len(row.shape) == 2:
            return nodes.rowmax(row)
        return Node("reshape", (nodes.rowmax(as_row(row)),), ())

    return along(x, axis, of_rows)


def _extreme_back(node: Node, g: Node, x: Node, axis: int | None) -> Flows:
    peaks = COMPARISONS["=="](x, node)
    return [times(g, over(peaks, summed(peaks, axis)))]


@function(kink=_SHARED)
def rowmax(x: Node) -> Node:
    """The largest entry of each row, as a column."""
    return nodes.rowmax(x)


@function(lambda node, g, x: _extreme_back(node, g, x, -1), kink=_SHARED)
def rowmin(x: Node) -> Node:
    """The smallest entry of each row, as a column."""
    return nodes.negate(nodes.rowmax(nodes.negate(x)))


@function(_extreme_back, name="max", kink=_SHARED)
def largest(x: Node, axis: Axis | None = None) -> Node:
    """The largest of all entries, or along an axis."""
    return _largest(x, axis)


@function(_extreme_back, name="min", kink=_SHARED)
def smallest(x: Node, axis: Axis | None = None) -> Node:
    """The smallest of all entries, or along an axis."""
    return nodes.negate(_largest(nodes.negate(x), axis))


@function()
def cumsum(x: Node, axis: Axis = _ROWS) -> Node:
    """Sums up to each entry, along rows or down columns."""

    def of_rows(row: Node) -> Node:
        count = row.shape[-1]
        return nodes.matmul(row, nodes.transpose(nodes.triangle(count, count)))

    return along(x, axis, of_rows)


# -- softmax -------------------------------------------------------------------------------


def _with_sink(x: Node, sink: Node) -> Node:
    rows, columns = x.grid
    if sink.grid not in ((1, 1), (rows, 1)):
        raise Malformed(f"a sink is a number, or a column of {rows}, found {show(sink.shape)}")
    score = nodes.spread(sink, (rows, 1) if len(x.shape) == 2 else (1,))
    weights = nodes.softmax(nodes.concat((x, score)))
    return Node("pick", (weights,), x.shape, (range(rows), range(columns)))


def _softmax_back(node: Node, g: Node, x: Node, axis: int, *, sink: Node | None) -> Flows:
    """``A o (dA - sum(A o dA))``; a sink has the weight that is left."""
    flow = summed(times(node, g), axis)
    flows: Flows = [times(node, minus(g, flow))]
    if sink is not None:
        taken = nodes.negate(times(minus(1, summed(node, axis)), flow))
        # A sink of each column stands in a column, as that of each row.
        flows.append(nodes.gathered(nodes.transpose(taken) if axis == 0 else taken, sink.shape))
    return flows


@function(_softmax_back)
def softmax(x: Node, axis: Axis = _ROWS, *, sink: Node | None = None) -> Node:
    """exp(x) over the sum of it along each row; a sink is a score that takes weight."""
    if sink is not None:
        return along(x, axis, lambda rows: _with_sink(rows, sink))
    return along(x, axis, nodes.softmax) if x.shape else nodes.softmax(x)


@function(lambda node, g, x, axis: [times(g, softmax(x, axis))])
def logsumexp(x: Node, axis: Axis = _ROWS) -> Node:
    """The logarithm of the sum of the exponentials along each row."""
    return nodes.apply("log", summed(nodes.apply("exp", x), axis))


@function(lambda node, g, x, axis: [minus(g, times(softmax(x, axis), summed(g, axis)))])
def log_softmax(x: Node, axis: Axis = _ROWS) -> Node:
    """The logarithms of softmax: x - logsumexp(x)."""
    return minus(x, logsumexp(x, axis))


@function(domains={"x": Domain(0)})
def entropy(x: Node, axis: Axis = _ROWS) -> Node:
    """-sum of x log x along each row of weights; 0 log 0 is 0, and flat there."""
    # Where a weight is 0 its logarithm is taken to be that of 1.
    filled = plus(x, minus(1, above(x, 0)))
    return nodes.negate(summed(times(x, nodes.apply("log", filled)), axis))


# -- norms ---------------------------------------------------------------------------------


def _spread(square: Node, eps: Node) -> Node:
    """The root of a mean square, which eps keeps from 0."""
    if eps.shape:
        raise Malformed(f"expected a number for eps, found {show(eps.shape)}")
    return nodes.apply("sqrt", plus(square, eps))


def _scaled(x: Node, gamma: Node | None, beta: Node | None) -> Node:
    for vector in (gamma, beta):
        if vector is not None and vector.shape not in ((), x.shape[-1:], (1, x.shape[-1])):
            raise Malformed(
                f"expected {x.shape[-1]} numbers to scale or shift by, found {show(vector.shape)}"
            )
    if gamma is not None:
        x = times(x, _fitted(gamma, x))
    return x if beta is None else plus(x, _fitted(beta, x))


def _fitted(vector: Node, x: Node) -> Node:
    """A vector is scaled by one row as by a vector: it stays one."""
    return Node("reshape", (vector,), x.shape) if len(vector.shape) > len(x.shape) else vector


def _of_rows(x: Node) -> Axis:
    """The axis of rows, as it is written of a matrix."""
    if not x.shape:
        raise Malformed("expected a row or a matrix, found a scalar")
    return Axis(1) if len(x.shape) == 2 else _ROWS


def _through(flow: Node, gamma: Node | None, beta: Node | None, g: Node, unit: Node) -> Flows:
    """Return what flows into gamma and beta, behind what flows into x; none into eps."""
    flows: Flows = [flow]
    if gamma is not None:
        flows.append(nodes.gathered(times(g, unit), gamma.shape))
    if beta is not None:
        flows.append(nodes.gathered(g, beta.shape))
    return [*flows, None]


def _layernorm_back(
    node: Node, g: Node, x: Node, gamma: Node | None, beta: Node | None, *, eps: Node
) -> Flows:
    axis = _of_rows(x)
    unit = layernorm(x, eps=eps) if gamma or beta else node
    inner = g if gamma is None else times(g, _fitted(gamma, g))
    rest = minus(minus(inner, mean(inner, axis)), times(unit, mean(times(inner, unit), axis)))
    return _through(over(rest, _spread(var(x, axis), eps)), gamma, beta, g, unit)


@function(_layernorm_back, domains={"eps": Domain(0)})
def layernorm(x: Node, gamma: Node | None = None, beta: Node | None = None, *, eps: Node) -> Node:
    """(x - mean) / sqrt(variance + eps) * gamma + beta, row by row."""
    axis = _of_rows(x)
    unit = over(minus(x, mean(x, axis)), _spread(var(x, axis), eps))
    return _scaled(unit, gamma, beta)


def _root_mean_square(x: Node, eps: Node) -> Node:
    return _spread(mean(times(x, x), _of_rows(x)), eps)


def _rmsnorm_back(node: Node, g: Node, x: Node, gamma: Node | None, *, eps: Node) -> Flows:
    unit = rmsnorm(x, eps=eps) if gamma else node
    inner = g if gamma is None else times(g, _fitted(gamma, g))
    rest = minus(inner, times(unit, mean(times(inner, unit), _of_rows(x))))
    return _through(over(rest, _root_mean_square(x, eps)), gamma, None, g, unit)


@function(_rmsnorm_back, domains={"eps": Domain(0)})
def rmsnorm(x: Node, gamma: Node | None = None, *, eps: Node) -> Node:
    """x / sqrt(mean of x^2 + eps) * gamma, row by row."""
    return _scaled(over(x, _root_mean_square(x, eps)), gamma, None)


@function(sloped(over))
def norm(x: Node, axis: Axis | None = None) -> Node:
    """The length of all entries as a vector, or along an axis: the root of the sum of squares."""
    return nodes.apply("sqrt", summed(times(x, x), axis))


@function()
def l2norm(x: Node) -> Node:
    """Rows divided by their lengths."""
    return over(x, norm(x, _of_rows(x)))
