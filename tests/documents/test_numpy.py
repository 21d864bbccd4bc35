"""Python in articles means what NumPy makes of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from symattn.cases.article import case_of
from symattn.documents.binding import read
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
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), EXPRESSIONS, ids=[text for text, _ in EXPRESSIONS])
def test_an_expression_is_what_numpy_computes(text, expected):
    """What is read of an assignment has NumPy's value."""
    source = f"```python\n{GIVEN}result = {text}\n```\n"
    reading = read(article(Path("post.md"), source.encode()))
    assert "result" in reading.steps
    found = solve(case_of(reading))["result"].nearest("float64")
    np.testing.assert_allclose(np.asarray(found), expected(), rtol=1e-12, atol=1e-12)
