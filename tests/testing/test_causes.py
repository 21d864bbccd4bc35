"""Wrong kernels are caught, and what they do instead is named."""

from __future__ import annotations

import re

import numpy as np
import pytest

from symattn import attention, from_floats
from symattn.testing import assert_close, check_attention, report

#: Queries' heads, queries, keys, columns.
N_Q, N_K, D = 6, 9, 4


def given(seed=0, n_q=N_Q, n_k=N_K, d=D, lead=(), lead_k=()):
    """Inputs of one kind: queries, keys, values and an upstream gradient."""
    rng = np.random.default_rng(seed)
    q, do = (rng.normal(size=(*lead, n_q, d)) for _ in range(2))
    k, v = (rng.normal(size=(*lead_k, n_k, d)) for _ in range(2))
    return {"q": q, "k": k, "v": v, "upstream": do}


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


class Kernel:
    """A plain kernel in NumPy; tests give it other steps."""

    softmax = staticmethod(softmax)

    def __init__(self, **steps):
        vars(self).update(steps)

    def scale(self, d):
        return 1 / np.sqrt(np.float32(d))

    def scores(self, scaled):
        return scaled

    def weights(self, q, k):
        self.asked = q, k
        return self.softmax(self.scores(q @ np.swapaxes(k, -1, -2) * self.scale(q.shape[-1])))

    def ds(self, a, da):
        return a * (da - (a * da).sum(axis=-1, keepdims=True))

    def dq(self, ds, q, k):
        return ds @ k * self.scale(q.shape[-1])

    def dk(self, ds, q, k):
        return np.swapaxes(ds, -1, -2) @ q * self.scale(q.shape[-1])

    def __call__(self, q, k, v):
        return self.weights(q, k) @ v

    def backward(self, q, k, v, do):
        a = self.weights(q, k)
        ds = self.ds(a, do @ np.swapaxes(v, -1, -2))
        return self.dq(ds, q, k), self.dk(ds, q, k), np.swapaxes(a, -1, -2) @ do


def hiding(seen):
    """Scores with what is not seen hidden."""
    return lambda scores: np.where(seen(*scores.shape[-2:]), scores, np.float32(-np.inf))


def causal(shift):
    """The causal mask of queries that stand so many keys further on."""
    return lambda n_q, n_k: np.tri(n_q, n_k, shift, dtype=bool)


def in_half(scores):
    """The softmax in float16, as it is written out."""
    return softmax(scores.astype("float16")).astype("float32")


def softmax_of_half(scores):
    """The softmax of float16 that computes in float32."""
    return softmax(scores.astype("float16").astype("float32")).astype("float16").astype("float32")


RIGHT = {"causal": "bottom-right"}
BR = hiding(causal(N_K - N_Q))

ALL = {"output", "dQ", "dK", "dV"}
SHIFTED = "the scores with the mask shifted by one key: each query attends to one key too "
ALIGNED = "the scores with the causal mask aligned "

#: Wrong steps, the options and lengths they are tried with, what is said, of which parts.
WRONG = {
    "softmax in float16": ({"softmax": in_half}, {}, {}, "the softmax stored as float16", ALL),
    "softmax of float16": (
        {"softmax": softmax_of_half},
        {},
        {},
        "the softmax stored as float16",
        ALL,
    ),
    "off by one, n_q < n_k": (
        {"scores": hiding(causal(N_K - N_Q - 1))},
        RIGHT,
        {},
        SHIFTED + "few",
        ALL,
    ),
    "a key too many": ({"scores": hiding(causal(N_K - N_Q + 1))}, RIGHT, {}, SHIFTED + "many", ALL),
    "top-left": (
        {"scores": hiding(causal(0))},
        RIGHT,
        {},
        ALIGNED + "top-left instead of bottom-right",
        ALL,
    ),
    "bottom-right": (
        {"scores": BR},
        {"causal": "top-left"},
        {},
        ALIGNED + "bottom-right instead of top-left",
        ALL,
    ),
    "no mask": ({}, RIGHT, {}, "the scores without the mask", ALL),
    "no scale": (
        {"scale": lambda d: np.float32(1)},
        {},
        {},
        "the scores without the factor scale",
        ALL,
    ),
    "scale twice": (
        {"scale": lambda d: np.float32(1 / d)},
        {},
        {},
        "the scores with the factor scale twice",
        ALL,
    ),
    "scale in float16": (
        {"scale": lambda d: np.float32(np.float16(1 / np.sqrt(d)))},
        {},
        {"d": 3},
        "the scale stored as float16",
        ALL,
    ),
    "dK without its transpose": (
        {"dk": lambda ds, q, k: ds @ q * np.float32(0.5)},
        {},
        {"n_q": N_K},
        "dK with dS not transposed",
        {"dK"},
    ),
    "dQ without the scale": (
        {"dq": lambda ds, q, k: ds @ k},
        {},
        {},
        "dQ without the factor scale",
        {"dQ"},
    ),
    "D dropped": (
        {"ds": lambda a, da: a * da},
        {},
        {},
        "dS without the term rowsum(A * dA)",
        {"dQ", "dK"},
    ),
    "D down the columns": (
        {"ds": lambda a, da: a * (da - (a * da).sum(axis=0))},
        {},
        {},
        "dS with A * dA summed down the columns",
        {"dQ", "dK"},
    ),
    "softmax down the columns": (
        {"softmax": lambda scores: softmax(scores.T).T},
        {},
        {},
        "the weights with the softmax down the columns",
        ALL,
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_the_slip_is_named(case):
    """Each planted slip is caught in the parts that it is in, and is the only cause named."""
    steps, options, lengths, said, parts = case
    kernel = Kernel(**steps)
    found = check_attention(
        kernel, **given(**lengths), backward=kernel.backward, raises=False, **options
    )
    assert {name for name, one in found.reports.items() if one.wrong} == parts
    assert [cause.phrase for cause in found.causes] == [said]
    assert set(found.causes[0].parts) == parts
    with pytest.raises(AssertionError, match="Likely cause: .*" + re.escape(said)):
        found.raise_if_wrong()


def forward_only(kernel, options, **changes):
    """What is said of a kernel without its backward pass."""
    arrays = {**given(**changes), "upstream": None}
    found = check_attention(kernel, **arrays, raises=False, **options)
    return [str(cause) for cause in found.causes]


def test_soft_capping_after_the_mask_is_named():
    """Capping what is hidden gives it a score of minus the cap."""
    kernel = Kernel(scores=lambda s: np.float32(2) * np.tanh(BR(s) / np.float32(2)))
    said = forward_only(kernel, {**RIGHT, "softcap": 2.0})
    assert said == ["output: the scores capped after the mask instead of before"]


def test_soft_capping_after_the_bias_is_named():
    """So is capping what the bias has been added to."""
    bias = np.random.default_rng(5).normal(size=(N_Q, N_K)).astype("float32")
    kernel = Kernel(scores=lambda s: np.float32(2) * np.tanh((s + bias) / np.float32(2)))
    said = forward_only(kernel, {"bias": bias, "softcap": 2.0})
    assert said == ["output: the scores capped after the bias instead of before"]


def test_a_row_masked_whole_that_gives_the_mean_is_named():
    """A masked score of -1e9 makes all keys of such a row equal."""
    mask = np.tri(N_Q, N_K, dtype=bool)
    mask[2] = False
    kernel = Kernel(scores=lambda s: np.where(mask, s, np.float32(-1e9)))
    said = forward_only(kernel, {"mask": mask, "on_empty_row": "zero"})
    assert said == ["output: a fully masked row giving the mean of the values instead of zero"]
    kernel = Kernel(scores=lambda s: np.where(mask, s, np.float32(-np.inf)))
    with np.errstate(invalid="ignore"):
        said = forward_only(kernel, {"mask": mask, "on_empty_row": "mean"})
    assert said == ["output: a fully masked row giving NaN instead of the mean of the values"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("order", "said"),
    [
        ([0, 0, 1, 1], []),
        (
            [0, 1, 0, 1],
            [
                "attention of each head with the keys and values of head h mod H, interleaved, "
                "instead of its own"
            ],
        ),
        (
            [0, 0, 0, 0],
            [
                "attention of each head with the keys and values of the first head "
                "instead of its own"
            ],
        ),
    ],
)
def test_keys_of_another_head_are_named(order, said):
    """Groups that are interleaved, and one head for all, forward and backward."""
    kernel = Kernel()

    def forward(q, k, v):
        return kernel(q, k[:, order], v[:, order])

    def backward(q, k, v, do):
        dq, *others = kernel.backward(q, k[:, order], v[:, order], do)
        sums = [np.zeros_like(k), np.zeros_like(v)]
        for whole, part in zip(sums, others, strict=True):
            for head, taken in enumerate(order):
                whole[:, taken] += part[:, head]
        return dq, *sums

    arrays = given(lead=(2, 4), lead_k=(2, 2))
    found = check_attention(forward, **arrays, backward=backward, raises=False)
    assert [cause.phrase for cause in found.causes] == said


def test_sums_in_half_precision_are_named():
    """Weights times values added up in float16, key by key."""

    def kernel(q, k, v):
        a = softmax(q @ k.T / np.sqrt(np.float32(q.shape[1])))
        sums = np.zeros((len(q), v.shape[1]), "float16")
        for j in range(len(k)):
            sums += (a[:, j, None] * v[j]).astype("float16")
        return sums.astype("float32")

    arrays = {**given(), "upstream": None}
    found = check_attention(kernel, **arrays, raises=False)
    assert [cause.kind for cause in found.causes] == ["sums-in"]


@pytest.mark.parametrize(
    ("block", "rescaled", "said"),
    [
        (4, "sums", "the output computed in blocks of 4 keys"),
        (2, "", "the output and the sums computed in blocks of 2 keys"),
        (4, "both", None),
    ],
)
def test_blocks_that_are_not_rescaled_are_named(block, rescaled, said):
    """What was summed before a larger score came must be scaled down to it."""

    def kernel(q, k, v):
        scores = q @ k.T / np.sqrt(np.float32(q.shape[1]))
        top, sums, output = np.float32(-np.inf), np.float32(0), np.float32(0)
        for start in range(0, len(k), block):
            part = scores[:, start : start + block]
            new = np.maximum(top, part.max(axis=-1, keepdims=True))
            powers, again = np.exp(part - new), np.exp(top - new)
            sums = sums * (again if rescaled else 1) + powers.sum(axis=-1, keepdims=True)
            output = output * (again if rescaled == "both" else 1)
            output = output + powers @ v[start : start + block]
            top = new
        return output / sums

    said = [f"output: {said} without rescaling when the maximum grows"] if said else []
    assert forward_only(kernel, {}) == said


def test_two_slips_are_named_apart():
    """A forward pass without the scale, a dK without its transpose."""
    kernel = Kernel(dk=lambda ds, q, k: ds @ q * np.float32(0.5))
    wrong = Kernel(scale=lambda d: np.float32(1))
    found = check_attention(wrong, **given(n_q=N_K), backward=kernel.backward, raises=False)
    assert [str(cause) for cause in found.causes] == [
        "output: the scores without the factor scale",
        "dK: dK with dS not transposed",
    ]


def test_what_is_unknown_is_not_named():
    """An error that no slip gives has no cause."""
    noise = np.random.default_rng(3).normal(size=(N_Q, D)).astype("float32")
    for size in (1e-4, 1e-2, 1.0):
        kernel = Kernel()
        said = forward_only(lambda q, k, v: kernel(q, k, v) + np.float32(size) * noise, {})  # noqa: B023
        assert said == []


def test_one_array_alone_has_its_cause():
    """assert_close and report tell it too."""
    arrays = {name: x.astype("float32") for name, x in given().items()}
    q, k, v = (arrays[name] for name in "qkv")
    found = Kernel(scores=hiding(causal(0)))(q, k, v)
    exact = attention(*(from_floats(x) for x in (q, k, v)), causal="bottom-right")
    assert [cause.kind for cause in report(found, exact.output).causes] == ["mask-aligned"]
    with pytest.raises(AssertionError, match="aligned top-left instead of bottom-right"):
        assert_close(found, exact.output)


def test_a_kernel_of_float64_that_computes_in_float32_is_told():
    """Its errors are those of float32, all of them."""

    def kernel(q, k, v):
        return Kernel()(*(x.astype("float32") for x in (q, k, v))).astype("float64")

    said = forward_only(kernel, {"dtype": "float64"})
    assert said == ["output: a step stored as float32"]


@pytest.mark.parametrize("name", ["scores", "weights", "dA", "dS"])
def test_every_part_alone_has_its_cause(name):
    """Scores, weights and what flows into them are judged as outputs and gradients are; what
    doesn't depend on the slip is right."""
    arrays = given()
    q, k, v, do = (
        from_floats(arrays[name].astype("float32")) for name in ("q", "k", "v", "upstream")
    )
    right, wrong = (
        made.backward(do) if name.startswith("d") else made
        for made in (attention(q, k, v, scale=scale) for scale in ("1/2", 1))
    )
    found = report(getattr(wrong, name).nearest("float32"), getattr(right, name))
    phrases = [cause.phrase for cause in found.causes]
    assert phrases == ([] if name == "dA" else ["the scores without the factor scale"])
