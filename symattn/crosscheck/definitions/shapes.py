"""The same entries in other places, and matrices that hold places."""

from __future__ import annotations

from symattn.crosscheck.definitions.kinds import Matrix, Row, Rules, Scalar, Whole


def transpose(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A.T``."""
    return A[j][i]


def transpose_gradient(G: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = A.T``."""
    return G[j][i]


def concat(A: Matrix, B: Matrix, d: int, i: int, j: int) -> Scalar:
    """Entry of ``A`` (d columns) and ``B`` side by side."""
    return A[i][j] if j < d else B[i][j - d]


def concat_left_gradient(G: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``A`` and ``B`` side by side."""
    return G[i][j]


def concat_right_gradient(G: Matrix, d: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dB`` for ``A`` (d columns) and ``B`` side by side."""
    return G[i][j + d]


def below(A: Matrix, B: Matrix, n: int, i: int, j: int) -> Scalar:
    """Entry of ``A`` (n rows) and ``B`` below each other."""
    return A[i][j] if i < n else B[i - n][j]


def below_gradient(G: Matrix, n: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dB`` for ``A`` (n rows) and ``B`` below each other."""
    return G[i + n][j]


def reshape(A: Matrix, d: int, m: int, i: int, j: int) -> Scalar:
    """Entry of the entries of A (d columns), row by row, in rows of m."""
    return A[(i * m + j) // d][(i * m + j) % d]


def reshape_gradient(G: Matrix, d: int, m: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for the entries of A (d columns), row by row, in rows of m."""
    return G[(i * d + j) // m][(i * d + j) % m]


def repeat(A: Matrix, a: int, i: int, j: int) -> Scalar:
    """Entry of each row of A, a times."""
    return A[i // a][j]


def repeat_gradient(G: Matrix, a: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for each row of A, a times."""
    return sum(G[i * a + c][j] for c in range(a))


def diagonal_matrix(v: Row, i: int, j: int) -> Scalar:
    """Entry of the matrix with a vector on its diagonal."""
    return v[i] if i == j else 0


def diagonal_matrix_gradient(G: Matrix, j: int) -> Scalar:
    """Entry of ``dL/dv`` for the matrix with v on its diagonal."""
    return G[j][j]


def diagonal(A: Matrix, j: int) -> Scalar:
    """Entry of the diagonal of a matrix."""
    return A[j][j]


def diagonal_gradient(G: Row, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for the diagonal of A."""
    return G[j] if i == j else 0


def embedding(t: Whole, E: Matrix, i: int, j: int) -> Scalar:
    """Entry of the rows of E that t names."""
    return E[t[i]][j]


def embedding_gradient(G: Matrix, t: Whole, d: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dE`` for the rows of E that t (d entries) names."""
    return sum(G[k][j] if t[k] == i else 0 for k in range(d))


def one_hot(t: Whole, i: int, j: int) -> Scalar:
    """Entry of the rows that are 1 in the column that t names, else 0."""
    return 1 if t[i] == j else 0


def identity(i: int, j: int) -> Scalar:
    """Entry of the identity matrix."""
    return 1 if i == j else 0


RULES: Rules = {
    "transpose": ("C", ("transpose_gradient",)),
    "concat": ("C", ("concat_left_gradient", "concat_right_gradient")),
    "below": ("C", ("concat_left_gradient", "below_gradient")),
    "reshape": ("C", ("reshape_gradient",)),
    "repeat": ("C", ("repeat_gradient",)),
    "diagonal_matrix": ("C", ("diagonal_matrix_gradient",)),
    "diagonal": ("C", ("diagonal_gradient",)),
    "embedding": ("C", (None, "embedding_gradient")),
    "one_hot": ("C", (None,)),
    "identity": ("C", ()),
}
