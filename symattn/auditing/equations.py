"""Equations that an article prints: what stands in them, and what follows from that.

An equation that is true as it is printed comes first: ``e^{0.71} = 2.034`` is, though the
score is 0.7071, and its exponential 2.028. Such a figure holds as printed, with the exact
value beside it, and so does what repeats it, and what is computed from it in turn.
That goes as far as rounding on the way does: the exact value must be one that the operands
may have come to. What a wrong operand leads to is as wrong as that.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from flint import arb, arb_mat

from symattn.auditing.figures import Figure
from symattn.cases.claims import Claim
from symattn.documents.reading import ArticleNumber, Reading
from symattn.documents.text import Span
from symattn.errors import Malformed, SymattnError
from symattn.expressions import syntax
from symattn.expressions.shapes import Nested, Shape, grid, rows_of
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.rationals import PrintedNumber, read_printed
from symattn.numbers.rounding import RoundingMode
from symattn.programs import nodes
from symattn.programs.enclosures import BallMatrices, Enclosure
from symattn.programs.nodes import Node, Run
from symattn.programs.program import Program, Special
from symattn.solution.entries import EntryValue
from symattn.spelling import written
from symattn.verdicts import Verdict

# -- operands as they may have been before they were rounded to what is printed ----------
# A document that computes on with more digits than it prints gives ``0.5066 * 2 = 1.0133``: the
# numbers as printed come to 1.0132, but what rounds to 0.5066 may well come to 1.0133. So an
# operand with digits behind a decimal point is taken for all that rounds to it, unless it is
# known what it is: where an article computes with an input, or with a figure that is all there is
# of its quantity, nothing was rounded. Nor do hand sums have hidden digits, ``0.1 * 0.3 + 0.5 *
# 0.7``: of what nothing else is known, one digit behind the point is exact, as a bare whole
# number is, and ``2.``. Balls carry that through the arithmetic: what comes out holds all that
# the document may have got.
#
# The worst case is asked of all operands together. Three deviations of their sum, as if they were
# rounded independently, are no less for the few operands of a hand sum; of long ones they would
# find some more mistakes, and refute a right figure for every twenty.


def rounded(tree: syntax.Tree) -> Iterator[PrintedNumber]:
    """The numbers in an expression that may have been rounded.

    >>> from symattn.expressions.syntax import parse
    >>> [found.text for found in rounded(parse("0.5 * 2 + 2. * sqrt(3) - 1.50e-3"))]
    ['0.5', '1.50e-3']
    """
    if isinstance(tree, syntax.Literal) and (printed := _rounded(tree.text)):
        yield printed
    for part in syntax.inside(tree):
        yield from rounded(part)


def _rounded(digits: str) -> PrintedNumber | None:
    """A number that may have been rounded, as it is printed; None for others, and for one
    that is longer than any that is rounded."""
    if not written(digits).part:
        return None
    try:
        return read_printed(digits)
    except Malformed:
        return None


def literals(tree: syntax.Tree) -> Iterator[syntax.Literal]:
    """The numbers in an expression, in their order."""
    return (part for part in syntax.walk(tree) if isinstance(part, syntax.Literal))


class Operands:
    """Expressions of numbers only, with all that their operands may be.

    >>> from symattn.expressions.syntax import parse
    >>> found = Operands().enclosure(parse("0.5066 * 2"))
    >>> found[0, 0].contains(arb("1.0133")), found[0, 0].contains(arb("1.014"))
    (True, False)
    >>> exact = found[0, 0].mid() / 2
    >>> Operands().enclosure(parse("0.5066 * 2"), [exact.mid(), None]) is None
    True
    """

    def __init__(self, mode: RoundingMode = "half-even") -> None:
        #: Directed roundings are off by up to a whole unit, to one side.
        self._part = 2 if mode.startswith("half") else 1

    def rounded(self, digits: str) -> arb | None:
        """All that rounds to a number as it is printed; None where it can't be rounded."""
        printed = _rounded(digits)
        return None if printed is None else _ball(printed, self._part)

    def enclosure(
        self, tree: syntax.Tree, known: Sequence[arb | None] | None = None
    ) -> arb_mat | None:
        """All that the expression may come to, by rows of its grid; None where its
        operands are exact, or where only a statement has a value. ``known`` is of each
        number in it what that may be, None where nothing else says so."""
        texts = [literal.text for literal in literals(tree)]
        balls = known or [None] * len(texts)
        balls = [self._unknown(x) if y is None else y for x, y in zip(texts, balls, strict=True)]
        if all(ball is None or ball.is_exact() for ball in balls):
            return None
        names = (f"operand_{k}" for k in range(len(balls)))
        given = dict(zip(names, balls, strict=True))
        return self._enclosed(_named(tree, given), given)

    def _unknown(self, digits: str) -> arb | None:
        """Return what a number may be of which nothing is known: one digit is exact."""
        printed = _rounded(digits)
        if printed is None or written(digits).is_exact:
            return None
        return _ball(printed, self._part)

    def _enclosed(
        self, tree: syntax.Tree, given: Mapping[str, arb | None] | None = None
    ) -> arb_mat | None:
        try:
            with precision(FIRST):
                rounded = _Rounded({}, (), (), part=self._part, by_name=given or {})
                return rounded.run[rounded.lower_tree(tree)].matrix
        except SymattnError:
            return None

    def may_hold(self, tree: syntax.Tree) -> bool:
        """Return whether a statement may have been true of its operands before they were rounded.

        >>> from symattn.expressions.syntax import parse
        >>> Operands().may_hold(parse("0.51 + 0.18 + 0.30 == 1"))
        True
        >>> Operands().may_hold(parse("0.51 + 0.18 + 0.40 == 1"))
        False
        """
        if isinstance(tree, syntax.Conjunction):
            return all(map(self.may_hold, tree.parts))
        if not isinstance(tree, syntax.Comparison):
            return False
        sides = zip(tree.operands, tree.relations, tree.operands[1:], strict=False)
        return all(self._may(left, relation, right) for left, relation, right in sides)

    def _may(self, left: syntax.Tree, relation: str, right: syntax.Tree) -> bool:
        difference = self._enclosed(syntax.Binary("-", left, right))
        return difference is not None and all(
            _may_be(entry, relation) for entry in difference.entries()
        )


def _may_be(difference: arb, relation: str) -> bool:
    """Return whether something in a ball stands so to zero."""
    if relation == "==":
        return bool(difference.contains(0))
    if relation.startswith(">"):
        difference = -difference
    return not (difference > 0 if relation.endswith("=") else difference >= 0)


def _named(tree: syntax.Tree, given: Mapping[str, arb | None]) -> syntax.Tree:
    """An expression whose numbers have names, but those that are what they say."""
    rest = iter(given.items())

    def by(part: syntax.Tree) -> syntax.Tree | None:
        if not isinstance(part, syntax.Literal):
            return None
        name, ball = next(rest)
        return part if ball is None else syntax.Name(name)

    return syntax.replaced(tree, by)


def _ball(printed: PrintedNumber, part: int) -> arb:
    """All that a number that is printed so may have been rounded from."""
    return arb(printed.value) + arb(0, arb(printed.unit / part))


@dataclass(frozen=True)
class _Rounded(Program):
    """A program without quantities, whose rounded numbers are inputs: balls.

    ``part``: which part of a unit they may be off by, a half or a whole one; numbers may
    stand ``by_name``.
    """

    part: int = 2
    by_name: Mapping[str, arb | None] = field(default_factory=dict)
    balls: dict[int, Enclosure] = field(default_factory=dict)

    @property
    def run(self) -> Run[Enclosure]:
        """A run with these balls."""
        return Run(_Wide(), lambda node: self.balls.get(node.serial))

    def lowered(self, tree: syntax.Tree, special: Special) -> Node:
        match tree:
            case syntax.Name(name) if (ball := self.by_name.get(name)) is not None:
                return self._input((), [ball])
            case syntax.Literal(digits) if not self.by_name and (printed := _rounded(digits)):
                return self._input((), [_ball(printed, self.part)])
            case syntax.Array((syntax.Array(first), *_) as rows):
                entries = [entry for row in rows for entry in syntax.inside(row)]
                return self._input((len(rows), len(first)), list(map(self._entry, entries)))
            case syntax.Array(entries):
                return self._input((len(entries),), list(map(self._entry, entries)))
        return super().lowered(tree, special)

    def _input(self, shape: Shape, entries: list[arb]) -> Node:
        node = nodes.given("operand", shape)
        self.balls[node.serial] = Enclosure(arb_mat(*grid(shape), entries))
        return node

    def _entry(self, tree: syntax.Tree) -> arb:
        """An entry of an array."""
        match tree:
            case syntax.Negative(operand):
                return -self._entry(operand)
        return self.run[self.lower_tree(tree)].matrix[0, 0]


class _Wide(BallMatrices):
    """Balls as wide as printed numbers are unknown."""

    def _softmax(self, node: Node, x: Enclosure) -> arb_mat:
        """Row by row ``1 / sum_k exp(x_k - x_j)``: each score occurs once with each sign, so
        that no width is counted twice."""
        rows, columns = x.shape
        scores, flat = x.matrix.entries(), [arb(0)] * (rows * columns)
        for start in range(0, rows * columns, columns):
            seen = [k for k in range(start, start + columns) if k not in x.masked]
            for j in seen:
                powers = ((scores[k] - scores[j]).exp() for k in seen if k != j)
                flat[j] = 1 / sum(powers, arb(1))
        return arb_mat(rows, columns, flat)


# -- equations ---------------------------------------------------------------------------

_ANYTHING = arb(0, arb("inf"))
_SIGNS = "+-\N{MINUS SIGN}"

#: What is printed at a place, if it is a figure of a quantity that is known.
EntryAt = Callable[[Span], EntryValue | None]


class OperandPlaces:
    """The places at which an article prints its operands."""

    def __init__(self, reading: Reading | None) -> None:
        self._numbers = reading.numbers if reading else ()
        self._starts = [number.span.start for number in self._numbers]
        given = reading.given.values() if reading else ()
        self._rounded = [one.span for one in given if one.is_rounded and one.span]
        claims = reading.claims if reading else ()
        #: Where the results of mere numbers stand.
        self._worked = {
            span
            for claim in claims
            if claim.key == "as_printed" and claim.spans is not None
            for row in _rows(claim.spans)
            for span in row
        }

    def result(self, number: ArticleNumber) -> ArticleNumber | None:
        """Return where the result that a number is was printed: there, or what says the same
        before."""
        if self._is_result(number):
            return number
        same = self._results.get(number.text.lstrip(_SIGNS), ())
        before = bisect_left(same, number.span.start, key=lambda one: one.span.start)
        if not before or number.status == "given":
            return None
        last = same[before - 1]
        # An input that was given since is meant rather than what mere numbers came to.
        return None if last.status == "given" and not self._is_result(last) else last

    def is_known(self, number: ArticleNumber) -> bool:
        """Return whether something says of which quantity a number is: more than a single digit
        that it has in common with one."""
        if number.status in ("bound", "given"):
            return True
        figure = written(number.text)
        is_long = len((figure.whole + figure.part).lstrip("0")) > 1
        first = self.result(number) if is_long else None
        return first is not None and first.status in ("bound", "given")

    def is_rounded(self, text: str) -> bool:
        """Return whether an input that is shown rounded is printed so."""
        given = (one for one in self._results.get(text, ()) if one.status == "given")
        return any(map(self._is_result, given))

    def _is_result(self, number: ArticleNumber) -> bool:
        is_rounded = any(span.start <= number.span.start < span.end for span in self._rounded)
        return (
            number.status == "bound"
            or number.span in self._worked
            or (number.status == "given" and is_rounded)
        )

    @cached_property
    def _results(self) -> Mapping[str, Sequence[ArticleNumber]]:
        """The results by what is printed of them, in order; and the inputs where only mere
        numbers come to the same."""
        places: dict[str, list[ArticleNumber]] = defaultdict(list)
        bound = {one.text.lstrip(_SIGNS) for one in self._numbers if one.status == "bound"}
        for number in self._numbers:
            text = number.text.lstrip(_SIGNS)
            if self._is_result(number) or (number.status == "given" and text not in bound):
                places[text].append(number)
        return places

    def of(self, claim: Claim) -> Sequence[ArticleNumber]:
        """Return what is printed where the numbers of a claim stand: right before its value;
        nothing where that reads otherwise."""
        texts = [literal.text for literal in literals(claim.tree)]
        if not claim.spans or not texts:
            return ()
        end = bisect_left(self._starts, claim.spans[0][0].start)
        before = self._numbers[max(end - len(texts), 0) : end]
        return before if [number.text.lstrip(_SIGNS) for number in before] == texts else ()


def _is_negative(number: ArticleNumber) -> bool:
    return number.text.startswith(("-", "\N{MINUS SIGN}"))


def _rows(spans: Nested[Span]) -> Sequence[Sequence[Span]]:
    return rows_of(spans)


class Equations:
    """The arithmetic of an article, and what its operands are."""

    def __init__(self, reading: Reading | None, operands: Operands, entry_at: EntryAt) -> None:
        self.places = OperandPlaces(reading)
        self._operands = operands
        self._entry_at = entry_at

    def reach(self, claim: Claim, i: int, j: int) -> arb | None:
        """All that a figure of numbers may be, as these may have been rounded."""
        known = [self.known(number) for number in self.places.of(claim)]
        return self.enclosed(claim, i, j, known)

    def known(self, number: ArticleNumber) -> arb | None:
        """Return what an operand may be, for what it is the value of; None where that isn't
        known."""
        text = number.text.lstrip(_SIGNS)
        near = self._operands.rounded(text)
        if near is None:
            return None
        result = self.places.result(number)
        if result is not None and _is_negative(result) != _is_negative(number):
            # The negative of a result may be another number, that was rounded.
            return near
        if result is None:
            return near.mid() if number.status == "given" else None
        entry = self._entry_at(result.span)
        if entry is None:
            return near if result.status == "given" else None
        is_exact = abs(entry.ball(FIRST)).contains(near.mid()) and not self.places.is_rounded(text)
        return near.mid() if is_exact else near

    def enclosed(self, claim: Claim, i: int, j: int, known: Sequence[arb | None]) -> arb | None:
        """All that a figure of numbers may be, as those may be that are ``known``."""
        enclosure = self._operands.enclosure(claim.tree, known or None)
        return None if enclosure is None else enclosure[i, j]

    def vouch_for(self, chains: Sequence[Figure], doubted: Container[Span]) -> bool:
        """Return whether equations are true, of numbers that nobody surely knows what they are:
        then what they give may be of something else than it was taken for."""
        operands = [number for chain in chains for number in self.places.of(chain.claim)]
        return all(map(_is_true, chains)) and any(
            number.span in doubted or not self.places.is_known(number) for number in operands
        )

    # -- what holds as printed ---------------------------------------------------------------

    def settle(self, figures: Sequence[Figure], doubted: Container[Span]) -> list[Figure]:
        """Let the refuted figures hold that the article's own equations give as printed. Those
        that such equations give of numbers that are ``doubted``, or that nobody knows what they
        are: they may be of something else."""
        with precision(FIRST):
            left = _Settling(self, self._operands, figures).settle()
        return [figure for figure, chains in left if self.vouch_for(chains, doubted)]


class _Settling:
    """Figures that hold as printed, one after the other, as one leads to the next."""

    def __init__(self, equations: Equations, operands: Operands, figures: Sequence[Figure]) -> None:
        self._equations = equations
        self._operands = operands
        self._chains: dict[object, list[Figure]] = defaultdict(list)
        self._at: dict[Span, list[Figure]] = defaultdict(list)
        self._rows: dict[int, list[Figure]] = defaultdict(list)
        for figure in figures:
            self._rows[figure.claim.number].append(figure)
            if figure.claim.is_arithmetic:
                self._chains[_place(figure)].append(figure)
            if figure.span is not None:
                self._at[figure.span].append(figure)
        self._open = [
            figure
            for figure in figures
            if figure.verdict is Verdict.REFUTED
            and not figure.claim.is_arithmetic
            and figure.printed is not None
            and figure.off is not None
        ]
        #: What figures may be that hold as printed; and these by what they are of.
        self._reached: dict[Figure, arb] = {}
        self._earlier: dict[str, list[Figure]] = defaultdict(list)

    def settle(self) -> list[tuple[Figure, Sequence[Figure]]]:
        """Until no more follows; what is left, with the equations that give it."""
        while settled := {figure for figure in self._open if self._settled(figure)}:
            self._open = [figure for figure in self._open if figure not in settled]
        return [(figure, self._chains[_place(figure)]) for figure in self._open]

    def _settled(self, figure: Figure) -> bool:
        reach = self._repeated(figure)
        if reach is None:
            reach = self._given(figure)
        if reach is None and self._says_results_again(figure):
            reach = figure.rounded
        if reach is None:
            return False
        self._reached[figure] = reach
        self._earlier[figure.term.key].append(figure)
        figure.judgement = replace(figure.judgement, verdict=Verdict.HOLDS, as_printed=True)
        return True

    def _repeated(self, figure: Figure) -> arb | None:
        """Return what an earlier figure may be that this one repeats, maybe with fewer digits."""
        for first in self._earlier[figure.term.key]:
            if figure.rounds_from(first.number):
                return self._reached[first]
        return None

    def _says_results_again(self, figure: Figure) -> bool:
        """Return whether a figure is off by a unit in a row of which each figure is the result of
        an equation before it: rounding on the way makes no more of it."""
        row = self._rows[figure.claim.number]
        return abs(figure.off or 0) == 1 and len(row) > 1 and all(map(self._is_result, row))

    def _is_result(self, figure: Figure) -> bool:
        """Return whether an equation before a figure that holds comes to it."""
        return figure.span is not None and any(
            chain.claim.is_arithmetic and _is_true(chain) and figure.rounds_from(chain.number)
            for span, figures in self._at.items()
            if span < figure.span
            for chain in figures
        )

    def _given(self, figure: Figure) -> arb | None:
        """Return what the equation that gives a figure may come to, if that may be the exact
        value."""
        chains = self._chains[_place(figure)]
        if not chains or any(not _is_true(chain) for chain in chains):
            return None
        exact, reach = figure.entry.ball(FIRST), figure.number
        for chain in chains:
            near = self._reach(chain)
            if near is None or not near.is_finite() or not near.overlaps(exact):
                return None
            reach = reach.union(near)
        return reach

    def _reach(self, chain: Figure) -> arb | None:
        """Return what an equation may come to, as its operands may be: anything where one is wrong
        that it depends on."""
        known: list[arb | None] = []
        for number in self._equations.places.of(chain.claim):
            beside = self._at[number.span]
            is_wrong = any(figure.verdict is Verdict.REFUTED for figure in beside)
            wider = _ANYTHING if is_wrong else self._widened(beside)
            known.append(self._equations.known(number) if wider is None else wider)
        return self._equations.enclosed(chain.claim, chain.entry.i, chain.entry.j, known)

    def _widened(self, figures: Sequence[Figure]) -> arb | None:
        """Return what figures may be that hold as printed."""
        reaches = (self._reached[figure] for figure in figures if figure in self._reached)
        return next(reaches, None)


def _is_true(chain: Figure) -> bool:
    """Return whether an equation holds, and says something."""
    return chain.verdict is Verdict.HOLDS and not chain.vacuous


def _place(figure: Figure) -> object:
    """Return where a figure stands, in an article or in a table."""
    return figure.span or (figure.claim.number, figure.at)
