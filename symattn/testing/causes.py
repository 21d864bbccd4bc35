"""Why an array is wrong: the usual faults of kernels, each computed, and the one that gives it.

A fault (:mod:`~symattn.testing.faults`) is named if what it makes of the same inputs is, within
the bounds of a correct kernel that makes it, what was found in every wrong array, while the
truth is far off; and if nothing else gives that too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from symattn.auditing.edits import phrase
from symattn.solution.entries import AttentionRole
from symattn.testing.attention_steps import (
    BY_KEY,
    Array,
    AttentionSteps,
    Flags,
    LargeSteps,
    exactly,
    is_large,
    steps_of,
)
from symattn.testing.bounds import all_bounds, bounds
from symattn.testing.faults import InjectedFault, injected
from symattn.testing.judged import Errors, JudgedArray, KernelCause, error_of, over
from symattn.testing.precision import Precision

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
        """What a fault explains; None for nothing."""
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
        """Whether a fault may explain a part, roughly."""
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
