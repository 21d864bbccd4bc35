"""A long article as somebody writes it who leaves nothing out: six words, every entry worked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

WORDS = ("rain", "falls", "softly", "on", "old", "roofs")
X = np.array(
    [[1, 0, 2, 0], [0, 1, 1, -1], [1, 1, 0, 0.5], [0, 2, 0, 1], [2, 0, -1, 0], [1, -1, 0.5, 1]]
)
W_Q = np.array([[0.5, 0, 1], [0, 1, -0.5], [0.5, -0.5, 0], [1, 0.5, 0]])
W_K = np.array([[0, 1, 0.5], [1, 0.5, 0], [0, -0.5, 1], [0.5, 0, -1]])
W_V = np.array([[0.5, 1], [1, 0], [0, 0.5], [-1, 0.5]])
UPSTREAM = np.array([[1, 0], [0, -1], [0.5, 0.5], [0, 1], [-1, 0], [0.25, 1]])


def number(x: float) -> str:
    """A factor as it stands in a sum."""
    return f"({x:.4g})" if x < 0 else f"{x:.4g}"


def printed(x: float, places: int) -> str:
    """A rounded figure; there is no negative zero."""
    return f"{x + 0.0:.{places}f}".replace("-0." + "0" * places, "0." + "0" * places)


def matrix(table: Any, places: int) -> str:
    """A matrix over several lines."""
    rows = " \\\\\n".join(" & ".join(printed(x, places) for x in row) for row in table)
    return f"\\begin{{bmatrix}}\n{rows}\n\\end{{bmatrix}}"


def vector(row: Any, places: int) -> str:
    """A row in a line of text."""
    return "[" + ", ".join(printed(x, places) for x in row) + "]"


def product(a: Any, b: Any) -> str:
    """A sum of products of numbers."""
    terms = zip(a, b, strict=True)
    return " + ".join(f"{number(x)} \\cdot {number(y)}" for x, y in terms)


def softmax(scores: Any) -> Any:
    """The weights of rows of scores."""
    powers = np.exp(scores)
    return powers / powers.sum(axis=1, keepdims=True)


def post() -> str:
    """The article, of some 500 lines; every figure is rounded from NumPy's."""
    return "\n".join([*_inputs(), *_scores(), *_weights(), *_masked(), *_backwards(), *_checked()])


def _inputs() -> Iterator[str]:
    yield "# Attention for people who like to see every number"
    yield ""
    yield "*Posted 4 May 2023, 25 minutes.* Most posts show one row and say that the others go the"
    yield "same way. They do, but I have never believed it before I saw them, so here all of them"
    yield f'are. The sentence is "{" ".join(WORDS)}". Each word gets four numbers (GPT-2 uses 768):'
    yield ""
    for i, word in enumerate(WORDS):
        yield f"- {word}: $x_{i + 1} = {vector(X[i], 1)}$"
    yield ""
    yield "As a matrix, one word per row:"
    yield f"\n$$\nX = {matrix(X, 1)}\n$$\n"
    yield "Three more matrices turn words into queries, keys and values. They are learned in a real"
    yield "model, over some 300,000 steps; mine are made up."
    for letter, weights in (("Q", W_Q), ("K", W_K), ("V", W_V)):
        yield f"\n$$\nW_{letter} = {matrix(weights, 1)}\n$$"
    yield ""
    said = {"Q": "queries", "K": "keys", "V": "values"}
    for letter, weights in (("Q", W_Q), ("K", W_K), ("V", W_V)):
        small = letter.lower()
        yield f"## The {said[letter]}\n"
        for i, word in enumerate(WORDS):
            worked = ", ".join(product(X[i], column) for column in weights.T)
            yield f'For "{word}":'
            yield f"${small}_{i + 1} = x_{i + 1} W_{letter} = [{worked}]"
            yield f"= {vector(X[i] @ weights, 3)}$.\n"
        yield f"$$\n{letter} = X W_{letter} = {matrix(X @ weights, 3)}\n$$\n"


def _scores() -> Iterator[str]:
    queries, keys = X @ W_Q, X @ W_K
    scores = queries @ keys.T
    yield "## The scores\n"
    yield "How well does a query fit a key? That is their dot product, and there are 36 of them."
    for i, word in enumerate(WORDS):
        yield f'\n### The row of "{word}"\n'
        for j in range(len(WORDS)):
            worked = product(queries[i], keys[j])
            yield f"- $s_{{{i + 1}{j + 1}}} = {worked} = {printed(scores[i, j], 4)}$"
    yield f"\n$$\nS = Q K^\\top = {matrix(scores, 4)}\n$$\n"
    yield "A key has $d_k = 3$ entries, so all scores are divided by $\\sqrt{3} \\approx 1.732$:"
    yield f"\n$$\nT = \\frac{{S}}{{\\sqrt{{d_k}}}} = {matrix(scores / 3**0.5, 4)}\n$$\n"


def _weights() -> Iterator[str]:
    scaled = X @ W_Q @ (X @ W_K).T / 3**0.5
    values = X @ W_V
    weights = softmax(scaled)
    yield "## The weights\n"
    yield "Each row is exponentiated and divided by its sum. Nothing else happens in a softmax."
    for i, word in enumerate(WORDS):
        powers = np.exp(np.round(scaled[i], 4))
        yield f'\n### The weights of "{word}"\n'
        for x, power in zip(scaled[i], powers, strict=True):
            yield f"- $e^{{{printed(x, 4)}}} \\approx {power:.4f}$"
        added = " + ".join(f"{power:.4f}" for power in powers)
        total = sum(np.round(powers, 4))
        yield f"\nThe sum is ${added} = {total:.4f}$, and so"
        yield f"$A_{{{i + 1}1}} = {powers[0]:.4f} / {total:.4f} \\approx {weights[i, 0]:.4f}$."
        most = int(np.argmax(weights[i]))
        yield f'Most of it, {100 * weights[i, most]:.1f}%, goes to "{WORDS[most]}".'
    yield f"\n$$\nA = \\text{{softmax}}(T) \\approx {matrix(weights, 4)}\n$$\n"
    yield "## The output\n"
    yield "The values are mixed with the weights, one word after the other."
    for i, word in enumerate(WORDS):
        rounded = np.round(weights[i], 4)
        yield f'\nFor "{word}":\n'
        for j in range(2):
            entry = printed(rounded @ values[:, j], 4)
            yield f"- $Y_{{{i + 1}{j + 1}}} = {product(rounded, values[:, j])} \\approx {entry}$"
    yield f"\n$$\nY = A V \\approx {matrix(weights @ values, 4)}\n$$\n"


def _masked() -> Iterator[str]:
    scaled = X @ W_Q @ (X @ W_K).T / 3**0.5
    masked = np.where(np.tri(len(X)) > 0, scaled, -np.inf)
    weights = softmax(masked)
    yield "## Without looking ahead\n"
    yield "A decoder may not see what comes later. Its scores there are $-\\infty$, and the weights"
    yield "of what is left are larger than before:"
    yield f"\n$$\nM = \\text{{softmax}}(\\text{{causal}}(T)) \\approx {matrix(weights, 4)}\n$$\n"
    yield f"$$\nN = M V \\approx {matrix(weights @ X @ W_V, 4)}\n$$\n"
    yield 'The first row is the value of "rain" alone, which is a good test of your own code.\n'


def _backwards() -> Iterator[str]:
    queries, keys, values = X @ W_Q, X @ W_K, X @ W_V
    weights = softmax(queries @ keys.T / 3**0.5)
    to_weights = UPSTREAM @ values.T
    to_scaled = weights * (to_weights - (weights * to_weights).sum(axis=1, keepdims=True))
    partial = "\\frac{\\partial L}{\\partial %s}"
    yield "## Backwards\n"
    yield "Somebody gives us the derivative of the loss by the output of the first head:"
    yield f"\n$$\n{partial % 'Y'} = {matrix(UPSTREAM, 2)}\n$$\n"
    yield "and the chain rule does the rest, from the output to the values and the queries:\n"
    for name, worked, found in (
        ("V", f"A^\\top {partial % 'Y'}", weights.T @ UPSTREAM),
        ("A", f"{partial % 'Y'} V^\\top", to_weights),
        ("T", "", to_scaled),
        ("Q", f"\\frac{{1}}{{\\sqrt{{3}}}} {partial % 'T'} K", to_scaled @ keys / 3**0.5),
        ("K", "", to_scaled.T @ queries / 3**0.5),
    ):
        middle = f" = {worked}" if worked else ""
        yield f"$$\n{partial % name}{middle} \\approx {matrix(found, 4)}\n$$\n"


def _checked() -> Iterator[str]:
    weights = softmax(X @ W_Q @ (X @ W_K).T / 3**0.5)
    yield "## The same in NumPy\n"
    yield "```python\nimport numpy as np\n"
    for name, table in (("X", X), ("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V)):
        yield f"{name} = np.array({table.tolist()})"
    yield "Q, K, V = X @ W_Q, X @ W_K, X @ W_V"
    yield "T = Q @ K.T / np.sqrt(3)"
    yield "A = np.exp(T) / np.exp(T).sum(axis=1, keepdims=True)"
    yield "print(np.round(A, 4))\nprint(np.round(A @ V, 4))\n```\n\nwhich prints\n"
    yield f"```\n{np.round(weights, 4)}\n{np.round(weights @ X @ W_V, 4)}\n```\n"
    yield "If your numbers differ in the last place, you rounded on the way. So did I, in 2021.\n"
