"""Correcting an article: the digits that an audit refutes, and nothing else.

Only what is identified with twice the evidence that a refutation needs is corrected, and
nothing where most figures of an article are in doubt: then it may have been misread.

What is written is read and judged again before anybody gets it: where something
would be understood otherwise than before, or would be refuted that held, nothing is
corrected. An equation that was true as printed stays so: where a correction would make it
false, and nothing corrects the rest of it, the figures of that quantity are left.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from symattn.auditing.audit import Audit
from symattn.auditing.equations import OperandPlaces
from symattn.auditing.figures import Figure
from symattn.cases.claims import Claim
from symattn.documents import code
from symattn.documents.article import Article
from symattn.documents.binding.evidence import MARGIN
from symattn.documents.editing import Moves, Rewriter, TextEdit, applied
from symattn.documents.reading import Reading
from symattn.documents.text import Span
from symattn.errors import Malformed
from symattn.expressions import syntax
from symattn.limits import ROUNDS
from symattn.verdicts import Verdict

#: From so many wrong figures on, a claim may be of something else.
_MANY = 3
#: So many bits are asked for what a figure is before it is corrected.
SURE = 2 * MARGIN
_STRANDED = "what follows from it can't be corrected with it"
_EQUATION = "correcting it would make an equation false that is true as printed"


@dataclass(frozen=True)
class Fix:
    """A figure that was corrected: where it stands, what it is of ('' for what only
    numbers lead to), and its text in the file before and after."""

    span: Span
    label: str
    printed: str
    correct: str


@dataclass(frozen=True)
class UnfixedFigure:
    """A figure or statement that stays as it is: where, what, as printed, and why."""

    span: Span
    label: str
    printed: str
    why: str


@dataclass(frozen=True)
class CorrectedArticle:
    """An article corrected: its whole text, and what became of what was refuted.

    ``refused`` says why nothing was corrected though something could be: it would
    have made something worse, or the article may have been misread. The text is the old
    one then. Places are those in the old text.
    """

    article: Article
    text: str
    fixes: tuple[Fix, ...] = ()
    left: tuple[UnfixedFigure, ...] = ()
    refused: str = ""


def fixed(audit: Audit, again: Callable[[str], Audit]) -> CorrectedArticle:
    """The article of an audit corrected; ``again`` audits another text of it.

    A figure of a quantity gets that quantity's digits; one that only numbers lead to
    gets what these come to, once they are right themselves. Inputs, figures that
    claims disagree on, and those that are not there as they were read are left.

    Raises :class:`Malformed` for an audit of no article.
    """
    article = _reading(audit).article
    if (doubt := _misread(audit)) and _Plan(audit, {}).edits:
        return CorrectedArticle(article, article.source, refused=doubt)
    # What is open is not made sure by what was corrected beside it.
    kept: dict[Span, str] = {item.span: item.why for item in audit.unjudged}
    for _ in range(ROUNDS.most):
        corrected = _Corrected(audit, again, kept)
        stranded = dict.fromkeys(corrected.stranded(), _STRANDED)
        again_kept = stranded | dict.fromkeys(corrected.broken(), _EQUATION)
        if again_kept.keys() <= kept.keys():
            return corrected.result()
        kept = again_kept | kept
    return _refused(article, ROUNDS.said())


class _Corrected:
    """An article with its figures corrected, but those that are ``kept``."""

    def __init__(
        self, audit: Audit, again: Callable[[str], Audit], kept: Mapping[Span, str]
    ) -> None:
        self.audit, self.current = audit, audit
        #: Where in the old text stands what is at a place now.
        self._origins = {span: span for span in (*_places(audit), *_open(audit))}
        self._refused = self._round(again, kept)

    def _round(self, again: Callable[[str], Audit], kept: Mapping[Span, str]) -> str:
        """Correct until nothing is left to be; why nothing can, '' where all is well."""
        for _ in range(ROUNDS.most):
            origins = self._origins.items()
            now = {span: kept[origin] for span, origin in origins if origin in kept}
            self._plan = _Plan(self.current, now)
            if not self._plan.edits:
                return ""
            try:
                new = again(applied(_reading(self.current).article.source, self._plan.edits))
            except Malformed as error:
                return f"it couldn't be read: {error}"
            moves = Moves(self._plan.edits)
            if lost := _lost(self.current, new, moves):
                return f"{lost} would be read differently"
            self._origins = {moves.moved(at): origin for at, origin in self._origins.items()}
            self.current = new
        return ROUNDS.said()

    def broken(self) -> set[Span]:
        """The refuted figures whose correction makes an equation false that was true as
        printed, and all others of the same quantities."""
        places = OperandPlaces(_reading(self.current))
        refuted = [one for one in _judged(self.audit) if one.verdict is Verdict.REFUTED]
        before = {one.span for one in refuted if one.claim.is_arithmetic}
        touched: set[Span] = set()
        for figure in _judged(self.current):
            origin = self._origins.get(figure.span) if figure.span else None
            is_false = figure.claim.is_arithmetic and figure.verdict is Verdict.REFUTED
            if is_false and origin is not None and origin not in before:
                beside = (self._origins.get(number.span) for number in places.of(figure.claim))
                touched |= {origin, *filter(None, beside), *self._inside(figure.claim)}
        terms = {one.term.key for one in refuted if one.span in touched}
        return {one.span for one in refuted if one.span and one.term.key in terms}

    @cached_property
    def _fixed(self) -> tuple[Fix, ...]:
        """The corrections."""
        return tuple(_fixes(self.current, _reading(self.audit).article, self._origins))

    def stranded(self) -> set[Span]:
        """The figures that were corrected though what follows from them was not."""
        corrected = {fix.span.start: fix.span for fix in self._fixed}
        return {
            corrected[start]
            for figure in _judged(self.audit)
            if (stated := figure.claim.stated) and figure.verdict is Verdict.REFUTED
            if figure.span is not None and figure.span.start not in corrected
            for start in stated.follows
            if start in corrected
        }

    def _inside(self, claim: Claim) -> Iterator[Span]:
        """The places in what a claim is made of."""
        start, end = claim.span or Span(0, 0)
        return (
            origin for at, origin in self._origins.items() if start <= at.start and at.end <= end
        )

    def result(self) -> CorrectedArticle:
        """Return what became of the article."""
        article, origins = _reading(self.audit).article, self._origins
        if self._refused:
            return _refused(article, self._refused)
        wrong = _refuted(self.audit) | _open(self.audit)
        for span in sorted(_refuted(self.current)):
            if origins.get(span) not in wrong:
                return _refused(article, f"{_places(self.current)[span][0]} would be refuted")
        left = tuple(
            replace(item, span=origins.get(item.span, item.span)) for item in self._plan.left
        )
        return CorrectedArticle(article, _reading(self.current).article.source, self._fixed, left)


def _refused(article: Article, why: str) -> CorrectedArticle:
    return CorrectedArticle(article, article.source, refused=f"with its figures corrected {why}")


def _reading(audit: Audit) -> Reading:
    if audit.case.reading is None:
        raise Malformed("only articles can be corrected, not case files")
    return audit.case.reading


def _judged(audit: Audit) -> tuple[Figure, ...]:
    """All figures, what they are said to be in vain as well."""
    return (*audit.figures, *audit.contradicted)


def figures_at(figures: Iterable[Figure]) -> dict[Span, list[Figure]]:
    """Figures by where they stand, in the order of the article."""
    places: dict[Span, list[Figure]] = defaultdict(list)
    for figure in figures:
        if figure.span is not None:
            places[figure.span].append(figure)
    return {span: places[span] for span in sorted(places)}


class _Plan:
    """What can be corrected of an article as it stands, and what is left and why."""

    def __init__(self, audit: Audit, kept: Mapping[Span, str]) -> None:
        self.edits: list[TextEdit] = []
        self.left: list[UnfixedFigure] = []
        self._kept = kept
        reading = _reading(audit)
        self._operands = OperandPlaces(reading)
        self._literals = sorted(
            span
            for block in reading.article.blocks
            if block.kind == "code"
            for span in code.literals(block)
        )
        self._rewriter = Rewriter(reading.article)
        self._inputs = {number.span for number in reading.numbers if number.status == "given"}
        self._numbers = reading.numbers
        self._places = figures_at(_judged(audit))
        self._refuted = _refuted(audit)
        #: How many more figures of each claim hold than are wrong.
        self._balance = Counter[int]()
        for figure in audit.figures:
            is_wrong = figure.verdict is Verdict.REFUTED
            self._balance[figure.claim.number] += -1 if is_wrong else 1
        self._going_on: dict[int, bool] = {}
        self._crossing = _crossing(self._places)
        self._doubtful = _doubtful(audit)
        #: What isn't right, and stays: what is open, and what is left.
        self._wrong = sorted(item.span for item in audit.unjudged)
        chains: list[tuple[Span, list[Figure]]] = []
        for span, figures in self._places.items():
            if all(figure.verdict is not Verdict.REFUTED for figure in figures):
                continue
            if all(figure.claim.is_arithmetic for figure in figures):
                chains.append((span, figures))
            else:
                self._correct(span, figures)
        # What follows from a figure that is left can't be told before.
        for span, figures in chains:
            self._correct(span, figures)
        for statement in audit.statements:
            claim = statement.claim
            if statement.verdict is Verdict.REFUTED and claim.span is not None:
                self.left.append(
                    UnfixedFigure(
                        claim.span, claim.holds, "", "a statement has no digits to correct"
                    )
                )

    def _correct(self, span: Span, figures: Sequence[Figure]) -> None:
        """Correct what stands at one place, or say why not."""
        correction = self._correction(span, figures)
        if isinstance(correction, TextEdit):
            self.edits.append(correction)
            return
        refuted = next(figure for figure in figures if figure.verdict is Verdict.REFUTED)
        self.left.append(UnfixedFigure(span, refuted.label, refuted.text, correction))
        insort(self._wrong, span)

    def _correction(self, span: Span, figures: Sequence[Figure]) -> TextEdit | str:
        """Return what corrects a figure, or why nothing does."""
        of = [figure for figure in figures if not figure.claim.is_arithmetic]
        judges = of or figures
        if span in self._inputs:
            return "it is an input"
        if self._is_in_program(span):
            return "the program there computes with it"
        if span in self._kept:
            return self._kept[span]
        if span in self._crossing:
            return "it overlaps another figure"
        if any(self._goes_on(figure.claim) for figure in judges):
            return "its row is printed again, and goes on as it is"
        if others := [figure for figure in judges if figure.verdict is not Verdict.REFUTED]:
            wrong = next(figure for figure in figures if figure.verdict is Verdict.REFUTED)
            return f"{wrong.label} is {wrong.correct}, but as {others[0].label} it is not refuted"
        if any(figure.claim.number in self._doubtful for figure in judges):
            return "most figures beside it would change too, so it may be something else"
        if any(figure.claim.trust < SURE for figure in of):
            # What the numbers beside it come to as well needs no more evidence.
            judges = figures
            sums = [figure for figure in figures if figure.claim.is_arithmetic]
            if not sums or any(figure.verdict is not Verdict.REFUTED for figure in sums):
                return "too little says that it is that: confirm it in a note (symattn read --help)"
        if not of and any(figure.claim.trust < MARGIN for figure in figures):
            return "only a label says what it was computed from: correct it by hand"
        if not of and not any(self._is_borne_out(figure.claim) for figure in figures):
            return "it may be right, and its numbers wrong: correct it by hand"
        if self._rewriter.is_rendered(span):
            return "the page also contains it in rendered form: correct the source"
        if not of and any(self._is_led_astray(figure) for figure in figures):
            return "it follows from a figure that was left as it is"
        if any(figure.printed is None or figure.off is None for figure in judges):
            return "correcting its digits is not enough"
        edits = {self._edit(span, figure) for figure in judges}
        if len(edits) > 1:
            readings = (f"as {figure.label} it would be {figure.correct}" for figure in judges)
            return ", ".join(dict.fromkeys(readings))
        return edits.pop() or "its digits do not stand in the file as they were read"

    def _is_borne_out(self, claim: Claim) -> bool:
        """Return whether it is known what numbers are that come to other figures, or most that
        they come to stand there."""
        return claim.trust > MARGIN or self._balance[claim.number] > 0

    def _is_led_astray(self, figure: Figure) -> bool:
        """Return whether a wrong figure stands in what leads to this one."""
        if any(number.span in self._wrong for number in self._operands.of(figure.claim)):
            return True
        start, end = figure.claim.span or Span(0, 0)
        first = bisect_left(self._wrong, Span(start, start))
        return first < len(self._wrong) and self._wrong[first].end <= end

    def _goes_on(self, claim: Claim) -> bool:
        """Return whether a row of a claim is printed again, and a wrong figure of it not refuted
        there."""
        if claim.number not in self._going_on:
            self._going_on[claim.number] = any(map(self._is_again, claim.spans))
        return self._going_on[claim.number]

    def _is_again(self, row: Sequence[Span]) -> bool:
        numbers, wrong = self._numbers, [k for k, span in enumerate(row) if span in self._refuted]
        first = bisect_left(numbers, row[0], key=lambda number: number.span) if row else 0
        printed = numbers[first : first + len(row)]
        if len(row) < 2 or not wrong or [number.span for number in printed] != [*row]:
            return False
        texts = [number.text for number in printed]
        others = (start for start in self._begins.get(texts[0], ()) if start != first)
        return any(
            [number.text for number in numbers[start : start + len(row)]] == texts
            and any(numbers[start + k].span not in self._refuted for k in wrong)
            for start in others
        )

    @cached_property
    def _begins(self) -> Mapping[str, Sequence[int]]:
        """Return which numbers are printed so."""
        begins: dict[str, list[int]] = defaultdict(list)
        for k, number in enumerate(self._numbers):
            begins[number.text].append(k)
        return begins

    def _is_in_program(self, span: Span) -> bool:
        """Return whether a number stands there that a program computes with."""
        first = bisect_left(self._literals, Span(span.start, 0))
        return first < len(self._literals) and self._literals[first].start < span.end

    def _edit(self, span: Span, figure: Figure) -> TextEdit | None:
        assert figure.printed is not None
        assert figure.off is not None
        count = figure.printed.count - figure.off
        return self._rewriter.edit(span, figure.printed, count, self._minus(span))

    def _minus(self, span: Span) -> str:
        """The minus that the document writes nearest to a place, in text of the same kind."""
        places, signs = self._signs.get(self._rewriter.kind(span), ([], []))
        near = bisect_left(places, span.start)
        around = range(max(near - 1, 0), min(near + 1, len(places)))
        nearest = min(around, key=lambda k: abs(places[k] - span.start), default=None)
        return "-" if nearest is None else signs[nearest]

    @cached_property
    def _signs(self) -> dict[str, tuple[list[int], list[str]]]:
        """Return where figures have a minus, and how it is written, by the kind of text."""
        by_kind: dict[str, tuple[list[int], list[str]]] = defaultdict(lambda: ([], []))
        for span in self._places:
            if sign := self._rewriter.sign(span):
                places, signs = by_kind[self._rewriter.kind(span)]
                places.append(span.start)
                signs.append(sign)
        return by_kind


def _misread(audit: Audit) -> str:
    """Return why an article may have been misread as a whole, '' if it doesn't look so."""
    figures = [figure for figure in audit.figures if not figure.claim.is_arithmetic]
    refuted = sum(figure.verdict is Verdict.REFUTED for figure in figures)
    doubted, count = refuted + len(audit.unjudged), len(figures) + len(audit.unjudged)
    if doubted < _MANY or 2 * doubted <= count:
        return ""
    return f"{doubted} of {count} figures are refuted or open, so it may have been misread"


def _doubtful(audit: Audit) -> set[int]:
    """Claims with so many wrong figures, and no reason for them, that they rather are of
    something else: who writes an article gets most of a matrix right. Where a step was only
    assumed it may be that which is wrong, whatever the reason."""
    figures = Counter(figure.claim.number for figure in audit.figures)
    supposed = _supposed(_reading(audit))
    wrong = Counter(
        suspect.claim.number
        for suspect in audit.figures
        if (suspect.cause == "root" and suspect.explained is None)
        or (
            suspect.verdict is Verdict.REFUTED
            and not suspect.claim.is_arithmetic
            and not supposed.isdisjoint(syntax.names(suspect.claim.tree))
        )
    )
    return {
        claim for claim, count in wrong.items() if count >= _MANY and 2 * count > figures[claim]
    }


def _supposed(reading: Reading) -> set[str]:
    """The steps that were assumed, and those that are computed from them."""
    names: set[str] = set()
    for name, step in reading.steps.items():
        if step.assumed or not names.isdisjoint(syntax.names(step.tree)):
            names.add(name)
    return names


def _crossing(spans: Iterable[Span]) -> set[Span]:
    """Return those that others stand in, or cross."""
    crossing: set[Span] = set()
    widest = Span(-1, -1)
    for span in sorted(spans):
        if span.start < widest.end:
            crossing |= {span, widest}
        if span.end > widest.end:
            widest = span
    return crossing


def _places(audit: Audit) -> dict[Span, list[str]]:
    """Return what is said at each place: figures and statements as messages name them."""
    places: dict[Span, list[str]] = defaultdict(list)
    for span, figures in figures_at(_judged(audit)).items():
        places[span] += [f"{figure.label} = {figure.text}" for figure in figures]
    for statement in audit.statements:
        if statement.claim.span is not None:
            places[statement.claim.span].append(statement.claim.holds)
    return places


def _refuted(audit: Audit) -> set[Span]:
    """Return where something is refuted."""
    figures = {judged.span for judged in audit.figures if judged.verdict is Verdict.REFUTED}
    claims = {judged.claim.span for judged in audit.statements if judged.verdict is Verdict.REFUTED}
    return {span for span in figures | claims if span is not None}


def _open(audit: Audit) -> set[Span]:
    """Return where it is open what is printed."""
    return {item.span for item in audit.unjudged}


def _lost(old: Audit, new: Audit, moves: Moves) -> str:
    """Return what was understood of the old text and is not of the new one; '' for nothing."""
    before, after = _reading(old), _reading(new)
    for name, given in before.given.items():
        if name not in after.given or after.given[name].entries != given.entries:
            return name
    for name, step in before.steps.items():
        if name not in after.steps or after.steps[name].tree != step.tree:
            return name
    # What follows from a wrong figure says nothing where that is right.
    lost = _said(old, moves, are_alone=True) - _said(new, Moves(()))
    return next((text or "a figure" for _, _, text in lost), "")


def _said(audit: Audit, moves: Moves, are_alone: bool = False) -> Counter[tuple[Span, str, str]]:
    """Every place with what it is said to be; of arithmetic only that, its digits may change. Those
    that ``are_alone`` follow from no wrong figure."""
    claims = [
        (span, figure.claim.key, "" if figure.claim.is_arithmetic else figure.label)
        for span, figures in figures_at(_judged(audit)).items()
        for figure in figures
        if not (are_alone and figure.claim.stated and figure.claim.stated.follows)
    ]
    return Counter((moves.moved(span), key, text) for span, key, text in claims)


def _fixes(new: Audit, old: Article, origins: Mapping[Span, Span]) -> Iterator[Fix]:
    """Yield what was corrected, in the order of the article."""
    article = _reading(new).article
    for span, figures in figures_at(_judged(new)).items():
        origin = origins.get(span)
        if origin is not None and article.text(span) != old.text(origin):
            labels = (figure.label for figure in figures if not figure.claim.is_arithmetic)
            yield Fix(origin, next(labels, ""), old.text(origin), article.text(span))
