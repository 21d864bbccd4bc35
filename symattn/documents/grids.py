"""Arrays printed over several lines: in outputs, in code, in plain text, and tables of figures.

Every such array is written as one line, each character with its place, for
:func:`symattn.documents.notation.read_parts` to read like any other: arrays in brackets as
people and libraries write them, rows between bars or in brackets, several such arrays beside
each other, the pieces of tall brackets, and plain columns with labels of rows and columns.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, pairwise
from typing import Literal

from symattn.documents.notation import read_parts
from symattn.documents.text import Span, Text, runs
from symattn.documents.trees import Chain, Labelled, Opaque, Passage, Piece, Words
from symattn.expressions import syntax
from symattn.spelling import ENTRY

# -- arrays in brackets ------------------------------------------------------------------
# ``[[1. 0.]\n [0. 1.]]`` becomes ``[[1., 0.], [0., 1.]]``; what a print has around it
# (``tensor(...)``, ``dtype=float32``) is left out. Rows of one pair of brackets end with ``;``,
# a double backslash or, where the brackets stand on lines of their own, with their lines.

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
_INSIDE = frozenset({"exp", "sqrt", "e", "log", "softmax", "max", "tanh"})
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
            case "word" if token[0] in _INSIDE:
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


# -- arrays in columns -------------------------------------------------------------------

_ENTRY = re.compile(ENTRY)
_LEFT, _RIGHT = "[(|│┃⎡⎢⎣⎛⎜⎝┌└╭╰⌈⌊", "])|│┃⎤⎥⎦⎞⎟⎠┐┘╮╯⌉⌋"
#: Numbers between brackets or bars; brackets may stand twice, as around the first row.
_ROW = re.compile(
    rf"(?P<left>\[\[|[{re.escape(_LEFT)}])"
    rf"(?P<row>(?:[ \t]*+{ENTRY}[ \t]*+[,&]?+)++[ \t]*+)"
    rf"(?P<right>\]\],?+|\],|[{re.escape(_RIGHT)}])"
)
_CELL = re.compile(r"[^\s|│┃║&]++")
_RULE = re.compile(r"[\s|│┃+\-=:─-╿]*+\Z")
#: Bars between the cells of a table; what follows a row between bars in one.
_BARS = re.compile(r"[|│┃║]")
_FURTHER = re.compile(rf"[ \t]*+(?:{ENTRY}|[^|│┃║]*+[|│┃║])")
#: What is said behind the numbers of a row.
_REMARK = re.compile(r"(?<=[\])|│┃0-9∞%f])[ \t]++(?:←|<-|\#|//|\((?=[^\W\d]))")
#: One of things that are counted, with its value: ``Item 0: 0.25 ▇▇▇``.
_COUNTED = re.compile(
    rf"[ \t]*+(?P<label>[^\W\d][^:=\d]{{0,30}}[ ](?P<count>[0-9]{{1,3}}))[ \t]*+[:：]"
    rf"[ \t]*+(?P<number>{ENTRY})(?P<rest>(?:[ \t]++[^\w\s=+*/×·−–-][^=×·*→:]*+)?)\Z"
)
#: Figures one after the other that are all of a line, or all behind a colon.
_LISTED = re.compile(
    rf"(?:\A|[:=≈][ \t])[ \t]*+(?P<row>{ENTRY}(?:,?+[ \t]++{ENTRY})++)[ \t]*+"
    r"(?P<remark>\([^\W\d].*)?\Z"
)
#: A line that says what stands under it.
_ANNOUNCES = re.compile(r".*[:=][ \t]*+\Z")
#: A sign that gives a value to what stands before it.
_LINK = re.compile(r"=|≈|→|:|⇒|<-|·|×|@")
#: A name and a sign of equality: something new begins.
_BEGINS = re.compile(r"[,;]?\s*+(?P<new>\S*\w[^=]*+=\s*+)\Z")
#: Most words that the label of a row has.
_WORDS = 4


#: Labels of the rows and of the columns of arrays, by the arrays' places.
_Labels = Mapping[Span, tuple[tuple[str, ...], tuple[str, ...]]]


@dataclass(frozen=True)
class FlatLine:
    """A line as it is to be read, which lines ``first`` to ``last`` are; ``labels`` are those
    of arrays in it."""

    text: Text
    first: int
    last: int
    labels: _Labels = field(default_factory=dict)


#: The lines that a few lines with arrays in them amount to; none where there are none.
_Stacked = Sequence[FlatLine]


@dataclass(frozen=True)
class _Segment:
    """Numbers side by side, with the brackets or bars around them, if there are any."""

    start: int
    end: int
    left: str
    right: str
    numbers: tuple[Text, ...]


@dataclass(frozen=True)
class _Row:
    """A line as a row of one array, or of several beside each other: its numbers, the
    texts around them, one more, and what is said behind."""

    segments: tuple[_Segment, ...]
    around: tuple[Text, ...]
    remark: Text

    @property
    def label(self) -> str:
        return self.around[0].string.strip()

    @property
    def is_doubled(self) -> bool:
        """Return whether brackets around all rows stand in it."""
        return any("[[" in s.left or "]]" in s.right for s in self.segments)


# -- rows ---------------------------------------------------------------------------------


def _cut(line: Text) -> _Row:
    """A line cut at all numbers in brackets or between bars."""
    remark = _REMARK.search(line.string)
    end = remark.start() if remark else len(line)
    segments: list[_Segment] = []
    around: list[Text] = []
    reached = 0
    for row in _ROW.finditer(line.string, 0, end):
        if row["left"].startswith("[") and row.start() and is_index(line.string[row.start() - 1]):
            continue
        numbers = tuple(map(line.group, _ENTRY.finditer(line.string, *row.span("row"))))
        segments.append(_Segment(*row.span(), row["left"], row["right"], numbers))
        around.append(line[reached : row.start()])
        reached = row.end()
    return _Row(tuple(segments), (*around, line[reached:end]), line[end:])


def _bounded(line: Text) -> _Row | None:
    """Numbers in brackets or between bars; only labels stand before double brackets."""
    row = _cut(line)
    if not row.segments or (row.is_doubled and not _is_label(row.label)):
        return None
    is_cell = _BARS.match(row.segments[-1].right) and _FURTHER.match(row.around[-1].string)
    return None if is_cell else row


def _plain(line: Text) -> _Row | None:
    """Numbers with nothing but blanks or bars between them, and a label before."""
    remark = _REMARK.search(line.string)
    end = remark.start() if remark else len(line)
    cells = list(_CELL.finditer(line.string, 0, end))
    split = len(cells)
    while split and _ENTRY.fullmatch(cells[split - 1][0].rstrip(",")):
        split -= 1
    if split == len(cells) or split > _WORDS:
        return None
    label = " ".join(cell[0] for cell in cells[:split])
    if label and not _is_label(label):
        return None
    numbers = [line[cell.start() : cell.start() + len(cell[0].rstrip(","))] for cell in cells]
    segment = _Segment(0, len(line), "", "", tuple(numbers[split:]))
    return _Row((segment,), (Text.at(label, line.span()), line[end:end]), line[end:])


def _counted(line: Text) -> _Row | None:
    """One number, behind the name and the number of what it belongs to."""
    counted = _COUNTED.match(line.string)
    if counted is None:
        return None
    segment = _Segment(0, len(line), "", "", (line.group(counted, "number"),))
    return _Row((segment,), (line.group(counted, "label"), line[:0]), line.group(counted, "rest"))


def _is_under(above: _Row, row: _Row) -> bool:
    return len(above.segments) == len(row.segments) and all(
        segment.start < other.end
        and other.start < segment.end
        and len(segment.numbers) == len(other.numbers)
        and _alike(segment.left[-1:], other.left[-1:])
        and (bool(segment.left) or bool(above.label) == bool(row.label))
        for segment, other in zip(above.segments, row.segments, strict=True)
    )


def _alike(left: str, other: str) -> bool:
    plain = "[(|"
    return left == other or bool(left and other and left not in plain and other not in plain)


def _is_label(text: str) -> bool:
    """Return whether it can be the label of a row: some words, and nothing that gives a value."""
    words = text.split()
    return (
        bool(words)
        and len(words) <= _WORDS
        and not _LINK.search(text)
        and not _ENTRY.fullmatch(words[-1])
    )


# -- arrays -------------------------------------------------------------------------------


def _beside(lines: Sequence[Text], first: int) -> _Stacked:
    """Arrays whose first rows stand in one line: ``Q = [[1, 0], K = [[0, 1],``."""
    rows: list[_Row] = []
    for line in lines[first:]:
        row = _cut(line)
        opened = [s.left == "[[" and not s.right.startswith("]]") for s in row.segments]
        is_begun = sum(opened) > 1 if not rows else not any(opened)
        if not is_begun or (rows and len(opened) != len(rows[0].segments)):
            return ()
        rows.append(row)
        if all(segment.right.startswith("]]") for segment in row.segments):
            return _in_text(rows, first)
    return ()


def _stacked(
    lines: Sequence[Text],
    first: int,
    free: int,
    are_printed: bool,
    cut: Callable[[Text], _Row | None],
) -> tuple[_Stacked, int]:
    """Rows under each other, as ``cut`` finds them in lines, with their labels, and the line
    before which this need not be tried again; of what a program printed, rows in brackets by
    themselves are several vectors."""
    rows: list[_Row] = []
    end = first
    for place in range(first, len(lines)):
        string = lines[place].string
        if rows and cut is _plain and _is_rule(string):
            continue
        row = cut(lines[place])
        if row is None or (rows and not _is_under(rows[-1], row)):
            break
        rows.append(row)
        end = place + 1
    if len(rows) < 2:
        return (), end
    if cut is not _bounded:
        return (_columns if cut is _plain else _series)(lines, rows, first, end, free), end
    if len(rows[0].segments) == 1 and rows[0].segments[0].left != "(":
        (segment,) = rows[0].segments
        head, names = _head(lines, first, len(segment.numbers), free, segment.start)
        labels = [row.label.rstrip(":： " if names else "") for row in rows]
        if all(map(_is_label, labels)):
            behind = [row.around[1].string.strip(" \t,") for row in rows]
            if any(map(_LINK.search, behind)) or not (all(behind) or not any(behind)):
                return (), end
            return _labelled(rows, head, end - 1, labels, names), end
    is_bare = not any(text.string.strip(" \t,") for row in rows for text in row.around)
    is_list = rows[0].segments[0].left == "[" and not _is_announced(lines, first)
    is_single = any(s.left == "(" and len(s.numbers) < 2 for s in rows[0].segments)
    if (is_bare and are_printed and is_list) or is_single or any(row.is_doubled for row in rows):
        return (), end
    return _in_text(rows, first), end


def _columns(
    lines: Sequence[Text], rows: Sequence[_Row], first: int, end: int, free: int
) -> _Stacked:
    """Numbers under each other, with or without labels before them and above."""
    figures = [row.segments[0].numbers for row in rows]
    labels = [row.label for row in rows]
    width = len(figures[0])
    head, names = _head(lines, first, width, free)
    if not names and not any(labels) and all(str(row[0]).isdigit() for row in figures):
        # The first of each row is its number, where the names above are one less.
        head, names = _head(lines, first, width - 1, free)
        if names:
            labels = [str(numbers[0]) for numbers in figures]
            rows = [_without_first(row) for row in rows]
    decimals = any("." in str(figure) for row in figures for figure in row)
    if not names and not (width > 1 and (decimals or _is_announced(lines, first))):
        return ()
    return _labelled(rows, head, end - 1, labels, names)


def _without_first(row: _Row) -> _Row:
    (segment,) = row.segments
    return replace(row, segments=(replace(segment, numbers=segment.numbers[1:]),))


def _series(
    lines: Sequence[Text], rows: Sequence[_Row], first: int, end: int, free: int
) -> _Stacked:
    """The values of things that are counted from 0 or 1 on."""
    counts = [int(row.label.split()[-1]) for row in rows]
    kinds = {row.label.rstrip("0123456789") for row in rows}
    is_series = counts in (list(range(k, k + len(rows))) for k in (0, 1)) and len(kinds) == 1
    if not is_series or not any("." in str(row.segments[0].numbers[0]) for row in rows):
        return ()
    vector = Text.joined([row.segments[0].numbers[0] for row in rows], ", ").enclosed("[", "]")
    return [
        FlatLine(vector, first, end - 1, {vector.span(): (tuple(r.label for r in rows), ())}),
        *_remarks(rows, first, end - 1),
    ]


def _in_text(rows: Sequence[_Row], first: int) -> _Stacked:
    """Rows under each other as arrays, with the text that stands between them."""
    last = first + len(rows) - 1
    columns = range(len(rows[0].segments))
    arrays = [_array([row.segments[k].numbers for row in rows]) for k in columns]
    written: list[list[Text]] = [[]]
    for k in range(len(rows[0].around)):
        texts = [text for row in rows if (text := row.around[k]).string.strip(" \t,")]
        if len(texts) > 1 or None in arrays:
            return ()
        if texts:
            new = _BEGINS.match(texts[0].string)
            if k and new and k < len(arrays):
                written.append([texts[0][new.start("new") :]])
            else:
                written[-1].append(texts[0])
        written[-1] += [array for array in arrays[k : k + 1] if array is not None]
    joined = [FlatLine(Text.joined(parts, " "), first, last) for parts in written]
    return [*joined, *_remarks(rows, first, last)]


def _labelled(
    rows: Sequence[_Row], first: int, last: int, labels: Sequence[str], columns: tuple[str, ...]
) -> _Stacked:
    """An array by itself, with its labels."""
    array = _array([row.segments[0].numbers for row in rows])
    if array is None:
        return ()
    said = tuple(labels) if any(labels) else ()
    all_labels = {array.span(): (said, columns)} if said or columns else {}
    return [FlatLine(array, first, last, all_labels), *_remarks(rows, first, last)]


def _remarks(rows: Sequence[_Row], first: int, last: int) -> Iterator[FlatLine]:
    """Yield what is said behind rows, where numbers are in it."""
    for row in rows:
        if any(map(str.isdigit, row.remark.string)):
            yield FlatLine(row.remark, first, last)


def _array(rows: Sequence[Sequence[Text]]) -> Text | None:
    """Rows of figures as one line; None where they differ in length."""
    if len({len(row) for row in rows}) != 1:
        return None
    lists = [Text.joined(row, ", ").enclosed("[", "]") for row in rows]
    return Text.joined(lists, ", ").enclosed("[", "]")


def _is_announced(lines: Sequence[Text], first: int) -> bool:
    """Return whether the line before says what stands under it."""
    return first > 0 and _ANNOUNCES.match(lines[first - 1].string) is not None


def _is_rule(string: str) -> bool:
    return bool(string.strip() and _RULE.match(string))


def _head(
    lines: Sequence[Text], first: int, width: int, free: int, begins: int = 0
) -> tuple[int, tuple[str, ...]]:
    """The line of names above columns that begin there, and those; where there is none,
    the first row."""
    at = first - 1
    if at >= free and _is_rule(lines[at].string):
        at -= 1
    if at < free or width < 1 or len(lines[at].string.rstrip()) <= begins:
        return first, ()
    if _LINK.search(lines[at].string):
        return first, ()
    cells = [cell.strip() for cell in _BARS.split(lines[at].string)]
    found = list(filter(None, cells)) if len(cells) > width else _CELL.findall(lines[at].string)
    names = [name.strip("'\"") for name in found]
    if len(names) == width + 1 and not lines[at].string[:1].isspace():
        names = names[1:]
    return (at, tuple(names)) if len(names) == width else (first, ())


def flattened(lines: Sequence[Text], are_printed: bool = False) -> Iterator[FlatLine]:
    """Lines with each array on one line; ``are_printed`` where a program printed them.

    >>> text = Text.whole("A =\\n[[1. 0.]\\n [0. 1.]]\\nB")
    >>> [str(line.text) for line in flattened(list(text.lines()))]
    ['A =', '[[1., 0.], [0., 1.]]', 'B']
    """
    lines = list(map(bare, lines))
    at = begun = 0
    while at < len(lines):
        if stack := _beside(lines, at):
            yield from _single(lines, begun, at, are_printed)
            yield from stack
            at = begun = stack[0].last + 1
        else:
            at += 1
    yield from _single(lines, begun, at, are_printed)


def _single(lines: Sequence[Text], first: int, end: int, are_printed: bool) -> Iterator[FlatLine]:
    """Lines from ``first`` to before ``end``: arrays in brackets, then what stands in
    columns on the lines that are left."""
    run: list[FlatLine] = []
    for line in _bracketed(lines, first, end):
        if line.first == line.last:
            run.append(line)
            continue
        yield from _under(lines, run, are_printed)
        run = []
        yield line
    yield from _under(lines, run, are_printed)


def _under(lines: Sequence[Text], run: Sequence[FlatLine], are_printed: bool) -> Iterator[FlatLine]:
    """A run of lines, with the arrays whose rows stand under each other."""
    first = run[0].first if run else 0
    lines = lines[first : first + len(run)]
    at = free = taken = 0
    while at < len(run):
        stacked: _Stacked
        stacked, after = (), at + 1
        for cut in (_bounded, _plain, _counted):
            if not stacked:
                stacked, end = _stacked(lines, at, free, are_printed, cut)
                after = max(after, end)
        at = after
        if stacked:
            yield from map(_listed, run[taken : stacked[0].first])
            for line in stacked:
                yield replace(line, first=first + line.first, last=first + line.last)
            free, taken = at, stacked[0].last + 1
    yield from map(_listed, run[taken:])


def _listed(line: FlatLine) -> FlatLine:
    """A line whose end is a list of figures, in brackets: ``cat: 0.5, 0.25``."""
    listed = _LISTED.search(line.text.string)
    if listed is None or "." not in listed["row"]:
        return line
    entries = map(line.text.group, _ENTRY.finditer(line.text.string, *listed.span("row")))
    array = Text.joined(entries, ", ").enclosed("[", "]")
    before, behind = line.text[: listed.start("row")], line.text[listed.end("row") :]
    return replace(line, text=Text.joined([before, array, behind]))


def _bracketed(lines: Sequence[Text], first: int, end: int) -> Iterator[FlatLine]:
    """Lines from ``first`` to before ``end``, those of an array in brackets as one."""
    if first >= end:
        return
    text = Text.joined(lines[first:end], "\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines[first : end - 1])]
    found = iter(arrays(text))
    array = next(found, None)
    number = 0
    while number < len(starts):
        at, begun = starts[number], number
        pieces: list[Text] = []
        labels: dict[Span, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        while array is not None and array.start < starts[number] + len(lines[first + number]) + 1:
            pieces += [text[at : array.start], array.text]
            if any(array.labels):
                labels[array.text.span()] = array.labels, ()
            at = array.end
            while number + 1 < len(starts) and starts[number + 1] < at:
                number += 1
            array = next(found, None)
        pieces.append(text[at : starts[number] + len(lines[first + number])])
        yield FlatLine(Text.joined(pieces), first + begun, first + number, labels)
        number += 1


# -- lines of output ---------------------------------------------------------------------
# Each is a passage of its own, but for one that goes on with the chain of the line before.

#: What a line begins with that goes on with the one before: signs of equality, operations on
#: numbers, and operations alone; in prose also any operation, and what an arrow leads to.
_GOES_ON = re.compile(r"[ \t]*+(?:=(?!=)|≈|≃|≅|[+−/×·⋅÷@][ \t]*+(?:\Z|[-(\[0-9√])|[×·⋅÷@](?=[ ]))")
_OPERATES = re.compile(r"[ \t]*+(?:[→⇒][ \t]*+\S|[×·⋅÷]|[+−/][ ])")
_ON_ALL = re.compile(r"[ \t]*+[×·⋅÷]")
#: What a line ends with that goes on; a star or slash alone has another meaning in code.
_OPEN = re.compile(r"(?:[=≈@]|(?:\A|\s)[+×·⋅÷−]|\S[ \t]++[*/])\s*+\Z")
#: What is said behind a line.
_SAID = re.compile(r"(?<=[\])0-9+*/@×·⋅÷−-])[ \t]++(?:\#|//|←)[ \t][^\n]*+\Z")
#: The line of a frame.
_FRAME = re.compile(r"[ \t]*+[+┌└├╔╚╠╭╰╒╘╞][─-╿=+-]{2,}+[ \t]*+\Z")


def passages(lines: Sequence[Text], kind: Literal["code", "output", "prose"]) -> Iterator[Passage]:
    """Yield what lines say, one after the other; nothing of blank ones.

    >>> text = Text.whole("A =\\n[[1. 0.]\\n [0. 1.]]")
    >>> [str(len(passage.pieces)) for passage in passages(list(text.lines()), "output")]
    ['1']
    """
    part = "text" if kind == "prose" else "code"
    for line in _joined(flattened(lines, kind == "output"), kind):
        pieces: tuple[Piece, ...] = read_parts([(part, line.text.stripped())])
        if kind == "output":
            pieces = lone(pieces)
        if line.labels:
            pieces = tuple(_with_labels(piece, line.labels) for piece in pieces)
        if pieces:
            yield Passage(kind, pieces)


def lone(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """A number that stands alone as the value that it is; else the pieces themselves."""
    match pieces:
        case (Words(text=text, figures=(figure,)),) if text.strip() == figure.text:
            return (Chain((figure,), (), (figure.span,)),)
    return pieces


def _joined(lines: Iterable[FlatLine], kind: str) -> Iterator[FlatLine]:
    """Lines with those that go on behind them; no blank ones."""
    strings = ((line, line.text.string) for line in lines)
    said = (line for line, string in strings if string.strip() and not _FRAME.match(string))

    def is_one(above: FlatLine, line: FlatLine) -> bool:
        # Behind a blank line an operation is one on all that stands above.
        if line.first > above.last + 1 and _ON_ALL.match(line.text.string):
            return False
        return goes_on(above.text.string, line.text.string, kind)

    return map(_as_one, runs(said, is_one))


def goes_on(above: str, line: str, kind: str) -> bool:
    """Return whether a line goes on with the one above.

    >>> goes_on("s = 0.1", "+ 0.2", "code"), goes_on("s = 0.1", "+ t", "code")
    (True, False)
    """
    begins = _GOES_ON.match(line) or (kind == "prose" and _OPERATES.match(line))
    return bool(begins or _OPEN.search(_SAID.sub("", above)))


def _as_one(parts: Sequence[FlatLine]) -> FlatLine:
    if len(parts) == 1:
        return parts[0]
    *others, last = (part.text for part in parts)
    # What is said behind a line that goes on is no part of what it goes on with.
    texts = [one[: said.start()] if (said := _SAID.search(one.string)) else one for one in others]
    text = Text.joined((*texts, last), " ")
    labels = ChainMap(*(dict(part.labels) for part in parts))
    return FlatLine(text, parts[0].first, parts[-1].last, labels)


def _with_labels(piece: Piece, labels: _Labels) -> Piece:
    if not isinstance(piece, Chain):
        return piece
    members = (m if isinstance(m, Opaque) else _labelled_line(m, labels) for m in piece.members)
    return replace(piece, members=tuple(members))


def _labelled_line(tree: syntax.Tree, labels: _Labels) -> syntax.Tree:
    """A tree with the labels of the arrays in it."""
    if isinstance(tree, Labelled) and tree.span in labels:
        rows, columns = labels[tree.span]
        return replace(tree, rows_said=rows, columns_said=columns)
    return syntax.mapped(tree, lambda part: _labelled_line(part, labels))
