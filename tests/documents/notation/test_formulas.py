r"""Formulas in LaTeX are read as chains of trees, what isn't understood as opaque."""

from __future__ import annotations

import pytest

from symattn.documents.notation import read_formula
from symattn.documents.trees import Chain, Labelled
from tests.documents.notation.reading_back import figures, shown, whole

KNOWN = {
    # names
    r"W^{(Q)} = W_Q": ["W_Q = W_Q"],
    r"\mathbf{q}_{\text{cat}} = (1, 0, 2)": ["q_cat = [1, 0, 2]"],
    r"\tilde S = \hat{y}": ["S_tilde = y_hat"],
    r"S_{\text{scaled}} \equiv \boldsymbol{\alpha}": ["S_scaled = alpha"],
    r"\text{Attention weights} = A": ["Attention_weights = A"],
    # products and transposes
    r"Q = X W^Q": ["Q = X @ W_Q"],
    r"S = QK^\top": ["S = Q @ K.T"],
    r"Q K^{\mathsf T} + (QK)^T": ["Q @ K.T + (Q @ K).T"],
    r"0.5\,X W_V": ["0.5 * X @ W_V"],
    r"A \odot B = A \circ B": ["A * B = A * B"],
    r"q_1 \cdot k_2 = 1 \cdot 0.5 + 2 \times 0.25": ["q_1 @ k_2 = 1 * 0.5 + 2 * 0.25"],
    r"[1, 0] \cdot [0.5, 2] = 0.5": ["[1, 0] @ [0.5, 2] = 0.5"],
    r"V = \begin{pmatrix} 1 & 0 \end{pmatrix}_{1 \times 2} = W_{n \times d}": ["V = [[1, 0]] = W"],
    # quotients, roots, powers, functions
    r"\frac{QK^T}{\sqrt{d_k}} \approx S / \sqrt 2": ["Q @ K.T / sqrt(d_k) ≈ S / sqrt(2)"],
    r"\dfrac12 = 0.5": ["1 / 2 = 0.5"],
    r"e^{0.5}/(e^{0.5}+1) \approx 0.62": ["exp(0.5) / (exp(0.5) + 1) ≈ 0.62"],
    r"\exp(x) = e^x, \quad x^2": ["exp(x) = exp(x)", "x**2"],
    r"\operatorname{softmax}\left(\frac{S}{2}\right)V": ["softmax(S / 2) @ V"],
    r"\mathrm{Attention}(Q, K, V)": ["Attention(Q, K, V)"],
    r"\text{softmax}_j(S_{ij})": ["softmax(S[i, j], j)"],
    r"A_{ij} = \frac{e^{S_{ij}}}{\sum_{k=1}^{3} e^{S_{ik}}}": [
        "A[i, j] = exp(S[i, j]) / sum(exp(S[i, k]), k)"
    ],
    r"\max(1, 0, 2) = 2": ["max(1, 0, 2) = 2"],
    # entries
    r"A_{12} = a_{1,2} = A_{2,:}": ["A[1, 2] = a[1, 2] = A[2, :]"],
    r"\alpha_{11} v_1 + \alpha_{12} v_2": ["alpha[1, 1] * v_1 + alpha[1, 2] * v_2"],
    # gradients
    r"\frac{\partial \mathcal{L}}{\partial W_Q} = X^T \nabla_Q L": ["grad(W_Q) = X.T @ grad(Q)"],
    r"\frac{dL}{dV} = A^\top dY": ["grad(V) = A.T @ dY"],
    r"\frac{\partial L}{\partial S_{ij}}": ["grad(S)[i, j]"],
    # arrays
    r"\begin{bmatrix} 1 & 0.5 \\ 0 & -2 \end{bmatrix}": ["[[1, 0.5], [0, -2]]"],
    r"\left[\begin{array}{cc} 1 & 2 \end{array}\right]^\top": ["[[1, 2]].T"],
    r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}": ["[[1], [2]]"],
    r"\begin{bmatrix} 1/\sqrt 2 & -\infty \\[4pt] e^{0.5} & 50.7\% \end{bmatrix}": [
        "[[1 / sqrt(2), -inf], [exp(0.5), 50.7%]]"
    ],
    # relations and what separates chains
    r"Q = 1 \Rightarrow K = 2": ["Q = 1", "K = 2"],
    r"x \to 0.5": ["x → 0.5"],
    r"a = 1, \qquad b := 2 \text{ and } c \doteq 3": ["a = 1", "b = 2", "'and'", "c ≈ 3"],
    r"\begin{aligned} a &= 1 + 2 \\ &= 3 \\ b &\approx 4 \end{aligned}": ["a = 1 + 2 = 3", "b ≈ 4"],
    r"\begin{align*} s &= 0.5 \\ &\quad + 0.25 \\ &= 0.75 \end{align*}": ["s = 0.5 + 0.25 = 0.75"],
    r"\begin{align} Q &= X A & K &= X B \\ &= [1, 2] & &= [3, 4] \end{align}": [
        "Q = X @ A = [1, 2]",
        "K = X @ B = [3, 4]",
    ],
    # what only says how it looks
    r"\underbrace{0.5 + 0.5}_{\text{sum} = 1} = 1.0": ["0.5 + 0.5 = 1.0", "sum = 1"],
    r"S \stackrel{\text{def}}{=} {W}_Q": ["S = W_Q"],
    r"\boxed{\color{red}{S}} = \underline{0.5}": ["S = 0.5"],
    r"\displaystyle\bigl(0.5\bigr)\,\cdot\;\mathbf{2} = 1.0 \tag{3}": ["0.5 * 2 = 1.0"],
    # numbers
    r"0{,}5 + 1.2 \times 10^{-3}": ["0.5 + 1.2e-3"],
    # gradients, and what only looks like one
    r"\frac{d L}{dV_{12}} = 0.5": ["grad(V)[1, 2] = 0.5"],
    r"\frac{dL}{d V} = \partial L/\partial V = A": ["grad(V) = grad(V) = A"],
    r"\partial L / dV = \partial L/d V": ["grad(V) = grad(V)"],
    r"\nabla_{V_{ij}} \mathcal{L} = \nabla_{W_Q}": ["grad(V)[i, j] = grad(W_Q)"],
    r"\frac{\partial x}{\partial V} = 1": [r"«\frac{\partial x}{\partial V}» = 1"],
    r"\partial x / \partial V = 1": [r"«\partial x / \partial V» = 1"],
    r"\partial L / V = 2": [r"«\partial L / V» = 2"],
    r"\nabla L = 0.5": [r"«\nabla L» = 0.5"],
    r"\frac{\partial L}{\partial (A + B)} = 2": [r"«\frac{\partial L}{\partial (A + B)}» = 2"],
    # functions with and without brackets, over an index, to a base
    r"\log_2 8 = \log_{2}(8)": ["log(8) / log(2) = log(8) / log(2)"],
    r"\sum_i \max_j S_{ij} = 3": ["sum(max(S[i, j], j), i) = 3"],
    r"\max_j (S_{ij}) = \sum_j A_{1j} \cdot V_j": ["max(S[i, j], j) = sum(A[1, j] * V[j], j)"],
    r"\exp[x] = \exp 0.5 = \ln 2": ["exp(x) = exp(0.5) = log(2)"],
    r"\exp[0.5, 1] = [1.65, 2.72]": ["exp([0.5, 1]) = [1.65, 2.72]"],
    r"\text{softmax}\begin{bmatrix} 1 & 2 \end{bmatrix} = A": ["softmax([[1, 2]]) = A"],
    r"\mathrm{softmax}{S} = \text{softmax}(S, \text{axis}=1)": ["softmax(S) = softmax(S)"],
    r"\text{softmax} = \sum = 1": ["softmax = sum = 1"],
    r"\sum_{j} = 1": [r"«\sum_{j}» = 1"],
    r"\exp_2 = 1": [r"«\exp_2» = 1"],
    r"\sqrt[3]{8} = \frac{}{2}": [r"«\sqrt[3]{8}» = «\frac{}{2}»"],
    r"S(1 + 2) = f(x) = \Delta W = \Delta": ["S * (1 + 2) = f(x) = Delta_W = Delta"],
    # which product it is
    r"-2 A B = \frac{1}{2} A B": ["-2 * A @ B = 1 / 2 * A @ B"],
    r"\sqrt{2} A = 2^3 A = \min(1, 2) A = \exp(2) A": [
        "sqrt(2) * A = 2**3 * A = min(1, 2) * A = exp(2) * A"
    ],
    r"A_{11} B = A_{ij} B_{jk}": ["A[1, 1] * B = A[i, j] * B[j, k]"],
    r"A \times B = x \times y = x^T \times y": ["A @ B = x * y = x.T @ y"],
    r"(Q K) \times V = (1 + 2) \times A": ["Q @ K @ V = (1 + 2) * A"],
    r"[1, 2] \times [3, 4] = [3, 8]": ["[1, 2] * [3, 4] = [3, 8]"],
    r"[1, 2] [3, 4] = 11": ["[1, 2] @ [3, 4] = 11"],
    r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix} \times B": ["[[1, 2], [3, 4]] @ B"],
    r"\begin{bmatrix} 1 & 2 \end{bmatrix} \begin{bmatrix} 1 \\ 1 \end{bmatrix} = 3": [
        "[[1, 2]] @ [[1], [1]] = 3"
    ],
    r"2 \times 10^{3} = 2 \cdot 10^{-3}": ["2e3 = 2e-3"],
    # what stands below and above
    r"XYZ^T = XY^T = abc^T": ["X @ Y @ Z.T = X @ Y.T = abc.T"],
    r"W^{(1)} = W^{(a+b)} = x^* = x^{i+1} = x'": [
        "W_1 = W**(a + b) = x_star = x**(i + 1) = x_prime"
    ],
    r"(A B)_{12} = (A B)_{3} = (A B)_{ij} = (A B)_{2 \times 3}": [
        "(A @ B)[1, 2] = (A @ B)[3] = (A @ B)[i, j] = A @ B"
    ],
    r"(A B)_{\text{x}} = 2_3 = 1": [r"«(A B)_{\text{x}}» = «2_3» = 1"],
    r"(A + B)^T = (A + B)^2 = A^{-1}": ["(A + B).T = (A + B)**2 = A**-1"],
    r"A[0, 1] = V[:, 1] = S[i, 0] = A[0][1] = A[i][j]": [
        "A[0, 1] = V[:, 1] = S[i, 0] = A[0, 1] = A[i, j]"
    ],
    r"A_{i+1,j} = A_{:,j} = A_{0:2,1} = A_{*,1}": ["A[i + 1, j] = A.T[j] = A[0:2, 1] = A[:, 1]"],
    r"x_{in} = A_{123} = d_{64} = \bar{x}_1 = \hat{\mathbf y}": [
        "x_in = A_123 = d_64 = x_bar_1 = y_hat"
    ],
    # lists that only blanks keep apart, and what is none
    r"[1 -2] = [1 2 3%] = [1 - 2]": ["[1, -2] = [1, 2, 3%] = 1 - 2"],
    r"[1 2; 3] = [[1, 2], 3]": ["«[1 2; 3]» = «[[1, 2], 3]»"],
    r"A = \begin{bmatrix} 1 & 2 \\ 3 \end{bmatrix}": [
        r"A = «\begin{bmatrix} 1 & 2 \\ 3 \end{bmatrix}»"
    ],
    # what isn't understood
    r"M_{ij} = \begin{cases} 0 & j \le i \\ 1 & j > i \end{cases} = 0.5": [
        r"M[i, j] = «\begin{cases} 0 & j \le i \\ 1 & j > i \end{cases}» = 0.5"
    ],
    r"M_{ij} = \left\{\begin{array}{ll} S_{ij} & i = 1 \\ 0 & \text{else} \end{array}\right.": [
        r"M[i, j] = «\begin{array}{ll} S_{ij} & i = 1 \\ 0 & \text{else} \end{array}»"
    ],
    r"\left\{\begin{aligned} a &= 1 \\ b &= 2 \end{aligned}\right.": ["a = 1", "b = 2"],
    r"X \in \mathbb{R}^{3 \times 4}, Q = 1": ["X", repr(r"\in \mathbb{R}^{3 \times 4}"), "Q = 1"],
    r"Q, K, V = X A, X B, X C": ["Q = X @ A", "K = X @ B", "V = X @ C"],
    r"Q, K = X": ["Q", "«K» = X"],
    r"Q = \oint 3 = 0.5": [r"Q = «\oint 3» = 0.5"],
}


@pytest.mark.parametrize("latex", KNOWN)
def test_a_formula_is_read_as_its_chains(latex: str) -> None:
    """A formula gives the chains that its author means."""
    assert shown(read_formula(whole(latex))) == KNOWN[latex]


def test_a_figure_knows_its_characters() -> None:
    """Each figure's place has the characters that it was read from."""
    latex = r"S = \begin{bmatrix} -0.50 & 12\% \\ 7 & e^{-1.5} \end{bmatrix} \approx 0{,}25"
    found = figures(read_formula(whole(latex)))
    assert [(one.text, latex[one.span.start : one.span.end]) for one in found] == [
        ("-0.50", "-0.50"),
        ("12%", r"12\%"),
        ("7", "7"),
        ("-1.5", "-1.5"),
        ("0.25", "0{,}25"),
    ]


def test_an_ellipsis_is_an_opaque_entry() -> None:
    """An array that is cut short keeps the entries that are there."""
    (chain,) = read_formula(whole(r"\begin{bmatrix} 0.5 & \cdots & 0.25 \end{bmatrix}"))
    assert [one.text for one in figures([chain])] == ["0.5", "0.25"]


@pytest.mark.parametrize(
    ("latex", "rows", "columns"),
    [
        (r"\text{cat} & 1 & 2 \\ \text{sat} & 3 & 4", ("cat", "sat"), ()),
        (
            r"& \text{mat} & \text{dog} \\ \text{cat} & 1 & 2 \\ \text{sat} & 3 & 4",
            ("cat", "sat"),
            ("mat", "dog"),
        ),
    ],
)
def test_labels_of_rows_and_columns_are_no_entries(latex: str, rows, columns) -> None:
    """Words before rows and above columns say whose they are."""
    (chain,) = read_formula(whole(rf"\begin{{bmatrix}} {latex} \end{{bmatrix}}"))
    assert isinstance(chain, Chain)
    (matrix,) = chain.members
    assert isinstance(matrix, Labelled)
    assert (
        tuple(one.removeprefix(r"\text{").removesuffix("}") for one in matrix.rows_said),
        tuple(one.removeprefix(r"\text{").removesuffix("}") for one in matrix.columns_said),
    ) == (rows, columns)
    assert [one.text for one in figures([chain])] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    "rows",
    [
        r"9 & a & b \\ \text{cat} & 1 & 2 \\ \text{sat} & 3 & 4",
        r"\text{cat} & x & 2 \\ \text{sat} & y & 4",
        r"x & 1 \\ y & 2",
    ],
)
def test_what_may_be_an_entry_is_one(rows: str) -> None:
    """Names of a letter, and words beside what is no number, are entries like others."""
    (chain,) = read_formula(whole(rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"))
    assert isinstance(chain, Chain)
    (matrix,) = chain.members
    assert isinstance(matrix, Labelled)
    assert (matrix.rows_said, matrix.columns_said) == ((), ())
    assert len(matrix.items) == rows.count(r"\\") + 1
