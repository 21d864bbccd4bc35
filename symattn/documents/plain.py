"""Plain text: what a reader sees of an article copied from its page.

Headings, paragraphs, code and columns are told by how their lines look.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from symattn.documents import commonmark, markdown
from symattn.documents.article import Block, BlockPart, Contents, listing
from symattn.documents.commonmark import formulas, note
from symattn.documents.text import Text
from symattn.spelling import words

#: Languages that pages write above their code.
_LANGUAGES = words(
    "python numpy pytorch r julia matlab javascript typescript java c++ cpp rust bash shell"
    " console output text plaintext latex"
)
_COPY = re.compile(r"[ \t]*+copy(?: code)?[ \t]*+", re.IGNORECASE)
_FENCE = re.compile(r"(?m)^[ \t]*+```")
_RULE = re.compile(r"(?m)^[ \t]*+\|?[ \t]*+:?-{3,}+:?[ \t]*+\|[-:| \t]*+$")

_NOTE = re.compile(r"[ \t]*+<!--\s*+symattn:")

# -- lists
_BULLET = re.compile(r"[ \t]*+(?:[•◦▪‣·][ \t]++|[-*–][ \t]++(?=[^\W\d_]|[\"“'‘(]))")
_ITEM = re.compile(r"[ \t]*+([0-9]{1,2})[.)][ \t]++(?=[^\W\d_]|[\"“'‘(])")

# -- code and columns
_TARGETS = r"[^\W\d]\w*+(?:, ?\w++|\.\w++|\[[^\]]*+\])*+"
#: Lines that are code and nothing else, and those that may be code beside such.
_STRONG = re.compile(
    r"[ \t]*+(?:import [\w.]++(?: as \w++)?+[ \t]*+(?:#|\Z)|from [\w.]++ import |def \w++\("
    rf"|print\(|@\w++\Z|{_TARGETS} ?= ?[^=]*?\b(?:np|numpy|torch|jnp|tf|F|nn|jax)\.\w)"
)
_WEAK = re.compile(
    r"[ \t]*+(?:#|\"\"\"|'''|return\b|else:|[\])}]+[ ,]*\Z|[^\W\d][\w.]*+(?:\([^)]*+\))?+\Z"
    r"|(?:for|if|elif|while|with|class)\b.*:[ \t]*+(?:#.*)?\Z"
    rf"|{_TARGETS}[ \t]*+[-+*/]?=[ \t]*+[\x20-\x3c\x3e-\x7e]++\Z)"
)
_ROW = re.compile(r"[ \t]*+[\[\](){}\-+.\d\"'#]")
#: Lines that one statement may go on over.
_STATEMENT = 400

# -- headings
_UNDERLINE = re.compile(r"[ \t]*+(?:={3,}+|-{3,}+|~{3,}+)[ \t]*+")
_NUMBERED = re.compile(r"(?:§[ ]*+)?([0-9]{1,2}(?:\.[0-9]{1,2})+)\.?+[ \t]++(?=[^\W\d])")
_STEP = re.compile(
    r"(?:Step|Part|Section|Chapter|Phase|Stage|Exercise|Example)[ ]++[0-9IVX]{1,4}\b"
)
_VALUE = re.compile(r":[ \t]*+[-+.0-9\[(]")
_LINK = re.compile(r"[ \t]++[#¶🔗][ \t]*+\Z")
_FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,3}\Z")
_WORD = re.compile(r"[^\W\d_]{2,}+")
_LONGEST_HEADING = 90
_LONGEST_NAME = 14
#: Words that a sentence goes on after.
_CUT = re.compile(
    r"\b(?:a|an|and|are|as|at|be|becomes|by|for|from|gets?|gives?|has|have|in|is|it|of|on|or"
    r"|so|that|the|then|to|was|we|with|yields?)\Z",
    re.IGNORECASE,
)
#: Blanks that set what stands in columns apart.
_GAP = re.compile(r"[^\s.?!](?: {2,}+|\t)\S|\S {3,}+\S|\|[ \t]++[-+]?[0-9]")


def read(source: Text) -> Contents:
    """Return what is in a plain text, whose line ends are ``\\n``.

    >>> text = Text.whole("Scores\\n\\n1S = [[1, 0],\\n2     [0, 1]]\\n")
    >>> [(block.kind, str(block.text)) for block in read(text).blocks]
    [('heading', 'Scores'), ('code', 'S = [[1, 0],\\n     [0, 1]]')]
    """
    text = commonmark.decoded(source)
    if len(_FENCE.findall(text.string)) >= 2:
        return markdown.read(text)
    return Contents(tuple(_PlainReader(text).blocks()))


@dataclass(frozen=True)
class _PlainLine:
    text: Text
    string: str

    @property
    def is_blank(self) -> bool:
        return not self.string.strip()


class _PlainReader:
    def __init__(self, text: Text) -> None:
        self.lines = [
            _PlainLine(line, line.string.rstrip("\n")) for line in text.lines(keepends=True)
        ]
        self.found: list[Block] = []
        self.closed = max(
            (k for k, item in enumerate(self.lines) if "-->" in item.string), default=-1
        )
        self.has_numbers = any(_NUMBERED.match(line.string) for line in self.lines)
        self.item = 0
        #: The number that the next line of code would have, and how often they began at 1.
        self.number = 1
        self.beginnings = 0

    def blocks(self) -> list[Block]:
        at = 0
        while at < len(self.lines):
            if self.lines[at].is_blank:
                at += 1
            elif self._is_note(at):
                at = self._note(at)
            elif announced := self._language(at):
                at = self._announced(at, announced)
            elif run := self._run(at):
                at = self._numbered(run, "")
            else:
                end = at + 1
                while end < len(self.lines) and not self._ends(end):
                    end += 1
                self._group(at, end)
                at = end
        return self.found

    def _ends(self, at: int) -> bool:
        if self.lines[at].is_blank or self._is_note(at):
            return True
        return bool(self._language(at)) or bool(self._run(at))

    # -- what is said to symattn, on lines of its own --------------------------------

    def _is_note(self, at: int) -> bool:
        return at <= self.closed and _NOTE.match(self.lines[at].string) is not None

    def _note(self, at: int) -> int:
        """Take the comments that begin there; what stands behind them is a line by itself."""
        end = at
        while "-->" not in self.lines[end].string:
            end += 1
        text, done = _text(self.lines[at : end + 1]), 0
        while _NOTE.match(text.string, done) and (closed := text.string.find("-->", done)) >= 0:
            start = text.string.index("<!--", done) + 4
            if (message := note(text[start:closed])) is not None:
                self.found.append(Block.of("note", message))
            done = closed + 3
        rest = text[done:]
        self.lines[end] = _PlainLine(rest, rest.string.rstrip("\n"))
        return end

    # -- code with numbers of its lines ---------------------------------------------

    def _language(self, at: int) -> str:
        """The language that a line above code names; '' where it is none."""
        string = self.lines[at].string
        if len(string) > 40:
            return ""
        word = string.strip().lower().lstrip("`").strip()
        while word and not word[0].isascii():
            word = word[1:].strip()
        follows = at + 1 < len(self.lines) and not self.lines[at + 1].is_blank
        return word if word in _LANGUAGES and follows else ""

    def _announced(self, at: int, language: str) -> int:
        at += 1
        while at < len(self.lines) and _COPY.fullmatch(self.lines[at].string):
            at += 1
        if run := self._run(at, is_announced=True):
            return self._numbered(run, language)
        end = at
        while end < len(self.lines) and not self.lines[end].is_blank:
            end += 1
        self._code(_text(self.lines[at:end]), language)
        return end

    def _run(self, at: int, is_announced: bool = False) -> list[tuple[int, int]]:
        """The lines from ``at`` on that begin with 1, 2, 3, ..., and how long each
        number is, with the blanks before it; none where no such run begins.

        A run may go on over blank lines without a number, and from listing to listing
        where they don't each begin anew. In lists a stop or a bracket follows the number,
        in tables a blank.
        """
        for first in (1, self.number) if self.beginnings == 1 else (1,):
            run = self._run_from(at, first, is_announced)
            # One line alone is sure only where code was announced, or goes on.
            if len(run) > 1 or (run and (is_announced or first > 1)):
                return run
        return []

    def _run_from(self, at: int, number: int, is_announced: bool) -> list[tuple[int, int]]:
        run: list[tuple[int, int]] = []
        skipped: list[tuple[int, int]] = []
        for k in range(at, len(self.lines)):
            string = self.lines[k].string
            bare = string.lstrip(" \t")
            if not bare and run:
                skipped.append((k, 0))
                continue
            digits = str(number)
            rest = bare[len(digits) :]
            is_sure = bool(run) and not skipped
            if not bare.startswith(digits) or not (
                (is_announced and not skipped) or _is_stuck(rest, is_sure, number)
            ):
                break
            run += [*skipped, (k, len(string) - len(rest))]
            skipped = []
            number += 1
        return run

    def _numbered(self, run: list[tuple[int, int]], language: str) -> int:
        """The listing of a run, without the numbers; gives where it ends."""
        (first, length), (last, _) = run[0], run[-1]
        start = int(self.lines[first].string[:length])
        self.beginnings += start == 1
        self.number = start + sum(1 for _, length in run if length)
        self._code(Text.joined([self.lines[k].text[length:] for k, length in run]), language)
        return last + 1

    def _code(self, text: Text, language: str) -> None:
        self.found += listing(text, language, before=self.found)

    # -- lines that stand together ----------------------------------------------------

    def _group(self, at: int, end: int) -> None:
        lines = self.lines[at:end]
        if any(_RULE.match(line.string) for line in lines[1:2]):
            self.found += markdown.blocks(_text(lines))
            return
        if len(lines) >= 2 and 2 * sum(map(_is_columned, lines)) > len(lines):
            is_program = any(_STRONG.match(line.string) for line in lines)
            self._code(_text(lines), "python" if is_program else "")
            return
        if len(lines) == 1 and (level := self._alone(at)):
            self._heading(lines[0], level)
            return
        start = 0
        for first, last in _statements(lines):
            self._words(lines[start:first])
            self._code(_text(lines[first:last]), "python")
            start = last
        self._words(lines[start:])

    def _words(self, lines: list[_PlainLine]) -> None:
        run: list[_PlainLine] = []
        at = 0
        while at < len(lines):
            line = lines[at]
            is_underlined = at + 1 < len(lines) and _UNDERLINE.fullmatch(lines[at + 1].string)
            level = self._level(line.string)
            if is_underlined and len(line.string) <= _LONGEST_HEADING:
                level = 2 if self.found else 1
            if level and not _in_formula(run):
                self._prose(run)
                run = []
                self._heading(line, level)
                at += 2 if is_underlined else 1
                continue
            if (marker := self._marker(line.string)) and not _in_formula(run):
                self._prose(run)
                run = []
            run.append(_PlainLine(line.text[marker:], line.string[marker:]))
            at += 1
        self._prose(run)

    # -- headings ---------------------------------------------------------------------

    def _heading(self, line: _PlainLine, level: int) -> None:
        text = line.text[: len(_LINK.sub("", line.string.rstrip()))].stripped()
        self.found.append(Block("heading", _parts(text), level=level))

    @property
    def _below(self) -> int:
        """The level of a heading that has no number."""
        if not self.found:
            return 1
        return 3 if self.has_numbers else 2

    def _alone(self, at: int) -> int:
        """The level of a line between blank ones that is a heading; 0 for what is none."""
        string = self.lines[at].string
        title = titled(string)
        if not title:
            return 0
        if level := self._level(string):
            return level
        if _STEP.match(title):
            return self._below
        if title != string.strip():
            return 2
        if item := _ITEM.match(string):
            return 2 if is_name(title[item.end() :]) and not self._is_item(at, item) else 0
        if title[0].islower() or _BULLET.match(string):
            return 0
        return self._below if is_name(title) else 0

    def _is_item(self, at: int, item: re.Match[str]) -> bool:
        def has(number: int, lines: list[_PlainLine]) -> bool:
            beside = next((line.string for line in lines if not line.is_blank), "")
            found = _ITEM.match(beside)
            return found is not None and int(found[1]) == number

        above, below = self.lines[max(at - 3, 0) : at], self.lines[at + 1 : at + 4]
        return has(int(item[1]) + 1, below) or has(int(item[1]) - 1, above[::-1])

    def _level(self, string: str) -> int:
        """The level of a heading that shows in any line; 0 for what is none."""
        title = titled(string)
        if not title:
            return 0
        if numbered := _NUMBERED.match(title):
            return 1 + numbered[1].count(".")
        if not is_name(title) or _BULLET.match(string) or _ITEM.match(string):
            return 0
        is_step = _STEP.match(title) and not _VALUE.search(title)
        return self._below if is_step or is_title(title) else 0

    def _marker(self, string: str) -> int:
        """Return how long the mark of an item of a list is; 0 where there is none."""
        if bullet := _BULLET.match(string):
            return bullet.end()
        item = _ITEM.match(string)
        if item and int(item[1]) in (1, self.item + 1):
            self.item = int(item[1])
            return item.end()
        return 0

    def _prose(self, lines: list[_PlainLine]) -> None:
        if not lines:
            return
        text = _text(lines).rstripped()
        parts: list[BlockPart] = []
        for piece in formulas(text):
            if piece.kind == "display":
                self._put(parts)
                parts = []
                self.found.append(Block.of("formula", piece.text))
            elif piece.kind != "note":
                parts.append(BlockPart(piece.kind, piece.text))
        self._put(parts)

    def _put(self, parts: list[BlockPart]) -> None:
        if any(part.text.string.strip() for part in parts):
            self.found.append(Block("prose", tuple(parts)))


def _text(lines: list[_PlainLine]) -> Text:
    return Text.joined([line.text for line in lines])


def _parts(text: Text) -> tuple[BlockPart, ...]:
    return tuple(
        BlockPart("math" if piece.kind in ("math", "display") else "text", piece.text)
        for piece in formulas(text)
    )


def _in_formula(lines: list[_PlainLine]) -> bool:
    return sum(line.string.count("$$") for line in lines) % 2 == 1


def _is_stuck(rest: str, is_sure: bool, number: int) -> bool:
    """Return whether the number before it is that of a line of code; ``is_sure`` inside a run."""
    if is_sure:
        return not rest or not (rest[0].isdigit() or rest[0] in ".,):%-/*+×·")
    if number > 1:
        return rest[:1].isalpha() and any(sign in rest for sign in "=([:")
    return bool(rest) and (rest[0].isalpha() or rest[0] in "[({#\"'@_√Σ")


def _is_columned(line: _PlainLine) -> bool:
    return _GAP.search(line.string.strip()) is not None or line.string.startswith("    ")


def _statements(lines: list[_PlainLine]) -> Iterator[tuple[int, int]]:
    """Yield where code of a program stands among lines of words: runs of lines that may be
    code, one of which can be nothing else."""
    start, at, is_sure = 0, 0, False
    while at < len(lines):
        string = lines[at].string
        if _STRONG.match(string):
            is_sure = True
            at = _statement(lines, at)
        elif _WEAK.match(string) or (at > start and string.startswith("    ")):
            at = _statement(lines, at) if is_sure else at + 1
        else:
            if is_sure:
                yield start, at
            at += 1
            start, is_sure = at, False
    if is_sure:
        yield start, at


def _statement(lines: list[_PlainLine], at: int) -> int:
    """The end of a statement: where its brackets are closed again."""
    depth = 0
    for end in range(at, min(at + _STATEMENT, len(lines))):
        string = lines[end].string.partition("#")[0]
        if end > at and not _ROW.match(lines[end].string):
            break
        depth += sum(map(string.count, "([{")) - sum(map(string.count, ")]}"))
        if depth <= 0:
            return end + 1
    return at + 1


def titled(string: str) -> str:
    """Return what a line says, without the link that pages set behind headings; '' where it is
    too long for a heading, or ends as none does.

    >>> titled("Motivation #"), titled("The sum:")
    ('Motivation', '')
    """
    title = string.strip()
    if len(title) > _LONGEST_HEADING:
        return ""
    title = _LINK.sub("", title)
    return title if len(title) > 1 and title[-1] not in ".,;:!-–—" and "$" not in title else ""


def is_name(title: str) -> bool:
    """Return whether it is words that name something, rather than numbers or a sentence cut off.

    >>> is_name("Attention scores"), is_name("1.0 0.5"), is_name("The sum is")
    (True, False, False)
    """
    letters = sum(len(word) for word in _WORD.findall(title))
    return (
        2 * letters >= len(title.replace(" ", ""))
        and len(title.split()) <= _LONGEST_NAME
        and not any(sign in title for sign in "=≈→|")
        and not (_FILE.search(title) or _GAP.search(title) or _CUT.search(title))
    )


def is_title(title: str) -> bool:
    """Return whether its words are written as those of a title.

    >>> is_title("The Final Output Matrix"), is_title("The final output")
    (True, False)
    """
    words = [word for word in _WORD.findall(title) if len(word) > 3]
    return (
        2 <= len(title.split()) <= 10
        and len(words) > 1
        and all(word[0].isupper() for word in words)
    )
