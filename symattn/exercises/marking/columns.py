"""Answers in a table: CSV with one answer, or one student, in a row."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from symattn import syntax
from symattn.errors import Fault, Malformed, expected, short
from symattn.exercises.exercise import Exercise
from symattn.exercises.marking.collecting import Collector
from symattn.exercises.marking.scripts import Blank
from symattn.limits import BYTES
from symattn.shapes import grid, keys
from symattn.spelling import whole

#: The columns of a table with one answer in a row; of these a wide one has the first two.
_LONG = ("student", "version", "quantity", "row", "column", "answer")


def empty_table(exercise: Exercise) -> str:
    """A table to be filled: the headings, with a column for each blank.

    >>> from symattn.cases.library import load
    >>> from symattn.exercises.exercise import exercise
    >>> empty_table(exercise(load("cat-sat-mat")))[:40]
    'student,version,"S[0, 0]","S[0, 1]","S[0'
    """
    labels = []
    for part in exercise.parts:
        shape, tree = exercise.shape(part), syntax.parse(part.quantity)
        rows, columns = grid(shape)
        labels += [
            syntax.entry_text(part.quantity, tree, keys(shape, i, j))
            for i in range(rows)
            for j in range(columns)
        ]
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(["student", "version", *labels])
    return buffer.getvalue()


def read_table(text: str, collector: Collector) -> None:
    """A table with one answer, or one student, in a row."""
    rows = _rows(text)
    try:
        _, head, comma = next(rows)
    except StopIteration:
        raise Malformed("expected a row of headings, found nothing") from None
    names = [" ".join(cell.split()) for cell in head]
    known = {name.lower(): k for k, name in reversed([*enumerate(names)])}
    if "student" not in known:
        message = "expected the headings student, version, quantity, row, column, answer, or "
        message += "student, version and one for each blank, such as S[0, 1]; found "
        raise Malformed(Fault("", message + short(", ".join(names)), 1))
    columns = _AnswerColumns(collector, names, known)
    for line, row, _ in rows:
        if any(cell.strip() for cell in row):
            columns.take(line, row, comma)


def _rows(text: str) -> Iterator[tuple[int, list[str], bool]]:
    """The rows with their lines, and whether the table writes decimals with a comma."""
    first, _, rest = text.partition("\n")
    skipped = 0
    if separator := re.fullmatch(r"sep=(.)\s*", first):
        text, skipped, delimiter = rest, 1, separator[1]
    else:
        delimiter = next((mark for mark in (";", "\t") if mark in first), ",")
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = lines.line_num + skipped + 1
        try:
            with _cells_of_any_length():
                row = next(lines)
        except StopIteration:
            return
        except csv.Error as error:
            raise Malformed(Fault("", f"not valid CSV: {error}", line)) from None
        if row:
            yield line, row, delimiter == ";"


@contextmanager
def _cells_of_any_length() -> Iterator[None]:
    """A block in which no cell is too long to be read: what is in one is told at its place.

    The limit is that of the process, and a file is not longer than this.
    """
    before = csv.field_size_limit(BYTES.most)
    try:
        yield
    finally:
        csv.field_size_limit(before)


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
        """Take up the answers of a row."""
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
        indices = [_index(text) for text in written if text]
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


def _index(text: str) -> object:
    """An index as a number; what is none as it stands."""
    number = whole(text)
    return text if number is None else number
