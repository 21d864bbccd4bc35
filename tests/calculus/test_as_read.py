"""What a reader may take for something else is a fault, and never proved."""

from __future__ import annotations

import pytest

from symattn import derive

#: Texts whose last line a reader takes to be false: by what the notation means to them.
MEANT_OTHERWISE = [
    # What is assumed or defined holds of what it is said of.
    "x: n\nassume x_i = 0 for i ≠ 1\nx_1 = 0",
    "A: n x n\nassume A_ij > 0 for i ≠ j\nabs(A_ii) = A_ii",
    "x: n\nassume x_i = 0 for i=1,...,k\nx_n = 0",
    "x: n\nassume x_i = 0 for all but the last entry\nx_n = 0",
    "A: n x n\nassume A_ij = 0 in the first row\nA_nn = 0",
    "z: n\np = softmax(z)\nJ_ij = -p_i p_j for i ≠ j\nJ_ii = -p_i^2",
    "t, u: number\nCase 1. Assume t = 0.\nt u = 0\nCase 2. Assume u = 1.\nt u = 0",
    "t, u: number\n(a) assume t = 0\nt u = 0\n(b) assume u = 1\nt u = 0",
    "t: number\nassume we have t = 1\n## B\nt = 1",
    # Words may say how something is computed.
    "S: n x m\nA = softmax(S), along the columns\nrowsum(A) = ones(n)",
    "A, B: n x n\nC = A B elementwise\nC = A @ B",
    "X: n x d\nFor each row, $m = mean(X)$\nm = total(X)/(n d)",
    # Words may be factors.
    "A, B: n x n\nx: n\n$AB x = x$",
    "A, B: n x n\nx: n\nY = X AB\nY = X",
    "a, b: number\nx: n\n$ab x_i = x_i$",
    "x: n\ni x_i = x_i",
    "x: number\nvariance x = x",
    # Quotients, powers and roots.
    "x, \\sigma: number\n$e^{-x^2/2 \\sigma^2} = e^{-x^2 \\sigma^2/2}$",
    "x, s: number\ne^{-x^2/2 s^2} = e^{-x^2 s^2/2}",
    "x, y: number\nx y / x y = y^2",
    "p, q: n\nassume p > 0\nassume q > 0\n$\\log p_i / q_i = (\\log p_i)/q_i$",
    "x: n\n$x^{(2)} = x * x$",
    "S: n x n\n$softmax(S)^{-1} = 1/softmax(S)$",
    "S: n x n\n$S^{-1/2} = 1/\\sqrt{S}$",
    "x, y, z: number\nx **2+z** 2 = 2 x + 2 z",
    "A, B, C: n x n\n$A * B C = (A * B) C$",
    # Derivatives.
    "x: n\nL = sum(x^2)\ndL/dx^2 = 4 x^2",
    "x: number\nL = x^3\n∂L/∂x² = 9 x^4",
    "x: number\ny = x^2\ndx/dy = 0",
    # Functions of rows, and what they are called with.
    "x: n\nmean(x_i) = x_i",
    "t: number\nmax(t, 0) = t",
    "x, y: n\nmean(x, y) = y",
    "x: n\nE[x_i^2] = E[x_i]^2",
    "x: number\nf = x^2 + 1\nf(0) = 0",
    "x, y: number\nf = x^2\nf(-x) = -f(x)",
    "X: n x n\n$X_{ij}^T = X_{ij}$",
    # Sums, limits and indices.
    "x, y: n\n$\\sum_i x_i - y_i = sum(x) - y_i$",
    "t: number\n$\\lim_{t \\to 0} t + t = t$",
    "x: n\n$\\sum_n x_n / n = \\sum_i x_i/i$",
    "x: n\np_n = x_n^2\np_1 = x_n^2",
    "x: n\nk: number\np_k = k x_k\np_1 = k x_1",
    "x: n\nstep(1 <= x_i) x_i = x_i",
    # Displays and shapes.
    "x, y: number\n\\begin{align} 2x &= 2 & x &= 2x \\end{align}",
    "a, d: number\n$c = a \\quad d = a d$\n$c = a d$",
    "x: 2*n\ntotal(softmax(x)) = 2",
    "x: n, positive\ntotal(softmax(x)) = n",
]


@pytest.mark.sampled(40)
@pytest.mark.parametrize("text", MEANT_OTHERWISE)
def test_what_may_be_meant_otherwise_is_not_proved(text: str) -> None:
    """It has a fault, or is not proved: the command doesn't exit with 0."""
    found = derive(text)
    assert found.faults or not found.proved, found.to_text()


@pytest.mark.parametrize(
    "text",
    [
        "x: n\nassume x_i > 0 for all i\nabs(x_i) = x_i",
        "x: n\nassume x_i = 1 for i=1,...,n\nx_n = 1",
        "x: n\n$\\mu = 1/n \\sum_i x_i$\n\\mu = mean(x)",
        "z: n\np = softmax(z)\n$dp_i/dz_j = -p_i p_j$ for i ≠ j",
        "x: n\nt: number\nmaximum(t, 0) = relu(t)",
        "A: n x n\nx: n\nrowsum(softmax(A)) = ones(n), by definition of the softmax",
        "Exercise 1\nt: number\nassume t > 0\nabs(t) = t",
        "x, y: number\n\\begin{align} x + y &= y + x & 2x &= x + x \\end{align}",
        "z: n\np = softmax(z)\n\\begin{align}\ndp_i/dz_j &= -p_i p_j & (i \\neq j) \\\\\n"
        "dp_i/dz_i &= p_i (1 - p_i)\n\\end{align}",
        "p, q: n\nassume p > 0\nassume q > 0\n$\\log(p_i / q_i) = \\log(p_i) - \\log(q_i)$",
    ],
)
def test_what_can_be_meant_in_one_way_only_is_proved(text: str) -> None:
    """The same things, written so that they say what they mean."""
    found = derive(text)
    assert found.proved, found.to_text()
