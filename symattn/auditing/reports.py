"""An audit written down: for people, for machines, for authors.

What became of the numbers that an article prints: silence would read as approval.

Where in its file something stands that an audit speaks of.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, get_args
from urllib.parse import quote

from symattn import escaping
from symattn.auditing import understanding
from symattn.auditing.audit import Audit
from symattn.auditing.figures import NO_CAUSE, Figure, Slip, Statement, behind
from symattn.cases.case import Case
from symattn.documents.article import CellPlace, ParagraphPlace
from symattn.documents.reading import ArticleNumber, Status
from symattn.documents.text import Span
from symattn.escaping import markdown, markdown_code, markdown_start
from symattn.expressions.shapes import keys
from symattn.languages.sentence import Sentence, joined
from symattn.verdicts import Verdict


class SourceRegion(NamedTuple):
    """A part of a file: lines and columns count from 1, and it ends before ``end_column``
    of ``end_line``. In a case file only the line is known; 0: not even that. In a Word
    document lines are those of its text."""

    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    cell: CellPlace | None = None
    paragraph: ParagraphPlace | None = None

    def __str__(self) -> str:
        if self.paragraph:
            return f" {self.paragraph.name}"
        if self.cell:
            return f" {self.cell.name}, line {self.cell.line}"
        return f"{self.line}" if self.column is None else f"{self.line}:{self.column}"


def file_of(case: Case) -> str:
    """The file of a case as reports name it: seen from the folder that one stands in."""
    return case.name if case.path is None else _seen(case.path, Path.cwd())


@lru_cache(maxsize=64)
def _seen(path: Path, folder: Path) -> str:
    """A path as it is seen from a folder; outside of it as it is."""
    try:
        return path.resolve().relative_to(folder).as_posix()
    except ValueError:
        return path.as_posix()


def spanned(case: Case, span: Span) -> SourceRegion:
    """Return where characters of an article stand."""
    assert case.reading is not None
    article = case.reading.article
    first, last = article.place(span.start), article.place(max(span.end - 1, span.start))
    behind = last.column + (1 if span.end > span.start else 0)
    cell, paragraph = article.cell(span.start), article.paragraph(span.start)
    return SourceRegion(first.line, first.column, last.line, behind, cell, paragraph)


def region(case: Case, judged: Figure | Statement) -> SourceRegion:
    """Return where a figure or a statement stands."""
    span = judged.span if isinstance(judged, Figure) else judged.claim.span
    return SourceRegion(judged.claim.line) if span is None else spanned(case, span)


def where(case: Case, judged: Figure | Statement) -> str:
    """Return where it stands, for a reader: what its claim says of that, and in an article the
    line and the column."""
    if judged.claim.span is None:
        return judged.claim.where
    assert case.reading is not None
    article = case.reading.article
    at = place(case, (judged.span if isinstance(judged, Figure) else None) or judged.claim.span)
    if judged.claim.where == article.said(judged.claim.span.start):
        return at
    return Sentence("{where} ({place})", where=judged.claim.where, place=at)


def place(case: Case, span: Span) -> Sentence:
    """Return where something begins in an article, for a reader: its line and its column."""
    assert case.reading is not None
    article = case.reading.article
    if paragraph := article.paragraph(span.start):
        return paragraph.name
    column = (article.cell(span.start) or article.place(span.start)).column
    return joined((article.said(span.start), Sentence("column {column}", column=column)))


def _place_as_dict(case: Case, place: SourceRegion) -> dict[str, Any]:
    """A place as plain data, with the same keys whatever is known of it."""
    cell = place.cell._asdict() if place.cell else None
    paragraph = place.paragraph._asdict() if place.paragraph else None
    file = file_of(case) if case.path else None
    return {"file": file, **place._asdict(), "cell": cell, "paragraph": paragraph}


#: So many lines are named.
_LINES = 12


_BY_STATUS = {
    "bound": "{count} bound",
    "local": "{count} local",
    "given": "{count} given",
    "ignored": "{count} ignored",
}


def counts(numbers: Sequence[ArticleNumber]) -> dict[str, int]:
    """Return how many numbers there are, and how many of each status."""
    counts = Counter(number.status for number in numbers)
    return {"numbers": len(numbers)} | {name: counts[name] for name in get_args(Status)}


def with_status(numbers: Sequence[ArticleNumber], status: Status) -> list[ArticleNumber]:
    """Return those of some numbers that have that status, in order."""
    return [number for number in numbers if number.status == status]


def line(audit: Audit) -> str:
    """Return what became of the numbers of an article, in a sentence; '' without one."""
    return sentence(audit.case, audit.numbers) if audit.case.reading is not None else ""


def sentence(case: Case, numbers: Sequence[ArticleNumber]) -> str:
    """Return what became of the numbers that the article of a case prints.

    ``12 numbers: 8 bound, 2 local, 1 given, 1 not read (line 40)``.
    """
    count = counts(numbers)
    parts = [Sentence(_BY_STATUS[name], count=count[name]) for name in _BY_STATUS if count[name]]
    if unread := with_status(numbers, "unread"):
        at = lines((number.span for number in unread), case)
        parts.append(Sentence("{count} not read ({lines})", count=len(unread), lines=at))
    total = count["numbers"]
    head = Sentence("1 number" if total == 1 else "{count} numbers", count=total)
    return joined((head, joined(parts)), ": ") if parts else head


def lines(places: Iterable[Span | int], case: Case | None = None) -> Sentence:
    """The lines of places as they are named: ``lines 12, 40, 41``, of many the first; in a
    notebook cell by cell."""
    if case is None or case.reading is None:
        return _numbered(place for place in places if isinstance(place, int))
    article = case.reading.article
    cells: dict[Sentence | None, list[int]] = {}
    starts = sorted(place.start for place in places if not isinstance(place, int))
    if article.paragraphs:
        return _named(dict.fromkeys(article.said(start) for start in starts))
    for start in starts:
        cell = article.cell(start)
        line = (cell or article.place(start)).line
        cells.setdefault(cell.name if cell else None, []).append(line)
    return _named(joined(filter(None, (cell, _numbered(of)))) for cell, of in cells.items())


def _named(places: Iterable[Sentence]) -> Sentence:
    """Places one after the other, of many the first."""
    several = list(places)
    if len(several) <= _LINES:
        return joined(several, "; ")
    first, count = joined(several[:_LINES], "; "), len(several) - _LINES
    return Sentence("{lines} and {count} more", lines=first, count=count)


def _numbered(numbers: Iterable[int]) -> Sentence:
    distinct = sorted(set(numbers))
    if len(distinct) == 1:
        return Sentence("line {line}", line=distinct[0])
    listed = ", ".join(map(str, distinct[:_LINES]))
    if len(distinct) <= _LINES:
        return Sentence("lines {lines}", lines=listed)
    return Sentence("lines {lines} and {count} more", lines=listed, count=len(distinct) - _LINES)


def dictionary(case: Case, numbers: Sequence[ArticleNumber]) -> dict[str, Any]:
    """The counts as plain data, with the places of what was not read or is no claim."""
    return {
        **counts(numbers),
        "unread_at": _places(case, with_status(numbers, "unread")),
        "ignored_at": _places(case, with_status(numbers, "ignored")),
        "notes": list(case.reading.article.notes) if case.reading else [],
    }


def _places(case: Case, numbers: Sequence[ArticleNumber]) -> list[dict[str, Any]]:
    return [
        {
            **_place_as_dict(case, spanned(case, number.span)),
            "text": number.text,
            "why": number.why or None,
        }
        for number in numbers
    ]


_COUNTS = {
    "coarse": "{count} coarse",
    "within_rounding": "{count} within rounding",
    "as_printed": "{count} as printed",
    "refuted": "{count} refuted",
    "undecided": "{count} undecided",
    "unchecked": "{count} not checked",
}


def summary_line(audit: Audit) -> Sentence:
    """The counts in one sentence."""
    count = audit.summary
    if not (count["figures"] or count["statements"] or count["unchecked"]):
        return Sentence("No figures to judge")

    def counted(*names: str) -> list[Sentence]:
        return [Sentence(_COUNTS[name], count=count[name]) for name in names if count[name]]

    figures, statements, holds, roots = (
        count[name] for name in ("figures", "statements", "holds", "roots")
    )
    judged = Sentence("1 figure" if figures == 1 else "{count} figures", count=figures)
    if statements:
        more = Sentence(
            "1 statement" if statements == 1 else "{count} statements", count=statements
        )
        judged = Sentence("{first} and {second}", first=judged, second=more)
    hold = Sentence("1 holds" if holds == 1 else "{count} hold", count=holds)
    if less := counted("coarse", "within_rounding", "as_printed"):
        hold = Sentence("{holds} ({less})", holds=hold, less=joined(less))
    outcomes = joined(
        (
            hold,
            Sentence(_COUNTS["refuted"], count=count["refuted"]),
            *counted("undecided"),
            Sentence("1 root" if roots == 1 else "{count} roots", count=roots),
        )
    )
    line = joined((judged, outcomes), ": ")
    unchecked = counted("unchecked")
    return joined((line, *unchecked), "; ") if unchecked else line


def coarse(audit: Audit, everywhere: bool = False) -> list[Figure]:
    """The coarse figures that stand beside wrong ones, or all of them."""
    wrong = {id(f.claim) for f in audit.figures if f.verdict is Verdict.REFUTED}
    return [f for f in audit.figures if f.coarse and (everywhere or id(f.claim) in wrong)]


def coarse_sentence(figure: Figure) -> str:
    """Return what is to be said of a coarse figure, in a sentence."""
    finer = f": {figure.correct}" if figure.correct else ""
    return f"{figure.label} is printed as {figure.text}, but is not a whole number{finer}"


def within_rounding(audit: Audit) -> list[Figure]:
    """The figures within rounding, but those that are wrong as the value of a quantity."""
    wrong = {f.span for f in audit.figures if f.span and f.verdict is Verdict.REFUTED}
    return [f for f in audit.figures if f.within_rounding and f.span not in wrong]


def as_printed_sentence(figure: Figure) -> str:
    """Return what is to be said of a figure that its own equation gives, in a sentence."""
    return Sentence(
        "{figure} = {text} holds as printed; the exact value is {exact}",
        figure=figure.label,
        text=figure.text,
        exact=figure.correct,
    )


def grouped(audit: Audit) -> list[tuple[Figure, list[Figure]]]:
    """Every root, or figure with rounded inputs, with what is propagated from it.

    First those of a cause, then those that none was found for, then the rest. A
    figure that several roots lead to stands with the first.
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
            orders = (origin.order for origin in leading if origin.order in groups)
            groups[next(orders)][1].append(figure)

    def rank(group: tuple[Figure, list[Figure]]) -> tuple[int, int, int]:
        number = cause_number(audit, group[0])
        kind = 0 if number else 1 if _is_unexplained(group[0]) else 2
        return kind, number or 0, group[0].order

    return sorted(groups.values(), key=rank)


def cause_number(audit: Audit, figure: Figure) -> int | None:
    """Return which of the causes explains a figure, counted from 1; None where none does."""
    return audit.causes.index(figure.explained) + 1 if figure.explained else None


def _is_unexplained(figure: Figure) -> bool:
    return figure.cause == "root" and figure.reason.startswith(NO_CAUSE)


def several_unexplained(audit: Audit) -> bool:
    """Return whether no cause was found for more than one root: that is not repeated for each."""
    return sum(map(_is_unexplained, audit.figures)) > 1


def rivals_sentence(slip: Slip) -> str:
    """The slips that no figure tells from this one, in a sentence; '' where there is none."""
    if not slip.rivals:
        return ""
    return Sentence(
        "Equally likely: {slips}. No figure distinguishes them.", slips=joined(slip.rivals, "; ")
    )


def why(audit: Audit, figure: Figure) -> str:
    """Return why a figure is wrong, where the causes are told before: by the number of its own."""
    number = cause_number(audit, figure)
    if number is None:
        return figure.reason
    cause = Sentence("cause {number}", number=number)
    sentence = audit.causes[number - 1].sentence
    match figure.reason:
        case str(reason) if reason == sentence:
            return cause
        case Sentence(pieces={"part_0": first, **rest}) if first == sentence:
            return joined((cause, *(part for part in rest.values() if isinstance(part, str))), "; ")
        case reason:
            return joined((cause, reason), "; ")


def cause_sentence(audit: Audit, figure: Figure, several: bool) -> str:
    """The cause of a figure; where ``several`` roots have no cause, none says so."""
    if several and _is_unexplained(figure):
        return figure.reason.removeprefix(NO_CAUSE).removeprefix("; ")
    return why(audit, figure)


def propagated(count: int) -> Sentence:
    """Return how many other figures are wrong because of one."""
    return Sentence(
        "1 more figure is wrong because of it"
        if count == 1
        else "{count} more figures are wrong because of it",
        count=count,
    )


def propagated_line(audit: Audit, figures: Sequence[Figure], most: int = 6) -> str:
    """Propagated figures as a count, with what they are of: ``A[0, 0] (9 times), Y[0, 2]``;
    '' for none.

    Where there are too many entries, their quantities are told.
    """
    if not figures:
        return ""
    names = [_entry(audit, figure) for figure in figures]
    if len(set(names)) > most:
        names = [
            str(figure.term.parts[0]) if figure.term.op == "entry" else figure.label
            for figure in figures
        ]
    counts = list(Counter(names).items())[:most]
    phrases = [name + f" ({count} times)" * (count > 1) for name, count in counts]
    more = len(figures) - sum(count for _, count in counts)
    tail = f" and {more} more" if more else ""
    return f"{propagated(len(figures))}: {', '.join(phrases)}{tail}"


def _entry(audit: Audit, figure: Figure) -> str:
    """Return what a figure is of: ``A[0, 2]`` for ``A[0][2]``."""
    if figure.term.op != "entry":
        return figure.label
    name, i, j = figure.term.parts
    place = keys(audit.case.program.named[name].shape, i, j)
    return f"{name}[{', '.join(map(str, place))}]" if place else name


def origins(figure: Figure) -> list[Figure]:
    """The roots that this figure is wrong because of, itself where it is one."""
    roots = [
        source
        for source in behind(figure, lambda source: source.why)
        if source.verdict is Verdict.REFUTED and source.cause != "carried"
    ]
    return sorted(roots, key=lambda root: root.order) or [figure]


def as_dict(audit: Audit) -> dict[str, Any]:
    """The audit as plain data: what ``--format json`` prints."""
    case = audit.case
    return {
        "case": case.name,
        "file": file_of(case) if case.path else None,
        "summary": audit.summary,
        "causes": [_cause(slip) for slip in audit.causes],
        "claims": [
            *(_claim(audit, figure) for figure in audit.figures),
            *(_claim(audit, statement) for statement in audit.statements),
        ],
        "roots": [
            {
                "where": root.claim.where,
                "of": root.label,
                "printed": root.text,
                "correct": root.correct,
                "slip": root.slip or None,
                "reason": root.reason,
                **_place_as_dict(case, region(case, root)),
            }
            for root in audit.roots
        ],
        "unchecked": [
            {"where": item.where, "what": item.what, "reason": item.reason}
            for item in audit.unchecked
        ],
        "habit": audit.habit or None,
        "coverage": dictionary(case, audit.numbers) if case.reading else None,
        "assumptions": list(audit.assumptions),
        "understood": {
            "summary": list(understanding.summary(audit)),
            "note": _note_as_dict(understanding.remedy(audit)),
        },
        "unread": [_group(case, group) for group in understanding.unread_groups(audit)],
        "open": [
            {"what": item.what, "why": item.why, **_place_as_dict(case, spanned(case, item.span))}
            for item in audit.open
        ],
    }


def _note_as_dict(note: understanding.Note | None) -> dict[str, Any] | None:
    """A note to add, and the line to put it before."""
    return (
        None if note is None else {"text": note.text, "line": note.line or None, "when": note.when}
    )


def _group(case: Case, group: understanding.Group) -> dict[str, Any]:
    """Numbers that share a reason."""
    return {
        "why": group.reason,
        "count": len(group.items),
        "lines": sorted({spanned(case, span).line for span in group.spans}),
        "note": _note_as_dict(group.note),
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


def _claim(audit: Audit, judged: Figure | Statement) -> dict[str, Any]:
    """A figure or a statement, with the same keys in the same order."""
    claim, figure = judged.claim, judged if isinstance(judged, Figure) else None
    because = figure.because if figure else ()
    candidates = figure.candidates if figure else ()
    slip = figure.explained if figure else None
    return {
        "where": claim.where,
        "of": claim.text,
        "arithmetic": claim.is_arithmetic,
        "at": [*figure.at] if figure else [],
        "printed": figure.text if figure else None,
        "correct": figure.correct if figure else None,
        "exact": (figure.exact or None) if figure else None,
        "verdict": str(judged.verdict),
        "cause": (figure.cause or None) if figure else None,
        "because": [f"{source.claim.where}: {source.label}" for source in because],
        "cause_of": audit.causes.index(slip) if slip else None,
        "candidates": [{"sentence": said, "bits": round(bits, 1)} for said, bits in candidates],
        "slip": (figure.slip or None) if figure else None,
        "reason": (judged.reason if isinstance(judged, Figure) else judged.doubt) or None,
        "vacuous": figure is not None and figure.vacuous,
        "coarse": figure is not None and figure.coarse,
        "as_printed": figure is not None and figure.as_printed,
        "within_rounding": judged.within_rounding,
        "status": "local" if claim.is_local else "bound",
        "confirmed": bool(claim.doubt),
        "basis": claim.basis,
        **_place_as_dict(audit.case, region(audit.case, judged)),
    }


# -- an audit for machines that mark lines of files --------------------------------------
# GitHub's annotations, and SARIF.
#
# An audit as a text that can be sent to the author.

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
            yield _Finding("as-printed", at, f"{where}{as_printed_sentence(figure)}")
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
    """Yield what is said of how an article was read."""
    for item in audit.open:
        yield _Finding("open", spanned(audit.case, item.span), f"{item.what}: {item.why}")
    for sentence in audit.assumptions:
        yield _Finding("assumption", SourceRegion(0), sentence)
    notes = audit.case.reading.article.notes if audit.case.reading else ()
    for remark in filter(None, (*notes, line(audit))):
        yield _Finding("coverage", SourceRegion(0), remark)


def _where(judged: Figure | Statement) -> str:
    """Return where a document says it, unless that is an article, whose places are told."""
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
    """Yield how an article was read: what was assumed and left open, and what was not read."""
    if audit.assumptions:
        yield from ("Assumptions:", "")
        yield from (*(f"- {markdown_start(sentence)}" for sentence in audit.assumptions), "")
    if audit.open:
        yield from ("What could not be judged:", "")
        for group in understanding.open_groups(audit):
            at = lines(group.spans, audit.case)
            what = ", ".join(dict.fromkeys(markdown_code(item.what) for item in group.items[:4]))
            more = f" and {len(group.items) - 4} more" if len(group.items) > 4 else ""
            why = group.items[0].why if len(group.items) == 1 else group.reason
            yield f"- {at}, {what}{more}: {markdown(why)}"
        yield ""
    if summary := line(audit):
        yield from (f"How the text was read: {summary}.", "")


def _row(audit: Audit, figure: Figure, *more: str) -> str:
    """A figure as a row of a Markdown table."""
    before = (markdown(where(audit.case, figure)), markdown_code(figure.label))
    after = (markdown(text) for text in (figure.text, figure.correct, *more))
    return f"| {' | '.join((*before, *after))} |"


def _within_rounding(figure: Figure) -> str:
    """Return what is to be said of a figure within rounding, in a sentence."""
    gives = f" (as printed they give {figure.correct})" if figure.correct else ""
    holds = f"which holds only within the rounding of its operands{gives}"
    return f"{figure.label} is printed as {figure.text}, {holds}"
