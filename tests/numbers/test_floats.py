"""The nearest float64, float32, float16 and bfloat16, as IEEE 754 has them."""

from __future__ import annotations

import bisect
import itertools
import math
import random
from fractions import Fraction

import gmpy2
import ml_dtypes
import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from symattn import attention
from symattn.errors import Malformed
from symattn.numbers.balls import precision
from symattn.numbers.double_double import DoubleDouble, of_balls
from symattn.numbers.float_formats import FORMATS, float_format, nearest, rounded, rounded_balls
from symattn.numbers.reading import read
from symattn.testing.attention_steps import rounded_to

from ..oracle import mpfr
from ..strategies import few, field_texts, many, some, wide_fractions

formats = st.sampled_from(sorted(FORMATS))
narrow = st.sampled_from(["bfloat16", *(name for name in sorted(FORMATS) if "float8" in name)])


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


#: The largest numbers of formats that have no infinity.
LARGEST = {"float8_e4m3fn": 448, "float8_e4m3fnuz": 240, "float8_e5m2fnuz": 57344}


def beyond(x, name):
    """What MPFR gives where a format has other numbers: no infinity, no minus zero."""
    if name.endswith("fnuz") and x == 0:
        return 0.0
    return math.nan if abs(x) > LARGEST.get(name, math.inf) else x


@pytest.mark.parametrize("name", [*FORMATS])
def test_what_a_format_lacks_is_what_a_cast_makes_of_it(name):
    """Minus infinity, of a masked score and of the logarithm of an empty sum, and what is beyond
    the largest number: infinite where the format has that, else NaN, as ml_dtypes casts them. By
    floats, by balls, and of exact values."""
    form, kind = FORMATS[name], getattr(ml_dtypes, name, name)

    def cast(x):
        return float(np.array(x).astype(np.float64).astype(kind))

    with np.errstate(over="ignore"):
        beyond = [] if name == "float64" else [1e6 * 2.0**form.highest]
        for x in (-math.inf, *beyond, *(-x for x in beyond)):
            found, certain = rounded(DoubleDouble(*(np.array([y]) for y in (x, 0.0, 0.0))), form)
            assert same(found[0], cast(x))
            assert certain[0]
    masked, _ = rounded_balls([None], 128, form)
    assert same(masked[0], cast(-math.inf))
    hidden = attention([["2"]], [[1], [3]], [["1"], [2]], mask=[[1, 0]], on_empty_row="zero")
    lettered = attention([["a"]], [[1], [3]], [[1], [2]], mask=[[1, 0]], symbols="a")
    for scores in (hidden.scores, lettered.scores.at(a=2)):
        assert same(float(scores.nearest(name)[0, 1]), cast(-math.inf))
    empty = attention([[2]], [[1]], [[1]], mask=[[0]], on_empty_row="zero")
    assert same(float(empty.lse.nearest(name)[0]), cast(-math.inf))
    assert same(rounded_to(np.array([-math.inf]), name)[0], cast(-math.inf))


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
    beyond = form.overflow
    touch = unit / 10**30
    for sign in (1, -1):
        assert nearest(read(sign * largest), form) == sign * float(largest)
        assert nearest(read(sign * (largest + unit / 2 - touch)), form) == sign * float(largest)
        # The largest is odd but in E4M3, whose odd one stands for what is no number.
        middle = nearest(read(sign * (largest + unit / 2)), form)
        assert same(middle, sign * (float(largest) if form.unused else beyond))
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
        assert same(nearest(read(f"exp({exponent})"), form), form.overflow)
        assert same(nearest(read(f"-exp({exponent})"), form), -form.overflow)
        assert same(nearest(read(f"exp(-{exponent})"), form), 0.0)
        assert same(nearest(read(f"-exp(-{exponent})"), form), -0.0 if form.minus_zero else 0.0)


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
    """Many at once are rounded as one by one wherever that is called certain."""
    form = FORMATS[name]
    floats, certain = rounded(of_balls([read(q).ball(128) for q in numbers], 128), form)
    for q, found, sure in zip(numbers, floats, certain, strict=True):
        assert not sure or same(found, nearest(read(q), form))


def neighbours(form, start):
    """Numbers of the format by their definition, in order: some up and down from a power of two
    that is one, or from 0 on; and those beyond the range that are next."""
    up, down = [start], [start]
    while len(up) < 5:
        up.append(up[-1] + distance(up[-1], form))
    is_power = not start.numerator & (start.numerator - 1) and start > Fraction(2) ** form.lowest
    while len(down) < 4 and down[0]:
        down.insert(0, down[0] - distance(start, form) / (1 + is_power))
    return [*down[:-1], *up]


def distance(x, form):
    """From a dyadic rational to the next number of the format."""
    exponent = x.numerator.bit_length() - x.denominator.bit_length() if x else form.lowest
    return Fraction(2) ** (max(exponent, form.lowest) - form.digits + 1)


def around(form, start, rng, count):
    """Balls near the numbers and the ties around a power of two, or 0: their middles, radii and,
    of each, the float that is nearest if it lies in no doubt, and if it doesn't with some room.
    All are whole numbers of a unit so small that 106 bits hold them."""
    numbers = neighbours(form, start)
    largest = form.number(form.count - 1)
    kept = [x for x in numbers if x <= largest] + [x for x in numbers if x > largest][:1]
    floats = [float(x) if x <= largest else form.overflow for x in kept]
    deep = 103 - form.digits
    one = numbers[1] - numbers[0]
    exponent = one.numerator.bit_length() - one.denominator.bit_length() - deep
    kept = [int(x * Fraction(2) ** -exponent) for x in kept]
    edges = [(x + y) // 2 for x, y in itertools.pairwise(kept)]
    marks = [*edges, *kept[:-1], *kept[:1]]
    if not numbers[0]:
        # Below 0 there is minus zero, or nothing of its sign but a number.
        edges.insert(0, 0 if form.minus_zero else -edges[0])
        floats.insert(0, -0.0 if form.minus_zero else -floats[1])
    for _ in range(count):
        off, radius = (
            int(rng.choice([0, 2**deep, rng.random() * 2**deep])) >> rng.randrange(most)
            for most in (deep, 60)
        )
        middle, radius = rng.choice(marks) + rng.choice([1, -1]) * off, int(float(radius))
        low_end = 0 if not numbers[0] else kept[0] + radius
        if middle < low_end or (middle + radius > kept[-1] and math.isfinite(floats[-1])):
            continue
        cells = []
        for more in (radius, radius + (1 << deep - 46)):
            first = bisect.bisect_left(edges, middle - more)
            last = bisect.bisect_right(edges, middle + more)
            cells.append(floats[first] if first == last else None if middle or radius else 0.0)
        high = float(middle)
        low = float(middle - int(high))
        assert int(high) + int(low) == middle
        yield *(math.ldexp(x, exponent) for x in (high, low, float(radius))), *cells


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_doubts_are_where_a_tie_is(name):
    """Around powers of two, the smallest normal number, 0 and overflow, on both sides, with balls
    that reach a tie and such that don't: what is certain is right, and what does not come near
    a tie is certain."""
    form, rng = FORMATS[name], random.Random(name)
    lowest = form.lowest if name != "float64" else -800
    powers = {lowest, lowest + 1, lowest + 2, form.highest, form.highest - 1, 0, -1, 1}
    powers |= {rng.randrange(lowest, form.highest) for _ in range(4)}
    starts = [Fraction(2) ** k for k in sorted(powers)]
    if name != "float64":
        starts += [Fraction(0), Fraction(2) ** (form.lowest - 1), form.number(form.count - 4)]
    balls = [ball for start in starts for ball in around(form, start, rng, 1500)]
    high, low, radius, exact, roomy = zip(*balls, strict=True)
    assert len(balls) > 12500
    signs = np.array(rng.choices([1.0, -1.0], k=len(balls)))
    found, certain = rounded(DoubleDouble(signs * high, signs * low, np.array(radius)), form)
    told = zip(high, low, radius, signs, found, certain, exact, roomy, strict=True)
    for size, rest, off, sign, x, sure, right, clear in told:
        if sure and right is None:
            # A tie is certain where the number is exactly that.
            assert off == 0
            assert x == sign * nearest(read(Fraction(size) + Fraction(rest)), form)
        elif sure:
            assert same(x, sign * right if right or (size and form.minus_zero) else 0.0)
        assert sure or clear is None


def test_balls_beyond_the_range_are_not_certain():
    """Beyond the largest float, below the smallest, and without bounds."""
    with precision(128):
        tall, tiny = arb(2) ** 5000, arb(2) ** -5000
        balls = [tall, -tall, tiny, -tiny, arb(0, 1e300), arb("nan"), arb("inf"), arb(1.5)]
        certain = rounded(of_balls(balls, 128), FORMATS["float64"])[1]
        assert list(certain) == [False] * 7 + [True]


def test_a_wide_ball_certifies_nothing():
    """A ball that spans several floats, a tie or zero is not certain; a masked score is, and a
    number that is a tie exactly."""
    with precision(128):
        tie = arb(1.5) + arb(2) ** -53
        balls = [arb(1.5, 1e-10), arb(1.5), arb(1), arb(0, 1e-300), arb(0), tie, None]
    floats, certain = rounded(of_balls(balls, 128), FORMATS["float64"])
    assert list(certain) == [False, True, True, False, True, True, True]
    assert (floats[1], floats[2], floats[5], floats[6]) == (1.5, 1.0, 1.5, -math.inf)
