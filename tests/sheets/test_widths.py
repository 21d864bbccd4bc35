"""Estimated widths are those that TeX finds, and what is broken fits."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.printers.layout import (
    aligned,
    broken,
    broken_row,
    unbreakable,
    width,
)

from ..notation import read

needs_tex = pytest.mark.needs("pdflatex")

#: Formulas of every kind of token that sheets have, and how much too wide (below 1: too
#: narrow) their estimate may be.
FORMULAS: Mapping[str, tuple[float, float]] = {
    "0123456789" * 3: (1.05, 1.15),
    "1.5 + 2.5 - 3.5 + 4.5 - 5.5": (0.98, 1.2),
    "12 = 34 = 56 = 78": (0.95, 1.1),
    "a,b,c,d,e,f,g,h": (0.85, 1.3),
    "((((((((((((1))))))))))))": (0.95, 1.2),
    "[1][2][3][4][5][6][7]": (1.0, 1.6),
    r"1 \cdot 2 \cdot 3 \cdot 4 \cdot 5 \cdot 6": (1.1, 1.5),
    r"1 \odot 2 \odot 3 \odot 4": (0.9, 1.1),
    r"1 \approx 2 \leq 3 \to 4 \times 5": (0.85, 1.05),
    r"\frac{123456789012}{3}": (1.05, 1.25),
    r"\frac{3}{123456789012}": (1.05, 1.25),
    r"\frac{1}{2} + \frac{3}{4} + \frac{5}{6} + \frac{7}{8}": (0.95, 1.15),
    r"\sqrt{123456789012}": (1.0, 1.2),
    r"\sqrt{2}\,\sqrt{3}\,\sqrt{5}\,\sqrt{6}": (0.9, 1.2),
    r"1^{123456789012345678}": (1.0, 1.15),
    r"1_{123456789012345678}": (1.0, 1.15),
    r"e^{-1}e^{-2}e^{-3}e^{-4}e^{-5}": (0.95, 1.4),
    r"\left(123456789\right)\left(123456789\right)": (0.95, 1.2),
    r"\Bigl(123456789\Bigr)\Bigl(123456789\Bigr)": (0.8, 1.2),
    r"\exp\exp\exp\exp\exp\exp": (0.8, 1.1),
    r"\log\log\log\log\log\log": (0.9, 1.4),
    r"\sum\sum\sum\sum\sum\sum": (0.9, 1.3),
    r"1\quad2\quad3\quad4\quad5": (1.0, 1.2),
    r"1\qquad2\qquad3\qquad4\qquad5": (0.95, 1.1),
    r"1\,2\,3\,4\,5\,6\,7\,8\,9\,1\,2\,3": (1.0, 1.2),
    r"1\;2\;3\;4\;5\;6\;7\;8\;9\;1\;2\;3": (0.98, 1.2),
    r"1\!2\!3\!4\!5\!6\!7\!8\!9\!1\!2\!3": (0.95, 1.3),
    r"\mathrm{aaaaaaaaaaaaaaaa}": (0.95, 1.3),
    r"\mathit{aaaaaaaaaaaaaaaa}": (0.95, 1.3),
    r"\operatorname{softmax}\left(aaaaaaaa\right)": (0.95, 1.3),
    r"\text{aaaaaaaaaaaaaaaa}": (0.95, 1.3),
    r"\displaystyle \frac{\mathrm{d}Q}{\partial L} + \infty + \infty + \infty": (0.6, 1.2),
    "{ { 1234567890 } }": (1.0, 1.2),
}


@needs_tex
def test_widths_are_those_of_tex(tmp_path: Path) -> None:
    """Each kind of token is measured as wide as TeX sets it, or a little wider."""
    boxes = "\n".join(
        rf"\setbox0=\hbox{{$\displaystyle {latex}$}}\typeout{{width \the\wd0}}"
        for latex in FORMULAS
    )
    head = r"\documentclass[10pt]{article}\usepackage[T1]{fontenc}\usepackage{lmodern,amsmath}"
    tex = rf"{head}\begin{{document}}{boxes}\end{{document}}"
    (tmp_path / "widths.tex").write_text(tex, "utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "widths.tex"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    true = [float(points) / 10 for points in re.findall(r"^width ([\d.]+)pt", said, re.MULTILINE)]
    wrong = {
        latex: round(width(read(latex)) / found, 3)
        for (latex, (least, most)), found in zip(FORMULAS.items(), true, strict=True)
        if not least <= width(read(latex)) / found <= most
    }
    assert wrong == {}


def test_a_sign_at_the_start_stands_close() -> None:
    """A minus before a number is no operation between two."""
    assert width(read("-1")) < width(read("1-"))
    assert width(read("1-1")) == pytest.approx(width(read("1")) + width(read("1-")))


def test_nothing_has_no_width() -> None:
    """Commands for looks, and braces, take no room."""
    assert (
        width(read(""))
        == width(read(r"\displaystyle"))
        == width(read("{}"))
        == width(read(r"\struck{}"))
        == 0
    )
    assert width(read(r"\struck{0.5}\correct{0.25}")) == pytest.approx(width(read("0.50.25")))


def term(k: int) -> syntax.Tree:
    return f.Symbol("", read(f"a_{{{k}}}"))


SUM = syntax.Sum(tuple(syntax.Negative(term(k)) if k % 3 == 1 else term(k) for k in range(12)))
ROOM = 8.0


def lines(formula: syntax.Tree, room: float = ROOM) -> list[str]:
    """The lines of a broken formula: as many terms on each as fit."""
    found = broken(formula, room)
    assert all(width(line) <= room for line in found), found
    return list(map(t.latex, found))


def test_sums_fill_their_lines() -> None:
    """A sum breaks before its signs, and each line takes what fits into it."""
    found = lines(SUM)
    assert " ".join(found) == f.latex(SUM)
    for line, following in pairwise(found):
        assert following[0] in "+-"
        piece = re.split(r"(?<!^) (?=[+-] )", following)[0]
        assert width(read(line)) + width(read(piece)) + 0.5 > ROOM


@pytest.mark.parametrize(
    ("formula", "first", "last"),
    [
        (syntax.Negative(SUM), r"-\Bigl(a_{0}", r"\Bigr)"),
        (syntax.Product((term(1), SUM)), r"a_{1}\,\Bigl(a_{0}", r"\Bigr)"),
        (syntax.Product((SUM, term(1))), r"\Bigl(a_{0}", r"\Bigr)\,a_{1}"),
        (syntax.Binary("/", SUM, term(1)), r"\frac{1}{a_{1}}\Bigl(a_{0}", r"\Bigr)"),
        (
            syntax.Binary("/", syntax.Product((term(2), SUM)), term(1)),
            r"\frac{a_{2}}{a_{1}}\Bigl(a_{0}",
            r"\Bigr)",
        ),
        (
            syntax.Binary("/", syntax.Product((syntax.Literal("2"), SUM, term(3))), term(1)),
            r"\frac{2\,a_{3}}{a_{1}}\Bigl(a_{0}",
            r"\Bigr)",
        ),
        (syntax.Sum((term(1), syntax.Negative(SUM))), "a_{1}", r"\Bigr)"),
        (
            syntax.Sum((syntax.Binary("/", SUM, term(1)), term(2))),
            r"\frac{1}{a_{1}}\Bigl(a_{0}",
            "a_{2}",
        ),
    ],
)
def test_brackets_around_what_is_broken(formula: syntax.Tree, first: str, last: str) -> None:
    """A broken factor, numerator or subtracted sum has large brackets over its lines."""
    found = lines(formula)
    assert len(found) > 1
    assert found[0].startswith(first)
    assert found[-1].endswith(last)
    assert "".join(found).count(r"\Bigl(") == "".join(found).count(r"\Bigr)")


def test_the_widest_factor_is_broken() -> None:
    """Of several sums the widest one; what fits with its brackets stays whole."""
    short = syntax.Sum((term(1), term(2)))
    found = lines(syntax.Product((short, SUM)), 16.0)
    assert found[0].startswith(r"\left(a_{1} + a_{2}\right)\,\Bigl(")
    whole = syntax.Product((term(1), short))
    assert broken(whole, width(f.typeset(whole))) == [f.typeset(whole)]
    within = syntax.Sum((term(0),) * 4 + (syntax.Negative(short),))
    assert r"- \left(a_{1} + a_{2}\right)" in " ".join(lines(within))


def test_what_has_no_place_to_break() -> None:
    """A product of names, a fraction without a sum, a root stay on one line."""
    wide = syntax.Product((syntax.Literal("2"), term(1), term(2), term(3)))
    for formula in (
        wide,
        syntax.Binary("/", wide, wide),
        syntax.Call("sqrt", (SUM,)),
        syntax.Power(f.E, SUM),
    ):
        assert broken(formula, 1.0) == [f.typeset(formula)]
    assert broken(syntax.Negative(wide), 1.0) == [f.typeset(syntax.Negative(wide))]


def test_text_breaks_outside_of_groups() -> None:
    """LaTeX is cut before signs that no bracket, brace or fraction holds."""
    row = read(r"\frac{a + b}{c} + \left(d - e\right)f - g_{h + i} + j")
    lines = [r"\frac{a + b}{c}", r"+ \left(d - e\right)f", "- g_{h+i}", "+ j"]
    assert list(map(t.latex, broken_row(row, 1.0))) == lines
    assert broken_row(row, width(row)) == [row]


@pytest.mark.parametrize("sign", ["+", "-", "=", r"\odot", r"\cdot", r"\approx"])
def test_where_paragraphs_break(sign: str) -> None:
    """TeX breaks mathematics in text before or after these signs, but not inside groups."""
    open_, within = read(f"aaaa {sign} bb"), read(f"x_{{aaaa {sign} bb}}")
    assert unbreakable(open_) < width(open_)
    assert unbreakable(within) == width(within)


def test_text_breaks_inside_brackets_only_where_they_are_too_wide() -> None:
    """A bracket stays whole where it fits on a line."""
    for text, room, lines in (
        ("aaaa + (bb - cc) + dd", 5.5, ["aaaa", "+ (bb - cc)", "+ dd"]),
        ("aaaa + (bbbb - cccc) + dd", 4.0, ["aaaa", "+ (bbbb", "- cccc)", "+ dd"]),
    ):
        assert list(map(t.latex, broken_row(read(text), room))) == lines


def test_aligned_rows() -> None:
    """As wide as the widest row; a paragraph does not break them."""
    rows = [(read("a"), read("= b")), (read(""), read(r"\quad + cccc"))]
    made = aligned(rows)
    assert t.latex(made) == r"\begin{aligned}[t]a &= b \\ &\quad+cccc\end{aligned}"
    assert width(made) == unbreakable(made) == max(width(t.row(*row)) for row in rows)
