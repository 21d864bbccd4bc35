"""How entries of functions are worked out."""

from __future__ import annotations

import pytest

from symattn import formulas as f
from symattn.cases.case import make
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
