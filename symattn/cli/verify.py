"""``symattn verify``."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from symattn.cli import cases as case_arguments
from symattn.cli.main import CHECK_FAILED
from symattn.verdicts import Verdict

if TYPE_CHECKING:
    from symattn.verification import Verification


@click.command("verify")
@case_arguments.argument
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(cases: tuple[str, ...], form: str) -> None:
    """Hold every quantity against an independent NumPy recomputation.

    NumPy computes each CASE again in 64-bit floats from the steps' text, every
    gradient by its definition and by complex steps. "ulp" is the largest
    distance from the exact value in units in the last place, "scaled" that
    distance over the bound that follows from the magnitudes of all terms:
    up to 1 is rounding. Exits with 1 if anything is refuted.
    """
    from symattn.verification import verify

    found = case_arguments.of_each(case_arguments.solutions(cases), verify)
    if form == "json":
        content = {
            item.case: {check.quantity: check.as_dict() for check in item.checks} for item in found
        }
        click.echo(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        for item in found:
            _print(item)
    if any(item.verdict is Verdict.REFUTED for item in found):
        sys.exit(CHECK_FAILED)


def _print(item: Verification) -> None:
    from rich.table import Table
    from rich.text import Text

    styles = {Verdict.HOLDS: "green", Verdict.REFUTED: "bold red", Verdict.UNDECIDED: "yellow"}
    out = case_arguments.console()
    head = Text(item.case, style="bold")
    head.append(f"  {item.verdict}", style=styles[item.verdict])
    head.append(f"  {item.probed} of {item.probes} gradient entries also by complex steps", "dim")
    out.print(head)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2), header_style="dim")
    table.add_column("quantity")
    for heading in ("entries", "ulp", "scaled"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for check in item.checks:
        table.add_row(
            Text(check.quantity),
            str(check.entries),
            *check.texts,
            Text(str(check.verdict), style=styles[check.verdict]),
        )
    out.print(table)
