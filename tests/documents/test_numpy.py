"""Python in articles means what NumPy makes of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from symattn.cases.article import case_of
from symattn.documents.binding.binder import read
from symattn.documents.files import article
from symattn.solution.solution import solve

X = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]])
K = np.array([[1.0, 1.0, 0.0], [2.0, 0.0, 1.0]])
GIVEN = """import numpy as np
X = np.array([[1, 2, 0.5], [0, -1, 3]])
K = np.array([[1, 1, 0], [2, 0, 1]])
"""


def softmax(x, axis=-1):
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


EXPRESSIONS: list[tuple[str, Callable[[], object]]] = [
    ("X @ K.T", lambda: X @ K.T),
    ("np.dot(X, K.T)", lambda: X @ K.T),
    ("np.matmul(X, np.transpose(K))", lambda: X @ K.T),
    ("X.dot(K.transpose())", lambda: X @ K.T),
    ("np.einsum('id,jd->ij', X, K)", lambda: np.einsum("id,jd->ij", X, K)),
    ("X * K", lambda: X * K),
    ("np.multiply(X, K)", lambda: X * K),
    ("X / np.sqrt(4)", lambda: X / 2),
    ("X / 4 ** 0.5", lambda: X / 2),
    ("X / math.sqrt(K.shape[-1])", lambda: X / np.sqrt(3)),
    ("X / np.sqrt(X.shape[1])", lambda: X / np.sqrt(3)),
    ("X ** 2", lambda: X**2),
    ("np.square(X)", lambda: X**2),
    ("np.exp(X)", lambda: np.exp(X)),
    ("np.tanh(X)", lambda: np.tanh(X)),
    ("np.log1p(np.exp(X)) + np.expm1(X)", lambda: np.log1p(np.exp(X)) + np.expm1(X)),
    ("np.exp(X) / np.exp(X).sum(axis=1, keepdims=True)", lambda: softmax(X)),
    ("np.exp(X) / np.sum(np.exp(X), axis=-1, keepdims=True)", lambda: softmax(X)),
    ("scipy.special.softmax(X, axis=-1)", lambda: softmax(X)),
    ("F.softmax(X, dim=-1)", lambda: softmax(X)),
    ("torch.softmax(X @ K.T, dim=1)", lambda: softmax(X @ K.T)),
    ("softmax(X.T, axis=0).T", lambda: softmax(X)),
    ("X.sum(axis=1, keepdims=True)", lambda: X.sum(axis=1, keepdims=True)),
    ("np.sum(X, axis=0, keepdims=True)", lambda: X.sum(axis=0, keepdims=True)),
    ("X.sum()", lambda: X.sum()),
    ("X[0]", lambda: X[0]),
    ("X[1, 2]", lambda: X[1, 2]),
    ("X[:, 0:2]", lambda: X[:, 0:2]),
    ("X[0] @ K[1]", lambda: X[0] @ K[1]),
    ("-X + 2 * K", lambda: -X + 2 * K),
    ("X @ np.eye(3)", lambda: X),
    ("X @ (np.eye(3) * 0.5)", lambda: X * 0.5),
    ("X + np.ones((2, 3))", lambda: X + 1),
    ("X - np.zeros((2, 3))", lambda: X),
    ("X @ np.diag([1, 2, 3])", lambda: X @ np.diag([1, 2, 3])),
    ("np.concatenate([X, K], axis=1)", lambda: np.concatenate([X, K], axis=1)),
    ("np.hstack((X, K))", lambda: np.hstack((X, K))),
    ("softmax(np.where(np.tril(np.ones((2, 2))) == 1, X @ K.T, -np.inf))",
     lambda: softmax(np.where(np.tril(np.ones((2, 2))) == 1, X @ K.T, -np.inf))),
    ("softmax((X @ K.T).masked_fill(torch.triu(torch.ones(2, 2), diagonal=1) == 1, -np.inf))",
     lambda: softmax(np.where(np.tril(np.ones((2, 2))) == 1, X @ K.T, -np.inf))),
    ("softmax(X @ K.T / np.sqrt(3)) @ K", lambda: softmax(X @ K.T / np.sqrt(3)) @ K),
    ("np.log(np.exp(X))", lambda: X),
    ("X.astype(float) if False else X @ K.T", lambda: X @ K.T),
    ("np.mean(X, axis=1, keepdims=True)", lambda: X.mean(axis=1, keepdims=True)),
    ("X.mean(axis=0, keepdims=True)", lambda: X.mean(axis=0, keepdims=True)),
    ("X.mean()", lambda: X.mean()),
    ("np.power(X, 2)", lambda: X**2),
    ("X ** 3", lambda: X**3),
    ("np.power(np.exp(X), 0.5)", lambda: np.exp(X) ** 0.5),
    ("X * torch.rsqrt(torch.tensor(3.0))", lambda: X / np.sqrt(3)),
    ("np.add(X, K)", lambda: X + K),
    ("np.subtract(X, K)", lambda: X - K),
    ("torch.div(X, 2)", lambda: X / 2),
    ("np.divide(X @ K.T, np.sqrt(K.shape[1]))", lambda: X @ K.T / np.sqrt(3)),
    ("torch.mm(X, K.t())", lambda: X @ K.T),
    ("torch.matmul(X, K.transpose(-2, -1))", lambda: X @ K.T),
    ("torch.matmul(X, K.permute(1, 0))", lambda: X @ K.T),
    ("np.einsum('ij,jk->ik', X, K.T)", lambda: X @ K.T),
    ("torch.cat((X, K), dim=-1)", lambda: np.concatenate([X, K], axis=-1)),
    ("len(X) * X", lambda: 2 * X),
    ("X / X.size(-1)", lambda: X / 3),
    ("X * np.shape(K)[1]", lambda: X * 3),
    ("nn.Softmax(dim=-1)(X)", lambda: softmax(X)),
    ("F.log_softmax(X, dim=-1)", lambda: np.log(softmax(X))),
    ("F.scaled_dot_product_attention(X, K, K)",
     lambda: softmax(X @ K.T / np.sqrt(3)) @ K),
    ("np.full((2, 3), 2.0) * X", lambda: 2 * X),
    ("np.ones_like(X) + X", lambda: X + 1),
    ("np.zeros_like(X) + X", lambda: X),
    ("X @ np.identity(3)", lambda: X),
    ("(X @ K.T) * np.tril(np.ones((2, 2)))", lambda: (X @ K.T) * np.tril(np.ones((2, 2)))),
    ("(X @ K.T) + np.triu(np.ones((2, 2)), k=1)",
     lambda: (X @ K.T) + np.triu(np.ones((2, 2)), k=1)),
    ("np.exp(X - X.max(axis=-1, keepdims=True))"
     " / np.exp(X - X.max(axis=-1, keepdims=True)).sum(-1, keepdims=True)", lambda: softmax(X)),
    ("np.array(X).astype(np.float64).copy() @ K.T", lambda: X @ K.T),
    ("np.array([[1, 2], [3, 4]]) @ X", lambda: np.array([[1, 2], [3, 4]]) @ X),
    ("X[-1]", lambda: X[-1]),
    ("X[:1] @ K.T", lambda: X[:1] @ K.T),
    ("+X - -K", lambda: X + K),
    ("scipy.special.softmax(X)", lambda: np.exp(X) / np.exp(X).sum()),
    ("np.exp(X) / np.exp(X).sum(axis=0, keepdims=True)", lambda: softmax(X, axis=0)),
    ("X / (np.sqrt(np.sum(np.square(X))))", lambda: X / np.sqrt(np.sum(X**2))),
]  # fmt: skip


@pytest.mark.sampled(32)
@pytest.mark.parametrize(("text", "expected"), EXPRESSIONS, ids=[text for text, _ in EXPRESSIONS])
def test_an_expression_is_what_numpy_computes(text, expected):
    """What is read of an assignment has NumPy's value."""
    source = f"```python\n{GIVEN}result = {text}\n```\n"
    reading = read(article(Path("post.md"), source.encode()))
    assert "result" in reading.steps
    found = solve(case_of(reading))["result"].nearest("float64")
    np.testing.assert_allclose(np.asarray(found), expected(), rtol=1e-12, atol=1e-12)


PROGRAMS: list[tuple[str, object]] = [
    ("def softmax(x):\n    e = np.exp(x - np.max(x, axis=-1, keepdims=True))\n"
     "    return e / e.sum(axis=-1, keepdims=True)\n"
     "def attention(q, k, v):\n    scores = q @ k.T / np.sqrt(k.shape[-1])\n"
     "    weights = softmax(scores)\n    return weights @ v, weights\n"
     "result, weights = attention(X, K, K)\n", softmax(X @ K.T / np.sqrt(3)) @ K),
    ("scores = np.zeros((2, 2))\nfor i in range(2):\n    for j in range(2):\n"
     "        scores[i, j] = np.dot(X[i], K[j])\nresult = softmax(scores)\n", softmax(X @ K.T)),
    ("rows = [softmax(row) for row in X]\nresult = np.stack(rows)\n", softmax(X)),
    ("result = X @ K.T\nresult = result / np.sqrt(3)\n", X @ K.T / np.sqrt(3)),
    ("result = X @ K.T\nresult /= np.sqrt(3)\n", X @ K.T / np.sqrt(3)),
    ("result = X.copy()\nresult += K\n", X + K),
    ("q = k = X\nresult = q @ k.T\n", X @ X.T),
    ("q, k = X * 2, K\nresult = q @ k.T\n", 2 * X @ K.T),
    ("scale = K.shape[1] ** -0.5\nresult = X @ K.T * scale\n", X @ K.T / np.sqrt(3)),
    ("n, d = X.shape\nresult = X @ K.T / np.sqrt(d)\n", X @ K.T / np.sqrt(3)),
    ("scores = X @ K.T\nmask = np.triu(np.ones((2, 2)), k=1).astype(bool)\n"
     "scores[mask] = -np.inf\nresult = softmax(scores)\n",
     softmax(np.where(np.tril(np.ones((2, 2))) == 1, X @ K.T, -np.inf))),
    ("with torch.no_grad():\n    result = X @ K.T\n", X @ K.T),
    ("if True:\n    result = X @ K.T\nelse:\n    result = X\n", X @ K.T),
    ("half = lambda x: x / 2\nresult = half(X)\n", X / 2),
    ("def mish(x):\n    return x * np.tanh(np.log1p(np.exp(x)))\nresult = mish(X @ K.T)\n",
     X @ K.T * np.tanh(np.log1p(np.exp(X @ K.T)))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"), PROGRAMS, ids=[text.split("\n")[0] for text, _ in PROGRAMS]
)
def test_a_program_is_what_numpy_computes(text, expected):
    """What is read of functions, loops and changes in place has NumPy's value."""
    reading = read(article(Path("post.md"), f"```python\n{GIVEN}{text}```\n".encode()))
    names = [name for name in reading.steps if name.startswith("result")]
    assert names
    found = solve(case_of(reading))[names[-1]].nearest("float64")
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12, atol=1e-12)
