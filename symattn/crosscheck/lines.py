"""Lines of a tape: one for each operation, shapes inferred.

Every quantity is held as rows and columns: a number is 1 by 1, a vector one
row. A line also remembers the shape that NumPy would give it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod

import numpy as np

from symattn.crosscheck.scalars import Tracked
from symattn.errors import Malformed
from symattn.limits import ENTRIES

Shape = tuple[int, ...]
#: A line, by its number on the tape.
Place = int
#: Where each entry of a selection comes from: (row, column) in the operand.
Picks = tuple[tuple[tuple[int, int], ...], ...]


@dataclass(frozen=True)
class TapeLine:
    """One operation on earlier lines.

    ``operation`` names a definition, or ``entries`` (numbers that are known),
    ``copy``, ``spread`` (broadcasting), ``selection`` and ``gradient``, whose
    operands are an output, what arrives there, and what it is by. ``sizes`` are
    whole numbers that the definition takes besides those of its operands.
    """

    operation: str
    operands: tuple[Place, ...]
    shape: Shape
    where: str
    entries: tuple[tuple[Tracked, ...], ...] = ()
    picks: Picks = ()
    sizes: Mapping[str, int] = field(default_factory=dict)

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns that the entries are held in.

        >>> TapeLine("copy", (0,), (3,), "steps.v").grid
        (1, 3)
        """
        return grid(self.shape)


def grid(shape: Shape) -> tuple[int, int]:
    """Rows and columns that a quantity of a shape is held in.

    >>> grid(()), grid((3,)), grid((2, 3))
    ((1, 1), (1, 3), (2, 3))
    """
    rows, columns = (1, 1, *shape)[-2:]
    return rows, columns


def worded(shape: Shape) -> str:
    """A shape in words.

    >>> worded(()), worded((3,)), worded((2, 3))
    ('a number', 'a vector of 3', '2x3')
    """
    return {0: "a number", 1: f"a vector of {shape[0] if shape else 0}"}.get(
        len(shape), "x".join(map(str, shape))
    )


def broadcast(*shapes: Shape) -> Shape:
    """NumPy's rule: lengths agree or are 1, from the last axis on.

    >>> broadcast((2, 1), (3,))
    (2, 3)
    """
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise Malformed(f"shapes don't fit: {' and '.join(map(worded, shapes))}") from None


class TapeLines:
    """Lines that are being written; ``where`` is the step that they belong to."""

    def __init__(self) -> None:
        self.lines: list[TapeLine] = []
        self.where = ""

    def add(
        self,
        operation: str,
        operands: tuple[Place, ...],
        shape: Shape,
        *,
        entries: tuple[tuple[Tracked, ...], ...] = (),
        picks: Picks = (),
        sizes: Mapping[str, int] | None = None,
    ) -> Place:
        """A line; :class:`~symattn.errors.Malformed` if it has too many entries."""
        if prod(shape) > ENTRIES.most:
            raise Malformed(ENTRIES.said(worded(shape)))
        self.lines.append(
            TapeLine(operation, operands, shape, self.where, entries, picks, sizes or {})
        )
        return len(self.lines) - 1

    def shape(self, line: Place) -> Shape:
        """The shape that NumPy would give a line."""
        return self.lines[line].shape

    def grid(self, line: Place) -> tuple[int, int]:
        """Rows and columns of a line."""
        return self.lines[line].grid

    def matrix(self, line: Place, function: str) -> tuple[int, int]:
        """The shape of a line that has to be a matrix."""
        shape = self.shape(line)
        if len(shape) != 2:
            raise Malformed(f"{function} expects a matrix, found {worded(shape)}")
        return shape[0], shape[1]

    def scalar(self, line: Place, function: str) -> Place:
        """A line that has to be a number."""
        if shape := self.shape(line):
            raise Malformed(f"{function} expects a number, found {worded(shape)}")
        return line

    def number(self, value: Tracked | float) -> Place:
        """A number that is known."""
        return self.filled(value, ())

    def filled(self, value: Tracked | float, shape: Shape) -> Place:
        """The same number everywhere."""
        entry = value if isinstance(value, Tracked) else Tracked(value)
        if prod(shape) > ENTRIES.most:
            raise Malformed(ENTRIES.said(worded(shape)))
        rows, columns = grid(shape)
        return self.add("entries", (), shape, entries=((entry,) * columns,) * rows)

    def spread(self, line: Place, shape: Shape) -> Place:
        """A line repeated to a shape."""
        if self.grid(line) == grid(shape):
            return line
        return self.add("spread", (line,), shape)

    def entrywise(self, operation: str, *operands: Place) -> Place:
        """An operation entry by entry, with broadcasting."""
        shape = broadcast(*map(self.shape, operands))
        return self.add(operation, tuple(self.spread(line, shape) for line in operands), shape)

    def turned(self, line: Place) -> Place:
        """The transpose; a vector or a number is its own."""
        shape = self.shape(line)
        return self.add("transpose", (line,), shape[::-1]) if len(shape) == 2 else line

    def reshaped(self, line: Place, shape: Shape) -> Place:
        """The same entries in another shape, row by row."""
        if prod(shape) != prod(self.shape(line)):
            raise Malformed(f"{worded(self.shape(line))} can't be reshaped to {worded(shape)}")
        same = grid(shape) == self.grid(line)
        return self.add("copy" if same else "reshape", (line,), shape)

    def along(self, line: Place, axis: int | None, function: Callable[[Place], Place]) -> Place:
        """A function of rows, of the rows (axis 1), the columns (0) or all entries in one
        row (None); a vector is a row whichever the axis."""
        if len(self.shape(line)) < 2 or axis == 1:
            return function(line)
        if axis is None:
            return function(self.reshaped(line, (prod(self.shape(line)),)))
        return self.turned(function(self.turned(line)))

    def reduced(self, operation: str, *operands: Place, **sizes: int) -> Place:
        """One number for each row: a column, of a vector a number."""
        shape = self.shape(operands[0])
        return self.add(operation, operands, (shape[0], 1) if len(shape) == 2 else (), sizes=sizes)

    def joined(self, left: Place, right: Place, axis: int) -> Place:
        """Two lines side by side (axis 1) or below each other (0), where vectors are rows."""
        a, b = self.shape(left), self.shape(right)
        if axis == 0 and a and b:
            a, b = grid(a), grid(b)
            if a[1] == b[1]:
                return self.add("below", (left, right), (a[0] + b[0], a[1]))
        elif a and b and a[:-1] == b[:-1]:
            return self.add("concat", (left, right), (*a[:-1], a[-1] + b[-1]))
        raise Malformed(f"concat can't join {worded(a)} and {worded(b)}")

    def product(self, a: Place, b: Place, turned: bool) -> Place:
        """``A @ B``, or ``A @ B.T``; scores, row against row, with a transpose or a vector."""
        left, right = self.shape(a), self.shape(b)
        if not left or not right:
            raise Malformed("'@' multiplies matrices and vectors, found a number")
        seen = right[::-1] if turned else right
        if left[-1] != seen[0]:
            raise Malformed(
                f"expected {left[-1]} rows on the right of '@', found {seen[0]}: "
                f"{worded(left)} @ {worded(seen)}"
            )
        shape = left[:-1] + seen[1:]
        if len(right) == 1:
            # The vector is held as a row, and so is the result: v against each row of A.
            return self.add("score", (b, a), shape)
        return self.add("score" if turned else "product", (a, b), shape)

    def selection(self, line: Place, keys: tuple[int | slice, ...]) -> Place:
        """``A[keys]``: whole numbers and slices, as in NumPy."""
        shape = self.shape(line)
        if len(keys) > len(shape):
            raise Malformed(f"expected at most {len(shape)} indices, found {len(keys)}")
        for length, key in zip(shape, keys, strict=False):
            if isinstance(key, int) and not -length <= key < length:
                raise Malformed(f"index {key} is outside {-length} to {length - 1}")
        chosen = np.arange(prod(shape)).reshape(shape)[keys]
        if not chosen.size:
            raise Malformed(f"nothing is selected from {worded(shape)}")
        # Row-major order is kept when a column becomes a vector, which is held as a row.
        rows, columns = chosen.reshape(grid(chosen.shape)).tolist(), self.grid(line)[1]
        picks = tuple(tuple(divmod(place, columns) for place in row) for row in rows)
        return self.add("selection", (line,), chosen.shape, picks=picks)
