"""Moodle files: what ``symattn exercise --format moodle`` and ``--format stack`` write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symattn.cli import cases as case_arguments
from symattn.cli.options import Pace
from symattn.escaping import visible
from symattn.outputs import STANDARD_OUTPUT
from symattn.ownership import Outputs
from symattn.workers import Asker, Job

if TYPE_CHECKING:
    from symattn.printers.blocks import Block

#: The forms that are no documents but one file of questions, all versions together.
QUIZZES = ("moodle", "stack")


def write(
    key: str,
    versions: Sequence[tuple[str, str]],
    form: str,
    settings: Mapping[str, Any],
    solutions: bool,
    output: Path,
    outputs: Outputs,
    pace: Pace,
) -> None:
    """Write the questions of an exercise's versions: DIR/CASE-moodle.xml or
    DIR/CASE-stack.xml.

    ``key`` is that of all versions, and each of these has a name and a key. Raises
    :class:`~symattn.errors.Malformed` where one can't be made: a file that lacks
    versions would go unnoticed.
    """
    from symattn.exercises.quiz import quiz

    # The versions are questions of their own in the one, and variants of one in the other.
    parts = [("", key)] if form == "stack" else versions
    language = settings.get("language")
    jobs: list[Job] = [(_question, (text, form, language, solutions)) for _, text in parts]
    questions = case_arguments.of_jobs(
        [name for name, _ in versions[: len(jobs)]], jobs, pace
    ).whole()
    name = questions[0][0]
    text = quiz(name, [question for _, question in questions])
    if output == STANDARD_OUTPUT:
        outputs.write(output, text.encode())
        return
    path = output / f"{name}-{form}.xml"
    outputs.claim_in(output, [path.name])
    outputs.write(path, text.encode())
    count = f"{len(versions)} version{'s' if len(versions) != 1 else ''}"
    click.echo(visible(f"{count} for Moodle's question bank: {path}"))


def _question(
    asker: Asker, text: str, form: str, language: str | None, solutions: bool
) -> tuple[str, str]:
    from symattn.exercises import questions
    from symattn.exercises.cloze import cloze
    from symattn.exercises.key import FILE, read
    from symattn.exercises.quiz import essay
    from symattn.exercises.slips import catalogue
    from symattn.exercises.stack import stack
    from symattn.languages.language import ENGLISH
    from symattn.languages.language import language as language_of

    asker.stage("computing")
    say = language_of(language) if language else ENGLISH
    exercises = read(Path(FILE), text.encode())
    first = exercises[0]
    name = first.case.name
    if form == "stack":
        return name, stack(exercises, say)
    if first.is_proof:
        return name, essay(first, say)
    faults = catalogue(first)
    working: Sequence[Block] = ()
    if solutions:
        asker.stage("checking")
        working = questions.solution(first, faults, language=language).blocks
    return name, cloze(first, say, faults, working)
