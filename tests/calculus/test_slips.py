"""The usual mistakes, and what a line would have to say."""

from __future__ import annotations

import pytest

import symattn

SOFTMAX = """
S: n x m
x: n
y: n
a: number
L: function of A
A = softmax(S)
"""
SCORES = """
Q: n x d
K: n x d
L: function of S
S = Q @ K.T / sqrt(d)
"""
ENTROPY = """
z: n
y: n
p = softmax(z)
L = -sum(i, y[i] * log(p[i]))
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("given", "line", "hint"),
    [
        (SOFTMAX, "dS = A * (dA + rowsum(A * dA))", "'-' for '+'"),
        (SOFTMAX, "dS = A * dA", "the term - rowsum(A * dA)"),
        (SOFTMAX, "dS = A * dA - A * rowsum(dA)", "a factor A"),
        (SOFTMAX, "dS = A * (dA - colsum(A * dA))", "rowsum for colsum"),
        (SOFTMAX, "A = softmax(S.T).T", "softmax(S) for softmax(S.T).T"),
        (
            SOFTMAX,
            "dS[i, j] = A[i, j] * (dA[i, j] - sum(l, A[i, l] * dA[j, l]))",
            "dA[i, l] for dA[j, l]",
        ),
        (
            SOFTMAX,
            "diff(A[i, j], S[i, k]) = A[i, j] * (delta(j, k) - A[j, k])",
            "A[i, k] for A[j, k]",
        ),
        (SOFTMAX, "diff(A[i, j], S[i, k]) = A[i, j] * (1 - A[i, k])", "delta(j, k) for 1"),
        (
            SOFTMAX,
            "diff(A[i, j], S[i, k]) = -A[i, j] * A[i, k]",
            "the term + delta(j, k): ",
        ),
        (SOFTMAX, "diff(exp(x[i]), x[k]) = exp(x[i])", "a factor delta(i, k)"),
        (SOFTMAX, "diff(sum(i, y[i] * x[i]), x[k]) = 1", "a factor y[k]"),
        (SOFTMAX, "diff(sum(i, x[i]**2), x[k]) = x[k]", "a factor 2"),
        (SCORES, "dQ = dS @ K", "a division by sqrt(d)"),
        (SCORES, "dK = dS @ Q / sqrt(d)", "dS.T for dS"),
        (SCORES, "dK = Q.T @ dS / sqrt(d)", "dS.T @ Q for Q.T @ dS"),
        (SCORES, "dQ = dS @ K.T / sqrt(d)", "K for K.T"),
    ],
)
def test_a_usual_mistake_is_undone(given, line, hint) -> None:
    """The line as it would hold holds."""
    judged = symattn.derive(given + line).lines[-1]
    assert judged.status in ("refuted", "undecided")
    assert judged.hint.startswith(f"it would hold with {hint}")
    mended = judged.hint.rpartition(": ")[2]
    assert symattn.derive(given + mended.replace("==", "=")).lines[-1].status == "proved"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("given", "line", "assumed"),
    [
        (ENTROPY, "diff(L, z[k]) = p[k] - y[k]", "sum(i, y[i]) == 1"),
        (SOFTMAX, "sqrt(x[i]**2) = x[i]", "x[i] > 0"),
        (SOFTMAX, "sum(i, y[i] * (x[i] - sum(j, y[j] * x[j]))) = 0", "sum(i, y[i]) == 1"),
        (
            "B: n x n\nC: n x n\n",
            "sum(i, sum(j, B[i, j] * (C[i, i] - C[j, j]))) = 0",
            "B[i, j] == B[j, i]",
        ),
    ],
)
def test_a_missing_hypothesis_is_named(given, line, assumed) -> None:
    """With it the line holds."""
    judged = symattn.derive(given + line).lines[-1]
    assert judged.status == "refuted"
    assert judged.hint == f"it would hold where {assumed}"
    assumption = f"assume {assumed.replace('==', '=')}\n"
    head, _, rest = given.partition("p = ")
    mended = symattn.derive(f"{head}{assumption}{'p = ' * bool(rest)}{rest}{line}")
    assert mended.lines[-1].status in ("proved", "checked")


def test_nothing_is_said_where_nothing_usual_helps() -> None:
    """No hint is better than a wrong one."""
    assert symattn.derive(SOFTMAX + "sum(i, x[i]) = exp(a) - n").lines[-1].hint == ""


def test_what_is_assumed_already_is_not_assumed_again() -> None:
    """Nor is its contrary."""
    judged = symattn.derive("B: n x n\nassume B = B.T\nx: n\nB @ x = B @ B @ x").lines[-1]
    assert judged.status == "refuted"
    assert "B[i, j]" not in judged.hint
