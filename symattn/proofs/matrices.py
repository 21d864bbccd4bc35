"""Arrays, and the matrix forms that index formulas fold back to.

A matrix expression can be printed, read entry by entry as an index expression
(so that its equality with the index form is checked, not merely stated), and
evaluated with NumPy.

A vector is a column. An axis that is ``None`` has length one: in ``*``, ``+``
and ``-`` it is repeated, as the column ``rowsum(..)`` is in
``dA - rowsum(A * dA)``.

>>> from symattn.proofs.language import Size, indices
>>> from symattn.proofs.printing import text
>>> n, d = Size("n"), Size("d")
>>> Q, K = Array("Q", (n, d)), Array("K", (n, d))
>>> i, j = indices("i j", n)
>>> text(Q @ K.T), text((Q @ K.T).entry(i, j))
('Q Kᵀ', 'Σ_r Q_ir K_jr')
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symattn.errors import Malformed
from symattn.proofs import language as scalar
from symattn.proofs.language import Expr, Index, Position, Scalar, Size

Axis: TypeAlias = Size | None
Values: TypeAlias = Mapping[str, Any]
"""Arrays (of NumPy) and sizes (numbers) by name."""
Kind = Literal["number", "binary", "positive", "random"]


class Matrix:
    """Something with rows and columns; ``@``, ``*`` (entrywise), ``+ - .T`` build larger ones."""

    __slots__ = ()

    def __matmul__(self, other: Matrix) -> Matrix:
        return Product(self, other)

    def __mul__(self, other: Matrix) -> Matrix:
        return Entrywise(self, other)

    def __rmul__(self, by: Scalar) -> Matrix:
        return Scaled(scalar.expression(by), self)

    def __add__(self, other: Matrix) -> Matrix:
        return Plus(self, other)

    def __sub__(self, other: Matrix) -> Matrix:
        return Minus(self, other)

    @property
    def T(self) -> Matrix:
        """The transpose."""
        return Transpose(self)

    @property
    def shape(self) -> tuple[Axis, Axis]:
        """The sizes of the two axes."""
        match self:
            case Array(_, axes):
                rows, columns = (*axes, None, None)[:2]
                return rows, columns
            case Product(left, right):
                return left.shape[0], right.shape[1]
            case Pairwise(left, right):
                return left.shape[0] or right.shape[0], left.shape[1] or right.shape[1]
            case Transpose(body):
                return body.shape[1], body.shape[0]
            case Diagonal(body):
                return body.shape[0], body.shape[0]
            case RowSums(body):
                return body.shape[0], None
            case Scaled(_, body) | RowSoftmax(body):
                return body.shape
            case Constant(_, rows, columns):
                return rows, columns
        raise TypeError(f"no shape for {type(self).__name__}")

    def entry(self, row: Position | None, column: Position | None) -> Expr:
        """The entry at a place, as an index expression; None on an axis of length one."""
        match self:
            case Array():
                return self[tuple(place for place in (row, column) if place is not None)]
            case Product(left, right):
                if left.shape[1] is None:
                    return left.entry(row, None) * right.entry(None, column)
                r = Index("r", left.shape[1])
                return scalar.sum_over(r, left.entry(row, r) * right.entry(r, column))
            case Pairwise(left, right):
                found: Expr = self.combine(_met(left, row, column), _met(right, row, column))
                return found
            case Scaled(by, body):
                return by * body.entry(row, column)
            case Transpose(body):
                return body.entry(column, row)
            case Diagonal(body) if row is not None and column is not None:
                return scalar.delta(row, column) * body.entry(row, None)
            case RowSums(body) if body.shape[1] is not None:
                r = Index("r", body.shape[1])
                return scalar.sum_over(r, body.entry(row, r))
            case RowSoftmax(body) if body.shape[1] is not None:
                r = Index("r", body.shape[1])
                normaliser = scalar.sum_over(r, scalar.exp(body.entry(row, r)))
                return scalar.exp(body.entry(row, column)) / normaliser
            case Constant(number):
                return scalar.expression(number)
        raise Malformed(f"{type(self).__name__}: expected a matrix, found a vector")

    def value(self, at: Values) -> NDArray[np.float64]:
        """The matrix at the given values of its arrays and sizes, with NumPy.

        Raises Malformed where a value is missing.
        """
        found: NDArray[np.float64]
        match self:
            case Array(name):
                found = np.asarray(_given(name, at), dtype=float)
                return found[:, None] if found.ndim == 1 else found
            case Product(left, right):
                return left.value(at) @ right.value(at)
            case Pairwise(left, right):
                found = self.combine(left.value(at), right.value(at))
                return found
            case Scaled(by, body):
                return _factor(by, at) * body.value(at)
            case Transpose(body):
                return body.value(at).T
            case Diagonal(body):
                return np.diagflat(body.value(at))
            case RowSums(body):
                found = body.value(at).sum(axis=1, keepdims=True)
                return found
            case RowSoftmax(body):
                powers = np.exp(body.value(at))
                found = powers / powers.sum(axis=1, keepdims=True)
                return found
            case Constant(number):
                ends = (1 if axis is None else int(_given(axis.name, at)) for axis in self.shape)
                return np.full(tuple(ends), float(number))
        raise TypeError(f"no value for {type(self).__name__}")


@dataclass(frozen=True, slots=True, eq=False)
class Array(Matrix):
    """A quantity with an entry for each choice of indices.

    Given (``body`` is None: its entries are unknowns) or defined by ``body`` in
    terms of ``params``. ``kind`` restricts unknowns: ``binary`` 0 or 1,
    ``positive``, ``random`` independent with mean 0 and variance 1.
    """

    name: str
    axes: tuple[Size, ...]
    kind: Kind = "number"
    params: tuple[Index, ...] = ()
    body: Expr | None = None

    def __getitem__(self, at: Position | tuple[Position, ...]) -> scalar.Entry:
        places = at if isinstance(at, tuple) else (at,)
        if len(places) != len(self.axes):
            raise Malformed(f"{self.name}: expected {len(self.axes)} indices, found {len(places)}")
        for place, axis in zip(places, self.axes, strict=True):
            end = scalar.axis_of(place)
            if end is not None and end != axis:
                raise Malformed(
                    f"{self.name}: expected an index up to {axis.name}, found one up to {end.name}"
                )
        return scalar.Entry(self, places)


@dataclass(frozen=True, slots=True, eq=False)
class Product(Matrix):
    """The matrix product."""

    left: Matrix
    right: Matrix

    def __post_init__(self) -> None:
        inner, outer = self.left.shape[1], self.right.shape[0]
        if inner != outer:
            raise Malformed(
                f"matrix product: the left has {_end(inner)} columns, the right {_end(outer)} rows"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Pairwise(Matrix):
    """Two matrices combined entry by entry; an axis of length one is repeated."""

    left: Matrix
    right: Matrix

    def __post_init__(self) -> None:
        for mine, theirs in zip(self.left.shape, self.right.shape, strict=True):
            if mine is not None and theirs is not None and mine != theirs:
                raise Malformed(f"entry by entry: axes of {mine.name} and {theirs.name} entries")

    def combine(self, left: Any, right: Any) -> Any:
        """Two entries, or two NumPy arrays, combined."""
        raise NotImplementedError


class Entrywise(Pairwise):
    """The entrywise (Hadamard) product."""

    __slots__ = ()

    def combine(self, left: Any, right: Any) -> Any:
        """Left * right."""
        return left * right


class Plus(Pairwise):
    """The sum."""

    __slots__ = ()

    def combine(self, left: Any, right: Any) -> Any:
        """Left + right."""
        return left + right


class Minus(Pairwise):
    """The difference."""

    __slots__ = ()

    def combine(self, left: Any, right: Any) -> Any:
        """Left - right."""
        return left - right


@dataclass(frozen=True, slots=True, eq=False)
class Scaled(Matrix):
    """A scalar times a matrix."""

    by: Expr
    body: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Transpose(Matrix):
    """Rows and columns exchanged."""

    body: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Diagonal(Matrix):
    """The square matrix with a vector on its diagonal, zero elsewhere."""

    body: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class RowSums(Matrix):
    """The column of row sums."""

    body: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class RowSoftmax(Matrix):
    """Softmax of each row."""

    body: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Matrix):
    """A matrix (or column) with the same number everywhere."""

    number: int
    rows: Size
    columns: Axis = None


diag, rowsum, softmax = Diagonal, RowSums, RowSoftmax


def ones(rows: Size) -> Matrix:
    """The column of ones."""
    return Constant(1, rows)


def zeros(rows: Size, columns: Axis = None) -> Matrix:
    """The column or matrix of zeros."""
    return Constant(0, rows, columns)


def _met(side: Matrix, row: Position | None, column: Position | None) -> Expr:
    """The entry of one side of a pair that meets a place; an axis of length one is repeated."""
    rows, columns = side.shape
    return side.entry(row if rows else None, column if columns else None)


def _end(axis: Axis) -> str:
    return "1" if axis is None else axis.name


def _given(name: str, at: Values) -> Any:
    if name not in at:
        raise Malformed(f"values: {name} is missing")
    return at[name]


def _factor(by: Expr, at: Values) -> float:
    """The number that a scalar factor of a matrix form stands for."""
    match by:
        case scalar.Number(value):
            return float(value)
        case scalar.Size(name):
            return float(_given(name, at))
        case scalar.Sqrt(size):
            return math.sqrt(_factor(size, at))
        case scalar.Div(numerator, denominator):
            return _factor(numerator, at) / _factor(denominator, at)
    raise Malformed(f"not a factor of a matrix form: {type(by).__name__}")
