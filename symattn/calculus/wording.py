"""Which lines of a text are words, and which are formulas that claim nothing.

>>> wording = Wording({"A", "S"})
>>> wording.is_formula("A @ S"), wording.is_formula("softmax by rows")
(True, False)
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

from symattn.calculus import decoration
from symattn.calculus.names import head
from symattn.calculus.quantities import functions

#: What a formula has that computes something; numbers that only count.
_COMPUTED = re.compile(r"[-+*/@^⊙∘·×√Σ∑∂−²³ᵀ\\]|\w\(")
#: A sign between two words that prose doesn't have; letters are such by their names.
_STRANGE = re.compile(
    r"(?<=\w)\s*(?P<sign>[^\s.,;:!?'\"()\[\]{}“”‘’„«»…–—/&%#*_•`$\\+@^~=<>⊙∘·×√−-])\s*(?=\w)"
)
_NUMBER = re.compile(r"\b(is|are|becomes?|gives|yields)\s+(?:zero|one|two|three|four|five|ten)\b")
_STATED = re.compile(r"(\S+)\s+(?:is|are|gives|yields|becomes)\s+(\S+)")
#: Words that compute something with what stands behind or before them.
_OPERATORS = re.compile(
    r"\b(?:plus|minus|times|over|divided by|multiplied by|added to|squared|cubed|transposed?)\b"
)
#: Words right before or behind a formula that make another one of it.
_CHANGING = re.compile(
    r"\b(?:not|never|minus|plus|times|twice|half|thrice|double)\s*\Z"
    r"|\A\s*(?:plus|minus|times|over|divided|multiplied|squared|(?:is|does|are|do) not"
    r"|(?:is|are) (?:wrong|false|incorrect))\b",
    re.IGNORECASE,
)
_LISTED = re.compile(r"\(?\d+[.):]+")
#: What no words have, but formulas.
MATHEMATICAL = re.compile(r"[+*@^\\{}|~]|\s[-−/]\s|[-−/]\s*\Z")


@dataclass
class Wording:
    """Tells words from formulas by the names of a text."""

    names: set[str] = field(default_factory=set)
    sizes: set[str] = field(default_factory=set)

    def is_formula(self, text: str) -> bool:
        """Whether a text without a relation is a formula, and no words."""
        plain = decoration.unquoted(text).strip(" .,;:")
        plain = re.sub(r"_(?:\{[^{}]*\}|\([^()]*\)|[A-Za-z]{1,3}\b)", "_", plain)
        if not re.search(r"[-+*/@^_()\[\]\\⊙∘·×√Σ∑∂−²³ᵀ0-9]", plain):
            return False
        return all(
            word in self.names
            or word in functions()
            or word.partition("_")[0] in self.names
            or all(letter in self.names for letter in word.removeprefix("d").rstrip("_"))
            for word in re.findall(r"(?<![\\\w])[A-Za-z][\w’'-]+", plain)
        ) and bool(re.search(r"\w", plain))

    def is_quantity(self, text: str) -> bool:
        """Whether nothing but names and numbers stands in a text, and signs between them."""
        plain = _OPERATORS.sub(" ", decoration.unquoted(text))
        words = re.findall(r"[^\W_]\w*", plain)
        return bool(words) and all(
            not {word, word.removeprefix("d"), word.partition("_")[0]}.isdisjoint(self.names)
            or word in self.sizes
            or word.isdigit()
            for word in words
        )

    def changes(self, beside: str) -> bool:
        """Whether what stands beside a quoted formula makes another one of it."""
        is_label = re.search(r":\s*\Z", beside) or re.fullmatch(r"\s*\(\w{1,4}\)\W*", beside)
        return not is_label and (self.is_quantity(beside) or bool(_CHANGING.search(beside)))

    def speaks_of_sides(self, text: str) -> bool:
        """Whether words say something of two formulas: ``rowsum(A) turns out to be 1``."""
        text = _NUMBER.sub(r"\1 1", text)
        if any(
            self._names_something(text[: strange.start()].split()[-1])
            and self._names_something(text[strange.end() :].split()[0])
            for strange in _STRANGE.finditer(text)
            if _is_sign(strange["sign"])
        ):
            return True
        if (stated := _STATED.fullmatch(text)) and all(map(self.is_name, stated.groups())):
            return True
        chunks: list[list[str]] = [[]]
        for word in re.sub(r":\s", " : ", decoration.unquoted(text)).split():
            if self._is_word(word):
                chunks.append([])
            else:
                chunks[-1].append(word)
        written = [" ".join(chunk) for chunk in chunks if chunk]
        computing = [place for place, chunk in enumerate(written) if self._computes(chunk)]
        return len(computing) > 1 or any(
            place not in computing
            and not (place == 0 and _LISTED.fullmatch(chunk))
            and self._names_something(chunk)
            for place, chunk in enumerate(written)
            if computing
        )

    def _computes(self, chunk: str) -> bool:
        """Whether signs of mathematics and names of the text stand in a piece of a line."""
        return bool(_COMPUTED.search(chunk)) and (
            self._names_something(chunk) or not functions().isdisjoint(re.findall(r"\w+", chunk))
        )

    def _names_something(self, chunk: str) -> bool:
        """Whether a number or a name of the text stands in a piece of a line."""
        words = re.findall(r"[A-Za-z0-9]+", chunk)
        return any(
            word.isdigit() or word in self.names or word.removeprefix("d") in self.names
            for word in words
        )

    def _is_word(self, word: str) -> bool:
        """Whether a word between blanks is none of a formula."""
        plain = word.strip("\"'“”()[]{}.,:;!?*_")
        if plain in self.names or plain in functions():
            return False
        return re.fullmatch(r"[A-Za-z][A-Za-z’'-]+|[^\W\d_]*", plain) is not None and not (
            plain and all(letter in self.names for letter in plain)
        )

    def is_name(self, text: str) -> bool:
        """Whether a text is a name that means something, or a number."""
        plain = decoration.unquoted(text).strip(" .,;:")
        names = head(plain)
        return plain.isdigit() or (
            names is not None and not self.names.isdisjoint((names[0], names[0].removeprefix("d")))
        )


def _is_sign(character: str) -> bool:
    """Whether a character is no letter, or a letter that looks like a sign."""
    name = unicodedata.name(character, "")
    return not character.isalnum() or any(sign in name for sign in ("PLUS", "MINUS", "EQUAL"))
