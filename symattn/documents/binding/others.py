"""Printed blocks that are not what they seem: most of their figures are another quantity's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from symattn import syntax
from symattn.documents.binding import values, workings
from symattn.documents.binding.bounds import interval
from symattn.documents.binding.recipe import Recipe

#: Fewer figures, or digits, may agree with another quantity by chance.
_FIGURES, _DIGITS = 3, 8
#: Rows of larger quantities are not compared with a printed row.
_ROWS = 64


def other(recipe: Recipe, target: syntax.Tree, value: syntax.Tree) -> syntax.Tree | None:
    """What else a printed row or matrix is: nearly all of its figures are those of another
    quantity, or of another form of this one (without scale, mask or softmax), and most are
    not near those of ``target``. None where there is nothing of the kind."""
    figures = list(values.figures(value))
    digits = sum(len(one.text.strip("-0.").replace(".", "")) for one in figures)
    if len(figures) < _FIGURES or digits < _DIGITS or 2 * _near(recipe, target, value) >= 1:
        return None
    found = (*_forms(recipe, target), *_quantities(recipe, value))
    return next((one for one in found if recipe.agreement(one, value) >= 0.8), None)


def _near(recipe: Recipe, target: syntax.Tree, value: syntax.Tree) -> float:
    """The part of the figures that are off by no more than roundings on the way make."""
    near = []
    for figure, keys in values.entries(value):
        held = recipe.floats(workings.indexed(target, *keys))
        ends = interval(figure.text)
        if held is None or ends is None:
            return 1.0
        off, slack = float(held.reshape(-1)[0]), 2 * (ends[1] - ends[0])
        with np.errstate(invalid="ignore"):
            near.append(ends == (off, off) or ends[0] - slack <= off <= ends[1] + slack)
    return sum(near) / len(near)


def _quantities(recipe: Recipe, value: syntax.Tree) -> Iterator[syntax.Tree]:
    """The quantities, or rows of some, that have the shape of a value."""
    for name in (*recipe.given, *recipe.steps):
        whole = syntax.Name(name)
        shape = recipe.shape(whole) or ()
        if shape == values.shape(value):
            yield whole
        elif shape[1:] == values.shape(value) and shape[0] <= _ROWS:
            yield from (workings.indexed(whole, i) for i in range(shape[0]))


def _forms(recipe: Recipe, target: syntax.Tree) -> Iterator[syntax.Tree]:
    """A quantity as it is with a softmax in place of exponentials, or without a scale or
    a mask: of a row its rows."""
    match target:
        case syntax.Indexed(operand, keys):
            yield from (syntax.Indexed(one, keys) for one in _forms(recipe, operand))
        case syntax.Name(name) if name in recipe.trees:
            yield from _forms(recipe, recipe.trees[name])
        case syntax.Call("exp", (of,)):
            yield syntax.Call("softmax", (of,))
        case syntax.Call("softmax", (of,), ()):
            yield from (syntax.Call("softmax", (one,)) for one in _forms(recipe, of))
        case syntax.Call("causal" | "mask", (of, *_)):
            yield of
            yield from _forms(recipe, of)
        case syntax.Binary("/", of, _):
            yield of
