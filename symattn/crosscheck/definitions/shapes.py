"""The same entries in other places, and matrices that hold places.

Where tokens stand: sinusoidal tables, rotations, and biases by distance.

A. Vaswani et al., *Attention is all you need* (2017); J. Su et al., *RoFormer: enhanced
transformer with rotary position embedding* (2021); O. Press, N. A. Smith and M. Lewis,
*Train short, test long: attention with linear biases* (2022).
"""

from __future__ import annotations

from symattn.crosscheck.definitions.weights import Matrix, Row, Rules, Scalar, Whole
from symattn.crosscheck.lines import cos, sin


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


_RULES_OF_SHAPES: Rules = {
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


def angle(p: Row, b: Scalar, d: Scalar, i: int, c: int) -> Scalar:
    """The angle of position i in the pair c of d columns; b is the base."""
    return p[i] / b ** (2 * c / d)


def angle_position_gradient(G: Matrix, b: Scalar, d: Scalar, m: int, i: int) -> Scalar:
    """Entry of ``dL/dp`` for the angles."""
    return sum(G[i][c] / b ** (2 * c / d) for c in range(m))


def angle_base_gradient(G: Matrix, p: Row, b: Scalar, d: Scalar, n: int, m: int) -> Scalar:
    """The number ``dL/db`` for the angles of n positions."""
    return -sum(
        2 * c * G[i][c] * p[i] / (d * b * b ** (2 * c / d)) for i in range(n) for c in range(m)
    )


def sinusoids(theta: Matrix, i: int, j: int) -> Scalar:
    """Entry of the sinusoidal table, by the angles of positions and pairs of columns."""
    return sin(theta[i][j // 2]) if j % 2 == 0 else cos(theta[i][j // 2])


def sinusoids_gradient(G: Matrix, theta: Matrix, i: int, c: int) -> Scalar:
    """Entry of ``dL/dtheta`` for the sinusoidal table."""
    return G[i][2 * c] * cos(theta[i][c]) - G[i][2 * c + 1] * sin(theta[i][c])


def rope(X: Matrix, theta: Matrix, i: int, j: int) -> Scalar:
    """Entry of the rows of X with neighbours turned: pair c by the angle ``theta[i][c]``."""
    return (
        X[i][j] * cos(theta[i][j // 2]) - X[i][j + 1] * sin(theta[i][j // 2])
        if j % 2 == 0
        else X[i][j - 1] * sin(theta[i][j // 2]) + X[i][j] * cos(theta[i][j // 2])
    )


def rope_gradient(G: Matrix, theta: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dX`` for neighbours turned: G turned back."""
    return (
        G[i][j] * cos(theta[i][j // 2]) + G[i][j + 1] * sin(theta[i][j // 2])
        if j % 2 == 0
        else G[i][j] * cos(theta[i][j // 2]) - G[i][j - 1] * sin(theta[i][j // 2])
    )


def rope_angle_gradient(G: Matrix, X: Matrix, theta: Matrix, i: int, c: int) -> Scalar:
    """Entry of ``dL/dtheta`` for neighbours turned."""
    return G[i][2 * c + 1] * (
        X[i][2 * c] * cos(theta[i][c]) - X[i][2 * c + 1] * sin(theta[i][c])
    ) - G[i][2 * c] * (X[i][2 * c] * sin(theta[i][c]) + X[i][2 * c + 1] * cos(theta[i][c]))


def rope_halves(X: Matrix, theta: Matrix, a: int, i: int, j: int) -> Scalar:
    """Entry of the rows of X with columns c and a + c turned by ``theta[i][c]``; a is half
    their number."""
    return (
        X[i][j] * cos(theta[i][j]) - X[i][j + a] * sin(theta[i][j])
        if j < a
        else X[i][j - a] * sin(theta[i][j - a]) + X[i][j] * cos(theta[i][j - a])
    )


def rope_halves_gradient(G: Matrix, theta: Matrix, a: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dX`` for halves turned: G turned back."""
    return (
        G[i][j] * cos(theta[i][j]) + G[i][j + a] * sin(theta[i][j])
        if j < a
        else G[i][j] * cos(theta[i][j - a]) - G[i][j - a] * sin(theta[i][j - a])
    )


def rope_halves_angle_gradient(
    G: Matrix, X: Matrix, theta: Matrix, a: int, i: int, c: int
) -> Scalar:
    """Entry of ``dL/dtheta`` for halves turned."""
    return G[i][c + a] * (X[i][c] * cos(theta[i][c]) - X[i][c + a] * sin(theta[i][c])) - G[i][c] * (
        X[i][c] * sin(theta[i][c]) + X[i][c + a] * cos(theta[i][c])
    )


def distance_bias(S: Matrix, b: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``T = alibi(S, b)``: scores less b times the distance of query and key."""
    return S[i][j] - b * abs(i - j)


def distance_bias_gradient(G: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dS`` for ``T = alibi(S, b)``."""
    return G[i][j]


def distance_bias_slope_gradient(G: Matrix, n: int, m: int) -> Scalar:
    """The number ``dL/db`` for ``T = alibi(S, b)``."""
    return -sum(G[i][j] * abs(i - j) for i in range(n) for j in range(m))


_RULES_OF_POSITIONS: Rules = {
    "angle": (r"\theta", ("angle_position_gradient", "angle_base_gradient")),
    "sinusoids": ("P", ("sinusoids_gradient",)),
    "rope": ("Y", ("rope_gradient", "rope_angle_gradient")),
    "rope_halves": ("Y", ("rope_halves_gradient", "rope_halves_angle_gradient")),
    "distance_bias": ("T", ("distance_bias_gradient", "distance_bias_slope_gradient")),
}


RULES: Rules = {**_RULES_OF_SHAPES, **_RULES_OF_POSITIONS}
