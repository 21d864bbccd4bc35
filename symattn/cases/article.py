"""The case of an article: what its reading says, made and checked like a walkthrough file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from symattn.cases.case import Case, make
from symattn.cases.claims import Claim
from symattn.documents.reading import Claimed, Reading
from symattn.documents.text import Span
from symattn.shapes import Nested


def case_of(reading: Reading) -> Case:
    """The case that an article was understood to be; its claims know their places.

    Raises :class:`Malformed` where what was understood is no case.
    """
    article = reading.article
    case = make(
        article.path.name,
        {name: one.entries for name, one in reading.given.items()},
        {name: one.expression for name, one in reading.steps.items()},
        reading.loss,
        claims=[_entry(claim, reading) for claim in reading.claims],
        tokens=reading.tokens,
        title=article.title,
        source=article.path.name,
    )
    steps = {name: one.span for name, one in reading.steps.items()}
    return replace(
        case,
        claims=tuple(_placed(claim, reading) for claim in case.claims),
        lines={name: article.place(span.start).line for name, span in steps.items() if span},
        path=article.path,
        reading=reading,
    )


def _entry(claim: Claimed, reading: Reading) -> dict[str, Any]:
    """A claim as a walkthrough file has it; one above all headings is told by its line."""
    where = claim.where or f"line {reading.article.place(claim.span.start).line}"
    entry: dict[str, Any] = {"where": where, claim.key: claim.text}
    if claim.printed is not None:
        entry["printed"] = claim.printed
    return entry


def _placed(claim: Claim, reading: Reading) -> Claim:
    """The claim with the places of its figures."""
    said = reading.claims[claim.number]
    line = reading.article.place(said.span.start).line
    return replace(
        claim, line=line, span=said.span, spans=_rows(said.spans), confirmed=said.confirmed
    )


def _rows(spans: Nested[Span] | None) -> tuple[tuple[Span, ...], ...]:
    """The places by rows of the grid, as figures are held."""
    match spans:
        case None:
            return ()
        case Span():
            return ((spans,),)
        case (Span(), *_):
            return (spans,)  # type: ignore[return-value]
    return spans  # type: ignore[return-value]
