"""Articles in PDF: the lines of their pages, and the matrices on them."""

import builtins
from dataclasses import replace
from pathlib import Path

import pytest

from symattn.documents import pdf
from symattn.documents.files import article
from symattn.documents.pdf import DrawnRule, PlacedText
from symattn.errors import Malformed
from symattn.limits import BRACKETS, DRAWN, PAGES, SET, SIGNS

PAGE = """#set page(width: 14cm, height: auto)
= Scores
Let $d_k = 2$ and the queries be given by
$ Q = X W_Q = mat(1, 0.50; -2, 3; delim: "["), quad
  K = mat(1, 2, 3; 4, 5, 6; 7, 8, -9.5; 1, 1, 1) $
$ S = (Q K^top)/sqrt(d_k) approx mat(0.71, 1.41; delim: "[") + (1 + x_1^2)/2 $
so that $S_12 = 0.42 dot 1 + 0.31 dot 0.5 = 0.575$, or $f(x) = [1, 2]$.

#table(columns: 3, stroke: none, [], [a], [b], table.hline(), [cat], [0.5], [0.3])
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    import typst

    source = tmp_path_factory.mktemp("pdf") / "page.typ"
    source.write_text(PAGE, "utf-8")
    return typst.compile(str(source))


def test_page(page):
    """Formulas stand in their lines, matrices as lists of rows, columns apart."""
    assert pdf.text(page).split("\n") == [
        "Scores",
        "",
        "Let d_{k} = 2 and the queries be given by",
        "",
        "Q = XW_{Q} = [[1, 0.50], [−2, 3]],  K = [[1, 2, 3], [4, 5, 6], [7, 8, −9.5], [1, 1, 1]]",
        "",
        "S = (QK^{⊤})/(√(d_{k})) ≈ [0.71 1.41] + (1 + x^{2}_{1})/2",
        "",
        "so that S_{12} = 0.42 ⋅ 1 + 0.31 ⋅ 0.5 = 0.575, or f(x) = [1, 2].",
        "",
        "a  b",
        "cat  0.5  0.3",
        "",
    ]


def test_article(page):
    """An article in PDF is its text, in which its places count."""
    found = article(Path("post.pdf"), page)
    assert found.form == "pdf"
    at = found.source.index("0.575")
    assert found.place(at).line == 9
    parts = [part.text for block in found.blocks for part in block.parts]
    assert any("0.575" in text.string and at in text.starts for text in parts)


@pytest.mark.parametrize(
    "held", [b"", b"%PDF-1.7\n", b"%PDF-1.7\n1 0 obj<</Type/Catalog>>", b"\0" * 99]
)
def test_broken(held):
    """What is no PDF is refused with a message, whatever the library makes of it."""
    with pytest.raises(Malformed):
        article(Path("post.pdf"), held)


def test_missing_library(monkeypatch):
    """Without the extra, the message says what to install."""
    real = builtins.__import__

    def without(name, *rest):
        if name == "pdfplumber":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(Malformed, match=r"pip install 'symattn\[pdf-articles\]'"):
        pdf.text(b"%PDF-1.7")


def test_pieces_of_brackets():
    """High brackets that a font builds from pieces hold a matrix, as one sign does."""
    rows = [("1", 20, 100), ("2", 40, 100), ("3", 20, 112), ("4", 40, 112)]
    cells = [PlacedText(text, left, left + 5, down, 10) for text, left, down in rows]
    name = [PlacedText("A", 0, 6, 106, 10), PlacedText("=", 8, 12, 106, 10)]
    for pieces in ([92], [92, 104]):
        fences = [
            PlacedText(text, left, left + 4, down, 10)
            for down in pieces
            for text, left in (("(cid:20)", 15), ("(cid:21)", 50))
        ]
        assert pdf.lines([*name, *cells, *fences]) == ["A = [[1, 2], [3, 4]]"]


def test_row_in_the_middle():
    """The row of a matrix that stands in the line of its formula is one of its rows."""
    cells = [PlacedText(str(i), 20, 25, 94 + 12 * i, 10) for i in range(3)]
    fences = [
        PlacedText(t, left, left + 4, 96, 10) for t, left in (("(cid:1)", 15), ("(cid:2)", 27))
    ]
    name = [
        PlacedText("x", 0, 6, 106, 10),
        PlacedText("=", 8, 12, 106, 10),
        PlacedText(",", 31, 33, 106, 10),
    ]
    assert pdf.lines([*cells, *fences, *name]) == ["x = [[0], [1], [2]],"]


def test_row_between_high_brackets():
    """A single row between brackets of a font of mathematics is a list."""
    cells = [PlacedText("1", 20, 25, 106, 10), PlacedText("2", 35, 40, 106, 10)]
    fences = [
        PlacedText(t, left, left + 4, 98, 10) for t, left in (("(cid:1)", 15), ("(cid:2)", 43))
    ]
    name = [PlacedText("=", 8, 12, 106, 10)]
    assert pdf.lines([*name, *cells, *fences]) == ["= [1, 2]"]


def test_grid_with_gaps():
    """Words that don't fill the same columns are no matrix, but lines."""
    cells = [
        PlacedText("1", 20, 25, 100, 10),
        PlacedText("2", 40, 45, 100, 10),
        PlacedText("3", 20, 25, 112, 10),
    ]
    fences = [
        PlacedText(t, left, left + 4, 92, 10) for t, left in (("(cid:1)", 15), ("(cid:2)", 50))
    ]
    assert pdf.lines([*cells, *fences]) == ["1  2", "3"]


def test_pages_are_bounded(page, monkeypatch):
    """A file of more pages than anybody reads is refused, and says so."""
    monkeypatch.setattr(pdf, "PAGES", replace(PAGES, most=0))
    with pytest.raises(Malformed, match="1 pages; at most 0 are read"):
        pdf.text(page)


def test_words_beside_a_matrix_are_none_of_its_rows():
    """A line of words above two small brackets stays a line."""
    words = [
        PlacedText(t, left, left + 8, 100, 10) for t, left in (("see", 0), ("it", 12), ("x", 24))
    ]
    inside = PlacedText("y", 14, 19, 112, 10)
    fences = [PlacedText("(", 10, 13, 112, 10), PlacedText(")", 20, 23, 112, 10)]
    assert pdf.lines([*words, inside, *fences]) == ["see it x", "(y)"]


def test_rules_of_tables_are_no_fractions():
    """A rule that is wider than what it parts, or parts columns, belongs to a table."""
    cells = [PlacedText(t, left, left + 5, down, 10) for t, left, down in
             (("a", 20, 100), ("b", 60, 100), ("1", 20, 112), ("2", 60, 112))]  # fmt: skip
    for words in (cells, cells[::2]):
        for rule in (DrawnRule(20, 65, 104), DrawnRule(14, 71, 104)):
            expected = ["a  b", "1  2"] if len(words) == 4 else ["a", "1"]
            assert pdf.lines(words, [rule]) == expected
    assert pdf.lines(cells[::2], [DrawnRule(19, 26, 104)]) == ["a/1"]


def test_bounds():
    """A page of more signs or brackets than anybody reads is refused, and says so."""
    with pytest.raises(Malformed, match="characters on a page"):
        pdf.lines([PlacedText("x", 0, 1, 0, 1)] * (SIGNS.most + 1))
    with pytest.raises(Malformed, match="brackets or rules on a page"):
        pdf.lines(PlacedText("(", 9 * i, 9 * i + 1, 0, 1) for i in range(BRACKETS.most + 1))
    with pytest.raises(Malformed, match="brackets or rules on a page"):
        pdf.lines([], [DrawnRule(0, 5, 0)] * (BRACKETS.most + 1))


def file_of(objects):
    """A PDF file of these objects, the first its root."""
    held, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(held))
        held += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size, at = len(objects) + 1, len(held)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % size
    return (
        held + head + table + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (size, at)
    )


def stream(held, more=b""):
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (more, len(held), held)


def pages_of(contents, resources):
    """A file with a page of each content."""
    kids = b" ".join(b"%d 0 R" % (3 + 2 * k) for k in range(len(contents)))
    objects = [b"<</Type/Catalog/Pages 2 0 R>>"]
    objects.append(b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, len(contents)))
    for k, content in enumerate(contents):
        page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents %d 0 R/Resources<<%s>>>>"
        objects += [page % (4 + 2 * k, resources), stream(content)]
    return objects


FONT = b"/Font<</A<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>"
WORDS = b"0 -9 Td (0.25 0.25) Tj "


def nested(depth, fan, innermost=b""):
    """A page of forms that draw forms."""
    objects = pages_of([b"/F Do"], b"/XObject<</F 5 0 R>>" + FONT)
    for k in range(depth):
        inside = b"/Type/XObject/Subtype/Form/BBox[0 0 600 800]"
        deeper = b"/Resources<</XObject<</F %d 0 R>>>>" % (6 + k)
        objects.append(stream(b"/F Do " * fan, inside + deeper))
    form = b"/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<<%s>>" % FONT
    return file_of([*objects, stream(innermost, form)])


def test_forms_are_read():
    """What forms draw stands on the page, as often as they draw it."""
    text = b"BT /A 8 Tf 9 99 Td (0.25) Tj ET"
    assert pdf.text(nested(3, 1, text)).split() == ["0.25"]


@pytest.mark.heavy
def test_forms_in_forms_are_bounded():
    """Ten forms that draw ten forms each, ten deep, are 10^10 in 3 kilobytes."""
    with pytest.raises(Malformed, match=f"bytes or more of drawing .* at most {DRAWN.most}"):
        pdf.text(nested(10, 10))


def test_characters_are_bounded(monkeypatch):
    """On a page and in all, before the page is made of them."""
    most = pages_of([b"BT /A 8 Tf 0 800 Td " + WORDS * 200 + b"ET"], FONT)
    monkeypatch.setattr(pdf, "SIGNS", replace(SIGNS, most=500))
    with pytest.raises(Malformed, match="501 or more characters on a page; at most 500 are read"):
        pdf.text(file_of(most))
    several = pages_of([b"BT /A 8 Tf 0 800 Td " + WORDS * 40 + b"ET"] * 3, FONT)
    assert pdf.text(file_of(several)).count("0.25") == 240
    monkeypatch.setattr(pdf, "SET", replace(SET, most=1000))
    with pytest.raises(Malformed, match="1001 characters or more; at most 1000 are read"):
        pdf.text(file_of(several))
