"""``symattn derive``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from symattn import outputs
from symattn.cli import cases as case_arguments
from symattn.cli import options
from symattn.cli.main import CHECK_FAILED
from symattn.cli.options import one_document
from symattn.cli.pages import write
from symattn.escaping import json_text
from symattn.outputs import STANDARD_OUTPUT
from symattn.verdicts import Verdict

if TYPE_CHECKING:
    from symattn.proofs.derivation import Derivation


@click.command("derive")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "tex", "pdf", "json"]),
    default="text",
    show_default=True,
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    callback=options.output,
    metavar="DIR",
    help="Where files go: for tex and pdf 'derivations-out' unless given; - is standard output.",
)
@click.option(
    "--strict", is_flag=True, help="Exit with 1 on overfull lines or missing letters in a PDF."
)
def command(names: tuple[str, ...], form: str, output: Path | None, strict: bool) -> None:
    """Derivations for any size, proved line by line.

    Without a NAME: what there is, and how it was checked. Exits with 1 if a
    line is refuted or left undecided.

    \b
      symattn derive
      symattn derive softmax-jacobian
      symattn derive attention-gradients --format pdf -o out
    """
    from symattn.proofs import THEORY

    if form in ("tex", "pdf"):
        one_document(output, len(names), form)
    elif output == STANDARD_OUTPUT:
        output = None
    listing = not names and form == "text" and output is None
    derivations = [THEORY[name] for name in names or THEORY]
    if listing:
        _list(derivations)
    elif form == "json":
        content = [item.to_dict() for item in derivations]
        _emit(json_text(content), "derivations.json", output)
    elif form == "text":
        for item in derivations:
            _emit(item.to_text() + "\n", f"{item.name}.txt", output)
    else:
        from symattn.sheets.derivation import sheet
        from symattn.sheets.latex import document

        folder = output or Path("derivations-out")
        documents = {item.name: document(sheet(item)) for item in derivations}
        if code := write(documents, folder, form, strict):
            sys.exit(code)
    if not all(item.proved for item in derivations):
        sys.exit(CHECK_FAILED)


def _emit(text: str, name: str, output: Path | None) -> None:
    if output is None:
        click.echo(text)
        return
    outputs.prepare_folder(output)
    outputs.write(output / name, (text.rstrip("\n") + "\n").encode())


def _list(derivations: list[Derivation]) -> None:
    from rich.table import Table
    from rich.text import Text

    from symattn.proofs.printing import prose

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "statement", "checked"):
        table.add_column(heading, no_wrap=heading == "name")
    failed = False
    for item in derivations:
        report = item.check()
        good = item.proved and report.verdict is Verdict.HOLDS
        failed |= not good
        table.add_row(
            Text(item.name, style="cyan"),
            Text(prose(item.statement)),
            Text(f"{report.verdict}: {item.summary()}", style="green" if good else "red"),
        )
    case_arguments.echo(case_arguments.printed(lambda out: out.print(table)))
    if failed:
        sys.exit(CHECK_FAILED)
