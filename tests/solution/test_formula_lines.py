"""Formulas as papers have them: stage by stage, as one expression, entry by entry."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from typing import get_args

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import symattn
from symattn.cases.case import make
from symattn.cases.settings import SheetSettings
from symattn.errors import Malformed, NoClosedForm
from symattn.expressions import formulas as f
from symattn.expressions import typesetting as t
from symattn.programs.display import symbol
from symattn.sheets.steps import Steps
from symattn.solution.solution import Solution, solve
from symattn.solution.symbolic import FormulaStyle, general_entry, shapes_of

from ..strategies import few

STYLES: tuple[FormulaStyle, ...] = get_args(FormulaStyle)


def lines_of(latex):
    """The lines of an ``align*``, with what is broken in one."""
    first, *lines, last = latex.replace(" \\\\\n&\\quad ", "").split("\n")
    assert (first, last) == (r"\begin{align*}", r"\end{align*}")
    return [line.removesuffix(r" \\") for line in lines]


# -- every style -----------------------------------------------------------------------------------


@pytest.mark.sampled(1, 2)
@pytest.mark.parametrize("name", symattn.names())
def test_bundled_walkthroughs(name):
    """Brackets and environments are closed, no dollar is in it, and the last line is the formula's;
    in a notebook the stages are shown."""
    for quantity, formula in solve(name).symbolic.items():
        assert formula._repr_latex_() == formula.latex() == formula.latex("stages")
        for style in STYLES:
            try:
                latex = formula.latex(style)
            except NoClosedForm:
                assert (name, style) == ("pre-norm-block", "matrix")
                continue
            assert "$" not in latex
            assert "dL/d" not in latex
            bare = latex.replace(r"\{", "").replace(r"\}", "")
            assert bare.count("{") == bare.count("}")
            begun = re.findall(r"\\begin\{([a-z*]+)\}", latex)
            assert sorted(begun) == sorted(re.findall(r"\\end\{([a-z*]+)\}", latex))
            assert latex.count(r"\left") - latex.count(r"\leftarrow") == latex.count(r"\right")
            if style == "stages":
                assert lines_of(latex)[-1].startswith(f"{f.latex(symbol(quantity))} &= ")


def test_unknown_styles():
    """They are told, with those that there are."""
    with pytest.raises(Malformed, match="style='stage': did you mean stages"):
        solve("cat-sat-mat").symbolic["A"].latex("stage")  # type: ignore[arg-type]


@pytest.mark.heavy
@pytest.mark.needs("pdflatex")
def test_pdflatex_sets_them(tmp_path):
    """All styles of several formulas, with amsmath alone."""
    chosen = [
        ("please-study-man", "dL/dW_Q"),
        ("cat-sat-mat-causal", "dL/dQ"),
        ("multi-head", "dL/dX"),
        ("pre-norm-block", "dL/dH"),
        ("alibi", "A"),
    ]
    parts = []
    for name, quantity in chosen:
        formula = solve(name).symbolic[quantity]
        parts += [formula.latex(), formula.latex("entry"), f"\\[{formula.latex('matrix')}\\]"]
    document = (
        r"\documentclass{article}\usepackage{amsmath}\allowdisplaybreaks\begin{document}"
        + "\n".join(parts)
        + r"\end{document}"
    )
    (tmp_path / "formulas.tex").write_text(document)
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "formulas.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]


# -- stages and expressions ------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["cat-sat-mat", "please-study-man", "multi-head", "swiglu"])
def test_stages_are_those_of_the_sheets(name):
    """Names and formulas as the sheet of the case prints them."""
    s = solve(name)
    steps = Steps(s, SheetSettings())
    for quantity, node in s.program.named.items():
        if node.op == "given":
            continue
        printed = steps.computed(steps.name(node), node)
        (line, *_) = reversed(lines_of(s.symbolic[quantity].latex()))
        left, right = line.split(" &= ")
        if left == t.latex(steps.name(node)):
            assert right.replace(" ", "") == t.latex(printed).replace(" ", "")


def test_one_expression():
    """A step in what is given, a gradient in steps, what is given by its name."""
    formulas = solve("please-study-man").symbolic
    assert formulas["S"].latex("matrix") == (r"X\,W_{Q}\,\left(X\,W_{K}\right)^{\top}")
    assert formulas["dL/dQ"].latex("matrix").count(r"\mathrm{d}Y") == 2
    assert r"\mathrm{d}S" not in formulas["dL/dQ"].latex("matrix")
    assert formulas["dL/dY"].latex("matrix") == r"\mathrm{d}Y"
    assert formulas["W_Q"].latex("matrix") == "W_{Q}"
    (line,) = lines_of(formulas["W_Q"].latex())
    assert line.startswith(r"W_{Q} &= \left[\begin{matrix}(W_{Q})_{0,0} & ")


def test_what_would_be_long_is_a_matrix_of_entries():
    """Squares of squares: each needs the one before twice."""
    steps = {"Y0": "x * x"} | {f"Y{k}": f"Y{k - 1} * Y{k - 1}" for k in range(1, 10)}
    formula = Solution(make("powers", {"x": [1, 2]}, steps)).symbolic["Y9"]
    assert formula.latex("matrix").startswith(r"\left[\begin{matrix}x_{0}^{1024} & ")


def test_a_gradient_that_flows_on_as_it_came():
    """It is called by the later step, and then by its own name."""
    formula = Solution(make("copied", {"X": [1, 2]}, {"Q": "X", "Y": "Q * Q"})).symbolic["dL/dX"]
    assert lines_of(formula.latex())[-1] == r"\mathrm{d}X &= \mathrm{d}Q"


def test_long_lines_are_broken():
    """A sum of many terms, before its signs."""
    names = [f"long_{'abcdefghij'[k]}" for k in range(10)]
    step = " + ".join(f"2 * {name} * {name}" for name in names)
    formula = Solution(make("long", dict.fromkeys(names, 1), {"y": step})).symbolic["y"]
    assert "\\\\\n&\\quad + " in formula.latex()


# -- entries ---------------------------------------------------------------------------------------


def test_entries_of_a_softmax():
    """Forward and backward by SymPy, each stage in one line."""
    lines = lines_of(solve("please-study-man").symbolic["dL/dS"].latex("entry"))
    assert len(lines) == len(solve("please-study-man").symbolic["dL/dS"].stages)
    assert {
        r"E_{i,j} &= e^{S_{i,j}}",
        r"Z_{i} &= \sum_{j=0}^{2} E_{i,j}",
        r"\mathrm{d}S_{i,j} &= E_{i,j} \mathrm{d}E_{i,j}",
    } <= {*lines}
    (sums,) = (line for line in lines if line.startswith(r"\mathrm{d}Z"))
    assert sums.startswith(r"\mathrm{d}Z_{i} &= - \sum_{j=0}^{2} \frac{")


def general(s, name):
    """The general entry of a stage."""
    stages = s.symbolic.derived
    return general_entry(stages[name], shapes_of(stages.up_to(name)), "ijkl")


def test_a_sum_over_a_matrix():
    """Two indices are summed over, none is left."""
    s = Solution(make("total", {"X": [[1, 2, 3], [4, 5, 6]]}, {"y": "total(X * X)"}))
    letter, definition = general(s, "y")
    assert letter == sympy.Symbol("y")
    assert sorted(last for _, _, last in definition.limits) == [1, 2]


@pytest.mark.heavy
@few
@given(st.integers(2, 4), st.integers(2, 4), st.integers(2, 4), st.data())
def test_every_entry_has_the_definition(n, m, d, data):
    """The general entry of a product at any sizes; none where one entry is something else."""
    ones = {"A": [[1] * d] * n, "B": [[1] * d] * m}
    s = Solution(make("product", ones, {"C": "A @ B.T"}))
    letter, definition = general(s, "C")
    i, j = letter.indices
    ((k, first, last),) = definition.limits
    a, b = sympy.IndexedBase("A"), sympy.IndexedBase("B")
    assert (definition.function, first, last) == (a[i, k] * b[j, k], 0, d - 1)
    stage = s.symbolic.derived["C"]
    other = data.draw(st.sampled_from([*stage.defined]))
    for wrong in (2 * stage.defined[other], stage.defined[other] + a[0, 0], sympy.Integer(0)):
        odd = replace(stage, defined=dict(stage.defined) | {other: wrong})
        assert general_entry(odd, shapes_of(s.symbolic.derived.up_to("C")), "ijkl") is None


def test_places_that_begin_elsewhere_are_added():
    """A sum over some of the columns is written out."""
    s = Solution(make("part", {"X": [[1, 2, 3], [4, 5, 6]]}, {"y": "rowsum(X[:, 1:3])"}))
    letter, definition = general(s, "y")
    i = letter.indices[0]
    x = sympy.IndexedBase("X")
    assert definition == x[i, 1] + x[i, 2]


def test_entries_that_differ_are_listed():
    """Masked scores too, and what is 0 for them."""
    lines = lines_of(solve("cat-sat-mat-causal").symbolic["A"].latex("entry"))
    assert r"M_{0,1} &= -\infty" in lines
    assert r"M_{1,1} &= T_{1,1}" in lines
    assert r"E_{0,1} &= 0" in lines
    assert r"Z_{1} &= E_{1,0} + E_{1,1}" in lines


def test_indices_are_no_quantities():
    """Where a case has an i and a k, the indices are others."""
    given = {"i": [[1, 2], [3, 4]], "k": [[1, 0], [2, 1]]}
    formula = Solution(make("named", given, {"C": "i @ k"})).symbolic["C"]
    (line,) = lines_of(formula.latex("entry"))
    assert line.startswith(r"C_{j,l} &= \sum_{m=0}^{1} ")


def test_comparisons_are_brackets():
    """What is 1 or 0 by a comparison, as on the sheets."""
    formula = Solution(make("relu", {"x": [1, 2]}, {"y": "relu(x)"})).symbolic["dL/dx"]
    assert r"\left[x_{i} > 0\right]" in formula.latex("entry")
