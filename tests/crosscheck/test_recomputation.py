"""The recomputation: against known answers, against itself, against planted errors."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from symattn.crosscheck import recomputation, tape
from symattn.crosscheck.recomputation import Loss, recompute
from symattn.errors import Malformed
from symattn.limits import RECOMPUTED

X = [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]]
ATTENTION = {
    "Q": "X",
    "K": "X",
    "V": "X",
    "S": "Q @ K.T",
    "T": "S / sqrt(d_k)",
    "A": "softmax(T)",
    "Y": "A @ V",
}

#: A walkthrough that uses every definition.
EVERY_GIVEN: dict[str, Any] = {
    "X": [["1/2", -1, "1/3", "0.2"], ["0.7", "2/5", -1, 1], ["1.1", "-1/4", "3/7", "-0.6"]],
    "W": [["0.3", 1, -1, "0.5"], ["1/9", "0.4", 1, -2], [1, "0.1", "0.8", "1/6"], [2, 1, -1, 1]],
    "M": [[1, 0, 1], [1, 1, 0], [0, 1, 1]],
    "d_k": "4.5",
}
EVERY_STEP = {
    "Q": "X @ W",
    "S": "Q @ X.T",
    "T": "S / sqrt(d_k)",
    "C": "causal(T)",
    "H": "mask(T, M)",
    "Y": "concat(softmax(C) @ X, softmax(H) @ Q)",
    "P": "Y * Y + 1",
    "R": "sqrt(P) / rowsum(P)",
    "E": "exp(-R) - log(P)",
    "F": "tanh(E.T[1:]) * colsum(E)[0, :3]",
    "L": "F * total(E)",
}
EVERY_QUANTITY = (*EVERY_GIVEN, *EVERY_STEP)
EVERY_LOSS = Loss("L", None, EVERY_QUANTITY)


def agree(gradient):
    """Do the two ways to the gradient agree within the bound, and is that a narrow one?"""
    near = np.abs(gradient.value - gradient.step) <= gradient.bound + 1e-100
    narrow = gradient.bound <= 1e-12 * (1 + np.abs(gradient.value).max())
    return bool(np.all(near & narrow))


def test_three_tiny_vectors():
    """The published walkthrough: weights and outputs to four places."""
    found = recompute({"X": X, "d_k": 4}, ATTENTION)
    weights = [[0.5065, 0.1863, 0.3072], [0.1863, 0.5065, 0.3072], [0.2741, 0.2741, 0.4519]]
    assert found.quantities["A"].value.round(4).tolist() == weights
    assert found.quantities["S"].value.tolist() == [[2, 0, 1], [0, 2, 1], [1, 1, 2]]
    assert found.quantities["Y"].value[2].round(4).tolist() == [0.7259, 0.7259, 0.2741, 0.2741]
    assert found.quantities["d_k"].value.shape == ()
    for figures in found.quantities.values():
        assert np.all(figures.bound <= 1e-14)
    assert found.gradients == {}
    assert (found.probed, found.probes) == (0, 0)


def test_bounds_have_room_for_their_own_rounding():
    """A little more than the roundings that they count, of one number too."""
    third = recompute({"x": "1/3"}, {"y": "x"}).quantities["x"]
    assert 1 < third.bound / (third.value * 2.0**-53) < 1 + 2.0**-16


def test_every_gradient_agrees_with_the_complex_steps():
    """All reverse rules in one program, each entry within its bound, all probed."""
    found = recompute(EVERY_GIVEN, EVERY_STEP, EVERY_LOSS)
    assert found.probed == found.probes
    assert set(found.gradients) == set(EVERY_QUANTITY)
    for parts in found.gradients.values():
        assert agree(parts["1"])
    assert not np.any(found.gradients["M"]["1"].value)
    assert np.all(found.gradients["X"]["1"].value)


def test_gradients_agree_with_central_differences():
    """The third way: move an entry by a rational step and look at the output."""
    found = recompute(EVERY_GIVEN, EVERY_STEP, EVERY_LOSS)
    for name, place in (("X", (1, 2)), ("W", (0, 3)), ("d_k", ())):
        ends = []
        for sign in "+-":
            moved = dict(EVERY_GIVEN)
            if place:
                moved[name] = [list(row) for row in EVERY_GIVEN[name]]
                moved[name][place[0]][place[1]] = (
                    f"{EVERY_GIVEN[name][place[0]][place[1]]}{sign}1e-5"
                )
            else:
                moved[name] = f"{EVERY_GIVEN[name]} {sign} 1e-5"
            ends.append(recompute(moved, EVERY_STEP).quantities["L"].value.sum())
        slope = (ends[0] - ends[1]) / 2e-5
        assert found.gradients[name]["1"].value[place] == pytest.approx(slope, rel=1e-6)


def test_symbols_in_the_upstream():
    """Each symbol has its own part, and the gradient is their sum."""
    given = {"X": X, "d_k": 4}
    upstream = [["g1", 1, 0, "-2*g1 + 3"], [0, 0, "g2/2", 0], ["g2", "g1", 0, 1]]
    found = recompute(given, ATTENTION, Loss("Y", upstream, ["Q", "K", "V", "X", "A"]))
    values = {"g1": 5, "g2": -3}
    numbers = [[5, 1, 0, -7], [0, 0, "-3/2", 0], [-3, 5, 0, 1]]
    plain = recompute(given, ATTENTION, Loss("Y", numbers, ["Q", "K", "V", "X", "A"]))
    for name, parts in found.gradients.items():
        assert list(parts) == ["1", "g1", "g2"]
        assert all(map(agree, parts.values()))
        total = parts["1"].value + sum(parts[g].value * value for g, value in values.items())
        assert plain.gradients[name]["1"].value == pytest.approx(total, rel=1e-13, abs=1e-15)


def test_default_loss():
    """All ones upstream; every vector and matrix that the output depends on."""
    found = recompute({"X": X, "d_k": 4, "Z": X}, {**ATTENTION, "U": "Y + Z"}, Loss("Y"))
    assert set(found.gradients) == set("XQKVSTAY")
    assert np.all(found.gradients["Y"]["1"].value == 1)
    # The rows of A sum to 1 whatever the scores are.
    assert np.all(found.gradients["Q"]["1"].value == pytest.approx(0, abs=1e-15))
    total = sum(found.gradients[name]["1"].value for name in "QKV")
    assert found.gradients["X"]["1"].value == pytest.approx(total, abs=1e-15)


def test_copies_are_quantities_of_their_own():
    """``Q = X`` does not share its gradient with X."""
    found = recompute({"X": [1, 2]}, {"Q": "X", "y": "total(Q * X)"}, Loss("y"))
    assert found.gradients["Q"]["1"].value.tolist() == [1, 2]
    assert found.gradients["X"]["1"].value.tolist() == [2, 4]
    assert found.gradients["X"]["1"].step.tolist() == [2, 4]


def test_masked_scores():
    """-inf with bound 0, weights and gradients exactly 0 there, in both ways."""
    steps = {**ATTENTION, "T": "causal(S) / sqrt(d_k)"}
    wanted = ["S", "T", "A", "Q", "d_k"]
    found = recompute({"X": X, "d_k": 4}, steps, Loss("Y", [[1, 2, 0, 1]] * 3, wanted))
    above = np.triu(np.ones((3, 3), bool), 1)
    scores, weights = found.quantities["T"], found.quantities["A"]
    assert np.all(scores.value[above] == -np.inf)
    assert np.all(scores.bound[above] == 0)
    assert np.all(weights.value[above] == 0)
    assert np.all(weights.bound[above] == 0)
    assert weights.value[0, 0] == 1
    for name in ("S", "T"):
        gradient = found.gradients[name]["1"]
        assert np.all(gradient.value[above] == 0)
        assert np.all(gradient.bound[above] == 0)
        assert np.all(gradient.step[above] == 0)
    assert all(agree(parts["1"]) for parts in found.gradients.values())


def test_additive_masks():
    """A given matrix of 0 and -inf hides scores as well."""
    given = {"S": [[1, 2], [3, 4]], "B": [[0, "-inf"], [0, 0]]}
    loss = Loss("A", [[1, 2], [3, 5]])
    found = recompute(given, {"T": "S + B", "A": "softmax(T)"}, loss)
    kept = recompute(given, {"T": "causal(S)", "A": "softmax(T)"}, loss)
    assert np.array_equal(found.quantities["A"].value, kept.quantities["A"].value)
    for name in ("S", "B", "T"):
        assert found.gradients[name]["1"].value[0].tolist() == [0, 0]
        assert agree(found.gradients[name]["1"])


def test_an_output_that_holds_minus_infinity():
    """What comes from above stands at the output as given; behind a mask nothing arrives,
    and a sum with -inf has no slope, which is said."""
    given = {"S": [[1, 2], [3, 4]], "B": [[0, "-inf"], [0, 0]]}
    found = recompute(given, {"T": "causal(S)"}, Loss("T", None, ["S", "T"])).gradients
    assert found["S"]["1"].value.tolist() == found["S"]["1"].step.tolist() == [[1, 0], [1, 1]]
    for text in ("causal(S)", "S + B"):
        by_itself = recompute(given, {"T": text}, Loss("T", None, ["T"])).gradients["T"]["1"]
        assert by_itself.value.tolist() == [[1, 1], [1, 1]]
        assert by_itself.bound.tolist() == [[0, 0], [0, 0]]
        assert np.isnan(by_itself.step).tolist() == [[False, True], [False, False]]
        assert by_itself.doubt == ""
    flow = recompute(given, {"T": "S + B"}, Loss("T", None, ["S"])).gradients["S"]["1"]
    assert flow.value[1].tolist() == flow.step[1].tolist() == [1, 1]
    assert np.isinf(flow.bound).tolist() == [[False, True], [False, False]]
    assert flow.doubt == "T, the output of the loss, contains -inf, where it has no derivative"


@pytest.mark.parametrize("above", [[[2, 0], [1, 1]], [["g1", 0], [1, 1]]])
def test_minus_infinity_that_does_not_count(above):
    """Where 0 comes from above there is nothing to leave open."""
    given = {"S": [[1, 2], [3, 4]], "B": [[0, "-inf"], [0, 0]]}
    parts = recompute(given, {"T": "S + B"}, Loss("T", above, ["S"])).gradients["S"]
    for flow in parts.values():
        assert flow.doubt == ""
        assert np.all(flow.bound == 0)
        assert flow.value[0, 1] == flow.step[0, 1] == 0


def test_a_gradient_without_a_value_is_unknown():
    """The square root has no slope at 0."""
    found = recompute({"x": [0, 4]}, {"y": "sqrt(x)"}, Loss("y"))
    gradient = found.gradients["x"]["1"]
    assert np.isinf(gradient.bound).tolist() == [True, False]
    assert gradient.value[1] == 0.25


def test_steep_rows_do_not_overflow():
    """Scores beyond exp's range still give their weights."""
    found = recompute(
        {"x": [1000, 999, -1000], "y": [-2000, -2001]},
        {"A": "softmax(x)", "B": "softmax(y)"},
        Loss("A", [1, 2, 3], ["x"]),
    )
    weight = 1 / (1 + np.exp(-1))
    assert found.quantities["A"].value == pytest.approx([weight, 1 - weight, 0], rel=1e-13)
    assert found.quantities["B"].value == pytest.approx([weight, 1 - weight], rel=1e-12)
    assert np.all(found.quantities["A"].bound < 1e-12)
    assert agree(found.gradients["x"]["1"])


def test_overflow_is_unknown():
    """What leaves float64 has an infinite bound; nothing is claimed about it."""
    found = recompute({"x": [1000, 1]}, {"y": "exp(x)"}, Loss("y"))
    assert np.isinf(found.quantities["y"].bound).tolist() == [True, False]
    assert np.isinf(found.gradients["x"]["1"].bound).tolist() == [True, False]


def test_a_sample_of_the_entries():
    """A big case probes some entries of every quantity, always the same ones."""
    n = 12
    given = {
        name: [[f"{(7 * i + 3 * j + k) % 11 - 5}/7" for j in range(n)] for i in range(n)]
        for k, name in enumerate("QKV")
    }
    steps = {"S": "Q @ K.T", "A": "softmax(S)", "Y": "A @ V"}
    whole = recompute(given, steps, Loss("Y"), max_probes=6 * n * n)
    some = recompute(given, steps, Loss("Y"), max_probes=60)
    assert (whole.probed, whole.probes) == (6 * n * n, 6 * n * n)
    assert (some.probed, some.probes) == (60, 6 * n * n)
    for name, parts in some.gradients.items():
        gradient, full = parts["1"], whole.gradients[name]["1"]
        probed = ~np.isnan(gradient.step)
        assert np.sum(probed) == 10
        assert np.all(probed.sum(axis=0) <= 3)
        assert np.all(probed.sum(axis=1) <= 3)
        difference = np.abs(gradient.step - full.value)[probed]
        assert np.all(difference <= full.bound[probed])
        assert agree(full)
        assert np.array_equal(gradient.value, full.value)


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("v @ A", lambda A, B, v, w, s: v @ A),
        ("v @ B.T", lambda A, B, v, w, s: v @ B.T),
        ("A @ w", lambda A, B, v, w, s: A @ w),
        ("A.T @ v", lambda A, B, v, w, s: A.T @ v),
        ("A @ w.T", lambda A, B, v, w, s: A @ w),
        ("v @ v", lambda A, B, v, w, s: v @ v),
        ("A @ B", lambda A, B, v, w, s: A @ B),
        ("B.T @ A.T", lambda A, B, v, w, s: B.T @ A.T),
        ("A + w", lambda A, B, v, w, s: A + w),
        ("w - A", lambda A, B, v, w, s: w - A),
        ("A * s", lambda A, B, v, w, s: A * s),
        ("s / A", lambda A, B, v, w, s: s / A),
        ("A / s", lambda A, B, v, w, s: A / s),
        ("A / sqrt(w)", lambda A, B, v, w, s: A / np.sqrt(w)),
        ("A / sqrt(s)", lambda A, B, v, w, s: A / np.sqrt(s)),
        ("w / sqrt(s)", lambda A, B, v, w, s: w / np.sqrt(s)),
        ("A[:, 0:1] + w", lambda A, B, v, w, s: A[:, 0:1] + w),
        ("A[:, :1] * A[:1]", lambda A, B, v, w, s: A[:, :1] * A[:1]),
        ("A[1]", lambda A, B, v, w, s: A[1]),
        ("A[-1, 0]", lambda A, B, v, w, s: A[-1, 0]),
        ("A[:, 1]", lambda A, B, v, w, s: A[:, 1]),
        ("A[::-1, ::2]", lambda A, B, v, w, s: A[::-1, ::2]),
        ("A[0][1]", lambda A, B, v, w, s: A[0][1]),
        ("v[1]", lambda A, B, v, w, s: v[1]),
        ("v[:1]", lambda A, B, v, w, s: v[:1]),
        ("concat(v, w, v)", lambda A, B, v, w, s: np.concatenate([v, w, v])),
        ("concat(A, B.T)", lambda A, B, v, w, s: np.concatenate([A, B.T], axis=1)),
        ("rowsum(A)", lambda A, B, v, w, s: A.sum(axis=1, keepdims=True)),
        ("colsum(A)", lambda A, B, v, w, s: A.sum(axis=0, keepdims=True)),
        ("total(A)", lambda A, B, v, w, s: A.sum()),
        ("total(v)", lambda A, B, v, w, s: v.sum()),
        ("rows(A) * 10 + cols(A) + 0 * s", lambda A, B, v, w, s: 23.0),
        ("rows(w) + 0 * s", lambda A, B, v, w, s: 3.0),
        ("-exp(-A)", lambda A, B, v, w, s: -np.exp(-A)),
        ("log(A * A)", lambda A, B, v, w, s: np.log(A * A)),
        ("softmax(w)", lambda A, B, v, w, s: np.exp(w) / np.exp(w).sum()),
        ("softmax(A.T)", lambda A, B, v, w, s: np.exp(A.T) / np.exp(A.T).sum(1, keepdims=True)),
        ("2e0 * w - 1/4 * +w", lambda A, B, v, w, s: 1.75 * w),
    ],
)
def test_shapes_and_values_follow_numpy(text, truth):
    """Every operation has NumPy's value and shape; its gradient agrees in both ways."""
    given = {
        "A": [["1/2", 2, -1], ["3/4", "1/8", "-5/2"]],
        "B": [[1, "-1/4"], [2, "1/2"], ["5/8", 3]],
        "v": [2, "-1/2"],
        "w": ["1/4", 3, "5/2"],
        "s": "7/4",
    }
    arrays = [
        np.array([[0.5, 2, -1], [0.75, 0.125, -2.5]]),
        np.array([[1, -0.25], [2, 0.5], [0.625, 3]]),
        np.array([2, -0.5]),
        np.array([0.25, 3, 2.5]),
        np.array(1.75),
    ]
    wanted = np.asarray(truth(*arrays))
    found = recompute(given, {"out": text}, Loss("out", None, list(given)))
    figures = found.quantities["out"]
    assert figures.value.shape == figures.bound.shape == wanted.shape
    assert figures.value == pytest.approx(wanted, rel=1e-14)
    for name, parts in found.gradients.items():
        assert parts["1"].value.shape == np.shape(arrays["ABvws".index(name)])
        assert agree(parts["1"])


@pytest.mark.parametrize(
    ("steps", "where", "message"),
    [
        ({"S": "Q @ K"}, "steps.S", "expected 3 rows on the right of '@', found 2"),
        ({"S": "Q + P"}, "steps.S", "unknown name 'P'"),
        ({"S": "Q + K.T"}, "steps.S", "shapes don't fit: 2x3 and 3x2"),
        ({"S": "s @ Q"}, "steps.S", "found a number"),
        ({"S": "Q[2]"}, "steps.S", "index 2 is outside -2 to 1"),
        ({"S": "Q[0, 0, 0]"}, "steps.S", "at most 2 indices"),
        ({"S": "Q[2:]"}, "steps.S", "nothing is selected"),
        ({"S": "softmax(s)"}, "steps.S", "found a number"),
        ({"S": "causal(v)"}, "steps.S", "causal expects a matrix"),
        ({"S": "causal(s)"}, "steps.S", "causal expects a matrix, found a number"),
        ({"S": "rowsum(v)"}, "steps.S", "rowsum expects a matrix, found a vector of 3"),
        ({"S": "colsum(v)"}, "steps.S", "colsum expects a matrix, found a vector of 3"),
        ({"S": "concat(Q, v)"}, "steps.S", "concat can't join 2x3 and a vector of 3"),
        ({"S": "mask(v, Q)"}, "steps.S", "doesn't fit"),
        ({"S": "rows(s)"}, "steps.S", "no rows"),
        ({"Q": "K"}, "steps.Q", "taken"),
        ({"2x": "K"}, "steps.2x", "no name"),
        ({"S": "lambda: Q"}, "steps.S", "not an expression"),
        ({"S": "mask(Q, Q)"}, "steps.S", "expected 0 or 1"),
        ({"S": "1 / (Q - Q)"}, "steps.S", "entry [0, 0] has no value: division by zero"),
        (
            {"S": "Q / sqrt(0)"},
            "steps.S",
            "entry [0, 0] has no value: division by the square root of a number that is not",
        ),
        ({"S": "log(0 - v * v)"}, "steps.S", "has no value: logarithm"),
        ({"S": "sqrt(-1 - v * v)"}, "steps.S", "has no value: square root"),
        ({"S": "softmax(mask(Q, 0))"}, "steps.S", "row 0 is masked whole"),
        ({"S": "mask(Q, 0) - mask(Q, 0)"}, "steps.S", "has no value"),
        ({"S": "mask(Q, 0) @ K.T"}, "steps.S", "-inf in a matrix product"),
        ({"S": "K @ (mask(Q, 0) + 0).T"}, "steps.S", "-inf in a matrix product"),
        ({"S": "Q.T @ mask(K, 0)"}, "steps.S", "-inf in a matrix product"),
        ({"S": "mask(Q, 0) * 0"}, "steps.S", "entry [0, 0]: -inf times zero"),
    ],
)
def test_faults(steps, where, message):
    """Every fault names its step and says what was expected or found."""
    given = {"Q": [[1, 2, 3], [4, 5, 6]], "K": [[1, 2, 3], [4, 5, 7]], "v": [1, 2, 3], "s": 2}
    with pytest.raises(Malformed) as caught:
        recompute(given, steps)
    (fault,) = caught.value.faults
    assert fault.where == where
    assert message in fault.message


def test_all_faults_at_once():
    """Given and steps are read to the end; what only follows from a fault is no fault."""
    given = {"Q": [[1, "x"]], "K": [[1], [2, 3]], "2x": 1, "V": [1]}
    steps = {"S": "Q @ K.T", "T": "V + R", "U": "T + 1", "W": "V ** V"}
    with pytest.raises(Malformed) as caught:
        recompute(given, steps)
    wheres = [fault.where for fault in caught.value.faults]
    assert wheres == ["given.Q[0][1]", "given.K[1]", "given.2x", "steps.T", "steps.W"]


@pytest.mark.parametrize(
    ("loss", "where"),
    [
        (Loss("Z"), "loss.output"),
        (Loss("Y", None, ["Q", "nope"]), "loss.wrt"),
        (Loss("Y", [1, 2]), "loss.upstream"),
        (Loss("Y", [["g1*g2", 0]]), "loss.upstream[0][0]"),
        (Loss("Y", [[0.5, 0]]), "loss.upstream[0][0]"),
    ],
)
def test_faults_of_the_loss(loss, where):
    """A loss that names or shapes something else is malformed."""
    with pytest.raises(Malformed) as caught:
        recompute({"Q": [[1, 2]]}, {"Y": "Q * Q"}, loss)
    assert where in [fault.where for fault in caught.value.faults]


def test_quantities_apart_from_the_output():
    """What the output does not depend on has the gradient 0, exactly."""
    found = recompute({"a": [1, 2], "b": [3, 4]}, {"y": "a * a"}, Loss("y", None, ["a", "b"]))
    gradient = found.gradients["b"]["1"]
    assert not gradient.value.any()
    assert not gradient.bound.any()
    assert not gradient.step.any()


def test_loads_neither_sympy_nor_flint():
    """The check shares nothing with what it checks, not even by import."""
    code = (
        "import sys, symattn.crosscheck.recomputation as r\n"
        "r.recompute({'x': [1, 2]}, {'A': 'softmax(x)'}, r.Loss('A'))\n"
        "print(*(m for m in sys.modules if m.startswith('symattn.') or m.split('.')[0] in "
        "('sympy', 'flint', 'mpmath', 'symengine')))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    modules = set(run.stdout.split())
    assert "symattn.crosscheck.recomputation" in modules
    assert {name for name in modules if not name.startswith("symattn.crosscheck")} <= {
        "symattn.errors",
        "symattn.escaping",
        "symattn.ieee",
        "symattn.languages",
        "symattn.languages.sentence",
        "symattn.limits",
        "symattn.verdicts",
    }


def test_a_vector_has_columns_and_names_are_told() -> None:
    """``cols`` of a vector is its length; a name that nothing has is told with those there are."""
    found = recompute({"v": [1, 2, 3]}, {"c": "cols(v)", "r": "rows(v)"}, Loss("c"))
    assert float(found.quantities["c"].value) == float(found.quantities["r"].value) == 3.0
    with pytest.raises(Malformed, match=r"unknown name 'w': expected one of v$"):
        recompute({"v": [1, 2, 3]}, {"c": "w"}, Loss("c"))
    with pytest.raises(Malformed, match=r"unknown name 'w': expected one of none yet$"):
        recompute({}, {"c": "w"}, Loss("c"))


def test_products_beyond_what_is_recomputed(monkeypatch) -> None:
    """What would take too many products of numbers is left open with what comes of it, forward
    and backward, and says so; all else is recomputed."""
    limit = replace(RECOMPUTED, most=30)
    for module in (tape, recomputation):
        monkeypatch.setattr(module, "RECOMPUTED", limit)
    given = {"X": [[1, 2, 3], [4, 5, 6], [7, 8, 9]]}
    steps = {"S": "X @ X", "T": "S @ X", "A": "X / 2", "L": "total(T) + total(A)"}
    found = recompute(given, steps, Loss("L", None, ("X", "A")))
    open_ = {name for name, figures in found.quantities.items() if figures.doubt}
    assert open_ == {"T", "L"}
    said = "the steps up to it form 54 products; at most 30 are recomputed in floats"
    assert found.quantities["L"].doubt == found.gradients["X"]["1"].doubt == said
    assert np.isinf(found.quantities["T"].bound).all()
    monkeypatch.setattr(tape, "RECOMPUTED", RECOMPUTED)
    assert not recompute(given, steps).quantities["L"].doubt


@pytest.mark.parametrize("power", [99, 100, 101, 998, 999, -101, -250])
def test_large_powers_of_negative_numbers_have_slopes(power):
    """NumPy takes powers of complex numbers from 100 on by their angles: of a negative number
    that is off, and what is off by any step is a slope of 10^305."""
    found = recompute({"x": ["-13/10", "11/10"]}, {"B": f"x ** {power} + 1"}, Loss("B"))
    wanted = [power * x ** (power - 1) for x in (-1.3, 1.1)]
    gradient = found.gradients["x"]["1"]
    assert gradient.value == pytest.approx(wanted, rel=1e-11)
    assert gradient.step == pytest.approx(wanted, rel=1e-11)
    assert found.gradients["B"]["1"].step == pytest.approx([1, 1], nan_ok=True)
