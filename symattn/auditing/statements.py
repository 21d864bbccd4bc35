"""Statements decided exactly."""

from __future__ import annotations

from dataclasses import dataclass

from symattn import syntax
from symattn.errors import Malformed, Undecided
from symattn.numbers.reading import Hidden
from symattn.numbers.values import ONE, Value, rational
from symattn.programs import nodes
from symattn.programs.nodes import Node
from symattn.shapes import Shape, show
from symattn.solution.quantity import Quantity
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict


@dataclass(frozen=True)
class _Sizes:
    """What ``shape(X)`` and ``(3, 4)`` are: a list of whole numbers."""

    lengths: tuple[Value, ...]


class Decider:
    """Decides statements about a solution.

    >>> from symattn.solution.solution import solve
    >>> decider = Decider(solve("cat-sat-mat"))
    >>> decider.decide("Y[0, 0] == Y[1, 1] and max(A[2]) < 1/2")
    <Verdict.HOLDS: 'holds'>
    >>> decider.decide("argmax(A[0]) == 1")
    <Verdict.REFUTED: 'refuted'>
    """

    def __init__(self, solution: Solution) -> None:
        self.solution = solution

    def decide(self, statement: str) -> Verdict:
        """Whether a statement holds; :class:`Malformed` if it can't be read.

        A comparison of matrices is meant for every entry.
        """
        tree = syntax.parse(statement)
        parts = tree.parts if isinstance(tree, syntax.Conjunction) else (tree,)
        return Verdict.all([self._comparison(part) for part in parts])

    def _comparison(self, tree: syntax.Tree) -> Verdict:
        if not isinstance(tree, syntax.Comparison):
            raise Malformed("expected a comparison with == < <= > >=")
        try:
            operands = [self._operand(operand) for operand in tree.operands]
        except Undecided:
            # Which entry is the largest, or which sign one has, stays open.
            return Verdict.UNDECIDED
        return Verdict.all(
            [
                self._relation(left, relation, right)
                for left, relation, right in zip(
                    operands, tree.relations, operands[1:], strict=False
                )
            ]
        )

    def _operand(self, tree: syntax.Tree) -> Quantity | _Sizes:
        match tree:
            case syntax.Sequence(items):
                return _Sizes(tuple(self._scalar(item) for item in items))
            case syntax.Call("shape", (operand,)):
                shape = self._node(operand).shape
                return _Sizes(tuple(rational(length) for length in shape))
        return self._quantity(tree)

    def _scalar(self, tree: syntax.Tree) -> Value:
        found = self._quantity(tree)
        value = found.entry(0, 0)
        if found.shape or isinstance(value, Hidden):
            raise Malformed("expected a number inside the brackets")
        return value

    def _node(self, tree: syntax.Tree) -> Node:
        return self.solution.program.lower_tree(tree, self._special)

    def _quantity(self, tree: syntax.Tree) -> Quantity:
        return self.solution.quantity(self._node(tree), "")

    def _special(self, call: syntax.Call) -> Node | None:
        """``argmax``, ``max``, ``min`` and ``abs``, worked out exactly."""
        if call.function not in ("argmax", "max", "min", "abs"):
            return None
        if len(call.arguments) != 1:
            raise Malformed(f"{call.function} takes one argument, found {len(call.arguments)}")
        held = self._quantity(call.arguments[0])
        if call.function == "abs":
            rows = tuple(tuple(_absolute(_number(x)) for x in row) for row in held.rows)
            return nodes.table(rows, held.shape)
        if call.function == "argmax" and len(held.shape) != 1:
            raise Malformed(f"argmax takes a vector, found {show(held.shape)}")
        return nodes.constant(_extreme(call.function, held))

    def _relation(
        self, left: Quantity | _Sizes, relation: str, right: Quantity | _Sizes
    ) -> Verdict:
        if isinstance(left, _Sizes) or isinstance(right, _Sizes):
            if not (isinstance(left, _Sizes) and isinstance(right, _Sizes)) or relation != "==":
                raise Malformed("a shape is compared with == and a list such as (3, 4)")
            if len(left.lengths) != len(right.lengths):
                return Verdict.REFUTED
            pairs = zip(left.lengths, right.lengths, strict=True)
            return Verdict.all([_compared(a, relation, b) for a, b in pairs])
        shape = _broadcast(left.shape, right.shape)
        rows, columns = (1, *shape)[-2:] if shape else (1, 1)
        return Verdict.all(
            [
                _compared(_entry(left, i, j), relation, _entry(right, i, j))
                for i in range(rows)
                for j in range(columns)
            ]
        )


def _broadcast(left: Shape, right: Shape) -> Shape:
    probe = nodes.elementwise("add", nodes.given("left", left), nodes.given("right", right))
    return probe.shape


def _entry(quantity: Quantity, i: int, j: int) -> Value | Hidden:
    rows, columns = quantity.grid
    return quantity.entry(i if rows > 1 else 0, j if columns > 1 else 0)


def _number(value: Value | Hidden) -> Value:
    if isinstance(value, Hidden):
        raise Malformed("a masked score (-inf) has no size to compare")
    return value


def _absolute(value: Value) -> Value:
    return -value if _sign(value) < 0 else value


def _sign(value: Value) -> int:
    if value.has_symbols:
        raise Undecided(f"the sign of {value} depends on its symbols")
    return value.sign()


def _extreme(kind: str, quantity: Quantity) -> Value:
    """The largest or smallest entry, or the first place of the largest."""
    best: Value | None = None
    place = 0
    entries = [value for row in quantity.rows for value in row]
    for k, value in enumerate(entries):
        if isinstance(value, Hidden) and kind != "min":
            continue
        number = _number(value)
        if best is None or _sign(number - best) * (-1 if kind == "min" else 1) > 0:
            best, place = number, k
    if best is None:
        raise Malformed("all entries are masked scores (-inf)")
    return ONE * rational(place) if kind == "argmax" else best


def _compared(left: Value | Hidden, relation: str, right: Value | Hidden) -> Verdict:
    if isinstance(left, Hidden) or isinstance(right, Hidden):
        both = isinstance(left, Hidden) and isinstance(right, Hidden)
        less = isinstance(left, Hidden) and not both
        truth = {"==": both, "<": less, "<=": less or both, ">": not less and not both}
        return _verdict(truth.get(relation, not less))
    difference = left - right
    zero = difference.is_zero()
    if relation == "==" or zero is Verdict.UNDECIDED:
        return zero
    if zero is Verdict.HOLDS:
        return _verdict("=" in relation)
    if difference.has_symbols:
        return Verdict.UNDECIDED
    return _verdict((difference.sign() < 0) == relation.startswith("<"))


def _verdict(truth: bool) -> Verdict:
    return Verdict.HOLDS if truth else Verdict.REFUTED
