"""Exact values obey the laws of a field, and equality is decided."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.errors import Malformed, Undecided
from symattn.numbers.reading import read
from symattn.numbers.values import ONE, ZERO, compare, rational, sum_of_products, total
from symattn.verdicts import Verdict

from ..strategies import algebraic, few, field, fractions, non_zero, some


def same(left, right):
    return compare(left, right) is Verdict.HOLDS


@pytest.mark.heavy
@some
@given(field, field)
def test_addition_is_undone_by_subtraction(a, b):
    """a + b - b is a, and a - a is zero."""
    assert same(a + b - b, a)
    assert (a - a).is_zero() is Verdict.HOLDS


@pytest.mark.heavy
@some
@given(field, field, field)
def test_addition_is_commutative_and_associative(a, b, c):
    """a + b = b + a and (a + b) + c = a + (b + c)."""
    assert same(a + b, b + a)
    assert same((a + b) + c, a + (b + c))


@some
@given(field, non_zero)
def test_multiplication_is_undone_by_division(a, b):
    """(a / b) * b is a, and b / b is one."""
    assert same((a / b) * b, a)
    assert same(b / b, ONE)


@few
@given(field, field, field)
def test_multiplication_distributes(a, b, c):
    """a (b + c) = a b + a c."""
    assert same(a * (b + c), a * b + a * c)


@pytest.mark.heavy
@few
@given(field, field, field)
def test_multiplication_is_commutative_and_associative(a, b, c):
    """a b = b a and (a b) c = a (b c)."""
    assert same(a * b, b * a)
    assert same((a * b) * c, a * (b * c))


@some
@given(non_zero, non_zero)
def test_the_inverse_of_a_product(a, b):
    """1/(a b) = (1/a) (1/b) and 1/(1/a) = a."""
    assert same((a * b).inverse(), a.inverse() * b.inverse())
    assert same(a.inverse().inverse(), a)


@some
@given(field, non_zero)
def test_different_values_are_told_apart(a, b):
    """a + b is never a when b is not zero: refuted, not undecided."""
    assert compare(a + b, a) is Verdict.REFUTED
    assert b.is_zero() is Verdict.REFUTED


@some
@given(field, fractions.filter(lambda x: abs(x) > Fraction(1, 10)))
def test_a_tiny_difference_is_seen(a, q):
    """Values that agree to 300 digits are still different."""
    tiny = rational(0) + read(q) / read("1e300")
    assert compare(a + tiny, a) is Verdict.REFUTED


@pytest.mark.heavy
@few
@given(st.lists(st.tuples(field, field), min_size=1, max_size=2))
def test_sums_at_once_are_sums_one_by_one(pairs):
    """An entry of a product formed at once equals the sum of its products."""
    step = ZERO
    for a, b in pairs:
        step = step + a * b
    assert same(sum_of_products(pairs), step)
    assert same(total(a * b for a, b in pairs), step)


@some
@given(algebraic, algebraic)
def test_exponentials_turn_sums_into_products(a, b):
    """exp(a + b) = exp(a) exp(b) and exp(a) exp(-a) = 1 for algebraic a, b."""
    x, y = read(a), read(b)
    assert same((x + y).exp(), x.exp() * y.exp())
    assert same(x.exp() * (-x).exp(), ONE)


@some
@given(fractions.map(abs))
def test_the_root_of_a_rational_squares_back(q):
    """sqrt(q)^2 = q, decided by the normal form."""
    root = read(q).sqrt()
    assert same(root * root, read(q))
    assert root.sign() == (1 if q else 0)


@some
@given(field)
def test_the_root_of_a_value_squares_back(a):
    """sqrt(x)^2 = x and sqrt(x) > 0 for positive x: also when a denominator such
    as 1 - e is negative."""
    if a.sign() < 0:
        a = -a
    root = a.sqrt()
    assert same(root * root, a)
    assert root.sign() == a.sign()


@some
@given(algebraic.map(read), fractions.filter(lambda q: q > 0).map(read))
def test_logarithms_and_exponentials_undo_each_other(x, q):
    """log(exp(x)) = x for algebraic x, exp(log(q)) = q for positive rational q."""
    assert same(x.exp().log(), x)
    assert same(q.log().exp(), q)


@pytest.mark.parametrize(
    ("nested", "simple"),
    [
        ("sqrt(3 + 2*sqrt(2))", "1 + sqrt(2)"),
        ("sqrt(5 - 2*sqrt(6))", "sqrt(3) - sqrt(2)"),
        ("sqrt(4 + 2*sqrt(3))", "1 + sqrt(3)"),
        ("sqrt(7/4 - sqrt(3))", "1 - sqrt(3)/2"),
        ("sqrt(2 + sqrt(3))", "(sqrt(6) + sqrt(2))/2"),
        ("sqrt(exp(3))", "exp(3/2)"),
        ("sqrt(8*exp(1))", "2*sqrt(2)*exp(1/2)"),
        ("1/(sqrt(2) - 1)", "sqrt(2) + 1"),
        ("1/(sqrt(2) + sqrt(3) + sqrt(5))", "(3*sqrt(2) + 2*sqrt(3) - sqrt(30))/12"),
    ],
)
def test_nested_roots_are_denested(nested, simple):
    """A nested root that is a sum of plain roots is brought to that form."""
    assert same(read(nested), read(simple))
    assert str(read(nested)) == str(read(simple))


@few
@given(fractions, fractions.map(abs), st.sampled_from([1, -1]))
def test_the_root_of_a_square_of_surds_denests(a, b, sign):
    """sqrt((a + b sqrt(2))^2) = |a + b sqrt(2)|, as a sum of plain roots."""
    x = read(a) + read(sign * b) * read("sqrt(2)")
    assert same((x * x).sqrt(), x if x.sign() >= 0 else -x)


def test_a_nested_root_beyond_the_factoring_limit_stays_nested():
    """A large number under a nested root is no obstacle: it just isn't denested."""
    root = read("sqrt(1e13 + sqrt(2))")
    assert same(root * root, read("1e13 + sqrt(2)"))


@pytest.mark.parametrize("zero", ["0", "1 - 1", "sqrt(8) - 2*sqrt(2)", "exp(1)*exp(-1) - 1"])
def test_division_by_zero_is_refused(zero):
    """Zero is seen however it is written, and dividing by it is an error."""
    with pytest.raises(Malformed, match="division by zero"):
        read(f"1/({zero})")


def test_roots_and_logarithms_outside_their_domain_are_refused():
    """The root of a negative and the logarithm of a non-positive number are errors."""
    with pytest.raises(Malformed, match="square root of 1 - e, which is negative"):
        read("sqrt(1 - exp(1))")
    for text in ("0", "1 - exp(1/2)"):
        with pytest.raises(Malformed, match="not positive"):
            read(text).log()


def test_opaque_values_are_never_wrongly_decided():
    """Beyond the field, equal values in other forms are undecided, different
    ones are told apart, and dividing by an undecided zero is refused."""
    two, three, six = (read(k).log() for k in (2, 3, 6))
    assert compare(two + three, six) is Verdict.UNDECIDED
    assert compare(two + three, six + read("1e-400") * read("1e-400")) is Verdict.REFUTED
    assert compare(two * three, three * two) is Verdict.HOLDS
    with pytest.raises(Undecided):
        (two + three - six).inverse()


@some
@given(algebraic, algebraic)
def test_the_hyperbolic_tangent_stays_in_the_field(a, b):
    """It adds as it should, exactly: tanh(a + b) (1 + tanh a tanh b) = tanh a + tanh b."""
    a, b = read(a), read(b)
    assert same((a + b).tanh() * (ONE + a.tanh() * b.tanh()), a.tanh() + b.tanh())
    assert same((-a).tanh(), -a.tanh())
    assert abs(a.tanh()) < ONE
    assert a.tanh().sign() == a.sign()
