"""What was said so far, gathered from notes and from a side file, with all faults.

What an author says to symattn, whichever way it was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from symattn import syntax
from symattn.documents.text import Span
from symattn.errors import Fault, Faults, Malformed, expected, short
from symattn.limits import FAULTS_KEPT, PHRASES, STEPS
from symattn.numbers.reading import read_tree
from symattn.numbers.rows import read_rows
from symattn.programs.program import name_fault
from symattn.shapes import Nested
from symattn.tables.places import kind


class Origin(NamedTuple):
    """Where something was said: the file and the line; ``where`` is the path inside a
    side file, ``span`` that of a note in the article."""

    path: Path
    line: int
    where: str = ""
    span: Span | None = None

    def fault(self, message: str) -> Fault:
        """What is wrong with it."""
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
    """What stands in ``span`` is to be read as if it stood under a heading of these ``words``."""

    span: Span
    words: str


@dataclass
class Help:
    """What the author of an article says of it.

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
        """What the rows are called."""
        if not isinstance(tokens, list | tuple) or not tokens:
            actual = "an empty list" if tokens == [] else kind(tokens)
            self.fault(origin, f"expected a list of texts, found {actual}")
        elif not all(isinstance(token, str) and token.strip() for token in tokens):
            self.fault(origin, "expected a text for each token, as in cat, sat, mat")
        elif self._once("tokens", origin):
            self.help.tokens = tuple(token.strip() for token in tokens)

    def count(self, number: object, origin: Origin) -> None:
        """What the article counts rows and columns from."""
        if isinstance(number, bool) or number not in (0, 1):
            actual = repr(short(str(number)))
            self.fault(origin, f"expected to count from 0 or 1, found {actual}")
        elif self._once("count from", origin):
            self.help.count_from = int(str(number))

    def ignore(self, span: Span) -> None:
        """What stands there claims nothing."""
        self.help.ignored.append(span)

    def print(self, span: Span, parts: Iterable[object], origin: Origin, text: str = "") -> None:
        """What the values that are printed there are, or the figures of that ``text``."""
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
        """What heading that is to be read under."""
        if not isinstance(words, str) or not words.strip():
            actual = "nothing" if words == "" else kind(words)
            self.fault(origin, f"expected the words of a heading, found {actual}")
        else:
            self.help.under.append(Under(span, " ".join(words.split())))

    def lose(self, key: str, value: object, origin: Origin) -> None:
        """What the loss is, as in case files."""
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
        if not isinstance(text, str) or not text.strip():
            actual = "nothing" if text == "" else kind(text)
            self.fault(origin, f"expected an expression as text, found {actual}")
            return None
        try:
            tree = syntax.parse(text)
        except Malformed as error:
            self.fault(origin, error)
            return None
        return HelpExpression(text.strip(), tree, origin)

    def _is_new(self, name: str, origin: Origin) -> bool:
        if bad := name_fault(name):
            self.fault(origin, bad)
        elif len(self.help.given) + len(self.help.steps) >= 2 * STEPS.most:
            self.fault(origin, STEPS.said(len(self.help.steps) + 1))
        else:
            return self._once(name, origin)
        return False

    def _once(self, what: str, origin: Origin) -> bool:
        """Whether it wasn't said before; a fault where it was."""
        before = self.help.places.setdefault(what, origin)
        if before is origin:
            return True
        place = f"line {before.line}"
        if before.path != origin.path:
            place += f" of {before.path.name}"
        self.fault(origin, f"{short(what)} is already given in {place}")
        return False


def _is_number(tree: syntax.Tree) -> bool:
    """Whether nothing is named or computed: a number, or a list of such."""
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
    """Where the lines of a note begin and end; one with open brackets goes on.

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
