"""Arrays printed over several lines: in outputs, in code, in plain text, and tables of figures.

Every such array is written as one line, each character with its place, for
:func:`symattn.documents.notation.read_line` to read like any other.

Arrays that stand in columns over several lines, written as one line.

Rows between bars or in brackets, several such arrays beside each other, the pieces of
tall brackets, and plain columns with labels of rows and columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from symattn import syntax
from symattn.documents import brackets
from symattn.documents.brackets import is_index
from symattn.documents.text import Span, Text
from symattn.documents.trees import Chain, Labelled, Opaque, PrintedFigure, ReadTable, Words, walk
from symattn.spelling import ENTRY, is_figure

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
#: Figures one after the other that are all of a line, or all behind a colon.
_LISTED = re.compile(rf"(?:\A|[:=≈][ \t])[ \t]*+(?P<row>{ENTRY}(?:,?+[ \t]++{ENTRY})++)[ \t]*+\Z")
#: A line that says what stands under it.
_ANNOUNCES = re.compile(r".*[:=][ \t]*+\Z")
#: A sign that gives a value to what stands before it.
_LINK = re.compile(r"=|≈|→|:|⇒|<-|·|×|@")
#: A name and a sign of equality: something new begins.
_BEGINS = re.compile(r"[,;]?\s*+(?P<new>\S*\w[^=]*+=\s*+)\Z")
#: Most words that the label of a row has.
_WORDS = 4


#: Labels of the rows and of the columns of arrays, by the arrays' places.
_Said = tuple[tuple[Span, tuple[str, ...], tuple[str, ...]], ...]


@dataclass(frozen=True)
class FlatLine:
    """A line as it is to be read, which lines ``first`` to ``last`` are; ``said`` has
    the labels of arrays in it."""

    text: Text
    first: int
    last: int
    said: _Said = ()


#: The lines that a few lines with arrays in them amount to; none where there are none.
_Stacked = Sequence[FlatLine]


@dataclass(frozen=True)
class _Segment:
    start: int
    end: int
    left: str
    right: str
    numbers: tuple[Text, ...]


@dataclass(frozen=True)
class _CutLine:
    """A line cut into rows of arrays and the texts around them, one more."""

    segments: tuple[_Segment, ...]
    around: tuple[Text, ...]


def beside(lines: Sequence[Text]) -> Iterator[_Stacked]:
    """The arrays beside each other whose first rows stand in one line.

    >>> lines = [Text.whole("Q = [[1, 0], K = [[2, 0],"), Text.whole("[0, 1]] [0, 2]]")]
    >>> [str(line.text) for line in next(beside(lines))]
    ['Q =  [[1, 0], [0, 1]]', 'K =  [[2, 0], [0, 2]]']
    """
    at = 0
    while at < len(lines):
        stacked = _beside(lines, at)
        at = stacked[0].last + 1 if stacked else at + 1
        if stacked:
            yield stacked


def under(lines: Sequence[Text], are_printed: bool) -> Iterator[_Stacked]:
    """The arrays whose rows stand under each other; of what a program printed, rows in
    brackets by themselves are several vectors.

    >>> found = next(under([Text.whole("A = | 1 0 |"), Text.whole("    | 0 1 |")], False))
    >>> [str(line.text) for line in found]
    ['A =  [[1, 0], [0, 1]]']
    """
    at = free = 0
    while at < len(lines):
        stacked, after = _stacked(lines, at, free, are_printed)
        if not stacked:
            stacked, reached = _columns(lines, at, free)
            after = max(after, reached)
        at = max(after, at + 1)
        if stacked:
            yield stacked
            free = at


def _cut(line: Text) -> _CutLine:
    segments: list[_Segment] = []
    around: list[Text] = []
    reached = 0
    for row in _ROW.finditer(line.string):
        if row["left"].startswith("[") and row.start() and is_index(line.string[row.start() - 1]):
            continue
        numbers = tuple(map(line.group, _ENTRY.finditer(line.string, *row.span("row"))))
        segments.append(_Segment(row.start(), row.end(), row["left"], row["right"], numbers))
        around.append(line[reached : row.start()])
        reached = row.end()
    around.append(line[reached:])
    return _CutLine(tuple(segments), tuple(around))


#: What a way to read lines finds from a line on: the arrays there, and the line before
#: which it need not be tried again.
_Found = tuple[_Stacked, int]


# -- arrays beside each other ---------------------------------------------------------


def _beside(lines: Sequence[Text], first: int) -> _Stacked:
    """Arrays whose first rows stand in one line: ``Q = [[1, 0], K = [[0, 1],``."""
    line = _cut(lines[first])
    opened = [s for s in line.segments if s.left == "[[" and not s.right.startswith("]]")]
    if len(opened) < 2:
        return ()
    rows = [line]
    while not all(segment.right.startswith("]]") for segment in rows[-1].segments):
        if first + len(rows) == len(lines):
            return ()
        following = _cut(lines[first + len(rows)])
        opens = any(segment.left == "[[" for segment in following.segments)
        if opens or len(following.segments) != len(line.segments):
            return ()
        rows.append(following)
    return _made(rows, first)


def _made(rows: Sequence[_CutLine], first: int) -> _Stacked:
    """Rows under each other as arrays, with the text that stands between them."""
    arrays = [
        _array([line.segments[k].numbers for line in rows]) for k in range(len(rows[0].segments))
    ]
    written: list[list[Text]] = [[]]
    for k in range(len(rows[0].around)):
        texts = [text for line in rows if (text := line.around[k]).string.strip(" \t,")]
        if len(texts) > 1 or None in arrays:
            return ()
        if texts:
            new = _BEGINS.match(texts[0].string)
            if k and new and k < len(arrays):
                written.append([texts[0][new.start("new") :]])
            else:
                written[-1].append(texts[0])
        if k < len(arrays):
            array = arrays[k]
            assert array is not None
            written[-1].append(array)
    last = first + len(rows) - 1
    return [FlatLine(Text.joined(parts, " "), first, last) for parts in written]


def _labelled(
    array: Text, first: int, last: int, rows: Sequence[str], columns: tuple[str, ...]
) -> _Stacked:
    """An array by itself, with its labels."""
    said = tuple(rows) if any(rows) else ()
    labels = ((array.span(), said, columns),) if said or columns else ()
    return [FlatLine(array, first, last, labels)]


def _array(rows: Sequence[Sequence[Text]]) -> Text | None:
    """Rows of figures as one line; None where they differ in length."""
    if len({len(row) for row in rows}) != 1:
        return None
    lists = [Text.joined(row, ", ").enclosed("[", "]") for row in rows]
    return Text.joined(lists, ", ").enclosed("[", "]")


# -- rows under each other ------------------------------------------------------------


def _stacked(lines: Sequence[Text], first: int, free: int, are_printed: bool) -> _Found:
    """Rows between bars or in brackets, under each other."""
    rows: list[_CutLine] = []
    for place in range(first, len(lines)):
        line = _cut(lines[place])
        if not line.segments or any(
            "[[" in segment.left or "]]" in segment.right for segment in line.segments
        ):
            break
        if _BARS.match(line.segments[-1].right) and _FURTHER.match(line.around[-1].string):
            break
        if rows and not _is_under(rows[-1], line):
            break
        rows.append(line)
    end = first + len(rows)
    if len(rows) < 2:
        return (), end
    labels = [line.around[0].string.strip() for line in rows]
    single = len(rows[0].segments) == 1
    if single and rows[0].segments[0].left != "(" and all(map(_is_label, labels)):
        comments = [line.around[1].string.strip() for line in rows]
        array = _array([line.segments[0].numbers for line in rows])
        plain = not any(map(_LINK.search, comments)) and (all(comments) or not any(comments))
        if array is None or not plain:
            return (), end
        head, columns = _head(lines, first, len(rows[0].segments[0].numbers), free)
        return _labelled(array, head, end - 1, labels, columns), end
    bare = not any(text.string.strip(" \t,") for line in rows for text in line.around)
    if bare and are_printed and rows[0].segments[0].left == "[" and not _is_said(lines, first):
        return (), end
    if any(segment.left == "(" and len(segment.numbers) < 2 for segment in rows[0].segments):
        return (), end
    return _made(rows, first), end


def _is_under(above: _CutLine, line: _CutLine) -> bool:
    return len(above.segments) == len(line.segments) and all(
        segment.start < other.end
        and other.start < segment.end
        and len(segment.numbers) == len(other.numbers)
        and _alike(segment, other)
        for segment, other in zip(above.segments, line.segments, strict=True)
    )


def _alike(segment: _Segment, other: _Segment) -> bool:
    plain = "[(|"
    return segment.left == other.left or (segment.left not in plain and other.left not in plain)


def _is_label(text: str) -> bool:
    """Whether it can be the label of a row: some words, and nothing that gives a value."""
    words = text.split()
    return (
        bool(words)
        and len(words) <= _WORDS
        and not _LINK.search(text)
        and not _ENTRY.fullmatch(words[-1])
    )


# -- plain columns --------------------------------------------------------------------


@dataclass(frozen=True)
class _Row:
    label: str
    numbers: tuple[Text, ...]


def _row(line: Text) -> _Row | None:
    cells = list(map(line.group, _CELL.finditer(line.string)))
    split = len(cells)
    while split and _ENTRY.fullmatch(cells[split - 1].string.rstrip(",")):
        split -= 1
    if split == len(cells) or split > _WORDS:
        return None
    label = " ".join(cell.string for cell in cells[:split])
    if label and not _is_label(label):
        return None
    numbers = [cell[: len(cell.string.rstrip(","))] for cell in cells[split:]]
    return _Row(label, tuple(numbers))


def _columns(lines: Sequence[Text], first: int, free: int) -> _Found:
    """Numbers under each other, with or without labels before them and above."""
    rows: list[_Row] = []
    end = first
    for place in range(first, len(lines)):
        text = lines[place]
        if rows and text.string.strip() and _RULE.match(text.string):
            continue
        row = _row(text)
        if row is None or (rows and not _is_like(row, rows[0])):
            break
        rows.append(row)
        end = place + 1
    if len(rows) < 2:
        return (), end
    width = len(rows[0].numbers)
    head, names = _head(lines, first, width, free)
    labels = [row.label for row in rows]
    figures = [row.numbers for row in rows]
    if not names and not any(labels) and all(str(row[0]).isdigit() for row in figures):
        # The first of each row is its number, where the names above are one less.
        head, names = _head(lines, first, width - 1, free)
        if names:
            labels = [str(numbers[0]) for numbers in figures]
            figures = [numbers[1:] for numbers in figures]
    decimals = any("." in str(figure) for row in figures for figure in row)
    array = _array(figures)
    is_array = names or (width > 1 and (decimals or _is_said(lines, first)))
    if array is None or not is_array:
        return (), end
    return _labelled(array, head, end - 1, labels, names), end


def _is_said(lines: Sequence[Text], first: int) -> bool:
    """Whether the line before says what stands under it."""
    return first > 0 and _ANNOUNCES.match(lines[first - 1].string) is not None


def _is_like(row: _Row, other: _Row) -> bool:
    return len(row.numbers) == len(other.numbers) and bool(row.label) == bool(other.label)


def _head(lines: Sequence[Text], first: int, width: int, free: int) -> tuple[int, tuple[str, ...]]:
    """The line of names above columns, and those; where there is none, the first row."""
    at = first - 1
    if at >= free and lines[at].string.strip() and _RULE.match(lines[at].string):
        at -= 1
    if at < free or width < 1 or _LINK.search(lines[at].string):
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
    lines = list(map(brackets.bare, lines))
    at = 0
    for stack in beside(lines):
        yield from _single(lines, at, stack[0].first, are_printed)
        yield from stack
        at = stack[0].last + 1
    yield from _single(lines, at, len(lines), are_printed)


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
    if not run:
        return
    first, at = run[0].first, 0
    for stack in under(lines[first : first + len(run)], are_printed):
        yield from map(_listed, run[at : stack[0].first])
        for line in stack:
            yield replace(line, first=first + line.first, last=first + line.last)
        at = stack[0].last + 1
    yield from map(_listed, run[at:])


def _listed(line: FlatLine) -> FlatLine:
    """A line whose end is a list of figures, in brackets: ``cat: 0.5, 0.25``."""
    listed = _LISTED.search(line.text.string)
    if listed is None or "." not in listed["row"]:
        return line
    entries = map(line.text.group, _ENTRY.finditer(line.text.string, *listed.span("row")))
    array = Text.joined(entries, ", ").enclosed("[", "]")
    return replace(line, text=Text.joined([line.text[: listed.start("row")], array]))


def _bracketed(lines: Sequence[Text], first: int, end: int) -> Iterator[FlatLine]:
    """Lines from ``first`` to before ``end``, those of an array in brackets as one."""
    if first >= end:
        return
    text = Text.joined(lines[first:end], "\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines[first : end - 1])]
    arrays = iter(brackets.arrays(text))
    array = next(arrays, None)
    number = 0
    while number < len(starts):
        at, begun = starts[number], number
        pieces: list[Text] = []
        labels: list[tuple[Span, tuple[str, ...], tuple[str, ...]]] = []
        while array is not None and array.start < starts[number] + len(lines[first + number]) + 1:
            pieces += [text[at : array.start], array.text]
            if any(array.labels):
                labels.append((array.text.span(), array.labels, ()))
            at = array.end
            while number + 1 < len(starts) and starts[number + 1] < at:
                number += 1
            array = next(arrays, None)
        pieces.append(text[at : starts[number] + len(lines[first + number])])
        yield FlatLine(Text.joined(pieces), first + begun, first + number, tuple(labels))
        number += 1


def of_table(table: ReadTable) -> Labelled | None:
    """The figures of a table, where its cells are figures and labels alone.

    A first column that has other things is the labels of the rows. None of a table of
    one column of figures, which may be of different things, without a name above it.
    """
    rows = [[_figure(cell) for cell in row] for row in table.rows]
    if not rows or not rows[0]:
        return None
    labels: tuple[str, ...] = ()
    if not all(row and row[0] for row in rows):
        labels = tuple(_said(row[0]) if row else "" for row in table.rows)
        rows = [row[1:] for row in rows]
    elif _are_counted(rows, table.head):
        labels = tuple(row[0].text for row in rows if row[0])
        rows = [row[1:] for row in rows]
    width = len(rows[0])
    if not width or any(len(row) != width or not all(row) for row in rows):
        return None
    head = tuple(map(_said, table.head))
    if len(head) == width + 1 and labels:
        head = head[1:]
    figures = [[cell for cell in row if cell] for row in rows]
    return Labelled(
        tuple(Labelled(tuple(row), span=row[0].span.to(row[-1].span)) for row in figures),
        rows_said=labels,
        columns_said=head if len(head) == width else (),
        span=figures[0][0].span.to(figures[-1][-1].span),
    )


def _are_counted(
    rows: Sequence[Sequence[PrintedFigure | None]], head: Sequence[Sequence[Words | Chain]]
) -> bool:
    """Whether the first of each row is its number, under a heading that isn't one of the
    others' kind."""
    numbers = [row[0].text for row in rows if row[0]]
    if len(rows) < 2 or len(rows[0]) < 3 or not all(number.isdigit() for number in numbers):
        return False
    plain = [number.lstrip("0") or "0" for number in numbers]
    counted = any(plain == [str(k) for k in range(first, first + len(rows))] for first in (0, 1))
    return counted and len(head) == len(rows[0])


def _figure(cell: Sequence[Words | Chain]) -> PrintedFigure | None:
    match list(cell):
        case [Chain(members=(PrintedFigure() as figure,))]:
            return figure
        case [Words(text, figures=(figure,))] if is_figure(text):
            return figure
    return None


def _said(cell: Sequence[Words | Chain]) -> str:
    return " ".join(
        piece.text.strip() if isinstance(piece, Words) else _written(piece) for piece in cell
    )


def _written(chain: Chain) -> str:
    first = chain.members[0]
    if isinstance(first, Opaque):
        return first.text
    # An array may have items that are not understood.
    return "…" if any(isinstance(part, Opaque) for part in walk(first)) else syntax.text(first)
