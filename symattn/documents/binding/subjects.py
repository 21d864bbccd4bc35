"""Subjects of words: a role in attention, a row and a column by token or by number.

:class:`Speech` turns that into quantities of the recipe; :class:`Place` keeps what headings
and the last label speak of.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import Literal

from symattn.documents.binding import context, workings
from symattn.documents.binding.evidence import Kind
from symattn.documents.binding.ledger import Candidate, Ledger
from symattn.documents.binding.names import Names, usual_role
from symattn.documents.binding.recipe import Recipe
from symattn.documents.binding.roles import About, Phrase, Role, spoken
from symattn.documents.binding.standard import Standard
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Member, Passage, PrintedFigure, Words
from symattn.expressions import syntax
from symattn.spelling import is_whole

#: A number that counts rows or columns, and the word before it.
_COUNTED = re.compile(
    r"(?<![\w.])(?P<what>rows?|tokens?|positions?|words?|quer(?:y|ies)|keys?|dims?|dimensions?"
    r"|columns?|cols?|components?|elements?|features?)\s*+#?\s*+(?P<number>[0-9]{1,3})(?![\w.]*\d)",
    re.I,
)
_FROM_ZERO = re.compile(
    r"\b(?:count|index|number|start)(?:s|ed|ing)?\s++(?:\w++\s++){0,3}?(?:from|at)\s++(?:0|zero)\b(?!\.\d)",
    re.I,
)
_ACROSS = ("dim", "col", "com", "ele", "fea")
_QUOTES = "\"'“”‘’«»„`"
_QUOTED = re.compile(rf"[{_QUOTES}]([^{_QUOTES}\n]{{1,40}})[{_QUOTES}]")


@dataclass(frozen=True)
class Mention:
    """A row or a column that words name: by token, then ``place`` is its number from 0,
    or by a number that counts from where the article counts from. ``certain`` where
    the words can't mean anything else: a token is quoted or announced."""

    place: int
    start: int
    end: int
    counted: bool = False
    across: bool = False
    certain: bool = True


@dataclass(frozen=True)
class Subject:
    """The meaning that words give the figure behind them; ``role`` None where they don't.

    ``adjacent`` where the words stand right before it.
    """

    role: About | None = None
    mentions: tuple[Mention, ...] = ()
    adjacent: bool = False

    def within(self, outer: Subject) -> Subject:
        """Return what is said here, and where nothing is said what was said around it."""
        return Subject(self.role or outer.role, self.mentions or outer.mentions, self.adjacent)


def subject(
    words: str, tokens: Sequence[str], adjacent: bool = False, phrases: Iterable[Phrase] = ()
) -> Subject:
    """The last role that words name, rather not in brackets, and all rows and columns.

    >>> found = subject('Attention weights for "study"', ["please", "study"])
    >>> found.role, [one.place for one in found.mentions]
    ('weights', [1])
    """
    roles = spoken(words, phrases)
    role = None
    if roles:
        depth = list(accumulate((letter == "(") - (letter == ")") for letter in words))
        outside = [phrase for phrase in roles if depth[phrase.start] <= 0]
        role = (outside or roles)[-1].role
    return Subject(role, tuple(mentions(words, tokens)), adjacent)


def mentions(words: str, tokens: Sequence[str], everywhere: bool = False) -> list[Mention]:
    """The rows and columns that words name, in their order.

    A token counts where it is quoted, or stands alone, or behind a word that
    announces one ("for", "of", "token", "to"), before one that says what it does ("pays")
    or before an arrow, or ``everywhere``;
    its letters as the article writes them.
    """
    return list(_mentions(words, tuple(tokens), everywhere))


@lru_cache(maxsize=2048)
def _mentions(words: str, tokens: tuple[str, ...], everywhere: bool) -> tuple[Mention, ...]:
    """Looked for once, whatever the form of the recipe."""
    places = {token: k for k, token in enumerate(tokens)}
    mentions = [
        Mention(places[match[1]], *match.span())
        for match in _QUOTED.finditer(words)
        if match[1] in places
    ]
    is_taken = bytearray(len(words))
    for one in mentions:
        is_taken[one.start : one.end] = b"\1" * (one.end - one.start)
    announced, alone = _patterns(tuple(places))
    for certain, pattern in ((True, announced), (False, alone))[: 1 + everywhere]:
        for match in pattern.finditer(words):
            start, end = match.span("token")
            if not any(is_taken[start:end]):
                is_taken[start:end] = b"\1" * (end - start)
                mentions.append(Mention(places[match["token"]], start, end, certain=certain))
    begins = {one.start for one in mentions}
    for match in _COUNTED.finditer(words):
        # 'Row 1 ("will")' says the same row twice: by its token it is certain.
        if begins.isdisjoint(range(match.end(), match.end() + 4)):
            across = match["what"][:3].lower() in _ACROSS
            one = Mention(int(match["number"]), match.start(), match.end(), True, across)
            mentions.append(one)
    return tuple(sorted(mentions, key=lambda one: one.start))


#: Words are not searched for more tokens than that.
_TOKENS = 256
_ANNOUNCING = (
    r"\b(?:for|of|token|word|to|from|on|and|row)\s++(?:the\s++)?|\A\s*+(?:[-*•]\s*+)?|[→|]\s*+"
)
#: What a token does behind its name.
_ACTS = r"(?:pays|attends|looks|puts|gives|assigns)\b"
_NEVER = re.compile(r"(?P<token>(?!))")


@lru_cache(maxsize=64)
def _patterns(tokens: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what finds tokens behind what announces them, and wherever they stand."""
    words = [token for token in tokens if len(token) > 1 or token.isalnum()]
    if not words or len(words) > _TOKENS:
        return _NEVER, _NEVER
    acting = rf"(?<![\w'’-])(?=(?:{_either(words)})\s++{_ACTS})"
    announced = rf"(?:{_ANNOUNCING}|{acting})(?=(?P<token>{_either(words)})(?![\w'’-]))"
    long = [token for token in words if len(token) > 1]
    alone = rf"(?<![\w'’-])(?P<token>{_either(long)})(?![\w'’-])"
    return re.compile(announced), re.compile(alone) if long else _NEVER


def _either(tokens: Iterable[str]) -> str:
    """Any of the tokens, the longest that fits."""
    return "|".join(map(re.escape, sorted(tokens, key=len, reverse=True)))


_SENTENCE = re.compile(r"\b(?:sentence|phrase|words|tokens|sequence|context|input|example)\b", re.I)
#: Quoted words one after another: "rain", "falls" and "softly".
_LISTED = re.compile(
    rf"[{_QUOTES}][^{_QUOTES}\n]{{1,24}}+[{_QUOTES}]"
    rf"(?:(?:\s*+,)?+(?:\s++and)?+\s++[{_QUOTES}][^{_QUOTES}\n]{{1,24}}+[{_QUOTES}])++"
)
_MARKED = re.compile(r"[\"“”«»*_`{>]([^\"“”«»*_`{}<>\n]{3,60})[\"“”«»*_`}<]")


def spoken_tokens(paragraphs: Sequence[str], sizes: Collection[int]) -> tuple[str, ...]:
    """The words of a sentence that a paragraph about one quotes or sets apart, at once or
    one by one, where there are as many as rows of some matrix.

    >>> spoken_tokens(["We use the sentence *rain falls softly*."], {3})
    ('rain', 'falls', 'softly')
    >>> spoken_tokens(["There are 2 tokens, 'Tea' and 'please'."], {2})
    ('Tea', 'please')
    """
    for text in paragraphs:
        if not _SENTENCE.search(text):
            continue
        for match in _LISTED.finditer(text):
            listed = tuple(one[1].strip(".,;:!? ") for one in _QUOTED.finditer(match[0]))
            if len(listed) in sizes and len(set(listed)) == len(listed):
                return listed
        for match in _MARKED.finditer(text):
            words = tuple(word.strip(".,;:!?") for word in match[1].split())
            is_list = len(words) > 1 and all(word.isalpha() for word in words)
            if is_list and len(words) in sizes and len(set(words)) == len(words):
                return words
    return ()


_LABEL = re.compile(
    rf"(?:row|token|word|position)s?\s*#?(?P<number>[0-9]{{1,2}})\s*[:(]\s*[{_QUOTES}]"
    rf"(?P<token>[^{_QUOTES}\n]{{1,24}})[{_QUOTES}]",
    re.I,
)


def labelled_tokens(texts: Iterable[str]) -> tuple[str, ...]:
    """Tokens that labels name with their numbers: 'Row 0 ("bees")', 'Row 1 ("love")'.

    >>> labelled_tokens(['Row 0 ("bees"):', 'Row 1 ("love"):', 'Row 0 ("bees")'])
    ('bees', 'love')
    """
    labels: dict[int, str] = {}
    for text in texts:
        for match in _LABEL.finditer(text):
            labels.setdefault(int(match["number"]), match["token"])
    numbers = sorted(labels)
    is_whole = len(numbers) > 1 and numbers == list(range(numbers[0], numbers[-1] + 1))
    return tuple(labels[number] for number in numbers) if is_whole else ()


def counts_from_zero(texts: Iterable[str]) -> bool:
    """Return whether rows or tokens are counted from 0 somewhere.

    >>> counts_from_zero(["Row 0", "Row 1"]), counts_from_zero(["Row 1"])
    (True, False)
    """
    return any(
        _FROM_ZERO.search(text) is not None
        or any(int(match["number"]) == 0 for match in _COUNTED.finditer(text))
        for text in texts
    )


#: What two tokens have together.
_OF_PAIRS: tuple[Role, ...] = ("scores", "scaled", "masked", "weights")
#: From where an article counts rows, or the entries of subscripts.
Base = Literal[0, 1]


class Speech:
    """Turns what words speak of into expressions; ``first`` is what labels of rows count
    from, ``tokens`` are these labels."""

    def __init__(
        self, recipe: Recipe, standard: Standard, names: Names, ledger: Ledger, first: int
    ) -> None:
        self.recipe = recipe
        self.standard = standard
        self.names = names
        self.ledger = ledger
        self.first = first
        self.tokens: tuple[str, ...] = ()

    def subject(self, words: str, adjacent: bool = False) -> Subject:
        """Return who words speak of; ``adjacent`` where they stand right before a figure."""
        return subject(words, self.tokens, adjacent, self.standard.phrases)

    def counted(self, mention: Mention) -> int:
        """The number of a row or column from 0."""
        return mention.place - (self.first if mention.counted else 0)

    def candidates(
        self, about: Subject, members: Sequence[Member], label: Subject | None = None
    ) -> list[Candidate]:
        """Return what the words around a chain, or a word that it begins with, say that it may be
        of, the likeliest first; ``label`` is what stands right before it."""
        head = members[0] if members else None
        kind: Kind = "adjacent" if label and label.adjacent and label.role else "around"
        if isinstance(head, syntax.Name):
            # What isn't defined may be called by what it is: "softmax = [0.49, 0.51]".
            role, kind = self._by_name(head.name), "suggested"
            about = replace(about, role=role)
        if about.role is None and len(about.mentions) < 2:
            return []
        kinds: frozenset[Kind] = frozenset({kind, "row"} if about.mentions else {kind})
        candidates = [
            Candidate(tree, kinds)
            for whole in ([] if about.role is None else self._of_role(about.role, about))
            if (tree := self._chosen(whole, about)) is not None
        ]
        if len([mention for mention in about.mentions if not mention.across]) > 1:
            # Two tokens have a score and a weight, whatever is spoken of.
            names = [name for role in _OF_PAIRS for name in self.recipe.with_role(role)]
            pairs = (self._chosen(syntax.Name(name), about) for name in names)
            candidates += [
                Candidate(tree, frozenset({"row"})) for tree in pairs if tree is not None
            ]
        return candidates

    def is_suggested(self, member: Member) -> bool:
        """Return whether a name is not defined, but called by what it is."""
        if not isinstance(member, syntax.Name) or self.names.is_defined(member.name):
            return False
        return self._by_name(member.name) is not None

    def _by_name(self, name: str) -> About | None:
        if self.names.is_lost(name):
            return None
        phrases = spoken(name.replace("_", " "), self.standard.phrases)
        return phrases[-1].role if phrases else usual_role(name)

    def _of_role(self, role: About, about: Subject) -> list[syntax.Tree]:
        """The quantities that a role may mean: "scores" are also those that are scaled or
        masked, exponentials may be of scores less their largest."""
        if not isinstance(role, str):
            quantity = self.standard.of(role)
            return [] if quantity is None else [quantity]
        if role in ("exponentials", "sums", "shifted"):
            rows = [self.counted(mention) for mention in about.mentions if not mention.across]
            if not rows:
                return []
            return list(context.of_softmax(self.recipe, role, rows[0]))
        alike: tuple[Role, ...] = (role,)
        if role in ("scores", "scaled", "masked"):
            alike = (role, *(one for one in ("scores", "scaled", "masked") if one != role))
        quantities = [self.standard.of(alike[0])]
        quantities += [
            syntax.Name(name) for one in alike[1:] for name in self.recipe.with_role(one)
        ]
        return [tree for tree in quantities if tree is not None]

    def _chosen(self, whole: syntax.Tree, about: Subject) -> syntax.Tree | None:
        """The row, column or entry of a quantity that words mention; None where it has
        none of that kind."""
        shape = self.recipe.shape(whole)
        if shape is None or not isinstance(whole, syntax.Name):
            return whole
        keys = [self.counted(mention) for mention in about.mentions if not mention.across]
        across = [self.counted(one) for one in about.mentions if one.across]
        chosen = [*keys[:2], *across[:1]][:2] if len(keys) < 2 else keys[:2]
        if len(chosen) > len(shape):
            return None
        if any(not 0 <= key < size for key, size in zip(chosen, shape, strict=False)):
            return None
        return workings.indexed(whole, *chosen) if chosen else whole


@dataclass
class Place:
    """The place that reading has come to: what headings and the last label speak of; ``row`` is the
    row that was spoken of last in a section, ``topic`` what words with a colon announced there,
    ``said`` the words right before what is read."""

    headings: list[tuple[int, str, Subject]] = field(default_factory=list)
    label: Subject = field(default_factory=Subject)
    under: list[tuple[Span, str, Subject]] = field(default_factory=list)
    row: Mention | None = None
    topic: Subject = field(default_factory=Subject)
    said: str = ""

    def enter(self, level: int, words: str, about: Subject) -> None:
        """A heading begins; it ends those of its level and below."""
        self.headings = [heading for heading in self.headings if heading[0] < level]
        self.headings.append((level, words, about))
        self.label = Subject()
        self.row, self.topic = None, Subject()
        self.speak(about)

    def speak(self, about: Subject) -> None:
        """Words speak of a row: what follows is of it, until they speak of another; of
        several, only where the first is the row already."""
        rows = [
            (mention.place, mention.counted) for mention in about.mentions if not mention.across
        ]
        before = None if self.row is None else (self.row.place, self.row.counted)
        if len(set(rows)) == 1:
            self.row = next(one for one in about.mentions if not one.across)
        elif rows and rows[0] != before:
            self.row = None

    @property
    def where(self) -> str:
        """The heading that stands above, or that the author says."""
        if self.under:
            return self.under[-1][1]
        return self.headings[-1][1] if self.headings else ""

    @property
    def around(self) -> Subject:
        """Return what is spoken of without being said again."""
        about = Subject()
        for _, _, heading in self.under[-1:] or self.headings:
            about = heading.within(about)
        return self.label.within(about.within(Subject(self.topic.role)))


# -- figures among words -----------------------------------------------------------------
# 'pays 42.2% to itself'.

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
    """The meaning that a sentence gives its figures: the role, and for each the row (None: the only
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
    sign left out; a formula of one figure is a figure, a name is quoted, others are a blank."""
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
            case Chain((syntax.Name(name),)):
                # A token may be set as code.
                text += f"`{name}`"
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
    """Yield what may be said of the figures of a text, sentence by sentence: the ways to read it.

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
    """Return how many figures stand before that place."""
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
