"""What is printed under "where": under which conditions a line has a meaning."""

from __future__ import annotations

import pytest

from symattn.calculus.judging import derived

TABLES = {
    "sizes": ["n"],
    "shapes": {"x": ["n"], "M": ["n", "n"], "t": [], "a": [], "b": [], "c": []},
    "hypotheses": ["c > 0"],
    "define": {
        "N[i]": "sum(j, M[i, j] * exp(x[j]))",
        "w": "softmax(x)",
        "V": "mean(j, (x[j] - t)**2)",
    },
}


def where(line):
    found = derived("where", {**TABLES, "lines": [{"line": line}]})
    assert found.faults == ()
    assert found.lines[0].status in ("proved", "checked")
    return found.lines[0].where


@pytest.mark.sampled(20)
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("t / t == 1", ("t != 0",)),
        ("(t**2 - 1) / (t - 1) == t + 1", ("t - 1 != 0",)),
        ("t**(-2) * t**2 == 1", ("t != 0",)),
        ("1 / (a * b) == 1 / b / a", ("a != 0", "b != 0")),
        ("1 / (-(a**2)) == -1 / a**2", ("a != 0",)),
        ("sqrt(t)**2 == t", ("t >= 0",)),
        ("t**(-0.5) * sqrt(t) == 1", ("t > 0",)),
        ("exp(log(t)) == t", ("t > 0",)),
        ("log(t) / log(t) == 1", ("log(t) != 0", "t > 0")),
        ("x[1] / x[1] * x[3] == x[3]", ("n >= 3", "x[1] != 0")),
        ("x[n - 1] == x[n - 1]", ("n >= 2",)),
        ("sum(i, x[i]) / sum(i, x[i]) == 1", ("sum(i, x[i]) != 0",)),
        ("(n - 1) / (n - 1) * t == t", ("n - 1 != 0",)),
        ("sqrt(c)**2 == c", ()),
        ("c / c == 1", ()),
        ("log(c * exp(t)) == t + log(c)", ()),
        ("sum(i, w[i]) == 1", ()),
        ("sqrt(t**2) == sqrt(t**2)", ()),
        ("sqrt(sum(i, x[i]**2))**2 == x @ x", ()),
        ("1 / (1 + t**2) * (1 + t**2) == 1", ()),
        ("sigmoid(t) + sigmoid(-t) == 1", ()),
        ("1 / V * V == 1", ("V != 0",)),
        ("sqrt(V + c)**(-2) * (V + c) == 1", ()),
        ("c / sqrt(V) * sqrt(V) == c", ("V != 0",)),
        ("1 / (V + t) * (V + t) == 1", ("V + t != 0",)),
        ("1 / (c + V / sqrt(c)) * (c + V / sqrt(c)) == 1", ()),
        ("1 / (c - V) * (c - V) == 1", ("c - V != 0",)),
        ("1 / (c + V**(-2)) * (c + V**(-2)) == 1", ("V != 0",)),
        ("diff(log(t), t) == 1 / t", ("t > 0",)),
        ("log(N[i]) == log(N[i])", ("N[i] > 0",)),
        ("x[i] == x[i]", ()),
    ],
)
def test_conditions(line, told) -> None:
    """All that is needed, and nothing that holds anyway."""
    found = where(line)
    assert sorted(found) == sorted(told)


def test_conditions_of_definitions() -> None:
    """What a definition divides by is asked of every line that uses it."""
    tables = {**TABLES, "define": {"W[i]": "x[i] / t"}, "lines": [{"line": "t * W[i] == x[i]"}]}
    (line,) = derived("where", tables).lines
    assert (line.status, line.where) == ("proved", ("t != 0",))


def test_what_never_has_a_meaning_is_not_proved() -> None:
    """There is no condition to tell."""
    (line,) = derived("where", {**TABLES, "lines": [{"line": "1 / log(1 - 1) == t"}]}).lines
    assert (line.status, line.where) == ("undecided", ())
    assert line.why == "a logarithm or a slope where there is none"
