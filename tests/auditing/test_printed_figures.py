"""Printed numbers: what they say, at which places, and whether they hold."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from flint import fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from symattn.auditing.audit import audit
from symattn.auditing.standard import Standard, is_coarse, is_vacuous
from symattn.cases.case import make
from symattn.errors import Malformed
from symattn.numbers.rationals import PrintedNumber, read_printed
from symattn.numbers.reading import read
from symattn.numbers.rounding import MODES, decimal
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict

from ..strategies import field, many, some
from .papers import document, honest

digits = st.text("0123456789", min_size=1, max_size=12)
signs = st.sampled_from(["", "-", "−", "–", "+"])


def read_number(raw: object) -> PrintedNumber:
    """A printed number that is none of the masked scores."""
    printed = read_printed(raw)
    assert printed is not None
    return printed


def fraction(number):
    return Fraction(int(number.p), int(number.q))


@st.composite
def plain(draw):
    """A number as documents print them, with its value and places."""
    sign, whole = draw(signs), draw(digits)
    part = draw(st.one_of(st.just(""), digits))
    value = Fraction(f"{whole}.{part or 0}") * (-1 if sign in ("-", "−", "–") else 1)
    point = "." if part or draw(st.booleans()) else ""
    return f"{sign}{whole}{point}{part}", value, len(part)


@many
@given(plain())
@example(("0.000", Fraction(0), 3))
@example(("−0.0", Fraction(0), 1))
def test_a_plain_number_keeps_its_places(number):
    """Trailing zeros count: 0.50 is not 0.5. Any of the usual minus signs."""
    text, value, places = number
    printed = read_number(text)
    assert fraction(printed.value) == value
    assert fraction(printed.unit) == Fraction(1, 10**places)
    assert printed.text == text
    assert printed.count == value * 10**places


@many
@given(
    plain(),
    st.integers(-30, 30),
    st.sampled_from(["e{}", "E{}", "x10^{}", " × 10^{}", "·10^({})", "e{:+d}"]),
)
def test_scientific_notation_scales_value_and_unit(number, power, form):
    """1.20e-3 is 0.00120, to the unit."""
    text, value, places = number
    printed = read_number(text + form.format(power))
    assert fraction(printed.value) == value * Fraction(10) ** power
    assert fraction(printed.unit) == Fraction(10) ** (power - places)


@many
@given(plain(), st.sampled_from(["%", " %"]))
def test_percentages_are_hundredths(number, sign):
    """50.7 % is 0.507, with its unit."""
    text, value, places = number
    printed = read_number(text + sign)
    assert fraction(printed.value) == value / 100
    assert fraction(printed.unit) == Fraction(1, 100 * 10**places)


@many
@given(plain(), st.sampled_from(["≈{}", "≈ {}", "~{}", "={}", "{}...", "{}…", " {} "]))
def test_signs_of_approximation_change_nothing(number, form):
    """About 0.5 is 0.5 at its places; only about so many hundreds are hundreds."""
    text, value, places = number
    printed = read_number(form.format(text))
    bare = text.rstrip("0")
    zeros = len(text) - len(bare) if form[0] in "≈~" and places == 0 and "." not in text else 0
    zeros = zeros if zeros > 1 and bare.strip("-−–+ ") else 0
    assert printed.zeros == zeros
    assert (fraction(printed.value), fraction(printed.unit)) == (
        value, Fraction(1, 10**places) * 10**zeros,
    )  # fmt: skip


@many
@given(plain())
def test_toml_numbers_are_read_as_they_were_written(number):
    """TOML gives Decimals and integers; their zeros are kept."""
    text, value, places = number
    raw = Decimal(text.translate({ord("−"): "-", ord("–"): "-"}))
    printed = read_number(raw)
    assert (fraction(printed.value), fraction(printed.unit)) == (value, Fraction(1, 10**places))
    assert read_number(int(value)).text == str(int(value))


@many
@given(
    plain(),
    st.integers(-(10**6), 10**6),
    st.sampled_from(["", "%", " %", "e-7", " × 10^4", "E+12"]),
)
def test_the_correct_figure_is_shown_in_the_printed_style(number, count, after):
    """With the same places, the same percent sign, the same power of ten."""
    printed = read_number(number[0] + after)
    shown = read_number(printed.shown_as(count))
    assert shown.value == count * printed.unit
    assert (shown.unit, shown.places) == (printed.unit, printed.places)
    assert printed.shown_as(count).endswith(after)


@pytest.mark.parametrize("text", ["-inf", "−inf", "-∞", "- inf", "-INF", Decimal("-Infinity")])
def test_masked_scores_are_read(text):
    """However minus infinity is printed."""
    assert read_printed(text) is None


@pytest.mark.parametrize(
    "raw",
    ["", "-", ".", "%", "e5", "about 3", "1,5", "1 000", "0x10", "1.2.3", "--1", "1e", "1e5000",
     "1/2", "inf", "+inf", "nan", "9" * 81, True, None, 0.5, [1], Decimal("NaN"),
     Decimal("Infinity"), pytest.param(16**5000, id="huge")],
)  # fmt: skip
def test_what_is_no_printed_number_is_malformed(raw):
    """One message that says what was expected, of a readable length."""
    with pytest.raises(Malformed, match="expected a printed number") as caught:
        read_printed(raw)
    assert len(str(caught.value)) < 120


@some
@given(field, st.integers(0, 12), st.sampled_from(sorted(MODES)))
def test_the_correctly_rounded_figure_holds(value, places, mode):
    """For any number of the field, in the declared rounding."""
    printed = read_number(format(decimal(value, places, mode), "f"))
    assert Standard(mode).verdict(value, printed) is Verdict.HOLDS


@some
@given(field, st.integers(0, 12), st.integers(-3, 3))
def test_a_figure_holds_just_when_the_value_rounds_to_it(value, places, off):
    """Within half a unit, decided with many more digits; on a tie both sides."""
    right = decimal(value, places)
    figure = right + Decimal(off).scaleb(-places)
    verdict = Standard().verdict(value, read_number(format(figure, "f")))
    near = Fraction(decimal(value, places + 30, "down"))
    distance = abs(near - Fraction(figure))
    half = Fraction(1, 2 * 10**places)
    # A value that is not rational can't lie on the tie itself.
    holds = distance <= half if value.rational() is not None else distance < half
    assert verdict is (Verdict.HOLDS if holds else Verdict.REFUTED)


@pytest.mark.parametrize(
    ("value", "holding"),
    [("1/8", ["0.12", "0.13"]), ("-1/8", ["-0.12", "-0.13"]), ("5/2", ["2", "3"]),
     ("0.05", ["0.1", "0.0"]), ("-0.05", ["-0.1", "-0.0", "0.0"])],
)  # fmt: skip
def test_an_exact_tie_holds_either_way(value, holding):
    """Both neighbours, and no third figure."""
    exact = read(value)
    for text in holding:
        assert Standard().verdict(exact, read_number(text)) is Verdict.HOLDS
    for text in ("0.11", "0.14", "0.2", "-0.2", "-0.14", "1", "4"):
        assert Standard().verdict(exact, read_number(text)) is Verdict.REFUTED


def test_nearly_a_tie_is_none():
    """A value that is next to nothing off the tie has one right figure."""
    above, below = ("0.13", "0.12"), ("0.12", "0.13")
    for nudge, (right, wrong) in (
        ("+ 1e-40", above),
        ("- 1e-40", below),
        ("+ log(1 + exp(-50000))", above),
        ("+ erf(3000) - 1", below),
    ):
        value = read(f"1/8 {nudge}")
        assert Standard().verdict(value, read_number(right)) is Verdict.HOLDS
        assert Standard().verdict(value, read_number(wrong)) is Verdict.REFUTED


@some
@given(field, st.integers(0, 6), st.sampled_from([-40, -3, -1, 1, 2, 7]), st.integers(2, 10**6))
def test_a_tolerance_is_a_distance(value, places, off, parts):
    """The declared tolerance replaces the rounding interval: a little more than the
    distance allows the figure, a little less does not."""
    figure = decimal(value, places) + Decimal(off).scaleb(-places)
    printed = read_number(format(figure, "f"))
    distance = abs(Fraction(decimal(value, places + 30, "down")) - Fraction(figure))
    for more, verdict in ((1, Verdict.HOLDS), (-1, Verdict.REFUTED)):
        tolerance = distance * (1 + Fraction(more, parts))
        standard = Standard("half-even", fmpq(tolerance.numerator, tolerance.denominator))
        assert standard.verdict(value, printed) is verdict


@pytest.mark.parametrize(
    ("value", "text", "vacuous"),
    [("0.0004", "0.000", True), ("0", "0.000", False), ("1/3", "0.3", True), ("0.3", "0.3", False),
     ("1/3", "0.33", False), ("2", "2", False), ("exp(1)", "3", True), ("0.004", "0.00", True),
     ("100 * exp(1)", "272", False)],
)  # fmt: skip
def test_a_figure_that_almost_anything_gives_is_vacuous(value, text, vacuous):
    """One digit or none, of a value that is not just that."""
    printed = read_number(text)
    assert Standard().verdict(read(value), printed) is Verdict.HOLDS
    assert is_vacuous(read(value), printed) is vacuous


def test_a_vacuous_figure_is_marked_in_the_audit():
    """It holds, but says little; one that is refuted says enough."""
    found = document(("A[3, 0]", "0.2"), ("A[3, 0]", "0.21"), ("A[0, 0]", "1"), ("A[3, 0]", "0.3"))
    assert [figure.vacuous for figure in found.figures] == [True, False, False, False]


def judged(*claims, **more):
    """The figures of these claims, pairs of an expression and what is printed of it."""
    said = [{"of": of, "printed": printed} for of, printed in claims]
    given = {"v": ["1.36", "0.255", "2"], "w": ["1.36", "0.9"]}
    return audit(Solution(make("few", given, {"y": "v"}, claims=said, **more))).figures


@pytest.mark.parametrize(
    ("value", "text", "detail"),
    [("1.3", "1", "coarse"), ("1.3", "+1", "coarse"), ("-1.3", "−1", "coarse"),
     ("0.0004", "0", "coarse"), ("100 * exp(1)", "272", "coarse"), ("5/2", "2", "coarse"),
     ("1", "1", ""), ("-3", "-3", ""), ("0", "0", ""), ("exp(1) * exp(-1)", "1", ""),
     ("sqrt(2) * sqrt(2)", "2", ""), ("1.04", "1.0", ""), ("13/10", "1.3", ""),
     ("1.3", "1.", "vacuous"), ("1.3", "~1", "vacuous"), ("1.3", "≈ 1", "vacuous"),
     ("1.3", "1...", "vacuous"), ("1.3", "1…", "vacuous"), ("0.013", "1%", "vacuous"),
     ("1300", "1e3", "vacuous"), ("0.421", "42%", "")],
)  # fmt: skip
def test_a_bare_whole_number_for_what_is_not_whole_is_coarse(value, text, detail):
    """A reader takes it for exact, unless the figure itself says that it isn't, or it is."""
    (figure,) = judged((value, text))
    assert figure.verdict is Verdict.HOLDS
    assert (figure.coarse, figure.vacuous) == (detail == "coarse", detail == "vacuous")


def test_a_wrong_whole_number_is_not_coarse():
    """It is refuted, and that is all."""
    (figure,) = judged(("exp(1)", "4"))
    assert (figure.verdict, figure.coarse, figure.correct) == (Verdict.REFUTED, False, "3")


@some
@given(field)
def test_the_nearest_whole_number_is_coarse_for_all_but_itself(value):
    """Never for a whole number, however it is written."""
    nearest = decimal(value, 0)
    printed = read_number(f"{nearest:f}")
    assert is_coarse(value, printed) is (decimal(value, 40) != nearest)
    assert not is_coarse(value - value + int(nearest), printed)


def test_what_is_not_known_to_differ_is_not_coarse():
    """Only what is certain is held against a figure: this is 1, but nothing shows it."""
    (figure,) = judged(("1 + log(4) - 2 * log(2)", "1"))
    assert (figure.verdict, figure.coarse, figure.vacuous) == (Verdict.HOLDS, False, True)


def test_a_coarse_figure_is_given_in_the_places_beside_it():
    """As many as the figures of its claim have, at least one; rounded as is declared."""
    claims = ("v", [1, "0.255", 2]), ("w", [1, 1]), ("w / 10", [0, "9.0%"])

    def finer(**more):
        return [figure.correct for figure in judged(*claims, **more) if figure.coarse]

    assert finer() == ["1.360", "1.4", "0.9", "0.136"]
    assert finer(rounding="down") == ["1.360", "1.3", "0.136"]
    (figure, _) = judged(("w / 10", [0, "0.9e-999"]))
    assert len(figure.correct) == len("0.") + 1000
    # Whoever declares a tolerance says that figures aren't exact.
    assert finer(tolerance="0.5") == []


def test_styles_of_one_number_are_judged_alike():
    """Percent, power of ten, typographic minus, Decimal and text."""
    number = honest()["T[2, 1]"].decimal(6)
    assert number < 0
    plain_text = format(number, "f")
    scaled = format(number * 100, "f")
    claims = [
        ("T[2, 1]", plain_text),
        ("T[2, 1]", number),
        ("T[2, 1]", plain_text.replace("-", "−")),
        ("T[2, 1]", f"{scaled[:-2]}%"),
        ("T[2, 1]", f"{scaled[:-2]}e-2"),
        ("100 * T[2, 1]", scaled[:-2]),
    ]
    found = document(*claims)
    assert {figure.verdict for figure in found.figures} == {Verdict.HOLDS}
    wrong = document(*((of, str(text).lstrip("-−")) for of, text in claims))
    assert {figure.verdict for figure in wrong.figures} == {Verdict.REFUTED}
    assert wrong.figures[0].correct == plain_text
    assert wrong.figures[3].correct == f"{scaled[:-2]}%"
    assert wrong.figures[4].correct == f"{scaled[:-2]}e-2"


def test_masked_scores_hold_only_as_minus_infinity():
    """A number in a masked place is refuted, and -inf in one that is kept."""
    found = document(("M[0]", ["-0.418", "-inf", "−∞", "0"]), ("M[3, 0]", "-inf"))
    holds, refutes = Verdict.HOLDS, Verdict.REFUTED
    assert [figure.verdict for figure in found.figures] == [holds, holds, holds, refutes, refutes]
    assert [figure.correct for figure in found.figures[:4]] == ["-0.418", *["-inf"] * 3]
