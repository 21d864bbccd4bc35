r"""Subscripts and brackets as indices, where they are no part of a name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from symattn import syntax
from symattn.documents.notation.tokens import NotationToken
from symattn.spelling import GREEK
from symattn.syntax import Tree

#: One index: a whole number, all or a part of an axis, or letters.
Index = syntax.Key | Tree

#: Letters that are indices: alone, and together.
_ALONE = frozenset("ij")
_INDICES = frozenset("ijklmnrst")
#: Letters that could all be indices, and rather are a word.
_WORDS = frozenset(("in", "is", "it", "tr", "kl", "st", "ln", "min", "lin", "nil", "mlm", "sim"))
#: Letters that count, and have no entries.
_COUNTS = frozenset("dnNTLHhmB")
_WHOLE = re.compile(r"-?[0-9]{1,5}")
_SLICE = re.compile(r"(-?[0-9]{1,5})?:(-?[0-9]{1,5})?")


def subscript(base: str, tokens: Sequence[NotationToken]) -> tuple[Index, ...] | None:
    r"""A subscript as indices; nothing where it is part of the name.

    ``base`` is the name before it, in plain letters: ``A_{12}`` and ``S_{ij}`` are
    entries, ``q_1``, ``d_{64}``, ``d_k`` and ``S_{\text{scaled}}`` are names.
    """
    if not tokens or len(tokens) > 12 or any(token.kind == "words" for token in tokens):
        return None
    pieces = _parted(tokens)
    if len(pieces) > 1:
        indices = [index(piece) for piece in pieces]
        known = tuple(key for key in indices if key is not None)
        return known if len(known) == len(indices) else None
    texts = [token.text for token in tokens]
    together = "".join(texts)
    if together.isdigit() and together.isascii():
        is_letter = len(base) == 1 or "_" in base or base.lower() in GREEK
        if len(together) != 2 or not is_letter or base in _COUNTS:
            return None
        return int(together[0]), int(together[1])
    if re.fullmatch("[a-z0-9]{1,3}", together):
        if together in _WORDS or not all(s in _INDICES or s.isdigit() for s in together):
            return None
        if len(together) == 1:
            return (syntax.Name(together),) if together in _ALONE else None
        return tuple(
            syntax.Literal(sign) if sign.isdigit() else syntax.Name(sign) for sign in together
        )
    key = index(tokens)
    return (key,) if isinstance(key, syntax.Binary) else None


def brackets(tokens: Sequence[NotationToken]) -> tuple[Index, ...] | None:
    """What stands in brackets right behind a name as indices: ``[0, 1]``, ``[:, j]``."""
    if not are_indices(tokens):
        return None
    indices = [index(piece) for piece in _parted(tokens)]
    known = tuple(key for key in indices if key is not None)
    return known if len(known) == len(indices) else None


def are_indices(tokens: Sequence[NotationToken]) -> bool:
    """Whether there are only whole numbers, letters and slices."""
    return 0 < len(tokens) <= 9 and all(
        (token.kind == "number" and token.text.isdigit() and len(token.text) < 6)
        or token.text in (",", ":", "-", "+")
        or (token.kind == "name" and len(token.text) == 1)
        for token in tokens
    )


def _parted(tokens: Sequence[NotationToken]) -> list[list[NotationToken]]:
    """Tokens between commas."""
    pieces: list[list[NotationToken]] = [[]]
    for token in tokens:
        if token.text == ",":
            pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces


def index(tokens: Sequence[NotationToken]) -> Index | None:
    """One index: a whole number, a letter, a letter and a step, a slice, all of an axis."""
    texts = [token.text for token in tokens]
    match texts:
        case [":"] | ["·"] | ["*"]:
            return syntax.Slice(None, None, None)
        case [text] if len(text) == 1 and text.islower() and text.isascii():
            return syntax.Name(text)
        case [text, ("+" | "-") as sign, step] if len(text) == 1 and text.islower():
            return (
                syntax.Binary(sign, syntax.Name(text), syntax.Literal(step))
                if (step.isdigit())
                else None
            )
    together = "".join(texts)
    if _WHOLE.fullmatch(together):
        return int(together)
    if match := _SLICE.fullmatch(together):
        start, stop = (None if part is None else int(part) for part in match.groups())
        return syntax.Slice(start, stop, None)
    return None


def entry(tree: Tree, indices: Sequence[Index]) -> Tree:
    """A quantity at its indices: numbers and slices, or expressions in letters.

    >>> A, j = syntax.Name("A"), syntax.Name("j")
    >>> syntax.text(entry(A, (1, 2))), syntax.text(entry(A, (1, j)))
    ('A[1, 2]', 'A[1, j]')
    """
    keys = tuple(index for index in indices if isinstance(index, int | syntax.Slice))
    if len(keys) == len(indices):
        match tree:
            case syntax.Indexed(operand, (int() as line,)) if len(keys) == 1:
                return syntax.Indexed(operand, (line, *keys))
        return syntax.Indexed(tree, keys)
    if isinstance(indices[0], syntax.Slice):
        tree = syntax.Transposed(tree)
    places = tuple(
        syntax.Literal(str(index)) if isinstance(index, int) else index
        for index in indices
        if not isinstance(index, syntax.Slice)
    )
    match tree:
        case syntax.Cell(operand, (row,)) if len(places) == 1:
            return syntax.Cell(operand, (row, *places))
    return syntax.Cell(tree, places)
