"""Masks become part of the recipe, however an article says them."""

from pathlib import Path

import pytest

from symattn.documents.binding.binder import read
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


def bound(text: str) -> list[tuple[str, str]]:
    """What the figures of an article are of."""
    return [(one.text, one.of) for one in read_text(text).numbers if one.status == "bound"]


#: The weights where the last of three positions is hidden.
PADDED = r"""$$A = \mathrm{softmax}(S + \mathrm{mask}) \approx
\begin{bmatrix} 0.73 & 0.27 & 0 \\ 0.02 & 0.98 & 0 \\ 0.27 & 0.73 & 0 \end{bmatrix}$$
"""
KEPT = "mask(S, [[1, 1, 0], [1, 1, 0], [1, 1, 0]])"


@pytest.mark.parametrize(
    "words",
    [
        "Of the three positions the last is padding.",
        "The third token is only padding.",
        "Token 3 is padding.",
        r"$$\begin{bmatrix} 1 & 0 & -\infty \\ 0 & 4 & -\infty \end{bmatrix}$$",
    ],
)
def test_a_mask_told_in_words_or_shown_is_the_mask_of_the_recipe(words):
    """Positions that are said to be padding, or shown as minus infinity, are hidden."""
    found = read_text(f"{X}{SCORES}{words}\n\n{PADDED}")
    assert {name: one.expression for name, one in found.steps.items()} == {
        "S": "X @ X.T",
        "M": KEPT,
        "A": "softmax(M)",
    }
    assert any(KEPT in one for one in found.assumptions)
    assert bound(f"{X}{SCORES}{words}\n\n{PADDED}")[:2] == [
        ("0.73", "A[0, 0]"),
        ("0.27", "A[0, 1]"),
    ]


def test_where_a_mask_is_not_understood_all_that_depends_on_it_is_left_open():
    """Weights under a mask that isn't known are neither bound nor refuted."""
    weights = r"0 & 0.27 & 0.73 \\ 0.27 & 0 & 0.73 \\ 0.5 & 0.5 & 0"
    shown = rf"$$A = \mathrm{{softmax}}(S) = \begin{{bmatrix}} {weights} \end{{bmatrix}}$$"
    words = "We mask all but a word itself.\n\n"
    assert bound(f"{X}{SCORES}{words}{shown}\n\n$$Y = A X$$\n") == []
    assert len(bound(f"{X}{SCORES}{shown}\n")) == 9


def test_a_mask_without_numbers_is_not_ignored():
    """Weights of scores that something unknown is added to are not those of the scores."""
    shown = PADDED.replace("0.73 & 0.27 & 0", "0.42 & 0.16 & 0.42")
    assert "softmax(S)" not in steps(f"{X}{SCORES}{shown}").values()


def test_the_masks_of_two_heads_are_of_their_own_scores():
    """Each head's weights are those of its own scores under the mask."""
    two = r"""We mask what comes later.

$$S_1 = X X^\top, \quad S_2 = 2 X X^\top$$

$$A_1 = \mathrm{softmax}(S_1) \approx
\begin{bmatrix} 1 & 0 & 0 \\ 0.02 & 0.98 & 0 \\ 0.21 & 0.58 & 0.21 \end{bmatrix}$$

$$A_2 = \mathrm{softmax}(S_2) \approx
\begin{bmatrix} 1 & 0 & 0 \\ 0.00 & 1.00 & 0 \\ 0.11 & 0.78 & 0.11 \end{bmatrix}$$
"""
    found = steps(X + two)
    masked = {found[found[name][8:-1]] for name in ("A_1", "A_2")}
    assert masked == {"causal(S_1)", "causal(S_2)"}


ROWS = """The padding mask hides the last column. Let

    X = [[1, 0], [0, 2], [1, 1]]
    S = X @ X.T

The numbers of the first two:

          rain   falls   <pad>
  rain   1.000   0.000   {}
  falls  0.000   4.001   {}
"""


@pytest.mark.parametrize(("shown", "name"), [(("1.000", "2.000"), "S"), (("-∞", "-∞"), "M")])
def test_rows_with_all_their_labels_are_those_of_the_quantity_they_agree_with(shown, name):
    """Some rows by their tokens, masked or not, are of scores or of masked ones."""
    text = ROWS.format(*shown) + "\nand then A = softmax(S + mask).\n"
    found = read_text(text, "post.txt")
    assert found.tokens == ("rain", "falls", "<pad>")
    of = [one.of for one in found.numbers if one.text == "4.001"]
    assert of == [f"{name}[1][1]"]


def test_a_mask_is_not_added_to_itself():
    """Shown scores Z + M and their softmax are masked once, in whatever order M is met."""
    hidden = r"""
$$A = \mathrm{softmax}(S + M)$$

$$S + M = \begin{pmatrix}
1 & 0 & -\infty \\ 0 & 4 & -\infty \\ 1 & 2 & -\infty \end{pmatrix}$$

The last token is padding, and $S + M$ hides it:

$$S + M = \begin{pmatrix} 1 & 0 & -\infty \\ 0 & 4 & -\infty \\ 1 & 2 & -\infty \end{pmatrix}$$
"""
    found = read_text(X + SCORES + hidden)
    assert "A" in found.steps
    bound = [number.of for number in found.numbers if number.text == "4"]
    assert bound
    assert all("+" not in of for of in bound)


ROW_BY_ROW = r"""# Three hens, step by step

Decoders also mask the future; here nobody does.

$$
Q = \begin{bmatrix} 1 & 0 \\ 0 & 1 \\ 1 & 1 \end{bmatrix}, \quad
K = \begin{bmatrix} 2 & 1 \\ 1 & 0 \\ 0 & 1 \end{bmatrix}, \quad
V = \begin{bmatrix} 1 & 2 \\ 3 & 1 \\ 2 & 0 \end{bmatrix}
$$

$$QK^T = \begin{bmatrix} 2 & 1 & 0 \\ 1 & 0 & 1 \\ 3 & 1 & 1 \end{bmatrix}$$

$$\frac{QK^T}{\sqrt{2}} \approx
\begin{bmatrix} 1.41 & 0.71 & 0 \\ 0.71 & 0 & 0.71 \\ 2.12 & 0.71 & 0.71 \end{bmatrix}$$

Let's take the softmax row by row:

- Row 1: $[1.41, 0.71, 0]$
  * Exponentials: $e^{1.41} \approx 4.096$, $e^{0.71} \approx 2.034$, $e^{0} = 1$
  * Sum of exponentials: $4.096 + 2.034 + 1 \approx 7.130$
  * Softmax values:
    * $\frac{4.096}{7.130} \approx 0.574$
    * $\frac{2.034}{7.130} \approx 0.285$
    * $\frac{1}{7.130} \approx 0.140$
- Row 3: $[2.12, 0.71, 0.71]$
  * Exponentials: $e^{2.12} \approx 8.331$, $e^{0.71} \approx 2.034$
  * Sum of exponentials: $8.331 + 2.034 + 2.034 \approx 12.399$
  * Softmax values:
    * $\frac{8.331}{12.399} \approx 0.672$
    * $\frac{2.034}{12.399} \approx 0.164$
  * Final result: $[0.672, 0.164, 0.164]$
"""


def test_a_mask_is_assumed_only_where_figures_tell_it():
    """What it leaves as it is does not speak for it, however often it is printed."""
    (found,) = read_text(ROW_BY_ROW).assumptions
    assert "A = softmax(T)" in found
    assert "causal" not in found
