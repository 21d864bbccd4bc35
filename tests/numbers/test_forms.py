"""Closed forms are readable, and mean the value that they show."""

from __future__ import annotations

import re

import mpmath
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from symattn.errors import Malformed
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.numbers.closed_forms import NamedNormaliser
from symattn.numbers.reading import read
from symattn.numbers.sympy_bridge import to_sympy
from symattn.numbers.values import ONE, compare
from symattn.verdicts import Verdict

from ..oracle import DIGITS, close, evaluate
from ..strategies import field, field_texts, fractions, many, non_zero, some

CONSTANTS = {"E": mpmath.e, "e": mpmath.e}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("exp(1)/(exp(1) + exp(1/2) + 1)", "e/(1 + sqrt(e) + e)"),
        ("exp(2)/(exp(2) + exp(1) + exp(1))", "e/(2 + e)"),
        ("1/(1 + exp(-1))", "e/(1 + e)"),
        ("exp(3/2)/exp(1/2)", "e"),
        ("exp(-1/2)", "e^(-1/2)"),
        ("exp(sqrt(2)/2)", "e^(sqrt(2)/2)"),
        ("exp(2)*3/4", "3*e^2/4"),
        ("3*sqrt(2)/4 - 1/2", "3*sqrt(2)/4 - 1/2"),
        ("1/sqrt(2)", "sqrt(2)/2"),
        ("sqrt(72)", "6*sqrt(2)"),
        ("exp(1) - 1", "e - 1"),
        ("1 - exp(1)", "1 - e"),
        ("-exp(1)", "-e"),
        ("-1/(1 + exp(1))", "-1/(1 + e)"),
        ("(2 + 2*exp(1))/(1 + exp(1))", "2"),
        ("(exp(2) - 1)/(exp(1) - 1)", "1 + e"),
        ("1/(1 + exp(1))*(1/(1 + exp(1)))", "1/(1 + e)^2"),
        ("1/(1 + exp(1))/(1 + exp(2))", "1/((1 + e)*(1 + e^2))"),
        ("1 - exp(1)/(1 + exp(1))", "1/(1 + e)"),
        ("exp(1)/(2 + 2*exp(1))", "e/(2*(1 + e))"),
        ("0*exp(1)", "0"),
        ("1/3 + 1/6", "1/2"),
        ("-1/3", "-1/3"),
        ("-exp(1)/2 - 1", "-1 - e/2"),
        ("1 - exp(1) - exp(2)", "1 - e - e^2"),
        ("exp(1/2)*sqrt(2)/3", "sqrt(2)*sqrt(e)/3"),
        ("-(1 + exp(2))/(3 + 3*exp(1))", "-(1 + e^2)/(3*(1 + e))"),
        ("(2 + 4*exp(2))/(1 + exp(1))", "2*(1 + 2*e^2)/(1 + e)"),
        ("exp(1)/2/(1 + exp(1))", "e/(2*(1 + e))"),
        ("exp(1)*(sqrt(2) - 1)/(1 + exp(1))", "(sqrt(2)*e - e)/(1 + e)"),
        ("1/(1 + exp(1)) + 1/(1 + exp(2)) + 1", "1 + 1/(1 + e) + 1/(1 + e^2)"),
        (
            "1/(1 + exp(2)) + 1/(1 + exp(1)) + 1/(1 + exp(1) + exp(3))",
            "1/(1 + e) + 1/(1 + e^2) + 1/(1 + e + e^3)",
        ),
        ("1/((1 + exp(2))*(3 + exp(1)))", "1/(3 + e + 3*e^2 + e^3)"),
        ("exp(-sqrt(2)) + exp(1) + exp(2) + exp(sqrt(2))", "e^(-sqrt(2)) + e + e^sqrt(2) + e^2"),
        ("sqrt(3) + sqrt(2) + 1", "1 + sqrt(2) + sqrt(3)"),
        ("1/(exp(1) - exp(2))", "e^(-1)/(1 - e)"),
    ],
)
def test_known_closed_forms(text, shown):
    """Known values have the form that a textbook gives them."""
    assert str(read(text)) == shown


@pytest.mark.heavy
@many
@given(field_texts)
def test_the_text_of_a_closed_form_is_its_value(text):
    """The printed form, read by Python's parser and mpmath at 60 digits, is the
    value; so is the SymPy expression's text."""
    value = read(text)
    with mpmath.workdps(DIGITS):
        for shown in (str(value), str(to_sympy(value))):
            assert close(value.ball(300), evaluate(shown, CONSTANTS), 40)


@some
@given(field)
def test_the_latex_of_a_closed_form_is_its_value(value):
    """The printed LaTeX, turned back into plain text, is the same value."""
    with mpmath.workdps(DIGITS):
        assert close(value.ball(300), evaluate(plain(f.latex(value.formula())), CONSTANTS), 40)


def plain(latex):
    r"""LaTeX of a closed form as text: \frac{a}{b} is ((a)/(b))."""
    latex = latex.replace(r"\left(", "(").replace(r"\right)", ")")
    latex = latex.replace(r"\,", "*").replace(r"\cdot", "*")
    while r"\frac" in latex:
        start = latex.rindex(r"\frac")
        over, rest = braced(latex, start + 5)
        below, end = braced(latex, rest)
        latex = f"{latex[:start]}(({over})/({below})){latex[end:]}"
    return latex.replace(r"\sqrt{", "sqrt{").replace("{", "(").replace("}", ")")


def braced(text, start):
    """What stands in the braces at ``start``, and the place after them."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if not depth:
            return text[start + 1 : place], place + 1
    raise AssertionError(text)


@some
@given(field)
def test_a_form_is_stable(value):
    """Multiplying by one and changing the sign twice leave the form alone."""
    assert str(value * ONE) == str(value)
    negative = -value
    assert str(-negative) == str(value)


@pytest.mark.parametrize("scale", ["2", "1/3", "exp(1)", "exp(-5/2)", "-7"])
def test_common_factors_cancel(scale):
    """A weight looks the same whatever all its exponentials were multiplied by."""
    powers = [read(f"{scale}*exp({k}/2)") for k in range(3)]
    weight = powers[2] / (powers[0] + powers[1] + powers[2])
    assert str(weight) == "e/(1 + sqrt(e) + e)"


linear = st.lists(st.tuples(fractions, st.sampled_from(["g1", "g2", "h"])), max_size=4)


@some
@given(field, linear)
def test_linear_forms_are_read_by_coefficient(constant, terms):
    """coefficient() gives what was put before each symbol, None the constant."""
    form = constant
    for q, name in terms:
        form = form + read(q) * read(name, symbols=True)
    for name in ("g1", "g2", "h", "absent"):
        expected = read(sum(q for q, symbol in terms if symbol == name))
        assert compare(form.coefficient(name), expected) is Verdict.HOLDS
    assert compare(form.coefficient(None), constant) is Verdict.HOLDS


@some
@given(non_zero, field)
def test_linear_forms_follow_the_field(a, b):
    """a (g + b h) - a g - a b h is zero, and (a g)/a is g for an a that is not zero."""
    g, h = (read(name, symbols=True) for name in "gh")
    assert (a * (g + b * h) - a * g - a * b * h).is_zero() is Verdict.HOLDS
    assert compare(a * g / a, g) is Verdict.HOLDS
    assert compare(a * g, h) is Verdict.REFUTED


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("g1/3 - 2*g2 + 1", "1 + 1/3*g1 - 2*g2"),
        ("-g", "-g"),
        ("g - g", "0"),
        ("exp(1)*g/(1 + exp(1)) - g", "-1/(1 + e)*g"),
        ("(1 - exp(1))*g", "(1 - e)*g"),
        ("sqrt(2)*g2 + g1", "g1 + sqrt(2)*g2"),
    ],
)
def test_linear_forms_are_shown_symbol_by_symbol(text, shown):
    """A linear form reads as coefficient times symbol."""
    assert syntax.shown(read(text, symbols=True).formula()) == shown


def test_what_is_not_linear_has_no_coefficients():
    """Products of symbols, and symbols below the line, are no linear forms."""
    for text in ("g*h", "g*g", "1/(1 + g)", "g/(2 + g)"):
        value = read(text, symbols=True)
        assert not value.is_linear_form
        with pytest.raises(Malformed, match="is not linear in its symbols"):
            value.coefficient("g")


def test_a_linear_form_is_known_by_its_terms():
    """What stands alone, and before every symbol that occurs; zeros are left out."""
    form = read("g1/3 - 2*g2 + 5 + g3 - g3", symbols=True)
    assert [(s, str(c)) for s, c in form.coefficients()] == [
        (None, "5"),
        ("g1", "1/3"),
        ("g2", "-2"),
    ]
    assert not list(read("g - g", symbols=True).coefficients())


def named(text, unit):
    """The normaliser of 1/text, called Z where Z is ``unit`` times it."""
    ((normaliser, _),) = next(iter((1 / read(text)).parts))
    return {normaliser: NamedNormaliser(syntax.Name("Z"), read(unit).parts[()])}


@pytest.mark.parametrize(
    ("text", "unit", "shown"),
    [
        ("exp(1)/(1 + exp(1))", "1", "e/Z"),
        ("exp(1)/(1 + exp(1))", "exp(1/2)", "e^(3/2)/Z"),
        ("1/(1 + exp(1))*(1/(1 + exp(1)))", "exp(1/2)", "e/Z^2"),
        ("3/(2 + 2*exp(1)) - 1/2", "2", "(2 - e)/Z"),
        ("1/(1 + exp(1)) + 1/(1 + exp(2))", "1", "1/Z + 1/(1 + e^2)"),
        ("2 + exp(1)", "1", "2 + e"),
    ],
)
def test_normalisers_appear_by_name(text, unit, shown):
    """Where a row's sum has a name, the closed form uses it, with what is missing to it."""
    assert syntax.shown(read(text).formula(named("1 + exp(1)", unit))) == shown


def test_coefficients_use_names_too():
    """So do the coefficients of a linear form."""
    form = read("exp(1)/(1 + exp(1))", symbols=True) * read("g", symbols=True) + 1
    assert syntax.shown(form.formula(named("1 + exp(1)", "1"))) == "1 + e/Z*g"


@pytest.mark.parametrize(
    ("text", "linear"),
    [
        ("1", False), ("0", False), ("exp(1)/(1 + exp(1))", False), ("g", True), ("2 - g/3", True),
        ("g*exp(1)/(1 + exp(1)) + h", True), ("g*g", False), ("g*h + g", False), ("1/g", False),
        ("g/(1 + h)", False), ("g - g", False), ("g*h/h", True),
    ],
)  # fmt: skip
def test_linear_forms_are_known(text, linear):
    """At most one symbol in each term, none below the line, and at least one."""
    assert read(text, symbols=True).is_linear_form is linear


@pytest.mark.parametrize(
    ("text", "rational"),
    [
        ("0", 0), ("3", 3), ("-2/3", fmpq(-2, 3)), ("exp(1)/exp(1)", 1), ("sqrt(2)*sqrt(2)", 2),
        ("sqrt(2)", None), ("exp(1)", None), ("1 + exp(1)", None), ("1/(1 + exp(1))", None),
        ("g", None), ("1 + 1/(1 + exp(1)) + 1/(2 + exp(1))", None),
    ],
)  # fmt: skip
def test_rationals_are_known(text, rational):
    """rational() is the number where it is one, else None."""
    assert read(text, symbols=True).rational() == rational


@pytest.mark.parametrize(
    ("written", "latex"),
    [
        ("(e / 2)**2", r"\left(\frac{e}{2}\right)^{2}"),
        ("2 * 3", r"2 \cdot 3"),
        ("2 * sqrt(e)", r"2\,\sqrt{e}"),
        ("-(e + 1)", r"-\left(e + 1\right)"),
        ("K.T", r"K^{\top}"),
        ("e**(1 / 2)", "e^{1/2}"),
        ("W_Q[0, 1]", "(W_{Q})_{0,1}"),
    ],
)
def test_latex_of_formulas(written, latex):
    """Trees become LaTeX with the brackets that they need and no more."""
    assert f.latex(syntax.parse(written)) == latex


@pytest.mark.parametrize("function", ["erf", "sin", "log", "exp", "sqrt", "tanh"])
@pytest.mark.parametrize("number", [fmpq(3, 7**6000), fmpq(7) ** 6000 + fmpq(1, 3)])
def test_a_function_of_a_number_that_nobody_would_read_has_no_closed_form(function, number):
    """Its text is an enclosure; Python writes no whole number of 4,300 digits."""
    if number > 1 and function == "exp":
        number = 1 / number
    value = getattr(read(1) * number, function)()
    assert value.checked_form() is None
    assert re.match(r"-?\d|\[.+ \+/- |\[\+/- ", str(value))
