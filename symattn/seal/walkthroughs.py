"""A walkthrough as a file of theorems: its definitions, its figures, its gradients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from symattn.auditing.audit import Audit, audit
from symattn.auditing.figures import Figure
from symattn.cases.case import Case
from symattn.numbers.rationals import read_printed
from symattn.numbers.reading import Masked
from symattn.programs.nodes import Node
from symattn.seal.definitions import Definition, Definitions, Unstated
from symattn.seal.figures import Figures, Printed
from symattn.seal.theorems import File, Theorem
from symattn.solution.entries import EntryValue
from symattn.solution.solution import Solution


@dataclass(frozen=True)
class Unsealed:
    """What has no theorem, and why."""

    said: str
    why: str


class _Writer:
    """Writes the parts of a file as they are needed."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self.case = solution.case
        self.definitions = Definitions(self.case.program.named, lambda node: solution.quantity(node).rows)
        self.figures = Figures(self.definitions)
        self.parts: list[str | Theorem] = []
        self.unsealed: list[Unsealed] = []
        self._written: set[str] = set()

    def add(self, *theorems: Theorem) -> None:
        """Write theorems, and before them the definitions and lemmas that are new."""
        for definition in self.definitions:
            if definition.name not in self._written:
                self._written.add(definition.name)
                self.parts.append(definition.text())
        self.parts += [*self.figures.bounds.taken(), *theorems]

    def figure(self, name: str, figure: Figure) -> None:
        """Write the theorem of an audited figure."""
        said = figure.description
        try:
            term = self.definitions.entry(figure.node, figure.entry.i, figure.entry.j)
            if figure.printed is None:
                raise Unstated("minus infinity is no real number")
            correct = figure.correct
            exact = None
            value = figure.entry.value
            exact = value.rational()
            self.add(self.figures.theorem(name, Printed(said, term, figure.printed, correct, exact)))
        except Unstated as why:
            self.unsealed.append(Unsealed(said, str(why)))


def sealed(case: str | Case) -> tuple[File, tuple[Unsealed, ...]]:
    """The file of theorems of a case's claims, and what has none."""
    judged = audit(case)
    from symattn.solution.solution import solve

    solution = solve(judged.case)
    writer = _Writer(solution)
    for name, node in judged.case.program.quantities.items():
        try:
            writer.definitions.of(node)
        except Unstated as why:
            writer.unsealed.append(Unsealed(name, str(why)))
    width = len(str(len(judged.figures)))
    for number, figure in enumerate(judged.figures, 1):
        writer.figure(f"figure_{number:0{width}}", figure)
    return File(judged.case.name, judged.case.title, tuple(writer.parts)), tuple(writer.unsealed)
