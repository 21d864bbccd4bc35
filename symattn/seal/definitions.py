"""The quantities of a walkthrough as definitions in Coq: functions of their indices.

Each operation says what one entry of its result is in terms of entries of its operands. What is
named, and what would stand inside a sum or below an exponential, has a definition of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate

from flint import fmpq

from symattn.limits import WRITTEN_OUT
from symattn.numbers.reading import Masked
from symattn.numbers.values import Value
from symattn.programs.nodes import Node
from symattn.seal.terms import (
    FUNCTIONS,
    ONE,
    ZERO,
    Choice,
    Entry,
    Function,
    Moved,
    Number,
    Operation,
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

    def at(self, i: int | Moved, j: int | Moved) -> Entry:
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
        kept = self.kept(node) if node.op in ("hide", "concat") or node.op in _PASSING else None
        before, self._parts = self._parts, 0
        try:
            term = self.body(node, *indices)
        finally:
            self._parts = before
        return Definition(name, node.grid, term, (), is_number, kept)

    def kept(self, node: Node) -> Kept | None:
        """The keys that each row of scores keeps, None where all are."""
        if node.op == "hide":
            scores, keep = node.operands
            rows = self._exact(keep)
            chosen = tuple(
                tuple(
                    bool(rows[min(i, len(rows) - 1)][min(j, len(rows[0]) - 1)] != 0)
                    for j in range(node.grid[1])
                )
                for i in range(node.grid[0])
            )
            return _both(chosen, self.kept(scores))
        if node.op in ("given", "table"):
            return self.of(node).kept
        if node.op == "concat":
            return self._kept_beside(node)
        if node.op in _PASSING:
            found: Kept | None = None
            for operand in node.operands:
                if (own := self.kept(operand)) is not None:
                    if operand.grid != node.grid:
                        raise Unstated("a mask that is spread has no statement")
                    found = _both(own, found)
            return found
        return None

    def _kept_beside(self, node: Node) -> Kept | None:
        parts = [(self.kept(x), x.grid[1]) for x in node.operands]
        if all(kept is None for kept, _ in parts):
            return None
        return tuple(
            tuple(
                entry
                for kept, width in parts
                for entry in ((True,) * width if kept is None else kept[i])
            )
            for i in range(node.grid[0])
        )

    # -- entries -----------------------------------------------------------------------------

    def entry(self, node: Node, i: int | Moved, j: int | Moved) -> Term:
        """An entry of a node: of its definition where it has one, else what it is made of."""
        if node.op == "constant":
            return Number(_rational(node.extra))
        if node.serial in self._of_node or node.op in OWN or node.op in ("given", "table"):
            return self.of(node).at(i, j)
        return self.body(node, i, j)

    def body(self, node: Node, i: int | Moved, j: int | Moved) -> Term:
        """An entry of a node in terms of its operands."""
        # What is used twice is written twice: each use inside another doubles the term.
        self._parts += 1
        if self._parts > WRITTEN_OUT.most:
            raise Unstated(f"a term of more than {WRITTEN_OUT.most} operations has no statement")
        x = node.operands
        match node.op:
            case "constant":
                return Number(_rational(node.extra))
            case "copy":
                return self.entry(x[0], i, j)
            case "reshape" if x[0].grid == node.grid and len(node.shape) < 3:
                return self.entry(x[0], i, j)
            case "transpose":
                return self.entry(x[0], j, i)
            case "negate":
                return Operation("-", (self.entry(x[0], i, j),))
            case "add" | "subtract" | "multiply" | "divide" | "maximum" | "above":
                sign = _SIGNS[node.op]
                return Operation(sign, (self.spread(node, 0, i, j), self.spread(node, 1, i, j)))
            case "exp":
                return self.chosen(x[0], i, j, Function("exp", self.entry(x[0], i, j)))
            case op if op in FUNCTIONS:
                return Function(FUNCTIONS[node.op], self.entry(x[0], i, j))
            case "matmul":
                k = free(i, j)
                factors = self.entry(x[0], i, k), self.entry(x[1], k, j)
                return Sum(x[0].grid[1], k.name, Operation("*", factors))
            case "softmax":
                return self._weight(x[0], i, j)
            case "hide":
                return self.entry(x[0], i, j)
            case "rowsum":
                k = free(i, j)
                return Sum(x[0].grid[1], k.name, self.entry(x[0], i, k))
            case "colsum":
                k = free(i, j)
                return Sum(x[0].grid[0], k.name, self.entry(x[0], k, j))
            case "total":
                k = free(i, j)
                last = free(i, j, k)
                row = Sum(x[0].grid[1], last.name, self.entry(x[0], k, last))
                return Sum(x[0].grid[0], k.name, row)
            case "rowmax":
                if self.kept(x[0]) is not None:
                    raise Unstated("the largest of masked scores has no statement")
                entries = (self.entry(x[0], i, k) for k in range(x[0].grid[1]))
                return reduce(lambda a, b: Operation("Rmax", (a, b)), entries)
            case "pick":
                rows, columns = node.extra
                return self.entry(x[0], moved(rows, i), moved(columns, j))
            case "spread":
                return self.spread(node, 0, i, j)
            case "triangle":
                return Choice("causal", (i, j), ONE, ZERO)
            case "concat":
                return self._beside(node, i, j)
        raise Unstated(f"the operation {node.op} has no statement")

    def _beside(self, node: Node, i: int | Moved, j: int | Moved) -> Term:
        """An entry of parts side by side: the last one's, where the others don't reach."""
        ends = [*starts(node)[1:], node.grid[1]]
        found: Term | None = None
        for part, start, end in zip(node.operands, starts(node), ends, strict=True):
            if isinstance(j, int):
                if start <= j < end:
                    return self.entry(part, i, j - start)
                continue
            own = self.entry(part, i, shifted(j, -start))
            found = own if found is None else Choice("Nat.ltb", (j, start), found, own)
        assert found is not None
        return found

    def _weight(self, scores: Node, i: int | Moved, j: int | Moved) -> Term:
        def power(key: int | Moved) -> Term:
            return Function("exp", self.entry(scores, i, key))

        kept = self.kept(scores)
        if kept is not None and not all(map(any, kept)):
            raise Unstated("a row that keeps no key has no statement")
        k = free(i, j)
        whole = Sum(scores.grid[1], k.name, self.chosen(scores, i, k, power(k)))
        return self.chosen(scores, i, j, Operation("/", (power(j), whole)))

    def chosen(self, scores: Node, i: int | Moved, j: int | Moved, term: Term) -> Term:
        """A term where a score is kept, else 0."""
        found = self.condition(scores, i, j)
        return term if found is None else Choice(*found, term, ZERO)

    def condition(
        self, node: Node, i: int | Moved, j: int | Moved
    ) -> tuple[str, tuple[int | Moved, int | Moved]] | None:
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
        places = [(x, *_spread(x, i, j)) for x in node.operands]
        found = [one for place in places if (one := self.condition(*place)) is not None]
        if len(found) > 1:
            raise Unstated("scores that are masked twice have no statement")
        return found[0] if found else None

    @staticmethod
    def _asked(
        definition: Definition, i: int | Moved, j: int | Moved
    ) -> tuple[str, tuple[int | Moved, int | Moved]] | None:
        """Return what has to be asked of a score: nothing where it is known to be kept."""
        kept = definition.kept
        known = kept is None or (isinstance(i, int) and isinstance(j, int) and kept[i][j])
        return None if known else (definition.keeps, (i, j))

    def spread(self, node: Node, number: int, i: int | Moved, j: int | Moved) -> Term:
        """An entry of an operand that is repeated to the result."""
        x = node.operands[number]
        return self.entry(x, *_spread(x, i, j))


#: Operations through which a masked score stays one.
_PASSING = frozenset({"copy", "reshape", "add", "subtract", "multiply", "divide"})


def _rational(number: Value) -> fmpq:
    value = number.rational()
    if value is None:
        raise Unstated("an input that is no rational number has no statement")
    return value


def _spread(x: Node, i: int | Moved, j: int | Moved) -> tuple[int | Moved, int | Moved]:
    """Return where an entry of a result lies in an operand, which may be repeated."""
    return i if x.grid[0] > 1 else 0, j if x.grid[1] > 1 else 0


def _both(one: Kept, other: Kept | None) -> Kept:
    if other is None:
        return one
    return tuple(
        tuple(a and b for a, b in zip(*rows, strict=True)) for rows in zip(one, other, strict=True)
    )


def starts(node: Node) -> list[int]:
    """Return where each part begins of what is side by side."""
    return [0, *accumulate(x.grid[1] for x in node.operands[:-1])]


def moved(places: range, index: int | Moved) -> int | Moved:
    """Return where an index of what was picked lies in what it was picked from."""
    if isinstance(index, int):
        return places[index]
    if len(places) == 1:
        return places.start
    return Moved(index.name, places.start + places.step * index.start, places.step * index.step)
