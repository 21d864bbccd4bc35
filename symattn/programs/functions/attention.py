"""Functions of scores, queries and keys."""

from __future__ import annotations

from typing import Literal

from symattn.errors import Malformed
from symattn.numbers.values import ONE, ZERO, rational
from symattn.programs import nodes
from symattn.programs.backward import minus, number, over, plus, times
from symattn.programs.functions.arranging import angles, below, column_of, constants, counted
from symattn.programs.functions.calls import Count, Size, function
from symattn.programs.functions.entries import COMPARISONS, Flows
from symattn.programs.nodes import Node
from symattn.shapes import show


def _need_scores(x: Node, name: str) -> None:
    if len(x.shape) != 2:
        raise Malformed(f"{name} takes a matrix of scores, found {show(x.shape)}")


def _seen(x: Node, left: int, right: int) -> Node:
    """A table of the keys j with i - left <= j <= i + right."""
    rows, columns = x.shape
    keeps = [[-left <= j - i <= right for j in range(columns)] for i in range(rows)]
    return constants([[ONE if keep else ZERO for keep in row] for row in keeps])


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
    places = range(x.shape[0]), range(k * width, (k + 1) * width)
    return Node("pick", (x,), (x.shape[0], width), places)


@function(is_written=False)
def causal(x: Node, align: Literal["top-left", "bottom-right"] = "top-left") -> Node:
    """Scores of later keys hidden; bottom-right lets the last query see all keys."""
    _need_scores(x, "causal")
    rows, columns = x.shape
    if align == "top-left" or rows == columns:
        return nodes.causal(x)
    return nodes.mask(x, _seen(x, rows + columns, columns - rows))


@function(is_written=False)
def mask(x: Node, M: Node) -> Node:
    """Scores where M is 0 hidden, those where it is 1 kept."""
    return nodes.mask(x, M)


@function()
def window(x: Node, left: Count, right: Count = Count(0)) -> Node:  # noqa: B008
    """Scores hidden of keys more than left before a query, or more than right after it."""
    _need_scores(x, "window")
    return nodes.mask(x, _seen(x, left, right))


@function()
def padding(x: Node, lengths: Node) -> Node:
    """Scores of keys from a length on hidden, a whole number for all queries."""
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
    rows, columns = x.shape
    far = [[rational(abs(i - j)) for j in range(columns)] for i in range(rows)]
    return minus(x, times(slope, constants(far)))


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
    each = (nodes.apply("tanh", plus(nodes.index(q, (i,)), k)) for i in range(q.shape[0]))
    return below(tuple(nodes.matmul(level, v) for level in each))


def _rope_back(node: Node, g: Node) -> Flows:
    """Turned back by the same angles."""
    assert node.written is not None
    at = node.written.given.get("positions") or counted(node.shape[0])
    flow = rope.again(node, x=g, positions=nodes.negate(at))
    return [flow, *(None for _ in node.written.operands[1:])]


@function(_rope_back)
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
    turned = angles(at, columns, number(10000) if base is None else base)
    places = [c // 2 if interleaved else c % (columns // 2) for c in range(columns)]
    cos, sin = (
        nodes.concat(tuple(column_of(nodes.apply(name, turned), place) for place in places))
        for name in ("cos", "sin")
    )
    return plus(times(x, cos), times(nodes.matmul(x, _quarter(columns, interleaved)), sin))


def _quarter(d: int, interleaved: bool) -> Node:
    """The matrix that turns every pair by a right angle: (x, y) to (-y, x)."""
    table = [[ZERO] * d for _ in range(d)]
    for c in range(d // 2):
        first, second = (2 * c, 2 * c + 1) if interleaved else (c, c + d // 2)
        table[second][first], table[first][second] = -ONE, ONE
    return constants(table)
