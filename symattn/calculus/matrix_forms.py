"""Matrix forms: products, transposes, sums of rows and columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from symattn.calculus import language as term
from symattn.calculus.language import Array, Axis, AxisPlace, Expr, Index
from symattn.calculus.tensors import (
    Indices,
    Tensor,
    common,
    described,
    kept,
    lettered,
    matched,
    times,
    whole,
)
from symattn.calculus.writing import text
from symattn.errors import Malformed


def told_apart(axis: int, place: AxisPlace, value: Callable[[int], Expr]) -> Expr:
    """Return what stands at a place along an axis, by the number of the place, 0 at the first."""
    if (place.index or place.size or place.images) and place.offset:
        raise Malformed("a place beside an index or an end, of a part, may be none: name the part")
    if axis == 1:
        return value(0)
    if not (place.index or place.size or place.images):
        return value(place.offset - 1)
    return term.Add(
        tuple(term.Mul((term.Delta(place, AxisPlace(offset=p + 1)), value(p))) for p in range(axis))
    )


class Forms(Indices):
    """Reads matrix forms as entries at indices of their own."""

    def pairwise(
        self, left: Tensor, right: Tensor, combine: Callable[[Expr, Expr], Expr], what: str
    ) -> Tensor:
        """Two tensors combined entry by entry; axes of length one are repeated."""
        axes = common(left.axes, right.axes)
        for row, other in ((left, right), (right, left)):
            is_column = other.axes[:1] != (1,) and other.axes[1:] in ((), (1,))
            if row.is_row and other.axes and is_column:
                raise Malformed(
                    f"{what}: a row, the transpose of a vector, and a column don't fit entry by"
                    " entry: write '.T' at both or none; the matrix product is '@'"
                )
        if axes is None:
            raise Malformed(
                f"{what}: {described(left.axes)} and {described(right.axes)} "
                "don't fit entry by entry"
            )
        for vector, other in ((left, right), (right, left)):
            if len(vector.axes) == 1 and len(axes) == 2 and 1 not in axes:
                self._lay_along(vector, other, what)
        x, y = (side.repeated(axes, matched(side.axes, axes)) for side in (left, right))
        return Tensor(
            axes,
            lambda at: combine(x.entry(at), y.entry(at)),
            kept(x, y),
            (left.is_row or right.is_row) and axes[0] == 1,
        )

    def _lay_along(self, vector: Tensor, matrix: Tensor, what: str) -> None:
        """Say along which axis of a matrix a vector lies; where it may be either, to say so is
        left to the writer."""
        at = [AxisPlace(Index(letter, axis)) for letter, axis in lettered(matrix.axes)]
        entries = [vector.entry((place,)) for place in at]
        if at[0].index not in term.indices(entries[0]):
            return
        whole = text(matrix.entry(tuple(at)))
        column, row = map(text, entries)
        if matrix.axes[0] == matrix.axes[1]:
            raise Malformed(
                f"{what}: {described(vector.axes)} fits the rows and the columns of"
                f" {described(matrix.axes)}: write it by entries, {whole} with {row} for the same"
                f" in every row, or with {column} for the same in every column"
            )
        side, entry = ("column", column) if vector.axes[0] == matrix.axes[0] else ("row", row)
        self.laid.append(f"`{entry}` beside `{whole}`, the same in every {side}")

    def product(self, left: Tensor, right: Tensor) -> Tensor:
        """The matrix product."""
        a, b = left.axes, right.axes
        if not a or not b:
            raise Malformed("'@' is the matrix product; for a number write '*'")
        column = len(b) == 2 and b[0] == 1 and len(a) == 1
        inner, other = (1, 1) if column else (a[-1], b[-2] if len(b) > 1 else b[0])
        if inner != other:
            raise Malformed(
                f"'@': {described(a)} and {described(b)} don't fit, "
                f"{inner} columns meet {other} rows"
            )
        front = a if column else a[:-1]
        batch = b[:-2]
        if batch and batch != front[: len(batch)]:
            raise Malformed(f"'@': {described(a)} and {described(b)} don't fit")
        tail = (b[-1],) if len(b) > 1 else ()
        axes = (*front, *tail)
        ahead = len(front)

        def entry(at: tuple[AxisPlace, ...]) -> Expr:
            index = Index("r", inner)
            via = AxisPlace(index) if inner != 1 else AxisPlace(offset=1)
            mine = at[:ahead] if column else (*at[:ahead], via)
            theirs = (*at[: len(batch)], via, *at[ahead:])
            body = times(left.entry(mine), right.entry(theirs))
            return body if inner == 1 else term.Sum(index, body)

        tensor = self.once("product", Tensor(axes, entry))
        if axes == (1,):
            return Tensor((), lambda _: tensor.entry((AxisPlace(offset=1),)))
        return replace(tensor, is_row=left.is_row and axes[0] == 1)

    def transposed(self, tensor: Tensor) -> Tensor:
        """Rows and columns exchanged."""
        match tensor.axes:
            case ():
                return tensor
            case (axis,):
                return tensor.moved((1, axis), lambda at: at[1:])
            case (rows, columns):
                return tensor.moved((columns, rows), lambda at: at[::-1])
        raise Malformed(
            "'.T' is the transpose of a matrix; here are three axes: write it by entries"
        )

    def reduced(self, name: str, tensor: Tensor) -> Tensor:
        """The expectation, the trace, and what is left on and below the diagonal."""
        axes, entry = tensor.axes, tensor.entry
        if name == "expect":
            if not self.scope.is_random:
                raise Malformed(
                    "expect: nothing is random here; a file in TOML says what is, random = [...]"
                )
            return Tensor(axes, lambda at: term.Expectation(entry(at)))
        if name == "trace" and len(axes) == 2 and axes[0] == axes[1]:
            index = Index("r", axes[0])
            return Tensor((), lambda _: term.Sum(index, entry((AxisPlace(index),) * 2)))
        if name == "tril" and len(axes) == 2:
            self.comparable(axes)
            return Tensor(axes, lambda at: times(self.ordered(at, axes), entry(at)))
        raise Malformed(f"{name}: found {described(axes)}")

    def comparable(self, axes: tuple[Axis, ...]) -> None:
        """See to it that places of rows can be compared with those of columns."""
        if axes[0] != axes[1] and not all(isinstance(axis, int) for axis in axes):
            raise Malformed(
                f"expected as many rows as columns, found {described(axes)}: places of two axes "
                "are not compared; give what is kept as a matrix, mask(S, M)"
            )

    def ordered(
        self,
        at: tuple[AxisPlace, ...],
        axes: tuple[Axis, ...],
        after: int = 0,
        *,
        is_least: bool = False,
    ) -> Expr:
        """1 where the column is at most so many places after the row, or at least; else 0."""
        row, column = at
        rows, columns = axes
        if isinstance(rows, int) and isinstance(columns, int) and rows != columns:

            def known(i: int, j: int) -> Expr:
                holds = j - i >= after if is_least else j - i <= after
                return term.ONE if holds else term.ZERO

            return told_apart(rows, row, lambda i: told_apart(columns, column, partial(known, i)))
        if row.images and after:
            raise Malformed("nothing can be added to where a permutation sends an index")
        row = replace(row, offset=row.offset + after)
        return term.AtMost(row, column) if is_least else term.AtMost(column, row)

    def total(self, tensor: Tensor) -> Tensor:
        """The sum of all entries."""
        every = [Index(letter, axis) for letter, axis in lettered(tensor.axes)]

        def whole(_: tuple[AxisPlace, ...]) -> Expr:
            total = tensor.entry(tuple(map(AxisPlace, every)))
            for index in reversed(every):
                total = term.Sum(index, total)
            return total

        return self.once("total", Tensor((), whole))

    def once(self, name: str, tensor: Tensor) -> Tensor:
        """A tensor that stands for itself, so that it is evaluated once."""
        params = tuple(Index(letter, axis) for letter, axis in lettered(tensor.axes))
        body = tensor.entry(tuple(map(AxisPlace, params)))
        if not term.indices(body) <= {*params}:
            return tensor
        self.scope.unnamed += 1
        array = Array(
            f"{name}.{self.scope.unnamed}", tensor.axes, params, body, uses=term.arrays(body)
        )
        return whole(array)
