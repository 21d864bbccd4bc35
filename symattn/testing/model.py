"""Attention in floats of 64 bits: the inputs of all heads, and a kernel that may have slips.

The kernel is what bounds are computed from, with the exact weights and results in the
place of its own, and what a wrong kernel is compared with: each slip is a field of
:class:`Slips`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from symattn.numbers import doubles, formats
from symattn.numbers.formats import FloatFormat
from symattn.solution.arguments import Layout
from symattn.solution.attention import Attention, Gradients
from symattn.solution.logsums import log_sums
from symattn.solution.quantity import Quantity
from symattn.solution.solution import Solution

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def held_in(values: Array, form: FloatFormat) -> Array:
    """Every number as the nearest of a format.

    >>> held_in(np.array([1 / 3, 70000.0]), "float16").tolist()
    [0.333251953125, inf]
    """
    return formats.rounded(doubles.exact(values), formats.FORMATS[form])[0]


@dataclass(frozen=True, eq=False)
class Inputs:
    """What attention is computed from: queries (heads x rows x d_k), keys, values.

    A head is one of keys and values; ``layout.group`` heads of queries, which share it, lie
    below each other. ``keep`` says which keys a query sees, ``live`` whether it sees any.
    ``sink`` is its score, heads x rows x 1. ``mean`` is what rows that see none make of the
    values, else 0.
    """

    layout: Layout
    q: Array
    k: Array
    v: Array
    scale: float
    keep: Flags
    live: Flags
    cap: float | None = None
    bias: Array | None = None
    sink: Array | None = None
    mean: bool = False
    upstream: Array | None = None

    def by_query(self, whole: Array) -> Array:
        """An array of heads x rows, ... in the shape of the queries' leading axes."""
        lay = self.layout
        return whole.reshape(*lay.lead, lay.n_q, *whole.shape[2:])

    def by_key(self, whole: Array) -> Array:
        """An array of heads x keys, ... in the shape of the keys' leading axes."""
        return whole.reshape(*self.layout.lead_k, *whole.shape[1:])

    def taking(self, heads: npt.NDArray[np.intp]) -> Inputs:
        """The inputs where each head of queries has the keys and values of that head."""
        lay = self.layout

        def apart(rows: npt.NDArray[Any] | None) -> Any:
            return None if rows is None else rows.reshape(-1, lay.n_q, rows.shape[-1])

        names = ("q", "keep", "live", "bias", "sink", "upstream")
        return replace(
            self,
            layout=replace(lay, lead_k=lay.lead, group=1),
            k=self.k[heads],
            v=self.v[heads],
            **{name: apart(getattr(self, name)) for name in names},
        )


def inputs_of(forward: Attention, backward: Gradients | None = None) -> Inputs:
    """The inputs of attention, to the nearest floats of 64 bits.

    >>> from symattn import attention
    >>> found = inputs_of(attention([[1]], [[1], [2]], [[3], [4]], causal="top-left"))
    >>> found.k[0].tolist(), found.keep.tolist(), found.scale
    ([[1.0], [2.0]], [[[True, False]]], 1.0)
    """
    first = forward.heads[0]
    lay = forward.layout

    def of_all(name: str, heads: tuple[Solution, ...] = forward.heads) -> Array:
        return np.stack([_floats(head[name]) for head in heads])

    def of_first(name: str) -> float:
        return float(first[name].nearest())

    q, k = of_all("Q"), of_all("K")
    live = np.logical_not(lay.empty.reshape(len(q), -1, 1))
    hidden = np.isneginf(of_all("M"))
    return Inputs(
        lay,
        q,
        k,
        of_all("V"),
        of_first("scale") if "scale" in first else k.shape[-1] ** -0.5,
        ~hidden & live,
        live,
        of_first("cap") if "cap" in first else None,
        np.where(hidden, 0.0, of_all("bias")) if "bias" in first else None,
        of_all("sink") if "sink" in first else None,
        mean=bool(lay.empty.any()) and "Z" not in first,
        upstream=None if backward is None else of_all("dL/dY", backward.heads),
    )


def _floats(quantity: Quantity) -> Array:
    floats: Array = quantity.nearest("float64")
    return floats.reshape(quantity.grid)


@dataclass(frozen=True)
class Slips:
    """What a kernel does otherwise than it should.

    ``held`` gives steps (``scale``, ``scores``, ``gaps``, ``powers``, ``sums``, ``weights``,
    ``da``, ``dm``) a format that they are rounded to, ``added`` those that are sums over keys
    (``sums``, ``output``) one that they are made in, key by key. ``capped_last`` caps scores
    that have been masked, ``bias_first`` those that the bias has been added to;
    ``masked_after`` hides weights, ``masked_as_zero`` gives hidden scores 0. ``down`` takes
    sums down the columns that go along rows: those of the ``softmax``, or ``D``. ``block`` is
    how many keys are taken at a time where the output is left as it is when the maximum
    grows, with ``sums_left`` the sums too. ``empty`` is what rows make that see no key. The
    rest leave out what the backward pass needs: a transpose, the scale, D, the derivative of
    the capping.
    """

    held: tuple[tuple[str, FloatFormat], ...] = ()
    added: tuple[tuple[str, FloatFormat], ...] = ()
    capped_last: bool = False
    bias_first: bool = False
    masked_after: bool = False
    masked_as_zero: bool = False
    down: Literal["", "softmax", "D"] = ""
    block: int = 0
    sums_left: bool = False
    empty: float | None = None
    k_turned: bool = True
    v_turned: bool = True
    scale_in_dq: bool = True
    scale_in_dk: bool = True
    subtracts: bool = True
    cap_back: bool = True


#: In the place of the largest of scores that are all hidden.
_LEAST = -1e308
#: No slip.
RIGHT = Slips()


@dataclass
class Run:
    """Every step of attention: heads x rows x ..., from scaled scores to gradients.

    ``scaled`` are scores before ``capped`` and before the bias, the mask; ``scores`` are what
    softmax sees, 0 where hidden; ``seen`` tells where it sees any. ``dm`` flows into the
    scores, ``ds`` into the scaled ones. ``slips`` are those that were made.
    """

    slips: Slips
    seen: Flags

    scaled: Array
    capped: Array
    scores: Array
    weights: Array
    sink: Array | None
    lse: Array
    output: Array
    da: Array
    rest: Array
    dm: Array
    ds: Array
    dq: Array
    dk: Array
    dv: Array

    def parts(self, inputs: Inputs) -> dict[str, Array]:
        """The arrays that kernels give, in their shapes."""
        parts = {
            "output": inputs.by_query(self.output),
            "lse": inputs.by_query(self.lse),
        }
        if inputs.upstream is not None:
            parts |= {
                "dQ": inputs.by_query(self.dq),
                "dK": inputs.by_key(self.dk),
                "dV": inputs.by_key(self.dv),
            }
        return parts


def turned(x: Array) -> Array:
    """The transpose of every matrix."""
    return np.swapaxes(x, -1, -2)


def run(inputs: Inputs, slips: Slips = RIGHT) -> Run:
    """Attention in floats of 64 bits, with slips.

    >>> from symattn import attention
    >>> case = attention([[1]], [[0], [0]], [[1], [3]])
    >>> run(inputs_of(case)).output.tolist()
    [[[2.0]]]
    """
    with np.errstate(all="ignore"):
        return _run(inputs, slips)


def _run(x: Inputs, slips: Slips) -> Run:
    stored, added = dict(slips.held), dict(slips.added)

    def kept(name: str, values: Array) -> Array:
        return held_in(values, stored[name]) if name in stored else values

    scale = float(kept("scale", np.array(x.scale)))
    scaled = x.q @ turned(x.k) * scale
    capped, slope = scaled, np.ones_like(scaled)
    if x.cap is not None:
        inner = scaled
        if slips.bias_first and x.bias is not None:
            inner = inner + x.bias
        if slips.capped_last:
            inner = np.where(x.keep, inner, -np.inf)
        level = np.tanh(inner / x.cap)
        capped = x.cap * level
        slope = (1 - level) * (1 + level) if slips.cap_back else slope
    scores = capped
    if x.bias is not None and not slips.bias_first:
        scores = scores + x.bias
    scores = kept("scores", np.where(x.live, scores, 0.0))
    if slips.masked_as_zero:
        scores = np.where(x.keep, scores, 0.0)
    unmasked = slips.capped_last or slips.masked_after or slips.masked_as_zero
    seen = x.keep | ~x.live | unmasked
    hidden = np.where(seen, scores, -np.inf)
    top = hidden.max(axis=-1, keepdims=True)
    if x.sink is not None:
        top = np.maximum(top, x.sink)
    powers = kept("powers", np.exp(kept("gaps", hidden - top)))
    left = np.exp(hidden - _so_far(hidden, slips.block)) if slips.block else powers
    sums = _total((left if slips.sums_left else powers)[..., None], added.get("sums"))
    if x.sink is not None:
        sums = sums + np.exp(x.sink - top)
    sums = kept("sums", sums)
    weights = kept("weights", powers / sums)
    if slips.down == "softmax":
        columns = np.exp(hidden - np.maximum(hidden.max(axis=-2, keepdims=True), _LEAST))
        weights = columns / columns.sum(axis=-2, keepdims=True)
    if slips.masked_after:
        weights = weights * x.keep
    if not x.mean:
        weights = weights * x.live
    if "output" in added:
        output = _total(weights[..., None] * x.v[:, None], added["output"])
    elif slips.block:
        output = left / sums @ x.v
    else:
        output = weights @ x.v
    if slips.empty is not None:
        output = np.where(x.live, output, slips.empty)
    do = np.zeros_like(output) if x.upstream is None else x.upstream
    da = kept("da", do @ turned(x.v))
    rest = (weights * da).sum(axis=-2 if slips.down == "D" else -1, keepdims=True)
    rest = rest * slips.subtracts
    dm = kept("dm", weights * (da - rest) * x.live)
    ds = dm * slope
    return Run(
        slips,
        seen,
        scaled,
        capped,
        np.where(seen, scores, 0.0),
        weights,
        None if x.sink is None else np.exp(x.sink - top) / sums,
        (top + np.log(sums))[..., 0],
        output,
        da,
        rest,
        dm,
        ds,
        ds @ x.k * (scale if slips.scale_in_dq else 1.0),
        turned_if(slips.k_turned, ds) @ x.q * (scale if slips.scale_in_dk else 1.0),
        turned_if(slips.v_turned, weights) @ do,
    )


def _so_far(hidden: Array, block: int) -> Array:
    """The largest score of each query up to the block that a key is in."""
    starts = np.arange(0, hidden.shape[-1], block)
    largest = np.maximum.accumulate(np.maximum.reduceat(hidden, starts, axis=-1), axis=-1)
    repeated: Array = np.repeat(np.maximum(largest, _LEAST), block, axis=-1)
    return repeated[..., : hidden.shape[-1]]


def turned_if(is_right: bool, x: Array) -> Array:
    """The transpose of every matrix, unless that is forgotten."""
    return turned(x) if is_right else x


def _total(terms: Array, form: FloatFormat | None) -> Array:
    """The sum over the last axis but one; in a format, term by term."""
    if form is None:
        whole: Array = terms.sum(axis=-2)
        return whole
    total = np.zeros_like(terms[..., 0, :])
    for k in range(terms.shape[-2]):
        total = held_in(total + held_in(terms[..., k, :], form), form)
    return total


def exactly(forward: Attention, backward: Gradients | None = None) -> tuple[Inputs, Run]:
    """The inputs and every step, the exact ones where those are at hand.

    >>> from symattn import attention
    >>> inputs, steps = exactly(attention([[1]], [[1], [1]], [[3], [4]]))
    >>> steps.weights.tolist()
    [[[0.5, 0.5]]]
    """
    inputs = inputs_of(forward, backward)
    steps = run(inputs)
    heads = forward.heads
    name = "Z" if "Z" in heads[0] else "A"
    exact = replace(
        steps,
        weights=np.stack([_floats(head[name]) for head in heads]),
        output=np.stack([_floats(head["Y"]) for head in heads]),
        lse=np.stack([_floats(log_sums(head))[0] for head in heads]),
    )
    if backward is not None:
        exact.dq = np.stack([_floats(head["dL/dQ"]) for head in backward.heads])
        exact.dk = np.stack([_floats(head["dL/dK"]) for head in backward.heads])
        exact.dv = np.stack([_floats(head["dL/dV"]) for head in backward.heads])
    return inputs, exact
