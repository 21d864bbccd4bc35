"""What became of the numbers that an article prints: silence would read as approval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, get_args

from symattn.auditing import naming
from symattn.auditing.audit import Audit
from symattn.cases.case import Case
from symattn.documents.reading import ArticleNumber, Status
from symattn.languages.language import Sentence, joined

#: So many lines are named.
_LINES = 12


_BY_STATUS = {
    "bound": "{count} bound",
    "local": "{count} local",
    "given": "{count} given",
    "ignored": "{count} ignored",
}


def counts(numbers: Sequence[ArticleNumber]) -> dict[str, int]:
    """How many numbers there are, and how many of each status."""
    counts = Counter(number.status for number in numbers)
    return {"numbers": len(numbers)} | {name: counts[name] for name in get_args(Status)}


def with_status(numbers: Sequence[ArticleNumber], status: Status) -> list[ArticleNumber]:
    """Those of some numbers that have that status, in order."""
    return [number for number in numbers if number.status == status]


def line(audit: Audit) -> str:
    """What became of the numbers of an article, in a sentence; '' without one."""
    return sentence(audit.case, audit.numbers) if audit.case.reading is not None else ""


def sentence(case: Case, numbers: Sequence[ArticleNumber]) -> str:
    """What became of the numbers that the article of a case prints.

    ``12 numbers: 8 bound, 2 local, 1 given, 1 not read (line 40)``.
    """
    count = counts(numbers)
    parts = [Sentence(_BY_STATUS[name], count=count[name]) for name in _BY_STATUS if count[name]]
    if unread := with_status(numbers, "unread"):
        at = lines(naming.spanned(case, number.span).line for number in unread)
        parts.append(Sentence("{count} not read ({lines})", count=len(unread), lines=at))
    total = count["numbers"]
    head = Sentence("1 number" if total == 1 else "{count} numbers", count=total)
    return joined((head, joined(parts)), ": ") if parts else head


def lines(numbers: Iterable[int]) -> Sentence:
    """Lines as they are named: ``lines 12, 40, 41``, of many the first."""
    distinct = sorted(set(numbers))
    if len(distinct) == 1:
        return Sentence("line {line}", line=distinct[0])
    listed = ", ".join(map(str, distinct[:_LINES]))
    if len(distinct) <= _LINES:
        return Sentence("lines {lines}", lines=listed)
    return Sentence("lines {lines} and {count} more", lines=listed, count=len(distinct) - _LINES)


def dictionary(case: Case, numbers: Sequence[ArticleNumber]) -> dict[str, Any]:
    """The counts as plain data, with the places of what was not read or is no claim."""
    return {
        **counts(numbers),
        "unread_at": _places(case, with_status(numbers, "unread")),
        "ignored_at": _places(case, with_status(numbers, "ignored")),
        "notes": list(case.reading.article.notes) if case.reading else [],
    }


def _places(case: Case, numbers: Sequence[ArticleNumber]) -> list[dict[str, Any]]:
    return [
        {
            **naming.as_dict(case, naming.spanned(case, number.span)),
            "text": number.text,
            "why": number.why or None,
        }
        for number in numbers
    ]
