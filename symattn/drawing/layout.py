"""Where the boxes of a graph stand: in layers, from top to bottom.

What a box needs stands above it. In each layer boxes are put in an order with
few crossings, then moved as near to their neighbours as they can get without
touching: a least-squares problem for each layer, which pooling adjacent
violators solves exactly. An arrow past a layer has a lane of its own there, so
that it meets no box; arrows from one box share it. At last what follows from
one thing alone is put right below it, and lanes are made straight, where there
is room.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum

#: Between boxes of a layer, beside a lane, and between layers.
_APART, _BESIDE, _BETWEEN = 22.0, 12.0, 34.0
#: How often layers are put in order, and their boxes moved.
_ORDERED, _MOVED = 8, 24
#: How much more than others what belongs in one column wants to stand there.
_STRAIGHT = 8.0


@dataclass(frozen=True)
class Size:
    """How far a box reaches from its middle, and from the line of its layer, to each side."""

    left: float
    right: float
    above: float
    below: float


@dataclass(frozen=True)
class BoxPlace:
    """Where a box, or the lane of an arrow through a layer, stands: its middle, the line
    of its layer, and where the layer begins and ends."""

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
    """How many pairs of arrows cross between neighbouring layers."""
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
    """What belongs in one column: a box and its lanes, and a box below the one
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
    """How far each box is at least from the first of its layer, middle to middle."""
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
    """The places nearest to those wanted, by weighted squares, at which no two
    boxes touch. Less their offsets places may only grow, so neighbours that
    would not are pooled at their mean."""
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
