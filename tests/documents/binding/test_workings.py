"""Numbers that work something out are bound to what stands there in its definition."""

from __future__ import annotations

from pathlib import Path

import pytest

from symattn.documents.binding.binder import read
from symattn.documents.files import article

GIVEN = r"""
$$Q = \begin{pmatrix} 1 & 2 \\ 3 & 1 \end{pmatrix}, \quad
K = \begin{pmatrix} 0.5 & 0.25 \\ 1 & 0.75 \end{pmatrix}, \quad E = Q K^\top, \quad
A = \mathrm{softmax}(E)$$

"""


def bound(text: str) -> dict[str, str]:
    """What the numbers of a text are bound to, by their texts."""
    found = read(article(Path("post.md"), (GIVEN + text).encode()))
    return {number.text: number.of for number in found.numbers if number.of}


def test_matrices_that_are_put_in_are_what_they_stand_for():
    """Of a product with a transpose both factors are known."""
    found = bound(
        r"$$E = \begin{pmatrix} 1.0 & 2.0 \\ 3.0 & 1.0 \end{pmatrix}"
        r"\begin{pmatrix} 0.50 & 0.26 \\ 1.00 & 0.75 \end{pmatrix}^\top$$"
    )
    assert (found["2.0"], found["0.26"]) == ("Q[0, 1]", "K[0, 1]")


@pytest.mark.parametrize(
    ("work", "figures"),
    [
        (
            r"\frac{e^{1.5}}{e^{1.5} + 1} = \frac{4.48}{5.49}",
            {"1.5": "E[0, 1] - E[0, 0]", "5.49": "exp(E[0, 1] - E[0, 0]) + 1"},
        ),
        (r"\frac{1}{1 + e^{-1.5}}", {"-1.5": "E[0, 0] - E[0, 1]"}),
    ],
)
def test_a_softmax_of_two_is_known_by_their_difference(work, figures):
    """What stands in the exponent is one score less the other."""
    found = bound(rf"$$A_{{12}} = {work} \approx 0.818$$")
    assert {**figures, "0.818": "A[0, 1]"}.items() <= found.items()


def test_arithmetic_that_is_equal_to_nothing_claims_nothing():
    """Sizes and powers of ten are no arithmetic that is understood; a sum with its value is."""
    text = GIVEN + "$E$ is $7 \\times 8$; with $h = 10^{-5}$ and $6 \\cdot 4 = 24$."
    found = read(article(Path("post.md"), text.encode()))
    local = [number.text for number in found.numbers if number.status == "local"]
    assert local == ["6", "4", "24"]
