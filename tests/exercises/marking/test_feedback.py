"""What students and markers are told."""

from __future__ import annotations

import ast
import csv
import inspect
import re
import string
from fractions import Fraction
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.exercises.marking import answer_files
from symattn.exercises.marking import feedback as told_in
from symattn.exercises.marking.collecting import Blank, Scheme, Script, points_text, read_answer
from symattn.exercises.marking.feedback import Feedback
from symattn.exercises.marking.judging import Examiner
from symattn.languages.language import Language, fields, language
from symattn.printers.html import document

from ...hostile import TEXT, steering
from ...scripts import unscripted
from .students import SLIPS, exercise_of, numbers, script, written

EXAMINER = Examiner(exercise_of(numbers(0)))


def feedback(answers, **named):
    return Feedback(EXAMINER.judged(answers), EXAMINER.exercise, **named)


def slipping(slip, student="Ada"):
    planted = SLIPS[slip]
    found = written(numbers(0), instead={planted.step: planted.instead})
    return script(found, student=student)


HONEST = script(written(numbers(0), kept=12))


def words(page):
    """What a page says, without its mark-up."""
    return re.sub(r"<[^>]*>", "", page.partition("<body>")[2])


def test_all_right() -> None:
    """Who has everything right is told so, and has all points."""
    found = feedback(HONEST)
    assert found.points == 15
    assert "Ada: 15 of 15 points" in found.text()
    assert "All 72 answers are right: well done!" in found.text()
    assert "[" not in found.text()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("slip", ["scale-dropped", "mask-forgotten", "softmax-columns"])
def test_the_first_slip_is_told_and_what_follows(slip) -> None:
    """On the page as in the text: the slip, the quantities that follow, the right figures."""
    found = feedback(slipping(slip))
    step = SLIPS[slip].step
    for told in (found.text(), words(document(found.sheet("ada")))):
        assert re.search(rf"First mistake: {step} [^.]*{re.escape(SLIPS[slip].said)}", told)
        assert (
            f"right, and {found.judged.count('follows')} more agree with your earlier results"
            in told
        )
        assert "credit for the method" in told
        assert f"{points_text(found.points)} of 15 points" in told
        for mark in found.judged.marks:
            if mark.outcome in ("slip", "follows") and mark.correct != "-inf":
                assert mark.correct.lstrip("-") in told


def test_what_is_wrong_in_itself_is_struck_and_what_follows_is_not() -> None:
    """On the page a wrong figure has a stroke through it, each with the right one beside."""
    found = feedback(slipping("scale-dropped"))
    page = document(found.sheet("ada"))
    assert page.count('class="struck"') == found.judged.count("slip")
    others = sum(map(found.judged.count, ("slip", "follows", "early")))
    assert page.count('class="correct"') == others


def test_each_kind_of_answer_has_its_words() -> None:
    """Blanks, what is no number, miswritings and early rounding are told."""
    answers = dict(HONEST.answers)
    del answers[Blank("Q", 0, 0)], answers[Blank("Q", 0, 1)]
    answers[Blank("Y", 0, 0)] = read_answer("77.123")
    right = EXAMINER.exercise.right(EXAMINER.exercise.parts[6])
    answers[Blank("A", 1, 0)] = read_answer(f"{-right[1][0]:f}")
    answers[Blank("A", 2, 0)] = read_answer(f"{right[2][0]:.2f}")
    told = feedback(Script("Ada", 0, answers, {Blank("Q", 0, 1): "dunno"})).text()
    assert "Left blank: 1." in told
    assert "Q[0, 1]: this is not a number." in told
    assert "dunno" in told
    assert "A[1, 0]: Only its sign is wrong." in told
    assert "Right so far, but 4 places were asked for." in told
    assert "Incorrect, and not explained by earlier answers: Y[0, 0]." in told


def test_decimals_as_the_student_writes_them() -> None:
    """Who writes a comma is shown the right figures with one."""
    answers = {
        blank: read_answer(answer.text.replace(".", ","))
        for blank, answer in slipping("scale-dropped").answers.items()
    }
    told = feedback(Script("Ada", 0, answers)).text().partition("\n\nQ:")[2]
    assert re.search(r"\[-?[0-9]+,[0-9]{4}\]", told)
    assert not re.search(r"\[-?[0-9]+\.[0-9]{4}\]", told)


def test_nothing_but_rounding() -> None:
    """Who only rounds too early is told that nothing else is wrong."""
    told = feedback(script(written(numbers(0), 2), 2)).text()
    assert "Only the rounding is wrong" in told
    assert "first mistake" not in told.lower()


def test_hostile_text_harms_nothing() -> None:
    """A name and an answer with everything that is live somewhere stay text."""
    answers = {blank: answer for blank, answer in HONEST.answers.items() if any(blank[1:])}
    found = feedback(Script(TEXT, 0, answers, {Blank("Q", 0, 0): TEXT}))
    page = unscripted(document(found.sheet("ada")))
    assert "<script" not in page
    assert "<img" not in page
    assert not steering(page)
    assert not steering(found.text())
    table = answer_files.csv_line(answer_files.row(found), "")
    assert not steering(table)


def test_every_sentence_can_be_said_in_another_language() -> None:
    """In a language that only shouts, no sentence stays English."""
    heard: list[str] = []

    class Loud(Language):
        def _filled(self, sentence, pieces):
            heard.append(sentence)
            assert {*pieces} == fields(sentence)
            for text, name, _, _ in string.Formatter().parse(sentence):
                yield text.upper()
                if name is not None:
                    yield pieces[name]

    answers = dict(slipping("scale-dropped").answers)
    del answers[Blank("Y", 0, 0)]
    told = feedback(Script("1", 2, answers), say=Loud("loud", {})).text()
    assert "WITHOUT THE DIVISION BY" in told
    assert {*re.findall(r"\b[a-z][a-z_]+\b", told)} == {"attention", "inf", "sqrt", "d_k"}
    assert len(heard) > 20


def test_german_says_every_sentence() -> None:
    """Each sentence that the feedback is made of, and each way of miswriting a number."""
    tree = ast.parse(inspect.getsource(told_in))
    said = {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).removeprefix("self.") in ("say", "say.text")
        and isinstance(node.args[0], ast.Constant)
    }
    assert len(said) >= 20
    assert said - language("de").sentences.keys() == set()


def test_the_table_of_marks() -> None:
    """A row for each student with points, part by part, and what the answers are."""
    scheme = Scheme(slip=Fraction(0))
    found = [feedback(HONEST), feedback(slipping("scale-dropped", "=1+1"), scheme=scheme)]
    rows = [answer_files.row(one) for one in found]
    lines = [
        answer_files.csv_line(row, f"{name}.html") for row, name in zip(rows, "ab", strict=True)
    ]
    read = [*csv.DictReader([answer_files.csv_head(rows), *lines])]
    assert [row["student"] for row in read] == ["Ada", "'=1+1"]
    assert [row["points"] for row in read] == ["15", points_text(found[1].points)]
    assert (read[0]["T"], read[0]["right"], read[0]["slip"]) == ("1", "72", "0")
    assert (read[1]["T"], read[1]["feedback"]) == ("0", "b.html")
    assert "without the division by sqrt(d_k)" in read[1]["slips"]
    told = answer_files.as_dict(rows, ["Bob"])
    assert told["not_marked"] == ["Bob"]
    assert [*told["slips"].values()] == [1]
    for one in told["students"]:
        assert sum(Fraction(answer["points"]) for answer in one["answers"]) == Fraction(
            one["points"]
        )
        assert len(one["answers"]) == sum(one["counts"].values()) == 72


@given(
    st.lists(
        st.text(max_size=120) | st.sampled_from(["..", "a/b", "con", "CON.txt", "é" * 90]),
        max_size=8,
    )
)
def test_names_of_files_are_safe_and_distinct(students) -> None:
    """One file each, in the folder, on every system that ignores case or knows devices."""
    names = answer_files.file_names(students)
    assert len({name.casefold() for name in names}) == len(students)
    for name in names:
        assert (
            PurePosixPath(f"{name}.html").name
            == PureWindowsPath(f"{name}.html").name
            == f"{name}.html"
        )
        assert not name.startswith((".", "-"))
        assert re.fullmatch(r"[\w-]+", name)
        assert len(f"{name}.html".encode()) <= 255
        assert name.casefold() not in ("con", "nul", "aux", "prn", "com1")
