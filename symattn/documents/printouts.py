"""Lines of output, of code that is no Python, and of plain text: each a passage of its own.

Printed arrays are written as one line first (:mod:`~symattn.documents.grids`). A line
that begins with a sign of equality, or stands behind one that ends with it, goes on with
the chain of the line before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from symattn import syntax
from symattn.documents import grids
from symattn.documents.grids import Line
from symattn.documents.notation import read_parts
from symattn.documents.text import Span, Text
from symattn.documents.trees import Chain, Labelled, Member, Opaque, Passage, Piece, Words

_GOES_ON = re.compile(r"[ \t]*+(?:=(?!=)|≈|≃|≅)")
#: What a line ends with that goes on.
_OPEN = ("=", "≈", "@")


def passages(lines: Sequence[Text], kind: Literal["code", "output", "prose"]) -> Iterator[Passage]:
    """What lines say, one after the other; nothing of blank ones.

    >>> text = Text.whole("A =\\n[[1. 0.]\\n [0. 1.]]")
    >>> [str(len(passage.pieces)) for passage in passages(list(text.lines()), "output")]
    ['1']
    """
    part = "text" if kind == "prose" else "code"
    for line in _joined(grids.flattened(lines, kind == "output")):
        pieces: tuple[Piece, ...] = read_parts([(part, line.text.stripped())])
        if kind == "output":
            pieces = lone(pieces)
        labels = {span: (rows, columns) for span, rows, columns in line.said}
        if labels:
            pieces = tuple(
                replace(piece, members=tuple(_labelled(member, labels) for member in piece.members))
                if isinstance(piece, Chain)
                else piece
                for piece in pieces
            )
        if pieces:
            yield Passage(kind, pieces)


def lone(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """A number that stands alone as the value that it is; else the pieces themselves."""
    match pieces:
        case (Words(text=text, figures=(figure,)),) if text.strip() == figure.text:
            return (Chain((figure,), (), (figure.span,)),)
    return pieces


def _joined(lines: Iterable[Line]) -> Iterator[Line]:
    """Lines with those that go on behind them; no blank ones."""
    parts: list[Line] = []
    for line in lines:
        if not line.text.string.strip():
            continue
        if parts and not _goes_on(parts[-1].text.string, line.text.string):
            yield _as_one(parts)
            parts = []
        parts.append(line)
    if parts:
        yield _as_one(parts)


def _goes_on(above: str, line: str) -> bool:
    return bool(_GOES_ON.match(line)) or above.rstrip().endswith(_OPEN)


def _as_one(parts: Sequence[Line]) -> Line:
    if len(parts) == 1:
        return parts[0]
    texts: list[Text] = []
    for part in parts:
        end = part.text.span().end
        texts += [part.text, Text.at(" ", Span(end, end))]
    labels = tuple(label for part in parts for label in part.said)
    return Line(Text.joined(texts[:-1]), parts[0].first, parts[-1].last, labels)


def _labelled(
    member: Member, labels: Mapping[Span, tuple[tuple[str, ...], tuple[str, ...]]]
) -> Member:
    """A tree with the labels of the arrays in it."""

    def with_labels(part: syntax.Tree) -> syntax.Tree | None:
        match part:
            case Labelled(span=span) if span in labels:
                rows, columns = labels[span]
                return replace(part, rows_said=rows, columns_said=columns)
        return part if isinstance(part, syntax.Array) else None

    return member if isinstance(member, Opaque) else syntax.replaced(member, with_labels)
