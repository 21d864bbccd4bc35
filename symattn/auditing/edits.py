"""Edits of a recipe: the usual mistakes, each as what one step is instead.

An edit gives a step other values; the rest of the recipe stays as it is. Which
there are is a table: a kind, how rare it is in bits, and its phrase. The prices
are a code: all kinds together have a chance of at most 1 (J. Rissanen, Modeling
by shortest data description, 1978).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from symattn.languages.sentence import Sentence
from symattn.programs.floats import Matrix
from symattn.programs.nodes import Node


@dataclass(frozen=True)
class EditKind:
    """A kind of edit: its price in bits, and its phrase, with letters for words of the search."""

    price: float
    phrase: str


KINDS: Mapping[str, EditKind] = {
    "scale-dropped": EditKind(3.5, "{a} without the {b} {c}"),
    "rounded": EditKind(4.0, "{a} rounded to {b} before it was used"),
    "mask-forgotten": EditKind(4.5, "{a} without the mask"),
    "mask-after": EditKind(5.0, "{a} masked after the softmax instead of before"),
    "mask-as-zero": EditKind(5.0, "masked entries of {a} set to 0, not minus infinity"),
    "mask-transposed": EditKind(6.0, "{a} with the mask inverted"),
    "scale-not-rooted": EditKind(4.5, "{a} with {b} itself instead of its square root"),
    "scaled-twice": EditKind(5.5, "{a} with the {b} {c} twice"),
    "other-scale": EditKind(5.5, "{a} with {b} instead of {c}"),
    "function-dropped": EditKind(8.5, "{a} without the {b}"),
    "other-function": EditKind(8.0, "{a} with {b} instead of {c}"),
    "softmax-columns": EditKind(4.5, "{a} with the softmax down the columns"),
    "softmax-all": EditKind(6.5, "{a} with the softmax over all entries at once"),
    "not-normalised": EditKind(4.5, "{a} without the division by the sums of the exponentials"),
    "transposed": EditKind(4.5, "{a} with {b} and its transpose mixed up"),
    "result-transposed": EditKind(5.5, "{a} transposed"),
    "product-swapped": EditKind(5.5, "{a} with the factors of the product in the wrong order"),
    "operand-ignored": EditKind(5.5, "{a} replaced by {b}"),
    "other-quantity": EditKind(5.5, "{a} replaced by {b}"),
    "other-matrix": EditKind(5.0, "{a} with {b} instead of {c}"),
    "term-dropped": EditKind(4.5, "{a} without the term {b}"),
    "term-sign": EditKind(5.5, "{a} with the wrong sign of {b}"),
    "product-dropped": EditKind(5.5, "{a} without the part {b} of its sum"),
    "product-sign": EditKind(6.5, "{a} with the wrong sign of {b} in its sum"),
    "sign-flipped": EditKind(6.0, "{a} with the wrong sign"),
    "row-reused": EditKind(5.0, "{a} with row {b} used for row {c}, counted from 0"),
    "column-reused": EditKind(5.5, "{a} with column {b} used for column {c}, counted from 0"),
    "rows-swapped": EditKind(5.5, "{a} with rows {b} and {c} swapped, counted from 0"),
    "columns-swapped": EditKind(7.0, "{a} with columns {b} and {c} swapped, counted from 0"),
    "entry-reused": EditKind(4.5, "{a} used instead of {b}"),
    "entry-of-column": EditKind(7.0, "{a} used instead of {b}"),
    "entries-swapped": EditKind(6.0, "{a} and {b} swapped"),
    "mirrored": EditKind(6.0, "{a} with its {b} triangle mirrored"),
    "heads-exchanged": EditKind(6.0, "{a} with parts {b} and {c} swapped, counted from 0"),
    "off-by-one": EditKind(6.0, "{a} divided by {b} instead of {c}"),
    "other-base": EditKind(6.0, "{a} to base {b}"),
    "held-in": EditKind(7.0, "{a} stored as {b}"),
    "wrong-number": EditKind(5.0, "{a} instead of {b} for {c}"),
}
"""All kinds, by name; the names are stable."""


def phrase(kind: str, words: Sequence[str]) -> Sentence:
    """An edit of that kind in words.

    >>> phrase("other-scale", ["T", "sqrt(3)", "sqrt(d_k)"])
    'T with sqrt(3) instead of sqrt(d_k)'
    """
    return Sentence(KINDS[kind].phrase, **dict(zip(ascii_lowercase, words, strict=False)))


Base = Callable[[Node], Node]
"""A node in exact numbers, as it is without the edit."""


@dataclass(frozen=True, eq=False)
class Edit:
    """A step that is something else: its values in floats, and on demand the exact node.

    ``words`` fill the phrase of its kind; ``instead`` is the other operation, if it
    is one.
    """

    kind: str
    words: tuple[str, ...]
    node: Node
    value: Matrix
    exactly: Callable[[Base], Node]
    instead: Node | None = None

    @property
    def phrase(self) -> Sentence:
        """The edit in words."""
        return phrase(self.kind, self.words)

    @property
    def price(self) -> float:
        """How rare its kind is, in bits."""
        return KINDS[self.kind].price
