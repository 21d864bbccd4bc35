"""A document's recipe in floats: what every figure would be if one step were another.

Floats only look for causes; what is named is confirmed exactly
(:mod:`symattn.auditing.exactly`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from flint import arb, fmpq

from symattn import formulas as f
from symattn.auditing.figures import Figure
from symattn.auditing.graph import Graph, Place
from symattn.numbers.reading import Masked
from symattn.numbers.values import Value
from symattn.programs import display
from symattn.programs.floats import FloatOperations, Matrix
from symattn.programs.nodes import Node, ancestors
from symattn.programs.running import Run
from symattn.solution.solution import Solution

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
        self.names: dict[int, f.Formula] = {}
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
        """Whether a node is computed from another, or is that."""
        if node.serial not in self._above:
            self._above[node.serial] = frozenset(part.serial for part in ancestors([node]))
        return on.serial in self._above[node.serial]

    def is_backward(self, node: Node) -> bool:
        """Whether a node is computed from the upstream gradient."""
        upstream = self.solution.program.upstream
        return upstream is not None and self.depends(node, upstream)

    def text(self, node: Node) -> str:
        """A node as text: its name, or its expression down to names."""
        if node.serial not in self._texts:
            formula = self.names.get(node.serial) or self._formula(node)
            self._texts[node.serial] = f.text(formula)
        return self._texts[node.serial]

    def _formula(self, node: Node) -> f.Formula:
        """What a node computes: as a call where it was written as one."""
        origin = self.graph.origin.get(node.serial)
        if origin is not None and origin.written:
            return display.formula(origin, display.names(self.solution.program))
        return display.formula(node, self.names)

    def entry(self, node: Node, i: int, j: int) -> str:
        """An entry as text: ``A[0, 2]``, ``exp(S)[1, 0]``, ``(S - m)[2]``."""
        text = self.text(node)
        if node.grid == (1, 1):
            return text
        plain = node.serial in self.names or isinstance(self._formula(node), f.Function)
        origin = self.graph.origin.get(node.serial)
        is_row = origin is not None and len(origin.shape) == 1
        return f"{text if plain else f'({text})'}[{f'{j}' if is_row else f'{i}, {j}'}]"


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
        self._floats = FloatOperations()
        self._made: dict[int, Matrix] = {}
        self._used: dict[int, Matrix] = {}
        for node in recipe.needed:
            self._take(node)
        self._figures: dict[int, tuple[list[int], list[int], list[int]]] = {}
        for place, (node, i, j) in enumerate(recipe.places):
            columns = self._figures.setdefault(node.serial, ([], [], []))
            for column, index in zip(columns, (place, i, j), strict=True):
                column.append(index)
        self._below: dict[int, list[Node]] = {}
        self.true = self._read({}, ())

    def _take(self, node: Node) -> None:
        matrix = self.recipe.exact[node] if node.op == "given" else self._apply(node, {})
        self._made[node.serial] = matrix
        self._used[node.serial] = self._fixed_in(node, matrix)

    def _apply(self, node: Node, instead: Mapping[int, Matrix]) -> Matrix:
        operands = [instead[x.serial] if x.serial in instead else self[x] for x in node.operands]
        return self._floats.apply(node, operands)

    def _fixed_in(self, node: Node, matrix: Matrix) -> Matrix:
        if node.serial not in self._fixed:
            return matrix
        where, numbers = self._fixed[node.serial]
        return np.where(where, numbers, matrix)

    def __getitem__(self, node: Node) -> Matrix:
        """What is used of a node by what is computed from it."""
        if node.serial not in self._used:
            for part in ancestors([node], stop=lambda x: x.serial in self._used):
                self._take(part)
        return self._used[node.serial]

    def has_printed(self, node: Node) -> bool:
        """Whether printed figures stand for entries of a node."""
        return node.serial in self._fixed

    def made(self, node: Node) -> Matrix:
        """What a node's operation makes of what is used of its operands."""
        self[node]
        return self._made[node.serial]

    def predicted(self, node: Node, values: Matrix, in_use: bool) -> Predicted:
        """What all figures would be if a node had these values, one for each of the first
        axis; ``in_use``: printed as it is, but these used in what is computed from it."""
        many = []
        for k in range(0, len(values), _MANY):
            some = values[k : k + _MANY]
            many.append(self._read(self._followed(node, some, in_use), some.shape[:1]))
        return np.concatenate(many)

    def predicted_of(
        self, node: Node, values: Matrix, in_use: bool, figures: Sequence[int]
    ) -> Predicted:
        """What one figure would be for each of the values of a node: see :meth:`predicted`."""
        predicted = np.empty(len(values))
        for k in range(0, len(values), _MANY):
            changed = self._followed(node, values[k : k + _MANY], in_use)
            for at, figure in enumerate(figures[k : k + _MANY]):
                of, i, j = self.recipe.places[figure]
                matrix = changed[of.serial][at] if of.serial in changed else self._made[of.serial]
                predicted[k + at] = matrix[i, j]
        return predicted

    def _followed(self, node: Node, values: Matrix, in_use: bool) -> dict[int, Matrix]:
        changed = {} if in_use else {node.serial: values}
        used = {node.serial: values if in_use else self._fixed_in(node, values)}
        for part in self.below(node):
            changed[part.serial] = matrix = self._apply(part, used)
            used[part.serial] = self._fixed_in(part, matrix)
        return changed

    def below(self, node: Node) -> list[Node]:
        """What is computed from a node, in order."""
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
        for serial, (places, rows, columns) in self._figures.items():
            values = changed[serial] if serial in changed else self._made[serial]
            predicted[..., places] = values[..., rows, columns]
        return predicted
