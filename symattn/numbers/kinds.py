"""What exact numbers, and arrays of them, may be given as: types for those who call.

A float is no exact number; :func:`~symattn.numbers.arrays.from_floats` takes floats.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, Protocol

from flint import fmpq, fmpz

from symattn.numbers.values import Value


class AnyArray(Protocol):
    """An array, or a scalar, of any package."""

    @property
    def shape(self) -> Any:
        """Its lengths."""

    @property
    def dtype(self) -> Any:
        """What its entries are."""


class Listed(Protocol):
    """What can be had as nested lists, as matrices of SymPy."""

    def tolist(self) -> Any:
        """Nested lists of its entries."""


class SymbolicEntry(Protocol):
    """A number of SymPy."""

    @property
    def free_symbols(self) -> Any:
        """The symbols in it."""


#: One exact number; text such as ``"1/3"`` or ``"sqrt(2)"`` is one.
Number = int | str | Fraction | Decimal | Value | fmpq | fmpz | SymbolicEntry | AnyArray
#: Exact numbers along one axis or more.
Numbers = list[Any] | tuple[Any, ...] | AnyArray | Listed
#: Which keys queries see: 1 or True to keep, 0 or False to hide; or floats 0 and -inf.
Mask = Literal["causal"] | Numbers
