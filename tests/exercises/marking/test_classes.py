"""A class that makes the commonest slips is told of them, and of no others."""

from __future__ import annotations

from collections import Counter

import pytest

from symattn.exercises.exercise import Exercise
from symattn.exercises.marking.judging import Examiner

from .classes import KINDS, students


def told(count: int, seed: int) -> Counter[tuple[str, str]]:
    """Count, for each slip, the students told of it, of nothing, or of another for certain."""
    examiners: dict[int, Examiner] = {}
    kept: list[Exercise] = []
    found: Counter[tuple[str, str]] = Counter()
    for _, asked, kind, script in students(count, seed):
        if id(asked) not in examiners:
            # It is kept, so that no other has its number.
            kept.append(asked)
            examiners[id(asked)] = Examiner(asked)
        slips = examiners[id(asked)].judged(script).slips
        if [slip.kind for slip in slips] == [kind]:
            said = "rightly"
        elif all(slip.rivals for slip in slips):
            said = "nothing is certain"
        else:
            said = "another"
        found[kind, said] += 1
    return found


def check(found: Counter[tuple[str, str]]) -> None:
    """Of a hundred students 98 and more are told rightly, and none of another slip for certain."""
    said: Counter[str] = Counter()
    for (_, word), count in found.items():
        said[word] += count
    assert said["rightly"] >= 0.98 * said.total(), found
    assert not said["another"], found


def test_some_students() -> None:
    """So it is of the first students of a class."""
    check(told(30, seed=7))


ALL, SOME = pytest.mark.campaign, pytest.mark.heavy


@pytest.mark.parametrize("count", [pytest.param(2000, marks=ALL), pytest.param(600, marks=SOME)])
def test_a_class(count: int) -> None:
    """So it is of two thousand students, who make every slip, and of the first of them."""
    found = told(count, seed=1)
    assert {kind for kind, _ in found} == {*KINDS}
    check(found)
