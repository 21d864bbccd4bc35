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
        message = (
            "expected the headings student, version, quantity, row, column, answer, or student, "
        )
        message += (
            f"version and one for each blank, such as S[0, 1]; found {short(', '.join(names))}"
        )
        raise Malformed(Fault("", message, 1))
    columns = _Columns(collector, names, known)
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


class _Columns:
    """The columns of a table: what each of them holds."""

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
                if name.lower() not in _LONG:
                    self._fault(1, k, Malformed(f"unknown column: {expected(name, _LONG)}"))
            return
        for k, name in enumerate(names):
            if name.lower() in ("student", "version") or not name:
                continue
            try:
                blank = collector.blank(name)
                if blank in self._blanks.values():
                    raise Malformed("a second column for the same blank")
                self._blanks[k] = blank
            except Malformed as error:
                self._fault(1, k, error)
        if not self._blanks:
            collector.faults.raise_all()
            raise Malformed(Fault("", "expected a column for each blank, found none", 1))

    def take(self, line: int, row: Sequence[str], comma: bool) -> None:
        """Take up the answers of a row."""
        collector = self._collector
        if len(row) > len(self._names) and any(cell.strip() for cell in row[len(self._names) :]):
            message = f"expected {len(self._names)} columns, found {len(row)}"
            if comma is False and any("," in name for name in self._names):
                message += "; a cell with a comma in it needs quotation marks"
            collector.faults.append(Fault("", message, line))
        try:
            student = collector.student(self._cell(row, "student"))
        except Malformed as error:
            return self._fault(line, self._known["student"], error)
        try:
            if not self._is_long and student in self._seen:
                raise Malformed(f"{student} has a row already")
            self._seen.add(student)
            if not collector.begin(student, self._cell(row, "version"), line):
                return None
        except Malformed as error:
            return self._fault(line, self._known.get("version", self._known["student"]), error)
        if self._is_long:
            return self._take_one(line, row, student, comma)
        for k, blank in self._blanks.items():
            self._take(line, k, student, blank, row[k] if k < len(row) else "", comma)
        return None

    def _take_one(self, line: int, row: Sequence[str], student: str, comma: bool) -> None:
        """The one answer of a row."""
        collector = self._collector
        of = self._cell(row, "quantity")
        written = [self._cell(row, name) for name in ("row", "column")]
        try:
            if "[" in of:
                blank = collector.blank(of)
            else:
                name = collector.quantity(of)
                indices = [_index(text) for text in written if text]
                blank = collector.at(name, indices)
        except Malformed as error:
            return self._fault(line, self._known["quantity"], error)
        return self._take(
            line, self._known["answer"], student, blank, self._cell(row, "answer"), comma
        )

    def _take(self, line: int, k: int, student: str, blank: Blank, text: str, comma: bool) -> None:
        try:
            self._collector.take(student, blank, text, comma)
        except Malformed as error:
            self._fault(line, k, error)

    def _cell(self, row: Sequence[str], name: str) -> str:
        k = self._known.get(name, len(row))
        return row[k].strip() if k < len(row) else ""

    def _fault(self, line: int, k: int, error: Malformed) -> None:
        where = self._where(k)
        self._collector.faults += [Fault(where, fault.message, line) for fault in error.faults]

    def _where(self, k: int) -> str:
        return f"column {k + 1} ({short(self._names[k], 40)})"


def _index(text: str) -> object:
    """An index as a number; what is none as it stands."""
    number = whole(text)
    return text if number is None else number
