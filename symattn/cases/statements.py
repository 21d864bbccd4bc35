"""Statements about a program: comparisons that are decided, not evaluated.

A statement is a conjunction of comparisons between expressions; on top of
what steps know it has ``argmax``, ``max``, ``min`` and ``abs`` and may ask for
a ``shape``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from symattn import syntax
from symattn.errors import Malformed
from symattn.numbers.values import rational
from symattn.programs import nodes
from symattn.programs.nodes import Node
from symattn.programs.program import Program
from symattn.shapes import show

Function = Literal["argmax", "max", "min", "abs"]

#: Functions that only statements know: what they give is decided, not computed.
FUNCTIONS: tuple[Function, ...] = get_args(Function)


@dataclass(frozen=True)
class Decided:
    """A function that only statements know, of an operand: to the expression
    around it, ``node`` is an input."""

    function: Function
    operand: Node
    node: Node


@dataclass(frozen=True)
class Sizes:
    """What ``shape(X)`` and ``(3, 4)`` are: a list of whole numbers."""

    lengths: tuple[Node, ...]


Operand = Node | Sizes


@dataclass(frozen=True)
class LoweredComparison:
    """``a < b <= c``, meant for every entry, its operands lowered; ``decided``
    are the inputs that they have besides the program's, inner ones first."""

    operands: tuple[Operand, ...]
    relations: tuple[str, ...]
    decided: tuple[Decided, ...] = ()


def lower_statement(program: Program, tree: syntax.Tree) -> tuple[LoweredComparison, ...]:
    """The comparisons that must all hold.

    Raises :class:`Malformed` if the tree is no statement, or if it speaks of
    names and shapes that the program doesn't have.

    >>> from symattn.programs.program import program
    >>> made = program({"X": (2, 3)}, {"A": "softmax(X)"})
    >>> (found,) = lower_statement(made, syntax.parse("0 < max(A[0]) < 1"))
    >>> [decided.function for decided in found.decided], found.relations
    (['max'], ('<', '<'))
    """
    parts = tree.parts if isinstance(tree, syntax.Conjunction) else (tree,)
    return tuple(_Lowering(program).comparison(part) for part in parts)


class _Lowering:
    """Lowers one comparison."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.decided: list[Decided] = []

    def comparison(self, tree: syntax.Tree) -> LoweredComparison:
        if not isinstance(tree, syntax.Comparison):
            raise Malformed("states nothing: expected a comparison with == != < <= > >=")
        operands = tuple(map(self.operand, tree.operands))
        for left, relation, right in zip(operands, tree.relations, operands[1:], strict=False):
            if isinstance(left, Node) and isinstance(right, Node):
                nodes.elementwise("subtract", left, right)
            elif isinstance(left, Node) or isinstance(right, Node) or relation != "==":
                raise Malformed("a shape is compared with == and a list such as (3, 4)")
        return LoweredComparison(operands, tree.relations, tuple(self.decided))

    def operand(self, tree: syntax.Tree) -> Operand:
        match tree:
            case syntax.Sequence(items):
                lengths = tuple(map(self.node, items))
                if any(length.shape for length in lengths):
                    raise Malformed("expected a number inside the brackets")
                return Sizes(lengths)
            case syntax.Call("shape"):
                shape = self.node(_only(tree)).shape
                return Sizes(tuple(nodes.constant(rational(length)) for length in shape))
        return self.node(tree)

    def node(self, tree: syntax.Tree) -> Node:
        return self.program.lower_tree(tree, self.special)

    def special(self, call: syntax.Call) -> Node | None:
        if call.function == "shape":
            raise Malformed("a shape is compared as a whole, as in shape(X) == (3, 4)")
        function = next((name for name in FUNCTIONS if name == call.function), None)
        if function is None or call.options:
            return None
        operand = self.node(_only(call))
        if function == "argmax" and len(operand.shape) != 1:
            raise Malformed(f"argmax takes a vector, found {show(operand.shape)}")
        node = nodes.given(function, operand.shape if function == "abs" else ())
        self.decided.append(Decided(function, operand, node))
        return node


def _only(call: syntax.Call) -> syntax.Tree:
    """The argument of a function of one."""
    if call.options:
        raise Malformed(f"{call.function} has no option {call.options[0][0]!r} in a statement")
    if len(call.arguments) != 1:
        raise Malformed(f"{call.function} takes one argument, found {len(call.arguments)}")
    return call.arguments[0]
