"""``symattn sheet`` and ``symattn draw``: pages and pictures of cases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from symattn.cases.settings import NAMES
from symattn.cli import cases as case_arguments
from symattn.cli import options
from symattn.cli.pages import FORMS, PrintedSheet, printed, write, write_theorems
from symattn.errors import Malformed
from symattn.escaping import visible
from symattn.outputs import STANDARD_OUTPUT
from symattn.ownership import Outputs
from symattn.workers import Asker

if TYPE_CHECKING:
    from symattn.cases.settings import Changes
    from symattn.drawing.picture import What
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
def sheet_command(
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


@click.command("draw")
@case_arguments.argument
@options.writes(
    "DIR|FILE.svg", "Output folder, or a file for a single drawing.", default="drawings"
)
@click.option(
    "--what",
    type=click.Choice(["all", "pattern", "flow", "gradients"]),
    default="all",
    show_default=True,
    help="pattern: the attention pattern; flow: the steps, each with a heat map; gradients: "
    "the same with gradients; all: the pattern above the steps and gradients.",
)
@click.option(
    "--places",
    type=int,
    help="Decimal places; by default enough for two significant digits of the largest entry "
    "of each matrix.",
)
@options.language("Language (by default that of the sheets)")
@options.paced(several=True)
def draw_command(
    cases: tuple[str, ...],
    output: Path,
    outputs: Outputs,
    what: What,
    places: int | None,
    language: str | None,
    pace: options.Pace,
) -> None:
    """Draw attention pattern and data flow as SVG: DIR/CASE.svg.

    Each drawing is a self-contained file for browsers, web pages, slides and Inkscape, in
    light and dark mode. Blue is positive, red negative; masked entries are hatched; red
    arrows are gradients flowing back.

    \b
      symattn draw                                  all bundled cases
      symattn draw cat-sat-mat --what flow -o flow.svg
      symattn draw length-4-causal --what pattern --places 4
      symattn draw my/case.toml -o -         to standard output
    """
    is_file = output == STANDARD_OUTPUT or output.suffix == ".svg"
    if is_file and len(cases) != 1:
        raise Malformed("-o - and -o FILE.svg take a single drawing: name one CASE")
    if is_file:
        outputs.claim(output)
    else:
        outputs.claim_in(output)
    case_arguments.distinct_files(cases)
    drawings = case_arguments.of_each(cases, pace, _drawing, what, places, language)
    if not drawings.done:
        drawings.tell()
    if is_file:
        ((_, text),) = drawings.done
        outputs.write(output, text.encode())
    else:
        outputs.claim_in(output, [f"{name}.svg" for name, _ in drawings.done])
        for name, text in drawings.done:
            outputs.write(output / f"{name}.svg", text.encode())
        count = f"{len(drawings.done)} drawing{'s' if len(drawings.done) != 1 else ''}"
        click.echo(visible(f"{count} in {output}: SVG"))
    drawings.tell()


def _drawing(
    asker: Asker,
    case: case_arguments.CaseArgument,
    what: What,
    places: int | None,
    language: str | None,
) -> tuple[str, str]:
    from symattn.drawing.picture import draw

    with case_arguments.solved(asker, case, is_built_on=True) as solution:
        asker.stage("drawing")
        return solution.case.name, draw(solution, what, places, language)
