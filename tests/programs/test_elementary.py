"""Rows of elementary functions, held against Arb, mpmath and NumPy."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from symattn.calculus.sampling import FUNCTIONS, Jet, slope
from symattn.expressions.elementary import ELEMENTARY, Arithmetic
from symattn.numbers.values import rational
from symattn.programs.enclosures import in_numpy

from ..strategies import many

#: The arithmetic of mpmath: its functions are its own.
MPMATH = Arithmetic(
    number=mpmath.mpf,
    pi=lambda: +mpmath.pi,
    plus=lambda x, y: x + y,
    minus=lambda x, y: x - y,
    times=lambda x, y: x * y,
    over=lambda x, y: x / y,
    negative=lambda x: -x,
    function=lambda name, x: getattr(mpmath, name)(x),
)
points = st.fractions(Fraction(1, 8), 4, max_denominator=64)


@many
@given(st.sampled_from(sorted(ELEMENTARY)), points)
def test_what_flows_through_is_the_slope(name, point):
    """By differences of mpmath at 40 digits."""
    row, function = ELEMENTARY[name], getattr(mpmath, name)
    with mpmath.workdps(40):
        x = mpmath.mpf(point.numerator) / point.denominator
        found = row.flow(MPMATH, mpmath.mpf(3), x, function(x))
        assert mpmath.almosteq(found, 3 * mpmath.diff(function, x), 1e-12)


@many
@given(st.sampled_from(sorted(FUNCTIONS.keys() & ELEMENTARY.keys())), points)
def test_the_two_witnesses_find_one_slope(name, point):
    """That of the row, and that of Arb's power series, which numbers are tried with."""
    x = arb(point.numerator) / point.denominator
    found = slope(FUNCTIONS[name](Jet(1, x, 1)), 1)
    with mpmath.workdps(30):
        at = mpmath.mpf(point.numerator) / point.denominator
        own = ELEMENTARY[name].flow(MPMATH, mpmath.mpf(1), at, getattr(mpmath, name)(at))
        assert float(found) == pytest.approx(float(own), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("name", ELEMENTARY)
def test_a_row_says_what_is_so(name):
    """Its parity, its value at a whole number, its name in NumPy."""
    row, function = ELEMENTARY[name], getattr(mpmath, name)
    if row.parity:
        sign = 1 if row.parity == "even" else -1
        assert all(mpmath.almosteq(function(-x), sign * function(x)) for x in (0.3, 1.7, 5.1))
    if row.exact:
        at, value = row.exact
        assert function(at) == value == row.at(at)
        assert rational(at).applied(name) == rational(value)
    assert row.at(Fraction(1, 3)) is None
    own = getattr(math, name)
    assert in_numpy(name)(np.array([0.5, 2.0])) == pytest.approx([own(0.5), own(2.0)])
