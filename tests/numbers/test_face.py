"""A value beside Python's numbers: sums, comparisons, truth, and what it refuses to be."""

from __future__ import annotations

import math
import operator
from decimal import Decimal
from fractions import Fraction

import gmpy2
import mpmath
import numpy as np
import pytest
import sympy
from flint import fmpq, fmpz
from hypothesis import given
from hypothesis import strategies as st

from symattn.errors import Malformed, NoClosedForm, Undecided
from symattn.numbers import float_formats, rounding
from symattn.numbers.float_formats import FORMATS
from symattn.numbers.reading import MASKED, read
from symattn.numbers.rounding import MODES
from symattn.numbers.values import ONE, ZERO, Value, rational, symbol, total

from ..oracle import DIGITS, close, evaluate
from ..strategies import few, field, field_texts, many, non_zero, some

#: Numbers that Python has: each kind with the Fraction that it is.
operands = st.one_of(
    st.integers(-50, 50),
    st.fractions(-50, 50, max_denominator=40),
    st.decimals(-50, 50, places=3),
    st.builds(fmpq, st.integers(-50, 50), st.integers(1, 40)),
    st.integers(-50, 50).map(fmpz),
).map(lambda number: (number, _fraction(number)))

OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


def _fraction(number):
    if isinstance(number, fmpq | fmpz):
        return Fraction(str(number))
    return Fraction(number)


def _near(q):
    return mpmath.mpf(q.numerator) / q.denominator


@pytest.mark.heavy
@many
@given(field_texts, operands, st.sampled_from(OPERATORS))
def test_arithmetic_with_pythons_numbers(text, operand, op):
    """Sums, differences, products and quotients with an int, Fraction, Decimal,
    fmpq or fmpz on either side are mpmath's at 60 digits; division by zero is refused."""
    value, (number, q) = read(text), operand
    with mpmath.workdps(DIGITS):
        near, other = evaluate(text), _near(q)
        for sides, expected in [((value, number), (near, other)), ((number, value), (other, near))]:
            if op is operator.truediv and (sides[1] == 0):
                with pytest.raises(Malformed, match="division by zero"):
                    op(*sides)
            else:
                found = op(*sides)
                assert isinstance(found, Value)
                assert close(found.ball(300), op(*expected))


@many
@given(operands, operands, st.sampled_from(COMPARISONS))
def test_rationals_compare_as_fractions_do(left, right, compares):
    """All six comparisons of a rational with any kind of number, on either side."""
    (a, p), (b, q) = left, right
    assert compares(rational(fmpq(p.numerator, p.denominator)), b) is compares(p, q)
    assert compares(a, rational(fmpq(q.numerator, q.denominator))) is compares(p, q)


@some
@given(field_texts, operands, st.sampled_from(COMPARISONS))
def test_closed_forms_compare_as_their_decimals_do(text, operand, compares):
    """So do closed forms, by 60 digits of mpmath where those differ, and to
    themselves in another form."""
    value, (number, q) = read(text), operand
    with mpmath.workdps(DIGITS):
        near, other = evaluate(text), _near(q)
        if abs(near - other) < mpmath.mpf(10) ** -50:
            near = other
        assert compares(value, number) is compares(near, other)
        assert compares(number, value) is compares(other, near)
    same = (value + number) - number
    assert compares(value, same) is compares(0, 0)
    assert compares(value + Fraction(1, 10**80), same) is compares(1, 0)


@pytest.mark.heavy
@few
@given(st.lists(field, min_size=2, max_size=5))
def test_values_sort_as_their_decimals_do(values):
    """sorted, max, min and sum take values as they are."""
    ordered = sorted(values)
    decimals = [value.decimal(30) for value in ordered]
    assert decimals == sorted(decimals)
    assert max(values) == ordered[-1]
    assert min(values) == ordered[0]
    assert sum(values) == sum(reversed(values))


@pytest.mark.heavy
@some
@given(field, non_zero)
def test_truth_and_absolute_values(a, b):
    """A value is true where it isn't zero, in whatever form; abs is never negative."""
    assert bool(b) is True
    assert bool((a + b) - b - a) is False
    assert abs(a) == abs(-a) == (a if a.sign() >= 0 else -a)
    assert abs(b) > 0


@some
@given(non_zero, st.integers(0, 4), st.integers(-3, 3))
def test_powers_are_products(a, m, n):
    """a ** n is a product of n factors, and a ** -n its inverse."""
    product = math.prod([a] * m, start=ONE)
    assert a**m == product
    assert (a**n).sign() == (a.sign() ** n if n >= 0 else a.sign() ** -n)
    assert a**n * a**-n == 1


def test_powers_have_limits():
    """Powers to 1000 and no further, as is what is no whole number."""
    e = read("exp(1)")
    assert (2 * e) ** 1000 == rational(2) ** 1000 * read("exp(1000)")
    assert (1 + e) ** 64 == ((1 + e) ** 8) ** 8
    assert ZERO**0 == ONE
    assert ZERO**1000 == ZERO
    for base, power in [(e, 1001), (e, -1001), (1 + e, 10**9)]:
        with pytest.raises(Malformed, match=r"the power \d+ is beyond 1000"):
            base**power
    with pytest.raises(Malformed, match="division by zero"):
        ZERO**-1
    for exponent in (0.5, Fraction(1, 2), "2", e):
        with pytest.raises(TypeError):
            operator.pow(e, exponent)
    with pytest.raises(TypeError):
        operator.pow(2, e)


def test_a_power_of_a_sum_is_worked_out_where_it_is_short():
    """(1 + e)^100 has 101 terms, the middle one 100 over 50; (1 + e)^1000 has
    digits, but no closed form."""
    base = 1 + read("exp(1)")
    held = (base**100).parts[()]
    assert len(held) == 101
    assert held[((1, 50, 1),), 1, ()] == math.comb(100, 50)
    with mpmath.workdps(600):
        known = int((1 + mpmath.e) ** 1000)
    assert (base**1000).decimal(0, "down") == known
    with pytest.raises(NoClosedForm, match="has no short closed form"):
        (base**1000).formula()


@some
@given(field, st.floats(), st.sampled_from(OPERATORS + COMPARISONS))
def test_floats_are_refused_as_read_refuses_them(value, x, op):
    """A float on either side of any operator is refused in read's words."""
    with pytest.raises(Malformed) as caught:
        read(x)
    for sides in [(value, x), (x, value), (value, np.float64(x)), (np.float64(x), value)]:
        with pytest.raises(Malformed) as beside:
            op(*sides)
        assert str(beside.value) == str(caught.value)


@pytest.mark.parametrize(
    "number", [True, Decimal("nan"), Decimal("inf"), 10**500, Decimal("1e999")]
)
def test_what_read_refuses_is_refused_beside_a_value(number):
    """Booleans, what is not finite and what is too long are refused in sums too."""
    for op in (operator.add, operator.eq, operator.lt):
        with pytest.raises(Malformed):
            op(ONE, number)


@pytest.mark.parametrize(
    "thing", ["1", None, [1], 1j, object(), MASKED], ids=lambda x: type(x).__name__
)
def test_what_is_no_number_equals_no_value(thing):
    """Beside what is no number, == is False and the rest a TypeError."""
    assert (thing == ONE) is False
    assert (thing != ONE) is True
    for op in (*OPERATORS, *COMPARISONS[2:]):
        for sides in [(ONE, thing), (thing, ONE)]:
            with pytest.raises(TypeError):
                op(*sides)


def test_undecided_comparisons_raise():
    """Where no precision tells, ==, <, bool and abs raise instead of guessing."""
    doubt = read(2).log() + read(3).log()
    for ask in [
        lambda: doubt == read(6).log(),
        lambda: doubt != read(6).log(),
        lambda: doubt < read(6).log(),
        lambda: doubt >= read(6).log(),
        lambda: bool(doubt - read(6).log()),
        lambda: abs(doubt - read(6).log()),
        lambda: (doubt - read(6).log()) ** -1,
    ]:
        with pytest.raises(Undecided, match="can't decide"):
            ask()
    assert doubt == read(3).log() + read(2).log()


def test_forms_in_symbols_are_equal_or_not_but_have_no_order():
    """g + g is 2 g and not 3 g; which is larger is no question."""
    g = symbol("g")
    assert g + g == 2 * g
    assert g + g != 3 * g
    assert g
    assert not g - g
    with pytest.raises(Undecided, match="the sign of -g depends on g: put numbers in"):
        _ = g < 2 * g


def test_a_value_does_not_change():
    """What a value is made of can't be put in its place."""
    with pytest.raises(AttributeError):
        read("exp(1)").parts = {}  # type: ignore[misc]


def test_values_have_no_hash():
    """Equal values may be built differently, so no set and no key takes one."""
    with pytest.raises(TypeError, match="unhashable"):
        hash(ONE)
    with pytest.raises(TypeError, match="unhashable"):
        dict.fromkeys([ONE])


@pytest.mark.parametrize(
    "convert",
    [
        float, int, complex, math.floor, math.ceil, math.sqrt, np.asarray, np.array, np.float64,
        lambda x: np.array([[x, x]]), lambda x: np.asarray(x, dtype=float),
        lambda x: np.zeros(1) + x, lambda x: np.exp(x), round, math.trunc, operator.index,
        Fraction, Decimal,
    ],
)  # fmt: skip
def test_no_value_is_rounded_unasked(convert):
    """Whatever would make a float, an integer or an array of a value is a TypeError."""
    with pytest.raises((TypeError, Malformed)):
        convert(read("exp(1)"))


@pytest.mark.parametrize(
    "convert", [float, int, complex, math.floor, np.asarray, np.array, lambda x: np.array([x, x])]
)
def test_the_refusal_says_what_to_write(convert):
    """The TypeError names the two ways to round."""
    with pytest.raises(TypeError, match=r"value\.nearest\('float64'\).*value\.decimal\(4\)"):
        convert(read("exp(1)"))


def test_numpys_arrays_are_no_operands():
    """NumPy hands its sums over, and they are refused, never converted."""
    for thing in (np.array([1, 2]), np.array(["a"], dtype=object)):
        for op in OPERATORS:
            for sides in [(ONE, thing), (thing, ONE)]:
                with pytest.raises(TypeError):
                    op(*sides)


@pytest.mark.parametrize("number", [np.int64(3), np.uint8(3), gmpy2.mpz(3), gmpy2.mpq(3)], ids=repr)
def test_rationals_of_other_libraries_are_rationals(number):
    """NumPy's integers and gmpy2's rationals stand on either side."""
    assert read(number) == 3
    three = rational(3)
    assert three == number
    assert number == three
    assert number + three == three * 2 == number - -three
    assert number / (three + number) == Fraction(1, 2)
    assert not number < three


def test_sympys_rationals_are_rationals():
    """On the right of a value; SymPy on the left asks for a float and is refused."""
    assert rational(3) == sympy.Integer(3)
    assert rational(3) + sympy.Rational(1, 2) == Fraction(7, 2)
    with pytest.raises(TypeError, match="not rounded unasked"):
        sympy.Integer(3) + rational(3)


@pytest.mark.parametrize(
    "number",
    [np.float32(0.5), np.float16(0.5), np.longdouble(0.5), mpmath.mpf(0.5), gmpy2.mpfr(0.5)],
    ids=lambda x: type(x).__name__,
)
def test_floats_of_other_libraries_are_refused(number):
    """No float of another width is taken for a different number in silence."""
    for op in (operator.add, operator.mul, operator.eq, operator.lt):
        for sides in [(ONE, number), (number, ONE)]:
            with pytest.raises(Malformed, match=r"0\.5 is a float, not an exact number"):
                op(*sides)


@some
@given(field, st.integers(0, 40), st.sampled_from(sorted(MODES)), st.sampled_from(sorted(FORMATS)))
def test_a_value_rounds_itself(value, places, mode, name):
    """decimal, significant and nearest of a value are those of the rounding module."""
    assert str(value.decimal(places, mode)) == str(rounding.decimal(value, places, mode))
    assert value.significant(places + 1, mode) == rounding.significant(value, places + 1, mode)
    # As text, where what is no number is equal to itself.
    assert str(value.nearest(name)) == str(float_formats.nearest(value, FORMATS[name]))
    assert value.decimal() == rounding.decimal(value, 4, "half-even")
    assert value.significant() == rounding.significant(value, 6, "half-even")
    assert value.nearest() == float_formats.nearest(value, FORMATS["float64"])


def test_what_is_no_mode_and_no_format_is_refused():
    """Unknown names are refused with those there are, as are forms in symbols."""
    with pytest.raises(Malformed, match="unknown rounding 'nearest': expected one of half-even"):
        ONE.decimal(2, "nearest")  # type: ignore[arg-type]
    with pytest.raises(Malformed, match="unknown rounding '': expected one of half-even"):
        ONE.significant(2, "")  # type: ignore[arg-type]
    with pytest.raises(Malformed, match="unknown format 'decimal': expected one of float64"):
        ONE.nearest("decimal")  # type: ignore[arg-type]
    with pytest.raises(Malformed, match="g has symbols in it and is not one number"):
        symbol("g").decimal(2)


def test_a_long_closed_form_is_short_in_repr():
    """repr shows at most 200 characters, str all; so do messages."""
    value = total(read(f"exp({k}/7)") for k in range(1, 30))
    assert len(str(value)) > 200
    assert repr(value) == str(value)[:197] + "..."
    for digits in (195, 196):
        value = read("exp(1)") + 10**digits
        assert repr(value) == (str(value) if digits == 195 else str(value)[:197] + "...")
    with pytest.raises(Malformed) as caught:
        (-total(read(f"exp({k}/7)") for k in range(1, 30))).sqrt()
    assert len(str(caught.value)) < 260


def test_what_is_not_said_is_four_places_six_digits_and_doubles():
    """The defaults of the roundings; and a value is read as itself."""
    third = read("2/3")
    assert str(third.decimal()) == "0.6667"
    assert str(third.significant()) == "0.666667"
    assert third.nearest() == 2 / 3
    assert str(read("1/8").decimal(2)) == "0.12"
    assert read(third) is third
