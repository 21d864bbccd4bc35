"""Single promises of the printers: the same blocks in each form, and nothing beside them."""

from __future__ import annotations

import re
from base64 import b64decode

import pytest

from symattn.escaping import latex as escape
from symattn.languages.language import ENGLISH
from symattn.printers import blocks as b
from symattn.printers import html, latex, markdown, typst
from symattn.printers.html import index_page
from symattn.printers.web import mathml

from ..notation import equations, heat_map, math, matrix, read
from ..scripts import unscripted
from .test_html import Reader


def sheet(*blocks: b.Block) -> b.Sheet:
    return b.Sheet("case", "Title", ("subtitle",), blocks)


def body(page: str) -> str:
    """The text of a page, without blanks."""
    inside = page[page.index("<body>") : page.index("</body>")] + "</body>"
    return re.sub(r"\s", "", "".join(Reader(inside).texts))


def test_nothing_stands_on_a_page_beside_what_the_sheet_says() -> None:
    """Text begins and ends where its element does."""
    blocks = (
        b.Heading(("Head",), 1),
        b.Paragraph(("So ", math("x_1"), " holds.")),
        b.Matrices((matrix("A =", (("1", r"\frac{1}{2}"), ("y", "3"))),)),
    )
    assert body(unscripted(html.document(sheet(*blocks)))) == "TitlesubtitleHeadSox1holds.A=112y3"


def test_nothing_stands_on_a_list_beside_what_it_lists() -> None:
    """Its title, its cards with their files, and other pages."""
    page = index_page([("<h2>Card</h2>", [("a.html", "HTML")])], [("b.html", "Other")], ENGLISH)
    assert body(page) == "SheetsCardHTMLOthersheetshereOther"


def test_headings_are_named_by_their_sections() -> None:
    """Links lead to the third part of the second section, whatever they are called."""
    levels = (1, 2, 2, 1, 2, 2, 2)
    page = html.document(sheet(*(b.Heading((f"h{k}",), level) for k, level in enumerate(levels))))
    names = [value for name, value in Reader(page).values if name == "id"]
    assert names == [f"part-{x}" for x in ("1", "1-1", "1-2", "2", "2-1", "2-2", "2-3")]


def test_what_stands_before_a_matrix_is_displayed() -> None:
    """A sum there has its limits below and above it."""
    page = html.document(sheet(b.Matrices((matrix(r"\sum_{i} A =", (("1", "2"),)),))))
    before = page[page.index('<div class="matrix">') :].partition("<table")[0]
    assert '<math display="block">' in before


def test_pages_bring_fonts_that_browsers_read() -> None:
    """Each is a WOFF2 file, whole in the style."""
    fonts = re.findall(r'url\("data:font/woff2;base64,([^"]*)"\)', html.style())
    assert len(fonts) == html.style().count("@font-face") == 3
    assert all(b64decode(font, validate=True).startswith(b"wOF2") for font in fonts)


def test_fractions_in_a_heat_map_are_small() -> None:
    """Its cells are as high as a figure; those of a matrix make room for a display."""
    heat = heat_map((), ((0.5,),), ((r"\frac{1}{2}",),), ("q",), ("k",))
    page = html.document(sheet(b.HeatMaps((heat,))))
    assert "<mfrac>" in page
    assert "displaystyle" not in page[page.index("<main>") :]
    matrices = b.Matrices((matrix("", ((r"\frac{1}{2}",),)),))
    assert '<math displaystyle="true"><mfrac>' in html.document(sheet(matrices))


def test_a_note_stands_below_a_table_where_there_is_one() -> None:
    """A table without one ends with itself."""
    noted, plain = (markdown.summary("t", "", ["a"], [["x"]], note) for note in ("Note.", ""))
    assert noted.endswith("</table>\n<p>Note.</p></div>")
    assert plain.endswith("</table></div>")


# -- LaTeX ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "air"),
    [
        (r"\displaystyle \sum_{i} x_{i}", r"\addlinespace[7pt]"),
        (r"\displaystyle \frac{1}{2}", r"\addlinespace[7pt]"),
        (r"\displaystyle x", r"\addlinespace[5pt]"),
        (r"\sum_{i} x_{i}", r"\addlinespace[3pt]"),
        ("x", ""),
    ],
)
def test_rows_of_tables_have_air_for_their_formulas(formula, air) -> None:
    """The taller a formula is, the more; and rules stand right above and below the head."""
    table = b.Table((("a",), ("b",)), ((("1",), (math(formula),)),), "ll")
    shown = latex.document(sheet(table)).partition(r"\begin{longtable}")[2]
    rules = [r"\toprule", r"\textbf{a} & \textbf{b} \\", r"\midrule", r"\endhead"]
    assert shown.split("\n")[1:6] == [*rules, rf"1 & ${formula}$ \\{air}"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a–b", "a--b"), ("a—b", "a---b"), ("so…", r"so\dots{}"), ("“it’s”", "``it's''")],
)
def test_typography_is_that_of_the_fonts(text, shown) -> None:
    """Dashes, dots and quotation marks go by the names that LaTeX has for them."""
    assert escape(text) == shown


# -- Typst ------------------------------------------------------------------------------------


def test_equations_beside_others_are_those_that_stand_alone() -> None:
    """Nothing is added to them where they share a line."""
    shown = equations((("x", "=", "1"), ("", "=", "y")))
    alone = typst.document(sheet(shown)).partition("#equations($ ")[2].partition(" $")[0]
    matrices = b.Matrices((matrix("A =", (("1",),)),))
    beside = typst.document(sheet(b.Beside((shown, matrices))))
    assert alone
    assert f"#shelf($ {alone} $," in beside


# -- Markdown ---------------------------------------------------------------------------------


def paragraph(formula: str) -> str:
    return markdown.document(sheet(b.Paragraph((math(formula),)))).strip().split("\n")[-1]


def test_what_is_wrong_is_struck_and_what_is_right_is_bold() -> None:
    """Not the other way round."""
    assert paragraph(r"\struck{1}\ \correct{2}") == "~~1~~ **2**"


def test_lines_are_aligned_and_cases_stand_in_columns() -> None:
    """Each by the environment that every reader of Markdown knows."""
    rows = r"x & 2 \\ y & 4"
    for begin, name in ((r"aligned}[t]", "aligned"), ("array}{ll}", "matrix")):
        ending = begin.partition("}")[0]
        shown = paragraph(rf"\begin{{{begin} {rows} \end{{{ending}}}")
        assert shown == rf"$\begin{{{name}}} x & 2 \cr y & 4 \end{{{name}}}$"


@pytest.mark.parametrize(("line", "fence"), [("ls", "```"), ("echo ```", "~~~~~~")])
def test_a_listing_ends_where_it_ends(line, fence) -> None:
    """Its fence is one that doesn't stand in it."""
    shown = markdown.document(sheet(b.Listing((line,)), b.Paragraph(("After.",))))
    assert f"\n{fence}sh\n{line}\n{fence}\n\nAfter." in shown


# -- formulas ---------------------------------------------------------------------------------


def test_a_star_is_an_operator_of_its_own() -> None:
    """It is no dot, and stands between what it is put between."""
    assert "<mo>∗</mo>" in mathml(read("x * y"))
