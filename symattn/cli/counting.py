"""How far a command is, where it does much of one kind."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from symattn.sharing import Watch

#: How often a piped run says how far it is: so many times in all.
_REPORTS = 10


@contextmanager
def counted() -> Iterator[Watch]:
    """Gives what is to be told how many pieces are done, of how many; standard error shows it
    by a bar on a terminal, by a line now and then elsewhere."""
    if not sys.stderr.isatty():

        def advance(done: int, count: int) -> None:
            if done * _REPORTS // count > (done - 1) * _REPORTS // count:
                click.echo(f"{done} of {count}", err=True)

        yield advance
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, count: bar.update(task, completed=done, total=count)
