"""What was read, written down again: one line for each piece."""

from __future__ import annotations

from collections.abc import Iterable

from symattn.documents.notation import read_parts
from symattn.documents.text import Text
from symattn.documents.trees import Chain, Member, Opaque, Piece, PrintedFigure, Words
from symattn.expressions import syntax


def read_line(text: Text) -> tuple[Words | Chain, ...]:
    """A line of plain text."""
    return read_parts([("text", text)])


def shown(pieces: Iterable[Piece]) -> list[str]:
    """Chains in the one grammar, opaque members in ``«»``, words in quotes."""
    return [_piece(piece) for piece in pieces]


def _piece(piece: Piece) -> str:
    if isinstance(piece, Words):
        return repr(piece.text.strip())
    assert isinstance(piece, Chain)
    members = [member(one) for one in piece.members]
    return members[0] + "".join(
        f" {link} {one}" for link, one in zip(piece.links, members[1:], strict=True)
    )


def member(one: Member) -> str:
    """A member in the one grammar."""
    return f"«{one.text}»" if isinstance(one, Opaque) else syntax.text(one)


def figures(pieces: Iterable[Piece]) -> list[PrintedFigure]:
    """All figures of pieces, in the order that they are held."""
    found: list[PrintedFigure] = []
    for piece in pieces:
        if isinstance(piece, Words):
            found.extend(piece.figures)
        elif isinstance(piece, Chain):
            for one in piece.members:
                _collect(one, found)
    return found


def _collect(one: Member, found: list[PrintedFigure]) -> None:
    if isinstance(one, PrintedFigure):
        found.append(one)
    elif isinstance(one, Opaque):
        found.extend(one.figures)
    else:
        for part in syntax.inside(one):
            _collect(part, found)


def whole(string: str) -> Text:
    """A string as the text of a file."""
    return Text.whole(string)
