"""Kernels that take arrays in their own axes, packed or in pages, judged as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symattn import Malformed, Verdict, attention, from_floats, from_pages
from symattn.testing import check_attention, report

H, G, D = 4, 2, 3
STARTS_Q, STARTS_K = [0, 2, 5], [0, 3, 9]


def inputs(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape).astype("float32") for shape in shapes]


def heads_first(q, k, v, causal, fault):
    """The output, lse and weights of h x s x d."""
    k, v = (
        np.tile(x, (H // G, 1, 1)) if fault == "tiled" else np.repeat(x, H // G, 0) for x in (k, v)
    )
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(np.float32(D))
    n_q, n_k = scores.shape[-2:]
    if causal and fault != "unmasked":
        scores = np.where(np.tri(n_q, n_k, n_k - n_q, dtype=bool), scores, np.float32(-np.inf))
    top = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - top)
    total = powers.sum(axis=-1, keepdims=True)
    return powers / total @ v, (top + np.log(total))[..., 0], powers / total, k, v


class Kernel:
    """Sequences one after the other, tokens x heads x features each."""

    def __init__(self, pairs, causal=True, fault=""):
        self.pairs, self.causal, self.fault = pairs, causal, fault

    def each(self, q, k, v):
        for of_q, of_k in self.pairs:
            one, two, three = (x.swapaxes(0, 1) for x in (q[of_q], k[of_k], v[of_k]))
            yield of_q, of_k, heads_first(one, two, three, self.causal, self.fault)

    def __call__(self, q, k, v):
        output, lse = np.zeros((*q.shape[:2], v.shape[-1]), "float32"), []
        for of_q, _, (y, sums, *_) in self.each(q, k, v):
            output[of_q] = y.swapaxes(0, 1)
            lse.append(sums)
        return output, np.concatenate(lse, axis=1)

    def backward(self, q, k, v, upstream):
        dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
        for of_q, of_k, (_, _, a, keys, values) in self.each(q, k, v):
            do = upstream[of_q].swapaxes(0, 1)
            da = do @ values.swapaxes(-1, -2)
            ds = a * (da - (a * da).sum(axis=-1, keepdims=True)) / np.sqrt(np.float32(D))
            dq[of_q] = (ds @ keys).swapaxes(0, 1)
            flows = ds.swapaxes(-1, -2) @ q[of_q].swapaxes(0, 1), a.swapaxes(-1, -2) @ do
            order = (H // G, G) if self.fault == "tiled" else (G, H // G)
            for whole, flow in zip((dk, dv), flows, strict=True):
                shared = flow.reshape(*order, *flow.shape[1:]).sum(int(self.fault != "tiled"))
                whole[of_k] = shared.swapaxes(0, 1)
        return dq, dk, dv


PAIRS = [
    (slice(*STARTS_Q[n : n + 2]), slice(*STARTS_K[n : n + 2])) for n in range(len(STARTS_Q) - 1)
]
FAULTS = [
    ("", ""),
    ("unmasked", "the scores without the mask"),
    ("tiled", "attention of each head with the keys and values of head h mod H, interleaved"),
]


def judged(kernel, q, k, v, upstream, **options):
    return check_attention(
        kernel, q=q, k=k, v=v, upstream=upstream, backward=kernel.backward, raises=False, **options
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("fault", "said"), FAULTS)
@pytest.mark.parametrize("is_packed", [False, True])
def test_kernels_in_their_own_axes(is_packed, fault, said):
    """All parts are judged in the kernel's axes, packed ones too, and the cause is named."""
    rows = (5, 9) if is_packed else (6, 6)
    q, do, k, v = inputs(*((rows[0], H, D),) * 2, *((rows[1], G, D),) * 2)
    whole = [(slice(None), slice(None))]
    kernel = Kernel(PAIRS if is_packed else whole, fault=fault)
    options: dict[str, Any] = {"causal": "bottom-right", "layout": "shd"}
    if is_packed:
        options |= {"layout": "thd", "cu_seqlens_q": STARTS_Q, "cu_seqlens_k": STARTS_K}
    found = judged(kernel, q, k, v, do, **options)
    assert {name: part.shape for name, part in found.reports.items()} == {
        "output": (rows[0], H, D),
        "lse": (H, rows[0]),
        "dQ": (rows[0], H, D),
        "dK": (rows[1], G, D),
        "dV": (rows[1], G, D),
    }
    assert (found.verdict is Verdict.HOLDS) == (not fault)
    causes = [(cause.parts, cause.phrase) for cause in found.causes]
    assert len(causes) == bool(fault)
    if fault:
        ((parts, phrase),) = causes
        assert parts == ("output", "lse", "dQ", "dK", "dV")
        assert phrase.startswith(said)


def test_a_wrong_entry_has_its_place_in_the_packed_array():
    """The index that is told is one of the kernel's array."""
    q, k, v = inputs((5, H, D), (9, G, D), (9, G, D))
    kernel = Kernel(PAIRS)

    def off(*arrays):
        output, lse = kernel(*arrays)
        output[3, 1, 2] += 1
        lse[2, 4] += 1
        return output, lse

    found = check_attention(
        off, q=q, k=k, v=v, causal="bottom-right", raises=False,
        cu_seqlens_q=STARTS_Q, cu_seqlens_k=STARTS_K,
    )  # fmt: skip
    places = {name: [miss.index for miss in x.misses] for name, x in found.reports.items()}
    assert places == {"output": [(3, 1, 2)], "lse": [(2, 4)]}


@pytest.mark.parametrize("size", [1, pytest.param(150, marks=pytest.mark.heavy)])
@pytest.mark.parametrize(
    ("own", "empty", "said"),
    [
        (True, "mean", []),
        (False, "mean", None),
        (True, "zero", ["a fully masked row giving the mean of the values instead of zero"]),
    ],
)
def test_means_of_packed_sequences(size, own, empty, said):
    """The mean of a query that sees no key is over the values of its own sequence: a kernel that
    divides by the longest's number of keys is refuted, and one that has a mean for 0 is told."""
    starts_q, starts_k = [0, 2 * size, 5 * size], [0, size, 4 * size]
    q, k, v, do = inputs((5 * size, 1, D), (4 * size, 1, D), (4 * size, 1, D), (5 * size, 1, D))

    def weights(n, q, k):
        scores = (q @ k.T / np.sqrt(np.float32(D))).astype("float32")
        n_q, n_k = scores.shape
        keep = np.tri(n_q, n_k, n_k - n_q, dtype=bool)
        powers = np.where(keep, np.exp(scores), 0)
        below = powers.sum(axis=1, keepdims=True)
        dead = below == 0
        mean = np.float32(1) / np.float32(n_k if own else 3 * size)
        return np.where(dead, mean, powers / np.where(dead, 1, below)), dead

    def kernel(q, k, v):
        output = np.zeros_like(q)
        for n in range(2):
            of_q, of_k = (slice(*x[n : n + 2]) for x in (starts_q, starts_k))
            a, _ = weights(n, q[of_q, 0], k[of_k, 0])
            output[of_q, 0] = a @ v[of_k, 0]
        return output

    def backward(q, k, v, do):
        dq, dk, dv = map(np.zeros_like, (q, k, v))
        for n in range(2):
            of_q, of_k = (slice(*x[n : n + 2]) for x in (starts_q, starts_k))
            a, dead = weights(n, q[of_q, 0], k[of_k, 0])
            da = do[of_q, 0] @ v[of_k, 0].T
            ds = a * (da - (a * da).sum(axis=1, keepdims=True)) / np.sqrt(np.float32(D))
            ds = np.where(dead, 0, ds).astype("float32")
            dq[of_q, 0], dk[of_k, 0] = ds @ k[of_k, 0], ds.T @ q[of_q, 0]
            dv[of_k, 0] = a.T @ do[of_q, 0]
        return dq, dk, dv

    found = check_attention(
        kernel, q=q, k=k, v=v, upstream=do, backward=backward, causal="bottom-right",
        on_empty_row=empty, cu_seqlens_q=starts_q, cu_seqlens_k=starts_k, raises=False,
    )  # fmt: skip
    wrong = {name for name, part in found.reports.items() if part.verdict is not Verdict.HOLDS}
    assert wrong == (set() if said == [] else {"output", "dV"})
    if said is not None and size == 1:
        assert [cause.phrase for cause in found.causes] == said


@pytest.mark.parametrize("reads_on", [False, True])
def test_a_kernel_of_pages(reads_on):
    """Pages are closed over; what lies in a page beyond the last token must not be read."""
    pages = inputs((4, 2, G, D), (4, 2, G, D), seed=2)
    table, lengths = np.array([[3, 0], [1, 2]]), np.array([3, 4])
    (q,) = inputs((2, 1, H, D))
    k, v = (from_pages(x, table, lengths) for x in pages)

    def kernel(q, *_):
        outputs = []
        for n, length in enumerate(lengths):
            last = 4 if reads_on else length
            keys, values = (x[table[n]].reshape(-1, G, D)[:last].swapaxes(0, 1) for x in pages)
            outputs.append(heads_first(q[n].swapaxes(0, 1), keys, values, False, "")[0])
        return np.stack(outputs).swapaxes(1, 2)

    found = check_attention(kernel, q=q, k=k, v=v, layout="bshd", lengths=lengths, raises=False)
    assert (found.verdict is Verdict.REFUTED) == reads_on
    assert all(miss.index[0] == 0 for miss in found.reports["output"].misses)


def test_an_additive_mask_is_a_bias():
    """PyTorch's attn_mask of floats, -inf among them, a row of such too."""
    q, k, v, bias = inputs((3, D), (4, D), (4, D), (3, 4))
    bias[1:, 2], bias[0] = -np.inf, -np.inf

    def kernel(q, k, v):
        scores = q @ k.T / np.sqrt(np.float32(D)) + bias
        powers = np.exp(scores - np.maximum(scores.max(axis=1, keepdims=True), -1e30))
        return powers / np.maximum(powers.sum(axis=1, keepdims=True), 1e-30) @ v

    check_attention(kernel, q=q, k=k, v=v, bias=bias, on_empty_row="zero")
    with pytest.raises(Malformed, match=r"bias=symattn.from_floats\(mask\)"):
        check_attention(kernel, q=q, k=k, v=v, mask=bias)


class Shared:
    """An array of a package that has DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_results_come_by_dlpack():
    """Inputs and results of a package without __array__, in the format that they have."""
    q, k, v = inputs((3, D), (4, D), (4, D))
    exact = attention(from_floats(q), from_floats(k), from_floats(v))
    found = report(Shared(exact.output.nearest("float32")), exact.output)
    assert (found.format, found.correctly_rounded) == ("float32", 1)

    def kernel(q, k, v):
        made = attention(from_floats(q), from_floats(k), from_floats(v))
        return Shared(made.output.nearest("float32"))

    check_attention(kernel, q=Shared(q), k=Shared(k), v=Shared(v))
