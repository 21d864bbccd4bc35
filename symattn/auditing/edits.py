"""Edits of a document's recipe: what every figure would be if one step were another.

An edit is a slip (:mod:`symattn.slips`) at one step, which gives that other values; the rest of
the recipe stays as it is. Floats only look for causes: figures are evidence for an edit or
against it, in bits, and what is named is confirmed exactly, figure by figure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import log2

import numpy as np
import numpy.typing as npt
from flint import arb, fmpq

from symattn.auditing.figures import Figure
from symattn.errors import SymattnError, Undecided
from symattn.expressions import syntax
from symattn.expressions.syntax import gradient_name
from symattn.languages.sentence import Sentence
from symattn.numbers import rounding
from symattn.numbers.balls import FIRST
from symattn.numbers.float_formats import FloatFormat
from symattn.numbers.reading import Masked
from symattn.numbers.values import ONE, Value, rational
from symattn.programs import nodes
from symattn.programs.enclosures import FloatOperations, Matrix, applied
from symattn.programs.nodes import Node, Run, ancestors, rebuilt, replaced
from symattn.programs.program import Program, differentiate
from symattn.slips.catalogue import KINDS, Word, arrangements, phrase, rounded_to
from symattn.slips.graph import Graph, Place, Recipe
from symattn.solution.entries import EntryValue
from symattn.solution.quantity import Quantity
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict

Predicted = npt.NDArray[np.float64]
"""The figures as they would be; a row for each of many alternatives."""
Flags = npt.NDArray[np.bool_]

#: So many alternatives are run at once.
_MANY = 256


class AuditedGraph(Recipe):
    """The graph of a document, where its figures stand in it, and what its nodes are called."""

    def __init__(self, solution: Solution, figures: Sequence[Figure]) -> None:
        self.graph = Graph()
        super().__init__(solution.program, self.graph)
        self.solution = solution
        self.figures = figures
        self.places: list[Place] = [
            self.graph.place(self.graph[figure.node], figure.entry.i, figure.entry.j)
            for figure in figures
        ]
        self.needed = ancestors({node.serial: node for node, _, _ in self.places}.values())
        self.exact: Run[Matrix] = Run(FloatOperations(), self.leaf)
        self._labels: dict[int, tuple[str, bool]] = {}

    def leaf(self, node: Node) -> Matrix | None:
        """A given quantity in floats; a symbol is not a number."""
        if node.op != "given":
            return None
        case = self.solution.case
        is_upstream = node is self.solution.program.upstream
        rows = case.upstream if is_upstream else case.given[node.extra]
        return np.array([[_float(entry) for entry in row] for row in rows])

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
        plain = node.serial in self.names or isinstance(self.computed(node), syntax.Call)
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


#: One figure says no more; and alone no more than this, as it may be a miswriting.
MOST, ALONE = 16.0, 10.0
#: What a figure says that is the right one with a slip of the pen.
PEN = 6.0
#: What is off at least where a masked score stands for a number, or a number for one.
_MASKED = 2.0
#: An edit meets a figure as far as floats tell.
_SLACK = 0.5 + 1e-9


def rederived(recipe: AuditedGraph, instead: Mapping[int, Node]) -> list[Node] | None:
    """For each figure the node that it is an entry of, where others stand in the places of some
    forward, by their serials, and the gradients are those of these; None where there are none.

    A document that differentiates by hand keeps the right formulas of the backward pass; one
    that lets a library do it differentiates what it computes.
    """
    program, case = recipe.solution.program, recipe.solution.case
    if program.upstream is None or not case.output:
        return None
    output = recipe.named[case.output]
    if not any(node.serial in instead for node in ancestors([output])):
        return None
    put = dict(instead)
    quantities = {name: replaced(recipe.named[name], put) for name in program.quantities}
    forward = Program(quantities, program.given, program.steps)
    backward = differentiate(forward, case.output)
    assert backward.upstream is not None
    upstream = {backward.upstream.serial: recipe.graph[program.upstream]}
    for name, gradient in backward.gradients.items():
        old, new = recipe.named.get(gradient_name(name)), replaced(gradient, upstream)
        while old is not None and old.op == "transpose":
            # What is printed stands in the graph without its transposes.
            (old,) = old.operands
            new = Node("transpose", (new,), new.grid[::-1])
        if old is not None:
            put[old.serial] = new
    return [replaced(place, put) for place, _, _ in recipe.places]


class Weights:
    """The figures of a document as evidence.

    A wrong figure that an edit gives counts by its distance from the truth, in
    units of the last digit that tells it from others: that an edit which changes
    it so much should give just this figure has a chance of one to so many.
    ``free`` are figures that say nothing: they follow from others that are printed.
    ``origins`` tells from which wrong ones a propagated figure comes; ``cuts`` whether
    the document cuts figures off instead of rounding them.
    """

    def __init__(
        self,
        model: Model,
        free: Sequence[bool],
        origins: Mapping[int, Sequence[int]],
        cuts: bool,
    ) -> None:
        self._places = model.recipe.places
        self._keys = [(node.serial, i, j) for node, i, j in self._places]
        self._origins = {figure: list(of) for figure, of in origins.items() if of}
        figures = model.recipe.figures
        numbers = [figure.printed for figure in figures]
        # None is printed for a masked score.
        self.printed = np.array([floating(item.value) if item else -np.inf for item in numbers])
        self.unit = np.array([floating(item.unit) if item else 1.0 for item in numbers])
        self.true = model.true
        verdicts = [figure.verdict for figure in figures]
        self.refuted: Flags = np.array([item is Verdict.REFUTED for item in verdicts], bool)
        vacuous = np.array([figure.vacuous for figure in figures], bool)
        self.held: Flags = ~vacuous & [item is Verdict.HOLDS for item in verdicts]
        # A number where a score is masked tells by its digits alone.
        true = np.where(np.isneginf(self.true), 0.0, self.true)
        off = np.abs(self.printed - true) / np.array(list(map(_telling_unit, figures)))
        off = np.where(np.isfinite(off), off, _MASKED)
        off = np.where(np.isneginf(self.true), np.maximum(off, _MASKED), off)
        self.bits = np.where(self.refuted, np.minimum(np.log2(2 * off + 1), MOST), 0.0)
        pen = np.array([any(True for _ in figure.pen_slips) for figure in figures], bool)
        self.bits[pen] = np.minimum(self.bits[pen], PEN)
        self.bits[np.array(free, bool)] = 0.0
        # Where a document cuts off there is half as much again that gives a figure.
        self.cuts = cuts
        if cuts:
            self.bits = np.maximum(self.bits - log2(1.5), 0.0)
        self._sign = np.where(self.printed < 0, -1.0, 1.0)
        # What is printed several times says it once.
        seen = set()
        for figure in np.flatnonzero(self.bits):
            if self._keys[figure] in seen:
                self.bits[figure] = 0.0
            seen.add(self._keys[figure])

    def changed(self, counts: Predicted, base: Predicted) -> Flags:
        """The figures that would be printed otherwise than without the edit, which gives them
        so many units of their last places."""
        apart = counts != np.rint(base / self.unit)
        return np.asarray(apart & (self.refuted | self.held))

    def given(self, predicted: Predicted) -> Flags:
        """The figures that come out as printed."""
        off = predicted - self.printed
        near = np.abs(off) <= self.unit * _SLACK
        if self.cuts:
            beyond = off * self._sign / self.unit
            near |= (beyond > 0) & (beyond < 1 - 1e-9)
        return np.asarray(near | (predicted == self.printed))

    def beside(self, reproduced: Flags) -> Flags:
        """The figures of entries that are also printed as these are: where a document
        contradicts itself, no recipe gives both."""
        same = {self._keys[figure] for figure in np.flatnonzero(reproduced)}
        return np.array([key in same for key in self._keys], bool)

    def following(self, reproduced: Flags) -> Flags:
        """The wrong figures that are propagated from reproduced ones alone."""
        propagated = np.zeros_like(reproduced)
        for figure, origins in self._origins.items():
            propagated[figure] = reproduced[origins].all()
        return np.asarray(propagated & ~reproduced)

    def gain(self, predicted: Predicted, counted: Flags) -> float:
        """The bits of figures, less those that follow from the others of their row: where a
        row that is printed whole has the same sum as ever, its last figure is no news."""
        bits = np.where(counted, self.bits, 0.0)
        rows = defaultdict(list)
        for figure in np.flatnonzero(bits):
            node, i, _ = self._places[figure]
            rows[node, i].append(figure)
        for (node, i), those in rows.items():
            if len(those) > 1 and self._has_fixed_sum(predicted, node.serial, i, node.grid[1]):
                bits[min(those, key=lambda figure: bits[figure])] = 0.0
        gain = float(bits.sum())
        return min(gain, ALONE) if np.count_nonzero(bits) == 1 else gain

    def _has_fixed_sum(self, predicted: Predicted, serial: int, row: int, columns: int) -> bool:
        by_column = {
            j: figure for figure, (of, i, j) in enumerate(self._keys) if (of, i) == (serial, row)
        }
        places = list(by_column.values())
        apart = predicted[places].sum() - self.true[places].sum()
        return len(by_column) == columns and bool(abs(apart) <= 1e-9)


def _telling_unit(figure: Figure) -> float:
    """The unit of the last digit that tells a figure from others: final zeros do not."""
    if figure.printed is None:
        return 1.0
    digits = str(abs(figure.printed.count))
    zeros = len(digits) - len(digits.rstrip("0")) if digits.strip("0") else 0
    return floating(figure.printed.unit * fmpq(10) ** zeros)


class Exactly:
    """The nodes of a model: computed from exact numbers, or from printed ones.

    ``instead`` stands in the place of one node, ``in_use`` only where that is
    used and not where it is printed.
    """

    def __init__(
        self, model: Model, node: Node | None = None, instead: Node | None = None, *, in_use: bool
    ) -> None:
        self._solution = model.recipe.solution
        self._node = node
        self._instead = instead
        self._in_use = in_use
        self._made: dict[int, Node] = {}
        self._used: dict[int, Node] = {}
        self._printed: dict[int, dict[tuple[int, int], Value]] = {}
        for (printed, i, j), number in model.printed.items():
            self._printed.setdefault(printed.serial, {})[i, j] = rational(number)

    def made(self, node: Node) -> Node:
        """Return what is printed of a node: made of what is used of its operands."""
        self._take(node)
        return self._made[node.serial]

    def used(self, node: Node) -> Node:
        """Return what is used of a node: what is printed, where anything is."""
        self._take(node)
        return self._used[node.serial]

    def _take(self, node: Node) -> None:
        for part in ancestors([node], stop=lambda x: x.serial in self._made):
            result = rebuilt(part, tuple(self._used[x.serial] for x in part.operands))
            used = self._instead if part is self._node and self._instead else result
            if part is not self._node or not self._in_use:
                result = used
                if printed := self._printed.get(part.serial):
                    used = with_entries(self._solution, result, printed)
            self._made[part.serial], self._used[part.serial] = result, used


def comes_out(recipe: AuditedGraph, node: Node, place: int, cuts: bool) -> bool:
    """Return whether a figure comes out as printed, by balls, where it is an entry of this node;
    ``cuts``: or cut off so."""
    figure, (_, i, j) = recipe.figures[place], recipe.places[place]
    try:
        quantity = recipe.solution.quantity(node)
        masked = quantity.is_masked(i, j)
        near = arb("-inf") if masked else EntryValue(quantity, i, j).ball(FIRST)
    except SymattnError:
        return False
    return figure.rounds_from(near) or (cuts and figure.cut_from(near))


def with_entries(solution: Solution, node: Node, entries: Mapping[tuple[int, int], Value]) -> Node:
    """A node some of whose entries are other numbers.

    Raises :class:`Undecided` for a masked score among the others.
    """
    return _tabled(
        solution.quantity(node),
        lambda own, i, j: entries[i, j] if (i, j) in entries else own.entry(i, j),
    )


def _tabled(quantity: Quantity, entry: Callable[[Quantity, int, int], Value | Masked]) -> Node:
    """A matrix of exact numbers, each made of a quantity; masked scores stay what they are."""
    rows, columns = map(range, quantity.grid)
    table = tuple(tuple(entry(quantity, i, j) for j in columns) for i in rows)
    return nodes.table(table, quantity.grid)


Base = Callable[[Node], Node]
"""A node in exact numbers, as it is without the edit."""


@dataclass(frozen=True, eq=False)
class Edit:
    """A step that is something else: its values in floats, and on demand the exact node.

    ``words`` fill the phrase of its kind; ``instead`` is the other operation, if it is one.
    """

    kind: str
    words: tuple[str, ...]
    node: Node
    value: Matrix
    exactly: Callable[[Base], Node]
    instead: Node | None = None

    @property
    def phrase(self) -> Sentence:
        """The edit in words."""
        return phrase(self.kind, self.words)

    @property
    def price(self) -> float:
        """Return how rare its kind is, in bits."""
        return KINDS[self.kind].price


# -- what could be in the place of one step of a recipe ----------------------------------
# The edits of a node.

FORMATS: tuple[FloatFormat, ...] = ("float16", "float32")
#: Steps are rounded to so many places at most.
_PLACES = 4
#: Nodes that are no steps: nothing is computed.
_PLAIN = ("constant", "triangle", "table")

Made = Iterator[Edit]
Places = npt.NDArray[np.intp]


class Site:
    """A node of a recipe, and what could be in its place."""

    def __init__(self, recipe: AuditedGraph, model: Model, node: Node, in_use: bool) -> None:
        self.recipe = recipe
        self.model = model
        self.node = node
        self.text = recipe.text(node)
        self.in_use = in_use
        self.values = model[node] if in_use else model.made(node)

    def steps(self) -> Made:
        """Edits of the whole step: another operation, or its values changed."""
        yield from self.operations()
        yield from self._as_values()

    def entries(self, open_: Flags) -> Made:
        """Edits of single entries, of those that are ``open_``."""
        if self.node.grid != (1, 1) and self.node.op not in _PLAIN:
            yield from self._as_entries(open_)

    # -- what kind of edit it is -------------------------------------------------

    def _instead(self, kind: str, node: Node, *words: Word) -> Made:
        """Another operation in its place."""
        if node.grid != self.node.grid or node is self.node:
            return
        # What is printed of the step itself is what is to be explained.
        is_printed = not self.in_use and self.model.has_printed(self.node)
        if is_printed and self.recipe.depends(node, self.node):
            return
        value = self.model[node]
        if not _same(value, self.values):
            said = (self.recipe.text(x) if isinstance(x, Node) else x for x in words)
            yield Edit(kind, (self.text, *said), self.node, value, lambda base: base(node), node)

    def _moved(self, kind: str, places: Places, *words: str) -> Edit:
        """Its own entries at other places."""

        def exactly(base: Base) -> Node:
            rows, columns = np.divmod(places, self.node.grid[1])
            return _tabled(
                self._exact(base), lambda own, i, j: own.entry(int(rows[i, j]), int(columns[i, j]))
            )

        return Edit(kind, words, self.node, self.values.ravel()[places], exactly)

    def _exact(self, base: Base) -> Quantity:
        """The step as it is without the edit."""
        return self.recipe.solution.quantity(base(self.node))

    # -- another operation -------------------------------------------------------

    def operations(self) -> Made:
        """Edits that are another operation in its place."""
        for kind, changed, words in self.recipe.slips(
            self.node, lambda number: float(self.model[number][0, 0])
        ):
            yield from self._instead(kind, changed, *words)

    # -- other values ------------------------------------------------------------

    def _as_values(self) -> Made:
        node, values = self.node, self.values
        if node.op in _PLAIN or not np.isfinite(values).any():
            return
        for places in range(_PLACES + 1):
            value = np.round(values, places)
            if not _same(value, values):
                exact = partial(self._rounded, places)
                yield Edit("rounded", (self.text, rounded_to(places)), node, value, exact)
        for name in FORMATS:
            value = values.astype(name).astype(float)
            if not _same(value, values):
                exact = partial(self._stored, name)
                yield Edit("held-in", (self.text, name), node, value, exact)
        rows, columns = node.grid
        flat = np.arange(rows * columns).reshape(node.grid)
        if rows == columns > 1:
            yield self._moved("result-transposed", flat.T, self.text)
            low = np.where(np.tri(rows, dtype=bool), flat, flat.T)
            yield self._moved("mirrored", low, self.text, Sentence("lower"))
            yield self._moved("mirrored", low.T, self.text, Sentence("upper"))
        for kind, axes, words in arrangements(node):
            yield self._moved(kind, flat[np.ix_(*axes)], self.text, *words)

    def _rounded(self, places: int, base: Base) -> Node:
        scale = fmpq(10) ** places

        def rounded(quantity: Quantity, i: int, j: int) -> Value | Masked:
            if isinstance(entry := quantity.entry(i, j), Masked):
                return entry
            count = rounding.to_integer(EntryValue(quantity, i, j), scale, "half-even")
            return rational(fmpq(count) / scale)

        return _tabled(self._exact(base), rounded)

    def _stored(self, name: FloatFormat, base: Base) -> Node:
        exact = self._exact(base)
        floats = np.atleast_2d(exact.nearest(name))

        def stored(quantity: Quantity, i: int, j: int) -> Value | Masked:
            x = float(floats[i, j])
            finite = np.isfinite(x)
            return rational(fmpq(*x.as_integer_ratio())) if finite else quantity.entry(i, j)

        return _tabled(exact, stored)

    # -- single entries ----------------------------------------------------------

    def _as_entries(self, open_: npt.NDArray[np.bool_]) -> Made:
        rows, columns = self.node.grid
        flat = np.arange(rows * columns).reshape(self.node.grid)
        for i, j in np.argwhere(open_):
            i, j = int(i), int(j)
            near = [(i, c) for c in range(columns) if c != j]
            near += [(r, j) for r in range(rows) if r != i]
            for a, b in near:
                places = flat.copy()
                places[i, j] = flat[a, b]
                labels = self.recipe.entry(self.node, a, b), self.recipe.entry(self.node, i, j)
                kind = "entry-reused" if a == i else "entry-of-column"
                yield self._moved(kind, places, *labels)
                if open_[a, b] and (a, b) > (i, j):
                    places = places.copy()
                    places[a, b] = flat[i, j]
                    yield self._moved("entries-swapped", places, *labels[::-1])
            yield from self._parts(i, j)

    def _parts(self, i: int, j: int) -> Made:
        """A part of the sum that an entry is, left out or with the wrong sign."""
        node = self.node
        if node.op not in ("matmul", "rowsum"):
            return
        parts = self.model[node.operands[0]][i]
        if node.op == "matmul":
            parts = parts * self.model[node.operands[1]][:, j]
        for k, part in enumerate(parts):
            if len(parts) < 2 or not np.isfinite(part) or part == 0:
                continue
            places = zip(node.operands, ((i, k), (k, j)), strict=False)
            at = (self.recipe.graph.place(operand, *entry) for operand, entry in places)
            factors = " * ".join(self.recipe.entry(*place) for place in at)
            labels = self.recipe.entry(node, i, j), factors
            for kind, times in (("product-dropped", 1), ("product-sign", 2)):
                value = self.values.copy()
                value[i, j] -= times * part
                yield Edit(kind, labels, node, value, partial(self._without, i, j, k, times))

    def _without(self, i: int, j: int, k: int, times: int, base: Base) -> Node:
        solution = self.recipe.solution
        part = ONE
        for operand, entry in zip(self.node.operands, ((i, k), (k, j)), strict=False):
            part = part * _number(solution.quantity(base(operand)).entry(*entry))
        node = base(self.node)
        whole = _number(solution.quantity(node).entry(i, j))
        return with_entries(solution, node, {(i, j): whole - part * times})


def _same(first: Matrix, other: Matrix) -> bool:
    return bool(np.all((first == other) | (np.isnan(first) & np.isnan(other))))


def _number(entry: Value | Masked) -> Value:
    if isinstance(entry, Masked):
        raise Undecided("a masked score in the place of a number")
    return entry
