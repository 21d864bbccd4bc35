"""Rows made alike in size: layer norm, root mean square norm, unit length.

J. L. Ba, J. R. Kiros and G. E. Hinton, *Layer normalization* (2016); B. Zhang and
R. Sennrich, *Root mean square layer normalization* (2019). What is taken of each row,
its mean, variance, mean square or length, is in :mod:`.sums`.

Losses: means over rows or entries, as PyTorch takes them.
"""

from __future__ import annotations

from symattn.crosscheck.definitions.weights import CHAIN, Column, Matrix, Row, Rules, Scalar, Whole
from symattn.crosscheck.lines import log, sqrt


def layer_norm(
    X: Matrix, mu: Column, v: Column, gamma: Row, beta: Row, epsilon: Scalar, i: int, j: int
) -> Scalar:
    """Entry of ``Y = layernorm(X, gamma, beta, eps)``, by the means and variances of the rows."""
    return (X[i][j] - mu[i]) / sqrt(v[i] + epsilon) * gamma[j] + beta[j]


def rms_norm(X: Matrix, v: Column, gamma: Row, epsilon: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``Y = rmsnorm(X, gamma, eps)``, by the mean squares of the rows."""
    return X[i][j] / sqrt(v[i] + epsilon) * gamma[j]


def unit_rows(X: Matrix, v: Column, i: int, j: int) -> Scalar:
    """Entry of ``Y = l2norm(X)``, by the lengths of the rows."""
    return X[i][j] / v[i]


_RULES_OF_NORMS: Rules = {
    "layer_norm": ("Y", (CHAIN,) * 6),
    "rms_norm": ("Y", (CHAIN,) * 4),
    "unit_rows": ("Y", (CHAIN, CHAIN)),
}


def smoothed(T: Matrix, a: Scalar, m: int, i: int, j: int) -> Scalar:
    """Entry of the targets with the part a spread over all m classes: C. Szegedy et al.,
    *Rethinking the Inception architecture for computer vision* (2016)."""
    return (1 - a) * T[i][j] + a / m


def cross_entropy(P: Matrix, T: Matrix, n: int, d: int) -> Scalar:
    """The mean over the rows of what the logarithms P of probabilities miss of the targets T."""
    return -sum(T[i][j] * P[i][j] for i in range(n) for j in range(d)) / n


def cross_entropy_gradient(G: Scalar, T: Matrix, n: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dP`` for the mean cross entropy of n rows."""
    return -G * T[i][j] / n


def cross_entropy_target_gradient(G: Scalar, P: Matrix, n: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dT`` for the mean cross entropy of n rows."""
    return -G * P[i][j] / n


def nll(P: Matrix, t: Whole, n: int) -> Scalar:
    """The mean over the rows of what the logarithms P of probabilities miss of the classes t."""
    return -sum(P[i][t[i]] for i in range(n)) / n


def binary_cross_entropy(P: Matrix, Y: Matrix, n: int, d: int) -> Scalar:
    """The mean over the entries of what the probabilities P miss of the targets Y."""
    return -sum(
        Y[i][j] * log(P[i][j]) + (1 - Y[i][j]) * log(1 - P[i][j])
        for i in range(n)
        for j in range(d)
    ) / (n * d)


def squared_error(X: Matrix, Y: Matrix, n: int, d: int) -> Scalar:
    """The mean of the squares of the entries of X - Y."""
    return sum((X[i][j] - Y[i][j]) ** 2 for i in range(n) for j in range(d)) / (n * d)


_RULES_OF_LOSSES: Rules = {
    "smoothed": ("C", (CHAIN, CHAIN)),
    "cross_entropy": ("C", ("cross_entropy_gradient", "cross_entropy_target_gradient")),
    "nll": ("C", (CHAIN, None)),
    "binary_cross_entropy": (
        "C",
        (CHAIN, CHAIN),
    ),
    "squared_error": ("C", (CHAIN, CHAIN)),
}


RULES: Rules = {**_RULES_OF_NORMS, **_RULES_OF_LOSSES}
