"""``symattn sheet``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from symattn import outputs
from symattn.cli import cases as case_arguments
from symattn.cli import options
from symattn.cli.cases import Wanted
from symattn.cli.options import Pace, one_document, paced
from symattn.cli.pages import page, write
from symattn.outputs import STANDARD_OUTPUT
from symattn.workers import Asker


@click.command("sheet")
@case_arguments.argument
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    callback=options.output,
    default="sheets",
    show_default=True,
    metavar="DIR",
    help="Where the sheets go.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "tex", "pdf"]),
    help="A page for the browser, only LaTeX, or LaTeX and PDF. Without it, LaTeX, and PDF where "
    "a TeX engine is found.",
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
@paced
def command(
    cases: tuple[str, ...],
    output: Path,
    form: str | None,
    detail: str,
    places: int,
    strict: bool,
    pace: Pace,
) -> None:
    """Write worked-solution sheets: DIR/CASE.tex and DIR/CASE.pdf, or DIR/CASE.html.

    \b
      symattn sheet                           all bundled walkthroughs
      symattn sheet cat-sat-mat --detail full
      symattn sheet --format html             pages that need nothing but a browser
      symattn sheet my/walkthrough.toml -o out --format tex
      symattn sheet cat-sat-mat --format pdf -o -     to standard output
    """
    one_document(output, len(cases), form)
    if output != STANDARD_OUTPUT:
        outputs.check_folder(output)
    made = case_arguments.of_each(cases, pace, _made, form, detail, places)
    if not made.done:
        made.tell()
    code = write(dict(made.done), output, form, strict, pace.jobs)
    made.tell()
    sys.exit(code)


def _made(
    asker: Asker, case: Wanted, form: str | None, detail: str, places: int
) -> tuple[str, str]:
    """The case's name and its sheet as a document."""
    from symattn.sheets.walkthrough import sheet

    with case_arguments.solved(asker, case) as solution:
        asker.stage("checking")
        return solution.case.name, page(sheet(solution, detail, places), form)
