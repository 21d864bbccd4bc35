"""A solution held against the independent NumPy recomputation, and against SymPy.

:mod:`symattn.crosscheck` computes every quantity a second time, in float64
with bounds on its own error, and every gradient twice: by the chain rule
and by complex steps. Here the exact values are compared with all of them.

SymPy derives a formula for every quantity, gradients by its own derivatives, and
puts the case's numbers in (:attr:`symattn.solution.solution.Solution.symbolic`).
The closed forms must be equal to what comes out, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
from flint import arb

from symattn.cases.case import Case, texts
from symattn.crosscheck.recomputation import PLAIN, BoundedFloats, CheckedGradient, Loss, recompute
from symattn.errors import Malformed, NoClosedForm, Undecided
from symattn.languages.sentence import Sentence
from symattn.limits import DERIVED, QUICK_BITS
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.letters import put
from symattn.numbers.reading import read
from symattn.numbers.rounding import Real
from symattn.programs.program import uses
from symattn.solution.entries import EntryValue
from symattn.solution.quantity import Quantity
from symattn.solution.solution import Solution, solve
from symattn.verdicts import Verdict

#: At so many points a case in letters is checked.
POINTS = 5

#: A complex step is too small for derivatives whose bound is smaller than this.
_SMALLEST_STEP = 2.0**-300

#: Bits at which an exact value is held against its float, until they tell.
PRECISIONS = (FIRST, 4 * FIRST)

#: Complex steps add up roundings in another order than the bound is derived
#: for; a slip is many orders larger.
_STEP_ALLOWANCE = 64.0


@dataclass(frozen=True)
class Check:
    """The distance of floats from the exact value, over all entries of a quantity.

    ``max_ulp`` is the largest error in units in the last place of float64 (at an exact zero: of the
    sum of the magnitudes of its terms); ``scaled_ulp`` the largest error divided by the
    recomputation's own bound, the running sum of magnitudes of the terms times 2**-53: it holds up
    to 1. ``worst`` is the place of the largest scaled error. ``doubt`` says why an undecided
    quantity is: what floats could check of it holds.

    ``symbolic`` says whether SymPy's formula with the numbers put in is equal to
    the closed form in all entries, ``symbolic_doubt`` why that is undecided.
    """

    quantity: str
    max_ulp: float
    scaled_ulp: float
    verdict: Verdict
    worst: tuple[int, int] | None = None
    entries: int = 0
    doubt: str = ""
    symbolic: Verdict = Verdict.UNDECIDED
    symbolic_doubt: str = ""

    def __repr__(self) -> str:
        return f"<Check of {self.quantity}: {self.verdict}, {self.texts[1]} scaled ulp>"

    @property
    def texts(self) -> tuple[str, str]:
        """``max_ulp`` and ``scaled_ulp`` as tables show them."""
        ulp, scaled = (
            format(x, f".{places}f" if x < 1000 else ".1e")
            for x, places in ((self.max_ulp, 2), (self.scaled_ulp, 3))
        )
        return ulp, scaled

    def as_dict(self) -> dict[str, float | str | None]:
        """The figures for JSON, which has no infinity: None."""
        doubts = {"doubt": self.doubt, "sympy_doubt": self.symbolic_doubt}
        return {
            "max_ulp": _short(self.max_ulp),
            "scaled_ulp": _short(self.scaled_ulp),
            "verdict": str(self.verdict),
            "sympy": str(self.symbolic),
            **{key: doubt for key, doubt in doubts.items() if doubt},
        }


def _short(figure: float) -> float | None:
    return float(f"{figure:.3g}") if math.isfinite(figure) else None


@dataclass(frozen=True)
class Verification:
    """The checks of one case; ``probed`` of ``probes`` gradient entries were
    also differentiated by complex steps. What is given in letters was checked at
    ``points``, the exact numbers that were put in their place."""

    case: str
    checks: tuple[Check, ...]
    probed: int
    probes: int
    points: tuple[Mapping[str, Fraction], ...] = ()

    def __repr__(self) -> str:
        return f"<Verification of {self.case[:60]!r}: {len(self.checks)} checks, {self.verdict}>"

    @property
    def verdict(self) -> Verdict:
        """``refuted`` if any check is, by NumPy or SymPy, else ``undecided`` if any is."""
        return Verdict.all(v for check in self.checks for v in (check.verdict, check.symbolic))

    @property
    def doubts(self) -> dict[str, list[str]]:
        """Return why floats leave quantities undecided: each reason, with those that it is for."""
        return _by_reason((check.doubt, check.quantity) for check in self.checks)

    @property
    def symbolic_doubts(self) -> dict[str, list[str]]:
        """The same for SymPy."""
        return _by_reason((check.symbolic_doubt, check.quantity) for check in self.checks)

    def _repr_html_(self) -> str:
        from symattn.printers import markdown

        header = ("quantity", "ulp", "scaled", "NumPy", "SymPy")
        rows = [
            (check.quantity, *check.texts, str(check.verdict), str(check.symbolic))
            for check in self.checks
        ]
        doubts = {**self.doubts, **self.symbolic_doubts}
        note = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in doubts.items())
        return markdown.summary(self.case, str(self.verdict), header, rows, note)


def _by_reason(doubts: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for doubt, quantity in doubts:
        if doubt:
            groups.setdefault(doubt, []).append(quantity)
    return groups


def verify(case: str | Path | Case | Solution, symbolic: bool = True) -> Verification:
    """Every quantity of a case or a solution, forward and backward, against
    the recomputation and against SymPy; without ``symbolic`` what SymPy says
    is left undecided, and it is not loaded. A case in letters is checked at
    :data:`POINTS` points, at each of which its forms must be what solving gives, and
    SymPy's formulas must be the same in letters. Raises :class:`Malformed` for a case with
    faults.

    >>> verify("cat-sat-mat").verdict
    <Verdict.HOLDS: 'holds'>
    """
    solution = case if isinstance(case, Solution) else solve(case)
    verification = _at_points(solution) if solution.case.lettered else _at_numbers(solution)
    if not symbolic:
        return verification
    checks = tuple(_with_symbolic(check, solution) for check in verification.checks)
    return replace(verification, checks=checks)


def _at_points(solution: Solution) -> Verification:
    """The checks of a case in letters, by the worst of each at several points."""
    points = dict(_points(solution))
    if not points:
        message = "at none of the points that were tried all steps are defined"
        raise Undecided(f"{solution.case.name}: {message}: put numbers in with .at(...)")
    each = [_at_numbers(there) for there in points.values()]
    checks = []
    for same in zip(*(one.checks for one in each), strict=True):
        name = same[0].quantity
        forms = Verdict.all(
            _same_at(solution[name], there[name], dict(numbers))
            for numbers, there in points.items()
        )
        worst = max(same, key=lambda check: (check.verdict is Verdict.REFUTED, check.scaled_ulp))
        verdict = Verdict.all((forms, *(check.verdict for check in same)))
        doubt = next((check.doubt for check in same if check.doubt), "")
        checks.append(replace(worst, verdict=verdict, doubt=doubt))
    return Verification(
        solution.case.name,
        tuple(checks),
        sum(one.probed for one in each),
        sum(one.probes for one in each),
        tuple(map(dict, points)),
    )


def _points(solution: Solution) -> Iterator[tuple[tuple[tuple[str, Fraction], ...], Solution]]:
    """Random exact numbers for all letters, the same in each run, and the solution there: as
    many as :data:`POINTS`, less where too few of them are in the domain of all steps."""
    chance, found = Random(0), 0
    for _ in range(8 * POINTS):
        numbers = {
            name: Fraction(chance.randint(1, 9), chance.choice((2, 3, 4)))
            * (1 if symbol.is_positive else chance.choice((-1, 1)))
            for name, symbol in solution.case.letters.items()
        }
        try:
            yield (*numbers.items(),), solution.at(**numbers)
        except (Malformed, Undecided):
            continue
        found += 1
        if found == POINTS:
            return


def _same_at(form: Quantity, there: Quantity, numbers: Mapping[str, Fraction]) -> Verdict:
    """Return whether a form in letters is what solving gives where numbers are put into it."""
    known = {name: read(number) for name, number in numbers.items()}
    pairs = zip(form.values(), there.values(), strict=True)
    return Verdict.all(
        (put(in_letters, known) - exact).is_zero(bits=QUICK_BITS) for in_letters, exact in pairs
    )


def _at_numbers(solution: Solution) -> Verification:
    """The checks of a case in numbers, without SymPy's."""
    case = solution.case
    # The recomputation reads text itself; a solution made from other exact
    # numbers (Fractions, SymPy) hands them over as text.
    given = {name: _as_text(data) for name, data in case.raw.items()}
    loss = Loss(case.output, _as_text(case.raw_upstream), case.wrt) if case.output else None
    try:
        recomputed = recompute(given, case.steps, loss, case.functions)
    except Malformed as error:
        # It knows multiples of symbols only: where others cancel it gets what is left.
        known, above = case.program.quantities, case.program.upstream
        try:
            given = {name: texts(known[name].shape, rows) for name, rows in case.given.items()}
            if loss and above:
                loss = replace(loss, upstream=texts(above.shape, case.upstream))
            recomputed = recompute(given, case.steps, loss, case.functions)
        except (Malformed, NoClosedForm):
            raise Malformed(error.faults, source=str(case.path or case.name)) from None
    checks = [
        _check(name, [(solution[name], figures)]) for name, figures in recomputed.quantities.items()
    ]
    for name, parts in recomputed.gradients.items():
        exact = solution.gradient(name)
        pairs = [
            (exact.coefficient(part) if exact.letters else exact, gradient)
            for part, gradient in parts.items()
            if exact.letters or part == PLAIN
        ]
        checks.append(_check(exact.name, pairs))
    return Verification(case.name, tuple(checks), recomputed.probed, recomputed.probes)


def _with_symbolic(check: Check, solution: Solution) -> Check:
    verdict, doubt = Verdict.UNDECIDED, ""
    if (count := uses(solution.program)) > DERIVED.most:
        # Asked here too: SymPy need not be loaded for that.
        doubt = DERIVED.said(count)
    else:
        try:
            verdict = solution.symbolic[check.quantity].equals(solution[check.quantity])
        except (Malformed, NoClosedForm, Undecided) as error:
            doubt = str(error)
    if verdict is Verdict.UNDECIDED:
        doubt = doubt or Sentence("the closed forms can't be distinguished")
    return replace(check, symbolic=verdict, symbolic_doubt=doubt)


def _as_text(data: object) -> object:
    """Nested numbers as the kinds that the recomputation reads."""
    if data is None or isinstance(data, int | str | Decimal):
        return data
    if hasattr(data, "tolist"):
        data = data.tolist()
        return _as_text(data) if isinstance(data, list) else data
    if isinstance(data, list | tuple):
        return [_as_text(item) for item in data]
    return str(data)


def _check(name: str, pairs: Sequence[tuple[Quantity, BoundedFloats]]) -> Check:
    worst, place, largest, count = 0.0, None, 0.0, 0
    doubts = [figures.doubt for _, figures in pairs if figures.doubt]
    for quantity, figures in pairs:
        for i, j, bound, floats in _entries(quantity, figures):
            count += 1
            if math.isinf(bound):
                doubts.append(Sentence("64-bit floats can't decide it"))
                continue
            if quantity.is_masked(i, j):
                ulp = scaled = 0.0 if floats[0][0] == -math.inf else math.inf
            else:
                measured = _measured(EntryValue(quantity, i, j), bound, floats)
                if measured is None:
                    doubts.append(Sentence("the exact value can't be enclosed closely enough"))
                    continue
                ulp, scaled = measured
            largest = max(largest, ulp)
            if scaled > worst:
                worst, place = scaled, (i, j)
    if worst > 1:
        return Check(name, largest, worst, Verdict.REFUTED, place, count)
    verdict = Verdict.UNDECIDED if doubts else Verdict.HOLDS
    return Check(name, largest, worst, verdict, place, count, next(iter(doubts), ""))


def _entries(
    quantity: Quantity, figures: BoundedFloats
) -> Iterator[tuple[int, int, float, list[tuple[float, float]]]]:
    """Place, bound, and floats with the multiples of it that they may be off by."""
    rows, columns = quantity.grid
    values, bounds = (np.reshape(x, (rows, columns)) for x in (figures.value, figures.bound))
    steps = figures.step.reshape(rows, columns) if isinstance(figures, CheckedGradient) else None
    for i in range(rows):
        for j in range(columns):
            bound = float(bounds[i, j])
            floats = [(float(values[i, j]), 1.0)]
            underflows = 0 < bound < _SMALLEST_STEP
            if steps is not None and not underflows and not math.isnan(step := float(steps[i, j])):
                floats.append((step, _STEP_ALLOWANCE))
            yield i, j, bound, floats


def _measured(
    real: Real, bound: float, floats: Sequence[tuple[float, float]]
) -> tuple[float, float] | None:
    """The largest error of the floats in units in the last place, and as a multiple
    of what they may be off by; None where the exact value is not enclosed closely enough
    to tell whether that is above 1."""
    for bits in PRECISIONS:
        with precision(bits):
            exact = real.ball(bits)
            errors = [_error(exact, value, bound, allowance) for value, allowance in floats]
        if all(at_most <= 1 or at_least > 1 for _, at_least, at_most in errors):
            return max(ulp for ulp, _, _ in errors), max(at_most for *_, at_most in errors)
    return None


def _error(exact: arb, value: float, bound: float, allowance: float) -> tuple[float, float, float]:
    """An error in units in the last place, and between which multiples of its limit it lies."""
    if not math.isfinite(value):
        return math.inf, math.inf, math.inf
    error, limit = abs(exact - value), bound * allowance
    if not error.is_finite():
        return math.inf, 0.0, math.inf
    least, most = float(error.lower()), float(error.upper())
    if least <= 0.0 and (most <= limit or not limit):
        return 0.0, 0.0, 0.0
    size = float(abs(exact).upper())
    unit = math.ulp(size) if not exact.contains(0) else math.ulp(bound * 2.0**53)
    if not limit:
        return most / unit, math.inf, math.inf
    return most / unit, least / limit, most / limit
