"""Which arrays are masks, and numbers that are known held against others."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from fractions import Fraction

from symattn import syntax
from symattn.documents.python.values import CodeScope, UnreadCode, number
from symattn.documents.trees import Labelled

_COMPARED: dict[type[ast.cmpop], Callable[[Fraction, Fraction], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


def is_mask(tree: syntax.Tree, scope: CodeScope) -> bool | None:
    """Whether all entries are 0 or 1; None where nobody knows.

    >>> from symattn.syntax import parse
    >>> is_mask(parse("[[1, 0], [1, 1]]"), CodeScope()), is_mask(parse("[1, 2]"), CodeScope())
    (True, False)
    >>> is_mask(parse("M"), CodeScope())
    """
    match tree:
        case syntax.Call("not" | "triangle"):
            return True
        case syntax.Literal(text):
            return text in ("0", "1", "0.0", "1.0")
        case syntax.Array(items):
            return all(is_mask(item, scope) for item in items)
        case syntax.Name(name) if name in scope.known:
            return is_mask(scope.tree(scope.known[name]), scope)
        case syntax.Name(name):
            return False if name in scope.shapes else None
        case syntax.Indexed(operand) | syntax.Transposed(operand):
            return is_mask(operand, scope)
    return False


def is_whole(tree: syntax.Tree, scope: CodeScope) -> bool:
    """Whether all entries are known to be whole numbers."""
    match tree:
        case syntax.Literal(text):
            return text.lstrip("-").isdigit()
        case syntax.Array(items):
            return all(is_whole(item, scope) for item in items)
        case syntax.Name(name) if name in scope.known:
            return is_whole(scope.tree(scope.known[name]), scope)
        case syntax.Call("rows" | "cols"):
            return True
    return is_mask(tree, scope) is not False


def kept(tree: syntax.Tree) -> syntax.Tree | None:
    """The mask of an array that is added to scores: 1 where it has 0, 0 where it has
    minus infinity; None of any other array.

    >>> from symattn.documents.python.values import HIDDEN
    >>> syntax.text(kept(Labelled((number("0"), HIDDEN))))
    '[1, 0]'
    """
    match tree:
        case syntax.Array(items):
            entries = tuple(entry for entry in map(kept, items) if entry is not None)
            return Labelled(entries) if len(entries) == len(items) else None
        case syntax.Literal("0" | "0.0" | "-inf" as text):
            return number("0" if text == "-inf" else "1")
    return None


def chosen(
    condition: syntax.Tree, yes: syntax.Literal, no: syntax.Literal, scope: CodeScope
) -> syntax.Tree:
    """One number where a mask that is known has 1, another where it has 0."""
    match condition:
        case syntax.Call("not", (inner,)):
            return chosen(inner, no, yes, scope)
        case syntax.Name(name) if name in scope.known:
            return chosen(scope.tree(scope.known[name]), yes, no, scope)
        case syntax.Array(items):
            return Labelled(tuple(chosen(item, yes, no, scope) for item in items))
        case syntax.Literal(text):
            return number((no if text in ("0", "0.0") else yes).text)
    raise UnreadCode


def compared(tree: syntax.Tree, op: ast.cmpop, limit: syntax.Tree, scope: CodeScope) -> syntax.Tree:
    """1 where a number that is known compares so with another, 0 elsewhere."""
    match tree:
        case syntax.Name(name) if name in scope.known:
            return compared(scope.tree(scope.known[name]), op, limit, scope)
        case syntax.Array(items):
            return Labelled(tuple(compared(item, op, limit, scope) for item in items))
        case syntax.Literal(text) if isinstance(limit, syntax.Literal) and type(op) in _COMPARED:
            try:
                holds = _COMPARED[type(op)](Fraction(text), Fraction(limit.text))
            except ValueError:
                raise UnreadCode from None
            return number("1" if holds else "0")
    raise UnreadCode
