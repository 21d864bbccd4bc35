"""Definitions in letters: what ``S[i, j] = q[i] @ k[j]`` says of whole matrices."""

from __future__ import annotations

from symattn import syntax
from symattn.documents.trees import Member


def by_letters(head: Member, body: Member) -> tuple[str, syntax.Tree] | None:
    """What an entry or a row in letters defines as a whole, or None: every index of the
    left side stands on the right where rows and columns are, others are summed over.

    >>> head = syntax.parse("S[i, j]", letters=True)
    >>> name, tree = by_letters(head, syntax.parse("q[i] @ k[j] / sqrt(d)", letters=True))
    >>> name, syntax.text(tree)
    ('S', 'q @ k.T / sqrt(d)')
    """
    match head:
        case syntax.Cell(syntax.Name(name), places):
            letters = [one.name for one in places if isinstance(one, syntax.Name)]
            if len(letters) != len(places) or len(set(letters)) != len(letters):
                return None
            made = _whole(body, letters)
            return None if made is None else (name, made)
        case syntax.Name(name):
            match body:
                case syntax.Cell(syntax.Name() as operand, places) if all(_letters(places)):
                    # E = (e_ij)
                    return name, operand
    return None


def _whole(tree: Member, letters: list[str]) -> syntax.Tree | None:
    """A matrix whose entry, or row, at the letters the tree is."""
    match tree:
        case syntax.Literal() | syntax.Name():
            return tree
        case syntax.Cell(operand, places) if _letters(places) == letters:
            return operand
        case syntax.Binary("@" | "*", left, right) if (
            made := _product(left, right, letters)
        ) is not None:
            return made
        case syntax.Binary(op, left, right):
            return _exponentials(tree, letters) or _pair(op, left, right, letters)
        case syntax.Call("sum", (syntax.Binary("@" | "*", left, right), syntax.Name(over))):
            return _summed(left, right, over, letters)
        case syntax.Call("softmax", (scores, *_)) if len(letters) == 2:
            made = _whole(scores, letters)
            return None if made is None else syntax.Call("softmax", (made,))
        case syntax.Call(function, (operand,)) if function in ("exp", "sqrt", "tanh"):
            made = _whole(operand, letters)
            return None if made is None else syntax.Call(function, (made,))
        case syntax.Call("kept", (entry, syntax.Comparison(sides, (relation,)))):
            made = _whole(entry, letters)
            return (
                None if made is None or not _is_causal(sides, relation, letters) else _causal(made)
            )
        case syntax.Negative(operand):
            made = _whole(operand, letters)
            return None if made is None else syntax.Negative(made)
    return None


def _is_causal(sides: tuple[syntax.Tree, ...], relation: str, letters: list[str]) -> bool:
    """Whether a condition holds on and below the diagonal."""
    compared = _letters(sides)
    return (compared, relation) in ((letters, ">="), (letters[::-1], "<="))


def _causal(tree: syntax.Tree) -> syntax.Tree:
    return syntax.Call("causal", (tree,))


def _letters(places: tuple[syntax.Tree, ...]) -> list[str]:
    return [one.name if isinstance(one, syntax.Name) else "" for one in places]


def _pair(op: str, left: syntax.Tree, right: syntax.Tree, letters: list[str]) -> syntax.Tree | None:
    parts = _whole(left, letters), _whole(right, letters)
    if parts[0] is None or parts[1] is None:
        return None
    return syntax.Binary(op, parts[0], parts[1])


def _product(left: syntax.Tree, right: syntax.Tree, letters: list[str]) -> syntax.Tree | None:
    """Rows of two matrices multiplied, or a row by a matrix."""
    match _untransposed(left), _untransposed(right), letters:
        case syntax.Cell(x, rows), syntax.Cell(y, others), [i, j]:
            if (_letters(rows), _letters(others)) == ([i], [j]):
                return syntax.Binary("@", x, syntax.Transposed(y))
        case syntax.Cell(x, rows), syntax.Name(), [i] if _letters(rows) == [i]:
            return syntax.Binary("@", x, right)
    return None


def _untransposed(tree: syntax.Tree) -> syntax.Tree:
    """A row, also where it is written as the transpose of a column."""
    match tree:
        case syntax.Transposed(syntax.Cell(_, (_,)) as row):
            return row
    return tree


def _summed(
    left: syntax.Tree, right: syntax.Tree, over: str, letters: list[str]
) -> syntax.Tree | None:
    """A sum of products over an index: a product of matrices."""
    match left, right:
        case syntax.Cell(x, first), syntax.Cell(y, second):
            match letters, _letters(first), _letters(second):
                case [i], [a, b], [c] if (a, b, c) == (i, over, over):
                    return syntax.Binary("@", x, y)
                case [i, j], [a, b], [c, d] if (a, b) == (i, over) and (c, d) == (over, j):
                    return syntax.Binary("@", x, y)
                case [i, j], [a, b], [c, d] if (a, b) == (i, over) and (c, d) == (j, over):
                    return syntax.Binary("@", x, syntax.Transposed(y))
    return None


def _exponentials(tree: syntax.Binary, letters: list[str]) -> syntax.Tree | None:
    """An exponential over the sum of those of its row: a softmax."""
    match tree:
        case syntax.Binary(
            "/",
            syntax.Call("exp", (above,)),
            syntax.Call("sum", (syntax.Call("exp", (below,)), syntax.Name(over))),
        ) if len(letters) == 2:
            made, other = _whole(above, letters), _whole(below, [letters[0], over])
            if made is not None and made == other:
                return syntax.Call("softmax", (made,))
    return None
