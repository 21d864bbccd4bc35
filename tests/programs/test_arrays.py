"""Arrays written in steps are what the same numbers given are, in every arithmetic."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.auditing.audit import audit
from symattn.cases.case import make
from symattn.crosscheck.recomputation import recompute
from symattn.errors import Malformed
from symattn.expressions import formulas, syntax
from symattn.programs.display import formula
from symattn.programs.program import program
from symattn.sheets.case_sheet import sheet
from symattn.solution.solution import solve
from symattn.verdicts import Verdict
from symattn.verification import verify

from ..strategies import some

ENTRIES = st.one_of(
    st.integers(-9, 9).map(str),
    st.decimals(-9, 9, places=2).map(str),
    st.fractions(-3, 3, max_denominator=7).map(str),
    st.sampled_from(["sqrt(2)", "exp(1)/2", "-inf"]),
)
MATRICES = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.lists(ENTRIES, min_size=n, max_size=n), min_size=1, max_size=3)
)


def written(rows: list[list[str]]) -> str:
    return f"[[{'], ['.join(', '.join(row) for row in rows)}]]"


@some
@given(MATRICES)
def test_an_array_in_a_step_is_the_array_given(rows):
    """Exactly, and in the recomputation that reads it by itself."""
    case = make("arrays", {"X": rows}, {"Y": written(rows), "Z": f"{written(rows)} + X"})
    solution = solve(case)
    assert solution["Y"] == solution["X"]
    assert solution["Z"] == solution["X + X"]
    found = recompute({"X": rows}, {"Y": written(rows)}).quantities
    assert np.array_equal(found["Y"].value, found["X"].value)
    assert np.array_equal(found["Y"].bound, found["X"].bound)


def test_steps_with_arrays_have_gradients_that_two_ways_agree_on():
    """Masks, additive masks, factors and projections written out: verified forward and back."""
    case = make(
        "arrays",
        {"X": [[1, 2], [3, 4]]},
        {
            "S": "X @ X.T * [[1, 0.5], [0.5, 1]] / 10",
            "T": "mask(S, [[1, 0], [1, 1]]) + [[0, -inf], [0, 0]]",
            "A": "softmax(T)",
            "Y": "A @ [[1, 0], [0, 1/3]] + [1, 2]",
        },
        {"output": "Y", "upstream": [[1, 2], [3, 4]]},
    )
    checks = verify(case).checks
    assert {"S", "T", "A", "Y", "dL/dX"} <= {check.quantity for check in checks}
    assert all(check.verdict is check.symbolic is Verdict.HOLDS for check in checks)


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        ("[[1, 2], [3]]", "expected rows of one length, found 1 and 2 numbers"),
        ("[[1], 2]", "expected rows in brackets, as in [[1, 2], [3, 4]]"),
        ("[[1, [2]]]", "an array has rows and columns, no more"),
        ("[[[1]]]", "an array has rows and columns, no more"),
        ("[X, 1]", "an array written in a step holds numbers, found 'X'"),
        ("[inf]", "'inf' is not an exact number"),
        ("X @ [[1, 2]]", "needs the 2 columns on the left to meet as many rows"),
    ],
)
def test_what_is_no_array_of_numbers_is_told(step, fault):
    """The message says what is wrong; the other reader refuses it as well."""
    with pytest.raises(Malformed) as told:
        program({"X": (2, 2)}, {"Y": step})
    assert fault in str(told.value)
    with pytest.raises(Malformed):
        recompute({"X": [[1, 0], [0, 1]]}, {"Y": step})


def test_numbers_of_arrays_are_no_symbols():
    """A matrix of four hundred numbers, signs and all, is one value among others."""
    rows = [[f"-0.{j % 10}5" for j in range(20)] for _ in range(20)]
    assert program({}, {"Y": f"{written(rows)} @ {written([['1']] * 20)}"}).shapes() == {
        "Y": (20, 1)
    }
    with pytest.raises(Malformed, match="more than 400 symbols"):
        syntax.parse(f"[{'+'.join(['1'] * 410)}]")


def test_formulas_show_arrays_as_matrices():
    """In brackets in text, as a matrix in LaTeX; of large ones the first and the last."""
    p = program({"X": (2, 2)}, {"Y": "X @ [[1, -inf], [1/2, 0]]", "v": "[1, 2]"})
    named = {node.serial: syntax.Name(name) for name, node in p.quantities.items()}
    shown = formula(p.quantities["Y"], named)
    assert syntax.shown(shown) == "X @ [[1, -inf], [1/2, 0]]"
    matrix = r"\begin{bmatrix} 1 & -\infty \\ \frac{1}{2} & 0 \end{bmatrix}"
    assert formulas.latex(shown) == rf"X\,{matrix}"
    assert syntax.shown(formula(p.quantities["v"], named)) == "[1, 2]"
    wide = program({}, {"w": f"[{', '.join(map(str, range(9)))}]"}).quantities["w"]
    assert syntax.shown(formula(wide, {})) == "[0, 1, 2, 3, ..., 8]"


@pytest.mark.parametrize(
    "statement",
    [
        "max([1, 0, 1]) == 1",
        "min([[1, 0.5], [-2, 1]]) == -2",
        "argmax([1, 3, 2]) == 1",
        "[1, 2] @ [3, 4] == 11",
        "[[1, 2], [3, 4]] @ [1, 1] == [3, 7]",
        "total([0.25, 0.75]) == 1",
        "shape([[1, 2, 3]]) == (1, 3)",
        "softmax([0, 0]) == [0.5, 0.5]",
        "abs([-1, 1]) == [1, 1]",
    ],
)
def test_statements_hold_of_arrays(statement):
    """What a document says of numbers alone is judged without any step."""
    case = make("arrays", {"X": [[1]]}, {"Y": "X"}, claims=[{"where": "x", "holds": statement}])
    (judged,) = audit(case).statements
    assert judged.verdict is Verdict.HOLDS


@pytest.mark.parametrize("form", ["html", "tex", "md", "typst"])
def test_sheets_show_arrays_as_matrices(form):
    """Every printer sets a step that has an array in it."""
    case = make(
        "arrays",
        {"X": [[1, 2], [3, 4]]},
        {"W": "[[17, -inf], [0, 1]]", "Y": "X @ [[29, 0], [0, 1]]"},
    )
    printer = {"md": "markdown", "tex": "latex"}.get(form, form)
    text = import_module(f"symattn.printers.{printer}").document(sheet(solve(case)))
    beside = {"html": "<mtd><mn>29</mn></mtd>", "typst": "29 , 0"}.get(form, "29 & 0")
    assert beside in text
