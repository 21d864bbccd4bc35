"""Losses: single numbers, means over what they are of, as PyTorch has them."""

from __future__ import annotations

from symattn.errors import Malformed
from symattn.programs import nodes
from symattn.programs.algebra import minus, number, over, plus, times
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


def _mean_of_rows(x: Node, products: Node) -> Node:
    return nodes.negate(over(nodes.total(products), x.shape[0]))


def _smoothed(targets: Node, smoothing: Node | None) -> Node:
    if smoothing is None:
        return targets
    if smoothing.shape:
        raise Malformed(f"expected a number for label_smoothing, found {show(smoothing.shape)}")
    return plus(times(minus(1, smoothing), targets), over(smoothing, targets.shape[1]))


def _cross_entropy_back(node: Node, g: Node) -> Flows:
    """(softmax - targets) / rows, where the targets of a row add up to 1."""
    x, y, *smoothing = nodes.arguments(node)
    logits, targets = _targets(x, y)
    targets = _smoothed(targets, smoothing[0] if smoothing else None)
    weights = nodes.softmax(logits)
    if y.shape == x.shape:
        # Whole numbers are rows that add up to 1 for certain.
        weights = times(weights, nodes.rowsum(targets))
    apart = minus(weights, targets)
    return [_like(times(g, over(apart, logits.shape[0])), x), None, *(None for _ in smoothing)]


def _like(g: Node, x: Node) -> Node:
    return g if g.shape == x.shape else Node("reshape", (g,), x.shape)


@function(_cross_entropy_back)
def cross_entropy(x: Node, targets: Node, label_smoothing: Node | None = None) -> Node:
    """The mean over rows of -sum t log softmax(x); targets are whole numbers or probabilities."""
    logits, wanted = _targets(x, targets)
    wanted = _smoothed(wanted, label_smoothing)
    return _mean_of_rows(logits, times(wanted, log_softmax(logits)))


@function()
def nll(x: Node, targets: Node) -> Node:
    """The mean over rows of minus the logarithm at the target, of logarithms of probabilities."""
    levels, wanted = _targets(x, targets)
    return _mean_of_rows(levels, times(wanted, levels))


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
