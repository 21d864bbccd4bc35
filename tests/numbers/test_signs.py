"""Zero, positive and negative: decided, under a budget, or said to be undecided."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from symattn.errors import Malformed, Undecided
from symattn.numbers import lazy, zero_test
from symattn.numbers.quotients import expansion
from symattn.numbers.reading import read
from symattn.numbers.values import of_parts, rational, total
from symattn.verdicts import Verdict

from ..strategies import field, fractions, some, waves


def digits_of_e(count):
    """e cut off behind so many decimals."""
    with mpmath.workdps(count + 20):
        return rational(fmpq(int(mpmath.floor(mpmath.e * mpmath.mpf(10) ** count)), 10**count))


@pytest.mark.parametrize("count", [10, 60, 300, 2000])
def test_a_small_difference_has_a_sign(count):
    """e is more than its first 2000 digits, and less than those and one more in the last."""
    near = digits_of_e(count)
    assert (read("exp(1)") - near).sign() == 1
    assert (near + fmpq(1, 10**count) - read("exp(1)")).sign() == 1
    assert (near - read("exp(1)")).sign() == -1


def test_a_difference_below_the_last_precision_is_not_zero_but_has_no_sign():
    """The normal form knows that e is not rational; which is larger is given up."""
    difference = read("exp(1)") - digits_of_e(12000)
    assert difference.is_zero() is Verdict.REFUTED
    with pytest.raises(Undecided, match="can't decide the sign"):
        difference.sign()


@pytest.mark.parametrize("power", [100, 1000, 4000, 9000])
def test_opaque_values_that_differ_a_little_are_told_apart(power):
    """log(6) + exp(-9000) is not log(2) + log(3): seen with enough bits."""
    doubt = read(2).log() + read(3).log() - read(6).log()
    assert doubt.is_zero() is Verdict.UNDECIDED
    assert (doubt + read(f"exp(-{power})")).is_zero() is Verdict.REFUTED


def test_opaque_values_closer_than_the_last_precision_are_undecided():
    """exp(-30000) is below what the last precision shows."""
    doubt = read(2).log() + read(3).log() - read(6).log() + read("exp(-30000)")
    assert doubt.is_zero() is Verdict.UNDECIDED
    with pytest.raises(Undecided, match=r"can't decide the sign of e\^\(-30000\) \+ log\(2\)"):
        doubt.sign()


def test_opaque_numbers_before_symbols_are_undecided():
    """log(2) g + log(3) g - log(6) g may be zero; log(2) g + g h is not the same as g."""
    g, h = (read(name, symbols=True) for name in "gh")
    two, three, six = (rational(k).log() for k in (2, 3, 6))
    assert (two * g + three * g - six * g).is_zero() is Verdict.UNDECIDED
    assert (g * h - h * g).is_zero() is Verdict.HOLDS
    assert (g * h - h).is_zero() is Verdict.REFUTED
    assert (g / (1 + g) + 1 / (1 + g)).is_zero() is Verdict.REFUTED
    assert (g / (1 + g) + 1 / (1 + g) - 1).is_zero() is Verdict.HOLDS


def test_the_common_denominator_has_a_budget(monkeypatch):
    """A zero whose parts have several denominators is decided by multiplying
    them out, if that takes few enough products; else it is undecided."""
    z, w = read("1 + exp(1) + exp(2)"), read("2 + exp(3)")
    parts = (1 / z + 1 / w + (-z - w) / (z * w)).parts
    assert len(parts) == 3
    assert expansion(parts) == 3 * 2 * 6 * (1 + 1 + 4)
    assert of_parts(parts).is_zero() is Verdict.HOLDS
    assert of_parts(parts).sign() == 0
    monkeypatch.setattr(zero_test, "EVALUATED", 0)
    monkeypatch.setattr(lazy, "EXPANSION", 216)
    assert of_parts(parts).is_zero() is Verdict.HOLDS
    monkeypatch.setattr(lazy, "EXPANSION", 215)
    assert of_parts(parts).is_zero() is Verdict.UNDECIDED
    with pytest.raises(Undecided, match="can't decide the sign of"):
        of_parts(parts).sign()


@pytest.mark.heavy
@some
@given(field, st.integers(16, 200))
def test_an_enclosure_holds_more_precise_ones(value, bits):
    """Balls at 60 and at more bits overlap, and the precise one is the narrower."""
    wide, narrow = value.ball(60), value.ball(60 + bits)
    assert wide.overlaps(narrow)
    assert narrow.rad() <= wide.rad() or value.ball(60).is_exact()


def test_symbols_have_no_enclosure():
    """Above or below the line; the refusal shows the form, cut short."""
    g = read("g", symbols=True)
    for value in (g, 1 / (2 + g), total(g * read(f"exp({k}/7)") for k in range(60))):
        with pytest.raises(Malformed, match="has symbols in it and is not one number") as caught:
            value.ball(64)
        assert len(str(caught.value)) < 260


# -- maxima and signs --------------------------------------------------------------------------

numbers = field | fractions.map(read) | waves.map(read)


@some
@given(numbers, numbers, numbers)
def test_the_larger_of_two_is_one_of_them(x, y, z):
    """No less than either, in any order and grouping; the smaller is the other one."""
    larger, smaller = x.maximum(y), -((-x).maximum(-y))
    assert larger >= x >= smaller
    assert larger >= y >= smaller
    assert larger + smaller == x + y
    assert x.maximum(y.maximum(z)) == z.maximum(x).maximum(y)
    assert x.maximum(-x) == abs(x) == x * x.sign()


@pytest.mark.parametrize(
    ("left", "right", "shown"),
    [
        ("sin(1)*sin(1) + cos(1)*cos(1)", "1", "1"),
        ("pi", "355/113", "355/113"),
        ("erf(1)", "843/1000", "843/1000"),
        ("log(2)*erf(2)", "-pi", "erf(2)*log(2)"),
        ("sqrt(2) + sqrt(3)", "sqrt(5 + 2*sqrt(6))", "sqrt(2) + sqrt(3)"),
    ],
)
def test_maxima_are_decided_wherever_signs_are(left, right, shown):
    """Equal numbers by their normal form, others by balls; plain numbers stand on either side."""
    assert str(read(left).maximum(read(right))) == shown
    assert str(read(right).maximum(read(left))) == shown
    assert read(left).maximum(Fraction(99, 2)) == Fraction(99, 2)


def test_a_maximum_that_nobody_knows_is_no_guess():
    """log(2) + log(3) and log(6) may differ somewhere, and so may their order."""
    x, y = read(2).log() + read(3).log(), read(6).log()
    with pytest.raises(Undecided, match=r"which is larger, log\(2\) \+ log\(3\) or log\(6\)"):
        x.maximum(y)
    with pytest.raises(Undecided, match="can't decide the sign"):
        (x - y).sign()


def test_maxima_are_of_numbers():
    """Not of forms in symbols, but where these cancel, nor of anything else."""
    form = read("g + 1", symbols=True)
    assert form.maximum(form + 1) - form == 1
    with pytest.raises(Undecided, match=r"which is larger, 1 or 1 \+ g: .* depends on g"):
        read(1).maximum(form)
    with pytest.raises(Malformed, match="expected a number to compare with, found list"):
        read(1).maximum([1])  # type: ignore[arg-type]
    with pytest.raises(Malformed, match=r"0\.5 is a float, not an exact number"):
        read(1).maximum(0.5)  # type: ignore[arg-type]
