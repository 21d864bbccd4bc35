r"""How wide mathematics gets, and where it may break.

TeX does not break displayed formulas. Widths are estimated from the LaTeX
text, in em of the main font, rather too large than too small; a sum that does
not fit is broken before its signs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from symattn import formulas as f
from symattn.printers import blocks as b

#: Width of the text on a sheet (A4, 10 pt), in em.
TEXT = 44.0
#: A line to its very end, for displays side by side: widths are estimated rather too large.
LINE = 45.5
#: An em in mm.
EM = 3.515

_GROUP = re.compile(r"\\[A-Za-z]+|\\.|[{}^_]|\s+|.", re.DOTALL)
_ALIGNED = re.compile(r"(?:\\displaystyle )?\\begin\{aligned\}\[t\](.*)\\end\{aligned\}")
_RELATIONS = frozenset("=+-<>") | {r"\approx", r"\odot", r"\leq", r"\times", r"\to"}
_RELATIONS |= {r"\le", r"\ne", r"\circ"}
_NOTHING = frozenset(
    {r"\struck", r"\correct", r"\cause", r"\footnotesize", r"\texttt"}
    | {r"\mathrm", r"\mathit", r"\operatorname", r"\displaystyle", r"\text"}
    | {r"\mathbf", r"\bigl", r"\bigr", r"\Bigl", r"\Bigr", r"\limits"}
)
_WIDE = {
    r"\cdot": 0.8,
    r"\exp": 1.8,
    r"\log": 1.6,
    r"\left": 0.3,
    r"\right": 0.3,
    r"\sum": 1.5,
    r"\lim": 1.6,
    r"\quad": 1.0,
    r"\qquad": 2.0,
    r"\,": 0.2,
    r"\!": -0.2,
    r"\;": 0.3,
}

#: Capitals that are wider than figures and small letters.
_CAPITALS = {
    **dict.fromkeys("ABCDGHKNOQRUX", 0.8),
    **dict.fromkeys("EFLPZ", 0.7),
    "M": 1.0,
    "W": 1.0,
}


@lru_cache(maxsize=1 << 14)
def width(latex: str) -> float:
    r"""Estimated width in em of displayed mathematics.

    >>> round(width(r"\frac{e}{1 + \sqrt{e} + e}"), 1)
    5.4
    """
    if rows := aligned_rows(latex):
        return max(width(row.replace("&", " ")) for row in rows)
    return _measure(_GROUP.findall(latex), 0)[0]


def aligned(rows: Sequence[str]) -> str:
    r"""Rows of one formula under one another, aligned where each has its ``&``.

    >>> aligned(["a &= b", r"&\quad + c"])
    '\\begin{aligned}[t]a &= b \\\\ &\\quad + c\\end{aligned}'
    """
    return r"\begin{aligned}[t]" + r" \\ ".join(rows) + r"\end{aligned}"


def aligned_rows(latex: str) -> list[str]:
    """The rows of what :func:`aligned` made, nothing of other mathematics."""
    match = _ALIGNED.fullmatch(latex)
    return match[1].split(r" \\ ") if match else []


def _measure(tokens: list[str], place: int) -> tuple[float, int]:
    """Width of a group from ``place`` to its closing brace, and where it ends."""
    total = 0.0
    while place < len(tokens):
        token = tokens[place]
        place += 1
        if token == "}":
            break
        if token == "{":
            inner, place = _measure(tokens, place)
            total += inner
        elif token in ("^", "_"):
            inner, place = _argument(tokens, place)
            total += 0.75 * inner
        elif token == r"\frac":
            above, place = _argument(tokens, place)
            below, place = _argument(tokens, place)
            total += max(above, below) + 0.3
        elif token == r"\sqrt":
            inner, place = _argument(tokens, place)
            total += inner + 0.85
        elif token in _RELATIONS:
            # A sign at the start is no operation: it stands close.
            total += 1.3 if total else 0.8
        elif token in _WIDE:
            total += _WIDE[token]
        elif token in _NOTHING or token.isspace():
            continue
        else:
            total += _letter(token)
    return total, place


def _letter(token: str) -> float:
    """Width of a letter or a sign, in em."""
    if token in "()[],.:;|!":
        return 0.42
    return _CAPITALS.get(token, 0.55)


def _argument(tokens: list[str], place: int) -> tuple[float, int]:
    while place < len(tokens) and tokens[place].isspace():
        place += 1
    if place < len(tokens) and tokens[place] == "{":
        return _measure(tokens, place + 1)
    return (0.55, place + 1)


def broken(formula: f.Formula, room: float) -> list[str]:
    """The formula as lines that fit into ``room`` em where it can be broken.

    >>> broken(f.Sum((f.Symbol("a"), f.Negated(f.Symbol("b")))), 2.0)
    ['a', '- b']
    """
    whole = f.latex(formula)
    if width(whole) <= room:
        return [whole]
    match formula:
        case f.Sum(terms):
            return _filled(terms, room)
        case f.Negated(operand):
            return _around("-", _operand(operand, room - 1.3), "")
        case f.Quotient(numerator, denominator):
            return _fraction(numerator, denominator, room)
        case f.Product(factors, sign):
            wide = [k for k, x in enumerate(factors) if isinstance(x, f.Sum | f.Quotient)]
            if wide:
                chosen = max(wide, key=lambda k: width(f.latex(factors[k])))
                marked = (*factors[:chosen], _GAP, *factors[chosen + 1 :])
                head, tail = f.latex(f.Product(marked, sign)).split(_GAP.latex)
                rest = room - width(head) - width(tail)
                return _around(head, _operand(factors[chosen], rest), tail)
    return [whole]


#: Stands in a product for the factor that is broken.
_GAP = f.Symbol("", "\x00")


def _around(head: str, lines: list[str], tail: str) -> list[str]:
    lines[0] = head + lines[0]
    lines[-1] += tail
    return lines


def _operand(formula: f.Formula, room: float) -> list[str]:
    """A formula beside a sign or a factor: a sum goes into brackets."""
    if not isinstance(formula, f.Sum | f.Negated):
        return broken(formula, room)
    whole = rf"\left({f.latex(formula)}\right)"
    if width(whole) <= room:
        return [whole]
    return _around(r"\Bigl(", broken(formula, room - 1.0), r"\Bigr)")


def broken_text(latex: str, room: float) -> list[str]:
    """LaTeX of a sum as lines that fit, broken before signs outside of groups, and
    inside of brackets only where they are too wide alone.

    >>> broken_text("a + b - c", 2.0)
    ['a', '+ b', '- c']
    """
    if width(latex) <= room:
        return [latex]
    pieces = [
        inner
        for piece in _pieces(latex, r" [+-] ", r"[(\[]", r"[)\]]")
        for inner in (_pieces(piece, r" [+-] ") if width(piece) > room else [piece])
    ]
    return _shelved(pieces, room)


def unbreakable(latex: str) -> float:
    """Width in em of the widest part that TeX does not break inside a paragraph.

    >>> unbreakable("aaaa + bb") == width("aaaa")
    True
    """
    if aligned_rows(latex):
        return width(latex)
    return max(map(width, _pieces(latex, r" [+\-=] | \\(?:odot|cdot|approx) ")))


def _pieces(latex: str, signs: str, opening: str = "{", closing: str = "}") -> list[str]:
    """LaTeX cut before the signs outside of groups, and of brackets if they are named."""
    pieces, depth = [""], 0
    for token in re.split(rf"(\\left\W|\\right\W|[{{}}]|{opening}|{closing}|{signs})", latex):
        depth += token == "{" or token.startswith(r"\left") or bool(re.fullmatch(opening, token))
        depth -= token == "}" or token.startswith(r"\right") or bool(re.fullmatch(closing, token))
        if re.fullmatch(signs, token) and not depth:
            pieces.append(token.lstrip())
        else:
            pieces[-1] += token
    return pieces


def _fraction(numerator: f.Formula, denominator: f.Formula, room: float) -> list[str]:
    """A wide fraction as a narrow one times the broken sum of its numerator."""
    factors = numerator.factors if isinstance(numerator, f.Product) else (numerator,)
    chosen = next((factor for factor in factors if isinstance(factor, f.Sum)), None)
    if chosen is None:
        return [f.latex(f.Quotient(numerator, denominator))]
    front = tuple(factor for factor in factors if factor is not chosen)
    above = f.Product(front) if len(front) > 1 else front[0] if front else f.Number("1")
    head = f.latex(f.Quotient(above, denominator))
    return _around(rf"{head}\Bigl(", _filled(chosen.terms, room - width(head) - 1.0), r"\Bigr)")


def _filled(terms: tuple[f.Formula, ...], room: float) -> list[str]:
    """Terms of a sum, as many on a line as fit."""
    pieces: list[str] = []
    for place, term in enumerate(_flat(terms)):
        negative = isinstance(term, f.Negated)
        inner = term.operand if isinstance(term, f.Negated) else term
        # Breaking inside a term only where the term alone is too wide.
        lines = (_operand if negative else broken)(inner, room - 1.5)
        sign = "-" if negative else "+" if place else ""
        lines[0] = f"{sign} {lines[0]}".strip()
        pieces += lines
    return _shelved(pieces, room)


def _flat(terms: tuple[f.Formula, ...]) -> Iterator[f.Formula]:
    for term in terms:
        if isinstance(term, f.Sum):
            yield from _flat(term.terms)
        else:
            yield term


def _shelved(pieces: list[str], room: float) -> list[str]:
    """Pieces put side by side, as many on a line as fit."""
    result = [pieces[0]]
    for piece in pieces[1:]:
        if width(result[-1]) + width(piece) + 0.5 <= room:
            result[-1] += f" {piece}"
        else:
            result.append(piece)
    return result


# -- matrices and tables ----------------------------------------------------------

#: Longest label beside a row or a column.
_LABEL = 16
#: Room for the cells of a heat map, in mm; most lines of equations beside other displays.
_SHADES, _MOST_BESIDE = 125.0, 12


def shortened(label: str) -> str:
    """A label beside a row or a column; of a long one the beginning.

    >>> shortened("a label that is far too long")
    'a label that is…'
    """
    return label if len(label) <= _LABEL else f"{label[: _LABEL - 1]}\N{HORIZONTAL ELLIPSIS}"


def matrix_width(matrix: b.Matrix) -> float:
    """Estimated width of a matrix with its name and labels, in em."""
    columns = [max(map(width, column)) for column in zip(*matrix.cells, strict=True)]
    labels = max((0.55 * min(len(x), _LABEL) + 1 for x in matrix.row_labels), default=0.0)
    brackets = len(columns) + 1.5 if columns else 0.0
    return width(matrix.before) + labels + sum(columns) + brackets


def equations_width(equations: b.Equations) -> float:
    """Estimated width of lines that are aligned at their relations, in em."""
    left = max(width(line[0]) for line in equations.lines)
    # The relation, and what TeX puts around aligned lines.
    beside = (2.2 + (not relation) + width(right) for _, relation, right in equations.lines)
    return left + max(beside)


def heat_map_width(heat: b.HeatMap) -> float:
    """Estimated width of a heat map with its labels, in em."""
    labels = max((0.5 * len(shortened(label)) for label in heat.rows), default=0.0) + 1
    return labels + len(heat.columns) * shade_width(len(heat.columns)) / EM


def shade_width(count: int) -> float:
    """How wide the cells of a heat map with so many columns are, in mm."""
    return 11.0 if count <= 7 else min(max(6.0, 80.0 / count), _SHADES / count)


#: A display that stands beside others, and room between two, in em.
Display = b.Equations | b.Matrix | b.HeatMap
APART = 2.0


def display_width(item: Display) -> float:
    """Estimated width of a display, in em."""
    match item:
        case b.Equations():
            return equations_width(item)
        case b.Matrix():
            return matrix_width(item)
        case b.HeatMap():
            return heat_map_width(item)


def shelves(blocks: Iterable[b.Equations | b.Matrices | b.HeatMaps]) -> list[list[Display]]:
    """Displays as they fit side by side; a matrix that is too wide is cut in columns,
    and equations on many lines stand alone."""
    filled: list[list[Display]] = []
    room = 0.0
    for item in _pieces_of(blocks):
        alone = isinstance(item, b.Equations) and len(item.lines) > _MOST_BESIDE
        needed = LINE + APART if alone else display_width(item) + APART
        if not filled or needed > room:
            filled.append([])
            room = LINE + APART
        filled[-1].append(item)
        room -= needed
    return filled


def _pieces_of(blocks: Iterable[b.Equations | b.Matrices | b.HeatMaps]) -> Iterator[Display]:
    for block in blocks:
        match block:
            case b.Equations():
                yield block
            case b.Matrices(items):
                yield from (piece for item in items for piece in cut(item))
            case b.HeatMaps(items):
                yield from items


def columns_of(equations: b.Equations) -> int:
    """In how many columns equations fit that need one line each: even ones, on as few
    lines as there can be.

    >>> columns_of(b.Equations((("a", "=", "1"),) * 22))
    8
    """
    count = len(equations.lines)
    if not all(left for left, _, _ in equations.lines):
        return 1
    most = max(int((LINE + APART) // (equations_width(equations) + APART)), 1)
    return math.ceil(count / math.ceil(count / most))


def cut(matrix: b.Matrix, room: float = TEXT) -> list[b.Matrix]:
    """The matrix, or pieces of it with as many columns as fit into ``room`` em."""
    if not matrix.cells:
        return [matrix]
    count = len(matrix.cells[0])
    if matrix_width(matrix) <= room or count == 1:
        return [matrix]
    pieces: list[b.Matrix] = []
    start = 0
    while start < count:
        piece = _columns(matrix, start, start + 1)
        # One column after the other: all that are left would be looked at for every piece.
        for stop in range(start + 2, count + 1):
            wider = _columns(matrix, start, stop)
            if matrix_width(wider) > room:
                break
            piece = wider
        pieces.append(piece)
        start += len(piece.cells[0])
    return pieces


def _columns(matrix: b.Matrix, start: int, stop: int) -> b.Matrix:
    match = re.fullmatch(r"(.*?) ?(=|\\approx)(.*)", matrix.before)
    name, relation, factor = match.groups() if match else (matrix.before, "", "")
    # What follows ``\approx`` has its name on the matrix before.
    name = f"({name})" if name else "{}"
    which = str(start) if stop == start + 1 else rf"{start}\text{{--}}{stop - 1}"
    cells = tuple(row[start:stop] for row in matrix.cells)
    return b.Matrix(rf"{name}_{{\cdot,\,{which}}} {relation}{factor}", cells, matrix.row_labels)


class Column(NamedTuple):
    """A column of a table: its side, its width in mm, 0 for that of its cells, and the air
    before it in mm."""

    side: str
    width: float
    gap: float


_COLUMN = re.compile(r"(?:@\{(?:\\hspace\{(\d+)mm\})?\})?(?:P\{(\d+)mm\}|([lcr]))")


def columns(align: str) -> list[Column]:
    r"""The columns of a table.

    >>> columns(r"l@{\hspace{12mm}}P{40mm}")
    [Column(side='l', width=0.0, gap=0.0), Column(side='l', width=40.0, gap=12.0)]
    """
    matches = _COLUMN.findall(align)
    return [Column(side or "l", float(width or 0), float(gap or 0)) for gap, width, side in matches]
