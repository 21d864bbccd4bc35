"""Text that knows where each of its characters stands in the file it came from.

The environments of LaTeX that hold formulas; each may have a star.
"""

from __future__ import annotations

import io
import pickle
import re
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, NamedTuple, TypeVar

from symattn.spelling import words

_LINE_END = re.compile(r"\r\n?")


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
    def joined(cls, parts: Iterable[Text], between: str = "") -> Text:
        """Several texts, one after the other; what is put between them is not in the file.

        >>> text = Text.whole("a1b")
        >>> joined = Text.joined([text[:1], text[2:]], ", ")
        >>> str(joined), joined.span()
        ('a, b', Span(start=0, end=3))
        """
        pieces = list(parts)
        if between:
            pieces = [text for part in pieces for text in (part, part.after(between))][:-1]
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

    def group(self, match: re.Match[str], group: str | int = 0) -> Text:
        """Return what a match of its string, or a group of one, has."""
        return self[slice(*match.span(group))]

    def before(self, string: str) -> Text:
        """A string put before it, which is not in the file."""
        return Text.at(string, self.span(0, 0))

    def after(self, string: str) -> Text:
        """A string put behind it, which is not in the file."""
        return Text.at(string, self.span(len(self), len(self)))

    def enclosed(self, opening: str, closing: str) -> Text:
        """With strings around it that are not in the file."""
        return Text.joined([self.before(opening), self, self.after(closing)])

    def sub(
        self, pattern: re.Pattern[str], new: str | Callable[[re.Match[str]], str | Text | None]
    ) -> Text:
        """Its matches replaced, as by :func:`re.sub`. A string stands for the whole match, a
        text keeps its own places, and None leaves a match as it is.

        >>> text = Text.whole("1 &lt; 2").sub(re.compile("&lt;"), "<")
        >>> str(text), text.span(2, 3)
        ('1 < 2', Span(start=2, end=6))
        """
        parts, last = [], 0
        for match in pattern.finditer(self.string):
            by = new if isinstance(new, str) else new(match)
            if by is not None:
                by = Text.at(by, self.span(*match.span())) if isinstance(by, str) else by
                parts += [self[last : match.start()], by]
                last = match.end()
        return Text.joined([*parts, self[last:]]) if parts else self

    def stripped(self) -> Text:
        """Without the white space around it."""
        return self.lstripped().rstripped()

    def lstripped(self) -> Text:
        """Without the white space before it."""
        return self[len(self) - len(self.string.lstrip()) :]

    def rstripped(self) -> Text:
        """Without the white space behind it."""
        return self[: len(self.string.rstrip())]

    def lines(self, keepends: bool = False) -> Iterator[Text]:
        """Its lines, with or without the ``\\n`` at their ends; no other sign ends one.

        >>> [str(line) for line in Text.whole("a\\n\\nb\\n").lines()]
        ['a', '', 'b']
        """
        start = 0
        while start < len(self):
            end = self.string.find("\n", start) + 1 or len(self)
            line = self[start:end]
            yield line if keepends else line[: len(line.string.rstrip("\n"))]
            start = end

    def with_plain_ends(self) -> Text:
        """With ``\\n`` at the end of each line, however the file ends its lines.

        >>> text = Text.whole("a\\r\\nb").with_plain_ends()
        >>> str(text), text.span(1, 2)
        ('a\\nb', Span(start=1, end=3))
        """
        return self.sub(_LINE_END, "\n")


T = TypeVar("T")


def runs(items: Iterable[T], goes_on: Callable[[T, T], bool]) -> Iterator[list[T]]:
    """Yield items in runs, in which each one goes on with the one before it.

    >>> list(runs([1, 2, 4], lambda before, one: one == before + 1))
    [[1, 2], [4]]
    """
    run: list[T] = []
    for item in items:
        if run and not goes_on(run[-1], item):
            yield run
            run = []
        run.append(item)
    if run:
        yield run


#: Displays, which stand in text.
DISPLAYS = words(
    "equation align alignat xalignat flalign gather multline eqnarray IEEEeqnarray displaymath"
    " dmath dgroup math"
)
MATRICES = words(
    "matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix smallmatrix psmallmatrix bsmallmatrix array"
)
#: Those that stand inside of a formula; one in text is a formula of its own.
INNER = MATRICES | words("aligned alignedat gathered multlined split cases dcases rcases")
FORMULAS = DISPLAYS | INNER
#: Those with an argument before their contents.
WITH_ARGUMENT = words("array alignat alignedat xalignat IEEEeqnarray")


def is_formula(name: str) -> bool:
    """Return whether an environment of that name, perhaps with a star, is a formula.

    >>> is_formula("align*"), is_formula("figure")
    (True, False)
    """
    return name.rstrip("*") in FORMULAS


# -- values apart from their places ------------------------------------------------------------
# An edit moves all that stands behind it, and changes little else. What was worked out of a
# text is worked out of another one whose values are the same, at other places.


class Relocatable(NamedTuple):
    """A value as plain data, and the spans in it, in the order in which they come.

    Values with the same ``content`` are equal but for their spans; equal ones may differ in
    it, where one of them has been asked for something that it keeps.

    >>> one = Relocatable.of(("A", Span(3, 4)))
    >>> one.content == Relocatable.of(("A", Span(7, 8))).content
    True
    >>> one.at([Span(7, 8)])
    ('A', Span(start=7, end=8))
    """

    content: bytes
    spans: tuple[Span, ...]

    @classmethod
    def of(cls, value: object) -> Relocatable:
        """A value of plain data; what is one object in it may be two equal ones in another
        that is the same. Raises :class:`pickle.PicklingError` for others, and for texts, each
        of whose characters has a place."""
        file = io.BytesIO()
        pickler = _Pickler(file)
        try:
            pickler.dump(value)
        except (TypeError, AttributeError, RecursionError) as error:
            raise pickle.PicklingError(str(error)) from None
        return cls(file.getvalue(), tuple(pickler.spans))

    def at(self, spans: Sequence[Span]) -> Any:
        """The value with these spans instead of its own."""
        return _Unpickler(self.content, spans).load()


class Memory:
    """Values by what they were made of: so many as were used last, wherever they stood.

    >>> memory = Memory(10)
    >>> [memory.value(b"a", first, lambda: (Span(first, first + 2),)) for first in (5, 8)]
    [(Span(start=5, end=7),), (Span(start=8, end=10),)]
    """

    def __init__(self, size: int) -> None:
        self._size = size
        #: Each with where it began.
        self._kept: OrderedDict[bytes, tuple[int, Relocatable]] = OrderedDict()

    def value(self, key: bytes, first: int, make: Callable[[], T]) -> T:
        """Return what was made of that ``key`` before, all of its spans moved to where it begins
        now, ``first``; else what is made now. All of the key stands behind ``first``, which is not
        0: what stands nowhere is said to stand there."""
        if key in self._kept:
            self._kept.move_to_end(key)
            before, whole = self._kept[key]
            value: T = whole.at([_moved(span, first - before) for span in whole.spans])
            return value
        made = make()
        with suppress(pickle.PicklingError):
            self._kept[key] = first, Relocatable.of(made)
        if len(self._kept) > self._size:
            self._kept.popitem(last=False)
        return made


def _moved(span: Span, by: int) -> Span:
    """A span at another place; what stands nowhere stays there."""
    return Span(span.start + by, span.end + by) if any(span) else span


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        # What is one object here may be two equal ones there.
        self.fast = True
        self.spans: list[Span] = []

    def persistent_id(self, value: object) -> int | None:
        if type(value) is Span:
            self.spans.append(value)
            return len(self.spans) - 1
        if isinstance(value, Text):
            raise pickle.PicklingError("a text has more places than its own")
        return None


class _Unpickler(pickle.Unpickler):
    def __init__(self, content: bytes, spans: Sequence[Span]) -> None:
        super().__init__(io.BytesIO(content))
        self._spans = spans

    def persistent_load(self, number: int) -> Span:
        return self._spans[number]


def moved(before: Iterable[Span], after: Iterable[Span]) -> Mapping[int, int] | None:
    """Return where each end of some spans has moved to; None where they do not stand to each other
    as they did: in the same order, next to each other and one in the other.

    >>> moved([Span(0, 2), Span(5, 6)], [Span(0, 2), Span(7, 8)])
    {0: 0, 2: 2, 5: 7, 6: 8}
    >>> moved([Span(0, 2), Span(2, 6)], [Span(0, 2), Span(3, 6)]) is None
    True
    """
    ends = sorted(set(zip(chain.from_iterable(before), chain.from_iterable(after), strict=True)))
    if all(one[0] < other[0] and one[1] < other[1] for one, other in pairwise(ends)):
        return dict(ends)
    return None
