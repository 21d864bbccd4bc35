r"""Arrays: environments of LaTeX, and lists in brackets."""

from __future__ import annotations

from typing import cast

from symattn.documents.notation.tokens import TokenRanges, UnreadNotation
from symattn.documents.trees import Labelled, Opaque
from symattn.limits import ENTRIES
from symattn.syntax import Tree

#: Environments that have no brackets of their own.
_UNFENCED = frozenset((r"\array", r"\matrix", r"\smallmatrix", r"\tabular"))


def matrix(grammar: TokenRanges, start: int, end: int, opening: int) -> Tree:
    """The rows of an environment, its labels apart."""
    rows = [grammar.cut(*row, "cell") for row in grammar.cut(start, end, "row") if row[0] < row[1]]
    if not rows or len({len(row) for row in rows}) > 1 or sum(map(len, rows)) > ENTRIES.most:
        raise UnreadNotation
    columns_said, rows_said, rows = _labels(grammar, rows)
    lines = [
        Labelled(
            tuple(_cell(grammar, *cell) for cell in row),
            span=grammar.span(row[0][0], row[-1][1]),
        )
        for row in rows
    ]
    return Labelled(tuple(lines), rows_said, columns_said, span=grammar.span(opening, end + 1))


def _labels(
    grammar: TokenRanges, rows: list[list[tuple[int, int]]]
) -> tuple[tuple[str, ...], tuple[str, ...], list[list[tuple[int, int]]]]:
    """The labels of columns and of rows, and the rows without them; nothing but numbers
    has labels."""
    first, below = rows[0], rows[1:]
    if len(first) < 2 or not below or not all(_is_said(grammar, *row[0]) for row in below):
        return (), (), rows
    if not all(_has_number(grammar, *cell) for row in below for cell in row[1:]):
        return (), (), rows
    columns_said: tuple[str, ...] = ()
    if all(not _has_number(grammar, *cell) for cell in first):
        columns_said = tuple(grammar.source(*cell).strip() for cell in first[1:])
        rows = below
    elif not _is_said(grammar, *first[0]):
        return (), (), rows
    rows_said = tuple(grammar.source(*row[0]).strip() for row in rows)
    return columns_said, rows_said, [row[1:] for row in rows]


def _is_said(grammar: TokenRanges, start: int, end: int) -> bool:
    """Whether a cell is empty or a word: a label, or nothing."""
    return start == end or all(
        grammar.tokens[i].kind == "words"
        or (grammar.tokens[i].kind == "name" and len(grammar.tokens[i].text) > 1)
        for i in range(start, end)
    )


def _has_number(grammar: TokenRanges, start: int, end: int) -> bool:
    return any(grammar.tokens[i].kind == "number" for i in range(start, end))


def _cell(grammar: TokenRanges, start: int, end: int) -> Tree:
    """An entry; what isn't understood is opaque."""
    try:
        return grammar.inside(start, end)
    except UnreadNotation:
        return cast(Tree, grammar.opaque(start, end))


def listed(grammar: TokenRanges, start: int, end: int, opening: int) -> Tree:
    """A list in square brackets: with commas, rows with semicolons, or with blanks only."""
    span = grammar.span(opening, end + 1)
    beside = grammar.cut(start, end, "condition")
    if len(beside) > 1 and all(grammar.tokens[end].text == r"\mid" for _, end in beside[:-1]):
        # [H_1 \mid H_2] are matrices side by side.
        return Labelled(tuple(grammar.inside(*part) for part in beside), span=span)
    rows = grammar.pieces(start, end, ";")
    if len(rows) > 1:
        lines = [_row(grammar, *row) for row in rows]
        if len({len(row) for row in lines}) > 1:
            raise UnreadNotation
        return Labelled(
            tuple(
                Labelled(row, span=grammar.span(*piece))
                for row, piece in zip(lines, rows, strict=True)
            ),
            span=span,
        )
    items = _row(grammar, start, end)
    if (
        len(items) == 1
        and grammar.tokens[start].text in _UNFENCED
        and grammar.partners[start] == end - 1
    ):
        # The brackets are those of the environment in them.
        return items[0]
    lengths = {len(item.items) if isinstance(item, Labelled) else -1 for item in items}
    if len(lengths) > 1 and not any(isinstance(item, Opaque) for item in items):
        raise UnreadNotation
    return Labelled(items, span=span)


def _row(grammar: TokenRanges, start: int, end: int) -> tuple[Tree, ...]:
    """The items of a list."""
    pieces = grammar.pieces(start, end)
    if len(pieces) == 1 and (apart := _apart(grammar, start, end)):
        pieces = apart
    return tuple(
        cast(Tree, grammar.opaque(*piece))
        if piece[1] - piece[0] == 1 and grammar.tokens[piece[0]].kind == "dots"
        else grammar.inside(*piece)
        for piece in pieces
    )


def _apart(grammar: TokenRanges, start: int, end: int) -> list[tuple[int, int]]:
    """Numbers, or lists, that only blanks keep apart; none where there is anything else."""
    ranges: list[tuple[int, int]] = []
    at = start
    while at < end:
        token = grammar.tokens[at]
        begun = at
        if token.kind == "operator" and token.text in "+-" and at + 1 < end:
            if grammar.tokens[at + 1].spaced:
                return []
            at += 1
            token = grammar.tokens[at]
        if token.kind == "number" or token.text in ("inf", "nan") or token.kind == "dots":
            at += 1
            if at < end and grammar.tokens[at].kind == "percent":
                at += 1
        elif token.text == "[" and grammar.partners[at] > 0 and at == begun:
            at = grammar.partners[at] + 1
        else:
            return []
        if ranges and not grammar.tokens[begun].spaced and token.text != "[":
            return []
        ranges.append((begun, at))
    return ranges if len(ranges) > 1 else []
