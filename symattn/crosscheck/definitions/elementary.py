"""Smooth functions of every entry by itself, from exp to gelu.

Sums, products, quotients and powers, entry by entry.
"""

from __future__ import annotations

from symattn.crosscheck.definitions.weights import Matrix, Rules, Scalar
from symattn.crosscheck.lines import cos, erf, exp, log, sin, sqrt, tanh


def exponential(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = exp(A)``."""
    return exp(A[i][j])


def exponential_gradient(G: Matrix, A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = exp(A)``."""
    return G[i][j] * exp(A[i][j])


def logarithm(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = log(A)``, the natural logarithm; entries above 0."""
    return log(A[i][j])


def logarithm_gradient(G: Matrix, A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = log(A)``."""
    return G[i][j] / A[i][j]


def square_root(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = sqrt(A)``; entries of at least 0."""
    return sqrt(A[i][j])


def square_root_gradient(G: Matrix, A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = sqrt(A)``; entries above 0."""
    return G[i][j] / (2 * sqrt(A[i][j]))


def hyperbolic_tangent(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = tanh(A)``."""
    return tanh(A[i][j])


def hyperbolic_tangent_gradient(G: Matrix, A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = tanh(A)``."""
    return G[i][j] * (1 - tanh(A[i][j]) ** 2)


def sine(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = sin(A)``."""
    return sin(A[i][j])


def sine_gradient(G: Matrix, A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = sin(A)``."""
    return G[i][j] * cos(A[i][j])


def cosine(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = cos(A)``."""
    return cos(A[i][j])


def cosine_gradient(G: Matrix, A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = cos(A)``."""
    return -G[i][j] * sin(A[i][j])


def error_function(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = erf(A)``."""
    return erf(A[i][j])


def error_function_gradient(G: Matrix, A: Matrix, pi: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = erf(A)``."""
    return 2 * G[i][j] / sqrt(pi) * exp(-(A[i][j] ** 2))


def sigmoid(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = sigmoid(A)``, the logistic function."""
    return 1 / (1 + exp(-A[i][j]))


def sigmoid_gradient(G: Matrix, C: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = sigmoid(A)``."""
    return G[i][j] * C[i][j] * (1 - C[i][j])


def softplus(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = softplus(A)``."""
    return log(1 + exp(A[i][j]))


def softplus_gradient(G: Matrix, A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = softplus(A)``."""
    return G[i][j] / (1 + exp(-A[i][j]))


def silu(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = silu(A)``, the entry times its sigmoid."""
    return A[i][j] / (1 + exp(-A[i][j]))


def silu_gradient(G: Matrix, A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = silu(A)``."""
    return G[i][j] * (1 + (1 + A[i][j]) * exp(-A[i][j])) / (1 + exp(-A[i][j])) ** 2


def gelu(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = gelu(A)``, Gaussian error linear units (D. Hendrycks, K. Gimpel, 2016)."""
    return A[i][j] / 2 * (1 + erf(A[i][j] / sqrt(2)))


def gelu_gradient(G: Matrix, A: Matrix, pi: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = gelu(A)``."""
    return G[i][j] * (
        (1 + erf(A[i][j] / sqrt(2))) / 2 + A[i][j] * exp(-(A[i][j] ** 2) / 2) / sqrt(2 * pi)
    )


def gelu_inner(A: Matrix, c: Scalar, pi: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``U``, what the tanh form of gelu takes the hyperbolic tangent of; c is 0.044715."""
    return sqrt(2 / pi) * (A[i][j] + c * A[i][j] ** 3)


def gelu_inner_gradient(G: Matrix, A: Matrix, c: Scalar, pi: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for the inner part of gelu's tanh form."""
    return G[i][j] * sqrt(2 / pi) * (1 + 3 * c * A[i][j] ** 2)


def gelu_tanh(A: Matrix, U: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = gelu(A, approximate="tanh")``, by its inner part."""
    return A[i][j] / 2 * (1 + tanh(U[i][j]))


def gelu_tanh_gradient(G: Matrix, U: Matrix, i: int, j: int) -> Scalar:
    """Entry of what flows into A beside the inner part, for gelu's tanh form."""
    return G[i][j] / 2 * (1 + tanh(U[i][j]))


def gelu_tanh_inner_gradient(G: Matrix, A: Matrix, U: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dU`` for gelu's tanh form."""
    return G[i][j] * A[i][j] / 2 * (1 - tanh(U[i][j]) ** 2)


def softcap(S: Matrix, c: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``T = softcap(S, c)``: scores that stay between -c and c."""
    return c * tanh(S[i][j] / c)


def softcap_gradient(G: Matrix, S: Matrix, c: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``dL/dS`` for ``T = softcap(S, c)``."""
    return G[i][j] * (1 - tanh(S[i][j] / c) ** 2)


def softcap_limit_gradient(G: Matrix, S: Matrix, c: Scalar, n: int, d: int) -> Scalar:
    """The number ``dL/dc`` for ``T = softcap(S, c)``."""
    return sum(
        G[i][j] * (tanh(S[i][j] / c) - S[i][j] / c * (1 - tanh(S[i][j] / c) ** 2))
        for i in range(n)
        for j in range(d)
    )


_RULES_OF_ELEMENTARY: Rules = {
    "exponential": ("C", ("exponential_gradient",)),
    "logarithm": ("C", ("logarithm_gradient",)),
    "square_root": ("C", ("square_root_gradient",)),
    "hyperbolic_tangent": ("C", ("hyperbolic_tangent_gradient",)),
    "sine": ("C", ("sine_gradient",)),
    "cosine": ("C", ("cosine_gradient",)),
    "error_function": ("C", ("error_function_gradient",)),
    "sigmoid": ("C", ("sigmoid_gradient",)),
    "softplus": ("C", ("softplus_gradient",)),
    "silu": ("C", ("silu_gradient",)),
    "gelu": ("C", ("gelu_gradient",)),
    "gelu_inner": ("U", ("gelu_inner_gradient", None)),
    "gelu_tanh": ("C", ("gelu_tanh_gradient", "gelu_tanh_inner_gradient")),
    "softcap": ("T", ("softcap_gradient", "softcap_limit_gradient")),
}


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


_RULES_OF_ARITHMETIC: Rules = {
    "addition": ("C", ("addition_gradient", "addition_gradient")),
    "subtraction": ("C", ("addition_gradient", "subtraction_right_gradient")),
    "times": ("C", ("times_left_gradient", "times_right_gradient")),
    "quotient": ("C", ("quotient_numerator_gradient", "quotient_denominator_gradient")),
    "negation": ("C", ("negation_gradient",)),
    "power": ("C", ("power_gradient",)),
}


RULES: Rules = {**_RULES_OF_ARITHMETIC, **_RULES_OF_ELEMENTARY}
