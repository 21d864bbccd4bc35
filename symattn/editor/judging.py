"""What an editor is told of an article or a walkthrough: worked out by a worker."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path

from symattn.auditing import findings, reports, understanding
from symattn.auditing.audit import Audit, audit
from symattn.auditing.figures import Figure, Statement
from symattn.cases import library
from symattn.cases.article import case_of
from symattn.documents.reading import Reading
from symattn.documents.relocation import Memory
from symattn.editor.answers import Answer, Finding, Severity
from symattn.editor.memory import AnswerMemory
from symattn.editor.places import Places
from symattn.errors import Faulty, blamed_on
from symattn.languages.sentence import joined
from symattn.shapes import show
from symattn.solution.solution import solve
from symattn.verdicts import Verdict
from symattn.workers import Asker

#: So many hints are given, and so many figures named that another one follows from.
_HINTS, _RELATED = 200, 8
#: So many audits a worker keeps: hovers and corrections ask for them again.
_KEPT = 4


#: What was told of the last texts, and what their blocks were read as.
_ANSWERS, _BLOCKS = AnswerMemory(), Memory(1000)


@lru_cache(maxsize=_KEPT)
def _read(name: str, source: str) -> Reading | None:
    """What an article is understood to say; None of a walkthrough."""
    return library.reading(Path(name), data=source.encode(), memory=_BLOCKS)


@lru_cache(maxsize=_KEPT)
def _audited(name: str, source: str) -> Audit:
    path = Path(name)
    with blamed_on(path):
        if (reading := _read(name, source)) is not None:
            return audit(solve(case_of(reading)))
        return audit(solve(library.load(path, data=source.encode())))


def audited(asker: Asker, name: str, source: str) -> Audit:
    """The audit of a text, as the file of that name would have it. Raises :class:`Malformed`."""
    asker.stage("checking")
    return _audited(name, source)


def judge(asker: Asker, name: str, source: str) -> Answer:
    """What is told of a text; its faults, where it can't be read."""
    asker.stage("reading")
    # What lies beside the text may have changed since.
    _read.cache_clear()
    _audited.cache_clear()
    try:
        with blamed_on(Path(name)):
            reading = _read(name, source)
        judged = partial(_judged, asker, name, source)
        return judged() if reading is None else _ANSWERS.answer(reading, judged)
    except Faulty as error:
        return Answer(tuple(_faults(error, name, Places(name, source))))


def _judged(asker: Asker, name: str, source: str) -> Answer:
    found, places = audited(asker, name, source), Places(name, source)
    told = (*_refuted(found, places), *list(_doubts(found, places))[:_HINTS])
    return Answer(tuple(dict.fromkeys(told)), _coverage(found), _names(found))


def _names(found: Audit) -> dict[str, str]:
    """The quantities of a walkthrough, each with its shape and its expression."""
    case = found.case
    if case.reading is not None:
        return {}
    shapes = {name: quantity.shape for name, quantity in case.program.quantities.items()}
    return {
        name: joined(
            filter(None, (show(shape) if shape else "a number", str(case.steps.get(name, "given"))))
        )
        for name, shape in shapes.items()
    }


def _faults(error: Faulty, name: str, places: Places) -> Iterator[Finding]:
    """What is wrong with a text, or with what lies beside it."""
    severity: Severity = "error" if isinstance(error, ValueError) else "information"
    for fault in error.faults:
        if error.source in ("", name):
            yield Finding(places.fault(fault), severity, "fault", str(fault))
        else:
            yield Finding(places.line(0), severity, "fault", fault.at(error.source))


def _refuted(found: Audit, places: Places) -> Iterator[Finding]:
    roots = set(found.roots)
    for figure in found.figures:
        if figure.verdict is Verdict.REFUTED:
            severity: Severity = "error" if figure in roots else "warning"
            reasons = joined(filter(None, (figure.reason, understanding.basis(figure.claim))), "; ")
            message = f"{findings.said(figure)} ({reasons})"
            related = tuple(
                (places.of(source), f"{source.label} = {source.text}")
                for source in figure.because[:_RELATED]
            )
            yield Finding(places.of(figure), severity, figure.cause, message, related)
    for statement in found.statements:
        if statement.verdict is Verdict.REFUTED:
            message = f"{statement.claim.holds} does not hold"
            yield Finding(places.of(statement), "error", "statement", message)


def _doubts(found: Audit, places: Places) -> Iterator[Finding]:
    """What nothing certain is known of."""
    for figure in reports.coarse(found):
        yield Finding(places.of(figure), "hint", "coarse", reports.coarse_sentence(figure))
    everything: tuple[Figure | Statement, ...] = (*found.figures, *found.statements)
    for judged in everything:
        if judged.verdict is Verdict.UNDECIDED:
            said = judged.label if isinstance(judged, Figure) else judged.claim.holds
            message = f"{said} could not be decided"
            yield Finding(places.of(judged), "hint", "undecided", message)
    notes = {
        group.items[0]: group.note.text for group in understanding.open_groups(found) if group.note
    }
    for item in found.open:
        yield Finding(
            item.span, "hint", "open", f"{item.what}: {item.why}", note=notes.get(item, "")
        )
    for group in understanding.unread_groups(found):
        for item in group.items:
            said = f"{item.what} was not read: {item.why}"
            note = group.note.text if group.note else ""
            yield Finding(item.span, "hint", "unread", said, note=note)


def _coverage(found: Audit) -> str:
    """What became of the numbers of an article; of a walkthrough, of its claims."""
    if found.case.reading is None:
        return reports.summary_line(found)
    refuted = {
        figure.span.start
        for figure in found.figures
        if figure.verdict is Verdict.REFUTED and figure.span
    }
    left = {item.span.start for item in found.open}
    counts = dict.fromkeys(("hold", "refuted", "left open", "given", "no claims", "not read"), 0)
    for number in found.numbers:
        start = number.span.start
        match number.status:
            case "bound" | "local":
                counts["refuted" if start in refuted else "hold"] += 1
            case "unread":
                counts["left open" if start in left else "not read"] += 1
            case "given":
                counts["given"] += 1
            case "ignored":
                counts["no claims"] += 1
    total = len(found.numbers)
    parts = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return f"{total} number{'' if total == 1 else 's'}" + (f": {parts}" if parts else "")
