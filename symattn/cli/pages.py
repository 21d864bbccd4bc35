"""Documents typeset and written."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path

import click

from symattn import outputs
from symattn.cli.main import BAD_INPUT, CHECK_FAILED
from symattn.cli.progress import Progress
from symattn.errors import EngineFailure
from symattn.escaping import visible
from symattn.outputs import STANDARD_OUTPUT
from symattn.sheets.engine import Document, find_engine, typeset_all

#: Engines that run at once, where no more cases are worked on at once.
_ENGINES = 2


def typeset(
    documents: Sequence[str], names: Sequence[str], jobs: int
) -> Generator[tuple[int, Document | EngineFailure], None, None]:
    """The index of every LaTeX document with its PDF, or why there is none, as they are made."""
    progress = Progress(names)
    try:
        with closing(typeset_all(documents, at_once=max(jobs, _ENGINES), watcher=progress)) as made:
            yield from made
    finally:
        progress.clear()


def write(
    documents: dict[str, str], output: Path, form: str | None, strict: bool, jobs: int = 1
) -> int:
    """Write LaTeX documents by name, and their PDFs; the exit code.

    Where a PDF can't be made, none stays beside the LaTeX: it would be an older one.
    """
    if output == STANDARD_OUTPUT:
        return _print(documents, form, strict)
    outputs.prepare_folder(output)
    for name, tex in documents.items():
        outputs.write(output / f"{name}.tex", tex.encode())
    count = f"{len(documents)} sheet{'s' if len(documents) != 1 else ''}"
    if form == "tex":
        click.echo(visible(f"{count} in {output}: LaTeX"))
        return 0
    explicit = form == "pdf"
    names = list(documents)
    messages: list[str] = []
    failed = complained = False
    whole = 0
    for index, made in typeset([*documents.values()], names, jobs):
        path = output / f"{names[index]}.pdf"
        if not isinstance(made, EngineFailure):
            outputs.write(path, made.pdf)
            messages += [f"{path}: {complaint}" for complaint in made.complaints]
            complained |= bool(made.complaints)
            whole += 1
            continue
        missing = find_engine(documents[names[index]]) is None
        messages.append(f"{output / names[index]}.tex: {made}" if missing else f"{path}: {made}")
        if explicit or not missing:
            outputs.remove(path)
            failed = True
    for message in sorted(messages):
        click.echo(visible(f"symattn: {message}"), err=True)
    both = "LaTeX and PDF" if whole == len(documents) else "LaTeX"
    click.echo(visible(f"{count} in {output}: {both}"))
    return BAD_INPUT if failed else CHECK_FAILED if complained and strict else 0


def _print(documents: dict[str, str], form: str | None, strict: bool) -> int:
    """Write the one document to standard output."""
    ((name, tex),) = documents.items()
    if form == "tex":
        outputs.write(STANDARD_OUTPUT, tex.encode())
        return 0
    ((_, made),) = typeset([tex], [name], 1)
    if isinstance(made, EngineFailure):
        raise made
    outputs.write(STANDARD_OUTPUT, made.pdf)
    for complaint in made.complaints:
        click.echo(visible(f"symattn: {name}: {complaint}"), err=True)
    return CHECK_FAILED if made.complaints and strict else 0
