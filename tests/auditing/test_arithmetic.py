"""Chains of numbers: judged for themselves, and no evidence about any quantity."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.auditing import reports
from symattn.auditing.audit import audit
from symattn.cases.case import make
from symattn.cases.claims import read_claims
from symattn.errors import Malformed
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
            ["", "wrong in itself: no cause found; the arithmetic as printed gives 0.420"],
        ),
        (OTHER, "0.3945", ["the arithmetic as printed gives 0.4202; Y[0, 0] is 0.3945", ""]),
        (
            OTHER,
            "0.44",
            [
                "the arithmetic as printed gives 0.42; Y[0, 0] is 0.39",
                "wrong in itself: no cause found; the arithmetic as printed gives 0.42",
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
    """A sum of products comes to what Python's fractions say."""
    chain = " + ".join(f"({a}) * ({b})" for a, b in pairs)
    exact = sum(Fraction(a) * Fraction(b) for a, b in pairs)
    count = round(exact * 10) + off
    (figure,) = document({"as_printed": chain, "printed": Decimal(count).scaleb(-1)}).figures
    near = abs(exact * 10 - count) <= Fraction(1, 2)
    assert figure.verdict is (Verdict.HOLDS if near else Verdict.REFUTED)


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


@pytest.mark.parametrize("name", DOCUMENTS)
def test_arithmetic_changes_nothing_of_the_rest(name):
    """Chains that come to what the wrong figures are, and such that don't, before all claims
    and after: the other figures keep their verdicts, causes, slips and reasons."""
    solution = solved(name)
    before = audit(solution)
    texts = ["0.5", *{f.text for f in refuted(before) if f.printed and not f.printed.after}]
    said = [{"of": f"{text} {more}", "printed": text} for text in texts for more in ("+ 0", "+ 1")]
    chains = read_claims(solution.program, said)
    found = audit(declaring(solution, claims=(*chains, *solution.case.claims, *chains)))
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
    return figure.label, figure.judgement, figure.cause, figure.slip, figure.reason, because


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
