"""A block of figures that is another quantity's: left open, or wrong by what an equation states."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from symattn.documents.binding.binder import read
from symattn.documents.files import article
from symattn.documents.reading import Reading

GIVEN = r"""
$$Q = \begin{pmatrix} 1 & 0 \\ 2 & 1 \end{pmatrix}, \quad
K = \begin{pmatrix} 1 & 1 \\ 0 & 2 \end{pmatrix}, \quad
V = \begin{pmatrix} 1 & 3 \\ 2 & 0 \end{pmatrix}$$

$$S = Q K^\top$$

$$Z = S / \sqrt{2}$$

$$A = \operatorname{softmax}(Z)$$

"""
#: The weights as they are, without the scale, and as exponentials of the scaled scores.
SCALED = r"\begin{pmatrix} 0.6698 & 0.3302 \\ 0.6698 & 0.3302 \end{pmatrix}"
UNSCALED = r"\begin{pmatrix} 0.7311 & 0.2689 \\ 0.7311 & 0.2689 \end{pmatrix}"
SCORES = r"\begin{pmatrix} 0.7071 & 0.0000 \\ 2.1213 & 1.4142 \end{pmatrix}"


def reading(text: str, name: str = "post.md") -> Reading:
    """A text understood."""
    return read(article(Path(name), text.encode()))


def bound(found: Reading) -> dict[str, str]:
    """What the numbers of a text are bound to, by their texts."""
    return {number.text: number.of for number in found.numbers if number.of}


def test_figures_of_the_named_quantity_are_bound():
    """What a name says holds where the figures agree."""
    assert bound(reading(f"{GIVEN}$$A = {SCALED}$$"))["0.3302"] == "A[1, 1]"


@pytest.mark.parametrize(
    ("printed", "figure"), [(UNSCALED, "0.2689"), (SCORES, "2.1213")], ids=["unscaled", "scores"]
)
def test_figures_of_another_quantity_are_wrong_where_a_name_was_defined(printed, figure):
    """A formula right above stands; with words between that say that something is left out,
    a name isn't believed against all of them."""
    found = reading(f"{GIVEN}$$A = {printed}$$")
    assert [(one.key, one.text) for one in found.claims] == [("as_printed", "A")]
    apart = reading(f"{GIVEN}Without all of that:\n\n$$A = {printed}$$")
    assert figure not in bound(apart)
    assert [one.what for one in apart.open] == ["A"]
    assert "its figures are those of" in apart.open[0].why


def test_a_formula_beside_the_figures_is_believed():
    """Beside the formula a figure that disagrees is that quantity's all the same; where all
    are those of the scaled scores it is told that they are."""
    printed = r"\begin{pmatrix} 1.0 & 0.0 \\ 3.0 & 2.1 \end{pmatrix}"
    assert bound(reading(f"{GIVEN}$$S = Q K^\\top = {printed}$$"))["2.1"] == "S[1, 1]"
    found = reading(f"{GIVEN}$$S = Q K^\\top = {SCORES}$$")
    assert [(one.key, one.text) for one in found.claims] == [("as_printed", "S")]


def test_wrong_figures_of_nothing_else_stay_bound():
    """Most figures of a block may be wrong, as long as they are nothing else's."""
    wrong = r"\begin{pmatrix} 0.6189 & 0.3811 \\ 0.5987 & 0.4013 \end{pmatrix}"
    assert bound(reading(f"{GIVEN}$$A = {wrong}$$"))["0.4013"] == "A[1, 1]"


def test_exponentials_that_the_next_line_normalises_are_no_weights():
    """What stands before the program speaks of what its name is in the end."""
    program = "W = np.exp(Z)\nW = W / W.sum(axis=-1, keepdims=True)\n"
    text = GIVEN.replace(r"$$A = \operatorname{softmax}(Z)$$", r"$$w_{12} \approx 0.3302$$")
    found = reading(f"{text}\n```python\n{program}Y = W @ V\n```\n")
    assert found.steps["W"].expression == "softmax(Z)"
    assert bound(found)["0.3302"] == "W[0, 1]"


def test_a_word_that_code_printed_is_no_name():
    """Below a printed word stands what code printed next, not what the word usually names."""
    source = (
        "import numpy as np\nq = np.array([[1.0, 0.0], [2.0, 1.0]])\n"
        "k = np.array([[1.0, 1.0], [0.0, 2.0]])\ns1 = q @ k.T\ns2 = k @ q.T\n"
        'print("scores")\nprint(s2)\n'
    )
    shown = "scores\n[[1.0 3.0]\n [0.0 2.0]]\n"
    cell = {
        "cell_type": "code", "execution_count": 1, "metadata": {}, "source": source,
        "outputs": [{"name": "stdout", "output_type": "stream", "text": shown}],
    }  # fmt: skip
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    found = reading(json.dumps(notebook), "post.ipynb")
    assert bound(found)["3.0"] == "s2[0, 1]"


def test_each_part_of_a_sentence_has_its_subject():
    """Between commas the first token is the row, also where its figure is wrong."""
    text = (
        GIVEN + "| A | tea | milk |\n|---|---|---|\n| tea | 0.67 | 0.33 |\n| milk | 0.67 | 0.33 |\n"
        "\n*tea* is clear, it looks at *milk* with a weight of 0.330, "
        "and *milk* puts 76.0 % on *tea*.\n"
    )
    assert bound(reading(text))["76.0%"] == "100 * A[1, 0]"


def test_rows_count_from_zero_where_words_say_so():
    """Subscripts of rows count from where the article counts."""
    assert bound(reading(GIVEN + "We count from zero: $s_1 = (1.0, 2.00)$."))["2.00"] == "S[1][1]"
