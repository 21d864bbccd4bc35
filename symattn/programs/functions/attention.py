"""Functions of attention, of scores, queries and keys; losses, as PyTorch has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from symattn.errors import Malformed
from symattn.expressions.shapes import every, show
from symattn.numbers.values import ONE, ZERO, Value
from symattn.programs import nodes
from symattn.programs.backward import flow, minus, over, plus, times
from symattn.programs.functions.arranging import (
    angles,
    as_row,
    below,
    column_of,
    counted,
    onehot,
)
from symattn.programs.functions.calls import Count, Domain, Flows, Given, Size, function
from symattn.programs.functions.entries import COMPARISONS, power
from symattn.programs.functions.rows import log_softmax, mean
from symattn.programs.nodes import Node
from symattn.programs.tables import distance, number, seen, tabled


def _targets(x: Node, y: Node) -> tuple[Node, Node]:
    """Logits as rows, and as many rows of targets: probabilities, or whole numbers."""
    if not x.shape:
        raise Malformed("expected a row of logits, or a matrix, found a scalar")
    if y.shape == x.shape:
        return as_row(x), as_row(y)
    if y.shape == () and len(x.shape) == 1:
        y = Node("reshape", (y,), (1,))
    if y.shape != as_row(x).shape[:1]:
        raise Malformed(
            f"expected a whole number for each row of {show(x.shape)}, or probabilities of that "
            f"shape, found {show(y.shape)}"
        )
    return as_row(x), onehot(y, x.shape[-1])


def _mean_of_rows(weights: Node, levels: Node) -> Node:
    """Minus the mean of weighted logarithms; one that is masked has weight 0."""
    return nodes.negate(over(nodes.total(flow(weights, levels)), levels.shape[0]))


def weighted(node: Node) -> tuple[Node, Node]:
    """The weights that a loss gives to logarithms, and the logits or logarithms, as rows."""
    assert node.written is not None
    given = node.written.given
    levels, targets = _targets(given["x"], given["targets"])
    return _smoothed(targets, given.get("label_smoothing")), levels


def _smoothed(targets: Node, smoothing: Node | None) -> Node:
    if smoothing is None:
        return targets
    if smoothing.shape:
        raise Malformed(f"expected a number for label_smoothing, found {show(smoothing.shape)}")
    return plus(times(minus(1, smoothing), targets), over(smoothing, targets.shape[1]))


def _cross_entropy_back(node: Node, g: Node, x: Node, y: Node, smoothing: Node | None) -> Flows:
    """(softmax - targets) / rows, where the targets of a row add up to 1."""
    targets, logits = weighted(node)
    weights = nodes.softmax(logits)
    if y.shape == x.shape:
        # Whole numbers are rows that add up to 1 for certain.
        weights = times(weights, nodes.rowsum(targets))
    apart = minus(weights, targets)
    into = nodes.shaped(times(g, over(apart, logits.shape[0])), x.shape)
    return [into, *_into_weights(g, log_softmax(logits), x, y, smoothing)]


def _into_weights(g: Node, levels: Node, x: Node, y: Node, smoothing: Node | None = None) -> Flows:
    """Return what flows into targets and smoothing, by the logarithms that they weigh: into a
    weight of minus infinity no number does, and it is an error to ask for it."""
    slopes = times(nodes.negate(levels), over(g, levels.shape[0]))
    flows: Flows = [nodes.shaped(slopes, y.shape) if y.shape == x.shape else None]
    if smoothing is not None:
        _, targets = _targets(x, y)
        if flows[0] is not None:
            flows[0] = times(minus(1, smoothing), flows[0])
        flows.append(nodes.total(times(slopes, minus(over(1, targets.shape[1]), targets))))
    return flows


def _target_domain(given: Given) -> Domain:
    """Weights of all classes, or whole numbers."""
    x, targets = given["x"], given["targets"]
    return Domain(0) if targets.shape == x.shape else Domain(0, x.shape[-1] - 1, whole=True)


@function(
    _cross_entropy_back,
    domains={"targets": _target_domain, "label_smoothing": Domain(0, 1)},
)
def cross_entropy(x: Node, targets: Node, label_smoothing: Node | None = None) -> Node:
    """The mean over rows of -sum t log softmax(x); targets are whole numbers or probabilities."""
    logits, wanted = _targets(x, targets)
    return _mean_of_rows(_smoothed(wanted, label_smoothing), log_softmax(logits))


def _nll_back(node: Node, g: Node, x: Node, y: Node) -> Flows:
    weights, levels = weighted(node)
    into = times(g, over(nodes.negate(weights), levels.shape[0]))
    return [nodes.shaped(into, x.shape), *_into_weights(g, levels, x, y)]


@function(_nll_back, domains={"targets": _target_domain})
def nll(x: Node, targets: Node) -> Node:
    """The mean over rows of minus the logarithm at the target, of logarithms of probabilities."""
    levels, wanted = _targets(x, targets)
    return _mean_of_rows(wanted, levels)


def _need_alike(x: Node, y: Node) -> None:
    if x.shape != y.shape:
        raise Malformed(f"expected two of one shape, found {show(x.shape)} and {show(y.shape)}")


@function(domains={"targets": Domain(0, 1)})
def binary_cross_entropy(x: Node, targets: Node) -> Node:
    """The mean of -(t log x + (1 - t) log(1 - x)), of probabilities."""
    _need_alike(x, targets)
    rest = times(minus(1, targets), nodes.apply("log", minus(1, x)))
    return nodes.negate(mean(plus(times(targets, nodes.apply("log", x)), rest)))


@function()
def mse(x: Node, targets: Node) -> Node:
    """The mean square difference."""
    _need_alike(x, targets)
    return mean(power(minus(x, targets), number(2)))


def _need_scores(x: Node, name: str) -> None:
    if len(x.shape) != 2:
        raise Malformed(f"{name} takes a matrix of scores, found {show(x.shape)}")


def _seen(x: Node, left: int, right: int) -> Node:
    """A table of the keys j with i - left <= j <= i + right."""
    return tabled(partial(seen, left, right), *x.shape)


@function(is_written=False)
def head(x: Node, k: Count, heads: Size) -> Node:
    """The columns of head k of so many, counted from 0."""
    if len(x.shape) != 2 or x.shape[1] % heads:
        raise Malformed(
            f"expected a matrix of a multiple of {heads} columns, found {show(x.shape)}"
        )
    if k >= heads:
        raise Malformed(f"there is no head {k} of {heads}: they are counted from 0")
    width = x.shape[1] // heads
    places = every(x.shape[0]), range(k * width, (k + 1) * width)
    return Node("pick", (x,), (x.shape[0], width), places)


@function(is_written=False)
def causal(x: Node, align: Literal["top-left", "bottom-right"] = "top-left") -> Node:
    """Scores of later keys masked; bottom-right lets the last query see all keys."""
    _need_scores(x, "causal")
    rows, columns = x.shape
    if align == "top-left" or rows == columns:
        return nodes.causal(x)
    return nodes.mask(x, _seen(x, rows + columns, columns - rows))


@function(is_written=False)
def mask(x: Node, M: Node) -> Node:
    """Scores where M is 0 masked, the others kept."""
    return nodes.mask(x, M)


@function()
def window(x: Node, left: Count, right: Count = Count(0)) -> Node:  # noqa: B008
    """Scores of keys more than left before a query, or more than right after it, masked."""
    _need_scores(x, "window")
    return nodes.mask(x, _seen(x, left, right))


@function(domains={"lengths": lambda given: Domain(0, given["x"].shape[1], whole=True)})
def padding(x: Node, lengths: Node) -> Node:
    """Scores of keys from a length on masked; one whole number for all queries."""
    _need_scores(x, "padding")
    if lengths.shape:
        raise Malformed(f"expected one length for all queries, found {show(lengths.shape)}")
    keep = COMPARISONS["<"](counted(x.shape[1]), lengths)
    return nodes.mask(x, nodes.spread(keep, x.shape))


@function()
def alibi(x: Node, slope: Node) -> Node:
    """Scores less the distance of query and key times a slope (Press and others, 2022)."""
    _need_scores(x, "alibi")
    if slope.shape:
        raise Malformed(f"expected a number for the slope, found {show(slope.shape)}")
    return minus(x, times(slope, tabled(distance, *x.shape)))


@function()
def softcap(x: Node, cap: Node) -> Node:
    """cap tanh(x / cap): scores between -cap and cap."""
    if cap.shape:
        raise Malformed(f"expected a number for the cap, found {show(cap.shape)}")
    return times(cap, nodes.apply("tanh", over(x, cap)))


@function()
def additive(q: Node, k: Node, v: Node) -> Node:
    """Bahdanau's scores: of query i and key j the sum of v_c tanh(q_ic + k_jc)."""
    if len(q.shape) != 2 or len(k.shape) != 2 or not q.shape[1:] == k.shape[1:] == v.shape:
        shapes = ", ".join(show(x.shape) for x in (q, k, v))
        raise Malformed(
            f"expected matrices of as many columns as the vector is long, found {shapes}"
        )
    nodes.need_room((q.shape[0], k.shape[0]))
    each = (nodes.apply("tanh", plus(nodes.index(q, (i,)), k)) for i in range(q.shape[0]))
    return below(tuple(nodes.matmul(level, v) for level in each))


def _rope_back(node: Node, g: Node, x: Node, positions: Node | None, **given: Any) -> Flows:
    """Turned back by the same angles."""
    at = counted(x.shape[0]) if positions is None else positions
    flow = rope(g, nodes.negate(at), **given)
    return [flow, *(None for _ in nodes.arguments(node)[1:])]


@function(_rope_back, domains={"base": Domain(0, out=True)})
def rope(
    x: Node, positions: Node | None = None, *, base: Node | None = None, interleaved: bool = True
) -> Node:
    """Rotary positions: pairs of columns turned by the position times 10000^(-2c/d).

    Pairs are neighbours (Su and others, 2021), or halves apart where not interleaved.
    """
    _need_scores(x, "rope")
    rows, columns = x.shape
    at = counted(rows) if positions is None else positions
    if at.shape == ():
        at = nodes.spread(Node("reshape", (at,), (1,)), (rows,))
    if at.shape != (rows,):
        raise Malformed(f"expected a position for each of {rows} rows, found {show(at.shape)}")
    quarter = _quarter(columns, interleaved)
    turned = angles(at, columns, number(10000) if base is None else base)
    places = [c // 2 if interleaved else c % (columns // 2) for c in range(columns)]
    cos, sin = (
        nodes.concat(tuple(column_of(nodes.apply(name, turned), place) for place in places))
        for name in ("cos", "sin")
    )
    return plus(times(x, cos), times(nodes.matmul(x, quarter), sin))


def _quarter(d: int, interleaved: bool) -> Node:
    """The matrix that turns every pair by a right angle: (x, y) to (-y, x)."""
    apart = 1 if interleaved else d // 2

    def entry(i: int, j: int) -> Value:
        # The first of a pair, of which the other stands so far apart.
        is_pair = abs(i - j) == apart and min(i, j) // apart % 2 == 0
        return (ONE if i < j else -ONE) if is_pair else ZERO

    return tabled(entry, d, d)


#: Weights, and the logarithms that they weigh: one that is minus infinity has weight 0.
WEIGHTED: Mapping[str, Callable[[Node], tuple[Node, Node]]] = {
    "nll": weighted,
    "cross_entropy": weighted,
}
