"""A derivation judged: what follows, what is refuted and by which numbers, what stays open.

A line is *proved* when two witnesses that share no code agree: its sides have
the same normal form for all sizes (:mod:`symattn.calculus.proving`), and balls
at random sizes and points found no place where they differ
(:mod:`symattn.calculus.refuting`). What only the second supports is *checked*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from symattn.calculus import draft as drafts
from symattn.calculus import reading
from symattn.calculus.conditions import conditions
from symattn.calculus.draft import Draft, Said
from symattn.calculus.language import Array
from symattn.calculus.normal import Slopes
from symattn.calculus.proving import Prover
from symattn.calculus.refuting import Counterexample, Trials
from symattn.errors import Fault, Malformed

Status = Literal["proved", "checked", "refuted", "undecided"]


@dataclass(frozen=True)
class Line:
    """One line, judged.

    ``where`` are the conditions under which it has a meaning, ``why`` what is
    missing for a proof, ``sizes`` those at which it was found to hold.
    """

    number: int
    said: Said
    status: Status
    read: reading.Line | None = None
    where: tuple[str, ...] = ()
    counterexample: Counterexample | None = None
    why: str = ""
    sizes: tuple[Mapping[str, int], ...] = ()

    @property
    def text(self) -> str:
        """The line as it stands in the file."""
        return self.said.line

    def to_dict(self) -> dict[str, Any]:
        """The line as plain data."""
        return {
            "line": self.said.line,
            "status": self.status,
            "counterexample": self.counterexample.to_dict() if self.counterexample else None,
            "where": list(self.where),
            "why": self.why,
            "because": self.said.because,
            "sizes": [dict(one) for one in self.sizes],
        }


@dataclass(frozen=True)
class Derivation:
    """All lines of a derivation; ``faults`` say what could not be read at all."""

    name: str
    draft: Draft
    lines: tuple[Line, ...]
    faults: tuple[Fault, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether every line is proved."""
        return (
            not self.faults
            and bool(self.lines)
            and all(one.status == "proved" for one in self.lines)
        )

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many lines have each status."""
        return Counter(one.status for one in self.lines)

    def to_dict(self) -> dict[str, Any]:
        """The derivation as plain data."""
        return {
            "name": self.name,
            "title": self.draft.title,
            "proved": self.proved,
            "faults": [str(fault) for fault in self.faults],
            "lines": [line.to_dict() for line in self.lines],
        }


def judged(name: str, draft: Draft, library: Library = lambda _: None) -> Derivation:
    """A draft with every line judged."""
    return Derivation(name, draft, tuple(_Judge(draft, library).lines()))


def derived(
    name: str, document: Mapping[str, Any], library: Library = lambda _: None
) -> Derivation:
    """A derivation from the tables of its file; what can't be read is among its faults."""
    try:
        return judged(name, drafts.read(document), library)
    except Malformed as error:
        said = [Said(str(entry.get("line", ""))) for entry in _entries(document.get("lines"))]
        lines = [
            Line(number, one, "undecided", why="the file has faults")
            for number, one in enumerate(said, 1)
        ]
        return Derivation(name, Draft(lines=tuple(said)), tuple(lines), error.faults)


def _entries(found: object) -> Sequence[Mapping[str, Any]]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


Library = Callable[[str], Draft | None]
"""Other derivations by name: their lines may be reasons."""
PLAIN = "algebra"
"""What a line names as its reason that follows from nothing but the rules of computing."""


class _Judge:
    def __init__(self, draft: Draft, library: Library) -> None:
        self.draft = draft
        self.library = library
        self.slopes: Slopes = {}
        self.trials = Trials(draft.ground)
        self.done: list[Line] = []
        self.positive = [array.name for array in draft.ground.positive()]
        self.random = [array.name for array in draft.ground.random]
        self.prover = self._prover()

    def _prover(self) -> Prover:
        known = [one for one in self.draft.ground.hypotheses if one.relation == "=="]
        return Prover(self.positive, self.random, frozenset(), known, self.slopes)

    def lines(self) -> list[Line]:
        for number, said in enumerate(self.draft.lines, 1):
            self.done.append(self._line(number, said))
        return self.done

    # -- reasons ---------------------------------------------------------------

    def _unreasoned(self, line: reading.Line, by: Sequence[str]) -> str:
        """Why a line does not follow from what it names as reasons; nothing if it does.

        With only these it has to follow, and without any one of them it must not.
        """
        named = [one for one in by if one != PLAIN]
        if why := self._from(line, named):
            return f"does not follow from {', '.join(by)}: {why}"
        for one in named:
            if not self._from(line, [other for other in named if other != one]):
                return f"follows without {one}"
        return ""

    def _from(self, line: reading.Line, by: Sequence[str]) -> str:
        defined = {one.array.name: one.array for one in self.draft.definitions}
        known: list[reading.Line] = []
        opened: set[Array] = set()
        for one in by:
            if one in defined:
                opened.add(defined[one])
            elif (found := self._equations(one)) is not None:
                known += found
            else:
                return f"there is no definition, hypothesis, earlier line or derivation {one!r}"
        folded = frozenset(defined.values()) - opened
        return Prover(self.positive, self.random, folded, known, self.slopes).shown(line)

    def _equations(self, name: str) -> list[reading.Line] | None:
        """The equations of an earlier line, of a hypothesis, or of another derivation."""
        for done in self.done:
            if name in (str(done.number), done.said.label) and done.read:
                return [done.read]
        if name in self.draft.hypotheses:
            return [self.draft.ground.hypotheses[self.draft.hypotheses.index(name)]]
        other = self.library(name)
        if other is None:
            return None
        found = []
        for said in other.lines:
            # Its letters have to mean here what they mean there.
            with suppress(Malformed):
                found.append(reading.line(said.line, self.draft.scope))
        return found

    def _line(self, number: int, said: Said) -> Line:
        try:
            line = reading.line(said.line, self.draft.scope)
        except Malformed as error:
            return Line(number, said, "undecided", why=error.faults[0].message)
        trials = self.trials.of(line)
        where, above = conditions(line, self.prover.normal)
        if trials.verdict == "refuted":
            return Line(
                number,
                said,
                "refuted",
                line,
                tuple(where),
                trials.counterexample,
            )
        why = self.prover.shown(line)
        if why and above:
            prover = self._prover()
            prover.suppose(above)
            why = prover.shown(line)
        status: Status = "proved"
        unreasoned = self._unreasoned(line, said.by) if said.by is not None and not why else ""
        if trials.verdict == "unclear":
            status, why = "undecided", why or trials.why
        elif why:
            status = "checked"
        elif unreasoned:
            status, why = "undecided", unreasoned
        return Line(number, said, status, line, tuple(where), why=why, sizes=trials.sizes)
