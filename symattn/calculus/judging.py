"""Judging the lines of a derivation: what follows, what is refuted and by which numbers.

A line is *proved* when two witnesses that share no code agree: the kernel replays a proof of it
for all sizes (:mod:`symattn.calculus.kernel`), and balls at random sizes and points found no
place where its sides differ (:mod:`symattn.calculus.refuting`). What only the second supports is
*checked*.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from symattn.calculus import draft as drafts
from symattn.calculus import language as term
from symattn.calculus import line_reading, tensors
from symattn.calculus.clocks import OutOfTime, time_limit
from symattn.calculus.conditions import written
from symattn.calculus.derivation import Derivation
from symattn.calculus.draft import DerivationDraft, Said
from symattn.calculus.judged_lines import ChainJudge, Evidence, JudgedLine, Status
from symattn.calculus.kernel.proof import Kernel, Shown
from symattn.calculus.kernel.terms import OutOfWork, Unproved
from symattn.calculus.language import Array
from symattn.calculus.prover import Proof, Prover
from symattn.calculus.refuting import Sampler
from symattn.calculus.rewriting import Record
from symattn.calculus.slips import hint
from symattn.calculus.writing import SideCondition
from symattn.errors import Malformed
from symattn.limits import LINE_SECONDS, LINE_WORK

Library = Callable[[str], DerivationDraft | None]
"""Other derivations by name: their lines may be reasons."""
PLAIN = "algebra"
"""What a line names as its reason that follows from nothing but the rules of computing."""


def derived(
    name: str,
    document: Mapping[str, Any],
    library: Library = lambda _: None,
    line_of: Callable[[str], int] = lambda _: 0,
    advice: str = drafts.SHAPE,
    seconds: float = LINE_SECONDS,
) -> Derivation:
    """A derivation from the tables of its file; what can't be read is among its faults.

    ``advice`` is what to do about a name of which nothing is known. A line that takes
    more than so many ``seconds`` is undecided; 0 is no limit.
    """
    try:
        draft = drafts.read(document, line_of, advice)
        return Derivation(name, draft, tuple(Judge(draft, library, seconds).lines()))
    except Malformed as error:
        statements = [Said(str(entry.get("line", ""))) for entry in _entries(document.get("lines"))]
        lines = [
            JudgedLine(number, statement, "undecided", why="the file has faults")
            for number, statement in enumerate(statements, 1)
        ]
        return Derivation(
            name, DerivationDraft(lines=tuple(statements)), tuple(lines), error.faults
        )


def _entries(value: object) -> Sequence[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


class Judge:
    """Judges the lines of one derivation, in order."""

    def __init__(
        self,
        draft: DerivationDraft,
        library: Library = lambda _: None,
        seconds: float = LINE_SECONDS,
    ) -> None:
        self.draft = draft
        self.library = library
        self.seconds = seconds
        self._without: tuple[int, ...] = ()
        self._trials: dict[tuple[int, ...], Sampler] = {}
        self._provers: dict[tuple[int, ...], Prover] = {}
        self.done: list[JudgedLine] = []
        self.conclusions: dict[str, tuple[tensors.ParsedLine, ...]] = {}
        """What other derivations conclude that are named as reasons."""
        self.kernel = Kernel()
        self.kernel.random = frozenset(draft.ground.random)
        self.kernel.permutations = draft.scope.permutations
        self.chains = ChainJudge(self._verdict, self._hint)

    @property
    def prover(self) -> Prover:
        """Proves from all definitions, and the hypotheses that hold where a line stands."""
        if self._without not in self._provers:
            hypotheses = self.draft.ground_of(self._without).hypotheses
            self._provers[self._without] = Prover(self.kernel, hypotheses)
        return self._provers[self._without]

    @property
    def trials(self) -> Sampler:
        """Tries numbers that meet the hypotheses that hold where a line stands."""
        if self._without not in self._trials:
            self._trials[self._without] = Sampler(self.draft.ground_of(self._without))
        return self._trials[self._without]

    def lines(self) -> list[JudgedLine]:
        """All lines, judged."""
        for number, statement in enumerate(self.draft.lines, 1):
            self.done.append(self._line(number, statement))
        return self.done

    # -- reasons ---------------------------------------------------------------

    def stands(self, reason: str, without: Sequence[int]) -> bool:
        """Return whether a reason is taken for granted, or proved, without the hypotheses at some
        places: what follows from it is too."""
        done = next(
            (item for item in self.done if reason in (str(item.number), item.said.label)), None
        )
        if done is not None:
            return done.proved and {*without} <= {*done.said.without}
        if reason in self.draft.hypotheses:
            return self.draft.hypotheses.index(reason) not in without
        defined = (item.array.name for item in self.draft.definitions)
        return reason == PLAIN or reason in defined

    def _reasoned(self, line: tensors.ParsedLine, by: Sequence[str]) -> Evidence:
        """Return why a line does not follow from what it names as reasons; nothing if it does.

        With only these it has to follow, and without any one of them it must not.
        """
        named = [reason for reason in by if reason != PLAIN]
        evidence = self._from(line, named)
        proof = evidence.proof
        if proof.why:
            return evidence.but(f"does not follow from {', '.join(by)}: {proof.why}")
        for reason in named:
            fewer = self._from(line, [other for other in named if other != reason]).proof
            # What holds under more conditions without a reason needs it.
            if not fewer.why and {*self.where(fewer)} <= {*self.where(proof)}:
                return evidence.but(f"follows without {reason}")
        return evidence

    def _from(self, line: tensors.ParsedLine, by: Sequence[str]) -> Evidence:
        try:
            prover = self.prover_from(by)
        except Unproved as reason:
            return Evidence(self.prover, Proof(str(reason)), True, self.conclusions)
        return Evidence(prover, prover.proof(line), True, self.conclusions)

    def prover_from(self, by: Sequence[str], ready: Record | None = None) -> Prover:
        """Proves from what a line names as its reasons; :class:`Unproved` if there is none such."""
        defined = {item.array.name: item.array for item in self.draft.definitions}
        assumed: list[tensors.ParsedLine] = []
        cited: list[tuple[tensors.ParsedLine, Shown]] = []
        opened: set[Array] = set()
        for item in by:
            if item in defined:
                opened.add(defined[item])
            elif item in self.draft.hypotheses:
                place = self.draft.hypotheses.index(item)
                assumed.append(self.draft.ground.hypotheses[place])
            elif (lines := self._equations(item)) is not None:
                cited += lines
            elif item != PLAIN:
                raise Unproved(
                    f"there is no definition, hypothesis, earlier line or derivation {item!r}"
                )
        folded = frozenset(defined.values()) - opened
        return Prover(self.kernel, assumed, cited, folded, ready)

    def _equations(self, name: str) -> list[tuple[tensors.ParsedLine, Shown]] | None:
        """The equations of an earlier line, or those that another derivation concludes, each
        with the conditions under which it holds."""
        for done in self.done:
            if name in (str(done.number), done.said.label) and done.read:
                return [(done.read, _shown(done))]
        concluded = self.concluded(name)
        if concluded is None:
            return None
        # What it assumes is assumed of all that its conclusions name.
        other = self.library(name)
        is_bound = other is not None and bool(other.hypotheses)
        named = [term.arrays(*line.sides) for line in concluded]
        # What it is of is given there, whatever it is here.
        own = {item.array.name for item in other.definitions} if other is not None else set()
        arrays = (item.array for item in self.draft.definitions)
        folded = frozenset(array for array in arrays if array.name not in own)
        return [
            (line, Shown(bound=each if is_bound else frozenset(), folded=folded))
            for line, each in zip(concluded, named, strict=True)
        ]

    def concluded(self, name: str) -> tuple[tensors.ParsedLine, ...] | None:
        """Return what another derivation concludes; None if there is none of that name."""
        other = None if name in self.conclusions else self.library(name)
        if other is not None:
            lines = []
            for conclusion in other.concluded:
                # Its letters have to mean here what they mean there.
                with suppress(Malformed):
                    lines.append(line_reading.line(conclusion, self.draft.scope))
            self.conclusions[name] = tuple(lines)
        return self.conclusions.get(name)

    def tied(self, line: tensors.ParsedLine, statement: Said) -> str:
        """Return what is wrong with a line that varies something tied to other things in it by what
        is assumed; nothing if it does not."""
        tie = self.draft.ground_of(statement.without).tie(line)
        if tie is None:
            return ""
        varied, other = (array.name for array in tie)
        return (
            f"{other} is assumed to be tied to {varied}, which varies here: define {other} by "
            "that equation instead"
        )

    def _hint(self, line: str) -> str:
        """Return what would make a line hold, if it can be read as a line at all."""
        with suppress(Malformed):
            ground = self.draft.ground_of(self._without)
            return hint(line, self.draft.scope, ground, self.trials.holds)
        return ""

    def _line(self, number: int, statement: Said) -> JudgedLine:
        why = f"not decided within {self.seconds:g} seconds, which a line may take"
        line = JudgedLine(number, statement, "undecided", why=why)
        self._without = statement.without
        self.kernel.left = LINE_WORK.most if self.seconds else float("inf")
        with suppress(OutOfTime), time_limit(self.seconds):
            try:
                line = self.chains.continued(number, statement, self.done)
                line = self.chains.chained(line)
            except OutOfWork:
                line = line if line.read else replace(line, why=LINE_WORK.said())
            if line.status == "refuted" or line.read is None:
                line = replace(line, hint=line.hint or self._hint(line.text))
        return line

    def _verdict(self, number: int, statement: Said) -> JudgedLine:
        """Return what is to be said of a line as a whole, but for hints."""
        try:
            line = line_reading.line(statement.line, self.draft.scope)
        except Malformed as error:
            return JudgedLine(number, statement, "undecided", why=error.faults[0].message)
        if tied := self.tied(line, statement):
            return JudgedLine(number, statement, "undecided", line, why=tied)
        trials = self.trials.of(line)
        by = statement.by
        reasoned = None if by is None else self._reasoned(line, by)
        evidence = reasoned
        if (
            evidence is None
            or evidence.proof.why
            or not all(self.stands(reason, statement.without) for reason in by or ())
        ):
            evidence = Evidence(self.prover, self.prover.proof(line), False, self.conclusions)
        proof = evidence.proof
        where = self.where(proof)
        if trials.verdict == "refuted":
            return JudgedLine(number, statement, "refuted", line, where, trials.counterexample)
        why = proof.why
        status: Status = "proved"
        if trials.verdict == "unclear":
            status, why = "undecided", why or trials.why
        elif why:
            status = "checked"
        elif reasoned is not None and reasoned.proof.why:
            status, why = "undecided", reasoned.proof.why
        return JudgedLine(
            number,
            statement,
            status,
            line,
            where,
            why=why,
            sizes=trials.sizes,
            evidence=evidence,
        )

    def where(self, proof: Proof) -> tuple[SideCondition, ...]:
        """The conditions of a proof as they are printed."""
        return tuple(dict.fromkeys(written(each, proof.sources) for each in proof.conditions))


def _shown(line: JudgedLine) -> Shown:
    """Return what a line may be cited with; one that was not proved is no reason."""
    return line.evidence.prover.shown(line.evidence.proof) if line.evidence else Shown()


def replayed(draft: DerivationDraft, library: Library, read: ReadProofs) -> Where:
    """The lines that proofs show which were written out, and where each holds."""
    judge = Judge(draft, library)
    parsed: dict[int, tensors.ParsedLine] = {}
    for number, statement in enumerate(draft.lines, 1):
        with suppress(Malformed):
            parsed[number] = line_reading.line(statement.line, draft.scope)
        for name in statement.by or ():
            judge.concluded(name)
    proofs = read(judge, [*parsed.items()])
    shown: dict[int, tuple[str, ...]] = {}
    ready: dict[tuple[int, ...], Prover] = {}
    for number, statement in enumerate(draft.lines, 1):
        if number not in proofs:
            judge.done.append(JudgedLine(number, statement, "undecided", parsed.get(number)))
            continue
        prepared, record, is_by = proofs[number]
        if tied := judge.tied(parsed[number], statement):
            raise Malformed(f"line {number}: {tied}")
        if is_by:
            for reason in statement.by or ():
                if not judge.stands(reason, statement.without):
                    raise Malformed(f"line {number} follows from {reason}, which has no proof here")
            prover = judge.prover_from(statement.by or (), prepared)
        else:
            assumed = draft.ground_of(statement.without).hypotheses
            prover = ready.get(statement.without) or Prover(judge.kernel, assumed, ready=prepared)
            ready[statement.without] = prover
        proof = prover.proof(parsed[number], record)
        if proof.why:
            raise Malformed(f"line {number} does not follow by its certificate: {proof.why}")
        evidence = Evidence(prover, proof, is_by, judge.conclusions)
        line = JudgedLine(number, statement, "proved", parsed[number], evidence=evidence)
        judge.done.append(line)
        shown[number] = judge.where(proof)
    return shown


Proofs = Mapping[int, tuple[Record, Record, bool]]
"""By the numbers of lines: what their provers learned, their proofs, whether from reasons."""
Where = Mapping[int, tuple[str, ...]]
ReadProofs = Callable[[Judge, Sequence[tuple[int, tensors.ParsedLine]]], Proofs]
