"""Attention weights: softmax row by row, its logarithms and its entropy.

How a definition takes its operands: what the types of its parameters say.

The kinds of scalar (float, :class:`~symattn.crosscheck.scalars.Tracked`, complex
vector) share their operators, not a base class. An ``int`` is a size or an index.

Scores that a query does not see.

Functions with kinks, comparisons, and what is chosen by them.

The gradients at kinks are PyTorch's: 0 for relu and abs at 0, half for each of two that
are tied, 1 for clip at its ends, and none through sign and comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, TypeAlias

from symattn.crosscheck.lines import exp, greatest, least, ln, log, magnitude
from symattn.crosscheck.lines import sign as sign_of

#: A number: an operand's one entry, or a size that is computed with.
Scalar: TypeAlias = Any
#: The entries of an operand that is one row, or one column.
Row: TypeAlias = Sequence[Any]
Column: TypeAlias = Sequence[Any]
#: The rows of an operand.
Matrix: TypeAlias = Sequence[Sequence[Any]]
#: The rows of an operand that holds 0 and 1, as plain numbers.
Mask: TypeAlias = Sequence[Sequence[float]]
#: The entries of one row that holds whole numbers.
Whole: TypeAlias = Sequence[int]

#: Of what flows into an operand: it is what the chain rule makes of the definition.
CHAIN = ""
#: For each operation the letter of its result in formulas, and the gradient by each
#: of its operands, which come first among its parameters: CHAIN, or a definition of its own
#: where a sheet shows it or a kink has a convention; None: none flows.
Rules: TypeAlias = Mapping[str, tuple[str, tuple[str | None, ...]]]


def normaliser(S: Matrix, m: int, i: int) -> Scalar:
    """What the exponentials of row i of the scores (n, m) sum to."""
    return sum(exp(S[i][k]) for k in range(m))


def softmax(S: Matrix, Z: Column, i: int, j: int) -> Scalar:
    """Entry of the weights of each query: that of key j, by the normalisers of the rows."""
    return exp(S[i][j]) / Z[i]


def softmax_gradient(A: Matrix, G: Matrix, m: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dS`` for the weights ``A = softmax(S)``."""
    return A[i][j] * (G[i][j] - sum(A[i][k] * G[i][k] for k in range(m)))


def softmax_jacobian(A: Matrix, delta: Matrix, i: int, j: int, k: int) -> Scalar:
    """The derivative of the weight ``A[i][j]`` by the score ``S[i][k]``; ``delta`` is 1 or 0."""
    return A[i][j] * (delta[j][k] - A[i][k])


def log_softmax(S: Matrix, Z: Column, i: int, j: int) -> Scalar:
    """Entry of the logarithms of the weights, by the normalisers of the rows."""
    return S[i][j] - log(Z[i])


def log_softmax_gradient(G: Matrix, C: Matrix, m: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dS`` for ``C = log_softmax(S)``."""
    return G[i][j] - exp(C[i][j]) * sum(G[i][k] for k in range(m))


def logsumexp(S: Matrix, d: int, i: int) -> Scalar:
    """The logarithm of what the exponentials of row i of the scores (n, d) sum to."""
    return log(sum(exp(S[i][k]) for k in range(d)))


def logsumexp_gradient(G: Column, S: Matrix, C: Column, i: int, j: int) -> Scalar:
    """Entry of ``dL/dS`` for ``C = logsumexp(S)``."""
    return G[i] * exp(S[i][j] - C[i])


def entropy(A: Matrix, d: int, i: int) -> Scalar:
    """The entropy of row i of the weights, in natural units; 0 ln 0 is 0."""
    return -sum(A[i][k] * ln(A[i][k]) for k in range(d))


def entropy_gradient(G: Column, A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dA`` for ``C = entropy(A)``; there is none at 0."""
    return -G[i] * (1 + ln(A[i][j]))


_RULES_OF_WEIGHTS: Rules = {
    "normaliser": ("Z", ()),
    "softmax": ("A", ("softmax_gradient",)),
    "log_softmax": ("C", ("log_softmax_gradient",)),
    "logsumexp": ("C", ("logsumexp_gradient",)),
    "entropy": ("C", ("entropy_gradient",)),
}


def causal(S: Matrix, i: int, j: int) -> Scalar:
    """Entry of the scores where no query sees a later key."""
    return S[i][j] if j <= i else -inf


def causal_gradient(G: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``dL/dS`` for ``causal(S)``."""
    return G[i][j] if j <= i else 0


def mask(S: Matrix, M: Mask, i: int, j: int) -> Scalar:
    """Entry of the scores that ``M`` keeps (1) or hides (0)."""
    return S[i][j] if M[i][j] == 1 else -inf


def mask_gradient(G: Matrix, M: Mask, i: int, j: int) -> Scalar:
    """Entry of ``dL/dS`` for ``mask(S, M)``."""
    return G[i][j] if M[i][j] == 1 else 0


def causal_last(S: Matrix, n: int, m: int, i: int, j: int) -> Scalar:
    """Entry of the scores of the last n positions of m, where no query sees a later key."""
    return S[i][j] if j <= i + m - n else -inf


def window(S: Matrix, a: int, b: int, i: int, j: int) -> Scalar:
    """Entry of the scores where a query sees the keys from a before it to b after it."""
    return S[i][j] if i - a <= j <= i + b else -inf


def padding(S: Matrix, a: int, i: int, j: int) -> Scalar:
    """Entry of the scores of the first a keys; the others are padding."""
    return S[i][j] if j < a else -inf


_RULES_OF_MASKS: Rules = {
    "causal": ("T", ("causal_gradient",)),
    "causal_last": ("T", (CHAIN,)),
    "mask": ("T", ("mask_gradient", None)),
    "window": ("T", (CHAIN,)),
    "padding": ("T", (CHAIN,)),
}


_RULES_OF_SOFTMAX: Rules = {**_RULES_OF_WEIGHTS, **_RULES_OF_MASKS}


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


_RULES_OF_CHOICES: Rules = {
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


RULES: Rules = {**_RULES_OF_CHOICES, **_RULES_OF_SOFTMAX}
