"""How a sheet is made again: commands that work from where one stands."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from symattn.cases.case import Case
from symattn.cases.library import load
from symattn.cases.settings import PARTS, SheetSettings
from symattn.errors import Malformed
from symattn.printers import blocks as b
from symattn.tables.bundled import folder


def commands(case: Case, settings: SheetSettings) -> Iterator[b.Block]:
    """The commands that make this sheet and check its figures; none for a case without a file.

    >>> from symattn.cases.settings import settings as of
    >>> (_, listing) = commands(load("cat-sat-mat"), of({"commands": True, "places": 6}))
    >>> listing.lines[0]
    'symattn sheet cat-sat-mat --places 6 --commands'
    """
    if case.path is None:
        return
    name, outside = named(case.path), "" if case.reading else _outside(case.path)
    yield b.Heading(settings.say("Reproduce this sheet"))
    yield b.Listing(
        (
            f"symattn sheet {name}{flags(settings.beyond(case.sheet))}{outside}",
            *([f"symattn show {name} {case.output} --places 12{outside}"] if case.output else []),
            f"symattn verify {name}{outside}",
            *([f"symattn audit {name}{outside}"] if case.claims else []),
        )
    )


def named(path: Path) -> str:
    """A walkthrough file as a command line names it: a bundled one by its name,
    another by the path by which it was asked for, quoted for a shell.

    >>> named(Path("my notes/a.toml")), named(Path("-a.toml"))
    ("'my notes/a.toml'", './-a.toml')
    """
    if path.parent == folder():
        return path.stem
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


def flags(settings: dict[str, object]) -> str:
    """Settings as flags.

    >>> flags({"audience": "author", "audit": False, "places": 6})
    ' --for author --no-audit --places 6'
    """
    text = ""
    for name, value in settings.items():
        if name in PARTS:
            text += f" --{name}" if value else f" --no-{name}"
        else:
            flag = "for" if name == "audience" else name
            text += f" --{flag} {shlex.quote(str(value))}"
    return text


def _outside(path: Path) -> str:
    """The flag without which a file that extends others outside of its folder is not read."""
    try:
        load(path)
    except Malformed:
        return " --allow-outside"
    return ""
