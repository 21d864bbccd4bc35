"""Why an array is wrong: the usual faults of kernels, each computed, and the one that gives it.

A fault is named if what it makes of the same inputs is, within the bounds of a correct kernel
that makes it, what was found in every wrong array, while the truth is far off; and if nothing
else gives that too. Faults are called as the audit calls them
(:data:`symattn.auditing.edits.KINDS`); what only kernels get wrong is in :data:`_OWN`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import prod

import numpy as np
import numpy.typing as npt

from symattn.auditing.edits import KINDS, phrase
from symattn.languages.sentence import Sentence
from symattn.numbers.float_formats import FORMATS, FloatFormat
from symattn.solution.entries import AttentionRole
from symattn.testing.attention_steps import (
    Array,
    AttentionSteps,
    Change,
    Changes,
    Flags,
    exactly,
    number,
    rounded_to,
    steps_of,
)
from symattn.testing.bounds import all_bounds, bounds
from symattn.testing.judged import Errors, JudgedArray, KernelCause, error_of, over
from symattn.testing.precision import Precision

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

#: Rounding may differ where a fault rounds: of so many entries in ten.
_NINE = 0.9
#: A fault's own bounds are those of the right definition, where a term may be missing.
_ROOM = 2.0
#: A bound of 0 is of what must be exact.
_TINY = 1e-320
#: Errors above tell nothing more.
_LARGEST = 1e30
#: How much nearer than the truth a fault must come.
_FAR = 8.0
#: More faults that nothing tells apart are no cause.
_MOST_ALIKE = 3


@dataclass(frozen=True, eq=False)
class _InjectedFault:
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


def causes_of(judged: Mapping[str, JudgedArray], precision: Precision) -> tuple[KernelCause, ...]:
    """The causes of the wrong ones among judged arrays of one kernel, by the names of parts.

    >>> from symattn import attention
    >>> exact = attention([[1, 2], [3, 4]], [[1, 0], [0, 1]], [[1], [0]])
    >>> scores = np.array([[1, 2], [3, 4]], "float32")
    >>> output = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True) @ np.float32([[1], [0]])
    >>> judged = JudgedArray(output, exact.output, Precision("float32"))
    >>> print(*causes_of({"output": judged}, Precision("float32")))
    output: the scores without the factor scale
    """
    known: dict[str, Errors] = {}
    roles: list[AttentionRole] = []
    for name, item in judged.items():
        role = item.quantity.role
        if item.errors is not None and role and not role.keys:
            known[name] = item.errors
            roles.append(role)
    wrong = {name for name in known if judged[name].report.wrong}
    if not wrong:
        return ()
    forward = roles[0].forward
    backward = next((role.backward for role in roles if role.backward), None)
    tried = _Tried(known, wrong, precision, exactly(forward, backward))
    faults = _injected(steps_of(forward, backward), precision)
    fits = [fit for fault in faults if (fit := tried.fit(fault))]
    whole = [fit for fit in fits if fit.explains == wrong and not fit.contradicted]
    if whole:
        return tuple(_named(whole, tuple(sorted(wrong, key=[*known].index))))
    narrow = {cause.parts: cause for cause in _as_narrow(judged, known, wrong, precision)}
    causes: list[KernelCause] = []
    for name in (name for name in known if name in wrong):
        of_part = [fit for fit in fits if name in fit.explains]
        named = [] if len(narrow) == len(wrong) else [*_named(of_part, (name,))]
        causes += named or [cause for parts, cause in narrow.items() if parts == (name,)]
    return tuple(_joined(causes))


def _as_narrow(
    judged: Mapping[str, JudgedArray],
    known: Mapping[str, Errors],
    wrong: Iterable[str],
    precision: Precision,
) -> Iterator[KernelCause]:
    """Errors of a kernel of float64 that are those of a correct one of float32: no fault of
    another kind is as small."""
    for name in wrong if precision.format == "float64" else ():
        limit = bounds(judged[name].quantity, Precision("float32")).bound
        left = over(error_of(judged[name].actual, known[name].exact), limit)
        if (left <= 1).all():
            sentence = str(phrase("held-in", ("a step", "float32")))
            yield KernelCause("held-in", sentence, (name,), float(left.max()))


@dataclass(frozen=True, eq=False)
class _Fit:
    """How well a fault fits: the wrong parts that it explains, whether it would make right
    parts wrong, and for each part what is left over the bound, at most and on average."""

    fault: _InjectedFault
    explains: set[str]
    contradicted: bool
    most: Mapping[str, float]
    mean: Mapping[str, float]


class _Tried:
    """The arrays that faults are tried on."""

    def __init__(
        self,
        judged: Mapping[str, Errors],
        wrong: set[str],
        precision: Precision,
        truth: AttentionSteps,
    ) -> None:
        self._judged, self._wrong, self._precision = judged, wrong, precision
        self._shapes = {name: truth.part(name).shape for name in judged}
        #: Which entries are wrong, and how far they are from the truth.
        self._far = {
            name: (part.over_bound > 1, error_of(part.actual, truth.part(name)))
            for name, part in judged.items()
        }

    def fit(self, fault: _InjectedFault) -> _Fit | None:
        """What a fault explains; None for nothing."""
        parts = {name: self._array(fault, name, fault.steps.part(name)) for name in self._judged}
        if not any(self._is_near(name, parts[name]) for name in self._wrong):
            return None
        limits = all_bounds(fault.steps, self._precision)
        bounds = {name: self._array(fault, name, limits[name].bound) for name in parts}
        explains, most, mean, contradicted = set(), {}, {}, False
        for name, part in self._judged.items():
            # What has no bound is no explanation, unless nothing is asked of it.
            with np.errstate(all="ignore"):
                room = _ROOM * np.maximum(bounds[name], _TINY)
                left = error_of(part.actual, parts[name]) / room
            left = np.where(np.isfinite(left), left, np.inf)
            left = np.where(np.isinf(part.bound), 0.0, left)
            most[name], mean[name] = float(left.max()), _mean(left)
            fits = self._fits(fault, left, part.over_bound)
            if name not in self._wrong:
                contradicted |= not fits
            elif fits and _is_far(part.over_bound, left):
                explains.add(name)
        return _Fit(fault, explains, contradicted, most, mean) if explains else None

    def _array(self, fault: _InjectedFault, name: str, array: Array) -> Array:
        """What flows into keys and values, added up where it was taken from."""
        if fault.taken is None or name not in ("dK", "dV"):
            return array
        shape = self._shapes[name]
        whole = np.zeros((prod(shape[:-2]), *shape[-2:]))
        np.add.at(whole, fault.taken, array.reshape(-1, *shape[-2:]))
        return whole.reshape(shape)

    def _is_near(self, name: str, array: Array) -> bool:
        """Whether a fault may explain a part, roughly."""
        wrong, far = self._far[name]
        near = error_of(self._judged[name].actual, array)
        return bool((near < far)[wrong].mean() > 0.5)

    @staticmethod
    def _fits(fault: _InjectedFault, left: Array, ratio: Array) -> bool:
        if not fault.rounds:
            return bool((left <= 1).all())
        wrong: Flags = ratio > 1
        those = left[wrong] <= 1 if wrong.any() else left <= 1
        return bool(those.mean() >= _NINE and (left <= 1).mean() >= _NINE)


def _is_far(ratio: Array, left: Array) -> bool:
    """Whether the truth is far off, beside what a fault leaves."""
    return _mean(ratio) > _FAR * _mean(left)


def _mean(ratio: Array) -> float:
    """The root of the mean square."""
    return float(np.sqrt((np.minimum(ratio, _LARGEST) ** 2).mean()))


def _named(fits: list[_Fit], parts: tuple[str, ...]) -> Iterator[KernelCause]:
    """The cause among faults that explain these parts: one, or a few that nothing tells apart."""
    if not fits:
        return
    sizes = {fit: max(fit.mean[name] for name in parts) for fit in fits}
    best = min(sizes.values())
    alike = [fit for fit in fits if sizes[fit] <= 4 * best + 2.0**-20]
    phrases = [*dict.fromkeys(fit.fault.phrase for fit in alike)]
    if len(phrases) <= _MOST_ALIKE:
        first = alike[0]
        residual = max(first.most[name] for name in parts)
        yield KernelCause(first.fault.kind, ", or ".join(phrases), parts, residual)


def _joined(causes: Iterable[KernelCause]) -> Iterator[KernelCause]:
    """Causes that are the same, of all their parts."""
    by_phrase: dict[str, list[KernelCause]] = {}
    for cause in causes:
        by_phrase.setdefault(cause.phrase, []).append(cause)
    for same in by_phrase.values():
        parts = tuple(part for cause in same for part in cause.parts)
        yield replace(same[0], parts=parts, residual=max(cause.residual for cause in same))


# -- the faults -----------------------------------------------------------------------------


def _injected(s: AttentionSteps, precision: Precision) -> Iterator[_InjectedFault]:
    """All faults that can be made with these inputs, each an edit of the graph."""
    of_blocks = (_of_block(size) for size in _BLOCKS if size < s["K"].shape[1])
    edits = (_of_scale(s), _of_mask(s), _of_scores(s), *of_blocks, _of_rows(s), _of_gradients(s))
    for kind, words, changes in chain(*edits):
        yield _InjectedFault(kind, words, s.edited(changes))
    yield from _of_heads(s)
    for form in _NARROW:
        if FORMATS[form].digits < FORMATS[precision.format].digits:
            for kind, words, changes in _of_format(form):
                yield _InjectedFault(kind, words, s.edited(changes), rounds=True)


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


def _of_heads(s: AttentionSteps) -> Iterator[_InjectedFault]:
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
            yield _InjectedFault("other-matrix", words, s.taking(heads), taken=heads)


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
