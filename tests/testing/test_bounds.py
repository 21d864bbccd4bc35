"""Correct kernels keep their bound, whatever they are given; wrong ones don't."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn import attention, from_floats
from symattn.testing import Precision, check_attention
from symattn.testing.bounds import bounds

from ..strategies import few
from .kernels import Kernel

KINDS = ("ordinary", "saturated", "cancelling", "equal keys", "tiny", "one key")


def inputs(kind, seed, n_q, n_k, d):
    """Queries, keys, values and an upstream gradient of a kind that finds bugs."""
    rng = np.random.default_rng(seed)
    q, k, v, do = (rng.normal(size=(n, d)) for n in (n_q, n_k, n_k, n_q))
    if kind == "saturated":
        q, k = q * 8, k * 8
    elif kind == "cancelling":
        # Values and upstream gradients that are nearly orthogonal to what they meet.
        v = 1 + v * 2.0**-8
        do = do - do.mean(axis=1, keepdims=True)
    elif kind == "equal keys":
        k = np.repeat(k[:1], n_k, axis=0)
    elif kind == "tiny":
        q, v, do = q * 2.0**-12, v * 2.0**-10, do * 2.0**-10
    elif kind == "one key":
        k, v = k[:1], v[:1]
    return q, k, v, do


kernels = st.builds(
    Kernel,
    unfused=st.booleans(),
    order=st.sampled_from(["forwards", "backwards", "pairwise", "blocks"]),
    online=st.sampled_from([0, 0, 16]),
    from_output=st.booleans(),
    causal=st.booleans(),
)
sizes = st.tuples(st.integers(1, 5), st.integers(1, 20), st.integers(1, 6))


@pytest.mark.heavy
@few
@given(st.sampled_from(KINDS), st.integers(0, 99), sizes, kernels, st.booleans(), st.booleans())
def test_correct_kernels_keep_their_bound(kind, seed, size, kernel, half, recomputes):
    """Naive and blockwise kernels, fused or not, sums in any order, of float32 and float16:
    no entry of the output, the log-sum-exp or a gradient is off by more than its bound."""
    dtype = np.float16 if half else np.float32
    # A log-sum-exp that was stored in half precision is no base for weights.
    recomputes = recomputes and not half and not kernel.unfused
    kernel = Kernel(**{**vars(kernel), "dtype": dtype, "recomputes": recomputes})
    q, k, v, do = inputs(kind, seed, *size)
    found = check_attention(
        kernel,
        q=q,
        k=k,
        v=v,
        upstream=do,
        backward=kernel.backward,
        dtype=dtype,
        level="unfused" if kernel.unfused else "fused",
        causal="top-left" if kernel.causal else None,
    )
    assert [*found.reports] == ["output", "lse", "dQ", "dK", "dV"]
    assert all(report.max_over_bound <= 1 for report in found.reports.values())


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("kind", KINDS)
def test_fused_kernels_keep_the_bound_of_all(kind, dtype):
    """What may be stored may also not be: the bound of unfused kernels is no smaller."""
    q, k, v, do = (from_floats(x.astype(dtype)) for x in inputs(kind, 1, 4, 17, 5))
    back = attention(q, k, v).backward(do)
    forward = attention(q, k, v)
    for part in (forward.output, forward.lse, back.dQ, back.dK, back.dV):
        fused, unfused = (
            bounds(part, Precision(np.dtype(dtype).name, level=level))
            for level in ("fused", "unfused")
        )
        assert (fused.bound <= unfused.bound).all()
        assert (fused.condition == unfused.condition).all()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("softcap", 2.0),
        ("bias", np.random.default_rng(5).normal(size=(6, 9))),
        ("sink", 0.5),
        ("window", (2, 1)),
        ("lengths", np.array([4, 9])),
    ],
)
def test_conditions_are_sums_of_magnitudes(option, value):
    """The condition is at least the magnitude of the exact entry, with every option."""
    rng = np.random.default_rng(2)
    q, do = (from_floats(rng.normal(size=(2, 6, 3))) for _ in range(2))
    k, v = (from_floats(rng.normal(size=(2, 9, 3))) for _ in range(2))
    exact = value if option in ("window", "lengths") else from_floats(value)
    made = attention(q, k, v, **{option: exact})
    back = made.backward(do)
    for part in (made.scores, made.weights, made.output, made.lse, back.dQ, back.dK, back.dV):
        found = bounds(part, Precision("float32"))
        values = np.nan_to_num(part.nearest(), neginf=0.0)
        assert found.condition.shape == part.shape
        assert (abs(values) <= found.condition * (1 + 1e-12)).all()
        assert (found.bound[values != 0] > 0).all()


def test_bounds_follow_slices():
    """What is taken of a quantity has the bounds of what was taken."""
    rng = np.random.default_rng(3)
    q, k, v = (from_floats(rng.normal(size=(2, 4, 3))) for _ in range(3))
    output = attention(q, k, v).output
    whole = bounds(output, Precision("float32")).bound
    taken = bounds(output[1][2:, 0], Precision("float32")).bound
    assert np.array_equal(taken, whole[1][2:, 0])


PLANTED = {
    "softmax in float16": lambda s: np.exp(s - s.max(-1, keepdims=True)).astype("float16"),
    "exponentials that overflow": lambda s: np.exp(s + np.float32(100)),
    "last key left out": lambda s: np.exp(np.where(np.arange(s.shape[-1]) > 10, -np.inf, s)),
    "base 2": lambda s: np.exp2(s),
}


@pytest.mark.parametrize("powers", PLANTED.values(), ids=PLANTED)
def test_wrong_kernels_exceed_it(powers):
    """Slips of precision and of the definition are outside the bound."""

    def kernel(q, k, v):
        with np.errstate(all="ignore"):
            made = powers(q @ k.T / np.sqrt(np.float32(q.shape[1])) * np.float32(1))
            return (made / made.sum(-1, keepdims=True)).astype("float32") @ v

    q, k, v, _ = inputs("ordinary", 4, 12, 12, 8)
    found = check_attention(kernel, q=q, k=k, v=v, raises=False)
    assert found.reports["output"].max_over_bound > 1


def test_long_sums_keep_their_bound():
    """Where all roundings of a sum go one way its error grows with its length, and a part of
    the bound that grows so is needed."""
    n = 600
    q, k, v = np.zeros((1, 1)), np.zeros((n, 1)), np.full((n, 1), 1 / 3)
    found = check_attention(Kernel(), q=q, k=k, v=v).reports["output"]
    assert found.worst is not None
    assert 0.02 < found.max_over_bound <= 1
    assert found.max_scaled > 20


def test_what_is_subnormal_may_be_taken_for_zero():
    """Kernels on machines that flush such numbers keep their bound, though what they are
    multiplied by makes them large."""
    rng = np.random.default_rng(8)
    q, k, v, do = (rng.normal(size=(4, 3)) for _ in range(4))
    q, k, v = q * 2.0**115, k * 2.0**-124, v * 2.0**8

    def flushed(*arrays):
        return (np.where(abs(x) < np.finfo("float32").tiny, np.float32(0), x) for x in arrays)

    kernel = Kernel()
    found = check_attention(
        lambda *x: kernel(*flushed(*x)),
        q=q,
        k=k,
        v=v,
        upstream=do,
        backward=lambda *x: kernel.backward(*flushed(*x)),
    )
    assert min(found.reports[name].max_ulp for name in ("output", "dQ")) > 100


def test_a_row_that_sees_no_key_has_its_own_output_in_every_head():
    """It is 0 also where the first head has no such row: nothing is rounded there."""
    rng = np.random.default_rng(9)
    q, k, v = (from_floats(rng.normal(size=(2, 3, 2))) for _ in range(3))
    mask = np.ones((2, 3, 3), bool)
    mask[1, 0] = False
    found = bounds(attention(q, k, v, mask, on_empty_row="zero").output, Precision("float32"))
    assert found.condition[1, 0].tolist() == found.bound[1, 0].tolist() == [0.0, 0.0]
    assert (found.bound[0] > 0).all()
