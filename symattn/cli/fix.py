"""``symattn audit --fix`` and ``--diff``: articles corrected, or what would change.

Patches: what becomes of files, as ``git apply`` takes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from symattn.cli import cases as case_arguments
from symattn.cli.options import Pace
from symattn.errors import Malformed
from symattn.escaping import visible
from symattn.outputs import STANDARD_OUTPUT, check
from symattn.ownership import Outputs
from symattn.workers import Asker

if TYPE_CHECKING:
    from rich.console import Console

    from symattn.auditing.fixing import Fix, UnfixedFigure
    from symattn.documents.article import Article


def patch(path: Path, old: str, new: str) -> Iterator[str]:
    r"""The lines of a unified diff of one file, none where nothing changes.

    >>> print(*patch(Path("a.md"), "A = 0.51\n", "A = 0.52\n"), sep="", end="")
    --- a/a.md
    +++ b/a.md
    @@ -1 +1 @@
    -A = 0.51
    +A = 0.52
    """
    for line in unified_diff(_lines(old), _lines(new), _named("a", path), _named("b", path)):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    """The lines as git counts them: nothing but a line feed ends one."""
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *filter(None, [last])]


def _named(side: str, path: Path) -> str:
    """A file as a patch names it, below the folder that one is in; another from the root on."""
    near = os.path.relpath(path)
    name = Path(near if not near.startswith(os.pardir) else path.absolute()).as_posix()
    encoded = os.fsencode(f"{side}/{name.lstrip('/')}")
    plain = all(32 <= byte != 127 and byte not in b'"\\' for byte in encoded)
    if plain:
        # A name with blanks ends at a tab.
        return os.fsdecode(encoded) + "\t" * (b" " in encoded)
    codes = (chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:03o}" for b in encoded)
    return f'"{"".join(codes)}"'


_STYLES = {"---": "bold", "+++": "bold", "@@": "cyan", "-": "red", "+": "green"}


class _Fixed(NamedTuple):
    """A file corrected, as plain data: its text and its bytes before and after, what is told
    of every figure that was fixed or left, and why nothing was corrected, if it could be."""

    path: Path
    encoding: str
    old: str
    new: str
    fixes: list[str]
    left: list[str]
    count_left: int
    assumptions: tuple[str, ...]
    refused: str
    old_data: bytes
    new_data: bytes


def claim(articles: Sequence[str], output: Path | None, outputs: Outputs) -> None:
    """:class:`Malformed` if articles can't be changed in place, or one be written to ``output``."""
    if output is not None:
        outputs.claim(output)
        return
    for article in articles:
        check(Path(article))


def put(path: Path, old: bytes, new: bytes, output: Path | None, outputs: Outputs) -> None:
    """Write an article that was changed, into ``output`` or in its place."""
    if output is not None:
        outputs.write(output, new)
    elif new != old:
        outputs.revise(path, old, new)


def bytes_of(article: Article) -> bytes:
    """The bytes of an article; :class:`Malformed` where its text doesn't give them again."""
    data = article.encoded(article.source)
    if article.path.read_bytes() != data:
        raise Malformed("its bytes differ from its text: nothing is written")
    return data


def fix(
    cases: Sequence[str], output: Path | None, outputs: Outputs, strict: bool, pace: Pace
) -> bool:
    """Correct articles in place, or one into ``output``; whether nothing is left that
    could be corrected, ``strict``: nothing at all.

    An article that was saved meanwhile, or can't be written, takes nothing from the others.
    """
    if output is not None and len(cases) != 1:
        raise Malformed("-o FILE with --fix takes a single article")
    claim(cases, output, outputs)
    results = case_arguments.of_each(cases, pace, _fixed)
    failed: list[Malformed] = []
    for result in results.done:
        try:
            put(result.path, result.old_data, result.new_data, output, outputs)
        except Malformed as error:
            failed.append(error)
        else:
            _tell(result, "fixed", to_errors=output == STANDARD_OUTPUT)
    case_arguments.Results(results.done, [*results.stopped, *failed]).tell()
    return not any(result.refused or (strict and result.left) for result in results.done)


def diff(
    cases: Sequence[str], output: Path | None, outputs: Outputs, strict: bool, pace: Pace
) -> bool:
    """Show what :func:`fix` would change, or write it as a patch; whether that is nothing."""
    if output is not None:
        outputs.claim(output)
    results = case_arguments.of_each(cases, pace, _fixed)
    out = case_arguments.console()
    for result in results.done:
        _tell(result, "to be fixed", to_errors=True)
        if output is None and out.is_terminal:
            case_arguments.echo(case_arguments.printed(partial(_show, result)))
    if output is not None or not out.is_terminal:
        outputs.write(output or STANDARD_OUTPUT, b"".join(chain(*map(_patch, results.done))))
    results.tell()
    return not any(
        result.refused or result.fixes or (strict and result.left) for result in results.done
    )


def _fixed(asker: Asker, case: case_arguments.CaseArgument) -> _Fixed:
    from symattn.auditing.audit import Audit, audit
    from symattn.auditing.fixing import fixed
    from symattn.cases import library

    with case_arguments.solved(asker, case) as solution:
        asker.stage("checking")
        audited = audit(solution)
        reading = solution.case.reading
        if reading is None:
            raise Malformed("only articles can be corrected, not case files")
        article = reading.article
        if article.form == "pdf":
            raise Malformed("a PDF can't be corrected: correct its source")
        old = bytes_of(article)
        asker.stage("correcting")

        def again(text: str) -> Audit:
            return audit(library.load(case.name, case.allow_outside, article.encoded(text)))

        result = fixed(audited, again)
    return _Fixed(
        article.path,
        article.encoding,
        article.source,
        result.text,
        [f"{told_at(article, figure)} -> {figure.correct}" for figure in result.fixes],
        [
            f"{told_at(article, *figures)} left: {why}"
            for why, figures in groupby(result.left, key=lambda figure: figure.why)
        ],
        len(result.left),
        reading.assumptions,
        result.refused,
        old,
        article.encoded(result.text),
    )


def told_at(article: Article, figure: Fix | UnfixedFigure, *more: Fix | UnfixedFigure) -> str:
    """A figure as it is told, its line and column, what it is of and what is printed, and
    how many more there are."""
    line, column = article.place(figure.span.start)
    is_named = article.cells or article.paragraphs
    at = f" {article.said(figure.span.start)}:" if is_named else f"{line}:{column}"
    text = " ".join(filter(None, (at, figure.label, figure.printed)))
    return f"{text} and {len(more)} more" if more else text


def _tell(result: _Fixed, what: str, to_errors: bool) -> None:
    """What became of a file: a line for it, and one for each figure."""

    def tell(text: str) -> None:
        click.echo(visible(text), err=to_errors)

    if result.refused:
        tell(f"{result.path}: nothing {what}: {result.refused}")
    else:
        count = len(result.fixes)
        figures = (
            f"{count} figure{'' if count == 1 else 's'} {what}" if count else f"nothing {what}"
        )
        tell(f"{result.path}: {figures}" + (f", {result.count_left} left" if result.left else ""))
    for text in result.assumptions if result.fixes else ():
        tell(f"  {text}")
    for text in (*result.fixes, *result.left):
        tell(f"  {result.path}:{text}")


def _show(result: _Fixed, out: Console) -> None:
    for line in patch(result.path, result.old, result.new):
        style = next((style for start, style in _STYLES.items() if line.startswith(start)), "")
        out.print(case_arguments.styled(line.rstrip("\n"), style), soft_wrap=True)


def _patch(result: _Fixed) -> Iterator[bytes]:
    """A patch in the encoding of its file; the names in it have that of the system."""
    # Of what is no bytes and lines in that order git takes no patch; people can read it.
    encoding = result.encoding if "\n".encode(result.encoding) == b"\n" else "utf-8"
    for number, line in enumerate(patch(result.path, result.old, result.new)):
        yield os.fsencode(line) if number < 2 else line.encode(encoding, "surrogateescape")
