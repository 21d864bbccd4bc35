"""Slips that are made in every head: one slip, named as such, however many heads there are."""

from __future__ import annotations

from random import Random

import pytest

from symattn.cases.case import make
from symattn.exercises.exercise import exercise
from symattn.exercises.marking.collecting import Blank, Script, read_answer
from symattn.exercises.marking.judging import Examiner
from symattn.numbers.reading import MASKED
from symattn.solution.solution import solve

STEPS = {
    "S": "Q{k} @ K{k}.T",
    "T": "S{k} / sqrt(d_k)",
    "M": "causal(T{k})",
    "A": "softmax(M{k})",
    "Y": "A{k} @ V{k}",
}
#: What a step is by a slip.
SLIPS = {
    "scale-dropped": {"T": "S{k}"},
    "scale-not-rooted": {"T": "S{k} / d_k"},
    "mask-forgotten": {"M": "T{k}"},
    "softmax-columns": {"A": "softmax(M{k}, axis=0)"},
    "not-normalised": {"A": "exp(M{k})"},
}


def case(heads: int, seed: int, changed: dict[str, str] | None = None):
    """Attention in so many heads, with some steps otherwise in all of them."""
    random = Random(seed)

    def rows() -> list[list[int]]:
        return [[random.randint(-2, 3) for _ in range(3)] for _ in range(4)]

    given = {f"{name}{k}": rows() for k in range(heads) for name in "QKV"} | {"d_k": 3}
    made = STEPS | (changed or {})
    steps = {f"{name}{k}": text.format(k=k) for k in range(heads) for name, text in made.items()}
    return make("heads", given, steps)


def marked(heads: int, seed: int, places: int, kind: str):
    """The script of a student who makes a slip in all heads, judged."""
    asked = exercise(case(heads, seed), places=places)
    wrong = solve(case(heads, seed, SLIPS[kind]))
    answers = {}
    for part in asked.parts:
        quantity = wrong[part.quantity]
        for i, row in enumerate(quantity.rows):
            for j, entry in enumerate(row):
                text = "-inf" if entry is MASKED else str(quantity.decimal(places)[i][j])
                answers[Blank(part.quantity, i, j)] = read_answer(text)
    return Examiner(asked).judged(Script("Ada", 0, answers))


@pytest.mark.sampled(4, 26)
@pytest.mark.parametrize("heads", [1, 2, 4])
@pytest.mark.parametrize("kind", SLIPS)
@pytest.mark.parametrize(("seed", "places"), [(1, 4), (2, 3)])
def test_a_slip_in_every_head_is_named_once(heads, kind, seed, places) -> None:
    judged = marked(heads, seed, places, kind)
    (slip,) = judged.slips
    assert slip.kind == kind
    assert {mark.outcome for mark in judged.marks} <= {"right", "early", "slip", "follows"}
