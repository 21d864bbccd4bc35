"""The attention pattern of a case: who attends to whom, and how much.

Each softmax of a step is a heat map, its queries as rows and its keys as
columns; where they are few, also arcs from each query to the keys it attends
to, as thick as the weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from symattn.drawing import lettering
from symattn.drawing.cells import Cells, cells
from symattn.drawing.heatmap import LABEL, HeatMapDrawing, Measure
from symattn.drawing.lettering import Runs, shortened, text_width
from symattn.drawing.svg import Panel, element, group, number, words
from symattn.languages.language import Language
from symattn.programs.axes import Axes
from symattn.programs.display import formula, names
from symattn.programs.nodes import Node, ancestors
from symattn.solution.solution import Solution

_MEASURE = Measure(figures=13.0, cell=(46.0, 34.0), most=(420.0, 420.0))
_TITLE, _LABEL, _SIDE = 16.0, 13.0, 11.0
#: Most queries and keys that arcs are drawn between.
_FEW = 8
#: How far queries stand above keys, how far apart labels stand, and the thickest arc.
_RISE, _BETWEEN, _THICK = 108.0, 18.0, 9.0
#: Between a heat map and its arcs, and the widest that both stand side by side.
_GAP, _WIDE = 40.0, 720.0
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
        scores = solution.quantity(node.operands[0])
        drawn = cells(solution.quantity(node), places, scores.is_hidden, are_weights=True)
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


def pattern(attentions: Sequence[AttentionPattern], say: Language) -> Panel:
    """The attention pattern as a part of a drawing."""
    parts: list[str] = []
    y = width = 0.0
    for attention in attentions:
        panel = _attention(attention, say)
        parts.append(group(panel.parts, 0, y))
        y += panel.height + 24
        width = max(width, panel.width)
    return Panel(width, y - 24, tuple(parts))


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
