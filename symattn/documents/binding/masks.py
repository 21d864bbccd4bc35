"""What an article hides from its queries: later positions, or columns that are padding."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from symattn import syntax
from symattn.documents.binding import values
from symattn.documents.binding.roles import named
from symattn.documents.trees import Chain
from symattn.numbers.rationals import MINUS_INFINITY
from symattn.shapes import Shape

#: What an article that masks something speaks of.
SPOKEN = re.compile(r"causal|mask|padding|<pad>|\[PAD\]|look(?:ing)? ahead|future", re.I)
_NUMBERS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_PADDED = re.compile(
    rf"\b(?:the\s+)?(?P<place>last|final|{'|'.join(_NUMBERS)})(?:\s+(?:token|position|word|one"
    r"|entry|key|column))?\s+(?:is|being|only|just|=)\s+(?:only\s+|just\s+)?(?:a\s+)?padding\b"
    r"|\b(?:token|position|word|column|key)\s+(?P<number>[0-9]{1,2})\s+(?:is|being)\s+(?:only\s+"
    r"|just\s+)?(?:a\s+)?padding\b",
    re.I,
)
#: Names that masks are added by.
_LETTERS = ("M", "mask", "Mask")
#: Masks of larger scores are not written out.
_ENTRIES = 1024


@dataclass(frozen=True)
class Mask:
    """What is hidden: what comes later, or the columns ``hidden``, from 0, or from the end
    where they are negative. ``is_known`` is False where an article masks something, and
    it isn't understood what.

    >>> syntax.text(Mask((-1,)).over(syntax.Name("S"), (2, 3)))
    'mask(S, [[1, 1, 0], [1, 1, 0]])'
    """

    hidden: tuple[int, ...] = ()
    is_known: bool = True

    def over(self, scores: syntax.Tree, shape: Shape | None) -> syntax.Tree | None:
        """Scores of a shape under the mask; None where it doesn't fit them."""
        if not self.is_known or shape is None or len(shape) != 2:
            return None
        rows, columns = shape
        if not self.hidden:
            return syntax.Call("causal", (scores,)) if rows == columns else None
        places = {place % columns for place in self.hidden if -columns <= place < columns}
        if len(places) < len(self.hidden) or len(places) == columns or rows * columns > _ENTRIES:
            return None
        row = syntax.Array(
            tuple(syntax.Literal("0" if k in places else "1") for k in range(columns))
        )
        return syntax.Call("mask", (scores, syntax.Array((row,) * rows)))


CAUSAL = Mask()
UNKNOWN = Mask(is_known=False)


def told(words: str, chains: Iterable[Chain]) -> Iterator[Mask]:
    """The columns that an article says are padding, or that it prints as minus infinity.

    >>> list(told("Of four positions the last is padding.", []))
    [Mask(hidden=(-1,), is_known=True)]
    """
    for match in _PADDED.finditer(words):
        if match["number"]:
            yield Mask((int(match["number"]) - 1,))
        else:
            place = match["place"].lower()
            yield Mask((_NUMBERS.index(place) if place in _NUMBERS else -1,))
    for chain in chains:
        for member in chain.members:
            if values.is_value(member) and (columns := _hidden(member)):
                yield Mask(columns)


def _hidden(value: syntax.Tree) -> tuple[int, ...]:
    """The columns of a printed matrix that are minus infinity, where nothing else is."""
    if len(values.shape(value)) != 2:
        return ()
    rows = [
        tuple(k for k, text in enumerate(row) if text == MINUS_INFINITY)
        for row in values.printed(value)
        if not isinstance(row, str)
    ]
    return rows[0] if len(set(rows)) == 1 and len(rows) > 1 else ()


def is_name(name: str) -> bool:
    """Whether something of that name, added to scores, hides some of them."""
    return name in _LETTERS or named(name) == "masked"
