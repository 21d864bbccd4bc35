"""Which keys queries see: masks, causal order, windows and lengths."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from symattn.errors import Faults, Malformed, expected
from symattn.numbers.arrays import FloatEntries, as_array
from symattn.numbers.reading import read
from symattn.numbers.values import ONE, ZERO, compare
from symattn.shapes import Shape, show
from symattn.verdicts import Verdict

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
    """Whether each query sees each key, lead x n_q x n_k; None where all see all. The options
    are those of :func:`symattn.solution.attention.attention`; ``queries`` is how many each
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
    parts = [
        _masked(mask, lead, n_q, n_k),
        _ordered(
            causal,
            window,
            (n_q, n_k),
            n_q if last_q is None else last_q,
            n_k if last_k is None else last_k,
        ),
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
    """Whether an exact number is 1, not 0."""
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
