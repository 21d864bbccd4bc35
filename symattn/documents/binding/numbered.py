"""Definitions of one row, entry or head, by letter or number, as those of whole matrices."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from symattn import syntax
from symattn.documents.binding import values
from symattn.documents.trees import Chain, Member, Opaque, walk


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
            letters = [place.name for place in places if isinstance(place, syntax.Name)]
            if len(letters) != len(places) or len(set(letters)) != len(letters):
                return None
            whole = _whole(body, letters)
            return None if whole is None else (name, whole)
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
            whole := _product(left, right, letters)
        ) is not None:
            return whole
        case syntax.Binary(op, left, right):
            return _exponentials(tree, letters) or _pair(op, left, right, letters)
        case syntax.Call("sum", (syntax.Binary("@" | "*", left, right), syntax.Name(over))):
            return _summed(left, right, over, letters)
        case syntax.Call("softmax", (scores, *_)) if len(letters) == 2:
            whole = _whole(scores, letters)
            return None if whole is None else syntax.Call("softmax", (whole,))
        case syntax.Call(function, (operand,)) if function in ("exp", "sqrt", "tanh"):
            whole = _whole(operand, letters)
            return None if whole is None else syntax.Call(function, (whole,))
        case syntax.Call("kept", (entry, syntax.Comparison(sides, (relation,)))):
            whole = _whole(entry, letters)
            return (
                None
                if whole is None or not _is_causal(sides, relation, letters)
                else _causal(whole)
            )
        case syntax.Negative(operand):
            whole = _whole(operand, letters)
            return None if whole is None else syntax.Negative(whole)
    return None


def _is_causal(sides: tuple[syntax.Tree, ...], relation: str, letters: list[str]) -> bool:
    """Whether a condition holds on and below the diagonal."""
    compared = _letters(sides)
    return (compared, relation) in ((letters, ">="), (letters[::-1], "<="))


def _causal(tree: syntax.Tree) -> syntax.Tree:
    return syntax.Call("causal", (tree,))


def _letters(places: tuple[syntax.Tree, ...]) -> list[str]:
    return [place.name if isinstance(place, syntax.Name) else "" for place in places]


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


#: A row by its number: q_1, k2.
_ROW = re.compile(r"(?P<base>[a-z]+)_?(?P<number>[0-9]{1,3})\Z")
#: What there is one of for each head, by a letter or a number: Q_i, W_Q_1.
_EACH = re.compile(r"(?P<base>[A-Za-z]\w*)_(?P<number>[hijlmn])\Z")
_ONE = re.compile(r"(?P<base>[A-Za-z]\w*)_(?P<number>[0-9]{1,2})\Z")
#: The letters that stand for the numbers of rows and columns.
_LETTERS = (syntax.Name("i"), syntax.Name("j"))
#: More heads than that are not written out.
_HEADS = 16


def by_numbers(head: Member, body: Member) -> tuple[str, syntax.Tree] | None:
    """What a row or an entry by its number shows of the whole, or None: on the right stand
    the rows of the same numbers, and what has none.

    >>> name, tree = by_numbers(syntax.parse("y_2"), syntax.parse("x_2 + o_2"))
    >>> name, syntax.text(tree)
    ('y', 'x + o')
    >>> by_numbers(syntax.parse("x_2"), syntax.parse("x_1 + o_1"))
    """
    if isinstance(body, syntax.Name):
        # The first row of an output may happen to be that of the values.
        return None
    match head:
        case syntax.Name(name) if match := _ROW.match(name):
            base, numbers = match["base"], [int(match["number"])]
        case syntax.Indexed(syntax.Name(base), (int() as row, int() as column)):
            numbers = [row, column]
        case _:
            return None
    letters = list(_LETTERS[: len(numbers)])
    lettered = _lettered(body, numbers, letters)
    if lettered is None or not any(isinstance(part, syntax.Cell) for part in walk(lettered)):
        return None
    return by_letters(syntax.Cell(syntax.Name(base), tuple(letters)), lettered)


def _lettered(tree: Member, numbers: list[int], letters: list[syntax.Name]) -> syntax.Tree | None:
    """An expression with letters for the numbers of its rows; None where it has others, or
    works with numbers of its own."""
    match tree:
        case syntax.Name(name) if match := _ROW.match(name):
            if numbers != [int(match["number"])]:
                return None
            return syntax.Cell(syntax.Name(match["base"]), (letters[0],))
        case syntax.Name(name):
            # What has a number otherwise may be that of a head.
            return None if _ONE.match(name) else tree
        case syntax.Transposed(operand):
            of = _lettered(operand, numbers, letters)
            return None if of is None else syntax.Transposed(of)
        case syntax.Binary("/", left, syntax.Literal() | syntax.Call("sqrt") as below):
            above = _lettered(left, numbers, letters)
            return None if above is None else syntax.Binary("/", above, below)
        case syntax.Binary("@" | "*" as op, left, right) if len(numbers) == 2:
            # The first of two rows that are multiplied is that of the row.
            first = _lettered(left, numbers[:1], letters[:1])
            second = _lettered(right, numbers[1:], letters[1:])
        case syntax.Binary("@" | "+" as op, left, right):
            first = _lettered(left, numbers, letters)
            second = _lettered(right, numbers, letters)
        case _:
            return None
    return None if first is None or second is None else syntax.Binary(op, first, second)


def heads(chains: Sequence[Chain]) -> list[dict[str, str]]:
    """For each head that the article has something with the number of: what names in the
    letter of a head are called there, ``Q_i`` and ``W_i`` in ``Q_i = X @ W_i``.

    >>> from symattn.documents.text import Span
    >>> def chain(*said): return Chain(tuple(map(syntax.parse, said)), ("=",), (Span(0, 0),) * 2)
    >>> heads([chain("W_1", "2"), chain("W_2", "3"), chain("Q_i", "X @ W_i")])
    [{'Q_i': 'Q_1', 'W_i': 'W_1'}, {'Q_i': 'Q_2', 'W_i': 'W_2'}]
    """
    general: set[str] = set()
    numbers: dict[str, set[int]] = {}
    for chain in chains:
        names = {
            name
            for member in chain.members
            if not isinstance(member, Opaque)
            for name in syntax.names(member)
        }
        match chain.members[0]:
            case syntax.Name(name) if (each := _EACH.match(name)) and len(chain.members) > 1:
                general |= {
                    other for other in names if (of := _EACH.match(other)) and of[2] == each[2]
                }
        for name in names:
            if match := _ONE.match(name):
                numbers.setdefault(match[1], set()).add(int(match[2]))
    bases = {name: name[:-2] for name in sorted(general)}
    known = set().union(*(numbers.get(base, set()) for base in bases.values()))
    if not bases or len(known) < 2:
        return []
    return [
        {name: f"{base}_{number}" for name, base in bases.items()}
        for number in sorted(known)[:_HEADS]
    ]


def in_letters(chains: Sequence[Chain]) -> list[Chain]:
    """The chains with ``Q_i`` for ``Q[i]``, where each is the matrix of a head and no row:
    where Q_1 is printed as one, or Q_i is computed from such matrices."""
    matrices = {
        match[1]
        for chain in chains
        if (match := _ONE.match(_name(chain.members[0]))) and any(map(_is_matrix, chain.members))
    }
    if not matrices:
        return list(chains)
    known = 0
    while known < len(matrices):
        known = len(matrices)
        for chain in chains:
            head, *bodies = chain.members
            if isinstance(head, syntax.Cell) and any(
                _base(part) in matrices for body in bodies for part in walk(body)
            ):
                matrices |= {_base(head)} - {""}
    return [
        replace(chain, members=tuple(_without_cells(member, matrices) for member in chain.members))
        for chain in chains
    ]


def _name(tree: Member) -> str:
    return tree.name if isinstance(tree, syntax.Name) else ""


def _is_matrix(member: Member) -> bool:
    return values.is_value(member) and len(values.shape(member)) == 2


def _base(tree: Member) -> str:
    """The name that one letter stands below, or ''."""
    match tree:
        case syntax.Cell(syntax.Name(name), (syntax.Name(letter),)) if _EACH.match(
            f"{name}_{letter}"
        ):
            return name
    return ""


def _without_cells(tree: Member, matrices: set[str]) -> Member:
    if isinstance(tree, Opaque):
        return tree
    return syntax.replaced(tree, lambda part: _each_of(part) if _base(part) in matrices else None)


def _each_of(tree: syntax.Tree) -> syntax.Tree:
    assert isinstance(tree, syntax.Cell)
    return syntax.Name(f"{_base(tree)}_{_name(tree.places[0])}")
