"""Is an equation so? For all sizes, and at concrete ones.

>>> from symattn.proofs.language import Size, delta, indices, sum_over
>>> from symattn.proofs.matrices import Array
>>> n = Size("n")
>>> i, j = indices("i j", n)
>>> S = Array("S", (n,))
>>> Checker([{"n": 2}, {"n": 3}]).confirm(sum_over(j, delta(i, j) * S[j]), S[i]).how
'symbolic'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from symattn.errors import Fault, Malformed
from symattn.proofs.allsizes import AllSizes
from symattn.proofs.language import Expr
from symattn.proofs.onesize import OneSize
from symattn.proofs.structure import Undecidable
from symattn.verdicts import Verdict

How: TypeAlias = Literal["symbolic", "concrete", "undecided", "refuted"]
Sizes: TypeAlias = Mapping[str, int]


@dataclass(frozen=True)
class Confirmation:
    """How an equation fared.

    ``symbolic`` is never refuted: what is not shown for all sizes is left open.
    ``at`` has a verdict for each concrete size; ``where`` says at which size and
    indices the sides first differ, or are first left undecided.
    """

    symbolic: Verdict
    at: tuple[tuple[Sizes, Verdict], ...]
    where: str = ""

    @property
    def how(self) -> How:
        """Refuted at any size is refuted; shown for all sizes is symbolic; else concrete
        where at least two sizes agree and none is open."""
        found = [verdict for _, verdict in self.at]
        if Verdict.REFUTED in found:
            return "refuted"
        if self.symbolic is Verdict.HOLDS:
            return "symbolic"
        return "concrete" if len(found) > 1 and Verdict.UNDECIDED not in found else "undecided"

    @property
    def verdict(self) -> Verdict:
        """The answer in three values."""
        if self.how == "refuted":
            return Verdict.REFUTED
        return Verdict.UNDECIDED if self.how == "undecided" else Verdict.HOLDS


class Checker:
    """Confirms equations at all sizes and at the given ones, remembering what it met."""

    def __init__(self, sizes: Iterable[Sizes]) -> None:
        self._all = AllSizes()
        self._each = [OneSize(one) for one in sizes]

    def confirm(self, left: Expr, right: Expr) -> Confirmation:
        """How the equation ``left = right`` fares."""
        try:
            shown = self._all.vanishes(left - right)
        except (Undecidable, ZeroDivisionError):
            shown = False
        found, where = [], ""
        for one in self._each:
            verdict, place = one.first_difference(left, right)
            found.append((one.sizes, verdict))
            if verdict is not Verdict.HOLDS and (not where or verdict is Verdict.REFUTED):
                where = ", ".join([*(f"{name}={size}" for name, size in one.sizes.items())])
                where += f" for {place}" if place else ""
            if verdict is Verdict.REFUTED:
                break
        symbolic = Verdict.HOLDS if shown else Verdict.UNDECIDED
        return Confirmation(symbolic, tuple(found), where)


@dataclass(frozen=True)
class Check:
    """One line checked again."""

    label: str
    equation: str
    confirmation: Confirmation
    sympy: Verdict | None = None
    """What SymPy's own route says; None where it was not asked."""

    @property
    def verdict(self) -> Verdict:
        """Whether the line holds."""
        return self.confirmation.verdict

    def to_dict(self) -> dict[str, Any]:
        """The check as plain data."""
        found = self.confirmation
        return {
            "label": self.label,
            "equation": self.equation,
            "verdict": str(self.verdict),
            "symbolic": str(found.symbolic),
            "sizes": [{"at": dict(at), "verdict": str(verdict)} for at, verdict in found.at],
            "where": found.where,
            "sympy": None if self.sympy is None else str(self.sympy),
        }


@dataclass(frozen=True)
class Report:
    """What :meth:`~symattn.proofs.derivation.Derivation.check` found."""

    name: str
    lines: tuple[Check, ...]
    numeric: tuple[tuple[str, Verdict], ...]

    @property
    def verdict(self) -> Verdict:
        """Holds only if every line and every numeric comparison does."""
        return Verdict.all([line.verdict for line in self.lines] + [v for _, v in self.numeric])

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "name": self.name,
            "verdict": str(self.verdict),
            "lines": [line.to_dict() for line in self.lines],
            "numeric": [{"label": label, "verdict": str(v)} for label, v in self.numeric],
        }


def weaker(*found: How) -> How:
    """How a line was confirmed that rests on several confirmations.

    >>> weaker("symbolic", "concrete")
    'concrete'
    """
    order: tuple[How, ...] = ("symbolic", "concrete", "undecided", "refuted")
    return max(found, key=order.index)


def read_sizes(sizes: Iterable[Sizes], names: Iterable[str]) -> tuple[dict[str, int], ...]:
    """Concrete sizes for all ``names``. Raises Malformed listing all that is wrong.

    >>> read_sizes([{"n": 0}], ["n", "d"])
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: 2 faults
      sizes[0].n: expected a whole number from 1, found 0
      sizes[0].d: missing
    """
    wanted, found, faults = list(names), [], []
    for place, one in enumerate(sizes):
        for name in wanted:
            if name not in one:
                faults.append(Fault(f"sizes[{place}].{name}", "missing"))
            elif isinstance(one[name], bool) or not isinstance(one[name], int) or one[name] < 1:
                message = f"expected a whole number from 1, found {one[name]!r}"
                faults.append(Fault(f"sizes[{place}].{name}", message))
        faults += [
            Fault(f"sizes[{place}].{name}", f"unknown; expected {', '.join(wanted)}")
            for name in one
            if name not in wanted
        ]
        found.append(dict(one))
    if not found:
        faults.append(Fault("sizes", "expected at least one"))
    if faults:
        raise Malformed(faults)
    return tuple(found)
