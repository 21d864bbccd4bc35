"""The quantities of a walkthrough as definitions in Coq: functions of their indices.

Each operation says what one entry of its result is in terms of entries of its operands. What is
named, and what would stand inside a sum or below an exponential, has a definition of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, repeat

from flint import fmpq

from symattn.limits import WRITTEN_OUT
from symattn.numbers.reading import Masked
from symattn.numbers.values import Value
from symattn.programs.nodes import Node
from symattn.seal.terms import (
    FUNCTIONS,
    ONE,
    ZERO,
    Asked,
    Choice,
    Entry,
    Function,
    Index,
    Moved,
    Number,
    Operation,
    Places,
    Sign,
    Sum,
    Term,
    free,
    number_text,
    shifted,
    text,
)  # fmt: skip
from symattn.seal.theorems import Names

I, J = Moved("i"), Moved("j")
Rows = tuple[tuple[Value | Masked, ...], ...]
#: Rows by columns of true or false.
Kept = tuple[tuple[bool, ...], ...]
#: What gives an entry of an operand: by its number, at a place.
Operand = Callable[[int, Index, Index], Term]

_SIGNS: Mapping[str, Sign] = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "maximum": "Rmax",
    "above": "above",
}
#: Operations whose results are sums or rows of weights: they have definitions of their own.
OWN = frozenset({"matmul", "softmax", "hide", "rowsum", "colsum", "total", "concat"})


class Unstated(Exception):
    """A quantity that can't be stated: the reason is its text."""


@dataclass(frozen=True)
class Definition:
    """A quantity: given by rows, or by a term of the variables ``i`` and ``j``.

    ``rows`` are of rational numbers; ``kept`` are the keys that each row of it keeps, where it
    is masked; a quantity of one number has no indices.
    """

    name: str
    grid: tuple[int, int]
    term: Term | None
    rows: tuple[tuple[fmpq, ...], ...] = ()
    is_number: bool = False
    kept: Kept | None = None
    comment: str = ""

    @property
    def keeps(self) -> str:
        """The name of what says which keys are kept."""
        return f"{self.name}_keeps"

    def at(self, i: Index, j: Index) -> Entry:
        """Its entry at a place."""
        return Entry(self.name, () if self.is_number else (i, j))

    def text(self) -> str:
        """The definition in Coq."""
        head = f"(** {self.comment} *)\n" if self.comment else ""
        if self.term is not None:
            body = text(self.term)
        elif self.is_number:
            body = number_text(self.rows[0][0])
        else:
            rows = ";\n   ".join(f"[{'; '.join(map(number_text, row))}]" for row in self.rows)
            body = f"by_rows\n  [{rows}] i j"
        indices = "" if self.is_number else " (i j : nat)"
        words = f"{head}Definition {self.name}{indices} : R := {body}."
        if self.kept is not None:
            words += f"\nDefinition {self.keeps} (i j : nat) : bool := {self._kept()}."
        return words

    def _kept(self) -> str:
        assert self.kept is not None
        if all(kept == (j <= i) for i, row in enumerate(self.kept) for j, kept in enumerate(row)):
            return "causal i j"
        rows = "; ".join(
            f"[{'; '.join('true' if kept else 'false' for kept in row)}]" for row in self.kept
        )
        return f"choices [{rows}] i j"


class Definitions:
    """The definitions of a program's quantities, made as they are asked for, in order.

    ``exact`` gives the entries of a given quantity or a table by its node; ``derived`` the
    definition of a node that is a gradient, None for any other.
    """

    def __init__(
        self,
        named: Mapping[str, Node],
        exact: Callable[[Node], Rows],
        derived: Callable[[Node], Definition | None] = lambda node: None,
    ) -> None:
        self._exact = exact
        self._derived = derived
        self.names = Names(("_keeps", "_rows", "_cols"))
        for bound in ("i", "j", "k", "l", "Hi", "Hj", "Ha"):
            self.names.fresh(bound)
        self._of_node = {node.serial: name for name, node in reversed([*named.items()])}
        self.made: dict[int, Definition] = {}
        self.by_name: dict[str, Definition] = {}
        self._of = ""
        #: How many operations the term that is being made has so far.
        self._parts = 0

    def __iter__(self) -> Iterator[Definition]:
        return iter(self.by_name.values())

    def of(self, node: Node) -> Definition:
        """The definition of a node. Raises :class:`Unstated`."""
        if node.serial not in self.made:
            if (derived := self._derived(node)) is not None:
                self.made[node.serial] = derived
                return derived
            if len(node.shape) > 2:
                raise Unstated("arrays of three axes have no statement")
            known, self._of = self._of, self._of_node.get(node.serial, self._of)
            name = self._of_node.get(node.serial) or f"{self._of or 'part'}_part"
            made = self._made(node, self.names.fresh(name))
            self._of = known
            self.made[node.serial] = made
            self.by_name[made.name] = made
        return self.made[node.serial]

    def is_named(self, node: Node) -> bool:
        """Return whether a node is a quantity that has a name."""
        return node.serial in self._of_node

    def given(self, name: str, rows: Rows, like: Node, comment: str) -> Definition:
        """A definition of numbers that stand in no program. Raises :class:`Unstated`."""
        numbers = tuple(tuple(map(_rational, row)) for row in rows)  # type: ignore[arg-type]
        name = self.names.fresh(name)
        made = Definition(name, like.grid, None, numbers, not like.shape, None, comment)
        self.by_name[made.name] = made
        return made

    def _made(self, node: Node, name: str) -> Definition:
        is_number = not node.shape
        if node.op in ("given", "table"):
            rows = self._exact(node)
            kept = None
            if any(isinstance(entry, Masked) for row in rows for entry in row):
                kept = tuple(tuple(not isinstance(entry, Masked) for entry in row) for row in rows)
            numbers = tuple(
                tuple(fmpq(0) if isinstance(entry, Masked) else _rational(entry) for entry in row)
                for row in rows
            )
            return Definition(name, node.grid, None, numbers, is_number, kept)
        indices = (0, 0) if is_number else (I, J)
        before, self._parts = self._parts, 0
        try:
            term = self.body(node, *indices)
        finally:
            self._parts = before
        return Definition(name, node.grid, term, (), is_number, self.kept(node))

    def kept(self, node: Node) -> Kept | None:
        """The keys that each row of scores keeps, None where all are."""
        if node.op in ("given", "table"):
            return self.of(node).kept
        if node.op not in _PASSING:
            return None
        # What each part keeps, and at which column it begins.
        parts: list[tuple[Kept, int]] = [(self._shown(node), 0)] if node.op == "hide" else []
        scores = node.operands[:1] if node.op == "hide" else node.operands
        starts = accumulate([0, *(x.grid[1] for x in scores)]) if node.op == "concat" else repeat(0)
        for x, start in zip(scores, starts, strict=False):
            if (own := self.kept(x)) is not None:
                if node.op != "concat" and x.grid != node.grid:
                    raise Unstated("a mask that is spread has no statement")
                parts.append((own, start))
        if not parts:
            return None
        m, n = node.grid
        return tuple(
            tuple(
                all(own[i][j - at] for own, at in parts if at <= j < at + len(own[0]))
                for j in range(n)
            )
            for i in range(m)
        )

    def _shown(self, node: Node) -> Kept:
        """The keys that a mask keeps, which may be repeated."""
        (m, n), rows = node.grid, self._exact(node.operands[1])
        return tuple(
            tuple(bool(rows[i % len(rows)][j % len(rows[0])] != 0) for j in range(n))
            for i in range(m)
        )

    # -- entries -----------------------------------------------------------------------------

    def entry(self, node: Node, i: Index, j: Index) -> Term:
        """An entry of a node: of its definition where it has one, else what it is made of."""
        if node.op == "constant":
            return Number(_rational(node.extra))
        if node.serial in self._of_node or node.op in OWN or node.op in ("given", "table"):
            return self.of(node).at(i, j)
        return self.body(node, i, j)

    def body(self, node: Node, i: Index, j: Index) -> Term:
        """An entry of a node in terms of its operands."""
        # What is used twice is written twice: each use inside another doubles the term.
        self._parts += 1
        if self._parts > WRITTEN_OUT.most:
            raise Unstated(f"a term of more than {WRITTEN_OUT.most} operations has no statement")
        return self.made_of(node, i, j, lambda number, *at: self.entry(node.operands[number], *at))

    def made_of(self, node: Node, i: Index, j: Index, entry: Operand) -> Term:
        """An entry of a node by the ``entry`` of an operand, by its number, at a place."""
        x = node.operands
        k = free(i, j)
        match node.op:
            case "constant":
                return Number(_rational(node.extra))
            case "copy" | "hide":
                return entry(0, i, j)
            case "reshape" if x[0].grid == node.grid and len(node.shape) < 3:
                return entry(0, i, j)
            case "transpose":
                return entry(0, j, i)
            case "negate":
                return -entry(0, i, j)
            case "add" | "subtract" | "multiply" | "divide" | "maximum" | "above":
                left, right = (entry(number, *spread(x[number], i, j)) for number in (0, 1))
                return Operation(_SIGNS[node.op], (left, right))
            case "exp":
                return self.chosen(x[0], i, j, Function("exp", entry(0, i, j)))
            case op if op in FUNCTIONS:
                return Function(FUNCTIONS[node.op], entry(0, i, j))
            case "matmul":
                return Sum(x[0].grid[1], k.name, entry(0, i, k) * entry(1, k, j))
            case "softmax":
                return self._weight(x[0], i, j, entry)
            case "rowsum":
                return Sum(x[0].grid[1], k.name, entry(0, i, k))
            case "colsum":
                return Sum(x[0].grid[0], k.name, entry(0, k, j))
            case "total":
                last = free(i, j, k)
                return Sum(x[0].grid[0], k.name, Sum(x[0].grid[1], last.name, entry(0, k, last)))
            case "rowmax":
                if self.kept(x[0]) is not None:
                    raise Unstated("the largest of masked scores has no statement")
                entries = (entry(0, i, key) for key in range(x[0].grid[1]))
                return reduce(lambda a, b: Operation("Rmax", (a, b)), entries)
            case "pick":
                rows, columns = node.extra
                return entry(0, moved(rows, i), moved(columns, j))
            case "spread":
                return entry(0, *spread(x[0], i, j))
            case "triangle":
                return Choice("causal", (i, j), ONE, ZERO)
            case "concat":
                return _beside(node, i, j, entry)
        raise Unstated(f"the operation {node.op} has no statement")

    def _weight(self, scores: Node, i: Index, j: Index, entry: Operand) -> Term:
        def power(key: Index) -> Term:
            return Function("exp", entry(0, i, key))

        kept = self.kept(scores)
        if kept is not None and not all(map(any, kept)):
            raise Unstated("a row that keeps no key has no statement")
        k = free(i, j)
        whole = Sum(scores.grid[1], k.name, self.chosen(scores, i, k, power(k)))
        return self.chosen(scores, i, j, power(j) / whole)

    def chosen(self, scores: Node, i: Index, j: Index, term: Term) -> Term:
        """A term where a score is kept, else 0."""
        found = self.condition(scores, i, j)
        return term if found is None else Choice(*found, term, ZERO)

    def condition(self, node: Node, i: Index, j: Index) -> Asked | None:
        """Return what says whether a score is kept, and of which places; None where all are."""
        if node.op in ("hide", "given", "table", "concat"):
            return self._asked(self.of(node), i, j)
        if node.op == "pick":
            rows, columns = node.extra
            return self.condition(node.operands[0], moved(rows, i), moved(columns, j))
        if node.op == "transpose":
            return self.condition(node.operands[0], j, i)
        if node.op not in _PASSING:
            return None
        if node.serial in self._of_node and self.kept(node) is not None:
            return self._asked(self.of(node), i, j)
        places = [(x, *spread(x, i, j)) for x in node.operands]
        found = [one for place in places if (one := self.condition(*place)) is not None]
        if len(found) > 1:
            raise Unstated("scores that are masked twice have no statement")
        return found[0] if found else None

    @staticmethod
    def _asked(definition: Definition, i: Index, j: Index) -> Asked | None:
        """Return what has to be asked of a score: nothing where it is known to be kept."""
        kept = definition.kept
        known = kept is None or (isinstance(i, int) and isinstance(j, int) and kept[i][j])
        return None if known else (definition.keeps, (i, j))


#: Operations through which a masked score stays one.
_PASSING = frozenset({"hide", "concat", "copy", "reshape", "add", "subtract", "multiply", "divide"})


def _rational(number: Value) -> fmpq:
    value = number.rational()
    if value is None:
        raise Unstated("an input that is no rational number has no statement")
    return value


def spread(x: Node, i: Index, j: Index) -> Places:
    """Return where an entry of a result lies in an operand, which may be repeated."""
    return i if x.grid[0] > 1 else 0, j if x.grid[1] > 1 else 0


def _beside(node: Node, i: Index, j: Index, entry: Operand) -> Term:
    """An entry of parts side by side: the last one's, where the others don't reach."""
    widths = [part.grid[1] for part in node.operands]
    found: Term | None = None
    for number, (start, width) in enumerate(zip(accumulate([0, *widths]), widths, strict=False)):
        if isinstance(j, int):
            if start <= j < start + width:
                return entry(number, i, j - start)
            continue
        own = entry(number, i, shifted(j, -start))
        found = own if found is None else Choice("Nat.ltb", (j, start), found, own)
    assert found is not None
    return found


def moved(places: range, index: Index) -> Index:
    """Return where an index of what was picked lies in what it was picked from."""
    if isinstance(index, int):
        return places[index]
    return places.start if len(places) == 1 else Moved("", places.start, places.step).on(index)
