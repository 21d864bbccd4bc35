"""Stated blocks: what is said of figures in numbers, which of them are wrong under every reading,
and what follows from these.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import product
from math import inf, isfinite, nan
from typing import NamedTuple

from symattn.documents.binding import values, workings
from symattn.documents.binding.bounds import interval
from symattn.documents.binding.copies import Exact, Source
from symattn.documents.binding.evidence import information
from symattn.documents.binding.ledger import Entry
from symattn.documents.reading import ArticleNumber, Claimed, Stated
from symattn.documents.text import Span
from symattn.documents.trees import PrintedFigure, plain
from symattn.expressions import syntax
from symattn.numbers.balls import charge
from symattn.numbers.rationals import MINUS_INFINITY
from symattn.programs.operands import ExactNumber, Operands, exact_ones, literals
from symattn.spelling import written

#: Numbers that are nearer than that are the same.
_EQUAL = Decimal("1e-20")
#: Of readings that as many figures come of, the first is meant, or one that is so much nearer.
_NEARER = 10
#: What follows from more wrong figures than that follows from none.
_ROOTS = 64
#: An array that tells so many bits, or has more entries, is known where it is printed again.
_REPEATED, _SMALL = 15.0, 6
#: Why nothing is refuted that one wrong operand would explain. Of more none is tried, for so many
#: figures, by so many secants; a figure depends on it by no less, and it is no larger than that.
_OPERAND = "one other number in what it is computed from would explain it"
_OPERANDS_TRIED, _TARGETS, _SECANTS, _FLAT, _FAR = 48, 3, 12, 1e-9, 1e6
OPERANDS = Operands()


@dataclass(frozen=True)
class Statement:
    """Figures, the expression that they are stated to be, and its readings over what is printed.

    The first reading is the plainest; of what ``is_run`` it is what a program prints.
    """

    said: syntax.Tree
    value: syntax.Tree
    readings: tuple[syntax.Tree, ...]
    where: str
    is_run: bool = False


@dataclass(frozen=True)
class StatedBlock:
    """All that is stated of one block: it is wrong where nothing that is said of it gives it.

    ``names`` are those of printed values, by where these begin and their sizes; ``exact`` are where
    figures stand that are all of what they show.
    """

    statements: tuple[Statement, ...]
    names: Mapping[tuple[int, int], syntax.Tree]
    exact: Exact = field(default_factory=lambda: Exact({}, ()))

    def numbers(self, tree: syntax.Tree) -> syntax.Tree:
        """An expression of numbers as the grammar has it, with those that are exact as such."""
        return numbers(syntax.replaced(tree, self._number))

    def _number(self, part: syntax.Tree) -> syntax.Tree | None:
        if isinstance(part, PrintedFigure) and part.span.start in self.exact:
            return None if part.text.endswith("%") else ExactNumber(part.text, part.span)
        return None

    @property
    def is_exact(self) -> bool:
        """Return whether its figures are all of what exact operands come to."""
        assert self.best is not None
        one, tree, coming, _ = self.best
        over = self.numbers(tree)
        if not all(coming) or OPERANDS.enclosure(over, exact_ones(over)) is not None:
            return False
        found = OPERANDS.middles(over) or ()
        pairs = zip(values.texts(one.value), found, strict=False)
        return bool(found) and all(_is_equal(text, number) for text, number in pairs)

    @cached_property
    def best(self) -> tuple[Statement, syntax.Tree, Sequence[bool], Sequence[bool]] | None:
        """The reading that most figures come of, these, and those that come of any."""
        texts = values.texts(self.statements[0].value)
        best: tuple[Statement, syntax.Tree, Sequence[bool]] | None = None
        least = inf
        found: list[Sequence[bool]] = []
        for one in self.statements:
            for reading in one.readings:
                charge(len(texts) * size(reading))
                coming = OPERANDS.coming(self.numbers(reading), texts)
                if coming is None:
                    continue
                found.append(coming)
                if best is not None and sum(coming) < sum(best[2]):
                    continue
                off = self._off(reading, texts)
                if best is None or sum(coming) > sum(best[2]) or off * _NEARER < least:
                    best, least = (one, reading, coming), off
                if all(coming):
                    return *best, coming
        if best is None:
            return None
        # A block is read in one way: another that few of its figures come of is not meant.
        meant = (coming for coming in found if 2 * sum(coming) >= sum(best[2]))
        return *best, [*map(any, zip(*meant, strict=True))]

    def _off(self, reading: syntax.Tree, texts: Sequence[str]) -> float:
        """Return how far a reading is from the figures: one that is much nearer is meant."""
        middles = OPERANDS.middles(self.numbers(reading)) or ()
        ends = [interval(text) for text in texts]
        pairs = zip(middles, ends, strict=False)
        return sum(abs(float(x) - sum(y) / 2) for x, y in pairs if y is not None)

    @property
    def come_to(self) -> Sequence[str]:
        """The numbers that its figures come to by its best reading; none if these are unknown."""
        assert self.best is not None
        return OPERANDS.middles(self.numbers(self.best[1])) or ()

    @property
    def is_run(self) -> bool:
        """Return whether only a program says what it is."""
        return all(one.is_run for one in self.statements)

    def is_known(self, known: Entry | None, worked: Set[int]) -> bool:
        """Return whether it needs no judgement beside what is ``known`` of the block: it is as it
        should be, or surely of something and wrong; or it stands among what was ``worked`` out."""
        assert self.best is not None
        one = self.statements[0]
        if self.is_run:
            # What evidence is sure of says more than what a program prints.
            if known is None or known.doubt:
                return False
            return known.agreement.share < 1 or all(self.best[2])
        if all(one.is_run or values.is_closed(one.said) for one in self.statements):
            # Numbers by themselves were worked out, or left open, where they stand.
            is_array = any(isinstance(x, syntax.Array) for x in syntax.walk(one.said))
            is_held = known is not None and known.agreement.share == 1
            return is_held or not is_array or not worked.isdisjoint(begins(one.value))
        if known is None:
            return False
        is_right = known.agreement.share == 1 and (known.is_named or all(self.best[2]))
        return is_right or (known.is_named and not known.doubt)

    def claims(self, right: Container[int]) -> Iterator[Claimed]:
        """The claims of it that are to be judged; where figures stand that are ``right`` nothing is
        wrong that would explain it."""
        assert self.best is not None
        one, tree, coming, any_of = self.best
        if values.is_value(tree):
            return
        explained = self._of_one_operand(tree, coming, right)
        if not explained and all(x or not y for x, y in zip(coming, any_of, strict=True)):
            yield self.claimed(one, tree, one.value, one.said)
            return
        for k, (figure, keys) in enumerate(values.entries(one.value)):
            if not any_of[k]:
                at, said = syntax.Indexed(tree, keys), syntax.Indexed(one.said, keys)
                doubt = _OPERAND if k in explained else ""
                yield self.claimed(one, at, figure, said, doubt=doubt)

    def _of_one_operand(
        self, tree: syntax.Tree, coming: Sequence[bool], right: Container[int]
    ) -> set[int]:
        """Return which wrong figures one other figure in an operand would make right, where these
        are several and what is right stays so: then that may be what is wrong."""
        wrong = [k for k, comes in enumerate(coming) if not comes]
        operands = [
            part
            for part in syntax.walk(tree)
            if isinstance(part, PrintedFigure) and part.span.start not in right
        ]
        if not 1 < len(wrong) < len(coming) or len(operands) > _OPERANDS_TRIED:
            return set()
        value = self.statements[0].value
        best: set[int] = set()
        for operand, at in product(operands, wrong[:_TARGETS]):
            came = self._with_other(tree, operand, value, at)
            if all(y or not x for x, y in zip(coming, came, strict=True)):
                best = max(best, {k for k in wrong if came[k]}, key=len)
        return best if len(best) > 1 else set()

    def _with_other(
        self, tree: syntax.Tree, operand: PrintedFigure, value: syntax.Tree, at: int
    ) -> Sequence[bool]:
        """Return which figures come with the number in the place of an operand that gives one of
        them, found by secants and rounded as the operand is."""

        def over(number: str) -> syntax.Tree:
            exact = ExactNumber(number)
            there = syntax.replaced(tree, lambda part: exact if part is operand else None)
            return self.numbers(there)

        def off(number: float) -> float:
            found = OPERANDS.middles(over(f"{number:.12f}"))
            return nan if found is None else float(found[at]) - wanted

        texts = values.texts(value)
        none = [False] * len(texts)
        ends, start = interval(texts[at]), interval(operand.text)
        if ends is None or start is None or not isfinite(sum(ends) + sum(start)):
            return none
        wanted, x = sum(ends) / 2, sum(start) / 2
        y = x + 1.0
        for _ in range(_SECANTS):
            left, right = off(x), off(y)
            if not isfinite(left + right) or abs(left - right) < _FLAT:
                break
            x, y = y, y - right * (y - x) / (right - left)
            if abs(y) > _FAR:
                return none
        if y == x + 1.0:
            return none
        over_it = over(f"{y:.{written(operand.text).decimals}f}")
        return OPERANDS.coming(over_it, texts) or none

    def _named(self, part: syntax.Tree) -> syntax.Tree | None:
        start = begin(part)
        return self.names.get((start, len(values.texts(part)))) if start >= 0 else None

    def claimed(
        self,
        one: Statement,
        tree: syntax.Tree,
        value: syntax.Tree,
        said: syntax.Tree,
        follows: Iterable[int] = (),
        doubt: str = "",
    ) -> Claimed:
        """A claim that figures are what an expression of numbers comes to."""
        figures = [*values.figures(value)]
        span = figures[0].span.to(figures[-1].span)
        shown, places = values.printed(value), values.spans(value)
        formula, said = (syntax.replaced(one, self._named) for one in (tree, said))
        over = self.numbers(tree)
        exact = tuple(isinstance(one, ExactNumber) for one in literals(over))
        stated = Stated(said, formula, exact, tuple(sorted(set(follows))), one.is_run)
        return Claimed(
            "as_printed",
            plain(over),
            one.where,
            span,
            shown,
            places,
            doubt,
            trust=0.0,
            stated=stated,
        )


class Corrections:
    """Wrong figures, each with the right number for it, and those that follow from them or copy
    them."""

    def __init__(self, sources: Mapping[int, Source]) -> None:
        self._sources = sources
        #: By where a figure stands: what it should be, and where it is wrong first.
        self._at: dict[int, _Correction] = {}

    def correct(self, block: StatedBlock, doubted: Container[Span]) -> None:
        """Take the figures of a block that come of no reading, and are not ``doubted``."""
        assert block.best is not None
        one, tree, _, any_of = block.best
        figures = zip(any_of, values.figures(one.value), strict=True)
        right = [comes or figure.span in doubted for comes, figure in figures]
        self._take(block, one, tree, right, ())

    def copied(self, number: ArticleNumber) -> Iterator[Claimed]:
        """A number that claims nothing else, and repeats a wrong figure."""
        start = number.span.start
        known, right = self._known(start, number.text)
        if known and start not in self._at:
            value, tree = PrintedFigure(number.text, number.span), ExactNumber(right)
            if not all(OPERANDS.coming(numbers(tree), [number.text]) or ()):
                yield known.block.claimed(known.one, tree, value, known.said, (known.start,))

    def _known(self, start: int, text: str) -> tuple[_Correction | None, str]:
        """The correction of a figure, or of what it copies, and the right number for it; none where
        it has the sign that the other lost."""
        known, is_negated = self._at.get(start), False
        while known is None and (source := self._sources.get(start)):
            if any(other not in self._at for other in source.others):
                # It may copy one that is right.
                break
            start, is_negated = source.start, is_negated != source.is_negated
            known = self._at.get(start)
        if known is None:
            return None, ""
        if not is_negated:
            return known, known.number
        is_right = all(OPERANDS.coming(numbers(ExactNumber(known.number)), [text]) or ())
        return (None, "") if is_right else (known, _negated(known.number))

    def following(self, block: StatedBlock) -> Iterator[Claimed]:
        """The figures of a block that are right as printed, and would be others without the wrong
        ones before."""
        assert block.best is not None
        one, tree, coming, any_of = block.best
        texts = values.texts(one.value)
        roots: set[int] = set()
        corrected = syntax.replaced(tree, lambda part: self._corrected(part, roots))
        is_clear = not roots or sum(coming) * 2 < len(coming) or len(roots) > _ROOTS
        right = any_of if is_clear else OPERANDS.coming(block.numbers(corrected), texts) or any_of
        if is_clear or all(right):
            return
        right = [x or not y for x, y in zip(right, coming, strict=True)]
        for (figure, keys), is_right in zip(values.entries(one.value), right, strict=True):
            if not is_right:
                at, said = (corrected, one.said) if not keys else (
                    syntax.Indexed(corrected, keys), syntax.Indexed(one.said, keys)
                )  # fmt: skip
                yield block.claimed(one, at, figure, said, roots)
        self._take(block, one, corrected, right, roots)

    def _take(
        self,
        block: StatedBlock,
        one: Statement,
        tree: syntax.Tree,
        right: Sequence[bool],
        roots: Iterable[int],
    ) -> None:
        found = OPERANDS.middles(numbers(tree))
        entries = [*values.entries(one.value)]
        if found is None or len(found) != len(entries):
            return
        for (figure, keys), is_right, number in zip(entries, right, found, strict=True):
            if not is_right:
                start = figure.span.start
                said = syntax.Indexed(one.said, keys) if keys else one.said
                root = min(roots, default=start)
                self._at[start] = _Correction(start, number, root, block, one, said)

    def _corrected(self, part: syntax.Tree, roots: set[int]) -> syntax.Tree | None:
        if not isinstance(part, PrintedFigure | ExactNumber) or (start := begin(part)) < 0:
            return None
        known, right = self._known(start, part.text)
        if known is None or start < known.root:
            return None
        roots.add(known.root)
        return ExactNumber(right)


class _Correction(NamedTuple):
    """A wrong figure: where it stands, the number that it should be, where it is wrong first, and
    what says so."""

    start: int
    number: str
    root: int
    block: StatedBlock
    one: Statement
    said: syntax.Tree


def is_telling(array: syntax.Tree) -> bool:
    """Return whether an array is known where it is printed again, by its digits or its size."""
    texts = values.texts(array)
    return len(texts) > _SMALL or sum(map(information, set(texts))) > _REPEATED


def _is_equal(text: str, number: str) -> bool:
    try:
        return abs(Decimal(text) - Decimal(number)) < _EQUAL
    except InvalidOperation:
        return False


def _negated(text: str) -> str:
    return text[1:] if text[:1] == "-" else f"-{text}"


def numbers(tree: syntax.Tree) -> syntax.Tree:
    """An expression of numbers as the grammar has it, each with its place: no signs of percent,
    of masks or before the digits in them."""
    return syntax.replaced(tree, _number)


def unlike(before: syntax.Tree, after: syntax.Tree, is_about: bool) -> syntax.Tree | None:
    """Return the first of two sides of an equation, as it is meant, if they can't come to the same,
    whatever their numbers were before they were rounded, which where it ``is_about`` so whole ones
    may have been too. Of "2 * 3 = 6 * 4", a running sum, the second begins with the first; and
    where terms are worked out, or kept, each says so itself.

    >>> [unlike(*map(syntax.parse, sides), False) is not None for sides in (
    ...     ("0.3 * 0.5", "0.25 * 0.5"), ("1 / 3", "0.33 * 1"), ("2 * 3", "6 * 4"))]
    [True, False, False]
    """
    begun = [after]
    while isinstance(begun[-1], syntax.Binary):
        begun += [begun[-1].left]
    sums = workings.terms(before), workings.terms(after)
    are_told = all(x == y or isinstance(y, syntax.Literal) for x, y in zip(*sums, strict=False))
    may_be_whole = is_about and any("." not in one.text for one in literals(after))
    if (are_told and len(sums[0]) == len(sums[1])) or may_be_whole:
        return None
    forms = (before, syntax.replaced(before, workings.to_base_two))
    apart = [[numbers(syntax.Binary("-", x, y)) for y in begun] for x in forms]
    if any(OPERANDS.may_vanish(one) for row in apart for one in row):
        return None
    off = [max(abs(float(x)) for x in OPERANDS.middles(row[0]) or ["inf"]) for row in apart]
    return forms[off.index(min(off))]


def begin(tree: syntax.Tree) -> int:
    """Return where a printed value begins; -1 of anything else."""
    match tree:
        case syntax.Array((first, *_)):
            return begin(first)
        case PrintedFigure(_, span) | ExactNumber(_, Span() as span):
            return span.start
    return -1


def _number(part: syntax.Tree) -> syntax.Tree | None:
    match part:
        case syntax.Literal(text) if text == MINUS_INFINITY:
            return syntax.Negative(syntax.Name("inf"))
        case PrintedFigure(text, span) if text.endswith("%"):
            number = numbers(PrintedFigure(text[:-1].rstrip(), span))
            return syntax.Binary("/", number, syntax.Literal("100"))
        case syntax.Power():
            return values.by_logarithm(part)
        case ExactNumber(text) if text[:1] == "-":
            return syntax.Negative(ExactNumber(text[1:]))
        case PrintedFigure(text, span) if text[:1] in "+-":
            number = PrintedFigure(text[1:], Span(span.start + 1, span.end))
            return syntax.Negative(number) if text[0] == "-" else number
    return None


def size(tree: syntax.Tree) -> int:
    """Return how many parts an expression has."""
    return sum(1 for _ in syntax.walk(tree))


def begins(tree: syntax.Tree) -> Iterator[int]:
    """Yield where the figures of an expression begin."""
    return (part.span.start for part in syntax.walk(tree) if isinstance(part, PrintedFigure))
