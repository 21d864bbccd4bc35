"""``symattn audit``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from symattn import __version__
from symattn.cli import cases as case_arguments
from symattn.cli import fix
from symattn.cli.cases import Wanted
from symattn.cli.main import CHECK_FAILED
from symattn.cli.options import Pace, one_document, paced, paper_and_language, writes
from symattn.cli.pages import FORMS, made_of, page, papers, typeset
from symattn.errors import EngineFailure, Malformed
from symattn.escaping import annotation, json_text, log_message, visible
from symattn.outputs import STANDARD_OUTPUT
from symattn.ownership import Outputs
from symattn.verdicts import Verdict
from symattn.workers import Asker

if TYPE_CHECKING:
    from symattn.auditing.audit import Audit

_FORMATS = ("text", "json", "github", "sarif", "errata", *FORMS)


@click.command("audit")
@case_arguments.argument
@click.option("--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True)
@writes(
    "FILE",
    "Write to FILE (- is standard output); for several cases as html, tex or pdf, to a folder.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Also fail on coarse, undecided and unchecked figures, and, in articles, on what is "
    "open or not read.",
)
@click.option(
    "--all",
    "unfolded",
    is_flag=True,
    help="In text, list every propagated error instead of counting them.",
)
@click.option(
    "--fix",
    "correct",
    is_flag=True,
    help=(
        "Correct the digits of refuted figures in place, or write one corrected article to -o FILE."
    ),
)
@click.option(
    "--diff",
    "compare",
    is_flag=True,
    help="Show what --fix would change, or write it to -o FILE as a patch.",
)
@paper_and_language
@paced
def command(
    cases: tuple[str, ...],
    form: str,
    output: Path | None,
    outputs: Outputs,
    strict: bool,
    unfolded: bool,
    correct: bool,
    compare: bool,
    paper: str | None,
    language: str | None,
    pace: Pace,
) -> None:
    """Judge what a document prints: which figure is wrong, what it should be, and why.

    A figure is refuted when the exact value does not round to it. Each refuted
    figure has a cause: truncated, rounded-inputs, carried (propagated from other
    wrong figures), root (incorrect on its own) or last-digit. Mistakes that
    explain many wrong figures, where chance does not, come first; propagated
    errors are counted. A coarse figure holds, but is a whole number where the quantity
    is not. Exits with 1 if anything is refuted.

    \b
      symattn audit please-study-man
      symattn audit --format json -o audit.json
      symattn audit length-4-causal --format pdf      the red-pen sheet
      symattn audit cat-sat-mat --format errata       a text for the author
      symattn audit post.md --format html             the article with the red pen in it
      symattn audit post.md --diff                    what --fix would correct
      symattn audit post.md --fix                     correct the article itself
      symattn audit post.md -o audit.txt --force      whatever audit.txt was
    """
    if correct or compare:
        if form != "text":
            raise Malformed("--fix and --diff write no report: leave out --format")
        if not cases:
            raise Malformed("--fix and --diff need the names of articles")
        settled = (fix.diff if compare else fix.fix)(cases, output, outputs, strict, pace)
        sys.exit(0 if settled else CHECK_FAILED)
    pages, folder = form in FORMS, output or Path("audits")
    single = pages and len(cases) == 1 and output is not None and _is_file(output, form)
    if pages:
        one_document(output, len(cases), form)
        case_arguments.distinct_files(cases)
    elif output == STANDARD_OUTPUT:
        output = None
    if pages and not single:
        outputs.claim_in(folder)
    elif output is not None:
        outputs.claim(output)
    asked = {"paper": paper, "language": language}
    settings: dict[str, object] = {
        name: value for name, value in asked.items() if value is not None
    }
    audits = case_arguments.of_each(
        cases, pace, _audited, form, output is None, strict, unfolded, settings
    )
    # Annotations and SARIF are whole documents even where every case was stopped.
    if not audits.done and form not in ("github", "sarif"):
        audits.tell()
    if pages:
        names = [f"{item.name}-audit.{form}" for item in audits.done]
        if not single:
            outputs.claim_in(folder, names)
        paths = [output if single and output else folder / name for name in names]
        _red_pen(outputs, paths, [item.content for item in audits.done], form, pace.jobs)
    elif form == "text" and output is None:
        for item in audits.done:
            case_arguments.echo(item.content)
    else:
        text = _text([item.content for item in audits.done], audits.stopped, form)
        if output is not None:
            outputs.write(output, (text.rstrip("\n") + "\n").encode())
        elif text:
            click.echo(text)
    audits.tell()
    refuted = any(item.refuted for item in audits.done)
    if refuted or (strict and any(item.open for item in audits.done)):
        sys.exit(CHECK_FAILED)


class _Audited(NamedTuple):
    """An audit as plain data: its case, whether something is refuted, or left
    open, unread or coarse, and what the format makes of it."""

    name: str
    refuted: bool
    open: bool
    content: Any


def _audited(
    asker: Asker,
    case: Wanted,
    form: str,
    terminal: bool,
    strict: bool,
    unfolded: bool,
    settings: dict[str, object],
) -> _Audited:
    from symattn.auditing import findings, reports
    from symattn.auditing.audit import audit

    with case_arguments.solved(asker, case) as solution:
        asker.stage("checking")
        audited = audit(solution)
        content: Any
        if form == "json":
            content = reports.as_dict(audited)
        elif form == "github":
            content = findings.github([audited])
        elif form == "sarif":
            content = json.loads(findings.sarif([audited], __version__))
        elif form == "errata":
            from symattn.auditing.errata import errata

            content = errata(audited)
        elif form == "text":
            from symattn.cli.findings import report

            content = (
                _plain(audited, strict, unfolded)
                if not terminal
                else case_arguments.printed(
                    partial(report, audited, strict, unfolded), is_asked=True
                )
            )
        elif form == "html" and audited.case.reading is not None:
            from symattn.printers.source import document
            from symattn.sheets.marked import page as article_page

            content = document(article_page(audited, **settings))
        else:
            from symattn.sheets.redpen import sheet

            marked = sheet(audited, **settings)
            content = papers(marked) if form == "pdf" else page(marked, form)
    unread = any(number.status == "unread" for number in audited.numbers)
    doubts = audited.summary["coarse"] or audited.count(Verdict.UNDECIDED)
    left = bool(doubts or audited.unchecked or audited.open or unread)
    return _Audited(audited.case.name, bool(audited.count(Verdict.REFUTED)), left, content)


def _plain(audit: Audit, strict: bool, unfolded: bool) -> str:
    """The text in a file: plain, even where the environment forces colours."""
    import io

    from rich.console import Console

    from symattn.cli.findings import report

    buffer = io.StringIO()
    report(audit, strict, unfolded, Console(file=buffer, width=160, color_system=None))
    return buffer.getvalue()


def _text(contents: list[Any], stopped: Sequence[Malformed], form: str) -> str:
    """One document of what the cases gave, and of those that gave nothing."""
    if form == "json":
        data = [*contents, *({"case": one.source, "stopped": str(one)} for one in stopped)]
        return json_text(data[0] if len(data) == 1 else data)
    if form == "sarif":
        log = contents[0] if contents else _empty_log()
        log["runs"][0]["results"] = [
            result for content in contents for result in content["runs"][0]["results"]
        ]
        if stopped:
            notes = [{"level": "error", "message": {"text": log_message(str(x))}} for x in stopped]
            log["runs"][0]["invocations"] = [
                {"executionSuccessful": False, "toolExecutionNotifications": notes}
            ]
        return json_text(log)
    if form == "text":
        return "".join(contents)
    if form == "github":
        contents += [f"::error title=stopped::{annotation(str(one))}" for one in stopped]
    return "\n".join(content for content in contents if content)


def _empty_log() -> Any:
    from symattn.auditing import findings

    return json.loads(findings.sarif([], __version__))


def _is_file(output: Path, form: str) -> bool:
    """Whether a single page goes into that very file, and not into a folder."""
    return output.suffix == f".{form}" or (output.exists() and not output.is_dir())


def _red_pen(outputs: Outputs, paths: list[Path], printed: list[Any], form: str, jobs: int) -> None:
    """Write the pages; without all of their PDFs none."""
    documents = [made_of(item) if form == "pdf" else item for item in printed]
    contents = [text.encode() for text in documents]
    complaints: list[tuple[str, ...]] = [() for _ in documents]
    if form == "pdf":
        for index, outcome in typeset(documents, [str(path) for path in paths], jobs):
            if isinstance(outcome, EngineFailure):
                raise outcome
            contents[index], complaints[index] = outcome.pdf, outcome.complaints
    for path, content, messages in zip(paths, contents, complaints, strict=True):
        outputs.write(path, content)
        for complaint in messages:
            click.echo(visible(f"symattn: {path}: {complaint}"), err=True)
        if path != STANDARD_OUTPUT:
            click.echo(visible(str(path)))
