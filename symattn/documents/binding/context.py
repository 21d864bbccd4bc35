"""What arithmetic without a name can be the working of: entries in the row that is spoken of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import numpy as np

from symattn import syntax
from symattn.documents.binding import workings
from symattn.documents.binding.bounds import Bounds
from symattn.documents.binding.recipe import Recipe
from symattn.documents.binding.roles import About, Role
from symattn.programs.floats import Matrix

#: Quantities of more entries than that are not searched.
_ENTRIES = 256
#: What is worked out: what plays a role, or the terms that an output adds up.
Worked = Role | Literal["terms"]
#: What a section about a role works out, step by step.
_WORKED: dict[Role | None, tuple[Worked, ...]] = {
    "scores": ("scores",),
    "scaled": ("scaled", "scores"),
    "masked": ("masked", "scaled"),
    "weights": ("exponentials", "sums", "weights", "shifted", "scaled"),
    "exponentials": ("exponentials", "sums", "weights"),
    "sums": ("sums", "exponentials", "weights"),
    "output": ("output", "terms"),
    "query": ("query",),
    "key": ("key",),
    "value": ("value",),
}
_ALL: tuple[Worked, ...] = (
    "exponentials", "sums", "weights", "output", "scaled", "scores", "query", "key", "value",
)  # fmt: skip

#: Quantities whose rows are worked out entry by entry.
_ENTERED: tuple[Role, ...] = ("weights", "scaled", "scores", "output", "query", "key", "value")


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
    for one in dict.fromkeys(order):
        if one in ("exponentials", "sums"):
            for scores, found in _softmax_rows(recipe, row):
                yield from _of_softmax(one, scores, found, near)
                if (shown := workings.shifted(recipe, scores)) is not None:
                    yield from _of_softmax(one, shown, found - found.max(), near)
        elif one == "terms":
            for terms in _terms(recipe, row):
                yield from terms
        elif one == "shifted":
            for scores, _ in _softmax_rows(recipe, row):
                if (shown := workings.shifted(recipe, scores)) is not None:
                    yield shown
        else:
            for name in recipe.with_role(one):
                yield from _of_quantity(recipe, syntax.Name(name), row, near, one == "weights")


def families(recipe: Recipe, row: int) -> Iterator[list[syntax.Tree]]:
    """What may be worked out one after another in a row: its exponentials, its entries in
    some quantity, or the terms that a row of the output adds up."""
    for scores, found in _softmax_rows(recipe, row):
        for shown in (scores, workings.shifted(recipe, scores)):
            if shown is not None:
                entries = (workings.entry(shown, k) for k in range(len(found)))
                yield [syntax.Call("exp", (one,)) for one in entries]
    for role in _ENTERED:
        for name in recipe.with_role(role):
            for i, found in _rows(recipe, syntax.Name(name), row):
                yield [workings.indexed(syntax.Name(name), i, j) for j in range(len(found))]
    yield from _terms(recipe, row)


def _terms(recipe: Recipe, row: int | None) -> Iterator[list[syntax.Tree]]:
    """The terms of rows of the output: each weight with the row of values that it is of."""
    for name in recipe.with_role("output"):
        match recipe.trees.get(name):
            case syntax.Binary("@", weights, of):
                for i, found in _rows(recipe, weights, row):
                    yield [
                        syntax.Binary("*", workings.indexed(weights, i, k), workings.indexed(of, k))
                        for k in range(len(found))
                    ]


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
    role: Role, scores: syntax.Tree, found: Matrix, near: Bounds | None
) -> Iterator[syntax.Tree]:
    """The exponentials of a row of scores, or their sum."""
    powers = np.exp(found)
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
    """Whether a row or a number lies in the bounds."""
    if near is None:
        return True
    shape = tuple(size for size in np.shape(value) if size != 1)
    return near.low.shape == shape and bool(np.all(near.holds(value)))


def of_softmax(recipe: Recipe, role: Role, row: int) -> Iterator[syntax.Tree]:
    """The exponentials of a row that a softmax is taken of, or their sum: of the scores,
    and of these less their largest; or those themselves."""
    for scores, _ in _softmax_rows(recipe, row):
        for shown in (scores, workings.shifted(recipe, scores)):
            if role == "shifted" and shown is not None and shown is not scores:
                yield shown
            elif role != "shifted" and shown is not None:
                exponentials = syntax.Call("exp", (shown,))
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
