"""Random numbers meet what is assumed of them."""

from __future__ import annotations

from random import Random

import pytest

from symattn.calculus import draft
from symattn.calculus import language as term
from symattn.calculus.sample_points import draw
from symattn.calculus.sampling import LOSS, SamplePoint
from symattn.numbers.balls import precision

SHAPES = {"x": ["n"], "M": ["n", "n"], "t": [], "a": [], "b": []}


@pytest.fixture(autouse=True)
def _precise():
    with precision(192):
        yield


def drawn(hypotheses, style="any", seed=0, n=3):
    tables = {
        "sizes": ["n"],
        "shapes": SHAPES,
        "hypotheses": hypotheses,
        "lines": [{"line": "t == t"}],
    }
    ground = draft.read(tables).ground
    return ground, draw(ground, frozenset(ground.given), {"n": n}, Random(seed), style)


def values(point, name):
    return next(
        [float(one) for one in found.values()]
        for array, found in point.values.items()
        if array.name == name
    )


@pytest.mark.sampled(56)
@pytest.mark.parametrize("style", ["any", "above", "below", "wide", "whole"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "hypotheses",
    [
        ["sum(j, x[j]) == 1"],
        ["a*a + b*b == 1"],
        ["M[i, j] * M[i, j] == M[i, j]"],
        ["M.T == M"],
        ["M @ M.T == eye(n)"],
        ["t > 0", "a >= t"],
        ["x[i] > 0", "sum(i, x[i]) == 1"],
        ["a == b", "b == t"],
        ["a == b == t"],
    ],
)
def test_hypotheses_are_met(hypotheses, style, seed) -> None:
    """Equations to nearly all bits, inequalities plainly."""
    ground, point = drawn(hypotheses, style, seed)
    assert point is not None or style in ("below", "wide", "whole") or "x[i] > 0" in hypotheses
    if point is None:
        return
    for line in ground.hypotheses:
        for at in point.indices(line):
            point.env.update(zip(line.free, at, strict=True))
            first, *rest = (float(point.evaluate(side)) for side in line.sides)
            for side in rest:
                if line.relation == "==":
                    assert first == pytest.approx(side, abs=1e-9)
                else:
                    assert first >= side


@pytest.mark.parametrize(
    "hypotheses",
    [
        ["t > 0", "t < 0"],
        ["t == 1", "t == 2"],
        ["t**2 == -1"],
        ["sum(j, x[j]) == 1", "sum(j, x[j]) == 2"],
        ["0 == 1"],
        ["1 / (t - t) == 1"],
    ],
)
def test_contradictions_have_no_point(hypotheses) -> None:
    """Nothing is made up."""
    assert drawn(hypotheses)[1] is None


def test_what_is_assumed_of_nothing_holds() -> None:
    """An equation between numbers asks nothing of what is given."""
    assert drawn(["1 + 1 == 2"])[1] is not None


def test_styles() -> None:
    """Above 0, below 0, small whole numbers."""
    assert min(values(drawn([], "above")[1], "M")) > 0
    assert max(values(drawn([], "below")[1], "M")) < 0
    assert all(one == int(one) for one in values(drawn([], "whole")[1], "M"))
    wide = [abs(one) for seed in range(5) for one in values(drawn([], "wide", seed)[1], "M")]
    assert max(wide) > 1e5
    assert min(wide) < 1e-3
    assert min(values(drawn(["t > 0"], "whole")[1], "t")) > 0


def test_losses_have_coefficients_of_every_degree() -> None:
    """A loss is a polynomial of the entries."""
    tables = {
        "sizes": ["n"],
        "shapes": {"x": ["n"]},
        "losses": {"L": "x"},
        "lines": [{"line": "L == L"}],
    }
    ground = draft.read(tables).ground
    needed = frozenset((*ground.given, *ground.losses))
    point = draw(ground, needed, {"n": 2}, Random(0), "any")
    (loss,) = ground.losses
    assert point is not None
    assert sorted(point.values[loss]) == [(k, i) for k in range(LOSS) for i in (1, 2)]
    assert point.evaluate(term.Entry(loss, ())) != 0


def test_places_are_counted_from_one() -> None:
    """All of them, in order."""
    assert list(SamplePoint({"n": 2}, {}, {}).places(("n", 2))) == [(1, 1), (1, 2), (2, 1), (2, 2)]
