"""A sample of decimals and floats held against the truth, and as many as are asked for:

SYMATTN_CAMPAIGN=1e7 pytest -n 0 -m campaign tests/campaigns
"""

from __future__ import annotations

import os
from fractions import Fraction

import pytest

from .rounding import KINDS, counts, decimals, float_of, floats, judged, same


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(2 * len(KINDS)))
def test_a_sample_of_floats_is_right(seed):
    """Functions, ties and what is beside them, and attention: ordinary, saturated,
    cancelling, wide and small inputs, in every format."""
    assert [*filter(None, floats(seed))] == []


@pytest.mark.parametrize("seed", [0, 3])
def test_a_sample_of_decimals_is_right(seed):
    """Functions, ties, what is beside them and ends of balls, in every mode."""
    assert judged(decimals, 1_500, seed) == []


@pytest.mark.campaign
@pytest.mark.parametrize("kind", [decimals, floats])
def test_many_are_right(kind):
    """Ten million of each, or as many as SYMATTN_CAMPAIGN says."""
    assert judged(kind, int(Fraction(os.environ.get("SYMATTN_CAMPAIGN", "1e7")))) == []


def test_a_wrong_float_is_seen():
    """One unit in the last place, and the sign of zero, are differences."""
    assert not same(1.0, 1.0 + 2**-52)
    assert not same(0.0, -0.0)
    assert same(float("nan"), float("nan"))


def test_the_truth_is_rounded_as_defined():
    """Floor, ceiling, down, up, and half to even, up and down, of fractions; floats of
    fractions as Python divides."""
    assert counts(-5, 2) == (-3, -2, -2, -3, -2, -3, -2)
    assert counts(7, 2) == (3, 4, 3, 4, 4, 4, 3)
    assert counts(-9, 4) == (-3, -2, -2, -3, -2, -2, -2)
    assert counts(6, 2) == (3,) * 7
    for above, below in ((1, 3), (-(2**60) - 1, 7), (3, 2**1075), (-1, 2**1075), (1, 10**320)):
        assert same(float_of("float64")(above, below), above / below)
    assert float_of("float16")(65520, 1) == float("inf")
    assert float_of("float8_e4m3fn")(464, 1) == 448
