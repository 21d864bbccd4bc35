"""Recipes: what is asked of them twice, and what changes between."""

from __future__ import annotations

from symattn.documents.binding.recipe import Recipe
from symattn.documents.binding.workings import bindings
from symattn.documents.text import Span
from symattn.documents.trees import PrintedFigure
from symattn.expressions import syntax
from symattn.expressions.syntax import parse


def test_a_name_that_is_defined_later_is_known_then() -> None:
    """Nothing that was said of an expression before stays said: not its shape, nor how far
    it agrees with a figure, what role it has, or what its numbers are."""
    recipe = Recipe()
    asked = parse("A[0]")
    two, three, zero, one = map(PrintedFigure, "2301")
    products = syntax.Binary("*", two, three), syntax.Binary("*", zero, one)
    numbers = syntax.Binary("+", *products)

    def said() -> tuple[object, ...]:
        agreement = recipe.agreement(asked, parse("[6, 8]"))
        return (
            recipe.shape(asked),
            agreement,
            recipe.role("A"),
            bindings(recipe, parse("A[0, 0]"), numbers)[0],
        )

    before = said()
    recipe.give("X", parse("[[2, 0], [0, 1]]"), Span(0, 0))
    recipe.give("W", parse("[[3, 4], [1, 1]]"), Span(0, 0))
    assert said() == before == (None, 0.0, before[2], 0.0)
    recipe.define("A", parse("X @ W"))
    after = said()
    assert after[:2] == ((2,), 1.0)
    assert after[3] == 1.0
    assert isinstance(recipe.trees["A"], syntax.Binary)
    assert recipe.role("later") is None
    recipe.define("later", parse("softmax(A)"))
    assert recipe.role("later") == "weights"
