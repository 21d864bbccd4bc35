"""Items of QTI: answered in a browser, and by the rules of the specification, they are worth
what ``symattn mark`` gives."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

from symattn.cases import library
from symattn.cases.case import make
from symattn.errors import Malformed
from symattn.exercises.exercise import Exercise, exercise
from symattn.exercises.marking.collecting import DEFAULT, Blank, Script, read_answer
from symattn.exercises.marking.judging import Examiner
from symattn.exercises.qti.package import item, package
from symattn.exercises.qti.vocabulary import QTI_3, QTI_21, Vocabulary
from symattn.languages.language import language

from ..hostile import TEXT, steering
from .qti_player import player
from .qti_rules import Item, attributes, name
from .scripts import Students
from .test_maxima import with_upstream_numbers

NAMES = library.names()
BOTH = pytest.mark.parametrize("vocabulary", [QTI_3, QTI_21], ids=lambda v: v.name)


def backward(case: str) -> Exercise:
    """A bundled case as an exercise with gradients."""
    return exercise(with_upstream_numbers(library.load(case)), "backward")


def variable(made: Exercise, blank: Blank, kind: str = "ANSWER") -> str:
    """What a variable of a blank is called."""
    places = {part.quantity: k for k, part in enumerate(made.parts, 1)}
    return f"{kind}_{places[blank.quantity]}_{blank.i + 1}_{blank.j + 1}"


def handed_in(made: Exercise, script: Mapping[Blank, str]) -> dict[str, str]:
    """A script as the answers of an item."""
    return {variable(made, blank): text for blank, text in script.items()}


def marks(examiner: Examiner, script: Mapping[Blank, str]) -> dict[Blank, str]:
    """What ``symattn mark`` says of each answer but those that are masked scores; what is no
    number is none."""
    answers, unread = {}, {}
    for blank, text in script.items():
        try:
            answers[blank] = read_answer(text)
        except Malformed:
            unread[blank] = text
    judged = examiner.judged(Script("Ada", 0, answers, unread))
    return {
        mark.blank: "blank" if mark.outcome == "unread" else mark.outcome
        for mark in judged.marks
        if not examiner.entry(mark.blank).is_masked
    }


def agreement(
    made: Exercise, scripts: list[dict[Blank, str]], outcomes: list[dict[str, Any]]
) -> Counter[tuple[str, str]]:
    """How often what ``mark`` says of an answer, and what the item says, come together; the
    points are those of what the item says."""
    found: Counter[tuple[str, str]] = Counter()
    examiner = Examiner(made)
    for script, outcome in zip(scripts, outcomes, strict=True):
        points = Fraction(0)
        said = marks(examiner, script)
        for part in made.parts:
            asked = [blank for blank in said if blank.quantity == part.quantity]
            for blank in asked:
                its = outcome[variable(made, blank, "IS")]
                found[said[blank], its] += 1
                points += DEFAULT.worth(its) * Fraction(part.points, len(asked))
        assert abs(float(outcome["SCORE"]) - points) < 6e-4
    return found


def share(found: Counter[tuple[str, str]]) -> float:
    """The share of answers of which both say the same."""
    return sum(n for (one, other), n in found.items() if one == other) / found.total()


# -- by the rules of the specification -------------------------------------------------------


@BOTH
@pytest.mark.sampled(1, 8)
@pytest.mark.parametrize("case", NAMES)
def test_agreement_with_marks(case: str, vocabulary: Vocabulary) -> None:
    """Of the answers of students who work right, round too early, go on from mistakes and
    write nonsense, nine of ten and more are what ``symattn mark`` says that they are; whatever
    is right is right, and no answer is right that is not."""
    made = backward(case)
    one = Item(item(made, vocabulary))
    students = Students(made, 7)
    scripts = [students.script() for _ in range(4)]
    found = agreement(made, scripts, [one.marked(handed_in(made, x)) for x in scripts])
    assert {pair for pair in found if "right" in pair or "blank" in pair} <= {
        ("right", "right"),
        ("blank", "blank"),
    }
    assert share(found) > 0.9


@BOTH
@pytest.mark.parametrize(("case", "level"), [("cat-sat-mat", "masked"), ("the-fox-jumps", "")])
def test_right_answers(case: str, level: str, vocabulary: Vocabulary) -> None:
    """The answers that the declarations call right are worth all points, none are worth none."""
    made = exercise(library.load(case), level)
    one = Item(item(made, vocabulary))
    assert one.marked(one.responses)["SCORE"] == pytest.approx(made.points)
    assert one.marked({})["SCORE"] == 0


def test_follow_through() -> None:
    """What NumPy computes from a student's own wrong scores follows, and is worth all; from
    the right scores it would be right, and what fits neither is wrong."""
    made = exercise(library.load("cat-sat-mat"))
    one = Item(item(made, QTI_3))
    rows: Any = made.case.raw["X"]
    X = np.array(rows, dtype=float)
    S = X @ X.T
    S[0, 1] = 3.5
    T = S / 2
    A = np.exp(T) / np.exp(T).sum(axis=1, keepdims=True)
    own = written(S=S, T=T, A=A, Y=A @ X)
    found = one.marked(handed_in(made, own))
    assert [found[f"IS_{k}_1_2"] for k in (1, 2, 3, 4)] == ["wrong", *["follows"] * 3]
    assert found["IS_4_2_1"] == "right"
    assert found["SCORE"] == pytest.approx(made.points - 2 / 9)
    assert [found[f"FOLLOWS_{k}"] for k in (1, 2, 3, 4)] == [None, *["follows"] * 3]
    late = written(S=S, T=T, A=A + 0.01, Y=A @ X)
    assert one.marked(handed_in(made, late))["IS_3_1_2"] == "wrong"
    left = {blank: text for blank, text in own.items() if blank.quantity != "T"}
    assert one.marked(handed_in(made, left))["IS_3_1_2"] == "follows"


def test_common_mistakes() -> None:
    """Without the scale half of the points are left where it is used, and all below."""
    made = exercise(library.load("cat-sat-mat"))
    one = Item(item(made, QTI_3))
    rows: Any = made.case.raw["X"]
    X = np.array(rows, dtype=float)
    S = X @ X.T
    A = np.exp(S) / np.exp(S).sum(axis=1, keepdims=True)
    found = one.marked(handed_in(made, written(S=S, T=S, A=A, Y=A @ X)))
    said = {
        attributes(x)["identifier"]: "".join(x.itertext())
        for x in one.root.iter()
        if name(x) == "feedback-block" and attributes(x)["outcome-identifier"] == "MISTAKE_2"
    }
    assert said[found["MISTAKE_2"]].startswith("Without the division by")
    assert Counter(found[f"IS_2_{i}_{j}"] for i in (1, 2, 3) for j in (1, 2, 3)) == {
        "right": 2,
        "slip": 7,
    }
    assert found["POINTS_3"] == 3


def written(**matrices: Any) -> dict[Blank, str]:
    """Matrices as a student writes them, to four places."""
    return {
        Blank(quantity, i, j): f"{x:.4f}"
        for quantity, matrix in matrices.items()
        for i, row in enumerate(matrix.tolist())
        for j, x in enumerate(row)
    }


def test_early_answers_and_what_comes_of_them() -> None:
    """Weights to two places are rounded too early, and so is what NumPy makes of them; beside
    one that is wrong it follows."""
    made = exercise(library.load("cat-sat-mat"))
    one = Item(item(made, QTI_3))
    rows: Any = made.case.raw["X"]
    X = np.array(rows, dtype=float)
    S = X @ X.T
    A = np.exp(S / 2) / np.exp(S / 2).sum(axis=1, keepdims=True)
    A = A.round(2)
    found = one.marked(handed_in(made, written(S=S, T=S / 2, A=A, Y=A @ X)))
    assert {found[f"IS_{k}_{i}_2"] for k in (3, 4) for i in (1, 2, 3)} == {"early"}
    A[2, 2] = 9
    found = one.marked(handed_in(made, written(S=S, T=S / 2, A=A, Y=A @ X)))
    assert {found[f"IS_4_{i}_2"] for i in (1, 2)} == {"follows"}


@pytest.mark.parametrize(
    ("step", "value"),
    [
        ("sqrt(Y)", 2.0),
        ("exp(Y)", 54.5982),
        ("log(Y)", 1.3863),
        ("tanh(Y)", 0.9993),
        ("sin(Y)", -0.7568),
        ("cos(Y)", -0.6536),
        ("relu(Y - 1)", 3.0),
        ("1 / Y", 0.25),
        ("-Y", -4.0),
        ("softmax(Y - 1)", 1.0),
    ],
)
@BOTH
def test_functions(step: str, value: float, vocabulary: Vocabulary) -> None:
    """Each function follows what was answered before: 4, where 2 is right."""
    case = make("x", {"X": [[1]]}, {"Y": "X + 1", "Z": step})
    one = Item(item(exercise(case), vocabulary))
    found = one.marked({"ANSWER_1_1_1": "4", "ANSWER_2_1_1": str(value)})
    expected = "right" if step.startswith("softmax") else "follows"
    assert (found["IS_1_1_1"], found["IS_2_1_1"]) == ("wrong", expected)


def test_what_cannot_be_followed() -> None:
    """The standard has no error function: what comes of it is right or wrong, and later steps
    are computed from it all the same."""
    case = make("x", {"X": [[1, 2]]}, {"Y": "X + 1", "G": "erf(Y)", "H": "G * 2"})
    one = Item(item(exercise(case), QTI_3))
    found = one.marked({"ANSWER_1_1_1": "3", "ANSWER_2_1_1": "0.5", "ANSWER_3_1_1": "1"})
    assert [found[f"IS_{k}_1_1"] for k in (1, 2, 3)] == ["wrong", "wrong", "follows"]


# -- in a browser ------------------------------------------------------------------------------


@pytest.mark.heavy
@pytest.mark.needs("chromium")
def test_a_player(tmp_path: Path) -> None:
    """What is typed into a page is worth what ``symattn mark`` gives, and the page says which
    mistake it is, and what follows."""
    made = exercise(library.load("cat-sat-mat"))
    rows: Any = made.case.raw["X"]
    X = np.array(rows, dtype=float)
    S = X @ X.T
    A = np.exp(S) / np.exp(S).sum(axis=1, keepdims=True)
    right = {
        Blank(part.quantity, i, j): f"{x:f}"
        for part in made.parts
        for i, row in enumerate(made.right(part))
        for j, x in enumerate(row)
    }
    wrong = right | {Blank("S", 0, 1): "7", Blank("A", 2, 2): "two"}
    mistaken = right | written(T=S, A=A, Y=A @ X)
    scripts = [right, wrong, mistaken]
    with player(tmp_path) as page:
        page.show(item(made, QTI_3))
        outcomes, said = [], []
        for script in scripts:
            outcomes += page.marked([handed_in(made, script)], typed=True)
            said.append(page.feedback())
    assert share(agreement(made, scripts, outcomes)) == 1
    assert said[:2] == [[], []]
    assert [text.split(" ")[0] for text in said[2]] == ["Without", "This", "This"]


@pytest.mark.sampled(0, 1)
@pytest.mark.needs("chromium")
@pytest.mark.parametrize("seed", range(10))
def test_agreement_in_a_player(seed: int, tmp_path: Path) -> None:
    """A player says of random scripts, 500 in the campaign, what the rules of the specification
    say, which is what ``symattn mark`` says of 96 of 100 answers and more."""
    made = exercise(library.load("cat-sat-mat"))
    text = item(made, QTI_3)
    students = Students(made, seed)
    scripts = [students.script() for _ in range(50)]
    answers = [handed_in(made, script) for script in scripts]
    with player(tmp_path) as page:
        page.show(text)
        outcomes = page.marked(answers)
    by_rules = [Item(text).marked(x) for x in answers]
    judged = [key for key in by_rules[0] if key.startswith("IS_")]
    assert [[x[key] for key in judged] for x in outcomes] == [
        [x[key] for key in judged] for x in by_rules
    ]
    assert share(agreement(made, scripts, outcomes)) > 0.96


# -- what importers read -----------------------------------------------------------------------

_PLAIN = """
    default-value correct-response value item-body response-processing content-body
    response-condition response-if response-else-if response-else ordered is-null and or not
    match lt lte gte sum product max subtract divide power p div ul li strong span code h4 h5
    table caption thead tbody tr td
"""
#: Elements by their names in QTI 3.0, each with the attributes that it may have.
_ELEMENTS: Mapping[str, str] = {
    "assessment-item": "identifier title xml:lang adaptive time-dependent xsi:schema-location",
    "response-declaration": "identifier cardinality base-type",
    "outcome-declaration": "identifier cardinality base-type normal-maximum normal-minimum "
    "external-scored",
    "text-entry-interaction": "response-identifier expected-length aria-label label",
    "extended-text-interaction": "response-identifier expected-lines",
    "feedback-block": "outcome-identifier identifier show-hide",
    "modal-feedback": "outcome-identifier identifier show-hide",
    "rubric-block": "view use",
    "set-outcome-value": "identifier",
    "base-value": "base-type",
    "variable": "identifier",
    "index": "n",
    "math-operator": "name",
    "th": "scope colspan",
    **dict.fromkeys(_PLAIN.split(), ""),
}
_MATHML = "{http://www.w3.org/1998/Math/MathML}"


def outside_of_formulas(element: ET.Element) -> Iterator[ET.Element]:
    """The elements but those of MathML."""
    if not element.tag.startswith(_MATHML):
        yield element
        for child in element:
            yield from outside_of_formulas(child)


@BOTH
@pytest.mark.sampled(2, 10)
@pytest.mark.parametrize("case", NAMES)
def test_elements(case: str, vocabulary: Vocabulary) -> None:
    """An item is made of elements and attributes that the standard has, in its order, and
    every name refers to something."""
    root = ET.fromstring(item(backward(case), vocabulary).encode())
    declared, used, asked = set(), set(), set()
    for element in outside_of_formulas(root):
        allowed = _ELEMENTS[name(element)].split()
        given = {re.sub("{.*}lang", "xml:lang", x): y for x, y in attributes(element).items()}
        given = {re.sub("{.*}", "xsi:", x): y for x, y in given.items()}
        assert given.keys() <= {*allowed}, (name(element), given)
        kind = name(element).rpartition("-")[2]
        if kind == "declaration":
            declared.add(given["identifier"])
        elif name(element) in ("variable", "set-outcome-value"):
            used.add(given["identifier"])
        used |= {x for key, x in given.items() if key.endswith("outcome-identifier")}
        asked |= {x for key, x in given.items() if key == "response-identifier"}
    responses = {x for x in declared if x.startswith("ANSWER")}
    assert used | asked <= declared
    assert asked == responses
    order = [name(child) for child in root]
    declarations = sorted(order[:-2], reverse=True)
    assert order == [*declarations, "item-body", "response-processing"]


@pytest.mark.parametrize("places", [0, 1, 12])
def test_places(places: int) -> None:
    """Whatever the places, operators have operands, and right answers are right."""
    made = exercise(library.load("the-fox-jumps"), places=places)
    text = item(made, QTI_3)
    one = Item(text)
    operators = [x for x in one.root.iter() if name(x) in ("and", "or", "not", "sum", "ordered")]
    assert all(len(x) for x in operators)
    assert one.marked(one.responses)["SCORE"] == pytest.approx(made.points)


@BOTH
def test_packages(vocabulary: Vocabulary) -> None:
    """A package lists its files, its test draws one of the versions, and it has the same
    bytes whenever it is made."""
    made = [replace(exercise(library.load("cat-sat-mat")), version=k) for k in (1, 2)]
    items = {one.name: item(one, vocabulary) for one in made}
    whole = package("cat-sat-mat", "A < B", items, vocabulary)
    assert whole == package("cat-sat-mat", "A < B", dict(items), vocabulary)
    archive = ZipFile(io.BytesIO(whole))
    manifest = ET.fromstring(archive.read("imsmanifest.xml"))
    files = [x.attrib["href"] for x in manifest.iter() if name(x) == "file"]
    assert {*files, "imsmanifest.xml"} == {*archive.namelist()}
    test = ET.fromstring(archive.read("test.xml"))
    (select,) = (attributes(x)["select"] for x in test.iter() if name(x) == "selection")
    refs = [attributes(x)["href"] for x in test.iter() if name(x) == "assessment-item-ref"]
    assert (select, refs) == ("1", files[1:])
    assert [archive.read(path).decode() for path in refs] == [*items.values()]


@BOTH
def test_hostile_text(vocabulary: Vocabulary) -> None:
    """Titles, tokens and names are text: they close nothing, and steer nothing."""
    evil = f"<b>&amp;\"']]>\x00<![CDATA[ --> {TEXT}"
    case = replace(library.load("cat-sat-mat"), title=evil, tokens=(evil,) * 3, name=evil)
    made = exercise(case)
    text = item(made, vocabulary)
    assert not steering(text)
    plain = ET.fromstring(item(exercise(library.load("cat-sat-mat")), vocabulary).encode())
    found = ET.fromstring(text.encode())
    # What MathJax might take for a formula stands by itself.
    assert {name(x) for x in found.iter()} - {"span"} == {name(x) for x in plain.iter()}
    archive = ZipFile(io.BytesIO(package(evil, evil, {made.name: text}, vocabulary)))
    for path in archive.namelist():
        assert re.fullmatch(r"[A-Za-z0-9_./-]+", path)
        assert ".." not in path
        ET.fromstring(archive.read(path))


@BOTH
def test_proofs(vocabulary: Vocabulary) -> None:
    """A box to write in, and the derivation for who marks."""
    root = ET.fromstring(item(exercise(library.load("cat-sat-mat"), "proof"), vocabulary).encode())
    elements = {name(x): x for x in root.iter()}
    assert "extended-text-interaction" in elements
    assert "response-processing" not in elements
    assert attributes(elements["rubric-block"])["view"] == "scorer"


def test_language_and_working() -> None:
    """German sentences, and a solution that an attempt shows."""
    from symattn.exercises import questions

    made = exercise(library.load("cat-sat-mat"))
    working = questions.solution(made, language="de").blocks
    text = item(made, QTI_3, language("de"), solution=working)
    assert 'xml:lang="de"' in text
    assert "Schreibe Dezimalzahlen mit einem Punkt" in text
    assert 'aria-label="S: Zeile 1, Spalte 2"' in text
    assert text.index("qti-modal-feedback") > text.index("</qti-response-processing>")
    assert Item(text).marked({})["DONE"] == "done"


#: A folder with the schemas of 1EdTech, which no package registry has: their terms are their own.
_SCHEMAS = os.environ.get("SYMATTN_QTI_SCHEMAS", "")


@pytest.mark.campaign
@BOTH
@pytest.mark.skipif(not _SCHEMAS, reason="SYMATTN_QTI_SCHEMAS names no folder with schemas")
@pytest.mark.parametrize("level", ["forward", "masked", "backward", "proof"])
def test_official_schemas(level: str, vocabulary: Vocabulary, tmp_path: Path) -> None:
    """Items are valid by the schema that they name."""
    assert shutil.which("xmllint")
    path = tmp_path / "item.xml"
    path.write_text(item(exercise(library.load("cat-sat-mat"), level), vocabulary), "utf-8")
    schema = Path(_SCHEMAS) / f"{vocabulary.name}.xsd"
    words = ["xmllint", "--nonet", "--noout", "--schema", str(schema), str(path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
