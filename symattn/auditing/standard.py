"""The standard that a printed figure is judged by: what it must be to hold.

Recipes: what every entry of a program is computed as, as a scalar term.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import chain
from math import inf, isfinite
from typing import Any, Literal

from flint import arb, fmpq

from symattn.cases.case import Rows
from symattn.errors import Undecided
from symattn.expressions.elementary import Elementwise
from symattn.limits import PLACES
from symattn.numbers import rounding
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.rationals import HIDDEN, MINUS_INFINITY, PrintedNumber
from symattn.numbers.reading import MASKED as MASKED_ENTRY
from symattn.numbers.reading import Masked
from symattn.numbers.rounding import RoundingMode
from symattn.numbers.values import Value, compare
from symattn.programs import nodes
from symattn.programs.entrywise import Entrywise, LazyGrid
from symattn.programs.nodes import Node, Run
from symattn.solution.entries import EntryValue
from symattn.solution.quantity import Quantity
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict

#: Terms without terms in them.
LEAVES = ("entry", "number", "constant")


@dataclass(frozen=True, eq=False)
class Term:
    """A scalar expression: an operation on terms, or a leaf.

    Operations are ``+ * / neg`` and the functions taken of entries; leaves are
    ``entry`` (quantity, i, j), ``number`` (a float) and ``constant`` (a number that no float
    is, exactly). Sums and products are flat; terms that are
    equal up to their order have equal keys. Leaves are made once each, zero
    and one too, and compared by identity.
    """

    op: str
    parts: tuple[Any, ...]

    @cached_property
    def key(self) -> str:
        """The normal form as text."""
        if self.op in LEAVES:
            return f"{self.op}{self.parts}"
        keys = [part.key for part in self.parts]
        if self.op in "+*":
            keys.sort()
        return f"{self.op}({', '.join(keys)})"

    def inside(self) -> Iterator[Term]:
        """This term and all its parts."""
        yield self
        if self.op not in LEAVES:
            for part in self.parts:
                yield from part.inside()


ZERO, ONE = Term("number", (0.0,)), Term("number", (1.0,))
MASKED = Term("number", (-inf,))


def term_number(value: float) -> Term:
    """A number as a term."""
    for known in (ZERO, ONE, MASKED):
        if known.parts[0] == value:
            return known
    return Term("number", (value,))


def add(terms: list[Term]) -> Term:
    """A flat sum without zeros."""
    return _flat("+", terms, ZERO)


def _flat(op: str, terms: Iterable[Term], neutral: Term) -> Term:
    flat: list[Term] = []
    for term in terms:
        flat += term.parts if term.op == op else [term] if term is not neutral else []
    return Term(op, tuple(flat)) if len(flat) > 1 else flat[0] if flat else neutral


class TermScalars:
    """Terms as the scalars of :class:`~symattn.programs.entrywise.Entrywise`."""

    def constant(self, value: Value) -> Term:
        """A number of the program."""
        near = float(value.ball(FIRST))
        known = value.number is not None and isfinite(near)
        is_exact = known and value.number == fmpq(*near.as_integer_ratio())
        return term_number(near) if is_exact else Term("constant", (value,))

    def total(self, items: Iterable[Term]) -> Term:
        """A sum; of a term and its own negative 0."""
        match list(items):
            case [term, Term("neg", (other,))] if term.key == other.key:
                return ZERO
            case terms:
                return add(terms)

    def sum_of_products(self, pairs: Iterable[tuple[Term, Term]]) -> Term:
        """A flat sum of products; one by 0 is 0, by 1 the other factor."""
        return add([ZERO if ZERO in pair else _flat("*", pair, ONE) for pair in pairs])

    def negative(self, x: Term) -> Term:
        """``-x``."""
        if x.op == "number":
            return term_number(-x.parts[0] + 0.0)
        return x.parts[0] if x.op == "neg" else Term("neg", (x,))

    def divisor(self, y: Term) -> Term:
        """Nothing is to be made ready."""
        return y

    def quotient(self, x: Term, divisor: Term) -> Term:
        """``x / divisor``."""
        return x if divisor is ONE or x is ZERO else Term("/", (x, divisor))

    def function(self, name: Elementwise, x: Term) -> Term:
        """``exp(x)`` and the like."""
        return Term(name, (x,))

    def largest(self, items: Sequence[Term], *, to_first: bool) -> Term:
        """The largest."""
        first, *rest = items
        return reduce(lambda x, y: Term("maximum", (x, y)), rest, first)

    def above(self, x: Term, y: Term) -> Term:
        """1 where x is the larger, else 0."""
        return Term("above", (x, y))

    def is_positive(self, x: Term) -> bool:
        """The exact run has seen to that."""
        return True


#: Why a figure that holds says less than it seems to, '' where it doesn't: a
#: coarse one is a bare whole number, taken for exact, of a value that is not
#: whole; a vacuous one has so few digits, or operands of so few, that almost
#: anything would hold.
Detail = Literal["", "coarse", "vacuous"]


@dataclass(eq=False)
class Judgement:
    """The judgement on one printed figure.

    ``correct`` is the right figure in the places and the style of the printed
    one; of a coarse figure in the places of those beside it, at least one; of one
    within rounding, what its operands come to as they are printed.
    ``off`` is how many units of its last place a figure is too large (None
    where it is no number). One that is ``within_rounding`` is not what its operands
    come to as they are printed, but what they may have come to before they were
    rounded to that. One that holds ``as_printed`` is what the document's own equation
    gives, though ``correct`` is something else.
    """

    verdict: Verdict
    correct: str
    off: int | None = None
    detail: Detail = ""
    within_rounding: bool = False
    as_printed: bool = False


@dataclass(frozen=True)
class Standard:
    """The promise of a document about its figures: a rounding, or a tolerance."""

    mode: RoundingMode = "half-even"
    tolerance: fmpq | None = None

    def judge(
        self,
        entry: EntryValue,
        printed: PrintedNumber | None,
        places: int = 0,
        reach: Callable[[], arb | None] = lambda: None,
    ) -> Judgement:
        """The verdict of a figure, and what is correct at its places; None is
        printed for a masked score. The finest figure beside it has ``places``.

        ``reach`` gives all that a figure of mere numbers may be, as these may have
        been rounded; None where it is what they come to.
        """
        masked = entry.is_masked
        if masked or printed is None:
            same = printed is None and (masked or entry.ball(FIRST) < HIDDEN)
            correct = MINUS_INFINITY if masked or same else str(entry.value)
            return Judgement(Verdict.HOLDS if same else Verdict.REFUTED, correct)
        verdict = self.verdict(entry, printed)
        try:
            count = correct_count(entry, printed, self.mode)
        except Undecided:
            return Judgement(verdict, "")
        off = printed.count - count
        detail = self._detail(entry.value, printed) if verdict is Verdict.HOLDS else ""
        if verdict is not Verdict.HOLDS or detail == "coarse":
            near = reach()
            if near is not None and self._may_be(near, printed, is_exact=detail == "coarse"):
                little = not detail and printed.digits <= 1
                detail = "vacuous" if little or _is_wide(near, printed) else ""
                text = printed.shown_as(count) if off else self._finer(entry, max(places, 1))
                return Judgement(Verdict.HOLDS, text, off, detail, within_rounding=True)
        if detail == "coarse":
            return Judgement(verdict, self._finer(entry, max(places, 1)), off, detail)
        # Of an exact tie either neighbour is right.
        kept = verdict is Verdict.HOLDS and self.tolerance is None
        correct = printed.text if kept else printed.shown_as(count)
        return Judgement(verdict, correct, off, detail)

    def _detail(self, value: Value, printed: PrintedNumber) -> Detail:
        # Who knows of a tolerance takes no figure for exact.
        if self.tolerance is None and is_coarse(value, printed):
            return "coarse"
        return "vacuous" if is_vacuous(value, printed) else ""

    def _finer(self, entry: EntryValue, places: int) -> str:
        """The right figure with so many places, '' where that is undecided."""
        try:
            return f"{rounding.decimal(entry, places, self.mode):f}"
        except Undecided:
            return ""

    def _may_be(self, near: arb, printed: PrintedNumber, is_exact: bool) -> bool:
        """Return whether something in ``near`` would be printed so; ``is_exact``: is that
        itself."""
        if not near.is_finite():
            return True
        part = 2 if self.mode.startswith("half") else 1
        room = printed.unit / part if self.tolerance is None else self.tolerance
        with precision(FIRST):
            return not abs(near - arb(printed.value)) > (0 if is_exact else arb(room))

    def verdict(self, real: rounding.Real, printed: PrintedNumber) -> Verdict:
        """Return whether a figure holds.

        It does when the exact value rounds to it at its printed places; on an
        exact tie either neighbour holds. A declared directed rounding must
        give the figure itself; a declared tolerance is the largest distance.
        """
        try:
            if self.tolerance is not None:
                return _within(real, printed.value, self.tolerance)
            if self.mode.startswith("half"):
                return _within(real, printed.value, printed.unit / 2)
            same = correct_count(real, printed, self.mode) == printed.count
            return Verdict.HOLDS if same else Verdict.REFUTED
        except Undecided:
            return Verdict.UNDECIDED


def _within(real: rounding.Real, centre: fmpq, distance: fmpq) -> Verdict:
    """Return whether ``|real - centre| <= distance``, decided exactly at the ends;
    :class:`Undecided` where they can't be told from the number."""
    for bits in (FIRST, 4 * FIRST):
        with precision(bits):
            gap = abs(real.ball(bits) - arb(centre)) - arb(distance)
        if gap < 0:
            return Verdict.HOLDS
        if gap > 0:
            return Verdict.REFUTED
    low, high = ((real.value - end).sign() for end in (centre - distance, centre + distance))
    return Verdict.HOLDS if low >= 0 >= high else Verdict.REFUTED


def correct_count(real: rounding.Real, printed: PrintedNumber, mode: RoundingMode) -> int:
    """The exact value in units of the figure's last place, correctly rounded."""
    return rounding.to_integer(real, 1 / printed.unit, mode)


def places_of(figures: Iterable[PrintedNumber | None]) -> int:
    """Return how many decimal places the finest of printed figures has.

    >>> from symattn.numbers.rationals import read_printed
    >>> places_of(map(read_printed, ["3", "0.25", "12.5 %", "-inf"]))
    3
    """
    units = [figure.unit for figure in figures if figure is not None]
    return min(max((len(str(unit.q)) - 1 for unit in units), default=0), PLACES.most)


def is_truncated(real: rounding.Real, printed: PrintedNumber) -> bool:
    """Return whether the figure is known to be the exact value cut off behind its last place."""
    try:
        return correct_count(real, printed, "down") == printed.count
    except Undecided:
        return False


def is_coarse(value: Value, printed: PrintedNumber) -> bool:
    """Return whether a bare whole number is printed of a value that certainly is not that."""
    return printed.is_bare and (value - printed.value).is_zero() is Verdict.REFUTED


def _is_wide(near: arb, printed: PrintedNumber) -> bool:
    """Return whether a ball leaves not even the first digit of a figure certain."""
    if not near.is_finite():
        return True
    first = printed.unit * fmpq(10) ** (printed.digits - 1)
    with precision(FIRST):
        return not 2 * near.rad() < arb(first)


def is_vacuous(value: Value, printed: PrintedNumber) -> bool:
    """Return whether so few digits are printed that almost anything would pass:
    one or none, of a value that is not exactly what is printed."""
    return printed.digits <= 1 and (value - printed.value).is_zero() is not Verdict.HOLDS


#: Quantities with more entries are not looked through for equal ones.
_MAX_COMPARED = 400


class Recipes:
    """The terms of a program's nodes.

    Plain terms go down to the entries of the quantities that the steps name.
    Folded ones say alike what a document may print for either: a quantity
    that equals an earlier one is that one, the halves of a symmetric one are
    one, given zeros and ones and masked scores are numbers, and what vanishes
    is left out.
    """

    def __init__(self, solution: Solution, folded: bool = False) -> None:
        self.solution = solution
        self._is_folded = folded
        program = solution.program
        self.nodes = program.named
        self.names: dict[int, str] = {}
        for name, node in self.nodes.items():
            self.names.setdefault(node.serial, name)
        #: Scores that the document subtracts somewhere, as keys.
        self.subtracted: set[str] = set()
        self._same: dict[str, str] = {}
        self._symmetric: set[str] = set()
        if folded:
            self._compare_quantities()
        self._run = Run(Entrywise(TermScalars(), solution.keeps), self._leaf)
        self._worked: dict[int, LazyGrid[Term]] = {}
        self._entries: dict[tuple[str, int, int], Term] = {}
        self._definitions: dict[tuple[str, int, int], tuple[Term, ...]] = {}
        self._exact: dict[tuple[int, int, int], arb] = {}

    def _compare_quantities(self) -> None:
        """Note quantities that equal an earlier one exactly, as with an identity for W_V a
        document writes X where a step says V; and those that are symmetric."""
        seen: list[tuple[str, Quantity]] = []
        for name in (*self.solution.program.given, *self.solution.program.steps):
            quantity = self.solution[name]
            if not quantity.shape or quantity.grid[0] * quantity.grid[1] > _MAX_COMPARED:
                continue
            for other, earlier in seen:
                if earlier.equals(quantity) is Verdict.HOLDS:
                    self._same[name] = other
                    break
            else:
                seen.append((name, quantity))
                turned = self.solution.quantity(nodes.transpose(self.nodes[name]))
                if len(quantity.shape) == 2 and turned.equals(quantity) is Verdict.HOLDS:
                    self._symmetric.add(name)

    def multiples(self, name: str, expressions: Iterable[Node]) -> Iterator[tuple[float, Node]]:
        """Printed expressions that a quantity is an exact rational multiple of:
        ``Q K^T = 0.25 X X^T``."""
        own = self.solution[name]
        if len(own.shape) != 2 or own.grid[0] * own.grid[1] > _MAX_COMPARED:
            return
        for expression in expressions:
            other = self.solution.quantity(expression)
            if other.shape == own.shape and (ratio := _ratio(own.rows, other.rows)) is not None:
                yield ratio, expression

    # -- exact values -----------------------------------------------------------------

    def exact(self, node: Node, i: int, j: int) -> arb:
        """The exact value of an entry, closely enclosed: minus infinity for a
        masked score, not a number for a form in symbols."""
        place = (node.serial, i, j)
        if place not in self._exact:
            quantity = self.solution.quantity(node)
            if quantity.is_masked(i, j):
                self._exact[place] = arb("-inf")
            elif quantity.symbols:
                self._exact[place] = arb("nan")
            else:
                self._exact[place] = EntryValue(quantity, i, j).ball(FIRST)
        return self._exact[place]

    def entries(self, node: Node) -> Iterator[Value | Masked]:
        """The exact entries, row by row, each worked out when it is asked for."""
        rows, columns = node.grid
        quantity = self.solution.quantity(node)
        return (quantity.entry(i, j) for i in range(rows) for j in range(columns))

    # -- terms --------------------------------------------------------------------------

    def at(self, node: Node, i: int, j: int) -> Term:
        """The term of an entry, down to the entries of named quantities."""
        term = self._run[node].at(i, j)
        return MASKED if isinstance(term, Masked) else term

    def definitions(self, name: str, i: int, j: int) -> tuple[Term, ...]:
        """Return what an entry of a step is computed as; for weights also with a
        score subtracted that the document subtracts."""
        place = (name, i, j)
        if place not in self._definitions:
            node = self.nodes[name]
            is_input = node.op in ("given", "table", "constant")
            terms = [] if is_input else [self._made(node, i, j)]
            if node.op == "softmax":
                terms += self._shifted(node, i, j)
            self._definitions[place] = tuple(terms)
        return self._definitions[place]

    def _shifted(self, node: Node, i: int, j: int) -> Iterator[Term]:
        scalars = TermScalars()
        scores = [self.at(node.operands[0], i, k) for k in range(node.grid[1])]
        for shift in dict.fromkeys(scores):
            if shift.key in self.subtracted:
                less = scalars.negative(shift)
                powers = [_power(ZERO if s is shift else add([s, less])) for s in scores]
                yield scalars.quotient(powers[j], add(powers))

    def _made(self, node: Node, i: int, j: int) -> Term:
        """Return what a node's operation makes of its operands' entries."""
        if node.serial not in self._worked:
            self._worked[node.serial] = self._run.work(node)
        term = self._worked[node.serial].at(i, j)
        return MASKED if isinstance(term, Masked) else term

    def _leaf(self, node: Node) -> LazyGrid[Term] | None:
        """The entries of a named quantity; a number that is named is a number."""
        if node.serial not in self.names or node.op == "constant":
            return None
        name = self.names[node.serial]
        name = self._same.get(name, name)
        return LazyGrid(*node.grid, partial(self._named, name))

    def _named(self, name: str, i: int, j: int) -> Term | Masked:
        node = self.nodes[name]
        if self._is_folded and node.op in ("given", "hide"):
            known = term_number(float(self.exact(node, i, j)))
            if known is MASKED:
                return MASKED_ENTRY
            if node.op == "given" and known in (ZERO, ONE):
                return known
        if name in self._symmetric:
            # What is printed below the diagonal is what is printed above it.
            i, j = min(i, j), max(i, j)
        return self.entry(name, i, j)

    def entry(self, name: str, i: int, j: int) -> Term:
        """An entry of a named quantity, as a leaf."""
        place = (name, i, j)
        return self._entries.setdefault(place, Term("entry", place))


def _power(term: Term) -> Term:
    """``exp(term)``; of a masked score 0."""
    is_masked = any(part is MASKED for part in (term, *term.parts))
    return ZERO if is_masked else Term("exp", (term,))


def _ratio(left: Rows, right: Rows) -> float | None:
    """The rational c with ``left = c * right``, if there is one."""
    ratio: Value | None = None
    for a, b in zip(chain(*left), chain(*right), strict=True):
        if isinstance(a, Masked) or isinstance(b, Masked):
            return None
        is_zero = b.is_zero() is Verdict.HOLDS
        if ratio is None and not is_zero:
            ratio = a / b
            if ratio.rational() is None:
                return None
        same = a.is_zero() if is_zero or ratio is None else compare(a, ratio * b)
        if same is not Verdict.HOLDS:
            return None
    return None if ratio is None else float(ratio.ball(64))
