"""A museum of kernel bugs: public threads, each as one changed step of a small kernel.

The kernel is ours; no code is taken from a thread. What an exhibit changes is the fault that its
thread tells of, in as few words as it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MethodType
from typing import Any

import numpy as np

from symattn.testing import KernelReport, check_attention
from symattn.testing.samples import Sample, sample

F = np.float32
INF = F(np.inf)
LOWEST = np.finfo(F).min


def turned(x):
    return np.swapaxes(x, -1, -2)


def narrow(x):
    """What is left of numbers in bfloat16: their highest 16 bits."""
    bits = np.ascontiguousarray(x, dtype=F).view(np.uint32)
    return ((bits + np.uint32(0x8000)) & np.uint32(0xFFFF0000)).view(F)


class Kernel:
    """Attention and its gradients in float32, step by step; an exhibit has other steps."""

    def __init__(self, given: Sample, **steps: Callable[..., Any]) -> None:
        bias, options = given.options.get("bias", 0), given.options
        self.keep = True if given.visible is None else given.visible
        self.bias = np.asarray(bias, F)
        self.cap, self.sink = F(options.get("softcap", INF)), F(options.get("sink", -INF))
        for name, step in steps.items():
            setattr(self, name, MethodType(step, self))

    def scaled(self, s, d):
        return s / np.sqrt(F(d))

    def capped(self, s):
        return s if np.isinf(self.cap) else self.cap * np.tanh(s / self.cap)

    def biased(self, s):
        return s + self.bias

    def masked(self, s):
        return np.where(self.keep, s, -INF)

    def score(self, s):
        return self.masked(self.biased(self.capped(s)))

    def top(self, s):
        """What is subtracted: the maximum, where there is one."""
        return np.maximum(np.maximum(s.max(axis=-1, keepdims=True), self.sink), LOWEST)

    def sums(self, powers, top):
        return powers.sum(axis=-1, keepdims=True) + np.exp(self.sink - top)

    def softmax(self, s):
        """Weights and their log-sum-exp."""
        top = self.top(s)
        powers = np.exp(s - top)
        sums = self.sums(powers, top)
        return powers / np.where(sums == 0, F(1), sums), self.lse(top, sums)

    def lse(self, top, sums):
        return top + np.log(sums)

    def shared(self, x, group):
        """Keys or values for each head of queries."""
        return np.repeat(x, group, axis=-3) if group > 1 else x

    def gathered(self, x, group):
        """What flows into keys or values from each head of queries."""
        return x.reshape(-1, group, *x.shape[-2:]).sum(axis=1) if group > 1 else x

    def read(self, v):
        return v

    def finished(self, output):
        return output

    def run(self, q, k, v):
        """The output and the log-sum-exp."""
        group = q.shape[0] // k.shape[0] if q.ndim == 3 else 1
        k, v = self.shared(k, group), self.shared(v, group)
        weights, lse = self.softmax(self.score(self.scaled(q @ turned(k), q.shape[-1])))
        return self.finished(weights @ self.read(v)), lse[..., 0]

    def __call__(self, q, k, v):
        with np.errstate(all="ignore"):
            return self.run(q, k, v)

    def score_again(self, s):
        return self.score(s)

    def weights_again(self, s):
        return self.softmax(s)[0]

    def slope(self, s):
        """The derivative of the capping."""
        return 1 - (self.capped(s) / self.cap) ** 2

    def rest(self, a, s, da):
        """What is D in a flash kernel."""
        return (a * da).sum(axis=-1, keepdims=True)

    def backward(self, q, k, v, upstream):
        with np.errstate(all="ignore"):
            group, d = q.shape[0] // k.shape[0] if q.ndim == 3 else 1, q.shape[-1]
            k, v = self.shared(k, group), self.shared(v, group)
            s = self.scaled(q @ turned(k), d)
            a = self.weights_again(self.score_again(s))
            da = upstream @ turned(v)
            ds = a * (da - self.rest(a, s, da))
            ds = self.scaled(ds * self.slope(s), d)
            flows = turned(ds) @ q, turned(a) @ upstream
            return ds @ k, *(self.gathered(x, group) for x in flows)


@dataclass(frozen=True)
class Exhibit:
    """A public bug: the thread, what was wrong, the kind of samples that shows it (with other
    ``options``, leading axes), what is said of it ('' where only that it is wrong), and the steps
    that the kernel has instead."""

    thread: str
    what: str
    kind: str
    said: str
    steps: Mapping[str, Callable[..., Any]]
    options: Mapping[str, Any] | None = None
    lead: tuple[int, ...] = ()
    has_gradients: bool = field(default=True)

    def judged(self, is_right: bool = False) -> KernelReport:
        """What is said of this kernel, or of the right one, on its sample."""
        given = sample(self.kind, lead=self.lead)
        if self.options is not None:
            given = replace(given, options=self.options)
        kernel = Kernel(given, **({} if is_right else self.steps))
        return check_attention(
            kernel,
            q=given.q,
            k=given.k,
            v=given.v,
            upstream=given.upstream if self.has_gradients else None,
            backward=kernel.backward if self.has_gradients else None,
            raises=False,
            **given.options,
        )

    @property
    def row(self) -> str:
        """Its row of the table in the documentation."""
        owner, number = self.thread.split("#")
        link = f"[{self.thread}](https://github.com/{owner}/issues/{number})"
        return f"| {link} | {self.what} | {self.kind} | {self.said} |"


def ahead(s):
    """How many keys each key stands behind its query's own."""
    n_q, n_k = s.shape[-2:]
    return np.arange(n_k) - np.arange(n_q)[:, None]


def seeing(seen):
    """Scores of which those are masked that are not seen."""
    return lambda kernel, s: np.where(seen(kernel, s), s, -INF)


def zeros_beyond(tile):
    """Sums of exponentials with those of zeros up to a whole number of tiles."""
    return lambda kernel, powers, top: (
        powers.sum(axis=-1, keepdims=True) + -powers.shape[-1] % tile * np.exp(-top)
    )


def begun_at(start):
    return lambda kernel, s: np.maximum(s.max(axis=-1, keepdims=True), F(start))


def across_heads(kernel, q, k, v):
    q, k, v = (np.swapaxes(x, 0, 1) for x in (q, k, v))
    weights, _ = kernel.softmax(kernel.scaled(q @ turned(k), q.shape[-1]))
    return np.swapaxes(weights @ v, 0, 1)


SCORES = "the scores "
UNMASKED = SCORES + "without the mask"
ALIGNED = SCORES + "with the causal mask aligned "
HIGH = "the exponentials beside a maximum that was begun too high"
SHORT = SCORES + "with a window that starts one key late"

#: All exhibits. Threads are of the packages themselves or of code for them.
MUSEUM = (
    Exhibit(
        "pytorch/pytorch#103963", "a query that sees no key gets NaN", "empty-row",
        "a fully masked row giving NaN instead of zero",
        {"top": lambda kernel, s: s.max(axis=-1, keepdims=True)}, has_gradients=False,
    ),
    Exhibit(
        "pytorch/pytorch#117939", "equivalent code does nothing with a boolean mask", "masked",
        UNMASKED, {"masked": lambda kernel, s: s},
    ),
    Exhibit(
        "pytorch/pytorch#139462", "zeros for all but the first of a batch", "ordinary", "",
        {"finished": lambda kernel, y: y * (np.arange(len(y)) == 0)[:, None, None].astype(F)},
        lead=(2,),
    ),
    Exhibit(
        "rasbt/LLMs-from-scratch#1061", "True was taken for masked", "masked",
        SCORES + "with the mask negated: what should be hidden is seen, and nothing else",
        {"masked": seeing(lambda kernel, s: ~kernel.keep)},
    ),
    Exhibit(
        "TransformerLensOrg/TransformerLens#318", "a mask of -1e5 beside lower scores",
        "mask-reached", "masked entries of the scores set to -100000, not minus infinity",
        {"masked": lambda kernel, s: np.where(kernel.keep, s, F(-1e5))},
    ),
    Exhibit(
        "Shujun-He/RibonanzaNet#5", "a mask of -1e-9", "masked",
        "the scores with 0 for a masked score instead of minus infinity",
        {"masked": lambda kernel, s: np.where(kernel.keep, s, F(-1e-9))},
    ),
    Exhibit(
        "lucidrains/memory-compressed-attention#2", "masked after the softmax", "masked",
        "the weights with the mask after the softmax instead of before it",
        {"masked": lambda kernel, s: s,
         "softmax": lambda kernel, s: (Kernel.softmax(kernel, s)[0] * kernel.keep,
                                       Kernel.softmax(kernel, s)[1])},
    ),
    Exhibit(
        "triton-lang/triton#7216", "the backward pass has no causal mask", "causal", UNMASKED,
        {"score_again": lambda kernel, s: s},
    ),
    Exhibit(
        "triton-lang/triton#4541", "the backward pass is always causal", "ordinary",
        SCORES + "with a causal mask that was not asked for",
        {"score_again": seeing(lambda kernel, s: ahead(s) <= 0)},
    ),
    Exhibit(
        "triton-lang/triton#11440", "transposed values read as plain ones", "ordinary",
        "V with its rows read as if stored transposed",
        {"read": lambda kernel, v: turned(v).reshape(v.shape)},
    ),
    Exhibit(
        "Dao-AILab/flash-attention#402", "causal from the first key on, not to the last",
        "rectangular", ALIGNED + "top-left instead of bottom-right",
        {"masked": seeing(lambda kernel, s: ahead(s) <= 0)},
    ),
    Exhibit(
        "Dao-AILab/flash-attention#2082", "a masked block sets the running maximum to 0",
        "far-below", HIGH, {"top": begun_at(0)},
    ),
    Exhibit(
        "Dao-AILab/flash-attention#2402", "a soft cap of s tanh(s) instead of c tanh(s / c)",
        "capped", "", {"capped": lambda kernel, s: s * np.tanh(s / kernel.cap)},
    ),
    Exhibit(
        "HKUSTDial/flash-sparse-attention#106", "the maximum scaled again in the log-sum-exp",
        "ordinary", "the maximum in the log-sum-exp with the factor scale twice",
        {"lse": lambda kernel, top, sums: top / np.sqrt(F(8)) + np.log(sums)},
    ),
    Exhibit(
        "DeepLink-org/DeepLinkExt#22", "the backward pass keeps a narrow log-sum-exp", "ordinary",
        "the log-sum-exp stored as bfloat16",
        {"lse": lambda kernel, top, sums: narrow(top + np.log(sums)),
         "weights_again": lambda kernel, s: np.exp(s - kernel.softmax(s)[1])},
    ),
    Exhibit(
        "facebookresearch/xformers#932", "heads attend to heads, by the documentation's code",
        "ordinary", "", {"run": across_heads}, lead=(8,), has_gradients=False,
    ),
    Exhibit(
        "vllm-project/vllm#3385", "a window one key shorter than the model's", "windowed", SHORT,
        {"masked": seeing(lambda kernel, s: kernel.keep & (ahead(s) > -2))},
    ),
    Exhibit(
        "vllm-project/vllm#23969", "a window that is not handed on (xformers)", "windowed",
        SCORES + "with a window that has no start",
        {"masked": seeing(lambda kernel, s: ahead(s) <= 0)},
    ),
    Exhibit(
        "vllm-project/vllm-metal#665", "a soft cap that is always 0, which is none", "capped",
        SCORES + "without soft capping",
        {"capped": lambda kernel, s: s, "slope": lambda kernel, s: F(1)},
    ),
    Exhibit(
        "vllm-project/vllm-metal#550", "sinks that no kernel was given", "sink",
        "the sums of the exponentials without the term sink",
        {"sums": lambda kernel, powers, top: powers.sum(axis=-1, keepdims=True)},
    ),
    Exhibit(
        "sgl-project/sglang#32087", "the oldest key of a window dropped", "windowed", SHORT,
        {"masked": seeing(lambda kernel, s: kernel.keep & (ahead(s) != -2))},
    ),
    Exhibit(
        "sgl-project/sglang#35045", "a log-sum-exp to base 2 taken for one to base e", "ordinary",
        "the log-sum-exp to base 2",
        {"lse": lambda kernel, top, sums: (top + np.log(sums)) / np.log(F(2))},
    ),
    Exhibit(
        "flashinfer-ai/flashinfer#4267", "a running maximum begun at -5e4", "mask-reached",
        HIGH, {"top": begun_at(-5e4)},
    ),
    Exhibit(
        "flashinfer-ai/flashinfer#5090", "zeros beyond the last key of a block of 64", "above-tile",
        "the sums of the exponentials with 63 keys of zeros beyond the last",
        {"sums": zeros_beyond(64)},
    ),
    Exhibit(
        "tenstorrent/tt-metal#54833", "mask columns beyond the last key of a tile of 32 are zeros",
        "above-tile", "the sums of the exponentials with 31 keys of zeros beyond the last",
        {"sums": zeros_beyond(32)},
    ),
    Exhibit(
        "tenstorrent/tt-metal#56406", "an additive mask divided by the root of d", "biased",
        SCORES + "with the bias scaled as well",
        {"biased": lambda kernel, s: s + kernel.scaled(kernel.bias, 8)},
    ),
    Exhibit(
        "onnx/onnx#7865", "soft capping after the mask", "capped",
        SCORES + "capped after the mask instead of before",
        {"score": lambda kernel, s: kernel.capped(kernel.masked(s))}, has_gradients=False,
    ),
    Exhibit(
        "onnx/onnx#7274", "heads of keys tiled, not repeated, for groups", "grouped",
        "attention of each head with the keys and values of head h mod H, interleaved, "
        "instead of its own",
        {"shared": lambda kernel, x, group: np.tile(x, (group, 1, 1)),
         "gathered": lambda kernel, x, group: x.reshape(group, -1, *x.shape[-2:]).sum(axis=0)},
    ),
    Exhibit(
        "microsoft/onnxruntime#28379", "soft capping after the bias", "biased",
        SCORES + "capped after the bias instead of before",
        {"score": lambda kernel, s: kernel.capped(kernel.biased(s))},
        options={"bias": sample("biased").options["bias"], "softcap": 2.0}, has_gradients=False,
    ),
    Exhibit(
        "jax-ml/jax#32300", "a window that is ignored where there is no mask", "windowed",
        UNMASKED, {"masked": lambda kernel, s: s},
    ),
    Exhibit(
        "NVIDIA/TransformerEngine#236", "scaled once the bias was added (JAX)", "biased",
        SCORES + "with the bias scaled as well",
        {"score": lambda kernel, s: kernel.scaled(s * np.sqrt(F(8)) + kernel.bias, 8)},
    ),
    Exhibit(
        "AI-Hypercomputer/maxtext#3138", "queries scaled before a kernel that scales (JAX)",
        "ordinary", SCORES + "with the factor scale twice",
        {"scaled": lambda kernel, s, d: s / F(d)},
    ),
    Exhibit(
        "marin-community/levanter#449", "dK and dV not summed over the heads of a group (JAX)",
        "grouped", "dK and dV from head 0 of each group, counted from 0 only",
        {"gathered": lambda kernel, x, group: x[::group]},
    ),
    Exhibit(
        "google-research/tabfm#40", "a mask's first row for all of a chunk (JAX)", "masked",
        SCORES + "with the first query's mask for all",
        {"masked": seeing(lambda kernel, s: kernel.keep[:1])},
    ),
    Exhibit(
        "ml-explore/mlx#2835", "causal to the last key, where PyTorch begins at the first",
        "rectangular", ALIGNED + "bottom-right instead of top-left",
        {"masked": seeing(lambda kernel, s: ahead(s) <= s.shape[-1] - s.shape[-2])},
        options={"causal": "top-left"},
    ),
    Exhibit(
        "ml-explore/mlx#2395", "a query that sees no key gets numbers", "empty-row",
        "a fully masked row giving the mean of the values instead of zero",
        {"masked": lambda kernel, s: np.where(kernel.keep, s, LOWEST)}, has_gradients=False,
    ),
    Exhibit(
        "ml-explore/mlx#2626", "a mask of ones and zeros that is added", "masked",
        SCORES + "with the mask added as 1 and 0",
        {"masked": lambda kernel, s: s + kernel.keep.astype(F)},
    ),
    Exhibit(
        "intel/xFasterTransformer#326", "exponentials that overflow", "saturated",
        "the exponentials without the maximum subtracted",
        {"top": lambda kernel, s: np.zeros_like(s[..., :1])},
    ),
    Exhibit(
        "alibaba/MNN#4898", "as many keys as there are queries, the others left out",
        "rectangular", SCORES + "without the last 5 keys",
        {"masked": seeing(lambda kernel, s: np.arange(s.shape[-1]) < s.shape[-2])}, options={},
    ),
    Exhibit(
        "tinygrad/tinygrad#12280", "a softmax in bfloat16", "ordinary",
        "the softmax stored as bfloat16",
        {"softmax": lambda kernel, s: (narrow(Kernel.softmax(kernel, narrow(s))[0]),
                                       Kernel.softmax(kernel, narrow(s))[1])},
    ),
)  # fmt: skip
