"""Arrays in the axes of a kernel: any order, sequences packed or padded, keys in pages.

Attention is computed of heads x rows x columns along a batch. Where an entry of a kernel's
array lies there is one array of places: inputs are put there, results are taken from there.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from math import prod
from operator import and_
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from symattn.errors import Fault, Faults, Malformed, expected
from symattn.expressions.shapes import Shape, show
from symattn.numbers.arrays import FloatEntries, as_array, from_floats
from symattn.numbers.rationals import array_refusal
from symattn.numbers.reading import read
from symattn.numbers.values import ONE, ZERO, compare
from symattn.verdicts import Verdict

# -- which keys queries see --------------------------------------------------------------
# Masks, causal order, windows and lengths.

#: Which positions queries have among the keys: the first ones, or the last.
Alignment = Literal["top-left", "bottom-right"]
_ALIGNMENTS: tuple[Alignment, ...] = get_args(Alignment)

Seen = npt.NDArray[np.bool_]
_Counts = npt.NDArray[np.intp]


def seen(
    lead: Shape,
    n_q: int,
    n_k: int,
    mask: object = None,
    causal: Alignment | bool | None = None,
    window: int | tuple[int | None, int | None] | None = None,
    lengths: object = None,
    queries: object = None,
) -> Seen | None:
    """Return whether each query sees each key, lead x n_q x n_k; None where all see all. The
    options are those of :func:`symattn.solution.attention.attention`; ``queries`` is how many each
    sequence has.

    Without a causal order windows are aligned as FlashAttention's are: the last query stands
    at the last key, that of its sequence where there are ``lengths``. Raises :class:`Malformed`
    for a mask or lengths of another shape, and for what is neither a mask nor an order.

    >>> seen((), 2, 3, causal="bottom-right").astype(int).tolist()
    [[1, 1, 0], [1, 1, 1]]
    >>> seen((), 3, 3, window=(1, 0)).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    >>> seen((), 2, 3, window=0).astype(int).tolist()
    [[0, 1, 0], [0, 0, 1]]
    """
    last_k = None if lengths is None else _counts("lengths", lengths, lead, n_k)
    last_q = None if queries is None else _counts("queries", queries, lead, n_q)
    lasts = n_q if last_q is None else last_q, n_k if last_k is None else last_k
    parts = [
        _masked(mask, lead, n_q, n_k),
        _ordered(causal, window, (n_q, n_k), *lasts),
        None if last_k is None else np.asarray(np.arange(n_k) < last_k),
    ]
    known = [part for part in parts if part is not None]
    return np.broadcast_to(reduce(and_, known), (*lead, n_q, n_k)) if known else None


def _masked(mask: object, lead: Shape, n_q: int, n_k: int) -> Seen | None:
    if mask is None:
        return None
    array = mask.array if isinstance(mask, FloatEntries) else as_array(mask)
    if array is None:
        array = _plain(mask)
    # With all axes of the scores, one of length 1 stands for all queries, or all keys.
    has_all = lead and array.ndim == len(lead) + 2
    pairs = zip(array.shape[-2:], (n_q, n_k), strict=False)
    if array.ndim < 2 or not all(own == n or (has_all and own == 1) for own, n in pairs):
        raise Malformed(
            f"mask: expected {show((n_q, n_k))}, or that along leading axes, found "
            f"{show(array.shape)}: keys that are padding are told by lengths"
        )
    try:
        np.broadcast_to(array, (*lead, n_q, n_k))
    except ValueError:
        raise Malformed(
            f"mask: expected leading axes that fit those of Q, found {show(array.shape)}"
        ) from None
    if array.dtype == bool or (array.dtype.kind in "iu" and np.isin(array, (0, 1)).all()):
        return np.asarray(array, dtype=bool)
    if array.dtype.kind == "f" and ((array == 0) | np.isneginf(array)).all():
        return np.asarray(array == 0)
    raise Malformed(
        "mask: expected booleans, or 1 (keep) and 0 (hide) as integers, or 0 and -inf as floats "
        "that are added; other numbers that are added to scores are a bias, in which -inf hides: "
        "bias=symattn.from_floats(mask)"
    )


def _plain(mask: Any) -> npt.NDArray[Any]:
    """A mask in lists, or of an exact package: 1 and 0, or 0 and -inf as text."""
    nested = mask.tolist() if hasattr(mask, "tolist") else mask
    try:
        array = np.array(nested, dtype=object)
    except ValueError:
        raise Malformed("mask: expected rows of one length") from None
    if any(isinstance(entry, list | tuple) for entry in array.ravel()):
        raise Malformed("mask: expected rows of one length")
    texts = {str(entry) for entry in array.ravel()}
    if texts <= {"0", "0.0", "-inf"} and "-inf" in texts:
        return ~np.isin(array.astype(str), ("-inf",))
    if texts <= {"True", "False", "0", "1"}:
        return np.isin(array.astype(str), ("1", "True"))
    faults = Faults()
    kept = np.zeros(array.shape, dtype=bool)
    for place, entry in np.ndenumerate(array):
        with faults.inside("mask" + "".join(f"[{k}]" for k in place)):
            kept[place] = _keeps(entry)
    faults.raise_all()
    return kept


def _keeps(entry: object) -> bool:
    """Return whether an exact number is 1, not 0."""
    value = read(entry)
    for whole in (ZERO, ONE):
        if compare(value, whole) is Verdict.HOLDS:
            return whole is ONE
    raise Malformed(f"a mask holds 0 (hide) and 1 (keep), found {value}")


def _ordered(
    alignment: Alignment | bool | None,
    window: object,
    sizes: tuple[int, int],
    last_q: _Counts | int,
    last_k: _Counts | int,
) -> Seen | None:
    """The causal order and the window, by positions of the queries among the keys, of which
    each sequence has so many."""
    if alignment in (None, False) and window is None:
        return None
    n_q, n_k = sizes
    if alignment is True:
        # Padded keys leave open whether the queries are padded as well.
        if n_q != n_k or (isinstance(last_q, np.ndarray) and np.any(last_q != last_k)):
            raise Malformed(
                f"causal: {n_q} queries and {n_k} keys can be aligned in two ways: write "
                'causal="top-left" or, as in a decoder step, causal="bottom-right"'
            )
        alignment = "top-left"
    if alignment not in (None, False, *_ALIGNMENTS):
        raise Malformed(
            f"causal: unknown order {alignment!r}: {expected(str(alignment), _ALIGNMENTS)}"
        )
    shift = 0 if alignment == "top-left" else last_k - last_q
    keys, places = np.arange(n_k)[None, :], np.arange(n_q)[:, None] + shift
    left, right = _window(window)
    if alignment:
        right = 0 if right is None else min(right, 0)
    kept = np.ones((n_q, n_k), dtype=bool)
    if left is not None:
        kept = kept & (keys >= places - left)
    if right is not None:
        kept = kept & (keys <= places + right)
    return kept


def _window(window: object) -> tuple[int | None, int | None]:
    if window is None:
        return None, None
    pair = (window, window) if isinstance(window, int) else window
    if (
        not isinstance(pair, tuple | list)
        or len(pair) != 2
        or any(not (side is None or (isinstance(side, int) and side >= 0)) for side in pair)
    ):
        raise Malformed(
            f"window: expected how many keys to the left and to the right are seen, as in "
            f"window=(2, 0), None for all; found {window!r}"
        )
    return pair[0], pair[1]


def _counts(name: str, lengths: object, lead: Shape, most: int) -> _Counts:
    """The length of each sequence, of the first leading axes, beside rows and columns."""
    counts = np.asarray(lengths)
    if counts.dtype.kind not in "iu" or not ((counts >= 0) & (counts <= most)).all():
        raise Malformed(f"{name}: expected whole numbers from 0 to {most}, found {lengths!r}")
    if counts.shape != lead[: counts.ndim]:
        wanted = f"a number, or numbers along the leading axes {show(lead)}"
        raise Malformed(f"{name}: expected {wanted}, found {show(counts.shape)}")
    wide = counts.reshape(*counts.shape, *([1] * (len(lead) - counts.ndim)), 1, 1)
    return wide.astype(np.intp)


# -- layouts -----------------------------------------------------------------------------

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
        """Return which entries of an array of heads x rows, or heads x rows x columns, along a
        batch stand where in the kernel's: without columns sequences come last.

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
    """The layout of heads: which rows of which head are those of the queries along their leading
    axes.

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
        """Return whether there are all queries."""
        return self.n_q == self.n_all

    def ordered(self, n_k: int, shift: int) -> Seen:
        """Return which keys the queries of a group see that see none after their own place, moved
        on."""
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
        """Return which queries and which keys are none that packed sequences were padded with:
        heads x rows x 1 and heads x 1 x keys, or what is broadcast to these. Padding sees nothing,
        is not seen, and nothing flows into it."""
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
        """Return which entries of a part of attention, in that shape along leading axes, stand
        where in a kernel's array; None where it has the same axes."""
        axes = self.axes.of(name) if self.axes else None
        return None if axes is None else axes.places(shape)

    def placed(self, name: str, array: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """A part of attention along leading axes, in a kernel's axes."""
        places = self.places(name, array.shape)
        return array if places is None else array.reshape(-1)[places]

    @property
    def is_packed(self) -> bool:
        """Return whether sequences of several lengths are one after the other."""
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
