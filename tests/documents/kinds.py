"""What a hostile document is, and how one is added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

REFUSED = "refused"
READ = "read"
EITHER = "either"
#: How deep things are nested.
DEEP = 100_000


@dataclass(frozen=True)
class Hostile:
    """A hostile document."""

    name: str
    suffix: str
    about: str
    expected: str
    make: Callable[[], bytes]
    #: Wrong figures that must be found: line and column from 1, as printed.
    slips: tuple[tuple[int, int, str], ...] = ()

    def write(self, folder: Path) -> Path:
        """The document as a file in a folder."""
        path = folder / f"{self.name}{self.suffix}"
        path.write_bytes(self.make())
        return path


DOCUMENTS: list[Hostile] = []


def _encoded(make):
    """Text as bytes; surrogates are written too, which UTF-8 forbids."""
    made = make()
    return made.encode("utf-8", "surrogatepass") if isinstance(made, str) else made


def document(*suffixes, expected=EITHER, slips=()):
    """Add a generator of text or bytes as a document, once for each suffix."""

    def add(make):
        for suffix in suffixes:
            name = make.__name__ + (f"_{suffix[1:]}" if len(suffixes) > 1 else "")
            content = partial(_encoded, make)
            DOCUMENTS.append(Hostile(name, suffix, make.__doc__, expected, content, tuple(slips)))
        return make

    return add


def texts(suffix, expected=EITHER, **made):
    """Add documents that a line of code says: what they are and how their text is made."""
    for name, text in made.items():
        about = name.replace("_", " ").capitalize() + "."
        DOCUMENTS.append(Hostile(name, suffix, about, expected, partial(_encoded, text)))


#: Right but for its last figure, in each notation.
WRONG = "softmax([1, 0]) = [0.7311, 0.2698]"
WRONG_TEX = r"\operatorname{softmax}(1, 0) = (0.7311, 0.2698)"
