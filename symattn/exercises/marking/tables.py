"""Tables for the marker: who has how many points, and which slips were made how often."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from symattn.escaping import spreadsheet
from symattn.exercises.marking.feedback import Feedback
from symattn.exercises.marking.judging import OUTCOMES, Outcome
from symattn.exercises.marking.points import most, points_text

#: What the table is called in the folder of the feedback.
FILE = "marks.csv"
#: Bytes of a file's name, without its ending.
_LONGEST = 80
#: Names that no file has on Windows, and that folders have for files of their own.
_TAKEN = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9]|index|readme)\Z")


@dataclass(frozen=True)
class GradebookRow:
    """One student in the table, as plain data; ``parts`` are the points by quantity,
    ``counts`` how many answers are what, ``slips`` those that have a name."""

    student: str
    version: int
    points: Fraction
    most: int
    parts: dict[str, Fraction]
    counts: dict[Outcome, int]
    slips: tuple[str, ...]
    answers: list[dict[str, Any]] = field(default_factory=list)


def row(feedback: Feedback) -> GradebookRow:
    """The row of a script that was judged."""
    judged, scheme = feedback.judged, feedback.scheme
    answers = [
        {
            "of": mark.label,
            "answer": mark.text or None,
            "outcome": mark.outcome,
            "correct": mark.correct,
            "slip": feedback.say.again(mark.slip.phrase) if mark.slip else None,
            "points": str(scheme.worth(mark.outcome) * Fraction(part.points, len(marks))),
        }
        for part, marks in judged.parts
        for mark in marks
    ]
    return GradebookRow(
        student=judged.script.student,
        version=judged.script.version,
        points=feedback.points,
        most=most(judged),
        parts={part.quantity: scheme.of_part(part, marks) for part, marks in judged.parts},
        counts={outcome: judged.count(outcome) for outcome in OUTCOMES},
        slips=tuple(feedback.say.again(slip.phrase) for slip in judged.slips),
        answers=answers,
    )


def csv_head(rows: Sequence[GradebookRow]) -> str:
    """The headings of the table in CSV."""
    parts = [*rows[0].parts] if rows else []
    return _csv(["student", "version", "points", "of", *parts, *OUTCOMES, "slips", "feedback"])


def csv_line(row: GradebookRow, file: str) -> str:
    """A row of the table in CSV; ``file`` is what the feedback is called, '' for none.

    Points are decimals, rounded to two places.
    """
    cells = [
        spreadsheet(row.student),
        row.version,
        points_text(row.points),
        row.most,
        *(points_text(points) for points in row.parts.values()),
        *(row.counts[outcome] for outcome in OUTCOMES),
        spreadsheet("; ".join(row.slips)),
        spreadsheet(file),
    ]
    return _csv(cells)


def _csv(cells: Sequence[object]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(cells)
    return buffer.getvalue()


def as_dict(rows: Sequence[GradebookRow], refused: Iterable[str]) -> dict[str, Any]:
    """The table as plain data, every answer with what it is; points are exact fractions."""
    return {
        "students": [
            {
                "student": row.student,
                "version": row.version,
                "points": str(row.points),
                "of": row.most,
                "parts": {name: str(points) for name, points in row.parts.items()},
                "counts": row.counts,
                "slips": list(row.slips),
                "answers": row.answers,
            }
            for row in rows
        ],
        "not_marked": list(refused),
        "slips": dict(common(rows)),
    }


def common(rows: Sequence[GradebookRow]) -> list[tuple[str, int]]:
    """The slips that have a name, with how many students made each: the most frequent first."""
    return Counter(slip for row in rows for slip in dict.fromkeys(row.slips)).most_common()


def file_names(students: Sequence[str]) -> list[str]:
    """What the files of students are called: safe anywhere, and each another.

    >>> file_names(["Ada Lovelace", "ada/lovelace", "../..", "con", "Ada_Lovelace", "README"])
    ['Ada_Lovelace', 'ada_lovelace-2', 'student', 'con_', 'Ada_Lovelace-3', 'README_']
    """
    taken: set[str] = set()
    names = []
    for student in students:
        plain = name = _safe(student)
        number = 2
        while name.casefold() in taken:
            name, number = f"{plain}-{number}", number + 1
        taken.add(name.casefold())
        names.append(name)
    return names


def _safe(student: str) -> str:
    name = re.sub(r"[^\w-]+", "_", student).strip("_-")
    name = name.encode()[:_LONGEST].decode(errors="ignore") or "student"
    return f"{name}_" if _TAKEN.match(name.casefold()) else name
