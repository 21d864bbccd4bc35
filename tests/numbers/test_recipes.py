"""Recipes: balls evaluate them, closed forms are made under a budget, and questions are decided."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from symattn.errors import Malformed, NoClosedForm, Refuted, Undecided
from symattn.limits import DECIDING, QUICK, SHOWN, Limit
from symattn.numbers import quotients, zero_test
from symattn.numbers.balls import FIRST, Exceeded, precision, spend, spending
from symattn.numbers.quotients import Unfolded
from symattn.numbers.reading import read
from symattn.numbers.values import ONE, Value, rational, symbol, total
from symattn.verdicts import Verdict

from ..strategies import field, some


def long_sum(count: int = 300) -> Value:
    """A sum of more exponentials than a closed form that is shown has terms."""
    return total(read(f"exp({k}/7)") for k in range(count))


def deciding(value: Value) -> quotients.Parts:
    """The form that questions are decided by: there is always one."""
    parts = value.form(DECIDING)
    assert parts is not None
    return parts


def atoms(parts: quotients.Parts) -> list[object]:
    """What stands for itself in a closed form."""
    return [
        atom
        for terms in parts.values()
        for _, _, held in terms
        for atom, _ in held
        if isinstance(atom, Unfolded)
    ]


def test_a_budget_ends_with_its_block():
    """Work is counted inside of the innermost block only, and not after it."""
    with spending(10):
        spend(6)
        with spending(100):
            spend(90)
        spend(4)
        with pytest.raises(Exceeded):
            spend(1)
    with pytest.raises(Exceeded), spending(0):
        spend(1)
    spend(10**9)


def test_a_form_is_short_or_there_is_none():
    """Of 200 terms there is a form, of 201 none; of 2048 bits, not of more."""
    assert quotients.length(long_sum(200).parts) == 200
    with pytest.raises(NoClosedForm):
        long_sum(201).formula()
    for bits, closed in [(2048, True), (2049, False)]:
        large = rational(fmpq(2) ** (bits - 1)) * ONE.exp()
        assert large.is_closed is closed
        assert large.decimal(0) > 0
        assert rational(fmpq(2) ** (bits - 1)).is_closed is closed


def test_nested_forms_count_whole():
    """An exponential of a long sum is as long as that sum."""
    inside = total(read(f"exp(exp({k}))") for k in range(1, 102))
    assert quotients.width(deciding(inside)) == 101
    assert inside.form() is None
    shorter = total(read(f"exp(exp({k}))") for k in range(1, 101))
    assert quotients.length(shorter.parts) == 200


@some
@given(field, field)
def test_forms_of_every_budget_are_the_number(a, b):
    """Whatever a question is decided by lies where the balls are."""
    value = a * b + a
    for budget in (QUICK, DECIDING, SHOWN):
        parts = value.form(budget)
        if parts is not None:
            with precision(FIRST):
                assert quotients.ball(parts).overlaps(value.enclosure(FIRST))


def test_what_is_too_long_stands_for_itself():
    """In a form that decides, an exponential of a long sum is one atom, whose ball
    is the number's; so its quotient by itself is one, and a difference is zero."""
    power = (long_sum() / 10**20).exp()
    (atom,) = atoms(deciding(power))
    assert isinstance(atom, Unfolded)
    with precision(200):
        assert quotients.ball(deciding(power)).overlaps(power.ball(200))
        assert quotients.ball(deciding(power)).rel_accuracy_bits() > 100
    for budget in (QUICK, DECIDING):
        assert (power / (power + 1) + 1 / (power + 1) - 1).is_zero(budget) is Verdict.HOLDS
    assert power.form() is None


def test_softmax_of_softmax_has_rows_that_sum_to_one():
    """Thirty times over, with no closed form in sight."""
    row = [read("1/2"), read("1/3"), read("-1/5")]
    for _ in range(30):
        powers = [x.exp() for x in row]
        normaliser = total(powers)
        row = [power / normaliser for power in powers]
    assert row[0].form() is None
    assert total(row) == 1
    assert (total(row) - 1).is_zero(QUICK) is Verdict.HOLDS


def test_a_form_for_a_question_is_not_shown():
    """A number that was compared has no more of a closed form than before."""
    value = long_sum() + 1
    assert value != long_sum()
    assert value.form(DECIDING) is not None
    assert not value.is_closed
    other = read("exp(1)") + 1
    assert other.form(DECIDING) == other.form()


def test_quick_questions_end_early():
    """A difference far below a quick question's precision stays open, is told from
    zero by a thorough one, and has a sign."""
    near = rational(2).log() + rational(3).log() - rational(6).log()
    tiny = near + read("exp(-1000)")
    assert tiny.is_zero(QUICK) is Verdict.UNDECIDED
    assert tiny.is_zero() is Verdict.REFUTED
    assert tiny.sign() == 1


def test_enclosures_end(monkeypatch):
    """Operations times bits have a limit, and beyond it that is said."""
    value = long_sum(50)
    monkeypatch.setattr("symattn.numbers.lazy.ENCLOSURE", Limit(100 * 1000, "{found}!"))
    assert value.ball(900).is_finite()
    with pytest.raises(Undecided, match=r"^10[01] operations at 1100 bits!$"):
        long_sum(50).ball(1100)
    # What is known already costs nothing.
    monkeypatch.undo()
    value.ball(4096)
    monkeypatch.setattr("symattn.numbers.lazy.ENCLOSURE", Limit(0, "{found}!"))
    assert value.ball(4096).is_finite()


def test_a_wrong_form_is_refuted():
    """A closed form that is another number than its recipe is never shown."""
    three = {(): {((), 1, ()): fmpq(3)}}
    number = ONE.exp()
    number.operation = replace(cast("Any", number.operation), form=lambda below: three)
    with pytest.raises(Refuted, match=r"the closed form 3 is not \[2\.718"):
        number.formula()


def coefficients(value: Value) -> dict[str | None, Value]:
    return dict(value.coefficients())


def test_coefficients_without_a_closed_form():
    """A form in symbols that is too long to write out is linear by its recipe, and
    its coefficients are those of the recipe."""
    g, h, long = symbol("g"), symbol("h"), long_sum()
    value = (g * long + 2 * h - 3) * long + long * (h * 5) + 7 * long
    assert value.form() is None
    assert value.is_linear_form
    assert value.symbols == ("g", "h")
    found = coefficients(value)
    assert found.keys() == {None, "g", "h"}
    for name, wanted in [("g", long * long), ("h", 7 * long), (None, 4 * long)]:
        assert found[name] == wanted
        assert found[name].ball(200).overlaps(wanted.ball(200))
    assert value.coefficient("k") == 0


def test_products_of_symbols_are_no_linear_forms_without_a_closed_form_either():
    """The recipe's degree tells."""
    g, long = symbol("g"), long_sum()
    for value in (g * g * long, long / (g + long), (g * long) * (g + 1)):
        assert value.form() is None
        assert not value.is_linear_form
        with pytest.raises(Malformed, match=r"^a form in 1 symbols is not linear"):
            value.coefficient("g")
    assert (g * long).is_linear_form
    assert not long.is_linear_form
    assert long.coefficient(None) is long
    assert long.coefficient("g") == 0


def test_symbols_that_cancel_leave_a_number():
    """What is left when symbols cancel has digits."""
    g = symbol("g")
    value = (g * ONE.exp() - ONE.exp() * g) + 2
    assert value.letters == {"g"}
    assert value.symbols == ()
    assert value.decimal(3) == 2


@given(st.lists(st.fractions(max_denominator=9), min_size=1, max_size=6))
def test_rational_numbers_are_worked_out_at_once(numbers):
    """Sums and products of rational numbers are numbers, not recipes."""
    values = [read(x) for x in numbers]
    assert total(values).number == fmpq(0) + sum(
        (fmpq(x.numerator, x.denominator) for x in numbers), fmpq(0)
    )
    assert all(not x.operands for x in (total(values), values[0] * values[-1], -values[0]))
    assert read(Fraction(2)).inverse().number == fmpq(1, 2)


def test_rational_numbers_beyond_all_bounds_are_recipes():
    """Squared again and again, a number keeps its size as a ball."""
    value = read("3/7")
    for _ in range(40):
        value = value * value
    assert value.number is None
    assert value.operands
    assert value.ball(100) < arb("1e-100000000")


def test_a_quick_question_takes_nothing_from_a_thorough_one(monkeypatch):
    """What was cut short for the first is worked out for the second, and kept."""
    monkeypatch.setattr(zero_test, "EVALUATED", 0)
    base = total(read(f"exp({k}/7)") for k in range(60))
    square, other = base * base, total(read(f"exp({k}/7)") for k in range(60))
    doubt = square * base - other * (other * other)
    assert doubt.is_zero(QUICK) is Verdict.UNDECIDED
    assert doubt.is_zero() is Verdict.HOLDS
    assert doubt.is_zero(QUICK) is Verdict.UNDECIDED
    assert not square.is_closed or square.form() == square.form(DECIDING)
