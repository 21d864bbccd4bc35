"""What a figure says for an edit of the recipe: by its digits, once, and not twice over."""

from __future__ import annotations

import numpy as np
import pytest

from symattn.auditing.audit import _Document
from symattn.auditing.edits import ALONE, PEN, AuditedGraph, Model, Weights
from symattn.cases.case import make
from symattn.solution.solution import Solution

SCORES = [["0.3", "1.1", "-0.4"], ["0.9", "0.2", "0.5"]]
#: The weights of the first row.
RIGHT = ["0.269", "0.598", "0.133"]


def weighed(*claims, cuts=False, free=()):
    """The weights of a document that prints softmax(S), and how its figures are numbered."""
    said = [{"of": of, "printed": printed} for of, printed in claims]
    case = make("weights", {"S": SCORES}, {"A": "softmax(S)"}, claims=said)
    document = _Document(Solution(case))
    model = Model(AuditedGraph(document.solution, document.figures))
    says_nothing = [figure.label in free for figure in document.figures]
    return Weights(model, says_nothing, {}, cuts), model


def test_a_figure_counts_by_its_distance_in_units() -> None:
    """Twice the distance is a bit more; of a figure that holds there is none."""
    weights, _ = weighed(("A[0, 0]", "0.289"), ("A[0, 1]", "0.577"), ("A[0, 2]", "0.133"))
    assert weights.bits[:2] == pytest.approx([np.log2(2 * 20.6 + 1)] * 2, abs=0.1)
    assert list(weights.refuted) == [bool(bits) for bits in weights.bits]


def test_final_zeros_say_nothing() -> None:
    """0.500 may be a half by any way of computing."""
    weights, _ = weighed(("A[0, 0]", "0.500"), ("A[0, 1]", "0.501"))
    assert weights.bits[0] < weights.bits[1] / 2


def test_what_is_printed_twice_counts_once() -> None:
    """Also where it is printed as a part of something else."""
    weights, _ = weighed(("A[0, 0]", "0.289"), ("A[0]", ["0.289", *RIGHT[1:]]))
    assert np.count_nonzero(weights.bits) == 1


def test_a_slip_of_the_pen_says_little() -> None:
    """Another digit, a sign, two digits swapped: as likely without any edit."""
    for wrong in ("0.76866", "-0.26866", "0.62866"):
        weights, _ = weighed(("A[0, 0]", wrong))
        assert weights.bits[0] <= PEN, wrong
    weights, _ = weighed(("A[0, 0]", "0.73177"))
    assert weights.bits[0] > PEN


def test_what_follows_from_figures_says_nothing() -> None:
    """A figure that carries a wrong one is no evidence of its own."""
    weights, _ = weighed(("A[0, 0]", "0.289"), ("A[0, 1]", "0.577"), free=("A[0, 1]",))
    assert weights.bits[1] == 0 < weights.bits[0]


def test_the_last_of_a_row_is_no_news() -> None:
    """The weights of a row add up to 1: two of three tell all."""
    rows = np.exp([[0.6, 1.1, -0.4], [0.9, 0.2, 0.5]])
    rows /= rows.sum(axis=1, keepdims=True)
    printed = [f"{x:.4f}" for x in rows[0]]
    weights, _ = weighed(("A[0]", printed))
    alike = weights.gain(rows[0], np.ones(3, bool))
    assert alike == pytest.approx(weights.bits.sum() - weights.bits.min())
    # Where the sum is another than it should be, each figure is news.
    assert weights.gain(rows[0] * [1, 1, 2], np.ones(3, bool)) == weights.bits.sum()


def test_one_figure_alone_is_never_enough() -> None:
    """However many digits it has."""
    weights, _ = weighed(("A[0, 0]", "0.8412345678"))
    assert weights.bits[0] > ALONE
    assert weights.gain(np.array([0.8412345678]), np.ones(1, bool)) == ALONE


def test_a_right_figure_may_be_broken() -> None:
    """It would be printed otherwise, and is no number that the edit gives."""
    weights, model = weighed(("A[0]", ["0.335", *RIGHT[1:]]))
    predicted = np.array([0.335, 0.5525, 0.1232])
    changed = weights.changed(predicted, model.true)
    given = weights.given(predicted)
    assert list(given) == [True, False, False]
    assert list(changed & ~given & weights.held) == [False, True, True]


def test_a_document_that_cuts_off_gives_more_ways() -> None:
    """0.1239 is cut off to 0.123; each figure then says a little less."""
    plain, _ = weighed(("A[0, 0]", "0.335"))
    cut, _ = weighed(("A[0, 0]", "0.335"), cuts=True)
    assert not plain.given(np.array([0.3358]))[0]
    assert cut.given(np.array([0.3358]))[0]
    assert not cut.given(np.array([0.3361]))[0]
    assert cut.bits[0] == pytest.approx(plain.bits[0] - np.log2(1.5))
