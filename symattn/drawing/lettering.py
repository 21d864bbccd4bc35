"""Formulas and names as lettering: runs of letters, slanted or upright, on
three levels, and about how wide they are."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from unicodedata import combining, east_asian_width

from symattn import formulas as f
from symattn.drawing.svg import element, number
from symattn.escaping import html_text, visible

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
                return (
                    *kept,
                    LetterRun(text, run.slanted, run.level),
                    LetterRun("\N{HORIZONTAL ELLIPSIS}"),
                )
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


def formula(expression: f.Formula) -> Runs:
    """A formula on one line.

    >>> "".join(run.text for run in formula(f.Quotient(f.Symbol("S"), f.Root(f.Symbol("d_k")))))
    'S / √dk'
    """
    return tuple(_merged(_runs(expression)[0]))


def _merged(runs: list[LetterRun]) -> list[LetterRun]:
    """Neighbours of one kind as one."""
    merged: list[LetterRun] = []
    for run in runs:
        last = merged[-1] if merged else None
        if last and (last.slanted, last.level) == (run.slanted, run.level):
            merged[-1] = LetterRun(last.text + run.text, run.slanted, run.level)
        else:
            merged.append(run)
    return merged


# How tightly each kind binds.
_SUM, _PRODUCT, _FACTOR, _ATOM = range(4)
#: What stands between factors: of numbers, of matrices, and entry by entry.
_SIGNS = {"*": " \N{DOT OPERATOR} ", "@": " ", "o": " \N{CIRCLED DOT OPERATOR} "}


_RELATIONS = {
    ">=": "\N{GREATER-THAN OR EQUAL TO}",
    "<=": "\N{LESS-THAN OR EQUAL TO}",
    "==": "=",
    "!=": "\N{NOT EQUAL TO}",
}


def _runs(expression: f.Formula) -> tuple[list[LetterRun], int]:
    match expression:
        case f.Number(digits):
            return [LetterRun(digits)], _ATOM
        case f.Symbol(text):
            return [*name(text)], _ATOM
        case f.Negated(operand):
            return [LetterRun("\N{MINUS SIGN}"), *_bound(operand, _PRODUCT)], _SUM
        case f.Sum(terms):
            return _added(terms), _SUM
        case f.Product(factors, sign):
            runs = _bound(factors[0], _PRODUCT)
            for factor in factors[1:]:
                runs += [LetterRun(_SIGNS[sign]), *_bound(factor, _FACTOR)]
            return runs, _PRODUCT
        case f.Quotient(numerator, denominator):
            over, under = _bound(numerator, _PRODUCT), _bound(denominator, _FACTOR)
            return [*over, LetterRun(" / "), *under], _PRODUCT
        case f.Power(base, exponent):
            return [*_bound(base, _ATOM), *_at_level(_runs(exponent)[0], 1)], _FACTOR
        case f.Root(operand):
            return [LetterRun("\N{SQUARE ROOT}"), *_bound(operand, _ATOM)], _ATOM
        case f.Function(function, arguments):
            inside: list[LetterRun] = []
            for place, argument in enumerate(arguments):
                inside += [*([LetterRun(", ")] if place else []), *_runs(argument)[0]]
            return [LetterRun(f"{function}("), *inside, LetterRun(")")], _ATOM
        case f.Option(label, value):
            return [LetterRun(f"{label} = "), *_runs(value)[0]], _ATOM
        case f.Indicator(left, sign, right):
            relation = f" {_RELATIONS.get(sign, sign)} "
            return [
                LetterRun("["),
                *_runs(left)[0],
                LetterRun(relation),
                *_runs(right)[0],
                LetterRun("]"),
            ], _ATOM
        case f.Transpose(operand):
            return [*_bound(operand, _ATOM), LetterRun("T", level=1)], _FACTOR
        case f.Entry(operand, keys):
            return [*_bound(operand, _ATOM), LetterRun(f"[{', '.join(keys)}]")], _ATOM
        case f.Matrix():
            return [LetterRun(f.text(expression).replace("-", "\N{MINUS SIGN}"))], _ATOM


def _bound(expression: f.Formula, level: int) -> list[LetterRun]:
    """What stands where something binds so tightly, in brackets where it must."""
    runs, binding = _runs(expression)
    return runs if binding >= level else [LetterRun("("), *runs, LetterRun(")")]


def _added(terms: tuple[f.Formula, ...]) -> list[LetterRun]:
    runs = _runs(terms[0])[0]
    for term in terms[1:]:
        if isinstance(term, f.Negated):
            runs += [LetterRun(" \N{MINUS SIGN} "), *_bound(term.operand, _PRODUCT)]
        else:
            runs += [LetterRun(" + "), *_runs(term)[0]]
    return runs


def _at_level(runs: list[LetterRun], level: int) -> list[LetterRun]:
    return [LetterRun(run.text, run.slanted, level) for run in runs]
