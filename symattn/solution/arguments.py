"""Arguments of attention, read and fitted together: a case for each head.

One head of attention as a case: its steps, and the numbers of a group of queries.

Queries that share keys and values (grouped and multi-query attention) are one head with
more rows: what flows into a key is then summed over the group, exactly.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from symattn.cases.case import Case, make, registered
from symattn.errors import Fault, Faults, Malformed, expected, short
from symattn.expressions.shapes import Shape, show
from symattn.numbers import arrays
from symattn.numbers.arrays import MatrixStack, as_array
from symattn.numbers.letters import Letters
from symattn.numbers.reading import MASKED, read
from symattn.numbers.rows import ArrayLike, Mask, Number, Rows, read_rows, shape_of
from symattn.numbers.tables import NumberTable
from symattn.numbers.values import ZERO, Value
from symattn.solution.layouts import Alignment, HeadLayout, Seen, arrangement, seen

#: Some rows: from one to another, or by their numbers.
Some = slice | npt.NDArray[np.intp]


@dataclass(frozen=True)
class Head:
    """The inputs of one head: rows of queries, keys and values, and what changes scores.

    ``seen`` tells which keys a row sees, ``bias`` is added to the scores; ``sink`` is a score
    that takes weight and gives no value, in each row. The scores of rows of ``empty`` count for
    nothing: the keys that are ``seen`` there have equal weights, and without any all are 0.
    ``letters`` are those of all heads.
    """

    q: Rows
    k: Rows
    v: Rows
    scale: object = None
    softcap: object = None
    bias: Rows | None = None
    seen: Seen | None = None
    sink: Rows | None = None
    is_causal: bool = False
    letters: Letters = field(default_factory=Letters)
    empty: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))

    @property
    def steps(self) -> dict[str, str]:
        """The steps that are needed: ``M`` is what softmax sees, ``A`` the weights, ``Y`` the
        output.

        >>> from symattn.numbers.arrays import read_rows
        >>> one = read_rows([[1]])[1]
        >>> Head(one, one, one, scale=2).steps
        {'S': 'Q @ K.T', 'T': 'S * scale', 'M': 'T', 'A': 'softmax(M)', 'Y': 'A @ V'}
        """
        steps = {"S": "Q @ K.T", "T": "S / sqrt(cols(K))"}
        if self.scale is not None:
            steps["T"] = "S * scale"
        scores, weights = "T", "A"
        if self.softcap is not None:
            steps["C"] = f"cap * tanh({scores} / cap)"
            scores = "C"
        if self.bias is not None:
            steps["B"] = f"{scores} + bias"
            scores = "B"
        if self.empty.any():
            steps["L"] = f"{scores} * live"
            scores = "L"
        if self.is_causal:
            steps["M"] = f"causal({scores})"
        else:
            steps["M"] = scores if self.kept.all() else f"mask({scores}, keep)"
        if self.sink is not None:
            steps["W"] = "softmax(concat(M, sink))"
            steps["A"] = f"W[:, :{len(self.k)}]"
        else:
            steps["A"] = "softmax(M)"
        if self.unused.any():
            steps["Z"] = "A * used"
            weights = "Z"
        return steps | {"Y": f"{weights} @ V"}

    @property
    def is_floats(self) -> bool:
        """Return whether all its matrices are floats, of which every step is defined."""
        tables = [x for x in (self.q, self.k, self.v, self.bias) if x is not None]
        return all(isinstance(x, NumberTable) and x.floats is not None for x in tables)

    @property
    def dead(self) -> npt.NDArray[np.bool_]:
        """Return which rows have scores that count for nothing."""
        return self.empty if self.empty.size else np.zeros(len(self.q), dtype=bool)

    @cached_property
    def unused(self) -> npt.NDArray[np.bool_]:
        """Return which rows have weights that are all 0, with no sink that takes them."""
        return self.dead if self.seen is None else self.dead & ~self.seen.any(axis=1)

    @cached_property
    def kept(self) -> Seen:
        """The keys that softmax is taken of in each row: where none are seen, of all."""
        seen = np.ones((1, len(self.k)), bool) if self.seen is None else self.seen
        return np.asarray(seen | self.unused[:, None])

    def case(self) -> Case:
        """The case of these steps."""
        given: dict[str, object] = {"Q": self.q, "K": self.k, "V": self.v}
        optional = {"scale": self.scale, "cap": self.softcap, "bias": self.bias, "sink": self.sink}
        for name, away in (("live", self.dead), ("used", self.unused)):
            if away.any():
                optional[name] = _rows(~away[:, None])
        if not self.kept.all() and not self.is_causal:
            optional["keep"] = _rows(self.kept)
        given |= {name: numbers for name, numbers in optional.items() if numbers is not None}
        steps = self.steps
        # Into the scores of a row that sees no key nothing flows, whatever stands in their place.
        targets = ("Q", "K", "V", "A", scores_of(steps), "bias", "sink")
        wrt = [name for name in targets if name in {**given, **steps}]
        loss = {"output": "Y", "wrt": wrt}
        return make("attention", given, steps, loss, symbols=self.letters)

    def part(self, rows: Some, keys: slice = slice(None)) -> Head:
        """Some rows, with some keys, which have all that these rows see.

        >>> from symattn.numbers.arrays import read_stack
        >>> (two,) = read_stack([[1], [2]]).matrices
        >>> Head(two, two, two).part(slice(1, 2)).q
        ((2,),)
        """
        return replace(
            self,
            q=rows_of(self.q, rows),
            k=rows_of(self.k, keys),
            v=rows_of(self.v, keys),
            bias=None if self.bias is None else rows_of(self.bias, rows, keys),
            seen=None if self.seen is None else self.seen[rows, keys],
            sink=None if self.sink is None else rows_of(self.sink, rows),
            is_causal=False,
            empty=self.empty[rows],
        )


def rows_of(rows: Rows, some: Some, columns: slice = slice(None)) -> Rows:
    """Some rows, and of these some columns; all as they are."""
    if isinstance(some, slice) and some == columns == slice(None):
        return rows
    if isinstance(rows, NumberTable) and rows.floats is not None:
        floats = rows.floats.reshape(len(rows), -1)[some, columns]
        return NumberTable(floats.shape[1], floats=floats)
    return tuple(tuple(rows[i][columns]) for i in np.arange(len(rows))[some].tolist())


def scores_of(steps: Container[str]) -> str:
    """The step that dS is the gradient into: scores, before those of rows that see no key are
    put in place.

    >>> scores_of(["S", "T", "B", "L", "M"]), scores_of(["S", "T", "M"])
    ('B', 'M')
    """
    return next(name for name in "BCT" if name in steps) if "L" in steps else "M"


def _rows(kept: npt.NDArray[np.bool_]) -> NumberTable:
    return NumberTable(kept.shape[1], floats=kept.astype(float))


def joined(parts: Sequence[Rows]) -> Rows:
    """Rows of several matrices, one below the other."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, NumberTable) for part in parts):
        return NumberTable.joined(parts)  # type: ignore[arg-type]
    return tuple(tuple(row) for part in parts for row in part)


#: What the result is for a query that sees no key.
Empty = Literal["error", "zero", "nan", "mean"]
_EMPTY: tuple[Empty, ...] = get_args(Empty)


@dataclass(frozen=True)
class AttentionOptions:
    """The options of :func:`symattn.solution.attention.attention`."""

    mask: Mask | None = None
    scale: Number | float | None = None
    bias: ArrayLike | None = None
    causal: Alignment | bool | None = None
    window: int | tuple[int | None, int | None] | None = None
    lengths: Number | ArrayLike | None = None
    softcap: Number | float | None = None
    sink: Number | ArrayLike | None = None
    on_empty_row: Empty = "error"
    symbols: object = ()
    queries: Sequence[int] | npt.NDArray[np.intp] | None = None
    layout: str | None = None
    cu_seqlens_q: ArrayLike | None = None
    cu_seqlens_k: ArrayLike | None = None


def heads_of(
    q: ArrayLike, k: ArrayLike, v: ArrayLike, asked: AttentionOptions
) -> tuple[list[Head], HeadLayout]:
    """The heads of keys and values, each with the queries that share it.

    Raises :class:`Malformed` with every fault.

    >>> heads, layout = heads_of([[[1]], [[2]]], [[[1]]], [[[3]]], AttentionOptions(scale=1))
    >>> len(heads), len(heads[0].q), layout.group
    (1, 2, 2)
    """
    faults = Faults()
    letters = registered(asked.symbols, faults)
    arranged = None
    with faults.inside(""):
        arranged = arrangement(asked.layout, asked.cu_seqlens_q, asked.cu_seqlens_k, asked.lengths)
    faults.raise_all()
    stacks: dict[str, MatrixStack] = {}
    for name, data in (("Q", q), ("K", k), ("V", v)):
        axes = arranged.of(name) if arranged else None
        with faults.inside(name):
            stacks[name] = arrays.read_stack(axes.read(data) if axes else data, letters)
    factors: dict[str, Value | None] = {}
    for name, number in (("scale", asked.scale), ("softcap", asked.softcap)):
        with faults.inside(name):
            factors[name] = None if number is None else _number(number, letters)
    if asked.on_empty_row not in _EMPTY:
        message = f"unknown choice {asked.on_empty_row!r}: {expected(asked.on_empty_row, _EMPTY)}"
        faults.append(Fault("on_empty_row", message))
    cap = factors.get("softcap")
    with faults.inside("softcap"):
        if cap is not None and cap.sign() <= 0:
            raise Malformed(f"expected a positive number, found {cap}")
    faults.raise_all()
    lead_k, group = _fitting(stacks["Q"], stacks["K"], stacks["V"])
    lead, n_q, n_k = stacks["Q"].lead, stacks["Q"].n, stacks["K"].n
    mask, causal = _order(asked)
    count, rows = prod(lead_k), group * n_q
    layout = HeadLayout(lead, lead_k, group, n_q, np.arange(n_q), n_q, arranged)
    queries, keys = layout.inside
    sight, bias, hidden, sinks = None, None, None, None
    counts_q, counts_k = (None, None) if arranged is None else arranged.counts
    lengths = asked.lengths if counts_k is None else counts_k
    with faults.inside(""):
        sight = seen(lead, n_q, n_k, mask, causal, asked.window, lengths, counts_q)
    with faults.inside("bias"):
        if asked.bias is not None:
            whole = _spread(arrays.read_stack(asked.bias, letters), lead, n_q, n_k)
            bias, hidden = _hiding(grouped(whole, group), queries & keys)
    with faults.inside("sink"):
        if asked.sink is not None:
            sinks = grouped(_sinks(asked.sink, lead, n_q, letters), group)
    faults.raise_all()
    sight = None if sight is None else sight.reshape(count, rows, n_k)
    if hidden is not None:
        sight = ~hidden if sight is None else sight & ~hidden
    empty = np.zeros((count, rows), dtype=bool)
    if sight is not None:
        if sinks is None:
            empty = queries[..., 0] & ~sight.any(axis=-1)
        means = empty[..., None] & (asked.on_empty_row == "mean")
        sight = (sight & queries) | (means & keys)
    layout = replace(layout, empty=empty.reshape(*lead, n_q))
    _need_keys(layout.empty, asked)
    padding = np.broadcast_to(~queries[..., 0], empty.shape)
    only_causal = all(x is None for x in (mask, asked.window, lengths, hidden))
    plain = causal in (True, "top-left") and only_causal
    of_queries = grouped(stacks["Q"].matrices, group)
    heads = [
        Head(
            of_queries[h],
            stacks["K"].matrices[h],
            stacks["V"].matrices[h],
            scale=factors["scale"],
            softcap=cap,
            bias=None if bias is None else bias[h],
            seen=None if sight is None else sight[h],
            sink=None if sinks is None else sinks[h],
            is_causal=plain and group == 1,
            letters=letters,
            empty=empty[h] | padding[h],
        )
        for h in range(count)
    ]
    if asked.queries is None:
        return heads, layout
    if layout.is_packed:
        raise Malformed(Fault("queries", "expected None: packed sequences are taken whole"))
    places = _places(asked.queries, n_q)
    return [head.part(layout.rows(places)) for head in heads], layout.of_queries(places)


def _places(queries: Sequence[int] | npt.NDArray[np.intp], n_q: int) -> npt.NDArray[np.intp]:
    """The places of some queries, in order; :class:`Malformed` for what are none."""
    places = np.asarray(queries)
    if places.ndim == 1 and len(places) and places.dtype.kind in "iu":
        before = np.concatenate([[-1], places])
        if (before[1:] > before[:-1]).all() and places[-1] < n_q:
            return places.astype(np.intp)
    wanted = f"expected numbers of queries from 0 to {n_q - 1} in rising order"
    raise Malformed(Fault("queries", f"{wanted}, found {short(repr(queries))}"))


def grouped(matrices: Sequence[Rows], group: int) -> list[Rows]:
    """The matrices of each group, one below the other.

    >>> from symattn.numbers.arrays import read_rows
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


def _number(number: Number | float, letters: Letters) -> Value:
    """One exact number; a float only where its decimal text is its binary value."""
    shape = shape_of(number)
    if shape:
        raise Malformed(f"expected a number, found {show(shape)}")
    if isinstance(number, float) and Fraction(float(number)) == Fraction(repr(float(number))):
        return read(Fraction(float(number)))
    return read(number, letters)


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


def _hiding(bias: list[Rows], inside: Seen) -> tuple[list[Rows], Seen | None]:
    """A bias without the minus infinities that hide keys, and without what is added in the
    padding of packed sequences; and where it hides."""
    hidden = np.stack([_infinite(rows) for rows in bias])
    parts = []
    for rows, out in zip(bias, hidden | ~inside, strict=True):
        if out.any() and isinstance(rows, NumberTable) and rows.floats is not None:
            floats = np.where(out, 0.0, rows.floats.reshape(out.shape))
            rows = NumberTable(out.shape[1], floats=floats)
        elif out.any():
            pairs = (zip(row, away, strict=True) for row, away in zip(rows, out, strict=True))
            rows = tuple(tuple(ZERO if away else x for x, away in row) for row in pairs)
        parts.append(rows)
    return parts, hidden if hidden.any() else None


def _infinite(rows: Rows) -> Seen:
    """Return which entries are minus infinity."""
    if not isinstance(rows, NumberTable):
        return np.array([[x is MASKED for x in row] for row in rows])
    shape = len(rows), rows.columns
    return np.zeros(shape, bool) if rows.floats is None else np.isneginf(rows.floats).reshape(shape)


def _sinks(sink: Number | ArrayLike, lead: Shape, n_q: int, letters: Letters) -> Sequence[Rows]:
    """The column of each head's sink: one number for all, or one a head."""
    array = as_array(sink)
    if array is not None and array.ndim == 0:
        sink = array.item()
    shape, rows = read_rows(sink, letters)
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
    choice = "on_empty_row='zero', 'nan' or 'mean' says what comes of it"
    message = f"row {place} is masked whole{more}: nothing is left to attend to; {choice}"
    raise Malformed(Fault("mask", message))
