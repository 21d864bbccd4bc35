"""Numbers enter exactly or not at all."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import fmpq, fmpz
from hypothesis import given, settings
from hypothesis import strategies as st

import symattn
from symattn.cases.case import read_rows
from symattn.errors import Malformed
from symattn.expressions.syntax import parse
from symattn.numbers.arrays import from_floats
from symattn.numbers.reading import MASKED, Masked, evaluate, read, read_entry
from symattn.numbers.values import Value

from ..strategies import many, some, wide_fractions


def exactly(value):
    """A rational value as a Fraction."""
    q = value.rational()
    return Fraction(int(q.p), int(q.q))


@many
@given(st.integers(-(10**300), 10**300))
def test_integers_are_read_exactly(n):
    """Python's, NumPy's, FLINT's and SymPy's integers, and their text, are the same number."""
    forms = [n, str(n), Fraction(n), Decimal(n), sympy.Integer(n), fmpz(n), fmpq(n)]
    if abs(n) < 2**63:
        forms += [np.int64(n), np.array(n)]
    assert {exactly(read(form)) for form in forms} == {Fraction(n)}


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "uint64"])
def test_numpy_integers_of_every_width_are_read(kind):
    """The largest integer of each NumPy type is read exactly."""
    assert exactly(read(np.iinfo(kind).max + np.zeros((), kind))) == np.iinfo(kind).max


@many
@given(wide_fractions)
def test_fractions_are_read_exactly(q):
    """Fractions, SymPy's rationals and text 'p/q' are the same number."""
    forms = [q, f"{q.numerator}/{q.denominator}", sympy.Rational(q.numerator, q.denominator)]
    assert {exactly(read(form)) for form in forms} == {q}


@many
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30))
def test_decimals_are_read_exactly(d):
    """A Decimal is what its digits say, as text too."""
    assert exactly(read(d)) == exactly(read(str(d))) == Fraction(d)


def by_the_grammar(text):
    """What the grammar reads, or its words against it."""
    try:
        return exactly(evaluate(parse(text), text))
    except Malformed as error:
        return str(error)


digits = st.text("0123456789", max_size=4)
written = st.builds(
    "{}{}{}{}{}{}{}".format,
    st.sampled_from(["", " ", "\t\u2003"]),
    st.sampled_from(["", "", "-", "+", "- ", "−", "–", "--", "(-"]),
    st.one_of(digits, st.sampled_from(["1" * 400, "1" * 401, "0" * 399 + "1"])),
    st.one_of(st.just(""), digits.map(".{}".format), st.sampled_from(["." + "3" * 396])),
    st.sampled_from(["", "e2", "E-3", "e+400", "e401", "e-401", "e0000400", "e", "e−2"]),
    st.sampled_from(["", "/", " / ", "÷", "/-", "/."]),
    st.one_of(digits, st.sampled_from(["0", "7 ", "1" * 400, "1" * 401, "2e1", "2/3", ")"])),
)


@pytest.mark.heavy
@settings(many, max_examples=600)
@given(written)
def test_numbers_are_read_directly_as_the_grammar_reads_them(text):
    """What is recognised as a number at once is what its expression is, with the
    same limits and the same words against it."""
    found = by_the_grammar(text)
    if isinstance(found, str):
        with pytest.raises(Malformed) as caught:
            read(text)
        assert str(caught.value) == found
    else:
        assert exactly(read(text)) == found


@pytest.mark.parametrize(
    "text", ["17", "-17/40", "+0.25", " 2.5e-3 ", ".5/3", "3./4", "−1 ÷ 3", "1" * 400, "1e400"]
)
def test_a_number_needs_no_grammar(monkeypatch, text):
    """Integers, decimals and fractions never meet the parser."""
    value = by_the_grammar(text)
    monkeypatch.setattr("symattn.expressions.syntax.parse", None)
    assert exactly(read(text)) == value


@pytest.mark.parametrize("zero", ["0E+999999999999", "-0E-999999999999", "0.000"])
def test_a_decimal_zero_is_zero_whatever_its_exponent(zero):
    """A zero of any exponent is read at once."""
    assert exactly(read(Decimal(zero))) == 0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.50", Fraction(3, 2)),
        (".5", Fraction(1, 2)),
        ("3.", Fraction(3)),
        ("-1e-3", Fraction(-1, 1000)),
        (" 2E2 ", Fraction(200)),
        ("1/3 - 1/2*(2 + 4)", Fraction(-8, 3)),
        ("sqrt(9/4)", Fraction(3, 2)),
        ("exp(0)", Fraction(1)),
        ("−2", Fraction(-2)),
    ],
)
def test_text_is_arithmetic(text, value):
    """Text is read as exact arithmetic."""
    assert exactly(read(text)) == value


@pytest.mark.parametrize("masked", ["-inf", " -inf ", "−inf", -math.inf, Decimal("-inf"), MASKED])
def test_minus_infinity_is_a_masked_score(masked):
    """Where scores are read, minus infinity hides one."""
    assert isinstance(read_entry(masked), Masked)


def test_symbols_are_read_where_they_are_asked_for():
    """With symbols, names are linear forms; without, they are refused."""
    assert read("2*g1 - g2/3", symbols=True).symbols == ("g1", "g2")
    with pytest.raises(Malformed, match="only numbers"):
        read("g1")


@many
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_from_floats_gives_the_exact_binary_value(x):
    """from_floats is the door for floats: nothing is rounded."""
    found = from_floats([[x], [np.float64(x)]])
    assert found == [[Fraction(x)], [Fraction(x)]]
    assert float(Fraction(x)) == x


@some
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_from_floats_takes_arrays_of_any_width(x):
    """Arrays of float32 and of integers keep their values and their shape."""
    array = np.array([[x, 1.0]], dtype="float32")
    assert from_floats(array).tolist() == [[Fraction(x), Fraction(1)]]
    assert from_floats(np.array([3, -4])).tolist() == [Fraction(3), Fraction(-4)]
    assert symattn.from_floats(array[0, 0]) == Fraction(x)


@pytest.mark.parametrize("bad", [math.nan, math.inf, [0.5, math.nan], "0.5", None, True, 1j])
def test_from_floats_refuses_what_is_no_float(bad):
    """NaN, infinity, text and booleans don't pass the door for floats."""
    with pytest.raises(Malformed, match=r"expected (a finite float|floats), found"):
        from_floats(bad)


def test_from_floats_feeds_every_entrance():
    """What from_floats gives is read by the functions that refuse floats, masked
    scores included."""
    shape, rows = read_rows(from_floats([[0.5, -math.inf]]))
    assert shape == (1, 2)
    assert exactly(rows[0][0]) == Fraction(1, 2)
    assert rows[0][1] is MASKED


def test_integers_have_a_length():
    """1333 bits, 401 digits, are read, 1334 are not; fractions by their longer side."""
    longest = 2**1333 - 1
    for number in (longest, -longest, fmpz(longest), Fraction(1, longest), Fraction(longest, 2)):
        assert exactly(read(number)) == Fraction(str(number))
    for number in (2**1333, -(2**1333), fmpz(2**1333), Fraction(1, 2**1333), Fraction(2**1333, 3)):
        with pytest.raises(Malformed, match="a number of about 400 digits; at most 400"):
            read(number)


def test_decimals_have_a_length_and_a_power():
    """400 digits and powers of ten up to 400, either way; and what is said beyond."""
    for text in ("3" * 400, "0." + "3" * 400, "1e400", "-1e-400", "1.5e400", "9.99e-400"):
        assert exactly(read(Decimal(text))) == Fraction(text)
    with pytest.raises(Malformed, match="a number of 401 digits; at most 400"):
        read(Decimal("3" * 401))
    for text in ("1E+401", "1E-401", "-15E+400", "0.9E-400"):
        with pytest.raises(Malformed, match="power of ten beyond 400"):
            read(Decimal(text))


def test_symbols_are_not_read_inside_numbers_without_being_asked_for():
    """With symbols the refusal names them as what could be written."""
    for text in ("g @ h", "arctan(g)", "sqrt(g, h)"):
        with pytest.raises(Malformed, match="and symbols are read here"):
            read(text, symbols=True)
    assert read("exp(1)*g/2 - g", symbols=True).symbols == ("g",)
    entry = read_entry("g", symbols=True)
    assert isinstance(entry, Value)
    assert entry.symbols == ("g",)


@pytest.mark.parametrize("shown", ["inf", "- inf", "-Inf", "-infinity", "--inf"])
def test_only_minus_infinity_is_a_masked_score(shown):
    """Other infinities are refused where scores are read too."""
    with pytest.raises(Malformed):
        read_entry(shown)
    for number in (math.inf, math.nan, Decimal("inf"), Decimal("sNaN"), Decimal("nan")):
        with pytest.raises(Malformed, match="expected a finite number"):
            read_entry(number)


def test_what_holds_one_number_is_that_number():
    """NumPy's scalars and arrays without dimensions are what they hold."""
    assert exactly(read(np.array("1/3"))) == Fraction(1, 3)
    assert exactly(read(np.str_("0.5"))) == Fraction(1, 2)
    assert read(np.array("g"), symbols=True).symbols == ("g",)
    assert str(MASKED) == repr(MASKED) == "-inf"
