"""A step for every function, and what NumPy makes of it: the oracle of many tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

GIVEN: Mapping[str, Any] = {
    "A": [["1/2", 2, -1], ["3/4", "1/8", "-5/2"]],
    "C": [["1/4", "-3/2", 3], [1, "5/8", "7/4"]],
    "B": [[1, "-1/4"], [2, "1/2"], ["5/8", 3]],
    "F": [["1/2", -1, "3/4", 2], [1, "1/4", "-3/2", "1/8"], [2, "3/8", "1/2", -1]],
    "P": [["1/4", "1/2", "1/4"], ["1/8", "3/8", "1/2"]],
    "M": [[1, 0, 1], [0, 1, 1]],
    "t": [2, 0],
    "p": ["5/2", 0, 7],
    "v": [2, "-1/2"],
    "w": ["1/4", 3, "5/2"],
    "s": "7/4",
    "k": 2,
}


def arrays(given: Mapping[str, Any] = GIVEN) -> SimpleNamespace:
    """The given quantities as NumPy has them."""

    def number(raw: Any) -> float:
        above, _, below = str(raw).partition("/")
        return float(above) / float(below or 1)

    return SimpleNamespace(
        **{name: np.vectorize(number, otypes=[float])(raw) for name, raw in given.items()}
    )


erf = np.vectorize(math.erf, otypes=[float])


def softmax(x: Any, axis: int = -1) -> Any:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def logsumexp(x: Any, axis: Any) -> Any:
    return np.log(np.exp(x).sum(axis=axis, keepdims=x.ndim == 2 and axis is not None))


def with_sink(x: Any, sink: Any) -> Any:
    return np.exp(x) / (np.exp(x).sum(axis=-1, keepdims=True) + np.exp(sink))


def masked(x: Any, keep: Any) -> Any:
    return np.where(keep, x, -np.inf)


def layernorm(x: Any, gamma: Any, beta: Any, eps: Any) -> Any:
    mean, var = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(var + eps) * gamma + beta


def rmsnorm(x: Any, gamma: Any, eps: Any) -> Any:
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * gamma


def positions(n: int, d: int, base: Any = 10000.0) -> Any:
    table = np.zeros((n, d))
    for p in range(n):
        for column in range(d):
            angle = p / base ** (2 * (column // 2) / d)
            table[p, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return table


def rope(x: Any, p: Any, base: Any = 10000.0, interleaved: bool = True) -> Any:
    """As products of complex numbers."""
    x = np.atleast_2d(x)
    d = x.shape[1]
    turns = np.exp(1j * np.outer(p, np.asarray(base) ** (-2 * np.arange(d // 2) / d)))
    pairs = (slice(0, d, 2), slice(1, d, 2))
    real, imaginary = pairs if interleaved else (slice(0, d // 2), slice(d // 2, d))
    turned = (x[:, real] + 1j * x[:, imaginary]) * turns
    result = np.zeros(x.shape)
    result[:, real], result[:, imaginary] = turned.real, turned.imag
    return result


def additive(q: Any, k: Any, v: Any) -> Any:
    return np.tanh(q[:, None] + k[None]) @ v


def cross_entropy(logits: Any, targets: Any, smoothing: Any = 0.0) -> Any:
    logits = np.atleast_2d(logits)
    targets = (1 - smoothing) * targets + smoothing / logits.shape[1]
    return -(targets * np.log(softmax(logits))).sum(axis=1).mean()


def one_hot(ids: Any, n: int) -> Any:
    return np.eye(n)[np.asarray(ids, int)]


def heads(x: Any, h: int) -> list[Any]:
    return np.split(x, h, axis=1)


def attention_of_heads(g: Any) -> Any:
    parts = []
    for head, queries in enumerate(heads(g.F, 4)):
        keys = heads(g.F, 2)[head // 2]
        parts.append(softmax(queries @ np.ones((1, 2)) @ keys.T) @ keys)
    return np.concatenate(parts, axis=1)


Oracle = Callable[[Any], Any]
STEPS: Mapping[str, Oracle] = {
    # Entry by entry
    "sqrt(w)": lambda g: np.sqrt(g.w),
    "w ** 0.5": lambda g: np.sqrt(g.w),
    "A / w ** (1/2)": lambda g: g.A / np.sqrt(g.w),
    "s / k ** (1/2)": lambda g: g.s / np.sqrt(g.k),
    "A / sqrt(s)": lambda g: g.A / np.sqrt(g.s),
    "exp(A)": lambda g: np.exp(g.A),
    "log(w)": lambda g: np.log(g.w),
    "tanh(A)": lambda g: np.tanh(g.A),
    "sin(A)": lambda g: np.sin(g.A),
    "cos(A)": lambda g: np.cos(g.A),
    "erf(A)": lambda g: erf(g.A),
    "sigmoid(A)": lambda g: 1 / (1 + np.exp(-g.A)),
    "softplus(A)": lambda g: np.log1p(np.exp(g.A)),
    "silu(A)": lambda g: g.A / (1 + np.exp(-g.A)),
    "relu(A)": lambda g: np.maximum(g.A, 0),
    "abs(A)": lambda g: np.abs(g.A),
    "sign(A) * A": lambda g: np.abs(g.A),
    "gelu(A)": lambda g: g.A / 2 * (1 + erf(g.A / math.sqrt(2))),
    'gelu(A, approximate="tanh")': lambda g: (
        g.A / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (g.A + 0.044715 * g.A**3)))
    ),
    "gelu(s, approximate=none)": lambda g: g.s / 2 * (1 + erf(g.s / math.sqrt(2))),
    "maximum(A, C)": lambda g: np.maximum(g.A, g.C),
    "minimum(A, w)": lambda g: np.minimum(g.A, g.w),
    "maximum(A, 0.3)": lambda g: np.maximum(g.A, 0.3),
    "clip(A, -0.7, s)": lambda g: np.clip(g.A, -0.7, g.s),
    "clamp(A, C, 2.9)": lambda g: np.minimum(np.maximum(g.A, g.C), 2.9),
    "A ** 3": lambda g: g.A**3,
    "C ** -2": lambda g: g.C**-2,
    "A ** 0 + -s ** 2": lambda g: 1 - g.s**2 + 0 * g.A,
    "(A > C) * A": lambda g: (g.A > g.C) * g.A,
    "C * (A >= w)": lambda g: (g.w <= g.A) * g.C,
    "(A < s / 10) * C": lambda g: (g.s / 10 > g.A) * g.C,
    "(A <= s / 10) * C": lambda g: (g.s / 10 >= g.A) * g.C,
    "(A == 1/8) + (C != 5/8)": lambda g: 1.0 * (g.A == 0.125) + (g.C != 0.625),
    "where(M, A, C)": lambda g: np.where(g.M == 1, g.A, g.C),
    "where(A > w, s, C * C)": lambda g: np.where(g.w < g.A, g.s, g.C * g.C),
    "where(M, A, -inf)": lambda g: masked(g.A, g.M == 1),
    "pi * s": lambda g: math.pi * g.s,
    "-A / w + w * A - C": lambda g: -g.A / g.w + g.w * g.A - g.C,
    # Rows and columns
    "softmax(A)": lambda g: softmax(g.A),
    "softmax(A, axis=0)": lambda g: softmax(g.A, 0),
    "softmax(w, dim=-1)": lambda g: softmax(g.w),
    "softmax(A, sink=s)": lambda g: with_sink(g.A, g.s),
    "softmax(A, sink=B[0:2, 0:1])": lambda g: with_sink(g.A, g.B[0:2, 0:1]),
    "softmax(A, sink=v)": lambda g: with_sink(g.A, g.v[:, None]),
    "softmax(w, sink=-1)": lambda g: with_sink(g.w, -1.0),
    "softmax(where(M, A, -inf), sink=s)": lambda g: with_sink(masked(g.A, g.M == 1), g.s),
    "log_softmax(A)": lambda g: np.log(softmax(g.A)),
    "log_softmax(A, 0)": lambda g: np.log(softmax(g.A, 0)),
    "logsumexp(A)": lambda g: logsumexp(g.A, 1),
    "logsumexp(A, axis=0)": lambda g: logsumexp(g.A, 0),
    "logsumexp(A, axis=None)": lambda g: logsumexp(g.A, None),
    "logsumexp(w)": lambda g: logsumexp(g.w, 0),
    "sum(A)": lambda g: g.A.sum(),
    "sum(A, axis=1)": lambda g: g.A.sum(1, keepdims=True),
    "sum(A, axis=0, keepdims=True)": lambda g: g.A.sum(0, keepdims=True),
    "sum(w, axis=-1)": lambda g: g.w.sum(),
    "mean(A)": lambda g: g.A.mean(),
    "mean(A, axis=-1)": lambda g: g.A.mean(1, keepdims=True),
    "mean(A, dim=0, keepdim=True)": lambda g: g.A.mean(0, keepdims=True),
    "var(A)": lambda g: g.A.var(),
    "var(A, axis=1, ddof=1)": lambda g: g.A.var(1, keepdims=True, ddof=1),
    "std(A, axis=0, correction=1)": lambda g: g.A.std(0, keepdims=True, ddof=1),
    "rowsum(A)": lambda g: g.A.sum(1, keepdims=True),
    "colsum(A)": lambda g: g.A.sum(0, keepdims=True),
    "total(A)": lambda g: g.A.sum(),
    "rowmax(A)": lambda g: g.A.max(1, keepdims=True),
    "rowmin(A)": lambda g: g.A.min(1, keepdims=True),
    "max(A)": lambda g: g.A.max(),
    "max(A, axis=0)": lambda g: g.A.max(0, keepdims=True),
    "min(A, axis=1)": lambda g: g.A.min(1, keepdims=True),
    "min(w)": lambda g: g.w.min(),
    "cumsum(A)": lambda g: g.A.cumsum(1),
    "cumsum(A, axis=0)": lambda g: g.A.cumsum(0),
    "cumsum(w)": lambda g: g.w.cumsum(),
    "entropy(P)": lambda g: -(g.P * np.log(g.P)).sum(1, keepdims=True),
    "entropy(P, axis=0)": lambda g: -(g.P * np.log(g.P)).sum(0, keepdims=True),
    "layernorm(A, w, C[0], eps=1e-5)": lambda g: layernorm(g.A, g.w, g.C[0], 1e-5),
    "layernorm(A, eps=s)": lambda g: layernorm(g.A, 1, 0, g.s),
    "layernorm(w, s, beta=0.5, eps=0)": lambda g: layernorm(g.w, g.s, 0.5, 0),
    "rmsnorm(A, w, eps=s)": lambda g: rmsnorm(g.A, g.w, g.s),
    "rmsnorm(A, eps=1e-6)": lambda g: rmsnorm(g.A, 1, 1e-6),
    "l2norm(A)": lambda g: g.A / np.sqrt((g.A**2).sum(1, keepdims=True)),
    "norm(A)": lambda g: np.sqrt((g.A**2).sum()),
    "norm(A, axis=1)": lambda g: np.sqrt((g.A**2).sum(1, keepdims=True)),
    "norm(w)": lambda g: np.sqrt((g.w**2).sum()),
    # Shapes
    "concat(A, C)": lambda g: np.concatenate([g.A, g.C], axis=1),
    "concat(A, w, C, axis=0)": lambda g: np.concatenate([g.A, g.w[None], g.C], axis=0),
    "concat(v, w, axis=-1)": lambda g: np.concatenate([g.v, g.w]),
    "stack(w, A[0], w)": lambda g: np.stack([g.w, g.A[0], g.w]),
    "reshape(A, 3, 2)": lambda g: g.A.reshape(3, 2),
    "reshape(A, rows(A) * cols(A))": lambda g: g.A.reshape(6),
    "reshape(w, 3, 1)": lambda g: g.w.reshape(3, 1),
    "outer(v, w)": lambda g: np.outer(g.v, g.w),
    "diag(w)": lambda g: np.diag(g.w),
    "diag(A)": lambda g: np.diag(g.A),
    "repeat(A, 2)": lambda g: np.repeat(g.A, 2, axis=0),
    "repeat(A, k, axis=1)": lambda g: np.repeat(g.A, 2, axis=1),
    "repeat(w, 3)": lambda g: np.repeat(g.w, 3),
    "eye(3) @ B": lambda g: g.B,
    "eye(cols(A))": lambda g: np.eye(3),
    "zeros(2, 3) + ones(3) * s": lambda g: np.full((2, 3), g.s),
    "onehot(t, 4)": lambda g: one_hot(g.t, 4),
    "onehot(k, 3)": lambda g: one_hot(2, 3),
    "embedding(t, B)": lambda g: g.B[[2, 0]],
    "embedding([1, 1, 0], B * B)": lambda g: (g.B * g.B)[[1, 1, 0]],
    "positions(3, 4)": lambda g: positions(3, 4),
    "positions(rows(B), 5, base=s * 100)": lambda g: positions(3, 5, g.s * 100),
    # Attention
    "head(A.T, 1, 2)": lambda g: g.A.T[:, 1:],
    "causal(A)": lambda g: masked(g.A, np.tri(2, 3)),
    'causal(A, align="bottom-right")': lambda g: masked(g.A, np.tri(2, 3, 1)),
    "causal(B, align='bottom-right')[1:]": lambda g: masked(g.B, np.tri(3, 2, -1))[1:],
    'causal(A, align="top-left")': lambda g: masked(g.A, np.tri(2, 3)),
    "mask(A, M)": lambda g: masked(g.A, g.M),
    "mask(A, A > -2)": lambda g: masked(g.A, g.A > -2),
    "window(B @ A, 1, 0)": lambda g: masked(g.B @ g.A, np.tri(3) - np.tri(3, 3, -2)),
    "padding(A, k)": lambda g: masked(g.A, np.arange(3) < 2),
    "padding(w, 1)": lambda g: masked(g.w, np.arange(3) < 1),
    "alibi(A, s)": lambda g: g.A - g.s * np.abs(np.subtract.outer(np.arange(2), np.arange(3))),
    "rope(F)": lambda g: rope(g.F, np.arange(3)),
    "rope(F, positions=p, base=s * 50)": lambda g: rope(g.F, g.p, g.s * 50),
    "rope(F, [1, 5, 2], interleaved=False)": lambda g: rope(g.F, [1, 5, 2], interleaved=False),
    "rope(F, p, s * 50, interleaved=False)": lambda g: rope(g.F, g.p, g.s * 50, False),
    "rope(F[0], 3)": lambda g: rope(g.F[0], [3])[0],
    "softcap(A, s)": lambda g: g.s * np.tanh(g.A / g.s),
    "additive(A, C, w)": lambda g: additive(g.A, g.C, g.w),
    # Losses
    "cross_entropy(A, t)": lambda g: cross_entropy(g.A, one_hot(g.t, 3)),
    "cross_entropy(A, P)": lambda g: cross_entropy(g.A, g.P),
    "cross_entropy(w, 2)": lambda g: cross_entropy(g.w, one_hot([2], 3)),
    "cross_entropy(w, P[0])": lambda g: cross_entropy(g.w, g.P[0]),
    "cross_entropy(A, t, label_smoothing=s / 10)": lambda g: cross_entropy(
        g.A, one_hot(g.t, 3), g.s / 10
    ),
    "cross_entropy(A, P, label_smoothing=0.1)": lambda g: cross_entropy(g.A, g.P, 0.1),
    "nll(log_softmax(A), t)": lambda g: cross_entropy(g.A, one_hot(g.t, 3)),
    "nll(A, t)": lambda g: -(g.A[0, 2] + g.A[1, 0]) / 2,
    "binary_cross_entropy(P, sigmoid(A))": lambda g: (
        -(np.log(g.P) / (1 + np.exp(-g.A)) + np.log(1 - g.P) / (1 + np.exp(g.A))).mean()
    ),
    "mse(A, C)": lambda g: ((g.A - g.C) ** 2).mean(),
    # Heads
    "merge(heads(F, 2))": lambda g: g.F,
    "merge(softmax(heads(F, 4) @ [[1, 1]] @ heads(F, 2).T) @ heads(F, 2))": attention_of_heads,
}
"""Texts of steps, with the oracle of each."""
