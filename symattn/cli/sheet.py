"""``symattn sheet``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from symattn.cases.settings import NAMES
from symattn.cli import cases as case_arguments
from symattn.cli import options
from symattn.cli.pages import FORMS, PrintedSheet, printed, write, write_theorems
from symattn.outputs import STANDARD_OUTPUT
from symattn.ownership import Outputs
from symattn.workers import Asker

if TYPE_CHECKING:
    from symattn.cases.settings import Changes
    from symattn.seal.seals import Seal


@click.command("sheet")
@case_arguments.argument
@options.writes("DIR", "Output folder.", default="sheets")
@options.form(
    *FORMS,
    default=None,
    what="Web pages, LaTeX, Markdown, Word, or LaTeX and PDF. By default web pages and LaTeX, "
    "and PDF where TeX or Typst is installed.",
)
@options.settings(*NAMES, detail="one row of every product, or all rows; brief by default")
@options.sealed("sheet")
@options.strict_pdf
@options.paced(several=True)
def command(
    cases: tuple[str, ...],
    output: Path,
    outputs: Outputs,
    form: str | None,
    strict: bool,
    pace: options.Pace,
    settings: Changes,
    seals: Path | None,
) -> int:
    """Write worked-solution sheets: DIR/CASE.html, .tex and .pdf.

    Web pages need nothing but a browser, and DIR/index.html lists them; PDFs need TeX or
    Typst.

    A sheet for students works every step, forward and backward. One for teachers also says
    where the document differs and how to reproduce the sheet; one for authors adds how NumPy
    and SymPy confirm every figure. Each part can be switched on or off, here or in the
    [sheet] table of the case file; options given here take precedence.

    \b
      symattn sheet                           all bundled cases
      symattn sheet cat-sat-mat --detail full
      symattn sheet please-study-man --for author
      symattn sheet --for teacher --no-backward --paper letter
      symattn sheet cat-sat-mat --language de
      symattn sheet --format html             only web pages
      symattn sheet my/case.toml -o out --format tex
      symattn sheet cat-sat-mat --sealed seals    with what Coq said of it
      symattn sheet cat-sat-mat --format pdf -o -     to standard output
    """
    options.one_document(output, len(cases), form)
    if output != STANDARD_OUTPUT:
        outputs.claim_in(output)
    case_arguments.distinct_files(cases)
    sheets = case_arguments.of_each(cases, pace, _sheet, form, settings, seals)
    if not sheets.done:
        sheets.tell()
    code = write([made for made, _ in sheets.done], output, outputs, form, strict, pace.jobs)
    write_theorems(seals, [seal for _, seal in sheets.done], output, outputs)
    sheets.tell()
    return code


def _sheet(
    asker: Asker,
    case: case_arguments.CaseArgument,
    form: str | None,
    settings: Changes,
    seals: Path | None,
) -> tuple[PrintedSheet, Seal | None]:
    from symattn.sheets.case_sheet import sheet

    with case_arguments.solved(asker, case, is_built_on=True) as solution:
        seal = None
        if seals:
            from symattn.seal.seals import found
            from symattn.seal.walkthroughs import sealed

            seal = found(seals, sealed(solution.case, settings.get("places")))
        asker.stage("checking")
        return printed(sheet(solution, seal, **settings), form), seal
