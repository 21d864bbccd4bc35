"""Outputs: what an article says that a program prints, beside what it prints.

A text that stands behind a program, or a comment in it, shows something of it where its words,
its lines and the count of its numbers are those of what the program shows there: notation alone
says so, whatever the numbers are.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import accumulate, count, pairwise, takewhile
from typing import Any

import numpy as np
from flint import arb

from symattn.documents import code
from symattn.documents.article import Article, Block, session
from symattn.documents.running import source
from symattn.documents.running.machine import Machine
from symattn.documents.running.numbers import ball, near
from symattn.documents.running.source import ProgramSource
from symattn.documents.running.streams import is_still
from symattn.documents.running.texts import TOKEN, Hidden, Shown, Slot
from symattn.documents.text import Span, Text
from symattn.documents.trees import PrintedFigure
from symattn.expressions import syntax
from symattn.limits import RUN
from symattn.numbers.balls import Exhausted, charge, precision, task
from symattn.programs.operands import ExactNumber
from symattn.spelling import written

#: What prints add around the words and numbers of a value.
_DRESS = re.compile(
    r"\b(?:tensor|array|np\.\w+|numpy\.\w+|Tensor|DeviceArray|Array|tf\.Tensor)\(|\bdtype=[\w.]+"
    r"|\bgrad_fn=<\w+>|\brequires_grad=\w+|\bdevice='[\w:]+'|\bshape=\([\d, ]*\)|\bnumpy="
)
#: Words before a result in a comment that tell only that it is one.
_SAYS = re.compile(
    r"\s*(?:(?:expected|the|approx(?:imate(?:ly)?)?\.?|result|output|outputs|prints|returns|gives|value)\b\s*)*"
    r"(?:[:=]|-+>|=+>|→|⇒|≈|~|>+)*\s*",
    re.I,
)
#: A call before its value in a list, and the result of a statement behind another sign.
_LABELLED = re.compile(r"(?<=[\[,\n])[ \t]*[A-Za-z_]\w*\([^()\n]*\)[ \t]*=[ \t]*(?=[-+]?[.\d])")
_RESULT = re.compile(
    r"[ \t]*(?P<sign>=>|=|≈|→|->)"
    r"(?P<value>\s*[-+−]?(?:[.\d]+|\[(?:[-+−]?[.\d]++(?:e[-+]?\d++)?|[\s,\[\]])*\]))"
    r"[ \t]*(?:#[^\n]*)?\s*\Z"
)
#: What is said of an array behind it, and what is remarked of an output.
_BESIDE = re.compile(r"(?<=\])\)?\s*(?:→|⇒|←|-+>|=>|<-+|[—–-](?=\s)|#|\().*")
_REMARK = re.compile(r"(?<=\])\s*#.*")
#: How far floats of 64 bits and of 32 may be from what they stand for; what computes in these.
_DOUBLE, _SINGLE = arb("1e-10"), arb("2e-6")
_IN_SINGLE = re.compile(r"\b(?:torch|tensorflow|tf|jax|jnp|nn|float32)\b")
#: Lines with more tokens are not compared; so many texts behind a program are.
_LONGEST, _BEHIND = 3000, 3
#: Programs are run so many times at most, with what is known of random numbers then.
_TURNS = 3
_BITS = 160
#: A number is told in so many decimals, an expression in so many letters.
_DECIMALS, _SAID = 30, 60


@dataclass(frozen=True)
class Ran:
    """Figures that an article says are printed, the expression that prints them, and the numbers
    that come of it."""

    said: syntax.Tree
    value: syntax.Tree
    numbers: syntax.Tree


@dataclass(frozen=True)
class Runs:
    """All figures of outputs, as far as programs were run; whether they were run to their end."""

    figures: Sequence[Ran] = ()
    is_cut: bool = False


@dataclass(frozen=True)
class _Token:
    """A word or a number of a text; ``begins`` a line, or ``ends`` one."""

    word: str
    span: Span | None
    text: str
    begins: bool
    ends: bool


def _tokens(lines: Iterable[Text]) -> Iterator[_Token]:
    for line in lines:
        bare = line.sub(_DRESS, "")
        marks = [*TOKEN.finditer(bare.string)]
        for k, mark in enumerate(marks):
            where = bare.span(*mark.span())
            text = mark[0].replace("−", "-")
            is_number = mark["number"] is not None
            yield _Token(
                text.casefold(),
                where if is_number else None,
                text,
                k == 0,
                k == len(marks) - 1,
            )


# -- one line of what is shown, and a text --------------------------------------------------


def _fits(shown: Shown, tokens: Sequence[_Token], at: int) -> float:
    """Return how well what is shown stands at a place of a text; 0 where it doesn't."""
    wanted = shown.tokens
    end = at + len(wanted)
    if end > len(tokens) or not tokens[at].begins or not tokens[end - 1].ends:
        return 0.0
    score = 0.0
    for one, token in zip(wanted, tokens[at:end], strict=True):
        if isinstance(one, Hidden):
            return 0.0
        if isinstance(one, str):
            if one.replace("−", "-").rstrip(".") != token.word.rstrip("."):
                return 0.0
            score += 2
        elif token.span is None:
            if token.word in ("inf", "nan") and not ball(one.value).is_finite():
                continue
            return 0.0
        else:
            score += 1 + 0.5 * comes(one, token.text)
    return score


def comes(slot: Slot, text: str, off: arb = _SINGLE) -> bool:
    """Return whether a number may be printed so, by floats that may be so far off."""
    value = ball(slot.value)
    if not value.is_finite():
        return False
    printed = written(text)
    is_rounded = not text.lstrip("+-").isdigit()
    half = arb(10) ** -printed.decimals / 2 if is_rounded else arb(0)
    return bool((value - arb(text)).abs_lower() <= half + off * (1 + abs(value)))


# -- the programs of an article -----------------------------------------------------------


def ran(article: Article) -> Runs:
    """Return the figures that an article says its programs print, with what comes out. Where a line
    has other random numbers than its seed gives, none of them are known by seeds."""
    found, is_astray = _ran(article, are_seeded=True)
    return _ran(article, are_seeded=False)[0] if is_astray else found


def _ran(article: Article, are_seeded: bool) -> tuple[Runs, bool]:
    known: dict[int, np.ndarray[Any, Any]] = {}
    turn = _Turn(known)
    is_cut = True
    with precision(_BITS), suppress(Exhausted):
        for _ in range(_TURNS):
            turn = _Turn(known, article.form == "notebook", are_seeded)
            with task(RUN.most):
                turn.read(article.blocks)
            if turn.news.keys() <= known.keys():
                break
            known = known | turn.news
        is_cut = False
    return Runs(tuple(turn.ran), is_cut), turn.is_astray


@dataclass
class _Turn:
    """One run of all programs, with what is ``known`` of random arrays from the last one."""

    known: Mapping[int, np.ndarray[Any, Any]]
    #: Whether what it lacks may have been run, and changed anything.
    is_notebook: bool = False
    are_seeded: bool = False
    #: Whether of a line less than three of four digits are what its seed gives.
    is_astray: bool = False
    news: dict[int, np.ndarray[Any, Any]] = field(default_factory=dict)
    ran: list[Ran] = field(default_factory=list)
    _machine: Machine = field(init=False)
    #: How far its floats may be off.
    _off: arb = _DOUBLE
    #: How much of what is shown has been told from texts, and the texts behind the last program.
    _taken: int = 0
    _behind: int = _BEHIND

    def __post_init__(self) -> None:
        self._machine = Machine(known=self.known, are_seeded=self.are_seeded)

    def read(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            turns = session(block.text) if block.kind == "code" else []
            for kind, text in turns:
                if kind != "code":
                    self._output(text, is_valued=True)
                else:
                    self._program(text, block.language)
            if turns or block.kind not in ("code", "output"):
                continue
            if block.kind == "output" and self.is_notebook:
                self._output(block.text, is_valued=True)
            elif not self._output(block.text):
                self._program(block.text, block.language)

    def _program(self, text: Text, language: str) -> None:
        """Run a text, if it is a program, of Python for all that is said."""
        pieces = [*code.parsed_pieces(text)] if code.may_be_python(language) else []
        if not any(_does(parsed) if parsed else _RESULT.search(x.string) for x, parsed in pieces):
            self._behind += 1
            return
        self._behind = 0
        if _IN_SINGLE.search(text.string):
            self._off = _SINGLE
        last: list[Shown] = []
        for piece, parsed in pieces:
            if parsed is None:
                last = self._chained(piece)
            elif parsed.body:
                last = self._remarks(parsed, self._run(parsed))
            else:
                lines = [*parsed.comments.values()]
                is_told = any(self._remark(last, lines[:end]) for end in range(len(lines), 0, -1))
                if not is_told and len(lines) > 1:
                    self._output(Text.joined(lines, "\n"))

    def _chained(self, piece: Text) -> list[Shown]:
        """Run what is Python but for a result behind another sign of equality; return what it
        shows, if nothing says that."""
        piece = piece.sub(_LABELLED, "")
        chain = _RESULT.search(piece.string)
        parsed = source.parsed(piece[: chain.start()] if chain else piece)
        if parsed is None:
            self._machine.forget(code.assigned_in(piece), piece)
            return []
        parts = [part for node in parsed.body for part in ast.walk(node)]
        if chain and not any(isinstance(getattr(x, "ctx", None), ast.Load) for x in parts):
            # What only numbers come to is an equation, and read as one.
            return []
        # Its numbers are printed, those of a program are what it computes with.
        self._machine.is_rounded = True
        shown = self._run(parsed)
        self._machine.is_rounded = False
        if chain and self._remark(shown, [*piece[chain.end("sign") : chain.end("value")].lines()]):
            return []
        return shown

    def _run(self, parsed: ProgramSource) -> list[Shown]:
        start = len(self._machine.shown)
        self._machine.run(parsed)
        return self._machine.shown[start:]

    def _output(self, text: Text, is_valued: bool = False) -> bool:
        """Take a text behind a program, if it is what that prints, or its last value; return
        whether it is."""
        tokens = [*_tokens(line.sub(_REMARK, "") for line in text.lines())]
        if self._behind >= _BEHIND or len(tokens) > _LONGEST:
            return False
        every = self._machine.shown[self._taken :]
        # Of values by themselves only the last of the program right before is shown.
        last = every[-1:] if is_valued and not self._behind else []
        shown = [x for x in every if x.how == "printed" or (x.how == "valued" and x in last)]
        places = _placed(shown, tokens)
        if not places or 2 * sum(len(shown[k].tokens) for k, _ in places) < len(tokens):
            return False
        for k, at in _told(shown, places):
            self._take(shown[k], tokens[at : at + len(shown[k].tokens)])
        self._taken = 1 + self._machine.shown.index(shown[places[-1][0]], self._taken)
        return True

    def _remarks(self, parsed: ProgramSource, shown: Sequence[Shown]) -> list[Shown]:
        """Take comments behind statements, and in the lines below, that say what these give;
        return what the last statement shows, of which none does."""
        by_line: dict[int, list[Shown]] = {}
        for one in shown:
            by_line.setdefault(one.node.end_lineno or 0, []).append(one)
        comments = parsed.comments
        last: list[Shown] = []
        for line, found in sorted(by_line.items()):
            below = [*takewhile(lambda at: at in comments, count(line + 1))]
            lines = [comments[at] for at in (line, *below) if at in comments]
            starts = [lines, lines[1:]] if line in comments else [lines]
            is_told = any(
                self._remark(found, some[:end])
                for some in starts
                for end in range(len(some), 0, -1)
            )
            last = [] if is_told else found
        return last

    def _remark(self, found: Sequence[Shown], lines: Sequence[Text]) -> bool:
        """Take lines of comments that say what a statement shows; return whether they do."""
        if not found or not lines:
            return False
        first, *rest = [line.sub(_BESIDE, "") for line in lines]
        says = _SAYS.match(first.string)
        assert says is not None
        tokens = [*_tokens([first[says.end() :], *rest])]
        name = _target(found[-1])
        if len(tokens) > 1 and tokens[0].word == name:
            del tokens[0]
            tokens[0] = replace(tokens[0], begins=True)
        for one in _joined(found):
            if 0 < len(tokens) == len(one.tokens) and _fits(one, tokens, 0):
                if not _is_shape(one, tokens):
                    self._take(one, tokens)
                return True
        return False

    def _take(self, one: Shown, tokens: Sequence[_Token]) -> None:
        """Take the numbers of a line that is told: of each expression in it, those that are
        known."""
        if self.is_notebook and not self._machine.is_whole and not _are_all_such(one, tokens):
            return
        parts: dict[tuple[int, tuple[int, ...]], list[tuple[Slot, _Token]]] = defaultdict(list)
        for slot, token in zip(one.tokens, tokens, strict=True):
            if isinstance(slot, Slot) and token.span is not None:
                parts[id(slot.said), slot.keys[:-2]].append((slot, token))
        births: dict[int, list[str]] = defaultdict(list)
        alike: list[bool] = []
        for (_, above), pairs in parts.items():
            for slot, token in pairs:
                if slot.birth is not None:
                    births[slot.birth].append(token.text)
            known = [
                (slot, token)
                for slot, token in pairs
                if slot.birth is None and ball(slot.value).is_finite()
            ]
            for slot, token in known:
                alike += _alike(slot, token.text, self._off)
            said = _said(pairs[0][0].said, self._machine.pieces[one.piece])
            if (
                len(known) == len(pairs) > 1
                and (trees := _nested(pairs, len(above), self._off)) is not None
            ):
                self.ran.append(Ran(_indexed(said, above), *trees))
                continue
            for slot, token in known:
                self.ran.append(Ran(_indexed(said, slot.keys), *_pair(slot, token, self._off)))
        self.is_astray |= self._machine.has_drawn and 4 * sum(alike) < 3 * len(alike)
        for birth, texts in births.items():
            self.news[birth] = np.array([*map(near, texts)], dtype=object)


def _alike(slot: Slot, text: str, off: arb) -> Iterator[bool]:
    """Yield of each digit of a figure whether it is right."""
    right = text if comes(slot, text, off) else _decimal(ball(slot.value), written(text).decimals)
    digits = [one.lstrip("-0.") or "0" for one in (text, right)]
    is_long = len(digits[0]) == len(digits[1])
    return (is_long and one == other for one, other in zip(*digits, strict=False))


def _are_all_such(one: Shown, tokens: Sequence[_Token]) -> bool:
    pairs = zip(one.tokens, tokens, strict=True)
    return all(comes(slot, token.text) for slot, token in pairs if isinstance(slot, Slot))


def _does(parsed: ProgramSource) -> bool:
    """Return whether a piece does something, and is not only a value that Python can read: what is
    called by a name in small letters may draw."""
    return any(
        not isinstance(node, ast.Expr)
        or (
            isinstance(node.value, ast.Call)
            and (name := ast.unparse(node.value.func)).rsplit(".", 1)[-1][:1].islower()
            and (name == "print" or not is_still(name))
        )
        for node in parsed.body
    )


def _target(one: Shown) -> str:
    match one.node:
        case ast.Assign(targets=[ast.Name(name)]):
            return name.casefold()
    return ""


def _joined(found: Sequence[Shown]) -> Iterator[Shown]:
    """Yield what a statement shows, each line by itself, and all together; and its numbers without
    words."""
    whole = [*found]
    if len(found) > 1:
        together = tuple(token for one in found for token in one.tokens)
        whole.append(Shown(found[0].node, found[0].piece, together, "printed"))
    yield from whole
    for one in whole:
        numbers = tuple(token for token in one.tokens if not isinstance(token, str))
        if 0 < len(numbers) < len(one.tokens):
            yield replace(one, tokens=numbers)


def _is_shape(one: Shown, tokens: Sequence[_Token]) -> bool:
    """Return whether what is told of an array may be its shape."""
    keys = [token.keys for token in one.tokens if isinstance(token, Slot)]
    if not keys or not all(token.text.isdigit() for token in tokens):
        return False
    told = tuple(int(token.text) for token in tokens)
    return told == tuple(1 + max(key[k] for key in keys) for k in range(len(keys[0])))


def _placed(shown: Sequence[Shown], tokens: Sequence[_Token]) -> Sequence[tuple[int, int]]:
    """Return which lines stand in a text, in their order, each with its place: those that cover
    the most."""
    starts = [k for k, token in enumerate(tokens) if token.begins]
    #: By the place up to which the text is told: how much covers it, and the lines.
    best: list[tuple[float, tuple[tuple[int, int], ...]]] = [(0.0, ())] * (len(tokens) + 1)
    for k, one in enumerate(shown):
        after = list(best)
        charge(len(starts))
        for at in starts:
            if score := _fits(one, tokens, at):
                end = at + len(one.tokens)
                after[end] = max(after[end], (best[at][0] + score, (*best[at][1], (k, at))))
        best = [*accumulate(after, max)]
    return best[-1][1]


def _told(shown: Sequence[Shown], places: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the lines whose place is sure: they have words, stand right beside one that is sure, or
    are the only ones between two such that they could be."""
    sure = {k for k, _ in places if any(isinstance(one, str) for one in shown[k].tokens)}
    printed = [k for k, one in enumerate(shown) if one.how == "printed"]
    ends = {k: at + len(shown[k].tokens) for k, at in places}
    at_of = dict(places)
    for order in (printed, printed[::-1]):
        for before, k in pairwise(order):
            first, last = min(before, k), max(before, k)
            if before in sure and k in at_of and ends[first] == at_of[last]:
                sure.add(k)
    placed = [k for k, _ in places]
    for k, at in places:
        low = max((x for x in placed if x < k), default=-1)
        high = min((x for x in placed if x > k), default=len(shown))
        rivals = [x for x in printed if low < x < high and x != k]
        is_other = (
            any(isinstance(one, Hidden) for one in shown[x].tokens)
            or len(shown[x].tokens) == len(shown[k].tokens)
            for x in rivals
        )
        if k in sure or not any(is_other):
            yield k, at


# -- numbers as trees ------------------------------------------------------------------------


def _pair(slot: Slot, token: _Token, off: arb) -> tuple[syntax.Tree, syntax.Tree]:
    """A figure, and the number that comes out: the figure itself where floats may be that."""
    assert token.span is not None
    figure = PrintedFigure(token.text, token.span)
    if comes(slot, token.text, off):
        return figure, ExactNumber(token.text.lstrip("+"))
    # Where it is known from what is rounded, it is what comes of that as printed.
    return figure, ExactNumber(_decimal(ball(slot.value), _DECIMALS))


def _decimal(value: arb, decimals: int) -> str:
    return f"{Decimal(value.mid().str(40, radius=False)):.{decimals}f}"


def _nested(
    pairs: Sequence[tuple[Slot, _Token]], depth: int, off: arb
) -> tuple[syntax.Tree, syntax.Tree] | None:
    """The figures of an array, and its numbers, nested as its keys are from so deep on; None where
    its rows are of several lengths."""
    rows: dict[tuple[int, ...], list[tuple[syntax.Tree, syntax.Tree]]] = defaultdict(list)
    for slot, token in pairs:
        rows[slot.keys[depth:-1]].append(_pair(slot, token, off))
    if len({len(row) for row in rows.values()}) > 1 or len({len(key) for key in rows}) > 1:
        return None
    figures, numbers = (
        [syntax.Array(tuple(pair[k] for pair in row)) for row in rows.values()] for k in (0, 1)
    )
    if [*rows] == [()]:
        return figures[0], numbers[0]
    return syntax.Array(tuple(figures)), syntax.Array(tuple(numbers))


def _said(node: ast.expr, parsed: ProgramSource) -> syntax.Tree:
    """An expression of a program as reports name it."""
    text = ast.unparse(node)
    return syntax.Name(text if len(text) < _SAID else "output")


def _indexed(tree: syntax.Tree, keys: Sequence[int]) -> syntax.Tree:
    return syntax.Indexed(tree, tuple(keys)) if keys else tree
