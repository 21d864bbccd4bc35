"""Recomputing a figure from what a document prints before it.

Every figure is the value of a *scalar term*: an expression tree over entries
of named quantities. A term is recomputed from the document's own figures by
replacing its largest parts that the document prints, and working out the
rest from the steps' definitions. Parts are recognised by their normal form,
so ``exp(T[0, 2])`` printed by itself is used inside ``rowsum(exp(T))[0, 0]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf
from typing import Any

from flint import arb

from symattn import formulas as f
from symattn.cases.case import Rows
from symattn.numbers.balls import FIRST
from symattn.numbers.reading import Hidden
from symattn.numbers.values import Value, compare
from symattn.programs.display import formula, names
from symattn.programs.nodes import Node
from symattn.solution.quantity import Entry, Quantity
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict

#: Quantities with more entries are not looked through for equal ones.
MAX_COMPARED = 400


@dataclass(frozen=True, eq=False)
class Term:
    """A scalar expression: an operation on terms, or a leaf.

    Operations are ``+ * / exp log sqrt neg``; leaves are ``entry`` (quantity,
    i, j) and ``number`` (a float). Sums and products are flat; terms that are
    equal up to their order have equal keys. Leaves are made once each, zero
    and one too, and compared by identity.
    """

    op: str
    parts: tuple[Any, ...]

    @cached_property
    def key(self) -> str:
        """The normal form as text."""
        if self.op in ("entry", "number"):
            return f"{self.op}{self.parts}"
        keys = [part.key for part in self.parts]
        if self.op in "+*":
            keys.sort()
        return f"{self.op}({', '.join(keys)})"

    def inside(self) -> Iterator[Term]:
        """This term and all its parts."""
        yield self
        if self.op not in ("entry", "number"):
            for part in self.parts:
                yield from part.inside()


ZERO, ONE = Term("number", (0.0,)), Term("number", (1.0,))
HIDDEN = Term("number", (-inf,))


def number(value: float) -> Term:
    """A number as a term."""
    for known in (ZERO, ONE, HIDDEN):
        if known.parts[0] == value:
            return known
    return Term("number", (value,))


def add(terms: list[Term]) -> Term:
    """A flat sum without zeros."""
    flat: list[Term] = []
    for term in terms:
        flat += term.parts if term.op == "+" else [term] if term is not ZERO else []
    return Term("+", tuple(flat)) if len(flat) > 1 else flat[0] if flat else ZERO


def multiply(left: Term, right: Term) -> Term:
    """A flat product; a product by 0 is 0, by 1 the other factor."""
    if left is ZERO or right is ZERO:
        return ZERO
    flat: list[Term] = []
    for term in (left, right):
        flat += term.parts if term.op == "*" else [term] if term is not ONE else []
    return Term("*", tuple(flat)) if len(flat) > 1 else flat[0] if flat else ONE


def negative(term: Term) -> Term:
    """``-term``."""
    if term.op == "number":
        return number(-term.parts[0] + 0.0)
    return term.parts[0] if term.op == "neg" else Term("neg", (term,))


def divide(left: Term, right: Term) -> Term:
    """``left / right``."""
    return left if right is ONE or left is ZERO else Term("/", (left, right))


class Terms:
    """The terms of a program's nodes.

    Plain terms go down to the entries of the quantities that the steps name.
    Folded ones say alike what a document may print for either: a quantity
    that equals an earlier one is that one, given zeros and ones and masked
    scores are numbers, and what vanishes is left out.
    """

    def __init__(self, solution: Solution, folded: bool = False) -> None:
        self.solution = solution
        self.folded = folded
        program = solution.program
        self.names = {node.serial: name for name, node in program.quantities.items()}
        for name, node in program.gradients.items():
            self.names.setdefault(node.serial, f"grad({name})")
        self.nodes: dict[str, Node] = {**program.quantities}
        self.nodes |= {f"grad({name})": node for name, node in program.gradients.items()}
        self._shown = names(program)
        #: Scores that the document subtracts somewhere, as keys.
        self.subtracted: set[str] = set()
        self._same = self._equal_quantities() if folded else {}
        self._cache: dict[tuple[int, int, int], Term] = {}
        self._entries: dict[tuple[str, int, int], Term] = {}
        self._definitions: dict[tuple[str, int, int], tuple[Term, ...]] = {}
        self._quantities: dict[int, Quantity] = {}
        self._exact: dict[tuple[int, int, int], arb] = {}

    def _equal_quantities(self) -> dict[str, str]:
        """Quantities that equal an earlier one exactly, with its name: with an
        identity as W_V, a document writes X where a step says V."""
        same: dict[str, str] = {}
        seen: list[tuple[str, Quantity]] = []
        for name in (*self.solution.program.given, *self.solution.program.steps):
            quantity = self.solution[name]
            if not quantity.shape or quantity.grid[0] * quantity.grid[1] > MAX_COMPARED:
                continue
            for other, earlier in seen:
                if earlier.equals(quantity) is Verdict.HOLDS:
                    same[name] = other
                    break
            else:
                seen.append((name, quantity))
        return same

    def multiples(self, name: str, expressions: Iterable[str]) -> Iterator[tuple[float, Node]]:
        """Printed expressions that a quantity is an exact rational multiple of:
        ``Q K^T = 0.25 X X^T``."""
        own = self.solution[name]
        if len(own.shape) != 2 or own.grid[0] * own.grid[1] > MAX_COMPARED:
            return
        for expression in expressions:
            other = self.solution[expression]
            if other.shape == own.shape and (ratio := _ratio(own.rows, other.rows)) is not None:
                yield ratio, self.solution.program.lower(expression)

    def text(self, node: Node) -> str:
        """A node as text: its name, or its expression down to names."""
        return f.text(self._shown.get(node.serial) or formula(node, self._shown))

    def entry_text(self, name: str, i: int, j: int) -> str:
        """An entry as text: ``A[0, 2]``, ``dL/dQ[0, 1]``, ``b[1]``, ``d_k``."""
        node = self.nodes[name]
        place = {0: "", 1: f"[{j}]", 2: f"[{i}, {j}]"}[len(node.shape)]
        return self.text(node) + place

    # -- exact values -----------------------------------------------------------------

    def exact(self, node: Node, i: int, j: int) -> arb:
        """The exact value of an entry, closely enclosed: minus infinity for a
        masked score, not a number for a form in symbols."""
        place = (node.serial, i, j)
        if place not in self._exact:
            quantity = self._quantity(node)
            if quantity.is_hidden(i, j):
                self._exact[place] = arb("-inf")
            elif quantity.symbols:
                self._exact[place] = arb("nan")
            else:
                self._exact[place] = Entry(quantity, i, j).ball(FIRST)
        return self._exact[place]

    def entries(self, node: Node) -> Iterator[Value | Hidden]:
        """The exact entries, row by row, each worked out when it is asked for."""
        rows, columns = node.grid
        quantity = self._quantity(node)
        return (quantity.entry(i, j) for i in range(rows) for j in range(columns))

    def _quantity(self, node: Node) -> Quantity:
        if node.serial not in self._quantities:
            self._quantities[node.serial] = self.solution.quantity(node, "")
        return self._quantities[node.serial]

    # -- terms --------------------------------------------------------------------------

    def at(self, node: Node, i: int, j: int) -> Term:
        """The term of an entry, down to the entries of named quantities."""
        place = (node.serial, i, j)
        if place not in self._cache:
            self._cache[place] = self._leaf(node, i, j) or self._made(node, i, j)
        return self._cache[place]

    def work(self, node: Node, i: int, j: int) -> Term:
        """What an entry is computed as, though it has a name; an input is itself."""
        name = self.names.get(node.serial)
        made = self.definitions(name, i, j) if name else ()
        return made[0] if made else self.at(node, i, j)

    def definitions(self, name: str, i: int, j: int) -> tuple[Term, ...]:
        """What an entry of a step is computed as; for weights also with a
        score subtracted that the document subtracts."""
        place = (name, i, j)
        if place not in self._definitions:
            node = self.nodes[name]
            found = [] if _is_input(node) else [self._made(node, i, j)]
            if node.op == "softmax":
                found += self._shifted(node, i, j)
            self._definitions[place] = tuple(found)
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
        if any(part is HIDDEN for part in (term, *term.parts)):
            return ZERO
        return Term("exp", (term,)) if not is_one else Term("exp", (ZERO,))

    def _leaf(self, node: Node, i: int, j: int) -> Term | None:
        if node.op == "constant":
            return number(float(node.extra.ball(FIRST)))
        if node.serial not in self.names:
            return self._number(node, i, j) if _is_input(node) else None
        name = self.names[node.serial]
        if self.folded:
            name = self._same.get(name, name)
            node = self.nodes[name]
            if node.op in ("given", "hide"):
                known = self._number(node, i, j)
                if known is HIDDEN or (node.op == "given" and known in (ZERO, ONE)):
                    return known
        return self.entry(name, i, j)

    def entry(self, name: str, i: int, j: int) -> Term:
        """An entry of a named quantity, as a leaf."""
        place = (name, i, j)
        if place not in self._entries:
            self._entries[place] = Term("entry", place)
        return self._entries[place]

    def _number(self, node: Node, i: int, j: int) -> Term:
        return number(float(self.exact(node, i, j)))

    def _made(self, node: Node, i: int, j: int) -> Term:
        """The term that a node's operation makes of its operands' entries."""
        x = node.operands

        def spread(operand: Node) -> Term:
            rows, columns = operand.grid
            return self.at(operand, i if rows > 1 else 0, j if columns > 1 else 0)

        match node.op:
            case "copy" | "reshape":
                return self.at(x[0], i, j)
            case "transpose":
                return self.at(x[0], j, i)
            case "negate":
                return negative(spread(x[0]))
            case "add":
                return add([spread(x[0]), spread(x[1])])
            case "subtract":
                left, right = spread(x[0]), spread(x[1])
                return ZERO if left.key == right.key else add([left, negative(right)])
            case "multiply":
                return multiply(spread(x[0]), spread(x[1]))
            case "divide":
                return divide(spread(x[0]), spread(x[1]))
            case "matmul":
                inner = range(x[0].grid[1])
                return add([multiply(self.at(x[0], i, k), self.at(x[1], k, j)) for k in inner])
            case "exp":
                return self._power(spread(x[0]))
            case "sqrt" | "log":
                return Term(node.op, (spread(x[0]),))
            case "softmax":
                powers = [self._power(self.at(x[0], i, k)) for k in range(node.grid[1])]
                return divide(powers[j], add(powers))
            case "hide":
                hidden = self._quantity(node).is_hidden(i, j)
                return HIDDEN if hidden else self.at(x[0], i, j)
            case "concat":
                for part in x:
                    if j < part.grid[1]:
                        return self.at(part, i, j)
                    j -= part.grid[1]
            case "rowsum":
                return add([self.at(x[0], i, k) for k in range(x[0].grid[1])])
            case "colsum":
                return add([self.at(x[0], k, j) for k in range(x[0].grid[0])])
            case "total":
                rows, columns = x[0].grid
                return add([self.at(x[0], k, l) for k in range(rows) for l in range(columns)])
            case "pick":
                return self.at(x[0], node.extra[0][i], node.extra[1][j])
            case "triangle":
                return ONE if j <= i else ZERO
            case "spread":
                return spread(x[0])
            case "scatter":
                rows, columns = node.extra
                if i in rows and j in columns:
                    return self.at(x[0], rows.index(i), columns.index(j))
                return ZERO
        raise AssertionError(f"no term for {node.op}")


def _is_input(node: Node) -> bool:
    return node.op in ("given", "table", "constant")


def _ratio(left: Rows, right: Rows) -> float | None:
    """The rational c with ``left = c * right``, if there is one."""
    ratio: Value | None = None
    for ours, theirs in zip(left, right, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            if isinstance(a, Hidden) or isinstance(b, Hidden):
                return None
            if b.is_zero() is Verdict.HOLDS:
                if a.is_zero() is not Verdict.HOLDS:
                    return None
                continue
            if ratio is None:
                ratio = a / b
                if ratio.rational() is None:
                    return None
            if compare(a, ratio * b) is not Verdict.HOLDS:
                return None
    return None if ratio is None else float(ratio.ball(64))


#: What the document prints for a term, or None.
Look = Callable[[Term], "arb | None"]


class Recomputation:
    """The values of terms from what ``look`` finds printed; the rest is worked
    out from the steps' definitions, and exact where nothing below is printed."""

    def __init__(self, terms: Terms, look: Look) -> None:
        self.terms = terms
        self.look = look
        self._entries: dict[Term, arb] = {}

    def value(self, term: Term, itself: bool = True) -> arb:
        """The value of a term; ``itself`` allows the term's own printed figure."""
        if itself and (printed := self.look(term)) is not None:
            return printed
        match term.op, term.parts:
            case "number", (known,):
                return arb(known)
            case "entry", (name, i, j):
                if term not in self._entries:
                    made = self.terms.definitions(name, i, j)
                    exact = partial(self.terms.exact, self.terms.nodes[name], i, j)
                    self._entries[term] = self.value(made[0]) if made else exact()
                return self._entries[term]
            case "+", parts:
                return sum((self.value(part) for part in parts), arb(0))
            case "*", parts:
                product = arb(1)
                for part in parts:
                    product *= self.value(part)
                return product
            case "/", (left, right):
                return self.value(left) / self.value(right)
            case "neg", (part,):
                return -self.value(part)
            case "exp", (part,):
                return self.value(part).exp()
            case "sqrt", (part,):
                return self.value(part).sqrt()
            case "log", (part,):
                return self.value(part).log()
        raise AssertionError(f"no value for {term.op}")
