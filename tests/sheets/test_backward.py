"""What a sheet says of gradients: definitions, names and formulas that hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symattn.cases.case import make
from symattn.printers import blocks as b
from symattn.sheets import case_sheet
from symattn.solution.solution import Solution

from ..notation import in_latex
from .pages import of

SQUARE = [[1, "1/2"], [0, 2]]


def sheet(given: Mapping[str, Any], steps: Mapping[str, str], **details: Any) -> b.Sheet:
    return case_sheet.sheet(Solution(make("case", given, steps, **details)))


def plain(line: b.Line) -> str:
    """A line of text without markup."""
    return "".join(
        piece
        if isinstance(piece, str)
        else in_latex(piece.formula)
        if isinstance(piece, b.Math)
        else piece.text
        for piece in line
    )


def headings(made: b.Sheet) -> list[str]:
    return [plain(block.text) for block in made.blocks if isinstance(block, b.Heading)]


def definitions(made: b.Sheet) -> list[str]:
    paragraphs = [block.text for block in made.blocks if isinstance(block, b.Paragraph)]
    return [plain(text) for text in paragraphs if text[0] == "Entry by entry: "]


def defined(steps: Mapping[str, str], given: Mapping[str, Any]) -> set[str]:
    """The gradients that a sheet gives a definition of."""
    lefts = [text.split(" = ")[0] for text in definitions(sheet(given, steps))]
    return {left.split(r"\mathrm{d}")[1][0] for left in lefts if r"\mathrm{d}" in left}


def test_a_definition_is_the_whole_gradient() -> None:
    """A use inside a longer step counts: the flow of the other use is not all there is."""
    assert defined({"S": "Q @ Q.T / 2", "Y": "S @ Q"}, {"Q": SQUARE}) == {"S"}
    assert defined({"S": "Q @ K.T", "Y": "S @ V"}, dict.fromkeys("QKV", SQUARE)) == set("SVQK")


def test_no_definition_of_what_is_turned_first() -> None:
    """The definitions are of operations on a quantity itself, or of scores."""
    assert defined({"A": "softmax(X.T)", "Y": "A @ W"}, {"X": SQUARE, "W": SQUARE}) == {"A", "W"}
    assert defined({"Y": "X.T @ W"}, {"X": SQUARE, "W": SQUARE}) == set()
    given = dict.fromkeys("QKW", SQUARE)
    made = sheet(given, {"T": "K.T", "S": "Q @ T", "Y": "S @ W"})
    assert r"{\mathrm{d}T}_{k,j} = \sum_{i = 0}^{1} Q_{i,k}{\mathrm{d}S}_{i,j}" in "".join(
        definitions(made)
    )


def test_a_repeated_gradient_is_shown_as_such() -> None:
    """What a total spreads is no factor: spread(dY) M^T is not dY M^T."""
    made = sheet({"M": SQUARE}, {"Y": "total(M @ M)"})
    spread = r"\operatorname{spread}\left(\mathrm{d}Y\right)"
    assert rf"\mathrm{{d}}M = {spread}\,M^{{\top}} + M^{{\top}}\,{spread}" in headings(made)


def test_a_gradient_that_flows_on_is_not_worked_twice() -> None:
    """It has its own heading and name, and the values stand with the later step."""
    made = sheet({"X": SQUARE}, {"N": "2 * X", "T": "N + 1", "Y": "T @ X", "O": "Y + X"})
    backward = headings(made)[headings(made).index("Backward") + 1 :]
    assert [text.split(" = ")[0] for text in backward] == [
        rf"\mathrm{{d}}{name}" for name in "YTNX"
    ]
    assert backward[0] == r"\mathrm{d}Y = \mathrm{d}O"
    assert backward[2] == r"\mathrm{d}N = \mathrm{d}T"
    names = [item.before for x in of(made, b.Matrices) for item in x.items]
    assert names.count(r"\mathrm{d}O =") == 1
    assert names.count(r"\mathrm{d}T =") == 1
    assert r"\mathrm{d}N =" not in names


def test_rows_in_another_order_have_no_labels() -> None:
    """Tokens label the rows of the output; those of X, turned upside down, are others."""
    steps = {"R": "X[::-1]", "W": "X[:, ::-1]", "Y": "R @ W"}
    made = sheet({"X": SQUARE}, steps, tokens=("first", "second"))
    labels = {item.before: item.row_labels for x in of(made, b.Matrices) for item in x.items}
    assert labels["R ="] == labels["Y ="] == labels[r"\mathrm{d}R ="] == ("first", "second")
    assert labels["X ="] == labels["W ="] == labels[r"\mathrm{d}X ="] == ()
