"""Attention in floats of 64 bits as a graph of steps, which can be edited.

The steps are a program (:mod:`symattn.programs`) for all heads at once. Bounds are computed
from them, with the exact weights and results in the place of its own; what a wrong kernel is
compared with is the same graph with other values for some steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from symattn.numbers import double_double, float_formats
from symattn.numbers.float_formats import FloatFormat
from symattn.numbers.rows import Rows
from symattn.programs.double_double import enclose
from symattn.programs.enclosures import FloatOperations
from symattn.programs.nodes import Node, Run, ancestors
from symattn.programs.program import Program, program
from symattn.solution.attention import Attention, Gradients
from symattn.solution.blocks import BlockedSolution, HeadSolution, log_sums_of
from symattn.solution.layouts import HeadLayout
from symattn.solution.quantity import Quantity

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def rounded_to(values: Array, form: FloatFormat) -> Array:
    """Every number as the nearest of a format.

    >>> rounded_to(np.array([1 / 3, 70000.0]), "float16").tolist()
    [0.333251953125, inf]
    """
    return float_formats.rounded(double_double.exact(values), float_formats.FORMATS[form])[0]


#: What attention is computed from. A query sees the keys that a mask is to ``keep``; where it has
#: none (is not ``live``) those that it takes ``instead``, with equal scores, and its weights are
#: ``used`` if their mean is what it makes of the values. Nothing flows into its scores. What flows
#: into keys and values comes from the queries that are ``counted``: all but padding.
_GIVEN = {
    "Q": (2, 4), "K": (3, 4), "V": (3, 5), "scale": (), "cap": (), "bias": (2, 3), "sink": (2, 1),
    "keep": (2, 3), "instead": (2, 3), "used": (2, 1), "counted": (2, 1), "dY": (2, 5),
}  # fmt: skip
_STEPS = {
    "live": "maximum(rowmax(keep), sink > -inf)",
    "seen": "maximum(keep, (1 - live) * instead)",
    "S": "Q @ K.T * scale",
    "C": "softcap(S, cap)",
    "slope": "(1 - C / cap) * (1 + C / cap)",
    "B": "(C + bias) * live",
    "M": "mask(B, seen)",
    "top": "maximum(rowmax(M), sink)",
    "gaps": "M - top",
    "powers": "exp(gaps)",
    "of_sink": "exp(sink - top)",
    "sums": "rowsum(powers) + of_sink",
    "A": "powers / sums * used",
    "W": "of_sink / sums",
    "lse": "top + log(sums)",
    "Y": "A @ V",
    "dA": "dY @ V.T",
    "D": "rowsum(A * dA)",
    "dM": "A * (dA - D) * live",
    "dS": "dM * slope",
    "dS_T": "(dS * counted).T",
    "A_T": "(A * counted).T",
    "scale_Q": "scale",
    "scale_K": "scale",
    "dQ": "dS @ K * scale_Q",
    "dK": "dS_T @ Q * scale_K",
    "dV": "A_T @ dY",
    "dSink": "-W * D",
}
#: What has a row for each key.
BY_KEY = ("dK", "dV")
#: The steps that parts of attention are, where they are called otherwise.
_PARTS = {"scores": "M", "weights": "A", "output": "Y", "dS": "dM", "dBias": "dM"}


@cache
def _graph(is_capped: bool) -> tuple[Program, Mapping[str, frozenset[int]]]:
    """The steps, and what is computed without each, and at all ("" for a name); floats don't ask
    for lengths, these only fit each other."""
    steps = program(_GIVEN, _STEPS if is_capped else _STEPS | {"C": "S", "slope": "1"})
    uses = {node.serial: ancestors([node]) for node in ancestors(steps.quantities.values())}
    apart = {
        name: frozenset(serial for serial, used in uses.items() if step not in used)
        for name, step in steps.quantities.items()
    }
    return steps, {"": frozenset(uses), **apart}


@cache
def _meant(is_capped: bool, name: str, text: str) -> Node:
    """The node of a text that says what a step is instead; by its name it calls its own value."""
    steps, _ = _graph(is_capped)
    node = steps.quantities[name]
    own = Node(node.op, node.operands, node.shape, node.extra)
    return replace(steps, quantities={**steps.quantities, name: own}).lower(text)


class AttentionSteps:
    """Every step of attention by its name (``S`` are scaled scores, ``A`` weights, ``Y`` is the
    output), heads x rows x columns, each computed when it is asked for.

    A head is one of keys and values; ``layout.group`` heads of queries, which share it, lie
    below each other. ``changes`` are the values that steps have instead of their own, or what
    these are computed as from the others, as a text in the language of steps or in Python.
    ``taken`` is the head of keys that each head of queries takes, where that is not its own.
    """

    def __init__(
        self,
        layout: HeadLayout,
        given: Mapping[str, Array],
        changes: Changes | None = None,
        base: AttentionSteps | None = None,
        taken: npt.NDArray[np.intp] | None = None,
    ) -> None:
        self.layout = layout
        self._taken = taken
        self.given = given
        self.changes = changes or {}
        self._base = base
        is_capped = bool(np.isfinite(given["cap"]))
        steps, apart = _graph(is_capped)
        self._nodes = steps.quantities
        self._changed = {
            self._nodes[name].serial: _meant(is_capped, name, x) if isinstance(x, str) else x
            for name, x in self.changes.items()
        }
        #: What is not computed from any of them.
        self._kept = frozenset.intersection(*(apart[name] for name in ["", *self.changes]))
        self._run: Run[Array] = Run(FloatOperations(), self._leaf)

    def _leaf(self, node: Node) -> Array | None:
        if node.serial in self._changed:
            change = self._changed[node.serial]
            if isinstance(change, Node):
                return self._run[change]
            with np.errstate(all="ignore"):
                return change(self) if callable(change) else change
        if self._base is not None and node.serial in self._kept:
            return self._base._run[node]
        return self.given[node.extra] if node.op == "given" else None

    def __getitem__(self, name: str) -> Array:
        return self._run[self._nodes[name]]

    def flags(self, name: str) -> Flags:
        """A step that is a mask."""
        return np.asarray(self[name], bool)

    def own(self, name: str) -> Array:
        """Return what a step would be if it were not changed itself."""
        return self.given[name] if name in self.given else self._run.work(self._nodes[name])

    def edited(self, changes: Changes) -> AttentionSteps:
        """The same graph with other values for some steps; the others are not computed again.

        >>> from symattn import attention
        >>> steps = steps_of(attention([[1]], [[0], [0]], [[1], [3]]))
        >>> wrong = steps.edited({"A": "A * 3"})
        >>> steps["Y"].tolist(), wrong["Y"].tolist()
        ([[[2.0]]], [[[6.0]]])
        """
        return AttentionSteps(self.layout, self.given, changes, self)

    def part(self, name: str) -> Array:
        """A part of attention in its shape."""
        values = self[_PARTS.get(name, name)]
        return self.shaped(name, values[..., 0] if name == "lse" else values)

    def shaped(self, name: str, whole: Array) -> Array:
        """An array of heads x rows, ... in the shape that this part of attention has. What flows
        into keys and values is added up where they were taken from."""
        lay = self.layout
        if name not in BY_KEY:
            return lay.placed(name, lay.by_query(whole))
        if self._taken is not None:
            sums = np.zeros((prod(lay.lead_k), *whole.shape[1:]))
            np.add.at(sums, self._taken, whole)
            whole = sums
        return lay.placed(name, lay.by_key(whole))

    def taking(self, heads: npt.NDArray[np.intp]) -> AttentionSteps:
        """The graph where each head of queries has the keys and values of that head."""
        lay = self.layout
        inputs = {name: self[name] for name in self.given}
        for name, x in inputs.items():
            if name in ("K", "V"):
                inputs[name] = x[heads]
            elif x.ndim == 3:
                inputs[name] = x.reshape(-1, lay.n_q, x.shape[-1])
        return AttentionSteps(replace(lay, group=1), self.given, inputs, self, heads)


#: What a step is computed as instead.
Change = Callable[[AttentionSteps], Array]
#: What some steps are instead: values, or how they are computed.
Changes = Mapping[str, Array | Change | str]


def turned(x: Array) -> Array:
    """The transpose of every matrix."""
    return np.swapaxes(x, -1, -2)


def steps_of(forward: Attention, backward: Gradients | None = None) -> AttentionSteps:
    """The graph of attention, over the floats of 64 bits nearest to its inputs.

    >>> from symattn import attention
    >>> steps = steps_of(attention([[1]], [[1], [2]], [[3], [4]], causal="top-left"))
    >>> steps["K"].tolist(), steps["keep"].tolist(), steps["A"].tolist()
    ([[[1.0], [2.0]]], [[[True, False]]], [[[1.0, 0.0]]])
    """
    heads, rows = forward.heads, len(forward.heads[0]["Q"])

    def of_all(name: str, default: float) -> Array:
        column = np.full((rows, 1), default)
        return np.stack([_floats(head[name]) if name in head else column for head in heads])

    given: dict[str, Any] = {name: _stacked(heads, name) for name in "QKV"}
    given |= {"bias": of_all("bias", 0.0), "sink": of_all("sink", -np.inf)}
    live, given["used"] = (of_all(name, 1.0) != 0 for name in ("live", "used"))
    given["keep"] = ~np.isneginf(_stacked(heads, "M")) & live
    given |= _fitted(given, forward.layout, heads[0])
    if backward is not None:
        given["dY"] = _stacked(backward.heads, "dL/dY")
    return AttentionSteps(forward.layout, given)


def _fitted(given: Mapping[str, Any], layout: HeadLayout, head: HeadSolution) -> dict[str, Any]:
    """The rest that the graph is computed from; scale and cap are those of all heads."""
    factors = {"scale": given["K"].shape[-1] ** -0.5, "cap": np.inf}
    fitted = {
        name: np.full((1, 1), float(head[name].nearest()) if name in head else default)
        for name, default in factors.items()
    }
    keep, queries = given["keep"], layout.inside[0]
    fitted["bias"] = np.where(keep | ~keep.any(axis=-1, keepdims=True), given["bias"], 0.0)
    fitted["counted"] = queries * np.ones(given["used"].shape)
    fitted["sink"] = np.where(fitted["counted"], given["sink"], -np.inf)
    return fitted | {"instead": np.broadcast_to(layout.instead, keep.shape)}


def exactly(forward: Attention, backward: Gradients | None = None) -> AttentionSteps:
    """The graph with the exact weights and results in the place of those in floats.

    >>> from symattn import attention
    >>> exactly(attention([[1]], [[1], [1]], [[3], [4]]))["A"].tolist()
    [[[0.5, 0.5]]]
    """
    heads = forward.heads
    exact = {
        "A": np.stack([_floats(head["Z" if "Z" in head else "A"]) for head in heads]),
        "Y": _stacked(heads, "Y"),
        "lse": np.stack([_floats(log_sums_of(head)).T for head in heads]),
    }
    if backward is not None:
        exact |= {f"d{name}": _stacked(backward.heads, f"dL/d{name}") for name in "QKV"}
    return steps_of(forward, backward).edited(exact)


#: Numbers of queries times keys, of all heads, that are looked at together: some megabytes.
_TOGETHER = 1 << 18
#: What has a column for each key as well as a row for each query.
WIDE = frozenset({"scores", "weights", "dA", "dS", "dBias"})


def is_large(forward: Attention) -> bool:
    """Return whether steps of all queries together would need much memory."""
    return all(isinstance(head, BlockedSolution) for head in forward.heads)


class LargeSteps:
    """The graphs of :func:`exactly` where heads are large, for some queries of all of them at a
    time. Weights are those in floats: of what is large no bound needs more.

    >>> from symattn import attention, from_floats
    >>> q = from_floats(np.tile([[0.0], [1.0]], (400, 1)))
    >>> large = LargeSteps(attention(q, q, q))
    >>> large.of_queries(np.array([0, 3]))[1]["Y"].shape, large.whole
    ((1, 2, 1), {})
    """

    def __init__(self, forward: Attention, backward: Gradients | None = None) -> None:
        self.layout = forward.layout
        self._heads = [head for head in forward.heads if isinstance(head, BlockedSolution)]
        parts = {"Y": [head["Y"] for head in self._heads]}
        parts |= {"lse": [log_sums_of(head) for head in self._heads]}
        #: dK and dV, heads x keys x columns.
        self.whole: Mapping[str, Array] = {}
        if backward is not None:
            parts |= {name: [head[f"dL/{name}"] for head in backward.heads] for name in _OF_ROWS}
            of_keys = {f"d{x}": [head[f"dL/d{x}"] for head in backward.heads] for x in "KV"}
            self.whole = {name: np.stack([*map(_near, each)]) for name, each in of_keys.items()}
        self._exact = {name: np.stack([*map(_near, each)]) for name, each in parts.items()}
        self._exact["lse"] = turned(self._exact["lse"])
        self._both = {name: _stacked(forward.heads, name) for name in "KV"}

    def room(self, entries: int) -> int:
        """Return how many queries have so many weights, in all heads; at least one."""
        heads, keys = self._both["K"].shape[:2]
        return max(1, entries // int(heads * self.layout.group * keys))

    def blocks(self) -> Iterator[AttentionSteps]:
        """All queries, some at a time."""
        lay = self.layout
        rows = self.room(_TOGETHER)
        for start in range(0, lay.n_q, rows):
            yield self.of_queries(np.arange(start, min(start + rows, lay.n_q)))[1]

    def of_queries(self, places: npt.NDArray[np.intp]) -> tuple[AttentionSteps, AttentionSteps]:
        """The graph of some queries of every head in floats, and with the exact results."""
        rows = self.layout.rows(places)
        parts = [head.head.part(rows) for head in self._heads]
        given: dict[str, Any] = {
            "Q": np.stack([enclose(x.q).high for x in parts]),
            **self._both,
            "bias": _each([x.bias for x in parts], 0.0),
            "sink": _each([x.sink for x in parts], -np.inf),
            "keep": np.stack([np.tile(~x.dead[:, None], len(x.k)) & x.kept for x in parts]),
            "used": np.stack([~x.unused[:, None] for x in parts]),
        }
        layout = self.layout.of_queries(places)
        given |= _fitted(given, layout, self._heads[0])
        exact = {name: whole[:, rows] for name, whole in self._exact.items()}
        if "dY" in exact:
            given["dY"] = exact.pop("dY")
        steps = AttentionSteps(layout, given)
        return steps, steps.edited(exact)


#: What gradients have a row of for each query, the upstream gradient too.
_OF_ROWS = ("dY", "dQ")


def _each(parts: Sequence[Rows | None], default: float) -> Array:
    """Return what every head is given, or else a number in its place."""
    known = [enclose(x).high for x in parts if x is not None]
    return np.stack(known) if len(known) == len(parts) else np.full((1, 1, 1), default)


def _stacked(heads: tuple[HeadSolution, ...], name: str) -> Array:
    return np.stack([_floats(head[name]) for head in heads])


def _near(quantity: Quantity) -> Array:
    """Floats as near to the entries as pairs are: what these leave in doubt is far less than what
    a sum of floats of 64 bits may lose, and so than any bound."""
    pairs = quantity.source.pairs()
    is_known = pairs is not None and np.isfinite(pairs.error).all()
    return pairs.high if pairs is not None and is_known else _floats(quantity)


def _floats(quantity: Quantity) -> Array:
    """The floats nearest to the entries, or a neighbour of theirs where pairs leave a doubt:
    which of both it is matters to no bound, and may take long to decide."""
    pairs = quantity.source.pairs()
    if pairs is None or (pairs.error > 2.0**-53 * abs(pairs.high)).any():
        floats: Array = quantity.nearest("float64")
        return floats.reshape(quantity.grid)
    undefined = quantity.source.undefined
    return pairs.high if undefined is None else np.where(undefined, np.nan, pairs.high)
