"""The findings of an audit at an article's own lines, each with the line and a mark in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from symattn.auditing import coverage, places, reports
from symattn.cli.cases import styled
from symattn.cli.columns import paragraph
from symattn.cli.excerpts import excerpt
from symattn.errors import short
from symattn.escaping import visible
from symattn.verdicts import Verdict

if TYPE_CHECKING:
    from rich.console import Console

    from symattn.auditing.audit import Audit
    from symattn.auditing.figures import Figure, Statement
    from symattn.documents.text import Span

#: What stands below a line is told so far in.
_INSIDE = " " * 6
#: Lines of an article are shown no wider, however wide the terminal is.
_WIDEST = 100
#: So much of an expression stands in a heading; all of it is in the line.
_LABEL = 60


def figures(audit: Audit, out: Console, unfolded: bool) -> None:
    """All wrong figures: those of a cause, those that none was found for, the rest."""
    several = reports.several_unexplained(audit)
    groups = reports.grouped(audit)
    listed = [
        member for root, carried in groups for member in (root, *(carried if unfolded else ()))
    ]
    sums = _sums(listed)
    for root, carried in groups:
        if root.span and sums.get(root.span) is root:
            continue
        _figure(audit, out, root, sums, several)
        if unfolded:
            for figure in carried:
                _figure(audit, out, figure, sums, several)
        elif carried:
            lines = coverage.lines(figure.line for figure in carried)
            paragraph(out, f"{reports.propagated_line(audit, carried)} ({lines})", "dim", _INSIDE)


def _sums(figures: Sequence[Figure]) -> dict[Span, Figure]:
    """The figures that are also what the numbers before them come to, by their places: one
    is told with the quantity that is printed there."""
    named = {figure.span for figure in figures if figure.span and not figure.claim.is_arithmetic}
    return {
        figure.span: figure
        for figure in figures
        if figure.span in named and figure.claim.is_arithmetic
    }


def _figure(
    audit: Audit, out: Console, figure: Figure, sums: Mapping[Span, Figure], several: bool
) -> None:
    label = short(figure.label, _LABEL)
    sentence = f"{label} printed {figure.text}, correct {figure.correct}"
    _finding(audit, out, figure, sentence, "bold")
    if figure.span:
        _marked(audit, out, figure.span, figure.correct)
    also = sums.get(figure.span) if figure.span else None
    reasons = (
        reports.cause_sentence(audit, judged, several) for judged in (figure, also) if judged
    )
    for why in dict.fromkeys(filter(None, reasons)):
        paragraph(out, why, "", _INSIDE)


def others(audit: Audit, out: Console, strict: bool) -> None:
    """What is wrong or in doubt besides figures that are refuted."""
    for statement in audit.statements:
        if statement.verdict is not Verdict.HOLDS:
            text = f"{statement.verdict}: {statement.claim.holds}{statement.because}"
            _finding(audit, out, statement, text, "red")
            if statement.claim.span:
                _marked(audit, out, statement.claim.span)
    for figure in audit.figures:
        if figure.verdict is Verdict.UNDECIDED:
            _finding(
                audit, out, figure, f"undecided: {figure.label} printed {figure.text}", "yellow"
            )
    for figure in reports.coarse(audit, everywhere=strict):
        style = "red" if strict else "yellow"
        _finding(audit, out, figure, f"coarse: {reports.coarse_sentence(figure)}", style)


def reading(audit: Audit, out: Console) -> None:
    """How the article was read: what was assumed and left open, and what was not read."""
    assert audit.case.reading is not None
    for sentence in audit.assumptions:
        paragraph(out, f"assumed: {sentence}", "yellow")
    for note in audit.case.reading.article.notes:
        paragraph(out, f"{places.file_of(audit.case)}: {note}", "yellow")
    for item in audit.open:
        at = places.spanned(audit.case, item.span)
        text = f"{places.file_of(audit.case)}:{at}: open: {short(item.what, _LABEL)} ({item.why})"
        paragraph(out, text, "yellow")
    paragraph(out, coverage.line(audit), "dim")


def _finding(audit: Audit, out: Console, judged: Figure | Statement, text: str, style: str) -> None:
    """What is told of a place: ``post.md:41:18: text``."""
    at = places.region(audit.case, judged)
    paragraph(out, f"{places.file_of(audit.case)}:{at}: {text}", style)


def _marked(audit: Audit, out: Console, span: Span, correct: str = "") -> None:
    """The line of a place, carets below it, and what is correct behind these."""
    assert audit.case.reading is not None
    article = audit.case.reading.article
    number = f"{article.place(span.start).line:5d} | "
    quote = excerpt(article, span, min(out.width, _WIDEST) - len(number))
    line = styled(number, style="dim")
    line.append(quote.before).append(quote.marked, style="red").append(quote.behind)
    out.print(line, soft_wrap=True)
    marks = styled(" " * (len(number) - 2) + "| ", style="dim")
    marks.append(quote.marks, style="red")
    if correct:
        marks.append(f" {visible(correct)}", style="green")
    out.print(marks, soft_wrap=True)
