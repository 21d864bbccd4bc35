"""The texts that an editor has open, as they are at the moment, and versions of them.

A notebook is held as its file would be, but without outputs, of which editors tell nothing;
each cell knows where in that file its characters stand.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote, urlsplit

from symattn.documents.files import FORMS, is_article, is_side_file
from symattn.documents.text import Span
from symattn.editor.positions import Encoding, Lines, Position
from symattn.limits import BYTES

#: The suffixes of articles that have no file yet, by what editors call their languages.
_SUFFIXES: Mapping[str, str] = {
    **dict.fromkeys(("markdown", "quarto", "rmd", "myst"), ".md"),
    **dict.fromkeys(("latex", "tex"), ".tex"),
    "html": ".html",
    **dict.fromkeys(("plaintext", "text", "restructuredtext", "rst"), ".txt"),
}
#: What tells a walkthrough from other files in TOML.
_WALKTHROUGH = re.compile(r"^[ \t]*\[\[?[ \t]*(given|steps|claims)\b", re.MULTILINE)
_LONE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True)
class Change:
    """A change of a text: what stands between two positions, or where there are none the
    whole, replaced."""

    text: str
    start: Position | None = None
    end: Position | None = None


@dataclass
class OpenText:
    """A text that an editor has open; ``language`` is what the editor calls it."""

    uri: str
    language: str
    version: int
    text: str
    encoding: Encoding

    def __post_init__(self) -> None:
        self.text = _whole(self.text)

    def change(self, version: int, changes: Iterable[Change]) -> None:
        """Make changes, one after the other."""
        for change in changes:
            text = _whole(change.text)
            if change.start is not None and change.end is not None:
                lines = Lines(self.text, self.encoding)
                start, end = sorted((lines.offset(change.start), lines.offset(change.end)))
                text = self.text[:start] + text + self.text[end:]
            self.text = text
        self.version = version


def _whole(text: str) -> str:
    """A text without halves of pairs, which no file can have."""
    return _LONE.sub("\N{REPLACEMENT CHARACTER}", text)


@dataclass(frozen=True)
class Piece:
    """A text that an editor shows, and where in the source each of its characters begins;
    the last of ``starts`` is where it ends. ``takes_notes``: an author's notes may stand in it."""

    uri: str
    text: str
    starts: Sequence[int]
    encoding: Encoding
    version: int = 0
    takes_notes: bool = True

    @cached_property
    def lines(self) -> Lines:
        """Its lines."""
        return Lines(self.text, self.encoding)

    def within(self, span: Span) -> Span:
        """The part of its text that is those characters of the source; where they are a line
        of a file, without what is not of the text, and without its end."""
        start, end = (min(bisect_left(self.starts, place), len(self.text)) for place in span)
        if self.starts[end] != span.end:
            end = start + len(self.text[start:end].rstrip("\r\n"))
        return Span(start, end)


@dataclass(frozen=True)
class Held:
    """A version of an article or a walkthrough, all that is needed to judge it.

    ``name`` is the path that tells its form, ``source`` the text of its file as it would be
    saved, ``pieces`` what the editor shows of it; ``beyond`` is its size in bytes where that
    is more than is read: then the source is left out.
    """

    uri: str
    name: str
    source: str
    pieces: tuple[Piece, ...]
    beyond: int = 0

    @property
    def is_notebook(self) -> bool:
        """Return whether its source has its texts in strings."""
        return self.name.endswith(".ipynb")

    def locate(self, span: Span) -> tuple[Piece, Span] | None:
        """The piece that characters of the source stand in, and which they are of it; None
        where no editor shows them."""
        at = bisect_right(self.pieces, span.start, key=lambda piece: piece.starts[0]) - 1
        if at < 0 or span.start > self.pieces[at].starts[-1]:
            return None
        return self.pieces[at], self.pieces[at].within(span)

    def piece(self, uri: str) -> Piece | None:
        """The piece of that name."""
        return next((piece for piece in self.pieces if piece.uri == uri), None)

    def shown(self, text: str) -> str:
        """Characters of the source as an editor shows them."""
        return str(json.loads(f'"{text}"')) if self.is_notebook else text


@dataclass(frozen=True)
class Cell:
    """A cell of a notebook: the name of its text, and whether that is code."""

    uri: str
    is_code: bool


@dataclass
class OpenNotebook:
    """A notebook that an editor has open."""

    uri: str
    cells: list[Cell]


@dataclass
class OpenDocuments:
    """All that an editor has open.

    >>> documents = OpenDocuments()
    >>> documents.texts["a"] = OpenText("file:///post.md", "markdown", 1, "So $x = 1$.", "utf-16")
    >>> documents.held("a").name
    '/post.md'
    """

    texts: dict[str, OpenText] = field(default_factory=dict)
    notebooks: dict[str, OpenNotebook] = field(default_factory=dict)

    def owner(self, uri: str) -> str:
        """The notebook that a text is a cell of, else the text itself."""
        for notebook in self.notebooks.values():
            if any(cell.uri == uri for cell in notebook.cells):
                return notebook.uri
        return uri

    def held(self, uri: str) -> Held | None:
        """A text or a notebook as it is now; None where it is nothing that is judged."""
        if (notebook := self.notebooks.get(uri)) is not None:
            cells = [self.texts[cell.uri] for cell in notebook.cells if cell.uri in self.texts]
            return _beyond(uri, _path(uri), cells) or self._notebook(notebook)
        if (text := self.texts.get(uri)) is None or (name := _name(text)) is None:
            return None
        if (long := _beyond(uri, name, [text])) is not None:
            return long
        starts = range(len(text.text) + 1)
        piece = Piece(uri, text.text, starts, text.encoding, text.version, is_article(name))
        return Held(uri, name, text.text, (piece,))

    def _notebook(self, notebook: OpenNotebook) -> Held:
        source, pieces = '{"nbformat": 4, "cells": [', list[Piece]()
        for cell in notebook.cells:
            if (text := self.texts.get(cell.uri)) is None:
                continue
            kind = "code" if cell.is_code else "markdown"
            source += f'{"," if pieces else ""}\n{{"cell_type": "{kind}", "source": [\n"'
            starts = []
            for letter in text.text:
                starts.append(len(source))
                source += json.dumps(letter, ensure_ascii=False)[1:-1]
                # A line of a cell is one of the file.
                source += '",\n"' if letter == "\n" else ""
            starts.append(len(source))
            source += '"]}'
            pieces.append(
                Piece(cell.uri, text.text, starts, text.encoding, text.version, not cell.is_code)
            )
        name = _path(notebook.uri)
        name += "" if name.endswith(".ipynb") else ".ipynb"
        return Held(notebook.uri, name, f"{source}]}}", tuple(pieces))


def _beyond(uri: str, name: str, texts: Sequence[OpenText]) -> Held | None:
    """Return what is held of texts that are together longer than a file may be; else None."""
    size = sum(len(text.text.encode()) for text in texts)
    if size <= BYTES.most:
        return None
    pieces = (Piece(text.uri, "", range(1), text.encoding, text.version) for text in texts)
    return Held(uri, name, "", (*pieces,), size)


def _path(uri: str) -> str:
    """The path that a name stands for; one without a file has its own as path."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else unquote(uri)


def _name(text: OpenText) -> str | None:
    """The path that tells the form of a text; None of what is not judged."""
    name = _path(text.uri)
    suffix = Path(name).suffix.lower()
    if suffix == ".toml" or (text.language == "toml" and suffix not in FORMS):
        is_case = not is_side_file(name) and _WALKTHROUGH.search(text.text)
        return (name if suffix == ".toml" else f"{name}.toml") if is_case else None
    if suffix in FORMS:
        return None if FORMS[suffix] in ("pdf",) else name
    return name + _SUFFIXES[text.language] if text.language in _SUFFIXES else None
