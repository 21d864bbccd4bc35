"""The usual faults of kernels, each an edit of the graph of attention.

Faults are called as the audit calls them (:data:`symattn.auditing.edits.KINDS`); what only
kernels get wrong is in :data:`_OWN`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from symattn.auditing.edits import KINDS, phrase
from symattn.languages.sentence import Sentence
from symattn.numbers.float_formats import FORMATS, FloatFormat
from symattn.testing.attention_steps import (
    Array,
    AttentionSteps,
    Change,
    Changes,
    Flags,
    number,
    rounded_to,
)
from symattn.testing.bounds import Precision

#: Faults of kernels that no document shows, by kind.
_OWN: Mapping[str, str] = {
    "mask-shifted": "{a} with the mask shifted by one key: each query attends to {b}",
    "mask-aligned": "{a} with the causal mask aligned {b} instead of {c}",
    "cap-forgotten": "{a} without soft capping",
    "capped-after": "{a} capped after {b} instead of before",
    "derivative-dropped": "{a} without the derivative of {b}",
    "bias-scaled": "{a} with the bias scaled as well",
    "empty-row": "a fully masked row giving {a} instead of {b}",
    "sums-in": "{a} accumulated in {b}",
    "sum-down": "{a} with {b} summed down the columns",
    "not-rescaled": "{a} computed in blocks of {b} keys without rescaling when the maximum grows",
}


@dataclass(frozen=True, eq=False)
class InjectedFault:
    """A fault: its kind, the words of its phrase, and the graph that is computed instead.
    ``rounds``: it differs from the truth by roundings, which may fall otherwise in other
    kernels. ``taken`` is the head of keys that each head of queries takes."""

    kind: str
    words: tuple[str, ...]
    steps: AttentionSteps
    rounds: bool = False
    taken: npt.NDArray[np.intp] | None = None

    @property
    def phrase(self) -> str:
        """The fault in words."""
        if self.kind in KINDS:
            return str(phrase(self.kind, self.words))
        return str(Sentence(_OWN[self.kind], **dict(zip("abc", self.words, strict=False))))


def injected(s: AttentionSteps, precision: Precision) -> Iterator[InjectedFault]:
    """All faults that can be made with these inputs, each an edit of the graph."""
    of_blocks = (_of_block(size) for size in _BLOCKS if size < s["K"].shape[1])
    edits = (_of_scale(s), _of_mask(s), _of_scores(s), *of_blocks, _of_rows(s), _of_gradients(s))
    for kind, words, changes in chain(*edits):
        yield InjectedFault(kind, words, s.edited(changes))
    yield from _of_heads(s)
    for form in _NARROW:
        if FORMATS[form].digits < FORMATS[precision.format].digits:
            for kind, words, changes in _of_format(form):
                yield InjectedFault(kind, words, s.edited(changes), rounds=True)


#: A kind of fault, the words of its phrase, and what some steps are instead.
_Edit = tuple[str, tuple[str, ...], Changes]
_SCORES = "the scores"
_ONE = number(1)


def _of_scale(s: AttentionSteps) -> Iterator[_Edit]:
    words = (_SCORES, "factor", "scale")
    if s["scale"].item() not in (0.0, 1.0):
        yield "scale-dropped", words, {"scale": _ONE}
        yield "scaled-twice", words, {"scale": s["scale"] ** 2}


def _of_mask(s: AttentionSteps) -> Iterator[_Edit]:
    keep = _kept(s)
    if keep.all():
        return
    n_q, n_k = s.layout.n_q, keep.shape[-1]
    yield from _seeing(s, np.ones_like(keep), "mask-forgotten")
    yield from _seeing(s, _moved(keep, 1), "mask-shifted", "one key too many")
    yield from _seeing(s, _moved(keep, -1), "mask-shifted", "one key too few")
    both = [np.tile(np.tri(n_q, n_k, k, dtype=bool), (s.layout.group, 1)) for k in (0, n_k - n_q)]
    top, bottom = (not (keep & ~seen).any() for seen in both)
    names = "top-left", "bottom-right"
    if n_q != n_k and (top or bottom):
        # Of two that hold, the narrower one is what was asked for.
        is_top = top and (n_q < n_k or not bottom)
        shift = n_k - n_q if is_top else n_q - n_k
        yield from _seeing(s, _moved(keep, shift), "mask-aligned", names[is_top], names[not is_top])
    if n_q == n_k and s.layout.group == 1:
        yield from _seeing(s, np.swapaxes(keep, 1, 2), "mask-transposed")
    all_seen = np.ones(keep.shape)
    late: Changes = {"seen": all_seen, "A": lambda s: s.own("A") * keep}
    yield "mask-after", ("the weights",), late
    zero: Changes = {"seen": all_seen, "B": lambda s: np.where(keep, s.own("B"), 0.0)}
    yield "mask-as-zero", (_SCORES,), zero
    if np.isfinite(s["cap"]):
        masked: Changes = {
            "seen": all_seen,
            "C": _capped(lambda s: np.where(keep, s["S"], -np.inf)),
        }
        yield "capped-after", (_SCORES, "the mask"), masked


def _kept(s: AttentionSteps) -> Flags:
    """The keys that each query sees."""
    return s.flags("seen") & s.flags("live")


def _moved(keep: Flags, by: int) -> Flags:
    """What is seen if every query stood so many keys further on."""
    places = np.arange(keep.shape[-1]) - by
    inside = places < keep.shape[-1]
    seen: Flags = keep[..., np.where(inside, np.maximum(places, 0), 0)] & inside
    return seen


def _seeing(s: AttentionSteps, keep: Flags, kind: str, *words: str) -> Iterator[_Edit]:
    """A fault of the mask; rows that see nothing then may be anything."""
    if np.array_equal(keep, _kept(s)):
        return
    live = np.any(keep | np.isfinite(s["sink"]), axis=-1, keepdims=True)
    changes = {"seen": keep | ~live, "live": live}
    for _, empty in _EMPTY if not live.all() else _EMPTY[:1]:
        yield kind, (_SCORES, *words), {**changes, **empty}


#: What rows make that see no key.
_EMPTY: Sequence[tuple[str, Mapping[str, Change]]] = (
    ("zero", {"used": lambda s: s["live"]}),
    ("the mean of the values", {"used": lambda s: np.ones_like(s["live"])}),
    (
        "NaN",
        {"used": lambda s: s["live"], "Y": lambda s: np.where(s["live"], s.own("Y"), np.nan)},
    ),
)


def _of_rows(s: AttentionSteps) -> Iterator[_Edit]:
    if s["live"].all():
        return
    right = _EMPTY[int(s["used"].all())][0]
    for name, changes in _EMPTY:
        if name != right:
            yield "empty-row", (name, right), changes


def _capped(inner: Change) -> Change:
    """Scores that are capped once something has been done to them."""
    return lambda s: s["cap"] * np.tanh(inner(s) / s["cap"])


def _of_scores(s: AttentionSteps) -> Iterator[_Edit]:
    if np.isfinite(s["cap"]):
        if s["bias"].any():
            late = {"C": _capped(lambda s: s["S"] + s["bias"]), "B": lambda s: s["C"] * s["live"]}
            yield "capped-after", (_SCORES, "the bias"), late
        uncapped: Changes = {"cap": number(np.inf), "C": lambda s: s["S"], "slope": _ONE}
        yield "cap-forgotten", (_SCORES,), uncapped
        yield "derivative-dropped", ("dS", "the capping"), {"slope": _ONE}
    if s["bias"].any():
        yield "term-dropped", (_SCORES, "bias"), {"bias": np.zeros_like(s["bias"])}
        yield "bias-scaled", (_SCORES,), {"bias": s["bias"] * s["scale"]}
    if np.isfinite(s["sink"]).any():
        no_sink = {"sink": np.full_like(s["sink"], -np.inf)}
        yield "term-dropped", ("the sums of the exponentials", "sink"), no_sink
    if s.layout.group == 1:
        yield "softmax-columns", ("the weights",), {"A": _softmax_down}


def _softmax_down(s: AttentionSteps) -> Array:
    powers = np.exp(s["M"] - s["M"].max(axis=-2, keepdims=True))
    weights: Array = powers / powers.sum(axis=-2, keepdims=True) * s["used"]
    return weights


def _of_block(block: int) -> Iterator[_Edit]:
    def left(s: AttentionSteps) -> Array:
        return _left(s["M"], block)

    output: Changes = {"Y": lambda s: left(s) / s["sums"] * s["used"] @ s["V"]}
    sums: Changes = {"sums": lambda s: _summed(s, left(s).sum(axis=-1, keepdims=True))}
    yield "not-rescaled", ("the output", str(block)), output
    yield "not-rescaled", ("the output and the sums", str(block)), {**output, **sums}


def _left(scores: Array, block: int) -> Array:
    """The exponentials where each is taken beside the largest score up to its own block."""
    starts = np.arange(0, scores.shape[-1], block)
    largest = np.maximum.accumulate(np.maximum.reduceat(scores, starts, axis=-1), axis=-1)
    so_far = np.repeat(np.maximum(largest, _LEAST), block, axis=-1)
    powers: Array = np.exp(scores - so_far[..., : scores.shape[-1]])
    return powers


def _summed(s: AttentionSteps, sums: Array) -> Array:
    """Sums of exponentials with that of the sink."""
    return sums + np.exp(s["sink"] - s["top"])


def _of_gradients(s: AttentionSteps) -> Iterator[_Edit]:
    if "dY" not in s.given:
        return
    if s["Q"].shape[1] == s["K"].shape[1]:
        yield "transposed", ("dK", "dS"), {"dS_T": lambda s: s["dS"]}
        yield "transposed", ("dV", "A"), {"A_T": lambda s: s["A"]}
    if s["scale"].item() != 1:
        for name, steps in (
            ("dQ", ("scale_Q",)), ("dK", ("scale_K",)), ("dQ and dK", ("scale_Q", "scale_K"))
        ):  # fmt: skip
            yield "scale-dropped", (name, "factor", "scale"), dict.fromkeys(steps, _ONE)
    yield "term-dropped", ("dS", "rowsum(A * dA)"), {"D": number(0)}
    if s.layout.group == 1:
        down = {"D": lambda s: (s["A"] * s["dA"]).sum(axis=-2, keepdims=True)}
        yield "sum-down", ("dS", "A * dA"), down


def _of_heads(s: AttentionSteps) -> Iterator[InjectedFault]:
    lay = s.layout
    of_keys = lay.lead_k[-1] if lay.lead_k else 1
    if of_keys == 1:
        return
    # Which head of keys each head of queries has, in every batch.
    batches = len(s["K"]) // of_keys
    first = of_keys * np.repeat(np.arange(batches), of_keys * lay.group)
    own = np.tile(np.arange(of_keys * lay.group), batches)
    taken = {
        "the keys and values of the next head": (own // lay.group + 1) % of_keys,
        "the keys and values of the head before": (own // lay.group - 1) % of_keys,
        "the keys and values of the first head": 0 * own,
    }
    if lay.group > 1:
        taken["the keys and values of head h mod H, interleaved,"] = own % of_keys
    for source, places in taken.items():
        heads = first + places
        if not np.array_equal(places, own // lay.group):
            words = "attention of each head", source, "its own"
            yield InjectedFault("other-matrix", words, s.taking(heads), taken=heads)


#: Keys that kernels take at a time.
_BLOCKS = (1, 2, 4, 8, 16, 32, 64, 128)
#: In the place of the largest of scores that are all masked.
_LEAST = -1e308
#: Formats that a step may be held in by mistake.
_NARROW: tuple[FloatFormat, ...] = ("float32", "float16", "bfloat16")
#: What is held, by what it is called; what a package's softmax rounds, and what one does that
#: is written out.
_HELD: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("the scale", ("scale",)),
    ("the scores", ("B",)),
    ("the weights", ("A",)),
    ("the softmax", ("B", "A")),
    ("the softmax", ("B", "A", "dA", "dM")),
    ("the softmax", ("B", "gaps", "powers", "sums", "A")),
    ("the softmax", ("gaps", "powers", "sums", "A")),
    ("the exponentials", ("powers",)),
)


def _of_format(form: FloatFormat) -> Iterator[_Edit]:
    for place, steps in _HELD:
        yield "held-in", (place, form), {step: _held(step, form) for step in steps}
    if form == "float32":
        return
    output: Changes = {"Y": lambda s: _total(s["A"][..., None] * s["V"][:, None], form)}
    sums: Changes = {"sums": lambda s: _summed(s, _total(s["powers"][..., None], form))}
    for changes in (output, sums, {**sums, **output}):
        yield "sums-in", ("the sums over keys", form), changes


def _held(step: str, form: FloatFormat) -> Change:
    return lambda s: rounded_to(s.own(step), form)


def _total(terms: Array, form: FloatFormat) -> Array:
    """The sum over the last axis but one in a format, term by term."""
    total = np.zeros_like(terms[..., 0, :])
    for k in range(terms.shape[-2]):
        total = rounded_to(total + rounded_to(terms[..., k, :], form), form)
    return total
