"""Markdown: what GitHub and chats show, with all that the blocks say, and nothing live."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from symattn.auditing.audit import audit
from symattn.expressions import typesetting as t
from symattn.printers import blocks as b
from symattn.printers.markdown import document
from symattn.sheets import case_sheet, redpen
from symattn.solution.solution import solve

from ..hostile import CASE, steering
from ..sheets.mathematics import Unreadable, read
from ..sheets.pages import flat
from .test_html import NUMBER, PAGES, blocks, formulas, strings

pages = pytest.mark.parametrize(("kind", "name"), PAGES)
#: The same few always, as each page is made once.
some_pages = pytest.mark.sampled(16)
MATH = re.compile(r"\$\$\n(.*?)\n\$\$|(?<!\\)\$([^$\n]+?)(?<!\\)\$", re.DOTALL)
CODE = re.compile(r"```.*?```|(?<!`)`[^`\n]+`(?!`)", re.DOTALL)
#: What MathJax on GitHub and KaTeX both know.
WORDS = frozenset(
    re.findall(
        r"\w+",
        "frac sqrt left right text mathrm mathit mathbf mathop begin end cr displaystyle textstyle "
        "quad enspace thinspace cdot odot circ times ast lt gt approx le ge ne to vert cdots "
        "lbrace rbrace lfloor rfloor bmod sum partial infty top Bigl Bigr",
    )
)


def mathematics(text: str) -> list[str]:
    """The formulas in a document."""
    return [display or line for display, line in MATH.findall(CODE.sub("", text))]


def tokens(text: str) -> list[Token]:
    """What a reader of Markdown sees in a document, formulas apart."""
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    found = reader.parse(MATH.sub("formula", text))
    return [*found, *(child for token in found for child in token.children or ())]


@pytest.mark.sampled(1, 12)
@some_pages
@pages
def test_a_page_is_whole(kind: str, name: str) -> None:
    """Every number is there as often as in the blocks; mathematics has words only that are
    known everywhere, and nothing in it that Markdown reads; tables are even, headings all there."""
    sheet = blocks(kind, name)
    text = document(sheet)
    found = tokens(text)
    for formula in mathematics(text):
        assert set(re.findall(r"\\([A-Za-z]+|.)", formula)) <= WORDS
        assert not re.search(r"_(?! )|[*|<>`~#]", formula)
        assert formula.count("{") == formula.count("}")
        assert formula.count(r"\left") == formula.count(r"\right")
    assert not re.search(r"\\(struck|correct|cause|fit)", text)
    headings = sum(isinstance(block, b.Heading) for block in sheet.blocks)
    assert sum(token.type == "heading_open" for token in found) == headings + 1
    held = [x for x in flat(sheet) if isinstance(x, b.Table | b.HeatMaps | b.RedPen)]
    tables = sum(
        len(x.items) if isinstance(x, b.HeatMaps)
        else bool(x.matrix.cells) if isinstance(x, b.RedPen) else 1
        for x in held
    )  # fmt: skip
    assert sum(token.type == "table_open" for token in found) == tables
    said = Counter(NUMBER.findall(" ".join(strings(tuple(map(without_labels, flat(sheet)))))))
    assert not said - Counter(NUMBER.findall(text))
    assert not {"html_block", "html_inline", "link_open", "image"} & {x.type for x in found}


def without_labels(block: b.Block) -> object:
    """A block without what Markdown leaves out: labels of matrices, hints, pictures."""
    match block:
        case b.Matrices(items):
            return tuple((item.before, item.cells) for item in items)
        case b.RedPen(where, matrix, notes):
            return where, matrix.before, matrix.cells, notes
        case b.HeatMaps(items):
            return tuple((x.title, x.figures, x.rows, x.columns) for x in items)
        case b.Picture():
            return ()
    return block


@pytest.mark.sampled(8)
@some_pages
@pages
def test_struck_figures(kind: str, name: str) -> None:
    """As many figures are struck and stressed as in the blocks."""
    sheet = blocks(kind, name)
    written = " ".join(map(t.latex, formulas(sheet.blocks)))
    found = tokens(document(sheet))
    struck = sum(token.type == "s_open" for token in found)
    assert struck == len(re.findall(r"\\struck", written))


@pytest.mark.sampled(1, 8)
@pytest.mark.parametrize(("kind", "name"), [p for p in PAGES if p[0] in ("sheet", "file")])
def test_mathematics_is_the_same(kind: str, name: str) -> None:
    """Formulas have the same structure as before, wherever the tests' reader knows them."""
    count = 0
    found = set(formulas(blocks(kind, name).blocks))
    for formula in found:
        try:
            # Where Markdown is read first, an underscore that is a letter is left out.
            tree = read(t.latex(formula).replace(r"\_", ""))
        except Unreadable:
            continue
        (shown,) = mathematics(document(b.Sheet("", "", (), (b.Paragraph((b.Math(formula),)),))))
        plain = re.sub(r"\\mathrm\{(exp|log)\}", r"\\\1", shown)
        assert read(plain.replace("_ {", "_{").replace(r"\thinspace ", r"\,")) == tree
        count += 1
    assert count >= len(found) / 3


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    """Texts of a file are shown, and are no links, images, tags or headings."""
    path = tmp_path / "hostile.toml"
    path.write_text(CASE, "utf-8")
    solution = solve(path)
    for sheet in (case_sheet.sheet(solution), redpen.sheet(audit(solution))):
        text = document(sheet)
        assert steering(text) == set()
        kinds = {token.type for token in tokens(text)}
        assert not {"html_block", "html_inline", "link_open", "image"} & kinds
        headings = sum(isinstance(block, b.Heading) for block in sheet.blocks)
        assert sum(x.type == "heading_open" for x in tokens(text)) == headings + 1


def test_no_line_of_a_sheet_names_an_address_for_another() -> None:
    """A line below the title that would define a link is text, as in a derivation's statement."""
    said = b.Paragraph(("see [ref]",))
    text = document(b.Sheet("x", "see [ref]", ("[ref]: //evil",), (said,)))
    assert "link_open" not in {token.type for token in tokens(text)}
    assert "[ref" in text
    quoted = document(b.Sheet("x", "t", ("> quoted",), ()))
    assert "blockquote_open" not in {token.type for token in tokens(quoted)}


@pytest.mark.parametrize("after", ["(//evil)", "[x](//evil)", ": //evil"])
def test_texts_are_no_link_together(after: str) -> None:
    """A line is put together of texts, each of which is made harmless by itself."""
    said = b.Paragraph(("so [text]", after, b.Code("x")))
    assert "link_open" not in {x.type for x in tokens(document(b.Sheet("x", "t", (), (said,))))}
