"""Hostile answers on pages that check themselves: each is judged or asked for again in words, as
``symattn mark`` does with the table that the page hands in; nothing becomes part of the page."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from symattn.exercises.marking.answer_files import read_answers
from symattn.exercises.marking.judging import Examiner

from ..browser import Browser, browser
from .test_page_script import asked, marked, opened

pytestmark = pytest.mark.needs("chromium")

#: Seconds that judging a page of answers may take.
PATIENCE = 20
#: As many answers as a student may give.
EXERCISES = [
    ("cat-sat-mat", "forward"), ("cat-sat-mat-causal", "backward"), ("rope", "forward"),
    ("adam", "backward"), ("alibi", "masked"),
    # Not with steep numbers: to a page an exponential beyond e^10000 has no bound.
    ("swiglu", "backward"),
]  # fmt: skip

WHOLE = (
    "", " ", "\t", "１２", "٣", "๓.๕", "¹", "²", "½", "Ⅷ", "−1", "–1", "—1", "‐1", "﹣1", "－1",
    "➖1", "\u22121", "1/2", "1/0", "0/0", "-0", "+0", "0.0", "--1", "-+1", "1//2", "1/2/3",
    "1e400", "-1e400", "1e-400", "1e999", "1e1000", "1E5", "1e", "e1", "NaN", "nan", "-nan",
    "Infinity", "-Infinity", "inf", "-inf", "−inf", "-∞", "∞", "- ∞", "-INF", "-inf.", "sqrt(2)",
    "sqrt(sqrt(sqrt(2)))", "sqrt(-1)", "SQRT(2)", "exp(exp(exp(exp(9))))", "exp(10000)",
    "exp(10001)", "exp(-10001)", "log(0)", "log(-1)", "log(1e-90)", "sin(1e90)", "cos(1e300)",
    "tanh(1e99)", "erf(99)", "exp(230) - exp(230)", "sqrt(1 - 1)", "1e-101*1e101",
    "1e-120/1e-120", "(1e-60)*(1e-60)*(1e120)", "1e300/1e300", "1e300*1e300",
    "exp(5000)/exp(5000)", "1 - 1e-99", "1/3*3", "sqrt(2)*sqrt(2)", "sqrt(1e-150)", "sqrt(1e150)",
    "1/(sqrt(2) - sqrt(2))", "pi", "Pi", "PI", "pi()", "π", "e", "exp", "exp()", "exp(1", "exp 1",
    "exp(1))", "exp(1,2)", "2pi", "2(3)", "(2)(3)", "2**3", "2^3", "2²", "10^2", "1x10^2",
    "1*10^-3", "1·10⁻³", "1 × 10^(-2)", "1e(2)", "50%", "50 %", "%", "5%%", "50%/2", "1,5",
    "1.5,2", "1,000", "1,000.5", "1.000,5", "1'000", "1_000", "1 000", "1\u202f000", "1;2", ",5",
    "5,", ".5", "5.", ".", ",", "-.", "[1, 2]", "[[1, 2], [3]]", "(1, 2)", "{1}", "[]", "1\n2",
    "1\r2", "1\x0b2", "1\x0c", "1\x1c", "\x1c1", "1\x1f", "1\x85", "\x851", "1\u2028", "1\u2029",
    "\ufeff1", "1\ufeff", "\u200b1", "1\u200b", "\u200e1", "\u202e1", "\u20661\u2069", "\u061c1",
    "\xa01", "\u30001", "\u180e1", "1\0", "\0", "\x01", "\x7f", "\x1b[31m1", "\ud800", "1\udfff",
    "\U0010ffff", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>",
    "</script><b>1</b>", "<b>1</b>", "${1}", "${alert(1)}", "{{1}}", "{quantity}", "{places}",
    "{right}", "%s", "$&", "$1", "`1`", "'; DROP TABLE answers; --", "1' OR '1'='1", '"', '""',
    "'", '"1"', '1"', "=1", "=1+1", "@SUM(1)", "+1", "=cmd|' /C calc'!A0", "\\frac{1}{2}",
    "$\\frac12$", "\\sqrt{2}", "$1$", "\\(1\\)", "\\begin{matrix}1&2\\end{matrix}", "0x10", "0b1",
    "1e5j", "1j", "1L", "1f", "1.0f", "1d", "1n", "True", "None", "null", "undefined",
    "__proto__", "constructor", "constructor(1)", "toString(1)", "valueOf()", "hasOwnProperty(1)",
    "~1", "=1", "≈1", "≈ 1...", "1...", "1…", "....", "~~1", "1 ±0.5", "1±0", "1(2)", "1 cm",
    "1€", "$1", "a", "x", "İnf", "-ınf", "-İNF", "K", "ſin(1)", "sqrt（4）", "１/２", "1÷2",
    "1∕2", "1⁄2", "2×3", "2·3", "2⋅3", "2∙3", "2∗3", "2x3", "2X3", "1 x 10^2", "log(exp(1))",
    "ln(2)", "log10(10)", "log2(8)", "tan(1)", "asin(1)", "abs(-1)", "max(1,2)", "exp(-1e5)",
    "exp(1e5)", "1e-13", "4.9e-13", "5e-13", "1e+2", "1e−2", "1e–2", "1e +2", "1 e2", "0.1+0.2",
    "1-1", "1 - 1", "1 −1", "1+-1", "1*-1", "1/-2", "-(1)", "+(1)", "((1))", "(1", "1)",
)  # fmt: skip
#: What is made long: a piece that is written so many times.
LONG = [
    (text, count)
    for count in (79, 80, 81, 199, 200, 201, 400, 401, 1000, 100_000)
    for text in (
        "9",
        "0",
        " ",
        "-",
        "+",
        "(",
        "1+",
        "sqrt(",
        "<b>",
        "é",
        "1e",
        ",",
        "1,",
        ".",
        "x",
        "\u202e",
    )
]


def long_ones() -> Iterator[str]:
    for text, count in LONG:
        yield text * count
        yield "0." + text * count
        yield text * count + "1"
        if text in ("(", "sqrt("):
            yield text * count + "2" + ")" * count


#: Pieces of others; what has no end is left out: a page works closed forms out to 1000 places.
SOME = [text for text in WHOLE if not ("exp(" in text and len(text) > 8) and "1e5" not in text]


def hostile(drawn: Random) -> str:
    """A short answer at random: pieces of others, and what comes of one by an edit."""
    match drawn.randrange(4):
        case 0:
            return "".join(drawn.choices(SOME, k=drawn.randint(2, 3)))
        case 1:
            text = drawn.choice(SOME)
            at = drawn.randrange(len(text) + 1)
            return (
                text[:at] + drawn.choice("0123456789.,-+*/()e \u2212\u00a0\x1f\ufeff%") + text[at:]
            )
        case 2:
            function = drawn.choice(("sqrt", "exp", "log", "sin", "cos", "tanh", "erf"))
            return f"{function}({drawn.choice(SOME)})"
    return f"{drawn.choice(SOME)}{drawn.choice('+-*/')}{drawn.choice(SOME)}"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser, which tells what goes wrong in a script."""
    with browser() as made:
        made.ask("Runtime.enable")
        made.ask("Log.enable")
        yield made


def complaints(chromium: Browser) -> list[dict[str, Any]]:
    """What the console has told, and dialogs that were opened."""
    told = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded",
            "Page.javascriptDialogOpening")  # fmt: skip
    return [event for event in chromium.events if event.get("method") in told]


#: Write answers, as by hand, and tell what became of them.
FILL = """(values) => {
  const shape = () => [...document.querySelectorAll("*")].map((x) => x.tagName)
    .filter((x) => !["LI", "CODE"].includes(x)).join(" ");
  const before = shape();
  page.fields.forEach(({input}, k) => {
    input.value = values[k];
    if (k === 0) input.dispatchEvent(new Event("change"));
  });
  page.judge();
  page.keep();
  return {
    same: before === shape(),
    inside: page.parts.every(({notes}) => [...notes.querySelectorAll("*")]
      .every((x) => ["LI", "CODE"].includes(x.tagName))),
    held: page.fields.map(({input}) => input.value),
    is: page.fields.map(({input}) => input.dataset.outcome),
    told: page.fields.map(({told}) => told.textContent),
    table: page.table(),
  };
}"""


def sheets(texts: list[str], size: int) -> Iterator[list[str]]:
    """Answers for a page each, which no file is too long for."""
    rest = texts[::-1]
    while rest:
        given: list[str] = []
        while rest and len(given) < size and sum(map(len, given)) < 1_000_000:
            given.append(rest.pop())
        yield given + [""] * (size - len(given))


def differing(
    chromium: Browser, name: str, level: str, folder: Path, texts: list[str]
) -> list[Any]:
    """Answers that the page judges otherwise than marking does, given what it hands in."""
    one = asked(name, level)
    examiner = Examiner(one)
    opened(chromium, folder, one)
    size = chromium.run("page.fields.length")
    other: list[Any] = []
    for given in sheets(texts, size):
        begun = time.monotonic()
        found = chromium.run(f"({FILL})({json.dumps(given)})")
        assert time.monotonic() - begun < PATIENCE
        assert found["same"]
        assert found["inside"]
        assert all(
            told or is_ in ("blank",) for told, is_ in zip(found["told"], found["is"], strict=True)
        )
        (folder / "answers.csv").write_bytes(found["table"].encode("utf-8", "replace"))
        begun = time.monotonic()
        read = read_answers(folder / "answers.csv", [one])
        assert time.monotonic() - begun < PATIENCE
        outcomes = {}
        if read.scripts:
            (script,) = read.scripts
            outcomes = marked(examiner, script)
        blanks = [blank for part in one.parts for blank in examiner.blanks(part)]
        for blank, text, is_ in zip(blanks, found["held"], found["is"], strict=True):
            if outcomes.get(blank, "blank") != is_:
                other.append((text[:90], len(text), is_, outcomes.get(blank)))
    assert complaints(chromium) == []
    return other


def steep(drawn: Random) -> str:
    """A number of any size, with any number of digits."""
    digits = str(drawn.randrange(10 ** drawn.choice((1, 1, 2, 4, 17, 39, 60))))
    sign = drawn.choice(("", "", "-"))
    match drawn.randrange(5):
        case 0:
            return f"{sign}{digits}e{drawn.choice((-400, -99, -20, 2, 9, 20, 40, 99, 400, 999))}"
        case 1:
            return f"{sign}{digits}.{drawn.randrange(10**30):030}"
        case 2:
            return f"{sign}{digits}/{drawn.randint(1, 10 ** drawn.choice((3, 6, 20)))}"
        case 3:
            return f"{sign}0.{digits}"
    return sign + digits


def campaign(first: int, end: int) -> list[Any]:
    """Seeds that are the campaign's."""
    return [pytest.param(seed, marks=pytest.mark.campaign) for seed in range(first, end)]


def test_hostile_answers(chromium: Browser, tmp_path: Path) -> None:
    assert differing(chromium, *EXERCISES[0], tmp_path, [*WHOLE, *long_ones()]) == []


@pytest.mark.parametrize("seed", [0, *campaign(1, 20)])
@pytest.mark.parametrize("draw", [hostile, steep])
def test_drawn_answers(
    draw: Callable[[Random], str], seed: int, chromium: Browser, tmp_path: Path
) -> None:
    drawn = Random(seed)
    name, level = EXERCISES[seed % (5 if draw is steep else 6)]
    texts = [draw(drawn) for _ in range(400)]
    assert differing(chromium, name, level, tmp_path, texts) == []


#: What may be kept in a browser under the name of the page, besides what it has written.
KEPT = (
    "", "{", "null", "0", "1e999", "true", '"text"', "{}", '{"length": 40}', "[", "[[]]", "[{}]",
    '[null, "1"]', '["Ada", 1]', '["Ada", "1", null]', '["Ada", {"toString": 1}]', "[[[[1]]]]",
    '["<img src=x onerror=alert(1)>", "</script><b>"]',
    json.dumps(["x" * 100_000, "1" * 100_000]), json.dumps(["Ada", *["1"] * 1000]),
    '["\\ud800", "\\u0000"]', "\0", "\ud800", "<b>", "[" * 10_000, '["__proto__"]',
    '{"__proto__": ["Ada"]}',
)  # fmt: skip


def test_damaged_state(chromium: Browser, tmp_path: Path) -> None:
    """What a browser has kept and something has damaged is none; whole texts are text."""
    opened(chromium, tmp_path, asked("cat-sat-mat", "forward"))
    for kept in KEPT:
        chromium.run(f"localStorage.setItem(page.key, {json.dumps(kept)})")
        chromium.open(tmp_path / "page.html")
        held = chromium.run("[page.name.value, ...page.fields.map(({input}) => input.value)]")
        try:
            expected = json.loads(kept)
        except (ValueError, RecursionError):
            expected = None
        if not isinstance(expected, list) or not all(isinstance(x, str) for x in expected):
            expected = []
        assert held == (expected + [""] * len(held))[: len(held)] or "\0" in str(expected)
        assert chromium.run("document.querySelectorAll('main b, main img').length") == 0
        judged = chromium.run("page.fields.map(({input}) => input.dataset.outcome)")
        assert all(judged)
        assert complaints(chromium) == []


#: Names that students give, and whether marking takes them.
NAMES = {
    "=cmd|' /C calc'!A0": True, '";\n': True, "a\x85b": True, "\u202eAda": True, "x" * 201: False,
    "<b>Ada</b>": True, "\u2028": True, "'; DROP TABLE": True, "\0": True, "\ud800": True,
}  # fmt: skip


def test_hostile_names(chromium: Browser, tmp_path: Path) -> None:
    """The table of a page is read back, whoever hands it in, or refused with a word."""
    one = asked("cat-sat-mat", "forward")
    opened(chromium, tmp_path, one)
    chromium.run("page.fields[0].input.value = '0,5'")
    for name, is_taken in NAMES.items():
        table = chromium.run(f"page.name.value = {json.dumps(name)}, page.table()")
        (tmp_path / "answers.csv").write_bytes(table.encode("utf-8", "replace"))
        read = read_answers(tmp_path / "answers.csv", [one])
        assert len(read.scripts) == is_taken
        assert bool(read.faults) != is_taken
        for script in read.scripts:
            assert [str(x.text) for x in script.answers.values()] == ["0,5"]
    assert complaints(chromium) == []
