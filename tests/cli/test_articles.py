"""The text report of an article: its own lines, with a mark under what is wrong."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from symattn.cli.article_report import excerpt
from symattn.cli.audit_report import report
from symattn.documents.article import Article
from symattn.documents.text import Span
from symattn.escaping import visible

from ..auditing.articles import audited, claimed, read


def text_of(found, width=80, strict=False, unfolded=False):
    """The report on a terminal of that width."""
    out = io.StringIO()
    report(found, strict, unfolded, Console(file=out, width=width, color_system=None))
    return out.getvalue()


WHOLE = r"""post.md Weights by hand
inputs: S (2x2)
steps: A
figures bound: 2 as arithmetic
if this is misread, add this note before line 9:
    <!-- symattn: ignore -->
7 figures: 6 hold (2 within rounding), 1 refuted, 1 root
post.md:9:30: A[0, 1] printed 0.39, correct 0.38
    9 | $$A = \begin{bmatrix} 0.62 & 0.39 \\ 0.12 & 0.88 \end{bmatrix}$$
      |                              ^^^^ 0.38
      off by one unit in the last place
  2 figures hold only within the rounding of their operands (lines 11, 12)
assumed: assuming softmax row by row: A = softmax(S)
post.md:12:19: open: a quarter (of what is not said)
20 numbers: 5 bound, 8 local, 4 given, 2 ignored, 1 not read (line 12)
  not read: nothing says what they are (1 number, line 12)
  if they claim nothing, add this note before line 12:
      <!-- symattn: ignore -->

"""


def test_the_whole_report():
    """What was understood, counts, what is wrong with its line and why, how the article was
    read."""
    assert text_of(audited()) == WHOLE


CARRIED = """The scores: 2.5; 3.5
Doubled: 5.0; 7.0
Once more: 5.0; 7.0
Half of four is 3.
"""


def carried():
    """An audit with a root that is carried on two lines, and a statement."""
    claims = [claimed(CARRIED, "of", "S", "2.5; 3.5"), claimed(CARRIED, "of", "T", "5.0; 7.0"),
              claimed(CARRIED, "of", "T", "5.0; 7.0", "more: "),
              claimed(CARRIED, "holds", "4 / 2 == 3", "Half of four is 3")]  # fmt: skip
    return audited(read(CARRIED, claims, given={"X": (("2.5",), ("3.4",))},
                        steps={"S": "X", "T": "2 * S"}))  # fmt: skip


TWICE = """The weights are 0.4 and 0.6. Their mix: 0.40 * 0.50 + 0.60 * 1 = 0.99"""


@pytest.mark.parametrize(("printed", "within"), [("0.99", 0), ("0.81", 1)])
def test_a_figure_that_is_wrong_twice_is_told_once(printed, within):
    """With both reasons; and one that is wrong is not said to hold within rounding."""
    source = TWICE.replace("0.99", printed)
    claims = [claimed(source, "of", "Y", printed, "= "),
              claimed(source, "as_printed", "0.40 * 0.50 + 0.60 * 1", printed, "= ")]  # fmt: skip
    more = {"given": {"A": ("0.4", "0.6")}, "steps": {"Y": "A[0] * 0.5 + A[1] * 1.1"}}
    found = text_of(audited(read(source, claims, **more)), width=100)
    assert (found.count(f"printed {printed}"), found.count("^")) == (1, 4)
    assert ("the arithmetic as printed gives 0.8" in found) == (not within)
    assert "only within the rounding" not in found


def test_the_same_reason_is_told_once():
    """Of a figure that is wrong as the quantity and as what its numbers come to."""
    source = "Their share is 2 / 3 = 0.66."
    claims = [claimed(source, "of", "Y", "0.66", "= "),
              claimed(source, "as_printed", "2 / 3", "0.66", "= ")]  # fmt: skip
    found = audited(read(source, claims, given={"X": ("2", "3")}, steps={"Y": "X[0] / X[1]"}))
    assert [figure.cause for figure in found.figures] == ["truncated"] * 2
    assert text_of(found).count("truncated, not rounded") == 1


def test_what_is_carried_is_counted_with_its_lines():
    """Or shown, each at its place; a statement has its line as well."""
    folded, whole = text_of(carried()), text_of(carried(), unfolded=True)
    assert (
        "      2 more figures are wrong because of it: T[1, 0] (2 times) (lines 2, 3)\n" in folded
    )
    places = re.findall(r"^post\.md:([0-9:]+): (.*)", whole, re.MULTILINE)
    assert places == [
        ("1:18", "S[1, 0] printed 3.5, correct 3.4"),
        ("2:15", "T[1, 0] printed 7.0, correct 6.8"),
        ("3:17", "T[1, 0] printed 7.0, correct 6.8"),
        ("4:1", "refuted: 4 / 2 == 3"),
    ]
    assert "    4 | Half of four is 3.\n      | ^^^^^^^^^^^^^^^^^\n" in folded


def test_what_is_coarse_is_told_at_its_place():
    """Where something beside it is wrong, and always where that counts."""
    source = "The sum 10 / 3 is 3."
    found = audited(read(source, [claimed(source, "as_printed", "10 / 3", "3", "is ")]))
    assert "post.md:1:19: coarse: 10 / 3 is printed as 3" in text_of(found, strict=True)
    assert "1 figure is printed as a whole number although" in text_of(found)


@pytest.mark.parametrize("width", [40, 60, 100])
def test_no_line_is_too_long(width):
    """Paragraphs wrap, and lines of the article are cut around the figure."""
    source = f"{'before ' * 40}and 2 * 3 = 7.{' behind' * 40}"
    found = audited(read(source, [claimed(source, "as_printed", "2 * 3", "7", "= ")]))
    lines = text_of(found, width).splitlines()
    assert max(map(cell_len, lines)) <= width
    shown, marks = (line for line in lines if "|" in line)
    assert shown[marks.index("^")] == "7"
    # As much of it stands before the figure as behind.
    before, behind = shown.split("| ")[1].split("7")
    assert abs(len(before) - len(behind)) <= 1


def test_what_an_article_says_steers_no_terminal():
    """Neither in its line, nor in its name, nor in what it was taken to mean."""
    source = "\x1b[31mred\u202e 2 * 3 = 7\x07"
    reading = read(source, [claimed(source, "as_printed", "2 * 3", "7")], name="p\x1b[1m.md",
                   assumed=["\x1b[2J"], left=[("red", "\x1b[0m")])  # fmt: skip
    text = text_of(audited(reading))
    assert set(text) <= set(map(chr, range(32, 127))) | {"\n"}
    assert r"\x1b[31mred\u202e 2 * 3 = 7\x07" in text


# -- excerpts ----------------------------------------------------------------------------

LETTERS = st.text("ab 1.\t\u00e9\u732b\U0001f600\x1b\u202e", max_size=60)


@example("", "11111111111\x1b11", "", 13, "")
@given(
    LETTERS, LETTERS.filter(bool), LETTERS, st.integers(8, 60), st.sampled_from(["", "\n", "\r\n"])
)
def test_excerpts(before, marked, behind, width, end):
    """No wider than it may be; the marks are below what is spoken of; what is shown is of that
    line alone, and all of it where there is room."""
    source = f"x{end}{before}{marked}{behind}{end}y" if end else f"{before}{marked}{behind}"
    start = len(before) + (1 + len(end) if end else 0)
    article = Article(Path("a.md"), "markdown", source, ())
    found = excerpt(article, Span(start, start + len(marked)), width)
    shown = [visible(text.replace("\t", " ")) for text in (before, marked, behind)]
    assert cell_len("".join(found)) <= width
    assert found.marks == " " * cell_len(found.before) + "^" * max(cell_len(found.marked), 1)
    if cell_len("".join(shown)) <= width:
        assert found == (shown[0].lstrip(), *shown[1:])
    for part, whole in zip(found, shown, strict=True):
        assert part.strip("\u2026") in whole
    assert found.before.lstrip("\u2026") == "" or shown[0].endswith(found.before.lstrip("\u2026"))
    assert shown[2].startswith(found.behind.rstrip("\u2026"))


@pytest.mark.heavy
def test_a_line_as_long_as_a_file():
    """A figure in it takes no longer than one in a short line."""
    source = "0.5 " * 1_000_000
    article = Article(Path("a.md"), "markdown", source, ())
    for start in range(0, 40_000, 4):
        assert excerpt(article, Span(start, start + 3), 80).marked == "0.5"
