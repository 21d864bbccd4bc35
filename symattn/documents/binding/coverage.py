"""Every number that an article prints, and what became of it; which of them claim nothing."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from symattn.documents.binding import values
from symattn.documents.binding.copies import Source
from symattn.documents.notation.vocabulary import SCALES
from symattn.documents.reading import ArticleNumber, Status
from symattn.documents.trees import (
    NOWHERE,
    Chain,
    Passage,
    Piece,
    PrintedFigure,
    ReadTable,
    Words,
)
from symattn.numbers.rationals import MINUS_INFINITY
from symattn.spelling import is_whole

#: What stands right before a number that only says where something is, or which one.
_REFERS = re.compile(
    r"(?:\b(?:sections?|sec\.?|chapters?|ch\.|figures?|figs?\.?|tables?|tab\.|equations?|eqs?\.?"
    r"|appendix|problems?|exercises?|theorem|lemma|listing|footnote|pages?|pp?\.|rooms?"
    r"|versions?|release|python|numpy|pytorch|torch|jax|cuda|tensorflow)|§)"
    r"[\s~]{0,3}\(?v?\Z",
    re.I,
)
#: What stands right before a number that says how a model is trained.
_TRAINS = re.compile(
    r"\b(?:learning rates?|dropout|weight decay|momentum|label smoothing)"
    r"(?:\s(?:of|is|was|=|to))?\s{0,3}\Z",
    re.I,
)
#: What stands right behind a number of a size, a time or a price.
_MEASURES = re.compile(
    r"(?:\s?(?:[kKMG]i?B|[kMG]?Hz|[mµn]s|[ckm]?m|k?g)|[KMBk]|\s(?:seconds?|secs?|s|minutes?|mins?"
    rf"|hours?|h|days?|points?|euros?|dollars?)|\s?(?i:{'|'.join(SCALES)}))(?![\w^(])"
)
_PRICES = re.compile(r"[$€£]\s?\Z")
#: So many characters before a number are looked at.
_BEFORE = 40


def found(words: Words) -> Iterator[PrintedFigure]:
    """The figures among words that claim nothing.

    >>> from symattn.documents.text import Span
    >>> said = "see section 3.2: 0.25 in 1.5 ms"
    >>> figures = [PrintedFigure(one, Span(said.index(one), 0)) for one in ("3.2", "0.25", "1.5")]
    >>> [one.text for one in found(Words(said, Span(0, 0), tuple(figures)))]
    ['3.2', '1.5']
    """
    at = 0
    for figure in words.figures:
        digits = figure.text.lstrip("+-").rstrip("%").rstrip()
        scaled = digits not in words.text
        if scaled:
            # "40 million" is read as 4e7.
            digits = digits.partition("e")[0]
        start = words.text.find(digits, at)
        if start < 0:
            continue
        at = start + len(digits)
        while scaled and words.text[at : at + 1] == "0":
            at += 1
        before = words.text[max(start - _BEFORE, 0) : start]
        announced = any(pattern.search(before) for pattern in (_REFERS, _TRAINS, _PRICES))
        if announced or _MEASURES.match(words.text, at):
            yield figure


#: What is known of a number only grows: a later finding replaces one of those before it.
_RANK: dict[Status, int] = {"unread": 0, "ignored": 1, "local": 2, "given": 3, "bound": 3}


class Coverage:
    """The numbers of all passages by where they begin: no two begin together."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._numbers: dict[int, ArticleNumber] = {}
        for passage in passages:
            for piece in passage.pieces:
                for figure in figures(piece):
                    if figure.text == MINUS_INFINITY:
                        continue
                    self._numbers[figure.span.start] = ArticleNumber(
                        figure.text, figure.span, "unread"
                    )

    def copy(self) -> Coverage:
        """The same numbers, of which more may become known apart."""
        copied = Coverage(())
        copied._numbers = dict(self._numbers)
        return copied

    def mark(
        self,
        figures: Iterable[PrintedFigure],
        status: Status,
        of: str = "",
        confirmed: bool = False,
    ) -> None:
        """Say what became of figures, unless more is known of them."""
        for figure in figures:
            known = self._numbers.get(figure.span.start)
            if known is None and figure.text == MINUS_INFINITY:
                continue
            if figure.span == NOWHERE:
                # Of an array that is made by name, as an identity is.
                continue
            if known is None or _RANK[known.status] <= _RANK[status]:
                # A sign of percent stays with its number, though the claim is of the number.
                printed = known or figure
                number = known or ArticleNumber(printed.text, printed.span, status)
                self._numbers[printed.span.start] = replace(
                    number, status=status, of=of, confirmed=confirmed, why=""
                )

    def restate(self, start: int) -> None:
        """A number is wrong as what an equation states it to be, whatever it was taken for."""
        known = self._numbers[start]
        self._numbers[start] = replace(known, status="local", of="", confirmed=False, why="")

    def keep(self, exact: Container[int], sources: Mapping[int, Source]) -> None:
        """Note which numbers are no roundings, and which results they copy."""
        for start, number in self._numbers.items():
            source = sources[start].start if start in sources else -1
            self._numbers[start] = replace(number, is_exact=start in exact, source=source)

    def leave(self, passages: Iterable[Passage], why: str) -> None:
        """All numbers that none of these passages has claim nothing, for that reason."""
        kept = {
            figure.span.start
            for passage in passages
            for piece in passage.pieces
            for figure in figures(piece)
        }
        for start, number in self._numbers.items():
            if start not in kept and number.status == "unread":
                self._numbers[start] = ArticleNumber(number.text, number.span, "ignored", why=why)

    def of(self, figure: PrintedFigure) -> str:
        """Return what a number is the value of, as far as that is known."""
        number = self._numbers.get(figure.span.start)
        return number.of if number else ""

    def words(self, piece: Words, kind: str) -> None:
        """Numbers among words that are no claims: whole ones count or name something."""
        self.mark(found(piece), "ignored")
        for figure in piece.figures:
            if is_whole(figure.text) or kind == "heading":
                self.mark([figure], "ignored")

    def numbers(self) -> tuple[ArticleNumber, ...]:
        """All of them in their order."""
        return tuple(self._numbers[start] for start in sorted(self._numbers))


def figures(piece: Piece) -> Iterator[PrintedFigure]:
    """All figures of a piece, those in its formulas among them."""
    match piece:
        case Words():
            yield from piece.figures
        case Chain(members):
            for member in members:
                yield from values.figures(member)
        case ReadTable():
            for part in piece.pieces:
                yield from figures(part)
