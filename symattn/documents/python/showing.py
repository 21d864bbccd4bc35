"""What a program shows: the words and the values of ``print``, and values by themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from symattn.documents.python import loops
from symattn.documents.python.code_values import (
    Applied,
    FollowedFunction,
    UnreadCode,
    Value,
    is_expressible,
)
from symattn.documents.python.expressions import ExpressionReader
from symattn.documents.python.stores import SHOWN, last_name
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Link, Member, Opaque, Words

#: How deep expressions that are shown are looked into.
_DEEPEST = 50


def member(reader: ExpressionReader, node: ast.expr, value: Value) -> Member | None:
    """A value as the member of a chain; None of what is no quantity."""
    if value is None or isinstance(value, bool | Applied | FollowedFunction):
        return None
    try:
        tree = reader.scope.tree(value)
    except UnreadCode:
        return reader.opaque(node)
    return tree if is_expressible(tree) else reader.opaque(node)


def mention(quantity: Member, span: Span) -> Chain:
    """A chain that only mentions something."""
    return Chain((quantity,), (), (span,), is_code=True)


def shown(reader: ExpressionReader, node: ast.expr, depth: int = 0) -> Iterator[Words | Chain]:
    """The words and the values that an argument of ``print`` shows."""
    match node:
        case _ if depth > _DEEPEST:
            return
        case ast.Constant(value=str() as text):
            if text.strip():
                yield Words(text, reader.span(node))
            return
        case ast.Starred(value=ast.GeneratorExp(element, [loop]) | ast.ListComp(element, [loop])):
            yield from _each(reader, element, loop, depth + 1)
            return
    if (parts := _parts(node)) is not None:
        with reader.within(node if isinstance(node, ast.JoinedStr) else None):
            for part in parts:
                yield from shown(reader, part, depth + 1)
        return
    meaning = reader.tried(node)
    if isinstance(meaning, str):
        yield Words(meaning, reader.span(node))
    elif (quantity := member(reader, node, meaning)) is not None:
        yield mention(quantity, reader.span(node))


def _parts(node: ast.expr) -> Sequence[ast.expr] | None:
    """What is shown, in its order, where an expression is shown; None of a value."""
    match node:
        case ast.JoinedStr(values=parts):
            return parts
        case ast.FormattedValue(value=value) | ast.Starred(value=value):
            return [value]
        case ast.ListComp(element, turns) if (inner := _formatted(element)) is not None:
            return [ast.copy_location(ast.ListComp(inner, turns), node)]
        case ast.BinOp(left=left, op=ast.Add(), right=right) if _is_text(left) or _is_text(right):
            return [left, right]
        case ast.BinOp(left=ast.Constant(value=str()) as text, op=ast.Mod(), right=right):
            return [text, *(right.elts if isinstance(right, ast.Tuple) else [right])]
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str()) as text, attr="format"), args=given
        ):
            return [text, *given]
        case ast.Call() if (inner := bare(node)) is not node:
            return [inner]
    return None


def _each(
    reader: ExpressionReader, element: ast.expr, loop: ast.comprehension, depth: int
) -> Iterator[Words | Chain]:
    """What each turn of a comprehension shows: ``print(*(f"{a:.2f}" for a in row))``."""
    with reader.scope.restored():
        try:
            if loop.ifs:
                raise UnreadCode
            for turn in loops.rounds(reader, loop.iter):
                reader.scope.follow()
                loops.take(loop.target, turn, reader.scope)
                yield from shown(reader, element, depth)
        except UnreadCode:
            # Something is shown here that isn't known.
            yield mention(reader.opaque(element), reader.span(element))


def _formatted(element: ast.expr) -> ast.expr | None:
    """What ``f"{c:.2f}"`` or ``round(c, 2)`` is of, for each ``c``; None of others."""
    match element:
        case ast.JoinedStr(values=[ast.FormattedValue(value=value)]):
            return value
        case ast.Call() if (inner := bare(element)) is not element:
            return inner
    return None


def bare(node: ast.expr) -> ast.expr:
    """What a call that shows a value, as it is or rounded, is of; others themselves."""
    match node:
        case ast.Call(func=function) if last_name(function) not in SHOWN:
            return node
        case ast.Call(func=ast.Attribute(value=value), args=[]):
            return value
        case ast.Call(func=ast.Attribute(value=value, attr="round")) if not (
            isinstance(value, ast.Name) and value.id in ("np", "torch", "jnp", "numpy")
        ):
            return value
        case ast.Call(args=[first, *_]):
            return first
    return node


def _is_text(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr():
            return True
        case ast.Call(func=ast.Name(id="str" | "repr")):
            return True
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            return _is_text(left) or _is_text(right)
    return False


def compared(reader: ExpressionReader, value: ast.expr) -> Sequence[Chain] | None:
    """``a == b`` and ``np.allclose(a, b)`` as the claims that they are; None of others."""
    link: Link
    match value:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            link = "="
        case ast.Call(func=function, args=[left, right, *_]) if "close" in last_name(function):
            link = "≈"
        case _:
            return None
    members = [
        member(reader, side, reader.tried(side)) or reader.opaque(side) for side in (left, right)
    ]
    if all(isinstance(side, Opaque) for side in members):
        return ()
    spans = (reader.span(left), reader.span(right))
    return [Chain(tuple(members), (link,), spans, is_code=True)]
