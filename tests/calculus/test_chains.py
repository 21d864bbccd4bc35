"""Chains ``a == b == c``: which member is wrong, and which are right."""

from __future__ import annotations

import json

import pytest

import symattn
from symattn.sheets.derivation import sheet

GIVEN = """
S: n x m
L: function of A
A = softmax(S)
"""
RIGHT = ("A * (dA - rowsum(A * dA))", "A * dA - A * rowsum(A * dA)")
WRONG = "A * (dA + rowsum(A * dA))"


def line(text):
    """The last line of a homework."""
    return symattn.derive(GIVEN + text).lines[-1]


def statuses(judged):
    """Of the members: equal to the first, equal to the one before."""
    return [(member.status, member.before) for member in judged.members]


def test_members_of_a_right_chain_are_proved() -> None:
    """All of them, twice."""
    judged = line(f"dS = {RIGHT[0]} = {RIGHT[1]}")
    assert judged.status == "proved"
    assert statuses(judged) == [("proved", "proved")] * 2


def test_one_wrong_member_is_named_and_the_others_stand() -> None:
    """The right end is not refuted by what stands before it, and the hint is for what is wrong."""
    judged = line(f"dS = {RIGHT[0]} = {WRONG} = {RIGHT[1]}")
    assert judged.status == "refuted"
    assert statuses(judged) == [
        ("proved", "proved"),
        ("refuted", "refuted"),
        ("proved", "refuted"),
    ]
    assert judged.why.startswith(f"of the members {WRONG} is not dS, but {RIGHT[0]} and ")
    assert judged.hint.startswith("it would hold with '-' for '+': dS == ")
    wrong = judged.members[1]
    assert wrong.hint == judged.hint
    assert wrong.counterexample == judged.counterexample is not None


def test_a_wrong_first_member_is_named() -> None:
    """Where the others agree with each other."""
    judged = line(f"{WRONG} = {RIGHT[0]} = dS")
    assert statuses(judged) == [("refuted", "refuted"), ("refuted", "proved")]
    assert judged.why == (
        f"of the members the first, {WRONG}, is not what the others are, which are equal"
    )
    assert judged.hint.startswith("it would hold with '-' for '+'")
    assert judged.hint.endswith(f"== {RIGHT[0]}")


def test_a_chain_by_lines_is_judged_by_its_first_member() -> None:
    """A wrong line is refuted, the right one after it is not; what is shown is what holds."""
    derivation = symattn.derive(f"{GIVEN}dS = {WRONG}\n = {RIGHT[0]}\n = {RIGHT[1]}\n = {WRONG}")
    assert [judged.status for judged in derivation.lines] == [
        *("refuted", "proved", "proved", "refuted"),
    ]
    assert derivation.lines[1].text == f"dS == {RIGHT[0]}"
    assert derivation.lines[1].why == f"it is not the {WRONG} before"
    assert derivation.lines[2].text == f"{RIGHT[0]} == {RIGHT[1]}"
    assert derivation.lines[3].text == f"dS == {WRONG}"
    assert "would hold with '-' for '+'" in derivation.lines[3].hint


def test_what_follows_from_a_wrong_line_is_not_right_by_that() -> None:
    """It is the one before, but not the first."""
    derivation = symattn.derive(f"{GIVEN}dS = {WRONG}\n = A * dA + A * rowsum(A * dA)")
    assert [judged.status for judged in derivation.lines] == ["refuted", "refuted"]
    assert derivation.lines[1].why == f"it is the {WRONG} before"


def test_a_definition_begins_a_chain_too() -> None:
    """What continues it is judged against what is defined."""
    derivation = symattn.derive("x: n\ny: n\np = x + y\n = x - y\n = y + x")
    assert [judged.status for judged in derivation.lines] == ["refuted", "proved"]
    assert derivation.lines[1].text == "p == y + x"


def test_members_are_printed_and_data() -> None:
    """In the report, in JSON, and on the sheet."""
    derivation = symattn.derive(f"{GIVEN}dS = {WRONG} = {RIGHT[0]}")
    assert "of the members A * (dA + rowsum(A * dA)) is not dS" in " ".join(
        derivation.to_text().split()
    )
    data = json.loads(json.dumps(derivation.to_dict()))["lines"][0]["members"]
    assert [member["status"] for member in data] == ["refuted", "proved"]
    assert data[0]["counterexample"]["left"] == "0"
    assert data[0]["hint"]
    assert "Of the members" in repr(sheet(derivation).blocks)


@pytest.mark.parametrize("text", ["a = b = a", "a = a = b"])
def test_members_that_can_not_be_read_are_undecided(text) -> None:
    """The line says why."""
    derivation = symattn.derive(f"a: number\n{text} + nothing")
    assert derivation.lines[-1].status in ("undecided", "refuted")
