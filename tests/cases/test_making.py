"""Cases made in Python: through the same door as files, with every fault at once."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from flint import fmpq

import symattn
from symattn.cases import library
from symattn.cases.case import make
from symattn.errors import Fault, Faults, Malformed, SymattnError, Undecided, UnknownName
from symattn.numbers.rows import read_each, read_rows

GIVEN = {"X": [[1, 2], [3, 4]], "w": 2}
STEPS = {"S": "w * X", "A": "softmax(S)", "Y": "A @ X"}


def told(*arguments, **details):
    """The faults of a case, as text."""
    with pytest.raises(Malformed) as caught:
        make("mine", *arguments, **details)
    assert all(fault.line == 0 for fault in caught.value.faults)
    return [str(fault) for fault in caught.value.faults]


def test_a_case_has_what_it_was_made_of():
    """Each detail at its name; what is not told has its default."""
    loss = {"output": "A", "upstream": [["g", 1], [0, "1/2"]], "wrt": ("S", "X")}
    details: dict[str, Any] = {"title": "t", "source": "s", "note": "n", "rounding": "up"}
    details["sheet"] = {"places": 3}
    claims: list[dict[str, object]] = [{"of": "w", "printed": 2}, {"holds": "w == 2"}]
    noted = [{"where": "1", "what": "2", "reason": "3"}]
    case = make("mine", GIVEN, STEPS, loss, tokens=["a", "b"], tolerance="0.5%",
                claims=claims, unchecked=noted, **details)  # fmt: skip
    assert {name: getattr(case, name) for name in details} == details
    assert (case.name, case.output, case.wrt, case.tokens) == ("mine", "A", ("S", "X"), ("a", "b"))
    assert (dict(case.raw), case.raw_upstream) == (GIVEN, loss["upstream"])
    assert str(case.upstream) == "((g, 1), (0, 1/2))"
    assert str(case.given) == "{'X': ((1, 2), (3, 4)), 'w': ((2,),)}"
    assert (case.states_loss, case.symbols, case.tolerance) == (True, ("g",), fmpq(1, 200))
    assert [claim.text for claim in case.claims] == ["w", "w == 2"]
    assert [(u.where, u.what, u.reason) for u in case.unchecked] == [("1", "2", "3")]
    assert (case.path, case.base, case.extends) == (None, None, "")
    plain = make("mine", GIVEN, STEPS)
    assert (plain.title, plain.rounding, plain.tolerance) == ("mine", "half-even", None)
    assert (plain.output, plain.wrt) == ("Y", ("X", "S", "A", "Y"))
    assert (plain.states_loss, plain.raw_upstream, plain.symbols) == (False, None, ())
    assert str(plain.upstream) == "((1, 1), (1, 1))"


@pytest.mark.parametrize(
    ("output", "ones"),
    [("total(S)", ((1,),)), ("S[0]", ((1, 1),)), ("rowsum(S)", ((1,), (1,))), ("S", ((1, 1),) * 2)],
)
def test_the_upstream_gradient_is_ones_in_the_outputs_grid(output, ones):
    """Unless it is given: the loss is then the sum of all outputs."""
    case = make("mine", GIVEN, {"S": "X", "Y": output})
    assert str(case.upstream) == str(ones)


def test_every_fault_is_told_at_once():
    """Of numbers, steps, loss, claims and details; none for what is merely
    built on something faulty."""
    found = told(
        {"X": [[1, 0.5], [3, 4]], "d k": 1, "v": [1, [2]], "2": [nan := "nan"]},
        {"A": "softmax(X)", "B": "v + u", "C": 3, "D": "Z @ Z", "E": "C + A"},
        {"output": "Q", "upstream": [["e", True]], "wrt": ["v", "w"], "outputs": 1},
        claims=[{"of": "A", "printed": "x"}, {"holds": "dA == 1"}, {"holds": "Z == 1"}],
        unchecked=[{"where": "1"}],
        tokens="ab",
        rounding="down and up",
        tolerance=nan,
    )
    assert [line.partition(": ")[0] for line in found] == [
        "given.X[0][1]", "given.v[0]", "given.2[0]", "given.2", "steps.C", "given.d k", "steps.D",
        "loss.outputs", "loss.output", "loss.upstream[0][1]", "loss.wrt[1]", "claims[0].printed",
        "claims[2].holds", "unchecked[0].what", "unchecked[0].reason", "tokens", "tolerance",
        "rounding",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        ({"output": ""}, ["loss.output: expected a step (S, A, Y), found ''"]),
        ({"output": "X"}, ["loss.output: expected a step (S, A, Y), found 'X'"]),
        ({"output": 3}, ["loss.output: expected a step (S, A, Y), found 3"]),
        ({"wrt": []}, ["loss.wrt: expected a list of names, found []"]),
        ({"wrt": "X"}, ["loss.wrt: expected a list of names, found 'X'"]),
        ({"output": "A", "wrt": ["Y", "S", "S"]},
         ["loss.wrt[0]: A does not depend on Y", "loss.wrt[2]: S is named twice"]),
        ({"wrt": ["U", 3]}, ["loss.wrt[0]: unknown name 'U': expected one of X, w, S, A, Y",
                             "loss.wrt[1]: unknown name 3: expected one of X, w, S, A, Y"]),
        ({"upstream": [1, 1]},
         ["loss.upstream: expected the output's shape, 2x2, found a vector of 2"]),
        ({"upstream": [["w", "-inf"], ["g*h", "exp"]]},
         ["loss.upstream[0][0]: the symbol 'w' is a quantity's name",
          "loss.upstream[0][1]: expected a finite number, found -inf",
          "loss.upstream[1][1]: 'exp' is reserved for the function of that name: call it exp1"]),
        ({"upstream": [["g", None], [1, 1]], "wrt": ["X", "X"], "output": "Z", "at": 1},
         ["loss.at: unknown key 'at': expected one of output, upstream, wrt",
          "loss.output: expected a step (S, A, Y), found 'Z'",
          "loss.upstream[0][1]: expected a number, found NoneType",
          "loss.wrt[1]: X is named twice"]),
    ],
)  # fmt: skip
def test_faults_of_a_loss(loss, said):
    """Each at its place, all at once."""
    assert told(GIVEN, STEPS, loss) == said


def test_a_loss_of_a_faulty_step_is_no_fault_of_its_own():
    """Nor are claims of gradients then; names that nothing has still are."""
    steps = {**STEPS, "B": "X @ v"}
    claims: list[dict[str, object]] = [
        {"holds": "dX == 1 and dL/dS == 1"},
        {"of": "grad(w)", "printed": 1},
    ]
    loss = {"output": "B", "wrt": ["X", "B"]}
    (found,) = told(GIVEN, steps, loss, claims=claims)
    assert found.startswith("steps.B: unknown name 'v'")
    claims = [{"holds": "dB == 1 and grad(B) == dX"}]
    assert len(told(GIVEN, steps, {"output": "A"}, claims=claims)) == 1
    found = told(GIVEN, steps, {**loss, "wrt": ["B", "v"]}, claims=[{"holds": "dv == 1"}])
    assert [line.partition(":")[0] for line in found] == [
        "steps.B", "loss.wrt[1]", "claims[0].holds"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("tolerance", "value"),
    [("0.001", fmpq(1, 1000)), ("1e-4", fmpq(1, 10**4)), ("0.5 %", fmpq(1, 200)), (2, fmpq(2)),
     (Decimal("0.25"), fmpq(1, 4))],
)  # fmt: skip
def test_a_tolerance_is_a_positive_number(tolerance, value):
    """Read with the case, as documents print it."""
    assert make("mine", GIVEN, STEPS, tolerance=tolerance).tolerance == value


@pytest.mark.parametrize("tolerance", ["", "0", "-0.1", "about 1", "-inf", 0, 0.5, Decimal("NaN")])
def test_what_is_no_tolerance(tolerance):
    """Zero, negative, infinite, a float, words: refused when the case is read."""
    assert told(GIVEN, STEPS, tolerance=tolerance) == [
        f"tolerance: expected a positive number, found {tolerance!r}"
    ]


@pytest.mark.parametrize("tokens", ["ab", ["a", 3], [None, "b"]])
def test_what_are_no_tokens(tokens):
    """Tokens are a list of texts."""
    assert told(GIVEN, STEPS, tokens=tokens) == ["tokens: expected a list of texts"]


def test_tokens_label_something():
    """Rows or columns of some quantity; nothing is said where a step is faulty."""
    assert make("mine", {"v": [1, 2, 3]}, {"w": "v"}, tokens=["a", "b", "c"]).tokens[2] == "c"
    (found,) = told(GIVEN, STEPS, tokens=["a", "b", "c"])
    assert found == "tokens: 3 tokens, but no quantity has 3 rows or columns"
    (found,) = told(GIVEN, {**STEPS, "Z": "v"}, tokens=["a", "b", "c"])
    assert found.startswith("steps.Z")


def test_a_case_without_steps():
    """There is nothing to solve, and nothing to differentiate."""
    assert told(GIVEN, {}) == ["steps: expected at least one step"]
    assert told(GIVEN, {}, {"output": "w"}) == [
        "steps: expected at least one step",
        "loss.output: expected a step (), found 'w'",
    ]


def test_claims_need_no_steps():
    """Mere numbers and what is given can be claimed; there is no output then, and no loss."""
    made = make("mine", GIVEN, {}, claims=[{"as_printed": "1 + 2", "printed": 3}])
    assert (made.output, made.wrt, made.upstream, made.program.gradients) == ("", (), (), {})
    assert [claim.text for claim in make("x", {}, {}, claims=[{"holds": "1 < 2"}]).claims] == [
        "1 < 2"
    ]
    claims = [{"of": "dL/dw", "printed": 1}]
    assert told(GIVEN, {}, {"upstream": 1}, claims=claims)[0] == (
        "steps: expected at least one step"
    )


def test_what_is_told_of_steps_roundings_and_keys():
    """In full: what was expected, and what was found, cut where it is long."""
    kinds = [(3, "a number"), (Decimal(1), "a number"), (True, "true or false"), (0.5, "a float"),
             (None, "nothing"), ((), "a list"), ([1], "a list"), ({}, "a table")]  # fmt: skip
    for value, kind in kinds:
        (found,) = told(GIVEN, {"S": value})
        assert found == f"steps.S: expected an expression as text, found {kind}"
    assert told(GIVEN, STEPS, rounding="up or down") == [
        "rounding: expected one of half-even, half-up, half-down, down, up, floor, ceiling, "
        "found 'up or down'"
    ]
    wanted = "expected one of output, upstream, wrt"
    for key, shown in [("k" * 40, "k" * 40), ("k" * 41, f"{'k' * 37}...")]:
        (found,) = told(GIVEN, STEPS, {key: 1})
        assert found == f"loss.{key}: unknown key '{shown}': {wanted}"
    (found,) = told(GIVEN, STEPS, {"k" * 1000: 1})
    assert found == f"loss.{'k' * 80}: unknown key '{'k' * 37}...': {wanted}"


# -- one door ----------------------------------------------------------------------------


def written(given, steps, loss, details):
    """The same as a case file: JSON's texts, numbers and lists are TOML's."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in details.items() if key != "claims"]
    for table, entries in (("given", given), ("steps", steps), ("loss", loss)):
        lines += [f"[{table}]", *(f"{key} = {json.dumps(v)}" for key, v in entries.items())]
    for claim in details.get("claims", ()):
        lines += ["[[claims]]", *(f"{key} = {json.dumps(v)}" for key, v in claim.items())]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("given", "steps", "loss", "details"),
    [
        (GIVEN, STEPS, {}, {}),
        (GIVEN, STEPS, {"output": "A", "wrt": ["S"]}, {"tokens": ["a", "b"], "rounding": "up"}),
        (GIVEN, STEPS, {}, {"claims": [{"of": "A[0]", "printed": ["0.1", 2]}, {"holds": "w==2"}]}),
        (GIVEN, STEPS, {}, {"claims": [{"of": "A[0]", "printed": ["x"]}, {"holds": "w"}, {}]}),
        (GIVEN, {**STEPS, "Q": "Z"}, {"output": "B", "wrt": 3}, {"tolerance": "x", "tokens": [1]}),
        ({"X": [[1], [2, 3]], "Y": "1/0"}, {"Y": "X", "exp": "X"}, {"up": 1}, {"rounding": "no"}),
        (GIVEN, {}, {"upstream": [[1]]}, {"unchecked": [3], "tolerance": "0"}),
    ],
)
def test_a_file_and_a_call_are_read_alike(given, steps, loss, details, tmp_path):
    """The same case, or the same faults in the same words."""
    path = tmp_path / "mine.toml"
    path.write_text(written(given, steps, loss, details), "utf-8")

    def outcome(read):
        try:
            case = read()
        except Malformed as error:
            return sorted((fault.where, fault.message) for fault in error.faults)
        claims = [(c.where, c.text, c.tree, c.printed) for c in case.claims]
        return str((case.given, case.steps, case.upstream, case.wrt, case.tokens, case.rounding,
                    case.tolerance, case.title, claims))  # fmt: skip

    assert outcome(lambda: make("mine", given, steps, loss, **details)) == outcome(
        lambda: library.load(path)
    )


# -- numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        [[1, 2], [3, 4]],
        ((1, 2), (3, 4)),
        [["1", Fraction(2)], [Decimal(3), sympy.Integer(4)]],
        np.array([[1, 2], [3, 4]]),
        [np.array([1, 2]), [3, 4]],
        sympy.Matrix([[1, 2], [3, 4]]),
        [[fmpq(1), "4/2"], ["sqrt(9)", "2 + 2"]],
    ],
)
def test_nested_numbers_of_any_kind(data):
    """Lists, tuples and arrays; every exact number there is."""
    shape, rows = read_rows(data)
    assert (shape, str(rows)) == ((2, 2), "((1, 2), (3, 4))")


def test_symbols_are_numbers_only_where_they_are_allowed():
    """In an upstream gradient."""
    assert str(read_rows(["g", "2*h"], symbols=True)[1]) == "((g, 2*h),)"
    with pytest.raises(Malformed, match=r"^\[1\]: 'g' is not an exact number"):
        read_rows([1, "g"])


def test_every_entry_that_can_not_be_read_is_told():
    """With the indices that it has in the shape."""
    for data, places in [("x", [""]), (["x", "1", "y"], ["[0]", "[2]"]),
                         ([["1", "x"], ["y", "1"]], ["[0][1]", "[1][0]"])]:  # fmt: skip
        with pytest.raises(Malformed) as caught:
            read_rows(data)
        assert [fault.where for fault in caught.value.faults] == places


def test_more_entries_than_are_held_are_refused_unread():
    """Before one of them is read."""
    for data in (["x"] * 70000, [["x"] * 300] * 300):
        with pytest.raises(Malformed, match="is beyond 65536 entries"):
            read_each(data, lambda entry: pytest.fail("read"))
    assert read_each([0] * 65536, str)[0] == (65536,)


def test_all_that_is_raised_on_purpose_is_gathered():
    """Whatever the kind of error, at its place; what is a slip of the program is not."""
    faults = Faults()
    with faults.inside("given.x"):
        raise Undecided("the sign")
    with faults.inside("given"):
        raise Malformed([Fault("[0]", "one", 3), Fault("y", "two")])
    assert faults == [
        Fault("given.x", "the sign"), Fault("given[0]", "one", 3), Fault("given.y", "two")
    ]  # fmt: skip
    with pytest.raises(ZeroDivisionError), faults.inside("given"):
        raise ZeroDivisionError
    with pytest.raises(Malformed) as caught:
        faults.raise_all("x.toml")
    assert caught.value.faults == tuple(faults)
    assert str(caught.value).startswith("x.toml: 3 faults")
    Faults().raise_all()


# -- what a case shows, and cases by name ------------------------------------------------


def test_cases_show_themselves_briefly():
    """Name, steps and number of claims, of any length."""
    assert repr(symattn.case("mine", GIVEN, STEPS)) == "<Case 'mine': S, A, Y; 0 claims>"
    steps = {f"step_{k}": "X" for k in range(100)}
    case = make("m" * 500, GIVEN, steps, claims=[{"holds": "w == 2"}] * 50)
    assert repr(case).endswith("step_6, step_7, ...; 50 claims>")
    assert len(repr(case)) < 200


WANTED = (
    f"the path of an article, of a .toml file or one of {', '.join(library.names())}; "
    "'symattn new FILE.toml' writes one to start from"
)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cat-sat-matt", "unknown case 'cat-sat-matt': did you mean cat-sat-mat?"),
        ("the-fox-jump", "unknown case 'the-fox-jump': did you mean the-fox-jumps?"),
        ("elephants", f"unknown case 'elephants': expected {WANTED}"),
        ("x" * 10**5, f"unknown case '{'x' * 57}...': expected {WANTED}"),
        ("x" * 59, f"unknown case '{'x' * 59}': expected {WANTED}"),
    ],
)
def test_an_unknown_case_is_an_unknown_name(name, said):
    """A ``KeyError`` as well; a close name is offered, else all are."""
    with pytest.raises(UnknownName) as caught:
        symattn.load(name)
    assert str(caught.value) == said
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, SymattnError)


def test_bundled_cases_and_paths(tmp_path):
    """A name of the library means the bundled case, wherever one is; a
    path ending in .toml a file."""
    names = library.names()
    assert len(names) == 24
    assert list(names) == sorted(names)
    assert all(library.load(name).path == library.find(name) for name in names)
    text = library.find("the-cat-sleeps").read_text("utf-8")
    (tmp_path / "mine.toml").write_text(text, "utf-8")
    assert library.load(tmp_path / "mine.toml").name == "mine"
    (tmp_path / "child.toml").write_text("extends = 'the-cat-sleeps'\n")
    (tmp_path / "the-cat-sleeps").write_text("nothing")
    child = library.load(tmp_path / "child.toml")
    assert child.base == library.find("the-cat-sleeps")
