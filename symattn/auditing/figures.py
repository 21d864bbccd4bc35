"""Figures and statements of a document, with their verdicts and causes.

Statements decided exactly.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
from flint import arb

from symattn.auditing.standard import Judgement, Term
from symattn.cases.claims import Claim
from symattn.cases.statements import Function, LoweredComparison, Sizes, lower_statement
from symattn.errors import Malformed, Undecided, short
from symattn.expressions import syntax
from symattn.languages.sentence import Sentence
from symattn.limits import STATEMENT, STATEMENT_ENTRIES, STATEMENT_ENTRY, STATEMENTS
from symattn.numbers import double_double
from symattn.numbers.balls import FIRST, Exhausted, remaining, task
from symattn.numbers.rationals import MINUS_INFINITY, PrintedNumber
from symattn.numbers.reading import Masked
from symattn.numbers.values import ONE, Value, rational
from symattn.programs import nodes
from symattn.programs.nodes import Node
from symattn.slips.catalogue import pen_slips
from symattn.solution.entries import EntryValue
from symattn.solution.quantity import Quantity
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict

if TYPE_CHECKING:
    from symattn.documents.text import Span

# A number that is a unit away from another is not cut off to it, though its
# enclosure may touch the next.
_SLACK = arb(2) ** -30

#: So many digits floats of 32 and of 64 bits have, and a few of their units are off.
_FLOATS = {32: (7, arb(2) ** -20), 64: (16, arb(2) ** -50)}

#: What is said of a root that no slip explains.
NO_CAUSE = Sentence("incorrect, no cause found")

T = TypeVar("T")
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
    """The reason why a figure is wrong.

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


@dataclass(eq=False, kw_only=True)
class Figure(Judgement):
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
    why: Cause | None = None
    line: int = 0
    printed_at: str = ""

    def __repr__(self) -> str:
        cause = f", {self.cause}" if self.cause else ""
        return f"<{self.label} = {self.text}: {self.verdict}{cause}>"

    @property
    def coarse(self) -> bool:
        """Return whether it holds as a bare whole number of a quantity that is not whole."""
        return self.detail == "coarse"

    @property
    def vacuous(self) -> bool:
        """Return whether it holds with so few digits that almost anything would."""
        return self.detail == "vacuous"

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
        """Return where an article prints it; None where the claim is of none."""
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
        stated = self.claim.stated
        tree = stated.said if stated else self.claim.tree
        return syntax.entry_text(self.claim.of, tree, self.at)

    @property
    def description(self) -> str:
        """The figure as reasons name it: ``A[0][2] = 0.31 (3.4)``, of an article by its line."""
        where = self.printed_at or self.claim.where
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

    @property
    def pen_slips(self) -> Iterator[Sentence]:
        """Ways to write it in place of the right number, in words."""
        if self.printed is None or self.off is None:
            return iter(())
        return pen_slips(self.printed, self.off, self.entry.ball(FIRST))

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

    def is_float(self, bits: Literal[32, 64]) -> bool:
        """Return whether the figure has as many digits as a float of so many bits, and is no more
        off."""
        digits, part = _FLOATS[bits]
        if self.printed is None or self.printed.digits < digits:
            return False
        return bool(abs(self.number - self.entry.ball(FIRST)) < part * abs(self.number))

    def rounds_from(self, value: arb) -> bool:
        """Return whether something in ``value`` rounds to the figure."""
        if self.printed is None or not value.is_finite():
            return self.printed is None and value == self.number
        return not abs(value - self.number) > self._half

    def cut_from(self, value: arb) -> bool:
        """Return whether something in ``value`` is cut off to the figure."""
        if self.printed is None or not value.is_finite():
            return False
        beyond = (value - self.number) * (1 if self.printed.value >= 0 else -1)
        slack = self._half * _SLACK
        return bool(beyond + slack > 0 and beyond + slack < 2 * self._half)


def reached(starts: Iterable[T], further: Callable[[T], Iterable[T]]) -> Iterator[T]:
    """Some things, what they lead further to, what that does, and so on, each once."""
    waiting, seen = [*starts], set[T]()
    while waiting:
        if (current := waiting.pop()) not in seen:
            seen.add(current)
            yield current
            waiting += further(current)


def behind(figure: Figure, cause: Callable[[Figure], Cause | None]) -> Iterator[Figure]:
    """A figure, those that its ``cause`` speaks of, those that theirs do, and so on."""
    return reached([figure], lambda one: known.because if (known := cause(one)) else ())


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


#: What relates the sign of a difference to 0.
_RELATIONS: Mapping[str, Callable[[float, float], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


class Decider:
    """Decides statements about a solution.

    >>> from symattn.solution.solution import solve
    >>> decider = Decider(solve("cat-sat-mat"))
    >>> decider.decide("Y[0, 0] == Y[1, 1] and max(A[2]) < 1/2")
    <Verdict.HOLDS: 'holds'>
    >>> decider.decide("argmax(A[0]) == 1")
    <Verdict.REFUTED: 'refuted'>
    """

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self._left = STATEMENTS.most

    def decide(self, statement: Claim | str) -> Verdict:
        """Return whether a statement holds, of a claim or as text; :class:`Malformed`
        if it can't be read, or has no answer at these numbers.

        A comparison of matrices is meant for every entry.
        """
        return self.judged(statement)[0]

    def judged(self, statement: Claim | str) -> tuple[Verdict, str]:
        """Like :meth:`decide`; with it why a statement stays open that takes more than is spent
        on one (:data:`~symattn.limits.STATEMENT`), else ''.

        >>> from symattn.solution.solution import solve
        >>> Decider(solve("rope")).judged("cos(S**3) == cos(S**2 * S)")
        (<Verdict.HOLDS: 'holds'>, '')
        """
        if isinstance(statement, str):
            tree = syntax.parse(statement)
            comparisons = lower_statement(self.solution.program, tree)
        else:
            comparisons = statement.comparisons
        operands = (operand for comparison in comparisons for operand in comparison.operands)
        entries = sum(prod(operand.grid) for operand in operands if isinstance(operand, Node))
        most = STATEMENT.most + STATEMENT_ENTRY * min(entries, STATEMENT_ENTRIES)
        self._left -= entries
        if self._left < 0:
            return Verdict.UNDECIDED, STATEMENTS.said()
        limit = STATEMENTS if self._left < most else replace(STATEMENT, most=most)
        with task(most := min(most, self._left)):
            verdict = Verdict.all([*map(self._comparison, comparisons)])
            left = remaining()
        self._left -= most - max(left, 0)
        return verdict, limit.said() if verdict is Verdict.UNDECIDED and left < 0 else ""

    def _comparison(self, comparison: LoweredComparison) -> Verdict:
        known: dict[int, Node] = {}
        try:
            for decided in comparison.decided:
                operand = self._quantity(decided.operand, known)
                known[decided.node.serial] = _value(decided.function, operand)
            # What is compared is one quantity, or the whole numbers of a list.
            lists = (x.lengths if isinstance(x, Sizes) else (x,) for x in comparison.operands)
            operands = [[self._quantity(node, known) for node in parts] for parts in lists]
        except (Undecided, Exhausted):
            # Which entry is the largest, or which sign one has, stays open.
            return Verdict.UNDECIDED
        sides = zip(operands, comparison.relations, operands[1:], strict=False)
        return Verdict.all([_relation(*side) for side in sides])

    def _quantity(self, node: Node, known: dict[int, Node]) -> Quantity:
        """The quantity of a node with what is ``known`` in place of some of its inputs."""
        return self.solution.quantity(nodes.replaced(node, known))


def _value(function: Function, operand: Quantity) -> Node:
    """Return what a function that only statements know gives, worked out exactly."""
    if function != "abs":
        return nodes.constant(_extreme(function, operand))
    entries = (tuple(map(_number, row)) for row in operand.rows)
    rows = tuple(tuple(map(abs, row)) for row in entries)
    return nodes.table(rows, operand.shape)


def _relation(left: list[Quantity], relation: str, right: list[Quantity]) -> Verdict:
    if len(left) != len(right):
        return Verdict.REFUTED
    sides = zip(left, right, strict=True)
    return Verdict.all([verdict for x, y in sides for verdict in _verdicts(x, relation, y)])


def _verdicts(x: Quantity, relation: str, y: Quantity) -> Iterator[Verdict]:
    """Yield how each entry compares: as pairs of floats show at once for all, or by its exact
    value."""
    signs = np.full((max(x.grid[0], y.grid[0]), max(x.grid[1], y.grid[1])), np.nan)
    with suppress(Exhausted), np.errstate(all="ignore"):
        left, right = x.source.pairs(), y.source.pairs()
        if left is not None and right is not None:
            found = double_double.sign(double_double.add(left, double_double.negative(right)))
            signs = np.where(found.error == 0, found.high, signs)
    for (i, j), sign in np.ndenumerate(signs):
        if np.isnan(sign):
            yield _compared(x, relation, y, i, j)
        else:
            yield _verdict(_RELATIONS[relation](sign, 0))


def _entry(quantity: Quantity, i: int, j: int) -> Value | Masked:
    rows, columns = quantity.grid
    return quantity.entry(i if rows > 1 else 0, j if columns > 1 else 0)


def _number(value: Value | Masked) -> Value:
    if isinstance(value, Masked):
        raise Malformed("a masked score (-inf) can't be compared")
    return value


def _extreme(kind: Function, quantity: Quantity) -> Value:
    """The largest or smallest entry, or the first place of the largest."""
    best: Value | None = None
    place = 0
    entries = [value for row in quantity.rows for value in row]
    for k, value in enumerate(entries):
        if isinstance(value, Masked) and kind != "min":
            continue
        number = _number(value)
        if best is None or (number - best).sign() * (-1 if kind == "min" else 1) > 0:
            best, place = number, k
    if best is None:
        raise Malformed("all entries are masked scores (-inf)")
    return ONE * rational(place) if kind == "argmax" else best


def _compared(x: Quantity, relation: str, y: Quantity, i: int, j: int) -> Verdict:
    try:
        return _ordered(_entry(x, i, j), relation, _entry(y, i, j))
    except Exhausted:
        # Another entry may refute the statement at no cost.
        return Verdict.UNDECIDED


def _ordered(left: Value | Masked, relation: str, right: Value | Masked) -> Verdict:
    if isinstance(left, Masked) or isinstance(right, Masked):
        sign = isinstance(right, Masked) - isinstance(left, Masked)
        return _verdict(_RELATIONS[relation](sign, 0))
    difference = left - right
    zero = difference.is_zero()
    if relation == "==" or zero is Verdict.UNDECIDED:
        return zero.negated if relation == "!=" else zero
    if zero is Verdict.HOLDS:
        return _verdict(relation in ("<=", ">="))
    try:
        # What has symbols may be zero for some of them.
        if relation == "!=":
            return _verdict(not difference.has_symbols or difference.sign() != 0)
        below = difference if relation in ("<", ">=") else -difference
        return _verdict(below.is_negative() == (relation in ("<", ">")))
    except Undecided:
        if difference.has_symbols:
            return Verdict.UNDECIDED
        raise


def _verdict(truth: bool) -> Verdict:
    return Verdict.HOLDS if truth else Verdict.REFUTED
