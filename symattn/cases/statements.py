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
    """The parsed statement; :class:`Malformed` if it is none."""
    tree = syntax.parse(text)
    parts = tree.parts if isinstance(tree, syntax.Conjunction) else (tree,)
    if not all(isinstance(part, syntax.Comparison) for part in parts):
        raise Malformed(f"{text!r} states nothing: expected a comparison with == < <= > >=")
    return tree
