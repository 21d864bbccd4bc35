"""Paragraphs while their parts come, of any form of article."""

from __future__ import annotations

from symattn.documents.article import BlockPart, PartKind
from symattn.documents.text import Text


class ParagraphBuilder:
    """Gathers parts: texts of one kind that follow each other are one part.

    >>> paragraph = ParagraphBuilder()
    >>> source = Text.whole(" so x")
    >>> paragraph.add(source[:4])
    >>> paragraph.add(source[4:], "math")
    >>> [(part.kind, str(part.text)) for part in paragraph.end()]
    [('text', 'so '), ('math', 'x')]
    """

    def __init__(self) -> None:
        #: What is added is of this kind, if nothing else is said.
        self.kind: PartKind = "text"
        self._parts: list[BlockPart] = []
        self._texts: list[Text] = []
        self._last: PartKind = "text"

    def add(self, text: Text, kind: PartKind | None = None) -> None:
        """Add a text; formulas are parts of their own each."""
        kind = kind or self.kind
        if not text.string:
            return
        if kind != self._last or kind == "math":
            self._turn(kind)
        self._texts.append(text)

    def _turn(self, kind: PartKind) -> None:
        if self._texts:
            self._parts.append(BlockPart(self._last, Text.joined(self._texts)))
        self._texts, self._last = [], kind

    def end(self) -> tuple[BlockPart, ...]:
        """Its parts without the white space around them; nothing is kept."""
        self._turn("text")
        parts, self._parts = self._parts, []
        places = [at for at, part in enumerate(parts) if part.text.string.strip()]
        if not places:
            return ()
        parts = parts[places[0] : places[-1] + 1]
        parts[0] = BlockPart(parts[0].kind, parts[0].text.lstripped())
        parts[-1] = BlockPart(parts[-1].kind, parts[-1].text.rstripped())
        return tuple(parts)
