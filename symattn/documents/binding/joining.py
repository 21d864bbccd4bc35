"""Chains that go on behind a colon, a verb or in the next block: 'S = Q K^T is', and then the
matrix; or a heading with names, and below it a matrix for each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, takewhile

from symattn import syntax
from symattn.documents.binding import values
from symattn.documents.text import Span
from symattn.documents.trees import (
    Chain,
    Member,
    Named,
    Passage,
    Piece,
    ReadTable,
    Words,
    of_table,
)

#: Words between a name and its value.
_SAME = re.compile(
    r"(?:(?:is|are|be|equals?|becomes?|gives?|as|then|now|follows|the (?:matrix|vector|row)"
    r"|therefore|thus|matrix)\b|[:,≈=\s])*+",
    re.I,
)
#: Words that go on to announce the value of what they speak of.
_ANNOUNCES = re.compile(r"[^.!?;:]{0,60}[:：]\s*")
#: A name at the end of words that announce something.
_NAME = re.compile(
    r"(?<![\w'’])(?P<name>[A-Z](?:_?[A-Za-z0-9]{1,3})?)\s*+(?:=|:|：|is|are)?+\s*+\Z"
)


def joined(passages: Sequence[Passage]) -> Iterator[Passage]:
    """The passages, a value that stands by itself joined to the chain that it belongs to.

    That is the chain before it, when only words such as "is" or a colon stand between
    them, also in the next passage; or a single name that the words before end with. A
    table that is a matrix is such a value as well.
    """
    before: Chain | None = None
    captioned: Chain | None = None
    for passage in _below_headings(passages):
        above, captioned = captioned, _only_name(passage)
        if passage.kind in ("heading", "note") or _is_program(passage):
            before = None
            yield passage
            continue
        pieces: list[Piece] = []
        for piece in passage.pieces:
            match piece:
                case Words(text):
                    name = _NAME.search(text)
                    if name is not None and text.rstrip().endswith((":", "：")):
                        before = _mention(piece, name)
                    elif not _SAME.fullmatch(text) and not (pieces and _ANNOUNCES.fullmatch(text)):
                        # Words that begin a paragraph announce something of their own.
                        before = None
                    pieces.append(piece)
                case Chain((value,)) if before is not None and values.is_value(value):
                    piece = _continued(before, value, piece.span)
                    before = None
                    pieces.append(piece)
                case Chain():
                    before = None if values.is_value(piece.members[-1]) else piece
                    pieces.append(piece)
                case ReadTable():
                    matrix = of_table(piece)
                    before = before or above
                    if before is not None and matrix is not None and values.is_value(matrix):
                        pieces.append(_continued(before, matrix, piece.span))
                    else:
                        pieces.append(piece)
                    before = None
        if passage.kind == "prose" and passage.pieces:
            last = passage.pieces[-1]
            if isinstance(last, Words) and last.text.strip().endswith((".", "!", "?")):
                before = None
        yield replace(passage, pieces=tuple(pieces))


def _below_headings(passages: Sequence[Passage]) -> Iterator[Passage]:
    """The passages, with values by themselves right below a heading under the names that it
    has, if there is one for each."""
    named: dict[Span, Chain] = {}
    for place, passage in enumerate(passages):
        heads = [piece for piece in passage.pieces if isinstance(piece, Chain)]
        if passage.kind != "heading" or not heads or not all(map(_is_name, heads)):
            continue
        below = chain.from_iterable(one.pieces for one in islice(passages, place + 1, None))
        alone = [piece for piece in takewhile(_is_value, below) if isinstance(piece, Chain)]
        if len(alone) == len(heads):
            for head, piece in zip(heads, alone, strict=True):
                named[piece.span] = _continued(head, piece.members[0], piece.span)
    for passage in passages:
        yield replace(passage, pieces=tuple(named.get(one.span, one) for one in passage.pieces))


def _is_name(piece: Chain) -> bool:
    return len(piece.members) == 1 and isinstance(piece.members[0], syntax.Name)


def _is_value(piece: Piece) -> bool:
    """Whether a piece is a value by itself."""
    match piece:
        case Chain((value,)) if values.is_value(value):
            return True
    return False


def _only_name(passage: Passage) -> Chain | None:
    """The only formula of a caption, if that is a name."""
    chains = [piece for piece in passage.pieces if isinstance(piece, Chain)]
    match chains:
        case [Chain((syntax.Name(),)) as name] if passage.kind == "prose":
            return name
    return None


def _is_program(passage: Passage) -> bool:
    return any(isinstance(piece, Chain) and piece.is_code for piece in passage.pieces)


def _continued(before: Chain, value: Member, span: Span) -> Chain:
    return Chain((*before.members, value), (*before.links, "="), (*before.spans, span))


def _mention(words: Words, name: re.Match[str]) -> Chain:
    """A chain of the name that words end with."""
    start = words.span.end - (len(words.text) - name.start("name"))
    span = Span(start, start + len(name["name"]))
    return Chain((Named(name["name"], span),), (), (span,))
