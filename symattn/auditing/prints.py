"""What a document prints of a term, and terms recomputed from it.

A term is recomputed from the document's own figures by replacing its largest
parts that the document prints, and working out the rest from the steps'
definitions. Parts are recognised by their normal form, so ``exp(T[0, 2])``
printed by itself is used inside ``rowsum(exp(T))[0, 0]``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial

from flint import arb

from symattn.auditing.figures import Figure
from symattn.auditing.recipes import Recipes
from symattn.auditing.terms import MASKED, ONE, ZERO, Term


class Prints:
    """Where a document prints the value of a term."""

    def __init__(self, recipes: Recipes, figures: Sequence[Figure]) -> None:
        self.recipes = recipes
        self._figures: dict[str, list[Figure]] = defaultdict(list)
        for figure in figures:
            self._figures[self.term(figure).key].append(figure)

    def term(self, figure: Figure) -> Term:
        """What a figure is the value of."""
        return self.recipes.at(figure.node, figure.entry.i, figure.entry.j)

    def before(self, term: Term, order: int) -> list[Figure]:
        """The figures of a term before a place in the document."""
        # Zeros and ones stand for too many things to be looked up.
        if term in (ZERO, ONE, MASKED):
            return []
        figures = self._figures.get(term.key, [])
        return figures[: bisect_left(figures, order, key=lambda f: f.order)]


#: What the document prints for a term, or None.
Look = Callable[[Term], "arb | None"]


class Recomputation:
    """The values of terms from what ``look`` finds printed; the rest is worked
    out from the steps' definitions, and exact where nothing below is printed."""

    def __init__(self, recipes: Recipes, look: Look) -> None:
        self.recipes = recipes
        self.look = look
        self._entries: dict[Term, arb] = {}

    def value(self, term: Term, itself: bool = True) -> arb:
        """The value of a term; ``itself`` allows the term's own printed figure."""
        if itself and (printed := self.look(term)) is not None:
            return printed
        match term.op, term.parts:
            case "number", (known,):
                return arb(known)
            case "entry", (name, i, j):
                if term not in self._entries:
                    made = self.recipes.definitions(name, i, j)
                    exact = partial(self.recipes.exact, self.recipes.nodes[name], i, j)
                    self._entries[term] = self.value(made[0]) if made else exact()
                return self._entries[term]
            case "+", parts:
                return sum((self.value(part) for part in parts), arb(0))
            case "*", parts:
                product = arb(1)
                for part in parts:
                    product *= self.value(part)
                return product
            case "/", (left, right):
                return self.value(left) / self.value(right)
            case "neg", (part,):
                return -self.value(part)
            case function, (part,):
                result: arb = getattr(arb, function)(self.value(part))
                return result
        raise AssertionError(f"no value for {term.op}")
