"""Closed statements: what tables, names, words and lists say of figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn.documents.binding.stated import StatedBlock, Statement
from symattn.expressions import syntax
from tests.documents.test_statements import refuted, softmax

ENTRIES = st.lists(st.integers(-4, 4), min_size=6, max_size=6)
HEADS = r"""We compute $S = QK^T / \sqrt2$ and $A = softmax(S)$.

## Head 1

$Q = [[1, 0], [0, 2], [1, 1]]$, $K = [[0, 1], [1, 1], [2, 0]]$

$S = [[0.000, 0.707, 1.414], [1.414, 1.414, 0.000], [0.707, 1.414, 1.414]]$

## Head 2

$Q = [[2, 1], [0, 1], [1, 0]]$, $K = [[1, 0], [-1, 1], [0, 1]]$

$S = [[1.414, -0.707, 0.707], [0.000, 0.707, 0.707], [0.707, ENTRY, 0.000]]$
"""
TOKENS = 'The sentence is "tea helps me".\n\n$Q = [[1, 0], [0, 1], [1, 1]]$, $K = Q$, $V = Q$.\n\n'
A = softmax(np.array([[1, 0, 1], [0, 1, 1], [1, 1, 2]]) / np.sqrt(2))
WEIGHTS = [[float(f"{x:.3f}") for x in row] for row in A]
SHOWN = f"$A = softmax(Q K^T / sqrt(2)) = {WEIGHTS}$\n\n"
MATRIX = "$X = [[1, 2], [3, 4]]$, $W = [[2, 1], [0, 5]]$\n\n"
LIST = (
    "The temperature divides them.\n\n```\nlogits:  A=4.0  B=2.0  C=1.0  D=-1.0\n\n"
    "T=2.0 → logits/T:  A=2.0  B=1.0  C=0.5  D=-0.5\n   probs: "
)


def table(rows, head=("token", "$q = x W$")):
    """A table of rows with labels."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # A block is read in one way: another way gives this one figure, and no other.
        (
            "$Q = [[1, 1], [0, 2]]$, $K = [[1, 0], [2, -2]]$\n\n"
            "$S = Q K^T = [[1, 0], [0, -4]]$\n\n$S = S / sqrt(2) = [[0.7071, 0], [0, -2.8284]]$\n\n"
            "$A = softmax(S) = [[0.6698, 0.3302], [0.9820, 0.0558]]$",
            {"0.9820": "0.9442"},
        ),
        # A formula goes on where all its operands are given anew.
        (HEADS.replace("ENTRY", "-0.707"), {}),
        (HEADS.replace("ENTRY", "0.707"), {"0.707": "-0.707"}),
        # Not over those of the first.
        (
            HEADS.partition("$Q = [[2")[0]
            + "$S = [[0.3, 1.7, 2.9], [0.4, 1.1, 0.6], [3.1, 0.2, 0.9]]$",
            {},
        ),
        # Three names mean one matrix.
        (
            "$X = [[1, 0], [0, 1], [1, 1]]$\n\n$Q = K = V = X$\n\n"
            "$Q K^T = [[1, 0, 1], [1, 1, 1], [1, 1, 2]]$",
            {"1": "0"},
        ),
        # A matrix of vectors that stand beside each other.
        (
            "\\[ x_1 = \\begin{pmatrix} 1 \\\\ 0 \\end{pmatrix}, x_2 = \\begin{pmatrix} 0 \\\\ 1"
            " \\end{pmatrix}, x_3 = \\begin{pmatrix} 2 \\\\ 1 \\end{pmatrix},"
            " X = \\begin{pmatrix} x_1 & x_2 & x_3 \\end{pmatrix} \\]\n\n"
            "\\[ W = \\begin{pmatrix} 0 & 1 \\\\ 2 & 0 \\end{pmatrix} \\]\n\n"
            "\\[ K = W X = \\begin{pmatrix} 0 & 1 & 3 \\\\ 2 & 0 & 4 \\end{pmatrix} \\]",
            {"3": "1"},
        ),
        # A shape is no matrix of vectors.
        ("B = 2, T = 3\n\nX has shape (B, T) = (2, 4)", {}),
        # A formula of all rows is that of the one with a label.
        (
            "$k_i = x_i W$ with $W = [[1, 0], [0.5, 1]]$\n\n$x_1 = [1, 1]$, $x_2 = [2, -1]$\n\n"
            "$k_1 = [1.5, 1.0]$ and $k_2 = [1.5, 1.0]$",
            {"1.0": "-1.0"},
        ),
        # A table below a name, and one whose columns have formulas.
        (
            f"{MATRIX}$S = X W$\n\nS\n\n"
            + table([("a", "2", "11"), ("b", "6", "21")], ("", "a", "b")),
            {"21": "23"},
        ),
        (
            "$W = [[1, 0], [0.5, 1]]$\n\nx_tea = [1, 1], x_time = [2, -1]\n\n"
            + table([("tea", "[1.5, 1.0]"), ("time", "[1.5, 1.0]")]),
            {"1.0": "-1.0"},
        ),
        # Columns that are steps are no matrix.
        (
            "scores = [1.0, 2.0]\n\n"
            + table([("tea", "1.0", "2.718"), ("time", "2.0", "7.389")], ("", "score", "exp")),
            {},
        ),
        # What is called a sum is that of the exponentials before it.
        ("e^1.2 = 3.320, e^0.4 = 1.492, e^0.7 = 2.014\n\nThe sum is 6.862, so", {"6.862": "6.826"}),
        ("e^1.2 = 3.320, e^0.4 = 1.492, e^0.7 = 2.014\n\nThe sum is 6.826, so", {}),
        ("```\nexp(1.2) = 3.320\nexp(0.4) = 1.492\nsum = 4.182\n```", {"4.182": "4.812"}),
        ("e^1.2 = 3.320 and e^0.4 = 1.492; the sum of all 50 is 97.31", {}),
        # Of exponentials the weights are the parts.
        (
            "```\nlogits:  4.0  2.0  1.0\nexp:  54.6  7.39  2.72\nprobs:  0.834  0.114  0.042\n```",
            {"0.834": "0.844"},
        ),
        # Numbers given to names one after another, with one blank between them.
        (
            f"{LIST}A=0.46 B=0.26 C=0.17 D=0.11\n```",
            {"0.46": "0.60", "0.26": "0.22", "0.17": "0.13", "0.11": "0.05"},
        ),
        (f"{LIST}A=0.60 B=0.22 C=0.13 D=0.05\n```", {}),
        # What words call a part is what it is said to be.
        (
            "$Q = X W$\n\n$X = [[2, 0], [0, 1], [1, 1]]$, $W = [[1, 0], [1, 1]]$\n\n"
            "Compute the queries.\n\n"
            + table([("1", "2", "0"), ("2", "1", "1"), ("3", "1", "1")], ("note", "q1", "q2")),
            {"1": "2"},
        ),
        # Sizes are given anew, and dates, letters of thousands and remarks are no values.
        ("`d_ff = (8/3)·d_model`. One has `d_model = 4096` and `d_ff = 11008`.", {}),
        ("Discussed: 2025-11-18 ~ 2025-11-19", {}),
        ("$M \\approx 20$ MB\n\n$67\\text{M} / 395 \\approx 170$K elements", {}),
        (
            "```\n4. Softmax饱和 → logits→15-20 → gates→0.9999\n\n"
            "问题: logits→15-20 → gates→0.9999\n```",
            {},
        ),
        ("e^-2 = 0.135, x = 2\n\ne^1.2 = 3.320, e^0.4 = 1.492\n\nThe sum is 4.812, so", {}),
        # What is called a softmax of scores are weights.
        (
            "#### Value $V$\n\n$$[[2, 2], [1, 2], [3, 1]]$$\n\n#### Softmax of the scores\n\n"
            "$$[[0.786, 0.191, 0.023], [0.919, 0.054, 0.027], [0.979, 0.014, 0.007]]$$\n\n"
            "#### Output\n\n$$[[1.832, 1.977], [1.973, 1.973], [1.993, 1.939]]$$",
            {"1.939": "1.993"},
        ),
        # A label or a heading says by its formula, or its divisor, what the block below is.
        (
            "Q = [[1, 0], [0, 2]]\nK = [[1, 1], [2, 0]]\n\n## Step 2: Scaled scores QK^T/√2\n\n"
            + table([("tea", "1.000", "2.000"), ("time", "2.000", "0.000")], ("", "tea", "time")),
            {"1.000": "0.707", "2.000": "1.414"},
        ),
        (
            "```\nQ = [[1, 0], [0, 2]]\nK = [[1, 1], [2, 0]]\n```\n\n**Scores (Q·Kᵀ):**\n\n"
            "```\ntea: [1, 2]\ntime: [2, 0]\n```\n\n**Scaled scores (divide by √2 ≈ 1.414):**\n\n"
            "```\ntea: [0.707, 1.414]\ntime: [1.414, 0.100]\n```",
            {"0.100": "0.000"},
        ),
        # What a row is called it is of the row that was called so.
        (
            "```\ntea: [1.0, 2.0, 0.5]\ntime: [0.0, 0.0, 3.0]\n```\n\n**After softmax:**\n\n"
            "```\ntea: [0.231, 0.629, 0.140]\ntime: [0.045, 0.045, 0.909]\n```",
            {},
        ),
        # A part of attention is what it usually is only where its figures say so.
        (
            "#### Query $Q$\n\n$$[[3, 1], [2, 2]]$$\n\n#### Key $K$\n\n$$[[2, 3], [2, 1]]$$\n\n"
            "#### Scores\n\n$$[[0.31, 0.27], [0.64, 0.85]]$$",
            {},
        ),
        (
            "deviation = √variance = √0.132 = 0.363\n\n## Notes\n\nvariance = 0.132\n\n"
            "Then mean ≈ 0 and deviation ≈ 1.",
            {},
        ),
    ],
)
def test_what_is_said_is_held_against_the_figures(text, found) -> None:
    assert refuted(text) == found


@settings(max_examples=25, deadline=None)
@given(ENTRIES, ENTRIES, st.integers(0, 8), st.integers(5, 9))
def test_a_table_is_what_its_caption_is_said_to_be(queries, keys, at, off) -> None:
    """Any wrong cell is refuted with the right number, and nothing where all are right."""
    scores = np.reshape(queries, (3, 2)) @ np.reshape(keys, (3, 2)).T
    cells = [str(int(x)) for x in scores.ravel()]
    rows = [(label, *cells[3 * k : 3 * k + 3]) for k, label in enumerate("abc")]
    of = "$S = Q K^T$ with $Q = {}$ and $K = {}$\n\nS\n\n".format(
        *(np.reshape(x, (3, 2)).tolist() for x in (queries, keys))
    )
    assert refuted(of + table(rows, ("", "a", "b", "c"))) == {}
    wrong = str(int(cells[at]) + 10 * off + 3)
    rows[at // 3] = tuple(wrong if k == at % 3 + 1 else x for k, x in enumerate(rows[at // 3]))
    assert refuted(of + table(rows, ("", "a", "b", "c"))) == {wrong: cells[at]}


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        # 24.8 % is right; 28.4 is no weight, nor what two come to.
        ('"tea" gives 28.4 % to "helps" and 40.1 % to itself.', {"28.4": "19.8"}),
        ("`tea` gives 28.4 % to `helps`, and `me` keeps 50.3 % for itself.", {"28.4": "19.8"}),
        ('"tea" gives 19.8 % to "helps" and 40.1 % to itself.', {}),
        # What two weights have together, and what one has more than another, is none.
        ('"tea" gives 59.9 % to "helps" and the last, and 40.1 % to itself.', {}),
        ('"tea" gives 20.3 % more to "me" than to "helps", and 40.1 % to itself.', {}),
        # Nothing beside it tells that these weights are spoken of.
        ('"tea" gives 28.4 % to "helps".', {}),
    ],
)
def test_a_sentence_is_refuted_where_no_weight_is_its_figure(sentence, found) -> None:
    assert refuted(f"{TOKENS}{SHOWN}## In words\n\n{sentence}\n") == found


def test_a_block_is_read_in_one_way() -> None:
    """A figure is right by another reading if half as many figures of the block are."""
    value, *readings = map(syntax.parse, ("[1, 2, 3, 8]", "[1, 2, 3, 4]", "[5, 6, 7, 8]"))
    block = StatedBlock((Statement(value, value, tuple(readings), ""),), {})
    assert block.best is not None
    assert block.best[3] == [True, True, True, False]
    other = syntax.parse("[1, 5, 6, 8]")
    block = StatedBlock((Statement(value, value, (*readings, other), ""),), {})
    assert block.best is not None
    assert block.best[3] == [True, True, True, True]


def test_nothing_follows_from_what_is_open() -> None:
    """One other entry of Q would explain the row of scores: whichever is wrong, what is computed of
    these scores as they are printed is not."""
    text = (
        "#### Query $Q$\n\n$$[[3, 1], [2, 2], [1, 3]]$$\n\n#### Key $K$\n\n"
        "$$[[2, 3], [2, 1], [1, 1]]$$\n\n#### Value $V$\n\n$$[[2, 2], [1, 2], [3, 1]]$$\n\n"
        "#### Scores, already divided by $\\sqrt{2}$\n\n$$[[6.36396, 4.94975, 2.82843],"
        " [5.65685, 2.82843, 2.12132], [7.77817, 3.53553, 2.82843]]$$\n\n"
        "#### Softmax of the scores\n\n$$[[0.78600, 0.19109, 0.02291],"
        " [0.91891, 0.05431, 0.02678], [0.97900, 0.01407, 0.00694]]$$\n"
    )
    assert refuted(text) == {}


def test_remarks_behind_outputs_are_no_part_of_them() -> None:
    text = (
        "```python\nimport numpy as np\nz = np.array([2.0, 1.0, 0.1])\nfor T in [0.5, 1.0]:\n"
        "    e = np.exp(z / T)\n    print(f'T={T}: {e / e.sum()}')\n```\n\n"
        "```\nT=0.5: [0.86377712 0.11689952 0.01932336]  # sharp\n"
        "T=1.0: [0.65900114 0.34243297 0.09856589]  # as it is\n```\n"
    )
    assert refuted(text) == {"0.34243297": "0.24243297"}
