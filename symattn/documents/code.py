"""Code in an article: what its statements say, its comments, and what it printed.

Python is read as what it is, and never run; what is no Python goes line by line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import inf
from typing import TypeGuard

from symattn.documents import grids
from symattn.documents.article import Block, session
from symattn.documents.notation import read_parts
from symattn.documents.notation.vocabulary import identifier
from symattn.documents.running import source
from symattn.documents.running.machine import Machine
from symattn.documents.running.source import ProgramSource
from symattn.documents.running.telling import StatementMeaning, Telling, stored
from symattn.documents.text import Span, Text, runs
from symattn.documents.trees import (
    Chain,
    Member,
    Named,
    Opaque,
    Passage,
    Piece,
    Words,
    alone,
    contained,
    opaque,
    walk,
)
from symattn.expressions import syntax
from symattn.limits import RUN
from symattn.numbers.balls import precision, remaining, task
from symattn.spelling import written

#: What authors call Python.
_PYTHON = re.compile(r"\{?\.?(?:i?python3?|py3?|pycon|ipython[0-9]?|sage|code-cell|jupyter)\b")
#: What authors call code that is surely none, or none at all.
_OTHER = re.compile(
    r"(?:text|txt|plain|console|output|out|latex|tex|math|json|ya?ml|html|r|julia|c\+\+|cpp|matlab|rust|java|javascript|js|bash|sh|shell|toml|diff)\b"
)
#: What authors call R, and its signs that Python writes in another way.
_R = re.compile(r"\{?\.?r\b")
_SIGNS = re.compile(r"<-|%\*%")
_SPELT = {"<-": "=", "%*%": "@"}
#: The head of a function, and how many statements its body may have.
_HEAD = re.compile(r"def [^\n]*:[ \t]*+(?:\#[^\n]*+)?\n?")
_BODY = 40
#: The mark of a comment on a line of its own.
_HASHES = re.compile(r"\s*+\#++(?!>)")
#: What assigns to a name, or to a part of what it names.
_ASSIGNED = re.compile(r"[ \t]*+([^\W\d]\w*+)(?:\.\w++|\[[^\]\n]*+\])*+[ \t]*+[-+*/@]?=(?!=)")
#: A comment that says what is printed: ``# -> 0.5``, ``#> 0.5``, ``# = 0.5``, ``# Output: 0.5``.
_GIVES = re.compile(r"[ \t]*+(?:-+>|=+>|>+|→|⇒|=|≈|(?i:output|prints|result|out)[ \t]*+:)[ \t]*+")
#: Programs are run with so many bits.
_BITS = 160
#: What printed values are made of.
_NUMBERS = syntax.Literal | syntax.Array | syntax.Negative


@dataclass
class Codes:
    """The code of an article, block after block: what one defines, later ones use."""

    program: Machine = field(default_factory=lambda: Machine(Telling()))
    _left: int = RUN.most
    #: By name: how many decimals are known of it, or of what it is computed from; -1 of what
    #: nobody knows.
    known: dict[str, float] = field(default_factory=dict)

    def in_turn(self, run: Sequence[Passage]) -> list[Passage]:
        """Code with what it printed: what that shows of a name that nobody knows is its
        value from there on, and stands right behind the statement that shows it."""
        code = [passage for passage in run if passage.kind == "code"]
        rest = [passage for passage in run if passage.kind != "code"]
        shown, printed = list(_shown(code)), list(_shown(rest))
        labels = {words for _, words, _ in printed} - {""}
        are_all = len(shown) == len(printed) and all(
            words == other or words not in labels
            for (_, words, _), (_, other, _) in zip(shown, printed, strict=True)
        )
        pairs = dict(zip((k for k, *_ in shown), printed, strict=True)) if are_all else {}
        told: list[Passage] = []
        taken = 0
        for k, passage in enumerate(code):
            told.append(passage)
            chains = _chains(passage)
            for one in chains:
                self._learn(one)
            place, _, value = pairs.get(k, (-1, "", None))
            news = self._news(chains, value) if place >= taken else None
            if news is None or value is None:
                continue
            name, result = news
            if self.known[name] >= 0:
                # It is shown better than it can be computed.
                told.append(_lost(passage, chains[0]))
            self.known[name] = _decimals(result)
            self.program.know(name, result)
            told += [*rest[taken:place], _given(rest[place], name, value)]
            taken = place + 1
        return [*told, *rest[taken:]]

    def _news(self, shown: Sequence[Chain], value: Chain | None) -> tuple[str, syntax.Tree] | None:
        """The name that is shown, where it isn't known as well as it is printed, and its value."""
        match shown, value:
            case [Chain((syntax.Name(name),))], Chain((*_, result)) if _is_result(result):
                are_numbers = all(isinstance(one, _NUMBERS) for one in walk(result))
                is_better = self.known.get(name, inf) < _decimals(result)
                return (name, result) if are_numbers and is_better else None
        return None

    def _learn(self, chain: Chain) -> None:
        match chain:
            case Chain((syntax.Name(name), *parts), is_code=True) if parts:
                self.known[name] = min(map(self._places, parts))

    def _places(self, part: Member) -> float:
        if isinstance(part, Opaque):
            return -1
        return min((self.known.get(name, inf) for name in syntax.names(part)), default=inf)

    def passages(self, block: Block) -> tuple[Passage, ...]:
        """Return what a block of code says.

        A statement is a passage: chains for what it assigns; words and chains of one
        member, marked :attr:`~symattn.documents.trees.Chain.is_code`, for what it shows.
        """
        text = block.text
        if not (turns := session(text)):
            return tuple(self._code(text, block.language))
        language = "r" if _R.match(block.language) else "python"
        passages: list[Passage] = []
        for kind, turn in turns:
            if kind == "code":
                passages += self._code(turn, language)
            else:
                passages += grids.passages(list(turn.lines()), "output")
        return tuple(passages)

    def _code(self, text: Text, language: str) -> Iterator[Passage]:
        if _R.match(language):
            text = _of_r(text)
        pieces = list(parsed_pieces(text))
        whole = all(parsed is not None for _, parsed in pieces)
        is_other = _OTHER.match(language) and not _R.match(language)
        if is_other or not (whole or any(p is not None for _, p in pieces)):
            lines, is_python = list(text.lines()), _PYTHON.match(language)
            yield from self._lines(lines) if is_python else _remarks(lines)
            return
        certain = bool(_PYTHON.match(language)) and whole
        waiting: list[Text] = []
        for piece, parsed in pieces:
            if parsed is None or not (certain or _is_program(parsed)):
                waiting += piece.lines()
                continue
            yield from self._lines(waiting)
            waiting = []
            yield from self._program(parsed, self._followed(piece, parsed))
        yield from self._lines(waiting)

    def _lines(self, lines: Sequence[Text]) -> Iterator[Passage]:
        """Lines that are no Python; what they assign to names of the program, and is not
        understood, nobody knows from then on."""
        said: set[str] = set()
        for passage in _remarks(lines):
            said.update(
                piece.members[0].name
                for piece in passage.pieces
                if isinstance(piece, Chain) and isinstance(piece.members[0], syntax.Name)
            )
            yield passage
        for line in lines:
            if chains := self.program.lose({*assigned_in(line)} - said, line):
                yield Passage("code", tuple(chains))

    def _followed(self, piece: Text, parsed: ProgramSource) -> Sequence[StatementMeaning]:
        def unread(why: str) -> StatementMeaning:
            names = {name for node in parsed.body for name in stored(node)[0]}
            pieces = (alone(opaque(why, piece)), *self.program.lose(names, piece))
            return StatementMeaning(parsed, parsed.body[-1], pieces)

        with precision(_BITS), task(self._left):
            told = contained(lambda: self.program.follow(parsed), unread)
            self._left = max(remaining(), 0)
        return told

    def _program(
        self, parsed: ProgramSource, events: Sequence[StatementMeaning]
    ) -> Iterator[Passage]:
        """Yield what the statements of a piece of Python say, and its comments."""
        labels = {label for event in events for label in _labels(event.pieces)}
        taken = {line for line, text in parsed.comments.items() if text.string.strip() in labels}
        before = min((node.lineno for node in parsed.body), default=1 << 30)
        yield from self._comments(parsed, taken, range(1, before))
        for event in events:
            pieces: tuple[Piece, ...] = event.pieces
            line = event.node.end_lineno or 0
            if event.source is parsed and line not in taken and line in parsed.comments:
                whole = _whole(parsed, line)
                taken.update(whole)
                lines = [parsed.comments[one] for one in whole]
                pieces = self._remarked(event, Text.joined(lines, "\n"))
            yield Passage("code", pieces)
        yield from self._comments(parsed, taken, range(before, 1 << 30))

    def _remarked(self, event: StatementMeaning, comment: Text) -> tuple[Piece, ...]:
        """A statement with the comment behind it: a printed result goes on with its chain."""
        last = event.pieces[-1]
        gives = _GIVES.match(comment.string)
        rest = comment[gives.end() if gives else 0 :].stripped()
        if not len(rest):
            return event.pieces
        pieces: tuple[Piece, ...] = read_parts([("code", rest)])
        pieces = grids.lone(pieces) if gives else pieces
        match pieces:
            case [Chain(members=(result,), spans=spans)] if isinstance(last, Chain) and (
                gives or (_is_result(result) and not _is_size(result))
            ):
                chain = Chain(
                    (*last.members, result), (*last.links, "="), (*last.spans, *spans), is_code=True
                )
                return (*event.pieces[:-1], chain)
        return (*event.pieces, *pieces)

    def _comments(self, parsed: ProgramSource, taken: set[int], where: range) -> Iterator[Passage]:
        """The comments that no statement has behind it; those of neighbouring lines
        together, so that an array among them is found."""
        left = [line for line in parsed.comments if line in where and line not in taken]
        taken.update(left)
        for run in runs(left, lambda above, line: line == above + 1):
            yield from grids.passages([parsed.comments[line] for line in run], "code")


def _whole(parsed: ProgramSource, line: int) -> Sequence[int]:
    """Return the lines of a comment that stands behind a statement: an array in it ends below."""
    begun = {
        node.lineno for body in parsed.body for node in ast.walk(body) if hasattr(node, "lineno")
    }
    lines, text = [line], parsed.comments[line].string
    while text.count("[") > text.count("]") and (following := lines[-1] + 1) not in begun:
        if following not in parsed.comments:
            return [line]
        lines.append(following)
        text += parsed.comments[following].string
    return lines if text.count("[") == text.count("]") else [line]


def may_be_python(language: str) -> bool:
    """Return whether code is called Python, or nothing.

    >>> may_be_python("python3"), may_be_python(""), may_be_python("julia")
    (True, True, False)
    """
    return not language or _PYTHON.match(language) is not None


def assigned_in(text: Text) -> Iterator[str]:
    """Yield the names that lines assign to which are no Python."""
    for line in text.lines():
        if assigned := _ASSIGNED.match(line.string):
            yield identifier(assigned[1])


def _chains(passage: Passage) -> list[Chain]:
    return [piece for piece in passage.pieces if isinstance(piece, Chain)]


def _shown(passages: Sequence[Passage]) -> Iterator[tuple[int, str, Chain]]:
    """Yield what code shows, or what was printed: the number of its passage, the words before it,
    and the chain; a number among words is something that is printed as well."""
    words = ""
    for place, passage in enumerate(passages):
        for piece in passage.pieces:
            match piece:
                case Words(text, span, figures):
                    if passage.kind != "code":
                        yield from ((place, "", Chain((one,), (), (span,))) for one in figures)
                    words = _folded(text)
                case Chain((syntax.Name(name),)) if passage.kind != "code":
                    words = _folded(name)
                case Chain(members) if passage.kind != "code" or (
                    piece.is_code and len(members) == 1
                ):
                    match members[0]:
                        case syntax.Name(name) if len(members) > 1:
                            words = _folded(name)
                    yield place, words, piece
                    words = ""


def _folded(words: str) -> str:
    """Words to be compared: without spaces, which prints fill up."""
    return "".join(words.lower().split()).rstrip(":=")


def _decimals(value: Member) -> float:
    """Return how many decimals are printed of a value; of whole numbers, all."""
    texts = [one.text for one in walk(value) if isinstance(one, syntax.Literal)]
    return max((written(text).decimals for text in texts), default=0) or inf


def _lost(passage: Passage, show: Chain) -> Passage:
    """Says that a name that is shown means no longer what it did."""
    members = (show.members[0], Opaque("", show.span))
    return replace(passage, pieces=(Chain(members, ("=",), show.spans * 2, is_code=True),))


def _given(passage: Passage, name: str, value: Chain) -> Passage:
    """Return what was printed, as the value that a name has."""
    span = value.spans[-1]
    said = Chain((Named(name, span), value.members[-1]), ("=",), (span, span), is_code=True)
    pieces = (said if piece is value else piece for piece in passage.pieces)
    return replace(passage, pieces=tuple(pieces))


def _remarks(lines: Iterable[Text]) -> Iterator[Passage]:
    """Return what lines of code say that are no Python, and comments among them."""
    marks = ((line, _HASHES.match(line.string)) for line in lines)
    return grids.passages([line[m.end() :] if m else line for line, m in marks], "code")


def parsed_pieces(text: Text) -> Iterator[tuple[Text, ProgramSource | None]]:
    """Pieces of a text with the programs that they are. A function whose body has lost its
    indentation, as in many a copy, ends where it returns."""
    pieces = list(source.pieces(text))
    at = 0
    while at < len(pieces):
        piece, program, taken = pieces[at], source.parsed(pieces[at]), 1
        if program is None and _HEAD.fullmatch(piece.string):
            lines = range(at + 1, min(at + _BODY, len(pieces)))
            last = next((k for k in lines if pieces[k].string.startswith("return")), None)
            if last is not None:
                body = (line.enclosed("    ", "") for line in pieces[at + 1 : last + 1])
                whole = Text.joined([piece, *body])
                if (program := source.parsed(whole)) is not None:
                    piece, taken = whole, last + 1 - at
        yield piece, program
        at += taken


def literals(block: Block) -> Iterator[Span]:
    """Yield where the numbers stand that the program in a block of code computes with; those in
    comments, and of what it shows, are none of them.

    >>> code = Block.of("code", Text.whole("x = [0.5, -2]  # 0.7"), "python")
    >>> [tuple(span) for span in literals(code)]
    [(5, 8), (11, 12)]
    """
    for kind, turn in session(block.text) or [("code", block.text)]:
        if kind != "code":
            continue
        text = _of_r(turn) if _R.match(block.language) else turn
        for _, parsed in parsed_pieces(text):
            if parsed is not None and _is_program(parsed):
                for node in chain.from_iterable(map(ast.walk, parsed.body)):
                    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
                        yield parsed.span(node)


def _is_program(parsed: ProgramSource) -> bool:
    """Return whether a piece among others that are no Python is meant as Python, not as a
    line of notation that happens to be."""
    shown = [node.value for node in parsed.body if isinstance(node, ast.Expr)]
    are_calls = all(isinstance(value, ast.Call) for value in shown)
    return are_calls and bool(parsed.body or parsed.comments)


def _labels(pieces: Sequence[Piece]) -> Iterator[str]:
    for piece in pieces:
        if isinstance(piece, Chain):
            for member in piece.members:
                yield from (label for label in getattr(member, "rows_said", ()) if label)


def _is_result(member: object) -> TypeGuard[syntax.Tree]:
    match member:
        case syntax.Literal() | syntax.Array() | syntax.Negative(syntax.Literal()):
            return True
    return False


def _is_size(member: object) -> bool:
    """Return whether it may well be the size of what is assigned: whole numbers in brackets."""
    match member:
        case syntax.Array(items):
            return all(isinstance(item, syntax.Literal) and item.text.isdigit() for item in items)
    return False


def _of_r(text: Text) -> Text:
    """R with the signs of Python for assignments and products of matrices.

    >>> str(_of_r(Text.whole("Y <- A %*% V")))
    'Y = A @ V'
    """
    return text.sub(_SIGNS, lambda sign: _SPELT[sign[0]])
