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

    def __init__(
        self, scores: Quantity, weights: Quantity, empty: Flags, kept: dict[str, DoubleDouble]
    ) -> None:
        super().__init__(self._entry)
        self._scores = scores
        self._weights = weights
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
            scores, weights = self._scores.source.pairs(), self._weights.source.pairs()
            if scores is None or weights is None:
                return None
            self._kept["lse"] = log_sum_pairs(scores, weights, self._empty)
        return self._kept["lse"]

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


def log_sum_pairs(scores: DoubleDouble, weights: DoubleDouble, empty: Flags) -> DoubleDouble:
    """Pairs around the log-sum-exps, as one row: ``x - log(a)`` for the largest score x of each
    row and its weight a, which is no less than one over the number of keys."""
    largest = np.argmax(scores.high, axis=-1)[:, None]
    score, weight = (
        x.map(lambda part: np.take_along_axis(part, largest, -1).T) for x in (scores, weights)
    )
    with np.errstate(all="ignore"):
        sums = double_double.add(score, double_double.negative(series.log(weight)))
    return DoubleDouble(
        np.where(empty, -np.inf, sums.high),
        np.where(empty, 0.0, sums.low),
        np.where(empty, 0.0, sums.error),
    )


def log_sums(head: Solution) -> Quantity:
    """``log(rowsum(exp(M)))`` of a head, a number for each query; its sink takes part. For a
    query that sees no key it is masked, minus infinity.

    >>> from symattn import attention
    >>> log_sums(attention([[1]], [[0], [0]], [[1], [2]], scale=1).solution).at(0)
    log(2)
    """
    scores = head["concat(M, sink)" if "sink" in head else "M"]
    weights = head["W" if "W" in head else "A"]
    live = head["live"].nearest()[:, 0] if "live" in head else np.ones(scores.shape[0])

    def put(numbers: Mapping[str, object]) -> Quantity:
        return log_sums(head.at(**numbers))

    return Quantity(
        "lse",
        (scores.shape[0],),
        _LogSums(scores, weights, live == 0, head.kept),
        head.case.rounding,
        scores.letters,
        put=put if scores.is_open else None,
    )
