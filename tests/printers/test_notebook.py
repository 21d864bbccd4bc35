"""What notebooks show: well formed, harmless, with the library's own figures."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import symattn
from symattn.auditing.audit import audit
from symattn.calculus.library import THEORY
from symattn.cases.case import make
from symattn.solution.quantity import Quantity
from symattn.solution.solution import Solution, solve
from symattn.verification import verify

from ..hostile import CASE, steering

TAGS = {"div", "table", "caption", "strong", "thead", "tbody", "tr", "th", "td", "p"}


def snippet(result: Any) -> ElementTree.Element:
    """What a notebook shows, as elements: only such as do nothing."""
    text = result._repr_html_()
    assert steering(text) == set()
    root = ElementTree.fromstring(text)
    for element in root.iter():
        assert element.tag in TAGS
        assert element.attrib.keys() <= {"style", "scope", "title"}
        assert "url" not in element.get("style", "")
    return root


def body(root: ElementTree.Element) -> list[list[ElementTree.Element]]:
    """The cells of the rows, without labels."""
    return [row.findall("td") for row in root.findall("table/tbody/tr")]


def labels(root: ElementTree.Element, scope: str) -> list[str]:
    return [th.text or "" for th in root.iter("th") if th.get("scope") == scope]


def rows_of(quantity: Quantity, places: int) -> list[list[Any]]:
    """The decimals as rows, whatever the shape."""
    held = quantity.decimal(places)
    if not quantity.shape:
        return [[held]]
    return [list(held)] if len(quantity.shape) == 1 else [list(row) for row in held]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["cat-sat-mat", "length-4-causal", "the-fox-jumps"])
def test_a_quantity(name: str) -> None:
    """Its name, its decimals, its tokens where rows and columns run over them; the closed
    form is told, and only weights are shaded."""
    solution = solve(name)
    for one in solution.program.named:
        quantity = solution[one]
        root = snippet(quantity)
        assert root.findtext("table/caption/strong") == one
        cells = body(root)
        decimals = rows_of(quantity, 4)
        for shown, correct in zip(cells, decimals, strict=True):
            for cell, value in zip(shown, correct, strict=True):
                if value == Decimal("-Infinity"):
                    assert cell.text == "-∞"
                else:
                    assert cell.text == (value if isinstance(value, str) else f"{value:f}")
        for i, j in ((0, 0), (-1, -1)):
            entry = quantity.rows[i][j]
            assert cells[i][j].get("title") in (str(entry), None)
        shades = ["color-mix" in cell.get("style", "") for row in cells for cell in row]
        assert any(shades) == (one == "A")
    tokens = list(solution.case.tokens)
    weights = snippet(solution["A"])
    assert labels(weights, "col") == labels(weights, "row") == tokens
    assert labels(snippet(solution["A[-1]"]), "col") in (tokens, [])
    assert labels(snippet(solution["A"][1:, :2]), "row") == tokens[1:]
    assert labels(snippet(solution["A"][1:, :2]), "col") == tokens[:2]
    assert labels(snippet(solution["Y"]), "col") == []


def test_shades_are_in_the_order_of_weights() -> None:
    """The larger a weight, the deeper its shade."""
    cells = [cell for row in body(snippet(solve("please-study-man")["A"])) for cell in row]
    depths = [
        int((cell.get("style") or "").partition("#3f86d6 ")[2].partition("%")[0] or 0)
        for cell in cells
    ]
    figures = [Fraction(cell.text or "") for cell in cells]
    order = sorted(range(len(cells)), key=lambda k: figures[k])
    assert [depths[k] for k in order] == sorted(depths)
    assert len(set(depths)) > 3


def large() -> Solution:
    """A case with a matrix of 40 rows and 30 columns."""
    rows = [[f"{i}/{j + 1}" for j in range(30)] for i in range(40)]
    return solve(make("large", {"X": rows}, {"S": "X @ X.T", "A": "softmax(X)"}))


def test_a_large_quantity() -> None:
    """Its beginning is shown, that is said, and no closed forms are made."""
    solution = large()
    for name, note in (
        ("A", "The first 12 of 40 rows and 12 of 30 columns."),
        ("X[:, 0]", "The first 12 of 40 columns."),
        ("X[:, :2]", "The first 12 of 40 rows."),
        ("X[:12, :12]", None),
    ):
        root = snippet(solution[name])
        assert root.findtext("p") == note
        assert max(map(len, body(root))) <= 12
        assert len(body(root)) <= 12
    root = snippet(solution["A"])
    assert body(root)[11][11].text == f"{solution['A'].decimal(4)[11][11]:f}"
    assert not any(cell.get("title") for row in body(root) for cell in row)
    assert solution["A"]._repr_latex_() is None
    latex = solution["X[1, 1]"]._repr_latex_()
    assert latex == r"$\displaystyle \frac{1}{2}$"


@pytest.mark.heavy
def test_summaries() -> None:
    """A solution lists its quantities, an audit its wrong figures, a verification its checks,
    a derivation its lines with their verdicts."""
    solution = solve("cat-sat-mat")
    listed = [[cell.text for cell in row] for row in body(snippet(solution))]
    assert [row[0] for row in listed] == list(solution.program.named)
    assert ["A", "softmax(T)", "3x3"] in listed
    found = audit("please-study-man")
    wrong = [f for f in found.figures if f.verdict is symattn.Verdict.REFUTED]
    false = [one for one in found.statements if one.verdict is symattn.Verdict.REFUTED]
    root = snippet(found)
    told = [[cell.text for cell in row] for row in body(root)]
    assert [row[1:4] for row in told] == [[f.label, f.text, f.correct] for f in wrong[:12]]
    assert root.findtext("p") == f"The first 12 of {len(wrong) + len(false)} rows."
    checks = verify(solution)
    told = [[cell.text for cell in row] for row in body(snippet(checks))]
    assert told == [[c.quantity, *c.texts, str(c.verdict), str(c.symbolic)] for c in checks.checks]
    proof = THEORY["softmax-jacobian"]
    told = [[cell.text for cell in row] for row in body(snippet(proof))]
    assert [row[2] for row in told] == [line.status for line in proof.lines]
    assert told[0][1] == "∂E_i/∂S_k = δ_ik E_i"
    assert body(snippet(symattn.attention([[1]], [[1]], [[3]])))[0][0].text == "3.0000"


def test_a_derivation_that_cannot_be_read() -> None:
    """Lines are shown as they are written, with their faults."""
    found = symattn.derive(
        'title = "<i>t"\n[[lines]]\nline = "<b> == x =="\n[[lines]]\nline = "1 == 2"\n'
    )
    said = "".join(snippet(found).itertext())
    assert "<i>t" in said
    assert "<b> == x ==" in said
    assert "refuted" in said


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    """Texts of a file are shown as they are, in labels, titles and summaries."""
    path = tmp_path / "hostile.toml"
    path.write_text(CASE, "utf-8")
    solution = solve(path)
    for result in (solution, solution["A_"], audit(solution)):
        assert "<script>alert(1)</script>" in "".join(snippet(result).itertext())
    assert body(snippet(verify(solution)))[0][0].text == "X_"
