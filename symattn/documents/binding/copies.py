"""Copies: which printed number says again what was a result before it.

An article works on with its results, and speaks of them again: in lists, in percent, as factors
of a sum, rounded to fewer digits. Whether a number is a copy, its digits tell, and those around
it: "0.5" stands everywhere, but 0.5, 0.31 and 0.19 one after another are what was printed so.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import cached_property
from math import log2
from typing import NamedTuple

from symattn.documents.binding.evidence import information
from symattn.documents.reading import ArticleNumber
from symattn.spelling import is_whole, written

#: Numbers are copies if they tell so many bits more than the choice among the results before.
_TOLD = 4.0
#: A result is looked for among so many of the same digits, the last before a copy; a run of copies
#: goes on past so many whole numbers, and elsewhere than at the next result for so many bits;
#: what is rounded keeps so many decimals. A run has no more numbers than that: work is bounded.
_LATEST, _WHOLE, _FEWEST, _JUMP, _LONGEST = 8, 3, 2, 2.0, 64


class Result(NamedTuple):
    """A printed result: where it begins, its text, and where its block begins; ``is_worked`` if a
    formula says what it comes to, so that it copies no other."""

    start: int
    text: str
    block: int
    is_worked: bool = True


#: The size of a number, and to how many decimals it is rounded; 0 of all that it has.
_Digits = tuple[Decimal, int]


class Source(NamedTuple):
    """The result that a number copies; ``is_negated`` if with another sign, ``is_rounded`` if with
    fewer digits. It may copy ``others`` of the same block as well, which have the same digits."""

    start: int
    is_negated: bool
    is_rounded: bool
    others: tuple[int, ...] = ()


class Copies:
    """The sources of an article's numbers among its results, both in their order.

    >>> from symattn.documents.text import Span
    >>> results = [Result(0, "0.39", 0), Result(10, "0.09", 0), Result(20, "0.28", 0)]
    >>> said = [ArticleNumber(text, Span(at, at), "unread") for at, text in
    ...     ((30, "0"), (31, "39%"), (40, "2"), (41, "28%"), (50, "0.4"))]
    >>> sources = Copies(said, results).sources
    >>> {start: source.start for start, source in sources.items()}
    {31: 0, 41: 20}
    """

    def __init__(self, numbers: Iterable[ArticleNumber], results: Sequence[Result]) -> None:
        self._numbers = [(one.span.start, one.text) for one in numbers]
        self._results = sorted(results)
        self._worked = {one.start for one in self._results if one.is_worked}
        self._sizes = Counter(one.block for one in self._results)
        #: The places of results by their digits, as they are and rounded to some decimals.
        self._known: dict[_Digits, list[int]] = defaultdict(list)
        for place, one in enumerate(self._results):
            for digits in _rounded(one.text):
                self._known[digits].append(place)

    @cached_property
    def sources(self) -> Mapping[int, Source]:
        """The sources of numbers, by where these begin."""
        found: dict[int, Source] = {}
        at = 0
        while at < len(self._numbers):
            run = self._longest(at)
            for place, source in run:
                start, text = self._numbers[place]
                result = self._results[source]
                is_negated = _is_negative(text) != _is_negative(result.text)
                is_rounded = _digits(text)[0] != _digits(result.text)[0]
                last = bisect_left(self._results, (start,))
                alike = (self._results[one] for one in self._before(text, last) if one != source)
                others = tuple(one.start for one in alike if one.block == result.block)
                found[start] = Source(result.start, is_negated, is_rounded, others)
            at = run[-1][0] + 1 if run else at + 1
        return found

    def _longest(self, at: int) -> Sequence[tuple[int, int]]:
        """The run of copies from a number on that tells most; none that is not told."""
        best: Sequence[tuple[int, int]] = ()
        most = _TOLD
        start, text = self._numbers[at]
        if start in self._worked:
            return best
        last = bisect_left(self._results, (start,))
        for source in self._before(text, last):
            run = [(at, source)]
            bits = information(text) - log2(last - source)
            if bits <= 0:
                # Whatever follows it, it tells nothing itself.
                continue
            for place, follower, gain in self._further(at, source):
                run.append((place, follower))
                bits += gain
            if bits > most:
                best, most = run, bits
        return best

    def _before(self, text: str, last: int) -> Sequence[int]:
        if "." not in text and not text.endswith("%"):
            return ()
        size, decimals = _digits(text)
        known = (self._known.get(key, ()) for key in ((size, 0), (size, decimals)))
        latest = (
            one[max(bisect_left(one, last) - _LATEST, 0) : bisect_left(one, last)] for one in known
        )
        return sorted({place for one in latest for place in one})[: -_LATEST - 1 : -1]

    def _further(self, at: int, source: int) -> Iterator[tuple[int, int, float]]:
        """The copies that follow one another, with the bits that each tells."""
        used, whole = {source}, 0
        for place in range(at + 1, min(at + _LONGEST, len(self._numbers))):
            start, text = self._numbers[place]
            known = self._before(text, bisect_left(self._results, (start,)))
            candidates = [one for one in known if one not in used]
            if start in self._worked:
                continue
            said = [one for one in known if one in used]
            if not candidates and said:
                # It says the same again: "0.30 V_cat (30 % of it)".
                yield place, said[0], 0.0
                continue
            if not candidates:
                whole += 1
                if not is_whole(text) or whole > _WHOLE:
                    return
                continue
            ahead = [one for one in candidates if source < one]
            block = self._results[source].block
            alike = [one for one in candidates if self._results[one].block == block]
            if alike and not (ahead and min(ahead) == source + 1):
                nearest, cost = alike[0], _JUMP + log2(self._sizes[block])
            elif ahead:
                nearest, gap = min(ahead), min(ahead) - source
                cost = _JUMP + 2 * log2(gap) if gap > 1 else 0.0
            else:
                return
            source, whole = nearest, 0
            used.add(source)
            yield place, source, information(text) - cost


class Exact:
    """The figures that are all of what they show, and no rounding of it: chosen inputs, what comes
    of such with no more digits, and copies of these.

    >>> exact = Exact({4: Source(0, is_negated=False, is_rounded=False)}, [0])
    >>> [start in exact for start in (0, 4, 8)]
    [True, True, False]
    """

    def __init__(self, sources: Mapping[int, Source], starts: Iterable[int]) -> None:
        self._sources = sources
        self._starts = {*starts}

    def __contains__(self, start: object) -> bool:
        while start not in self._starts:
            source = self._sources.get(start) if isinstance(start, int) else None
            if source is None or source.is_rounded:
                return False
            start = source.start
        return True

    def add(self, starts: Iterable[int]) -> None:
        """Take figures that are exact."""
        self._starts.update(starts)


def _is_negative(text: str) -> bool:
    return text[:1] in ("-", "−")


def _digits(text: str) -> _Digits:
    """The size of a number, of one in percent as a share, and its decimals."""
    try:
        size = abs(Decimal(text.lstrip("~≈ ").rstrip("% ").replace(",", "")))
    except InvalidOperation:
        return Decimal("NaN"), 0
    decimals = written(text).decimals
    return (size / 100, decimals + 2) if text.endswith("%") else (size, decimals)


def _rounded(text: str) -> Iterator[_Digits]:
    """The size of a number, and what it is rounded to with fewer decimals."""
    size, decimals = _digits(text)
    yield size, 0
    for fewer in range(_FEWEST, decimals):
        yield round(size, fewer), fewer
