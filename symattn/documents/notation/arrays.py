"""Arrays: environments of LaTeX, and lists in brackets.

Environments that lay equations out: rows that go on, equations side by side.

Two cases of an entry, one of them hidden: what a mask of LaTeX says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from symattn.documents.notation.tokens import (
    NotationToken,
    TokenRanges,
    UnreadNotation,
    cut,
    matched,
    outside,
)
from symattn.documents.notation.vocabulary import LAYOUTS, MATRICES
from symattn.documents.trees import Labelled, Opaque, PrintedFigure
from symattn.expressions import syntax
from symattn.expressions.syntax import Tree
from symattn.limits import ENTRIES
from symattn.numbers.rationals import MINUS_INFINITY

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
    """Return whether a cell is empty or a word: a label, or nothing."""
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


def laid_flat(tokens: list[NotationToken]) -> list[NotationToken]:
    r"""Tokens without the environments that lay equations out: rows that begin an
    equation are kept apart, those that go on are not.
    """
    tokens = _by_columns(tokens)
    partners = matched(tokens)
    flat: list[NotationToken] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if _has_cases(tokens, partners, at, flat):
            end = partners[at]
            if flat[-1].text == r"\{":
                flat.pop()
            flat.append(token._replace(text=r"\cases"))
            flat.extend(tokens[at + 1 : end])
            flat.append(tokens[end]._replace(text=r"\cases"))
            at = end + 1
            continue
        if (
            token.kind in ("open", "close")
            and partners[at] >= 0
            and _lays_out(tokens, partners, at)
        ):
            if token.kind == "open" and flat and flat[-1].text == r"\{":
                flat.pop()
        elif token.kind == "row":
            following = at + 1
            aligned = False
            while following < len(tokens) and (
                tokens[following].kind == "cell" or tokens[following].text == "quad"
            ):
                aligned = True
                following += 1
            if not _continues(flat, tokens[following : following + 1], aligned):
                flat.append(token)
            at = following
            continue
        elif token.kind == "cell":
            beside = [flat[-1:], tokens[at + 1 : at + 2]]
            kinds = {neighbour[0].kind for neighbour in beside if neighbour}
            if flat and not kinds & {"relation", "separator", "row", "cell", "operator"}:
                flat.append(token._replace(kind="separator", text="quad"))
        elif partners[at] > at:
            flat.extend(tokens[at : partners[at] + 1])
            at = partners[at]
        else:
            flat.append(token)
        at += 1
    return flat


def _has_cases(
    tokens: Sequence[NotationToken],
    partners: Sequence[int],
    at: int,
    before: Sequence[NotationToken],
) -> bool:
    r"""Return whether an environment that begins there tells cases of what stands before it: by its
    name, or as a brace opens before it that nothing closes, ``m = \left\{\begin{aligned}``."""
    name, end = tokens[at].text[1:], partners[at]
    if tokens[at].kind != "open" or end < at or all(one.text == r"\{" for one in before):
        return False
    is_closed = any(one.text == r"\}" for one in tokens[end + 1 : end + 2])
    is_braced = before[-1].text == r"\{" and not is_closed
    return name.endswith("cases") or (is_braced and (name in LAYOUTS or name in MATRICES))


def _lays_out(tokens: Sequence[NotationToken], partners: Sequence[int], at: int) -> bool:
    """Return whether an environment that begins or ends there holds equations: also an array that
    has signs of equality in its cells."""
    name = tokens[at].text[1:]
    if name in LAYOUTS or name != "array":
        return name in LAYOUTS
    inside = outside(partners, min(at, partners[at]) + 1, max(at, partners[at]))
    return any(tokens[place].kind == "relation" for place in inside)


def _continues(before: list[NotationToken], following: list[NotationToken], aligned: bool) -> bool:
    """Return whether a row goes on with the equation of the row before."""
    if before and before[-1].kind in ("relation", "operator"):
        return True
    if not following or not before:
        return False
    token = following[0]
    if token.kind == "relation":
        return token.text != "⇒"
    return token.kind == "operator" and (aligned or token.text not in "+-")


def _by_columns(tokens: list[NotationToken]) -> list[NotationToken]:
    """Tokens with the equations that stand side by side one after the other: those of
    the first two cells of each row, then those of the next."""
    partners = matched(tokens)
    ordered: list[NotationToken] = []
    copied = 0
    for opening, token in enumerate(tokens):
        closing = partners[opening]
        if opening < copied or closing < opening or token.text[1:] not in LAYOUTS:
            continue
        rows = _rows(tokens, partners, opening + 1, closing)
        if token.text[1:].endswith("cases") or max(map(len, rows)) < 3:
            continue
        ordered += tokens[copied : opening + 1]
        for column in range(0, max(map(len, rows)), 2):
            for row in rows:
                for start, end in row[column : column + 2]:
                    ordered += [_CELL, *tokens[start:end]]
                ordered.append(_ROW)
        copied = closing
    return ordered + tokens[copied:]


_CELL, _ROW = NotationToken("cell", "&", -1, -1), NotationToken("row", "", -1, -1)


def _rows(
    tokens: Sequence[NotationToken], partners: Sequence[int], start: int, end: int
) -> list[list[tuple[int, int]]]:
    """The cells of rows, as ranges."""
    rows = cut(tokens, partners, start, end, "row")
    return [cut(tokens, partners, *row, "cell") for row in rows]


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
    masked = [
        isinstance(entry, PrintedFigure) and entry.text == MINUS_INFINITY for entry in entries
    ]
    if sum(masked) != 1:
        raise UnreadNotation
    kept = masked.index(False)
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
