"""The runs of a program with its numbers, each made when it is asked for.

Where the entries of a quantity come from: exact, and enclosed ever more closely.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import lru_cache, partial
from itertools import chain
from math import prod
from operator import methodcaller
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from flint import arb

from symattn.cases.case import Rows
from symattn.errors import Refuted
from symattn.limits import PACKED_FEW
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.double_double import DoubleDouble, joined
from symattn.numbers.reading import MASKED, Masked
from symattn.numbers.values import Value
from symattn.programs import double_double, enclosures, entrywise, polynomials
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
        self._lettered: dict[int, bool] = {}
        self.polynomials: Run[Held | None] = Run(
            polynomials.PolynomialMatrices(),
            lambda node: self._known(node, polynomials.read, lambda runs: runs.polynomials),
        )
        self.exact: Run[LazyGrid[Value]] = Run(entrywise.exact(), self._given)
        self.pairs: Run[DoubleDouble] = Run(
            double_double.DoubleDoubleMatrices(),
            lambda node: self._known(node, double_double.enclose, lambda runs: runs.pairs),
        )
        self._balls: dict[int, _BallRun] = {}
        self._points: dict[int, Run[LazyGrid[arb]]] = {}

    def _known(
        self, node: Node, read: Callable[[Rows], M], run: Callable[[Runs], Run[M]]
    ) -> M | None:
        """Return what a node is without being computed: an input, or what ``base`` has computed."""
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

    def is_finite(self, node: Node) -> bool:
        """Return whether all entries are numbers, as polynomials or floats show at once."""
        if prod(node.grid) <= PACKED_FEW and self.polynomials[node] is not None:
            return True
        return bool(np.isfinite(self.pairs[node].error).all())

    def _check(self, node: Node, i: int, j: int, ball: arb) -> None:
        """:class:`Refuted` where an entry is another number than in the run in balls: two
        walks over the program, with generic numbers for symbols."""
        near = self.balls(FIRST)[node].matrix[i, j]
        # A ball without bound says nothing.
        if near.is_finite() and ball.is_finite() and not near.overlaps(ball):
            raise Refuted(f"entry [{i}, {j}] is {ball} exactly, in balls {near}")

    def degree(self, node: Node) -> int:
        """Return how a node depends on the upstream gradient: 0 not at all, 1 as a
        linear map does, 2 in another way."""
        for needed in ancestors([node], stop=lambda x: x.serial in self._degrees):
            below = [self._degrees[x.serial] for x in needed.operands]
            self._degrees[needed.serial] = int(needed is self._apart) or _degree(needed.op, below)
        return self._degrees[node.serial]

    def has_letters(self, node: Node, lettered: Container[int]) -> bool:
        """Return whether a node depends on one of those that are given in letters."""
        for needed in ancestors([node], stop=lambda x: x.serial in self._lettered):
            self._lettered[needed.serial] = needed.serial in lettered or any(
                self._lettered[x.serial] for x in needed.operands
            )
        return self._lettered[node.serial]

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
        with precision(bits):
            ball = self._points_at(bits)[node].number(i, j)
        return ball

    def _points_at(self, bits: int) -> Run[LazyGrid[arb]]:
        """The run in balls at ``bits`` bits that are computed one by one."""
        if bits not in self._points:
            arithmetic = enclosures.EntrywiseBalls(
                lambda node, i, j, mask: self.exact[node].at(i, j) is not MASKED
            )
            read, run = arithmetic.read, methodcaller("_points_at", bits)
            self._points[bits] = Run(arithmetic, lambda node: self._known(node, read, run))
        return self._points[bits]


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
        if node.serial in self._results:
            return self._results[node.serial]
        with precision(self.bits):
            return super().__getitem__(node)


class EntrySource:
    """The entries of a grid, by rows and columns; here only their exact values are known.

    >>> from symattn.numbers.values import ONE
    >>> source = EntrySource(lambda i, j: ONE.exp())
    >>> source.point(0, 0, 64) > 2.7, source.pairs() is None
    (True, True)
    """

    #: Which entries are not numbers, in the shape of the grid; None: all are.
    undefined: npt.NDArray[np.bool_] | None = None

    def __init__(self, entry: Callable[[int, int], Value | Masked]) -> None:
        self.entry = entry

    def pairs(self) -> DoubleDouble | None:
        """Pairs of floats around all entries, in the shape of the grid; None where only the
        exact values tell."""
        return None

    def balls(self, bits: int) -> Sequence[arb | None] | None:
        """Balls around all entries, row by row, at ``bits`` bits; None for a masked score,
        and for all where only the exact values tell."""
        return None

    def balls_at(self, bits: int, places: Sequence[int]) -> Sequence[arb | None] | None:
        """:meth:`balls` around the entries at some places, counted row by row."""
        balls = self.balls(bits)
        return None if balls is None else [balls[place] for place in places]

    def is_masked(self, i: int, j: int) -> bool:
        """Return whether an entry is a masked score, where no ball tells."""
        return self.entry(i, j) is MASKED

    def point(self, i: int, j: int, bits: int) -> arb:
        """A ball around one entry that is no masked score, at ``bits`` bits."""
        value = self.entry(i, j)
        assert isinstance(value, Value)
        return value.ball(bits)


class ComputedSource(EntrySource):
    """The entries of a node of a program, without symbols."""

    def __init__(self, runs: Runs, node: Node) -> None:
        super().__init__(runs.entries(node))
        self._runs, self._node = runs, node
        self.balls = lru_cache(maxsize=4)(self._balls)  # type: ignore[method-assign]

    def pairs(self) -> DoubleDouble:
        """See :meth:`EntrySource.pairs`."""
        return self._runs.pairs[self._node]

    def _balls(self, bits: int) -> Sequence[arb | None]:
        return self._runs.balls(bits)[self._node].flat

    def point(self, i: int, j: int, bits: int) -> arb:
        """See :meth:`EntrySource.point`."""
        ball = self._runs.point(self._node, i, j, bits)
        # Of a mask that is computed, balls don't tell what it keeps, nor of what cancels what
        # is left: the exact value does.
        if ball.is_finite() and (ball.is_zero() or not ball.contains(0)):
            return ball
        return super().point(i, j, bits)


class GatheredSource(EntrySource):
    """Entries of other sources, of grids of one shape, counted row by row through one after the
    other: those at ``places``, in their shape, or all. ``undefined`` are those of all.

    >>> from symattn.numbers.values import ONE, ZERO
    >>> two = [EntrySource(lambda i, j, x=x: x) for x in (ZERO, ONE)]
    >>> GatheredSource(two, (1, 1)).entry(1, 0), GatheredSource(two, (1, 1), [[1, 0]]).entry(0, 0)
    (1, 1)
    """

    def __init__(
        self,
        parts: Sequence[EntrySource],
        grid: tuple[int, int],
        places: npt.ArrayLike | None = None,
        undefined: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        super().__init__(self._entry)
        self._parts, self._columns, self._size = parts, grid[1], prod(grid)
        self._places = None if places is None else np.asarray(places)
        self.undefined = None if undefined is None else self._of(undefined)

    def _of(self, whole: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Of an array of all entries those that are here."""
        return whole if self._places is None else whole.ravel()[self._places]

    def _at(self, i: int, j: int) -> tuple[EntrySource, int, int]:
        """The source of an entry, and where it is there."""
        place = i * self._columns + j if self._places is None else int(self._places[i, j])
        part, place = divmod(place, self._size)
        return self._parts[part], *divmod(place, self._columns)

    def _entry(self, i: int, j: int) -> Value | Masked:
        source, k, l = self._at(i, j)
        return source.entry(k, l)

    def pairs(self) -> DoubleDouble | None:
        """See :meth:`EntrySource.pairs`."""
        parts = [part.pairs() for part in self._parts]
        known = [pairs for pairs in parts if pairs is not None]
        return joined(known, 0).map(self._of) if len(known) == len(parts) else None

    def balls(self, bits: int) -> Sequence[arb | None] | None:
        """See :meth:`EntrySource.balls`."""
        if self._places is not None:
            return self.balls_at(bits, range(self._places.size))
        parts = [part.balls(bits) for part in self._parts]
        known = [balls for balls in parts if balls is not None]
        return [*chain.from_iterable(known)] if len(known) == len(parts) else None

    def balls_at(self, bits: int, places: Sequence[int]) -> Sequence[arb | None] | None:
        """See :meth:`EntrySource.balls_at`: only of the parts where these places are."""
        if self._places is not None:
            places = self._places.ravel()[places].tolist()
        of_part: dict[int, list[int]] = {}
        for place in places:
            of_part.setdefault(place // self._size, []).append(place)
        found: dict[int, arb | None] = {}
        for part, some in of_part.items():
            balls = self._parts[part].balls_at(bits, [place % self._size for place in some])
            if balls is None:
                return None
            found |= zip(some, balls, strict=True)
        return [found[place] for place in places]

    def point(self, i: int, j: int, bits: int) -> arb:
        """See :meth:`EntrySource.point`."""
        source, k, l = self._at(i, j)
        return source.point(k, l, bits)
