"""Numbers as people write them, in every form of article: as one figure, as one chain, or,
where they claim nothing, as no figure at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.auditing.audit import audit
from symattn.cases.article import case_of
from symattn.documents.binding import binder
from symattn.documents.files import article
from symattn.documents.passages import passages
from symattn.documents.trees import Chain
from symattn.verdicts import Verdict
from tests.documents.notation.reading_back import figures, shown

_HEADS = {".tex": "\\begin{document}\n%s\n\\end{document}", ".html": "<p>%s</p>"}
#: What makes an article of words, by the suffix of its form.
FORMS: dict[str, Callable[[str], str]] = {
    ".md": str,
    ".txt": str,
    ".tex": lambda words: _HEADS[".tex"] % words.replace("%", "\\%").replace("~", "$\\sim$"),
    ".html": lambda words: _HEADS[".html"] % escape(words).replace("\n", "<br>\n"),
    ".ipynb": lambda words: json.dumps(
        {"cells": [{"cell_type": "markdown", "metadata": {}, "source": words}], "nbformat": 4}
    ),
}


def pieces(text, suffix=".md"):
    """The pieces of an article of that text."""
    read = article(Path(f"x{suffix}"), text.encode())
    return [piece for passage in passages(read) for piece in passage.pieces]


def said(text, suffix=".md"):
    """The chains of an article, written down again."""
    return [
        shown([piece])[0]
        for piece in pieces(text, suffix)
        if isinstance(piece, Chain) and piece.links
    ]


SUM = "s = (0.1 × 0.2)\n  + (0.12 × 0.06)\n  = 0.0032 + 0.0072\n  = 0.51"
PRINTED = {
    "x = 12,345.6": "x = 12345.6",
    "x = 1,234,567": "x = 1234567",
    "x = 12\u2009345.6": "x = 12345.6",
    "x = 12\u202f345,6": "x = 12345.6",
    "x = 12'345.6": "x = 12345.6",
    "x = 3.07×10²³ / 3.07×10²³ = 1": "x = 3.07e23 / 3.07e23 = 1",
    "x = 1.5 × 10⁻³ · 2": "x = 1.5e-3 * 2",
    "x = 6.02*10^23 / 6.02·10^(23)": "x = 6.02e23 / 6.02e23",
    SUM: "s = 0.1 * 0.2 + 0.12 * 0.06 = 0.0032 + 0.0072 = 0.51",
    "x = about 0.38": "x ≈ 0.38",
    "x = approximately -0.38": "x ≈ -0.38",
    "x = approx. 0.38": "x ≈ 0.38",
    "x = ~0.38": "x ≈ 0.38",
    "x = roughly 38%": "x ≈ 38%",
}


@pytest.mark.parametrize("suffix", FORMS)
@pytest.mark.parametrize("words", PRINTED)
def test_a_number_is_one_however_it_is_written(words, suffix):
    """Separators of thousands, powers of ten, "about", and sums that go on over lines."""
    assert said(FORMS[suffix](words), suffix) == [PRINTED[words]]


RANGES = (
    "x = 0.2 to 0.4",
    "x = 0.2-0.4",
    "x = 0.2–0.4",
    "weights of 0.2 – 0.4, mostly",
    "The weights range from 0.2 to 0.4.",
    "about 20% to 40% of it",
    "It lies between 0.2 and 0.4.",
    "low weights (10-20%) and others",
)


@pytest.mark.parametrize("suffix", FORMS)
@pytest.mark.parametrize("words", RANGES)
def test_a_range_claims_neither_of_its_numbers(words, suffix):
    """No chain ends with one, and neither is a figure."""
    read = pieces(FORMS[suffix](words), suffix)
    assert not [piece for piece in read if isinstance(piece, Chain) and piece.links]
    assert figures(read) == []


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        ("It rises from 0.2 to 0.4.", ["0.2", "0.4"]),
        ("We round 0.1863 to 0.19.", ["0.1863", "0.19"]),
        ("x = 0.4-0.2", ["0.4", "0.2"]),
        ("x = 0.2-0.4 = -0.2", ["0.2", "0.4", "-0.2"]),
        ("Both 0.2 and 0.4.", ["0.2", "0.4"]),
        ("(0.2-0.4)^2 = 0.04", ["0.2", "0.4", "2", "0.04"]),
        ("`x = 0.2-0.4`", ["0.2", "0.4"]),
        ("$x = 0.2$ to $0.4$", []),
        ("It rises from $0.2$ to $0.4$", ["0.2", "0.4"]),
        ("talk about 3 tokens, ~5 of them", ["3", "5"]),
        ("pairs 1,2,345 and [1,234]", ["1", "2", "345", "1", "234"]),
    ],
)
def test_what_is_no_range_and_no_group_keeps_its_figures(words, texts):
    """Changes, differences and lists."""
    assert [figure.text for figure in figures(pieces(words))] == texts


@given(
    st.integers(1000, 10**9), st.sampled_from((",", "\u2009", "\u202f", "\xa0", "'", "\\,", "{,}"))
)
def test_thousands_stand_where_they_are_written(count, mark):
    """The figure of a number with marks of thousands spans all of them, in words and formulas."""
    written = f"{count:,}.5".replace(",", mark)
    is_latex = mark in ("\\,", "{,}")
    text = f"$x = {written}$" if is_latex else f"x = {written}"
    (figure,) = figures(pieces(text))
    assert figure.text == f"{count}.5"
    assert text[figure.span.start : figure.span.end] == written


LATEX = {
    r"\boxed{A = 0.5}": ["A = 0.5"],
    r"\boxed{0.1 + 0.2} = 0.3": ["0.1 + 0.2 = 0.3"],
    r"\underbrace{0.1 + 0.2}_{\text{first}} + 0.3 = 0.6": ["0.1 + 0.2 + 0.3 = 0.6"],
    r"x \xrightarrow{} [0.5, 0.5]": ["x → [0.5, 0.5]"],
    r"x \xrightarrow{\text{softmax}} [0.5, 0.5]": [],
    r"x \quad \xrightarrow{\times \frac{1}{2}} \quad [0.5]": ["x * (1 / 2) → [0.5]"],
    r"x \quad - \quad [0.5] = 2 \quad -y = 3": ["x - [0.5] = 2", "-y = 3"],
    r"A \overset{d}{=} \left[\begin{array}{c|c} 1 & 2 \\ \hline 3 & 4 \end{array}\right]": [
        "A = [[1, 2], [3, 4]]"
    ],
    r"\begin{aligned} s &= 0.2 + 0.3 \\ &= 0.5 \end{aligned}": ["s = 0.2 + 0.3 = 0.5"],
    r"\begin{aligned} s &= 0.2 \\ &\quad + 0.3 \\ &= 0.5 \end{aligned}": ["s = 0.2 + 0.3 = 0.5"],
    r"\begin{array}{l} a = 1 \\ b = 2 \end{array}": ["a = 1", "b = 2"],
    r"x = \text{about } 0.4, y \sim 0.4": ["x ≈ 0.4", "y ≈ 0.4"],
    r"x = 12,345.6": ["x = 12345.6"],
    r"3.07 \times 10^{23} / 3.07 \times 10^{23} = 1": ["3.07e23 / 3.07e23 = 1"],
    r"2/3 \times 10^2 = 66.7": ["2 / 3 * 10**2 = 66.7"],
    r"3^2 \times 10^2 = 900": ["3**2 * 10**2 = 900"],
}

DISPLAYS = {
    ".md $$": (".md", "$$\n%s\n$$"),
    ".md [": (".md", "It is\n[\n%s\n]\nand"),
    ".md [ in a line": (".md", "[ %s ]"),
    ".md math": (".md", "#### Query $Q$\n\n```math\n%s\n```"),
    ".md raw": (".md", "```{=latex}\n\\[ %s \\]\n```"),
    ".md GitLab": (".md", "So $`%s`$"),
    ".md twice": (".md", "So $\\[ %s \\]$"),
    ".txt [": (".txt", "It is\n[\n%s\n]\nand"),
    ".tex": (".tex", "\\begin{document}\\[ %s \\]\\end{document}"),
    ".html": (".html", "<p>\\[ %s \\]</p>"),
}


@pytest.mark.parametrize("display", DISPLAYS)
@pytest.mark.parametrize("latex", LATEX)
def test_a_formula_is_the_same_in_every_display(latex, display):
    """Also where the backslashes of its brackets were lost."""
    suffix, around = DISPLAYS[display]
    inside = latex.replace("&", "&amp;") if suffix == ".html" else latex
    if display == ".md [ in a line" and "\\" not in latex:
        pytest.skip("nothing says that it is a formula")
    assert said(around % inside, suffix) == LATEX[latex]


def test_brackets_without_commands_are_no_formulas():
    """Arrays, notes and links in brackets on lines of their own."""
    for text in ("[\n[1, 0],\n[0, 1]\n]", "[ a note ]", "[\nwords\n]", "(see below) [x]"):
        assert [block.kind for block in article(Path("x.md"), text.encode()).blocks] == ["prose"]


def test_formulas_among_words_that_lost_their_backslashes():
    """``(x)`` that was ``\\\\(x\\\\)`` is one, and its brackets are no part of it."""
    (block,) = article(Path("x.md"), rb"where (\frac{1}{2} = 0.5) and (the weights \alpha)").blocks
    assert [(part.kind, str(part.text)) for part in block.parts] == [
        ("text", "where ("),
        ("math", r"\frac{1}{2} = 0.5"),
        ("text", r") and (the weights \alpha)"),
    ]


def test_raw_blocks_of_other_formats_are_their_own():
    """HTML in Pandoc's raw block is HTML."""
    text = "```{=html}\n<table><tr><td>0.5</td><td>0.25</td></tr></table>\n```"
    assert [block.kind for block in article(Path("x.md"), text.encode()).blocks] == ["table"]


@pytest.mark.parametrize("suffix", FORMS)
def test_a_sum_over_lines_is_judged_as_one(suffix):
    """0.02 + 0.0072 is 0.0272: what stands behind it is wrong at its place, in every form."""
    words = "s = (0.1 × 0.2)\n  + (0.12 × 0.06)\n  = 0.02 + 0.0072\n  = 0.51"
    read = article(Path(f"x{suffix}"), FORMS[suffix](words).encode())
    judged = audit(case_of(binder.read(read)))
    refuted = [one for one in judged.figures if one.verdict is Verdict.REFUTED]
    assert [one.text for one in refuted] == ["0.51"]


def test_a_sum_goes_on_in_an_item():
    """A line of a sum is no item of a list, behind a line that computes; else it is."""
    text = "- s = 0.5 × 0.2\n  + 0.3 × 0.1\n  = 0.13\n- t: 0.5 × 0.2\n  + 0.3 × 0.1\n  = 0.13\n"
    sums = ["s = 0.5 * 0.2 + 0.3 * 0.1 = 0.13", "t : 0.5 * 0.2 + 0.3 * 0.1 = 0.13"]
    assert said(text) == sums
    items = article(Path("x.md"), b"We buy\n+ 3 apples\n+ 4 pears").blocks
    assert [str(block.text) for block in items] == ["We buy", "3 apples", "4 pears"]


def judged(text: str) -> dict[str, str]:
    """The verdicts of the arithmetic of a Markdown article: what is correct, or holds."""
    case = case_of(binder.read(article(Path("x.md"), text.encode())))
    return {
        figure.text: str(figure.correct) if figure.verdict is Verdict.REFUTED else "holds"
        for figure in audit(case).figures
    }


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("50,257 × 768 ≈ 38.6 million weights", {"38.6e6": "holds"}),
        ("50,257 × 768 = 39.6 Millionen.", {"39.6e6": "38.6e6"}),
        ("197^2 ≈ 39,000 entries; 3 · 333 ≈ 1000", {"~39000": "holds", "~1000": "holds"}),
        ("197^2 ≈ 38,000 entries; 3 · 333 = 1000", {"~38000": "39000", "1000": "999"}),
        ("2^20 ≈ 1,050,000", {"~1050000": "holds"}),
        ("60 * 40 ≈ 2,350", {"2350": "2400"}),
        ("3 billion / 2 = 1.5 billion.", {"1.5e9": "holds"}),
        ("2001 × 2000 = 400万", {"4e6": "holds"}),
        ("With θ = 90° we have cos(90) = 0.00", {"0.00": "holds"}),
        ("cos(60°) = 0.50 and cos(1) = 0.54", {"0.50": "holds", "0.54": "holds"}),
        (r"$\\cos(60^\\circ) = 0.50$".replace("\\\\", "\\"), {"0.50": "holds"}),
        ("cos(60) = 0.44", {}),
        ("cos(3) = -0.989", {"-0.989": "-0.990"}),
        ("10000^0.25 = 10.0 and 16^0.75 = 9", {"10.0": "holds", "9": "8"}),
    ],
)
def test_scales_degrees_and_broken_powers(text, verdict):
    """Millions are millions, thousands behind "≈" are rounded, an angle beyond a turn is no
    refutation in radians, and broken powers are worked out."""
    assert judged(text) == verdict


def test_a_size_in_millions_among_words_claims_nothing():
    """It is no figure that waits to be read."""
    read = binder.read(article(Path("x.md"), b"It saves about 40 million numbers of 16 bits."))
    assert {number.status for number in read.numbers} == {"ignored"}


def test_a_word_of_one_letter_between_formulas_is_a_word():
    r"""``\text{ e }`` is Italian and Portuguese for "and"."""
    assert said(r"$$A = [[1, 2], [3, 4]] \text{ e } B = [[1, 0], [0, 1]]$$") == [
        "A = [[1, 2], [3, 4]]", "B = [[1, 0], [0, 1]]",
    ]  # fmt: skip
