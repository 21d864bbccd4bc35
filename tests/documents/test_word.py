"""Articles in Word: what is read of them, and what is told of its places."""

from __future__ import annotations

import subprocess
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.auditing.audit import audit
from symattn.cases import library
from symattn.cases.article import case_of
from symattn.documents.binding import binder
from symattn.documents.files import article
from symattn.documents.word.body import formula
from symattn.documents.word.elements import parsed
from symattn.printers import docx, html, markdown
from symattn.sheets import case_sheet
from symattn.solution.solution import solve
from symattn.spelling import words
from symattn.verdicts import Verdict
from tests.documents import marks
from tests.documents.test_corpus import PATHS
from tests.documents.word_files import (
    NAMESPACES,
    line,
    m,
    made,
    math,
    matrix,
    run,
    table,
)
from tests.installed import found as program

UPRIGHT = '<m:sty m:val="p"/>'
MONO = '<w:rFonts w:ascii="Consolas"/>'


def read(*paragraphs, **beside):
    return article(Path("post.docx"), made("".join(paragraphs), **beside))


def pieces(found):
    """The blocks of an article, with the kinds and texts of their parts."""
    return [
        (block.kind, [(part.kind, part.text.string) for part in block.all_parts])
        for block in found.blocks
    ]


def latex(content):
    return formula(parsed(f"<m:oMath {NAMESPACES}>{content}</m:oMath>")).string


def argument(name, text):
    return f"<m:{name}>{m(text)}</m:{name}>"


def two(kind, first, second, told=""):
    """An element of two arguments."""
    return f"<m:{kind}>{told}{argument(first, 'a')}{argument(second, 'b')}</m:{kind}>"


FORMULAS = {
    "fraction": (two("f", "num", "den"), r"\frac{a}{b}"),
    "no_bar": (
        two("f", "num", "den", '<m:fPr><m:type m:val="noBar"/></m:fPr>'),
        r"\binom{a}{b}",
    ),
    "below": (two("sSub", "e", "sub"), "a_{b}"),
    "above": (two("sSup", "e", "sup"), "a^{b}"),
    "both": (
        f"<m:sSubSup>{argument('e', 'a')}{argument('sub', 'b')}{argument('sup', 'c')}</m:sSubSup>",
        "a_{b}^{c}",
    ),
    "before": (
        f"<m:sPre>{argument('sub', 'b')}{argument('sup', 'c')}{argument('e', 'a')}</m:sPre>",
        "{}_{b}^{c}a",
    ),
    "power_of_a_fraction": (
        f"<m:sSup><m:e>{two('f', 'num', 'den')}</m:e>{argument('sup', '2')}</m:sSup>",
        r"{\frac{a}{b}}^{2}",
    ),
    "root": (f"<m:rad><m:deg/>{argument('e', 'a')}</m:rad>", r"\sqrt{a}"),
    "third_root": (f"<m:rad>{argument('deg', '3')}{argument('e', 'a')}</m:rad>", r"\sqrt[3]{a}"),
    "brackets": (f"<m:d>{argument('e', 'a')}{argument('e', 'b')}</m:d>", r"\left( a| b \right)"),
    "half_open": (
        f'<m:d><m:dPr><m:begChr m:val="{{"/><m:endChr m:val=""/></m:dPr>{argument("e", "a")}</m:d>',
        r"\left\{ a \right.",
    ),
    "matrix": (
        matrix("12", "34"),
        r"\left[ \begin{matrix} 1 & 2 \\ 3 & 4 \end{matrix} \right]",
    ),
    "matrix_of_libreoffice": (
        matrix("1", "2", closing=")"),
        r"\left[ \begin{matrix} 1 \\ 2 \end{matrix} \right]",
    ),
    "sum": (
        f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>{argument("sub", "i=1")}'
        f"{argument('sup', 'n')}{argument('e', 'a')}</m:nary>",
        r"\sum_{i=1}^{n} a",
    ),
    "integral": (f"<m:nary><m:sub/><m:sup/>{argument('e', 'a')}</m:nary>", r"\int a"),
    "function": (
        f"<m:func><m:fName>{m('softmax', look=UPRIGHT)}</m:fName>"
        f"<m:e><m:d>{argument('e', 'S')}</m:d></m:e></m:func>",
        r"\operatorname{softmax}\left( S \right)",
    ),
    "limit": (two("limLow", "e", "lim"), "a_{b}"),
    "underbrace": (
        f"<m:limLow><m:e><m:groupChr>{argument('e', 'a')}</m:groupChr></m:e>"
        f"{argument('lim', 'b')}</m:limLow>",
        r"\underbrace{a}_{b}",
    ),
    "underbrace_of_pandoc": (
        f"<m:limLow>{argument('e', 'a')}{argument('lim', '⏟')}</m:limLow>",
        r"\underbrace{a}",
    ),
    "hat": (f"<m:acc>{argument('e', 'a')}</m:acc>", r"\hat{a}"),
    "tilde": (
        f'<m:acc><m:accPr><m:chr m:val="\u0303"/></m:accPr>{argument("e", "a")}</m:acc>',
        r"\tilde{a}",
    ),
    "bar": (
        f'<m:bar><m:barPr><m:pos m:val="top"/></m:barPr>{argument("e", "a")}</m:bar>',
        r"\overline{a}",
    ),
    "box": (f"<m:box>{argument('e', 'a')}</m:box>", "a"),
    "border": (f"<m:borderBox>{argument('e', 'a')}</m:borderBox>", "a"),
    "unseen": (
        f'<m:phant><m:phantPr><m:show m:val="0"/></m:phantPr>{argument("e", "a")}</m:phant>',
        "",
    ),
    "shown": (f"<m:phant>{argument('e', 'a')}</m:phant>", "a"),
    "equations": (
        f"<m:eqArr>{argument('e', 'a&amp;=1')}{argument('e', '&amp;=2')}</m:eqArr>",
        r"\begin{aligned} a=1 \\ =2 \end{aligned}",
    ),
    "equations_in_columns": (
        "<m:m><m:mr>" + "".join(argument("e", x) for x in ("a", "=1", "b", "=2")) + "</m:mr></m:m>",
        r"\begin{aligned} a & =1 \quad b =2 \end{aligned}",
    ),
    "linear": (m("Q K^T / √(d_k) = 0.5"), "Q K^T / √(d_k) = 0.5"),
    "linear_matrix": (
        m("A = [■(1&amp;2@3&amp;4)]"),
        r"A = [\begin{matrix} 1&2 \\ 3&4 \end{matrix}]",
    ),
    "commands": (m(r"\frac{a}{b}"), r"\frac{a}{b}"),
    "signs": (m("50% {a}"), r"50\% \{a\}"),
    "words": (m("if it is", look="<m:nor/>"), r"\text{if it is}"),
    "split_number": (m("0.1", "864"), "0.1864"),
    "comma": (m("0.5", ",", "0.25"), "0.5, 0.25"),
    "taken_out": (f"{m('a')}<w:del>{m('b')}</w:del><w:ins>{m('c')}</w:ins>", "ac"),
    "invisible": (m("f\u2061\u200b(x)"), "f(x)"),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas(name):
    """Each element of Office mathematics is what LaTeX writes for it."""
    content, expected = FORMULAS[name]
    assert latex(content) == expected


def test_labels_of_rows_are_no_matrix():
    """Words in a column before a matrix."""
    labels = "".join(f"<m:mr><m:e>{m(word, look='<m:nor/>')}</m:e></m:mr>" for word in ("a", "b"))
    content = f"{m('X=')}<m:m>{labels}</m:m>{matrix('1', '2')}"
    assert latex(content) == r"X=\left[ \begin{matrix} 1 \\ 2 \end{matrix} \right]"


# Paragraphs


PARAGRAPHS = {
    "plain": (run("So 1 &lt; 2."), [("text", "So 1 < 2.")]),
    "put_in": (f"{run('a')}<w:ins>{run('b')}</w:ins>", [("text", "ab")]),
    "taken_out": (
        f"{run('a')}<w:del><w:r><w:delText>b</w:delText></w:r>{run('x')}</w:del>"
        f"<w:moveFrom>{run('c')}</w:moveFrom><w:moveTo>{run('d')}</w:moveTo>",
        [("text", "ad")],
    ),
    "hidden": (run("a") + run("b", "<w:vanish/>"), [("text", "a")]),
    "not_hidden": (run("a") + run("b", '<w:vanish w:val="0"/>'), [("text", "ab")]),
    "link": (f"<w:hyperlink>{run('a')}</w:hyperlink>{run('b')}", [("text", "ab")]),
    "index": (
        run("W") + run("Q1", '<w:vertAlign w:val="subscript"/>'),
        [("text", "W_{Q1}")],
    ),
    "power": (run("x") + run("2", '<w:vertAlign w:val="superscript"/>'), [("text", "x^2")]),
    "soft_hyphen": (run("soft\u00admax") + "<w:r><w:softHyphen/></w:r>", [("text", "softmax")]),
    "hyphen": (f"<w:r><w:noBreakHyphen/></w:r>{run('0.5')}", [("text", "-0.5")]),
    "blank": (run("1\u00a0234"), [("text", "1\u00a0234")]),
    "tab": (
        "<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r>",
        [("text", "a\tb\nc")],
    ),
    "code": (run("a ") + run("x = 1", MONO), [("text", "a "), ("code", "x = 1")]),
    "symbol": (
        '<w:r><w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Symbol" w:char="F0B4"/></w:r>',
        [("text", "α×")],
    ),
    "field": (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>' + run("7"),
        [("text", "7")],
    ),
    "formula": (
        run("Let ") + math(m("x=1")) + run("."),
        [("text", "Let "), ("math", "x=1"), ("text", ".")],
    ),
    "section": ("<w:r><w:t><![CDATA[1 < 2 & 3;]]></w:t></w:r>", [("text", "1 < 2 & 3;")]),
}


@pytest.mark.parametrize("name", PARAGRAPHS)
def test_paragraphs(name):
    """What stands in a paragraph, however it is written."""
    content, expected = PARAGRAPHS[name]
    assert pieces(read(line(content))) == [("prose", expected)]


def test_displays():
    """A formula in a paragraph of its own stands alone, with Word's mark of that or without."""
    whole = f"<m:oMathPara>{math(m('a=1'))}{math(m('b=2'))}</m:oMathPara>"
    found = read(line(run("So ") + whole + run("and")), line(math(m("c=3"))))
    assert pieces(found) == [
        ("prose", [("text", "So")]),
        ("formula", [("math", "a=1")]),
        ("formula", [("math", "b=2")]),
        ("prose", [("text", "and")]),
        ("formula", [("math", "c=3")]),
    ]
    assert [str(place.name) for place in found.paragraphs] == ["paragraph 1"] * 4 + ["paragraph 2"]


STYLES = (
    '<w:style w:type="paragraph" w:styleId="a"><w:name w:val="heading 2"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="b"><w:name w:val="Kapitel"/>'
    '<w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="c"><w:name w:val="Unter"/>'
    '<w:basedOn w:val="b"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="d"><w:name w:val="Title"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="e"><w:name w:val="toc 1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="f"><w:name w:val="Source Code"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="g"><w:name w:val="x"/><w:basedOn w:val="g"/></w:style>'
)


def test_headings_and_title():
    """By the names of styles, their levels, and those that they are based on; what is again in a
    list of contents is left out."""
    found = read(*(line(run(style), style=style) for style in "dabceg"), styles=STYLES)
    assert [(block.kind, block.level, str(block.text)) for block in found.blocks] == [
        ("heading", 1, "d"),
        ("heading", 2, "a"),
        ("heading", 1, "b"),
        ("heading", 1, "c"),
        ("prose", 0, "g"),
    ]
    assert found.title == "d"


def test_code():
    """Lines in a font or a style of code are one listing, quotation marks as typed."""
    found = read(
        line(run("x = “a”", MONO)),
        line(),
        line(run("y = 2", MONO)),
        line(run("So")),
        line(run("z = 1"), "<w:r><w:br/></w:r>", run("w = 2"), style="f"),
        line(run("v = 3"), style="f"),
        styles=STYLES,
    )
    assert pieces(found) == [
        ("code", [("code", 'x = "a"\n\ny = 2')]),
        ("prose", [("text", "So")]),
        ("code", [("code", "z = 1\nw = 2")]),
        ("code", [("code", "v = 3")]),
    ]


def test_typescripts_are_no_code():
    """Where all is set like code, a font tells nothing."""
    fonts = f"<w:docDefaults><w:rPrDefault><w:rPr>{MONO}</w:rPr></w:rPrDefault></w:docDefaults>"
    found = read(line(run("So it is.", MONO)), styles=fonts)
    assert pieces(found) == [("prose", [("text", "So it is.")])]


def test_boxes_and_notes():
    """Text in a box follows its paragraph, once; notes follow the text, and count alone."""
    box = f"<w:txbxContent>{line(run('in it'))}</w:txbxContent>"
    choice = f"<mc:Choice><wps:txbx>{box}</wps:txbx></mc:Choice><mc:Fallback>{box}</mc:Fallback>"
    found = read(
        line(run("a"), f"<w:r><mc:AlternateContent>{choice}</mc:AlternateContent></w:r>"),
        line(run("b"), '<w:r><w:footnoteReference w:id="2"/></w:r>'),
        footnotes=f'<w:footnote w:type="separator">{line(run("no"))}</w:footnote>'
        f"<w:footnote>{line(run(' note 0.5'))}</w:footnote>",
    )
    assert found.source == "a\nin it\nb\nnote 0.5\n"
    assert [str(found.said(at)) for at in (0, 2, 8, 10)] == [
        "paragraph 1", "paragraph 2", "paragraph 3", "footnote 1",
    ]  # fmt: skip


def test_tables():
    """Rows are lines, a head is one where numbers stand below it, what was merged is once."""
    merged = (
        '<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>'
        f"{line(run('0.5'))}</w:tc></w:tr>"
        f"<w:tr><w:trPr><w:del/></w:trPr><w:tc>{line(run('9'))}</w:tc></w:tr>"
        f"<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr>{line(run('9'))}</w:tc>"
        f"<w:tc>{line(run('0.2'))}</w:tc></w:tr></w:tbl>"
    )
    found = read(line(run("a")), table(["", "x"], ["cat", "0.5"]), line(run("b")), merged)
    first, second = [block.rows for block in found.blocks if block.kind == "table"]
    assert [[cell.is_head for cell in row] for row in first] == [[True, True], [False, False]]
    assert [[[p.text.string for p in cell.parts] for cell in row] for row in second] == [
        [["0.5"], []],
        [[], ["0.2"]],
    ]
    at = found.source.index("cat")
    assert str(found.said(at)) == "table 1, row 2"
    assert str(found.said(found.source.index("0.2"))) == "table 2, row 2"
    assert str(found.said(found.source.index("\nb") + 1)) == "paragraph 2"


def test_a_table_of_equations():
    """A cell that begins with a sign of equality goes on; so does a line with nothing to its
    left. The number of an equation is none of it."""
    rows = [["Q", "=X W", ""], ["", "+1", "(3)"], ["K", "=2", ""]]
    found = read(table(*rows, cell=lambda text: line(run(text) if "(" in text else math(m(text)))))
    assert pieces(found) == [
        ("formula", [("math", "Q =X W +1")]),
        ("formula", [("math", "K =2")]),
    ]


def test_a_frame_is_no_table():
    """A table of one cell holds paragraphs."""
    frame = f"<w:tbl><w:tr><w:tc>{line(run('x = 1', MONO))}{line(run('b'))}</w:tc></w:tr></w:tbl>"
    assert [block.kind for block in read(frame).blocks] == ["code", "prose"]


def test_what_is_not_read_is_said():
    """Formulas of MathType are pictures, those in fields are not followed."""
    mathtype = '<w:r><w:object><o:OLEObject ProgID="Equation.DSMT4"/></w:object></w:r>'
    field = "<w:r><w:instrText> EQ \\f(1,2)</w:instrText></w:r>"
    found = read(line(run("a"), mathtype, field))
    assert found.notes == ("formulas of MathType or in fields, not read: 2",)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1))
def test_every_character_knows_where_it_stands(text):
    """In the part that it comes from, as itself or as what stands for it."""
    from symattn.escaping import html_text

    written = html_text(text)
    found = read(line(run(written), run("α &#48;")))
    (part,), seen = found.packed.parts, found.packed.text
    for k, character in enumerate(seen.string):
        start, end = seen.span(k)[0], seen.span(k, k + 1)[1]
        there = part.source[seen.starts[k] - part.base : end - part.base]
        assert there in ("", character) or there.startswith("&") or character == " ", start


def test_strict_documents():
    """The strict form of the standard has other namespaces."""
    with ZipFile(BytesIO(made(line(run("a"))))) as file:
        contents = {name: file.read(name) for name in file.namelist()}
    from tests.documents.word_files import M, W, packed

    strict = "http://purl.oclc.org/ooxml/"
    document = contents["word/document.xml"].decode()
    document = document.replace(W, f"{strict}wordprocessingml/main")
    document = document.replace(M, f"{strict}officeDocument/math")
    found = article(Path("x.docx"), packed(contents | {"word/document.xml": document}))
    assert found.source == "a\n"


# What Pandoc makes of other articles


#: Articles with marks of their own that Pandoc doesn't know, or leaves out.
LEFT_OUT = words(
    "interpreter-at-the-table.md lecture-seven.md tiny-attention.md translator-myst.md"
    " midterm-solutions.tex one-token-at-a-time.tex softmax-backwards.tex two-heads-appendix.tex"
)
#: How Pandoc is told to read them.
FORMS = {".md": "markdown-yaml_metadata_block", ".qmd": "markdown", ".tex": "latex"}
ARTICLES = sorted(name for name in PATHS if Path(name).suffix in FORMS and name not in LEFT_OUT)


@pytest.mark.needs("pandoc")
@pytest.mark.sampled(0, 8)
@pytest.mark.parametrize("name", ARTICLES)
def test_articles_by_pandoc(name, tmp_path):
    """An article as a Word document is read as it is itself: nearly all of its figures are
    judged, and none is refuted that is right."""
    text = marks.load(PATHS[name]).text
    form = FORMS[Path(name).suffix]
    more = "+tex_math_dollars+tex_math_single_backslash" if form.startswith("markdown") else ""
    path = tmp_path / f"{name}.docx"
    subprocess.run(
        [str(program("pandoc")), "-f", form + more, "-o", str(path)],
        input=text.encode(), check=True, timeout=60, capture_output=True,
    )  # fmt: skip
    before, after = judged(name, text.encode()), judged(path.name, path.read_bytes())
    wrong, expected = (
        {one.text for one in found.figures if one.verdict is Verdict.REFUTED}
        for found in (after, before)
    )
    assert wrong <= expected | {one.printed for one in marks.load(PATHS[name]).slips}
    assert after.summary["figures"] >= 0.95 * before.summary["figures"] > 0


# Sheets that symattn writes


def judged(name, data):
    return audit(solve(case_of(binder.read(article(Path(name), data)))))


@pytest.mark.sampled(2, 24)
@pytest.mark.parametrize("name", library.names())
def test_sheets_are_read_back(name):
    """A sheet as an article: its figures hold, and as a Word document about as many are judged
    as of the same sheet in Markdown; on a page of HTML, whose matrices are tables, fewer."""
    sheet = case_sheet.sheet(solve(library.load(name)))
    written = {
        "docx": docx.document(sheet),
        "md": markdown.document(sheet).encode(),
        "html": html.document(sheet).encode(),
    }
    found = {form: judged(f"x.{form}", data) for form, data in written.items()}
    assert not [
        (form, str(figure.printed_at), figure.label, figure.text, figure.correct)
        for form, one in found.items()
        for figure in one.figures
        if figure.verdict is Verdict.REFUTED
    ]
    counts = {form: one.summary["figures"] for form, one in found.items()}
    assert counts["docx"] >= 0.7 * counts["md"] > 0
    assert counts["html"] > 0
