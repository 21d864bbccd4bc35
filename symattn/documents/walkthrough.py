"""The walkthrough file that an article amounts to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from symattn.documents.reading import Claimed, Reading
from symattn.documents.text import Span
from symattn.escaping import visible
from symattn.shapes import Nested
from symattn.tables.writing import text, written

#: Numbers that TOML has as well, with their zeros.
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,40})?\Z")


def walkthrough(reading: Reading) -> str:
    """A walkthrough file with what an article gives, computes and prints, each with its
    line; an audit of it judges the same figures.

    >>> from pathlib import Path
    >>> from symattn.documents.article import Article
    >>> from symattn.documents.reading import Given, Step
    >>> from symattn.documents.text import Span
    >>> from symattn.numbers.rows import Numbers
    >>> article = Article(Path("post.md"), "markdown", "X = [1, 2.50]\\nA = softmax(X)", ())
    >>> given = {"X": Given(Numbers.read(("1", "2.50")), Span(4, 13))}
    >>> from symattn.syntax import parse
    >>> steps = {"A": Step(parse("softmax(X)"), Span(14, 15))}
    >>> made = walkthrough(Reading(article, given, steps))
    >>> print(made[made.index("[given]") :])
    [given]
    X = [1, 2.50]    # line 1
    <BLANKLINE>
    [steps]
    A = "softmax(X)"    # line 2
    <BLANKLINE>
    """
    return "\n".join(_lines(reading))


def _lines(reading: Reading) -> Iterator[str]:
    article = reading.article
    name = article.path.name
    yield f"# What {visible(name)} was understood to compute and to print:"
    yield "# 'symattn audit' says which of its figures are wrong."
    yield ""
    yield f"title = {text(article.title or name)}"
    yield f"source = {text(name)}"
    if reading.tokens:
        yield f"tokens = {written(reading.tokens)}"
    yield from ("", "[given]")
    for key, quantity in reading.given.items():
        at = "" if quantity.span is None else f"    # {_line(reading, quantity.span)}"
        yield f"{key} = {_numbers(quantity.entries)}{at}"
    yield from ("", "[steps]")
    for key, step in reading.steps.items():
        at = "    # assumed" if step.assumed else ""
        if step.span is not None:
            at = f"    # {_line(reading, step.span)}"
        yield f"{key} = {text(step.expression)}{at}"
    if reading.loss is not None:
        yield from ("", "[loss]")
        for key, value in reading.loss.items():
            yield f"{key} = {written(value)}"
    for claim in reading.claims:
        yield from _claim(reading, claim)
    for left in (*reading.open, *reading.unfit):
        yield from ("", "[[unchecked]]", f"where = {text(_line(reading, left.span))}")
        yield f"what = {text(left.what or '?')}"
        yield f"reason = {text(left.why or 'not read')}"
    yield ""


def _line(reading: Reading, span: Span) -> str:
    return f"line {reading.article.place(span.start).line}"


def _claim(reading: Reading, claim: Claimed) -> Iterator[str]:
    at = _line(reading, claim.span)
    where = f"{claim.where}, {at}" if claim.where else at
    yield from ("", "[[claims]]", f"where = {text(where)}", f"{claim.key} = {text(claim.text)}")
    if claim.printed is not None:
        yield f"printed = {written(claim.printed)}"


def _numbers(entries: Nested[str]) -> str:
    """Numbers as TOML has them, and as text where it has none."""
    if isinstance(entries, str):
        return entries if _NUMBER.match(entries) else text(entries)
    rows = [_numbers(entry) for entry in entries]
    if entries and not isinstance(entries[0], str):
        return "\n".join(["[", *(f"    {row}," for row in rows), "]"])
    return f"[{', '.join(rows)}]"
