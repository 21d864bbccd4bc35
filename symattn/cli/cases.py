"""The CASE arguments, and what the commands print with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

import click

from symattn.errors import Fault, Malformed, Undecided

if TYPE_CHECKING:
    from rich.console import Console

    from symattn.solution.solution import Solution

argument = click.argument("cases", metavar="[CASE]...", nargs=-1)

S = TypeVar("S")
T = TypeVar("T")


def solutions(cases: tuple[str, ...]) -> list[Solution]:
    """The solved cases; without a name all bundled ones.

    The faults of all cases are raised together. Results go by a case's name,
    so two cases of one name are a fault.
    """
    from symattn.cases import library
    from symattn.solution.solution import solve

    solved = _each(cases or library.names(), lambda name: "", solve)
    names = [solution.case.name for solution in solved]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise Malformed(f"two cases are called {', '.join(twice)}: name one at a time")
    return solved


def of_each(solved: list[Solution], act: Callable[[Solution], T]) -> list[T]:
    """``act`` of every solution; the faults of all are raised together."""
    return _each(solved, lambda solution: str(solution.case.path), act)


def _each(items: Iterable[S], source: Callable[[S], str], act: Callable[[S], T]) -> list[T]:
    results: list[T] = []
    messages: list[Malformed] = []
    for item in items:
        try:
            results.append(act(item))
        except (Malformed, Undecided) as error:
            found = error if isinstance(error, Malformed) else Malformed(str(error))
            messages.append(Malformed(found.faults, found.source or source(item)))
    if len(messages) == 1:
        raise messages[0]
    if messages:
        raise Malformed(
            [Fault("", fault.at(error.source)) for error in messages for fault in error.faults]
        )
    return results


def console(stderr: bool = False) -> Console:
    """A terminal; piped, its lines have up to 200 letters and no colours."""
    from rich.console import Console

    made = Console(stderr=stderr)
    return made if made.is_terminal else Console(stderr=stderr, width=200)
