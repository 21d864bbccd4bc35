"""``symattn list``."""

from __future__ import annotations

import json

import click

from symattn.cli.cases import echo, printed


@click.command("list")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def command(form: str) -> None:
    """The bundled walkthroughs: name, tokens and steps."""
    from symattn.cases import library

    cases = [library.load(name) for name in library.names()]
    if form == "json":
        rows = [
            {
                "case": case.name,
                "title": case.title,
                "tokens": list(case.tokens),
                "steps": dict(case.steps),
                "claims": len(case.claims),
                "extends": case.extends or None,
            }
            for case in cases
        ]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("case", "title", "tokens", "steps"):
        table.add_column(heading, no_wrap=heading == "case")
    for case in cases:
        table.add_row(
            Text(case.name, style="cyan"),
            Text(case.title),
            Text(" ".join(case.tokens)),
            Text(", ".join(case.steps)),
        )
    echo(printed(lambda out: out.print(table)))
