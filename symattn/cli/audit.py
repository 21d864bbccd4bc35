"""``symattn audit``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from symattn import __version__
from symattn.cli import cases as case_arguments
from symattn.cli import fix, options, watching
from symattn.cli.main import CHECK_FAILED
from symattn.cli.pages import FORMS, made_of, page, papers, pdfs
from symattn.errors import Malformed
from symattn.escaping import annotation, json_text, log_message, visible
from symattn.outputs import STANDARD_OUTPUT
from symattn.ownership import Outputs
from symattn.verdicts import Verdict
from symattn.workers import Asker

if TYPE_CHECKING:
    from symattn.auditing.audit import Audit


@click.command("audit")
@case_arguments.argument
@options.form("text", "json", "github", "sarif", "errata", *FORMS)
@options.writes(
    "FILE",
    "Write to FILE (- is standard output), or several cases as html, tex, md, docx or pdf to a "
    "folder.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Also fail on coarse, undecided and unchecked figures, and on what was left open or "
    "not read in an article.",
)
@click.option(
    "--all",
    "unfolded",
    is_flag=True,
    help="In the text report, list every propagated error instead of counting them.",
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
@click.option(
    "--corpus",
    metavar="WHERE",
    help="Audit all articles of a folder, a pattern or a list (a path a line), into a folder.",
)
@click.option("--watch", is_flag=True, help="Audit again whenever a file changes, until Ctrl-C.")
@options.settings("paper", "language")
@options.paced(several=True, elsewhere=True)
def command(
    cases: tuple[str, ...],
    form: str,
    output: Path | None,
    outputs: Outputs,
    strict: bool,
    unfolded: bool,
    correct: bool,
    compare: bool,
    corpus: str | None,
    watch: bool,
    settings: dict[str, object],
    pace: options.Pace,
) -> int:
    """Find the wrong figures of a document, and why they are wrong.

    A figure is refuted when the exact value does not round to it. Each refuted figure has a
    cause: truncated, rounded-inputs, carried (propagated from other wrong figures), root
    (incorrect on its own) or last-digit. The report begins with the mistakes that explain
    many wrong figures at once, if chance can be ruled out, and only counts propagated
    errors. A coarse figure holds, but is a whole number where the quantity is not. Exits
    with 1 if anything is refuted, or an article of a corpus could not be audited.

    \b
      symattn audit please-study-man
      symattn audit --format json -o audit.json
      symattn audit length-4-causal --format pdf      a sheet with corrections in red
      symattn audit cat-sat-mat --format errata       a message to the author
      symattn audit post.md --format html             the article with corrections in red
      symattn audit post.md --diff                    what --fix would change
      symattn audit post.md --fix                     correct the article itself
      symattn audit post.md -o audit.txt --force      overwrite audit.txt
      symattn audit post.md --watch                   the report again as the article changes
      symattn audit --corpus posts -o results         all articles of a folder, and a report

    A corpus is a folder, a pattern in quotation marks or a list of paths, also in a bucket
    (s3://...). Results are kept: a run that was ended goes on where it was. All cores work
    unless --jobs says how many; --executor dask=tcp://HOST:PORT has a Dask cluster work.
    """
    if corpus is not None:
        if cases or form != "text" or correct or compare or watch or unfolded:
            raise Malformed(
                "--corpus makes a folder of its own kind: omit names of cases, --format, --all, "
                "--fix, --diff and --watch"
            )
        fine = _corpus(corpus, output, outputs.force, strict, settings, pace)
        return 0 if fine else CHECK_FAILED
    if pace.executor is not None:
        raise Malformed("--executor is for a corpus: use it with --corpus")
    if watch:
        if form != "text" or output is not None or correct or compare:
            raise Malformed("--watch prints the report: omit -o, --format, --fix and --diff")
        watching.watch(cases, lambda: _report(cases, pace, strict, unfolded))
    if correct or compare:
        if form != "text":
            raise Malformed("--fix and --diff write no report: omit --format")
        if not cases:
            raise Malformed("--fix and --diff need at least one article")
        settled = (fix.diff if compare else fix.fix)(cases, output, outputs, strict, pace)
        return 0 if settled else CHECK_FAILED
    pages, folder = form in FORMS, output or Path("audits")
    single = pages and len(cases) == 1 and output is not None and _is_file(output, form)
    if pages:
        options.one_document(output, len(cases), form)
        case_arguments.distinct_files(cases)
    elif output == STANDARD_OUTPUT:
        output = None
    if pages and not single:
        outputs.claim_in(folder)
    elif output is not None:
        outputs.claim(output)
    content = partial(_content, form, output is None, strict, unfolded, settings)
    audits = case_arguments.of_each(cases, pace, _audited, content)
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
    doubt = strict and any(item.open for item in audits.done)
    return CHECK_FAILED if refuted or doubt else 0


def _corpus(
    corpus: str,
    output: Path | None,
    force: bool,
    strict: bool,
    settings: dict[str, Any],
    pace: options.Pace,
) -> bool:
    """Audit a corpus into a folder; whether all is fine: nothing refuted, nothing failed and,
    if it is to be ``strict``, nothing in doubt."""
    from symattn.corpus.audit import PAGE, audit_corpus
    from symattn.corpus.page import summary
    from symattn.corpus.records import spelled

    if output == STANDARD_OUTPUT:
        raise Malformed("--corpus writes a folder: give its name with -o")
    folder = options.output_as_said() or "results"
    is_said = click.get_current_context().get_parameter_source("jobs") != ParameterSource.DEFAULT
    with options.counted() as advance:
        tally = audit_corpus(
            corpus,
            folder,
            pace.executor,
            limits=pace.limits,
            jobs=pace.jobs if is_said else None,
            watch=advance,
            force=force,
            allow_outside=pace.allow_outside,
            **settings,
        )
    if tally.remade:
        damaged = f"kept results were damaged and are made again, the first {tally.remade[0]}"
        click.echo(visible(f"symattn: {len(tally.remade)} {damaged}"), err=True)
    click.echo(visible(f"{summary(tally)}; open {spelled(folder)}/{PAGE}"))
    outcomes = tally.outcomes
    doubt = strict and (outcomes["doubtful"] or tally.counts["coarse"])
    return not (outcomes["refuted"] or tally.failures or doubt)


def _report(cases: tuple[str, ...], pace: options.Pace, strict: bool, unfolded: bool) -> str:
    """The report for a terminal; the faults of cases stand in it, where there are any."""
    try:
        content = partial(_content, "text", True, strict, unfolded, {})
        audits = case_arguments.of_each(cases, pace, _audited, content)
        told = "".join(item.content for item in audits.done)
        audits.tell()
    except Malformed as error:
        return f"symattn: {error}\n"
    return told


class _Audited(NamedTuple):
    """An audit as plain data: its case, whether something is refuted, or left
    open, unread or coarse, and what the format makes of it."""

    name: str
    refuted: bool
    open: bool
    content: Any


def _audited(
    asker: Asker, case: case_arguments.CaseArgument, content: Callable[[Audit], Any]
) -> _Audited:
    from symattn.auditing.audit import audit

    with case_arguments.solved(asker, case) as solution:
        asker.stage("checking")
        audited = audit(solution)
        made = content(audited)
    unread = any(number.status == "unread" for number in audited.numbers)
    doubts = audited.summary["coarse"] or audited.count(Verdict.UNDECIDED)
    left = bool(doubts or audited.unchecked or audited.open or unread)
    return _Audited(audited.case.name, bool(audited.count(Verdict.REFUTED)), left, made)


def _content(
    form: str,
    terminal: bool,
    strict: bool,
    unfolded: bool,
    settings: dict[str, object],
    audit: Audit,
) -> Any:
    from symattn.auditing import reports

    match form:
        case "json":
            return reports.as_dict(audit)
        case "github":
            return reports.github([audit])
        case "sarif":
            return json.loads(reports.sarif([audit], __version__))
        case "errata":
            return reports.errata(audit)
        case "text":
            from symattn.cli.audit_report import report

            return case_arguments.reported_on(partial(report, audit, strict, unfolded), terminal)
        case "html" if audit.case.reading is not None:
            from symattn.printers.source import document
            from symattn.sheets import marked

            return document(marked.page(audit, **settings)).encode()
    from symattn.sheets.redpen import sheet

    corrected = sheet(audit, **settings)
    return papers(corrected) if form == "pdf" else page(corrected, form)


def _text(contents: list[Any], stopped: Sequence[Malformed], form: str) -> str:
    """One document of what the cases gave, and of those that gave nothing."""
    if form == "json":
        data = [*contents, *({"case": error.source, "stopped": str(error)} for error in stopped)]
        return json_text(data[0] if len(data) == 1 else data)
    if form == "sarif":
        from symattn.auditing import reports

        log = contents[0] if contents else json.loads(reports.sarif([], __version__))
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
        contents += [f"::error title=stopped::{annotation(str(error))}" for error in stopped]
    return "\n".join(content for content in contents if content)


def _is_file(output: Path, form: str) -> bool:
    """Return whether a single page goes into that very file, and not into a folder."""
    return output.suffix == f".{form}" or (output.exists() and not output.is_dir())


def _red_pen(outputs: Outputs, paths: list[Path], printed: list[Any], form: str, jobs: int) -> None:
    """Write the pages; without all of their PDFs none."""
    if form == "pdf":
        documents = pdfs([made_of(item) for item in printed], [str(path) for path in paths], jobs)
        contents = [(document.pdf, document.complaints) for document in documents]
    else:
        contents = [(page, ()) for page in printed]
    for path, (content, complaints) in zip(paths, contents, strict=True):
        outputs.write(path, content)
        for complaint in complaints:
            click.echo(visible(f"symattn: {path}: {complaint}"), err=True)
        if path != STANDARD_OUTPUT:
            click.echo(visible(str(path)))
