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
from symattn.slips.catalogue import NOT_TURNED, phrase
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
    number,
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
    """All faults that can be made with these inputs, each an edit of the graph."""
    of_blocks = (_of_block(size) for size in _BLOCKS if size < s["K"].shape[1])
    edits = (
        _of_scale(s),
        _of_mask(s, precision.sums),
        _of_keys(s),
        _of_scores(s),
        _of_maximum(s, precision.sums),
        *of_blocks,
        _of_rows(s),
        _of_log_sums(s),
        _of_gradients(s),
    )
    for kind, words, changes in chain(*edits):
        yield InjectedFault(kind, words, s.edited(changes))
    yield from _of_heads(s)
    for form in _NARROW:
        if FORMATS[form].digits < FORMATS[precision.format].digits:
            for kind, words, changes in _of_format(s, form):
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


def _of_mask(s: AttentionSteps, form: FloatFormat) -> Iterator[_Edit]:
    keep = _kept(s)
    if keep.all():
        return
    n_q, n_k = s.layout.n_all, keep.shape[-1]
    yield from _seeing(s, np.ones_like(keep), "mask-forgotten")
    yield from _seeing(s, ~keep, "mask-negated")
    yield from _seeing(s, keep[..., ::-1], "mask-reversed")
    yield from _seeing(s, np.broadcast_to(keep[:, :1], keep.shape), "mask-of-row")
    yield from _of_window(s, keep)
    yield from _seeing(s, _moved(keep, 1), "mask-shifted", "one key too many")
    yield from _seeing(s, _moved(keep, -1), "mask-shifted", "one key too few")
    both = [s.layout.ordered(n_k, k) for k in (0, n_k - n_q)]
    top, bottom = (not (keep & ~seen).any() for seen in both)
    names = "top-left", "bottom-right"
    if n_q != n_k and (top or bottom):
        # Of two that hold, the narrower one is what was asked for.
        is_top = top and (n_q < n_k or not bottom)
        shift = n_k - n_q if is_top else n_q - n_k
        yield from _seeing(s, _moved(keep, shift), "mask-aligned", names[is_top], names[not is_top])
    if n_q == n_k and s.layout.group == 1 and s.layout.is_whole:
        yield from _seeing(s, np.swapaxes(keep, 1, 2), "mask-transposed")
    all_seen = np.ones(keep.shape)
    late: Changes = {"seen": all_seen, "A": lambda s: s.own("A") * keep}
    yield "mask-after", ("the weights",), late
    zero: Changes = {"seen": all_seen, "B": lambda s: np.where(keep, s.own("B"), 0.0)}
    yield "mask-as-zero", (_SCORES,), zero
    ones: Changes = {"seen": all_seen, "B": lambda s: s.own("B") + keep}
    yield "mask-as-number", (_SCORES,), ones
    for mask in _LOW:
        put: Changes = {"seen": all_seen, "B": _masked(keep, 0.0, mask, form)}
        added: Changes = {"seen": all_seen, "B": _masked(keep, 1.0, mask, form)}
        yield "mask-finite", (_SCORES, "set to", f"{mask:g}"), put
        yield "mask-finite", (_SCORES, "lowered by", f"{-mask:g}"), added
    if np.isfinite(s["cap"]):
        masked: Changes = {
            "seen": all_seen,
            "C": _capped(lambda s: np.where(keep, s["S"], -np.inf)),
        }
        yield "capped-after", (_SCORES, "the mask"), masked


def _masked(keep: Flags, own: float, mask: float, form: FloatFormat) -> Change:
    """Scores of which those that are masked count ``own`` times, and the mask is added, which
    leaves a format few of their digits."""
    return lambda s: np.where(keep, s.own("B"), rounded_to(own * s.own("B") + mask, form))


def _of_window(s: AttentionSteps, keep: Flags) -> Iterator[_Edit]:
    """Masks that are a band around a diagonal, with one of its edges elsewhere."""
    rows = np.tile(s.layout.queries, s.layout.group)
    ahead = np.broadcast_to(np.arange(keep.shape[-1]) - rows[:, None], keep.shape)
    first, last = (int(found(ahead[keep])) if keep.any() else 0 for found in (np.min, np.max))
    if first == ahead.min() or not np.array_equal(keep, (first <= ahead) & (ahead <= last)):
        return
    yield from _seeing(s, keep & (ahead > first), "window-moved", "starts one key late")
    early = (first - 1 <= ahead) & (ahead <= last)
    yield from _seeing(s, early, "window-moved", "starts one key early")
    yield from _seeing(s, ahead <= last, "window-moved", "has no start")
    yield from _seeing(s, ahead >= first, "window-moved", "has no end")


def _of_keys(s: AttentionSteps) -> Iterator[_Edit]:
    """Keys left out at the end, or added there; values in another order."""
    keep, n_q = _kept(s), s.layout.n_all
    n_k = keep.shape[-1]
    left = {1, n_k - n_q, *(n_k % size for size in _BLOCKS)}
    for many in sorted(count for count in left if 0 < count < n_k):
        keys = "the last key" if many == 1 else f"the last {many} keys"
        yield from _seeing(s, keep & (np.arange(n_k) < n_k - many), "keys-dropped", keys)
    for many in sorted({-n_k % size for size in _BLOCKS} - {0}):
        keys = "a key" if many == 1 else f"{many} keys"
        more: Changes = {"sums": _with_zeros(many)}
        yield "keys-added", ("the sums of the exponentials", keys), more
    if keep.all():
        for shift in {0, n_k - n_q}:
            seen = np.broadcast_to(s.layout.ordered(n_k, shift), keep.shape)
            yield from _seeing(s, seen, "mask-added")
    v, places = s["V"], np.arange(n_k)
    pairs = np.minimum(places ^ 1, n_k - 1)
    orders = {
        "swapped in pairs": v[:, pairs],
        "in reverse order": v[:, ::-1],
        "one place on": np.roll(v, 1, axis=1),
        "read as if stored transposed": turned(v).reshape(v.shape),
    }
    for order, moved in orders.items():
        if not np.array_equal(moved, v):
            yield "rows-moved", ("V", order), {"V": moved}


def _with_zeros(many: int) -> Change:
    """Sums of exponentials with that of so many scores of 0."""
    return lambda s: s.own("sums") + many * np.exp(-s["top"])


def _kept(s: AttentionSteps) -> Flags:
    """The keys that each query sees."""
    return s.flags("seen") & s.flags("live")


def _moved(keep: Flags, by: int) -> Flags:
    """Return what is seen if every query stood so many keys further on."""
    places = np.arange(keep.shape[-1]) - by
    inside = places < keep.shape[-1]
    seen: Flags = keep[..., np.where(inside, np.maximum(places, 0), 0)] & inside
    return seen


def _seeing(s: AttentionSteps, keep: Flags, kind: str, *words: str) -> Iterator[_Edit]:
    """A fault of the mask; rows that see nothing then may be anything. No sequence sees the
    padding that attention is computed with where arrays are packed."""
    queries, keys = s.layout.inside
    keep = keep & queries & keys
    if np.array_equal(keep, _kept(s)):
        return
    live = np.any(keep | np.isfinite(s["sink"]), axis=-1, keepdims=True)
    changes = {"seen": keep | (~live & s.layout.instead), "live": live}
    for _, empty in _EMPTY if not live.all() else _EMPTY[:1]:
        yield kind, (_SCORES, *words), {**changes, **empty}


#: What rows make that see no key.
_EMPTY: Sequence[tuple[str, Mapping[str, Change]]] = (
    ("zero", {"used": lambda s: s["live"]}),
    ("the mean of the values", {"used": lambda s: np.ones_like(s["live"])}),
    ("NaN", {"used": lambda s: s["live"], "Y": lambda s: np.where(s["live"], s.own("Y"), np.nan)}),
)


def _of_rows(s: AttentionSteps) -> Iterator[_Edit]:
    padding = ~s.layout.inside[0]
    if (s.flags("live") | padding).all():
        return
    right = _EMPTY[int((s.flags("used") | padding).all())][0]
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


def _of_maximum(s: AttentionSteps, form: FloatFormat) -> Iterator[_Edit]:
    """Exponentials beside another number than the largest score, in a format where they vanish
    or overflow; where all vanish, 0 / 0 may be a number."""
    tops = [("without the maximum subtracted", np.zeros_like(s["top"]))]
    high = "beside a maximum that was begun too high"
    tops += [(high, np.maximum(s["top"], start)) for start in (0.0, *_LOW)]
    for words, top in tops:
        if np.array_equal(top, s["top"]):
            continue
        changes: Changes = {"top": top, "powers": _held("powers", form)}
        yield "maximum", (words,), changes
        if not (left := s.edited(changes)["sums"] > 0).all():
            yield "maximum", (words,), {**changes, **_without(s, left)}


def _without(s: AttentionSteps, left: Flags) -> Changes:
    """Rows whose exponentials all vanish, where 0 / 0 is taken for 0."""
    seen, live, used = (np.asarray(s[name]) for name in ("seen", "live", "used"))
    return {
        "seen": np.where(left, seen, 1.0),
        "live": np.where(left, live, 0.0),
        "used": np.where(left, used, 0.0),
        "lse": lambda s: np.where(left, s.own("lse"), -np.inf),
    }


def _of_log_sums(s: AttentionSteps) -> Iterator[_Edit]:
    """Another log-sum-exp, which the weights of the backward pass may be recomputed from."""
    name, top, rest = "the log-sum-exp", s["top"], s["lse"] - s["top"]
    yield from _of_lse(s, "other-base", (name, "2"), s["lse"] / np.log(2))
    yield from _of_lse(s, "term-dropped", (name, "maximum"), rest)
    if s["scale"].item() not in (0.0, 1.0):
        words = f"the maximum in {name}", "factor", "scale"
        yield from _of_lse(s, "scaled-twice", words, top * s["scale"] + rest)
        yield from _of_lse(s, "scale-dropped", words, top / s["scale"] + rest)
    n_k = s["K"].shape[1]
    for start in sorted({(n_k - 1) // size * size for size in _BLOCKS} - {0}):
        with np.errstate(divide="ignore"):
            before = top + np.log(_summed(s, s["powers"][..., :start].sum(axis=-1, keepdims=True)))
        yield from _of_lse(s, "stale", (name, str(n_k - start)), before)


def _of_lse(s: AttentionSteps, kind: str, words: tuple[str, ...], lse: Array) -> Iterator[_Edit]:
    if np.array_equal(lse, s["lse"]) or not np.isfinite(lse[s.flags("live")]).all():
        return
    yield kind, words, {"lse": lse}
    if "dY" in s.given:
        with np.errstate(all="ignore"):
            again = np.where(s["live"], np.exp(s["M"] - lse), s["A"])
        # D is taken of these weights, or of the output, which is right.
        for rest in ({}, {"D": s["D"]}):
            yield kind, words, {"lse": lse, "A": again, "Y": s["Y"], **rest}


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
    if s["Q"].shape[1] == s["K"].shape[1] and s.layout.is_whole:
        yield "transposed", ("dK", "dS", NOT_TURNED), {"dS_T": lambda s: s["dS"]}
        yield "transposed", ("dV", "A", NOT_TURNED), {"A_T": lambda s: s["A"]}
    if s["scale"].item() != 1:
        for name, steps in (
            ("dQ", ("scale_Q",)), ("dK", ("scale_K",)), ("dQ and dK", ("scale_Q", "scale_K"))
        ):  # fmt: skip
            yield "scale-dropped", (name, "factor", "scale"), dict.fromkeys(steps, _ONE)
    yield "term-dropped", ("dS", "rowsum(A * dA)"), {"D": number(0)}
    for head in range(group := s.layout.group):
        of_head = (np.arange(s["Q"].shape[1]) // s.layout.n_q == head)[:, None]
        others = tuple(str(other) for other in range(group) if other != head)
        for rows, heads in ((of_head, (str(head),)), (~of_head, others))[: 1 + (group > 2)]:
            if len(heads) < group:
                words = "dK and dV", f"head {' and '.join(heads)} of each group, counted from 0"
                yield "head-dropped", words, {"counted": s["counted"] * rows}
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
            yield InjectedFault("other-matrix", words, s.taking(heads))


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


def _of_format(s: AttentionSteps, form: FloatFormat) -> Iterator[_Edit]:
    yield from _of_lse(s, "held-in", ("the log-sum-exp", form), rounded_to(s["lse"], form))
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


# -- why an array is wrong ---------------------------------------------------------------
# The usual faults of kernels, each computed, and the one that gives it.
#
# A fault (:mod:`~symattn.testing.faults`) is named if what it makes of the same inputs is, within
# the bounds of a correct kernel that makes it, what was found in every wrong array, while the
# truth is far off; and if nothing else gives that too.

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
            wrong = {name for name in known if (known[name].over_bound > 1).any()}
            if not wrong:
                return ()
    else:
        steps, truth = steps_of(forward, backward), exactly(forward, backward)
    tried = _Tried(known, wrong, precision, truth)
    faults = injected(steps, precision)
    fits = [fit for fault in faults if (fit := tried.fit(fault))]
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
        #: Which entries are wrong, and how far they are from the truth.
        self._far = {
            name: (part.over_bound > 1, error_of(part.actual, truth.part(name)))
            for name, part in judged.items()
        }

    def fit(self, fault: InjectedFault) -> _Fit | None:
        """Return what a fault explains; None for nothing."""
        parts = {name: fault.steps.part(name) for name in self._judged}
        if not any(self._is_near(name, parts[name]) for name in self._wrong):
            return None
        limits = all_bounds(fault.steps, self._precision)
        bounds = {name: limits[name].bound for name in parts}
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

    def _is_near(self, name: str, array: Array) -> bool:
        """Return whether a fault may explain a part, roughly."""
        wrong, far = self._far[name]
        near = error_of(self._judged[name].actual, array)
        return bool((near < far)[wrong].mean() > 0.5)

    @staticmethod
    def _fits(fault: InjectedFault, left: Array, ratio: Array) -> bool:
        if not fault.rounds:
            return bool((left <= 1).all())
        wrong: Flags = ratio > 1
        those = left[wrong] <= 1 if wrong.any() else left <= 1
        return bool(those.mean() >= _NINE and (left <= 1).mean() >= _NINE)


def _is_far(ratio: Array, left: Array) -> bool:
    """Return whether the truth is far off, beside what a fault leaves."""
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
    kinds = {fit.fault.phrase: fit.fault.kind for fit in alike}
    phrases = [*kinds]
    if len(phrases) > _MOST_ALIKE:
        # Of each kind one stands for others, which differ in a number.
        first_of = {kind: name for name, kind in reversed(kinds.items())}
        many = [*kinds.values()]
        phrases = [
            f"{name} (or the like)" if many.count(kind) > 1 else name
            for name, kind in kinds.items()
            if first_of[kind] == name
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
