"""Judging a document: a verdict for every figure and statement, a cause for
every refuted figure, and the roots that everything else follows from.

Arithmetic: whether the numbers that a document computes with come to what it prints.

That is a question of its own beside what the quantity is: a chain of numbers
may be right and its numbers wrong, or the other way round. Such a figure is
no evidence about any quantity, and no slip in a recipe explains it.

Rounding on the way is judged apart on either side. Of a *quantity* the right
digits are asked: one computed from the document's own rounded figures is refuted,
with the cause ``rounded-inputs`` or ``carried``. Of *arithmetic* only that its
operands come to it: these may be roundings themselves, and a result that they may
have come to before holds, marked as within rounding
(:mod:`symattn.auditing.equations`). Where both are said of one figure, the arithmetic
comes first: ``0.5066 * 2 = 1.0132`` holds as printed of a quantity that is 1.0131
(:mod:`symattn.auditing.equations`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate, chain
from math import inf
from pathlib import Path

from flint import arb

from symattn.auditing.equations import Equations
from symattn.auditing.equations import causes as causes_of_stated
from symattn.auditing.figures import Cause, Decider, Figure, Slip, Statement
from symattn.auditing.standard import Recipes, Standard, is_truncated, places_of
from symattn.cases.case import Case, Claim, Unchecked
from symattn.documents.reading import ArticleNumber, OpenQuestion
from symattn.documents.text import Span
from symattn.errors import Fault, Malformed, SymattnError
from symattn.expressions import syntax
from symattn.expressions.shapes import keys
from symattn.languages.sentence import Sentence, joined
from symattn.numbers.balls import FIRST, precision
from symattn.programs.operands import Operands, rounded
from symattn.solution.entries import EntryValue
from symattn.solution.solution import Solution, solve
from symattn.spelling import written
from symattn.verdicts import Verdict


def explained(figures: Sequence[Figure], known: Mapping[Figure, Cause]) -> dict[Figure, Cause]:
    """The causes of all refuted figures, of those about quantities as they are ``known``.

    Where a claim says both what a quantity is and how its numbers come to it,
    the reason of either tells of the other.
    """
    chains = {_place(figure): figure for figure in figures if figure.claim.key == "as_printed"}
    quantities = {_place(figure): figure for figure in figures if figure.claim.key == "of"}
    causes: dict[Figure, Cause] = {}
    wrong: dict[str, Figure] = {}
    at = {
        figure.span.start: figure
        for figure in figures
        if figure.span is not None and figure.verdict is Verdict.REFUTED
    }
    for figure in figures:
        if figure.verdict is not Verdict.REFUTED:
            continue
        first = wrong.setdefault(figure.term.key, figure)
        stated = figure.claim.stated
        follows = stated.follows if stated else ()
        roots = tuple(at[start] for start in follows if start in at)
        why = _follows(roots) if roots else known.get(figure) or _cause(figure, first)
        chain, quantity = (of.get(_place(figure)) for of in (chains, quantities))
        if chain and quantity:
            right = Sentence(
                "{quantity} is {figure}", quantity=quantity.label, figure=_right(quantity)
            )
            more = _gives(chain) if figure is quantity else right
            why = replace(why, reason=joined((why.reason, more), "; "))
        causes[figure] = why
    return causes


def _place(figure: Figure) -> tuple[int, tuple[int, ...]]:
    """The table that a figure stands in, and where it is inside what is printed."""
    return figure.claim.number, figure.at


def _cause(figure: Figure, first: Figure) -> Cause:
    """Return why numbers do not come to a figure; ``first`` is where those are wrong first."""
    if figure is not first and figure.rounds_from(first.number):
        reason = Sentence("repeats {figure}", figure=first.description)
        return Cause("carried", reason, (first,))
    if figure.printed and is_truncated(figure.entry, figure.printed):
        return Cause("truncated", Sentence("truncated, not rounded"))
    return Cause("root", _gives(figure))


def _follows(roots: tuple[Figure, ...]) -> Cause:
    """Return why a figure is wrong that comes of wrong ones."""
    said = joined([figure.description for figure in roots[:_NAMED]])
    return Cause("carried", Sentence("it follows from {figures}", figures=said), roots)


def _gives(chain: Figure) -> Sentence:
    if (stated := chain.claim.stated) is not None and stated.is_run:
        return Sentence("the program gives {figure}", figure=_right(chain))
    return Sentence("the arithmetic as printed gives {figure}", figure=_right(chain))


def _right(figure: Figure) -> str:
    return figure.correct or Sentence("undecided")


#: Of so many figures that another follows from a reason speaks.
_NAMED = 2
#: Causes of figures that are not wrong because of others.
_ROOTS = ("truncated", "root", "last-digit")


@dataclass(frozen=True, repr=False)
class Audit:
    """The figures and statements of a document, judged; made by :func:`audit`.

    ``habit`` is the systematic error that explains every miss at once, if one does;
    ``causes`` are the slips behind many wrong figures at once, of so many that
    were ``tried``. Of an article, ``unjudged`` are claims that have no answer.
    """

    case: Case
    figures: tuple[Figure, ...]
    statements: tuple[Statement, ...]
    habit: str = ""
    causes: tuple[Slip, ...] = ()
    tried: int = 0
    unjudged: tuple[OpenQuestion, ...] = ()
    contradicted: tuple[Figure, ...] = ()

    def __repr__(self) -> str:
        return f"<Audit of {self.case.name[:60]!r}: {self._counts}>"

    def _repr_html_(self) -> str:
        from symattn.printers import markdown

        rows: list[tuple[str, str, str, str, str]] = [
            (item.claim.where, item.label, item.text, item.correct, item.cause)
            for item in self.figures
            if item.verdict is Verdict.REFUTED
        ]
        rows += [
            (item.claim.where, item.claim.text, "", "", "statement")
            for item in self.statements
            if item.verdict is Verdict.REFUTED
        ]
        header = ("where", "quantity", "printed", "correct", "cause")
        title, whole = self.case.title or self.case.name, markdown.beginning(len(rows), 0)
        return markdown.summary(title, self._counts, header, rows[: markdown.MOST], whole)

    @property
    def _counts(self) -> str:
        return ", ".join(f"{count} {name}" for name, count in self.summary.items() if count)

    @property
    def unchecked(self) -> tuple[Unchecked, ...]:
        """Return what the document says that no claim can say."""
        return self.case.unchecked

    @property
    def open(self) -> tuple[OpenQuestion, ...]:
        """Return what an article leaves open: read in more than one way or in none, or without an
        answer; in order."""
        reading = self.case.reading
        items = (*(reading.open if reading else ()), *self._lost)
        return tuple(sorted(items, key=lambda item: item.span))

    @property
    def _lost(self) -> tuple[OpenQuestion, ...]:
        """Claims that were read, and have no answer."""
        reading = self.case.reading
        return (*(reading.unfit if reading else ()), *self.unjudged)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return what an article was taken to mean, though it does not say so."""
        return self.case.reading.assumptions if self.case.reading else ()

    @cached_property
    def numbers(self) -> tuple[ArticleNumber, ...]:
        """All numbers that an article prints, and what became of each: those of a claim
        without an answer were not read."""
        if self.case.reading is None:
            return ()
        why = _covering(self._lost)
        # A number may have a sign of percent that its figure is without.
        return tuple(
            replace(number, status="unread", of="", why=item.why)
            if number.status in ("bound", "local")
            and (item := why(Span(number.span.start, number.span.start + 1)))
            else number
            for number in self.case.reading.numbers
        )

    @property
    def roots(self) -> list[Figure]:
        """The figures that are not wrong because of others, each where it first
        occurs: with these corrected, the propagated ones come out."""
        return [figure for figure in self.figures if figure.cause in _ROOTS]

    def count(self, verdict: Verdict) -> int:
        """Figures and statements with that verdict."""
        return sum(item.verdict is verdict for item in self._items)

    @property
    def _items(self) -> tuple[Figure | Statement, ...]:
        return (*self.figures, *self.statements)

    @property
    def summary(self) -> dict[str, int]:
        """The counts, by name."""
        return {
            "figures": len(self.figures),
            "statements": len(self.statements),
            "holds": self.count(Verdict.HOLDS),
            "refuted": self.count(Verdict.REFUTED),
            "undecided": self.count(Verdict.UNDECIDED),
            "within_rounding": sum(item.within_rounding for item in self._items),
            "as_printed": sum(figure.as_printed for figure in self.figures),
            "coarse": sum(figure.coarse for figure in self.figures),
            "unchecked": len(self.unchecked),
            "roots": len(self.roots),
        }


def audit(case: str | Path | Case | Solution) -> Audit:
    """Judge all that a document prints.

    Raises :class:`Malformed` with every claim that has no answer at the case's
    numbers, such as one that compares a masked score.

    >>> found = audit("cat-sat-mat-unscaled")
    >>> [(f.label, f.text, f.correct, f.cause) for f in found.figures if f.cause][0]
    ('A[2, 2]', '0.5762', '0.5761', 'last-digit')
    """
    solution = case if isinstance(case, Solution) else solve(case)
    document = _Document(solution)
    slips, tried = _explained(document)
    return Audit(
        solution.case,
        tuple(document.figures),
        tuple(document.statements),
        _systematic_error(document.figures),
        slips,
        tried,
        tuple(document.unjudged),
        tuple(document.contradicted),
    )


def _explained(document: _Document) -> tuple[tuple[Slip, ...], int]:
    """Give every refuted figure its cause: the slips that can be named, and how many were tried."""
    known: dict[Figure, Cause] = {}
    named: tuple[Slip, ...] = ()
    tried = 0
    # What numbers alone come to is no evidence about a quantity; nor is what was found by
    # its value, and is right for that reason only.
    figures = [
        figure
        for figure in document.figures
        if not (figure.claim.is_arithmetic or figure.claim.doubt)
    ]
    if refuted := [figure for figure in figures if figure.verdict is Verdict.REFUTED]:
        # Most that the audit consists of: who is right does without.
        from symattn.auditing.search import Causes, SlipNaming

        with precision(FIRST):
            causes = Causes(document.recipes, figures)
            if document.solution.case.reading is not None:
                comes_out = causes.comes_of_right_figures
                refuted = [figure for figure in refuted if not _as_printed(figure, comes_out)]
            for figure in refuted:
                known[figure] = causes.cause(figure, known)
            slips = SlipNaming(document.solution, figures, known)
            named, tried = slips.named, slips.tried
            for figure in refuted:
                if known[figure].slip is None:
                    known[figure] = causes.propagated_from_later(figure, known)
            slips.explain_rest()
            # Some that seemed cut off may follow from what a slip has explained since.
            for figure in refuted:
                if known[figure].kind == "truncated":
                    known[figure] = causes.cause(figure, known)
    of_stated, slips_of_stated = causes_of_stated(document.figures, document.solution)
    known |= of_stated
    named += tuple(slips_of_stated)
    for figure, cause in explained(document.figures, known).items():
        figure.why = cause
    return named, tried


def _as_printed(figure: Figure, comes_of_right_figures: Callable[[Figure], bool]) -> bool:
    """Return whether a refuted figure of an article holds after all, as it comes of what is printed
    before it: who works by hand goes on with the digits on paper."""
    if not comes_of_right_figures(figure):
        return False
    figure.verdict, figure.as_printed = Verdict.HOLDS, True
    return True


def _covering(items: Sequence[OpenQuestion]) -> Callable[[Span], OpenQuestion | None]:
    """Return what tells of a place the item that it lies in, if there is one."""
    ordered = sorted(items, key=lambda item: item.span)
    starts = [item.span.start for item in ordered]
    #: Up to each, the one that reaches furthest.
    far = [*accumulate(ordered, lambda *two: max(two, key=lambda item: item.span.end))]

    def covering(span: Span) -> OpenQuestion | None:
        before = bisect_right(starts, span.start)
        last = far[before - 1] if before else None
        return last if last and last.span.end >= span.end else None

    return covering


class _Document:
    """The claims of a case: its figures, and its statements decided.

    A claim of an article without an answer is no fault, but left unjudged: nobody
    wrote it as a claim. So is a figure that only its value bound, and that has another.
    """

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self.recipes = Recipes(solution)
        self._standard = Standard(solution.case.rounding, solution.case.tolerance)
        self._operands = Operands(solution.case.rounding)
        # What a figure is of comes before what numbers come to it.
        self._bound = {
            place: (claim, i, j)
            for claim in sorted(solution.case.claims, key=lambda claim: not claim.is_local)
            for i, row in enumerate(claim.spans)
            for j, place in enumerate(row)
        }
        self._equations = Equations(solution.case.reading, self._operands, self._entry_at)
        self.figures: list[Figure] = []
        self.statements: list[Statement] = []
        self.unjudged: list[OpenQuestion] = []
        self.contradicted: list[Figure] = []
        self._decider = Decider(solution)
        faults: list[Fault] = []
        for claim in solution.case.claims:
            try:
                self._take(claim)
            except Malformed as error:
                if claim.span is not None:
                    self.unjudged.append(OpenQuestion(claim.text, str(error), claim.span))
                    continue
                place = f"claims[{claim.number}].{claim.key}"
                faults += [Fault(place, fault.message, claim.line) for fault in error.faults]
        if faults:
            raise Malformed(faults, source=str(solution.case.path or ""))
        self._hold_as_floats()
        self._settle_both()
        doubted = {item.span for item in self.unjudged}
        left = self._equations.settle(self.figures, doubted)
        for figure in left if solution.case.reading is not None else ():
            self.figures.remove(figure)
            self._leave(
                figure, "a true equation gives it, of numbers that nothing says what they are"
            )
        # What numbers come to that stand there is judged, whatever else it may be.
        worked = {figure.span for figure in self.figures if figure.claim.is_arithmetic}
        self.unjudged = [item for item in self.unjudged if item.span not in worked]

    def _decided(self, claim: Claim) -> Statement:
        """A statement with its verdict; one about numbers may hold of what they were
        before they were rounded."""
        verdict, doubt = self._decider.judged(claim)
        if verdict is Verdict.REFUTED and claim.is_local and self._operands.may_hold(claim.tree):
            return Statement(claim, Verdict.HOLDS, within_rounding=True)
        return Statement(claim, verdict, doubt=doubt)

    def _hold_as_floats(self) -> None:
        """Let what a program printed hold of numbers beside it where it holds as the quantity
        that it is, and single precision makes the difference."""
        right = {
            figure.span
            for figure in self.figures
            if not figure.claim.is_arithmetic and figure.verdict is Verdict.HOLDS
        }
        for figure in self.figures:
            is_refuted = figure.claim.is_arithmetic and figure.verdict is Verdict.REFUTED
            is_single = figure.span in right and figure.is_float(32)
            if is_refuted and (is_single or figure.is_float(64)):
                figure.verdict, figure.within_rounding = Verdict.HOLDS, True

    def _settle_both(self) -> None:
        """Let no place hold as one thing and be refuted as another. What repeats an input is
        not right by that; what is right as it is computed leaves open which of the numbers
        beside it, that do not come to it, is wrong."""
        refuted: dict[Span | None, Figure] = {
            figure.span: figure
            for figure in self.figures
            if figure.claim.is_arithmetic and figure.verdict is Verdict.REFUTED and figure.span
        }
        left: set[int] = set()
        for figure in self.figures:
            worked = refuted.get(figure.span)
            if worked is None or figure.claim.is_arithmetic or figure.verdict is Verdict.REFUTED:
                continue
            left.add(id(figure))
            if next(syntax.names(figure.claim.tree), "") not in self.solution.case.given:
                left.add(id(worked))
                why = Sentence(
                    "as {quantity} it is right, but the numbers beside it come to {figure}",
                    quantity=figure.label,
                    figure=_right(worked),
                )
                assert figure.span is not None
                self.unjudged.append(OpenQuestion(figure.text, why, figure.span))
        self.contradicted = [figure for figure in self.figures if id(figure) in left]
        self.figures = [figure for figure in self.figures if id(figure) not in left]

    def _entry_at(self, span: Span) -> EntryValue | None:
        """The entry that is printed at a place, where a claim says so that has an answer."""
        claim, i, j = self._bound.get(span, (None, 0, 0))
        if claim is None or claim.node is None:
            return None
        if claim.is_arithmetic and any(not written(x.text).is_exact for x in rounded(claim.tree)):
            # What rounded numbers come to, rounded again.
            return None
        try:
            entry = EntryValue(self.solution.quantity(claim.node, claim.of), i, j)
            return None if entry.quantity.letters or entry.is_masked else entry
        except SymattnError:
            return None

    def _reach(self, claim: Claim, entry: EntryValue) -> arb | None:
        """All that a figure may be, as what it is computed from may have been rounded."""
        if claim.is_arithmetic:
            return self._equations.reach(claim, entry.i, entry.j)
        return entry.ball(FIRST) + arb(0, claim.reach) if claim.reach else None

    def _take(self, claim: Claim) -> None:
        node = claim.node
        if node is None:
            self.statements.append(self._decided(claim))
            return
        quantity = self.solution.quantity(node, claim.of)
        if quantity.symbols:
            symbols = ", ".join(quantity.symbols)
            raise Malformed(f"a form in {symbols} has no figure to print")
        beside = chain(*claim.printed, rounded(claim.tree) if claim.is_arithmetic else ())
        places = places_of(beside)
        for i, row in enumerate(claim.printed):
            for j, printed in enumerate(row):
                entry = EntryValue(quantity, i, j)
                reach = partial(self._reach, claim, entry)
                figure = Figure(
                    **vars(self._standard.judge(entry, printed, places, reach)),
                    order=len(self.figures),
                    claim=claim,
                    at=keys(node.shape, i, j),
                    printed=printed,
                    entry=entry,
                    node=node,
                    term=self.recipes.at(node, i, j),
                    line=claim.line,
                )
                if figure.span and self.solution.case.reading:
                    article = self.solution.case.reading.article
                    figure.line = article.place(figure.span.start).line
                    figure.printed_at = article.said(figure.span.start)
                says_little = claim.trust == -inf or figure.coarse or figure.vacuous
                is_open = figure.verdict is not Verdict.HOLDS or says_little
                if claim.doubt and figure.span and is_open:
                    self._leave(figure, claim.doubt)
                else:
                    self.figures.append(figure)

    def _leave(self, figure: Figure, doubt: str) -> None:
        """Leave open what may not be what it was taken for."""
        assert figure.span is not None
        why = Sentence("it may not be {figure}: {doubt}", figure=figure.label, doubt=doubt)
        self.unjudged.append(OpenQuestion(figure.text, why, figure.span))


def _systematic_error(figures: list[Figure]) -> str:
    """Return what explains every miss at once, if something does; '' for nothing."""
    missed = [figure for figure in figures if figure.cause]
    causes = {figure.cause for figure in missed}
    if len(missed) > 2 and causes == {"rounded-inputs"}:
        return Sentence("every error is explained by computing with rounded figures")
    if len(missed) > 2 and "truncated" in causes and all(map(_may_be_cut, figures)):
        return Sentence("every error is explained by truncation instead of rounding")
    return ""


def _may_be_cut(figure: Figure) -> bool:
    """Return whether a document that cuts its figures off would print this one."""
    if figure.cause == "carried" or figure.printed is None or figure.off is None:
        return True
    return is_truncated(figure.entry, figure.printed)
