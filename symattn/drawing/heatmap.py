"""Cells as a heat map: shades, figures where they fit, hatching where masked.

A quantity as cells: how dark each is, and the figures that stand inside.

Shades are for the eye and come from the middles of enclosures. Figures are
correctly rounded; one without trailing zeros is the exact value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from flint import arb

from symattn.drawing.lettering import element, framed, number, shortened, text_width, words
from symattn.errors import SymattnError
from symattn.numbers import rounding
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.values import Value
from symattn.programs.nodes import Node
from symattn.solution.entries import EntryValue
from symattn.solution.quantity import Quantity
from symattn.solution.solution import Solution

#: What shades mean: weights from 0 to 1, or to the largest where all are small;
#: numbers with their signs, the largest darkest; entries in symbols, by the
#: largest of their coefficients; formulas in letters have none.
Scale = Literal["weights", "small weights", "signed", "symbols", "letters"]

#: Weights up to this are small: from 0 to 1 they would all look alike.
_SMALL = 0.2

#: Most cells in a row or a column: of a larger quantity each stands for several entries.
MOST = 16
#: Most rows or columns of a quantity with figures.
_FIGURED = 12

#: Fewest and most places that figures have, unless told.
_PLACES = 2, 6
#: Longest figure, in letters, and longest form in symbols.
_LONGEST, _LONGEST_FORM = 9, 6

MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class HeatCell:
    """A cell: its shade from -1 to 1, its figure, whether what is there is masked."""

    shade: float = 0.0
    figure: str = ""
    is_masked: bool = False


@dataclass(frozen=True)
class Cells:
    """The cells of a quantity; each stands for ``block`` entries, down and across."""

    rows: tuple[tuple[HeatCell, ...], ...]
    scale: Scale
    block: tuple[int, int]

    @property
    def grid(self) -> tuple[int, int]:
        """Return how many rows and columns of cells there are."""
        return len(self.rows), len(self.rows[0])


def cells(
    quantity: Quantity,
    places: int | None,
    is_masked: Callable[[int, int], bool],
    are_weights: bool = False,
) -> Cells:
    """The cells of a quantity, with figures to so many ``places``; unless told, so
    many that two digits of the largest are seen.

    Of a block of entries the largest is shown; it is masked if all of it is.

    >>> from symattn.solution.solution import solve
    >>> A = solve("cat-sat-mat")["A"]
    >>> made = cells(A, 2, A.is_masked, are_weights=True)
    >>> [cell.figure for cell in made.rows[0]], round(made.rows[0][0].shade, 2)
    (['0.51', '0.19', '0.31'], 0.51)
    """
    rows, columns = quantity.grid
    down, across = -(-rows // MOST), -(-columns // MOST)
    sizes: list[list[tuple[arb | None, int, int] | None]] = []
    for top in range(0, rows, down):
        sizes.append([])
        for left in range(0, columns, across):
            block = [
                (_middle(quantity, i, j), i, j)
                for i in range(top, min(top + down, rows))
                for j in range(left, min(left + across, columns))
                if not is_masked(i, j)
            ]
            sizes[-1].append(max(block, key=_size) if block else None)
    known = [abs(entry[0]) for row in sizes for entry in row if entry and entry[0] is not None]
    size = max(known, default=arb(0))
    scale: Scale = "symbols" if quantity.symbols else "signed"
    if quantity.is_lettered and quantity.symbols:
        scale = "letters"
    elif are_weights:
        scale = "small weights" if size <= _SMALL else "weights"
    largest = arb(1) if scale == "weights" else size
    has_figures = max(rows, columns) <= _FIGURED
    if places is None:
        # Those that show two digits of the largest.
        enough = (k for k in range(*_PLACES) if size * 10**k >= 10)
        places = next(enough, _PLACES[0] if not size > 0 else _PLACES[1])
    digits = places

    def cell(entry: tuple[arb | None, int, int] | None) -> HeatCell:
        if entry is None:
            return HeatCell(is_masked=True)
        middle, i, j = entry
        shade = 0.0
        # One number by itself is neither small nor large.
        if middle is not None and largest > 0 and quantity.shape and scale != "letters":
            with precision(FIRST):
                shade = max(-1.0, min(1.0, float(middle / largest)))
        return HeatCell(shade, figure(quantity, i, j, digits) if has_figures else "")

    grid = tuple(tuple(map(cell, row)) for row in sizes)
    if not all(x.figure or x.is_masked for row in grid for x in row):
        # A few of the forms in symbols would make room for others that are too long for it.
        grid = tuple(
            tuple(replace(x, figure="") if any(map(str.isalpha, x.figure)) else x for x in row)
            for row in grid
        )
    return Cells(grid, scale, (down, across))


def cells_of(solution: Solution, node: Node, places: int | None) -> Cells:
    """The cells of a quantity of a solution: weights are masked where their scores are.

    >>> from symattn.solution.solution import solve
    >>> s = solve("length-4-causal")
    >>> cells_of(s, s.program.quantities["A"], 2).rows[0][1].is_masked
    True
    """
    is_weights = node.op == "softmax"
    hiding = solution.quantity(node.operands[0] if is_weights else node)
    return cells(solution.quantity(node), places, hiding.is_masked, is_weights)


def _size(entry: tuple[arb | None, int, int]) -> arb:
    return arb(-1) if entry[0] is None else abs(entry[0])


def _middle(quantity: Quantity, i: int, j: int) -> arb | None:
    """About what an entry is, in symbols its largest coefficient; None where
    no enclosure is small enough to tell."""
    entry = EntryValue(quantity, i, j)
    try:
        if quantity.is_lettered and entry.has_symbols:
            return arb(0)
        if entry.has_symbols:
            parts = [abs(real.ball(FIRST).mid()) for _, real in entry.coefficients()]
            return max(parts, default=arb(0))
        near = entry.ball(FIRST)
    except SymattnError:
        return None
    # What may be zero is too small to be seen, if it isn't.
    return None if not near.is_finite() else arb(0) if near.contains(0) else near.mid()


def figure(quantity: Quantity, i: int, j: int, places: int) -> str:
    """An entry correctly rounded, without trailing zeros if it is that exactly;
    nothing where its digits can't be told, or are many.

    >>> from symattn.solution.solution import solve
    >>> s = solve("cat-sat-mat")
    >>> figure(s["A"], 0, 1, 2), figure(s["S"] , 0, 0, 2), figure(s["-S/8"], 0, 0, 2)
    ('0.19', '2', '−0.25')
    """
    entry = EntryValue(quantity, i, j)
    most = _LONGEST
    try:
        if entry.has_symbols:
            most = _LONGEST if quantity.is_lettered else _LONGEST_FORM
            text = _form(entry, places, quantity.rounding)
        else:
            text = _figure(entry, places, quantity.rounding)
    except SymattnError:
        return ""
    return text if len(text) <= most else ""


def _figure(entry: rounding.Real, places: int, mode: rounding.RoundingMode) -> str:
    decimal = rounding.decimal(entry, places, mode)
    text = format(decimal, "f").replace("-", MINUS)
    with precision(FIRST):
        # Most entries are told from short decimals without their closed form.
        near = entry.ball(FIRST) * 10**places
        if near.is_finite() and not near.contains_integer():
            return text
    value = entry.value
    number = value.rational() if isinstance(value, Value) else None
    is_exact = number is not None and (number * 10**places).q == 1
    return text.rstrip("0").rstrip(".") if is_exact and places else text


def _form(entry: EntryValue, places: int, mode: rounding.RoundingMode) -> str:
    """A linear form in symbols: ``g1``, ``−0.5g1 + 2``; a formula as it is written."""
    if entry.quantity.is_lettered:
        return str(entry.value).replace("-", MINUS).replace("*", "·")
    text = ""
    for symbol, real in entry.coefficients():
        digits = _figure(real, places, mode)
        if symbol and digits.removeprefix(MINUS) == "1":
            digits = digits.removesuffix("1")
        sign = MINUS if digits.startswith(MINUS) else "+"
        term = f"{digits.removeprefix(MINUS)}{symbol or ''}"
        text += f" {sign} {term}" if text else f"{MINUS if sign == MINUS else ''}{term}"
    return text


#: From this shade on, figures are white.
_DARK = 0.8
#: Shades are drawn in so many steps.
_STEPS = 32
#: Between the lines of a hatching.
_HATCH = 5.0
#: Longest label, in letters; and how far below one that is slanted its cells begin.
LABEL = 14
_SLANT = 0.7
#: How much wider cells may get for their labels to stand upright.
_WIDER = 1.6


@dataclass(frozen=True)
class Measure:
    """The sizes of heat maps: the size of figures, the least width and height of a cell with one,
    and the most width and height of all cells."""

    figures: float
    cell: tuple[float, float]
    most: tuple[float, float]


class HeatMapDrawing:
    """A heat map measured, to be drawn where there is room for it."""

    def __init__(
        self, cells: Cells, measure: Measure, rows: Sequence[str] = (), columns: Sequence[str] = ()
    ) -> None:
        self._cells = cells
        self._size = measure.figures
        self._labels = [shortened(label, LABEL) for label in rows]
        self._heads = [shortened(label, LABEL) for label in columns]
        count, across = cells.grid
        widest = max(text_width(cell.figure, self._size) for row in cells.rows for cell in row)
        heads = max((text_width(head, self._size) for head in self._heads), default=0.0)
        width, height = max(measure.cell[0], widest + 8), measure.cell[1]
        if width < heads + 8 <= _WIDER * width:
            width = heads + 8
        self.has_figures = widest > 0 and (
            width * across <= measure.most[0] and height * count <= measure.most[1]
        )
        if not self.has_figures:
            width = height = min(measure.cell[0], measure.most[0] / across, measure.most[1] / count)
        self.cell = width, height
        beside = max((text_width(label, self._size) for label in self._labels), default=0.0)
        self._are_slanted = heads > width - 4
        #: Where the cells begin, and how large everything is.
        self.left = beside + 6 if beside else 0.0
        self.top = (_SLANT * heads if self._are_slanted else 0.0) + self._size + 4 if heads else 0.0
        over = _SLANT * text_width(self._heads[-1], self._size) if self._are_slanted else 0.0
        self.across, self.down = width * across, height * count
        self.width = self.left + self.across + max(0.0, over - width / 2)
        self.height = self.top + self.down

    def parts(self, x: float, y: float) -> Iterator[str]:
        """Yield what is drawn, with the upper left corner there."""
        left, top = x + self.left, y + self.top
        yield framed((left, top), (self.across, self.down), "paper", "rule-line")
        yield from self._shades(left, top)
        yield from self._hatching(left, top)
        yield from self._figures(left, top)
        yield from self._sides(left, top)

    def _corners(self, x: float, y: float) -> Iterator[tuple[float, float, int, int]]:
        width, height = self.cell
        for i, row in enumerate(self._cells.rows):
            for j in range(len(row)):
                yield x + j * width, y + i * height, i, j

    def _shades(self, x: float, y: float) -> Iterator[str]:
        """One path for all cells of a shade."""
        width, height = self.cell
        # Large cells stand a little apart.
        gap = 1.0 if width > 8 else 0.0
        outline = f"h{number(width - gap)}v{number(height - gap)}h{number(gap - width)}z"
        paths: dict[int, str] = {}
        for left, top, i, j in self._corners(x, y):
            level = round(_STEPS * self._cells.rows[i][j].shade)
            if level:
                corner = f"M{number(left + gap / 2)} {number(top + gap / 2)}"
                paths[level] = paths.get(level, "") + corner + outline
        for level in sorted(paths):
            paint = "heat" if level > 0 else "pen"
            if self._cells.scale == "symbols":
                paint = "symbolic"
            opacity = f"{abs(level) / _STEPS:.3g}"
            yield element("path", paint, fill_opacity=opacity, d=paths[level])

    def _hatching(self, x: float, y: float) -> Iterator[str]:
        """Slanted lines in masked cells, cut off at their sides."""
        width, height = self.cell
        lines = ""
        for left, top, i, j in self._corners(x, y):
            if not self._cells.rows[i][j].is_masked:
                continue
            reach = _HATCH / 2
            while reach < width + height:
                start = max(0.0, reach - height), min(reach, height)
                end = min(reach, width), max(0.0, reach - width)
                lines += (
                    f"M{number(left + start[0])} {number(top + start[1])}"
                    f"L{number(left + end[0])} {number(top + end[1])}"
                )
                reach += _HATCH
        if lines:
            yield element("path", "hatch-line", stroke_width="0.8", d=lines)

    def _figures(self, x: float, y: float) -> Iterator[str]:
        if not self.has_figures:
            return
        width, height = self.cell
        figures = {"text": "", "on-heat": ""}
        for left, top, i, j in self._corners(x, y):
            cell = self._cells.rows[i][j]
            if cell.figure:
                paint = "on-heat" if abs(cell.shade) >= _DARK else "text"
                middle = left + width / 2, top + height / 2 + 0.35 * self._size
                figures[paint] += words(*middle, cell.figure, "")
        for paint, markup in figures.items():
            if markup:
                yield element("g", paint, markup, font_size=self._size, text_anchor="middle")

    def _sides(self, x: float, y: float) -> Iterator[str]:
        width, height = self.cell
        for i, label in enumerate(self._labels):
            at = x - 6, y + (i + 0.5) * height + 0.35 * self._size
            yield words(*at, label, "faint", font_size=self._size, text_anchor="end")
        for j, head in enumerate(self._heads):
            at = x + (j + 0.5) * width, y - 6
            if self._are_slanted:
                turned = f"rotate(-45 {number(at[0])} {number(at[1])})"
                yield words(*at, head, "faint", font_size=self._size, transform=turned)
            else:
                yield words(*at, head, "faint", font_size=self._size, text_anchor="middle")
