"""How well articles are read, measured with marked documents.

``python -m tests.documents.measure FOLDER`` prints a line for each document of the
folder; with ``--list`` also the place of everything that went wrong.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from symattn.auditing.audit import audit
from symattn.auditing.figures import Figure
from symattn.cases import library
from symattn.cases.case import Case
from symattn.documents.reading import Number, Reading
from symattn.documents.text import Span
from symattn.errors import Malformed
from symattn.solution.solution import Solution, solve
from symattn.verdicts import Verdict
from tests.documents import marks
from tests.documents.marks import Mark, Marked

#: To so many digits the values of the reader and of the truth are compared.
DIGITS = 12

#: What became of a marked figure: bound to what it is the value of, or to something
#: else; understood as arithmetic only; or not understood.
Outcome = Literal["bound", "wrong", "local", "missed"]


class Note(NamedTuple):
    """Something that went wrong, at its line and column."""

    line: int
    column: int
    what: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column} {self.what}"


@dataclass(frozen=True)
class Measured:
    """What a reader made of a marked document.

    ``outcomes`` are those of its marks, in their order, with what the reader said;
    ``overlooked`` planted slips were not refuted where they stand, for ``mended`` ones
    the audit says what is correct; ``alarms`` were refuted, though nothing was planted
    there; ``judged`` numbers claim nothing, but were understood as figures. ``error``
    is why there is no reading at all.
    """

    document: Marked
    outcomes: tuple[tuple[Outcome, str], ...]
    overlooked: tuple[Note, ...]
    mended: int
    alarms: tuple[Note, ...]
    judged: tuple[Note, ...]
    seconds: float
    error: str = ""

    @property
    def found(self) -> float:
        """The share of the marked figures that were understood."""
        return sum(outcome != "missed" for outcome, _ in self.outcomes) / len(self.outcomes)

    @property
    def bound(self) -> float:
        """The share of the figures of named quantities that were bound to these."""
        named = [outcome for mark, outcome, _ in self._paired if mark.expression]
        return named.count("bound") / len(named)

    @property
    def slips(self) -> int:
        """How many slips were planted."""
        return sum(mark.is_slip for mark in self.document.marks)

    @property
    def caught(self) -> int:
        """How many of these were refuted where they stand."""
        return self.slips - len(self.overlooked)

    @cached_property
    def wrong(self) -> tuple[Note, ...]:
        """The figures that were bound to something else."""
        return self.notes("wrong")

    @property
    def _paired(self) -> Iterator[tuple[Mark, Outcome, str]]:
        for mark, (outcome, said) in zip(self.document.marks, self.outcomes, strict=True):
            yield mark, outcome, said

    def notes(self, wanted: Outcome) -> tuple[Note, ...]:
        """The figures of named quantities with that outcome, and of arithmetic those
        that were missed."""
        return tuple(
            _note(self.document, mark.start, f"{mark.printed} = {mark.expression}: {said}")
            for mark, outcome, said in self._paired
            if outcome == wanted and (mark.expression or wanted == "missed")
        )


def measure(document: Marked, load: Callable[[Path], Case] = library.load) -> Measured:
    """Have a marked document read and judged, and hold that against its marks.

    ``load`` makes the case of an article. The article stands alone in a folder, without
    its truth.
    """
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / document.name
        path.write_bytes(document.text.encode())
        try:
            case = load(path)
            judged = audit(case)
        except Malformed as error:
            outcomes: tuple[tuple[Outcome, str], ...] = (("missed", ""),) * len(document.marks)
            slips = [mark for mark in document.marks if mark.is_slip]
            overlooked = tuple(_note(document, mark.start, mark.printed) for mark in slips)
            seconds = time.perf_counter() - start
            return Measured(document, outcomes, overlooked, 0, (), (), seconds, str(error))
    seconds = time.perf_counter() - start
    assert case.reading is not None
    refuted = [
        (_span(figure), figure) for figure in judged.figures if figure.verdict is Verdict.REFUTED
    ]
    said = [
        (statement.claim.span or Span(0, 0), statement.claim.holds)
        for statement in judged.statements
        if statement.verdict is Verdict.REFUTED
    ]
    slips = [mark for mark in document.marks if mark.is_slip]
    hits = {mark: [figure for span, figure in refuted if _begins(mark, span)] for mark in slips}
    false = [
        (span, f"{figure.label} = {figure.text}, not {figure.correct}")
        for span, figure in refuted
        if not any(_meet(mark, span) for mark in slips) and not _spoilt(figure, document, slips)
    ]
    return Measured(
        document,
        tuple(_outcomes(document, case.reading, solve(case))),
        tuple(
            _note(document, mark.start, f"{mark.printed}, not {mark.correct}")
            for mark in slips
            if not hits[mark]
        ),
        sum(_mended(mark, hits[mark]) for mark in slips),
        tuple(_note(document, span.start, what) for span, what in sorted(false + said)),
        tuple(
            _note(document, number.span.start, f"{number.text}: {number.status} {number.of}")
            for number in case.reading.numbers
            if _understood(number) and not any(_meet(mark, number.span) for mark in document.marks)
        ),
        seconds,
    )


def _outcomes(
    document: Marked, reading: Reading, understood: Solution
) -> Iterator[tuple[Outcome, str]]:
    """What became of each mark. A number belongs to the mark that it overlaps."""
    truth = solve(document.truth)
    for mark in document.marks:
        numbers = [number for number in reading.numbers if _meet(mark, number.span)]
        one = next((number for number in numbers if _understood(number)), None)
        if one is None:
            why = numbers[0] if numbers else None
            yield "missed", f"{why.status} {why.why}" if why else "no number there"
        elif not one.of or not mark.expression:
            yield "local", one.status
        elif _same(truth, mark.expression, understood, one.of):
            yield "bound", one.of
        else:
            yield "wrong", one.of


def _understood(number: Number) -> bool:
    """Whether it is taken for a figure, which can be given, or judged."""
    return number.status in ("given", "bound", "local")


def _same(truth: Solution, mark: str, understood: Solution, of: str) -> bool:
    """Whether two expressions, each over its own names, are single and of one value."""
    right = truth[mark].significant(DIGITS)
    try:
        found = understood[of]
    except Malformed:
        return False
    return found.shape == () and found.significant(DIGITS) == right


def _span(figure: Figure) -> Span:
    """Where the article prints a figure."""
    row, column = (0, 0, *figure.at)[-2:]
    return figure.claim.spans[row][column]


def _meet(mark: Mark, span: Span) -> bool:
    return mark.start < span.end and span.start < mark.end


def _begins(mark: Mark, span: Span) -> bool:
    """Whether a span begins where the figure does, before or after its sign."""
    return span.start == mark.start or (
        span.start == mark.start + 1 and not mark.printed[0].isalnum()
    )


def _mended(mark: Mark, refuted: Sequence[Figure]) -> bool:
    """Whether one of the figures refuted there has the number that would be correct."""
    right = marks.number(mark.correct or mark.printed)
    return any(marks.number(figure.correct) == right for figure in refuted)


def _spoilt(figure: Figure, document: Marked, slips: Sequence[Mark]) -> bool:
    """Whether it says that numbers don't come to what is printed, and a planted slip is
    among these on the line."""
    line, _ = document.place(_span(figure).start)
    return figure.claim.key == "as_printed" and any(
        document.place(mark.start)[0] == line for mark in slips
    )


def _note(document: Marked, offset: int, what: str) -> Note:
    return Note(*document.place(offset), what)


_COLUMNS = ("document", "figures", "found", "bound", "wrong", "slips", "mended", "alarms", "judged")


def _row(measured: Measured) -> tuple[str, ...]:
    return (
        measured.document.name,
        str(len(measured.document.marks)),
        f"{measured.found:.1%}",
        f"{measured.bound:.1%}",
        str(len(measured.wrong)),
        f"{measured.caught}/{measured.slips}",
        str(measured.mended),
        str(len(measured.alarms)),
        str(len(measured.judged)),
    )


def _listed(measured: Measured) -> Iterator[str]:
    """Everything that went wrong, by kind."""
    for kind, notes in (
        ("missed", measured.notes("missed")),
        ("only arithmetic", measured.notes("local")),
        ("bound wrongly", measured.wrong),
        ("slip overlooked", measured.overlooked),
        ("false alarm", measured.alarms),
        ("claims nothing", measured.judged),
    ):
        yield from (f"{measured.document.name}:{note} ({kind})" for note in notes)


def main() -> None:
    """Measure the documents of the folders and files named at the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--list", action="store_true", help="list everything that went wrong")
    options = parser.parse_args()
    paths = [
        found
        for path in options.paths
        for found in (marks.documents(path) if path.is_dir() else [path])
    ]
    all_measured = [measure(marks.load(path)) for path in paths]
    rows = [_COLUMNS, *map(_row, all_measured)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        print("  ".join([first.ljust(widths[0]), *cells]))
    for measured in all_measured:
        if measured.error:
            print(f"{measured.document.name} was not read: {measured.error}")
        elif options.list:
            print(*_listed(measured), sep="\n")


if __name__ == "__main__":
    main()
