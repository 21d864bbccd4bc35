"""Lines and columns as editors count them.

The Language Server Protocol counts both from 0, and columns in units of an encoding of text,
UTF-16 unless the editor asks for another one. Only ``\\n``, ``\\r\\n`` and ``\\r`` end a line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import Literal, NamedTuple

Encoding = Literal["utf-8", "utf-16", "utf-32"]

_END = re.compile(r"\r\n|\n|\r")
#: Bytes of a unit, and the encoding that has no mark at its beginning.
_UNITS: dict[Encoding, tuple[int, str]] = {
    "utf-8": (1, "utf-8"),
    "utf-16": (2, "utf-16-le"),
    "utf-32": (4, "utf-32-le"),
}


class Position(NamedTuple):
    """A line and a column, both counted from 0."""

    line: int
    character: int


class Lines:
    """The lines of a text, to turn places in it into positions and back.

    >>> lines = Lines("a\\n𝑥 = 0.5\\n")
    >>> lines.position(4), lines.offset(Position(1, 3))
    (Position(line=1, character=3), 4)
    >>> Lines("𝑥 = 0.5", "utf-8").position(2)
    Position(line=0, character=5)
    """

    def __init__(self, text: str, encoding: Encoding = "utf-16") -> None:
        self.text = text
        self._bytes, self._name = _UNITS[encoding]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(end.end() for end in _END.finditer(self.text))]

    def position(self, offset: int) -> Position:
        """The position of a character, counted from 0, or of the end of the text."""
        line = bisect_right(self._starts, offset) - 1
        return Position(line, self._width(self.text[self._starts[line] : offset]))

    def offset(self, position: Position) -> int:
        """The character at a position; beyond the end of a line that end, and beyond the
        last line the end of the text."""
        if position.line >= len(self._starts):
            return len(self.text)
        start, line = self._starts[position.line], self.line(position.line)
        if line.isascii():
            return start + min(position.character, len(line))
        width = 0
        for at, character in enumerate(line):
            if width >= position.character:
                return start + at
            width += self._width(character)
        return start + len(line)

    def line(self, number: int) -> str:
        """A line, counted from 0, without its end; beyond the last an empty one."""
        if number >= len(self._starts):
            return ""
        starts = self._starts
        end = starts[number + 1] if number + 1 < len(starts) else len(self.text)
        return self.text[starts[number] : end].rstrip("\r\n")

    def start(self, number: int) -> int:
        """Return where a line begins, counted from 0; beyond the last the end of the text."""
        return self._starts[number] if number < len(self._starts) else len(self.text)

    @property
    def count(self) -> int:
        """Return how many lines there are; behind the last line end stands one more, an empty
        one."""
        return len(self._starts)

    def _width(self, text: str) -> int:
        if text.isascii():
            return len(text)
        return len(text.encode(self._name, "surrogatepass")) // self._bytes
