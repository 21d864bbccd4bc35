"""Sines and cosines of algebraic numbers: a field where equality is decided."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from flint import fmpq
from hypothesis import assume, given
from hypothesis import strategies as st

from symattn.errors import Malformed
from symattn.expressions.formulas import latex
from symattn.expressions.syntax import shown as text
from symattn.limits import DECIDING
from symattn.numbers import exponential_sums, zero_test
from symattn.numbers.quotients import divide
from symattn.numbers.reading import read
from symattn.numbers.rows import read_rows
from symattn.numbers.values import PI, Value, compare, of_parts, rational, symbol, total
from symattn.verdicts import Verdict

from ..oracle import DIGITS, close, evaluate, mpfr
from ..strategies import algebraic, few, some, waves

HOLDS, REFUTED, UNDECIDED = Verdict.HOLDS, Verdict.REFUTED, Verdict.UNDECIDED
CONSTANTS = {"e": mpmath.e, "pi": mpmath.pi}

values = waves.map(read)
non_zero = values.filter(bool)
angles = algebraic.map(read) | st.fractions(-9, 9, max_denominator=9).map(lambda q: read(q))


# -- the numbers they are ------------------------------------------------------------------


@some
@given(waves, waves)
def test_the_digits_and_the_text_of_waves_are_their_number(x, y):
    """By MPFR and by mpmath: of sums, products and quotients, and of their texts."""
    assume(bool(read(y)))
    for written in (x, f"({x})*({y})", f"({x})/({y})"):
        value = read(written)
        with mpmath.workdps(DIGITS):
            exactly = mpfr(written)
            near = mpmath.mpf(exactly.numerator) / exactly.denominator
            assert close(value.ball(300), near, 40)
            assert close(value.ball(300), evaluate(written, CONSTANTS), 40)
            assert close(value.ball(300), evaluate(str(value), CONSTANTS), 40)


@pytest.mark.parametrize(
    ("written", "shown", "typeset"),
    [
        ("cos(1/2)", "cos(1/2)", r"\cos\left(\frac{1}{2}\right)"),
        ("sin(sqrt(2))", "sin(sqrt(2))", r"\sin\left(\sqrt{2}\right)"),
        ("sin(-2)", "-sin(2)", r"-\sin\left(2\right)"),
        ("cos(1 - sqrt(2))", "cos(1 - sqrt(2))", r"\cos\left(1 - \sqrt{2}\right)"),
        ("cos(sqrt(2) - 1)", "cos(1 - sqrt(2))", r"\cos\left(1 - \sqrt{2}\right)"),
        ("sin(0) + cos(0)", "1", "1"),
        ("cos(1/2)*sin(1/2)", "sin(1)/2", r"\frac{\sin\left(1\right)}{2}"),
        ("sin(1)*sin(1)", "1/2 - cos(2)/2", r"\frac{1}{2} - \frac{\cos\left(2\right)}{2}"),
        ("2*exp(1)*sqrt(3)*cos(1)", "2*sqrt(3)*e*cos(1)", r"2\,\sqrt{3}\,e\,\cos\left(1\right)"),
        ("sin(1)/cos(1)", "sin(1)/cos(1)", r"\frac{\sin\left(1\right)}{\cos\left(1\right)}"),
        ("1/(3*exp(1)*cos(1))", "e^(-1)/(3*cos(1))", None),
        ("sin(2)/cos(1)", "2*sin(1)", None),
        ("(1 - cos(2))/sin(1)", "2*sin(1)", None),
        ("(1 + exp(1))*cos(3)/cos(3)", "1 + e", None),
        ("cos(1)*exp(cos(1))/exp(cos(1))", "cos(1)", None),
        ("sin(exp(1) - 4)", "-sin(4 - e)", None),
        ("cos(exp(1) - 4)", "cos(4 - e)", None),
        ("sin(pi/5)", "sin(pi/5)", r"\sin\left(\frac{\pi}{5}\right)"),
        ("sin(6*pi/7)", "sin(pi/7)", None),
        ("cos(5*pi/14)", "sin(pi/7)", None),
        ("1/pi", "1/pi", r"\frac{1}{\pi}"),
    ],
)
def test_closed_forms_of_waves(written, shown, typeset):
    """Angles have a positive first coefficient, products are sums, quotients are divided out."""
    formula = read(written).formula()
    assert text(formula) == shown
    assert typeset in (None, latex(formula))


# -- the laws ------------------------------------------------------------------------------


@some
@given(angles, angles)
def test_angles_are_added(a, b):
    """The addition theorems, and with them products as sums and halves of angles."""
    assert a.cos() * b.cos() + a.sin() * b.sin() == (a - b).cos()
    assert a.sin() * b.cos() + a.cos() * b.sin() == (a + b).sin()
    assert 2 * a.sin() * b.sin() == (a - b).cos() - (a + b).cos()
    assert a.sin() ** 2 + a.cos() ** 2 == 1
    assert (-a).sin() == -a.sin()
    assert (-a).cos() == a.cos()


@few
@given(angles, st.integers(2, 8))
def test_multiples_of_an_angle_are_polynomials(a, n):
    """Chebyshev's recurrence, for waves of products."""
    known = [rational(1), a.cos()]
    for _ in range(n - 1):
        known.append(2 * a.cos() * known[-1] - known[-2])
    assert known[n] == (n * a).cos()


@few
@given(st.tuples(*[st.fractions(-5, 5, max_denominator=4)] * 4), angles, st.integers(0, 9))
def test_rotated_vectors_see_their_relative_position(entries, angle, m):
    """What rotary positions promise: the product of a query at m and a key at n depends on
    their distance alone, here as a theorem."""
    a, b, c, d = map(read, entries)

    def score(first, second):
        x, y = angle * first, angle * second
        q = a * x.cos() - b * x.sin(), a * x.sin() + b * x.cos()
        k = c * y.cos() - d * y.sin(), c * y.sin() + d * y.cos()
        return q[0] * k[0] + q[1] * k[1]

    assert compare(score(m, 2), score(m + 5, 7)) is HOLDS


@some
@given(values, values, values)
def test_waves_make_a_field(x, y, z):
    """Distributive, and what is divided comes back; each product in another order."""
    assert (x + y) * z == z * y + x * z
    assert (x * y) * z == x * (y * z)
    if y:
        assert x / y * y == x
        assert y * (1 / y) == 1


@some
@given(non_zero, non_zero)
def test_a_quotient_of_sums_with_waves_is_found_or_left(x, y):
    """A product divided by a factor is the other one, or stays a quotient; never a third."""
    a, b = (value.parts.get((), {}) for value in (x, y))
    found = divide(exponential_sums.multiply(a, b), b)
    assert found is None or of_parts({(): found}) == x
    assert divide(b, b) == exponential_sums.constant(1)


@some
@given(st.lists(st.tuples(angles, st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=4))
def test_waves_of_other_angles_are_independent(terms):
    """A combination of waves is zero only where all coefficients are, by angle."""
    value = total(p * a.cos() + q * a.sin() for a, p, q in terms)
    at: dict[str, tuple[int, int]] = {}
    for angle, p, q in terms:
        if angle == 0:
            at["0"] = at.get("0", (0, 0))[0] + p, 0
            continue
        shown, sign = str(angle), 1
        if str(-angle) in at:
            shown, sign = str(-angle), -1
        before = at.get(shown, (0, 0))
        at[shown] = before[0] + p, before[1] + sign * q
    expected = REFUTED if any(map(any, at.values())) else HOLDS
    assert value.is_zero() is expected


@some
@given(waves, waves, waves)
def test_points_agree_with_the_normal_form_of_waves(x, y, z):
    """Modulo a prime, waves are at a random point of a circle: what doesn't vanish there is
    not zero; the closed form of a product vanishes beside the product."""
    product = of_parts(read(f"({x})*({y})").parts)
    for other in (product, product + read(z)):
        made = read(x) * read(y) - other
        found = zero_test.is_zero(made._lines())
        assert found in ((REFUTED,) if made.form(DECIDING) else (HOLDS, UNDECIDED))


def test_a_wave_is_not_zero_however_near(monkeypatch):
    """cos(1) is not its first 12,000 digits: by the normal form, without points."""
    monkeypatch.setattr(zero_test, "EVALUATED", 0)
    with mpmath.workdps(12_020):
        whole = int(mpmath.floor(mpmath.cos(1) * mpmath.mpf(10) ** 12_000))
    assert (read("cos(1)") - fmpq(whole, 10**12_000)).is_zero() is REFUTED


@pytest.mark.parametrize("text", ["cos(1)", "sin(sqrt(2)/3)", "cos(1/2)*exp(1) - sin(3)"])
def test_symbols_stand_before_waves(text):
    """A wave times a symbol is a linear form; a wave of a symbol is none."""
    form = read(text) * symbol("g") + read("sin(2)")
    assert form.is_linear_form
    assert form.coefficient("g") == read(text)
    assert compare(form, form + read("cos(2)")) is REFUTED
    for name in ("cos", "sin", "erf"):
        assert not getattr(form, name)().is_linear_form


# -- pi ------------------------------------------------------------------------------------


@some
@given(
    st.integers(-50, 50),
    angles | st.sampled_from(["exp(1)", "log(2)", "pi/7 - exp(2)", "1 - pi/7", "3*pi/7"]).map(read),
)
def test_twelfths_of_pi_turn_waves(k, x):
    """sin(x + k pi/12) by mpmath; half and full turns are decided, of what is opaque too."""
    turned = x + k * PI / 12
    with mpmath.workdps(DIGITS):
        at = mpmath.mpf(x.ball(400).mid().str(DIGITS + 10, radius=False)) + k * mpmath.pi / 12
        assert close(turned.sin().ball(300), mpmath.sin(at), 45)
        assert close(turned.cos().ball(300), mpmath.cos(at), 45)
        assert close(turned.sin().ball(300), evaluate(str(turned.sin()), CONSTANTS), 45)
        assert close(turned.cos().ball(300), evaluate(str(turned.cos()), CONSTANTS), 45)
    assert (x + PI).sin() == -x.sin()
    assert (x + 2 * k * PI).cos() == x.cos()
    assert (x - PI / 2).cos() == x.sin()
    assert (PI / 2 - x).sin() == x.cos()


def test_pi_is_known_by_its_name():
    """Equal to itself, and unlike every number that it is near."""
    assert compare(PI * PI - PI, PI * (PI - 1)) is HOLDS
    assert PI.decimal(12) == read("pi").decimal(12)
    assert PI.decimal(12) != read("355/113").decimal(12)
    assert compare(PI, read("355/113")) is REFUTED
    assert compare(symbol("pi"), PI) is not HOLDS
    assert read("sin(pi)") == 0
    assert read("cos(pi/3)") == Fraction(1, 2)


# -- what is opaque ------------------------------------------------------------------------


@some
@given(st.sampled_from(["cos", "sin", "erf"]), waves)
def test_functions_of_sums_have_digits_and_a_structure(function, written):
    """Even or odd, equal to themselves, certain digits, and a text that means them."""
    x = read(written)
    value = getattr(x, function)()
    opposite = getattr(rational(0) - x, function)()
    assert compare(opposite, value if function == "cos" else -value) is HOLDS
    with mpmath.workdps(DIGITS):
        near = getattr(mpmath, function)(evaluate(written, CONSTANTS))
        assert close(value.ball(300), near, 40)
        assert close(value.ball(300), evaluate(str(value), CONSTANTS), 40)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("erf(0)", "0"),
        ("erf(-1/2)", "-erf(1/2)"),
        ("erf(1/2) + erf(-1/2)", "0"),
        ("erf(sqrt(2)/2)*erf(sqrt(1/2))", "erf(sqrt(2)/2)^2"),
        ("erf(1)/erf(2)", "erf(1)/erf(2)"),
        ("exp(erf(1))", "exp(erf(1))"),
    ],
)
def test_closed_forms_of_the_error_function(written, shown):
    """An odd function that is known by its argument."""
    value = read(written)
    assert str(value) == shown
    assert latex(value.formula()).count(r"\operatorname{erf}") == shown.count("erf")


def test_the_error_function_has_correctly_rounded_digits():
    """Held against MPFR, near 0 and where it is almost 1."""
    for written in ("1/1000000", "1/2", "2", "-7", "20"):
        whole = round(mpfr(f"erf({written})") * 10**200)
        assert Fraction(read(f"erf({written})").decimal(200)) == Fraction(whole, 10**200)


# -- numbers of files ----------------------------------------------------------------------


def test_walkthroughs_may_write_them():
    """Matrices of numbers with waves, pi and the other functions."""
    shape, rows = read_rows([["cos(1/2)", "-sin(1/2)"], ["2*pi", "tanh(1)"], ["log(2)", "erf(1)"]])
    assert shape == (3, 2)
    assert isinstance(rows[0][1], Value)
    assert [[str(x) for x in row] for row in rows] == [
        ["cos(1/2)", "-sin(1/2)"],
        ["2*pi", "(e^2 - 1)/(1 + e^2)"],
        ["log(2)", "erf(1)"],
    ]
    assert str(read("pi*g - sin(1)*h", symbols=True)) == "pi*g - sin(1)*h"
    with pytest.raises(Malformed, match=r"only numbers, pi, .* tanh erf are read here"):
        read("tan(1)")
