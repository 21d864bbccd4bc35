"""Rows where one key has nearly all the weight, held against plain balls of very many bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from flint import arb, arb_mat

from symattn import attention
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.float_formats import FORMATS, rounded_balls

from .. import bare

#: Enough bits for gaps of 30,000 between scores.
BITS = 50_000
NAMES = ("output", "dQ", "dK", "dV")


def whole(seed: int, n: int = 6, d: int = 16) -> list[Any]:
    """Queries, keys, values and the upstream gradient, whole numbers of 7 bits."""
    return list(np.random.default_rng(seed).integers(-64, 65, size=(4, n, d)))


def ours(tables: Sequence[Any]) -> list[Any]:
    """Output and gradients, as quantities."""
    a = attention(*tables[:3])
    back = a.backward(tables[3])
    return [a.output, back.dQ, back.dK, back.dV]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(6))
def test_saturated_floats(seed: int) -> None:
    """Every float is the one nearest to the exact entry, the sign of what underflows included."""
    tables = whole(seed)
    with precision(BITS):
        truth = bare.attention([arb_mat(table.tolist()) for table in tables])
        for name, quantity, balls in zip(NAMES, ours(tables), truth, strict=True):
            wanted, certain = rounded_balls(balls.entries(), BITS, FORMATS["float64"])
            assert certain.all(), name
            found = quantity.nearest("float64").ravel()
            assert found.tobytes() == wanted.tobytes(), name


@pytest.mark.parametrize("bits", [FIRST, 4 * FIRST])
def test_cancelling_terms(bits: int) -> None:
    """Where the terms that are nearly all of an entry cancel, balls of few bits have its sign:
    two keys with the same entry share what flows (dQ), two queries have weight 1 (dV)."""
    q, k, v = [[300, 0], [600, 0]], [[2, 7], [1, 7], [0, 1]], [[1], [2], [4]]
    back = attention(q, k, v, scale=1).backward([[1], [-1]])
    for quantity, sign in ((back.dQ[0, 1:], -1), (back.dV[0], -1)):
        balls = quantity.source.balls(bits)
        assert balls is not None
        assert quantity[0].sign() == sign
        for ball in (balls[0], quantity.source.point(0, 0, bits)):
            assert ball is not None
            assert not ball.contains(0)
            assert ball.rel_accuracy_bits() > 60


@pytest.mark.sampled(2)
@pytest.mark.parametrize("gap", [40, 745, 23_000, 10**5, 10**6])
def test_gaps_of_any_size(gap: int) -> None:
    """Two keys whose scores are so far apart: ``1/(1 + e^-gap)`` and the rest, forward and
    backward, as floats with their signs and as digits that are cut off."""
    a = attention([[1]], [[gap], [0]], [[1], [0]], scale=1)
    back = a.backward([[-1]])
    with precision(4 * gap + 200):
        small = 1 / (1 + arb(gap).exp())
        flow = -small * (1 - small)
        truth = {
            "weights": [1 - small, small],
            "dV": [small - 1, -small],
            "dK": [flow, -flow],
            "dQ": [flow * gap],
        }
    found = {"weights": a.weights, "dV": back.dV, "dK": back.dK, "dQ": back.dQ}
    for name, balls in truth.items():
        for form in ("float64", "float16"):
            wanted, certain = rounded_balls(balls, 4 * gap + 200, FORMATS[form])
            assert certain.all()
            floats = found[name].nearest(form).astype(float).ravel()
            assert floats.tobytes() == wanted.tobytes(), (name, form)
    assert [str(x) for x in a.weights.decimal(4, "floor")[0]] == ["0.9999", "0.0000"]
    assert [str(x) for x in a.weights.decimal(4, "up")[0]] == ["1.0000", "0.0001"]


def test_an_entry_that_cancels_over_many_rows_is_zero() -> None:
    """Three queries of each of six kinds: what flows into the first two values is 0 exactly,
    with sign +, and the others are not spoilt."""
    keys, values = [[0, 0], [1, 0], [0, 1], [1, 1]], [[1], [2], [3], [4]]
    queries = [row for k in range(1, 7) for row in ([k, k], [k, -k], [k, 0])]
    mask = [[1] * 4, [1] * 4, [1, 1, 0, 0]] * 6
    upstream = [[1], [1], [-1]] * 6
    flow = attention(queries, keys, values, mask=mask, scale=1).backward(upstream).dV
    floats = flow.nearest()
    assert floats[:2].tobytes() == np.zeros((2, 1)).tobytes()
    assert [str(x) for (x,) in flow.decimal(5)] == ["0.00000", "0.00000", "0.46272", "5.53728"]
    assert (flow[0, 0].is_zero().value, flow[2, 0].is_zero().value) == ("holds", "refuted")
