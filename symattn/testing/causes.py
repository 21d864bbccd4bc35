"""Why an array is wrong: the usual slips of kernels, each computed, and the one that gives it.

A slip is named if what it makes of the same inputs is, within the bounds of a correct kernel
that makes it, what was found in every wrong array, while the truth is far off; and if nothing
else gives that too. Slips are called as the audit calls them
(:data:`symattn.auditing.edits.KINDS`); what only kernels get wrong is in :data:`OWN`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import numpy.typing as npt

from symattn.auditing.edits import KINDS, phrase
from symattn.languages.sentence import Sentence
from symattn.numbers.formats import FORMATS, FloatFormat
from symattn.solution.quantity import Quantity
from symattn.testing.bounds import Precision, all_bounds, bounds
from symattn.testing.judged import Cause, Errors, Judged, error_of, over
from symattn.testing.model import RIGHT, Array, Flags, Inputs, Slips, exactly, run

#: Slips of kernels that no document shows, by kind.
OWN: Mapping[str, str] = {
    "mask-shifted": "{a} with the mask off by one: {b}",
    "mask-aligned": "{a} with the causal mask aligned {b} instead of {c}",
    "cap-forgotten": "{a} without the soft capping",
    "capped-after": "{a} capped after {b} instead of before",
    "derivative-dropped": "{a} without the derivative of {b}",
    "bias-scaled": "{a} with the bias scaled as well",
    "empty-row": "a fully masked row giving {a} instead of {b}",
    "sums-in": "{a} summed in {b}",
    "sum-down": "{a} with {b} summed down the columns",
    "not-rescaled": "{a} of blocks of {b} keys, not rescaled when the maximum grows",
}

#: Rounding may differ where a slip rounds: of so many entries in ten.
_NINE = 0.9
#: A slip's own bounds are those of the right definition, where a term may be missing.
_ROOM = 2.0
#: A bound of 0 is of what must be exact.
_TINY = 1e-320
#: Errors above tell nothing more.
_LARGEST = 1e30
#: How much nearer than the truth a slip must come.
_FAR = 8.0
#: More slips that nothing tells apart are no cause.
_MOST_ALIKE = 3


@dataclass(frozen=True, eq=False)
class Slip:
    """A slip: its kind, the words of its phrase, and what is computed instead. ``rounds``:
    it differs from the truth by roundings, which may fall otherwise in other kernels.
    ``taken`` is the head of keys that each head of queries takes."""

    kind: str
    words: tuple[str, ...]
    inputs: Inputs
    slips: Slips = RIGHT
    rounds: bool = False
    taken: npt.NDArray[np.intp] | None = None

    @property
    def phrase(self) -> str:
        """The slip in words."""
        if self.kind in KINDS:
            return str(phrase(self.kind, self.words))
        return str(Sentence(OWN[self.kind], **dict(zip("abc", self.words, strict=False))))


def causes_of(judged: Mapping[str, Judged], precision: Precision) -> tuple[Cause, ...]:
    """The causes of the wrong ones among judged arrays of one kernel, by the names of parts.

    >>> from symattn import attention
    >>> exact = attention([[1, 2], [3, 4]], [[1, 0], [0, 1]], [[1], [0]])
    >>> scores = np.array([[1, 2], [3, 4]], "float32")
    >>> found = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True) @ np.float32([[1], [0]])
    >>> one = Judged(found, exact.output, Precision("float32"))
    >>> print(*causes_of({"output": one}, Precision("float32")))
    output: the scores without the factor scale
    """
    known = {
        name: _Part(item.actual, item.errors, item.quantity)
        for name, item in judged.items()
        if item.errors is not None and item.quantity.role and not item.quantity.role.keys
    }
    wrong = {name for name in known if judged[name].report.wrong}
    if not wrong:
        return ()
    roles = [part.quantity.role for part in known.values()]
    backward = next((role.backward for role in roles if role and role.backward), None)
    forward = next(role.forward for role in roles if role)
    inputs, steps = exactly(forward, backward)
    tried = _Tried(known, wrong, precision, steps.parts(inputs))
    fits = [item for slip in slips_of(inputs, precision) if (item := tried.fit(slip))]
    whole = [item for item in fits if item.explains == wrong and not item.contradicted]
    if whole:
        return tuple(_named(whole, tuple(sorted(wrong, key=[*known].index))))
    narrow = {cause.parts: cause for cause in _as_narrow(known, wrong, precision)}
    causes: list[Cause] = []
    for name in (name for name in known if name in wrong):
        named = [] if len(narrow) == len(wrong) else [*_of_part(fits, name)]
        causes += named or [cause for parts, cause in narrow.items() if parts == (name,)]
    return tuple(_joined(causes))


def _of_part(fits: Iterable[_Fit], name: str) -> Iterator[Cause]:
    return _named([fit for fit in fits if name in fit.explains], (name,))


def _as_narrow(
    known: Mapping[str, _Part], wrong: set[str], precision: Precision
) -> Iterator[Cause]:
    """Errors of a kernel of float64 that are those of a correct one of float32: no slip of
    another kind is as small."""
    for name in wrong if precision.format == "float64" else ():
        part = known[name]
        limit = bounds(part.quantity, Precision("float32")).bound
        left = over(error_of(part.actual, part.errors.exact), limit)
        if (left <= 1).all():
            sentence = str(phrase("held-in", ("a step", "float32")))
            yield Cause("held-in", sentence, (name,), float(left.max()))


@dataclass(frozen=True, eq=False)
class _Part:
    """A whole part of attention that was judged."""

    actual: Array
    errors: Errors
    quantity: Quantity


@dataclass(frozen=True, eq=False)
class _Fit:
    """How well a slip fits: the wrong parts that it explains, whether it would make right
    parts wrong, and for each part what is left over the bound, at most and on average."""

    slip: Slip
    explains: set[str]
    contradicted: bool
    most: Mapping[str, float]
    mean: Mapping[str, float]


class _Tried:
    """The arrays that slips are tried on."""

    def __init__(
        self,
        judged: Mapping[str, _Part],
        wrong: set[str],
        precision: Precision,
        truth: Mapping[str, Array],
    ) -> None:
        self._judged, self._wrong, self._precision = judged, wrong, precision
        self._truth = truth

    def fit(self, slip: Slip) -> _Fit | None:
        """What a slip explains; None for nothing."""
        steps = run(slip.inputs, slip.slips)
        parts = steps.parts(slip.inputs)
        if slip.taken is not None:
            parts = self._gathered(parts, slip.taken)
        if not any(self._is_near(name, parts[name]) for name in self._wrong):
            return None
        limits = all_bounds(slip.inputs, steps, self._precision)
        bounds = {name: limits[name].bound for name in parts}  # type: ignore[index]
        if slip.taken is not None:
            bounds = self._gathered(bounds, slip.taken)
        explains, most, mean, contradicted = set(), {}, {}, False
        for name, part in self._judged.items():
            # What has no bound is no explanation, unless nothing is asked of it.
            with np.errstate(all="ignore"):
                room = _ROOM * np.maximum(bounds[name], _TINY)
                left = error_of(part.actual, parts[name]) / room
            left = np.where(np.isfinite(left), left, np.inf)
            left = np.where(np.isinf(part.errors.bound), 0.0, left)
            most[name], mean[name] = float(left.max()), _mean(left)
            fits = self._fits(slip, left, part.errors.over_bound)
            if name not in self._wrong:
                contradicted |= not fits
            elif fits and _is_far(part.errors.over_bound, left):
                explains.add(name)
        return _Fit(slip, explains, contradicted, most, mean) if explains else None

    def _gathered(
        self, parts: Mapping[str, Array], taken: npt.NDArray[np.intp]
    ) -> dict[str, Array]:
        """What flows into keys and values, added up where it was taken from."""
        arrays = dict(parts)
        for name in arrays.keys() & {"dK", "dV"}:
            shape = self._truth[name].shape
            whole = np.zeros((prod(shape[:-2]), *shape[-2:]))
            np.add.at(whole, taken, arrays[name].reshape(-1, *shape[-2:]))
            arrays[name] = whole.reshape(shape)
        return arrays

    def _is_near(self, name: str, array: Array) -> bool:
        """Whether a slip may explain a part, roughly."""
        part = self._judged[name]
        wrong = part.errors.over_bound > 1
        ours = error_of(part.actual, array)[wrong]
        theirs = error_of(part.actual, self._truth[name])[wrong]
        return bool((ours < theirs).mean() > 0.5)

    @staticmethod
    def _fits(slip: Slip, left: Array, ratio: Array) -> bool:
        if not slip.rounds:
            return bool((left <= 1).all())
        wrong: Flags = ratio > 1
        those = left[wrong] <= 1 if wrong.any() else left <= 1
        return bool(those.mean() >= _NINE and (left <= 1).mean() >= _NINE)


def _is_far(ratio: Array, left: Array) -> bool:
    """Whether the truth is far off, beside what a slip leaves."""
    return _mean(ratio) > _FAR * _mean(left)


def _mean(ratio: Array) -> float:
    """The root of the mean square."""
    return float(np.sqrt((np.minimum(ratio, _LARGEST) ** 2).mean()))


def _named(fits: list[_Fit], parts: tuple[str, ...]) -> Iterator[Cause]:
    """The cause among slips that explain these parts: one, or a few that nothing tells apart."""
    if not fits:
        return
    sizes = {fit: max(fit.mean[name] for name in parts) for fit in fits}
    best = min(sizes.values())
    alike = [fit for fit in fits if sizes[fit] <= 4 * best + 2.0**-20]
    phrases = [*dict.fromkeys(fit.slip.phrase for fit in alike)]
    if len(phrases) <= _MOST_ALIKE:
        first = alike[0]
        residual = max(first.most[name] for name in parts)
        yield Cause(first.slip.kind, ", or ".join(phrases), parts, residual)


def _joined(causes: Iterable[Cause]) -> Iterator[Cause]:
    """Causes that are the same, of all their parts."""
    by_phrase: dict[str, list[Cause]] = {}
    for cause in causes:
        by_phrase.setdefault(cause.phrase, []).append(cause)
    for same in by_phrase.values():
        parts = tuple(part for cause in same for part in cause.parts)
        yield replace(same[0], parts=parts, residual=max(cause.residual for cause in same))


# -- the slips -----------------------------------------------------------------------------


def slips_of(x: Inputs, precision: Precision) -> Iterator[Slip]:
    """All slips that can be made with these inputs."""
    yield from _of_scale(x)
    yield from _of_mask(x)
    yield from _of_scores(x)
    yield from _of_rows(x)
    yield from _of_gradients(x)
    yield from _of_heads(x)
    yield from _of_precision(x, precision)


def _of_scale(x: Inputs) -> Iterator[Slip]:
    words = ("the scores", "factor", "scale")
    if x.scale not in (0.0, 1.0):
        yield Slip("scale-dropped", words, replace(x, scale=1.0))
        yield Slip("scaled-twice", words, replace(x, scale=x.scale**2))


def _of_mask(x: Inputs) -> Iterator[Slip]:
    if x.keep.all():
        return
    scores = "the scores"
    yield from _seeing(x, np.ones_like(x.keep), "mask-forgotten", scores)
    yield from _seeing(x, _moved(x.keep, 1), "mask-shifted", scores, "each query sees a key more")
    yield from _seeing(x, _moved(x.keep, -1), "mask-shifted", scores, "each query sees a key less")
    n_q, n_k = x.layout.n_q, x.k.shape[1]
    both = [np.tile(np.tri(n_q, n_k, k, dtype=bool), (x.layout.group, 1)) for k in (0, n_k - n_q)]
    top, bottom = (not (x.keep & ~seen).any() for seen in both)
    names = "top-left", "bottom-right"
    if n_q != n_k and (top or bottom):
        # Of two that hold, the narrower one is what was asked for.
        is_top = top and (n_q < n_k or not bottom)
        shift = n_k - n_q if is_top else n_q - n_k
        words = names[is_top], names[not is_top]
        yield from _seeing(x, _moved(x.keep, shift), "mask-aligned", scores, *words)
    if n_q == n_k and x.layout.group == 1:
        yield from _seeing(x, np.swapaxes(x.keep, 1, 2), "mask-transposed", scores)
    slip = Slips(masked_after=True)
    yield Slip("mask-after", ("the weights",), x, slip)
    yield Slip("mask-as-zero", (scores,), x, Slips(masked_as_zero=True))


def _moved(keep: Flags, by: int) -> Flags:
    """What is seen if every query stood so many keys further on."""
    seen = np.zeros_like(keep)
    if by >= 0:
        by = min(by, keep.shape[-1])
        seen[..., by:] = keep[..., : keep.shape[-1] - by]
        seen[..., :by] = keep[..., :1]
    else:
        seen[..., :by] = keep[..., -by:]
    return seen


def _seeing(x: Inputs, keep: Flags, kind: str, *words: str) -> Iterator[Slip]:
    """A slip of the mask; rows that see nothing then may be anything."""
    if np.array_equal(keep, x.keep):
        return
    live: Flags = np.any(keep | (x.sink is not None), axis=-1, keepdims=True)
    inputs = replace(x, keep=keep, live=live)
    if live.all():
        yield Slip(kind, words, inputs)
        return
    for name, slips in _EMPTY.items():
        yield Slip(kind, words, replace(inputs, mean=name == _MEAN), slips)


#: What rows make that see no key.
_MEAN = "the mean of the values"
_EMPTY: Mapping[str, Slips] = {"zero": RIGHT, _MEAN: RIGHT, "NaN": Slips(empty=np.nan)}


def _of_rows(x: Inputs) -> Iterator[Slip]:
    if x.live.all():
        return
    right = _MEAN if x.mean else "zero"
    for name, slips in _EMPTY.items():
        if name != right:
            yield Slip("empty-row", (name, right), replace(x, mean=name == _MEAN), slips)


def _of_scores(x: Inputs) -> Iterator[Slip]:
    if x.cap is not None:
        if not x.keep.all():
            yield Slip("capped-after", ("the scores", "the mask"), x, Slips(capped_last=True))
        if x.bias is not None:
            late = Slips(bias_first=True)
            yield Slip("capped-after", ("the scores", "the bias"), x, late)
        yield Slip("cap-forgotten", ("the scores",), replace(x, cap=None))
        uncapped = Slips(cap_back=False)
        yield Slip("derivative-dropped", ("dS", "the capping"), x, uncapped)
    if x.bias is not None:
        yield Slip("term-dropped", ("the scores", "bias"), replace(x, bias=None))
        yield Slip("bias-scaled", ("the scores",), replace(x, bias=x.bias * x.scale))
    if x.sink is not None:
        yield Slip("term-dropped", ("the sums of the exponentials", "sink"), replace(x, sink=None))
    if x.layout.group == 1:
        yield Slip("softmax-columns", ("the weights",), x, Slips(down="softmax"))
    for block in (size for size in _BLOCKS if size < x.k.shape[1]):
        for words, both in (("the output", False), ("the output and the sums", True)):
            unscaled = Slips(block=block, sums_left=both)
            yield Slip("not-rescaled", (words, str(block)), x, unscaled)


def _of_gradients(x: Inputs) -> Iterator[Slip]:
    if x.upstream is None:
        return
    if x.q.shape[1] == x.k.shape[1]:
        yield Slip("transposed", ("dK", "dS"), x, Slips(k_turned=False))
        yield Slip("transposed", ("dV", "A"), x, Slips(v_turned=False))
    for name, slips in (("dQ", Slips(scale_in_dq=False)), ("dK", Slips(scale_in_dk=False))):
        if x.scale != 1:
            yield Slip("scale-dropped", (name, "factor", "scale"), x, slips)
    if x.scale != 1:
        neither = Slips(scale_in_dq=False, scale_in_dk=False)
        yield Slip("scale-dropped", ("dQ and dK", "factor", "scale"), x, neither)
    yield Slip("term-dropped", ("dS", "rowsum(A * dA)"), x, Slips(subtracts=False))
    if x.layout.group == 1:
        yield Slip("sum-down", ("dS", "A * dA"), x, Slips(down="D"))


def _of_heads(x: Inputs) -> Iterator[Slip]:
    lay = x.layout
    of_keys = lay.lead_k[-1] if lay.lead_k else 1
    if of_keys == 1:
        return
    # Which head of keys each head of queries has, in every batch.
    first = of_keys * np.repeat(np.arange(len(x.k) // of_keys), of_keys * lay.group)
    own = np.tile(np.arange(of_keys * lay.group), len(x.k) // of_keys)
    of_own = "those of its own"
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
            words = "attention of each head", source, of_own
            yield Slip("other-matrix", words, x.taking(heads), taken=heads)


#: Keys that kernels take at a time.
_BLOCKS = (1, 2, 4, 8, 16, 32, 64, 128)
#: Formats that a step may be held in by mistake.
_NARROW: tuple[FloatFormat, ...] = ("float32", "float16", "bfloat16")
#: What is held, by what it is called; what a package's softmax rounds, and what one does that
#: is written out.
_HELD: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("the scale", ("scale",)),
    ("the scores", ("scores",)),
    ("the weights", ("weights",)),
    ("the softmax", ("scores", "weights")),
    ("the softmax", ("scores", "weights", "da", "dm")),
    ("the softmax", ("scores", "gaps", "powers", "sums", "weights")),
    ("the softmax", ("gaps", "powers", "sums", "weights")),
    ("the exponentials", ("powers",)),
)


def _of_precision(x: Inputs, precision: Precision) -> Iterator[Slip]:
    digits = FORMATS[precision.format].digits
    for form in (name for name in _NARROW if FORMATS[name].digits < digits):
        for place, steps in _HELD:
            slips = Slips(held=tuple((step, form) for step in steps))
            yield Slip("held-in", (place, form), x, slips, rounds=True)
        if form != "float32":
            for steps in (("output",), ("sums",), ("sums", "output")):
                slips = Slips(added=tuple((step, form) for step in steps))
                yield Slip("sums-in", ("the sums over keys", form), x, slips, rounds=True)
