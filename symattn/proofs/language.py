"""The index language: sums, deltas and derivatives over sizes that stay symbolic.

An expression says what stands on the page and nothing more: no term is moved,
merged or simplified when it is built, so a derivation prints as it was written.
What an expression *means* is fixed by :mod:`symattn.proofs.meaning`, in two
arithmetics: for every size at once (:mod:`symattn.proofs.allsizes`) and at one
size with exact rational functions (:mod:`symattn.proofs.onesize`).

>>> from symattn.proofs.matrices import Array
>>> from symattn.proofs.printing import text
>>> n = Size("n")
>>> i, j = indices("i j", n)
>>> S = Array("S", (n,))
>>> text(exp(S[i]) / sum_over(j, exp(S[j])))
'exp(S_i) / Σ_j exp(S_j)'
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias

from symattn.errors import Malformed

if TYPE_CHECKING:
    from symattn.proofs.matrices import Array

Target = Literal["0", "oo", "-oo"]


class Expr:
    """A scalar expression; ``+ - * / **`` build larger ones, in the order written."""

    __slots__ = ()

    def __add__(self, other: Scalar) -> Expr:
        return Add((*terms(self), expression(other)))

    def __radd__(self, other: Scalar) -> Expr:
        return Add((expression(other), *terms(self)))

    def __sub__(self, other: Scalar) -> Expr:
        return Add((*terms(self), Neg(expression(other))))

    def __rsub__(self, other: Scalar) -> Expr:
        return Add((expression(other), Neg(self)))

    def __mul__(self, other: Scalar) -> Expr:
        if not isinstance(other, Expr | int | Fraction):
            return NotImplemented
        return Mul((*factors(self), expression(other)))

    def __rmul__(self, other: Scalar) -> Expr:
        return Mul((expression(other), *factors(self)))

    def __truediv__(self, other: Scalar) -> Expr:
        return Div(self, expression(other))

    def __rtruediv__(self, other: Scalar) -> Expr:
        return Div(expression(other), self)

    def __pow__(self, exponent: int) -> Expr:
        return Power(self, exponent)

    def __neg__(self) -> Expr:
        return Neg(self)


Scalar: TypeAlias = Expr | int | Fraction


@dataclass(frozen=True, slots=True)
class Number(Expr):
    """An exact rational constant."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Size(Expr):
    """A positive whole number such as n or d_k: the end of a range, or a quantity."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """A variable running from 1 to ``size``; two indices are never the same by name alone."""

    name: str
    size: Size


@dataclass(frozen=True, slots=True, eq=False)
class Image:
    """Where the permutation ``by`` sends ``index``."""

    by: str
    index: Index

    @property
    def size(self) -> Size:
        """The range of the index: a permutation maps it to itself."""
        return self.index.size


Position: TypeAlias = Index | Image | int | Size
"""A place along an axis: an index, its image, a fixed number, or ``Size``: the last one."""


@dataclass(frozen=True, slots=True, eq=False)
class Entry(Expr):
    """One entry of an array, or a scalar (an array without axes)."""

    array: Array
    at: tuple[Position, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Add(Expr):
    """A sum of the terms as written."""

    terms: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Neg(Expr):
    """Minus a term."""

    body: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Mul(Expr):
    """A product of the factors as written."""

    factors: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Div(Expr):
    """A quotient."""

    numerator: Expr
    denominator: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Power(Expr):
    """A whole power."""

    base: Expr
    exponent: int


@dataclass(frozen=True, slots=True, eq=False)
class Sqrt(Expr):
    """The positive root of a size."""

    size: Size


@dataclass(frozen=True, slots=True, eq=False)
class Exp(Expr):
    """The exponential function."""

    body: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Log(Expr):
    """The natural logarithm of a positive quantity."""

    body: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Sum(Expr):
    """The sum of ``body`` over the whole range of ``index``."""

    index: Index
    body: Expr


@dataclass(frozen=True, slots=True, eq=False)
class PairSum(Expr):
    """The sum of ``body`` over all ``first < second``; ``body`` is symmetric in the two."""

    first: Index
    second: Index
    body: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Largest(Expr):
    """The largest value of ``body`` over the range of ``index`` (only counted, not evaluated)."""

    index: Index
    body: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Delta(Expr):
    """Kronecker's delta: 1 where the two places are the same, else 0."""

    first: Position
    second: Position


@dataclass(frozen=True, slots=True, eq=False)
class AtMost(Expr):
    """1 where ``first <= second``, else 0: what a causal mask keeps."""

    first: Position
    second: Position


@dataclass(frozen=True, slots=True, eq=False)
class Partial(Expr):
    """The derivative of ``of`` in ``wrt``.

    ``of`` is read as a function of the array that ``wrt`` belongs to (whether
    given or defined) and of whatever does not depend on that array.
    """

    of: Expr
    wrt: Entry


@dataclass(frozen=True, slots=True, eq=False)
class Limit(Expr):
    """What ``body`` tends to as the scalar ``variable`` tends to ``target``."""

    body: Expr
    variable: Entry
    target: Target


@dataclass(frozen=True, slots=True, eq=False)
class Mean(Expr):
    """The expected value over the ``random`` arrays."""

    body: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Count(Expr):
    """How many operations all entries of defined arrays take, what they use being at hand.

    Each addition, multiplication, division, exponential and comparison is one;
    minus signs and reading an entry are free.
    """

    arrays: tuple[Array, ...]


def expression(value: Scalar) -> Expr:
    """A whole number or fraction as an expression; expressions pass unchanged.

    >>> expression(2)
    Number(value=Fraction(2, 1))
    """
    if isinstance(value, Expr):
        return value
    return Number(Fraction(value))


def terms(value: Expr) -> tuple[Expr, ...]:
    """The terms of a sum; anything else is its own single term."""
    return value.terms if isinstance(value, Add) else (value,)


def factors(value: Expr) -> tuple[Expr, ...]:
    """The factors of a product; anything else is its own single factor."""
    return value.factors if isinstance(value, Mul) else (value,)


def indices(names: str, size: Size) -> tuple[Index, ...]:
    """Fresh indices running from 1 to ``size``.

    >>> [index.name for index in indices("i j k", Size("n"))]
    ['i', 'j', 'k']
    """
    return tuple(Index(name, size) for name in names.split())


def exp(body: Scalar) -> Expr:
    """The exponential function."""
    return Exp(expression(body))


def log(body: Scalar) -> Expr:
    """The natural logarithm."""
    return Log(expression(body))


def sum_over(index: Index, *rest: Index | Expr) -> Expr:
    """The sum over one or more indices: ``sum_over(i, j, body)``."""
    *more, body = rest
    if not isinstance(body, Expr):
        raise Malformed("sum_over: expected an expression after the indices")
    for inner in reversed(more):
        if not isinstance(inner, Index):
            raise Malformed("sum_over: expected indices before the expression")
        body = Sum(inner, body)
    return Sum(index, body)


def delta(first: Position, second: Position) -> Expr:
    """Kronecker's delta of two places on the same axis."""
    _same_axis("delta", first, second)
    return Delta(first, second)


def at_most(first: Position, second: Position) -> Expr:
    """1 where ``first <= second``, else 0; a last place needs both on the same axis."""
    if isinstance(first, Size) or isinstance(second, Size):
        _same_axis("at_most", first, second)
    return AtMost(first, second)


def axis_of(place: Position) -> Size | None:
    """The axis that a place lies on; None for the first place, which every axis has.

    Raises Malformed for another number: at some sizes it lies beyond the end.
    """
    if isinstance(place, int):
        if place != 1:
            raise Malformed(f"place {place}: expected 1 or an index, not every axis goes so far")
        return None
    return place.size if isinstance(place, Index | Image) else place


def _same_axis(what: str, first: Position, second: Position) -> None:
    names = sorted({axis.name for axis in map(axis_of, (first, second)) if axis})
    if len(names) > 1:
        raise Malformed(f"{what}: indices up to {' and '.join(names)}, expected one range")


def operations(*arrays: Array) -> Expr:
    """How many operations all entries of defined arrays take together."""
    return Count(arrays)


image, partial, limit, mean = Image, Partial, Limit, Mean
largest, pair_sum, sqrt = Largest, PairSum, Sqrt
