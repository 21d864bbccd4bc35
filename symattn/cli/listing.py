"""``symattn list``."""

from __future__ import annotations

import click

from symattn.cli.cases import echo, printed, shown
from symattn.escaping import json_text


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
        click.echo(json_text(rows))
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("case", "title", "tokens", "steps"):
        table.add_column(heading, no_wrap=heading == "case")
    for case in cases:
        table.add_row(
            shown(case.name, style="cyan"),
            shown(case.title),
            shown(" ".join(case.tokens)),
            # Steps of several heads once, as they are written.
            shown(", ".join(dict.fromkeys(case.origins.get(name, name) for name in case.steps))),
        )
    echo(printed(lambda out: out.print(table)))
