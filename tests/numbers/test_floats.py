"""The nearest float64, float32, float16 and bfloat16, as IEEE 754 has them."""

from __future__ import annotations

import math
from fractions import Fraction

import gmpy2
import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from symattn.errors import Malformed
from symattn.numbers.balls import precision
from symattn.numbers.reading import read
from symattn.numbers.rounding import (
    FORMATS,
    certified_float,
    certified_floats,
    float_format,
    nearest,
)

from ..oracle import mpfr
from ..strategies import few, field_texts, many, some, wide_fractions

formats = st.sampled_from(sorted(FORMATS))


def arithmetic(name):
    """MPFR set up as the format: its digits, its range and its gradual underflow."""
    if name == "bfloat16":
        return gmpy2.context(precision=8, emax=128, emin=-132, subnormalize=True)
    return gmpy2.ieee(int(name.removeprefix("float")))


def mpfr_nearest(q, name):
    """A Fraction rounded by MPFR."""
    with arithmetic(name):
        return float(gmpy2.mpfr(gmpy2.mpq(q)))


def every_finite(name):
    """All non-negative finite numbers of a 16-bit format, in order."""
    if name == "float16":
        return np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    bits = np.arange(0x7F80, dtype=np.uint32) << 16
    return bits.view(np.float32).astype(np.float64)


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
    assert nearest(read(q) if abs(q) else read(0), FORMATS[name]) == mpfr_nearest(q, name)


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
    assert nearest(read(Fraction(x)), FORMATS[name]) == held
    if math.isfinite(held):
        assert nearest(read(Fraction(held)), FORMATS[name]) == held
    if name != "bfloat16":
        with np.errstate(over="ignore"):
            assert float(np.array(x).astype(name)) == held


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
    largest = Fraction(2) ** (form.highest + 1) - unit
    touch = unit / 10**30
    for sign in (1, -1):
        assert nearest(read(sign * largest), form) == sign * float(largest)
        assert nearest(read(sign * (largest + unit / 2 - touch)), form) == sign * float(largest)
        assert nearest(read(sign * (largest + unit / 2)), form) == sign * math.inf
        assert nearest(read(sign * (largest + unit)), form) == sign * math.inf
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
    with pytest.raises(Malformed, match="unknown format 'float8': expected one of float64"):
        float_format("float8")  # type: ignore[arg-type]


@some
@given(st.fractions(-720, 720).map(lambda q: Fraction(round(q * 64), 64)), formats)
def test_exponentials_round_as_in_mpfr(x, name):
    """exp of a dyadic number is MPFR's correctly rounded exponential."""
    with gmpy2.context(precision=200):
        argument = gmpy2.mpfr(gmpy2.mpq(x))
    with arithmetic(name):
        expected = float(gmpy2.exp(argument))
    assert nearest(read(x).exp(), FORMATS[name]) == expected


@some
@given(field_texts, formats)
def test_closed_forms_round_as_in_mpfr(text, name):
    """Quotients of exponential sums round as MPFR's 900 bits of them do."""
    value = read(text)
    whole = value.rational()
    near = mpfr(text) if whole is None else Fraction(int(whole.p), int(whole.q))
    assert nearest(value, FORMATS[name]) == mpfr_nearest(near, name)


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
        assert nearest(read(f"exp({exponent})"), form) == math.inf
        assert nearest(read(f"-exp({exponent})"), form) == -math.inf
        assert nearest(read(f"exp(-{exponent})"), form) == 0


def test_near_misses_of_a_tie_are_seen():
    """1 + 2^-53 is a tie; e^-200 more or less decides it."""
    tie = read(1) + read(Fraction(1, 2**53))
    form = FORMATS["float64"]
    assert nearest(tie, form) == 1.0
    assert nearest(tie + read("exp(-200)"), form) == math.nextafter(1.0, 2.0)
    assert nearest(tie - read("exp(-200)"), form) == 1.0


@some
@given(st.lists(st.one_of(scaled, wide_fractions), min_size=1, max_size=8))
def test_floats_certified_together_are_nearest(numbers):
    """certified_floats gives the nearest float64, and calls certain all but powers
    of two, ties and what is very large or small."""
    # Beyond the largest float Python divides to no float at all.
    numbers = [q for q in numbers if abs(q) < 2**1023]
    with precision(128):
        floats, certain = certified_floats([read(q).ball(128) for q in [0, *numbers]])
    for q, found, sure in zip([Fraction(0), *numbers], floats, certain, strict=True):
        near = q.numerator / q.denominator
        tie = 2 * abs(q - Fraction(near)) == Fraction(math.ulp(near))
        middling = 1e-290 < abs(near) < 1e290 and abs(math.frexp(near)[0]) != 0.5
        assert bool(sure) is (q == 0 or (middling and not tie))
        assert not sure or found == near


def test_balls_beyond_float64_are_not_certain():
    """Beyond the largest float, below the smallest, and without bounds."""
    with precision(128):
        tall, tiny = arb(2) ** 5000, arb(2) ** -5000
        balls = [tall, -tall, tiny, -tiny, arb(0, 1e300), arb("nan"), arb("inf"), arb(1.5)]
        certain = certified_floats(balls)[1]
        assert list(certain) == [False] * 7 + [True]
        assert [certified_float(ball) for ball in balls] == [None] * 7 + [1.5]


def test_a_wide_ball_certifies_nothing():
    """A ball that spans several floats, a tie or a power of two is not certain."""
    with precision(128):
        balls = [arb(1.5, 1e-10), arb(1.5), arb(1), arb(0, 1e-300), arb(0)]
        tie = arb(1.5) + arb(2) ** -53
        floats, certain = certified_floats([*balls, tie])
    assert list(certain) == [False, True, False, False, True, False]
    assert floats[1] == 1.5
