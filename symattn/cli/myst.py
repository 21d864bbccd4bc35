"""``symattn myst``: what mystmd runs to compute the figures of its pages."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from symattn.errors import Malformed
from symattn.escaping import json_text, visible


@click.command("myst")
@click.option("--role", metavar="NAME", help="Stand for a role; its data on standard input.")
@click.option("--directive", metavar="NAME", help="Stand for a directive.")
@click.option("--transform", metavar="NAME", help="Compute the figures of a page.")
def command(role: str | None, directive: str | None, transform: str | None) -> None:
    """Compute the figures of MyST pages: a plugin that mystmd runs.

    An executable file beside myst.yml, which names it as a plugin of the type executable,
    runs this command:

    \b
      #!/bin/sh
      exec symattn myst "$@"

    Without an option it prints what the plugin offers.
    """
    from symattn.live import myst as plugin

    if role or directive:
        click.echo(json_text(plugin.standing_for(read_tree(), is_role=bool(role))))
    elif transform:
        page, faults = plugin.computed(read_tree(), Path())
        for fault in faults:
            click.echo(visible(f"symattn: {fault}"), err=True)
        click.echo(json_text(page))
    else:
        click.echo(json_text(plugin.specification()))


def read_tree() -> Any:
    """The JSON of standard input; :class:`Malformed` for what is none."""
    try:
        return json.loads(sys.stdin.buffer.read())
    except (ValueError, RecursionError) as error:
        raise Malformed(f"standard input: expected JSON, found none: {error}") from None
