"""``symattn new``."""

from __future__ import annotations

from pathlib import Path

import click

from symattn.cli import cases as case_arguments
from symattn.cli.options import Pace, paced
from symattn.errors import Malformed
from symattn.escaping import visible
from symattn.outputs import check
from symattn.ownership import Outputs, check_absent
from symattn.workers import Asker


@click.command("new")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--from", "case", metavar="CASE", help="Start from this case instead of an example.")
@paced()
def command(file: Path, case: str | None, pace: Pace) -> None:
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
