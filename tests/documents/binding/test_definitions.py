"""Names of definitions are replaced wherever a tree has names, and nothing else is."""

from __future__ import annotations

import pytest

from symattn.documents.binding.definitions import Definitions
from symattn.documents.text import Span
from symattn.expressions import syntax

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


HENS = "[[1, 0, 1], [0, 2, 0], [1, 1, 1]]"


def versions(first: str, second: str, is_code: bool = False) -> list[str]:
    """The versions of a name that is given twice."""
    definitions = Definitions()
    for order, text in enumerate((first, second)):
        definitions.give("x", syntax.parse(text), Span(order, order + 1), order, is_code)
    return list(definitions.found)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("[[0.5, 2], [1.25, 4]]", "[[0.50, 2.0], [1.25, 4]]"),
        ("[[0.5, 2.1], [1.25, 4.7]]", "[[0.5, 2.1], [1.52, 4.7]]"),
        (HENS, HENS),
    ],
)
def test_what_is_given_again_is_the_same_as_far_as_its_figures_say_so(first, second):
    """With zeros at the end, or with a slip."""
    assert versions(first, second) == ["x"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("[[1, 0], [0, 1]]", "[[2, 0], [0, 2]]"),
        ("[[1, 0], [0, 1]]", "[[1, 2], [3, 1]]"),
        ("[[0, 0, 0], [0, 0, 1]]", "[[0, 0, 0], [7, 5, 1]]"),
    ],
)
def test_zeros_and_ones_that_agree_do_not_make_another_example_the_same(first, second):
    """Half of the figures agree, and say less than those that don't."""
    assert versions(first, second) == ["x", "x#2"]


def test_what_a_program_assigns_again_is_new():
    """One other figure is enough."""
    other = HENS.replace("[1, 1, 1]", "[1, 2, 1]")
    assert versions(HENS, other, is_code=True) == ["x", "x#2"]
    assert versions(HENS, other) == ["x"]
