"""Advice on what can't be read: other words for the mathematics, NumPy or PyTorch that authors
paste, and a file for those who have none."""

from __future__ import annotations

import re
from collections.abc import Mapping

#: How to get a case file.
MAKE_ONE = "'symattn new FILE.toml' writes one to start from"

_TRANSPOSE = "the transpose is written X.T"
_POWER = "a power is written X**2"
_PRODUCT = "the matrix product is written '@'"

#: Signs that are not read.
_SIGNS: Mapping[str, str] = {
    **dict.fromkeys("'’′ᵀ⊤ᵗ", _TRANSPOSE),
    **dict.fromkeys("^²³⁻¹½", _POWER),
    **dict.fromkeys("⊙∘⋅∙•∗⊗", "entry by entry it is '*', the matrix product is '@'"),
    **dict.fromkeys("≤⩽", "write '<='"),
    **dict.fromkeys("≥⩾", "write '>='"),
    **dict.fromkeys("≈≠≃", "state what holds with == != < <= > >=; figures go under 'printed'"),
    "√": "write sqrt(...)",
    "Σ": "write rowsum, colsum or total",
    "∑": "write rowsum, colsum or total",
    "=": "two sides are compared with '=='",
    "&": "statements are joined by 'and'",
    "%": "write a fraction, as in 0.5",
    "{": "brackets are round: ( and )",
    "\\": "LaTeX is not read here: write sqrt(d_k), Q @ K.T, softmax(S)",
    "$": "LaTeX is not read here: write sqrt(d_k), Q @ K.T, softmax(S)",
}

#: Functions and attributes that have another name here.
_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("transpose", "t", "mT", "H", "permute", "swapaxes"), _TRANSPOSE),
    **dict.fromkeys(("matmul", "dot", "mm", "bmm", "einsum"), _PRODUCT),
    **dict.fromkeys(("pow", "power", "square"), _POWER),
    **dict.fromkeys(
        ("len", "shape", "size"),
        "write rows(X) or cols(X); statements have shape(X) == (3, 4)",
    ),
    "average": "write mean(X), mean(X, axis=1) for the rows",
    **dict.fromkeys(("tril", "triu", "masked_fill"), "write causal(S) or mask(S, M), 1 keeps"),
    **dict.fromkeys(("hstack", "cat", "concatenate"), "write concat(A, B), with axis=0 below"),
    "swish": "write silu(X)",
    **dict.fromkeys(("amax", "amin"), "write max(X, axis=1) or min(X, axis=1)"),
    **dict.fromkeys(("layer_norm", "LayerNorm"), "write layernorm(X, gamma, beta, eps=1e-5)"),
    **dict.fromkeys(("rms_norm", "RMSNorm"), "write rmsnorm(X, gamma, eps=1e-5)"),
    **dict.fromkeys(("one_hot", "onehot_encode"), "write onehot(ids, n)"),
    "identity": "write eye(n)",
    "vstack": "write concat(A, B, axis=0), or stack(a, b) of vectors",
    "argmax": "only statements have it, under 'holds'",
    **dict.fromkeys(("flatten", "ravel"), "write reshape(X, n) with the number of entries"),
    "view": "write reshape(X, rows, columns)",
    **dict.fromkeys(("repeat_interleave", "tile"), "write repeat(X, times, axis=0)"),
    **dict.fromkeys(
        ("binary_cross_entropy_with_logits",), "write binary_cross_entropy(sigmoid(X), T)"
    ),
    "nll_loss": "write nll(X, T)",
    "mse_loss": "write mse(X, T)",
    "normalize": "write l2norm(X): rows by their lengths",
    "logistic": "write sigmoid(X)",
    "hardtanh": "write clip(X, -1, 1)",
    "ln": "write log(X)",
    "multiply": "write '*'",
    "divide": "write '/'",
}
_MODULES = frozenset(
    ("np", "numpy", "torch", "math", "sp", "sympy", "scipy", "jnp", "jax", "F", "nn", "tf", "mx")
)


def of_sign(text: str, place: int, powers: bool = False) -> str:
    """Return what to write instead of the sign at ``place``; '' where nothing is known.
    ``powers`` tells whether there is an operator for them.

    >>> of_sign("X^T", 1), of_sign("X^2", 1)
    ('the transpose is written X.T', 'a power is written X**2')
    """
    sign = text[place]
    after = text[place + 1 :].lstrip(" {(\\")
    if sign == "^" and re.match(r"(?:(?:T|t|top|intercal|prime)\b|[⊤ᵀ′])", after):
        return _TRANSPOSE
    if sign.isalpha() and sign not in _SIGNS:
        return "names have the letters A to Z, a to z, digits and _: spell it out"
    advice = _SIGNS.get(sign, "")
    return "a power is written '**', as in x**2" if powers and advice == _POWER else advice


def of_word(name: str) -> str:
    """Return what to write instead of a function or an attribute; '' where nothing is known.

    >>> of_word("ln")
    'write log(X)'
    """
    return _WORDS.get(name, "")


def of_attribute(operand: str, dotted: str) -> str:
    """Return what to write instead of ``operand.dotted``, with ``operand`` '' where it has no name.

    >>> of_attribute("np", "sqrt"), of_attribute("X", "exp")
    ("write sqrt(...), without 'np.'", 'write exp(X)')
    """
    *between, last = dotted.split(".")
    if advice := of_word(last):
        return advice
    if operand in _MODULES:
        return f"write {last}(...), without {'.'.join([operand, *between]) + '.'!r}"
    return f"write {last}({operand or 'X'})"


def of_neighbours(left: str, right: str) -> str:
    """Return what to write between two values that stand side by side.

    >>> of_neighbours("Q", "K")
    "write 'Q @ K' for the matrix product, 'Q * K' entry by entry"
    """
    if left.isidentifier() and right.isidentifier():
        return f"write '{left} @ {right}' for the matrix product, '{left} * {right}' entry by entry"
    return "between two values stands a sign: '@' for the matrix product, '*' entry by entry"
