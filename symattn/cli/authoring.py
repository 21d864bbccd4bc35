"""``symattn list``, ``symattn new`` and ``symattn lsp``: what one writes walkthroughs with."""

from __future__ import annotations

from pathlib import Path

import click

from symattn.cli import cases as case_arguments
from symattn.cli import options
from symattn.cli.cases import print_table, styled
from symattn.errors import Malformed
from symattn.escaping import json_text, visible
from symattn.outputs import check
from symattn.ownership import Outputs, check_absent
from symattn.workers import Asker


@click.command("list")
@options.form("text", "json")
def listing(form: str) -> None:
    """List the bundled cases."""
    from symattn.cases import library

    cases = [library.load(name) for name in library.names()]
    if form == "json":
        entries = [
            {
                "case": case.name,
                "title": case.title,
                "tokens": list(case.tokens),
                "steps": dict(case.steps),
                "claims": len(case.claims),
                "extends": case.extends or None,
            }
            for case in cases
        ]
        click.echo(json_text(entries))
        return
    rows = (
        (
            styled(case.name, style="cyan"),
            styled(case.title),
            styled(" ".join(case.tokens)),
            # Steps of several heads once, as they are written.
            styled(", ".join(dict.fromkeys(case.origins.get(name, name) for name in case.steps))),
        )
        for case in cases
    )
    print_table(("case", "title", "tokens", "steps"), rows)


@click.command("new")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--from", "case", metavar="CASE", help="Start from this case instead of an example.")
@options.paced()
def new(file: Path, case: str | None, pace: options.Pace) -> None:
    """Write a case FILE to start from.

    Its comments explain the format; replace its numbers and figures with those of your
    document. No file is overwritten.

    \b
      symattn new post.toml
      symattn new mine.toml --from cat-sat-mat
    """
    from symattn.solution.template import EXAMPLE

    if file.suffix != ".toml":
        raise Malformed(f"{file}: expected a name ending in .toml, as in {file.stem}.toml")
    check_absent(file)
    check(file)
    text = EXAMPLE
    if case is not None:
        (text,) = case_arguments.of_each([case], pace, _started).whole()
    Outputs("new").create(file, text.encode())
    click.echo(visible(f"{file}: now try 'symattn audit {file}' and 'symattn sheet {file}'"))


def _started(asker: Asker, case: case_arguments.CaseArgument) -> str:
    from symattn.solution.template import template

    with case_arguments.solved(asker, case) as solution:
        return template(solution)


@click.command("lsp")
@options.paced(each="version of a text", outside=False, seconds=30)
def lsp(pace: options.Pace) -> None:
    """Judge articles and walkthroughs while they are written, in an editor.

    A language server on standard input and output: editors start it. It marks wrong figures
    as you type, tells what each figure is and why, and corrects what is certain. It needs
    pip install 'symattn[lsp]'.

    \b
      symattn lsp                               how to set up editors: docs/editors.md
    """
    try:
        from symattn.editor.server import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise Malformed("a language server takes pygls: pip install 'symattn[lsp]'") from None
    serve(pace.limits)
