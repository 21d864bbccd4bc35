"""Gradients as they flow back through operations (reverse-mode differentiation).

For every operation one rule says how the gradient of the result flows into its operands: the
vector-Jacobian products that :mod:`symattn.calculus` derives. The rules are written with the same
operations, so the backward pass runs in every arithmetic and prints like any other step.

Nodes by the signs of algebra: what gradients and written functions are put together from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import cast

from symattn.expressions.elementary import ELEMENTARY, Arithmetic, Elementwise
from symattn.expressions.shapes import every
from symattn.numbers import values
from symattn.programs import nodes
from symattn.programs.nodes import Node, ancestors, arguments
from symattn.programs.tables import number


def pi() -> Node:
    """The number pi."""
    return nodes.constant(values.PI)


def _node(x: Node | int) -> Node:
    return x if isinstance(x, Node) else number(x)


def plus(x: Node | int, y: Node | int) -> Node:
    """``x + y``."""
    return nodes.elementwise("add", _node(x), _node(y))


def minus(x: Node | int, y: Node | int) -> Node:
    """``x - y``."""
    return nodes.elementwise("subtract", _node(x), _node(y))


def times(x: Node | int, y: Node | int) -> Node:
    """``x * y``, entry by entry."""
    return nodes.elementwise("multiply", _node(x), _node(y))


def over(x: Node | int, y: Node | int) -> Node:
    """``x / y``, entry by entry."""
    return nodes.elementwise("divide", _node(x), _node(y))


def larger(x: Node | int, y: Node | int, *, to_first: bool = False) -> Node:
    """The larger one, entry by entry; the gradient of equal ones is the first one's, or shared."""
    return nodes.elementwise("maximum", _node(x), _node(y), nodes.FIRST if to_first else None)


def above(x: Node | int, y: Node | int) -> Node:
    """1 where x is the larger, else 0."""
    return nodes.elementwise("above", _node(x), _node(y))


def flow(g: Node, factor: Node) -> Node:
    """A gradient times a factor; nothing flows through a masked score."""
    return nodes.elementwise("multiply", g, factor, nodes.FLOW)


Flow = list[Node | None]
#: (node, gradient of the node's result) -> gradient for each operand.
Rule = Callable[[Node, Node], Flow]


def _subtract(node: Node, g: Node) -> Flow:
    x, y = node.operands
    return [nodes.gathered(g, x.shape), nodes.negate(nodes.gathered(g, y.shape))]


def _product(node: Node, g: Node) -> Flow:
    x, y = node.operands
    return [nodes.gathered(flow(g, y), x.shape), nodes.gathered(flow(g, x), y.shape)]


def _quotient(node: Node, g: Node) -> Flow:
    x, y = node.operands
    below = nodes.negate(over(flow(g, node), y))
    return [nodes.gathered(over(g, y), x.shape), nodes.gathered(below, y.shape)]


def _matmul(node: Node, g: Node) -> Flow:
    x, y = node.operands
    left = nodes.matmul(g, _turned(y))
    right = nodes.matmul(_turned(x), g)
    return [nodes.shaped(left, x.shape), nodes.shaped(right, y.shape)]


def _turned(x: Node) -> Node:
    """The transpose of the grid, which for a vector is a column."""
    if x.op == "transpose" and not x.written and len(x.operands[0].shape) == 2:
        # Here K for K.T.T; not in steps, where a named K.T would lose a use.
        return x.operands[0]
    return nodes.transpose(x) if len(x.shape) == 2 else Node("transpose", (x,), x.grid[::-1])


def _transpose(node: Node, g: Node) -> Flow:
    (x,) = node.operands
    if g.op == "matmul" and not g.written:
        # (Q^T dS)^T reads better as dS^T Q.
        left, right = g.operands
        return [nodes.shaped(nodes.matmul(_turned(right), _turned(left)), x.shape)]
    return [nodes.shaped(Node("transpose", (g,), g.grid[::-1]), x.shape)]


def _maximum(node: Node, g: Node) -> Flow:
    """To the larger one; of two that are equal a half to each, or all to the first."""
    x, y = node.operands
    greater, less = above(x, y), above(y, x)
    if node.extra != nodes.FIRST:
        return halves(x, y, g, greater, less)
    first, second = times(g, minus(1, less)), times(g, less)
    return [nodes.gathered(first, x.shape), nodes.gathered(second, y.shape)]


def halves(x: Node, y: Node, g: Node, ahead: Node, behind: Node) -> Flow:
    """To the one of two that is taken, x where it is ``ahead``; else a half to each."""
    first, second = (over(plus(1, minus(*two)), 2) for two in ((ahead, behind), (behind, ahead)))
    return [nodes.gathered(times(g, first), x.shape), nodes.gathered(times(g, second), y.shape)]


def _rowmax(node: Node, g: Node) -> Flow:
    """Shared evenly by the entries of a row that are the largest."""
    (x,) = node.operands
    peaks = minus(1, above(node, x))
    return [times(g, over(peaks, nodes.rowsum(peaks)))]


def _softmax(node: Node, g: Node) -> Flow:
    """``dS = A o (dA - rowsum(A o dA))``, row by row."""
    summed = Node("rowsum", (times(node, g),), (node.grid[0], 1))
    centre = summed if len(node.shape) == 2 else Node("reshape", (summed,), (1,))
    return [times(node, nodes.elementwise("subtract", g, centre))]


def shares(parts: Iterable[Node], g: Node, axis: int) -> Flow:
    """Return what flows into parts that lie one after the other along an axis of the grid."""
    flows: Flow = []
    start = 0
    for part in parts:
        rows, columns = map(every, part.grid)
        own = range(start, start + part.grid[axis])
        places = (rows, own) if axis else (own, columns)
        flows.append(nodes.shaped(Node("pick", (g,), part.grid, places), part.shape))
        start += part.grid[axis]
    return flows


_NODES = Arithmetic(number, pi, plus, minus, times, over, nodes.negate, nodes.apply)


def _elementary(node: Node, g: Node) -> Flow:
    (x,), row = node.operands, ELEMENTARY[cast("Elementwise", node.op)]
    return [row.flow(_NODES, g, x, node)]


def _of_first(back: Callable[[Node, Node, Node], Node]) -> Rule:
    """The rule of what has one operand: (node, gradient, operand) -> gradient."""
    return lambda node, g: [back(node, g, node.operands[0])]


#: The backward rule of every operation.
RULES: Mapping[str, Rule] = {
    "copy": lambda node, g: [g],
    "negate": lambda node, g: [nodes.negate(g)],
    "add": lambda node, g: [nodes.gathered(g, x.shape) for x in node.operands],
    "subtract": _subtract,
    "multiply": _product,
    "divide": _quotient,
    "matmul": _matmul,
    "transpose": _transpose,
    "reshape": _of_first(lambda node, g, x: nodes.shaped(g, x.shape)),
    **dict.fromkeys(ELEMENTARY, _elementary),
    "maximum": _maximum,
    # It is flat where it has a slope.
    "above": lambda node, g: [None, None],
    "rowmax": _rowmax,
    "softmax": _softmax,
    # Nothing flows into a masked score; the mask is no variable.
    "hide": lambda node, g: [times(g, node.operands[1]), None],
    "concat": lambda node, g: shares(node.operands, g, 1),
    **dict.fromkeys(nodes.SUMS, _of_first(lambda node, g, x: nodes.spread(g, x.shape))),
    "pick": _of_first(lambda node, g, x: nodes.scatter(g, node.extra, x.shape)),
    "scatter": _of_first(lambda node, g, x: Node("pick", (g,), x.shape, node.extra)),
    "spread": _of_first(lambda node, g, x: nodes.gathered(g, x.shape)),
}


def _rule(node: Node) -> Rule:
    written = node.written
    return RULES[node.op] if written is None or written.back is None else written.back


def _taken(node: Node) -> tuple[Node, ...]:
    """Return what a node's rule sends gradients to: the operands of a call that has a rule."""
    written = node.written
    return node.operands if written is None or written.back is None else arguments(node)


def flows(target: Node, start: Node, ends: Iterable[Node] = ()) -> dict[int, Node]:
    """The gradients of all nodes that a target depends on, by their serial numbers, where
    ``start`` flows into it; nothing flows on from the ``ends``.
    """
    stops = {end.serial for end in ends}

    def through(node: Node) -> tuple[Node, ...]:
        return () if node.serial in stops or node.op not in RULES else _taken(node)

    arrived: dict[int, list[Node]] = {target.serial: [start]}
    gradients: dict[int, Node] = {}
    for node in reversed(ancestors([target], through=through)):
        if node.serial not in arrived:
            continue
        gradient = reduce(plus, arrived[node.serial])
        gradients[node.serial] = gradient
        if not through(node):
            continue
        for operand, arriving in _flowing(node, gradient):
            arrived.setdefault(operand.serial, []).append(arriving)
    return gradients


def _flowing(node: Node, gradient: Node) -> Iterator[tuple[Node, Node]]:
    """Operands of a node, or of the call that it was written as, and what flows into them.

    What the rule of a call has no gradient for is left to the operations below the call.
    """
    taken = _taken(node)
    pairs = [*zip(taken, _rule(node)(node, gradient), strict=True)]
    left = {x.serial: x for x, flow in pairs if flow is None and (x.operands or x.op == "given")}
    if left and taken is not node.operands:
        below = flows(replace(node, written=None), gradient, ends=taken)
        pairs = [(x, below.get(x.serial)) for x in left.values()] + [
            (x, flow) for x, flow in pairs if x.serial not in left
        ]
    return ((x, flow) for x, flow in pairs if flow is not None)
