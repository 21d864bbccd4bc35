"""Attention weights: softmax row by row, its logarithms and its entropy."""

from __future__ import annotations

from symattn.crosscheck.definitions.kinds import Column, Matrix, Rules, Scalar
from symattn.crosscheck.functions import exp, ln, log


def normaliser(S: Matrix, m: int, i: int) -> Scalar:
    """What the exponentials of row i of the scores (n, m) sum to."""
    return sum(exp(S[i][k]) for k in range(m))


def softmax(S: Matrix, Z: Column, i: int, j: int) -> Scalar:
    """Entry of the weights of each query: that of key j, by the normalisers of the rows."""
    return exp(S[i][j]) / Z[i]


def softmax_gradient(A: Matrix, G: Matrix, m: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dS`` for the weights ``A = softmax(S)``."""
    return A[i][j] * (G[i][j] - sum(A[i][k] * G[i][k] for k in range(m)))


def softmax_jacobian(A: Matrix, delta: Matrix, i: int, j: int, k: int) -> Scalar:
    """The derivative of the weight ``A[i][j]`` by the score ``S[i][k]``; ``delta`` is 1 or 0."""
    return A[i][j] * (delta[j][k] - A[i][k])


def log_softmax(S: Matrix, Z: Column, i: int, j: int) -> Scalar:
    """Entry of the logarithms of the weights, by the normalisers of the rows."""
    return S[i][j] - log(Z[i])


def log_softmax_gradient(G: Matrix, C: Matrix, m: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dS`` for ``C = log_softmax(S)``."""
    return G[i][j] - exp(C[i][j]) * sum(G[i][k] for k in range(m))


def logsumexp(S: Matrix, d: int, i: int) -> Scalar:
    """The logarithm of what the exponentials of row i of the scores (n, d) sum to."""
    return log(sum(exp(S[i][k]) for k in range(d)))


def logsumexp_gradient(G: Column, S: Matrix, C: Column, i: int, j: int) -> Scalar:
    """Entry of ``dL/dS`` for ``C = logsumexp(S)``."""
    return G[i] * exp(S[i][j] - C[i])


def entropy(A: Matrix, d: int, i: int) -> Scalar:
    """The entropy of row i of the weights, in natural units; 0 ln 0 is 0."""
    return -sum(A[i][k] * ln(A[i][k]) for k in range(d))


def entropy_gradient(G: Column, A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = entropy(A)``; there is none at 0."""
    return -G[i] * (1 + ln(A[i][j]))


RULES: Rules = {
    "normaliser": ("Z", ()),
    "softmax": ("A", ("softmax_gradient",)),
    "log_softmax": ("C", ("log_softmax_gradient",)),
    "logsumexp": ("C", ("logsumexp_gradient",)),
    "entropy": ("C", ("entropy_gradient",)),
}
