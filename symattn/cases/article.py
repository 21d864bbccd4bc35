"""The case of an article: what its reading says, made and checked like a case file."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from symattn.cases.case import Case, make
from symattn.cases.claims import Claim
from symattn.documents.article import Article
from symattn.documents.binding.binder import read
from symattn.documents.files import SIDE_FILE, is_side_file, read_article
from symattn.documents.files import article as article_of
from symattn.documents.help import SideFile, beside, help_of, read_side_file
from symattn.documents.reading import Claimed, OpenQuestion, Reading, undefined
from symattn.documents.text import Memory, Span
from symattn.errors import Malformed
from symattn.expressions import syntax
from symattn.expressions.shapes import rows_of

_CLAIM = re.compile(r"claims\[([0-9]+)\]")
_STEP = re.compile(r"steps\.([A-Za-z0-9_]+)")
#: (the name of a file, the file that names it) -> the file of that name.
Find = Callable[[str, Path], Path]


def article_reading(
    path: Path, find: Find, data: bytes | None = None, memory: Memory | None = None
) -> Reading:
    """The reading of the article at ``path``, or of one that holds these bytes; of a side
    file there, of what it is about: ``find`` gives the file that it names. A ``memory`` keeps
    what blocks are read as.

    Raises :class:`Malformed` with every fault of the article, its notes and its side file.
    """
    side = read_side_file(path, lambda name: find(name, path)) if is_side_file(path) else None
    path = path if side is None else side.document
    article = read_article(path) if data is None else article_of(path, data)
    return _understood(article, side or beside(path), memory)


def held_article_case(name: str, data: bytes, side: bytes | None) -> Case:
    """The case of an article of that name which holds these bytes, wherever it lies, with the
    bytes of the side file beside it.

    Raises :class:`Malformed` with every fault of the article, its notes and its side file.
    """
    path = Path(name)
    about = None
    if side is not None:
        found = read_side_file(path.with_suffix(SIDE_FILE), Path, side)
        about = found if found.document == path else None
    return case_of(_understood(article_of(path, data), about))


def _understood(article: Article, side: SideFile | None, memory: Memory | None = None) -> Reading:
    reading = read(article, help_of(article, side), memory)
    return replace(reading, open=(*reading.open, *undefined(reading)))


def case_of(reading: Reading) -> Case:
    """The case that an article was understood to be; its claims know their places.

    Nobody wrote them as claims: one that does not fit the recipe is none, and is left open. There
    may be no steps, and no claims. Raises :class:`Malformed` where what was understood is no case.
    """
    source = reading.article
    while True:
        try:
            case = _made(reading)
            break
        except Malformed as error:
            reading = without(reading, error)
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


def without(reading: Reading, error: Malformed) -> Reading:
    """The reading without the claims that have a fault, the steps that have one, and what is
    said of these; all of it is left open. Raises the error again where it is of nothing
    that can be left out.

    >>> from symattn.documents.article import Article
    >>> from symattn.documents.reading import ReadStep
    >>> from symattn.errors import Fault
    >>> from symattn.expressions.syntax import parse
    >>> steps = {"A": ReadStep(parse("1 / 0")), "B": ReadStep(parse("2 * A"), Span(4, 5))}
    >>> reading = Reading(Article(Path("post.md"), "markdown", "A, B", ()), steps=steps)
    >>> kept = without(reading, Malformed([Fault("steps.A", "division by zero")]))
    >>> kept.steps, [(one.what, one.why) for one in kept.unfit]
    ({}, [('B = 2 * A', 'division by zero')])
    """
    why: dict[int, str] = {}
    lost: dict[str, str] = {}
    for fault in error.faults:
        if match := _CLAIM.match(fault.where):
            why.setdefault(int(match[1]), fault.message)
        elif (match := _STEP.match(fault.where)) and match[1] in reading.steps:
            lost.setdefault(match[1], fault.message)

    def behind(tree: syntax.Tree) -> str | None:
        names = (name.removeprefix("dL/d") for name in syntax.names(tree))
        return next((lost[name] for name in names if name in lost), None)

    for name, step in reading.steps.items():
        if name not in lost and (reason := behind(step.tree)) is not None:
            lost[name] = reason
    for k, claim in enumerate(reading.claims):
        if k not in why and (reason := behind(claim.tree)) is not None:
            why[k] = reason
    if not why and not lost:
        raise Malformed(error.faults, str(reading.article.path), error.more) from None
    left = [OpenQuestion(reading.claims[k].text, why[k], reading.claims[k].span) for k in why]
    for name, reason in lost.items():
        step = reading.steps[name]
        if step.span is not None:
            left.append(OpenQuestion(f"{name} = {step.expression}", reason, step.span))
    kept = (claim for k, claim in enumerate(reading.claims) if k not in why)
    places = {place: why[k] for k in why for row in _places(reading.claims[k]) for place in row}
    numbers = (
        replace(number, status="unread", of="", why=places[number.span])
        if number.span in places
        else number
        for number in reading.numbers
    )
    is_lost = reading.loss is not None and reading.loss.get("output") in lost
    return replace(
        reading,
        steps={name: step for name, step in reading.steps.items() if name not in lost},
        loss=None if is_lost else reading.loss,
        claims=tuple(kept),
        numbers=tuple(numbers),
        unfit=(*reading.unfit, *left),
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
        stated=stated.stated,
        text=stated.text if stated.stated else claim.text,
    )


def _places(claim: Claimed) -> tuple[tuple[Span, ...], ...]:
    """The places of its figures by rows of the grid."""
    return () if claim.spans is None else rows_of(claim.spans)
