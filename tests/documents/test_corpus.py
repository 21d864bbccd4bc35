"""How well the worked examples are read: floors that can only be raised."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents import marks
from tests.documents.measure import measure

CORPUS = Path(__file__).parent / "corpus"
#: Documents of other authors and house styles, in which more is still misread.
FURTHER = Path(__file__).parent / "further"
#: For each document, at least this share of the figures of quantities is bound to them, at
#: least so many slips are found; at most so many numbers that claim nothing are judged, so
#: many figures are bound wrongly, and so many right ones refuted.
FLOORS = {
    "a-reader-of-maps.qmd": (0.99, 5, 0, 0, 0),
    "attention-from-scratch.ipynb": (0.91, 2, 0, 0, 0),
    "bees-love-thyme.md": (1.0, 7, 0, 0, 0),
    "decoder-step.html": (0.97, 4, 0, 0, 0),
    "masked-lecture.tex": (0.97, 5, 4, 0, 0),
    "night-train-copy.txt": (0.97, 4, 0, 0, 0),
    "pocket-guide.md": (1.0, 5, 0, 0, 0),
    "rain-appendix.tex": (0.93, 5, 0, 0, 0),
    "rain-falls-softly.md": (0.97, 5, 0, 0, 0),
    "tables-page.html": (0.96, 5, 0, 0, 0),
    "what-a-dog-attends-to.md": (0.96, 5, 0, 0, 0),
    "answer-two-tokens.md": (0.93, 5, 0, 0, 0),
    "backprop-one-head.md": (0.97, 6, 1, 0, 0),
    "cross-attention.ipynb": (0.97, 4, 0, 0, 0),
    "lecture-seven.md": (0.98, 6, 0, 0, 0),
    "looking-backwards.ipynb": (0.91, 3, 0, 0, 0),
    "one-decoder-step.markdown": (0.88, 5, 0, 0, 0),
    "tiny-attention.md": (0.97, 4, 0, 0, 0),
    "twelve-sums.md": (0.93, 6, 1, 0, 0),
    "two-heads.Rmd": (1.0, 6, 0, 0, 0),
    "alignment.tex": (0.96, 6, 0, 0, 0),
    "bias-session.tex": (0.97, 5, 0, 0, 0),
    "caption-patches.html": (0.97, 6, 0, 0, 0),
    "kitchen-table.txt": (0.91, 7, 0, 0, 0),
    "padding-faq.txt": (0.99, 6, 0, 0, 0),
    "regression-values.tex": (0.88, 4, 0, 0, 0),
    "scale-or-not.html": (0.95, 5, 0, 0, 0),
    "softmax-backwards.tex": (1.0, 6, 0, 0, 0),
    "two-heads-appendix.tex": (0.97, 7, 2, 0, 0),
    "two-tokens-logistic.html": (0.9, 6, 0, 0, 0),
    "weather-report.html": (0.89, 4, 0, 0, 0),
    "certainly.md": (0.96, 5, 0, 0, 0),
    "chapter-eleven.html": (0.98, 5, 0, 0, 0),
    "counting-on-fingers.md": (0.84, 4, 5, 0, 0),
    "handout-nine.tex": (1.0, 6, 4, 0, 0),
    "heads-apart.ipynb": (0.97, 4, 3, 0, 0),
    "how-hot.qmd": (0.94, 5, 0, 0, 0),
    "one-token-later.ipynb": (0.96, 5, 8, 0, 0),
    "problem-set-four.tex": (0.66, 4, 7, 0, 0),
    "re-seminar.txt": (0.89, 5, 0, 0, 0),
    "why-is-my-gradient-small.md": (0.88, 4, 0, 0, 0),
    "backward-notes.tex": (0.81, 4, 0, 0, 0),
    "handout-gather.tex": (0.99, 5, 0, 0, 0),
    "midterm-solutions.tex": (0.84, 5, 2, 0, 0),
    "paper-boats.qmd": (0.9, 4, 0, 0, 0),
    "supplement-b.tex": (1.0, 4, 0, 0, 0),
    "translator-myst.md": (1.0, 5, 1, 0, 0),
    "vorlesung-six.tex": (0.99, 6, 0, 0, 0),
    "warm-and-cold.txt": (0.77, 4, 0, 0, 0),
    "exercise-05.ipynb": (0.87, 4, 4, 0, 0),
    "grad-of-attention.ipynb": (0.93, 3, 3, 0, 0),
    "great-question.md": (0.61, 3, 12, 0, 0),
    "nanohead-readme.md": (0.96, 4, 0, 0, 0),
    "notes-week-six.html": (0.76, 5, 17, 0, 0),
    "search-ranking.md": (0.97, 5, 2, 0, 0),
    "the-cat-and-the-mat.md": (0.86, 3, 0, 1, 0),
    "translate-one-word.ipynb": (0.86, 4, 10, 0, 0),
    "harbour-gulls.md": (0.99, 5, 0, 0, 0),
    "interpreter-at-the-table.md": (0.96, 5, 0, 0, 0),
    "moss-supplement.tex": (0.96, 5, 0, 0, 0),
    "no-peeking.ipynb": (0.92, 4, 0, 0, 0),
    "one-token-at-a-time.tex": (0.92, 6, 0, 0, 0),
    "rows-or-columns.md": (0.97, 5, 0, 0, 0),
    "sheet-seven.tex": (0.94, 7, 0, 0, 0),
    "two-heads-one-sentence.ipynb": (0.94, 5, 0, 0, 0),
}
PATHS = {path.stem: path for folder in (CORPUS, FURTHER) for path in marks.documents(folder)}


@pytest.mark.sampled(0, 6)
@pytest.mark.parametrize("name", FLOORS)
def test_documents_are_read_as_well_as_ever(name):
    """Figures are bound, slips found; seldom one is bound wrongly, or a right one refuted."""
    bound, slips, judged, wrong, alarms = FLOORS[name]
    measured = measure(marks.load(PATHS[name]))
    assert measured.error == ""
    assert measured.bound >= bound
    assert measured.caught >= slips
    assert len(measured.faults.judged) <= judged
    assert len(measured.faults.wrong) <= wrong
    assert len(measured.faults.alarms) <= alarms


def test_every_document_has_its_floor():
    """A document that is added is measured."""
    assert sorted(FLOORS) == sorted(PATHS)
