"""Causes: why a refuted figure is what it is.

The first that fits: it repeats an earlier wrong figure; the exact value cut
off, unless figures lead to it that are wrong for another reason; computed
from the document's own printed figures, all of them right
(``rounded-inputs``) or some of them wrong (``carried``: a propagated error); none of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from flint import arb, fmpq

from symattn.auditing.figures import NO_CAUSE, Cause, Figure, behind
from symattn.auditing.prints import PrintedRecomputation, Prints, RecomputedValue
from symattn.auditing.standard import Recipes, is_truncated
from symattn.auditing.terms import Term, term_number
from symattn.languages.sentence import Sentence, joined
from symattn.numbers.balls import FIRST
from symattn.numbers.reading import Masked
from symattn.programs.nodes import Node
from symattn.verdicts import Verdict

#: The causes of refuted figures.
Known = Mapping[Figure, Cause]

#: Which of several printed figures of one term a recomputation takes.
Choice = Callable[[Sequence[Figure]], Figure]


def latest(figures: Sequence[Figure]) -> Figure:
    """The one printed last."""
    return figures[-1]


def sharpest(figures: Sequence[Figure]) -> Figure:
    """The one with the smallest unit in its last place."""
    return min(reversed(figures), key=lambda f: f.printed.unit if f.printed else fmpq(0))


def first(figures: Sequence[Figure]) -> Figure:
    """The one printed first."""
    return figures[0]


def _look(
    prints: Prints,
    choose: Choice,
    taken: Callable[[Figure], arb],
    term: Term,
    order: int,
    computed: RecomputedValue,
) -> arb | None:
    """Return what a document prints of a term, by a choice among its figures;
    ``taken`` says what to take a figure for."""
    before, until = prints.around(term, order)
    computed.within(before[-1].order if before else -1, until)
    if not before:
        return None
    chosen = choose(before)
    computed.take(chosen)
    computed.choice |= any(figure.number != chosen.number for figure in before)
    return taken(chosen)


@dataclass(frozen=True)
class _Way:
    """One way of computing a figure from those printed before it: by the
    definition of its term, and a choice among figures of the same thing.

    ``rounded`` computes it from all that those may have been rounded from.
    """

    figure: Figure
    computed: RecomputedValue
    rounded: Callable[[], RecomputedValue]

    @cached_property
    def used(self) -> list[Figure]:
        """The figures that it uses."""
        return self.computed.used()

    @cached_property
    def wrong(self) -> list[Figure]:
        """The refuted ones among them."""
        return [figure for figure in self.used if figure.verdict is Verdict.REFUTED]

    def rounds(self) -> bool:
        """Return whether what comes of it rounds to the figure."""
        return self.figure.rounds_from(self.computed.value)

    def is_cut(self) -> bool:
        """Return whether what comes of it is cut off to the figure."""
        return self.figure.cut_from(self.computed.value)

    def is_near(self) -> bool:
        """Return whether wrong figures lead to this one, if the author went on with
        more digits of them than were printed."""
        figure = self.figure
        if figure.off is None or not self.computed.is_wrong:
            return False
        off = abs(figure.number - figure.entry.ball(FIRST))
        nearer = abs(figure.number - self.computed.value) < off
        return nearer and figure.rounds_from(self.rounded().value)

    def cause(self) -> Cause:
        """The cause of the figure if it came about so."""
        if self.wrong:
            reason = Sentence("follows from {figures}", figures=_named(self.wrong))
            return Cause("carried", reason, tuple(self.wrong))
        reason = Sentence("computed from rounded figures: {figures}", figures=_named(self.used))
        return Cause("rounded-inputs", reason, tuple(self.used))


class Causes:
    """Explains the refuted figures of one document, one after the other."""

    def __init__(self, plain: Recipes, figures: Sequence[Figure]) -> None:
        folded = Recipes(plain.solution, folded=True)
        self._figures = figures
        self._plain = plain
        self._folded = folded
        self._styles = (Prints(folded, figures), Prints(plain, figures))
        for figure in figures:
            inside = self._styles[0].term(figure).inside()
            folded.subtracted |= {part.parts[0].key for part in inside if part.op == "neg"}
        nodes = {figure.claim.of: figure.node for figure in figures}
        self._expressions = [node for node in nodes.values() if node.serial not in plain.names]
        self._multiples: dict[str, list[tuple[float, Node]]] = {}
        self._whole: dict[tuple[int, str], bool] = {}
        self._computed: dict[
            tuple[int, Choice], tuple[PrintedRecomputation, PrintedRecomputation]
        ] = {}

    def cause(self, figure: Figure, known: Known) -> Cause:
        """The cause of a refuted figure; ``known`` are those of earlier ones."""
        # Saying a wrong figure again is no new slip, however it came about.
        if (earlier := self._said_before(figure)) is not None:
            return Cause(
                "carried", Sentence("repeats {figure}", figure=earlier.description), (earlier,)
            )
        ways = list(self._ways(figure))
        if figure.printed and figure.off is not None and is_truncated(figure.entry, figure.printed):
            # Nor is it one to come out from what is wrong for another reason.
            leading = [
                way
                for way in ways
                if not all(_is_only_cut(source, known) for source in way.wrong)
                and (way.rounds() or way.is_near())
            ]
            if leading:
                return _simplest(leading)
            reason = Sentence("truncated, not rounded")
            if used := next((way.used for way in ways if way.rounds()), None):
                also = Sentence(
                    "computing with {figures} as printed also gives this value",
                    figures=_named(used),
                )
                reason = joined((reason, also), "; ")
            return Cause("truncated", reason)
        for fits in (_Way.rounds, _Way.is_cut, _Way.is_near):
            if giving := [way for way in ways if fits(way)]:
                return _simplest(giving)
        return Cause("root", NO_CAUSE)

    def comes_of_right_figures(self, figure: Figure) -> bool:
        """Return whether a figure is what figures before it give that hold, as they are printed."""
        return any(way.rounds() and not way.wrong for way in self._ways(figure))

    def propagated_from_later(self, figure: Figure, known: Known) -> Cause:
        """The cause of a figure that seemed a root: it may follow from what is wrong further
        down, where the document shows what it was computed from only afterwards."""
        cause = known[figure]
        if cause.kind != "root":
            return cause
        for way in self._ways(figure, after=True):
            wrong = [source for source in way.wrong if source.order > figure.order]
            own = any(figure in behind(source, known.get) for source in way.wrong)
            if wrong and not own and (way.rounds() or way.is_cut()):
                return way.cause()
        return cause

    def _said_before(self, figure: Figure) -> Figure | None:
        """The first refuted figure of the same term that this one repeats or rounds."""
        for prints in self._styles:
            for earlier in prints.before(prints.term(figure), figure.order):
                if earlier.verdict is Verdict.REFUTED and figure.rounds_from(earlier.number):
                    return earlier
        return None

    def _ways(self, figure: Figure, after: bool = False) -> Iterator[_Way]:
        """Ways of computing a figure from those before it, or ``after`` all from all others."""
        order = self._figures[-1].order + 1 if after else figure.order
        for prints in self._styles:
            for definition, itself in self._definitions(prints, figure, after):
                for choose in (latest, sharpest, first):
                    plain, rounded = self._recomputations(prints, choose)
                    place = (definition, order, itself)
                    way = _Way(figure, plain.value(*place), partial(rounded.value, *place))
                    if way.computed.is_printed:
                        yield way
                    if not way.computed.choice:
                        break

    def _recomputations(
        self, prints: Prints, choose: Choice
    ) -> tuple[PrintedRecomputation, PrintedRecomputation]:
        """From the printed numbers, and from all that these were rounded from."""
        key = (id(prints), choose)
        if key not in self._computed:
            plain, rounded = (
                PrintedRecomputation(prints.recipes, partial(_look, prints, choose, taken))
                for taken in (
                    lambda figure: figure.number,
                    lambda figure: figure.number if self._is_whole(figure) else figure.rounded,
                )
            )
            self._computed[key] = plain, rounded
        return self._computed[key]

    def _definitions(
        self, prints: Prints, figure: Figure, after: bool = False
    ) -> Iterator[tuple[Term, bool]]:
        """Yield what a figure may have been computed as: what was printed of it
        before, or its definition; and whether that itself may be looked up."""
        term = prints.term(figure)
        if not after and prints.before(term, figure.order):
            yield term, True
        if term.op != "entry":
            yield term, False
            return
        name, i, j = term.parts
        for definition in prints.recipes.definitions(name, i, j):
            yield definition, True
        if prints.recipes is self._folded:
            if name not in self._multiples:
                self._multiples[name] = list(self._folded.multiples(name, self._expressions))
            for ratio, node in self._multiples[name]:
                part = self._folded.at(node, i, j)
                yield Term("*", (term_number(ratio), part)), True

    def _is_whole(self, figure: Figure) -> bool:
        """Return whether the quantity needs no rounding at the places of the figure."""
        if figure.printed is None:
            return True
        unit = figure.printed.unit
        node = self._plain.nodes.get(figure.place[0], figure.node)
        key = (node.serial, str(unit))
        if key not in self._whole:
            rational = (
                value.rational()
                for value in self._plain.entries(node)
                if not isinstance(value, Masked)
            )
            self._whole[key] = all(x is not None and (x / unit).q == 1 for x in rational)
        return self._whole[key]


def _is_only_cut(figure: Figure, known: Known) -> bool:
    """Return whether a wrong figure is cut off, or wrong because of such figures only."""
    kinds = (known[source].kind for source in behind(figure, known.get))
    return all(kind in ("carried", "truncated") for kind in kinds)


def _simplest(ways: Sequence[_Way]) -> Cause:
    return min(ways, key=lambda way: len(way.wrong)).cause()


def _named(figures: Sequence[Figure]) -> str:
    """Figures named once each, shortened."""
    names = list(dict.fromkeys(figure.description for figure in figures))
    listed = joined(names[:4])
    if len(names) <= 4:
        return listed
    return Sentence("{figures} and {count} more", figures=listed, count=len(names) - 4)
