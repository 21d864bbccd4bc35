"""Sentences that are said in English where they arise, and elsewhere in another language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class Sentence(str):
    """An English sentence that knows what it was made of, so that a language can say it again.

    Everywhere else it is the text that it is in English.

    >>> Sentence("carries {figures}", figures="A[0][1] = 0.5")
    'carries A[0][1] = 0.5'
    """

    english: str
    pieces: Mapping[str, object]

    def __new__(cls, english: str, **pieces: object) -> Sentence:
        """The sentence with what is filled in."""
        sentence = super().__new__(cls, english.format_map(pieces))
        sentence.english, sentence.pieces = english, pieces
        return sentence

    def __getnewargs_ex__(self) -> tuple[tuple[str], Mapping[str, object]]:
        return (self.english,), self.pieces


def joined(parts: Iterable[str], between: str = ", ") -> Sentence:
    """Sentences one behind another, each of which is said again by itself.

    >>> joined([Sentence("it repeats A"), Sentence("it is cut off")], "; ")
    'it repeats A; it is cut off'
    """
    pieces = {f"part_{place}": part for place, part in enumerate(parts)}
    return Sentence(between.join(f"{{{name}}}" for name in pieces), **pieces)
