"""The walkthroughs have the answers that can be worked out by hand."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
import sympy

import symattn
from symattn import attention, from_floats
from symattn.cases.case import make
from symattn.errors import Malformed
from symattn.numbers.reading import MASKED, read
from symattn.numbers.values import compare
from symattn.verdicts import Verdict


def texts(quantity):
    return [[str(entry) for entry in row] for row in quantity.rows]


def holds(quantity, text):
    """Every entry against its text, one row after the other, decided exactly."""
    rows = [row.split(",") for row in text.split(";")]
    for row, wanted in zip(quantity.rows, rows, strict=True):
        for entry, cell in zip(row, wanted, strict=True):
            assert compare(entry, read(cell, symbols=True)) is Verdict.HOLDS


def test_cat_sat_mat():
    """Scores, weights and output of the three tiny vectors, in readable form."""
    s = symattn.solve("cat-sat-mat")
    assert texts(s["S"]) == [["2", "0", "1"], ["0", "2", "1"], ["1", "1", "2"]]
    assert texts(s["A"]) == [
        ["e/(1 + sqrt(e) + e)", "1/(1 + sqrt(e) + e)", "sqrt(e)/(1 + sqrt(e) + e)"],
        ["1/(1 + sqrt(e) + e)", "e/(1 + sqrt(e) + e)", "sqrt(e)/(1 + sqrt(e) + e)"],
        ["1/(2 + sqrt(e))", "1/(2 + sqrt(e))", "sqrt(e)/(2 + sqrt(e))"],
    ]
    assert s["A"].decimal(4) == (
        (Decimal("0.5065"), Decimal("0.1863"), Decimal("0.3072")),
        (Decimal("0.1863"), Decimal("0.5065"), Decimal("0.3072")),
        (Decimal("0.2741"), Decimal("0.2741"), Decimal("0.4519")),
    )
    root = sympy.exp(sympy.Rational(1, 2))
    assert s["A"].exact[0, 0] == sympy.E / (1 + root + sympy.E)


@pytest.mark.heavy
def test_mirror_images_are_a_theorem():
    """The first two tokens are mirror images: equal entries are decided to be equal,
    and different ones to be different."""
    s = symattn.solve("cat-sat-mat")
    assert s["Y[0, 0]"].equals(s["Y[1, 1]"]) is Verdict.HOLDS
    mirrored = s["concat(Y[1, 1:2], Y[1, 0:1], Y[1, 3:4], Y[1, 2:3])"]
    assert s["Y[0]"].equals(mirrored) is Verdict.HOLDS
    assert s["Y[0, 0]"].equals(s["Y[0, 1]"]) is Verdict.REFUTED
    assert s["rowsum(A)"].equals(s["rowsum(A) * 0 + 1"]) is Verdict.HOLDS
    assert s["A"].equals(s["A.T"]) is Verdict.REFUTED
    assert s["A"].equals(s["A[0]"]) is Verdict.REFUTED


def test_unscaled_weights():
    """Without the division by 2 the exponents double."""
    s = symattn.solve("cat-sat-mat-unscaled")
    assert texts(s["A"])[2] == ["1/(2 + e)", "1/(2 + e)", "e/(2 + e)"]
    d16 = symattn.solve("cat-sat-mat-d16-unscaled")
    assert d16["A"].equals(s["A"]) is Verdict.HOLDS


def test_padding_zeros_flattens_the_weights():
    """Zeros up to 16 features leave the scores alone; the divisor 4 gives quarter exponents."""
    s = symattn.solve("cat-sat-mat-d16")
    assert s["S"].equals(symattn.solve("cat-sat-mat")["S"]) is Verdict.HOLDS
    holds(s["A[2]"], "1/(2 + exp(1/4)),1/(2 + exp(1/4)),exp(1/4)/(2 + exp(1/4))")


def test_identical_tokens():
    """Equal tokens: every weight is 1/3, the output is the input, and what reaches the
    scores is exactly zero."""
    s = symattn.solve("cat-sat-mat-identical")
    assert {entry for row in texts(s["A"]) for entry in row} == {"1/3"}
    assert s["Y"].equals(s["X"]) is Verdict.HOLDS
    for name in ("S", "Q", "K"):
        gradient = s.gradient(name)
        assert {entry for row in texts(gradient) for entry in row} == {"0"}
        assert set(gradient.nearest().ravel()) == {0.0}
        assert set(gradient.decimal(30)[0]) == {Decimal("0." + "0" * 30)}


def test_similar_tokens():
    """Every row has the same weights in another order."""
    s = symattn.solve("cat-sat-mat-similar")
    assert texts(s["A"])[0] == ["sqrt(e)/(2 + sqrt(e))", "1/(2 + sqrt(e))", "1/(2 + sqrt(e))"]
    assert [sorted(row) for row in texts(s["A"])] == [sorted(texts(s["A"])[0])] * 3


def test_the_first_causal_row():
    """The first token can only see itself: its weights are 1, 0, 0, exactly, its output is
    its value, and no gradient reaches its query."""
    s = symattn.solve("cat-sat-mat-causal")
    assert texts(s["A"])[:2] == [["1", "0", "0"], ["1/(1 + e)", "e/(1 + e)", "0"]]
    assert s["Y[0]"].equals(s["X[0]"]) is Verdict.HOLDS
    assert s["M"].at(0, 1) is MASKED
    assert s["M"].exact[0, 1] == -sympy.oo
    assert s["M"].decimal(2)[0] == (Decimal("1.00"), Decimal("-Infinity"), Decimal("-Infinity"))
    assert s["M"].nearest().tolist()[0] == [1.0, float("-inf"), float("-inf")]
    assert texts(s.gradient("Q"))[0] == ["0"] * 4


def test_a_padded_token_is_ignored():
    """With token 2 hidden, rows have two weights; the hidden value gets no gradient."""
    s = symattn.solve("cat-sat-mat-padding")
    assert texts(s["A"])[2] == ["1/2", "1/2", "0"]
    assert texts(s.gradient("V"))[2] == ["0"] * 4
    assert texts(s.gradient("K"))[2] == ["0"] * 4


def test_please_study_man():
    """Weights with whole exponents: e/(1 + 2e), 1/(2 + e^2), ..."""
    s = symattn.solve("please-study-man")
    assert texts(s["A"])[0] == ["e/(1 + 2*e)", "1/(1 + 2*e)", "e/(1 + 2*e)"]
    holds(s["A[1]"], "1/(1 + 2*exp(2)),exp(2)/(1 + 2*exp(2)),exp(2)/(1 + 2*exp(2))")
    holds(s["Y[0]"], "2*exp(1)/(1 + 2*exp(1)),(2 + exp(1))/(1 + 2*exp(1))")


def test_the_cat_sleeps():
    """Scores are rationals; the first weight is 1 over a sum of two exponentials more."""
    s = symattn.solve("the-cat-sleeps")
    t = [read(str(x)) for x in s["T[0]"]]
    assert all(x.rational() is not None for x in t)
    assert s["A"][0, 0] == t[0].exp() / (t[0].exp() + t[1].exp() + t[2].exp())
    assert texts(s["Q"])[0] == ["11/10", "6/5", "13/10", "7/5"]


def test_the_fox_jumps():
    """Scores over sqrt(3) stay exponents with sqrt(3); the output has four features again."""
    s = symattn.solve("the-fox-jumps")
    score = read(str(s["S"][0, 1]))
    assert score.rational() is not None
    assert s["T"][0, 1] == score / read("sqrt(3)")
    assert "sqrt(3)" in str(s["A"].at(0, 0))
    assert s["O"].shape == (3, 4)


def test_length_4_causal():
    """The last row's weights are (e^(1/100), 1, e^(1/100), e^(1/80)) over their sum; dV is
    that row times g, and dQ reaches the last query only."""
    s = symattn.solve("length-4-causal")
    below = "(1 + 2*exp(1/100) + exp(1/80))"
    above = ["exp(1/100)", "1", "exp(1/100)", "exp(1/80)"]
    holds(s["A[3]"], ",".join(f"{x}/{below}" for x in above))
    rows = [",".join(f"{x}/{below}*g{c}" for c in range(1, 5)) for x in above]
    holds(s.gradient("V"), ";".join(rows))
    assert texts(s.gradient("Q"))[:3] == [["0"] * 4] * 3
    assert s.gradient("Q").symbols == ("g1", "g2", "g3", "g4")
    # dQ_3 = 1/2 sum_{j<l} p_j p_l ((x_j - x_l) . g) (K_j - K_l) with p = A_3, x = V.
    x = [["1/2", "3/10", "-1/5", "1/10"], ["-1/10", "2/5", "1/5", "-3/10"]]
    x += [["1/5", "-1/10", "1/2", "1/10"], ["0", "0", "0", "1/5"]]
    for c in range(4):
        total = read(0)
        for l in range(4):
            for j in range(l):
                weights = read(f"({above[j]})*({above[l]})/({below}*{below})")
                gap = read(f"({x[j][c]}) - ({x[l][c]})") / read(2)
                slope = read(0)
                for k in range(4):
                    slope = slope + read(f"(({x[j][k]}) - ({x[l][k]}))*g{k + 1}", symbols=True)
                total = total + weights * gap * slope / read(2)
        assert s.gradient("Q")[3, c] == total


@pytest.mark.parametrize(
    ("steps", "where", "message"),
    [
        ({"A": "1 / (X - X)"}, "steps.A", "division by zero"),
        ({"A": "sqrt(X - 9)"}, "steps.A", "square root of -8, which is negative"),
        ({"A": "log(X - X)"}, "steps.A", "not positive"),
        (
            {"A": "1 / (log(X[0, 1]) + log(X[1, 0]) - log(6))"},
            "steps.A",
            "can't decide whether the divisor log(2) + log(3) - log(6) is zero",
        ),
        ({"A": "softmax(mask(X, X - X))"}, "steps.A", "row 0 is masked whole"),
        ({"A": "mask(X, X)"}, "steps.A", "a mask holds 0 (hide) and 1 (keep), found 2"),
        ({"A": "causal(X)", "B": "A @ X"}, "steps.B", "masked score (-inf)"),
        ({"A": "causal(X)", "B": "A * -1"}, "steps.B", "masked score (-inf)"),
        ({"A": "causal(X)", "B": "A * A"}, "steps.B", "masked score (-inf)"),
        ({"A": "X", "S": "softmax(mask(X, causal(X)))"}, "steps.S", "masked score (-inf)"),
    ],
)
def test_steps_without_a_value_are_refused_by_name(steps, where, message):
    """A step that isn't defined at these numbers is named, with what is wrong."""
    case = make("t", {"X": [[1, 2], [3, 4]]}, steps)
    with pytest.raises(Malformed) as caught:
        symattn.solve(case)
    assert [fault.where for fault in caught.value.faults] == [where]
    assert message in str(caught.value)


def test_a_fault_of_a_file_names_the_file(tmp_path):
    """A step of a file that is not defined at its numbers is a fault of that file."""
    path = tmp_path / "zero.toml"
    path.write_text("[given]\nx = [0]\n[steps]\ny = '1 / x'\n", "utf-8")
    with pytest.raises(Malformed, match="division by zero") as caught:
        symattn.solve(path)
    assert caught.value.source == str(path)


def test_a_fault_is_reported_once_at_its_root():
    """Steps that build on a step without a value add no faults; independent ones do."""
    steps = {"A": "1 / (X - X)", "B": "A + 1", "C": "sqrt(-X)"}
    with pytest.raises(Malformed) as caught:
        symattn.solve(make("t", {"X": [[1]]}, steps))
    assert [fault.where for fault in caught.value.faults] == ["steps.A", "steps.C"]


@pytest.mark.parametrize("cap", [None, 2])
def test_equal_keys_leave_queries_no_gradient(cap):
    """Where all keys are the same, nothing that a query does changes the weights: dQ is 0,
    though the scores of floats are fractions with huge denominators, and a soft cap has a
    slope for each. Where one key differs in one feature, all queries have a gradient."""
    rng = np.random.default_rng(1)
    q, v, do = (from_floats(rng.normal(size=(n, 3)).astype("float32")) for n in (2, 9, 2))
    keys = np.repeat(rng.normal(size=(1, 3)).astype("float32"), 9, axis=0)
    same = attention(q, from_floats(keys), v, softcap=cap).backward(do).dQ
    assert not same.nearest().any()
    assert not any(entry for row in same.decimal(40) for entry in row)
    keys[4, 1] += 1
    assert attention(q, from_floats(keys), v, softcap=cap).backward(do).dQ.nearest()[:, 1].all()


def test_keys_that_are_equal_but_for_a_bias():
    """A soft cap's slopes differ where a bias was added before it: dQ is not 0."""
    steps = {"S": "Q @ K.T", "T": "softcap(S + B, 2)", "A": "softmax(T)", "Y": "A @ V"}
    given = {"Q": [[1, 2]], "K": [[1, 1]] * 3, "V": [[1], [2], [5]], "B": [[0, 1, 2]]}
    case = make("biased", given, steps, loss={"output": "Y", "upstream": [[1]], "wrt": ["Q"]})
    assert symattn.solve(case).gradient("Q").nearest().all()
