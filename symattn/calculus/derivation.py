"""A derivation judged: what follows, what is refuted and by which numbers, what stays open.

A line is *proved* when two witnesses that share no code agree: its sides have
the same normal form for all sizes (:mod:`symattn.calculus.proving`), and balls
at random sizes and points found no place where they differ
(:mod:`symattn.calculus.refuting`). What only the second supports is *checked*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from textwrap import wrap
from typing import Any, Literal

from symattn.calculus import tensors
from symattn.calculus.draft import DerivationDraft, Said
from symattn.calculus.printing import prose, text
from symattn.calculus.prover import Proof, Prover
from symattn.calculus.refuting import Counterexample
from symattn.errors import Fault, Malformed

Status = Literal["proved", "checked", "refuted", "undecided"]
_STATUSES: tuple[Status, ...] = ("proved", "checked", "refuted", "undecided")
"""What can be said of a line, the best first."""


@dataclass(frozen=True)
class Evidence:
    """How a line was proved: what its prover learned before, the proof, and whether by what the
    line names as its reasons."""

    prover: Prover
    proof: Proof
    is_by: bool
    conclusions: Mapping[str, tuple[tensors.ParsedLine, ...]]

    def but(self, why: str) -> Evidence:
        """The same, were it not for a reason."""
        return replace(self, proof=replace(self.proof, why=why))


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
    evidence: Evidence | None = field(default=None, repr=False, compare=False)
    """How it was proved."""

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
        from symattn.calculus.sympy_lines import equation

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
        return f"{count} line{'s' if count != 1 else ''}: {', '.join(counts)}"

    def to_text(self) -> str:
        """The derivation in Unicode, one line per step with its reason."""
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
            "lines": [line.to_dict() for line in self.lines],
        }


def _in_unicode(line: str, shapes: Mapping[str, int]) -> str:
    """A line in Unicode, as it is written where it can't be read."""
    try:
        return text(line, shapes)
    except Malformed:
        return line


def _wrapped(words: str, shapes: Mapping[str, int]) -> list[str]:
    """Prose in lines that fit a terminal."""
    return wrap(prose(words, shapes), 78, initial_indent="  ", subsequent_indent="  ")
