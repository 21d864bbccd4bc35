"""Notes in an article: what stands behind ``symattn:`` in its comments.

Each line of a note says one thing::

    S_scaled = S / sqrt(d_k)        a step
    X = [[1, 0], [0, 1]]            numbers that are given
    dL/dY = [[1, 0], [0, 1]]        the upstream gradient
    "context vectors" = Y           what a phrase means
    tokens = cat, sat, mat          what the rows are called
    count from 0                    what subscripts count from
    A[0], A[1]                      what the values that come next are of
    0.507 = A[0, 0]                 what the next figure that is written so is of
    under "scaled scores"           what is read as if under that heading
    ignore                          the block that comes next claims nothing
    ignore begin, ignore end        what stands between them claims nothing

A side file, ``post.symattn.toml``, says the same beside an article::

    document = "post.md"
    tokens = ["cat", "sat", "mat"]
    count_from = 1
    ignore = [12, "30-41"]

    [given]
    d_k = 4

    [steps]
    S_scaled = "S / sqrt(d_k)"

    [aliases]
    "context vectors" = "Y"

    [lines]
    45 = "A[0]"
    "60-62" = "Y"
    "The weights of cat are" = "A[0]"
    48 = {"0.507" = "A[0, 0]", "27.4%" = "A[2, 0], A[2, 1]"}

    [under]
    "50-70" = "attention weights"

    [loss]
    output = "Y"

Lines move with every edit, words don't. Where lines stand may also stand a heading, for its
section, or other words of the article, for what comes next, as a note right before them would.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from symattn.documents.article import Article, Block
from symattn.documents.files import SIDE_FILE
from symattn.documents.text import Span
from symattn.errors import Fault, Faults, Malformed, alike, expected, short
from symattn.expressions import syntax
from symattn.expressions.shapes import Nested
from symattn.limits import CHARACTERS, FAULTS_KEPT, NOTES, PHRASES, STEPS
from symattn.numbers.reading import read_tree
from symattn.numbers.rows import read_rows
from symattn.programs.program import name_fault
from symattn.spelling import is_figure
from symattn.tables.file import File, content, parsed
from symattn.tables.places import kind, misfits, unknown

# -- what an author says to symattn, whichever way it was said --------------------------


class Origin(NamedTuple):
    """The origin of a note: the file and the line; ``where`` is the path inside a side file,
    ``span`` that of a note in the article."""

    path: Path
    line: int
    where: str = ""
    span: Span | None = None

    def fault(self, message: str) -> Fault:
        """Return what is wrong with it."""
        return Fault(self.where, message, self.line)


@dataclass(frozen=True)
class WrittenValue:
    """Numbers as they were written, in their nesting."""

    entries: Nested[str]
    said: Origin


@dataclass(frozen=True)
class HelpExpression:
    """An expression in the grammar of case files."""

    text: str
    tree: syntax.Tree
    said: Origin


@dataclass(frozen=True)
class FigureHelp:
    """The values that are printed in ``span`` are, in their order, those of
    ``expressions``; of a note the first ones behind it. With a ``text`` only the figures
    that are written so."""

    span: Span
    expressions: tuple[HelpExpression, ...]
    text: str = ""


@dataclass(frozen=True)
class Under:
    """A note that what stands in ``span`` is to be read as if it stood under a heading of these
    ``words``."""

    span: Span
    words: str


@dataclass
class Help:
    """The notes of an author on an article.

    ``given`` and ``steps`` have names of their own or of the article, whose meaning
    they replace; ``aliases`` have phrases, in lower case; ``ignored`` are pieces of
    the article that claim nothing. ``places`` says where names, ``tokens`` and the
    like were said.
    """

    given: dict[str, WrittenValue] = field(default_factory=dict)
    steps: dict[str, HelpExpression] = field(default_factory=dict)
    aliases: dict[str, HelpExpression] = field(default_factory=dict)
    tokens: tuple[str, ...] = ()
    ignored: list[Span] = field(default_factory=list)
    figures: list[FigureHelp] = field(default_factory=list)
    under: list[Under] = field(default_factory=list)
    count_from: int | None = None
    loss: dict[str, object] | None = None
    places: dict[str, Origin] = field(default_factory=dict)


def malformed(faults: Iterable[tuple[Origin, Fault]], more: int = 0) -> Malformed:
    """Faults of what was said in one file or in several, in the order of their lines.

    >>> where = Origin(Path("post.md"), 7)
    >>> print(malformed([(where, where.fault("unknown name 'Z'"))]))
    post.md:7: unknown name 'Z'
    """
    ordered = sorted(faults, key=lambda pair: (str(pair[0].path), pair[0].line))
    paths = {str(origin.path) for origin, _ in ordered}
    if len(paths) == 1:
        return Malformed([fault for _, fault in ordered], paths.pop(), more)
    messages = [Fault("", fault.at(str(origin.path))) for origin, fault in ordered]
    return Malformed(Faults(messages), more=more)


_LOSS = ("output", "upstream", "wrt")
#: A name that is a word as well.
_WORD = re.compile(r"[a-z]{3,}\Z")


class HelpDraft:
    """Gathers what is said; what was said already is a fault."""

    def __init__(self) -> None:
        self.help = Help()
        self.faults: list[tuple[Origin, Fault]] = []
        self.more = 0

    def fault(self, origin: Origin, error: Malformed | str) -> None:
        """Something is wrong with what is said there."""
        if isinstance(error, str):
            error = Malformed(error)
        faults = [
            replace(fault.inside(origin.where) if origin.where else fault, line=origin.line)
            for fault in error.faults
        ]
        room = max(FAULTS_KEPT.most - len(self.faults), 0)
        self.faults += [(origin, fault) for fault in faults[:room]]
        self.more += len(faults[room:]) + error.more

    def checked(self) -> Help:
        """All of it; raises :class:`Malformed` with every fault."""
        if self.faults:
            raise malformed(self.faults, self.more)
        self.help.ignored.sort()
        return self.help

    # -- what may be said -------------------------------------------------------------

    def give(self, name: str, data: object, origin: Origin) -> None:
        """Numbers that a quantity has."""
        if self._is_new(name, origin):
            try:
                read_rows(data)
            except Malformed as error:
                named = error if origin.where else Malformed(f.inside(name) for f in error.faults)
                self.fault(origin, named)
            else:
                self.help.given[name] = WrittenValue(texts(data), origin)

    def step(self, name: str, text: object, origin: Origin) -> None:
        """An expression that a quantity is."""
        if (
            self._is_new(name, origin)
            and (expression := self._expression(text, origin)) is not None
        ):
            if name in syntax.names(expression.tree):
                self.fault(origin, f"{name} is defined by itself")
            else:
                self.help.steps[name] = expression

    def alias(self, phrase: str, text: object, origin: Origin) -> None:
        """Another name, or a phrase for an expression; a word is both."""
        words = " ".join(phrase.lower().split())
        if not any(map(str.isalnum, words)):
            self.fault(origin, f"expected words in quotes, found {short(phrase)!r}")
        elif len(self.help.aliases) >= PHRASES.most:
            self.fault(origin, PHRASES.said(len(self.help.aliases) + 1))
        elif not name_fault(phrase):
            self.step(phrase, text, origin)
            if phrase in self.help.steps and _WORD.match(phrase):
                self.help.aliases[phrase] = self.help.steps[phrase]
        elif (
            self._once(f'"{words}"', origin)
            and (expression := self._expression(text, origin)) is not None
        ):
            self.help.aliases[words] = expression

    def label(self, tokens: object, origin: Origin) -> None:
        """Take what the rows are called."""
        if not isinstance(tokens, list | tuple) or not tokens:
            actual = "an empty list" if tokens == [] else kind(tokens)
            self.fault(origin, f"expected a list of texts, found {actual}")
        elif not all(isinstance(token, str) and token.strip() for token in tokens):
            self.fault(origin, "expected a text for each token, as in cat, sat, mat")
        elif self._once("tokens", origin):
            self.help.tokens = tuple(token.strip() for token in tokens)

    def count(self, number: object, origin: Origin) -> None:
        """Take what the article counts rows and columns from."""
        if isinstance(number, bool) or number not in (0, 1):
            actual = repr(short(str(number)))
            self.fault(origin, f"expected to count from 0 or 1, found {actual}")
        elif self._once("count from", origin):
            self.help.count_from = int(str(number))

    def ignore(self, span: Span) -> None:
        """Take it that what stands there claims nothing."""
        self.help.ignored.append(span)

    def print(self, span: Span, parts: Iterable[object], origin: Origin, text: str = "") -> None:
        """Take what the values that are printed there are, or the figures of that ``text``."""
        parsed = [self._expression(part, origin) for part in parts]
        expressions = tuple(expression for expression in parsed if expression is not None)
        for one in expressions:
            wrong = ""
            if isinstance(one.tree, syntax.Comparison | syntax.Conjunction | syntax.Sequence):
                wrong = "is no quantity: expected one"
            elif _is_number(one.tree):
                wrong = "names nothing: expected a quantity"
            if wrong:
                self.fault(origin, f"{one.text!r} {wrong}, such as A[0]")
        if expressions and len(expressions) == len(parsed):
            self.help.figures.append(FigureHelp(span, expressions, text.replace(" ", "")))

    def read_under(self, span: Span, words: object, origin: Origin) -> None:
        """Take the heading that it is to be read under."""
        if (said := self._said(words, "the words of a heading", origin)) is not None:
            self.help.under.append(Under(span, " ".join(said.split())))

    def lose(self, key: str, value: object, origin: Origin) -> None:
        """Take what the loss is, as in case files."""
        if key not in _LOSS:
            self.fault(origin, f"unknown key {short(key, 40)!r}: {expected(key, _LOSS)}")
            return
        if not self._once(f"loss.{key}", origin):
            return
        try:
            entry = _loss(key, value)
        except Malformed as error:
            self.fault(origin, error)
        else:
            self.help.loss = {**(self.help.loss or {}), key: entry}

    # -- each of it -------------------------------------------------------------------

    def _expression(self, text: object, origin: Origin) -> HelpExpression | None:
        if isinstance(text, HelpExpression):
            return text
        if (said := self._said(text, "an expression as text", origin)) is None:
            return None
        try:
            return HelpExpression(said.strip(), syntax.parse(said), origin)
        except Malformed as error:
            self.fault(origin, error)
            return None

    def _said(self, text: object, expected: str, origin: Origin) -> str | None:
        if isinstance(text, str) and text.strip():
            return text
        actual = "nothing" if text == "" else kind(text)
        self.fault(origin, f"expected {expected}, found {actual}")
        return None

    def _is_new(self, name: str, origin: Origin) -> bool:
        if bad := name_fault(name):
            self.fault(origin, bad)
        elif len(self.help.given) + len(self.help.steps) >= 2 * STEPS.most:
            self.fault(origin, STEPS.said(len(self.help.steps) + 1))
        else:
            return self._once(name, origin)
        return False

    def _once(self, what: str, origin: Origin) -> bool:
        """Return whether it wasn't said before; a fault where it was."""
        before = self.help.places.setdefault(what, origin)
        if before is origin:
            return True
        place = f"line {before.line}"
        if before.path != origin.path:
            place += f" of {before.path.name}"
        self.fault(origin, f"{short(what)} is already given in {place}")
        return False


def _is_number(tree: syntax.Tree) -> bool:
    """Return whether nothing is named or computed: a number, or a list of such."""
    match tree:
        case syntax.Negative(operand):
            return _is_number(operand)
        case syntax.Array(items):
            return all(map(_is_number, items))
        case syntax.Binary("/", syntax.Literal(), syntax.Literal()):
            return True
    return isinstance(tree, syntax.Literal)


def _loss(key: str, value: object) -> object:
    if key == "upstream":
        read_rows(value, symbols=True)
        return texts(value)
    if key == "output":
        if not isinstance(value, str):
            raise Malformed(f"expected the name of a step, found {kind(value)}")
        return value
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise Malformed("expected a list of names")
    return list(value)


def texts(data: Any) -> Nested[str]:
    """Nested numbers as they were written.

    >>> texts([[1, Decimal("0.50")], ["1/3", Decimal("-Infinity")]])
    (('1', '0.50'), ('1/3', '-inf'))
    """
    if isinstance(data, list | tuple):
        return tuple(texts(item) for item in data)  # type: ignore[return-value]
    if isinstance(data, Decimal) and data.is_infinite():
        return "-inf"
    return str(data)


def numbers(tree: syntax.Tree) -> list[Any] | str | None:
    """The numbers that a tree consists of, as nested texts; None where it is an expression.

    >>> numbers(syntax.parse("[[1, 1/2], [0, -inf]]")), numbers(syntax.parse("Q @ K.T"))
    ([['1', '1 / 2'], ['0', '-inf']], None)
    """
    if isinstance(tree, syntax.Array):
        parts = [numbers(item) for item in tree.items]
        return None if None in parts else parts
    text = "-inf" if tree == syntax.Negative(syntax.Name("inf")) else syntax.text(tree)
    try:
        read_tree(tree)
    except Malformed:
        return None
    return text


def lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the lines of a note begin and end; one with open brackets goes on.

    >>> [("X = [1,\\n 2]\\nignore")[i:j] for i, j in lines("X = [1,\\n 2]\\nignore")]
    ['X = [1,\\n 2]', 'ignore']
    """
    start = depth = at = 0
    for line in text.splitlines(keepends=True):
        depth += sum(map(line.count, "[(")) - sum(map(line.count, "])"))
        at += len(line)
        if depth <= 0:
            yield start, at - len(line) + len(line.rstrip())
            start, depth = at, 0
    if start < at:
        yield start, at


_PIECES = re.compile(r"""[^\[\](),"']++|"[^"]*+"|'[^']*+'|.""", re.DOTALL)


def listed(text: str) -> Sequence[str]:
    """The parts of a text between commas; those in brackets and quotes part nothing.

    >>> listed('A[0, 1], "a, b", Y')
    ['A[0, 1]', '"a, b"', 'Y']
    """
    parts, depth = [""], 0
    for piece in _PIECES.findall(text):
        depth += (piece in ("[", "(")) - (piece in ("]", ")"))
        if piece == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += piece
    return [part.strip() for part in parts]


# -- notes -------------------------------------------------------------------------------

#: The tag of a notebook's cell that claims nothing.
IGNORED = "symattn-ignore"

_EQUALS = re.compile(r"(?<![=<>!])=(?!=)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+\Z")
_QUOTED = re.compile(r"""(["'“])([^"'“”]*+)["'”]\Z""")
_GRADIENT = re.compile(r"dL\s*+/\s*+d([A-Za-z_][A-Za-z0-9_]*+)\Z")
_COUNT = re.compile(r"count(?:ing)?\s++from\s++(\S++)\Z")
_UNDER = re.compile(r"under\b\s*+(.*+)\Z", re.DOTALL)
_OF = re.compile(r"of\s++(?=\S)")
#: What notes say besides definitions and quantities.
_WORDS = ("ignore", "ignore begin", "ignore end", "count from 0", "count from 1", "under", "tokens")


@dataclass(frozen=True)
class _Note:
    text: str
    said: Origin
    block: int

    @property
    def end(self) -> int:
        assert self.said.span is not None
        return self.said.span.end


class _Notes:
    """Takes what the notes of an article say, and the tags of its cells."""

    def __init__(self, article: Article, draft: HelpDraft) -> None:
        self.article = article
        self.draft = draft
        self.open: _Note | None = None
        self.spans = [block.span for block in article.blocks]
        self.following = _next(article.blocks, lambda kind: kind != "note")
        self.headings = _next(article.blocks, lambda kind: kind == "heading")

    def take(self) -> None:
        for block, where in zip(self.article.blocks, self.spans, strict=True):
            if IGNORED in block.tags and block.kind != "note":
                self.draft.ignore(where)
        for number, note in enumerate(self._lines()):
            if number == NOTES.most:
                self.draft.fault(note.said, NOTES.said(f"more than {number}"))
                break
            if len(note.text) > CHARACTERS.most:
                self.draft.fault(note.said, CHARACTERS.said(len(note.text)))
            else:
                self._take(note)
        if self.open is not None:
            self.draft.fault(self.open.said, "no 'ignore end' follows")

    def _lines(self) -> Iterator[_Note]:
        for number, block in enumerate(self.article.blocks):
            if block.kind != "note":
                continue
            text = block.text
            for start, end in lines(text.string):
                piece = text[start:end].stripped()
                if len(piece):
                    where = piece.span()
                    line = self.article.place(where.start).line
                    origin = Origin(self.article.path, line, span=where)
                    yield _Note(piece.string, origin, number)

    def _take(self, note: _Note) -> None:
        text, origin = " ".join(note.text.split()), note.said
        if text in ("ignore", "ignore begin", "ignore end"):
            self._ignore(text.partition(" ")[2], note)
        elif counted := _COUNT.match(text):
            self.draft.count(int(counted[1]) if counted[1] in "01" else counted[1], origin)
        elif (equals := _EQUALS.search(text)) is not None:
            left, right = text[: equals.start()].strip(), text[equals.end() :].strip()
            self._define(left, right, note)
        elif heading := _UNDER.match(text):
            self.draft.read_under(self._section(note), _plain(heading[1]), origin)
        else:
            self._figures(_OF.sub("", text, count=1), note)

    def _ignore(self, which: str, note: _Note) -> None:
        draft, following = self.draft, self.following[note.block]
        match which, self.open:
            case "begin", None:
                self.open = note
            case "begin", _Note(said=begun):
                draft.fault(note.said, f"'ignore begin' in line {begun.line} is still open")
            case "end", None:
                draft.fault(note.said, "no 'ignore begin' comes before it")
            case "end", _Note() as begun:
                draft.ignore(Span(begun.end, note.end))
                self.open = None
            case _ if following is None:
                draft.fault(note.said, "nothing follows it to ignore")
            case _:
                assert following is not None
                draft.ignore(self.spans[following])

    def _define(self, left: str, right: str, note: _Note) -> None:
        draft, origin = self.draft, note.said
        if left.lower() == "tokens":
            inner = right[1:-1] if right[:1] == "[" and right[-1:] == "]" else right
            draft.label([_plain(token) for token in listed(inner)], origin)
        elif quoted := _QUOTED.match(left):
            draft.alias(quoted[2], right, origin)
        elif gradient := _GRADIENT.match(left):
            self._upstream(gradient[1], right, origin)
        elif is_figure(left):
            draft.print(self._ahead(note), listed(right), origin, left)
        elif not _NAME.match(left):
            draft.fault(
                origin, f"expected a name, or a phrase in quotes, before '=', found {short(left)!r}"
            )
        elif (tree := _parsed(right)) is None:
            # Whoever takes the step says what is wrong with it.
            draft.step(left, right, origin)
        elif (data := numbers(tree)) is not None:
            draft.give(left, data, origin)
        else:
            draft.step(left, HelpExpression(right, tree, origin), origin)

    def _upstream(self, output: str, right: str, origin: Origin) -> None:
        if (tree := _parsed(right)) is None or (data := numbers(tree)) is None:
            self.draft.fault(origin, f"expected numbers for dL/d{output}, found {short(right)!r}")
        else:
            self.draft.lose("output", output, origin)
            self.draft.lose("upstream", data, origin)

    def _figures(self, text: str, note: _Note) -> None:
        try:
            parts = [HelpExpression(part, syntax.parse(part), note.said) for part in listed(text)]
        except Malformed as error:
            meant = alike(text, _WORDS)
            self.draft.fault(note.said, (meant and f"unknown: {short(text)!r}; {meant}") or error)
            return
        self.draft.print(self._ahead(note), parts, note.said)

    def _ahead(self, note: _Note) -> Span:
        return Span(note.end, len(self.article.source))

    def _section(self, note: _Note) -> Span:
        """From behind a note to the next heading."""
        head = self.headings[note.block]
        end = len(self.article.source) if head is None else self.spans[head].start
        return Span(note.end, max(end, note.end))


def _parsed(text: str) -> syntax.Tree | None:
    try:
        return syntax.parse(text)
    except Malformed:
        return None


def _plain(text: str) -> str:
    quoted = _QUOTED.match(text.strip())
    return quoted[2] if quoted else text.strip()


def _next(blocks: Sequence[Block], wanted: Callable[[str], bool]) -> list[int | None]:
    """Of each block, the next one behind it whose kind is ``wanted``."""
    following: list[int | None] = []
    last: int | None = None
    for k in reversed(range(len(blocks))):
        following.append(last)
        if wanted(blocks[k].kind):
            last = k
    return following[::-1]


_LINES = re.compile(r"([1-9][0-9]{0,8})(?:\s*+[-–]\s*+([1-9][0-9]{0,8}))?+\Z")
#: So many places of words that stand at several are told.
_TOLD = 3


@dataclass(frozen=True)
class Where:
    """A piece of the article by itself, and what of it and behind it is spoken of: of
    lines the same, of a heading its section, of words all up to the next heading."""

    piece: Span
    ahead: Span


class _ArticlePlaces:
    def __init__(self, article: Article) -> None:
        self.article = article
        self._blocks = [(block.span, block) for block in article.blocks]
        self._headings = [pair for pair in self._blocks if pair[1].kind == "heading"]

    def find(self, wanted: str) -> Where | str:
        """Return where ``12``, ``30-41``, a heading or other words are; what is wrong with them,
        if they are nowhere or at several places."""
        if lines := _LINES.match(wanted.strip()):
            return self._lines(int(lines[1]), int(lines[2] or lines[1]))
        words = wanted.split()
        name = self.article.path.name
        expected = f'expected lines such as 12 or "30-41", a heading or words of {name}'
        unknown = f"{expected}, found {short(wanted)!r}"
        if not any(map(str.isalnum, wanted)):
            return unknown
        titles = [hit for hit in self._headings if hit[1].text.string.split() == words]
        if titles:
            return self._only([hit for hit, _ in titles], wanted) or self._section(*titles[0])
        pattern = re.compile(r"\s+".join(map(re.escape, words)))
        spans = [Span(*hit.span()) for hit in pattern.finditer(self.article.source)]
        if not spans:
            return unknown
        return self._only(spans, wanted) or self._behind(spans[0])

    def _lines(self, first: int, last: int) -> Where | str:
        count = self.article.line_count
        if last < first:
            return f"line {last} is before line {first}"
        if last > count:
            return f"{self.article.path.name} has {count} lines, found line {last}"
        lines = self.article.lines(first, last)
        return Where(lines, lines)

    def _only(self, spans: list[Span], wanted: str) -> str:
        """Return what is wrong with words that stand at several places; '' of others."""
        if len(spans) == 1:
            return ""
        lines = [str(self.article.place(span.start).line) for span in spans[:_TOLD]]
        more = ", ..." if len(spans) > _TOLD else ""
        sentence = f"{short(wanted)!r} occurs in lines {', '.join(lines)}{more}"
        return f"{sentence}: expected words that occur only once, or lines"

    def _section(self, where: Span, heading: Block) -> Where:
        """From a heading to the next one that ends its section."""
        end = self._next_heading(where.start, heading.level)
        return Where(Span(where.start, end), Span(where.end, end))

    def _behind(self, words: Span) -> Where:
        """The block of words, in plain text their lines, and what comes from them on to the
        next heading."""
        first, last = (self.article.place(at).line for at in (words.start, words.end))
        piece = self.article.lines(first, last)
        if self.article.form != "text":
            holds = (span for span, _ in self._blocks if span.start <= words.start < span.end)
            piece = next(holds, piece)
        return Where(piece, Span(words.end, self._next_heading(words.start)))

    def _next_heading(self, at: int, level: float = inf) -> int:
        """Return where the next heading of at most that level begins, or the article ends."""
        starts = (span.start for span, block in self._headings if block.level <= level)
        return next((start for start in starts if start > at), len(self.article.source))


_KEYS: dict[str, type] = {
    "document": str,
    **dict.fromkeys(("tokens", "ignore"), list),
    "count_from": int,
    **dict.fromkeys(("given", "steps", "aliases", "lines", "under", "loss"), dict),
}
_KIND = ("side file", 'it stands beside an article and begins with document = "post.md"')


@dataclass(frozen=True)
class SideFile:
    """A side file, and the article that it is about."""

    file: File
    document: Path

    @property
    def path(self) -> Path:
        """Return where it is."""
        return self.file.path


def beside(article: Path) -> SideFile | None:
    """The side file beside an article: that of its name, if it is about this one.

    Raises :class:`Malformed` where it can't be read, or is about no file at all.
    """
    path = article.with_suffix(SIDE_FILE)
    if not path.is_file():
        return None
    side = read_side_file(path, lambda name: path.parent / name)
    if _is_same(side.document, article):
        return side
    if side.document.is_file():
        return None
    name = side.document.name
    hint = f": {meant}" if (meant := alike(name, [article.name])) else ""
    fault = Fault("document", f"there is no {short(name)!r} beside it{hint}")
    raise side.file.malformed(Faults([fault]))


def _is_same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except (OSError, ValueError):
        return False


def read_side_file(path: Path, find: Callable[[str], Path], held: bytes | None = None) -> SideFile:
    """The side file at ``path``, or one that holds these bytes; ``find`` gives the file of the
    name that it is about.

    Raises :class:`Malformed` where it is no such file; what is wrong inside its
    tables is found when they are taken.
    """
    try:
        data = content(path, "the file", *_KIND) if held is None else held
        file = parsed(path, data)
    except Malformed as error:
        raise Malformed(error.faults, str(path), error.more) from None
    name = file.document.get("document")
    try:
        if name is None:
            raise Malformed('missing: expected the article\'s name, as in document = "post.md"')
        if not isinstance(name, str) or not name:
            raise Malformed(f"expected the article's name as text, found {kind(name)}")
        document = find(name)
    except Malformed as error:
        faults = Faults(fault.inside("document") for fault in error.faults)
        raise file.malformed(faults) from None
    return SideFile(file, document)


class _SideFile:
    """Takes what a side file says of an article."""

    def __init__(self, article: Article, file: File, draft: HelpDraft) -> None:
        self.places = _ArticlePlaces(article)
        self.file = file
        self.draft = draft

    def take(self) -> None:
        document, draft = self.file.document, self.draft
        whole = Origin(self.file.path, 0)
        wrong = misfits(document, _KEYS)
        if (bad := unknown(document, _KEYS)) or wrong:
            draft.fault(whole, Malformed([*bad, *wrong], more=bad.more))
        sound = {key: value for key, value in document.items() if key in _KEYS}
        for fault in wrong:
            del sound[fault.where]
        for key in ("ignore", "lines", "under", "aliases"):
            if len(sound.get(key, ())) > NOTES.most:
                draft.fault(self._said(key), NOTES.said(len(sound.pop(key))))
        for key, take in (("tokens", draft.label), ("count_from", draft.count)):
            if key in sound:
                take(sound[key], self._said(key))
        for table, take_entry in (
            *(("given", draft.give), ("steps", draft.step)),
            *(("aliases", draft.alias), ("loss", draft.lose)),
        ):
            for key, value, origin in self._entries(sound, table):
                take_entry(key, value, origin)
        for number, ignored in enumerate(sound.get("ignore", [])):
            if (where := self._where(ignored, self._said(f"ignore[{number}]"))) is not None:
                draft.ignore(where.piece)
        for key, parts, origin in self._entries(sound, "lines"):
            if (where := self._where(key, origin)) is not None:
                self._print(where, parts, origin)
        for key, words, origin in self._entries(sound, "under"):
            if (where := self._where(key, origin)) is not None:
                draft.read_under(where.ahead, words, origin)

    def _entries(self, document: dict[str, Any], table: str) -> Iterator[tuple[str, Any, Origin]]:
        for key, value in document.get(table, {}).items():
            yield key, value, self._said(f"{table}.{key}")

    def _said(self, where: str) -> Origin:
        return Origin(self.file.path, self.file.line(where), where)

    def _where(self, lines: object, origin: Origin) -> Where | None:
        if isinstance(lines, bool) or not isinstance(lines, int | str):
            self.draft.fault(origin, f'expected lines such as 12 or "30-41", found {kind(lines)}')
            return None
        where = self.places.find(str(lines))
        if isinstance(where, str):
            self.draft.fault(origin, where)
            return None
        return where

    def _print(self, where: Where, parts: object, origin: Origin) -> None:
        if not isinstance(parts, dict):
            self.draft.print(where.ahead, _each(parts), origin)
            return
        for text, part in parts.items():
            if is_figure(text):
                self.draft.print(where.ahead, _each(part), origin, text)
            else:
                self.draft.fault(
                    origin, f'expected a figure such as "0.507", found {short(text)!r}'
                )


def _each(parts: object) -> list[object]:
    if isinstance(parts, str):
        return list(listed(parts))
    return list(parts) if isinstance(parts, list) else [parts]


#: Where the author says nothing.
NONE = Help()


def help_of(article: Article, side: SideFile | None = None) -> Help:
    """Return what is said of an article in its notes, and in a side file.

    Raises :class:`Malformed` with every fault of both, each with its line.

    >>> from symattn.documents.files import article
    >>> made = article(Path("post.md"), b"<!-- symattn: T = S / sqrt(d_k) -->\\n")
    >>> help_of(made).steps["T"].text
    'S / sqrt(d_k)'
    """
    draft = HelpDraft()
    _Notes(article, draft).take()
    if side is not None:
        before = len(draft.faults)
        _SideFile(article, side.file, draft).take()
        draft.faults[before:] = [
            (origin, replace(fault, line=side.file.line(fault.where)))
            for origin, fault in draft.faults[before:]
        ]
    return draft.checked()
