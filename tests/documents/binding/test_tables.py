"""Tables, and what stands in the code of other languages, are bound to what they show."""

from pathlib import Path

import pytest

from symattn.documents.binding.binder import read
from symattn.documents.files import article


def read_text(text: str, name: str = "post.md"):
    return read(article(Path(name), text.encode()))


def bound(text: str, name: str = "post.md") -> dict[str, str]:
    """What the figures of an article are of, by their text."""
    return {one.text: one.of for one in read_text(text, name).numbers if one.status == "bound"}


ONE_QUERY = """The query is q = (1, 2). One word after the other has

| word | key | value |
|------|-----|-------|
| snow | (1, 0) | (1, 0) |
| melts | (2, 1) | (0, 1) |

First, q·k₁ = 1·1 + 2·0 = 1; and S = q·Kᵀ, A = softmax(S).

"""


def test_columns_of_numbers_are_the_entries_of_a_row():
    """Where there is one query, a column has one number for each token."""
    table = """| word | score | weight |
|------|------:|-------:|
| snow | 1.00 | 0.0474 |
| melts | 4.00 | 0.9562 |
"""
    assert (
        bound(ONE_QUERY + table).items()
        >= {
            "1.00": "S[0]",
            "4.00": "S[1]",
            "0.0474": "A[0]",
            "0.9562": "A[1]",
        }.items()
    )


def test_the_working_of_an_only_row_is_a_sum_of_rows():
    """``0.0474 (1, 0) + 0.9526 (0, 1)`` weighs the rows of the values."""
    text = ONE_QUERY + "The context vector is 0.0474·(1, 0) + 0.9526·(0, 1) ≈ (0.05, 0.95).\n"
    found = bound(text)
    assert (found["0.0474"], found["0.9526"]) == ("A[0]", "A[1]")


MATRICES = r"""$$X = \begin{bmatrix} 1 & 0 \\ 0 & 2 \end{bmatrix}$$

$$A = \mathrm{softmax}(X)$$

"""


def test_r_is_read_with_its_own_signs():
    """Assignments and products of R define what is printed below."""
    chunk = "```{r}\nH <- A %*% X\nround(H, 2)\n```\n\n```\n##      [,1] [,2]\n"
    shown = "## [1,] 0.73 0.54\n## [2,] 0.12 1.76\n```\n"
    found = read_text(MATRICES + chunk + shown, "post.Rmd")
    assert found.steps["H"].expression == "A @ X"
    assert [one.of for one in found.numbers if one.text == "1.76"] == ["H[1, 1]"]


@pytest.mark.parametrize("sides", [r"A \mid X", "A, X"])
def test_matrices_side_by_side_are_one(sides):
    """A bar or a comma between names in brackets puts matrices side by side."""
    found = read_text(f"{MATRICES}$$C = [{sides}]$$\n")
    assert found.steps["C"].expression == "concat(A, X)"


def test_a_factor_before_a_printed_product_is_part_of_its_working():
    """In ``1/sqrt(2) [matrix]`` the matrix is the product without the factor."""
    scores = r"\frac{1}{\sqrt{2}} X A^\top"
    worked = r"\frac{1}{\sqrt{2}} \begin{bmatrix} 0.73 & 0.12 \\ 0.54 & 1.76 \end{bmatrix}"
    found = bound(f"{MATRICES}$$S = {scores} = {worked}$$\n")
    assert found["1.76"] == "(X @ A.T)[1, 1]"


def test_whole_numbers_tell_only_what_they_are_exactly():
    """A vector of whole numbers isn't the row of decimals that rounds to it."""
    text = f"Our sentence is *snow melts*.\n\n{MATRICES}## Weights\n\nsnow "
    whole = read_text(text + "[1, 0]\n")
    assert not any(one.of.startswith("A") for one in whole.numbers)
    assert bound(text + "[0.73, 0.27]\n")["0.73"] == "A[0][0]"


def test_a_matrix_of_shares_shows_weights_that_no_formula_names():
    """Rows that sum to one are the weights, where figures agree with these."""
    text = r"""$$Q = \begin{bmatrix} 1 \\ 2 \end{bmatrix}, \quad
K = \begin{bmatrix} 1 \\ 0 \end{bmatrix}$$

$$W = \begin{bmatrix} 0.73 & 0.27 \\ 0.88 & 0.13 \end{bmatrix}$$
"""
    assert bound(text)["0.13"] == "A[1, 1]"
