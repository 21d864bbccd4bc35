"""A walkthrough as a file of theorems: its definitions, its figures, its gradients."""

from __future__ import annotations

from dataclasses import dataclass

from symattn.auditing.audit import Audit, audit
from symattn.auditing.figures import Figure
from symattn.cases.case import Case
from symattn.cases.settings import settings
from symattn.numbers.rationals import read_printed
from symattn.numbers.rounding import decimal
from symattn.programs.nodes import ancestors
from symattn.seal.definitions import Definitions, Unstated
from symattn.seal.figures import Figures, Printed
from symattn.seal.gradients import Derivative, Derivatives
from symattn.seal.terms import Moved, Number
from symattn.seal.theorems import File, Theorem
from symattn.solution.entries import EntryValue
from symattn.shapes import keys
from symattn.solution.quantity import Quantity
from symattn.solution.solution import Solution, solve


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
            place = figure.node, figure.entry.i, figure.entry.j
            if figure.printed is None:
                self.add(self._hidden(name, said, self.definitions.condition(*place)))
                return
            term = self.definitions.entry(*place)
            if isinstance(term, Number) and not figure.claim.is_arithmetic:
                raise Unstated("a size is no real number")
            exact = figure.entry.value.rational()
            printed = Printed(said, term, figure.printed, figure.correct, exact)
            self.add(self.figures.theorem(name, printed))
        except Unstated as why:
            self.unsealed.append(Unsealed(said, str(why)))


    def gradients(self) -> None:
        """Write the derivatives of the loss, and the figures of them that a sheet has; of an
        upstream gradient in letters those of each letter's coefficients."""
        program = self.case.program
        assert program.upstream is not None
        upstream = self.solution.quantity(program.upstream)
        letters = ("1", *upstream.symbols) if upstream.symbols else ("",)
        for letter in letters:
            flowing = upstream.coefficient(letter) if letter else upstream
            if letter == "1" and all(value == 0 for row in flowing.rows for value in row):
                continue
            try:
                self._gradients(flowing, "" if letter in ("", "1") else letter)
            except Unstated as why:
                self.unsealed.append(Unsealed("the gradients", str(why)))

    def _gradients(self, upstream: Quantity, letter: str) -> None:
        """The derivatives with this upstream gradient."""
        program = self.case.program
        output = program.quantities[self.case.output]
        derivatives = Derivatives(self.definitions, output, upstream.rows, letter)
        for name in _stages(self.solution):
            try:
                derivative = derivatives.by(program.quantities[name])
            except Unstated as why:
                self.unsealed.append(Unsealed(f"the gradient by {name}", str(why)))
                continue
            self.add()
            self.parts.append(derivative.loss)
            self.add(derivative.theorem)
            quantity = self.solution.gradient(name)
            self._gradient_figures(quantity.coefficient(letter) if letter else quantity, derivative)

    def _gradient_figures(self, quantity: Quantity, derivative: Derivative) -> None:
        """The figures of a gradient: that the derivative is there, and rounds to them."""
        places, mode = settings(self.case.sheet).places, self.case.rounding
        made = derivative.gradient
        for i in range(made.grid[0]):
            for j in range(made.grid[1]):
                entry = EntryValue(quantity, i, j)
                printed = read_printed(str(decimal(entry, places, mode)))
                said = f"{quantity.name}{[*keys(quantity.shape, i, j)]} = {printed.text}"
                figure = Printed(said, made.at(i, j), printed, exact=entry.value.rational())
                try:
                    self.add(self.figures.derivative(derivative, i, j, figure))
                except Unstated as why:
                    self.unsealed.append(Unsealed(said, str(why)))

    @staticmethod
    def _hidden(name: str, said: str, condition: tuple[str, tuple[int | Moved, ...]] | None) -> Theorem:
        """That a score is masked: its key is left out."""
        if condition is None:
            raise Unstated("it is not masked")
        asked = " ".join((condition[0], *map(str, condition[1])))
        return Theorem(name, f"{asked} = false", "reflexivity.", said)


def _stages(solution: Solution) -> list[str]:
    """The quantities whose gradients a sheet shows, from the output back."""
    case = solution.case
    gradients = case.program.gradients
    needed = {x.serial for x in ancestors(gradients[name] for name in case.wrt)}
    return [
        name
        for name in reversed(list(case.program.quantities))
        if name in gradients and gradients[name].serial in needed and name != case.output
    ]


def sealed(case: str | Case) -> tuple[File, tuple[Unsealed, ...]]:
    """The file of theorems of a case's claims, and what has none."""
    judged = audit(case)
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
    writer.gradients()
    return File(judged.case.name, judged.case.title, tuple(writer.parts)), tuple(writer.unsealed)
