"""Where in its file something stands that an audit speaks of."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from symattn.auditing.figures import Figure, Statement
from symattn.cases.case import Case
from symattn.documents.text import Span
from symattn.languages.sentence import Sentence


class SourceRegion(NamedTuple):
    """A part of a file: lines and columns count from 1, and it ends before ``end_column``
    of ``end_line``. In a walkthrough file only the line is known; 0: not even that."""

    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None

    def __str__(self) -> str:
        return f"{self.line}" if self.column is None else f"{self.line}:{self.column}"


def file_of(case: Case) -> str:
    """The file of a case as reports name it: seen from the folder that one stands in."""
    return case.name if case.path is None else _seen(case.path, Path.cwd())


@lru_cache(maxsize=64)
def _seen(path: Path, folder: Path) -> str:
    """A path as it is seen from a folder; outside of it as it is."""
    try:
        return path.resolve().relative_to(folder).as_posix()
    except ValueError:
        return path.as_posix()


def spanned(case: Case, span: Span) -> SourceRegion:
    """Where characters of an article stand."""
    assert case.reading is not None
    article = case.reading.article
    first, last = article.place(span.start), article.place(max(span.end - 1, span.start))
    behind = last.column + (1 if span.end > span.start else 0)
    return SourceRegion(first.line, first.column, last.line, behind)


def region(case: Case, judged: Figure | Statement) -> SourceRegion:
    """Where a figure or a statement stands."""
    span = judged.span if isinstance(judged, Figure) else judged.claim.span
    return SourceRegion(judged.claim.line) if span is None else spanned(case, span)


def where(case: Case, judged: Figure | Statement) -> str:
    """Where it stands, for a reader: what its claim says of that, and in an article the
    line and the column."""
    if judged.claim.span is None:
        return judged.claim.where
    line, column, *_ = region(case, judged)
    if judged.claim.where == f"line {judged.claim.line}":
        return Sentence("line {line}, column {column}", line=line, column=column)
    return Sentence(
        "{where} (line {line}, column {column})", where=judged.claim.where, line=line, column=column
    )


def as_dict(case: Case, place: SourceRegion) -> dict[str, Any]:
    """A place as plain data, with the same keys whatever is known of it."""
    return {"file": file_of(case) if case.path else None, **place._asdict()}
