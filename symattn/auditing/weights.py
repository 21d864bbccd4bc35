"""What each figure of a document says for an edit of its recipe, or against one, in bits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import log2

import numpy as np
from flint import fmpq

from symattn.auditing.figures import Figure
from symattn.auditing.model import Flags, Model, Predicted, floating
from symattn.auditing.pen import pen_slips
from symattn.verdicts import Verdict

#: One figure says no more; and alone no more than this, as it may be a miswriting.
MOST, ALONE = 16.0, 10.0
#: What a figure says that is the right one with a slip of the pen.
PEN = 6.0
#: What is off at least where a masked score stands for a number, or a number for one.
_MASKED = 2.0
#: An edit meets a figure as far as floats tell.
_SLACK = 0.5 + 1e-9


class Weights:
    """The figures of a document as evidence.

    A wrong figure that an edit gives counts by its distance from the truth, in
    units of the last digit that tells it from others: that an edit which changes
    it so much should give just this figure has a chance of one to so many.
    ``free`` are figures that say nothing: they follow from others that are
    printed; any other wrong one says ``least`` bits. ``origins`` tells from which
    wrong ones a propagated figure comes; ``cuts`` whether the document cuts figures
    off instead of rounding them.
    """

    def __init__(
        self,
        model: Model,
        free: Sequence[bool],
        origins: Mapping[int, Sequence[int]],
        cuts: bool,
        least: float = 0.0,
    ) -> None:
        self._places = model.recipe.places
        self._keys = [(node.serial, i, j) for node, i, j in self._places]
        self._origins = {figure: list(of) for figure, of in origins.items() if of}
        figures = model.recipe.figures
        numbers = [figure.printed for figure in figures]
        # None is printed for a masked score.
        self.printed = np.array([floating(item.value) if item else -np.inf for item in numbers])
        self.unit = np.array([floating(item.unit) if item else 1.0 for item in numbers])
        self.true = model.true
        verdicts = [figure.verdict for figure in figures]
        self.refuted: Flags = np.array([item is Verdict.REFUTED for item in verdicts], bool)
        vacuous = np.array([figure.vacuous for figure in figures], bool)
        self.held: Flags = ~vacuous & [item is Verdict.HOLDS for item in verdicts]
        # A number where a score is masked tells by its digits alone.
        true = np.where(np.isneginf(self.true), 0.0, self.true)
        off = np.abs(self.printed - true) / np.array(list(map(_telling_unit, figures)))
        off = np.where(np.isfinite(off), off, _MASKED)
        off = np.where(np.isneginf(self.true), np.maximum(off, _MASKED), off)
        self.bits = np.where(self.refuted, np.minimum(np.log2(2 * off + 1), MOST), 0.0)
        pen = np.array([any(True for _ in pen_slips(figure)) for figure in figures], bool)
        self.bits[pen] = np.minimum(self.bits[pen], PEN)
        self.bits[self.refuted] = np.maximum(self.bits[self.refuted], least)
        self.bits[np.array(free, bool)] = 0.0
        # Where a document cuts off there is half as much again that gives a figure.
        self.cuts = cuts
        if cuts:
            self.bits = np.maximum(self.bits - log2(1.5), 0.0)
        self._sign = np.where(self.printed < 0, -1.0, 1.0)
        # What is printed several times says it once.
        seen = set()
        for figure in np.flatnonzero(self.bits):
            if self._keys[figure] in seen:
                self.bits[figure] = 0.0
            seen.add(self._keys[figure])

    def changed(self, predicted: Predicted, base: Predicted) -> Flags:
        """The figures that would be printed otherwise than without the edit."""
        apart = np.rint(predicted / self.unit) != np.rint(base / self.unit)
        return np.asarray(apart & (self.refuted | self.held))

    def given(self, predicted: Predicted) -> Flags:
        """The figures that come out as printed."""
        off = predicted - self.printed
        near = np.abs(off) <= self.unit * _SLACK
        if self.cuts:
            beyond = off * self._sign / self.unit
            near |= (beyond > 0) & (beyond < 1 - 1e-9)
        return np.asarray(near | (predicted == self.printed))

    def beside(self, reproduced: Flags) -> Flags:
        """The figures of entries that are also printed as these are: where a document
        contradicts itself, no recipe gives both."""
        same = {self._keys[figure] for figure in np.flatnonzero(reproduced)}
        return np.array([key in same for key in self._keys], bool)

    def following(self, reproduced: Flags) -> Flags:
        """The wrong figures that are propagated from reproduced ones alone."""
        propagated = np.zeros_like(reproduced)
        for figure, origins in self._origins.items():
            propagated[figure] = reproduced[origins].all()
        return np.asarray(propagated & ~reproduced)

    def gain(self, predicted: Predicted, counted: Flags) -> float:
        """The bits of figures, less those that follow from the others of their row: where a
        row that is printed whole has the same sum as ever, its last figure is no news."""
        bits = np.where(counted, self.bits, 0.0)
        rows = defaultdict(list)
        for figure in np.flatnonzero(bits):
            node, i, _ = self._places[figure]
            rows[node, i].append(figure)
        for (node, i), those in rows.items():
            if len(those) > 1 and self._has_fixed_sum(predicted, node.serial, i, node.grid[1]):
                bits[min(those, key=lambda figure: bits[figure])] = 0.0
        gain = float(bits.sum())
        return min(gain, ALONE) if np.count_nonzero(bits) == 1 else gain

    def _has_fixed_sum(self, predicted: Predicted, serial: int, row: int, columns: int) -> bool:
        by_column = {
            j: figure for figure, (of, i, j) in enumerate(self._keys) if (of, i) == (serial, row)
        }
        places = list(by_column.values())
        apart = predicted[places].sum() - self.true[places].sum()
        return len(by_column) == columns and bool(abs(apart) <= 1e-9)


def _telling_unit(figure: Figure) -> float:
    """The unit of the last digit that tells a figure from others: final zeros do not."""
    if figure.printed is None:
        return 1.0
    digits = str(abs(figure.printed.count))
    zeros = len(digits) - len(digits.rstrip("0")) if digits.strip("0") else 0
    return floating(figure.printed.unit * fmpq(10) ** zeros)
