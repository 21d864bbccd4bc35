"""What every reading promises, whatever the article: each number once, at its place."""

from __future__ import annotations

from itertools import pairwise

from symattn.documents.reading import Claimed, Reading
from symattn.documents.text import Span


def figures_of(claim: Claimed) -> list[tuple[str, Span]]:
    """The figures of a claim with their places; minus infinity is no number."""
    pairs = _zipped(claim.printed, claim.spans)
    return [(text, span) for text, span in pairs if text != "-inf"]


def _zipped(printed, spans):
    if isinstance(printed, str):
        return [(printed, spans)]
    rows = zip(printed or (), spans or (), strict=True)
    return [one for row in rows for one in _zipped(*row)]


def holds_its_promises(reading: Reading) -> None:
    """Numbers are in the order of the file and don't overlap; what is claimed of one is
    claimed where it stands; what is given or bound says of what."""
    source = reading.article.source
    spans = [one.span for one in reading.numbers]
    assert all(0 <= one.start < one.end <= len(source) for one in spans)
    assert [(a, b) for a, b in pairwise(spans) if b.start < a.end] == []
    ends = {one.start: one.end for one in spans}
    claimed = [one for claim in reading.claims for _, one in figures_of(claim)]
    assert [one for one in claimed if one.end > ends.get(one.start, 0)] == []
    for number in reading.numbers:
        assert bool(number.of) == (number.status in ("given", "bound")), number
