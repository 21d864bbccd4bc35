"""The CASE arguments, and what the commands print with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from symattn.errors import Fault, Malformed

if TYPE_CHECKING:
    from rich.console import Console

    from symattn.solution.solution import Solution

argument = click.argument("cases", metavar="[CASE]...", nargs=-1)


def solutions(cases: tuple[str, ...]) -> list[Solution]:
    """The solved cases; without a name all bundled ones.

    The faults of all cases are raised together.
    """
    from symattn.cases import library
    from symattn.solution.solution import solve

    solved: list[Solution] = []
    messages: list[Malformed] = []
    for name in cases or library.names():
        try:
            solved.append(solve(name))
        except Malformed as error:
            messages.append(error)
    if len(messages) == 1:
        raise messages[0]
    if messages:
        raise Malformed(
            [Fault(error.source, str(fault)) for error in messages for fault in error.faults]
        )
    return solved


def console(stderr: bool = False) -> Console:
    """A terminal that drops colour and width limits when it is piped."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False, soft_wrap=False)
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, width=200)
