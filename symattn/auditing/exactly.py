"""Edits in exact numbers: what is named from floats is confirmed, figure by figure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from flint import arb

from symattn.auditing.figures import Figure
from symattn.auditing.model import AuditedGraph, Model
from symattn.errors import SymattnError
from symattn.numbers.balls import FIRST
from symattn.numbers.reading import Masked
from symattn.numbers.values import Value, rational
from symattn.programs import nodes
from symattn.programs.nodes import Node, ancestors, rebuilt
from symattn.solution.entries import EntryValue
from symattn.solution.solution import Solution


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
            masked = quantity.is_hidden(i, j)
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
