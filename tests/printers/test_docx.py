"""Word documents: whole, by the schema, and with all that the blocks say."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from zipfile import ZipFile

import docx as word
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.auditing.audit import audit
from symattn.cases.library import load
from symattn.escaping import visible
from symattn.exercises import questions
from symattn.exercises.exercise import exercise
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.languages.language import language
from symattn.printers import blocks as b
from symattn.printers.docx import bound, document
from symattn.sheets import case_sheet, redpen
from symattn.solution.solution import solve

from .. import notation
from ..hostile import CASE, steering
from ..sheets.mathematics import Unreadable, read
from ..strategies import some
from .test_html import NUMBER, PAGES, blocks, known_formulas, strings
from .test_html import larger as larger_formulas
from .test_typst import SIGNS, chunk, letters, numbers, signs, words

pages = pytest.mark.parametrize(("kind", "name"), PAGES)
#: The same few always, as each page is made once.
some_pages = pytest.mark.sampled(16)
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
#: Stands for an operand that isn't seen.
NO_OPERAND = "\u200b"

#: What each element of mathematics holds, in that order (ECMA-376, part 1, 22.1.2).
_ARGUMENT = r"((r|f|rad|d|m|nary|func|limLow|limUpp|sSub|sSup|sSubSup|phant|borderBox) )*"
HOLDS = {
    "oMathPara": r"oMathParaPr (oMath )+", "oMathParaPr": "jc ", "oMath": _ARGUMENT,
    "r": r"(rPr )?(w:rPr )?t ", "rPr": r"((nor|sty) )?", "t": "",
    "f": r"(fPr )?num den ", "num": _ARGUMENT, "den": _ARGUMENT,
    "rad": r"radPr deg e ", "radPr": "degHide ", "deg": _ARGUMENT, "e": _ARGUMENT,
    "sSub": "e sub ", "sSup": "e sup ", "sSubSup": "e sub sup ", "sub": _ARGUMENT, "sup": _ARGUMENT,
    "d": r"dPr (e )+", "dPr": "begChr endChr ",
    "m": r"mPr (mr )+", "mPr": "mcs ", "mcs": r"(mc )+", "mc": "mcPr ", "mcPr": "count mcJc ",
    "mr": r"(e )+",
    "nary": "naryPr sub sup e ", "naryPr": r"chr limLoc (subHide )?(supHide )?",
    "func": "fName e ", "fName": _ARGUMENT, "limLow": "e lim ", "limUpp": "e lim ",
    "lim": _ARGUMENT, "phant": "phantPr e ", "phantPr": "show zeroWid ",
    "borderBox": "borderBoxPr e ", "borderBoxPr": "hideTop hideBot hideLeft hideRight strikeH ",
    **dict.fromkeys(
        ("jc", "nor", "sty", "degHide", "begChr", "endChr", "count", "mcJc", "chr", "limLoc",
         "subHide", "supHide", "show", "zeroWid", "hideTop", "hideBot", "hideLeft", "hideRight",
         "strikeH"), "",
    ),
}  # fmt: skip


def sheet_of(*found: b.Block) -> b.Sheet:
    return b.Sheet("x", "title", (), found)


def body(made: bytes) -> Element:
    """The main part of a document, parsed."""
    return ElementTree.fromstring(ZipFile(BytesIO(made)).read("word/document.xml"))


def told(element: Element) -> Iterator[str]:
    """The text of runs, without what isn't seen."""
    if element.tag == f"{M}phant":
        return
    if element.tag in (f"{W}t", f"{M}t") and element.text != NO_OPERAND:
        yield element.text or ""
    for child in element:
        yield from told(child)


def text_of(made: bytes) -> str:
    """The text of a document, paragraphs and runs apart."""
    return " ".join(told(body(made)))


def in_order(root: Element) -> None:
    """Every element of mathematics holds what the schema says."""
    for element in root.iter():
        if element.tag.startswith(M):
            held = "".join(f"{child.tag.removeprefix(M).replace(W, 'w:')} " for child in element)
            assert re.fullmatch(HOLDS[element.tag.removeprefix(M)], held), (element.tag, held)
    for rows in root.iter(f"{M}m"):
        assert len({len(row) for row in rows.iter(f"{M}mr") if row in rows}) == 1
    for cell in root.iter(f"{W}tc"):
        assert cell[-1].tag == f"{W}p"
    for one, other in zip(root[0], root[0][1:], strict=False):
        assert not one.tag == other.tag == f"{W}tbl"


@pytest.mark.sampled(1, 5)
@some_pages
@pages
def test_a_page_is_whole(kind: str, name: str) -> None:
    """It opens, its elements are in order, and every word and number of the blocks is there."""
    sheet = blocks(kind, name)
    made = document(sheet)
    root = body(made)
    in_order(root)
    shown = tuple(x for x in sheet.blocks if not isinstance(x, b.Picture))
    text = text_of(made)
    said = [letters(piece) for piece in words(shown) if len(letters(piece)) != 1]
    assert [piece for piece in said if piece not in letters(text)] == []
    wanted = Counter(NUMBER.findall(" ".join(strings(shown))))
    assert not wanted - Counter(NUMBER.findall(text))
    opened = word.Document(BytesIO(made))
    styles = Counter(paragraph.style.name for paragraph in opened.paragraphs if paragraph.style)
    heads = Counter(f"Heading {x.level}" for x in shown if isinstance(x, b.Heading))
    assert {name: styles[name] for name in heads} == heads
    assert styles["Title"] == styles["Subtitle"] == 1


# -- mathematics ------------------------------------------------------------------


def latex(element: Element) -> str:
    """A formula of Word, read back as LaTeX for the reader that the tests have."""
    part = {child.tag.removeprefix(M): child for child in element}
    match element.tag.removeprefix(M):
        case "r":
            return run(element)
        case "f":
            return rf"\frac{{{latex(part['num'])}}}{{{latex(part['den'])}}}"
        case "rad":
            return rf"\sqrt{{{latex(part['e'])}}}"
        case "sSub" | "sSup" | "sSubSup":
            base = latex(part["e"])
            below = f"_{{{latex(part['sub'])}}}" if "sub" in part else ""
            above = f"^{{{latex(part['sup'])}}}" if "sup" in part else ""
            return f"{base if len(part['e']) == 1 else f'{{{base}}}'}{below}{above}"
        case "d":
            fences = [fence.get(f"{M}val") for fence in part["dPr"]]
            assert fences == ["(", ")"]
            return rf"\left({latex(part['e'])}\right)"
        case "nary":
            below, above = (f"{{{latex(part[name])}}}" for name in ("sub", "sup"))
            assert part["naryPr"][0].get(f"{M}val") == "∑"
            return rf"\sum_{below}^{above} {latex(part['e'])}"
        case "func":
            return f"{latex(part['fName'])} {latex(part['e'])}"
        case "oMath" | "e" | "num" | "den" | "sub" | "sup" | "fName":
            return " ".join(map(latex, element))
    raise Unreadable(element.tag)


def run(element: Element) -> str:
    text = element.findtext(f"{M}t", "")
    if text == NO_OPERAND or not text.strip():
        return " "
    if element.find(f"{M}rPr/{M}nor") is None:
        return SIGNS.get(text, text)
    if not text[0].isalpha() and "_" not in text:
        return text
    name = text.replace("_", r"\_")
    if element.find(f"{W}rPr/{W}i") is not None:
        return rf"\mathit{{{name}}}"
    return rf"\{name}" if name in ("exp", "log") else rf"\mathrm{{{name}}}"


def equations(found: list[t.Row]) -> list[Element]:
    """Formulas as elements, each in a paragraph of its own."""
    made = document(sheet_of(*(b.Paragraph((b.Math(one),)) for one in found)))
    root = body(made)
    in_order(root)
    return list(root.iter(f"{M}oMath"))


@pytest.mark.heavy
def test_mathematics_is_the_same() -> None:
    """Formulas have the same structure as in LaTeX, wherever the tests' reader knows them."""
    known = known_formulas()
    assert len(known) > 1000
    made = equations(list(known))
    different = [
        t.latex(formula)
        for (formula, tree), one in zip(known.items(), made, strict=True)
        if read(latex(one)) != tree
    ]
    assert different == []


@some
@given(
    st.lists(st.recursive(signs | numbers, larger_formulas, max_leaves=12), min_size=1, max_size=8)
)
def test_any_formula(found: list[syntax.Tree]) -> None:
    """Whatever a formula is made of, Word groups it as LaTeX does."""
    written = equations(list(map(f.typeset, found)))
    assert [read(latex(one)) for one in written] == [read(f.latex(x)) for x in found]


@pytest.mark.parametrize(
    "formula",
    [r"\operatorname*{ReLU}_{j} x", r"\lim_{h \to 0} f", r"\mathcal{Z}", r"x | y ! z : w / 2",
     r"\Bigl( a", r"b \Bigr)", r"\left| x \right|", r"\left[ x \right)", "{}_{0}", "^{2}",
     "x;y, z.", r"\sum_{j}", r"\sum_{j} a + b", r"\exp -x", r"(a)_{j} + b)_{k}",
     r"\text{a \{ \} b;}; c", r"\mathit{a;b}_{0}", r"\mathbf{x}\cause{1}", r"a\;\correct{}",
     r"\struck{1}\correct{-2}", r"\begin{array}{ll} \mathit{x}, & \text{a;} \\ , & b \end{array}",
     r"\begin{aligned}[t]a &= b \\ &= c\end{aligned}", "'", '"', "@", "&lt;"[1:]],
)  # fmt: skip
def test_every_word_of_formulas_is_in_order(formula: str) -> None:
    """In a line, a matrix and an equation."""
    in_order(body(document(sheet_of(
        b.Paragraph((notation.math(formula),)),
        b.Matrices((notation.matrix("x =", ((formula, formula),), ("a",)),)),
        notation.equations((("x", "=", formula), ("", "", formula))),
    ))))  # fmt: skip


def test_a_sum_holds_what_it_sums() -> None:
    """Its operand reaches to the next sign that binds no tighter; that of a function is what
    follows its name; an index of a bracket is that of all of it."""
    (whole,) = equations([notation.read(r"2\sum_{j} a_{j} (b + c)_{j} + d = \exp x y")])
    (held,) = whole.iter(f"{M}nary")
    assert "".join(told(held)) == "ja" + "j" + "(b+c)" + "j"
    assert [child.tag for child in held[3]] == [f"{M}sSub"] * 2
    (applied,) = whole.iter(f"{M}func")
    assert "".join(told(applied)) == "expx"


def test_no_sign_lacks_an_operand() -> None:
    """An equation whose left side is in another cell begins with an operand that isn't seen:
    LibreOffice shows a sign without one as a fault."""
    root = body(document(sheet_of(
        notation.equations((("a", "=", "1"), ("", "=", "2"))),
        b.Matrices((notation.matrix("=", (("1",),)), notation.matrix("-", (("2",),)))),
    )))  # fmt: skip
    begun = [next(iter(one.iter(f"{M}t"))).text for one in root.iter(f"{M}oMath")]
    assert begun == ["a", NO_OPERAND, NO_OPERAND, NO_OPERAND]


def test_a_red_pen() -> None:
    """Wrong figures are struck, right ones beside them bold and red, notes red in the margin."""
    matrix = notation.matrix("A =", ((r"\struck{1}\correct{2}", "3"),))
    root = body(document(sheet_of(b.RedPen("section 3", matrix, (("because",),)))))
    assert "".join(told(root)) == "titlesection 3A=123because"
    assert ["".join(told(one)) for one in root.iter(f"{M}borderBox")] == ["1"]
    bold = [one for one in root.iter(f"{M}r") if one.find(f"{M}rPr/{M}sty") is not None]
    assert [("".join(told(one)), one.find(f"{W}rPr/{W}color") is None) for one in bold] == [
        ("2", False)
    ]
    looks = f"{W}pPr/{W}pStyle[@{W}val='RedPen']"
    (note,) = (x for x in root.iter(f"{W}p") if x.find(looks) is not None)
    assert "".join(told(note)) == "because"


# -- blanks, text, the file ---------------------------------------------------------


def test_blanks_are_controls_to_type_into() -> None:
    """One for each figure that is asked for, for the name and for the points."""
    asked = exercise(load("cat-sat-mat"), "backward")
    root = body(document(questions.question(asked)))
    figures = sum(
        grid[0] * grid[1]
        for grid in (asked.case.program.named[part.quantity].grid for part in asked.parts)
    )
    controls = list(root.iter(f"{W}sdt"))
    assert len(controls) == figures + 2
    for control in controls:
        assert set("".join(told(control))) == {"_"}
        assert control.find(f"{W}sdtPr/{W}showingPlcHdr") is not None


def test_blanks_in_a_line() -> None:
    """Text around a blank and mathematics before it stay what they are."""
    root = body(document(sheet_of(
        b.Paragraph(("Name: ____ of 3",)),
        b.Matrices((b.Matrix(notation.read("L =") + questions.BLANK, ()),)),
    )))  # fmt: skip
    assert "".join(told(root)) == "titleName: ____ of 3L=______"
    assert ["".join(told(one)) for one in root.iter(f"{W}sdt")] == ["____", "______"]
    assert [one.text for one in root.iter(f"{M}t")] == ["L", "=", NO_OPERAND]


@some
@given(st.text(st.characters(), max_size=60))
def test_text_is_text(text: str) -> None:
    """Any text is in the file as a reader sees it, in a heading, a title, a table, a name of
    mathematics and as code; nothing in it is mark-up, or steers."""
    made = document(b.Sheet("x", text, (text,), (
        b.Heading((text, b.Code(text), b.Strong(text))),
        b.Table(((text,),), (((text,),),), "P{40mm}"),
        b.Paragraph((b.Math(t.row(t.Text(text), t.SlantedName(text))),)),
        b.Matrices((b.Matrix(t.Row(), ((t.number("1"),),), (text,)),)),
        b.HeatMaps((b.HeatMap((text,), ((0.5,),), ((t.number("1"),),), (text,), (text,)),)),
        b.Listing((text,)),
    )))  # fmt: skip
    word.Document(BytesIO(made))
    root = body(made)
    in_order(root)
    found = "".join(told(root))
    assert steering(found) == set()
    seen = letters(visible("".join(" " if c.isspace() else c for c in text)))
    assert letters(found).count(seen) >= 8 or not seen


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    """Texts of a file are shown as they are, and the file can be read."""
    path = tmp_path / "hostile.toml"
    path.write_text(CASE, "utf-8")
    solution = solve(path)
    for sheet in (case_sheet.sheet(solution), redpen.sheet(audit(solution))):
        made = document(sheet)
        word.Document(BytesIO(made))
        in_order(body(made))
        text = "".join(told(body(made)))
        assert "<script>alert(1)</script> **b** _i_ `c`" in text
        assert steering(text) == set()


def test_language_and_paper() -> None:
    """Spelling is checked in the language of the words, and pages are as large as the paper."""
    for say, paper, tag, across in (("de", "a4", "de-DE", 210.0), ("en", "letter", "en-US", 215.9)):
        made = word.Document(BytesIO(document(b.Sheet("x", "A", (), (), language(say), paper))))
        assert made.styles.element.find(f".//{W}lang").get(f"{W}val") == tag
        assert made.core_properties.language == tag
        (section,) = made.sections
        assert section.page_width is not None
        assert abs(section.page_width.mm - across) < 0.1


def test_the_same_bytes() -> None:
    """A sheet gives the same bytes each time: no date, no number of its own."""
    sheet = blocks("audit", "the-cat-sleeps")
    assert document(sheet) == document(sheet)
    dates = {info.date_time[0] for info in ZipFile(BytesIO(document(sheet))).infolist()}
    assert dates == {1980}


def test_documents_are_bound() -> None:
    """Each begins a section on a right-hand page, whose pages are counted from 1."""
    made = [
        document(b.Sheet("x", name, (), (b.Paragraph((name,)),), logo=png(3, 2))) for name in "ABC"
    ]
    whole = word.Document(BytesIO(bound(made)))
    assert [x.start_type.name for x in whole.sections] == ["ODD_PAGE"] * 3
    assert [x.text for x in whole.paragraphs if x.text] == list("AABBCC")
    assert len({shape._inline.docPr.id for shape in whole.inline_shapes}) == 3
    counted = body(bound(made)).iter(f"{W}pgNumType")
    assert [x.get(f"{W}start") for x in counted] == ["1"] * 3
    in_order(body(bound(made)))


def png(across: int, high: int) -> b.Logo:
    size = across.to_bytes(4, "big") + high.to_bytes(4, "big")
    header = chunk(b"IHDR", size + bytes([8, 0, 0, 0, 0]))
    return b.Logo(b"\x89PNG\r\n\x1a\n" + header + chunk(b"IEND", b""), "png")


def test_a_logo_keeps_its_shape() -> None:
    """It is as large as there is room for."""
    for across, high, wanted in ((300, 200, (21, 14)), (600, 60, (60, 6)), (0, 0, (14, 14))):
        made = document(b.Sheet("x", "A", (), (), logo=png(across, high)))
        (shape,) = word.Document(BytesIO(made)).inline_shapes
        assert (round(shape.width.mm), round(shape.height.mm)) == wanted


def test_tables() -> None:
    """A head is repeated, titles reach across, and empty cells with room for a hand are high."""
    held = b.Math(t.row(t.Strut("fraction")))
    rows = ((("title",),), (("a",), (held,)))
    made = word.Document(BytesIO(document(sheet_of(b.Table((("x",), ("y",)), rows, "lr")))))
    (table,) = made.tables
    assert [[cell.text for cell in row.cells] for row in table.rows] == [
        ["x", "y"], ["title", "title"], ["a", ""],
    ]  # fmt: skip
    assert table.rows[0]._tr.find(f"{W}trPr/{W}tblHeader") is not None
    assert table.rows[2].height is not None
    assert table.rows[1].height is None


@pytest.mark.campaign
@pytest.mark.needs("soffice", "pdftotext")
def test_libreoffice_reads_it(tmp_path: Path) -> None:
    """It makes pages of a solution that lack no digit, and on which no operand is missed."""
    asked = exercise(load("cat-sat-mat"), "backward")
    made = document(questions.solution(asked))
    (tmp_path / "made.docx").write_bytes(made)
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = ["soffice", profile, "--headless", "--convert-to", "pdf", "--outdir", str(tmp_path)]
    subprocess.run([*command, str(tmp_path / "made.docx")], check=True, timeout=300,
                   capture_output=True)  # fmt: skip
    done = subprocess.run(["pdftotext", str(tmp_path / "made.pdf"), "-"], check=True, timeout=60,
                          capture_output=True)  # fmt: skip
    text = done.stdout.decode()
    assert "¿" not in text
    assert not Counter(re.findall(r"\d", text_of(made))) - Counter(re.findall(r"\d", text))
