"""Derivatives: what the kernel knows of functions, and what it proves of them."""

from __future__ import annotations

import pytest
import sympy as sp

from symattn.calculus.judging import derived

TABLES = {
    "sizes": ["n", "m"],
    "shapes": {"x": ["n"], "S": ["n", "m"], "t": [], "a": []},
    "permutations": {"s": "n"},
}
T = sp.Symbol("t", positive=True)


def line(text):
    return derived("slopes", {**TABLES, "lines": [{"line": text}]}).lines[0]


@pytest.mark.parametrize(
    "of",
    ["exp(t)", "log(t)", "sin(t)", "cos(t)", "erf(t)", "t**3", "1/t**2", "sqrt(t)", "exp(t)/t"],
)
def test_slopes_are_those_that_sympy_finds(of) -> None:
    """Of each function that a line may use."""
    slope = sp.sstr(sp.diff(sp.sympify(of, {"t": T}), T))
    judged = line(f"diff({of}, t) == {slope}")
    assert judged.status == "proved", (slope, judged.why)


@pytest.mark.parametrize(
    "text",
    [
        "diff(diff(t**3, t), t) == 6 * t",
        "diff(sum(i, exp(x[i])), x[k]) == exp(x[k])",
        "diff(x[s[i]], x[k]) == delta(s[i], k)",
        "diff(x[i + 1] * x[i], x[i]) == x[i + 1]",
        "diff(sum(i, i * x[i]), x[k]) == k",
        "diff(diff(sum(i, x[i]**3), x[j]), x[k]) == 6 * delta(j, k) * x[k]",
        "diff(sum(j, step(j <= i) * x[j]), x[k]) == step(k <= i)",
        "diff(sin(t) * cos(t), t) == cos(t)**2 - sin(t)**2",
        "diff(erf(t), t) == 2 / sqrt(pi) * exp(-(t**2))",
        "diff(sqrt(2) * t**1.5, t) == 1.5 * sqrt(2) * sqrt(t)",
        "diff(t, a) == 0",
        "diff(log(sum(i, exp(x[i]))), x[k]) == exp(x[k]) / sum(i, exp(x[i]))",
        "diff(diff(sum(i, x[s[i]]**3), x[j]), x[k]) == 6 * delta(j, k) * x[k]",
    ],
)
def test_derivatives_are_proved(text) -> None:
    """First and second ones, of entries and numbers."""
    judged = line(text)
    assert judged.status == "proved", judged.why


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("diff(relu(t), t) == step(0 < t)", ("t != 0",)),
        ("diff(sqrt(t), t) * sqrt(t) == 1/2", ("t > 0",)),
        ("diff(log(x[i]), x[i]) * x[i] == 1", ("x[i] > 0",)),
    ],
)
def test_slopes_hold_where_there_is_one(text, where) -> None:
    """A corner has none, nor has the end of where a root has a value."""
    judged = line(text)
    assert (judged.status, judged.where) == ("proved", where)
