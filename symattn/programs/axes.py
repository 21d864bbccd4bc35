"""Axes of a program's quantities: which run over the same things, and which have one size.

Two axes are the same where an operation lines them up: the columns of S in ``S = Q @ K.T`` run
over the rows of K. A sheet labels with tokens the axes that are the same as the rows of the
output, and no others; a derivation for any size has one name for the length of them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from symattn.programs.nodes import Node, ancestors, arguments
from symattn.programs.program import Program

#: An axis of a node, by its serial: 0 rows, 1 columns.
Axis = tuple[int, int]


def lined_up(node: Node) -> Iterator[tuple[Axis, Axis]]:
    """Pairs of axes, of a node and of its operands, that its operation lines up.

    >>> from symattn.programs.nodes import given, matmul
    >>> x, y = given("X", (2, 3)), given("Y", (3, 4))
    >>> product = matmul(x, y)
    >>> pairs = [(product.serial, 0), (x.serial, 0)], [(product.serial, 1), (y.serial, 1)]
    >>> [[*pair] for pair in lined_up(product)] == [*pairs, [(x.serial, 1), (y.serial, 0)]]
    True
    """
    here, operands = node.serial, node.operands
    match node.op:
        case "matmul":
            left, right = (x.serial for x in operands)
            yield from (((here, 0), (left, 0)), ((here, 1), (right, 1)), ((left, 1), (right, 0)))
        case "transpose":
            yield from (((here, axis), (operands[0].serial, 1 - axis)) for axis in (0, 1))
        case "concat":
            yield from (((here, 0), (part.serial, 0)) for part in operands)
        case "pick" | "scatter":
            for axis, places in enumerate(node.extra):
                # Rows in another order are others.
                length = node.grid[axis]
                if length > 1 and places == range(length) == range(operands[0].grid[axis]):
                    yield (here, axis), (operands[0].serial, axis)
        case _:
            for x in operands:
                for axis in (0, 1):
                    if x.grid[axis] == node.grid[axis] > 1:
                        yield (here, axis), (x.serial, axis)


class _Classes:
    """Axes that are told to be the same, each by one of them."""

    def __init__(self) -> None:
        self._same: dict[Axis, Axis] = {}

    def root(self, axis: Axis) -> Axis:
        while axis in self._same:
            axis = self._same[axis]
        return axis

    def join(self, axis: Axis, other: Axis) -> None:
        first, second = self.root(axis), self.root(other)
        if first != second:
            self._same[first] = second


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
        self._classes = _Classes()
        for node in ancestors(program.quantities.values()):
            for pair in lined_up(node):
                self._classes.join(*pair)
        for name, gradient in program.gradients.items():
            for axis in (0, 1):
                of = program.quantities[name].serial
                self._classes.join((gradient.serial, axis), (of, axis))

    def same(self, x: Node, i: int, y: Node, j: int) -> bool:
        """Return whether axis i of ``x`` (0 rows, 1 columns) runs over what axis j of
        ``y`` does."""
        return self._classes.root((x.serial, i)) == self._classes.root((y.serial, j))


# -- sizes -------------------------------------------------------------------------------
# Two axes have one size where an operation needs it. What is picked, put side by side or written in
# numbers has its length for good.

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
    """Return what a node is made of, down to the calls whose sizes are known by themselves."""
    written = node.written
    is_known = written is not None and (written.function in _SHAPED or ids(node) is not None)
    return arguments(node) if is_known else node.operands


class Sizes:
    """The sizes of the axes of all nodes, rows and columns."""

    def __init__(self, program: Program) -> None:
        self._classes = _Classes()
        self._lengths: dict[Axis, int] = {}
        self.counts: dict[str, int] = {}
        """Return how many places there are for the whole numbers of a given name to name."""
        every = ancestors(program.quantities.values(), through=parts)
        for node in every:
            for axis in (0, 1):
                if node.grid[axis] == 1:
                    self._fix(node, axis)
            self._join(node)
        #: The lengths of what has no name.
        self._fixed = {self._classes.root(axis): length for axis, length in self._lengths.items()}
        self.names = self._named(program, every)

    def of(self, node: Node) -> tuple[Size, ...]:
        """The sizes of a node along the axes of its shape; places that whole numbers name
        have an axis of their own, as rows of 0 and 1."""
        sizes = [self._size((node.serial, axis)) for axis in (0, 1)]
        return tuple(sizes[2 - len(node.shape) :])

    def places(self, node: Node) -> Size:
        """Return how many places there are for whole numbers to name."""
        return self._size((node.serial, 2))

    def _size(self, axis: Axis) -> Size:
        root = self._classes.root(axis)
        return self._fixed[root] if root in self._fixed else self.names[root]

    def _unite(self, x: Node, along: int, y: Node, other: int) -> None:
        self._classes.join((x.serial, along), (y.serial, other))

    def _fix(self, node: Node, *axes: int) -> None:
        self._lengths |= {(node.serial, axis): node.grid[axis] for axis in axes}

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
            self._fix(node, 0, 1)

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
        for pair in lined_up(node):
            self._classes.join(*pair)
        match node.op:
            case "table":
                self._fix(node, 0, 1)
            case "hide" if operands[1].op == "triangle":
                self._compare(node)
            case "concat":
                for x in (node, *operands):
                    self._fix(x, 1)
            case "pick":
                for axis, places in enumerate(node.extra):
                    if len(places) != operands[0].grid[axis] or places.step != 1:
                        self._fix(node, axis)
                        self._fix(operands[0], axis)
            case "scatter":
                self._spread(node, *operands)
            case "reshape" if node.grid != operands[0].grid:
                self._fix(node, 0, 1)
                self._fix(operands[0], 0, 1)

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

    def _named(self, program: Program, every: Iterable[Node]) -> dict[Axis, str]:
        """A name for each size: that of a quantity is taken, and so is i, j, k or l."""
        free = (name for name in _NAMES if name not in program.quantities)
        axes = [(node.serial, axis) for node in every for axis in (0, 1) if node.grid[axis] > 1]
        axes += [(named.serial, 2) for node in every if (named := ids(node)) is not None]
        roots = dict.fromkeys(map(self._classes.root, axes))
        return {
            root: next(free, f"n_{place}")
            for place, root in enumerate(roots)
            if root not in self._fixed
        }
