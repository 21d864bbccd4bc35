"""``symattn audit``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from symattn import __version__
from symattn.cli import cases as case_arguments
from symattn.cli.main import CHECK_FAILED
from symattn.verdicts import Verdict

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from symattn.auditing.audit import Audit
    from symattn.auditing.figures import Figure

_FORMATS = ("text", "json", "github", "sarif", "errata", "tex", "pdf")


@click.command("audit")
@case_arguments.argument
@click.option("--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write to FILE instead; for tex and pdf a folder where there are several cases.",
)
@click.option("--strict", is_flag=True, help="Count what is undecided or unchecked as well.")
def command(cases: tuple[str, ...], form: str, output: Path | None, strict: bool) -> None:
    """Judge what a document prints: which figure is wrong, what it should be, and why.

    A figure is refuted when the exact value does not round to it. Each refuted
    figure has a cause: truncated, rounded-inputs, carried (it follows from
    earlier wrong figures), root (wrong in itself; a known slip is named if it
    gives the figure again) or last-digit. Exits with 1 if anything is refuted.

    \b
      symattn audit please-study-man
      symattn audit --format json -o audit.json
      symattn audit length-4-causal --format pdf      the red-pen sheet
      symattn audit cat-sat-mat --format errata       a text for the author
    """
    from symattn.auditing.audit import audit

    audits = case_arguments.of_each(case_arguments.solutions(cases), audit)
    if form in ("tex", "pdf"):
        _red_pen(audits, form, output)
    elif form == "text" and output is None:
        for item in audits:
            _print(item, case_arguments.console())
    else:
        _emit(_text(audits, form), output)
    refuted = any(item.count(Verdict.REFUTED) for item in audits)
    open_ends = any(item.count(Verdict.UNDECIDED) or item.unchecked for item in audits)
    if refuted or (strict and open_ends):
        sys.exit(CHECK_FAILED)


def _text(audits: list[Audit], form: str) -> str:
    from symattn.auditing import reports

    if form == "json":
        data = [reports.as_dict(item) for item in audits]
        return json.dumps(data[0] if len(data) == 1 else data, indent=2, ensure_ascii=False)
    if form == "github":
        return reports.github(audits)
    if form == "sarif":
        return reports.sarif(audits, __version__)
    if form == "errata":
        return "\n".join(reports.errata(item) for item in audits)
    import io

    from rich.console import Console

    buffer = io.StringIO()
    for item in audits:
        # A file stays plain, even where the environment forces colours.
        _print(item, Console(file=buffer, width=160, color_system=None))
    return buffer.getvalue()


def _emit(text: str, output: Path | None) -> None:
    if output is None:
        if text:
            click.echo(text)
        return
    from symattn.sheets.writing import write_whole

    write_whole(output, (text.rstrip("\n") + "\n").encode())


def _red_pen(audits: list[Audit], form: str, output: Path | None) -> None:
    from symattn.sheets.engine import typeset
    from symattn.sheets.latex import document
    from symattn.sheets.redpen import sheet
    from symattn.sheets.writing import prepare_folder, write_whole

    single = len(audits) == 1 and output is not None and output.suffix == f".{form}"
    folder = Path("audits") if output is None else output
    if not single:
        prepare_folder(folder)
    for item in audits:
        tex = document(sheet(item))
        path = output if single and output else folder / f"{item.case.name}-audit.{form}"
        made = typeset(tex) if form == "pdf" else None
        write_whole(path, tex.encode() if made is None else made.pdf)
        for complaint in made.complaints if made else ():
            click.echo(f"symattn: {path}: {complaint}", err=True)
        click.echo(str(path))


def _print(audit: Audit, out: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    from symattn.auditing import reports

    refuted = audit.count(Verdict.REFUTED)
    out.print(Text(audit.case.name, style="bold"), Text(audit.case.title, style="dim"))
    out.print(Text(reports.summary_line(audit), style="red" if refuted else "green"))
    if audit.habit:
        out.print(Text(audit.habit, style="yellow"))
    table = Table(box=None, padding=(0, 2, 0, 2), pad_edge=False, header_style="dim")
    for heading in ("where", "quantity", "printed", "correct", "exact", "cause"):
        right = heading in ("printed", "correct")
        table.add_column(heading, justify="right" if right else "left", overflow="fold")
    for root, carried in reports.grouped(audit):
        table.add_row(*_row(root, bold=True))
        for figure in carried:
            table.add_row(*_row(figure, bold=False))
    if table.row_count:
        out.print(table)
    for statement in audit.statements:
        if statement.verdict is not Verdict.HOLDS:
            shown = f"{statement.claim.where}: {statement.claim.holds}  {statement.verdict}"
            out.print(Text(f"  {shown}", style="red"))
    vacuous = sum(figure.vacuous for figure in audit.figures)
    if vacuous:
        said = "1 figure has" if vacuous == 1 else f"{vacuous} figures have"
        out.print(Text(f"  {said} too few digits to say much", style="dim"))
    for item in audit.unchecked:
        out.print(Text(f"  not checked, {item.where}: {item.what} ({item.reason})", style="dim"))
    out.print()


def _row(figure: Figure, bold: bool) -> list[Text]:
    from rich.text import Text

    indent = "" if bold else "  "
    exact = figure.exact if len(figure.exact) <= 44 else figure.exact[:41] + "..."
    cause = f"{figure.cause}: {figure.reason}" if figure.reason else figure.cause
    style = "bold" if bold else ""
    return [
        Text(indent + figure.claim.where, style=style),
        Text(figure.label, style=style),
        Text(figure.text, style="red"),
        Text(figure.correct, style="green"),
        Text(exact, style="dim"),
        Text(cause, style=style),
    ]
