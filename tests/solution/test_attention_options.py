"""All options of attention, beside NumPy and beside each other."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from symattn import Malformed, attention, from_floats

PARTS = ("output", "dQ", "dK", "dV")
B, H, N, M, D, E = 2, 4, 5, 7, 3, 2
I, J = np.arange(N)[:, None], np.arange(M)[None]


@pytest.fixture(scope="module")
def world() -> dict[str, Any]:
    """Queries, keys, values, upstream gradient, bias, a mask and sinks."""
    rng = np.random.default_rng(3)
    keep = rng.random((B, H, N, M)) < 0.6
    keep[..., 0] = True
    return {
        "q": rng.normal(size=(B, H, N, D)),
        "k": rng.normal(size=(B, H, M, D)),
        "v": rng.normal(size=(B, H, M, E)),
        "g": rng.normal(size=(B, H, N, E)),
        "bias": rng.normal(size=(B, H, N, M)),
        "keep": keep,
        "sink": rng.normal(size=H),
    }


def by_numpy(world, scale=None, bias=None, keep=True, softcap=None, sink=None, empty="error"):
    """Output and gradients in floats, as written down."""
    q, k, v, g = (world[name] for name in "qkvg")
    scale = 1 / np.sqrt(D) if scale is None else scale
    capped = scores = q @ k.swapaxes(-1, -2) * scale
    if softcap:
        capped = softcap * np.tanh(scores / softcap)
    seen = np.broadcast_to(keep, scores.shape)
    alive = seen.any(-1, keepdims=True)
    whole = np.where(seen, capped + (0 if bias is None else bias), -np.inf)
    whole = np.where(alive, whole, 0.0)
    top = whole.max(-1, keepdims=True)
    taken = 0.0
    if sink is not None:
        top = np.maximum(top, sink)
        taken = np.exp(sink - top)
    powers = np.exp(whole - top)
    weights = powers / (powers.sum(-1, keepdims=True) + taken)
    if empty == "zero":
        weights = weights * alive
    flow = g @ v.swapaxes(-1, -2)
    inner = weights * (flow - (weights * flow).sum(-1, keepdims=True)) * alive
    d_bias = inner
    if softcap:
        inner = inner * (1 - (capped / softcap) ** 2)
    inner = inner * scale
    d_v = weights.swapaxes(-1, -2) @ g
    return [weights @ v, inner @ k, inner.swapaxes(-1, -2) @ q, d_v, d_bias, weights]


def ours(world, g=None, **options):
    """The same in exact numbers, rounded; with what the options add."""
    a = attention(*(from_floats(world[name]) for name in "qkv"), **options)
    back = a.backward(from_floats(world["g"] if g is None else g))
    found = [a.output, back.dQ, back.dK, back.dV]
    return [part.nearest() for part in found], a, back


OPTIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "none": ({}, {}),
    "scale": ({"scale": "1/2"}, {"scale": 0.5}),
    "top-left": ({"causal": "top-left"}, {"keep": J <= I}),
    "bottom-right": ({"causal": "bottom-right"}, {"keep": J <= I + M - N}),
    "window": (
        {"causal": "bottom-right", "window": (1, None)},
        {"keep": (J <= I + M - N) & (J >= I + M - N - 1)},
    ),
    "lengths": (
        {"lengths": np.array([3, 6])},
        {"keep": np.array([3, 6])[:, None, None, None] > J},
    ),
    "softcap": ({"softcap": 2, "causal": "top-left"}, {"softcap": 2.0, "keep": J <= I}),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", OPTIONS)
def test_options_are_what_numpy_makes_of_them(name, world):
    """Output, dQ, dK and dV along leading axes."""
    options, same_as = OPTIONS[name]
    found = ours(world, **options)[0]
    for part, ours_, wanted in zip(PARTS, found, by_numpy(world, **same_as), strict=False):
        np.testing.assert_allclose(ours_, wanted, rtol=0, atol=1e-12, err_msg=part)


def test_arrays_of_options_are_what_numpy_makes_of_them(world):
    """Masks of booleans, a bias with its gradient, and sinks of each head."""
    bias, keep, sink = (world[name] for name in ("bias", "keep", "sink"))
    close = partial(np.testing.assert_allclose, rtol=0, atol=1e-12)
    found, a, back = ours(world, mask=keep, bias=from_floats(bias), sink=from_floats(sink))
    wanted = by_numpy(world, bias=bias, keep=keep, sink=sink[None, :, None, None])
    for ours_, theirs in zip(found, wanted, strict=False):
        close(ours_, theirs)
    close(back.dBias.nearest(), wanted[4])
    weights = a.weights.nearest()
    close(weights[..., :M], wanted[5])


@pytest.mark.parametrize("empty", ["zero", "mean"])
def test_rows_that_see_no_key_are_what_is_asked_for(empty, world):
    """Zero, or the mean of all values; nothing flows into their scores."""
    keep = world["keep"].copy()
    keep[0, 0, 1] = keep[1, 2, 4] = False
    found, a, back = ours(world, mask=keep, on_empty_row=empty)
    for ours_, theirs in zip(found, by_numpy(world, keep=keep, empty=empty), strict=False):
        np.testing.assert_allclose(ours_, theirs, rtol=0, atol=1e-12)
    mean = world["v"][0, 0].mean(0) if empty == "mean" else 0 * world["v"][0, 0, 0]
    np.testing.assert_allclose(a.output.nearest()[0, 0, 1], mean, atol=1e-15)
    assert (back.dS.nearest()[0, 0, 1] == 0).all()


def test_rows_that_are_no_numbers_spoil_only_what_they_reach(world):
    """nan: such a row's output, and the keys' gradients of its head."""
    keep = world["keep"].copy()
    keep[0, 0, 1] = False
    found, a, _ = ours(world, mask=keep, on_empty_row="nan")
    lost = [np.isnan(part) for part in found]
    assert lost[0].sum() == E
    assert lost[0][0, 0, 1].all()
    assert lost[2][0, 0].all()
    assert lost[2].sum() == M * D
    with pytest.raises(Malformed, match="not numbers"):
        a.output.decimal(3)


def test_a_row_that_sees_no_key_is_an_error_that_names_it(world):
    """Unless something else is asked for."""
    keep = world["keep"].copy()
    keep[0, 1, 2] = keep[1, 0, 0] = False
    with pytest.raises(Malformed, match=r"row .*masked whole \(and 1 more\).*on_empty_row="):
        ours(world, mask=keep)


# -- identities that hold exactly ------------------------------------------------------------


def small(shape, seed):
    """Small whole numbers."""
    return np.random.default_rng(seed).integers(-2, 3, size=shape)


QUERIES, UPSTREAM = small((2, 4, 3, 2), 1), small((2, 4, 3, 2), 2)
KEYS, VALUES = small((2, 2, 4, 2), 3), small((2, 2, 4, 2), 4)


def floats_of(a, g):
    """Output and gradients, correctly rounded: equal where the exact numbers are."""
    back = a.backward(g)
    return [part.nearest() for part in (a.output, back.dQ, back.dK, back.dV)]


def identical(found, wanted):
    """Whether all arrays are the same."""
    for part, ours_, theirs in zip(PARTS, found, wanted, strict=True):
        np.testing.assert_array_equal(ours_, theirs, err_msg=part)


def test_grouped_heads_are_repeated_keys_with_summed_gradients():
    """Grouped-query attention is attention with each head of the keys repeated; what flows
    into a key is the sum over its group, exactly."""
    grouped = attention(QUERIES, KEYS, VALUES, scale=1)
    keys, values = (np.repeat(x, 2, axis=1) for x in (KEYS, VALUES))
    repeated = attention(QUERIES, keys, values, scale=1)
    one, other = grouped.backward(UPSTREAM), repeated.backward(UPSTREAM)
    assert grouped.output == repeated.output
    assert one.dQ == other.dQ
    for name in ("dK", "dV"):
        shared, apart = getattr(one, name), getattr(other, name)
        assert shared.shape == (2, 2, 4, 2)
        for b, h, k, c in np.ndindex(shared.shape):
            total = apart[b, 2 * h, k, c] + apart[b, 2 * h + 1, k, c]
            assert shared[b, h, k, c] == total


def test_lengths_are_masks():
    """Keys from a length on are hidden, for each sequence of a batch."""
    keep = np.broadcast_to(np.arange(4) < np.array([2, 3])[:, None, None, None], (2, 4, 3, 4))
    short = attention(QUERIES, KEYS, VALUES, lengths=[2, 3], scale=1)
    masked = attention(QUERIES, KEYS, VALUES, mask=keep, scale=1)
    identical(floats_of(short, UPSTREAM), floats_of(masked, UPSTREAM))
    infinite = from_floats(np.where(keep, 0.0, -np.inf))
    added = attention(QUERIES, KEYS, VALUES, mask=infinite, scale=1)
    identical(floats_of(added, UPSTREAM), floats_of(masked, UPSTREAM))


@pytest.mark.parametrize(("n", "m"), [(2, 5), (5, 2), (3, 3)])
def test_a_window_stands_where_the_causal_order_does(n, m):
    """Without one it is counted from the last key, as FlashAttention counts it."""
    orders: list[tuple[Any, int]] = [(None, m - n), ("bottom-right", m - n), ("top-left", 0)]
    q, k, v = (np.arange(1, rows + 1)[:, None] for rows in (n, m, m))
    ahead = np.arange(m)[None] - np.arange(n)[:, None]
    for causal, shift in orders:
        kept = abs(ahead - shift) <= 1
        kept &= ahead - shift <= (0 if causal else 1)
        windowed = attention(q, k, v, causal=causal, window=1, on_empty_row="zero").weights
        assert np.array_equal(windowed.nearest() > 0, kept)


def test_a_sink_is_a_key_without_value():
    """One more key with the sink as its score and value 0."""
    q, k, v, g = QUERIES[0, 0], KEYS[0, 0], VALUES[0, 0], UPSTREAM[0, 0]
    bias = np.zeros((3, 5), dtype=int)
    bias[:, 4] = 2
    keys, values = (np.concatenate([x, np.zeros((1, 2), dtype=int)]) for x in (k, v))
    sunk = attention(q, k, v, scale=1, sink=2)
    more = attention(q, keys, values, scale=1, bias=bias)
    one, other = sunk.backward(g), more.backward(g)
    assert sunk.output == more.output
    assert sunk.lse == more.lse
    assert one.dQ == other.dQ
    assert one.dK == other.dK[:4]
    assert one.dV == other.dV[:4]
    assert one.dSink == other.dBias[:, 4:]


def test_a_large_cap_is_none():
    """Scores far below the cap are what they are, to all digits of float32."""
    plain, capped = (
        attention(QUERIES, KEYS, VALUES, scale=1, softcap=cap) for cap in (None, 10**12)
    )
    found, wanted = floats_of(capped, UPSTREAM), floats_of(plain, UPSTREAM)
    for ours_, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours_, theirs, rtol=0, atol=1e-20)


def test_a_bias_that_is_the_same_for_a_row_changes_nothing():
    """Weights and gradients are those without; what flows into the bias sums to 0."""
    rows = np.broadcast_to(np.array([[5], [-700], [10**6]]), (3, 4))
    plain = attention(QUERIES, KEYS, VALUES, scale=1)
    shifted = attention(QUERIES, KEYS, VALUES, scale=1, bias=rows)
    assert plain.weights[0, 0] == shifted.weights[0, 0]
    identical(floats_of(shifted, UPSTREAM), floats_of(plain, UPSTREAM))
    flow = shifted.backward(UPSTREAM).dBias
    for i in range(3):
        first, *others = (flow[0, 0, i, j] for j in range(4))
        assert sum(others, first) == 0


def test_heads_alone_are_what_they_are_together():
    """Each head and sequence by itself."""
    whole = floats_of(attention(QUERIES, KEYS, VALUES, causal="bottom-right"), UPSTREAM)
    for b in range(2):
        for h in range(4):
            one = attention(
                QUERIES[b, h], KEYS[b, h // 2], VALUES[b, h // 2], causal="bottom-right"
            )
            alone = floats_of(one, UPSTREAM[b, h])
            np.testing.assert_array_equal(alone[0], whole[0][b, h])
            np.testing.assert_array_equal(alone[1], whole[1][b, h])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"causal": True}, r"top-left.*bottom-right"),
        ({"causal": "bottom"}, r"causal"),
        ({"softcap": 0}, r"softcap: expected a positive number, found 0"),
        ({"softcap": -1}, r"softcap: expected a positive number"),
        ({"window": -1}, r"window"),
        ({"lengths": [1, 2, 3]}, r"lengths"),
        ({"lengths": [0.5, 1]}, r"lengths"),
        ({"mask": np.ones((3, 3), dtype=bool)}, r"mask: expected .*3x4"),
        ({"bias": [[1]]}, r"bias: expected 3x4, found 1x1"),
        ({"sink": [1, 2, 3]}, r"sink: expected a number, or one for each of 4 heads"),
        ({"scale": 0.1}, r"scale: 0\.1 is a float"),
        ({"on_empty_row": "none"}, r"unknown choice 'none'"),
    ],
)
def test_bad_options_are_told(options, said):
    """What was wrong, and what was expected."""
    with pytest.raises(Malformed, match=said):
        attention(QUERIES, KEYS, VALUES, **options)


def test_keys_that_do_not_fit_are_all_told_at_once():
    """Other columns, another number of values, heads that don't divide."""
    with pytest.raises(Malformed) as caught:
        attention(np.ones((3, 2, 4), int), np.ones((2, 3, 5), int), np.ones((2, 4, 1), int))
    assert {fault.where for fault in caught.value.faults} == {"K", "V"}
    assert len(caught.value.faults) == 3
