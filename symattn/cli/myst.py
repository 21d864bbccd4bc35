"""``symattn myst``: what mystmd runs to compute the figures of its pages."""

from __future__ import annotations

import json
import sys
from math import isfinite
from pathlib import Path
from typing import Any

import click

from symattn.cli import options
from symattn.errors import Malformed, blamed_on, short
from symattn.escaping import json_text, visible
from symattn.workers import Asker

#: What messages call what a filter is given.
READ = "standard input"


@click.command("myst")
@click.option("--role", metavar="NAME", help="Stand for a role; its data on standard input.")
@click.option("--directive", metavar="NAME", help="Stand for a directive.")
@click.option("--transform", metavar="NAME", help="Compute the figures of a page.")
@options.paced(each="page")
def command(
    role: str | None, directive: str | None, transform: str | None, pace: options.Pace
) -> None:
    """Compute the figures of MyST pages: a plugin that mystmd runs.

    An executable file beside myst.yml, which names it as a plugin of the type executable,
    runs this command:

    \b
      #!/bin/sh
      exec symattn myst "$@"

    Without an option it prints what the plugin offers.
    """
    from symattn.live import names

    if role or directive:
        with blamed_on(READ):
            node = names.standing_for(read_tree(), is_role=bool(role))
        click.echo(json_text(node))
    elif transform:
        from symattn.cli import cases as case_arguments

        jobs = [(_computed, (read_tree(), pace.allow_outside))]
        ((page, faults),) = case_arguments.of_jobs(["page"], jobs, pace).whole()
        for fault in faults:
            click.echo(visible(f"symattn: {fault}"), err=True)
        click.echo(json_text(page))
    else:
        click.echo(json_text(names.specification()))


def _computed(asker: Asker, page: Any, allow_outside: bool) -> tuple[Any, list[str]]:
    from symattn.live import myst as plugin

    asker.stage("computing")
    with blamed_on(READ):
        return plugin.computed(page, Path(), allow_outside)


def read_tree() -> dict[str, Any]:
    """The JSON object of standard input; :class:`Malformed` for what is none."""

    def finite(text: str) -> float:
        if not isfinite(number := float(text)):
            raise ValueError(f"{short(text)} is no number of JSON")
        return number

    try:
        data = sys.stdin.buffer.read()
        tree: Any = json.loads(data, parse_constant=finite, parse_float=finite)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"expected JSON, found none: {error}", READ) from None
    if not isinstance(tree, dict):
        raise Malformed(f"expected an object of JSON, found {short(str(tree))}", READ)
    return tree
