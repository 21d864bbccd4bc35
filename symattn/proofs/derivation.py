"""A derivation: what is stated, how it is proved, and how each line was checked.

A derivation is made by a :class:`~symattn.proofs.proof.Proof`, which refuses a
line that is not so; here it is read, printed and checked again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symattn.errors import Malformed
from symattn.proofs.checking import Check, Checker, How, Report, Sizes, read_sizes
from symattn.proofs.language import Entry, Expr, Index
from symattn.proofs.matrices import Array, Matrix, Values
from symattn.proofs.printing import LATEX, latex, prose, text
from symattn.verdicts import Verdict

Comparison: TypeAlias = tuple[str, NDArray[np.float64], NDArray[np.float64]]
"""What is compared; the value found without the derivation; the derivation's own."""
Numeric: TypeAlias = Callable[["Derivation", np.random.Generator], Iterable[Comparison]]

TOLERANCE = 1e-9
"""Largest difference, relative to the larger value or 1, in the numeric check."""

HOW = {
    "symbolic": "for all sizes",
    "concrete": "at concrete sizes only",
    "undecided": "UNDECIDED",
}


@dataclass(frozen=True)
class Equation:
    """Two sides that are equal, and how that was confirmed."""

    lhs: Expr | Matrix
    rhs: Expr | Matrix
    how: How

    @property
    def latex(self) -> str:
        """The equation in LaTeX."""
        return f"{latex(self.lhs)} = {latex(self.rhs)}"

    @property
    def text(self) -> str:
        """The equation in Unicode."""
        return f"{text(self.lhs)} = {text(self.rhs)}"

    def to_dict(self) -> dict[str, Any]:
        """The equation as plain data."""
        return {"text": self.text, "latex": self.latex, "confirmed": self.how}


@dataclass(frozen=True)
class Step(Equation):
    """One line of a proof: an equation and the rule that justifies it.

    ``continues`` says that the right side is reached from the right side of the
    step before (a chain ``a = b = c``); ``lhs`` is then the chain's first side.
    """

    lhs: Expr
    rhs: Expr
    number: int = 0
    rule: str = ""
    part: str = ""
    continues: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The step as plain data."""
        return {
            "number": self.number,
            "part": self.part,
            "continues": self.continues,
            **super().to_dict(),
            "rule": self.rule,
        }


@dataclass(frozen=True)
class Definition(Equation):
    """What a name stands for, and the part of the proof that introduces it."""

    lhs: Expr
    rhs: Expr
    part: str = ""


@dataclass(frozen=True)
class Result:
    """One conclusion: in index form and, where there is one, in matrix form."""

    index: Equation
    matrix: Equation | None = None

    def sides(self, left: Matrix, right: Matrix) -> tuple[Expr, Expr]:
        """What has to be equal for ``left = right`` to be the matrix form.

        Where the index form is about the general entry of ``left``, the entry of
        ``right`` is compared with its other side; else both at a general entry.
        """
        if left.shape != right.shape:
            raise Malformed(f"{text(left)} = {text(right)}: two different shapes")
        lhs, rhs = self.index.lhs, self.index.rhs
        if isinstance(lhs, Entry) and left is lhs.array and isinstance(rhs, Expr):
            free = {place for place in lhs.at if isinstance(place, Index)}
            if len(free) == len(lhs.array.axes):
                row, column = (*lhs.at, None, None)[:2]
                return rhs, right.entry(row, column)
        row, column = (
            Index(n, axis) if axis else None for n, axis in zip("ij", left.shape, strict=True)
        )
        return left.entry(row, column), right.entry(row, column)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "index": self.index.to_dict(),
            "matrix": self.matrix.to_dict() if self.matrix else None,
        }


@dataclass(frozen=True)
class Conclusion:
    """All that a derivation shows."""

    results: tuple[Result, ...]

    @property
    def index(self) -> tuple[Equation, ...]:
        """The results in index form."""
        return tuple(result.index for result in self.results)

    @property
    def matrix(self) -> tuple[Equation, ...]:
        """Those results that have a matrix form, in it."""
        return tuple(result.matrix for result in self.results if result.matrix)


@dataclass(frozen=True, repr=False)
class Derivation:
    """A statement, its proof line by line, and its conclusion.

    ``sizes`` are the concrete sizes at which every line was confirmed;
    ``definitions`` the equations that the proof's names stand for.
    """

    name: str
    statement: str
    assumptions: tuple[str, ...]
    source: str
    definitions: tuple[Definition, ...]
    steps: tuple[Step, ...]
    conclusion: Conclusion
    sizes: tuple[Sizes, ...]
    numeric: Numeric

    def __repr__(self) -> str:
        return f"<Derivation {self.name!r}: {self.summary()}>"

    @property
    def confirmed(self) -> dict[str, int]:
        """How many lines (steps, results and matrix forms) were confirmed how."""
        found: dict[str, int] = dict.fromkeys(HOW, 0)
        for _, line, _ in self._lines():
            found[line.how] += 1
        return found

    @property
    def proved(self) -> bool:
        """Whether every line was confirmed, none left undecided."""
        return not self.confirmed["undecided"]

    @property
    def parts(self) -> tuple[str, ...]:
        """The headings of the proof, in order; empty for steps before the first."""
        return tuple(dict.fromkeys(step.part for step in self.steps))

    def check(
        self, sizes: Iterable[Mapping[str, int]] | None = None, *, sympy: bool = False
    ) -> Report:
        """Check every line again, at the given sizes (default: the derivation's own).

        ``sizes`` are mappings such as ``{"n_q": 2, "n_k": 3, "d_k": 2, "d_v": 1}``.
        Then compares the conclusion, evaluated with NumPy at random points, with
        values found without it, derivatives by complex steps. With ``sympy``
        SymPy's own route for symbolic sizes is asked as well (slower). Raises
        :class:`~symattn.errors.Malformed` where a size is missing or not positive.
        """
        checker = Checker(self.sizes if sizes is None else read_sizes(sizes, self.sizes[0]))
        second = _second_opinion() if sympy else None
        lines = tuple(
            Check(label, line.text, checker.confirm(*sides), second(*sides) if second else None)
            for label, line, sides in self._lines()
        )
        return Report(self.name, lines, self._compare())

    def values(self, names: str, at: Values) -> dict[str, NDArray[np.float64]]:
        """The matrix forms of the named results, evaluated with NumPy.

        ``names`` are separated by blanks; each result may use those named before
        it. Raises Malformed for a name without a matrix form.
        """
        forms = {
            line.lhs.name: line.rhs
            for line in reversed(self.conclusion.matrix)
            if isinstance(line.lhs, Array) and isinstance(line.rhs, Matrix)
        }
        found: dict[str, NDArray[np.float64]] = {}
        for name in names.split():
            if name not in forms:
                raise Malformed(f"{self.name}: no matrix form for {name}")
            found[name] = forms[name].value({**at, **found})
        return found

    def to_text(self) -> str:
        """The derivation in Unicode, one line per step with its rule."""
        found = [self.name, *_wrapped(self.statement), *_wrapped(f"Source: {self.source}")]
        found += ["", "Given"]
        found += [line for assumption in self.assumptions for line in _wrapped(assumption)]
        found += [f"  {line.text}" for line in self.definitions if not line.part]
        for part in self.parts:
            found += ["", prose(part) or "Steps"]
            if part:
                found += [f"       {line.text}" for line in self.definitions if line.part == part]
            for step in (step for step in self.steps if step.part == part):
                body = f"= {text(step.rhs)}" if step.continues else step.text
                lead = " " * (1 + len(text(step.lhs))) if step.continues else ""
                flag = "" if step.how == "symbolic" else f" ({HOW[step.how]})"
                found.append(f"  {step.number:>3}. {lead}{body}   [{prose(step.rule)}]{flag}")
        found += ["", "Conclusion"]
        for result in self.conclusion.results:
            found.append(f"  {result.index.text}")
            if result.matrix:
                found.append(f"      {result.matrix.text}")
        at = "; ".join(", ".join(f"{n}={size}" for n, size in one.items()) for one in self.sizes)
        found += ["", f"Checked: {self.summary()}", *_wrapped(f"Every line exactly at {at}")]
        return "\n".join(found)

    def summary(self) -> str:
        """How many lines were confirmed for all sizes, and how many otherwise."""
        counts = self.confirmed
        found = [f"{counts[how]} {HOW[how]}" for how in HOW if counts[how]]
        return f"{sum(counts.values())} lines: {', '.join(found)}"

    def to_dict(self) -> dict[str, Any]:
        """The derivation as plain data, ready for JSON."""
        return {
            "name": self.name,
            "statement": self.statement,
            "assumptions": list(self.assumptions),
            "source": self.source,
            "definitions": [
                {"text": line.text, "latex": line.latex, "part": line.part}
                for line in self.definitions
            ],
            "steps": [step.to_dict() for step in self.steps],
            "conclusion": [result.to_dict() for result in self.conclusion.results],
            "confirmed": self.confirmed,
            "sizes": [dict(sizes) for sizes in self.sizes],
        }

    def _repr_latex_(self) -> str:
        rows = []
        for step in self.steps:
            lhs = "" if step.continues else latex(step.lhs)
            flag = "" if step.how == "symbolic" else f" ({HOW[step.how]})"
            rows.append(rf"{lhs} &= {latex(step.rhs)} && \text{{{prose(step.rule, LATEX)}{flag}}}")
        body = " \\\\\n".join(rows)
        return f"$$\\begin{{aligned}}\n{body}\n\\end{{aligned}}$$"

    def _lines(self) -> list[tuple[str, Equation, tuple[Expr, Expr]]]:
        """Every equation that is claimed: a label, the equation, and what is compared."""
        found: list[tuple[str, Equation, tuple[Expr, Expr]]] = [
            (f"step {step.number}", step, (step.lhs, step.rhs)) for step in self.steps
        ]
        for result in self.conclusion.results:
            form = result.matrix
            if form and isinstance(form.lhs, Matrix) and isinstance(form.rhs, Matrix):
                sides = result.sides(form.lhs, form.rhs)
                found.append((f"matrix form of {result.index.text}", form, sides))
        return found

    def _compare(self) -> tuple[tuple[str, Verdict], ...]:
        random = np.random.default_rng(20170612)
        found = []
        for label, expected, own in self.numeric(self, random):
            expected, own = np.broadcast_arrays(expected, own)
            scale = np.maximum(1.0, np.maximum(np.abs(expected), np.abs(own)))
            near = bool(np.all(np.abs(expected - own) <= TOLERANCE * scale))
            found.append((label, Verdict.HOLDS if near else Verdict.REFUTED))
        return tuple(found)


def _wrapped(words: str) -> list[str]:
    """Prose in lines that fit a terminal."""
    return wrap(prose(words), 78, initial_indent="  ", subsequent_indent="  ")


def _second_opinion() -> Callable[[Expr, Expr], Verdict]:
    """SymPy's route, imported only when it is asked for."""
    from symattn.proofs.indexed import Indexed

    return Indexed().agree
