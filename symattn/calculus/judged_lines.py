"""The verdict on one line of a derivation, or of each member of a chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile
from textwrap import wrap
from typing import Any, Literal

from symattn.calculus import tensors
from symattn.calculus.counterexamples import Counterexample
from symattn.calculus.draft import Said
from symattn.calculus.printing import prose, text
from symattn.calculus.prover import Proof, Prover
from symattn.calculus.writing import SideCondition
from symattn.errors import Malformed
from symattn.expressions import syntax
from symattn.expressions.syntax import Written

Status = Literal["proved", "checked", "refuted", "undecided"]
STATUSES: tuple[Status, ...] = ("proved", "checked", "refuted", "undecided")
"""What can be said of a line, the best first."""
HOLDS = ("proved", "checked")


@dataclass(frozen=True)
class JudgedMember:
    """A member of a chain ``a == b == c``, as it stands to the first and to the one before."""

    text: str
    status: Status
    """Of its equality with the first."""
    before: Status
    """Of its equality with the one before."""
    counterexample: Counterexample | None = None
    hint: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The member as plain data."""
        place = self.counterexample.to_dict() if self.counterexample else None
        return {
            "member": self.text,
            "status": self.status,
            "before": self.before,
            "counterexample": place,
            "hint": self.hint,
        }


@dataclass(frozen=True)
class Evidence:
    """The evidence for a line: what its prover learned before, the proof, whether by what the line
    names as its reasons, and what other derivations conclude that are named so."""

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
    where: tuple[SideCondition, ...] = ()
    counterexample: Counterexample | None = None
    why: str = ""
    sizes: tuple[Mapping[str, int], ...] = ()
    hint: str = ""
    """What would make it hold, where one of the usual mistakes was made."""
    members: tuple[JudgedMember, ...] = ()
    """Of a chain ``a == b == c`` those from the second on."""
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
        """Return whether both witnesses agree that it holds for all sizes."""
        return self.status == "proved"

    @property
    def against(self) -> tuple[str, ...]:
        """Return what speaks against a refuted line: its counterexample, and its hint."""
        place = str(self.counterexample) if self.counterexample else ""
        return tuple(filter(None, (place, self.hint)))

    def told(self, shapes: Mapping[str, int]) -> list[str]:
        """The line in Unicode, with its reason, and what is to be said of it."""
        flag = "" if self.proved else f"  {self.status.upper()}"
        flag += f" (line {self.said.at})" if flag and self.said.at else ""
        lines = [f"  {self.number:>3}. {in_unicode(self.said.line, shapes)}{flag}"]
        where = f"where {', '.join(self.where)}" if self.where else ""
        notes = [prose(self.said.because, shapes), where, str(self.counterexample or "")]
        if self.status == "checked":
            cases = [
                ", ".join(f"{n} = {k}" for n, k in sizes.items()) for sizes in self.sizes if sizes
            ]
            at = f"holds at {'; '.join(cases)}" if cases else "holds at all values tried"
            notes += [f"{at}; not shown for all: {self.why}"]
        elif not self.proved:
            notes += [self.why]
        for note in filter(None, (*notes, self.hint)):
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
            "members": [member.to_dict() for member in self.members],
        }


def sides_of(line: str) -> list[Written]:
    """The members of a chain of equalities as they are written.

    >>> sides_of("a == 2*b == c")
    ['a', '2 * b', 'c']
    """
    with suppress(Malformed):
        tree = syntax.written(line).tree
        if isinstance(tree, syntax.Comparison):
            return [*map(Written.of, tree.operands)]
    return []


def in_unicode(line: str, shapes: Mapping[str, int]) -> str:
    """A line in Unicode, as it is written where it can't be read."""
    try:
        return text(line, shapes)
    except Malformed:
        return line


# -- chains ------------------------------------------------------------------------------
# ``a == b == c``: each member is judged against the first and against the one before.


@dataclass(frozen=True)
class ChainJudge:
    """Judges the members of chains, given what judges a line as a whole, and hints."""

    verdict: Callable[[int, Said], JudgedLine]
    hint: Callable[[str], str]

    def continued(self, number: int, statement: Said, done: Sequence[JudgedLine]) -> JudgedLine:
        """A line that goes on with a chain is judged against its first member as well, unless
        all before are equal to that: what is said of it then is what it is to the first."""
        line = self.verdict(number, statement)
        before, *rest = sides_of(statement.line) or [Written()]
        earlier = takewhile(lambda each: each.said.first, reversed(done))
        follows = all(each.proved for each in earlier) and (not done or done[-1].proved)
        if not statement.first or (follows and line.proved):
            return line
        text = syntax.equated(statement.first, *rest)
        whole = self.verdict(number, replace(statement, line=text))
        if whole.status == line.status == "proved":
            return line
        also = f"it is {'' if line.status in HOLDS else 'not '}the {before} before"
        return replace(whole, why="; ".join(filter(None, (whole.why, also))))

    def chained(self, line: JudgedLine) -> JudgedLine:
        """A chain with each member judged, against the first and against the one before."""
        texts = sides_of(line.text)
        if line.read is None or len(texts) < 3:
            return line
        first, *others = texts
        if line.proved:
            members = tuple(JudgedMember(text, "proved", "proved") for text in others)
            return replace(line, members=members)
        firsts = [self.verdict(line.number, Said(syntax.equated(first, text))) for text in others]
        befores = [
            firsts[0],
            *(self.verdict(line.number, Said(syntax.equated(*pair))) for pair in pairwise(others)),
        ]
        wrong = [judged for judged in firsts if judged.status == "refuted"]
        alone = len(wrong) == len(firsts) and all(x.status in HOLDS for x in befores[1:])
        # Where the others agree it is the first that is wrong.
        hints = [
            self.hint(judged.text if not alone else syntax.equated(*sides_of(judged.text)[::-1]))
            if judged.status == "refuted" and not (alone and place)
            else ""
            for place, judged in enumerate(firsts)
        ]
        members = tuple(
            JudgedMember(text, x.status, y.status, x.counterexample, words)
            for text, x, y, words in zip(others, firsts, befores, hints, strict=True)
        )
        if not wrong:
            return replace(line, members=members)
        right = [member.text for member in members if member.status in HOLDS]
        names = [member.text for member in members if member.status == "refuted"]
        why = f"of the members {_are(names)} not {first}"
        why += f", but {_are(right)}" if right else ""
        if alone:
            why = f"of the members the first, {first}, is not what the others are, which are equal"
        place = wrong[0].counterexample
        words = next(filter(None, hints), "")
        return replace(
            line, status="refuted", members=members, counterexample=place, why=why, hint=words
        )


def _are(texts: Sequence[str]) -> str:
    """Members listed, with their verb."""
    return f"{' and '.join(texts)} {'is' if len(texts) == 1 else 'are'}"
