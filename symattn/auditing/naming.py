"""Slips named: what the search for causes found, said as a person would, figure by figure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from symattn.auditing.figures import NO_CAUSE, Cause, Figure, Slip, behind
from symattn.auditing.model import AuditedGraph, Flags
from symattn.auditing.prints import pen_slips
from symattn.auditing.search import DOCUMENT, Candidate, Gate, Search
from symattn.languages.sentence import Sentence, joined
from symattn.solution.solution import Solution

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
        gate: Gate = DOCUMENT,
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
        self._search = Search(self._recipe, free, origins, cuts, gate)
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
        pen = ((sentence, 0.0) for sentence in pen_slips(figure))
        near = (*self._search.nearest(self._at[figure]), *pen)
        if figure.off in (1, -1):
            return Cause("last-digit", _LAST_DIGIT, candidates=near)
        whole = self._search.is_whole
        reason = NO_CAUSE if whole else joined((NO_CAUSE, _CUT_SHORT), "; ")
        return Cause("root", reason, candidates=near)
