"""What could be in the place of one step of a recipe: the edits of a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt
from flint import fmpq

from symattn.auditing.edits import Base, Edit, table, with_entries
from symattn.auditing.model import AuditedGraph, Flags, Model
from symattn.auditing.terms import mistaken_calls
from symattn.errors import Undecided
from symattn.languages.sentence import Sentence
from symattn.numbers import rounding
from symattn.numbers.float_formats import FloatFormat
from symattn.numbers.reading import Masked
from symattn.numbers.values import ONE, Value, rational
from symattn.programs import nodes
from symattn.programs.enclosures import Matrix
from symattn.programs.nodes import Node
from symattn.solution.entries import EntryValue
from symattn.solution.quantity import Quantity

FORMATS: tuple[FloatFormat, ...] = ("float16", "float32")
#: Steps are rounded to so many places at most.
_PLACES = 4
#: What a step is rounded to: to no places, to one, or to more.
_ROUNDED = {0: "whole numbers", 1: "1 place", 2: "{places} places"}
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

    def _instead(self, kind: str, node: Node, *words: str) -> Made:
        """Another operation in its place."""
        if node.grid != self.node.grid or node is self.node:
            return
        # What is printed of the step itself is what is to be explained.
        is_printed = not self.in_use and self.model.has_printed(self.node)
        if is_printed and self.recipe.depends(node, self.node):
            return
        value = self.model[node]
        if not _same(value, self.values):
            parts = self.text, *words
            yield Edit(kind, parts, self.node, value, lambda base: base(node), node)

    def _moved(self, kind: str, places: Places, *words: str) -> Edit:
        """Its own entries at other places."""
        value = self.values.ravel()[places]
        return Edit(kind, words, self.node, value, partial(self._at_places, places))

    def _at_places(self, places: Places, base: Base) -> Node:
        columns = self.node.grid[1]
        return self._table(
            base, lambda quantity, i, j: quantity.entry(*divmod(int(places[i, j]), columns))
        )

    def _table(self, base: Base, entry: Callable[[Quantity, int, int], Value | Masked]) -> Node:
        """The step with other entries, each made of the quantity that it is without the edit."""
        quantity = self.recipe.solution.quantity(base(self.node))
        rows, columns = self.node.grid
        return table([[entry(quantity, i, j) for j in range(columns)] for i in range(rows)])

    # -- another operation -------------------------------------------------------

    def operations(self) -> Made:
        """Edits that are another operation in its place."""
        graph, node = self.recipe.graph, self.node
        x = node.operands
        match node.op:
            case "divide" | "multiply" if x[1].grid == (1, 1) != x[0].grid:
                yield from self._scales(x[0], x[1])
            case "multiply" if x[0].grid == (1, 1) != x[1].grid:
                yield from self._scales(x[1], x[0])
            case "divide" if x[1].op == "rowsum" and x[1].operands[0] is x[0]:
                yield from self._softmaxes(x[0])
            case "add" | "subtract":
                yield from self._terms(x[0], x[1])
            case "hide":
                yield from self._masks(x[0], x[1])
            case "matmul":
                yield from self._products(x[0], x[1])
            case "exp" | "log":
                yield from self._bases()
            case "concat":
                for a, b in combinations(range(len(x)), 2):
                    order = [*x]
                    order[a], order[b] = x[b], x[a]
                    changed = graph.node("concat", order, node.grid)
                    yield from self._instead("heads-exchanged", changed, str(a), str(b))
        if (origin := graph.origin.get(node.serial)) is not None:
            for kind, changed, words in mistaken_calls(origin):
                yield from self._instead(kind, graph[changed], *words)
        if node.op in ("matmul", "multiply"):
            for operand in x:
                yield from self._instead("operand-ignored", operand, self.recipe.text(operand))
        if node.operands:
            yield from self._others()
            minus = graph.node("negate", [node], node.grid)
            yield from self._instead("sign-flipped", minus)

    def _scales(self, x: Node, scale: Node) -> Made:
        graph, op = self.recipe.graph, self.node.op
        word = Sentence("division by") if op == "divide" else Sentence("factor")
        grid = self.node.grid
        yield from self._instead("scale-dropped", x, word, self.recipe.text(scale))
        # Of two that give the same figures the likelier slip is told first.
        if scale.op == "sqrt":
            plain = graph.node(op, [x, scale.operands[0]], grid)
            yield from self._instead("scale-not-rooted", plain, self.recipe.text(scale.operands[0]))
        twice = graph.node(op, [self.node, scale], grid)
        yield from self._instead("scaled-twice", twice, word, self.recipe.text(scale))
        value = float(self.model[scale][0, 0])
        rooted = scale.op == "sqrt"
        inner = value * value if rooted else value
        for size in self._sizes(value):
            if abs(size - inner) < 1e-9:
                continue
            number = nodes.constant(rational(size))
            text = f"sqrt({size})" if rooted else str(size)
            factor = graph[nodes.apply("sqrt", number) if rooted else number]
            kind = "off-by-one" if not rooted and abs(size - inner) == 1 else "other-scale"
            yield from self._instead(
                kind, graph.node(op, [x, factor], grid), text, self.recipe.text(scale)
            )

    def _terms(self, x: Node, y: Node) -> Made:
        graph, op, grid = self.recipe.graph, self.node.op, self.node.grid
        yield from self._instead("term-dropped", x, self.recipe.text(y))
        last = y if op == "add" else graph.node("negate", [y], y.grid)
        yield from self._instead("term-dropped", last, self.recipe.text(x))
        if op == "subtract":
            flipped = graph.node("add", [x, y], grid)
            yield from self._instead("term-sign", flipped, self.recipe.text(y))
        else:
            for first, other in ((x, y), (y, x)):
                flipped = graph.node("subtract", [first, other], grid)
                yield from self._instead("term-sign", flipped, self.recipe.text(other))

    def _sizes(self, own: float) -> list[int]:
        """The sizes that a scale may have been taken from."""
        sizes = {size for node in self.recipe.named.values() for size in node.grid}
        near = {round(own) - 1, round(own) + 1} if own.is_integer() else set()
        return sorted(size for size in sizes | near if size > 1)

    def _softmaxes(self, powers: Node) -> Made:
        graph, grid = self.recipe.graph, self.node.grid
        yield from self._instead("not-normalised", powers)
        turned = graph.transpose(powers)
        sums = graph.node("rowsum", [turned], (turned.grid[0], 1))
        down = graph.transpose(graph.divide(turned, sums))
        yield from self._instead("softmax-columns", down)
        whole = graph.node("total", [powers], (1, 1))
        yield from self._instead("softmax-all", graph.divide(powers, whole))
        scores = powers.operands[0]
        if scores.op == "hide":
            open_, keep = scores.operands
            above, below = graph.powers(open_)
            free = graph.divide(above, below)
            masked = graph.node("multiply", [free, keep], grid)
            yield from self._instead("mask-after", masked)

    def _masks(self, x: Node, keep: Node) -> Made:
        graph, grid = self.recipe.graph, self.node.grid
        yield from self._instead("mask-forgotten", x)
        zero = graph.node("multiply", [x, keep], grid)
        yield from self._instead("mask-as-zero", zero)
        if keep.grid == grid == grid[::-1]:
            turned = graph.node("hide", [x, graph.transpose(keep)], grid)
            yield from self._instead("mask-transposed", turned)

    def _products(self, x: Node, y: Node) -> Made:
        graph = self.recipe.graph
        for place, operand in enumerate((x, y)):
            pair = [x, y]
            pair[place] = graph.transpose(operand)
            side = operand.operands[0] if operand.op == "transpose" else operand
            if pair[0].grid[1] == pair[1].grid[0]:
                yield from self._instead("transposed", graph.matmul(*pair), self.recipe.text(side))
        if y.grid[1] == x.grid[0]:
            yield from self._instead("product-swapped", graph.matmul(y, x))

    def _bases(self) -> Made:
        graph, node = self.recipe.graph, self.node
        for base in (2, 10):
            log = graph[nodes.apply("log", nodes.constant(rational(base)))]
            if node.op == "log":
                changed = graph.node("divide", [node, log], node.grid)
            else:
                inner = graph.node("multiply", [node.operands[0], log], node.grid)
                changed = graph.node("exp", [inner], node.grid)
            yield from self._instead("other-base", changed, str(base))

    def _others(self) -> Made:
        """Another named quantity in place of an operand."""
        graph, node = self.recipe.graph, self.node
        others = [(name, x) for name, x in self.recipe.named.items() if self._is_at_hand(x)]
        if node.serial in self.recipe.names:
            for name, other in others:
                yield from self._instead("other-quantity", other, name)
        for place, operand in enumerate(node.operands):
            if operand.op in ("constant", "triangle") or operand.grid == (1, 1):
                continue
            inner = operand.operands[0] if operand.op == "transpose" else operand
            if inner.serial not in self.recipe.names:
                continue
            for name, other in others:
                if other is inner or other.grid != inner.grid:
                    continue
                instead = graph.transpose(other) if operand.op == "transpose" else other
                operands = [instead if k == place else x for k, x in enumerate(node.operands)]
                changed = graph.again(node, operands)
                yield from self._instead("other-matrix", changed, name, self.recipe.text(inner))

    def _is_at_hand(self, other: Node) -> bool:
        """Whether a quantity is known where the step is made: it is not computed from that,
        and no gradient where there are none yet."""
        recipe, node = self.recipe, self.node
        early = not recipe.is_backward(node) and recipe.is_backward(other)
        return not early and not recipe.depends(other, node)

    # -- other values ------------------------------------------------------------

    def _as_values(self) -> Made:
        node, values = self.node, self.values
        if node.op in _PLAIN or not np.isfinite(values).any():
            return
        for places in range(_PLACES + 1):
            value = np.round(values, places)
            if not _same(value, values):
                phrase = Sentence(_ROUNDED[min(places, 2)], places=places)
                exact = partial(self._rounded, places)
                yield Edit("rounded", (self.text, phrase), node, value, exact)
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
        yield from self._lines(flat, "row")
        yield from self._lines(flat.T, "column")

    def _lines(self, flat: Places, word: str) -> Made:
        """One row, or column, for another, and two of them swapped."""
        for a, b in permutations(range(len(flat)), 2):
            for kind, into, of in (("-reused", [b], [a]), ("s-swapped", [a, b], [b, a])):
                if len(into) == 1 or a < b:
                    places = flat.copy()
                    places[into] = flat[of]
                    arranged = places.T if word == "column" else places
                    yield self._moved(f"{word}{kind}", arranged, self.text, str(a), str(b))

    def _rounded(self, places: int, base: Base) -> Node:
        scale = fmpq(10) ** places

        def rounded(quantity: Quantity, i: int, j: int) -> Value | Masked:
            if isinstance(entry := quantity.entry(i, j), Masked):
                return entry
            count = rounding.to_integer(EntryValue(quantity, i, j), scale, "half-even")
            return rational(fmpq(count) / scale)

        return self._table(base, rounded)

    def _stored(self, name: FloatFormat, base: Base) -> Node:
        floats = np.atleast_2d(self.recipe.solution.quantity(base(self.node)).nearest(name))

        def stored(quantity: Quantity, i: int, j: int) -> Value | Masked:
            x = float(floats[i, j])
            finite = np.isfinite(x)
            return rational(fmpq(*x.as_integer_ratio())) if finite else quantity.entry(i, j)

        return self._table(base, stored)

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
