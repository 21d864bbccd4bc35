"""``symattn vectors``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symattn import workers
from symattn.cli import cases as case_arguments
from symattn.cli import options
from symattn.cli.main import CHECK_FAILED
from symattn.cli.options import counted
from symattn.escaping import visible
from symattn.ownership import Outputs
from symattn.workers import Asker, Crashed, WorkLimits

if TYPE_CHECKING:
    from symattn.testing.vectors import Form, SampleFiles, SampleRequest


@click.command("vectors")
@click.option(
    "--suite",
    default="standard",
    show_default=True,
    metavar="NAME",
    help="Which samples: standard, quick or blocks.",
)
@options.writes("DIR", "Output folder.", default="vectors")
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
    help="Number of samples of each kind and format; by default that of the suite.",
)
@options.form("all", "safetensors", "json", default="all")
@options.paced("sample", several=True, jobs=None, outside=False, elsewhere=True)
def command(
    suite: str,
    output: Path,
    outputs: Outputs,
    dtypes: tuple[str, ...],
    seeds: int | None,
    form: str,
    pace: options.Pace,
) -> int:
    """Write test vectors for attention kernels in any language.

    Each sample, DIR/DTYPE/KIND-DTYPE-SEED, is written in safetensors (bfloat16 included) and
    in JSON with hexadecimal floats, which strtod reads. It has the inputs q, k, v, upstream
    and, where there is one, a mask or bias; and the correctly rounded results output, lse,
    dq, dk and dv, each also as the nearest float64, with the condition number of every entry
    and the error bound of a correct kernel. DIR/manifest.json states the conventions and has
    a line for each sample: its options, shapes, condition numbers and digests.

    \b
      symattn vectors                                   standard: all kinds, three of each
      symattn vectors --suite quick --dtype bfloat16    one of each kind for every kernel
      symattn vectors --suite blocks -o blocks          130 keys, for kernels in blocks of 64
      symattn vectors --seeds 500 --jobs 8              46,000 samples

    The bytes are the same on every machine, for any --jobs and --executor. In Python,
    symattn.testing.vectors.write does the same.

    Exits with 1 if a sample failed or was stopped at a limit: the manifest says why, and the
    other samples are written all the same.
    """
    from symattn.testing.samples import DTYPES
    from symattn.testing.vectors import (
        FORMS,
        MANIFEST,
        SampleFiles,
        VectorFolder,
        failure,
        samples_of,
    )

    wanted = samples_of(suite, dtypes or DTYPES, seeds)
    chosen = tuple(x for x in FORMS if form in ("all", x))
    folder = VectorFolder(output, wanted, chosen, outputs)
    todo: list[workers.Job] = [(_sample, (sample, chosen)) for sample in wanted]
    if pace.executor is None:
        answers = workers.results(todo, pace.limits, pace.jobs)
    else:
        answers = case_arguments.elsewhere(todo, pace.limits, pace.executor)
    with counted() as advance, closing(answers) as results:
        for done, (index, answer) in enumerate(results, 1):
            is_made = isinstance(answer, SampleFiles)
            sample = answer if is_made else failure(wanted[index], _why(answer, pace.limits))
            folder.take(index, sample)
            advance(done, len(todo))
    folder.finish()
    for name in folder.failed:
        click.echo(visible(f"{name} failed: {output / MANIFEST} says why"), err=True)
    count = len(wanted) - len(folder.failed)
    samples = f"{count} sample{'s' if count != 1 else ''}"
    click.echo(visible(f"{samples} in {output}: {' and '.join(chosen)}"))
    return CHECK_FAILED if folder.failed else 0


def _sample(asker: Asker, wanted: SampleRequest, forms: Sequence[Form]) -> SampleFiles:
    from symattn.testing.vectors import made

    return made(wanted, forms)


def _why(answer: Any, limits: WorkLimits) -> str:
    if isinstance(answer, Crashed):
        return answer.trace.strip().splitlines()[-1]
    return str(case_arguments.failure(answer, "", limits))
