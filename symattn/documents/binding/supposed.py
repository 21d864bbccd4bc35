"""Values that are only supposed: "with tau = 0.5 instead" changes nothing that is computed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from symattn import syntax
from symattn.documents.binding import values
from symattn.documents.trees import Chain, Passage, Piece, Words
from symattn.shapes import Nested

_SUPPOSED = re.compile(r"\b(?:instead|would|what if|redo|repeat|try)\b", re.I)
#: A sentence is looked at so many formulas and words before and behind.
_PIECES = 20
_END = re.compile(r"[.!?](?=\s|\Z)")


def asserted(passages: Sequence[Passage]) -> Iterator[Passage]:
    """The passages without the chains that give a name another value than before, in a
    sentence that supposes so."""
    known: dict[str, Nested[str]] = {}
    for passage in passages:
        kept: list[Piece] = []
        for place, piece in enumerate(passage.pieces):
            match piece:
                case Chain((syntax.Name(name), value)) if not piece.is_code and values.is_value(
                    value
                ):
                    printed = values.printed(value)
                    first = known.setdefault(name, printed)
                    if first != printed and _is_supposed(passage, place):
                        continue
            kept.append(piece)
        yield replace(passage, pieces=tuple(kept))


def _is_supposed(passage: Passage, place: int) -> bool:
    """Whether the sentence around a piece of prose supposes something."""
    before = passage.pieces[max(0, place - _PIECES) : place]
    behind = passage.pieces[place + 1 : place + 1 + _PIECES]
    said = ""
    for piece in reversed(before):
        if isinstance(piece, Words):
            *_, last = _END.split(piece.text)
            said = f"{last} {said}"
            if _END.search(piece.text):
                break
    for piece in behind:
        if isinstance(piece, Words):
            said += " " + _END.split(piece.text, maxsplit=1)[0]
            if _END.search(piece.text):
                break
    return passage.kind == "prose" and bool(_SUPPOSED.search(said))
