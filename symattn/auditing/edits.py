"""What each figure of a document says for an edit of its recipe, or against one, in bits.

Edits in exact numbers: what is named from floats is confirmed, figure by figure.

Edits of a recipe: the usual mistakes, each as what one step is instead.

An edit gives a step other values; the rest of the recipe stays as it is. Which
there are is a table: a kind, how rare it is in bits, and its phrase. The prices
are a code: all kinds together have a chance of at most 1 (J. Rissanen, Modeling
by shortest data description, 1978)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from string import ascii_lowercase

import numpy as np
from flint import arb, fmpq

from symattn.auditing.figures import Figure
from symattn.auditing.model import AuditedGraph, Flags, Model, Predicted, floating
from symattn.auditing.prints import pen_slips
from symattn.errors import SymattnError
from symattn.languages.sentence import Sentence
from symattn.numbers.balls import FIRST
from symattn.numbers.reading import Masked
from symattn.numbers.values import Value, rational
from symattn.programs import nodes
from symattn.programs.enclosures import Matrix
from symattn.programs.nodes import Node, ancestors, rebuilt
from symattn.solution.entries import EntryValue
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
        """What is printed of a node: made of what is used of its operands."""
        self._take(node)
        return self._made[node.serial]

    def used(self, node: Node) -> Node:
        """What is used of a node: what is printed, where anything is."""
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
    """Which figures come out as printed, by balls, where these are the nodes of all figures;
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
    """A kind of edit: its price in bits, and its phrase, with letters for words of the search."""

    price: float
    phrase: str


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
    "operand-ignored": EditKind(5.5, "{a} replaced by {b}"),
    "other-quantity": EditKind(5.5, "{a} replaced by {b}"),
    "other-matrix": EditKind(5.0, "{a} with {b} instead of {c}"),
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
    "heads-exchanged": EditKind(6.0, "{a} with parts {b} and {c} swapped, counted from 0"),
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
        """How rare its kind is, in bits."""
        return KINDS[self.kind].price
