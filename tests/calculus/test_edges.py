"""Numbers that look where it hurts: what is false only where something ends is refuted."""

from __future__ import annotations

import pytest

from symattn.calculus.judging import derived

TABLES = {
    "sizes": ["n", "m"],
    "shapes": {
        **{"x": ["n"], "u": ["n"], "z": ["m"], "U": ["n", "m"], "Q": ["n", "n"]},
        **{"a": [], "b": [], "t": [], "eps": []},
    },
    "permutations": {"pi": "n"},
    "define": {"y": "x / sqrt(mean(j, x[j]**2) + eps)"},
}


def said(line, *hypotheses):
    """One line, judged under hypotheses."""
    document = {**TABLES, "hypotheses": list(hypotheses), "lines": [{"line": line}]}
    derivation = derived("edges", document)
    assert derivation.faults == ()
    return derivation.lines[0]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("line", "hypotheses", "where"),
    [
        ("limit(eps, 0, mean(i, y[i]**2)) == 1", [], {"x": "0"}),
        ("limit(t, oo, 1 / (1 + a * t)) == 0", [], {"a": "0"}),
        ("limit(t, 0, t / (t + a)) == 0", [], {"a": "0"}),
        ("limit(t, oo, 1 / (1 + (n - 9)**2 * t)) == 0", [], {"n": 9}),
        ("limit(t, oo, 1 / (1 + (n - 40)**2 * t)) == 0", [], {"n": 40}),
        ("limit(t, oo, 1 / (1 + (a - b)**2 * t)) == 0", [], {}),
        ("limit(t, oo, exp(-(a - 7)**2 * t)) == 0", [], {"a": "7"}),
        ("limit(t, oo, exp(-sqrt(a) * t)) == 0", ["a >= 0"], {"a": "0"}),
        ("limit(t, oo, exp(-sqrt(a - 2) * t)) == 0", ["a >= 2"], {"a": "2"}),
        ("step(0 < sqrt(a)) == 1", ["a >= 0"], {"a": "0"}),
        ("step(0 < a) + step(a < 0) == 1", [], {"a": "0"}),
        ("step(0 < x[i]**2) == 1", [], {}),
        ("step(x[i] < x[j]) + step(x[j] < x[i]) == 1 - delta(i, j)", [], {}),
        ("sqrt(a * b) == sqrt(a) * sqrt(b) * step(0 < a)", ["a >= 0", "b >= 0"], None),
        ("step(n <= 20) * a * z[1] == a * z[1]", [], {"n": 21}),
        ("delta(pi[1], 1) * a == a", [], {}),
    ],
)
def test_what_fails_at_an_edge_alone_is_refuted(line, hypotheses, where) -> None:
    """By numbers that say at which."""
    judged = said(line, *hypotheses)
    if where is None:
        assert judged.status != "refuted"
        return
    assert judged.status == "refuted"
    told = judged.counterexample
    shown = {**told.sizes, **{name.partition("[")[0]: v for name, v in told.values.items()}}
    assert shown.items() >= where.items()


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("line", "hypotheses"),
    [
        ("1 / (n - 1) * (n - 1) == 1", []),
        ("(n - 1) / (n - 1) == 1", []),
        ("0 * (1 / a) == 0", []),
        ("diff(log(a), a) == 1 / sqrt(a**2)", []),
        ("diff(sqrt(a), a) * sqrt(a) == 1 / 2", []),
        ("diff(relu(a), a) == step(0 < a)", []),
        ("diff(step(0 < a), a) == 0", []),
        ("diff(sqrt(a**2), a) * sqrt(a**2) == a", []),
        ("step(2 <= n) == 1", ["n > 1"]),
        ("1 / (n - 1) * (n - 1) == 1", ["n > 1"]),
        ("step(2 <= n) * a == a", ["sum(i, x[i]) == 1", "sum(i, x[i]**2) == 1 / 2"]),
        ("step(n <= m) * a == a", ["U @ U.T == eye(n)"]),
        ("a * step(0 < b) == a", ["x[1] == 1", "b == a**2 + x[1]**2"]),
        ("sum(i, step(i < n) * x[i + 1] * 2) == 2 * (sum(i, x[i]) - x[1])", []),
        ("sum(i, (x[i + 1] * 2) * (step(i < n) * a)) == 2 * a * (sum(i, x[i]) - x[1])", []),
        ("limit(t, oo, (a**3 * t + 1) / (t + exp(4 * a * a * log(1 + b * b)))) == a**3", []),
        ("limit(t, oo, (a * t + b) - a * t) == b", []),
    ],
)
def test_what_is_true_where_it_has_a_meaning_is_not_refuted(line, hypotheses) -> None:
    """Where a side has none the point is skipped; what is assumed of others is kept to."""
    assert said(line, *hypotheses).counterexample is None


def test_a_counterexample_tells_the_permutation() -> None:
    """Beside sizes and numbers."""
    told = said("x[pi[pi[i]]] == x[i]").counterexample
    assert told.sizes == {"n": 3}
    assert told.values["pi"] in ("[2, 3, 1]", "[3, 1, 2]")
    assert f"pi = {told.values['pi']}" in str(told)


def test_what_a_limit_runs_through_is_not_told() -> None:
    """It has no value."""
    assert set(said("limit(t, oo, 1 / (1 + a * t)) == 0").counterexample.values) == {"a"}
