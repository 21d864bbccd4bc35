"""Which axes of a program's quantities run over the same things.

Two axes are the same where an operation lines them up: the columns of S in
``S = Q @ K.T`` run over the rows of K. A sheet labels with tokens the axes
that are the same as the rows of the output, and no others.
"""

from __future__ import annotations

from symattn.programs.nodes import Node, ancestors
from symattn.programs.program import Program

NodeAxis = tuple[int, int]


class Axes:
    """The classes of equal axes of a program.

    >>> from symattn.programs.program import program
    >>> p = program({"X": (2, 2), "W": (2, 2)}, {"Q": "X @ W", "S": "Q @ Q.T"})
    >>> axes = Axes(p)
    >>> axes.same(p.quantities["S"], 1, p.quantities["X"], 0)
    True
    >>> axes.same(p.quantities["W"], 0, p.quantities["X"], 0)
    False
    """

    def __init__(self, program: Program) -> None:
        self._parents: dict[NodeAxis, NodeAxis] = {}
        for node in ancestors(program.quantities.values()):
            self._line_up(node)
        for name, gradient in program.gradients.items():
            for axis in (0, 1):
                self._join((gradient, axis), (program.quantities[name], axis))

    def same(self, x: Node, i: int, y: Node, j: int) -> bool:
        """Whether axis i of ``x`` (0 rows, 1 columns) runs over what axis j of
        ``y`` does."""
        return self._root((x.serial, i)) == self._root((y.serial, j))

    def _root(self, axis: NodeAxis) -> NodeAxis:
        while (parent := self._parents.get(axis, axis)) != axis:
            axis = parent
        return axis

    def _join(self, a: tuple[Node, int], b: tuple[Node, int]) -> None:
        self._parents[self._root((a[0].serial, a[1]))] = self._root((b[0].serial, b[1]))

    def _line_up(self, node: Node) -> None:
        x = node.operands
        match node.op:
            case "matmul":
                self._join((node, 0), (x[0], 0))
                self._join((node, 1), (x[1], 1))
                self._join((x[0], 1), (x[1], 0))
            case "transpose":
                self._join((node, 0), (x[0], 1))
                self._join((node, 1), (x[0], 0))
            case "concat":
                for part in x:
                    self._join((node, 0), (part, 0))
            case "total":
                pass
            case "pick" | "scatter":
                for axis, places in enumerate(node.extra):
                    # Rows in another order are others.
                    length = node.grid[axis]
                    if length > 1 and places == range(length) == range(x[0].grid[axis]):
                        self._join((node, axis), (x[0], axis))
            case _:
                for operand in x:
                    for axis in (0, 1):
                        if operand.grid[axis] == node.grid[axis] > 1:
                            self._join((node, axis), (operand, axis))
