"""``symattn sheet``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from symattn.cli import cases as case_arguments
from symattn.cli.main import BAD_INPUT, CHECK_FAILED
from symattn.errors import EngineFailure

if TYPE_CHECKING:
    from collections.abc import Callable

    from symattn.solution.solution import Solution


@click.command("sheet")
@case_arguments.argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("sheets"),
    show_default=True,
    metavar="DIR",
    help="Where the sheets go.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["tex", "pdf"]),
    help="Only LaTeX, or LaTeX and PDF. Without it, PDF where a TeX engine is found.",
)
@click.option(
    "--detail",
    type=click.Choice(["brief", "full"]),
    default="brief",
    show_default=True,
    help="Work the first row of every product, or all rows.",
)
@click.option("--places", default=4, show_default=True, help="Decimal places.")
@click.option(
    "--strict", is_flag=True, help="Exit with 1 on overfull lines or missing letters in a PDF."
)
def command(
    cases: tuple[str, ...],
    output: Path,
    form: str | None,
    detail: str,
    places: int,
    strict: bool,
) -> None:
    """Write worked-solution sheets: DIR/CASE.tex, and DIR/CASE.pdf.

    \b
      symattn sheet                           all bundled walkthroughs
      symattn sheet cat-sat-mat --detail full
      symattn sheet my/walkthrough.toml -o out --format tex
    """
    from symattn.sheets.latex import document
    from symattn.sheets.walkthrough import sheet
    from symattn.sheets.writing import prepare_folder

    solved = case_arguments.solutions(cases)
    prepare_folder(output)
    with _progress(len(solved), "sheets") as advance:

        def made(solution: Solution) -> tuple[str, str]:
            tex = document(sheet(solution, detail, places))
            advance()
            return solution.case.name, tex

        documents = dict(case_arguments.of_each(solved, made))
    sys.exit(write(documents, output, form, strict))


def write(documents: dict[str, str], output: Path, form: str | None, strict: bool) -> int:
    """Write LaTeX documents by name, and their PDFs; the exit code."""
    from symattn.sheets.writing import write_whole

    for name, tex in documents.items():
        write_whole(output / f"{name}.tex", tex.encode())
    count = f"{len(documents)} sheet{'s' if len(documents) != 1 else ''}"
    if form == "tex":
        click.echo(f"{count} in {output}: LaTeX")
        return 0
    return _write_pdfs(documents, output, explicit=form == "pdf", strict=strict, count=count)


def _write_pdfs(
    documents: dict[str, str], output: Path, explicit: bool, strict: bool, count: str
) -> int:
    from symattn.sheets.engine import INSTALL, find_engine, typeset, wanted_engine
    from symattn.sheets.writing import write_whole

    ready = {name: tex for name, tex in documents.items() if find_engine(tex)}
    failures = [
        f"{output / name}.tex: no {wanted_engine(tex)} was found; {INSTALL}"
        for name, tex in documents.items()
        if name not in ready
    ]
    code = BAD_INPUT if failures and explicit else 0
    complained = False
    with _progress(len(ready), "PDFs") as advance, ThreadPoolExecutor(2) as pool:
        tasks = {pool.submit(typeset, tex): name for name, tex in ready.items()}
        for task in as_completed(tasks):
            path = output / f"{tasks[task]}.pdf"
            try:
                made = task.result()
            except EngineFailure as error:
                failures.append(f"{path}: {error}")
                code = BAD_INPUT
            else:
                write_whole(path, made.pdf)
                failures += [f"{path}: {complaint}" for complaint in made.complaints]
                complained |= bool(made.complaints)
            advance()
    for failure in sorted(failures):
        click.echo(f"symattn: {failure}", err=True)
    made_count = len(list(ready))
    both = "LaTeX and PDF" if made_count == len(documents) and not code else "LaTeX"
    click.echo(f"{count} in {output}: {both}")
    return code or (CHECK_FAILED if complained and strict else 0)


@contextmanager
def _progress(total: int, what: str) -> Iterator[Callable[[], None]]:
    """A progress bar on a terminal where there is something to wait for."""
    out = case_arguments.console(stderr=True)
    if total < 2 or not out.is_terminal:
        yield lambda: None
        return
    from rich.progress import Progress

    with Progress(console=out, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
