"""The CASE arguments: the work on each, its faults, and what the commands print with."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar

import click

from symattn import workers
from symattn.cli.options import ASSUMED, Pace, Progress
from symattn.errors import Fault, Malformed, Undecided, blamed_on, reported
from symattn.escaping import visible
from symattn.workers import Asker, Crashed, Ended, Watcher, WorkLimits, told

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from rich.console import Console
    from rich.text import Text

    from symattn.cases.case import Case
    from symattn.solution.solution import Solution

argument = click.argument("cases", metavar="[CASE]...", nargs=-1)

#: Jobs that an executor is given at a time, at most, and as many pieces at least.
_TOGETHER, _PIECES = 16, 64

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class CaseArgument:
    """A case as the command line asks for it: its name or path, and whether its
    file may extend others outside of its folder."""

    name: str
    allow_outside: bool = False

    @property
    def label(self) -> str:
        """Return what it is called where several are told apart: by its name, an article by its
        path."""
        return Path(self.name).stem if self.name.endswith(".toml") else self.name

    def load(self) -> Case:
        """The case itself; raises :class:`Malformed` with every fault of the file."""
        from symattn.cases import library

        return library.load(self.name, self.allow_outside)

    def to_build(self, asker: Asker) -> Case:
        """The case, to build something on: tells what its article was taken to mean, and raises
        :class:`Malformed` where only figures say what code that isn't followed makes."""
        case = self.load()
        if case.reading is not None:
            from symattn.auditing import understanding

            if note := understanding.unsettled(case.reading):
                raise Malformed(f"{note.when} {note.text}", self.name)
            for sentence in case.reading.assumptions:
                asker.stage(f"{ASSUMED}{sentence}")
        return case


@dataclass(frozen=True)
class Results(Generic[T]):
    """The results of the work on the cases, in their order; ``stopped`` says which of them were
    stopped at a limit, or by internal error."""

    done: list[T]
    stopped: list[Malformed]

    def whole(self) -> list[T]:
        """All results; raises :class:`Malformed` if a case was stopped."""
        self.tell()
        return self.done

    def tell(self) -> None:
        """Raise :class:`Malformed` if a case was stopped."""
        if self.stopped:
            raise _together(self.stopped)


def of_each(
    cases: Sequence[str],
    pace: Pace,
    act: Callable[Concatenate[Asker, CaseArgument, P], T],
    *arguments: P.args,
    **named: P.kwargs,
) -> Results[T]:
    """``act`` of every case, without a name of all bundled ones, within limits.

    ``act`` is a function of a module: where there is a limit it runs in a worker, and gives plain
    data back. What is stopped at a limit, or by a fault of symattn's own, takes nothing from the
    others. The faults of all cases are raised together. Results go by a case's name, so two cases
    of one name are a fault; articles go by their paths.
    """
    if not cases:
        from symattn.cases import library

        cases = library.names()
    wanted = [CaseArgument(case, pace.allow_outside) for case in cases]
    _distinct(case.label for case in wanted)
    jobs: list[workers.Job] = [(act, (case, *arguments, *named.values())) for case in wanted]
    return of_jobs(cases, jobs, pace)


def distinct_files(cases: Sequence[str]) -> None:
    """:class:`Malformed` if the results of two cases would be one file."""
    _distinct(Path(CaseArgument(case).label).name for case in cases)


def _distinct(names: Iterable[str]) -> None:
    if twice := sorted(name for name, count in Counter(names).items() if count > 1):
        raise Malformed(f"two cases are called {', '.join(twice)}: run them one at a time")


def of_jobs(names: Sequence[str], jobs: Sequence[workers.Job], pace: Pace) -> Results[Any]:
    """Return what jobs of these names give, within limits; see :func:`of_each`."""
    answers = [*as_they_come(names, jobs, pace)]
    messages, done = [], []
    for name, answer in zip(names, answers, strict=True):
        if (message := failure(answer, name, pace.limits)) is not None:
            messages.append(message)
        else:
            done.append(answer)
    if any(isinstance(answer, Malformed | Undecided) for answer in answers):
        raise _together(messages)
    return Results(done, messages)


def as_they_come(
    names: Sequence[str], jobs: Sequence[workers.Job], pace: Pace
) -> Generator[Any, None, None]:
    """Return what every job gave, or the exception that it ended with, each as soon as all before
    it are there; ``names`` are what a terminal is shown of them."""
    progress = Progress(names)
    waiting: dict[int, Any] = {}
    due = 0
    try:
        with closing(_worked(jobs, pace, progress)) as answers:
            for index, answer in answers:
                waiting[index] = answer
                while due in waiting:
                    # Whoever gets it may print something.
                    progress.clear()
                    yield waiting.pop(due)
                    due += 1
    finally:
        progress.clear()


def failure(answer: object, name: str, limits: WorkLimits) -> Malformed | None:
    """Return what is told of a job that gave nothing; None of one that gave something.

    Raises what is no fault of the input.
    """
    if isinstance(answer, Malformed):
        return answer
    if isinstance(answer, Undecided):
        return Malformed(answer.faults, name, answer.more)
    if isinstance(answer, Crashed):
        click.echo(reported(answer.why, answer.trace)[1], nl=False, err=True)
    if isinstance(answer, RecursionError | Ended | Crashed):
        return Malformed(told(answer, limits), name)
    if isinstance(answer, Exception):
        raise answer
    return None


def _worked(
    jobs: Sequence[workers.Job], pace: Pace, progress: Progress
) -> Generator[tuple[int, Any], None, None]:
    if pace.executor is not None:
        yield from elsewhere(jobs, pace.limits, pace.executor, progress)
        return
    if pace.limits != WorkLimits():
        with closing(workers.results(jobs, pace.limits, pace.jobs, progress)) as results:
            yield from results
        return
    for index, (act, arguments) in enumerate(jobs):
        answer = workers.done(act, Asker(partial(progress.stage, index)), arguments)
        progress.stage(index, "done")
        yield index, answer


def elsewhere(
    jobs: Sequence[workers.Job],
    limits: WorkLimits,
    executor: Executor,
    watcher: Watcher | None = None,
) -> Generator[tuple[int, Any], None, None]:
    """Return what every job gave that an executor does, as :func:`symattn.workers.results`."""
    from symattn.sharing import shared

    # Starting a process takes as long as some jobs do: where there are many, it does several.
    size = max(1, min(_TOGETHER, len(jobs) // _PIECES))
    pieces = [(jobs[k : k + size], limits) for k in range(0, len(jobs), size)]
    if watcher:
        for index in range(len(jobs)):
            watcher.stage(index, "")
    for place, answers in shared(workers.answers, pieces, executor):
        for index, answer in enumerate(answers, place * size):
            if watcher:
                watcher.stage(index, "done")
            yield index, answer


def _together(messages: Sequence[Malformed]) -> Malformed:
    if len(messages) == 1:
        return messages[0]
    return Malformed(
        [Fault("", fault.at(error.source)) for error in messages for fault in error.faults],
        more=sum(error.more for error in messages),
    )


@contextmanager
def solved(asker: Asker, case: CaseArgument, is_built_on: bool = False) -> Iterator[Solution]:
    """The solution of a case; faults found in working with it are told with its file. Who
    builds on it is told what is assumed, where an article does not say it."""
    from symattn.solution.solution import solve

    asker.stage("reading")
    read = case.to_build(asker) if is_built_on else case.load()
    asker.stage("computing")
    solution = solve(read)
    with blamed_on(read.path):
        yield solution


def styled(text: str, style: str = "") -> Text:
    """Text of a case for a terminal, where it steers nothing."""
    from rich.text import Text

    return Text(visible(text), style=style)


def console(is_asked: bool = False) -> Console:
    """A terminal; piped, its lines have up to 200 letters and no colours.

    ``is_asked``: piped it is as wide as COLUMNS says, where that is set.
    """
    from rich.console import Console

    terminal = Console()
    asked = is_asked and "COLUMNS" in os.environ
    return terminal if terminal.is_terminal or asked else Console(width=200)


def printed(show: Callable[[Console], None], is_asked: bool = False) -> str:
    """Return what ``show`` prints on standard output, as text with its colours.

    A console that printed by itself would end the program where nobody reads.
    """
    out = console(is_asked)
    with out.capture() as captured:
        show(out)
    return captured.get()


def reported_on(show: Callable[[Console], None], terminal: bool) -> str:
    """Return what ``show`` prints, for a terminal, or for a file: plain, even where the environment
    forces colours."""
    from rich.console import Console

    if terminal:
        return printed(show, is_asked=True)
    buffer = io.StringIO()
    show(Console(file=buffer, width=160, color_system=None))
    return buffer.getvalue()


def print_table(headings: Sequence[str], rows: Iterable[Sequence[Text]]) -> None:
    """Print columns, of which the first stays whole."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, heading in enumerate(headings):
        table.add_column(heading, no_wrap=place == 0)
    for row in rows:
        table.add_row(*row)
    echo(printed(lambda out: out.print(table)))


def echo(text: str) -> None:
    """Print what has its colours already."""
    click.echo(text, nl=False, color=True)
