"""Roots: which known slip gives the figures that are wrong in themselves.

A slip is named when it gives all the wrong figures that it is tried on, and
leaves as printed what stands right beside them; and when those figures have
so many digits that among all the slips tried none would give them by chance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from flint import arb

from symattn.auditing import slips
from symattn.auditing.causes import Known, latest
from symattn.auditing.figures import Cause, Figure
from symattn.auditing.prints import Prints, Recomputation
from symattn.auditing.recipes import Recipes
from symattn.auditing.slips import Slip
from symattn.auditing.terms import Term
from symattn.errors import Malformed
from symattn.programs.nodes import Node
from symattn.verdicts import Verdict

#: Most trials of a slip on a figure in one document.
MAX_TRIES = 10_000

#: So many times more figures than slips that are tried there must be.
CERTAINTY = 30


class Roots:
    """Names the slips of one document.

    ``causes`` are those of its refuted figures, and become those with the
    slips named; ``tries`` counts the trials.
    """

    def __init__(self, recipes: Recipes, figures: Sequence[Figure], causes: Known) -> None:
        self.recipes = recipes
        self.figures = figures
        self.prints = Prints(recipes, figures)
        self.causes = dict(causes)
        self.tries = 0
        self._of_claim: dict[int, list[Figure]] = defaultdict(list)
        for figure in figures:
            self._of_claim[id(figure.claim)].append(figure)

    def name_slips(self) -> None:
        """Name the slip of every root that one explains: of whole steps
        first, then of rows, then of single entries."""
        groups = self._grouped(self._unnamed(), lambda f: f.place[0])
        for group in groups:
            self._name_step(group)
            self._name_swap(group)
        for row in self._grouped(self._unnamed(), lambda f: f.place[:2]):
            if len(row) > 1:
                self._name_row(row)
        for figure in self._unnamed():
            if figure.off in (1, -1):
                self.causes[figure] = Cause(
                    "last-digit", slips.SENTENCES["last-digit"], slip="last-digit"
                )
        for row in self._grouped(self._unnamed(), lambda f: f.place[:2]):
            if len(row) == 1:
                self._name_row(row)
        for figure in self._unnamed():
            self._name_entry(figure)
        if self.tries >= MAX_TRIES:
            for figure in self._unnamed():
                why = self.causes[figure]
                self.causes[figure] = replace(
                    why, reason=f"{why.reason}; the search for a known slip was given up"
                )

    def _unnamed(self) -> list[Figure]:
        causes = self.causes.items()
        return [figure for figure, why in causes if why.kind == "root" and not why.slip]

    def _name(self, slip: str, sentence: str, figures: Sequence[Figure]) -> None:
        for figure in figures:
            self.causes[figure] = Cause("root", sentence, slip=slip)

    @staticmethod
    def _grouped(
        figures: Sequence[Figure], key: Callable[[Figure], object]
    ) -> Iterator[list[Figure]]:
        groups: dict[object, list[Figure]] = defaultdict(list)
        for figure in figures:
            groups[key(figure)].append(figure)
        yield from groups.values()

    def _node(self, figure: Figure) -> Node:
        """The step, or the expression, that a figure belongs to."""
        return self.recipes.nodes.get(figure.place[0], figure.node)

    # -- whole steps, rows, entries ----------------------------------------------------

    def _name_step(self, group: list[Figure]) -> None:
        if len(group) == 1 and group[0].off in (1, -1):
            return
        candidates = slips.step_slips(self.recipes, self._node(group[0]))
        beside = self._beside(group)
        for slip in self._giving(candidates, group, beside):
            # What it gives beside the roots it explains as well.
            small = [f for f in beside if self._kind(f) in ("truncated", "rounded-inputs")]
            self._name(slip.name, slip.sentence, [*group, *small])
            return

    def _kind(self, figure: Figure) -> str:
        return self.causes[figure].kind if figure in self.causes else ""

    def _name_swap(self, group: list[Figure]) -> None:
        """Two figures of one claim, each the right one of the other."""
        for pair in self._grouped(group, lambda f: id(f.claim)):
            if len(pair) == 2 and not any(self.causes[figure].slip for figure in pair):
                one, other = pair
                if one.rounds_from(self._exact(other.term)) and other.rounds_from(
                    self._exact(one.term)
                ):
                    for figure, partner in ((one, other), (other, one)):
                        sentence = slips.SENTENCES["entries-swapped"].format(partner.label)
                        self._name("entries-swapped", sentence, [figure])

    def _name_row(self, row: list[Figure]) -> None:
        _, i, j = row[0].place
        node = self._node(row[0])
        beside = [f for f in self._beside(row) if f.place[1] == i]
        if len(row) + len(beside) > 1:
            candidates = slips.step_slips(self.recipes, node)
            for slip in self._giving(candidates, row, beside):
                self._name(slip.name, slip.sentence, row)
                return
        candidates = slips.row_slips(self.recipes, node, i, j)
        giving = list(self._giving(candidates, row, beside))
        if giving:
            # Of several, the one that gives most of the other wrong figures of the row.
            also = [
                f
                for f in self.figures
                if f.verdict is Verdict.REFUTED and f.place[:2] == row[0].place[:2] and f not in row
            ]
            best = max(giving, key=lambda slip: sum(self._gives(slip, [f]) for f in also))
            self._name(best.name, best.sentence, row)

    def _name_entry(self, figure: Figure) -> None:
        if figure.printed is None or figure.off is None:
            return
        count = figure.printed.count
        for pen, chances in slips.pen_slips(count, count - figure.off):
            if chances <= _most([figure]):
                self._name(pen, slips.SENTENCES[pen], [figure])
                return
        _, i, j = figure.place
        candidates = slips.entry_slips(self.recipes, self._node(figure), i, j)
        for slip in self._giving(candidates, [figure], []):
            self._name(slip.name, slip.sentence, [figure])
            return

    def _beside(self, group: list[Figure]) -> list[Figure]:
        """Figures of the same claims that are no roots: a slip of the whole
        must give them too."""
        claims = dict.fromkeys(id(figure.claim) for figure in group)
        chosen = {figure.order for figure in group}
        return [f for claim in claims for f in self._of_claim[claim] if f.order not in chosen]

    # -- trials ----------------------------------------------------------------------------

    def _giving(
        self, candidates: Iterator[Slip], group: list[Figure], beside: list[Figure]
    ) -> Iterator[Slip]:
        """The candidates that give all the figures, if that says anything."""
        most = _most(group)
        tried = list(islice(candidates, min(most, MAX_TRIES) + 1))
        if len(tried) <= most:
            for slip in tried:
                if self._gives(slip, [*group, *beside]):
                    yield slip

    def _gives(self, slip: Slip, figures: list[Figure]) -> bool:
        """Whether a slip gives all the figures, from the document's printed
        inputs or from the exact ones."""
        sources = [self._printed_or_exact, lambda term, order: self._exact_entry(term)]
        for figure in figures:
            if self.tries >= MAX_TRIES:
                return False
            self.tries += 1
            _, i, j = figure.place
            try:
                term = slip.term(i, j)
            except Malformed:
                # The slip leaves nothing that is defined there.
                return False
            if term is None:
                return False
            sources = [s for s in sources if self._fits(figure, term, s)]
            if not sources:
                return False
        return True

    def _fits(self, figure: Figure, term: Term, source: Callable[[Term, int], arb | None]) -> bool:
        recomputation = Recomputation(self.recipes, lambda part, order, _: source(part, order))
        value = recomputation.value(term, figure.order).value
        return figure.rounds_from(value) or figure.cut_from(value)

    def _printed_or_exact(self, term: Term, order: int) -> arb | None:
        before = self.prints.before(term, order)
        return latest(before).number if before else self._exact_entry(term)

    def _exact_entry(self, term: Term) -> arb | None:
        if term.op != "entry":
            return None
        name, i, j = term.parts
        return self.recipes.exact(self.recipes.nodes[name], i, j)

    def _exact(self, term: Term) -> arb:
        exactly = Recomputation(self.recipes, lambda part, *_: self._exact_entry(part))
        return exactly.value(term, 0).value


def _most(figures: list[Figure]) -> int:
    """Of how many slips the figures have digits enough to tell one."""
    return int(10 ** sum(figure.telling for figure in figures)) // CERTAINTY
