"""Options that several commands take, and who works for a command: processes of this machine, or a
cluster.

What a terminal is shown while something takes long: one line, gone in the end.
"""

from __future__ import annotations

import os
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symattn.cases.settings import CHOICES, PARTS
from symattn.errors import Malformed, expected
from symattn.escaping import visible
from symattn.limits import MEGABYTES, SECONDS, Limit
from symattn.outputs import STANDARD_OUTPUT
from symattn.ownership import Outputs
from symattn.sharing import Watch
from symattn.workers import WorkLimits

if TYPE_CHECKING:
    from concurrent.futures import Executor


#: The processes that a command starts itself.
PROCESSES = "processes"
#: Where a context keeps what -o says.
_SAID = f"{__name__}.output"

#: What a command is, and gives: its exit code, None for success.
Command = Callable[..., int | None]
Decorator = Callable[[Command], Command]


def _optioned(command: Command, options: Sequence[Decorator]) -> Command:
    """Gives a command options, which its help lists in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def writes(metavar: str, what: str, default: str | None = None) -> Decorator:
    """Gives a command -o, as ``output``, and --force; and ``outputs``, which it writes
    through: that knows what the command was told to read."""

    def decorated(command: Command) -> Command:
        @click.option(
            "-o",
            "--output",
            type=click.Path(),
            callback=_output,
            default=default,
            show_default=True,
            metavar=metavar,
            help=what,
        )
        @click.option(
            "--force",
            is_flag=True,
            help="Overwrite files that symattn did not write, or that were changed since. "
            "Inputs are never overwritten.",
        )
        @wraps(command)
        def with_outputs(*, output: Path | None, force: bool, **rest: Any) -> int | None:
            context = click.get_current_context()
            if "://" in (output_as_said() or "") and not rest.get("corpus"):
                raise Malformed("-o is an address: expected a file or folder of this machine")
            outputs = Outputs(str(context.info_name), _read(context), force)
            return command(output=output, outputs=outputs, **rest)

        return with_outputs

    return decorated


def _output(context: click.Context, parameter: click.Parameter, value: str | None) -> Path | None:
    """A file or folder to be written; ``-`` is standard output."""
    context.meta[_SAID] = value
    return STANDARD_OUTPUT if value == "-" else None if value is None else Path(value)


def output_as_said() -> str | None:
    """Return what -o says, letter for letter: an address is no path."""
    said: str | None = click.get_current_context().meta.get(_SAID)
    return said


def _read(context: click.Context) -> Iterator[str | Path | int]:
    """Yield what may name a file that a command reads: each of its arguments, and of its options
    all that are no choice. ``-`` is standard input."""
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if parameter.name != "output" and not isinstance(parameter.type, click.Choice):
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, str | Path):
                    yield 0 if item == "-" else item


def one_document(target: Path | None, count: int, form: str | None) -> None:
    """:class:`Malformed` if standard output would get several documents, or none in particular."""
    if target == STANDARD_OUTPUT and (count != 1 or form is None):
        raise Malformed("-o - takes a single document: name one, and give a --format")


@dataclass(frozen=True)
class Pace:
    """The pace of work: what a case may take, how many are worked on at once, whether a file may
    extend others outside of its folder, and who does the work, if not processes of this machine."""

    limits: WorkLimits
    jobs: int = 1
    allow_outside: bool = False
    executor: Executor | None = None


def paced(
    each: str = "case",
    several: bool = False,
    jobs: int | None = 1,
    outside: bool = True,
    seconds: int = 300,
    elsewhere: bool = False,
) -> Decorator:
    """Gives a command the options for its :class:`Pace`, as ``pace``.

    ``each`` is what the limits are for, by default so many ``seconds``. A command for
    ``several`` has --jobs, by default so many or one for each core; one for files that
    extend others has --allow-outside; one whose work may be done ``elsewhere`` has
    --executor.
    """
    options = [
        _limit("seconds", SECONDS, seconds, "S", f"Time limit for each {each}; 0 means no limit."),
        _limit("memory", MEGABYTES, 2048, "MB", f"Memory limit for each {each}; 0 means no limit."),
    ]
    if several:
        unsaid = "." if jobs else "; by default the number of cores."
        parallel = click.option(
            "--jobs",
            type=click.IntRange(min=1),
            default=jobs,
            show_default=True,
            envvar="SYMATTN_JOBS",
            metavar="N",
            help=f"Number of {each}s to work on in parallel{unsaid}",
        )
        options.insert(0, parallel)
    if elsewhere:
        options.append(
            click.option(
                "--executor",
                default=PROCESSES,
                show_default=True,
                callback=_executor,
                metavar="NAME",
                help="Who does the work: processes of this machine, or a cluster, dask=ADDRESS.",
            )
        )
    if outside:
        what = "Allow files to extend others outside of their folder."
        options.append(click.option("--allow-outside", is_flag=True, help=what))

    def decorator(command: Command) -> Command:
        @wraps(command)
        def with_pace(
            *,
            max_seconds: float,
            max_memory: int,
            jobs: int | None = 1,
            allow_outside: bool = False,
            executor: str = PROCESSES,
            **rest: Any,
        ) -> int | None:
            limits = WorkLimits(max_seconds, max_memory)
            with opened_executor(executor) as pool:
                at_once = jobs or os.cpu_count() or 1
                return command(pace=Pace(limits, at_once, allow_outside, pool), **rest)

        return _optioned(with_pace, options)

    return decorator


def _executor(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """The name of an executor as it is; refuses what is none."""
    check_executor(value)
    return value


_DASK = "dask="
#: Seconds that a scheduler has to answer.
_ANSWERING = 10


def check_executor(name: str) -> None:
    """:class:`Malformed` for what names no executor.

    >>> check_executor("processes"), check_executor("dask=tcp://10.0.0.1:8786")
    (None, None)
    """
    if name != PROCESSES and not (name.startswith(_DASK) and name != _DASK):
        known = (PROCESSES, f"{_DASK}ADDRESS")
        # Before an @ may stand a password.
        shown = name.rpartition("@")[2]
        raise Malformed(f"unknown executor {shown!r}: {expected(name, known)}")


async def _met(distributed: Any, address: str) -> None:
    """Shake hands with a scheduler, and leave."""
    await (await distributed.comm.connect(address, timeout=_ANSWERING)).close()


@contextmanager
def opened_executor(name: str) -> Iterator[Executor | None]:
    """The executor of that name for as long as the work takes; None stands for the processes.

    Raises :class:`Malformed` where Dask is not installed, or no scheduler of it answers.
    """
    if name == PROCESSES:
        yield None
        return
    # Loaded for a cluster only: it takes as long as a page.
    import asyncio

    from symattn.corpus.stores import library

    distributed = library("distributed")
    address = name.removeprefix(_DASK)
    address = address if "://" in address else f"tcp://{address}"
    try:
        # A client that comes to nothing waits for long, and complains when it is left.
        asyncio.run(asyncio.wait_for(_met(distributed, address), _ANSWERING))
        client = distributed.Client(address, timeout=_ANSWERING, set_as_default=False)
    except (MemoryError, OSError, ValueError, struct.error) as error:
        reason = str(error).partition("\n")[0] or f"it says nothing for {_ANSWERING} seconds"
        if isinstance(error, MemoryError | struct.error):
            # Dask takes the letters of a stranger for lengths.
            reason = "a server of another kind does"
        elif isinstance(error, ValueError):
            # What is wrong with it the library says with all of it.
            reason = "expected an address such as tcp://10.0.0.1:8786"
        raise Malformed(f"no Dask scheduler answers at {address}: {reason}") from None
    with client, client.get_executor() as executor:
        yield executor


def _limit(name: str, among: Limit, default: int, metavar: str, what: str) -> Decorator:
    """An option for a limit, which refuses what is neither 0 nor within what makes sense."""

    def checked(context: click.Context, parameter: click.Parameter, value: float) -> float:
        # What is no number is not within anything.
        if value and not among.least <= value <= among.most:
            raise click.BadParameter(among.said(value))
        return value

    return click.option(
        f"--max-{name}",
        type=type(among.least),
        callback=checked,
        default=default,
        show_default=True,
        envvar=f"SYMATTN_MAX_{name.upper()}",
        metavar=metavar,
        help=what,
    )


def form(*choices: str, default: str | None = "text", what: str | None = None) -> Decorator:
    """Gives a command the option for the format of what it prints or writes, as ``form``."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(choices),
        default=default,
        show_default=True,
        help=what,
    )


def sealed(of: str) -> Decorator:
    """Gives a command the option to tell seals on each of what it writes, as ``seals``."""
    return click.option(
        "--sealed",
        "seals",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help=f"Say on each {of} what is sealed: DIR is what symattn seal --check -o DIR wrote.",
    )


#: Gives a command the option to fail where a PDF is not as it should be, as ``strict``.
strict_pdf = click.option(
    "--strict", is_flag=True, help="Exit with 1 on overfull lines or missing letters in a PDF."
)


def language(what: str, default: str | None = None) -> Decorator:
    """Gives a command the option for ``what`` has words in it, as ``language``."""

    def known(context: click.Context, parameter: click.Parameter, name: str | None) -> str | None:
        """Raises :class:`Malformed`, with their places in its file, for faults."""
        if name is not None:
            from symattn.languages.language import language as of_name

            of_name(name)
        return name

    return click.option(
        "--language",
        metavar="CODE",
        default=default,
        show_default=True,
        callback=known,
        help=f"{what}: en, de, or a language file (.toml).",
    )


#: What each part of a sheet is, for its flags.
_PARTS = {
    "drawing": "A drawing of the steps, on web pages; on paper where it is asked for.",
    "backward": "The gradients.",
    "jacobian": "The softmax Jacobians, with the gradients.",
    "crosscheck": "How far NumPy differs, and which of SymPy's formulas were used.",
    "audit": "Where the document differs.",
    "commands": "How to reproduce the sheet and prove its rules.",
}


def _setting(name: str, what: str, **more: Any) -> Decorator:
    """The option for a setting, of which some are chosen among few."""
    if name in CHOICES:
        more["type"] = click.Choice(CHOICES[name])
    flag = "for" if name == "audience" else name.replace("_", "-")
    return click.option(f"--{flag}", name, help=what, **more)


def _part(name: str) -> Decorator:
    """The flags for a part of a sheet."""
    whom = " and ".join(f"{each}s" for each in PARTS[name])
    audiences = "all audiences" if len(PARTS[name]) == len(CHOICES["audience"]) else whom
    what = f"{_PARTS[name]} On by default for {audiences}."
    return click.option(f"--{name}/--no-{name}", default=None, help=what)


def settings(*names: str, detail: str = "") -> Decorator:
    """Gives a command the options for settings of a sheet; those that were given, by name, as
    ``settings``. ``detail`` tells what is worked by the one of that name."""
    who = "Audience, which decides what is included; student by default."
    counted_from = "Count rows and columns from 0, the default, or from 1."
    known = {
        "audience": _setting("audience", who),
        "detail": _setting("detail", f"Work {detail}."),
        "places": _setting("places", "Decimal places; 4 by default.", type=int),
        "count_from": _setting(
            "count_from", counted_from, type=click.IntRange(0, 1), metavar="0|1"
        ),
        "paper": _setting("paper", "Paper size; a4 by default."),
        "language": language("Language"),
        **{part: _part(part) for part in PARTS},
    }

    def decorator(command: Command) -> Command:
        @wraps(command)
        def with_settings(**named: Any) -> int | None:
            asked = {name: named.pop(name) for name in names}
            given = {name: value for name, value in asked.items() if value is not None}
            return command(settings=given, **named)

        return _optioned(with_settings, [option for name, option in known.items() if name in names])

    return decorator


#: Seconds of silence; what is done by then needs no line.
_PATIENCE = 1.0


#: What a job tells first of what an article was taken to mean.
ASSUMED = "assumed: "


class Progress:
    """One line on standard error for what is worked on: which, how far, how long.

    Where standard error is no terminal nothing is shown. It is the
    :class:`~symattn.workers.Watcher` of jobs that have these names.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._begun: dict[int, float] = {}
        self._stages: dict[int, str] = {}
        self._done = 0
        self._start = time.monotonic()
        self._shown = ""
        self.ticking = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def stage(self, index: int, what: str) -> None:
        """A job has come to a stage; the first is empty, the last ``done``. What it assumes is
        told wherever standard error goes."""
        if what.startswith(ASSUMED):
            self.clear()
            click.echo(f"{visible(self._names[index])}: {visible(what)}", err=True)
            return
        if what == "done":
            self._stages.pop(index)
            self._done += 1
        else:
            self._begun.setdefault(index, time.monotonic())
            self._stages[index] = what
        self.tick()

    def tick(self) -> None:
        """Bring the line up to date."""
        if not self.ticking or time.monotonic() - self._start < _PATIENCE:
            return
        line = self._line()
        if line != self._shown:
            sys.stderr.write(f"\r{line}\x1b[K")
            sys.stderr.flush()
            self._shown = line

    def _line(self) -> str:
        if not self._stages:
            return ""
        index, what = next(iter(self._stages.items()))
        seconds = int(time.monotonic() - self._begun[index])
        count = f"[{self._done + 1}/{len(self._names)}] " if len(self._names) > 1 else ""
        more = f", and {len(self._stages) - 1} more" if len(self._stages) > 1 else ""
        line = f"{count}{visible(self._names[index])}: {what or 'starting'}, {seconds} s{more}"
        width = 80
        with suppress(OSError):
            width = os.get_terminal_size(sys.stderr.fileno()).columns or width
        return line[: max(width - 1, 0)]

    def clear(self) -> None:
        """Leave nothing behind."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = ""


# -- how far a command is ----------------------------------------------------------------

#: How often a piped run says how far it is: so many times in all.
_REPORTS = 10


@contextmanager
def counted() -> Iterator[Watch]:
    """Gives what is to be told how many pieces are done, of how many; standard error shows it
    by a bar on a terminal, by a line now and then elsewhere."""
    if not sys.stderr.isatty():

        def advance(done: int, count: int) -> None:
            if done * _REPORTS // count > (done - 1) * _REPORTS // count:
                click.echo(f"{done} of {count}", err=True)

        yield advance
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, count: bar.update(task, completed=done, total=count)
