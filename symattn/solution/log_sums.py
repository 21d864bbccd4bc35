"""The logarithm of the sum of exponentials of each row of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from flint import arb

from symattn.numbers import double_double, series
from symattn.numbers.balls import precision
from symattn.numbers.double_double import DoubleDouble
from symattn.numbers.reading import MASKED, Masked
from symattn.numbers.values import Value, total
from symattn.solution.quantity import Quantity
from symattn.solution.runs import EntrySource
from symattn.solution.solution import Solution

Flags = npt.NDArray[np.bool_]


class _LogSums(EntrySource):
    """The entries of ``log(rowsum(exp(scores)))``, scores possibly masked, as one row; those
    of rows that see no key are masked."""

    def __init__(self, scores: Quantity, empty: Flags, kept: dict[str, DoubleDouble]) -> None:
        super().__init__(self._entry)
        self._scores = scores
        self._empty = empty
        self._kept = kept

    def _entry(self, i: int, j: int) -> Value | Masked:
        if self._empty[j]:
            return MASKED
        row = (self._scores.entry(j, k) for k in range(self._scores.grid[1]))
        return total(score.exp() for score in row if isinstance(score, Value)).log()

    def pairs(self) -> DoubleDouble | None:
        """See :meth:`EntrySource.pairs`."""
        if "lse" not in self._kept:
            scores = self._scores.source.pairs()
            if scores is None:
                return None
            self._kept["lse"] = self._of(scores)
        return self._kept["lse"]

    def _of(self, scores: DoubleDouble) -> DoubleDouble:
        with np.errstate(all="ignore"):
            largest = np.max(scores.high, axis=-1, keepdims=True)
            shift = double_double.exact(np.where(np.isfinite(largest), largest, 0.0))
            powers = series.exp(double_double.add(scores, double_double.negative(shift)))
            sums = series.log(double_double.total(powers, -1))
            logs = double_double.add(sums, shift).map(lambda part: part.reshape(1, -1))
        return DoubleDouble(
            np.where(self._empty, -np.inf, logs.high),
            np.where(self._empty, 0.0, logs.low),
            np.where(self._empty, 0.0, logs.error),
        )

    def balls(self, bits: int) -> Sequence[arb | None] | None:
        """See :meth:`EntrySource.balls`."""
        scores = self._scores.source.balls(bits)
        if scores is None:
            return None
        rows, columns = self._scores.grid
        with precision(bits):
            lines = (scores[i * columns : (i + 1) * columns] for i in range(rows))
            powers = ([x.exp() for x in line if x is not None] for line in lines)
            sums = [sum(row, arb(0)).log() for row in powers]
        return [None if empty else x for x, empty in zip(sums, self._empty, strict=True)]


def log_sums(head: Solution) -> Quantity:
    """``log(rowsum(exp(M)))`` of a head, a number for each query; its sink takes part. For a
    query that sees no key it is masked, minus infinity.

    >>> from symattn import attention
    >>> log_sums(attention([[1]], [[0], [0]], [[1], [2]], scale=1).solution).at(0)
    log(2)
    """
    scores = head["concat(M, sink)" if "sink" in head else "M"]
    live = head["live"].nearest()[:, 0] if "live" in head else np.ones(scores.shape[0])

    def put(numbers: Mapping[str, object]) -> Quantity:
        return log_sums(head.at(**numbers))

    return Quantity(
        "lse",
        (scores.shape[0],),
        _LogSums(scores, live == 0, head.kept),
        head.case.rounding,
        scores.letters,
        put=put if scores.is_open else None,
    )
