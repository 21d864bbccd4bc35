"""A block whose label names an operation is the result of that operation on what stands
before it, and no input."""

from __future__ import annotations

from pathlib import Path

import pytest

from symattn.auditing.audit import audit
from symattn.auditing.fixing import fixed
from symattn.cases.article import case_of
from symattn.documents.binding.binder import read
from symattn.documents.files import article
from symattn.verdicts import Verdict


def verdicts(text: str) -> dict[str, str]:
    """The verdicts of the figures of a Markdown article, and what is correct where one is
    refuted, by their texts."""
    case = case_of(read(article(Path("post.md"), text.encode())))
    return {
        figure.text: str(figure.correct) if figure.verdict is Verdict.REFUTED else "holds"
        for figure in audit(case).figures
    }


SCORES = "```\nScores: [1.5, 0.5, -0.4]\n"
RIGHT = {"0.66": "holds", "0.24": "holds", "0.10": "holds"}


@pytest.mark.parametrize(
    "label", ["Softmax → ", "softmax = ", "After the softmax: ", "↓\nSoftmax\n↓\nProbabilities: "]
)
def test_a_block_is_what_its_label_does_to_the_block_before(label):
    """Right figures hold, wrong ones are refuted, though all of them are wrong."""
    assert verdicts(f"{SCORES}{label}[0.66, 0.24, 0.10]\n```\n") == RIGHT
    assert verdicts(f"{SCORES}{label}[0.71, 0.21, 0.08]\n```\n") == {
        "0.71": "0.66", "0.21": "0.24", "0.08": "0.10",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("scores", "label", "shown"),
    [
        ("[2.0, 1.0, 0.1]", "Softmax", "[0.73, 0.27, 0.00]"),  # the last is hidden
        ("[2.0, 1.0, 0.1]", "Softmax", "[0.56, 0.29, 0.16]"),  # at a temperature of 1.5
        ("[2.0, 1.0, 0.1]", "Softmax", "[0.50, 0.30, 0.19]"),  # over the root of 4
        ("[2, 1, 0]", "Softmax", "[0.79, 0.13, 0.08]"),  # of scores that are shown rounded
        ("[2.0, 1.0, 0.1]", "exp", "[1.00, 0.37, 0.15]"),  # less the largest
        ("[2.0, 1.0, 0.1]", "Softmax of others", "[0.71, 0.26, 0.03]"),
        ("[2.0, 1.0, 0.1]", "Softmax", "[0.26, 0.71, 0.03]"),
        ("[2.0, 1.0, 0.1]", "Softmax", "[2.71, 1.26, 0.03]"),
    ],
)
def test_what_something_else_explains_is_not_refuted(scores, label, shown):
    """A mask, a scale, rounding, another order: the label alone is not enough."""
    found = verdicts(f"```\nScores: {scores}\n{label}: {shown}\n```\n")
    assert set(found.values()) <= {"holds"}


def test_a_row_that_is_wrong_as_a_whole_is_not_corrected():
    """It isn't the softmax of the row before it; but that may be wrong: where one other score would
    make all of it right, it is open."""
    rows = "[[1.52, 0.53, 0.20], [0.71, 0.90, 0.35], [0.22, 1.35, 0.64]]"
    text = (
        f"```\nScores: {rows}\nAfter softmax: [[0.610, 0.227, 0.163], %s, [0.178, 0.551, 0.271]]\n"
    )

    def judged(text):
        return audit(case_of(read(article(Path("x.md"), text.encode()))))

    for row, refuted in (("[0.344, 0.461, 0.240]", {"0.461"}), ("[0.244, 0.295, 0.462]", set())):
        found = judged(text % row)
        assert {one.text for one in found.figures if one.verdict is Verdict.REFUTED} == refuted
        assert bool(found.open) == (not refuted)
        assert fixed(found, judged).text == text % row


def test_an_operation_before_a_number_is_one_on_the_block_before():
    """A quotient, and a softmax of that, also where a last line says what is done to all."""
    text = (
        "```\nQ·Kᵀ = [[2, 0, 2],   # tea\n       [0, 2, 1]]  # we\n\n"
        "÷ √4 = [[1.0, 0.0, 1.0],\n       [0.0, %s, 0.5]]\n\n"
        "Softmax → [[0.42, 0.16, 0.42],\n       [0.19, 0.51, 0.31]]\n\n× V → the outputs\n```\n"
    )
    assert set(verdicts(text % "1.0").values()) == {"holds"}
    assert verdicts(text % "1.0").keys() >= {"0.0", "0.42", "0.16", "0.19", "0.31"}
    assert verdicts(text % "1.5")["1.5"] == "1.0"


TABLE = """| Token | Score | ÷ 4 | Scaled | e^scaled | Share |
|-------|-------|-----|--------|----------|-------|
| rain  | 6.4   | ÷ 4 | 1.60   | 4.95     | 4.95 / 7.31 = 0.677 |
| falls | 2.2   | ÷ 4 | 0.55   | 1.73     | 1.73 / 7.31 = 0.237 |
| now   | -1.8  | ÷ 4 | -0.45  | 0.64     | 0.64 / 7.31 = 0.088 |
|       |       |     |        | **Sum: 7.42** | |
"""


def test_columns_are_what_their_heads_do_to_the_column_before():
    """A quotient, an exponential and a sum that tables work out are judged."""
    found = verdicts(TABLE)
    assert found.pop("7.42") == "7.32"
    assert set(found) >= {"1.60", "0.55", "-0.45", "4.95", "1.73", "0.64", "0.677"}
    assert set(found.values()) == {"holds"}
    assert verdicts(TABLE.replace("0.55", "0.65"))["0.65"] == "0.55"


def test_sums_of_rows_are_those_of_their_figures():
    """Where most rows have theirs, the others are wrong."""
    table = (
        "| | tea | is | hot | Row sum |\n|---|---|---|---|---|\n"
        "| tea | 0.50 | 0.20 | 0.30 | 1.00 |\n"
        "| is | 0.10 | 0.25 | 0.65 | 1.00 |\n| hot | 0.15 | 0.35 | 0.40 | 1.01 |\n"
    )
    found = verdicts(table)
    assert (found["1.00"], found["1.01"]) == ("holds", "0.90")


PRODUCTS = """| | Weight | × | Value | = | Part |
|---|---|---|---|---|---|
| rain | 0.5 | × | [0.2, ..., 0.8] | = | [0.10, ..., 0.40] |
| falls | 0.3 | × | [0.4, ..., -0.2] | = | [0.12, ..., 0.06] |
"""


def test_a_row_of_cells_reads_as_an_equation():
    """Also with vectors that are not shown as a whole."""
    assert verdicts(PRODUCTS) == {
        "0.10": "holds", "0.40": "holds", "0.12": "holds", "0.06": "-0.06",
    }  # fmt: skip


def test_a_result_may_be_listed_entry_by_entry():
    """Behind a softmax of numbers, as many chains of one figure each are its entries."""
    text = "```\nWeights = softmax([1.5, 0.5, -0.4])\n\nResult:\n%s\n```\n"
    lines = 'a("tea" → "we") = {}\na("tea" → "drink") = {}\na("tea" → "tea") = {}'
    assert verdicts(text % lines.format("0.66", "0.24", "0.10")) == RIGHT
    assert verdicts(text % lines.format("0.71", "0.21", "0.08")) == {
        "0.71": "0.66", "0.21": "0.24", "0.08": "0.10",
    }  # fmt: skip
    assert verdicts(text % lines.format("0.10", "0.24", "0.66")) == {}


COOLING = """The logits are [1.3, 0.4, -0.7].

| Temperature | Prob[0] | Prob[1] | Prob[2] |
|---|---|---|---|
| T = 0.1 | 1.000 | 0.000 | 0.000 |
| T = 0.5 | 0.844 | 0.140 | 0.015 |
| T = 2.0 | 0.492 | 0.314 | 0.191 |
"""


def test_a_row_of_shares_is_at_the_temperature_of_the_row():
    """Where one row that tells something shows of which vector they are."""
    found = verdicts(COOLING)
    assert found.pop("0.492") == "0.499"
    assert (found["0.844"], found["0.314"], found["0.191"]) == ("0.845", "0.318", "0.183")
    assert verdicts(COOLING.replace("0.844", "0.744").replace("0.492", "0.592")) == {}
