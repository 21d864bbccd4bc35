"""``symattn read``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symattn.cli import cases as case_arguments
from symattn.cli import options
from symattn.errors import Fault, Faulty, Malformed
from symattn.escaping import json_text
from symattn.outputs import STANDARD_OUTPUT
from symattn.ownership import Outputs
from symattn.workers import Asker

if TYPE_CHECKING:
    from symattn.cases.case import Case
    from symattn.documents.reading import Reading


@click.command("read")
@click.argument("article")
@options.form("text", "json", "toml")
@options.writes("FILE", "Write to FILE; - is standard output.")
@options.paced()
def command(
    article: str, form: str, output: Path | None, outputs: Outputs, pace: options.Pace
) -> None:
    """Show how an ARTICLE is understood, line by line.

    An ARTICLE is Markdown, a notebook, LaTeX, HTML, PDF or text. The report lists its inputs,
    steps and printed figures without judging them; the audit of a figure depends on what it
    was read as. What was left open or not read is listed at the end. Authors can help with
    comments that readers don't see, one line each, or with a side file, post.symattn.toml
    beside post.md:

    \b
      <!-- symattn: T = S / sqrt(d_k) -->     in LaTeX % symattn: ...
      <!-- symattn: X = [[1, 0], [0, 1]] -->
      <!-- symattn: "context vectors" = Y -->
      <!-- symattn: tokens = cat, sat, mat -->
      <!-- symattn: A[0], A[1] -->            what the next figures are
      <!-- symattn: 0.507 = A[0, 0] -->       the next figure written like this
      <!-- symattn: under "scaled scores" --> as if under this heading
      <!-- symattn: ignore -->                skip the next block; ignore begin, ignore end

    \b
      document = "post.md"
      ignore = [12, "30-41", "Exercises"]
      [steps]
      T = "S / sqrt(d_k)"
      [aliases]
      "context vectors" = "Y"
      [lines]
      45 = "A[0]"
      48 = {"0.507" = "A[0, 0]"}
      "The weights of cat are" = "A[0]"

    In place of a line number, a heading stands for its section, and other words for the
    figures that they announce.

    --format toml writes the article as a case file.

    \b
      symattn read post.md
      symattn read post.symattn.toml
      symattn read post.ipynb --format toml -o post.toml
    """
    if output == STANDARD_OUTPUT:
        output = None
    if output is not None:
        outputs.claim(output)
    read = case_arguments.of_each([article], pace, _read, form, output is None)
    (text,) = read.whole()
    if output is not None:
        outputs.write(output, (text.rstrip("\n") + "\n").encode())
    elif form == "text":
        case_arguments.echo(text)
    else:
        click.echo(text.rstrip("\n"))


def _read(asker: Asker, article: case_arguments.CaseArgument, form: str, terminal: bool) -> str:
    asker.stage("reading")
    case = article.load()
    if case.reading is None:
        raise Malformed(
            f"{article.name} is a case file, which needs no reading: expected an article"
        )
    if form == "json":
        return json_text(_as_dict(case, case.reading))
    if form == "toml":
        from symattn.documents.reading import case_text
        from symattn.solution.solution import solve

        # Without steps that have no value.
        reading = solve(case).case.reading or case.reading
        return _readable(article.name, case_text(reading))
    from symattn.cli.article_report import report

    return case_arguments.reported_on(partial(report, case, case.reading), terminal)


def _readable(name: str, text: str) -> str:
    """A case file that can be read and worked out; :class:`Malformed` if it can't,
    as one without steps."""
    from symattn.cases import library
    from symattn.solution.solution import solve

    try:
        solve(library.load("case.toml", data=text.encode()))
    except Faulty as error:
        so = "it can't be written as a case file"
        faults = [Fault(fault.where, f"{fault.message}; {so}") for fault in error.faults]
        raise Malformed(faults, name, error.more) from None
    return text


def _as_dict(case: Case, reading: Reading) -> dict[str, Any]:
    """The reading as plain data; lines and columns count from 1."""
    from symattn.auditing import reports
    from symattn.documents.text import Span

    def at(span: Span | None) -> dict[str, Any]:
        if span is None:
            return dict.fromkeys(("line", "column", "cell", "paragraph"))
        cell = reading.article.cell(span.start)
        paragraph = reading.article.paragraph(span.start)
        place = reading.article.place(span.start)._asdict()
        return {
            **place,
            "cell": cell and cell._asdict(),
            "paragraph": paragraph and paragraph._asdict(),
        }

    return {
        "file": reports.file_of(case),
        "title": reading.article.title,
        "tokens": list(reading.tokens),
        "given": {
            name: {
                "shape": list(case.program.quantities[name].shape),
                "numbers": item.entries,
                **at(item.span),
            }
            for name, item in reading.given.items()
        },
        "steps": {
            name: {"expression": step.expression, "assumed": step.assumed, **at(step.span)}
            for name, step in reading.steps.items()
        },
        "loss": None if reading.loss is None else dict(reading.loss),
        "claims": [
            {
                "where": claim.where,
                claim.key: claim.text,
                "printed": claim.printed,
                "confirmed": bool(claim.doubt),
                "basis": claim.basis,
                **at(claim.span),
            }
            for claim in reading.claims
        ],
        "open": [
            {"what": item.what, "why": item.why, **at(item.span)}
            for item in (*reading.open, *reading.unfit)
        ],
        "assumptions": list(reading.assumptions),
        "coverage": reports.dictionary(case, reading.numbers),
    }
