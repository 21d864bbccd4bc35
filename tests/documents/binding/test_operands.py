"""Workings: their numbers stand for what is printed, or worked out, before them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.documents.test_statements import refuted

NUMBERS = st.lists(st.integers(11, 99), min_size=3, max_size=4, unique=True)


def worked(query, key, used, is_product):
    """A product of two vectors, worked out with a key that may be another."""
    first = " + ".join(f"{x}×{y}" for x, y in zip(query, used, strict=True))
    terms = [x * y for x, y in zip(query, used, strict=True)]
    sums = f"{' + '.join(map(str, terms))} = {sum(terms)}"
    return f"With q = {query} and k = {key}\n\nq·k = {f'{first} = ' if is_product else ''}{sums}"


@settings(max_examples=25, deadline=None)
@given(NUMBERS, st.data())
def test_a_wrong_operand_is_refuted_with_all_that_follows(query, data) -> None:
    """Nothing where each is the entry that it stands for; else what it should be, and the product
    and the sum that come of it."""
    size = len(query)
    key = data.draw(st.lists(st.integers(11, 99), min_size=size, max_size=size, unique=True))
    assert refuted(worked(query, key, key, is_product=True)) == {}
    at, other = data.draw(st.integers(0, size - 1)), data.draw(st.integers(100, 109))
    used = [*key[:at], other, *key[at + 1 :]]
    term, total = query[at] * other, sum(x * y for x, y in zip(query, used, strict=True))
    right = {
        str(other): str(key[at]),
        str(term): str(query[at] * key[at]),
        str(total): str(sum(x * y for x, y in zip(query, key, strict=True))),
    }
    assert refuted(worked(query, key, used, is_product=True)) == right
    del right[str(other)]
    assert refuted(worked(query, key, used, is_product=False)) == right


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # Other numbers than most are of something else.
        ("q = [2, 3, 5], k = [7, 1, 4]\n\nq·k = 1×6 + 8×9 + 5×4 = 98", {}),
        # A quotient of exponentials, and what is left of it.
        (
            "s = [1.2, 0.4, 0.7]\n\nsoftmax(s)[0] = e^1.2 / (e^1.2 + e^0.4 + e^0.7)"
            " = 3.320 / (3.320 + 1.492 + 2.041) = 0.484",
            {"2.041": "2.014", "0.484": "0.486"},
        ),
        # What an operand is copied from is wrong, and so is all that is worked out with it.
        (
            "sin(1 / 10000^(2/4)) = sin(1/10) = 0.0998\n\nPE(1) = [0.841, 0.540, 0.0998, 0.995]\n\n"
            "[0.1, 0.3, -0.2, 0.6] + [0.841, 0.540, 0.0998, 0.995] ="
            " [0.941, 0.840, -0.1002, 1.595]",
            {"10": "100", "0.0998": "0.0100", "-0.1002": "-0.1900"},
        ),
        ("L = −[log(0.69) + log(1 − 0.6457)] = −[−0.371 − 1.083] = 1.454",
         {"1.083": "1.038", "1.454": "1.409"}),
        ("L = -log(0.12) = -(-2.31) = 2.31", {"2.31": "2.12"}),
        ("```\n(1 × 4)\n\n×\n\n(4 × 16)\n\n=\n\n(1 × 16)\n```", {}),
        # Exponentials are added up in any order.
        ("s = [2.5, 0.5]\n\nsoftmax(s)[0] = e^2.5 / (e^0.5 + e^2.5) = 0.881", {}),
        # An expression that was printed with a value, and one that holds itself.
        ("```\nQK^T / sqrt(d_k) = [[1.3, 1.4, 1.5], [3.2, 3.4, 3.6]]\n```\n\n```\n"
         "softmax(QK^T / sqrt(d_k)) = [[0.30, 0.33, 0.37], [0.27, 0.33, 0.44]]\n```",
         {"0.44": "0.40"}),
        ("$$S = \\frac{1}{\\sqrt{2}} \\begin{bmatrix} 5 & 5 \\\\ 5 & 10 \\end{bmatrix} = "
         "\\begin{bmatrix}"
         " 3.536 & 3.536 \\\\ 3.536 & 7.071 \\end{bmatrix}$$\n\n$$softmax(S) = \\begin{bmatrix}"
         " 0.500 & 0.500 \\\\ 0.130 & 0.870 \\end{bmatrix}$$",
         {"0.130": "0.028", "0.870": "0.972"}),
        ("Sums: 4 * 0.5 + 1 * 2 = 2 + 2 and 1 * 2 + 4 * 3 = 12 + 2 = 14.", {}),
    ],
)  # fmt: skip
def test_numbers_of_workings_stand_for_something(text, found) -> None:
    assert refuted(text) == found


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (["W_Q | 768 × 64 | 49,152", "W_O | 64 × 768 | 49,512"], {"49512": "49152"}),
        (["W_Q | $768 \\times 64$ | 49,152", "all | 12 × (49,152 + 8) | 589,290"],
         {"589290": "589920"}),
        (["MHA | 4 × 512 × 512 | 1.05M", "FFN | 2 × 512 × 2048 | 2.3M",
          "all | 1.05M + 2.1M | 3.2M"],
         {"2.3": "2.1"}),
        # An image of so many points, and the size of a patch.
        (["large | 224 × 224 | 16", "small | 32 × 32 | 4"], {}),
    ],
)  # fmt: skip
def test_cells_are_worked_out_in_those_before_them(rows, found) -> None:
    """A column of them is, if its right ones tell so."""
    table = "\n".join(f"| {row} |" for row in ("part | how | n", "---|---|---", *rows))
    assert refuted(f"# Sizes\n\n{table}\n") == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I can calculate: 84.5 - 68.4 = 16.1 million people.", {}),
        ("I can calculate: 84.5 - 68.4 = 16.3 million people.", {"16.3e6": "16.1e6"}),
        ("So 2 × 3,500,000 = 8 million.", {"8e6": "7e6"}),
        ("```\nmatmul: (4,16) @ (32,64) → 16 ≠ 32\n```", {}),
        ("词表：-log(0.2)=1.609", {}),
        ("词表：log(0.2)=1.609", {"1.609": "-1.609"}),
        # An entry by its count, from 0 or from 1, and no product.
        ("P = [0.213, 0.235, 0.317, 0.235]\n\nP(2) = 0.317 and P(2) = 0.235", {}),
    ],
)
def test_signs_units_and_brackets_are_read_as_they_are_meant(text, found) -> None:
    assert refuted(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("```\nScores: [0.1, 0.9]  ← raw\n     ↓ (softmax)\nProbs:  [0.10, 0.90]  ← weights\n```",
         {"0.10": "0.31", "0.90": "0.69"}),
        ("```\nLogits: [2.0, 1.0, 0.5]\n\nScaled: [4.0, 2.0, 1.0]\n"
         "Probabilities: [0.84, 0.11, 0.04]\n\nScaled: [2.0, 1.0, 0.5]\n"
         "Probabilities: [0.66, 0.23, 0.14]\n```", {"0.66": "0.63"}),
        # A mask hides what no softmax makes zero.
        ("```\nScores:\n[0.30, 0.33, 0.37]\n[0.26, 0.37, 0.37]\n\nAfter softmax:\n"
         "[1.00, 0.00, 0.00]\n"
         "[0.30, 0.70, 0.00]\n```", {}),
        ("ロジット [2.0, 1.0, 0.5]  → softmax → [0.59, 0.23, 0.14]", {"0.59": "0.63"}),
        ("The variance([0, 0.24, 0.11]) = 0.012 and average([1, 2]) = 1.5.", {"0.012": "0.010"}),
        ("| Token | Logit | Probability (softmax) |\n|---|---|---|\n| apple | 2.5 | 0.40 |\n"
         "| banana | 2.0 | 0.26 |\n| carrot | 1.5 | 0.16 |\n| dog | 1.0 | 0.10 |\n",
         {"0.40": "0.46"}),
        ("Temperature reshapes it.\n\n### Before (temp = 1.0)\n\n```\nPython: 0.52\ncoding: 0.21\n"
         "coffee: 0.15\npizza: 0.12\n```\n\n### After (temp = 0.5)\n\n```\nPython: 0.85\n"
         "coding: 0.10\ncoffee: 0.04\npizza: 0.01\n```\n",
         {"0.85": "0.77", "0.10": "0.13", "0.04": "0.06", "0.01": "0.04"}),
        ("```python\nX = [\n    [0.1, 0.3, -0.2, 0.8],\n    [0.0, 0.1, 0.4, -0.1],\n]\n```\n\n"
         "Then\n\n```python\nnormalized_X = [\n    [-0.412, 0.137, -1.236, 1.511],\n"
         "    [-0.535, 0.000, 1.442, -1.069],\n]\n```\n", {"1.442": "1.604"}),
    ],
)  # fmt: skip
def test_words_and_names_say_what_blocks_are_made_of(text, found) -> None:
    assert refuted(text) == found
