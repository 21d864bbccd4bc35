r"""Widths of mathematics, and the places where it may break.

TeX does not break displayed formulas. Widths are estimated in em of the main font, rather too large
than too small; a sum that does not fit is broken before its signs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.expressions.elementary import ELEMENTARY
from symattn.printers import blocks as b

#: Width of the text on a sheet (A4, 10 pt), in em.
TEXT = 44.0
#: A line to its very end, for displays side by side: widths are estimated rather too large.
LINE = 45.5
#: An em in mm.
EM = 3.515

#: Signs that TeX keeps room around.
_APART = frozenset("=+−<>≈⊙≤≥≠×∘→")
#: Signs before which lines may end, of a sum and of a paragraph.
_TERMS, _BREAKS = frozenset("+−"), frozenset("+−=⊙⋅≈")
_WIDE: dict[str, float] = {name: row.em for name, row in ELEMENTARY.items() if row.em}
_WIDE |= {"∑": 1.5, "lim": 1.6, "⋅": 0.8}
_SPACES = {3: 0.2, 5: 0.3, 4: 0.55, -3: -0.2, 18: 1.0, 36: 2.0}
#: What is high is given some air.
_STRUTS = {"fraction": 1.4, "bar": 1.52}
#: Capitals that are wider than figures and small letters.
_CAPITALS = {
    **dict.fromkeys("ABCDGHKNOQRUX", 0.8),
    **dict.fromkeys("EFLPZ", 0.7),
    "M": 1.0,
    "W": 1.0,
}


@lru_cache(maxsize=1 << 14)
def width(row: t.Row) -> float:
    r"""Estimated width in em of displayed mathematics.

    >>> round(width(f.typeset(syntax.parse("e / (1 + sqrt(e) + e)"))), 1)
    5.4
    """
    return round(_reach(row, 0.0), 6)


def _reach(row: t.Row, total: float) -> float:
    """Return how far a row reaches that begins at ``total``."""
    for node in row.nodes:
        if isinstance(node, t.Sign) and node.text in _APART:
            # A sign at the start is no operation: it stands close.
            total += 1.3 if total else 0.8
        else:
            total += _node_width(node)
    return total


def _node_width(node: t.Node) -> float:
    match node:
        case t.UprightName(text) | t.Limits(text) | t.Sign(text) if text in _WIDE:
            return _WIDE[text]
        case t.Space(room):
            return _SPACES[room]
        case t.Fraction(above, below):
            return max(width(above), width(below)) + 0.3
        case t.Radical(inner):
            return width(inner) + 0.85
        case t.Indexed(base, below, above):
            return _node_width(base) + 0.75 * (width(below) + width(above))
        case t.Fenced(opening, inner, closing):
            return _reach(inner, 0.3 + _letters(opening or ".")) + 0.3 + _letters(closing or ".")
        case t.Group(inner) | t.Marking(_, inner) | t.Styled(_, inner):
            return width(inner)
        case t.CellGrid("aligned", rows):
            return max(width(t.row(*cells)) for cells in rows)
        case t.CellGrid(_, rows):
            count = len(rows[0])
            return count - 1 + sum(max(map(width, cells)) for cells in zip(*rows, strict=True))
        case t.Strut(height):
            return _STRUTS[height]
    return _letters(node.text)


def _letters(text: str) -> float:
    """Width of letters and signs, in em."""
    return sum(
        0.42 if c in "()[],.:;|!" else _CAPITALS.get(c, 0.55) for c in text if not c.isspace()
    )


def aligned(rows: Iterable[tuple[t.Row, t.Row]]) -> t.Row:
    """Rows of one formula under one another, aligned where their second half begins."""
    return t.row(t.CellGrid("aligned", tuple(rows)))


def broken(formula: syntax.Tree, room: float) -> list[t.Row]:
    """The formula as lines that fit into ``room`` em where it can be broken.

    >>> total = syntax.Sum((syntax.Name("a"), syntax.Negative(syntax.Name("b"))))
    >>> [t.latex(line) for line in broken(total, 2.0)]
    ['a', '- b']
    """
    whole = f.typeset(formula)
    if width(whole) <= room:
        return [whole]
    match formula:
        case syntax.Sum(terms):
            return _filled(terms, room)
        case syntax.Negative(operand):
            return _around(t.sign("−", True), _operand(operand, room - 1.3), t.Row())
        case syntax.Binary("/", numerator, denominator):
            return _fraction(numerator, denominator, room)
        case syntax.Product(factors, sign):
            # Those that can be broken.
            wide = [
                k
                for k, x in enumerate(factors)
                if isinstance(x, syntax.Sum) or (isinstance(x, syntax.Binary) and x.op == "/")
            ]
            if wide:
                chosen = max(wide, key=lambda k: width(f.typeset(factors[k])))
                marked = (*factors[:chosen], _GAP, *factors[chosen + 1 :])
                nodes = f.typeset(syntax.Product(marked, sign)).nodes
                place = nodes.index(_GAP_NODE)
                head, tail = t.Row(nodes[:place]), t.Row(nodes[place + 1 :])
                rest = room - width(head) - width(tail)
                return _around(head, _operand(factors[chosen], rest), tail)
    return [whole]


#: Stands in a product for the factor that is broken.
_GAP_NODE = t.Letter("")
_GAP = f.Symbol("", t.row(_GAP_NODE))
_OPENING, _CLOSING = t.row(t.Big("(", True)), t.row(t.Big(")", False))


def _around(head: t.Row, lines: list[t.Row], tail: t.Row) -> list[t.Row]:
    lines[0] = head + lines[0]
    lines[-1] += tail
    return lines


def _operand(formula: syntax.Tree, room: float) -> list[t.Row]:
    """A formula beside a sign or a factor: a sum goes into brackets."""
    if not isinstance(formula, syntax.Sum | syntax.Negative):
        return broken(formula, room)
    whole = t.fenced(f.typeset(formula))
    if width(whole) <= room:
        return [whole]
    return _around(_OPENING, broken(formula, room - 1.0), _CLOSING)


def broken_row(row: t.Row, room: float) -> list[t.Row]:
    """A sum as lines that fit, broken before signs outside of groups, and
    inside of brackets only where they are too wide alone.

    >>> [t.latex(line) for line in broken_row(t.letters("a") + t.sign("+") + t.letters("b"), 2.0)]
    ['a', '+ b']
    """
    if width(row) <= room:
        return [row]
    pieces = [
        inner
        for piece in _pieces(row, _TERMS, in_brackets=False)
        for inner in (_pieces(piece, _TERMS) if width(piece) > room else [piece])
    ]
    return _shelved(pieces, room)


def unbreakable(row: t.Row) -> float:
    """Width in em of the widest part that TeX does not break inside a paragraph.

    >>> unbreakable(t.letters("aaaa") + t.sign("+") + t.letters("bb")) == width(t.letters("aaaa"))
    True
    """
    while len(row.nodes) == 1 and isinstance(row.nodes[0], t.Styled):
        row = row.nodes[0].inner
    return max(map(width, _pieces(row, _BREAKS)))


def _pieces(row: t.Row, signs: frozenset[str], in_brackets: bool = True) -> list[t.Row]:
    """A row cut before the signs that have a left operand, or only those outside of brackets."""
    pieces: list[list[t.Node]] = [[]]
    depth = 0
    for node in row.nodes:
        if isinstance(node, t.Sign):
            depth += (node.role == "opening") - (node.role == "closing")
            is_apart = in_brackets or not depth
            if node.text in signs and not node.prefix and is_apart and pieces[-1]:
                pieces.append([])
        pieces[-1].append(node)
    return [t.Row(tuple(piece)) for piece in pieces]


def _fraction(numerator: syntax.Tree, denominator: syntax.Tree, room: float) -> list[t.Row]:
    """A wide fraction as a narrow one times the broken sum of its numerator."""
    factors = numerator.factors if isinstance(numerator, syntax.Product) else (numerator,)
    chosen = next((factor for factor in factors if isinstance(factor, syntax.Sum)), None)
    if chosen is None:
        return [f.typeset(syntax.Binary("/", numerator, denominator))]
    front = tuple(factor for factor in factors if factor is not chosen)
    above = syntax.Product(front) if len(front) > 1 else front[0] if front else syntax.Literal("1")
    head = f.typeset(syntax.Binary("/", above, denominator))
    lines = _filled(chosen.terms, room - width(head) - 1.0)
    return _around(head + _OPENING, lines, _CLOSING)


def _filled(terms: tuple[syntax.Tree, ...], room: float) -> list[t.Row]:
    """Terms of a sum, as many on a line as fit."""
    pieces: list[t.Row] = []
    for place, term in enumerate(_flat(terms)):
        negative = isinstance(term, syntax.Negative)
        inner = term.operand if isinstance(term, syntax.Negative) else term
        # Breaking inside a term only where the term alone is too wide.
        lines = (_operand if negative else broken)(inner, room - 1.5)
        sign = t.sign("−") if negative else t.sign("+") if place else t.Row()
        lines[0] = sign + lines[0]
        pieces += lines
    return _shelved(pieces, room)


def _flat(terms: tuple[syntax.Tree, ...]) -> Iterator[syntax.Tree]:
    for term in terms:
        if isinstance(term, syntax.Sum):
            yield from _flat(term.terms)
        else:
            yield term


def _shelved(pieces: list[t.Row], room: float) -> list[t.Row]:
    """Pieces put side by side, as many on a line as fit."""
    lines = [pieces[0]]
    for piece in pieces[1:]:
        if width(lines[-1]) + width(piece) + 0.5 <= room:
            lines[-1] += piece
        else:
            lines.append(piece)
    return lines


# -- matrices and tables ----------------------------------------------------------

#: Longest label beside a row or a column.
_LABEL = 16
#: Room for the cells of a heat map, in mm; most lines of equations beside other displays.
_SHADES, _MOST_BESIDE = 125.0, 12
#: Most columns that heat maps side by side have; room for a label of theirs, in mm.
_HEATS_BESIDE, _CELL_LABEL = 8, 5.0


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


def _equations_width(equations: b.Equations) -> float:
    """Estimated width of lines that are aligned at their relations, in em."""
    left = max(width(line[0]) for line in equations.lines)
    # The relation, and what TeX puts around aligned lines.
    beside = (2.2 + (not relation) + width(right) for _, relation, right in equations.lines)
    return left + max(beside)


def shade_width(count: int) -> float:
    """Return how wide the cells of a heat map with so many columns are, in mm."""
    return 11.0 if count <= 7 else min(max(6.0, 80.0 / count), _SHADES / count)


def labels_apart(count: int) -> int:
    """Return of how many labels beside so many cells one is shown: small cells have no room."""
    return math.ceil(_CELL_LABEL / shade_width(count))


def are_beside(heats: Iterable[b.HeatMap]) -> bool:
    """Return whether heat maps stand side by side."""
    return sum(len(heat.columns) for heat in heats) <= _HEATS_BESIDE


#: A display that stands beside others, and room between two, in em.
Display = b.Equations | b.Matrix | b.HeatMap
APART = 2.0


def display_width(item: Display) -> float:
    """Estimated width of a display, in em."""
    match item:
        case b.Equations():
            return _equations_width(item)
        case b.Matrix():
            return matrix_width(item)
        case b.HeatMap():
            labels = max((0.5 * len(shortened(label)) for label in item.rows), default=0.0) + 1
            return labels + len(item.columns) * shade_width(len(item.columns)) / EM


def shelves(
    blocks: Iterable[b.Equations | b.Matrices | b.HeatMaps], line: float = LINE
) -> list[list[Display]]:
    """Displays as they fit side by side on a ``line`` of so many em; a matrix that is too
    wide is cut in columns, and equations on many lines stand alone."""
    filled: list[list[Display]] = []
    room = 0.0
    for item in _pieces_of(blocks, min(TEXT, line)):
        alone = isinstance(item, b.Equations) and len(item.lines) > _MOST_BESIDE
        needed = line + APART if alone else display_width(item) + APART
        if not filled or needed > room:
            filled.append([])
            room = line + APART
        filled[-1].append(item)
        room -= needed
    return filled


def _pieces_of(
    blocks: Iterable[b.Equations | b.Matrices | b.HeatMaps], room: float
) -> Iterator[Display]:
    for block in blocks:
        match block:
            case b.Equations():
                yield block
            case b.Matrices(items):
                yield from (piece for item in items for piece in cut(item, room))
            case b.HeatMaps(items):
                yield from items


def in_columns(equations: b.Equations, line: float = LINE) -> b.Equations:
    """Equations in as many columns as fit that need one ``line`` each: even ones, on as few
    lines as there can be.

    >>> in_columns(b.Equations(((t.letters("a"), t.EQUALS, t.number("1")),) * 22)).columns
    8
    """
    count = len(equations.lines)
    if not all(left for left, _, _ in equations.lines):
        return b.Equations(equations.lines)
    most = max(int((line + APART) // (_equations_width(equations) + APART)), 1)
    return b.Equations(equations.lines, math.ceil(count / math.ceil(count / most)))


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
    nodes = matrix.before.nodes
    place = next((k for k, x in enumerate(nodes) if x in _EQUALITIES), len(nodes))
    name, rest = t.Row(nodes[:place]), t.Row(nodes[place:])
    # What follows an approximate sign has its name on the matrix before.
    name = f.bracketed(name) if name else t.row(t.Group(name))
    last = t.row(t.Text("–"), t.Digits(str(stop - 1))) if stop > start + 1 else t.Row()
    which = t.letters("⋅,") + t.THIN + t.number(str(start)) + last
    cells = tuple(row[start:stop] for row in matrix.cells)
    return b.Matrix(t.index(name, which) + rest, cells, matrix.row_labels)


_EQUALITIES = (t.EQUALS + t.ABOUT).nodes


class Column(NamedTuple):
    """A column of a table: its side, its width in mm, 0 for that of its cells, and the air
    before it in mm."""

    side: str
    width: float
    gap: float


#: The sides of columns by their letters.
SIDES = {"l": "left", "c": "center", "r": "right"}
_COLUMN = re.compile(r"(?:@\{(?:\\hspace\{(\d+)mm\})?\})?(?:P\{(\d+)mm\}|([lcr]))")


def columns(align: str) -> list[Column]:
    r"""The columns of a table.

    >>> columns(r"l@{\hspace{12mm}}P{40mm}")
    [Column(side='l', width=0.0, gap=0.0), Column(side='l', width=40.0, gap=12.0)]
    """
    matches = _COLUMN.findall(align)
    return [Column(side or "l", float(width or 0), float(gap or 0)) for gap, width, side in matches]
