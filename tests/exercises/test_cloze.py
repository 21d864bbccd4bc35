"""Cloze questions, read back by the grammar that Moodle's importer has for them."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.cases import library
from symattn.cases.case import with_numbers
from symattn.errors import Malformed
from symattn.exercises.exercise import exercise
from symattn.exercises.quiz import cloze, escaped, quiz, weights
from symattn.exercises.stack import stack
from symattn.numbers.balls import FIRST
from symattn.solution.entries import EntryValue

from ..hostile import TEXT, steering
from ..strategies import many
from .stack_trees import text
from .test_stack import backward

NAMES = library.names()


class Answer(NamedTuple):
    """One answer of a blank: its part of the points, the number, how near, what is said."""

    share: Fraction
    number: Decimal
    tolerance: Decimal
    feedback: str


class Blank(NamedTuple):
    weight: int
    answers: list[Answer]


#: A blank: its weight, and answers up to the first bracket that no backslash escapes.
BLANK = re.compile(r"\{([0-9]*):(?:NUMERICAL|NM):(.+?(?<!\\))\}", re.DOTALL)
ANSWER = re.compile(r"(=|%-?[0-9.]+%)?([^:#~]+):([^:#~]+)(?:#(.*))?", re.DOTALL)


def blanks(shown: str) -> list[Blank]:
    """What Moodle makes of a question's text."""
    found = []
    for weight, alternatives in BLANK.findall(shown):
        answers = []
        for alternative in re.split(r"(?<!\\)~", alternatives):
            read = ANSWER.fullmatch(alternative)
            assert read, alternative
            share, number, tolerance, feedback = read.groups()
            part = Fraction(1) if share == "=" else Fraction(share.strip("%")) / 100
            said = html.unescape(feedback or "")
            answers.append(Answer(part, Decimal(number), Decimal(tolerance), said))
        found.append(Blank(int(weight), answers))
    return found


def element(made):
    """The question, and its text."""
    found = ET.fromstring(cloze(made))
    return found, text(found, "questiontext/text")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", NAMES)
def test_blanks(name):
    """Each entry that is no masked score has a blank, row by row, which takes what is within
    the tolerance of the exact value; and parts weigh what their points say."""
    made = backward(name)
    _, shown = element(made)
    found = blanks(shown)
    places = []
    for part in made.parts:
        quantity = made.solution[part.quantity]
        rows, columns = quantity.grid
        places += [
            (part, EntryValue(quantity, i, j))
            for i in range(rows)
            for j in range(columns)
            if not quantity.is_masked(i, j)
        ]
    assert len(found) == len(places) == shown.count(":NUMERICAL:")
    totals = dict.fromkeys(made.parts, 0)
    for blank, (part, entry) in zip(found, places, strict=True):
        right = blank.answers[0]
        assert right.share == 1
        assert right.tolerance == Decimal(1).scaleb(-part.places)
        distance = abs(float(entry.ball(FIRST)) - float(right.number))
        assert distance <= 1e-3 * float(right.tolerance)
        totals[part] += blank.weight
    assert len({Fraction(total, part.points) for part, total in totals.items()}) == 1


def test_masked_scores():
    """A masked score is shown, and a weight that is zero is asked for."""
    made = exercise(library.load("cat-sat-mat-causal"))
    _, shown = element(made)
    quantities = [part.quantity for part in made.parts]
    tables = dict(
        zip(quantities, re.findall(r"<table.*?</table>", shown)[-len(quantities) :], strict=True)
    )
    assert tables["M"].count("−∞") == 3
    assert len(blanks(tables["M"])) == 6
    assert [blank.answers[0].number for blank in blanks(tables["A"])[:3]] == [1, 0, 0]


@many
@given(st.dictionaries(st.text(max_size=3), st.tuples(st.integers(1, 50), st.integers(1, 20)),
                       min_size=1, max_size=5))  # fmt: skip
def test_weights(parts):
    """Parts weigh what their points say, by whole numbers that have no common factor."""
    counts = {name: count for name, (count, _) in parts.items()}
    points = {name: value for name, (_, value) in parts.items()}
    found = weights(counts, points)
    shares = {Fraction(found[name] * counts[name], points[name]) for name in parts}
    assert len(shares) == 1
    assert all(not all(weight % k == 0 for weight in found.values()) for k in (2, 3, 5, 7))


@many
@given(st.text(st.sampled_from('ab}{~#/"\\&;=%:<>')))
def test_feedback_is_read_back(said):
    """Whatever is said of an answer, Moodle reads that, and no other answer."""
    blank = f"{{1:NUMERICAL:=1:0.1#{escaped(said)}~%50%2:0.1#b}} c}}"
    [found] = blanks(blank)
    assert [answer.feedback for answer in found.answers] == [said, "b"]


# -- what Moodle's importer reads --------------------------------------------------------


@pytest.mark.parametrize("name", ["cat-sat-mat", "the-fox-jumps"])
def test_elements(name):
    """A question has what the importer asks for, formulas are between the marks that the
    MathJax filter knows, and the right answers are in the feedback."""
    made = exercise(library.load(name))
    found, shown = element(made)
    assert found.attrib == {"type": "cloze"}
    assert {"name", "questiontext", "generalfeedback", "penalty"} <= {x.tag for x in found}
    assert shown.count(r"\(") == shown.count(r"\)") > len(made.parts)
    feedback = text(found, "generalfeedback/text")
    for part in made.parts:
        for row in made.right(part):
            assert all(format(abs(answer), "f") in feedback for answer in row)


def test_a_category():
    """All versions are in one category, under names that tell them apart."""
    made = [replace(exercise(library.load("cat-sat-mat")), version=k) for k in (1, 2)]
    whole = ET.fromstring(quiz("cat/sat", map(cloze, made)))
    category, *questions = whole.iterfind("question")
    assert text(category, "category/text") == "$course$/top/cat//sat"
    assert [text(one, "name/text")[-4:] for one in questions] == ["(01)", "(02)"]


def test_hostile_titles_and_tokens():
    """Titles and tokens are text: they close no section, and are no formula and no blank."""
    evil = r"</text>]]>{1:NUMERICAL:=1}{#1}\(x\)$$y$$<script>&amp;"
    case = library.load("cat-sat-mat")
    plain, _ = element(exercise(case))
    found, shown = element(exercise(replace(case, title=evil, tokens=(evil,) * 3)))
    assert text(found, "name/text") == evil
    assert len(blanks(shown)) == len(blanks(text(plain, "questiontext/text")))
    assert shown.count(r"\(") == text(plain, "questiontext/text").count(r"\(")
    assert not re.search(r"<script|\$\$|\{#", shown)


def test_text_that_steers():
    """Nothing of it gets through, and the file stays XML."""
    case = replace(library.load("cat-sat-mat"), title=TEXT, tokens=(TEXT, "b", "c"), name=TEXT)
    for make in (cloze, lambda made: stack([made])):
        whole = quiz(TEXT, [make(exercise(case))])
        assert not steering(whole)
        assert len(ET.fromstring(whole).findall("question")) == 2


def test_what_is_no_question():
    """A proof has no figures."""
    with pytest.raises(Malformed, match="a proof has no figures"):
        cloze(exercise(library.load("cat-sat-mat"), "proof"))


def test_closed_forms_and_single_numbers():
    """Given numbers that are no short decimals are formulas; a single number is a line."""
    case = library.load("cat-sat-mat")
    _, shown = element(exercise(with_numbers(case, {**case.raw, "d_k": "sqrt(2)"})))
    assert r"<p>\(d_{k} =\) \(\sqrt{2}\)</p>" in shown
    _, shown = element(exercise(with_numbers(case, {**case.raw, "d_k": "0.25"})))
    assert r"<p>\(d_{k} =\) 0.25</p>" in shown


# -- common mistakes ------------------------------------------------------------------------


def answers_of(made):
    """The answers of each blank, by the quantity and the place of its entry."""
    _, shown = element(made)
    waiting = iter(blanks(shown))
    found = {}
    for part in made.parts:
        quantity = made.solution[part.quantity]
        rows, columns = quantity.grid
        places = ((i, j) for i in range(rows) for j in range(columns))
        for i, j in places:
            if not quantity.is_masked(i, j):
                found[part.quantity, i, j] = next(waiting).answers
    return found


def test_the_forgotten_scale():
    """It is known where it is made, for half the points, and in the weights and the output
    that come of it, for all."""
    found = answers_of(exercise(library.load("cat-sat-mat")))
    wrong = {("T", 0, 0): "2", ("A", 0, 0): "0.6652410", ("Y", 0, 2): "0.6652410"}
    for (name, i, j), number in wrong.items():
        [one] = [x for x in found[name, i, j] if x.number == Decimal(number)]
        assert one.feedback.startswith("Without the division by sqrt(d_k)?")
        assert one.share == (Fraction(1, 2) if name == "T" else 1)


@pytest.mark.sampled(2, 14)
@pytest.mark.parametrize("name", NAMES)
def test_mistakes_are_told_apart(name):
    """No wrong number is near to what is right, or to another of the same blank; what is
    said of it is plain; and one that gives all the points is no round number."""
    for (quantity, _, _), [right, *wrong] in answers_of(backward(name)).items():
        assert right.feedback == ""
        numbers = [right.number, *(answer.number for answer in wrong)]
        near = [abs(x - y) for k, x in enumerate(numbers) for y in numbers[:k]]
        assert all(distance >= 4 * right.tolerance for distance in near), quantity
        for answer in wrong:
            assert re.match(r"(With(out)?|Multiplied by|Divided by) [^<{}\\]+\?", answer.feedback)
            assert answer.share < 1 or len(str(answer.number).replace(".", "").strip("-0")) > 2


def test_a_mask_that_is_forgotten():
    """Masked scores are no blanks, so it shows in the weights first, and is their slip."""
    found = answers_of(exercise(library.load("cat-sat-mat-causal")))
    [one] = [x for x in found["A", 0, 1] if x.feedback.startswith("Without the mask?")]
    assert one.share == Fraction(1, 2)
