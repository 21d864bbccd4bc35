"""Programs as lines of derivations: what a node computes, as a tree that is read for any size.

Axes of a program may have any length (:mod:`symattn.expressions.shapes`): a mean over n entries
divides by n. Which axes have one is told by :class:`~symattn.programs.axes.Sizes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import cast

from symattn.errors import Malformed, short
from symattn.expressions import formulas, syntax
from symattn.expressions.shapes import how_many, tree_of
from symattn.expressions.syntax import (
    Binary,
    Call,
    Cell,
    Literal,
    Name,
    Negative,
    Slice,
    Transposed,
    Tree,
)
from symattn.numbers.reading import Masked
from symattn.numbers.values import Value
from symattn.programs.axes import ids
from symattn.programs.functions import COMPARISONS
from symattn.programs.nodes import Node, WrittenCall
from symattn.programs.tables import formula_of, reach_of

_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
_ALL = Slice(None, None, None)


class LineWriter:
    """Writes nodes as trees, down to those that have a name; of several the last."""

    def __init__(self, names: Mapping[int, Sequence[str]]) -> None:
        self.names = names

    def line(self, node: Node, own: str) -> Tree:
        """Return what a node is, by a name that comes after its own, or by what it is made of.

        Raises :class:`Malformed` for what can't be said.
        """
        named = self.names.get(node.serial, (own,))
        return self._operation(node) if named[-1] == own else Name(named[-1])

    def tree(self, node: Node) -> Tree:
        """Return what a node is, by name where it has one."""
        named = self.names.get(node.serial)
        return Name(named[-1]) if named else self._operation(node)

    def _operation(self, node: Node) -> Tree:
        if node.written is not None and not node.written.is_own:
            return self._call(node, node.written)
        x = node.operands
        match node.op:
            case "given":
                return Name(node.extra)
            case "constant":
                return self._number(node.extra)
            case "table":
                return self._table(node)
            case "triangle":
                return Call("tril", (self._ones(node),))
            case "copy":
                return self.tree(x[0])
            case "reshape":
                return self._reshaped(node, x[0])
            case "transpose":
                # A vector is a column already.
                inner = self.tree(x[0])
                return Transposed(inner) if len(x[0].shape) == 2 else inner
            case "negate":
                return Negative(self.tree(x[0]))
            case "multiply" if _is(1, x[0]):
                return self._fitting(node, x[1])
            case "multiply" if _is(1, x[1]):
                return self._fitting(node, x[0])
            case "add" | "subtract" if _is(0, x[1]):
                return self._fitting(node, x[0])
            case "multiply" if x[1].op == "triangle":
                return Call("tril", (self._fitting(node, x[0]),))
            case "add" | "subtract" | "multiply" | "divide":
                left, right = (self._fitting(node, part) for part in x)
                return Binary(_SIGNS[node.op], left, right)
            case "maximum":
                return Call("maximum", tuple(self._fitting(node, part) for part in x))
            case "above":
                return self._compared(node, ">", *x)
            case "matmul":
                return Binary("@", self._row(x[0]), self.tree(x[1]))
            case "hide":
                if x[1].op == "triangle":
                    return Call("causal", (self.tree(x[0]),))
                return Call("mask", (self.tree(x[0]), self._fitting(node, x[1])))
            case "rowsum" | "colsum" if len(x[0].shape) < 2:
                return Call("total", (self.tree(x[0]),))
            case "pick":
                return Cell(self.tree(x[0]), self._keys(x[0], node.extra))
            case "scatter":
                return self._scattered(node, x[0])
            case "spread":
                return Binary("*", self._fitting(node, x[0]), self._ones(node))
        return Call(node.op, tuple(map(self.tree, x)))

    # -- numbers and tables --------------------------------------------------------

    def _number(self, value: Value) -> Tree:
        number = value.rational()
        if number is None:
            return syntax.paired(formulas.with_exp(value.formula()))
        return syntax.rational(Fraction(int(number.p), int(number.q)))

    def _table(self, node: Node) -> Tree:
        """A table whose entries say where they stand, in functions of steps."""
        entries = [entry for row in node.extra for entry in row] if _is_written(node) else []
        if any(isinstance(entry, Masked) for entry in entries):
            if node.shape:
                raise Malformed("an array with hidden scores is written out in numbers")
            return Negative(Name("inf"))
        if not node.shape:
            return self._number(entries[0]) if entries else cast("Tree", node.extra)
        if (formula := formula_of(node)) is not None:
            return self._by_place(formula, self._ones(node))
        shown = short(", ".join(map(str, entries)), 40)
        raise Malformed(f"an array is written out in numbers, {shown}: give it a name and a shape")

    def _by_place(self, formula: Tree, ones: Call) -> Tree:
        """A table by its formula, in functions of steps."""
        one, zeros = Literal("1"), Call("zeros", ones.arguments)
        match formula:
            case Literal("0"):
                return zeros
            case Literal():
                return ones
            case Name():
                return Binary("-", Call("cumsum", (ones,)), one)
            case Call():
                return Call("eye", ones.arguments[:1])
            case Binary(_, Binary("-"), _):
                return Call("alibi", (zeros, Negative(one)))
        return Call("exp", (Call("window", (zeros, *map(tree_of, reach_of(formula)))),))

    def _ones(self, node: Node) -> Call:
        return Call("ones", tuple(map(tree_of, node.shape)))

    # -- shapes ----------------------------------------------------------------------

    def _row(self, x: Node) -> Tree:
        """A vector as a row, anything else as it is."""
        return Transposed(self.tree(x)) if len(x.shape) == 1 else self.tree(x)

    def _fitting(self, node: Node, x: Node) -> Tree:
        """An operand of what goes entry by entry: what is repeated needs no word."""
        is_plain = x.op == "spread" and not x.written and x.serial not in self.names
        if is_plain and any(y.grid == node.grid for y in node.operands if y is not x):
            x = x.operands[0]
        return self._row(x) if len(node.shape) == 2 else self.tree(x)

    def _reshaped(self, node: Node, x: Node) -> Tree:
        first = Literal("1")
        plain = not x.written and x.serial not in self.names
        match len(x.shape), len(node.shape):
            case 2, 0 if plain and x.op == "matmul" and len(x.operands[0].shape) == 1:
                return self.tree(x)
            case 2, 0 if plain and x.op == "pick":
                return self._single(x)
            case 2, 0 if x.op in ("rowsum", "colsum", "total") and plain:
                return self.tree(x)
            case 1 | 2, 0:
                return Call("total", (self.tree(x),))
            case 2, 1 if plain and x.op == "pick" and how_many(x.extra[0]) == 1:
                return self._single(x, slices=True)
            case 2, 1 if plain and x.op == "matmul" and len(x.operands[0].shape) == 1:
                return Binary("@", *map(self.tree, x.operands))
            case 2, 1 if plain and x.op == "transpose" and x.operands[0].grid[1] == 1:
                inner = x.operands[0]
                if inner.op == "matmul" and inner.operands[1].op == "transpose":
                    return self.tree(inner)
                return Cell(self.tree(inner), (_ALL, first))
            case 2, 1 if x.grid[0] == 1:
                return Cell(self.tree(x), (first, _ALL))
            case 1, 2 if node.grid[0] == 1:
                return Transposed(self.tree(x))
            case 0, _:
                return Binary("*", self.tree(x), self._ones(node))
        if x.shape == node.shape or len(x.shape) == len(node.shape) == 1:
            return self.tree(x)
        raise Malformed("entries are put into another shape")

    def _single(self, node: Node, *, slices: bool = False) -> Tree:
        """An entry, or a row, of what a pick is from: places are counted from 1."""
        (x,) = node.operands
        rows, columns = node.extra
        row, column = Literal(str(rows.start + 1)), Literal(str(columns.start + 1))
        if slices and len(x.shape) == 1:
            return Cell(self.tree(x), self._keys(x, node.extra))
        if slices:
            return Cell(self.tree(x), (row, *self._keys(x, node.extra)[-1:]))
        return Cell(self.tree(x), (row, column)[2 - len(x.shape) :])

    def _keys(self, x: Node, places: tuple[range, range]) -> tuple[Tree, ...]:
        keys = [_key(some, length) for some, length in zip(places, x.grid, strict=True)]
        return tuple(keys[2 - len(x.shape) :])

    def _scattered(self, node: Node, x: Node) -> Tree:
        """Zeros about what a part sends back."""
        rows, columns = node.extra
        if any(abs(some.step) != 1 and how_many(some) > 1 for some in (rows, columns)):
            raise Malformed("entries are sent back to every second place or so")
        tree = self._row(x) if len(node.shape) == 2 else self.tree(x)
        if not x.shape:
            sizes = map(tree_of, x.grid[2 - len(node.shape) :])
            tree = Binary("*", tree, Call("ones", tuple(sizes)))
        elif len(x.shape) > len(node.shape):
            tree = Cell(tree, (Literal("1"), _ALL))
        turned = tuple(Slice(None, None, -1) if some.step < 0 else _ALL for some in (rows, columns))
        if any(key != _ALL for key in turned):
            tree = Cell(tree, turned[2 - len(node.shape) :])
        height = tree_of(how_many(rows))
        before, after = _around(columns, node.grid[1])
        sides = [
            Call("zeros", (height, Literal(str(k)))[2 - len(node.shape) :]) if k else None
            for k in (before, after)
        ]
        if any(sides):
            beside = (sides[0], tree, sides[1])
            tree = Call("concat", tuple(part for part in beside if part))
        before, after = _around(rows, node.grid[0])
        width = tree_of(node.grid[1])
        ends = [Call("zeros", (Literal(str(k)), width)) if k else None for k in (before, after)]
        if any(ends):
            stacked = tuple(part for part in (ends[0], tree, ends[1]) if part)
            tree = Call("concat", stacked, (("axis", Literal("0")),))
        return tree

    # -- calls -----------------------------------------------------------------------

    def _call(self, node: Node, written: WrittenCall) -> Tree:
        x = written.operands
        match written.function:
            case "**":
                return syntax.Power(self.tree(x[0]), self.tree(x[1]))
            case "grad":
                return Call("diff", tuple(map(self.tree, x)))
            case ">" | ">=" | "<" | "<=" | "==" | "!=" as sign:
                return self._compared(node, sign, *x)
            case "embedding":
                return Binary("@", self.tree(x[0]), self.tree(x[1]))
            case "onehot":
                return self.tree(x[0])
            case "where" if x[0].written and x[0].written.function in COMPARISONS:
                asked = syntax.Comparison(
                    tuple(map(self.tree, x[0].written.operands)), (x[0].written.function,)
                )
                return Call("where", (asked, *map(self.tree, x[1:])))
        if (named := ids(node)) is not None and named.op != "given":
            raise Malformed(f"{written.function}: whole numbers that are computed name places")
        given = [*zip(written.labels, map(self.tree, x), strict=True), *written.options]
        return Call(
            written.function,
            tuple(tree for name, tree in given if not name),
            tuple((name, tree) for name, tree in given if name),
        )

    def _compared(self, node: Node, sign: str, x: Node, y: Node) -> Tree:
        """1 where a comparison holds, by steps of values."""
        left, right = self._fitting(node, x), self._fitting(node, y)
        less = Call("step", (syntax.Comparison((left, right), ("<",)),))
        more = Call("step", (syntax.Comparison((right, left), ("<",)),))
        one = Literal("1")
        match sign:
            case ">":
                return more
            case "<":
                return less
            case ">=":
                return Binary("-", one, less)
            case "<=":
                return Binary("-", one, more)
        apart = Binary("+", less, more)
        return apart if sign == "!=" else Binary("-", one, apart)


def _is(number: int, node: Node) -> bool:
    return node.op == "constant" and not node.written and node.extra.rational() == number


def _is_written(node: Node) -> bool:
    """Return whether a table has its numbers, no formula."""
    return isinstance(node.extra, tuple)


def _around(some: range, length: int) -> tuple[int, int]:
    """Return how many places are before and after some along an axis."""
    return (0, 0) if how_many(some) == length else (min(some), length - 1 - max(some))


def _key(some: range, length: int) -> Slice:
    """Places along an axis as a slice."""
    if some.step == 1 and how_many(some) == length:
        return _ALL
    if some.step > 0:
        return Slice(some.start, some.stop, some.step if some.step != 1 else None)
    start = None if some.start == length - 1 else some.start
    return Slice(start, None if some.stop < 0 else some.stop, some.step)
