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
from textwrap import wrap
from typing import Any, Literal

from symattn.calculus import draft as drafts
from symattn.calculus import language as term
from symattn.calculus import line_reading, tensors
from symattn.calculus.atoms import Poly
from symattn.calculus.draft import DerivationDraft, Said
from symattn.calculus.hints import conditions, hint
from symattn.calculus.language import Array
from symattn.calculus.normal import SlopeCache
from symattn.calculus.printing import prose, text
from symattn.calculus.proving import Prover
from symattn.calculus.refuting import Counterexample, Sampler
from symattn.errors import Fault, Malformed

Status = Literal["proved", "checked", "refuted", "undecided"]
_STATUSES: tuple[Status, ...] = ("proved", "checked", "refuted", "undecided")
"""What can be said of a line, the best first."""


@dataclass(frozen=True)
class JudgedLine:
    """One line, judged.

    ``where`` are the conditions under which it has a meaning, ``why`` what is
    missing for a proof, ``sizes`` those at which it was found to hold.
    """

    number: int
    said: Said
    status: Status
    read: tensors.ParsedLine | None = None
    where: tuple[str, ...] = ()
    counterexample: Counterexample | None = None
    why: str = ""
    sizes: tuple[Mapping[str, int], ...] = ()
    hint: str = ""
    """What would make it hold, where one of the usual mistakes was made."""

    @property
    def text(self) -> str:
        """The line as it stands in the file."""
        return self.said.line

    @property
    def sympy(self) -> Any:
        """The line as SymPy's equation: ``Indexed``, ``Sum``, ``KroneckerDelta``,
        ``Piecewise`` for steps, ``Derivative`` as it was to be taken.

        Raises :class:`Malformed` where the line could not be read.
        """
        from symattn.calculus.differentiating import equation

        if self.read is None:
            raise Malformed(self.why)
        return equation(self.read)

    @property
    def proved(self) -> bool:
        """Whether both witnesses agree that it holds for all sizes."""
        return self.status == "proved"

    def told(self, shapes: Mapping[str, int]) -> list[str]:
        """The line in Unicode, with its reason, and what is to be said of it."""
        flag = "" if self.proved else f"  {self.status.upper()}"
        flag += f" (line {self.said.at})" if flag and self.said.at else ""
        lines = [f"  {self.number:>3}. {_in_unicode(self.said.line, shapes)}{flag}"]
        notes = [prose(self.said.because, shapes)]
        notes += [f"where {', '.join(self.where)}"] if self.where else []
        notes += [str(self.counterexample)] if self.counterexample else []
        if self.status == "checked":
            cases = [
                ", ".join(f"{n} = {k}" for n, k in sizes.items()) for sizes in self.sizes if sizes
            ]
            at = f"holds at {'; '.join(cases)}" if cases else "holds at all values tried"
            notes += [f"{at}; not shown for all: {self.why}"]
        elif not self.proved:
            notes += [self.why]
        notes += [self.hint] if self.hint else []
        for note in filter(None, notes):
            lines += wrap(note, 78, initial_indent=" " * 7, subsequent_indent=" " * 7)
        return lines

    def to_dict(self) -> dict[str, Any]:
        """The line as plain data."""
        return {
            "line": self.said.line,
            "at": self.said.at,
            "status": self.status,
            "counterexample": self.counterexample.to_dict() if self.counterexample else None,
            "where": list(self.where),
            "why": self.why,
            "hint": self.hint,
            "because": self.said.because,
            "sizes": [dict(sizes) for sizes in self.sizes],
        }


@dataclass(frozen=True)
class Derivation:
    """All lines of a derivation; ``faults`` say what could not be read at all."""

    name: str
    draft: DerivationDraft
    lines: tuple[JudgedLine, ...]
    faults: tuple[Fault, ...] = ()
    file: str = ""
    """The reader's own file that it stands in, ``-`` for none; bundled ones have no such."""
    words: tuple[tuple[int, str], ...] | None = None
    """What a text has beside its formulas, each with its line; None of tables."""

    def __repr__(self) -> str:
        proved = f"{self.counts['proved']} of {len(self.lines)} lines proved"
        return f"<Derivation {self.name[:60]!r}: {proved}>"

    @property
    def proved(self) -> bool:
        """Whether every line is proved."""
        return not self.faults and bool(self.lines) and all(line.proved for line in self.lines)

    @property
    def conclusions(self) -> tuple[JudgedLine, ...]:
        """The lines that the statement says; the last one where it says none."""
        return tuple(line for line in self.lines if line.text in self.draft.concluded)

    @property
    def conclusion(self) -> JudgedLine:
        """The last line."""
        return self.lines[-1]

    @property
    def parts(self) -> tuple[str, ...]:
        """The headings in order."""
        return tuple(dict.fromkeys(line.said.part for line in self.lines))

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many lines have each status."""
        return Counter(line.status for line in self.lines)

    def summary(self) -> str:
        """How many lines are proved, and how many are not."""
        counts = [f"{self.counts[status]} {status}" for status in _STATUSES if self.counts[status]]
        count = len(self.lines)
        judged = f"{count} line{'s' if count != 1 else ''}: {', '.join(counts)}"
        if self.words is None:
            return judged
        count = len({at for at, _ in self.words})
        return f"{judged}; {count} line{'s' if count != 1 else ''} of words"

    def to_text(self, with_words: bool = False) -> str:
        """The derivation in Unicode, one line per step with its reason; on request also what
        was taken for words."""
        draft, shapes = self.draft, self.draft.shapes
        lines = [draft.title or self.name, *_wrapped(draft.statement, shapes)]
        if draft.source:
            lines += _wrapped(f"Source: {draft.source}", shapes)
        lines += ["", "Given"]
        lines += [line for item in draft.assumptions for line in _wrapped(item, shapes)]
        lines += [f"  {item}" for item in draft.given()]
        lines += [f"  {text(item, shapes)}" for item in draft.hypotheses]
        lines += [f"  {text(f'{item.key} == {item.text}', shapes)}" for item in draft.definitions]
        for part in self.parts:
            lines += ["", prose(part, shapes) or "Lines"]
            for line in (item for item in self.lines if item.said.part == part):
                lines += line.told(shapes)
        if with_words:
            lines += ["", "Words", *(f"  line {at}: {words}" for at, words in self.words or ())]
        lines += ["", f"Checked: {self.summary()}"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from symattn.printers import markdown

        shapes = self.draft.shapes
        rows = [
            (str(x.number), _in_unicode(x.text, shapes), x.status, prose(x.said.because, shapes))
            for x in self.lines
        ]
        header = ("", "line", "status", "because")
        faults = "; ".join(map(str, self.faults))
        title = prose(self.draft.title, shapes) or self.name
        return markdown.summary(title, self.summary(), header, rows, faults)

    def to_dict(self) -> dict[str, Any]:
        """The derivation as plain data."""
        return {
            "name": self.name,
            "title": self.draft.title,
            "statement": self.draft.statement,
            "source": self.draft.source,
            "conclusions": [conclusion.text for conclusion in self.conclusions],
            "proved": self.proved,
            "faults": [str(fault) for fault in self.faults],
            "words": [{"at": at, "text": text} for at, text in self.words or ()],
            "lines": [line.to_dict() for line in self.lines],
        }


def _in_unicode(line: str, shapes: Mapping[str, int]) -> str:
    """A line in Unicode, as it is written where it can't be read."""
    try:
        return text(line, shapes)
    except Malformed:
        return line


def judged(name: str, draft: DerivationDraft, library: Library = lambda _: None) -> Derivation:
    """A draft with every line judged."""
    return Derivation(name, draft, tuple(_Judge(draft, library).lines()))


def derived(
    name: str,
    document: Mapping[str, Any],
    library: Library = lambda _: None,
    line_of: Callable[[str], int] = lambda _: 0,
    advice: str = drafts.SHAPE,
) -> Derivation:
    """A derivation from the tables of its file; what can't be read is among its faults.

    ``advice`` is what to do about a name of which nothing is known.
    """
    try:
        return judged(name, drafts.read(document, line_of, advice), library)
    except Malformed as error:
        statements = [Said(str(entry.get("line", ""))) for entry in _entries(document.get("lines"))]
        lines = [
            JudgedLine(number, statement, "undecided", why="the file has faults")
            for number, statement in enumerate(statements, 1)
        ]
        return Derivation(
            name, DerivationDraft(lines=tuple(statements)), tuple(lines), error.faults
        )


def _wrapped(words: str, shapes: Mapping[str, int]) -> list[str]:
    """Prose in lines that fit a terminal."""
    return wrap(prose(words, shapes), 78, initial_indent="  ", subsequent_indent="  ")


def _entries(value: object) -> Sequence[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


Library = Callable[[str], DerivationDraft | None]
"""Other derivations by name: their lines may be reasons."""
PLAIN = "algebra"
"""What a line names as its reason that follows from nothing but the rules of computing."""


class _Judge:
    def __init__(self, draft: DerivationDraft, library: Library) -> None:
        self.draft = draft
        self.library = library
        self.slopes: SlopeCache = {}
        self.trials = Sampler(draft.ground)
        self.done: list[JudgedLine] = []
        self.positive = [array.name for array in draft.ground.positive()]
        self.random = [array.name for array in draft.ground.random]
        self.prover = self._prover()

    def _prover(self) -> Prover:
        known = [line for line in self.draft.ground.hypotheses if line.relation == "=="]
        return Prover(self.positive, self.random, frozenset(), known, self.slopes)

    def lines(self) -> list[JudgedLine]:
        for number, statement in enumerate(self.draft.lines, 1):
            self.done.append(self._line(number, statement))
        return self.done

    def _unproved(self, line: tensors.ParsedLine, above: Sequence[Poly]) -> str:
        """Why a line does not follow from definitions and hypotheses; nothing if it does."""
        why = self.prover.shown(line)
        if why and above:
            prover = self._prover()
            prover.suppose(above)
            why = prover.shown(line)
        return why

    # -- reasons ---------------------------------------------------------------

    def _stands(self, reason: str) -> bool:
        """Whether a reason is taken for granted here, or proved: what follows from it is too."""
        done = next(
            (item for item in self.done if reason in (str(item.number), item.said.label)), None
        )
        if done is not None:
            return done.proved
        defined = (item.array.name for item in self.draft.definitions)
        return reason == PLAIN or reason in self.draft.hypotheses or reason in defined

    def _unreasoned(
        self, line: tensors.ParsedLine, by: Sequence[str], above: Sequence[Poly]
    ) -> str:
        """Why a line does not follow from what it names as reasons; nothing if it does.

        With only these it has to follow, and without any one of them it must not.
        """
        named = [reason for reason in by if reason != PLAIN]
        if why := self._from(line, named, above):
            return f"does not follow from {', '.join(by)}: {why}"
        for reason in named:
            if not self._from(line, [other for other in named if other != reason], above):
                return f"follows without {reason}"
        return ""

    def _from(self, line: tensors.ParsedLine, by: Sequence[str], above: Sequence[Poly]) -> str:
        defined = {item.array.name: item.array for item in self.draft.definitions}
        known: list[tensors.ParsedLine] = []
        opened: set[Array] = set()
        for item in by:
            if item in defined:
                opened.add(defined[item])
            elif (lines := self._equations(item)) is not None:
                known += lines
            else:
                return f"there is no definition, hypothesis, earlier line or derivation {item!r}"
        folded = frozenset(defined.values()) - opened
        # That something is above 0 is a reason too.
        positive = {
            array.name
            for item in known
            if item.relation != "=="
            for array in term.arrays(item.sides[0])
            if array.name in self.positive
        }
        equations = [item for item in known if item.relation == "=="]
        prover = Prover(sorted(positive), self.random, folded, equations, self.slopes)
        prover.suppose(above)
        return prover.shown(line)

    def _equations(self, name: str) -> list[tensors.ParsedLine] | None:
        """The equations of an earlier line, of a hypothesis, or those that another derivation
        concludes."""
        for done in self.done:
            if name in (str(done.number), done.said.label) and done.read:
                return [done.read]
        if name in self.draft.hypotheses:
            return [self.draft.ground.hypotheses[self.draft.hypotheses.index(name)]]
        other = self.library(name)
        if other is None:
            return None
        lines = []
        for conclusion in other.concluded:
            # Its letters have to mean here what they mean there.
            with suppress(Malformed):
                lines.append(line_reading.line(conclusion, self.draft.scope))
        return lines

    def _hint(self, statement: Said) -> str:
        """What would make a line hold, if it can be read as a line at all."""
        with suppress(Malformed):
            return hint(
                statement.line,
                self.draft.scope,
                lambda line: self.trials.of(line).verdict == "held",
            )
        return ""

    def _line(self, number: int, statement: Said) -> JudgedLine:
        try:
            line = line_reading.line(statement.line, self.draft.scope)
        except Malformed as error:
            why = error.faults[0].message
            return JudgedLine(number, statement, "undecided", why=why, hint=self._hint(statement))
        trials = self.trials.of(line)
        where, above = conditions(line, self.prover.normal)
        if trials.verdict == "refuted":
            place, hint = trials.counterexample, self._hint(statement)
            return JudgedLine(number, statement, "refuted", line, tuple(where), place, hint=hint)
        unreasoned = "" if statement.by is None else self._unreasoned(line, statement.by, above)
        follows = (
            statement.by is not None and not unreasoned and all(map(self._stands, statement.by))
        )
        why = "" if follows else self._unproved(line, above)
        status: Status = "proved"
        if trials.verdict == "unclear":
            status, why = "undecided", why or trials.why
        elif why:
            status = "checked"
        elif unreasoned:
            status, why = "undecided", unreasoned
        return JudgedLine(
            number, statement, status, line, tuple(where), why=why, sizes=trials.sizes
        )
