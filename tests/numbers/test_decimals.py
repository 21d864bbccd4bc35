"""A printed digit is certain: decimals are correctly rounded in every mode."""

from __future__ import annotations

import decimal
import itertools
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

import gmpy2
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from symattn import solve
from symattn.errors import Malformed, Undecided
from symattn.numbers import rounding
from symattn.numbers.balls import precision
from symattn.numbers.reading import read
from symattn.numbers.rounding import MODES, RoundingMode, significant
from symattn.numbers.values import Value, rational

from ..strategies import few, field, many, some, wide_fractions

PYTHONS: dict[RoundingMode, str] = {
    "half-even": decimal.ROUND_HALF_EVEN,
    "half-up": decimal.ROUND_HALF_UP,
    "half-down": decimal.ROUND_HALF_DOWN,
    "down": decimal.ROUND_DOWN,
    "up": decimal.ROUND_UP,
    "floor": decimal.ROUND_FLOOR,
    "ceiling": decimal.ROUND_CEILING,
}
HUGE = decimal.Context(prec=2000, Emax=10**6, Emin=-(10**6))
modes = st.sampled_from(sorted(MODES))


def rounded(q, places, mode):
    """A Fraction rounded to whole units of the last place."""
    x = q * 10**places
    near = [floor(x), ceil(x)]
    if mode == "floor":
        return near[0]
    if mode == "ceiling":
        return near[1]
    towards, away = sorted(near, key=abs)
    if mode == "down":
        return towards
    if mode == "up":
        return away
    gaps = [abs(x - towards), abs(x - away)]
    if gaps[0] != gaps[1]:
        return towards if gaps[0] < gaps[1] else away
    even = towards if towards % 2 == 0 else away
    return {"half-even": even, "half-up": away, "half-down": towards}[mode]


def test_all_modes_are_named():
    """The modes are those of Python's decimal, but for ROUND_05UP."""
    assert MODES.keys() == PYTHONS.keys()
    with pytest.raises(Malformed, match="unknown rounding 'nearest': expected one of half-even"):
        rounding.decimal(read(1), 2, "nearest")  # type: ignore[arg-type]


@many
@given(wide_fractions, st.integers(0, 60), modes)
def test_rationals_round_as_fractions_do(q, places, mode):
    """Against arithmetic on Fractions, in all modes."""
    found = rounding.decimal(read(q), places, mode)
    assert found.as_tuple().exponent == -places
    assert Fraction(found) * 10**places == rounded(q, places, mode)


@many
@given(st.integers(-(10**12), 10**12), st.integers(0, 15), st.integers(-2, 2), modes)
def test_ties_are_decided_exactly(count, places, nudge, mode):
    """Half way between two decimals the mode decides, and a 10^-300 beside it doesn't."""
    q = Fraction(2 * count + 1, 2 * 10**places) + Fraction(nudge, 10**300)
    assert Fraction(rounding.decimal(read(q), places, mode)) * 10**places == rounded(
        q, places, mode
    )


@pytest.mark.heavy
@many
@given(
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20),
    st.integers(0, 40),
    modes,
)
def test_decimals_round_as_in_python(d, places, mode):
    """Against Python's decimal at 2000 digits, in all modes."""
    expected = d.quantize(Decimal(1).scaleb(-places), rounding=PYTHONS[mode], context=HUGE)
    assert rounding.decimal(read(d), places, mode) == expected


@some
@given(st.integers(-30, 30), st.integers(1, 9), st.integers(1, 7), st.integers(0, 60), modes)
def test_exponentials_round_as_in_python(p, q, r, places, mode):
    """exp(p/q)/(exp(p/q) + sqrt(r)) against Python's decimal at 200 digits."""
    with decimal.localcontext(decimal.Context(prec=200)):
        power = (Decimal(p) / q).exp()
        expected = power / (power + Decimal(r).sqrt())
        expected = expected.quantize(Decimal(1).scaleb(-places), rounding=PYTHONS[mode])
        value = read(f"exp({p}/{q})/(exp({p}/{q}) + sqrt({r}))")
        assert rounding.decimal(value, places, mode) == expected


@few
@given(field, field, st.integers(0, 30), modes)
def test_rounding_is_monotonic(a, b, places, mode):
    """A larger value never rounds to a smaller decimal."""
    low, high = (a, b) if (b - a).sign() >= 0 else (b, a)
    assert rounding.decimal(low, places, mode) <= rounding.decimal(high, places, mode)


@some
@given(field, st.integers(0, 30), modes)
def test_the_rounded_value_is_within_its_unit(value, places, mode):
    """A decimal is within one unit in its last place, half a unit when rounding to nearest,
    and on the side that its mode says."""
    error = value - read(rounding.decimal(value, places, mode))
    unit = read(Fraction(1, 10**places))
    bound = read("1/2") * unit if mode.startswith("half") else unit
    assert (bound - error).sign() >= 0
    assert (bound + error).sign() >= 0
    sides = {"floor": 1, "ceiling": -1, "down": value.sign(), "up": -value.sign()}
    assert error.sign() in (0, sides.get(mode, error.sign()))


@dataclass(frozen=True)
class Enclosed:
    """A number with a ball that stays as it is up to 512 bits."""

    value: Value
    low: Fraction
    high: Fraction

    def ball(self, bits):
        if bits > 512:
            return self.value.ball(bits)
        with precision(2048):
            return arb(fmpq(*self.low.as_integer_ratio())).union(
                arb(fmpq(*self.high.as_integer_ratio()))
            )


@pytest.mark.parametrize("mode", sorted(MODES))
def test_an_end_of_a_ball_may_be_where_the_rounding_jumps(mode):
    """Wherever in a ball the number is, and however wide that is: of numbers near 2^510 the
    ends of balls of 512 bits are whole and half numbers."""
    tiny = Fraction(1, 2**70)
    widths = [tiny, Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(3, 2)]
    for base, half, width in itertools.product((0, 2**510, 2**511, -(2**510)), range(3), widths):
        low = base + Fraction(half, 2)
        for share in (0, tiny, Fraction(1, 2), 1 - tiny, 1):
            q = low + share * width
            real = Enclosed(rational(fmpq(q.numerator, q.denominator)), low, low + width)
            assert Fraction(rounding.decimal(real, 0, mode)) == rounded(q, 0, mode), (q, low)


@pytest.mark.parametrize("name", ["please-study-man", "cat-sat-mat"])
def test_as_many_digits_as_a_ball_has(name):
    """Where a number times ten to the places is about 2^512 or 2^2048, balls of as many bits
    have whole numbers as ends; 60 places more tell what is right."""
    Y = solve(name)["Y"]
    for places in (*range(152, 156), *range(614, 618)):
        unit = Decimal(1).scaleb(-places)
        longer = Y.decimal(places + 60, "down")
        for mode, python in PYTHONS.items():
            for row, exact in zip(Y.decimal(places, mode), longer, strict=True):
                assert row == tuple(x.quantize(unit, rounding=python, context=HUGE) for x in exact)


def test_a_digit_that_was_wrong():
    """Entry (1, 1) goes on with 4703."""
    assert str(solve("please-study-man")["Y"].decimal(153)[1][1]).endswith("082870")


@pytest.mark.parametrize("mode", sorted(MODES))
def test_zeros_are_zero_in_every_mode(mode):
    """An exact zero, however it is written, is 0 even where tiny numbers round up."""
    zeros = ["0", "sqrt(8) - 2*sqrt(2)", "exp(1)/(1 + exp(1)) + 1/(1 + exp(1)) - 1"]
    for text in zeros:
        assert str(rounding.decimal(read(text), 3, mode)) == "0.000"
        assert significant(read(text), 3, mode) == 0


@pytest.mark.parametrize(
    ("text", "places", "shown"),
    [
        ("1/8", 2, ["0.12", "0.13", "0.12", "0.12", "0.13", "0.12", "0.13"]),
        ("-1/8", 2, ["-0.12", "-0.13", "-0.12", "-0.12", "-0.13", "-0.13", "-0.12"]),
        ("3/8", 2, ["0.38", "0.38", "0.37", "0.37", "0.38", "0.37", "0.38"]),
        ("1/2", 0, ["0", "1", "0", "0", "1", "0", "1"]),
        ("-5/2", 0, ["-2", "-3", "-2", "-2", "-3", "-3", "-2"]),
        ("exp(-2000)", 1, ["0.0", "0.0", "0.0", "0.0", "0.1", "0.0", "0.1"]),
        ("-exp(-2000)", 1, ["0.0", "0.0", "0.0", "0.0", "-0.1", "-0.1", "0.0"]),
        ("1/8 + exp(-2000)", 2, ["0.13", "0.13", "0.13", "0.12", "0.13", "0.12", "0.13"]),
        ("1/8 - exp(-2000)", 2, ["0.12", "0.12", "0.12", "0.12", "0.13", "0.12", "0.13"]),
        ("(exp(1) - exp(1) + 5)/1000", 2, ["0.00", "0.01", "0.00", "0.00", "0.01", "0.00", "0.01"]),
    ],
)
def test_known_ties(text, places, shown):
    """Ties and near-ties in every mode, where floating point rounds at random."""
    found = [str(rounding.decimal(read(text), places, mode)) for mode in PYTHONS]
    assert found == shown


def test_saturated_softmax_keeps_its_digits():
    """(1 - p)^2 for p = e^400/(e^400 + e^-400) is 1.345e-695; SymPy says 2.888e-275."""
    rest = read(1) - read("exp(400)/(exp(400) + exp(-400))")
    with decimal.localcontext(decimal.Context(prec=400)):
        small = 1 / (Decimal(800).exp() + 1)
        expected = small * small
    assert str(significant(rest * rest, 4)) == "1.345E-695"
    for digits in (1, 10, 30, 100):
        found = significant(rest * rest, digits)
        assert found == decimal.Context(prec=digits).plus(expected)
    assert rounding.decimal(rest * rest, 700) == expected.quantize(Decimal("1e-700"), context=HUGE)


#: Figures that walkthroughs print with a wrong last digit, and the right ones.
LAST_DIGITS = [
    ("exp(1)/(1 + exp(1/2) + exp(1))", "0.5066", "0.5065"),
    ("exp(1/2)/(1 + exp(1/2) + exp(1))", "0.3071", "0.3072"),
    ("exp(1/2)/(2 + exp(1/2))", "0.4518", "0.4519"),
    ("(1 + exp(1/2))/(1 + exp(1/2) + exp(1))", "0.4934", "0.4935"),
    ("exp(1)/(1 + exp(1/2) + exp(1))", "0.507", "0.506"),
    ("(1 + exp(1/2))/(1 + exp(1/2) + exp(1))", "0.493", "0.494"),
    ("exp(1)/(2 + exp(1))", "0.5762", "0.5761"),
    ("100*exp(1)/(1 + exp(1/2) + exp(1))", "50.7", "50.6"),
    ("(2 + exp(1))/(1 + 2*exp(1))", "0.732", "0.733"),
    ("2*exp(1)/(1 + 2*exp(1))", "0.844", "0.845"),
]


@pytest.mark.parametrize(("text", "printed", "right"), LAST_DIGITS)
def test_last_digits_that_were_printed_wrong(text, printed, right):
    """The last digits that go wrong when a weight is rounded from rounded numbers;
    MPFR at 200 bits agrees with ours."""
    places = len(right.partition(".")[2])
    found = rounding.decimal(read(text), places)
    assert str(found) == right != printed
    with gmpy2.context(precision=200):
        names = {"exp": lambda x: gmpy2.exp(gmpy2.mpfr(x))}
        near = eval(text.replace("1/2", "0.5"), names)
        assert format(near, f".{places}f") == right


def test_digits_by_the_thousand():
    """A thousand places of e, and whole parts of more than 5000 digits, all right."""
    with gmpy2.context(precision=4000):
        assert str(rounding.decimal(read("exp(1)"), 1000, "down")) == format(
            gmpy2.exp(1), ".1000Df"
        )
    with gmpy2.context(precision=40_000):
        expected = format(gmpy2.exp(20_000), ".2f")
        assert str(rounding.decimal(read("exp(20000)"), 2)) == expected
    assert rounding.decimal(read("*".join(["1e400"] * 100)), 1) == Decimal(10) ** 40_000


@some
@given(wide_fractions.filter(bool), st.integers(1, 40), modes)
def test_significant_digits_are_as_in_python(q, digits, mode):
    """Rationals to significant digits, against Python's decimal: no digit more or less."""
    context = decimal.Context(prec=digits, rounding=PYTHONS[mode])
    expected = context.divide(Decimal(q.numerator), Decimal(q.denominator))
    found = significant(read(q), digits, mode)
    assert found == expected
    assert len(found.as_tuple().digits) == digits


def test_rounding_up_to_a_power_of_ten_adds_no_digit():
    """9.996 to three digits is 10.0."""
    assert str(significant(read("9.996"), 3)) == "10.0"
    assert str(significant(read("-0.09996"), 3)) == "-0.100"


@pytest.mark.parametrize("places", [-1, 1001, 10**9])
def test_places_have_a_limit(places):
    """Places outside the limits are refused, for both kinds of digits."""
    with pytest.raises(Malformed, match="expected 0 to 1000 places"):
        rounding.decimal(read(1), places)
    with pytest.raises(Malformed, match="expected 1 to 1000 significant digits"):
        significant(read(1), places)


@pytest.mark.parametrize("exponent", ["1e6", "1e9", "1e12", "1e17", "1e30", "1e400"])
def test_towering_exponents_are_no_danger(exponent):
    """e^(+-10^k) is rounded where its digits are few, and else given up with an
    error: it is never written out."""
    tiny = read(f"exp(-{exponent})")
    assert rounding.decimal(tiny, 5) == 0
    weight = read(f"exp({exponent})/(1 + exp({exponent}))")
    assert rounding.decimal(weight, 5) == 1
    with pytest.raises(Undecided, match="is not settled at 32768 bits"):
        rounding.decimal(read(f"exp({exponent})"), 5)
    with pytest.raises((Malformed, Undecided), match=r"beyond 10\^100000|not settled"):
        significant(tiny, 3)


def test_opaque_values_round_until_a_digit_stays_in_doubt():
    """Logarithms have certain digits; a logarithm that sits on a boundary is undecided."""
    value = read(2).log() + read(3).log() - read(6).log()
    assert str(rounding.decimal(read(2).log(), 10)) == "0.6931471806"
    assert rounding.decimal(value, 5) == 0
    with pytest.raises(Undecided, match="is not settled"):
        rounding.decimal(value, 5, "up")
