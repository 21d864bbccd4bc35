"""Each rule of the kernel states a lemma: it proves that, and numbers do not refute it."""

from __future__ import annotations

import re

import pytest

from symattn.calculus.judging import derived
from symattn.calculus.kernel.rules import RULES

TABLES = {
    "sizes": ["n"],
    "shapes": {
        **{name: [] for name in "abt"},
        **{name: ["n"] for name in "xyuv"},
        **{name: ["n", "n"] for name in "AB"},
        "w": [3],
    },
    "random": ["u", "v"],
    "permutations": {"s": "n"},
}
GIVEN = ("instance", "base")
"""Rules by which equations are used that are given."""
LEMMAS = [
    (name, " ".join(line.split()))
    for name, each in RULES.items()
    for line in re.findall("``([^`]*==[^`]*)``", each.__doc__ or "")
]


def test_each_rule_states_a_lemma() -> None:
    assert {name for name, _ in LEMMAS} == {*RULES} - {*GIVEN}


@pytest.mark.parametrize(("name", "lemma"), LEMMAS)
def test_a_lemma_is_proved_by_its_rule_and_not_refuted(name, lemma) -> None:
    (line,) = derived("lemmas", {**TABLES, "lines": [{"line": lemma}]}).lines
    assert line.status == "proved", line.why
    assert line.evidence is not None
    record = line.evidence.proof.record
    rules = [step.rule for step in record.steps.values()] + [last.rule for last in record.lasts]
    assert name in rules, f"without it: {rules}"
