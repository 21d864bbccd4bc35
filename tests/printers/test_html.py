"""Pages for the browser: well formed, without LaTeX, and with all that the blocks say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.auditing.audit import audit
from symattn.calculus.library import THEORY
from symattn.cases import library
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.printers import blocks as b
from symattn.printers.html import document
from symattn.printers.web import mathml
from symattn.sheets import case_sheet, derivation, redpen
from symattn.solution.solution import solve

from ..hostile import CASE, steering
from ..scripts import unscripted
from ..sheets import walkthroughs
from ..sheets.mathematics import Unreadable, read
from ..strategies import many

PAGES = [
    *(("sheet", name) for name in library.names()),
    *(("audit", name) for name in library.names()),
    *(("derivation", name) for name in THEORY),
    *(("file", name) for name in ("PARTS", "SYMBOLS", "HEADS", "SCALARS")),
]
pages = pytest.mark.parametrize(("kind", "name"), PAGES)
#: The same few always, as each page is made once.
some_pages = pytest.mark.sampled(16)
VOID = {"meta", "br", "hr", "img", "link", "input"}
NUMBER = re.compile(r"\d+(?:\.\d+)?")


@cache
def blocks(kind: str, name: str) -> b.Sheet:
    """The blocks of a page."""
    match kind:
        case "sheet":
            return case_sheet.sheet(solve(name), audience="author")
        case "audit":
            return redpen.sheet(audit(name))
        case "derivation":
            return derivation.sheet(THEORY[name])
    with TemporaryDirectory() as folder:
        path = Path(folder, "case.toml")
        path.write_text(getattr(walkthroughs, name), "utf-8")
        return case_sheet.sheet(solve(path), audience="author")


class Reader(HTMLParser):
    """A page read strictly: every element is closed, in the order of opening."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.names: list[str] = []
        self.values: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.values += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)


def inside(page: str, tag: str) -> str:
    """What an element that is there once holds."""
    (found,) = re.findall(rf"<{tag}>(.*)</{tag}>", page, re.DOTALL)
    return str(found)


def strings(block: Any) -> Iterator[str]:
    """All that blocks say, as text or LaTeX."""
    if isinstance(block, str):
        yield block
    elif isinstance(block, t.Row):
        yield t.latex(block)
    elif isinstance(block, tuple):
        for one in block:
            yield from strings(one)
    elif isinstance(block, b.Picture):
        yield from Reader(block.svg).texts
    elif is_dataclass(block):
        for field in fields(block):
            if field.name not in ("align", "hints", "to", "name"):
                yield from strings(getattr(block, field.name))


def hinted(block: Any) -> Iterator[b.Hint]:
    """The hints of blocks, in their order."""
    if isinstance(block, tuple):
        for one in block:
            yield from hinted(one)
    elif isinstance(block, b.Matrix | b.HeatMap):
        yield from (hint for row in block.hints for hint in row)
    elif isinstance(block, b.Matrices | b.HeatMaps | b.Beside):
        yield from hinted(block.items)
    elif isinstance(block, b.RedPen):
        yield from hinted(block.matrix)


def formulas(block: Any) -> Iterator[t.Row]:
    """The formulas in blocks."""
    match block:
        case t.Row():
            yield block
        case b.Matrix(before, cells):
            yield from formulas((before, cells))
        case b.HeatMap(title, _, figures):
            yield from formulas((title, figures))
        case tuple():
            for one in block:
                yield from formulas(one)
        case _ if is_dataclass(block):
            for field in fields(block):
                yield from formulas(getattr(block, field.name))


def known_formulas() -> dict[t.Row, Any]:
    """The formulas of sheets that the tests' reader of LaTeX knows, with what it reads. Lines
    of longer ones, whose brackets close on others, are none."""
    known = {}
    for kind, name in PAGES:
        whole = () if kind not in ("sheet", "file") else formulas(blocks(kind, name).blocks)
        for formula in whole:
            if not t.has(formula, t.Big):
                with suppress(Unreadable):
                    known[formula] = read(t.latex(formula))
    return known


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", library.names())
def test_a_page_is_small(name: str) -> None:
    """What a reader gets unless more is asked for is below 415 kB, fonts, drawing and the script
    that copies included."""
    assert len(document(case_sheet.sheet(solve(name))).encode()) < 415_000


@pytest.mark.sampled(1, 11)
@some_pages
@pages
def test_a_page_is_whole(kind: str, name: str) -> None:
    """Elements are balanced, names of headings unique, links lead to them, nothing is loaded;
    the page is not large."""
    page = document(blocks(kind, name))
    assert len(page.encode()) < 430_000
    reader = Reader(unscripted(page))
    ids = [value for attribute, value in reader.values if attribute == "id"]
    assert len(ids) == len(set(ids)) >= reader.tags["h2"] + reader.tags["h3"]
    leading = [
        value.removeprefix("#")
        for attribute, value in reader.values
        if attribute in ("href", "aria-describedby")
    ]
    assert set(leading) <= set(ids)
    assert not {"script", "link", "img", "iframe", "object"} & reader.tags.keys()
    assert not {"src", "onclick", "onload"} & {attribute for attribute, _ in reader.values}
    assert steering("".join(reader.texts)) == set()


@pytest.mark.sampled(5, 46)
@some_pages
@pages
def test_no_latex_is_left(kind: str, name: str) -> None:
    """No command, no brace of a group and no dollar stands in the text of a page."""
    text = "".join(Reader(unscripted(document(blocks(kind, name)))).texts)
    assert not re.search(r"\\|\$|[_^]\{", text)


@pytest.mark.sampled(5, 50)
@some_pages
@pages
def test_every_number_is_there(kind: str, name: str) -> None:
    """The numbers of a page are those of its blocks, each as often; those of hints once."""
    sheet = blocks(kind, name)
    text, hints = unscripted(document(sheet)).split("</main>")
    shown = " ".join(Reader(inside(f"{text}</main>", "main")).texts)
    said = " ".join(strings(sheet.blocks))
    assert Counter(NUMBER.findall(shown)) == Counter(NUMBER.findall(said))
    told = dict.fromkeys(hint for hint in hinted(sheet.blocks))
    numbers = [
        NUMBER.findall(" ".join(Reader(one).texts)) for one in hints.split("\n") if "id=" in one
    ]
    assert numbers == [NUMBER.findall(" ".join(strings(hint.lines))) for hint in told]


@pytest.mark.heavy
def test_a_long_page_has_contents() -> None:
    """Every heading is in the table of contents of a long page; a short one has none."""
    page = document(blocks("sheet", "length-4-causal"))
    reader = Reader(page)
    assert reader.tags["nav"] == 1
    assert reader.tags["a"] == reader.tags["h2"] + reader.tags["h3"]
    assert reader.tags["details"] == 1 + reader.tags["a"]
    assert Reader(document(blocks("derivation", "masking"))).tags["nav"] == 0


# -- mathematics ------------------------------------------------------------------

SIGNS = {"−": "-", "⋅": r"\cdot", "⊙": r"\odot", "∘": r"\circ", "≈": r"\approx", "∑": r"\sum",
    "∞": r"\infty", "⊤": r"\top", "∂": r"\partial", "×": r"\times", "→": r"\to", "≤": r"\le",
    "≥": r"\ge", "≠": r"\ne", "π": r"\pi", "δ": r"\delta", "λ": r"\lambda", "μ": r"\mu",
    "ε": r"\varepsilon",
    "θ": r"\theta", "γ": r"\gamma", "β": r"\beta", "ρ": r"\rho", "ϕ": r"\phi",
    "σ": r"\sigma", "τ": r"\tau", "Σ": r"\Sigma",
    "⌊": r"\lfloor", "⌋": r"\rfloor"}  # fmt: skip
FUNCTIONS = {"exp", "log"}
#: What has no letter of its own: air, groups, looks.
UNSEEN = re.compile(
    r"\\vphantom\{\\Bigg\|\}|\\begin\{\w+\}(?:\[t\]|\{ll\})?|\\end\{\w+\}|\\(?:left|right)\.|"
    r"\\(?:display|text)style|\\(?:left|right|[Bb]ig[lr]|frac|sqrt|(?:math|operator)[a-z]+|text|"
    r"struck|correct|cause)(?![a-z])\*?|\\[\\,;! {}]|\\q?quad|[\s{}^&]|(?<!\\)_"
)


def bare(group: str) -> str:
    """A group without its braces, where other braces follow."""
    whole = re.fullmatch(r"\{((?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*)\}", group)
    return whole[1] if whole else group


def latex(element: ElementTree.Element) -> str:
    """MathML back in LaTeX, for the reader of LaTeX that the tests have."""
    parts = [latex(child) for child in element]
    text = element.text or ""
    escaped = text.replace("_", r"\_")
    match element.tag:
        case "math" | "mstyle":
            return " ".join(parts)
        case "mrow":
            first, last = (child.get("form") for child in (element[0], element[-1]))
            if (first, last) == ("prefix", "postfix"):
                return rf"\left{parts[0]} {' '.join(parts[1:-1])} \right{parts[-1]}"
            return "{" + " ".join(parts) + "}"
        case "mfrac":
            return rf"\frac{{{bare(parts[0])}}}{{{bare(parts[1])}}}"
        case "msqrt":
            return rf"\sqrt{{{bare(' '.join(parts))}}}"
        case "msub" | "munder":
            return f"{parts[0]}_{{{bare(parts[1])}}}"
        case "msup":
            return f"{parts[0]}^{{{bare(parts[1])}}}"
        case "msubsup" | "munderover":
            return f"{parts[0]}_{{{bare(parts[1])}}}^{{{bare(parts[2])}}}"
        case "mspace":
            return " "
        case "mtext":
            return rf"\text{{{text}}}"
        case "mi" if element.get("class") == "word":
            return rf"\mathit{{{escaped}}}"
        case "mi" if text in FUNCTIONS:
            return rf"\{text}"
        case "mi" if element.get("mathvariant") or len(text) > 1:
            return rf"\mathrm{{{escaped}}}"
    return SIGNS.get(text, text)


def same(formula: t.Row) -> bool:
    """Whether a formula, if the tests' reader knows it, is the same in MathML."""
    try:
        tree = read(t.latex(formula))
    except Unreadable:
        return False
    assert read(latex(ElementTree.fromstring(mathml(formula)))) == tree
    return True


@some_pages
@pages
def test_every_sign_is_there(kind: str, name: str) -> None:
    """Each formula has its letters, numbers and signs, in their order."""
    commands = {command: sign for sign, command in SIGNS.items()}
    for formula in set(formulas(blocks(kind, name).blocks)):
        seen = re.sub(r"\\(begin|end)\{bmatrix\}", lambda m: "[]"[m[1] == "end"], t.latex(formula))
        seen = UNSEEN.sub(" ", seen).replace("--", "–").replace(r"\%", "%")
        wanted = re.sub(r"\\[a-z]+|\\_|-", lambda m: commands.get(m[0], m[0].lstrip("\\")), seen)
        found = "".join(ElementTree.fromstring(mathml(formula)).itertext())
        assert re.sub(r"[\s{}]", "", found) == re.sub(r"\s", "", wanted), formula


@pytest.mark.sampled(6, 13)
@pytest.mark.parametrize(("kind", "name"), [p for p in PAGES if p[0] in ("sheet", "file")])
def test_mathematics_is_the_same(kind: str, name: str) -> None:
    """Formulas have the same structure in MathML as in LaTeX."""
    found = set(formulas(blocks(kind, name).blocks))
    assert sum(map(same, found)) >= len(found) / 3


letters = st.sampled_from([f.E, syntax.Name("x"), syntax.Name("W_Q"), syntax.Name("pi")])
numbers = st.decimals(0, 99, places=1).map(f.decimal) | st.integers(0, 99).map(
    lambda n: syntax.Literal(str(n))
)


def larger(parts: st.SearchStrategy[syntax.Tree]) -> st.SearchStrategy[syntax.Tree]:
    """Formulas made of formulas."""
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        parts.map(syntax.Negative), several.map(syntax.Sum), several.map(syntax.Product),
        st.builds(syntax.Binary, st.just("/"), parts, parts), st.builds(syntax.Power, parts, parts),
        st.builds(lambda of, x: syntax.Call(of, (x,)), st.sampled_from(["sqrt", "exp"]), parts),
    )  # fmt: skip


@many
@given(st.recursive(letters | numbers, larger, max_leaves=12))
def test_any_formula(formula: syntax.Tree) -> None:
    """Whatever a formula is made of, MathML groups it as LaTeX does."""
    assert same(f.typeset(formula))


# -- text ---------------------------------------------------------------------------


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    """Texts of a file are shown, and neither open elements nor give attributes."""
    path = tmp_path / "hostile.toml"
    path.write_text(CASE, "utf-8")
    solution = solve(path)
    for sheet in (case_sheet.sheet(solution), redpen.sheet(audit(solution))):
        page = unscripted(document(sheet))
        reader = Reader(page)
        assert steering(page) == set()
        assert not {"script", "b", "i", "img"} & reader.tags.keys()
        assert {link for name, link in reader.values if name in ("href", "src")} <= {
            f"#{name}" for attribute, name in reader.values if attribute == "id"
        }
        text = "".join(reader.texts)
        assert "<script>alert(1)</script>" in text
        assert "&lt; 100% a,b:c \\input{x} $x^2$ {0}" in text
