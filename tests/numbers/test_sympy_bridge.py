"""Exact values and SymPy's expressions: the same numbers, either way."""

from __future__ import annotations

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symattn.errors import Malformed
from symattn.numbers.reading import read
from symattn.numbers.sympy_bridge import from_sympy, to_sympy
from symattn.numbers.values import ZERO, rational, symbol

from ..strategies import few, field, field_texts, fractions, some, sums


@some
@given(field_texts)
def test_closed_forms_come_back_from_sympy(text):
    """A value made a SymPy expression and read again is the same value."""
    value = read(text)
    assert from_sympy(to_sympy(value)) == value


@pytest.mark.heavy
@few
@given(sums.map(read), fractions.filter(lambda q: q > 0), fractions)
def test_opaque_values_come_back_too(a, q, b):
    """So do nested roots, logarithms and towers; SymPy may write them another way."""
    root, log, tower = (a * a + q).sqrt(), read(q).log(), (a / (1 + a * a)).exp()
    for value in (root, log, tower, root * log + b * tower, -root / (1 + log * log)):
        assert from_sympy(to_sympy(value)).decimal(40) == value.decimal(40)


@pytest.mark.heavy
@some
@given(field, field)
def test_forms_in_symbols_come_back_too(a, b):
    """So do linear forms, where symbols are read."""
    form = a * symbol("g") - b * symbol("h") + b
    assert from_sympy(to_sympy(form), symbols=True) == form


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (sympy.Integer(0), "0"),
        (-sympy.Rational(2, 3), "-2/3"),
        (sympy.E, "exp(1)"),
        (sympy.sqrt(2) / 3 + sympy.E, "sqrt(2)/3 + exp(1)"),
        (sympy.exp(sympy.Rational(1, 2)) ** -1, "exp(-1/2)"),
        (2 ** sympy.Rational(3, 2), "2*sqrt(2)"),
        (1 / sympy.sqrt(3) ** 3, "sqrt(3)/9"),
        (sympy.sqrt(2 + sympy.sqrt(3)), "(sqrt(6) + sqrt(2))/2"),
        ((1 + sympy.E) ** 3, "(1 + exp(1))*(1 + exp(1))*(1 + exp(1))"),
        ((1 + sympy.E) ** -2, "1/((1 + exp(1))*(1 + exp(1)))"),
        (sympy.sqrt(1 + sympy.E) ** 3, "sqrt(1 + exp(1))*(1 + exp(1))"),
        (sympy.sqrt(1 + sympy.E) ** -1, "1/sqrt(1 + exp(1))"),
        (sympy.cos(-sympy.sqrt(2)) / sympy.sin(3), "cos(sqrt(2))/sin(3)"),
        (sympy.sqrt(2 / sympy.pi), "sqrt(2)/sqrt(pi)"),
        (sympy.erf(-sympy.Rational(1, 2)), "-erf(1/2)"),
    ],
    ids=str,
)
def test_sympy_numbers_are_read(expression, text):
    """Roots, powers and exponentials of SymPy are exact numbers here."""
    assert read(expression) == read(text)


def test_powers_are_read_up_to_32():
    """Whole and half powers up to 32, either way; no others."""
    x = sympy.Symbol("x")
    for power in (32, -32):
        assert from_sympy(x**power, symbols=True) == symbol("x") ** power
    assert read((1 + sympy.E) ** sympy.Rational(63, 2)) == read("sqrt(1 + exp(1))") ** 63
    for power in (33, -33, sympy.Rational(65, 2), sympy.Rational(1, 3), sympy.sqrt(2)):
        with pytest.raises(Malformed, match="only whole and half powers up to 32"):
            from_sympy((1 + sympy.E) ** power)


def test_sympy_gets_symbols_and_the_number_e():
    """Symbols stay symbols, e is SymPy's E, and numbers of any size arrive."""
    g = sympy.Symbol("g")
    assert to_sympy(read("exp(1)*g", symbols=True)) == sympy.E * g
    assert to_sympy(read("*".join(["1e400"] * 12))) == sympy.Integer(10) ** 4800
    assert to_sympy(ZERO) == 0
    assert to_sympy(rational(2).log() / 3) == sympy.log(2) / 3
    assert to_sympy(read("cos(1/2)*pi - erf(2)*sin(sqrt(3))")) == (
        sympy.cos(sympy.Rational(1, 2)) * sympy.pi - sympy.erf(2) * sympy.sin(sympy.sqrt(3))
    )
    assert to_sympy(read("exp(1/(1 + exp(1)))")) == sympy.exp(1 / (1 + sympy.E))
    assert to_sympy(read("sqrt(1 + exp(1))")) == sympy.sqrt(1 + sympy.E)


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        (sympy.Float("0.5"), "float"),
        (sympy.nan, "NaN"),
        (sympy.oo, "Infinity"),
        (sympy.I, "ImaginaryUnit"),
        (sympy.EulerGamma, "EulerGamma"),
        (sympy.Symbol("x"), "Symbol"),
        (sympy.gamma(sympy.pi), "gamma"),
        (1 + sympy.GoldenRatio, "GoldenRatio"),
        (2 * sympy.Catalan, "Catalan"),
        (sympy.exp(sympy.EulerGamma), "EulerGamma"),
    ],
    ids=str,
)
def test_what_is_no_exact_number_is_refused_by_its_kind(expression, kind):
    """SymPy's floats, constants, symbols and other functions, wherever they stand."""
    with pytest.raises(Malformed, match=f"found the SymPy {kind}"):
        read(expression)


@some
@given(st.sampled_from([sympy.log(-1), sympy.sqrt(-2), 1 / sympy.sqrt(-3)]))
def test_what_is_no_real_number_is_refused(expression):
    """Complex numbers have parts that are no numbers here."""
    with pytest.raises(Malformed):
        read(expression)


def test_symbols_are_read_only_where_they_may_stand():
    """A SymPy symbol is no number unless symbols are asked for."""
    with pytest.raises(Malformed, match="found the SymPy Symbol x"):
        from_sympy(sympy.Symbol("x"))
    assert from_sympy(sympy.Symbol("x"), symbols=True).symbols == ("x",)
