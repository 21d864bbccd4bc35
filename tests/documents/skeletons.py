"""Readings of marked documents, made from the marks and not by any reader of articles.

A skeleton is a document with holes where its figures stand. It reads every text that
fills them, so a document can be read again after its figures were written anew.

An expression that ends in ``=`` says as well that the numbers before the figure, behind
the last sign ``=`` or a line's beginning, come to it; ``=`` alone says only that.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from symattn.auditing.audit import Audit, audit
from symattn.cases.article import case_of
from symattn.cases.case import Case
from symattn.cases.library import load
from symattn.documents.article import Article, Block, BlockPart, Form
from symattn.documents.reading import ArticleNumber, Claimed, Reading, ReadInput, ReadStep, Status
from symattn.documents.text import Span, Text
from symattn.expressions.syntax import parse
from symattn.numbers.rows import Numbers
from tests.documents import marks

_FIGURE = r"(-inf|\(?(?:&minus;|&#8722;|\\u2212|\{-\}|[-−–+])?[0-9.,{}\\]*?\)?)"
_PLAIN = str.maketrans("", "", "{}\\(),")


@dataclass(frozen=True)
class Skeleton:
    """A document without its figures, and the truth about them; what is read of it may
    be changed."""

    path: Path
    form: Form
    pieces: tuple[str, ...]
    figures: tuple[marks.Mark, ...]
    truth: Path | str
    encoding: str = "utf-8"
    change: Callable[[Reading], Reading] = lambda reading: reading

    def filled(self, texts: list[str]) -> str:
        """The document with these figures."""
        between = [*texts, ""]
        return "".join(a + b for a, b in zip(self.pieces, between, strict=True))

    @property
    def printed(self) -> str:
        return self.filled([mark.printed for mark in self.figures])

    @property
    def correct(self) -> str:
        return self.filled([mark.correct or mark.printed for mark in self.figures])

    def spans(self, text: str) -> list[Span]:
        """Where the figures stand in a text that fills the holes."""
        pattern = _FIGURE.join(map(re.escape, self.pieces))
        match = re.fullmatch(pattern, text)
        assert match is not None, f"it fills no holes: {text}"
        return [Span(*match.span(k + 1)) for k in range(len(self.figures))]

    def read(self, text: str) -> Reading:
        """What a text says that fills the holes."""
        block = Block("prose", (BlockPart("text", _decoded(text, self.form)),))
        article = Article(self.path, self.form, text, (block,), self.encoding)
        case = load(self.truth)
        numbers, claims = [], []
        for mark, span in zip(self.figures, self.spans(text), strict=True):
            plain = _decoded(text[slice(*span)], self.form).string.translate(_PLAIN)
            status: Status = "given" if mark.is_given else "bound"
            numbers.append(ArticleNumber(plain, span, status, mark.expression))
            if mark.is_given:
                continue
            name = mark.expression.removesuffix("=")
            if name:
                claims.append(Claimed("of", parse(name), "", span, plain, span))
            if mark.expression.endswith("="):
                start = max(text.rfind("=", 0, text.rfind("=", 0, span.start)),
                            text.rfind("\n", 0, span.start)) + 1  # fmt: skip
                sum_of = text[start : text.rfind("=", 0, span.start)].strip()
                whole = Span(start, span.end)
                claims.append(Claimed("as_printed", parse(sum_of), "", whole, plain, span))
        return Reading(
            article,
            {
                name: ReadInput(Numbers.read(_texts(rows)), Span(0, 0))
                for name, rows in case.raw.items()
            },
            {name: ReadStep(parse(step)) for name, step in case.steps.items()},
            _loss(case),
            claims=tuple(claims),
            tokens=case.tokens,
            numbers=tuple(numbers),
        )

    def audit(self, text: str) -> Audit:
        """A text that fills the holes, judged."""
        return audit(case_of(self.change(self.read(text))))


def skeleton(text: str, truth: Path | str, path: Path = Path("post.md")) -> Skeleton:
    """The skeleton of a marked text; ``=`` in the place of an expression stays as it is."""
    plain, found = marks.read(text)
    kept = [
        replace(mark, expression=said)
        for mark, said in zip(found, re.findall(r"⟦(?:given )?([^|⟦⟧]*)\|", text), strict=True)
    ]
    ends = [0, *(mark.end for mark in kept)]
    starts = [*(mark.start for mark in kept), len(plain)]
    pieces = tuple(plain[a:b] for a, b in zip(ends, starts, strict=True))
    form: Form = _FORMS.get(path.suffix, "text")
    return Skeleton(path, form, pieces, tuple(kept), truth)


def loaded(path: Path) -> Skeleton:
    """The skeleton of a marked document; what is arithmetic in it claims nothing."""
    marked = marks.load(path)
    found = skeleton(path.read_bytes().decode(), marked.truth, Path(marked.name))
    quiet = tuple(
        replace(mark, expression="x", is_given=True) if mark.expression == "=" else mark
        for mark in found.figures
    )
    return replace(found, figures=quiet)


_FORMS: dict[str, Form] = {
    ".md": "markdown",
    ".qmd": "markdown",
    ".ipynb": "notebook",
    ".tex": "latex",
    ".html": "html",
}


_ESCAPES = {"html": r"&#?\w+;", "notebook": r"\\(?:u[0-9a-f]{4}|.)"}


def _decoded(text: str, form: Form) -> Text:
    """A text as its readers see it, without the escapes of its form."""
    if form not in _ESCAPES:
        return Text.whole(text)
    whole, pieces, done = Text.whole(text), [], 0
    for match in re.finditer(_ESCAPES[form], text):
        pieces.append(whole[done : match.start()])
        plain = html.unescape(match[0]) if form == "html" else json.loads(f'"{match[0]}"')
        pieces.append(Text.at(plain, Span(*match.span())))
        done = match.end()
    return Text.joined([*pieces, whole[done:]])


def _loss(case: Case) -> dict[str, object] | None:
    if not case.states_loss:
        return None
    loss: dict[str, object] = {"output": case.output, "wrt": case.wrt}
    return loss if case.raw_upstream is None else {**loss, "upstream": case.raw_upstream}


def _texts(rows: object) -> Any:
    if isinstance(rows, list | tuple):
        return tuple(map(_texts, rows))
    return f"{rows:f}" if isinstance(rows, Decimal) else str(rows)
