"""Masks become part of the recipe, however an article says them."""

from pathlib import Path

import pytest

from symattn.documents.binding import read
from symattn.documents.files import article

X = r"$$X = \begin{bmatrix} 1 & 0 \\ 0 & 2 \\ 1 & 1 \end{bmatrix}$$" + "\n\n"
SCORES = "$$S = X X^\\top$$\n\n"


def read_text(text: str, name: str = "post.md"):
    return read(article(Path(name), text.encode()))


def steps(text: str) -> dict[str, str]:
    return {name: step.expression for name, step in read_text(text).steps.items()}


@pytest.mark.parametrize(
    "rows",
    [
        r"S_{ij} & \text{if } i \ge j, \\ -\infty & \text{otherwise}",
        r"S_{ij} & j \leq i \\ -\infty & j > i",
        r"-\infty & \text{if } j > i \\[2pt] S_{ij} & \text{else}",
    ],
)
def test_hidden_cases_above_the_diagonal_are_a_causal_mask(rows):
    """What is minus infinity where a query comes before its key is masked causally."""
    cases = rf"$$M_{{ij}} = \begin{{cases}} {rows} \end{{cases}}$$"
    found = steps(X + SCORES + cases + "\n\n$$A = \\mathrm{softmax}(M)$$\n")
    assert found["M"] == "causal(S)"
    assert found["A"] == "softmax(M)"


@pytest.mark.parametrize(
    "rows",
    [
        r"S_{ij} & \text{if } i \le j \\ -\infty & \text{otherwise}",
        r"S_{ij} & \text{if } i \ge j \\ 0 & \text{otherwise}",
        r"S_{ij} & \text{if it rains} \\ -\infty & \text{otherwise}",
    ],
)
def test_other_cases_are_no_causal_mask(rows):
    """A mask of another kind isn't taken for a causal one."""
    cases = rf"$$M_{{ij}} = \begin{{cases}} {rows} \end{{cases}}$$"
    assert "causal" not in str(steps(X + SCORES + cases + "\n"))
