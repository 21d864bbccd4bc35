"""Shapes of quantities, and the grids that hold their entries.

A shape follows NumPy: ``()`` a scalar, ``(n,)`` a vector, ``(n, m)`` a matrix.
Every quantity is held as a grid of rows and columns: a scalar is 1 by 1, a
vector one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

Shape = tuple[int, ...]

T = TypeVar("T")

#: Values in the shape of a quantity: one, a row of them, or rows.
Nested: TypeAlias = T | tuple[T, ...] | tuple[tuple[T, ...], ...]


def grid(shape: Shape) -> tuple[int, int]:
    """Rows and columns that a quantity of that shape is held in.

    >>> grid(()), grid((3,)), grid((2, 3))
    ((1, 1), (1, 3), (2, 3))
    """
    rows, columns = (1, 1, *shape)[-2:]
    return rows, columns


def keys(shape: Shape, i: int, j: int) -> tuple[int, ...]:
    """The indices that entry (i, j) of the grid has in the shape.

    >>> keys((), 0, 0), keys((3,), 0, 2), keys((2, 3), 1, 2)
    ((), (2,), (1, 2))
    """
    return (i, j)[2 - len(shape) :]


def nested(shape: Shape, rows: Sequence[Sequence[T]]) -> Nested[T]:
    """The rows of a grid, nested as the shape has it.

    >>> nested((2,), [[1, 2]]), nested((), [[1]])
    ((1, 2), 1)
    """
    if len(shape) == 2:
        return tuple(map(tuple, rows))
    return tuple(rows[0]) if shape else rows[0][0]


def show(shape: Shape) -> str:
    """A shape as messages print it.

    >>> show((3, 4)), show((4,)), show(())
    ('3x4', 'a vector of 4', 'a scalar')
    """
    if not shape:
        return "a scalar"
    return f"a vector of {shape[0]}" if len(shape) == 1 else f"{shape[0]}x{shape[1]}"
