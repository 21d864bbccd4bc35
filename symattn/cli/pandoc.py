"""``symattn pandoc``: what pandoc and Quarto run to compute the figures of a document."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from symattn.cli import cases as case_arguments
from symattn.cli import options
from symattn.cli.main import CHECK_FAILED
from symattn.cli.myst import READ, read_tree
from symattn.errors import blamed_on
from symattn.escaping import json_text, visible
from symattn.workers import Asker


@click.command("pandoc")
@click.argument("target", required=False)
@click.option("--strict", is_flag=True, help="Exit with 1 if a figure can't be computed.")
@options.paced(each="document")
def command(target: str | None, strict: bool, pace: options.Pace) -> None:
    """Compute the figures of a document: a filter for pandoc and Quarto.

    Reads the document as pandoc's JSON and writes it again. An executable file that runs
    this command is a filter, for pandoc --filter and for the filters of Quarto:

    \b
      #!/bin/sh
      exec symattn pandoc --strict "$@"

    TARGET is the format that pandoc writes, which it says to every filter.
    """
    jobs = [(_computed, (read_tree(), pace.allow_outside))]
    ((document, faults),) = case_arguments.of_jobs(["document"], jobs, pace).whole()
    for fault in faults:
        click.echo(visible(f"symattn: {fault}"), err=True)
    click.echo(json_text(document))
    if faults and strict:
        sys.exit(CHECK_FAILED)


def _computed(asker: Asker, document: Any, allow_outside: bool) -> tuple[Any, list[str]]:
    from symattn.live import pandoc as filters

    asker.stage("computing")
    with blamed_on(READ):
        return filters.computed(document, Path(), allow_outside)
