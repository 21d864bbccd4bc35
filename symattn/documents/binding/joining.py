"""Chains that go on behind a colon, a verb or in the next block: 'S = Q K^T is', and then the
matrix; or a heading with names, and below it a matrix for each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice, takewhile
from math import prod

import numpy as np

from symattn.documents.binding import discovery, tables, values
from symattn.documents.binding.bounds import bounds, coming, interval
from symattn.documents.binding.discovery import Measured, Trials
from symattn.documents.notation.vocabulary import SCALES, THOUSANDS
from symattn.documents.text import Span
from symattn.documents.trees import (
    Chain,
    Member,
    Named,
    Opaque,
    Passage,
    Piece,
    PrintedFigure,
    ReadTable,
    Words,
    of_table,
)
from symattn.expressions import syntax
from symattn.numbers.rationals import MINUS_INFINITY
from symattn.programs.enclosures import Matrix
from symattn.programs.operands import ExactNumber

#: Words between a name and its value.
_SAME = re.compile(
    r"(?:(?:is|are|be|equals?|becomes?|gives?|as|then|now|follows|the (?:matrix|vector|row)"
    r"|therefore|thus|matrix)\b|[:,≈=\s])*+",
    re.I,
)
#: Words before a formula that speak of something else: "the numerator of".
_PARTS = re.compile(
    r"\b(?:of|in|from|for|by|to|before|after|without|than|not|with|into|under|if)\s*+\Z", re.I
)
#: Signs that a formula goes on behind, which was not read as one.
_OPERATORS = tuple("*+/=^×·⋅÷")
#: Words that go on to announce the value of what they speak of.
_ANNOUNCES = re.compile(r"[^.!?;:]{0,60}[:：]\s*")
#: A name at the end of words that announce something.
_NAME = re.compile(
    r"(?<![\w'’])(?P<name>[A-Z](?:_?[A-Za-z0-9]{1,3})?)\s*+(?:=|:|：|is|are)?+\s*+\Z"
)


#: A unit behind a number, by its first letter or word: of thousands, or of as many bytes.
_UNIT = re.compile(
    rf"(?:\s*\$?\s*(?=[kKMGT](?:i?B|FLOP))|)(?P<prefix>[kKMGT])(?P<bytes>i?B(?:ytes?)?)?(?:FLOP\w*)?"
    rf"(?![\w^(])|(?P<billions>B)(?![\w^(])|\s*\$?\s*(?:(?P<word>(?i:{'|'.join(SCALES)})))(?![\w^(])"
)
#: What a product goes on with, or what a number is compared with.
_TIMES = re.compile(r"\s*(?:[x×*]|≠|!=|[<>≤≥]=?)\s*[0-9]")


def joined(passages: Sequence[Passage]) -> Iterator[Passage]:
    """The passages, a value that stands by itself joined to the chain that it belongs to.

    That is the chain before it, when only words such as "is" or a colon stand between
    them, also in the next passage; or a single name that the words before end with. A
    table that is a matrix is such a value as well.
    """
    before: Chain | None = None
    captioned: Chain | None = None
    vectors: list[syntax.Tree] = []
    for passage in _below_headings([_in_units(passage) for passage in passages]):
        above, captioned = captioned, _only_name(passage)
        if passage.kind in ("heading", "note") or _is_program(passage):
            before = None
            yield _worked_out(passage, vectors)
            continue
        pieces: list[Piece] = []
        for piece, following in zip(passage.pieces, [*passage.pieces[1:], None], strict=True):
            match piece:
                case Words(text):
                    name = _NAME.search(text)
                    if name is not None and text.rstrip().endswith((":", "：")):
                        before = _mention(piece, name)
                    elif before is not None and not _SAME.fullmatch(text):
                        # Words that begin a paragraph announce something of their own.
                        is_announced = pieces and _ANNOUNCES.fullmatch(text)
                        before = replace(before, after="→") if is_announced else None
                    pieces.append(piece)
                case Chain((value,)) if (
                    before is not None
                    and _may_come_to(before, value)
                    # Where another stands beside it, both are rows of what is in the line before.
                    and not (isinstance(following, Chain) and _is_row(following.members[0]))
                ):
                    piece = _continued(before, value, piece.span)
                    before = None
                    pieces.append(piece)
                case Chain():
                    is_broken = _words_before(pieces).rstrip()[-1:] in _OPERATORS
                    before = None if _is_known(piece.members[-1]) or is_broken else piece
                    if before is not None and _PARTS.search(_words_before(pieces)):
                        before = replace(before, after="→")
                    pieces.append(piece)
                case ReadTable():
                    matrix = of_table(piece)
                    before = before or above
                    if before is not None and matrix is not None and _may_come_to(before, matrix):
                        pieces.append(_continued(before, matrix, piece.span))
                    else:
                        pieces.append(piece)
                    before = None
        if passage.kind == "prose" and passage.pieces:
            last = passage.pieces[-1]
            if isinstance(last, Words) and last.text.strip().endswith((".", "!", "?")):
                before = None
        yield _worked_out(replace(passage, pieces=tuple(pieces)), vectors)


def _in_units(passage: Passage) -> Passage:
    """The passage with what is worked out in the units of its results: of "2048 * 4 = 8 KB" the
    side that comes to it is divided by 1024, or by 1000 or not at all where that is nearer."""
    pieces = [*passage.pieces]
    for k, piece in enumerate(pieces):
        if isinstance(piece, Chain) and len(piece.members) > 1 and not piece.is_code:
            figure, unit = _in_unit(piece.members[-1])
            following = pieces[k + 1] if k + 1 < len(pieces) else None
            match following:
                case Words(text) if not unit:
                    unit = text
                case Chain((Named(name),)) if not unit:
                    unit = name
            match = _UNIT.match(unit)
            if figure is None or not (_is_spelled(figure) or match or _TIMES.match(unit)):
                continue
            sides, sizes = piece.members[:-1], _sizes(figure, match)
            if sizes and not any(map(values.is_value, sides)):
                sides = tuple(
                    _divided(one, figure, sizes) if values.is_closed(one) else one for one in sides
                )
                last: Member = figure
            else:
                # "3 x 4 * 4 x 5 = 3 x 5" is of shapes, and "= 2,097,152 = 2 MB" of that number.
                last = Opaque(figure.text, figure.span, (figure,))
            pieces[k] = replace(piece, members=(*sides, last))
    return replace(passage, pieces=tuple(pieces))


def _in_unit(member: Member) -> tuple[PrintedFigure | None, str]:
    """A figure, and the letter of a unit right behind it."""
    match member:
        case PrintedFigure():
            return member, ""
        case syntax.Binary("*", PrintedFigure(text, span) as figure, Named(name, at)) if (
            span.end == at.start and len(text) > 1
        ):
            return figure, name
        case Opaque(text, _, (PrintedFigure() as figure,)) if text.startswith(figure.text):
            return figure, text.removeprefix(figure.text)
    return None, ""


def _is_spelled(figure: PrintedFigure) -> bool:
    """Return whether a figure is printed with a word for its thousands."""
    return "e" in figure.text and len(figure.text) < figure.span.end - figure.span.start


def _sizes(figure: PrintedFigure, unit: re.Match[str] | None) -> Sequence[Fraction]:
    """The numbers that a side may be divided by which comes to a figure in a unit."""
    if _is_spelled(figure):
        # "16.1 million" is in full what may have been worked out in millions.
        return [Fraction(1), Fraction(10) ** -int(figure.text.partition("e")[2])]
    if unit is None:
        return []
    if unit["word"]:
        return [Fraction(10) ** int(SCALES[unit["word"].lower()]), Fraction(1)]
    power = THOUSANDS[unit["billions"] or unit["prefix"]]
    return [Fraction(x) for x in (1000**power, 1024 ** (power * bool(unit["bytes"])), 1)]


def _divided(side: syntax.Tree, figure: PrintedFigure, sizes: Sequence[Fraction]) -> syntax.Tree:
    """A side of an equation in the unit of what it comes to."""
    near, wanted = bounds(side), interval(figure.text)

    def off(size: Fraction) -> float:
        if near is None or wanted is None:
            return 0.0
        return abs(float(near.low.max() + near.high.max()) / float(size) - sum(wanted))

    size = min(sizes, key=off)
    if size < 1:
        return syntax.Binary("*", side, ExactNumber(str(1 / size)))
    return side if size == 1 else syntax.Binary("/", side, ExactNumber(str(size)))


def _below_headings(passages: Sequence[Passage]) -> Iterator[Passage]:
    """The passages, with values by themselves right below a heading under the names that it
    has, if there is one for each, or under its formula, if that is the only one."""
    named: dict[Span, Chain] = {}
    for place, passage in enumerate(passages):
        heads = [piece for piece in passage.pieces if isinstance(piece, Chain)]
        if passage.kind != "heading" or not heads:
            continue
        section = takewhile(lambda one: one.kind != "heading", islice(passages, place + 1, None))
        below = [piece for one in section for piece in one.pieces]
        alone = [piece for piece in takewhile(_is_value, below) if isinstance(piece, Chain)]
        # An expression is worked out in its section, and only then what stands there.
        is_only = len(heads) == 1 == sum(isinstance(one, Chain) for one in below) and not (
            values.is_closed(heads[0].members[-1])
            or any(isinstance(one, Words) and _PARTS.search(one.text) for one in passage.pieces)
        )
        if len(alone) == len(heads) and (is_only or all(map(_is_name, heads))):
            for head, piece in zip(heads, alone, strict=True):
                named[piece.span] = _continued(head, piece.members[0], piece.span)
    for place, passage in enumerate(passages):
        match passage.pieces[-1:]:
            case (Chain((*_, syntax.Call("softmax", (syntax.Array(items),)) as whole)),):
                named |= _entry_by_entry(
                    whole, len(items), passages[place + 1 : place + 2 + 4 * len(items)]
                )
    for passage in passages:
        yield replace(passage, pieces=tuple(named.get(one.span, one) for one in passage.pieces))


def _entry_by_entry(
    whole: syntax.Call, count: int, passages: Sequence[Passage]
) -> Mapping[Span, Chain]:
    """The next chains, if these say one by one what a softmax of numbers comes to."""
    chains = (one for below in passages for one in below.pieces if isinstance(one, Chain))
    entries = [one for one in islice(chains, count) if len(one.members) == 2]
    value = syntax.Array(
        tuple(figure for one in entries if isinstance(figure := one.members[1], PrintedFigure))
    )
    agree = coming(whole, value)
    if agree is not None and agree.mean() >= _MOST:
        # A row that is wrong as a whole has another number before it.
        is_that = bool(agree.any(axis=-1).all())
    else:
        is_that = is_softmax(whole, whole.arguments[0], value)
    if len(value.items) != count or not is_that:
        return {}
    return {
        one.span: replace(
            one,
            members=(one.members[0], syntax.Indexed(whole, (k,)), one.members[1]),
            links=("=", "="),
            spans=(*one.spans, one.spans[1]),
        )
        for k, one in enumerate(entries)
    }


def _is_known(member: Member) -> bool:
    """Return whether something is a value, or an array of what is worked out: [1/2, 1/2]."""
    return values.is_value(member) or (
        isinstance(member, syntax.Array) and values.is_closed(member)
    )


def _words_before(pieces: Sequence[Piece]) -> str:
    return pieces[-1].text if pieces and isinstance(pieces[-1], Words) else ""


def _may_come_to(before: Chain, value: Member) -> bool:
    """Return whether something is a value that what a chain ends with may have: a matrix doesn't
    come to a column, and where one stands beside it the two are multiplied."""
    return values.is_value(value) and prod(values.shape(value)) >= _entries(before.members[-1])


def _is_row(member: Member) -> bool:
    return values.is_value(member) and len(values.shape(member)) == 1


def _entries(tree: Member) -> int:
    """Return how many entries an expression has at least, by the arrays that are written in it."""
    match tree:
        case syntax.Array():
            return sum(1 for _ in values.leaves(tree))
        case syntax.Negative(of) | syntax.Transposed(of):
            return _entries(of)
        case syntax.Binary("+" | "-" | "*" | "/", left, right):
            return max(_entries(left), _entries(right))
    return 1


def _is_name(piece: Chain) -> bool:
    return len(piece.members) == 1 and isinstance(piece.members[0], syntax.Name)


def _is_value(piece: Piece) -> bool:
    """Return whether a piece is a value by itself."""
    match piece:
        case Chain((value,)) if values.is_value(value):
            return True
    return False


def _only_name(passage: Passage) -> Chain | None:
    """The only formula of a caption, if that is a name."""
    chains = [piece for piece in passage.pieces if isinstance(piece, Chain)]
    match chains:
        case [Chain((syntax.Name(),)) as name] if passage.kind == "prose":
            return name
    return None


def _is_program(passage: Passage) -> bool:
    return any(isinstance(piece, Chain) and piece.is_code for piece in passage.pieces)


def _continued(before: Chain, value: Member, span: Span) -> Chain:
    links = (*before.links, before.after)
    return Chain((*before.members, value), links, (*before.spans, span))


def _mention(words: Words, name: re.Match[str]) -> Chain:
    """A chain of the name that words end with."""
    start = words.span.end - (len(words.text) - name.start("name"))
    span = Span(start, start + len(name["name"]))
    return Chain((Named(name["name"], span),), (), (span,))


# -- what tables work out, and blocks that can only be the softmax of one before ---------------

#: A table may be of one of so many vectors before it.
_VECTORS = 4


def _worked_out(passage: Passage, vectors: list[syntax.Tree]) -> Passage:
    """A passage, its tables with what they work out, also of the vectors before them."""
    pieces: list[Piece] = []
    for piece in passage.pieces if passage.kind != "note" else ():
        pieces.append(piece)
        match piece:
            case Chain((*_, value)) if values.is_value(value) and len(values.shape(value)) == 1:
                vectors.append(value)
            case ReadTable():
                pieces += tables.equations(piece, vectors[-_VECTORS:])
                for column in piece.workings:
                    pieces += tables.coming_out(_in_units(replace(passage, pieces=column)).pieces)
    return replace(passage, pieces=tuple(pieces)) if pieces else passage


#: This part of a block's figures is that of the operation.
_MOST = 0.66
#: This part of them is that of another form of it.
_OTHER = 0.9
#: Of so many pairs the order is another where the block is in another order.
_TURNED = 0.2
#: What else scores may have been divided by, squared: roots, whole numbers, tenths.
_SCALES = (
    *(k * k / 100 for k in (*range(1, 10), 12, 15, 25)),
    *range(2, 129),
    *(k * k for k in range(12, 33)),
)


def is_softmax(
    operation: syntax.Tree,
    before: syntax.Tree,
    value: syntax.Tree,
    is_plain: bool = False,
    is_said: bool = False,
) -> bool:
    """Return whether a block can only be the softmax of one before: rows of shares, which those of
    the other are not, and unless it ``is_plain`` by words in their order; and no other form of
    the operation comes to most of its figures, nor that form, or where it ``is_said`` outright,
    to all."""
    near, target, agree = bounds(operation), discovery.block(0, value), coming(operation, value)
    rounded = coming(operation, value, rounded=True)
    own = discovery.block(0, syntax.replaced(before, _lowest))
    if near is None or target is None or own is None or agree is None or rounded is None:
        return False
    figures, half = target.measured.middle, target.half * (1 + 1e-6)
    is_called = isinstance(operation, syntax.Call) and operation.function == "softmax"
    is_near = rounded.all() and not agree.all() if is_said else rounded.mean() >= _MOST
    if not is_called or is_near or (_are_shares(own.measured.middle) and not is_said):
        return False
    up = near.low[..., :, None] > near.high[..., None, :]
    # Where they stand in another order, that is so in all rows, and not of a few by a little.
    turned = (up & (figures[..., :, None] < figures[..., None, :])).sum(axis=(-2, -1))
    is_turned = (turned > _TURNED * up.sum(axis=(-2, -1))).all()
    is_short = figures.shape[-1] < _TELLING and not is_said
    if is_short or (is_turned and not is_plain) or not _are_shares(figures):
        return False
    if ((figures == 0) & (near.low > half)).any():
        # A mask hides what is no softmax's zero.
        return False
    x, off = own.measured
    if is_said and (abs(figures - x) <= half).all():
        # It is nothing but the scores.
        return True
    hidden = Measured(np.where(figures > 0, x, -1e30), off)
    with np.errstate(all="ignore"):
        forms = [
            (middle, off)
            for scores in (own.measured, hidden)
            for tried in Trials(_SCALES).of([(before, scores)], figures.shape)
            for middle, off in zip(*tried.values, strict=True)
            if _are_shares(middle)
        ]
    return all((abs(figures - middle) <= half + off).mean() < _OTHER for middle, off in forms)


def has_shares(value: syntax.Tree) -> bool:
    """Return whether the rows of a printed value are shares, as far as its digits tell."""
    block = discovery.block(0, value)
    return block is not None and _are_shares(block.measured.middle)


def _lowest(part: syntax.Tree) -> syntax.Tree | None:
    """A number in place of a score that a mask hides."""
    is_hidden = isinstance(part, PrintedFigure) and part.text == MINUS_INFINITY
    return PrintedFigure("-1e30") if is_hidden else None


def _are_shares(rows: Matrix) -> bool:
    return bool((abs(rows.sum(axis=-1) - 1) < _OFF).all() and (rows >= 0).all())


#: Rows of less say nothing by their order.
_TELLING = 3
#: So much shares may be off that add up to one.
_OFF = 0.12
