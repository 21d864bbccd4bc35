"""Edits of a recipe: the usual mistakes, each as what one step is instead.

An edit gives a step other values; the rest of the recipe stays as it is. Which
there are is a table: a kind, how rare it is in bits, and its phrase. The prices
are a code: all kinds together have a chance of at most 1 (J. Rissanen, Modeling
by shortest data description, 1978).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from symattn.programs.floats import Matrix
from symattn.programs.nodes import Node


@dataclass(frozen=True)
class Kind:
    """A kind of edit: its price in bits, and its phrase; ``{}`` are words of the search."""

    price: float
    phrase: str


KINDS: Mapping[str, Kind] = {
    "scale-dropped": Kind(3.5, "{} without the {} {}"),
    "rounded": Kind(4.0, "{} rounded to {} before it was used"),
    "mask-forgotten": Kind(4.5, "{} without the mask"),
    "mask-after": Kind(5.0, "{} masked after the softmax, and not before it"),
    "mask-as-zero": Kind(5.0, "the masked scores of {} taken as 0, not as minus infinity"),
    "mask-transposed": Kind(6.0, "{} with the mask the wrong way round"),
    "scale-not-rooted": Kind(4.5, "{} with {} itself in place of its square root"),
    "scaled-twice": Kind(5.5, "{} with the {} {} twice"),
    "other-scale": Kind(5.5, "{} with {} in place of {}"),
    "softmax-columns": Kind(4.5, "{} with the softmax down the columns"),
    "softmax-all": Kind(6.5, "{} with the softmax over all entries at once"),
    "not-normalised": Kind(4.5, "{} without the division by the sums of the exponentials"),
    "transposed": Kind(4.5, "{} with {} and its transpose mixed up"),
    "result-transposed": Kind(5.5, "{} transposed"),
    "product-swapped": Kind(5.5, "{} with the factors of the product swapped"),
    "operand-ignored": Kind(5.5, "{} taken to be {}"),
    "other-quantity": Kind(5.5, "{} taken to be {}"),
    "other-matrix": Kind(5.0, "{} with {} in place of {}"),
    "term-dropped": Kind(4.5, "{} without the term {}"),
    "term-sign": Kind(5.5, "{} with the wrong sign of {}"),
    "product-dropped": Kind(5.5, "{} without the part {} of its sum"),
    "product-sign": Kind(6.5, "{} with the wrong sign of {} in its sum"),
    "sign-flipped": Kind(6.0, "{} with the wrong sign"),
    "row-reused": Kind(5.0, "{} with row {} used for row {}, counted from 0"),
    "column-reused": Kind(5.5, "{} with column {} used for column {}, counted from 0"),
    "rows-swapped": Kind(5.5, "{} with rows {} and {} swapped, counted from 0"),
    "columns-swapped": Kind(7.0, "{} with columns {} and {} swapped, counted from 0"),
    "entry-reused": Kind(4.5, "{} used in place of {}"),
    "entry-of-column": Kind(7.0, "{} used in place of {}"),
    "entries-swapped": Kind(6.0, "{} and {} swapped"),
    "mirrored": Kind(6.0, "{} with its {} triangle mirrored"),
    "heads-exchanged": Kind(6.0, "{} with its parts {} and {} exchanged, counted from 0"),
    "off-by-one": Kind(6.0, "{} divided by {} in place of {}"),
    "other-base": Kind(6.0, "{} to base {}"),
    "held-in": Kind(7.0, "{} held in {}"),
    "wrong-number": Kind(5.0, "{} in place of {} for {}"),
}
"""All kinds, by name; the names are stable."""

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
    def phrase(self) -> str:
        """The edit in words."""
        return KINDS[self.kind].phrase.format(*self.words)

    @property
    def price(self) -> float:
        """How rare its kind is, in bits."""
        return KINDS[self.kind].price
