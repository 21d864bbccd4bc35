"""Statements about a program: comparisons that are decided, not evaluated.

A statement is a conjunction of comparisons between expressions; on top of
what steps know it has ``argmax``, ``max``, ``min`` and ``abs`` and may ask for
a ``shape``.
"""

from __future__ import annotations

from symattn import syntax
from symattn.errors import Malformed
from symattn.programs.program import Program

#: Functions that only statements and claims about figures know.
FUNCTIONS = ("argmax", "max", "min", "abs", "shape")


def check_statement(program: Program, text: str) -> syntax.Tree:
    """The parsed statement; :class:`Malformed` if it is none, or if it speaks
    of names and shapes that the program doesn't have."""
    tree = syntax.parse(text)
    parts = tree.parts if isinstance(tree, syntax.Conjunction) else (tree,)
    for part in parts:
        if not isinstance(part, syntax.Comparison):
            raise Malformed(f"{text!r} states nothing: expected a comparison with == < <= > >=")
        for operand in part.operands:
            _check(program, operand)
    return tree


def _check(program: Program, tree: syntax.Tree) -> None:
    """Raise where the expressions that a program can compute don't fit it."""
    if isinstance(tree, syntax.Sequence) or _is_own(tree):
        for part in _parts(tree):
            _check(program, part)
    else:
        program.lower_tree(tree)


def _is_own(tree: syntax.Tree) -> bool:
    """Whether a function occurs that steps don't know."""
    if isinstance(tree, syntax.Call) and tree.function in FUNCTIONS:
        return True
    return any(map(_is_own, _parts(tree)))


def _parts(tree: syntax.Tree) -> tuple[syntax.Tree, ...]:
    match tree:
        case syntax.Negative(operand) | syntax.Transposed(operand) | syntax.Indexed(operand, _):
            return (operand,)
        case syntax.Binary(_, left, right):
            return (left, right)
        case syntax.Call(_, parts) | syntax.Sequence(parts) | syntax.Conjunction(parts):
            return parts
        case syntax.Comparison(operands, _):
            return operands
    return ()
