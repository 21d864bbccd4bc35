"""Recipes: what a figure may have been computed from, where a document goes its own way."""

from __future__ import annotations

import math

import pytest

from symattn.auditing.audit import Audit, audit
from symattn.auditing.reports import RULES
from symattn.auditing.slips import SENTENCES
from symattn.cases.case import make
from symattn.solution.solution import Solution

SCORES = [["0.3", "1.1", "-0.4"], ["0.9", "0.2", "0.5"], ["-0.7", "1.3", "0.6"]]


def judged(*claims: tuple[str, object], mask: bool = True) -> Audit:
    """The audit of a small document that masks, or doesn't."""
    steps = {"T": "causal(S)" if mask else "S * 1", "A": "softmax(T)"}
    said = [{"of": of, "printed": printed} for of, printed in claims]
    return audit(Solution(make("own-way", {"S": SCORES}, steps, claims=said)))


def rounded(numbers: list[float]) -> list[str]:
    return [f"{number:.4f}" for number in numbers]


@pytest.mark.parametrize(("row", "mask"), [(1, True), (2, True), (1, False)])
def test_weights_from_shifted_exponentials_carry_a_wrong_one(row: int, mask: bool) -> None:
    """A document that subtracts a row's last score before exp is followed: its weights come from
    those exponentials, masked scores give 0, and one wrong exponential is the only root."""
    kept = row + 1 if mask else 3
    last = float(SCORES[row][kept - 1])
    powers = [math.exp(float(x) - last) for x in SCORES[row][:kept]]
    powers[0] *= 1.13
    said = [float(text) for text in rounded(powers)]
    weights = rounded([power / sum(said) for power in said])
    hidden = ["0"] * (3 - kept)
    found = judged(
        (f"exp(T[{row}] - T[{row}, {kept - 1}])", rounded(powers) + hidden),
        (f"A[{row}]", weights + hidden),
        mask=mask,
    )
    wrong, *others = [figure for figure in found.figures if figure.cause]
    assert wrong.cause == "root"
    assert found.roots == [wrong]
    assert [figure.label for figure in others] == [f"A[{row}][{j}]" for j in range(kept)]
    assert all(figure.cause == "carried" for figure in others)
    assert all(figure.because == (wrong,) for figure in others)


def test_the_normaliser_of_shifted_exponentials_has_no_masked_terms() -> None:
    """The sum that a document prints is recognised inside the weights' denominators."""
    powers = [math.exp(0.9 - 0.2), 1.0]
    said = [float(text) for text in rounded(powers)]
    total = f"{1.2 * sum(said):.4f}"
    weights = rounded([power / float(total) for power in said])
    found = judged(
        ("exp(T[1] - T[1, 1])[:2]", rounded(powers)),
        ("total(exp(T[1] - T[1, 1]))", total),
        ("A[1, :2]", weights),
    )
    root, *carried = [figure for figure in found.figures if figure.cause]
    assert (root.label, root.cause) == ("total(exp(T[1] - T[1, 1]))", "root")
    assert len(carried) == 2
    assert all(figure.because == (root,) for figure in carried)


def test_every_slip_is_said_in_a_sentence() -> None:
    """No known slip is without words."""
    assert all(len(sentence.split()) >= 3 for sentence in SENTENCES.values())


def test_a_number_that_is_left_out_is_named_by_its_digits() -> None:
    """The sentence of a dropped term shows a number as it is written."""
    scores = [["0.31417", "1.27183"], ["0.91243", "-0.57722"]]
    right = [[f"{float(x) + 0.25:.5f}" for x in row] for row in scores]
    right[0][1] = scores[0][1]
    case = make("bias", {"S": scores}, {"T": "S + 0.25"}, claims=[{"of": "T", "printed": right}])
    (wrong,) = audit(Solution(case)).roots
    assert (wrong.slip, wrong.label) == ("term-dropped", "T[0, 1]")
    assert wrong.reason == "a term of the sum was left out: 0.25"


def test_a_quotient_that_is_left_out_is_named_as_it_is_written() -> None:
    """The sentence shows the entries' names and the sign between them."""
    given = {"S": [["0.31417", "1.27183"]], "B": [["0.71828", "0.65537"]], "d": 3}
    printed = [f"{0.31417 + 0.71828 / 3:.6f}", "1.271830"]
    claims = [{"of": "T[0]", "printed": printed}]
    (wrong,) = audit(Solution(make("bias", given, {"T": "S + B / d"}, claims=claims))).roots
    assert wrong.reason == "a term of the sum was left out: B[0, 1] / d"


def test_a_term_may_be_left_out_deep_inside() -> None:
    """A sum in an exponential in a product: the rest stays as it is."""
    given = {"S": [["0.31417", "1.27183"]], "B": [["0.7", "-0.4"]], "C": [["0.21", "0.33"]]}
    s, bias, more = ([float(x) for x in given[name][0]] for name in "SBC")
    printed = [f"{s[0] * math.exp(bias[0] + more[0]):.6f}", f"{s[1] * math.exp(bias[1]):.6f}"]
    case = make("deep", given, {"T": "S * exp(B + C)"}, claims=[{"of": "T[0]", "printed": printed}])
    (wrong,) = audit(Solution(case)).roots
    assert wrong.reason == "a term of the sum was left out: C[0, 1]"


def test_statements_look_at_every_column() -> None:
    """A row held against a number is refuted by its last entry, and by its first."""
    said = [{"holds": f"S[{row}] > {bound}"} for row, bound in ((0, -0.4), (0, -0.5), (1, 0.15))]
    found = audit(Solution(make("rows", {"S": SCORES}, {"A": "softmax(S)"}, claims=said)))
    verdicts = [str(statement.verdict) for statement in found.statements]
    assert verdicts == ["refuted", "holds", "holds"]


def test_every_rule_of_the_log_is_explained() -> None:
    """SARIF's rules have a sentence each."""
    assert all(text.startswith("A ") and text.endswith(".") for text in RULES.values())


@pytest.mark.parametrize(
    ("steps", "step", "instead", "reason"),
    [
        ({}, "A", "softmax(T.T).T", "softmax was taken down the columns instead of along the rows"),
        ({}, "A", "exp(T)", "the exponentials were not divided by their sum"),
        ({}, "T", "S", "the scaling sqrt(d) was left out"),
        ({}, "T", "S / d", "the scores were divided by d itself, not by its square root"),
        ({"T": "S * 0.3"}, "T", "S * 0.09", "the scaling was applied twice"),
        ({"T": "S + B"}, "T", "S - B", "a term of the sum has the wrong sign: B"),
        ({"T": "S + B"}, "T", "S", "a term of the sum was left out: B"),
        ({"T": "causal(S)"}, "T", "S", "the mask was left out"),
        ({}, "T", "-S / sqrt(d)", "the sign is wrong"),
        ({}, "T", "B", "the figures are those of B"),
        ({"T": "S @ B"}, "T", "S @ S", "S in place of B was used"),
    ],
)
def test_a_slip_is_said_in_words(
    steps: dict[str, str], step: str, instead: str, reason: str
) -> None:
    """The sentence of a slip of a whole step, with the names of this document."""
    given = {
        "S": [["0.31417", "1.27183"], ["0.91243", "-0.57722"]],
        "B": [["0.11", "0.23"], ["-0.31", "0.47"]],
        "d": 3,
    }
    right = {"T": "S / sqrt(d)", "A": "softmax(T)", **steps}
    wrong = Solution(make("wrong", given, {**right, step: instead}))[step].decimal(6)
    said = [["-inf" if x.is_infinite() else format(x, "f") for x in row] for row in wrong]
    found = audit(Solution(make("said", given, right, claims=[{"of": step, "printed": said}])))
    assert {figure.reason for figure in found.roots} == {reason}
