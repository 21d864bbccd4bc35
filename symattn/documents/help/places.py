"""Where a side file says something: at lines of the article, or at words that stand in it.

Lines move with every edit, words don't: a heading stands for its section, other words
for what comes next, as a note right before them would.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from symattn.documents.article import Article, Block
from symattn.documents.text import Span
from symattn.errors import short

_LINES = re.compile(r"([1-9][0-9]{0,8})(?:\s*+[-–]\s*+([1-9][0-9]{0,8}))?+\Z")
#: So many places of words that stand at several are told.
_TOLD = 3


@dataclass(frozen=True)
class Where:
    """A piece of the article by itself, and what of it and behind it is spoken of: of
    lines the same, of a heading its section, of words all up to the next heading."""

    piece: Span
    ahead: Span


class ArticlePlaces:
    """Finds pieces of an article."""

    def __init__(self, article: Article) -> None:
        self.article = article
        self._blocks = [(block.span, block) for block in article.blocks]
        self._headings = [pair for pair in self._blocks if pair[1].kind == "heading"]

    def find(self, wanted: str) -> Where | str:
        """Where ``12``, ``30-41``, a heading or other words are; what is wrong with them,
        if they are nowhere or at several places."""
        if lines := _LINES.match(wanted.strip()):
            return self._lines(int(lines[1]), int(lines[2] or lines[1]))
        words = wanted.split()
        name = self.article.path.name
        expected = f'expected lines such as 12 or "30-41", a heading or words of {name}'
        unknown = f"{expected}, found {short(wanted)!r}"
        if not any(map(str.isalnum, wanted)):
            return unknown
        titles = [hit for hit in self._headings if hit[1].text.string.split() == words]
        if titles:
            return self._only([hit for hit, _ in titles], wanted) or self._section(*titles[0])
        pattern = re.compile(r"\s+".join(map(re.escape, words)))
        spans = [Span(*hit.span()) for hit in pattern.finditer(self.article.source)]
        if not spans:
            return unknown
        return self._only(spans, wanted) or self._behind(spans[0])

    def _lines(self, first: int, last: int) -> Where | str:
        count = self.article.line_count
        if last < first:
            return f"line {last} is before line {first}"
        if last > count:
            return f"{self.article.path.name} has {count} lines, found line {last}"
        lines = self.article.lines(first, last)
        return Where(lines, lines)

    def _only(self, spans: list[Span], wanted: str) -> str:
        """What is wrong with words that stand at several places; '' of others."""
        if len(spans) == 1:
            return ""
        lines = [str(self.article.place(span.start).line) for span in spans[:_TOLD]]
        more = ", ..." if len(spans) > _TOLD else ""
        sentence = f"{short(wanted)!r} occurs in lines {', '.join(lines)}{more}"
        return f"{sentence}: expected words that occur only once, or lines"

    def _section(self, where: Span, heading: Block) -> Where:
        """From a heading to the next one that ends its section."""
        later = (
            span.start
            for span, block in self._headings
            if span.start > where.start and block.level <= heading.level
        )
        end = next(later, len(self.article.source))
        return Where(Span(where.start, end), Span(where.end, end))

    def _behind(self, words: Span) -> Where:
        """The block of words, in plain text their lines, and what comes from them on to the
        next heading."""
        first, last = (self.article.place(at).line for at in (words.start, words.end))
        piece = self.article.lines(first, last)
        if self.article.form != "text":
            holds = (span for span, _ in self._blocks if span.start <= words.start < span.end)
            piece = next(holds, piece)
        later = (span.start for span, _ in self._headings if span.start > words.start)
        end = next(later, len(self.article.source))
        return Where(piece, Span(words.end, end))
