"""Whether a number is zero, by its value at points."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from symattn.limits import DECIDING, SHOWN
from symattn.numbers import zero_test
from symattn.numbers.reading import read
from symattn.numbers.values import Value, rational, symbol, total
from symattn.numbers.zero_test import ZeroTestLine, is_zero
from symattn.verdicts import Verdict
from tests.effort import effort

from ..strategies import field, some

HOLDS, REFUTED, UNDECIDED = Verdict.HOLDS, Verdict.REFUTED, Verdict.UNDECIDED


def lines_of(value: Value) -> list[ZeroTestLine]:
    """The recipe of a number, as points read it."""
    return value._lines()


def verdict(value: Value) -> Verdict:
    """What points alone say of a number."""
    return is_zero(lines_of(value))


def number(text: str) -> ZeroTestLine:
    """A line with the closed form of a text."""
    parts = read(text).form(DECIDING)
    assert parts is not None
    return ZeroTestLine("number", parts=parts)


@pytest.mark.heavy
@some
@given(field, field)
def test_points_say_what_closed_forms_say(x, y):
    """Of differences, products and quotients of numbers that have closed forms, points
    tell what the normal form does, or nothing."""
    for made in (x - y, x * y - y * x, (x + y) * (x + y) - x * x - rational(2) * x * y - y * y):
        form = made.form(DECIDING)
        assert form is not None
        closed = HOLDS if not any(form.values()) else REFUTED
        found = verdict(made)
        assert found in (closed, UNDECIDED)
        if closed is REFUTED:
            assert found is REFUTED


@pytest.mark.parametrize(
    "texts",
    [
        ["exp(1) + exp(1/2)", "exp(1/3) - 2"],
        ["sqrt(2)*exp(1) + 3", "exp(sqrt(2)) + exp(sqrt(3)/5)"],
        ["exp(-7/3) + 1e-9", "exp(100) - exp(99)"],
        ["sqrt(6)*exp(sqrt(6)) - 1", "sqrt(3) + exp(sqrt(10))"],
        ["exp(sqrt(2)) - exp(-sqrt(2))", "sqrt(13)*exp(1) + sqrt(17)"],
    ],
)
def test_identities_of_recipes_are_proved(texts):
    """Numbers that are zero by the laws of fields, with roots, powers of several
    exponents and denominators that differ, walked as lines and never expanded."""
    one, other = (number(text) for text in texts)
    minus = ZeroTestLine("number", parts={(): {((), 1, ()): fmpq(-1)}})
    # 0: x, 1: y, 2: -1, 3: x y, 4: 1/x, 5: 1/y, 6: 1/(x y), 7: 1/x 1/y - 1/(x y)
    lines = [one, other, minus, ZeroTestLine("products", (0, 1)), ZeroTestLine("inverse", (0,))]
    lines += [
        ZeroTestLine("inverse", (1,)),
        ZeroTestLine("inverse", (3,)),
        ZeroTestLine("products", (4, 5, 6, 2)),
    ]
    assert is_zero(lines) is HOLDS
    # a = 1/x + 1/y and b = (x + y)/(x y): a^2 + b^2 - 2 a b
    lines = [
        *lines[:7],
        ZeroTestLine("total", (0, 1)),
        ZeroTestLine("total", (4, 5)),
        ZeroTestLine("products", (7, 6)),
    ]
    lines += [
        ZeroTestLine("products", (8, 8, 9, 9)),
        ZeroTestLine("products", (8, 9)),
        ZeroTestLine("total", (11, 11)),
    ]
    lines += [ZeroTestLine("products", (12, 2)), ZeroTestLine("total", (10, 13))]
    assert is_zero(lines) is HOLDS
    assert is_zero(lines[:11]) is REFUTED
    assert is_zero([*lines[:14], ZeroTestLine("total", (10, 13, 0))]) is REFUTED


@pytest.mark.parametrize("rows", [2, 5, 18])
def test_sums_over_rows_with_other_denominators(rows):
    """A column of weights times an upstream gradient that cancels between rows: zero with
    every row in its place, not with one of them changed."""

    def row(k: int, top: str) -> Value:
        return read(f"({top})/(1 + exp({k}) + exp(-{k}/3) + exp({k}*sqrt(2)))")

    def whole(changed: int) -> Value:
        above = [row(k, f"exp({k}) + {int(k == changed)}*1e-30") for k in range(1, rows + 1)]
        below = [row(k, f"exp({k})") for k in range(1, rows + 1)]
        return total([*above, *(rational(-1) * x for x in below)])

    assert whole(0).is_zero() is HOLDS
    for changed in (1, rows):
        assert whole(changed).is_zero() is REFUTED


def test_roots_multiply_to_what_they_are():
    """sqrt(6) is sqrt(2) sqrt(3) and sqrt(2) sqrt(2) is 2, in closed forms and at points modulo
    a prime; at a power of two roots are letters, so that points alone don't prove it."""
    lines = [
        number("sqrt(2)"),
        number("sqrt(3)"),
        number("-sqrt(6)"),
        ZeroTestLine("products", (0, 1)),
    ]
    assert is_zero([*lines, ZeroTestLine("total", (2, 3))]) is HOLDS
    square = [
        number("sqrt(2)"),
        number("-2"),
        ZeroTestLine("products", (0, 0)),
        ZeroTestLine("total", (1, 2)),
    ]
    assert is_zero(square) is UNDECIDED
    assert is_zero([*square[:3], ZeroTestLine("total", (0, 2))]) is REFUTED
    assert (read("sqrt(2)") * read("sqrt(2)") - rational(2)).is_zero() is HOLDS


def test_many_roots_have_a_prime_of_their_own():
    """Modulo the prime every root is there, however many are asked for, at once."""
    primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53]
    lines = [number(f"sqrt({p})") for p in primes]
    other = [*lines[:6], ZeroTestLine("total", range(6)), number("-1")]
    other += [ZeroTestLine("products", (6, 7)), ZeroTestLine("total", (6, 8))]

    def decide():
        assert is_zero([*lines, ZeroTestLine("total", range(len(primes)))]) is REFUTED
        assert is_zero(other) is HOLDS

    assert effort(decide) < 2_000


def test_symbols_are_independent_and_opaque_numbers_are_not():
    """A symbol is no combination of others; whether an opaque number is one, nobody knows:
    what vanishes with all of them as letters is zero, and nothing is refuted."""
    g, h = symbol("g"), symbol("h")
    assert verdict(g - h) is REFUTED
    assert verdict((g + h) - h - g) is HOLDS
    log = read(2).log()
    assert verdict(log - read(3).log()) is UNDECIDED
    assert verdict((log + rational(1)) - log - rational(1)) is HOLDS


def test_divisors_that_vanish_say_nothing():
    """One by a number that is zero has no value at any point."""
    lines = [
        number("exp(1)"),
        number("-exp(1)"),
        ZeroTestLine("total", (0, 1)),
        ZeroTestLine("inverse", (2,)),
    ]
    assert is_zero(lines) is UNDECIDED


@given(st.integers(1, 2**40), st.integers(0, 60), st.integers(1, 9))
def test_a_polynomial_that_vanishes_at_a_smaller_power_is_no_zero(q, k, step):
    """e^x - 2^k vanishes where e^(x) has the value 2^k: the point is beyond that, and the
    prime sees it too. With large coefficients on both sides."""
    power = rational(fmpq(q)) * (read(f"exp({step}/7)") - rational(fmpq(2) ** k))
    lines = lines_of(power)
    assert is_zero(lines) is REFUTED
    assert not zero_test._vanishes(lines, zero_test._Variables(lines))


def vanishes(*lines: ZeroTestLine) -> bool:
    """Whether a number is proved to be zero by its value at a power of two alone."""
    return zero_test._vanishes(lines, zero_test._Variables(lines))


def test_the_point_is_beyond_all_coefficients():
    """Sums of many ones, products and inverses don't reach the value that e^x has there;
    nor does a power of one variable reach that of another."""
    e, one = number("exp(1)"), number("-1")
    assert not any(vanishes(e, one, ZeroTestLine("total", [0] + [1] * k)) for k in range(1, 130))
    sizes = [2**k for k in range(20)]
    for p in sizes:
        for q in sizes:
            factors = number(str(p)), number(str(-q))
            assert not vanishes(
                e, *factors, ZeroTestLine("products", (1, 2)), ZeroTestLine("total", (0, 3))
            )
            below = number(f"1/{p}"), ZeroTestLine("inverse", (1,)), number(str(-q))
            assert not vanishes(
                e, *below, ZeroTestLine("products", (2, 3)), ZeroTestLine("total", (0, 4))
            )
    for p in range(-4, 5):
        for q in range(-4, 5):
            powers = number(f"exp({p})"), number(f"-exp({q}*sqrt(2))")
            assert vanishes(*powers, ZeroTestLine("total", (0, 1))) is (p == q == 0)


def test_a_point_that_is_too_small_proves_what_is_false(monkeypatch):
    """With a bound of fewer bits than the coefficients have, what is no zero vanishes: the
    bound is needed, and so is room between the powers of two variables."""
    lines = [number("exp(1)"), number("-8"), ZeroTestLine("total", (0, 1))]
    lattice = zero_test._Variables(lines)
    assert not zero_test._vanishes(lines, lattice)
    last = zero_test._Bounds.last

    def smaller(bounds, given_lines):
        found = last(bounds, given_lines)
        assert found is not None
        return zero_test._Bound(2, found.whole, found.low, found.high, found.below)

    monkeypatch.setattr(zero_test._Bounds, "last", smaller)
    # e is 2^3 there.
    assert zero_test._vanishes(lines, lattice)
    crossed = [number("exp(3)"), number("-exp(sqrt(2))"), ZeroTestLine("total", (0, 1))]
    assert not zero_test._vanishes(crossed, zero_test._Variables(crossed))

    def narrower(bounds, given_lines):
        found = last(bounds, given_lines)
        assert found is not None
        low = dict.fromkeys(found.low, 0)
        return zero_test._Bound(found.bits, found.whole, low, low, found.below)

    monkeypatch.setattr(zero_test._Bounds, "last", narrower)
    # Without room for its powers, one variable is the other.
    alike = [number("exp(1)"), number("-exp(sqrt(2))"), ZeroTestLine("total", (0, 1))]
    assert zero_test._vanishes(alike, zero_test._Variables(alike))


def test_a_long_recipe_is_decided_and_beyond_the_limit_is_left_at_once(monkeypatch):
    """A sum of many terms and their opposites is proved zero; a tower of powers, and more
    numbers than are walked, are undecided without ado."""
    terms = [read(f"exp({k}/7)*{k + 1}/{k + 3}") for k in range(400)]
    zero = total([*terms, *(rational(-1) * x for x in reversed(terms))])
    small = zero + read("exp(1)*1e-60")
    assert effort(lambda: zero.is_zero() is HOLDS and small.is_zero() is REFUTED) < 3_000
    assert zero.is_zero() is HOLDS
    assert small.is_zero() is REFUTED
    tower = [number("exp(1) + exp(1/97) + sqrt(2)")]
    tower += [ZeroTestLine("products", (k, k)) for k in range(40)]
    minus = number("-1")
    tower += [minus, ZeroTestLine("products", (40, 41)), ZeroTestLine("total", (40, 42))]
    assert effort(lambda: is_zero(tower)) < 3_000
    assert is_zero(tower) is UNDECIDED
    monkeypatch.setattr(zero_test, "EVALUATED", 3)
    assert is_zero(tower[-4:]) is UNDECIDED


def test_recipes_beyond_what_is_shown_are_decided():
    """A softmax's row less 1 has no short closed form, and is 0."""
    scores = [read(Fraction(k * k, 17)).exp() for k in range(60)]
    normaliser = total(scores)
    rest = total(score / normaliser for score in scores) - rational(1)
    assert rest.form(SHOWN) is None or rest.is_closed
    assert rest.is_zero() is HOLDS
    assert (rest + read("exp(-200)")).is_zero() is REFUTED
