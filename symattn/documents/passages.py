"""The blocks of an article as passages: words and chains of equalities."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from itertools import chain, zip_longest

from symattn import syntax
from symattn.documents import brackets, numerals, printouts
from symattn.documents.article import Article, Block, BlockPart, TableCell
from symattn.documents.code import Codes
from symattn.documents.notation import read_formula, read_parts
from symattn.documents.notation.vocabulary import SIGNS
from symattn.documents.relocation import Memory
from symattn.documents.text import Text
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
from symattn.spelling import DECIMAL


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
    for block in _gone_on(numerals.blocks(article)):
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
    run: list[Block] = []
    for block in blocks:
        goes_on = _is_listing(block) and _EQUAL.match(block.text.string)
        if run and not (goes_on and _is_listing(run[-1])):
            yield _as_one(run)
            run = []
        run.append(block)
    if run:
        yield _as_one(run)


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
    """What a block is read as; code not apart from the code before it."""
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
            for passage in printouts.passages(list(block.text.lines()), "output"):
                yield replace(passage, tags=block.tags)
        case "prose" if is_text and all(part.kind == "text" for part in block.parts):
            for passage in printouts.passages(list(block.text.lines()), "prose"):
                yield replace(passage, tags=block.tags)
        case _:
            yield Passage(block.kind, _pieces(block.parts), block.level, block.tags)


def _pieces(parts: Iterable[BlockPart]) -> tuple[Words | Chain, ...]:
    """The pieces of a paragraph; its lines are read apart, unless one goes on."""
    lines: list[tuple[str, Text]] = []
    for part in _as_written(list(parts)):
        if part.kind == "text":
            lines.extend(("text", line) for line in _logical(brackets.flat(part.text)))
        else:
            lines.append(
                (part.kind, brackets.flat(part.text) if part.kind == "code" else part.text)
            )
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
    """Whether a formula is the number that a range ends with."""
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
        if printouts.goes_on(line, following, "prose") or (depth and count < _HELD):
            continue
        yield text[start:at]
        start, depth, count = at, 0, 0
    if start < at:
        yield text[start:at]


def _table(block: Block) -> ReadTable:
    head = [row for row in block.rows if row and all(cell.is_head for cell in row)]
    rows = [row for row in block.rows if row not in head]
    return ReadTable(_row(head[0]) if head else (), tuple(map(_row, rows)), block.span)


def _row(cells: Iterable[TableCell]) -> tuple[tuple[Words | Chain, ...], ...]:
    return tuple(_pieces(cell.parts) for cell in cells)
