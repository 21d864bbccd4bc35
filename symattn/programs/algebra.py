"""Nodes by the signs of algebra: what gradients and written functions are put together from."""

from __future__ import annotations

from flint import fmpq

from symattn.numbers import values
from symattn.numbers.values import rational
from symattn.programs import nodes
from symattn.programs.nodes import Node


def number(value: int | fmpq) -> Node:
    """A rational number as a constant."""
    return nodes.constant(rational(value))


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
