"""Definitions whose indices are counted from 1: their source counts from 0, as Python does.

Of what moves with an index as the index does, ``j`` or ``i - a``, nothing changes as an index
or beside its like; as a number it is one more, and what is no index is one less than it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

_ONE = ast.Constant(1)


def counted_from_1(tree: ast.expr, indices: Collection[str]) -> ast.expr:
    """The same entries as ``tree`` has, by ``indices`` and those of its sums counted from 1.

    >>> source = "sum(A[i][k] * B[t[k]][j] for k in range(d)) if j < i + 1 or j < a else j"
    >>> ast.unparse(counted_from_1(ast.parse(source, mode="eval").body, "ij"))
    'sum((A[i][k] * B[t[k] + 1][j] for k in range(1, d + 1))) if j < i + 1 or j <= a else j - 1'
    """
    bound = {x.target.id for x in ast.walk(tree)
             if isinstance(x, ast.comprehension) and isinstance(x.target, ast.Name)}  # fmt: skip
    counted: ast.expr = _CountedFrom1({*indices, *bound}).visit(tree)
    return counted


class _CountedFrom1(ast.NodeTransformer):
    def __init__(self, indices: Collection[str]) -> None:
        self._indices = indices

    def _degree(self, tree: ast.expr) -> int | None:
        """How many times an expression moves with the indices; None where it does otherwise."""
        match tree:
            case ast.Name(name):
                return int(name in self._indices)
            case ast.Subscript():
                return 0
            case ast.BinOp(left, ast.Add() | ast.Sub(), right):
                ours, theirs = self._degree(left), self._degree(right)
                if ours is None or theirs is None:
                    return None
                return ours + theirs if isinstance(tree.op, ast.Add) else ours - theirs
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        return 0 if names.isdisjoint(self._indices) else None

    def _kept(self, tree: ast.expr) -> ast.expr:
        """As it is, but for what it is indexed by."""
        match tree:
            case ast.Name() | ast.Constant():
                return tree
            case ast.BinOp(left, ast.Add() | ast.Sub(), right):
                return ast.BinOp(self._kept(left), tree.op, self._kept(right))
        kept: ast.expr = self.visit(tree)
        return kept

    def _index(self, tree: ast.expr) -> ast.expr:
        return self._kept(tree) if self._degree(tree) == 1 else _more(self.visit(tree))

    def visit_Name(self, tree: ast.Name) -> ast.expr:
        return ast.BinOp(tree, ast.Sub(), _ONE) if self._degree(tree) else tree

    def visit_BinOp(self, tree: ast.BinOp) -> ast.AST:
        degree = self._degree(tree) if isinstance(tree.op, ast.Add | ast.Sub) else None
        if degree is None:
            return self.generic_visit(tree)
        kept = self._kept(tree)
        return ast.BinOp(kept, ast.Sub(), ast.Constant(degree)) if degree else kept

    def visit_Subscript(self, tree: ast.Subscript) -> ast.expr:
        return ast.Subscript(self.visit(tree.value), self._index(tree.slice), tree.ctx)

    def visit_Compare(self, tree: ast.Compare) -> ast.AST:
        sides = tree.left, *tree.comparators
        degrees = [self._degree(side) for side in sides]
        if not {0, 1}.issuperset(degrees) or 1 not in degrees:
            return self.generic_visit(tree)
        operators = list(tree.ops)
        if degrees == [1, 0] and isinstance(operators[0], ast.Lt):
            operators, degrees = [ast.LtE()], [1, 1]
        left, *others = (
            self._kept(side) if degree else _more(self.visit(side))
            for side, degree in zip(sides, degrees, strict=True)
        )
        return ast.Compare(left, operators, others)

    def visit_comprehension(self, tree: ast.comprehension) -> ast.comprehension:
        assert isinstance(tree.iter, ast.Call)
        *starts, stop = tree.iter.args
        ends = [self._index(start) for start in starts] or [_ONE]
        ends.append(self._index(stop))
        return ast.comprehension(tree.target, ast.Call(tree.iter.func, ends, []), [], 0)


def _more(tree: ast.expr) -> ast.expr:
    """One more."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int):
        return ast.Constant(tree.value + 1)
    return ast.BinOp(tree, ast.Add(), _ONE)
