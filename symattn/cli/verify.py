"""``symattn verify``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symattn.cli import cases as case_arguments
from symattn.cli import options
from symattn.cli.cases import CaseArgument, styled
from symattn.cli.main import CHECK_FAILED
from symattn.escaping import json_text
from symattn.verdicts import Verdict
from symattn.workers import Asker

if TYPE_CHECKING:
    from rich.console import Console

    from symattn.verification import Verification


@click.command("verify")
@case_arguments.argument
@options.form("text", "json")
@click.option("--strict", is_flag=True, help="Also exit with 1 if anything is undecided.")
@options.paced(several=True)
def command(cases: tuple[str, ...], form: str, strict: bool, pace: options.Pace) -> int:
    """Check every quantity against NumPy and SymPy.

    NumPy recomputes each CASE in 64-bit floats from the text of its steps, every gradient
    by its definition and by complex steps. "ulp" is the largest error in units in the last
    place; "scaled" is that error divided by the rounding error bound that follows from the
    magnitudes of all terms, so up to 1 is rounding. What floats can't tell (an overflow, a
    divisor or a mask within rounding error) is undecided, with the reason.

    SymPy derives a formula for every quantity, differentiating stage by stage, and
    substitutes the given numbers: every entry must equal our closed form exactly. What is
    too large for SymPy, or has no short closed form, is undecided, with the reason.

    Exits with 1 if anything is refuted, with --strict also if anything is undecided.
    """
    results = case_arguments.of_each(cases, pace, _verified, form)
    if form == "json":
        content = {name: checks for name, _, checks in results.done}
        if content:
            click.echo(json_text(content))
    else:
        for _, _, text in results.done:
            case_arguments.echo(text)
    results.tell()
    passing = {Verdict.HOLDS} if strict else {Verdict.HOLDS, Verdict.UNDECIDED}
    return 0 if all(verdict in passing for _, verdict, _ in results.done) else CHECK_FAILED


def _verified(asker: Asker, case: CaseArgument, form: str) -> tuple[str, Verdict, Any]:
    """The case's label, its verdict, and its checks as JSON or text has them."""
    from symattn.verification import verify

    with case_arguments.solved(asker, case) as solution:
        asker.stage("checking")
        verification = verify(solution)
    if form == "json":
        content: Any = {check.quantity: check.as_dict() for check in verification.checks}
    else:
        content = case_arguments.printed(lambda out: _print(verification, out))
    return case.label, verification.verdict, content


def _print(item: Verification, out: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    styles = {Verdict.HOLDS: "green", Verdict.REFUTED: "bold red", Verdict.UNDECIDED: "yellow"}
    head = styled(item.case, style="bold")
    head.append(f"  {item.verdict}", style=styles[item.verdict])
    if item.points:
        head.append(f"  in letters, by NumPy at {len(item.points)} exact points", "dim")
    head.append(f"  {item.probed} of {item.probes} gradient entries also by complex steps", "dim")
    out.print(head)
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("quantity")
    for heading in ("entries", "ulp", "scaled"):
        table.add_column(heading, justify="right")
    table.add_column("NumPy")
    table.add_column("SymPy")
    for check in item.checks:
        table.add_row(
            styled(check.quantity),
            str(check.entries),
            *check.texts,
            *(Text(str(x), style=styles[x]) for x in (check.verdict, check.symbolic)),
        )
    out.print(table)
    for by, doubts in (("NumPy", item.doubts), ("SymPy", item.symbolic_doubts)):
        for doubt, quantities in doubts.items():
            every = len(quantities) == len(item.checks)
            of = "every quantity" if every else ", ".join(quantities)
            out.print(styled(f"  undecided by {by}, {of}: {doubt}", style="yellow"))
