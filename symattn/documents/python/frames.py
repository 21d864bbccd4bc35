"""What names mean where statements are followed: at the top, in a function, in a loop."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from symattn import syntax
from symattn.documents.python import making
from symattn.documents.python.code_values import (
    UNKNOWN,
    CodeScope,
    Items,
    UnreadCode,
    Value,
    is_expressible,
    number,
    value_names,
)
from symattn.documents.python.expressions import ExpressionReader
from symattn.documents.python.stores import Sharing
from symattn.documents.trees import Labelled


@dataclass(frozen=True)
class Frame:
    """Where statements are followed: at the top, in a function, in a loop.

    ``own`` are the names of this frame that were told, so far; None where nothing of it is:
    its names stand for what they are assigned. Entries of the arrays ``filling`` are set
    for the first time. A silent frame tells nothing of what it follows.
    """

    scope: CodeScope
    own: set[str] | None
    filling: set[str] = field(default_factory=set)
    sharing: Sharing = field(default_factory=Sharing)
    depth: int = 0
    is_silent: bool = False

    def is_own(self, name: str) -> bool:
        """Whether a name that is assigned is that of a quantity, by which it is told."""
        if self.own is None:
            return False
        return self.depth == 0 or name in self.own or name not in self.scope.names

    def bind(self, name: str, meaning: Value) -> bool:
        """Let a name stand for what it is assigned; whether it is a quantity's own."""
        scope = self.scope
        self.filling.discard(name)
        if not self.is_own(name):
            scope.stands_for[name] = meaning
            return False
        assert self.own is not None
        tree, shape, whole, are_integers = None, None, None, False
        with suppress(UnreadCode):
            tree = scope.tree(meaning)
            if is_expressible(tree):
                shape = scope.shape(tree)
                are_integers = making.are_integers(tree, scope)
                whole = number(str(scope.whole(tree))) if shape == () else None
        self.own.add(name)
        scope.names.add(name)
        scope.drop(name)
        if tree is None:
            if meaning is not UNKNOWN:
                # It is no longer what it was told to be, and nobody knows what it is.
                scope.stand(name, meaning)
        elif not is_expressible(tree):
            scope.stand(name, tree)
        else:
            if are_integers:
                scope.integers.add(name)
            if shape is not None:
                scope.shapes[name] = shape
            if isinstance(meaning, Items):
                scope.stand(name, meaning)
            elif isinstance(tree, Labelled | syntax.Literal) or whole is not None:
                scope.known[name] = whole or tree
        return True

    def know(self, name: str, value: syntax.Tree) -> None:
        """Take what was printed of a name that nothing else is known of: its shape, and its
        numbers where it is a mask, which is never rounded."""
        scope = self.scope
        if name in scope.stands_for or name in scope.known:
            return
        if (shape := scope.shape(value)) is not None:
            scope.shapes[name] = shape
        if making.is_mask(value, scope):
            scope.known[name] = scope.each(value, lambda entry: number(entry.text))


def in_order(values: Mapping[str, Value]) -> list[tuple[str, Value]]:
    """Names with what they become: first those that others are not made of."""
    waiting = sorted(values.items())
    ordered: list[tuple[str, Value]] = []
    while waiting:
        names = [value_names(value) for _, value in waiting]
        free = [
            k
            for k, (name, _) in enumerate(waiting)
            if not any(name in other for j, other in enumerate(names) if j != k)
        ]
        ordered.append(waiting.pop(free[0] if free else 0))
    return ordered


def bound_arguments(
    reader: ExpressionReader,
    takes: ast.arguments,
    values: list[Value],
    named: dict[str, Value],
) -> dict[str, Value]:
    """What the parameters of a function stand for where it is called."""
    parameters = [parameter.arg for parameter in (*takes.posonlyargs, *takes.args)]
    if takes.vararg or takes.kwarg or len(values) > len(parameters):
        raise UnreadCode
    every = [*parameters, *(parameter.arg for parameter in takes.kwonlyargs)]
    first = len(parameters) - len(takes.defaults)
    defaults = dict(zip(every[first:], [*takes.defaults, *takes.kw_defaults], strict=True))
    bound = {name: reader.tried(node) for name, node in defaults.items() if node is not None}
    bound |= dict(zip(parameters, values, strict=False)) | named
    if bound.keys() != set(every):
        raise UnreadCode
    return bound


def is_plain(node: ast.FunctionDef, result: Value) -> bool:
    """Whether a function's value says all of it: it is a single return, or a softmax."""
    body = [
        statement
        for statement in node.body
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
    ]
    if len(body) == 1:
        return True
    match result:
        case syntax.Call("softmax") | syntax.Transposed(syntax.Call("softmax")):
            return not any(isinstance(statement, ast.Expr) for statement in body)
    return False
