"""Numbers that a function is not of are refused at their place, by the solution and by the
cross-check; those at the ends of where it is defined are taken."""

from __future__ import annotations

from typing import Any

import pytest

from symattn import case, solve
from symattn.crosscheck.recomputation import recompute
from symattn.errors import Malformed
from symattn.programs.functions import FUNCTIONS
from symattn.programs.functions.calls import Domain
from symattn.verdicts import Verdict
from symattn.verification import verify

X = [[1, 2, 5], [3, 7, 1]]
#: By function and parameter: a step, what is outside and where, and what is still inside.
NUMBERS: dict[tuple[str, str], tuple[str, list[tuple[Any, str, str]], list[Any]]] = {
    ("onehot", "ids"): (
        "onehot(a, 3)",
        [
            ([0, 3], "[1]", "3"),
            ([-1, 0], "[0]", "-1"),
            (["3/2", 0], "[0]", "3/2"),
            (["sqrt(2)", 0], "[0]", "1.41421"),
        ],
        [[2, 0], ["sqrt(4)", "0.0"]],
    ),
    ("embedding", "ids"): ("embedding(a, X)", [([2], "[0]", "2"), ([-1], "[0]", "-1")], [[1, 0]]),
    ("cross_entropy", "targets"): (
        "cross_entropy(X, a)",
        [
            ([7, 0], "[0]", "7"),
            ([0, -100], "[1]", "-100"),
            (["3/2", 0], "[0]", "3/2"),
            ([[1, "-1/2", 0], [1, 0, 0]], "[0][1]", "-1/2"),
        ],
        [[2, 0], [[1, 0, 0], ["1/2", "1/2", 0]]],
    ),
    ("cross_entropy", "label_smoothing"): (
        "cross_entropy(X, [0, 1], label_smoothing=a)",
        [("-1/10", "", "-1/10"), ("11/10", "", "11/10")],
        [0, 1],
    ),
    ("nll", "targets"): ("nll(X, a)", [([3, 0], "[0]", "3")], [[2, 0]]),
    ("binary_cross_entropy", "targets"): (
        "binary_cross_entropy([1/2, 1/3], a)",
        [([2, 0], "[0]", "2"), ([0, "-1/9"], "[1]", "-1/9")],
        [[0, 1]],
    ),
    ("entropy", "x"): (
        "entropy(a)",
        [
            (["1/2", "-1/2"], "[1]", "-1/2"),
            ([[1, 0], ["-1e-400", 1]], "[1][0]", "-1/1"),
            (["sqrt(2) - 2", 1], "[0]", "-0.585786"),
        ],
        [[0, 1], [[0, 0]], ["1e-400", 1]],
    ),
    ("where", "M"): ("where(a, X, 0)", [([[1, 2, 0]], "[0][1]", "2")], [[[1, 0, 1]]]),
    ("padding", "lengths"): (
        "padding(X, a)",
        [(4, "", "4"), (-1, "", "-1"), ("3/2", "", "3/2")],
        [0, 3],
    ),
    ("layernorm", "eps"): ("layernorm(X, eps=a)", [("-1/100", "", "-1/100")], [0]),
    ("rmsnorm", "eps"): ("rmsnorm(X, eps=a)", [("-1/100", "", "-1/100")], [0]),
    ("rope", "base"): ("rope(X[:, :2], base=a)", [(0, "", "0"), (-2, "", "-2")], ["1/2"]),
    ("positions", "base"): ("positions(2, 2, base=a)", [(0, "", "0"), (-2, "", "-2")], ["1/2"]),
}


def given(text: str, number: Any) -> dict[str, Any]:
    return {"X": X, "a": number} if "X" in text else {"a": number}


OUTSIDE = [
    (function, parameter, text, number, place, found)
    for (function, parameter), (text, outside, _) in NUMBERS.items()
    for number, place, found in outside
]


def test_every_domain_has_numbers():
    assert {(name, key) for name, each in FUNCTIONS.items() for key in each.domains} == {*NUMBERS}


@pytest.mark.parametrize(("function", "parameter", "text", "number", "place", "found"), OUTSIDE)
def test_numbers_outside_are_refused_at_their_place(
    function, parameter, text, number, place, found
):
    """Once each, though cross_entropy is made of onehot, and as part of another step too."""
    for step in (text, f"2 * ({text})"):
        with pytest.raises(Malformed) as caught:
            solve(case("t", given(text, number), {"Y": step}))
        (fault,) = caught.value.faults
        assert fault.where == f"steps.Y.{function}: {parameter}{place}"
        assert fault.message.startswith("expected ")
        assert f"found {found}" in fault.message


@pytest.mark.parametrize(("function", "parameter", "text", "number", "place", "found"), OUTSIDE)
def test_the_cross_check_refuses_them_by_itself(function, parameter, text, number, place, found):
    if number == [[1, 0], ["-1e-400", 1]]:
        # No float tells it from 0.
        assert recompute(given(text, number), {"Y": text}).quantities["Y"].doubt
        return
    with pytest.raises(Malformed):
        recompute(given(text, number), {"Y": text})


@pytest.mark.parametrize(
    ("text", "number"),
    [(text, number) for text, _, inside in NUMBERS.values() for number in inside],
)
def test_numbers_at_the_ends_are_taken(text, number):
    held = solve(case("t", given(text, number), {"Y": text}))
    assert not any(
        check.verdict is Verdict.REFUTED for check in verify(held, symbolic=False).checks
    )


def test_an_expression_is_asked_as_a_step_is():
    held = solve(case("t", {"X": X}, {"Y": "X + X"}))
    assert held["onehot([1], 3)"].shape == (1, 3)
    with pytest.raises(Malformed, match=r"onehot: ids\[0\]: expected a whole number from 0 to 2"):
        held["onehot([3], 3)"]


def test_a_domain_in_words():
    assert str(Domain(0, 1, whole=True)) == "0 or 1"


# -- conventions ---------------------------------------------------------------------------


def gradient(given, steps, by):
    output = list(steps)[-1]
    held = solve(case("t", given, steps, loss={"output": output, "wrt": [by]}))
    assert verify(held).checks[-1].verdict is not Verdict.REFUTED
    return held.gradient(by).nearest().tolist()


def test_the_power_0_is_flat_everywhere():
    assert gradient({"x": [0, 2]}, {"Y": "x**0"}, "x") == [0, 0]
    assert gradient({"x": [0, 2]}, {"Y": "x**1"}, "x") == [1, 1]


def test_nothing_flows_into_a_weight_of_0_by_its_entropy():
    assert gradient({"x": [0, 1]}, {"Y": "entropy(x)"}, "x") == [0, -1]


# -- masked logits -------------------------------------------------------------------------


@pytest.mark.parametrize("targets", [[0, 1], [[1, 0, 0], ["1/2", "1/2", 0]]])
@pytest.mark.parametrize("loss", ["cross_entropy({}, t)", "nll(log_softmax({}), t)"])
def test_masked_logits_have_weight_0(targets, loss):
    """The loss and its gradient are those of the logits that are left."""
    masked = {"X": X, "t": targets}
    left = {"a": [[1]], "b": [[3, 7]]}
    rows = {"s": "[0]", "t": "[1]"} if targets == [0, 1] else {"s": "[[1]]", "t": "[[1/2, 1/2]]"}
    steps = {
        "L": f"{loss.format('a').replace('t)', rows['s'] + ')')} / 2 "
        f"+ {loss.format('b').replace('t)', rows['t'] + ')')} / 2"
    }
    whole = solve(case("t", masked, {"L": loss.format("causal(X)")}, loss={"output": "L"}))
    parts = solve(case("t", left, steps, loss={"output": "L"}))
    assert whole["L"] == parts["L"]
    assert whole.gradient("X").nearest().tolist() == [
        [0, 0, 0],
        [*parts.gradient("b").nearest().tolist()[0], 0],
    ]
    found = verify(solve(case("t", masked, {"L": loss.format("causal(X)")}, loss={
        "output": "L", "wrt": ["X"]})))  # fmt: skip
    assert found.verdict is Verdict.HOLDS
    assert found.probed == found.probes


@pytest.mark.parametrize(
    ("step", "where"),
    [
        ("cross_entropy(causal(X), [0, 2])", "x[1][2]"),
        ("cross_entropy(causal(X), [[1, 0, 0], [0, 1/2, 1/2]])", "x[1][2]"),
        ("cross_entropy(causal(X), [0, 1], label_smoothing=1/10)", "x[0][1]"),
        ("nll(causal(X), [0, 2])", "x[1][2]"),
        ("cross_entropy(causal(X)[1], 2)", "x[0][2]"),
    ],
)
def test_a_masked_target_has_no_loss(step, where):
    with pytest.raises(Malformed, match="masked") as caught:
        solve(case("t", {"X": X}, {"L": step}))
    fault = caught.value.faults[0]
    assert fault.where.startswith("steps.L.")
    assert fault.where.endswith(where)
    assert fault.message.endswith("the loss is infinite")
    with pytest.raises(Malformed, match="the loss is infinite"):
        recompute({"X": X}, {"L": step})


def test_there_is_no_slope_by_the_weight_of_a_masked_logit():
    given = {"X": X, "P": [[1, 0, 0], [0, 1, 0]]}
    held = solve(case("t", given, {"L": "cross_entropy(causal(X), P)"}, loss={"output": "L"}))
    with pytest.raises(Malformed, match="masked score"):
        held.gradient("P").nearest()
