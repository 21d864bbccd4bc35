"""Nested lists read: their shape, and their entries as exact numbers.

What exact numbers, and arrays of them, may be given as: types for those who call.

A float is no exact number; :func:`~symattn.numbers.arrays.from_floats` takes floats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import prod
from typing import Any, Literal, Protocol, TypeVar

from flint import fmpq, fmpz

from symattn.errors import Fault, Faults, Malformed
from symattn.expressions.shapes import Shape, keys, show
from symattn.limits import ENTRIES
from symattn.numbers import tables
from symattn.numbers.letters import Letters
from symattn.numbers.rationals import array_refusal
from symattn.numbers.reading import Masked, read_entry
from symattn.numbers.tables import NumberTable
from symattn.numbers.values import Value

T = TypeVar("T")

#: Rows of exact entries; a scalar is one row of one, a vector one row.
Rows = tuple[tuple[Value | Masked, ...], ...] | NumberTable


@dataclass(frozen=True)
class Numbers:
    """Nested numbers as they were written, and the exact rows that they are."""

    written: Any
    shape: Shape
    rows: Rows

    @classmethod
    def read(cls, written: Any) -> Numbers:
        """Return those of nested lists; raises :class:`Malformed`.

        >>> Numbers.read(["0.50", "1/3"]).rows
        ((1/2, 1/3),)
        """
        return cls(written, *read_rows(written))


def shape_of(data: Any) -> Shape:
    """The shape of nested lists: (), (n,) or (n, m); lists that are ragged,
    empty or deeper raise :class:`Malformed` with every place.

    >>> shape_of([[1, 2, 3], [4, 5, 6]])
    (2, 3)
    """
    data = _plain(data)
    if not _is_list(data):
        return ()
    if not len(data):
        raise Malformed("expected numbers, found an empty list")
    if not any(_is_list(row) for row in data):
        return (len(data),)
    widths = [len(row) for row in data if _is_list(row)]
    # Of widths that are as frequent the first.
    usual = Counter(widths).most_common(1)[0][0]
    if faults := Faults(_ragged(data, usual)):
        raise Malformed(faults)
    if usual == 0:
        raise Malformed("expected numbers, found empty rows")
    return (len(data), usual)


def _plain(data: Any) -> Any:
    """Arrays and matrices of other packages as nested lists; :class:`Malformed` for floats."""
    if refusal := array_refusal(data):
        raise Malformed(refusal)
    return data.tolist() if hasattr(data, "tolist") else data


def _ragged(data: Any, usual: int) -> Iterator[Fault]:
    """Yield what keeps nested lists from being rows of ``usual`` numbers."""
    for i, row in enumerate(data):
        if not _is_list(row):
            yield Fault(f"[{i}]", "expected a row of numbers, found a single value")
        elif len(row) != usual:
            yield Fault(
                f"[{i}]", f"expected {usual} numbers as in the other rows, found {len(row)}"
            )
        else:
            for j, entry in enumerate(row):
                if _is_list(entry):
                    yield Fault(f"[{i}][{j}]", "expected a number, found a list")


def _is_list(data: Any) -> bool:
    if isinstance(data, str | bytes):
        return False
    return isinstance(data, Sequence) or getattr(data, "ndim", 0) > 0


def read_each(data: Any, read: Callable[[Any], T]) -> tuple[Shape, tuple[tuple[T, ...], ...]]:
    """The shape of nested lists, and what ``read`` makes of their entries, by
    rows of the grid. Raises :class:`Malformed` with every entry that it can't read.

    >>> read_each(["1", "2"], int)
    ((2,), ((1, 2),))
    """
    data = _plain(data)
    shape = shape_of(data)
    if prod(shape) > ENTRIES.most:
        raise Malformed(ENTRIES.said(show(shape)))
    faults = Faults()
    rows = [[data]] if not shape else [data] if len(shape) == 1 else data
    table: list[tuple[T, ...]] = []
    for i, row in enumerate(rows):
        entries: list[T] = []
        for j, entry in enumerate(row):
            with faults.inside("".join(f"[{k}]" for k in keys(shape, i, j))):
                entries.append(read(entry))
        table.append(tuple(entries))
    faults.raise_all()
    return shape, tuple(table)


def _is_read(row: object) -> bool:
    return isinstance(row, tuple) and all(isinstance(entry, Value | Masked) for entry in row)


def read_rows(data: Any, symbols: Letters | bool = False) -> tuple[Shape, Rows]:
    """Shape and exact entries of nested lists of numbers, text or arrays;
    with ``symbols`` entries may name symbols. Raises :class:`Malformed`.

    >>> shape, rows = read_rows([["1/2", 3]])
    >>> shape, rows[0]
    ((1, 2), (1/2, 3))
    """
    if isinstance(data, Numbers):
        return data.shape, data.rows
    if isinstance(data, NumberTable):
        return (len(data), data.columns), data
    if isinstance(data, tuple) and data and all(map(_is_read, data)):
        return (len(data), len(data[0])), data
    # Plain numbers at once; the rest, and all faults, one by one.
    return tables.read(data) or read_each(data, lambda entry: read_entry(entry, symbols))


class AnyArray(Protocol):
    """An array, or a scalar, of any package."""

    @property
    def shape(self) -> Any:
        """Its lengths."""

    @property
    def dtype(self) -> Any:
        """Return what its entries are."""


class SharedArray(Protocol):
    """An array that any package can be handed by DLPack."""

    @property
    def __dlpack__(self) -> Callable[..., Any]:
        """A capsule of its memory."""

    @property
    def __dlpack_device__(self) -> Callable[[], Any]:
        """Return where that is."""


class _Listed(Protocol):
    """What can be had as nested lists, as matrices of SymPy."""

    def tolist(self) -> Any:
        """Nested lists of its entries."""


class _SymbolicEntry(Protocol):
    """A number of SymPy."""

    @property
    def free_symbols(self) -> Any:
        """The symbols in it."""


#: One exact number; text such as ``"1/3"`` or ``"sqrt(2)"`` is one.
Number = int | str | Fraction | Decimal | Value | fmpq | fmpz | _SymbolicEntry | AnyArray
#: Exact numbers along one axis or more.
ArrayLike = list[Any] | tuple[Any, ...] | AnyArray | SharedArray | _Listed
#: Which keys queries see: 1 or True to keep, 0 or False to hide; or floats 0 and -inf.
Mask = Literal["causal"] | ArrayLike
