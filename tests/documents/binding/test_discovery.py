"""What matrices are of each other, by their figures alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from symattn.documents.binding import discovery
from symattn.expressions import syntax
from tests.documents.binding.blocks import Printer

sizes = st.integers(2, 4)


def softmax(x):
    """Row by row."""
    power = np.exp(x - x.max(axis=1, keepdims=True))
    return power / power.sum(axis=1, keepdims=True)


def causal(x):
    """Weights of what stands before."""
    return softmax(np.where(np.tril(np.ones(x.shape, bool)), x, -np.inf))


#: What is made of two blocks, and what that is called.
MADE = {
    "product": (lambda q, k: q @ k.T, "block_0 @ block_1.T"),
    "scaled scores": (
        lambda q, k: q @ k.T / np.sqrt(q.shape[1]),
        "block_0 @ block_1.T / sqrt({d})",
    ),
    "weights": (lambda q, k: softmax(q @ k.T), "softmax(block_0 @ block_1.T)"),
    "scaled weights": (
        lambda q, k: softmax(q @ k.T / np.sqrt(q.shape[1])),
        "softmax(block_0 @ block_1.T / sqrt({d}))",
    ),
    "causal weights": (
        lambda q, k: causal(q @ k.T / np.sqrt(q.shape[1])),
        "softmax(causal(block_0 @ block_1.T / sqrt({d})))",
    ),
}


def relations(printer, *values, decimals=4):
    """What is found of values that are printed one behind another, as text."""
    trees = [printer.matrix(one, decimals) for one in values]
    blocks = [discovery.block(number, tree) for number, tree in enumerate(trees)]
    assert all(blocks)
    return [
        (one.block.number, syntax.text(one.tree))
        for one in discovery.found([b for b in blocks if b])
    ]


def drawn(chance, rows, columns):
    """A matrix as articles have them: of few decimals."""
    return np.round(chance.normal(size=(rows, columns)), 2) + 0.01


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", MADE)
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 4), sizes, st.integers(3, 4))
def test_what_attention_makes_is_found(kind, seed, n, d, decimals):
    """Whatever it is called and wherever its inputs come from."""
    chance = np.random.default_rng(seed)
    q, k = drawn(chance, n, d), drawn(chance, n, d)
    made, expected = MADE[kind]
    value = made(q, k)
    (found, *_) = relations(Printer(), q, k, value, decimals=decimals) or [None]
    assert found is not None
    number, text = found
    assert number == 2
    # What is saturated may be told by other forms as well.
    same = np.allclose(evaluated(text, q, k), value, atol=10.0**-decimals)
    assert text == expected.format(d=d) or same


def evaluated(text, q, k):
    """What a found expression comes to."""
    from symattn.documents.binding.recipe import Recipe

    recipe = Recipe()
    for number, value in enumerate((q, k)):
        rows = [" ".join(f"{x:.2f}" for x in row) for row in value]
        recipe.give(f"block_{number}", Printer()(*rows), None)
    found = recipe.floats(syntax.parse(text))
    assert found is not None
    return found


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), sizes, sizes, sizes)
def test_layers_with_a_bias_are_found(seed, n, d, m):
    """The bias stands right behind the weights."""
    chance = np.random.default_rng(seed)
    x, w, b = drawn(chance, n + 1, d), drawn(chance, m, d), drawn(chance, 1, m)[0]
    assume(not np.array_equal(w, w.T))
    found = relations(Printer(), x, w, b, x @ w.T + b)
    assert (3, "block_0 @ block_1.T + block_2") in found


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 4), st.integers(3, 4))
def test_outer_products_are_found(seed, n, m):
    """As gradients of weights are."""
    chance = np.random.default_rng(seed)
    a, b = drawn(chance, 1, n)[0], drawn(chance, 1, m)[0]
    assert (2, "outer(block_0, block_1)") in relations(Printer(), a, b, np.outer(a, b))


@pytest.mark.heavy
def test_other_matrices_are_nothing():
    """At most one in two hundred is taken for what it isn't."""
    chance = np.random.default_rng(24)
    wrong = 0
    for _ in range(200):
        n, d = chance.integers(2, 5, size=2)
        values = [
            drawn(chance, n, d),
            drawn(chance, n, d),
            drawn(chance, n, n),
            drawn(chance, n, n),
        ]
        wrong += bool(relations(Printer(), *values, decimals=int(chance.integers(2, 5))))
    assert wrong <= 1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 8))
def test_one_wrong_figure_hides_no_relation(seed, place):
    """Right or wrong, the block is that; all its other figures say so."""
    chance = np.random.default_rng(seed)
    q, k = drawn(chance, 3, 2), drawn(chance, 3, 2)
    value = q @ k.T
    value[divmod(place, 3)] += 1.23
    assert (2, "block_0 @ block_1.T") in relations(Printer(), q, k, value)


def test_few_figures_without_digits_are_nothing():
    """Zeros and ones are what all sorts of matrices have."""
    eye = np.eye(2)
    assert relations(Printer(), eye, eye, eye @ eye, decimals=0) == []


def test_a_block_is_nothing_of_its_own_figures():
    """A vector that is printed twice is, with the other, no product of itself and ones."""
    printer = Printer()
    ones, row = printer("1 1"), [printer("0.016 0.876 0.117") for _ in range(2)]
    stack = syntax.Array(tuple(row))
    blocks = [discovery.block(k, one) for k, one in enumerate([ones, *row, stack])]
    found = discovery.found([one for one in blocks if one])
    assert [(one.block.number, syntax.text(one.tree)) for one in found] == [(2, "block_1")]


@pytest.mark.parametrize("rows", [["0.5 -inf", "0.25 0.75"], ["0.5"], ["0.5 x", "0.25 0.75"]])
def test_what_is_no_block(rows):
    """Masked entries, single figures, and what is no number."""
    assert discovery.block(0, Printer()(*rows)) is None


@pytest.mark.parametrize("share", ["0.25", "0.250"])
def test_a_constant_matrix_is_no_softmax(share):
    """Whatever is small has it, to so many digits."""
    printer = Printer()
    x = printer.matrix(np.array([[0.01, 0.02], [0.03, 0.01], [0.02, 0.02], [0.01, 0.04]]), 2)
    even = printer.matrix(np.full((4, 4), 0.25), len(share) - 2)
    blocks = [discovery.block(number, one) for number, one in enumerate((x, even))]
    assert discovery.found([one for one in blocks if one]) == []


def test_scores_are_scaled_by_a_size_that_only_what_follows_shows():
    """Outputs of eight columns say that keys have as many."""
    chance = np.random.default_rng(3)
    scores = drawn(chance, 4, 4)
    values = relations(Printer(), scores, scores / np.sqrt(8), drawn(chance, 4, 8))
    assert values == [(1, "block_0 / sqrt(8)")]


def test_what_is_printed_again_with_another_figure_is_never_certain():
    """The range that was meant, and the one that came out: 0.1250 and 0.1249."""
    printer = Printer()
    trees = [printer.matrix(np.array(one), 4) for one in ([-0.1250, 0.1250], [-0.1249, 0.1250])]
    first, again = (discovery.block(number, tree) for number, tree in enumerate(trees))
    assert first is not None
    assert again is not None
    relation = discovery.Relation(again, first.tree, lead=20.0, agreeing=2)
    assert not relation.is_certain
    assert discovery.Relation(again, syntax.parse("block_0 / 1"), 20.0, 2).is_certain
