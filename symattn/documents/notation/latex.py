"""Formulas in LaTeX as tokens, without what only says how they look."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from symattn.documents.notation.tokens import (
    NotationToken,
    as_numbers,
    cut,
    matched,
    outside,
    scanned,
)
from symattn.documents.notation.vocabulary import (
    ARROWS,
    BRACES,
    IGNORED,
    LAYOUTS,
    MATRICES,
    STACKED,
    STYLES,
    UNSHOWN,
    UPRIGHT,
    WITH_ARGUMENT,
    straight,
)

_UPRIGHT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*+")
#: Tokens of the label of a brace, at most.
_LABEL = 60
_SPACING = re.compile(r"\[\s*+-?[0-9.]++\s*+(?:pt|em|ex|mm|cm|in|px|mu)\s*+\]")


def latex_tokens(string: str) -> list[NotationToken]:
    r"""The tokens of a formula, without what says only how it looks.

    >>> [token.text for token in latex_tokens(r"\mathbf{Q}K^\top \approx \left[0.50\right]")]
    ['Q', 'K', '^', '⊤', '≈', '[', '0.50', ']']
    """
    return list(as_numbers(_shown(list(scanned(straight(string), latex=True)), string)))


def _shown(tokens: list[NotationToken], string: str) -> list[NotationToken]:
    """The tokens of LaTeX without those that only say how it looks."""
    partners = matched(tokens)
    gone = bytearray(len(tokens))
    kept: list[NotationToken] = []
    #: Labels of braces, which are read behind the formula.
    labels: list[NotationToken] = []
    braced: set[int] = set()
    spaced = False
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if gone[at - 1]:
            continue
        text = token.text
        if token.kind != "command":
            if text == "{" and _is_bare(tokens, gone, at - 1, partners[at - 1]):
                # "{=}" and "{W}_Q" group nothing.
                gone[partners[at - 1]] = 1
                continue
            if at - 1 in braced and at + 1 < len(tokens) and tokens[at].kind == "script":
                label = partners[at + 1]
                kept.append(token)
                if 0 < label - at <= _LABEL:
                    labels.append(NotationToken("separator", "quad", token.end, token.end))
                    labels.extend(_shown(tokens[at + 2 : label], string))
                    at = label + 1
                continue
            if token.kind == "row" and (spacing := _SPACING.match(string, token.end)):
                while at < len(tokens) and tokens[at].start < spacing.end():
                    at += 1
            if token.kind == "open" and text[1:] in WITH_ARGUMENT:
                at = _after_arguments(tokens, partners, at, 1)
            kept.append(token._replace(spaced=token.spaced or spaced))
            spaced = False
        elif text in IGNORED:
            spaced = True
            if text in (r"\left", r"\right") and at < len(tokens) and tokens[at].text == ".":
                at += 1
        elif text in UNSHOWN:
            at = _after_arguments(tokens, partners, at, UNSHOWN[text])
        elif text in STACKED:
            at = _after_arguments(tokens, partners, at, 1)
            _flatten(tokens, partners, gone, at)
        elif text in ARROWS:
            end = _after_arguments(tokens, partners, at, 1)
            shown = _shown(tokens[_after_arguments(tokens, partners, at, 0) + 1 : end - 1], string)
            at = end
            link = token._replace(kind="relation", text=ARROWS[text])
            if shown and shown[0].kind == "operator":
                # What is done to it: the arrow leads from what comes of that.
                kept += [*shown, link]
            elif shown and link.text != "=":
                first, last = shown[0].start, shown[-1].end
                kept.append(NotationToken("words", string[first:last], first, last))
            else:
                kept.append(link)
        elif text in BRACES:
            if at < len(tokens):
                braced.add(partners[at])
        elif text in STYLES:
            _flatten(tokens, partners, gone, at)
        elif text in UPRIGHT:
            if end := _closing(tokens, partners, at):
                inner = string[tokens[at].end : tokens[end].start]
                behind = tokens[end + 1].kind if end + 1 < len(tokens) else "row"
                is_unit = inner[:1].isspace() and bool(kept) and kept[-1].kind == "number"
                if is_unit and behind in ("relation", "separator", "row", "other"):
                    # "0.63 bits" is no product.
                    kept.append(NotationToken("words", inner, tokens[at].end, tokens[end].start))
                else:
                    kept.extend(_upright(inner, tokens, at, end, token))
                at = end + 1
        elif text in (r"\frac", r"\dfrac", r"\tfrac", r"\cfrac"):
            kept.append(token._replace(text=r"\frac", spaced=token.spaced or spaced))
            spaced = False
            while at < len(tokens) and tokens[at].kind == "number":
                # \frac12 is a half.
                number = tokens[at]
                kept.extend(
                    NotationToken("number", digit, number.start + i, number.start + i + 1)
                    for i, digit in enumerate(string[number.start : number.end])
                )
                at += 1
        else:
            kept.append(token._replace(spaced=token.spaced or spaced))
            spaced = False
    return kept + labels


def _is_bare(tokens: Sequence[NotationToken], gone: bytearray, opening: int, closing: int) -> bool:
    """Return whether braces hold one sign or less, and are no argument."""
    before = tokens[opening - 1].kind if opening and not gone[opening - 1] else ""
    if before in ("script", "command", "close"):
        return False
    if closing == opening + 1:
        return True
    return closing == opening + 2 and tokens[opening + 1].kind in ("name", "relation", "operator")


def _flatten(
    tokens: Sequence[NotationToken], partners: Sequence[int], gone: bytearray, at: int
) -> None:
    """Pass over the braces of a style's argument."""
    if end := _closing(tokens, partners, at):
        gone[at] = gone[end] = 1


def _after_arguments(
    tokens: Sequence[NotationToken], partners: Sequence[int], at: int, count: int
) -> int:
    """The place behind some arguments, and an option before them."""
    for bracket in ("[", *"{" * count):
        if end := _closing(tokens, partners, at, bracket):
            at = end + 1
    return at


def _closing(
    tokens: Sequence[NotationToken], partners: Sequence[int], at: int, bracket: str = "{"
) -> int:
    """The partner of a bracket that opens at a place; 0 where none does."""
    return max(partners[at], 0) if at < len(tokens) and tokens[at].text == bracket else 0


def _upright(
    inner: str, tokens: Sequence[NotationToken], opening: int, closing: int, command: NotationToken
) -> Iterator[NotationToken]:
    """Upright letters: a name, a number, or words."""
    start, end = tokens[opening].end, tokens[closing].start
    left = len(inner) - len(inner.lstrip())
    stripped = inner.strip().replace(r"\_", "_")
    spaced = command.spaced
    # " e " and " y " between blanks are words, of other languages.
    is_word = len(stripped) <= 2 and inner[:1].isspace() and inner[-1:].isspace()
    if _UPRIGHT_NAME.fullmatch(stripped) and not is_word:
        yield NotationToken("name", stripped, start + left, start + len(inner.rstrip()), spaced)
    elif re.search("[A-Za-z]", stripped) and not re.search(r"[\\^_]|[0-9]\s*+[-+*/=]", stripped):
        yield NotationToken("words", inner, start, end, spaced)
    else:
        yield from tokens[opening + 1 : closing]


# -- environments that lay equations out ---------------------------------------------------
# Rows that go on, equations side by side.


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
        elif token.text == "quad" and (
            (flat and flat[-1].kind == "operator")
            or [one.kind for one in tokens[at + 1 : at + 3]] == ["operator", "separator"]
            or [one.text for one in tokens[at + 1 : at + 2]] in (["×"], ["*"], ["·"], ["/"])
        ):
            # Beside an operator a wide space parts no formulas; one before a sign may.
            pass
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
        ranges = cut(tokens, partners, opening + 1, closing, "row")
        rows = [cut(tokens, partners, *row, "cell") for row in ranges]
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
