"""Numbers with a derivative, against mpmath's."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from flint import arb

from symattn.calculus import sampling
from symattn.calculus.sampling import Jet, slope

FUNCTIONS = {
    "exp": (sampling.FUNCTIONS["exp"], mpmath.exp),
    "log": (sampling.FUNCTIONS["log"], mpmath.log),
    "sin": (sampling.FUNCTIONS["sin"], mpmath.sin),
    "cos": (sampling.FUNCTIONS["cos"], mpmath.cos),
    "erf": (sampling.FUNCTIONS["erf"], mpmath.erf),
    "root": (lambda x: sampling.power(x, Fraction(1, 2)), mpmath.sqrt),
    "third": (lambda x: sampling.power(x, Fraction(1, 3)), mpmath.cbrt),
    "inverse": (lambda x: sampling.power(x, Fraction(-2)), lambda x: x**-2),
    "inverse root": (lambda x: sampling.power(x, Fraction(-3, 2)), lambda x: x ** mpmath.mpf(-1.5)),
    "cube": (lambda x: sampling.power(x, Fraction(3)), lambda x: x**3),
    "product": (lambda x: x * sampling.FUNCTIONS["sin"](x) * 3, lambda x: x * mpmath.sin(x) * 3),
    "difference": (
        lambda x: 2 - x * x - sampling.FUNCTIONS["exp"](-x),
        lambda x: 2 - x * x - mpmath.exp(-x),
    ),
    "sum": (lambda x: 1 + x + x * 2, lambda x: 1 + x + x * 2),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives(name, order) -> None:
    """First, second and third derivatives, one inside the other."""
    ours, theirs = FUNCTIONS[name]
    at = "1.3"
    value: arb | Jet = arb(at)
    for tag in range(1, order + 1):
        value = Jet(tag, value, 1)
    found = ours(value)
    for tag in range(order, 0, -1):
        found = slope(found, tag)
    with mpmath.workdps(40):
        expected = mpmath.diff(theirs, mpmath.mpf(at), order)
    assert abs(float(found) - float(expected)) < 1e-9 * (1 + abs(float(expected)))


def test_slopes_are_not_confused() -> None:
    """d/dx (x * d/dy (x + y)) at 1 is 1: each slope is its own variable's."""
    x = Jet(1, 1, 1)
    inner = x + Jet(2, 1, 1)
    assert slope(x * slope(inner, 2), 1) == 1
    assert slope(inner, 1) == 0  # the outer tag is 2
    assert slope(slope(x * Jet(2, 3, 1), 2), 1) == 1


def test_steps_have_no_slope() -> None:
    """1 above 0, else 0; nothing where it jumps while something moves, or may be above 0."""
    assert (sampling.positive(2), sampling.positive(arb(-2)), sampling.positive(Jet(1, 3, 1))) == (
        1,
        0,
        1,
    )
    assert (sampling.positive(0), sampling.positive(arb(0))) == (0, 0)
    assert sampling.positive(Jet(1, 0, 1)).base == 0
    assert not slope(sampling.positive(Jet(1, 0, 1)), 1).is_finite()
    assert not slope(sampling.positive(Jet(2, Jet(1, 0, 1), 0)).base, 1).is_finite()
    assert not sampling.positive(arb(0, 1)).is_finite()


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1), Fraction(5)])
def test_whole_powers_of_whole_numbers_are_exact(exponent) -> None:
    """They stay whole numbers."""
    assert sampling.power(-3, exponent) == (-3) ** int(exponent)
    assert slope(sampling.power(Jet(1, 0, 1), Fraction(0)), 1) == 0


def test_roots_of_negative_numbers_are_nothing() -> None:
    """Not finite, as everything that has no meaning."""
    for value in (
        sampling.power(-1, Fraction(1, 2)),
        sampling.FUNCTIONS["log"](-1),
        sampling.power(0, Fraction(-1)),
    ):
        assert not value.is_finite()
