"""Shapes of quantities, the lengths of their axes, and the grids that hold their entries.

A shape follows NumPy: ``()`` a scalar, ``(n,)`` a vector, ``(n, m)`` a matrix; axes before these
are batches and heads. Every quantity is held as a grid of rows and columns: a scalar is 1 by 1, a
vector one row, matrices along leading axes lie one below the other.

A length may be any, known by a letter: a program whose axes have such lengths says what it computes
for any size. Letters are added and multiplied, and stand wherever a length does, typed as an
``int``; what would count places one by one, ``range(n)``, is refused with what to write instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import total_ordering
from math import prod
from typing import Any, NoReturn, TypeAlias, TypeVar, cast

from symattn.errors import Malformed, OutOfRange
from symattn.expressions import syntax
from symattn.expressions.syntax import Binary, Literal, Name, Slice, Tree

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
            axes.append(every(length) if key == slice(None) else range(length)[key])
            left.append(how_many(axes[-1]))
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


def keys_of(shape: Shape, places: Sequence[range]) -> tuple[Tree, ...]:
    """Chosen places along the axes as indices: a number, or ``start:stop:step``, ``:`` for all.

    >>> [syntax.text(key) for key in keys_of((2, 3), (range(1, 2), range(2, -1, -1)))]
    ['1', '2::-1']
    >>> [syntax.text(key) for key in keys_of((2, 3), (range(1), range(3)))]
    ['0', ':']
    """
    axes = places[len(places) - len(shape) :]
    return tuple(_span(axis, length) for axis, length in zip(axes, shape, strict=True))


def _span(places: range, length: int) -> Tree:
    if len(places) == 1:
        return Literal(str(places.start))
    if places == range(length):
        return Slice(None, None, None)
    step = places.step if places.step != 1 else None
    # Down to the first entry there is no number to stop at: -1 is the last one.
    return Slice(places.start, None if places.stop < 0 else places.stop, step)


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
    if len(shape) == 1:
        return f"a vector of {shape[0]}"
    return (" x " if any(map(is_any, shape)) else "x").join(map(str, shape))


# -- lengths that may be any -----------------------------------------------------------------


class Uncounted(Malformed):
    """Places are to be told apart along an axis that may have any number of them."""


def _binary(sign: str, x: Letter, y: object, turned: bool = False) -> Letter:
    if not isinstance(y, int | Letter):
        refused: Letter = NotImplemented
        return refused
    other = tree_of(cast("int", y))
    return Letter(Binary(sign, other, x.tree) if turned else Binary(sign, x.tree, other))


@total_ordering
@dataclass(frozen=True, slots=True)
class Letter:
    """A whole number above 0 that may be any, as ``tree`` writes it.

    >>> n = any_length("n")
    >>> str(n * n - 1), n == any_length("n"), n > 100
    ('n * n - 1', True, True)
    >>> range(n)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    symattn.expressions.shapes.Uncounted: the places of an axis of n are not told apart ...
    """

    tree: Tree

    def __str__(self) -> str:
        return syntax.text(self.tree)

    @property
    def name(self) -> str:
        """The letter. Raises :class:`Uncounted` for what is made of letters."""
        return self.tree.name if isinstance(self.tree, Name) else self._refused()

    def __add__(self, other: object) -> Letter:
        return self if other == 0 else _binary("+", self, other)

    def __radd__(self, other: object) -> Letter:
        return self if other == 0 else _binary("+", self, other, turned=True)

    def __sub__(self, other: object) -> Letter:
        return self if other == 0 else _binary("-", self, other)

    def __rsub__(self, other: object) -> Letter:
        return _binary("-", self, other, turned=True)

    def __mul__(self, other: object) -> Letter:
        return self if other == 1 else _binary("*", self, other)

    def __rmul__(self, other: object) -> Letter:
        return self if other == 1 else _binary("*", self, other, turned=True)

    def __gt__(self, other: object) -> bool:
        """Return whether it is more than a number, which it is: no letter is short."""
        return self != other

    def _refused(self, *_: object) -> NoReturn:
        raise Uncounted(
            f"the places of an axis of {self} are not told apart for any {self}: give that axis a"
            " number as its length, or heads and pairs an axis of their own, as in"
            " 'Q: n x h x d' and Q[:, a, :]"
        )

    __index__ = __mod__ = __floordiv__ = _refused


@dataclass(frozen=True, slots=True)
class AllPlaces:
    """All places along an axis of any length, in order."""

    length: Letter
    start: int = 0
    step: int = 1


def any_length(name: str) -> int:
    """Return a length that may be any, by its letter."""
    return cast("int", Letter(Name(name)))


def is_any(length: object) -> bool:
    """Return whether a length, or a number of entries, may be any."""
    return isinstance(length, Letter)


def tree_of(number: int) -> Tree:
    """Return a number as it is written."""
    return number.tree if isinstance(number, Letter) else Literal(str(number))


def every(length: int) -> range:
    """Return all places along an axis.

    >>> every(3), how_many(every(3)), str(how_many(every(any_length("n"))))
    (range(0, 3), 3, 'n')
    """
    return cast("range", AllPlaces(length)) if isinstance(length, Letter) else range(length)


def how_many(places: range) -> int:
    """Return how many places there are."""
    some: Any = places
    return cast("int", some.length) if isinstance(some, AllPlaces) else len(places)
