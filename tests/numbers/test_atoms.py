"""Symbols, nested roots, logarithms and towers: known by their structure, shown from it."""

from __future__ import annotations

from itertools import count

import mpmath
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from symattn.numbers import closed_forms
from symattn.numbers.reading import read
from symattn.numbers.values import compare, rational, symbol
from symattn.verdicts import Verdict

from ..oracle import DIGITS, close, evaluate
from ..strategies import quotients, some, sums

E = {"e": mpmath.e}
FUNCTIONS = ["sqrt", "exp", "log"]


@st.composite
def positive_texts(draw):
    """Positive numbers below 100, as text."""
    text = draw(st.one_of(sums, quotients))
    if read(text).sign() <= 0:
        text = f"1 - ({text})"
    return text if read(text).ball(64) < 100 else f"1/(1 + {text})"


def opaque(function, text):
    """``function(text)`` as an exact value and by mpmath."""
    with mpmath.workdps(DIGITS):
        return getattr(read(text), function)(), evaluate(f"{function}({text})")


@pytest.mark.heavy
@some
@given(st.sampled_from(FUNCTIONS), st.sampled_from(FUNCTIONS), positive_texts(), positive_texts())
def test_the_text_of_an_opaque_value_is_its_value(first, second, x, y):
    """Roots, towers and logarithms print as what they are, in products, sums and
    quotients and inside each other."""
    (a, near_a), (b, near_b) = opaque(first, x), opaque(second, y)
    with mpmath.workdps(DIGITS):
        for value, near in [
            (a * b, near_a * near_b),
            (a + b * b, near_a + near_b**2),
            (a / (b * b + rational(1)), near_a / (near_b**2 + 1)),
            ((a * a + rational(1)).log(), mpmath.log(near_a**2 + 1)),
        ]:
            assert close(value.ball(300), near, 40)
            assert close(value.ball(300), evaluate(str(value), E), 40)


@some
@given(st.sampled_from(FUNCTIONS), st.sampled_from(FUNCTIONS), positive_texts(), positive_texts())
def test_opaque_values_are_known_by_their_structure(first, second, x, y):
    """The same number made twice, in another order, cancels."""
    a, b = opaque(first, x)[0], opaque(second, y)[0]
    again, other = opaque(first, x)[0], opaque(second, f"0 + {y}")[0]
    assert compare(a * b + a, other * again + again) is Verdict.HOLDS
    assert compare(a * b + rational(1), other * again) is Verdict.REFUTED


def test_no_identity_is_a_text(monkeypatch):
    """Opaque numbers are made, multiplied and compared without printing any."""
    monkeypatch.setattr(closed_forms, "formula", None)
    monkeypatch.setattr(closed_forms, "sum_formula", None)
    tower, root = read("exp(1/(1 + exp(1)))"), read("sqrt(3 + exp(1))")
    product = tower * root * (root + rational(1)).log()
    again = (read("1 + sqrt(3 + exp(1))")).log() * root * read("exp(1/(exp(1) + 1))")
    assert compare(product, again) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("log(2)", rational(2).log()),
        ("sqrt(3 + e)", read("sqrt(3 + exp(1))")),
        ("exp(1/(1 + e))", read("exp(1/(1 + exp(1)))")),
    ],
)
def test_a_symbol_is_not_the_number_that_it_is_called_like(name, number):
    """A symbol called "log(2)" doesn't cancel with log(2), and sorts beside it."""
    named = symbol(name)
    assert str(named) == str(number)
    assert compare(named, number) is not Verdict.HOLDS
    assert compare(named * number, number * named) is Verdict.HOLDS


def test_functions_of_one_argument_are_told_apart():
    """log, exp and sqrt of the same number are three numbers."""
    x = read("2 + exp(1/3)")
    values = [x.log(), x.exp(), x.sqrt()]
    verdicts = {compare(a, b) for a in values for b in values if a is not b}
    assert verdicts == {Verdict.REFUTED}


def test_only_a_plain_logarithm_is_undone():
    """exp(log(x)) is x; with a factor, a power or another term it is not."""
    x = read("2 + exp(1)")
    assert compare(x.log().exp(), x) is Verdict.HOLDS
    with mpmath.workdps(DIGITS):
        log = mpmath.log(2 + mpmath.e)
        for value, near in [
            (x.log() * rational(2), 2 * log),
            (x.log() * rational(fmpq(1, 2)), log / 2),
            (x.log() * read("sqrt(2)"), mpmath.sqrt(2) * log),
            (x.log() * read("exp(1)"), mpmath.e * log),
            (x.log() * x.log(), log**2),
            (x.log() + read("1"), log + 1),
            (x.log() * rational(3).log(), log * mpmath.log(3)),
            (x.sqrt(), mpmath.sqrt(2 + mpmath.e)),
            (rational(1) / x.log(), 1 / log),
        ]:
            assert close(value.exp().ball(300), mpmath.exp(near))


def test_what_is_shown_is_sorted_by_its_text():
    """Terms come by the text of their atoms, whatever their structure."""
    logs = [rational(k).log() for k in (2, 10, 3)]
    assert str(logs[0] + logs[1] + logs[2]) == "log(10) + log(2) + log(3)"
    assert str(logs[2] * logs[0] * logs[1]) == "log(10)*log(2)*log(3)"
    assert str(logs[0] * logs[0] / logs[1]) == "log(2)^2/log(10)"
    assert str(read("h*g + g*g - h", symbols=True)) == "g*h + g^2 - h"


def test_a_root_in_a_root_is_shown_once(monkeypatch):
    """Forty roots inside each other are shown in a few steps each, not in 3^40."""
    plain, calls = closed_forms.sum_formula, count()

    def counted(terms):
        assert next(calls) < 1000
        return plain(terms)

    monkeypatch.setattr(closed_forms, "sum_formula", counted)
    value = read("exp(1)")
    for k in range(40):
        value = (value + rational(k)).sqrt()
    assert str(value).count("sqrt(") == 40
    assert next(calls) > 0
