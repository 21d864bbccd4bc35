"""The claims of an article as they are found: each figure is claimed of one quantity only.

Every number that an article prints, and what became of it.

Numbers among words that claim nothing: those of sections and versions, sizes and times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from symattn import syntax
from symattn.documents.binding import joining, values, workings
from symattn.documents.binding.recipe import Recipe, interval
from symattn.documents.reading import ArticleNumber, Claimed, OpenQuestion, Status
from symattn.documents.text import Span
from symattn.documents.trees import (
    NOWHERE,
    Chain,
    Passage,
    Piece,
    PrintedFigure,
    ReadTable,
    Words,
    plain,
)
from symattn.numbers.rationals import MINUS_INFINITY
from symattn.spelling import is_whole

#: What stands right before a number that only says where something is, or which one.
_REFERS = re.compile(
    r"(?:\b(?:sections?|sec\.?|chapters?|ch\.|figures?|figs?\.?|tables?|tab\.|equations?|eqs?\.?"
    r"|appendix|problems?|exercises?|theorem|lemma|listing|footnote|pages?|pp?\.|rooms?"
    r"|versions?|release|python|numpy|pytorch|torch|jax|cuda|tensorflow)|§)"
    r"[\s~]{0,3}\(?v?\Z",
    re.I,
)
#: What stands right before a number that says how a model is trained.
_TRAINS = re.compile(
    r"\b(?:learning rates?|dropout|weight decay|momentum|label smoothing)"
    r"(?:\s(?:of|is|was|=|to))?\s{0,3}\Z",
    re.I,
)
#: What stands right behind a number of a size, a time or a price.
_MEASURES = re.compile(
    r"(?:\s?(?:[kKMG]i?B|[kMG]?Hz|[mµn]s|[ckm]?m|k?g)|[KMBk]|\s(?:seconds?|secs?|s|minutes?|mins?"
    r"|hours?|h|days?|million|billion|thousand|points?|euros?|dollars?))(?![\w^(])"
)
_PRICES = re.compile(r"[$€£]\s?\Z")
#: So many characters before a number are looked at.
_BEFORE = 40


def found(words: Words) -> Iterator[PrintedFigure]:
    """The figures among words that claim nothing.

    >>> from symattn.documents.text import Span
    >>> said = "see section 3.2: 0.25 in 1.5 ms"
    >>> figures = [PrintedFigure(one, Span(said.index(one), 0)) for one in ("3.2", "0.25", "1.5")]
    >>> [one.text for one in found(Words(said, Span(0, 0), tuple(figures)))]
    ['3.2', '1.5']
    """
    at = 0
    for figure in words.figures:
        digits = figure.text.lstrip("+-").rstrip("%").rstrip()
        start = words.text.find(digits, at)
        if start < 0:
            continue
        at = start + len(digits)
        before = words.text[max(start - _BEFORE, 0) : start]
        announced = any(said.search(before) for said in (_REFERS, _TRAINS, _PRICES))
        if announced or _MEASURES.match(words.text, at):
            yield figure


#: What is known of a number only grows: a later finding replaces one of those before it.
_RANK: dict[Status, int] = {"unread": 0, "ignored": 1, "local": 2, "given": 3, "bound": 3}


class Coverage:
    """The numbers of all passages by where they begin: no two begin together."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._numbers: dict[int, ArticleNumber] = {}
        for passage in passages:
            for piece in passage.pieces:
                for figure in figures(piece):
                    if figure.text == MINUS_INFINITY:
                        continue
                    self._numbers[figure.span.start] = ArticleNumber(
                        figure.text, figure.span, "unread"
                    )

    def mark(
        self,
        figures: Iterable[PrintedFigure],
        status: Status,
        of: str = "",
        confirmed: bool = False,
    ) -> None:
        """Say what became of figures, unless more is known of them."""
        for figure in figures:
            known = self._numbers.get(figure.span.start)
            if known is None and figure.text == MINUS_INFINITY:
                continue
            if figure.span == NOWHERE:
                # Of an array that is made by name, as an identity is.
                continue
            if known is None or _RANK[known.status] <= _RANK[status]:
                # A sign of percent stays with its number, though the claim is of the number.
                one = known or figure
                found = ArticleNumber(one.text, one.span, status, of, confirmed)
                self._numbers[one.span.start] = found

    def leave(self, passages: Iterable[Passage], why: str) -> None:
        """All numbers that none of these passages has claim nothing, for that reason."""
        kept = {
            figure.span.start
            for passage in passages
            for piece in passage.pieces
            for figure in figures(piece)
        }
        for start, number in self._numbers.items():
            if start not in kept and number.status == "unread":
                self._numbers[start] = ArticleNumber(number.text, number.span, "ignored", why=why)

    def of(self, figure: PrintedFigure) -> str:
        """What a number is the value of, as far as that is known."""
        found = self._numbers.get(figure.span.start)
        return found.of if found else ""

    def words(self, piece: Words, kind: str) -> None:
        """Numbers among words that are no claims: whole ones count or name something."""
        self.mark(found(piece), "ignored")
        for figure in piece.figures:
            if is_whole(figure.text) or kind == "heading":
                self.mark([figure], "ignored")

    def numbers(self) -> tuple[ArticleNumber, ...]:
        """All of them in their order."""
        return tuple(self._numbers[start] for start in sorted(self._numbers))


def figures(piece: Piece) -> Iterator[PrintedFigure]:
    """All figures of a piece, those in its formulas among them."""
    match piece:
        case Words():
            yield from piece.figures
        case Chain(members):
            for member in members:
                yield from values.figures(member)
        case ReadTable():
            for part in piece.pieces:
                yield from figures(part)


@dataclass
class Claims:
    """What was claimed so far; ``agreeing`` counts the figures that agree with it."""

    recipe: Recipe
    coverage: Coverage
    found: list[Claimed] = field(default_factory=list)
    agreeing: float = 0.0
    where: str = ""
    #: Of each quantity how many of its figures agree with it, and how many there are.
    tally: dict[str, tuple[float, int]] = field(default_factory=dict)
    _taken: set[int] = field(default_factory=set)
    _texts: set[str] = field(default_factory=set)
    _left: dict[int, OpenQuestion] = field(default_factory=dict)

    def take(self, tree: syntax.Tree, name: str) -> None:
        """A printed value is an input where it stands: nothing is claimed of it."""
        named = syntax.Name(name)
        for figure, keys in values.entries(tree):
            self.coverage.mark([figure], "given", syntax.entry_text(name, named, keys))
        self._taken.update(figure.span.start for figure in values.figures(tree))

    def is_taken(self, value: syntax.Tree) -> bool:
        """Whether it is known of a figure of the value what it is."""
        return any(figure.span.start in self._taken for figure in values.figures(value))

    def is_claimed(self, tree: syntax.Tree) -> bool:
        """Whether something was claimed of an expression."""
        return syntax.text(tree) in self._texts

    def fits(self, target: syntax.Tree, value: syntax.Tree) -> bool:
        """Whether a value can be printed of an expression, by its shape."""
        return self._fitted(target, value) is not None

    def agreement(self, target: syntax.Tree, value: syntax.Tree) -> float:
        """The part of a value's figures that the expression rounds to."""
        fitted = self._fitted(target, value)
        return 0.0 if fitted is None else self.recipe.agreement(*fitted)

    def likeness(self, target: syntax.Tree, value: syntax.Tree) -> float:
        """The part of a value's figures that the expression rounds to, or that were printed
        of it before."""
        fitted = self._fitted(target, value)
        return 0.0 if fitted is None else workings.likeness(self.recipe, *fitted)

    def claim(
        self,
        target: syntax.Tree,
        value: syntax.Tree,
        confirmed: bool = False,
        by_formula: bool = False,
    ) -> bool:
        """Claim that a value is printed of an expression; False if their shapes don't fit,
        if the value is claimed of something already, or if it is a block of figures of
        something else, and no formula beside it says what it is.

        A matrix of one row or one column fits a vector.
        """
        if isinstance(value, PrintedFigure) and value.text.endswith("%"):
            target, value = hundredfold(target), _without_sign(value)
        elif self._is_in_percent(target, value):
            target = hundredfold(target)
        fitted = self._fitted(target, value)
        if fitted is None or self.is_taken(value) or not any(values.figures(value)):
            return False
        target, value = fitted
        if not by_formula and (known := joining.other(self.recipe, target, value)) is not None:
            self._leave(target, known, value)
            return False
        text = syntax.text(target)
        self._add("of", target, value, confirmed)
        for figure, keys in values.entries(value):
            self._taken.add(figure.span.start)
            of = syntax.entry_text(text, target, keys)
            self.coverage.mark([figure], "bound", of, confirmed)
            entry = syntax.text(workings.entry_at(self.recipe, target, keys))
            if (ends := interval(figure.text)) is not None and figure.text != MINUS_INFINITY:
                self.recipe.printed.setdefault(entry, set()).add((ends[0] + ends[1]) / 2)
        count = sum(1 for _ in values.entries(value))
        agreeing = self.recipe.agreement(target, value) * count
        self.agreeing += agreeing
        for name in dict.fromkeys(syntax.names(target)):
            before = self.tally.get(name, (0.0, 0))
            self.tally[name] = before[0] + agreeing, before[1] + count
        return True

    def claim_all(self, bound: Iterable[tuple[syntax.Tree, syntax.Tree]]) -> None:
        """Claim each value of the expression that it is bound to."""
        for value, tree in bound:
            self.claim(tree, value)

    def _leave(self, target: syntax.Tree, known: syntax.Tree, value: syntax.Tree) -> None:
        """Say of a value that it isn't what it was taken for."""
        figures = list(values.figures(value))
        span = figures[0].span.to(figures[-1].span)
        why = f"it stands there, but its figures are those of {syntax.text(known)}"
        self._left.setdefault(span.start, OpenQuestion(syntax.text(target), why, span))

    @property
    def open(self) -> tuple[OpenQuestion, ...]:
        """What was left, as its figures are another quantity's, and not claimed since."""
        return tuple(one for at, one in self._left.items() if at not in self._taken)

    def _is_in_percent(self, target: syntax.Tree, value: syntax.Tree) -> bool:
        """Whether figures can only be shares in percent without the sign: none is the
        share itself, most are its hundredfold."""
        several = sum(1 for _ in values.entries(value)) > 1
        if not several or self.agreement(target, value) > 0:
            return False
        return self.agreement(hundredfold(target), value) > 0.5

    def work_out(self, numbers: syntax.Tree, value: syntax.Tree) -> None:
        """Claim that numbers come to a printed value, if that makes sense by their shapes."""
        fitted = self._fitted(numbers, value)
        if fitted is not None and fitted[0] is numbers and any(values.figures(fitted[1])):
            self._add("as_printed", numbers, fitted[1], False)
            self.coverage.mark(values.figures(fitted[1]), "local")

    def _add(
        self,
        key: Literal["of", "as_printed"],
        tree: syntax.Tree,
        value: syntax.Tree,
        confirmed: bool,
    ) -> None:
        self._texts.add(syntax.text(tree))
        figures = list(values.figures(value))
        span = figures[0].span.to(figures[-1].span)
        shown, places = values.printed(value), values.spans(value)
        self.found.append(Claimed(key, plain(tree), self.where, span, shown, places, confirmed))

    def _fitted(
        self, target: syntax.Tree, value: syntax.Tree
    ) -> tuple[syntax.Tree, syntax.Tree] | None:
        """An expression and a value of one shape: these, or their only row or column."""
        shape = self.recipe.shape(target)
        if shape is None:
            return None
        for one in (value, values.flat(value)):
            if shape == values.shape(one):
                return target, one
        size = values.shape(value)
        if size == () and shape and max(shape) == 1:
            return workings.indexed(target, *(0 for _ in shape)), value
        if len(size) == 1 and len(shape) == 2 and size[0] == max(shape) and min(shape) == 1:
            is_row = shape[0] == 1
            vector = workings.indexed(target, 0) if is_row else workings.column(target, 0)
            return vector, value
        return None


def hundredfold(target: syntax.Tree) -> syntax.Tree:
    """What is printed of a share in percent."""
    return syntax.Binary("*", syntax.Literal("100"), target)


def _without_sign(figure: PrintedFigure) -> PrintedFigure:
    """The number of a figure in percent."""
    text = figure.text.removesuffix("%").rstrip()
    return PrintedFigure(text, Span(figure.span.start, figure.span.start + len(text)))
