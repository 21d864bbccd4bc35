r"""Two cases of an entry, one of them hidden: what a mask of LaTeX says."""

from __future__ import annotations

from symattn import syntax
from symattn.documents.notation.tokens import TokenRanges, UnreadNotation
from symattn.documents.trees import PrintedFigure
from symattn.numbers.printed import MINUS_INFINITY
from symattn.syntax import Tree

_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def cases(grammar: TokenRanges, start: int, end: int) -> Tree:
    r"""``kept(entry, i >= j)`` of an entry that minus infinity stands for elsewhere::

    \begin{cases} s_{ij} & \text{if } i \ge j \\ -\infty & \text{otherwise} \end{cases}
    """
    rows = [grammar.cut(*row, "cell") for row in grammar.cut(start, end, "row")]
    rows = [row for row in rows if any(first < last for first, last in row)]
    if len(rows) != 2 or any(len(row) > 2 for row in rows):
        raise UnreadNotation
    entries = [grammar.inside(*_trimmed(grammar, *row[0])) for row in rows]
    conditions = [_condition(grammar, *row[1]) if len(row) > 1 else None for row in rows]
    hidden = [
        isinstance(entry, PrintedFigure) and entry.text == MINUS_INFINITY for entry in entries
    ]
    if sum(hidden) != 1:
        raise UnreadNotation
    kept = hidden.index(False)
    condition = conditions[kept] or _not(conditions[1 - kept])
    if condition is None:
        raise UnreadNotation
    return syntax.Call("kept", (entries[kept], condition))


def _not(condition: syntax.Comparison | None) -> syntax.Comparison | None:
    if condition is None:
        return None
    return syntax.Comparison(condition.operands, (_OPPOSITE[condition.relations[0]],))


def _trimmed(grammar: TokenRanges, start: int, end: int) -> tuple[int, int]:
    """A range without the comma that it ends with."""
    while end > start and grammar.tokens[end - 1].kind in ("separator", "words"):
        end -= 1
    return start, end


def _condition(grammar: TokenRanges, start: int, end: int) -> syntax.Comparison | None:
    """The letters that a cell compares, among words such as "if"; None where it doesn't."""
    for at in range(start + 1, end - 1):
        relation = grammar.tokens[at]
        sides = grammar.tokens[at - 1], grammar.tokens[at + 1]
        if relation.kind == "inequality" and all(side.kind == "name" for side in sides):
            letters = tuple(syntax.Name(side.text) for side in sides)
            return syntax.Comparison(letters, (relation.text,))
    return None
