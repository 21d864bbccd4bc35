"""How entries of functions are worked out."""

from __future__ import annotations

import pytest

from symattn import formulas as f
from symattn.cases.case import make
from symattn.printers.latex import document
from symattn.sheets.case_sheet import sheet
from symattn.sheets.presentation import Presentation
from symattn.solution.solution import solve

GIVEN = {"X": [[1, 2], [3, "1/2"]], "T": [[0, 1], [1, 0]]}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("mse(X, T)", "(1 + 1 + 4 + 0.25)/4"),
        ("mean(X)", "(1 + 2 + 3 + 0.5)/4"),
        ("nll(X, [1, 0])", "-(2 + 3)/2"),
        ("relu(-X)", "max(0, -1)"),
        ("rowmax(X)", "max(1, 2)"),
    ],
)
def test_functions_are_worked_out(text, shown):
    """With the numbers of the case, not by their results, one function by another included."""
    solution = solve(make("worked", GIVEN, {"L": text}))
    found = Presentation(solution, 4).worked.by_name(solution.program.quantities["L"], 0, 0)
    assert f.text(found) == shown


def test_equal_decimals_are_no_equation():
    """Entries whose lines in decimals are alike, and which differ, are not joined."""
    given = {"X": [["0.1", "0.10001"]], "W": [[1], [1]]}
    steps = {"A": "tanh(X) * exp(X) + sin(X)", "B": "sin(A) + A / 3"}
    made = document(sheet(make("near", given, steps), places=1))
    assert "B_{0,0} = B_{0,1}" not in made
    assert made.count("B_{0,0}") == made.count("B_{0,1}") >= 1
