"""``symattn exercise``.

Files for learning platforms: what ``symattn exercise --format moodle``, ``--format stack`` and
``--format qti`` write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symattn.cases.settings import LEVELS, MOST_ANSWER_PLACES
from symattn.cli import cases as case_arguments
from symattn.cli import options
from symattn.cli.options import Pace
from symattn.cli.pages import FORMS, PrintedSheet, bound, printed, write
from symattn.errors import Malformed, blamed_on
from symattn.escaping import visible
from symattn.outputs import STANDARD_OUTPUT
from symattn.ownership import Outputs
from symattn.workers import Asker, Job

if TYPE_CHECKING:
    from symattn.exercises.exercise import Exercise
    from symattn.printers.blocks import Block

#: The forms that are no documents but files of questions, all versions together; how many.
_QUIZZES = {"moodle": 1, "stack": 1, "qti": 3}
#: The forms of which all versions are also bound to one document.
_PAPER = ("tex", "docx", "pdf")
#: Rows of a table to mark in, where there is no list of students.
_ROWS = 30


def _write_quiz(
    key: str,
    versions: Sequence[tuple[str, str]],
    form: str,
    settings: Mapping[str, Any],
    solutions: bool,
    output: Path,
    outputs: Outputs,
    pace: Pace,
) -> None:
    """Write the questions of an exercise's versions: DIR/CASE-moodle.xml, DIR/CASE-stack.xml,
    or a package for each dialect of QTI.

    ``key`` is that of all versions, and each of these has a name and a key. Raises
    :class:`~symattn.errors.Malformed` where one can't be made: a file that lacks
    versions would go unnoticed.
    """
    # The versions are questions of their own in the one, and variants of one in the other.
    parts = [("", key)] if form == "stack" else versions
    language = settings.get("language")
    jobs: list[Job] = [(_question, (text, form, language, solutions)) for _, text in parts]
    questions = case_arguments.of_jobs(
        [name for name, _ in versions[: len(jobs)]], jobs, pace
    ).whole()
    files = _quiz_files(form, questions)
    if output == STANDARD_OUTPUT:
        (content,) = files.values()
        outputs.write(output, content)
        return
    outputs.claim_in(output, [*files])
    for name, content in files.items():
        outputs.write(output / name, content)
    count = f"{len(versions)} version{'s' if len(versions) != 1 else ''}"
    bank = "Moodle's question bank" if form in ("moodle", "stack") else "learning platforms"
    for name in files:
        click.echo(visible(f"{count} for {bank}: {output / name}"))


@dataclass(frozen=True)
class _Question:
    """The question of a version: of which case, what it and the version are called, and its
    text, or texts in the dialects of QTI."""

    case: str
    title: str
    version: str
    texts: tuple[str, ...]


def _quiz_files(form: str, questions: Sequence[_Question]) -> dict[str, bytes]:
    case, title = questions[0].case, questions[0].title
    if form != "qti":
        from symattn.exercises.quiz import quiz

        texts = [text for question in questions for text in question.texts]
        return {f"{case}-{form}.xml": quiz(case, texts).encode()}
    from symattn.exercises.qti import canvas
    from symattn.exercises.qti.package import package
    from symattn.exercises.qti.vocabulary import QTI_3, QTI_21

    *dialects, of_canvas = zip(*(question.texts for question in questions), strict=True)
    names = [question.version for question in questions]
    files = {
        f"{case}-{v.name}.zip": package(case, title, dict(zip(names, items, strict=True)), v)
        for v, items in zip((QTI_3, QTI_21), dialects, strict=True)
    }
    return files | {f"{case}-canvas.zip": canvas.package(case, title, of_canvas)}


def _question(
    asker: Asker, text: str, form: str, language: str | None, solutions: bool
) -> _Question:
    from symattn.exercises import questions
    from symattn.exercises.key import FILE, read
    from symattn.exercises.qti import canvas
    from symattn.exercises.qti.package import item
    from symattn.exercises.qti.vocabulary import QTI_3, QTI_21
    from symattn.exercises.quiz import cloze, essay, title
    from symattn.exercises.stack import stack
    from symattn.languages.language import ENGLISH
    from symattn.languages.language import language as language_of

    asker.stage("computing")
    say = language_of(language) if language else ENGLISH
    exercises = read(Path(FILE), text.encode())
    first = exercises[0]

    def of(*texts: str) -> _Question:
        return _Question(first.case.name, title(first, version=False), first.name, texts)

    if form == "stack":
        return of(stack(exercises, say))
    if form == "moodle" and first.is_proof:
        return of(essay(first, say))
    working: Sequence[Block] = ()
    if solutions and not first.is_proof:
        asker.stage("checking")
        working = questions.solution(first, language=language).blocks
    if form == "moodle":
        return of(cloze(first, say, working))
    items = (item(first, v, say, working) for v in (QTI_3, QTI_21))
    return of(*items, canvas.question(first, say, working))


@dataclass(frozen=True)
class _ExerciseVersions:
    """The key of all versions and whose it is, that of each with its name, what is said
    of their sheets, and what is given alike in all."""

    key: str
    of: str
    versions: tuple[tuple[str, str], ...]
    settings: dict[str, Any]
    kept: tuple[str, ...]


@click.command("exercise")
@click.argument("case", metavar="CASE")
@options.writes(
    "DIR", "Output folder; each exercise needs a folder of its own.", default="exercises"
)
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    help="forward: every step; masked: the same with a mask; backward: gradients too; proof: "
    "proofs for any size. By default what the file says, else forward.",
)
@click.option("--solutions", is_flag=True, help="Also write the solutions, with common mistakes.")
@click.option(
    "--versions",
    type=click.IntRange(1, 999),
    metavar="N",
    help="Number of versions, each with different numbers.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, (1 << 64) - 1),
    default=0,
    show_default=True,
    help="Random seed; the same seed gives the same numbers on every machine.",
)
@click.option(
    "--largest",
    type=click.IntRange(1, 99),
    default=3,
    show_default=True,
    help="Largest number to draw.",
)
@click.option("--ties", is_flag=True, help="Allow equal scores in a row.")
@click.option(
    "--places",
    type=click.IntRange(0, MOST_ANSWER_PLACES),
    help="Decimal places of the answers; by default those of the file, else 4.",
)
@options.form(
    *FORMS,
    *_QUIZZES,
    default="html",
    what="Web pages, LaTeX, Markdown, Word, or LaTeX and PDF; or questions for Moodle, with a "
    "blank for every figure or of type STACK, or for other platforms: packages of QTI.",
)
@click.option(
    "--students",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A list of students (.csv with a column student, and version if wanted): for paper, "
    "each gets a sheet with the name on it.",
)
@options.settings(
    "detail",
    "count_from",
    "paper",
    "language",
    detail="one row of every product in solutions, or all rows; full by default",
)
@click.option(
    "--header",
    metavar="TEXT|FILE",
    help="Text above each question, such as the course and the date, or a .txt file with it.",
)
@click.option(
    "--logo",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Image above each question: png or svg for web pages, png or pdf for LaTeX, png for Word.",
)
@click.option(
    "--interactive",
    is_flag=True,
    help="Web pages on which blanks are fields that check themselves, as 'symattn mark' would.",
)
@options.strict_pdf
@options.paced(several=True, elsewhere=True)
def command(
    case: str,
    output: Path,
    outputs: Outputs,
    level: str | None,
    solutions: bool,
    versions: int | None,
    seed: int,
    largest: int,
    ties: bool,
    places: int | None,
    form: str,
    settings: dict[str, Any],
    header: str | None,
    logo: Path | None,
    students: Path | None,
    interactive: bool,
    strict: bool,
    pace: options.Pace,
) -> int:
    """Make an exercise: questions with blanks, and an answer key.

    The [exercise] table of the file says what is asked for and for how many points; without
    one, every step that computes something is asked for. --versions draws different numbers
    for each student: small integers, without ties, with weights that are neither close to 0
    nor nearly equal, such that every common mistake shows. DIR/key.toml has the numbers and
    right answers of all versions, and DIR/index.html lists the web pages.

    \b
      symattn exercise cat-sat-mat                    DIR/cat-sat-mat.html
      symattn exercise cat-sat-mat --solutions        and DIR/cat-sat-mat-solution.html
      symattn exercise cat-sat-mat --versions 30 --seed 7 --solutions
      symattn exercise the-fox-jumps --level backward --versions 5
      symattn exercise length-4-causal --format pdf --language de
      symattn exercise cat-sat-mat --versions 4 --format pdf --students list.csv
      symattn exercise cat-sat-mat --header "Deep Learning, sheet 3" --logo crest.png
      symattn exercise my/case.toml --level proof -o -     to standard output
      symattn exercise cat-sat-mat --versions 30 --interactive    with answers that are checked
      symattn exercise cat-sat-mat --versions 30 --format moodle  DIR/cat-sat-mat-moodle.xml
      symattn exercise cat-sat-mat --versions 30 --format qti     DIR/cat-sat-mat-qti3.zip, ...
    """
    several = 1 if not solutions and versions in (None, 1) else 2
    from symattn.exercises.key import FILE

    options.one_document(output, _QUIZZES.get(form, several), form)
    if output != STANDARD_OUTPUT:
        outputs.claim_in(output)
    if header is not None or logo is not None:
        if form in _QUIZZES:
            raise Malformed("--header and --logo are not for questions of learning platforms")
        from symattn.exercises.exercise import read_header, read_logo

        if header is not None:
            settings["header"] = read_header(header)
        if logo is not None:
            settings["logo"] = read_logo(logo, form)
    if interactive and form != "html":
        raise Malformed("--interactive is for web pages: use it with --format html")
    listed: list[tuple[str, int]] = []
    if students is not None:
        if form not in _PAPER or output == STANDARD_OUTPUT:
            raise Malformed(
                "--students is for paper: use it with --format pdf, tex or docx, and -o DIR"
            )
        from symattn.exercises.marking.answer_files import read_students

        listed = read_students(students, versions or 0)
    # What the case is made of lies on this machine; pages are made of what was read.
    results = case_arguments.of_each(
        [case],
        replace(pace, executor=None),
        _versions,
        level or "",
        places,
        versions,
        seed,
        largest,
        ties,
        settings.get("count_from"),
    )
    (exercise,) = results.whole()
    settings = exercise.settings | settings
    if output != STANDARD_OUTPUT:
        outputs.claim_in(output, [FILE], exercise.of)
    if form in _QUIZZES:
        _write_quiz(
            exercise.key, exercise.versions, form, settings, solutions, output, outputs, pace
        )
        _write_key(exercise, output, outputs)
        return 0
    names = [name for name, _ in exercise.versions]
    jobs: list[Job] = [
        (_documents, (text, settings, form, solutions, interactive))
        for _, text in exercise.versions
    ]
    pages = case_arguments.of_jobs(names, jobs, pace)
    # All questions come first, for who hands out a folder.
    columns = [*zip(*pages.done, strict=True)]
    documents = [document for batch in columns for document in batch]
    if form in _PAPER and (len(names) > 1 or listed):
        documents += _for_paper(exercise, columns, listed, settings, form, pace)
    code = write(documents, output, outputs, form, strict, pace.jobs)
    _write_key(exercise, output, outputs)
    pages.tell()
    return code


def _write_key(exercise: _ExerciseVersions, output: Path, outputs: Outputs) -> None:
    if output != STANDARD_OUTPUT:
        from symattn.exercises.key import FILE

        outputs.write(output / FILE, exercise.key.encode(), exercise.of)
        click.echo(f"answer key: {output / FILE}")
        if exercise.kept:
            click.echo(f"the same in all versions: {', '.join(exercise.kept)}")


def _versions(
    asker: Asker,
    case: case_arguments.CaseArgument,
    level: str,
    places: int | None,
    versions: int | None,
    seed: int,
    largest: int,
    ties: bool,
    count_from: int | None,
) -> _ExerciseVersions:
    from symattn.exercises.exercise import exercise
    from symattn.exercises.key import key
    from symattn.exercises.variants import NumberRange, variants

    asker.stage("reading")
    read = case.to_build(asker)
    if count_from is not None:
        read = replace(read, sheet={**read.sheet, "count_from": count_from})
    exercises: list[Exercise] = []
    with blamed_on(read.path):
        if versions is None:
            exercises.append(exercise(read, level, places))
        else:
            for variant in variants(
                read, versions, seed, level, places, NumberRange(largest, ties)
            ):
                exercises.append(variant)
                asker.stage(f"searching, {len(exercises)} of {versions} found")
        text = key(exercises)
    keys = tuple((variant.name, key([variant])) for variant in exercises)
    drawn = [variant.case.raw for variant in exercises] if versions is not None else []
    kept = tuple(
        name for name in read.raw if drawn and all(raw[name] == read.raw[name] for raw in drawn)
    )
    return _ExerciseVersions(text, f"exercise {read.name}", keys, dict(read.sheet), kept)


def _for_paper(
    exercise: _ExerciseVersions,
    columns: Sequence[Sequence[PrintedSheet]],
    students: Sequence[tuple[str, int]],
    settings: dict[str, Any],
    form: str,
    pace: Pace,
) -> Iterator[PrintedSheet]:
    """All versions as one document, all solutions as another, a sheet for each student, and a
    table to mark in."""
    name = exercise.of.removeprefix("exercise ")
    if len(exercise.versions) > 1:
        for suffix, sheets in zip(("all", "all-solutions"), columns, strict=False):
            yield bound(f"{name}-{suffix}", sheets)
    rows = students or [("", 0)] * _ROWS
    jobs: list[Job] = [(_on_paper, (exercise.versions[0][1], settings, form, rows))]
    jobs += [
        (_on_paper, (exercise.versions[max(number - 1, 0)][1], settings, form, student))
        for student, number in students
    ]
    titles = [f"{name}-grading", *(student for student, _ in students)]
    table, *sheets = case_arguments.of_jobs(titles, jobs, pace).whole()
    yield table
    if sheets:
        yield bound(f"{name}-students", sheets)


def _on_paper(
    asker: Asker,
    text: str,
    settings: dict[str, Any],
    form: str,
    whose: str | Sequence[tuple[str, int]],
) -> PrintedSheet:
    """The sheet of a student, or the table to mark in of several."""
    from symattn.exercises import questions
    from symattn.exercises.key import FILE, read

    asker.stage("printing")
    (exercise,) = read(Path(FILE), text.encode())
    if isinstance(whose, str):
        return printed(questions.question(exercise, student=whose, **settings), form)
    return printed(questions.grading(exercise, whose, **settings), form)


def _documents(
    asker: Asker,
    text: str,
    settings: dict[str, Any],
    form: str,
    solutions: bool,
    interactive: bool,
) -> list[PrintedSheet]:
    from symattn.exercises import questions
    from symattn.exercises.key import FILE, read

    asker.stage("computing")
    (exercise,) = read(Path(FILE), text.encode())
    sheets = [questions.question(exercise, interactive=interactive, **settings)]
    if solutions:
        asker.stage("checking")
        sheets.append(questions.solution(exercise, **settings))
    return [printed(sheet, form) for sheet in sheets]
