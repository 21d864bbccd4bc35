"""``symattn draw``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from symattn.cli import cases as case_arguments
from symattn.cli import options
from symattn.errors import Malformed
from symattn.escaping import visible
from symattn.outputs import STANDARD_OUTPUT
from symattn.ownership import Outputs
from symattn.workers import Asker

if TYPE_CHECKING:
    from symattn.drawing.picture import What


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
def command(
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
