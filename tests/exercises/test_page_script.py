"""Pages that check themselves: in a browser they say what marking says, and nothing else leaks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
from flint import fmpq

from symattn.cases import library
from symattn.cases.case import make
from symattn.errors import Malformed
from symattn.exercises.exercise import Exercise, Part, exercise
from symattn.exercises.marking import follow_through
from symattn.exercises.marking.answer_files import read_answers
from symattn.exercises.marking.collecting import Blank, Script, read_answer
from symattn.exercises.marking.judging import Examiner
from symattn.exercises.page_script import page_script
from symattn.exercises.questions import question
from symattn.exercises.variants import variants
from symattn.languages.language import ENGLISH, language
from symattn.printers.html import document
from symattn.programs.nodes import Op

from ..browser import Browser, browser
from ..scripts import OURS, unscripted
from .random_answers import Texts, scripts

#: Exercises whose answers are compared, each with so many scripts.
EXERCISES = {
    ("cat-sat-mat", "forward"): 12,
    ("cat-sat-mat-causal", "backward"): 30,
    ("the-fox-jumps", "backward"): 15,
    ("cat-sat-mat-padding", "masked"): 8,
    ("adam", "backward"): 12,
    ("rope", "forward"): 4,
    ("pre-norm-block", "masked"): 8,
    ("multi-head", "backward"): 3,
    ("swiglu", "backward"): 6,
    ("flash-attention", "forward"): 6,
    ("alibi", "masked"): 3,
    ("training-step", "forward"): 8,
    ("length-4-causal", "forward"): 3,
    ("grouped-query", "masked"): 3,
    ("attention-sink", "backward"): 3,
}
in_browser = pytest.mark.needs("chromium")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for all pages."""
    with browser() as made:
        yield made


@cache
def asked(name: str, level: str) -> Exercise:
    """An exercise of a bundled case."""
    return exercise(library.load(name), level)


def opened(chromium: Browser, folder: Path, one: Exercise, **settings: Any) -> None:
    """The page of an exercise in the browser, without what was kept of others."""
    path = folder / "page.html"
    path.write_text(document(question(one, interactive=True, **settings)), "utf-8")
    chromium.open(path)
    chromium.run("page.clear()")


def judged(chromium: Browser, one: Exercise, texts: Texts) -> dict[Blank, str]:
    """What the page says of answers that are written in its fields."""
    blanks = [blank for part in one.parts for blank in Examiner(one).blanks(part)]
    values = json.dumps([texts.get(blank, "") for blank in blanks])
    outcomes = chromium.run(
        f"{values}.forEach((x, k) => {{ page.fields[k].input.value = x; }}), page.judge(),"
        " page.fields.map(({input}) => input.dataset.outcome)"
    )
    return dict(zip(blanks, outcomes, strict=True))


def marked(examiner: Examiner, script: Script) -> dict[Blank, str]:
    """What marking says; what is right to fewer places by itself."""
    marks = examiner.judged(script).marks
    return {mark.blank: "fewer" if mark.fewer else mark.outcome for mark in marks}


@in_browser
@pytest.mark.sampled(0, 8)
@pytest.mark.parametrize(("name", "level"), EXERCISES)
def test_a_page_judges_as_marking(name: str, level: str, chromium: Browser, tmp_path: Path) -> None:
    """Every answer at random is the same on the page and in marking."""
    one = asked(name, level)
    opened(chromium, tmp_path, one)
    examiner = Examiner(one)
    seen: set[str] = set()
    for texts, script in scripts(one, EXERCISES[name, level], seed=1):
        found = judged(chromium, one, texts)
        seen.update(found.values())
        right = marked(examiner, script)
        other = {x: (texts.get(x), right[x], found[x]) for x in right if right[x] != found[x]}
        assert other == {}
    assert {"right", "wrong", "follows", "unread", "blank"} <= seen


#: What answers are made of.
PIECES = [
    *"0123456789", *"0123456789.,.,-−–+eE%*/()x×·^ ~≈=…X²\t\u00a0", "inf", "∞", "sqrt(", "exp(",
    "log(", "pi", "tanh(", "sin(", "cos(", "erf(", "**", "10^", "1e", "...",
]  # fmt: skip


@in_browser
@pytest.mark.heavy
def test_texts_are_read_alike(chromium: Browser, tmp_path: Path) -> None:
    """Whatever is written is the same number to the page, to as many places, or none to both."""
    opened(chromium, tmp_path, asked("cat-sat-mat", "forward"))
    draw = Random(1)
    texts = ["".join(draw.choices(PIECES, k=draw.randint(1, 7))).strip() for _ in range(20_000)]
    texts = [text for text in texts if text]
    found = chromium.run(
        f"{json.dumps(texts)}.map(read).map(x => x === undefined ? null : x === MASKED ? x :"
        " [String(x.count), x.power, x.places])"
    )
    numbers = 0
    for text, one in zip(texts, found, strict=True):
        try:
            printed = read_answer(text, comma=True).printed
        except Malformed:
            assert one is None, text
            continue
        numbers += 1
        if printed is None:
            assert one == "-inf", text
            continue
        count, power, places = one
        unit = fmpq(10) ** power
        assert (fmpq(int(count)) * unit, unit, places) == (
            printed.value, printed.unit, printed.places,
        ), text  # fmt: skip
    assert numbers > 1000


@in_browser
@pytest.mark.heavy
def test_versions_and_languages(chromium: Browser, tmp_path: Path) -> None:
    """So it is with drawn numbers and in German, where mistakes and verdicts are said in it."""
    for one in variants(library.load("please-study-man"), 2, 7):
        opened(chromium, tmp_path, one, language="de")
        texts, script = next(scripts(one, 1, seed=2))
        found = judged(chromium, one, texts)
        assert marked(Examiner(one), script) == found
        label = chromium.run("page.fields[1].input.getAttribute('aria-label')")
        assert label == f"{one.parts[0].quantity}, Zeile 0, Spalte 1"


@in_browser
@pytest.mark.heavy
def test_a_mistake_is_named(chromium: Browser, tmp_path: Path) -> None:
    """What follows from a mistake agrees with it; each verdict is said in words, and shown by a
    sign that is not colour alone."""
    one = asked("cat-sat-mat", "forward")
    opened(chromium, tmp_path, one)
    texts = {Blank("S", i, j): x for i, row in enumerate(("201", "021", "112"))
             for j, x in enumerate(row)}  # fmt: skip
    texts |= {Blank("T", blank.i, blank.j): x for blank, x in texts.items()}
    texts |= {Blank("A", 0, j): x for j, x in enumerate(("0.6652", "0,0900", "24.47%"))}
    found = judged(chromium, one, texts)
    assert {x for blank, x in found.items() if blank.quantity == "T"} == {"slip", "right"}
    assert {found[Blank("A", 0, j)] for j in range(3)} == {"follows"}
    notes = chromium.run("page.parts.map(({notes}) => notes.innerText)")
    assert notes[0] == ""
    assert "Without the division by sqrt(d_k)?" in notes[1]
    assert "agrees with your earlier answers" in notes[2].lower()
    signs = chromium.run("[...document.querySelectorAll('.sign')].map(x => x.textContent)")
    assert {"✓", "✗", "→", ""} == set(signs)


@in_browser
@pytest.mark.heavy
def test_by_keyboard_and_by_ear(chromium: Browser, tmp_path: Path) -> None:
    """Enter leads to the next blank, a label says which it is, and the verdict is told; answers
    are there again after a reload, and go into a table that marking reads."""
    one = asked("cat-sat-mat", "forward")
    opened(chromium, tmp_path, one)
    chromium.run("page.fields[0].input.focus()")
    for key in ("2", "0", "x"):
        chromium.ask("Input.insertText", text=key)
        for kind in ("keyDown", "keyUp"):
            chromium.ask("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter",
                         windowsVirtualKeyCode=13, text="\r")  # fmt: skip
    assert chromium.run("document.activeElement.getAttribute('aria-label')") == "S, row 1, column 0"
    assert chromium.run("page.status.getAttribute('role')") == "status"
    assert chromium.run("page.status.textContent") == "S[0, 2]: This is not a number."
    described = "document.getElementById(document.activeElement.getAttribute('aria-describedby'))"
    assert chromium.run(f"{described} !== null")
    chromium.run("page.name.value = 'Ada; \"the\" first', page.keep()")
    chromium.open(tmp_path / "page.html")
    assert chromium.run("page.fields.slice(0, 4).map(x => x.input.value)") == ["2", "0", "x", ""]
    chromium.run("page.fields[3].input.value = '0,5'")
    (tmp_path / "answers.csv").write_text(chromium.run("page.table()"), "utf-8")
    read = read_answers(tmp_path / "answers.csv", [one])
    (script,) = read.scripts
    assert script.student == 'Ada; "the" first'
    assert {x: y.text for x, y in script.answers.items()} == {
        Blank("S", 0, 0): "2", Blank("S", 0, 1): "0", Blank("S", 1, 0): "0,5",
    }  # fmt: skip
    assert script.unread == {Blank("S", 0, 2): "x"}


@in_browser
@pytest.mark.heavy
def test_rows_are_counted_as_on_the_sheet(chromium: Browser, tmp_path: Path) -> None:
    """Where a case counts from 1, so do labels, and the table is read back all the same."""
    case = library.load("cat-sat-mat")
    one = exercise(replace(case, sheet={**case.sheet, "count_from": 1}))
    opened(chromium, tmp_path, one)
    assert chromium.run("page.fields[1].name") == "S, row 1, column 2"
    chromium.run("page.fields[1].input.value = '7'")
    (tmp_path / "answers.csv").write_text(chromium.run("page.table()"), "utf-8")
    (script,) = read_answers(tmp_path / "answers.csv", [one]).scripts
    assert {*script.answers} == {Blank("S", 0, 1)}


@in_browser
@pytest.mark.heavy
@pytest.mark.parametrize("width", [360, 1400])
def test_a_page_fits_and_loads_nothing(width: int, chromium: Browser, tmp_path: Path) -> None:
    """Fields don't make a page wider than its window, and nothing is asked for, nor refused."""
    chromium.resize(width)
    opened(chromium, tmp_path, asked("the-fox-jumps", "backward"))
    chromium.run("page.fields.forEach(x => { x.input.value = '1e9'; }), page.judge()")
    shown = chromium.run("[document.documentElement.scrollWidth, innerWidth]")
    assert shown[0] <= shown[1] == width
    assert all(x.startswith(("file:", "data:font")) for x in chromium.loaded())
    assert chromium.run("page.fields.length") == 198


@in_browser
@pytest.mark.heavy
def test_without_scripts(chromium: Browser, tmp_path: Path) -> None:
    """Where nothing runs, the page is the usual one."""
    chromium.ask("Emulation.setScriptExecutionDisabled", value=True)
    one = asked("cat-sat-mat", "forward")
    path = tmp_path / "page.html"
    path.write_text(document(question(one, interactive=True)), "utf-8")
    try:
        chromium.open(path)
        root = chromium.ask("DOM.getDocument")["root"]["nodeId"]
        shown = chromium.ask("DOM.getOuterHTML", nodeId=root)["outerHTML"]
    finally:
        chromium.ask("Emulation.setScriptExecutionDisabled", value=False)
    assert shown.count("<mtext>______</mtext>") == 39
    assert "<input" not in shown
    pages = (path.read_text("utf-8"), document(question(one)))
    first, second = (unscripted(page).partition("<body>")[2] for page in pages)
    assert first == second


def test_no_answer_is_in_the_page() -> None:
    """The data hold what is given and the steps, and none of what is asked."""
    one = asked("cat-sat-mat", "forward")
    data = json.dumps(page_script(one, ENGLISH).data)
    for part in one.parts:
        for figure in {x for row in one.right(part) for x in row if x % 1}:
            assert f"{figure:f}" not in data


def test_every_operation_is_known() -> None:
    """The script has the operations of programs, and rounds in the same of them."""
    (code,) = (x for x in OURS if "class Examiner" in x)
    operations, _, rest = code.partition("const OPERATIONS = {")[2].partition(
        "const MOVING = new Set("
    )
    known = re.findall(r'^  (\w+): |"(\w+)"', operations, re.MULTILINE)
    every = {op for kind in get_args(Op) for op in get_args(kind)} - {"given", "constant"}
    assert len(every) > 25
    assert {first or second for first, second in known} >= every
    moving = re.findall(r'"(\w+)"', rest.partition("]")[0])
    assert {*moving, "given", "constant"} == {*follow_through._MOVING}


def test_what_has_no_page() -> None:
    """A proof has nothing to check."""
    with pytest.raises(Malformed, match="no figures"):
        question(exercise(library.load("cat-sat-mat"), "proof"), interactive=True)


FAR = [([["-300", "-301"]], "log(exp(S))"), ([["1e-60", "1e-60"]], "S / sqrt(rowsum(S * S))")]


@pytest.mark.parametrize(("rows", "step"), FAR)
def test_what_a_page_has_too_few_places_for(rows: Any, step: str) -> None:
    """It is refused when the page is made, not on it."""
    with pytest.raises(Malformed, match="can't be computed by a page"):
        question(exercise(make("far", {"S": rows}, {"L": step})), interactive=True)


#: A gradient by hand, whose upstream is not all ones.
BY_HAND = make(
    "by-hand",
    {"S": [[1, 2], [0, 1]], "G": [[2, 1], [1, 3]]},
    {"A": "softmax(S)", "H": "A * (G - rowsum(A * G))"},
)


@in_browser
@pytest.mark.heavy
@pytest.mark.parametrize("parts", [("A", "H"), ("H",), ("H", "A")])
def test_gradients_by_hand_are_judged_alike(
    parts: tuple[str, ...], chromium: Browser, tmp_path: Path
) -> None:
    """A mean by weights that a student wrote down, or mistook, is one to both."""
    one = Exercise(BY_HAND, "forward", tuple(Part(name, 1) for name in parts))
    opened(chromium, tmp_path, one)
    for texts, script in scripts(one, 60, seed=5):
        assert judged(chromium, one, texts) == marked(Examiner(one), script)


def test_words_are_said_in_german() -> None:
    """No verdict stays English."""
    one = asked("cat-sat-mat", "forward")
    english, german = (page_script(one, x).data["words"] for x in (ENGLISH, language("de")))
    assert [key for key in english if english[key] and english[key] == german[key]] == []
