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
from functools import cached_property
from math import exp, inf, log, nan, sqrt
from typing import Any

from symattn.cases.case import Rows
from symattn.numbers.reading import Hidden
from symattn.numbers.values import Value, compare
from symattn.programs.nodes import Node
from symattn.solution.quantity import Quantity
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict

#: Quantities with more entries are not looked through for equal ones.
MAX_COMPARED = 400


@dataclass(frozen=True)
class Term:
    """A scalar expression: an operation on terms, or a leaf.

    Operations are ``+ * / exp log sqrt neg``; leaves are ``entry`` (quantity,
    i, j) and ``number`` (a float). Sums and products are flat and sorted, so
    that equal terms have equal keys.
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


ZERO, ONE = Term("number", (0.0,)), Term("number", (1.0,))
HIDDEN = Term("number", (-inf,))


def add(terms: list[Term]) -> Term:
    """A flat sum without zeros."""
    flat: list[Term] = []
    for term in terms:
        flat += term.parts if term.op == "+" else [term] if term != ZERO else []
    return Term("+", tuple(flat)) if len(flat) > 1 else flat[0] if flat else ZERO


def multiply(left: Term, right: Term) -> Term:
    """A flat product; a product by 0 is 0, by 1 the other factor."""
    if ZERO in (left, right):
        return ZERO
    flat: list[Term] = []
    for term in (left, right):
        flat += term.parts if term.op == "*" else [term] if term != ONE else []
    return Term("*", tuple(flat)) if len(flat) > 1 else flat[0] if flat else ONE


def negative(term: Term) -> Term:
    """``-term``."""
    if term.op == "number":
        return Term("number", (-term.parts[0] + 0.0,))
    return term.parts[0] if term.op == "neg" else Term("neg", (term,))


def divide(left: Term, right: Term) -> Term:
    """``left / right``."""
    return left if right == ONE or left == ZERO else Term("/", (left, right))


Leaves = Callable[[Node, int, int], Term | None]


class Terms:
    """The terms of a program's nodes."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        program = solution.program
        self.names = {node.serial: name for name, node in program.quantities.items()}
        for name, node in program.gradients.items():
            self.names.setdefault(node.serial, f"grad({name})")
        self.nodes = dict(program.quantities)
        self.nodes |= {f"grad({name})": node for name, node in program.gradients.items()}
        self._same = self._equal_quantities()
        self._cache: dict[tuple[int, int, int], Term] = {}
        self._definitions: dict[tuple[str, int, int], tuple[Term, ...]] = {}

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
        rows = self.solution[name].rows
        for expression in expressions:
            other = self.solution[expression]
            if other.shape == self.solution[name].shape and len(other.shape) == 2:
                ratio = _ratio(rows, other.rows)
                if ratio is not None:
                    yield ratio, self.solution.program.lower(expression)

    def at(self, node: Node, i: int, j: int) -> Term:
        """The term of an entry, down to the entries of named quantities."""
        place = (node.serial, i, j)
        if place not in self._cache:
            self._cache[place] = self._leaf(node, i, j) or self.work(node, i, j)
        return self._cache[place]

    def definitions(self, name: str, i: int, j: int) -> tuple[Term, ...]:
        """What an entry of a step is computed as; for weights also with the
        largest score of the row, or any other of its scores, subtracted."""
        place = (name, i, j)
        if place not in self._definitions:
            node = self.nodes[name]
            found = [] if node.op == "given" else [self.work(node, i, j)]
            if node.op == "softmax":
                found += self._shifted(node, i, j)
            self._definitions[place] = tuple(found)
        return self._definitions[place]

    def _shifted(self, node: Node, i: int, j: int) -> Iterator[Term]:
        scores = [self.at(node.operands[0], i, k) for k in range(node.grid[1])]
        for shift in dict.fromkeys(scores):
            if shift != HIDDEN:
                powers = [self.power(add([s, negative(shift)]), s == shift) for s in scores]
                yield divide(powers[j], add(powers))

    @staticmethod
    def power(term: Term, is_one: bool = False) -> Term:
        """``exp(term)``; of a masked score 0."""
        if HIDDEN in (term, *term.parts):
            return ZERO
        return Term("exp", (term,)) if not is_one else Term("exp", (ZERO,))

    def _leaf(self, node: Node, i: int, j: int) -> Term | None:
        if node.op == "constant":
            return Term("number", (float(node.extra.ball(64)),))
        if node.serial not in self.names:
            return None
        name = self.names[node.serial]
        name = self._same.get(name, name)
        node = self.nodes[name]
        if node.op in ("given", "hide"):
            value = self.solution.quantity(node, "").entry(i, j)
            if isinstance(value, Value) and value.has_symbols:
                return Term("number", (nan,))
            if isinstance(value, Hidden):
                return HIDDEN
            rational = value.rational()
            if node.op == "given" and rational is not None and rational in (0, 1):
                return Term("number", (float(rational.p),))
        return Term("entry", (name, i, j))

    def work(self, node: Node, i: int, j: int) -> Term:
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
                return ZERO if left == right else add([left, negative(right)])
            case "multiply":
                return multiply(spread(x[0]), spread(x[1]))
            case "divide":
                return divide(spread(x[0]), spread(x[1]))
            case "matmul":
                inner = range(x[0].grid[1])
                return add([multiply(self.at(x[0], i, k), self.at(x[1], k, j)) for k in inner])
            case "exp":
                return self.power(spread(x[0]))
            case "sqrt" | "log":
                return Term(node.op, (spread(x[0]),))
            case "softmax":
                powers = [self.power(self.at(x[0], i, k)) for k in range(node.grid[1])]
                return divide(powers[j], add(powers))
            case "hide":
                hidden = self.solution.quantity(node, "").is_hidden(i, j)
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


#: What the document prints for a term, or None; called with the term's key.
Print = Callable[[str], "float | None"]


class Recomputation:
    """One value recomputed from printed figures; ``used`` are their keys."""

    def __init__(self, terms: Terms, printed: Print) -> None:
        self.terms = terms
        self.printed = printed
        self.used: set[str] = set()

    def value(self, term: Term, itself: bool = True) -> float:
        """The value of a term from the document's figures; ``itself`` allows
        the term's own printed figure."""
        if itself and (printed := self.printed(term.key)) is not None:
            self.used.add(term.key)
            return printed
        match term.op, term.parts:
            case "number", (number,):
                return float(number)
            case "entry", (name, i, j):
                definitions = self.terms.definitions(name, i, j)
                if definitions:
                    return self.value(definitions[0])
                quantity = self.terms.solution.quantity(self.terms.nodes[name], "")
                return float(quantity.entry(i, j).ball(64))  # type: ignore[union-attr]
            case "+", parts:
                return sum(self.value(part) for part in parts)
            case "*", parts:
                product = 1.0
                for part in parts:
                    product *= self.value(part)
                return product
            case "/", (left, right):
                below = self.value(right)
                return self.value(left) / below if below else inf
            case "neg", (part,):
                return -self.value(part)
            case "exp", (part,):
                return exp(min(self.value(part), 700.0))
            case "sqrt", (part,):
                return sqrt(max(self.value(part), 0.0))
            case "log", (part,):
                inner = self.value(part)
                return log(inner) if inner > 0 else -inf
        raise AssertionError(f"no value for {term.op}")
