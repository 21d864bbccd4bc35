"""``symattn pandoc``: what pandoc and Quarto run to compute the figures of a document."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from symattn.cli.main import CHECK_FAILED
from symattn.cli.myst import read_tree
from symattn.escaping import json_text, visible


@click.command("pandoc")
@click.argument("target", required=False)
@click.option("--strict", is_flag=True, help="Exit with 1 if a figure can't be computed.")
def command(target: str | None, strict: bool) -> None:
    """Compute the figures of a document: a filter for pandoc and Quarto.

    Reads the document as pandoc's JSON and writes it again. An executable file that runs
    this command is a filter, for pandoc --filter and for the filters of Quarto:

    \b
      #!/bin/sh
      exec symattn pandoc --strict "$@"

    TARGET is the format that pandoc writes, which it says to every filter.
    """
    from symattn.live import pandoc as filters

    document, faults = filters.computed(read_tree(), Path())
    for fault in faults:
        click.echo(visible(f"symattn: {fault}"), err=True)
    click.echo(json_text(document))
    if faults and strict:
        sys.exit(CHECK_FAILED)
