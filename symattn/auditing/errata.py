"""An audit as a text that can be sent to the author."""

from __future__ import annotations

from collections.abc import Iterator

from symattn.auditing import coverage
from symattn.auditing.audit import Audit
from symattn.auditing.figures import Figure
from symattn.auditing.places import spanned, where
from symattn.auditing.reports import coarse, grouped, propagated, rivals_sentence, summary_line, why
from symattn.escaping import markdown, markdown_code, markdown_start
from symattn.verdicts import Verdict


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
    yield from _reading(audit)


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


def _reading(audit: Audit) -> Iterator[str]:
    """How an article was read: what was assumed and left open, and what was not read."""
    if audit.assumptions:
        yield from ("Assumptions:", "")
        yield from (*(f"- {markdown_start(sentence)}" for sentence in audit.assumptions), "")
    if audit.open:
        yield from ("What could not be judged:", "")
        for item in audit.open:
            line = spanned(audit.case, item.span).line
            yield f"- line {line}, {markdown_code(item.what)}: {markdown(item.why)}"
        yield ""
    if summary := coverage.line(audit):
        yield from (f"How the text was read: {summary}.", "")


def _row(audit: Audit, figure: Figure, *more: str) -> str:
    """A figure as a row of a Markdown table."""
    before = (markdown(where(audit.case, figure)), markdown_code(figure.label))
    after = (markdown(text) for text in (figure.text, figure.correct, *more))
    return f"| {' | '.join((*before, *after))} |"
