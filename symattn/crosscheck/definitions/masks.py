"""Scores that a query does not see."""

from __future__ import annotations

from math import inf

from symattn.crosscheck.definitions.kinds import Mask, Matrix, Rules, Scalar


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


def causal_last_gradient(G: Matrix, n: int, m: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dS`` for ``causal(S, align="bottom-right")``."""
    return G[i][j] if j <= i + m - n else 0


def window(S: Matrix, a: int, b: int, i: int, j: int) -> Scalar:
    """Entry of the scores where a query sees the keys from a before it to b after it."""
    return S[i][j] if i - a <= j <= i + b else -inf


def window_gradient(G: Matrix, a: int, b: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dS`` for ``window(S, a, b)``."""
    return G[i][j] if i - a <= j <= i + b else 0


def padding(S: Matrix, a: int, i: int, j: int) -> Scalar:
    """Entry of the scores of the first a keys; the others are padding."""
    return S[i][j] if j < a else -inf


def padding_gradient(G: Matrix, a: int, i: int, j: int) -> Scalar:
    """Entry of ``dL/dS`` for ``padding(S, a)``."""
    return G[i][j] if j < a else 0


RULES: Rules = {
    "causal": ("T", ("causal_gradient",)),
    "causal_last": ("T", ("causal_last_gradient",)),
    "mask": ("T", ("mask_gradient", None)),
    "window": ("T", ("window_gradient",)),
    "padding": ("T", ("padding_gradient",)),
}
