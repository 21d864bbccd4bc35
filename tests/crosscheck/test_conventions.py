"""What is agreed where there is no derivative, where steps differentiate, and of heads."""

from __future__ import annotations

from math import e

import numpy as np
import pytest

from symattn.crosscheck.recomputation import Loss, recompute
from symattn.errors import Malformed

TIES = {
    "relu(x)": ([0, 3, -1], [0, 1, 0]),
    "abs(x)": ([0, 3, -1], [0, 1, -1]),
    "sign(x)": ([0, 3, -1], [0, 0, 0]),
    "maximum(x, 2)": ([2, 3, 1], [0.5, 1, 0]),
    "minimum(x, 2)": ([2, 3, 1], [0.5, 0, 1]),
    "minimum(2, x)": ([2, 3, 1], [0.5, 0, 1]),
    "maximum(x, x)": ([2, 3, 1], [1, 1, 1]),
    "clip(x, 1, 2)": ([2, 3, 1], [1, 0, 1]),
    "max(x)": ([3, 3, 1], [0.5, 0.5, 0]),
    "min(x)": ([1, 1, 1], [1 / 3, 1 / 3, 1 / 3]),
    "max(concat(x, x))": ([3, 2, 1], [1, 0, 0]),
    "(x > 2) + (x == 1)": ([3, 2, 1], [0, 0, 0]),
    "where(x > 2, x, 2 * x)": ([3, 2, 1], [1, 2, 2]),
}
"""Steps of x at its kinks, with x and the gradient of their sum."""


@pytest.mark.parametrize("text", TIES)
def test_gradients_at_kinks(text):
    """PyTorch's; complex steps say nothing where there is no derivative."""
    x, wanted = TIES[text]
    gradient = recompute({"x": x}, {"y": f"sum({text})"}, Loss("y", None, ["x"])).gradients["x"]
    assert gradient["1"].value == pytest.approx(wanted, rel=1e-15)
    assert np.all(gradient["1"].bound <= 1e-15)
    steps = gradient["1"].step
    assert np.all(np.isnan(steps) | (np.abs(steps - np.array(wanted)) <= 1e-15))


def test_complex_steps_beside_a_kink():
    """What meets a kink leaves the others their slopes, through maxima, erf and products."""
    text = "max(gelu(relu(x) * [2, 3, 4] - 1)) + min(relu(x)) + abs(x[2] - 3)"
    for x in ([0, 3, 1], [3, 0, 1], [1, 2, 0]):
        found = recompute({"x": x}, {"y": text}, Loss("y", None, ["x"])).gradients["x"]["1"]
        known = ~np.isnan(found.step)
        assert np.array_equal(known, np.array(x) > 0)
        assert found.step[known] == pytest.approx(found.value[known], rel=1e-12)


@pytest.mark.parametrize(
    ("x", "value"),
    [(["1/3", "0.1"], [1 / 3, 0.1]), (["-1/3", "-0.1"], [0, 0])],
)
def test_ties_of_fractions_are_decided(x, value):
    """What floats would leave open is worked out in fractions, through products too."""
    given = {"x": x, "W": [[3, 0], [0, 10]]}
    steps = {"h": "x @ W - [1, 1]", "y": "relu(h)", "m": "h == 0", "z": "where(m, x, 0)"}
    found = recompute(given, steps, Loss("y", None, ["x"]))
    assert all(figures.doubt == "" for figures in found.quantities.values())
    assert found.gradients["x"]["1"].value.tolist() == [0, 0]
    assert found.gradients["x"]["1"].bound.tolist() == [0, 0]
    assert found.quantities["z"].value == pytest.approx(value)


@pytest.mark.heavy
def test_work_in_fractions_is_bounded():
    """Larger lines are left to floats, which decide all but ties."""
    n = 40
    given = {"X": [[f"{(7 * i + 3 * j) % 11 - 5}/7" for j in range(n)] for i in range(n)]}
    steps = {"h": "X @ X @ X", "y": "relu(h)"}
    found = recompute(given, steps, Loss("y", None, ["h"]), max_probes=4)
    flow = found.gradients["h"]["1"]
    exact = np.array([[(7 * i + 3 * j) % 11 - 5 for j in range(n)] for i in range(n)])
    exact = exact @ exact @ exact
    assert np.array_equal(np.isinf(flow.bound), exact == 0)
    assert np.array_equal(flow.value[exact != 0], (exact > 0)[exact != 0])


KINK = "in the backward pass from y a number can't be distinguished from a kink"
OPEN = {
    "relu(softmax(x) - 0.5)": ("", KINK),
    "abs(softmax(x) - 0.5)": ("", KINK),
    "max(softmax(x))": ("", KINK),
    "maximum(softmax(x), 0.5)": ("", KINK),
    "clip(softmax(x), 0, 0.5)": ("", KINK),
    "softmax(x) > 0.5": ("in y which of two numbers is larger can't be decided", None),
    "sign(softmax(x) - 0.5)": ("in y which of two numbers is larger can't be decided", None),
    "onehot(2 * softmax(x)[0], 3)": ("in y whether a number is an integer can't be decided", None),
}
"""Steps of x that floats can't decide, with the doubts of the value and of the gradient."""


@pytest.mark.parametrize("text", OPEN)
def test_what_floats_cant_decide_is_unknown(text):
    """Never a guess: no bound, and the reason."""
    found = recompute({"x": [1, 1]}, {"y": text}, Loss("y", None, ["x"]))
    forward, backward = OPEN[text]
    assert found.quantities["y"].doubt == forward
    assert bool(np.isinf(found.quantities["y"].bound).any()) == bool(forward)
    if backward is not None:
        assert found.gradients["x"]["1"].doubt == backward
        assert np.isinf(found.gradients["x"]["1"].bound).all()


def test_entropy_of_masked_weights():
    """0 log 0 is 0, and what flows into the scores is known; at a weight of 0 there is no
    slope."""
    given = {"S": [[1, 2, 3], [2, 0, 1]], "A": [[1, 0]]}
    steps = {"W": "softmax(causal(S))", "y": "entropy(W)", "z": "entropy(A)"}
    found = recompute(given, steps, Loss("y", None, ["S", "W"]))
    weights = np.exp([2, 0]) / np.exp([2, 0]).sum()
    wanted = -(weights * np.log(weights)).sum()
    assert found.quantities["y"].value[:, 0] == pytest.approx([0, wanted])
    assert found.quantities["z"].value.tolist() == [[0]]
    slope = -weights * (np.log(weights) + wanted)
    assert found.gradients["S"]["1"].value[1] == pytest.approx([*slope, 0], abs=1e-15)
    assert np.isfinite(found.gradients["S"]["1"].bound).all()
    assert np.isinf(found.gradients["W"]["1"].bound[0]).tolist() == [False, True, True]


def test_steep_rows():
    """Scores beyond the range of exp have logarithms of weights all the same."""
    given = {"x": [1000, 999, -1000]}
    steps = {"l": "log_softmax(x)", "z": "logsumexp(x)", "c": "cross_entropy(x, 1)"}
    found = recompute(given, steps, Loss("c", None, ["x"]))
    top = np.log1p(np.exp(-1))
    assert found.quantities["l"].value == pytest.approx([-top, -1 - top, -2000 - top])
    assert float(found.quantities["z"].value) == pytest.approx(1000 + top)
    assert float(found.quantities["c"].value) == pytest.approx(1 + top)
    gradient = found.gradients["x"]["1"]
    assert gradient.value == pytest.approx([1 / (1 + np.exp(-1)), -1 / (1 + np.exp(-1)), 0])
    assert gradient.step == pytest.approx(gradient.value, rel=1e-12)


@pytest.mark.parametrize("slope", ["grad(W)", "dL/dW", "dL / dW"])
def test_steps_that_learn(slope):
    """The gradient of the case's loss, weighted from above, in a step after it."""
    given = {"x": [1, 2], "W": [[1, 0], ["1/2", -1]], "lr": "1/10"}
    steps = {"y": "tanh(x @ W)", "V": f"W - lr * {slope}", "z": "x @ V"}
    found = recompute(given, steps, Loss("y", [3, -1], ["W"]))
    x, W = np.array([1, 2.0]), np.array([[1, 0], [0.5, -1]])
    flow = np.outer(x, np.array([3, -1]) * (1 - np.tanh(x @ W) ** 2))
    assert found.gradients["W"]["1"].value == pytest.approx(flow)
    assert found.quantities["V"].value == pytest.approx(W - flow / 10)
    assert np.all(found.quantities["V"].bound < 1e-15)


def test_gradients_of_other_numbers():
    """Of any number computed before; 0 by what it doesn't depend on."""
    steps = {"l": "mse(x, y)", "g": "grad(l, x)", "h": "grad(l, z)", "m": "total(x * g)"}
    found = recompute({"x": [1, 2], "y": [3, 5], "z": [1]}, steps, Loss("m", None, ["x"]))
    assert found.quantities["g"].value.tolist() == [-2, -3]
    assert found.quantities["h"].value.tolist() == [0]
    # m is -x (y - x), so that its gradient is 2 x - y.
    gradient = found.gradients["x"]["1"]
    assert gradient.value.tolist() == pytest.approx([-1, -1])
    assert gradient.step.tolist() == pytest.approx([-1, -1])
    assert gradient.bound.max() < 1e-14
    third = recompute(
        {"x": [1, 2]},
        {
            "l": "total(x**4)",
            "g": "grad(l, x)",
            "k": "total(g)",
            "h": "grad(k, x)",
            "m": "total(h)",
        },
        Loss("m", None, ["x"]),
    ).gradients["x"]["1"]
    assert np.isinf(third.bound).all()
    assert "needs a third derivative" in third.doubt


def test_gradients_of_symbols():
    """They are no numbers: what uses them is open."""
    steps = {"y": "x * x", "z": "x - grad(x)"}
    found = recompute({"x": [1, 2]}, steps, Loss("y", ["g", 1]))
    assert found.quantities["z"].doubt == "in z the upstream gradient contains symbols"


def test_heads():
    """A step of several heads is a step for each; fewer heads are shared by groups."""
    given = {"Q": [[1, 2, 3, 4]], "K": [[1, 0], [0, 1]]}
    steps = {"q": "heads(Q, 4)", "k": "heads(K, 2)", "S": "q @ k.T", "T": "S * 2", "Y": "merge(T)"}
    found = recompute(given, steps, Loss("Y", None, ["Q", "S_3"])).quantities
    assert {"q_0", "q_3", "k_1", "S_0", "S_3", "Y"} <= found.keys()
    assert not {"q", "S", "q_4", "k_2"} & found.keys()
    assert found["S_1"].value.tolist() == [[2, 0]]
    assert found["S_2"].value.tolist() == [[0, 3]]
    assert found["Y"].value.tolist() == [[2, 0, 4, 0, 0, 6, 0, 8]]


def test_names_of_functions_are_free():
    """A quantity may be called like a function, and a call is still the function."""
    given = {"softmax": [1, 2], "e": 3, "pi": 4, "sum": 5}
    found = recompute(given, {"y": "sum(softmax) * e * pi + sum"}).quantities
    assert float(found["y"].value) == 41
    circle = recompute({}, {"y": "sin(pi / 6)"}).quantities["y"]
    assert float(circle.value) == pytest.approx(0.5)
    assert float(circle.bound) < 1e-15


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nope(Q)", "no function 'nope'"),
        ("softmx(Q)", "did you mean softmax?"),
        ("softmax()", "softmax takes S, axis, sink: missing a required argument: 'S'"),
        ("softmax(Q, beta=1)", "unexpected keyword argument 'beta'"),
        ("softmax(Q, axis=2)", "axis expects 0, 1 or -1, found 2"),
        ("softmax(Q, axis=None)", "unknown name 'None'"),
        ("sum(Q, axis=1, keepdims=False)", "a sum along an axis keeps it"),
        ("sum(Q, keepdims=2)", "keepdims expects True or False"),
        ('softmax("Q")', "a word has no meaning here"),
        ('gelu(Q, "erf")', "approximate expects 'tanh' or 'none', found 'erf'"),
        ('causal(Q, "left")', "align expects 'top-left' or 'bottom-right', found 'left'"),
        ("causal(Q, align=2)", "align expects a quoted word"),
        ("layernorm(Q)", "layernorm needs eps"),
        ("rmsnorm(Q, v)", "rmsnorm needs eps"),
        ("layernorm(Q, Q, eps=0)", "gamma expects one number for each of 3 columns, found 2x3"),
        ("layernorm(0 * Q, eps=0)", "division by zero"),
        ("l2norm(0 * Q)", "division by zero"),
        ("var(Q, axis=1, ddof=3)", "division by zero"),
        ("Q ** 1.5", "expected a whole number that is written out or given"),
        ("Q ** v", "expected a whole number"),
        ("Q ** 10000", "the power 10000 is beyond 1000"),
        ("(Q - Q) ** -1", "division by zero"),
        ("reshape(Q, 4, 2)", "2x3 can't be reshaped to 4x2"),
        ("reshape(Q)", "reshape expects one or two sizes"),
        ("zeros(100000, 3)", "is beyond 65536 entries"),
        ("eye(100000)", "is beyond 65536 entries"),
        ("stack(v, Q)", "stack expects vectors, found 2x3"),
        ("outer(v, Q)", "outer expects vectors, found 2x3"),
        ("diag(s)", "diag expects a vector or a matrix"),
        ("repeat(Q, 0)", "at least 1, found 0"),
        ("onehot(v, 2)", "expected whole numbers below 2, found 2.0"),
        ("embedding(v, Q)", "expected whole numbers below 2"),
        ("onehot(Q, 2)", "onehot expects a vector of whole numbers, found 2x3"),
        ("rope(Q)", "rope turns pairs of columns, found 3 columns"),
        ("rope(Q.T, v[0:2])", "rope expects 3 positions, found a vector of 2"),
        ("additive(Q, Q, v[0:2])", "as many columns in Q and K as v has entries"),
        ("softmax(Q, sink=v)", "a sink of a vector of 3 doesn't fit scores of 2x3"),
        ("where(Q, Q, Q)", "entry [0, 1] of the mask: expected 0 or 1"),
        ("where(v > 0, Q, K.T)", "shapes don't fit"),
        ("alibi(Q, v)", "slope expects a number, found a vector of 3"),
        ("window(Q, 1, 1/2)", "expected a whole number"),
        ("logsumexp(mask(Q, 0))", "row 0 is masked whole"),
        ("cross_entropy(Q, v)", "targets of a vector of 3 don't fit logits of 2x3"),
        ("nll(Q, v)", "classes of a vector of 3 don't fit rows of 2x3"),
        ("mse(Q, v)", "expected the same shape twice, found 2x3 and a vector of 3"),
        ("binary_cross_entropy(Q, Q > 0)", "logarithm of a number that is not above 0"),
        ("binary_cross_entropy(sigmoid(Q), Q)", "expected 0 to 1"),
        ("grad(Q)", "grad(Q) needs a loss: the case has none"),
        ("grad(R, Q)", "'R' is not computed yet"),
        ("grad(K, Q)", "grad(K, Q) expects a number, found 2x3"),
        ("grad(Q @ K)", "grad expects a quantity, or a loss and a quantity"),
        ("heads(Q, 2)", "3 columns can't be divided into 2 heads"),
        ("heads(Q, 0)", "heads expects at least 1, found 0"),
        ("merge(Q)", "merge expects a quantity of several heads"),
        ("merge(heads(Q, 3) @ heads(F, 2).T)", "3 heads don't fit 2"),
        ("Q < K < Q", "Compare has no meaning here"),
        ("inf", "unknown name 'inf'"),
    ],
)
def test_faults(text, message):
    """Each says what was expected or found."""
    given = {
        "Q": [[1, 2, 3], [4, 5, 6]],
        "K": [[1, 2, 3], [4, 5, 7]],
        "F": [[1, 2]],
        "v": [1, 2, 3],
        "s": 2,
    }
    with pytest.raises(Malformed) as caught:
        recompute(given, {"y": text})
    (fault,) = caught.value.faults
    assert fault.where == "steps.y"
    assert message in fault.message


def test_a_target_of_a_masked_logit():
    """The loss has no finite slope by it, and the others have theirs."""
    given = {"x": ["-inf", 1, 2], "t": [0, "1/2", "1/2"]}
    found = recompute(given, {"y": "cross_entropy(x, t)"}, Loss("y", None, ["x", "t"]))
    logits, targets = found.gradients["x"]["1"], found.gradients["t"]["1"]
    assert targets.value.tolist() == pytest.approx([np.inf, np.log1p(e), np.log1p(1 / e)])
    assert logits.value == pytest.approx([0, 0.5 - e / (1 + e), e / (1 + e) - 0.5])
    assert logits.bound[0] == 0
