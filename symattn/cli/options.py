"""Options that several commands take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from symattn.cases.settings import CHOICES, NAMES, PARTS
from symattn.errors import Malformed
from symattn.limits import MEGABYTES, SECONDS, Within
from symattn.outputs import STANDARD_OUTPUT
from symattn.ownership import Outputs
from symattn.workers import Limits


def writes(
    metavar: str, what: str, default: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command -o, as ``output``, and --force; and ``outputs``, which it writes
    through: that knows what the command was told to read."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @click.option(
            "-o",
            "--output",
            type=click.Path(),
            callback=_output,
            default=default,
            show_default=default is not None,
            metavar=metavar,
            help=what,
        )
        @click.option(
            "--force",
            is_flag=True,
            help="Also replace files that symattn did not write or that have changed since. "
            "Inputs are never replaced.",
        )
        @wraps(command)
        def with_outputs(*, output: Path | None, force: bool, **rest: Any) -> None:
            context = click.get_current_context()
            outputs = Outputs(str(context.info_name), _read(context), force)
            command(output=output, outputs=outputs, **rest)

        return with_outputs

    return decorated


def _output(context: click.Context, parameter: click.Parameter, value: str | None) -> Path | None:
    """A file or folder to be written; ``-`` is standard output."""
    return STANDARD_OUTPUT if value == "-" else None if value is None else Path(value)


def _read(context: click.Context) -> Iterator[str | Path | int]:
    """What may name a file that a command reads: each of its arguments, and of its options
    all that are no choice. ``-`` is standard input."""
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if parameter.name != "output" and not isinstance(parameter.type, click.Choice):
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(one, str | Path):
                    yield 0 if one == "-" else one


def one_document(target: Path | None, count: int, form: str | None) -> None:
    """:class:`Malformed` if standard output would get several documents, or none in particular."""
    if target == STANDARD_OUTPUT and (count != 1 or form is None):
        raise Malformed("-o - is for one document: name one, and --format html, tex or pdf")


@dataclass(frozen=True)
class Pace:
    """What a case may take, how many are worked on at once, and whether a file
    may extend others outside of its folder."""

    limits: Limits
    jobs: int = 1
    allow_outside: bool = False


def _within(among: Within) -> Callable[[click.Context, click.Parameter, float], float]:
    """Refuses what is neither 0 nor within what makes sense."""

    def checked(context: click.Context, parameter: click.Parameter, value: float) -> float:
        # What is no number is not within anything.
        if value and not among.least <= value <= among.most:
            raise click.BadParameter(among.said(value))
        return value

    return checked


def bounded(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options for the limits of its work, as ``limits``."""

    @click.option(
        "--max-seconds",
        type=float,
        callback=_within(SECONDS),
        default=300,
        show_default=True,
        envvar="SYMATTN_MAX_SECONDS",
        metavar="S",
        help="Time limit for each case; 0 is no limit.",
    )
    @click.option(
        "--max-memory",
        type=int,
        callback=_within(MEGABYTES),
        default=2048,
        show_default=True,
        envvar="SYMATTN_MAX_MEMORY",
        metavar="MB",
        help="Memory limit for each case; 0 is no limit.",
    )
    @wraps(command)
    def with_limits(*, max_seconds: float, max_memory: int, **rest: Any) -> None:
        command(limits=Limits(max_seconds, max_memory), **rest)

    return with_limits


def limited(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command for one case the options for its :class:`Pace`, as ``pace``."""

    @bounded
    @click.option(
        "--allow-outside",
        is_flag=True,
        help=("Allow files to extend others outside of their folder."),
    )
    @wraps(command)
    def with_pace(*, limits: Limits, allow_outside: bool, jobs: int = 1, **rest: Any) -> None:
        command(pace=Pace(limits, jobs, allow_outside), **rest)

    return with_pace


#: What each part of a sheet is, for its flags.
_PARTS = {
    "drawing": "A drawing of the steps, on pages for the browser.",
    "backward": "The gradients.",
    "jacobian": "The softmax Jacobians, with the gradients.",
    "crosscheck": "How far NumPy differs, and which of SymPy's formulas were used.",
    "audit": "Where the document differs.",
    "commands": "How to reproduce the sheet and prove its rules.",
}


def language(
    what: str, default: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command the option for ``what`` has words in it, as ``language``."""
    return click.option(
        "--language",
        metavar="CODE",
        default=default,
        show_default=default is not None,
        callback=_known_language,
        help=f"{what}: en, de, or a language file (.toml).",
    )


def _known_language(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> str | None:
    """The code of a language; :class:`Malformed`, with their places in its file, for faults."""
    if value is not None:
        from symattn.languages.language import language as of_name

        of_name(value)
    return value


def paper_and_language(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the settings that every sheet has."""
    paper = click.option(
        "--paper", type=click.Choice(CHOICES["paper"]), help="Paper size; a4 by default."
    )
    return paper(language("The language")(command))


def sheet_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command every setting of a worked-solution sheet, as ``settings``: those that
    are said, by name."""

    @wraps(command)
    def with_settings(**named: Any) -> None:
        asked = {name: named.pop(name) for name in NAMES}
        chosen = {name: value for name, value in asked.items() if value is not None}
        command(settings=chosen, **named)

    audience = click.option(
        "--for",
        "audience",
        type=click.Choice(CHOICES["audience"]),
        help="Audience, which decides what is included; student by default.",
    )
    detail = click.option(
        "--detail",
        type=click.Choice(CHOICES["detail"]),
        help="Work one row of every product, or all rows; brief by default.",
    )
    places = click.option("--places", type=int, help="Decimal places; 4 by default.")
    for part, what in reversed(_PARTS.items()):
        whom = [f"{name}s" for name in PARTS[part]]
        for_all = len(whom) == len(CHOICES["audience"])
        unsaid = "for all" if for_all else f"for {' and '.join(whom)}"
        flag = click.option(
            f"--{part}/--no-{part}", default=None, help=f"{what} If unsaid {unsaid}."
        )
        with_settings = flag(with_settings)
    return audience(detail(places(paper_and_language(with_settings))))


def at_once(what: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command the option how many of its things it works on at once, as ``jobs``."""
    return click.option(
        "--jobs",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        envvar="SYMATTN_JOBS",
        metavar="N",
        help=f"Work on so many {what} at once.",
    )


def paced(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command for several cases the options for its :class:`Pace`, as ``pace``."""
    return at_once("cases")(limited(command))
