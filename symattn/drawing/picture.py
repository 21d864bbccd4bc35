"""A case as a drawing: its attention pattern, its flow, and its gradients.

The attention pattern of a case: who attends to whom, and how much.

Each softmax of a step is a heat map, its queries as rows and its keys as columns; where they are
few, also arcs from each query to the keys it attends to, as thick as the weights.

What shades and hatching mean, in a line below a drawing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from symattn.cases.case import Case
from symattn.cases.settings import settings
from symattn.drawing import lettering
from symattn.drawing.flow import Flow
from symattn.drawing.heatmap import LABEL, Cells, HeatCell, HeatMapDrawing, Measure, Scale, cells_of
from symattn.drawing.lettering import (
    Panel,
    Runs,
    drawing,
    element,
    group,
    number,
    shortened,
    stacked,
    text_width,
    words,
)
from symattn.errors import Malformed, expected
from symattn.escaping import visible
from symattn.expressions import syntax
from symattn.expressions.shapes import show
from symattn.languages.language import Language
from symattn.programs.axes import Axes
from symattn.programs.display import formula, names
from symattn.programs.nodes import Node, ancestors
from symattn.solution.solution import Solution, solve

_MEASURE = Measure(figures=13.0, cell=(46.0, 34.0), most=(420.0, 420.0))
_TITLE, _LABEL, _SIDE = 16.0, 13.0, 11.0
#: Most queries and keys that arcs are drawn between.
_FEW = 8
#: How far queries stand above keys, how far apart labels stand, and the thickest arc.
_RISE, _BETWEEN, _THICK = 108.0, 18.0, 9.0
#: Between a heat map and its arcs, below them, and the widest that both stand side by side.
_GAP, _GAP_BELOW, _WIDE = 40.0, 24.0, 720.0
#: Weights below this draw no arc.
_THIN = 0.005


@dataclass(frozen=True)
class AttentionPattern:
    """The weights of one softmax: what they are called, their cells and labels."""

    name: Runs
    node: Node
    cells: Cells
    queries: tuple[str, ...]
    keys: tuple[str, ...]


def attentions(solution: Solution, places: int | None) -> list[AttentionPattern]:
    """Every softmax of the steps, those inside of steps by their formulas.

    >>> from symattn.solution.solution import solve
    >>> [(found.queries, found.keys) for found in attentions(solve("cat-sat-mat"), 2)]
    [(('cat', 'sat', 'mat'), ('cat', 'sat', 'mat'))]
    """
    program = solution.program
    named = names(program)
    called = {node.serial: name for name, node in program.quantities.items()}
    axes = Axes(program)
    softmaxes = []
    for node in ancestors(program.quantities[name] for name in program.steps):
        if node.op != "softmax":
            continue
        name = lettering.formula(formula(node, named))
        if node.serial in called:
            name = (*lettering.name(called[node.serial]), lettering.LetterRun(" = "), *name)
        drawn = cells_of(solution, node, places)
        queries, keys = (_labels(solution, axes, node, drawn, axis) for axis in (0, 1))
        softmaxes.append(AttentionPattern(name, node, drawn, queries, keys))
    return softmaxes


def _labels(solution: Solution, axes: Axes, node: Node, drawn: Cells, axis: int) -> tuple[str, ...]:
    """The tokens along an axis, if it runs over them as the output's rows do; else
    the numbers of its rows or columns, of a large one those that cells begin with."""
    tokens = solution.case.tokens
    output = solution.program.quantities[solution.case.output]
    count, step = drawn.grid[axis], drawn.block[axis]
    if node.grid[axis] == len(tokens) and axes.same(node, axis, output, 0):
        return tuple(tokens[::step])
    return tuple(str(step * k) for k in range(count))


def _attention(attention: AttentionPattern, say: Language) -> Panel:
    heat = HeatMapDrawing(attention.cells, _MEASURE, attention.queries, attention.keys)
    queries, keys = say.text("queries"), say.text("keys")
    title = lettering.fitted(attention.name, _TITLE, _WIDE)
    # Beside the rows stands what they are, above the columns what those are.
    left, top = 18.0, 46.0
    width = left + heat.width
    middle = top + heat.top + heat.down / 2
    turned = f"rotate(-90 10 {number(middle)})"
    parts = [
        lettering.lettering(title, 0, 16, _TITLE, "ink"),
        words(
            left + heat.left + heat.across / 2, top - 8, keys, "faint",
            font_size=_SIDE, text_anchor="middle",
        ),
        words(
            10, middle, queries, "faint", font_size=_SIDE, text_anchor="middle",
            transform=turned,
        ),
        *heat.parts(left, top),
    ]  # fmt: skip
    height = top + heat.height
    if max(len(attention.queries), len(attention.keys)) <= _FEW:
        arcs = _arcs(attention, queries, keys)
        beside = width + _GAP + arcs.width <= _WIDE
        x, y = (width + _GAP, 30.0) if beside else (0.0, height + 16)
        parts.append(group(arcs.parts, x, y))
        width, height = max(width, x + arcs.width), max(height, y + arcs.height)
    return Panel(max(width, lettering.width(title, _TITLE)), height, tuple(parts))


def _arcs(attention: AttentionPattern, queries: str, keys: str) -> Panel:
    """Queries above, keys below, and arcs from each query to what it attends to."""
    upper = [shortened(label, LABEL) for label in attention.queries]
    lower = [shortened(label, LABEL) for label in attention.keys]
    side = max(text_width(text, _SIDE) for text in (queries, keys)) + 14
    widest = max(text_width(label, _LABEL) for label in (*upper, *lower))
    apart = max(widest + _BETWEEN, 46.0)
    count = max(len(upper), len(lower))
    top, bottom = 24.0, 24.0 + _RISE
    width = side + apart * count

    def place(k: int, length: int) -> float:
        return side + apart * (k + 0.5 + (count - length) / 2)

    ends = [[place(k, len(labels)) for k in range(len(labels))] for labels in (upper, lower)]
    parts = [
        words(0, top - 4, queries, "faint", font_size=_SIDE),
        words(0, bottom + 14, keys, "faint", font_size=_SIDE),
        *_bundle(attention.cells, ends, top, bottom),
    ]
    for labels, places, y in ((upper, ends[0], top - 4), (lower, ends[1], bottom + 14)):
        parts += [
            words(x, y, label, "text", font_size=_LABEL, text_anchor="middle")
            for x, label in zip(places, labels, strict=True)
        ]
    return Panel(width, bottom + 22, tuple(parts))


def _bundle(drawn: Cells, ends: list[list[float]], top: float, bottom: float) -> Iterator[str]:
    """The arcs, the faintest first."""
    weights = [(cell.shade, i, j) for i, row in enumerate(drawn.rows) for j, cell in enumerate(row)]
    for weight, i, j in sorted(weights):
        if weight < _THIN:
            continue
        x, end, bend = ends[0][i], ends[1][j], _RISE * 0.5
        path = (
            f"M{number(x)} {number(top)}C{number(x)} {number(top + bend)} "
            f"{number(end)} {number(bottom - bend)} {number(end)} {number(bottom)}"
        )
        yield element(
            "path", "heat-line", stroke_width=f"{max(_THICK * weight, 0.4):.3g}",
            stroke_opacity=f"{0.25 + 0.6 * weight:.3g}", d=path,
        )  # fmt: skip


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
    """Return what occurs in the cells that are drawn, on lines as wide as there is room."""
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
    meanings: dict[Scale, str] = {
        "weights": say.text("weights, from 0 to 1"),
        "small weights": say.text("small weights, the largest boldest"),
        "signed": say.text("negative to positive, the largest boldest"),
        "symbols": say.text("symbolic, by the largest coefficient"),
    }
    scales = {cells.scale for cells in drawn}
    for scale, meaning in meanings.items():
        if scale in scales:
            row = tuple(HeatCell(shade) for shade in _SHADES[scale])
            yield HeatMapDrawing(Cells((row,), scale, (1, 1)), _SWATCH), meaning
    if any(cell.is_masked for cells in drawn for row in cells.rows for cell in row):
        masked = Cells(((HeatCell(is_masked=True), HeatCell(is_masked=True)),), "weights", (1, 1))
        yield HeatMapDrawing(masked, _SWATCH), say.text("masked")
    if any(cells.block != (1, 1) for cells in drawn):
        yield None, say.text("each cell of a large matrix shows the largest of several entries")


#: What there is to draw.
What = Literal["pattern", "flow", "gradients", "all"]
WHAT: tuple[What, ...] = get_args(What)

#: Most places that figures in a drawing have.
_MOST_PLACES = 6
#: A legend is at least so wide before it takes another line; and the most that a
#: description tells one by one.
_LEGEND, _TOLD = 420.0, 64


def draw(
    case: str | Path | Case | Solution,
    what: What = "all",
    places: int | None = None,
    language: str | None = None,
) -> str:
    """A case as SVG, one file that loads nothing: for a browser, a page or a slide.

    ``what`` is ``pattern`` (every softmax: who attends to whom), ``flow`` (the steps as a graph, a
    heat map each), ``gradients`` (the flow with the gradient of every value beside it) or ``all``
    (the pattern above the flow with its gradients). Figures have 0 to 6 ``places``, correctly
    rounded; without, as many as show two digits of the largest of each quantity. ``language`` is
    that of the case's sheets unless told. Raises :class:`Malformed` for other values, where there
    are no steps, and where a pattern is asked for and there is no softmax.

    >>> draw("cat-sat-mat", "pattern").startswith("<svg ")
    True
    """
    if what not in WHAT:
        raise Malformed(f"unknown drawing {what!r}: {expected(what, WHAT)}")
    _need_places(places)
    solution = case if isinstance(case, Solution) else solve(case)
    if not solution.case.steps:
        raise Malformed(f"{solution.case.name} has no steps: nothing to draw")
    say = settings(solution.case.sheet, {"language": language} if language else {}).say
    softmaxes = attentions(solution, places) if what in ("pattern", "all") else []
    if what == "pattern" and not softmaxes:
        raise Malformed("no step is a softmax, so nothing attends: draw the flow")
    panels: list[Panel] = []
    drawn: list[Cells] = [attention.cells for attention in softmaxes]
    sentences = [line for attention in softmaxes for line in _attending(attention, say)]
    if softmaxes:
        panels.append(stacked((_attention(each, say) for each in softmaxes), _GAP_BELOW, at=0.0))
    if what != "pattern":
        flow = Flow(solution, places, what != "flow")
        panels.append(flow.panel())
        drawn += flow.cells
        sentences += _flowing(solution, say)
    room = max(_LEGEND, *(panel.width for panel in panels))
    panels.append(legend(drawn, say, room))
    called = {"pattern": say.text("attention pattern"), "flow": say.text("flow")}
    kind = called.get(what, say.text("flow and gradients"))
    title = f"{solution.case.title or solution.case.name}: {kind}"
    return drawing(stacked(panels), title, " ".join(sentences), say.tag)


def draw_quantity(solution: Solution, expression: str, places: int | None = None) -> str:
    """One quantity as a heat map: SVG like :func:`draw`.

    ``expression`` is a step, or an expression over steps. Raises :class:`Malformed` where it
    can't be read, and for more than 6 places.

    >>> from symattn.solution.solution import solve
    >>> draw_quantity(solve("cat-sat-mat"), "A").startswith("<svg ")
    True
    """
    _need_places(places)
    tree = syntax.parse(expression)
    node = solution.program.lower_tree(tree)
    say = settings(solution.case.sheet).say
    drawn = cells_of(solution, node, places)
    sides = [solution.tokens(node, axis)[:: drawn.block[axis]] for axis in (0, 1)]
    heat = HeatMapDrawing(drawn, _MEASURE, *sides)
    panel = Panel(heat.width, heat.height, tuple(heat.parts(0, 0)))
    panels = stacked([panel, legend([drawn], say, max(_LEGEND, panel.width))])
    return drawing(panels, visible(expression), _entries_told(drawn, say), say.tag)


def _entries_told(drawn: Cells, say: Language) -> str:
    """The figures of a heat map, row by row, where they can be told one by one."""
    rows, columns = drawn.grid
    if rows * columns > _TOLD:
        return ""
    return "; ".join(
        ", ".join(say.text("masked") if cell.is_masked else cell.figure for cell in row)
        for row in drawn.rows
    )


def _need_places(places: int | None) -> None:
    if places is not None and not 0 <= places <= _MOST_PLACES:
        raise Malformed(f"expected 0 to {_MOST_PLACES} places in a drawing, found {places}")


def _attending(attention: AttentionPattern, say: Language) -> Iterator[str]:
    """Yield who attends to whom, in words, where that can be told one by one."""
    name = "".join(run.text for run in attention.name)
    yield say.text(
        "{name}: {queries} queries attend to {keys} keys.",
        name=name,
        queries=attention.node.grid[0],
        keys=attention.node.grid[1],
    )
    if len(attention.queries) * len(attention.keys) > _TOLD:
        return
    for query, row in zip(attention.queries, attention.cells.rows, strict=True):
        weights = [
            f"{key} {say.text('masked') if cell.is_masked else cell.figure}"
            for key, cell in zip(attention.keys, row, strict=True)
        ]
        yield say.text("{query} attends to {weights}.", query=query, weights=", ".join(weights))


def _flowing(solution: Solution, say: Language) -> Iterator[str]:
    """Yield what each quantity is, in words."""
    for name, node in solution.program.quantities.items():
        shape = show(node.shape)
        if name in solution.case.steps:
            step = solution.case.steps[name]
            yield say.text("{name} = {step}, {shape}.", name=name, step=step, shape=shape)
        else:
            yield say.text("{name} is given, {shape}.", name=name, shape=shape)
