"""Chains that go on behind a colon or a verb: 'S = Q K^T is', and then the matrix."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from symattn import syntax
from symattn.documents.binding import values
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Named, Passage, Piece, ReadTable, Words, of_table

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
    for passage in passages:
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


def _only_name(passage: Passage) -> Chain | None:
    """The only formula of a caption, if that is a name."""
    chains = [piece for piece in passage.pieces if isinstance(piece, Chain)]
    match chains:
        case [Chain((syntax.Name(),)) as chain] if passage.kind == "prose":
            return chain
    return None


def _is_program(passage: Passage) -> bool:
    return any(isinstance(piece, Chain) and piece.is_code for piece in passage.pieces)


def _continued(chain: Chain, value: syntax.Tree, span: Span) -> Chain:
    return Chain((*chain.members, value), (*chain.links, "="), (*chain.spans, span))


def _mention(words: Words, name: re.Match[str]) -> Chain:
    """A chain of the name that words end with."""
    start = words.span.end - (len(words.text) - name.start("name"))
    span = Span(start, start + len(name["name"]))
    return Chain((Named(name["name"], span),), (), (span,))
