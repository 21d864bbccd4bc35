"""What words speak of: a role in attention, a row and a column by token or by number.

:class:`Speech` turns that into quantities of the recipe; :class:`Place` keeps what headings
and the last label speak of.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import Literal

from symattn import syntax
from symattn.documents.binding import context, workings
from symattn.documents.binding.evidence import Kind
from symattn.documents.binding.ledger import Candidate, Ledger
from symattn.documents.binding.names import Names, usual_role
from symattn.documents.binding.recipe import Recipe
from symattn.documents.binding.roles import About, Phrase, Role, spoken
from symattn.documents.binding.standard import Standard
from symattn.documents.text import Span
from symattn.documents.trees import Member

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
    """What words before a figure say that it is; ``role`` None where they don't.

    ``adjacent`` where the words stand right before it.
    """

    role: About | None = None
    mentions: tuple[Mention, ...] = ()
    adjacent: bool = False

    def within(self, outer: Subject) -> Subject:
        """What is said here, and where nothing is said what was said around it."""
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
    """What finds tokens behind what announces them, and wherever they stand."""
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
_MARKED = re.compile(r"[\"“”«»*_`{]([^\"“”«»*_`{}\n]{3,60})[\"“”«»*_`}]")


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
    """Whether rows or tokens are counted from 0 somewhere.

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
        """Who words speak of; ``adjacent`` where they stand right before a figure."""
        return subject(words, self.tokens, adjacent, self.standard.phrases)

    def counted(self, mention: Mention) -> int:
        """The number of a row or column from 0."""
        return mention.place - (self.first if mention.counted else 0)

    def candidates(
        self, about: Subject, members: Sequence[Member], label: Subject | None = None
    ) -> list[Candidate]:
        """What the words around a chain, or a word that it begins with, say that it may be
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
        """Whether a name is not defined, but called by what it is."""
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
    """Where the reading is: what headings and the last label speak of; ``row`` is the row
    that was spoken of last in a section, ``topic`` what words with a colon announced there,
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
        """What is spoken of without being said again."""
        about = Subject()
        for _, _, heading in self.under[-1:] or self.headings:
            about = heading.within(about)
        return self.label.within(about.within(Subject(self.topic.role)))
