"""Layouts of graphs of any shape, and the room that lettering is given."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.drawing import lettering
from symattn.drawing.flow import Size, layout
from symattn.expressions import syntax

from ..strategies import many

LANE = Size(3, 9, 0, 0)


@st.composite
def graphs(draw):
    """Boxes of many sizes, each of which needs some of those before it."""
    count = draw(st.integers(1, 14))
    lengths = st.floats(1, 300)
    sizes, edges = {}, []
    for k in range(count):
        sizes[f"n{k}"] = Size(*(draw(lengths) for _ in range(4)))
        needed = draw(st.lists(st.integers(0, max(k - 1, 0)), unique=True, max_size=min(k, 4)))
        edges += [(f"n{i}", f"n{k}") for i in sorted(needed)]
    return sizes, edges


@pytest.mark.heavy
@many
@given(graphs())
def test_nothing_overlaps(graph) -> None:
    """In no layer do boxes or lanes touch, and layers stand below each other; what needs
    something stands below it."""
    sizes, edges = graph
    made = layout(sizes, edges, LANE)
    extents = {(made.places[name].x, made.places[name].top): size for name, size in sizes.items()}
    assert len(extents) == len(sizes)
    lanes = {lane for way in made.ways.values() for lane in way}
    extents |= {(lane.x, lane.top): LANE for lane in lanes}
    by_layer: dict[float, list[tuple[float, float]]] = {}
    for (x, top), size in extents.items():
        by_layer.setdefault(top, []).append((x - size.left, x + size.right))
    for spans in by_layer.values():
        spans.sort()
        for (_, right), (left, _) in pairwise(spans):
            assert left - right > 11
        assert spans[0][0] >= -1e-6
        assert spans[-1][1] <= made.width + 1e-6
    for name, size in sizes.items():
        place = made.places[name]
        assert place.top <= place.line - size.above + 1e-6
        assert place.line + size.below <= place.bottom + 1e-6
    for source, target in edges:
        way = (made.places[source], *made.ways[source, target], made.places[target])
        for upper, lower in pairwise(way):
            assert lower.top - upper.bottom == pytest.approx(34)
    assert max(place.bottom for place in made.places.values()) == pytest.approx(made.height)


@pytest.mark.heavy
@many
@given(graphs())
def test_the_same_each_time(graph) -> None:
    """A layout depends on nothing but the graph."""
    sizes, edges = graph
    assert layout(sizes, edges, LANE) == layout(dict(sizes), list(edges), LANE)


def test_a_chain_is_straight() -> None:
    """What follows from one thing alone stands right below it, whatever its width."""
    sizes = {name: Size(k + 5, k + 5, 0, 20) for k, name in enumerate("abcdef")}
    made = layout(sizes, [*zip("abcde", "bcdef", strict=True)], LANE)
    assert len({place.x for place in made.places.values()}) == 1


def test_arrows_do_not_cross_without_need() -> None:
    """Of two pairs named crosswise, each stands below its own."""
    box = Size(10, 10, 0, 10)
    sizes = dict.fromkeys(["a", "b", "x", "y"], box)
    places = layout(sizes, [("a", "y"), ("b", "x")], LANE).places
    assert (places["a"].x < places["b"].x) == (places["y"].x < places["x"].x)


def written(shown: syntax.Tree) -> str:
    return "".join(run.text for run in lettering.formula(shown))


S, T = syntax.Name("S"), syntax.Name("T")


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (syntax.Product((S, syntax.Transposed(T)), "@"), "S TT"),
        (syntax.Product((S, syntax.Sum((T, syntax.Negative(S)))), "o"), "S ⊙ (T − S)"),
        (syntax.parse("(S + T) / sqrt(S + T)"), "(S + T) / √(S + T)"),
        (syntax.Sum((S, syntax.Negative(syntax.Sum((S, T))))), "S − (S + T)"),
        (syntax.Negative(syntax.Product((S, syntax.Negative(syntax.Literal("3"))))), "−S ⋅ (−3)"),
        (syntax.parse("S / (S / T)"), "S / (S / T)"),
        (syntax.parse("e**(1 / 2)"), "e1 / 2"),
        (syntax.Call("mask", (S, syntax.parse("T[0, 1:2]", letters=True))), "mask(S, T[0, 1:2])"),
    ],
)
def test_formulas(formula, text) -> None:
    """Formulas are written with the brackets that they need, and no others."""
    assert written(formula) == text


def test_levels() -> None:
    """Subscripts are lowered, transposes raised, and what follows stands on the line again."""
    shown = lettering.formula(syntax.Product((syntax.Transposed(syntax.Name("W_Q")), T), "@"))
    assert [(run.text, run.level) for run in shown] == [
        ("W", 0), ("Q", -1), ("T", 1), (" ", 0), ("T", 0),
    ]  # fmt: skip
    svg = lettering.lettering(shown, 0, 0, 10, "ink")
    moves = [float(x.partition('"')[0]) for x in svg.split('dy="')[1:]]
    assert sum(moves) == pytest.approx(0, abs=0.1)


@many
@given(st.text(min_size=1, max_size=40), st.floats(20, 300))
def test_fitted_lettering_fits(text, room) -> None:
    """What is too wide is cut off, and then it fits."""
    runs = (lettering.LetterRun(text), lettering.LetterRun(text, slanted=True, level=-1))
    assert lettering.width(lettering.fitted(runs, 12, room), 12) <= room
