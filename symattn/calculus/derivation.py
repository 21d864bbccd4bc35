"""A derivation judged: what follows, what is refuted and by which numbers, what stays open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from textwrap import wrap
from typing import Any

from symattn.calculus.draft import DerivationDraft
from symattn.calculus.judged_lines import STATUSES, JudgedLine, in_unicode
from symattn.calculus.printing import prose, text, typeset
from symattn.errors import Fault, Malformed
from symattn.expressions import typesetting as t


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
    unused: tuple[tuple[int, str], ...] = ()
    """The definitions of a text that no claim speaks of, each with its line."""

    def __repr__(self) -> str:
        proved = f"{self.counts['proved']} of {len(self.lines)} lines proved"
        return f"<Derivation {self.name[:60]!r}: {proved}>"

    @property
    def proved(self) -> bool:
        """Tell whether every line is proved, and all that is defined used in one."""
        told = bool(self.faults) or bool(self.unused) or not self.lines
        return not told and all(line.proved for line in self.lines)

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
        """Return how many lines have each status."""
        return Counter(line.status for line in self.lines)

    @property
    def along(self) -> tuple[str, ...]:
        """Of vectors that meet matrices, along which axis each was read."""
        along = [item.array.along for item in self.draft.definitions]
        along += [line.along for line in self.draft.ground.hypotheses]
        along += [line.read.along for line in self.lines if line.read is not None]
        return tuple(dict.fromkeys(chain.from_iterable(along)))

    def summary(self) -> str:
        """Return how many lines are proved, and how many are not."""
        counts = [f"{self.counts[status]} {status}" for status in STATUSES if self.counts[status]]
        count = len(self.lines)
        counts += [f"{len(self.unused)} defined without a claim"] if self.unused else []
        judged = f"{count} line{'s' if count != 1 else ''}: {', '.join(counts)}"
        if self.words is None:
            return judged
        count = len({at for at, _ in self.words})
        return f"{judged}; {count} line{'s' if count != 1 else ''} of words, not judged"

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
        lines += [f"  {text(item.line, shapes)}" for item in draft.definitions]
        for item in self.along:
            lines += _wrapped(f"read with {item}", shapes)
        for part in self.parts:
            lines += ["", prose(part, shapes) or "Lines"]
            for line in (item for item in self.lines if item.said.part == part):
                lines += line.told(shapes)
        if self.unused:
            lines += ["", "Not judged: defined, and nothing is claimed of it"]
            lines += [f"  {prose(f'`{name}`', shapes)} (line {at})" for at, name in self.unused]
        if with_words:
            lines += ["", "Words", *(f"  line {at}: {words}" for at, words in self.words or ())]
        lines += ["", f"Checked: {self.summary()}"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from symattn.printers import markdown

        shapes = self.draft.shapes
        rows = [
            (
                str(x.number),
                in_unicode(x.text, shapes),
                x.status,
                ". ".join(filter(None, (prose(x.said.because, shapes), *x.against))),
            )
            for x in self.lines
        ]
        header = ("", "line", "status", "because")
        faults = "; ".join(map(str, self.faults))
        title = prose(self.draft.title, shapes) or self.name
        return markdown.summary(title, self.summary(), header, rows, faults)

    def _repr_latex_(self) -> str | None:
        rows = []
        for line in self.lines:
            formula = _latex(line.text, self.draft.shapes)
            rows.append(rf"{line.number}.\quad & {formula} && \text{{{line.status}}}")
            notes = chain.from_iterable(wrap(note, 78) for note in line.against)
            rows += [rf"& {t.latex(t.row(t.Text(note)))}" for note in notes]
        body = " \\\\\n".join(rows)
        return f"\\begin{{align*}}\n{body}\n\\end{{align*}}" if rows else None

    def to_dict(self) -> dict[str, Any]:
        """The derivation as plain data."""
        return {
            "name": self.name,
            "title": self.draft.title,
            "statement": self.draft.statement,
            "source": self.draft.source,
            "hypotheses": list(self.draft.hypotheses),
            "along": list(self.along),
            "conclusions": [conclusion.text for conclusion in self.conclusions],
            "proved": self.proved,
            "faults": [str(fault) for fault in self.faults],
            "words": [{"at": at, "text": text} for at, text in self.words or ()],
            "unused": [{"at": at, "name": name} for at, name in self.unused],
            "lines": [line.to_dict() for line in self.lines],
        }


def _wrapped(words: str, shapes: Mapping[str, int]) -> list[str]:
    """Prose in lines that fit a terminal."""
    return wrap(prose(words, shapes), 78, initial_indent="  ", subsequent_indent="  ")


def _latex(line: str, shapes: Mapping[str, int]) -> str:
    """A line as it is set, as it is written where it can't be read."""
    try:
        return t.latex(typeset(line, shapes))
    except Malformed:
        return t.latex(t.row(t.Text(line)))
