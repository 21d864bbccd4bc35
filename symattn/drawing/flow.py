"""The flow of a case: its program as a graph, each quantity with its heat map.

Each step stands below what it needs, with its operation above it. With the gradients, each value
has the gradient of the loss beside it, in the red of the pen; there the arrows go back up.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum

from symattn.drawing import lettering
from symattn.drawing.heatmap import Cells, HeatMapDrawing, Measure, cells_of
from symattn.drawing.lettering import LetterRun, Panel, Runs, element, framed, number, words
from symattn.expressions.syntax import gradient_name
from symattn.programs.display import formula, names
from symattn.programs.nodes import Node, ancestors, arguments
from symattn.programs.program import Program
from symattn.solution.solution import Solution

# -- where the boxes of a graph stand -----------------------------------------------------
# In layers, from top to bottom: what a box needs stands above it. In each layer boxes are put in
# an order with few crossings, then moved as near to their neighbours as they can get without
# touching: a least-squares problem for each layer, which pooling adjacent violators solves
# exactly. An arrow past a layer has a lane of its own there, so that it meets no box; arrows from
# one box share it. At last what follows from one thing alone is put right below it, and lanes are
# made straight, where there is room.

#: Between boxes of a layer, beside a lane, and between layers.
_APART, _BESIDE, _BETWEEN = 22.0, 12.0, 34.0
#: How often layers are put in order, and their boxes moved.
_ORDERED, _MOVED = 8, 24
#: How much more than others what belongs in one column wants to stand there.
_STRAIGHT = 8.0


@dataclass(frozen=True)
class Size:
    """The reach of a box from its middle, and from the line of its layer, to each side."""

    left: float
    right: float
    above: float
    below: float


@dataclass(frozen=True)
class BoxPlace:
    """The place of a box, or of the lane of an arrow through a layer: its middle, the line of its
    layer, and where the layer begins and ends."""

    x: float
    line: float
    top: float
    bottom: float


@dataclass(frozen=True)
class Layout:
    """The places of boxes by name, the way of each arrow past layers, and the size of all."""

    places: Mapping[str, BoxPlace]
    ways: Mapping[tuple[str, str], tuple[BoxPlace, ...]]
    width: float
    height: float


#: A box by its name, or the lane of the arrows of a box through a layer.
_Spot = str | tuple[str, int]


def layout(sizes: Mapping[str, Size], edges: Sequence[tuple[str, str]], lane: Size) -> Layout:
    """The layout of boxes, named in an order in which each needs earlier ones
    only; ``lane`` is the size of a lane.

    >>> box = Size(20, 20, 0, 20)
    >>> made = layout({"X": box, "Q": box, "K": box}, [("X", "Q"), ("X", "K")], Size(4, 4, 0, 0))
    >>> [(round(place.x), place.line) for place in made.places.values()]
    [(51, 0.0), (20, 54.0), (82, 54.0)]
    """
    level = _levels(sizes, edges)
    layers: list[list[_Spot]] = [[] for _ in range(1 + max(level.values()))]
    for name in sizes:
        layers[level[name]].append(name)
    last = {name: level[name] for name in sizes}
    for source, target in edges:
        last[source] = max(last[source], level[target] - 1)
    for name in sizes:
        for k in range(level[name] + 1, last[name] + 1):
            layers[k].append((name, k))

    def spot(name: str, k: int) -> _Spot:
        return name if k == level[name] else (name, k)

    links: dict[tuple[_Spot, _Spot], None] = {}
    for source, target in edges:
        for k in range(level[source], level[target] - 1):
            links[spot(source, k), spot(source, k + 1)] = None
        links[spot(source, level[target] - 1), target] = None
    above: dict[_Spot, list[_Spot]] = {x: [] for layer in layers for x in layer}
    below: dict[_Spot, list[_Spot]] = {x: [] for layer in layers for x in layer}
    for upper, lower in links:
        above[lower].append(upper)
        below[upper].append(lower)
    layers = _ordered(layers, above, below)
    extents = {x: sizes[x] if isinstance(x, str) else lane for x in above}
    columns = _columns(layers, above, below)
    middles = _moved(layers, above, below, extents, columns)
    _straighten(middles, layers, extents, columns)
    left = min(middles[x] - extents[x].left for x in middles)
    right = max(middles[x] + extents[x].right for x in middles)
    places: dict[_Spot, BoxPlace] = {}
    top = 0.0
    for layer in layers:
        boxes = [sizes[x] for x in layer if isinstance(x, str)]
        line = top + max((box.above for box in boxes), default=0.0)
        bottom = line + max((box.below for box in boxes), default=0.0)
        for x in layer:
            places[x] = BoxPlace(middles[x] - left, line, top, bottom)
        top = bottom + _BETWEEN
    ways = {
        (source, target): tuple(places[source, k] for k in range(level[source] + 1, level[target]))
        for source, target in edges
    }
    named = {name: places[name] for name in sizes}
    return Layout(named, ways, right - left, top - _BETWEEN)


def _levels(names: Iterable[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The layer of each box: below all it needs; what needs nothing just above its first use."""
    needs: dict[str, list[str]] = {name: [] for name in names}
    uses: dict[str, list[str]] = {name: [] for name in needs}
    for source, target in edges:
        needs[target].append(source)
        uses[source].append(target)
    level: dict[str, int] = {}
    for name, sources in needs.items():
        level[name] = 1 + max((level[source] for source in sources), default=-1)
    for name, targets in uses.items():
        if targets and not needs[name]:
            level[name] = min(level[target] for target in targets) - 1
    return level


# -- order ------------------------------------------------------------------------------

_Links = Mapping[_Spot, Sequence[_Spot]]


def _ordered(layers: list[list[_Spot]], above: _Links, below: _Links) -> list[list[_Spot]]:
    """The layers with their boxes in an order with few crossings: each moved to
    the mean place of its neighbours, down and up in turns; the best is taken."""
    current = [list(layer) for layer in layers]
    best, fewest = current, _crossings(current, below)
    for turn in range(_ORDERED):
        if not fewest:
            break
        down = turn % 2 == 0
        current = [list(layer) for layer in current]
        walk = range(1, len(current)) if down else range(len(current) - 2, -1, -1)
        for k in walk:
            near = {x: i for i, x in enumerate(current[k - 1 if down else k + 1])}
            links = above if down else below
            wanted = {
                x: fsum(near[y] for y in links[x]) / len(links[x]) if links[x] else float(i)
                for i, x in enumerate(current[k])
            }
            current[k].sort(key=wanted.__getitem__)
        if (crossings := _crossings(current, below)) < fewest:
            best, fewest = current, crossings
    return best


def _crossings(layers: list[list[_Spot]], below: _Links) -> int:
    """Return how many pairs of arrows cross between neighbouring layers."""
    count = 0
    for upper, lower in pairwise(layers):
        near = {x: i for i, x in enumerate(lower)}
        seen: list[int] = []
        for x in upper:
            ends = sorted(near[y] for y in below[x])
            count += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return count


# -- places -----------------------------------------------------------------------------


def _columns(layers: list[list[_Spot]], above: _Links, below: _Links) -> list[list[_Spot]]:
    """Return what belongs in one column: a box and its lanes, and a box below the one
    that it alone follows from, besides what is given."""
    columns: dict[_Spot, list[_Spot]] = {}
    for layer in layers:
        for x in layer:
            computed = [y for y in above[x] if above[y] or isinstance(x, tuple)]
            alone = len(computed) == 1 and (isinstance(x, tuple) or list(below[computed[0]]) == [x])
            columns[x] = columns[computed[0]] if alone else []
            columns[x].append(x)
    return [column for x, column in columns.items() if column[0] == x]


def _moved(
    layers: list[list[_Spot]],
    above: _Links,
    below: _Links,
    extents: Mapping[_Spot, Size],
    columns: list[list[_Spot]],
) -> dict[_Spot, float]:
    """The middles of all boxes, as near to those of their neighbours as they can get."""
    column = {x: place for place, members in enumerate(columns) for x in members}
    middles: dict[_Spot, float] = {}
    for layer in layers:
        # To begin with, each layer has its middle at 0.
        offsets = _offsets(layer, extents)
        middles |= {x: at - offsets[-1] / 2 for x, at in zip(layer, offsets, strict=True)}
    for turn in range(_MOVED):
        for layer in layers if turn % 2 == 0 else layers[::-1]:
            wanted, weights = [], []
            for x in layer:
                near = [
                    (middles[y], _STRAIGHT if column[x] == column[y] else 1.0)
                    for y in (*above[x], *below[x])
                ]
                total = fsum(weight for _, weight in near)
                wanted.append(
                    fsum(at * weight for at, weight in near) / total if near else middles[x]
                )
                weights.append(total or 0.1)
            for x, at in zip(layer, _apart(layer, wanted, weights, extents), strict=True):
                middles[x] = at
    return middles


def _straighten(
    middles: dict[_Spot, float],
    layers: list[list[_Spot]],
    extents: Mapping[_Spot, Size],
    columns: list[list[_Spot]],
) -> None:
    """Put columns upright, the longest first, where nothing is in their way."""
    left: dict[_Spot, tuple[_Spot, float]] = {}
    right: dict[_Spot, tuple[_Spot, float]] = {}
    for layer in layers:
        places = zip(layer, _offsets(layer, extents), strict=True)
        for (x, at), (y, then) in pairwise(places):
            left[y], right[x] = (x, then - at), (y, then - at)
    for column in sorted(columns, key=len, reverse=True):
        low, high = float("-inf"), float("inf")
        for x in column:
            if x in left:
                low = max(low, middles[left[x][0]] + left[x][1])
            if x in right:
                high = min(high, middles[right[x][0]] - right[x][1])
        if low <= high:
            mean = fsum(middles[x] for x in column) / len(column)
            middles |= dict.fromkeys(column, min(max(mean, low), high))


def _offsets(layer: Sequence[_Spot], extents: Mapping[_Spot, Size]) -> list[float]:
    """Return how far each box is at least from the first of its layer, middle to middle."""
    offsets = [0.0]
    for x, y in pairwise(layer):
        beside = isinstance(x, tuple) or isinstance(y, tuple)
        apart = _BESIDE if beside else _APART
        offsets.append(offsets[-1] + extents[x].right + apart + extents[y].left)
    return offsets


def _apart(
    layer: Sequence[_Spot],
    wanted: Sequence[float],
    weights: Sequence[float],
    extents: Mapping[_Spot, Size],
) -> list[float]:
    """The places nearest to those wanted, by weighted squares, at which no two boxes touch. Less
    their offsets places may only grow, so neighbours that would not are pooled at their mean."""
    offsets = _offsets(layer, extents)
    pools: list[tuple[float, float, int]] = []
    for want, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, total, count = want - offset, weight, 1
        while pools and pools[-1][0] > mean:
            before, heavy, many = pools.pop()
            mean = (before * heavy + mean * total) / (heavy + total)
            total, count = heavy + total, many + count
        pools.append((mean, total, count))
    base = [mean for mean, _, count in pools for _ in range(count)]
    return [at + offset for at, offset in zip(base, offsets, strict=True)]


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
    """Return which quantities each step uses.

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
        drawn = cells_of(self._solution, node, self._places)
        self.cells.append(drawn)
        # Where the tokens come in, and at the output, rows are labelled.
        ends = *self._program.given, self._solution.case.output
        tokens = self._solution.tokens(node, 0)[:: drawn.block[0]] if name in ends else ()
        is_given = node.op == "given"
        operation: Runs = ()
        if not is_given:
            operation = lettering.formula(formula(node, self._named))
            if node.op == "copy":
                operation = (LetterRun("= "), *operation)
            operation = lettering.fitted(operation, _FORMULA, _WIDEST)
        return _Box(
            lettering.fitted(lettering.name(name), _NAME, _WIDEST),
            "\N{MULTIPLICATION SIGN}".join(map(str, node.shape)),
            HeatMapDrawing(drawn, _MEASURE, tokens),
            operation,
            is_given,
            is_gradient,
        )

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
            lasts = {x: (self.layout.places[x], *self.layout.ways[x, target])[-1] for x in sources}
            arrived = {x: last.x for x, last in lasts.items()}
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


def _ports(count: int, room: float) -> list[float]:
    """Return where so many arrows meet an operation, from its middle."""
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
    """A box whose frame begins there, with its operation above it, or below that of a gradient."""
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
