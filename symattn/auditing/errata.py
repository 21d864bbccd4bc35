"""An audit as a text that can be sent to the author."""

from __future__ import annotations

from collections.abc import Iterator

from symattn.auditing import coverage
from symattn.auditing.audit import Audit
from symattn.auditing.figures import Figure
from symattn.auditing.places import spanned, where
from symattn.auditing.reports import coarse, grouped, just_as_well, summary_line, why
from symattn.escaping import markdown, markdown_code, markdown_start
from symattn.verdicts import Verdict


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
            *_reading(audit),
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
                single = len(carried) == 1
                reason += f"; {len(carried)} further figure{'' if single else 's'} follow"
                reason += "s" if single else ""
            lines.append(_row(audit, root, reason))
        lines.append("")
    follow = [f for _, carried in roots for f in carried]
    if follow:
        lines += ["Once these are corrected, the following become:", ""]
        lines += ["| where | quantity | printed | correct |", "|---|---|---|---|"]
        for figure in sorted(follow, key=lambda f: f.order):
            lines.append(_row(audit, figure))
        lines.append("")
    lines += _coarse_rows(audit)
    if wrong:
        lines += ["These statements do not hold for the numbers given:", ""]
        lines += [
            f"- {markdown_start(where(audit.case, s))}: {markdown_code(s.claim.holds)}"
            for s in wrong
        ]
        lines.append("")
    lines += _reading(audit)
    return "\n".join(lines)


def _cause_items(audit: Audit) -> Iterator[str]:
    """The causes as a numbered list in Markdown, each with where it is first seen."""
    if audit.causes:
        yield from ("Likely causes:", "")
        for number, slip in enumerate(audit.causes, 1):
            first = slip.explains[0]
            sentence = f"{slip.sentence} {just_as_well(slip)}".rstrip()
            at = markdown(where(audit.case, first))
            seen = f"First seen in {at}: {markdown_code(first.label)}"
            yield f"{number}. {markdown(sentence)} {seen}."
        yield ""


def _coarse_rows(audit: Audit) -> Iterator[str]:
    """The coarse figures as a table in Markdown."""
    figures = coarse(audit, everywhere=True)
    if figures:
        yield from ("These figures are printed as whole numbers, but are not whole:", "")
        yield from ("| where | quantity | printed | finer |", "|---|---|---|---|")
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
        yield from (f"Of the text: {summary}.", "")


def _row(audit: Audit, figure: Figure, *more: str) -> str:
    """A figure as a row of a Markdown table."""
    before = (markdown(where(audit.case, figure)), markdown_code(figure.label))
    after = (markdown(text) for text in (figure.text, figure.correct, *more))
    return f"| {' | '.join((*before, *after))} |"
