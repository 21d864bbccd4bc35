"""Evidence of each figure of a document for an edit of its recipe, or against one, in bits.

Edits in exact numbers: what is named from floats is confirmed, figure by figure.

Edits of a recipe: the usual mistakes, each as what one step is instead.

An edit gives a step other values; the rest of the recipe stays as it is. Which
there are is a table: a kind, how rare it is in bits, and its phrase. The prices
are a code: all kinds together have a chance of at most 1 (J. Rissanen, Modeling
by shortest data description, 1978)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, permutations
from math import log2
from string import ascii_lowercase

import numpy as np
import numpy.typing as npt
from flint import arb, fmpq

from symattn.auditing.figures import Figure
from symattn.auditing.model import AuditedGraph, Flags, Model, Predicted, floating
from symattn.auditing.prints import pen_slips
from symattn.auditing.terms import mistaken_calls
from symattn.errors import SymattnError, Undecided
from symattn.languages.sentence import Sentence, joined
from symattn.numbers import rounding
from symattn.numbers.balls import FIRST
from symattn.numbers.float_formats import FloatFormat
from symattn.numbers.reading import Masked
from symattn.numbers.values import ONE, Value, rational
from symattn.programs import nodes
from symattn.programs.enclosures import Matrix
from symattn.programs.nodes import Node, ancestors, rebuilt
from symattn.solution.entries import EntryValue
from symattn.solution.quantity import Quantity
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict

#: One figure says no more; and alone no more than this, as it may be a miswriting.
MOST, ALONE = 16.0, 10.0
#: What a figure says that is the right one with a slip of the pen.
PEN = 6.0
#: What is off at least where a masked score stands for a number, or a number for one.
_MASKED = 2.0
#: An edit meets a figure as far as floats tell.
_SLACK = 0.5 + 1e-9


class Weights:
    """The figures of a document as evidence.

    A wrong figure that an edit gives counts by its distance from the truth, in
    units of the last digit that tells it from others: that an edit which changes
    it so much should give just this figure has a chance of one to so many.
    ``free`` are figures that say nothing: they follow from others that are
    printed; any other wrong one says ``least`` bits. ``origins`` tells from which
    wrong ones a propagated figure comes; ``cuts`` whether the document cuts figures
    off instead of rounding them.
    """

    def __init__(
        self,
        model: Model,
        free: Sequence[bool],
        origins: Mapping[int, Sequence[int]],
        cuts: bool,
        least: float = 0.0,
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
        pen = np.array([any(True for _ in pen_slips(figure)) for figure in figures], bool)
        self.bits[pen] = np.minimum(self.bits[pen], PEN)
        self.bits[self.refuted] = np.maximum(self.bits[self.refuted], least)
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
        self._model = model
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


def confirmed_by(
    recipe: AuditedGraph, nodes: Sequence[Node], places: Iterable[tuple[int, Figure]], cuts: bool
) -> Iterator[int]:
    """Yield which figures come out as printed, by balls, where these are the nodes of all figures;
    ``cuts``: or cut off so."""
    for place, figure in places:
        _, i, j = recipe.places[place]
        try:
            quantity = recipe.solution.quantity(nodes[place])
            masked = quantity.is_masked(i, j)
            near = arb("-inf") if masked else EntryValue(quantity, i, j).ball(FIRST)
        except SymattnError:
            continue
        if figure.rounds_from(near) or (cuts and figure.cut_from(near)):
            yield place


def with_entries(solution: Solution, node: Node, entries: Mapping[tuple[int, int], Value]) -> Node:
    """A node some of whose entries are other numbers.

    Raises :class:`Undecided` for a masked score among the others.
    """
    rows, columns = node.grid
    quantity = solution.quantity(node)

    def entry(i: int, j: int) -> Value | Masked:
        return entries[i, j] if (i, j) in entries else quantity.entry(i, j)

    return table([[entry(i, j) for j in range(columns)] for i in range(rows)])


def table(rows: list[list[Value | Masked]]) -> Node:
    """A matrix of exact numbers; masked scores stay what they are."""
    return nodes.table(tuple(map(tuple, rows)), (len(rows), len(rows[0])))


@dataclass(frozen=True)
class EditKind:
    """A kind of edit: its price in bits, and its phrase, with letters for words of the search;
    ``once`` where nobody makes it in all steps that are alike."""

    price: float
    phrase: str
    once: bool = False


KINDS: Mapping[str, EditKind] = {
    "scale-dropped": EditKind(3.5, "{a} without the {b} {c}"),
    "rounded": EditKind(4.0, "{a} rounded to {b} before it was used"),
    "mask-forgotten": EditKind(4.5, "{a} without the mask"),
    "mask-after": EditKind(5.0, "{a} masked after the softmax instead of before"),
    "mask-as-zero": EditKind(5.0, "masked entries of {a} set to 0, not minus infinity"),
    "mask-transposed": EditKind(6.0, "{a} with the mask inverted"),
    "scale-not-rooted": EditKind(4.5, "{a} with {b} itself instead of its square root"),
    "scaled-twice": EditKind(5.5, "{a} with the {b} {c} twice"),
    "other-scale": EditKind(5.5, "{a} with {b} instead of {c}"),
    "function-dropped": EditKind(8.5, "{a} without the {b}"),
    "other-function": EditKind(8.0, "{a} with {b} instead of {c}"),
    "softmax-columns": EditKind(4.5, "{a} with the softmax down the columns"),
    "softmax-all": EditKind(6.5, "{a} with the softmax over all entries at once"),
    "not-normalised": EditKind(4.5, "{a} without the division by the sums of the exponentials"),
    "transposed": EditKind(4.5, "{a} with {b} and its transpose mixed up"),
    "result-transposed": EditKind(5.5, "{a} transposed"),
    "product-swapped": EditKind(5.5, "{a} with the factors of the product in the wrong order"),
    "operand-ignored": EditKind(5.5, "{a} replaced by {b}", once=True),
    "other-quantity": EditKind(5.5, "{a} replaced by {b}", once=True),
    "other-matrix": EditKind(5.0, "{a} with {b} instead of {c}", once=True),
    "term-dropped": EditKind(4.5, "{a} without the term {b}"),
    "term-sign": EditKind(5.5, "{a} with the wrong sign of {b}"),
    "product-dropped": EditKind(5.5, "{a} without the part {b} of its sum"),
    "product-sign": EditKind(6.5, "{a} with the wrong sign of {b} in its sum"),
    "sign-flipped": EditKind(6.0, "{a} with the wrong sign"),
    "row-reused": EditKind(5.0, "{a} with row {b} used for row {c}, counted from 0"),
    "column-reused": EditKind(5.5, "{a} with column {b} used for column {c}, counted from 0"),
    "rows-swapped": EditKind(5.5, "{a} with rows {b} and {c} swapped, counted from 0"),
    "columns-swapped": EditKind(7.0, "{a} with columns {b} and {c} swapped, counted from 0"),
    "entry-reused": EditKind(4.5, "{a} used instead of {b}"),
    "entry-of-column": EditKind(7.0, "{a} used instead of {b}"),
    "entries-swapped": EditKind(6.0, "{a} and {b} swapped"),
    "mirrored": EditKind(6.0, "{a} with its {b} triangle mirrored"),
    "heads-exchanged": EditKind(
        6.0, "{a} with parts {b} and {c} swapped, counted from 0", once=True
    ),
    "off-by-one": EditKind(6.0, "{a} divided by {b} instead of {c}"),
    "other-base": EditKind(6.0, "{a} to base {b}"),
    "held-in": EditKind(7.0, "{a} stored as {b}"),
    "wrong-number": EditKind(5.0, "{a} instead of {b} for {c}"),
}
"""All kinds, by name; the names are stable."""


def phrase(kind: str, words: Sequence[str]) -> Sentence:
    """An edit of that kind in words.

    >>> phrase("other-scale", ["T", "sqrt(3)", "sqrt(d_k)"])
    'T with sqrt(3) instead of sqrt(d_k)'
    """
    return Sentence(KINDS[kind].phrase, **dict(zip(ascii_lowercase, words, strict=False)))


Base = Callable[[Node], Node]
"""A node in exact numbers, as it is without the edit."""


@dataclass(frozen=True, eq=False)
class Edit:
    """A step that is something else: its values in floats, and on demand the exact node.

    ``words`` fill the phrase of its kind; ``instead`` is the other operation, if it
    is one.
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


def together(edits: Sequence[Edit]) -> Edit:
    """The same edit of several steps as one."""
    words = (tuple(dict.fromkeys(each)) for each in zip(*(x.words for x in edits), strict=True))
    said = tuple(each[0] if len(each) == 1 else joined(each, ", ") for each in words)
    return replace(edits[0], words=said)


# -- what could be in the place of one step of a recipe ----------------------------------
# The edits of a node.

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
        """Return whether a quantity is known where the step is made: it is not computed from that,
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
