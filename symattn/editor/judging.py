"""Judging of an article or a walkthrough, explanations and remedies: worked out by a worker."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cached_property, lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from symattn.auditing import reports, understanding
from symattn.auditing.audit import Audit, audit
from symattn.auditing.figures import Figure, Statement
from symattn.auditing.fixing import fixed
from symattn.cases import library
from symattn.cases.article import case_of
from symattn.documents.article import Article
from symattn.documents.files import article
from symattn.documents.reading import ArticleNumber, Reading, Status, chains
from symattn.documents.text import Memory, Relocatable, Span, moved
from symattn.editor.answers import Answer, Correction, Explanation, Finding, Severity
from symattn.editor.positions import Lines
from symattn.errors import Fault, Faulty, Malformed, blamed_on, short
from symattn.escaping import markdown, markdown_code
from symattn.expressions.shapes import show
from symattn.languages.sentence import joined
from symattn.numbers import rounding
from symattn.solution.entries import rounded
from symattn.solution.solution import solve
from symattn.tables.file import parsed
from symattn.tables.places import TomlPlaces
from symattn.verdicts import Verdict
from symattn.workers import Asker

#: So many answers are kept, each of a few thousand places.
_REMEMBERED = 4
#: What of a reading is the text itself.
_WRITTEN = ("article", "passages")


class _Kept(NamedTuple):
    """An answer, and the places of all that it depends on."""

    places: tuple[Span, ...]
    answer: Relocatable


class AnswerMemory:
    """The last answers, by what they depend on."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()

    def answer(self, reading: Reading, judged: Callable[[], Answer]) -> Answer:
        """Return what was told of such a reading before, at its places; what is ``judged`` where it
        was not seen before."""
        try:
            known = Relocatable.of(_judged_of(reading))
        except pickle.PicklingError:
            return judged()
        if (kept := self._kept.get(known.content)) is not None:
            self._kept.move_to_end(known.content)
            if (to := moved(kept.places, known.spans)) is not None:
                spans = [Span(to[span.start], to[span.end]) for span in kept.answer.spans]
                answer: Answer = kept.answer.at(spans)
                return answer
        answer = judged()
        told = Relocatable.of(answer)
        if set(chain(*told.spans)) <= set(chain(*known.spans)):
            self._kept[known.content] = _Kept(known.spans, told)
            if len(self._kept) > _REMEMBERED:
                self._kept.popitem(last=False)
        return answer


def _judged_of(reading: Reading) -> object:
    """All of a reading that it is judged by: not its words, but what they were taken to mean."""
    article = reading.article
    figures = Relocatable.of([(claim.span, claim.spans) for claim in reading.claims]).spans
    said = [article.said(span.start) for span in figures]
    known = article.path, article.form, article.title, article.notes, said
    meant = [getattr(reading, one.name) for one in fields(reading) if one.name not in _WRITTEN]
    return known, meant, list(chains(reading))


# -- where in the text of a file something stands that an audit --------------------------


class Places:
    """Places in the text of an article or a walkthrough."""

    def __init__(self, name: str, source: str) -> None:
        self._path = Path(name)
        self._source = source

    @cached_property
    def _toml(self) -> TomlPlaces | None:
        """The places of what a walkthrough says; None in an article, and in what is no TOML."""
        if self._path.suffix != ".toml":
            return None
        try:
            return parsed(self._path, self._source.encode()).places
        except Malformed:
            return None

    def of(self, judged: Figure | Statement) -> Span:
        """Return where a figure or a statement stands."""
        span = judged.span if isinstance(judged, Figure) else judged.claim.span
        if span is not None:
            return span
        claim = f"claims[{judged.claim.number}]"
        if isinstance(judged, Statement):
            return self._written(f"{claim}.holds", judged.claim.line)
        at = "".join(f"[{place}]" for place in judged.at)
        return self._written(f"{claim}.printed{at}", judged.claim.line)

    def fault(self, fault: Fault) -> Span:
        """Return what a fault is about, or its line."""
        return self._written(fault.where, fault.line)

    def _written(self, where: str, line: int) -> Span:
        found = self._toml.characters(where) if self._toml is not None and where else None
        if found is None:
            return self.line(line)
        # A mark at the beginning of a file is no character of its tables.
        before = self._source.startswith("\ufeff")
        return Span(found[0] + before, found[1] + before)

    def line(self, number: int) -> Span:
        """The text of a line, counted from 1, without the blanks around it; 0: the first that
        is not empty."""
        lines = Lines(self._source)
        if not number:
            wanted = (k for k in range(lines.count) if lines.line(k).strip())
            number = next(wanted, 0) + 1
        text = lines.line(number - 1)
        start = lines.start(number - 1) + len(text) - len(text.lstrip())
        return Span(start, start + len(text.strip()))


# -- judging -----------------------------------------------------------------------------

#: So many hints are given, and so many figures named that another one follows from.
_HINTS, _RELATED = 200, 8
# -- what was told of texts before -------------------------------------------------------
# All that an audit of an article depends on is its reading, and of the places in it only how they
# stand to each other, and what people call them. So a text whose reading is that of an earlier
# version, moved, is answered what that was, moved. There is nothing that could become stale: a
# text is read anew each time, and what differs in anything is judged anew.

#: So many audits a worker keeps: hovers and corrections ask for them again.
_KEPT = 4


#: What was told of the last texts, and what their blocks were read as.
_ANSWERS, _BLOCKS = AnswerMemory(), Memory(1000)


@lru_cache(maxsize=_KEPT)
def _read(name: str, source: str) -> Reading | None:
    """Return what an article is understood to say; None of a walkthrough."""
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
    """Return what is told of a text; its faults, where it can't be read."""
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
    """Yield what is wrong with a text, or with what lies beside it."""
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
            message = f"{reports.said(figure)} ({reasons})"
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
    """Yield what nothing certain is known of."""
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
    """Return what became of the numbers of an article; of a walkthrough, of its claims."""
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


# -- what a figure is, for whoever points at it -------------------------------------------

#: So many digits are shown, and of a closed form so many letters; of one place at most so many
#: figures.
_DIGITS, _FORM, _MOST = 12, 300, 4
#: What is said of a number that is no figure.
_STATUS: dict[Status, str] = {
    "given": "given: an input",
    "local": "part of arithmetic that is checked where it stands",
    "bound": "read as part of a claim",
    "ignored": "claims nothing",
    "unread": "not read",
}


def explain(asker: Asker, name: str, source: str, offset: int) -> Explanation | None:
    """Return what stands at a character of the source, as Markdown, and from where to where; None
    where no number stands. Raises :class:`Malformed` where the text can't be read."""
    found = audited(asker, name, source)
    places = Places(name, source)
    at = [
        (span, figure)
        for figure in (*found.figures, *found.contradicted)
        if (span := places.of(figure)).start <= offset <= span.end
    ]
    if at:
        span = at[0][0]
        said = ("\n\n".join(_figure(found, one)) for where, one in at[:_MOST] if where == span)
        return Explanation(span, "\n\n---\n\n".join(dict.fromkeys(said)))
    for statement in found.statements:
        span = places.of(statement)
        if span.start <= offset <= span.end:
            how = f"{markdown_code(statement.claim.holds)}: {statement.verdict}"
            return Explanation(span, how + markdown(statement.because))
    for number in found.numbers:
        if number.span.start <= offset <= number.span.end:
            return Explanation(number.span, _number(found, number))
    return None


def _figure(found: Audit, figure: Figure) -> Iterator[str]:
    """The paragraphs on a figure."""
    head = f"**{markdown_code(f'{figure.label} = {figure.text}')}** {figure.verdict}"
    if figure.verdict is Verdict.REFUTED:
        head += f": the correct value is **{markdown(figure.correct)}**"
    elif figure.within_rounding:
        head += " within the rounding of its operands"
    elif figure.as_printed:
        head += " as printed"
    yield head
    if figure.reason:
        yield markdown(figure.reason)
    if basis := understanding.basis(figure.claim):
        yield markdown(basis)
    elif figure.claim.is_arithmetic and not figure.reason:
        yield "arithmetic as printed"
    if exact := figure.exact:
        yield f"exactly {markdown_code(short(exact, _FORM))}"
    if digits := _digits(found, figure):
        yield f"to {_DIGITS} digits {markdown_code(digits)}"


def _digits(found: Audit, figure: Figure) -> str:
    """The first digits of the exact value; '' where there are none."""
    if figure.entry.is_masked:
        return ""
    try:
        value = rounded(figure.entry, rounding.significant, _DIGITS, found.case.rounding)
    except Faulty:
        return ""
    return value if isinstance(value, str) else format(value, "f")


def _number(found: Audit, number: ArticleNumber) -> str:
    of = f" {markdown_code(number.of)}" if number.of else ""
    why = f": {markdown(number.why)}" if number.why else ""
    if number.status == "unread" and not why:
        groups = understanding.unread_groups(found)
        reasons = (group.reason for group in groups if number.span in group.spans)
        why = "".join(f": {markdown(reason)}" for reason in reasons)
    return f"{markdown_code(number.text)} {_STATUS[number.status]}{of}{why}"


# -- what can be changed in an article ---------------------------------------------------
# Figures corrected, and notes put where they are read.

#: So many lines before a block a note may have to stand: before the fence of code, say.
_BEFORE = 4


def corrections(asker: Asker, name: str, source: str) -> tuple[Correction, ...]:
    """Every figure that is certain to be wrong, with the right digits in the style of the
    article: what ``symattn audit --fix`` writes, which says what it leaves.

    Raises :class:`Malformed` where the text can't be read, or is none of an article.
    """
    found = audited(asker, name, source)
    result = fixed(found, lambda text: audited(asker, name, text))
    return tuple(Correction(fix.span, fix.correct, fix.label) for fix in result.fixes)


def note_place(asker: Asker, name: str, source: str, offset: int, note: str) -> int | None:
    """Return where a line with a note can be put, so that it is read as one, and everything else as
    before: right before what stands at a character of the source, or before the block that
    this is part of. None where there is no such place."""
    asker.stage("reading")
    path, lines = Path(name), Lines(source)
    before = article(path, source.encode())
    kept = _blocks(before)
    for number in _candidates(before, lines, offset):
        start = lines.start(number)
        try:
            after = article(path, f"{source[:start]}{note}\n{source[start:]}".encode())
        except Malformed:
            continue
        line = Span(start, start + len(note) + 1)
        if _blocks(after) == kept and _announced(after, line, offset + len(note) + 1):
            return start
    return None


def _candidates(before: Article, lines: Lines, offset: int) -> Iterator[int]:
    """Lines, counted from 0: the own one, then upwards from where the block begins."""
    own = lines.position(offset).line
    yield own
    spans = (block.span for block in before.blocks if block.kind != "note")
    starts = (span.start for span in spans if span.start <= offset <= span.end)
    first = lines.position(max(starts, default=offset)).line
    yield from range(first, max(first - _BEFORE, -1), -1)


def _blocks(of: Article) -> list[tuple[str, ...]]:
    """Return what the article consists of, but for notes."""
    return [
        (block.kind, *(str(part.text) for part in block.all_parts))
        for block in of.blocks
        if block.kind != "note"
    ]


def _announced(of: Article, note: Span, offset: int) -> bool:
    """Return whether a note stands within these characters, and is one on what stands at a
    character behind it."""
    is_next = False
    for block in of.blocks:
        if block.kind == "note":
            is_next |= note.start < block.span.end <= note.end
        elif is_next:
            return block.span.start <= offset <= block.span.end
    return False
