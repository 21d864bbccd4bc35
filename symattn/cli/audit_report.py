"""The findings of an audit on a terminal, as wide as that is: causes, roots, what is carried."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from symattn.auditing import reports
from symattn.auditing.reports import file_of
from symattn.cli import article_report
from symattn.cli.terminal_table import Columns, heading, paragraph
from symattn.escaping import visible
from symattn.verdicts import Verdict

if TYPE_CHECKING:
    from rich.console import Console

    from symattn.auditing.audit import Audit
    from symattn.auditing.figures import Figure

_HEADINGS = ("where", "quantity", "printed", "correct", "exact", "cause")
_STYLES = ("", "", "red", "green", "dim", "")
#: Figures end together on the right.
_RIGHT = (2, 3)
#: A closed form of more letters says nothing at a glance.
_CLOSED = 44
#: Reasons stand in a column of their own where so many letters are left for them.
_REASONS = 40
#: So many figures of a kind are told one by one.
_TOLD = 5


class _Row(NamedTuple):
    """A figure: its cells, the last of which is the reason, and what stands below."""

    cells: tuple[str, ...]
    below: str
    is_root: bool


def report(audit: Audit, strict: bool, unfolded: bool, out: Console) -> None:
    """Print an audit; ``unfolded`` with every carried figure, not only how many there are."""
    refuted = audit.count(Verdict.REFUTED)
    reading = audit.case.reading
    if reading:
        heading(out, file_of(audit.case), reading.article.title)
        article_report.understood(audit, out)
    else:
        heading(out, audit.case.name, audit.case.title)
    paragraph(out, reports.summary_line(audit), "red" if refuted else "green")
    if audit.habit:
        paragraph(out, audit.habit, "yellow")
    if audit.causes:
        out.print()
    for number, slip in enumerate(audit.causes, 1):
        paragraph(out, slip.sentence, "bold", f"{number}. ")
        if rivals := reports.rivals_sentence(slip):
            paragraph(out, rivals, "", "   ")
    if audit.causes:
        out.print()
    if reading:
        article_report.figures(audit, out, unfolded)
        article_report.others(audit, out, strict)
    else:
        _figures(audit, out, unfolded)
        _others(audit, out, strict)
    _counts(audit, out, strict)
    for item in audit.unchecked:
        paragraph(out, f"not checked, {item.where}: {item.what} ({item.reason})", "dim", "  ")
    if reading:
        article_report.reading(audit, out)
    out.print()


def _others(audit: Audit, out: Console, strict: bool) -> None:
    for statement in audit.statements:
        if statement.verdict is not Verdict.HOLDS:
            text = f"{statement.verdict}, {statement.claim.where}: {statement.claim.holds}"
            paragraph(out, f"{text}{statement.because}", "red", "  ")
    for figure in reports.coarse(audit, everywhere=strict):
        text = f"coarse, {figure.claim.where}: {reports.coarse_sentence(figure)}"
        paragraph(out, text, "red" if strict else "yellow", "  ")


def _counts(audit: Audit, out: Console, strict: bool) -> None:
    coarse = reports.coarse(audit, everywhere=strict)
    if more := audit.summary["coarse"] - len(coarse):
        others = f"{more} more" if coarse else str(more)
        phrase = (
            "figure is printed as a whole number although its quantity is not whole"
            if more == 1
            else "figures are printed as whole numbers although their quantities are not whole"
        )
        paragraph(out, f"{others} {phrase}", "dim", "  ")
    if vacuous := sum(figure.vacuous for figure in audit.figures):
        phrase = "1 figure has" if vacuous == 1 else f"{vacuous} figures have"
        paragraph(out, f"{phrase} too few digits for a meaningful check", "dim", "  ")
    _as_printed(audit, out)
    if within := reports.within_rounding(audit):
        single = len(within) == 1
        phrase = "1 figure holds" if single else f"{len(within)} figures hold"
        whose = "its" if single else "their"
        lines = reports.lines((figure.span or figure.line for figure in within), audit.case)
        at = f" ({lines})" if all(figure.line for figure in within) else ""
        paragraph(out, f"{phrase} only within the rounding of {whose} operands{at}", "dim", "  ")


def _as_printed(audit: Audit, out: Console) -> None:
    """The figures that hold as their own equations give them, the first with their values."""
    figures = [figure for figure in audit.figures if figure.as_printed]
    for figure in figures[:_TOLD]:
        at = f" (line {figure.line})" if figure.line else ""
        paragraph(out, f"{reports.as_printed_sentence(figure)}{at}", "dim", "  ")
    if more := figures[_TOLD:]:
        lines = reports.lines(figure.line for figure in more)
        paragraph(out, f"and {len(more)} more hold as printed ({lines})", "dim", "  ")


def _figures(audit: Audit, out: Console, unfolded: bool) -> None:
    """All wrong figures: those of a cause, those that none was found for, the rest."""
    groups = reports.grouped(audit)
    several = reports.several_unexplained(audit)
    rows: list[_Row] = []
    for root, carried in groups:
        below = "" if unfolded else reports.propagated_line(audit, carried)
        rows.append(_row(audit, root, below, several))
        if unfolded:
            rows += [_row(audit, figure, "", several) for figure in carried]
    if not rows:
        return
    cells = [row.cells for row in rows]
    table = Columns(_HEADINGS, _STYLES, _RIGHT)
    fits = (table.fitted(cells, out.width, left_out, _REASONS) for left_out in ((), (4,)))
    beside = next(filter(None, fits), None)
    widths = beside or table.shrunk(cells, out.width, (4, 5))
    table.head(out, widths)
    for row in rows:
        table.row(out, widths, row.cells, row.is_root)
        below = row.below if beside else "; ".join(filter(None, (row.cells[-1], row.below)))
        if below:
            paragraph(out, below, "" if row.is_root else "dim", "    ")


def _row(audit: Audit, figure: Figure, below: str, several: bool) -> _Row:
    is_root = figure.cause != "carried"
    exact = figure.exact if len(figure.exact) <= _CLOSED else ""
    where = figure.claim.where if is_root else f"  {figure.claim.where}"
    why = reports.cause_sentence(audit, figure, several)
    cells = (where, figure.label, figure.text, figure.correct, exact, why)
    return _Row(tuple(map(visible, cells)), below, is_root)
