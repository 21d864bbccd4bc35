"""What flows back through each operation: into its operands, of what flows into its result.

As the lemmas of the library say it; a gradient is a function of the places of its entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from flint import fmpq

from symattn.programs.nodes import Node
from symattn.seal.definitions import Definitions, Unstated, starts
from symattn.seal.terms import (
    ONE,
    ZERO,
    Choice,
    Function,
    Moved,
    Number,
    Operation,
    Sum,
    Term,
    free,
    shifted,
)  # fmt: skip

Index = int | Moved
#: What one entry of a gradient is, at a place.
Gradient = Callable[[Index, Index], Term]


@dataclass(frozen=True)
class Slope:
    """The slope of a function of every entry: ``of`` an entry, and why it is that; those that
    have one of positive numbers only ``need_positive`` entries."""

    of: Callable[[Term], Term]
    why: str
    need_positive: bool = False


def _over(below: Term) -> Term:
    return Operation("/", (ONE, below))


SLOPES: Mapping[str, Slope] = {
    "exp": Slope(lambda x: Function("exp", x), "apply is_derive_exp"),
    "sin": Slope(lambda x: Function("cos", x), "apply is_derive_sin"),
    "cos": Slope(lambda x: Operation("-", (Function("sin", x),)), "apply is_derive_cos"),
    "negate": Slope(lambda x: Number(fmpq(-1)), "apply (slope_opp (fun t => t)); apply slope_id"),
    "log": Slope(
        _over, "apply (slope_ln (fun t => t)); [assumption | apply slope_id]", need_positive=True
    ),
    "sqrt": Slope(
        lambda x: _over(Operation("*", (Number(fmpq(2)), Function("sqrt", x)))),
        "apply (slope_sqrt (fun t => t)); [assumption | apply slope_id]",
        need_positive=True,
    ),
}


class Flows:
    """What flows into the operands of the operations of a program."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions

    def of(self, node: Node, g: Gradient) -> Iterator[tuple[Node, Gradient]]:
        """What flows into each operand: as the lemma of the operation says it."""
        x = node.operands

        def entry(number: int) -> Gradient:
            return lambda i, j: self._definitions.entry(x[number], i, j)

        def times(one: Gradient, other: Gradient) -> Gradient:
            return lambda i, j: Operation("*", (one(i, j), other(i, j)))

        def over(one: Gradient, other: Gradient) -> Gradient:
            return lambda i, j: Operation("/", (one(i, j), other(i, j)))

        def minus(one: Gradient) -> Gradient:
            return lambda i, j: Operation("-", (one(i, j),))

        def spread(number: int) -> Gradient:
            return lambda i, j: self._definitions.spread(node, number, i, j)

        def back(number: int, flow: Gradient) -> Gradient:
            return self._gathered(x[number], node, flow)

        match node.op:
            case "copy" | "reshape" | "hide":
                yield x[0], g
            case "transpose":
                yield x[0], lambda i, j: g(j, i)
            case "add" | "subtract":
                yield x[0], back(0, g)
                yield x[1], back(1, g if node.op == "add" else minus(g))
            case "multiply":
                yield x[0], back(0, times(g, spread(1)))
                yield x[1], back(1, times(g, spread(0)))
            case "divide":
                yield x[0], back(0, over(g, spread(1)))
                quotient = over(spread(0), spread(1))
                yield x[1], back(1, minus(over(times(g, quotient), spread(1))))
            case "matmul":
                yield x[0], self._left(node, g)
                yield x[1], self._right(node, g)
            case "softmax":
                yield x[0], self._scores(node, g)
            case "rowsum":
                yield x[0], lambda i, j: g(i, 0)
            case "colsum":
                yield x[0], lambda i, j: g(0, j)
            case "total":
                yield x[0], lambda i, j: g(0, 0)
            case "pick":
                rows, columns = node.extra
                yield x[0], picked(x[0].grid, rows, columns, g)
            case "spread":
                yield x[0], back(0, g)
            case "concat":
                for part, start in zip(x, starts(node), strict=True):
                    yield part, _shifted(g, start)
            case _ if node.op in SLOPES:
                slope = SLOPES[node.op].of
                yield x[0], times(g, lambda i, j: slope(entry(0)(i, j)))
            case _:
                raise Unstated(f"the gradient of {node.op} has no statement")

    def _left(self, node: Node, g: Gradient) -> Gradient:
        right = node.operands[1]

        def entry(i: Index, k: Index) -> Term:
            j = free(i, k)
            factors = g(i, j), self._definitions.entry(right, k, j)
            return Sum(node.grid[1], j.name, Operation("*", factors))

        return entry

    def _right(self, node: Node, g: Gradient) -> Gradient:
        left = node.operands[0]

        def entry(k: Index, j: Index) -> Term:
            i = free(k, j)
            factors = self._definitions.entry(left, i, k), g(i, j)
            return Sum(node.grid[0], i.name, Operation("*", factors))

        return entry

    def _scores(self, node: Node, g: Gradient) -> Gradient:
        def entry(i: Index, j: Index) -> Term:
            k = free(i, j)
            weight = self._definitions.of(node).at
            mean = Sum(node.grid[1], k.name, Operation("*", (g(i, k), weight(i, k))))
            return Operation("*", (weight(i, j), Operation("-", (g(i, j), mean))))

        return entry

    @staticmethod
    def _gathered(x: Node, node: Node, flow: Gradient) -> Gradient:
        """What flows into an operand that is repeated: a sum over its places."""
        if x.grid == node.grid:
            return flow
        return summed(x.grid, node.grid, flow)


def added(one: Gradient, other: Gradient) -> Gradient:
    """What flows in from two uses."""
    return lambda i, j: Operation("+", (one(i, j), other(i, j)))


def _shifted(g: Gradient, start: int) -> Gradient:
    return lambda i, j: g(i, shifted(j, start))


def summed(inner: tuple[int, int], outer: tuple[int, int], g: Gradient) -> Gradient:
    """What flows into what is repeated: the sum of it over its places."""

    def entry(a: Index, b: Index) -> Term:
        i = free(a, b) if inner[0] < outer[0] else a
        j = free(a, b, i) if inner[1] < outer[1] else b
        flow = g(i, j)
        if isinstance(j, Moved) and inner[1] < outer[1]:
            flow = Sum(outer[1], j.name, flow)
        if isinstance(i, Moved) and inner[0] < outer[0]:
            flow = Sum(outer[0], i.name, flow)
        return flow

    return entry


def picked(inner: tuple[int, int], rows: range, columns: range, g: Gradient) -> Gradient:
    """What flows into what rows and columns were taken of: nothing where they were not."""

    def entry(a: Index, b: Index) -> Term:
        row, flow_row = _taken(rows, inner[0], a)
        column, flow_column = _taken(columns, inner[1], b)
        flow = g(row, column)
        for condition in filter(None, (flow_column, flow_row)):
            flow = Choice("within", condition, flow, ZERO)
        return flow

    return entry


def _taken(
    places: range, size: int, index: Index
) -> tuple[Index, tuple[Index, Index, Index] | None]:
    """Where a place of what was picked from lies in what was picked, and what to ask first."""
    if places == range(size):
        return index, None
    if places.step != 1 and len(places) > 1:
        raise Unstated("the gradient of what was picked in steps has no statement")
    inside = shifted(index, -places.start) if len(places) > 1 else 0
    return inside, (places.start, len(places), index)
