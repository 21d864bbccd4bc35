"""The blocks of an article as passages: words and chains of equalities."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from itertools import accumulate, chain, pairwise, zip_longest

from symattn.documents import grids
from symattn.documents.article import Article, Block, BlockPart, PartKind, TableCell
from symattn.documents.code import Codes
from symattn.documents.notation import read_formula, read_parts
from symattn.documents.notation.vocabulary import SIGNS, THOUSANDS
from symattn.documents.text import Memory, Text, runs
from symattn.documents.trees import (
    Chain,
    Labelled,
    Member,
    Passage,
    Piece,
    ReadTable,
    Words,
    alone,
    contained,
    opaque,
)
from symattn.expressions import syntax
from symattn.spelling import DECIMAL, EITHER, SIGN

# -- numbers as an article writes them all through ---------------------------------------
# ``0,506`` is one number where the article writes its decimals so, and a list of two or nobody
# knows what where it doesn't: all its words and formulas say which. ``50.000`` is fifty thousand
# where points part thousands. Programs write points.

_SEPARATOR = r"(?:[ \xa0\u2009\u202f.]|\\[,; ]|~|\{\.\})"
_COMMA = r"(?:,|\{,\})"
#: Digits in groups of three, and what may be behind a comma. It is no part of a longer list.
_NUMERAL = re.compile(
    rf"(?<![0-9_.,])(?P<whole>(?<!\[)(?<![0-9][ ])[1-9][0-9]{{0,2}}(?P<by>{_SEPARATOR})[0-9]{{3}}"
    rf"(?:(?P=by)[0-9]{{3}})*+(?![0-9])|[0-9]++)(?:(?P<comma>{_COMMA})(?P<part>[0-9]++))?+"
    rf"(?![.,][0-9]|\{{,\}}[0-9])"
)
_BY = re.compile(rf"{_SEPARATOR}|\{{,\}}")
_DECIMAL = re.compile(r"(?<![\w.,])([0-9]++)\.([0-9]++)(?!\w|[.,][0-9])")
_COMMAND = re.compile(r"\\[A-Za-z]{1,20}\Z")
#: Thousands in braces, and those of a sentence that end with zeros.
_BRACED = re.compile(r"(?<![0-9.,}])[1-9][0-9]{0,2}(?:\{,\}[0-9]{3})++(?![0-9]|\{,\})")
_ZEROS = re.compile(r"(?<![\w.,\[])(?<![0-9][ ])[1-9][0-9]{0,2}(?:[ ]000)++(?![0-9,]|[ .][0-9])")
#: Numbers in brackets that semicolons part.
_ITEM = rf"[ ]*+{SIGN}?+[0-9.]++(?:[ ]|\\[ ,;])*+"
_LISTED = re.compile(rf"[(\[](?:{_ITEM};(?:\\[ ,;])*+)++{_ITEM}[)\]]")
_SEMICOLON = re.compile(r"(?<!\\);")
#: A point before three digits, and two such: thousands for certain.
_POINTED = re.compile(r"(?<![\w.,])[1-9][0-9]{0,2}\.[0-9]{3}(?!\w|[.,][0-9])")
_MILLIONS = re.compile(r"(?<![\w.,])[1-9][0-9]{0,2}(?:\.[0-9]{3}){2,}+(?!\w|[.,][0-9])")
#: A comma between digits, and what may part it from the rest.
_PAIRED = re.compile(r"(?<![\w.,'’\u2009\u202f\xa0])[0-9]++,[0-9]++(?![\w]|[.,][0-9]|[ ]*,)")
_OPENED, _CLOSED = "([{", ")]}"
_SIGN = re.compile("[.,]")
#: Longest row of numbers in columns.
_ROW = 200
#: How often commas must be seen, and how many times as often as points; or the other way.
_SEEN, _TIMES = 3, 4


def blocks(article: Article) -> Iterator[Block]:
    """The blocks of an article, numbers in words and formulas with decimal points and no
    separators; each character keeps its place.

    >>> from pathlib import Path
    >>> text = Text.whole("0,5 und 0,25 sind 0,75; 1 000 + 0,5 = 1 000,5")
    >>> article = Article(Path("x"), "text", "", (Block("prose", (BlockPart("text", text),)),))
    >>> [str(block.text) for block in blocks(article)]
    ['0.5 und 0.25 sind 0.75; 1000 + 0.5 = 1000.5']
    """
    written = _writing(article)

    def write(part: BlockPart) -> BlockPart:
        return replace(part, text=written(part.text, part.kind))

    for block in article.blocks:
        if not _is_written(block, article):
            yield block
            continue
        rows = tuple(
            tuple(replace(cell, parts=tuple(map(write, cell.parts))) for cell in row)
            for row in block.rows
        )
        yield replace(block, parts=tuple(map(write, block.parts)), rows=rows)


def _is_written(block: Block, article: Article) -> bool:
    """Return whether it is written by people; columns of plain text are, though they look like
    code."""
    is_column = block.kind == "code" and not block.language and article.form in ("text", "pdf")
    return is_column or block.kind not in ("code", "output", "note")


def _writing(article: Article) -> Callable[[Text, PartKind], Text]:
    """Return what writes a text, which is a part of that kind, with points."""
    commas = points = millions = 0
    for block in article.blocks:
        for part in block.all_parts if _is_written(block, article) else ():
            string = part.text.string
            commas += sum(
                _is_decimal(one, string) and _tells(one["whole"], one["part"])
                for one in _NUMERAL.finditer(string)
            )
            points += sum(_tells(*one.groups()) for one in _DECIMAL.finditer(string))
            millions += sum(1 for _ in _MILLIONS.finditer(string))
    if commas >= _SEEN and commas > _TIMES * points:
        thousands = EITHER if points else ""
        return lambda text, kind: _with_commas(_pointed(text, thousands), kind)
    is_plain = points >= _SEEN and points > _TIMES * commas
    is_open = millions or (commas >= _SEEN and not is_plain)
    write = _with_points if is_plain else _with_zeros
    return lambda text, kind: write(
        _unpaired(_pointed(text, EITHER) if is_open else text, kind), kind
    )


def _tells(whole: str, part: str) -> bool:
    """Return whether a sign between digits can be no mark of thousands."""
    return whole == "0" or len(part) != 3


def _is_decimal(number: re.Match[str], string: str) -> bool:
    """Return whether the comma in it, if any, is no comma of a list or of an index."""
    start, end = number.span()
    before = string[start - 1 : start]
    if number["comma"] is None or (
        before.isalpha() and not _COMMAND.search(string, max(start - 21, 0), start)
    ):
        return False
    if number["comma"] != "," or string[end : end + 1] not in tuple(")]}"):
        return True
    is_long = len(number["part"]) > 1 and (before == "(" or number["whole"] == "0")
    is_list = before in ("(", "[") and not is_long
    return not is_list and not (before == "{" and string[start - 2 : start - 1] == "_")


def _with_commas(text: Text, kind: PartKind) -> Text:
    def plain(number: re.Match[str]) -> Text | None:
        by, is_decimal = number["by"], _is_decimal(number, text.string)
        if by == "." and not is_decimal and number["whole"].count(".") == 1:
            return None
        if not is_decimal and (by is None or number["comma"]):
            return None
        if by == " " and (kind == "code" or _is_row(text.string, number.start())):
            return None
        whole = text.group(number, "whole")
        whole = whole.sub(_BY, "") if by else whole
        if not is_decimal:
            return whole
        point = Text.at(".", text.span(*number.span("comma")))
        return Text.joined([whole, point, text.group(number, "part")])

    written = text.sub(_NUMERAL, plain)
    return written.sub(_LISTED, lambda one: written.group(one).sub(_SEMICOLON, ","))


def _is_row(string: str, at: int) -> bool:
    """Return whether a line has nothing but digits and blanks, which part columns then."""
    before, after = string[max(at - _ROW, 0) : at], string[at : at + _ROW]
    line = before.rpartition("\n")[2] + after.partition("\n")[0]
    return line != string and len(line) < _ROW and not line.strip(" \t0123456789")


def _pointed(text: Text, by: str) -> Text:
    """A text with ``by`` for a point before three digits: left open, or nothing for thousands."""
    return text.sub(_POINTED, lambda one: text.group(one).sub(_SIGN, by))


def _unpaired(text: Text, kind: PartKind) -> Text:
    """A text in which a comma between two whole numbers, which no brackets part from the
    rest, is left open: ``0,1 * 15`` has a decimal comma, or says what ``i = 0,1`` says."""
    if kind == "code" or not _PAIRED.search(text.string):
        return text
    depth = [*accumulate((c in _OPENED) - (c in _CLOSED) for c in text.string)]

    def unpaired(number: re.Match[str]) -> Text | None:
        is_thousands = _POINTED.fullmatch(number[0].replace(",", "."))
        is_open = depth[number.start()] <= 0 and not is_thousands
        return text.group(number).sub(_SIGN, EITHER) if is_open else None

    return text.sub(_PAIRED, unpaired)


def _with_points(text: Text, kind: PartKind) -> Text:
    return _with_zeros(_together(text, _BRACED) if kind == "math" else text, kind)


def _with_zeros(text: Text, kind: PartKind) -> Text:
    return text if kind == "code" else _together(text, _ZEROS)


def _together(text: Text, thousands: re.Pattern[str]) -> Text:
    def plain(number: re.Match[str]) -> Text | None:
        is_row = _is_row(text.string, number.start())
        return None if is_row else text.group(number).sub(_BY, "")

    return text.sub(thousands, plain)


# -- passages ----------------------------------------------------------------------------


def passages(article: Article, memory: Memory | None = None) -> tuple[Passage, ...]:
    """An article's passages, in order; a ``memory`` keeps what its blocks are read as.

    >>> from pathlib import Path
    >>> text = Text.whole("Q = [1, 2]")
    >>> article = Article(Path("x"), "text", "", (Block("prose", (BlockPart("text", text),)),))
    >>> passage, = passages(article)
    >>> passage.pieces[0].links
    ('=',)
    """
    return tuple(
        replace(passage, pieces=tuple(chain.from_iterable(map(_planes, passage.pieces))))
        for passage in _in_turn(article, memory)
        if passage.pieces
    )


def _in_turn(article: Article, memory: Memory | None) -> Iterator[Passage]:
    """The passages of all blocks, what code printed in turn with it."""
    is_text = article.form in ("text", "pdf")
    codes = Codes()
    run: list[Passage] = []
    for block in _gone_on(blocks(article)):
        if block.kind != "output":
            yield from codes.in_turn(run)
            run = []
        found = partial(_remembered, block, is_text, codes, memory)
        read = contained(found, partial(_unread, block))
        for passage in read:
            if run and run[-1].kind != "code" and passage.kind == "code":
                yield from codes.in_turn(run)
                run = []
            run.append(passage)
    yield from codes.in_turn(run)


def _planes(piece: Piece) -> Iterator[Piece]:
    """An array of matrices as these, each by its index; any other piece as it is. What a
    program assigns is its own affair."""
    if not isinstance(piece, Chain) or piece.is_code:
        yield piece
        return
    piece = replace(piece, members=tuple(map(_squeezed, piece.members)))
    match piece.members:
        case (Labelled() as whole,) if _axes(whole) > 2:
            yield from (Chain((plane,), (), (plane.span,)) for _, plane in _matrices(whole))
        case (syntax.Name() as name, Labelled() as whole) if _axes(whole) > 2:
            for keys, plane in _matrices(whole):
                members = syntax.Indexed(name, keys), plane
                yield Chain(members, piece.links, (piece.spans[0], plane.span))
        case _:
            yield piece


def _axes(tree: Member) -> int:
    return 1 + _axes(tree.items[0]) if isinstance(tree, syntax.Array) and tree.items else 0


def _squeezed(tree: Member) -> Member:
    """An array of more than two axes without those that have one place, the first ones first."""
    if not isinstance(tree, Labelled) or _axes(tree) < 3:
        return tree
    if len(tree.items) == 1:
        return _squeezed(tree.items[0])
    if all(isinstance(item, Labelled) and len(item.items) == 1 for item in tree.items):
        inner = tuple(item.items[0] for item in tree.items if isinstance(item, Labelled))
        return _squeezed(replace(tree, items=inner))
    return tree


def _matrices(
    tree: Labelled, keys: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], Labelled]]:
    """The matrices in an array, with their indices."""
    for at, item in enumerate(tree.items):
        if isinstance(item, Labelled) and _axes(item) > 2:
            yield from _matrices(item, (*keys, at))
        elif isinstance(item, Labelled):
            yield (*keys, at), item


def _gone_on(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks, a listing that begins with a sign of equality as lines of the one before."""

    def goes_on(above: Block, block: Block) -> bool:
        is_said = _is_listing(block) and _EQUAL.match(block.text.string)
        return bool(is_said) and _is_listing(above)

    return map(_as_one, runs(blocks, goes_on))


def _as_one(run: Sequence[Block]) -> Block:
    if len(run) == 1:
        return run[0]
    return Block.of(run[0].kind, Text.joined([block.text for block in run], "\n"))


#: What a listing begins with that says what the one before comes to.
_EQUAL = re.compile(r"\s*+(?:=(?!=)|≈)")


def _is_listing(block: Block) -> bool:
    return block.kind in ("code", "output") and not block.language


def _unread(block: Block, why: str) -> Passage:
    member = opaque(why, *(part.text for part in block.all_parts))
    return Passage(block.kind, (alone(member),), block.level, block.tags)


def _remembered(
    block: Block, is_text: bool, codes: Codes, memory: Memory | None
) -> Iterable[Passage]:
    """Return what a block is read as; code not apart from the code before it."""
    read, first = partial(_of_block, block, is_text, codes), block.span.start
    if memory is None or block.kind == "code" or not first:
        return read()
    return memory.value(_key(block, is_text, first), first, lambda: tuple(read()))


def _key(block: Block, is_text: bool, first: int) -> bytes:
    """All that a block is read by, its places counted from where it begins."""
    shape = [
        [[(cell.is_head, len(cell.parts)) for cell in row] for row in block.rows],
        *(block.kind, block.level, block.language, block.tags, is_text),
        *((part.kind, part.text.string) for part in block.all_parts),
    ]
    key = blake2b(repr(shape).encode("utf-8", "surrogatepass"))
    for part in block.all_parts:
        for places in (part.text.starts, part.text.ends):
            key.update(array("q", [place - first for place in places]).tobytes())
    return key.digest()


def _of_block(block: Block, is_text: bool, codes: Codes) -> Iterator[Passage]:
    match block.kind:
        case "table":
            yield Passage("table", (_table(block),), tags=block.tags)
        case "note":
            text = block.text
            yield Passage("note", (Words(text.string, text.span()),), tags=block.tags)
        case "formula":
            pieces = tuple(piece for part in block.parts for piece in read_formula(part.text))
            yield Passage("formula", pieces, tags=block.tags)
        case "code":
            for passage in codes.passages(block):
                yield replace(passage, tags=block.tags)
        case "output":
            for passage in grids.passages(list(block.text.lines()), "output"):
                yield replace(passage, tags=block.tags)
        case "prose" if is_text and all(part.kind == "text" for part in block.parts):
            for passage in grids.passages(list(block.text.lines()), "prose"):
                yield replace(passage, tags=block.tags)
        case _:
            yield Passage(block.kind, _pieces(block.parts), block.level, block.tags)


def _pieces(parts: Iterable[BlockPart]) -> tuple[Words | Chain, ...]:
    """The pieces of a paragraph; its lines are read apart, unless one goes on."""
    lines: list[tuple[str, Text]] = []
    for part in _as_written(list(parts)):
        if part.kind == "text":
            lines.extend(("text", line) for line in _logical(grids.flat(part.text)))
        else:
            lines.append((part.kind, grids.flat(part.text) if part.kind == "code" else part.text))
    return read_parts(lines)


#: A number at the end of a formula, and what it may be the least of up to the next one.
_NUMBER = re.compile(rf"(?<![\w.]){DECIMAL}\s*+\Z")
_TO = re.compile(r"[ ]*+(?:[-–]|--|to|bis|through)[ ]*+")


def _as_written(parts: Sequence[BlockPart]) -> Iterator[BlockPart]:
    """The parts, with signs and ends of ranges that are set as formulas among the words
    that they belong to: ``2 $\\times$ 3``, ``$0.2$ to $0.4$``."""
    words: list[Text] = []
    for at, part in enumerate(parts):
        kind, sign = ("", "") if part.kind != "math" else SIGNS.get(str(part.text), ("", ""))
        if part.kind == "text" or (part.kind == "math" and _ends_range(parts, at)):
            words.append(part.text)
        elif kind in ("relation", "operator", "condition"):
            words.append(Text.at(f" {sign} ", part.text.span()))
        else:
            begins = part.kind == "math" and _ends_range(parts, at + 2)
            least = _NUMBER.search(str(part.text)) if begins else None
            end = least.start() if least else len(part.text)
            if end:
                yield from (BlockPart("text", Text.joined(words)),) if words else ()
                yield BlockPart(part.kind, part.text[:end])
                words = []
            words += [part.text[end:]] if least else []
    if words:
        yield BlockPart("text", Text.joined(words))


def _ends_range(parts: Sequence[BlockPart], at: int) -> bool:
    """Return whether a formula is the number that a range ends with."""
    if not 2 <= at < len(parts):
        return False
    least, to, most = parts[at - 2 : at + 1]
    return bool(
        least.kind == most.kind == "math"
        and _NUMBER.fullmatch(str(most.text))
        and _TO.fullmatch(str(to.text))
        and _NUMBER.search(str(least.text))
    )


#: Lines that a bracket may hold.
_HELD = 100


def _logical(text: Text) -> Iterator[Text]:
    """The lines of a text; one that begins with a relation or an operation, or stands in a
    bracket that is open, goes on with the line before."""
    start = at = depth = count = 0
    lines: list[str] = []
    for line in text.string.splitlines(keepends=True):
        if lines and not line.strip():
            lines[-1] += line
        else:
            lines.append(line)
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        at += len(line)
        depth = max(0, depth + line.count("[") - line.count("]"))
        count += 1
        if grids.goes_on(line, following, "prose") or (depth and count < _HELD):
            continue
        yield text[start:at]
        start, depth, count = at, 0, 0
    if start < at:
        yield text[start:at]


def _table(block: Block) -> ReadTable:
    head = [row for row in block.rows if row and all(cell.is_head for cell in row)]
    rows = [row for row in block.rows if row not in head]
    columns = zip_longest(*(_worked(row) for row in rows), fillvalue=())
    workings = tuple(found for column in columns if (found := tuple(chain(*column))))
    return ReadTable(_row(head[0]) if head else (), tuple(map(_row, rows)), block.span, workings)


#: A cell of a formula of numbers, and one of a number, maybe in thousands.
_FORMULA = re.compile(
    r"[~≈(\s$*]*+[0-9](?:\\(?:times|cdot)(?![a-z])|[0-9.,\s$*()×x·⋅/÷+−^²³{}-]|(?<=[0-9])[kKMGTB])*+"
)
_WORKS = re.compile(r"[0-9kKMGTB)²³]\s*+(?:[×x·⋅+*^]|\\(?:times|cdot))")
_RESULT = re.compile(r"[~≈\s$*]*+[0-9][0-9.,]*+\s?[kKMGTB]?[iB]{0,2}[\s$*%]*+")
#: A letter that stands for thousands in a formula of numbers.
_UNIT = re.compile(r"(?<=[0-9])[kKMGTB]")


def _in_full(unit: re.Match[str]) -> str:
    return f"e{3 * THOUSANDS[unit[0]]}"


def _worked(cells: Sequence[TableCell]) -> Iterator[tuple[Words | Chain, ...]]:
    """The cells of a row, each read as what the cell before it comes to; nothing of others."""
    for before, cell in pairwise(cells):
        formula, result = ("".join(str(one.text) for one in x.parts) for x in (before, cell))
        is_worked = _FORMULA.fullmatch(formula) and _WORKS.search(formula)
        if is_worked and _RESULT.fullmatch(result):
            equals = BlockPart("text", Text.at(" = ", cell.parts[0].text.span()))
            works = (replace(one, text=one.text.sub(_UNIT, _in_full)) for one in before.parts)
            yield _pieces((*works, equals, *cell.parts))
        else:
            yield ()


def _row(cells: Iterable[TableCell]) -> tuple[tuple[Words | Chain, ...], ...]:
    return tuple(_pieces(cell.parts) for cell in cells)
