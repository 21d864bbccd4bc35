"""Scripts: what students hand in, answer by answer, as they wrote it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from symattn.errors import Malformed, SymattnError, short
from symattn.numbers import rounding
from symattn.numbers.printed import MAX_LENGTH, PrintedNumber, read_printed
from symattn.numbers.reading import Masked, read_entry
from symattn.spelling import SIGN

#: A closed form is computed on with so many places.
_PLACES = 12

_COMMA = re.compile(rf"{SIGN}?\s*(?=,?[0-9])[0-9]*,[0-9]*\s*%?\Z")
#: What may be a number in thousands.
_THOUSANDS = re.compile(rf"{SIGN}?\s*[1-9][0-9]{{0,2}},[0-9]{{3}}\s*%?\Z")


class Blank(NamedTuple):
    """An entry that is asked for: row ``i`` and column ``j`` of the grid of a quantity."""

    quantity: str
    i: int
    j: int


@dataclass(frozen=True)
class Answer:
    """An answer: its text, and the number that it is; None is a masked score."""

    text: str
    printed: PrintedNumber | None


@dataclass(frozen=True)
class Script:
    """What one student answers to one version; ``unread`` are the texts that are no
    numbers. What is in neither is left blank."""

    student: str
    version: int
    answers: Mapping[Blank, Answer]
    unread: Mapping[Blank, str] = field(default_factory=dict)


def read_answer(text: str, comma: bool = False) -> Answer:
    """The answer that a text is: decimals, fractions, closed forms, ``-inf``.

    ``comma``: where its source writes decimals with a comma, ``1,234`` is less than 2;
    elsewhere a comma is one of decimals only where nothing else can be meant. Raises
    :class:`Malformed`.

    >>> [read_answer(text).printed.text for text in ("0.710", "0,71", "1/3", "1/(1 + exp(1))")]
    ['0.710', '0.71', '0.333333333333', '0.268941421370']
    >>> read_answer("1,234")
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: '1,234' may be 1.234 or 1234: write it without a comma
    """
    text = text.strip()
    plain = text
    if _COMMA.match(text):
        if _THOUSANDS.match(text) and not comma:
            point, whole = text.replace(",", "."), text.replace(",", "")
            raise Malformed(f"{text!r} may be {point} or {whole}: write it without a comma")
        plain = text.replace(",", ".")
    try:
        return Answer(text, read_printed(plain))
    except Malformed:
        pass
    try:
        value = read_entry(plain)
        if isinstance(value, Masked):
            return Answer(text, None)
        return Answer(text, read_printed(f"{rounding.decimal(value, _PLACES):f}"))
    except SymattnError as error:
        message = error.faults[0].message if isinstance(error, Malformed) else str(error)
        if len(text) > MAX_LENGTH or not any(map(str.isdigit, text)):
            message = f"expected a number, found {short(text)!r}"
        raise Malformed(message) from None
