"""Attention in NumPy, and derivatives by complex steps: the check from outside.

Nothing here knows of the index language. A complex step differentiates a
real-analytic function without subtracting: ``f'(x) = Im f(x + i h) / h`` with h
so small that its square vanishes (W. Squire, G. Trapp, SIAM Review 40, 1998).

>>> import numpy as np
>>> gradient(lambda x: np.sum(x**3), np.array([1.0, 2.0])).tolist()
[3.0, 12.0]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Real: TypeAlias = NDArray[np.float64]

STEP = 1e-30


def softmax(scores: NDArray[Any]) -> NDArray[Any]:
    """Softmax along the last axis, for real or complex scores; -inf gives weight 0."""
    powers = np.exp(scores - np.max(scores.real, axis=-1, keepdims=True))
    found: NDArray[Any] = powers / powers.sum(axis=-1, keepdims=True)
    return found


def attention(q: NDArray[Any], k: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """softmax(q k^T / sqrt(d_k)) v for q (n_q, d_k), k (n_k, d_k), v (n_k, d_v)."""
    found: NDArray[Any] = softmax(q @ k.T / np.sqrt(q.shape[1])) @ v
    return found


def jacobian(function: Callable[[NDArray[Any]], NDArray[Any]], at: Real) -> Real:
    """All derivatives of a function's values: the shape of its value, then that of ``at``.

    >>> jacobian(lambda x: x * x, np.array([1.0, 2.0])).tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """
    columns = []
    for place in np.ndindex(at.shape):
        moved = at.astype(complex)
        moved[place] += 1j * STEP
        columns.append(np.asarray(function(moved)).imag / STEP)
    found = np.stack(columns, axis=-1)
    return found.reshape((*found.shape[:-1], *at.shape))


def gradient(function: Callable[[NDArray[Any]], Any], at: Real) -> Real:
    """The derivatives of a single number, in the shape of ``at``."""
    return jacobian(lambda x: np.asarray(function(x)), at)
