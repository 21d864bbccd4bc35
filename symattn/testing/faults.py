"""The usual faults of kernels, each an edit of the graph of attention, and causes found by them.

Faults are called as the catalogue of slips calls them (:mod:`symattn.slips.catalogue`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import numpy.typing as npt

from symattn.numbers.float_formats import FORMATS, FloatFormat
from symattn.slips.catalogue import OF_ATTENTION, OF_EMPTY_ROWS, phrase
from symattn.solution.entries import AttentionRole
from symattn.testing.attention_steps import (
    BY_KEY,
    Array,
    AttentionSteps,
    Change,
    Changes,
    Flags,
    LargeSteps,
    exactly,
    is_large,
    rounded_to,
    steps_of,
    turned,
)
from symattn.testing.bounds import all_bounds, bounds
from symattn.testing.judged import Errors, JudgedArray, KernelCause, error_of, over
from symattn.testing.precision import Precision


@dataclass(frozen=True, eq=False)
class InjectedFault:
    """A fault: its kind, the words of its phrase, and the graph that is computed instead.
    ``rounds``: it differs from the truth by roundings, which may fall otherwise in other
    kernels."""

    kind: str
    words: tuple[str, ...]
    steps: AttentionSteps
    rounds: bool = False

    @property
    def phrase(self) -> str:
        """The fault in words."""
        return str(phrase(self.kind, self.words))


def injected(s: AttentionSteps, precision: Precision) -> Iterator[InjectedFault]:
    """All faults that can be made with these inputs, each an edit of the graph. One whose first
    step stays what it is is none."""
    edits = (
        _of_masks(s),
        _of_steps(s),
        _of_low_scores(s, precision.sums),
        _of_keys(s),
        _of_maximum(s, precision.sums),
        _of_blocks(s),
        _of_groups(s),
    )
    for kind, words, changes in chain(*edits):
        for each in _ways(s, changes):
            steps, first = s.edited(each), next(iter(each))
            if (steps[first] != s[first]).any():
                yield InjectedFault(kind, words, steps)
    yield from _of_heads(s)
    for form in _NARROW:
        if FORMATS[form].digits < FORMATS[precision.format].digits:
            for kind, words, changes in _of_format(s, form):
                for each in _ways(s, changes):
                    yield InjectedFault(kind, words, s.edited(each), rounds=True)


#: A kind of fault, the words of its phrase, and what some steps are instead.
_Edit = tuple[str, tuple[str, ...], Changes]
_SCORES = "the scores"


def _ways(s: AttentionSteps, changes: Changes) -> Sequence[Changes]:
    """A fault as kernels show it: rows that see nothing for it may be anything; weights may be
    recomputed from a wrong log-sum-exp, and D is taken of these, or of the output, which is
    right."""
    first = next(iter(changes))
    if first == "keep":
        live = s.edited(changes).flags("live") | ~s.layout.inside[0]
        empty = [*OF_EMPTY_ROWS.values()][: 1 if live.all() else None]
        return [{**changes, **rows} for rows in empty]
    if first != "lse":
        return [changes]
    if not np.isfinite(s.edited(changes)["lse"][s.flags("live")]).all():
        # What is infinite would explain all.
        return []
    again = {**changes, "A": "exp(M - lse) * live + A * (1 - live)", "Y": s["Y"]}
    return [changes, again, {**again, "D": s["D"]}] if "dY" in s.given else [changes]


def _of_steps(s: AttentionSteps) -> Iterator[_Edit]:
    """The catalogue's, and what is made of rows that see no key."""
    has = {
        "cap": np.isfinite(s["cap"]),
        "dY": "dY" in s.given,
        "columns": s.layout.group == 1 and s.layout.is_whole,
        "square": s["Q"].shape[1] == s["K"].shape[1],
    }
    for kind, words, changes, needs in OF_ATTENTION:
        if all(has[need] for need in needs.split()):
            yield kind, words, changes
    right = [*OF_EMPTY_ROWS][int((s.flags("used") | ~s.layout.inside[0]).all())]
    for made, changes in OF_EMPTY_ROWS.items():
        if made != right:
            yield "empty-row", (made, right), changes


def _of_masks(s: AttentionSteps) -> Iterator[_Edit]:
    # No sequence sees the padding that attention is computed with where arrays are packed.
    queries, keys = s.layout.inside
    for (kind, *words), mask in _masks(s):
        yield kind, (_SCORES, *words), {"keep": (mask & queries & keys).astype(float)}


def _masks(s: AttentionSteps) -> Iterator[tuple[tuple[str, ...], Flags]]:
    """Other masks, each behind the kind of the fault and its words."""
    keep, lay = s.flags("keep"), s.layout
    n_q, n_k, places = lay.n_all, keep.shape[-1], np.arange(keep.shape[-1])
    if not keep.all():
        yield ("mask-forgotten",), np.ones_like(keep)
        yield ("mask-negated",), ~keep
        yield ("mask-reversed",), keep[..., ::-1]
        yield ("mask-of-row",), np.broadcast_to(keep[:, :1], keep.shape)
        ahead = np.broadcast_to(places - np.tile(lay.queries, lay.group)[:, None], keep.shape)
        first, last = (int(found(ahead[keep])) if keep.any() else 0 for found in (np.min, np.max))
        if first > ahead.min() and np.array_equal(keep, (first <= ahead) & (ahead <= last)):
            # A band around a diagonal, with one of its edges elsewhere.
            yield ("window-moved", "starts one key late"), keep & (ahead > first)
            yield ("window-moved", "starts one key early"), (first - 1 <= ahead) & (ahead <= last)
            yield ("window-moved", "has no start"), ahead <= last
            yield ("window-moved", "has no end"), ahead >= first
        yield ("mask-shifted", "one key too many"), _moved(keep, 1)
        yield ("mask-shifted", "one key too few"), _moved(keep, -1)
        top, bottom = (not (keep & ~lay.ordered(n_k, k)).any() for k in (0, n_k - n_q))
        if n_q != n_k and (top or bottom):
            # Of two that hold, the narrower one is what was asked for.
            is_top = top and (n_q < n_k or not bottom)
            names = ("bottom-right", "top-left")[:: 1 if is_top else -1]
            yield ("mask-aligned", *names), _moved(keep, n_k - n_q if is_top else n_q - n_k)
        if n_q == n_k and lay.group == 1 and lay.is_whole:
            yield ("mask-transposed",), np.swapaxes(keep, 1, 2)
    left = {1, n_k - n_q, *(n_k % size for size in _BLOCKS)}
    for many in sorted(count for count in left if 0 < count < n_k):
        dropped = "the last key" if many == 1 else f"the last {many} keys"
        yield ("keys-dropped", dropped), keep & (places < n_k - many)
    if keep.all():
        yield from ((("mask-added",), lay.ordered(n_k, shift)) for shift in {0, n_k - n_q})


def _moved(keep: Flags, by: int) -> Flags:
    """Return what is seen if every query stood so many keys further on."""
    places = np.arange(keep.shape[-1]) - by
    inside = places < keep.shape[-1]
    seen: Flags = keep[..., np.where(inside, np.maximum(places, 0), 0)] & inside
    return seen


def _of_low_scores(s: AttentionSteps, form: FloatFormat) -> Iterator[_Edit]:
    """Masked scores set to a number, or lowered by one, which leaves a format few digits."""
    for low in _LOW:
        for own, words in enumerate((("set to", f"{low:g}"), ("lowered by", f"{-low:g}"))):

            def masked(s: AttentionSteps, low: float = low, own: int = own) -> Array:
                return np.where(s["keep"], s.own("B"), rounded_to(own * s.own("B") + low, form))

            yield "mask-finite", (_SCORES, *words), {"seen": "1", "B": masked}


def _of_keys(s: AttentionSteps) -> Iterator[_Edit]:
    """Keys of zeros added at the end; values in another order."""
    v = s["V"]
    n_k, places = v.shape[1], np.arange(v.shape[1])
    for many in sorted({-n_k % size for size in _BLOCKS} - {0}):
        words = "the sums of the exponentials", "a key" if many == 1 else f"{many} keys"
        yield "keys-added", words, {"sums": f"sums + {many} * exp(-top)"}
    orders = {
        "swapped in pairs": v[:, np.minimum(places ^ 1, n_k - 1)],
        "in reverse order": v[:, ::-1],
        "one place on": np.roll(v, 1, axis=1),
        "read as if stored transposed": turned(v).reshape(v.shape),
    }
    for order, moved in orders.items():
        yield "rows-moved", ("V", order), {"V": moved}


def _of_maximum(s: AttentionSteps, form: FloatFormat) -> Iterator[_Edit]:
    """Exponentials beside another number than the largest score, in a format where they vanish
    or overflow; where all vanish, 0 / 0 may be taken for 0."""
    high = "beside a maximum that was begun too high"
    tops = [("without the maximum subtracted", "0")]
    for words, top in [*tops, *((high, f"maximum(top, {start:f})") for start in (0.0, *_LOW))]:
        changes: Changes = {"top": top, "powers": _held("powers", form)}
        yield "maximum", (words,), changes
        if not (left := s.edited(changes)["sums"] > 0).all():
            rows = {name: s[name] * left for name in ("live", "used")}
            yield "maximum", (words,), {**changes, **rows, "lse": "lse + log(live)"}


def _of_blocks(s: AttentionSteps) -> Iterator[_Edit]:
    """Keys taken some at a time: sums that were not rescaled, or of all blocks but the last."""
    scores, n_k = s["M"], s["K"].shape[1]
    for size in (size for size in _BLOCKS if size < n_k):
        # Each beside the largest score up to its own block.
        starts = np.arange(0, n_k, size)
        largest = np.maximum.accumulate(np.maximum.reduceat(scores, starts, axis=-1), axis=-1)
        so_far = np.repeat(np.maximum(largest, _LEAST), size, axis=-1)[..., :n_k]
        powers = np.exp(scores - so_far)
        for words, sums in (("the output", {"sums": s["sums"]}), ("the output and the sums", {})):
            wrong = s.edited({"powers": powers, **sums})
            changes = {"Y": wrong["Y"], "sums": wrong["sums"]}
            yield "not-rescaled", (words, str(size)), changes
    for start in sorted({(n_k - 1) // size * size for size in _BLOCKS} - {0}):
        before = s.edited({"powers": s["powers"] * (np.arange(n_k) < start)})["lse"]
        yield "stale", ("the log-sum-exp", str(n_k - start)), {"lse": before}


def _of_groups(s: AttentionSteps) -> Iterator[_Edit]:
    """Gradients of keys from some of the heads of queries that share them."""
    group, each = s.layout.group, np.arange(s["Q"].shape[1]) // s.layout.n_q
    for head in range(group) if group > 1 else ():
        others = " and ".join(str(other) for other in range(group) if other != head)
        of_head = (each == head)[:, None]
        for rows, heads in ((of_head, str(head)), (~of_head, others))[: 1 + (group > 2)]:
            words = "dK and dV", f"head {heads} of each group, counted from 0"
            yield "head-dropped", words, {"counted": s["counted"] * rows}


def _of_heads(s: AttentionSteps) -> Iterator[InjectedFault]:
    lay = s.layout
    of_keys = lay.lead_k[-1] if lay.lead_k else 1
    # Which head of keys each head of queries has, in every batch.
    batches = len(s["K"]) // of_keys
    first = of_keys * np.repeat(np.arange(batches), of_keys * lay.group)
    places = np.tile(np.arange(of_keys * lay.group), batches)
    own = places // lay.group
    taken = {
        "the keys and values of the next head": (own + 1) % of_keys,
        "the keys and values of the head before": (own - 1) % of_keys,
        "the keys and values of the first head": 0 * own,
        "the keys and values of head h mod H, interleaved,": places % of_keys,
    }
    for source, heads in taken.items():
        if not np.array_equal(heads, own):
            words = "attention of each head", source, "its own"
            yield InjectedFault("other-matrix", words, s.taking(first + heads))


#: Keys that kernels take at a time.
_BLOCKS = (1, 2, 4, 8, 16, 32, 64, 128)
#: Numbers that stand for minus infinity in kernels.
_LOW = (-1e4, -5e4, -1e5)
#: In the place of the largest of scores that are all masked.
_LEAST = -1e308
#: Formats that a step may be held in by mistake.
_NARROW: tuple[FloatFormat, ...] = ("float32", "float16", "bfloat16")
#: What is held, by what it is called; what a package's softmax rounds, and what one does that
#: is written out.
_HELD = (
    ("the scale", "scale"),
    ("the scores", "B"),
    ("the weights", "A"),
    ("the softmax", "B A"),
    ("the softmax", "B A dA dM"),
    ("the softmax", "B gaps powers sums A"),
    ("the softmax", "gaps powers sums A"),
    ("the exponentials", "powers"),
)


def _of_format(s: AttentionSteps, form: FloatFormat) -> Iterator[_Edit]:
    yield "held-in", ("the log-sum-exp", form), {"lse": _held("lse", form)}
    for place, steps in _HELD:
        yield "held-in", (place, form), {step: _held(step, form) for step in steps.split()}
    if form == "float32":
        return
    output: Changes = {"Y": lambda s: _total(s["A"][..., None] * s["V"][:, None], form)}
    sums: Changes = {"sums": _total(s["powers"][..., None], form) + s["of_sink"]}
    for changes in (output, sums, {**sums, **output}):
        yield "sums-in", ("the sums over keys", form), changes


def _held(step: str, form: FloatFormat) -> Change:
    return lambda s: rounded_to(s.own(step), form)


def _total(terms: Array, form: FloatFormat) -> Array:
    """The sum over the last axis but one in a format, term by term."""
    terms, total = rounded_to(terms, form), np.zeros_like(terms[..., 0, :])
    for k in range(terms.shape[-2]):
        total = rounded_to(total + terms[..., k, :], form)
    return total


# -- why an array is wrong ---------------------------------------------------------------
# A fault is named if what it makes of the same inputs is, within the bounds of a correct kernel
# that makes it, what was found in every wrong array, while the truth is far off; and if nothing
# else gives that too.

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
#: Weights of the queries that faults are tried on where there are many.
_TRIED = 1 << 19


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
    known, roles = dict[str, Errors](), list[AttentionRole]()
    for name, item in judged.items():
        role = item.quantity.role
        if item.errors is not None and role and not role.keys:
            known[name] = item.errors
            roles.append(role)
    if not (wrong := _wrong(known)):
        return ()
    forward = roles[0].forward
    backward = next((role.backward for role in roles if role.backward), None)
    if is_large(forward):
        if forward.layout.is_packed:
            # What is wrong is not told by query there.
            return ()
        large = LargeSteps(forward, backward)
        places = _telling(known, large)
        steps, truth = large.of_queries(places)
        if len(places) < large.layout.n_q:
            # What flows into keys comes from the other queries, too.
            known = {
                name: errors.at(places, large.layout.axis(name))
                for name, errors in known.items()
                if name not in BY_KEY
            }
            if not (wrong := _wrong(known)):
                return ()
    else:
        steps, truth = steps_of(forward, backward), exactly(forward, backward)
    far = {name: error_of(known[name].actual, truth.part(name)) for name in wrong}
    faults = injected(steps, precision)
    fits = [fit for fault in faults if (fit := _fit(fault, known, far, precision))]
    whole = [fit for fit in fits if fit.explains == wrong and not fit.contradicted]
    if whole:
        return tuple(_named(whole, tuple(sorted(wrong, key=[*known].index))))
    narrow = {cause.parts: cause for cause in _as_narrow(judged, wrong, precision)}
    causes: list[KernelCause] = []
    for name in (name for name in known if name in wrong):
        of_part = [fit for fit in fits if name in fit.explains]
        named = [] if len(narrow) == len(wrong) else [*_named(of_part, (name,))]
        causes += named or [cause for parts, cause in narrow.items() if parts == (name,)]
    return tuple(_joined(causes))


def _wrong(known: Mapping[str, Errors]) -> set[str]:
    return {name for name, errors in known.items() if (errors.over_bound > 1).any()}


def _telling(known: Mapping[str, Errors], large: LargeSteps) -> npt.NDArray[np.intp]:
    """Queries to try faults on: the first, as many that are spread evenly as there is room for
    beside the worst."""
    n_q = large.layout.n_q
    room = min(n_q, large.room(_TRIED))
    worst = np.zeros(n_q)
    for name, errors in known.items():
        if name not in BY_KEY:
            axis = large.layout.axis(name)
            others = tuple(k for k in range(errors.over_bound.ndim) if k != axis)
            worst = np.maximum(worst, errors.over_bound.max(axis=others))
    spread = np.linspace(0, n_q - 1, (room + 1) // 2).astype(np.intp)
    order = np.argsort(-worst, kind="stable")
    left = order[~np.isin(order, spread)][: room - len(np.unique(spread))]
    return np.union1d(spread, left)


def _as_narrow(
    judged: Mapping[str, JudgedArray], wrong: Iterable[str], precision: Precision
) -> Iterator[KernelCause]:
    """Errors of a kernel of float64 that are those of a correct one of float32: no fault of
    another kind is as small."""
    for name in wrong if precision.format == "float64" else ():
        errors = judged[name].errors
        assert errors is not None
        limit = bounds(judged[name].quantity, Precision("float32")).bound
        left = over(error_of(errors.actual, errors.exact), limit)
        if (left <= 1).all():
            sentence = str(phrase("held-in", ("a step", "float32")))
            yield KernelCause("held-in", sentence, (name,), float(left.max()))


@dataclass(frozen=True, eq=False)
class _Fit:
    """How well a fault fits: the wrong parts that it explains, whether it would make right
    parts wrong, and for each part what is left over the bound, at most and on average."""

    fault: InjectedFault
    explains: set[str]
    contradicted: bool
    most: Mapping[str, float]
    mean: Mapping[str, float]


def _fit(
    fault: InjectedFault,
    known: Mapping[str, Errors],
    far: Mapping[str, Array],
    precision: Precision,
) -> _Fit | None:
    """Return what a fault explains of the parts that are ``far`` from the truth; None for
    nothing."""
    near = (error_of(known[name].actual, fault.steps.part(name)) < far[name] for name in far)
    asked = {name: (part.over_bound > 1) | (name not in far) for name, part in known.items()}
    if not any(each[asked[name]].mean() > 0.5 for name, each in zip(far, near, strict=True)):
        return None
    limits = all_bounds(fault.steps, precision)
    explains, most, mean, contradicted = set(), {}, {}, False
    for name, part in known.items():
        # What has no bound is no explanation, unless nothing is asked of it.
        with np.errstate(all="ignore"):
            room = _ROOM * np.maximum(limits[name].bound, _TINY)
            left = error_of(part.actual, fault.steps.part(name)) / room
        left = np.where(np.isfinite(left), left, np.inf)
        left = np.where(np.isinf(part.bound), 0.0, left)
        most[name], mean[name] = float(left.max()), _mean(left)
        good = left <= 1
        fits = good.all() or (fault.rounds and min(good.mean(), good[asked[name]].mean()) >= _NINE)
        if name not in far:
            contradicted |= not fits
        elif fits and _mean(part.over_bound) > _FAR * mean[name]:
            explains.add(name)
    return _Fit(fault, explains, contradicted, most, mean) if explains else None


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
    if len(phrases) > _MOST_ALIKE:
        # Of each kind one stands for others, which differ in a number.
        of_kind: dict[str, dict[str, None]] = {}
        for fit in alike:
            of_kind.setdefault(fit.fault.kind, {})[fit.fault.phrase] = None
        phrases = [
            f"{first} (or the like)" if others else first for first, *others in of_kind.values()
        ]
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
