"""The red pen in the article itself: its own text, with the wrong figures struck through."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, TypeVar

from symattn.auditing import reports, understanding
from symattn.auditing.audit import Audit
from symattn.auditing.figures import Figure
from symattn.auditing.fixing import figures_at
from symattn.auditing.reports import cause_number, rivals_sentence, summary_line, why
from symattn.auditing.understanding import Group
from symattn.cases.settings import settings
from symattn.documents.article import Article, Block
from symattn.documents.text import Span, Text
from symattn.languages.language import Language
from symattn.printers import blocks as b
from symattn.printers.source import (
    LineKind,
    MarkKind,
    SourceLine,
    SourceList,
    SourceMark,
    SourcePage,
)
from symattn.verdicts import Verdict

T = TypeVar("T")

_LINE_END = re.compile(r"\r\n|[\r\n]")
#: Forms whose words are read as they are; in others the source is shown letter by letter.
_READABLE = ("markdown", "notebook", "text", "pdf", "word")
_KINDS: dict[str, LineKind] = {"heading": "heading", "prose": "words"}
#: The worst of what is said of one place is what its mark says.
_WORST: tuple[MarkKind, ...] = ("wrong", "open", "coarse", "holds", "confirmed", "unread")
#: So many lines are named one by one.
_NAMED = 40


def page(audit: Audit, **changes: Any) -> SourcePage:
    """The article of an audit with the red pen in it, in the language and on the paper
    that ``changes`` say; nothing of it is left out.

    Raises :class:`Malformed` for settings that there are not.
    """
    case, wanted = audit.case, settings(audit.case.sheet, changes)
    assert case.reading is not None
    article, say = case.reading.article, wanted.say
    lines = tuple(_lines(article, _marks(audit, say), _notes(audit, say)))
    legend = (
        SourceMark("0.51", "wrong", say.text("wrong, with the correct figure beside it"), "0.52"),
        SourceMark("0.52", "holds", say.text("holds")),
        SourceMark("0.52", "unread", say.text("not read")),
    )
    return SourcePage(
        f"{case.name}-audit",
        article.title or article.path.name,
        article.path.name,
        tuple(_summary(audit, say)),
        tuple(_causes(audit, article, say)),
        tuple(_lists(audit, article, say)),
        legend,
        lines,
        say,
        wanted.paper,
    )


def _summary(audit: Audit, say: Language) -> Iterator[b.Line]:
    for sentence in understanding.summary(audit):
        yield (f"{say.again(sentence)}.",)
    if note := understanding.remedy(audit):
        yield f"{say.again(note.when)} ", b.Code(note.text)
    yield (f"{say.again(summary_line(audit))}. {say.again(audit.habit)}".strip(),)
    yield (f"{say.again(reports.line(audit))}.",)
    if not audit.count(Verdict.REFUTED):
        yield say("Nothing to correct.")


def _causes(audit: Audit, article: Article, say: Language) -> Iterator[b.Line]:
    """The slips behind many figures, each with the lines of its figures."""
    for slip in audit.causes:
        sentence = f"{say.again(slip.sentence)} {say.again(rivals_sentence(slip))}".strip()
        spans = [figure.span for figure in slip.explains if figure.span is not None]
        yield (f"{sentence} ", *_links(article, spans, say))


def _links(article: Article, spans: Iterable[Span], say: Language) -> b.Line:
    """The lines of places, each a link."""
    numbers = sorted({article.place(span.start).line for span in spans})
    pieces = b.joined(b.Link(str(number), f"line-{number}") for number in numbers[:_NAMED])
    if more := len(numbers[_NAMED:]):
        return say("lines {lines} and {count} more", lines=pieces, count=str(more))
    if len(numbers) == 1:
        return say("line {lines}", lines=pieces)
    return say("lines {lines}", lines=pieces)


def _lists(audit: Audit, article: Article, say: Language) -> Iterator[SourceList]:
    """Yield what was assumed, what was left open, and the numbers that were not read."""
    if audit.assumptions:
        yield SourceList(
            say.text("Assumed"), tuple((say.again(x),) for x in audit.assumptions), True
        )
    if groups := understanding.open_groups(audit):
        items = (_group(group, article, say) for group in groups)
        yield SourceList(say.text("Not decided"), tuple(items))
    unread = (_group(group, article, say) for group in understanding.unread_groups(audit))
    if left := [*((note,) for note in article.notes), *unread]:
        yield SourceList(say.text("Not read"), tuple(left))


def _group(group: Group, article: Article, say: Language) -> b.Line:
    """Return what shares a reason: its lines, what there is of it alone, and the note that
    helps."""
    first = group.items[0]
    said = say.again(group.reason)
    if len(group.items) == 1:
        said = f"{first.what}: {say.again(first.why)}"
    note = (f"; {say.again(group.note.when)} ", b.Code(group.note.text)) if group.note else ()
    return (*_links(article, group.spans, say), f": {said}", *note)


# -- marks and notes ---------------------------------------------------------------


def _marks(audit: Audit, say: Language) -> Iterator[tuple[Span, SourceMark]]:
    """A mark for every number that is judged or was not read; what is said of several at
    one place is one mark."""
    for number in reports.with_status(audit.numbers, "unread"):
        yield number.span, SourceMark("", "unread", say.again(number.why))
    for span, figures in figures_at(audit.figures).items():
        first = min(figures, key=lambda figure: _WORST.index(_kind(figure)))
        kind = _kind(first)
        correct = first.correct if kind in ("wrong", "coarse") else ""
        labels = ", ".join(dict.fromkeys(figure.label for figure in figures))
        yield span, SourceMark("", kind, labels, correct, cause_number(audit, first) or 0)


def _kind(figure: Figure) -> MarkKind:
    if figure.verdict is Verdict.REFUTED:
        return "wrong"
    if figure.verdict is Verdict.UNDECIDED:
        return "open"
    if figure.coarse:
        return "coarse"
    return "confirmed" if figure.claim.doubt else "holds"


def _notes(audit: Audit, say: Language) -> Iterator[tuple[Span, str, str]]:
    """Yield what is said of each place that does not hold: where, of what, and what."""
    for span, figures in figures_at(audit.figures).items():
        for figure in figures:
            if sentence := _note(audit, figure, say):
                yield span, figure.label, sentence
    for statement in audit.statements:
        if statement.verdict is not Verdict.HOLDS and statement.claim.span is not None:
            wrong = statement.verdict is Verdict.REFUTED
            sentence = say.text("does not hold" if wrong else "could not be decided")
            yield statement.claim.span, statement.claim.holds, sentence


def _note(audit: Audit, figure: Figure, say: Language) -> str:
    if figure.verdict is Verdict.REFUTED:
        reasons = (why(audit, figure), understanding.basis(figure.claim))
        return "; ".join(say.again(reason) for reason in reasons if reason)
    if figure.verdict is Verdict.UNDECIDED:
        return say.text("could not be decided")
    if figure.as_printed:
        return say.again(reports.as_printed_sentence(figure))
    return (
        say.text("coarse: a whole number for a quantity that is not whole") if figure.coarse else ""
    )


# -- lines -----------------------------------------------------------------------


def _inside(items: Sequence[tuple[Span, T]], span: Span) -> Sequence[tuple[Span, T]]:
    """Of things in the order of where they stand those that begin there."""
    first, last = (bisect_left(items, offset, key=lambda item: item[0].start) for offset in span)
    return items[first:last]


def _lines(
    article: Article,
    marks: Iterable[tuple[Span, SourceMark]],
    notes: Iterable[tuple[Span, str, str]],
) -> Iterator[SourceLine]:
    """All lines; of a notebook those of its cells."""
    marked = sorted(marks, key=itemgetter(0))
    noted = sorted(((span, said) for span, *said in notes), key=itemgetter(0))
    for number, kind, text in _texts(article):
        span = text.span()
        beside: dict[str, dict[str, None]] = {}
        for _, (label, sentence) in _inside(noted, span):
            beside.setdefault(sentence, {})[label] = None
        yield SourceLine(
            number,
            kind,
            tuple(_pieces(text, _inside(marked, span))),
            tuple(
                (b.Code(", ".join(labels)), f" {sentence}") for sentence, labels in beside.items()
            ),
        )


def _pieces(text: Text, marks: Iterable[tuple[Span, SourceMark]]) -> Iterator[str | SourceMark]:
    """A line with its marks; one that crosses another, or the line's end, is left out."""
    done = 0
    for span, mark in marks:
        # What was put between the characters of the file has no width there.
        first, last = bisect_right(text.ends, span.start), bisect_left(text.starts, span.end)
        if done <= first < last:
            yield text.string[done:first]
            yield replace(mark, text=text.string[first:last])
            done = last
    yield text.string[done:]


def _texts(article: Article) -> Iterator[tuple[int, LineKind, Text]]:
    """The lines as they are shown, each with its number and kind."""
    if article.form == "notebook":
        for block in article.blocks:
            for line in filter(len, _said(block).lines()):
                number = article.place(line.span().start).line
                yield number, _KINDS.get(block.kind, "code"), line
            yield 0, "code", Text.whole("")
        return
    kinds = _kinds(article)
    whole, start = Text.whole(article.source), 0
    ends = (*(m.span() for m in _LINE_END.finditer(article.source)), (len(whole), len(whole)))
    for number, (end, after) in enumerate(ends, 1):
        if start < after:
            near = bisect_left(kinds, after, key=lambda item: item[0].start) - 1
            inside = near >= 0 and kinds[near][0].end > start
            yield number, kinds[near][1] if inside else "code", whole[start:end]
        start = after


def _kinds(article: Article) -> list[tuple[Span, LineKind]]:
    """Return where what is no code stands, in order."""
    kinds: list[tuple[Span, LineKind]] = []
    for block in article.blocks:
        kind = _KINDS.get(block.kind, "code")
        if block.parts and (kind == "heading" or article.form in _READABLE):
            spans = [part.text.span() for part in block.parts]
            kinds.append((spans[0].to(spans[-1]), kind))
    return sorted(kinds)


def _said(block: Block) -> Text:
    """A block of a notebook: its formulas in words between dollars, cells between bars."""
    texts: list[Text] = []
    for part in block.parts:
        dollar = "$" if part.kind == "math" and block.kind != "formula" else ""
        texts.append(part.text.enclosed(dollar, dollar))
    for row in block.rows:
        parts = [part for cell in row for part in cell.parts]
        for k, part in enumerate(parts, 1):
            texts.append(part.text.enclosed("", " | " if k < len(parts) else "\n"))
    return Text.joined(texts)
