"""Lines of a tape: one for each operation, shapes inferred.

Every quantity is held as rows and columns: a number is 1 by 1, a vector one
row. A line also remembers the shape that NumPy would give it.

The functions of the definitions, each for every kind of scalar.

A scalar is a float, a :class:`~symattn.crosscheck.scalars.Tracked` or a complex
vector, whose imaginary parts are what its components move by.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial, reduce
from math import prod
from typing import Any

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
    longest = max(map(len, shapes))
    padded = [(1,) * (longest - len(shape)) + shape for shape in shapes]
    lengths = [set(axis) - {1} for axis in zip(*padded, strict=True)]
    if any(len(axis) > 1 for axis in lengths):
        raise Malformed(f"shapes don't fit: {' and '.join(map(worded, shapes))}")
    return tuple(max(axis, default=1) for axis in lengths)


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
        axes: list[range] = []
        left: list[int] = []
        for length, key in zip(shape, (*keys, *(slice(None),) * 2), strict=False):
            if isinstance(key, int):
                if not -length <= key < length:
                    raise Malformed(f"index {key} is outside {-length} to {length - 1}")
                axes.append(range(key % length, key % length + 1))
            else:
                axes.append(range(length)[key])
                left.append(len(axes[-1]))
        if not all(axes):
            raise Malformed(f"nothing is selected from {worded(shape)}")
        rows = axes[0] if len(axes) == 2 else range(1)
        flat = [(i, j) for i in rows for j in axes[-1]]
        # Row-major order is kept when a column becomes a vector, which is held as a row.
        height, width = grid(tuple(left))
        picks = tuple(tuple(flat[i * width : (i + 1) * width]) for i in range(height))
        return self.add("selection", (line,), tuple(left), picks=picks)


Function = Callable[[Any], Any]


def _smooth(name: str) -> Function:
    """A function that all kinds of scalar have by that name."""
    of_floats, of_vectors = getattr(math, name), getattr(np, name)

    def function(x: Any) -> Any:
        if isinstance(x, Tracked):
            return getattr(x, name)()
        return of_vectors(x) if isinstance(x, np.ndarray) else of_floats(x)

    return function


exp, log, tanh, sin, cos = map(_smooth, ("exp", "log", "tanh", "sin", "cos"))


def ln(x: Any) -> Any:
    """The natural logarithm of a weight, by which it is multiplied: 0 ln 0 is 0, and has no
    slope there.

    >>> 0.0 * ln(0.0), (Tracked(0.0) * ln(Tracked(0.0))).error
    (0.0, 0.0)
    """
    if isinstance(x, Tracked):
        return x.log_of_weight()
    if isinstance(x, np.ndarray):
        return np.log(np.where(x == 0, 1, _sloped(x)))
    return math.log(x) if x else 0.0


def sqrt(x: Any) -> Any:
    """The square root, which has no slope at 0.

    >>> sqrt(4.0), sqrt(Tracked(4.0)).value
    (2.0, 2.0)
    """
    if isinstance(x, Tracked):
        return x.sqrt()
    return np.sqrt(_sloped(x)) if isinstance(x, np.ndarray) else math.sqrt(x)


def erf(x: Any) -> Any:
    """The error function.

    Of a complex vector it is the value and the slope times what moves: NumPy has no
    complex one, and the square of a complex step is far below the last place.

    >>> erf(0.0), erf(Tracked(0.0)).value
    (0.0, 0.0)
    """
    if isinstance(x, Tracked):
        return x.erf()
    if isinstance(x, np.ndarray):
        place = _place(x)
        slope = 2.0 / math.sqrt(math.pi) * math.exp(-place * place)
        return _moving(math.erf(place), slope * x.imag)
    return math.erf(x)


def sign(x: Any) -> Any:
    """-1, 0 or 1, which doesn't move.

    >>> sign(-3.0), sign(Tracked(0.0)).value
    (-1.0, 0.0)
    """
    if isinstance(x, Tracked):
        return x.sign()
    place = _place(x)
    return math.nan if math.isnan(place) else float((place > 0) - (place < 0))


def magnitude(x: Any) -> Any:
    """The absolute value.

    >>> magnitude(-3.0), magnitude(Tracked(-3.0)).value
    (3.0, 3.0)
    """
    return abs(x) if isinstance(x, Tracked) else _further(x, -x, 1)


def _place(x: Any) -> Any:
    """Return where a number or a complex vector is, however it moves; components that have met
    a kink know nothing any more."""
    if not isinstance(x, np.ndarray):
        return x
    return float(x.real[int(np.argmin(np.isnan(x.real)))])


def _sloped(x: Any) -> Any:
    """A complex vector for a function that has no slope at 0: what moves from there would get
    a real part."""
    return np.where((x.real == 0) & (x.imag != 0), math.nan, x)


def _moving(place: float, moves: Any) -> Any:
    """The complex vector at a place, with what its components move by."""
    vector = np.full(len(moves), complex(place))
    vector.imag = moves
    return vector


def _further(x: Any, y: Any, way: int) -> Any:
    """The one of two that lies further on the way, up (1) or down (-1); where both are
    the same and move apart there is no slope."""
    if isinstance(x, Tracked):
        return x.extreme(y, way)
    if isinstance(y, Tracked):
        return y.extreme(x, way)
    left, right = way * _place(x), way * _place(y)
    if left != right:
        return x if left > right or math.isnan(left) else y
    moves = [item.imag if isinstance(item, np.ndarray) else 0.0 for item in (x, y)]
    together = moves[0] == moves[1]
    return x if np.all(together) else _moving(_place(x), np.where(together, moves[0], math.nan))


def _extreme(*numbers: Any, way: int) -> Any:
    row = numbers[0] if len(numbers) == 1 else numbers
    return reduce(partial(_further, way=way), row)


#: The greatest and the least of some numbers, or of a row of them.
greatest, least = partial(_extreme, way=1), partial(_extreme, way=-1)
