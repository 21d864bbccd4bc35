"""Names of definitions are replaced wherever a tree has names, and nothing else is."""

from __future__ import annotations

import pytest

from symattn import syntax

TREES = [
    "Q @ K.T / sqrt(d)", "x == y < z",
    "-X + exp(b)", "X[0, 1] * V[:, 1]", "[[a, 1], [2, b]] @ X",
    "grad(Q) + 1", "S[i, j]", "softmax(mask(S, M), axis=0)",
    "gelu(X, approximate='tanh')", "norm(X, eps=b)",
]  # fmt: skip


@pytest.mark.parametrize("text", TREES)
def test_names_are_replaced_and_nothing_else(text):
    """Names by themselves give the tree again; each other name is found once replaced."""
    tree = syntax.parse(text, letters="[i, j]" in text)
    assert syntax.renamed(tree, syntax.Name) == tree
    longer = syntax.renamed(tree, lambda name: syntax.Name(f"{name}_new"))
    kept = {"i", "j"} if "[i, j]" in text else {"dL/dQ"} if "grad" in text else set()
    assert set(syntax.names(longer)) == {
        name if name in kept else f"{name}_new" for name in syntax.names(tree)
    }


def test_powers_and_sequences_are_renamed_too():
    """What only articles write has names as well."""
    x, y = syntax.Name("x"), syntax.Name("y")
    tree = syntax.Sequence((syntax.Power(x, y), x))
    assert syntax.renamed(tree, lambda name: y) == syntax.Sequence((syntax.Power(y, y), y))
