"""Tracked floats: the true value lies within the bound, and zeros stay exact."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any

import gmpy2
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from symattn.crosscheck.scalars import (
    PI,
    UNIT,
    CannotTell,
    Tracked,
    cos,
    erf,
    exp,
    greatest,
    least,
    log,
    magnitude,
    sin,
    sqrt,
    tanh,
    tracked,
)

from ..strategies import many

rationals = st.fractions(min_value=-1000, max_value=1000, max_denominator=1000)
scales = st.integers(-60, 60).map(lambda k: Fraction(2) ** k)


def distance(found: Tracked, truth: Any) -> Fraction:
    """How far a tracked value is from the truth, exactly (to 300 bits)."""
    return abs(Fraction(found.value) - Fraction(*truth.as_integer_ratio()))


def allowed(found: Tracked) -> Fraction:
    """The bound, with room for the roundings inside its own arithmetic."""
    return Fraction(found.error) * Fraction(UNIT) * (1 + Fraction(1, 2**20))


def holds(found: Tracked, truth: Any) -> bool:
    """Is the truth within the bound, which is finite?"""
    return distance(found, truth) <= allowed(found)


@pytest.mark.heavy
@many
@given(st.lists(st.tuples(rationals, scales), min_size=2, max_size=12), st.data())
def test_arithmetic_encloses(numbers, data):
    """Any sequence of + - * / on rationals stays within its bound."""
    first = numbers[0][0] * numbers[0][1]
    truth, found = first, tracked(first)
    for number, scale in numbers[1:]:
        other = number * scale
        sign = data.draw(st.sampled_from("+-*/"))
        match sign:
            case "+":
                truth, found = truth + other, found + tracked(other)
            case "-":
                truth, found = other - truth, tracked(other) - found
            case "*":
                truth, found = truth * other, found * tracked(other)
            case "/" if other:
                truth, found = truth / other, found / tracked(other)
        assert holds(found, truth)


@many
@given(rationals, rationals, scales)
def test_functions_enclose(a, b, scale):
    """exp, log, sqrt and tanh of an inexact number stay within their bounds."""
    argument = a / 3 + b / 7
    assume(argument != 0)
    inexact = tracked(a) / 3 + tracked(b) / 7
    positive = inexact * scale * (-1 if argument < 0 else 1)
    with gmpy2.context(precision=300):
        assert holds(exp(inexact), gmpy2.exp(gmpy2.mpfr(gmpy2.mpq(argument))))
        wide = gmpy2.mpfr(gmpy2.mpq(abs(argument) * scale))
        assert holds(log(positive), gmpy2.log(wide))
        assert holds(sqrt(positive), gmpy2.sqrt(wide))
        assert holds(tanh(inexact), gmpy2.tanh(gmpy2.mpfr(gmpy2.mpq(argument))))


@pytest.mark.heavy
@many
@given(rationals, rationals, st.integers(-9, 9))
def test_waves_and_powers_enclose(a, b, power):
    """sin, cos, erf, the absolute value and powers of an inexact number, likewise."""
    argument = a / 3 + b / 7
    assume(argument != 0)
    inexact = tracked(a) / 3 + tracked(b) / 7
    assume(not inexact.near(0.0))
    with gmpy2.context(precision=2000):
        exact = gmpy2.mpfr(gmpy2.mpq(argument))
        assert holds(sin(inexact), gmpy2.sin(exact))
        assert holds(cos(inexact), gmpy2.cos(exact))
        assert holds(erf(inexact), gmpy2.erf(exact))
        assert holds(magnitude(inexact), abs(exact))
        assert holds(inexact**power, exact**power)
        assert holds(PI, gmpy2.const_pi())


@many
@given(rationals, rationals, st.integers(-3, 3))
def test_comparisons_are_never_wrong(a, b, ulps):
    """They are true, or it can't be told; the greatest and the least enclose in any case."""
    near = a / 3 + Fraction(ulps, 2**52)
    for other, exact in ((tracked(b) / 7, b / 7), (tracked(a) / 3 + ulps * 2.0**-52, near)):
        one = tracked(a) / 3
        for told, truth in (
            (operator.gt, a / 3 > exact),
            (operator.ge, a / 3 >= exact),
            (operator.lt, a / 3 < exact),
            (operator.le, a / 3 <= exact),
            (operator.eq, a / 3 == exact),
            (operator.ne, a / 3 != exact),
        ):
            try:
                assert told(one, other) == truth
            except CannotTell:
                assert abs(a / 3 - exact) <= allowed(one) + allowed(other) + Fraction(1, 2**40)
        assert holds(greatest(one, other), max(a / 3, exact))
        assert holds(least(one, other), min(a / 3, exact))


@given(rationals, rationals)
def test_rationals_are_told_apart(a, b):
    """Fractions decide where floats don't: no question is left open."""
    for one, other in ((a, b), (a, a), (a, a + Fraction(1, 10**30))):
        assert (tracked(one) > tracked(other)) == (one > other)
        assert (tracked(one) == tracked(other)) == (one == other)


@many
@given(rationals, rationals)
def test_the_slope_of_tanh_is_taken_nearest_to_zero(a, b):
    """With a wide error the argument may lie where tanh is steeper."""
    value, spread = float(a % 5), float(abs(b) % 5)
    found = tanh(Tracked(value, spread / UNIT))
    with gmpy2.context(precision=300):
        for place in (value - spread, value, value + spread):
            truth = gmpy2.tanh(gmpy2.mpfr(place))
            assert abs(truth - gmpy2.mpfr(found.value)) <= UNIT * found.error * (1 + 1e-9)


@many
@given(rationals, rationals)
def test_bounds_are_of_the_size_of_the_terms(a, b):
    """A bound is not idle: a sum's is a few roundings of its terms."""
    found = tracked(a) * 3 + tracked(b)
    assert UNIT * found.error <= 8 * UNIT * (abs(3 * a) + abs(b)) + 1e-300


@pytest.mark.parametrize("end", [-1, 1])
def test_an_inexact_divisor(end):
    """The quotient by either end of the divisor's range lies within the bound."""
    found = Tracked(3.0) / Tracked(2.0, 2.0**50)
    assert holds(found, 3 / (2 + end * Fraction(1, 8)))
    assert UNIT * found.error < 0.11


@pytest.mark.parametrize("end", [-1, 1])
def test_inexact_factors(end):
    """The product of both ends of the factors' ranges lies within the bound."""
    found = Tracked(1.0, 2.0**51) * Tracked(1.0, 2.0**51)
    assert holds(found, (1 + end * Fraction(1, 4)) ** 2)
    assert UNIT * found.error < 0.57


def test_underflow_is_bounded():
    """A product that underflows to 0 is not an exact 0."""
    tiny = Tracked(1e-200) * Tracked(1e-200)
    assert tiny.value == 0
    assert UNIT * tiny.error > 0
    assert UNIT * exp(Tracked(-800.0)).error > 0


@pytest.mark.parametrize("other", [Tracked(3.0, 5.0), Tracked(math.inf, math.inf)])
def test_products_by_an_exact_zero(other):
    """They are an exact zero on both sides, whatever the other factor is."""
    for product in (Tracked(0.0) * other, other * Tracked(0.0), 0 * other):
        assert (product.value, product.error) == (0.0, 0.0)


@pytest.mark.parametrize(
    "masked",
    [
        Tracked(-math.inf) + Tracked(1e-17, 2.0),
        Tracked(3.0, 3.0) + Tracked(-math.inf),
        Tracked(-math.inf) - Tracked(1.0, 1.0),
        Tracked(-math.inf) / Tracked(2.0, 2.0),
        Tracked(-math.inf) * Tracked(2.0, 2.0),
    ],
)
def test_masked_scores_stay_exact(masked):
    """-inf shifted or scaled by a positive number is still an exact -inf."""
    assert (masked.value, masked.error) == (-math.inf, 0.0)


@pytest.mark.parametrize(
    "unknown",
    [
        Tracked(-math.inf) * Tracked(1e-17, 2.0),
        Tracked(1.0) / Tracked(1e-17, 2.0),
        Tracked(1e300) * Tracked(1e300),
        Tracked(1e308) + Tracked(1e308),
        exp(Tracked(1000.0)),
        exp(Tracked(1.0, 1e300)),
        exp(Tracked(1e300) * Tracked(1e300)),
        log(Tracked(1e-17, 2.0)),
        sqrt(Tracked(-1e-17, 2.0)),
    ],
)
def test_what_float64_cant_tell_has_no_bound(unknown):
    """Overflow, and a divisor or argument whose sign is lost, are unknown, not wrong."""
    assert unknown.error == math.inf


@pytest.mark.parametrize(
    "undefined",
    [
        Tracked(1.0) / Tracked(0.0),
        1 / Tracked(0.0),
        log(Tracked(0.0)),
        log(Tracked(-1.0, 1.0)),
        sqrt(Tracked(-1.0, 1.0)),
        Tracked(-math.inf) - Tracked(-math.inf),
    ],
)
def test_what_has_no_value_is_certain_about_it(undefined):
    """A certain division by zero is NaN with error 0."""
    assert math.isnan(undefined.value)
    assert undefined.error == 0.0


@pytest.mark.parametrize("sign", [1, -1])
def test_a_zero_that_is_not_exact_has_its_error(sign):
    """Added on either side, or taken off, it adds its error to the sum."""
    zero = Tracked(0.0, 5.0)
    for found in (Tracked(1.0) + sign * zero, sign * zero + Tracked(1.0), Tracked(1.0) - zero):
        assert found.value == 1.0
        assert found.error >= 5.0
