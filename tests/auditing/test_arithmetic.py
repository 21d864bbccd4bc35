"""Chains of numbers: judged for themselves, and no evidence about any quantity."""

from __future__ import annotations

from dataclasses import fields, replace
from decimal import Decimal
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from symattn.auditing import reports
from symattn.auditing.audit import audit
from symattn.auditing.standard import Judgement
from symattn.cases.case import make
from symattn.cases.claims import read_claims
from symattn.errors import Malformed
from symattn.expressions.syntax import parse
from symattn.programs.operands import Operands
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict

from ..strategies import some
from .papers import DOCUMENTS, declaring, refuted, solved

GIVEN = {"W": [["0.257", "0.293"]], "V": [["1.25", "0.25"], ["0.25", "1.35"]], "one": 1}
STEPS = {"Y": "W @ V", "E": "exp(one)", "U": "100 * exp(one) + 1"}


def document(*claims):
    """The audit of a case with these claims, each without its place."""
    said = [{"where": f"line {k}", **claim} for k, claim in enumerate(claims)]
    return audit(Solution(make("paper", GIVEN, STEPS, claims=said)))


def told(found):
    """Label, verdict, cause, slip and reason of every figure."""
    return [(f.label, str(f.verdict), f.cause, f.slip, f.reason) for f in found.figures]


# -- two questions -----------------------------------------------------------------------

RIGHT, OTHER = "0.257 * 1.25 + 0.293 * 0.25", "0.257 * 1.35 + 0.293 * 0.25"


def test_a_claim_may_ask_both():
    """Each gives a figure, that of the arithmetic first; both may hold."""
    found = document({"of": "Y[0, 0]", "as_printed": RIGHT, "printed": "0.395"},
                     {"of": "Y[0, 0]", "as_printed": RIGHT, "printed": "0.3945"})  # fmt: skip
    assert [(f.label, f.text, f.claim.is_arithmetic) for f in found.figures[:2]] == [
        (RIGHT, "0.395", True), ("Y[0, 0]", "0.395", False)
    ]  # fmt: skip
    # 0.3945: a tie, of which either neighbour is right.
    assert [str(f.verdict) for f in found.figures] == ["holds"] * 4
    assert [f.exact for f in found.figures] == ["789/2000"] * 4


@pytest.mark.parametrize(
    ("chain", "printed", "reasons"),
    [
        (
            OTHER,
            "0.420",
            ["", "incorrect, no cause found; the arithmetic as printed gives 0.420"],
        ),
        (OTHER, "0.3945", ["the arithmetic as printed gives 0.4202; Y[0, 0] is 0.3945", ""]),
        (
            OTHER,
            "0.44",
            [
                "the arithmetic as printed gives 0.42; Y[0, 0] is 0.39",
                "incorrect, no cause found; the arithmetic as printed gives 0.42",
            ],
        ),
    ],
    ids=["numbers", "arithmetic", "both"],
)
def test_either_may_be_wrong(chain, printed, reasons):
    """Right arithmetic with wrong numbers, or the other way round; each reason tells of both."""
    found = document({"of": "Y[0, 0]", "as_printed": chain, "printed": printed})
    assert [figure.reason for figure in found.figures] == reasons
    assert [figure.cause for figure in found.figures] == ["root" if x else "" for x in reasons]
    slips = [figure.slip for figure in found.figures]
    assert slips[0] == ("arithmetic" if reasons[0] else "")
    assert "arithmetic" not in slips[1:]


@pytest.mark.parametrize("key", ["as_printed", "of"])
def test_numbers_alone_are_arithmetic(key):
    """Whether or not they are said to be."""
    found = document({key: "4 * (32 * 32)", "printed": 4096}, {key: "4 * (32 * 32)",
                     "printed": 4069}, {"of": "4 * E", "printed": "10.87"})  # fmt: skip
    assert [f.claim.is_arithmetic for f in found.figures] == [True, True, False]
    assert told(found)[1][1:] == (
        "refuted", "root", "arithmetic", "the arithmetic as printed gives 4096"
    )  # fmt: skip
    assert [item["arithmetic"] for item in reports.as_dict(found)["claims"]] == [True, True, False]


def test_wrong_arithmetic_that_is_said_again_is_carried():
    """Also rounded further; another wrong result of it is another slip, one cut off is that."""
    chain = {"as_printed": "2 / 3"}
    found = document(*({**chain, "printed": text} for text in ("0.684", "0.68", "0.7", "0.71")),
                     {**chain, "printed": "0.666"}, {"as_printed": "2 / 3 + 0", "printed": "0.684"},
                     {"as_printed": "3 / 2", "printed": "0.684"})  # fmt: skip
    causes = [figure.cause for figure in found.figures]
    assert causes == ["root", "carried", "", "root", "truncated", "carried", "root"]
    assert [f.label for f in found.figures[1].because] == ["2 / 3"]
    assert found.figures[1].reason == "repeats 2 / 3 = 0.684 (line 0)"
    ((root, carried), *_) = reports.grouped(found)
    assert (root.text, [figure.text for figure in carried]) == ("0.684", ["0.68", "0.684"])


numbers = st.decimals(-99, 99, places=2, allow_nan=False)


@some
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=4), st.integers(-3, 3))
def test_arithmetic_is_judged_by_fractions(pairs, off):
    """A sum of products of whole hundredths, which are exact, comes to what Python's
    fractions say."""
    chain = " + ".join(f"({100 * a:.0f}) / 100 * ({100 * b:.0f}) / 100" for a, b in pairs)
    exact = sum(Fraction(a) * Fraction(b) for a, b in pairs)
    count = round(exact * 10) + off
    (figure,) = document({"as_printed": chain, "printed": Decimal(count).scaleb(-1)}).figures
    near = abs(exact * 10 - count) <= Fraction(1, 2)
    assert figure.verdict is (Verdict.HOLDS if near else Verdict.REFUTED)


# -- rounded operands --------------------------------------------------------------------


@some
@given(st.lists(numbers, min_size=2, max_size=6, unique_by=abs), st.integers(-300, 300))
def test_operands_may_be_all_that_rounds_to_them(operands, off):
    """A result holds if the operands, no two of them the same, each anywhere within half a
    unit, may come to it, as Python's fractions say; it is marked where they don't as they are
    printed. It is refuted where they can't, but for the corners that a ball has and a product
    hasn't."""
    pairs = list(zip(operands[::2], operands[1::2], strict=False))
    half = Fraction(1, 200)
    chain = " + ".join(f"({a}) * ({b})" for a, b in pairs)
    exact = sum(Fraction(a) * Fraction(b) for a, b in pairs)
    ends = [[(Fraction(a) + x) * (Fraction(b) + y) for x in (-half, half) for y in (-half, half)]
            for a, b in pairs]  # fmt: skip
    low, high = sum(map(min, ends)), sum(map(max, ends))
    corners = 2 * half**2 * len(pairs)
    count = round(exact * 1000) + off
    (figure,) = document({"as_printed": chain, "printed": Decimal(count).scaleb(-3)}).figures
    first, last = Fraction(2 * count - 1, 2000), Fraction(2 * count + 1, 2000)
    as_printed = first <= exact <= last
    if first <= high and low <= last:
        assert figure.verdict is Verdict.HOLDS
        assert figure.within_rounding is not as_printed
    elif first > high + corners or last < low - corners:
        assert figure.verdict is Verdict.REFUTED
        assert not figure.within_rounding


@some
@given(st.lists(st.tuples(numbers, numbers), min_size=2, max_size=4))
def test_what_was_computed_before_rounding_is_not_refuted(pairs):
    """Operands and weights are cut to fewer digits after the result was computed from all."""
    full = [(Fraction(a) / 10, Fraction(b) / 10) for a, b in pairs]
    result = sum(a * b for a, b in full)
    said = [[Decimal(round(x * 100)).scaleb(-2) for x in pair] for pair in full]
    chain = " + ".join(f"({a}) * ({b})" for a, b in said)
    (figure,) = document({"as_printed": chain,
                          "printed": Decimal(round(result * 1000)).scaleb(-3)}).figures  # fmt: skip
    assert figure.verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("chain", "printed", "outcome"),
    [
        # As printed, within rounding, refuted; with digits that are exact.
        ("0.5066 * 2", "1.0132", "holds"),
        ("0.5066 * 2", "1.0133", "within"),
        ("0.5066 * 2", "1.0134", "refuted"),
        ("5066 / 10000 * 2", "1.0133", "refuted"),
        # NumPy's whole numbers are exact.
        ("2. * 3.", "6.1", "refuted"),
        ("2.00 * 3.00", "6.02", "within"),
        ("2.0 * 3.0", "6.1", "refuted"),
        # Arrays, and what is one number in either form.
        ("[[1, 2]] @ [[3], [4]]", "11", "holds"),
        ("[[1, 2]] @ [[3], [4]]", [["11"]], "holds"),
        ("[1, 2] @ [3, 4]", [["12"]], "refuted"),
        ("[[0.51, 0.49]] @ [[1, 2], [3, 4]]", ["1.98", "2.99"], "within"),
        ("[[0.51, 0.49]] @ [[1, 2], [3, 4]]", ["1.95", "2.99"], "refuted"),
        # The normaliser moves with its scores: 0.613 at most, not 0.617.
        ("softmax([1.0, 0.5])", ["0.62", "0.38"], "holds"),
        ("softmax([1.00, 0.55])", ["0.611", "0.389"], "holds"),
        ("softmax([1.00, 0.55])", ["0.613", "0.387"], "within"),
        ("softmax([1.00, 0.55])", ["0.614", "0.386"], "refuted"),
        ("softmax(causal([[1.0, 7.5], [1, 1]]))", [["1.00", "0.00"], ["0.50", "0.50"]], "holds"),
        (
            "softmax(causal([[1, 1, 1], [0.30, 0.72, 5.0], [1, 1, 1]]))[1]",
            ["0.398", "0.602", "0.000"],
            "within",
        ),
        # A sum of weights is one within their rounding, or only about one.
        ("0.51 + 0.19 + 0.31", "1", "within"),
        ("0.51 + 0.29 + 0.31", "1", "coarse"),
        # Anything of that magnitude would do.
        ("0.05 * 9.00 + 0.05 * 11.00", "0.95", "vacuous"),
        ("0.05 * 9.00 + 0.05 * 11.00", "1.85", "refuted"),
        ("0.65 * 0.69", "0.5", "vacuous"),
        ("1 / 0.02", "60.0", "vacuous"),
    ],
)
def test_how_arithmetic_holds(chain, printed, outcome):
    """As printed, only within the rounding of its operands, or not at all; and how little
    that says."""
    figures = document({"as_printed": chain, "printed": printed}).figures
    refuted = outcome == "refuted"
    assert refuted is any(figure.verdict is Verdict.REFUTED for figure in figures)
    within = any(figure.within_rounding for figure in figures)
    assert refuted or within is (outcome in ("within", "vacuous"))
    assert any(figure.vacuous for figure in figures) is (outcome == "vacuous")
    assert any(figure.coarse for figure in figures) is (outcome == "coarse")


def test_what_the_operands_come_to_is_told():
    """Of a figure within rounding the right one is what its operands give as printed, in its
    places; of a bare whole number in theirs."""
    found = document({"as_printed": "0.5066 * 2", "printed": "1.0133"},
                     {"as_printed": "0.506 + 0.194 + 0.301", "printed": "1"})  # fmt: skip
    assert [(f.text, f.correct, f.off) for f in found.figures] == [
        ("1.0133", "1.0132", 1), ("1", "1.001", 0)
    ]  # fmt: skip
    assert (found.summary["holds"], found.summary["within_rounding"]) == (2, 2)


def test_only_mere_numbers_have_room():
    """A quantity has the right digits or not, unless numbers that may be its own come to
    them; its reason tells what the arithmetic gives."""
    chain = {"as_printed": "0.26 * 1.25 + 0.29 * 0.25", "printed": "0.400"}
    arithmetic, quantity = document({"of": "Y[0, 0]", **chain}).figures
    assert arithmetic.within_rounding
    assert quantity.as_printed
    arithmetic, quantity = document({"of": "Y[0, 0] + one", **chain}).figures
    assert arithmetic.within_rounding
    assert quantity.verdict is Verdict.REFUTED
    assert quantity.reason.endswith("the arithmetic as printed gives 0.398")


@pytest.mark.parametrize(
    ("declared", "printed", "holds"),
    [
        ({}, "1.0134", False),
        ({"rounding": "down"}, "1.0134", True),
        ({"rounding": "down"}, "1.0136", False),
        ({"tolerance": "0.0002"}, "1.0134", True),
        ({"tolerance": "0.0002"}, "1.0136", False),
    ],
)
def test_what_a_document_declares(declared, printed, holds):
    """Operands that are cut off may have been larger by a unit; a tolerance is the room that
    a result has."""
    claims = [{"as_printed": "0.5066 * 2", "printed": printed}]
    found = audit(make("paper", {}, {}, claims=claims, **declared))
    assert (found.count(Verdict.HOLDS) == 1) is holds


@pytest.mark.parametrize(
    ("statement", "verdict", "within"),
    [
        ("0.51 + 0.18 + 0.31 == 1", Verdict.HOLDS, False),
        ("0.51 + 0.19 + 0.31 == 1", Verdict.HOLDS, True),
        ("0.51 + 0.19 + 0.41 == 1", Verdict.REFUTED, False),
        ("rowsum([[0.51, 0.50], [0.6, 0.4]]) == 1", Verdict.HOLDS, True),
        ("0.51 < 0.51", Verdict.HOLDS, True),
        ("0.51 > 0.52 and 1 < 2", Verdict.HOLDS, True),
        ("0.51 > 0.53", Verdict.REFUTED, False),
        ("0.51 > 0.52 and 2 < 1", Verdict.REFUTED, False),
        ("0.51 <= 0.50 < 0.50", Verdict.HOLDS, True),
        ("2 <= 1", Verdict.REFUTED, False),
        ("argmax([0.51, 0.52]) == 0", Verdict.REFUTED, False),
        ("Y[0, 0] == 0.39", Verdict.REFUTED, False),
    ],
)
def test_statements_about_numbers(statement, verdict, within):
    """They hold as printed, or of what the numbers may have been; what names a quantity is
    decided by that."""
    found = document({"holds": statement})
    (one,) = found.statements
    assert (one.verdict, one.within_rounding) == (verdict, within)
    assert found.summary["within_rounding"] == within


def test_numbers_that_no_one_rounds():
    """Longer than any printed figure, or by a power of ten that no document writes: they are
    exact, and no fault."""
    found = document({"as_printed": f"0.{'3' * 90} * 3", "printed": "1.1"},
                     {"as_printed": "1.5e0002 * 2", "printed": "301"})  # fmt: skip
    assert [figure.verdict for figure in found.figures] == [Verdict.REFUTED] * 2


# -- no evidence -------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["as_printed", "of"])
@pytest.mark.parametrize("printed", ["2.81", "2.72", "2.718"])
def test_what_numbers_come_to_is_not_looked_up(key, printed):
    """Though a step has the same value and is computed by the same operation, figures
    that would follow are no less wrong in themselves."""
    quantities = [{"of": "E", "printed": "2.81"}, {"of": "U", "printed": "282"},
                  {"of": "exp(one) + one", "printed": "3.81"}]  # fmt: skip
    alone = document(*({**x, "where": f"line {k}"} for k, x in enumerate(quantities, 1)))
    found = document({key: "exp(1)", "printed": printed}, *quantities)
    assert told(found)[1:] == told(alone)
    assert all(not figure.because or figure.claim.of != "exp(1)" for figure in found.figures)
    # What a claim says of the quantity itself is looked up.
    said = document({"of": "exp(one)", "printed": "2.81"}, *quantities)
    assert [figure.cause for figure in said.figures[1:]] == ["carried"] * 3


@pytest.mark.heavy
@pytest.mark.parametrize("name", DOCUMENTS)
def test_arithmetic_changes_nothing_of_the_rest(name):
    """Chains that come to what the wrong figures are, and such that don't, before all claims
    and after: the other figures keep their verdicts, causes, slips and reasons."""
    solution = solved(name)
    claims = solution.case.claims
    before = audit(solution)
    wrong = (f.text for f in refuted(before) if f.printed and not f.printed.after)
    texts = dict.fromkeys(("0.5", *wrong))
    said = [{"of": f"{text} {more}", "printed": text} for text in texts for more in ("+ 0", "+ 1")]
    chains = read_claims(solution.program, said)
    # An entry of a file has its number to itself: figures of one number are of one table.
    free = 1 + max(claim.number for claim in claims)
    above, below = (
        tuple(replace(chain, number=chain.number + start) for chain in chains)
        for start in (free, free + len(said))
    )
    found = audit(declaring(solution, claims=(*above, *claims, *below)))
    middle = found.figures[len(chains) : -len(chains)]
    assert [outline(figure) for figure in middle] == [outline(figure) for figure in before.figures]
    first, last = found.figures[: len(chains)], found.figures[-len(chains) :]
    assert [str(figure.verdict) for figure in first] == ["holds", "refuted"] * len(texts)
    assert [figure.cause for figure in last] == ["", "carried"] * len(texts)
    sources = {source for figure in (*first, *last) for source in figure.because}
    assert sources <= set(first)


def outline(figure):
    """All that is said of a figure."""
    because = [(source.label, source.claim.where) for source in figure.because]
    judgement = [getattr(figure, field.name) for field in fields(Judgement)]
    return figure.label, judgement, figure.cause, figure.slip, figure.reason, because


# -- where faults are told -----------------------------------------------------------------


def test_numbers_that_come_to_nothing_are_told_with_their_key(tmp_path):
    """A division by zero is a fault of the file, at the chain; so is one in what follows a
    table with two claims."""
    path = tmp_path / "case.toml"
    path.write_text(
        "[given]\nx = 0\n[steps]\ny = 'x'\n"
        "[[claims]]\nof = 'y'\nas_printed = '0 * 1'\nprinted = 0\n"
        "[[claims]]\nof = 'y'\nas_printed = '1 / 0'\nprinted = 1\n"
        "[[claims]]\nof = '1 / x'\nprinted = 1\n"
    )
    with pytest.raises(Malformed) as caught:
        audit(path)
    assert [(fault.line, fault.where) for fault in caught.value.faults] == [
        (9, "claims[1].as_printed"), (13, "claims[2].of")
    ]  # fmt: skip


#: Smooth expressions in which x and y stand in several places.
TWICE = (
    "exp({x}) / (exp({x}) + exp({y}))", "({x} - {y}) / sqrt({x} * {y})", "{x} / ({x} + {y}) * {y}",
    "[{x}, {y}] @ [{y}, {x}] / (norm([{x}, {y}]) * norm([{y}, {x}]))", "softmax([{x}, {y}, {x}])",
    "([{x}, {y}, 1] - mean([{x}, {y}, 1])) / std([{x}, {y}, 1])", "log({x}) * {x} - log({y}) * {y}",
)  # fmt: skip


@some
@given(
    st.sampled_from(TWICE),
    st.lists(st.integers(200, 2000), min_size=2, max_size=2, unique=True),
    st.tuples(*[st.floats(-0.4999, 0.4999)] * 2),
)
def test_what_stands_in_several_places_is_one_unknown(form, digits, offs):
    """All that an expression comes to, wherever its numbers were before they were rounded."""
    said = dict(zip("xy", (f"{k / 1000:.3f}" for k in digits), strict=True))
    real = dict(
        zip(
            "xy", (repr((k + off) / 1000) for k, off in zip(digits, offs, strict=True)), strict=True
        )
    )
    found = Operands().enclosure(parse(form.format(**said)))
    exact = Operands().middles(parse(form.format(**real)))
    assert found is not None
    assert exact is not None
    for near, number in zip(found.entries(), exact, strict=True):
        assert near.contains(arb(number)) or abs(near - arb(number)) < 1e-12
        # Slopes of first order tell how far it may be.
        assert near.rad() < 0.02
