"""Stated blocks: what is said of figures in numbers, which of them are wrong under every reading,
and what follows from these.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import product
from math import isfinite, nan
from typing import NamedTuple

from symattn.documents.binding import values, workings
from symattn.documents.binding.bounds import interval
from symattn.documents.binding.evidence import information
from symattn.documents.binding.ledger import Entry
from symattn.documents.reading import ArticleNumber, Claimed, Stated
from symattn.documents.text import Span
from symattn.documents.trees import PrintedFigure, plain
from symattn.expressions import syntax
from symattn.expressions.shapes import Nested
from symattn.numbers.balls import charge
from symattn.numbers.rationals import MINUS_INFINITY
from symattn.programs.operands import ExactNumber, Operands, literals
from symattn.spelling import written

#: A figure that tells so many bits is known again by its digits; what follows from more wrong
#: figures than that follows from none.
_TELLING, _COPIED, _ROOTS = 9.0, 6.0, 64
#: An array that tells so many bits, or has more entries, is known where it is printed again.
_REPEATED, _SMALL = 15.0, 6
_SHARE = re.compile(r"0\.[0-9]+")
#: Why nothing is refuted that one wrong operand would explain. Of more none is tried, for so many
#: figures, by so many secants; a figure depends on it by no less, and it is no larger than that.
_OPERAND = "one other number in what it is computed from would explain it"
_OPERANDS_TRIED, _TARGETS, _SECANTS, _FLAT, _FAR = 48, 3, 5, 1e-9, 1e6
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

    ``names`` are those of printed values, by where these begin.
    """

    statements: tuple[Statement, ...]
    names: Mapping[int, syntax.Tree]

    @cached_property
    def best(self) -> tuple[Statement, syntax.Tree, Sequence[bool], Sequence[bool]] | None:
        """The reading that most figures come of, these, and those that come of any."""
        texts = values.texts(self.statements[0].value)
        best: tuple[Statement, syntax.Tree, Sequence[bool]] | None = None
        any_of: Sequence[bool] = [False] * len(texts)
        for one in self.statements:
            for reading in one.readings:
                charge(len(texts) * size(reading))
                coming = OPERANDS.coming(numbers(reading), texts)
                if coming is None:
                    continue
                any_of = [x or y for x, y in zip(any_of, coming, strict=True)]
                if best is None or sum(coming) > sum(best[2]):
                    best = one, reading, coming
                if all(coming):
                    return *best, any_of
        return None if best is None else (*best, any_of)

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

    def claims(self) -> Iterator[Claimed]:
        """The claims of it that are to be judged."""
        assert self.best is not None
        one, tree, coming, any_of = self.best
        if values.is_value(tree):
            return
        explained = self._of_one_operand(tree, coming)
        if not explained and all(x or not y for x, y in zip(coming, any_of, strict=True)):
            yield self.claimed(one, tree, one.value, one.said)
            return
        for k, (figure, keys) in enumerate(values.entries(one.value)):
            if not any_of[k]:
                at, said = syntax.Indexed(tree, keys), syntax.Indexed(one.said, keys)
                doubt = _OPERAND if k in explained else ""
                yield self.claimed(one, at, figure, said, doubt=doubt)

    def _of_one_operand(self, tree: syntax.Tree, coming: Sequence[bool]) -> set[int]:
        """Return which wrong figures one other figure in an operand would make right, where these
        are several and what is right stays so: then that may be what is wrong."""
        wrong = [k for k, comes in enumerate(coming) if not comes]
        operands = [part for part in syntax.walk(tree) if isinstance(part, PrintedFigure)]
        if not 1 < len(wrong) < len(coming) or len(operands) > _OPERANDS_TRIED:
            return set()
        value = self.statements[0].value
        best: set[int] = set()
        for operand, at in product(operands, wrong[:_TARGETS]):
            came = self._with_other(tree, operand, value, at)
            if all(y or not x for x, y in zip(coming, came, strict=True)):
                best = max(best, {k for k in wrong if came[k]}, key=len)
        return best if len(best) > 1 else set()

    @staticmethod
    def _with_other(
        tree: syntax.Tree, operand: PrintedFigure, value: syntax.Tree, at: int
    ) -> Sequence[bool]:
        """Return which figures come with the number in the place of an operand that gives one of
        them, found by secants and rounded as the operand is."""

        def over(number: str) -> syntax.Tree:
            exact = ExactNumber(number)
            there = syntax.replaced(tree, lambda part: exact if part is operand else None)
            return numbers(there)

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
        formula = syntax.replaced(tree, lambda part: self.names.get(begin(part)))
        over = numbers(tree)
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
    """Wrong figures, each with the right number for it, and those that follow from them;
    ``headings`` are where sections begin."""

    def __init__(self, headings: Sequence[int] = ()) -> None:
        self._headings = headings
        #: By where a figure stands, and by its text: the right number, and where it is wrong first.
        self._at: dict[int, tuple[str, int]] = {}
        self._by_text: dict[str, tuple[str, int]] = {}
        #: The texts of right figures: a copy may be of these.
        self._right: set[str] = set()
        #: By what a copy of it looks like: where a figure stands that is wrong, and what it is.
        self._copies: dict[str, list[_Copied]] = defaultdict(list)
        #: Whole arrays with wrong figures, by these: as they should be, and where they stand.
        self._arrays: dict[Nested[str], tuple[syntax.Tree, int] | None] = {}

    def correct(self, block: StatedBlock) -> None:
        """Take the figures of a block that come of no reading."""
        assert block.best is not None
        one, tree, _, any_of = block.best
        self._take(block, one, tree, any_of, ())

    def since(self, start: int) -> int:
        """Return where the section of a place begins."""
        place = bisect_right(self._headings, start)
        return self._headings[place - 1] if place else 0

    def copied(self, number: ArticleNumber) -> Iterator[Claimed]:
        """A number that claims nothing else, and repeats a wrong figure of its section."""
        at, text, since = number.span.start, number.text, self.since(number.span.start)
        found = [one for one in self._copies.get(text, ()) if since <= one.start < at]
        if found and text not in self._right and at not in self._at:
            copy = found[-1]
            value, tree = PrintedFigure(text, number.span), ExactNumber(copy.number)
            yield copy.block.claimed(copy.one, tree, value, copy.said, (copy.start,))

    def following(self, block: StatedBlock) -> Iterator[Claimed]:
        """The figures of a block that are right as printed, and would be others without the wrong
        ones before."""
        assert block.best is not None
        one, tree, coming, any_of = block.best
        texts = values.texts(one.value)
        roots: set[int] = set()
        corrected = syntax.replaced(tree, lambda part: self._corrected(part, roots))
        is_clear = not roots or sum(coming) * 2 < len(coming) or len(roots) > _ROOTS
        right = any_of if is_clear else OPERANDS.coming(numbers(corrected), texts) or any_of
        self._right.update(text for text, is_right in zip(texts, right, strict=True) if is_right)
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
        numbered = {
            id(one): x for (one, _), y, x in zip(entries, right, found, strict=True) if not y
        }
        for array in (one.value, *syntax.inside(one.value)):
            if isinstance(array, syntax.Array) and is_telling(array):
                other = syntax.replaced(array, lambda part: _numbered(part, numbered))
                texts = values.printed(array)
                known = self._arrays.get(texts, (other, 0))
                is_one = known is not None and known[0] == other
                self._arrays[texts] = (other, begin(array)) if is_one else None
        for (figure, keys), is_right, number in zip(entries, right, found, strict=True):
            if not is_right:
                start = figure.span.start
                root = min(roots, default=start)
                self._at[start] = number, root
                said = syntax.Indexed(one.said, keys) if keys else one.said
                for text in _copied(figure.text):
                    if len(self._copies[text]) < _ROOTS:
                        self._copies[text].append(_Copied(start, number, block, one, said))
                if information(figure.text) > _COPIED:
                    self._by_text[figure.text] = number, root
                    self._by_text[_negated(figure.text)] = _negated(number), root

    def _corrected(self, part: syntax.Tree, roots: set[int]) -> syntax.Tree | None:
        if isinstance(part, syntax.Array):
            if not values.is_value(part):
                return None
            # The figures of one that repeats another are others where those are.
            other, start = self._arrays.get(values.printed(part)) or (part, 0)
            if other == part or start >= begin(part):
                return None
            roots.add(start)
            return other
        if not isinstance(part, PrintedFigure | ExactNumber) or (start := begin(part)) < 0:
            return None
        known = self._at.get(start)
        if known is None and part.text not in self._right:
            known = self._by_text.get(part.text)
            if known and information(part.text) < _TELLING and known[1] < self.since(start):
                # Of two digits another figure of another section may be.
                return None
        if known is None or start < known[1]:
            return None
        number, root = known
        roots.add(root)
        return ExactNumber(number)


class _Copied(NamedTuple):
    """A wrong figure that is repeated elsewhere: where it stands, and the number it should be."""

    start: int
    number: str
    block: StatedBlock
    one: Statement
    said: syntax.Tree


def _copied(text: str) -> Iterator[str]:
    """A figure as it is repeated, as it is or in percent, if its digits tell it from others.

    >>> [*_copied("0.394")], [*_copied("0.3")]
    (['0.394', '39.4%'], [])
    """
    if "." in text and information(text) > _COPIED:
        yield text
        if _SHARE.fullmatch(text):
            yield f"{(Decimal(text) * 100).normalize():f}%"


def is_telling(array: syntax.Tree) -> bool:
    """Return whether an array is known where it is printed again, by its digits or its size."""
    texts = values.texts(array)
    return len(texts) > _SMALL or sum(map(information, set(texts))) > _REPEATED


def _numbered(part: syntax.Tree, numbered: Mapping[int, str]) -> syntax.Tree | None:
    return ExactNumber(numbered[id(part)]) if id(part) in numbered else None


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
    forms = (before, syntax.replaced(before, _to_base_two))
    apart = [[numbers(syntax.Binary("-", x, y)) for y in begun] for x in forms]
    if any(OPERANDS.may_vanish(one) for row in apart for one in row):
        return None
    off = [max(abs(float(x)) for x in OPERANDS.middles(row[0]) or ["inf"]) for row in apart]
    return forms[off.index(min(off))]


def _to_base_two(part: syntax.Tree) -> syntax.Tree | None:
    match part:
        case syntax.Call("log", (_,)):
            return syntax.Binary("/", part, syntax.Call("log", (syntax.Literal("2"),)))
    return None


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
