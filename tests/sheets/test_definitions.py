"""The formulas that sheets make of the definitions of the cross-check."""

from __future__ import annotations

import inspect
import re

import pytest

from symattn.crosscheck import definitions
from symattn.expressions import typesetting as t
from symattn.sheets.definitions import equation


def latex(name: str) -> str:
    """A definition in its own letters."""
    return t.latex(equation(name, {}, {}))


@pytest.mark.parametrize("name", definitions.names())
def test_formulas_have_no_leftovers(name):
    """Every formula is an equation in symbols: no function call, no Python name."""
    formula = latex(name)
    left, _, right = formula.partition(" = ")
    assert left
    assert right
    braces = formula.replace(r"\{", "")
    assert braces.count("{") == braces.count("}")
    for leftover in ("mathrm{inf", "mathrm{d", "range", "sum(", "[", "]"):
        assert leftover not in formula


ENTRY = r"(?:\\?[A-Za-z]+(?:_\{[ijkc](?:,[ijkc])?\})?)"


@pytest.mark.parametrize("name", definitions.names())
def test_what_a_formula_defines_is_one_entry(name):
    """Or a derivative by one, at the indices that the definition takes, and no others."""
    left = latex(name).partition(" = ")[0]
    derivative = rf"\\frac\{{\\partial ?(?:L|{ENTRY})\}}\{{\\partial ?{ENTRY}\}}"
    assert re.fullmatch(f"{ENTRY}|{derivative}", left)
    shown = {letter for keys in re.findall(r"_\{(.*?)\}", left) for letter in keys.split(",")}
    parameters = inspect.signature(definitions.definition(name)).parameters
    indices = {key for key, kind in parameters.items() if kind.annotation == "int"}
    assert shown == indices & set(definitions.INDICES)


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("softmax", r"A_{i,j} = \frac{\exp\,S_{i,j}}{Z_{i}}"),
        ("scaled_score", r"T_{i,j} = \frac{S_{i,j}}{\sqrt{d}}"),
        ("score", r"S_{i,j} = \sum_{c = 0}^{d - 1} Q_{i,c}K_{j,c}"),
        (
            "variance",
            r"C_{i} = \frac{\sum_{j = 0}^{d - 1} \mathopen{}\left(A_{i,j} - \mu_{i}"
            r"\mathclose{}\right)^{2}}{d - a}",
        ),
        ("angle", r"\theta_{i,c} = \frac{p_{i}}{b^{\frac{2c}{d}}}"),
        ("repeat", r"C_{i,j} = A_{\left\lfloor\frac{i}{a}\right\rfloor,j}"),
        ("cumulative", r"C_{i,j} = \sum_{k = 0}^{j} A_{i,k}"),
        (
            "causal",
            r"T_{i,j} = \left\{ \begin{array}{ll} S_{i,j}, & \mathrm{if}\ j \le i \\ "
            r"-\infty, & \mathrm{otherwise} \end{array} \right.",
        ),
        (
            "softmax_gradient",
            r"\frac{\partial L}{\partial S_{i,j}} = A_{i,j} \cdot \mathopen{}\left(G_{i,j} - "
            r"\sum_{k = 0}^{m - 1} A_{i,k}G_{i,k}\mathclose{}\right)",
        ),
    ],
)
def test_formula(name, formula):
    """The formulas that sheets use most, letter by letter."""
    assert latex(name) == formula
