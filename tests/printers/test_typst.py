"""PDFs without TeX: whole, inside the page, and with all that the blocks say."""

from __future__ import annotations

import json
import re
import subprocess
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import typst
from hypothesis import given
from hypothesis import strategies as st

from symattn.auditing.audit import audit
from symattn.errors import EngineFailure
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.printers import blocks as b
from symattn.printers import engine
from symattn.printers.typst import document
from symattn.sheets import case_sheet, redpen
from symattn.solution.solution import solve

from .. import notation
from ..hostile import CASE, steering
from ..sheets.mathematics import read
from ..strategies import some
from .test_html import PAGES, blocks, formulas, known_formulas, strings
from .test_html import larger as larger_formulas

KINDS = sorted({kind for kind, _ in PAGES})
MM = 72 / 25.4
XHTML = "{http://www.w3.org/1999/xhtml}"


@cache
def printed(kind: str) -> dict[str, bytes]:
    """The pages of a kind by name as PDFs, made without a complaint."""
    names = [name for this, name in PAGES if this == kind]
    made = engine.typeset_all([document(blocks(kind, name)) for name in names])
    found = {}
    for index, one in made:
        assert isinstance(one, engine.TypesetDocument)
        assert one.complaints == ()
        found[names[index]] = one.pdf
    assert len(found) == len(names)
    return found


def text_of(pdf: bytes, *options: str) -> str:
    """What pdftotext reads in a PDF, in the order in which it was written."""
    command = ["pdftotext", *(options or ["-raw"]), "-", "-"]
    return subprocess.run(command, input=pdf, capture_output=True, check=True).stdout.decode()


def words(block: Any) -> Iterator[str]:
    """The text of blocks without their mathematics."""
    match block:
        case b.Math() | b.Matrix() | b.Equations():
            return
        case b.Link(text) | b.Target(text):
            yield text
        case b.HeatMap(title, _, _, rows, columns):
            yield from words((title, rows, columns))
        case b.Table(header, rows):
            yield from words((header, rows))
        case str():
            yield block
        case tuple():
            for one in block:
                yield from words(one)
        case _ if is_dataclass(block):
            for field in fields(block):
                yield from words(getattr(block, field.name))


def letters(text: str) -> str:
    """Nothing but letters, as a reader takes them."""
    return "".join(c for c in text if c.isalpha())


@pytest.mark.needs("pdftotext")
@pytest.mark.heavy
@pytest.mark.parametrize("kind", KINDS)
def test_every_word_and_figure_is_there(kind: str) -> None:
    """All words of the blocks are on the pages, and every digit and decimal as often."""
    for name, pdf in printed(kind).items():
        # Paper leaves drawings out.
        found = tuple(x for x in blocks(kind, name).blocks if not isinstance(x, b.Picture))
        text = text_of(pdf)
        said = [letters(piece) for piece in words(found) if len(letters(piece)) != 1]
        assert [piece for piece in said if piece not in letters(text)] == []
        wanted = " ".join(strings(tuple(formulas(found))))
        for sign in (r"\d", r"\d+\.\d+"):
            assert not Counter(re.findall(sign, wanted)) - Counter(re.findall(sign, text))


@pytest.mark.needs("pdftotext")
@pytest.mark.sampled(0, 1)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_leaves_the_page(kind: str) -> None:
    """Every word stands between the margins; no page ends with a heading, or in emptiness."""
    for pdf in printed(kind).values():
        found = list(placed(pdf))
        for words, (left, right, top, bottom) in found:
            assert min(left) > 21.5 * MM
            assert max(right) < 189.5 * MM
            assert max(bottom) < 290 * MM
            # Below it is only the number of the page; the letters of headings are larger, but
            # so are the boxes of single ones in mathematics.
            large = bottom[-2] - top[-2] > 1.1 * (bottom[-1] - top[-1])
            assert not (words[-2].isalpha() and len(words[-2]) > 1 and large)
        # What belongs together moves on only where a third of the page is full.
        assert all(max(bottom[:-1]) > 90 * MM for _, (_, _, _, bottom) in found[:-1])


def placed(pdf: bytes) -> Iterator[tuple[list[str], list[list[float]]]]:
    """The words of each page, and their left, right, upper and lower ends."""
    for page in ElementTree.fromstring(text_of(pdf, "-bbox")).iter(f"{XHTML}page"):
        found = list(page.iter(f"{XHTML}word"))
        sides = ("xMin", "xMax", "yMin", "yMax")
        yield (
            [word.text or "" for word in found],
            [[float(word.attrib[side]) for word in found] for side in sides],
        )


@pytest.mark.needs("pdftotext")
def test_wide_mathematics_is_made_small() -> None:
    """What nothing breaks gets as small as it must to stay on the page: in a line, in an
    equation, in a matrix of one column, in a cell."""
    wide = rf"\frac{{{'x y ' * 60}}}{{2}}"
    line = (notation.math(wide),)
    sheet = b.Sheet("x", "", (), (
        b.Paragraph(line), notation.equations((("a", "=", wide),)),
        b.Matrices((notation.matrix("A =", ((wide,), (wide,)), ("one", "two")),)),
        b.Table((("a",), ("b",)), ((line, ("1",)),), "P{60mm}r"),
    ))  # fmt: skip
    made = engine.typeset(document(sheet))
    ((words, (left, right, _, _)),) = placed(made.pdf)
    assert "".join(words).count("𝑥") == 5 * 60
    assert min(left) > 21.5 * MM
    assert max(right) < 189.5 * MM


# -- mathematics ------------------------------------------------------------------

SIGNS = {"−": "-", "⋅": r"\cdot", "⊙": r"\odot", "∘": r"\circ", "≈": r"\approx", "∑": r"\sum",
    "∞": r"\infty", "⊤": r"\top", "∂": r"\partial", "×": r"\times", "→": r"\to", "≤": r"\le",
    "≠": r"\ne", "π": r"\pi", "δ": r"\delta", "λ": r"\lambda"}  # fmt: skip


def latex(content: dict[str, Any]) -> str:
    """What Typst read, back in LaTeX, for the reader of LaTeX that the tests have."""
    match content["func"]:
        case "equation" | "class":
            return latex(content["body"])
        case "sequence":
            return " ".join(map(latex, content["children"]))
        case "frac":
            return rf"\frac{{{latex(content['num'])}}}{{{latex(content['denom'])}}}"
        case "root":
            return rf"\sqrt{{{latex(content['radicand'])}}}"
        case "attach":
            below, above = (
                f"{sign}{{{latex(content[key])}}}" if key in content else ""
                for sign, key in (("_", "b"), ("^", "t"))
            )
            base = latex(content["base"])
            whole = content["base"]["func"] != "sequence"
            return f"{base if whole else f'{{{base}}}'}{below}{above}"
        case "lr":
            inner = latex(content["body"])
            assert (inner[0], inner[-1]) == ("(", ")")
            return rf"\left{inner[:-1]}\right)"
        case "h" | "space":
            return " "
        case "styled":
            return rf"\mathit{{{content['child']['text']}}}"
        case "text" if content["text"].isalpha() or "_" in content["text"]:
            name = content["text"].replace("_", r"\_")
            return rf"\{name}" if name in ("exp", "log") else rf"\mathrm{{{name}}}"
    return SIGNS.get(content["text"], str(content["text"]))


def equations(found: list[t.Row]) -> list[dict[str, Any]]:
    """Formulas as Typst reads them, each in a paragraph of its own."""
    sheet = b.Sheet("x", "", (), tuple(b.Paragraph((b.Math(one),)) for one in found))
    return list(json.loads(typst.query(document(sheet).encode(), "math.equation")))


@pytest.mark.heavy
def test_mathematics_is_the_same() -> None:
    """Formulas have the same structure as in LaTeX, wherever the tests' reader knows them."""
    known = known_formulas()
    assert len(known) > 1000
    made = equations(list(known))
    different = [
        formula
        for (formula, tree), one in zip(known.items(), made, strict=True)
        if read(latex(one)) != tree
    ]
    assert different == []


signs = st.sampled_from([f.E, syntax.Name("x"), syntax.Name("W_Q"), syntax.Name("pi")])
numbers = st.integers(0, 99).map(lambda n: syntax.Literal(str(n)))


@pytest.mark.heavy
@some
@given(st.lists(st.recursive(signs | numbers, larger_formulas, max_leaves=12), min_size=1))
def test_any_formula(found: list[syntax.Tree]) -> None:
    """Whatever a formula is made of, Typst groups it as LaTeX does."""
    written = equations(list(map(f.typeset, found)))
    assert [read(latex(one)) for one in written] == [read(f.latex(x)) for x in found]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "formula",
    [r"\operatorname*{ReLU}_{j} x", r"\lim_{h \to 0} f", r"\mathcal{Z}", r"x | y ! z : w / 2",
     r"\Bigl( a", r"b \Bigr)", r"\left| x \right|", r"\left[ x \right)", "{}_{0}", "^{2}",
     "x;y, z.",
     r"\text{a \{ \} b;}; c", r"\mathit{a;b}_{0}", r"\mathbf{x}\cause{1}", "", r"a\;\correct{}",
     r"\begin{array}{ll} \mathit{x}, & \text{a;} \\ , & b \end{array}", "'", '"', "@", "&lt;"[1:]],
)  # fmt: skip
def test_every_word_of_formulas_is_printed(formula: str) -> None:
    """What Typst would take for its own is printed, in a line, a matrix and an equation."""
    sheet = b.Sheet("x", "", (), (
        b.Paragraph((notation.math(formula),)),
        b.Matrices((notation.matrix("x =", ((formula, formula),)),)),
        notation.equations((("x", "=", formula), ("", "", formula))),
    ))  # fmt: skip
    assert engine.typeset(document(sheet)).complaints == ()


# -- text ---------------------------------------------------------------------------


@some
@given(st.text(max_size=60))
def test_text_is_text(text: str) -> None:
    """Typst reads a string as the text it was made of, but for what nobody sees."""
    sheet = b.Sheet("x", "", (), (b.Heading((text,)), b.Heading((b.Code(text),))))
    (plain, code) = json.loads(typst.query(document(sheet).encode(), "heading"))
    assert "".join(texts(plain["body"])) == "".join(texts(code["body"]))
    seen = "".join(" " if c.isspace() else c for c in text if c.isspace() or c.isprintable())
    found = "".join(texts(plain["body"]))
    assert steering(found) == set()
    assert letters(found) == letters(seen)


def texts(content: dict[str, Any]) -> Iterator[str]:
    for child in content.get("children", [content]):
        yield child.get("text", "")


@pytest.mark.needs("pdftotext")
def test_hostile_text_stays_text(tmp_path: Path) -> None:
    """Texts of a file are shown as they are: none is a command."""
    path = tmp_path / "hostile.toml"
    path.write_text(CASE.replace("<script>", '#read(\\"/etc/passwd\\") $x$ <script>'), "utf-8")
    solution = solve(path)
    for sheet in (case_sheet.sheet(solution), redpen.sheet(audit(solution))):
        made = engine.typeset(document(sheet))
        assert made.complaints == ()
        text = "".join(text_of(made.pdf).split())
        assert '#read("/etc/passwd")$x$<script>alert(1)</script>**b**_i_' in text
        assert "b\\input{x}$x^2$" in text.replace("&lt;100%a,b:c", "b")
        assert steering(text) == set()


@pytest.mark.needs("pdftotext")
def test_long_words_break_and_are_copied_whole() -> None:
    """A path that is wider than the page goes over several lines, without a sign in between."""
    path = "symattn/derivations/" + "a-very-long-name/" * 12
    sheet = b.Sheet("x", "", (), (b.Paragraph((b.Code(path),)), b.Paragraph((path,))))
    text = text_of(engine.typeset(document(sheet)).pdf)
    assert max(map(len, text.splitlines())) < len(path)
    assert "".join(text.split()) == f"{path}{path}1"


# -- the engine -----------------------------------------------------------------------


def test_the_same_bytes() -> None:
    """A document gives the same bytes each time, of the same date."""
    text = document(blocks("audit", "the-cat-sleeps"))
    assert engine.typeset(text).pdf == engine.typeset(text).pdf


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('#read("/etc/passwd")', "typst failed: file not found"),
        ('#read("../../etc/passwd")', "typst failed: path .* would escape the project root"),
        ("#f(", "typst failed: unclosed delimiter$"),
        (
            "#range(9999).map(x => range(x * 99)).len()",
            r"typst did not finish within 0\.2 seconds$",
        ),
    ],
)
def test_it_is_shut_in(body: str, message: str) -> None:
    """It reads no file, ends in time, and what it says is the reason of the failure."""
    with pytest.raises(EngineFailure, match=message):
        engine.typeset(f"{engine.TYPST_DOCUMENT}\n{body}", limit=0.2 if "within" in message else 60)


@pytest.mark.needs("pdftotext")
def test_missing_letters_are_told() -> None:
    """Letters that no font has are a complaint; the rest is printed all the same."""
    sheet = b.Sheet("x", "Тест", (), (b.Paragraph(("before \U00010570 after",)),))
    made = engine.typeset(document(sheet))
    assert made.complaints == ("no font has the letters \U00010570",)
    assert "before" in text_of(made.pdf)


def test_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it isn't installed, that is said, and how it is had."""
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    text = document(b.Sheet("x", "", (), ()))
    assert engine.wanted_engine(text) == "typst"
    assert engine.find_engine(text) is None
    with pytest.raises(EngineFailure, match=r"no typst was found; .* pip install symattn\[pdf\]$"):
        engine.typeset(text)


def chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG file."""
    crc = zlib.crc32(kind + data).to_bytes(4, "big")
    return len(data).to_bytes(4, "big") + kind + data + crc


def test_a_logo() -> None:
    """A logo stands on the page; the engine is handed its file, and without it fails."""
    header = chunk(b"IHDR", bytes([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]))
    image = chunk(b"IDAT", zlib.compress(b"\x00\x7f"))
    logo = b.Logo(b"\x89PNG\r\n\x1a\n" + header + image + chunk(b"IEND", b""), "png")
    text = document(b.Sheet("x", "title", (), (), logo=logo))
    ((_, made),) = engine.typeset_all([text], files={logo.file: logo.data})
    assert isinstance(made, engine.TypesetDocument)
    assert made.complaints == ()
    assert b"/Subtype/Image" in made.pdf.replace(b" ", b"")
    with pytest.raises(EngineFailure, match="file not found"):
        engine.typeset(text)
