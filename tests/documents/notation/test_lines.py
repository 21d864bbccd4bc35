"""Formulas among words are found where they stand; numbers in words are figures."""

from __future__ import annotations

import pytest

from tests.documents.notation.reading_back import figures, read_line, shown, whole

KNOWN = {
    "Row 0: 0.5066 + 0.1863 = 0.6929 ✓": ["'Row 0:'", "0.5066 + 0.1863 = 0.6929", "'✓'"],
    "please → [1, 0]": ["please → [1, 0]"],
    "The = [1, 0, 1, 0]": ["The = [1, 0, 1, 0]"],
    "e^-1 ≈ 0.368": ["exp(-1) ≈ 0.368"],
    "dim 1: 0.422 + 0.422 = 0.844 → ≈ 1.576 (from notes)": [
        "'dim 1:'",
        "0.422 + 0.422 = 0.844 → 1.576",
        "'(from notes)'",
    ],
    "kept → 7 x 4/3 ≈ 9.33": ["kept → 7 * 4 / 3 ≈ 9.33"],
    "a 3 x 4 matrix": ["'a 3 x 4 matrix'"],
    "[0.5, 1.5]... (first 2)": ["«[... (first 2)»", "'... (first 2)'"],
    "scores[0][1] = [1,0] · [0,1] = 1×0 + 0×1 = 0.0": [
        "scores[0, 1] = [1, 0] @ [0, 1] = 1 * 0 + 0 * 1 = 0.0"
    ],
    'Attention weights for "study": [0.106, 0.787]': [
        "'Attention weights for \"study\":'",
        "[0.106, 0.787]",
    ],
    "(0.5066, 0.1863)": ["[0.5066, 0.1863]"],
    "[0.5066 -0.1863]": ["[0.5066, -0.1863]"],
    "[[1. 0.] [0. 1.]]": ["[[1., 0.], [0., 1.]]"],
    "So Q = K = 0.5 · X, V = X. (Choosing them.)": [
        "'So'",
        "Q = K = 0.5 * X",
        "','",
        "V = X",
        "'. (Choosing them.)'",
    ],
    "S = (Q K^T) / sqrt(d_k) = Q Kᵀ/√d_k": ["S = Q @ K.T / sqrt(d_k) = Q @ K.T / sqrt(d_k)"],
    "Attention(Q, K, V) = softmax(QKᵀ / √dk) · V": [
        "Attention(Q, K, V) = softmax(Q @ K.T / sqrt(dk)) @ V"
    ],
    "softmax(xᵢ) = e^xᵢ / Σ e^xⱼ": ["softmax(x[i]) = exp(x[i]) / sum(exp(x[j]))"],
    "∂L/∂Q = (∂L/∂S) K / sqrt(d_k).": ["grad(Q) = grad(S) @ K / sqrt(d_k)", "'.'"],
    "√d_k = √4 = 2.0": ["sqrt(d_k) = sqrt(4) = 2.0"],
    "please → study: [1,0]·[0,2] = 0": ["'please → study:'", "[1, 0] @ [0, 2] = 0"],
    "logits = [-0.005, −0.038, -inf, -∞]": ["logits = [-0.005, -0.038, -inf, -inf]"],
    "rate = 1e−3, decay = 2.5e–4": ["rate = 1e-3", "','", "decay = 2.5e-4"],
    "Token 0 (50.7%), then Token 2 (30.7%)": ["'Token 0 (50.7%), then Token 2 (30.7%)'"],
    "In 2017, section 3.2.1 had 12 pages.": ["'In 2017, section 3.2.1 had 12 pages.'"],
    "∂L/∂A = (∂L/∂Y) V^T and ∂L/∂V = A^T (∂L/∂Y)": [
        "grad(A) = grad(Y) @ V.T",
        "'and'",
        "grad(V) = A.T @ grad(Y)",
    ],
    # remarks in brackets, sizes, counts and hyphens are no mathematics
    "K = X W_K (4×3), A = softmax(S) (row-wise)": [
        "K = X @ W_K",
        "'(4×3),'",
        "A = softmax(S)",
        "'(row-wise)'",
    ],
    "mask: 6 sets of 4-dimensional rows, 268M": ["'mask: 6 sets of 4-dimensional rows, 268M'"],
    "W_Q ∈ R^{4×3}, 1.75 ≠ 2": ["'W_Q ∈ R^{4×3}, 1.75 ≠ 2'"],
    # what may have begun before stays open
    "exp(3 × 2) ≈ 403.4 and Q (3 × 2) = [1, 0]": ["exp(3 * 2) ≈ 403.4", "'and'", "Q = [1, 0]"],
    "32 ops per row × 4 = 128": ["'32 ops per'", "«row × 4» = 128"],
    "Q, K, V = X A, X B, X C": ["Q = X @ A", "K = X @ B", "V = X @ C"],
    "So ∂L/∂S = dA, Σ = 5.367": ["'So'", "grad(S) = dA", "','", "sum = 5.367"],
    "A(cat, sat) = 0.34, q1.k2 = 3": ["A(cat, sat) = 0.34", "', q1.k2 = 3'"],
    "x = f(a, ..., b) W": ["x = «f(a, ..., b) W»"],
    "Wq = [[1, 0]] Wk = [[0, 1]]": ["Wq = [[1, 0]]", "Wk = [[0, 1]]"],
    "S₁₂ = qᵢ·kⱼ": ["S[1, 2] = q[i] @ k[j]"],
    "A = [0.5 0.5; 0.25 0.75]": ["A = [[0.5, 0.5], [0.25, 0.75]]"],
    "e^(0.5) = √(4) = √ 4 = exp[0.5]": ["exp(0.5) = sqrt(4) = sqrt(4) = exp(0.5)"],
    "max_j S[i,j] = Σ_j A[i,j]": ["max(S[i, j], j) = sum(A[i, j], j)"],
    "dL/dV = ∂L/d V = ∇_V L": ["grad(V) = grad(V) = grad(V)"],
    "ΔW = 0.5 × 10^-3": ["Delta_W = 0.5e-3"],
    "S = softmax(X, dim = -1)": ["S = softmax(X)"],
    "A chapter about attention": ["'A chapter about attention'"],
}


@pytest.mark.parametrize("line", KNOWN)
def test_a_line_is_read_as_words_and_chains(line: str) -> None:
    """Chains begin and end where an author's reader sees them begin and end."""
    assert shown(read_line(whole(line))) == KNOWN[line]


def test_numbers_in_words_are_figures() -> None:
    """Numbers among words are kept, with their percent signs, at their places."""
    line = "Token 0 pays 42.2% attention, 1,024 times in GPT-2"
    found = figures(read_line(whole(line)))
    assert [(one.text, line[one.span.start : one.span.end]) for one in found] == [
        ("0", "0"),
        ("42.2%", "42.2%"),
        ("1024", "1,024"),
        ("2", "2"),
    ]
