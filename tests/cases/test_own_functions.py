"""A function that a case defines is what one gets by writing it out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.auditing.audit import audit
from symattn.case_derivation import derive_case
from symattn.cases.case import Case, make
from symattn.cases.functions import function
from symattn.cases.library import load
from symattn.crosscheck.recomputation import recompute
from symattn.errors import Malformed, Undecided
from symattn.exercises.exercise import exercise, masked
from symattn.exercises.key import key, read
from symattn.limits import FUNCTIONS, WRITTEN_OUT
from symattn.solution.solution import Solution, solve
from symattn.solution.template import template
from symattn.verdicts import Verdict
from symattn.verification import verify

from ..strategies import few

X = [[1, "-1/2"], ["1/3", 2]]
MISH = {"mish(x)": "x * tanh(softplus(x))"}

#: Expressions in two names of square matrices, which every function takes.
bodies = st.recursive(
    st.sampled_from(["x", "y", "1/2", "x", "pi"]),
    lambda inner: st.one_of(
        st.builds("{}({})".format, st.sampled_from(["tanh", "sigmoid", "softplus", "relu"]), inner),
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner),
        st.builds("(x + {}).T".format, inner),
        st.builds("(y @ softmax(x - {}))".format, inner),
        st.builds("({})**2".format, inner),
    ),
    max_leaves=4,
).filter(lambda body: "x" in re.findall(r"\b[xy]\b", body) and "y" in body)
arguments = st.sampled_from(["X", "X.T", "X @ W", "2", "-1/4 * X", "softmax(W)"])


@given(bodies, bodies, arguments.filter(lambda text: text != "2"), arguments)
@few
def test_a_call_is_the_body_with_its_arguments(inner: str, outer: str, one: str, two: str) -> None:
    """Values, gradients and the recomputation, through a function that calls another."""
    own = {"g(x, y)": inner, "f(x, y)": f"tanh(g(y, x)) + {outer}"}

    def put_in(body: str, x: str, y: str) -> str:
        return re.sub(r"\b[xy]\b", lambda name: f"({x if name[0] == 'x' else y})", body)

    whole = f"tanh({put_in(inner, 'y', 'x')}) + {outer}"
    given = {"X": X, "W": [[0, 1], ["1/2", -1]]}
    loss = {"output": "S", "wrt": ["X"]}
    # Whatever the arguments are, X is in the step and so is a matrix.
    called = {"S": f"f({one}, {two}) + X"}
    written = {"S": f"{put_in(whole, one, two)} + X"}
    try:
        case = make("called", given, called, loss, functions=own)
        other = solve(make("written", given, written, loss))
    except Malformed:
        with pytest.raises(Malformed):
            make("written", given, written, loss)
        return
    solution = solve(case)
    assert solution["S"].decimal(9) == other["S"].decimal(9)
    assert _digits(solution) == _digits(other)
    assert Verdict.REFUTED not in _again(solution)


def _digits(solution: Solution) -> object:
    """The gradient; None where a kink leaves it undecided, as relu of what is 0 throughout."""
    try:
        return solution.gradient("X").decimal(9)
    except Undecided:
        return None


def test_parameters_defaults_and_options() -> None:
    """Numbers may be exponents and words options; the names of a head-less body are in order."""
    own = [
        function("lrelu(x, slope=0.01)", "where(x > 0, x, slope * x)"),
        function("raised(x, n)", "x**n"),
        function("gate(x, how='none')", "gelu(x, approximate=how)"),
        function("less", "b - a"),
    ]
    steps = {
        "A": "lrelu(X) + lrelu(X, 1/10) + lrelu(slope=0.5, x=X)",
        "B": "raised(X, 3) + raised(X, n=-1) + raised(X**2, 1/2)",
        "C": "gate(X) + gate(X, how='tanh')",
        "D": "less(X, 1)",
    }
    written = {
        "A": "where(X > 0, X, 0.01*X) + where(X > 0, X, X/10) + where(X > 0, X, 0.5*X)",
        "B": "X**3 + X**-1 + sqrt(X**2)",
        "C": "gelu(X) + gelu(X, approximate='tanh')",
        "D": "X - 1",
    }
    called = solve(make("called", {"X": X}, steps, functions=own))
    other = solve(make("written", {"X": X}, written))
    for name in steps:
        assert called[name].decimal(9) == other[name].decimal(9)
    assert _again(called) == {Verdict.HOLDS}
    assert repr(own[3]) == "<OwnFunction: less(b, a) = b - a>"


def test_claims_heads_and_gradients_in_steps_know_them() -> None:
    """Wherever expressions stand."""
    steps = {
        "H": "mish(heads(X, 2))",
        "Y": "mish(merge(H))",
        "L": "total(Y)",
        "U": "X - grad(L, X)",
    }
    claims: list[dict[str, object]] = [
        {"holds": "mish(X)[0, 0] == H_0[0, 0] and max(mish(X)) < 2"},
        {"of": "mish(mish(X))[0]", "printed": ["0.73", "-0.13"]},
    ]
    case = make("m", {"X": X}, steps, {"output": "L"}, claims=claims, functions=MISH)
    audited = audit(case)
    assert [x.verdict for x in audited.statements] == [Verdict.HOLDS]
    assert [figure.text == figure.correct for figure in audited.figures] == [True, False]
    assert solve(case)["mish(X) + 1"].decimal(6)[0][0] == solve(case)["H_0[0, 0] + 1"].decimal(6)
    assert _again(case) == {Verdict.HOLDS}


def test_sympy_derives_them() -> None:
    """The third witness, too."""
    case = make("m", {"X": [[1, "-1/2"]]}, {"H": "mish(X)"}, functions=MISH)
    assert verify(case).verdict is Verdict.HOLDS


@pytest.mark.heavy
def test_a_derivation_says_what_they_compute() -> None:
    """It knows the functions of steps, and none of a case."""
    own = {
        "scores(Q, K)": "Q @ K.T / sqrt(cols(Q))",
        "attend(Q, K, V)": "softmax(scores(Q, K)) @ V",
    }
    given = {"Q": X, "K": [[1, 0], [0, 1], [2, 1]], "V": [[1], [2], [3]]}
    derived = derive_case(make("m", given, {"Y": "attend(Q, K, V)"}, functions=own))
    assert derived.proved
    assert "attend" not in "".join(line.text for line in derived.lines)


def test_mistakes_inside_and_around_them_are_named() -> None:
    """A slip of the body is one of the step; a function may be forgotten whole."""
    own = {"attend(Q, K, V)": "softmax(Q @ K.T / sqrt(4)) @ V", "curb": "tanh(x / 2)"}
    given = {"X": [[1, 0, 2, 1], [0, 1, "1/2", 3], [1, 1, 0, "-1/3"]], "W": 2}
    steps = {"H": "curb(X * W)", "Y": "attend(H, H, X)"}

    def slips(other: dict[str, str]) -> set[str]:
        printed = solve(make("slipped", given, {**steps, **other}, functions=own))
        claims = [{"of": name, "printed": printed[name].decimal(5)} for name in steps]
        audited = audit(make("m", given, steps, functions=own, claims=claims))
        return {cause.sentence for cause in audited.causes}

    assert any("without curb" in slip for slip in slips({"H": "X * W"})), slips({"H": "X * W"})
    unscaled = slips({"Y": "softmax(H @ H.T) @ X"})
    assert any("without the division by sqrt(4)" in slip for slip in unscaled), unscaled


FAULTS = [
    ({"f(x)": "x + y"}, "functions.f(x): unknown name 'y': expected one of x"),
    ({"f(x)": "softmax * x"}, "'softmax' is no quantity; as a function it needs brackets"),
    ({"f(x)": "x +"}, "functions.f(x): 'x +': expected a value at character 4, found the end"),
    ({"f(x)": 3}, "functions.f(x): expected an expression as text, found a number"),
    ({"f(x, y)": "x"}, "functions.f(x, y): y is not in the body: leave it out of the head"),
    ({"f(x, x)": "x"}, "functions.f(x, x): x is a parameter twice"),
    ({"f": "1 / 2"}, "functions.f: expected a parameter"),
    ({"f(x": "x"}, "functions.f(x: expected a name with parameters, as in mish(x)"),
    ({"f(2)": "x"}, "functions.f(2): expected a name with parameters"),
    ({"f(x=y)": "x"}, "or with defaults that are numbers or quoted words"),
    ({"f(x)": "f(x)"}, "functions.f(x): made of itself: f calls f"),
    ({"f(x)": "2 * g(x)", "g": "f(x)"}, "functions.g: made of itself: g calls f calls g"),
    ({"f(x)": "sofmax(x)"}, "functions.f(x): unknown function 'sofmax': did you mean softmax?"),
    ({"f(x)": "heads(x, 2)"}, "heads stands in steps and statements, not in functions"),
    ({"f(x)": "grad(x)"}, "gradients stand in steps, not in functions"),
    ({"f(x)": "x > 0 and x < 1"}, "statements joined by 'and' have no value"),
    ({"softmax(x)": "x"}, "softmax is a function already: call the function softmax1"),
    ({"argmax(x)": "x"}, "argmax is a function already"),
    ({"clamp(x)": "x"}, "clamp is a function already"),
    ({"grad(x, y, z)": "x"}, "'grad' is reserved for gradients: call it grad1"),
    ({"f(exp)": "exp"}, "exp is a function already: call the parameter exp1"),
    ({"f(pi)": "pi"}, "pi has a value of its own: call the parameter pi1"),
    ({"f(g)": "g", "g(x)": "x"}, "g is a function already: call the parameter g1"),
    ({"X(y)": "y"}, "functions.X(y): X is a quantity, too: give one of them another name"),
    ({"S": "x + 1"}, "functions.S: S is a quantity, too"),
    ({"f(x)": "x", "f(x, y)": "x + y"}, "functions.f(x, y): f is defined twice"),
    (
        {f"f{k}(x)": f"f{k - 1}(x) * f{k - 1}(x)" if k else "x" for k in range(99)},
        f"parts with its functions written out; at most {WRITTEN_OUT.most} are read",
    ),
    (
        {f"f{k}(x)": f"tanh(f{k - 1}(x))" if k else "x" for k in range(99)},
        "with its functions written out nested deeper than",
    ),
    ({f"f{k}": "x" for k in range(101)}, f"functions: {FUNCTIONS.said(101)}"),
    ([1], "functions: expected functions as symattn.function("),
]


@pytest.mark.parametrize(("own", "said"), FAULTS)
def test_faults_say_where_and_what_to_do(own: Any, said: str) -> None:
    """Each once: what calls a faulty function has none of its own."""
    # A function of the table is called, but no other one.
    called = {"f98", "f"} & {head.partition("(")[0] for head in own if isinstance(head, str)}
    step = f"{max(called)}(X)" if called else "X"
    with pytest.raises(Malformed) as caught:
        make("m", {"X": X}, {"S": step, "T": "S + 1"}, functions=own)
    messages = [str(fault) for fault in caught.value.faults]
    assert any(said in message for message in messages), messages
    assert not any(message.startswith(("steps", "loss")) for message in messages), messages


CALLS = [
    ("f(X)", "steps.S: f(x, y) needs y, found 1 argument"),
    ("f(X, X, X)", "steps.S: f(x, y) takes at most 2, found 3"),
    ("f(X, z=X)", "steps.S: f has no parameter 'z': expected one of x, y"),
    ("f(X, x=X, y=X)", "steps.S: f: x is given twice"),
    ("f(X, [[1, 2, 3]])", "steps.S: f: shapes don't fit"),
    ("f + X", "steps.S: 'f' is no quantity; as a function it needs brackets"),
    ("h(X, X)", "steps.S: unknown function 'h'"),
    (" + ".join(["big(X)"] * 60), "parts with its functions written out"),
]


@pytest.mark.parametrize(("step", "said"), CALLS)
def test_faults_of_calls_are_those_of_the_step(step: str, said: str) -> None:
    """With what the head says, and what the body makes of it."""
    own = {"f(x, y)": "x @ y", "big(x)": " + ".join(["x"] * 30)}
    with pytest.raises(Malformed) as caught:
        make("m", {"X": X}, {"S": step}, functions=own)
    assert said in str(caught.value)


def test_a_function_by_itself_is_checked_at_once() -> None:
    """In Python, with all that is wrong with it."""
    with pytest.raises(Malformed) as caught:
        function("exp(x, z)", "x + y")
    assert len(caught.value.faults) == 3
    with pytest.raises(Malformed, match="expected an expression as text"):
        function("f(x)", 3)  # type: ignore[arg-type]


FILE = """
title = "Mish"
[given]
X = [[1, "-1/2"], ["1/3", 2]]
[functions]
"mish(x)" = "x * tanh(softplus(x))"
"twice(x, by=2)" = "by * mish(x)"
[steps]
H = "twice(X)"
A = "softmax(H)"
"""


def _again(case: Case | Solution) -> set[Verdict]:
    """What the recomputation says of all quantities and gradients."""
    return {check.verdict for check in verify(case, symbolic=False).checks}


def _file(folder: Path, text: str, name: str = "mish.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_defines_them_and_others_extend_it(tmp_path: Path) -> None:
    """By name: another head takes the place of the one below, and others are added."""
    base = load(_file(tmp_path, FILE))
    more = """
    extends = "mish.toml"
    [functions]
    "mish(z)" = "z * relu(z)"
    half = "x / 2"
    [steps]
    B = "half(A)"
    """
    other = load(_file(tmp_path, more, "more.toml"))
    assert [*base.functions] == ["mish(x)", "twice(x, by=2)"]
    assert {*other.functions} == {"mish(z)", "twice(x, by=2)", "half"}
    assert solve(other)["H"].decimal(3)[1][1] == 8
    assert _again(other) == {Verdict.HOLDS}


def test_faults_of_a_file_have_their_lines(tmp_path: Path) -> None:
    """That of the head."""
    text = FILE.replace("by * mish(x)", "by * mish(x) + y")
    with pytest.raises(Malformed) as caught:
        load(_file(tmp_path, text))
    (fault,) = caught.value.faults
    assert (fault.line, fault.where) == (7, "functions.twice(x, by=2)")


def _own() -> Case:
    return make("m", {"X": X}, {"H": "mish(X)", "A": "softmax(H)"}, functions=MISH)


def test_what_is_made_of_a_case_keeps_them(tmp_path: Path) -> None:
    """Templates of claims, exercises with a mask, and their keys."""
    case = _own()
    written = load(_file(tmp_path, template(solve(case))))
    assert written.functions == case.functions
    assert audit(written).summary["refuted"] == 0
    assert masked(case).functions == case.functions
    (again,) = read(tmp_path / "key.toml", key([exercise(case)]).encode())
    assert again.case.functions == case.functions


def test_the_recomputation_reads_definitions_by_itself() -> None:
    """Another definition than the one that was checked gives other numbers."""
    steps = {"H": "f(X)"}
    halved = recompute({"X": X}, steps, functions={"f": "x / 2 + pi * 0 * x"})
    assert halved.quantities["H"].value.tolist()[0] == [0.5, -0.25]
    with pytest.raises(Malformed, match="no function 'f'"):
        recompute({"X": X}, steps, functions={"f(x)": "2 * f(x)"})
    # A quantity that is called as the number is another one inside of a function.
    named = make("m", {"pi": 2, "X": X}, {"H": "f(X) * pi"}, functions={"f(x)": "x * pi"})
    assert _again(named) == {Verdict.HOLDS}
