"""Attention of large float arrays, some queries at a time, beside the whole and beside balls."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from flint import arb, arb_mat

from symattn import Malformed, attention, from_floats
from symattn.numbers.balls import precision
from symattn.numbers.float_formats import FORMATS, nearest
from symattn.numbers.reading import read
from symattn.solution.arguments import AttentionOptions, heads_of
from symattn.solution.attention import Attention
from symattn.solution.blocks import BlockedSolution

Array = npt.NDArray[Any]
RNG = np.random.default_rng(5)
N = 70
MASK = RNG.random((N, N)) < 0.5
MASK[[3, 40, 41, 42]] = False
BIAS = RNG.normal(size=(4, N, N))

#: Options, and the leading axes and lengths of queries and keys.
OPTIONS: dict[str, tuple[dict[str, Any], tuple[int, ...], tuple[int, ...], int, int]] = {
    "plain": ({}, (), (), N, N),
    "causal": ({"causal": True}, (), (), N, N),
    "scaled": ({"causal": True, "scale": "1/3"}, (), (), 200, 64),
    "a step": ({"causal": "bottom-right"}, (), (), 30, N),
    "empty rows, 0": ({"causal": "bottom-right", "on_empty_row": "zero"}, (), (), N, 30),
    "empty rows, mean": ({"causal": "bottom-right", "on_empty_row": "mean"}, (), (), N, 30),
    "empty rows, nan": ({"mask": MASK, "on_empty_row": "nan", "softcap": 2}, (), (), N, N),
    "mask": ({"mask": MASK, "on_empty_row": "zero", "bias": BIAS[0]}, (), (), N, N),
    "sink": ({"mask": MASK, "sink": "1/2"}, (), (), N, N),
    "window": ({"window": (9, 2)}, (), (), N, N),
    "lengths": ({"lengths": [17, N]}, (2,), (2,), N, N),
    "groups": (
        {"causal": True, "softcap": "1/2", "sink": [0, 1, 2, 3], "bias": BIAS},
        (2, 4), (2, 2), N, N,
    ),
}  # fmt: skip
OPTIONS["scaled"][0]["causal"] = "top-left"


def normal(*shape: int, dtype: str = "float32") -> Array:
    return RNG.normal(size=shape).astype(dtype)


def floats(*arrays: Array) -> list[Any]:
    return [from_floats(array) for array in arrays]


def blocked(q: Array, k: Array, v: Array, rows: int, **options: Any) -> Attention:
    """Attention in blocks, however small it is."""
    queries, keys, values = floats(q, k, v)
    heads, layout = heads_of(queries, keys, values, AttentionOptions(**options))
    undefined = options.get("on_empty_row") == "nan"
    return Attention([BlockedSolution(head, rows=rows) for head in heads], layout, undefined)


@pytest.mark.sampled(2, 9)
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_blocks_round_as_the_whole_does(name: str, dtype: str) -> None:
    options, lead, lead_k, n_q, n_k = OPTIONS[name]
    if "bias" in options:
        options = options | {"bias": from_floats(options["bias"])}
    q, k, v = normal(*lead, n_q, 4), normal(*lead_k, n_k, 4), normal(*lead_k, n_k, 3)
    upstream = from_floats(normal(*lead, n_q, 3))
    both = attention(*floats(q, k, v), **options), blocked(q, k, v, 16, **options)
    parts = [(made, made.backward(upstream)) for made in both]
    gradients = ["dQ", "dK", "dV", "dA", "dS"]
    gradients += [name for of, name in (("bias", "dBias"), ("sink", "dSink")) if of in options]
    for place, names in enumerate((["scores", "weights", "output", "lse"], gradients)):
        for part in names:
            ours, theirs = (getattr(made[place], part).nearest(dtype) for made in parts)
            np.testing.assert_array_equal(ours, theirs, part)
            np.testing.assert_array_equal(np.signbit(ours), np.signbit(theirs), part)


def balls_of(array: Array) -> arb_mat:
    return arb_mat(array.astype(float).tolist())


def in_balls(*given: Array) -> dict[str, arb_mat]:
    """Attention as it is written down, in balls."""
    q, k, v, upstream = map(balls_of, given)
    root = arb(q.ncols()).sqrt()
    powers = [[(x / root).exp() for x in row] for row in (q * k.transpose()).tolist()]
    sums = [sum(row, arb(0)) for row in powers]
    a = arb_mat([[x / z for x in row] for row, z in zip(powers, sums, strict=True)])
    y, da = a * v, upstream * v.transpose()
    flows = []
    for p, g in zip(a.tolist(), da.tolist(), strict=True):
        mean = sum((x * z for x, z in zip(p, g, strict=True)), arb(0))
        flows.append([x * (z - mean) / root for x, z in zip(p, g, strict=True)])
    ds = arb_mat(flows)
    return {
        "output": y, "lse": arb_mat([[z.log() for z in sums]]), "dQ": ds * k,
        "dK": ds.transpose() * q, "dV": a.transpose() * upstream,
    }  # fmt: skip


@pytest.mark.heavy
def test_bounds_hold_of_every_entry_at_1024_keys() -> None:
    q, k, v, upstream = (normal(n, 8, dtype="float64") for n in (100, 1024, 1024, 100))
    made = attention(*floats(q, k, v))
    assert isinstance(made.heads[0], BlockedSolution)
    gradients = made.backward(from_floats(upstream))
    with precision(200):
        for name, truth in in_balls(q, k, v, upstream).items():
            pairs = getattr(made if name in ("output", "lse") else gradients, name).source.pairs()
            assert pairs is not None
            flat = zip(
                *(part.ravel().tolist() for part in (pairs.high, pairs.low, pairs.error)),
                strict=True,
            )
            for exact, (high, low, error) in zip(truth.entries(), flat, strict=True):
                assert abs(exact - high - low) < error < 2.0**-70, name


def test_a_tie_is_decided_in_its_row() -> None:
    # All weights are 1/n_k, and the mean of the values lies between two numbers of 8 bits.
    v = np.zeros((4096, 1))
    v[:16, 0] = 257.0
    made = attention(*floats(np.zeros((20, 1)), np.zeros((4096, 1)), v))
    exact = Fraction(257 * 16, 4096)
    assert made.output[0, 0] == exact
    assert made.output[:2].nearest("bfloat16").ravel().tolist() == [1.0, 1.0]


def test_what_no_query_sees_is_exactly_0() -> None:
    q, k, v = (normal(300, 2) for _ in range(3))
    gradients = attention(*floats(q, k, v), lengths=200).backward()
    for part in (gradients.dK, gradients.dV):
        flows = part.nearest()
        assert (flows[200:] == 0).all()
        assert (flows[:200] != 0).all()


ROW, ONES = np.ones((1024, 1)), np.ones((1024, 8))


def of(n: int = 1024, d: int = 8, dtype: str = "float64") -> Array:
    return np.random.default_rng(n).normal(size=(n, d)).astype(dtype)


FEW = np.rint(4 * of()) / 4
#: What cancels, or is a tie, in all entries: (part, format, q, k, v, upstream, options).
PATHOLOGICAL: dict[str, tuple[str, str, Array, Array, Array, Array, dict[str, Any]]] = {
    "one key each": ("dK", "float32", of(), of(), of(), of(), {"causal": True, "window": (0, 0)}),
    "equal values": ("dK", "float64", of(), of(), ROW * of()[:1], of(), {}),
    "equal values, dQ": ("dQ", "float64", of(), of(), ROW * of()[:1], of(), {"causal": True}),
    "equal where it counts": (
        "dK", "float64", of(), of(), np.hstack([ROW, of()]), np.hstack([ROW, 0 * of()]), {},
    ),
    "equal keys": ("dQ", "float64", of(), ROW * of()[:1], of(), of(), {}),
    "zeros": ("dK", "float64", 0 * of(), of(), of(), of(), {"causal": True}),
}  # fmt: skip


@pytest.mark.sampled(1, 4)
@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_zeros_everywhere_need_no_balls(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    part, form, q, k, v, upstream, options = PATHOLOGICAL[name]
    monkeypatch.setattr("symattn.solution.runs.Runs.balls", None)
    gradients = attention(*floats(q, k, v), **options).backward(from_floats(upstream))
    found = gradients[part].nearest(form)  # type: ignore[arg-type]
    np.testing.assert_array_equal(found, 0)
    assert not np.signbit(found).any()


@pytest.mark.heavy
@pytest.mark.parametrize("options", [{}, {"softcap": 3, "lengths": 512}])
def test_ties_everywhere_need_no_balls(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The weights are all one over a power of two; of the sums many are ties in bfloat16.
    monkeypatch.setattr("symattn.solution.runs.Runs.balls", None)
    made = attention(*floats(of(), ROW * of()[:1], FEW), **options)
    keys = options.get("lengths", 1024)
    dV = made.backward(from_floats(FEW)).dV
    for exact, among in ((made.output, FEW[:keys]), (dV, FEW)):
        mean = Fraction(sum(map(Fraction, among[:, 3].tolist())), keys)
        assert exact[:1, 3:4].nearest("float64") == float(mean)
        found = exact[:1, 3:4].nearest("bfloat16")
        assert found == nearest(read(mean), FORMATS["bfloat16"])


@pytest.mark.heavy
def test_a_doubtful_entry_costs_the_queries_that_see_its_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = attention(*floats(of(), of(), of()), causal=True).backward(from_floats(of()))
    asked: list[int] = []
    flow = BlockedSolution.flow

    def counted(self: BlockedSolution, name: str, queries: Any) -> Any:
        asked.extend(queries.tolist())
        return flow(self, name, queries)

    monkeypatch.setattr(BlockedSolution, "flow", counted)
    source, last = made.dK.source, 1020 * 8 + 3
    pairs = source.pairs()
    assert pairs is not None
    (first,) = source.balls_at(128, [last]) or [None]
    (ball,) = source.balls_at(256, [last]) or [None]
    # Pairs of floats are the first balls: they cost no query, and hold what is closer.
    assert asked == [1020, 1021, 1022, 1023]
    assert first is not None
    assert ball is not None
    assert first.contains(ball)
    off = ball - pairs.high[1020, 3] - pairs.low[1020, 3]
    assert ball.rad() < 1e-30
    assert abs(off) < pairs.error[1020, 3]
    (closer,) = source.balls_at(512, [last + 2]) or [None]
    assert closer is not None
    assert source.point(1020, 5, 256).overlaps(closer)
    # The row of the key is known, whatever is asked of it.
    assert len(asked) == 8


def test_one_head_in_doubt_costs_nothing_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = attention(*floats(*(normal(2, 3, 2) for _ in range(3)))).output
    parts = exact.source._parts  # type: ignore[attr-defined]
    monkeypatch.setattr(parts[0], "balls_at", None)
    assert exact.source.balls_at(128, [7]) == [parts[1].balls(128)[1]]


def test_letters_flow_only_into_what_is_small() -> None:
    made = attention(*floats(*(normal(300, 1) for _ in range(3))))
    with pytest.raises(Malformed, match="upstream"):
        made.backward([["g"]] * 300)
    with pytest.raises(Malformed, match="too large for one solution"):
        made.solution  # noqa: B018


@pytest.mark.heavy
def test_memory_grows_with_the_keys_alone() -> None:
    q, k, v, upstream = (from_floats(normal(2048, 64)) for _ in range(4))
    tracemalloc.start()
    try:
        made = attention(q, k, v)
        gradients = made.backward(upstream)
        for part in (gradients.dQ, gradients.dK, gradients.dV, made.output, made.lse):
            assert np.isfinite(part.nearest("float32")).all()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100e6
