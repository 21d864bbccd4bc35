"""Smooth functions of every entry by itself, from exp to gelu.

Sums, products, quotients and powers, entry by entry.
"""

from __future__ import annotations

from symattn.crosscheck.definitions.weights import CHAIN, Matrix, Rules, Scalar
from symattn.crosscheck.lines import cos, erf, exp, log, sin, sqrt, tanh


def exponential(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = exp(A)``."""
    return exp(A[i][j])


def logarithm(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = log(A)``, the natural logarithm; entries above 0."""
    return log(A[i][j])


def square_root(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = sqrt(A)``; entries of at least 0."""
    return sqrt(A[i][j])


def hyperbolic_tangent(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = tanh(A)``."""
    return tanh(A[i][j])


def sine(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = sin(A)``."""
    return sin(A[i][j])


def cosine(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = cos(A)``."""
    return cos(A[i][j])


def error_function(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = erf(A)``."""
    return erf(A[i][j])


def sigmoid(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = sigmoid(A)``, the logistic function."""
    return 1 / (1 + exp(-A[i][j]))


def softplus(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = softplus(A)``."""
    return log(1 + exp(A[i][j]))


def silu(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = silu(A)``, the entry times its sigmoid."""
    return A[i][j] / (1 + exp(-A[i][j]))


def gelu(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = gelu(A)``, Gaussian error linear units (D. Hendrycks, K. Gimpel, 2016)."""
    return A[i][j] / 2 * (1 + erf(A[i][j] / sqrt(2)))


def gelu_inner(A: Matrix, c: Scalar, pi: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``U``, what the tanh form of gelu takes the hyperbolic tangent of; c is 0.044715."""
    return sqrt(2 / pi) * (A[i][j] + c * A[i][j] ** 3)


def gelu_tanh(A: Matrix, U: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = gelu(A, approximate="tanh")``, by its inner part."""
    return A[i][j] / 2 * (1 + tanh(U[i][j]))


def softcap(S: Matrix, c: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``T = softcap(S, c)``: scores that stay between -c and c."""
    return c * tanh(S[i][j] / c)


_RULES_OF_ELEMENTARY: Rules = {
    "exponential": ("C", (CHAIN,)),
    "logarithm": ("C", (CHAIN,)),
    "square_root": ("C", (CHAIN,)),
    "hyperbolic_tangent": ("C", (CHAIN,)),
    "sine": ("C", (CHAIN,)),
    "cosine": ("C", (CHAIN,)),
    "error_function": ("C", (CHAIN,)),
    "sigmoid": ("C", (CHAIN,)),
    "softplus": ("C", (CHAIN,)),
    "silu": ("C", (CHAIN,)),
    "gelu": ("C", (CHAIN,)),
    "gelu_inner": ("U", (CHAIN, None)),
    "gelu_tanh": ("C", (CHAIN, CHAIN)),
    "softcap": ("T", (CHAIN, CHAIN)),
}


def addition(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A + B``."""
    return A[i][j] + B[i][j]


def subtraction(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A - B``."""
    return A[i][j] - B[i][j]


def times(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A * B``, entry by entry."""
    return A[i][j] * B[i][j]


def quotient(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A / B``, entry by entry."""
    return A[i][j] / B[i][j]


def negation(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = -A``."""
    return -A[i][j]


def power(A: Matrix, p: int, i: int, j: int) -> Scalar:
    """Entry of ``C = A ** p`` with a whole number ``p``, entry by entry."""
    return A[i][j] ** p


_RULES_OF_ARITHMETIC: Rules = {
    "addition": ("C", (CHAIN, CHAIN)),
    "subtraction": ("C", (CHAIN, CHAIN)),
    "times": ("C", (CHAIN, CHAIN)),
    "quotient": ("C", (CHAIN, CHAIN)),
    "negation": ("C", (CHAIN,)),
    "power": ("C", (CHAIN,)),
}


RULES: Rules = {**_RULES_OF_ARITHMETIC, **_RULES_OF_ELEMENTARY}
