"""What is said of one row, entry or head by its number holds for all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from symattn.documents.binding.binder import read
from symattn.documents.binding.definitions import by_numbers
from symattn.documents.files import article
from symattn.expressions import syntax

GIVEN = r"""
$$X = \begin{pmatrix} 1 & 0 \\ 0 & 2 \end{pmatrix}, \quad
O = \begin{pmatrix} 0.5 & 0.25 \\ 1.5 & 2.5 \end{pmatrix}$$

"""


def bound(text: str) -> dict[str, str]:
    """What the numbers of a text are bound to, by their texts."""
    found = read(article(Path("post.md"), text.encode()))
    return {number.text: number.of for number in found.numbers if number.of}


def steps(text: str) -> dict[str, str]:
    found = read(article(Path("post.md"), text.encode()))
    return {name: step.expression for name, step in found.steps.items()}


@pytest.mark.parametrize(
    ("head", "body", "found"),
    [
        ("y_2", "x_2 + o_2", "y = x + o"),
        ("q_1", "x_1 @ W_Q", "q = x @ W_Q"),
        ("s[2, 1]", "q_2 @ k_1 / sqrt(2)", "s = q @ k.T / sqrt(2)"),
        ("s[1, 1]", "q_1 @ k_1", "s = q @ k.T"),
    ],
)
def test_one_row_shows_all(head, body, found):
    """Rows of the same numbers stand for those of every number."""
    made = by_numbers(syntax.parse(head), syntax.parse(body))
    assert made is not None
    assert f"{made[0]} = {syntax.text(made[1])}" == found


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("x_2", "x_1 + o_1"),
        ("o_1", "v_1"),
        ("o_1", "0.5 * v_1"),
        ("h_1", "x_1 @ W_1"),
        ("s[2, 1]", "q_1 @ k_2"),
        ("y_1", "X + O"),
    ],
)
def test_other_numbers_show_nothing(head, body):
    """Other rows, numbers of its own or a matrix with a number are of that row only."""
    assert by_numbers(syntax.parse(head), syntax.parse(body)) is None


def test_a_residual_sum_by_rows_is_no_output():
    """y_1 = x_1 + o_1 is what it says, though y is a usual letter of the output."""
    found = bound(GIVEN + "So $y_1 = x_1 + o_1 = (1.50, 0.26)$ and $y_2 = x_2 + o_2$.\n")
    assert (found["1.50"], found["0.26"]) == ("y[0][0]", "y[0][1]")


def test_a_definition_in_the_letter_of_a_head_is_one_of_each():
    """Q_i = X W_i of two matrices W_1 and W_2 defines Q_1 and Q_2."""
    heads = r"""
$$W_1 = \begin{pmatrix} 1 & 0 \\ 1 & 2 \end{pmatrix}, \quad
W_2 = \begin{pmatrix} 0 & 3 \\ 1 & 1 \end{pmatrix}$$

For both we have $P_i = X W_i$, thus

$$P_2 = \begin{pmatrix} 0 & 4 \\ 2 & 2 \end{pmatrix}$$
"""
    assert steps(GIVEN + heads) == {"P_1": "X @ W_1", "P_2": "X @ W_2"}
    assert bound(GIVEN + heads)["4"] == "P_2[0, 1]"


def test_printed_rows_of_what_is_computed_are_no_inputs():
    """Rows c_1, c_2 of C, which an expression defines, are judged."""
    found = bound(GIVEN + "We get $C = X O$: $c_1 = (0.50, 0.26)$, $c_2 = (3.00, 5.00)$.\n")
    assert (found["0.26"], found["3.00"]) == ("C[0][1]", "C[1][0]")


def test_a_matrix_that_is_only_shown_is_no_input():
    """Broken numbers under a name that says nothing, and that nothing needs, are left unread."""
    shown = "$$J_1 = \\begin{pmatrix} 0.21 & -0.21 \\\\ -0.21 & 0.21 \\end{pmatrix}$$\n"
    found = bound(GIVEN + "$$Y = X O$$\n\n" + shown)
    assert "0.21" not in found
    assert found["0.25"] == "O[0, 1]"
