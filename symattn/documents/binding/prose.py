"""Figures among words, claimed of what their sentence speaks of: 'pays 42.2% to itself'."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from symattn.documents.binding import workings
from symattn.documents.binding.roles import About, Phrase, Role, spoken
from symattn.documents.binding.subjects import Mention, Speech, Subject, mentions
from symattn.documents.trees import Chain, Passage, PrintedFigure, Words
from symattn.spelling import is_whole

_ITSELF = re.compile(r"\b(?:itself|themselves|its own|self-attention)\b", re.I)
_ENDS = re.compile(r"(?<=[.!?;])\s+|\n[^\S\n]*+[-*•]\s|\n\n")
#: Sentences of more figures than that are not cut into clauses.
_CLAUSES = 32
#: Roles whose entries sentences speak of, by a row and a column.
_ABOUT: tuple[Role, ...] = ("weights", "scores", "scaled")


@dataclass(frozen=True)
class Placed:
    """A figure, and where it begins and ends in the words around it."""

    figure: PrintedFigure
    start: int
    end: int


@dataclass(frozen=True)
class Told:
    """What a sentence says of its figures: the role, and for each the row (None: the only
    one there is) and the column."""

    role: About
    figures: tuple[tuple[PrintedFigure, Mention | None, Mention], ...]


def placed(words: Words) -> Iterator[Placed]:
    """The figures of words, each where it stands in them, without its sign."""
    at = 0
    for figure in words.figures:
        digits = figure.text.lstrip("+-").rstrip("%").rstrip()
        start = words.text.find(digits, at)
        if start >= 0:
            at = start + len(digits)
            yield Placed(figure, start, at)


def joined(passage: Passage) -> tuple[str, list[Placed]]:
    """The words of a passage with the figures in them, whole numbers without a percent
    sign left out; a formula of one figure is a figure, others are a blank."""
    text = ""
    placings: list[Placed] = []
    for piece in passage.pieces:
        match piece:
            case Words(words):
                placings += [
                    Placed(placing.figure, len(text) + placing.start, len(text) + placing.end)
                    for placing in placed(piece)
                    if not is_whole(placing.figure.text)
                ]
                text += words
            case Chain((PrintedFigure() as figure,)):
                placings.append(Placed(figure, len(text), len(text) + len(figure.text)))
                text += figure.text
            case _:
                text += " \0 "
    return text, placings


def told(
    text: str,
    figures: Sequence[Placed],
    tokens: Sequence[str],
    around: Mention | None,
    phrases: Sequence[Phrase] = (),
) -> Iterator[list[Told]]:
    """What may be said of the figures of a text, sentence by sentence: the ways to read it.

    The row is the token that the sentence speaks of first, or the one that is spoken
    of ``around`` it; the column is the token behind each figure, or the one before it.
    """
    for start, end in _sentences(text):
        inside = [
            Placed(placing.figure, placing.start - start, placing.end - start)
            for placing in figures[_from(figures, start) : _from(figures, end)]
        ]
        sentence = text[start:end]
        role = _role(sentence, inside, phrases)
        if not inside or role is None:
            continue
        said = mentions(sentence, tokens, everywhere=True)
        before = [mention for mention in said if mention.end <= inside[0].start]
        row = before[0] if before else around
        ways = [_by_subjects(inside, said, sentence)]
        for about in (row, None):
            itself = [
                Mention(about.place, *match.span(), certain=about.certain)
                for match in _ITSELF.finditer(sentence)
                if about is not None
            ]
            others = sorted([*said, *itself], key=lambda one: one.start)
            others = [one for one in others if one is not about]
            ways += [_of_row(about, _behind(inside, others, len(sentence)))]
            ways += [_of_row(about, _before(inside, others))]
        ways += [_by_clauses(inside, said, sentence)]
        yield [Told(role, tuple(way)) for way in ways if way]


def _of_row(
    row: Mention | None, columns: Sequence[tuple[PrintedFigure, Mention]]
) -> list[tuple[PrintedFigure, Mention | None, Mention]]:
    return [(figure, row, column) for figure, column in columns]


def _by_clauses(
    figures: Sequence[Placed], said: Sequence[Mention], sentence: str
) -> list[tuple[PrintedFigure, Mention | None, Mention]]:
    """Each figure with the token behind it, or itself, in the row of the last token before
    it that is no column: "we (37 % on like) looks elsewhere than tea does (32 % on itself)"."""
    entries: list[tuple[PrintedFigure, Mention | None, Mention]] = []
    if len(figures) > _CLAUSES or len(said) > 2 * _CLAUSES:
        return entries
    rows = list(said)
    ends = [placing.start for placing in figures[1:]] + [len(sentence)]
    for one, end in zip(figures, ends, strict=True):
        before = [other for other in rows if other.end <= one.start]
        near = [other for other in said if one.end <= other.start and other.end <= end]
        itself = _ITSELF.search(sentence, one.end, end)
        if not before:
            continue
        if itself and not (near and near[0].start < itself.start()):
            column = Mention(before[-1].place, *itself.span(), before[-1].counted)
        elif near:
            column = near[0]
            rows.remove(column)
        else:
            continue
        entries.append((one.figure, before[-1], column))
    return entries


_COMMAS = re.compile(r"[,;:]\s++")


def _by_subjects(
    figures: Sequence[Placed], said: Sequence[Mention], sentence: str
) -> list[tuple[PrintedFigure, Mention | None, Mention]]:
    """Each figure in a part of the sentence between commas: its first token is the row and
    the other the column; the only one is the column, in the row of a part before: "tea is
    clear, it looks at milk with 0.68, and milk puts 57 % on tea". Nothing where a part
    says more or less than that."""
    entries: list[tuple[PrintedFigure, Mention | None, Mention]] = []
    if len(figures) > _CLAUSES or len(said) > 2 * _CLAUSES:
        return entries
    row: Mention | None = None
    ends = [*(match.end() for match in _COMMAS.finditer(sentence)), len(sentence)]
    start = 0
    for end in ends[: 2 * _CLAUSES]:
        tokens = [mention for mention in said if start <= mention.start < end]
        inside = [figure for figure in figures if start <= figure.start < end]
        start = end
        if len(inside) > 1 or (inside and not (row if len(tokens) == 1 else len(tokens) == 2)):
            return []
        if tokens and (not inside or len(tokens) == 2):
            row = tokens[0]
        entries += [(placing.figure, row, tokens[-1]) for placing in inside]
    return entries if len(entries) == len(figures) > 1 else []


def _from(figures: Sequence[Placed], start: int) -> int:
    """How many figures stand before that place."""
    return bisect_left(figures, start, key=lambda placing: placing.start)


def _behind(
    figures: Sequence[Placed], said: Sequence[Mention], length: int
) -> list[tuple[PrintedFigure, Mention]]:
    """Each figure with the first token behind it, before the next figure."""
    ends = [placing.start for placing in figures[1:]] + [length]
    columns = []
    for one, end in zip(figures, ends, strict=True):
        near = [m for m in said if one.end <= m.start and m.end <= end]
        columns += [(one.figure, near[0])] if near else []
    return columns


def _before(
    figures: Sequence[Placed], said: Sequence[Mention]
) -> list[tuple[PrintedFigure, Mention]]:
    """Each figure with the last token before it, behind the figure before."""
    starts = [0] + [placing.end for placing in figures[:-1]]
    columns = []
    for one, start in zip(figures, starts, strict=True):
        near = [m for m in said if start <= m.start and m.end <= one.start]
        columns += [(one.figure, near[-1])] if near else []
    return columns


def lists(text: str, figures: Sequence[Placed], count: int) -> Iterator[tuple[PrintedFigure, ...]]:
    """Shares that a sentence lists, as many as a row has: '27.6 %, 45.5 % and 26.9 %'."""
    for start, end in _sentences(text):
        inside = [figure.figure for figure in figures if start <= figure.start < end]
        if len(inside) == count > 1 and all(placing.text.endswith("%") for placing in inside):
            yield tuple(inside)


def _role(sentence: str, figures: Sequence[Placed], phrases: Sequence[Phrase]) -> About | None:
    roles = [phrase.role for phrase in spoken(sentence, phrases)]
    if own := [one for one in roles if not isinstance(one, str)]:
        return own[0]
    if all(figure.figure.text.endswith("%") for figure in figures):
        return "weights"
    named = [role for role in roles if role in _ABOUT]
    return named[0] if named else None


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _ENDS.finditer(text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


class Sentences:
    """Reads the figures in the words of passages."""

    def __init__(self, speech: Speech) -> None:
        self.speech = speech
        self.ledger = speech.ledger
        self.standard = speech.standard
        self.recipe = speech.recipe

    def read(
        self, passage: Passage, around: Subject, before: Mention | None, now: Mention | None
    ) -> bool:
        """Figures among words, by what each sentence says of them, or what is spoken of
        around them; where they say nothing of the row that was spoken of ``before`` the
        passage, or that is spoken of ``now``, if by words that stand before its figures.
        Whether figures were read as of that row, the tokens beside them as columns."""
        text, figures = joined(passage)
        begun = mentions(text[: figures[0].start], self.speech.tokens) if figures else []
        row = next(
            (mention for mention in around.mentions if not mention.across), now if begun else before
        )
        goes_on = False
        for ways in told(text, figures, self.speech.tokens, row, self.standard.phrases):
            read = [(*self._told(one), one) for one in ways]
            if not read:
                continue
            share, bound, certain, sentence = max(read, key=lambda one: one[0])
            if share > 0 and row is not None:
                goes_on = all(one is row for _, one, _ in sentence.figures)
            plainly = certain or len(bound) > 1
            for figure, tree in bound:
                self.ledger.claim(tree, figure, "sentence" if plainly else "loose")
        self._lists(text, figures)
        return goes_on

    def _lists(self, text: str, figures: Sequence[Placed]) -> None:
        """All shares of a row in a list, where they are those of one row only."""
        whole = self.standard.of("weights")
        shape = None if whole is None else self.recipe.shape(whole)
        if whole is None or shape is None or len(shape) != 2:
            return
        for listed in lists(text, figures, shape[1]):
            rows = [
                i
                for i in range(shape[0])
                if all(
                    self.ledger.agreement(workings.indexed(whole, i, j), figure) == 1.0
                    for j, figure in enumerate(listed)
                )
            ]
            if len(rows) == 1 and not any(map(self.ledger.is_taken, listed)):
                for j, figure in enumerate(listed):
                    entry = workings.indexed(whole, rows[0], j)
                    self.ledger.claim(entry, figure, "loose")

    def _told(self, sentence: Told) -> tuple[float, workings.Bound, bool]:
        """The entries that a sentence may speak of, the part of them that agrees, and
        whether the words are certain."""
        whole = self.standard.of(sentence.role)
        shape = None if whole is None else self.recipe.shape(whole)
        if whole is None or shape is None or not shape:
            return 0.0, [], False
        rows, columns = (1, *shape)[-2:]
        if rows > 1 and any(row is None for _, row, _ in sentence.figures):
            return 0.0, [], False
        bound: workings.Bound = []
        for figure, row, column in sentence.figures:
            i = 0 if row is None else self.speech.counted(row)
            j = self.speech.counted(column)
            if 0 <= i < rows and 0 <= j < columns and not self.ledger.is_taken(figure):
                keys = (i, j) if len(shape) == 2 else (j,)
                bound.append((figure, workings.indexed(whole, *keys)))
        agree = sum(self.ledger.likeness(tree, figure) == 1.0 for figure, tree in bound)
        certain = all(
            column.certain and (row is None or row.certain) for _, row, column in sentence.figures
        )
        return (agree / len(bound) if bound else 0.0), bound, certain
