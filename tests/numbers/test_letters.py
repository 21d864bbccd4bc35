"""Values with letters in them: what is decided, what depends on them, numbers put in."""

from __future__ import annotations

import re

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symattn.errors import Malformed, Undecided
from symattn.numbers.letters import Letters, put
from symattn.numbers.reading import read, written
from symattn.numbers.sympy_bridge import to_sympy
from symattn.numbers.values import Value
from symattn.verdicts import Verdict

DECLARED = {"a": "real", "b": "real", "t": "positive", "u": "positive"}


def form(text: str) -> Value:
    """A form in some letters."""
    return read(text, Letters(DECLARED))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("exp(a)/(exp(a) + exp(b))", "1/(1 + exp(b - a))"),
        ("exp(a*b)*exp(-a*b)", "1"),
        ("exp(2*a) - exp(a)**2", "0"),
        ("a/(a + b) + b/(a + b)", "1"),
        ("(a**2 - b**2)/(a + b)", "a - b"),
        ("cos(a)**2 + sin(a)**2", "1"),
        ("sin(a + b)", "sin(a)*cos(b) + cos(a)*sin(b)"),
        ("sqrt(t*u)", "sqrt(t)*sqrt(u)"),
        ("log(t*exp(a)/u)", "a + log(t) - log(u)"),
        ("exp(2*log(t))", "t**2"),
        ("sqrt(exp(a))", "exp(a/2)"),
        ("tanh(a)", "1 - 2/(1 + exp(2*a))"),
        ("(a*exp(a) + a*exp(b))/(exp(a) + exp(b))", "a"),
    ],
)
def test_what_holds_for_all_letters_is_equal(left, right):
    """Equality of forms is decided: they are the same in normal form."""
    assert form(left) == form(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [("exp(a + b)", "exp(a) + exp(b)"), ("exp(a*b)", "exp(a)*exp(b)"), ("a", "b"), ("a", "1")],
)
def test_what_holds_for_some_letters_only_is_not_equal(left, right):
    """Two formulas are one only if no letter tells them apart."""
    assert (form(left) - form(right)).is_zero() is Verdict.REFUTED


@pytest.mark.parametrize(
    "text",
    ["exp(a) + 1", "a**2 + 1", "t/(1 + exp(b))", "(a - b)*(a - b) + t", "exp(a) + sqrt(t)", "1/t"],
)
def test_signs_that_no_letter_changes_are_seen(text):
    """Roots and logarithms of what is positive whatever the letters are."""
    assert form(text).sign() == 1
    assert (-form(text)).sign() == -1
    assert form(text).sqrt() ** 2 == form(text)
    assert form(text).log().exp() == form(text)


@pytest.mark.parametrize("text", ["a", "a - b", "exp(a) - 1", "t - 1", "a**3"])
def test_signs_that_depend_on_letters_are_undecided(text):
    """The answer says on which, and what to do."""
    for ask in (form(text).sign, form(text).sqrt, form(text).log):
        with pytest.raises(Undecided, match=r"depends on [atb, ]+: put numbers in"):
            ask()


_TEXTS = st.recursive(
    st.sampled_from(["a", "b", "t", "u", "2", "1/3"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda x: f"({x[0]}{x[1]}{x[2]})"),
        inner.map(lambda x: f"exp({x}/4)"),
        inner.map(lambda x: f"sin({x})"),
        inner.map(lambda x: f"sqrt(1 + exp({x}))"),
        inner.map(lambda x: f"(1/(2 + ({x})**2))"),
        inner.map(lambda x: f"log(1 + ({x})**2)"),
    ),
    max_leaves=4,
)
_NUMBERS = st.fractions(min_value=-2, max_value=2, max_denominator=4)


@given(_TEXTS, _NUMBERS, _NUMBERS, _NUMBERS.filter(lambda x: x > 0))
def test_numbers_put_in_are_as_numbers_read(text, a, b, t):
    """A form with numbers put in is what its text is with numbers in the place of letters;
    as is its closed form, written and read again."""
    numbers = {"a": read(a), "b": read(b), "t": read(t), "u": read("3/2")}
    value = form(text)
    known = read(_put_into(text, numbers), symbols=True)
    assert (put(value, numbers) - known).is_zero() is not Verdict.REFUTED
    # A sign that is seen of a square isn't seen of what it is multiplied out.
    if value.is_closed and not {"log", "sqrt"} & set(re.findall(r"[a-z]+", text)):
        again = form(written(value))
        assert (put(again, numbers) - known).is_zero() is not Verdict.REFUTED
        assert (again - value).is_zero() is not Verdict.REFUTED


def _put_into(text: str, numbers: dict[str, Value]) -> str:
    """The text with numbers written in the place of letters."""
    return re.sub(r"\b[abtu]\b", lambda match: f"({numbers[match[0]]})", text)


def test_symbols_of_sympy_come_back_as_they_were():
    """With what SymPy knows of them; two of one name are none."""
    letters = Letters()
    a, k = sympy.Symbol("a", positive=True), sympy.Symbol("k", integer=True)
    value = read(sympy.sqrt(a) * sympy.exp(k), letters)
    assert to_sympy(value) == sympy.sqrt(a) * sympy.exp(k)
    assert to_sympy(form("sqrt(t)")).free_symbols == {sympy.Symbol("t", positive=True)}
    with pytest.raises(Malformed, match="two symbols are called 'a', with different assumptions"):
        read(sympy.Symbol("a"), letters)


def test_undeclared_names_say_how_to_declare_them():
    """Where symbols may stand, one that is not declared is a fault."""
    with pytest.raises(Malformed, match=r"unknown name 'c' in 'c \+ 1': a symbol is declared"):
        form("c + 1")
    with pytest.raises(Malformed, match="is not an exact number"):
        read("c + 1")
