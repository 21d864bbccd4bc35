"""What is put in for the letters of a formula: exact numbers and expressions, and floats.

Oracles: the case solved anew with these numbers, and SymPy's own ``xreplace``.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import symattn
from symattn.cases.case import make
from symattn.errors import Malformed, NoClosedForm
from symattn.numbers.sympy_bridge import from_sympy
from symattn.solution.solution import Solution, solve
from symattn.verdicts import Verdict

from ..strategies import brief, few, matrices, some

ATTENTION = {"S": "Q @ K.T", "T": "S / sqrt(d_k)", "A": "softmax(T)", "Y": "A @ V"}
NUMBERS: dict[str, Any] = {
    "Q": [["1/2", 1], [-1, "2/3"]],
    "K": [[1, "-1/3"], [2, "1/5"]],
    "V": [[1, 2], ["3/4", -1]],
    "d_k": 2,
    "dL/dY": [[1, "1/2"], [-2, 3]],
}
a, b = sympy.symbols("a b")


def attention(**numbers):
    """Two queries, two keys, two columns, with other numbers of some."""
    data = NUMBERS | numbers
    loss = {"output": "Y", "upstream": data.pop("dL/dY")}
    return Solution(make("two", data, ATTENTION, loss))


FORMULAS = attention().symbolic


def letter(name, *places):
    """A letter, as formulas write it."""
    return sympy.IndexedBase(name)[places]


# -- exact -----------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["cat-sat-mat", "please-study-man", "multi-head", "rope", "adam"])
def test_the_numbers_of_the_case(name):
    """Put in by hand they give what substitute() gives; nothing put in leaves the matrix."""
    s = solve(name)
    numbers = {key: s[key].exact for key in s.case.given}
    if not s.case.symbols:
        numbers[f"dL/d{s.case.output}"] = s[f"dL/d{s.case.output}"].exact
    for formula in s.symbolic.values():
        assert formula.subs(numbers) == formula.substitute(), formula
        assert formula.subs() == formula.matrix, formula


@few
@given(st.sets(st.sampled_from([*NUMBERS])), st.sampled_from(["A", "dL/dQ", "dL/dd_k"]))
def test_what_is_not_put_in_stays(first, name):
    """Some put in, the rest with SymPy's own substitution: all comes to the closed form."""
    s = attention()
    half = s.symbolic[name].subs({key: NUMBERS[key] for key in first})
    used = {x.base.name for x in half.atoms(sympy.Indexed)}
    assert not used & first
    rest = {sympy.Symbol("d_k"): sympy.Integer(2)} | {
        letter(key, i, j): sympy.Rational(str(NUMBERS[key][i][j]))
        for key in NUMBERS
        if key != "d_k"
        for i, j in product(range(2), range(2))
    }
    for entry, value in zip(half.xreplace(rest), s[name].values(), strict=True):
        assert (from_sympy(entry) - value).is_zero() is Verdict.HOLDS


def test_the_ways_to_say_it():
    """Lists, SymPy's matrices, NumPy's whole numbers, places and SymPy's letters."""
    formula = FORMULAS["S"]
    wanted = formula.matrix.xreplace(
        {letter("Q", 0, 0): a, letter("Q", 0, 1): 1, letter("Q", 1, 0): 0, letter("Q", 1, 1): b}
    )
    assert formula.subs(Q=[[a, 1], [0, b]]) == wanted
    assert formula.subs(Q=[["a", "1"], [Fraction(0), b]]) == wanted
    assert formula.subs(Q=sympy.Matrix([[a, 1], [0, b]])) == wanted
    assert formula.subs(Q=sympy.ImmutableDenseMatrix([[a, 1], [0, b]])) == wanted
    by_place = {"Q[0, 0]": a, "Q[0,1]": 1, letter("Q", 1, 0): 0, "Q[-1, -1]": b}
    assert formula.subs(by_place) == wanted
    whole = np.array([[1, 2], [3, 4]])
    assert formula.subs(Q=whole) == formula.subs({"Q": whole.tolist()})
    assert isinstance(formula.subs(Q=whole), sympy.ImmutableDenseMatrix)
    binary = symattn.from_floats(np.array([[0.5, 0.25], [1.0, 0.0]]))
    assert formula.subs(Q=binary) == formula.subs(Q=[["1/2", "1/4"], [1, 0]])
    mixed = FORMULAS["T"].subs({"Q[0, 0]": a, sympy.Symbol("d_k"): 4}, K=[[1, 0], [0, 1]])
    assert mixed[0, 0] == a / 2


def test_the_upstream_gradient():
    """By its name, by a name that Python can write, and by its places."""
    formula = FORMULAS["dL/dA"]
    wanted = formula.subs({"dL/dY": [[1, 0], [a, 0]]})
    assert wanted[1, 0] == a * letter("V", 0, 0)
    assert formula.subs(dY=[[1, 0], [a, 0]]) == wanted
    places = {"dL/dY[0, 0]": 1, "dY[0, 1]": 0, "grad(Y)[1, 0]": a, "dL/dY[1, 1]": 0}
    assert formula.subs(places) == wanted


def test_letters_may_stand_for_others():
    """All is put in at once: two entries change places."""
    q = letter("Q", 0, 0), letter("Q", 0, 1)
    matrix = FORMULAS["A"].matrix
    assert FORMULAS["A"].subs({q[0]: q[1], q[1]: q[0]}) == matrix.subs(
        dict(zip(q, reversed(q), strict=True)), simultaneous=True
    )


def test_vectors_and_numbers():
    """A vector may be a matrix of one row, as it is in ``exact``."""
    formula = Solution(make("few", {"x": [1, 2], "c": 2}, {"y": "c * x"})).symbolic["y"]
    wanted = sympy.Matrix([[3 * a, 3 * b]])
    for x, c in (([a, b], 3), ([[a, b]], [[3]]), (sympy.Matrix([[a, b]]), sympy.Matrix([[3]]))):
        assert formula.subs(x=x, c=c) == wanted
    assert formula.subs({"x[0]": a, "x[-1]": b, "c": 3}) == wanted


def test_masked_scores_are_the_case_s():
    """What masks stays; no other score is masked by what is put in."""
    given = {"B": [[0, "-inf"], ["1/2", 0]], "S": [[1, 2], [3, 4]]}
    formula = Solution(make("bias", given, {"A": "softmax(S + B)"})).symbolic["A"]
    put = formula.subs(B=[[a, "-inf"], [0, b]], S=[[1, 1], [1, 1]])
    assert put[0, 1] == 0
    assert put == formula.subs(B=sympy.Matrix([[a, -sympy.oo], [0, b]]), S=[[1, 1], [1, 1]])
    with pytest.raises(Malformed, match=r"B: entry 0, 1: found a number, but the case masks"):
        formula.subs(B=[[0, 0], [0, 0]])
    with pytest.raises(Malformed, match=r"S: entry 1, 0: found -inf, which masks a score"):
        formula.subs(S=[[0, 0], ["-inf", 0]])
    with pytest.raises(Malformed, match=r"B\[0, 1\]: the case masks this score"):
        formula.subs({"B[0, 1]": 1})
    with pytest.raises(Malformed, match=r"S\[0, 1\]: -inf masks a score that the case does not"):
        formula.subs({"S[0, 1]": "-inf"})


#: What is put in, and what is said to it.
FAULTS = [
    ({"Z": 1}, "Z: unknown name 'Z': expected one of Q, K, V, d_k, dL/dY"),
    ({"Z[0, 0]": 1}, "Z[0, 0]: unknown name 'Z': expected one of Q, K, V, d_k, dL/dY"),
    ({"S": [[1, 2], [3, 4]]}, "S: S is computed: expected one of Q, K, V, d_k, dL/dY"),
    ({"dL/dA[0, 0]": 1}, "dL/dA[0, 0]: dL/dA is computed: expected one of Q, K, V, d_k, dL/dY"),
    ({"Q[2, 0]": 1}, "Q[2, 0]: index 2 is outside axis 0 of 2x2: expected -2 to 1"),
    ({"Q[0]": 1}, "Q[0]: expected the place of one entry, such as Q[0, 0]"),
    ({"Q[:, 0]": 1}, "Q[:, 0]: expected the place of one entry, such as Q[0, 0]"),
    ({"d_k[0]": 1}, "d_k[0]: expected the place of one entry, such as d_k"),
    ({"Q": [[1, 2]]}, "Q: expected 2x2, found 1x2"),
    ({"Q": 1}, "Q: expected 2x2, found a scalar"),
    ({"Q": [[1, 2], [3]]}, "Q[1]: expected 2 numbers as in the other rows, found 1"),
    ({"d_k": [1, 2]}, "d_k: expected a scalar, found a vector of 2"),
    ({"Q": np.eye(2, dtype="float32")}, "Q: a NumPy float32 array is not exact"),
    ({"d_k": 0.5}, "d_k: 0.5 is a float, not an exact number: write '0.5' as text"),
    ({"Q[0, 1]": 0.5}, "Q[0, 1]: 0.5 is a float, not an exact number"),
    ({"Q": [[1, 0.5], [2, 3]]}, "Q[0][1]: 0.5 is a float, not an exact number"),
    ({"d_k": sympy.Float(2)}, "is a float, not an exact number: write a Rational"),
    ({"d_k": a + sympy.Float(0.5)}, "is a float, not an exact number: write a Rational"),
    ({"d_k": "Q[0, 0]"}, "d_k: 'Q[0, 0]' is not an exact number"),
    ({"d_k": sympy.zoo}, "d_k: expected a finite number, found zoo"),
    ({"d_k": sympy.true}, "d_k: expected a number or an expression, found BooleanTrue"),
    ({"d_k": sympy.IndexedBase("K")}, "d_k: expected a number or an expression"),
    ({"d_k": None}, "d_k: expected a number, found NoneType"),
    ({"Q[0, 0": 1}, "expected ']' at character 7, found the end"),
    ({3: 1}, "3: expected a name such as 'Q', or a place such as 'Q[0, 1]'"),
    ({"Q": NUMBERS["Q"], "Q[0, 0]": 1}, "Q[0, 0]: Q[0, 0] is put in twice"),
    ({"dY[0, 0]": 2, "dL/dY[-2, 0]": 1}, "dL/dY[-2, 0]: dL/dY[0, 0] is put in twice"),
]


@pytest.mark.parametrize(("put", "said"), FAULTS, ids=[said[:30] for _, said in FAULTS])
def test_faults(put, said):
    """Nothing is passed over."""
    with pytest.raises(Malformed) as caught:
        FORMULAS["T"].subs(put)
    assert said in str(caught.value)


def test_all_faults_at_once():
    """Each with its place."""
    with pytest.raises(Malformed) as caught:
        FORMULAS["T"].subs({"Q[7, 0]": 1, "Z": 1}, d_k=0.5, K=[[1, "x y"], [0.25, 0]])
    assert [fault.where for fault in caught.value.faults] == [
        "Q[7, 0]", "Z", "d_k", "K[0][1]", "K[1][0]",
    ]  # fmt: skip


@pytest.mark.parametrize("d_k", [0, -2])
def test_no_real_number(d_k):
    """What leaves the reals is told where it does, and isn't lost in a quotient."""
    with pytest.raises(Malformed, match=r"T\[0, 0\]: with what is put in this is no real number"):
        FORMULAS["dL/dQ"].subs(d_k=d_k)
    lost = Solution(make("lost", {"x": 2}, {"y": "1 / x", "z": "1 / y"})).symbolic["z"]
    with pytest.raises(Malformed, match="y: with what is put in"):
        lost.subs(x=0)


def test_long_functions_of_numbers_are_refused():
    """Of letters they are written."""
    s = Solution(make("twice", {"x": [[1, 2, 3, 4]] * 4}, {"y": "x @ x.T", "z": "exp(y)"}))
    assert s.symbolic["z"].subs({"x[0, 0]": a}).shape == (4, 4)
    long = sympy.Add(*(sympy.exp(sympy.Rational(1, k)) for k in range(1, 200)))
    with pytest.raises(NoClosedForm, match="a function of a formula"):
        s.symbolic["z"].subs(x=[[long] * 4] * 4)


# -- floats ----------------------------------------------------------------------------------------


def assert_near(s):
    """The bound of lambdify's docstring, of every formula."""
    exact = {name: s[name].nearest() for name in s.symbolic if not s[name].symbols}
    largest = max(1, *(np.abs(x[np.isfinite(x)]).max(initial=0) for x in exact.values()))
    for name in exact:
        found = s.symbolic[name].lambdify()()
        assert (found.shape, found.dtype) == (exact[name].shape, exact[name].dtype)
        assert (np.isfinite(found) == np.isfinite(exact[name])).all(), name
        kept = np.isfinite(found)
        apart = np.abs(found[kept] - exact[name][kept])
        assert apart.max(initial=0) <= 1e-13 * largest, name


@pytest.mark.sampled(1, 18)
@pytest.mark.parametrize("name", symattn.names())
def test_floats_of_bundled_walkthroughs(name):
    """Every step and every gradient, with the case's own numbers."""
    assert_near(solve(name))


#: Fractions that floats hold exactly.
binary = st.builds(Fraction, st.integers(-256, 256), st.just(64))


@pytest.mark.heavy
@some
@given(matrices(2, 2, binary), matrices(2, 2, binary), matrices(2, 2, binary))
def test_floats_that_are_passed(q, k, upstream):
    """What is passed takes the place of the case's numbers: the same case solved anew."""
    s = attention(Q=q, K=k, **{"dL/dY": upstream})
    floats = {"Q": q, "K": k, "dY": upstream}
    arrays = {name: np.array(rows, dtype=np.float64) for name, rows in floats.items()}
    for name in ("A", "Y", "dL/dQ", "dL/dK", "dL/dV", "dL/dd_k"):
        f = FORMULAS[name].lambdify()
        want = s[name].nearest()
        largest = max(1, *(np.abs(s[x].nearest()).max() for x in s.symbolic))
        assert np.abs(f(**arrays) - want).max() <= 1e-13 * largest


#: Steps of other kinds over matrices P and Q (2 x 3), a vector v and a number c.
KINDS = [
    "softmax(causal(P @ Q.T)) @ P",
    "tanh(P) * v + Q / c",
    "gelu(P) - relu(Q)",
    "concat(P, Q[:, ::-1]) @ concat(Q, P).T",
    "layernorm(P, v, v, eps=1)",
    "log_softmax(P @ Q.T)",
    "softmax(softmax(Q[:, 0:2]))",
    "cos(P) * sin(Q)",
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("step", KINDS)
@brief
@given(matrices(2, 3, binary), matrices(2, 3, binary), matrices(1, 3, binary))
def test_floats_of_small_programs(step, p, q, v):
    """Functions of every kind, and their gradients."""
    data = {"P": p, "Q": q, "v": v[0], "c": Fraction(3, 2)}
    s = Solution(make("step", data, {"B": "2 * P + Q", "Y": step}))
    assert_near(s)


def test_large_scores_do_not_overflow():
    """A weight is a quotient in which the largest exponential cancels, forward and backward."""
    q = np.array([[1000.0, 0], [0, -1000]])
    k = np.array([[1.0, 1], [2, 1]])
    s = attention(Q=q.astype(int).tolist(), K=k.astype(int).tolist())
    for name in ("A", "Y", "dL/dV", "dL/dQ", "dL/dK"):
        want = s[name].nearest()
        assert np.allclose(FORMULAS[name].lambdify()(Q=q, K=k), want, rtol=1e-10, atol=1e-200)


def test_arrays_that_are_not_those():
    """Names, shapes and types, all at once; masked scores as in the case."""
    f = FORMULAS["dL/dQ"].lambdify()
    with pytest.raises(Malformed) as caught:
        f(Q=[[1, 2]], Z=1, S=[[1]], K="abc", V=[[1j, 0], [0, 0]], d_k=np.nan, dY=[[1], [1, 2]])
    assert [str(fault) for fault in caught.value.faults] == [
        "Q: expected 2x2, found 1x2",
        "Z: unknown name 'Z': expected one of Q, K, V, d_k, dL/dY",
        "S: S is computed: expected one of Q, K, V, d_k, dL/dY",
        "K: expected an array of real numbers, found 'abc'",
        "V: expected an array of real numbers, found [[1j, 0], [0, 0]]",
        "d_k: expected finite numbers, found infinity or NaN",
        "dY: expected an array of real numbers, found [[1], [1, 2]]",
    ]
    with pytest.raises(Malformed, match="dL/dY: dL/dY is put in twice"):
        f(dY=np.ones((2, 2)), **{"dL/dY": np.ones((2, 2))})
    assert f.given == ("Q", "K", "V", "d_k", "dL/dY")
    given = {"B": [[0, "-inf"], ["1/2", 0]], "S": [[1, 2], [3, 4]]}
    f = Solution(make("bias", given, {"A": "softmax(S + B)"})).symbolic["A"].lambdify()
    assert f(B=[[5, -np.inf], [0, 0]])[0].tolist() == [1.0, 0.0]
    with pytest.raises(Malformed, match="B: entry 0, 1: found a number"):
        f(B=[[5, 0], [0, 0]])


def test_symbols_have_no_float():
    """They must be passed where the formula depends on them, and only there."""
    s = attention(**{"dL/dY": [["g1", 0], [0, 1]]})
    assert s.symbolic["A"].lambdify()().shape == (2, 2)
    f = s.symbolic["dL/dQ"].lambdify()
    with pytest.raises(Malformed, match="dL/dY: has symbols in the case: pass its numbers"):
        f()
    assert np.array_equal(f(dY=[[1, 0.5], [-2, 3]]), FORMULAS["dL/dQ"].lambdify()())


def test_masks_keep_what_they_keep_in_the_case():
    """Formulas are those of the case's masks: another array in their place changes nothing."""
    given = {"S": [[1, 2], [3, 4]], "M": [[1, 0], [1, 1]]}
    f = Solution(make("masked", given, {"A": "softmax(mask(S, M))"})).symbolic["A"].lambdify()
    assert f.given == ("S",)
    assert f(S=[[5, 6], [7, 7]], M=[[0, 1], [1, 1]]).tolist() == [[1.0, 0.0], [0.5, 0.5]]
