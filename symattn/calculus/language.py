"""The language of lines of a derivation, entry by entry: sums, deltas and derivatives over sizes
that stay symbolic.

An expression is what stands in the file and nothing more: no term is moved, merged or simplified
when it is made. What it means is fixed twice, by modules that share no code: for all sizes at once
(:mod:`symattn.calculus.kernel`), and in numbers (:mod:`symattn.calculus.sampling`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from fractions import Fraction
from itertools import chain, count
from typing import Literal

from symattn.errors import Malformed
from symattn.expressions.elementary import ELEMENTARY
from symattn.expressions.trees import Walk

Axis = str | int
"""The length of an axis: the name of a size, or a number."""


class Expr:
    """A number that depends on indices; made by :mod:`symattn.calculus.line_reading`."""

    __slots__ = ()


class _Numbered:
    """Something that is only like itself, hashed by when it was made: sets of such are walked in
    the same order in every run, wherever they lie in memory."""

    __slots__ = ()
    number: int

    def __hash__(self) -> int:
        return self.number


_made = count()


def number_anew() -> None:
    """Count what is made from 0 again, for a derivation that knows nothing of others."""
    global _made
    _made = count()


def _next() -> int:
    return next(_made)


@dataclass(slots=True, eq=False)
class Index(_Numbered):
    """A variable running from 1 to ``size``; two are never the same by name alone."""

    name: str
    size: Axis = ""
    """Known when the line has been read to its end."""
    number: int = field(default_factory=_next, repr=False)


@dataclass(frozen=True, slots=True)
class AxisPlace:
    """A place along an axis: ``offset`` after an index, or after 0, or after the
    size named ``size``; then where the permutations ``images`` send that, in turn."""

    index: Index | None = None
    size: str = ""
    offset: int = 0
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Array(_Numbered):
    """An array that is given, or defined: its entry at ``params`` is ``body``.

    ``of`` names the array of which a loss is any differentiable function.
    """

    name: str
    axes: tuple[Axis, ...]
    params: tuple[Index, ...] = ()
    body: Expr | None = None
    of: Array | None = None
    uses: frozenset[Array] = field(default=frozenset())
    """All arrays that it is computed from."""
    along: tuple[str, ...] = ()
    """Of vectors that meet matrices in it, along which axis they were read."""
    number: int = field(default_factory=_next, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Number(Expr):
    """An exact constant."""

    value: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Expr):
    """The number pi."""

    name: Literal["pi"]


@dataclass(frozen=True, slots=True, eq=False)
class Size(Expr):
    """A size as a number: of that name, or how far an index runs."""

    of: str | Index


@dataclass(frozen=True, slots=True, eq=False)
class Position(Expr):
    """An index as a number: 1 at the first entry."""

    index: Index


@dataclass(frozen=True, slots=True, eq=False)
class Entry(Expr):
    """One entry of an array, or a number (an array without axes)."""

    array: Array
    at: tuple[AxisPlace, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Add(Expr):
    """A sum of terms."""

    terms: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Neg(Expr):
    """Minus a term."""

    body: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Mul(Expr):
    """A product of factors."""

    factors: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Div(Expr):
    """A quotient."""

    above: Expr
    below: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Power(Expr):
    """A power with a rational exponent."""

    base: Expr
    exponent: Fraction


PRIMITIVE = tuple(name for name in ELEMENTARY if name not in ("sqrt", "tanh"))
"""Elementary functions that are no powers, and not written with others."""


@dataclass(frozen=True, slots=True, eq=False)
class Apply(Expr):
    """A function of one number; ``positive`` is 1 where its argument is above 0, else 0."""

    function: str
    body: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Sum(Expr):
    """The sum of ``body`` over the whole range of ``index``."""

    index: Index
    body: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Delta(Expr):
    """Kronecker's delta: 1 where two places of one axis are the same, else 0."""

    first: AxisPlace
    second: AxisPlace


@dataclass(frozen=True, slots=True, eq=False)
class AtMost(Expr):
    """1 where the first of two places is not after the second, else 0."""

    first: AxisPlace
    second: AxisPlace


@dataclass(frozen=True, slots=True, eq=False)
class Partial(Expr):
    """The derivative of ``of`` in an entry of ``array``, given or defined.

    ``of`` is read as a function of that array and of whatever does not depend on it.
    """

    of: Expr
    array: Array
    at: tuple[AxisPlace, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Limit(Expr):
    """The limit of ``body`` as the number ``variable`` tends to ``target``: at a number from both
    sides where it has a meaning on both (``oo`` is infinity)."""

    body: Expr
    variable: Array
    target: Fraction | Literal["oo", "-oo"]


@dataclass(frozen=True, slots=True, eq=False)
class Expectation(Expr):
    """The expected value over the random arrays: their entries are independent,
    with mean 0 and variance 1."""

    body: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Operations(Expr):
    """The number of operations that all entries of defined arrays take, what they use being at
    hand.

    Each addition, multiplication, division, power, function and comparison is
    one; minus signs and reading an entry are free.
    """

    arrays: tuple[Array, ...]


@dataclass(frozen=True)
class ParsedLine:
    """The sides of ``a == b == ...`` at the same free indices; of a hypothesis such as
    ``x > 0`` the one that is larger comes first; of vectors that meet matrices, along which axis
    they were read."""

    sides: tuple[Expr, ...]
    free: tuple[Index, ...]
    relation: str = "=="
    along: tuple[str, ...] = ()


ZERO, ONE = Number(Fraction(0)), Number(Fraction(1))


def length(size: Size) -> Axis:
    """The axis whose length a size is."""
    return size.of.size if isinstance(size.of, Index) else size.of


_walk: Walk[Expr] = Walk()
inside = _walk.parts


def walk(*values: Expr) -> Iterator[Expr]:
    """Expressions and all that they are made of, each before its parts."""
    return chain.from_iterable(map(_walk.walk, values))


def mapped(
    value: Expr, change: Callable[[Expr], Expr], at: Callable[[AxisPlace], AxisPlace]
) -> Expr:
    """An expression with the expressions and places that it is made of changed."""

    def changed(part: object) -> object:
        match part:
            case Expr():
                return change(part)
            case AxisPlace():
                return at(part)
            case tuple():
                return tuple(map(changed, part))
        return part

    parts = {part.name: changed(getattr(value, part.name)) for part in fields(value)}  # type: ignore[arg-type]
    return type(value)(**parts)


def replaced(value: Expr, by: dict[Index, AxisPlace]) -> Expr:
    """An expression with indices replaced by places.

    Raises :class:`Malformed` where an entry lies behind one that a permutation gives.
    """

    def at(part: AxisPlace) -> AxisPlace:
        if part.index not in by:
            return part
        other = by[part.index]
        if other.images and part.offset:
            raise Malformed("nothing can be added to where a permutation sends an index")
        return AxisPlace(
            other.index, other.size, other.offset + part.offset, other.images + part.images
        )

    match value:
        case Position(index) if index in by:
            return _counted(by[index], index.size)
        case Delta() | AtMost():
            for place in places(value):
                if place.offset and place.index in by and by[place.index].images:
                    each = Index("r", place.index.size)
                    own = replaced(value, {**by, place.index: AxisPlace(each)})
                    return Sum(each, Mul((Delta(AxisPlace(each), by[place.index]), own)))
    return mapped(value, lambda part: replaced(part, by), at)


def _counted(at: AxisPlace, axis: Axis) -> Expr:
    """A place along an axis as a number, 1 at the first entry."""
    if at.images:
        each = Index("r", axis)
        own = AxisPlace(each)
        return Sum(each, Mul((Position(each), Delta(own, at))))
    parts: list[Expr] = [Position(at.index)] if at.index else []
    parts += [Size(at.size)] if at.size else []
    if at.offset or not parts:
        parts.append(Number(Fraction(at.offset)))
    return Add(tuple(parts)) if len(parts) > 1 else parts[0]


def places(value: Expr) -> tuple[AxisPlace, ...]:
    """The places that stand in an expression itself, not in what it is made of."""
    match value:
        case Entry(_, at) | Partial(_, _, at):
            return at
        case Delta(first, second) | AtMost(first, second):
            return first, second
    return ()


def indices(value: Expr) -> frozenset[Index]:
    """The indices that an expression depends on."""
    used: set[Index] = set()
    bound: set[Index] = set()
    for part in walk(value):
        match part:
            case Sum(index, _):
                bound.add(index)
            case Position(index):
                used.add(index)
        used |= {place.index for place in places(part) if place.index is not None}
    return frozenset(used - bound)


def named(value: Expr) -> tuple[Array, ...]:
    """The arrays that stand in an expression itself, not in what it is made of."""
    match value:
        case Entry(array, _) | Partial(_, array, _) | Limit(_, array, _):
            return (array,)
        case Operations(counted):
            return counted
    return ()


def arrays(*values: Expr) -> frozenset[Array]:
    """The arrays named in expressions, and all that they are computed from."""
    every = {array for part in walk(*values) for array in named(part)}
    return frozenset(every).union(*(array.uses for array in every))
