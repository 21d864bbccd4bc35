"""What an index expression is made of: its parts, free indices, arrays and operations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from symattn.proofs import language as term
from symattn.proofs.language import Expr, Index, Position
from symattn.proofs.matrices import Array


class Undecidable(Exception):
    """An arithmetic can't give an expression a value, or can't decide about it."""


@lru_cache(maxsize=4096)
def ancestors(array: Array) -> frozenset[Array]:
    """All arrays that a defined array is computed from."""
    found: set[Array] = set()
    for inner in arrays(array.body) if array.body is not None else frozenset():
        found |= {inner, *ancestors(inner)}
    return frozenset(found)


def arrays(value: Expr) -> frozenset[Array]:
    """The arrays named in an expression (not those behind their definitions)."""
    found: set[Array] = set()
    for part in walk(value):
        if isinstance(part, term.Entry):
            found.add(part.array)
    return frozenset(found)


def walk(value: Expr) -> Iterator[Expr]:
    """The expression and all expressions inside it, outermost first."""
    yield value
    for part in inside(value):
        yield from walk(part)


def inside(value: Expr) -> tuple[Expr, ...]:
    """The expressions that an expression is made of."""
    match value:
        case term.Add(parts) | term.Mul(parts):
            return parts
        case term.Div(first, second) | term.Partial(first, second) | term.Limit(first, second, _):
            return first, second
        case term.Power(body, _) | term.Sum(_, body) | term.PairSum(_, _, body):
            return (body,)
        case term.Largest(_, body):
            return (body,)
        case term.Neg(body) | term.Exp(body) | term.Log(body) | term.Mean(body):
            return (body,)
    return ()


def free_indices(*values: Expr) -> tuple[Index, ...]:
    """The indices that no sum binds, in order of appearance."""
    found: dict[Index, None] = {}
    for value in values:
        _collect(value, frozenset(), found)
    return tuple(found)


def _collect(value: Expr, bound: frozenset[Index], found: dict[Index, None]) -> None:
    places: tuple[Position, ...] = ()
    match value:
        case term.Entry(_, at):
            places = at
        case term.Delta(first, second) | term.AtMost(first, second):
            places = (first, second)
        case term.Sum(index, _) | term.Largest(index, _):
            bound |= {index}
        case term.PairSum(first, second, _):
            bound |= {first, second}
    for place in places:
        name = place.index if isinstance(place, term.Image) else place
        if isinstance(name, Index) and name not in bound:
            found[name] = None
    for part in inside(value):
        _collect(part, bound, found)


def cost(*arrays: Array) -> Expr:
    """The number of operations that all entries of defined arrays take, as an expression."""
    found = term.expression(0)
    for array in arrays:
        if array.body is not None:
            found = found + _over(array.params, _cost(array.body))
    return found


def _over(params: tuple[Index, ...], body: Expr) -> Expr:
    return term.sum_over(*params, body) if params else body


def _cost(value: Expr) -> Expr:
    """The number of operations for one value of an expression."""
    match value:
        case term.Add(parts) | term.Mul(parts):
            found = term.expression(len(parts) - 1)
            for part in parts:
                found = found + _cost(part)
            return found
        case term.Div(numerator, denominator):
            return _cost(numerator) + _cost(denominator) + 1
        case term.Exp(body):
            return _cost(body) + 1
        case term.Neg(body):
            return _cost(body)
        case term.Sum(index, body) | term.Largest(index, body):
            return term.sum_over(index, _cost(body)) + index.size - 1
        case term.Entry() | term.Number() | term.Size() | term.Sqrt():
            return term.expression(0)
    raise Undecidable(f"the operations in {type(value).__name__}")
