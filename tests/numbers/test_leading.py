"""What is left where leading terms cancel is known, however small it is."""

from __future__ import annotations

import math
from fractions import Fraction

import gmpy2
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from symattn import case, solve
from symattn.errors import Undecided
from symattn.numbers import lazy, rounding
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.exponential_sums import Sum
from symattn.numbers.float_formats import FORMATS
from symattn.numbers.reading import read
from symattn.numbers.rounding import MODES, LeadingTerm

from ..strategies import some

#: Bits at which plain balls see what cancels among the numbers drawn here.
MANY = 8_000


def solved(step, *numbers):
    """The entries of a step on a row of numbers."""
    return solve(case("t", {"X": [[*numbers]]}, {"Y": step}))["Y"]


_rationals = st.fractions(-40, 40, max_denominator=12).map(
    lambda q: fmpq(q.numerator, q.denominator)
)
_leaves = st.one_of(
    _rationals,
    _rationals.map(lambda q: ("exp", q)),
    st.integers(100, 2_000).map(lambda k: ("exp", fmpq(-k))),
    st.integers(2, 20).map(lambda k: ("erf", fmpq(k))),
    st.integers(100, 1_000).map(lambda k: ("exp", fmpq(k))),
)
_functions = st.sampled_from(["exp", "log", "sqrt", "cos", "sin", "erf", "inverse"])
_trees = st.recursive(
    _leaves,
    lambda below: st.one_of(
        st.tuples(_functions, below),
        st.tuples(st.sampled_from(["sum", "difference", "product"]), below, below),
    ),
    max_leaves=6,
)


def led(tree):
    """A tree by leading terms."""
    match tree:
        case ("sum", x, y):
            return rounding.total([led(x), led(y)])
        case ("difference", x, y):
            minus = rounding.products([(led(fmpq(-1)), led(y))])
            return rounding.total([led(x), minus])
        case ("product", x, y):
            return rounding.products([(led(x), led(y))])
        case ("inverse", x):
            return rounding.inverse(led(x))
        case (name, x):
            return rounding.function(name)(led(x))
    return rounding.of_sum({((), 1, ()): tree} if tree else {})


def plain(tree):
    """A tree in balls."""
    match tree:
        case ("sum", x, y):
            return plain(x) + plain(y)
        case ("difference", x, y):
            return plain(x) - plain(y)
        case ("product", x, y):
            return plain(x) * plain(y)
        case ("inverse", x):
            return 1 / plain(x)
        case (name, x):
            return getattr(plain(x), name)()
    return arb(tree)


@some
@given(_trees)
def test_the_number_is_in_it(tree):
    """Sums, products and functions of numbers of very different sizes, held against balls of
    very many bits."""
    with precision(256):
        found = led(tree).ball
    with precision(MANY):
        expected = plain(tree)
    if found.is_finite() and expected.is_finite():
        assert found.overlaps(expected)
    if expected.is_finite() and not found.is_finite():
        with precision(256):
            assert not plain(tree).is_finite()


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("1 + erf(-300/sqrt(2))", 1),
        ("erf(10^20*sqrt(2)) - 1", -1),
        ("log(1 + exp(-50000))", 1),
        ("log(1 + exp(50000)) - 50000", 1),
        ("log(exp(100000)/(1 + exp(100000)))", -1),
        ("sqrt(exp(100000) + exp(200000)) - exp(100000)", 1),
        ("sqrt(2 + 2*exp(-50000)) - sqrt(2)", 1),
        ("1/(1 + log(1 + exp(-50000))) - 1", -1),
        ("cos(exp(-50000)) - 1", -1),
        ("exp(sqrt(3)*erf(200)) - exp(sqrt(3))", -1),
        ("exp(exp(100000)/(1 + exp(100000))) - exp(1)", -1),
    ],
)
def test_signs(text, sign):
    """The sign of a difference that no plain ball tells, that of its opposite, and of
    multiples that are as large as anything."""
    value = read(text.replace("10^20", "1e20"))
    assert (value.sign(), (-value).sign()) == (sign, -sign)
    assert (value * read("exp(50000)")).sign() == sign
    with precision(4 * FIRST):
        assert rounding.of_parts(value.parts).ball * sign > 0


def test_what_is_zero_stays_undecided():
    """Nothing is left of numbers that are equal, and of opaque ones nothing tells."""
    with pytest.raises(Undecided, match="can't decide the sign"):
        read("log(2) + log(3) - log(6)").sign()
    assert read("erf(300) - erf(300)").sign() == 0


def test_the_rest_of_long_chains():
    """Recipes too deep for recursion are led all the same."""
    value, step = read("exp(-50000)"), read("exp(-60000)")
    for _ in range(1_200):
        value = value + step
    assert (read(1) + value).log().ball(4 * FIRST) > 0


@pytest.mark.parametrize(
    ("step", "number", "sign"),
    [
        ("gelu(X)", -300, -1),
        ("gelu(X)", "-1e20", -1),
        ('gelu(X, approximate="tanh")', -300, -1),
        ("softplus(X)", -50_000, 1),
        ("erf(X) - 1", 3_000, -1),
        ("erf(X) + 1", -3_000, 1),
        ("log(sigmoid(X))", 50_000, -1),
    ],
)
def test_next_to_nothing(step, number, sign):
    """What is next to nothing is rounded in every mode and every format."""
    Y = solved(step, number)
    up, down = (sign, 0) if sign > 0 else (0, sign)
    wanted = {"floor": down, "ceiling": up, "up": sign}
    for mode in MODES:
        assert Y.decimal(3, mode)[0][0] * 1000 == wanted.get(mode, 0), mode
    for form in FORMATS:
        found = float(Y.nearest(form)[0, 0])
        seen = sign if FORMATS[form].minus_zero else 1
        assert (found, math.copysign(1, found)) == (0, seen), form


@pytest.mark.parametrize(
    ("step", "number", "whole"),
    [("erf(X)", 3_000, 1), ("softplus(X)", 50_000, 50_000), ("gelu(X)", 400, 400)],
)
def test_next_to_a_whole_number(step, number, whole):
    """What is next to nothing beside a whole number decides on which side of it it is."""
    Y = solved(step, number)
    above = step == "softplus(X)"
    unit = Fraction(1, 10**5)
    assert Fraction(Y.decimal(5)[0][0]) == whole
    assert Fraction(Y.decimal(5, "floor")[0][0]) == whole - (0 if above else unit)
    assert Fraction(Y.decimal(5, "ceiling")[0][0]) == whole + (unit if above else 0)


def test_weights_next_to_one():
    """So are weights of a softmax, whose closed forms wait until they are used."""
    Y = solved("log(softmax(X))", 100_000, 0)
    assert [str(x) for x in Y.decimal(3, "floor")[0]] == ["-0.001", "-100000.001"]
    assert [str(x) for x in Y.decimal(3, "ceiling")[0]] == ["0.000", "-100000.000"]


@pytest.mark.parametrize("q", [2, (2**89 - 1) * (2**107 - 1)])
def test_roots_that_are_no_terms(q):
    """A root of a root, and that of a number too long to be factored, are balls."""
    term: Sum = {((), 2, ()): fmpq(1)} if q == 2 else {((), 1, ()): fmpq(q)}
    with precision(256):
        found = rounding.sqrt(rounding.of_sum(term))
        expected = arb(q).sqrt().sqrt() if q == 2 else arb(q).sqrt()
        assert (found.term, found.rest.overlaps(expected)) == ({}, True)


def test_digits_of_what_is_next_to_nothing():
    """Significant digits far below the smallest ball around 1, as MPFR has them."""
    with gmpy2.context(precision=300, emin=-(10**6), emax=10**6):
        share = gmpy2.erfc(gmpy2.mpfr(300) / gmpy2.sqrt(gmpy2.mpfr(2)))
        gelu, softplus = -150 * share, gmpy2.log1p(gmpy2.exp(gmpy2.mpfr(-50_000)))
        wanted = [f"{x:.19e}" for x in (gelu, softplus)]
    found = [solved("gelu(X)", -300), solved("softplus(X)", -50_000)]
    digits = [f"{Y.significant(20)[0][0]:e}" for Y in found]
    assert [x.replace("e-0", "e-") for x in digits] == wanted


def test_plain_balls_that_tell_are_not_worked_out_again(monkeypatch):
    """Leading terms are looked for only where a ball of more than the first bits holds zero."""
    monkeypatch.setattr(lazy, "_LEADING", {})
    assert read("exp(1)/3 - 1").ball(4 * FIRST) < 0
    with pytest.raises(KeyError):
        read("log(1 + exp(-1000))").ball(4 * FIRST)


def test_a_term_of_many_bits_is_rounded():
    """Coefficients are exact up to a length, so that long products stay cheap."""
    huge = fmpq(1, 3**5_000)
    with precision(128):
        x = rounding.total([LeadingTerm({((), 1, ()): huge}, arb(0))])
        assert (x.term, x.rest.overlaps(arb(huge))) == ({}, True)
