"""What arithmetic without a name can be the working of: entries in the row that is spoken of."""

from __future__ import annotations

from collections.abc import Iterator

from symattn import syntax
from symattn.documents.binding import workings
from symattn.documents.binding.recipe import Recipe
from symattn.documents.binding.roles import About, Role
from symattn.documents.binding.standard import Standard

#: Quantities of more entries than that are not searched.
_ENTRIES = 256
#: What a section about a role works out, step by step.
_WORKED: dict[Role | None, tuple[Role, ...]] = {
    "scores": ("scores",),
    "scaled": ("scaled", "scores"),
    "masked": ("masked", "scaled"),
    "weights": ("exponentials", "sums", "weights", "scaled"),
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
    standard: Standard,
    role: About | None,
    row: int | None,
    last: syntax.Tree | None = None,
) -> Iterator[syntax.Tree]:
    """The entries that a section about a role works out, of one row or of all: those of
    the quantity that was shown ``last``, those of the role, then those of all others that
    there are."""
    if last is not None:
        yield from _entries(recipe, last, row)
    order = [*_WORKED.get(role if isinstance(role, str) else None, ()), *_ALL]
    for one in dict.fromkeys(order):
        yield from _of(recipe, standard, one, row)


def _of(recipe: Recipe, standard: Standard, role: Role, row: int | None) -> Iterator[syntax.Tree]:
    if role in ("exponentials", "sums"):
        for scores in _softmax_rows(recipe, row):
            for shown in (scores, workings.shifted(recipe, scores)):
                if shown is not None:
                    yield from _of_softmax(recipe, role, shown)
        return
    for name in recipe.with_role(role):
        for one in _entries(recipe, syntax.Name(name), row):
            yield one
            match one:
                case syntax.Indexed(_, (_,)) if role == "weights":
                    yield syntax.Call("total", (one,))


def _entries(recipe: Recipe, whole: syntax.Tree, row: int | None) -> Iterator[syntax.Tree]:
    """The entries of a matrix and its rows, of one row or of all."""
    shape = recipe.shape(whole)
    if shape is None or len(shape) != 2 or shape[0] * shape[1] > _ENTRIES:
        return
    rows = range(shape[0]) if row is None else [row] if 0 <= row < shape[0] else []
    for i in rows:
        for j in range(shape[1]):
            yield workings.indexed(whole, i, j)
        yield workings.indexed(whole, i)


def of_softmax(recipe: Recipe, role: Role, row: int) -> Iterator[syntax.Tree]:
    """The exponentials of a row that a softmax is taken of, or their sum: of the scores,
    and of these less their largest."""
    for scores in _softmax_rows(recipe, row):
        for shown in (scores, workings.shifted(recipe, scores)):
            if shown is not None:
                exponentials = syntax.Call("exp", (shown,))
                yield (
                    exponentials
                    if role == "exponentials"
                    else syntax.Call("total", (exponentials,))
                )


def _of_softmax(recipe: Recipe, role: Role, scores: syntax.Tree) -> Iterator[syntax.Tree]:
    """The exponentials of a row of scores, or their sum."""
    shape = recipe.shape(scores)
    if not shape:
        return
    if role == "exponentials":
        for k in range(shape[0]):
            yield syntax.Call("exp", (workings.entry(scores, k),))
        yield syntax.Call("exp", (scores,))
    else:
        yield syntax.Call("total", (syntax.Call("exp", (scores,)),))


def _softmax_rows(recipe: Recipe, row: int | None) -> Iterator[syntax.Tree]:
    """The rows of scores that a softmax is taken of."""
    for tree in list(recipe.trees.values()):
        match tree:
            case syntax.Call("softmax", (scores,)):
                shape = recipe.shape(scores)
                if shape is None or len(shape) != 2 or shape[0] * shape[1] > _ENTRIES:
                    continue
                rows = range(shape[0]) if row is None else [row] if 0 <= row < shape[0] else []
                for i in rows:
                    yield workings.indexed(scores, i)
