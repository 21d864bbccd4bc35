"""Expressions with parts of them replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from symattn import syntax


def renamed(tree: syntax.Tree, called: Callable[[str], syntax.Tree]) -> syntax.Tree:
    """The tree with every name replaced by the tree that ``called`` gives for it.

    >>> syntax.text(renamed(syntax.parse("Q @ K.T"), lambda name: syntax.Name(name.lower())))
    'q @ k.T'
    """

    return replaced(tree, lambda one: called(one.name) if isinstance(one, syntax.Name) else None)


def replaced(tree: syntax.Tree, by: Callable[[syntax.Tree], syntax.Tree | None]) -> syntax.Tree:
    """The tree with each part replaced that ``by`` gives another tree for.

    >>> doubled = lambda one: syntax.parse("4") if one == syntax.parse("2") else None
    >>> syntax.text(replaced(syntax.parse("x / 2"), doubled))
    'x / 4'
    """

    def of(part: syntax.Tree) -> syntax.Tree:
        if (other := by(part)) is not None:
            return other
        match part:
            case syntax.Negative(operand):
                return syntax.Negative(of(operand))
            case syntax.Transposed(operand):
                return syntax.Transposed(of(operand))
            case syntax.Indexed(operand, keys):
                return syntax.Indexed(of(operand), keys)
            case syntax.Binary(op, left, right):
                return syntax.Binary(op, of(left), of(right))
            case syntax.Power(base, exponent):
                return syntax.Power(of(base), of(exponent))
            case syntax.Call(function, arguments):
                return syntax.Call(function, tuple(map(of, arguments)))
            case syntax.Array(items):
                return replace(part, items=tuple(map(of, items)))
            case syntax.Cell(operand, places):
                return syntax.Cell(of(operand), places)
            case syntax.Comparison(operands, relations):
                return syntax.Comparison(tuple(map(of, operands)), relations)
            case syntax.Sequence(items):
                return syntax.Sequence(tuple(map(of, items)))
        return part

    return of(tree)
