"""The runs of a program with its numbers, each made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import methodcaller
from typing import TypeVar

from flint import arb

from symattn.cases.case import Rows
from symattn.errors import Refuted
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.doubles import DoubleDouble
from symattn.numbers.reading import HIDDEN, Masked
from symattn.numbers.values import Value
from symattn.programs import enclosures, entrywise, pairs, pointwise, polynomials
from symattn.programs.enclosures import Enclosure
from symattn.programs.entrywise import LazyGrid
from symattn.programs.nodes import LINEAR, Leaf, Node, Op, Run, ancestors
from symattn.programs.polynomials import Held

M = TypeVar("M")


class Runs:
    """The runs of one program with its numbers: exact, in pairs of floats, and in balls
    at every precision asked for.

    ``base`` are runs of the same forward pass: what does not depend on
    ``apart``, the upstream gradient, is taken from them.
    """

    def __init__(self, base: Runs | None = None, apart: Node | None = None) -> None:
        self.inputs: dict[int, Rows] = {}
        self._base = base
        self._apart = apart
        self._degrees: dict[int, int] = {}
        self.polynomials: Run[Held | None] = Run(
            polynomials.PolynomialMatrices(),
            lambda node: self._known(node, polynomials.read, lambda runs: runs.polynomials),
        )
        self.exact: Run[LazyGrid[Value]] = Run(entrywise.exact(), self._given)
        self.pairs: Run[DoubleDouble] = Run(
            pairs.DoubleDoubleMatrices(),
            lambda node: self._known(node, pairs.enclose, lambda runs: runs.pairs),
        )
        self._balls: dict[int, _BallRun] = {}
        self._points: dict[int, Run[LazyGrid[arb]]] = {}

    def _known(
        self, node: Node, read: Callable[[Rows], M], run: Callable[[Runs], Run[M]]
    ) -> M | None:
        """What a node is without being computed: an input, or what ``base`` has computed."""
        rows = self.inputs.get(node.serial)
        if rows is not None:
            return read(rows)
        return run(self._base)[node] if self._base and not self.degree(node) else None

    def _given(self, node: Node) -> LazyGrid[Value] | None:
        known = self._known(node, entrywise.grid, lambda runs: runs.exact)
        if known is not None:
            return known
        quotients = polynomials.quotients(self.polynomials[node])
        if quotients is None:
            return None
        check = self._check
        return LazyGrid(*node.grid, lambda i, j: quotients.at(i, j, partial(check, node, i, j)))

    def _check(self, node: Node, i: int, j: int, ball: arb) -> None:
        """:class:`Refuted` where an entry is another number than in the run in balls: two
        walks over the program, with generic numbers for symbols."""
        near = self.balls(FIRST)[node].matrix[i, j]
        # A ball without bound says nothing.
        if near.is_finite() and ball.is_finite() and not near.overlaps(ball):
            raise Refuted(f"entry [{i}, {j}] is {ball} exactly, in balls {near}")

    def degree(self, node: Node) -> int:
        """How a node depends on the upstream gradient: 0 not at all, 1 as a
        linear map does, 2 in another way."""
        for needed in ancestors([node], stop=lambda x: x.serial in self._degrees):
            below = [self._degrees[x.serial] for x in needed.operands]
            self._degrees[needed.serial] = int(needed is self._apart) or _degree(needed.op, below)
        return self._degrees[node.serial]

    def entries(self, node: Node) -> Callable[[int, int], Value | Masked]:
        """The exact entries of a node, each held against the run in balls.

        :class:`Refuted` where they differ, which would be a fault of this package.
        """

        def entry(i: int, j: int) -> Value | Masked:
            value = self.exact[node].at(i, j)
            # A form that waits is held against them before it is used.
            if isinstance(value, Value) and not value.waits:
                self._check(node, i, j, value.enclosure(FIRST))
            return value

        return entry

    def balls(self, bits: int) -> Run[Enclosure]:
        """The run in balls at ``bits`` bits."""
        if bits not in self._balls:
            read, run = partial(enclosures.enclose, bits=bits), methodcaller("balls", bits)
            self._balls[bits] = _BallRun(bits, lambda node: self._known(node, read, run))
        return self._balls[bits]

    def point(self, node: Node, i: int, j: int, bits: int) -> arb:
        """Entry (i, j) of a node in a ball of its own, computed at ``bits`` bits."""
        if bits not in self._points:
            leaf = partial(self._pointed, bits=bits)
            self._points[bits] = Run(pointwise.EntrywiseBalls(self._keeps), leaf)
        with precision(bits):
            ball = self._points[bits][node].number(i, j)
        return ball

    def _pointed(self, node: Node, bits: int) -> LazyGrid[arb] | None:
        rows = self.inputs.get(node.serial)
        if rows is not None:
            return pointwise.balls(rows)
        if self._base is None or self.degree(node):
            return None
        base, grid = self._base, node.grid
        return LazyGrid(*grid, lambda i, j: base.point(node, i, j, bits))

    def _keeps(self, node: Node, i: int, j: int, mask: object) -> bool:
        return self.exact[node].at(i, j) is not HIDDEN


def _degree(op: Op, below: list[int]) -> int:
    if not any(below):
        return 0
    if op in ("multiply", "matmul"):
        return min(2, sum(below))
    if op == "divide":
        return 2 if below[1] else below[0]
    return 1 if op in LINEAR and set(below) == {1} else 2


class _BallRun(Run[Enclosure]):
    """A run in balls, every step of it at the same precision."""

    def __init__(self, bits: int, leaf: Leaf[Enclosure]) -> None:
        self.bits = bits
        super().__init__(enclosures.BallMatrices(), leaf)

    def __getitem__(self, node: Node) -> Enclosure:
        with precision(self.bits):
            return super().__getitem__(node)
