"""Figures written anew in a file: their digits, and nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from symattn.documents.article import Article, Block, BlockPart
from symattn.documents.editing import Moves, Rewriter, TextEdit, applied
from symattn.documents.text import Span, Text
from symattn.numbers.rationals import PrintedNumber, read_printed

#: Separators of thousands, and what they are in plain letters: nothing.
SEPARATORS = ["", ",", "{,}", r"\,", "\u202f", "_"]
AFTER = ["", "%", r"\%", r"\,\%", "e-3", r"\times 10^{-3}", " × 10⁻³", r" \cdot 10^{4}", "…"]
MINUS = {"-": "-", "−": "-", "–": "-", "{-}": "-", "+": "+", "": ""}
PLAIN = {
    r"\%": "%",
    r"\,\%": "%",
    r"\times 10^{-3}": "e-3",
    " × 10⁻³": "e-3",
    r" \cdot 10^{4}": "e4",
    "…": "...",
}


def number(text: str) -> PrintedNumber:
    """A printed number that is one."""
    printed = read_printed(text)
    assert printed is not None
    return printed


surroundings = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@st.composite
def figures(draw):
    """How a figure stands in a file, and in plain letters."""
    whole, part = draw(st.integers(0, 10**7)), draw(st.from_regex("[0-9]{0,5}", fullmatch=True))
    sign, separator = draw(st.sampled_from(list(MINUS))), draw(st.sampled_from(SEPARATORS))
    after = draw(st.sampled_from(AFTER))
    shown = f"{whole:,}".replace(",", separator) if draw(st.booleans()) else str(whole)
    plain = str(whole)
    if whole == 0 and part and draw(st.booleans()):
        shown = plain = ""
    point = f".{part}" if part else ""
    written = sign + shown + point + after
    return written, MINUS[sign] + plain + point + PLAIN.get(after, after)


def article(source, block=None):
    parts = (BlockPart("math", block or Text.whole(source)),)
    return Article(Path("post.md"), "markdown", source, (Block("formula", parts),))


def rewritten(before, written, after, plain, count, minus="-"):
    """The file with so many units of its last place in the place of a figure."""
    source = before + written + after
    span = Span(len(before), len(before) + len(written))
    edit = Rewriter(article(source)).edit(span, number(plain), count, minus)
    assert edit is not None, f"{written!r} is not read as {plain!r}"
    return applied(source, [edit])


def as_read(written):
    """A figure of the styles above in plain letters."""
    text = written
    for shown, plain in [*sorted(PLAIN.items(), reverse=True), ("{-}", "-"), ("(", ""), (")", "")]:
        text = text.replace(shown, plain)
    return number(re.sub(r"\{,\}|\\,|[,_\u202f]", "", text))


@given(surroundings, figures(), surroundings, st.integers(-(10**9), 10**9))
def test_a_figure_written_anew_is_the_wanted_one_and_all_else_stays(before, figure, after, count):
    """What stands around a figure keeps every character; the figure reads back as the
    wanted number of units of the same last place."""
    written, plain = figure
    text = rewritten(before, written, after, plain, count)
    assert text.startswith(before)
    assert text.endswith(after)
    was, now = number(plain), as_read(text[len(before) : len(text) - len(after)].strip())
    assert (now.value, now.unit, now.places) == (was.unit * count, was.unit, was.places)


@given(surroundings, figures(), surroundings)
def test_a_right_figure_keeps_every_character(before, figure, after):
    """Writing what is there already changes nothing, in whatever style it is."""
    written, plain = figure
    printed = number(plain)
    assume(printed.value != 0)
    text = rewritten(before, written, after, plain, printed.count)
    assert text == before + written + after


@pytest.mark.parametrize(
    ("line", "plain", "count", "wanted"),
    [
        ("A = |0.5066|", "0.5066", 5065, "A = 0.5065"),
        ("A = |.5066|", ".5066", 5065, "A = .5065"),
        ("A = |.5066|", ".5066", 15065, "A = 1.5065"),
        ("A = |50.7\\%|", "50.7%", 506, "A = 50.6\\%"),
        ("A = |−0.50|", "-0.50", -51, "A = −0.51"),
        ("A = |{-}0.50|", "-0.50", 51, "A = 0.51"),
        ("A = |9.99|", "9.99", 1000, "A = 10.00"),
        ("A = |10.00|", "10.00", 999, "A = 9.99"),
        (r"A = |999{,}999.5|", "999999.5", 10000000, r"A = 1{,}000{,}000.0"),
        (r"A = |1\,234|", "1234", 987, "A = 987"),
        (r"A = |1.2\times 10^{-3}|", "1.2e-3", 13, r"A = 1.3\times 10^{-3}"),
        ("[0.1 |0.5|]", "0.5", -5, "[0.1 -0.5]"),
        (r"1 + 2 \cdot |0.5|", "0.5", -5, r"1 + 2 \cdot (-0.5)"),
        ("|0.5|^2", "0.5", -5, "(-0.5)^2"),
        ("2 + |1.2e-3|", "1.2e-3", -12, "2 + (-1.2e-3)"),
        ("[1|-0.5|]", "-0.5", 5, "[1 0.5]"),
        ("A = |+0.5|", "+0.5", -5, "A = -0.5"),
        ("A = |-0.02|", "-0.02", 0, "A = 0.00"),
        ("A = |007|", "007", 12, "A = 012"),
        ("A = |0,35|", "0.35", 36, "A = 0,36"),
    ],
)
def test_the_style_of_a_figure_stays(line, plain, count, wanted):
    """Signs, leading zeros, separators and powers stay in the style that they have; a
    number that becomes negative gets brackets where it is multiplied or added."""
    before, written, after = line.split("|")
    assert rewritten(before, written, after, plain, count) == wanted


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("0.5067", "0.5066"),
        ("0.5066", "-0.5066"),
        ("0.50661", "0.5066"),
        ("1.2e-4", "1.2e-3"),
        ("0.50+66", "0.5066"),
        ("0.x5066", "0.5066"),
        ("٠.٥", "0.5"),
        ("half", "0.5"),
    ],
)
def test_what_is_another_figure_is_left(written, plain):
    """Where the file does not have the figure that was read, there is nothing to write."""
    source = f"A = {written}"
    rewriter = Rewriter(article(source))
    assert rewriter.edit(Span(4, len(source)), number(plain), 5065) is None


def test_what_a_macro_gives_is_left():
    """Digits that no characters of the file stand for can't be written."""
    source = r"A = \half"
    text = Text.joined([Text.whole(source)[:4], Text.at("0.5", Span(4, 9))])
    rewriter = Rewriter(article(source, text))
    assert rewriter.edit(Span(4, 9), number("0.5"), 6) is None


def test_escapes_in_a_notebook_and_a_page_stay():
    """A sign that the file has as an escape or an entity stays one."""
    for sign in (r"\u2212", "&minus;"):
        source = f"A = {sign}0.50 "
        whole, end = Text.whole(source), 4 + len(sign)
        text = Text.joined([whole[:4], Text.at("−", Span(4, end)), whole[end:]])
        rewriter = Rewriter(article(source, text))
        span = Span(4, len(source) - 1)
        edit = rewriter.edit(span, number("-0.50"), -51)
        assert edit == TextEdit(span, f"{sign}0.51")
        assert rewriter.sign(span) == sign


@pytest.mark.parametrize(
    ("source", "is_rendered"),
    [
        ("<p>A is 0.5066</p>", False),
        ("<td>0.5066</td>", False),
        ("<math><mn>0.5</mn><annotation encoding='x'>A = 0.5066 </annotation></math>", True),
        ("<math><annotation>A</annotation></math> is 0.5066", False),
        ('<img alt="x = 0.5066">', True),
        ("a < b = 0.5066", False),
    ],
)
def test_the_source_of_what_a_page_shows_is_told_apart(source, is_rendered):
    """A figure in the LaTeX beside a formula would not change where readers see it."""
    start = source.index("0.5066")
    for form, wanted in (("html", is_rendered), ("markdown", False)):
        made = replace(article(source), form=form)
        assert Rewriter(made).is_rendered(Span(start, start + 6)) == wanted


@given(st.lists(st.tuples(surroundings, surroundings, surroundings), max_size=5))
def test_what_moves_is_found_again(pieces):
    """Where a piece stands after edits is where its new text is."""
    source, wanted, edits, places = "", "", [], []
    for before, old, new in pieces:
        source += before
        wanted += before
        edits.append(TextEdit(Span(len(source), len(source) + len(old)), new))
        places.append((len(wanted), len(wanted) + len(new)))
        source, wanted = f"{source}{old}.", f"{wanted}{new}."
    assert applied(source, edits) == wanted
    moves = Moves(edits)
    held = [(edit, place) for edit, place in zip(edits, places, strict=True)
            if edit.span.start < edit.span.end]  # fmt: skip
    assert [moves.moved(edit.span) for edit, _ in held] == [place for _, place in held]
