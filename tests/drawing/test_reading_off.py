"""What can be read off a drawing: figures, shades, labels, arcs, and what is told in words."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import symattn
from symattn.cases.case import Case
from symattn.drawing.heatmap import MINUS, Cells, HeatMapDrawing, Measure, cells
from symattn.drawing.picture import attentions, draw
from symattn.solution.quantity import Quantity
from symattn.solution.solution import solve

SVG = "{http://www.w3.org/2000/svg}"


def elements(svg: str, tag: str, paint: str) -> list[ElementTree.Element]:
    """The elements of a drawing with that tag and that paint."""
    return [
        one for one in ElementTree.fromstring(svg).iter(f"{SVG}{tag}") if one.get("class") == paint
    ]


def figures(quantity: Quantity, places: int | None = None) -> list[list[str]]:
    """The figures of a quantity."""
    return [[x.figure for x in row] for row in cells(quantity, places, quantity.is_masked).rows]


def attending(count: int) -> Case:
    """So many tokens that attend to each other, all to all alike."""
    tokens = [f"t{k}" for k in range(count)]
    return symattn.case("t", {"X": [[0]] * count}, {"Y": "softmax(X @ X.T) @ X"}, tokens=tokens)


@pytest.mark.parametrize(
    ("entry", "figure", "third"),
    [
        ("0.00003", "0.00003", "0.00001"),
        ("0.000003", "0.000003", "0.000001"),
        ("0.0000003", "0.000000", "0.000000"),
        ("0", "0", "0"),
    ],
)
def test_a_tiny_number_has_all_the_places_there_are(entry, figure, third) -> None:
    """Where no places up to six show two digits of the largest, six show what they can."""
    solution = solve(symattn.case("tiny", {"X": [[entry, 0]]}, {"Y": "X / 3", "Z": "X * 1"}))
    assert (figures(solution["Z"])[0][0], figures(solution["Y"])[0][0]) == (figure, third)


def test_a_form_in_symbols_keeps_the_sign_it_begins_with() -> None:
    """Signs are those of the coefficients, the first one's too."""
    loss = {"upstream": [["-u1", "u1"], ["2 - u1", "-2*u1"]], "wrt": ["X"]}
    case = symattn.case("signs", {"X": [[1, 2], [3, 4]]}, {"Y": "X * 1"}, loss)
    assert figures(solve(case)["dL/dX"], 2) == [
        [f"{MINUS}u1", "u1"],
        [f"2 {MINUS} u1", f"{MINUS}2u1"],
    ]


def test_in_a_pattern_shades_are_the_weights() -> None:
    """A weight of a half is half as dark as one of 1, though nothing is darker; only
    where all are small is the largest darkest."""
    (halves,) = attentions(solve(attending(2)), None)
    assert halves.cells.scale == "weights"
    assert {cell.shade for row in halves.cells.rows for cell in row} == {0.5}
    (small,) = attentions(solve(attending(6)), None)
    assert small.cells.scale == "small weights"
    assert {cell.shade for row in small.cells.rows for cell in row} == {1.0}


@pytest.mark.parametrize("count", [7, 8, 9])
def test_arcs_are_drawn_between_few(count) -> None:
    """From each of up to eight queries to each key; more would hide each other."""
    arcs = elements(draw(attending(count), "pattern"), "path", "heat-line")
    assert len(arcs) == (count * count if count <= 8 else 0)


@pytest.mark.parametrize("count", [7, 8, 9, 12])
def test_a_description_tells_weights_one_by_one(count) -> None:
    """Who attends to whom is told of up to 64 weights: more would be listened to by nobody."""
    svg = draw(attending(count), "pattern")
    (description,) = ElementTree.fromstring(svg).iter(f"{SVG}desc")
    assert f"{count} queries attend to {count} keys" in (description.text or "")
    assert (description.text or "").count(" attends to ") == (count if count * count <= 64 else 0)


@pytest.mark.parametrize("label", ["a", "much longer"])
def test_each_column_has_its_label_above_it(label) -> None:
    """An upright label stands in the middle of its column, a slanted one begins there."""
    quantity = solve(attending(3))["Y"]
    shown: Cells = cells(quantity, None, quantity.is_masked)
    row = Cells((shown.rows[0] * 4,), shown.scale, (1, 1))
    heat = HeatMapDrawing(row, Measure(10.0, (30.0, 20.0), (400.0, 400.0)), (), [label] * 4)
    drawn = ElementTree.fromstring(f"<svg>{''.join(heat.parts(5.0, 7.0))}</svg>")
    heads = [one for one in drawn.iter("text") if one.get("class") == "faint"]
    assert [one.get("transform") is not None for one in heads] == [label != "a"] * 4
    for j, head in enumerate(heads):
        middle = 5.0 + heat.left + (j + 0.5) * heat.cell[0]
        assert float(head.get("x", "nan")) == pytest.approx(middle, abs=0.1)
        assert 7.0 < float(head.get("y", "nan")) < 7.0 + heat.top
