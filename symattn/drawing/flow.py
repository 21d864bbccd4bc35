"""The flow of a case: its program as a graph, each quantity with its heat map.

Each step stands below what it needs, with its operation above it. With the
gradients, each value has the gradient of the loss beside it, in the red of the
pen; there the arrows go back up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from symattn.drawing import lettering
from symattn.drawing.heatmap import Cells, HeatMapDrawing, Measure, cells
from symattn.drawing.layout import BoxPlace, Layout, Size, layout
from symattn.drawing.lettering import LetterRun, Panel, Runs, element, framed, number, words
from symattn.programs.display import formula, names
from symattn.programs.enclosures import Axes
from symattn.programs.nodes import Node, ancestors, arguments
from symattn.programs.program import Program
from symattn.shapes import Shape
from symattn.solution.solution import Solution
from symattn.syntax import gradient_name

#: Heat maps in boxes, and the sizes of names and of formulas.
_MEASURE = Measure(figures=10.5, cell=(21.0, 20.0), most=(208.0, 208.0))
_NAME, _FORMULA, _SHAPE = 14.0, 12.0, 10.5
#: Inside of boxes: to each side, the line of the name, and below it.
_PAD, _HEAD = 8.0, 21.0
#: An operation: its height, its widest, and the way from it to its box.
_PILL, _WIDEST, _STEM = 20.0, 190.0, 12.0
#: Between a value and its gradient, and the widths of lanes without and with gradients.
_PAIR, _LANE, _LANES = 14.0, 6.0, 18.0
_RADIUS = 6.0


def edges(program: Program) -> list[tuple[str, str]]:
    """Which quantities each step uses.

    >>> from symattn.solution.solution import solve
    >>> edges(solve("cat-sat-mat").program)[3:7]
    [('Q', 'S'), ('K', 'S'), ('d_k', 'T'), ('S', 'T')]
    """
    called = {node.serial: name for name, node in program.quantities.items()}
    pairs = []
    for name in program.steps:
        step = program.quantities[name]
        inside = ancestors(arguments(step), stop=lambda x: x.serial in called, through=arguments)
        direct = (x for node in (step, *inside) for x in arguments(node))
        used = {called[x.serial] for x in direct if x.serial in called}
        pairs += [(source, name) for source in program.quantities if source in used]
    return pairs


@dataclass(frozen=True)
class _Box:
    """A quantity or a gradient as it is drawn: its name, its heat map, its operation."""

    name: Runs
    shape: str
    map: HeatMapDrawing
    operation: Runs
    is_given: bool
    is_gradient: bool

    @property
    def pill(self) -> float:
        """The width of the operation; 0 without one."""
        return lettering.width(self.operation, _FORMULA) + 18 if self.operation else 0.0

    @property
    def inner(self) -> float:
        """The width of the frame."""
        head = lettering.width(self.name, _NAME) + lettering.text_width(self.shape, _SHAPE) + 10
        return max(self.map.width, head) + 2 * _PAD

    @property
    def width(self) -> float:
        """The width of everything."""
        return max(self.inner, self.pill)

    @property
    def height(self) -> float:
        """The height of the frame."""
        return _HEAD + self.map.height + _PAD


class Flow:
    """The flow of a solution, laid out; ``backward`` with the gradients."""

    def __init__(self, solution: Solution, places: int | None, backward: bool) -> None:
        self._solution = solution
        self._program = solution.program
        self._axes = Axes(solution.program)
        self._places = places
        self.cells: list[Cells] = []
        self._named = names(solution.program)
        self._edges = edges(self._program)
        self.boxes: Mapping[str, _Box] = {
            name: self._box(name, node, is_gradient=False)
            for name, node in self._program.quantities.items()
        }
        self.gradients: Mapping[str, _Box] = {
            name: self._box(gradient_name(name), self._program.gradients[name], is_gradient=True)
            for name in (_differentiated(solution, self._edges) if backward else ())
        }
        sizes = {name: self._size(name) for name in self.boxes}
        lane = Size(_LANE / 2, (_LANES if backward else _LANE) - _LANE / 2, 0.0, 0.0)
        self.layout: Layout = layout(sizes, self._edges, lane)

    def panel(self) -> Panel:
        """The flow as a part of a drawing."""
        parts = [*self._arrows(), *self._arrows_back()]
        for name, box in self.boxes.items():
            place = self.layout.places[name]
            parts += _drawn(box, place.x, place.line)
            if name in self.gradients:
                parts += _drawn(self.gradients[name], self._gradient(name), place.line)
        return Panel(self.layout.width, self.layout.height, tuple(parts))

    # -- boxes ----------------------------------------------------------------------------

    def _box(self, name: str, node: Node, is_gradient: bool) -> _Box:
        quantity = self._solution.quantity(node, name)
        is_weights = node.op == "softmax"
        hiding = self._solution.quantity(node.operands[0]) if is_weights else quantity
        drawn = cells(quantity, self._places, hiding.is_masked, is_weights)
        self.cells.append(drawn)
        tokens = self._tokens(node) if name in self._ends() else ()
        is_given = node.op == "given"
        operation: Runs = ()
        if not is_given:
            operation = lettering.formula(formula(node, self._named))
            if node.op == "copy":
                operation = (LetterRun("= "), *operation)
            operation = lettering.fitted(operation, _FORMULA, _WIDEST)
        return _Box(
            lettering.fitted(lettering.name(name), _NAME, _WIDEST),
            _shape(node.shape),
            HeatMapDrawing(drawn, _MEASURE, tokens),
            operation,
            is_given,
            is_gradient,
        )

    def _ends(self) -> Iterator[str]:
        """The quantities whose rows are labelled: where the tokens come in, and the output."""
        yield from self._program.given
        yield self._solution.case.output

    def _tokens(self, node: Node) -> tuple[str, ...]:
        """The tokens, where the rows run over them as the output's do."""
        tokens = self._solution.case.tokens
        output = self._program.quantities[self._solution.case.output]
        alike = node.grid[0] == len(tokens) and self._axes.same(node, 0, output, 0)
        return tokens if alike else ()

    def _size(self, name: str) -> Size:
        box, gradient = self.boxes[name], self.gradients.get(name)
        above = _PILL + _STEM if box.operation else 0.0
        side = box.width / 2
        if gradient is None:
            return Size(side, side, above, box.height)
        below = gradient.height + (_PILL + _STEM if gradient.operation else 0.0)
        return Size(side, side + _PAIR + gradient.width, above, max(box.height, below))

    def _gradient(self, name: str) -> float:
        """The middle of a gradient."""
        beside = (self.boxes[name].width + self.gradients[name].width) / 2
        return self.layout.places[name].x + beside + _PAIR

    # -- arrows ---------------------------------------------------------------------------

    def _arrows(self) -> Iterator[str]:
        for target in self._program.steps:
            sources = [source for source, end in self._edges if end == target]
            # From left to right, as they arrive.
            arrived = {x: self._last(x, target).x for x in sources}
            sources.sort(key=arrived.__getitem__)
            box, place = self.boxes[target], self.layout.places[target]
            for source, port in zip(sources, _ports(len(sources), box.pill), strict=True):
                here = self.layout.places[source]
                start = here.x, here.line + self.boxes[source].height
                end = place.x + port, place.line - _STEM - _PILL
                way = self.layout.ways[source, target]
                bends = _bends(start, here.bottom, way, 0.0, (end[0], place.top), end)
                yield _line(bends, "ink-line")
                yield _head(end, 1, "ink")

    def _last(self, source: str, target: str) -> BoxPlace:
        return (self.layout.places[source], *self.layout.ways[source, target])[-1]

    def _arrows_back(self) -> Iterator[str]:
        """From the gradient of each step up to those of what it uses."""
        flowing = [(x, y) for x, y in self._edges if x in self.gradients and y in self.gradients]
        for source in self._program.quantities:
            users = [user for x, user in flowing if x == source]
            firsts = {y: (*self.layout.ways[source, y], self.layout.places[y])[0].x for y in users}
            users.sort(key=firsts.__getitem__)
            if not users:
                continue
            box, here = self.gradients[source], self.layout.places[source]
            reach = box.height + (_STEM + _PILL if box.operation else 0.0)
            for user, port in zip(users, _ports(len(users), box.pill), strict=True):
                there = self.layout.places[user]
                start = self._gradient(source) + port, here.line + reach
                end = self._gradient(user), there.line
                way = self.layout.ways[source, user]
                bends = _bends(start, here.bottom, way, _LANES - _LANE, (end[0], there.top), end)
                yield _line(bends, "pen-line")
                yield _head(start, -1, "on-pen")


def _differentiated(solution: Solution, flows: list[tuple[str, str]]) -> list[str]:
    """The quantities whose gradients are drawn: those that are asked for, and
    those on the way to them."""
    wanted = set(solution.case.wrt)
    for source, target in flows:
        if source in wanted:
            wanted.add(target)
    return [name for name in solution.program.gradients if name in wanted]


def _shape(shape: Shape) -> str:
    return "\N{MULTIPLICATION SIGN}".join(map(str, shape))


def _ports(count: int, room: float) -> list[float]:
    """Where so many arrows meet an operation, from its middle."""
    apart = min(14.0, max(room - 12, 0.0) / max(count - 1, 1))
    return [(k - (count - 1) / 2) * apart for k in range(count)]


_Point = tuple[float, float]


def _bends(
    start: _Point,
    bottom: float,
    way: tuple[BoxPlace, ...],
    shift: float,
    arrival: _Point,
    end: _Point,
) -> list[tuple[_Point, _Point]]:
    """The upright pieces of an arrow: out of its layer, along lanes, and in."""
    lanes = [((lane.x + shift, lane.top), (lane.x + shift, lane.bottom)) for lane in way]
    return [(start, (start[0], bottom)), *lanes, (arrival, end)]


def _line(pieces: list[tuple[_Point, _Point]], paint: str) -> str:
    """Upright pieces joined by curves."""
    (x, y), _ = pieces[0]
    path = f"M{number(x)} {number(y)}"
    for place, ((x, top), (_, bottom)) in enumerate(pieces):
        if place:
            before, y = pieces[place - 1][1]
            middle = (y + top) / 2
            path += (
                f"C{number(before)} {number(middle)} {number(x)} {number(middle)} "
                f"{number(x)} {number(top)}"
            )
        path += f"V{number(bottom)}"
    return element("path", paint, stroke_width="1.2", stroke_opacity="0.8", d=path)


def _head(at: _Point, down: int, paint: str) -> str:
    """The head of an arrow that ends there."""
    x, y = at
    back = y - 6 * down
    corners = f"{number(x)},{number(y)} {number(x - 3.2)},{number(back)} "
    return element("polygon", paint, points=f"{corners}{number(x + 3.2)},{number(back)}")


def _drawn(box: _Box, x: float, top: float) -> Iterator[str]:
    """A box whose frame begins there, with its operation above it, or below that of
    a gradient."""
    line, paint = ("pen-line", "on-pen") if box.is_gradient else ("ink-line", "ink")
    if box.operation:
        down = -1 if box.is_gradient else 1
        end = top + box.height if box.is_gradient else top
        start = end - down * _STEM
        pill = start if box.is_gradient else start - _PILL
        yield framed((x - box.pill / 2, pill), (box.pill, _PILL), "soft", line, _PILL / 2, "0.6")
        yield lettering.lettering(
            box.operation, x, pill + 14, _FORMULA, "text", text_anchor="middle"
        )
        yield _line([((x, start), (x, end))], line)
        yield _head((x, end), down, paint)
    left = x - box.inner / 2
    inside = "soft" if box.is_given else "paper"
    yield framed((left, top), (box.inner, box.height), inside, line, _RADIUS, "0.6")
    yield lettering.lettering(box.name, left + _PAD, top + 15, _NAME, paint, font_weight="bold")
    if box.shape:
        right = left + box.inner - _PAD
        yield words(right, top + 15, box.shape, "faint", font_size=_SHAPE, text_anchor="end")
    yield from box.map.parts(x - box.map.width / 2, top + _HEAD)
