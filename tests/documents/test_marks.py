"""Marked documents: what remains of a text, and where its figures stand in it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.solution.solution import solve
from tests.documents import marks
from tests.documents.marks import Mark

FOLDERS = [Path(__file__).with_name(name) for name in ("corpus", "further")]

words = st.text(st.characters(exclude_characters="⟦⟧|", exclude_categories=["Cs"]), max_size=8)
figures = st.from_regex(r"-?[0-9]{1,2}(\.[0-9]{1,4})?", fullmatch=True)


def test_what_is_printed_remains():
    """A slip leaves what is printed, and its correction beside it."""
    text, found = marks.read("A = ⟦A[0, 1]|0.1836|0.1863⟧, x = ⟦given X[0, 0]|1⟧, 2+3=⟦=|5⟧")
    assert text == "A = 0.1836, x = 1, 2+3=5"
    assert found == (
        Mark("A[0, 1]", "0.1836", "0.1863", 4, 10),
        Mark("X[0, 0]", "1", None, 16, 17, is_given=True),
        Mark("", "5", None, 23, 24),
    )
    assert [mark.is_slip for mark in found] == [True, False, False]


@given(st.lists(st.tuples(words, figures)), words)
def test_places_are_those_of_the_text_without_marks(pieces, last):
    """Each mark's offsets cut its figure out of what remains."""
    marked = "".join(f"{before}⟦X[0]|{figure}⟧" for before, figure in pieces) + last
    text, found = marks.read(marked)
    assert text == "".join(f"{before}{figure}" for before, figure in pieces) + last
    assert [text[mark.start : mark.end] for mark in found] == [figure for _, figure in pieces]


@pytest.mark.parametrize("text", ["⟦A|1", "a 1⟧", "⟦A⟧", "⟦A|⟧", "⟦A|1|⟧", "⟦A|⟦B|1⟧⟧"])
def test_half_a_mark_is_an_error(text):
    """A bracket that is left over would be taken for text of the document."""
    with pytest.raises(ValueError, match="line 3: a bracket that belongs to no mark"):
        marks.read(f"\n\n{text}\n")


def test_places_count_from_one(tmp_path):
    """Lines and columns are those that an editor shows."""
    path = tmp_path / "post.md.marked"
    path.write_text("# One\n\nS is ⟦S|2⟧\n")
    loaded = marks.load(path)
    assert (loaded.name, loaded.truth) == ("post.md", tmp_path / "post.toml")
    assert loaded.place(loaded.marks[0].start) == (3, 6)


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    "path",
    [path for folder in FOLDERS for path in marks.documents(folder)],
    ids=lambda path: path.name,
)
def test_the_marks_say_the_truth(path):
    """Every marked figure is the correctly rounded value of its expression, and every
    slip is none, but its correction is."""
    loaded = marks.load(path)
    truth = solve(loaded.truth)
    named = [mark for mark in loaded.marks if mark.expression]
    wrong = [
        (loaded.place(mark.start), mark)
        for mark in named
        if not _rounds(truth[mark.expression], mark.correct or mark.printed)
        or (mark.is_slip and _rounds(truth[mark.expression], mark.printed))
    ]
    assert named
    assert not wrong


def _rounds(quantity, figure):
    """Whether the quantity rounds to the figure at its places; on a tie, either way."""
    printed = marks.number(figure)
    shown = Decimal(printed.count).scaleb(-printed.places)
    return shown in [quantity.decimal(printed.places, mode) for mode in ("half-up", "half-down")]
