"""The context of figures: what arithmetic without a name may work out, what printed scores with
minus infinities are, which values are only supposed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from symattn.documents.binding import values, workings
from symattn.documents.binding.bounds import Bounds
from symattn.documents.binding.recipe import Recipe
from symattn.documents.binding.roles import About, Role
from symattn.documents.trees import Chain, Passage, Piece, Words
from symattn.expressions import syntax
from symattn.expressions.shapes import Nested
from symattn.numbers.rationals import MINUS_INFINITY
from symattn.programs.enclosures import Matrix

#: Quantities of more entries than that are not searched.
_ENTRIES = 256
#: What a section about a role works out, step by step.
_WORKED: dict[Role | None, tuple[Role, ...]] = {
    "scores": ("scores",),
    "scaled": ("scaled", "scores"),
    "masked": ("masked", "scaled"),
    "weights": ("exponentials", "sums", "weights", "shifted", "scaled"),
    "exponentials": ("exponentials", "sums", "weights"),
    "sums": ("sums", "exponentials", "weights"),
    "output": ("output",),
    "query": ("query",),
    "key": ("key",),
    "value": ("value",),
}
_ALL: tuple[Role, ...] = (
    "exponentials", "sums", "weights", "output", "scaled", "scores", "query", "key", "value",
)  # fmt: skip


def targets(
    recipe: Recipe,
    role: About | None,
    row: int | None,
    last: syntax.Tree | None = None,
    near: Bounds | None = None,
) -> Iterator[syntax.Tree]:
    """The entries that a section about a role works out, of one row or of all: those of
    the quantity that was shown ``last``, those of the role, then those of all others that
    there are; only such as lie in the bounds, where these are known."""
    if last is not None:
        yield from _of_quantity(recipe, last, row, near)
    order = [*_WORKED.get(role if isinstance(role, str) else None, ()), *_ALL]
    for worked in dict.fromkeys(order):
        if worked in ("exponentials", "sums"):
            for scores, found in _softmax_rows(recipe, row):
                yield from _of_softmax(worked, scores, found, near)
                if (shifted := workings.shifted(recipe, scores)) is not None:
                    yield from _of_softmax(worked, shifted, found - found.max(), near)
        else:
            for name in recipe.with_role(worked):
                yield from _of_quantity(recipe, syntax.Name(name), row, near, worked == "weights")


def _of_quantity(
    recipe: Recipe,
    whole: syntax.Tree,
    row: int | None,
    near: Bounds | None,
    are_weights: bool = False,
) -> Iterator[syntax.Tree]:
    """The entries and rows of a quantity, and what the rows of weights sum to."""
    for i, found in _rows(recipe, whole, row):
        yield from (workings.indexed(whole, i, j) for j in _entries(found, near))
        if _holds(found, near):
            yield workings.indexed(whole, i)
        if are_weights and _holds(found.sum(), near):
            yield syntax.Call("total", (workings.indexed(whole, i),))


def _of_softmax(
    role: Role, scores: syntax.Tree, numbers: Matrix, near: Bounds | None
) -> Iterator[syntax.Tree]:
    """The exponentials of a row of scores, or their sum."""
    powers = np.exp(numbers)
    exponentials = syntax.Call("exp", (scores,))
    if role == "exponentials":
        for k in _entries(powers, near):
            yield syntax.Call("exp", (workings.entry(scores, k),))
        if _holds(powers, near):
            yield exponentials
    elif _holds(powers.sum(), near):
        yield syntax.Call("total", (exponentials,))


def _entries(row: Matrix, near: Bounds | None) -> Iterable[int]:
    """The places in a row of what lies in the bounds."""
    if near is None:
        return range(len(row))
    return () if near.low.ndim else np.flatnonzero(near.holds(row)).tolist()


def _holds(value: Matrix | np.float64, near: Bounds | None) -> bool:
    """Return whether a row or a number lies in the bounds."""
    if near is None:
        return True
    shape = tuple(size for size in np.shape(value) if size != 1)
    return near.low.shape == shape and bool(np.all(near.holds(value)))


def of_softmax(recipe: Recipe, role: Role, row: int) -> Iterator[syntax.Tree]:
    """The exponentials of a row that a softmax is taken of, or their sum: of the scores,
    and of these less their largest; or those themselves."""
    for scores, _ in _softmax_rows(recipe, row):
        for form in (scores, workings.shifted(recipe, scores)):
            if role == "shifted" and form is not None and form is not scores:
                yield form
            elif role != "shifted" and form is not None:
                exponentials = syntax.Call("exp", (form,))
                yield (
                    exponentials
                    if role == "exponentials"
                    else syntax.Call("total", (exponentials,))
                )


def _softmax_rows(recipe: Recipe, row: int | None) -> Iterator[tuple[syntax.Tree, Matrix]]:
    """The rows of scores that a softmax is taken of, with their values."""
    for tree in list(recipe.trees.values()):
        match tree:
            case syntax.Call("softmax", (scores,), ()):
                for i, found in _rows(recipe, scores, row):
                    yield workings.indexed(scores, i), found


def _rows(recipe: Recipe, whole: syntax.Tree, row: int | None) -> Iterator[tuple[int, Matrix]]:
    """The rows of a matrix, or that one, with their values."""
    shape, found = recipe.shape(whole), recipe.floats(whole)
    if shape is None or found is None or len(shape) != 2 or found.size > _ENTRIES:
        return
    rows = range(shape[0]) if row is None else [row] if 0 <= row < shape[0] else []
    yield from ((i, found[i]) for i in rows)


#: A printed matrix is that of masked scores where this part of its figures says so.
_ENOUGH = 0.5


def is_partly_hidden(value: syntax.Tree) -> bool:
    """Return whether a printed matrix has figures and minus infinities, and isn't a mask itself.

    >>> rows = (("0.5", "-inf"), ("0.2", "1.5")), (("0", "-inf"), ("0", "0"))
    >>> [is_partly_hidden(values.of_texts(one)) for one in rows]
    [True, False]
    """
    texts = _texts(value)
    figures = {text.strip("0.") for text in texts if text != MINUS_INFINITY}
    return MINUS_INFINITY in texts and not figures <= {"", "1"}


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
        hidden = _hiding(syntax.Name(name), kept)
        if (share := recipe.agreement(hidden, value)) > _ENOUGH and recipe.role(name) != "masked":
            best.append((share, hidden))
    best.sort(key=lambda one: one[0], reverse=True)
    return best[0][1] if best and not (best[1:] and best[0][0] == best[1][0]) else None


def _hiding(scores: syntax.Tree, kept: list[list[bool]]) -> syntax.Tree:
    if all(keep == (j <= i) for i, row in enumerate(kept) for j, keep in enumerate(row)):
        return syntax.Call("causal", (scores,))
    pattern = values.of_texts(tuple(tuple("01"[keep] for keep in row) for row in kept))
    return syntax.Call("mask", (scores, pattern))


def _texts(value: syntax.Tree) -> list[str]:
    return [part.text for part in values.leaves(value) if isinstance(part, syntax.Literal)]


_SUPPOSED = re.compile(
    r"\b(?:instead|would|what if|redo|repeat|try|base(?:line)? case|baseline)\b", re.I
)
#: A sentence is looked at so many formulas and words before and behind.
_PIECES = 20
_END = re.compile(r"[.!?](?=\s|\Z)")


def asserted(passages: Sequence[Passage]) -> Iterator[Passage]:
    """The passages without the chains that give a name another value than before, in a
    sentence that supposes so, or that says that it is of another case."""
    known: dict[str, Nested[str]] = {}
    caption = Passage("prose", ())
    for passage in passages:
        kept: list[Piece] = []
        # Whose values a table has is said above it.
        above, caption = caption, passage
        for place, piece in enumerate(passage.pieces):
            match piece:
                case Chain((syntax.Name(name), *_, value)) if not piece.is_code and values.is_value(
                    value
                ):
                    printed = values.printed(value)
                    first = known.setdefault(name, printed)
                    said = (above, 0) if passage.kind == "table" else (passage, place)
                    if first != printed and _is_supposed(*said):
                        continue
            kept.append(piece)
        yield replace(passage, pieces=tuple(kept))


def _is_supposed(passage: Passage, place: int) -> bool:
    """Return whether the sentence around a piece of prose supposes something."""
    before = passage.pieces[max(0, place - _PIECES) : place]
    behind = passage.pieces[place + 1 : place + 1 + _PIECES]
    words = ""
    for piece in reversed(before):
        if isinstance(piece, Words):
            *_, last = _END.split(piece.text)
            words = f"{last} {words}"
            if _END.search(piece.text):
                break
    for piece in behind:
        if isinstance(piece, Words):
            words += " " + _END.split(piece.text, maxsplit=1)[0]
            if _END.search(piece.text):
                break
    return passage.kind == "prose" and bool(_SUPPOSED.search(words))
