"""An audit for machines that mark lines of files: GitHub's annotations, and SARIF.

An audit as a text that can be sent to the author.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from symattn import escaping
from symattn.auditing import reports, understanding
from symattn.auditing.audit import Audit
from symattn.auditing.figures import Figure, Slip, Statement
from symattn.auditing.reports import (
    SourceRegion,
    coarse,
    coarse_sentence,
    file_of,
    grouped,
    propagated,
    region,
    rivals_sentence,
    spanned,
    summary_line,
    where,
    why,
    within_rounding,
)
from symattn.escaping import markdown, markdown_code, markdown_start
from symattn.verdicts import Verdict

#: What each rule of a SARIF log means; the identifiers are stable.
RULES = {
    "cause": "A mistake in the recipe explains many wrong figures.",
    "truncated": "A figure is truncated instead of rounded.",
    "rounded-inputs": "A figure was computed from rounded figures.",
    "carried": "A figure is wrong because figures it was computed from are wrong.",
    "root": "A figure is wrong, and not because of other figures.",
    "last-digit": "A figure is off by one unit in its last place.",
    "statement": "A statement does not hold.",
    "coarse": "A figure that is not whole is printed as a whole number.",
    "as-printed": "A figure holds as its own equation gives it, though not exactly.",
    "within-rounding": "A figure holds only within the rounding of its operands.",
    "undecided": "A figure or statement could not be decided.",
    "open": "A part of an article could be read in several ways, or in none.",
    "assumption": "A meaning was assumed that the article does not state.",
    "coverage": "A count of the numbers in an article, by how they were read.",
}

#: Rules of what is no error of its own, or none for certain; and of what is only told.
_NOTES = ("carried", "undecided", "rounded-inputs", "coarse")
_TOLD = ("within-rounding", "as-printed", "open", "assumption", "coverage")


class _Finding(NamedTuple):
    """Something that is told: its rule, place and message, and the figures it is about."""

    rule: str
    region: SourceRegion
    message: str
    others: tuple[Figure, ...] = ()
    slip: Slip | None = None


def _findings(audit: Audit) -> list[_Finding]:
    """All that does not hold: causes, then what is wrong in itself, then the rest; behind
    it what is only told."""

    def rank(finding: _Finding) -> int:
        return 2 if finding.rule in _TOLD else 1 if finding.rule in _NOTES else 0

    rest = sorted((*_single_findings(audit), *_reading(audit)), key=rank)
    return [*_causes(audit), *rest]


def _causes(audit: Audit) -> Iterator[_Finding]:
    """Every cause once, at its first figure."""
    for number, slip in enumerate(audit.causes, 1):
        first, *others = slip.explains
        message = f"cause {number}: {slip.sentence} {rivals_sentence(slip)}".rstrip()
        yield _Finding("cause", region(audit.case, first), message, tuple(others), slip)


def _single_findings(audit: Audit) -> Iterator[_Finding]:
    within = set(within_rounding(audit))
    for figure in audit.figures:
        at, where = region(audit.case, figure), _where(figure)
        if figure.verdict is Verdict.REFUTED:
            reasons = filter(None, (why(audit, figure), understanding.basis(figure.claim)))
            message = f"{said(figure)} ({'; '.join(reasons)})"
            yield _Finding(figure.cause, at, message)
        elif figure.verdict is Verdict.UNDECIDED:
            yield _Finding("undecided", at, f"{where}{figure.label} could not be decided")
        elif figure.as_printed:
            yield _Finding("as-printed", at, f"{where}{reports.as_printed_sentence(figure)}")
        elif figure in within:
            yield _Finding("within-rounding", at, f"{where}{_within_rounding(figure)}")
        elif figure.coarse:
            yield _Finding("coarse", at, f"{where}{coarse_sentence(figure)}")
    for statement in audit.statements:
        if statement.verdict is not Verdict.HOLDS:
            rule = "statement" if statement.verdict is Verdict.REFUTED else "undecided"
            says = "does not hold" if rule == "statement" else "could not be decided"
            message = f"{_where(statement)}{statement.claim.holds} {says}{statement.because}"
            yield _Finding(rule, region(audit.case, statement), message)


def _reading(audit: Audit) -> Iterator[_Finding]:
    """What is said of how an article was read."""
    for item in audit.open:
        yield _Finding("open", spanned(audit.case, item.span), f"{item.what}: {item.why}")
    for sentence in audit.assumptions:
        yield _Finding("assumption", SourceRegion(0), sentence)
    notes = audit.case.reading.article.notes if audit.case.reading else ()
    for remark in filter(None, (*notes, reports.line(audit))):
        yield _Finding("coverage", SourceRegion(0), remark)


def _where(judged: Figure | Statement) -> str:
    """Where a document says it, unless that is an article, whose places are told."""
    return "" if judged.claim.span else f"{judged.claim.where}: "


def said(figure: Figure) -> str:
    """A wrong figure with the right one."""
    printed = f"{figure.label} is printed as {figure.text}; the correct value is {figure.correct}"
    return f"{_where(figure)}{printed}"


def github(audits: list[Audit]) -> str:
    """Annotations that point at the claims' places, as GitHub's workflow commands have
    them."""
    lines = []
    for audit in audits:
        path = escaping.annotation_property(file_of(audit.case))
        for rule, at, message, *_ in _findings(audit):
            kind = "notice" if rule in _TOLD else "warning" if rule in _NOTES else "error"
            # What is no text has no lines to point at.
            text = escaping.annotation(
                f"{at.paragraph.name}: {message}" if at.paragraph else message
            )
            lines.append(f"::{kind} file={path},{_properties(at)},title={rule}::{text}")
    return "\n".join(lines)


def _properties(at: SourceRegion) -> str:
    if at.paragraph:
        return "line=1"
    line = f"line={max(at.line, 1)}"
    if at.column is None:
        return line
    return f"{line},col={at.column},endLine={at.end_line},endColumn={at.end_column}"


def sarif(audits: list[Audit], version: str) -> str:
    """A SARIF 2.1.0 log with one run."""
    results = [_result(audit, finding) for audit in audits for finding in _findings(audit)]
    rules = [{"id": rule, "shortDescription": {"text": text}} for rule, text in RULES.items()]
    driver = {"name": "symattn", "version": version, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return escaping.json_text(log)


def _result(audit: Audit, finding: _Finding) -> dict[str, Any]:
    """A finding as a SARIF log has it; a cause with its measure, and all figures that follow."""
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": "note" if finding.rule in (*_NOTES, *_TOLD) else "error",
        "message": {"text": escaping.log_message(finding.message)},
        "locations": [_location(audit, finding.region)],
    }
    if finding.others:
        result["relatedLocations"] = [
            {
                **_location(audit, region(audit.case, figure)),
                "message": {"text": escaping.log_message(said(figure))},
            }
            for figure in finding.others
        ]
    if slip := finding.slip:
        measure = {"kind": slip.kind, "bits": slip.bits, "coverage": slip.coverage}
        result["properties"] = {**measure, "rivals": list(slip.rivals)}
    return result


def _location(audit: Audit, at: SourceRegion) -> dict[str, Any]:
    """A place as a log has it; what is no text has no lines, but paragraphs with a name."""
    if at.paragraph:
        named = [{"fullyQualifiedName": at.paragraph.name, "kind": "element"}]
        file = {"artifactLocation": {"uri": _uri(audit)}}
        return {"physicalLocation": file, "logicalLocations": named}
    region: dict[str, Any] = {"startLine": max(at.line, 1)}
    if at.column is not None:
        region["startColumn"] = at.column
        if at.end_line != at.line:
            region["endLine"] = at.end_line
        region["endColumn"] = at.end_column
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(audit)}, "region": region}}


def _uri(audit: Audit) -> str:
    path = Path(file_of(audit.case))
    return path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))


def errata(audit: Audit) -> str:
    """A short, polite text in Markdown that can be sent to the author."""
    return "\n".join(_lines(audit))


def _lines(audit: Audit) -> Iterator[str]:
    yield from (f"# Errata: {markdown(audit.case.title)}", "")
    roots = grouped(audit)
    wrong = [s for s in audit.statements if s.verdict is Verdict.REFUTED]
    if roots or wrong:
        outcome = (
            "Worked through with exact arithmetic, these figures come out differently. "
            f"{summary_line(audit)}."
        )
    else:
        count = len(audit.figures)
        checked = f"All {count} figures" if count else "All statements"
        outcome = f"{checked} that could be checked agree with the exact values."
    yield from (f"Thank you for this walkthrough. {outcome}", "")
    yield from _cause_items(audit)
    if roots:
        yield from ("| where | quantity | printed | correct | why |", "|---|---|---|---|---|")
        for root, propagating in roots:
            reason = why(audit, root)
            if propagating:
                reason += f"; {propagated(len(propagating))}"
            yield _row(audit, root, reason)
        yield ""
    if follow := [figure for _, others in roots for figure in others]:
        yield from ("With these corrected, the following figures change as well:", "")
        yield from ("| where | quantity | printed | correct |", "|---|---|---|---|")
        yield from (_row(audit, figure) for figure in sorted(follow, key=lambda f: f.order))
        yield ""
    yield from _coarse_rows(audit)
    if wrong:
        yield from ("These statements do not hold for the numbers given:", "")
        for statement in wrong:
            at = markdown_start(where(audit.case, statement))
            yield f"- {at}: {markdown_code(statement.claim.holds)}"
        yield ""
    yield from _reading_items(audit)


def _cause_items(audit: Audit) -> Iterator[str]:
    """The causes as a numbered list in Markdown, each with where it is first seen."""
    if audit.causes:
        yield from ("Likely causes:", "")
        for number, slip in enumerate(audit.causes, 1):
            first = slip.explains[0]
            sentence = f"{slip.sentence} {rivals_sentence(slip)}".rstrip()
            at = markdown(where(audit.case, first))
            seen = f"First seen in {at}: {markdown_code(first.label)}"
            yield f"{number}. {markdown(sentence)} {seen}."
        yield ""


def _coarse_rows(audit: Audit) -> Iterator[str]:
    """The coarse figures as a table in Markdown."""
    figures = coarse(audit, everywhere=True)
    if figures:
        yield from ("These figures are printed as whole numbers, but are not whole:", "")
        yield from ("| where | quantity | printed | more precisely |", "|---|---|---|---|")
        yield from (*(_row(audit, figure) for figure in figures), "")


def _reading_items(audit: Audit) -> Iterator[str]:
    """How an article was read: what was assumed and left open, and what was not read."""
    if audit.assumptions:
        yield from ("Assumptions:", "")
        yield from (*(f"- {markdown_start(sentence)}" for sentence in audit.assumptions), "")
    if audit.open:
        yield from ("What could not be judged:", "")
        for group in understanding.open_groups(audit):
            at = reports.lines(group.spans, audit.case)
            what = ", ".join(dict.fromkeys(markdown_code(item.what) for item in group.items[:4]))
            more = f" and {len(group.items) - 4} more" if len(group.items) > 4 else ""
            why = group.items[0].why if len(group.items) == 1 else group.reason
            yield f"- {at}, {what}{more}: {markdown(why)}"
        yield ""
    if summary := reports.line(audit):
        yield from (f"How the text was read: {summary}.", "")


def _row(audit: Audit, figure: Figure, *more: str) -> str:
    """A figure as a row of a Markdown table."""
    before = (markdown(where(audit.case, figure)), markdown_code(figure.label))
    after = (markdown(text) for text in (figure.text, figure.correct, *more))
    return f"| {' | '.join((*before, *after))} |"


def _within_rounding(figure: Figure) -> str:
    """What is to be said of a figure within rounding, in a sentence."""
    gives = f" (as printed they give {figure.correct})" if figure.correct else ""
    holds = f"which holds only within the rounding of its operands{gives}"
    return f"{figure.label} is printed as {figure.text}, {holds}"
