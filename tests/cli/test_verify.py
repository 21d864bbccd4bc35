"""``symattn verify``: what it says of checks that hold, that are refuted, that stay open."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from symattn import verification
from symattn.cases import library
from symattn.crosscheck.recomputation import recompute
from symattn.solution.solution import solve
from symattn.verdicts import Verdict
from symattn.verification import Check, Verification

HOLDS = Check("A", 0.5, 0.25, Verdict.HOLDS, (0, 1), 9, symbolic=Verdict.HOLDS)
OPEN = Check(
    "dL/dQ", math.inf, 0.0, Verdict.UNDECIDED, None, 12, "in S a number is too large",
    symbolic=Verdict.HOLDS,
)  # fmt: skip
REFUTED = Check("Y", 123456.0, 7654.321, Verdict.REFUTED, (1, 0), 6, symbolic=Verdict.HOLDS)
#: What NumPy holds and SymPy leaves open, or refutes.
LARGE = replace(
    HOLDS, quantity="T", symbolic=Verdict.UNDECIDED, symbolic_doubt="a formula that is too long"
)
DERIVED_WRONG = replace(HOLDS, quantity="S", symbolic=Verdict.REFUTED)


@pytest.fixture
def found(monkeypatch):
    """Lets the checks of every case be these."""

    def put(*checks):
        monkeypatch.setattr(
            verification, "verify", lambda solution: Verification(solution.case.name, checks, 3, 7)
        )

    return put


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    ("checks", "code"),
    [
        ([HOLDS], 0),
        ([HOLDS, OPEN], 0),
        ([HOLDS, REFUTED], 1),
        ([REFUTED, OPEN, HOLDS], 1),
        ([HOLDS, LARGE], 0),
        ([HOLDS, DERIVED_WRONG], 1),
    ],
)
def test_exit_code(form, checks, code, found, symattn) -> None:
    """A refuted check, and nothing less, is exit code 1; it is reported all the same."""
    found(*checks)
    done = symattn("verify", "cat-sat-mat", "--format", form)
    assert done.code == code
    assert done.err == ""
    for check in checks:
        assert check.quantity in done.out


@pytest.mark.parametrize(
    ("checks", "code"),
    [([HOLDS], 0), ([HOLDS, OPEN], 1), ([HOLDS, LARGE], 1), ([OPEN, REFUTED], 1)],
)
def test_strict(checks, code, found, symattn) -> None:
    """What is undecided fails where that is asked for."""
    found(*checks)
    assert symattn("verify", "cat-sat-mat", "--strict").code == code


def test_an_overflow_is_told(symattn, tmp_path) -> None:
    """A file whose floats overflow is fine: the reason stands below the table."""
    text = 'title = "Large"\n[given]\nx = [800]\n[steps]\ny = "exp(x) / exp(x + 1)"\n'
    (tmp_path / "large.toml").write_text(text, "utf-8")
    done = symattn("verify", "large.toml")
    assert (done.code, done.err) == (0, "")
    reason = "in y a number is beyond the range of 64-bit floats"
    assert done.table[-1] == [f"undecided by NumPy, y, dL/dx: {reason}"]


def test_one_refuted_case_among_others(monkeypatch, symattn) -> None:
    """One refuted case is enough, and the others are reported too."""
    monkeypatch.setattr(
        verification,
        "verify",
        lambda solution: Verification(
            solution.case.name, (REFUTED if "causal" in solution.case.name else HOLDS,), 0, 0
        ),
    )
    done = symattn("verify", "cat-sat-mat", "length-4-causal", "the-cat-sleeps", "--format", "json")
    assert done.code == 1
    assert {
        case: [check["verdict"] for check in checks.values()]
        for case, checks in json.loads(done.out).items()
    } == {"cat-sat-mat": ["holds"], "length-4-causal": ["refuted"], "the-cat-sleeps": ["holds"]}


def test_json(found, symattn) -> None:
    """By case and quantity: the errors to three digits, null where there is none, the verdict."""
    found(HOLDS, OPEN, REFUTED, LARGE)
    done = symattn("verify", "cat-sat-mat", "--format", "json")
    assert json.loads(done.out) == {
        "cat-sat-mat": {
            "A": {"max_ulp": 0.5, "scaled_ulp": 0.25, "verdict": "holds", "sympy": "holds"},
            "dL/dQ": {
                "max_ulp": None,
                "scaled_ulp": 0.0,
                "verdict": "undecided",
                "sympy": "holds",
                "doubt": "in S a number is too large",
            },
            "Y": {
                "max_ulp": 123000.0,
                "scaled_ulp": 7650.0,
                "verdict": "refuted",
                "sympy": "holds",
            },
            "T": {
                "max_ulp": 0.5,
                "scaled_ulp": 0.25,
                "verdict": "holds",
                "sympy": "undecided",
                "sympy_doubt": "a formula that is too long",
            },
        }
    }
    assert done.out.startswith('{\n  "cat-sat-mat": {\n    "A"')


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ([HOLDS], "holds"),
        ([HOLDS, OPEN], "undecided"),
        ([REFUTED, OPEN], "refuted"),
        ([HOLDS, LARGE], "undecided"),
        ([HOLDS, DERIVED_WRONG], "refuted"),
    ],
)
def test_text(checks, verdict, found, symattn) -> None:
    """A head that sums up, and a line for every quantity under a heading."""
    found(*checks)
    done = symattn("verify", "cat-sat-mat", "--format", "text")
    rows = {
        "A": ["A", "9", "0.50", "0.250", "holds", "holds"],
        "dL/dQ": ["dL/dQ", "12", "inf", "0.000", "undecided", "holds"],
        "Y": ["Y", "6", "1.2e+05", "7.7e+03", "refuted", "holds"],
        "T": ["T", "9", "0.50", "0.250", "holds", "undecided"],
        "S": ["S", "9", "0.50", "0.250", "holds", "refuted"],
    }
    assert done.table == [
        ["cat-sat-mat", verdict, "3 of 7 gradient entries also by complex steps"],
        ["quantity", "entries", "ulp", "scaled", "NumPy", "SymPy"],
        *(rows[check.quantity] for check in checks),
        *(
            [f"undecided by {by}, {check.quantity}: {doubt}"]
            for check in checks
            for by, doubt in (("NumPy", check.doubt), ("SymPy", check.symbolic_doubt))
            if doubt
        ),
    ]


def test_numbers_end_together(found, symattn) -> None:
    """Figures stand on the right of their columns."""
    found(HOLDS, REFUTED)
    _, head, first, second = symattn("verify", "cat-sat-mat").out.splitlines()
    for column, one, other in (
        ("entries", "9", "6"),
        ("ulp", "0.50", "1.2e+05"),
        ("scaled", "0.250", "7.7e+03"),
    ):
        end = head.index(column) + len(column)
        assert first[:end].endswith(one)
        assert second[:end].endswith(other)


def test_colours(found, terminal, symattn) -> None:
    """On a terminal what holds is green, what is open yellow, what is refuted bold and red."""
    found(HOLDS, OPEN, REFUTED)
    out = symattn("verify", "cat-sat-mat").out
    assert "\x1b[32mholds" in out
    assert "\x1b[33mundecided" in out
    assert "\x1b[1;31mrefuted" in out
    assert out.startswith("\x1b[1mcat-sat-mat\x1b[0m\x1b[1;31m  refuted\x1b[0m")
    assert "\x1b[1;2m  3 of 7" in out
    assert "\x1b[2mquantity" in out


def test_every_case_without_a_name(found, symattn) -> None:
    """Without a CASE all bundled ones are held against the recomputation."""
    found(HOLDS)
    done = symattn("verify", "--format", "json")
    assert tuple(json.loads(done.out)) == library.names()


def test_what_is_printed_is_what_is_found(symattn) -> None:
    """JSON and text say what the verification says."""
    expected = verification.verify(solve("cat-sat-mat"))
    shown = json.loads(symattn("verify", "cat-sat-mat", "--format", "json").out)["cat-sat-mat"]
    assert list(shown) == [check.quantity for check in expected.checks]
    for check in expected.checks:
        for key in ("max_ulp", "scaled_ulp"):
            value = getattr(check, key)
            assert abs(shown[check.quantity][key] - value) <= 0.005 * value
    head, _, *rows = symattn("verify", "cat-sat-mat").table
    assert head[2].startswith(f"{expected.probed} of {expected.probes} gradient entries")
    sizes = {"d_k": 1, **dict.fromkeys("XQKVY", 12), **dict.fromkeys("STA", 9)}
    gradients = {f"dL/d{name}": size for name, size in sizes.items() if size > 1}
    assert {row[0]: int(row[1]) for row in rows} == sizes | gradients
    assert {row[0]: tuple(row[2:4]) for row in rows} == {
        check.quantity: check.texts for check in expected.checks
    }


@pytest.mark.sampled(1)
@pytest.mark.parametrize("quantity", ["A", "dL/dV"])
def test_a_wrong_float_is_refuted(quantity, monkeypatch, symattn) -> None:
    """A recomputation that finds another value in one entry ends with 1, and says in what."""
    honest = recompute

    def off(held):
        """Figures with a relative error of 2**-40 in row 1, column 2."""
        value = np.array(held.value)
        value[1, 2] *= 1 + 2.0**-40
        return replace(held, value=value)

    def wrong(*arguments):
        result = honest(*arguments)
        if quantity == "A":
            return replace(
                result, quantities={**result.quantities, "A": off(result.quantities["A"])}
            )
        (key,) = (name for name in result.gradients if "V" in name)
        parts = {part: off(held) for part, held in result.gradients[key].items()}
        return replace(result, gradients={**result.gradients, key: parts})

    monkeypatch.setattr(verification, "recompute", wrong)
    done = symattn("verify", "cat-sat-mat", "--format", "json")
    assert done.code == 1
    shown = json.loads(done.out)["cat-sat-mat"]
    assert [name for name, check in shown.items() if check["verdict"] != "holds"] == [quantity]
    assert 2.0**10 < shown[quantity]["max_ulp"] < 2.0**15
    checks = {check.quantity: check for check in verification.verify(solve("cat-sat-mat")).checks}
    assert checks[quantity].worst == (1, 2)
