"""How well the worked examples are read: floors that can only be raised."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents import marks
from tests.documents.measure import measure

CORPUS = Path(__file__).parent / "corpus"
#: For each document, at least this share of the figures of quantities is bound to them, at
#: least so many slips are found, and at most so many numbers that claim nothing are judged.
FLOORS = {
    "a-reader-of-maps.qmd": (0.99, 5, 2),
    "attention-from-scratch.ipynb": (0.92, 2, 0),
    "bees-love-thyme.md": (0.99, 7, 0),
    "decoder-step.html": (0.86, 4, 0),
    "masked-lecture.tex": (0.97, 5, 4),
    "night-train-copy.txt": (0.97, 4, 0),
    "pocket-guide.md": (0.99, 5, 0),
    "rain-appendix.tex": (0.86, 4, 0),
    "rain-falls-softly.md": (0.97, 5, 0),
    "tables-page.html": (0.98, 6, 0),
    "what-a-dog-attends-to.md": (0.97, 6, 2),
}


@pytest.mark.parametrize("name", FLOORS)
def test_documents_are_read_as_well_as_ever(name):
    """Figures are bound, slips found, none bound wrongly, nothing right refuted."""
    bound, slips, judged = FLOORS[name]
    measured = measure(marks.load(CORPUS / f"{name}.marked"))
    assert measured.error == ""
    assert measured.faults.wrong == ()
    assert measured.faults.alarms == ()
    assert measured.bound >= bound
    assert measured.caught >= slips
    assert len(measured.faults.judged) <= judged


def test_every_document_has_its_floor():
    """A document that is added is measured."""
    assert sorted(FLOORS) == [path.stem for path in marks.documents(CORPUS)]
