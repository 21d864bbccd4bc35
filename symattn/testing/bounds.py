r"""Bounds on how far a correct kernel may be off, entry by entry.

What is bounded is any kernel that computes attention by its definition in a working
precision: its inputs and results are numbers of a format with unit roundoff :math:`u`,
its sums are made in any order with unit roundoff :math:`w` (float32 for formats of 16 and
8 bits, the format itself otherwise); exponentials and hyperbolic tangents are off by at
most four units :math:`w`. Two levels say what else is rounded to the format:

- ``fused``: the weights that are multiplied by values, the gradient into the scores that is
  multiplied by keys and queries, and results (FlashAttention);
- ``unfused``: every intermediate, the scores too (a sequence of matrix products). It
  contains the other and is what is judged by unless said otherwise.

What has a format of its own (:data:`~symattn.testing.precision.NAMES`) is rounded to that
instead: ``weights`` (the P that meets the values) and ``dS`` as they are multiplied; a result
once, or, unfused, once more before where its own format is the narrower one. A log-sum-exp
that weights are recomputed from is one of float32 or as wide as sums are.

The bounds are rigorous for these kernels: errors of errors are not left out. With
:math:`\gamma_m = m w / (1 - m w)` a sum of m products, in any order, is off by at most
:math:`\gamma_m` times the sum of their magnitudes (N. J. Higham, *Accuracy and stability of
numerical algorithms*, 2002, section 3.1). Hats are computed values; the steps are

1. scores: :math:`|\hat S - S| \le \gamma_{d_k + 4}\, |s| |Q| |K|^T + 2 w |S|`; unfused, queries
   and keys may each have been scaled and stored, and so may the scores: four u of the
   magnitudes, two of the scores. Capping has a derivative of at most 1 and adds its own
   roundings, the bias adds that of one addition.
2. what :math:`\hat S_{ij}` is off in a row matters only beside the others: with
   :math:`\delta_{ij} = |\hat S - S|_{ij} + 3 w |S_{ij} - m_i| + 5 w` (the subtraction of the
   maximum :math:`m_i`, whichever number it is rounded to, and the exponential) the weights lie
   between what they are if :math:`S_{ij}` is larger by :math:`\delta_{ij}` and all others of
   the row smaller by theirs, and the reverse. In first order that is
   :math:`(1 - A_{ij}) \delta_{ij} + \sum_{l \ne j} A_{il} \delta_{il}`: nothing where one
   weight is nearly 1. To that come :math:`\gamma_{n_k + 6 b + 3}` for the sum, with b
   blocks of 16 keys each of which may rescale what was summed before, and the storing.
3. output: :math:`|\hat A - A|\,|V| + \gamma_{n_k + 6 b} \hat A |V|`, and that it is stored.
4. log-sum-exp: :math:`\log \sum_j A_{ij} e^{\delta_{ij}}`, the sum's :math:`\gamma`, the
   logarithm and the addition of the maximum.
5. gradients: a kernel may have kept the weights, or, fused, have recomputed them as
   :math:`\exp(S_{ij} - L_i)`, which are then off by :math:`\delta_{ij}` and by what the
   log-sum-exp is; :math:`dA = dO\, V^T`; :math:`D` is the row sum of :math:`A \circ dA`, or
   of :math:`dO \circ O` with the output as stored, whichever is worse;
   :math:`dS = A \circ (dA - D)` is stored; dQ, dK, dV are products of these. Heads that share
   keys may each store their dK and dV before they are added.

Numbers too small for a format are rounded to what is there: each stored number is off by at
most :attr:`Precision.tiny` more, each term of a sum by :attr:`Precision.small`. In formats as
wide as float32 many machines take what is below the smallest normal number for zero, inputs
too. The *condition* of an entry is the sum of the magnitudes of
its terms, cancellation left out: :math:`A |V|` for the output, and so on. An error is as small
as one can ask for where it is a few w of the condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, replace
from functools import partial, reduce
from math import ceil, isfinite
from weakref import WeakKeyDictionary

import numpy as np

from symattn.errors import Malformed
from symattn.solution.attention import Attention, Gradients
from symattn.solution.layouts import HeadLayout
from symattn.solution.quantity import Quantity
from symattn.testing.attention_steps import (
    BY_KEY,
    WIDE,
    Array,
    AttentionSteps,
    LargeSteps,
    exactly,
    is_large,
    turned,
)
from symattn.testing.precision import Precision, tiny, unit_roundoff

#: Kernels that take keys block by block take at least so many at once.
_BLOCK = 16
#: Bounds are computed in floats themselves.
_UP = 1 + 2.0**-20
#: Exponents above are of no use in a bound.
_LARGEST = 300.0


@dataclass(frozen=True)
class Bound:
    """Of every entry: its condition, and how far a correct kernel may be off."""

    condition: Array
    bound: Array

    def map(self, change: Callable[[Array], Array]) -> Bound:
        """The same change of place of both."""
        return Bound(change(self.condition), change(self.bound))


def bounds(quantity: Quantity, precision: Precision) -> Bound:
    """The bounds of a part of attention, or of what was taken of one, in its shape.
    :class:`Malformed` for any other quantity.

    >>> from symattn import attention
    >>> exact = attention([[1]], [[1], [1]], [[3], [-4]])
    >>> limits = bounds(exact.output, Precision("float32"))
    >>> limits.condition.tolist(), bool(1e-7 < limits.bound < 1e-4)
    ([[3.5]], True)
    """
    role = quantity.role
    if role is None:
        raise Malformed(f"{quantity.name} is no part of symattn.attention: no bound is known")
    whole = _bounds_of(role.part, role.forward, role.backward, precision)
    taken = (reduce(lambda x, key: x[key], role.keys, x) for x in (whole.condition, whole.bound))
    return Bound(*taken)


_Known = dict[Precision, dict[str, Bound]]
#: The bounds of what has been judged, for as long as that is there.
_KNOWN: WeakKeyDictionary[Attention | Gradients, _Known] = WeakKeyDictionary()


def _bounds_of(
    part: str, forward: Attention, backward: Gradients | None, precision: Precision
) -> Bound:
    known = _KNOWN.setdefault(backward or forward, {}).setdefault(precision, {})
    if part in known:
        return known[part]
    if is_large(forward):
        # What has a column for each key as well is kept only where it is asked for.
        large = LargeSteps(forward, backward)
        known |= _joined(large.blocks(), large.layout, large.whole, precision, WIDE - {part})
    else:
        known |= all_bounds(exactly(forward, backward), precision)
    return known[part]


def all_bounds(steps: AttentionSteps, precision: Precision) -> dict[str, Bound]:
    """The bounds of every part, from its steps."""
    whole = {name: steps[name] for name in BY_KEY} if "dY" in steps.given else {}
    return _joined([steps], steps.layout, whole, precision)


def _joined(
    blocks: Iterable[AttentionSteps],
    layout: HeadLayout,
    whole: Mapping[str, Array],
    precision: Precision,
    left_out: Set[str] = frozenset(),
) -> dict[str, Bound]:
    """The bounds of every part, from the steps of some queries at a time: what has a row for
    each query, and the ``whole`` of what has one for each key, into which every block flows."""
    rows: dict[str, list[Bound]] = {}
    flows: dict[str, _Flow] = {}
    with np.errstate(all="ignore"):
        for steps in blocks:
            bounding = _Bounding(steps, precision, layout.group * layout.n_q)
            for name, pair in bounding.rows().items():
                if name not in left_out:
                    pair = steps.layout.by_query(pair[0]), steps.layout.by_query(pair[1])
                    rows.setdefault(name, []).append(_finite(*pair))
            for name, flow in bounding.flows().items():
                flows[name] = flow + flows[name] if name in flows else flow
        stored = {name: flow.stored(name, whole[name], precision) for name, flow in flows.items()}
    by_query = {
        name: _below(parts, len(layout.lead)).map(partial(layout.placed, name))
        for name, parts in rows.items()
    }
    by_key = {
        name: _finite(*pair).map(partial(steps.shaped, name)) for name, pair in stored.items()
    }
    return by_query | by_key


def _finite(condition: Array, bound: Array) -> Bound:
    return Bound(condition, np.nan_to_num(bound * _UP, nan=np.inf, posinf=np.inf))


def _below(parts: list[Bound], axis: int) -> Bound:
    """The rows of blocks below each other."""
    pairs = zip(*((part.condition, part.bound) for part in parts), strict=True)
    return Bound(*(np.concatenate(arrays, axis) for arrays in pairs))


@dataclass(frozen=True)
class _Flow:
    """What flows into keys or values from some queries: its condition, and its error until it is
    stored, where it is a sum of so many ``terms`` and is stored so many ``times``; ``shared`` is
    what it may be off besides, relative to its condition."""

    condition: Array
    error: Array
    terms: int
    times: int
    shared: float

    def __add__(self, other: _Flow) -> _Flow:
        condition, error = self.condition + other.condition, self.error + other.error
        return replace(self, condition=condition, error=error)

    def stored(self, name: str, exact: Array, p: Precision) -> tuple[Array, Array]:
        """The condition and the error of the whole sum."""
        error = p.kept(name, abs(exact), self.error + self.terms * p.small, self.times)
        return self.condition, error + self.shared * self.condition


class _Bounding:
    """The derivation above, step by step; ``e_...`` is what a computed step may be off.

    A sink is one more column of scores and weights until it has taken its weight.
    """

    def __init__(self, steps: AttentionSteps, precision: Precision, queries: int) -> None:
        self.s, self.p = steps, precision
        #: How many there are in all, here and in other blocks.
        self.queries = queries
        n_k = steps["K"].shape[1]
        self.many = n_k + 6 * ceil(n_k / _BLOCK)
        self.scale = abs(float(steps["scale"].item()))
        self.cap = float(steps["cap"].item())
        #: What is too small may be multiplied by the scale, or the other way round.
        self.most = max(1.0, self.scale)
        self.magnitudes = self.scale * (abs(steps["Q"]) @ turned(abs(steps["K"])))
        #: What softmax sees, 0 where it is masked.
        self.scores = np.where(steps["seen"], steps["B"], 0.0)
        # Who recomputes weights has scores that are not stored.
        unfused = precision.unfused
        self.fused = (
            _Bounding(steps, replace(precision, level="fused"), queries) if unfused else None
        )
        self.a: Array = steps["A"]
        self.e_scores: Array = self._scores()
        self.e_weights, self.e_again, self.e_lse = self._softmax()
        self.e_output = self._product("output", self.a, self.e_weights, "V", self.many)
        self.e_output = np.where(steps["used"], self.e_output, 0.0)

    def _product(
        self,
        name: str,
        left: Array,
        e_left: Array,
        right: str,
        terms: int,
        relative: float = 0.0,
        times: int = 1,
    ) -> Array:
        """Return what a result, a product of computed numbers (positive) and an input, is off once
        stored."""
        p, error = self.p, self._sum(left, e_left, right, terms, relative)
        exact = abs(self.s["Y" if name == "output" else name])
        return p.kept(name, exact, error + terms * p.small, times)

    def _sum(
        self, left: Array, e_left: Array, right: str, terms: int, relative: float = 0.0
    ) -> Array:
        """Return what such a product is off before: each of its terms by ``relative`` besides, the
        sum of so many by its own roundings."""
        p, near, given = self.p, left + e_left, self.s[right]
        inner = e_left + (p.gamma(terms) + relative) * near
        lost = p.lost(right, given)
        error: Array = inner @ abs(given) + (near @ lost if lost.any() else 0.0)
        return error

    def rows(self) -> dict[str, tuple[Array, Array]]:
        """The condition and the error of every part that has a row for each query."""
        s, p = self.s, self.p
        score_terms = self.magnitudes + abs(s["bias"])
        size = abs(s["lse"])
        pairs: dict[str, tuple[Array, Array]] = {
            "scores": (score_terms, p.shown("scores", abs(self.scores), self.e_scores)),
            "weights": (self.a, self.e_weights),
            "output": (self.a @ abs(s["V"]), self.e_output),
            # What a row that sees no key has there is convention.
            "lse": (
                (size + (self.a * score_terms).sum(axis=-1, keepdims=True))[..., 0],
                np.where(s["live"], p.kept("lse", size, self.e_lse), np.inf)[..., 0],
            ),
        }
        return pairs | self._gradients() if "dY" in s.given else pairs

    def _scores(self) -> Array:
        s, p = self.s, self.p
        q, k, size, width = s["Q"], s["K"], abs(s["S"]), s["Q"].shape[-1]
        error = p.gamma(width + 4) * self.magnitudes + 2 * p.w * size
        lost = abs(q) @ turned(p.lost("K", k)) + p.lost("Q", q) @ turned(abs(k))
        error = error + self.scale * lost + self.most * width * p.small
        if p.unfused:
            error = p.stored(size, error + ((1 + p.u) ** 4 - 1) * self.magnitudes, 2)
        if isfinite(self.cap):
            error = error + 8 * p.w * (size + error)
            if p.unfused:
                error = p.stored(size, error, 3)
            error = np.minimum(error, 2 * self.cap)
        self.e_capped = error
        if s["bias"].any():
            error = error + p.w * (abs(self.scores) + error)
            if p.unfused:
                error = p.stored(abs(self.scores), error)
        return np.where(s.flags("seen") & s.flags("live"), error, 0.0)

    def _softmax(self) -> tuple[Array, Array, Array]:
        """Return what weights are off that are kept, those or the recomputed ones (with the
        sink's), and the log-sum-exp: steps 2, 4 and 5."""
        s, p = self.s, self.p
        visible = s.flags("seen") & s.flags("used")
        scores = _wide(np.where(visible, self.scores, -np.inf), s["sink"])
        weights = _wide(self.a, s["W"])
        error = _wide(self.e_scores, np.zeros_like(s["sink"]))
        seen = ~np.isneginf(scores)
        top = scores.max(axis=-1, keepdims=True)
        gap = np.where(seen, top - scores, 0.0) + error + error.max(axis=-1, keepdims=True)
        step = 2 * p.u if p.unfused else 0.0
        delta = np.where(seen, error + (3 * p.w + step) * gap + 5 * p.w + step, 0.0)
        delta = np.minimum(delta, _LARGEST)

        up, down = np.expm1(delta), -np.expm1(-delta)
        others, others_up, others_down = (
            np.maximum(part.sum(axis=-1, keepdims=True) - part, 0.0)
            for part in (weights, weights * up, weights * down)
        )
        above = (others * up + others_down) / (weights * (1 + up) + others - others_down)
        below = (others * down + others_up) / (weights * (1 - down) + others + others_up)
        moved = np.where(weights > 0, weights * np.maximum(above, below), 0.0)
        moved = moved + p.gamma(self.many + 3) * (weights + moved)
        kept = np.where(seen, p.kept("weights", weights, moved, 4 if p.unfused else 1), 0.0)

        # Of a row that sees no key that of its equal scores.
        lse = np.where(s["live"], s["lse"], s.own("lse"))
        shift = np.maximum(
            np.log1p((weights * up).sum(axis=-1, keepdims=True)),
            -np.log1p(-(weights * down).sum(axis=-1, keepdims=True)),
        )
        rounding = p.gamma(self.many + 4) + 4 * p.w * abs(lse - top) + step
        e_lse = shift + 2 * rounding + 4 * p.w * abs(lse)
        if p.unfused:
            e_lse = p.stored(abs(lse) + abs(lse - top), e_lse)
        if self.fused:
            again = self.fused.e_again
        else:
            far = delta + e_lse + 2 * p.w * (abs(np.where(seen, scores, 0.0)) + abs(lse))
            again = weights * np.expm1(np.minimum(far, _LARGEST))
            again = np.where(seen, p.kept("weights", weights, again), 0.0)

        # A kernel's backward pass may have either.
        return kept[..., :-1], np.maximum(kept, again), e_lse

    def _gradients(self) -> dict[str, tuple[Array, Array]]:
        """Step 5."""
        s, p, a = self.s, self.p, self.a
        n_k = a.shape[-1]
        e_a, e_sink = self.e_again[..., :-1], self.e_again[..., -1:]
        lost, do, v, k = p.lost("dY", s["dY"]), abs(s["dY"]), abs(s["V"]), abs(s["K"])
        da, rest, d_v = abs(s["dA"]), abs(s["D"]), v.shape[-1]

        c_da = do @ turned(v)
        e_da = (
            p.gamma(d_v) * c_da
            + lost @ turned(v)
            + do @ turned(p.lost("V", s["V"]))
            + d_v * p.small
        )
        if p.unfused:
            e_da = p.stored(da, e_da)
        near, far = a + e_a, da + e_da
        rounding = p.u if p.unfused else 0.0
        of_weights = (e_a * da + near * e_da + (p.gamma(n_k) + rounding) * near * far).sum(-1)
        wide = abs(s["Y"]) + self.e_output
        of_output = (do * (self.e_output + (p.gamma(d_v) + rounding) * wide) + lost * wide).sum(-1)
        e_rest = np.maximum(of_weights, of_output)[..., None] + (n_k + d_v) * p.small
        e_rest = p.stored(rest, e_rest) if p.unfused else e_rest + p.w * rest

        gap = abs(s["dA"] - s["D"])
        e_gap = e_da + e_rest + 3 * p.w * (far + rest + e_rest)
        if p.unfused:
            e_gap = p.stored(far + rest + e_rest, e_gap)
        dm = abs(s["dM"])
        e_dm = near * e_gap * (1 + 2 * p.w) + e_a * gap + 2 * p.w * dm
        # The scale may have been taken before the storing.
        least = max(p.tiny, tiny(p.of("dS"))) * max(1.0, 1 / self.scale if self.scale else 0.0)
        e_dm = p.kept("dS", dm, e_dm, 3 if p.unfused else 1) + least
        e_dm = np.where(s.flags("seen") & s.flags("live"), e_dm, 0.0)
        c_dm = np.where(s["live"], a * (c_da + (a * c_da).sum(axis=-1, keepdims=True)), 0.0)

        slope, e_slope = self._slope()
        ds = abs(s["dS"])
        e_ds = e_dm * slope + (dm + e_dm) * e_slope
        if p.unfused and isfinite(self.cap):
            e_ds = p.stored(ds, e_ds)
        c_ds = c_dm * slope

        of_q = abs(s["scale_Q"])
        self.c_ds, self.ds, self.e_ds = c_ds, ds, e_ds
        extra, times = self._scaled
        e_dq = self._product("dQ", of_q * ds, of_q * e_ds, "K", n_k + 3, extra, times)
        sink = s["W"]
        e_dsink = e_sink * (rest + e_rest) + sink * (e_rest + 2 * p.w * rest)
        return {
            "dA": (c_da, p.kept("dA", da, e_da)),
            "dS": (c_dm, e_dm),
            "dBias": (c_dm, p.shown("dBias", dm, e_dm)),
            "dQ": (of_q * c_ds @ k, e_dq),
            "dSink": (
                sink * (a * c_da).sum(axis=-1, keepdims=True),
                p.kept("dSink", sink * rest, e_dsink),
            ),
        }

    @property
    def _scaled(self) -> tuple[float, int]:
        """Unfused, inputs may be scaled and stored, and so may what is scaled in the end: by how
        much terms are off, and how often results are stored."""
        return ((1 + self.p.u) ** 3 - 1, 2) if self.p.unfused else (0.0, 1)

    def flows(self) -> dict[str, _Flow]:
        """Return what flows into keys and values; after :meth:`rows`."""
        s, p = self.s, self.p
        if "dY" not in s.given:
            return {}
        of_k, (extra, times) = abs(s["scale_K"]), self._scaled
        across, e_across, c_across = (
            self._turned("dS_T", of_k * part) for part in (self.ds, self.e_ds, self.c_ds)
        )
        down, e_down = (self._turned("A_T", part) for part in (self.a, self.e_again[..., :-1]))
        # Heads that share keys may be stored before they are added.
        is_shared = s.layout.group > 1
        of_dk, of_dv = (
            is_shared * ((1 + max(p.u, unit_roundoff(p.of(name)))) ** 2 - 1) for name in BY_KEY
        )
        n, m = self.queries, self.queries + 3
        dk, dv = self._sum(across, e_across, "Q", m, extra), self._sum(down, e_down, "dY", n)
        return {
            "dK": _Flow(c_across @ abs(s["Q"]), dk, m, times, of_dk),
            "dV": _Flow(down @ abs(s["dY"]), dv, n, 1, of_dv),
        }

    def _turned(self, name: str, x: Array) -> Array:
        """The transpose, unless that step has been changed: forgotten."""
        return x if name in self.s.changes else turned(x)

    def _slope(self) -> tuple[Array | float, Array | float]:
        """The derivative of the capping, and what it may be off."""
        if not isfinite(self.cap) or "slope" in self.s.changes:
            return 1.0, 0.0
        level = abs(self.s["C"]) / self.cap
        off = self.e_capped / self.cap
        error = np.minimum(2 * level * off + off**2, 1.0) + 8 * self.p.w
        return (1 - level) * (1 + level), error + (3 * self.p.u if self.p.unfused else 0.0)


def _wide(whole: Array, column: Array) -> Array:
    return np.concatenate([whole, column], axis=-1)
