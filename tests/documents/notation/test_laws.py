"""What is written is read back, every number is found once, and work stays linear."""

from __future__ import annotations

import sys
from itertools import pairwise
from types import FrameType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from symattn.documents.notation import read_formula
from symattn.documents.trees import Chain, PrintedFigure
from symattn.expressions import syntax
from tests.documents.notation.reading_back import figures, member, read_line, whole
from tests.documents.notation.writing import Written, expressions, relations


def _normal(text: str) -> str:
    """The one grammar's text, without brackets that it doesn't need."""
    return syntax.text(syntax.parse(text))


def _read_back(chain: object, written: list[Written]) -> None:
    assert isinstance(chain, Chain)
    assert [member(one) for one in chain.members] == [_normal(one.tree) for one in written]


def _printed(found: list[PrintedFigure], string: str) -> list[str]:
    """What stands at the places of figures, each of which has its own."""
    spans = [one.span for one in found]
    assert all(a.end <= b.start for a, b in pairwise(spans))
    return [string[span.start : span.end] for span in spans]


@given(st.lists(st.tuples(expressions, relations), min_size=2, max_size=4))
def test_a_chain_in_latex_is_read_back(chain: list[tuple[Written, tuple[str, str, str]]]) -> None:
    """Every tree is the one that was written, every figure stands where it was written."""
    written = [one for one, _ in chain]
    latex = written[0].latex + "".join(f" {sign[0]} {one.latex}" for one, sign in chain[1:])
    (found,) = read_formula(whole(latex))
    _read_back(found, written)
    expected = [text for one in written for text in one.figures]
    assert [one.text for one in figures([found])] == expected
    assert _printed(figures([found]), latex) == expected


@given(st.lists(st.tuples(expressions, relations), min_size=2, max_size=4))
def test_a_chain_in_plain_text_is_read_back(
    chain: list[tuple[Written, tuple[str, str, str]]],
) -> None:
    """Among words as well, with the words around it kept."""
    written = [one for one, _ in chain]
    formula = written[0].plain + "".join(f" {sign[1]} {one.plain}" for one, sign in chain[1:])
    line = f"so we have: {formula}, as 2 of us said."
    before, found, after = read_line(whole(line))
    _read_back(found, written)
    assert [one.text for one in figures([before, found, after])] == [
        *(text for one in written for text in one.figures),
        "2",
    ]


#: Pieces of text, what numbers they print: whatever stands beside them, each is a figure.
_PIECES = [
    ("0.50", ["0.50"]),
    ("-1.25", ["1.25"]),
    ("12\\%", ["12"]),
    ("[1.5, 2.5]", ["1.5", "2.5"]),
    ("(3.5 +", ["3.5"]),
    ("]", []),
    ("\\frac{4.5}", ["4.5"]),
    ("{", []),
    ("= x_1 +", []),
    ("softmax(", []),
    ("softmax(S, axis=k+2.25) =", ["2.25"]),
    ("^ 6.5", ["6.5"]),
    ("words ≈", []),
    ("Q K^T", []),
    ("\\begin{bmatrix} 7.5 &", ["7.5"]),
    ("\\end{bmatrix}", []),
    ("\\\\", []),
    ("→ 8.5", ["8.5"]),
    ("; e^{9.5}", ["9.5"]),
    ("\\sqrt", []),
    ("\\text{gives 0.125}", ["0.125"]),
    (":", []),
    (",", []),
    ("·", []),
    ("\\in 0.25", ["0.25"]),
    ("\\underbrace{0.75}", ["0.75"]),
    ("-", []),
    ("|", []),
    ("T'", []),
]


@pytest.mark.parametrize("read", [read_formula, read_line])
@given(pieces=st.lists(st.sampled_from(_PIECES), max_size=12))
@example([("T'", []), (",", []), ("softmax(S, axis=k+2.25) =", ["2.25"]), ("0.50", ["0.50"])])
def test_no_number_is_lost(read, pieces: list[tuple[str, list[str]]]) -> None:
    """Whatever a text says, each number in it is in one figure, at its place."""
    string = "  ".join(text for text, _ in pieces)
    found = sorted(figures(read(whole(string))), key=lambda one: one.span)
    printed = _printed(found, string)
    assert ["".join(c for c in one if c in "0123456789.") for one in printed] == [
        number for _, numbers in pieces for number in numbers
    ]


#: Texts that would cost the square of their length, or a deep recursion.
_HOSTILE = [
    "{", "{}", "(", "[1", "[[1,2 x", "-", "- ", "x^", "x_", "x^{", "=", "a=", "1+", "1+(", "1",
    "1.", "1,111", "word ", "Q K ", "\\frac{", "\\sqrt", "\\sqrt{", "\\begin{pmatrix}",
    "\\begin{aligned}", "\\text{", "e^", "\\sum_", "Q'", "[0]", ".T", "^T", "exp ", "exp(", "\\",
    "f(1,", "\\hat{", "\\left[", "1%", "a → ", "a: ", "\\underbrace{1}_{", "∂L/", "W_", "x²",
    "Q, ", "\\mathbf{", "\\in ", "&", "\\\\", "1 × ", "a = (b + ", "x_{1", "' ", "<", "[:",
]  # fmt: skip
#: What closes them.
_CLOSING = {"{": "}", "(": ")", "[": "]"}


def _calls(read, string: str) -> int:
    """How many functions are called to read a text."""
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        read(whole(string))
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.sampled(3, 30)
@pytest.mark.parametrize("read", [read_formula, read_line])
@pytest.mark.parametrize("piece", _HOSTILE)
def test_work_is_linear_in_the_length(read, piece: str) -> None:
    """Four times the text is at most some four times the work, closed or not."""
    closing = "".join(_CLOSING[sign] for sign in reversed(piece) if sign in _CLOSING)
    for end in {"", closing}:
        some = _calls(read, piece * 200 + end * 200)
        assert _calls(read, piece * 800 + end * 800) <= 6 * some + 1000


@pytest.mark.sampled(2)
@pytest.mark.parametrize("read", [read_formula, read_line])
@pytest.mark.parametrize("string", ["1" * 100_000, "{" * 20_000, "(" * 20_000 + ")" * 20_000])
def test_long_texts_are_read(read, string: str) -> None:
    """A number that nobody would print is a figure still; nesting has no end."""
    found = figures(read(whole(string)))
    assert [one.text for one in found] == [string] * string.isdigit()
