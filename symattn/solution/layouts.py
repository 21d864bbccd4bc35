"""Arrays in the axes of a kernel: any order, sequences packed or padded, keys in pages.

Attention is computed of heads x rows x columns along a batch. Where an entry of a kernel's
array lies there is one array of places: inputs are put there, results are taken from there.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from symattn.errors import Fault, Faults, Malformed
from symattn.numbers.arrays import FloatEntries, as_array, from_floats
from symattn.numbers.rationals import array_refusal
from symattn.shapes import Shape, show
from symattn.solution.masks import Seen

_Places = npt.NDArray[np.intp]

#: The axes of what attention is computed of, in order; t stands for b and s of packed arrays.
_AXES = {"b": "batch", "h": "heads", "s": "sequence", "d": "features"}
_PACKED = {"t": "tokens of all sequences", "h": "heads", "d": "features"}


@dataclass(frozen=True, eq=False)
class Axes:
    """The axes of the arrays of queries, or of keys and values, by their letters; ``counts``
    are the lengths of the sequences that are packed one after the other.

    >>> Axes("shd").read(np.array([[[1, 2]], [[3, 4]]])).tolist()
    [[[1, 2], [3, 4]]]
    >>> Axes("td", np.array([1, 2])).read(np.array([[1], [2], [3]])).tolist()
    [[[1], [0]], [[2], [3]]]
    """

    letters: str
    counts: _Places | None = None

    def places(self, shape: Shape) -> _Places:
        """Which entries of an array of heads x rows, or heads x rows x columns, along a batch
        stand where in the kernel's: without columns sequences come last.

        >>> Axes("shd").places((1, 2, 3)).tolist()
        [[[0, 1, 2]], [[3, 4, 5]]]
        >>> Axes("thd", np.array([1, 2])).places((2, 1, 2)).tolist()
        [[0, 2, 3]]
        """
        letters = self.letters
        axes = "".join(x for x in _AXES if x in letters or (x in "bs" and "t" in letters))
        if len(shape) < len(axes):
            axes = axes.replace("d", "")
            letters = "".join(x for x in "bhst" if x in letters)
        places = np.arange(prod(shape)).reshape(shape)
        if self.counts is not None:
            inside = np.arange(shape[axes.index("s")]) < self.counts[:, None]
            places = np.moveaxis(places, axes.index("s"), 1)[inside]
            axes = "t" + axes.replace("b", "").replace("s", "")
        return places.transpose([axes.index(x) for x in letters])

    def read(self, data: object) -> FloatEntries | npt.NDArray[Any]:
        """A kernel's array as heads x rows x columns along a batch, of sequences as long as the
        longest; what lies beyond the others is 0. :class:`Malformed` for another shape."""
        if isinstance(data, FloatEntries):
            return FloatEntries(self._spread(data.array))
        if refusal := array_refusal(data):
            raise Malformed(refusal)
        array = as_array(data)
        if array is None:
            nested: Any = data.tolist() if hasattr(data, "tolist") else data
            array = np.array(nested, dtype=object)
        return self._spread(array)

    def _spread(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if array.ndim != len(self.letters):
            raise Malformed(
                f"expected {len(self.letters)} axes, {self.letters}, found {show(array.shape)}"
            )
        sizes = dict(zip(self.letters, array.shape, strict=True))
        if self.counts is not None:
            tokens = int(self.counts.sum())
            if sizes["t"] != tokens:
                raise Malformed(
                    f"expected {tokens} tokens, where the last sequence ends, along t of "
                    f"{self.letters}, found {show(array.shape)}"
                )
            sizes |= {"b": len(self.counts), "s": int(self.counts.max())}
        whole = np.zeros([sizes[x] for x in _AXES if x in sizes], dtype=array.dtype)
        whole.reshape(-1)[self.places(whole.shape)] = array
        return whole


@dataclass(frozen=True, eq=False)
class Arrangement:
    """The axes of queries, and those of keys and values."""

    queries: Axes
    keys: Axes

    @property
    def counts(self) -> tuple[_Places | None, _Places | None]:
        """The lengths of packed sequences of queries, and of keys."""
        return self.queries.counts, self.keys.counts

    def of(self, name: str) -> Axes | None:
        """The axes of an input or a part of attention; None for what is queries x keys."""
        if name in ("Q", "output", "dY", "lse", "dQ"):
            return self.queries
        return self.keys if name in ("K", "V", "dK", "dV") else None


def arrangement(
    layout: str | None,
    cu_seqlens_q: object = None,
    cu_seqlens_k: object = None,
    lengths: object = None,
) -> Arrangement | None:
    """The arrangement that these arguments of :func:`symattn.attention` ask for; None where
    arrays are as attention is computed. Raises :class:`Malformed` with every fault.

    Beside packed queries keys are packed likewise, or with ``lengths`` padded.

    >>> arrangement("thd", [0, 2, 5]).keys.counts.tolist()
    [2, 3]
    """
    packed = {"cu_seqlens_q": cu_seqlens_q, "cu_seqlens_k": cu_seqlens_k}
    is_packed = any(starts is not None for starts in packed.values())
    if layout is None and not is_packed:
        return None
    letters = "thd" if layout is None else layout
    faults, counts = Faults(), {}
    with faults.inside("layout"):
        _need_letters(letters, is_packed)
    if is_packed and cu_seqlens_q is None:
        faults.append(Fault("cu_seqlens_q", "expected one, as there is one of keys, found None"))
    if cu_seqlens_k is not None and lengths is not None:
        faults.append(Fault("lengths", "cu_seqlens_k says them: expected one of both"))
    for name, starts in packed.items():
        if starts is not None:
            with faults.inside(name):
                counts[name] = _lengths(starts)
    faults.raise_all()
    if not is_packed:
        return Arrangement(Axes(letters), Axes(letters))
    of_queries = counts["cu_seqlens_q"]
    queries = Axes(letters, of_queries)
    if cu_seqlens_k is None and lengths is not None:
        return Arrangement(queries, Axes(letters.replace("t", "bs")))
    of_keys = counts.get("cu_seqlens_k", of_queries)
    if len(of_keys) != len(of_queries):
        wanted = f"expected {len(of_queries)} sequences as of queries"
        raise Malformed(Fault("cu_seqlens_k", f"{wanted}, found {len(of_keys)}"))
    return Arrangement(queries, Axes(letters, of_keys))


@dataclass(frozen=True)
class HeadLayout:
    """Which rows of which head are those of the queries along their leading axes.

    ``group`` queries share a head of keys and values: they lie below each other in it.
    ``queries`` are the numbers of the n_q queries among ``n_all`` of which they may be a part.
    ``axes`` are those of arrays, where these are not queries or keys along leading axes.
    ``empty`` are the queries that see no key, lead x n_q.
    """

    lead: Shape
    lead_k: Shape
    group: int
    n_q: int
    queries: _Places
    n_all: int
    axes: Arrangement | None = None
    empty: Seen = field(default_factory=lambda: np.zeros(0, dtype=bool))

    @property
    def is_whole(self) -> bool:
        """Whether there are all queries."""
        return self.n_q == self.n_all

    def ordered(self, n_k: int, shift: int) -> Seen:
        """Which keys the queries of a group see that see none after their own place, moved on."""
        seen: Seen = np.arange(n_k) <= np.tile(self.queries, self.group)[:, None] + shift
        return seen

    def by_query(self, whole: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """An array of heads x rows, ... in the shape of the queries' leading axes."""
        return whole.reshape(*self.lead, self.n_q, *whole.shape[2:])

    def by_key(self, whole: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """An array of heads x keys, ... in the shape of the keys' leading axes."""
        return whole.reshape(*self.lead_k, *whole.shape[1:])

    def of_queries(self, queries: npt.NDArray[np.intp]) -> HeadLayout:
        """The layout of some queries of every head."""
        empty, own = self.empty[..., queries], self.queries[queries]
        return replace(self, n_q=len(queries), empty=empty, queries=own)

    def rows(self, queries: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """The rows that some queries have in a head: one for each of the group."""
        firsts = np.arange(self.group)[:, None] * self.n_q
        rows: npt.NDArray[np.intp] = (firsts + queries).ravel()
        return rows

    @cached_property
    def inside(self) -> tuple[Seen, Seen]:
        """Which queries and which keys are none that packed sequences were padded with: heads x
        rows x 1 and heads x 1 x keys, or what is broadcast to these. Padding sees nothing, is
        not seen, and nothing flows into it."""
        if self.axes is None or (counts := self.axes.queries.counts) is None:
            return np.ones((1, 1, 1), dtype=bool), np.ones((1, 1, 1), dtype=bool)
        queries, keys = self.queries < counts[:, None], np.ones((len(counts), 1), dtype=bool)
        if (counts_k := self.axes.keys.counts) is not None:
            keys = np.arange(counts_k.max()) < counts_k[:, None]
        heads = prod(self.lead_k[1:])
        queries = np.tile(queries, self.group).repeat(heads, axis=0)
        return queries[..., None], keys.repeat(heads, axis=0)[:, None]

    @property
    def instead(self) -> Seen:
        """The keys that a query takes which sees none, in the shape of ``inside``: all of its
        sequence, or where that has none the padding."""
        keys = self.inside[1]
        return np.asarray(keys | ~keys.any(axis=-1, keepdims=True))

    def places(self, name: str, shape: Shape) -> npt.NDArray[np.intp] | None:
        """Which entries of a part of attention, in that shape along leading axes, stand where in
        a kernel's array; None where it has the same axes."""
        axes = self.axes.of(name) if self.axes else None
        return None if axes is None else axes.places(shape)

    def placed(self, name: str, array: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """A part of attention along leading axes, in a kernel's axes."""
        places = self.places(name, array.shape)
        return array if places is None else array.reshape(-1)[places]

    @property
    def is_packed(self) -> bool:
        """Whether sequences of several lengths are one after the other."""
        return self.axes is not None and self.axes.queries.counts is not None

    def axis(self, name: str) -> int:
        """The axis of a part of attention that queries stand along, unless they are packed."""
        if self.axes is None or name == "lse":
            return len(self.lead)
        return self.axes.queries.letters.index("s")


def laid_out(array: npt.NDArray[Any], layout: str | None) -> npt.NDArray[Any]:
    """An array of heads x rows x columns along a batch in the axes of a layout;
    :class:`Malformed` where it has others.

    >>> laid_out(np.zeros((2, 3, 4, 5)), "bshd").shape
    (2, 4, 3, 5)
    """
    axes = arrangement(layout)
    if axes is None or layout is None:
        return array
    if array.ndim != len(layout):
        raise Malformed(
            f"layout: {layout} has {len(layout)} axes, the sample {show(array.shape)}: lead= of "
            "the marker says those before the last two"
        )
    return array.reshape(-1)[axes.queries.places(array.shape)]


def _need_letters(letters: object, is_packed: bool) -> None:
    known = _PACKED if is_packed else _AXES
    needed = "td" if is_packed else "sd"
    if not is_packed and isinstance(letters, str) and "t" in letters:
        raise Malformed("t packs sequences: cu_seqlens_q says where each of them begins")
    if (
        not isinstance(letters, str)
        or not set(needed) <= set(letters) <= set(known)
        or len(set(letters)) < len(letters)
    ):
        names = ", ".join(f"{letter} ({name})" for letter, name in known.items())
        raise Malformed(
            f"expected letters among {names}, each once, {' and '.join(needed)} among them, "
            f"found {letters!r}"
        )


def _whole(data: object, axes: int, what: str) -> _Places:
    """Whole numbers along so many axes."""
    array = as_array(data)
    try:
        array = np.asarray(data) if array is None else array
    except ValueError:
        raise Malformed(f"expected {what}, found rows of several lengths") from None
    if array.ndim != axes or array.dtype.kind not in "iu":
        found = f"{array.dtype} of {axes}" if array.ndim == axes else show(array.shape)
        raise Malformed(f"expected {what}, found {found}")
    return array.astype(np.intp)


def _lengths(starts: object) -> _Places:
    """The lengths of packed sequences, from where each starts and the last one ends."""
    places = _whole(starts, 1, "whole numbers: 0, and where each sequence ends")
    if len(places) < 2 or places[0] != 0:
        raise Malformed(f"expected 0 and where each sequence ends, found {places.tolist()}")
    counts: _Places = np.diff(places)
    faults = Faults()
    for place in np.flatnonzero(counts < 0).tolist():
        wanted = f"expected at least {places[place]}, where the sequence begins"
        faults.append(Fault(f"[{place + 1}]", f"{wanted}, found {places[place + 1]}"))
    faults.raise_all()
    return counts


def from_pages(pages: object, block_table: object, lengths: object) -> FloatEntries:
    """Keys, or values, that lie in pages, exactly: batch x longest length x heads x features,
    for ``layout="bshd"`` with the same ``lengths``.

    ``pages`` is an array of floats, blocks x block size x heads x features, or what
    :func:`~symattn.from_floats` or :func:`~symattn.from_blocks` makes of one; ``block_table``,
    batch x most blocks, names the blocks of each sequence in order; ``lengths`` are those of the
    sequences. What is beyond a length is never looked at: there is 0.

    Raises :class:`Malformed` with every length that the table has no room for, and every block
    in use that there is not.

    >>> pages = np.arange(6.0).reshape(3, 2, 1, 1)
    >>> keys = from_pages(pages, [[2, 0], [1, -1]], [3, 1])
    >>> keys.array[..., 0, 0].tolist()
    [[4.0, 5.0, 0.0], [2.0, 0.0, 0.0]]
    """
    faults = Faults()
    array = pages.array if isinstance(pages, FloatEntries) else as_array(pages)
    if array is None or array.ndim < 3:
        what = type(pages).__name__ if array is None else show(array.shape)
        faults.append(
            Fault("pages", f"expected blocks x block size x heads x features, found {what}")
        )
    table: _Places = np.zeros((0, 0), dtype=np.intp)
    counts: _Places = np.zeros(0, dtype=np.intp)
    with faults.inside("block_table"):
        table = _whole(block_table, 2, "blocks, a row for each sequence")
    with faults.inside("lengths"):
        counts = _whole(lengths, 1, "whole numbers, one for each sequence")
    faults.raise_all()
    assert array is not None
    if len(counts) != len(table):
        raise Malformed(f"lengths: expected {len(table)}, as block_table has, found {len(counts)}")
    blocks, size = array.shape[:2]
    room = table.shape[1] * size
    for k, count in enumerate(counts.tolist()):
        if not 0 <= count <= room:
            faults.append(Fault(f"lengths[{k}]", f"expected 0 to {room}, found {count}"))
    in_use = np.arange(table.shape[1]) * size < counts[:, None]
    for i, j in np.argwhere(in_use & ((table < 0) | (table >= blocks))).tolist():
        wanted = f"expected a block from 0 to {blocks - 1}"
        faults.append(Fault(f"block_table[{i}][{j}]", f"{wanted}, found {table[i, j]}"))
    faults.raise_all()
    whole = np.zeros((len(counts), counts.max(initial=0), *array.shape[2:]), dtype=array.dtype)
    inside = np.arange(whole.shape[1]) < counts[:, None]
    row, token = np.nonzero(inside)
    whole[inside] = array[table[row, token // size], token % size]
    if isinstance(pages, FloatEntries):
        return type(pages)(whole)
    with faults.inside("pages"):
        exact = from_floats(whole)
    faults.raise_all()
    if not isinstance(exact, FloatEntries):
        raise Malformed("pages: expected floats")
    return exact
