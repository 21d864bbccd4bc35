"""``symattn live``: an article's figures made live, or digits again; ``symattn myst`` and ``symattn
pandoc``: what document systems run to compute the figures of a page or a document."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import groupby
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from symattn.cli import cases as case_arguments
from symattn.cli import options
from symattn.cli.fix import bytes_of, claim, put, told_at
from symattn.cli.main import CHECK_FAILED
from symattn.errors import Malformed, blamed_on, short
from symattn.escaping import json_text, visible
from symattn.outputs import STANDARD_OUTPUT
from symattn.ownership import Outputs
from symattn.workers import Asker

if TYPE_CHECKING:
    from symattn.auditing.fixing import UnfixedFigure
    from symattn.documents.article import Article
    from symattn.live.places import LiveFigure, Spelling

#: What messages call what a filter is given.
_READ = "standard input"


@click.command("live")
@click.argument("article")
@options.writes("FILE", "Write to FILE instead of in place; - is standard output.")
@click.option("--plain", "is_plain", is_flag=True, help="Print the digits of live figures again.")
@click.option(
    "--case",
    "case",
    metavar="FILE",
    help="Compute from a case file, by its path from the article, instead of the article itself.",
)
@click.option(
    "--for",
    "spelling",
    type=click.Choice(["myst", "pandoc"]),
    help="Whose spelling is written: by default pandoc's and Quarto's in .qmd, else MyST's.",
)
@options.paced(each="article")
def live(
    article: str,
    output: Path | None,
    outputs: Outputs,
    is_plain: bool,
    case: str | None,
    spelling: Spelling | None,
    pace: options.Pace,
) -> None:
    """Make the figures of an ARTICLE live: computed where it is built.

    Every printed figure that holds, and whose binding is certain, becomes a role that
    computes it: `{symattn}` in MyST and Sphinx, `{.symattn}` in Quarto and pandoc,
    \\symattn{...} in mathematics. Others stay and are listed. --plain prints the digits
    again; where nothing changed, the article is the same then, byte by byte.

    \b
      symattn live post.md
      symattn live post.md --case post.toml -o live/post.md
      symattn live post.md --plain
    """
    claim([article], output, outputs)
    if spelling is None:
        spelling = "pandoc" if Path(article).suffix.lower() in (".qmd", ".rmd") else "myst"
    target = output or Path(article)
    name = Path(article).name if output == STANDARD_OUTPUT else target.name
    results = case_arguments.of_each([article], pace, _converted, is_plain, name, case, spelling)
    (result,) = results.whole()
    put(result.path, result.old, result.new, output, outputs)
    for text in result.told:
        click.echo(visible(text), err=output == STANDARD_OUTPUT)


class _Converted(NamedTuple):
    """A file before and after, and what is told of it."""

    path: Path
    old: bytes
    new: bytes
    told: list[str]


def _converted(
    asker: Asker,
    named: case_arguments.CaseArgument,
    is_plain: bool,
    name: str,
    case: str | None,
    spelling: Spelling,
) -> _Converted:
    from symattn.auditing.audit import audit
    from symattn.documents.files import is_article, read_article
    from symattn.live import conversion

    asker.stage("reading")
    if not is_article(named.name):
        raise Malformed(f"{named.name} is no article: expected Markdown")
    article = read_article(named.name)
    if is_plain:
        asker.stage("computing")
        text, count, staying = conversion.plain(article, case, named.allow_outside)
        told = [_counted(article, count, "in digits", len(staying)), *_kept(article, staying)]
    else:
        with case_arguments.solved(asker, named) as solution:
            asker.stage("checking")
            made = conversion.live(audit(solution), spelling, name, case)
        text = made.text
        told = [
            _counted(article, made.count, "live", len(made.staying)),
            *_stayed(article, made.staying),
        ]
    return _Converted(article.path, bytes_of(article), article.encoded(text), told)


def _counted(article: Article, count: int, what: str, staying: int) -> str:
    figures = f"{count} figure{'' if count == 1 else 's'} {what}"
    return f"{article.path}: {figures}" + (f", {staying} stay" if staying else "")


def _stayed(article: Article, staying: Sequence[UnfixedFigure]) -> list[str]:
    """The figures that stay, those of one reason that follow each other on one line."""
    groups = groupby(staying, key=lambda item: item.why)
    return [f"  {article.path}:{told_at(article, *group)}: {why}" for why, group in groups]


def _kept(article: Article, staying: Sequence[LiveFigure]) -> list[str]:
    lines = (article.place(one.span.start).line for one in staying)
    return [
        f"  {article.path}:{line} {one.name} {one.text}: it is no number"
        for line, one in zip(lines, staying, strict=True)
    ]


@click.command("myst")
@click.option("--role", metavar="NAME", help="Stand for a role; its data on standard input.")
@click.option("--directive", metavar="NAME", help="Stand for a directive.")
@click.option("--transform", metavar="NAME", help="Compute the figures of a page.")
@options.paced(each="page")
def myst(
    role: str | None, directive: str | None, transform: str | None, pace: options.Pace
) -> None:
    """Compute the figures of MyST pages: a plugin that mystmd runs.

    An executable file beside myst.yml, which names it as a plugin of the type executable,
    runs this command:

    \b
      #!/bin/sh
      exec symattn myst "$@"

    Without an option it prints what the plugin offers.
    """
    from symattn.live import names

    if role or directive:
        with blamed_on(_READ):
            node = names.standing_for(_read_tree(), is_role=bool(role))
        click.echo(json_text(node))
    elif transform:
        _filter("myst", "page", pace)
    else:
        click.echo(json_text(names.specification()))


@click.command("pandoc")
@click.argument("target", required=False)
@click.option("--strict", is_flag=True, help="Exit with 1 if a figure can't be computed.")
@options.paced(each="document")
def pandoc(target: str | None, strict: bool, pace: options.Pace) -> int:
    """Compute the figures of a document: a filter for pandoc and Quarto.

    Reads the document as pandoc's JSON and writes it again. An executable file that runs
    this command is a filter, for pandoc --filter and for the filters of Quarto:

    \b
      #!/bin/sh
      exec symattn pandoc --strict "$@"

    TARGET is the format that pandoc writes, which it says to every filter.
    """
    return CHECK_FAILED if _filter("pandoc", "document", pace) and strict else 0


def _filter(system: str, what: str, pace: options.Pace) -> list[str]:
    """Print what is on standard input with its figures computed; what is wrong with any."""
    jobs = [(_computed, (system, _read_tree(), pace.allow_outside))]
    ((tree, faults),) = case_arguments.of_jobs([what], jobs, pace).whole()
    for fault in faults:
        click.echo(visible(f"symattn: {fault}"), err=True)
    click.echo(json_text(tree))
    return list(faults)


def _computed(asker: Asker, system: str, tree: Any, allow_outside: bool) -> Any:
    asker.stage("computing")
    with blamed_on(_READ):
        return import_module(f"symattn.live.{system}").computed(tree, Path(), allow_outside)


def _read_tree() -> dict[str, Any]:
    """The JSON object of standard input; :class:`Malformed` for what is none."""

    def finite(text: str) -> float:
        if not isfinite(number := float(text)):
            raise ValueError(f"{short(text)} is no number of JSON")
        return number

    try:
        data = sys.stdin.buffer.read()
        tree: Any = json.loads(data, parse_constant=finite, parse_float=finite)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"expected JSON, found none: {error}", _READ) from None
    if not isinstance(tree, dict):
        raise Malformed(f"expected an object of JSON, found {short(str(tree))}", _READ)
    return tree
