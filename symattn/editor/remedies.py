"""What can be changed in an article: figures corrected, and notes put where they are read.

Worked out by a worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from symattn.auditing.fixing import fixed
from symattn.documents.article import Article
from symattn.documents.files import article
from symattn.documents.text import Span
from symattn.editor.answers import Correction
from symattn.editor.judging import audited
from symattn.editor.positions import Lines
from symattn.errors import Malformed
from symattn.workers import Asker

#: So many lines before a block a note may have to stand: before the fence of code, say.
_BEFORE = 4


def corrections(asker: Asker, name: str, source: str) -> tuple[Correction, ...]:
    """Every figure that is certain to be wrong, with the right digits in the style of the
    article: what ``symattn audit --fix`` writes, which says what it leaves.

    Raises :class:`Malformed` where the text can't be read, or is none of an article.
    """
    found = audited(asker, name, source)
    result = fixed(found, lambda text: audited(asker, name, text))
    return tuple(Correction(fix.span, fix.correct, fix.label) for fix in result.fixes)


def note_place(asker: Asker, name: str, source: str, offset: int, note: str) -> int | None:
    """Where a line with a note can be put, so that it is read as one, and everything else as
    before: right before what stands at a character of the source, or before the block that
    this is part of. None where there is no such place."""
    asker.stage("reading")
    path, lines = Path(name), Lines(source)
    before = article(path, source.encode())
    kept = _blocks(before)
    for number in _candidates(before, lines, offset):
        start = lines.start(number)
        try:
            after = article(path, f"{source[:start]}{note}\n{source[start:]}".encode())
        except Malformed:
            continue
        line = Span(start, start + len(note) + 1)
        if _blocks(after) == kept and _announced(after, line, offset + len(note) + 1):
            return start
    return None


def _candidates(before: Article, lines: Lines, offset: int) -> Iterator[int]:
    """Lines, counted from 0: the own one, then upwards from where the block begins."""
    own = lines.position(offset).line
    yield own
    spans = (block.span for block in before.blocks if block.kind != "note")
    starts = (span.start for span in spans if span.start <= offset <= span.end)
    first = lines.position(max(starts, default=offset)).line
    yield from range(first, max(first - _BEFORE, -1), -1)


def _blocks(of: Article) -> list[tuple[str, ...]]:
    """What the article consists of, but for notes."""
    return [
        (block.kind, *(str(part.text) for part in block.all_parts))
        for block in of.blocks
        if block.kind != "note"
    ]


def _announced(of: Article, note: Span, offset: int) -> bool:
    """Whether a note stands within these characters, and is one on what stands at a character
    behind it."""
    is_next = False
    for block in of.blocks:
        if block.kind == "note":
            is_next |= note.start < block.span.end <= note.end
        elif is_next:
            return block.span.start <= offset <= block.span.end
    return False
