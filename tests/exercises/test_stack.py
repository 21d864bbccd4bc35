"""STACK questions: their code is run by Maxima, variant by variant."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from symattn.cases import library
from symattn.cases.case import with_numbers
from symattn.errors import Malformed
from symattn.exercises.exercise import exercise
from symattn.exercises.quiz import quiz
from symattn.exercises.stack import stack

from .maxima_runs import answers, ask, needs_maxima
from .stack_trees import Question, marked, text
from .test_maxima import with_upstream_numbers

NAMES = library.names()


def backward(name):
    """A bundled case as an exercise with gradients."""
    return exercise(with_upstream_numbers(library.load(name)), "backward")


def question(*exercises):
    return Question(ET.fromstring(stack(exercises)))


def versions(name, level, count):
    """An exercise, with other given numbers in each version."""
    first = exercise(library.load(name), level)
    rows = numbers(first, "X")
    made = []
    for k in range(1, count + 1):
        drawn = [[x + (k * i) % 3 for i, x in enumerate(row)] for row in rows]
        case = with_numbers(first.case, {**first.case.raw, "X": drawn})
        made.append(replace(first, version=k, case=case))
    return made


def numbers(made, name):
    """A given matrix as it was written."""
    rows: Any = made.case.raw[name]
    return rows


@pytest.mark.heavy
@needs_maxima
def test_right_answers():
    """In every bundled case the right digits of every step and gradient get all."""
    made = [backward(name) for name in NAMES]
    questions = [question(one) for one in made]
    found = marked([(one, 1, [one.tests()[0][0]]) for one in questions])
    scores = [[result.score for result in results.values()] for [results] in found]
    assert scores == [[1] * len(one.parts) for one in made]


@pytest.mark.heavy
@needs_maxima
@pytest.mark.parametrize("name", ["cat-sat-mat-padding", "length-4-causal", "the-fox-jumps"])
def test_the_questions_own_tests(name):
    """Right answers get all, nonsense nothing, what follows from a slip all but for the part
    that the slip is in, and a usual slip is known; and so the question's tests say."""
    one = question(backward(name))
    [results] = marked([(one, 1, [script for script, _ in one.tests()])])
    assert results == [expected for _, expected in one.tests()]
    right, carried, nonsense, slips = (
        {name: result.score for name, result in result.items()} for result in results
    )
    assert {*right.values()} == {1}
    assert {*nonsense.values()} == {0}
    assert sorted(carried.values())[:2] == [0, 1]
    follows = [result.note for result in results[1].values()]
    assert sum(re.fullmatch(r"prt\d+-2-T", note) is not None for note in follows) > 2
    assert 0.5 in slips.values()
    assert {*slips.values()} <= {0.5, 1}


@pytest.mark.heavy
@needs_maxima
@pytest.mark.parametrize(
    ("name", "level"), [("cat-sat-mat", "masked"), ("the-fox-jumps", "forward")]
)
def test_versions_are_variants(name, level):
    """The variant of each deployed seed has the numbers of one version, and its right
    answers, digit by digit; its tests hold too."""
    made = versions(name, level, 4)
    one = question(*made)
    assert one.seeds == [1, 2, 3, 4]
    code = []
    for seed in one.seeds:
        code += one.variant(seed)
        code += [ask(f"ta_{k}") for k, _ in enumerate(made[0].parts, 1)]
    said = iter(answers(code))
    for version in made:
        for part in version.parts:
            right = np.array(version.right(part), dtype=float)
            assert np.array_equal(read(next(said)), right)
    tests = one.tests()
    found = marked([(one, seed, [script for script, _ in tests]) for seed in one.seeds])
    assert found == [[expected for _, expected in tests]] * len(made)


def read(said):
    """A matrix that Maxima said."""
    plain = said.replace("matrix(", "").removesuffix(")").replace("-inf", "-1e999")
    rows = re.findall(r"\[([^\]]*)\]", plain)
    return np.array([[float(x) for x in row.split(",")] for row in rows])


@needs_maxima
def test_follow_through():
    """What NumPy computes from a student's own wrong scores follows; from the right scores it
    would be right, and what fits neither is wrong. A part that is left empty is worked out
    from those before it."""
    made = exercise(library.load("cat-sat-mat"))
    X = np.array(numbers(made, "X"), dtype=float)
    S = X @ X.T
    S[0, 1] = 3.5
    T = S / 2
    A = np.exp(T) / np.exp(T).sum(axis=1, keepdims=True)
    own = {"ans1": typed(S), "ans2": typed(T), "ans3": typed(A), "ans4": typed(A @ X)}
    empty = {"ans2": "matrix([null,null,null],[null,null,null],[null,null,null])"}
    late = {"ans3": typed(A + 0.01)}
    truth = {f"ans{k}": f"ta_{k}" for k in range(1, 5)}
    scripts = [own, own | empty, own | late, truth | empty]
    [found] = marked([(question(made), 1, scripts)])
    right, follows, wrong = "1-T", "2-T", "F"
    notes = [[re.sub(r"prt.-(\d-T|\d-F)", r"\1", x.note) for x in one.values()] for one in found]
    assert [[note if note[-1] == "T" else wrong for note in one] for one in notes] == [
        [wrong, follows, follows, follows],
        [wrong, wrong, follows, follows],
        [wrong, follows, wrong, wrong],
        [right, wrong, right, right],
    ]


@needs_maxima
def test_usual_slips():
    """Weights without the scale, and weights before they are divided by their sums, by NumPy:
    the one is known where the scale is used, the other where weights are."""
    made = exercise(library.load("cat-sat-mat"))
    X = np.array(numbers(made, "X"), dtype=float)
    powers = np.exp(X @ X.T / 2)
    truth = {f"ans{k}": f"ta_{k}" for k in range(1, 5)}
    scripts = [truth | {"ans2": typed(X @ X.T)}, truth | {"ans3": typed(powers)}]
    one = question(made)
    [[unscaled, unnormalised]] = marked([(one, 1, scripts)])
    assert (unscaled["prt2"].score, unnormalised["prt3"].score) == (0.5, 0.5)
    said = {
        text(node, "trueanswernote"): text(node, "truefeedback/text") for _, node in one.nodes()
    }
    assert said[unscaled["prt2"].note] == r"<p>Without the division by \(\sqrt{d_{k}}\)?</p>"
    assert "sums of the exponentials?" in said[unnormalised["prt3"].note]


def typed(matrix):
    """A matrix as a student types it, to four places."""
    return "matrix(" + ",".join(str([round(x, 4) for x in row]) for row in matrix.tolist()) + ")"


@needs_maxima
def test_the_tests_can_fail():
    """A question whose answer is wrong doesn't pass its own tests."""
    broken = stack([exercise(library.load("cat-sat-mat"))]).replace("sa_softmax(s_2)", "s_2")
    one = Question(ET.fromstring(broken))
    [found] = marked([(one, 1, [script for script, _ in one.tests()])])
    assert found != [expected for _, expected in one.tests()]


# -- what Moodle's importer reads --------------------------------------------------------

QUESTION = {
    "name", "questiontext", "generalfeedback", "defaultgrade", "penalty", "hidden", "idnumber",
    "stackversion", "questionvariables", "specificfeedback", "questionnote",
    "questiondescription", "questionsimplify", "assumepositive", "assumereal", "prtcorrect",
    "prtpartiallycorrect", "prtincorrect", "decimals", "scientificnotation",
    "multiplicationsign", "sqrtsign", "complexno", "inversetrig", "logicsymbol", "matrixparens",
    "variantsselectionseed", "input", "prt", "deployedseed", "qtest",
}  # fmt: skip
INPUT = {
    "name", "type", "tans", "boxsize", "strictsyntax", "insertstars", "syntaxhint",
    "syntaxattribute", "forbidwords", "allowwords", "forbidfloat", "requirelowestterms",
    "checkanswertype", "mustverify", "showvalidation", "options",
}  # fmt: skip
NODE = {
    "name", "description", "answertest", "sans", "tans", "testoptions", "quiet",
    *(f"{branch}{field}" for branch in ("true", "false") for field in (
        "scoremode", "score", "penalty", "nextnode", "answernote", "feedback")),
}  # fmt: skip


@pytest.mark.sampled(3, 20)
@pytest.mark.parametrize("name", NAMES)
def test_elements(name):
    """All that STACK's importer asks for is there, and every name refers to something: the
    text has each input, its validation and each tree, and trees end."""
    made = backward(name)
    element = ET.fromstring(stack([made]))
    assert {child.tag for child in element} == QUESTION
    shown = text(element, "questiontext/text")
    inputs = [text(x, "name") for x in element.iterfind("input")]
    trees = [text(x, "name") for x in element.iterfind("prt")]
    assert len(inputs) == len(trees) == len(made.parts)
    for tag, names in (("input", inputs), ("validation", inputs), ("feedback", trees)):
        assert re.findall(rf"\[\[{tag}:(\w+)\]\]", shown) == names
    for one in element.iterfind("input"):
        assert {child.tag for child in one} == INPUT
    for tree in element.iterfind("prt"):
        nodes = {text(x, "name"): x for x in tree.iterfind("node")}
        assert {*nodes} == {str(k) for k in range(len(nodes))}
        for place, node in nodes.items():
            assert {child.tag for child in node} == NODE
            for branch in ("true", "false"):
                then = text(node, f"{branch}nextnode")
                assert then == "-1" or int(then) > int(place)
    total = sum(float(text(tree, "value")) for tree in element.iterfind("prt"))
    assert total == float(text(element, "defaultgrade")) == made.points


def test_hostile_titles():
    """A title is text: it closes no section, and is no formula, block or blank."""
    title = r"</text>]]>{@quit()@}[[input:ans9]]{1:NUMERICAL:=1}\(x\)$$y$$<script>&amp;"
    case = replace(library.load("cat-sat-mat"), title=title)
    document = quiz("a/b", [stack([exercise(case)])])
    [element] = ET.fromstring(document).iterfind("question[@type='stack']")
    assert text(element, "name/text") == title
    shown = text(element, "questiontext/text")
    assert "<script>" not in shown
    assert "quit()@}" not in shown
    assert "input:ans9" not in re.findall(r"\[\[([^\]]*)\]\]", shown)
    opening = shown[: shown.index("Given")]
    assert not re.search(r"\\\(|\$\$|\{|\[\[", opening)


def test_what_is_no_question():
    """Proofs have no figures, and versions with other steps are no variants."""
    case = library.load("cat-sat-mat")
    with pytest.raises(Malformed, match="a proof has no figures"):
        stack([exercise(case, "proof")])
    other = replace(exercise(library.load("cat-sat-mat-causal")), version=2)
    with pytest.raises(Malformed, match="version 2 has other steps"):
        stack([exercise(case), other])


def test_letters_that_nobody_asks_for() -> None:
    """The gradient that flows in may be of letters if none is asked for."""
    made = stack([exercise(library.load("cross-attention"), "forward")])
    assert "v_upstream" not in made
    assert "<qtest>" in made
