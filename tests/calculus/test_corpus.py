"""Lines that a course would contain, true and false, written by hand: each is judged rightly."""

from __future__ import annotations

import pytest

from symattn.calculus.judging import derived

from .files import document, names
from .grids import Unreadable
from .oracle import Judge

#: True lines that are not proved yet, by file.
OPEN = {
    "activations": 4,
    "attention-gradients": 1,
    "biases": 2,
    "grouped-heads": 1,
    "kv-cache": 1,
    "limits": 2,
    "residual-and-scale": 1,
}
#: Lines that can't be read: an index is called like a size, or runs along two axes; or that
#: vary what a hypothesis ties to something else in them.
UNREAD = {"limits": 1, "residual-and-scale": 2, "rope-circle": 2}


def judged(folder, name):
    found = derived(name, document(folder, name))
    assert found.faults == ()
    assert found.lines
    return found.lines


@pytest.mark.sampled(0, 6)
@pytest.mark.parametrize("name", names("corpus"))
def test_true_lines_are_proved(name) -> None:
    """None is refuted, and all are proved but for a few that are known."""
    lines = judged("corpus", name)
    assert [one.text for one in lines if one.status == "refuted"] == []
    short = [f"{one.text}: {one.why}" for one in lines if one.status != "proved"]
    assert len(short) <= OPEN.get(name, 0), short
    assert all(one.why for one in lines if one.status != "proved")


def test_nearly_all_true_lines_are_proved() -> None:
    """At least 98 in a hundred, as the list of those that are not says."""
    every = sum(len(document("corpus", name)["lines"]) for name in names("corpus"))
    assert every >= 300
    assert sum(OPEN.values()) <= 0.02 * every


@pytest.mark.sampled(0, 1)
@pytest.mark.parametrize("name", names("falsehoods"))
def test_false_lines_are_refuted(name) -> None:
    """None is proved or only checked; each has a counterexample whose sides differ."""
    lines = judged("falsehoods", name)
    assert [one.text for one in lines if one.status in ("proved", "checked")] == []
    open_ = [one.text for one in lines if one.status == "undecided"]
    assert len(open_) <= UNREAD.get(name, 0), open_
    for one in lines:
        if one.status == "refuted":
            assert one.counterexample.left != one.counterexample.right, one.text
            assert str(one.counterexample).endswith(
                f"{one.counterexample.left} is not {one.counterexample.right}"
            )


def test_nearly_all_false_lines_are_refuted() -> None:
    """At least 99 in a hundred, as the list of those that are not says."""
    every = sum(len(document("falsehoods", name)["lines"]) for name in names("falsehoods"))
    assert sum(UNREAD.values()) <= 0.01 * every


def test_lines_without_a_meaning_are_not_proved() -> None:
    """Nothing follows where no number can be put in."""
    assert {one.status for one in judged("conditional", "no-meaning")} == {"undecided"}


@pytest.mark.parametrize("name", [one for one in names("conditional") if one != "no-meaning"])
def test_lines_with_conditions_say_them(name) -> None:
    """What is proved under a condition says under which; nothing is refuted."""
    lines = judged("conditional", name)
    assert {one.status for one in lines} <= {"proved", "checked"}
    assert [one.text for one in lines if not one.where] == []


@pytest.mark.sampled(1, 6)
@pytest.mark.parametrize("name", names("corpus"))
def test_the_oracle_finds_true_lines_true(name) -> None:
    """What the mutants are judged by refutes no true line."""
    held = document("corpus", name)
    judge = Judge(held)
    for one in held["lines"]:
        try:
            assert judge.is_false(one["line"]) is False, one["line"]
        except Unreadable:
            assert name == "residual-and-scale"


@pytest.mark.heavy
def test_the_oracle_finds_false_lines_false() -> None:
    """But for differences that show at large sizes or in far digits alone."""
    for name in set(names("falsehoods")) - {"tiny-and-huge", "distinguishing-sizes"}:
        held = document("falsehoods", name)
        judge = Judge(held)
        found = [
            judge.is_false(one["line"]) for one in held["lines"] if "X[r, l]" not in one["line"]
        ]
        assert found.count(True) >= len(found) - 3, name
