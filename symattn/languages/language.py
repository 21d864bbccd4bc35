"""A language: every sentence of a document by what it is in English.

Sentences are written where they are said, in English, with names for what is filled in:
``say("Likewise for rows {first} to {last}.", first=2, last=5)``. A language file is a table from
those sentences to others that have the same names in them; what a file lacks stays English."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

from symattn.errors import Fault, Faults, Malformed, expected
from symattn.languages.sentence import Sentence
from symattn.tables.file import content, parsed
from symattn.tables.places import kind

Piece = TypeVar("Piece")

#: The folder of the languages that come with symattn.
_HERE = Path(__file__).parent
#: Codes of languages as documents have them: ``de``, ``pt-BR``.
_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
#: What messages call such a file, and where there is one.
LANGUAGE_FILE = ("language file", "see symattn/languages/de.toml for one")


class Language:
    """Says sentences in one language; ``name`` is its code, such as ``de``.

    >>> german = Language("de", {"rows {first} to {last}": "Zeilen {first} bis {last}"})
    >>> german.text("rows {first} to {last}", first=2, last=5)
    'Zeilen 2 bis 5'
    >>> german("{size} rows", size=b"any piece")
    (b'any piece', ' rows')
    >>> german("rows {all}", all=(1, 2))
    ('rows ', 1, 2)
    """

    def __init__(self, name: str, sentences: Mapping[str, str]) -> None:
        self.name = name
        self.sentences = sentences

    @property
    def tag(self) -> str:
        """The code of the language for documents; ``und``, undetermined, where the name is none.

        >>> Language("de-AT", {}).tag, Language("my own", {}).tag
        ('de-AT', 'und')
        """
        return self.name if _TAG.fullmatch(self.name) else "und"

    @property
    def is_english(self) -> bool:
        """Return whether it is English, or a kind of it."""
        return self.tag.partition("-")[0] == ENGLISH.name

    def __call__(
        self, sentence: str, **pieces: Piece | tuple[Piece, ...]
    ) -> tuple[str | Piece, ...]:
        """The sentence with pieces of any kind, or several in a row, where they are named in it."""
        parts: list[str | Piece] = []
        for piece in self._filled(sentence, pieces):
            parts += piece if isinstance(piece, tuple) else (piece,)
        return tuple(parts)

    def text(self, sentence: str, **values: object) -> str:
        """The sentence with values as text."""
        return "".join(map(str, self._filled(sentence, values)))

    def again(self, text: str) -> str:
        """Return what was said in English elsewhere: a :class:`Sentence`, and what is filled into
        it.

        >>> german = Language("de", {"row {i}": "Zeile {i}"})
        >>> german.again(Sentence("row {i}", i=2)), german.again("a title")
        ('Zeile 2', 'a title')
        """
        if not isinstance(text, Sentence):
            return text
        pieces = {
            name: self.again(piece) if isinstance(piece, str) else piece
            for name, piece in text.pieces.items()
        }
        return self.text(text.english, **pieces)

    def _filled(self, sentence: str, pieces: Mapping[str, Piece]) -> Iterator[str | Piece]:
        for words, name, _, _ in string.Formatter().parse(self.sentences.get(sentence, sentence)):
            if words:
                yield words
            if name is not None:
                yield pieces[name]


ENGLISH = Language("en", {})


def names() -> list[str]:
    """The codes of the languages that come with symattn.

    >>> names()
    ['de', 'en']
    """
    return sorted([ENGLISH.name, *(path.stem for path in _HERE.glob("*.toml"))])


def language(name: str) -> Language:
    """The language of that code, or of a file of sentences whose name ends in ``.toml``.

    Raises :class:`Malformed` where there is none, and with every fault of the
    file: a sentence that fills in other names than the English one.

    >>> language("en").text("of {n} rows", n=3)
    'of 3 rows'
    """
    if name == ENGLISH.name:
        return ENGLISH
    if name.endswith(".toml"):
        return _read(Path(name))
    if name not in names():
        raise Malformed(
            f"unknown language {name!r}: {expected(name, names())}, or a language file (.toml)"
        )
    return _bundled(name)


@cache
def _bundled(name: str) -> Language:
    return _read(_HERE / f"{name}.toml")


def _read(path: Path) -> Language:
    try:
        file = parsed(path, content(path, "the file", *LANGUAGE_FILE))
    except Malformed as error:
        raise Malformed(error.faults, str(path), error.more) from None
    faults = Faults()
    for english, other in file.document.items():
        if not isinstance(other, str):
            faults.append(Fault(english, f"expected a sentence, found {kind(other)}"))
            continue
        try:
            wanted, given = fields(english), fields(other)
        except ValueError as error:
            faults.append(Fault(english, f"not a sentence with names in braces: {error}"))
            continue
        if wanted != given:
            names = ", ".join(f"{{{name}}}" for name in sorted(wanted)) or "no name in braces"
            listed = ", ".join(f"{{{name}}}" for name in sorted(given)) or "none"
            faults.append(Fault(english, f"expected {names}, found {listed}"))
    if faults:
        raise file.malformed(faults)
    return Language(path.stem, file.document)


def fields(sentence: str) -> set[str]:
    """The names that a sentence has in braces.

    Raises :class:`ValueError` where a brace is open.

    >>> sorted(fields("{name} is {value}"))
    ['name', 'value']
    """
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None}
