"""A solution held against the independent NumPy recomputation.

:mod:`symattn.crosscheck` computes every quantity a second time, in float64
with bounds on its own error, and every gradient twice: by its definition and
by complex steps. Here the exact values are compared with all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np
from flint import arb

from symattn.cases.case import Case
from symattn.crosscheck.recomputation import PLAIN, Figures, Gradient, Loss, recompute
from symattn.errors import Malformed
from symattn.numbers.balls import FIRST, precision
from symattn.solution.quantity import Entry, Quantity
from symattn.solution.solution import Solution, solve
from symattn.verdicts import Verdict

#: A complex step is too small for derivatives whose bound is smaller than this.
SMALLEST_STEP = 2.0**-300

#: Complex steps add up roundings in another order than the bound is derived
#: for; a slip is many orders larger.
STEP_ALLOWANCE = 64.0


@dataclass(frozen=True)
class Check:
    """How far floats are from the exact value, over all entries of a quantity.

    ``max_ulp`` is the largest error in units in the last place of float64 (at
    an exact zero: of the sum of the magnitudes of its terms); ``scaled_ulp``
    the largest error divided by the recomputation's own bound, the running
    sum of magnitudes of the terms times 2**-53: it holds up to 1.
    ``worst`` is the place of the largest scaled error.
    """

    quantity: str
    max_ulp: float
    scaled_ulp: float
    verdict: Verdict
    worst: tuple[int, int] | None = None
    entries: int = 0

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
        return {
            "max_ulp": _short(self.max_ulp),
            "scaled_ulp": _short(self.scaled_ulp),
            "verdict": str(self.verdict),
        }


def _short(figure: float) -> float | None:
    return float(f"{figure:.3g}") if math.isfinite(figure) else None


@dataclass(frozen=True)
class Verification:
    """The checks of one case; ``probed`` of ``probes`` gradient entries were
    also differentiated by complex steps."""

    case: str
    checks: tuple[Check, ...]
    probed: int
    probes: int

    @property
    def verdict(self) -> Verdict:
        """``refuted`` if any check is, else ``undecided`` if any is."""
        return Verdict.all(check.verdict for check in self.checks)


def verify(case: str | Path | Case | Solution) -> Verification:
    """Every quantity of a case or a solution, forward and backward, against
    the recomputation. Raises :class:`Malformed` for a case with faults.

    >>> verify("cat-sat-mat").verdict
    <Verdict.HOLDS: 'holds'>
    """
    solution = case if isinstance(case, Solution) else solve(case)
    case = solution.case
    # The recomputation reads text itself; a solution made from other exact
    # numbers (Fractions, SymPy) hands them over as text.
    given = {name: _as_text(data) for name, data in case.raw.items()}
    upstream = _as_text(case.raw_upstream)
    loss = Loss(case.output, upstream, case.wrt)
    try:
        found = recompute(given, case.steps, loss)
    except Malformed as error:
        raise Malformed(error.faults, source=str(case.path or case.name)) from None
    checks = [
        _check(name, [(solution[name], figures)]) for name, figures in found.quantities.items()
    ]
    for name, parts in found.gradients.items():
        exact = solution.gradient(name)
        pairs = [
            (exact.coefficient(part) if exact.letters else exact, gradient)
            for part, gradient in parts.items()
            if exact.letters or part == PLAIN
        ]
        checks.append(_check(exact.name, pairs))
    return Verification(case.name, tuple(checks), found.probed, found.probes)


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


def _check(name: str, pairs: Sequence[tuple[Quantity, Figures]]) -> Check:
    worst, place, largest, undecided, count = 0.0, None, 0.0, False, 0
    with precision(FIRST):
        for quantity, figures in pairs:
            for i, j, exact, bound, candidates in _entries(quantity, figures):
                count += 1
                if math.isinf(bound) or not exact.is_finite():
                    undecided = True
                    continue
                for value, allowance in candidates:
                    limit = bound * allowance
                    ulp, scaled = _relative(abs(exact - value), limit, exact, bound)
                    largest = max(largest, ulp)
                    if not scaled <= worst:
                        worst, place = scaled, (i, j)
    verdict = Verdict.HOLDS if worst <= 1 else Verdict.REFUTED
    if verdict is Verdict.HOLDS and undecided:
        verdict = Verdict.UNDECIDED
    return Check(name, largest, worst, verdict, place, count)


def _entries(
    quantity: Quantity, figures: Figures
) -> Iterator[tuple[int, int, arb, float, list[tuple[float, float]]]]:
    """Place, exact value, bound, and floats with what they may be off by."""
    rows, columns = quantity.grid
    values, bounds = (np.reshape(x, (rows, columns)) for x in (figures.value, figures.bound))
    steps = figures.step.reshape(rows, columns) if isinstance(figures, Gradient) else None
    for i in range(rows):
        for j in range(columns):
            value, bound = float(values[i, j]), float(bounds[i, j])
            if quantity.is_hidden(i, j):
                same = value == -math.inf
                yield i, j, arb(0), 0.0, [(0.0 if same else math.inf, 1.0)]
                continue
            candidates = [(value, 1.0)]
            underflows = 0 < bound < SMALLEST_STEP
            if steps is not None and not underflows and not math.isnan(step := float(steps[i, j])):
                candidates.append((step, STEP_ALLOWANCE))
            yield i, j, Entry(quantity, i, j).ball(FIRST), bound, candidates


def _relative(error: arb, limit: float, exact: arb, bound: float) -> tuple[float, float]:
    """An error in units in the last place, and as a multiple of its limit."""
    distance = float(error.upper())
    if not math.isfinite(distance):
        return math.inf, math.inf
    if error.contains(0) or distance == 0.0:
        return 0.0, 0.0
    size = float(abs(exact).upper())
    unit = math.ulp(size) if not exact.contains(0) else math.ulp(bound * 2.0**53)
    return distance / unit, distance / limit if limit else math.inf
