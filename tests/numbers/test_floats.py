"""The nearest float64, float32, float16 and bfloat16, as IEEE 754 has them."""

from __future__ import annotations

import math
from fractions import Fraction

import gmpy2
import ml_dtypes
import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from symattn.errors import Malformed
from symattn.numbers.balls import precision
from symattn.numbers.double_double import of_balls
from symattn.numbers.float_formats import FORMATS, float_format, nearest, rounded
from symattn.numbers.reading import read

from ..oracle import mpfr
from ..strategies import few, field_texts, many, some, wide_fractions

formats = st.sampled_from(sorted(FORMATS))
narrow = st.sampled_from(["bfloat16", "float8_e4m3fn", "float8_e5m2"])


def arithmetic(name):
    """MPFR set up as the format: its digits, its range and its gradual underflow."""
    form = FORMATS[name]
    return gmpy2.context(
        precision=form.digits,
        emax=form.highest + 1,
        emin=form.lowest - form.digits + 2,
        subnormalize=True,
    )


def mpfr_nearest(q, name):
    """A Fraction rounded by MPFR."""
    with arithmetic(name):
        return beyond(float(gmpy2.mpfr(gmpy2.mpq(q))), name)


def beyond(x, name):
    """What MPFR gives where a format has other numbers: E4M3 ends at 448 and has no
    infinity."""
    return math.nan if name == "float8_e4m3fn" and abs(x) > 448 else x


def every_finite(name):
    """All non-negative finite numbers of a 16-bit format, in order."""
    if name == "float16":
        return np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    bits = np.arange(0x7F80, dtype=np.uint32) << 16
    return bits.view(np.float32).astype(np.float64)


def same(x, y):
    """Whether two floats are the same, the sign of zero included."""
    return (math.isnan(x) and math.isnan(y)) or (x == y and signs(x) == signs(y))


def signs(x):
    return math.copysign(1, x)


scaled = st.builds(
    lambda p, q, k: Fraction(p, q) * Fraction(2) ** k,
    st.integers(-(2**70), 2**70),
    st.integers(1, 2**40),
    st.integers(-1200, 1000),
)


@many
@given(scaled, formats)
def test_rationals_of_any_size_round_as_in_mpfr(q, name):
    """Rationals, from far below the smallest number to beyond the largest."""
    assert same(nearest(read(q), FORMATS[name]), mpfr_nearest(q, name))


@many
@given(wide_fractions)
def test_float64_is_pythons_division(q):
    """float64 of a rational is what Python's correctly rounded division gives."""
    assert nearest(read(q), FORMATS["float64"]) == q.numerator / q.denominator


@many
@given(st.floats(allow_nan=False, allow_infinity=False), formats)
def test_numbers_of_a_format_are_themselves(x, name):
    """Rounding a float of a format gives that float; a float64 in a narrower
    format is what NumPy's conversion gives."""
    held = mpfr_nearest(Fraction(x), name)
    assert same(nearest(read(Fraction(x)), FORMATS[name]), held if x else 0.0)
    if math.isfinite(held):
        assert nearest(read(Fraction(held)), FORMATS[name]) == held
    if name.startswith("float") and "_" not in name:
        with np.errstate(over="ignore"):
            assert float(np.array(x).astype(name)) == held


@many
@given(st.floats(allow_nan=False, allow_infinity=False, width=32), narrow)
def test_narrow_formats_are_those_of_ml_dtypes(x, name):
    """A float32 becomes the bfloat16 and float8 that ml_dtypes converts it to; from
    float64 it rounds twice."""
    with np.errstate(over="ignore"):
        held = float(np.float32(x).astype(getattr(ml_dtypes, name)))
    assert same(nearest(read(Fraction(x)), FORMATS[name]), held if x else 0.0)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_ties_go_to_even_between_all_neighbours(name):
    """Between neighbours of a 16-bit format, subnormal ones included: half way
    goes to the even one, a touch beside it to the nearer one."""
    numbers = every_finite(name)
    places = [*range(40), *range(40, len(numbers) - 1, 173), len(numbers) - 2]
    touch = Fraction(1, 10**200)
    for place in places:
        low, high = (Fraction(float(x)) for x in numbers[place : place + 2])
        even = low if place % 2 == 0 else high
        middle = (low + high) / 2
        form = FORMATS[name]
        assert Fraction(nearest(read(middle), form)) == even
        assert Fraction(nearest(read(-middle), form)) == -even
        assert Fraction(nearest(read(middle) + read(touch), form)) == high
        assert Fraction(nearest(read(middle) - read(touch), form)) == low


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_the_ends_of_the_range(name):
    """The largest number, overflow half a unit above it, the smallest subnormal,
    and the tie with zero below it."""
    form = FORMATS[name]
    unit = Fraction(2) ** (form.highest - form.digits + 1)
    largest = form.number(form.count - 1)
    beyond = math.nan if form.unused else math.inf
    touch = unit / 10**30
    for sign in (1, -1):
        assert nearest(read(sign * largest), form) == sign * float(largest)
        assert nearest(read(sign * (largest + unit / 2 - touch)), form) == sign * float(largest)
        # The largest is odd but in E4M3, whose odd one stands for what is no number.
        middle = nearest(read(sign * (largest + unit / 2)), form)
        assert same(middle, sign * (float(largest) if form.unused else math.inf))
        assert same(nearest(read(sign * (largest + unit)), form), sign * beyond)
        smallest = Fraction(2) ** (form.lowest - form.digits + 1)
        assert nearest(read(sign * smallest), form) == sign * float(smallest)
        assert nearest(read(sign * smallest / 2), form) == 0
        above = read(sign * smallest / 2) * read("1 + 1e-50")
        assert nearest(above, form) == sign * float(smallest)
        assert nearest(read(sign * smallest * Fraction(3, 2)), form) == sign * float(2 * smallest)


def test_the_formats_are_numpys():
    """Digits and range of the formats are those that NumPy reports."""
    for name in ("float64", "float32", "float16"):
        known, form = np.finfo(name), FORMATS[name]
        assert (known.nmant + 1, known.minexp, known.maxexp - 1) == (
            form.digits,
            form.lowest,
            form.highest,
        )
    with pytest.raises(Malformed, match="unknown format 'decimal': expected one of float64"):
        float_format("decimal")


@some
@given(st.fractions(-720, 720).map(lambda q: Fraction(round(q * 64), 64)), formats)
def test_exponentials_round_as_in_mpfr(x, name):
    """exp of a dyadic number is MPFR's correctly rounded exponential."""
    with gmpy2.context(precision=200):
        argument = gmpy2.mpfr(gmpy2.mpq(x))
    with arithmetic(name):
        expected = beyond(float(gmpy2.exp(argument)), name)
    assert same(nearest(read(x).exp(), FORMATS[name]), expected)


@some
@given(field_texts, formats)
def test_closed_forms_round_as_in_mpfr(text, name):
    """Quotients of exponential sums round as MPFR's 900 bits of them do."""
    value = read(text)
    whole = value.rational()
    near = mpfr(text) if whole is None else Fraction(int(whole.p), int(whole.q))
    assert same(nearest(value, FORMATS[name]), mpfr_nearest(near, name))


@few
@given(st.lists(field_texts, min_size=2, max_size=6), formats)
def test_rounding_is_monotonic(texts, name):
    """A larger value never has a smaller nearest number."""
    pairs = sorted((mpfr(text), nearest(read(text), FORMATS[name])) for text in texts)
    floats = [found for _, found in pairs]
    assert floats == sorted(floats)


@pytest.mark.parametrize("exponent", ["1e4", "1e6", "1e12", "1e17", "1e30"])
def test_towering_exponentials_overflow_and_underflow(exponent):
    """e^(+-10^k) is infinity or zero, at once."""
    for form in FORMATS.values():
        beyond = math.nan if form.unused else math.inf
        assert same(nearest(read(f"exp({exponent})"), form), beyond)
        assert same(nearest(read(f"-exp({exponent})"), form), -beyond)
        assert same(nearest(read(f"exp(-{exponent})"), form), 0.0)
        assert same(nearest(read(f"-exp(-{exponent})"), form), -0.0)


def test_near_misses_of_a_tie_are_seen():
    """1 + 2^-53 is a tie; e^-200 more or less decides it."""
    tie = read(1) + read(Fraction(1, 2**53))
    form = FORMATS["float64"]
    assert nearest(tie, form) == 1.0
    assert nearest(tie + read("exp(-200)"), form) == math.nextafter(1.0, 2.0)
    assert nearest(tie - read("exp(-200)"), form) == 1.0


@some
@given(st.lists(st.one_of(scaled, wide_fractions), min_size=1, max_size=8), formats)
def test_floats_that_are_certain_together_are_nearest(numbers, name):
    """Many at once are rounded as one by one wherever that is called certain, which it is
    but beside a tie, a power of two and next to nothing."""
    form = FORMATS[name]
    floats, certain = rounded(of_balls([read(q).ball(128) for q in numbers], 128), form)
    for q, found, sure in zip(numbers, floats, certain, strict=True):
        near = nearest(read(q), form)
        assert not sure or same(found, near)
        unit = unit_of(near, form)
        middling = near != 0 and math.isfinite(near) and abs(math.frexp(near)[0]) != 0.5
        beside = abs(2 * abs(q - Fraction(near)) - unit) < unit / 2**40 if middling else True
        assert sure or not middling or beside or abs(q) >= 2**1000 or abs(q) <= Fraction(1, 2**900)


def unit_of(x, form):
    """The distance of the format's numbers at a finite float."""
    exponent = max(math.frexp(x)[1] - 1, form.lowest)
    return Fraction(2) ** (exponent - form.digits + 1)


def test_balls_beyond_the_range_are_not_certain():
    """Beyond the largest float, below the smallest, and without bounds."""
    with precision(128):
        tall, tiny = arb(2) ** 5000, arb(2) ** -5000
        balls = [tall, -tall, tiny, -tiny, arb(0, 1e300), arb("nan"), arb("inf"), arb(1.5)]
        certain = rounded(of_balls(balls, 128), FORMATS["float64"])[1]
        assert list(certain) == [False] * 7 + [True]


def test_a_wide_ball_certifies_nothing():
    """A ball that spans several floats, a tie or zero is not certain; a masked score is."""
    with precision(128):
        tie = arb(1.5) + arb(2) ** -53
        balls = [arb(1.5, 1e-10), arb(1.5), arb(1), arb(0, 1e-300), arb(0), tie, None]
    floats, certain = rounded(of_balls(balls, 128), FORMATS["float64"])
    assert list(certain) == [False, True, True, False, True, False, True]
    assert (floats[1], floats[2], floats[6]) == (1.5, 1.0, -math.inf)
