"""No false alarm on right figures; no wrong figure gets through."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from random import Random

import pytest

from symattn.auditing.audit import audit
from symattn.cases import library
from symattn.numbers.rounding import MODES
from symattn.verdicts import Verdict

from .papers import (
    Said,
    claiming,
    claims_of,
    declaring,
    document,
    expressions_of,
    flat,
    honest,
    one_digit_off,
    refuted,
    solved,
    with_figure,
)

#: Corruptions of each published case, and of a walkthrough of our own.
CORRUPTIONS, FEW = 100, 10


@pytest.mark.sampled(1, 20)
@pytest.mark.parametrize("name", library.names())
def test_correctly_rounded_figures_hold(name):
    """At 1 to 12 places every correctly rounded figure of every case holds,
    and is given back as the correct one."""
    solution = solved(name)
    for places in range(1, 13):
        claims = claims_of(solution, expressions_of(solution), places)
        found = audit(claiming(solution, claims))
        assert found.count(Verdict.HOLDS) == len(found.figures) > 10
        assert all(figure.correct == figure.text for figure in found.figures)
        assert not found.roots


@pytest.mark.sampled(2, 54)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", library.names())
def test_figures_in_a_declared_rounding_hold(name, mode):
    """A document that declares its rounding is judged by it, at any places."""
    solution = solved(name)
    for places in Random(f"{name} {mode}").sample(range(1, 13), 2):
        claims = claims_of(solution, expressions_of(solution), places, mode)
        found = audit(declaring(claiming(solution, claims), rounding=mode))
        assert found.count(Verdict.HOLDS) == len(found.figures)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("mode", ["down", "up", "floor", "ceiling"])
def test_a_directed_rounding_allows_no_other_figure(mode):
    """Where a directed rounding is declared, the neighbour is refuted."""
    solution = solved("the-cat-sleeps")
    other = {"down": "up", "up": "down", "floor": "ceiling", "ceiling": "floor"}[mode]
    claims = claims_of(solution, ["A", "Y"], 6, other)
    found = audit(declaring(claiming(solution, claims), rounding=mode))
    assert found.count(Verdict.REFUTED) == len(found.figures) == 21
    assert [f.correct for f in found.figures] == [
        text
        for claim in claims_of(solution, ["A", "Y"], 6, mode)
        for _, text in flat(claim.printed)
    ]


def is_right(solution, claim, place, text, places):
    """Whether a figure is within half a unit of the exact value: by its
    decimals far beyond the figure's, which no rounding mode touches."""
    number = solution[claim.of].decimal(places + 25, "down")
    for k in place:
        number = number[k]
    distance = abs(Fraction(Decimal(text)) - Fraction(number))
    return distance <= Fraction(1, 2 * 10**places)


@pytest.mark.sampled(0, 3)
@pytest.mark.parametrize("name", library.names())
def test_a_corrupted_digit_is_refuted_there_and_nowhere_else(name):
    """One digit of one figure changed at random, anywhere in the document:
    that figure is refuted, unless it still rounds from the exact value (the
    other side of a tie), and every other figure holds."""
    random = Random(name)
    solution = solved(name)
    expressions = expressions_of(solution)
    ties = tried = 0
    case = library.load(name)
    while tried < (CORRUPTIONS if case.source or case.extends else FEW):
        places = random.randint(1, 12)
        chosen = random.sample(expressions, min(len(expressions), 3))
        claims = claims_of(solution, chosen, places)
        k = random.randrange(len(claims))
        figures = [(at, text) for at, text in flat(claims[k].printed) if text != "-inf"]
        if not figures:
            continue
        tried += 1
        place, text = random.choice(figures)
        wrong = one_digit_off(text, random)
        claims[k] = Said("wrong", chosen[k], with_figure(claims[k].printed, place, wrong))
        found = audit(claiming(solution, claims))
        if is_right(solution, claims[k], place, wrong, places):
            ties += 1
            assert not refuted(found)
            continue
        (figure,) = refuted(found)
        assert (figure.claim.where, figure.at, figure.text) == ("wrong", place, wrong)
        assert Decimal(figure.correct) == Decimal(text) or is_right(
            solution, claims[k], place, figure.correct, places
        )
        assert figure.cause
        assert found.count(Verdict.HOLDS) == len(found.figures) - 1
    assert ties < CORRUPTIONS / 10


@pytest.mark.heavy
def test_a_wrong_sign_and_a_lost_point_are_refuted():
    """Other typing errors than a digit: the sign, the point, a digit too many."""
    right = document(("T[0]", [str(x) for x in honest()["T[0]"].decimal(5)]))
    assert not refuted(right)
    for k, figure in enumerate(right.figures):
        for wrong in (
            figure.text.removeprefix("-") if "-" in figure.text else f"-{figure.text}",
            figure.text.replace(".", ""),
            figure.text.replace(".", ".0"),
            f"1{figure.text.removeprefix('-')}",
        ):
            texts = [f.text for f in right.figures]
            texts[k] = wrong
            assert [f.at for f in refuted(document(("T[0]", texts)))] == [(k,)]
