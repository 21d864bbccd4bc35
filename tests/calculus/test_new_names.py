"""Names and signs that may mean more than one thing: no text is proved as another one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.calculus.library import derive
from symattn.calculus.names import Names, spellings
from symattn.calculus.new_names import readings

CLAIMS = {
    "S, B: n x n\nA = softmax(S)\nrowsum(A) = ones(n)\n": (
        *(r"$A \mathbf{1} = \mathbf{0}$", r"$A \mathbf{1} = 5$", r"$\mathbf{A}\mathbf{1} = 5$"),
        *(r"$A\mathbb{1} = 5$", r"$A \mathrm{1} = 5$", "A 𝟏 = 5", r"$\mathbf{1}^T A = 5$"),
        *(r"$A \mathbf{e}_1 = 5$", "A1 = 1", "A11 = 5", "Aij = 5", "A_T = 5", "AT = A"),
        *("trA = 5", "sum_A = 5", "AB = 5", "e_1 = 5", "e_i = 5"),
    ),
    "z, y: n\np = softmax(z)\nL = -sum(y*log(p))\nsum(p) = 1\n": (
        *("z1 = 5", "p1 = 1", r"$p \mathbf{1} = 5$", "dz1 = 5", "dzi = 5", "zi = 5", "zTy = 5"),
        *("L_z = 0", "g_z = 0", "gz = 0", "Dz = 0", "δz = 0", "deltaz = 0", "H_z = 0", "dLz = 0"),
        *("grad_L = 0", "gradL = 0", "δL = 0", "d2L = 5", "d2L_dz2 = 5", "L_zz = 5"),
        *("dpi_dzj = 5", "dp_idz_j = 5", "J_p = 5", r"$\dot{z} = 5$", "x_bar = z\nz_bar = 0"),
    ),
    "t: number\nu = t**2\nu = t*t\n": (
        *(r"$\dot{u} = t$", "$u_{tt} = 5$", "u_tt = 5", "u_t = 5", "u2 = 5", "t2 = t*t"),
        *(r"$u \mathbf{2} = 5$", "w = t e^2\nw = e^2t", "w = t sin(2)\nw = sin 2*t"),
        *("w = 1/2\nw = 1 1/2", "w = t\nw = 2 1/2 t", r"$u = 2 \frac{1}{2} t$"),
        *("u = t^2 (1)", "u = t^2 [2]", "u = (t)^2\t(2.1)", "u = t*t (3)"),
    ),
    "x, dx: number\n": (
        "L = x^2\n((x + dx)^2 - x^2)/dx = 4 x",
        *(
            "L = x\nL + dx = x + 1",
            "J = x^2\nw = 3*dx\nw = 6*x",
            "f = x^2\nf: loss\ndx + 1 = 2*x + 1",
        ),
    ),
    "x, y: n\nA: n x n\n": (
        *("M = x * y^T\nM = x * y", "u = x + 1\nu = 1 + x^T", "x^T = x", "u = x^T\nu = x"),
        *("u = x^T A x\n∂u/∂x = A x + x^T A", "u = A x\nu^T = A x", "u = x + y^T", "-x^T = -x"),
        *("exp(x^T) = exp(x)", "u = x + y\nu^T / 2 = (x + y) / 2", "x^T A = A^T x"),
    ),
    "X: n x d\nx: n\neps: number\n": (
        "u = total(X)\n$u = total(\\mathcal{X})$",
        "$u = total(\\mathbf{X})$\n$u = total(X)$",
        *("𝐱 + 𝑥 = 2 x", "𝐱 + x = 2 x", "$u = \\epsilon + 1$\n$u = \\varepsilon + 1$"),
        *("u = sum(x)\n$u = sum(\\mathfrak{x})$", "u = ε + 1\nu = ϵ + 1"),
    ),
    "\\epsilon, \\varepsilon: number\n": ("u = \\epsilon + 1\nu = \\varepsilon + 1",),
    "x: n\nt: number\n": ("i^2 = -1", "e^{i t} = cos(t) + i sin(t)"),
}


@pytest.mark.sampled(55)
@pytest.mark.parametrize(
    ("known", "claim"), [(known, claim) for known, claims in CLAIMS.items() for claim in claims]
)
def test_what_may_mean_two_things_is_a_fault(known, claim) -> None:
    """No claim becomes the definition of a new name, and no sign is passed over."""
    assert not derive(known + claim).proved


@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    "text",
    [
        "S: n x n\nA = softmax(S)\nrowsum(A) = ones(n)\n$A \\mathbf{1}_n = \\mathbf{1}_n$",
        "S: n x n\nA = softmax(S)\n$rowsum(A) = \\mathbf{1}_n$",
        "z: n\np = softmax(z)\np_1 = softmax(z)_1\nz1 := 3\nz1 = 3",
        "h: n\nW: n x n\nh1 = W h\nh1 = W @ h\nh_new = 2 h\nh_new = h + h",
        "x: n\nKT = x x^T\nKT = x @ x.T",
        "X: n x m\nXT = X^T\nXT = X.T",
        "x, dx: number\ny = x + dx\ny - x = dx",
        "S, dA, dS: n x m\nA = softmax(S)\ndS = A * (dA - rowsum(A * dA))",
        "x, y: n\nu = x^T y\nu = sum(x*y)\nx^T y = y^T x\n(x + y)^T = x^T + y^T",
        "x: n\nA: n x n\nu = x^T A x\n∂u/∂x = A x + A^T x\ny = x^T A\ny^T = A^T x\ny = (A^T x)^T",
        "x, y: n\nM = x y^T\nM_ij = x_i y_j\nM^T = y x^T\ncolsum(M) = sum(x) * y",
        "x: n\nX: m x n\nX + x^T = X + ones(m) @ x.T",
        "x: n\nj x_j = x_j j\n\\sum_i i = n (n + 1) / 2",
        "t: number\nu = e^{2t}\nu = exp(2 t)\nsin t * cos t = cos(t) * sin(t)",
        "x: n\n$p = softmax(\\mathbf{x})$\n$\\sum_i p_i = 1$\n$x_i - x_i = 0$",
        "eps: number\n$u = \\epsilon + 1$\n$u - 1 = \\epsilon$",
        "x: n\nm = mean(x)\nx_bar = mean(x)\nL = sum(x)\nx_bar = m\nL = n m",
    ],
)
def test_what_means_one_thing_is_read(text) -> None:
    """Right texts beside the false ones are proved."""
    found = derive(text)
    assert [str(fault) for fault in found.faults] == []
    assert found.proved


@pytest.mark.parametrize(
    "text",
    [
        *("x, y: n\n(x, y) = x^T y", "x, y: n\nu = (x, y)\nu = x^T y", "x: n\n[x, x] = x"),
        *("t: number\n_u = t**2\n_u = t*t", "_t: number\nu = _t^2\nu = _t*_t"),
        *("t: number\n__ = t**2\n__ = t*t", "M, x: n\nwhere(M, x, 0*x) = M*x"),
    ],
)
def test_what_is_unread_is_printed(text) -> None:
    """Each text has a report, also with lines that say nothing."""
    found = derive(text)
    assert found.to_text()
    assert found._repr_html_()


PIECES = (
    *("x", "y", "A", "t", "_u", "__", "(", ")", "[", "]", "{", "}", "_", "^", "=", "+", "-", "*"),
    *(
        "/",
        "@",
        ",",
        ".T",
        "\\frac",
        "\\mathbf{1}",
        "\\dot{",
        "d",
        "∂",
        "∇",
        "e^",
        "sin ",
        "(x, y)",
    ),
    *("softmax(", "where(", "[1, 2]", "1", "2", " ", "i", "_i", "^T", "²", "√", "step(", "diff("),
    *("sum(j,", "True", '"a"', "0:2", "dx", "L", "axis=1"),
)
SIDES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)


@given(SIDES, SIDES)
def test_any_claim_has_a_report(left, right) -> None:
    """No claim of such pieces ends but in a report."""
    assert derive(f"x, y: 2\nA: 2 x 2\nt: number\n{left} = {right}\nx = x").to_text()


@given(st.text("dzAxi_12gradLTHJ", min_size=1, max_size=200))
def test_names_are_taken_apart_in_no_time(name) -> None:
    """However many ways there are; what is known is what they are made of."""
    names = Names({"z": 1, "A": 2, "L": 0, "dd": 1})
    assert {reading.of for reading in readings(name, names)} <= {"z", "A", "L", "dd"}


def test_spellings() -> None:
    """Entries are set as their array or not; accents make other names."""
    assert [*spellings(r"\mathbf{x} - x_i + \hat{\mathcal{x}}")] == [
        ("x", "style", "bold"),
        (r"\hatx", "style", "calligraphic"),
    ]
