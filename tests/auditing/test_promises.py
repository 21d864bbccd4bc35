"""What the audit promises: no false alarm, every slip found, every cause told apart."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from symattn.auditing import reports
from symattn.auditing.audit import Audit, audit
from symattn.cases import library
from symattn.cases.case import Case, make
from symattn.cases.claims import read_claims
from symattn.errors import Malformed
from symattn.numbers.rounding import MODES
from symattn.solution.solution import solve
from symattn.verdicts import Verdict

PRINTED = ("cat-sat-mat", "the-cat-sleeps", "please-study-man", "length-4-causal")


def claiming(case: Case, said: list[dict[str, Any]]) -> Case:
    """The case with other claims."""
    return replace(case, claims=read_claims(case.program, said))


def rewritten(case: Case, places: int, mode: str = "half-even") -> Case:
    """The case with its figures replaced by correctly rounded ones."""
    return replace(claiming(case, figures_of(case, places, mode)), rounding=mode)


def figures_of(case: Case, places: int, mode: str = "half-even") -> list[dict[str, Any]]:
    """What the case prints, correctly rounded."""
    solution = solve(case)

    def text(number: Any) -> Any:
        if isinstance(number, tuple):
            return [text(x) for x in number]
        return "-inf" if number.is_infinite() else format(number, "f")

    return [
        {"of": claim.of, "printed": text(solution[claim.of].decimal(places, mode))}
        for claim in case.claims
        if claim.of
    ]


@pytest.mark.parametrize("name", PRINTED)
@pytest.mark.parametrize("places", [1, 4, 12])
def test_rounded_figures_hold(name: str, places: int) -> None:
    """Correctly rounded figures raise no alarm."""
    found = audit(rewritten(library.load(name), places))
    assert found.count(Verdict.REFUTED) == 0
    assert len(found.figures) > 20


@pytest.mark.parametrize("mode", MODES)
def test_declared_roundings_hold(mode: str) -> None:
    """A document that declares its rounding is judged by it."""
    found = audit(rewritten(library.load("the-cat-sleeps"), 3, mode))
    assert found.count(Verdict.REFUTED) == 0


def test_every_corruption_is_found_where_it_is() -> None:
    """A changed digit is refuted at that figure and nowhere else, a thousand times over."""
    picked = random.Random(20170612)
    case = library.load("the-cat-sleeps")
    said = figures_of(case, 3)
    flat = [
        (number, place) for number, claim in enumerate(said) for place in _places(claim["printed"])
    ]
    for _ in range(120):
        number, place = picked.choice(flat)
        printed = json.loads(json.dumps(said[number]["printed"]))
        old = _at(printed, place)
        digits = [k for k, letter in enumerate(old) if letter.isdigit()]
        k = picked.choice(digits)
        new = old[:k] + picked.choice([d for d in "0123456789" if d != old[k]]) + old[k + 1 :]
        changed = {**said[number], "printed": _put(printed, place, new)}
        found = audit(claiming(case, [*said[:number], changed, *said[number + 1 :]]))
        wrong = [figure for figure in found.figures if figure.verdict is Verdict.REFUTED]
        # The neighbour of an exact tie holds too.
        off = abs(Decimal(new) - Decimal(old))
        if off > Decimal("0.001"):
            at = (f"claims[{number}]", place)
            assert [(figure.claim.where, figure.at) for figure in wrong] == [at]
        else:
            assert len(wrong) <= 1


def _places(printed: Any) -> list[tuple[int, ...]]:
    if not isinstance(printed, list):
        return [()]
    return [(k, *rest) for k, item in enumerate(printed) for rest in _places(item)]


def _at(printed: Any, place: tuple[int, ...]) -> str:
    for k in place:
        printed = printed[k]
    return str(printed)


def _put(printed: Any, place: tuple[int, ...], text: str) -> Any:
    if not place:
        return text
    inner = printed
    for k in place[:-1]:
        inner = inner[k]
    inner[place[-1]] = text
    return printed


GIVEN = {
    "Q": [["1.1", "0.3", "-0.7"], ["0.2", "1.4", "0.9"], ["-1.2", "0.8", "0.5"]],
    "K": [["0.6", "-1.3", "0.4"], ["1.7", "0.2", "-0.8"], ["0.9", "1.1", "0.3"]],
    "V": [["2.1", "0.4", "1.3"], ["-0.6", "1.9", "0.7"], ["0.8", "-1.4", "2.6"]],
    "U": [["1.5", "0.2", "0.9"], ["0.3", "-1.1", "1.7"], ["2.2", "0.6", "-0.4"]],
    "d_k": 3,
}
STEPS = {
    "S": "Q @ K.T",
    "T": "S / sqrt(d_k)",
    "M": "causal(T)",
    "A": "softmax(M)",
    "Y": "A @ V",
}


def planted(**slips: str) -> Audit:
    """The honest program audited against figures that a slipping one prints."""
    wrong = solve(make("wrong", GIVEN, {**STEPS, **slips}))
    claims = []
    for name in STEPS:
        table = wrong[name].decimal(5)
        printed = [["-inf" if x.is_infinite() else str(x) for x in row] for row in table]
        claims.append({"where": f"step {name}", "of": name, "printed": printed})
    return audit(make("honest", GIVEN, STEPS, claims=claims))


@pytest.mark.parametrize(
    ("slip", "step", "edit"),
    [
        ("scale-dropped", "T", "S"),
        ("scale-not-rooted", "T", "S / d_k"),
        ("scale-not-rooted", "T", "S / sqrt(d_k) / sqrt(d_k)"),
        ("transposed", "S", "Q @ K"),
        ("mask-forgotten", "A", "softmax(T)"),
        ("sign-flipped", "S", "-(Q @ K.T)"),
        ("result-transposed", "S", "K @ Q.T"),
        ("other-matrix", "Y", "A @ U"),
        ("matrix-reused", "Y", "V"),
        ("not-normalised", "A", "exp(M)"),
    ],
)
def test_planted_slips_are_named(slip: str, step: str, edit: str) -> None:
    """The planted slip is named at its step; what follows from it is carried."""
    found = planted(**{step: edit})
    roots = [figure for figure in found.figures if figure.cause in ("root", "last-digit")]
    assert roots
    assert {figure.place[0] for figure in roots} == {step}
    assert slip in {figure.slip for figure in roots}
    after = list(STEPS)[list(STEPS).index(step) + 1 :]
    for figure in found.figures:
        if figure.verdict is Verdict.REFUTED and figure.place[0] != step:
            assert figure.place[0] in after
            assert figure.cause in ("carried", "truncated", "rounded-inputs")


def document(*figures: tuple[str, Any]) -> Audit:
    """The honest program with these figures printed."""
    claims = [{"where": of, "of": of, "printed": printed} for of, printed in figures]
    return audit(make("honest", GIVEN, STEPS, claims=claims))


def test_causes_are_told_apart() -> None:
    """Cut off, rounded before, carried and off by one are four different things."""
    exact = solve(make("honest", GIVEN, STEPS))
    assert str(exact["T[0, 0]"].decimal(3)) == "-0.006"
    cut = document(("T[1, 2]", str(exact["T[1, 2]"].decimal(3, "up"))))
    assert cut.figures[0].cause in ("last-digit", "")
    down = {
        of: (str(exact[of].decimal(3, "down")), str(exact[of].decimal(3)))
        for of in ("A[2, 0]", "A[2, 1]", "A[2, 2]", "A[1, 0]", "A[1, 1]")
    }
    truncated = [of for of, (low, right) in down.items() if low != right]
    assert truncated
    for of in truncated:
        (figure,) = document((of, down[of][0])).figures
        assert figure.cause == "truncated"
    weights = [[str(x) for x in row] for row in exact["A"].decimal(2)]
    first = Decimal(weights[2][0]) * Decimal("2.1") - Decimal(weights[2][1]) * Decimal("0.6")
    first += Decimal(weights[2][2]) * Decimal("0.8")
    rounded = document(("A", weights), ("Y[2, 0]", str(first)))
    if rounded.figures[-1].verdict is Verdict.REFUTED:
        assert rounded.figures[-1].cause in ("rounded-inputs", "truncated")
    weights[2][0] = str(Decimal(weights[2][0]) + Decimal("0.30"))
    first += Decimal("0.30") * Decimal("2.1")
    carried = document(("A", weights), ("Y[2, 0]", str(first)))
    assert carried.figures[-1].cause == "carried"
    assert [figure.label for figure in carried.figures[-1].because] == ["A[2, 0]"]


def test_a_repeated_wrong_figure_is_carried() -> None:
    """Saying a wrong figure again is no new slip."""
    found = document(("A[2, 0]", "0.999"), ("A[2, 0]", "0.999"), ("100 * A[2, 0]", "99.9"))
    assert [figure.cause for figure in found.figures] == ["root", "carried", "carried"]
    assert len(found.roots) == 1


@pytest.mark.parametrize("text", ["0.333", "−0.5", "33.3%", "3.33e-1", "1.0", "0.0"])
def test_printed_forms_are_read(text: str) -> None:
    """Typographic minus, percent and powers of ten are figures like any other."""
    (figure,) = document(("A[0, 0]", text)).figures
    right = text == "1.0"
    assert figure.verdict is (Verdict.HOLDS if right else Verdict.REFUTED)


@pytest.mark.parametrize(
    ("of", "printed", "said"),
    [
        ("A[0, 0]", "about a third", "printed"),
        ("A[0]", ["0.1", "x", "0.2"], r"printed\[1\]"),
    ],
)
def test_unreadable_figures_are_faults(of: str, printed: Any, said: str) -> None:
    """A figure that can't be read is a fault of the file, not a verdict."""
    with pytest.raises(Malformed, match=said):
        document((of, printed))


def test_the_bundled_documents() -> None:
    """What the four documents come to; each refuted figure was checked by hand."""
    summaries = {name: audit(name).summary for name in PRINTED}
    assert summaries["the-cat-sleeps"]["figures"] == 25
    assert {name: held["refuted"] for name, held in summaries.items()} == {
        "cat-sat-mat": 56,
        "the-cat-sleeps": 4,
        "please-study-man": 55,
        "length-4-causal": 54,
    }
    wrong = audit("please-study-man")
    slips = {figure.slip for figure in wrong.roots}
    assert {"score-copied", "other-matrix"} <= slips


def test_reports_point_at_the_claims() -> None:
    """Annotations and SARIF name the line on which the claim stands."""
    found = audit("cat-sat-mat-unscaled")
    path = library.find("cat-sat-mat-unscaled")
    lines = path.read_text("utf-8").splitlines()
    for entry in reports.as_dict(found)["claims"]:
        assert lines[entry["line"] - 1] == "[[claims]]"
    log = json.loads(reports.sarif([found], "0"))
    results = log["runs"][0]["results"]
    assert log["version"] == "2.1.0"
    assert {result["ruleId"] for result in results} <= set(reports.RULES)
    assert len(results) == found.count(Verdict.REFUTED)
    assert reports.github([found]).count("::error") == len(found.roots)
