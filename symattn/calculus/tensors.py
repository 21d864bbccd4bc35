"""Numbers along axes: what matrix forms stand for, and how they fit together.

An axis of length one is repeated. A vector is a column, and stands for a row
as well where only that fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from symattn import syntax
from symattn.calculus import language as term
from symattn.calculus.language import Array, Axis, AxisPlace, Entry, Expr, Index
from symattn.errors import Malformed
from symattn.syntax import Tree

ALPHABET = "ijklabcdefgh"
"""The indices of what is written without any."""


@dataclass(frozen=True)
class Tensor:
    """A number for every place along some axes; ``letters`` are the indices it depends on."""

    axes: tuple[Axis, ...]
    entry: Callable[[tuple[AxisPlace, ...]], Expr]
    letters: bool = False


def constant(value: Expr) -> Tensor:
    """A number that depends on no place."""
    return Tensor((), lambda _: value)


def position(index: Index) -> Tensor:
    """An index as a number."""
    return Tensor((), lambda _: term.Position(index), True)


def whole(array: Array) -> Tensor:
    """All of an array."""
    return Tensor(array.axes, lambda at: Entry(array, at))


def plus(x: Expr, y: Expr) -> Expr:
    """A sum, longer by a term."""
    left = x.terms if isinstance(x, term.Add) else (x,)
    return term.Add((*left, y))


def times(x: Expr, y: Expr) -> Expr:
    """A product, longer by a factor."""
    left = x.factors if isinstance(x, term.Mul) else (x,)
    return term.Mul((*left, y))


def exp(x: Expr) -> Expr:
    """The exponential of a number."""
    return term.Apply("exp", x)


def before(first: AxisPlace, second: AxisPlace) -> Expr:
    """1 where the first place comes before the second."""
    return term.Add((term.ONE, term.Neg(term.AtMost(second, first))))


def rational(tree: Tree) -> Fraction | None:
    """The rational number that a tree of digits stands for; else None."""
    match tree:
        case syntax.Literal(text):
            return Fraction(text)
        case syntax.Negative(operand):
            inner = rational(operand)
            return None if inner is None else -inner
        case syntax.Binary("/", left, right):
            above, below = rational(left), rational(right)
            return above / below if above is not None and below else None
    return None


def lettered(axes: tuple[Axis, ...]) -> Iterator[tuple[str, Axis]]:
    """Axes with a letter each."""
    if len(axes) > len(ALPHABET):
        raise Malformed(f"more than {len(ALPHABET)} axes")
    return zip(ALPHABET, axes, strict=False)


def matched(axes: tuple[Axis, ...], whole: tuple[Axis, ...]) -> list[int]:
    """Which axis of a larger tensor each axis of a smaller one lies along."""
    if len(axes) == 1 and len(whole) == 2 and whole[0] == axes[0]:
        return [0]
    return [*range(len(whole) - len(axes), len(whole))]


def common(left: tuple[Axis, ...], right: tuple[Axis, ...]) -> tuple[Axis, ...] | None:
    """The axes of both, those of length one repeated; None where they don't fit.

    A vector is a column, and stands for a row as well where only that fits.
    """
    if len(left) < len(right):
        left, right = right, left
    if len(right) == 1 and len(left) == 2:
        rows, columns = left
        (axis,) = right
        if rows == axis:
            return left
        if columns == axis or columns == 1 == rows:
            return (rows, axis)
        return None
    lead = len(left) - len(right)
    axes = [*left[:lead]]
    for length, other in zip(left[lead:], right, strict=True):
        if length != other and 1 not in (length, other):
            return None
        axes.append(other if length == 1 else length)
    return tuple(axes)


def described(axes: tuple[Axis, ...]) -> str:
    """What has such axes, in words."""
    match axes:
        case ():
            return "a number"
        case (axis,):
            return f"a vector of {axis}"
    return f"an array of {' x '.join(map(str, axes))}"


def misplaced(name: str, axes: int, places: int) -> str:
    """What is wrong where an array has another number of axes than places."""
    return f"{name} has {axes} {'axis' if axes == 1 else 'axes'}, found {places} in brackets"
