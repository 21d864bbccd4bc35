"""What holds, on the sheet of a walkthrough of one's own."""

# Blocks are read here with LaTeX for their formulas.
# mypy: disable-error-code="attr-defined,comparison-overlap"

from __future__ import annotations

import pytest

from symattn.cases.case import make
from symattn.printers import blocks as b
from symattn.printers import latex, markdown
from symattn.sheets.case_sheet import sheet
from symattn.solution.solution import solve

from ..notation import in_latex

GIVEN = {"W_1": [[0, 2], [1, 3]]}
STEPS = {"A": "softmax(W_1)", "L": "total(A[:, 0:1] * W_1[:, 1:2])"}


def case(*holds: str, source: str = ""):
    """A case with these statements."""
    claims = [{"where": f"claim {k}", "holds": text} for k, text in enumerate(holds)]
    return make("own", GIVEN, STEPS, {"output": "L"}, claims=claims, source=source)


def section(made: b.Sheet) -> list[b.Block]:
    """The blocks under the heading."""
    found = list(made.blocks)
    titles = [one.text for one in found if isinstance(one, b.Heading) and one.level == 1]
    if ("What holds",) not in titles:
        return []
    start = next(k for k, one in enumerate(found) if one == b.Heading(("What holds",)))
    rest = found[start + 1 :]
    return rest[: next((k for k, x in enumerate(rest) if isinstance(x, b.Heading)), len(rest))]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rowsum(A) == 1", (r"\operatorname{rowsum}\left(A\right)", "=", "1")),
        ("W_1[0, 1] != W_1[1, 0]", ("(W_{1})_{0,1}", r"\ne", "(W_{1})_{1,0}")),
        ("max(A[0]) < 1", (r"\operatorname{max}\left(A_{0,:}\right)", "<", "1")),
        ("grad(A) == W_1[:, 1:2] * [[1, 0]]", None),
        ("L == A[0, 0] * 2 + A[1, 0] * 3", None),
    ],
)
def test_statements_that_hold_are_shown(text, shown):
    """Each in words and as a formula, by the names of the sheet."""
    said, *equations = section(in_latex(sheet(case(text))))[1:]
    assert isinstance(said, b.Paragraph)
    assert said.text == ("claim 0", ":")
    (lines,) = (one.lines for one in equations if isinstance(one, b.Equations))
    assert shown is None or lines == (shown,)


def test_chains_and_conjunctions_have_lines():
    """``a < b <= c`` goes on without its left side."""
    (_, _, found) = section(in_latex(sheet(case("0 < A[0, 0] <= 1/2 and A[0, 0] < A[0, 1]"))))
    assert isinstance(found, b.Equations)
    half = r"1 / 2"
    assert [(left, sign) for left, sign, _ in found.lines] == [
        ("0", "<"), ("", r"\le"), ("A_{0,0}", "<"),
    ]  # fmt: skip
    assert found.lines[1][2].replace(" ", "") == half.replace(" ", "")


def test_what_is_too_long_stands_as_it_is_written():
    """A line runs over no margin."""
    text = f"total(concat({', '.join(['A'] * 40)})) == 80"
    (_, found) = section(in_latex(sheet(case(text))))
    assert isinstance(found, b.Paragraph)
    assert b.Code(text) in found.text


@pytest.mark.parametrize(
    "made",
    [
        case("A[0, 0] == 1"),
        case("shape(A) == (2, 2)"),
        case(),
        case("rowsum(A) == 1", source="an article"),
        case("log(2) + log(3) == log(6) + A[0, 0] - A[0, 0]"),
    ],
    ids=["refuted", "of a shape", "none", "of a document", "open"],
)
def test_nothing_else_is_said(made):
    """What doesn't hold is for the audit, and what is of shapes stands there anyway."""
    assert section(sheet(made)) == [] or "log" in made.claims[0].holds


def test_no_second_subscript():
    """TeX and MathJax refuse one below a name that has one."""
    made = sheet(case("W_1[0, 1] == 2"))
    assert r"(W_{1})_{0,1} &= 2" in latex.document(made)
    assert "(W_ {1})_ {0,1}" in markdown.document(made)


def test_rows_of_a_loss_have_their_tokens():
    """Where the output is a number, weights say what has a row for each token."""
    solved = solve(make("own", GIVEN, STEPS, {"output": "L"}, tokens=["one", "two"]))
    assert solved["A"].labels[0] == ("one", "two")
    assert solved["dL/dA"].labels[0] == ("one", "two")
