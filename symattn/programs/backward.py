"""How gradients flow back through operations (reverse-mode differentiation).

For every operation one rule says how the gradient of the result flows into
its operands: the vector-Jacobian products that :mod:`symattn.calculus` derives.
The rules are written with the same operations, so the backward pass runs in
every arithmetic and prints like any other step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import reduce

from symattn.programs import nodes
from symattn.programs.algebra import above, flow, minus, over, pi, plus, times
from symattn.programs.nodes import Node, ancestors, arguments

Flow = list[Node | None]
#: (node, gradient of the node's result) -> gradient for each operand.
Rule = Callable[[Node, Node], Flow]


def _copy(node: Node, g: Node) -> Flow:
    return [g]


def _negate(node: Node, g: Node) -> Flow:
    return [nodes.negate(g)]


def _add(node: Node, g: Node) -> Flow:
    x, y = node.operands
    return [nodes.gathered(g, x.shape), nodes.gathered(g, y.shape)]


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
    return [_shaped(left, x), _shaped(right, y)]


def _turned(x: Node) -> Node:
    """The transpose of the grid, which for a vector is a column."""
    if x.op == "transpose" and not x.written and len(x.operands[0].shape) == 2:
        # Here K for K.T.T; not in steps, where a named K.T would lose a use.
        return x.operands[0]
    return nodes.transpose(x) if len(x.shape) == 2 else Node("transpose", (x,), x.grid[::-1])


def _shaped(g: Node, x: Node) -> Node:
    return g if g.shape == x.shape else Node("reshape", (g,), x.shape)


def _transpose(node: Node, g: Node) -> Flow:
    (x,) = node.operands
    if g.op == "matmul" and not g.written:
        # (Q^T dS)^T reads better as dS^T Q.
        left, right = g.operands
        return [_shaped(nodes.matmul(_turned(right), _turned(left)), x)]
    return [_shaped(Node("transpose", (g,), g.grid[::-1]), x)]


def _reshape(node: Node, g: Node) -> Flow:
    return [_shaped(g, node.operands[0])]


def _sqrt(node: Node, g: Node) -> Flow:
    return [over(g, times(2, node))]


def _exp(node: Node, g: Node) -> Flow:
    return [times(g, node)]


def _log(node: Node, g: Node) -> Flow:
    return [over(g, node.operands[0])]


def _tanh(node: Node, g: Node) -> Flow:
    """``1 - tanh(x)^2``, by the value itself."""
    return [times(g, minus(1, times(node, node)))]


def _sin(node: Node, g: Node) -> Flow:
    return [times(g, nodes.apply("cos", node.operands[0]))]


def _cos(node: Node, g: Node) -> Flow:
    return [nodes.negate(times(g, nodes.apply("sin", node.operands[0])))]


def _erf(node: Node, g: Node) -> Flow:
    """``2/sqrt(pi) exp(-x^2)``."""
    (x,) = node.operands
    slope = over(2, nodes.apply("sqrt", pi()))
    return [times(g, times(slope, nodes.apply("exp", nodes.negate(times(x, x)))))]


def _maximum(node: Node, g: Node) -> Flow:
    """To the larger one; of two that are equal a half to each, or all to the first."""
    x, y = node.operands
    greater, less = above(x, y), above(y, x)
    if node.extra == nodes.FIRST:
        first, second = minus(1, less), less
    else:
        first, second = (
            over(plus(1, minus(*two)), 2) for two in ((greater, less), (less, greater))
        )
    return [nodes.gathered(times(g, first), x.shape), nodes.gathered(times(g, second), y.shape)]


def _above(node: Node, g: Node) -> Flow:
    """It is flat where it has a slope."""
    return [None, None]


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


def _hide(node: Node, g: Node) -> Flow:
    """Nothing flows into a hidden score; the mask is no variable."""
    return [times(g, node.operands[1]), None]


def _concat(node: Node, g: Node) -> Flow:
    flows: Flow = []
    start = 0
    for part in node.operands:
        rows, columns = part.grid
        places = (range(rows), range(start, start + columns))
        flows.append(_shaped(Node("pick", (g,), part.grid, places), part))
        start += columns
    return flows


def _summed(node: Node, g: Node) -> Flow:
    return [nodes.spread(g, node.operands[0].shape)]


def _pick(node: Node, g: Node) -> Flow:
    return [nodes.scatter(g, node.extra, node.operands[0].shape)]


def _scatter(node: Node, g: Node) -> Flow:
    return [Node("pick", (g,), node.operands[0].shape, node.extra)]


def _spread(node: Node, g: Node) -> Flow:
    return [nodes.gathered(g, node.operands[0].shape)]


#: The backward rule of every operation.
RULES: Mapping[str, Rule] = {
    "copy": _copy,
    "negate": _negate,
    "add": _add,
    "subtract": _subtract,
    "multiply": _product,
    "divide": _quotient,
    "matmul": _matmul,
    "transpose": _transpose,
    "reshape": _reshape,
    "sqrt": _sqrt,
    "exp": _exp,
    "log": _log,
    "tanh": _tanh,
    "sin": _sin,
    "cos": _cos,
    "erf": _erf,
    "maximum": _maximum,
    "above": _above,
    "rowmax": _rowmax,
    "softmax": _softmax,
    "hide": _hide,
    "concat": _concat,
    "rowsum": _summed,
    "colsum": _summed,
    "total": _summed,
    "pick": _pick,
    "scatter": _scatter,
    "spread": _spread,
}


def _rule(node: Node) -> Rule:
    written = node.written
    return RULES[node.op] if written is None or written.back is None else written.back


def _taken(node: Node) -> tuple[Node, ...]:
    """What a node's rule sends gradients to: the operands of a call that has a rule."""
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
