"""``symattn vectors``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symattn import workers
from symattn.cli import cases as case_arguments
from symattn.cli.main import CHECK_FAILED
from symattn.cli.options import bounded, writes
from symattn.escaping import visible
from symattn.ownership import Outputs
from symattn.workers import Asker, Crashed, Limits

if TYPE_CHECKING:
    from symattn.testing.vectors import Form, Made, Wanted

#: How often a piped run says how far it is: so many times in all.
_TOLD = 10


@click.command("vectors")
@click.option(
    "--suite",
    default="standard",
    show_default=True,
    metavar="NAME",
    help="Suite of samples: standard, quick or blocks.",
)
@writes("DIR", "Output folder.", default="vectors")
@click.option(
    "--dtype",
    "dtypes",
    multiple=True,
    metavar="NAME",
    help="Only this format: float16, bfloat16, float32 or float64. Can be repeated.",
)
@click.option(
    "--seeds",
    type=int,
    metavar="N",
    help=("Samples of each kind and format; by default those of the suite."),
)
@click.option(
    "--format",
    "forms",
    type=click.Choice(["all", "safetensors", "json"]),
    default="all",
    show_default=True,
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    envvar="SYMATTN_JOBS",
    help="Number of parallel samples; by default the number of cores.",
)
@bounded
def command(
    suite: str,
    output: Path,
    outputs: Outputs,
    dtypes: tuple[str, ...],
    seeds: int | None,
    forms: str,
    jobs: int | None,
    limits: Limits,
) -> None:
    """Write inputs of attention with correctly rounded results, for kernels in any language.

    Each sample is DIR/DTYPE/KIND-DTYPE-SEED in safetensors (bfloat16 included) and in JSON
    with hexadecimal floats, which strtod reads: q, k, v, upstream, mask or bias where there is
    one, and what they should give, each the nearest number of the format: output, lse, dq,
    dk, dv; of each also the nearest float64, the condition of every entry, and how far a
    correct kernel may be off. DIR/manifest.json tells the conventions and, one line for each
    sample, its options, shapes, conditions and digests.

    \b
      symattn vectors                                   standard: all kinds, three of each
      symattn vectors --suite quick --dtype bfloat16    one of each kind for every kernel
      symattn vectors --suite blocks -o blocks          130 keys, for kernels in blocks of 64
      symattn vectors --seeds 500 --jobs 8              36,000 samples

    The bytes are the same on every machine and for any --jobs. In Python,
    symattn.testing.vectors.write does the same on a cluster.

    Exits with 1 if a sample failed or was stopped at a limit: it is a line in the manifest
    that says why, and takes nothing from the others.
    """
    from symattn.testing.inputs import DTYPES
    from symattn.testing.vectors import (
        FORMS,
        MANIFEST,
        Folder,
        Made,
        failure,
        samples_of,
    )

    wanted = samples_of(suite, dtypes or DTYPES, seeds)
    chosen = FORMS if forms == "all" else tuple(form for form in FORMS if form == forms)
    folder = Folder(output, wanted, chosen, outputs)
    todo: list[workers.Job] = [(_made, (sample, chosen)) for sample in wanted]
    at_once = jobs or os.cpu_count() or 1
    with (
        _progress(len(todo)) as advance,
        closing(workers.results(todo, limits, at_once)) as results,
    ):
        for index, answer in results:
            is_made = isinstance(answer, Made)
            sample = answer if is_made else failure(wanted[index], _why(answer, limits))
            folder.take(index, sample)
            advance()
    folder.finish()
    for name in folder.failed:
        click.echo(visible(f"{name} failed: {output / MANIFEST} says why"), err=True)
    count = len(wanted) - len(folder.failed)
    samples = f"{count} sample{'s' if count != 1 else ''}"
    click.echo(visible(f"{samples} in {output}: {' and '.join(chosen)}"))
    if folder.failed:
        sys.exit(CHECK_FAILED)


def _made(asker: Asker, wanted: Wanted, forms: Sequence[Form]) -> Made:
    from symattn.testing.vectors import made

    return made(wanted, forms)


def _why(answer: Any, limits: Limits) -> str:
    """Why a sample could not be worked out, in words."""
    if isinstance(answer, Crashed):
        return answer.trace.strip().splitlines()[-1]
    return str(case_arguments.failure(answer, "", limits))


@contextmanager
def _progress(count: int) -> Iterator[Callable[[], None]]:
    """Tells on standard error how far the work is, each time that what it gives is called:
    a bar on a terminal, now and then a line elsewhere."""
    if not sys.stderr.isatty():
        yield _lines(count)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=count)
        yield lambda: bar.advance(task)


def _lines(count: int) -> Callable[[], None]:
    done = 0

    def advance() -> None:
        nonlocal done
        before, done = done, done + 1
        if done * _TOLD // count > before * _TOLD // count:
            click.echo(f"{done} of {count}", err=True)

    return advance
