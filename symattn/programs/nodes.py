"""The operations that programs are made of, and the shapes they take.

A :class:`Node` is one operation on matrices. Its nominal shape follows NumPy:
``()`` a scalar, ``(n,)`` a vector, ``(n, m)`` a matrix. Every arithmetic holds
it as a grid of rows and columns: a scalar is 1 by 1, a vector one row.

Each function below checks the shapes, says what doesn't fit, and returns the node.

Running a program in an arithmetic.

An arithmetic says what each operation does to its matrices; the same program runs in all of them:
entry by entry over any kind of scalar (:mod:`~symattn.programs.entrywise`), in polynomials
(:mod:`~symattn.programs.polynomials`), in balls (:mod:`~symattn.programs.enclosures`) and in floats
(:mod:`~symattn.programs.enclosures`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from math import prod
from typing import Any, Generic, Literal, Protocol, TypeVar

from symattn.errors import Malformed
from symattn.expressions.elementary import ELEMENTWISE, Elementwise
from symattn.expressions.shapes import Shape, chosen, grid, how_many, is_any, show
from symattn.expressions.syntax import Key, Tree
from symattn.limits import ENTRIES, Limit
from symattn.numbers.reading import Masked
from symattn.numbers.values import Value

#: Operations between two operands, entry by entry, with broadcasting. ``maximum`` is the
#: larger one; ``above`` is 1 where the first is the larger, else 0; to both a masked score is
#: less than every number.
Arithmetic = Literal["add", "subtract", "multiply", "divide", "maximum", "above"]

#: All operations that arithmetics know; others are written in these. ``given``, ``constant``,
#: ``table`` and ``triangle`` have no operands; ``scatter`` and ``spread`` occur in gradients only.
Op = (
    Literal["given", "constant", "table", "triangle", "copy", "reshape", "transpose", "negate"]
    | Arithmetic
    | Literal["matmul"]
    | Elementwise
    | Literal["softmax", "hide", "concat", "rowsum", "colsum", "rowmax", "total", "pick"]
    | Literal["scatter", "spread"]
)

#: Operations without operands.
SOURCES: tuple[Op, ...] = ("given", "constant", "table", "triangle")
#: Operations that only move entries: they put them beside others or zeros, or repeat them.
MOVING: tuple[Op, ...] = (
    "copy", "reshape", "transpose", "concat", "pick", "scatter", "spread",
)  # fmt: skip
#: Sums, by the axes that they are over: -1 along rows, -2 down columns.
SUMS: Mapping[str, tuple[int, ...]] = {"rowsum": (-1,), "colsum": (-2,), "total": (-1, -2)}
#: Operations that are linear maps of all their operands together.
LINEAR = frozenset({*MOVING, *SUMS, "negate", "add", "subtract"})

_serial = count()


@dataclass(frozen=True, eq=False)
class WrittenCall:
    """A call that a node was written as: what it computes stands below the node in
    operations that all arithmetics know.

    ``labels`` are the names of options that are operands, '' for others, ``options`` the rest
    by name, '' for those that are no options. ``given`` is all that it was called with, by
    parameter. ``back`` is the rule of its gradient, None where that is left to the operations
    below. A function ``is_own`` where the case defines it.
    """

    function: str
    operands: tuple[Node, ...]
    labels: tuple[str, ...]
    options: tuple[tuple[str, Tree], ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    back: Back | None = None
    is_own: bool = False


@dataclass(frozen=True, eq=False)
class Node:
    """One operation: what it does, to what, and the shape of the result.

    ``extra`` is what the operation needs besides its operands: the name of an input, the value of a
    constant, the keys of an index; ``written`` the call that it stands for. Operands always have
    smaller serial numbers, so sorting by them is an order of evaluation.
    """

    op: Op
    operands: tuple[Node, ...]
    shape: Shape
    extra: Any = None
    written: WrittenCall | None = None
    serial: int = field(default_factory=lambda: next(_serial))

    def __repr__(self) -> str:
        return f"<{self.op}: {show(self.shape)}>"

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns that the result is held in."""
        return grid(self.shape)


def arguments(node: Node) -> tuple[Node, ...]:
    """Return what a node was written with: the operands of a call, or its own."""
    return node.operands if node.written is None else node.written.operands


def built_in(node: Node) -> tuple[Node, ...]:
    """Return what a node was written with in functions that all cases know: of a call of one's own
    function what its body is made of."""
    return node.operands if node.written is None or node.written.is_own else node.written.operands


def ancestors(
    targets: Iterable[Node],
    stop: Callable[[Node], bool] = lambda node: False,
    through: Callable[[Node], tuple[Node, ...]] = lambda node: node.operands,
) -> list[Node]:
    """All nodes that the targets need, themselves included, in order; not those that ``stop``, nor
    what only they need. A node needs what it is reached ``through``, its operands."""
    nodes: dict[int, Node] = {}
    waiting = list(targets)
    while waiting:
        node = waiting.pop()
        if node.serial not in nodes and not stop(node):
            nodes[node.serial] = node
            waiting.extend(through(node))
    return [nodes[serial] for serial in sorted(nodes)]


def rebuilt(node: Node, operands: tuple[Node, ...]) -> Node:
    """The operation of a node on these operands; itself where they are its own."""
    same = all(x is y for x, y in zip(operands, node.operands, strict=True))
    return node if same else Node(node.op, operands, node.shape, node.extra)


def replaced(node: Node, put: Mapping[int, Node]) -> Node:
    """A node with others in the places of some that it is made of, by their serials."""
    known = dict(put)
    for part in ancestors([node], stop=lambda x: x.serial in known):
        known[part.serial] = rebuilt(part, tuple(known[x.serial] for x in part.operands))
    return known[node.serial]


#: How a gradient flows through a call: (node, what flows into it) to what flows into each operand.
Back = Callable[[Node, Node], "list[Node | None]"]


def given(name: str, shape: Shape) -> Node:
    """An input: its entries come from outside."""
    if shape and not all(shape):
        raise Malformed(f"{show(shape)} has no entries")
    need_room(shape)
    return Node("given", (), shape, name)


#: Entries that one quantity may have.
_ROOM = ContextVar("room", default=ENTRIES)


@contextmanager
def room(limit: Limit) -> Iterator[None]:
    """Another limit of the entries of one quantity, for programs whose runs were thought of.

    >>> with room(Limit(6, "{found}: too many")):
    ...     given("X", (2, 4))
    Traceback (most recent call last):
    symattn.errors.Malformed: 2x4: too many
    """
    before = _ROOM.set(limit)
    try:
        yield
    finally:
        _ROOM.reset(before)


def need_room(shape: Shape) -> None:
    """Raise :class:`Malformed` for a quantity of too many entries, before any is made."""
    limit = _ROOM.get()
    if not any(map(is_any, shape)) and prod(shape) > limit.most:
        raise Malformed(limit.said(show(shape)))


def constant(value: Value) -> Node:
    """A number written in the program."""
    return Node("constant", (), (), value)


def table(rows: tuple[tuple[Value | Masked, ...], ...], shape: Shape) -> Node:
    """Exact values that are known, by rows of the grid."""
    need_room(shape)
    return Node("table", (), shape, rows)


def copy(x: Node) -> Node:
    """The same values as a quantity of its own (``Q = X``)."""
    return Node("copy", (x,), x.shape)


def negate(x: Node) -> Node:
    """``-x``."""
    return Node("negate", (x,), x.shape)


#: Marks a maximum whose first operand takes the gradient where both are equal.
FIRST = "first"

#: Marks the product of a gradient with a factor: nothing flows through a masked
#: score, so the entry is 0 where the factor is one.
FLOW = "flow"


def elementwise(op: Arithmetic, x: Node, y: Node, extra: str | None = None) -> Node:
    """An operation between two operands, with broadcasting."""
    longer, shorter = sorted((x.shape, y.shape), key=len, reverse=True)
    padded = (1,) * (len(longer) - len(shorter)) + shorter
    if any(a != b and 1 not in (a, b) for a, b in zip(longer, padded, strict=True)):
        product = op == "multiply" and y.shape and x.shape[-1:] == y.shape[:1]
        hint = "; '*' goes entry by entry, the matrix product is '@'" if product else ""
        raise Malformed(f"shapes don't fit: {show(x.shape)} and {show(y.shape)}{hint}")
    shape = tuple(b if a == 1 else a for a, b in zip(longer, padded, strict=True))
    need_room(shape)
    return Node(op, (x, y), shape, extra)


def matmul(x: Node, y: Node) -> Node:
    """The matrix product; vectors as in NumPy."""
    if not x.shape or not y.shape:
        raise Malformed("'@' multiplies matrices or vectors, one side is a scalar: write '*'")
    inner = x.shape[-1], y.shape[0]
    if inner[0] != inner[1]:
        hint = ""
        if len(y.shape) == 2 and y.shape[1] == inner[0]:
            hint = "; the right side transposed (.T) would fit"
        raise Malformed(
            f"shapes don't fit: {show(x.shape)} @ {show(y.shape)} needs the {inner[0]} columns "
            f"on the left to meet as many rows on the right, found {inner[1]}{hint}"
        )
    shape = x.shape[:-1] + y.shape[1:]
    if len(y.shape) == 1:
        y = Node("transpose", (y,), (y.shape[0], 1))
    need_room(shape)
    rows, columns = x.grid[0], y.grid[1]
    product = Node("matmul", (x, y), (rows, columns))
    return _as(product, shape)


def _as(x: Node, shape: Shape) -> Node:
    """The same entries under another nominal shape."""
    if x.shape == shape:
        return x
    target = Node("reshape", (x,), shape)
    if target.grid == x.grid:
        return target
    return Node("reshape", (transpose(x),), shape)


def shaped(x: Node, shape: Shape) -> Node:
    """The same grid under another nominal shape."""
    return x if x.shape == shape else Node("reshape", (x,), shape)


def transpose(x: Node) -> Node:
    """``x.T``; a vector or a scalar is its own transpose, as in NumPy."""
    return Node("transpose", (x,), x.shape[::-1]) if len(x.shape) == 2 else x


def apply(op: Elementwise, x: Node) -> Node:
    """A function of every entry."""
    return Node(op, (x,), x.shape)


def softmax(x: Node) -> Node:
    """``exp(x_ij) / sum_k exp(x_ik)``, row by row."""
    if not x.shape:
        raise Malformed("softmax takes a row or a matrix of scores, found a scalar")
    return Node("softmax", (x,), x.shape)


def triangle(rows: int, columns: int) -> Node:
    """1 on and below the diagonal, 0 above: what a causal mask keeps."""
    return Node("triangle", (), (rows, columns))


def causal(x: Node) -> Node:
    """Scores of later positions (j > i) masked."""
    if len(x.shape) != 2:
        raise Malformed(f"causal takes a matrix of scores, found {show(x.shape)}")
    return Node("hide", (x, triangle(*x.shape)), x.shape)


def mask(x: Node, keep: Node) -> Node:
    """Scores where ``keep`` is 0 masked, the others kept."""
    shape = elementwise("multiply", x, keep).shape
    if shape != x.shape:
        raise Malformed(f"a mask of {show(keep.shape)} doesn't fit scores of {show(x.shape)}")
    return Node("hide", (x, keep), x.shape)


def concat(parts: tuple[Node, ...]) -> Node:
    """The parts side by side, along the last axis."""
    if not parts or not all(part.shape for part in parts):
        raise Malformed("concat takes matrices or vectors")
    if len({part.shape[:-1] for part in parts}) > 1:
        shapes = ", ".join(show(part.shape) for part in parts)
        raise Malformed(f"concat needs as many rows in every part, found {shapes}")
    if len(parts) == 1:
        return copy(parts[0])
    shape = (*parts[0].shape[:-1], sum(part.shape[-1] for part in parts))
    need_room(shape)
    return Node("concat", parts, shape)


def _reduced(op: Op, x: Node, shape: Callable[[int, int], Shape], hint: str) -> Node:
    if len(x.shape) < 2 or (op == "colsum" and len(x.shape) > 2):
        raise Malformed(f"{op} takes a matrix, found {show(x.shape)}: {hint}")
    return Node(op, (x,), (*x.shape[:-2], *shape(*x.shape[-2:])))


def rowsum(x: Node) -> Node:
    """The sum of each row, as a column."""
    return _reduced("rowsum", x, lambda rows, _: (rows, 1), "'total' sums a vector")


def colsum(x: Node) -> Node:
    """The sum of each column, as a row."""
    return _reduced("colsum", x, lambda _, columns: (1, columns), "'total' sums a vector")


def rowmax(x: Node) -> Node:
    """The largest entry of each row, as a column."""
    return _reduced("rowmax", x, lambda rows, _: (rows, 1), "'max' takes a vector too")


def total(x: Node) -> Node:
    """The sum of all entries."""
    return Node("total", (x,), ())


def index(x: Node, keys: tuple[Key, ...]) -> Node:
    """``x[keys]``: whole numbers and slices, as in NumPy."""
    plain = [k if isinstance(k, int) else slice(k.start, k.stop, k.step) for k in keys]
    shape, places = chosen(x.shape, plain)
    result = Node("pick", (x,), tuple(map(how_many, places)), places)
    return _as(result, shape)


def scatter(x: Node, places: tuple[range, range], shape: Shape) -> Node:
    """Zeros of ``shape`` with ``x`` at ``places``: the reverse of an index."""
    return Node("scatter", (x,), shape, places)


def spread(x: Node, shape: Shape) -> Node:
    """``x`` repeated to ``shape``: the reverse of a sum."""
    return x if x.shape == shape else Node("spread", (x,), shape)


def gathered(x: Node, shape: Shape) -> Node:
    """``x`` summed down to ``shape``: the reverse of broadcasting."""
    if x.shape == shape:
        return x
    rows, columns = grid(shape)
    if rows < x.grid[0] and columns < x.grid[1]:
        x = total(x)
    elif rows < x.grid[0]:
        x = Node("colsum", (x,), (1, x.grid[1]))
    elif columns < x.grid[1]:
        x = Node("rowsum", (x,), (x.grid[0], 1))
    assert x.grid == grid(shape), f"{show(x.shape)} is no sum down to {show(shape)}"
    return shaped(x, shape)


def weights_of_mean(node: Node) -> Node | None:
    """The softmax A of ``g - rowsum(A * g)``, the difference from a mean that flows into
    scores; None for any other node.

    Computed as it is written, nothing is left of it where one weight is nearly 1. Weights that
    are broadcast, a column say, sum to another number than 1: the product is no mean then.
    """
    if node.op != "subtract":
        return None
    x, mean = node.operands
    if mean.op == "reshape":
        mean = mean.operands[0]
    product = mean.operands[0] if mean.op == "rowsum" else None
    if product is None or product.op != "multiply" or x.grid != product.grid:
        return None
    if product.extra == FLOW:
        # Of masked scores that is 0, and there is no mean of them.
        return None
    for weights, of in (product.operands, product.operands[::-1]):
        if of is x and weights.op == "softmax" and weights.grid == product.grid:
            return weights
    return None


def sums_to_zero(node: Node, keys: Node | None = None) -> bool:
    """Return whether each row is known to sum to 0: that of ``A * (g - rowsum(A * g))``, what flows
    into the scores of a softmax A, with a mask that A has too, or scaled by a number. Where
    the rows of ``keys`` are equal, by any function of products with them, too.

    >>> from symattn.programs.program import differentiate
    >>> from symattn.programs.program import program
    >>> steps = {"S": "Q @ K.T", "A": "softmax(causal(S) / 2)"}
    >>> p = differentiate(program({"Q": (3, 3), "K": (3, 3)}, steps), "A")
    >>> sums_to_zero(p.gradients["S"]), sums_to_zero(p.gradients["A"])
    (True, False)
    """
    masks: list[Node] = []
    while node.op in ("copy", "divide", "multiply"):
        x, *factors = node.operands
        for side, other in (node.operands, node.operands[::-1]) if node.op == "multiply" else ():
            weights = weights_of_mean(side)
            if weights is other:
                masked = {mask.serial for mask in _masks(weights.operands[0])}
                return all(mask.serial in masked or _is_even(mask, keys) for mask in masks)
        if node.op == "multiply" and node.extra != FLOW and x.grid == (1, 1):
            x, factors = factors[0], [x]
        masks += [factor for factor in factors if factor.grid != (1, 1)]
        node = x
    return False


def _is_even(node: Node, keys: Node | None) -> bool:
    """Return whether the entries of each row are equal where the rows of ``keys`` are: what a soft
    cap's slopes are where all scores of a query are one."""
    if node.op == "matmul":
        right = node.operands[1]
        return right.op == "transpose" and right.operands[0] is keys
    if node.grid == (1, 1):
        return True
    return node.op in _ENTRYWISE and all(_is_even(x, keys) for x in node.operands)


#: Operations each of whose entries comes from the same entries of what they are given.
_ENTRYWISE = {*ELEMENTWISE, "copy", "negate", "add", "subtract", "multiply", "divide"}


def _masks(scores: Node) -> Iterator[Node]:
    """The masks that hide scores, and those below them that are scaled or added to."""
    while scores.op in ("copy", "hide", "divide", "multiply", "add", "subtract"):
        if scores.op == "hide":
            yield scores.operands[1]
        scores = scores.operands[0]


def factors_of(node: Node) -> tuple[Node, ...]:
    """The factors of a matrix product; of one that is masked, scaled row by row, or changed
    entry by entry alike, too: equal entries of a row stay equal. Else nothing."""
    while node.op != "matmul":
        if node.op not in ("copy", "hide", "tanh", "divide", "multiply"):
            return ()
        first, *others = node.operands
        if node.op == "multiply" and first.grid[1] == 1:
            first, others = others[0], [first]
        if node.op != "hide" and any(x.grid[1] != 1 for x in others):
            return ()
        node = first
    return node.operands


M = TypeVar("M")

#: What a node is without being computed: an input, or what stands for itself.
Leaf = Callable[[Node], "M | None"]


class RunArithmetic(Protocol[M]):
    """Arithmetic that a program can run in: one method for all operations.

    One that ``centres`` gets the weights of a mean as a third operand where something is subtracted
    from what it is the mean of (:func:`~symattn.programs.nodes.weights_of_mean`), and one that
    ``sees_factors`` then those of the matrix product that this is
    (:func:`~symattn.programs.nodes.factors_of`), as for a softmax.
    """

    centres: bool
    sees_factors: bool

    def apply(self, node: Node, operands: list[M]) -> M:
        """The result of ``node`` given those of its operands."""


class Run(Generic[M]):
    """A program in one arithmetic; results are kept, by node.

    ``leaf`` gives what is known of a node without computing it, or None.
    """

    def __init__(self, arithmetic: RunArithmetic[M], leaf: Leaf[M]) -> None:
        self.arithmetic = arithmetic
        self.leaf = leaf
        self._results: dict[int, M] = {}

    def __getitem__(self, node: Node) -> M:
        if node.serial not in self._results:
            # Operands first, one after the other: a program is too deep for recursion.
            for needed in ancestors([node], stop=self._is_known):
                self._results[needed.serial] = self.work(needed)
        return self._results[node.serial]

    def keep(self, node: Node, result: M) -> None:
        """Take what was computed elsewhere as the result of a node."""
        self._results[node.serial] = result

    def work(self, node: Node) -> M:
        """Return what a node's operation makes of its operands, be it a leaf or not."""
        return self.arithmetic.apply(node, [self[operand] for operand in self._operands(node)])

    def _is_known(self, node: Node) -> bool:
        if node.serial in self._results:
            return True
        if (known := self.leaf(node)) is not None:
            self._results[node.serial] = known
            return True
        return False

    def _operands(self, node: Node) -> tuple[Node, ...]:
        more: tuple[Node, ...] = ()
        weights = weights_of_mean(node) if self.arithmetic.centres else None
        if weights is not None:
            more = (weights,)
        if self.arithmetic.sees_factors and (weights is not None or node.op == "softmax"):
            more += factors_of(node.operands[0])
        return node.operands + more
