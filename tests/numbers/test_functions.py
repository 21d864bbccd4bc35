"""Roots, logarithms and exponentials: simplified where they can be, and never wrongly."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import mpmath
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from symattn.errors import NoClosedForm, Undecided
from symattn.numbers.reading import read
from symattn.numbers.values import ONE, rational, total

from ..oracle import DIGITS, close, evaluate
from ..strategies import algebraic, fractions, many, some

positive = fractions.filter(lambda q: q > 0)


@many
@given(
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from(["+", "-"]),
    st.sampled_from(
        ["sqrt(2)", "sqrt(6)", "exp(1)/4", "exp(-1/2)", "sqrt(2)*exp(-1)", "sqrt(2)/4 + sqrt(3)/4"]
    ),
)
def test_roots_that_look_like_squares(s, t, sign, x):
    """sqrt(s^2 + t^2 + 2 s t x) is s + t for x = 1 only: not for e, nor for two roots."""
    text = f"{s * s + t * t} {sign} {2 * s * t}*({x})"
    assume(read(text).sign() > 0)
    with mpmath.workdps(DIGITS):
        assert close(read(text).sqrt().ball(300), mpmath.sqrt(evaluate(text)))


def test_the_root_of_five_and_four_e_is_not_three():
    """Neither is that of 5 + 4 log(2), which is 3 only with 1 in place of the log."""
    assert str(read("sqrt(5 + 4*exp(1))")) == "sqrt(5 + 4*e)"
    assert str(read("sqrt(5 + 4*sqrt(2)*exp(1))")) == "sqrt(5 + 4*sqrt(2)*e)"
    assert str((5 + 4 * rational(2).log()).sqrt()) == "sqrt(5 + 4*log(2))"


@some
@given(positive, positive, st.sampled_from([2, 3, 6, 7, 10]), st.booleans())
def test_roots_of_two_terms_are_roots(a, b, m, minus):
    """sqrt(a +- b sqrt(m)) is mpmath's, denested or not."""
    under = read(a) + (-1 if minus else 1) * b * rational(m).sqrt()
    assume(under.sign() > 0)
    with mpmath.workdps(DIGITS):
        near = mpmath.sqrt(evaluate(f"{a} {'-' if minus else '+'} ({b})*sqrt({m})"))
        assert close(under.sqrt().ball(300), near)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("sqrt(exp(3))", "e^(3/2)"),
        ("sqrt(4*exp(2))", "2*e"),
        ("sqrt(exp(1/3)/9)", "e^(1/6)/3"),
        ("sqrt(exp(2*sqrt(2)))", "e^sqrt(2)"),
        ("sqrt(exp(sqrt(2) - 4/3))", "e^(sqrt(2)/2 - 2/3)"),
        ("sqrt(2*exp(1))", "sqrt(2)*sqrt(e)"),
        ("sqrt(12/25)", "2*sqrt(3)/5"),
        ("sqrt(sqrt(2))", "sqrt(sqrt(2))"),
        ("sqrt(sqrt(2)*exp(1))", "sqrt(sqrt(2)*e)"),
        ("sqrt(sqrt(2) + sqrt(3))", "sqrt(sqrt(2) + sqrt(3))"),
        ("sqrt(2 + sqrt(2))", "sqrt(2 + sqrt(2))"),
        ("sqrt(1 + sqrt(2))", "sqrt(1 + sqrt(2))"),
        ("sqrt(3 + sqrt(2) + sqrt(3))", "sqrt(3 + sqrt(2) + sqrt(3))"),
        ("sqrt(1 + exp(1))", "sqrt(1 + e)"),
        ("sqrt(1/(1 + exp(1)))", "sqrt(1 + e)/(1 + e)"),
        ("sqrt(2/(1 - exp(-1)))", "-sqrt(2*e^2 - 2*e)/(1 - e)"),
        ("exp(0)", "1"),
        ("exp(exp(1))", "exp(e)"),
        ("exp(1/(1 + exp(1)))", "exp(1/(1 + e))"),
        ("exp(1/2 + exp(1)/(1 + exp(1)))", "exp((1 + 3*e)/(2*(1 + e)))"),
        ("exp(2 - 1/3*sqrt(2))", "e^(2 - sqrt(2)/3)"),
    ],
)
def test_known_roots_and_exponentials(text, shown):
    """What is simplified, and what stays as it is."""
    assert str(read(text)) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1", "0"),
        ("exp(1)", "1"),
        ("exp(-1/2)", "-1/2"),
        ("exp(sqrt(2) - 1)", "sqrt(2) - 1"),
        ("2", "log(2)"),
        ("2/3", "log(2/3)"),
        ("2*exp(3)", "3 + log(2)"),
        ("exp(sqrt(3))/5", "sqrt(3) + log(1/5)"),
        ("sqrt(2)", "log(sqrt(2))"),
        ("sqrt(2)*exp(1)", "log(sqrt(2)*e)"),
        ("1 + exp(1)", "log(1 + e)"),
        ("1/(1 + exp(1))", "log(1/(1 + e))"),
        ("sqrt(1 + exp(1))", "log(sqrt(1 + e))"),
    ],
)
def test_known_logarithms(text, shown):
    """The logarithm of a rational multiple of an exponential is split, no other."""
    assert str(read(text).log()) == shown


@some
@given(algebraic.map(read), positive)
def test_logarithms_of_multiples_of_exponentials(x, q):
    """log(q e^x) = x + log(q), and e to that is q e^x to 60 digits."""
    power = (q * x.exp()).log()
    assert power == x + read(q).log()
    assert power.exp().decimal(40) == (q * x.exp()).decimal(40)


@given(st.integers(1, 10**40))
def test_roots_of_integers_have_square_free_ones(n):
    """sqrt(n) is k sqrt(m) with k^2 m = n."""
    root = isqrt(n)
    assert read(root * root).sqrt() == root
    assert read(n).sqrt() ** 2 == n


def test_the_largest_root():
    """The root of a number that would take long to factor has digits but no
    closed form; small factors and squares of any size are no hindrance."""
    assert read(10**48).sqrt() == 10**24
    assert str(read(6 * 10**300 + 0).sqrt()) == f"{10**150}*sqrt(6)"
    large = (10**30 + 57) * (10**31 + 33)
    for number in (large, Fraction(1, large)):
        root = read(number).sqrt()
        with pytest.raises(NoClosedForm):
            root.formula()
        with mpmath.workdps(120):
            known = mpmath.sqrt(mpmath.mpf(number.numerator) / number.denominator)
            assert abs(mpmath.mpf(str(root.significant(60))) / known - 1) < mpmath.mpf(10) ** -59


def test_many_roots_below_the_line_have_no_short_form():
    """1/(sqrt(2) + sqrt(3) + ...) would have 2^k terms: its digits are certain at once;
    so are those of a sum of roots of large primes, which nobody factors."""
    small = [p for p in range(2, 38) if all(p % k for k in range(2, p))]
    large = [10**38 + k for k in (133, 151, 183)]
    for numbers in (small, large):
        value = 1 / total(read(n).sqrt() for n in numbers)
        with mpmath.workdps(60):
            known = 1 / mpmath.fsum(mpmath.sqrt(n) for n in numbers)
            assert abs(mpmath.mpf(str(value.significant(40))) / known - 1) < mpmath.mpf(10) ** -39
    product = ONE
    for n in range(1, 27):
        product = product * (1 + read(n).sqrt().exp())
    with mpmath.workdps(60):
        known = mpmath.fprod(1 + mpmath.exp(mpmath.sqrt(n)) for n in range(1, 27))
        assert abs(mpmath.mpf(str(product.significant(40))) / known - 1) < mpmath.mpf(10) ** -39
    assert str(product).startswith("[")


def test_roots_of_what_has_no_sign_are_undecided():
    """There is no logarithm or root of a symbol that may be negative; but of what cancels."""
    g = read("g", symbols=True)
    for x in (g, 1 + g, 1 / (1 + g), g * rational(2).log()):
        for function in (x.log, x.sqrt):
            with pytest.raises(Undecided, match="depends on g: put numbers in"):
                function()
    assert (g - g).exp() == 1
    assert (g / g).log() == 0
    assert (4 * g / g).sqrt() == 2


@given(st.integers(-16, 16), positive)
def test_exponentials_undo_logarithms_of_powers(n, q):
    """e^(n log q + 1) is q^n e."""
    power = (n * read(q).log() + 1).exp()
    assert power == read(q) ** n * ONE.exp()
    assert read(2).log().tanh() == Fraction(3, 5)


def test_roots_over_small_denominators_are_positive():
    """Below the line stands a number between 0 and 1, or a negative one."""
    for text in ("1/(3 - exp(1))", "1/(exp(1) - 2)", "exp(1/2)/(3 - exp(1))"):
        root = read(text).sqrt()
        assert root * root == read(text)
        # The closed form is held against the recipe, which is positive.
        assert root.is_closed
        assert root.sign() == 1
