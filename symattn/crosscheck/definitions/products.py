"""Products of matrices and of vectors, and the scores that are made of them.

The gradients of matrix products are in M. B. Giles, *Collected matrix derivative results
for forward and reverse mode algorithmic differentiation* (2008).
"""

from __future__ import annotations

from symattn.crosscheck.definitions.kinds import Matrix, Row, Rules, Scalar
from symattn.crosscheck.functions import sqrt, tanh


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


RULES: Rules = {
    "product": ("C", ("product_left_gradient", "product_right_gradient")),
    "score": ("S", ("score_query_gradient", "score_key_gradient")),
    "scaled_score": ("T", ("scaled_score_gradient", "scaled_score_width_gradient")),
    "outer": ("C", ("outer_left_gradient", "outer_right_gradient")),
    "additive": (
        "S",
        ("additive_query_gradient", "additive_key_gradient", "additive_vector_gradient"),
    ),
}
