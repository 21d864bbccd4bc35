"""Arrays in brackets as people and libraries write them, over one line or several, written
as one line with commas.

``[[1. 0.]\\n [0. 1.]]`` becomes ``[[1., 0.], [0., 1.]]``, each character with its place;
what a print has around it (``tensor(...)``, ``dtype=float32``) is left out. Rows of one pair
of brackets end with ``;``, a double backslash or, where the brackets stand on lines of their
own, with their lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

from symattn.documents.text import Text
from symattn.spelling import ENTRY

_TOKEN = re.compile(
    r"(?P<open>\[)|(?P<close>\])|(?P<comma>[,&])|(?P<row>;|\\{1,2}(?![A-Za-z\\]))"
    r"|(?P<end>\n)|(?P<blank>[^\S\n]++)"
    r"|(?P<comment>(?:\#|//|←|<-+)[^\n]*+|\([^\W\d][^()\n]*+\)(?=[ \t]*+(?:\n|\Z)))"
    rf"|(?P<number>{ENTRY})"
    r"|(?P<word>[^\W\d]\w*+)|(?P<other>.)",
)
_END = re.compile("\n")
#: Behind a bracket that has its line to itself; and rows between others that have.
_ALONE = re.compile(r"[ \t]*+\n")
_TALL = re.compile(
    rf"(?m)(?<![\w)\]])[(|][ \t]*+$(?P<rows>(?:\n(?:[ \t]*+{ENTRY}[,&]?+)*+[ \t]*+)++)[)|][ \t]*+$"
)
#: Words that arrays of numbers may have in them.
_WORDS = frozenset({"exp", "sqrt", "e", "log", "softmax", "max", "tanh"})
#: What stands before and after the array in a print; the last bracket may be lost.
_BEFORE = re.compile(
    r"(?:<tf\.(?:Tensor|Variable)[^\n<>]*numpy=\s*+)?"
    r"(?:\b(?:np\.|numpy\.|torch\.|jnp\.|tf\.)?(?:array|[tT]ensor|Array|DeviceArray|matrix|constant|tf\.Tensor)\(\s*+)\Z"
)
_REST = re.compile(
    r"\s*+(?:,\s*+\w++\s*+=\s*+(?:<[^<>\n]*+>|'[^'\n]*+'|\"[^\"\n]*+\"|\([^()\n]*+\)|[\w.]++))*+\s*+,?\s*+\)"
)
_AFTER = re.compile(rf"{_REST.pattern}(?:\s*+>)?+|(?=[^\S\n]*+(?:\n|\Z))")
#: A number as programs print it by itself.
_SCALAR = re.compile(
    r"(?<![\w.])(?:(?:np|numpy|jnp|torch)\.)?(?:array|Array|[tT]ensor|(?:float|int)(?:16|32|64))"
    rf"\((?P<number>{ENTRY}){_REST.pattern}"
)
#: An entry as strings are printed, or set in bold letters; whole ones in quotes are labels.
_QUOTED = re.compile(
    rf"(?<=[\[, ])(?P<mark>['\"](?=[^,'\"]*\.)|\*\*)(?P<number>{ENTRY})(?P=mark)(?=[ ]?[,\]])"
)
#: What Markdown puts before the point of "1." in vain.
_ESCAPE = re.compile(r"(?<=[0-9])\\(?=\.)")
_COMMENT = re.compile(
    r"[ \t]*+(?:(?:\#|//|←|<-+)(?P<said>[^\n]*+)"
    r"|\((?P<inside>[^\W\d][^()\n]*+)\)(?=[ \t]*+(?:\n|\Z)))"
)


@dataclass(frozen=True)
class BracketedArray:
    """An array found from ``start`` to before ``end``, on one line; labels of its rows.

    ``is_plain`` where it is written like that already.
    """

    start: int
    end: int
    text: Text
    labels: tuple[str, ...] = ()
    is_plain: bool = False


def arrays(text: Text) -> Iterator[BracketedArray]:
    """The arrays of numbers in a text that nobody would write like that on one line.

    >>> text = Text.whole("A: tensor([[1., 0.],\\n        [0., 1.]], grad_fn=<AddBackward0>)")
    >>> [str(one.text) for one in arrays(text)]
    ['[[1., 0.], [0., 1.]]']
    """
    text = text.sub(_TALL, lambda tall: _squared(text, tall))
    string = text.string
    at = 0
    while (start := string.find("[", at)) >= 0:
        array = None if start and is_index(string[start - 1]) else _Scanner(text, start).array()
        if array is None:
            at = start + 1
        else:
            at = array.end
            array = _unwrapped(text, array)
            if not array.is_plain:
                yield array
                at = array.end


def flat(text: Text) -> Text:
    """A text with its arrays of numbers on one line each.

    >>> str(flat(Text.whole("X = [0.1 0.2;\\n 0.3 0.4]")))
    'X = [[0.1, 0.2], [0.3, 0.4]]'
    """
    text = bare(text)
    pieces, at = [], 0
    for array in arrays(text):
        pieces += [text[at : array.start], array.text]
        at = array.end
    return Text.joined([*pieces, text[at:]]) if pieces else text


def bare(text: Text) -> Text:
    """A text with the numbers alone that programs print in the names of their types.

    >>> str(bare(Text.whole("(np.float64(0.09), tensor(2., grad_fn=<Mul>), ['0.5', '1.0'])")))
    '(0.09, 2, [0.5, 1.0])'
    """

    text = text.sub(_ESCAPE, "")
    for pattern in (_SCALAR, _QUOTED):
        text = text.sub(pattern, partial(_number, text))
    return text


def _number(text: Text, match: re.Match[str]) -> Text:
    return text[match.start("number") : match.end("number") - match["number"].endswith(".")]


def _squared(text: Text, tall: re.Match[str]) -> Text:
    """Rows between tall parentheses or bars, in square brackets; as long as it was."""
    start, end = tall.start() + 1, tall.end("rows")
    opening, closing = text.span(start - 1, start), text.span(end, end + 1)
    blanks = text[end + 1 : tall.end()]
    return Text.joined([Text.at("[", opening), text[start:end], Text.at("]", closing), blanks])


def is_index(before: str) -> bool:
    """Return whether a bracket behind that character indexes what stands before it."""
    return before.isalnum() or before in "_])"


def _unwrapped(text: Text, array: BracketedArray) -> BracketedArray:
    """The array with what a print has around it, and the comment behind its last row."""
    before = _BEFORE.search(text.string, max(array.start - 200, 0), array.start)
    if before and (after := _AFTER.match(text.string, array.end)):
        array = replace(array, start=before.start(), end=after.end(), is_plain=False)
    if any(array.labels) and (comment := _COMMENT.match(text.string, array.end)):
        label = (comment["said"] or comment["inside"]).strip()
        array = replace(array, end=comment.end(), labels=(*array.labels[:-1], label))
    return array


@dataclass
class _List:
    """A list that is open: its items, and what stands since the last comma; how many items
    there were where a row was ended, and where a line of brackets that stand alone was."""

    start: int
    is_tall: bool = False
    items: list[Text] = field(default_factory=list)
    tokens: list[re.Match[str]] = field(default_factory=list)
    has_commas: bool = False
    has_lists: bool = False
    rows: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def cut(self) -> list[list[Text]]:
        """The rows; none where the items are those of one."""
        ends = self.rows or self.lines
        ends = ends if ends[-1:] == [len(self.items)] else [*ends, len(self.items)]
        rows = [self.items[start:end] for start, end in pairwise([0, *ends])]
        is_even = len({len(row) for row in rows}) == 1
        if self.rows and not is_even:
            raise _Refused
        # Numbers under each other are a vector.
        return rows if len(rows) > 1 and (self.rows or (is_even and len(rows[0]) > 1)) else []


class _Refused(Exception):
    """No array of numbers."""


class _Scanner:
    def __init__(self, text: Text, start: int) -> None:
        self.text = text
        self.start = start
        self.open: list[_List] = []
        self.labels: dict[int, str] = {}
        self.is_plain = True
        self.figures = 0

    def array(self) -> BracketedArray | None:
        gap = True
        for token in _TOKEN.finditer(self.text.string, self.start):
            kind = token.lastgroup
            try:
                if kind == "close":
                    outer, closed = self.open[0], self._close(token)
                    if not self.open:
                        return self._written(closed, token.end(), len(outer.items))
                else:
                    self._take(token, gap)
            except _Refused:
                return None
            gap = kind in ("blank", "end", "comma", "open", "close")
        return None

    def _written(self, text: Text, end: int, rows: int) -> BracketedArray | None:
        if not self.figures:
            return None
        labels = tuple(self.labels.get(row, "") for row in range(rows)) if self.labels else ()
        return BracketedArray(self.start, end, text, labels, self.is_plain)

    def _take(self, token: re.Match[str], gap: bool) -> None:
        kind = token.lastgroup
        if kind == "open":
            if self.open and self.open[-1].tokens:
                self._entries(self.open[-1], self.open[-1].has_commas)
                if not _is_cut(self.open[-1].items[-1]):
                    raise _Refused
            if len(self.open) == 4:
                raise _Refused
            if self.open and self.open[-1].has_lists and not self.open[-1].has_commas:
                self.is_plain = False
            is_tall = _ALONE.match(self.text.string, token.end()) is not None
            self.open.append(_List(token.start(), is_tall))
            return
        here = self.open[-1]
        match kind:
            case "row" if not here.has_lists:
                if here.tokens:
                    self._entries(here, here.has_commas)
                here.rows.append(len(here.items))
            case "comma" | "row":
                if here.tokens:
                    self._entries(here, True)
                elif not here.has_lists:
                    raise _Refused
                here.has_commas = True
            case "end":
                self.is_plain = False
                if here.is_tall and here.tokens and here.tokens[-1].lastgroup == "number":
                    self._entries(here, here.has_commas)
                    here.lines.append(len(here.items))
            case "comment" if gap:
                self.is_plain = False
                if len(self.open) == 1 and (here.items or here.tokens):
                    label = token[0].strip()
                    label = label[1:-1] if label[0] == "(" else label.lstrip("#/←<- \t")
                    row = len(here.rows or here.lines or here.items) - (not here.tokens)
                    self.labels[row] = label
            case "number":
                self.figures += 1
                here.tokens.append(token)
            case "word" if token[0] in _WORDS:
                here.tokens.append(token)
            case "other" if token[0] in "()+-−–*/×·÷√^":
                here.tokens.append(token)
            case "blank":
                pass
            case _:
                raise _Refused

    def _close(self, token: re.Match[str]) -> Text:
        here = self.open.pop()
        if here.tokens:
            self._entries(here, here.has_commas)
        if not here.items:
            raise _Refused
        if rows := here.cut():
            self.is_plain = False
            here.items = [Text.joined(row, ", ").enclosed("[", "]") for row in rows]
        opening, closing = self.text[here.start : here.start + 1], self.text.group(token)
        array = Text.joined([opening, Text.joined(here.items, ", "), closing])
        if self.open:
            self.open[-1].items.append(array)
            self.open[-1].has_lists = True
        return array

    def _entries(self, here: _List, by_commas: bool) -> None:
        """Close the entries since the last comma: one, or numbers with blanks between."""
        first, last = here.tokens[0], here.tokens[-1]
        if here.has_lists and not all(_is_cut(token[0]) for token in here.tokens):
            raise _Refused
        if by_commas or len(here.tokens) == 1:
            here.items.append(self.text[first.start() : last.end()].sub(_END, " "))
        elif all(token.lastgroup == "number" for token in here.tokens):
            self.is_plain = False
            here.items += map(self.text.group, here.tokens)
        else:
            raise _Refused
        here.tokens = []


def _is_cut(written: Text | str) -> bool:
    return str(written) in ("...", "…")
