"""Judging a document: a verdict for every figure and statement, a cause for
every refuted figure, and the roots that everything else follows from."""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from flint import fmpq

from symattn import syntax
from symattn.auditing import slips
from symattn.auditing.dependence import Recomputation, Term, Terms
from symattn.auditing.figures import (
    MINUS_INFINITY,
    Printed,
    Standard,
    corrected,
    is_truncated,
    is_vacuous,
    read_printed,
)
from symattn.auditing.statements import Decider
from symattn.cases.case import Case, Claim, Unchecked
from symattn.errors import Fault, Malformed, Undecided
from symattn.programs.nodes import Node, Shape
from symattn.solution.quantity import Entry
from symattn.solution.solution import Solution, solve
from symattn.verdicts import Verdict

#: Most slips that are tried on one document.
MAX_SLIPS = 20_000


@dataclass(eq=False)
class Figure:
    """One printed number, and what the audit says of it.

    ``at`` is its index inside the printed row or matrix; ``cause`` is one of
    truncated, rounded-inputs, carried, root and last-digit; ``because`` are
    the figures that a carried one carries, ``slip`` names what reproduces a
    root and ``reason`` says it in a sentence.
    """

    order: int
    claim: Claim
    at: tuple[int, ...]
    printed: Printed | None
    entry: Entry
    term: Term
    place: tuple[str, int, int]
    verdict: Verdict = Verdict.HOLDS
    correct: str = ""
    vacuous: bool = False
    cause: str = ""
    because: list[Figure] = field(default_factory=list)
    slip: str = ""
    reason: str = ""

    @property
    def label(self) -> str:
        """``A[0][2]``: the expression and the index inside what is printed."""
        if not self.at:
            return self.claim.of
        tree = syntax.parse(self.claim.of)
        plain = isinstance(tree, syntax.Name | syntax.Indexed | syntax.Call)
        base = self.claim.of if plain else f"({self.claim.of})"
        return f"{base}[{', '.join(map(str, self.at))}]"

    @property
    def text(self) -> str:
        """The figure as printed."""
        return MINUS_INFINITY if self.printed is None else self.printed.text

    @property
    def exact(self) -> str:
        """The closed form."""
        return str(self.entry.quantity.entry(self.entry.i, self.entry.j))

    @property
    def size(self) -> float:
        """The printed number as a float, for the search for causes."""
        return float(self.printed.value) if self.printed else float("-inf")

    def fits(self, value: float) -> bool:
        """Whether a recomputed value rounds, or is cut off, to the figure."""
        if self.printed is None or value != value:
            return False
        unit = float(self.printed.unit)
        gap = value - self.size
        cut = 0 <= gap < unit if self.size > 0 else -unit < gap <= 0 if self.size < 0 else False
        return abs(gap) <= unit / 2 * (1 + 1e-9) or cut

    def rounds_from(self, value: float) -> bool:
        """Whether a recomputed value rounds to the figure."""
        if self.printed is None or value != value:
            return False
        return abs(value - self.size) <= float(self.printed.unit) / 2 * (1 + 1e-9)


@dataclass(frozen=True)
class Statement:
    """One statement, decided."""

    claim: Claim
    verdict: Verdict


@dataclass(frozen=True)
class Audit:
    """What a document prints, judged; made by :func:`audit`."""

    case: Case
    figures: tuple[Figure, ...]
    statements: tuple[Statement, ...]
    habit: str = ""

    @property
    def unchecked(self) -> tuple[Unchecked, ...]:
        """What the document says that no claim can say."""
        return self.case.unchecked

    @property
    def roots(self) -> list[Figure]:
        """The figures that are wrong in themselves, each where it first
        occurs: with these corrected, the carried ones come out."""
        return [f for f in self.figures if f.cause in ("root", "last-digit", "truncated")]

    def count(self, verdict: Verdict) -> int:
        """Figures and statements with that verdict."""
        judged = [figure.verdict for figure in self.figures]
        judged += [statement.verdict for statement in self.statements]
        return judged.count(verdict)

    @property
    def summary(self) -> dict[str, int]:
        """The counts, by name."""
        return {
            "figures": len(self.figures),
            "statements": len(self.statements),
            "holds": self.count(Verdict.HOLDS),
            "refuted": self.count(Verdict.REFUTED),
            "undecided": self.count(Verdict.UNDECIDED),
            "unchecked": len(self.unchecked),
            "roots": len(self.roots),
        }


def audit(case: str | Path | Case | Solution) -> Audit:
    """Judge all that a document prints.

    >>> found = audit("cat-sat-mat-unscaled")
    >>> [(f.label, f.text, f.correct, f.cause) for f in found.figures if f.cause][0]
    ('A[2, 2]', '0.5762', '0.5761', 'last-digit')
    """
    solution = case if isinstance(case, Solution) else solve(case)
    return _Judge(solution).audit()


class _Judge:
    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self.case = solution.case
        self.terms = Terms(solution)
        self.figures = list(self._figures())
        self._scaled: dict[str, list[tuple[float, Node]]] = {}
        self._tries = MAX_SLIPS
        self.prints: dict[str, list[int]] = defaultdict(list)
        for k, figure in enumerate(self.figures):
            self.prints[figure.term.key].append(k)

    def audit(self) -> Audit:
        standard = _standard(self.case)
        for figure in self.figures:
            self._judge(figure, standard)
        for k, figure in enumerate(self.figures):
            if figure.verdict is Verdict.REFUTED:
                self._explain(k, figure)
        for group in self._root_groups():
            self._name_slip(group)
        decider = Decider(self.solution)
        statements = tuple(
            Statement(claim, decider.decide(claim.holds))
            for claim in self.case.claims
            if claim.holds
        )
        return Audit(self.case, tuple(self.figures), statements, self._habit())

    # -- figures and verdicts ------------------------------------------------------

    def _figures(self) -> Iterator[Figure]:
        faults: list[Fault] = []
        order = 0
        for number, claim in enumerate(self.case.claims):
            if claim.holds:
                continue
            where = f"claims[{number}].printed"
            quantity = self.solution[claim.of]
            node = self.solution.program.lower(claim.of)
            if quantity.symbols:
                shown = ", ".join(quantity.symbols)
                faults.append(
                    Fault(f"claims[{number}].of", f"a form in {shown} has no figure to print")
                )
                continue
            for at, raw in _entries(claim.printed, quantity.shape):
                i, j = (0, 0, *at)[-2:] if at else (0, 0)
                try:
                    printed = read_printed(raw)
                except Malformed as error:
                    place = "".join(f"[{k}]" for k in at)
                    faults += [Fault(where + place, fault.message) for fault in error.faults]
                    continue
                term = self.terms.at(node, i, j)
                home = term.parts if term.op == "entry" else (claim.of, i, j)
                yield Figure(order, claim, at, printed, Entry(quantity, i, j), term, home)
                order += 1
        if faults:
            raise Malformed(faults, source=str(self.case.path or ""))

    def _judge(self, figure: Figure, standard: Standard) -> None:
        hidden = figure.entry.quantity.is_hidden(figure.entry.i, figure.entry.j)
        if hidden or figure.printed is None:
            same = hidden and figure.printed is None
            figure.verdict = Verdict.HOLDS if same else Verdict.REFUTED
            figure.correct = MINUS_INFINITY if hidden else str(figure.entry.value)
            return
        figure.verdict = standard.verdict(figure.entry, figure.printed)
        try:
            right = corrected(figure.entry, figure.printed, self.case.rounding)
        except Undecided:
            return
        if figure.verdict is Verdict.HOLDS and self.case.tolerance == "":
            figure.correct = figure.text
        else:
            figure.correct = figure.printed.shown_as(right)
        if figure.printed.digits <= 1:
            figure.vacuous = is_vacuous(figure.entry.value, figure.printed)

    # -- causes ---------------------------------------------------------------------

    def _explain(self, k: int, figure: Figure) -> None:
        # Saying a wrong figure again is no new slip, however it came about.
        if (earlier := self._said_before(k, figure)) is not None:
            figure.cause, figure.because = "carried", [earlier]
            figure.reason = "repeats " + _list([earlier])
            return
        printed = figure.printed
        if printed and figure.correct != MINUS_INFINITY and is_truncated(figure.entry, printed):
            figure.cause = "truncated"
            figure.reason = "cut off behind the last place instead of rounded"
            if (used := next(self._sources(k, figure, figure.rounds_from), None)) is not None:
                figure.reason += "; it also comes out from " + _list(used)
            return
        found: list[Figure] | None = None
        for used in self._sources(k, figure):
            wrong = [source for source in used if source.verdict is Verdict.REFUTED]
            if not wrong:
                figure.cause = "rounded-inputs"
                figure.because = used
                figure.reason = "comes out from figures that were rounded before: " + _list(used)
                return
            if found is None or len(wrong) < len(found):
                found = wrong
        if found is not None:
            figure.cause, figure.because = "carried", found
            figure.reason = "carries " + _list(found)
            return
        figure.cause = "root"
        figure.reason = "wrong in itself"

    def _said_before(self, k: int, figure: Figure) -> Figure | None:
        """A refuted figure of the same term that this one repeats or rounds."""
        for place in reversed(self._before(figure.term.key, k)):
            earlier = self.figures[place]
            if earlier.verdict is Verdict.REFUTED and figure.rounds_from(earlier.size):
                return earlier
        return None

    def _sources(
        self, k: int, figure: Figure, fits: Callable[[float], bool] | None = None
    ) -> Iterator[list[Figure]]:
        """The printed figures from which this one comes out, in each way of
        recomputing it that gives it."""
        fits = fits or figure.fits
        for place in reversed(self._before(figure.term.key, k)):
            if figure.rounds_from(self.figures[place].size):
                yield [self.figures[place]]
        for choose in (self._latest, self._sharpest, self._first):
            for definition in self._definitions(figure.term):
                recomputation = Recomputation(self.terms, partial(choose, k=k))
                value = recomputation.value(definition, definition is not figure.term)
                used = [f for key in recomputation.used if (f := self._chosen(choose, key, k))]
                if used and fits(value):
                    yield sorted(used, key=lambda f: (f.claim.line, f.at))

    def _definitions(self, term: Term) -> list[Term]:
        """What a term may have been computed as."""
        if term.op != "entry":
            return [term]
        name, i, j = term.parts
        scaled = [
            Term("*", (Term("number", (ratio,)), self.terms.at(node, i, j)))
            for ratio, node in self._multiples(name)
        ]
        return [*self.terms.definitions(name, i, j), *scaled]

    def _multiples(self, name: str) -> list[tuple[float, Node]]:
        if name not in self._scaled:
            own = self.terms.nodes[name]
            expressions = dict.fromkeys(
                claim.of for claim in self.case.claims if claim.of not in ("", name)
            )
            self._scaled[name] = [
                (ratio, node)
                for ratio, node in self.terms.multiples(name, expressions)
                if node.serial > own.serial and node.serial not in self.terms.names
            ]
        return self._scaled[name]

    def _before(self, key: str, k: int) -> list[int]:
        places = self.prints.get(key, [])
        return places[: bisect.bisect_left(places, k)]

    def _latest(self, key: str, k: int) -> float | None:
        before = self._before(key, k)
        return self.figures[before[-1]].size if before else None

    def _sharpest(self, key: str, k: int) -> float | None:
        before = self._before(key, k)
        return self.figures[self._sharpest_of(before)].size if before else None

    def _first(self, key: str, k: int) -> float | None:
        before = self._before(key, k)
        return self.figures[before[0]].size if before else None

    def _sharpest_of(self, places: list[int]) -> int:
        def unit(place: int) -> fmpq:
            printed = self.figures[place].printed
            return printed.unit if printed else fmpq(0)

        return min(reversed(places), key=unit)

    def _chosen(self, choose: Callable[..., Any], key: str, k: int) -> Figure | None:
        before = self._before(key, k)
        if not before:
            return None
        place = (
            before[-1]
            if choose == self._latest
            else before[0]
            if choose == self._first
            else self._sharpest_of(before)
        )
        return self.figures[place]

    # -- slips -----------------------------------------------------------------------

    def _root_groups(self) -> Iterator[list[Figure]]:
        """Root figures of one quantity, together."""
        groups: dict[str, list[Figure]] = defaultdict(list)
        for figure in self.figures:
            if figure.cause == "root":
                groups[figure.place[0]].append(figure)
        yield from groups.values()

    def _name_slip(self, group: list[Figure]) -> None:
        left = [figure for figure in group if not self._by_pen(figure)]
        left = self._try_step(left)
        rows: dict[int, list[Figure]] = defaultdict(list)
        for figure in left:
            rows[figure.place[1]].append(figure)
        for row in rows.values():
            for figure in self._try_row(row):
                self._try_entry(figure)

    def _by_pen(self, figure: Figure) -> bool:
        """Last digits and slips of the pen need no recomputation."""
        if figure.printed is None or figure.correct in ("", MINUS_INFINITY):
            return False
        unit = figure.printed.unit
        printed = int((figure.printed.value / unit).p)
        correct = int((fmpq(*_ratio(figure.correct)) / unit).p)
        if abs(printed - correct) == 1:
            figure.cause = figure.slip = "last-digit"
            figure.reason = slips.SENTENCES["last-digit"]
            return True
        return False

    def _pen(self, figure: Figure) -> str:
        if figure.printed is None or figure.correct in ("", MINUS_INFINITY):
            return ""
        unit = figure.printed.unit
        return slips.digit_slips(
            int((figure.printed.value / unit).p), int((fmpq(*_ratio(figure.correct)) / unit).p)
        )

    def _try_step(self, group: list[Figure]) -> list[Figure]:
        """A slip of the whole step; what it does not explain is returned."""
        if not group or group[0].place[0] not in self.terms.nodes:
            return group
        beside = self._beside(group)
        for slip in slips.step_slips(self.terms, group[0].place[0]):
            if self._gives(slip, group, beside):
                return self._named(slip, group)
        return group

    def _try_row(self, row: list[Figure]) -> list[Figure]:
        first = row[0]
        beside = [f for f in self._beside(row) if f.place[1] == first.place[1]]
        if first.place[0] in self.terms.nodes:
            for slip in slips.step_slips(self.terms, first.place[0]):
                if len(row) + len(beside) > 1 and self._gives(slip, row, beside):
                    return self._named(slip, row)
        giving = [slip for slip in self._row_slips(row) if self._gives(slip, row, beside)]
        if not giving:
            return row
        # Of several that give these figures, the one that gives most of the
        # other wrong figures of this row.
        also = [
            f
            for f in self.figures
            if f.verdict is Verdict.REFUTED and f.place[:2] == first.place[:2] and f not in row
        ]
        best = max(giving, key=lambda slip: sum(self._gives(slip, [f], []) for f in also))
        return self._named(best, row)

    def _row_slips(self, row: list[Figure]) -> Iterator[slips.Slip]:
        for figure in row[:4]:
            _, i, j = figure.place
            yield from slips.row_slips(self.terms, self._base(figure), i, j)

    def _try_entry(self, figure: Figure) -> None:
        if pen := self._pen(figure):
            figure.slip, figure.reason = pen, slips.SENTENCES[pen]
            return
        if figure.printed is None or figure.printed.digits < 2:
            return
        _, i, j = figure.place
        grid = self._grid(figure)
        candidates = slips.entry_slips(self.terms, self._base(figure), grid, i, j)
        for slip in candidates:
            if self._gives(slip, [figure], []):
                self._named(slip, [figure])
                return

    def _grid(self, figure: Figure) -> tuple[int, int]:
        if figure.term.op == "entry":
            return self.terms.nodes[figure.place[0]].grid
        return figure.entry.quantity.grid

    def _base(self, figure: Figure) -> Callable[[int, int], Term]:
        """The right terms of the quantity that a figure belongs to."""
        name = figure.place[0]
        if figure.term.op == "entry" and self.terms.nodes[name].operands:
            return lambda i, j: self.terms.definitions(name, i, j)[0]
        if figure.term.op == "entry":
            return lambda i, j: Term("entry", (name, i, j))
        node = self.solution.program.lower(figure.claim.of)
        return lambda i, j: self.terms.at(node, i, j)

    def _beside(self, group: list[Figure]) -> list[Figure]:
        """Figures of the same claims that are no roots: a slip of the whole
        must give them too."""
        claims = {id(figure.claim) for figure in group}
        return [
            f
            for f in self.figures
            if id(f.claim) in claims and f.cause not in ("root", "last-digit") and f.printed
        ]

    def _gives(self, slip: slips.Slip, group: list[Figure], beside: list[Figure]) -> bool:
        """Whether a slip reproduces all the figures, from the document's
        printed inputs or from the exact ones."""
        if max((f.printed.digits for f in group if f.printed), default=0) < 2:
            return False
        for printed in (self._latest, None):
            for figure in [*group, *beside]:
                if self._tries <= 0:
                    return False
                self._tries -= 1
                term = slip.term(figure.place[1], figure.place[2])
                if term is None:
                    break
                k = figure.order
                source = partial(printed, k=k) if printed else _nothing
                if not figure.fits(Recomputation(self.terms, source).value(term, False)):
                    break
            else:
                return True
        return False

    def _named(self, slip: slips.Slip, figures: Iterable[Figure]) -> list[Figure]:
        for figure in figures:
            figure.slip, figure.reason = slip.name, slip.sentence
        return []

    # -- the document as a whole --------------------------------------------------------

    def _habit(self) -> str:
        """What explains every miss at once, if something does."""
        missed = [f for f in self.figures if f.verdict is Verdict.REFUTED]
        if len(missed) > 2 and all(f.cause in ("truncated", "carried") for f in missed):
            return "every miss is explained by figures being cut off instead of rounded"
        if len(missed) > 2 and all(f.cause == "rounded-inputs" for f in missed):
            return "every miss is explained by computing on with rounded figures"
        return ""


def _nothing(key: str) -> float | None:
    """What a document prints that is not looked at."""
    return None


def _standard(case: Case) -> Standard:
    if not case.tolerance:
        return Standard(case.rounding)
    printed = read_printed(case.tolerance)
    if printed is None or printed.value <= 0:
        raise Malformed(Fault("tolerance", f"expected a positive number, found {case.tolerance!r}"))
    return Standard(case.rounding, printed.value)


def _entries(printed: Any, shape: Shape) -> Iterator[tuple[tuple[int, ...], Any]]:
    if not shape:
        yield (), printed
    elif len(shape) == 1:
        yield from (((j,), raw) for j, raw in enumerate(printed))
    else:
        yield from (((i, j), raw) for i, row in enumerate(printed) for j, raw in enumerate(row))


def _list(figures: list[Figure]) -> str:
    """Figures named once each, shortened."""
    names = list(dict.fromkeys(f"{f.label} = {f.text} ({f.claim.where})" for f in figures))
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return ", ".join(names[:4]) + more


def _ratio(text: str) -> tuple[int, int]:
    percent = 100 if "%" in text else 1
    return (
        Decimal(text.rstrip("% ")).as_integer_ratio()
        if percent == 1
        else ((Decimal(text.rstrip("% ")) / 100).as_integer_ratio())
    )
