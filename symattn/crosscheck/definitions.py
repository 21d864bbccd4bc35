"""The definitions of the operations, entry by entry.

Each function gives one entry of a result, the way a textbook writes it. The
recomputation runs these very functions, and sheets typeset their source, so a
reader of a sheet sees the code that was checked. Whence the style: one ``return``
with nothing but scalar arithmetic, the functions of
:mod:`symattn.crosscheck.scalars`, choices and ``sum``.

What flows into an operand is what the chain rule makes of the definition itself
(:mod:`symattn.crosscheck.evaluation`), so that there are none of gradients.

Names, the same everywhere: ``n`` and ``d`` are the numbers of rows and columns of the first
operand, ``m`` is the number of columns of the result. Indices come last and count from 0. How a
definition takes its operands, the types of its parameters say. Tests hold each against NumPy, and
its gradients against differences.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import inf
from typing import Any, TypeAlias

from symattn.crosscheck.scalars import (
    cos,
    erf,
    exp,
    first_greatest,
    first_least,
    greatest,
    least,
    ln,
    log,
    magnitude,
    sin,
    sqrt,
    tanh,
)
from symattn.crosscheck.scalars import sign as sign_of

#: A number: an operand's one entry.
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
#: What is no operand: a number that is known, and what rows of exponentials sum to.
Constant: TypeAlias = Any
Normalisers: TypeAlias = Sequence[Any]


# -- weights, masks and choices -----------------------------------------------------------


def normaliser(S: Matrix, m: int, i: int) -> Scalar:
    """Return what the exponentials of row i of the scores (n, m) sum to."""
    return sum(exp(S[i][k]) for k in range(m))


def softmax(S: Matrix, Z: Normalisers, i: int, j: int) -> Scalar:
    """Entry of the weights of each query: that of key j, by the normalisers of the rows."""
    return exp(S[i][j]) / Z[i]


def log_softmax(S: Matrix, Z: Normalisers, i: int, j: int) -> Scalar:
    """Entry of the logarithms of the weights, by the normalisers of the rows."""
    return S[i][j] - log(Z[i])


def logsumexp(S: Matrix, d: int, i: int) -> Scalar:
    """The logarithm of what the exponentials of row i of the scores (n, d) sum to."""
    return log(sum(exp(S[i][k]) for k in range(d)))


def entropy(A: Matrix, d: int, i: int) -> Scalar:
    """The entropy of row i of the weights, in natural units; 0 ln 0 is 0."""
    return -sum(A[i][k] * ln(A[i][k]) for k in range(d))


def causal(S: Matrix, i: int, j: int) -> Scalar:
    """Entry of the scores where no query sees a later key."""
    return S[i][j] if j <= i else -inf


def mask(S: Matrix, M: Mask, i: int, j: int) -> Scalar:
    """Entry of the scores that ``M`` keeps (1) or hides (0)."""
    return S[i][j] if M[i][j] == 1 else -inf


def causal_last(S: Matrix, n: int, m: int, i: int, j: int) -> Scalar:
    """Entry of the scores of the last n positions of m, where no query sees a later key."""
    return S[i][j] if j <= i + m - n else -inf


def window(S: Matrix, a: int, b: int, i: int, j: int) -> Scalar:
    """Entry of the scores where a query sees the keys from a before it to b after it."""
    return S[i][j] if i - a <= j <= i + b else -inf


def padding(S: Matrix, a: int, i: int, j: int) -> Scalar:
    """Entry of the scores of the first a keys; the others are padding."""
    return S[i][j] if j < a else -inf


def relu(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = relu(A)``; at 0 nothing flows back."""
    return first_greatest(0, A[i][j])


def absolute(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = abs(A)``."""
    return magnitude(A[i][j])


def sign(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = sign(A)``: -1, 0 or 1."""
    return sign_of(A[i][j])


def maximum(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = maximum(A, B)``."""
    return greatest(A[i][j], B[i][j])


def minimum(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = minimum(A, B)``."""
    return least(A[i][j], B[i][j])


def clip(A: Matrix, a: Matrix, b: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = clip(A, a, b)``: at least a, at most b."""
    return first_least(first_greatest(A[i][j], a[i][j]), b[i][j])


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


def product(A: Matrix, B: Matrix, d: int, i: int, j: int) -> Scalar:
    """Entry of ``C = A @ B``; shapes (n, d) and (d, m)."""
    return sum(A[i][k] * B[k][j] for k in range(d))


def score(Q: Matrix, K: Matrix, d: int, i: int, j: int) -> Scalar:
    """Entry of ``S = Q @ K.T``: query i against key j; shapes (n, d) and (m, d)."""
    return sum(Q[i][c] * K[j][c] for c in range(d))


def scaled_score(S: Matrix, d: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``T = S / sqrt(d)`` with a number ``d``, mostly the width of the keys."""
    return S[i][j] / sqrt(d)


def outer(u: Row, v: Row, i: int, j: int) -> Scalar:
    """Entry of ``C = outer(u, v)``: each entry of one vector times each of the other."""
    return u[i] * v[j]


def additive(Q: Matrix, K: Matrix, v: Row, d: int, i: int, j: int) -> Scalar:
    """Entry of ``S = additive(Q, K, v)``, the scores of D. Bahdanau, K. Cho and Y. Bengio,
    *Neural machine translation by jointly learning to align and translate* (2015)."""
    return sum(v[c] * tanh(Q[i][c] + K[j][c]) for c in range(d))


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


def gelu_inner(A: Matrix, c: Scalar, pi: Constant, i: int, j: int) -> Scalar:
    """Entry of ``U``, what the tanh form of gelu takes the hyperbolic tangent of; c is 0.044715."""
    return sqrt(2 / pi) * (A[i][j] + c * A[i][j] ** 3)


def gelu_tanh(A: Matrix, U: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = gelu(A, approximate="tanh")``, by its inner part."""
    return A[i][j] / 2 * (1 + tanh(U[i][j]))


def softcap(S: Matrix, c: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``T = softcap(S, c)``: scores that stay between -c and c."""
    return c * tanh(S[i][j] / c)


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


def angle(p: Row, b: Scalar, d: Constant, i: int, c: int) -> Scalar:
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


def smoothed(T: Matrix, a: Scalar, m: int, i: int, j: int) -> Scalar:
    """Entry of the targets with the part a spread over all m classes: C. Szegedy et al.,
    *Rethinking the Inception architecture for computer vision* (2016)."""
    return (1 - a) * T[i][j] + a / m


def cross_entropy(P: Matrix, T: Matrix, n: int, d: int) -> Scalar:
    """The mean over the rows of what the logarithms P of probabilities miss of the targets T."""
    return -sum(T[i][j] * P[i][j] for i in range(n) for j in range(d)) / n


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


# -- what there is ----------------------------------------------------------------------

#: What indices are called.
INDICES = ("i", "j", "k", "c")
#: What results are called in formulas where it isn't C.
_LETTERS = {
    "normaliser": "Z",
    "softmax": "A",
    **dict.fromkeys(("score", "additive"), "S"),
    **dict.fromkeys(
        ("scaled_score", "softcap", "causal", "causal_last", "mask", "window", "padding"), "T"
    ),
    "distance_bias": "T",
    "gelu_inner": "U",
    "angle": r"\theta",
    "sinusoids": "P",
    **dict.fromkeys(("rope", "rope_halves", "layer_norm", "rms_norm", "unit_rows"), "Y"),
}
#: What moves in steps, so that nothing flows back.
_STEPS = ("sign", "greater", "at_least", "less", "at_most", "equal", "unequal")


@cache
def names() -> tuple[str, ...]:
    """The names of all definitions, as they stand above.

    >>> names()[0], names()[-1]
    ('normaliser', 'squared_error')
    """
    return tuple(
        name
        for name, item in globals().items()
        if inspect.isfunction(item) and inspect.get_annotations(item).get("return") == "Scalar"
    )


def definition(name: str) -> Callable[..., Scalar]:
    """The function that defines ``name``, one of :func:`names`.

    >>> definition("rowsum")([[1, 2]], 2, 0)
    3
    """
    function: Callable[..., Scalar] = globals()[name]
    return function


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
    others = ("int", "Constant", "Normalisers")
    return tuple(key for key, kind in parameters(operation).items() if kind not in others)


@cache
def taking(kind: str) -> Mapping[str, int]:
    """The operations that take an operand of a kind, and which one it is.

    >>> dict(taking("Mask"))
    {'mask': 1, 'where': 0}
    """
    kinds = {name: [parameters(name)[operand] for operand in operands(name)] for name in names()}
    return {name: of_it.index(kind) for name, of_it in kinds.items() if kind in of_it}


@cache
def flows(operation: str) -> tuple[bool, ...]:
    """Return into which of its operands an operation lets gradients flow.

    >>> flows("mask"), flows("greater")
    ((True, False), (False, False))
    """
    kinds = (parameters(operation)[operand] for operand in operands(operation))
    return tuple(kind not in ("Mask", "Whole") and operation not in _STEPS for kind in kinds)


def letter(operation: str) -> str:
    """The letter of an operation's result in formulas.

    >>> letter("softmax"), letter("product")
    ('A', 'C')
    """
    return _LETTERS.get(operation, "C")


def indices(name: str) -> tuple[str, ...]:
    """The indices at which a definition gives an entry.

    >>> indices("softmax"), indices("rowsum")
    (('i', 'j'), ('i',))
    """
    kinds = parameters(name).items()
    return tuple(key for key, kind in kinds if kind == "int" and key in INDICES)
