"""How well articles are read, measured with marked documents.

``python -m tests.documents.measure FOLDER`` prints a line for each document of the
folder; with ``--list`` also the place of everything that went wrong.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal, NamedTuple

from symattn.auditing.audit import audit
from symattn.auditing.figures import Figure
from symattn.cases import library
from symattn.cases.case import Case
from symattn.documents.reading import ArticleNumber
from symattn.documents.text import Span
from symattn.errors import Malformed
from symattn.solution.quantity import Quantity
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
class Faults:
    """What went wrong in reading a marked document, each at its place.

    ``missed`` figures were not understood, ``loose`` ones only as arithmetic though they
    are the value of a quantity, ``wrong`` ones as another quantity. ``overlooked``
    slips were planted, but not refuted where they stand; ``alarms`` were refuted,
    though nothing was planted; ``judged`` numbers claim nothing, but were understood
    as figures.
    """

    missed: tuple[Note, ...] = ()
    loose: tuple[Note, ...] = ()
    wrong: tuple[Note, ...] = ()
    overlooked: tuple[Note, ...] = ()
    alarms: tuple[Note, ...] = ()
    judged: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Measured:
    """What a reader made of a marked document, figure by figure.

    ``outcomes`` are those of its marks, in their order. Of the slips ``mended`` were
    refuted with the right correction. ``error`` is why there is no reading at all.
    """

    document: Marked
    outcomes: tuple[Outcome, ...]
    mended: int
    faults: Faults
    seconds: float
    error: str = ""

    @property
    def found(self) -> float:
        """The share of the figures that were understood."""
        return 1 - self.outcomes.count("missed") / len(self.outcomes)

    @property
    def bound(self) -> float:
        """The share of the figures of quantities that were bound to these."""
        pairs = zip(self.document.marks, self.outcomes, strict=True)
        named = [outcome for mark, outcome in pairs if mark.expression]
        return named.count("bound") / len(named)

    @property
    def caught(self) -> int:
        """How many planted slips were refuted where they stand."""
        return len(self.document.slips) - len(self.faults.overlooked)


def measure(document: Marked, load: Callable[[Path], Case] = library.load) -> Measured:
    """Have a marked document read and judged, and hold that against its marks.

    ``load`` makes the case of an article, which stands alone in a folder, without its
    truth.
    """
    start = time.perf_counter()
    try:
        case = _alone(document, load)
        audited = audit(case)
    except Malformed as error:
        seconds = time.perf_counter() - start
        missed: list[Outcome] = ["missed" for _ in document.marks]
        unread = [_note(document, mark.start, mark.printed) for mark in document.marks]
        slips = [_note(document, mark.start, mark.printed) for mark in document.slips]
        faults = Faults(missed=tuple(unread), overlooked=tuple(slips))
        return Measured(document, tuple(missed), 0, faults, seconds, str(error))
    seconds = time.perf_counter() - start
    assert case.reading is not None
    became = list(_outcomes(document, audited.numbers, solve(case)))
    refuted = [figure for figure in audited.figures if figure.verdict is Verdict.REFUTED]
    hits = {
        mark: [figure for figure in refuted if _begins(mark, _span(figure))]
        for mark in document.slips
    }

    def noted(wanted: Outcome) -> tuple[Note, ...]:
        return tuple(
            _note(document, mark.start, f"{mark.printed}, {mark.expression or 'sum'}: {said}")
            for mark, (outcome, said) in zip(document.marks, became, strict=True)
            if outcome == wanted and (mark.expression or wanted == "missed")
        )

    faults = Faults(
        missed=noted("missed"),
        loose=noted("local"),
        wrong=noted("wrong"),
        overlooked=tuple(
            _note(document, mark.start, f"{mark.printed}, not {mark.correct}")
            for mark, figures in hits.items()
            if not figures
        ),
        alarms=tuple(
            _note(document, _span(one).start, f"{one.label} = {one.text}, not {one.correct}")
            for one in refuted
            if not _is_planted(one, document)
        )
        + tuple(
            _note(document, one.claim.span.start if one.claim.span else 0, one.claim.holds)
            for one in audited.statements
            if one.verdict is Verdict.REFUTED
        ),
        judged=tuple(
            _note(document, number.span.start, f"{number.text}, {number.status} {number.of}")
            for number in audited.numbers
            if _is_understood(number)
            and not any(_meet(mark, number.span) for mark in document.marks)
        ),
    )
    mended = sum(_is_mended(mark, figures) for mark, figures in hits.items())
    return Measured(document, tuple(outcome for outcome, _ in became), mended, faults, seconds)


def _alone(document: Marked, load: Callable[[Path], Case]) -> Case:
    """The case of the document, read in a folder that has nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / document.name
        path.write_bytes(document.text.encode())
        return load(path)


def _note(document: Marked, offset: int, what: str) -> Note:
    return Note(*document.place(offset), what)


def _outcomes(
    document: Marked, said: Sequence[ArticleNumber], understood: Solution
) -> Iterator[tuple[Outcome, str]]:
    """What became of each mark, and what the reader says of it. A number belongs to
    the mark that it overlaps."""
    truth = solve(document.truth)
    loosely = _shows_rounded(document, truth)
    reach = {
        place: claim.reach
        for claim in understood.case.claims
        for row in claim.spans
        for place in row
    }
    for mark in document.marks:
        numbers = [number for number in said if _meet(mark, number.span)]
        known = next((number for number in numbers if _is_understood(number)), None)
        if known is None:
            yield "missed", " ".join(f"{one.status} {one.why}" for one in numbers) or "no number"
        elif not known.of or not mark.expression:
            yield "local", known.status
        elif _same(truth, mark, understood, known.of, loosely):
            yield "bound", known.of
        elif (known.status == "given" and not mark.is_given) or _same(
            truth, mark, understood, known.of, loosely=True, reach=reach.get(known.span, 0.0)
        ):
            # A result that is only shown: what follows is computed from it as it is printed.
            yield "local", known.of
        else:
            yield "wrong", known.of


def _is_understood(number: ArticleNumber) -> bool:
    """Whether it is taken for a figure, given or judged."""
    return number.status in ("given", "bound", "local")


def _shows_rounded(document: Marked, truth: Solution) -> bool:
    """Whether a document shows inputs with less digits than they have: then nobody can know
    what follows from them to the last digit."""
    return any(
        mark.is_given
        and not mark.is_slip
        and abs(_float(truth[mark.expression]) - float(marks.number(mark.printed).value)) > 1e-12
        for mark in document.marks
    )


def _same(
    truth: Solution, mark: Mark, understood: Solution, of: str, loosely: bool, reach: float = 0.0
) -> bool:
    """Whether two expressions, each over its own names, are single and of one value; of
    inputs that are shown rounded, of one as far as these tell, or as it is said to reach."""
    right = truth[mark.expression]
    try:
        found = understood[of]
    except Malformed:
        return False
    if found.shape != () or _rounded(found) == _rounded(right):
        return found.shape == ()
    places = len(mark.printed.partition(".")[2])
    # A whole number isn't rounded, and one of a single decimal seldom.
    near = max(5 * 10.0**-places, reach)
    return loosely and places > 1 and abs(_float(found) - _float(right)) <= near


def _float(value: Quantity) -> float:
    return float(value.decimal(DIGITS))


def _rounded(value: Quantity) -> object:
    """A number in so many digits; one that is too small for that is zero."""
    try:
        return value.significant(DIGITS)
    except Malformed:
        return value.decimal(DIGITS)


def _span(figure: Figure) -> Span:
    """Where the article prints a figure."""
    row, column = (0, 0, *figure.at)[-2:]
    return figure.claim.spans[row][column]


def _meet(mark: Mark, span: Span) -> bool:
    return mark.start < span.end and span.start < mark.end


def _begins(mark: Mark, span: Span) -> bool:
    """Whether a span begins where the figure does, before or after its sign."""
    after_sign = mark.start + (not mark.printed[0].isalnum())
    return span.start in (mark.start, after_sign)


def _is_mended(mark: Mark, refuted: Iterable[Figure]) -> bool:
    """Whether one of the figures refuted there has the number that would be correct."""
    right = marks.number(mark.correct or mark.printed)
    return any(marks.number(figure.correct) == right for figure in refuted)


def _is_planted(figure: Figure, document: Marked) -> bool:
    """Whether what is refuted was planted: the figure itself or, where numbers don't
    come to what is printed, one of these on its line."""
    span = _span(figure)
    line, _ = document.place(span.start)
    return any(
        _meet(mark, span)
        or (figure.claim.key == "as_printed" and document.place(mark.start)[0] == line)
        for mark in document.slips
    )


_COLUMNS = ("document", "figures", "found", "bound", "wrong", "slips", "mended", "alarms", "judged")


def _row(measured: Measured) -> tuple[str, ...]:
    return (
        measured.document.name,
        str(len(measured.outcomes)),
        f"{measured.found:.1%}",
        f"{measured.bound:.1%}",
        str(len(measured.faults.wrong)),
        f"{measured.caught}/{len(measured.document.slips)}",
        str(measured.mended),
        str(len(measured.faults.alarms)),
        str(len(measured.faults.judged)),
    )


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
    every = [measure(marks.load(path)) for path in paths]
    rows = [_COLUMNS, *map(_row, every)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        print("  ".join([first.ljust(widths[0]), *cells]))
    for measured in every:
        name = measured.document.name
        if measured.error:
            print(f"{name} was not read: {measured.error}")
        elif options.list:
            for kind in fields(measured.faults):
                for note in getattr(measured.faults, kind.name):
                    print(f"{name}:{note} ({kind.name})")


if __name__ == "__main__":
    main()
