"""Where the entries of a quantity come from: exact, and enclosed ever more closely."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import arb

from symattn.numbers.doubles import DoubleDouble, joined
from symattn.numbers.reading import Masked
from symattn.numbers.values import Value
from symattn.programs.nodes import Node
from symattn.solution.runs import Runs


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
        enclosure = self._runs.balls(bits)[self._node]
        flat: list[arb | None] = [*enclosure.matrix.entries()]
        for place in enclosure.hidden:
            flat[place] = None
        return flat

    def point(self, i: int, j: int, bits: int) -> arb:
        """See :meth:`EntrySource.point`."""
        ball = self._runs.point(self._node, i, j, bits)
        # Of a mask that is computed, balls don't tell what it keeps, nor of what cancels what
        # is left: the exact value does.
        if ball.is_finite() and (ball.is_zero() or not ball.contains(0)):
            return ball
        return super().point(i, j, bits)


class PartialSource(EntrySource):
    """Some entries of another source: those at ``flat``, of which ``across`` make a row."""

    def __init__(
        self, whole: EntrySource, flat: Sequence[tuple[int, int]], across: int, columns: int
    ) -> None:
        super().__init__(lambda i, j: whole.entry(*flat[i * across + j]))
        self._whole, self._flat, self._across = whole, flat, across
        self._places = [i * columns + j for i, j in flat]
        if whole.undefined is not None:
            self.undefined = self._of(whole.undefined)

    def pairs(self) -> DoubleDouble | None:
        """See :meth:`EntrySource.pairs`."""
        pairs = self._whole.pairs()
        if pairs is None:
            return None
        return pairs.map(self._of)

    def _of(self, grid: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return grid.ravel()[self._places].reshape(-1, self._across)

    def balls(self, bits: int) -> Sequence[arb | None] | None:
        """See :meth:`EntrySource.balls`."""
        balls = self._whole.balls(bits)
        return None if balls is None else [balls[place] for place in self._places]

    def point(self, i: int, j: int, bits: int) -> arb:
        """See :meth:`EntrySource.point`."""
        return self._whole.point(*self._flat[i * self._across + j], bits)


class StackedSource(EntrySource):
    """Sources of grids of one shape, one below the other."""

    def __init__(
        self,
        parts: Sequence[EntrySource],
        grid: tuple[int, int],
        undefined: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        super().__init__(lambda i, j: parts[i // grid[0]].entry(i % grid[0], j))
        self._parts, self._rows = parts, grid[0]
        self.undefined = undefined

    def pairs(self) -> DoubleDouble | None:
        """See :meth:`EntrySource.pairs`."""
        parts = [part.pairs() for part in self._parts]
        known = [pairs for pairs in parts if pairs is not None]
        return joined(known, 0) if len(known) == len(parts) else None

    def balls(self, bits: int) -> Sequence[arb | None] | None:
        """See :meth:`EntrySource.balls`."""
        parts = [part.balls(bits) for part in self._parts]
        known = [balls for balls in parts if balls is not None]
        return [*chain.from_iterable(known)] if len(known) == len(parts) else None

    def point(self, i: int, j: int, bits: int) -> arb:
        """See :meth:`EntrySource.point`."""
        return self._parts[i // self._rows].point(i % self._rows, j, bits)
