"""Points are exact, never above what there is, and all of it where all is right."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.errors import Malformed
from symattn.exercises.exercise import Part
from symattn.exercises.marking.collecting import (
    DEFAULT,
    OUTCOMES,
    Blank,
    JudgedScript,
    Mark,
    Scheme,
    Script,
    most,
    points_text,
    read_scheme,
)

PARTS = st.fractions(0, 1)
SCHEMES = st.builds(Scheme, PARTS, PARTS, PARTS, PARTS)


def judged(questions):
    """A script whose answers are these: for each part its points and what its answers are."""
    parts = []
    for k, (points, outcomes) in enumerate(questions):
        marks = [Mark(Blank(f"S{k}", 0, j), "", "", one, "") for j, one in enumerate(outcomes)]
        parts.append((Part(f"S{k}", points), tuple(marks)))
    return JudgedScript(Script("Ada", 0, {}), tuple(parts))


QUESTIONS = st.lists(
    st.tuples(st.integers(1, 20), st.lists(st.sampled_from(OUTCOMES), min_size=1, max_size=9)),
    min_size=1,
    max_size=5,
)


@given(SCHEMES, QUESTIONS)
def test_points_are_between_nothing_and_all(scheme, questions) -> None:
    """Under every scheme, part by part and together."""
    found = judged(questions)
    assert 0 <= scheme.of(found) <= most(found)
    for part, marks in found.parts:
        assert 0 <= scheme.of_part(part, marks) <= part.points
    assert scheme.of(found) == sum(scheme.of_part(*one) for one in found.parts)


@given(SCHEMES, QUESTIONS)
def test_all_right_is_all_points(scheme, questions) -> None:
    """Exactly, however the points are split; and nothing is nothing."""
    for outcome, share in (("right", 1), ("blank", 0), ("unread", 0)):
        found = judged([(points, [outcome] * len(answers)) for points, answers in questions])
        assert scheme.of(found) == share * most(found)


@given(SCHEMES, QUESTIONS, st.data())
def test_a_better_answer_never_costs_points(scheme, questions, data) -> None:
    """An answer that becomes right gives no fewer points."""
    before = judged(questions)
    k = data.draw(st.integers(0, len(questions) - 1))
    j = data.draw(st.integers(0, len(questions[k][1]) - 1))
    points, answers = questions[k]
    better = [*answers[:j], "right", *answers[j + 1 :]]
    after = judged([*questions[:k], (points, better), *questions[k + 1 :]])
    assert scheme.of(after) >= scheme.of(before)


def test_the_scheme_by_default() -> None:
    """What follows is worth all of its points, a named slip half of them."""
    found = judged(
        [(4, ["right", "early", "follows", "slip", "wrong", "unread", "blank", "wrong"])]
    )
    assert DEFAULT.of(found) == Fraction(4, 8) * (1 + Fraction(3, 4) + 1 + Fraction(1, 2))


@given(SCHEMES)
def test_a_scheme_is_what_its_table_says(scheme) -> None:
    """Written and read again it is the same."""
    assert read_scheme(scheme.table) == scheme


@pytest.mark.parametrize("raw", ["-1/2", "1.01", 2, True, "half", [], "exp(-1)", "1/0"])
def test_what_is_no_part_of_the_points(raw) -> None:
    """Each value that is none is told by its name, all of them together."""
    with pytest.raises(Malformed) as told:
        read_scheme({"early": raw, "wrong": raw, "slip": Decimal("0.5")})
    assert [fault.where for fault in told.value.faults] == ["early", "wrong"]


@given(st.fractions(0, 1000))
def test_points_are_shown_to_two_places(points) -> None:
    """Correctly rounded, half a hundredth up."""
    assert abs(Fraction(points_text(points)) - points) <= Fraction(1, 200)
    assert not points_text(points).endswith((".", ".0"))
