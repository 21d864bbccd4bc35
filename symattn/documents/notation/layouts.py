"""Environments that lay equations out: rows that go on, equations side by side."""

from __future__ import annotations

from collections.abc import Sequence

from symattn.documents.notation.tokens import NotationToken, cut, matched
from symattn.documents.notation.vocabulary import LAYOUTS


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
        name = token.text[1:]
        if (
            token.kind in ("open", "close")
            and partners[at] >= 0
            and _lays_out(tokens, partners, at)
        ):
            opens = token.kind == "open"
            if name.endswith("cases") and opens and any(t.text != r"\{" for t in flat):
                flat.extend(tokens[at : partners[at] + 1])
                at = partners[at] + 1
                continue
            if opens and flat and flat[-1].text == r"\{":
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


def _lays_out(tokens: Sequence[NotationToken], partners: Sequence[int], at: int) -> bool:
    """Whether an environment that begins or ends there holds equations: also an array that
    has the signs of equality in cells of their own."""
    name = tokens[at].text[1:]
    if name in LAYOUTS or name != "array":
        return name in LAYOUTS
    rows = _rows(tokens, partners, min(at, partners[at]) + 1, max(at, partners[at]))
    return any(
        end - start == 1 and tokens[start].kind == "relation" for row in rows for start, end in row
    )


def _continues(before: list[NotationToken], following: list[NotationToken], aligned: bool) -> bool:
    """Whether a row goes on with the equation of the row before."""
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
