"""Notes of the author on an article, taken where it is read."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import prod

from symattn.documents.binding import values
from symattn.documents.binding.coverage import Coverage, figures
from symattn.documents.binding.ledger import Ledger
from symattn.documents.binding.names import Names
from symattn.documents.binding.roles import phrase as phrase_of
from symattn.documents.help import FigureHelp, Help, HelpExpression, Origin
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Opaque, Passage, Piece, PrintedFigure, ReadTable, Words
from symattn.errors import Fault
from symattn.expressions import syntax
from symattn.expressions.shapes import Shape, show
from symattn.spelling import is_whole


def without(passages: Iterable[Passage], ignored: Sequence[Span]) -> list[Passage]:
    """The passages without what lies in pieces of the article that claim nothing: chains
    with a part in one, and the numbers among words there."""
    inside = _Inside(ignored)
    left = (
        replace(passage, pieces=tuple(_left(passage.pieces, inside)))
        if inside.touches_any(passage)
        else passage
        for passage in passages
    )
    return [passage for passage in left if passage.pieces]


class _Inside:
    """Tells what has a part in one of some pieces of the article."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans: list[Span] = []
        for span in sorted(spans):
            if self._spans and span.start <= self._spans[-1].end:
                self._spans[-1] = self._spans[-1].to(span)
            else:
                self._spans.append(span)
        self._starts = [span.start for span in self._spans]

    def touches(self, span: Span) -> bool:
        k = bisect_right(self._starts, max(span.end - 1, span.start)) - 1
        return k >= 0 and self._spans[k].end > span.start

    def touches_any(self, passage: Passage) -> bool:
        return bool(self._spans) and any(self.touches(piece.span) for piece in passage.pieces)


def _left(pieces: Iterable[Piece], inside: _Inside) -> Iterator[Piece]:
    for piece in pieces:
        match piece:
            case Chain():
                if not inside.touches(piece.span):
                    yield piece
            case Words(_, _, figures):
                kept = tuple(figure for figure in figures if not inside.touches(figure.span))
                yield replace(piece, figures=kept)
            case ReadTable(head, rows):
                yield replace(
                    piece,
                    head=_cells(head, inside),
                    rows=tuple(_cells(row, inside) for row in rows),
                )


def _cells(
    row: tuple[tuple[Words | Chain, ...], ...], inside: _Inside
) -> tuple[tuple[Words | Chain, ...], ...]:
    return tuple(
        tuple(piece for piece in _left(cell, inside) if isinstance(piece, Words | Chain))
        for cell in row
    )


class Printed:
    """The values that an article prints, in their order."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        printed = [
            entry for passage in passages for piece in passage.pieces for entry in _values(piece)
        ]
        self._values = sorted(printed, key=lambda entry: _start(entry[0]))
        every = (
            figure for passage in passages for piece in passage.pieces for figure in figures(piece)
        )
        self._figures = sorted(every, key=lambda entry: entry.span.start)
        self._starts = [_start(value) for value, _ in self._values]

    def first(self, place: int) -> int:
        """The number of the first value from a place on."""
        return bisect_left(self._starts, place)

    def written(self, text: str, span: Span) -> list[PrintedFigure]:
        """The figures in a piece of the article that are written so."""
        first = bisect_left(self._figures, span.start, key=lambda figure: figure.span.start)
        last = bisect_left(self._figures, span.end, key=lambda figure: figure.span.start)
        return [
            placing
            for placing in self._figures[first:last]
            if placing.text.replace(" ", "") == text
        ]

    def next(
        self, at: int, end: int, tree: syntax.Tree, shape: Shape, ledger: Ledger
    ) -> tuple[syntax.Tree | None, int, int]:
        """The next value of a shape that is printed before ``end``, from that of number
        ``at`` on: one that fits, or the figures of several; whole numbers among words
        only where there are not enough without them.

        Gives it, or None, with the number of the value behind it and how many figures
        there are.
        """
        most = prod(shape)
        count = 0
        for with_whole in (False, True):
            figures: list[syntax.Tree] = []
            k = at
            while k < len(self._values) and self._starts[k] < end and len(figures) < most:
                value, is_word = self._values[k]
                k += 1
                if is_word and not with_whole:
                    continue
                if not figures and ledger.fits(tree, value):
                    return value, k, most
                figures += values.leaves(value)
            if len(figures) == most:
                return _shaped(figures, shape), k, most
            count = len(figures)
        return None, at, count


def _shaped(figures: Sequence[syntax.Tree], shape: Shape) -> syntax.Tree:
    """Figures in a shape, row by row."""
    if not shape:
        return figures[0]
    if len(shape) == 1:
        return syntax.Array(tuple(figures))
    width = shape[1]
    rows = (figures[k : k + width] for k in range(0, len(figures), width))
    return syntax.Array(tuple(syntax.Array(tuple(row)) for row in rows))


def _start(value: syntax.Tree) -> int:
    return next(values.figures(value)).span.start


def _values(piece: Piece) -> Iterator[tuple[syntax.Tree, bool]]:
    """The values of a piece, and of each whether it is a whole number among words."""
    match piece:
        case Words(_, _, figures):
            yield from ((figure, is_whole(figure.text)) for figure in figures)
        case Chain(members):
            for member in members:
                if isinstance(member, Opaque):
                    yield from ((number, False) for number in member.figures)
                elif values.is_value(member) and any(values.figures(member)):
                    yield member, False
        case ReadTable():
            for part in piece.pieces:
                yield from _values(part)


def unlike(text: str, shape: Shape, count: int) -> str:
    """Return what is wrong with a quantity that printed figures were said to be.

    >>> unlike("A[0]", (3,), 2)
    'A[0] is a vector of 3, found 2 figures'
    """
    figures = "no figure" if not count else "1 figure" if count == 1 else f"{count} figures"
    return f"{text} is {show(shape)}, found {figures}"


class Author:
    """Takes what the author says into a recipe, its names and its claims; ``faults`` are
    what of it can't be understood."""

    def __init__(self, notes: Help, names: Names, ledger: Ledger, coverage: Coverage) -> None:
        self.held = notes
        self.names = names
        self.ledger = ledger
        self.coverage = coverage
        self.recipe = names.recipe
        self.standard = names.standard
        self.faults: list[tuple[Origin, Fault]] = []
        self._unsound: set[str] = set()

    def take(self, chains: Sequence[Chain], passages: Sequence[Passage]) -> None:
        """Take the author's phrases and figures; what can't be understood is a fault."""
        self.names.at(0)
        self._unsound = {name for name in self.held.steps if name not in self.names.canonical}
        for name in self._unsound:
            step = self.held.steps[name]
            self._fault(step, self.names.why_not(step.tree))
        if self.held.tokens and not self._has_rows(len(self.held.tokens)):
            said = self.held.places["tokens"]
            self.faults.append((said, said.fault(f"no input has {len(self.held.tokens)} rows")))
        for words, expression in self.held.aliases.items():
            if words in self._unsound:
                continue
            about = self._meant(expression, len(chains))
            if about is None:
                continue
            role = self.recipe.role(about.name) if isinstance(about, syntax.Name) else None
            is_only = role is not None and len(self.recipe.with_role(role)) == 1
            phrase = phrase_of(words, role if role is not None and is_only else expression.tree)
            self.standard.phrases.append(phrase)
        self._take_figures(chains, passages)

    def _take_figures(self, chains: Sequence[Chain], passages: Sequence[Passage]) -> None:
        """The values of which the author says what they are."""
        printed = Printed(passages)
        starts = [chain.span.start for chain in chains]
        for figure in self.held.figures:
            if figure.text:
                self._take_written(figure, printed, bisect_left(starts, figure.span.start))
                continue
            at = printed.first(figure.span.start)
            for expression in figure.expressions:
                tree = self._meant(expression, bisect_left(starts, figure.span.start))
                shape = None if tree is None else self.recipe.shape(tree)
                if tree is None or shape is None:
                    break
                value, at, count = printed.next(at, figure.span.end, tree, shape, self.ledger)
                if value is None:
                    self._fault(expression, unlike(expression.text, shape, count))
                    break
                self._claim(expression, tree, value)

    def _take_written(self, note: FigureHelp, printed: Printed, order: int) -> None:
        """The figures of one text, of which the author says what they are."""
        figures = printed.written(note.text, note.span)
        if len(figures) < len(note.expressions):
            count = {0: "nowhere", 1: "once"}.get(len(figures), f"{len(figures)} times")
            said = note.expressions[len(figures)]
            self._fault(said, f"{note.text} is printed {count} there")
            return
        for expression, figure in zip(note.expressions, figures, strict=False):
            tree = self._meant(expression, order)
            shape = None if tree is None else self.recipe.shape(tree)
            if tree is not None and shape == ():
                self._claim(expression, tree, figure)
            elif shape is not None:
                self._fault(expression, unlike(expression.text, shape, 1))

    def _claim(self, expression: HelpExpression, tree: syntax.Tree, value: syntax.Tree) -> None:
        """Claim what the author says, unless something else was said of it already."""
        shape = self.recipe.shape(tree) or ()
        first = syntax.entry_text(syntax.text(tree), tree, (0,) * len(shape))
        if not self.ledger.claim(tree, value, "note") and self._of(value) != first:
            self._fault(expression, f"what is printed there is {self._of(value)} already")

    def _of(self, value: syntax.Tree) -> str:
        return next((self.coverage.of(figure) for figure in values.figures(value)), "")

    def _meant(self, expression: HelpExpression, order: int) -> syntax.Tree | None:
        """Return what an expression of the author means there; a fault where it means nothing."""
        self.names.at(order)
        meaning = self.names.resolved(expression.tree)
        if meaning is None:
            self._fault(expression, self.names.why_not(expression.tree))
        return meaning

    def _fault(self, expression: HelpExpression, message: str) -> None:
        # What names something that has a fault has none itself.
        if not any(name in self._unsound for name in syntax.names(expression.tree)):
            self.faults.append((expression.said, expression.said.fault(message)))

    def _has_rows(self, count: int) -> bool:
        """Return whether some input has so many rows or columns."""
        return any(
            count in (self.recipe.shape(syntax.Name(name)) or ()) for name in self.recipe.given
        )
