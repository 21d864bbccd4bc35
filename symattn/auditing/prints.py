"""Prints of terms in a document, and terms recomputed from them.

A term is recomputed from the document's own figures by replacing its largest
parts that the document prints, and working out the rest from the steps'
definitions. Parts are recognised by their normal form, so ``exp(T[0, 2])``
printed by itself is used inside ``rowsum(exp(T))[0, 0]``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, prod
from operator import neg, truediv

from flint import arb

from symattn.auditing.figures import Figure
from symattn.auditing.standard import LEAVES, MASKED, ONE, ZERO, Recipes, Term
from symattn.numbers.balls import FIRST
from symattn.programs.enclosures import above
from symattn.verdicts import Verdict


class Prints:
    """The places at which a document prints the value of a term."""

    def __init__(self, recipes: Recipes, figures: Sequence[Figure]) -> None:
        self.recipes = recipes
        self._figures: dict[str, list[Figure]] = defaultdict(list)
        for figure in figures:
            self._figures[self.term(figure).key].append(figure)

    def term(self, figure: Figure) -> Term:
        """Return what a figure is the value of."""
        return self.recipes.at(figure.node, figure.entry.i, figure.entry.j)

    def before(self, term: Term, order: int) -> list[Figure]:
        """The figures of a term before a place in the document."""
        return self.around(term, order)[0]

    def around(self, term: Term, order: int) -> tuple[list[Figure], float]:
        """The figures of a term before a place in the document, and the place
        from which on there is one more."""
        # Zeros and ones stand for too many things to be looked up.
        figures = [] if term in (ZERO, ONE, MASKED) else self._figures.get(term.key, [])
        count = bisect_left(figures, order, key=lambda f: f.order)
        return figures[:count], figures[count].order + 1 if count < len(figures) else inf


@dataclass
class RecomputedValue:
    """A value that was recomputed: ``figures`` are those it was taken from,
    ``below`` the entries it was computed from; ``choice`` says whether there
    were others to take, ``is_printed`` and ``is_wrong`` whether it is taken from
    any figures and from refuted ones. It is the same at the places in the
    document after ``since`` and before ``until``.
    """

    value: arb = field(default_factory=arb)
    figures: list[Figure] = field(default_factory=list)
    below: list[RecomputedValue] = field(default_factory=list)
    choice: bool = False
    is_printed: bool = False
    is_wrong: bool = False
    since: float = -1
    until: float = inf

    def holds_at(self, order: int) -> bool:
        """Return whether nothing that it is computed from is printed anew there."""
        return self.since < order < self.until

    def take(self, figure: Figure) -> None:
        """Note a figure that the value is taken from."""
        self.figures.append(figure)
        self.is_printed = True
        self.is_wrong |= figure.verdict is Verdict.REFUTED

    def take_over(self, entry: RecomputedValue) -> None:
        """Note an entry that the value is computed from."""
        self.below.append(entry)
        self.choice |= entry.choice
        self.is_printed |= entry.is_printed
        self.is_wrong |= entry.is_wrong
        self.within(entry.since, entry.until)

    def within(self, since: float, until: float) -> None:
        """Narrow the places that it holds at."""
        self.since, self.until = max(self.since, since), min(self.until, until)

    def used(self) -> list[Figure]:
        """All figures that it was taken from, in order."""
        figures: dict[int, Figure] = {}
        seen: set[int] = set()
        waiting = [self]
        while waiting:
            item = waiting.pop()
            if id(item) not in seen:
                seen.add(id(item))
                figures |= {figure.order: figure for figure in item.figures}
                waiting += item.below
        return [figures[order] for order in sorted(figures)]


_OPERATIONS: Mapping[str, Callable[..., arb]] = {
    "+": lambda *values: sum(values, arb(0)),
    "*": lambda *values: prod(values, start=arb(1)),
    "/": truediv,
    "neg": neg,
    "maximum": arb.max,
    "above": above,
}

#: What is taken for a term at a place in the document, or None; what it is
#: taken from is noted in the value that is being computed.
Look = Callable[[Term, int, RecomputedValue], "arb | None"]


class PrintedRecomputation:
    """The values of terms from what ``look`` finds printed; the rest is worked
    out from the steps' definitions, and exact where nothing below is printed.

    An entry is worked out once for all places in the document between which
    nothing that it depends on is printed: the cost is that of the program.
    """

    def __init__(self, recipes: Recipes, look: Look) -> None:
        self.recipes = recipes
        self.look = look
        self._entries: dict[Term, RecomputedValue] = {}

    def value(self, term: Term, order: int, itself: bool = True) -> RecomputedValue:
        """The value of a term at a place in the document; ``itself`` allows
        the term's own printed figure."""
        # Entries first, those that they need before them: a program is too
        # deep for recursion.
        waiting: list[tuple[Term | None, Term]] = [(None, term)]
        computed = RecomputedValue()
        while waiting:
            entry, definition = waiting[-1]
            if entry is not None and self._is_known(entry, order):
                waiting.pop()
                continue
            itself_too = entry is not None or itself
            if unknown := list(self._unknown(definition, order, itself_too)):
                waiting += [(x, self.recipes.definitions(*x.parts)[0]) for x in unknown]
                continue
            computed = RecomputedValue()
            computed.value = self._worked(definition, order, computed, itself_too)
            if entry is not None:
                self._entries[entry] = computed
            waiting.pop()
        return computed

    def _is_known(self, entry: Term, order: int) -> bool:
        known = self._entries.get(entry)
        return known is not None and known.holds_at(order)

    def _unknown(self, term: Term, order: int, itself: bool) -> Iterator[Term]:
        """Entries inside a term that are to be worked out first."""
        if itself and self.look(term, order, RecomputedValue()) is not None:
            return
        if term.op == "entry":
            if not self._is_known(term, order) and self.recipes.definitions(*term.parts):
                yield term
        elif term.op not in LEAVES:
            for part in term.parts:
                yield from self._unknown(part, order, True)

    def _worked(
        self, term: Term, order: int, computed: RecomputedValue, itself: bool = True
    ) -> arb:
        if itself and (printed := self.look(term, order, computed)) is not None:
            return printed
        match term.op, term.parts:
            case "number", (known,):
                return arb(known)
            case "constant", (value,):
                ball: arb = value.ball(FIRST)
                return ball
            case "entry", (name, i, j):
                stored = self._entries.get(term)
                if stored is None or not self.recipes.definitions(name, i, j):
                    return self.recipes.exact(self.recipes.nodes[name], i, j)
                computed.take_over(stored)
                return stored.value
            case operation, parts:
                values = [self._worked(part, order, computed) for part in parts]
                apply = _OPERATIONS.get(operation) or getattr(arb, operation)
                result: arb = apply(*values)
                return result
