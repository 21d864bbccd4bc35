"""Statements about a program: comparisons that are decided, not evaluated.

A statement is a conjunction of comparisons between expressions; on top of what steps know it has
``argmax``, ``max``, ``min`` and ``abs`` and may ask for a ``shape``.

Steps of several heads: one recipe, as many steps.

``heads(Q, 2)`` cuts columns into equal parts. A step that is made of it is one step for each
head, ``S_0``, ``S_1``, ..., until ``merge(Y)`` puts the columns side by side again. Where one
quantity has fewer heads than another, several of these share one (J. Ainslie and others,
*GQA*, 2023).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from symattn.errors import Fault, Faults, Malformed
from symattn.expressions import syntax
from symattn.expressions.shapes import show
from symattn.limits import STEPS
from symattn.numbers.values import rational
from symattn.programs import nodes
from symattn.programs.nodes import Node
from symattn.programs.program import Program

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
    """The value of ``shape(X)`` and ``(3, 4)``: a list of whole numbers."""

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


#: The functions that only whole recipes know.
_HEADS, _MERGE = "heads", "merge"


@dataclass(frozen=True)
class LoweredSteps:
    """Steps with every head's own: which step each was written as, and which steps have a
    fault and are left out."""

    steps: Mapping[str, object]
    origins: Mapping[str, str] = field(default_factory=dict)
    unsound: frozenset[str] = frozenset()

    def placed(self, fault: Fault) -> Fault:
        """A fault of a head's step as one of the step that was written."""
        table, _, name = fault.where.partition(".")
        origin = self.origins.get(name, name)
        if table != "steps" or origin == name:
            return fault
        return replace(fault, where=f"steps.{origin}", message=f"{name}: {fault.message}")


def by_head(
    steps: Mapping[str, object], given: Mapping[str, object], faults: Faults
) -> LoweredSteps:
    """The steps, those of several heads one for each; faults go to ``faults``.

    >>> given = dict.fromkeys("QKV")
    >>> steps = {"S": "heads(Q, 4) @ heads(K, 2).T", "Y": "merge(softmax(S))"}
    >>> made = by_head(steps, given, Faults()).steps
    >>> syntax.text(made["S_2"])
    'head(Q, 2, 4) @ head(K, 1, 2).T'
    >>> syntax.text(made["Y"])
    'concat(softmax(S_0), softmax(S_1), softmax(S_2), softmax(S_3))'
    """
    texts = [step for step in steps.values() if isinstance(step, str)]
    if not any(f"{_HEADS}(" in text.replace(" ", "") for text in texts):
        return LoweredSteps(steps)
    heads = _Heads()
    expanded: dict[str, object] = {}
    origins: dict[str, str] = {}
    unsound: set[str] = set()
    for name, step in steps.items():
        try:
            parts = heads.parts(name, step) if isinstance(step, str) else {name: step}
            if taken := [
                part for part in parts if part in expanded or (part in given and part != name)
            ]:
                raise Malformed(f"the head {taken[0]} has the name of another quantity")
        except Malformed as error:
            faults += [fault.inside(f"steps.{name}") for fault in error.faults]
            unsound.add(name)
            continue
        expanded |= parts
        origins |= dict.fromkeys(parts, name)
    return LoweredSteps(expanded, origins, frozenset(unsound))


class _Heads:
    """How many heads the quantities have that are several."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def parts(self, name: str, text: str) -> dict[str, object]:
        """The steps that a step is: itself as it is written, or trees."""
        written = syntax.parse(text)
        tree = self._merged(written)
        counts = set(self._counted(tree))
        if not counts:
            return {name: text if tree == written else tree}
        count = max(counts)
        if odd := sorted(divisor for divisor in counts if count % divisor):
            raise Malformed(f"{count} heads can't share {odd[0]}: expected a divisor")
        self.counts[name] = count
        return {f"{name}_{k}": self._of(tree, k, count) for k in range(count)}

    def _merged(self, tree: syntax.Tree) -> syntax.Tree:
        """A tree with heads side by side where they are merged."""
        match tree:
            case syntax.Call(function, (inner,), ()) if function == _MERGE:
                inner = self._merged(inner)
                counts = set(self._counted(inner))
                if not counts:
                    raise Malformed("merge takes what has several heads, as heads(Q, 2) gives them")
                count = max(counts)
                return syntax.Call("concat", tuple(self._of(inner, k, count) for k in range(count)))
        return syntax.mapped(tree, self._merged)

    def _counted(self, tree: syntax.Tree) -> Iterator[int]:
        for part in syntax.walk(tree):
            match part:
                case syntax.Name(name) if name in self.counts:
                    yield self.counts[name]
                case syntax.Call(function, (_, syntax.Literal(count)), ()) if function == _HEADS:
                    if not count.isdigit() or not 0 < int(count) <= STEPS.most:
                        raise Malformed(f"expected how many heads there are, found {count}")
                    yield int(count)
                case syntax.Call(function) if function == _HEADS:
                    raise Malformed(
                        "heads takes a quantity and how many heads it has, as heads(Q, 2)"
                    )

    def _of(self, tree: syntax.Tree, k: int, count: int) -> syntax.Tree:
        """A tree of one head of so many."""
        match tree:
            case syntax.Name(name) if name in self.counts:
                return syntax.Name(f"{name}_{k * self.counts[name] // count}")
            case syntax.Call(function, (x, syntax.Literal(of) as many), ()) if function == _HEADS:
                own = syntax.Literal(str(k * int(of) // count))
                return replace(tree, function="head", arguments=(self._of(x, k, count), own, many))
        return syntax.mapped(tree, lambda part: self._of(part, k, count))
