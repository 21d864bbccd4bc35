r"""The definitions of the operations, entry by entry.

Each function gives one entry of a result, the way a textbook writes it; the
gradients are in :mod:`.gradients`. The recomputation runs these very functions,
and :func:`formula` typesets them, so a reader of a sheet sees the code that
was checked. Whence the style: one ``return`` with nothing but scalar
arithmetic, ``exp``, ``log``, ``sqrt`` and ``sum``.

Names, the same everywhere: ``n`` and ``d`` are the numbers of rows and columns
of the first operand, ``m`` is the number of columns of the result. Indices
come last and count from 0. Matrices are sequences of rows of the scalars of
:mod:`.scalars`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import cache
from math import inf

from symattn.crosscheck import gradients
from symattn.crosscheck.scalars import Matrix, Scalar, exp, log, sqrt, tanh

# Products --------------------------------------------------------------------


def product(A: Matrix, B: Matrix, d: int, i: int, j: int) -> Scalar:
    """Entry of ``C = A @ B``; shapes (n, d) and (d, m).

    >>> product([[1, 2]], [[3], [4]], 2, 0, 0)
    11
    """
    return sum(A[i][k] * B[k][j] for k in range(d))


def score(Q: Matrix, K: Matrix, d: int, i: int, j: int) -> Scalar:
    """Entry of ``S = Q @ K.T``: query i against key j; shapes (n, d) and (m, d).

    >>> score([[1, 2]], [[3, 4]], 2, 0, 0)
    11
    """
    return sum(Q[i][c] * K[j][c] for c in range(d))


def scaled_score(S: Matrix, d: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``T = S / sqrt(d)`` with a number ``d``, mostly the width of the keys.

    >>> scaled_score([[6.0]], 4.0, 0, 0)
    3.0
    """
    return S[i][j] / sqrt(d)


# Entry by entry --------------------------------------------------------------


def addition(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A + B``.

    >>> addition([[1]], [[2]], 0, 0)
    3
    """
    return A[i][j] + B[i][j]


def subtraction(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A - B``.

    >>> subtraction([[1]], [[2]], 0, 0)
    -1
    """
    return A[i][j] - B[i][j]


def times(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A * B``, entry by entry.

    >>> times([[3]], [[2]], 0, 0)
    6
    """
    return A[i][j] * B[i][j]


def quotient(A: Matrix, B: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A / B``, entry by entry.

    >>> quotient([[6]], [[4]], 0, 0)
    1.5
    """
    return A[i][j] / B[i][j]


def negation(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = -A``.

    >>> negation([[3]], 0, 0)
    -3
    """
    return -A[i][j]


def transpose(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = A.T``.

    >>> transpose([[1, 2]], 1, 0)
    2
    """
    return A[j][i]


def exponential(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = exp(A)``.

    >>> exponential([[0.0]], 0, 0)
    1.0
    """
    return exp(A[i][j])


def logarithm(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = log(A)``, the natural logarithm; entries above 0.

    >>> logarithm([[1.0]], 0, 0)
    0.0
    """
    return log(A[i][j])


def square_root(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = sqrt(A)``; entries of at least 0.

    >>> square_root([[4.0]], 0, 0)
    2.0
    """
    return sqrt(A[i][j])


def hyperbolic_tangent(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = tanh(A)``.

    >>> hyperbolic_tangent([[0.0]], 0, 0)
    0.0
    """
    return tanh(A[i][j])


# Softmax ---------------------------------------------------------------------


def normaliser(S: Matrix, m: int, i: int) -> Scalar:
    """What the exponentials of row i of the scores (n, m) sum to.

    >>> normaliser([[0.0, 0.0]], 2, 0)
    2.0
    """
    return sum(exp(S[i][k]) for k in range(m))


def softmax(S: Matrix, Z: Sequence[Scalar], i: int, j: int) -> Scalar:
    """Entry of the weights of each query: that of key j, by the normalisers of the rows.

    >>> softmax([[0.0, 0.0]], [2.0], 0, 1)
    0.5
    """
    return exp(S[i][j]) / Z[i]


def softmax_jacobian(A: Matrix, delta: Matrix, i: int, j: int, k: int) -> Scalar:
    """The derivative of the weight ``A[i][j]`` by the score ``S[i][k]``; ``delta`` is 1 or 0.

    >>> softmax_jacobian([[0.5, 0.5]], [[1, 0], [0, 1]], 0, 0, 1)
    -0.25
    """
    return A[i][j] * (delta[j][k] - A[i][k])


# Masks -----------------------------------------------------------------------


def causal(S: Matrix, i: int, j: int) -> Scalar:
    """Entry of the scores where no query sees a later key.

    >>> causal([[7.0, 8.0]], 0, 1)
    -inf
    """
    return S[i][j] if j <= i else -inf


def mask(S: Matrix, M: Matrix, i: int, j: int) -> Scalar:
    """Entry of the scores that ``M`` keeps (1) or hides (0).

    >>> mask([[7.0]], [[0]], 0, 0)
    -inf
    """
    return S[i][j] if M[i][j] == 1 else -inf


# Heads and sums --------------------------------------------------------------


def concat(A: Matrix, B: Matrix, d: int, i: int, j: int) -> Scalar:
    """Entry of ``A`` (d columns) and ``B`` side by side.

    >>> concat([[1, 2]], [[3]], 2, 0, 2)
    3
    """
    return A[i][j] if j < d else B[i][j - d]


def rowsum(A: Matrix, d: int, i: int) -> Scalar:
    """What row i sums to; d columns.

    >>> rowsum([[1, 2]], 2, 0)
    3
    """
    return sum(A[i][j] for j in range(d))


def colsum(A: Matrix, n: int, j: int) -> Scalar:
    """What column j sums to; n rows.

    >>> colsum([[1], [2]], 2, 0)
    3
    """
    return sum(A[i][j] for i in range(n))


def total(A: Matrix, n: int, d: int) -> Scalar:
    """What all entries of A (n, d) sum to.

    >>> total([[1, 2], [3, 4]], 2, 2)
    10
    """
    return sum(A[i][j] for i in range(n) for j in range(d))


# Their formulas --------------------------------------------------------------

#: What each definition defines, in LaTeX.
_RESULTS = {
    "product": "C_{i, j}",
    "score": "S_{i, j}",
    "scaled_score": "T_{i, j}",
    "addition": "C_{i, j}",
    "subtraction": "C_{i, j}",
    "times": "C_{i, j}",
    "quotient": "C_{i, j}",
    "negation": "C_{i, j}",
    "transpose": "C_{i, j}",
    "exponential": "C_{i, j}",
    "logarithm": "C_{i, j}",
    "square_root": "C_{i, j}",
    "hyperbolic_tangent": "C_{i, j}",
    "normaliser": "Z_{i}",
    "softmax": "A_{i, j}",
    "softmax_jacobian": r"\frac{\partial A_{i, j}}{\partial S_{i, k}}",
    "causal": "T_{i, j}",
    "mask": "T_{i, j}",
    "concat": "C_{i, j}",
    "rowsum": "C_{i, 0}",
    "colsum": "C_{0, j}",
    "total": "C_{0, 0}",
}


def names() -> tuple[str, ...]:
    """The names of all definitions, results first, then gradients.

    >>> names()[0], names()[-1]
    ('product', 'total_gradient')
    """
    return (*_RESULTS, *gradients.FACTORS)


def definition(name: str) -> Callable[..., Scalar]:
    """The function that defines ``name``, one of :func:`names`.

    >>> definition("rowsum")([[1, 2]], 2, 0)
    3
    """
    found: Callable[..., Scalar]
    found = getattr(gradients, name) if name in gradients.FACTORS else globals()[name]
    return found


@cache
def formula(name: str) -> str:
    r"""The definition ``name`` as an equation in LaTeX's mathematics.

    The right-hand side is latexify's reading of the function that is run; in
    gradients, ``G`` is the gradient by the operation's result. Needs a Python
    below 3.14, as latexify does, and the source file.

    >>> formula("softmax")
    'A_{i, j} = \\frac{\\exp S_{i, j}}{Z_{i}}'
    """
    import latexify  # only sheets need it, and it is slow to load

    with warnings.catch_warnings():
        # latexify 0.4.4 still names nodes that newer Pythons call deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        right = latexify.get_latex(
            definition(name),
            identifiers={"inf": "infty"},
            use_math_symbols=True,
            use_signature=False,
        )
    left = _RESULTS.get(name) or rf"\frac{{\partial L}}{{\partial {gradients.FACTORS[name]}}}"
    return f"{left} = {right}"
