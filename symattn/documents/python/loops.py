"""Loops and comprehensions and what they run over, and loops that fill an array as the one
expression that they are.

Entries, rows and parts of arrays and lists, as programs write them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from symattn.documents.python import library, making
from symattn.documents.python.code_values import (
    MASKED,
    CodeScope,
    Items,
    UnreadCode,
    Value,
    number,
)
from symattn.documents.python.library import simplified
from symattn.documents.python.stores import last_name
from symattn.documents.trees import Member, Named, Opaque
from symattn.expressions import syntax
from symattn.limits import FOLLOWED

if TYPE_CHECKING:
    from symattn.documents.python.expressions import ExpressionReader

#: Functions of an entry, and those of a row.
_ENTRYWISE = frozenset(library.ENTRYWISE)
_ROWWISE = _ENTRYWISE | {"softmax"}
#: Stands for each entry of an array.
_EACH = Named("each entry")


def take(target: ast.expr, value: Value, scope: CodeScope) -> None:
    """Let the names that a loop assigns stand for one of its values."""
    match target:
        case ast.Name(id=name):
            scope.stands_for[name] = value
        case ast.Tuple(elts=targets) if isinstance(value, Items) and len(targets) == len(
            value.items
        ):
            for part, item in zip(targets, value.items, strict=True):
                take(part, item, scope)
        case _:
            raise UnreadCode


def rounds(reader: ExpressionReader, node: ast.expr) -> Iterator[Value]:
    """Yield what a loop runs over, one value after the other."""
    match node:
        case ast.Call(func=ast.Name(id="enumerate"), args=[of, *start], keywords=named):
            start += [word.value for word in named]
            first = reader.scope.whole(reader.value(start[0])) if start else 0
            for place, value in enumerate(rounds(reader, of), first):
                yield Items((number(str(place)), value))
            return
        case ast.Call(func=ast.Name(id="zip"), args=parts):
            for values in zip(*(list(rounds(reader, part)) for part in parts), strict=False):
                yield Items(values)
            return
    sequence = reader.value(node)
    if isinstance(sequence, Items):
        yield from sequence.keys or sequence.items
        return
    tree = reader.scope.tree(sequence)
    shape = reader.scope.shape(tree)
    if not shape:
        raise UnreadCode
    for i in range(min(shape[0], FOLLOWED.most)):
        yield tree.items[i] if isinstance(tree, syntax.Array) else syntax.Indexed(tree, (i,))


def comprehended(
    reader: ExpressionReader, element: ast.expr, loop: ast.comprehension, depth: int
) -> Value:
    """``[element for target in iter]``: what is done to all entries of an array at once,
    or one after the other."""
    scope = reader.scope
    with scope.restored():
        with suppress(UnreadCode):
            whole = reader.tree(loop.iter, depth)
            take(loop.target, _EACH, scope)
            return _for_each(reader.tree(element, depth), whole, scope)
        values: list[Value] = []
        for turn in rounds(reader, loop.iter):
            scope.follow()
            take(loop.target, turn, scope)
            values.append(reader.value(element, depth))
        return Items(tuple(values))


def _for_each(tree: syntax.Tree, whole: syntax.Tree, scope: CodeScope) -> syntax.Tree:
    """Return what is done to each entry of an array, done to the array."""

    def leaf(part: syntax.Tree) -> syntax.Tree | None:
        if part == _EACH:
            return whole
        if part == syntax.Call("softmax", (_EACH,)):
            return syntax.Call("softmax", (whole,))
        if _EACH.name in syntax.names(part):
            return None
        if scope.shape(part) != ():
            raise UnreadCode
        return part

    return _throughout(tree, leaf, _ENTRYWISE, scope)


def _throughout(
    tree: syntax.Tree,
    leaf: Callable[[syntax.Tree], syntax.Tree | None],
    functions: Collection[str],
    scope: CodeScope,
) -> syntax.Tree:
    """A tree of what works on each entry by itself, and of certain functions, with other
    leaves."""
    if (whole := leaf(tree)) is not None:
        return whole
    match tree:
        case syntax.Call(function, (_,), ()) if function in functions:
            pass
        case syntax.Binary(op) if op != "@":
            pass
        case syntax.Negative():
            pass
        case _:
            raise UnreadCode
    inner = syntax.mapped(tree, lambda part: _throughout(part, leaf, functions, scope))
    return simplified(inner, scope)


def filled(entries: Mapping[tuple[syntax.Key, ...], Member]) -> syntax.Tree | None:
    """The one tree whose rows, or entries, are those; None where there is none.

    >>> from symattn.expressions.syntax import parse, text
    >>> scores = {(i, j): parse(f"Q[{i}] @ K[{j}] / 2") for i in range(2) for j in range(2)}
    >>> text(filled(scores))
    'Q @ K.T / 2'
    """
    common: syntax.Tree | None = None
    for keys, tree in entries.items():
        try:
            whole = None if isinstance(tree, Opaque) else _lifted(tree, keys)
        except UnreadCode:
            whole = None
        if whole is None:
            return None
        if common is not None and whole != common:
            return None
        common = whole
    return common


def _lifted(tree: syntax.Tree, keys: tuple[syntax.Key, ...]) -> syntax.Tree:
    """Return what gives a row, or an entry, by itself, as what gives all of them."""
    functions = _ROWWISE if len(keys) == 1 else _ENTRYWISE

    def leaf(part: syntax.Tree) -> syntax.Tree | None:
        match part:
            case syntax.Indexed(operand, at) if at == keys:
                return operand
            case syntax.Binary("@", syntax.Indexed(left, (i,)), syntax.Indexed(right, (j,))) if (
                keys == (i, j)
            ):
                return syntax.Binary("@", left, syntax.Transposed(right))
            case syntax.Binary("@", left, syntax.Name() as right) if len(keys) == 1:
                return syntax.Binary("@", _lifted(left, keys), right)
            case syntax.Literal() | syntax.Name() | syntax.Call("rows" | "cols"):
                return part
        return None

    return _throughout(tree, leaf, functions, CodeScope())


def subscripted(reader: ExpressionReader, value: ast.expr, key: ast.expr, depth: int) -> Value:
    """Return what ``value[key]`` stands for."""
    scope = reader.scope
    if isinstance(value, ast.Attribute) and value.attr == "shape":
        tree = reader.tree(value.value, depth)
        axis = scope.whole(reader.value(key, depth))
        return making.size(tree, -1 if scope.rank(tree) == 1 else axis)
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
    match [ast.unparse(part).rpartition(".")[2] for part in keys]:
        case ["None" | "newaxis"] | ["None" | "newaxis", ":"]:
            return making.expanded(scope, tree, 0)
        case [":", "None" | "newaxis"]:
            return making.expanded(scope, tree, 1)
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


def _key(reader: ExpressionReader, node: ast.expr, depth: int) -> syntax.Key:
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


def is_entry(key: ast.expr, meaning: Value) -> bool:
    """Return whether a key is that of an entry or a row, not of all that a mask names."""
    if isinstance(key, ast.Tuple):
        return not any(isinstance(part, ast.Slice) for part in key.elts)
    if isinstance(key, ast.Name):
        return meaning != MASKED
    return isinstance(key, ast.Constant | ast.BinOp) or (
        isinstance(key, ast.UnaryOp) and not isinstance(key.op, ast.Invert | ast.Not)
    )


def is_of_integers(reader: ExpressionReader, value: ast.expr) -> bool:
    """Return whether fractions are lost where an empty array is filled with them."""
    match value:
        case ast.Call(func=function, args=[like, *_], keywords=[]) if "_like" in last_name(
            function
        ):
            return making.are_integers(reader.tree(like), reader.scope)
    return "int" in reader.written(value)
