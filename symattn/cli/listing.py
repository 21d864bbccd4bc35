"""``symattn list``."""

from __future__ import annotations

import click

from symattn.cli import options
from symattn.cli.cases import print_table, styled
from symattn.escaping import json_text


@click.command("list")
@options.form("text", "json")
def command(form: str) -> None:
    """List the bundled cases."""
    from symattn.cases import library

    cases = [library.load(name) for name in library.names()]
    if form == "json":
        entries = [
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
        click.echo(json_text(entries))
        return
    rows = (
        (
            styled(case.name, style="cyan"),
            styled(case.title),
            styled(" ".join(case.tokens)),
            # Steps of several heads once, as they are written.
            styled(", ".join(dict.fromkeys(case.origins.get(name, name) for name in case.steps))),
        )
        for case in cases
    )
    print_table(("case", "title", "tokens", "steps"), rows)
