"""Cells as a heat map: shades, figures where they fit, hatching where masked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from symattn.drawing.cells import Cells
from symattn.drawing.lettering import shortened, text_width
from symattn.drawing.svg import element, framed, number, words

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
    """How large heat maps are drawn: the size of figures, the least width and height of
    a cell with one, and the most width and height of all cells."""

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
        """What is drawn, with the upper left corner there."""
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
            if not self._cells.rows[i][j].is_hidden:
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
