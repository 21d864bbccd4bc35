"""``symattn audit``: one document with every kind of verdict and cause, in every format."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import numpy as np
import pytest

from symattn import __version__
from symattn.cases import library
from tests.folders import written

#: A document with something of everything.
PAPER = """\
title = "A <paper> | on `sums`"

[given]
p = "2/3"
q = "1/7"
r = "1/8"

[steps]
s = "p + q"
t = "3 * s"
u = "p * q"
w = "r + log(4) - 2 * log(2)"

[[claims]]
where = "1, inputs"
of = "p"
printed = 0.66

[[claims]]
where = "1, inputs"
of = "q"
printed = 0.143

[[claims]]
where = "2, sum"
of = "s"
printed = 0.75

[[claims]]
where = "2, thrice"
of = "t"
printed = 2.25

[[claims]]
where = "3, short"
of = "u"
printed = 0.1

[[claims]]
where = "4, open"
of = "w"
printed = 0.12

[[claims]]
where = "5 | off"
of = "q"
printed = 0.144

[[claims]]
where = "6, order"
holds = "p > q"

[[claims]]
where = "6 | order"
holds = "p < q"

[[claims]]
where = "6, open"
holds = "log(4) == 2 * log(2)"

[[unchecked]]
where = "7"
what = "sums are nice"
reason = "a judgement"
"""
#: Its claims: what is claimed, printed, correct and exact, the verdict and the cause.
CLAIMS = [
    ("p", "0.66", "0.67", "2/3", "refuted", "truncated"),
    ("q", "0.143", "0.143", "1/7", "holds", None),
    ("s", "0.75", "0.81", "17/21", "refuted", "root"),
    ("t", "2.25", "2.43", "17/7", "refuted", "carried"),
    ("u", "0.1", "0.1", "2/21", "holds", None),
    ("w", "0.12", "", "1/8 - 2*log(2) + log(4)", "undecided", None),
    ("q", "0.144", "0.143", "1/7", "refuted", "last-digit"),
    ("p > q", None, None, None, "holds", None),
    ("p < q", None, None, None, "refuted", None),
    ("log(4) == 2 * log(2)", None, None, None, "undecided", None),
]
WHERE = [
    "1, inputs", "1, inputs", "2, sum", "2, thrice", "3, short", "4, open", "5 | off",
    "6, order", "6 | order", "6, open",
]  # fmt: skip
REASONS = {
    "truncated": "truncated, not rounded",
    "root": "incorrect, no cause found",
    "carried": "follows from s = 0.75 (2, sum)",
    "last-digit": "off by one unit in the last place",
}
SUMMARY = "7 figures and 3 statements: 3 hold, 5 refuted, 2 undecided, 3 roots; 1 not checked"
#: The line of each claim in the file.
LINES = [n for n, line in enumerate(PAPER.splitlines(), 1) if line == "[[claims]]"]

HEAD = "title = 'Short'\n[given]\np = '2/3'\n[steps]\ns = '10 * p'\nt = '30 * p'\nu = '50 * p'\n"


def claim(of, printed):
    """A claim as a file has it."""
    return f"[[claims]]\nwhere = 'line {of}'\nof = '{of}'\nprinted = {printed}\n"


RIGHT = HEAD + claim("p", 0.667)
WRONG = HEAD + claim("p", 0.567)
COARSE = HEAD + claim("p", 1)
OPEN_FIGURE = HEAD + claim("1/8 + log(4) - 2 * log(2)", 0.12)
OPEN_STATEMENT = HEAD + "[[claims]]\nwhere = '1'\nholds = 'log(4) == 2 * log(2)'\n"
FALSE_STATEMENT = HEAD + "[[claims]]\nwhere = '1'\nholds = 'p < 0'\n"
UNCHECKED = RIGHT + "[[unchecked]]\nwhere = '1'\nwhat = 'x'\nreason = 'y'\n"
ROUNDED = HEAD + claim("p", "0.67") + claim("s", "6.70") + claim("t", "20.10") + claim("u", "33.50")
CUT = HEAD + claim("p", "0.66") + claim("s", "6.66") + claim("u / 20", "1.66") + claim("t", "20.00")


@pytest.fixture
def write(tmp_path):
    """Writes case files, each named after its key."""

    def put(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.toml").write_text(text, "utf-8")

    return put


@pytest.fixture
def paper(write):
    """The document with something of everything is there as ``paper.toml``."""
    write(paper=PAPER)


# -- exit codes ---------------------------------------------------------------------------


@pytest.mark.sampled(18)
@pytest.mark.parametrize("form", ["text", "json", "github", "sarif", "errata", "tex"])
@pytest.mark.parametrize(
    ("text", "code", "strictly"),
    [
        (RIGHT, 0, 0),
        (WRONG, 1, 1),
        (FALSE_STATEMENT, 1, 1),
        (COARSE, 0, 1),
        (OPEN_FIGURE, 0, 1),
        (OPEN_STATEMENT, 0, 1),
        (UNCHECKED, 0, 1),
    ],
    ids=["right", "wrong", "false", "coarse", "open figure", "open statement", "unchecked"],
)
def test_exit_code(text, code, strictly, form, write, symattn) -> None:
    """Refuted is 1 in every format; undecided or unchecked is 1 with --strict only."""
    write(case=text)
    words = ["audit", "case.toml", "--format", form]
    assert symattn(*words).code == code
    assert symattn(*words, "--strict").code == strictly


@pytest.mark.parametrize(
    ("others", "code", "strictly"),
    [(RIGHT, 0, 0), (UNCHECKED, 0, 1), (WRONG, 1, 1)],
    ids=["right", "unchecked", "wrong"],
)
def test_one_case_is_enough(others, code, strictly, write, symattn) -> None:
    """The exit code is that of the worst case."""
    write(a=RIGHT, b=others, c=RIGHT)
    words = ["audit", "a.toml", "b.toml", "c.toml"]
    assert symattn(*words).code == code
    assert symattn(*words, "--strict").code == strictly


# -- text ---------------------------------------------------------------------------------


#: The rows of the figures of the paper that are wrong, as the text has them.
ROWS = {
    "p": ["1, inputs", "p", "0.66", "0.67", "2/3", REASONS["truncated"]],
    "s": ["2, sum", "s", "0.75", "0.81", "17/21", REASONS["root"]],
    "t": ["2, thrice", "t", "2.25", "2.43", "17/7", REASONS["carried"]],
    "q": ["5 | off", "q", "0.144", "0.143", "1/7", REASONS["last-digit"]],
}
HEADINGS = ["where", "quantity", "printed", "correct", "exact", "cause"]


@pytest.mark.parametrize("words", [[], ["--format", "text"], ["--all"]])
def test_text(words, paper, symattn) -> None:
    """The counts; every root, first those without a cause, with how much is carried from it,
    or with ``--all`` what; statements that don't hold; what says little; what was not checked."""
    done = symattn("audit", "paper.toml", *words)
    assert done.code == 1
    assert done.table == [
        ["paper A <paper> | on `sums`"],
        [SUMMARY],
        HEADINGS,
        ROWS["s"],
        ROWS["t"] if words == ["--all"] else ["1 more figure is wrong because of it: t"],
        ROWS["p"],
        ROWS["q"],
        ["refuted, 6 | order: p < q"],
        ["undecided, 6, open: log(4) == 2 * log(2)"],
        ["1 figure has too few digits for a meaningful check"],
        ["not checked, 7: sums are nice (a judgement)"],
        [],
    ]
    lines = done.out.splitlines()
    assert lines[3].startswith("2, sum ")
    assert lines[4].startswith("  2, thrice " if words == ["--all"] else "    1 more")
    # Figures end together, on the right of their columns.
    ends = [line.index(figure) + len(figure) for line, figure in zip(
        [lines[2], lines[3], *lines[5:7]], ["printed", "0.75", "0.66", "0.144"], strict=True
    )]  # fmt: skip
    assert len(set(ends)) == 1


#: A document computed with another scale than its recipe's, and two figures that are wrong
#: for themselves.
X = "[[1.25, -0.5, 0.75], [0.5, 1.5, -1.25], [-0.75, 0.25, 1.75]]"
SCALED = (
    f"title = 'Scaled'\n[given]\nX = {X}\nd_k = 4\n[steps]\nS = 'X @ X.T'\n"
    "T = 'S / sqrt(d_k)'\nA = 'softmax(T)'\n"
)


def scaled(errors=()):
    """That document: its scores divided by ``d_k``, where it says by the root of it, and
    these entries of ``S`` other figures."""
    x = np.array(json.loads(X))
    scores = x @ x.T
    weights = np.exp(scores / 4)
    weights /= weights.sum(axis=1, keepdims=True)
    shown = {"S": scores, "T": scores / 4, "A": weights}
    figures = {name: [[f"{n:.4f}" for n in row] for row in rows] for name, rows in shown.items()}
    for i, j, text in errors:
        figures["S"][i][j] = text
    return SCALED + "".join(claim(name, rows) for name, rows in figures.items())


@pytest.fixture
def caused(write):
    """The document with a cause and two figures that have none is there as ``case.toml``."""
    write(case=scaled([(0, 1, "7.1234"), (2, 0, "-3.3333")]))


SENTENCE = (
    "From T on, all 18 wrong figures follow from T with d_k itself instead of its square "
    "root; no correct figure contradicts it."
)
RIVALS = "Equally likely: T with the division by sqrt(d_k) twice. No figure distinguishes them."


def test_text_of_a_cause(caused, symattn) -> None:
    """A cause comes first, numbered, with what is as likely; then its first figure and how many
    carry it; then the roots that have none."""
    assert symattn("audit", "case.toml").table == [
        ["case Scaled"],
        ["27 figures: 7 hold, 20 refuted, 3 roots"],
        [],
        [f"1. {SENTENCE}"],
        [RIVALS],
        [],
        HEADINGS,
        ["line T", "T[0, 0]", "0.5938", "1.1875", "19/16", "cause 1"],
        ["17 more figures are wrong because of it: T (8 times), A (9 times)"],
        ["line S", "S[0, 1]", "7.1234", "-1.0625", "-17/16"],
        ["line S", "S[2, 0]", "-3.3333", "0.2500", "1/4"],
        [],
    ]
    unfolded = symattn("audit", "case.toml", "--all").table
    assert sum(row[-1].startswith("cause 1; ") for row in unfolded if row) == 17
    assert not any("more carry" in cell for row in unfolded for cell in row)


def test_a_cause_for_machines(caused, symattn) -> None:
    """JSON has each cause with its figures by their place among the claims; SARIF and
    annotations have it once, at its first figure."""
    shown = json.loads(symattn("audit", "case.toml", "--format", "json").out)
    (cause,) = shown["causes"]
    assert cause["kind"] == "scale-not-rooted"
    assert (cause["sentence"], cause["coverage"], cause["breaks"]) == (SENTENCE, 1.0, [])
    assert cause["bits"] >= 7
    assert cause["rivals"] == ["T with the division by sqrt(d_k) twice"]
    claims = shown["claims"]
    explained = sorted(cause["reproduces"] + cause["follows"])
    assert explained == [k for k, item in enumerate(claims) if item["cause_of"] == 0]
    assert {claims[k]["of"] for k in explained} == {"T", "A"}
    others = [item for item in claims if item["cause_of"] is None and item["verdict"] == "refuted"]
    assert [(item["of"], item["at"]) for item in others] == [("S", [0, 1]), ("S", [2, 0])]
    first = claims[explained[0]]
    message = f"cause 1: {SENTENCE} {RIVALS}"
    notes = symattn("audit", "case.toml", "--format", "github").out.splitlines()
    assert notes[0] == f"::error file=case.toml,line={first['line']},title=cause::{message}"
    assert sum("title=cause::" in note for note in notes) == 1
    assert sum("(cause 1; " in note for note in notes) == 17
    (run,) = json.loads(symattn("audit", "case.toml", "--format", "sarif").out)["runs"]
    assert [result["ruleId"] for result in run["results"]].count("cause") == 1
    assert len(run["results"]) == 21
    result = run["results"][0]
    assert (result["ruleId"], result["level"]) == ("cause", "error")
    assert result["message"]["text"] == message
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == first["line"]
    assert [place["message"]["text"] for place in result["relatedLocations"]] == [
        f"{item['where']}: {item['of']}{item['at']} is printed as "
        f"{item['printed']}; the correct value is {item['correct']}"
        for item in (claims[k] for k in explained[1:])
    ]
    assert result["properties"] == {
        key: cause[key] for key in ("kind", "bits", "coverage", "rivals")
    }


def test_places_count_arithmetic(write, symattn) -> None:
    """A figure of mere numbers before those of a cause is counted among the claims as well."""
    chain = "[[claims]]\nwhere = '0'\nas_printed = '1 + 1'\nprinted = 3\n"
    text = scaled()
    head, _, rest = text.partition("[[claims]]")
    write(case=f"{head}{chain}[[claims]]{rest}")
    shown = json.loads(symattn("audit", "case.toml", "--format", "json").out)
    (cause,) = shown["causes"]
    for place in cause["reproduces"]:
        assert shown["claims"][place]["verdict"] == "refuted"
        assert shown["claims"][place]["cause_of"] == 0
    assert shown["claims"][0]["arithmetic"]
    assert 0 not in cause["reproduces"]


def test_errata_of_a_cause(caused, symattn) -> None:
    """The author reads the causes first, in sentences, with where to look."""
    lines = symattn("audit", "case.toml", "--format", "errata").out.splitlines()
    assert lines[4:8] == [
        "Likely causes:",
        "",
        f"1. {SENTENCE} {RIVALS} First seen in line T: `T[0, 0]`.",
        "",
    ]
    assert lines[10:13] == [
        "| line T | `T[0, 0]` | 0.5938 | 1.1875 | cause 1; "
        "17 more figures are wrong because of it |",
        "| line S | `S[0, 1]` | 7.1234 | -1.0625 | incorrect, no cause found |",
        "| line S | `S[2, 0]` | -3.3333 | 0.2500 | incorrect, no cause found |",
    ]


#: Whole numbers for what is not whole: two beside a wrong figure, one beside right ones.
MIXED = (
    "title = 'Short'\n[given]\nX = [['1.3', '0.368', 2], ['0.996', '0', '-0.2']]\n"
    "[steps]\nA = 'X'\n"
    + claim("A", "[[1, 0.386, 2], [1, 0, '-0.200']]") + claim("A[0]", "[1, 0.368, 2]")
)  # fmt: skip


def test_text_of_coarse_figures(write, symattn) -> None:
    """Shown where something else in the matrix is wrong, else counted; shown all with
    --strict, which refutes them."""
    write(case=MIXED)
    shown = ["coarse, line A: A[0, 0] is printed as 1, but is not a whole number: 1.300"]
    other = ["coarse, line A: A[1, 0] is printed as 1, but is not a whole number: 0.996"]
    table = symattn("audit", "case.toml").table
    assert table[1] == ["9 figures: 8 hold (3 coarse), 1 refuted, 1 root"]
    assert table[4:] == [
        shown, other,
        ["1 more figure is printed as a whole number although its quantity is not whole"], [],
    ]  # fmt: skip
    row = ["coarse, line A[0]: A[0][0] is printed as 1, but is not a whole number: 1.300"]
    assert symattn("audit", "case.toml", "--strict").table[4:] == [shown, other, row, []]
    write(case=MIXED.replace("0.386", "0.368"))
    done = symattn("audit", "case.toml")
    assert done.code == 0
    assert done.table[2:] == [
        ["3 figures are printed as whole numbers although their quantities are not whole"],
        [],
    ]


def test_coarse_figures_for_machines_and_authors(write, symattn) -> None:
    """JSON marks and counts them, annotations and SARIF have a rule for them, errata a table."""
    write(case=MIXED)
    shown = json.loads(symattn("audit", "case.toml", "--format", "json").out)
    coarse = [item for item in shown["claims"] if item["coarse"]]
    assert shown["summary"]["coarse"] == len(coarse) == 3
    assert [(item["printed"], item["correct"], item["verdict"], item["vacuous"])
            for item in coarse] == [("1", right, "holds", False)
                                    for right in ("1.300", "0.996", "1.300")]  # fmt: skip
    notes = symattn("audit", "case.toml", "--format", "github").out.splitlines()
    assert [note for note in notes if "title=coarse" in note] == [
        f"::warning file=case.toml,line={line},title=coarse::line {of}: {entry} is printed as "
        f"1, but is not a whole number: {right}"
        for line, of, entry, right in [
            (6, "A", "A[0, 0]", "1.300"),
            (6, "A", "A[1, 0]", "0.996"),
            (10, "A[0]", "A[0][0]", "1.300"),
        ]
    ]
    (run,) = json.loads(symattn("audit", "case.toml", "--format", "sarif").out)["runs"]
    levels = [item["level"] for item in run["results"] if item["ruleId"] == "coarse"]
    assert levels == ["note"] * 3
    table = (
        "These figures are printed as whole numbers, but are not whole:\n\n"
        "| where | quantity | printed | more precisely |\n|---|---|---|---|\n"
        "| line A | `A[0, 0]` | 1 | 1.300 |\n| line A | `A[1, 0]` | 1 | 0.996 |\n"
        "| line A[0] | `A[0][0]` | 1 | 1.300 |\n\n"
    )
    assert table in symattn("audit", "case.toml", "--format", "errata").out
    # Where nothing is wrong, they are all that the author is told.
    write(case=MIXED.replace("0.386", "0.368"))
    out = symattn("audit", "case.toml", "--format", "errata").out
    assert out.endswith(f"agree with the exact values.\n\n{table}")


def test_text_of_a_document_without_a_fault(write, symattn) -> None:
    """Where all holds, there is no table and nothing else."""
    write(case=RIGHT)
    done = symattn("audit", "case.toml")
    assert done.out == "case Short\n1 figure: 1 holds, 0 refuted, 0 roots\n\n"


@pytest.mark.parametrize(
    ("text", "habit"),
    [
        (ROUNDED, "every error is explained by computing with rounded figures"),
        (CUT, "every error is explained by truncation instead of rounding"),
        (PAPER, None),
    ],
    ids=["rounded", "cut", "none"],
)
def test_habit(text, habit, write, symattn) -> None:
    """A habit that explains every miss is said, in text behind the counts, and in JSON."""
    write(case=text)
    shown = json.loads(symattn("audit", "case.toml", "--format", "json").out)
    assert shown["habit"] == habit
    assert shown["summary"]["refuted"] >= 3
    lines = symattn("audit", "case.toml").out.splitlines()
    assert lines[2].startswith(habit or "where")


def test_a_closed_form_is_shown_up_to_44_letters(write, symattn) -> None:
    """A longer one is left out."""
    digits = "123456789" * 5
    text = (
        f"[given]\na = {digits[:44]}\nb = {digits}\n[steps]\nc = 'a'\n"
        + claim("a", 1) + claim("b", 1)
    )  # fmt: skip
    write(case=text)
    first, second = symattn("audit", "case.toml").table[3:5]
    assert first == ["line a", "a", "1", digits[:44], digits[:44]]
    assert second == ["line b", "b", "1", digits]


def test_colours(paper, terminal, write, monkeypatch, symattn) -> None:
    """On a terminal roots are bold, what is wrong red, what is right green, asides dim."""
    monkeypatch.setenv("COLUMNS", "140")
    out = symattn("audit", "paper.toml", "--all").out
    assert out.startswith("\x1b[1mpaper\x1b[0m \x1b[2mA <paper>")
    assert "\n\x1b[31m7 figures" in out
    assert "\n\x1b[2mwhere" in out
    assert "\n\x1b[1m2, sum" in out
    assert "\x1b[1ms   " in out
    assert "\n  2, thrice  t  " in out
    assert "\x1b[31m   0.75\x1b[0m" in out
    assert "\x1b[32m   0.81\x1b[0m" in out
    assert "\x1b[2m17/21\x1b[0m" in out
    assert "\x1b[1mincorrect, no cause found" in out
    assert " follows from s" in out
    assert "\x1b[31m  refuted, 6 | order: p < q\x1b[0m" in out
    assert "\x1b[2m  1 figure has too few" in out
    assert "\x1b[2m  not checked, 7" in out
    write(case=ROUNDED, right=RIGHT)
    assert "\n\x1b[33mevery error is explained" in symattn("audit", "case.toml").out
    assert "\n\x1b[32m1 figure: 1 holds" in symattn("audit", "right.toml").out


def test_a_long_word_is_folded(terminal, write, symattn) -> None:
    """No terminal is too narrow: what does not fit goes on in the next line, whole."""
    name = "W_" + "abcdefghij" * 5
    write(case=f"[given]\n{name} = 1\n[steps]\ns = '{name}'\n" + claim(name, 2))
    out = symattn("audit", "case.toml").out
    assert name not in out
    assert "\u2026" not in out


# -- data for machines ----------------------------------------------------------------------


def test_json(paper, symattn) -> None:
    """Every claim in the order of the document, the roots, what is unchecked, the counts."""
    done = symattn("audit", "paper.toml", "--format", "json")
    assert done.code == 1
    shown = json.loads(done.out)
    assert list(shown) == [
        "case", "file", "summary", "causes", "claims", "roots", "unchecked", "habit", "coverage",
        "assumptions", "understood", "unread", "open",
    ]  # fmt: skip
    assert (shown["coverage"], shown["assumptions"], shown["open"]) == (None, [], [])
    assert shown["causes"] == []
    assert shown["case"] == "paper"
    assert shown["summary"] == {
        "figures": 7, "statements": 3, "holds": 3, "refuted": 5, "undecided": 2, "coarse": 0,
        "within_rounding": 0, "as_printed": 0, "unchecked": 1, "roots": 3,
    }  # fmt: skip
    assert shown["claims"] == [
        {
            "where": where,
            "of": of,
            "arithmetic": False,
            "at": [],
            "printed": printed,
            "correct": correct,
            "exact": exact,
            "verdict": verdict,
            "cause": cause,
            "because": ["2, sum: s"] if cause == "carried" else [],
            "cause_of": None,
            "candidates": [{"sentence": "one digit is another", "bits": 0.0}]
            if cause == "last-digit"
            else [],
            "slip": None,
            "reason": REASONS[cause] if cause else None,
            "vacuous": of == "u",
            "coarse": False,
            "as_printed": False,
            "within_rounding": False,
            "status": "local" if of == "log(4) == 2 * log(2)" else "bound",
            "confirmed": False,
            "basis": "",
            "file": "paper.toml",
            "line": line,
            **dict.fromkeys(("column", "end_line", "end_column", "cell", "paragraph")),
        }
        for where, line, (of, printed, correct, exact, verdict, cause) in zip(
            WHERE, LINES, CLAIMS, strict=True
        )
    ]
    assert shown["roots"] == [
        {
            key: shown["claims"][place][key]
            for key in (
                "where",
                "of",
                "printed",
                "correct",
                "slip",
                "reason",
                "file",
                "line",
                "column",
                "end_line",
                "end_column",
                "cell",
                "paragraph",
            )
        }
        for place in (0, 2, 6)
    ]
    assert shown["unchecked"] == [{"where": "7", "what": "sums are nice", "reason": "a judgement"}]
    assert done.out.startswith('{\n  "case": "paper",\n')


def test_json_of_a_matrix(symattn) -> None:
    """Every figure of a matrix is an item with its indices and its exact value."""
    shown = json.loads(symattn("audit", "the-cat-sleeps", "--format", "json").out)
    weights = [item for item in shown["claims"] if item["of"] == "A"]
    assert [item["at"] for item in weights] == [[i, j] for i in range(3) for j in range(3)]
    assert weights[1]["exact"].startswith("e^(161/200)/")
    assert [item["printed"] for item in weights[3:6]] == ["0.305", "0.515", "0.180"]


def test_json_of_several_cases(write, symattn) -> None:
    """Several cases are a list, in the order that they are named in."""
    write(a=RIGHT, b=WRONG)
    done = symattn("audit", "b.toml", "a.toml", "--format", "json")
    assert [item["case"] for item in json.loads(done.out)] == ["b", "a"]


@pytest.mark.heavy
def test_every_case_without_a_name(symattn) -> None:
    """Without a CASE all bundled ones are audited."""
    done = symattn("audit", "--format", "json")
    assert [item["case"] for item in json.loads(done.out)] == list(library.names())
    assert done.code == 1


def test_a_tolerance(write, symattn) -> None:
    """A declared tolerance is what figures are judged by; the correct figure is still named."""
    printed = ("0.66", "0.68", "0.65")
    write(case="tolerance = '0.01'\n" + HEAD + "".join(claim("p", figure) for figure in printed))
    shown = json.loads(symattn("audit", "case.toml", "--format", "json").out)
    assert [item["printed"] for item in shown["claims"]] == list(printed)
    for item in shown["claims"]:
        near = abs(Fraction(item["printed"]) - Fraction(2, 3)) <= Fraction("0.01")
        assert item["verdict"] == ("holds" if near else "refuted")
        assert item["correct"] == "0.67"
    assert shown["summary"]["holds"] == 1
    rows = [row for row in symattn("audit", "case.toml").table if "line p" in row]
    assert sorted(row[2:4] for row in rows) == [["0.65", "0.67"], ["0.68", "0.67"]]
    notes = symattn("audit", "case.toml", "--format", "github").out
    assert [line.partition("printed as ")[2][:4] for line in notes.splitlines()] == ["0.68", "0.65"]
    errata = symattn("audit", "case.toml", "--format", "errata").out
    assert errata.count("\n| line p | `p` |") == 2


NOTES = ("carried", "undecided", "rounded-inputs")


def findings():
    """Rule, line and message of everything in the paper that does not hold: first what is
    wrong in itself."""
    return sorted(_findings(), key=lambda finding: finding[0] in NOTES)


def _findings():
    for where, line, (of, printed, correct, _, verdict, cause) in zip(
        WHERE, LINES, CLAIMS, strict=True
    ):
        if verdict == "undecided":
            yield "undecided", line, f"{where}: {of} could not be decided"
        elif verdict == "refuted" and printed is None:
            yield "statement", line, f"{where}: {of} does not hold"
        elif verdict == "refuted":
            assert cause
            values = f"is printed as {printed}; the correct value is {correct}"
            yield cause, line, f"{where}: {of} {values} ({REASONS[cause]})"


def test_github(paper, symattn) -> None:
    """One annotation for everything that does not hold, on its line; what follows from
    something else is a warning."""
    done = symattn("audit", "paper.toml", "--format", "github")
    assert done.code == 1
    assert done.out.splitlines() == [
        f"::{'warning' if rule in NOTES else 'error'} "
        f"file=paper.toml,line={line},title={rule}::{message}"
        for rule, line, message in findings()
    ]


def test_github_of_rounded_inputs(write, symattn) -> None:
    """A figure computed from rounded figures is a warning."""
    write(case=ROUNDED)
    lines = symattn("audit", "case.toml", "--format", "github").out.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("::warning file=case.toml,line=") for line in lines)
    assert all(",title=rounded-inputs::" in line for line in lines)


def test_github_has_nothing_to_say(write, symattn) -> None:
    """Where all holds, there is no annotation, and no empty line either."""
    write(case=RIGHT)
    done = symattn("audit", "case.toml", "--format", "github")
    assert (done.code, done.out) == (0, "")


def test_sarif(paper, write, symattn) -> None:
    """A log of SARIF 2.1.0 with one run: its tool and rules, and one result a finding."""
    write(rounded=ROUNDED)
    done = symattn("audit", "paper.toml", "rounded.toml", "--format", "sarif")
    assert done.code == 1
    log = json.loads(done.out)
    assert set(log) == {"$schema", "version", "runs"}
    assert log["version"] == "2.1.0"
    assert log["$schema"] == "https://json.schemastore.org/sarif-2.1.0.json"
    (run,) = log["runs"]
    assert set(run) == {"tool", "columnKind", "results"}
    assert set(run["tool"]) == {"driver"}
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("symattn", __version__)
    assert set(driver) == {"name", "version", "rules"}
    rules = [rule["id"] for rule in driver["rules"]]
    assert sorted(rules) == sorted(
        [
            "cause",
            "truncated",
            "rounded-inputs",
            "carried",
            "root",
            "last-digit",
            "statement",
            "coarse",
            "undecided",
            "within-rounding",
            "as-printed",
            "open",
            "assumption",
            "coverage",
        ]
    )
    for rule in driver["rules"]:
        assert set(rule) == {"id", "shortDescription"}
        assert rule["shortDescription"]["text"].endswith(".")
        assert set(rule["shortDescription"]) == {"text"}
    assert run["results"][:-3] == [
        {
            "ruleId": rule,
            "level": "note" if rule in NOTES else "error",
            "message": {"text": message},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": "paper.toml"},
                        "region": {"startLine": line},
                    }
                }
            ],
        }
        for rule, line, message in findings()
    ]
    rounded = run["results"][-3:]
    assert {(item["ruleId"], item["level"]) for item in rounded} == {("rounded-inputs", "note")}
    (place,) = rounded[0]["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "rounded.toml"
    assert done.out.startswith('{\n  "$schema"')


def test_sarif_without_a_result(write, symattn) -> None:
    """Where all holds the log has no results, but is whole."""
    write(case=RIGHT)
    done = symattn("audit", "case.toml", "--format", "sarif")
    assert done.code == 0
    assert json.loads(done.out)["runs"][0]["results"] == []


def test_odd_paths(tmp_path, write, symattn) -> None:
    """Paths are relative to where one stands, whole elsewhere, and harmless in any format."""
    write(**{"a b,c:%": WRONG})
    note = symattn("audit", "a b,c:%.toml", "--format", "github").out
    assert note.startswith("::error file=a b%2Cc%3A%25.toml,line=8,title=root::line p: p is")
    log = json.loads(symattn("audit", "a b,c:%.toml", "--format", "sarif").out)
    assert uri(log) == "a%20b%2Cc%3A%25.toml"
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "case.toml").write_text(WRONG, "utf-8")
    path = str(tmp_path / "inside" / "case.toml")
    assert uri(json.loads(symattn("audit", path, "--format", "sarif").out)) == "inside/case.toml"


def test_a_path_from_elsewhere(tmp_path, monkeypatch, write, symattn) -> None:
    """A file that is not below the folder one stands in is named by its whole path."""
    write(case=WRONG)
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    path = tmp_path / "case.toml"
    note = symattn("audit", str(path), "--format", "github").out
    assert note.startswith(f"::error file={path},line=8,")
    log = json.loads(symattn("audit", str(path), "--format", "sarif").out)
    assert uri(log) == path.as_uri()


def uri(log):
    """The file of the first result of a SARIF log."""
    return log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"][
        "uri"
    ]


def test_messages_stay_in_their_line(write, symattn) -> None:
    """What a document says can't end an annotation, nor begin another."""
    text = HEAD + claim("p", 0.567).replace("'line p'", '"1\\n::error::gotcha\\r%"')
    write(case=text)
    done = symattn("audit", "case.toml", "--format", "github")
    (line,) = done.out.splitlines()
    assert line.endswith(
        "title=root::1%0A::error::gotcha%0D%25: p is printed as 0.567; the correct value is 0.667 "
        "(incorrect, no cause found)"
    )


# -- a text for the author --------------------------------------------------------------------


def test_errata(paper, symattn) -> None:
    """Roots with how many figures follow, what those become, and statements that don't hold."""
    done = symattn("audit", "paper.toml", "--format", "errata")
    assert done.code == 1
    assert done.out == "\n".join(
        [
            r"# Errata: A \<paper> \| on \`sums\`",
            "",
            "Thank you for this walkthrough. Worked through with exact arithmetic, these figures "
            f"come out differently. {SUMMARY}.",
            "",
            "| where | quantity | printed | correct | why |",
            "|---|---|---|---|---|",
            f"| 2, sum | `s` | 0.75 | 0.81 | {REASONS['root']}; "
            "1 more figure is wrong because of it |",
            f"| 1, inputs | `p` | 0.66 | 0.67 | {REASONS['truncated']} |",
            rf"| 5 \| off | `q` | 0.144 | 0.143 | {REASONS['last-digit']} |",
            "",
            "With these corrected, the following figures change as well:",
            "",
            "| where | quantity | printed | correct |",
            "|---|---|---|---|",
            "| 2, thrice | `t` | 2.25 | 2.43 |",
            "",
            "These statements do not hold for the numbers given:",
            "",
            r"- 6 \| order: `p < q`",
            "",
            "",
        ]
    )


def test_errata_of_statements_alone(write, symattn) -> None:
    """Without a wrong figure there is no table, only the statements."""
    write(case=FALSE_STATEMENT)
    out = symattn("audit", "case.toml", "--format", "errata").out
    assert "|" not in out
    assert "Once these are corrected" not in out
    assert out.endswith("These statements do not hold for the numbers given:\n\n- 1: `p < 0`\n\n")


@pytest.mark.parametrize(
    ("text", "checked"),
    [
        (RIGHT, "All 1 figures"),
        (RIGHT + claim("s", "6.67"), "All 2 figures"),
        (HEAD + "[[claims]]\nwhere = '1'\nholds = 'p > 0'\n", "All statements"),
    ],
)
def test_errata_of_a_document_without_a_fault(text, checked, write, symattn) -> None:
    """Where nothing is wrong the author is thanked, and nothing else."""
    write(case=text)
    assert symattn("audit", "case.toml", "--format", "errata").out == (
        "# Errata: Short\n\n"
        f"Thank you for this walkthrough. {checked} that could be checked agree with the exact "
        "values.\n\n"
    )


def test_errata_of_several_cases(write, symattn) -> None:
    """Several texts follow each other, each under its heading."""
    write(a=RIGHT, b=WRONG.replace("Short", "Long"))
    out = symattn("audit", "a.toml", "b.toml", "--format", "errata").out
    heads = [line for line in out.splitlines() if line.startswith("#")]
    assert heads == ["# Errata: Short", "# Errata: Long"]
    assert "exact values.\n\n# Errata: Long\n\nThank" in out


# -- files ------------------------------------------------------------------------------------


@pytest.mark.sampled(4)
@pytest.mark.parametrize("option", ["-o", "--output"])
@pytest.mark.parametrize("form", ["text", "json", "github", "sarif", "errata"])
def test_output(form, option, paper, tmp_path, symattn) -> None:
    """With ``-o`` the same goes to a file that ends with one line break; nothing is printed."""
    printed = symattn("audit", "paper.toml", "--format", form).out
    done = symattn("audit", "paper.toml", "--format", form, option, "report")
    assert (done.code, done.out, done.err) == (1, "", "")
    written = (tmp_path / "report").read_text("utf-8")
    assert written == printed.rstrip("\n") + "\n"


@pytest.mark.heavy
def test_text_in_a_file(paper, terminal, tmp_path, symattn) -> None:
    """A file has no colours and lines of up to 160 letters, whatever the terminal."""
    symattn("audit", "please-study-man", "-o", "report")
    written = (tmp_path / "report").read_text("utf-8")
    assert "\x1b" not in written
    assert 150 < max(map(len, written.splitlines())) <= 160
    assert "please-study-man Three words in two dimensions, without scaling\n" in written


def test_the_red_pen(paper, engine, tmp_path, symattn) -> None:
    """The page goes to the file of that name, where there is one case; its path is printed."""
    engine()
    done = symattn("audit", "paper.toml", "--format", "pdf", "-o", "report.pdf")
    assert (done.code, done.out, done.err) == (1, "report.pdf\n", "")
    assert (tmp_path / "report.pdf").read_bytes() == b"%PDF-1.5\n%%EOF\n"
    assert not (tmp_path / "audits").exists()


def test_the_red_pen_in_latex(paper, engine, tmp_path, symattn) -> None:
    """LaTeX asks no engine; every wrong figure is struck and the correct one put beside it."""
    engine("! never asked", code=1)
    done = symattn("audit", "paper.toml", "--format", "tex", "-o", "report.tex")
    assert (done.code, done.out, done.err) == (1, "report.tex\n", "")
    tex = (tmp_path / "report.tex").read_text("utf-8")
    wrong = [(printed, correct) for _, printed, correct, _, _, cause in CLAIMS if cause]
    assert len(wrong) == 4
    for printed, correct in wrong:
        assert rf"\struck{{{printed}}}\;\correct{{{correct}}}" in tex


def test_the_red_pen_in_html(paper, tmp_path, symattn) -> None:
    """A page has every wrong figure struck and the correct one beside it."""
    done = symattn("audit", "paper.toml", "--format", "html", "-o", "report.html")
    assert (done.code, done.out, done.err) == (1, "report.html\n", "")
    page = (tmp_path / "report.html").read_text("utf-8")
    wrong = [(printed, correct) for _, printed, correct, _, _, cause in CLAIMS if cause]
    assert len(wrong) == 4
    for printed, correct in wrong:
        assert printed is not None
        assert correct is not None
        struck = rf'<mrow class="struck" role="deletion">{number(printed)}</mrow>'
        beside = rf'<mspace [^>]*/><mrow class="correct" role="insertion">{number(correct)}<'
        assert re.search(struck + beside, page)


def number(figure: str) -> str:
    """A figure as a page has it, with its sign, as a pattern."""
    sign = '<mo form="prefix">\N{MINUS SIGN}</mo>' if figure.startswith("-") else ""
    return re.escape(f"{sign}<mn>{figure.removeprefix('-')}</mn>")


@pytest.mark.heavy
def test_text_in_a_pipe(monkeypatch, symattn) -> None:
    """What is piped has no colours and lines of up to 200 letters, or as many as COLUMNS says."""
    for width in (200, 100):
        out = symattn("audit", "please-study-man").out
        assert "\x1b" not in out
        assert width - 10 < max(map(len, out.splitlines())) <= width
        monkeypatch.setenv("COLUMNS", "100")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", ["html", "tex", "pdf"])
@pytest.mark.parametrize("words", [[], ["-o", "a/b"]])
def test_red_pens(words, form, paper, write, engine, tmp_path, symattn) -> None:
    """Several sheets, or one without a name, go to a folder: ``audits`` unless given."""
    engine()
    write(case=RIGHT)
    folder = tmp_path / (words[1] if words else "audits")
    for names in (["paper"], ["paper", "case"]):
        cases = [f"{name}.toml" for name in names]
        done = symattn("audit", *cases, "--format", form, *words)
        assert done.code == 1
        made = [folder / f"{name}-audit.{form}" for name in names]
        assert done.out.splitlines() == [str(path.relative_to(tmp_path)) for path in made]
        assert written(folder) == sorted(made)
        start = {"html": "<!DOCTYPE html>", "pdf": "%PDF", "tex": "% !TeX program"}[form]
        assert all(path.read_text("utf-8").startswith(start) for path in made)


def test_several_sheets_in_a_folder_that_is_called_like_a_file(write, tmp_path, symattn) -> None:
    """The name of a file is a folder's where there are two cases."""
    write(a=RIGHT, b=RIGHT)
    done = symattn("audit", "a.toml", "b.toml", "--format", "tex", "-o", "out.tex")
    assert done.code == 0
    assert [path.name for path in written(tmp_path / "out.tex")] == [
        "a-audit.tex", "b-audit.tex",
    ]  # fmt: skip


def test_complaints(write, engine, symattn) -> None:
    """What the engine's log complains of is said; it is no failed check."""
    write(case=RIGHT)
    engine("Missing character: There is no \u2603 in font lmroman10-regular")
    done = symattn("audit", "case.toml", "--format", "pdf", "-o", "red.pdf")
    assert (done.code, done.out) == (0, "red.pdf\n")
    assert done.err == "symattn: red.pdf: no font has the letter \u2603\n"


def test_a_failing_engine(write, engine, tmp_path, symattn) -> None:
    """An engine that fails is one message and exit code 2, even where figures are wrong."""
    write(case=WRONG)
    engine("! Emergency stop.", code=1)
    done = symattn("audit", "case.toml", "--format", "pdf", "-o", "red.pdf")
    assert (done.code, done.out) == (2, "")
    assert done.err == "symattn: pdflatex failed: Emergency stop.\n"
    assert not (tmp_path / "red.pdf").exists()


@pytest.mark.parametrize("form", ["json", "tex"])
def test_a_file_that_cant_be_written(form, write, symattn) -> None:
    """A folder that isn't there is one message and exit code 2."""
    write(case=RIGHT)
    target = f"nowhere/report.{form}"
    done = symattn("audit", "case.toml", "--format", form, "-o", target)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"symattn: {target} can't be written: no such file or directory\n"
