"""How formulas and figures are written: broken lines mean the same, no digit is lost."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from flint import fmpq
from hypothesis import assume, given
from hypothesis import strategies as st

from symattn.cases.case import make
from symattn.escaping import latex as escape
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.printers.engine import engine_for
from symattn.printers.layout import broken, unbreakable, width
from symattn.sheets.presentation import Presentation, rational_formula
from symattn.solution.solution import Solution

from ..notation import read

NUMBERS = st.integers(1, 999).map(lambda n: syntax.Literal(str(n)))


def several(inner: st.SearchStrategy[syntax.Tree]) -> st.SearchStrategy[tuple[syntax.Tree, ...]]:
    return st.lists(inner, min_size=2, max_size=5).map(tuple)


FORMULAS = st.recursive(
    NUMBERS,
    lambda inner: st.one_of(
        several(inner | inner.map(syntax.Negative)).map(syntax.Sum),
        several(inner).map(syntax.Product),
        st.builds(syntax.Binary, st.just("/"), inner, inner),
        inner.map(syntax.Negative),
    ),
    max_leaves=30,
)


def value(formula: syntax.Tree) -> Fraction:
    """What a formula of numbers is equal to."""
    match formula:
        case syntax.Literal(digits):
            return Fraction(digits)
        case syntax.Negative(operand):
            return -value(operand)
        case syntax.Sum(terms):
            return sum(map(value, terms), Fraction(0))
        case syntax.Product(factors):
            product = Fraction(1)
            for factor in factors:
                product *= value(factor)
            return product
        case syntax.Binary("/", numerator, denominator):
            return value(numerator) / value(denominator)
    raise AssertionError(formula)


_TOKEN = re.compile(r"\\frac|\\cdot|\\,|\\Bigl\(|\\Bigr\)|\\left\(|\\right\)|\d+|[-+{}]|\s+|.")


class Reader:
    """Works out LaTeX of numbers, as a reader would: side by side is times."""

    def __init__(self, latex: str) -> None:
        self.tokens = [token for token in _TOKEN.findall(latex) if token.strip(" \n,")]
        self.tokens = [token for token in self.tokens if token not in (r"\,", r"\cdot")]
        self.place = 0

    def peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self, token: str = "") -> str:
        found = self.peek()
        assert not token or found == token, (token, found)
        self.place += 1
        return found

    def sum(self) -> Fraction:
        total, sign = Fraction(0), 1
        if self.peek() == "-":
            self.take()
            sign = -1
        total += sign * self.product()
        while self.peek() in ("+", "-"):
            sign = 1 if self.take() == "+" else -1
            total += sign * self.product()
        return total

    def product(self) -> Fraction:
        result = self.atom()
        while self.peek() not in ("", "+", "-", "}", r"\right)", r"\Bigr)"):
            result *= self.atom()
        return result

    def atom(self) -> Fraction:
        token = self.take()
        if token in (r"\left(", r"\Bigl("):
            inner = self.sum()
            self.take(token.replace("left(", "right)").replace("Bigl(", "Bigr)"))
            return inner
        if token == r"\frac":
            above, below = self.group(), self.group()
            return above / below
        return Fraction(token)

    def group(self) -> Fraction:
        self.take("{")
        inner = self.sum()
        self.take("}")
        return inner


@given(FORMULAS, st.floats(2, 30))
def test_broken_lines_mean_the_same(formula: syntax.Tree, room: float) -> None:
    """The lines of a broken formula, read one after the other, are equal to it."""
    try:
        right = value(formula)
    except ZeroDivisionError:
        assume(False)
    lines = broken(formula, room)
    reader = Reader(" ".join(map(t.latex, lines)))
    assert reader.sum() == right
    assert reader.place == len(reader.tokens)


@given(st.lists(NUMBERS, min_size=2, max_size=40), st.floats(8, 30))
def test_sums_fit(terms: list[syntax.Literal], room: float) -> None:
    """A sum of narrow terms is broken into lines that all fit."""
    assert all(width(line) <= room for line in broken(syntax.Sum(tuple(terms)), room))


def test_what_breaks_by_itself() -> None:
    """TeX breaks a paragraph's mathematics at signs outside of groups only."""
    assert unbreakable(read("aa + bbbb = c")) == width(read("+ bbbb"))
    whole = read(r"\left(aa + bbb\right)")
    assert unbreakable(whole) == width(whole)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=40))
def test_decimals_keep_all_their_digits(number: Decimal) -> None:
    """A decimal is shown as it is, however many digits it has."""
    shown = syntax.shown(f.decimal(number))
    assert Decimal(shown) == number


@given(st.integers(-(10**60), 10**60), st.integers(0, 6))
def test_exact_numbers_keep_all_their_digits(count: int, places: int) -> None:
    """A short decimal is shown exactly, whatever its size."""
    number = fmpq(count, 10**places)
    assert Fraction(syntax.shown(rational_formula(number, 6))) == Fraction(count, 10**places)


def presented(entry: str, places: int = 4) -> Presentation:
    """The numbers of a case with that one entry as its only quantity."""
    return Presentation(Solution(make("one", {"x": 1}, {"y": entry})), places)


def test_very_large_and_very_small_numbers() -> None:
    """What the places can't show is written with a power of ten; zero is 0."""
    for entry, text in {
        "exp(1000)": "1.97*10^434",
        "-exp(1000)": "-1.97*10^434",
        "exp(-1000)": "5.08*10^(-435)",
        "exp(2) - exp(1 + 1)": "0",
        "exp(1)": "2.7183",
        "log(2) + log(3) - log(6)": "0.0000",
        "exp(2 * log(2)) - 4": "0",
    }.items():
        shown = presented(entry)
        assert syntax.shown(shown.decimal(shown.solution.program.quantities["y"], 0, 0)) == text


def test_row_sums_take_a_free_letter() -> None:
    """A walkthrough that calls a quantity Z keeps it; the sums are called otherwise."""
    steps = {"Z": "softmax(X)", "N_0": "Z @ X"}
    shown = Presentation(Solution(make("z", {"X": [[1, 0], [0, 1]]}, steps)), 4)
    node = shown.solution.program.quantities["Z"]
    assert f.latex(shown.row_label(node, "0")) == "R_{0}"


def test_text_prints_as_it_is() -> None:
    """Signs that TeX would join or act on are kept apart; long words may break."""
    assert escape("a--b ,, ''") == "a-{}-b ,{}, '{}'"
    assert escape("a\x1b\u202eb\n\u2028c") == "ab  c"
    assert r"\allowbreak{}" in escape("x" * 40)
    assert "\\" not in escape("antidisestablish")


def test_engines_by_letters() -> None:
    """pdflatex where its fonts have all letters, lualatex for any other."""
    assert engine_for("Ünïcödé šč – … ½") == "pdflatex"
    for letters in ("ħ", "ſ", "мир", "ελ", "猫", "🙂", "e\u0301", "שלום"):
        assert engine_for(letters) == "lualatex"


def test_where_long_words_may_break() -> None:
    """Words of more than sixteen letters, after every four; no others."""
    assert escape("abcdefghijklmnop qr") == "abcdefghijklmnop qr"
    pieces = ["abcd", "efgh", "ijkl", "mnop", "q"]
    assert escape("abcdefghijklmnopq") == r"\allowbreak{}".join(pieces)


def test_every_sign_of_latex_is_safe() -> None:
    """What TeX would act on is written out; typography that fonts lack gets their own."""
    assert escape("\\{}$%#_&") == r"\textbackslash{}\{\}\$\%\#\_\&"
    assert escape("~^<>") == (r"\textasciitilde{}\textasciicircum{}\textless{}\textgreater{}")
    assert escape('|"`') == r"\textbar{}\textquotedbl{}\textasciigrave{}"
    assert escape("– — … ’ “”") == r"-- --- \dots{} ' ``''"


def test_letters_that_pdflatex_has() -> None:
    """All of extended Latin but a few, typography, and what is not printed."""
    assert engine_for("\u017e \u2013 \u2026 \u200b") == "pdflatex"
    assert engine_for("\u0180") == engine_for("\u2192") == engine_for("ok \u0166") == "lualatex"
