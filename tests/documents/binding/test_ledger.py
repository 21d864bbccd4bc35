"""What blocks are claimed of: the candidate with most for it, or nothing."""

from __future__ import annotations

import pytest

from symattn.documents.binding.coverage import Coverage
from symattn.documents.binding.ledger import Candidate, Ledger
from symattn.documents.binding.recipe import Recipe
from symattn.expressions import syntax
from symattn.expressions.syntax import parse
from tests.documents.binding.blocks import Printer

SCORES = ("0.31 1.62 0.47", "1.13 0.29 0.84", "0.56 0.93 1.78")


@pytest.fixture
def printed():
    """Prints values."""
    return Printer()


@pytest.fixture
def ledger():
    """A ledger over scores and their weights."""
    recipe = Recipe()
    recipe.give(
        "S", parse(f"[{', '.join('[' + ', '.join(r.split()) + ']' for r in SCORES)}]"), None
    )
    recipe.define("T", parse("S / sqrt(3)"))
    recipe.define("A", parse("softmax(T)"))
    return Ledger(recipe, Coverage([]))


def rounded(ledger, name, decimals=4):
    """The figures of a quantity, row by row."""
    rows = ledger.recipe.floats(parse(name))
    return [" ".join(f"{x:.{decimals}f}" for x in row) for row in rows]


def candidates(*named):
    """Candidates, each with what speaks for it."""
    return [Candidate(parse(tree), frozenset(kinds)) for tree, *kinds in named]


def test_what_is_named_and_agrees_is_claimed(ledger, printed):
    """With all of its figures, and what says so."""
    value = printed(*rounded(ledger, "A"))
    assert ledger.claim(parse("A"), value, "name")
    (entry,) = ledger.entries
    assert (syntax.text(entry.tree), entry.agreement.sentence) == ("A", "9 of 9 figures agree")
    assert entry.kinds == {"name"}
    assert ledger.is_taken(value)


def test_the_candidate_that_more_speaks_for_wins(ledger, printed):
    """Words against words, figures against figures; in whatever order they are tried."""
    names = candidates(("T", "around"), ("A", "name"))
    figures = candidates(("T", "name"), ("A", "name"))
    for pairs in (names, names[::-1], figures, figures[::-1]):
        fresh = Ledger(ledger.recipe, ledger.coverage)
        won = fresh.weigh(printed(*rounded(ledger, "A")), pairs)
        assert won is not None
        assert syntax.text(won.tree) == "A"


def test_the_first_of_equals_wins(ledger, printed):
    """Who tries the likelier first need not say so in bits."""
    ledger.recipe.define("B", parse("softmax(T)"))
    for first, second in ("AB", "BA"):
        fresh = Ledger(ledger.recipe, ledger.coverage)
        won = fresh.weigh(
            printed(*rounded(ledger, "A")), candidates((first, "name"), (second, "name"))
        )
        assert won is not None
        assert syntax.text(won.tree) == first


def test_something_else_wins_over_a_name_against_all_figures(ledger, printed):
    """A name says ten bits; nine figures that are all far off say more, and it is told."""
    value = printed("7.13 8.29 9.31", "6.37 5.71 4.93", "3.37 7.91 6.17")
    assert not ledger.claim(parse("A"), value, "around")
    assert not ledger.entries
    assert not ledger.is_taken(value)
    assert [(one.what, "do not agree" in one.why) for one in ledger.open] == [("A", True)]


def test_another_quantity_wins_over_a_name_and_is_told(ledger, printed):
    """Figures that are those of T are none of A, whatever stands above them."""
    value = printed(*rounded(ledger, "T"))
    assert not ledger.claim(parse("A"), value, "name")
    assert [one.why.split()[-1] for one in ledger.open] == ["T"]
    assert ledger.claim(parse("T"), value, "figures")
    assert not ledger.open


def test_a_name_with_one_wrong_figure_is_believed(ledger, printed):
    """Right or wrong, the block is that quantity's."""
    rows = rounded(ledger, "A")
    rows[1] = rows[1].replace(rows[1].split()[0], "0.9137")
    assert ledger.claim(parse("A"), printed(*rows), "name")
    assert ledger.entries[0].agreement.sentence == "8 of 9 figures agree"


def test_nothing_is_claimed_without_a_reason(ledger, printed):
    """Not even by figures that a few others may have as well."""
    assert not ledger.claim(parse("A"), printed("0 1 0", "1 0 0", "0 0 1"))
    assert not ledger.claim(parse("A[0, 0]"), printed("7.31"))


def test_nothing_is_claimed_twice(ledger, printed):
    """What a block is stays what it is."""
    value = printed(*rounded(ledger, "A"))
    assert ledger.claim(parse("A"), value, "name")
    assert not ledger.claim(parse("T"), value, "note")
    ledger.take(again := printed("1 2 3"), "X")
    assert not ledger.claim(parse("A[0]"), again, "note")
    assert len(ledger.entries) == 1


def test_shapes_have_to_fit(ledger, printed):
    """But for axes of length 1."""
    assert not ledger.claim(parse("A"), printed("0.1 0.2"), "note")
    assert not ledger.fits(parse("A"), printed("0.1 0.2 0.3"))
    assert ledger.fits(parse("A[:, 0:1]"), printed("0.1 0.2 0.3"))
    assert not ledger.claim(parse("Q"), printed("0.1 0.2 0.3"), "note")


def test_shares_may_be_in_percent(ledger, printed):
    """With the sign, or where all say that without it."""
    share = ledger.recipe.floats(parse("A"))[0]
    for text in (f"{100 * share[0]:.1f}%", f"{100 * share[0]:.0f}%"):
        assert ledger.claim(parse("A[0, 0]"), printed(text.replace(" ", "")), "sentence")
    assert ledger.claim(
        parse("A[0]"), printed(" ".join(f"{100 * x:.1f}" for x in share)), "row", "name"
    )
    assert {syntax.text(one.tree) for one in ledger.entries} == {"100 * A[0, 0]", "100 * A[0]"}


def test_bits_of_all_add_up(ledger, printed):
    """What figures say for an article is what they say for each of its claims."""
    for name in ("A", "T"):
        assert ledger.claim(parse(name), printed(*rounded(ledger, name)), "name")
    assert ledger.bits == sum(one.agreement.bits for one in ledger.entries) > 100
