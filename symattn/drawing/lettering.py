"""Formulas and names as lettering: runs of letters, slanted or upright, on
three levels, and about how wide they are.

SVG: elements, the colours of the sheets, and the frame of a drawing.

A drawing loads nothing and runs nothing. Its colours are plain attributes, for every program that
reads SVG; a style for dark screens stands over them, which no attribute can. What is hatched is
lines, not a pattern by reference, so that drawings on one page can't mistake each other's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby
from math import fsum
from unicodedata import combining, east_asian_width

from symattn.escaping import html_attribute, html_text, visible
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.expressions.trees import ATOM, ENTRYWISE, POSTFIX, PRODUCT, SUM, bracketed

#: What paints an element: the attribute, its colour on paper, and on a dark screen.
PAINTS = {
    "paper": ("fill", "#ffffff", "#16191e"),
    "soft": ("fill", "#f3f5f8", "#20252d"),
    "text": ("fill", "#1b1b1b", "#e4e6ea"),
    "ink": ("fill", "#1f3a5f", "#a9c7ee"),
    "faint": ("fill", "#5c6470", "#9aa3b0"),
    "heat": ("fill", "#2b6cb0", "#2f6fb5"),
    "pen": ("fill", "#b3261e", "#e0584e"),
    "symbolic": ("fill", "#1f3a5f", "#4f6f9c"),
    "on-heat": ("fill", "#ffffff", "#ffffff"),
    "on-pen": ("fill", "#b3261e", "#ff8a80"),
    "rule-line": ("stroke", "#d4d9e0", "#363d49"),
    "ink-line": ("stroke", "#1f3a5f", "#a9c7ee"),
    "heat-line": ("stroke", "#2b6cb0", "#3f86d6"),
    "pen-line": ("stroke", "#b3261e", "#ff8a80"),
    "hatch-line": ("stroke", "#8b94a3", "#6b7484"),
}

#: Fonts with lining figures, the first of them that is there.
_FONTS = (
    "'Latin Modern Roman', 'STIX Two Text', Charter, 'Bitstream Charter', Cambria, "
    "'Times New Roman', serif"
)

_DARK = " ".join(
    f"svg.drawing .{name} {{ {attribute}: {dark}; }}"
    for name, (attribute, light, dark) in PAINTS.items()
    if light != dark
)
_STYLE = f"@media screen and (prefers-color-scheme: dark) {{ {_DARK} }}"


def number(x: float) -> str:
    """A length: a tenth of a pixel is enough.

    >>> number(12.0), number(0.26), number(-0.04)
    ('12', '0.3', '0')
    """
    text = f"{x:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def element(name: str, paint: str = "", content: str = "", **attributes: float | str | None) -> str:
    """An element painted so; an attribute that is None is left out.

    >>> element("rect", "heat", x=1, stroke_width="2")
    '<rect class="heat" fill="#2b6cb0" x="1" stroke-width="2"/>'
    """
    painted: dict[str, float | str | None] = {}
    if paint:
        attribute, light, _ = PAINTS[paint]
        painted = {"class": paint, attribute: light}
        if attribute == "stroke":
            painted["fill"] = "none"
    markup = "".join(
        f' {key.replace("_", "-")}="'
        f'{html_attribute(value) if isinstance(value, str) else number(value)}"'
        for key, value in (painted | attributes).items()
        if value is not None
    )
    return f"<{name}{markup}>{content}</{name}>" if content else f"<{name}{markup}/>"


def words(
    x: float, y: float, text: str, paint: str = "text", **attributes: float | str | None
) -> str:
    """Text at a place, made harmless; see :func:`element`."""
    return element("text", paint, html_text(text), x=x, y=y, **attributes)


def framed(
    corner: tuple[float, float],
    size: tuple[float, float],
    paint: str,
    line: str,
    radius: float = 0.0,
    opacity: str = "1",
) -> str:
    """A rectangle in one paint with a thin line around it in another."""
    frame = {"x": corner[0], "y": corner[1], "width": size[0], "height": size[1]}
    corners = {"rx": radius} if radius else {}
    inside = element("rect", paint, "", **frame, **corners)
    around = element("rect", line, "", **frame, **corners, stroke_width=0.8, stroke_opacity=opacity)
    return inside + around


def group(parts: Iterable[str], x: float = 0, y: float = 0) -> str:
    """Elements moved to a place."""
    moved = f"translate({number(x)} {number(y)})" if x or y else None
    return element("g", "", "\n".join(parts), transform=moved)


@dataclass(frozen=True)
class Panel:
    """A part of a drawing, with its size."""

    width: float
    height: float
    parts: tuple[str, ...]


#: Room around a drawing, and between its panels.
MARGIN, BETWEEN = 16.0, 28.0
#: Wider drawings would be too small to read on the smallest screens: pages let them scroll.
_WIDE = 480.0


def stacked(panels: Iterable[Panel], between: float = BETWEEN, at: float = 0.5) -> Panel:
    """Panels under each other, each in the middle, or at another part of the room beside it."""
    column = list(panels)
    width = max(panel.width for panel in column)
    parts, y = [], 0.0
    for panel in column:
        parts.append(group(panel.parts, at * (width - panel.width), y))
        y += panel.height + between
    return Panel(width, y - between, tuple(parts))


def drawing(panel: Panel, title: str, description: str, language: str) -> str:
    """A whole drawing: a file of its own, or a part of a page.

    >>> made = drawing(Panel(10, 10, ()), "A < B", "", "en")
    >>> made.startswith('<svg xmlns="http://www.w3.org/2000/svg"'), "A &lt; B" in made
    (True, True)
    """
    width, height = panel.width + 2 * MARGIN, panel.height + 2 * MARGIN
    size = f'width="{number(width)}" height="{number(height)}"'
    kind = "drawing wide" if width > _WIDE else "drawing"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" role="img" {size} '
            f'viewBox="0 0 {number(width)} {number(height)}" lang="{html_attribute(language)}" '
            f'font-family="{html_attribute(_FONTS)}" font-size="12">',
            f"<title>{html_text(title)}</title>",
            f"<desc>{html_text(description)}</desc>",
            f"<style>{_STYLE}</style>",
            element("rect", "paper", width=width, height=height),
            group(panel.parts, MARGIN, MARGIN),
            "</svg>",
            "",
        ]
    )


#: Size of letters that are lowered or raised, and by how much, in em.
_SMALL, _LOWERED, _RAISED = 0.72, 0.22, -0.38


@dataclass(frozen=True)
class LetterRun:
    """Letters of one kind; ``level`` is -1 for a subscript, 1 for a superscript."""

    text: str
    slanted: bool = False
    level: int = 0


Runs = tuple[LetterRun, ...]


def text_width(text: str, size: float) -> float:
    """About how wide a text is at that size of letters; rather too wide.

    >>> text_width("0.50", 10) < text_width("-0.50", 10) < text_width("猫猫猫", 10)
    True
    """
    return size * fsum(map(_letter_width, text))


def _letter_width(c: str) -> float:
    if combining(c):
        return 0.0
    if east_asian_width(c) in "WF":
        return 1.05
    if c in " .,:;'|!()[]iIjlt":
        return 0.36
    return 0.86 if c in "mwMW@%_" else 0.72 if c.isupper() else 0.58


def width(runs: Runs, size: float) -> float:
    """About how wide lettering is."""
    return fsum(text_width(run.text, size * (_SMALL if run.level else 1)) for run in runs)


def lettering(
    runs: Runs, x: float, y: float, size: float, paint: str, **attributes: float | str | None
) -> str:
    """Lettering as text; a lowered or raised run moves the baseline, and the next moves it back."""
    content, at = "", 0.0
    for run in runs:
        baseline = {-1: _LOWERED, 0: 0.0, 1: _RAISED}[run.level] * size
        moved = number(baseline - at) if baseline != at else None
        small = number(size * _SMALL) if run.level else None
        at = baseline
        content += element(
            "tspan",
            "",
            html_text(run.text),
            dy=moved,
            font_size=small,
            font_style="italic" if run.slanted else None,
        )
    return element("text", paint, content, x=x, y=y, font_size=size, **attributes)


def shortened(text: str, most: int) -> str:
    """A text by its beginning, if it has more than so many letters.

    >>> shortened("a long label", 7), shortened("label", 7)
    ('a long…', 'label')
    """
    plain = visible(text)
    return plain if len(plain) <= most else f"{plain[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def fitted(runs: Runs, size: float, room: float) -> Runs:
    """Lettering by its beginning, if it is wider than the room there is."""
    if width(runs, size) <= room:
        return runs
    kept: list[LetterRun] = []
    left = room - size
    for run in runs:
        run_size = size * (_SMALL if run.level else 1)
        text = ""
        for c in run.text:
            left -= text_width(c, run_size)
            if left < 0:
                return (*kept, replace(run, text=text), LetterRun("\N{HORIZONTAL ELLIPSIS}"))
            text += c
        kept.append(run)
    return tuple(kept)


def name(of: str) -> Runs:
    """A quantity's name: ``W_Q`` with Q lowered; one of a gradient with d before it.

    >>> [(run.text, run.level) for run in name("W_Q")], name("dL/dQ")[0].text
    ([('W', 0), ('Q', -1)], 'd')
    """
    if of.startswith("dL/d"):
        return (LetterRun("d"), *name(of.removeprefix("dL/d")))
    if of == "pi":
        return (LetterRun("π", slanted=True),)
    base, below = f.name_parts(of)
    runs = (LetterRun(base, slanted=True),)
    return (*runs, LetterRun(below, slanted=below.isalpha(), level=-1)) if below else runs


def formula(expression: syntax.Tree) -> Runs:
    """A formula on one line.

    >>> "".join(run.text for run in formula(syntax.parse("S / sqrt(d_k)")))
    'S / √dk'
    """
    # Neighbours of one kind are one.
    alike = groupby(_runs(expression)[0], key=lambda run: (run.slanted, run.level))
    return tuple(LetterRun("".join(run.text for run in same), *kind) for kind, same in alike)


#: What stands between factors: of numbers, of matrices, and entry by entry.
_SIGNS = {"*": " \N{DOT OPERATOR} ", "@": " ", "o": " \N{CIRCLED DOT OPERATOR} "}


def _runs(expression: syntax.Tree) -> tuple[list[LetterRun], int]:
    match expression:
        case syntax.Literal(digits):
            return [LetterRun(digits)], ATOM
        case syntax.Name(text):
            return [*name(text)], ATOM
        case syntax.Gradient(of):
            return [*name(syntax.gradient_name(of))], ATOM
        case syntax.Negative(operand):
            return [LetterRun("\N{MINUS SIGN}"), *_bound(operand, PRODUCT)], SUM
        case syntax.Sum(terms):
            return _added(terms), SUM
        case syntax.Binary("+" | "-" as sign, left, right):
            middle = LetterRun(" + " if sign == "+" else " \N{MINUS SIGN} ")
            return [*_runs(left)[0], middle, *_bound(right, ENTRYWISE)], SUM
        case syntax.Binary("*" | "@" as sign, left, right):
            return _runs(syntax.Product((left, right), sign))
        case syntax.Product(factors, sign):
            runs = _bound(factors[0], PRODUCT)
            for factor in factors[1:]:
                runs += [LetterRun(_SIGNS[sign]), *_bound(factor, POSTFIX)]
            return runs, PRODUCT
        case syntax.Binary("/", numerator, denominator):
            over, under = _bound(numerator, PRODUCT), _bound(denominator, POSTFIX)
            return [*over, LetterRun(" / "), *under], PRODUCT
        case syntax.Power(base, exponent):
            raised = (replace(run, level=1) for run in _runs(exponent)[0])
            return [*_bound(base, ATOM), *raised], POSTFIX
        case syntax.Call("sqrt", (operand,)):
            return [LetterRun("\N{SQUARE ROOT}"), *_bound(operand, ATOM)], ATOM
        case syntax.Call("step", (syntax.Comparison((left, right), (sign,)),)):
            middle = LetterRun(f" {t.TYPED.get(sign, sign)} ")
            sides = _runs(left)[0], _runs(right)[0]
            return [LetterRun("["), *sides[0], middle, *sides[1], LetterRun("]")], ATOM
        case syntax.Call(function, arguments, options):
            given = [("", x) for x in arguments] + [(f"{label} = ", x) for label, x in options]
            inside = [run for label, x in given for run in (LetterRun(f", {label}"), *_runs(x)[0])]
            inside[:1] = [LetterRun(inside[0].text[2:])] if inside else []
            return [LetterRun(f"{function}("), *inside, LetterRun(")")], ATOM
        case syntax.Transposed(operand):
            return [*_bound(operand, ATOM), LetterRun("T", level=1)], POSTFIX
        case syntax.Cell(operand, places):
            keys = ", ".join(map(syntax.text, places))
            return [*_bound(operand, ATOM), LetterRun(f"[{keys}]")], ATOM
        case syntax.Word(word):
            return [LetterRun(word)], ATOM
    return [LetterRun(syntax.shown(expression).replace("-", "\N{MINUS SIGN}"))], ATOM


def _bound(expression: syntax.Tree, level: int) -> list[LetterRun]:
    """Return what stands where something binds so tightly, in brackets where it must."""
    return bracketed(_runs(expression), level, lambda x: [LetterRun("("), *x, LetterRun(")")])


def _added(terms: tuple[syntax.Tree, ...]) -> list[LetterRun]:
    runs = _runs(terms[0])[0]
    for term in terms[1:]:
        if isinstance(term, syntax.Negative):
            runs += [LetterRun(" \N{MINUS SIGN} "), *_bound(term.operand, PRODUCT)]
        else:
            runs += [LetterRun(" + "), *_runs(term)[0]]
    return runs
