"""Questions and solutions as sheets: blanks where figures are asked for, figures where they
are worked, mistakes behind the step in which they are made."""

# Blocks are read here with LaTeX for their formulas.
# mypy: disable-error-code="comparison-overlap,operator"

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from symattn.cases import library
from symattn.cases.case import make
from symattn.cases.settings import LEVELS
from symattn.exercises import questions
from symattn.exercises.exercise import Exercise, exercise
from symattn.exercises.faults import visible_faults
from symattn.exercises.questions import letter, question, solution
from symattn.exercises.variants import variants
from symattn.expressions.shapes import grid
from symattn.languages.language import ENGLISH
from symattn.printers import blocks as b
from symattn.printers import html, latex, markdown

from ..notation import in_latex
from ..scripts import unscripted

CASES = ("cat-sat-mat", "please-study-man", "length-4-causal", "cat-sat-mat-padding")

#: A blank for a figure.
BLANK = in_latex(questions.BLANK)


def made(name: str, level: str) -> Exercise:
    (one,) = variants(library.load(name), 1, 5, level)
    return one


def words(sheet: b.Sheet) -> str:
    """All text of the paragraphs and headings, formulas as they are written."""
    lines = [x.text for x in sheet.blocks if isinstance(x, b.Paragraph | b.Heading)]
    pieces = [
        x if isinstance(x, str) else in_latex(x.formula) if isinstance(x, b.Math) else x.text
        for line in lines
        for x in (*line, "\n")
    ]
    return "".join(pieces)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("level", LEVELS[:3])
def test_blanks_have_the_shapes(name: str, level: str) -> None:
    """Every part has its letter, its points, and as many blanks as it has figures."""
    one = made(name, level)
    sheet = in_latex(question(one))
    blanks = [
        matrix
        for block in sheet.blocks
        if isinstance(block, b.Matrices)
        for matrix in block.items
        if BLANK in matrix.before or any(BLANK in row for row in matrix.cells)
    ]
    assert len(blanks) == len(one.parts)
    for part, matrix in zip(one.parts, blanks, strict=True):
        rows, columns = grid(one.shape(part))
        assert (len(matrix.cells), {len(row) for row in matrix.cells}) == (rows, {columns})
        assert {cell for row in matrix.cells for cell in row} == {BLANK}
    heads = [block for block in sheet.blocks if isinstance(block, b.Heading) and block.level == 2]
    assert [re.findall(r"^\((.)\)|\((\d+) points?\)$", "".join(map(str, head.text)))
            for head in heads] == [
        [(letter(place), ""), ("", str(part.points))] for place, part in enumerate(one.parts)
    ]  # fmt: skip


@pytest.mark.parametrize("level", LEVELS[:3])
def test_no_answer_stands_in_the_question(level: str) -> None:
    """No figure with its places that is asked for is printed in the question."""
    one = made("cat-sat-mat", level)
    page = html.document(question(one))
    body = page[page.index("<main>") :]
    for part in one.parts:
        for answer in (x for row in one.right(part) for x in row):
            if answer != answer.to_integral_value() and not answer.is_infinite():
                assert str(abs(answer)) not in body


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("level", ["masked", "backward"])
def test_the_solution_has_every_answer_and_mistake(name: str, level: str) -> None:
    """Each right answer is on the page, and each mistake with its wrong figure behind its step."""
    one = made(name, level)
    sheet = solution(one)
    page = html.document(sheet)
    for part in one.parts:
        for answer in (x for row in one.right(part) for x in row):
            if answer != answer.to_integral_value() and not answer.is_infinite():
                # A number that is short stands there without its last zeros.
                shown = str(abs(answer)).rstrip("0")
                assert f">{shown}" in page, (part, answer)
    said = words(sheet)
    found = [*visible_faults(one)]
    assert len(found) > 5
    for slip, shows in found:
        for mistake in shows:
            wrong = r"-\infty" if mistake.wrong.is_infinite() else f"{mistake.wrong:f}"
            assert f"= {wrong} instead of" in said
        assert str(slip.said(ENGLISH)[0]).strip() in said
    assert said.count("Common mistakes") == len({slip.part for slip, _ in found})


def test_a_known_question() -> None:
    """Version 0 is the case as it is, with its own numbers, in a heading's words."""
    sheet = in_latex(question(exercise(library.load("cat-sat-mat"))))
    said = words(sheet)
    assert "Points: ______ of 8" in said
    assert r"(a) S – scores, 3 \times 3 (2 points)" in said
    assert r"(b) T – scaled scores, 3 \times 3 (1 point)" in said
    steps = next(block for block in sheet.blocks if isinstance(block, b.Equations))
    assert [line[0] for line in steps.lines] == ["S", "T", "A", "Y"]
    (given,) = sheet.blocks[2:3]
    assert isinstance(given, b.Matrices)
    assert given.items[0].cells[0] == ("1", "0", "1", "0")


def test_gradients_do_not_give_their_formulas_away() -> None:
    """What is to be derived is named, and no more; what is differentiated is said."""
    said = words(question(exercise(library.load("cat-sat-mat"), "backward")))
    assert r"The loss is L = \sum_{i,j} Y_{i,j}" in said
    assert "rowsum" not in said
    (one,) = variants(library.load("length-4-causal"), 1, 1, "backward")
    assert "The gradient of the loss with respect to Y is given" in words(question(one))


@pytest.mark.heavy
def test_proofs() -> None:
    """The question has what is to be shown, the solution its proof, neither a figure to fill."""
    one = exercise(library.load("cat-sat-mat"), "proof")
    asked, solved = question(one), solution(one)
    assert "Prove each statement for any size" in words(asked)
    assert "The Jacobian of softmax (6 points)" in words(asked)
    proofs = [block for block in solved.blocks if isinstance(block, b.Heading)]
    assert [x for x in proofs if x.text == ("Proof",)]
    assert not [x for x in asked.blocks if isinstance(x, b.Heading) and x.text == ("Proof",)]
    assert BLANK not in str(in_latex(asked.blocks))


def test_hostile_titles() -> None:
    """What a case says is text on both sheets, in HTML and in LaTeX."""
    title, token = "<script>alert(1)</script> \\input{x}", "$x$ & <b>"
    case = make("x", {"X": [[1, 2], [0, 1]]}, {"S": "X @ X.T", "A": "softmax(S)"},
                title=title, tokens=[token, "b"])  # fmt: skip
    one = exercise(case)
    for sheet in (question(one), solution(one)):
        page, tex = unscripted(html.document(sheet)), latex.document(sheet)
        assert "<script" not in page
        assert "<b>" not in page
        assert "&lt;script&gt;" in page
        assert "\\input{x}" not in tex
        assert "$x$" not in tex


def test_other_languages() -> None:
    """Its own words are said in the language that is asked for."""
    assert question(exercise(library.load("cat-sat-mat")), language="de").say.name == "de"


def test_letters() -> None:
    """Parts beyond z go on with aa."""
    assert [letter(place) for place in (0, 25, 26, 51, 52)] == ["a", "z", "aa", "az", "ba"]


def test_scalars_and_vectors() -> None:
    """A number has one blank, a vector a row of them, and a short answer is a right one."""
    case = make(
        "v", {"x": [1, 2], "d": 2}, {"t": "x / sqrt(d)", "a": "softmax(t)", "s": "total(t)"}
    )
    one = exercise(case, places=2)
    sheet = in_latex(question(one))
    blanks = [x for x in sheet.blocks if isinstance(x, b.Matrices)][-3:]
    assert [len(x.items[0].cells) for x in blanks] == [1, 1, 0]
    assert BLANK in blanks[2].items[0].before
    assert one.right(one.parts[2]) == ((Decimal("2.12"),),)
    assert "(b) a – attention weights, 2 (3 points)" in words(sheet)


def test_a_line_to_write_on_in_markdown() -> None:
    """Blanks are lines, not the empty words that underscores would be."""
    asked = exercise(library.load("cat-sat-mat"))
    figures = sum(len(row) for part in asked.parts for row in asked.right(part))
    assert figures == 3 * 3 * 3 + 3 * 4
    assert markdown.document(question(asked)).count(r"\underline{\qquad}") == figures


def test_the_last_blank_never_stands_alone():
    """The room of the part before it holds both; a page ends above it, or below both."""
    blocks = question(exercise(library.load("cat-sat-mat"))).blocks
    rooms = [x.room for x in blocks if isinstance(x, b.Heading) and x.level == 2]
    *others, last = rooms
    assert others == [last] * (len(others) - 1) + [2 * last]
    assert last > 0


def test_a_question_counts_as_its_key_does():
    """Whatever a page is asked to count from: marks are of the exercise."""
    made = exercise(library.load("cat-sat-mat"))
    assert question(made, count_from=1).blocks == question(made).blocks
