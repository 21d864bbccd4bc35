"""Sums, products, quotients and powers, entry by entry."""

from __future__ import annotations

from symattn.crosscheck.definitions.kinds import Matrix, Rules, Scalar


def addition(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A + B``."""
    return A[i][j] + B[i][j]


def addition_gradient(G: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` and of ``dL/dB`` for ``C = A + B``, and of ``dL/dA`` for ``A - B``."""
    return G[i][j]


def subtraction(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A - B``."""
    return A[i][j] - B[i][j]


def subtraction_right_gradient(G: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dB`` for ``C = A - B``."""
    return -G[i][j]


def times(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A * B``, entry by entry."""
    return A[i][j] * B[i][j]


def times_left_gradient(G: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = A * B``, entry by entry."""
    return G[i][j] * B[i][j]


def times_right_gradient(G: Matrix, A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dB`` for ``C = A * B``, entry by entry."""
    return G[i][j] * A[i][j]


def quotient(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A / B``, entry by entry."""
    return A[i][j] / B[i][j]


def quotient_numerator_gradient(G: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = A / B``, entry by entry."""
    return G[i][j] / B[i][j]


def quotient_denominator_gradient(G: Matrix, A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dB`` for ``C = A / B``, entry by entry."""
    return -G[i][j] * A[i][j] / B[i][j] ** 2


def negation(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = -A``."""
    return -A[i][j]


def negation_gradient(G: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = -A``."""
    return -G[i][j]


def power(A: Matrix, p: int, i: int, j: int) -> Scalar:
    """Entry of ``C = A ** p`` with a whole number ``p``, entry by entry."""
    return A[i][j] ** p


def power_gradient(G: Matrix, A: Matrix, p: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = A ** p``."""
    return G[i][j] * p * A[i][j] ** (p - 1) if p != 0 else 0


RULES: Rules = {
    "addition": ("C", ("addition_gradient", "addition_gradient")),
    "subtraction": ("C", ("addition_gradient", "subtraction_right_gradient")),
    "times": ("C", ("times_left_gradient", "times_right_gradient")),
    "quotient": ("C", ("quotient_numerator_gradient", "quotient_denominator_gradient")),
    "negation": ("C", ("negation_gradient",)),
    "power": ("C", ("power_gradient",)),
}
