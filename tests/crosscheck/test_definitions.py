"""The definitions: all of them, and the derivative of softmax."""

from __future__ import annotations

import inspect
from types import ModuleType

import numpy as np
import pytest

from symattn.crosscheck import definitions
from symattn.crosscheck.recomputation import Loss, recompute


def functions(module: ModuleType) -> set[str]:
    return {
        name
        for name, item in vars(module).items()
        if inspect.isfunction(item) and "int" in inspect.get_annotations(item).values()
    }


def test_every_definition_has_a_formula():
    """No definition is left out of the table of formulas, and none is invented."""
    assert functions(definitions) == set(definitions.names())


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
