"""How entries of functions are worked out."""

from __future__ import annotations

import re

import mpmath
import numpy as np
import pytest

from symattn.cases.case import make
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.numbers.balls import spend
from symattn.printers.latex import document
from symattn.programs import entrywise
from symattn.sheets import presentation
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
    assert found is not None
    assert syntax.shown(found) == shown


#: Steps of some hundred bytes whose entries, written out, double with every factor or call.
DOUBLING = {
    "weights": " @ ".join(["X", *["softmax(X)"] * 9]),
    "products": f"{'(' * 8}X{' @ (X + sqrt(2) * X)).T' * 8}",
    "sums": f"{'cumsum(' * 20}X{')' * 20}",
    "functions": "log(1 + softcap(1 + softcap(1 + X @ (X + sqrt(2) * X), 2) ** 8, 3) ** 8) ** 8",
}


@pytest.mark.parametrize("step", DOUBLING.values(), ids=DOUBLING)
@pytest.mark.parametrize("detail", ["brief", "full"])
def test_the_work_on_a_sheet_is_bounded(step, detail, monkeypatch):
    """What is set grows with what is written out, which has a limit for an entry and for a sheet;
    words say where it was reached, and digits are given all the same."""
    count, set_one = 0, f.Setter.bound

    def counted(setter, tree):
        nonlocal count
        count += 1
        assert count < 50_000
        return set_one(setter, tree)

    monkeypatch.setattr(f.Setter, "bound", counted)
    solution = solve(make("long", {"X": [[1, 2], [3, 4]]}, {"Y": step}))
    made = document(sheet(solution, detail=detail))
    assert "are too long to be worked out here" in made
    shown, node = Presentation(solution, 4), solution.program.quantities["Y"]
    for place in np.ndindex(node.grid):
        # A whole number stands there without its zeros.
        assert f.latex(shown.decimal(node, *place)).removesuffix(".0000") in made


def test_all_entries_of_a_sheet_together_are_bounded(monkeypatch):
    """What is left for the entries of a sheet is spent, and what comes after is given by digits."""
    monkeypatch.setattr(presentation, "WORKED_ALL", 100)
    made = document(sheet("cat-sat-mat", detail="full"))
    assert "S_{0,0} &= 1" in made
    assert re.search(r"Entries of \$\\mathrm\{d\}X\$ are too long to be worked out here", made)


@pytest.mark.parametrize("products", [80, 100_000])
def test_numbers_inside_worked_entries_are_bounded(products, monkeypatch):
    """An entry of a product of unnamed products asks for all of theirs: what that costs counts."""
    spent = 0

    def counted(count):
        nonlocal spent
        spent += count
        spend(count)

    monkeypatch.setattr(entrywise, "spend", counted)
    monkeypatch.setattr(presentation, "WORKED_PRODUCTS", products)
    solution = solve(make("deep", {"X": [[1, 2], [3, 4]]}, {
        "P": "ones(8, 2) @ X @ ones(2, 8)", "B": "exp(cos(P @ P) @ cos(P @ P))"}))  # fmt: skip
    shown, node = Presentation(solution, 4), solution.program.quantities["B"]
    worked = [shown.worked.by_name(node, i, j) for i, j in np.ndindex(3, 8)]
    assert (None in worked) is (products == 80)
    assert (spent < 80 + 8 * 8) is (products == 80)


def test_an_entry_that_is_only_moved_says_where_from():
    """In a row that is worked in decimals, too, where there is nothing to compute."""
    given = {"X": [[1, 2], ["0.5", -1]]}
    steps = {"H": "softmax(X @ X.T / sqrt(3)) @ X", "Y": "concat(X, H)"}
    made = document(sheet(make("moved", given, steps), detail="full"))
    assert re.search(r"Y_\{0,2\} &= H_\{0,0\} (= .*)?\\approx 0\.9885", made)
    assert r"H_{0,0} &\approx 0.97708 \cdot 1" in made


def test_equal_decimals_are_no_equation():
    """Entries whose lines in decimals are alike, and which differ, are not joined."""
    given = {"X": [["0.1", "0.10001"]], "W": [[1], [1]]}
    steps = {"A": "tanh(X) * exp(X) + sin(X)", "B": "sin(A) + A / 3"}
    made = document(sheet(make("near", given, steps), places=1))
    assert "B_{0,0} = B_{0,1}" not in made
    assert made.count("B_{0,0}") == made.count("B_{0,1}") >= 1


def test_who_computes_with_the_decimals_of_a_line_gets_its_result():
    """Recomputed by mpmath from what is printed; some lines need more places for that."""
    given = {"X": [[1, 0, 2], [0, 1, 1], [2, 1, 0]], "W": [[1, 2], [0, 1], [-1, 0]], "t": [1, 0, 1]}
    steps = {"S": "X @ X.T / sqrt(3)", "A": "softmax(causal(S))", "Z": "A @ (X @ W)",
             "P": "softmax(Z)", "L": "cross_entropy(Z, t)"}  # fmt: skip
    loss = {"output": "L", "wrt": ["X", "W", "S"]}
    solution = solve(make("board", given, steps, loss))
    shown, program = Presentation(solution, 4), solution.program
    known = {name: getattr(mpmath, name) for name in ("sqrt", "log", "exp")}
    longer = lines = 0
    for node in (*program.gradients.values(), *(program.quantities[name] for name in "APL")):
        for i, j in np.ndindex(node.grid):
            formula = shown.worked.in_numbers(node, i, j)
            result = syntax.shown(shown.decimal(node, i, j))
            assert formula is not None
            computed = eval(syntax.shown(formula).replace("^", "**"), {}, known)
            assert abs(mpmath.mpf(result) - computed) < 0.500001e-4, (i, j)
            lines += 1
            longer += re.search(r"\.\d{5}", syntax.shown(formula)) is not None
    assert lines > 50
    assert longer > 5
