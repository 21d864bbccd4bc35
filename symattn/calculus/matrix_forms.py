"""Matrix forms: products, transposes, sums of rows and columns, softmax."""

from __future__ import annotations

from collections.abc import Callable

from symattn import syntax
from symattn.calculus import language as term
from symattn.calculus.language import Array, Axis, AxisPlace, Expr, Index
from symattn.calculus.tensors import (
    ROWWISE,
    Indices,
    Tensor,
    common,
    described,
    exp,
    lettered,
    matched,
    times,
    whole,
)
from symattn.errors import Malformed
from symattn.syntax import Tree


class Forms(Indices):
    """Reads matrix forms as entries at indices of their own."""

    def spread(
        self, tensor: Tensor, axes: tuple[Axis, ...]
    ) -> Callable[[tuple[AxisPlace, ...]], Expr]:
        """The entries of a tensor repeated along the axes of a larger one."""
        kept = matched(tensor.axes, axes)

        def entry(at: tuple[AxisPlace, ...]) -> Expr:
            return tensor.entry(
                tuple(
                    AxisPlace(offset=1) if axis == 1 else at[where]
                    for axis, where in zip(tensor.axes, kept, strict=True)
                )
            )

        return entry

    def pairwise(
        self, left: Tensor, right: Tensor, combine: Callable[[Expr, Expr], Expr], what: str
    ) -> Tensor:
        """Two tensors combined entry by entry; axes of length one are repeated."""
        axes = common(left.axes, right.axes)
        if axes is None:
            raise Malformed(
                f"{what}: {described(left.axes)} and {described(right.axes)} "
                "don't fit entry by entry"
            )
        first, second = self.spread(left, axes), self.spread(right, axes)
        return Tensor(
            axes, lambda at: combine(first(at), second(at)), left.letters or right.letters
        )

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

        tensor = self._kept("product", Tensor(axes, entry, left.letters or right.letters))
        if axes == (1,):
            return Tensor((), lambda _: tensor.entry((AxisPlace(offset=1),)), tensor.letters)
        return tensor

    def transposed(self, tensor: Tensor) -> Tensor:
        """Rows and columns exchanged."""
        match tensor.axes:
            case ():
                return tensor
            case (axis,):
                return Tensor((1, axis), lambda at: tensor.entry(at[1:]), tensor.letters)
            case (rows, columns):
                return Tensor((columns, rows), lambda at: tensor.entry(at[::-1]), tensor.letters)
        raise Malformed(
            "'.T' is the transpose of a matrix; here are three axes: write it by entries"
        )

    def filled(self, name: str, arguments: tuple[Tree, ...]) -> Tensor:
        """Ones, zeros, and the unit matrix."""
        axes: list[Axis] = []
        for argument in arguments:
            match argument:
                case syntax.Name(size) if size in self.scope.sizes:
                    axes.append(size)
                case syntax.Literal(text) if text.isdigit() and int(text):
                    axes.append(int(text))
                case _:
                    raise Malformed(f"{name} takes sizes")
        if name == "eye" and len(axes) == 1:
            return Tensor((axes[0], axes[0]), lambda at: term.Delta(*at))
        if name == "eye" or not 1 <= len(axes) <= 2:
            raise Malformed(f"{name} takes {'one size' if name == 'eye' else 'one or two sizes'}")
        value = term.ONE if name == "ones" else term.ZERO
        return Tensor(tuple(axes), lambda _: value)

    def reduced(self, name: str, tensor: Tensor) -> Tensor:
        """Functions of rows, columns, or all entries."""
        axes, entry = tensor.axes, tensor.entry
        if name == "expect":
            return Tensor(axes, lambda at: term.Expectation(entry(at)), tensor.letters)
        if name == "diag" and len(axes) == 1:
            return Tensor(
                (axes[0], axes[0]),
                lambda at: term.Mul((term.Delta(*at), entry(at[:1]))),
                tensor.letters,
            )
        if name == "diag" and len(axes) == 2 and axes[0] == axes[1]:
            return Tensor(axes[:1], lambda at: entry((at[0], at[0])), tensor.letters)
        if name == "trace" and len(axes) == 2 and axes[0] == axes[1]:
            index = Index("r", axes[0])
            return Tensor(
                (), lambda _: term.Sum(index, entry((AxisPlace(index),) * 2)), tensor.letters
            )
        if name in ("total", "average"):
            return self._total(name, tensor)
        if name in ("rowsum", "colsum") and len(axes) == 2:
            along = 1 if name == "rowsum" else 0

            def summed(at: tuple[AxisPlace, ...]) -> Expr:
                index = Index("r", axes[along])
                places = [*at]
                places[along] = AxisPlace(index)
                return term.Sum(index, entry(tuple(places)))

            shape = (axes[0], 1) if along else (1, axes[1])
            return self._kept(name, Tensor(shape, summed, tensor.letters))
        if name in ROWWISE and axes:
            return self._rowwise(name, tensor)
        raise Malformed(f"{name}: found {described(axes)}")

    def _total(self, name: str, tensor: Tensor) -> Tensor:
        every = [Index(letter, axis) for letter, axis in lettered(tensor.axes)]

        def whole(_: tuple[AxisPlace, ...]) -> Expr:
            total = tensor.entry(tuple(map(AxisPlace, every)))
            for index in reversed(every):
                total = term.Sum(index, total)
                if name == "average":
                    total = term.Div(total, term.Size(index))
            return total

        return self._kept(name, Tensor((), whole, tensor.letters))

    def _rowwise(self, name: str, tensor: Tensor) -> Tensor:
        *front, last = tensor.axes

        def powers(at: tuple[AxisPlace, ...]) -> Expr:
            index = Index("r", last)
            return term.Sum(index, exp(tensor.entry((*at, AxisPlace(index)))))

        # The normaliser is one named thing: its derivative is taken once.
        normaliser = self._kept("sum", Tensor((*front,), powers, tensor.letters))

        def weight(at: tuple[AxisPlace, ...]) -> Expr:
            return term.Div(exp(tensor.entry(at)), normaliser.entry(at[: len(front)]))

        if name == "softmax":
            return self._kept(name, Tensor(tensor.axes, weight, tensor.letters))
        axes = (*front, 1) if front else ()

        def logarithm(at: tuple[AxisPlace, ...]) -> Expr:
            return term.Apply("log", normaliser.entry(at[: len(front)]))

        return self._kept(name, Tensor(axes, logarithm, tensor.letters))

    def _kept(self, name: str, tensor: Tensor) -> Tensor:
        """A tensor that stands for itself, so that it is evaluated once."""
        if tensor.letters:
            return tensor
        letters = lettered(tensor.axes)
        params = tuple(Index(letter, axis) for letter, axis in letters)
        body = tensor.entry(tuple(map(AxisPlace, params)))
        self.scope.unnamed += 1
        array = Array(
            f"{name}.{self.scope.unnamed}", tensor.axes, params, body, uses=term.arrays(body)
        )
        return whole(array)
