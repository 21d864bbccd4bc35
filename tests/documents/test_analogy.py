"""Analogies: what is worked for one row holds for the others of the same columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.documents.test_statements import audited, refuted, tex
from tests.strategies import some

X = np.array([[1.2, 0.4], [0.3, 2.1], [0.7, 1.5], [2.2, 0.6]])
W = np.array([[0.5, 1.1], [0.9, 0.2]])
TOKENS = ("the", "cat", "sat", "down")


def row(values, places=2):
    """A row as an article prints it."""
    return "[" + ", ".join(f"{x:.{places}f}" for x in values) + "]"


def tables(made, worked, x=X, w=W):
    """A table of embeddings, one row that is worked, and a table of what is made of all."""
    name, k = f"q_{TOKENS[worked]}", worked
    head = [f"The weights are $$W = {tex(w, 1)}$$", "| word | embedding |\n|---|---|"]
    head[1] += "".join(f"\n| {token} | {row(x, 1)} |" for token, x in zip(TOKENS, x, strict=True))
    said = f"For {TOKENS[k]}: {name} = {row(x[k], 1)} @ W = {row(x[k] @ w)}"
    last = "| word | q |\n|---|---|" + "".join(
        f"\n| {token} | {row(q)} |" for token, q in zip(TOKENS, made, strict=True)
    )
    return "\n\n".join([*head, said, last])


def matrices(made, worked, x=X, w=W):
    """The same with matrices, whose rows are counted."""
    given_ = f"$$X = {tex(x, 1)}, W = {tex(w, 1)}$$"
    said = f"$$q_{worked + 1} = {row(x[worked], 1)} W = {row(x[worked] @ w)}$$"
    return f"{given_}\n\n{said}\n\nAll rows together:\n\n$${tex(made, 2)}$$"


@pytest.mark.parametrize("form", [tables, matrices])
@pytest.mark.parametrize("worked", [0, 2])
def test_a_wrong_entry_of_another_row_is_refuted(form, worked):
    """Nothing says of it what it is but the row that is worked."""
    made = X @ W
    assert refuted(form(made, worked)) == {}
    wrong = made.copy()
    wrong[1, 1] += 0.3
    assert refuted(form(wrong, worked)) == {f"{wrong[1, 1]:.2f}": f"{made[1, 1]:.2f}"}


def test_rows_of_a_matrix_are_worked_as_one_of_them_is():
    """By a formula that their figures alone don't suggest."""
    made = 3 * (X + 1) @ W
    said = f"$$q_1 = 3 ({row(X[0], 1)} + 1) W = {row(made[0])}$$"

    def article_of(made):
        return f"$$X = {tex(X, 1)}, W = {tex(W, 1)}$$\n\n{said}\n\nIn all:\n\n$${tex(made, 2)}$$"

    assert refuted(article_of(made)) == {}
    wrong = made.copy()
    wrong[2, 0] += 1
    assert refuted(article_of(wrong)) == {f"{wrong[2, 0]:.2f}": f"{made[2, 0]:.2f}"}


@pytest.mark.parametrize("form", [tables, matrices])
def test_rows_that_are_made_otherwise_are_left_alone(form):
    """Most of them would be wrong: then the row that is worked was another example."""
    made = np.vstack([X[:1] @ W, X[1:] @ W.T + 1])
    found = audited(form(made, 0)).figures
    assert all(one.verdict.name != "REFUTED" for one in found)


@some
@given(st.lists(st.integers(1, 40), min_size=12, max_size=12, unique=True), st.integers(0, 3))
def test_nothing_right_is_refuted(tenths, worked):
    """Whatever the numbers are."""
    numbers = np.array(tenths) / 10
    x, w = numbers[:8].reshape(4, 2), numbers[8:].reshape(2, 2)
    for form in (tables, matrices):
        assert refuted(form(x @ w, worked, x, w)) == {}
