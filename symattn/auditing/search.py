"""Causes of a whole document: edits of its recipe, weighed in bits.

What the figures gain by an edit, less what the edit costs: each wrong figure
that it gives counts (:mod:`symattn.auditing.edits`); a right one that it
breaks costs, and so do its kind and the number of edits of that kind that were
tried. As the prices are a code, the chance that any edit gains so many bits more
than it costs, on figures that have nothing to do with it, is 2 to the power of
minus these bits.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from math import inf, log2, prod
from operator import neg, truediv
from typing import Any

import numpy as np
from flint import arb, fmpq

from symattn.auditing.edits import (
    AuditedGraph,
    Base,
    Edit,
    Exactly,
    Flags,
    Model,
    Predicted,
    Site,
    Weights,
    comes_out,
    rederived,
    with_entries,
)
from symattn.auditing.figures import NO_CAUSE, Cause, Figure, Slip, behind, reached
from symattn.auditing.standard import (
    LEAVES,
    MASKED,
    ONE,
    ZERO,
    Recipes,
    Term,
    is_truncated,
    term_number,
)
from symattn.errors import SymattnError
from symattn.languages.sentence import Sentence, joined
from symattn.numbers.balls import FIRST
from symattn.numbers.reading import Masked
from symattn.numbers.values import rational
from symattn.programs.enclosures import FloatOperations, Matrix, above
from symattn.programs.nodes import Node, Run, ancestors, replaced
from symattn.slips.catalogue import KINDS, together
from symattn.slips.graph import Place
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict

#: A cause is named if it gives such a part of the wrong figures that it changes, and breaks no
#: more right ones than such a part of these.
COVERAGE, BROKEN = 0.6, 0.1
#: A cause is named from so many bits on, which rule chance out.
_GATE = 7.0
#: So many bits it must be ahead of any other for the same figures.
_AHEAD = 2.0
#: What a right figure costs that is broken, and a wrong one that is changed to no avail.
_BREAK, _MISS = 4.0, 1.0
#: So many edits are looked at closely, and so many causes are named.
_CLOSE, _CAUSES = 60, 12
#: So many numbers are computed at most, all edits together.
WORK = 30_000_000
#: So many edits of a kind are tried on one node, and so many entries and figures to solve for.
_EACH, _ENTRIES, _TARGETS = 600, 48, 24
#: So many figures of edits are held at once; beyond it goes what gives least.
_ROOM = 10_000_000
#: Of so many edits the gradients are derived anew.
_REDERIVED = 40
#: A number that is solved for is told by so many digits at least, and all it has.
_FEWEST, _ALL = 3, 17
#: An edit may divide by zero: what comes of it is no number, and gives no figure.
_QUIET = np.errstate(all="ignore")


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """An edit, where it is applied, and what all figures would be: which it changes, and
    which of these come out as printed.

    ``in_use``: the step is printed as it should be, and used as it should not.
    ``solved`` is the figure that its number was solved from, which says nothing
    for it; ``nodes`` are those of the figures where the gradients follow the edit.
    """

    edit: Edit
    model: Model
    in_use: bool
    predicted: Predicted
    changed: Flags
    given: Flags
    solved: int | None = None
    nodes: tuple[Node, ...] = ()

    @property
    def identity(self) -> tuple[str, ...]:
        """Return what it is said to be: the same by whatever numbers it was computed."""
        words = self.edit.words
        return (self.edit.kind, *(words if self.solved is None else words[-1:]))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A hypothesis and its score; ``rivals`` are others for the same figures, no worse."""

    hypothesis: Hypothesis
    bits: float
    coverage: float
    changed: int
    reproduces: Flags
    follows: Flags
    breaks: Flags
    rivals: tuple[Candidate, ...] = ()

    @property
    def explains(self) -> Flags:
        """The wrong figures that it gives, and those that follow from them."""
        return np.asarray(self.reproduces | self.follows)

    def is_like(self, other: Candidate) -> bool:
        """Return whether no figure tells the two apart."""
        return np.array_equal(self.explains, other.explains) and np.array_equal(
            self.breaks, other.breaks
        )

    @property
    def passes(self) -> bool:
        """Return whether chance is ruled out, and any other cause."""
        few = self.breaks.sum() <= BROKEN * self.changed
        alone = all(self.is_like(other) for other in self.rivals)
        return bool(self.bits >= _GATE and self.coverage >= COVERAGE and few and alone)


def _as_printed(candidate: Candidate) -> tuple[float, bool]:
    """The best first; of equal ones that which is also printed so."""
    return -round(candidate.bits, 6), candidate.hypothesis.in_use


class Search:
    """Looks for the causes of a document's wrong figures; see :class:`Weights` for the rest.

    ``tried`` counts the edits by kind.
    """

    @_QUIET
    def __init__(
        self,
        recipe: AuditedGraph,
        free: Sequence[bool],
        origins: Mapping[int, Sequence[int]],
        cuts: bool = False,
    ) -> None:
        exact = Model(recipe)
        self.recipe = recipe
        self.weights = Weights(exact, free, origins, cuts)
        self.tried: dict[str, int] = defaultdict(int)
        self.hypotheses: list[Hypothesis] = []
        self._seen: set[bytes] = set()
        self._work = WORK
        if not self.weights.bits.any():
            return
        models = (exact, Model(recipe, self._printed()))
        # Where a step is another: as it is made, and, if it is printed, only in its use.
        printed = {node for node, _, _ in recipe.places}
        sites = [
            Site(recipe, model, node, in_use)
            for model in models
            for node in self._sites()
            for in_use in ((False, True) if node in printed else (False,))
        ]
        operations = [
            edit
            for site in sites
            for edit in self._try(site, site.steps())
            if edit.instead is not None and site.model is exact and not site.in_use
        ]
        for site in sites:
            self._try(site, site.entries(self._open(site)))
        self._try_everywhere(exact, operations)
        for site in sites:
            self._solve(site)
        self._rederive(exact)

    @property
    def is_whole(self) -> bool:
        """Return whether nothing was passed over for want of time."""
        return self._work > 0

    def _printed(self) -> dict[Place, fmpq]:
        """Return what the document prints of entries, and what it prints last."""
        return {
            place: figure.printed.value
            for place, figure in zip(self.recipe.places, self.recipe.figures, strict=True)
            if figure.printed is not None
        }

    def _sites(self) -> list[Node]:
        """The steps that telling figures depend on."""
        places = [self.recipe.places[figure] for figure in np.flatnonzero(self.weights.bits)]
        targets = {node.serial: node for node, _, _ in places}
        return [x for x in ancestors(targets.values()) if x.op not in ("pick", "transpose")]

    # -- trials --------------------------------------------------------------------

    def _try(self, site: Site, made: Iterable[Edit]) -> list[Edit]:
        by_kind: dict[str, int] = defaultdict(int)
        edits = []
        for edit in made:
            by_kind[edit.kind] += 1
            if by_kind[edit.kind] <= _EACH:
                edits.append(edit)
        if edits:
            self._take(site.model, site.in_use, edits)
        return edits

    def _open(self, site: Site) -> Flags:
        """The entries that may be others: all that are not printed as they should be."""
        open_ = np.ones(site.node.grid, bool)
        if not site.in_use:
            for figures, are_open in ((self.weights.held, False), (self.weights.refuted, True)):
                for figure in np.flatnonzero(figures):
                    node, i, j = self.recipe.places[figure]
                    if node is site.node:
                        open_[i, j] = are_open
        return open_

    def _take(
        self, model: Model, in_use: bool, edits: Sequence[Edit], solved: Sequence[int] = ()
    ) -> None:
        """Take up edits that change any figure, and of these what can gain anything."""
        node = edits[0].node
        self._work -= len(edits) * sum(x.grid[0] * x.grid[1] for x in model.below(node))
        if self._work <= 0:
            return
        predicted = model.predicted(node, np.array([edit.value for edit in edits]), in_use)
        self._weigh(model, in_use, edits, predicted, solved)

    def _weigh(
        self,
        model: Model,
        in_use: bool,
        edits: Sequence[Edit],
        predicted: Predicted,
        solved: Sequence[int] = (),
        nodes: tuple[Node, ...] = (),
    ) -> None:
        """Keep the edits that give more than they cost; what each gives is a row."""
        printed = np.rint(predicted / self.weights.unit)
        changed = self.weights.changed(printed, model.true)
        given = changed & self.weights.given(predicted)
        gains = (given & self.weights.refuted) @ self.weights.bits
        for k in np.flatnonzero(changed.any(axis=1)).tolist():
            edit = edits[k]
            # Edits that no figure tells apart are tried once.
            key = edit.kind.encode() + printed[k].tobytes()
            if key not in self._seen:
                self._seen.add(key)
                self.tried[edit.kind] += 1
            if gains[k] > edit.price:
                # Copies: a row keeps all others alive.
                own, those, these = predicted[k].copy(), changed[k].copy(), given[k].copy()
                of = solved[k] if solved else None
                hypothesis = Hypothesis(edit, model, in_use, own, those, these, of, nodes)
                self.hypotheses.append(hypothesis)
                if len(self.hypotheses) * predicted.shape[1] > _ROOM:
                    self._sort()
                    del self.hypotheses[len(self.hypotheses) // 2 :]

    def _sort(self) -> None:
        """Those that give most first."""
        bits = self.weights.bits
        self.hypotheses.sort(
            key=lambda hypothesis: hypothesis.edit.price - float(hypothesis.given @ bits)
        )

    def _rederive(self, model: Model) -> None:
        """The best of other operations once more, with the gradients that follow from them."""
        program = self.recipe.solution.program
        forward = {self.recipe.named[name].serial for name in program.quantities}
        wrong = np.flatnonzero(self.weights.refuted)
        if all(self.recipe.places[figure][0].serial in forward for figure in wrong):
            return
        self._sort()
        edits = {
            hypothesis.edit.phrase: hypothesis.edit
            for hypothesis in self.hypotheses
            if hypothesis.edit.instead
        }
        for edit in [*edits.values()][:_REDERIVED]:
            assert edit.instead is not None
            nodes = rederived(self.recipe, {edit.node.serial: edit.instead})
            if nodes is not None:
                self._weigh_nodes(model, edit, nodes)

    def _weigh_nodes(self, model: Model, edit: Edit, nodes: Sequence[Node]) -> None:
        """Weigh an edit with which the figures are entries of these nodes."""
        run: Run[Matrix] = Run(FloatOperations(), self.recipe.leaf)
        places = zip(nodes, self.recipe.places, strict=True)
        predicted = np.array([run[node][i, j] for node, (_, i, j) in places])
        self._weigh(model, False, [edit], predicted[None], nodes=tuple(nodes))

    def _try_everywhere(self, model: Model, operations: Iterable[Edit]) -> None:
        """Other operations in the places of all steps that are alike, as who leaves out a scale
        does in every head: that is one slip, not as many as there are heads."""
        alike: dict[object, dict[int, Edit]] = defaultdict(dict)
        for edit in operations:
            if not KINDS[edit.kind].once and edit.instead is not None:
                key = self.recipe.key(edit.kind, edit.node, edit.instead)
                alike[key].setdefault(edit.node.serial, edit)
        work = sum(node.grid[0] * node.grid[1] for node in self.recipe.needed)
        for edits in (edits for edits in alike.values() if len(edits) > 1):
            self._work -= work
            if self._work <= 0:
                return
            put: dict[int, Node] = {}
            for serial, edit in sorted(edits.items()):
                assert edit.instead is not None
                put[serial] = replaced(edit.instead, put)
            nodes = rederived(self.recipe, put)
            if nodes is None:
                nodes = [replaced(node, put) for node, _, _ in self.recipe.places]
            words = together(edit.words for edit in edits.values())
            first = next(iter(edits.values()))
            self._weigh_nodes(model, replace(first, words=words), nodes)

    # -- one wrong number ----------------------------------------------------------

    def _solve(self, site: Site) -> None:
        """Entries that are other numbers, each solved from one wrong figure for the others."""
        model, node, in_use, values = site.model, site.node, site.in_use, site.values
        entries = [at for at in np.ndindex(*node.grid) if np.isfinite(values[at])][:_ENTRIES]
        targets = np.flatnonzero(self.weights.bits)[:_TARGETS]
        if not entries or len(targets) < 2 or self._work <= 0:
            return
        step = 1e-4 * (1 + np.abs(values))
        moved = np.repeat(values[None], len(entries), axis=0)
        for k, at in enumerate(entries):
            moved[k][at] += step[at]
        printed = self.weights.printed
        slopes = model.predicted(node, moved, in_use) - model.true
        ats, aims, numbers = [], [], []
        for k, at in enumerate(entries):
            for aim in targets:
                slope = slopes[k, aim] / step[at]
                if np.isfinite(slope) and slope and self.recipe.places[aim] != (node, *at):
                    ats.append(at)
                    aims.append(int(aim))
                    numbers.append(values[at] + (printed[aim] - model.true[aim]) / slope)
        if ats:
            self._refine(site, ats, np.array(aims), np.array(numbers))

    def _refine(
        self, site: Site, ats: Sequence[tuple[int, ...]], aims: Matrix, numbers: Matrix
    ) -> None:
        """Solve on by secants, and take up what gives its figure."""
        model, node, in_use, values = site.model, site.node, site.in_use, site.values
        rows = np.arange(len(ats))
        first, second = (np.array(index) for index in zip(*ats, strict=True))
        stack = np.repeat(values[None], len(ats), axis=0)
        before, last = values[first, second], model.true[aims]
        printed, unit = self.weights.printed[aims], self.weights.unit[aims]
        for _ in range(4):
            stack[rows, first, second] = numbers
            now = model.predicted_of(node, stack, in_use, aims.tolist())
            moved = (printed - now) * (numbers - before) / (now - last)
            before, last = numbers, now
            numbers = numbers + np.where(np.isfinite(moved), moved, 0.0)
        kept = np.flatnonzero(np.abs(last - printed) <= unit / 2)
        edits = [self._number(node, values, ats[int(k)], float(before[k]), _ALL) for k in kept]
        if edits:
            self._take(model, in_use, edits, [int(aims[k]) for k in kept])

    def _number(
        self, node: Node, values: Matrix, at: tuple[int, ...], number: float, digits: int
    ) -> Edit:
        """An entry that is another number, by so many of its digits."""
        (i, j), text = at, f"{number:.{digits}g}"
        stack = values.copy()
        stack[i, j] = float(text)
        exact = Fraction(text)
        entries = {(i, j): rational(fmpq(exact.numerator, exact.denominator))}
        solution = self.recipe.solution

        def exactly(base: Base) -> Node:
            return with_entries(solution, base(node), entries)

        words = (text, f"{values[i, j]:.{max(digits, _FEWEST)}g}", self.recipe.entry(node, i, j))
        return Edit("wrong-number", words, node, stack, exactly)

    def _shortened(self, hypothesis: Hypothesis) -> Hypothesis:
        """One wrong number by as few digits as give the same figures."""
        if hypothesis.solved is None:
            return hypothesis
        node = hypothesis.edit.node
        values = hypothesis.model[node] if hypothesis.in_use else hypothesis.model.made(node)
        i, j = (int(index) for index in np.argwhere(hypothesis.edit.value != values)[0])
        for digits in range(_FEWEST, _ALL):
            number = float(hypothesis.edit.value[i, j])
            edit = self._number(node, values, (i, j), number, digits)
            (predicted,) = hypothesis.model.predicted(node, edit.value[None], hypothesis.in_use)
            if self.weights.given(predicted)[hypothesis.given].all():
                return replace(hypothesis, edit=edit, predicted=predicted)
        return hypothesis

    # -- the best ------------------------------------------------------------------

    def causes(self) -> Iterator[Candidate]:
        """The causes that can be named, the best first, each confirmed exactly."""
        left = self.weights.bits > 0
        for _ in range(_CAUSES):
            candidate = next(iter(self.best(left)), None)
            if candidate is None or not candidate.passes:
                return
            candidate = self._confirmed(candidate, left)
            if not candidate.passes:
                return
            yield candidate
            left &= ~candidate.explains

    @_QUIET
    def best(self, left: Flags) -> list[Candidate]:
        """Edits for what is left, the best first; the first with its rivals."""
        ranked = self._ranked(self.hypotheses, left, _as_printed)
        if not ranked:
            return []
        first, *others = ranked
        rivals = [
            candidate
            for candidate in others
            if candidate.bits > first.bits - _AHEAD
            and (candidate.reproduces & first.reproduces & left).any()
        ]
        return [replace(first, rivals=tuple(rivals)), *others]

    @_QUIET
    def nearest(self, figure: int, most: int = 3) -> list[tuple[str, float]]:
        """Edits that give a figure, with their bits, the best first; none may be good enough."""
        giving = [x for x in self.hypotheses if x.given[figure] and x.solved != figure]
        ranked = self._ranked(giving, self.weights.bits > 0, lambda candidate: -candidate.bits)
        return [(self.phrase(candidate.hypothesis), candidate.bits) for candidate in ranked[:most]]

    def _ranked(
        self, hypotheses: Sequence[Hypothesis], left: Flags, key: Callable[[Candidate], Any]
    ) -> list[Candidate]:
        """The best of some for what is left, each that is said in the same words once."""
        if not hypotheses:
            return []
        gains = np.array([hypothesis.given & left for hypothesis in hypotheses]) @ self.weights.bits
        costs = np.array([self._cost(hypothesis) for hypothesis in hypotheses])
        order = np.argsort(costs - gains, kind="stable")[:_CLOSE]
        scored = [self._scored(hypotheses[k], left) for k in order]
        scored.sort(key=key)
        distinct: dict[tuple[str, ...], Candidate] = {}
        for candidate in scored:
            distinct.setdefault(candidate.hypothesis.identity, candidate)
        return [*distinct.values()]

    @_QUIET
    def phrase(self, hypothesis: Hypothesis) -> str:
        """A hypothesis in words."""
        return self._shortened(hypothesis).edit.phrase

    def _cost(self, hypothesis: Hypothesis) -> float:
        return hypothesis.edit.price + log2(self.tried[hypothesis.edit.kind])

    def _scored(
        self, hypothesis: Hypothesis, left: Flags, reproduced: Flags | None = None
    ) -> Candidate:
        weights = self.weights
        reproduced = hypothesis.given & weights.refuted if reproduced is None else reproduced
        follows = weights.following(reproduced)
        explained = reproduced | follows
        changed = (hypothesis.changed & weights.refuted) | explained
        broken = hypothesis.changed & ~hypothesis.given & weights.held & ~weights.beside(reproduced)
        # A slip that is made late leaves what was printed before: that it was made just
        # there is one choice of so many.
        first = int(np.argmax(reproduced & left)) if (reproduced & left).any() else 0
        early = int(broken[:first].sum())
        broken = broken & (np.arange(len(left)) >= first)
        missed = changed & ~explained & left
        counted = reproduced & left
        if hypothesis.solved is not None:
            counted = counted & (np.arange(len(left)) != hypothesis.solved)
        gain = weights.gain(hypothesis.predicted, counted)
        bits = gain - self._cost(hypothesis) - log2(1 + early)
        bits -= _BREAK * float(broken.sum()) + _MISS * float(missed.sum())
        return Candidate(
            hypothesis=hypothesis,
            bits=bits,
            coverage=float(explained.sum()) / max(int(changed.sum()), 1),
            changed=int(changed.sum()),
            reproduces=reproduced,
            follows=follows,
            breaks=broken,
        )

    @_QUIET
    def _confirmed(self, candidate: Candidate, left: Flags) -> Candidate:
        """The cause with only those figures that it gives exactly."""
        hypothesis = self._shortened(candidate.hypothesis)
        model, in_use, nodes = hypothesis.model, hypothesis.in_use, hypothesis.nodes
        kept = np.zeros_like(candidate.reproduces)
        with suppress(SymattnError):
            if not nodes:
                base = Exactly(model, in_use=in_use)
                instead = hypothesis.edit.exactly(base.used if in_use else base.made)
                edited = Exactly(model, hypothesis.edit.node, instead, in_use=in_use)
                nodes = tuple(edited.made(node) for node, _, _ in self.recipe.places)
            for k in np.flatnonzero(candidate.reproduces).tolist():
                kept[k] = comes_out(self.recipe, nodes[k], k, self.weights.cuts)
        return replace(self._scored(hypothesis, left, kept), rivals=candidate.rivals)


# -- slips named -------------------------------------------------------------------------
# What the search for causes found, said as a person would, figure by figure.

_REASONED = ("carried", "truncated", "rounded-inputs")
_LAST_DIGIT = Sentence("off by one unit in the last place")
_CUT_SHORT = Sentence("the search for a cause was stopped early")
#: How many of the wrong figures that a slip changes follow from it, from a named step on or not.
_FOLLOW = {
    ("the only", False): "The wrong figure follows from",
    ("all", False): "All {count} wrong figures follow from",
    ("one", False): "1 of the {changed} wrong figures follows from",
    ("some", False): "{count} of the {changed} wrong figures follow from",
    ("the only", True): "From {step} on, the wrong figure follows from",
    ("all", True): "From {step} on, all {count} wrong figures follow from",
    ("one", True): "From {step} on, 1 of the {changed} wrong figures follows from",
    ("some", True): "From {step} on, {count} of the {changed} wrong figures follow from",
}
#: How many correct figures contradict it: none, one, or more.
_CONTRADICT = {
    0: "no correct figure contradicts it",
    1: "1 correct figure contradicts it",
    2: "{count} correct figures contradict it",
}


class SlipNaming:
    """Names the slips of a document, and gives the figures that they explain their causes.

    ``causes`` are those of the refuted figures so far, and become those with the
    slips; ``named`` are these, ``tried`` is how many edits were tried.
    """

    def __init__(
        self,
        solution: Solution,
        figures: Sequence[Figure],
        causes: dict[Figure, Cause],
    ) -> None:
        self._figures = figures
        self._at = {figure: place for place, figure in enumerate(figures)}
        self._causes = causes
        self._recipe = AuditedGraph(solution, figures)
        # What is wrong for a reason that is known needs no slip of the recipe.
        free = [figure in causes and causes[figure].kind in _REASONED for figure in figures]
        origins = {
            self._at[figure]: [
                self._at[source]
                for source in behind(figure, causes.get)
                if source in causes and causes[source].kind != "carried"
            ]
            for figure, cause in causes.items()
            if cause.kind == "carried"
        }
        cuts = any(cause.kind == "truncated" for cause in causes.values())
        self._search = Search(self._recipe, free, origins, cuts)
        self.named = tuple(self._slip(candidate) for candidate in self._search.causes())
        self.tried = sum(self._search.tried.values())
        for slip in self.named:
            self._explain(slip)

    def explain_rest(self) -> None:
        """Say of all other roots that no cause was found, with what comes nearest."""
        for figure, cause in self._causes.items():
            if cause.kind == "root" and cause.slip is None:
                self._causes[figure] = self._unexplained(figure)

    def _slip(self, candidate: Candidate) -> Slip:
        return Slip(
            kind=candidate.hypothesis.edit.kind,
            sentence=self._sentence(candidate),
            bits=round(float(candidate.bits), 1),
            coverage=round(float(candidate.coverage), 3),
            reproduces=self._those(candidate.reproduces),
            follows=self._those(candidate.follows),
            breaks=self._those(candidate.breaks),
            rivals=tuple(
                dict.fromkeys(self._search.phrase(rival.hypothesis) for rival in candidate.rivals)
            ),
            phrase=candidate.hypothesis.edit.phrase,
        )

    def _those(self, flags: Flags) -> tuple[Figure, ...]:
        return tuple(self._figures[int(k)] for k in np.flatnonzero(flags))

    def _sentence(self, candidate: Candidate) -> Sentence:
        """The slip with what it explains and what contradicts it."""
        hypothesis = candidate.hypothesis
        count, slip = int(candidate.explains.sum()), hypothesis.edit.phrase
        breaks = int(candidate.breaks.sum())
        contradicted = Sentence(_CONTRADICT[min(breaks, 2)], count=breaks)
        if hypothesis.edit.kind == "wrong-number":
            figures = Sentence(
                "One wrong figure follows from one wrong number"
                if count == 1
                else "{count} wrong figures follow from one wrong number",
                count=count,
            )
            return Sentence(
                "{figures}, {slip}. Its origin is unknown; {contradicted}.",
                figures=figures, slip=slip, contradicted=contradicted,
            )  # fmt: skip
        if hypothesis.in_use:
            node = self._recipe.text(hypothesis.edit.node)
            slip = Sentence("{slip}, although {step} is printed correctly", slip=slip, step=node)
        step, changed = self._step(candidate), candidate.changed
        part = "all" if count == changed else "one" if count == 1 else "some"
        part = "the only" if changed == 1 else part
        figures = Sentence(_FOLLOW[part, bool(step)], step=step, count=count, changed=changed)
        return Sentence(
            "{figures} {slip}; {contradicted}.",
            figures=figures, slip=slip, contradicted=contradicted,
        )  # fmt: skip

    def _step(self, candidate: Candidate) -> str:
        """The first step from which on figures are wrong, by its name."""
        hypothesis = candidate.hypothesis
        below = hypothesis.model.below(hypothesis.edit.node)
        for node in (*(() if hypothesis.in_use else (hypothesis.edit.node,)), *below):
            if node.serial in self._recipe.names:
                return self._recipe.text(node)
        return ""

    def _explain(self, slip: Slip) -> None:
        """The first figure is wrong by the slip, the others are propagated from it."""
        first, *others = slip.explains
        self._causes[first] = Cause("root", slip.sentence, slip=slip)
        for figure in others:
            cause = self._causes[figure]
            if cause.kind == "carried":
                self._causes[figure] = Cause("carried", cause.reason, cause.because, slip)
            else:
                reason = Sentence(
                    "follows from the same mistake as {figure}", figure=first.description
                )
                self._causes[figure] = Cause("carried", reason, (first,), slip)

    def _unexplained(self, figure: Figure) -> Cause:
        pen = ((sentence, 0.0) for sentence in figure.pen_slips)
        near = (*self._search.nearest(self._at[figure]), *pen)
        if figure.off in (1, -1):
            return Cause("last-digit", _LAST_DIGIT, candidates=near)
        whole = self._search.is_whole
        reason = NO_CAUSE if whole else joined((NO_CAUSE, _CUT_SHORT), "; ")
        return Cause("root", reason, candidates=near)


# -- prints ------------------------------------------------------------------------------
# Prints of terms in a document, and terms recomputed from them.
#
# A term is recomputed from the document's own figures by replacing its largest parts that the
# document prints, and working out the rest from the steps' definitions. Parts are recognised by
# their normal form, so ``exp(T[0, 2])`` printed by itself is used inside ``rowsum(exp(T))[0, 0]``.


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


@dataclass(eq=False)
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
        every = reached([self], lambda item: item.below)
        figures = {figure.order: figure for item in every for figure in item.figures}
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


# -- causes ------------------------------------------------------------------------------
# Why a refuted figure is what it is.
#
# The first that fits: it repeats an earlier wrong figure; the exact value cut off, unless figures
# lead to it that are wrong for another reason; computed from the document's own printed figures,
# all of them right (``rounded-inputs``) or some of them wrong (``carried``: a propagated error);
# none of these.

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
