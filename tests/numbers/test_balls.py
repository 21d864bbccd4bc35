"""Enclosures hold the true number, which MPFR computes at 900 bits."""

from __future__ import annotations

import sys
import threading
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from symattn.errors import Malformed
from symattn.numbers.balls import precision
from symattn.numbers.reading import read

from ..oracle import mpfr
from ..strategies import field_texts, many, some, sums


def ends(ball):
    """Both ends of a ball, exactly."""
    middle, radius = (Fraction(int(x.fmpq().p), int(x.fmpq().q)) for x in (ball.mid(), ball.rad()))
    return middle - radius, middle + radius


def assert_encloses(ball, near):
    """The ball holds a number within 600 bits of ``near``."""
    lower, upper = ends(ball)
    slack = Fraction(1, 2**600) * (1 + abs(near))
    assert lower - slack <= near <= upper + slack


@pytest.mark.heavy
@many
@given(field_texts, st.sampled_from([53, 128, 300]))
def test_balls_hold_the_true_value(text, bits):
    """At any precision, the ball of a closed form holds what MPFR computes from
    the same text; at 300 bits it is narrow."""
    value, near = read(text), mpfr(text)
    assert_encloses(value.ball(bits), near)
    lower, upper = ends(value.ball(300))
    assert upper - lower <= Fraction(1, 2**150) * (1 + abs(near))


@some
@given(sums)
def test_balls_of_roots_and_logarithms_hold_the_true_value(text):
    """So do the balls of opaque numbers: nested roots, logarithms, exponentials
    of exponentials."""
    if read(text).sign() <= 0:
        text = f"1 - ({text})"
    assert_encloses(read(text).sqrt().ball(200), mpfr(f"sqrt({text})"))
    assert_encloses(read(text).log().ball(200), mpfr(f"log({text})"))
    small = text if read(text).ball(64) < 100 else f"1/(1 + {text})"
    assert_encloses((-read(small)).exp().ball(200), mpfr(f"exp(-({small}))"))


@some
@given(field_texts)
def test_signs_are_those_of_the_true_value(text):
    """sign() agrees with MPFR, and is 0 only for an exact zero."""
    near = mpfr(text)
    assert read(text).sign() == (near > 0) - (near < 0) or abs(near) < Fraction(1, 2**600)


@pytest.mark.parametrize(
    "text",
    [
        "sqrt(1/(exp(1) - 1))",
        "sqrt(exp(1)/(exp(2) - 3))",
        "sqrt((1 - exp(1))/(2 - exp(1)))",
        "sqrt(1/(sqrt(2)*exp(1) - 1))",
        "sqrt(3/((exp(1) - 1)*(exp(1) - 1)))",
    ],
)
def test_roots_over_negative_denominators_are_positive(text):
    """A root is the positive one, also where the normal form's denominator is
    negative (1 - e)."""
    assert read(text).sign() == 1
    assert_encloses(read(text).ball(200), mpfr(text))


def test_a_value_with_symbols_has_no_ball():
    """Symbols above or below the line: no number, and a clear refusal."""
    for text in ("g", "1 + 2*g", "1/(1 + g)", "exp(1)/(1 + g*exp(1))"):
        value = read(text, symbols=True)
        assert value.has_symbols
        with pytest.raises(Malformed, match="is not one number"):
            value.ball(64)


def test_precision_is_restored():
    """The working precision outside a block is what it was, also after an error."""
    before = ctx.prec
    with precision(500):
        assert ctx.prec == 500
        with precision(200):
            assert ctx.prec == 200
        assert ctx.prec == 500
    with pytest.raises(ZeroDivisionError), precision(77):
        raise ZeroDivisionError
    assert ctx.prec == before


@pytest.fixture
def eager_switching():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("eager_switching")
def test_threads_keep_their_own_precision():
    """While other threads compute at a low precision, one thread's digits stay right."""
    done = threading.Event()
    found: list[int] = []

    def coarse():
        while not done.is_set():
            with precision(30):
                arb(2).sqrt()

    def fine():
        value = read("sqrt(2)*exp(sqrt(3)) + exp(1/7)/(1 + exp(sqrt(5)))")
        found.extend(value.ball(400).rel_accuracy_bits() for _ in range(300))
        done.set()

    threads = [threading.Thread(target=work) for work in (coarse, fine)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 300
    assert min(found) > 380
