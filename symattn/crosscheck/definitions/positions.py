"""Where tokens stand: sinusoidal tables, rotations, and biases by distance.

A. Vaswani et al., *Attention is all you need* (2017); J. Su et al., *RoFormer: enhanced
transformer with rotary position embedding* (2021); O. Press, N. A. Smith and M. Lewis,
*Train short, test long: attention with linear biases* (2022).
"""

from __future__ import annotations

from symattn.crosscheck.definitions.kinds import Matrix, Row, Rules, Scalar
from symattn.crosscheck.functions import cos, sin


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


RULES: Rules = {
    "angle": (r"\theta", ("angle_position_gradient", "angle_base_gradient")),
    "sinusoids": ("P", ("sinusoids_gradient",)),
    "rope": ("Y", ("rope_gradient", "rope_angle_gradient")),
    "rope_halves": ("Y", ("rope_halves_gradient", "rope_halves_angle_gradient")),
    "distance_bias": ("T", ("distance_bias_gradient", "distance_bias_slope_gradient")),
}
