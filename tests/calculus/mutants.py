"""Lines changed in one place."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from zlib import crc32

from symattn.calculus.slips import exchanged
from symattn.expressions import syntax
from symattn.expressions.syntax import (
    Binary,
    Call,
    Cell,
    Comparison,
    Literal,
    Name,
    Negative,
    Power,
    Transposed,
    Tree,
)

LETTERS = "ijkl"
OTHER = {
    "exp": ("sin", "softplus"),
    "log": ("exp", "sqrt"),
    "sqrt": ("exp", "log"),
    "sin": ("cos",),
    "cos": ("sin",),
    "sigmoid": ("tanh", "exp"),
    "tanh": ("sigmoid", "sin"),
    "softplus": ("relu", "exp"),
    "silu": ("relu", "sigmoid"),
    "relu": ("softplus", "silu"),
    "erf": ("tanh",),
    "softmax": ("exp", "sigmoid"),
    "rowsum": ("colsum", "total"),
    "colsum": ("rowsum", "total"),
    "logsumexp": ("rowsum",),
    "sum": ("mean",),
    "mean": ("sum",),
    "trace": ("total",),
    "total": ("trace",),
}
#: Functions of one number each.
EACH = ("exp", "log", "sqrt", "sin", "cos", "sigmoid", "tanh", "softplus", "silu", "relu", "erf")


class Changes:
    """All ways to change one place of a line; ``sizes`` are the names of the axes."""

    def __init__(self, line: str, sizes: Sequence[str]) -> None:
        self.tree = syntax.parse(line, letters=True)
        self.sizes = list(sizes)
        found = {name for name in syntax.names(self.tree) if len(name) == 1}
        self.letters = sorted(found & {*LETTERS, "r", "c", "u", "t"} - {*sizes})

    def all(self) -> list[str]:
        """The changed lines in an order that does not depend on anything but the line."""
        every = dict.fromkeys(syntax.text(one) for one in self._changed(self.tree, False))
        before = syntax.text(self.tree)
        every.pop(before, None)
        order = list(every)
        random.Random(crc32(before.encode())).shuffle(order)
        return order

    def _changed(self, tree: Tree, place: bool) -> Iterator[Tree]:
        yield from self._place(tree) if place else self._here(tree)
        inside = syntax.inside(tree)
        for k, one in enumerate(inside):
            if isinstance(tree, Call) and tree.function in ("sum", "mean") and k < len(inside) - 1:
                continue
            if isinstance(tree, Call) and tree.function == "limit" and k < 2:
                continue
            if isinstance(tree, Cell) and k == 0:
                continue
            inner = place or isinstance(tree, Cell) or _is_indicator(tree)
            for changed in self._changed(one, inner):
                yield exchanged(tree, one, changed)

    def _place(self, tree: Tree) -> Iterator[Tree]:
        """Another index; the place before or after; a neighbour's number."""
        match tree:
            case Name(name) if name in self.letters:
                for other in self.letters:
                    yield Name(other)
            case Name(name) if name in self.sizes:
                yield Binary("-", tree, Literal("1"))
            case Literal(number) if number.isdigit():
                yield Literal(str(int(number) + 1))
            case Binary("+" | "-" as op, left, right):
                yield Binary("-" if op == "+" else "+", left, right)
                yield left
            case Comparison((left, right), ("<" | "<=" as op,)):
                yield Comparison((left, right), ("<=" if op == "<" else "<",))
                yield Comparison((right, left), (op,))

    def _here(self, tree: Tree) -> Iterator[Tree]:
        match tree:
            case Binary("+" | "-" as op, left, right):
                yield Binary("-" if op == "+" else "+", left, right)
                yield left
                yield right if op == "+" else Negative(right)
                if op == "-":
                    yield Binary("-", right, left)
            case Binary("*", left, right):
                yield left
                yield right
                yield Binary("/", left, right)
                yield Binary("+", left, right)
            case Binary("/", left, right):
                yield left
                yield Binary("/", right, left)
                yield Binary("*", left, right)
            case Binary("@", left, right):
                yield Binary("@", right, left)
                yield Binary("*", left, right)
                yield Binary("@", left, Transposed(right))
                yield Binary("@", Transposed(left), right)
                yield left
            case Negative(operand):
                yield operand
            case Transposed(operand):
                yield operand
            case Power(base, exponent):
                yield base
                yield Power(base, _more(exponent))
                yield Binary("*", Literal("2"), base)
            case Literal(number):
                value = Fraction(number)
                if abs(value) < 1000 and value.denominator == 1:
                    yield Literal(str(int(value) + 1))
                    yield Literal(str(int(value) * 2 + 3))
                yield Literal("0")
            case Name(name) if name in self.sizes:
                for other in self.sizes:
                    yield Name(other)
                yield Binary("+", tree, Literal("1"))
                yield Call("sqrt", (tree,))
            case Call("delta" | "step", _):
                yield Literal("1")
                yield Literal("0")
            case Call("sum" | "mean" as function, (first, *rest, body)):
                yield Call(function, (*rest, body)) if rest else body
                if isinstance(first, Name) and not rest:
                    for other in self.letters:
                        if other != first.name:
                            yield Call(function, (Name(other), body))
            case Call("diff", (of, Cell(entry, places))) if len(places) == 2:
                yield Call("diff", (of, Cell(entry, places[::-1])))
            case Call("diff", (of, _)):
                yield of
            case Call(function, (body,)) if function in EACH:
                yield body
                yield Call(function, (Negative(body),))
            case Cell(operand, (first, second)):
                yield Cell(operand, (second, first))
            case Cell() | Name():
                yield Power(tree, Literal("2"))
        if isinstance(tree, Call):
            for other in OTHER.get(tree.function, ()):
                yield Call(other, tree.arguments)
        if isinstance(tree, Cell | Call | Name | Power):
            yield Negative(tree)
            yield Binary("*", Literal("2"), tree)


def _is_indicator(tree: Tree) -> bool:
    return isinstance(tree, Call) and tree.function in ("delta", "step")


def _more(exponent: Tree) -> Tree:
    """An exponent and one."""
    match exponent:
        case Literal(number):
            return Literal(str(Fraction(number) + 1)) if number.isdigit() else Literal("3")
        case Negative(Literal(number)) if number.isdigit() and int(number) > 1:
            return Negative(Literal(str(int(number) - 1)))
    return Literal("3")
