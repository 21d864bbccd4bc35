"""A red pen strikes all that is wrong and nothing that is right, and says what is right."""

# Blocks are read here with LaTeX for their formulas.
# mypy: disable-error-code="comparison-overlap"

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import mpmath
import numpy as np
import pytest

import symattn
from symattn.auditing import reports
from symattn.expressions import typesetting as t
from symattn.printers import blocks as b
from symattn.printers import docx, html, latex, markdown, typst
from symattn.sheets import case_sheet, redpen
from symattn.solution.solution import solve
from symattn.verdicts import Verdict

from ..notation import in_latex, math, matrix
from . import mathematics
from .pages import paragraphs, plain
from .redpen_pages import RedPen, cells, check_rows, claims, mark, pointers, same
from .truth import BUNDLED, DIGITS, PUBLISHED, Truth, exactly

NAMES = PUBLISHED
#: Cases that print figures, and how many of those are wrong.
WRONG = {
    "cat-sat-mat": 56,
    "cat-sat-mat-unscaled": 3,
    "length-4-causal": 53,
    "please-study-man": 53,
}
CAUSE = re.compile(
    r"(truncated|computed from|follows from|repeats|incorrect|off by one|the arithmetic|coarse).*"
    r"|cause \d+"
)


@cache
def pen(name: str) -> RedPen:
    return RedPen(redpen.sheet(symattn.audit(name)), truth(name))


@cache
def truth(name: str) -> Truth:
    return Truth(BUNDLED / f"{name}.toml")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_struck_is_wrong(name: str) -> None:
    """Every claim with a wrong figure stands there as printed, in order, each figure of it
    struck and corrected just where it is not the true value rounded."""
    wrong = []
    for claim in claims(truth(name)):
        marks = claim.marks(truth(name).rounding)
        if "struck" in str(marks):
            wrong.append((claim, marks))
    assert [block.where for block in pen(name).marked] == [claim.where for claim, _ in wrong]
    for block, (claim, marks) in zip(pen(name).marked, wrong, strict=True):
        expression, found = cells(block)
        assert found == marks
        assert same(pen(name).value(expression), claim.values), (expression, claim.of)
        assert block.matrix.row_labels == ()
    assert sum(str(marks).count("struck") for _, marks in wrong) == WRONG.get(name, 0)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", NAMES)
def test_figures_point_to_their_cause(name: str) -> None:
    """Causes stand once, at the top, by their numbers; each struck figure points to the one
    that explains it, and the note beside it too."""
    audit = symattn.audit(name)
    texts = [x.text for x in pen(name).sheet.blocks if isinstance(x, b.Paragraph)]
    said = [text for text in texts if isinstance(text[0], b.Math)]
    assert said == [
        (in_latex(math(rf"\cause{{{number}}}")), f" {slip.sentence}")
        for number, slip in enumerate(audit.causes, 1)
    ]
    assert ("Causes" in pen(name).headings) == bool(audit.causes)
    wrong = [figure for figure in audit.figures if figure.verdict is Verdict.REFUTED]
    numbers = [
        next((k for k, slip in enumerate(audit.causes, 1) if figure.explained is slip), None)
        for figure in wrong
    ]
    assert [number for block in pen(name).marked for number in pointers(block)] == numbers
    for block in pen(name).marked:
        notes = {plain(note) for note in block.notes}
        found = {f"cause {number}" for number in pointers(block) if number}
        assert found == {note for note in notes if note.startswith("cause ")}


def test_what_can_not_be_told_apart(tmp_path: Path) -> None:
    """Rivals of a cause stand beside it, and a paragraph counts the roots that have none."""
    case = symattn.case(
        "few",
        {"X": [["1.25", "-0.5", "0.75"], ["0.5", "1.5", "-1.25"], ["-0.75", "0.25", "1.75"]],
         "d_k": 4},
        {"S": "X @ X.T", "T": "S / sqrt(d_k)"},
        claims=[
            {"of": "S[0]", "printed": ["2.3755", "7.1234", "0.2500"]},
            # S / 4: the scale without its root, or twice.
            {"of": "T", "printed": [["0.5938", "-0.2656", "0.0625"],
                                    ["-0.2656", "1.0156", "-0.5469"],
                                    ["0.0625", "-0.5469", "0.9219"]]},
        ],
    )  # fmt: skip
    made = redpen.sheet(symattn.audit(case))
    (cause,) = (x for x in in_latex(made).blocks if isinstance(x, b.Paragraph) and len(x.text) == 2)
    said, rival = str(cause.text[1]).split(" Equally likely: ")
    slips = [
        "T with the division by sqrt(d_k) twice",
        "T with d_k itself instead of its square root",
    ]
    # Either may lead, by how many edits of its kind were tried.
    assert [sum(slip in text for slip in slips) for text in (said, rival)] == [1, 1]
    assert all(slip in said + rival for slip in slips)
    assert rival.endswith(". No figure distinguishes them.")
    blocks = [x for x in in_latex(made).blocks if isinstance(x, b.RedPen)]
    assert [pointers(block) for block in blocks] == [[None, None], [1] * 9]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", NAMES)
def test_notes_say_why(name: str) -> None:
    """Each marked claim has a note for each cause, and no note twice."""
    for block in pen(name).marked:
        notes = [plain(note) for note in block.notes]
        assert notes
        assert all(CAUSE.fullmatch(note) for note in notes)
        assert len(notes) == len(set(notes)) <= str(cells(block)[1]).count("struck")


def test_a_coarse_figure_is_not_struck() -> None:
    """It is right as far as it goes; beside it stands what it leaves out, and a note says so."""
    case = symattn.case(
        "few", {"v": ["1.3", "0.255", 2]}, {"y": "v"},
        claims=[{"of": "v", "printed": [1, "0.225", 2]}, {"of": "v[0]", "printed": 1}],
    )  # fmt: skip
    (block,) = (
        x for x in in_latex(redpen.sheet(symattn.audit(case))).blocks if isinstance(x, b.RedPen)
    )
    assert cells(block)[1] == [
        [r"1\;\correct{1.300}", r"\struck{0.225}\;\correct{0.255}", "2"]
    ]  # fmt: skip
    assert [re.split("[:,]", plain(note))[0] for note in block.notes] == ["incorrect", "coarse"]


@pytest.mark.parametrize(
    ("chain", "value"),
    [
        ("0.50 * 1.250 + 0.5 * 2", "13/8"),
        ("1 - (2.0 + 3) - (4 - 5) + (6 - (7 - 1.50))", "-5/2"),
        ("-0.5 * -(1.00 - 3) / (0.25 / 2) * 3", "-24"),
        ("4 * (32 * 32) / 2 / 4", "512"),
        ("2.5e-1 + 1E+2 * 1e1 - +3.0", "3989/4"),
        ("sqrt(6.25) * log(exp(2.0)) + -(-1)", "6"),
    ],
)
def test_arithmetic_stands_as_printed(chain, value) -> None:
    """It reads as what it comes to, and every number has the digits that it is written with."""
    case = symattn.case("few", {"x": 1}, {"y": "x"}, claims=[{"as_printed": chain, "printed": 77}])
    (block,) = (
        x for x in in_latex(redpen.sheet(symattn.audit(case))).blocks if isinstance(x, b.RedPen)
    )
    shown, _ = cells(block)
    nothing: dict[str, int] = {}
    found = mathematics.value(mathematics.read(shown), nothing.__getitem__)
    assert mpmath.almosteq(found, float(Fraction(value)))
    digits = re.findall(r"[0-9]+(?:\.[0-9]+)?", re.sub(r"[eE][-+]?[0-9]+", "", chain))
    assert [x for x in re.findall(r"[0-9.]+", re.sub(r"10\^\{-?\d\}", "", shown)) if x] == digits


@pytest.mark.parametrize("name", NAMES)
def test_the_counts_are_true(name: str) -> None:
    """Figures, statements, those that hold and are refuted, those not checked."""
    document = truth(name).document
    stated = [claim["holds"] for claim in document.get("claims", []) if "holds" in claim]
    said = [pair for claim in claims(truth(name)) for pair in zip(
        claim.texts.flat, np.ravel(claim.values), strict=True
    )]  # fmt: skip
    coarse = sum(
        text.lstrip("-").isdecimal() and 0 < abs(exactly(value) - int(text)) <= Fraction(1, 2)
        for text, value in said
    )
    false = sum(not truth(name).holds(text) for text in stated)
    wrong = WRONG.get(name, 0)
    right = len(said) + len(stated) - wrong - false
    unchecked = len(document.get("unchecked", []))
    counts = pen(name).summary
    roots = counts[6]
    assert counts == (len(said), len(stated), right, coarse, wrong + false, 0, roots, unchecked)
    causes = [plain(note) for block in pen(name).marked for note in block.notes]
    assert (roots > 0) == any(not c.startswith(("follows", "repeats", "computed")) for c in causes)
    assert ("Nothing to correct." in pen(name).paragraphs) == (not wrong + false)


@pytest.mark.parametrize("name", NAMES)
def test_roots(name: str) -> None:
    """Each root is a printed figure that is wrong, with the right one; with what is carried
    from them the roots are all that is wrong."""
    table = pen(name).tables.get("quantity")
    rows = table.rows if table else ()
    assert check_rows(truth(name), iter(rows)) == len(rows)
    carried = sum(int(plain(row[4]) or 0) for row in rows)
    assert len(rows) + carried == WRONG.get(name, 0)


@pytest.mark.parametrize("name", NAMES)
def test_statements_and_what_is_not_checked(name: str) -> None:
    """The statements that are false, as they are written, and what no claim can say."""
    document = truth(name).document
    false = [
        (claim["where"], claim["holds"], "refuted")
        for claim in document.get("claims", [])
        if "holds" in claim and not truth(name).holds(claim["holds"])
    ]
    table = pen(name).tables.get("statement")
    assert [tuple(map(plain, row)) for row in (table.rows if table else ())] == false
    assert ("Statements" in pen(name).headings) == bool(false)
    table = pen(name).tables.get("what")
    left_out = [tuple(map(plain, row)) for row in (table.rows if table else ())]
    unchecked = document.get("unchecked", [])
    assert left_out == [(x["where"], x["what"], x["reason"]) for x in unchecked]
    assert ("Not checked" in pen(name).headings) == bool(unchecked)


@pytest.mark.heavy
@pytest.mark.parametrize("name", NAMES)
def test_where_the_document_differs(name: str) -> None:
    """A worked sheet has the roots too, and the statements that don't hold."""
    blocks = case_sheet.sheet(solve(name), audience="teacher").blocks
    texts = [plain(x.text) for x in blocks if isinstance(x, b.Heading | b.Paragraph)]
    has_claims = bool(truth(name).document.get("claims"))
    assert ("Where the document differs" in texts) == has_claims
    tables = [x for x in blocks if isinstance(x, b.Table) and plain(x.header[1]) == "quantity"]
    found = [row for table in tables for row in table.rows]
    roots = pen(name).tables.get("quantity")
    rows = roots.rows if roots else ()
    assert check_rows(truth(name), iter(found)) == len(rows)
    sentences = [slip.sentence for slip in symattn.audit(name).causes]
    for short, whole in zip(found, rows, strict=True):
        carried = plain(whole[4])
        more = f" ({reports.propagated(int(carried))})" if carried else ""
        # A cause has its number on the red-pen sheet, here it is told.
        _, _, number = plain(whole[3]).rpartition("cause ")
        reason = sentences[int(number) - 1] if number.isdigit() else plain(whole[3])
        assert [plain(cell) for cell in short] == [*map(plain, whole[:3]), reason + more]
    false = [
        f"{claim['where']}: {claim['holds']} does not hold."
        for claim in truth(name).document.get("claims", [])
        if "holds" in claim and not truth(name).holds(claim["holds"])
    ]
    assert [text for text in texts if text.endswith("does not hold.")] == false
    if has_claims:
        summary = pen(name).paragraphs[0]
        assert any(summary.startswith(text) for text in texts if " refuted" in text)


def test_enough_was_read() -> None:
    """Hundreds of figures were held against the truth, of which many are wrong."""
    assert sum(claim.texts.size for name in NAMES for claim in claims(truth(name))) > 1000
    assert sum(len(pen(name).marked) for name in NAMES) > 60


def test_the_mark_of_the_reader() -> None:
    """Ties hold either way; a figure is corrected to its own places."""
    with mpmath.workdps(DIGITS):
        assert mark("0.12", mpmath.mpf("0.125")) == mark("0.12", mpmath.mpf("0.115")) == "0.12"
        assert mark("0.13", mpmath.mpf("0.125")) == "0.13"
        assert mark("1.0", mpmath.mpf("0.949")) == r"\struck{1.0}\;\correct{0.9}"


FIGURES = """
title = "Figures"
[given]
X = [[1, 2], [3, 5]]
n = -0.125
[steps]
M = "causal(X)"
r = "sqrt(X[0, 1])"
s = "X[1] / 7"
E = "exp(X[0] * n)"
t = "log(2) + log(3) - log(6) + 4"
u = "n * 10"
"""


def audited(tmp_path: Path, *claimed: tuple[str, str], head: str = "") -> b.Sheet:
    """The red-pen sheet of figures claimed of small numbers."""
    entries = [
        f'[[claims]]\nwhere = "at {k}"\nof = "{of}"\nprinted = {text}\n'
        for k, (of, text) in enumerate(claimed)
    ]
    path = tmp_path / "figures.toml"
    path.write_text(head + FIGURES + "\n".join(entries), "utf-8")
    return redpen.sheet(symattn.audit(path))


@pytest.mark.parametrize(
    ("of", "text", "marks"),
    [
        # Minus infinity is right only where a score is masked.
        ("M", "[[1, 2], [3, 5]]", [["1", r"\struck{2}\;\correct{-\infty}"], ["3", "5"]]),
        ("M[0]", '[2, "-inf"]', [[r"\struck{2}\;\correct{1}", r"-\infty"]]),
        ("M[1]", '["−inf", -inf]', [[rf"\struck{{-\infty}}\;\correct{{{k}}}" for k in (3, 5)]]),
        ("r", '"-inf"', [[r"\struck{-\infty}\;\correct{\text{sqrt(2)}}"]]),
        # Percentages, powers of ten and other signs keep their form.
        (
            "s",
            '["42%", "71 %"]',
            [[r"\struck{\text{42\%}}\;\correct{\text{43\%}}", r"\text{71 \%}"]],
        ),
        ("E[0]", '"8.9e-1"', [[r"\struck{\text{8.9e-1}}\;\correct{\text{8.8e-1}}"]]),
        ("E[1]", '"≈ 0.9"', [[r"\struck{\text{≈ 0.9}}\;\correct{0.8}"]]),
        ("n", '"−0.2"', [[r"\struck{-0.2}\;\correct{-0.1}"]]),
        ("u", '"+1.25"', [[r"\struck{+1.25}\;\correct{-1.25}"]]),
    ],
)
def test_figures_keep_their_form(
    tmp_path: Path, of: str, text: str, marks: list[list[str]]
) -> None:
    """A figure stands as it is printed, what corrects it in the same form."""
    (block,) = (
        x for x in in_latex(audited(tmp_path, (of, text))).blocks if isinstance(x, b.RedPen)
    )
    assert cells(block)[1] == marks


def labels(sheet: b.Sheet) -> list[object]:
    """What the roots are figures of."""
    (table,) = (x for x in in_latex(sheet).blocks if isinstance(x, b.Table))
    return [quantity for _, (quantity,), *_ in table.rows]


def test_what_figures_are_of(tmp_path: Path) -> None:
    """An entry has the indices of its quantity, a number none, an expression is typed."""
    claimed = [("X[:, 0]", "[2, 3]"), ("s", "[0.4, 0.8]"), ("u", "3"), ("X[0] * 2", "[2, 5]")]
    # First what no cause was found for.
    assert labels(audited(tmp_path, *claimed)) == [
        in_latex(math("u")),
        in_latex(math("X_{0,0}")),
        in_latex(math("s_{1}")),
        b.Code("(X[0] * 2)[1]"),
    ]


def test_what_is_undecided(tmp_path: Path) -> None:
    """A figure that can't be decided is marked as such: nothing is struck, no cause is named."""
    made = audited(tmp_path, ("t", "3.5"), ("u", "-1.5"), head='tolerance = "0.5"\n')
    assert paragraphs(made)[0] == "2 figures: 1 holds, 0 refuted, 1 undecided, 0 roots."
    (block,) = (x for x in in_latex(made).blocks if isinstance(x, b.RedPen))
    assert block == in_latex(b.RedPen("at 0", matrix(r"t = 3.5\,(?)", ()), ()))


def test_a_declared_rounding(tmp_path: Path) -> None:
    """A document that cuts its figures off is held to that."""
    made = audited(tmp_path, ("u", "-1.3"), ("u", "-1.2"), head='rounding = "down"\n')
    (block,) = (x for x in in_latex(made).blocks if isinstance(x, b.RedPen))
    assert block.matrix.before == r"u = \struck{-1.3}\;\correct{-1.2}"


def test_nothing_to_correct(tmp_path: Path) -> None:
    """A document without a slip has nothing struck and no table of roots."""
    made = audited(tmp_path, ("u", "-1.25"))
    assert len(made.blocks) == 2
    assert paragraphs(made) == [
        "1 figure: 1 holds, 0 refuted, 0 roots.",
        "Nothing to correct.",
    ]
    assert (made.name, made.title) == ("figures-audit", "Figures: red pen")
    assert made.subtitle == ("figures",)
    assert pen("cat-sat-mat").sheet.subtitle == (truth("cat-sat-mat").document["source"],)


def test_figures_cut_off_throughout(tmp_path: Path) -> None:
    """What explains every slip at once is said behind the counts."""
    claimed = [("s", "[0.428, 0.714]"), ("s[0]", "0.42"), ("r", "1.41"), ("E", "[0.88, 0.77]")]
    made = audited(tmp_path, *claimed)
    assert paragraphs(made)[0].endswith(
        "every error is explained by truncation instead of rounding"
    )


def test_one_heading_over_all_that_is_marked() -> None:
    """The marked figures stand under one heading."""
    assert pen("length-4-causal").headings == ["Roots", "As printed", "Statements", "Not checked"]


@pytest.mark.parametrize("place", [(0, 0), (0, 1), (2, 1)])
def test_a_figure_that_is_not_judged(place: tuple[int, int]) -> None:
    """Of an article some figures of a matrix may not be: the others stay in their columns, in
    every format."""
    audit = symattn.audit("please-study-man")
    wrong = [x for x in audit.figures if x.verdict is Verdict.REFUTED and len(x.at) == 2]
    claim = next(x.claim for x in wrong if x.at not in ((0, 0), (0, 1), (2, 1)))
    shape = np.max([x.at for x in audit.figures if x.claim is claim], axis=0) + 1
    kept = tuple(x for x in audit.figures if x.claim is not claim or x.at != place)
    whole, cut = (
        redpen.sheet(replace(audit, figures=figures)) for figures in (audit.figures, kept)
    )
    for printer in (docx, html, latex, markdown, typst):
        assert printer.document(cut)
    (before, after), *others = [
        (x, y) for x, y in zip(whole.blocks, cut.blocks, strict=True)
        if isinstance(x, b.RedPen) and isinstance(y, b.RedPen) and x != y
    ]  # fmt: skip
    assert not others
    for at in np.ndindex(*shape):
        i, j = at
        expected = t.DOTS if at == place else before.matrix.cells[i][j]
        assert after.matrix.cells[i][j] == expected
