"""Attention in floats of 64 bits: the inputs of all heads, and a kernel that may have slips.

The kernel is what bounds are computed from, with the exact weights and results in the
place of its own, and what a wrong kernel is compared with: each slip is a field of
:class:`Slips`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

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

    def change_rows(self, change: Callable[[npt.NDArray[np.generic]], object]) -> Inputs:
        """The inputs with a change of all that has a row for each query."""
        names = ("q", "keep", "live", "bias", "sink", "upstream")
        found = {name: getattr(self, name) for name in names}
        changed = {name: change(x) for name, x in found.items() if x is not None}
        return replace(self, **changed)  # type: ignore[arg-type]


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
    found: Array = quantity.nearest("float64")
    return found.reshape(quantity.grid)


@dataclass(frozen=True)
class Slips:
    """What a kernel does otherwise than it should.

    ``scale_power`` 0 leaves the scale out, 2 takes it twice; ``held`` gives a step (``scale``,
    ``scores``, ``powers``, ``sums``, ``weights``) a format that it is rounded to;
    ``capped_last`` caps what the bias has been added to; ``empty`` is what rows make that see
    no key. The rest are of the backward pass.
    """

    scale_power: int = 1
    held: tuple[tuple[str, FloatFormat], ...] = ()
    capped_last: bool = False
    empty: float | None = None
    mean: bool | None = None
    k_turned: bool = True
    scale_in_dq: bool = True
    scale_in_dk: bool = True
    subtracts: bool = True
    cap_back: bool = True


@dataclass
class Run:
    """Every step of attention: heads x rows x ..., from scaled scores to gradients.

    ``scaled`` are scores before ``capped`` and before the bias, the mask; ``scores`` are what
    softmax sees, 0 where hidden. ``dm`` flows into the scores, ``ds`` into the scaled ones.
    """

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
        found = {
            "output": inputs.by_query(self.output),
            "lse": inputs.by_query(self.lse),
        }
        if inputs.upstream is not None:
            found |= {
                "dQ": inputs.by_query(self.dq),
                "dK": inputs.by_key(self.dk),
                "dV": inputs.by_key(self.dv),
            }
        return found


def turned(x: Array) -> Array:
    """The transpose of every matrix."""
    return np.swapaxes(x, -1, -2)


def run(inputs: Inputs, slips: Slips = Slips()) -> Run:
    """Attention in floats of 64 bits, with slips.

    >>> from symattn import attention
    >>> case = attention([[1]], [[0], [0]], [[1], [3]])
    >>> run(inputs_of(case)).output.tolist()
    [[[2.0]]]
    """
    with np.errstate(all="ignore"):
        return _run(inputs, slips)


def _run(x: Inputs, slips: Slips) -> Run:
    held = dict(slips.held)

    def kept(name: str, values: Array) -> Array:
        return held_in(values, held[name]) if name in held else values

    scale = float(kept("scale", np.array(x.scale)))
    scaled = x.q @ turned(x.k) * scale**slips.scale_power
    inner = scaled
    if slips.capped_last and x.bias is not None:
        inner = scaled + x.bias
    if slips.capped_last:
        inner = np.where(x.keep, inner, -np.inf)
    slope: Array | float = 1.0
    capped = inner
    if x.cap is not None:
        level = np.tanh(inner / x.cap)
        capped = x.cap * level
        slope = (1 - level) * (1 + level) if slips.cap_back else 1.0
    scores = capped
    if not slips.capped_last and x.bias is not None:
        scores = scores + x.bias
    scores = kept("scores", np.where(x.live, scores, 0.0))
    seen = x.keep | ~x.live
    if slips.capped_last:
        seen = np.ones_like(seen)
    hidden = np.where(seen, scores, -np.inf)
    top = hidden.max(axis=-1, keepdims=True)
    if x.sink is not None:
        top = np.maximum(top, x.sink)
    powers = kept("powers", np.exp(hidden - top))
    sums = powers.sum(axis=-1, keepdims=True)
    if x.sink is not None:
        sums = sums + np.exp(x.sink - top)
    sums = kept("sums", sums)
    weights = kept("weights", powers / sums)
    mean = x.mean if slips.mean is None else slips.mean
    if not mean:
        weights = weights * x.live
    output = weights @ x.v
    if slips.empty is not None:
        output = np.where(x.live, output, slips.empty)
    lse = (top + np.log(sums))[..., 0]
    do = np.zeros_like(output) if x.upstream is None else x.upstream
    da = do @ turned(x.v)
    rest = (weights * da).sum(axis=-1, keepdims=True)
    dm = weights * (da - rest if slips.subtracts else da) * x.live
    ds = dm * slope
    factor = scale**slips.scale_power
    return Run(
        scaled,
        capped,
        np.where(seen, scores, 0.0),
        weights,
        None if x.sink is None else np.exp(x.sink - top) / sums,
        lse,
        output,
        da,
        rest,
        dm,
        ds,
        ds @ x.k * (factor if slips.scale_in_dq else 1.0),
        (turned(ds) if slips.k_turned else ds) @ x.q * (factor if slips.scale_in_dk else 1.0),
        turned(weights) @ do,
    )


def exactly(forward: Attention, backward: Gradients | None = None) -> tuple[Inputs, Run]:
    """The inputs and every step, the exact ones where those are at hand.

    >>> from symattn import attention
    >>> inputs, steps = exactly(attention([[1]], [[1], [1]], [[3], [4]]))
    >>> steps.weights.tolist()
    [[[0.5, 0.5]]]
    """
    inputs = inputs_of(forward, backward)
    made = run(inputs)
    heads = forward.heads
    shown = "Z" if "Z" in heads[0] else "A"
    exact = replace(
        made,
        weights=np.stack([_floats(head[shown]) for head in heads]),
        output=np.stack([_floats(head["Y"]) for head in heads]),
        lse=np.stack([_floats(log_sums(head))[0] for head in heads]),
    )
    if backward is not None:
        exact.dq = np.stack([_floats(head["dL/dQ"]) for head in backward.heads])
        exact.dk = np.stack([_floats(head["dL/dK"]) for head in backward.heads])
        exact.dv = np.stack([_floats(head["dL/dV"]) for head in backward.heads])
    return inputs, exact
