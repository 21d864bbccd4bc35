"""What an assignment says, and what is then known of the names that it assigns.

What a program shows: the words and the values of ``print``, and values by themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from symattn import syntax
from symattn.documents.python import library, loops
from symattn.documents.python.code_values import (
    MASKED,
    UNKNOWN,
    Applied,
    CodeScope,
    Items,
    UnreadCode,
    Value,
    is_expressible,
    number,
)
from symattn.documents.python.expressions import ExpressionReader
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Labelled, Link, Member, Named, Words
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


@dataclass(frozen=True)
class Frame:
    """Where statements are followed: at the top, in a function, in a loop.

    ``names`` are those that assignments anywhere are known by outside, ``own`` those of
    this frame, so far; None where nothing of it is: its names stand for what they are
    assigned. Entries of the arrays ``filling`` are set for the first time. A silent frame
    tells nothing of what it follows.
    """

    scope: CodeScope
    names: set[str]
    filling: set[str]
    own: set[str] | None
    depth: int = 0
    is_silent: bool = False


def assigned(
    reader: ExpressionReader, targets: Sequence[ast.expr], value: ast.expr, frame: Frame
) -> list[Chain]:
    """``targets = value`` as chains, one for each part where values are unpacked."""
    match targets:
        case [ast.Subscript() as target]:
            chains = [_set(reader, target, value, frame)]
        case [ast.Tuple(elts=parts) | ast.List(elts=parts)]:
            chains = _unpacked(reader, parts, value, frame)
        case _:
            chains = [_chain(reader, targets, value, reader.tried(value), frame)]
    return [chain for chain in chains if chain]


def _set(
    reader: ExpressionReader, target: ast.Subscript, value: ast.expr, frame: Frame
) -> Chain | None:
    """``S[i, j] = value``; ``S[mask == 0] = -inf`` gives all of S anew."""
    meaning = reader.tried(value)
    place: ast.expr = target
    name = owner(target)
    current = frame.scope.stands_for.get(name)
    if name not in frame.filling and current is not None and not isinstance(current, Named):
        frame.scope.stands_for[name] = UNKNOWN
        return None
    if isinstance(target.value, ast.Name) and not _is_entry(target.slice, meaning):
        place = target.value
        try:
            hidden = reader.tree(target.slice)
            scores = reader.tree(target.value)
            meaning = library.masked(scores, library.negated(hidden), meaning)
        except UnreadCode:
            meaning = UNKNOWN
    elif name in frame.names and name not in frame.filling:
        place, meaning = target.value, UNKNOWN
    return _chain(reader, [place], value, meaning, frame)


def _unpacked(
    reader: ExpressionReader, targets: Sequence[ast.expr], value: ast.expr, frame: Frame
) -> list[Chain | None]:
    """``a, b = value``: a chain for each; one after the other only where no part needs what
    another has changed."""
    values: Sequence[Value] = [UNKNOWN] * len(targets)
    written: Sequence[ast.expr] = [value] * len(targets)
    if isinstance(value, ast.Tuple) and len(value.elts) == len(targets):
        written = value.elts
        values = [reader.tried(expression) for expression in written]
    elif isinstance(unpacked := reader.tried(value), Items) and len(unpacked.items) == len(targets):
        values = unpacked.items
    chains: list[Chain | None] = []
    changed: set[str] = set()
    for target, expression, meaning in zip(targets, written, values, strict=True):
        is_later = any(
            isinstance(part, ast.Name) and part.id in changed for part in ast.walk(expression)
        )
        chains.append(_chain(reader, [target], expression, UNKNOWN if is_later else meaning, frame))
        changed |= stored(target)
    return chains


def _chain(
    reader: ExpressionReader,
    targets: Sequence[ast.expr],
    value: ast.expr,
    meaning: Value,
    frame: Frame,
) -> Chain | None:
    """``targets = value``, and what is then known of the names."""
    right = member(reader, value, meaning)
    members: list[Member] = []
    spans: list[Span] = []
    for target in targets:
        match target:
            case ast.Name(name):
                if _bind(name, meaning, frame) and right != Named(name):
                    members.append(Named(name, reader.span(target)))
                    spans.append(reader.span(target))
            case ast.Subscript():
                if (entry := _entry(reader, target, frame)) is not None:
                    members.append(entry)
                    spans.append(reader.span(target))
            case _:
                for name in stored(target):
                    _bind(name, UNKNOWN, frame)
    if not members or right is None:
        return None
    equal: Link = "="
    links = (equal,) * len(members)
    return Chain((*members, right), links, (*spans, reader.span(value)), is_code=True)


def _entry(reader: ExpressionReader, target: ast.Subscript, frame: Frame) -> syntax.Indexed | None:
    """What an assignment to an entry sets."""
    try:
        entry = reader.tree(target)
    except UnreadCode:
        return None
    name = entry
    while isinstance(name, syntax.Indexed):
        name = name.operand
    if isinstance(name, syntax.Name):
        frame.scope.known.pop(name.name, None)
    return entry if isinstance(entry, syntax.Indexed) else None


def _bind(name: str, meaning: Value, frame: Frame) -> bool:
    """Let a name stand for what it is assigned; whether it is a quantity's own."""
    scope, own = frame.scope, frame.own
    if own is None or not (frame.depth == 0 or name in own or name not in frame.names):
        scope.stands_for[name] = meaning
        return False
    own.add(name)
    frame.names.add(name)
    scope.stands_for.pop(name, None)
    scope.known.pop(name, None)
    before = scope.shapes.pop(name, None)
    if frame.depth:
        scope.stands_for[name] = Named(name)
    try:
        tree = scope.tree(meaning)
    except UnreadCode:
        if isinstance(meaning, Items | str | Applied):
            scope.known[name] = meaning
        elif name in scope.meant:
            # It is no longer what it was told to be, and nobody knows what it is.
            scope.stands_for[name] = UNKNOWN
        return True
    if not is_expressible(tree):
        scope.stands_for[name] = tree
        return True
    scope.meant.add(name)
    if before is not None and name in syntax.names(tree):
        # "scores = scores / 2": there it is what it was before.
        scope.shapes[name] = before
    shape = scope.shape(tree)
    scope.shapes.pop(name, None)
    if shape is not None:
        scope.shapes[name] = shape
    if isinstance(meaning, Items):
        scope.known[name] = meaning
    elif isinstance(tree, Labelled | syntax.Literal):
        scope.known[name] = tree
    elif shape == ():
        with suppress(UnreadCode):
            scope.known[name] = number(str(scope.whole(tree)))
    return True


def changed(
    reader: ExpressionReader, at: ast.expr, values: Mapping[str, Value], frame: Frame
) -> Iterator[Chain]:
    """What branches and loops have made of names from outside, told where they begin."""
    for name, value in sorted(values.items()):
        is_quantity = name in frame.names if frame.depth == 0 else name in (frame.own or ())
        if frame.own is None or not is_quantity:
            if frame.own is None or frame.depth:
                frame.scope.stands_for[name] = value
            else:
                for known in (frame.scope.stands_for, frame.scope.known, frame.scope.shapes):
                    known.pop(name, None)
            continue
        frame.scope.stands_for.pop(name, None)
        _bind(name, value, frame)
        right = member(reader, at, value)
        if right is not None and right != Named(name):
            span = reader.span(at)
            yield Chain((Named(name, span), right), ("=",), (span, span), is_code=True)


def reassigned(node: ast.AST) -> set[str]:
    """The names that a statement may assign, or set entries of."""
    entries = (
        owner(part)
        for part in ast.walk(node)
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)
    )
    return stored(node).union(entries) - {""}


def stored(node: ast.AST) -> set[str]:
    """The names that a statement, or a target, may assign.

    >>> sorted(stored(ast.parse("a, (b, *c) = d")))
    ['a', 'b', 'c']
    """
    return {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }


def owner(target: ast.expr) -> str:
    """The name of what an entry is an entry of; nothing where it has none."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def _is_entry(key: ast.expr, meaning: Value) -> bool:
    """Whether a key is that of an entry or a row, not of all that a mask names."""
    if isinstance(key, ast.Tuple):
        return not any(isinstance(part, ast.Slice) for part in key.elts)
    if isinstance(key, ast.Name):
        return meaning != MASKED
    return isinstance(key, ast.Constant | ast.BinOp) or (
        isinstance(key, ast.UnaryOp) and not isinstance(key.op, ast.Invert | ast.Not)
    )
