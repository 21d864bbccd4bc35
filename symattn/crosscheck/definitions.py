r"""The definitions of the operations and of their gradients, entry by entry.

Each function gives one entry of a result, the way a textbook writes it. The
recomputation runs these very functions, and sheets typeset their source, so a
reader of a sheet sees the code that was checked. Whence the style: one ``return``
with nothing but scalar arithmetic, :mod:`symattn.crosscheck.lines`, choices
and ``sum``.

What flows into an operand is mostly what the chain rule makes of the definition itself
(:mod:`symattn.crosscheck.evaluation`). Where a sheet shows it, or a kink has a convention, a
gradient gives one entry of ``dL/dX`` for an operand ``X`` of an operation with the result
``C``; ``G`` is the gradient that arrives, ``dL/dC``.

Names, the same everywhere: ``n`` and ``d`` are the numbers of rows and columns
of the first operand, ``m`` is the number of columns of the result. Indices
come last and count from 0. How a definition takes its operands, the types of its
parameters say.
Tests hold each against NumPy, each gradient against differences too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import inf
from typing import Any, TypeAlias

from symattn.crosscheck.lines import (
    cos,
    erf,
    exp,
    greatest,
    least,
    ln,
    log,
    magnitude,
    sin,
    sqrt,
    tanh,
)
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
    """Return what the exponentials of row i of the scores (n, m) sum to."""
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


# -- products and sums ------------------------------------------------------------------


def rowsum(A: Matrix, d: int, i: int) -> Scalar:
    """Return what row i sums to; d columns."""
    return sum(A[i][j] for j in range(d))


def colsum(A: Matrix, n: int, j: int) -> Scalar:
    """Return what column j sums to; n rows."""
    return sum(A[i][j] for i in range(n))


def total(A: Matrix, n: int, d: int) -> Scalar:
    """Return what all entries of A (n, d) sum to."""
    return sum(A[i][j] for i in range(n) for j in range(d))


def cumulative(A: Matrix, i: int, j: int) -> Scalar:
    """Return what row i sums to up to column j."""
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


# -- functions of every entry -----------------------------------------------------------


def exponential(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = exp(A)``."""
    return exp(A[i][j])


def logarithm(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = log(A)``, the natural logarithm; entries above 0."""
    return log(A[i][j])


def square_root(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = sqrt(A)``; entries of at least 0."""
    return sqrt(A[i][j])


def hyperbolic_tangent(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = tanh(A)``."""
    return tanh(A[i][j])


def sine(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = sin(A)``."""
    return sin(A[i][j])


def cosine(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = cos(A)``."""
    return cos(A[i][j])


def error_function(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = erf(A)``."""
    return erf(A[i][j])


def sigmoid(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = sigmoid(A)``, the logistic function."""
    return 1 / (1 + exp(-A[i][j]))


def softplus(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = softplus(A)``."""
    return log(1 + exp(A[i][j]))


def silu(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = silu(A)``, the entry times its sigmoid."""
    return A[i][j] / (1 + exp(-A[i][j]))


def gelu(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = gelu(A)``, Gaussian error linear units (D. Hendrycks, K. Gimpel, 2016)."""
    return A[i][j] / 2 * (1 + erf(A[i][j] / sqrt(2)))


def gelu_inner(A: Matrix, c: Scalar, pi: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``U``, what the tanh form of gelu takes the hyperbolic tangent of; c is 0.044715."""
    return sqrt(2 / pi) * (A[i][j] + c * A[i][j] ** 3)


def gelu_tanh(A: Matrix, U: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = gelu(A, approximate="tanh")``, by its inner part."""
    return A[i][j] / 2 * (1 + tanh(U[i][j]))


def softcap(S: Matrix, c: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``T = softcap(S, c)``: scores that stay between -c and c."""
    return c * tanh(S[i][j] / c)


_RULES_OF_ELEMENTARY: Rules = {
    **dict.fromkeys(
        (
            *("exponential", "logarithm", "square_root", "hyperbolic_tangent", "sine", "cosine"),
            *("error_function", "sigmoid", "softplus", "silu", "gelu"),
        ),
        ("C", (CHAIN,)),
    ),
    "gelu_inner": ("U", (CHAIN, None)),
    "gelu_tanh": ("C", (CHAIN, CHAIN)),
    "softcap": ("T", (CHAIN, CHAIN)),
}


def addition(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A + B``."""
    return A[i][j] + B[i][j]


def subtraction(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A - B``."""
    return A[i][j] - B[i][j]


def times(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A * B``, entry by entry."""
    return A[i][j] * B[i][j]


def quotient(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A / B``, entry by entry."""
    return A[i][j] / B[i][j]


def negation(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = -A``."""
    return -A[i][j]


def power(A: Matrix, p: int, i: int, j: int) -> Scalar:
    """Entry of ``C = A ** p`` with a whole number ``p``, entry by entry."""
    return A[i][j] ** p


_RULES_OF_ARITHMETIC: Rules = {
    "addition": ("C", (CHAIN, CHAIN)),
    "subtraction": ("C", (CHAIN, CHAIN)),
    "times": ("C", (CHAIN, CHAIN)),
    "quotient": ("C", (CHAIN, CHAIN)),
    "negation": ("C", (CHAIN,)),
    "power": ("C", (CHAIN,)),
}


# -- the same entries in other places ---------------------------------------------------


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


# -- norms and losses -------------------------------------------------------------------


def layer_norm(
    X: Matrix, mu: Column, v: Column, gamma: Row, beta: Row, epsilon: Scalar, i: int, j: int
) -> Scalar:
    """Entry of ``Y = layernorm(X, gamma, beta, eps)``, by the means and variances of the rows."""
    return (X[i][j] - mu[i]) / sqrt(v[i] + epsilon) * gamma[j] + beta[j]


def rms_norm(X: Matrix, v: Column, gamma: Row, epsilon: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``Y = rmsnorm(X, gamma, eps)``, by the mean squares of the rows."""
    return X[i][j] / sqrt(v[i] + epsilon) * gamma[j]


def unit_rows(X: Matrix, v: Column, i: int, j: int) -> Scalar:
    """Entry of ``Y = l2norm(X)``, by the lengths of the rows."""
    return X[i][j] / v[i]


_RULES_OF_NORMS: Rules = {
    "layer_norm": ("Y", (CHAIN,) * 6),
    "rms_norm": ("Y", (CHAIN,) * 4),
    "unit_rows": ("Y", (CHAIN, CHAIN)),
}


def smoothed(T: Matrix, a: Scalar, m: int, i: int, j: int) -> Scalar:
    """Entry of the targets with the part a spread over all m classes: C. Szegedy et al.,
    *Rethinking the Inception architecture for computer vision* (2016)."""
    return (1 - a) * T[i][j] + a / m


def cross_entropy(P: Matrix, T: Matrix, n: int, d: int) -> Scalar:
    """The mean over the rows of what the logarithms P of probabilities miss of the targets T."""
    return -sum(T[i][j] * P[i][j] for i in range(n) for j in range(d)) / n


def cross_entropy_gradient(G: Scalar, T: Matrix, n: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dP`` for the mean cross entropy of n rows."""
    return -G * T[i][j] / n


def cross_entropy_target_gradient(G: Scalar, P: Matrix, n: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dT`` for the mean cross entropy of n rows."""
    return -G * P[i][j] / n


def nll(P: Matrix, t: Whole, n: int) -> Scalar:
    """The mean over the rows of what the logarithms P of probabilities miss of the classes t."""
    return -sum(P[i][t[i]] for i in range(n)) / n


def binary_cross_entropy(P: Matrix, Y: Matrix, n: int, d: int) -> Scalar:
    """The mean over the entries of what the probabilities P miss of the targets Y."""
    return -sum(
        Y[i][j] * log(P[i][j]) + (1 - Y[i][j]) * log(1 - P[i][j])
        for i in range(n)
        for j in range(d)
    ) / (n * d)


def squared_error(X: Matrix, Y: Matrix, n: int, d: int) -> Scalar:
    """The mean of the squares of the entries of X - Y."""
    return sum((X[i][j] - Y[i][j]) ** 2 for i in range(n) for j in range(d)) / (n * d)


_RULES_OF_LOSSES: Rules = {
    "smoothed": ("C", (CHAIN, CHAIN)),
    "cross_entropy": ("C", ("cross_entropy_gradient", "cross_entropy_target_gradient")),
    "nll": ("C", (CHAIN, None)),
    "binary_cross_entropy": (
        "C",
        (CHAIN, CHAIN),
    ),
    "squared_error": ("C", (CHAIN, CHAIN)),
}


# -- what there is ----------------------------------------------------------------------

RULES: Rules = {
    **_RULES_OF_PRODUCTS,
    **_RULES_OF_SUMS,
    **_RULES_OF_ARITHMETIC,
    **_RULES_OF_ELEMENTARY,
    **_RULES_OF_CHOICES,
    **_RULES_OF_WEIGHTS,
    **_RULES_OF_MASKS,
    **_RULES_OF_SHAPES,
    **_RULES_OF_POSITIONS,
    **_RULES_OF_NORMS,
    **_RULES_OF_LOSSES,
}
"""The operations, in the order in which :func:`names` lists them."""

#: What indices are called.
INDICES = ("i", "j", "k", "c")
JACOBIAN = "softmax_jacobian"


@cache
def parameters(name: str) -> Mapping[str, str]:
    """The parameters of a definition, with their kinds.

    >>> parameters("transpose")
    {'A': 'Matrix', 'i': 'int', 'j': 'int'}
    """
    signature = inspect.signature(definition(name))
    return {key: parameter.annotation for key, parameter in signature.parameters.items()}


@cache
def operands(operation: str) -> tuple[str, ...]:
    """Return what a definition calls the operands of its operation.

    >>> operands("score"), operands("softmax")
    (('Q', 'K'), ('S',))
    """
    taken = [key for key, kind in parameters(operation).items() if kind != "int"]
    return tuple(taken[: len(RULES[operation][1])])


@cache
def _gradients() -> Mapping[str, tuple[str, str]]:
    """Each gradient with the operation and the operand that it is for."""
    gradients: dict[str, tuple[str, str]] = {}
    for operation, (_, flows) in RULES.items():
        for name, operand in zip(flows, operands(operation), strict=True):
            if name:
                gradients.setdefault(name, (operation, operand))
    return gradients


@cache
def names() -> tuple[str, ...]:
    """The names of all definitions, results first, then gradients.

    >>> names()[0], names()[-1]
    ('product', 'cross_entropy_target_gradient')
    """
    return (*RULES, JACOBIAN, *_gradients())


def gradients() -> tuple[str, ...]:
    """The names of the gradients.

    >>> gradients()[0]
    'product_left_gradient'
    """
    return tuple(_gradients())


def definition(name: str) -> Callable[..., Scalar]:
    """The function that defines ``name``, one of :func:`names`.

    >>> definition("rowsum")([[1, 2]], 2, 0)
    3
    """
    function: Callable[..., Scalar] = globals()[name]
    return function


def indices(name: str) -> tuple[str, ...]:
    """The indices at which a definition gives an entry.

    >>> indices("softmax"), indices("product_left_gradient")
    (('i', 'j'), ('i', 'k'))
    """
    kinds = parameters(name).items()
    return tuple(key for key, kind in kinds if kind == "int" and key in INDICES)


def differentiated(gradient: str) -> str:
    """The operand that a gradient is by.

    >>> differentiated("product_left_gradient")
    'A'
    """
    return _gradients()[gradient][1]
