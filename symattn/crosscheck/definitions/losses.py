"""Losses: means over rows or entries, as PyTorch takes them."""

from __future__ import annotations

from symattn.crosscheck.definitions.kinds import Matrix, Rules, Scalar, Whole
from symattn.crosscheck.functions import log


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


RULES: Rules = {
    "smoothed": ("C", ("smoothed_gradient", "smoothed_part_gradient")),
    "cross_entropy": ("C", ("cross_entropy_gradient", "cross_entropy_target_gradient")),
    "nll": ("C", ("nll_gradient", None)),
    "binary_cross_entropy": (
        "C",
        ("binary_cross_entropy_gradient", "binary_cross_entropy_target_gradient"),
    ),
    "squared_error": ("C", ("squared_error_gradient", "squared_error_target_gradient")),
}
