"""Jacobians: how each entry of one quantity changes with each entry of another.

A row is a gradient: that of the entry, by :func:`~symattn.programs.backward.flows`. So a
Jacobian is a node as any other, of all entries that are asked for by all entries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from symattn.errors import Malformed, UnknownName
from symattn.expressions import syntax
from symattn.expressions.shapes import chosen, keys
from symattn.limits import JACOBIAN
from symattn.numbers.values import ZERO
from symattn.programs import nodes
from symattn.programs.backward import flows
from symattn.programs.functions.arranging import below, flat
from symattn.programs.nodes import Node
from symattn.programs.tables import indicator, tabled


@dataclass(frozen=True)
class Part:
    """Entries of a quantity, those that its indices choose; ``name`` is that of all."""

    name: str
    whole: Node
    keys: tuple[syntax.Key, ...] = ()

    @cached_property
    def node(self) -> Node:
        """The entries in their shape."""
        return nodes.index(self.whole, self.keys) if self.keys else self.whole

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Return where the entries are in the grid of all, row by row."""
        plain = [k if isinstance(k, int) else slice(k.start, k.stop, k.step) for k in self.keys]
        rows, columns = chosen(self.whole.shape, plain)[1]
        return tuple(product(rows, columns))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The names of the entries, row by row: ``A[0, 1]``."""
        shape = self.whole.shape
        return tuple(f"{self.name}{[*keys(shape, i, j)] or ''}" for i, j in self.places)

    @property
    def text(self) -> str:
        """The part as it is written."""
        named = syntax.Name(self.name)
        return syntax.text(syntax.Indexed(named, self.keys) if self.keys else named)


@dataclass(frozen=True)
class Jacobian:
    """The entries of ``of``, each a row, by those of ``by``, each a column."""

    of: Part
    by: Part

    @property
    def name(self) -> str:
        """``dA[0]/dT[0]``; of a gradient the second derivative, ``d(dL/dQ)/dQ``."""
        of = f"({self.of.text})" if "/" in self.of.text else self.of.text
        return f"d{of}/d{self.by.text}"

    @cached_property
    def node(self) -> Node:
        """The matrix. :class:`Malformed` beyond :data:`~symattn.limits.JACOBIAN`,
        :class:`UnknownName` where ``of`` does not depend on ``by``."""
        of, by = self.of.node, self.by.whole
        count, width = prod(of.shape), prod(self.by.node.shape)
        if count * width > JACOBIAN.most:
            raise Malformed(JACOBIAN.said(f"{count}x{width}"))
        return below(tuple(self._row(of, by, k) for k in range(count)))

    def _row(self, of: Node, by: Node, k: int) -> Node:
        """The gradient of an entry as a row."""
        columns = of.grid[1]
        start = tabled(lambda i, j: indicator((i, j) == divmod(k, columns)), *of.shape)
        gradient = flows(of, start).get(by.serial)
        if gradient is None and "/" in self.of.name:
            # A gradient that is the same everywhere has no slope.
            gradient = tabled(lambda i, j: ZERO, *by.shape)
        if gradient is None:
            raise UnknownName(f"{self.name}: {self.of.name} does not depend on {self.by.name}")
        return flat(nodes.index(gradient, self.by.keys) if self.by.keys else gradient)


def read(
    tree: syntax.Tree,
    quantity: Callable[[str], Node | None],
    slope: Callable[[syntax.Tree], Node],
) -> Jacobian | None:
    """The Jacobian that an expression is, ``dA[0]/dT[0]`` or ``jacobian(A, T)``; of a gradient,
    ``jacobian(dL/dQ, K)``, it has second derivatives. None for another expression."""

    def part(tree: syntax.Tree) -> Part:
        match tree:
            case syntax.Indexed(operand, keys):
                whole = part(operand)
                if whole.keys:
                    raise Malformed(f"{syntax.text(tree)}: expected indices in one bracket")
                return Part(whole.name, whole.whole, keys)
            case syntax.Name(name) if (node := quantity(name)) is not None:
                return Part(name, node)
            case syntax.Gradient(name):
                return Part(syntax.gradient_name(name), slope(tree))
            case syntax.Call("grad", (syntax.Name(of), syntax.Name(by)), ()):
                return Part(f"d{of}/d{by}", slope(tree))
        raise Malformed(
            f"{syntax.text(tree)}: a Jacobian is of a quantity, or of some entries of it"
        )

    match tree:
        case syntax.Binary("/", above, under):
            of, by = _changing(above, quantity), _changing(under, quantity)
            return None if of is None or by is None else Jacobian(part(of), part(by))
        case syntax.Call("jacobian", (of, by), ()):
            return Jacobian(part(of), part(by))
    return None


def _changing(tree: syntax.Tree, quantity: Callable[[str], Node | None]) -> syntax.Tree | None:
    """``A[0]`` of ``dA[0]``, where ``dA`` is no quantity itself."""
    match tree:
        case syntax.Indexed(operand, keys):
            inner = _changing(operand, quantity)
            return None if inner is None else syntax.Indexed(inner, keys)
        case syntax.Name(name) if name[0] == "d" and quantity(name) is None and quantity(name[1:]):
            return syntax.Name(name[1:])
    return None
