"""The catalogue: a slip is one row, and all who look for slips have it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import symattn
from symattn.auditing.audit import audit
from symattn.cases import library
from symattn.cases.case import make
from symattn.exercises.exercise import Exercise, Part
from symattn.exercises.faults import suspects
from symattn.exercises.marking.collecting import Blank, Script, read_answer
from symattn.exercises.marking.judging import Examiner
from symattn.exercises.page_script import page_script
from symattn.exercises.questions import solution
from symattn.exercises.stack import stack
from symattn.expressions.syntax import names
from symattn.languages.language import ENGLISH, language
from symattn.languages.sentence import Sentence
from symattn.printers import html
from symattn.slips.catalogue import KINDS, OF_KERNELS, Rule, Slip, formula
from symattn.solution.solution import solve

ROW = Slip(5.0, "{a} with {b} added twice", (Rule("X + Y", "X + Y + Y", ("Y",)),), by_hand=True)
GIVEN = {"X": [[1, 3], [0, 2]], "B": [["0.31", "0.57"], ["-0.4", "0.23"]]}
STEPS = {"Y": "X + B", "A": "softmax(Y)"}
WRONG = {**STEPS, "Y": "X + B + B"}


def rows(name: str, places: int) -> list[list[str]]:
    """The figures of who adds a bias twice, and goes on from there."""
    return [[f"{x:f}" for x in row] for row in solve(make("w", GIVEN, WRONG))[name].decimal(places)]


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "added-twice", ROW)


def test_an_audit_names_a_slip_that_is_added() -> None:
    """It is behind all wrong figures of a document."""
    claims = [{"of": name, "printed": rows(name, 4)} for name in STEPS]
    (cause,) = audit(make("one", GIVEN, STEPS, claims=claims)).causes
    assert (cause.kind, cause.phrase) == ("added-twice", "Y with B added twice")


def test_exercises_and_marks_name_it() -> None:
    """It is a common mistake of the solution, of the page and of STACK, and what marks say."""
    one = Exercise(make("one", GIVEN, STEPS), "forward", (Part("Y", 1), Part("A", 1)))
    answers = {
        Blank(name, i, j): read_answer(text)
        for name in STEPS
        for i, row in enumerate(rows(name, 4))
        for j, text in enumerate(row)
    }
    judged = Examiner(one).judged(Script("Ada", 0, answers))
    assert [(slip.kind, slip.phrase) for slip in judged.slips] == [
        ("added-twice", "Y with B added twice")
    ]
    assert {mark.outcome for _, marks in judged.parts[1:] for mark in marks} == {"follows"}
    assert "With B added twice?" in {says for *_, says in page_script(one, ENGLISH).data["slips"]}
    assert "added twice" in html.document(solution(one))
    assert "added twice" in stack([one])


PAGE = Path(symattn.__file__).parents[1] / "docs" / "slips.md"


@pytest.mark.skipif(not PAGE.is_file(), reason="installed without its documents")
def test_the_page_has_every_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents say of the catalogue what it is."""
    monkeypatch.undo()
    said = re.findall(r"^\| `([\w-]+)` \| (.*?) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert said == [*((kind, slip.phrase) for kind, slip in KINDS.items()), *OF_KERNELS.items()]


def test_every_rule_can_be_read() -> None:
    """A row with a rule that can't be read, or whose words it does not bind, is told at once."""
    for slip in KINDS.values():
        for rule in slip.rules:
            texts = [x for x in rule.words if not isinstance(x, Sentence)]
            asked = {name for text in (rule.instead, *texts) for name in names(formula(text))}
            assert asked <= {*names(formula(rule.step)), "n", "m"}, rule


@pytest.mark.parametrize("name", ["en", "de"])
def test_sentences_begin_with_a_capital(name) -> None:
    """A slip is told to students in a sentence of its own, be its first word filled in or not."""
    say = language(name)
    faults = suspects(Exercise(library.load("cat-sat-mat"), "forward", (Part("T", 1),)))
    told = [fault for fault in faults if fault.pieces is not None]
    first = {str(next(filter(None, fault.said(say))))[:1] for fault in told}
    assert "scale-inverted" in {fault.kind for fault in told}
    assert not [letter for letter in first if letter.islower()]
