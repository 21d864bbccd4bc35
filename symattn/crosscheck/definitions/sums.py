"""What rows, columns and matrices come to: sums, means, lengths, extremes."""

from __future__ import annotations

from symattn.crosscheck.definitions.kinds import Column, Matrix, Row, Rules, Scalar
from symattn.crosscheck.functions import greatest, least, sqrt


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


RULES: Rules = {
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
