"""The definitions, and the formulas that latexify makes of them."""

from __future__ import annotations

import inspect
import re
from types import ModuleType

import numpy as np
import pytest

from symattn.crosscheck import definitions
from symattn.crosscheck.recomputation import Loss, recompute


def functions(module: ModuleType) -> set[str]:
    return {
        name
        for name, item in vars(module).items()
        if inspect.isfunction(item) and item.__module__ == module.__name__
    }


def test_every_definition_has_a_formula():
    """No definition is left out of the table of formulas, and none is invented."""
    defined = set().union(*map(functions, definitions.FAMILIES))
    assert defined == set(definitions.names())


@pytest.mark.parametrize("name", definitions.names())
def test_formulas_have_no_leftovers(name):
    """Every formula is an equation in symbols: no function call, no Python name."""
    formula = definitions.formula(name)
    left, _, right = formula.partition(" = ")
    assert left
    assert right
    braces = formula.replace(r"\{", "")
    assert braces.count("{") == braces.count("}")
    for leftover in ("mathrm{inf", "mathrm{d", "range", "sum(", "[", "]"):
        assert leftover not in formula


ENTRY = r"(?:\\?[A-Za-z]+(?:_\{[ijkc](?:, [ijkc])?\})?)"


@pytest.mark.parametrize("name", definitions.names())
def test_what_a_formula_defines_is_one_entry(name):
    """Or a derivative by one, at the indices that the definition takes, and no others."""
    left = definitions.formula(name).partition(" = ")[0]
    derivative = rf"\\frac\{{\\partial (?:L|{ENTRY})\}}\{{\\partial {ENTRY}\}}"
    assert re.fullmatch(f"{ENTRY}|{derivative}", left)
    shown = {letter for keys in re.findall(r"_\{(.*?)\}", left) for letter in keys.split(", ")}
    parameters = inspect.signature(definitions.definition(name)).parameters
    indices = {key for key, kind in parameters.items() if kind.annotation == "int"}
    assert shown == indices & set(definitions.INDICES)


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("softmax", r"A_{i, j} = \frac{\exp S_{i, j}}{Z_{i}}"),
        ("scaled_score", r"T_{i, j} = \frac{S_{i, j}}{\sqrt{ d }}"),
        (
            "score",
            r"S_{i, j} = \sum_{c = 0}^{d - 1} \mathopen{}\left({Q_{i, c} K_{j, c}}"
            r"\mathclose{}\right)",
        ),
        (
            "causal",
            r"T_{i, j} = \left\{ \begin{array}{ll} S_{i, j}, & \mathrm{if} \ j \le i \\ "
            r"-\infty, & \mathrm{otherwise} \end{array} \right.",
        ),
        (
            "softmax_gradient",
            r"\frac{\partial L}{\partial S_{i, j}} = A_{i, j} \cdot \mathopen{}\left( G_{i, j} - "
            r"\sum_{k = 0}^{m - 1} \mathopen{}\left({A_{i, k} G_{i, k}}\mathclose{}\right) "
            r"\mathclose{}\right)",
        ),
    ],
)
def test_formula(name, formula):
    """The formulas that sheets use most, letter by letter."""
    assert definitions.formula(name) == formula


def test_softmax_jacobian_is_the_derivative():
    """``A_ij (delta_jk - A_ik)`` agrees with the complex steps of softmax."""
    found = recompute({"S": [["1/2", -1, 2]]}, {"A": "softmax(S)"}, Loss("A", [["g0", "g1", "g2"]]))
    weights = found.quantities["A"].value.tolist()
    softmax_jacobian = definitions.definition("softmax_jacobian")
    delta = np.eye(3).tolist()
    for j in range(3):
        gradient = found.gradients["S"][f"g{j}"]
        jacobian = [softmax_jacobian(weights, delta, 0, j, k) for k in range(3)]
        assert gradient.step[0] == pytest.approx(jacobian, rel=1e-14)
        assert gradient.value[0] == pytest.approx(jacobian, rel=1e-14)
