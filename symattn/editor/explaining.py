"""What a figure is, for whoever points at it: worked out by a worker."""

from __future__ import annotations

from collections.abc import Iterator

from symattn.auditing import understanding
from symattn.auditing.audit import Audit
from symattn.auditing.figures import Figure
from symattn.documents.reading import ArticleNumber, Status
from symattn.editor.answers import Explanation
from symattn.editor.judging import audited
from symattn.editor.places import Places
from symattn.errors import Faulty, short
from symattn.escaping import markdown, markdown_code
from symattn.numbers import rounding
from symattn.solution.entries import rounded
from symattn.verdicts import Verdict
from symattn.workers import Asker

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
    """What stands at a character of the source, as Markdown, and from where to where; None
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
