"""The findings of an audit on a terminal, as wide as that is: causes, roots, what is carried."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from symattn.auditing import reports
from symattn.cli.cases import shown
from symattn.cli.columns import Table, wrapped
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


class _Row(NamedTuple):
    """A figure: its cells without the reason, that, and what stands below."""

    cells: tuple[str, ...]
    why: str
    below: str
    is_root: bool


def report(audit: Audit, strict: bool, unfolded: bool, out: Console) -> None:
    """Print an audit; ``unfolded`` with every carried figure, not only how many there are."""
    refuted = audit.count(Verdict.REFUTED)
    out.print(shown(audit.case.name, style="bold"), shown(audit.case.title, style="dim"))
    _say(out, reports.summary_line(audit), "red" if refuted else "green")
    if audit.habit:
        _say(out, audit.habit, "yellow")
    if audit.causes:
        out.print()
    for number, slip in enumerate(audit.causes, 1):
        _say(out, slip.sentence, "bold", f"{number}. ")
        if rivals := reports.just_as_well(slip):
            _say(out, rivals, "", "   ")
    if audit.causes:
        out.print()
    _figures(audit, out, unfolded)
    for statement in audit.statements:
        if statement.verdict is not Verdict.HOLDS:
            said = f"{statement.verdict}, {statement.claim.where}: {statement.claim.holds}"
            _say(out, said, "red", "  ")
    coarse = reports.coarse(audit, everywhere=strict)
    for figure in coarse:
        said = f"coarse, {figure.claim.where}: {reports.coarsely(figure)}"
        _say(out, said, "red" if strict else "yellow", "  ")
    if more := audit.summary["coarse"] - len(coarse):
        others = f"{more} more" if coarse else str(more)
        said = "figure is a whole number" if more == 1 else "figures are whole numbers"
        _say(out, f"{others} {said} where the quantity is not", "dim", "  ")
    if vacuous := sum(figure.vacuous for figure in audit.figures):
        said = "1 figure has" if vacuous == 1 else f"{vacuous} figures have"
        _say(out, f"{said} too few digits to say much", "dim", "  ")
    for item in audit.unchecked:
        _say(out, f"not checked, {item.where}: {item.what} ({item.reason})", "dim", "  ")
    out.print()


def _say(out: Console, text: str, style: str, start: str = "") -> None:
    """A paragraph that hangs from its start."""
    after = " " * (len(start) + (2 if not start.strip() and start else 0))
    for k, line in enumerate(wrapped(visible(text), out.width - len(after))):
        out.print(shown((after if k else start) + line, style=style), soft_wrap=True)


def _figures(audit: Audit, out: Console, unfolded: bool) -> None:
    """All wrong figures: those of a cause, those that none was found for, the rest."""
    groups = reports.grouped(audit)
    together = reports.no_common_cause(audit)
    rows: list[_Row] = []
    titled = -1
    for root, carried in groups:
        if together and titled < 0 and reports.is_unexplained(root):
            titled = len(rows)
        below = "" if unfolded else reports.folded(audit, carried)
        rows.append(_row(audit, root, below, together))
        if unfolded:
            rows += [_row(audit, figure, "", together) for figure in carried]
    if not rows:
        return
    cells = [row.cells for row in rows]
    reasons = [row.why for row in rows]
    table = Table(_HEADINGS, _STYLES, _RIGHT)
    for left_out in ((), (4,)):
        if beside := table.fitted(
            [(*row, why) for row, why in zip(cells, reasons, strict=True)],
            out.width,
            left_out,
            _REASONS,
        ):
            break
    widths = beside or table.shrunk(cells, out.width, (4, 5))
    table.head(out, widths)
    for k, row in enumerate(rows):
        if k == titled:
            _say(out, together, "yellow")
        table.row(out, widths, (*row.cells, row.why), row.is_root)
        below = row.below if beside else "; ".join(filter(None, (row.why, row.below)))
        if below:
            _say(out, below, "" if row.is_root else "dim", "    ")


def _row(audit: Audit, figure: Figure, below: str, together: str) -> _Row:
    is_root = figure.cause != "carried"
    exact = figure.exact if len(figure.exact) <= _CLOSED else ""
    where = figure.claim.where if is_root else f"  {figure.claim.where}"
    cells = (where, figure.label, figure.text, figure.correct, exact)
    return _Row(tuple(map(visible, cells)), visible(_why(audit, figure, together)), below, is_root)


def _why(audit: Audit, figure: Figure, together: str) -> str:
    """The cause in a cell; what is said of many figures ``together`` is not said again."""
    reason = reports.why(audit, figure)
    if reports.is_unexplained(figure):
        return reports.what_else(figure) if together else reason
    if figure.explained:
        return reason
    return f"{figure.cause}: {reason}"
