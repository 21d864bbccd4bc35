"""Articles that the reader was not developed with: their marks say the truth.

Their floors are what was read of them at first sight: nothing is adapted to them.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from symattn.solution.solution import solve
from tests.documents import marks
from tests.documents.measure import measure

UNSEEN = Path(__file__).with_name("unseen")
#: As those of the articles that the reader was developed with (test_corpus): the share of
#: figures bound and slips found at least; at most so many numbers that claim nothing are
#: judged, figures bound wrongly, right ones refuted.
FLOORS = {
    "atencion-a-mano.html": (0.58, 4, 0, 0, 0),
    "attention_by_hand.ipynb": (0.94, 2, 0, 1, 0),
    "aufmerksamkeit.md": (0.9, 3, 1, 0, 0),
    "bank-of-the-river.md": (0.67, 2, 0, 4, 0),
    "causal-loop.ipynb": (0.53, 3, 0, 0, 0),
    "column-tokens.md": (0.46, 0, 0, 4, 0),
    "fenced-math-readme.md": (0.75, 1, 0, 0, 0),
    "forum-why-not-half.txt": (0.25, 3, 0, 0, 0),
    "grad-check.ipynb": (0.44, 3, 2, 3, 0),
    "head-by-head.md": (0.59, 1, 0, 0, 0),
    "homework-3-solutions.tex": (0.68, 4, 0, 0, 0),
    "lecture-slides.html": (0.31, 0, 1, 0, 0),
    "linear-layers.ipynb": (0.75, 2, 0, 3, 0),
    "pandoc-handout.md": (0.82, 3, 0, 1, 0),
    "pasted-from-chat.md": (0.58, 3, 0, 0, 0),
    "poly-attention.tex": (0.6, 4, 0, 6, 0),
    "quiz-answers.md": (0.9, 4, 0, 0, 0),
    "quoted-papers.tex": (0.77, 4, 0, 0, 0),
    "readme-tinyattn.md": (0.83, 4, 0, 0, 0),
    "study-group.txt": (0.33, 2, 0, 0, 0),
    "transposed-notes.tex": (0.58, 1, 0, 1, 0),
    "two-sentences.html": (0.44, 0, 0, 1, 0),
    "unscaled-giants.md": (0.0, 2, 0, 0, 0),
    "whole-numbers.md": (0.22, 0, 0, 0, 0),
}
PATHS = {path.stem: path for path in marks.documents(UNSEEN)}


@pytest.mark.sampled(1, 6)
@pytest.mark.parametrize("name", FLOORS)
def test_unseen_articles_are_read_as_well_as_ever(name):
    """And no right figure of theirs is refuted."""
    bound, slips, judged, wrong, alarms = FLOORS[name]
    measured = measure(marks.load(PATHS[name]))
    assert measured.error == ""
    assert measured.bound >= bound
    assert measured.caught >= slips
    assert len(measured.faults.judged) <= judged
    assert len(measured.faults.wrong) <= wrong
    assert len(measured.faults.alarms) <= alarms


def test_every_unseen_article_has_its_floor():
    """And none of the floors lets a right figure be refuted."""
    assert sorted(FLOORS) == sorted(PATHS)
    assert all(alarms == 0 for *_, alarms in FLOORS.values())


@pytest.mark.sampled(11)
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
