"""Where the reading of an article is: what headings and the last label speak of."""

from __future__ import annotations

from dataclasses import dataclass, field

from symattn.documents.binding.subjects import Mention, Subject
from symattn.documents.text import Span


@dataclass
class Place:
    """Where the reading is: what headings and the last label speak of; ``row`` is the row
    that was spoken of last in a section, ``topic`` what words with a colon announced there,
    ``said`` the words right before what is read."""

    headings: list[tuple[int, str, Subject]] = field(default_factory=list)
    label: Subject = field(default_factory=Subject)
    under: list[tuple[Span, str, Subject]] = field(default_factory=list)
    row: Mention | None = None
    topic: Subject = field(default_factory=Subject)
    said: str = ""

    def enter(self, level: int, words: str, about: Subject) -> None:
        """A heading begins; it ends those of its level and below."""
        self.headings = [one for one in self.headings if one[0] < level]
        self.headings.append((level, words, about))
        self.label = Subject()
        self.row, self.topic = None, Subject()
        self.speak(about)

    def speak(self, about: Subject) -> None:
        """Words speak of a row: what follows is of it, until they speak of another; of
        several, only where the first is the row already."""
        said = [(one.place, one.counted) for one in about.mentions if not one.across]
        before = None if self.row is None else (self.row.place, self.row.counted)
        if len(set(said)) == 1:
            self.row = next(one for one in about.mentions if not one.across)
        elif said and said[0] != before:
            self.row = None

    @property
    def where(self) -> str:
        """The heading that stands above, or that the author says."""
        if self.under:
            return self.under[-1][1]
        return self.headings[-1][1] if self.headings else ""

    @property
    def around(self) -> Subject:
        """What is spoken of without being said again."""
        about = Subject()
        for _, _, heading in self.under[-1:] or self.headings:
            about = heading.within(about)
        return self.label.within(about.within(Subject(self.topic.role)))
