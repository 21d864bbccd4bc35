"""The case of an article: what its reading says, made and checked like a case file."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from symattn.cases.case import Case, make
from symattn.cases.claims import Claim
from symattn.documents.binding import read
from symattn.documents.files import article as article_of
from symattn.documents.files import is_side_file, read_article
from symattn.documents.help import beside, help_of, read_side_file
from symattn.documents.reading import Claimed, OpenQuestion, Reading, undefined
from symattn.documents.text import Span
from symattn.errors import Malformed
from symattn.shapes import rows_of

_CLAIM = re.compile(r"claims\[([0-9]+)\]")
#: (the name of a file, the file that names it) -> the file of that name.
Find = Callable[[str, Path], Path]


def read_article_case(path: Path, find: Find, data: bytes | None = None) -> Case:
    """The case of the article at ``path``, or of one that holds these bytes; of a side
    file there, of what it is about: ``find`` gives the file that it names.

    Raises :class:`Malformed` with every fault of the article, its notes and its side file.
    """
    side = read_side_file(path, lambda name: find(name, path)) if is_side_file(path) else None
    path = path if side is None else side.document
    article = read_article(path) if data is None else article_of(path, data)
    reading = read(article, help_of(article, side or beside(path)))
    return case_of(replace(reading, open=(*reading.open, *undefined(reading))))


def case_of(reading: Reading) -> Case:
    """The case that an article was understood to be; its claims know their places.

    Nobody wrote them as claims: one that does not fit the recipe is none, and is left
    open. There may be no steps, and no claims. Raises :class:`Malformed` where what was
    understood is no case.
    """
    source = reading.article
    while True:
        try:
            case = _made(reading)
            break
        except Malformed as error:
            fitting = _without(reading, error)
            if len(fitting.claims) == len(reading.claims):
                raise Malformed(error.faults, str(source.path), error.more) from None
            reading = fitting
    steps = {name: step.span for name, step in reading.steps.items()}
    return replace(
        case,
        claims=tuple(_placed(claim, reading) for claim in case.claims),
        lines={name: source.place(span.start).line for name, span in steps.items() if span},
    )


def _made(reading: Reading) -> Case:
    source = reading.article
    return make(
        source.path.name,
        {name: quantity.numbers for name, quantity in reading.given.items()},
        {name: step.tree for name, step in reading.steps.items()},
        reading.loss,
        claims=[_entry(claim, reading) for claim in reading.claims],
        tokens=reading.tokens,
        title=source.title,
        source=source.path.name,
        reading=reading,
    )


def _without(reading: Reading, error: Malformed) -> Reading:
    """The reading without the claims that have a fault; these are left open."""
    why: dict[int, str] = {}
    for fault in error.faults:
        if match := _CLAIM.match(fault.where):
            why.setdefault(int(match[1]), fault.message)
    claims = enumerate(reading.claims)
    left = (OpenQuestion(claim.text, why[k], claim.span) for k, claim in claims if k in why)
    kept = (claim for k, claim in enumerate(reading.claims) if k not in why)
    places = {place: why[k] for k in why for row in _places(reading.claims[k]) for place in row}
    numbers = (
        replace(number, status="unread", of="", why=places[number.span])
        if number.span in places
        else number
        for number in reading.numbers
    )
    return replace(
        reading, claims=tuple(kept), numbers=tuple(numbers), unfit=(*reading.unfit, *left)
    )


def _entry(claim: Claimed, reading: Reading) -> dict[str, Any]:
    """A claim as a case file has it; one above all headings is told by its line."""
    where = claim.where or reading.article.said(claim.span.start)
    entry: dict[str, Any] = {"where": where, claim.key: claim.tree}
    if claim.printed is not None:
        entry["printed"] = claim.printed
    return entry


def _placed(claim: Claim, reading: Reading) -> Claim:
    """The claim with the places of its figures."""
    stated = reading.claims[claim.number]
    line = reading.article.place(stated.span.start).line
    return replace(
        claim,
        line=line,
        span=stated.span,
        spans=_places(stated),
        doubt=stated.doubt,
        basis=stated.basis,
        trust=stated.trust,
        reach=stated.reach,
    )


def _places(claim: Claimed) -> tuple[tuple[Span, ...], ...]:
    """The places of its figures by rows of the grid."""
    return () if claim.spans is None else rows_of(claim.spans)
