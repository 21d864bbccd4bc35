"""``symattn sheet``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from symattn.cli import cases as case_arguments
from symattn.cli.cases import Wanted
from symattn.cli.options import Pace, one_document, paced, sheet_settings, writes
from symattn.cli.pages import FORMS, Printed, printed, write
from symattn.outputs import STANDARD_OUTPUT
from symattn.ownership import Outputs
from symattn.workers import Asker

if TYPE_CHECKING:
    from symattn.cases.settings import Changes


@click.command("sheet")
@case_arguments.argument
@writes("DIR", "Output folder.", default="sheets")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    help="Pages for the browser, LaTeX, LaTeX and PDF, or Markdown. By default pages and "
    "LaTeX, and PDF where TeX or Typst is installed.",
)
@sheet_settings
@click.option(
    "--strict", is_flag=True, help="Exit with 1 on overfull lines or missing letters in a PDF."
)
@paced
def command(
    cases: tuple[str, ...],
    output: Path,
    outputs: Outputs,
    form: str | None,
    strict: bool,
    pace: Pace,
    settings: Changes,
) -> None:
    """Write worked-solution sheets: DIR/CASE.html, DIR/CASE.tex and DIR/CASE.pdf.

    Pages need nothing but a browser, and DIR/index.html lists them; PDFs need a
    TeX engine.

    A sheet for students has every step worked, forward and backward. One for
    teachers also says where the document differs and how it is made again, one
    for authors how NumPy and SymPy confirm every figure. Each part can be asked
    for or left out, here or in the [sheet] table of the walkthrough file; what is
    said here counts for more.

    \b
      symattn sheet                           all bundled walkthroughs
      symattn sheet cat-sat-mat --detail full
      symattn sheet please-study-man --for author
      symattn sheet --for teacher --no-backward --paper letter
      symattn sheet cat-sat-mat --language de
      symattn sheet --format html             only pages for the browser
      symattn sheet my/walkthrough.toml -o out --format tex
      symattn sheet cat-sat-mat --format pdf -o -     to standard output
    """
    one_document(output, len(cases), form)
    if output != STANDARD_OUTPUT:
        outputs.claim_in(output)
    case_arguments.distinct_files(cases)
    sheets = case_arguments.of_each(cases, pace, _made, form, settings)
    if not sheets.done:
        sheets.tell()
    code = write(sheets.done, output, outputs, form, strict, pace.jobs)
    sheets.tell()
    sys.exit(code)


def _made(asker: Asker, case: Wanted, form: str | None, settings: Changes) -> Printed:
    """The case's sheet as documents."""
    from symattn.sheets.walkthrough import sheet

    with case_arguments.solved(asker, case) as solution:
        asker.stage("checking")
        return printed(sheet(solution, **settings), form)
