"""What a text says its names are: shapes, losses, permutations.

What is said of a shape is known in full, or it is none: a word passed over could be the one that
makes another shape of it.

>>> given = Given()
>>> given.read("S: n x m", 1), given.read("S is large", 2), given.shapes
(True, False, {'S': ['n', 'm']})
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from symattn.calculus.quantities import functions
from symattn.calculus.relations import related
from symattn.calculus.wording import quoted, unquoted
from symattn.errors import Malformed
from symattn.spelling import whole
from symattn.spelling import words as vocabulary

_NAME = r"[A-Za-z_]\w*"
_GIVEN = re.compile(
    rf"(?:(?:let|given|where|with|and|for|assume|suppose)\s+)*"
    rf"({_NAME}(?:\s*,\s*(?:and\s+)?{_NAME}|\s+and\s+{_NAME})*)"
    r"(?:\s*(:|∈|\bin\b|\bis\b|\bare\b|\bbe\b)|\s+(?=\())\s*(.+)",
    re.IGNORECASE,
)
_LOSS = re.compile(
    rf"(?:the |any |an? |differentiable |scalar )*(?:function|loss)(?: of ({_NAME}))?"
)
_PERMUTATION = re.compile(rf"(?:any |an? )?permutation of ({_NAME})")
_SIZES = r"\w+(?:\s*(?:\bx\b|×|,|\bby\b)\s*\w+)*"
_BOX = rf"(?:\(\s*{_SIZES}\s*\)|\[\s*{_SIZES}\s*\]|\{{\s*{_SIZES}\s*\}}|{_SIZES})"
# Braces without R^ are those of a set.
_BARE_BOX = rf"(?:\(\s*{_SIZES}\s*\)|\[\s*{_SIZES}\s*\]|{_SIZES})"
_KIND = r"(?P<kind>matrix|matrices|vectors?|arrays?)"
#: The whole of what is said of a shape; anything else is none.
_SHAPES = tuple(
    re.compile(rf"(?:(?:an?|the|any|all|be)\s+)*(?:real\s+)?(?:{said})", re.IGNORECASE)
    for said in (
        r"(?:number|scalar)s?|(?P<set>(?-i:[Rℝ]))|\(\s*\)",
        rf"(?:{_KIND}\s+(?:in\s+|∈\s*))?(?P<set>(?-i:[Rℝ]))\s*\^\s*(?P<sizes>{_BOX})",
        rf"{_KIND}\s+(?:(?:of|with)\s+)?(?:(?:size|shape|length)\s+)?(?P<sizes>{_BOX})"
        r"(?:\s+entries)?",
        rf"(?P<sizes>{_BOX})\s+(?:real\s+)?{_KIND}",
        rf"(?:(?:of\s+)?(?:size|shape)\s+)?(?P<sizes>{_BARE_BOX})(?:\s+entries)?",
    )
)
#: Words that are taken for no size.
_NO_SIZES = vocabulary(
    "a an the real matrix matrices vector vectors array arrays of with entries size length shape"
    " number numbers scalar scalars function loss any in positive negative nonnegative symmetric"
    " diagonal random orthogonal orthonormal unit invertible integer even odd binary constant"
    " stochastic causal square nonzero"
)
#: What has one of these is a shape, also where it only "is": "x is 7" claims something.
_SHAPE_WORDS = re.compile(
    r"(?i)number|scalar|matri|vector|array|entries|\bx\b|×|\bby\b|\bR\b|ℝ|function|loss|permutation"
)
#: Signs of shapes as LaTeX has them, and what dresses them.
_SHAPED = (
    *((re.compile(r"\\in(?![A-Za-z])"), "∈"), (re.compile(r"\\mathbb\s*\{?\s*R\s*\}?"), "ℝ")),
    (re.compile(r"\\mathbb\s*\{?\s*N\s*\}?"), "ℕ"),
    *((re.compile(r"\\times(?![A-Za-z])"), "×"), (re.compile(r"[$`]|\*\*|\\[()]|\\(?=[a-z])"), "")),
    (re.compile(r"\s+(?:#|//)\s.*"), ""),
)
_SENTENCE = re.compile(r"(?<=[.;])\s+(?=[A-Z$`\\])")


@dataclass
class Given:
    """What a text says its names are, and on which lines."""

    shapes: dict[str, list[str | int]] = field(default_factory=dict)
    losses: dict[str, str] = field(default_factory=dict)
    permutations: dict[str, str] = field(default_factory=dict)
    at: dict[str, int] = field(default_factory=dict)
    written: list[tuple[int, str]] = field(default_factory=list)
    """The names as they are set where they are given."""

    def of(self, name: str) -> tuple[str, object]:
        """What a name is said to be."""
        for table in ("shapes", "losses", "permutations"):
            if name in getattr(self, table):
                return table, getattr(self, table)[name]
        return "", None

    def read(self, text: str, at: int) -> bool:
        """Whether a line says what something is, which is kept; :class:`Malformed` where it
        says something else of it than a line before."""
        sentences = _SENTENCE.split(text)
        if len(sentences) > 1:
            return min([self.read(sentence, at) for sentence in sentences])
        quotes = [quote for quote, _, _ in quoted(text) if re.search(r"∈|\\in|:", quote)]
        if quotes and quotes != [text] and len(quotes[0]) < len(text.strip("`$ .,")) - 2:
            are_given = [self.read(quote, at) for quote in quotes]
            if all(are_given) and not related(unquoted(text)):
                return True
        plain = text
        for pattern, written in _SHAPED:
            plain = pattern.sub(written, plain)
        plain = re.sub(r"^(?:[-*+•]|\(?\w{1,3}[.)])\s+", "", plain).strip(" .,;")
        given = _GIVEN.fullmatch(plain)
        if given is None or related(plain):
            return False
        names = [name for name in re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", given[1]) if name]
        meaning, is_within = given[3].strip(), given[2] in ("∈", "in")
        if is_within and meaning == "ℕ":
            # So are sizes; another name is not known by that.
            return True
        if re.search(r"\b(?:is|are|be)\b", plain) and not _SHAPE_WORDS.search(meaning):
            return False
        if not text.isascii() or "\\" in text:
            self.written.append((at, re.split(r":|∈|\\in(?![A-Za-z])", text, maxsplit=1)[0]))
        if loss := _LOSS.fullmatch(meaning):
            self._put("losses", dict.fromkeys(names, loss[1] or ""), at)
        elif permutation := _PERMUTATION.fullmatch(meaning):
            self._put("permutations", dict.fromkeys(names, permutation[1]), at)
        elif {"sizes", *functions()} & {*names} or (shape := _shape(meaning, is_within)) is None:
            return False
        else:
            self._put("shapes", dict.fromkeys(names, shape), at)
        return True

    def _put(self, table: str, entries: Mapping[str, Any], number: int) -> None:
        for name, entry in entries.items():
            before = self.at.get(name, number)
            if before != number and self.of(name) != (table, entry):
                raise Malformed(f"{name} is given on line {before} already, as something else")
            getattr(self, table)[name] = entry
            self.at[name] = number


def _shape(phrase: str, is_within: bool) -> list[str | int] | None:
    """The sizes that a shape is made of; None where the words are no shape."""
    said = next(filter(None, (shape.fullmatch(phrase) for shape in _SHAPES)), None)
    if said is None or (is_within and not said.groupdict().get("set")):
        return None
    parts = said.groupdict()
    words = [
        word for word in re.findall(r"\w+", parts.get("sizes") or "") if word not in ("x", "by")
    ]
    sizes = [word if (size := whole(word)) is None else size for word in words]
    kind = (parts.get("kind") or "")[:3].lower()
    # "A vector of length 1" is one of norm 1, and "a matrix of size n" can't be told.
    is_told = kind not in ("mat", "vec") or len(sizes) == (2 if kind == "mat" else 1)
    is_told = is_told and _NO_SIZES.isdisjoint(words)
    return sizes if is_told and not (kind == "vec" and sizes == [1]) else None
