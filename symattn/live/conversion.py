"""Articles made live, and plain again: printed figures to expressions, and back to digits.

Only a figure that holds, and whose binding is certain, is made live; and only where its
expression gives the very characters that stand there, once more from the article as it is
then. So making an article plain again gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from symattn.auditing.audit import Audit
from symattn.auditing.figures import Figure
from symattn.auditing.fixing import SURE, UnfixedFigure, figures_at
from symattn.documents.article import Article
from symattn.documents.editing import Moves, Rewriter, TextEdit, applied
from symattn.documents.text import Span
from symattn.errors import Fault, Faults, Malformed, SymattnError
from symattn.expressions import typesetting as t
from symattn.limits import ROUNDS
from symattn.live.figures import Figures, Text
from symattn.live.names import CASE
from symattn.live.origins import figures_of, named_origin, origin
from symattn.live.places import (
    How,
    LiveFigure,
    Spelling,
    ending,
    file_named,
    found,
    without_ending,
    written,
)
from symattn.solution.solution import solve
from symattn.verdicts import Verdict

#: What KaTeX sets as text.
_PLAIN = re.compile(r"[A-Za-z0-9 .,:;()\[\]+*/@-]*")


@dataclass(frozen=True)
class LiveArticle:
    """An article with live figures: its text, how many there are, and what stays."""

    text: str
    count: int
    staying: tuple[UnfixedFigure, ...]


def live(audit: Audit, spelling: Spelling, name: str, case: str | None = None) -> LiveArticle:
    """The article of an audit with its figures live; ``name`` is what its file is called then.
    They are computed from a ``case`` file, by its path from the article, or from itself.

    Raises :class:`Malformed` for an audit of no article, of one in another form than
    Markdown, of one that names a file already, and where a figure is refuted.
    """
    reading = audit.case.reading
    if reading is None:
        raise Malformed("only articles can be made live, not case files")
    article = reading.article
    _check(article)
    if refuted := [one for one in audit.figures if one.verdict is Verdict.REFUTED]:
        place = article.place(refuted[0].span.start).line if refuted[0].span else 0
        several = len(refuted) > 1
        raise Malformed(
            f"{len(refuted)} figure{'s are' if several else ' is'} refuted, the first in line "
            f"{place}: correct {'them' if several else 'it'} first (symattn audit --fix)"
        )
    if any(True for _ in found(article.source)):
        raise Malformed("it has live figures already: make it plain first (--plain)")
    return _Conversion(audit, article, spelling, case).result(name if case is None else case)


class _Conversion:
    def __init__(
        self, audit: Audit, article: Article, spelling: Spelling, case: str | None
    ) -> None:
        self._article = article
        self._spelling = spelling
        self._rewriter = Rewriter(article)
        self._known = None if case is None else origin(article.path.parent / case).figures
        self._staying: list[UnfixedFigure] = []
        #: What is made live: the figure, and its expression.
        self._made: dict[Span, tuple[Figure, str]] = {}
        figures = Figures(solve(audit.case))
        for span, judged in figures_at(audit.figures).items():
            self._take(span, judged, figures)

    def _take(self, span: Span, judged: list[Figure], figures: Figures) -> None:
        of = [figure for figure in judged if not figure.claim.is_arithmetic]
        if why := self._obstacle(span, of):
            self._stay(span, judged[0], why)
            return
        printed = self._article.source[slice(*span)]
        for figure in of:
            for expression in self._expressions(figure):
                if _given(figures, expression, self._how(span)) == printed:
                    if not self._is_set(expression, span):
                        self._stay(span, figure, f"MyST can't set {expression} in a formula")
                        return
                    self._made[span] = figure, expression
                    return
        self._stay(span, of[0], "it is written otherwise than the computed digits")

    def _obstacle(self, span: Span, of: list[Figure]) -> str:
        """Return why a figure can't be live; '' where it can."""
        if not of:
            return "only numbers lead to it"
        if self._rewriter.kind(span) not in ("text", "math"):
            return "it stands in code"
        if any(figure.claim.trust < SURE or figure.claim.doubt for figure in of):
            return "too little says what it is: confirm it in a note (symattn read --help)"
        if len({figure.term.key for figure in of}) > 1:
            return f"it is {of[0].label} and {of[1].label}"
        return ""

    def _is_set(self, expression: str, span: Span) -> bool:
        """Return whether the document system can set an expression until it is computed."""
        is_formula = self._how(span) == "mathematics" and self._spelling == "myst"
        return not is_formula or _PLAIN.fullmatch(expression) is not None

    def _expressions(self, figure: Figure) -> Iterator[str]:
        """Yield what may give a figure as it is printed."""
        expression = figure.label
        # These would end what stands around an expression, or the cell of a table.
        if figure.printed is None or any(c in expression for c in "`|{}"):
            return
        places = figure.printed.places
        yield f"{expression}:.{places}f"
        if figure.printed.after.strip().startswith("%"):
            yield f"{expression}:.{places}%"

    def _how(self, span: Span) -> How:
        return "mathematics" if self._rewriter.kind(span) == "math" else "line"

    def _stay(self, span: Span, figure: Figure, why: str) -> None:
        self._staying.append(UnfixedFigure(span, figure.label, figure.text, why))

    def result(self, name: str) -> LiveArticle:
        """The article, once every figure in it gives its digits from the file of that name:
        from itself, from what is left there."""
        for _ in range(ROUNDS.most):
            edits = {
                span: TextEdit(span, written(expression, self._how(span), self._spelling))
                for span, (_, expression) in self._made.items()
            }
            text = applied(self._article.source, edits.values())
            lost = {}
            if edits:
                text = ending(text, name, self._spelling)
                lost = self._lost(text, edits)
            if not lost:
                staying = sorted(self._staying, key=lambda item: item.span)
                return LiveArticle(text, len(edits), tuple(staying))
            for span, why in lost.items():
                figure, _ = self._made.pop(span)
                self._stay(span, figure, why)
        raise Malformed(ROUNDS.said())

    def _lost(self, text: str, edits: dict[Span, TextEdit]) -> dict[Span, str]:
        """The figures that don't come to their digits in the new text, and why."""
        article = self._article
        try:
            figures = self._known or figures_of(article.path, text, article.encoding)
        except SymattnError as error:
            why = f"the article says too little without its figures: {error}"
            return dict.fromkeys(edits, f"{why}; name a case file (--case)")
        moves = Moves(edits.values())
        there = {one.span: one for one in found(text)}
        lost: dict[Span, str] = {}
        for span in edits:
            one = there.get(moves.moved(span))
            if one is None:
                lost[span] = "what stands there is shown as it is written"
                continue
            try:
                if digits(figures, one) != article.source[slice(*span)]:
                    lost[span] = "what it would be computed from gives another one"
            except SymattnError as error:
                lost[span] = f"what it would be computed from can't give it: {error}"
        return lost


def _given(figures: Figures, expression: str, how: How) -> str:
    """Return what an expression gives there; '' for nothing."""
    try:
        return digits(figures, LiveFigure(Span(0, 0), "symattn", expression, how))
    except SymattnError:
        return ""


def digits(figures: Figures, one: LiveFigure) -> str:
    """Return what a number gives in the text of an article, in mathematics a matrix too."""
    if one.how == "mathematics":
        return t.latex(figures.row(one.text))
    number = figures.number(one.text)
    return number.text if isinstance(number, Text) else f"${number.latex}$"


def _check(article: Article) -> None:
    if article.form != "markdown":
        raise Malformed(f"only Markdown can be made live, not {article.form}")


def plain(
    article: Article, case: str | None = None, allow_outside: bool = False
) -> tuple[str, int, tuple[LiveFigure, ...]]:
    """The text of a live article with digits again; how many figures got them, and which
    live figures stay, as they are no numbers.

    Raises :class:`Malformed` for an article in another form than Markdown, for one that names
    a file outside of its folder, unless it may, and with every figure that can't be computed:
    then nothing is.
    """
    _check(article)
    source = article.source
    live = [one for one in found(source) if one.name != CASE]
    named = case or file_named(source) or article.path.name
    if named == article.path.name:
        figures = figures_of(article.path, source, article.encoding)
    else:
        path = article.path.parent / named
        # The one that the caller names is meant, wherever it is.
        anywhere = allow_outside or case is not None
        figures = named_origin(named, path, article.path.parent, anywhere).figures
    faults, edits, staying = Faults(), [], []
    for one in live:
        if one.name != "symattn" or one.how == "block":
            staying.append(one)
            continue
        try:
            edits.append(TextEdit(one.span, digits(figures, one)))
        except SymattnError as error:
            line = article.place(one.span.start).line
            faults.append(Fault(f"line {line}", f"{one.text}: {error}"))
    faults.raise_all(str(article.path))
    text = applied(source, edits)
    return (text if staying else without_ending(text)), len(edits), tuple(staying)
