"""Where the reading of an article is: what headings and the last label speak of."""

from __future__ import annotations

from dataclasses import dataclass, field

from symattn.documents.binding.subjects import Subject
from symattn.documents.text import Span


@dataclass
class Place:
    """Where the reading is: what headings and the last label speak of."""

    headings: list[tuple[int, str, Subject]] = field(default_factory=list)
    label: Subject = field(default_factory=Subject)
    under: list[tuple[Span, str, Subject]] = field(default_factory=list)

    def enter(self, level: int, words: str, about: Subject) -> None:
        """A heading begins; it ends those of its level and below."""
        self.headings = [one for one in self.headings if one[0] < level]
        self.headings.append((level, words, about))
        self.label = Subject()

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
        return self.label.within(about)
