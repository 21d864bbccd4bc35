"""Where in the text of a file something stands that an audit, or a fault, speaks of."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from symattn.auditing.figures import Figure, Statement
from symattn.documents.text import Span
from symattn.editor.positions import Lines
from symattn.errors import Fault, Malformed
from symattn.tables.file import parsed
from symattn.tables.places import TomlPlaces


class Places:
    """Places in the text of an article or a walkthrough."""

    def __init__(self, name: str, source: str) -> None:
        self._path = Path(name)
        self._source = source

    @cached_property
    def _toml(self) -> TomlPlaces | None:
        """The places of what a walkthrough says; None in an article, and in what is no TOML."""
        if self._path.suffix != ".toml":
            return None
        try:
            return parsed(self._path, self._source.encode()).places
        except Malformed:
            return None

    def of(self, judged: Figure | Statement) -> Span:
        """Where a figure or a statement stands."""
        span = judged.span if isinstance(judged, Figure) else judged.claim.span
        if span is not None:
            return span
        claim = f"claims[{judged.claim.number}]"
        if isinstance(judged, Statement):
            return self._written(f"{claim}.holds", judged.claim.line)
        at = "".join(f"[{place}]" for place in judged.at)
        return self._written(f"{claim}.printed{at}", judged.claim.line)

    def fault(self, fault: Fault) -> Span:
        """What a fault is about, or its line."""
        return self._written(fault.where, fault.line)

    def _written(self, where: str, line: int) -> Span:
        found = self._toml.characters(where) if self._toml is not None and where else None
        if found is None:
            return self.line(line)
        # A mark at the beginning of a file is no character of its tables.
        before = self._source.startswith("\ufeff")
        return Span(found[0] + before, found[1] + before)

    def line(self, number: int) -> Span:
        """The text of a line, counted from 1, without the blanks around it; 0: the first that
        is not empty."""
        lines = Lines(self._source)
        if not number:
            wanted = (k for k in range(lines.count) if lines.line(k).strip())
            number = next(wanted, 0) + 1
        text = lines.line(number - 1)
        start = lines.start(number - 1) + len(text) - len(text.lstrip())
        return Span(start, start + len(text.strip()))
