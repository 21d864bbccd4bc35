"""Text that knows where each of its characters stands in the file it came from."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Span(NamedTuple):
    """Characters of a file, from ``start`` to before ``end``, counted from 0."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """From the beginning of the first to the end of the last of the two.

        >>> Span(3, 5).to(Span(8, 9))
        Span(start=3, end=9)
        """
        return Span(min(self.start, other.start), max(self.end, other.end))


@dataclass(frozen=True, repr=False)
class Text:
    """A text, and for every character where what it stands for begins and ends
    in the file. Made by :meth:`whole` of a file, then by cutting and joining.

    A character may stand for several of the file (``\\n`` in a notebook, an
    entity in HTML), and neighbours need not be neighbours there.

    >>> text = Text.whole("Q = [[1, 2]]")
    >>> str(text[4:]), text[5:].span(1, 2)
    ('[[1, 2]]', Span(start=6, end=7))
    """

    string: str
    starts: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def whole(cls, string: str) -> Text:
        """The text of a file itself."""
        return cls(string, range(len(string)), range(1, len(string) + 1))

    @classmethod
    def at(cls, string: str, span: Span) -> Text:
        """Text that stands, as a whole, for a piece of the file.

        >>> Text.at("α", Span(4, 10)).span()
        Span(start=4, end=10)
        """
        count = len(string)
        return cls(string, array("L", [span.start]) * count, array("L", [span.end]) * count)

    @classmethod
    def joined(cls, parts: Iterable[Text]) -> Text:
        """Several texts, one after the other.

        >>> text = Text.whole("a1b")
        >>> Text.joined([text[:1], text[2:]]).span()
        Span(start=0, end=3)
        """
        pieces = list(parts)
        if len(pieces) == 1:
            return pieces[0]
        starts, ends = array("L"), array("L")
        for part in pieces:
            starts.extend(part.starts)
            ends.extend(part.ends)
        return cls("".join(part.string for part in pieces), starts, ends)

    def __str__(self) -> str:
        return self.string

    def __repr__(self) -> str:
        return f"<Text {self.string[:40]!r}>"

    def __len__(self) -> int:
        return len(self.string)

    def __getitem__(self, piece: slice) -> Text:
        return Text(self.string[piece], self.starts[piece], self.ends[piece])

    def span(self, i: int = 0, j: int | None = None) -> Span:
        """The piece of the file that characters ``i`` to before ``j`` come from;
        of none, the place before ``i``."""
        last = len(self) if j is None else j
        if i >= last:
            place = self.starts[i] if i < len(self) else self.ends[-1] if len(self) else 0
            return Span(place, place)
        return Span(self.starts[i], self.ends[last - 1])

    def stripped(self) -> Text:
        """Without the white space around it."""
        left = len(self.string) - len(self.string.lstrip())
        return self[left : left + len(self.string.strip())]

    def lines(self) -> Iterator[Text]:
        """Its lines, without their ends."""
        start = 0
        for line in self.string.splitlines(keepends=True):
            yield self[start : start + len(line.rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"))]
            start += len(line)
