"""Blocks as HTML for learning platforms: elements that close, and formulas as they are."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.cases import library
from symattn.expressions import typesetting as t
from symattn.printers import blocks as b
from symattn.printers import web
from symattn.printers.web import paragraph, printed, words
from symattn.sheets.case_sheet import sheet

from ..hostile import TEXT, steering
from ..notation import equations, heat_map, math, matrix, read
from ..strategies import many


def lines_of(blocks):
    """All lines of text in blocks."""
    for block in blocks:
        match block:
            case b.Heading(text) | b.Paragraph(text):
                yield text
            case b.Table(header, rows):
                yield from header
                for row in rows:
                    yield from row


@pytest.mark.sampled(1, 6)
@pytest.mark.parametrize("name", library.names())
def test_sheets(name):
    """Every element is closed, and the formulas of all lines stand between the marks."""
    blocks = sheet(name, audience="author").blocks
    root = ET.fromstring(f"<div>{printed(blocks)}</div>")
    formulas = {
        found
        for element in root.iter()
        for text in (element.text or "", element.tail or "")
        for found in re.findall(r"\\\((.*?)\\\)", text)
    }
    wanted = {
        t.latex(x.formula) for line in lines_of(blocks) for x in line if isinstance(x, b.Math)
    }
    assert wanted
    assert wanted <= formulas


@pytest.mark.sampled(1, 6)
@pytest.mark.parametrize("name", library.names())
def test_mathml(name):
    """Where formulas are MathML, every element is closed, nothing has style, and no formula is
    LaTeX; the words are the same."""
    blocks = sheet(name, audience="author").blocks
    plain, shown = (
        ET.fromstring(f"<div>{web.Platform(mathml=x).printed(blocks)}</div>") for x in (False, True)
    )
    assert not any("style" in element.attrib for element in shown.iter())
    assert not re.search(r"\\[(\[a-z]", "".join(shown.itertext()))
    assert len(shown.findall(".//{http://www.w3.org/1998/Math/MathML}math")) > 10
    for tag in ("th", "td", "p", "h4", "h5", "code"):
        assert len(plain.findall(f".//{tag}")) == len(shown.findall(f".//{tag}"))


@many
@given(st.text())
def test_words_are_words(text):
    """Nothing in a text is mark-up, nor the start of a formula, a blank or a block."""
    shown = words(text)
    ET.fromstring(f"<p>{shown}</p>")
    assert not re.search(r"\\[(\[]|\$\$|[{}\[]", shown)


def test_blocks():
    """Each kind of block by what it is on a platform."""
    line = ("a ", math("x"), b.Code(" c "), b.Strong("s"), b.Link("l", "p"), b.Target("t", "p"))
    heat = heat_map(("A",), ((0.5,),), (("0.5",),), ("r",), ("c",))
    blocks: list[b.Block] = [
        b.Heading(line),
        equations((("a", "=", "b"), ("", "=", "c")), columns=2),
        b.Matrices((matrix("A =", (("1", "2"), ("3", "4"))), matrix("d = 4", ()))),
        b.Table((("k",), ("v",)), ((("title",),), (("1",), line)), "l@{}r"),
        b.HeatMaps((heat,)),
        b.Listing(("symattn list",)),
        b.RedPen("3.1", matrix("A =", (("1",),)), (("wrong",),)),
    ]
    shown = printed(blocks)
    ET.fromstring(f"<div>{shown}</div>")
    assert r"<h4>a \(x\)<code> c </code><strong>s</strong>lt</h4>" in shown
    assert r"\[\begin{aligned} a &amp;= b &amp;  &amp;= c \end{aligned}\]" in shown
    assert r"\[A = \begin{bmatrix} 1 &amp; 2 \\ 3 &amp; 4 \end{bmatrix} \qquad d = 4\]" in shown
    assert '<th scope="rowgroup" colspan="2">title</th>' in shown
    assert "rgba(43, 108, 176, 0.50)" in shown
    assert "<pre>symattn list</pre>" in shown
    assert "<p>3.1</p>" in shown
    assert web.math(read("a < b")) == r"\(a &lt; b\)"


def test_hostile_text():
    """It stays text in every kind of piece."""
    pieces = (TEXT, b.Code(TEXT), b.Strong(TEXT), b.Link(TEXT, "x"), b.Target(TEXT, "x"))
    shown = paragraph(pieces)
    assert not steering(shown)
    assert not re.search(r"[{}\[]|\$x", shown)
    tags = {element.tag for element in ET.fromstring(shown).iter()}
    assert tags == {"p", "code", "strong", "span"}
