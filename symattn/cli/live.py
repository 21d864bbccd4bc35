"""``symattn live``: an article's figures made live, or digits again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from symattn.cli import cases as case_arguments
from symattn.cli import options
from symattn.errors import Malformed
from symattn.escaping import visible
from symattn.outputs import STANDARD_OUTPUT, check
from symattn.ownership import Outputs
from symattn.workers import Asker

if TYPE_CHECKING:
    from symattn.documents.article import Article
    from symattn.live.conversion import StayingFigure
    from symattn.live.places import LiveFigure, Spelling


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
def command(
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
    if output is not None:
        outputs.claim(output)
    else:
        check(Path(article))
    if spelling is None:
        spelling = "pandoc" if Path(article).suffix.lower() in (".qmd", ".rmd") else "myst"
    target = output or Path(article)
    name = Path(article).name if output == STANDARD_OUTPUT else target.name
    results = case_arguments.of_each([article], pace, _converted, is_plain, name, case, spelling)
    (result,) = results.whole()
    if output is not None:
        outputs.write(output, result.new)
    elif result.new != result.old:
        outputs.revise(result.path, result.old, result.new)
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
    old = article.path.read_bytes()
    if old != article.source.encode(article.encoding, "surrogateescape"):
        raise Malformed("its bytes differ from its text: nothing is written")
    return _Converted(article.path, old, text.encode(article.encoding, "surrogateescape"), told)


def _counted(article: Article, count: int, what: str, staying: int) -> str:
    figures = f"{count} figure{'' if count == 1 else 's'} {what}"
    return f"{article.path}: {figures}" + (f", {staying} stay" if staying else "")


def _stayed(article: Article, staying: Sequence[StayingFigure]) -> list[str]:
    """The figures that stay, those of one reason that follow each other on one line."""
    told = []
    for why, group in groupby(staying, key=lambda item: item.why):
        first, *more = group
        line, column = article.place(first.span.start)
        others = f" and {len(more)} more" if more else ""
        told.append(
            f"  {article.path}:{line}:{column} {first.label} {first.printed}{others}: {why}"
        )
    return told


def _kept(article: Article, staying: Sequence[LiveFigure]) -> list[str]:
    lines = (article.place(one.span.start).line for one in staying)
    return [
        f"  {article.path}:{line} {one.name} {one.text}: it is no number"
        for line, one in zip(lines, staying, strict=True)
    ]
