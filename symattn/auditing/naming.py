"""Slips named: what the search for causes found, said as a person would, figure by figure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from symattn.auditing.causes import named
from symattn.auditing.figures import Cause, Figure, Slip
from symattn.auditing.model import Flags, Recipe
from symattn.auditing.pen import pen_slips
from symattn.auditing.search import Found, Search
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict

#: What is said of a root that no slip explains.
NO_CAUSE = "wrong in itself: no cause found"
_LAST_DIGIT = "off by one unit in the last place"
_CUT_SHORT = "; the search for a cause was cut short"


class Slips:
    """Names the slips of a document, and gives the figures that they explain their causes.

    ``causes`` are those of the refuted figures so far, and become those with the
    slips; ``named`` are these, ``tried`` is how many edits were tried.
    """

    def __init__(
        self, solution: Solution, figures: Sequence[Figure], causes: dict[Figure, Cause]
    ) -> None:
        self._figures = figures
        self._at = {figure: place for place, figure in enumerate(figures)}
        self._causes = causes
        self._recipe = Recipe(solution, figures)
        free = [figure in causes and _says_nothing(causes[figure]) for figure in figures]
        origins = {
            self._at[figure]: [self._at[one] for one in self._origins(figure)]
            for figure, cause in causes.items()
            if cause.kind == "carried"
        }
        cuts = any(cause.kind == "truncated" for cause in causes.values())
        self._search = Search(self._recipe, free, origins, cuts)
        self.named = tuple(self._slip(found) for found in self._search.causes())
        self.tried = sum(self._search.tried.values())
        for slip in self.named:
            self._explain(slip)

    def explain_rest(self) -> None:
        """Say of all other roots that no cause was found, with what comes nearest."""
        for figure, cause in self._causes.items():
            if cause.kind == "root" and cause.slip is None:
                self._causes[figure] = self._unexplained(figure)

    def _origins(self, figure: Figure) -> list[Figure]:
        """The wrong figures that a carried one comes from in the end."""
        found, waiting, seen = [], [figure], set()
        while waiting:
            current = waiting.pop()
            if current.order in seen or current not in self._causes:
                continue
            seen.add(current.order)
            cause = self._causes[current]
            if cause.kind != "carried":
                found.append(current)
            waiting += [one for one in cause.because if one.verdict is Verdict.REFUTED]
        return found

    def _slip(self, found: Found) -> Slip:
        return Slip(
            kind=found.hypothesis.edit.kind,
            sentence=self._sentence(found),
            bits=round(float(found.bits), 1),
            coverage=round(float(found.coverage), 3),
            reproduces=self._those(found.reproduces),
            follows=self._those(found.follows),
            breaks=self._those(found.breaks),
            rivals=tuple(
                dict.fromkeys(self._search.phrase(one.hypothesis) for one in found.rivals)
            ),
        )

    def _those(self, flags: Flags) -> tuple[Figure, ...]:
        return tuple(self._figures[int(k)] for k in np.flatnonzero(flags))

    def _sentence(self, found: Found) -> str:
        """The slip with what it explains and what contradicts it."""
        one = found.hypothesis
        count, changed = int(found.explains.sum()), found.changed
        if one.edit.kind == "wrong-number":
            start = f"{_figures(count)} {_follow(count)} from one wrong number, {one.edit.phrase}"
            start += ". Where it comes from is unknown"
        else:
            step = self._step(found)
            which = f"all {changed}" if count == changed else f"{count} of the {changed}"
            which = f"{which} wrong figures" if changed > 1 else "the wrong figure"
            start = f"{which} {_follow(count)} from {one.edit.phrase}"
            start = f"from {step} on, {start}" if step else start
            if one.in_use:
                start += f", though {self._recipe.text(one.edit.node)} is printed as it should be"
        return f"{start[0].upper()}{start[1:]}; {_contradicted(int(found.breaks.sum()))}."

    def _step(self, found: Found) -> str:
        """The first step from which on figures are wrong, by its name."""
        one = found.hypothesis
        below = one.model.below(one.edit.node)
        for node in (*(() if one.in_use else (one.edit.node,)), *below):
            if node.serial in self._recipe.names:
                return self._recipe.text(node)
        return ""

    def _explain(self, slip: Slip) -> None:
        """The first figure is wrong by the slip, the others carry it."""
        first, *others = slip.explains
        self._causes[first] = Cause("root", slip.sentence, slip=slip)
        for figure in others:
            cause = self._causes[figure]
            if cause.kind == "carried":
                self._causes[figure] = Cause("carried", cause.reason, cause.because, slip)
            else:
                reason = f"follows from the same slip as {named([first])}"
                self._causes[figure] = Cause("carried", reason, (first,), slip)

    def _unexplained(self, figure: Figure) -> Cause:
        pen = ((sentence, 0.0) for sentence in pen_slips(figure))
        near = (*self._search.nearest(self._at[figure]), *pen)
        if figure.off in (1, -1):
            return Cause("last-digit", _LAST_DIGIT, candidates=near)
        reason = NO_CAUSE + _CUT_SHORT * (not self._search.is_whole)
        return Cause("root", reason, candidates=near)


def _says_nothing(cause: Cause) -> bool:
    """Whether a figure is wrong for a reason that is known: no slip of the recipe is needed."""
    return cause.kind in ("carried", "truncated", "rounded-inputs")


def _figures(count: int) -> str:
    return "one wrong figure" if count == 1 else f"{count} wrong figures"


def _follow(count: int) -> str:
    return "follows" if count == 1 else "follow"


def _contradicted(count: int) -> str:
    if not count:
        return "no right figure contradicts it"
    return "1 right figure contradicts it" if count == 1 else f"{count} right figures contradict it"
