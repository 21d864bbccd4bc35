"""Recipes: what a figure may have been computed from, where a document goes its own way."""

from __future__ import annotations

import math

import pytest

from symattn.auditing.audit import Audit, audit
from symattn.auditing.reports import RULES
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
    masked = ["0"] * (3 - kept)
    found = judged(
        (f"exp(T[{row}] - T[{row}, {kept - 1}])", rounded(powers) + masked),
        (f"A[{row}]", weights + masked),
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


def test_statements_look_at_every_column() -> None:
    """A row held against a number is refuted by its last entry, and by its first."""
    said = [{"holds": f"S[{row}] > {bound}"} for row, bound in ((0, -0.4), (0, -0.5), (1, 0.15))]
    found = audit(Solution(make("rows", {"S": SCORES}, {"A": "softmax(S)"}, claims=said)))
    verdicts = [str(statement.verdict) for statement in found.statements]
    assert verdicts == ["refuted", "holds", "holds"]


def test_every_rule_of_the_log_is_explained() -> None:
    """SARIF's rules have a sentence each."""
    assert all(text.startswith("A ") and text.endswith(".") for text in RULES.values())
