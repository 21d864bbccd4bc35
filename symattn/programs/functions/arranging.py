"""Functions that put entries together otherwise, and tables that are known by a formula."""

from __future__ import annotations

from math import prod

from flint import fmpq

from symattn.errors import Malformed
from symattn.expressions.shapes import every, show
from symattn.numbers.values import ONE, ZERO, Value, rational
from symattn.programs import nodes
from symattn.programs.backward import shares, times
from symattn.programs.functions.calls import Axis, Domain, Flows, Size, function
from symattn.programs.functions.entries import COMPARISONS
from symattn.programs.nodes import Node
from symattn.programs.tables import indicator, number, same, tabled, whole


def _size(axis: int, x: Node) -> Node:
    if not x.shape:
        raise Malformed("a scalar has no rows and columns")
    return number(x.shape[axis])


@function(is_written=False)
def rows(x: Node) -> Node:
    """The number of rows."""
    return _size(0, x)


@function(is_written=False)
def cols(x: Node) -> Node:
    """The number of columns."""
    return _size(-1, x)


def below(parts: tuple[Node, ...]) -> Node:
    """Matrices below each other; a vector is one row."""
    turned = tuple(nodes.transpose(as_row(part)) for part in parts)
    widths = sorted({part.shape[0] for part in turned})
    if len(widths) > 1:
        shapes = ", ".join(show(part.shape) for part in parts)
        raise Malformed(f"expected as many columns in every part, found {shapes}")
    return nodes.transpose(nodes.concat(turned))


def as_row(x: Node) -> Node:
    """A vector as the one row of a matrix."""
    if not x.shape:
        raise Malformed("expected a row or a matrix, found a scalar")
    return x if len(x.shape) == 2 else Node("reshape", (x,), (1, *x.shape))


def _below_back(node: Node, g: Node, *parts: Node, **axis: int) -> Flows:
    """To each part its rows."""
    return shares(parts, g, 0)


@function(_below_back)
def concat(*parts: Node, axis: Axis = Axis(-1)) -> Node:  # noqa: B008
    """The parts side by side; with axis=0 below each other."""
    if axis == 0:
        return below(parts)
    return nodes.concat(parts)


@function(_below_back)
def stack(*parts: Node) -> Node:
    """Vectors as the rows of a matrix."""
    if any(len(part.shape) != 1 for part in parts):
        shapes = ", ".join(show(part.shape) for part in parts)
        raise Malformed(f"expected vectors, found {shapes}: concat(..., axis=0) joins matrices")
    return below(parts)


def _reshape_back(node: Node, g: Node, x: Node, rows: int, columns: int | None) -> Flows:
    if not x.shape:
        return [Node("reshape", (g,), ())]
    return [reshape(g, *x.shape)]


@function(_reshape_back)
def reshape(x: Node, rows: Size, columns: Size | None = None) -> Node:
    """The entries row by row in another shape; without columns a vector."""
    count = prod(x.shape)
    if rows * (columns or 1) != count:
        wanted = rows if columns is None else f"{rows} times {columns}"
        raise Malformed(f"{show(x.shape)} has {count} entries, not {wanted}")
    row = flat(x)
    if columns is None:
        return row
    cut = [
        Node("pick", (row,), (columns,), (range(1), range(i * columns, (i + 1) * columns)))
        for i in range(rows)
    ]
    return below(tuple(cut))


def flat(x: Node) -> Node:
    """All entries as a vector, row by row."""
    if len(x.shape) < 2:
        return x if x.shape else Node("reshape", (x,), (1,))
    return nodes.concat(tuple(nodes.index(x, (i,)) for i in range(x.shape[0])))


def _column(x: Node) -> Node:
    return Node("transpose", (x,), (x.shape[0], 1))


@function()
def outer(x: Node, y: Node) -> Node:
    """Every entry of one vector times every entry of another."""
    if len(x.shape) != 1 or len(y.shape) != 1:
        raise Malformed(f"expected two vectors, found {show(x.shape)} and {show(y.shape)}")
    return nodes.matmul(_column(x), as_row(y))


@function()
def diag(x: Node) -> Node:
    """The matrix with a vector on its diagonal, or the diagonal of a matrix."""
    if not x.shape:
        raise Malformed("diag takes a vector or a matrix, found a scalar")
    if len(x.shape) == 1:
        return times(_identity(x.shape[0]), x)
    if x.shape[0] != x.shape[1]:
        raise Malformed(f"expected as many rows as columns, found {show(x.shape)}")
    product = times(_identity(x.shape[0]), x)
    return Node("reshape", (Node("colsum", (product,), (1, x.shape[1])),), (x.shape[0],))


@function()
def repeat(x: Node, times: Size, axis: Axis = Axis(0)) -> Node:  # noqa: B008
    """Each row so many times in turn, or with axis=1 each column."""
    if axis == 0 and len(x.shape) == 2:
        return nodes.transpose(_repeated(nodes.transpose(x), times))
    return _repeated(x, times)


def _repeated(x: Node, count: int) -> Node:
    """Each column so many times."""
    if not x.shape:
        raise Malformed("repeat takes a vector or a matrix, found a scalar")
    nodes.need_room((*x.shape[:-1], x.shape[-1] * count))
    places = [c for c in range(x.shape[-1]) for _ in range(count)]
    return nodes.concat(tuple(column_of(x, c) for c in places))


def column_of(x: Node, c: int) -> Node:
    """A column of a matrix, an entry of a vector as one."""
    shape = (x.shape[0], 1) if len(x.shape) == 2 else (1,)
    return Node("pick", (x,), shape, (every(x.grid[0]), range(c, c + 1)))


# -- tables --------------------------------------------------------------------------------


def _identity(n: int) -> Node:
    return tabled(lambda i, j: indicator(same(i, j)), n, n)


def _filled(value: Value, rows: int, columns: int | None) -> Node:
    return tabled(lambda i, j: value, *((rows,) if columns is None else (rows, columns)))


@function()
def eye(n: Size) -> Node:
    """The identity matrix."""
    return _identity(n)


@function()
def zeros(rows: Size, columns: Size | None = None) -> Node:
    """A matrix of zeros; without columns a vector."""
    return _filled(ZERO, rows, columns)


@function()
def ones(rows: Size, columns: Size | None = None) -> Node:
    """A matrix of ones; without columns a vector."""
    return _filled(ONE, rows, columns)


def counted(n: int) -> Node:
    """The whole numbers from 0 on as a vector."""
    return tabled(lambda _, k: whole(k), n)


@function(
    lambda node, g, ids, n: [None],
    domains={"ids": lambda given: Domain(0, given["n"] - 1, whole=True)},
)
def onehot(ids: Node, n: Size) -> Node:
    """For each whole number of a vector a row with 1 at that place, counted from 0."""
    if len(ids.shape) != 1:
        raise Malformed(f"expected a vector of whole numbers, found {show(ids.shape)}")
    nodes.need_room((*ids.shape, n))
    return COMPARISONS["=="](_column(ids), counted(n))


@function(domains={"ids": lambda given: Domain(0, given["table"].shape[0] - 1, whole=True)})
def embedding(ids: Node, table: Node) -> Node:
    """The rows of a table that the whole numbers of a vector name, counted from 0."""
    if len(table.shape) != 2:
        raise Malformed(f"expected a matrix to take rows of, found {show(table.shape)}")
    return nodes.matmul(onehot(ids, table.shape[0]), table)


def _frequencies(d: int, base: Node) -> list[Node]:
    """``base ** (-2c / d)`` for every pair of columns c: a root where it is one."""
    if d % 2:
        raise Malformed(f"expected an even number of columns, as they go in pairs, found {d}")
    return [_to_power(base, fmpq(-2 * c, d)) for c in range(d // 2)]


def _to_power(base: Node, power: fmpq) -> Node:
    if base.op == "constant":
        value: Value = base.extra
        return nodes.constant(_root_of(value, -power).inverse())
    inner = times(number(power), nodes.apply("log", base))
    return nodes.apply("exp", inner)


def _root_of(value: Value, power: fmpq) -> Value:
    """``value ** power`` for a power below 1, by square roots where they give it."""
    above, below = int(power.p), int(power.q)
    if below & (below - 1):
        return (rational(power) * value.log()).exp()
    root, result = value, ONE
    while below > 1:
        below //= 2
        root = root.sqrt()
        if above >= below:
            result, above = result * root, above - below
    return result


def angles(at: Node, d: int, base: Node) -> Node:
    """Positions, a vector, times the frequencies of d columns: a column for each pair."""
    turns = nodes.concat(tuple(Node("reshape", (x,), (1,)) for x in _frequencies(d, base)))
    return times(_column(at), turns)


def _interleaved(even: Node, odd: Node) -> Node:
    parts = ((part, c) for c in range(even.shape[1]) for part in (even, odd))
    return nodes.concat(tuple(column_of(*each) for each in parts))


@function(domains={"base": Domain(0, out=True)})
def positions(n: Size, d: Size, *, base: Node | None = None) -> Node:
    """Sinusoids: sin in even columns 2c, cos in odd ones, of p / base^(2c/d), base 10000."""
    nodes.need_room((n, d))
    turned = angles(counted(n), d, number(10000) if base is None else base)
    return _interleaved(nodes.apply("sin", turned), nodes.apply("cos", turned))
