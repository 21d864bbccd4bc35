"""``--watch``: a report that is made again as files change."""

from __future__ import annotations

import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import click

from symattn.cli.cases import echo

#: Seconds between two looks at the files.
_PATIENCE = 0.3
_CLEAR = "\x1b[2J\x1b[H"
#: What a file may say of another one that is read with it.
_NAMING = ("extends", "document")

#: What tells whether a file has changed: its time, size and number; None where there is none.
_Stamp = tuple[int, int, int] | None


def watch(cases: Sequence[str], report: Callable[[], str]) -> NoReturn:
    """Print the report, and again whenever a file changes that it is about, until a signal ends
    the program.

    A report that is out of date is not shown: on a terminal it goes as soon as something has
    changed, and one during whose making something has changed is not printed.
    """
    shown: dict[Path, _Stamp] | None = None
    while True:
        files = _stamps(cases)
        if files == shown:
            time.sleep(_PATIENCE)
            continue
        if sys.stdout.isatty():
            echo(_CLEAR)
            click.echo("auditing ...")
            sys.stdout.flush()
        text = report()
        if _stamps(cases) != files:
            continue
        if sys.stdout.isatty():
            echo(_CLEAR)
        echo(text)
        sys.stdout.flush()
        shown = files


def _stamps(cases: Sequence[str]) -> dict[Path, _Stamp]:
    from symattn.cases import library

    stamps: dict[Path, _Stamp] = {}
    for case in cases or library.names():
        for path in _files(library.find(case, articles=True)):
            stamps[path] = _stamp(path)
    return stamps


def _files(path: Path) -> Iterator[Path]:
    """The file of a case, the side file beside it, and those that they name."""
    from symattn.cases import library
    from symattn.documents.files import SIDE_FILE, is_article

    todo, seen = [path], set[Path]()
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        yield path
        if is_article(path):
            todo.append(path.with_suffix(SIDE_FILE))
            continue
        try:
            said = tomllib.loads(path.read_text("utf-8"))
        # What is wrong with it the report says.
        except (OSError, ValueError):
            continue
        named = (said.get(key) for key in _NAMING)
        todo += [
            library.find(name) if name in library.names() else path.parent / name
            for name in named
            if isinstance(name, str)
        ]


def _stamp(path: Path) -> _Stamp:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
