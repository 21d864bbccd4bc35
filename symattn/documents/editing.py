"""Figures written anew where they stand, in their places and their style.

Only digits change, and a sign where it has to: separators, braces, escapes and
what follows (a power of ten, a percent sign) stay as they are in the file."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise, zip_longest
from typing import NamedTuple

from symattn.documents.article import Article, BlockPart
from symattn.documents.text import Span, Text
from symattn.numbers.rationals import PrintedNumber
from symattn.spelling import MINUSES, SIGN, SUPERSCRIPTS

_DIGITS = "0123456789"
_LEVEL = str.maketrans({**SUPERSCRIPTS, **dict.fromkeys(MINUSES, "-")})
_PLAIN = re.compile(rf"[\s≈~=]*+({SIGN}?)\s*+([0-9]*+)\.?([0-9]*+)")
#: What may stand before the first digit.
_BEFORE = re.compile(rf"[\s≈~={{]*+({SIGN}?)[\s}}{{]*+")
_POINTS = (".", "{.}", ",", "{,}")
#: What may stand between two digits of one number: groups of three.
_SEPARATORS = (
    ",", "{,}", r"\,", r"{\,}", r"\ ", "~", "'", "’", "_", " ", "\u00a0", "\u2009", "\u202f",
)  # fmt: skip
#: What a page has of a formula beside the formula: its source, as a note or an attribute.
_RENDERED = re.compile(r"<annotation\b[^>]*+>[^<]*+|<[A-Za-z][^>]*+")
#: After these a negative number needs brackets; before it, where a power follows.
_OPERATOR = re.compile(rf"(?:{SIGN}|[*·×⋅/^⊙]|\\(?:cdot|times|odot|pm))\s*+\Z")
_OPERATOR_LENGTH = 24


class TextEdit(NamedTuple):
    """Text in the place of a piece of the file."""

    span: Span
    text: str


def applied(source: str, edits: Iterable[TextEdit]) -> str:
    """The text with all edits made; these don't overlap.

    >>> applied("a = 0.51", [TextEdit(Span(4, 8), "0.52")])
    'a = 0.52'
    """
    pieces, done = [], 0
    for (start, end), text in sorted(edits):
        pieces += [source[done:start], text]
        done = end
    return "".join([*pieces, source[done:]])


class Moves:
    """The places of pieces of a file after edits of it."""

    def __init__(self, edits: Iterable[TextEdit]) -> None:
        ordered = sorted(edits)
        grown = (len(edit.text) - (edit.span.end - edit.span.start) for edit in ordered)
        self._ends = [edit.span.end for edit in ordered]
        self._by = [0, *accumulate(grown)]

    def moved(self, span: Span) -> Span:
        """The piece with all edits inside it, or before it, made.

        >>> Moves([TextEdit(Span(4, 7), "10.0")]).moved(Span(4, 9))
        Span(start=4, end=10)
        """
        return Span(self._to(span.start), self._to(span.end))

    def _to(self, offset: int) -> int:
        return offset + self._by[bisect_right(self._ends, offset)]


class Rewriter:
    """Writes figures of one article anew."""

    def __init__(self, article: Article) -> None:
        self._source = article.source
        parts = [part for block in article.blocks for part in block.all_parts if len(part.text)]
        self._parts = sorted(parts, key=lambda part: part.text.starts[0])
        self._starts = [part.text.starts[0] for part in self._parts]
        page = self._source if article.form == "html" else ""
        self._rendered = [Span(*match.span()) for match in _RENDERED.finditer(page)]

    def edit(
        self, span: Span, printed: PrintedNumber, count: int, minus: str = "-"
    ) -> TextEdit | None:
        """Return what makes ``count`` units of its last place of the figure at ``span``.

        ``minus`` is the sign where it gets one that it doesn't have. None if the
        figure isn't there as it was read: a macro gives it, or its digits are no
        plain ones.

        >>> from pathlib import Path
        >>> from symattn.numbers.rationals import read_printed
        >>> article = Article(Path("x.md"), "markdown", r"$S = {-}1{,}234.50\\%$", ())
        >>> span = Span(5, 19)
        >>> edit = Rewriter(article).edit(span, read_printed("-1234.50%"), -998765)
        >>> applied(article.source, [edit])
        '$S = {-}9{,}987.65\\\\%$'
        """
        figure = _read(self._at(span), printed)
        if figure is None or not figure.stands_in(self._source):
            return None
        return figure.edit(self._source, span, count * 10**printed.zeros, minus)

    def is_rendered(self, span: Span) -> bool:
        """Return whether it stands in the source of a formula that a page has beside the formula
        itself: then it would be right there, and wrong where readers see it."""
        place = bisect_right(self._rendered, Span(span.start, len(self._source))) - 1
        return place >= 0 and span.start < self._rendered[place].end

    def sign(self, span: Span) -> str:
        """The minus of a figure, as the file has it; '' where there is none."""
        text = self._at(span)
        before = _BEFORE.match(text.string)
        if before is None or before[1] in ("", "+"):
            return ""
        start, end = _braced(text.string, before.start(1))
        return self._source[slice(*text.span(start, end))]

    def kind(self, span: Span) -> str:
        """Return what kind of part a figure stands in; '' for none."""
        part = self._part(span)
        return "" if part is None else part.kind

    def _at(self, span: Span) -> Text:
        """The text there as it was read, that of the file itself if nothing was."""
        if (part := self._part(span)) is not None:
            return _cut(part.text, span)
        return Text.whole(self._source)[span.start : span.end]

    def _part(self, span: Span) -> BlockPart | None:
        place = bisect_right(self._starts, span.start) - 1
        if place < 0 or _cut(self._parts[place].text, span).span() != span:
            return None
        return self._parts[place]


def _cut(text: Text, span: Span) -> Text:
    return text[bisect_left(text.starts, span.start) : bisect_right(text.ends, span.end)]


def _read(text: Text, printed: PrintedNumber) -> _WrittenFigure | None:
    plain = _PLAIN.match(printed.text)
    before = _BEFORE.match(text.string)
    if plain is None or before is None or _is_minus(plain[1]) != _is_minus(before[1]):
        return None
    whole, part = len(plain[2]), len(plain[3])
    places = [k for k, c in enumerate(text.string) if c in _DIGITS]
    count = whole + part
    if count > len(places) or part != printed.places:
        return None
    written = "".join(text.string[k] for k in places[:count])
    if written != plain[2] + plain[3]:
        return None
    after = text.string[places[count - 1] + 1 :]
    if _power(after) != _power(printed.after[printed.zeros :]):
        return None
    figure = _WrittenFigure(
        text, before.end(), places[:whole], places[whole:count], before.start(1)
    )
    return figure if figure.is_one() else None


def _is_minus(sign: str) -> bool:
    return sign != "" and sign in MINUSES


def _power(after: str) -> str:
    """The power of ten that follows a number, its digits and sign; '' for none."""
    power = "".join(c for c in after.translate(_LEVEL) if c in "-" + _DIGITS)
    return power if after.lstrip()[:1] in ("e", "E") else power.removeprefix("10")


class _WrittenFigure(NamedTuple):
    """A figure in a text: where its first character after the sign stands, its digits
    before and behind the point, and its sign."""

    text: Text
    first: int
    whole: Sequence[int]
    part: Sequence[int]
    sign: int

    @property
    def digits(self) -> list[int]:
        return [*self.whole, *self.part]

    def is_one(self) -> bool:
        """Return whether nothing but a point and separators stands among the digits."""
        string = self.text.string
        inside = [string[i + 1 : j] for i, j in pairwise(self.whole)]
        inside += [string[i + 1 : j] for i, j in pairwise(self.part)]
        start = self.whole[-1] + 1 if self.whole else self.first
        point = string[start : self.part[0]] if self.part else "."
        begins = not self.whole or self.whole[0] == self.first
        return begins and point in _POINTS and all(x in ("", *_SEPARATORS) for x in inside)

    def stands_in(self, source: str) -> bool:
        """Return whether every digit is a character of the file, one after the other."""
        spans = [self.text.span(k, k + 1) for k in self.digits]
        follow = all(a.end <= b.start for a, b in pairwise(spans))
        digits = (self.text.string[k] for k in self.digits)
        return follow and all(source[slice(*s)] == d for s, d in zip(spans, digits, strict=True))

    def edit(self, source: str, span: Span, count: int, minus: str) -> TextEdit:
        """Add so many units of the last place in its place."""
        digits = str(abs(count)).zfill(len(self.part) + 1)
        point = len(digits) - len(self.part)
        number = self._before_point(source, digits[:point])
        number += self._behind_point(source, digits[point:])
        start, end = self.text.span(self.first, self.digits[-1] + 1)
        head, tail = source[span.start : start], source[end : span.end]
        sign = self.text.string[self.sign : self.first][:1]
        if count < 0 and sign == "+":
            at, after = self.text.span(self.sign, self.sign + 1)
            head = source[span.start : at] + minus + source[after:start]
        elif count < 0 and not _is_minus(sign):
            number = minus + number
            before = source[max(span.start - _OPERATOR_LENGTH, 0) : span.start]
            if _OPERATOR.search(before) or source[span.end : span.end + 1] == "^":
                number, tail = f"({number}", f"{tail})"
        elif count >= 0 and _is_minus(sign):
            at, after = self.text.span(*_braced(self.text.string, self.sign))
            glued = source[:at][-1:].isalnum() and not source[after:start].strip()
            head = source[span.start : at] + " " * glued + source[after:start]
        return TextEdit(span, head + number + tail)

    def _before_point(self, source: str, whole: str) -> str:
        """The digits before the point, as many as there are, between what separates them."""
        if not self.whole and not whole.strip("0"):
            return ""
        count = len(self.whole)
        if count > 1 and self.text.string[self.whole[0]] == "0":
            whole = whole.zfill(count)
        between = [source[slice(*self.text.span(i + 1, j))] for i, j in pairwise(self.whole)]
        if len(whole) != count:
            # In groups of three, if it was in groups.
            separator = next(filter(None, between), "")
            left = range(len(whole) - 1, 0, -1)
            between = ["" if k % 3 else separator for k in left]
        return "".join(map("".join, zip_longest(whole, between, fillvalue="")))

    def _behind_point(self, source: str, part: str) -> str:
        """The point and the digits behind it, with all that stands among them."""
        if not self.part:
            return ""
        start = self.whole[-1] + 1 if self.whole else self.first
        text = ""
        for place, digit in zip(self.part, part, strict=True):
            text += source[slice(*self.text.span(start, place))] + digit
            start = place + 1
        return text


def _braced(string: str, sign: int) -> tuple[int, int]:
    """Return where a sign begins and ends, with the braces right around it."""
    braced = string[sign - 1 : sign] == "{" and string[sign + 1 : sign + 2] == "}"
    return (sign - 1, sign + 2) if braced else (sign, sign + 1)
