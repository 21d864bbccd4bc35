"""Scalar terms: what a figure is the value of.

A term is an expression over entries of named quantities, with a normal form
by which equal ones are recognised.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import inf, isfinite
from typing import Any

from flint import fmpq

from symattn.numbers.balls import FIRST
from symattn.numbers.values import Value
from symattn.programs.nodes import Elementwise

#: Terms without terms in them.
LEAVES = ("entry", "number", "constant")


@dataclass(frozen=True, eq=False)
class Term:
    """A scalar expression: an operation on terms, or a leaf.

    Operations are ``+ * / neg`` and the functions taken of entries; leaves are
    ``entry`` (quantity, i, j), ``number`` (a float) and ``constant`` (a number that no float
    is, exactly). Sums and products are flat; terms that are
    equal up to their order have equal keys. Leaves are made once each, zero
    and one too, and compared by identity.
    """

    op: str
    parts: tuple[Any, ...]

    @cached_property
    def key(self) -> str:
        """The normal form as text."""
        if self.op in LEAVES:
            return f"{self.op}{self.parts}"
        keys = [part.key for part in self.parts]
        if self.op in "+*":
            keys.sort()
        return f"{self.op}({', '.join(keys)})"

    def inside(self) -> Iterator[Term]:
        """This term and all its parts."""
        yield self
        if self.op not in LEAVES:
            for part in self.parts:
                yield from part.inside()


ZERO, ONE = Term("number", (0.0,)), Term("number", (1.0,))
MASKED = Term("number", (-inf,))


def number(value: float) -> Term:
    """A number as a term."""
    for known in (ZERO, ONE, MASKED):
        if known.parts[0] == value:
            return known
    return Term("number", (value,))


def add(terms: list[Term]) -> Term:
    """A flat sum without zeros."""
    return _flat("+", terms, ZERO)


def multiply(left: Term, right: Term) -> Term:
    """A flat product; a product by 0 is 0, by 1 the other factor."""
    return ZERO if left is ZERO or right is ZERO else _flat("*", (left, right), ONE)


def _flat(op: str, terms: Iterable[Term], neutral: Term) -> Term:
    flat: list[Term] = []
    for term in terms:
        flat += term.parts if term.op == op else [term] if term is not neutral else []
    return Term(op, tuple(flat)) if len(flat) > 1 else flat[0] if flat else neutral


def negative(term: Term) -> Term:
    """``-term``."""
    if term.op == "number":
        return number(-term.parts[0] + 0.0)
    return term.parts[0] if term.op == "neg" else Term("neg", (term,))


def divide(left: Term, right: Term) -> Term:
    """``left / right``."""
    return left if right is ONE or left is ZERO else Term("/", (left, right))


class TermScalars:
    """Terms as the scalars of :class:`~symattn.programs.entrywise.Entrywise`."""

    def constant(self, value: Value) -> Term:
        """A number of the program."""
        near = float(value.ball(FIRST))
        known = value.number is not None and isfinite(near)
        is_exact = known and value.number == fmpq(*near.as_integer_ratio())
        return number(near) if is_exact else Term("constant", (value,))

    def total(self, items: Iterable[Term]) -> Term:
        """A sum; of a term and its own negative 0."""
        match list(items):
            case [term, Term("neg", (other,))] if term.key == other.key:
                return ZERO
            case terms:
                return add(terms)

    def sum_of_products(self, pairs: Iterable[tuple[Term, Term]]) -> Term:
        """A sum of products."""
        return add([multiply(left, right) for left, right in pairs])

    def negative(self, x: Term) -> Term:
        """``-x``."""
        return negative(x)

    def divisor(self, y: Term) -> Term:
        """Nothing is to be made ready."""
        return y

    def quotient(self, x: Term, divisor: Term) -> Term:
        """``x / divisor``."""
        return divide(x, divisor)

    def function(self, name: Elementwise, x: Term) -> Term:
        """``exp(x)`` and the like."""
        return Term(name, (x,))

    def largest(self, items: Sequence[Term], *, to_first: bool) -> Term:
        """The largest."""
        first, *rest = items
        return reduce(lambda x, y: Term("maximum", (x, y)), rest, first)

    def above(self, x: Term, y: Term) -> Term:
        """1 where x is the larger, else 0."""
        return Term("above", (x, y))

    def is_positive(self, x: Term) -> bool:
        """The exact run has seen to that."""
        return True
