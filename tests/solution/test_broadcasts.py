"""What broadcasting, masks, sinks and single columns do to formulas that are recognised by
their shape: they are what their plain definitions say, and the cross-check finds the same."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from symattn import case, solve
from symattn.crosscheck.recomputation import recompute
from symattn.errors import Malformed
from symattn.expressions import syntax
from symattn.numbers.balls import FIRST, precision
from symattn.programs.nodes import weights_of_mean
from symattn.programs.program import program
from symattn.verdicts import Verdict
from symattn.verification import verify

from ..strategies import matrices, small, some


@pytest.mark.parametrize("text", ["X - rowsum(softmax(c) * X)", "X - rowsum(X * softmax(c))"])
@some
@given(st.data())
def test_weights_that_are_broadcast_sum_to_another_number(text, data):
    """A column of weights is a column of ones, and so is a single one: what is subtracted is
    the sum of the row, in every engine."""
    n, m = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    rows = data.draw(matrices(n, m, small))
    weights = data.draw(matrices(data.draw(st.sampled_from([1, n])), 1, small))
    held = solve(case("t", {"X": rows, "c": weights}, {"Y": text}))["Y"]
    assert len(held.source.balls(FIRST) or ()) == n * m
    for i in range(n):
        for j in range(m):
            wanted = rows[i][j] - sum(rows[i], Fraction(0))
            assert held.entry(i, j) == wanted
            with precision(FIRST):
                truth = arb(fmpq(wanted.numerator, wanted.denominator))
                assert held.source.point(i, j, FIRST).overlaps(truth)
                near = held.near(i, j)
                assert near is not None
                assert near.overlaps(truth)
            assert held.nearest()[i, j] == float(wanted)


def test_weights_of_the_shape_of_what_they_weigh_are_recognised():
    shapes = {"X": (2, 3), "c": (2, 1), "o": (1, 1), "r": (1, 3), "S": (2, 3)}
    for name in ("c", "o", "r", "S"):
        made = program(shapes, {"Y": f"X - rowsum(softmax({name}) * X)"}).quantities["Y"]
        assert (weights_of_mean(made) is not None) is (name == "S")


#: Steps whose quantities and gradients the cross-check confirms, with what is given.
HOLDS: list[tuple[str, dict[str, Any]]] = [
    ("softmax(X, axis=0, sink=s)", {"X": [[-20, -30, 40]], "s": [[30], [-80], [20]]}),
    ("softmax(X, axis=0, sink=s)", {"X": [[1, 2, 3], [4, 0, 6]], "s": [[3], [-8], [2]]}),
    ("softmax(X, sink=s)", {"X": [[1, 2, 3], [4, 0, 6]], "s": [[3]]}),
    ("softmax(v, sink=s) * v", {"v": [1, 2, 3], "s": [[3]]}),
    ("logsumexp(X)", {"X": [[-450, -300], [-450, -450]]}),
    ("logsumexp(X)", {"X": [[-450]]}),
    ("rmsnorm(v, g, eps=1/7)", {"v": [1, 2], "g": [[3, 4]]}),
    ("layernorm(v, g, g, eps=1/7)", {"v": [1, 2], "g": [[3, 4]]}),
    ("rope(X, positions=p, base=3)", {"X": [[1, 2], [3, 4]], "p": "7/8"}),
    ("clip(x, a, a)", {"x": [-50, 3, 7], "a": 3}),
    ("clip(x, a, b)", {"x": [-50, 3, 7], "a": 3, "b": 2}),
    ("exp(mask(X, [[1, 0]])**1)", {"X": [[1, 2], [3, 4]]}),
    ("relu(entropy(v))", {"v": [0]}),
    ("log_softmax(X) - rowsum(softmax(X) * log_softmax(X))", {"X": [[-20, -5]]}),
    ("nll(X, P)", {"X": [[1, 2], [3, 4]], "P": [["1/2", "1/2"], [1, 0]]}),
    ("cross_entropy(X, P, label_smoothing=s)", {"X": [[1, 2]], "P": [["1/2", "1/2"]], "s": 0}),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "numbers"), HOLDS, ids=[text for text, _ in HOLDS])
def test_the_cross_check_finds_the_same(text, numbers):
    weights = "W * Y" if "exp(" not in text else "Y"
    shape = solve(case("t", numbers, {"Y": text}))["Y"].shape
    upstream: Any = 2
    for size in reversed(shape):
        upstream = [upstream] * size
    if shape:
        flat = upstream if len(shape) == 1 else upstream[-1]
        flat[0] = "-1/3"
    steps = {"Y": text, "Z": weights}
    loss = {"output": "Z", "wrt": [*numbers]}
    held = solve(case("t", {**numbers, "W": upstream}, steps, loss=loss))
    assert verify(held).verdict is Verdict.HOLDS
    assert recompute(numbers, {"Y": text}).quantities["Y"].value.shape == shape


def test_what_chooses_takes_no_gradient():
    """Though it is chosen, too: a comparison that is a step of its own."""
    steps = {"M": "x >= 1", "Y": "where(M, M, x)", "L": "total(Y * Y)"}
    held = solve(case("t", {"x": [3, 0]}, steps, loss={"output": "L", "wrt": ["x", "M"]}))
    assert verify(held).verdict is Verdict.HOLDS
    assert held.gradient("M").nearest().tolist() == [2, 0]


def test_what_underflows_within_a_step_refutes_nothing():
    """The square of 1e-70, moved along the imaginary axis, is divided by 1e-70 again."""
    steps = {"Y": "norm(sigmoid(X), axis=1)"}
    held = solve(case("t", {"X": [[-10], [-160]]}, steps, loss={"output": "Y"}))
    found = verify(held, symbolic=False)
    assert {check.verdict for check in found.checks} == {Verdict.HOLDS}


def test_a_root_that_moves_from_0_says_nothing_of_others():
    """Its complex step has a real part: it isn't taken for the number that a kink is asked of."""
    steps = {"R": "sqrt(v)", "Y": "relu(R)"}
    held = solve(case("t", {"v": [0]}, steps, loss={"output": "Y", "wrt": ["v", "R"]}))
    checks = {check.quantity: check.verdict for check in verify(held).checks}
    assert checks["dL/dR"] is Verdict.HOLDS
    assert checks["dL/dv"] is Verdict.UNDECIDED


REFUSED = {
    "H - H": "steps.Y",
    "H - rowsum(softmax(X) * H)": "steps.Y",
    "h - rowsum(softmax(h) * h)": "steps.Y",
    "o - rowsum(softmax(c) * o)": "steps.Y",
    "log_softmax(h)": "steps.Y",
    "where(M, causal(X), causal(X))": "steps.Y",
    "softcap(X, X)": "expected a number for the cap, found 2x2",
    "X - H": "steps.Y",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_means_nothing_is_refused_where_it_stands(text):
    numbers = {"X": [[1, 2], [3, 4]], "H": [[1, "-inf"], [3, 4]], "M": [[1, 1], [0, 1]]}
    numbers |= {"h": [["-inf"]], "o": [["-inf"]], "c": [[1]]}
    used = {name: numbers[name] for name in syntax.names(syntax.parse(text))}
    with pytest.raises(Malformed, match=REFUSED[text]):
        solve(case("t", used, {"Y": text}))
