"""Names that an article computes with and never says anything of: what hides its figures."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from symattn import syntax
from symattn.documents.reading import OpenQuestion, Reading
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Named, ReadTable, walk

_WHY = "not defined by anything read; define it in a note, as 'symattn read --help' shows"


def undefined(reading: Reading) -> tuple[OpenQuestion, ...]:
    """The names in formulas with figures that were not read, where these begin no chain and
    are no part of the recipe; each once, at its first place.

    >>> from pathlib import Path
    >>> from symattn.documents.binding import read
    >>> from symattn.documents.files import article
    >>> reading = read(article(Path("post.md"), b"So $Q = 2 X = [2, 4.0]$."))
    >>> [one.what for one in undefined(reading)]
    ['X']
    """
    unread = [number.span.start for number in reading.numbers if number.status == "unread"]
    if not unread:
        return ()
    chains = list(_chains(reading))
    known = {*reading.given, *reading.steps}
    for chain in chains:
        if len(chain.members) > 1:
            known |= {part.name for part in chain.members if isinstance(part, syntax.Name)}
    places: dict[str, Span] = {}
    for chain in chains:
        at = bisect_left(unread, chain.span.start)
        if at == len(unread) or unread[at] >= chain.span.end or len(chain.members) == 1:
            continue
        for member in chain.members:
            # What stands in an array tells its shape, as "[n, d_k]" does.
            for part in () if isinstance(member, syntax.Array) else walk(member):
                if isinstance(part, Named) and part.name not in known:
                    places.setdefault(part.name, part.span)
    return tuple(OpenQuestion(name, _WHY, span) for name, span in places.items())


def _chains(reading: Reading) -> Iterator[Chain]:
    """All chains in their order, in tables as well."""
    for passage in reading.passages:
        for piece in passage.pieces:
            parts = piece.pieces if isinstance(piece, ReadTable) else (piece,)
            yield from (part for part in parts if isinstance(part, Chain))
