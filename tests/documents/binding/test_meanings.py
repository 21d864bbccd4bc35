"""What names mean that an article says in passing, or writes in several ways."""

from __future__ import annotations

from pathlib import Path

from symattn.documents.binding import read
from symattn.documents.files import article

GIVEN = "$Q = [[1, 2], [3, 1]]$, $K = [[2, 0], [1, 1]]$, $V = [[1, 0], [0, 4]]$.\n\n"


def steps(text: str) -> dict[str, str]:
    """The steps of a Markdown article, by name."""
    reading = read(article(Path("post.md"), text.encode()))
    return {name: step.expression for name, step in reading.steps.items()}


def test_printed_scores_with_minus_infinities_are_those_that_they_agree_with():
    """A matrix with hidden entries is known scores under that mask, however it is rounded,
    and what is computed from it isn't computed from printed digits."""
    text = GIVEN + (
        "$$S = QK^T / \\sqrt{2} = [[1.41, 2.12], [4.24, 2.83]]$$\n\n"
        "Then one entry is hidden: $$\\tilde S = %s$$\n\n$$A = \\mathrm{softmax}(\\tilde S)$$\n"
    )
    later, first = "[[1.41, -\\infty], [4.24, 2.83]]", "[[-\\infty, 2.12], [4.24, 2.83]]"
    assert steps(text % later)["S_tilde"] == "causal(S)"
    assert steps(text % first)["S_tilde"] == "mask(S, [[0, 1], [1, 1]])"


def test_a_matrix_whose_name_ends_in_a_number_is_no_row():
    """q1 is a row of q, unless the article says that it is a matrix."""
    code = "```python\nq1, q2 = q[:, :1], q[:, 1:]\nS1 = q1 @ q1.T\n```\n"
    found = steps("$q = [[1, 2], [3, 1]]$\n\n" + code + "$$S_1 = [[1, 3], [3, 9]]$$\n")
    assert (found["q1"], found["S1"]) == ("q[:, :1]", "q1 @ q1.T")


def test_a_number_behind_a_name_stands_with_or_without_a_line():
    """A1 in code is A_1 in a formula."""
    found = steps(GIVEN + "```python\nA1 = Q @ K.T\n```\n\n$$O_1 = A_1 V = [[2, 12], [6, 16]]$$\n")
    assert found["O_1"] == "A1 @ V"


def test_a_gradient_may_have_a_name_of_its_own():
    """dL/dY = G = [matrix] says where the backward pass begins, and what G is."""
    text = GIVEN + (
        "$$P = \\mathrm{softmax}(QK^T)$$ $$Y = PV$$\n\n"
        "$$\\frac{\\partial L}{\\partial Y} = G = [[1, 1], [1, 0]]$$\n\n"
        "$$\\frac{\\partial L}{\\partial P} = G V^T = [[1, 4], [1, 0]]$$\n"
    )
    reading = read(article(Path("post.md"), text.encode()))
    assert reading.loss == {"output": "Y", "upstream": (("1", "1"), ("1", "0"))}
    assert ("grad(P)", (("1", "4"), ("1", "0"))) in [(c.text, c.printed) for c in reading.claims]
