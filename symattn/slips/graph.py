"""One graph of operations: what steps, gradients and claims are made of, each once.

Nodes are put into a form in which equal parts meet: a softmax is exponentials,
their sums, a quotient; indices are taken last, copies and ``+ 0`` and ``* 1``
are gone. ``exp(S[1])[2]`` is then an entry of what ``softmax(S)`` divides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from symattn.expressions.elementary import ELEMENTWISE
from symattn.programs.nodes import Node, ancestors

Place = tuple[Node, int, int]
"""An entry of a node."""


class Graph:
    """Nodes in their form, all with grids as shapes; the same operation on the same is one node.

    ``numbers`` are the values of nodes that are numbers: 0 and 1 are left out.
    """

    def __init__(self) -> None:
        self._made: dict[Any, Node] = {}
        self._of: dict[int, Node] = {}
        self.origin: dict[int, Node] = {}
        """What a node was found as, the first time or as a call: the part of a program that
        it is."""

    def __getitem__(self, node: Node) -> Node:
        """A program's node in its form."""
        for part in self._taken(node):
            form = self._of[part.serial]
            if part.written or form.serial not in self.origin:
                self.origin[form.serial] = part
        return self._of[node.serial]

    def form(self, node: Node) -> Node:
        """The form of a node that is no program's own, made of forms and others."""
        list(self._taken(node))
        return self._of[node.serial]

    def _taken(self, node: Node) -> Iterator[Node]:
        # Operands first: a program is too deep for recursion.
        for part in ancestors([node], stop=lambda x: x.serial in self._of):
            self._of[part.serial] = self.apply(part, [self._of[x.serial] for x in part.operands])
            yield part

    def place(self, node: Node, i: int, j: int) -> Place:
        """Return where an entry of a node stands first: not behind indices and transposes."""
        while node.op in ("pick", "transpose"):
            if node.op == "pick":
                rows, columns = node.extra
                i, j = rows[i], columns[j]
            else:
                i, j = j, i
            (node,) = node.operands
        return node, i, j

    def apply(self, node: Node, operands: Sequence[Node]) -> Node:
        """An operation of a program on nodes in their form."""
        match node.op:
            case "given" | "table" | "triangle":
                return self._leaf(node)
            case "constant":
                return self._made.setdefault(("constant", str(node.extra)), node)
            case "copy" | "reshape":
                return operands[0]
            case "transpose":
                return self.transpose(operands[0])
            case "softmax":
                return self.divide(*self.powers(operands[0]))
            case "matmul":
                return self.matmul(*operands)
            case "pick":
                return self.pick(operands[0], *node.extra)
        return self.node(node.op, operands, node.grid, node.extra)

    def _leaf(self, node: Node) -> Node:
        """Leaves stay what they are: a program's inputs are known by them."""
        key = (node.op, node.grid if node.op == "triangle" else node.serial)
        return self._made.setdefault(key, node)

    def again(self, node: Node, operands: Sequence[Node]) -> Node:
        """The operation of a node in its form on other operands."""
        if node.op in ("matmul", "transpose", "pick"):
            return self.apply(node, operands)
        return self.node(node.op, operands, node.grid, node.extra)

    def node(
        self, op: Any, operands: Sequence[Node], grid: tuple[int, int], extra: Any = None
    ) -> Node:
        """Any other operation, its indices taken last."""
        if op in ("add", "subtract") and (kept := _without(0, op, operands, grid)):
            return kept
        if op in ("multiply", "divide") and (kept := _without(1, op, operands, grid)):
            return kept
        if op == "negate" and operands[0].op == "negate":
            return operands[0].operands[0]
        if op in ELEMENTWISE or op in _ENTRYWISE:
            if (outer := self._behind(op, operands, grid, extra)) is not None:
                return outer
        elif op == "total" and operands[0].grid[0] == 1:
            return self.node("rowsum", operands, grid)
        elif op == "rowsum" and _has_all(operands[0], 1):
            (inner,) = operands[0].operands
            summed = self.node("rowsum", [inner], (inner.grid[0], 1))
            return self.pick(summed, operands[0].extra[0], _FIRST)
        if op in ("add", "multiply") or (op == "maximum" and extra is None):
            operands = sorted(operands, key=lambda x: x.serial)
        return self._once(op, operands, grid, extra)

    def _once(
        self, op: Any, operands: Sequence[Node], grid: tuple[int, int], extra: Any = None
    ) -> Node:
        key = (op, *(x.serial for x in operands), grid, extra)
        if key not in self._made:
            self._made[key] = made = Node(op, tuple(operands), grid, extra)
            self._of[made.serial] = made
        return self._made[key]

    def powers(self, scores: Node) -> tuple[Node, Node]:
        """Return what a softmax divides: exponentials, and their sums by rows."""
        above = self.node("exp", [scores], scores.grid)
        return above, self.node("rowsum", [above], (scores.grid[0], 1))

    def divide(self, above: Node, below: Node) -> Node:
        """A quotient, entry by entry."""
        return self.node("divide", [above, below], above.grid)

    def transpose(self, x: Node) -> Node:
        """A matrix turned."""
        if x.grid == (1, 1):
            return x
        if x.op == "transpose":
            return x.operands[0]
        if x.op == "pick":
            rows, columns = x.extra
            return self.pick(self.transpose(x.operands[0]), columns, rows)
        return self._once("transpose", [x], x.grid[::-1])

    def matmul(self, x: Node, y: Node) -> Node:
        """A product; of it and its transpose one is made of the other."""
        rows, columns = x.grid[0], y.grid[1]
        if _has_all(x, 1):
            inner = self.matmul(x.operands[0], y)
            return self.pick(inner, x.extra[0], range(columns))
        if _has_all(y, 0):
            inner = self.matmul(x, y.operands[0])
            return self.pick(inner, range(rows), y.extra[1])
        turned = "matmul", self.transpose(y).serial, self.transpose(x).serial, (columns, rows), None
        if turned in self._made:
            return self.transpose(self._made[turned])
        return self._once("matmul", [x, y], (rows, columns))

    def pick(self, x: Node, rows: range, columns: range) -> Node:
        """Some rows and columns; of what is picked already those of the first."""
        if x.op == "pick":
            rows, columns = (_among(*two) for two in zip(x.extra, (rows, columns), strict=True))
            (x,) = x.operands
        if (rows, columns) == (range(x.grid[0]), range(x.grid[1])):
            return x
        return self._once("pick", [x], (len(rows), len(columns)), (rows, columns))

    def _behind(
        self, op: Any, operands: Sequence[Node], grid: tuple[int, int], extra: Any
    ) -> Node | None:
        """The same operation on whole matrices, the indices taken of its result."""
        picked = [x for x in operands if x.op == "pick"]
        if not picked:
            return None
        rows, columns = picked[0].extra
        whole = picked[0].operands[0].grid
        inner = []
        # The same places of a matrix, or the same rows of a column beside it.
        alike = (((rows, columns), whole), ((rows, _FIRST), (whole[0], 1)))
        for x in operands:
            if x.op == "pick" and (x.extra, x.operands[0].grid) in alike:
                inner.append(x.operands[0])
            elif x.grid == (1, 1) and x.op != "pick":
                inner.append(x)
            else:
                return None
        if grid != (len(rows), len(columns)):
            return None
        return self.pick(self.node(op, inner, whole, extra), rows, columns)


_ENTRYWISE = ("negate", "add", "subtract", "multiply", "divide", "maximum", "above")


_FIRST = range(1)


def _has_all(x: Node, axis: int) -> bool:
    """Return whether all rows, or all columns, are picked."""
    return x.op == "pick" and x.extra[axis] == range(x.operands[0].grid[axis])


def _among(before: range, places: range) -> range:
    """Return what places are among those picked before."""
    first, last = before[places[0]], before[places[-1]]
    step = before.step * places.step
    return range(first, last + (1 if step > 0 else -1), step)


def _without(number: int, op: str, operands: Sequence[Node], grid: tuple[int, int]) -> Node | None:
    """The other operand, where one is a number that changes nothing."""
    x, y = operands
    if y.op == "constant" and y.extra == number and x.grid == grid:
        return x
    if op in ("add", "multiply") and x.op == "constant" and x.extra == number and y.grid == grid:
        return y
    return None
