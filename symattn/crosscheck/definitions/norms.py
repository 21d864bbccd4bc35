"""Rows made alike in size: layer norm, root mean square norm, unit length.

J. L. Ba, J. R. Kiros and G. E. Hinton, *Layer normalization* (2016); B. Zhang and
R. Sennrich, *Root mean square layer normalization* (2019). What is taken of each row,
its mean, variance, mean square or length, is in :mod:`.sums`.
"""

from __future__ import annotations

from symattn.crosscheck.definitions.kinds import Column, Matrix, Row, Rules, Scalar
from symattn.crosscheck.functions import sqrt


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


RULES: Rules = {
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
