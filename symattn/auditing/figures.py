"""Figures and statements of a document, with their verdicts and causes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from flint import arb

from symattn import syntax
from symattn.auditing.standard import Judgement
from symattn.auditing.terms import Term
from symattn.cases.case import Claim
from symattn.documents.text import Span
from symattn.errors import short
from symattn.languages.sentence import Sentence
from symattn.numbers.printed import MINUS_INFINITY, PrintedNumber
from symattn.numbers.reading import Masked
from symattn.programs.nodes import Node
from symattn.solution.entries import EntryValue
from symattn.verdicts import Verdict

# A number that is a unit away from another is not cut off to it, though its
# enclosure may touch the next.
_SLACK = arb(2) ** -30

#: What is said of a root that no slip explains.
NO_CAUSE = Sentence("incorrect, no cause found")

CauseKind = Literal["truncated", "rounded-inputs", "carried", "root", "last-digit"]


@dataclass(frozen=True, eq=False)
class Slip:
    """One slip behind several wrong figures, weighed against chance in bits.

    ``phrase`` is the slip alone, ``sentence`` with what it explains.
    ``reproduces`` are the wrong figures that it gives, ``follows`` those that
    are propagated from these alone, ``breaks`` right ones that contradict it;
    ``coverage`` is the part that it explains of the wrong figures that it
    changes. ``rivals`` are slips that no figure tells from it.
    """

    kind: str
    sentence: str
    bits: float
    coverage: float
    reproduces: tuple[Figure, ...]
    follows: tuple[Figure, ...] = ()
    breaks: tuple[Figure, ...] = ()
    rivals: tuple[str, ...] = ()
    phrase: str = ""

    def __repr__(self) -> str:
        return f"<Slip {self.kind}: {short(self.phrase)!r}, {len(self.explains)} figures>"

    @property
    def explains(self) -> tuple[Figure, ...]:
        """The wrong figures that it gives, and those that follow, in order."""
        return tuple(sorted((*self.reproduces, *self.follows), key=lambda figure: figure.order))


@dataclass(frozen=True, eq=False)
class Cause:
    """Why a figure is wrong.

    ``because`` are the figures that a propagated one follows from, or that a figure
    with rounded inputs was computed from; ``slip`` is the one that explains it,
    ``candidates`` are others with their bits, none of them good enough to be
    named; ``reason`` says it in a sentence.
    """

    kind: CauseKind
    reason: str
    because: tuple[Figure, ...] = ()
    slip: Slip | None = None
    candidates: tuple[tuple[str, float], ...] = ()

    def __repr__(self) -> str:
        return f"<Cause {self.kind}: {short(self.reason)!r}>"


@dataclass(eq=False)
class Figure:
    """One printed number, judged.

    ``at`` is its index inside the printed row or matrix; ``term`` says what
    it is the value of, in terms of the steps; ``why`` is the cause of a
    refuted figure, once it is known; ``line`` is that of its file, 0: in none.
    """

    order: int
    claim: Claim
    at: tuple[int, ...]
    printed: PrintedNumber | None
    entry: EntryValue
    node: Node
    term: Term
    judgement: Judgement
    why: Cause | None = None
    line: int = 0

    def __repr__(self) -> str:
        cause = f", {self.cause}" if self.cause else ""
        return f"<{self.label} = {self.text}: {self.verdict}{cause}>"

    @property
    def verdict(self) -> Verdict:
        """Whether the figure holds at its printed places."""
        return self.judgement.verdict

    @property
    def correct(self) -> str:
        """The right figure as the printed one is; see :class:`Judgement`."""
        return self.judgement.correct

    @property
    def off(self) -> int | None:
        """How many units of its last place it is too large; None where that is no number."""
        return self.judgement.off

    @property
    def coarse(self) -> bool:
        """Whether it holds as a bare whole number of a quantity that is not whole."""
        return self.judgement.detail == "coarse"

    @property
    def vacuous(self) -> bool:
        """Whether it holds with so few digits that almost anything would."""
        return self.judgement.detail == "vacuous"

    @property
    def within_rounding(self) -> bool:
        """Whether it holds only if its operands were rounded to what is printed of them."""
        return self.judgement.within_rounding

    @property
    def cause(self) -> CauseKind | Literal[""]:
        """The kind of its cause; '' where the figure is not refuted."""
        return self.why.kind if self.why else ""

    @property
    def because(self) -> tuple[Figure, ...]:
        """The figures that the cause speaks of."""
        return self.why.because if self.why else ()

    @property
    def explained(self) -> Slip | None:
        """The slip that explains the figure, if there is one that can be named."""
        return self.why.slip if self.why else None

    @property
    def slip(self) -> str:
        """The kind of that slip, or ``arithmetic``; '' where there is none."""
        if self.claim.is_arithmetic and self.cause == "root":
            return "arithmetic"
        return self.explained.kind if self.explained else ""

    @property
    def reason(self) -> str:
        """The cause in a sentence."""
        return self.why.reason if self.why else ""

    @property
    def candidates(self) -> tuple[tuple[str, float], ...]:
        """Slips that would give the figure, with their bits: none good enough to be named."""
        return self.why.candidates if self.why else ()

    @property
    def span(self) -> Span | None:
        """Where an article prints it; None where the claim is of none."""
        spans = self.claim.spans
        return spans[self.entry.i][self.entry.j] if spans else self.claim.span

    @property
    def place(self) -> tuple[str, int, int]:
        """The quantity and the entry that the figure belongs to; for an
        expression its text and the entry of its value."""
        if self.term.op == "entry":
            name, i, j = self.term.parts
            return name, i, j
        return self.claim.of, self.entry.i, self.entry.j

    @cached_property
    def label(self) -> str:
        """``A[0][2]``: the expression and the index inside what is printed."""
        return syntax.entry_text(self.claim.of, self.claim.tree, self.at)

    @property
    def description(self) -> str:
        """The figure as reasons name it: ``A[0][2] = 0.31 (3.4)``, of an article by its line."""
        where = self.claim.where
        if self.claim.span:
            where = Sentence("line {line}", line=self.line)
        return Sentence("{figure} ({where})", figure=f"{self.label} = {self.text}", where=where)

    @property
    def text(self) -> str:
        """The figure as printed."""
        return MINUS_INFINITY if self.printed is None else self.printed.text

    @property
    def exact(self) -> str:
        """The closed form; '' where there is no short one."""
        value = self.entry.quantity.entry(self.entry.i, self.entry.j)
        return str(value) if isinstance(value, Masked) or value.is_closed else ""

    # -- as a number to compute on with -------------------------------------------

    @cached_property
    def number(self) -> arb:
        """The printed number itself."""
        return arb("-inf") if self.printed is None else arb(self.printed.value)

    @property
    def rounded(self) -> arb:
        """All that may have been rounded to the printed number."""
        return self.number if self.printed is None else arb(self.number.mid(), self._half)

    @cached_property
    def _half(self) -> arb:
        assert self.printed is not None
        return arb(self.printed.unit / 2)

    def rounds_from(self, value: arb) -> bool:
        """Whether something in ``value`` rounds to the figure."""
        if self.printed is None or not value.is_finite():
            return self.printed is None and value == self.number
        return not abs(value - self.number) > self._half

    def cut_from(self, value: arb) -> bool:
        """Whether something in ``value`` is cut off to the figure."""
        if self.printed is None or not value.is_finite():
            return False
        beyond = (value - self.number) * (1 if self.printed.value >= 0 else -1)
        slack = self._half * _SLACK
        return bool(beyond + slack > 0 and beyond + slack < 2 * self._half)


def behind(figure: Figure, cause: Callable[[Figure], Cause | None]) -> Iterator[Figure]:
    """A figure, those that its ``cause`` speaks of, those that theirs do, and so on."""
    waiting, seen = [figure], set()
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            yield current
            known = cause(current)
            waiting += known.because if known else ()


@dataclass(frozen=True)
class Statement:
    """One statement, decided; ``within_rounding`` where it holds only if the numbers that
    it is about were rounded to what is printed of them; ``doubt`` says why it stays open
    where deciding it was given up."""

    claim: Claim
    verdict: Verdict
    within_rounding: bool = False
    doubt: str = ""

    @property
    def because(self) -> str:
        """The doubt behind a statement, in brackets."""
        return f" ({self.doubt})" if self.doubt else ""

    def __repr__(self) -> str:
        return f"<Statement {short(self.claim.text)!r}: {self.verdict}>"
