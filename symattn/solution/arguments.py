"""What attention is called with, read and fitted together: a case for each head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from symattn.errors import Fault, Faults, Malformed, expected
from symattn.numbers import arrays
from symattn.numbers.arrays import MatrixStack, as_array
from symattn.numbers.kinds import Mask, Number, Numbers
from symattn.numbers.reading import read
from symattn.numbers.rows import Rows, read_rows, shape_of
from symattn.numbers.values import Value
from symattn.shapes import Shape, show
from symattn.solution.heads import Head, joined
from symattn.solution.visibility import Alignment, seen

#: What the result is for a query that sees no key.
Empty = Literal["error", "zero", "nan", "mean"]
_EMPTY: tuple[Empty, ...] = get_args(Empty)


@dataclass(frozen=True)
class AttentionOptions:
    """The options of :func:`symattn.solution.attention.attention`."""

    mask: Mask | None = None
    scale: Number | float | None = None
    bias: Numbers | None = None
    causal: Alignment | bool | None = None
    window: int | tuple[int | None, int | None] | None = None
    lengths: Number | Numbers | None = None
    softcap: Number | float | None = None
    sink: Number | Numbers | None = None
    on_empty_row: Empty = "error"


@dataclass(frozen=True)
class HeadLayout:
    """Which rows of which head are those of the queries along their leading axes.

    ``group`` queries share a head of keys and values: they lie below each other in it.
    ``empty`` are the queries that see no key, lead x n_q.
    """

    lead: Shape
    lead_k: Shape
    group: int
    n_q: int
    empty: npt.NDArray[np.bool_]


def heads_of(
    q: Numbers, k: Numbers, v: Numbers, asked: AttentionOptions
) -> tuple[list[Head], HeadLayout]:
    """The heads of keys and values, each with the queries that share it.

    Raises :class:`Malformed` with every fault.

    >>> heads, layout = heads_of([[[1]], [[2]]], [[[1]]], [[[3]]], AttentionOptions(scale=1))
    >>> len(heads), len(heads[0].q), layout.group
    (1, 2, 2)
    """
    faults = Faults()
    stacks: dict[str, MatrixStack] = {}
    for name, data in (("Q", q), ("K", k), ("V", v)):
        with faults.inside(name):
            stacks[name] = arrays.read_stack(data)
    factors: dict[str, Value | None] = {}
    for name, number in (("scale", asked.scale), ("softcap", asked.softcap)):
        with faults.inside(name):
            factors[name] = None if number is None else _number(number)
    if asked.on_empty_row not in _EMPTY:
        message = f"unknown choice {asked.on_empty_row!r}: {expected(asked.on_empty_row, _EMPTY)}"
        faults.append(Fault("on_empty_row", message))
    cap = factors.get("softcap")
    if cap is not None and cap.sign() <= 0:
        faults.append(Fault("softcap", f"expected a positive number, found {cap}"))
    faults.raise_all()
    lead_k, group = _fitting(stacks["Q"], stacks["K"], stacks["V"])
    lead, n_q, n_k = stacks["Q"].lead, stacks["Q"].n, stacks["K"].n
    mask, causal = _order(asked)
    kept, bias, sinks = None, None, None
    with faults.inside(""):
        kept = seen(lead, n_q, n_k, mask, causal, asked.window, asked.lengths)
    with faults.inside("bias"):
        if asked.bias is not None:
            bias = grouped(_spread(arrays.read_stack(asked.bias), lead, n_q, n_k), group)
    with faults.inside("sink"):
        if asked.sink is not None:
            sinks = grouped(_sinks(asked.sink, lead, n_q), group)
    faults.raise_all()
    empty = np.zeros((*lead, n_q), dtype=bool)
    if kept is not None and sinks is None:
        empty = np.logical_not(kept.any(axis=-1))
    _need_keys(empty, asked)
    count = prod(lead_k)
    sight = None if kept is None else kept.reshape(count, group * n_q, n_k)
    only_causal = all(x is None for x in (mask, asked.window, asked.lengths))
    plain = causal in (True, "top-left") and only_causal
    queries = grouped(stacks["Q"].matrices, group)
    heads = [
        Head(
            queries[h],
            stacks["K"].matrices[h],
            stacks["V"].matrices[h],
            scale=factors["scale"],
            softcap=cap,
            bias=None if bias is None else bias[h],
            seen=None if sight is None else sight[h],
            sink=None if sinks is None else sinks[h],
            is_causal=plain and group == 1,
            uniform=asked.on_empty_row == "mean",
            empty=empty.reshape(count, -1)[h],
        )
        for h in range(count)
    ]
    return heads, HeadLayout(lead, lead_k, group, n_q, empty)


def grouped(matrices: Sequence[Rows], group: int) -> list[Rows]:
    """The matrices of each group, one below the other.

    >>> from symattn.numbers.rows import read_rows
    >>> [len(rows) for rows in grouped([read_rows([[1]])[1]] * 4, 2)]
    [2, 2]
    """
    return [joined(matrices[k : k + group]) for k in range(0, len(matrices), group)]


def _order(asked: AttentionOptions) -> tuple[object, Alignment | bool | None]:
    """The mask and the causal order, which a mask's name may stand for."""
    if not isinstance(asked.mask, str):
        return asked.mask, asked.causal
    if asked.mask != "causal":
        raise Malformed(Fault("mask", f"expected None, 'causal' or a matrix, found {asked.mask!r}"))
    return None, asked.causal or True


def _fitting(q: MatrixStack, k: MatrixStack, v: MatrixStack) -> tuple[Shape, int]:
    """The leading axes of keys, and how many queries' heads share one of their heads."""
    faults = Faults()
    if q.d != k.d:
        faults.append(Fault("K", f"expected {q.d} columns as Q has, found {k.d}"))
    if v.n != k.n:
        faults.append(Fault("V", f"expected {k.n} rows, one for each key, found {v.n}"))
    if v.lead != k.lead:
        message = f"expected the leading axes of K, {_axes(k.lead)}, found {_axes(v.lead)}"
        faults.append(Fault("V", message))
    same = q.lead[:-1] == k.lead[:-1] and len(q.lead) == len(k.lead)
    group, rest = divmod(q.lead[-1], k.lead[-1]) if same and q.lead else (1, 0)
    if not same or rest:
        message = (
            f"expected the leading axes of Q, {_axes(q.lead)}, or the last of them divided by a "
            f"whole number, found {_axes(k.lead)}"
        )
        faults.append(Fault("K", message))
    faults.raise_all()
    return k.lead, group


def _axes(lead: Shape) -> str:
    return "x".join(map(str, lead)) or "none"


def _number(number: Number | float) -> Value:
    """One exact number; a float only where its decimal text is its binary value."""
    shape = shape_of(number)
    if shape:
        raise Malformed(f"expected a number, found {show(shape)}")
    if isinstance(number, float) and Fraction(float(number)) == Fraction(repr(float(number))):
        return read(Fraction(float(number)))
    return read(number)


def _spread(stack: MatrixStack, lead: Shape, n_q: int, n_k: int) -> Sequence[Rows]:
    """A bias of every head, from one with fewer leading axes or with axes of length 1."""
    if (stack.n, stack.d) != (n_q, n_k):
        raise Malformed(f"expected {show((n_q, n_k))}, found {show(stack.shape)}")
    places = np.arange(prod(stack.lead)).reshape(stack.lead)
    try:
        wide = np.broadcast_to(places, lead)
    except ValueError:
        raise Malformed(
            f"expected leading axes that fit {_axes(lead)}, found {show(stack.shape)}"
        ) from None
    return [stack.matrices[place] for place in wide.ravel().tolist()]


def _sinks(sink: Number | Numbers, lead: Shape, n_q: int) -> Sequence[Rows]:
    """The column of each head's sink: one number for all, or one a head."""
    array = as_array(sink)
    if array is not None and array.ndim == 0:
        sink = array.item()
    shape, rows = read_rows(sink)
    heads = lead[-1] if lead else 1
    if shape not in ((), (heads,)):
        raise Malformed(f"expected a number, or one for each of {heads} heads, found {show(shape)}")
    (row,) = rows
    each = row if shape else tuple(row) * heads
    return [((each[h % heads],),) * n_q for h in range(prod(lead))]


def _need_keys(empty: npt.NDArray[np.bool_], asked: AttentionOptions) -> None:
    if not empty.any() or asked.on_empty_row != "error":
        return
    place = ", ".join(map(str, np.argwhere(empty)[0]))
    others = int(empty.sum()) - 1
    more = f" (and {others} more)" if others else ""
    raise Malformed(
        Fault(
            "mask",
            f"row {place} is masked whole{more}: nothing is left to attend to; on_empty_row="
            "'zero', 'nan' or 'mean' says what comes of it",
        )
    )
