"""An audit written down: for people, for machines, for authors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from symattn import escaping
from symattn.auditing.audit import Audit
from symattn.auditing.figures import Figure, Slip, Statement
from symattn.escaping import markdown, markdown_code, markdown_start
from symattn.verdicts import Verdict

#: What each rule of a SARIF log means; the identifiers are stable.
RULES = {
    "truncated": "A figure is cut off behind its last place instead of rounded.",
    "rounded-inputs": "A figure was computed from rounded figures, and shows it.",
    "carried": "A figure is wrong because figures that it was computed from are.",
    "root": "A figure is wrong in itself.",
    "last-digit": "A figure is off by one unit in its last place.",
    "statement": "A statement does not hold.",
    "coarse": "A figure that is not whole is printed as a whole number.",
    "undecided": "A figure or statement could not be decided.",
}


def summary_line(audit: Audit) -> str:
    """The counts in one sentence."""
    counts = audit.summary
    parts = [_counted(counts["figures"], "figure")]
    if counts["statements"]:
        parts.append(_counted(counts["statements"], "statement"))
    holds = counts["holds"]
    coarse = f" ({counts['coarse']} coarse)" if counts["coarse"] else ""
    tail = [f"{holds} hold{'s' if holds == 1 else ''}{coarse}", f"{counts['refuted']} refuted"]
    if counts["undecided"]:
        tail.append(f"{counts['undecided']} undecided")
    tail.append(_counted(counts["roots"], "root"))
    line = f"{' and '.join(parts)}: {', '.join(tail)}"
    return line + (f"; {counts['unchecked']} not checked" if counts["unchecked"] else "")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def coarse(audit: Audit, everywhere: bool = False) -> list[Figure]:
    """The coarse figures that stand beside wrong ones, or all of them."""
    wrong = {id(f.claim) for f in audit.figures if f.verdict is Verdict.REFUTED}
    return [f for f in audit.figures if f.coarse and (everywhere or id(f.claim) in wrong)]


def coarsely(figure: Figure) -> str:
    """What is to be said of a coarse figure, in a sentence."""
    finer = f": {figure.correct}" if figure.correct else ""
    return f"{figure.label} is printed {figure.text}, but is not whole{finer}"


def grouped(audit: Audit) -> list[tuple[Figure, list[Figure]]]:
    """Every root, or figure with rounded inputs, with what is carried from it.

    A figure that carries several roots stands with the first.
    """
    groups: dict[int, tuple[Figure, list[Figure]]] = {}
    for figure in audit.figures:
        if figure.cause and figure.cause != "carried":
            groups[figure.order] = (figure, [])
    for figure in audit.figures:
        if figure.cause == "carried":
            origin = origins(figure)[0]
            if origin.order in groups:
                groups[origin.order][1].append(figure)
    return list(groups.values())


def origins(figure: Figure) -> list[Figure]:
    """The figures that are wrong in themselves from which this one carries."""
    found: dict[int, Figure] = {}
    waiting, seen = [figure], set()
    while waiting:
        current = waiting.pop()
        if current.order in seen:
            continue
        seen.add(current.order)
        if current.cause != "carried":
            found[current.order] = current
        waiting += [f for f in current.because if f.verdict is Verdict.REFUTED]
    return [found[order] for order in sorted(found)] or [figure]


def as_dict(audit: Audit) -> dict[str, Any]:
    """The audit as plain data: what ``--format json`` prints."""
    return {
        "case": audit.case.name,
        "summary": audit.summary,
        "claims": [
            *(_figure(audit, figure) for figure in audit.figures),
            *(_statement(statement) for statement in audit.statements),
        ],
        "roots": [
            {
                "where": root.claim.where,
                "of": root.label,
                "printed": root.text,
                "correct": root.correct,
                "slip": root.slip or None,
                "reason": root.reason,
                "line": root.claim.line,
            }
            for root in audit.roots
        ],
        "causes": [_cause(slip) for slip in audit.causes],
        "unchecked": [
            {"where": item.where, "what": item.what, "reason": item.reason}
            for item in audit.unchecked
        ],
        "habit": audit.habit or None,
    }


def _cause(slip: Slip) -> dict[str, Any]:
    """A slip behind many figures; these by their place among the claims."""
    return {
        "kind": slip.kind,
        "sentence": slip.sentence,
        "bits": slip.bits,
        "coverage": slip.coverage,
        "reproduces": [figure.order for figure in slip.reproduces],
        "follows": [figure.order for figure in slip.follows],
        "breaks": [figure.order for figure in slip.breaks],
        "rivals": list(slip.rivals),
    }


def _figure(audit: Audit, figure: Figure) -> dict[str, Any]:
    return {
        "where": figure.claim.where,
        "of": figure.claim.of,
        "arithmetic": figure.claim.is_arithmetic,
        "at": list(figure.at),
        "printed": figure.text,
        "correct": figure.correct,
        "exact": figure.exact or None,
        "verdict": str(figure.verdict),
        "cause": figure.cause or None,
        "because": [f"{f.claim.where}: {f.label}" for f in figure.because],
        "cause_of": audit.causes.index(figure.explained) if figure.explained else None,
        "candidates": [
            {"sentence": sentence, "bits": round(bits, 1)} for sentence, bits in figure.candidates
        ],
        "slip": figure.slip or None,
        "reason": figure.reason or None,
        "vacuous": figure.vacuous,
        "coarse": figure.coarse,
        "line": figure.claim.line,
    }


def _statement(statement: Statement) -> dict[str, Any]:
    claim = statement.claim
    return {
        "where": claim.where,
        "of": claim.holds,
        "arithmetic": False,
        "at": [],
        "printed": None,
        "correct": None,
        "exact": None,
        "verdict": str(statement.verdict),
        "cause": None,
        "because": [],
        "cause_of": None,
        "candidates": [],
        "slip": None,
        "reason": None,
        "vacuous": False,
        "coarse": False,
        "line": claim.line,
    }


def _findings(audit: Audit) -> Iterator[tuple[str, int, str]]:
    """Rule, line and message of everything that does not hold."""
    for figure in audit.figures:
        if figure.verdict is Verdict.REFUTED:
            message = (
                f"{figure.claim.where}: {figure.label} is printed {figure.text}, "
                f"correct is {figure.correct} ({figure.reason})"
            )
            yield figure.cause, figure.claim.line, message
        elif figure.verdict is Verdict.UNDECIDED:
            where = f"{figure.claim.where}: {figure.label}"
            yield "undecided", figure.claim.line, f"{where} could not be decided"
        elif figure.coarse:
            yield "coarse", figure.claim.line, f"{figure.claim.where}: {coarsely(figure)}"
    for statement in audit.statements:
        if statement.verdict is not Verdict.HOLDS:
            rule = "statement" if statement.verdict is Verdict.REFUTED else "undecided"
            says = "does not hold" if rule == "statement" else "could not be decided"
            message = f"{statement.claim.where}: {statement.claim.holds} {says}"
            yield rule, statement.claim.line, message


#: Rules of what is no error of its own, or none for certain.
_NOTES = ("carried", "undecided", "rounded-inputs", "coarse")


def github(audits: list[Audit]) -> str:
    """Annotations that point at the claims' lines, as GitHub's workflow
    commands have them."""
    lines = []
    for audit in audits:
        path = escaping.annotation_property(_path(audit))
        for rule, line, message in _findings(audit):
            kind = "warning" if rule in _NOTES else "error"
            text = escaping.annotation(message)
            lines.append(f"::{kind} file={path},line={max(line, 1)},title={rule}::{text}")
    return "\n".join(lines)


def sarif(audits: list[Audit], version: str) -> str:
    """A SARIF 2.1.0 log with one run."""
    results = [
        {
            "ruleId": rule,
            "level": "note" if rule in _NOTES else "error",
            "message": {"text": escaping.log_message(message)},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": _uri(audit)},
                        "region": {"startLine": max(line, 1)},
                    }
                }
            ],
        }
        for audit in audits
        for rule, line, message in _findings(audit)
    ]
    rules = [{"id": rule, "shortDescription": {"text": text}} for rule, text in RULES.items()]
    driver = {"name": "symattn", "version": version, "rules": rules}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return escaping.json_text(log)


def _path(audit: Audit) -> str:
    path = audit.case.path
    if path is None:
        return audit.case.name
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()


def _uri(audit: Audit) -> str:
    path = Path(_path(audit))
    return path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))


def errata(audit: Audit) -> str:
    """A short, polite text in Markdown that can be sent to the author."""
    lines = [f"# Errata: {markdown(audit.case.title)}", ""]
    roots = grouped(audit)
    wrong = [s for s in audit.statements if s.verdict is Verdict.REFUTED]
    if not roots and not wrong:
        count = len(audit.figures)
        checked = f"All {count} figures" if count else "All statements"
        lines += [
            "Thank you for this walkthrough. "
            f"{checked} that could be checked agree with the exact values.",
            "",
            *_coarse_rows(audit),
        ]
        return "\n".join(lines)
    lines += [
        "Thank you for this walkthrough. In working it through with exact arithmetic, these "
        f"figures came out differently. {summary_line(audit)}.",
        "",
    ]
    if roots:
        lines += ["| where | quantity | printed | correct | why |", "|---|---|---|---|---|"]
        for root, carried in roots:
            why = root.reason
            if carried:
                why += f"; {_counted(len(carried), 'further figure')} follow"
                why += "s" if len(carried) == 1 else ""
            lines.append(_row(root, why))
        lines.append("")
    follow = [f for _, carried in roots for f in carried]
    if follow:
        lines += ["With these corrected, the following become:", ""]
        lines += ["| where | quantity | printed | correct |", "|---|---|---|---|"]
        for figure in sorted(follow, key=lambda f: f.order):
            lines.append(_row(figure))
        lines.append("")
    lines += _coarse_rows(audit)
    if wrong:
        lines += ["These statements do not hold for the numbers given:", ""]
        lines += [
            f"- {markdown_start(s.claim.where)}: {markdown_code(s.claim.holds)}" for s in wrong
        ]
        lines.append("")
    return "\n".join(lines)


def _coarse_rows(audit: Audit) -> Iterator[str]:
    """The coarse figures as a table in Markdown."""
    figures = coarse(audit, everywhere=True)
    if figures:
        yield from ("These figures are printed as whole numbers, but are not whole:", "")
        yield from ("| where | quantity | printed | finer |", "|---|---|---|---|")
        yield from (*map(_row, figures), "")


def _row(figure: Figure, *more: str) -> str:
    """A figure as a row of a Markdown table."""
    after = (markdown(text) for text in (figure.text, figure.correct, *more))
    return f"| {' | '.join((markdown(figure.claim.where), markdown_code(figure.label), *after))} |"
