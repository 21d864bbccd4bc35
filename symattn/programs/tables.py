"""Tables whose entries are known by their place: written out, or of any length as a formula."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import cast

from flint import fmpq

from symattn.expressions.shapes import Letter, any_length, grid, is_any, tree_of
from symattn.expressions.syntax import Binary, Call, Comparison, Literal, Name, Tree
from symattn.numbers.values import ONE, ZERO, Value, rational
from symattn.programs import nodes
from symattn.programs.nodes import Node

#: The row and the column of an entry in the formula of a table, counted from 0.
ROW, COLUMN = Name("i"), Name("j")
Entry = Callable[[int, int], "Value | Tree"]


def tabled(entry: Entry, *shape: int) -> Node:
    """Exact values that are known by their row and column; none is made of what is too large. Of a
    table with an axis of any length the formula of its entries is kept.

    >>> from symattn.expressions.syntax import text
    >>> text(tabled(lambda i, j: indicator(same(i, j)), any_length("n"), any_length("n")).extra)
    'delta(i, j)'
    >>> tabled(lambda i, j: ONE, 9999, 9999)
    Traceback (most recent call last):
    symattn.errors.Malformed: 9999x9999 is beyond 65536 entries
    """
    nodes.need_room(shape)
    if any(map(is_any, shape)):
        formula = entry(*(cast("int", Letter(name)) for name in (ROW, COLUMN)))
        known = formula.rational() if isinstance(formula, Value) else None
        return Node("table", (), shape, formula if known is None else tree_of(int(known)))
    rows, columns = map(range, grid(shape))
    return Node("table", (), shape, tuple(tuple(entry(i, j) for j in columns) for i in rows))


def number(value: int | fmpq) -> Node:
    """A rational number as a constant; a length that may be any as a table of one entry."""
    if isinstance(value, Letter):
        return Node("table", (), (), value.tree)
    return nodes.constant(rational(value))


def whole(value: int) -> Value | Tree:
    """A whole number as an entry."""
    return tree_of(value) if is_any(value) else rational(value)


def same(i: int, j: int) -> bool | Tree:
    """Two places are one."""
    return Call("delta", (tree_of(i), tree_of(j))) if is_any(i) else i == j


def at_most(i: int, j: int) -> bool | Tree:
    """A place is not beyond another."""
    return _step(i, j) if is_any(i) else i <= j


def _step(i: int, j: int) -> Tree:
    return Call("step", (Comparison((tree_of(i), tree_of(j)), ("<=",)),))


def indicator(*facts: bool | Tree) -> Value | Tree:
    """1 where all of these are so, else 0."""
    trees = [fact for fact in facts if not isinstance(fact, bool)]
    if trees:
        return reduce(lambda x, y: Binary("*", x, y), trees)
    return ONE if all(facts) else ZERO


def seen(left: int, right: int, i: int, j: int) -> Value | Tree:
    """1 for the keys j with i - left <= j <= i + right, else 0."""
    return indicator(at_most(i - left, j), at_most(j, i + right))


def formula_of(table: Node) -> Tree | None:
    """The formula of a table whose entries are known by their places; None for any other.

    >>> from symattn.expressions.syntax import text
    >>> text(formula_of(tabled(lambda i, j: indicator(same(i, j)), 3, 3)))
    'delta(i, j)'
    """
    if not isinstance(table.extra, tuple):
        return cast("Tree", table.extra)
    entries: list[Entry] = [lambda i, j: ZERO, lambda i, j: ONE]
    if len(table.shape) == 1:
        entries.append(lambda _, k: whole(k))
    elif len(table.shape) == 2:
        entries += [lambda i, j: indicator(same(i, j))] * (table.shape[0] == table.shape[1])
        entries.append(distance)
        if (reach := _reach(table.extra)) is not None:
            entries.append(partial(seen, *reach))
    letters = tuple(any_length("n") for _ in table.shape)
    found = (entry for entry in entries if tabled(entry, *table.shape).extra == table.extra)
    return next((tabled(entry, *letters).extra for entry in found if letters), None)


def _reach(rows: Sequence[Sequence[object]]) -> tuple[int, int] | None:
    """Return how far a table reaches to the left and right, were it one of what is seen."""
    ends = [row[0] for row in rows], rows[0]
    if any(entry not in (ZERO, ONE) for entries in ends for entry in entries):
        return None
    left, right = (sum(entry == ONE for entry in entries) - 1 for entries in ends)
    return (left, right) if min(left, right) >= 0 else None


def reach_of(formula: Tree) -> tuple[int, int]:
    """Return how far the formula of what is :func:`seen` reaches to the left and to the right.

    >>> n = any_length("n")
    >>> reach_of(tabled(partial(seen, 2, 1), n, n).extra)
    (2, 1)
    """
    match formula:
        case Binary("*", Call(_, (Comparison((row, _)),)), Call(_, (Comparison((_, column)),))):
            return -moved(row)[1], moved(column)[1]
    raise TypeError(type(formula).__name__)


def moved(side: Tree) -> tuple[Tree, int]:
    """A place, and how far after it."""
    match side:
        case Binary("+" | "-" as sign, place, Literal(text)):
            return place, int(text) if sign == "+" else -int(text)
    return side, 0


def distance(i: int, j: int) -> Value | Tree:
    """The distance of two places."""
    if not is_any(i):
        return rational(abs(i - j))
    sign = Binary("-", Binary("*", tree_of(2), _step(j, i)), tree_of(1))
    return Binary("*", sign, tree_of(i - j))
