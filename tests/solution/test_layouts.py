"""Arrays in the axes of kernels: in any order, packed, in pages."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from symattn import Malformed, Verdict, attention, from_blocks, from_floats, from_pages

B, S, H, G, D = 2, 3, 4, 2, 2
#: Where sequences begin and end, one of them empty.
STARTS_Q, STARTS_K = [0, 2, 2, 5], [0, 3, 4, 9]


def arrays(*shapes, seed=0):
    """Small whole numbers, which are exact and make short closed forms."""
    rng = np.random.default_rng(seed)
    return [rng.integers(-3, 4, size=shape) for shape in shapes]


def parts(exact, upstream):
    """All that has axes of a kernel, in floats."""
    back = exact.backward(upstream)
    return {
        "output": exact.output.nearest(),
        "lse": exact.lse.nearest(),
        **{name: back[name].nearest() for name in ("dQ", "dK", "dV")},
    }


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "layout", ["bshd", "sbhd", "bhsd", "hdsb", "shd", "hsd", "dhs", "sd", "bsd"]
)
def test_axes_are_moved_and_nothing_else(layout):
    """Inputs, output and gradients of a layout are those of transposed arrays, bit by bit."""
    sizes = {"b": B, "s": S, "h": H, "d": D}
    order = [x for x in "bhsd" if x in layout]
    to_layout = [order.index(x) for x in layout]
    q, g, k, v = (
        array[:, :heads]
        if "h" in layout and "b" in layout
        else array[:heads]
        if "h" in layout
        else array
        for array, heads in zip(arrays(*[[sizes[x] for x in order]] * 4), (H, H, G, G), strict=True)
    )
    wanted = parts(attention(q, k, v, causal=True), g)
    q, k, v, g = (x.transpose(to_layout) for x in (q, k, v, g))
    found = parts(attention(q, k, v, causal=True, layout=layout), g)
    for name in ("output", "dQ", "dK", "dV"):
        np.testing.assert_array_equal(found[name], wanted[name].transpose(to_layout))
    np.testing.assert_array_equal(found["lse"], wanted["lse"])


def test_letters_and_text_stay_exact():
    """A layout is one of any exact entries: symbols are those of each place."""
    q, k, v = [[["a"], ["1/2"]]], [[["b"]]], [[[1, "c"]]]
    one = attention(q, k, v, layout="shd", symbols="a b c")
    (first,) = one.output.rows[:1]
    assert [str(x) for x in first] == ["1", "c"]
    assert one.output.at(c=3).nearest().tolist() == [[[1, 3], [1, 3]]]
    scores = [[str(x) for x in row] for row in one.scores.rows]
    assert scores == [["a*b"], ["1/2*b"]]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("causal", [None, "top-left", "bottom-right"])
@pytest.mark.parametrize("window", [None, (1, 0)])
def test_packed_sequences_are_attention_of_each(causal, window):
    """Each sequence alone, with its own causal order, beside its part of the packed arrays."""
    q, g, k, v = arrays((5, H, D), (5, H, D), (9, G, D), (9, G, D))
    options: dict[str, Any] = {"causal": causal, "window": window, "on_empty_row": "zero"}
    packed: dict[str, Any] = {"cu_seqlens_q": STARTS_Q, "cu_seqlens_k": np.array(STARTS_K)}
    found = parts(attention(q, k, v, **packed, **options), g)
    assert {name: x.shape for name, x in found.items()} == {
        "output": (5, H, D), "lse": (H, 5), "dQ": (5, H, D), "dK": (9, G, D), "dV": (9, G, D),
    }  # fmt: skip
    for n in range(3):
        of_q, of_k = (slice(*x[n : n + 2]) for x in (STARTS_Q, STARTS_K))
        if of_q.start == of_q.stop:
            assert not found["dK"][of_k].any()
            assert not found["dV"][of_k].any()
            continue
        alone = [x.swapaxes(0, 1) for x in (q[of_q], k[of_k], v[of_k])]
        wanted = parts(attention(*alone, **options), g[of_q].swapaxes(0, 1))
        np.testing.assert_array_equal(found["lse"][:, of_q], wanted["lse"])
        for name, rows in (("output", of_q), ("dQ", of_q), ("dK", of_k), ("dV", of_k)):
            np.testing.assert_array_equal(found[name][rows], wanted[name].swapaxes(0, 1))


def test_padding_takes_no_part_in_gradients_of_ones():
    """Without an upstream gradient that of every packed token is one, of padding none."""
    q, k, v = arrays((3, 1, D), (5, 1, D), (5, 1, D))
    whole = attention(q, k, v, cu_seqlens_q=[0, 1, 3], cu_seqlens_k=[0, 3, 5]).backward()
    first = attention(q[:1, 0], k[:3, 0], v[:3, 0]).backward()
    np.testing.assert_array_equal(whole.dV.nearest()[:3, 0], first.dV.nearest())
    assert whole.dV.nearest().sum() == pytest.approx(3 * D)


def test_padding_is_no_query_without_a_key():
    """Where the shorter sequence's window ends, its padding is not told of."""
    q, k = arrays((4, 1, D), (6, 1, D))
    starts: dict[str, Any] = {"cu_seqlens_q": [0, 1, 4], "cu_seqlens_k": [0, 2, 6]}
    exact = attention(q, k, k, window=(0, 0), **starts)
    np.testing.assert_array_equal(exact.output.nearest(), k[[1, 3, 4, 5]])


def hiding(how, n_q, n_k):
    """A mask or a bias of the longest sequence that hides some keys, all of them from some
    queries, and everything in padding; and the same for each sequence alone."""
    keep = np.random.default_rng(5).random((len(n_q), H, max(n_q), max(n_k))) < 0.6
    keep[:, :, 0] = False
    for n, (rows, keys) in enumerate(zip(n_q, n_k, strict=True)):
        keep[n, :, rows:], keep[n, :, :, keys:] = False, False
    numbers = np.random.default_rng(6).integers(-3, 4, keep.shape).astype(float)
    plain = keep if how == "mask" else np.where(keep, numbers, -np.inf)
    given = (lambda x: x) if how == "mask" else from_floats
    alone = [plain[n, :, :rows, :keys] for n, (rows, keys) in enumerate(zip(n_q, n_k, strict=True))]
    return {how: given(plain)}, [{how: given(x)} for x in alone if x.size]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("empty", ["zero", "nan", "mean"])
@pytest.mark.parametrize("how", ["mask", "bias", "causal", "window"])
@pytest.mark.parametrize("more", [{}, {"softcap": 2, "scale": "1/3"}, {"sink": 1}])
def test_queries_that_see_no_key_are_those_of_each_sequence(how, empty, more):
    """Means are of a sequence's own values, and padding is no query and no key, whatever a mask
    or a bias has there."""
    n_q, n_k = np.diff(STARTS_Q), np.diff(STARTS_K)
    q, g, k, v = arrays((5, H, D), (5, H, D), (9, G, D), (9, G, D))
    hides: dict[str, Any] = {"causal": "bottom-right"}
    alone: list[dict[str, Any]] = [hides] * 3
    if how == "window":
        hides, alone = {"window": (1, 0)}, [{"window": (1, 0)}] * 3
    elif how != "causal":
        hides, alone = hiding(how, n_q, n_k)
    options: dict[str, Any] = {"on_empty_row": empty, **more}
    packed: dict[str, Any] = {"cu_seqlens_q": STARTS_Q, "cu_seqlens_k": STARTS_K}
    exact = attention(q, k, v, **packed, **hides, **options)
    found = parts(exact, g)
    assert [part.shape for part in (exact.weights, exact.scores)] == [(3, H, 3, 5)] * 2
    for n, hidden in zip((0, 2), (alone[0], alone[-1]), strict=True):
        of_q, of_k = (slice(*x[n : n + 2]) for x in (STARTS_Q, STARTS_K))
        own_q, own_k, own_v = (x.swapaxes(0, 1) for x in (q[of_q], k[of_k], v[of_k]))
        one = attention(own_q, own_k, own_v, **hidden, **options)
        wanted = parts(one, g[of_q].swapaxes(0, 1))
        np.testing.assert_array_equal(found["lse"][:, of_q], wanted["lse"])
        for name, rows in (("output", of_q), ("dQ", of_q), ("dK", of_k), ("dV", of_k)):
            np.testing.assert_array_equal(found[name][rows], wanted[name].swapaxes(0, 1))


@pytest.mark.parametrize("empty", ["error", "zero", "nan", "mean"])
@pytest.mark.parametrize("how", ["mask", "bias"])
def test_padding_that_is_hidden_is_no_empty_row(how, empty):
    """A mask or a bias of a padded batch hides its padding: no query sees nothing for that."""
    (x,) = arrays((3, 1, 1), seed=1)
    keep = np.ones((2, 1, 2, 2), bool)
    keep[1, 0, 1], keep[1, 0, 0, 1] = False, False
    whole = keep if how == "mask" else from_floats(np.where(keep, 0, -np.inf))
    starts: dict[str, Any] = {"cu_seqlens_q": [0, 2, 3], "on_empty_row": empty}
    hides: dict[str, Any] = {how: whole}
    found = parts(attention(x, x, x, **starts, **hides), np.ones((3, 1, 1), int))
    for name, wanted in parts(attention(x, x, x, **starts), np.ones((3, 1, 1), int)).items():
        np.testing.assert_array_equal(found[name], wanted)


@pytest.mark.parametrize("empty", ["zero", "mean"])
def test_nothing_stands_in_padding(empty):
    """Weights, and gradients into weights, scores and bias, of packed sequences are 0 beyond the
    end of each, so that sums over queries or keys are those over their tokens."""
    q, g, k, v = arrays((3, 1, D), (3, 1, D), (5, 1, D), (5, 1, D))
    bias = from_floats(np.random.default_rng(2).normal(size=(2, 1, 2, 3)))
    exact = attention(
        q, k, v, cu_seqlens_q=[0, 1, 3], cu_seqlens_k=[0, 3, 5], bias=bias, on_empty_row=empty
    )
    back = exact.backward(g)
    for part in (exact.weights, back.dA, back.dS, back.dBias):
        whole = part.nearest()
        assert not whole[0, 0, 1].any(), part
        assert part is back.dA or not whole[1, 0, :, 2].any(), part
    np.testing.assert_allclose(exact.weights.nearest().sum(-1), [[[1, 0]], [[1, 1]]])


def test_a_sequence_without_keys_has_no_mean():
    """Its output is the empty sum, and nothing flows from it."""
    q, k = arrays((3, 1, D), (2, 1, D))
    made = attention(q, k, k, cu_seqlens_q=[0, 2, 3], cu_seqlens_k=[0, 0, 2], on_empty_row="mean")
    assert not made.output.nearest()[:2].any()
    one = attention(q[2], k[:, 0], k[:, 0]).backward()
    np.testing.assert_array_equal(made.backward().dV.nearest()[:, 0], one.dV.nearest())


@pytest.mark.parametrize("hides", [{"mask": np.zeros((2, 1, 2, 3), bool)}, {"lengths": [0, 0]}])
def test_the_mean_of_padded_arrays_is_of_all_their_values(hides):
    """Lengths hide keys as a mask does, and a mean counts what is hidden: as JAX has it."""
    q, v = arrays((2, 1, 2, D), (2, 1, 3, D))
    found = attention(q, v, v, on_empty_row="mean", **hides).output.nearest()
    np.testing.assert_allclose(found, np.repeat(v.mean(axis=2, keepdims=True), 2, axis=2))


def test_masks_with_all_axes_may_have_one_for_all():
    """One row for all queries, or one column for all keys, where batches and heads are named."""
    q, k, v = arrays((B, S, H, D), (B, S, G, D), (B, S, G, D))
    keep = np.array([[1, 1, 0], [0, 1, 1]], bool)[:, None, None]
    options: dict[str, Any] = {"layout": "bshd"}
    found = attention(q, k, v, mask=keep, **options)
    whole = attention(q, k, v, mask=np.broadcast_to(keep, (B, H, S, S)), **options)
    assert found.output.equals(whole.output) is Verdict.HOLDS
    with pytest.raises(Malformed, match="mask: expected 3x3"):
        attention(q, k, v, mask=keep[0, 0], **options)


def test_packed_queries_beside_padded_keys():
    """What takes cu_seqlens_q, pages and lengths: keys padded, queries packed."""
    q, k, v = arrays((5, H, D), (9, G, D), (9, G, D))
    lengths = np.diff(STARTS_K)
    pad_k, pad_v = np.full((2, 3, 6, G, D), 99)
    for n, (start, stop) in enumerate(pairwise(STARTS_K)):
        pad_k[n, : stop - start], pad_v[n, : stop - start] = k[start:stop], v[start:stop]
    order: dict[str, Any] = {"causal": "bottom-right", "cu_seqlens_q": STARTS_Q}
    padded = attention(q, pad_k, pad_v, lengths=lengths, **order)
    packed = attention(q, k, v, cu_seqlens_k=STARTS_K, **order)
    assert padded.output.equals(packed.output) is Verdict.HOLDS
    dk = padded.backward().dK.nearest()
    inside = np.arange(6) < lengths[:, None]
    np.testing.assert_array_equal(dk[inside], packed.backward().dK.nearest())
    assert not dk[~inside].any()


def test_the_last_key_is_that_of_the_sequence():
    """Beside lengths, bottom-right counts from the last key that is there."""
    q, k, v = arrays((2, 2, D), (2, 5, D), (2, 5, D))
    both = attention(q, k, v, causal="bottom-right", lengths=[3, 5]).output.nearest()
    one = attention(q[0], k[0, :3], v[0, :3], causal="bottom-right").output.nearest()
    np.testing.assert_array_equal(both[0], one)
    window = attention(q, k, v, window=(0, 0), lengths=[3, 5]).weights.nearest()
    np.testing.assert_array_equal(window[0], [[0, 1, 0, 0, 0], [0, 0, 1, 0, 0]])


def test_what_is_not_a_number_stays_where_it_is():
    """A packed query that sees no key, with on_empty_row="nan"."""
    q, k, v = arrays((3, 1, D), (3, 1, D), (3, 1, D))
    starts: dict[str, Any] = {"cu_seqlens_q": [0, 2, 3], "cu_seqlens_k": [0, 1, 3]}
    exact = attention(q, k, v, causal="bottom-right", on_empty_row="nan", **starts)
    np.testing.assert_array_equal(np.isnan(exact.output.nearest())[:, 0, 0], [True, False, False])
    dead = np.isnan(exact.backward().dK.nearest())[:, 0, 0]
    np.testing.assert_array_equal(dead, [True, False, False])


TABLE, LENGTHS = [[4, 1, -1], [0, 9, 9], [2, 3, 5]], [3, 1, 6]


def test_pages_are_keys_in_order():
    """Each token from its block; nothing of what is beyond a length is looked at."""
    rng = np.random.default_rng(1)
    pages = rng.normal(size=(6, 2, G, D)).astype("float32")
    used = np.zeros((6, 2), dtype=bool)
    plain = np.zeros((3, 6, G, D))
    for n, length in enumerate(LENGTHS):
        for token in range(length):
            place = TABLE[n][token // 2], token % 2
            used[place], plain[n, token] = True, pages[place]
    pages[~used] = np.nan
    keys = from_pages(pages, TABLE, LENGTHS)
    np.testing.assert_array_equal(keys.array, plain)
    exact = from_pages(from_floats(np.where(np.isnan(pages), 0, pages)), TABLE, LENGTHS)
    np.testing.assert_array_equal(exact.array, plain)
    q = from_floats(rng.normal(size=(3, 2, H, D)))
    made = attention(q, keys, keys, layout="bshd", lengths=LENGTHS, causal="bottom-right",
                     on_empty_row="zero").output.nearest()  # fmt: skip
    for n, length in enumerate(LENGTHS):
        own = from_floats(plain[n, :length])
        one = attention(from_floats(q.array[n]), own, own, layout="shd", causal="bottom-right",
                        on_empty_row="zero")  # fmt: skip
        np.testing.assert_array_equal(made[n], one.output.nearest())


def test_pages_of_quantised_numbers_stay_such():
    """A cache in blocks with scales is handed on as it is."""
    blocks = from_blocks(np.ones((2, 2, 1, 4)), np.full((2, 2, 1, 2), 0.5), block=2)
    found = from_pages(blocks, [[1]], [1])
    assert type(found) is type(blocks)
    np.testing.assert_array_equal(found.array, np.full((1, 1, 1, 4), 0.5))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"layout": "bqhd"}, "layout: expected letters among b (batch), h (heads), s (sequence)"),
        ({"layout": "bshdd"}, "each once, s and d among them, found 'bshdd'"),
        ({"layout": "bhd"}, "found 'bhd'"),
        ({"layout": 3}, "found 3"),
        ({"layout": "shd"}, "Q: expected 3 axes, shd, found 2x3x4x2"),
        ({"layout": "thd"}, "layout: t packs sequences: cu_seqlens_q says where each of them"),
        ({"cu_seqlens_q": [0, 2], "layout": "bshd"}, "layout: expected letters among t (tokens"),
        ({"cu_seqlens_k": [0, 2]}, "cu_seqlens_q: expected one, as there is one of keys"),
        ({"cu_seqlens_q": [1, 2]}, "cu_seqlens_q: expected 0 and where each sequence ends"),
        ({"cu_seqlens_q": [0, 0.5]}, "cu_seqlens_q: expected whole numbers: 0, and where"),
        ({"cu_seqlens_q": [0, 3, 2]}, "cu_seqlens_q[2]: expected at least 3, where the sequence"),
        ({"cu_seqlens_q": [0, 2], "cu_seqlens_k": [0, 1, 2]}, "cu_seqlens_k: expected 1 sequences"),
        (
            {"cu_seqlens_q": [0, 2], "cu_seqlens_k": [0, 2], "lengths": [2]},
            "lengths: cu_seqlens_k says them",
        ),
    ],
)
def test_bad_layouts_are_told(options, said):
    """Which argument, what was expected, and what was found."""
    q = np.ones((B, S, H, D), int)
    with pytest.raises(Malformed, match=re.escape(said)):
        attention(q, q, q, **options)


def test_packed_arrays_have_as_many_tokens_as_their_sequences():
    """And the upstream gradient has the output's shape."""
    q, g = arrays((4, 1, D), (5, 1, D))
    with pytest.raises(Malformed, match=r"Q: expected 5 tokens, .* along t of thd, found 4x1x2"):
        attention(q, q, q, cu_seqlens_q=[0, 5])
    exact = attention(g, g, g, cu_seqlens_q=[0, 5])
    with pytest.raises(Malformed, match="upstream: expected 5 tokens"):
        exact.backward(q)
    with pytest.raises(
        Malformed, match="upstream: expected the output's shape, 5x1x2, found 5x1x1"
    ):
        exact.backward(g[..., :1])
    with pytest.raises(Malformed, match="causal: 2 queries and 2 keys can be aligned in two ways"):
        attention(q, q, q, causal=True, cu_seqlens_q=[0, 2, 3, 4], cu_seqlens_k=[0, 1, 3, 4])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"lengths": [3, 1, 7]}, "lengths[2]: expected 0 to 6, found 7"),
        ({"lengths": [3, 1]}, "lengths: expected 3, as block_table has, found 2"),
        ({"lengths": [3, 3, 6]}, "block_table[1][1]: expected a block from 0 to 5, found 9"),
        ({"block_table": [0, 1]}, "block_table: expected blocks, a row for each sequence"),
        ({"block_table": [[0.0]]}, "block_table: expected blocks"),
        ({"pages": np.ones(3)}, "pages: expected blocks x block size x heads x features"),
        ({"pages": [[[1]]]}, "pages: expected blocks x block size x heads x features, found list"),
        ({"pages": np.full((6, 2, 1, 1), np.nan)}, "pages"),
    ],
)
def test_bad_pages_are_told(given, said):
    """Blocks that are used and not there, and lengths without room."""
    plain = {"pages": np.ones((6, 2, 1, 1)), "block_table": TABLE, "lengths": LENGTHS}
    with pytest.raises(Malformed, match=re.escape(said)):
        from_pages(**{**plain, **given})
