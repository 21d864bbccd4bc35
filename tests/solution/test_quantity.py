"""A quantity: entries, digits, floats and text, in the quantity's own shape."""

from __future__ import annotations

import re
import threading
from decimal import Context, Decimal
from fractions import Fraction

import gmpy2
import numpy as np
import pytest
import sympy

import symattn
from symattn import Malformed, Undecided, Verdict
from symattn.cases.case import make
from symattn.numbers.reading import MASKED

STEPS = {"A": "softmax(X)", "v": "A[0]", "s": "total(A @ X.T)", "M": "causal(X)"}


@pytest.fixture
def solved():
    return symattn.solve(make("t", {"X": [[1, 0], ["1/2", "1/3"]]}, STEPS))


def test_digits_come_in_the_shape_of_the_quantity(solved):
    """A matrix is nested tuples, a vector a tuple, a scalar a Decimal; floats likewise."""
    assert solved["A"].decimal(2)[0] == (Decimal("0.73"), Decimal("0.27"))
    assert solved["v"].decimal(2) == (Decimal("0.73"), Decimal("0.27"))
    assert isinstance(solved["s"].decimal(2), Decimal)
    for name, shape in {"A": (2, 2), "v": (2,), "s": ()}.items():
        assert solved[name].shape == shape
        for form in ("float64", "float32", "float16"):
            found = solved[name].nearest(form)
            assert (found.shape, found.dtype) == (shape, np.dtype(form))
        assert solved[name].nearest("bfloat16").dtype == np.float32


@pytest.mark.parametrize(
    ("form", "bits", "least"),
    [("float64", 53, -1074), ("float32", 24, -149), ("float16", 11, -24), ("bfloat16", 8, -133)],
)
def test_floats_are_the_nearest_of_each_format(form, bits, least):
    """MPFR's in that many bits, down to the smallest number that the format holds."""
    scores = [0, 1, "-1/3", -9, -16, -40, -89, -102, -104, -708, -744, -746]
    solved = symattn.solve(make("t", {"X": scores}, {"A": "softmax(X)"}))
    with gmpy2.context(precision=2000):
        powers = [gmpy2.exp(gmpy2.mpfr(gmpy2.mpq(str(x)))) for x in scores]
        wanted = [power / sum(powers) for power in powers]
    with gmpy2.context(precision=bits, emin=least + 1, subnormalize=True):
        expected = [float(gmpy2.mpfr(x)) for x in wanted]
    assert solved["A"].nearest(form).tolist() == expected


def test_entries_are_reached_as_in_numpy(solved):
    """at() takes as many indices as there are axes, negative ones too."""
    assert str(solved["A"].at(-2, -1)) == str(solved["A[0, 1]"].at()) == "1/(1 + e)"
    assert str(solved["v"].at(-1)) == "1/(1 + e)"
    for name, place, message in [
        ("A", (0,), "A: 2x2: expected 2 indices, found 1"),
        ("A", (2, 0), "A: index 2 is outside axis 0 of 2x2: expected -2 to 1"),
        ("v", (-3,), "v: index -3 is outside axis 0 of a vector of 2: expected -2 to 1"),
        ("s", (0,), "s: 1 indices into a scalar"),
    ]:
        with pytest.raises(Malformed, match=re.escape(message)):
            solved[name].at(*place)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("A[0]", "[e/(1 + e), 1/(1 + e)]"),
        ("A[0, 0] + A[0, 1]", "1"),
        ("2 * v", "[2*e/(1 + e), 2/(1 + e)]"),
        ("dL/dX", "[1, 0]\n[1, 1]"),
        ("grad(X)", "[1, 0]\n[1, 1]"),
        ("3 * dL/dX[1, 0] - grad(X)[0, 1]", "3"),
        ("A.T[1, 0]", "1/(1 + e)"),
    ],
)
def test_expressions_are_quantities(solved, expression, text):
    """Steps, entries, gradients and anything built of them."""
    assert str(solved[expression]) == text


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("Z", "unknown name 'Z'"),
        ("dL/dZ", "unknown name 'Z'"),
        ("A @", "found the end"),
        ("A == A and A == A", "are no quantities"),
        ("9**9**9", "a power takes a whole number written out, found 9**9"),
        ("A @ v @ v @ v", "one side is a scalar"),
        ("", "found the end"),
    ],
)
def test_what_is_no_expression_is_refused(solved, expression, message):
    """Unknown names, broken text and shapes that don't fit are refused."""
    with pytest.raises(Malformed, match=re.escape(message)):
        solved[expression]


def test_expressions_without_a_value_are_refused_when_asked(solved):
    """A division by zero in an expression is an error of the entry that is asked for."""
    quantity = solved["1 / (A - A)"]
    for ask in (
        lambda: quantity.exact,
        lambda: quantity.decimal(2),
        lambda: quantity.nearest(),
        lambda: quantity.at(0, 0),
    ):
        with pytest.raises(Malformed, match="division by zero"):
            ask()


def test_masked_scores_are_shown_as_minus_infinity(solved):
    """Exactly, in digits, in floats, in text and in LaTeX."""
    masked = solved["M"]
    assert masked.at(0, 1) is MASKED
    assert masked.exact == sympy.Matrix(
        [[1, -sympy.oo], [sympy.Rational(1, 2), sympy.Rational(1, 3)]]
    )
    assert str(masked) == "[1, -inf]\n[1/2, 1/3]"
    assert masked.nearest("float16")[0].tolist() == [1.0, -np.inf]
    assert masked.significant(3)[0] == (Decimal("1.00"), Decimal("-Infinity"))
    assert r"-\infty" in masked.latex()
    assert masked.equals(solved["causal(X)"]) is Verdict.HOLDS
    assert masked.equals(solved["X"]) is Verdict.REFUTED


def test_rounding_modes_are_those_of_the_case():
    """The case's mode rounds unless another is named; unknown ones are refused."""
    case = make("t", {"X": ["1/8", "-1/8"]}, {"Y": "X"}, rounding="half-up")
    quantity = symattn.solve(case)["Y"]
    assert quantity.decimal(2) == (Decimal("0.13"), Decimal("-0.13"))
    assert quantity.decimal() == quantity.decimal(4) == (Decimal("0.1250"), Decimal("-0.1250"))
    assert quantity.significant() == quantity.significant(6)
    assert quantity.decimal(2, "half-even") == (Decimal("0.12"), Decimal("-0.12"))
    assert quantity.significant(2, "floor") == (Decimal("0.12"), Decimal("-0.13"))
    with pytest.raises(Malformed, match="unknown rounding 'up-ish'"):
        quantity.decimal(2, "up-ish")  # type: ignore[arg-type]
    with pytest.raises(Malformed, match="unknown format 'float8'"):
        quantity.nearest("float8")  # type: ignore[arg-type]
    with pytest.raises(Malformed, match="expected 0 to 1000 places"):
        quantity.decimal(-1)


def test_coefficients_are_rounded_as_the_case_says():
    """What stands before a symbol, and the rest, in the case's mode."""
    loss = {"output": "Y", "upstream": ["g", 1]}
    case = make("t", {"X": [1, 2]}, {"Y": "X / 8"}, loss, rounding="half-up")
    gradient = symattn.solve(case)["dX"]
    assert gradient.decimal(2) == ("0.13*g", Decimal("0.13"))
    assert gradient.coefficient("g").decimal(2) == (Decimal("0.13"), Decimal("0.00"))
    assert gradient.coefficient("1").decimal(2) == (Decimal("0.00"), Decimal("0.13"))
    assert repr(gradient.coefficient("g")) == "<dL/dX [g]: a vector of 2>"


def test_names_in_a_solution(solved):
    """Steps and gradients by name; each quantity is made once, and called as it was asked for."""
    assert list(solved) == ["X", "A", "v", "s", "M"]
    for name in ("A", "X", "dL/dX", "dL/dM"):
        assert name in solved
        assert solved[name].name == name
        assert solved[name] is solved[name]
    for name in ("Z", "dL/dZ", "A[0]", "dL/dA"):
        assert name not in solved
    assert solved["A[0]"].name == "A[0]"
    node = solved.program.quantities["A"]
    assert solved.quantity(node) is solved.quantity(node)
    assert solved.quantity(node) is not solved.quantity(solved.program.quantities["X"])
    assert (solved.quantity(node).name, solved.quantity(node, "A").name) == ("", "A")


def test_equality_beyond_the_field_is_undecided():
    """log 2 + log 3 and log 6 can't be told apart, and nobody claims to."""
    steps = {"Y": "log(X[0]) + log(X[1])", "Z": "log(X[0] * X[1])", "W": "Z + 1"}
    s = symattn.solve(make("t", {"X": [2, 3]}, steps))
    assert s["Y"].equals(s["Z"]) is Verdict.UNDECIDED
    assert s["Y"].equals(s["W"]) is Verdict.REFUTED
    assert s["Y"].decimal(10) == s["Z"].decimal(10) == Decimal("1.7917594692")
    with pytest.raises(Undecided):
        s["Y - Z"].decimal(3, "up")
    with pytest.raises(Undecided, match="can't decide whether Y and Z are equal"):
        assert s["Y"] != s["Z"]


def test_a_second_softmax_has_certain_digits():
    """An exponential of an exponential leaves the field but keeps its digits."""
    s = symattn.solve(make("t", {"X": [1, 0]}, {"A": "softmax(X)", "B": "softmax(A)"}))
    with gmpy2.context(precision=200):
        inner = gmpy2.exp(1) / (1 + gmpy2.exp(1))
        weight = 1 / (1 + gmpy2.exp(1 - 2 * inner))
        weights = [weight, 1 - weight]
    assert s["B"].decimal(30) == tuple(Decimal(f"{x:.30f}") for x in weights)
    assert s["B"].nearest().tolist() == [float(x) for x in weights]


def test_large_attention_is_rounded_without_closed_forms():
    """n = 24, forward and backward: floats and decimals come from the balls alone, no exact
    entry is asked for."""

    def unwanted(i, j):
        raise AssertionError(f"the closed form of [{i}, {j}] was computed")

    n = 24
    q, k, v = (
        [[Fraction((a * i * i + 7 * j + i * j) % 41 - 20, 10) for j in range(n)] for i in range(n)]
        for a in (3, 5, 11)
    )
    a = symattn.attention(q, k, v)
    back = a.backward()
    x, y, z = (np.array(table, dtype=float) for table in (q, k, v))
    powers = np.exp((x @ y.T - (x @ y.T).max(axis=1, keepdims=True)) / np.sqrt(n))
    near = powers / powers.sum(axis=1, keepdims=True) @ z
    assert np.allclose(a.output.nearest(), near, rtol=0, atol=1e-13)
    for quantity in (a.output, back.dQ, back.dK, back.dV):
        quantity.source.entry = unwanted
        assert quantity.symbols == ()
        floats, halves = quantity.nearest(), quantity.nearest("float16")
        digits, short = quantity.decimal(30), quantity.significant(3)
        for i in (0, 5, n - 1):
            assert floats[i].tolist() == [float(x) for x in digits[i]]
            assert halves[i].tolist() == [float(np.float16(x)) for x in floats[i]]
            assert short[i] == tuple(Context(prec=3).plus(x) for x in digits[i])


@pytest.mark.usefixtures("eager_switching")
def test_threads_at_different_precision_get_right_digits():
    """Threads that ask for few and for many digits at once, of one solution and of their
    own, all get the right ones."""
    shared = symattn.solve("the-fox-jumps")
    wanted = {places: symattn.solve("the-fox-jumps")["Y"].decimal(places) for places in (3, 400)}
    gradient = symattn.solve("the-fox-jumps").gradient("Q").decimal(60)
    wrong = []

    def work(places, own):
        s = symattn.solve("the-fox-jumps") if own else shared
        for _ in range(3):
            if s["Y"].decimal(places) != wanted[places]:
                wrong.append(places)
            fresh = symattn.solve("the-fox-jumps")
            if fresh.gradient("Q").decimal(60) != gradient:
                wrong.append("gradient")

    jobs = [(3, True), (400, True), (3, False), (400, False)]
    threads = [threading.Thread(target=work, args=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_notebooks_show(solved):
    """Name and shape as repr, closed forms as LaTeX."""
    assert repr(solved) == "<Solution of 't': A, v, s, M>"
    assert repr(solved["A"]) == "<A: 2x2>"
    assert solved["v"]._repr_latex_() == (
        r"$\displaystyle \begin{bmatrix} \frac{e}{1 + e} & \frac{1}{1 + e} \end{bmatrix}$"
    )
    assert solved["X[0, 0]"].latex() == "1"


def test_the_public_names_are_there():
    """Every public name loads, and no other does."""
    assert all(hasattr(symattn, name) for name in symattn.__all__)
    assert set(dir(symattn)) == set(symattn.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nope'"):
        symattn.nope  # noqa: B018
