"""Attention without a file: exact, rectangular, masked, scaled, differentiated."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import symattn
from symattn import Malformed, Verdict, attention
from symattn.numbers.reading import MASKED, read

from ..strategies import few, small_matrices

Q = [[1, 0], ["1/2", -1], [0, 2]]
K = [[1, 1], [0, "1/3"]]
V = [[1, 2, 3, 4], [0, "sqrt(2)", 1, "-1/2"]]


def same(left, right):
    return left.equals(right) is Verdict.HOLDS


def test_rectangular_attention_has_the_shapes_of_the_formula():
    """n_q, n_k, d_k and d_v may all differ."""
    a = attention(Q, K, V)
    assert (a.scores.shape, a.weights.shape, a.output.shape) == ((3, 2), (3, 2), (3, 4))
    back = a.backward()
    assert (back.dQ.shape, back.dK.shape, back.dV.shape) == ((3, 2), (2, 2), (2, 4))
    assert (back.dA.shape, back.dS.shape) == ((3, 2), (3, 2))


@few
@given(st.data(), *[st.integers(1, 3)] * 4)
def test_attention_is_its_definition(data, n_q, n_k, d_k, d_v):
    """Scores, weights and output by the formula, on closed forms, for any shape."""
    q, k, v = (data.draw(small_matrices(*shape)) for shape in ((n_q, d_k), (n_k, d_k), (n_k, d_v)))
    a = attention(q, k, v)
    scale = read(Fraction(1, d_k)).sqrt()
    for i in range(n_q):
        scores = [read(sum(x * y for x, y in zip(q[i], row, strict=True))) * scale for row in k]
        below = read(0)
        for score in scores:
            below = below + score.exp()
        for c in range(d_v):
            above = read(0)
            for score, row in zip(scores, v, strict=True):
                above = above + score.exp() * read(row[c])
            assert a.output[i, c] == above / below
        for j, score in enumerate(scores):
            assert a.scores[i, j] == score
            assert a.weights[i, j] == score.exp() / below


@few
@given(st.data(), st.integers(1, 3), st.integers(1, 3))
def test_floats_are_those_of_numpy(data, n, m):
    """The nearest floats of the output are within a few ULP of NumPy's attention; an
    average is as near as its largest value."""
    q, k, v = (data.draw(small_matrices(rows, 2)) for rows in (n, m, m))
    x, y, z = (np.array(table, dtype=float) for table in (q, k, v))
    powers = np.exp(x @ y.T / math.sqrt(2))
    expected = powers / powers.sum(axis=1, keepdims=True) @ z
    ulps = 16 * 2.0**-53 * np.abs(z).max()
    assert np.abs(attention(q, k, v).output.nearest() - expected).max() <= ulps


def test_any_exact_kind_of_number_is_taken():
    """Integers, Fractions, Decimals, text, NumPy and SymPy numbers mean the same."""
    plain = attention([["1/2", 1]], [[1, 0], [2, 1]], [[3], ["sqrt(2)"]], scale="1/2")
    mixed = attention(
        sympy.Matrix([[sympy.Rational(1, 2), 1]]),
        np.array([[1, 0], [2, 1]]),
        ([Decimal("3.0")], [sympy.sqrt(2)]),
        scale=Fraction(1, 2),
    )
    assert same(plain.output, mixed.output)
    assert same(plain.backward([["g"]]).dK, mixed.backward([[sympy.Symbol("g")]]).dK)


def test_floats_enter_through_their_own_door():
    """A float is refused in every argument; from_floats takes its binary value."""
    with pytest.raises(Malformed, match=r"\[0\]\[0\]: 0\.1 is a float, not an exact number"):
        attention([[0.1]], [[1]], [[1]])
    with pytest.raises(Malformed, match=r"V: a NumPy float64 array is not exact: take its binary"):
        attention([[1]], [[1]], np.array([[0.5]]))
    with pytest.raises(Malformed, match=r"scale: 0\.1 is a float"):
        attention([[1]], [[1]], [[1]], scale=0.1)
    with pytest.raises(Malformed, match=r"upstream\[0\]\[0\]: 0\.5 is a float"):
        attention([[1]], [[1]], [[1]]).backward([[0.5]])
    a = attention(symattn.from_floats([[0.1]]), [[1], [2]], [[1], [0]], scale=1)
    tenth = read(Fraction(0.1))
    assert a.weights[0, 1] == tenth.exp() / (read(1) + tenth.exp())


def test_the_scale_is_one_over_the_root_of_d_k():
    """Without a scale it is 1/sqrt(d_k); a given one replaces it, zero and negative too."""
    assert same(attention(Q, K, V).scores, attention(Q, K, V, scale="1/sqrt(2)").scores)
    flat = attention(Q, K, V, scale=0)
    assert {str(x) for row in flat.weights.rows for x in row} == {"1/2"}
    turned = attention(Q, [[-1, -1], [0, "-1/3"]], V, scale=-1)
    assert same(turned.weights, attention(Q, K, V, scale=1).weights)


@pytest.mark.parametrize("scale", [[1, 2], [[1]], np.array([1, 2])], ids=str)
def test_a_scale_is_one_number(scale):
    """Anything but one number is refused as a scale."""
    with pytest.raises(Malformed, match="scale: expected a number, found"):
        attention(Q, K, V, scale=scale)


def test_a_causal_mask_hides_later_keys():
    """Scores above the diagonal are masked, rectangular or not; weights there are 0."""
    a = attention(Q, K, V, causal="top-left")
    assert [[x is MASKED for x in row] for row in a.scores.rows] == [
        [False, True],
        [False, False],
        [False, False],
    ]
    assert [str(x) for x in a.weights.rows[0]] == ["1", "0"]
    assert a.scores.exact[0, 1] == -sympy.oo
    assert str(a.scores.decimal(1)[0][1]) == "-Infinity"


@pytest.mark.parametrize("kind", [list, np.array, sympy.Matrix])
def test_a_mask_matrix_keeps_ones_and_hides_zeros(kind):
    """A mask of 1 and 0 agrees with the causal one where they hide the same."""
    mask = kind([[1, 0], [1, 1], [1, 1]])
    by_matrix, by_name = attention(Q, K, V, mask=mask), attention(Q, K, V, causal="top-left")
    for part in ("scores", "weights", "output"):
        assert same(getattr(by_matrix, part), getattr(by_name, part))
    for part in ("dQ", "dK", "dV", "dA", "dS"):
        assert same(getattr(by_matrix.backward(), part), getattr(by_name.backward(), part))


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ([[1, 1], [0, 0], [1, 0]], "mask: row 1 is masked whole: nothing is left to attend to"),
        ([[1, 2], [1, 1], [1, 1]], "mask[0][1]: a mask holds 0 (hide) and 1 (keep), found 2"),
        ([["1/2", 1], [1, 1], [1, 1]], "mask[0][0]: a mask holds 0 (hide) and 1 (keep), found 1/2"),
        ([[1, 1]] * 4, "mask: expected 3x2, or that along leading axes, found 4x2"),
        ([[1, 1]], "mask: expected 3x2, or that along leading axes, found 1x2"),
        ([[1], [1, 0]], "mask: expected rows of one length"),
        (np.full((3, 2), 0.5), "other numbers that are added to scores are a bias"),
        ("diagonal", "mask: expected None, 'causal' or a matrix, found 'diagonal'"),
        ("", "mask: expected None, 'causal' or a matrix, found ''"),
    ],
    ids=str,
)
def test_bad_masks_are_refused(mask, message):
    """A row masked whole is named; entries are 0 or 1; the shape must fit."""
    with pytest.raises(Malformed) as caught:
        attention(Q, K, V, mask=mask)
    assert message in str(caught.value)


def test_a_mask_entry_may_be_any_exact_zero():
    """A 0 that is written as a difference of roots hides, in closed forms and in digits."""
    keep = [["sqrt(8) - 2*sqrt(2)", 1], [1, 1], [1, 1]]
    a, plain = (attention(Q, K, V, mask=mask) for mask in (keep, [[0, 1], [1, 1], [1, 1]]))
    assert a.scores.decimal(3) == plain.scores.decimal(3)
    assert a.weights.nearest().tolist() == plain.weights.nearest().tolist()
    assert same(a.output, plain.output)
    assert a.scores.nearest()[0, 0] == -math.inf


def test_symbols_upstream_give_linear_forms():
    """With symbols in the upstream, gradients are linear in them, coefficient by coefficient."""
    a = attention(Q, K, V)
    names = [["g1", "2*g2 - 1/3", 0, "-g1"], [0, 0, 0, 0], ["exp(1)*h", "g1/2", 5, 0]]
    whole = a.backward(names)
    parts: dict[str, list[Any]] = {
        "g1": [[1, 0, 0, -1], [0] * 4, [0, "1/2", 0, 0]],
        "g2": [[0, 2, 0, 0], [0] * 4, [0] * 4],
        "h": [[0] * 4, [0] * 4, ["exp(1)", 0, 0, 0]],
        "1": [[0, "-1/3", 0, 0], [0] * 4, [0, 0, 5, 0]],
    }
    for gradient in ("dQ", "dK", "dV", "dA", "dS"):
        form = getattr(whole, gradient)
        assert form.symbols == ("g1", "g2", "h")
        for symbol, upstream in parts.items():
            expected = getattr(a.backward(upstream), gradient)
            assert same(form.coefficient(symbol), expected)


def test_linear_forms_are_rounded_by_coefficient():
    """Decimals of a linear form are its text with rounded coefficients; it has no floats."""
    back = attention([[1]], [[1], [2]], [[1], [2]], scale=1).backward([["g"]])
    assert str(back.dV.at(1, 0)) == "e/(1 + e)*g"
    assert back.dV.decimal(3) == (("0.269*g",), ("0.731*g",))
    assert back.dV.significant(2) == (("0.27*g",), ("0.73*g",))
    with pytest.raises(Malformed, match=r"is a linear form in g: ask for coefficient\('g'\)"):
        back.dV.nearest()
    assert back.dV.coefficient("g").nearest().shape == (2, 1)


@pytest.mark.parametrize(
    ("upstream", "message"),
    [
        ([[1, 2]], "upstream: expected the output's shape, 1x1, found 1x2"),
        ([1], "upstream: expected a matrix, found a vector"),
        (1, "upstream: expected a matrix, found a number"),
        ([["Q"]], "the symbol 'Q' is a quantity's name"),
        ([["e"]], "'e' is reserved"),
        ([["softmax"]], "'softmax' is reserved"),
        ([["-inf"]], "expected a finite number, found -inf"),
        ([["1/0"]], "division by zero"),
        ([["sqrt(g)"]], "the sign of g depends on g"),
        ([["().__class__"]], "expected a value"),
    ],
    ids=str,
)
def test_bad_upstreams_are_refused(upstream, message):
    """The upstream has the output's shape; its entries are numbers or forms in symbols."""
    with pytest.raises(Malformed) as caught:
        attention([[1]], [[1], [2]], [[1], [2]]).backward(upstream)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "places"),
    [
        (([[1, 2], [3]], [[1, 2]], [[1]]), ["Q[1]"]),
        ((None, [[1]], [["x"]]), ["Q", "V[0][0]"]),
        (([1, 2], [[1, 2]], [[1]]), ["Q"]),
        (([[]], [[1]], [[1]]), ["Q"]),
        (([[1]], [[1], [2]], [[1]]), ["V"]),
        (([[1, 2]], [[1]], [[1]]), ["K"]),
        (([[0.5, True]], [["1e999999999"]], [[math.nan]]),
         ["Q[0][0]", "Q[0][1]", "K[0][0]", "V[0][0]"]),
    ],
)  # fmt: skip
def test_bad_matrices_are_refused_all_at_once(arguments, places):
    """Every fault of every matrix is listed with its place."""
    with pytest.raises(Malformed) as caught:
        attention(*arguments)
    assert [fault.where for fault in caught.value.faults] == places


def test_large_scores_are_no_danger():
    """Scores of a million million overflow nothing: weights are certain, tails are tiny."""
    a = attention([["1e12"]], [[1], [0]], [[1], [2]], scale=1)
    assert a.weights.decimal(3) == ((Decimal("1.000"), Decimal("0.000")),)
    assert a.weights.nearest().tolist() == [[1.0, 0.0]]
    assert a.output.nearest("float16").tolist() == [[1.0]]
    assert a.backward().dQ.decimal(5) == ((Decimal("0.00000"),),)


def test_the_solution_of_an_attention_says_what_it_is():
    """By its name and steps."""
    made = attention([[1]], [[1]], [[1]])
    assert repr(made.solution) == "<Solution of 'attention': S, T, M, A, Y>"


def test_attention_shows_itself_in_notebooks():
    """The output as LaTeX."""
    a = attention([[1]], [[1], [2]], [[1], [2]], scale=1)
    assert a._repr_latex_() == (
        r"$\displaystyle \begin{bmatrix} \frac{1 + 2\,e}{1 + e} \end{bmatrix}$"
    )


@pytest.mark.parametrize("empty", ["zero", "mean"])
def test_what_sees_no_key_has_no_sum(empty):
    """The logarithm of an empty sum is minus infinity, exactly, in floats and in digits."""
    keep = np.array([[True, False], [False, False], [True, True]])
    one = attention(Q, K, V, mask=keep, on_empty_row=empty)
    assert one.lse.nearest()[1] == -math.inf
    assert str(one.lse.decimal(2)[1]) == "-Infinity"
    assert one.lse.at(1) is MASKED
    assert np.isfinite(one.lse.nearest()[::2]).all()
    many = attention([[Q, Q]], [[K]], [[V]], mask=keep, on_empty_row=empty)
    assert many.lse.nearest().tolist() == [[one.lse.nearest().tolist()] * 2]
