"""An audit written down: for people, for machines, for authors."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from symattn import escaping
from symattn.auditing.audit import Audit
from symattn.auditing.figures import Figure, Slip, Statement
from symattn.auditing.naming import NO_CAUSE
from symattn.escaping import markdown, markdown_code, markdown_start
from symattn.languages.sentence import Sentence, joined
from symattn.shapes import keys
from symattn.verdicts import Verdict

#: What each rule of a SARIF log means; the identifiers are stable.
RULES = {
    "cause": "A slip in the recipe explains many wrong figures at once.",
    "truncated": "A figure is cut off behind its last place instead of rounded.",
    "rounded-inputs": "A figure was computed from rounded figures, and shows it.",
    "carried": "A figure is wrong because figures that it was computed from are.",
    "root": "A figure is wrong in itself.",
    "last-digit": "A figure is off by one unit in its last place.",
    "statement": "A statement does not hold.",
    "coarse": "A figure that is not whole is printed as a whole number.",
    "undecided": "A figure or statement could not be decided.",
}


def summary_line(audit: Audit) -> Sentence:
    """The counts in one sentence."""
    count = audit.summary
    judged = [_figures(count["figures"])]
    if one := count["statements"]:
        many = Sentence("{count} statements", count=one)
        judged.append(Sentence("1 statement") if one == 1 else many)
    holds = Sentence("{count} hold", count=count["holds"])
    if count["holds"] == 1:
        holds = Sentence("1 holds")
    less = []
    if count["coarse"]:
        less.append(Sentence("{count} coarse", count=count["coarse"]))
    if count["within_rounding"]:
        less.append(Sentence("{count} within rounding", count=count["within_rounding"]))
    if less:
        holds = Sentence("{holds} ({less})", holds=holds, less=joined(less))
    tail = [holds, Sentence("{count} refuted", count=count["refuted"])]
    if count["undecided"]:
        tail.append(Sentence("{count} undecided", count=count["undecided"]))
    roots = Sentence("{count} roots", count=count["roots"])
    tail.append(Sentence("1 root") if count["roots"] == 1 else roots)
    line = joined((_both(*judged), joined(tail)), ": ")
    if not count["unchecked"]:
        return line
    return joined((line, Sentence("{count} not checked", count=count["unchecked"])), "; ")


def _figures(count: int) -> Sentence:
    return Sentence("1 figure") if count == 1 else Sentence("{count} figures", count=count)


def _both(first: Sentence, *second: Sentence) -> Sentence:
    return Sentence("{first} and {second}", first=first, second=second[0]) if second else first


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

    First those of a cause, then those that none was found for, then the rest. A
    figure that carries several roots stands with the first.
    """
    groups: dict[int, tuple[Figure, list[Figure]]] = {
        figure.order: (figure, [])
        for figure in audit.figures
        if figure.cause and figure.cause != "carried"
    }
    for figure in audit.figures:
        if figure.cause == "carried":
            slip = figure.explained
            leading = [*(slip.explains if slip else ()), *origins(figure)]
            orders = (one.order for one in leading if one.order in groups)
            groups[next(orders)][1].append(figure)

    def rank(group: tuple[Figure, list[Figure]]) -> tuple[int, int, int]:
        number = cause_number(audit, group[0])
        kind = 0 if number else 1 if is_unexplained(group[0]) else 2
        return kind, number or 0, group[0].order

    return sorted(groups.values(), key=rank)


def cause_number(audit: Audit, figure: Figure) -> int | None:
    """Which of the causes explains a figure, counted from 1; None where none does."""
    return audit.causes.index(figure.explained) + 1 if figure.explained else None


def is_unexplained(figure: Figure) -> bool:
    """Whether it is a root that no cause was found for."""
    return figure.cause == "root" and figure.reason.startswith(NO_CAUSE)


def what_else(figure: Figure) -> str:
    """What is said of a root besides that no cause was found; '' for nothing."""
    return figure.reason.removeprefix(NO_CAUSE).removeprefix("; ")


def no_common_cause(audit: Audit) -> str:
    """What is said of the roots without a cause, where there are several; else ''."""
    count = sum(map(is_unexplained, audit.figures))
    if count < 2:
        return ""
    return f"These {_number(count)} figures have no common cause that I can find."


def _number(count: int) -> str:
    words = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[count - 2] if count - 2 < len(words) else str(count)


def just_as_well(slip: Slip) -> str:
    """The slips that no figure tells from this one, in a sentence; '' where there is none."""
    if not slip.rivals:
        return ""
    return Sentence(
        "Just as well: {slips}. No figure tells them apart.", slips=joined(slip.rivals, "; ")
    )


def why(audit: Audit, figure: Figure) -> str:
    """Why a figure is wrong, where the causes are told before: by the number of its own."""
    number = cause_number(audit, figure)
    if number is None:
        return figure.reason
    cause = Sentence("cause {number}", number=number)
    told = audit.causes[number - 1].sentence
    match figure.reason:
        case str(reason) if reason == told:
            return cause
        case Sentence(pieces={"part_0": first, **rest}) if first == told:
            return joined((cause, *(part for part in rest.values() if isinstance(part, str))), "; ")
        case reason:
            return joined((cause, reason), "; ")


def folded(audit: Audit, figures: Sequence[Figure], most: int = 6) -> str:
    """Carried figures as a count: ``13 more carry it: A[0, 0] (9 times), Y[0, 2]``; '' for none.

    Where too many entries carry it, their quantities are told.
    """
    if not figures:
        return ""
    names = [_entry(audit, figure) for figure in figures]
    if len(set(names)) > most:
        names = [_quantity(figure) for figure in figures]
    times = Counter(names)
    shown = list(times.items())[:most]
    said = [name + f" ({count} times)" * (count > 1) for name, count in shown]
    more = len(figures) - sum(count for _, count in shown)
    carry = "carries" if len(figures) == 1 else "carry"
    tail = f" and {more} more" if more else ""
    return f"{len(figures)} more {carry} it: {', '.join(said)}{tail}"


def _quantity(figure: Figure) -> str:
    return str(figure.term.parts[0]) if figure.term.op == "entry" else figure.label


def _entry(audit: Audit, figure: Figure) -> str:
    """What a figure is of: ``A[0, 2]`` for ``A[0][2]``."""
    if figure.term.op != "entry":
        return figure.label
    name, i, j = figure.term.parts
    place = keys(audit.case.program.named[name].shape, i, j)
    return f"{name}[{', '.join(map(str, place))}]" if place else name


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
        "causes": [_cause(slip) for slip in audit.causes],
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
        "within_rounding": figure.within_rounding,
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
        "within_rounding": statement.within_rounding,
        "line": claim.line,
    }


class _Finding(NamedTuple):
    """Something that does not hold: its rule, line and message, and the figures it is about."""

    rule: str
    line: int
    message: str
    others: tuple[Figure, ...] = ()
    slip: Slip | None = None


def _findings(audit: Audit) -> list[_Finding]:
    """All that does not hold: causes, then what is wrong in itself, then the rest."""
    found = sorted(_single_findings(audit), key=lambda finding: finding.rule in _NOTES)
    return [*_causes(audit), *found]


def _causes(audit: Audit) -> Iterator[_Finding]:
    """Every cause once, at its first figure."""
    for number, slip in enumerate(audit.causes, 1):
        first, *others = slip.explains
        message = f"cause {number}: {slip.sentence} {just_as_well(slip)}".rstrip()
        yield _Finding("cause", first.claim.line, message, tuple(others), slip)


def _single_findings(audit: Audit) -> Iterator[_Finding]:
    for figure in audit.figures:
        if figure.verdict is Verdict.REFUTED:
            message = f"{_said(figure)} ({why(audit, figure)})"
            yield _Finding(figure.cause, figure.claim.line, message)
        elif figure.verdict is Verdict.UNDECIDED:
            where = f"{figure.claim.where}: {figure.label}"
            yield _Finding("undecided", figure.claim.line, f"{where} could not be decided")
        elif figure.coarse:
            message = f"{figure.claim.where}: {coarsely(figure)}"
            yield _Finding("coarse", figure.claim.line, message)
    for statement in audit.statements:
        if statement.verdict is not Verdict.HOLDS:
            rule = "statement" if statement.verdict is Verdict.REFUTED else "undecided"
            says = "does not hold" if rule == "statement" else "could not be decided"
            message = f"{statement.claim.where}: {statement.claim.holds} {says}"
            yield _Finding(rule, statement.claim.line, message)


def _said(figure: Figure) -> str:
    """A wrong figure with the right one."""
    return (
        f"{figure.claim.where}: {figure.label} is printed {figure.text}, "
        f"correct is {figure.correct}"
    )


#: Rules of what is no error of its own, or none for certain.
_NOTES = ("carried", "undecided", "rounded-inputs", "coarse")


def github(audits: list[Audit]) -> str:
    """Annotations that point at the claims' lines, as GitHub's workflow
    commands have them."""
    lines = []
    for audit in audits:
        path = escaping.annotation_property(_path(audit))
        for rule, line, message, *_ in _findings(audit):
            kind = "warning" if rule in _NOTES else "error"
            text = escaping.annotation(message)
            lines.append(f"::{kind} file={path},line={max(line, 1)},title={rule}::{text}")
    return "\n".join(lines)


def sarif(audits: list[Audit], version: str) -> str:
    """A SARIF 2.1.0 log with one run."""
    results = [_result(audit, finding) for audit in audits for finding in _findings(audit)]
    rules = [{"id": rule, "shortDescription": {"text": text}} for rule, text in RULES.items()]
    driver = {"name": "symattn", "version": version, "rules": rules}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return escaping.json_text(log)


def _result(audit: Audit, finding: _Finding) -> dict[str, Any]:
    """A finding as a SARIF log has it; a cause with its measure, and all figures that follow."""
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": "note" if finding.rule in _NOTES else "error",
        "message": {"text": escaping.log_message(finding.message)},
        "locations": [_location(audit, finding.line)],
    }
    if finding.others:
        result["relatedLocations"] = [
            {
                **_location(audit, figure.claim.line),
                "message": {"text": escaping.log_message(_said(figure))},
            }
            for figure in finding.others
        ]
    if slip := finding.slip:
        measure = {"kind": slip.kind, "bits": slip.bits, "coverage": slip.coverage}
        result["properties"] = {**measure, "rivals": list(slip.rivals)}
    return result


def _location(audit: Audit, line: int) -> dict[str, Any]:
    region = {"startLine": max(line, 1)}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(audit)}, "region": region}}


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
    lines += _cause_items(audit)
    if roots:
        lines += ["| where | quantity | printed | correct | why |", "|---|---|---|---|---|"]
        for root, carried in roots:
            reason = why(audit, root)
            if carried:
                reason += f"; {_counted(len(carried), 'further figure')} follow"
                reason += "s" if len(carried) == 1 else ""
            lines.append(_row(root, reason))
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


def _cause_items(audit: Audit) -> Iterator[str]:
    """The causes as a numbered list in Markdown, each with where it is first seen."""
    if audit.causes:
        yield from ("What seems to be behind them:", "")
        for number, slip in enumerate(audit.causes, 1):
            first = slip.explains[0]
            said = f"{slip.sentence} {just_as_well(slip)}".rstrip()
            seen = f"First seen in {markdown(first.claim.where)}: {markdown_code(first.label)}"
            yield f"{number}. {markdown(said)} {seen}."
        yield ""


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
