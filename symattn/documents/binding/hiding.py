"""What a printed matrix of scores with minus infinities in it is: other scores, masked."""

from __future__ import annotations

from symattn import syntax
from symattn.documents.binding import values
from symattn.documents.binding.recipe import Recipe
from symattn.numbers.rationals import MINUS_INFINITY

#: A printed matrix is that of masked scores where this part of its figures says so.
_ENOUGH = 0.5


def is_partly_hidden(value: syntax.Tree) -> bool:
    """Whether a printed matrix has figures and minus infinities, and isn't a mask itself.

    >>> rows = (("0.5", "-inf"), ("0.2", "1.5")), (("0", "-inf"), ("0", "0"))
    >>> [is_partly_hidden(values.of_texts(one)) for one in rows]
    [True, False]
    """
    texts = _texts(value)
    shown = {text.strip("0.") for text in texts if text != MINUS_INFINITY}
    return MINUS_INFINITY in texts and not shown <= {"", "1"}


def masked(recipe: Recipe, value: syntax.Tree) -> syntax.Tree | None:
    """The quantity of the recipe that a printed matrix shows with some entries hidden, with
    them hidden: the one that most of the other figures agree with; None if there is none,
    or if several that differ agree as well."""
    shape = values.shape(value)
    if len(shape) != 2:
        return None
    texts = _texts(value)
    rows, columns = shape
    kept = [[texts[i * columns + j] != MINUS_INFINITY for j in range(columns)] for i in range(rows)]
    best: list[tuple[float, syntax.Tree]] = []
    for name in (*recipe.given, *recipe.steps):
        if recipe.shape(syntax.Name(name)) != shape:
            continue
        made = _hiding(syntax.Name(name), kept)
        if (share := recipe.agreement(made, value)) > _ENOUGH and recipe.role(name) != "masked":
            best.append((share, made))
    best.sort(key=lambda one: one[0], reverse=True)
    return best[0][1] if best and not (best[1:] and best[0][0] == best[1][0]) else None


def _hiding(scores: syntax.Tree, kept: list[list[bool]]) -> syntax.Tree:
    if all(keep == (j <= i) for i, row in enumerate(kept) for j, keep in enumerate(row)):
        return syntax.Call("causal", (scores,))
    pattern = values.of_texts(tuple(tuple("01"[keep] for keep in row) for row in kept))
    return syntax.Call("mask", (scores, pattern))


def _texts(value: syntax.Tree) -> list[str]:
    return [part.text for part in values.leaves(value) if isinstance(part, syntax.Literal)]
