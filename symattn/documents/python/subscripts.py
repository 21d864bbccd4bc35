"""Entries, rows and parts of arrays and lists, as programs write them."""

from __future__ import annotations

import ast

from symattn import syntax
from symattn.documents.python import library
from symattn.documents.python.values import CodeScope, Expressions, Items, UnreadCode, Value


def subscripted(reader: Expressions, value: ast.expr, key: ast.expr, depth: int) -> Value:
    """What ``value[key]`` stands for."""
    scope = reader.scope
    if isinstance(value, ast.Attribute) and value.attr == "shape":
        tree = reader.tree(value.value, depth)
        axis = scope.whole(reader.value(key, depth))
        return library.size(tree, -1 if scope.rank(tree) == 1 else axis)
    operand = reader.value(value, depth)
    if isinstance(operand, Items) and not isinstance(key, ast.Slice | ast.Tuple):
        return _item(operand, reader.value(key, depth), scope)
    tree = scope.tree(operand)
    keys = key.elts if isinstance(key, ast.Tuple) else [key]
    match tree, keys:
        case syntax.Indexed(syntax.Call("rowsum" | "rowmax") as column, (syntax.Slice(), 0)), [
            ast.Slice(),
            ast.Constant(value=None) | ast.Attribute(attr="newaxis"),
        ]:
            return column
        case syntax.Call("rowmax"), [ast.Constant(value=0)]:
            # PyTorch gives the largest beside their places.
            return tree
    indices = tuple(_key(reader, part, depth) for part in _full(keys, scope.rank(tree) or 2))
    if (
        isinstance(tree, syntax.Indexed)
        and len(tree.keys) == len(indices) == 1
        and isinstance(tree.keys[0], int)
    ):
        return syntax.Indexed(tree.operand, (*tree.keys, *indices))
    return syntax.Indexed(tree, indices)


def _full(keys: list[ast.expr], rank: int) -> list[ast.expr]:
    """Keys without an ellipsis: it stands for all entries along the axes left out."""
    at = next((place for place, key in enumerate(keys) if _is_ellipsis(key)), None)
    if at is None:
        return keys
    whole: list[ast.expr] = [ast.Slice()] * (rank - len(keys) + 1)
    return [*keys[:at], *whole, *keys[at + 1 :]]


def _item(items: Items, key: Value, scope: CodeScope) -> Value:
    if isinstance(key, str) and key in items.keys:
        return items.items[items.keys.index(key)]
    place = scope.whole(key)
    if not -len(items.items) <= place < len(items.items):
        raise UnreadCode
    return items.items[place]


def _key(reader: Expressions, node: ast.expr, depth: int) -> syntax.Key:
    def whole(bound: ast.expr) -> int:
        return reader.scope.whole(reader.value(bound, depth))

    if not isinstance(node, ast.Slice):
        return whole(node)
    bounds = (node.lower, node.upper, node.step)
    limits = [None if bound is None else whole(bound) for bound in bounds]
    if limits[2] == 0:
        raise UnreadCode
    return syntax.Slice(*limits)


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
