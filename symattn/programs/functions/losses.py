"""Losses: single numbers, means over what they are of, as PyTorch has them."""

from __future__ import annotations

from symattn.errors import Malformed
from symattn.programs import nodes
from symattn.programs.backward import flow, minus, number, over, plus, times
from symattn.programs.functions.arranging import onehot
from symattn.programs.functions.calls import function
from symattn.programs.functions.entries import Flows, power
from symattn.programs.functions.rows import log_softmax, mean
from symattn.programs.nodes import Node
from symattn.shapes import show


def _targets(x: Node, y: Node) -> tuple[Node, Node]:
    """Logits as rows, and as many rows of targets: probabilities, or whole numbers."""
    if not x.shape:
        raise Malformed("expected a row of logits, or a matrix, found a scalar")
    if y.shape == x.shape:
        return _rows(x), _rows(y)
    if y.shape == () and len(x.shape) == 1:
        y = Node("reshape", (y,), (1,))
    if y.shape != _rows(x).shape[:1]:
        raise Malformed(
            f"expected a whole number for each row of {show(x.shape)}, or probabilities of that "
            f"shape, found {show(y.shape)}"
        )
    return _rows(x), onehot(y, x.shape[-1])


def _rows(x: Node) -> Node:
    return x if len(x.shape) == 2 else Node("reshape", (x,), (1, *x.shape))


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


def _cross_entropy_back(node: Node, g: Node) -> Flows:
    """(softmax - targets) / rows, where the targets of a row add up to 1."""
    x, y, *_ = nodes.arguments(node)
    targets, logits = weighted(node)
    weights = nodes.softmax(logits)
    if y.shape == x.shape:
        # Whole numbers are rows that add up to 1 for certain.
        weights = times(weights, nodes.rowsum(targets))
    apart = minus(weights, targets)
    into = nodes.shaped(times(g, over(apart, logits.shape[0])), x.shape)
    return [into, *_into_weights(node, g, log_softmax(logits))]


def _into_weights(node: Node, g: Node, levels: Node) -> Flows:
    """What flows into targets and smoothing, by the logarithms that they weigh: into a weight of
    minus infinity no number does, and it is an error to ask for it."""
    x, y, *smoothing = nodes.arguments(node)
    slopes = times(nodes.negate(levels), over(g, levels.shape[0]))
    flows: Flows = [nodes.shaped(slopes, y.shape) if y.shape == x.shape else None]
    for part in smoothing:
        _, targets = _targets(x, y)
        if flows[0] is not None:
            flows[0] = times(minus(1, part), flows[0])
        flows.append(nodes.total(times(slopes, minus(over(1, targets.shape[1]), targets))))
    return flows


@function(_cross_entropy_back)
def cross_entropy(x: Node, targets: Node, label_smoothing: Node | None = None) -> Node:
    """The mean over rows of -sum t log softmax(x); targets are whole numbers or probabilities."""
    logits, wanted = _targets(x, targets)
    return _mean_of_rows(_smoothed(wanted, label_smoothing), log_softmax(logits))


def _nll_back(node: Node, g: Node) -> Flows:
    x, _ = nodes.arguments(node)
    weights, levels = weighted(node)
    into = times(g, over(nodes.negate(weights), levels.shape[0]))
    return [nodes.shaped(into, x.shape), *_into_weights(node, g, levels)]


@function(_nll_back)
def nll(x: Node, targets: Node) -> Node:
    """The mean over rows of minus the logarithm at the target, of logarithms of probabilities."""
    levels, wanted = _targets(x, targets)
    return _mean_of_rows(wanted, levels)


def _need_alike(x: Node, y: Node) -> None:
    if x.shape != y.shape:
        raise Malformed(f"expected two of one shape, found {show(x.shape)} and {show(y.shape)}")


@function()
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
