"""Documents typeset and written."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from symattn import outputs
from symattn.cli.main import BAD_INPUT, CHECK_FAILED
from symattn.cli.progress import Progress
from symattn.errors import EngineFailure
from symattn.escaping import visible
from symattn.outputs import STANDARD_OUTPUT
from symattn.printers.engine import Document, find_engine, typeset_all

if TYPE_CHECKING:
    from symattn.printers.blocks import Sheet

#: Formats whose documents are written as they are printed, and what they are called.
PLAIN = {"html": "HTML", "tex": "LaTeX"}

#: Engines that run at once, where no more cases are worked on at once.
_ENGINES = 2


def page(sheet: Sheet, form: str | None) -> str:
    """A sheet as HTML, or as the LaTeX of every other format."""
    if form == "html":
        from symattn.printers.html import document
    else:
        from symattn.printers.latex import document
    return document(sheet)


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
    """Write documents by name, those in LaTeX with their PDFs; the exit code.

    Where a PDF can't be made, none stays beside the LaTeX: it would be an older one.
    """
    if output == STANDARD_OUTPUT:
        return _print(documents, form, strict)
    outputs.prepare_folder(output)
    suffix = "html" if form == "html" else "tex"
    for name, text in documents.items():
        outputs.write(output / f"{name}.{suffix}", text.encode())
    count = f"{len(documents)} sheet{'s' if len(documents) != 1 else ''}"
    if form in PLAIN:
        click.echo(visible(f"{count} in {output}: {PLAIN[form]}"))
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
    ((name, text),) = documents.items()
    if form in PLAIN:
        outputs.write(STANDARD_OUTPUT, text.encode())
        return 0
    ((_, made),) = typeset([text], [name], 1)
    if isinstance(made, EngineFailure):
        raise made
    outputs.write(STANDARD_OUTPUT, made.pdf)
    for complaint in made.complaints:
        click.echo(visible(f"symattn: {name}: {complaint}"), err=True)
    return CHECK_FAILED if made.complaints and strict else 0
