"""The gradient that a backward pass begins with: printed, given by the author, or of a loss."""

from __future__ import annotations

from collections.abc import Sequence

from symattn import syntax
from symattn.documents.binding import values
from symattn.documents.binding.ledger import Ledger
from symattn.documents.binding.names import Names
from symattn.documents.binding.workings import indexed
from symattn.documents.help import Help
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Member


def take(chains: Sequence[Chain], names: Names, ledger: Ledger, notes: Help) -> None:
    """Take dL/d(output) where the author or a chain gives it as a printed value, or where
    it is what an output differs from a target by; the first there is."""
    recipe = names.recipe
    stated = notes.loss or {}
    if isinstance(output := stated.get("output"), str) and "upstream" in stated:
        names.at(0)
        meaning = names.resolved(syntax.Name(output))
        above = values.of_texts(stated["upstream"])  # type: ignore[arg-type]
        if isinstance(meaning, syntax.Name) and values.is_closed(above):
            recipe.set_upstream(meaning.name, above)
    for order, chain in enumerate(chains):
        if recipe.upstream:
            return
        names.at(order)
        match _gradient_first(chain.members):
            # What is only about right is worked out, and not given.
            case (syntax.Gradient(of), *called, value) if (
                values.is_value(value)
                and "≈" not in chain.links
                and all(isinstance(name, syntax.Name) for name in called)
            ):
                meaning = names.resolved(syntax.Name(of))
                if isinstance(meaning, syntax.Name) and recipe.set_upstream(meaning.name, value):
                    ledger.take(value, f"dL/d{meaning.name}")
            case (syntax.Gradient(of), syntax.Binary("-", syntax.Name(less), target), *_) if (
                of == less
            ):
                _take_squares(of, target, chain.span, names)


def _gradient_first(members: tuple[Member, ...]) -> tuple[Member, ...]:
    """The members of a chain, G = dL/dY = ... as dL/dY = G = ..."""
    match members:
        case (syntax.Name() as name, syntax.Gradient() as gradient, *rest):
            return gradient, name, *rest
    return members


def _take_squares(of: str, target: syntax.Tree, span: Span, names: Names) -> None:
    """Take the loss whose gradient is what a step differs from an input by: half the sum
    of the squares."""
    recipe = names.recipe
    output, held = names.resolved(syntax.Name(of)), names.resolved(target)
    if not isinstance(output, syntax.Name) or output.name not in recipe.steps or held is None:
        return
    if not set(syntax.names(held)) <= set(recipe.given):
        # A target that is computed has a gradient of its own.
        return
    row: syntax.Tree = output
    if recipe.shape(output) == (1, *(recipe.shape(held) or ())):
        row = indexed(output, 0)
    off = syntax.Binary("-", row, held)
    squares = syntax.Call("total", (syntax.Binary("*", off, off),))
    loss = recipe.define("L", syntax.Binary("/", squares, syntax.Literal("2")), span)
    if loss is not None:
        recipe.set_upstream(loss, syntax.Literal("1"))
