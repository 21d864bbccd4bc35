"""A solution held against the recomputation: what is measured, and what is told from rounding."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from flint import arb

from symattn import verification
from symattn.cases import library
from symattn.cases.case import make
from symattn.crosscheck.recomputation import Loss, recompute
from symattn.errors import Malformed
from symattn.numbers.balls import FIRST
from symattn.numbers.lazy import LazyExpression
from symattn.solution.entries import EntryValue
from symattn.solution.solution import Solution, solve
from symattn.verdicts import Verdict
from symattn.verification import Check, Verification, verify

from .oracle import DIGITS, matrix, run
from .solution.test_symbolic import STEEP, STEEP_GIVEN

GIVEN = {"X": [["1/3", "2/3"], ["-1/2", "1/5"]], "M": [[1, 0], [1, 1]]}
STEPS = {
    "S": "X @ X.T",
    "H": "mask(S, M)",
    "A": "softmax(H)",
    "Z": "X - X",
    "Y": "A @ X + 0 * Z",
}
HOLDS, REFUTED, UNDECIDED = Verdict.HOLDS, Verdict.REFUTED, Verdict.UNDECIDED


def solution():
    """A small program with a masked score and a quantity of zeros."""
    return Solution(make("small", GIVEN, STEPS, {"output": "Y"}))


@pytest.fixture
def recomputed(monkeypatch):
    """The verification of the small program where the recomputation's figures of one
    quantity, or gradient, went through a function."""

    def put(name, change):
        def changed(*arguments):
            found = recompute(*arguments)
            if name in found.quantities:
                figures = change(found.quantities[name])
                return replace(found, quantities={**found.quantities, name: figures})
            by = name.removeprefix("dL/d")
            parts = {part: change(figures) for part, figures in found.gradients[by].items()}
            return replace(found, gradients={**found.gradients, by: parts})

        monkeypatch.setattr(verification, "recompute", changed)
        found = verify(solution())
        checks = {check.quantity: check for check in found.checks}
        others = {check.verdict for key, check in checks.items() if key != name}
        assert others == {HOLDS}
        assert found.verdict is checks[name].verdict
        return checks[name]

    return put


def with_entry(field, i, j, new):
    """A change of one entry of a field of figures, by a function of what was there."""

    def change(figures):
        held = np.array(getattr(figures, field))
        held[i, j] = new(held[i, j], figures.bound[i, j])
        return replace(figures, **{field: held})

    return change


# -- what is measured ---------------------------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["cat-sat-mat", "the-cat-sleeps"])
def test_errors_against_the_oracle(name) -> None:
    """The largest error in units in the last place, and its multiple of the bound with its
    place, are those that mpmath finds."""
    case = library.load(name)
    floats = recompute(case.raw, case.steps, Loss(case.output, None, case.wrt))
    checks = {check.quantity: check for check in verify(case).checks}
    with mpmath.workdps(DIGITS):
        truth = run(case.raw, case.steps)
        for quantity in ("A", "Y"):
            figures = floats.quantities[quantity]
            rows, columns = figures.value.shape
            errors = {
                (i, j): abs(truth[quantity][i, j] - mpmath.mpf(figures.value[i, j]))
                for i in range(rows)
                for j in range(columns)
            }
            ulps = {at: e / math.ulp(float(truth[quantity][at])) for at, e in errors.items()}
            scaled = {at: e / mpmath.mpf(figures.bound[at]) for at, e in errors.items()}
            check = checks[quantity]
            assert check.entries == rows * columns
            assert check.max_ulp == pytest.approx(float(max(ulps.values())), rel=1e-6)
            assert check.scaled_ulp == pytest.approx(float(max(scaled.values())), rel=1e-6)
            assert check.worst == max(scaled, key=scaled.__getitem__)
            assert 0 < check.scaled_ulp < 1


def test_a_check_makes_no_closed_form(monkeypatch) -> None:
    """What isn't printed isn't built: enclosures are all that is compared with floats."""

    def forbidden(*_):
        raise AssertionError("a closed form was asked for")

    held = solve("cat-sat-mat")
    # SymPy's closed forms are compared with ours, which are made for that.
    monkeypatch.setattr(verification, "_with_symbolic", lambda check, _: check)
    monkeypatch.setattr(LazyExpression, "form", forbidden)
    assert {check.verdict for check in verify(held).checks} == {HOLDS}


def test_every_quantity_and_gradient_has_a_check() -> None:
    """The checks are those of the given numbers, the steps and the gradients, in this order."""
    found = verify(solution())
    forward = {"X": 4, "M": 4, "S": 4, "H": 4, "A": 4, "Z": 4, "Y": 4}
    backward = {"dL/dX": 4, "dL/dS": 4, "dL/dH": 4, "dL/dA": 4, "dL/dY": 4}
    sizes = {check.quantity: check.entries for check in found.checks}
    assert forward.items() <= sizes.items()
    assert backward.items() <= sizes.items()
    assert list(sizes)[: len(forward)] == list(forward)
    assert found.case == "small"
    assert 0 < found.probed == found.probes


def test_gradients_in_symbols_are_checked_part_by_part() -> None:
    """Each symbol of the upstream gradient is a part, and what has none is one more."""
    loss = {"output": "Y", "upstream": [["g1", "2"], ["g1 + g2", "0"]], "wrt": ["A"]}
    found = verify(Solution(make("symbols", GIVEN, STEPS, loss)))
    (check,) = (check for check in found.checks if check.quantity == "dL/dA")
    assert check.verdict is HOLDS
    assert check.entries == 3 * 4


#: The hash seeds under which the verification is repeated, each in a process of its own.
SEEDS = range(20 if os.environ.get("SYMATTN_FUZZ") else 3)


@pytest.mark.heavy
def test_the_same_answer_in_every_run(tmp_path):
    """Byte for byte, whatever the order of sets: of all bundled cases, and of numbers so far
    apart that SymPy once took no end for them in one run of three."""
    rows = STEEP_GIVEN["S"]
    steep = f"title = 'steep'\n[given]\nS = {rows}\n[steps]\nA = '{STEEP}'\n"
    (tmp_path / "steep.toml").write_text(steep, "utf-8")
    words = [sys.executable, "-m", "symattn", "verify", *library.names(), "steep.toml"]
    answers = set()
    for seed in SEEDS:
        answers.add(
            subprocess.run(
                words,
                cwd=tmp_path,
                env=os.environ | {"PYTHONHASHSEED": str(seed)},
                capture_output=True,
                check=True,
            ).stdout
        )
    (answer,) = answers
    assert answer.count(b"gradient entries also by complex steps") == len(library.names()) + 1


# -- what is told from rounding -----------------------------------------------------------------


@pytest.mark.parametrize("quantity", ["A", "dL/dX"])
@pytest.mark.parametrize(("multiple", "verdict"), [(0.5, HOLDS), (2.0, REFUTED), (1e9, REFUTED)])
def test_an_error_beyond_the_bound(quantity, multiple, verdict, recomputed) -> None:
    """A float may be as far from the exact value as its bound says, and no further."""
    check = recomputed(
        quantity, with_entry("value", 1, 0, lambda value, bound: value + multiple * bound)
    )
    assert check.verdict is verdict
    assert check.worst == (1, 0)
    assert check.scaled_ulp == pytest.approx(multiple, abs=0.3)
    assert check.max_ulp > 0.4 * multiple


@pytest.mark.parametrize(("multiple", "verdict"), [(32.0, HOLDS), (128.0, REFUTED)])
def test_complex_steps_may_differ_more(multiple, verdict, recomputed) -> None:
    """A derivative by a complex step may be 64 bounds off."""
    change = with_entry("step", 1, 1, lambda step, bound: step + multiple * bound)
    check = recomputed("dL/dX", change)
    assert check.verdict is verdict
    assert check.worst == (1, 1)
    assert check.scaled_ulp == pytest.approx(multiple / 64, abs=0.1)


def test_complex_steps_that_were_not_taken(recomputed) -> None:
    """An entry that was not perturbed is not held against a step."""
    check = recomputed("dL/dX", with_entry("step", 1, 1, lambda *_: math.nan))
    assert check.verdict is HOLDS
    assert check.scaled_ulp <= 1


@pytest.mark.parametrize(
    ("bound", "verdict"), [(2.0**-301, HOLDS), (0.0, REFUTED), (2.0**-60, REFUTED)]
)
def test_complex_steps_underflow(bound, verdict, recomputed) -> None:
    """Where a derivative is smaller than the step can show, the step says nothing."""

    def change(figures):
        """A gradient of zeros with that bound, its steps one."""
        zeros = np.zeros((2, 2))
        return replace(figures, value=zeros, bound=zeros + bound, step=zeros + 1.0)

    # Z enters the output with the factor 0.
    check = recomputed("dL/dZ", change)
    assert check.verdict is verdict


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("quantity", ["A", "dL/dX"])
def test_what_is_no_number_is_refuted(value, quantity, recomputed) -> None:
    """A float that is none is no rounding of anything."""
    check = recomputed(quantity, with_entry("value", 0, 1, lambda *_: value))
    assert check.verdict is REFUTED
    assert check.max_ulp == check.scaled_ulp == math.inf
    assert check.worst == (0, 1)
    assert check.as_dict() == {
        "max_ulp": None, "scaled_ulp": None, "verdict": "refuted", "sympy": "holds"
    }  # fmt: skip


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("i", "j", "value", "verdict"),
    [
        (0, 1, -math.inf, HOLDS),
        (0, 1, -1e308, REFUTED),
        (0, 1, math.inf, REFUTED),
        (0, 1, math.nan, REFUTED),
        (1, 0, -math.inf, REFUTED),
    ],
)
def test_masked_scores(i, j, value, verdict, recomputed) -> None:
    """A masked score is minus infinity, and nothing else is."""
    check = recomputed("H", with_entry("value", i, j, lambda *_: value))
    assert check.verdict is verdict
    honest = next(check for check in verify(solution()).checks if check.quantity == "H")
    assert check == honest if verdict is HOLDS else check.worst == (i, j)


def test_an_unbounded_error_is_undecided(recomputed) -> None:
    """Where the recomputation has no bound nothing is refuted, whatever the float."""
    change = with_entry("bound", 0, 0, lambda *_: math.inf)
    check = recomputed("A", change)
    assert check.verdict is UNDECIDED
    wrong = with_entry("value", 0, 0, lambda value, _: value + 1)
    check = recomputed("A", lambda figures: change(wrong(figures)))
    assert check.verdict is UNDECIDED
    assert check.max_ulp < 10


def test_refuted_counts_for_more_than_undecided(recomputed) -> None:
    """One entry without a bound does not hide another that is wrong."""
    change = with_entry("bound", 0, 0, lambda *_: math.inf)
    wrong = with_entry("value", 1, 1, lambda value, _: value + 1)
    assert recomputed("A", lambda figures: change(wrong(figures))).verdict is REFUTED


def test_errors_at_an_exact_zero(recomputed) -> None:
    """There the unit is the last place of the sum of the terms' magnitudes."""
    check = recomputed("Z", with_entry("value", 0, 0, lambda _, bound: bound / 2))
    assert check.verdict is HOLDS
    assert check.scaled_ulp == pytest.approx(0.5)
    # The bound is the sum of magnitudes, 2/3, in units of 2**-53, with some room.
    assert 0.2 < check.max_ulp < 1


def test_an_exact_float_must_be_exact(recomputed) -> None:
    """A given number that floats hold exactly has a bound of nothing."""
    check = recomputed("M", with_entry("value", 0, 0, lambda *_: 1 + 2.0**-52))
    assert check.verdict is REFUTED
    assert (check.max_ulp, check.scaled_ulp) == (1.0, math.inf)


# -- what floats leave open ---------------------------------------------------------------------

OPEN: dict[str, tuple[dict[str, object], dict[str, str], set[str]]] = {
    "overflow": ({"x": [800, "1/3"]}, {"y": "exp(x) / exp(x + 1)", "z": "x * x"}, {"y", "dL/dx"}),
    "mask": (
        {"X": [["1/3", 2], [0, "-2/7"]]},
        {"n": "rowsum(softmax(X))", "T": "mask(X @ X.T, n)", "A": "softmax(T)"},
        {"T"},
    ),
    "output": ({"B": [[0, "-inf"]], "S": [[1, "1/3"]]}, {"T": "S + B"}, {"dL/dS", "dL/dB"}),
    "divisor": ({"x": ["-900", 1]}, {"y": "exp(x)", "z": "y / y"}, {"z", "dL/dx", "dL/dy"}),
}


@pytest.mark.parametrize("kind", OPEN)
def test_what_floats_leave_open(kind) -> None:
    """A right result that floats can't decide is undecided with a reason, all else holds."""
    given, steps, left = OPEN[kind]
    loss = {"output": "y"} if kind == "overflow" else {}
    found = verify(make(kind, given, steps, loss))
    assert {c.quantity for c in found.checks if c.verdict is UNDECIDED} == left
    assert {c.quantity for c in found.checks if c.doubt} == left
    assert {c.verdict for c in found.checks if c.quantity not in left} == {HOLDS}
    assert sorted(name for names in found.doubts.values() for name in names) == sorted(left)
    for check in found.checks:
        assert check.as_dict().get("doubt", "") == check.doubt


@pytest.mark.parametrize(
    ("kind", "name", "place"),
    [
        ("overflow", "y", 1),
        ("overflow", "z", 0),
        ("overflow", "dL/dx", 1),
        ("mask", "T", (0, 1)),
        ("mask", "A", (1, 1)),
        ("mask", "dL/dX", (0, 0)),
        ("output", "dL/dS", (0, 0)),
        ("output", "dL/dT", (0, 1)),
        ("divisor", "z", 1),
    ],
)
def test_what_is_wrong_is_refuted_all_the_same(kind, name, place, monkeypatch) -> None:
    """A doubt is no excuse: the entries that floats know are held against the exact ones."""
    given, steps, _ = OPEN[kind]
    loss = {"output": "y"} if kind == "overflow" else {}

    def wrong(*arguments):
        found = recompute(*arguments)
        by = name.removeprefix("dL/d")
        held = found.quantities[name] if name == by else found.gradients[by]["1"]
        held.value[place] = held.value[place] * (1 + 2.0**-40) + 2.0**-30
        return found

    monkeypatch.setattr(verification, "recompute", wrong)
    checks = {check.quantity: check for check in verify(make(kind, given, steps, loss)).checks}
    assert checks[name].verdict is REFUTED
    assert checks[name].doubt == ""


@pytest.mark.parametrize("name", ["T", "A"])
def test_a_wrong_mask_is_refuted(name, monkeypatch) -> None:
    """What a mask hides that is 1 up to rounding can only be wrong."""
    given, steps, _ = OPEN["mask"]

    def masked(*arguments):
        """The recomputation of a program whose mask hides an entry more."""
        raw, text, loss, _ = arguments
        return recompute({**raw, "M": [[1, 0], [1, 1]]}, {**text, "T": "mask(X @ X.T, M)"}, loss)

    monkeypatch.setattr(verification, "recompute", masked)
    case = make("mask", {**given, "M": [[1, 1], [1, 1]]}, steps)
    checks = {check.quantity: check for check in verify(case).checks}
    assert checks[name].verdict is REFUTED


def test_an_exact_value_that_is_known_too_roughly(monkeypatch) -> None:
    """Where enclosures stay wide, nothing is held against them."""
    held = solution()
    monkeypatch.setattr(verification, "PRECISIONS", (20,))
    monkeypatch.setattr(EntryValue, "ball", lambda *_: arb(1, 1e-6))
    checks = {check.quantity: check for check in verify(held).checks}
    assert checks["A"].verdict is REFUTED
    assert checks["M"].verdict is REFUTED
    monkeypatch.setattr(EntryValue, "ball", lambda *_: arb("nan"))
    checks = {check.quantity: check for check in verify(held).checks}
    assert checks["A"].verdict is UNDECIDED
    assert checks["A"].doubt == "the exact value can't be enclosed closely enough"


def test_enclosures_are_narrowed(monkeypatch) -> None:
    """A wide enclosure is made again at more bits before anything is said."""
    asked = []
    honest = EntryValue.ball

    def roughly(entry, bits):
        asked.append(bits)
        near = honest(entry, bits)
        return near if bits > FIRST else near + arb(0, 1)

    monkeypatch.setattr(EntryValue, "ball", roughly)
    assert verify(solution()).verdict is HOLDS
    assert set(asked) == set(verification.PRECISIONS)


# -- what may be verified, and how it is told ---------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "numbers",
    [
        [[Fraction(1, 3), Fraction(2, 3)], [Fraction(-1, 2), Fraction(1, 5)]],
        ((sympy.Rational(1, 3), sympy.Rational(2, 3)), (sympy.Rational(-1, 2), Decimal("0.2"))),
        np.array([[Fraction(1, 3), "2/3"], [Decimal("-0.5"), Fraction(1, 5)]], dtype=object),
        sympy.Matrix([["1/3", "2/3"], ["-1/2", "1/5"]]),
    ],
    ids=["fractions", "sympy", "array", "matrix"],
)
def test_numbers_of_every_kind(numbers) -> None:
    """Whatever exact numbers a case was made of, the recomputation reads the same ones."""
    found = verify(make("kinds", {**GIVEN, "X": numbers}, STEPS, {"output": "Y"}))
    assert found.verdict is HOLDS
    with mpmath.workdps(DIGITS):
        assert found.checks[0].entries == matrix(GIVEN["X"]).size
    same = verify(make("text", GIVEN, STEPS, {"output": "Y"}))
    assert [check.max_ulp for check in found.checks] == [check.max_ulp for check in same.checks]


def test_scalars_and_vectors() -> None:
    """Numbers and vectors are checked as matrices are."""
    case = make("few", {"x": ["1/3", 2], "n": 7}, {"y": "n * softmax(x)", "z": "y[0]"})
    sizes = {check.quantity: check.entries for check in verify(case).checks}
    assert sizes.items() >= {"x": 2, "n": 1, "y": 2, "z": 1, "dL/dy": 2}.items()
    assert verify(case).verdict is HOLDS


def test_a_case_by_its_name_and_solved() -> None:
    """A name, a case and a solution give the same verification."""
    name = "cat-sat-mat-identical"
    assert verify(name) == verify(library.load(name)) == verify(solve(name))


@pytest.mark.parametrize("name", ["cat-sat-mat", "small"])
def test_what_the_recomputation_refuses(name, monkeypatch) -> None:
    """Its faults are told with the file, or the name, of the case."""

    def refuse(*_):
        raise Malformed("no such operation")

    monkeypatch.setattr(verification, "recompute", refuse)
    held = solve(name) if name != "small" else solution()
    with pytest.raises(Malformed, match="no such operation") as caught:
        verify(held)
    assert caught.value.source == str(held.case.path or "small")


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ((HOLDS, HOLDS), HOLDS),
        ((HOLDS, UNDECIDED), UNDECIDED),
        ((UNDECIDED, REFUTED, HOLDS), REFUTED),
    ],
)
def test_the_verdict_of_a_case(verdicts, expected) -> None:
    """Refuted if any check is, by NumPy or by SymPy, else undecided if any is."""
    by_floats = tuple(Check("A", 0.0, 0.0, verdict, symbolic=HOLDS) for verdict in verdicts)
    by_sympy = tuple(Check("A", 0.0, 0.0, HOLDS, symbolic=verdict) for verdict in verdicts)
    for checks in (by_floats, by_sympy):
        assert Verification("x", checks, 0, 0).verdict is expected


@pytest.mark.parametrize(
    ("ulp", "scaled", "texts", "data"),
    [
        (0.0, 0.0, ("0.00", "0.000"), (0.0, 0.0)),
        (0.126, 0.0126, ("0.13", "0.013"), (0.126, 0.0126)),
        (12.3456, 999.9994, ("12.35", "999.999"), (12.3, 1000.0)),
        (999.99, 1000.0, ("999.99", "1.0e+03"), (1000.0, 1000.0)),
        (1234567.0, 123.4567, ("1.2e+06", "123.457"), (1230000.0, 123.0)),
        (math.inf, math.inf, ("inf", "inf"), (None, None)),
    ],
)
def test_how_errors_are_shown(ulp, scaled, texts, data) -> None:
    """Tables have two and three places below 1000, JSON three digits and no infinity."""
    check = Check("A", ulp, scaled, REFUTED, symbolic=HOLDS)
    assert check.texts == texts
    assert check.as_dict() == {
        "max_ulp": data[0], "scaled_ulp": data[1], "verdict": "refuted", "sympy": "holds"
    }  # fmt: skip
