"""Gradients of gradients: by dual numbers, by complex steps, exactly, and as differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn import case, verify
from symattn.crosscheck.recomputation import Loss, recompute
from symattn.crosscheck.scalars import Dual, Tracked, slope_of
from symattn.verdicts import Verdict

GIVEN = {"Q": [[1, "1/2"], [0, 1]], "K": [[1, 1], [2, 0]], "V": [[1, 0], ["1/3", 2]]}
#: Losses that a gradient is taken of, each of a matrix X.
INNER = [
    "total(softmax(X) @ V * softmax(X))", "total(tanh(X) * X)", "mse(exp(X), V)",
    "total(gelu(X))", "total(logsumexp(X @ V))", "total(layernorm(X, eps=1) * V)",
    "total(sqrt(1 + X * X))", "total(sin(X) * cos(X))", "total(silu(X)) + total(softplus(X))",
    "total(X / (2 + X * X))", "total(softmax(causal(X)) * V)", "total(erf(X))", "norm(X)",
    "cross_entropy(X, onehot([0, 1], 2))", "total(concat(X, X.T) @ concat(X, V).T)",
    "total(log(1 + exp(X)))", "total(X[0] * X[1] * X[:, 1])", "total(entropy(softmax(X)))",
]  # fmt: skip
OUTER = ["total(G * G)", "total(tanh(G) * X)", "total(softmax(G) @ X)"]


@pytest.mark.sampled(21)
@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.parametrize("inner", INNER)
def test_second_derivatives_are_those_of_the_exact_engine(inner, outer):
    """All that is known is within its bound of the exact value, and near the complex step; the
    gradients by what is given are known."""
    steps = {"X": "Q @ K.T / 3", "l": inner, "G": "grad(l, X)", "P": outer}
    checks = {
        check.quantity: check
        for check in verify(case("bent", GIVEN, steps, {"output": "P"}), symbolic=False).checks
    }
    assert all(check.verdict is not Verdict.REFUTED for check in checks.values())
    for name in ("dL/dQ", "dL/dK", "dL/dG"):
        assert checks[name].verdict is Verdict.HOLDS


BY_RESULT = [
    "tanh(x)", "exp(x)", "sigmoid(x)", "sqrt(x)", "x / (x + 1)", "1 / x", "x / sqrt(x[0])",
    "norm(x)", "std(x)", "rmsnorm(x, eps=1)", "softmax(x)", "logsumexp(x)", "max(x)",
]  # fmt: skip
BY_OPERANDS = ["log(x)", "gelu(x)", "x ** 3", "x / sqrt(2)", "softcap(x, 2)", "x * x"]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("function", BY_RESULT + BY_OPERANDS)
def test_what_slopes_are_written_with(function):
    """A gradient may be written with the result of a function or with what that is of. How much
    of a second derivative is by such a result is left open: nothing is refuted."""
    steps = {"T": function, "l": "total(T * T * T) + total(T)", "G": "grad(l, x)", "P": "G * G"}
    made = case("bent", {"x": [1, 2]}, steps, {"output": "P", "wrt": ["x", "T"]})
    checks = {check.quantity: check for check in verify(made, symbolic=False).checks}
    assert checks["dL/dx"].verdict is Verdict.HOLDS
    is_open = checks["dL/dT"].verdict is Verdict.UNDECIDED
    assert is_open == (function in BY_RESULT)
    assert ("counted with that of another" in checks["dL/dT"].doubt) == is_open
    assert checks["dL/dT"].verdict is not Verdict.REFUTED


def test_a_step_of_training_that_looks_ahead():
    """The gradient of the loss after a step of gradient descent (C. Finn et al., MAML, 2017),
    held against NumPy's differences."""
    steps = {
        "p": "softmax(x @ W)", "l": "-log(p[0])", "W1": "W - grad(l, W) / 2",
        "l1": "-log(softmax(x @ W1)[1])",
    }  # fmt: skip
    x, start = np.array([1.0, -2.0]), np.array([[0.5, 0.25], [1.0, -0.5]])

    def loss(w):
        def softmax(v):
            return np.exp(v) / np.exp(v).sum()

        step = w - np.outer(x, softmax(x @ w) - np.array([1, 0])) / 2
        return -np.log(softmax(x @ step)[1])

    found = recompute(
        {"x": [1, -2], "W": [["1/2", "1/4"], [1, "-1/2"]]}, steps, Loss("l1", None, ["W"])
    )
    slopes = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            bump = np.zeros((2, 2))
            bump[i, j] = 1e-6
            slopes[i, j] = (loss(start + bump) - loss(start - bump)) / 2e-6
    gradient = found.gradients["W"]["1"]
    assert gradient.value == pytest.approx(slopes, rel=1e-6)
    assert gradient.step == pytest.approx(gradient.value, rel=1e-12)
    assert gradient.bound.max() < 1e-11


def test_a_wrong_rule_is_seen(monkeypatch):
    """Complex steps go through the gradient too, and differ from a bent that was lost."""
    made = case(
        "bent", {"x": [1, 2]}, {"l": "total(tanh(x))", "G": "grad(l, x)", "P": "total(G * x)"}
    )
    assert verify(made, symbolic=False).checks[-1].verdict is Verdict.HOLDS
    monkeypatch.setattr(Dual, "tanh", lambda self: self.plain.tanh())
    checks = {check.quantity: check for check in verify(made, symbolic=False).checks}
    assert checks["dL/dx"].verdict is Verdict.REFUTED


_numbers = st.floats(0.1, 3.0)


@given(_numbers, _numbers, _numbers, _numbers)
def test_dual_numbers_have_the_slopes_of_differences(x, dx, y, dy):
    """Of every operation, along a direction, within 1e-5 of it."""
    step = 2.0**-20

    def values(a, b):
        return [
            a + b, a - b, 2.0 - a, a * b, a / b, 3.0 / a, a**3, abs(a - 5.0), a.exp(), a.log(),
            a.sqrt(), a.tanh(), a.sin(), a.cos(), a.erf(), a.extreme(b, 1), a.extreme(b, -1),
        ]  # fmt: skip

    duals = values(Dual(Tracked(x), Tracked(dx)), Dual(Tracked(y), Tracked(dy)))
    up = values(Tracked(x + step * dx), Tracked(y + step * dy))
    down = values(Tracked(x - step * dx), Tracked(y - step * dy))
    for k, (dual, above, below) in enumerate(zip(duals, up, down, strict=True)):
        if k > 14 and abs(x - y) < 1e-4:
            continue
        slope = (above.value - below.value) / (2 * step)
        assert slope_of(dual).value == pytest.approx(slope, rel=1e-5, abs=1e-5)


def test_kinks_have_no_slope():
    """Where two are equal and move apart, or may be equal, nothing is known."""
    still, moving = Tracked(1.0), Dual(Tracked(1.0), Tracked(1.0))
    assert slope_of(moving.extreme(still, 1)).is_unknown
    assert slope_of(still.extreme(moving, 1)).is_unknown
    assert slope_of(moving.extreme(Dual(Tracked(1.0), Tracked(1.0)), 1)).value == 1.0
    assert slope_of(abs(Dual(Tracked(0.0), Tracked(1.0)))).is_unknown
    assert slope_of(abs(Dual(Tracked(0.0), Tracked(0.0)))).is_zero
    assert slope_of(abs(Dual(Tracked(0.0, 1.0), Tracked(1.0)))).is_unknown
