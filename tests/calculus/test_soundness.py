"""Lines that were made to fool the checker."""

from __future__ import annotations

import pytest

from symattn.calculus.judging import derived

from .files import GIVEN

TABLES = {
    "sizes": ["n", "m"],
    "shapes": {**GIVEN, "Y": ["n"], "a": [], "b": []},
    "losses": {"L": "Y", "M": "t"},
    "permutations": {"pi_": "n"},
}


def status(line, **tables):
    found = derived("tricks", {**TABLES, **tables, "lines": [{"line": line}]})
    assert found.faults == ()
    return found.lines[0].status


def known(reason, *lines):
    mark = pytest.mark.xfail(strict=True, reason=reason)
    return [pytest.param(line, marks=mark) for line in lines]


@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    "line",
    [
        "diff(diff(L, Y[1]), Y[1]) == 0",
        "diff(diff(L, Y[i]), Y[j]) == 0",
        "diff(diff(M, t), t) == 0",
        "step(2 <= n) == 1",
        "step(n <= m) == 1",
        "step(m <= n) == 1",
        "step(2 <= n) * diff(t**2, t) == 2 * t",
        "step(1 <= j - 1) * z[j] == z[j]",
        "step(j - 1 <= 1) * z[j] == delta(j, 2) * z[j]",
        "exp(log(1 / (a + b)**2) / 2) == 1 / (a + b)",
        "sqrt(1 / (a + b)**2) == 1 / (a + b)",
        "exp(log(t**2) / 2) == t",
        "(a**2)**0.5 == a",
        "sum(j, step(1 < j) * x[j - 1] + sum(i, delta(j, i + 1))) == "
        "sum(j, step(1 < j) * x[j - 1]) + n",
        "step(pi_[i] <= i) * x[i] == x[i]",
        "delta(pi_[i], i) * x[i] == 0",
        "diff(diff(diff(diff(M, t), t), t), t) == 0",
        "diff(diff(diff(diff(L, Y[1]), Y[1]), Y[1]), Y[1]) == 0",
        "diff(diff(diff(L, Y[1]), Y[1]), Y[1]) * diff(diff(diff(L, Y[1]), Y[n]), Y[n])"
        " == diff(diff(diff(L, Y[1]), Y[1]), Y[n])**2",
        "step(m <= n) * diff(t**2, t) == 2 * t",
        "sum(i, sum(j, step(m <= n) * S[i, j])) == total(S)",
        "step(2 <= n) * sum(i, sum(j, x[i] * z[j])) == sum(i, sum(j, x[i] * z[j]))",
        "step(n <= 1000) == 1",
        "step(n <= 17) * t == t",
        "delta(n, 20) * t == 0",
        *known("numbers above 10**9 are not tried", "relu(t - 10**12) == 0"),
        "limit(t, oo, cos(2 * pi * t)) == 1",
        "limit(t, oo, sin(pi * t)) == 0",
        "limit(t, 0, sin(pi / t)) == 0",
        "limit(t, 0, exp(t)) == 1 + 1e-20",
        "limit(t, 0, sqrt(t**2) / t) == 1",
    ],
)
def test_a_false_line_is_not_supported(line) -> None:
    """It is neither proved nor checked."""
    assert status(line) in ("refuted", "undecided")


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("line", "hypotheses"),
    [
        ("Q[i, k] == Q[k, i]", ["Q[1, 2] == Q[2, 1]"]),
        ("Q[i, k] == Q[k, i]", ["Q[1, n] == Q[n, 1]"]),
        ("t == 1", ["t**2 == 1"]),
        ("x[i] == 1", ["x[1] == 1"]),
        ("x[i] == 1 / n", ["sum(i, x[i]) == 1"]),
        ("sum(i, x[i]**2) == 1", ["sum(i, x[i]) == 1"]),
        ("t**2 == 1", ["t**3 == t"]),
        ("t == a", ["t == t"]),
        ("t == 0", ["t > 0", "t < 0"]),
        ("t == 0", ["t == 1", "t == 2"]),
        ("x[i] == x[k]", ["sum(i, x[i] - x[i]) == 0"]),
        *[
            pytest.param(
                "sum(i, x[i]) == 1 + 1e-200",
                ["sum(i, x[i]) == 1"],
                marks=pytest.mark.xfail(
                    strict=True, reason="under equations sides are compared to some 100 digits"
                ),
            )
        ],
    ],
)
def test_a_hypothesis_says_no_more_than_it_says(line, hypotheses) -> None:
    """What does not follow from what is assumed is not supported, contradictions included."""
    assert status(line, hypotheses=hypotheses) in ("refuted", "undecided")


@pytest.mark.parametrize(
    "line",
    [
        "t**1.5 / t == sqrt(t)",
        "sqrt(t) * t / t == sqrt(t)",
        "diff(sqrt(t), t) * sqrt(t) == 1/2",
    ],
)
def test_where_excludes_what_has_no_meaning(line) -> None:
    """A root that is divided by is above 0."""
    found = derived("where", {**TABLES, "lines": [{"line": line}]})
    assert found.lines[0].status == "proved"
    assert "t > 0" in found.lines[0].where or "t != 0" in found.lines[0].where


@pytest.mark.parametrize(
    "line",
    [
        "sum() == 0",
        "mean() == 0",
        "sum(x) == total(x)",
        "softmax() == 0",
        "diff() == 0",
        "limit() == 0",
        "delta() == 0",
        "step() == 0",
        "operations() == 0",
        "x[i][j] == 0",
        "(t, a) == (a, t)",
        "t == a and a == b",
        "dL/dY == 0",
        "t**1000000000 == 1",
        "t**(1/0) == 1",
        "exp(exp(exp(100))) == 1",
        "x[sum(i, x[i])] == 1",
    ],
)
def test_odd_lines_are_judged_all_the_same(line) -> None:
    """Nothing but a status comes out, whatever a line holds."""
    assert status(line) in ("proved", "checked", "refuted", "undecided")


@pytest.mark.parametrize(
    "tables",
    [
        {"losses": {"L": ["Y"]}},
        {"losses": {"L": {}}},
        {"random": [["x"]]},
        {"random": [{}]},
    ],
)
def test_odd_files_have_faults(tables) -> None:
    """A file that can't be read says why."""
    assert derived("odd", {**TABLES, "lines": [{"line": "t == t"}], **tables}).faults


@pytest.mark.parametrize(
    "tables",
    [
        {"sizes": ["n", "n", "m"]},
        {"sizes": ["n", "m", "pi"]},
        {"losses": {"t": "Y"}},
        {"losses": {"n": "Y"}},
        {"permutations": {"t": "n"}},
        {"permutations": {"s": True}},
        {"assumptions": [3]},
    ],
)
def test_names_have_one_meaning(tables) -> None:
    """A name that is taken is a fault."""
    assert derived("odd", {**TABLES, "lines": [{"line": "x[1] == x[1]"}], **tables}).faults
