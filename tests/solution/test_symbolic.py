"""Formulas in letters, derived by SymPy, and the numbers put in.

Oracles: SymEngine differentiates the whole expanded loss; mpmath takes central
differences of a second reading of the steps.
"""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from itertools import product

import mpmath
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sympy.core.evalf import evalf_table

import symattn
from symattn import verification
from symattn.cases.case import make
from symattn.errors import Malformed, NoClosedForm, UnknownName
from symattn.limits import ARGUMENT, DERIVED, EXPANDED, FORMULA, Limit
from symattn.numbers.values import Value
from symattn.programs import backward, nodes, program
from symattn.solution import stages, symbolic
from symattn.solution.solution import Solution, solve
from symattn.verdicts import Verdict
from symattn.verification import verify

from ..oracle import DIGITS, evaluate, run
from ..strategies import brief, small_matrices, some

HOLDS, REFUTED, UNDECIDED = Verdict.HOLDS, Verdict.REFUTED, Verdict.UNDECIDED

ATTENTION = {"S": "Q @ K.T", "T": "S / sqrt(d_k)", "A": "softmax(T)", "Y": "A @ V"}
GIVEN = {
    "Q": [["1/2", 1], [-1, "2/3"]],
    "K": [[1, "-1/3"], [2, "1/5"]],
    "V": [[1, 2], ["3/4", -1]],
    "d_k": 2,
}
UPSTREAM = [[1, "1/2"], [-2, 3]]


def attention(**loss):
    """Two queries, two keys, two columns."""
    return Solution(make("two", GIVEN, ATTENTION, {"output": "Y", **loss}))


def letter(name, i, j):
    """An entry of a given matrix, as formulas write it."""
    return sympy.IndexedBase(name)[i, j]


# -- against the closed forms ----------------------------------------------------------------------


#: Gradients through a norm of exponentials are too long for SymPy, but those that it asks for.
LONG = {"pre-norm-block"}


@pytest.mark.sampled(1, 11)
@pytest.mark.parametrize("name", symattn.names())
def test_bundled_walkthroughs(name):
    """Every step and every gradient, those that nobody asked for too, is SymPy's, exactly."""
    s = solve(name)
    assert list(s.symbolic) == list(s.program.named)
    assert len(s.symbolic) == len(s.program.quantities) + len(s.program.gradients)
    for quantity, formula in s.symbolic.items():
        if name not in LONG or quantity in s.case.steps:
            assert formula.equals(s[quantity]) is HOLDS, quantity
    assert {check.symbolic for check in verify(s).checks} == {HOLDS}


#: Steps of every kind over matrices P and Q (2 x 3), a vector v and a number c.
KINDS = [
    "softmax(P @ B.T / c) @ B",
    "softmax(causal(P @ Q.T)) @ P",
    "softmax(mask(B @ Q.T, M))",
    "softmax(c * v - P)",
    "tanh(P) * v + Q / c",
    "exp(P @ v) / total(exp(Q))",
    "rowsum(P * Q) @ colsum(Q)",
    "concat(P, Q[:, ::-1]) @ concat(Q, P).T",
    "-P[1] * Q[0] + v",
    "softmax(softmax(Q[:, 0:2]))",
    "softmax(v) * c",
    "P / exp(c) - sqrt(exp(v))",
]


#: Those that leave the field of quotients of exponential sums.
OPEN = ("softmax(softmax(Q[:, 0:2]))", "P / exp(c) - sqrt(exp(v))")


@pytest.mark.heavy
@some
@given(st.sampled_from(KINDS), small_matrices(2, 3), small_matrices(2, 3), small_matrices(1, 3))
def test_small_programs(step, p, q, v):
    """Whatever the numbers are, a step and its gradients are SymPy's. Of functions of
    exponentials it may stay open whether they are; they are never refuted."""
    data = {"P": p, "Q": q, "v": v[0], "c": Fraction(3, 2), "M": [[1, 0], [0, 1]]}
    s = Solution(make("step", data, {"B": "2 * P + Q", "Y": step}))
    for quantity, formula in s.symbolic.items():
        verdict = formula.equals(s[quantity])
        assert verdict is not REFUTED, (step, quantity)
        assert verdict is HOLDS or step in OPEN


# -- against others --------------------------------------------------------------------------------


def test_symengine_differentiates_the_expanded_loss():
    """At n = d = 2 the gradients in letters are those of the whole expression."""
    symengine = pytest.importorskip("symengine", reason="SymEngine is the oracle here")
    n = range(2)

    def letters(name):
        return [[symengine.Symbol(f"{name}{i}{j}") for j in n] for i in n]

    q, k, v, g = map(letters, "qkvg")
    width = symengine.Symbol("d_k")
    loss = symengine.Integer(0)
    for i in n:
        scores = [sum(q[i][c] * k[j][c] for c in n) / symengine.sqrt(width) for j in n]
        powers = [symengine.exp(score) for score in scores]
        weights = [power / sum(powers) for power in powers]
        loss += sum(g[i][c] * weights[j] * v[j][c] for j in n for c in n)
    numbers = {width: 3} | {
        table[i][j]: symengine.Rational((7 * at + 3 * i + 5 * j) % 11 - 4, 3 + at)
        for at, table in enumerate((q, k, v, g))
        for i, j in product(n, n)
    }
    formulas = attention().symbolic
    ours = {sympy.Symbol("d_k"): sympy.Integer(3)} | {
        letter(name, i, j): sympy.Rational(str(numbers[table[i][j]]))
        for name, table in (("Q", q), ("K", k), ("V", v), ("dL/dY", g))
        for i, j in product(n, n)
    }
    by = {"dL/dQ": q, "dL/dK": k, "dL/dV": v, "dL/dd_k": [[width]]}
    for name, table in by.items():
        found = formulas[name].matrix.xreplace(ours)
        for i, j in product(range(len(table)), range(len(table[0]))):
            expected = loss.diff(table[i][j]).subs(numbers).n(200, real=True)
            assert abs(sympy.Float(str(expected), 50) - found[i, j].n(50)) < sympy.Float(10) ** -45


@pytest.mark.heavy
@brief
@given(small_matrices(2, 2), small_matrices(2, 2), small_matrices(2, 1))
def test_central_differences(q, k, v):
    """Put in, the numbers give the slope of the loss, which mpmath takes of another reading."""
    data = {"Q": q, "K": k, "V": v}
    steps = {"S": "Q @ K.T / sqrt(cols(K))", "A": "softmax(S)", "Y": "tanh(A @ V)"}
    s = Solution(make("slopes", data, steps))
    with mpmath.workdps(DIGITS):
        step = mpmath.mpf(10) ** -18
        for name, raw in data.items():
            slopes = s.symbolic[f"dL/d{name}"].substitute()
            for i, j in product(range(len(raw)), range(len(raw[0]))):
                ends = []
                for sign in (1, -1):
                    moved = run(data, {})
                    moved[name][i, j] += sign * step
                    ends.append(run_on(moved, steps)["Y"].sum())
                slope = (ends[0] - ends[1]) / (2 * step)
                assert abs(mpmath.mpf(str(slopes[i, j].evalf(30))) - slope) < mpmath.mpf(10) ** -25


def run_on(found, steps):
    """The steps over matrices that are read already."""
    for name, text in steps.items():
        found[name] = evaluate(text, found)
    return found


# -- what a formula is -----------------------------------------------------------------------------


def test_letters_are_those_of_what_is_given():
    """The matrix knows nothing but given entries, sizes and the upstream gradient."""
    formulas = attention(upstream=UPSTREAM).symbolic
    bases = {
        name: {x.base.name for x in formulas[name].matrix.atoms(sympy.Indexed)}
        for name in ("S", "A", "dL/dV", "dL/dQ")
    }
    assert bases == {
        "S": {"Q", "K"},
        "A": {"Q", "K"},
        "dL/dV": {"Q", "K", "dL/dY"},
        "dL/dQ": {"Q", "K", "V", "dL/dY"},
    }
    assert sympy.Symbol("d_k") in formulas["T"].matrix.free_symbols
    assert formulas["S"].matrix[0, 1] == (
        letter("Q", 0, 0) * letter("K", 1, 0) + letter("Q", 0, 1) * letter("K", 1, 1)
    )
    assert formulas["dL/dY"].matrix[1, 0] == letter("dL/dY", 1, 0)
    assert formulas["dL/dQ"].given == ("Q", "K", "V", "d_k", "dL/dY")


def test_stages_follow_each_other():
    """Each stage has letters of earlier stages and of what is given; together they are the
    matrix, and the numbers put into them are what substitute() gives."""
    formulas = attention(upstream=UPSTREAM).symbolic
    formula = formulas["dL/dQ"]
    names = [*formula.stages]
    assert names == ["S", "T", "E", "Z", "dL/dA", "dL/dZ", "dL/dE", "dL/dT", "dL/dS", "dL/dQ"]
    known = set(formula.given)
    put: dict[sympy.Expr, sympy.Expr] = {}
    for name, matrix in formula.stages.items():
        used = {x.base.name for x in matrix.atoms(sympy.Indexed)}
        assert used <= known
        known.add(name)
        base = sympy.IndexedBase(name)
        put |= {
            base[i, j]: matrix[i, j].xreplace(put) for i, j in product(*map(range, matrix.shape))
        }
    last = sympy.IndexedBase("dL/dQ")
    for i, j in product(range(2), range(2)):
        assert formula.matrix[i, j] == put[last[i, j]]
    e, z = sympy.IndexedBase("E"), sympy.IndexedBase("Z")
    assert formulas["A"].stages["A"][0, 1] == e[0, 1] / z[0, 0]
    # The exponential is its own derivative, by its letter.
    assert formula.stages["dL/dT"][1, 0] == e[1, 0] * letter("dL/dE", 1, 0)


def test_symbols_of_the_upstream_gradient_stay():
    """Numbers are put in, g1 is what it was."""
    s = attention(upstream=[["g1", 0], [0, "2*g2 + 1"]])
    put = s.symbolic["dL/dQ"].substitute()
    assert {str(x) for x in put.free_symbols} == {"g1", "g2"}
    assert s.symbolic["dL/dQ"].equals(s["dL/dQ"]) is HOLDS
    other = attention(upstream=[["g1", 0], [0, "2*g2 - 1"]])
    assert s.symbolic["dL/dQ"].equals(other["dL/dQ"]) is REFUTED


def test_vectors_and_numbers_are_matrices():
    """A vector is one row, a number one entry, as in ``exact``."""
    s = Solution(make("few", {"x": [1, 2, 3], "c": 2}, {"y": "softmax(c * x)", "z": "total(y)"}))
    x = sympy.IndexedBase("x")
    assert s.symbolic["x"].matrix == sympy.Matrix([[x[0], x[1], x[2]]])
    assert s.symbolic["c"].matrix == sympy.Matrix([[sympy.Symbol("c")]])
    for name in s.symbolic:
        assert s.symbolic[name].substitute().shape == s[name].exact.shape == s[name].grid
        assert s.symbolic[name].equals(s[name]) is HOLDS


def test_names():
    """A gradient by any of its names; copies of one gradient keep theirs; no others."""
    s = solve("cat-sat-mat")
    formulas = s.symbolic
    assert s.symbolic is formulas
    assert formulas["dL/dQ"] is formulas["grad(Q)"] is formulas["dQ"] is formulas["dL/dQ"]
    # Where Q is X, and only that, both have one gradient.
    copied = Solution(make("copied", {"X": [1, 2]}, {"Q": "X", "Y": "Q * Q"})).symbolic
    for held in (formulas, copied):
        assert [formula.name for formula in held.values()] == list(held)
    assert "dL/dQ" in formulas
    assert "E" not in formulas
    for unknown in ("A[0]", "Q + K", "R", "dL/dR"):
        with pytest.raises(UnknownName):
            formulas[unknown]
    with pytest.raises(Malformed):
        formulas["A @"]
    assert repr(formulas["A"]) == "<Formula of A: Q, K, S, T, E, Z, A>"


def test_names_of_stages_are_free_ones():
    """Where a case has an E or a part of that name, the stages are called otherwise."""
    steps = {"Y_1": "E @ E.T", "Y": "softmax(softmax(Y_1) @ E)"}
    s = Solution(make("taken", {"E": [[1, 2], [0, 1]]}, steps))
    formula = s.symbolic["Y"]
    assert formula.given == ("E",)
    assert [*formula.stages] == ["Y_1", "E1", "Z", "Y_2", "Y_3", "E2", "Z1", "Y"]
    assert formula.equals(s["Y"]) is HOLDS


# -- masked scores ---------------------------------------------------------------------------------


def test_masked_scores():
    """A masked score is -oo, its exponential is 0, and nothing flows through it."""
    s = solve("cat-sat-mat-causal")
    formulas = s.symbolic
    assert formulas["M"].matrix[0, 1] == formulas["M"].substitute()[0, 1] == -sympy.oo
    powers = formulas["A"].stages["E"]
    assert [powers[0, j] == 0 for j in range(3)] == [False, True, True]
    assert formulas["A"].stages["Z"][0, 0] == letter("E", 0, 0)
    assert formulas["dL/dM"].matrix[0, 1] == 0
    assert formulas["dL/dT"].stages["dL/dT"][0, 1] == 0
    assert formulas["M"].equals(s["T"]) is REFUTED
    assert formulas["T"].equals(s["M"]) is REFUTED


def test_given_masked_scores():
    """A bias of minus infinity masks as well; scaled by a number it stays."""
    given = {"B": [[0, "-inf"], ["1/2", 0]], "S": [[1, 2], [3, 4]], "c": 3}
    s = Solution(make("bias", given, {"T": "S + c * B", "A": "softmax(T)"}))
    for name, formula in s.symbolic.items():
        assert formula.equals(s[name]) is HOLDS, name
    assert s.symbolic["dL/dB"].matrix[0, 1] == 0


def test_an_output_with_masked_scores_has_no_loss():
    """Steps have their formulas, gradients are left open with the reason."""
    s = Solution(make("masked", {"S": [[1, 2], [3, 4]]}, {"T": "causal(S)"}))
    assert s.symbolic["T"].equals(s["T"]) is HOLDS
    with pytest.raises(NoClosedForm, match="the output has masked scores"):
        s.symbolic["dL/dS"]
    found = {check.quantity: check.symbolic for check in verify(s).checks}
    assert found == {"S": HOLDS, "T": HOLDS, "dL/dS": UNDECIDED, "dL/dT": UNDECIDED}


# -- what is wrong is found ------------------------------------------------------------------------


def test_a_wrong_backward_rule_is_refuted(monkeypatch):
    """The softmax rule without its row sums: SymPy refutes what comes through it, no more."""

    def forgetful(node, g):
        return [nodes.elementwise("multiply", node, g)]

    monkeypatch.setattr(backward, "RULES", {**backward.RULES, "softmax": forgetful})
    # Programs are made once: neither a right one nor, for whoever comes next, a wrong one.
    monkeypatch.setattr(program, "_known_part", program._sound_part)
    found = {check.quantity: check for check in verify(attention(upstream=UPSTREAM)).checks}
    wrong = {"dL/dT", "dL/dS", "dL/dQ", "dL/dK"}
    assert {name for name, check in found.items() if check.symbolic is REFUTED} == wrong
    assert {name for name, check in found.items() if check.symbolic is HOLDS} == {*found} - wrong


def test_a_wrong_derivative_of_sympy_is_refuted(monkeypatch):
    """If SymPy lost a term, as its matrix calculus does, the closed forms would tell."""

    def lossy(form, letters):
        found = [sympy.diff(form, stages._dummy(k)) for k in range(letters)]
        # The normaliser of a softmax is taken for a constant.
        is_weight = isinstance(form, sympy.Mul) and letters == 2 and form.has(sympy.Pow)
        return (found[0], sympy.S.Zero) if is_weight else tuple(found)

    monkeypatch.setattr(stages, "_derivatives", lossy)
    s = Solution(make("lossy", GIVEN, {"A": "softmax(Q @ K.T)", "Y": "A @ V"}))
    assert s.symbolic["dL/dA"].equals(s["dL/dA"]) is HOLDS
    assert s.symbolic["dL/dQ"].equals(s["dL/dQ"]) is REFUTED


@pytest.mark.parametrize("name", ["A", "dL/dQ", "Q"])
def test_a_wrong_closed_form_is_refuted(name, monkeypatch):
    """One entry that is off by 10^-30, in 2 x 2."""
    s = attention(upstream=UPSTREAM)
    quantity = s[name]
    honest = quantity.entry

    def off(i, j):
        value = honest(i, j)
        assert isinstance(value, Value)
        return value + Fraction(1, 10**30) if (i, j) == (1, 0) else value

    monkeypatch.setattr(quantity, "entry", off)
    assert s.symbolic[name].equals(quantity) is REFUTED
    found = {check.quantity: check for check in verify(s).checks}
    assert found[name].symbolic is REFUTED
    assert {check.symbolic for key, check in found.items() if key != name} == {HOLDS}


def test_other_shapes_are_refuted():
    """A formula is not that of a quantity with other entries."""
    s = attention()
    assert s.symbolic["Q"].equals(s["Q[0]"]) is REFUTED


# -- limits ----------------------------------------------------------------------------------------


def doubts(s):
    """What SymPy leaves open of a solution, and why."""
    return verify(s).symbolic_doubts


def test_programs_that_are_too_large(monkeypatch):
    """Beyond the limit nothing is derived, and SymPy is not asked."""
    monkeypatch.setattr(symbolic, "DERIVED", Limit(40, DERIVED.beyond))
    monkeypatch.setattr(verification, "DERIVED", Limit(40, DERIVED.beyond))
    monkeypatch.setattr(symbolic, "Stages", None)
    s = attention()
    with pytest.raises(NoClosedForm, match=r"entries are used \d+ times; .* at most 40 uses"):
        _ = s.symbolic
    ((reason, names),) = doubts(s).items()
    assert reason.endswith("SymPy derives programs of at most 40 uses")
    assert names == [check.quantity for check in verify(s).checks]


@pytest.mark.parametrize(
    ("name", "limit", "attribute"),
    [("FORMULA", FORMULA, "substitute"), ("EXPANDED", EXPANDED, "matrix")],
)
def test_formulas_that_are_too_long(name, limit, attribute, monkeypatch):
    """What would be longer is not written, what is shorter is."""
    monkeypatch.setattr(symbolic, name, Limit(30, limit.beyond))
    formulas = attention(upstream=UPSTREAM).symbolic

    def written(formula):
        found = getattr(formula, attribute)
        return found() if callable(found) else found

    assert written(formulas["S"]).shape == (2, 2)
    with pytest.raises(NoClosedForm, match=r"\[0, 0\]: a formula of \d+ operations"):
        written(formulas["dL/dQ"])


def test_functions_of_what_is_too_long(monkeypatch):
    """The exponential of a weight is a short formula; with a lower limit it is none."""
    steps = {"A": "softmax(Q @ K.T)", "B": "softmax(A)"}
    s = Solution(make("twice", GIVEN, steps))
    assert s.symbolic["B"].equals(s["B"]) is HOLDS
    assert s.symbolic["B"].substitute().shape == (2, 2)
    monkeypatch.setattr(symbolic, "ARGUMENT", Limit(10, ARGUMENT.beyond))
    s = Solution(make("twice", GIVEN, steps))
    for name in ("B", "dL/dQ", "dL/dK", "dL/dA"):
        with pytest.raises(NoClosedForm, match="a function of a formula of"):
            s.symbolic[name].substitute()
    # Our own arithmetic compares all the same.
    assert doubts(s) == {}
    # In letters nothing has to be evaluated.
    assert s.symbolic["dL/dQ"].matrix.shape == (2, 2)


def test_long_numbers_count():
    """Numbers that double their digits end at the limit, not in the memory."""
    steps = {"Y0": "X @ X"} | {f"Y{k}": f"Y{k - 1} @ Y{k - 1}" for k in range(1, 40)}
    s = Solution(make("powers", {"X": [["1/3", 2], [1, "0.7"]]}, steps))
    assert s.symbolic["Y9"].equals(s["Y9"]) is HOLDS
    with pytest.raises(NoClosedForm, match="operations"):
        s.symbolic["Y39"].substitute()


def test_no_closed_form_is_undecided():
    """What has no short closed form has nothing to be compared with."""
    roots = "+".join(f"sqrt({p})" for p in (2, 3, 5, 7, 11, 13, 17, 19, 23))
    reasons = doubts(Solution(make("roots", {"x": f"1/({roots})"}, {"y": "2 * x"})))
    assert [*reasons.values()] == [["x"], ["y"]]
    assert all("has no short closed form" in reason for reason in reasons)


#: Weights so far apart that SymPy, which asks roughly whether such a number is 0, takes 10^9 bits.
STEEP = "(l2norm(softmax(-1e9 * S)) - log(2)).T @ (l2norm(softmax(-1e9 * S)) - log(2))"
STEEP_GIVEN = {"S": [[2, 0, 1], [0, 2, 1], [1, 1, 2]]}


def test_sympy_is_asked_for_no_number(monkeypatch):
    """The numbers are put into SymPy's formulas by our own arithmetic, whose work is bounded:
    SymPy evaluates nothing, which may take for ever, by the order in which it happens to ask."""

    def evaluated(number, *_):
        raise AssertionError(f"SymPy evaluates {number}")

    for kind in (sympy.Add, sympy.Mul, sympy.exp, sympy.log):
        monkeypatch.setitem(evalf_table, kind, evaluated)
    found = verify(make("steep", STEEP_GIVEN, {"A": STEEP}))
    assert {check.symbolic for check in found.checks} == {HOLDS}


@pytest.mark.parametrize("name", ["A", "dL/dS"])
def test_steep_numbers_are_not_put_in(name):
    """Exponentials count for their bits, whichever way they come; nothing is evaluated first."""
    s = Solution(make("steep", STEEP_GIVEN, {"A": STEEP}))
    with pytest.raises(NoClosedForm, match="operations"):
        s.symbolic[name].substitute()
    with pytest.raises(NoClosedForm, match="operations"):
        s.symbolic[name].subs(S=STEEP_GIVEN["S"])
    assert s.symbolic[name].matrix.shape == (3, 3)


def test_steep_constants_are_not_derived():
    """The same of numbers in a step: with them SymPy derives nothing."""
    constant = "sqrt(exp(-1e9) + log(2)) - sqrt(log(2))"
    s = Solution(make("constant", {"X": [1, 2]}, {"Y": f"X * sqrt(1 + {constant})"}))
    ((reason, names),) = doubts(s).items()
    assert "a function of a formula of" in reason
    assert names == [check.quantity for check in verify(s).checks]


def test_numbers_that_sympy_writes_otherwise():
    """SymPy writes log(1/2) as -log(2); it is the same number."""
    s = Solution(make("log", {"x": ["1/2", "1/4"]}, {"y": "log(x)"}))
    assert s.symbolic["y"].substitute()[0, 0] == -sympy.log(2)
    assert s.symbolic["y"].equals(s["y"]) is HOLDS


# -- what is not loaded ----------------------------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "work",
    [
        "from symattn.solution.solution import solve; solve('cat-sat-mat')['dL/dQ'].decimal(4)",
        "from symattn.auditing.audit import audit; audit('please-study-man')",
        "import symattn.verification, symattn.cli.verify",
        "from symattn.sheets.case_sheet import sheet; sheet('length-4-causal')",
    ],
)
def test_sympy_is_loaded_for_formulas_only(work):
    """Solving, auditing, starting a command and a student's sheet do without."""
    code = f"{work}; import sys; sys.exit('sympy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
