"""The gradients of the operations, entry by entry.

Each function gives one entry of ``dL/dX`` for an operand ``X`` of an operation
with the result ``C``; ``G`` is the gradient that arrives, ``dL/dC``. They follow
from ``dL/dX = sum of dL/dC * dC/dX`` over the entries of ``C``; for matrix
products see M. B. Giles, *Collected matrix derivative results for forward and
reverse mode algorithmic differentiation* (2008).

Names and style are those of :mod:`.definitions`: ``n`` and ``d`` are the numbers
of rows and columns of the operation's first operand, ``m`` is the number of
columns of its result.
"""

from __future__ import annotations

from symattn.crosscheck.scalars import Matrix, Scalar, exp, sqrt, tanh


def product_left_gradient(G: Matrix, B: Matrix, m: int, i: int, k: int) -> Scalar:
    """Entry of ``dL/dA = G @ B.T`` for ``C = A @ B``.

    >>> product_left_gradient([[10]], [[3], [4]], 1, 0, 1)
    40
    """
    return sum(G[i][j] * B[k][j] for j in range(m))


def product_right_gradient(A: Matrix, G: Matrix, n: int, k: int, j: int) -> Scalar:
    """Entry of ``dL/dB = A.T @ G`` for ``C = A @ B``.

    >>> product_right_gradient([[1, 2]], [[10]], 1, 1, 0)
    20
    """
    return sum(A[i][k] * G[i][j] for i in range(n))


def score_query_gradient(G: Matrix, K: Matrix, m: int, i: int, c: int) -> Scalar:
    """Entry of ``dL/dQ = G @ K`` for ``S = Q @ K.T``.

    >>> score_query_gradient([[10]], [[3, 4]], 1, 0, 1)
    40
    """
    return sum(G[i][j] * K[j][c] for j in range(m))


def score_key_gradient(G: Matrix, Q: Matrix, n: int, j: int, c: int) -> Scalar:
    """Entry of ``dL/dK = G.T @ Q`` for ``S = Q @ K.T``.

    >>> score_key_gradient([[10]], [[1, 2]], 1, 0, 1)
    20
    """
    return sum(G[i][j] * Q[i][c] for i in range(n))


def scaled_score_gradient(G: Matrix, d: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``dL/dS`` for ``T = S / sqrt(d)``.

    >>> scaled_score_gradient([[6.0]], 4.0, 0, 0)
    3.0
    """
    return G[i][j] / sqrt(d)


def scaled_score_width_gradient(G: Matrix, S: Matrix, d: Scalar, n: int, m: int) -> Scalar:
    """The number ``dL/dd`` for ``T = S / sqrt(d)``.

    >>> scaled_score_width_gradient([[1.0]], [[32.0]], 4.0, 1, 1)
    -2.0
    """
    return -sum(G[i][j] * S[i][j] for i in range(n) for j in range(m)) / (2 * d * sqrt(d))


def addition_gradient(G: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` and of ``dL/dB`` for ``C = A + B``, and of ``dL/dA`` for ``A - B``.

    >>> addition_gradient([[5]], 0, 0)
    5
    """
    return G[i][j]


def subtraction_right_gradient(G: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dB`` for ``C = A - B``.

    >>> subtraction_right_gradient([[5]], 0, 0)
    -5
    """
    return -G[i][j]


def times_left_gradient(G: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = A * B``, entry by entry.

    >>> times_left_gradient([[5]], [[2]], 0, 0)
    10
    """
    return G[i][j] * B[i][j]


def times_right_gradient(G: Matrix, A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dB`` for ``C = A * B``, entry by entry.

    >>> times_right_gradient([[5]], [[3]], 0, 0)
    15
    """
    return G[i][j] * A[i][j]


def quotient_numerator_gradient(G: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = A / B``, entry by entry.

    >>> quotient_numerator_gradient([[8]], [[4]], 0, 0)
    2.0
    """
    return G[i][j] / B[i][j]


def quotient_denominator_gradient(G: Matrix, A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dB`` for ``C = A / B``, entry by entry.

    >>> quotient_denominator_gradient([[8]], [[6]], [[4]], 0, 0)
    -3.0
    """
    return -G[i][j] * A[i][j] / B[i][j] ** 2


def negation_gradient(G: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = -A``.

    >>> negation_gradient([[3]], 0, 0)
    -3
    """
    return -G[i][j]


def transpose_gradient(G: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = A.T``.

    >>> transpose_gradient([[1], [2]], 0, 1)
    2
    """
    return G[j][i]


def exponential_gradient(G: Matrix, A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = exp(A)``.

    >>> exponential_gradient([[5.0]], [[0.0]], 0, 0)
    5.0
    """
    return G[i][j] * exp(A[i][j])


def logarithm_gradient(G: Matrix, A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = log(A)``.

    >>> logarithm_gradient([[5.0]], [[2.0]], 0, 0)
    2.5
    """
    return G[i][j] / A[i][j]


def square_root_gradient(G: Matrix, A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = sqrt(A)``; entries above 0.

    >>> square_root_gradient([[8.0]], [[4.0]], 0, 0)
    2.0
    """
    return G[i][j] / (2 * sqrt(A[i][j]))


def hyperbolic_tangent_gradient(G: Matrix, A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = tanh(A)``.

    >>> hyperbolic_tangent_gradient([[5.0]], [[0.0]], 0, 0)
    5.0
    """
    return G[i][j] * (1 - tanh(A[i][j]) ** 2)


def softmax_gradient(A: Matrix, G: Matrix, m: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dS`` for the weights ``A = softmax(S)``.

    >>> softmax_gradient([[0.5, 0.5]], [[4.0, 2.0]], 2, 0, 0)
    0.5
    """
    return A[i][j] * (G[i][j] - sum(A[i][k] * G[i][k] for k in range(m)))


def causal_gradient(G: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dS`` for ``causal(S)``.

    >>> causal_gradient([[7.0, 8.0]], 0, 1)
    0
    """
    return G[i][j] if j <= i else 0


def mask_gradient(G: Matrix, M: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dS`` for ``mask(S, M)``.

    >>> mask_gradient([[7.0]], [[1]], 0, 0)
    7.0
    """
    return G[i][j] if M[i][j] == 1 else 0


def concat_left_gradient(G: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``A`` and ``B`` side by side.

    >>> concat_left_gradient([[1, 2, 3]], 0, 0)
    1
    """
    return G[i][j]


def concat_right_gradient(G: Matrix, d: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dB`` for ``A`` (d columns) and ``B`` side by side.

    >>> concat_right_gradient([[1, 2, 3]], 2, 0, 0)
    3
    """
    return G[i][j + d]


def rowsum_gradient(G: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for the row sums of A; G has one column.

    >>> rowsum_gradient([[5]], 0, 1)
    5
    """
    return G[i][0]


def colsum_gradient(G: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for the column sums of A; G has one row.

    >>> colsum_gradient([[5, 6]], 1, 1)
    6
    """
    return G[0][j]


def total_gradient(G: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for the sum of all entries of A; G is a single number.

    >>> total_gradient([[5]], 2, 2)
    5
    """
    return G[0][0]


#: What each gradient is by, in LaTeX.
FACTORS = {
    "product_left_gradient": "A_{i, k}",
    "product_right_gradient": "B_{k, j}",
    "score_query_gradient": "Q_{i, c}",
    "score_key_gradient": "K_{j, c}",
    "scaled_score_gradient": "S_{i, j}",
    "scaled_score_width_gradient": "d",
    "addition_gradient": "A_{i, j}",
    "subtraction_right_gradient": "B_{i, j}",
    "times_left_gradient": "A_{i, j}",
    "times_right_gradient": "B_{i, j}",
    "quotient_numerator_gradient": "A_{i, j}",
    "quotient_denominator_gradient": "B_{i, j}",
    "negation_gradient": "A_{i, j}",
    "transpose_gradient": "A_{i, j}",
    "exponential_gradient": "A_{i, j}",
    "logarithm_gradient": "A_{i, j}",
    "square_root_gradient": "A_{i, j}",
    "hyperbolic_tangent_gradient": "A_{i, j}",
    "softmax_gradient": "S_{i, j}",
    "causal_gradient": "S_{i, j}",
    "mask_gradient": "S_{i, j}",
    "concat_left_gradient": "A_{i, j}",
    "concat_right_gradient": "B_{i, j}",
    "rowsum_gradient": "A_{i, j}",
    "colsum_gradient": "A_{i, j}",
    "total_gradient": "A_{i, j}",
}
