"""Entries and rows in letters define what they say of the whole, or nothing."""

from __future__ import annotations

import pytest

from symattn.documents.binding.definitions import by_letters
from symattn.expressions import syntax


def whole(head, body):
    """What is defined, as ``name = expression``."""
    made = by_letters(syntax.parse(head, letters=True), syntax.parse(body, letters=True))
    return made and f"{made[0]} = {syntax.text(made[1])}"


@pytest.mark.parametrize(
    ("head", "body", "found"),
    [
        ("S[i, j]", "q[i] @ k[j]", "S = q @ k.T"),
        ("S[i, j]", "q[i] @ k[j].T / sqrt(d)", "S = q @ k.T / sqrt(d)"),
        ("S[a, b]", "q[a] @ k[b]", "S = q @ k.T"),
        ("q[i]", "x[i] @ W", "q = x @ W"),
        ("A[i, j]", "softmax(S[i, j])", "A = softmax(S)"),
        ("A[i, j]", "exp(S[i, j])", "A = exp(S)"),
        ("A[i, j]", "-S[i, j] + M[i, j] * 2", "A = -S + M * 2"),
        ("Y[i]", "tanh(x[i])", "Y = tanh(x)"),
        ("Y[i, j]", "sum(A[i, k] * V[k, j], k)", "Y = A @ V"),
        ("Y[i]", "sum(A[i, j] * V[j], j)", "Y = A @ V"),
        ("A[i, j]", "exp(S[i, j]) / sum(exp(S[i, k]), k)", "A = softmax(S)"),
        ("E", "e[i, j]", "E = e"),
    ],
)
def test_what_is_said_of_each_is_said_of_all(head, body, found):
    """Every letter of the left side stands on the right where rows and columns are."""
    assert whole(head, body) == found


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("S[i, j]", "q[j] @ k[i]"),
        ("S[i, i]", "q[i] @ k[i]"),
        ("S[i, 0]", "q[i] @ k[0]"),
        ("S[i, j]", "q[i] @ K"),
        ("q[i]", "x[j] @ W"),
        ("A[i]", "softmax(S[i])"),
        ("A[i, j]", "softmax(S[j, i])"),
        ("A[i, j]", "exp(S[j, i])"),
        ("A[i, j]", "-S[j, i]"),
        ("A[i, j]", "S[i, j] + M[j, i]"),
        ("A[i, j]", "max(S[i, k], k)"),
        ("Y[i, j]", "sum(A[i, k] * V[j, k], j)"),
        ("A[i, j]", "exp(S[i, j]) / sum(exp(T[i, k]), k)"),
        ("A[i, j]", "exp(S[i, j]) / sum(exp(S[k, j]), k)"),
        ("E", "e[i, 0]"),
        ("E", "F"),
        ("2", "e[i, j]"),
    ],
)
def test_what_is_said_of_others_is_said_of_none(head, body):
    """Letters in another order, or that stand for nothing, define nothing as a whole."""
    assert whole(head, body) is None
