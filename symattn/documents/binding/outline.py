"""What an article says, whatever the form of its recipe: that is found out once, and holds for
all forms that are tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from symattn.documents.binding import author, context, values
from symattn.documents.binding import rows as row_runs
from symattn.documents.binding.coverage import Coverage
from symattn.documents.binding.definitions import collected
from symattn.documents.binding.discovery import Found
from symattn.documents.binding.joining import joined
from symattn.documents.binding.subjects import counts_from_zero
from symattn.documents.help import Help
from symattn.documents.trees import Chain, Passage, ReadTable, Words


class Outline:
    """The passages of an article that assert something, the chains in them, what names are
    defined as, and what blocks are of each other by their figures."""

    def __init__(self, passages: Sequence[Passage], notes: Help) -> None:
        every = list(joined([_signed(passage) for passage in passages]))
        noted = author.without(every, notes.ignored)
        self.passages = list(context.asserted(noted))
        self.found = Found.of(self.passages)
        self.chains = list(chains_of(self.passages))
        self.definitions = collected(self.chains, notes)
        self.runs = list(row_runs.found(self.passages))
        self._coverage = Coverage(every)
        self._coverage.leave(noted, "the author says so")
        self._coverage.leave(self.passages, "it is only supposed")
        #: What rows and entries are counted from.
        self.first = 0 if counts_from_zero(map(words_of, self.passages)) else 1

    def coverage(self) -> Coverage:
        """All numbers, of which nothing is known yet."""
        return self._coverage.copy()


def words_of(passage: Passage) -> str:
    """The words of a passage, without its formulas."""
    return " ".join(piece.text for piece in passage.pieces if isinstance(piece, Words)).strip()


def _signed(passage: Passage) -> Passage:
    """The passage with each sign before a figure in the figure itself."""
    pieces = tuple(
        replace(piece, members=tuple(map(values.signed, piece.members)))
        if isinstance(piece, Chain)
        else piece
        for piece in passage.pieces
    )
    return replace(passage, pieces=pieces)


def chains_of(passages: Sequence[Passage]) -> Iterator[Chain]:
    """All chains in their order."""
    for passage in passages:
        for piece in passage.pieces:
            if isinstance(piece, Chain):
                yield piece
            elif isinstance(piece, ReadTable):
                yield from (part for part in piece.pieces if isinstance(part, Chain))
