"""Articles as they would be read: made by hand from a text and what to take for its claims."""

from __future__ import annotations

import re
from pathlib import Path

from symattn.auditing.audit import audit
from symattn.cases.article import case_of
from symattn.documents.article import Article
from symattn.documents.reading import (
    ArticleNumber,
    Claimed,
    OpenQuestion,
    Reading,
    ReadInput,
    ReadStep,
)
from symattn.documents.text import Span
from symattn.expressions import syntax
from symattn.numbers.rows import Numbers

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")

POST = r"""# Weights by hand

The scores of 2 words are given, in 2026:

$$S = \begin{bmatrix} 1 & 0.5 \\ 0 & 2 \end{bmatrix}$$

Softmax gives

$$A = \begin{bmatrix} 0.62 & 0.39 \\ 0.12 & 0.88 \end{bmatrix}$$

and the first of them is 0.622. Then 0.62 * 1 + 0.38 * 0.55 = 0.84, and so is
0.25 * 3 = 0.754, a quarter about 0.31.
"""


def span_of(source, text, after=""):
    """Where a text stands that is there once, behind another one."""
    start = source.index(text, source.index(after) + len(after) if after else 0)
    return Span(start, start + len(text))


def figures(source, span):
    """The numbers in a piece, nested by its rows, as texts and as places."""
    spans, texts, at = [], [], span.start
    for row in re.split(r"(\\\\|;)", source[span.start : span.end])[::2]:
        found = [*_NUMBER.finditer(row)]
        spans.append(tuple(Span(at + x.start(), at + x.end()) for x in found))
        texts.append(tuple(x[0] for x in found))
        at += len(row)
        at += 2 if source[at : at + 2] == r"\\" else 1
    if len(spans) > 1:
        return tuple(texts), tuple(spans)
    if len(spans[0]) > 1:
        return texts[0], spans[0]
    return texts[0][0], spans[0][0]


def claimed(source, key, text, piece, after="", **more):
    """What a piece of a text says, once."""
    span = span_of(source, piece, after)
    printed, spans = (None, None) if key == "holds" else figures(source, span)
    return Claimed(
        key, syntax.parse(text), more.pop("where", "Softmax"), span, printed, spans, **more
    )


def read(source=POST, claims=(), *, name="post.md", numbers=(), left=(), assumed=(), **more):
    """A text read so: ``numbers`` are pairs of a status and a text, ``left`` of a text and a
    reason."""
    article = Article(Path(name), "markdown", source, (), title="Weights by hand")
    found, at = [], 0
    for status, text in numbers:
        start = source.index(text, at)
        at = start + len(text)
        found.append(ArticleNumber(text, Span(start, at), status, why="a year" * (text == "2026")))
    return Reading(
        article,
        {
            name: ReadInput(Numbers.read(entries), Span(0, 0))
            for name, entries in more.pop("given", {}).items()
        },
        {name: ReadStep(syntax.parse(text)) for name, text in more.pop("steps", {}).items()},
        claims=tuple(claims),
        numbers=tuple(found),
        assumptions=tuple(assumed),
        open=tuple(OpenQuestion(text, why, span_of(source, text)) for text, why in left),
        **more,
    )


def post(**more):
    """The post of this module, read."""
    claims = [
        claimed(POST, "of", "A", r"0.62 & 0.39 \\ 0.12 & 0.88"),
        claimed(POST, "of", "A[0, 0]", "0.622", doubt="only its value suggests so"),
        claimed(POST, "as_printed", "0.62 * 1 + 0.38 * 0.55", "0.84"),
        claimed(POST, "as_printed", "0.25 * 3", "0.754"),
        *more.pop("claims", ()),
    ]
    given = [("ignored", "2"), ("ignored", "2026"), *(("given", x) for x in ["1", "0.5", "0", "2"])]
    bound = [("bound", x) for x in ["0.62", "0.39", "0.12", "0.88", "0.622"]]
    local = [("local", x) for x in ["0.62", "1", "0.38", "0.55", "0.84", "0.25", "3", "0.754"]]
    return read(
        claims=claims,
        given={"S": (("1", "0.5"), ("0", "2"))},
        steps={"A": "softmax(S)"},
        numbers=[*given, *bound, *local, ("unread", "0.31")],
        left=[("a quarter", "of what is not said")],
        assumed=["assuming softmax row by row: A = softmax(S)"],
        **more,
    )


def audited(reading=None):
    """The audit of an article read so, or of the post."""
    return audit(case_of(reading or post()))
