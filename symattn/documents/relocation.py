"""Values apart from the places that they speak of: what is the same wherever it stands.

An edit moves all that stands behind it, and changes little else. What was worked out of a
text is worked out of another one whose values are the same, at other places.
"""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain, pairwise
from typing import Any, NamedTuple, TypeVar

from symattn.documents.text import Span, Text

T = TypeVar("T")


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
