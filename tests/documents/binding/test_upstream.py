"""A backward pass begins with a printed gradient, or with what an output is off a target."""

from __future__ import annotations

from pathlib import Path

import pytest

from symattn.documents.binding.binder import read
from symattn.documents.files import article

FORWARD = r"""
$$q = \begin{pmatrix} 1 & 2 \end{pmatrix}, \quad
W = \begin{pmatrix} 0.5 & 0 \\ 0.25 & 1 \end{pmatrix}, \quad y = (1, 0)$$

$$o = q W$$

"""


def bound(text: str) -> dict[str, str]:
    """What the numbers of a text are bound to, by their texts."""
    found = read(article(Path("post.md"), text.encode()))
    return {number.text: number.of for number in found.numbers if number.of}


def test_a_gradient_that_is_a_difference_from_a_target_begins_the_backward_pass():
    """dL/do = o - y is known without printed numbers, and what follows from it as well."""
    found = bound(
        FORWARD
        + r"$$\frac{\partial L}{\partial o} = o - y = (0.00, 2.00)$$"
        + "\n\n"
        + r"$$\frac{\partial L}{\partial q} = \frac{\partial L}{\partial o} W^\top = (0.01, 2.01)$$"
    )
    assert (found["2.00"], found["2.01"]) == ("grad(o)[0][1]", "grad(q)[0][1]")


@pytest.mark.parametrize("said", ["o - p", "q - y"])
def test_other_differences_begin_nothing(said):
    """What a computed target differs by, or another quantity, may have any loss."""
    text = FORWARD + "$$p = 2 o$$\n\n"
    text += rf"$$\frac{{\partial L}}{{\partial o}} = {said} = (0.00, 2.00)$$"
    assert read(article(Path("post.md"), text.encode())).loss is None


def test_other_shares_beside_computed_weights_are_no_inputs():
    """Weights that words say how to compute are left unread, with what follows from them."""
    found = bound(
        FORWARD
        + "$$a = \\mathrm{softmax}(o), \\quad c = a W$$\n\n"
        + "Without the mask $a' = (0.35, 0.65)$ and $c' = a' W = (0.31, 0.66)$.\n"
    )
    assert not {"0.35", "0.31", "0.66"} & found.keys()


@pytest.mark.parametrize(
    ("said", "begins"),
    [
        (r"G = \frac{\partial L}{\partial o} =", True),
        (r"\frac{\partial L}{\partial o} \approx", False),
    ],
)
def test_a_printed_gradient_begins_unless_it_is_about_right(said, begins):
    """G = dL/do = [...] gives the gradient by a name; what is only about right is a result."""
    found = read(
        article(
            Path("post.md"),
            (FORWARD + f"$${said} \\begin{{pmatrix}} 0.25 & 2.00 \\end{{pmatrix}}$$").encode(),
        )
    )
    assert (found.loss is not None) is begins
