"""Articles that the reader was not developed with: their marks say the truth.

How well they are read is measured elsewhere; here is no floor, so that nothing is
adapted to them.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from symattn.solution.solution import solve
from tests.documents import marks

UNSEEN = Path(__file__).with_name("unseen")


@pytest.mark.parametrize("path", marks.documents(UNSEEN), ids=lambda path: path.stem)
def test_the_marks_say_the_truth(path):
    """Figures are their expressions' values as rounded where they stand; slips are not, but
    what corrects them is. Each article has figures enough, and a few slips."""
    loaded = marks.load(path)
    truth = solve(loaded.truth)
    wrong = []
    for mark in loaded.marks:
        right = mark.correct or mark.printed
        if mark.is_slip and marks.number(mark.printed).value == marks.number(right).value:
            wrong.append((loaded.place(mark.start), mark))
        if mark.expression and not _rounds(truth[mark.expression], right):
            wrong.append((loaded.place(mark.start), mark))
    assert not wrong
    assert len(loaded.marks) >= 30
    assert len(loaded.slips) >= 3


def test_every_truth_is_that_of_an_article():
    """No case file is left over."""
    truths = sorted(marks.load(path).truth for path in marks.documents(UNSEEN))
    assert truths == sorted(UNSEEN.glob("*.toml"))


def _rounds(quantity, figure):
    """Whether the quantity rounds to the figure at its unit; on a tie, either way."""
    printed = marks.number(figure)
    places = -int((Decimal(int(printed.unit.p)) / int(printed.unit.q)).log10())
    shown = Decimal(printed.count).scaleb(-places)
    if places < 0:
        digits = quantity.significant(printed.digits)
        return Decimal(str(digits)) == shown
    return shown in [quantity.decimal(places, mode) for mode in ("half-up", "half-down")]
