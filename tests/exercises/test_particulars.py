"""Single promises of exercises: what a question says, what it gives, whose answers are read."""

from __future__ import annotations

import numpy as np
import pytest

from symattn.cases import library
from symattn.cases.case import make
from symattn.exercises import quiz
from symattn.exercises.exercise import Exercise, exercise
from symattn.exercises.marking.answer_files import read_answers
from symattn.exercises.questions import part_role
from symattn.exercises.variants import _are_telling
from symattn.languages.language import ENGLISH

from ..notation import read

CASE = exercise(library.load("cat-sat-mat"), "backward")


def answers(path, rows, numbers):
    """The answers of a table to versions of those numbers."""
    path.write_text("\n".join(["student,version,quantity,row,column,answer", *rows]))
    versions = [Exercise(CASE.case, CASE.level, CASE.parts, 1, number) for number in numbers]
    return read_answers(path, versions)


def test_nothing_more_is_told_of_who_is_refused(tmp_path) -> None:
    """One fault says why a student's answers are not marked; what else is wrong there is
    for nobody to mend."""
    rows = ["Bob,9,S,0,0,2", "Bob,1,S,0,1,two", "Bob,1,Z,0,0,1", "Ada,1,S,0,1,two"]
    found = answers(tmp_path / "a.csv", rows, (1, 2))
    assert [fault.line for fault in found.faults] == [2, 5]
    assert found.refused == ("Bob",)


@pytest.mark.parametrize(
    ("numbers", "listed"),
    [
        (range(1, 4), "1, 2, 3"),
        (range(1, 31), "1 to 30"),
        (range(2, 82, 2), f"{', '.join(map(str, range(2, 82, 2)))}"),
        (range(2, 84, 2), f"{', '.join(map(str, range(2, 82, 2)))}, ..."),
    ],
)
def test_the_versions_that_there_are_are_listed_briefly(numbers, listed, tmp_path) -> None:
    """By the first and the last, or one by one, up to forty of them."""
    (fault,) = answers(tmp_path / "a.csv", ["Ada,999,S,0,0,2"], numbers).faults
    assert fault.message == f"expected a version, one of {listed}, found '999'"


def test_a_part_is_told_by_its_role_in_the_walkthrough() -> None:
    """A step may have one, behind a dash; of others and of gradients nothing is said."""
    roles = {part.quantity: part_role(CASE, part, ENGLISH) for part in CASE.parts}
    assert roles["S"].startswith(" \N{EN DASH} ")
    gradients = [role for name, role in roles.items() if name.startswith("dL/d")]
    assert gradients
    assert set(gradients) == {""}
    plain = exercise(make("plain", {"X": [[1, 2]]}, {"Y": "X * 2"}), "forward")
    assert [part_role(plain, part, ENGLISH) for part in plain.parts] == [""]


def test_a_single_blank_is_a_line_of_its_own() -> None:
    """A number needs no brackets: its paragraph ends behind its blank."""
    shown = quiz.matrix(read("t"), [["{1:NUMERICAL:=2:0}"]])
    assert shown.startswith("<p>")
    assert shown.endswith(" {1:NUMERICAL:=2:0}</p>")
    assert "<table" in quiz.matrix(read("t"), [["a", "b"]])


def test_the_gradient_that_flows_in_is_given_where_gradients_are_asked_for() -> None:
    """It is of no use forward."""
    for level, more in (("forward", []), ("backward", [f"dL/d{CASE.case.output}"])):
        text = quiz.QuestionText(exercise(CASE.case, level), ENGLISH)
        assert [name for name, _ in text.given()] == [*CASE.case.program.given, *more]


def test_rows_have_tokens_where_they_run_over_them() -> None:
    """As many rows as tokens are not enough: they may be features."""
    X = [[1, 2, 0], [0, 1, 1], [2, 0, 1]]
    case = make("square", {"X": X}, {"K": "X.T", "Y": "X @ K @ X"}, tokens=["a", "b", "c"])
    text = quiz.QuestionText(exercise(case, "forward"), ENGLISH)
    labels = {name: text.labels(node) for name, node in case.program.quantities.items()}
    assert labels == {"X": ("a", "b", "c"), "K": (), "Y": ("a", "b", "c")}


@pytest.mark.parametrize(
    ("high", "off", "telling"),
    [
        (0.5251, 0.0, True),
        (0.5249, 0.0, False),
        (0.5249, 0.001, True),
        (0.51, 0.001, False),
    ],
)
def test_what_floats_may_be_off_by_speaks_for_a_candidate(high, off, telling) -> None:
    """Only rows that are surely alike are dropped before the exact numbers decide."""
    weights, kept = np.array([[[high, 1 - high]]]), np.ones((1, 1, 2), dtype=bool)
    assert _are_telling(weights, kept, 0.01, off).tolist() == [telling]


@pytest.mark.parametrize(
    ("step", "derivation"),
    [
        ("rmsnorm(X, eps=1)", "rms-norm-backward"),
        ("layernorm(X, eps=1)", "layer-norm-backward"),
        ("gelu(X)", "activation-derivatives"),
        ("logsumexp(X)", "log-sum-exp"),
        ("rowmax(X)", "online-softmax"),
    ],
)
def test_a_proof_is_asked_of_what_a_step_computes(step, derivation) -> None:
    """Each function has the bundled derivation that is about it."""
    made = exercise(make("about", {"X": [[1, 2], [3, 5]]}, {"Y": step}), "proof")
    assert [part.quantity for part in made.parts] == [derivation]
