"""What rows, columns and matrices come to: sums, means, lengths, extremes.

Products of matrices and of vectors, and the scores that are made of them.

The gradients of matrix products are in M. B. Giles, *Collected matrix derivative results
for forward and reverse mode algorithmic differentiation* (2008).
"""

from __future__ import annotations

from symattn.crosscheck.definitions.weights import Column, Matrix, Row, Rules, Scalar
from symattn.crosscheck.lines import greatest, least, sqrt, tanh


def rowsum(A: Matrix, d: int, i: int) -> Scalar:
    """What row i sums to; d columns."""
    return sum(A[i][j] for j in range(d))


def rowsum_gradient(G: Column, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for the row sums of A."""
    return G[i]


def colsum(A: Matrix, n: int, j: int) -> Scalar:
    """What column j sums to; n rows."""
    return sum(A[i][j] for i in range(n))


def colsum_gradient(G: Row, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for the column sums of A."""
    return G[j]


def total(A: Matrix, n: int, d: int) -> Scalar:
    """What all entries of A (n, d) sum to."""
    return sum(A[i][j] for i in range(n) for j in range(d))


def total_gradient(G: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for the sum of all entries of A."""
    return G


def cumulative(A: Matrix, i: int, j: int) -> Scalar:
    """What row i sums to up to column j."""
    return sum(A[i][k] for k in range(j + 1))


def cumulative_gradient(G: Matrix, m: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for the sums of the rows of A up to each column."""
    return sum(G[i][k] for k in range(j, m))


def mean(A: Matrix, d: int, i: int) -> Scalar:
    """The mean of row i; d columns."""
    return sum(A[i][j] for j in range(d)) / d


def mean_gradient(G: Column, d: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for the means of the rows of A."""
    return G[i] / d


def variance(A: Matrix, mu: Column, d: int, a: int, i: int) -> Scalar:
    """The variance of row i, by the rows' means; d columns, a degrees of freedom less."""
    return sum((A[i][j] - mu[i]) ** 2 for j in range(d)) / (d - a)


def variance_gradient(G: Column, A: Matrix, mu: Column, d: int, a: int, i: int, j: int) -> Scalar:
    """Entry of what flows into A beside the means, for the variances of its rows."""
    return 2 * G[i] * (A[i][j] - mu[i]) / (d - a)


def variance_mean_gradient(G: Column, A: Matrix, mu: Column, d: int, a: int, i: int) -> Scalar:
    """Entry of what flows into the means, for the variances of the rows of A."""
    return -2 * G[i] * sum(A[i][j] - mu[i] for j in range(d)) / (d - a)


def mean_square(A: Matrix, d: int, i: int) -> Scalar:
    """The mean of the squares of row i; d columns."""
    return sum(A[i][j] ** 2 for j in range(d)) / d


def mean_square_gradient(G: Column, A: Matrix, d: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for the means of the squares of its rows."""
    return 2 * G[i] * A[i][j] / d


def length(A: Matrix, d: int, i: int) -> Scalar:
    """The Euclidean length of row i; d columns."""
    return sqrt(sum(A[i][j] ** 2 for j in range(d)))


def length_gradient(G: Column, A: Matrix, C: Column, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for the lengths C of its rows; there is none where that is 0."""
    return G[i] * A[i][j] / C[i]


def row_maximum(A: Matrix, i: int) -> Scalar:
    """The greatest entry of row i."""
    return greatest(A[i])


def row_minimum(A: Matrix, i: int) -> Scalar:
    """The least entry of row i."""
    return least(A[i])


def row_extreme_gradient(G: Column, A: Matrix, C: Column, d: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for the greatest or least entry C of each row; those that are
    tied share it evenly, as in PyTorch's amax."""
    return G[i] / sum(1 if A[i][k] == C[i] else 0 for k in range(d)) if A[i][j] == C[i] else 0


_RULES_OF_SUMS: Rules = {
    "rowsum": ("C", ("rowsum_gradient",)),
    "colsum": ("C", ("colsum_gradient",)),
    "total": ("C", ("total_gradient",)),
    "cumulative": ("C", ("cumulative_gradient",)),
    "mean": ("C", ("mean_gradient",)),
    "variance": ("C", ("variance_gradient", "variance_mean_gradient")),
    "mean_square": ("C", ("mean_square_gradient",)),
    "length": ("C", ("length_gradient",)),
    "row_maximum": ("C", ("row_extreme_gradient",)),
    "row_minimum": ("C", ("row_extreme_gradient",)),
}


def product(A: Matrix, B: Matrix, d: int, i: int, j: int) -> Scalar:
    """Entry of ``C = A @ B``; shapes (n, d) and (d, m)."""
    return sum(A[i][k] * B[k][j] for k in range(d))


def product_left_gradient(G: Matrix, B: Matrix, m: int, i: int, k: int) -> Scalar:
    """Entry of ``dL/dA = G @ B.T`` for ``C = A @ B``."""
    return sum(G[i][j] * B[k][j] for j in range(m))


def product_right_gradient(A: Matrix, G: Matrix, n: int, k: int, j: int) -> Scalar:
    """Entry of ``dL/dB = A.T @ G`` for ``C = A @ B``."""
    return sum(A[i][k] * G[i][j] for i in range(n))


def score(Q: Matrix, K: Matrix, d: int, i: int, j: int) -> Scalar:
    """Entry of ``S = Q @ K.T``: query i against key j; shapes (n, d) and (m, d)."""
    return sum(Q[i][c] * K[j][c] for c in range(d))


def score_query_gradient(G: Matrix, K: Matrix, m: int, i: int, c: int) -> Scalar:
    """Entry of ``dL/dQ = G @ K`` for ``S = Q @ K.T``."""
    return sum(G[i][j] * K[j][c] for j in range(m))


def score_key_gradient(G: Matrix, Q: Matrix, n: int, j: int, c: int) -> Scalar:
    """Entry of ``dL/dK = G.T @ Q`` for ``S = Q @ K.T``."""
    return sum(G[i][j] * Q[i][c] for i in range(n))


def scaled_score(S: Matrix, d: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``T = S / sqrt(d)`` with a number ``d``, mostly the width of the keys."""
    return S[i][j] / sqrt(d)


def scaled_score_gradient(G: Matrix, d: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``dL/dS`` for ``T = S / sqrt(d)``."""
    return G[i][j] / sqrt(d)


def scaled_score_width_gradient(G: Matrix, S: Matrix, d: Scalar, n: int, m: int) -> Scalar:
    """The number ``dL/dd`` for ``T = S / sqrt(d)``."""
    return -sum(G[i][j] * S[i][j] for i in range(n) for j in range(m)) / (2 * d * sqrt(d))


def outer(u: Row, v: Row, i: int, j: int) -> Scalar:
    """Entry of ``C = outer(u, v)``: each entry of one vector times each of the other."""
    return u[i] * v[j]


def outer_left_gradient(G: Matrix, v: Row, m: int, i: int) -> Scalar:
    """Entry of ``dL/du = G @ v`` for ``C = outer(u, v)``."""
    return sum(G[i][j] * v[j] for j in range(m))


def outer_right_gradient(G: Matrix, u: Row, d: int, j: int) -> Scalar:
    """Entry of ``dL/dv = G.T @ u`` for ``C = outer(u, v)``; ``u`` has d entries."""
    return sum(G[i][j] * u[i] for i in range(d))


def additive(Q: Matrix, K: Matrix, v: Row, d: int, i: int, j: int) -> Scalar:
    """Entry of ``S = additive(Q, K, v)``, the scores of D. Bahdanau, K. Cho and Y. Bengio,
    *Neural machine translation by jointly learning to align and translate* (2015)."""
    return sum(v[c] * tanh(Q[i][c] + K[j][c]) for c in range(d))


def additive_query_gradient(
    G: Matrix, Q: Matrix, K: Matrix, v: Row, m: int, i: int, c: int
) -> Scalar:
    """Entry of ``dL/dQ`` for ``S = additive(Q, K, v)``."""
    return v[c] * sum(G[i][j] * (1 - tanh(Q[i][c] + K[j][c]) ** 2) for j in range(m))


def additive_key_gradient(
    G: Matrix, Q: Matrix, K: Matrix, v: Row, n: int, j: int, c: int
) -> Scalar:
    """Entry of ``dL/dK`` for ``S = additive(Q, K, v)``."""
    return v[c] * sum(G[i][j] * (1 - tanh(Q[i][c] + K[j][c]) ** 2) for i in range(n))


def additive_vector_gradient(G: Matrix, Q: Matrix, K: Matrix, n: int, m: int, c: int) -> Scalar:
    """Entry of ``dL/dv`` for ``S = additive(Q, K, v)``."""
    return sum(G[i][j] * tanh(Q[i][c] + K[j][c]) for i in range(n) for j in range(m))


_RULES_OF_PRODUCTS: Rules = {
    "product": ("C", ("product_left_gradient", "product_right_gradient")),
    "score": ("S", ("score_query_gradient", "score_key_gradient")),
    "scaled_score": ("T", ("scaled_score_gradient", "scaled_score_width_gradient")),
    "outer": ("C", ("outer_left_gradient", "outer_right_gradient")),
    "additive": (
        "S",
        ("additive_query_gradient", "additive_key_gradient", "additive_vector_gradient"),
    ),
}


RULES: Rules = {**_RULES_OF_PRODUCTS, **_RULES_OF_SUMS}
