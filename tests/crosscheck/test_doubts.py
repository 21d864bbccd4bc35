"""What floats can't decide is left open with the reason, and nothing else is."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from symattn.crosscheck.recomputation import Loss, recompute
from symattn.errors import Malformed

X = [["1/3", 2, -1], [0, "-2/7", "1/2"]]
RANGE = "a number is beyond the range of 64-bit floats"
NEARLY = "the mask is 0 or 1 only up to rounding"

OPEN = [
    ({"x": 800}, {"y": "exp(x) / exp(x + 1)"}, {"y": f"in y {RANGE}"}),
    ({"x": 800}, {"y": "exp(x)", "z": "-y", "w": "y - y"}, dict.fromkeys("yzw", f"in y {RANGE}")),
    ({"x": "1e400"}, {"y": "x / 2"}, dict.fromkeys("xy", f"in x {RANGE}")),
    ({"x": ["1e200"]}, {"y": "-x * x", "z": "y @ x"}, dict.fromkeys("yz", f"in y {RANGE}")),
    ({"x": "-900"}, {"y": "1 / exp(x)"}, {"y": "in y a divisor can't be distinguished from 0"}),
    (
        {"x": "-900"},
        {"y": "1 / sqrt(exp(x))"},
        {"y": "in y a divisor can't be distinguished from 0"},
    ),
    (
        {"x": "1/3"},
        {"y": "log(x + x + x - 1 + 1e-30)"},
        {"y": "in y the argument of a logarithm can't be distinguished from 0"},
    ),
    (
        {"x": "1/3"},
        {"y": "sqrt(x + x + x - 1 + 1e-30)"},
        {"y": "in y the argument of a root can't be distinguished from a negative number"},
    ),
    (
        {"x": "1e20"},
        {"m": "x / 3 - x / 3", "y": "mask(x, m)", "z": "exp(y)"},
        dict.fromkeys("yz", "in y whether the mask is 0 or 1 can't be decided"),
    ),
    (
        {"X": X},
        {"n": "rowsum(softmax(X))", "y": "mask(X, n)", "A": "softmax(y)"},
        {"y": f"in y {NEARLY}"},
    ),
    ({"X": X}, {"y": "softmax(mask(X, 3 * X[0, 0]))"}, {}),
    ({"x": [1, 0]}, {"y": "where(sqrt(x) * sqrt(2) / sqrt(2), x, 5)"}, {"y": f"in y {NEARLY}"}),
    ({"x": [1, 0]}, {"y": "mask(x, sqrt(x) * sqrt(2) / sqrt(2))"}, {"y": f"in y {NEARLY}"}),
    ({"X": [[1, "-inf"]], "x": "1e-400"}, {"y": "X * x"}, {"y": f"in y {RANGE}"}),
    (
        {"x": ["-inf", 1], "z": "1e20"},
        {"t": "z / 3 - z / 3", "y": "cross_entropy(x, concat([1] * t, [1]))"},
        {"y": "in y whether the target of a masked logit is 0 can't be decided"},
    ),
]
"""Programs, with what is open of them: the quantity and why."""


@pytest.mark.parametrize(("given", "steps", "doubts"), OPEN)
def test_what_is_open(given, steps, doubts):
    """The reason names the quantity where it begins; all else has a bound."""
    found = recompute(given, steps).quantities
    assert {name: figures.doubt for name, figures in found.items() if figures.doubt} == doubts
    for name, figures in found.items():
        without = bool(np.isinf(figures.bound).any())
        assert without == (name in doubts and NEARLY not in doubts[name])


@pytest.mark.parametrize(
    "mask",
    [
        *("M", "1 - M", "M * M", "M[0]", "M.T.T", "M / M[1, 0]", "M @ I", "M + X - X", "-(-M)"),
        *("0.5 * M + M / 2", "concat(M[:, 0:1], M[:, 1:])", "rowsum(M) - 1", "1", "0 * M + 1"),
        *("M @ I.T", "colsum(I * M) * 0", "total(I) - 1", "M[::-1, ::-1]"),
    ],
)
def test_masks_worked_out_in_fractions(mask):
    """Sums, products and quotients of whole numbers are 0 or 1 for certain."""
    given = {"M": [[1, 1], [1, 1]], "I": [[1, 0], [0, 1]], "X": [[1, 2], ["0.5", -3]]}
    figures = recompute(given, {"y": f"mask(X, {mask})"}).quantities["y"]
    assert figures.doubt == ""
    assert np.isfinite(figures.bound).all()


@pytest.mark.parametrize(
    "third",
    [
        *("sign(x) / 3", "(x > 0) / 3", "mean(x == [2, 1, 2])", "(x > 0) / (1 + sign(x) * 2)"),
        *("mean(x != [2, 2, 2])", "total(x >= 2) / (6 * sign(x))", "x / x / 3"),
    ],
)
def test_fractions_are_not_rounded(third):
    """What fractions decide has the bound of a rounding, where floats don't hold it."""
    steps = {"y": third, "z": "maximum(y, 1/3)", "w": "y - 1/3 == 0"}
    figures = recompute({"x": [2, 2, 1]}, steps).quantities
    for name, truth in (("y", Fraction(1, 3)), ("z", Fraction(1, 3)), ("w", Fraction(1))):
        value, bound = np.ravel(figures[name].value), np.ravel(figures[name].bound)
        for entry, reach in zip(value, bound, strict=True):
            assert abs(Fraction(entry) - truth) <= Fraction(reach) < 1e-15


def test_a_mask_that_is_none():
    """What is certainly neither 0 nor 1 is no mask, however near."""
    for number in ("1 + 1e-14", "1e-300", "1/2"):
        with pytest.raises(Malformed, match="expected 0 or 1"):
            recompute({"x": [1, 2], "m": number}, {"y": "mask(x, m)"})


@pytest.mark.parametrize("target", ["1e-300", "1/3"])
def test_a_masked_logit_whose_target_is_not_0(target):
    """That certainly has no finite loss, however small the target is."""
    with pytest.raises(Malformed, match="the loss is infinite"):
        recompute({"x": ["-inf", 1], "t": [target, 1]}, {"y": "cross_entropy(x, t)"})


DIVISOR = "a divisor can't be distinguished from 0"


@pytest.mark.parametrize(
    ("given", "steps", "wrt", "doubt"),
    [
        ({"x": [0, 4]}, {"y": "sqrt(x)"}, "x", f"in the backward pass from y {DIVISOR}, or "),
        ({"x": 800}, {"y": "exp(x) / exp(x + 1)"}, "x", f"in y {RANGE}"),
        ({"x": ["1e200"]}, {"y": "x * 2", "z": "y / 1e200 * 1e200"}, "x", ""),
        ({"x": ["1e-200"]}, {"y": "1 / x", "z": "y * 2"}, "x", "in the backward pass from z"),
    ],
)
def test_gradients_that_are_open(given, steps, wrt, doubt):
    """The reason lies in the steps, or on the way back."""
    gradient = recompute(given, steps, Loss(list(steps)[-1], None, [wrt])).gradients[wrt]["1"]
    assert gradient.doubt.startswith(doubt)
    assert bool(gradient.doubt) == bool(doubt) == bool(np.isinf(gradient.bound).any())


@pytest.mark.parametrize(
    ("given", "steps"),
    [
        # An overflow is no masked score: something may flow into it.
        ({"x": [800, 1]}, {"y": "-exp(x)", "z": "y / exp(x[0])"}),
        ({"x": [800, 1]}, {"y": "-exp(x)", "z": "y @ x"}),
        ({"x": ["1e200"]}, {"y": "-x * x"}),
    ],
)
def test_overflow_is_no_masked_score(given, steps):
    """No gradient is said to be 0 where only floats say minus infinity."""
    found = recompute(given, steps, Loss(list(steps)[-1]))
    for name in ("x", "y"):
        if name in found.gradients:
            gradient = found.gradients[name]["1"]
            assert not np.any((gradient.value == 0) & (gradient.bound == 0))


@pytest.mark.parametrize("x", [-800, 800])
@pytest.mark.parametrize("steps", [{"z": "y * H"}, {"w": "y * H", "z": "1 - 2 * -w[:, 0:2]"}])
def test_what_may_be_masked_has_no_slope(x, steps):
    """Where floats can't tell that an output is -inf, they don't tell a slope of it either;
    whatever else the loss is of has one."""
    given = {"x": [[x, 2]], "H": [["-inf", 3]]}
    steps = {"y": "exp(x)", **steps}
    for weights, unknown in (([[1, 0]], [True, False]), ([[0, 1]], [False, False])):
        found = recompute(given, steps, Loss("z", weights, ["x", "y", "H"]))
        assert np.isinf(found.quantities["z"].bound).tolist() == [[True, False]]
        for gradient in (found.gradients[name]["1"] for name in ("x", "y", "H")):
            assert np.isinf(gradient.bound).tolist() == [unknown]
            assert bool(gradient.doubt) == any(unknown)


@pytest.mark.parametrize(
    ("given", "steps"),
    [
        ({"x": [["1e150"]], "d": "1e150"}, {"y": "sqrt(x)", "z": "d / y"}),
        ({"x": ["1e-200"]}, {"y": "x * 1e-250", "z": "y * 1e250"}),
        ({"x": ["1e200", 12]}, {"s": "x * 1e-190", "z": "softmax(s)"}),
        ({"x": ["1e-250"]}, {"y": "1 / x", "z": "1 / y"}),
        ({"x": [1], "d": "1e200"}, {"y": "(x - 1) * d", "z": "exp(y)"}),
        ({"x": ["1e300", 1]}, {"z": "tanh(x * 0)"}),
    ],
)
def test_complex_steps_out_of_their_depth(given, steps):
    """Where a step underflows, or moves an entry too far, it is not taken for a derivative."""
    found = recompute(given, steps, Loss("z", None, ["x"])).gradients["x"]["1"]
    taken = ~np.isnan(found.step)
    off = np.abs(found.step - found.value)[taken]
    assert np.all(off <= 64 * found.bound[taken] + 1e-300)


GIVEN = {"x": ["exp(1)", 1], "X": [[1, 2], [1, 1]], "M": [[0, 1], [1, 1]]}
UNUSED = {
    "log(log(x) - 1e-9)": ("[0]", math.log(1 - 1e-9)),
    "1 / (x - x[1])": ("[0]", 1 / (math.e - 1)),
    "mask(x, x)": ("[1]", 1.0),
    "concat(x, 1 / (0 * x))": ("[1]", 1.0),
    "softmax(mask(X, M[:, 0:1]))": ("[1, 0]", math.exp(1) / (2 * math.exp(1))),
    "mask(X, M) @ X": ("[1, 0]", 2.0),
    "X @ mask(X, M.T).T": ("[0, 1]", 3.0),
    "mask(X, M) * (M - M[0, 0])": ("[1, 1]", 1.0),
}


@pytest.mark.parametrize("text", UNUSED)
def test_what_nothing_uses_needs_no_value(text):
    """An entry inside a step may have none: what is told is of the quantities."""
    key, value = UNUSED[text]
    figures = recompute(GIVEN, {"y": f"({text}){key}"}).quantities["y"]
    assert figures.value == pytest.approx(value, rel=1e-6)
    assert np.isfinite(figures.bound)
    with pytest.raises(Malformed) as caught:
        recompute(GIVEN, {"y": text})
    assert caught.value.faults[0].where == "steps.y"


def test_no_slope_times_zero():
    """A slope that isn't there stays away, whatever it is multiplied by."""
    loss = Loss("y", None, ["x"])
    gradient = recompute({"x": [0, 4]}, {"y": "sqrt(x * x)"}, loss).gradients["x"]["1"]
    assert np.isinf(gradient.bound).tolist() == [True, False]
    assert gradient.doubt.startswith("in the backward pass from y")


@pytest.mark.parametrize(
    ("text", "wrt"),
    [("where(z / 3 - z / 3, S, T)", "ST"), ("embedding(2 * softmax([1, 1]), S)", "S")],
)
def test_what_flows_where_a_choice_is_open(text, wrt):
    """Nothing is known of it, and that nothing flows least of all."""
    given = {"z": "1e20", "S": [[1, 2], [3, 4]], "T": [[5, 6], [7, 8]]}
    found = recompute(given, {"y": text}, Loss("y", None, list(wrt)))
    for name in wrt:
        gradient = found.gradients[name]["1"]
        assert np.isinf(gradient.bound).all()
        assert gradient.doubt == found.quantities["y"].doubt != ""
