"""A document's recipe in floats: what every figure would be if one step were another.

Floats only look for causes; what is named is confirmed exactly
(:mod:`symattn.auditing.edits`).

One graph of operations: what claims, steps and gradients are made of, each once.

Nodes are put into a form in which equal parts meet: a softmax is exponentials,
their sums, a quotient; indices are taken last, copies and ``+ 0`` and ``* 1``
are gone. ``exp(S[1])[2]`` is then an entry of what ``softmax(S)`` divides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import arb, fmpq

from symattn.auditing.figures import Figure
from symattn.expressions import syntax
from symattn.expressions.elementary import ELEMENTWISE
from symattn.numbers.reading import Masked
from symattn.numbers.values import Value
from symattn.programs import display
from symattn.programs.enclosures import FloatOperations, Matrix, applied
from symattn.programs.nodes import Node, Run, ancestors
from symattn.solution.solution import Solution

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
        # Operands first: a program is too deep for recursion.
        for part in ancestors([node], stop=lambda x: x.serial in self._of):
            form = self.apply(part, [self._of[x.serial] for x in part.operands])
            self._of[part.serial] = form
            if part.written or form.serial not in self.origin:
                self.origin[form.serial] = part
        return self._of[node.serial]

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
            self._made[key] = Node(op, tuple(operands), grid, extra)
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


Predicted = npt.NDArray[np.float64]
"""What all figures would be; a row for each of many alternatives."""
Flags = npt.NDArray[np.bool_]

#: So many alternatives are run at once.
_MANY = 256


class AuditedGraph:
    """The graph of a document, where its figures stand in it, and what its nodes are called."""

    def __init__(self, solution: Solution, figures: Sequence[Figure]) -> None:
        self.solution = solution
        self.figures = figures
        self.graph = Graph()
        formulas = display.names(solution.program)
        self.names: dict[int, syntax.Tree] = {}
        self.named: dict[str, Node] = {}
        for name, node in solution.program.named.items():
            form = self.graph[node]
            self.named[name] = form
            self.names.setdefault(form.serial, formulas[node.serial])
        self.places: list[Place] = [
            self.graph.place(self.graph[figure.node], figure.entry.i, figure.entry.j)
            for figure in figures
        ]
        self.needed = ancestors({node.serial: node for node, _, _ in self.places}.values())
        self.exact: Run[Matrix] = Run(FloatOperations(), self.leaf)
        self._texts: dict[int, str] = {}
        self._labels: dict[int, tuple[str, bool]] = {}
        self._above: dict[int, frozenset[int]] = {}

    def leaf(self, node: Node) -> Matrix | None:
        """A given quantity in floats; a symbol is not a number."""
        if node.op != "given":
            return None
        case = self.solution.case
        is_upstream = node is self.solution.program.upstream
        rows = case.upstream if is_upstream else case.given[node.extra]
        return np.array([[_float(entry) for entry in row] for row in rows])

    def depends(self, node: Node, on: Node) -> bool:
        """Return whether a node is computed from another, or is that."""
        if node.serial not in self._above:
            self._above[node.serial] = frozenset(part.serial for part in ancestors([node]))
        return on.serial in self._above[node.serial]

    def is_backward(self, node: Node) -> bool:
        """Return whether a node is computed from the upstream gradient."""
        upstream = self.solution.program.upstream
        return upstream is not None and self.depends(node, upstream)

    def text(self, node: Node) -> str:
        """A node as text: its name, or its expression down to names."""
        if node.serial not in self._texts:
            formula = self.names.get(node.serial) or self._formula(node)
            self._texts[node.serial] = syntax.shown(formula)
        return self._texts[node.serial]

    def _formula(self, node: Node) -> syntax.Tree:
        """Return what a node computes: as a call where it was written as one."""
        origin = self.graph.origin.get(node.serial)
        if origin is not None and origin.written:
            return display.formula(origin, display.names(self.solution.program))
        return display.formula(node, self.names)

    def entry(self, node: Node, i: int, j: int) -> str:
        """An entry as text: ``A[0, 2]``, ``exp(S)[1, 0]``, ``(S - m)[2]``."""
        if node.grid == (1, 1):
            return self.text(node)
        if node.serial not in self._labels:
            self._labels[node.serial] = self._label(node)
        label, is_row = self._labels[node.serial]
        return f"{label}[{j}]" if is_row else f"{label}[{i}, {j}]"

    def _label(self, node: Node) -> tuple[str, bool]:
        """Return what stands before the index of an entry, and whether that has a column only."""
        text = self.text(node)
        plain = node.serial in self.names or isinstance(self._formula(node), syntax.Call)
        origin = self.graph.origin.get(node.serial)
        return text if plain else f"({text})", origin is not None and len(origin.shape) == 1


def floating(number: fmpq | arb) -> float:
    """A number as a float; what is beyond all of them is none."""
    try:
        value = float(number)
    except OverflowError:
        return np.nan
    return value if np.isfinite(value) else np.nan


def _float(entry: Value | Masked) -> float:
    if isinstance(entry, Masked):
        return -np.inf
    return np.nan if entry.has_symbols else floating(entry.ball(64))


class Model:
    """A recipe run from its exact numbers, or from those that the document prints.

    ``printed`` has the figures that stand for entries of nodes: what is computed
    from these takes them as they are printed.
    """

    def __init__(self, recipe: AuditedGraph, printed: Mapping[Place, fmpq] | None = None) -> None:
        self.recipe = recipe
        self.printed = printed or {}
        self._fixed: dict[int, tuple[Flags, Matrix]] = {}
        for (node, i, j), number in self.printed.items():
            empty = np.zeros(node.grid, bool), np.zeros(node.grid)
            where, numbers = self._fixed.setdefault(node.serial, empty)
            where[i, j], numbers[i, j] = True, floating(number)
        self._made: dict[int, Matrix] = {}
        self._used: dict[int, Matrix] = {}
        self._take_all(recipe.needed)
        figures: dict[int, list[tuple[int, int, int]]] = {}
        for place, (node, i, j) in enumerate(recipe.places):
            figures.setdefault(node.serial, []).append((place, i, j))
        #: By nodes, the figures that stand there, with the rows and the columns.
        self._figures = {serial: np.array(those).T for serial, those in figures.items()}
        self._below: dict[int, list[Node]] = {}
        self.true = self._read(self._made, ())

    @np.errstate(all="ignore")
    def _take_all(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self._take(node)

    def _take(self, node: Node) -> None:
        matrix = self.recipe.exact[node] if node.op == "given" else self._apply(node, {})
        self._made[node.serial] = matrix
        self._used[node.serial] = self._fixed_in(node, matrix)

    def _apply(self, node: Node, instead: Mapping[int, Matrix]) -> Matrix:
        operands = [instead[x.serial] if x.serial in instead else self[x] for x in node.operands]
        return applied(node, operands)

    def _fixed_in(self, node: Node, matrix: Matrix) -> Matrix:
        if node.serial not in self._fixed:
            return matrix
        where, numbers = self._fixed[node.serial]
        return np.where(where, numbers, matrix)

    def __getitem__(self, node: Node) -> Matrix:
        """Return what is used of a node by what is computed from it."""
        if node.serial not in self._used:
            self._take_all(ancestors([node], stop=lambda x: x.serial in self._used))
        return self._used[node.serial]

    def has_printed(self, node: Node) -> bool:
        """Return whether printed figures stand for entries of a node."""
        return node.serial in self._fixed

    def made(self, node: Node) -> Matrix:
        """Return what a node's operation makes of what is used of its operands."""
        self[node]
        return self._made[node.serial]

    def predicted(self, node: Node, values: Matrix, in_use: bool) -> Predicted:
        """Return what all figures would be if a node had these values, one for each of the first
        axis; ``in_use``: printed as it is, but these used in what is computed from it."""
        many = []
        for k in range(0, len(values), _MANY):
            some = values[k : k + _MANY]
            many.append(self._read(self._followed(node, some, in_use), some.shape[:1]))
        return np.concatenate(many)

    def predicted_of(
        self, node: Node, values: Matrix, in_use: bool, figures: Sequence[int]
    ) -> Predicted:
        """Return what one figure would be for each of the values of a node: see
        :meth:`predicted`."""
        predicted = np.empty(len(values))
        for k in range(0, len(values), _MANY):
            changed = self._followed(node, values[k : k + _MANY], in_use)
            for at, figure in enumerate(figures[k : k + _MANY]):
                of, i, j = self.recipe.places[figure]
                known = changed.get(of.serial)
                predicted[k + at] = self.true[figure] if known is None else known[at, i, j]
        return predicted

    @np.errstate(all="ignore")
    def _followed(self, node: Node, values: Matrix, in_use: bool) -> dict[int, Matrix]:
        changed = {} if in_use else {node.serial: values}
        used = {node.serial: values if in_use else self._fixed_in(node, values)}
        for part in self.below(node):
            changed[part.serial] = matrix = self._apply(part, used)
            used[part.serial] = self._fixed_in(part, matrix)
        return changed

    def below(self, node: Node) -> list[Node]:
        """Return what is computed from a node, in order."""
        if node.serial not in self._below:
            reached = {node.serial}
            order = []
            for part in self.recipe.needed:
                if any(x.serial in reached for x in part.operands):
                    reached.add(part.serial)
                    order.append(part)
            self._below[node.serial] = order
        return self._below[node.serial]

    def _read(self, changed: Mapping[int, Matrix], many: tuple[int, ...]) -> Predicted:
        predicted = np.empty((*many, len(self.recipe.places)))
        if many:
            predicted[:] = self.true
        for serial in changed.keys() & self._figures.keys():
            places, rows, columns = self._figures[serial]
            predicted[..., places] = changed[serial][..., rows, columns]
        return predicted
