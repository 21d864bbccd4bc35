"""Jacobians and second derivatives: known answers, differences, SymPy, laws."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symattn import audit, case, solve
from symattn.errors import Malformed, NoClosedForm, SymattnError, UnknownName
from symattn.numbers.sympy_bridge import to_sympy
from symattn.solution.solution import Solution

from ..strategies import few

STEPS = {
    "S": "Q @ K.T",
    "T": "S / sqrt(2)",
    "A": "softmax(T)",
    "Y": "A @ V",
    "L": "total(Y * Y)",
}


def made(q: list[list[object]], k: list[list[object]], v: list[list[object]]) -> Solution:
    """Attention with a loss that is no sum of its output."""
    return solve(case("small", {"Q": q, "K": k, "V": v}, STEPS, {"output": "L"}))


@pytest.fixture(scope="module")
def small() -> Solution:
    """Two queries, two keys."""
    return made([[1, 0], ["1/2", 1]], [[1, 1], [0, 2]], [[1, 0], [2, -1]])


def test_the_jacobian_of_a_softmax(small):
    """``A_j (delta_jk - A_k)``, within a row; between rows it is 0."""
    whole = small.jacobian("A", "T")
    assert whole.shape == (4, 4)
    assert whole.labels == (
        ("A[0, 0]", "A[0, 1]", "A[1, 0]", "A[1, 1]"),
        ("T[0, 0]", "T[0, 1]", "T[1, 0]", "T[1, 1]"),
    )
    weights = small["A"]
    for i in range(2):
        for j in range(2):
            for m in range(2):
                for k in range(2):
                    p, q = weights[i, j], weights[m, k]
                    expected = p * (int(j == k) - q) if i == m else 0
                    assert whole[2 * i + j, 2 * m + k] == expected
    assert small.jacobian("A[1]", "T[1, 0]") == whole[2:, 2:3]
    assert small["dA[1]/dT[1]"] == whole[2:, 2:]
    assert small["jacobian(A, T)"] == whole


def test_rows_and_columns_are_of_what_indices_choose(small):
    """Slices as well, and numbers by numbers."""
    part = small.jacobian("A[:, 1]", "K[0, 0:1]")
    assert part.labels == (("A[0, 1]", "A[1, 1]"), ("K[0, 0]",))
    assert part == small.jacobian("A", "K")[1::2, 0:1]
    assert small.jacobian("Y[0, 0]", "V[1, 0]")[0, 0] == small["A"][0, 1]
    assert [*small.jacobian("L", "V")[0]] == [x for row in small["dL/dV"].rows for x in row]


def test_latex_names_rows_and_columns(small):
    """Of entries of quantities with an index of their own, too."""
    assert small.jacobian("S[0]", "Q[0]").latex().splitlines() == [
        r"\begin{array}{c|cc}",
        r" & \partial Q_{0,0} & \partial Q_{0,1} \\ \hline",
        r"\partial S_{0,0} & 1 & 1 \\",
        r"\partial S_{0,1} & 0 & 2 \\",
        r"\end{array}",
    ]
    assert r"\partial\mathrm{d}Q_{0,0} &" in small.hessian("L", "Q").latex()


def test_the_hessian_of_a_loss_is_symmetric(small):
    """And the same by the other quantity first."""
    hessian = small.hessian("L", "Q")
    assert hessian.shape == (4, 4)
    assert all(hessian[i, j] == hessian[j, i] for i in range(4) for j in range(i))
    mixed, other = small.hessian("L", "Q", "K"), small.hessian("L", "K", "Q")
    assert all(mixed[i, j] == other[j, i] for i in range(4) for j in range(4))
    assert mixed.name == "d(dL/dQ)/dK"
    plain = solve(case("two", {"x": [1, 2]}, {"y": "x**3"}, {"output": "y"}))
    assert str(plain.hessian("L", "x")) == "[6, 0]\n[0, 12]"


_ENTRIES = st.fractions(min_value=-2, max_value=2, max_denominator=3)
_MATRICES = st.lists(st.lists(_ENTRIES, min_size=2, max_size=2), min_size=2, max_size=2)


@pytest.mark.heavy
@few
@given(_MATRICES, _MATRICES, _MATRICES, st.sampled_from("QKV"), st.sampled_from("QKV"))
def test_second_derivatives_are_differences_of_gradients(q, k, v, first, second):
    """Central differences of exact gradients, along a column."""
    numbers = {"Q": q, "K": k, "V": v}
    hessian = made(q, k, v).hessian("L", first, second).nearest()
    step = Fraction(1, 1 << 14)
    for i, j in ((0, 0), (1, 0)):
        sides = []
        for sign in (1, -1):
            moved = [list(row) for row in numbers[second]]
            moved[i][j] += sign * step
            sides.append(
                made(**{**{x.lower(): y for x, y in numbers.items()}, second.lower(): moved})
            )
        up, down = (side.gradient(first).nearest().ravel() for side in sides)
        assert np.allclose((up - down) / (2 * float(step)), hessian[:, 2 * i + j], atol=1e-4)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("of", "by"), [("A", "T"), ("A[0]", "Q"), ("Y", "K"), ("dL/dQ", "Q"), ("dL/dT[0]", "T[0]")]
)
def test_sympy_derives_the_same(small, of, by):
    """In letters of what it is by, with all numbers put in at the end."""
    exact = small.jacobian(of, by)
    found = exact.symbolic.matrix
    # The gradient that flows into the loss is 1.
    put = {letter: 1 for letter in found.free_symbols if str(letter).startswith("dL/dL")}
    for letter in found.atoms(sympy.Indexed) - put.keys():
        name, (i, j) = str(letter.base), map(int, letter.indices)
        put[letter] = to_sympy(small[name][i, j])
    for i, row in enumerate(exact.rows):
        for j, value in enumerate(row):
            ours = sympy.N(to_sympy(value), 30)
            assert abs(sympy.N(found[i, j].xreplace(put), 30) - ours) < 1e-25


def test_claims_may_be_of_jacobians():
    """A document prints one; a wrong figure of it is refuted."""
    read = case(
        "printed", {"T": [1, 0]}, {"A": "softmax(T)"},
        claims=[{"of": "dA/dT", "printed": [["0.20", "-0.20"], ["-0.20", "0.21"]]}],
    )  # fmt: skip
    verdicts = [str(figure.verdict) for figure in audit(read).figures]
    assert verdicts == ["holds", "holds", "holds", "refuted"]


def test_in_letters():
    """With symbols as inputs they are formulas."""
    s = solve(case("two", {"T": ["a", "b"]}, {"A": "softmax(T)"}, symbols="a b"))
    assert str(s.jacobian("A", "T")[0, 1]) == "-e^(b - a)/(1 + e^(b - a))^2"
    assert s.jacobian("A", "T").at(a=0, b=0).nearest().tolist() == [[0.25, -0.25], [-0.25, 0.25]]


@pytest.mark.parametrize(
    ("of", "by", "error", "said"),
    [
        ("T", "A", UnknownName, "dT/dA: T does not depend on A"),
        ("Z", "T", Malformed, "Z: a Jacobian is of a quantity, or of some entries of it"),
        ("A @ V", "T", Malformed, "A @ V: a Jacobian is of a quantity"),
        ("A[0][0]", "T", Malformed, "A[0][0]: expected indices in one bracket"),
        ("A[5]", "T", SymattnError, "index 5 is outside axis 0"),
        ("A", "T[0", Malformed, "expected"),
    ],
)
def test_what_is_no_jacobian(small, of, by, error, said):
    """What was wrong is said."""
    with pytest.raises(error) as caught:
        small.jacobian(of, by)
    assert said in str(caught.value)


def test_of_too_many_entries_some_are_asked_for():
    """Before anything is computed."""
    s = solve(case("wide", {"X": [[k] * 9 for k in range(9)]}, {"A": "softmax(X)"}))
    with pytest.raises(Malformed, match=r"a Jacobian of 81x81 entries, beyond 4096: take some"):
        s.jacobian("A", "X")
    assert s.jacobian("A[0]", "X[0]").shape == (9, 9)


def test_a_part_of_a_quantity_has_no_formula(small):
    """What is no step, gradient or Jacobian."""
    with pytest.raises(Malformed, match=r"A\[0\] is no step, gradient or Jacobian"):
        _ = small["A"][0].symbolic
    with pytest.raises(NoClosedForm):
        _ = solve(case("large", {"X": [[1] * 60] * 60}, {"Y": "X @ X @ X"}))["Y"].symbolic
