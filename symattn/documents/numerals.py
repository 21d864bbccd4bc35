"""Numbers as an article writes them all through: decimal commas, and blanks between thousands.

``0,506`` is one number where the article writes its decimals so, and a list of two or nobody
knows what where it doesn't: all its words and formulas say which. ``50.000`` is fifty thousand
where points part thousands. Programs write points.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import accumulate

from symattn.documents.article import Article, Block, BlockPart
from symattn.documents.text import Text
from symattn.spelling import EITHER, SIGN

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
    write = _writing(article)
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
    """Whether it is written by people; columns of plain text are, though they look like code."""
    is_column = block.kind == "code" and not block.language and article.form in ("text", "pdf")
    return is_column or block.kind not in ("code", "output", "note")


def _writing(article: Article) -> Callable[[BlockPart], BlockPart]:
    """What writes a part with points."""
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
        thousands = _left_open if points else _without_points
        return lambda part: _with_commas(thousands(part))
    is_plain = points >= _SEEN and points > _TIMES * commas
    is_open = millions or (commas >= _SEEN and not is_plain)
    write = _with_points if is_plain else _with_zeros
    return lambda part: write(_unpaired(_left_open(part) if is_open else part))


def _tells(whole: str, part: str) -> bool:
    """Whether a sign between digits can be no mark of thousands."""
    return whole == "0" or len(part) != 3


def _is_decimal(number: re.Match[str], string: str) -> bool:
    """Whether the comma in it, if any, is no comma of a list or of an index."""
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


def _with_commas(part: BlockPart) -> BlockPart:
    text = part.text

    def plain(number: re.Match[str]) -> Text | None:
        by, is_decimal = number["by"], _is_decimal(number, text.string)
        if by == "." and not is_decimal and number["whole"].count(".") == 1:
            return None
        if not is_decimal and (by is None or number["comma"]):
            return None
        if by == " " and (part.kind == "code" or _is_row(text.string, number.start())):
            return None
        whole = text.group(number, "whole")
        whole = whole.sub(_BY, "") if by else whole
        if not is_decimal:
            return whole
        point = Text.at(".", text.span(*number.span("comma")))
        return Text.joined([whole, point, text.group(number, "part")])

    written = text.sub(_NUMERAL, plain)
    listed = written.sub(_LISTED, lambda one: written.group(one).sub(_SEMICOLON, ","))
    return replace(part, text=listed)


def _is_row(string: str, at: int) -> bool:
    """Whether a line has nothing but digits and blanks, which part columns then."""
    before, after = string[max(at - _ROW, 0) : at], string[at : at + _ROW]
    line = before.rpartition("\n")[2] + after.partition("\n")[0]
    return line != string and len(line) < _ROW and not line.strip(" \t0123456789")


def _left_open(part: BlockPart) -> BlockPart:
    """A part in which a point before three digits is left open."""
    return replace(part, text=part.text.sub(_POINTED, partial(_either, part.text)))


def _unpaired(part: BlockPart) -> BlockPart:
    """A part in which a comma between two whole numbers, which no brackets part from the
    rest, is left open: ``0,1 * 15`` has a decimal comma, or says what ``i = 0,1`` says."""
    text = part.text
    if part.kind == "code" or not _PAIRED.search(text.string):
        return part
    depth = [*accumulate((c in _OPENED) - (c in _CLOSED) for c in text.string)]

    def unpaired(number: re.Match[str]) -> Text | None:
        is_thousands = _POINTED.fullmatch(number[0].replace(",", "."))
        return None if depth[number.start()] > 0 or is_thousands else _either(text, number)

    return replace(part, text=text.sub(_PAIRED, unpaired))


def _either(text: Text, number: re.Match[str]) -> Text:
    """A number with a sign in it that may mean either, so that it isn't read."""
    return text.group(number).sub(_SIGN, EITHER)


def _without_points(part: BlockPart) -> BlockPart:
    """A part in which a point before three digits parts thousands."""
    text = part.text
    return replace(part, text=text.sub(_POINTED, lambda one: text.group(one).sub(_SIGN, "")))


def _with_points(part: BlockPart) -> BlockPart:
    return _with_zeros(_together(part, _BRACED) if part.kind == "math" else part)


def _with_zeros(part: BlockPart) -> BlockPart:
    return part if part.kind == "code" else _together(part, _ZEROS)


def _together(part: BlockPart, thousands: re.Pattern[str]) -> BlockPart:
    text = part.text

    def plain(number: re.Match[str]) -> Text | None:
        is_row = _is_row(text.string, number.start())
        return None if is_row else text.group(number).sub(_BY, "")

    return replace(part, text=text.sub(thousands, plain))
