"""Entries that can't be decided are told by their place, and spoil no others."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from symattn import Malformed, Undecided, attention
from symattn.limits import PURSUED, Limit
from symattn.numbers.balls import LAST, growing
from symattn.solution import entries

#: 0, but as a difference of opaque roots.
NOTHING = "sqrt(exp(1) + 1)*sqrt(exp(1) - 1) - sqrt(exp(2) - 1)"


def scores(rows):
    """Scores of which some are 0 in a way that nothing decides."""
    return attention([[x] for x in rows], [[1], [0], [2]], [[1], [2], [3]], scale=1).scores


def test_every_undecided_entry_is_told_at_once():
    """By its index in the quantity, with what is certain of it; the rest of the array is
    what it is, with NaN in the place of these where that is asked for."""
    quantity = scores(["1/3", NOTHING])
    with pytest.raises(Undecided) as caught:
        quantity.nearest("float32")
    assert [fault.where for fault in caught.value.faults] == ["M[1, 0]", "M[1, 2]"]
    said = str(caught.value)
    assert said.startswith("2 undecided\n  M[1, 0]: the nearest float32 is not settled at 32768")
    assert "the number is [+/- " in said
    found = quantity.nearest("float32", undecided="nan")
    third = np.float32(1) / np.float32(3)
    wanted = np.array([[third, 0, 2 * third], [np.nan, 0, np.nan]], dtype="float32")
    np.testing.assert_array_equal(found, wanted)


def test_the_index_is_that_of_the_shape():
    """With leading axes, in a row, and of a scalar."""
    two = attention([[[1]], [[NOTHING]]], [[[1], [0]]] * 2, [[[1], [2]]] * 2, scale=1).scores
    for quantity, place in ((two, "scores[1, 0, 0]"), (two[1, 0], "scores[1, 0][0]")):
        with pytest.raises(Undecided, match=r"not settled") as caught:
            quantity.nearest()
        assert [fault.where for fault in caught.value.faults] == [place]


def test_decimals_tell_their_undecided_entries_too():
    """Cut off, a number that may be 0 has no certain digit."""
    with pytest.raises(Undecided) as caught:
        scores(["1/3", NOTHING]).decimal(3, "floor")
    assert [fault.where for fault in caught.value.faults] == ["M[1, 0]", "M[1, 2]"]
    assert scores(["1/3", NOTHING]).decimal(3)[1] == (0, 0, 0)


def test_documents_say_at_how_many_bits():
    """One number: where precision ends, in messages and in what is written of them."""
    page = (Path(__file__).parents[2] / "docs" / "certainty.md").read_text("utf-8")
    told = {int(x.replace(",", "")) for x in re.findall(r"([\d,]+) bits", page)}
    with pytest.raises(Undecided, match=f"is not settled at {LAST} bits"):
        scores([NOTHING]).nearest()
    assert max(told) == max(growing()) == LAST


def test_undecided_entries_are_followed_up_so_far(monkeypatch):
    """After so many the rest is told with fewer bits, so that a large array ends."""
    monkeypatch.setattr(entries, "PURSUED", Limit(1, PURSUED.beyond))
    quantity = scores([NOTHING, "1/3", NOTHING])
    with pytest.raises(Undecided) as caught:
        quantity.nearest()
    told = [fault.message.partition(":")[0] for fault in caught.value.faults]
    assert told[0] == "the nearest float64 is not settled at 32768 bits"
    late = "not followed up after 1 undecided entries; the nearest float64 is not settled at 512"
    assert told[1:] == [f"{late} bits"] * 3


def test_what_to_do_is_one_of_two():
    """A misspelt choice is told."""
    with pytest.raises(Malformed, match="undecided='none': expected one of error, nan"):
        scores([1]).nearest(undecided="none")
