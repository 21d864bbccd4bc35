"""Recipes: what every entry of a program is computed as, as a scalar term."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain

from flint import arb

from symattn.auditing.terms import (
    MASKED,
    ONE,
    ZERO,
    Term,
    TermScalars,
    add,
    divide,
    negative,
    number,
)
from symattn.cases.case import Rows
from symattn.numbers.balls import FIRST
from symattn.numbers.reading import HIDDEN, Masked
from symattn.numbers.values import Value, compare
from symattn.programs import nodes
from symattn.programs.entrywise import Entrywise, LazyGrid
from symattn.programs.nodes import Node
from symattn.programs.running import Run
from symattn.solution.entries import EntryValue
from symattn.solution.quantity import Quantity
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict

#: Quantities with more entries are not looked through for equal ones.
MAX_COMPARED = 400


class Recipes:
    """The terms of a program's nodes.

    Plain terms go down to the entries of the quantities that the steps name.
    Folded ones say alike what a document may print for either: a quantity
    that equals an earlier one is that one, the halves of a symmetric one are
    one, given zeros and ones and masked scores are numbers, and what vanishes
    is left out.
    """

    def __init__(self, solution: Solution, folded: bool = False) -> None:
        self.solution = solution
        self._is_folded = folded
        program = solution.program
        self.nodes = program.named
        self.names: dict[int, str] = {}
        for name, node in self.nodes.items():
            self.names.setdefault(node.serial, name)
        #: Scores that the document subtracts somewhere, as keys.
        self.subtracted: set[str] = set()
        self._same: dict[str, str] = {}
        self._symmetric: set[str] = set()
        if folded:
            self._compare_quantities()
        self._run = Run(Entrywise(TermScalars(), solution.keeps), self._leaf)
        self._worked: dict[int, LazyGrid[Term]] = {}
        self._entries: dict[tuple[str, int, int], Term] = {}
        self._definitions: dict[tuple[str, int, int], tuple[Term, ...]] = {}
        self._exact: dict[tuple[int, int, int], arb] = {}

    def _compare_quantities(self) -> None:
        """Note quantities that equal an earlier one exactly, as with an identity for W_V a
        document writes X where a step says V; and those that are symmetric."""
        seen: list[tuple[str, Quantity]] = []
        for name in (*self.solution.program.given, *self.solution.program.steps):
            quantity = self.solution[name]
            if not quantity.shape or quantity.grid[0] * quantity.grid[1] > MAX_COMPARED:
                continue
            for other, earlier in seen:
                if earlier.equals(quantity) is Verdict.HOLDS:
                    self._same[name] = other
                    break
            else:
                seen.append((name, quantity))
                turned = self.solution.quantity(nodes.transpose(self.nodes[name]))
                if len(quantity.shape) == 2 and turned.equals(quantity) is Verdict.HOLDS:
                    self._symmetric.add(name)

    def multiples(self, name: str, expressions: Iterable[Node]) -> Iterator[tuple[float, Node]]:
        """Printed expressions that a quantity is an exact rational multiple of:
        ``Q K^T = 0.25 X X^T``."""
        own = self.solution[name]
        if len(own.shape) != 2 or own.grid[0] * own.grid[1] > MAX_COMPARED:
            return
        for expression in expressions:
            other = self.solution.quantity(expression)
            if other.shape == own.shape and (ratio := _ratio(own.rows, other.rows)) is not None:
                yield ratio, expression

    # -- exact values -----------------------------------------------------------------

    def exact(self, node: Node, i: int, j: int) -> arb:
        """The exact value of an entry, closely enclosed: minus infinity for a
        masked score, not a number for a form in symbols."""
        place = (node.serial, i, j)
        if place not in self._exact:
            quantity = self.solution.quantity(node)
            if quantity.is_hidden(i, j):
                self._exact[place] = arb("-inf")
            elif quantity.symbols:
                self._exact[place] = arb("nan")
            else:
                self._exact[place] = EntryValue(quantity, i, j).ball(FIRST)
        return self._exact[place]

    def entries(self, node: Node) -> Iterator[Value | Masked]:
        """The exact entries, row by row, each worked out when it is asked for."""
        rows, columns = node.grid
        quantity = self.solution.quantity(node)
        return (quantity.entry(i, j) for i in range(rows) for j in range(columns))

    # -- terms --------------------------------------------------------------------------

    def at(self, node: Node, i: int, j: int) -> Term:
        """The term of an entry, down to the entries of named quantities."""
        term = self._run[node].at(i, j)
        return MASKED if isinstance(term, Masked) else term

    def work(self, node: Node, i: int, j: int) -> Term:
        """What an entry is computed as, though it has a name; an input is itself."""
        name = self.names.get(node.serial)
        terms = self.definitions(name, i, j) if name else ()
        return terms[0] if terms else self.at(node, i, j)

    def definitions(self, name: str, i: int, j: int) -> tuple[Term, ...]:
        """What an entry of a step is computed as; for weights also with a
        score subtracted that the document subtracts."""
        place = (name, i, j)
        if place not in self._definitions:
            node = self.nodes[name]
            is_input = node.op in ("given", "table", "constant")
            terms = [] if is_input else [self._made(node, i, j)]
            if node.op == "softmax":
                terms += self._shifted(node, i, j)
            self._definitions[place] = tuple(terms)
        return self._definitions[place]

    def _shifted(self, node: Node, i: int, j: int) -> Iterator[Term]:
        scores = [self.at(node.operands[0], i, k) for k in range(node.grid[1])]
        for shift in dict.fromkeys(scores):
            if shift.key in self.subtracted:
                powers = [self._power(add([s, negative(shift)]), s is shift) for s in scores]
                yield divide(powers[j], add(powers))

    @staticmethod
    def _power(term: Term, is_one: bool = False) -> Term:
        """``exp(term)``; of a masked score 0."""
        if any(part is MASKED for part in (term, *term.parts)):
            return ZERO
        return Term("exp", (term,)) if not is_one else Term("exp", (ZERO,))

    def _made(self, node: Node, i: int, j: int) -> Term:
        """What a node's operation makes of its operands' entries."""
        if node.serial not in self._worked:
            self._worked[node.serial] = self._run.work(node)
        term = self._worked[node.serial].at(i, j)
        return MASKED if isinstance(term, Masked) else term

    def _leaf(self, node: Node) -> LazyGrid[Term] | None:
        """The entries of a named quantity; a number that is named is a number."""
        if node.serial not in self.names or node.op == "constant":
            return None
        name = self.names[node.serial]
        name = self._same.get(name, name)
        return LazyGrid(*node.grid, partial(self._named, name))

    def _named(self, name: str, i: int, j: int) -> Term | Masked:
        node = self.nodes[name]
        if self._is_folded and node.op in ("given", "hide"):
            known = number(float(self.exact(node, i, j)))
            if known is MASKED:
                return HIDDEN
            if node.op == "given" and known in (ZERO, ONE):
                return known
        if name in self._symmetric:
            # What is printed below the diagonal is what is printed above it.
            i, j = min(i, j), max(i, j)
        return self.entry(name, i, j)

    def entry(self, name: str, i: int, j: int) -> Term:
        """An entry of a named quantity, as a leaf."""
        place = (name, i, j)
        if place not in self._entries:
            self._entries[place] = Term("entry", place)
        return self._entries[place]


def _ratio(left: Rows, right: Rows) -> float | None:
    """The rational c with ``left = c * right``, if there is one."""
    ratio: Value | None = None
    for a, b in zip(chain(*left), chain(*right), strict=True):
        if isinstance(a, Masked) or isinstance(b, Masked):
            return None
        is_zero = b.is_zero() is Verdict.HOLDS
        if ratio is None and not is_zero:
            ratio = a / b
            if ratio.rational() is None:
                return None
        same = a.is_zero() if is_zero or ratio is None else compare(a, ratio * b)
        if same is not Verdict.HOLDS:
            return None
    return None if ratio is None else float(ratio.ball(64))
