"""Walkthroughs as one types them: the names in a TOML text that need not be whole yet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from symattn.documents.text import Span

_HEADER = re.compile(r"[ \t]*\[\[?[ \t]*([A-Za-z0-9_.-]+)")
_ENTRY = re.compile(r"""[ \t]*(?:([A-Za-z0-9_-]+)|"([^"\n]*)"|'([^'\n]*)')[ \t]*=[ \t]*(.*)""")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Tables whose text is expressions, and what stands in those that define names.
_EXPRESSIONS = ("steps", "functions", "claims", "loss", "exercise")
_DEFINING: Mapping[str, str] = {"given": "given", "symbols": "a symbol", "steps": ""}


@dataclass(frozen=True)
class Walkthrough:
    """The text of a walkthrough.

    >>> text = '[given]\\nX = [1, 2]\\n[steps]\\nA = "softmax(X)"\\nB = "A @ '
    >>> draft = Walkthrough(text)
    >>> draft.names, draft.functions
    ({'X': 'given', 'A': 'softmax(X)', 'B': 'A @'}, {})
    >>> draft.takes_names(len(text)), draft.word(text.index("softmax") + 3)
    (True, Span(start=32, end=39))
    """

    text: str

    @cached_property
    def _entries(self) -> tuple[tuple[str, str, str], ...]:
        """Table, key and value of each line that has them."""
        return tuple(self._read())

    def _read(self) -> Iterator[tuple[str, str, str]]:
        table = ""
        for line in self.text.splitlines():
            if header := _HEADER.match(line):
                table = header[1]
            elif entry := _ENTRY.match(line):
                yield table, entry[1] or entry[2] or entry[3] or "", entry[4]

    @cached_property
    def names(self) -> dict[str, str]:
        """The names of quantities, each with what it is."""
        return {
            key: _DEFINING[table] or value.strip().strip("\"'").strip()
            for table, key, value in self._entries
            if table in _DEFINING and _WORD.fullmatch(key)
        }

    @cached_property
    def functions(self) -> dict[str, tuple[str, str]]:
        """The functions that it defines by name: how each is called, and its body."""
        return {
            name[0]: (key, value.strip().strip("\"'"))
            for table, key, value in self._entries
            if table == "functions" and (name := _WORD.match(key))
        }

    def takes_names(self, offset: int) -> bool:
        """Whether at a character stands an expression: in the quotes of a value."""
        before = self.text[:offset]
        start = before.rfind("\n") + 1
        headers = [header for line in before.splitlines() if (header := _HEADER.match(line))]
        table = headers[-1][1] if headers else ""
        line = before[start:]
        entry = _ENTRY.match(line)
        value = entry[4] if entry else line
        return table in _EXPRESSIONS and (value.count('"') % 2 == 1 or value.count("'") % 2 == 1)

    def word(self, offset: int) -> Span | None:
        """The name that stands at a character; None where none does."""
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        line = self.text[start : len(self.text) if end < 0 else end]
        for word in _WORD.finditer(line):
            if start + word.start() <= offset <= start + word.end():
                return Span(start + word.start(), start + word.end())
        return None
