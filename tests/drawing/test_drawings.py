"""Drawings of cases: what is in them, that it is right, and that nothing in them is live."""

from __future__ import annotations

import random
import re
from decimal import Decimal
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symattn
from symattn.cases import library
from symattn.drawing.flow import Flow, edges
from symattn.drawing.heatmap import MINUS, cells
from symattn.drawing.lettering import PAINTS
from symattn.drawing.picture import WHAT, attentions, draw
from symattn.errors import Malformed
from symattn.numbers import rounding
from symattn.solution.entries import EntryValue
from symattn.solution.solution import Solution, solve

from ..fuzz.programs import Author
from ..hostile import CASE, steering
from ..sheets import walkthroughs
from ..strategies import few

SVG = "{http://www.w3.org/2000/svg}"
FILES = ("PARTS", "SYMBOLS", "HEADS", "SCALARS", "SIZES")
NAMES = [*library.names(), *FILES]


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """The solution of a bundled case, or of a file of the tests."""
    folder = tmp_path_factory.mktemp("cases")

    @cache
    def find(name: str) -> Solution:
        if name not in FILES:
            return solve(name)
        path = folder / f"{name}.toml"
        path.write_text(getattr(walkthroughs, name), "utf-8")
        return solve(path)

    return find


def read(svg: str) -> ElementTree.Element:
    """A drawing as XML, which has to be well formed."""
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    return root


def texts(root: ElementTree.Element) -> list[str]:
    """What is written in a drawing, element by element."""
    return ["".join(found.itertext()) for found in root.iter(f"{SVG}text")]


def is_safe(root: ElementTree.Element) -> None:
    """It holds shapes and text only, refers to nothing, and no attribute acts."""
    for found in root.iter():
        assert found.tag.removeprefix(SVG) in (
            *("svg", "title", "desc", "style", "g", "rect", "path", "polygon", "text", "tspan"),
        )
        for name, value in found.attrib.items():
            assert not name.startswith(("on", "{")), name
            assert name not in ("href", "style", "id")
            assert "url(" not in value
    (style,) = root.iter(f"{SVG}style")
    assert re.search("url|import|expression|<", style.text or "") is None


@pytest.mark.sampled(5, 42)
@pytest.mark.parametrize("what", WHAT)
@pytest.mark.parametrize("name", NAMES)
def test_a_drawing_is_a_picture_and_nothing_else(name, what, solved) -> None:
    """Well formed, without anything that acts or loads, the same each time; it has a
    title and a description, and everything is painted, with a fallback of plain attributes."""
    solution = solved(name)
    if what == "pattern" and not attentions(solution, None):
        with pytest.raises(Malformed, match="no step is a softmax"):
            draw(solution, what)
        return
    svg = draw(solution, what)
    assert draw(solution, what) == svg
    root = read(svg)
    is_safe(root)
    (title,), (description,) = root.iter(f"{SVG}title"), root.iter(f"{SVG}desc")
    assert (title.text or "").startswith(solution.case.title)
    assert description.text
    assert unpainted(root) == []


def unpainted(found: ElementTree.Element, painted: bool = False) -> list[str]:
    """What neither has a paint nor stands in a group that has one; every paint is
    there as a plain attribute too."""
    paint = found.get("class", "")
    if paint in PAINTS:
        attribute, light, _ = PAINTS[paint]
        assert found.get(attribute) == light
    painted = painted or paint in PAINTS
    shape = found.tag.removeprefix(SVG) in ("rect", "path", "polygon", "text")
    bare = [ElementTree.tostring(found, "unicode")] if shape and not painted else []
    return bare + [x for inner in found for x in unpainted(inner, painted)]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", NAMES)
def test_figures_are_the_decimals_of_the_solution(name, solved) -> None:
    """Each figure is the entry correctly rounded, and without trailing zeros it is exact;
    every masked entry is hidden."""
    solution = solved(name)
    seen = 0
    for key, node in solution.program.named.items():
        quantity = solution[key]
        mask = solution.quantity(node.operands[0]) if node.op == "softmax" else quantity
        shown = cells(quantity, 3, mask.is_masked)
        for i, row in enumerate(shown.rows):
            for j, cell in enumerate(row):
                assert cell.is_masked == mask.is_masked(i, j)
                entry = EntryValue(quantity, i, j)
                if cell.is_masked or not cell.figure or entry.has_symbols:
                    continue
                seen += 1
                digits = cell.figure.replace(MINUS, "-")
                assert Decimal(digits) == rounding.decimal(entry, 3, quantity.rounding)
                if len(digits.partition(".")[2]) < 3:
                    number = entry.value.rational()
                    assert number is not None
                    assert Decimal(int(number.p)) / Decimal(int(number.q)) == Decimal(digits)
    assert seen > 8


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", NAMES)
def test_every_figure_of_a_small_case_is_drawn(name, solved) -> None:
    """What the cells have, the drawing has, as text, where there is room for it."""
    solution = solved(name)
    flow = Flow(solution, None, backward=True)
    written = texts(read(draw(solution, "gradients")))
    drawn = [box.map for box in (*flow.boxes.values(), *flow.gradients.values())]
    wanted = [
        cell.figure
        for found, shown in zip(drawn, flow.cells, strict=True)
        if found.has_figures
        for row in shown.rows
        for cell in row
        if cell.figure
    ]
    assert wanted
    for figure in set(wanted):
        assert written.count(figure) >= wanted.count(figure), figure


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", NAMES)
def test_every_quantity_has_its_place(name, solved) -> None:
    """Each quantity has a box with its name, each gradient that is asked for one beside it."""
    solution = solved(name)
    program = solution.program
    flow = Flow(solution, None, backward=True)
    assert list(flow.boxes) == list(program.quantities)
    assert set(solution.case.wrt) & program.gradients.keys() <= flow.gradients.keys()
    assert flow.gradients.keys() <= program.gradients.keys()
    assert solution.case.output in flow.gradients
    written = texts(read(draw(solution, "gradients")))
    for box in (*flow.boxes.values(), *flow.gradients.values()):
        assert "".join(run.text for run in box.name) in written


def test_edges_are_the_uses_of_steps() -> None:
    """A step is linked with the quantities that its text names, and with no others; one with
    a gradient in it with the loss too."""
    for name in library.names():
        case = library.load(name)
        found: dict[str, set[str]] = {step: set() for step in case.steps}
        for source, target in edges(case.program):
            found[target].add(source)
        for step, text in case.steps.items():
            named = set(re.findall(r"(?<!\.)\b\w+", text)) & case.program.quantities.keys()
            assert found[step] == named | ({case.output} if "grad(" in text else set())


# -- layout ------------------------------------------------------------------------------------


#: Left, top, right and bottom.
Rectangle = tuple[float, float, float, float]


def rectangles(flow: Flow) -> list[Rectangle]:
    """Those of every box, and of every lane that an arrow takes."""
    layout = flow.layout
    found = []
    for name, box in flow.boxes.items():
        place = layout.places[name]
        top = place.line - (32.0 if box.operation else 0.0)
        x = place.x - box.width / 2
        found.append((x, top, x + box.width, place.line + box.height))
        if name in flow.gradients:
            gradient = flow.gradients[name]
            left = x + box.width + 14.0
            below = place.line + gradient.height + (32.0 if gradient.operation else 0.0)
            found.append((left, place.line, left + gradient.width, below))
    lanes = {(lane.x, lane.top, lane.bottom) for way in layout.ways.values() for lane in way}
    return found + [(x - 3, top, x + 3, bottom) for x, top, bottom in lanes]


def overlap(a: Rectangle, b: Rectangle) -> bool:
    return a[0] < b[2] - 1e-6 and b[0] < a[2] - 1e-6 and a[1] < b[3] - 1e-6 and b[1] < a[3] - 1e-6


def check_layout(flow: Flow) -> None:
    """No two boxes overlap, no arrow runs through one, and all stand on the drawing."""
    found = rectangles(flow)
    for place, a in enumerate(found):
        assert not [b for b in found[place + 1 :] if overlap(a, b)]
        assert a[0] >= -1e-6
        assert a[1] >= -1e-6
        assert a[2] <= flow.layout.width + 1e-6
        assert a[3] <= flow.layout.height + 1e-6
    for source, target in edges(flow._program):
        upper, lower = flow.layout.places[source], flow.layout.places[target]
        assert upper.bottom < lower.top


@pytest.mark.sampled(23)
@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_no_two_boxes_overlap(name, backward, solved) -> None:
    """Neither in the flow nor with the gradients."""
    check_layout(Flow(solved(name), None, backward))


@pytest.mark.heavy
@few
@given(st.integers(0, 2**32))
def test_random_programs(seed) -> None:
    """Any walkthrough has a drawing, in which no two boxes overlap."""
    made = Author(random.Random(seed), most_steps=9).walkthrough()
    case = symattn.case("random", made.given, made.steps, made.loss, tokens=made.tokens)
    solution = solve(case)
    check_layout(Flow(solution, None, backward=True))
    svg = draw(solution)
    is_safe(read(svg))
    assert "nan" not in svg


# -- hostile text, sizes, words ----------------------------------------------------------------


def test_hostile_text(tmp_path) -> None:
    """What a file says is text: nothing of it is mark-up, steers or hides."""
    path = tmp_path / "hostile.toml"
    path.write_text(CASE, "utf-8")
    for what in WHAT:
        svg = draw(path, what)
        assert steering(svg) == set()
        is_safe(read(svg))
    tokens = ["<script>alert(1)</script>", '"><rect onload="x"', "&lt;", "猫", "🙂"]
    given_ = [[1, 0], [0, 1], [1, 1], [0, 0], [2, 1]]
    case = symattn.case("t", {"X": given_}, {"Y": "softmax(X @ X.T) @ X"}, tokens=tokens)
    root = read(draw(case, "pattern"))
    is_safe(root)
    written = texts(root)
    for token in ("<script>alert…", '"><rect onloa…', "&lt;", "猫", "🙂"):
        # As a query and as a key, beside the heat map and at the arcs.
        assert written.count(token) == 4


def test_a_large_matrix_is_summarised() -> None:
    """Each cell is the largest of its block, and a picture of many entries stays small."""
    rows = [[((7 * i + 5 * j) % 23) - 11 for j in range(40)] for i in range(50)]
    solution = solve(symattn.case("large", {"X": rows}, {"A": "softmax(X / 10)", "Y": "A.T @ X"}))
    shown = cells(solution["X"], None, solution["X"].is_masked)
    assert (shown.grid, shown.block) == ((13, 14), (4, 3))
    for i, row in enumerate(shown.rows):
        for j, cell in enumerate(row):
            block = [x for line in rows[4 * i : 4 * i + 4] for x in line[3 * j : 3 * j + 3]]
            assert abs(cell.shade) == pytest.approx(max(map(abs, block)) / 11)
            assert cell.figure == ""
    svg = draw(solution)
    assert len(svg) < 150_000
    assert "each cell of a large matrix shows the largest of several entries" in texts(read(svg))


def test_masked_entries_are_hatched(solved) -> None:
    """A causal case has hatching and says what it means; a case without a mask has neither."""
    for name, is_masked in (("cat-sat-mat-causal", True), ("cat-sat-mat", False)):
        svg = draw(solved(name), "pattern")
        assert ('class="hatch-line"' in svg) == is_masked
        assert ("masked" in texts(read(svg))) == is_masked


def test_arcs_are_as_thick_as_weights(solved) -> None:
    """Each weight that is seen has an arc, the thicker the larger."""
    root = read(draw(solved("cat-sat-mat-causal"), "pattern"))
    arcs = [x for x in root.iter(f"{SVG}path") if x.get("class") == "heat-line"]
    thick = sorted((float(x.get("stroke-width", "0")) for x in arcs), reverse=True)
    weights = sorted(
        (float(x) for row in solved("cat-sat-mat-causal")["A"].nearest() for x in row if x),
        reverse=True,
    )
    assert thick == pytest.approx([9 * weight for weight in weights], rel=0.01)


def test_exact_zeros_are_blank(solved) -> None:
    """Zeros that enclosures alone can't tell have no shade."""
    shown = cells(solved("cat-sat-mat-padding")["dL/dQ"], 2, lambda i, j: False)
    assert {(cell.shade, cell.figure) for row in shown.rows for cell in row} == {(0.0, "0")}


def test_signs_have_colours() -> None:
    """Positive entries are painted in the colour of heat, negative ones in that of the pen."""
    for number, paint, other in ((3, "heat", "pen"), (-3, "pen", "heat")):
        case = symattn.case("signs", {"X": [[number, number]]}, {"Y": "X * 2"})
        svg = draw(case, "flow")
        # The legend has two shades of each.
        assert svg.count(f'<path class="{paint}"') > 2
        assert svg.count(f'<path class="{other}"') == 2


def test_places(solved) -> None:
    """Figures have the places that are asked for; without, two digits of the largest are seen."""
    for places in (0, 3, 6):
        exact = {format(x, "f") for row in solved("cat-sat-mat")["A"].decimal(places) for x in row}
        assert exact <= set(texts(read(draw(solved("cat-sat-mat"), "pattern", places))))
    small = texts(read(draw(solved("length-4-causal"), "flow")))
    assert "0.098" in small
    assert "0.049" in small


def test_bad_use(solved) -> None:
    """Unknown drawings and places that figures can't have are refused."""
    with pytest.raises(Malformed, match=r"unknown drawing 'flaw'.*flow"):
        draw(solved("cat-sat-mat"), "flaw")  # type: ignore[arg-type]
    for places in (-1, 7):
        with pytest.raises(Malformed, match="expected 0 to 6 places in a drawing"):
            draw(solved("cat-sat-mat"), "flow", places)


def test_the_face_of_the_package() -> None:
    """``symattn.draw`` takes a name, a case or a solution."""
    case = symattn.load("cat-sat-mat")
    assert symattn.draw("cat-sat-mat") == symattn.draw(case) == symattn.draw(symattn.solve(case))


def test_other_languages(tmp_path) -> None:
    """What a drawing says itself is said in the language that is asked for, or else in
    that of the case's sheets."""
    (tmp_path / "fr.toml").write_text('queries = "requêtes"\nmasked = "masqué"\n', "utf-8")
    path = tmp_path / "case.toml"
    path.write_text('extends = "cat-sat-mat-causal"\n[sheet]\nlanguage = "fr.toml"\n', "utf-8")
    for svg in (
        draw(path, "pattern"),
        draw("cat-sat-mat-causal", "pattern", language=str(tmp_path / "fr.toml")),
    ):
        assert {"requêtes", "masqué"} <= set(texts(read(svg)))
        assert read(svg).get("lang") == "fr"
    assert {"queries", "masked"} <= set(texts(read(draw(path, "pattern", language="en"))))


def test_the_picture_of_the_manual(solved) -> None:
    """It is what `symattn draw length-4-causal --what gradients` makes."""
    picture = Path(__file__).parents[2] / "docs" / "images" / "drawing.svg"
    assert picture.read_text("utf-8") == draw(solved("length-4-causal"), "gradients")
