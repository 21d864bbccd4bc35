"""Functions with kinks, comparisons, and what is chosen by them.

The gradients at kinks are PyTorch's: 0 for relu and abs at 0, half for each of two that
are tied, 1 for clip at its ends, and none through sign and comparisons.
"""

from __future__ import annotations

from symattn.crosscheck.definitions.weights import Mask, Matrix, Rules, Scalar
from symattn.crosscheck.lines import greatest, least, magnitude
from symattn.crosscheck.lines import sign as sign_of


def relu(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = relu(A)``."""
    return greatest(A[i][j], 0)


def relu_gradient(G: Matrix, A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = relu(A)``; 0 at 0."""
    return G[i][j] if A[i][j] > 0 else 0


def absolute(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = abs(A)``."""
    return magnitude(A[i][j])


def absolute_gradient(G: Matrix, A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = abs(A)``; 0 at 0."""
    return G[i][j] * sign_of(A[i][j])


def sign(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = sign(A)``: -1, 0 or 1."""
    return sign_of(A[i][j])


def maximum(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = maximum(A, B)``."""
    return greatest(A[i][j], B[i][j])


def maximum_left_gradient(G: Matrix, A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = maximum(A, B)``; half at a tie."""
    return G[i][j] if A[i][j] > B[i][j] else G[i][j] / 2 if A[i][j] == B[i][j] else 0


def maximum_right_gradient(G: Matrix, A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dB`` for ``C = maximum(A, B)``; half at a tie."""
    return G[i][j] if A[i][j] < B[i][j] else G[i][j] / 2 if A[i][j] == B[i][j] else 0


def minimum(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = minimum(A, B)``."""
    return least(A[i][j], B[i][j])


def minimum_left_gradient(G: Matrix, A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = minimum(A, B)``; half at a tie."""
    return G[i][j] if A[i][j] < B[i][j] else G[i][j] / 2 if A[i][j] == B[i][j] else 0


def minimum_right_gradient(G: Matrix, A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dB`` for ``C = minimum(A, B)``; half at a tie."""
    return G[i][j] if A[i][j] > B[i][j] else G[i][j] / 2 if A[i][j] == B[i][j] else 0


def clip(A: Matrix, a: Matrix, b: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = clip(A, a, b)``: at least a, at most b."""
    return least(greatest(A[i][j], a[i][j]), b[i][j])


def clip_gradient(G: Matrix, A: Matrix, a: Matrix, b: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = clip(A, a, b)``; all of it at the ends."""
    return G[i][j] if a[i][j] <= A[i][j] <= b[i][j] else 0


def clip_low_gradient(G: Matrix, A: Matrix, a: Matrix, b: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/da`` for ``C = clip(A, a, b)``."""
    return G[i][j] if A[i][j] < a[i][j] <= b[i][j] else 0


def clip_high_gradient(G: Matrix, A: Matrix, a: Matrix, b: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/db`` for ``C = clip(A, a, b)``."""
    return G[i][j] if greatest(A[i][j], a[i][j]) > b[i][j] else 0


def greater(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A > B``: 1 where it is so, else 0."""
    return 1 if A[i][j] > B[i][j] else 0


def at_least(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A >= B``: 1 where it is so, else 0."""
    return 1 if A[i][j] >= B[i][j] else 0


def less(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A < B``: 1 where it is so, else 0."""
    return 1 if A[i][j] < B[i][j] else 0


def at_most(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A <= B``: 1 where it is so, else 0."""
    return 1 if A[i][j] <= B[i][j] else 0


def equal(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A == B``: 1 where it is so, else 0."""
    return 1 if A[i][j] == B[i][j] else 0


def unequal(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A != B``: 1 where it is so, else 0."""
    return 1 if A[i][j] != B[i][j] else 0


def where(M: Mask, X: Matrix, Y: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = where(M, X, Y)``: that of Y where M is 0, else that of X."""
    return X[i][j] if M[i][j] != 0 else Y[i][j]


def where_gradient(G: Matrix, M: Mask, i: int, j: int) -> Scalar:
    """Entry of ``dL/dX`` for ``C = where(M, X, Y)``."""
    return G[i][j] if M[i][j] != 0 else 0


def where_else_gradient(G: Matrix, M: Mask, i: int, j: int) -> Scalar:
    """Entry of ``dL/dY`` for ``C = where(M, X, Y)``."""
    return G[i][j] if M[i][j] == 0 else 0


RULES: Rules = {
    "relu": ("C", ("relu_gradient",)),
    "absolute": ("C", ("absolute_gradient",)),
    "sign": ("C", (None,)),
    "maximum": ("C", ("maximum_left_gradient", "maximum_right_gradient")),
    "minimum": ("C", ("minimum_left_gradient", "minimum_right_gradient")),
    "clip": ("C", ("clip_gradient", "clip_low_gradient", "clip_high_gradient")),
    "greater": ("C", (None, None)),
    "at_least": ("C", (None, None)),
    "less": ("C", (None, None)),
    "at_most": ("C", (None, None)),
    "equal": ("C", (None, None)),
    "unequal": ("C", (None, None)),
    "where": ("C", (None, "where_gradient", "where_else_gradient")),
}
