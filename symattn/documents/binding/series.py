"""Workings that stand line by line under each other: as many as a row has entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symattn import syntax
from symattn.documents.binding import context, values, workings
from symattn.documents.binding.recipe import Recipe
from symattn.documents.trees import Chain, Passage, Words

#: This part of the numbers that a series works with agrees with what they are.
_AGREEING = 0.66


def found(passages: Sequence[Passage]) -> Iterator[tuple[Chain, ...]]:
    """All runs of two or more lines that are nothing but ``numbers = value``."""
    run: list[Chain] = []
    for passage in passages:
        chain = _only(passage)
        if chain is not None:
            run.append(chain)
            continue
        if len(run) > 1:
            yield tuple(run)
        run = []
    if len(run) > 1:
        yield tuple(run)


def _only(passage: Passage) -> Chain | None:
    pieces = [
        one for one in passage.pieces if not (isinstance(one, Words) and not one.text.strip(" -*•"))
    ]
    match pieces:
        case [Chain((numbers, value)) as chain] if values.is_numeric(numbers) and values.is_value(
            value
        ):
            return chain
    return None


def bindings(recipe: Recipe, chains: Sequence[Chain], row: int) -> workings.Bound:
    """What the numbers of a series are, each of its lines that of one entry in the row, in
    their order; nothing where most of them are not those of a row."""
    best: workings.Bound = []
    most = 0.0
    for family in context.families(recipe, row):
        if len(family) != len(chains):
            continue
        bound, share = _bound(recipe, family, chains)
        if share > most:
            best, most = bound, share + 1e-9
    return best


def _bound(
    recipe: Recipe, family: Sequence[syntax.Tree], chains: Sequence[Chain]
) -> tuple[workings.Bound, float]:
    """The numbers and values of all lines, and the part of them that agrees: 0 where that
    of the numbers, which something is worked out from, is too small."""
    numbers: workings.Bound = []
    results: workings.Bound = []
    for tree, chain in zip(family, chains, strict=True):
        worked, value = chain.members
        if not (values.is_numeric(worked) and values.is_value(value)):
            return [], 0.0
        _, bound = workings.bindings(recipe, tree, worked)
        if not bound or recipe.shape(tree) != values.shape(value):
            return [], 0.0
        numbers += bound
        results.append((value, tree))
    if _share(recipe, numbers) < _AGREEING:
        return [], 0.0
    return [*numbers, *results], _share(recipe, [*numbers, *results])


def _share(recipe: Recipe, bound: workings.Bound) -> float:
    return sum(workings.likeness(recipe, tree, value) for value, tree in bound) / len(bound)
