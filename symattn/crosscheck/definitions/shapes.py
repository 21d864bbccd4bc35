"""The same entries in other places, and matrices that hold places.

Where tokens stand: sinusoidal tables, rotations, and biases by distance.

A. Vaswani et al., *Attention is all you need* (2017); J. Su et al., *RoFormer: enhanced
transformer with rotary position embedding* (2021); O. Press, N. A. Smith and M. Lewis,
*Train short, test long: attention with linear biases* (2022).
"""

from __future__ import annotations

from symattn.crosscheck.definitions.weights import CHAIN, Matrix, Row, Rules, Scalar, Whole
from symattn.crosscheck.lines import cos, sin


def transpose(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A.T``."""
    return A[j][i]


def concat(A: Matrix, B: Matrix, d: int, i: int, j: int) -> Scalar:
    """Entry of ``A`` (d columns) and ``B`` side by side."""
    return A[i][j] if j < d else B[i][j - d]


def below(A: Matrix, B: Matrix, n: int, i: int, j: int) -> Scalar:
    """Entry of ``A`` (n rows) and ``B`` below each other."""
    return A[i][j] if i < n else B[i - n][j]


def reshape(A: Matrix, d: int, m: int, i: int, j: int) -> Scalar:
    """Entry of the entries of A (d columns), row by row, in rows of m."""
    return A[(i * m + j) // d][(i * m + j) % d]


def repeat(A: Matrix, a: int, i: int, j: int) -> Scalar:
    """Entry of each row of A, a times."""
    return A[i // a][j]


def diagonal_matrix(v: Row, i: int, j: int) -> Scalar:
    """Entry of the matrix with a vector on its diagonal."""
    return v[i] if i == j else 0


def diagonal(A: Matrix, j: int) -> Scalar:
    """Entry of the diagonal of a matrix."""
    return A[j][j]


def embedding(t: Whole, E: Matrix, i: int, j: int) -> Scalar:
    """Entry of the rows of E that t names."""
    return E[t[i]][j]


def one_hot(t: Whole, i: int, j: int) -> Scalar:
    """Entry of the rows that are 1 in the column that t names, else 0."""
    return 1 if t[i] == j else 0


def identity(i: int, j: int) -> Scalar:
    """Entry of the identity matrix."""
    return 1 if i == j else 0


_RULES_OF_SHAPES: Rules = {
    "transpose": ("C", (CHAIN,)),
    "concat": ("C", (CHAIN, CHAIN)),
    "below": ("C", (CHAIN, CHAIN)),
    "reshape": ("C", (CHAIN,)),
    "repeat": ("C", (CHAIN,)),
    "diagonal_matrix": ("C", (CHAIN,)),
    "diagonal": ("C", (CHAIN,)),
    "embedding": ("C", (None, CHAIN)),
    "one_hot": ("C", (None,)),
    "identity": ("C", ()),
}


def angle(p: Row, b: Scalar, d: Scalar, i: int, c: int) -> Scalar:
    """The angle of position i in the pair c of d columns; b is the base."""
    return p[i] / b ** (2 * c / d)


def sinusoids(theta: Matrix, i: int, j: int) -> Scalar:
    """Entry of the sinusoidal table, by the angles of positions and pairs of columns."""
    return sin(theta[i][j // 2]) if j % 2 == 0 else cos(theta[i][j // 2])


def rope(X: Matrix, theta: Matrix, i: int, j: int) -> Scalar:
    """Entry of the rows of X with neighbours turned: pair c by the angle ``theta[i][c]``."""
    return (
        X[i][j] * cos(theta[i][j // 2]) - X[i][j + 1] * sin(theta[i][j // 2])
        if j % 2 == 0
        else X[i][j - 1] * sin(theta[i][j // 2]) + X[i][j] * cos(theta[i][j // 2])
    )


def rope_halves(X: Matrix, theta: Matrix, a: int, i: int, j: int) -> Scalar:
    """Entry of the rows of X with columns c and a + c turned by ``theta[i][c]``; a is half
    their number."""
    return (
        X[i][j] * cos(theta[i][j]) - X[i][j + a] * sin(theta[i][j])
        if j < a
        else X[i][j - a] * sin(theta[i][j - a]) + X[i][j] * cos(theta[i][j - a])
    )


def distance_bias(S: Matrix, b: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``T = alibi(S, b)``: scores less b times the distance of query and key."""
    return S[i][j] - b * abs(i - j)


_RULES_OF_POSITIONS: Rules = {
    "angle": (r"\theta", (CHAIN, CHAIN)),
    "sinusoids": ("P", (CHAIN,)),
    "rope": ("Y", (CHAIN, CHAIN)),
    "rope_halves": ("Y", (CHAIN, CHAIN)),
    "distance_bias": ("T", (CHAIN, CHAIN)),
}


RULES: Rules = {**_RULES_OF_SHAPES, **_RULES_OF_POSITIONS}
