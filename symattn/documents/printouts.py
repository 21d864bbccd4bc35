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
from symattn.documents.grids import FlatLine
from symattn.documents.notation import read_parts
from symattn.documents.text import Span, Text
from symattn.documents.trees import Chain, Labelled, Opaque, Passage, Piece, Words

#: What a line begins with that goes on with the one before: signs of equality, operations on
#: numbers, and operations alone; in prose also any operation, and what an arrow leads to.
_GOES_ON = re.compile(r"[ \t]*+(?:=(?!=)|≈|≃|≅|[+−/×·⋅÷@][ \t]*+(?:\Z|[-(\[0-9√])|[×·⋅÷@](?=[ ]))")
_OPERATES = re.compile(r"[ \t]*+(?:[→⇒][ \t]*+\S|[×·⋅÷]|[+−/][ ])")
_ON_ALL = re.compile(r"[ \t]*+[×·⋅÷]")
#: The labels of the rows and of the columns of arrays, by the arrays' places.
_Labels = Mapping[Span, tuple[tuple[str, ...], tuple[str, ...]]]
#: What a line ends with that goes on; a star or slash alone has another meaning in code.
_OPEN = re.compile(r"(?:[=≈@]|(?:\A|\s)[+×·⋅÷−]|\S[ \t]++[*/])\s*+\Z")
#: The line of a frame.
_FRAME = re.compile(r"[ \t]*+[+┌└├╔╚╠╭╰╒╘╞][─-╿=+-]{2,}+[ \t]*+\Z")


def passages(lines: Sequence[Text], kind: Literal["code", "output", "prose"]) -> Iterator[Passage]:
    """What lines say, one after the other; nothing of blank ones.

    >>> text = Text.whole("A =\\n[[1. 0.]\\n [0. 1.]]")
    >>> [str(len(passage.pieces)) for passage in passages(list(text.lines()), "output")]
    ['1']
    """
    part = "text" if kind == "prose" else "code"
    for line in _joined(grids.flattened(lines, kind == "output"), kind):
        pieces: tuple[Piece, ...] = read_parts([(part, line.text.stripped())])
        if kind == "output":
            pieces = lone(pieces)
        labels = {span: (rows, columns) for span, rows, columns in line.said}
        if labels:
            pieces = tuple(_with_labels(piece, labels) for piece in pieces)
        if pieces:
            yield Passage(kind, pieces)


def lone(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """A number that stands alone as the value that it is; else the pieces themselves."""
    match pieces:
        case (Words(text=text, figures=(figure,)),) if text.strip() == figure.text:
            return (Chain((figure,), (), (figure.span,)),)
    return pieces


def _joined(lines: Iterable[FlatLine], kind: str) -> Iterator[FlatLine]:
    """Lines with those that go on behind them; no blank ones."""
    parts: list[FlatLine] = []
    for line in lines:
        if not line.text.string.strip() or _FRAME.match(line.text.string):
            continue
        # Behind a blank line an operation is one on all that stands above.
        is_apart = bool(parts) and line.first > parts[-1].last + 1
        if parts and (
            (is_apart and _ON_ALL.match(line.text.string))
            or not goes_on(parts[-1].text.string, line.text.string, kind)
        ):
            yield _as_one(parts)
            parts = []
        parts.append(line)
    if parts:
        yield _as_one(parts)


def goes_on(above: str, line: str, kind: str) -> bool:
    """Whether a line goes on with the one above.

    >>> goes_on("s = 0.1", "+ 0.2", "code"), goes_on("s = 0.1", "+ t", "code")
    (True, False)
    """
    begins = _GOES_ON.match(line) or (kind == "prose" and _OPERATES.match(line))
    return bool(begins or _OPEN.search(above))


def _as_one(parts: Sequence[FlatLine]) -> FlatLine:
    if len(parts) == 1:
        return parts[0]
    text = Text.joined((part.text for part in parts), " ")
    labels = tuple(label for part in parts for label in part.said)
    return FlatLine(text, parts[0].first, parts[-1].last, labels)


def _with_labels(piece: Piece, labels: _Labels) -> Piece:
    if not isinstance(piece, Chain):
        return piece
    members = (m if isinstance(m, Opaque) else _labelled(m, labels) for m in piece.members)
    return replace(piece, members=tuple(members))


def _labelled(tree: syntax.Tree, labels: _Labels) -> syntax.Tree:
    """A tree with the labels of the arrays in it."""
    if isinstance(tree, Labelled) and tree.span in labels:
        rows, columns = labels[tree.span]
        return replace(tree, rows_said=rows, columns_said=columns)
    return syntax.mapped(tree, lambda part: _labelled(part, labels))
