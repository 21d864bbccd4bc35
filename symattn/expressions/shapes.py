"""Shapes of quantities, and the grids that hold their entries.

A shape follows NumPy: ``()`` a scalar, ``(n,)`` a vector, ``(n, m)`` a matrix; axes
before these are batches and heads. Every quantity is held as a grid of rows and
columns: a scalar is 1 by 1, a vector one row, matrices along leading axes lie one below
the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, TypeAlias, TypeVar

from symattn.errors import OutOfRange

Shape = tuple[int, ...]

T = TypeVar("T")

#: Values in the shape of a quantity: one, a row of them, rows, or rows along more axes.
Nested: TypeAlias = T | tuple[T, ...] | tuple[tuple[T, ...], ...]


def grid(shape: Shape) -> tuple[int, int]:
    """Rows and columns that a quantity of that shape is held in.

    >>> grid(()), grid((3,)), grid((2, 3)), grid((4, 2, 3))
    ((1, 1), (1, 3), (2, 3), (8, 3))
    """
    return prod(shape[:-1]), prod(shape[-1:])


def keys(shape: Shape, i: int, j: int, first: int = 0) -> tuple[int, ...]:
    """The indices that entry (i, j) of the grid has in the shape, counted from ``first``.

    >>> keys((), 0, 0), keys((3,), 0, 2), keys((2, 3), 1, 2), keys((4, 2, 3), 5, 2)
    ((), (2,), (1, 2), (2, 1, 2))
    """
    if not shape:
        return ()
    indices = [j]
    for length in reversed(shape[:-1]):
        i, k = divmod(i, length)
        indices.append(k)
    return tuple(index + first for index in reversed(indices))


def chosen(shape: Shape, keys: Sequence[int | slice]) -> tuple[Shape, tuple[range, ...]]:
    """Return what indices choose, as in NumPy: its shape, and its places along each axis, two
    at least, those of the grid. Raises :class:`OutOfRange`.

    >>> chosen((2, 3), (1, slice(1, None)))
    ((2,), (range(1, 2), range(1, 3)))
    """
    if len(keys) > len(shape):
        raise OutOfRange(f"{len(keys)} indices into {show(shape)}")
    left: list[int] = []
    axes: list[range] = [range(1)] * (2 - len(shape))
    for axis, length in enumerate(shape):
        key = keys[axis] if axis < len(keys) else slice(None)
        if isinstance(key, slice):
            axes.append(range(length)[key])
            left.append(len(axes[-1]))
            if not left[-1]:
                raise OutOfRange(f"an empty slice of axis {axis} of {show(shape)}")
        elif -length <= key < length:
            axes.append(range(key % length, key % length + 1))
        else:
            raise OutOfRange(
                f"index {key} is outside axis {axis} of {show(shape)}: "
                f"expected {-length} to {length - 1}"
            )
    return tuple(left), tuple(axes)


def rows_at(shape: Shape, places: Sequence[range]) -> list[int]:
    """The rows of the grid at chosen places along the axes, the last one left out.

    >>> rows_at((4, 2, 3), (range(1, 3), range(1, 2), range(3)))
    [3, 5]
    """
    rows = [0]
    for length, axis in zip((1, 1, *shape)[-len(places) : -1], places[:-1], strict=True):
        rows = [row * length + k for row in rows for k in axis]
    return rows


def keys_text(shape: Shape, places: Sequence[range]) -> tuple[str, ...]:
    """Chosen places along the axes as indices: a number, or ``start:stop:step``, ``:`` for all.

    >>> keys_text((2, 3), (range(1, 2), range(2, -1, -1))), keys_text((2, 3), (range(1), range(3)))
    (('1', '2::-1'), ('0', ':'))
    """
    axes = places[len(places) - len(shape) :]
    return tuple(_span(axis, length) for axis, length in zip(axes, shape, strict=True))


def _span(places: range, length: int) -> str:
    if len(places) == 1:
        return str(places.start)
    if places == range(length):
        return ":"
    step = f":{places.step}" if places.step != 1 else ""
    # Down to the first entry there is no number to stop at: -1 is the last one.
    stop = "" if places.stop < 0 else places.stop
    return f"{places.start}:{stop}{step}"


def nested(shape: Shape, rows: Sequence[Sequence[T]]) -> Nested[T]:
    """The rows of a grid, nested as the shape has it.

    >>> nested((2,), [[1, 2]]), nested((), [[1]])
    ((1, 2), 1)
    """
    if not shape:
        return rows[0][0]
    parts: list[Any] = [*map(tuple, rows)]
    for length in reversed(shape[:-1]):
        parts = [tuple(parts[k : k + length]) for k in range(0, len(parts), length)]
    result: Nested[T] = parts[0]
    return result


def rows_of(values: Nested[T]) -> tuple[tuple[T, ...], ...]:
    """Nested values by the rows of their grid; each may be a tuple of names, but no plain one.

    >>> rows_of((1, 2)), rows_of(1)
    (((1, 2),), ((1,),))
    """
    rows: Any = values if type(values) is tuple else ((values,),)
    return rows if type(rows[0]) is tuple else (rows,)


def show(shape: Shape) -> str:
    """A shape as messages print it.

    >>> show((3, 4)), show((4,)), show(())
    ('3x4', 'a vector of 4', 'a scalar')
    """
    if not shape:
        return "a scalar"
    return f"a vector of {shape[0]}" if len(shape) == 1 else "x".join(map(str, shape))
