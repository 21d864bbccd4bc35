"""What shades and hatching mean, in a line below a drawing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from symattn.drawing.cells import Cells, HeatCell, Scale
from symattn.drawing.heatmap import HeatMapDrawing, Measure
from symattn.drawing.lettering import text_width
from symattn.drawing.svg import Panel, group, words
from symattn.languages.language import Language

_SIZE, _APART, _LINE = 11.0, 20.0, 20.0
_SWATCH = Measure(figures=_SIZE, cell=(11.0, 11.0), most=(60.0, 11.0))
#: The shades that stand for a scale.
_SHADES: dict[Scale, tuple[float, ...]] = {
    "weights": (0.0, 0.33, 0.67, 1.0),
    "small weights": (0.0, 0.33, 0.67, 1.0),
    "signed": (-1.0, -0.5, 0.0, 0.5, 1.0),
    "symbols": (0.0, 0.5, 1.0),
}


def legend(drawn: Iterable[Cells], say: Language, room: float) -> Panel:
    """What occurs in the cells that are drawn, on lines as wide as there is room."""
    entries = [*_entries([*drawn], say)]
    parts: list[str] = []
    x = y = widest = 0.0
    for swatch, text in entries:
        width = (swatch.width + 6 if swatch else 0.0) + text_width(text, _SIZE)
        if x and x + width > room:
            x, y = 0.0, y + _LINE
        if swatch:
            parts.append(group(swatch.parts(0, 0), x, y + 2))
        at = x + (swatch.width + 6 if swatch else 0.0)
        parts.append(words(at, y + 11.5, text, "faint", font_size=_SIZE))
        x += width + _APART
        widest = max(widest, x - _APART)
    return Panel(widest, y + _LINE if entries else 0.0, tuple(parts))


def _entries(drawn: list[Cells], say: Language) -> Iterator[tuple[HeatMapDrawing | None, str]]:
    scales = {cells.scale for cells in drawn}
    if "weights" in scales:
        yield _swatch("weights"), say.text("weights, from 0 to 1")
    if "small weights" in scales:
        yield _swatch("small weights"), say.text("small weights, the largest darkest")
    if "signed" in scales:
        yield _swatch("signed"), say.text("negative to positive, the largest darkest")
    if "symbols" in scales:
        yield _swatch("symbols"), say.text("symbolic, by the largest coefficient")
    if any(cell.is_hidden for cells in drawn for row in cells.rows for cell in row):
        hidden = Cells(((HeatCell(is_hidden=True), HeatCell(is_hidden=True)),), "weights", (1, 1))
        yield HeatMapDrawing(hidden, _SWATCH), say.text("masked")
    if any(cells.block != (1, 1) for cells in drawn):
        yield None, say.text("each cell of a large matrix shows the largest of several entries")


def _swatch(scale: Scale) -> HeatMapDrawing:
    row = tuple(HeatCell(shade) for shade in _SHADES[scale])
    return HeatMapDrawing(Cells((row,), scale, (1, 1)), _SWATCH)
