"""What printed figures say for the values that they may be of, in bits."""

from __future__ import annotations

from math import inf, log2, nan
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.documents.binding.evidence import (
    EVIDENCE,
    MARGIN,
    PRIOR,
    TRUST,
    Kind,
    agreement,
    figure_bits,
    information,
    structure,
    telling,
)

values = st.floats(-1000, 1000).filter(lambda x: abs(x) > 1e-6)
places = st.integers(1, 8)
#: No figure speaks more against anything: one in so many is wrong.
_WORST = log2(24)


def shown(value: float, count: int) -> str:
    """A value rounded to so many decimals."""
    return f"{value:.{count}f}"


@given(values, places)
def test_a_figure_that_agrees_never_speaks_against(value, count):
    """However few digits it has; it says what its digits are worth."""
    text = shown(value, count)
    found = agreement([(text, value)])
    assert (found.agreeing, found.figures, found.against) == (1, 1, 0)
    assert found.bits == found.support == information(text) > 0
    assert found.share == 1


@given(st.lists(st.tuples(values, places), max_size=8), values, places)
def test_one_more_figure_that_agrees_never_takes_anything_off(pairs, value, count):
    """Nor does what stands there again say it twice."""
    texts = [(shown(one, k), one) for one, k in pairs]
    more = (shown(value, count), value)
    before, after = agreement(texts), agreement([*texts, more])
    assert after.bits >= before.bits
    assert agreement([*texts, more, more]).bits == after.bits
    assert agreement([*texts, more, more]).agreeing == after.agreeing + 1


@given(st.lists(st.tuples(values, places).map(lambda one: shown(*one)), max_size=8))
def test_no_figure_of_a_block_tells_more_than_it_would_alone(texts):
    """And the one that tells most tells as much."""
    bits = telling(texts)
    assert set(bits) == set(texts)
    assert all(0 <= bits[text] <= information(text) for text in texts)
    assert max(bits.values(), default=0) == max(map(information, texts), default=0)


def test_a_constant_block_tells_one_figure_however_large_it_is():
    """All of 25 shares of 0.2 agree with whatever is spread evenly."""
    assert agreement([("0.2", 0.2)] * 25).bits == information("0.2")


def test_a_block_that_is_nearly_constant_tells_the_digits_in_which_it_differs():
    """Once it is known that they are about a fifth."""
    near = agreement([(text, float(text)) for text in ("0.201", "0.199", "0.203", "0.198")])
    apart = agreement([(text, float(text)) for text in ("0.201", "0.599", "0.703", "0.498")])
    assert near.bits == information("0.201") + 3 * log2(10)
    assert apart.bits == 4 * information("0.201")


@given(values, places)
def test_more_digits_say_more(value, count):
    """Up to a few: a figure of twelve digits may be copied like one of four."""
    assert information(shown(value, count + 1)) >= information(shown(value, count))
    assert information(shown(value, count)) <= information("1.234")


@pytest.mark.parametrize("text", ["0", "1", "-1", "0.00", "1.0", "10", "100%", "1e5"])
def test_zeros_and_ones_stand_everywhere(text):
    """They say a bit, whatever zeros are around them."""
    assert information(text) == 1


@given(values, places, st.integers(10, 10**6))
def test_a_figure_that_is_far_off_speaks_against(value, count, off):
    """Unless it is a misprint: one digit another, or two neighbours exchanged. However many
    digits it has, it never says more against than one figure can."""
    text = shown(value + off * 1.37, count)
    bits = figure_bits(text, value)
    assert bits is None or bits >= -_WORST
    if sum(a != b for a, b in zip(text, shown(value, count), strict=False)) > 2:
        assert bits is None or bits < 0


@pytest.mark.parametrize(
    ("text", "value", "is_for"),
    [
        ("0.2741", 0.2741234, True),
        ("0.2742", 0.2741234, True),  # off by a unit in the last place
        ("0.2471", 0.2741234, True),  # neighbours exchanged
        ("-0.2741", 0.2741234, True),  # the sign
        ("0.8741", 0.2741234, True),  # one digit another
        ("0.9135", 0.2741234, False),
        ("0.3", 0.9, False),
        ("0.27", nan, False),
        ("0.27", inf, False),
        ("?", 0.2741234, False),
    ],
)
def test_a_misprint_is_known_again(text, value, is_for):
    """A slip of long figures still speaks for what they were meant to be; what is no number,
    or of no number, never does."""
    bits = figure_bits(text, value)
    assert (bits is None or bits > 0) is is_for


def test_a_masked_entry_is_told_by_its_own_sign_only():
    """Minus infinity agrees with minus infinity, and with nothing else."""
    assert figure_bits("-inf", -inf) is None
    assert figure_bits("-inf", 0.0) is not None
    assert figure_bits("0.25", -inf) is not None
    assert agreement([("-inf", -inf), ("0.25", 0.25)]).share == 1


def test_a_whole_number_is_no_broken_one():
    """3 is not 2.71 rounded, as whole numbers count; 3.0 is none of 2.71 either, and 3 is
    that of 3."""
    assert figure_bits("3", 2.71) is not None
    assert figure_bits("3", 3.0) is None


def test_one_mistake_may_make_all_the_difference():
    """A block that is off as a whole speaks no more against than one mistake that all of it
    carries; a share of what agrees is told."""
    pairs = [(f"{k}.{k}7", 9.13 * k) for k in range(1, 9)]
    found = agreement(pairs)
    assert found.against > -found.bits > 0
    assert agreement([*pairs[:1], ("0.27", 0.27)]).sentence == "1 of 2 figures agree"
    assert agreement([]).share == agreement([]).bits == 0


def test_the_table_has_a_weight_for_what_there_is():
    """Kinds that say what a block is, and kinds that say whether to believe it; every kind
    is in one of them, a note outweighs each other, and what has nothing for it is no mistake."""
    kinds = set(get_args(Kind))
    assert EVIDENCE.keys() | TRUST.keys() <= kinds
    assert kinds - EVIDENCE.keys() - TRUST.keys() <= {"assumed", "rival", "carried"}
    assert structure(()) == 0
    assert max(EVIDENCE, key=lambda kind: EVIDENCE[kind].bits) == "note"
    assert PRIOR < 0 < MARGIN
    assert TRUST["miss"] < 0 < TRUST["digits"]


def test_a_number_and_its_negative_tell_little_more_than_one():
    """A matrix of 0.8884 and -0.8884 is tanh, products and outer products of many things."""
    alone, both = telling(["0.8884"]), telling(["-0.8884", "0.8884"])
    assert sum(both.values()) <= sum(alone.values()) + 1
