"""``symattn mark``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from symattn.cli import cases as case_arguments
from symattn.cli import options
from symattn.cli.pages import page
from symattn.errors import Fault, Faults, Malformed
from symattn.escaping import json_text, visible
from symattn.outputs import STANDARD_OUTPUT
from symattn.ownership import Outputs
from symattn.signals import undone
from symattn.workers import Asker, Job

if TYPE_CHECKING:
    from rich.console import Console

    from symattn.exercises.exercise import Exercise
    from symattn.exercises.marking.answer_files import GradebookRow
    from symattn.exercises.marking.collecting import Scheme, Script
    from symattn.exercises.marking.judging import Examiner


@click.command("mark")
@click.argument("answers", type=click.Path(path_type=Path))
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    metavar="KEY",
    help="The key written by symattn exercise; by default key.toml beside the answers.",
)
@click.option(
    "--begin",
    is_flag=True,
    help="Create ANSWERS as an empty table with a column for each blank.",
)
@options.writes(
    "DIR", "Write each student's feedback to DIR as a web page and as text, and marks.csv."
)
@options.form("text", "csv", "json", what="Format of the table on standard output.")
@options.language("Language of the feedback", "en")
@options.paced("student", several=True, outside=False)
def command(
    answers: Path,
    key: Path | None,
    begin: bool,
    output: Path | None,
    outputs: Outputs,
    form: str,
    language: str,
    pace: options.Pace,
) -> None:
    """Mark students' answers, with credit for follow-through.

    An answer is right (within a unit of its last place), early (rounded too early), follows
    (it agrees with the student's own earlier answers), slip (the mistake can be named) or
    wrong. A mistake costs points only once.

    ANSWERS is a table with one answer per row, rows and columns counted from 0, or with one
    student per row and a column for each blank:

    \b
      student,version,quantity,row,column,answer
      Ada,3,S,0,1,0.7071
    \b
      student;version;S[0,0];S[0,1]
      Ada;3;1;0,7071

    or a .toml or .json file: [answers.Ada] with version = 3, S = [["1", "0.7071"]].
    Fractions, closed forms such as 1/(1 + exp(1)), and -inf are accepted. What cannot be
    read is reported with its place; everything else is marked all the same.

    The [scheme] of the key says what share of its points an answer gets that is not right;
    by default early = "3/4", follows = 1, slip = "1/2", wrong = 0.

    \b
      symattn mark answers.csv --key exercise/key.toml --begin
      symattn mark answers.csv --key exercise/key.toml
      symattn mark answers.csv --key exercise/key.toml -o feedback
      symattn mark answers.toml --format json
    """
    from symattn.exercises.key import FILE, read_key
    from symattn.exercises.marking import answer_files
    from symattn.exercises.marking.answer_files import read_answers, scheme_of

    if output == STANDARD_OUTPUT:
        raise Malformed("-o takes a folder here; without it the table goes to standard output")
    if output is not None:
        outputs.claim_in(output, [answer_files.FILE])
    key = answers.parent / FILE if key is None else key
    exercises = read_key(key)
    if exercises[0].is_proof:
        raise Malformed("its parts are proofs, which only people can mark", str(key))
    if begin:
        _begin(answers, exercises[0], outputs)
        return
    submitted = read_answers(answers, exercises)
    if not submitted.scripts:
        submitted.faults.raise_all(str(answers))
        raise Malformed("it contains no answers", str(answers))
    scheme = submitted.scheme or scheme_of(key)
    rows: list[GradebookRow] = []
    failed: dict[str, Malformed] = {}
    names = answer_files.file_names([script.student for script in submitted.scripts])
    folder = _Folder(output, outputs, names) if output is not None else None
    with undone(folder.bring_up_to_date) if folder else nullcontext():
        all_marked = _all_marked(key, submitted.scripts, scheme, language, pace)
        for name, (student, marked) in zip(names, all_marked, strict=True):
            if isinstance(marked, Malformed):
                failed[student] = marked
                continue
            if form == "csv" and not rows:
                click.echo(answer_files.csv_head([marked.row]), nl=False)
            rows.append(marked.row)
            line = answer_files.csv_line(marked.row, f"{name}.html" if folder else "")
            if folder:
                folder.take(name, marked, line)
            if form == "csv":
                click.echo(line, nl=False)
    not_marked = [*submitted.refused, *failed]
    if form == "json":
        click.echo(json_text(answer_files.as_dict(rows, not_marked)))
    elif form == "csv":
        if not rows:
            click.echo(answer_files.csv_head(rows), nl=False)
    else:
        case_arguments.echo(
            case_arguments.printed(lambda out: _report(rows, not_marked, output, out), True)
        )
    faults = Faults(submitted.faults)
    faults.more += submitted.faults.more
    for student, error in failed.items():
        faults += [Fault(student, fault.message) for fault in error.faults]
    faults.raise_all(str(answers))


def _begin(answers: Path, exercise: Exercise, outputs: Outputs) -> None:
    """Write the table that is to be filled, where nothing is yet."""
    from symattn.exercises.marking.answer_files import empty_table

    if answers.suffix.lower() != ".csv":
        raise Malformed(f"{answers}: --begin creates a table: expected a name that ends in .csv")
    outputs.create(answers, empty_table(exercise).encode())
    click.echo(
        visible(f"{answers}: fill in a row for each student, then run symattn mark {answers}")
    )


class _Marked(NamedTuple):
    """A student's row of the table, and the feedback as a page and as text."""

    row: GradebookRow
    html: bytes
    text: str


def _all_marked(
    key: Path, scripts: Sequence[Script], scheme: Scheme, language: str, pace: options.Pace
) -> Iterator[tuple[str, _Marked | Malformed]]:
    """Yield what became of each student's script, or why nothing did, in their order as they
    come."""
    jobs: list[Job] = [(_marked, (key, script, scheme, language)) for script in scripts]
    students = [script.student for script in scripts]
    with closing(case_arguments.as_they_come(students, jobs, pace)) as given:
        for student, answer in zip(students, given, strict=True):
            yield student, case_arguments.failure(answer, student, pace.limits) or answer


def _marked(asker: Asker, key: Path, script: Script, scheme: Scheme, language: str) -> _Marked:
    from symattn.exercises.marking import answer_files
    from symattn.exercises.marking.feedback import Feedback
    from symattn.languages.language import language as of_name

    asker.stage("computing")
    examiner = _examiner(key, script.version)
    asker.stage("marking")
    judged = examiner.judged(script)
    feedback = Feedback(judged, examiner.exercise, scheme, of_name(language))
    asker.stage("writing")
    return _Marked(
        answer_files.row(feedback), page(feedback.sheet("feedback"), "html"), feedback.text()
    )


@lru_cache(maxsize=4)
def _exercises(key: Path) -> dict[int, Exercise]:
    from symattn.exercises.key import read_key

    return {exercise.version: exercise for exercise in read_key(key)}


@lru_cache(maxsize=64)
def _examiner(key: Path, version: int) -> Examiner:
    from symattn.exercises.marking.judging import Examiner

    return Examiner(_exercises(key)[version])


class _Folder:
    """The folder that feedback is written into as it comes, with the table of those who are in it.

    The table is replaced whole, ever more seldom as it grows: in all that costs a few times
    what writing it once does. What ends the program brings it up to date.
    """

    def __init__(self, path: Path, outputs: Outputs, names: Sequence[str]) -> None:
        outputs.claim_in(path, (f"{name}.{form}" for name in names for form in ("html", "txt")))
        self._path = path
        self._outputs = outputs
        self._lines: list[str] = []
        self._in_table = 0

    def take(self, name: str, marked: _Marked, line: str) -> None:
        """Write the feedback of one student, whose row of the table is ``line``."""
        from symattn.exercises.marking.answer_files import csv_head

        self._outputs.write(self._path / f"{name}.html", marked.html)
        self._outputs.write(self._path / f"{name}.txt", marked.text.encode())
        self._lines += [line] if self._lines else [csv_head([marked.row]) + line]
        if 4 * len(self._lines) >= 5 * self._in_table:
            self.bring_up_to_date()

    def bring_up_to_date(self) -> None:
        """Have all in the table whose feedback is written."""
        from symattn.exercises.marking.answer_files import FILE

        if (count := len(self._lines)) > self._in_table:
            self._outputs.write(self._path / FILE, "".join(self._lines[:count]).encode())
            self._in_table = count


def _report(
    rows: Sequence[GradebookRow], not_marked: Sequence[str], output: Path | None, out: Console
) -> None:
    """Print the table, and how often each mistake was made."""
    from symattn.cli.cases import styled
    from symattn.cli.terminal_table import Columns, wrapped
    from symattn.exercises.marking import answer_files
    from symattn.exercises.marking.collecting import points_text

    if rows:
        parts = [*rows[0].parts]
        headings = ["student", "version", "points", "of", *parts, "slips"]
        styles = ["", "dim", "green", "dim", *("" for _ in parts), ""]
        cells = [
            [
                visible(script.student),
                str(script.version or ""),
                points_text(script.points),
                str(script.of),
                *(points_text(script.parts[part]) for part in parts),
                visible("; ".join(script.slips)),
            ]
            for script in rows
        ]
        table = Columns(headings, styles, range(1, 4 + len(parts)))
        middle = tuple(range(4, 4 + len(parts)))
        left_out = [(), middle] if rows[0].version else [(1,), (1, *middle)]
        fits = (table.fitted(cells, out.width, some, 30) for some in left_out)
        widths = next(filter(None, fits), None) or table.shrunk(cells, out.width, left_out[-1])
        table.head(out, widths)
        for row in cells:
            table.row(out, widths, row, False)
        mean = sum((script.points for script in rows), Fraction(0)) / len(rows)
        students = f"{len(rows)} student{'s' if len(rows) != 1 else ''}"
        out.print()
        out.print(styled(f"{students}, {points_text(mean)} of {rows[0].of} points on average"))
    for slip, count in answer_files.common(rows):
        for k, line in enumerate(wrapped(visible(slip), out.width - 6)):
            out.print(styled(f"{count if k == 0 else '':>4}  {line}"), soft_wrap=True)
    for student in not_marked:
        out.print(styled(f"not marked: {student}", style="red"), soft_wrap=True)
    if output is not None and rows:
        out.print(styled(f"feedback and {answer_files.FILE} in {output}"), soft_wrap=True)
