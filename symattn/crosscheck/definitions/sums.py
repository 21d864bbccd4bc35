"""What rows, columns and matrices come to: sums, means, lengths, extremes.

Products of matrices and of vectors, and the scores that are made of them.

The gradients of matrix products are in M. B. Giles, *Collected matrix derivative results
for forward and reverse mode algorithmic differentiation* (2008).
"""

from __future__ import annotations

from symattn.crosscheck.definitions.weights import CHAIN, Column, Matrix, Row, Rules, Scalar
from symattn.crosscheck.lines import greatest, least, sqrt, tanh


def rowsum(A: Matrix, d: int, i: int) -> Scalar:
    """What row i sums to; d columns."""
    return sum(A[i][j] for j in range(d))


def colsum(A: Matrix, n: int, j: int) -> Scalar:
    """What column j sums to; n rows."""
    return sum(A[i][j] for i in range(n))


def total(A: Matrix, n: int, d: int) -> Scalar:
    """What all entries of A (n, d) sum to."""
    return sum(A[i][j] for i in range(n) for j in range(d))


def cumulative(A: Matrix, i: int, j: int) -> Scalar:
    """What row i sums to up to column j."""
    return sum(A[i][k] for k in range(j + 1))


def mean(A: Matrix, d: int, i: int) -> Scalar:
    """The mean of row i; d columns."""
    return sum(A[i][j] for j in range(d)) / d


def variance(A: Matrix, mu: Column, d: int, a: int, i: int) -> Scalar:
    """The variance of row i, by the rows' means; d columns, a degrees of freedom less."""
    return sum((A[i][j] - mu[i]) ** 2 for j in range(d)) / (d - a)


def mean_square(A: Matrix, d: int, i: int) -> Scalar:
    """The mean of the squares of row i; d columns."""
    return sum(A[i][j] ** 2 for j in range(d)) / d


def length(A: Matrix, d: int, i: int) -> Scalar:
    """The Euclidean length of row i; d columns."""
    return sqrt(sum(A[i][j] ** 2 for j in range(d)))


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
    "rowsum": ("C", (CHAIN,)),
    "colsum": ("C", (CHAIN,)),
    "total": ("C", (CHAIN,)),
    "cumulative": ("C", (CHAIN,)),
    "mean": ("C", (CHAIN,)),
    "variance": ("C", (CHAIN, CHAIN)),
    "mean_square": ("C", (CHAIN,)),
    "length": ("C", (CHAIN,)),
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


def outer(u: Row, v: Row, i: int, j: int) -> Scalar:
    """Entry of ``C = outer(u, v)``: each entry of one vector times each of the other."""
    return u[i] * v[j]


def additive(Q: Matrix, K: Matrix, v: Row, d: int, i: int, j: int) -> Scalar:
    """Entry of ``S = additive(Q, K, v)``, the scores of D. Bahdanau, K. Cho and Y. Bengio,
    *Neural machine translation by jointly learning to align and translate* (2015)."""
    return sum(v[c] * tanh(Q[i][c] + K[j][c]) for c in range(d))


_RULES_OF_PRODUCTS: Rules = {
    "product": ("C", ("product_left_gradient", "product_right_gradient")),
    "score": ("S", ("score_query_gradient", "score_key_gradient")),
    "scaled_score": ("T", ("scaled_score_gradient", CHAIN)),
    "outer": ("C", (CHAIN, CHAIN)),
    "additive": (
        "S",
        (CHAIN, CHAIN, CHAIN),
    ),
}


RULES: Rules = {**_RULES_OF_PRODUCTS, **_RULES_OF_SUMS}
