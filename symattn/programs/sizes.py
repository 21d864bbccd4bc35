"""Which axes of a program's quantities are as long as each other, whatever their length.

Two axes have one size where an operation needs it: the columns of Q and of K where there is
``Q @ K.T``. What is picked, put side by side or written in numbers has its length for good.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from symattn.programs.nodes import Node, ancestors, arguments
from symattn.programs.program import Program

Size = str | int
"""The name of a size, or a length."""

#: Calls whose result has the shape of what they are of, for any size.
_SHAPED = ("window", "padding", "alibi", "softmax", "rope")
#: Calls that name places by whole numbers, and the operand that is as wide as there are places.
_NAMED: Mapping[str, int] = {"embedding": 1, "cross_entropy": 0, "nll": 0}
#: Names of sizes, in the order in which they are taken.
_NAMES = ("n", "d", "m", "h", "p", "q", "c", "r", "s", "u", "w")


def ids(node: Node) -> Node | None:
    """The whole numbers by which a call names places; None for any other node."""
    if node.written is None:
        return None
    match node.written.function:
        case "embedding" | "onehot":
            return arguments(node)[0]
        case "cross_entropy" | "nll":
            x, targets, *_ = arguments(node)
            return targets if targets.shape != x.shape else None
    return None


def parts(node: Node) -> tuple[Node, ...]:
    """What a node is made of, down to the calls whose sizes are known by themselves."""
    written = node.written
    is_known = written is not None and (written.function in _SHAPED or ids(node) is not None)
    return arguments(node) if is_known else node.operands


class Sizes:
    """The sizes of the axes of all nodes, rows and columns."""

    def __init__(self, program: Program) -> None:
        self._same: dict[tuple[int, int], tuple[int, int]] = {}
        self._fixed: dict[tuple[int, int], int] = {}
        self.counts: dict[str, int] = {}
        """How many places there are for the whole numbers of a given name to name."""
        every = ancestors(program.quantities.values(), through=parts)
        for node in every:
            for axis in (0, 1):
                if node.grid[axis] == 1:
                    self._fix(node, axis)
            self._join(node)
        self.names = self._named(program, every)

    def of(self, node: Node) -> tuple[Size, ...]:
        """The sizes of a node along the axes of its shape; places that whole numbers name
        have an axis of their own, as rows of 0 and 1."""
        sizes = [self._size((node.serial, axis)) for axis in (0, 1)]
        return tuple(sizes[2 - len(node.shape) :])

    def places(self, node: Node) -> Size:
        """How many places there are for whole numbers to name."""
        return self._size((node.serial, 2))

    def _size(self, axis: tuple[int, int]) -> Size:
        root = self._root(axis)
        return self._fixed[root] if root in self._fixed else self.names[root]

    def _root(self, axis: tuple[int, int]) -> tuple[int, int]:
        while axis in self._same:
            axis = self._same[axis]
        return axis

    def _unite(self, x: Node, along: int, y: Node, other: int) -> None:
        first, second = self._root((x.serial, along)), self._root((y.serial, other))
        if first != second:
            self._same[second] = first
            if second in self._fixed:
                self._fixed[first] = self._fixed.pop(second)

    def _fix(self, node: Node, axis: int) -> None:
        self._fixed[self._root((node.serial, axis))] = node.grid[axis]

    def _fix_all(self, *nodes: Node) -> None:
        for node in nodes:
            for axis in (0, 1):
                self._fix(node, axis)

    def _spread(self, node: Node, *operands: Node) -> None:
        """Operands that are as long as the result, or repeated."""
        for x in operands:
            for axis in (0, 1):
                if x.grid[axis] == node.grid[axis]:
                    self._unite(node, axis, x, axis)

    def _compare(self, node: Node) -> None:
        """Places of rows and of columns are compared: there are as many, or numbers of them."""
        if node.grid[0] == node.grid[1]:
            self._unite(node, 0, node, 1)
        else:
            self._fix_all(node)

    def _join(self, node: Node) -> None:
        named = ids(node)
        if named is not None:
            self._join_named(node, named)
            return
        operands = parts(node)
        if node.written is not None and node.written.function in _SHAPED:
            self._spread(node, operands[0])
            if node.written.function in ("window", "alibi"):
                self._compare(node)
            if node.written.function == "rope":
                self._fix(node, 1)
                for vector in (x for x in operands[1:] if x.shape):
                    self._unite(node, 0, vector, 1)
            return
        match node.op:
            case "given" | "constant" | "triangle":
                pass
            case "table":
                self._fix_all(node)
            case "hide" if operands[1].op == "triangle":
                self._spread(node, *operands)
                self._compare(node)
            case "matmul":
                x, y = operands
                self._unite(node, 0, x, 0)
                self._unite(node, 1, y, 1)
                self._unite(x, 1, y, 0)
            case "transpose":
                self._unite(node, 0, operands[0], 1)
                self._unite(node, 1, operands[0], 0)
            case "concat":
                for x in operands:
                    self._unite(node, 0, x, 0)
                    self._fix(x, 1)
                self._fix(node, 1)
            case "rowsum" | "rowmax":
                self._unite(node, 0, operands[0], 0)
            case "colsum":
                self._unite(node, 1, operands[0], 1)
            case "total":
                pass
            case "pick":
                for axis, places in enumerate(node.extra):
                    if len(places) == operands[0].grid[axis] and places.step == 1:
                        self._unite(node, axis, operands[0], axis)
                    else:
                        self._fix(node, axis)
                        self._fix(operands[0], axis)
            case _ if node.op == "reshape" and node.grid != operands[0].grid:
                self._fix_all(node, operands[0])
            case _:
                self._spread(node, *operands)

    def _join_named(self, node: Node, named: Node) -> None:
        """Whole numbers are rows of 0 and 1 in a derivation: their places are an axis too."""
        assert node.written is not None
        function = node.written.function
        if named.op == "given":
            x = node if function == "onehot" else arguments(node)[_NAMED[function]]
            self.counts[named.extra] = x.grid[0 if function == "embedding" else 1]
        if function == "onehot":
            self._unite(node, 0, named, 1)
            self._unite(node, 1, named, 2)
            return
        x = arguments(node)[_NAMED[function]]
        if function == "embedding":
            self._unite(node, 0, named, 1)
            self._unite(node, 1, x, 1)
            self._unite(x, 0, named, 2)
        else:
            self._unite(x, 0, named, 1)
            self._unite(x, 1, named, 2)

    def _named(self, program: Program, every: Iterable[Node]) -> dict[tuple[int, int], str]:
        """A name for each size: that of a quantity is taken, and so is i, j, k or l."""
        free = (name for name in _NAMES if name not in program.quantities)
        axes = [(node.serial, axis) for node in every for axis in (0, 1) if node.grid[axis] > 1]
        axes += [(named.serial, 2) for node in every if (named := ids(node)) is not None]
        roots = dict.fromkeys(map(self._root, axes))
        return {
            root: next(free, f"n_{place}")
            for place, root in enumerate(roots)
            if root not in self._fixed
        }
