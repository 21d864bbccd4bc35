"""Equations used as rules, limits, means: what the kernel proves, and what it does not."""

from __future__ import annotations

import pytest

from symattn.calculus import draft, line_reading
from symattn.calculus.judging import derived
from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.terms import single
from symattn.calculus.rewriting import matches

from .proofs import proof, prover

TABLES = {
    "sizes": ["n", "m"],
    "shapes": {
        "x": ["n"],
        "y": ["n"],
        "p": ["n"],
        "M": ["n", "n"],
        "R": ["n", "n"],
        "S": ["n", "m"],
        "u": ["n"],
        "w": ["n"],
        "a": [],
        "b": [],
        "t": [],
    },
    "random": ["u", "w"],
    "permutations": {"s": "n"},
    "lines": [{"line": "t == t"}],
}


def shown(line, *hypotheses):
    return proof(line, TABLES, *hypotheses)[0]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("hypothesis", "line"),
    [
        ("sum(j, p[j]) == 1", "sum(k, p[k]) * x[1] == x[1]"),
        ("sum(j, p[j]) == 1", "sum(i, j, p[i] * p[j]) == 1"),
        ("sum(j, p[j]) == 1", "sum(i, p[i] * (x[i] - sum(j, p[j] * x[j]))) == 0"),
        ("sum(j, p[j]) == 1", "exp(sum(j, p[j])) == exp(1)"),
        ("sum(j, p[j]) == 1", "log(1 + sum(j, p[j])) == log(2)"),
        ("sum(j, p[j]) == 1", "1 / (t**2 + sum(j, p[j])) == 1 / (t**2 + 1)"),
        ("sum(j, p[j]) == 1", "sin(t * sum(j, p[j])) == sin(t)"),
        ("sum(j, p[j]) == 1", "sum(j, exp(x[j] * sum(k, p[k]))) == sum(j, exp(x[j]))"),
        ("a*a + b*b == 1", "a**4 + 2 * a**2 * b**2 + b**4 == 1"),
        ("a*a + b*b == 1", "(a**2 + b**2) * t == t"),
        ("M[i, j] * M[i, j] == M[i, j]", "M[i, j]**3 == M[i, j]"),
        (
            "M[i, j] * M[i, j] == M[i, j]",
            "sum(j, M[1, j] * M[1, j] * x[j]) == sum(j, M[1, j] * x[j])",
        ),
        ("M.T == M", "M[i, j] == M[j, i]"),
        ("M.T == M", "x @ M @ y == y @ M @ x"),
        ("R.T @ R == eye(n)", "sum(i, (R @ x)[i]**2) == sum(i, x[i]**2)"),
        ("R.T @ R == eye(n)", "(R @ x) @ (R @ y) == x @ y"),
        ("M[i, j] == a * delta(i, j)", "trace(M) == a * n"),
        ("x[i] == a", "sum(i, x[i]) == n * a"),
        ("x[i] == y[i]", "exp(x[1]) == exp(y[1])"),
        ("x[1] == a", "x[1]**2 == a**2"),
        ("x[s[i]] == x[i]", "x[s[s[i]]] == x[i]"),
        ("sum(j, M[i, j]) == 1", "sum(i, j, M[i, j]) == n"),
    ],
)
def test_what_follows_from_a_hypothesis(hypothesis, line) -> None:
    """It follows with it, and does not without."""
    assert shown(line, hypothesis) == ""
    assert shown(line) != ""
    tables = {**TABLES, "hypotheses": [hypothesis], "lines": [{"line": line}]}
    assert derived("rules", tables).lines[0].status == "proved"


@pytest.mark.parametrize(
    ("hypothesis", "line"),
    [
        ("sum(j, p[j]) == 1", "sum(j, p[j]**2) == 1"),
        ("sum(j, p[j]) == 1", "sum(j, p[j] * x[j]) == sum(j, x[j])"),
        ("sum(j, M[i, j]) == 1", "sum(i, M[i, j]) == 1"),
        ("R.T @ R == eye(n)", "R @ R == eye(n)"),
        ("M[1, j] == 0", "M[i, j] == 0"),
        ("x[1] == a", "x[i] == a"),
        ("a*a + b*b == 1", "a + b == 1"),
        ("sum(j, x[j]) == a", "sum(i, j, x[i] * M[i, j]) == a * sum(j, M[1, j])"),
        ("x[s[i]] == x[i]", "x[i] == x[1]"),
    ],
)
def test_what_does_not_follow(hypothesis, line) -> None:
    """A rule is no wider than its equation."""
    assert shown(line, hypothesis) != ""


@pytest.mark.parametrize(
    "line",
    [
        "expect(u[i]) == 0",
        "expect(u[i] * u[j]) == delta(i, j)",
        "expect(u[i] * w[j]) == 0",
        "expect(sum(i, u[i] * x[i])**2) == sum(i, x[i]**2)",
        "expect(sum(i, u[i] * w[i])**2) == n",
        "expect(a + b * u[1]) == a",
        "expect(t * x[i]) == t * x[i]",
    ],
)
def test_expected_values(line) -> None:
    """Up to second moments."""
    tables = {**TABLES, "lines": [{"line": line}]}
    assert derived("expected", tables).lines[0].status == "proved"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("expect(u[i]**3) == 0", "a moment of higher order than the variance"),
        ("expect(sum(i, u[i])**3) == 0", "a moment of higher order than the variance"),
        ("expect(exp(u[i])) == 1", "the mean of a function of random entries"),
        ("expect(1 / u[i]) == 1", "the mean of a function of random entries"),
        ("expect(log(2 + u[i])) == 1", "the mean of a function of random entries"),
        ("expect(sin(u[i])) == 0", "the mean of a function of random entries"),
        ("expect(sum(i, exp(u[i]))) == 0", "the mean of a function of random entries"),
    ],
)
def test_moments_that_are_not_known(line, why) -> None:
    """The reason is told."""
    assert shown(line) == why


@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    "line",
    [
        "limit(t, 0, exp(t * x[1])) == 1",
        "limit(t, 0, sum(i, exp(t * x[i]))) == n",
        "limit(t, 0, sum(i, x[i] * cos(t * x[i]))) == sum(i, x[i])",
        "limit(t, 0, log(1 + t)) == 0",
        "limit(t, 0, 1 / (1 + t)) == 1",
        "limit(t, 0, softmax(t * x)[i]) == 1 / n",
        "limit(t, 2, t**2) == 4",
        "limit(t, oo, exp(-t)) == 0",
        "limit(t, oo, t * exp(-t)) == 0",
        "limit(t, -oo, exp(t)) == 0",
        "limit(t, oo, 1 / t) == 0",
        "limit(t, oo, (2 * t + 1) / t) == 2",
        "limit(t, oo, sigmoid(t)) == 1",
        "limit(t, -oo, sigmoid(t)) == 0",
        "limit(t, oo, tanh(t)) == 1",
        "limit(t, 0, sin(t) / t) == 1",
        "limit(t, 0, (exp(t) - 1) / t) == 1",
        "limit(t, 0, a * x[1]) == a * x[1]",
        "limit(t, 0, sum(i, x[i]) * t) == 0",
    ],
)
def test_limits(line) -> None:
    """Where the function is continuous, where exponentials fade, and by its expansion."""
    tables = {**TABLES, "lines": [{"line": line}]}
    (one,) = derived("limits", tables).lines
    assert one.status == "proved", one.why


@pytest.mark.parametrize(
    "line",
    [
        "limit(t, 0, 1 / t) == 0",
        "limit(t, oo, t) == 0",
        "limit(t, oo, exp(t)) == 0",
        "limit(t, oo, exp(t * x[1])) == 0",
        "limit(t, oo, sum(i, exp(t * x[i]))) == 0",
        "limit(t, oo, exp(exp(t))) == 0",
        "limit(t, oo, sin(t)) == 0",
        "limit(t, 0, log(t)) == 0",
        "limit(t, 0, sum(i, exp(x[i] / t))) == 0",
    ],
)
def test_limits_that_are_not_seen(line) -> None:
    """The reason is told."""
    assert shown(line) != ""


READ = draft.read(TABLES)
PROVER = prover(READ)


def mono(text):
    side = line_reading.line(f"{text} == 0", READ.scope).sides[0]
    with PROVER.entered():
        (found,) = PROVER.kernel.read(side)
    return found


def test_matching() -> None:
    """A product inside a larger one, with places for its indices; what is left over."""
    wanted = mono("x[i] * M[i, j]")
    free = single(wanted).free
    ((names, rest),) = matches(list(wanted), mono("x[1] * M[1, k] * exp(t)"), {}, free)
    assert set(names) == free
    assert [type(one) for one, _ in rest] == [kinds.Function]
    assert list(matches(list(wanted), mono("x[1] * M[2, k]"), {}, free)) == []
    assert list(matches(list(wanted), mono("y[1] * M[1, k]"), {}, free)) == []
    assert list(matches(list(wanted), (), {}, free)) == []


@pytest.mark.parametrize(
    ("pattern", "target", "found"),
    [
        ("exp(x[i])", "exp(x[1])", True),
        ("exp(x[i])", "exp(y[1])", False),
        ("sum(j, M[i, j])", "sum(j, M[1, j])", True),
        ("sum(j, M[i, j])", "sum(j, M[j, 1])", False),
        ("x[s[i]]", "x[s[k]]", True),
        ("x[s[i]]", "x[k]", False),
        ("x[i + 1]", "x[k + 1]", True),
        ("x[i]**2", "x[1]", False),
        ("x[i]", "x[1]**2", True),
        ("log(a)", "log(a)", True),
        ("log(x[i])", "log(x[1])", True),
        ("sin(x[i])", "cos(x[1])", False),
    ],
)
def test_matching_of_one_factor(pattern, target, found) -> None:
    """Whatever an atom is made of."""
    wanted = mono(pattern)
    free = single(wanted).free
    assert bool(list(matches(list(wanted), mono(target), {}, free))) == found


@pytest.mark.parametrize("nothing", ["x[i] == x[i]", "1 == 1"])
def test_an_equation_that_says_nothing_is_no_rule(nothing) -> None:
    """It changes nothing."""
    assert shown("x[i] == 1", nothing) == shown("x[i] == 1") != ""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("(a + b)**100 == 1", "too high a power of a sum"),
        ("1 / (a - a) == 1", "a quotient by 0"),
        ("log(a - a) == 1", "a logarithm or a slope where there is none"),
        ("sin(11 * a + b) == sin(11 * a) * cos(b) + cos(11 * a) * sin(b)", ""),
        ("step(0 < a - a) == 1", "a step where it jumps"),
        ("log(10**12 + 39) == log(2000000000000)", "the primes of a large number"),
        ("(a + b + t + x[1] + x[2] + x[3])**16 == 1", "too many terms"),
        ("sum(i, x[i])**9 == sum(i, x[i])**8 * sum(j, x[j])", ""),
        ("exp(t / 2)**2 == exp(t)", ""),
        ("log(6) == log(2) + log(3)", ""),
        ("sum(i, step(i <= k)) * x[k] == k * x[k]", ""),
        ("sum(i, i**4 + 0 * x[i]) == n * (n + 1) * (2*n + 1) * (3*n**2 + 3*n - 1) / 30", ""),
        ("sum(i, sum(j, step(i <= j) + 0 * x[i])) == n * (n + 1) / 2", ""),
        ("sin(a)**2 + cos(a)**2 == 1", ""),
        ("cos(a + b) == cos(a) * cos(b) - sin(a) * sin(b)", ""),
        ("sin(pi / 2) + cos(pi) + sin(3 * pi / 2) == -1", ""),
        ("erf(-a) == -erf(a)", ""),
        ("sin(delta(1, n) * a) == delta(1, n) * sin(a)", ""),
        ("exp(delta(1, n) * a) == 1 + delta(1, n) * (exp(a) - 1)", ""),
        ("sqrt(12) == 2 * sqrt(3)", ""),
        ("(t**4)**0.5 == t**2", ""),
        ("1 / (1 / (1 + a**2)) == 1 + a**2", ""),
        ("step(i <= j) * step(j <= i) * x[i] == delta(i, j) * x[j]", ""),
        (
            "step(i <= j) * step(j <= k) * step(i <= k) * x[i]"
            " == step(i <= j) * step(j <= k) * x[i]",
            "",
        ),
        ("step(i <= j + 1) * x[i] * x[j] == (step(i <= j) + delta(i, j + 1)) * x[i] * x[j]", ""),
    ],
)
def test_terms_and_their_limits(line, why) -> None:
    """What is known, and what is given up, with its reason."""
    assert shown(line) == why
