"""Tables of rational numbers, read at once: no value is made of an entry until it is asked for.

What is read entry by entry (:mod:`.rows`) takes expressions and tells every fault; here only plain
integers, fractions, decimals and exact floats are taken, which are what large arrays hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Any, overload

from flint import arb, fmpq

from symattn.expressions.shapes import Shape
from symattn.limits import DIGITS, ENTRIES
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.reading import MASKED, Masked
from symattn.numbers.values import Value, rational

if TYPE_CHECKING:
    # Loaded where there are arrays: cases are read, and listed, without NumPy.
    from symattn.numbers.double_double import Array, DoubleDouble

#: Digits of a number that is taken here; the rest is for those who tell what is wrong.
_DIGITS = DIGITS.most // 10
_ONE = rf"-?+[0-9]{{1,{_DIGITS}}}+(?:/[0-9]{{1,{_DIGITS}}}+|\.[0-9]{{1,{_DIGITS}}}+)?+"
_PLAIN = re.compile(rf"{_ONE}(?:,{_ONE})*+")
#: Tables of more numbers show their shape.
_SHOWN = 16
#: Whole numbers below are floats.
_EXACT = 1 << 53

Row = tuple[Value | Masked, ...]


class NumberTable(Sequence[Row]):
    """Rows of numbers ``above / below``; where ``floats`` are given, they are the numbers,
    and minus infinity is a masked score.

    >>> table = NumberTable(2, [1, 2, 3, 4], [2, 1, 1, 1])
    >>> table[0], len(table), table.pairs().high.tolist()
    ((1/2, 2), 2, [[0.5, 2.0], [3.0, 4.0]])
    """

    def __init__(
        self,
        columns: int,
        above: Sequence[int] = (),
        below: Sequence[int] = (),
        floats: Array | None = None,
    ) -> None:
        self.columns = columns
        self.floats = floats
        self._above, self._below = above, below
        self._rows: dict[int, Row] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the values made so far, which other processes make again.
        return NumberTable, (self.columns, self._above, self._below, self.floats)

    def __len__(self) -> int:
        entries = len(self._above) if self.floats is None else self.floats.size
        return entries // self.columns

    @overload
    def __getitem__(self, key: int) -> Row: ...

    @overload
    def __getitem__(self, key: slice) -> Sequence[Row]: ...

    def __getitem__(self, key: int | slice) -> Row | Sequence[Row]:
        if isinstance(key, slice):
            return [self[i] for i in range(*key.indices(len(self)))]
        i = range(len(self))[key]
        if i not in self._rows:
            self._rows[i] = tuple(
                MASKED if number is None else rational(number)
                for number in self._numbers(i * self.columns, (i + 1) * self.columns)
            )
        return self._rows[i]

    @classmethod
    def joined(cls, parts: Sequence[NumberTable]) -> NumberTable:
        """The rows of several tables, one below the other; only floats have masked scores.

        >>> NumberTable.joined([NumberTable(1, [1], [2]), NumberTable(1, [3], [1])])[:]
        [(1/2,), (3,)]
        """
        floats = [part.floats for part in parts]
        known = [array.reshape(-1, parts[0].columns) for array in floats if array is not None]
        if len(known) == len(parts):
            import numpy as np

            return cls(parts[0].columns, floats=np.concatenate(known))
        fractions = [number for part in parts for number in part.numbers() if number is not None]
        above, below = [int(x.p) for x in fractions], [int(x.q) for x in fractions]
        return cls(parts[0].columns, above, below)

    def tolist(self) -> list[list[Fraction | Masked]]:
        """Nested lists of Fractions; the independent cross-check reads these."""
        flat = [MASKED if x is None else Fraction(int(x.p), int(x.q)) for x in self.numbers()]
        return [flat[k : k + self.columns] for k in range(0, len(flat), self.columns)]

    @property
    def has_masked(self) -> bool:
        """Return whether masked scores are among the numbers."""
        return self.floats is not None and bool((self.floats == -inf).any())

    def __repr__(self) -> str:
        if len(self) * self.columns <= _SHOWN:
            return repr(tuple(self))
        return f"<table of {len(self)}x{self.columns} numbers>"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NumberTable):
            return self.columns == other.columns and self.numbers() == other.numbers()
        return isinstance(other, tuple) and tuple(self) == other

    # Equal to rows, whose values have no hash either.
    __hash__ = None  # type: ignore[assignment]

    def numbers(self) -> list[fmpq | None]:
        """All numbers, row by row; None is a masked score."""
        return list(self._numbers(0, len(self) * self.columns))

    def fractions(self) -> tuple[Sequence[int], Sequence[int]] | None:
        """The numbers as whole ones over others, row by row; None where they are floats."""
        return (self._above, self._below) if self.floats is None else None

    def _numbers(self, start: int, stop: int) -> Iterator[fmpq | None]:
        if self.floats is None:
            yield from map(fmpq, self._above[start:stop], self._below[start:stop])
            return
        for number in self.floats.ravel()[start:stop].tolist():
            yield None if number == -inf else fmpq(*number.as_integer_ratio())

    def pairs(self) -> DoubleDouble:
        """The numbers as double-doubles."""
        import numpy as np

        from symattn.numbers import double_double

        grid = len(self), self.columns
        if self.floats is not None:
            return double_double.exact(self.floats.reshape(grid))
        if max(map(abs, self._above)) < _EXACT and max(self._below) < _EXACT:
            above, below = (
                double_double.exact(np.array(whole, dtype=float).reshape(grid))
                for whole in (self._above, self._below)
            )
            return above if set(self._below) == {1} else double_double.divide(above, below)
        with precision(FIRST):
            balls = [None if x is None else arb(x) for x in self.numbers()]
        near = double_double.of_balls(balls, FIRST)
        return near.map(lambda part: part.reshape(grid))


def _whole(data: Any) -> Any:
    """An array of NumPy's integers as lists, everything else as it is."""
    kind = getattr(getattr(data, "dtype", None), "kind", "")
    return data.tolist() if kind in ("i", "u") and data.ndim in (1, 2) else data


def read(data: object) -> tuple[Shape, NumberTable] | None:
    """Shape and numbers of nested lists, vectors or arrays of plain numbers; None for
    anything else.

    >>> shape, table = read([["1/2", "-0.25"], [3, 4]]) or ((), ())
    >>> shape, table[0]
    ((2, 2), (1/2, -1/4))
    >>> read([["sqrt(2)"]]) is read([[1], [2, 3]]) is read("1") is None
    True
    """
    data = _whole(data)
    if not isinstance(data, list | tuple) or not data:
        return None
    is_matrix = isinstance(data[0], list | tuple)
    rows = data if is_matrix else [data]
    if not all(isinstance(row, list | tuple) for row in rows):
        return None
    columns = len(rows[0])
    if not columns or {*map(len, rows)} != {columns} or len(rows) * columns > ENTRIES.most:
        return None
    numbers = _numbers([*chain.from_iterable(rows)])
    if numbers is None:
        return None
    return ((len(rows), columns) if is_matrix else (columns,)), NumberTable(columns, *numbers)


def _numbers(entries: list[object]) -> tuple[list[int], list[int]] | None:
    """The entries as fractions, if all of them are plain."""
    kinds = {*map(type, entries)}
    if kinds == {int}:
        whole: list[int] = entries  # type: ignore[assignment]
        return (whole, [1] * len(whole)) if max(map(abs, whole)) < 10**_DIGITS else None
    if not kinds <= {str, int, Fraction, Decimal}:
        return None
    texts = [entry if type(entry) is str else str(entry) for entry in entries]
    joined = ",".join(texts)
    if not _PLAIN.fullmatch(joined) or joined.count(",") >= len(texts):
        return None
    above, below = [], []
    for text in texts:
        whole_part, point, part = text.partition(".")
        if point:
            above.append(int(whole_part + part))
            below.append(10 ** len(part))
        else:
            over, _, under = text.partition("/")
            above.append(int(over))
            below.append(int(under or 1))
    return None if 0 in below else (above, below)
