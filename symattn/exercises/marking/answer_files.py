"""Reading what students answered: a table in CSV, or TOML or JSON.

A fault is told with its place and costs nobody else anything: who can be marked is marked.

Tables for the marker: who has how many points, and which slips were made how often.

Answers in a table: CSV with one answer, or one student, in a row."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import cycle
from pathlib import Path
from typing import Any

from symattn.errors import Fault, Faults, Malformed, blamed_on, expected, short
from symattn.escaping import spreadsheet
from symattn.exercises.exercise import Exercise
from symattn.exercises.marking.collecting import (
    OUTCOMES,
    Answers,
    Blank,
    Collector,
    Outcome,
    Scheme,
    most,
    points_text,
    read_scheme,
)
from symattn.exercises.marking.feedback import Feedback
from symattn.exercises.marking.follow_through import Positions, parsed_json, read_tree
from symattn.limits import BYTES
from symattn.spelling import whole
from symattn.tables.file import content, decoded, parsed

#: The columns of a table with one answer in a row; of these a wide one has the first two.
_LONG = ("student", "version", "quantity", "row", "column", "answer")


def empty_table(exercise: Exercise) -> str:
    """A table to be filled: the headings, with a column for each blank.

    >>> from symattn.cases.library import load
    >>> from symattn.exercises.exercise import exercise
    >>> empty_table(exercise(load("cat-sat-mat")))[:40]
    'student,version,"S[0, 0]","S[0, 1]","S[0'
    """
    labels = [label for part in exercise.parts for row in exercise.labels(part) for label in row]
    return _csv(["student", "version", *labels])


def _read_table(text: str, collector: Collector) -> None:
    """A table with one answer, or one student, in a row."""
    if not (rows := rows_of(text)):
        raise Malformed("expected a row of headings, found nothing")
    _, head, comma = rows[0]
    names = [" ".join(cell.split()) for cell in head]
    known = {name.lower(): k for k, name in reversed([*enumerate(names)])}
    if "student" not in known:
        message = "expected the headings student, version, quantity, row, column, answer, or "
        message += "student, version and one for each blank, such as S[0, 1]; found "
        raise Malformed(Fault("", message + short(", ".join(names)), 1))
    columns = _AnswerColumns(collector, names, known)
    for line, row, _ in rows[1:]:
        if any(cell.strip() for cell in row):
            columns.take(line, row, comma)


def rows_of(text: str) -> list[tuple[int, list[str], bool]]:
    """The rows of a table in CSV with their lines, and whether it writes decimals with a comma.

    >>> rows_of("student;answer\\nAda;0,5\\n")
    [(1, ['student', 'answer'], True), (2, ['Ada', '0,5'], True)]
    """
    first, _, rest = text.partition("\n")
    skipped = 0
    if separator := re.fullmatch(r"sep=(.)\s*", first):
        text, skipped, delimiter = rest, 1, separator[1]
    else:
        delimiter = next((mark for mark in (";", "\t") if mark in first), ",")
    rows, line = [], skipped + 1
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    # No cell is too long to be read: what is in one is told at its place. The limit is that of
    # the process, and a file is not longer than this.
    before = csv.field_size_limit(BYTES.most)
    try:
        for row in lines:
            if row:
                rows.append((line, row, delimiter == ";"))
            line = lines.line_num + skipped + 1
    except csv.Error as error:
        raise Malformed(Fault("", f"not valid CSV: {error}", line)) from None
    finally:
        csv.field_size_limit(before)
    return rows


class _AnswerColumns:
    def __init__(
        self, collector: Collector, names: Sequence[str], known: Mapping[str, int]
    ) -> None:
        self._collector = collector
        self._names = names
        self._known = known
        self._is_long = "answer" in known
        self._blanks: dict[int, Blank] = {}
        self._seen: set[str] = set()
        if self._is_long:
            if "quantity" not in known:
                raise Malformed(Fault("", "expected a column 'quantity', found none", 1))
            for k, name in enumerate(names):
                with self._inside(1, k):
                    if name.lower() not in _LONG:
                        raise Malformed(f"unknown column: {expected(name, _LONG)}")
            return
        for k, name in enumerate(names):
            if name and name.lower() not in ("student", "version"):
                with self._inside(1, k):
                    blank = collector.blank(name)
                    if blank in self._blanks.values():
                        raise Malformed("a second column for the same blank")
                    self._blanks[k] = blank
        if not self._blanks:
            collector.faults.raise_all()
            raise Malformed(Fault("", "expected a column for each blank, found none", 1))

    def take(self, line: int, row: Sequence[str], comma: bool) -> None:
        collector = self._collector
        if any(cell.strip() for cell in row[len(self._names) :]):
            message = f"expected {len(self._names)} columns, found {len(row)}"
            if not comma and any("," in name for name in self._names):
                message += "; a cell with a comma in it needs quotation marks"
            collector.faults.append(Fault("", message, line))
        with self._inside(line, "student"):
            student = collector.student(self._cell(row, "student"))
            with self._inside(line, "version"):
                if not self._is_long and student in self._seen:
                    raise Malformed(f"{student} has a row already")
                self._seen.add(student)
                if collector.begin(student, self._cell(row, "version"), line):
                    self._answers(line, row, student, comma)

    def _answers(self, line: int, row: Sequence[str], student: str, comma: bool) -> None:
        collector = self._collector
        if self._is_long:
            with self._inside(line, "quantity"):
                blank = self._blank(row)
                with self._inside(line, "answer"):
                    collector.take(student, blank, self._cell(row, "answer"), comma)
            return
        for k, blank in self._blanks.items():
            with self._inside(line, k):
                collector.take(student, blank, row[k] if k < len(row) else "", comma)

    def _blank(self, row: Sequence[str]) -> Blank:
        of = self._cell(row, "quantity")
        if "[" in of:
            return self._collector.blank(of)
        written = [self._cell(row, name) for name in ("row", "column")]
        # What is no index as it stands is told as it is written.
        indices = [text if (k := whole(text)) is None else k for text in written if text]
        return self._collector.at(self._collector.quantity(of), indices)

    def _cell(self, row: Sequence[str], name: str) -> str:
        k = self._known.get(name, len(row))
        return row[k].strip() if k < len(row) else ""

    @contextmanager
    def _inside(self, line: int, column: int | str) -> Iterator[None]:
        """A context whose faults are noted at a cell; a column that isn't there is the
        student's."""
        try:
            yield
        except Malformed as error:
            k = column
            if isinstance(k, str):
                k = self._known.get(k, self._known["student"])
            where = f"column {k + 1} ({short(self._names[k], 40)})"
            self._collector.faults += [Fault(where, fault.message, line) for fault in error.faults]


_KIND = ("file of answers", "symattn mark --help shows one")


def read_answers(path: Path, exercises: Iterable[Exercise]) -> Answers:
    """The scripts in a ``.csv``, ``.toml`` or ``.json`` file, for the versions of an exercise.

    Raises :class:`Malformed` where the file can't be read, or is no such table.
    """
    with blamed_on(path):
        data = content(path, "the file", *_KIND)
        collector = Collector({exercise.version: exercise for exercise in exercises})
        match path.suffix.lower():
            case ".csv" | ".tsv":
                _read_table(text_of(data), collector)
            case ".toml":
                file = parsed(path, data)
                read_tree(file.document, collector, lambda where: file.places.at(*where))
            case ".json":
                text = text_of(data)
                read_tree(parsed_json(text), collector, Positions(text).at)
            case suffix:
                ending = f"found {suffix}" if suffix else "found a name without an ending"
                raise Malformed(f"expected a .csv, .toml or .json file, {ending}")
        return collector.answers()


def scheme_of(path: Path) -> Scheme:
    """The ``[scheme]`` of a key file; where it has none, the one by default.

    Raises :class:`Malformed` with every fault.
    """
    file = parsed(path, content(path, "the file", "key of an exercise", "symattn exercise writes"))
    try:
        return read_scheme(file.document.get("scheme", {}))
    except Malformed as error:
        raise file.malformed(Faults(fault.inside("scheme") for fault in error.faults)) from None


def text_of(data: bytes) -> str:
    """The text of a table. Raises :class:`Malformed` where it is not UTF-8."""
    try:
        return decoded(data)
    except Malformed as error:
        raise Malformed(f"{error}; save it as 'CSV UTF-8'") from None


#: What the table is called in the folder of the feedback.
FILE = "marks.csv"
#: Bytes of a file's name, without its ending.
_LONGEST = 80
#: Names that no file has on Windows, and that folders have for files of their own.
_TAKEN = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9]|index|readme)\Z")


@dataclass(frozen=True)
class GradebookRow:
    """One student in the table, as plain data: the points ``of`` how many, ``parts`` by quantity,
    ``counts`` how many answers are what, ``slips`` those that have a name."""

    student: str
    version: int
    points: Fraction
    of: int
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
        of=most(judged),
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
        row.of,
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
                **vars(row),
                "points": str(row.points),
                "parts": {name: str(points) for name, points in row.parts.items()},
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
    """Return what the files of students are called: safe anywhere, and each another.

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


#: Students of one list, and letters of a name, at most.
MOST, LETTERS = 2000, 80
_LIST = ("list of students", "expected a table in CSV")


def read_students(path: Path, versions: int) -> list[tuple[str, int]]:
    """The students in a ``.csv`` file, each with the number of a version.

    The table has a column ``student``, and ``version`` if it is known who gets which; else
    the versions are given out in turn, 1 to ``versions``; 0 is the case as it is. Raises
    :class:`Malformed` with every fault.
    """
    with blamed_on(path):
        return read_list(text_of(content(path, "the list", *_LIST)), versions)


def read_list(text: str, versions: int) -> list[tuple[str, int]]:
    """The students in the text of such a file.

    >>> read_list("student\\nAda\\nBob\\nCyd\\n", 2)
    [('Ada', 1), ('Bob', 2), ('Cyd', 1)]
    >>> read_list("version;student\\n2;Ada\\n3;Ada\\n", 2)
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: 2 faults
      line 3: version: expected 1 to 2, found 3
      line 3: student: Ada is in the list twice
    """
    rows = [(line, row) for line, row, _ in rows_of(text) if any(cell.strip() for cell in row)]
    names = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    if "student" not in names:
        found = ", ".join(names) or "nothing"
        raise Malformed(
            f"expected the heading student, and version if wanted; found {short(found)}"
        )
    faults = Faults()
    students: dict[str, int] = {}
    first, last = (1, versions) if versions else (0, 0)
    turn = cycle(range(first, last + 1))
    for line, row in rows[1:]:
        cells = dict(zip(names, (" ".join(cell.split()) for cell in row), strict=False))
        name, asked = cells.get("student", ""), cells.get("version", "")
        number = whole(asked) if asked else next(turn)
        if number is None or not first <= number <= last:
            faults.append(
                Fault("version", f"expected {first} to {last}, found {short(asked)}", line)
            )
        if not name or len(name) > LETTERS:
            message = f"expected a name of at most {LETTERS} letters, found {short(name) or 'none'}"
            faults.append(Fault("student", message, line))
        elif name in students:
            faults.append(Fault("student", f"{short(name)} is in the list twice", line))
        students[name] = number or 0
    if not students or len(students) > MOST:
        faults.append(Fault("", f"expected 1 to {MOST} students, found {len(students)}"))
    faults.raise_all()
    return list(students.items())
