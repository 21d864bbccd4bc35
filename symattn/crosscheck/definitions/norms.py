"""Rows made alike in size: layer norm, root mean square norm, unit length.

J. L. Ba, J. R. Kiros and G. E. Hinton, *Layer normalization* (2016); B. Zhang and
R. Sennrich, *Root mean square layer normalization* (2019). What is taken of each row,
its mean, variance, mean square or length, is in :mod:`.sums`.

Losses: means over rows or entries, as PyTorch takes them.
"""

from __future__ import annotations

from symattn.crosscheck.definitions.weights import Column, Matrix, Row, Rules, Scalar, Whole
from symattn.crosscheck.lines import log, sqrt


def layer_norm(
    X: Matrix, mu: Column, v: Column, gamma: Row, beta: Row, epsilon: Scalar, i: int, j: int
) -> Scalar:
    """Entry of ``Y = layernorm(X, gamma, beta, eps)``, by the means and variances of the rows."""
    return (X[i][j] - mu[i]) / sqrt(v[i] + epsilon) * gamma[j] + beta[j]


def layer_norm_gradient(
    G: Matrix, v: Column, gamma: Row, epsilon: Scalar, i: int, j: int
) -> Scalar:
    """Entry of what flows into X beside the means and variances."""
    return G[i][j] * gamma[j] / sqrt(v[i] + epsilon)


def layer_norm_mean_gradient(
    G: Matrix, v: Column, gamma: Row, epsilon: Scalar, m: int, i: int
) -> Scalar:
    """Entry of what flows into the means of the rows."""
    return -sum(G[i][j] * gamma[j] for j in range(m)) / sqrt(v[i] + epsilon)


def layer_norm_variance_gradient(
    G: Matrix,
    X: Matrix,
    mu: Column,
    v: Column,
    gamma: Row,
    epsilon: Scalar,
    m: int,
    i: int,
) -> Scalar:
    """Entry of what flows into the variances of the rows."""
    return -sum(G[i][j] * gamma[j] * (X[i][j] - mu[i]) for j in range(m)) / (
        2 * (v[i] + epsilon) * sqrt(v[i] + epsilon)
    )


def layer_norm_gain_gradient(
    G: Matrix, X: Matrix, mu: Column, v: Column, epsilon: Scalar, n: int, j: int
) -> Scalar:
    """Entry of ``dL/dgamma`` for ``Y = layernorm(X, gamma, beta, eps)``."""
    return sum(G[i][j] * (X[i][j] - mu[i]) / sqrt(v[i] + epsilon) for i in range(n))


def layer_norm_shift_gradient(G: Matrix, n: int, j: int) -> Scalar:
    """Entry of ``dL/dbeta`` for ``Y = layernorm(X, gamma, beta, eps)``."""
    return sum(G[i][j] for i in range(n))


def layer_norm_epsilon_gradient(
    G: Matrix,
    X: Matrix,
    mu: Column,
    v: Column,
    gamma: Row,
    epsilon: Scalar,
    n: int,
    m: int,
) -> Scalar:
    """The number ``dL/deps`` for ``Y = layernorm(X, gamma, beta, eps)``."""
    return -sum(
        G[i][j] * gamma[j] * (X[i][j] - mu[i]) / (2 * (v[i] + epsilon) * sqrt(v[i] + epsilon))
        for i in range(n)
        for j in range(m)
    )


def rms_norm(X: Matrix, v: Column, gamma: Row, epsilon: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``Y = rmsnorm(X, gamma, eps)``, by the mean squares of the rows."""
    return X[i][j] / sqrt(v[i] + epsilon) * gamma[j]


def rms_norm_gradient(G: Matrix, v: Column, gamma: Row, epsilon: Scalar, i: int, j: int) -> Scalar:
    """Entry of what flows into X beside the mean squares."""
    return G[i][j] * gamma[j] / sqrt(v[i] + epsilon)


def rms_norm_square_gradient(
    G: Matrix, X: Matrix, v: Column, gamma: Row, epsilon: Scalar, m: int, i: int
) -> Scalar:
    """Entry of what flows into the mean squares of the rows."""
    return -sum(G[i][j] * gamma[j] * X[i][j] for j in range(m)) / (
        2 * (v[i] + epsilon) * sqrt(v[i] + epsilon)
    )


def rms_norm_gain_gradient(
    G: Matrix, X: Matrix, v: Column, epsilon: Scalar, n: int, j: int
) -> Scalar:
    """Entry of ``dL/dgamma`` for ``Y = rmsnorm(X, gamma, eps)``."""
    return sum(G[i][j] * X[i][j] / sqrt(v[i] + epsilon) for i in range(n))


def rms_norm_epsilon_gradient(
    G: Matrix, X: Matrix, v: Column, gamma: Row, epsilon: Scalar, n: int, m: int
) -> Scalar:
    """The number ``dL/deps`` for ``Y = rmsnorm(X, gamma, eps)``."""
    return -sum(
        G[i][j] * gamma[j] * X[i][j] / (2 * (v[i] + epsilon) * sqrt(v[i] + epsilon))
        for i in range(n)
        for j in range(m)
    )


def unit_rows(X: Matrix, v: Column, i: int, j: int) -> Scalar:
    """Entry of ``Y = l2norm(X)``, by the lengths of the rows."""
    return X[i][j] / v[i]


def unit_rows_gradient(G: Matrix, v: Column, i: int, j: int) -> Scalar:
    """Entry of what flows into X beside the lengths, for ``Y = l2norm(X)``."""
    return G[i][j] / v[i]


def unit_rows_length_gradient(G: Matrix, X: Matrix, v: Column, m: int, i: int) -> Scalar:
    """Entry of what flows into the lengths of the rows, for ``Y = l2norm(X)``."""
    return -sum(G[i][j] * X[i][j] for j in range(m)) / v[i] ** 2


_RULES_OF_NORMS: Rules = {
    "layer_norm": (
        "Y",
        (
            "layer_norm_gradient",
            "layer_norm_mean_gradient",
            "layer_norm_variance_gradient",
            "layer_norm_gain_gradient",
            "layer_norm_shift_gradient",
            "layer_norm_epsilon_gradient",
        ),
    ),
    "rms_norm": (
        "Y",
        (
            "rms_norm_gradient",
            "rms_norm_square_gradient",
            "rms_norm_gain_gradient",
            "rms_norm_epsilon_gradient",
        ),
    ),
    "unit_rows": ("Y", ("unit_rows_gradient", "unit_rows_length_gradient")),
}


def smoothed(T: Matrix, a: Scalar, m: int, i: int, j: int) -> Scalar:
    """Entry of the targets with the part a spread over all m classes: C. Szegedy et al.,
    *Rethinking the Inception architecture for computer vision* (2016)."""
    return (1 - a) * T[i][j] + a / m


def smoothed_gradient(G: Matrix, a: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``dL/dT`` for targets with the part a spread."""
    return G[i][j] * (1 - a)


def smoothed_part_gradient(G: Matrix, T: Matrix, n: int, m: int) -> Scalar:
    """The number ``dL/da`` for targets with the part a spread."""
    return sum(G[i][j] * (1 - m * T[i][j]) for i in range(n) for j in range(m)) / m


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


def nll_gradient(G: Scalar, t: Whole, n: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dP`` for ``nll(P, t)``."""
    return -G / n if t[i] == j else 0


def binary_cross_entropy(P: Matrix, Y: Matrix, n: int, d: int) -> Scalar:
    """The mean over the entries of what the probabilities P miss of the targets Y."""
    return -sum(
        Y[i][j] * log(P[i][j]) + (1 - Y[i][j]) * log(1 - P[i][j])
        for i in range(n)
        for j in range(d)
    ) / (n * d)


def binary_cross_entropy_gradient(
    G: Scalar, P: Matrix, Y: Matrix, n: int, d: int, i: int, j: int
) -> Scalar:
    """Entry of ``dL/dP`` for ``binary_cross_entropy(P, Y)``."""
    return -G * (Y[i][j] / P[i][j] - (1 - Y[i][j]) / (1 - P[i][j])) / (n * d)


def binary_cross_entropy_target_gradient(
    G: Scalar, P: Matrix, n: int, d: int, i: int, j: int
) -> Scalar:
    """Entry of ``dL/dY`` for ``binary_cross_entropy(P, Y)``."""
    return -G * (log(P[i][j]) - log(1 - P[i][j])) / (n * d)


def squared_error(X: Matrix, Y: Matrix, n: int, d: int) -> Scalar:
    """The mean of the squares of the entries of X - Y."""
    return sum((X[i][j] - Y[i][j]) ** 2 for i in range(n) for j in range(d)) / (n * d)


def squared_error_gradient(
    G: Scalar, X: Matrix, Y: Matrix, n: int, d: int, i: int, j: int
) -> Scalar:
    """Entry of ``dL/dX`` for ``mse(X, Y)``."""
    return 2 * G * (X[i][j] - Y[i][j]) / (n * d)


def squared_error_target_gradient(
    G: Scalar, X: Matrix, Y: Matrix, n: int, d: int, i: int, j: int
) -> Scalar:
    """Entry of ``dL/dY`` for ``mse(X, Y)``."""
    return 2 * G * (Y[i][j] - X[i][j]) / (n * d)


_RULES_OF_LOSSES: Rules = {
    "smoothed": ("C", ("smoothed_gradient", "smoothed_part_gradient")),
    "cross_entropy": ("C", ("cross_entropy_gradient", "cross_entropy_target_gradient")),
    "nll": ("C", ("nll_gradient", None)),
    "binary_cross_entropy": (
        "C",
        ("binary_cross_entropy_gradient", "binary_cross_entropy_target_gradient"),
    ),
    "squared_error": ("C", ("squared_error_gradient", "squared_error_target_gradient")),
}


RULES: Rules = {**_RULES_OF_NORMS, **_RULES_OF_LOSSES}
