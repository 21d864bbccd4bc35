"""What a program shows: the words and the values of ``print``, and values by themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from symattn.documents.python import loops
from symattn.documents.python.expressions import ExpressionReader
from symattn.documents.python.values import Applied, UnreadCode, Value, is_expressible
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Member, Words
from symattn.limits import FOLLOWED

#: What shows a value as it is, or rounded.
SHOWN = frozenset(
    {"str", "repr", "display", "round", "around", "array2string", "array_repr", "array_str",
     "set_precision", "DataFrame", "tolist", "pprint", "item", "numpy", "detach"}
)  # fmt: skip


def member(reader: ExpressionReader, node: ast.expr, value: Value) -> Member | None:
    """A value as the member of a chain; None of what is no quantity."""
    if value is None or isinstance(value, bool | Applied):
        return None
    try:
        tree = reader.scope.tree(value)
    except UnreadCode:
        return reader.opaque(node)
    if is_expressible(tree):
        return tree
    return reader.opaque(node)


def shown(reader: ExpressionReader, node: ast.expr, depth: int = 0) -> Iterator[Words | Chain]:
    """The words and the values that an argument of ``print`` shows."""
    if depth > 50:
        return
    depth += 1
    match node:
        case ast.Constant(value=str() as text):
            if text.strip():
                yield Words(text, reader.span(node))
            return
        case ast.JoinedStr(values=parts):
            with reader.within(node):
                yield from _all_shown(reader, parts, depth)
            return
        case ast.FormattedValue(value=value):
            yield from shown(reader, value, depth)
            return
        case ast.Starred(value=ast.GeneratorExp(element, [loop]) | ast.ListComp(element, [loop])):
            yield from _each(reader, element, loop, depth)
            return
        case ast.Starred(value=value):
            yield from shown(reader, value, depth)
            return
        case ast.ListComp(element, turns) if (inner := _formatted(element)) is not None:
            of_all = ast.copy_location(ast.ListComp(inner, turns), node)
            yield from shown(reader, of_all, depth)
            return
        case ast.BinOp(left=left, op=ast.Add(), right=right) if _is_text(left) or _is_text(right):
            yield from _all_shown(reader, (left, right), depth)
            return
        case ast.BinOp(left=ast.Constant(value=str()) as left, op=ast.Mod(), right=right):
            arguments = right.elts if isinstance(right, ast.Tuple) else [right]
            yield from _all_shown(reader, (left, *arguments), depth)
            return
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str()) as text_node, attr="format"),
            args=arguments,
        ):
            yield from _all_shown(reader, (text_node, *arguments), depth)
            return
        case ast.Call(func=function) if (
            last_name(function) in SHOWN and (inner := first_argument(node)) is not None
        ):
            yield from shown(reader, inner, depth)
            return
    meaning = reader.tried(node)
    if isinstance(meaning, str):
        yield Words(meaning, reader.span(node))
    elif (quantity := member(reader, node, meaning)) is not None:
        yield mention(quantity, reader.span(node))


def _all_shown(
    reader: ExpressionReader, nodes: Iterable[ast.expr], depth: int
) -> Iterator[Words | Chain]:
    for node in nodes:
        yield from shown(reader, node, depth)


def _each(
    reader: ExpressionReader, element: ast.expr, loop: ast.comprehension, depth: int
) -> Iterator[Words | Chain]:
    """What each turn of a comprehension shows: ``print(*(f"{a:.2f}" for a in row))``."""
    scope = reader.scope
    before = dict(scope.stands_for)
    try:
        if loop.ifs:
            raise UnreadCode
        for turn in loops.rounds(reader, loop.iter):
            scope.spent.followed += 1
            if scope.spent.followed > FOLLOWED.most:
                raise UnreadCode
            loops.take(loop.target, turn, scope)
            yield from shown(reader, element, depth)
    except UnreadCode:
        # Something is shown here that isn't known.
        yield mention(reader.opaque(element), reader.span(element))
    finally:
        scope.stands_for.clear()
        scope.stands_for.update(before)


def _formatted(element: ast.expr) -> ast.expr | None:
    """What ``f"{c:.2f}"`` or ``round(c, 2)`` is of, for each ``c``; None of others."""
    match element:
        case ast.JoinedStr(values=[ast.FormattedValue(value=value)]):
            return value
        case ast.Call(func=function) if last_name(function) in SHOWN:
            return first_argument(element)
    return None


def mention(quantity: Member, span: Span) -> Chain:
    """A chain that only mentions something."""
    return Chain((quantity,), (), (span,), is_code=True)


def last_name(node: ast.expr) -> str:
    """The last part of a name with points."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def first_argument(node: ast.Call) -> ast.expr | None:
    """What a function that shows a value shows."""
    match node:
        case ast.Call(func=ast.Attribute(value=value), args=[]):
            return value
        case ast.Call(func=ast.Attribute(value=value, attr="round")) if not (
            isinstance(value, ast.Name) and value.id in ("np", "torch", "jnp", "numpy")
        ):
            return value
        case ast.Call(args=[first, *_]):
            return first
    return None


def _is_text(node: ast.expr) -> bool:
    match node:
        case (
            ast.Constant(value=str()) | ast.JoinedStr() | ast.Call(func=ast.Name(id="str" | "repr"))
        ):
            return True
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            return _is_text(left) or _is_text(right)
    return False
