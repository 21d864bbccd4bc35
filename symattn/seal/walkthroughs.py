"""A walkthrough as a file of theorems: its definitions, its figures, its gradients."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from flint import arb, fmpq

from symattn.auditing.audit import audit
from symattn.auditing.figures import Figure
from symattn.cases.case import Case
from symattn.cases.settings import settings
from symattn.errors import Malformed
from symattn.expressions import syntax
from symattn.limits import SEALED
from symattn.numbers.balls import Exhausted, charge, task
from symattn.numbers.rationals import PrintedNumber, read_printed
from symattn.numbers.rounding import decimal
from symattn.programs.nodes import Node, ancestors
from symattn.seal.bounds import Bounds, precise
from symattn.seal.definitions import Definition, Definitions, Unstated
from symattn.seal.gradients import Derivative, Derivatives, slope
from symattn.seal.seals import Sealing, Unsealed
from symattn.seal.terms import Asked, Entry, Term, decimal_fraction, number_text, side
from symattn.seal.theorems import File, Theorem
from symattn.solution.entries import EntryValue
from symattn.solution.quantity import Quantity
from symattn.solution.solution import Solution, solve
from symattn.verdicts import Verdict

# -- printed figures as theorems ---------------------------------------------------------
# That what a walkthrough defines rounds to them, or does not.


@dataclass(frozen=True)
class Printed:
    """A figure to be sealed: what it is of, what is printed, and what should be; ``said`` is it
    as its readers know it. ``correct`` is '' where the figure is right; ``exact`` is the rational
    number that it should be, where it is one."""

    said: str
    term: Term
    number: PrintedNumber
    correct: str = ""
    exact: fmpq | None = None


def decimal_text(printed: PrintedNumber) -> str:
    """A printed number as a fraction of its unit: ``1863 / 10000``.

    >>> decimal_text(read_printed("0.1863")), decimal_text(read_printed("-2"))
    ('1863 / 10000', '- 2')
    """
    if printed.unit.p != 1:
        return number_text(printed.value)
    return decimal_fraction(printed.count, int(printed.unit.q))


class Figures:
    """Theorems of figures over definitions, with the lemmas that they need."""

    def __init__(self, definitions: Definitions) -> None:
        self.definitions = definitions
        self.bounds = Bounds(definitions)

    def theorem(self, name: str, figure: Printed) -> Theorem:
        """The theorem of a figure. Raises :class:`Unstated` where what it is of is not known
        closely enough to say on which side of a boundary it is."""
        printed, term = figure.number, figure.term
        of = side(term)
        try:
            with precise():
                value = self.bounds.numbers.value(term, {})
        except KeyError as missing:
            raise Unstated(f"{missing} has no statement") from None
        exact = value if isinstance(value, fmpq) else figure.exact
        if exact == printed.value and (proof := self._equal(term, value)) is not None:
            return Theorem(name, f"{of} = {decimal_text(printed)}", proof, figure.said)
        if self._is_within(value if exact is None else exact, printed):
            statement = within(of, printed)
            return Theorem(name, statement, self._near(term, value), figure.said)
        statement = f"~ {within(of, printed)}"
        near = self._near(term, value)
        if not figure.correct:
            return Theorem(name, statement, f"apply Rlt_not_le. {near}", figure.said)
        right = read_printed(figure.correct)
        if right is None:
            raise Unstated(f"{figure.correct} is no number")
        proof = f"split. {{ apply Rlt_not_le. {near} }} {{ {near} }}"
        if not self._is_within(value if exact is None else exact, right):
            raise Unstated(f"{figure.correct} is not within half a unit either")
        said = f"{figure.said}: wrong, it is {figure.correct}"
        return Theorem(name, f"{statement} /\\ {within(of, right)}", proof, said)

    def derivative(self, derivative: Derivative, name: str, figure: Printed) -> Theorem:
        """The theorem of a figure of a gradient: the derivative is there, and is near it."""
        assert isinstance(figure.term, Entry)
        inner = self.theorem("", figure)
        entry = side(figure.term)
        moving = slope(derivative.loss_name, derivative.by, *figure.term.indices)
        d = "d" if derivative.by != "d" else "d'"
        near = re.sub(rf"\b{entry}\b", d, inner.statement)
        proof = f"exists ({entry}). split; [apply {derivative.theorem.name}; lia |]. {inner.proof}"
        return Theorem(name, f"exists {d} : R, {moving} {d} /\\ {near}", proof, figure.said)

    def _is_within(self, value: fmpq | arb, printed: PrintedNumber) -> bool:
        if isinstance(value, fmpq):
            half = printed.unit / 2
            return bool(-half <= value - printed.value <= half)
        with precise():
            room = arb(printed.unit / 2) - abs(value - arb(printed.value))
            if room >= 0:
                return True
            if room < 0:
                return False
        raise Unstated("it is too close to a boundary of rounding")

    def _near(self, term: Term, value: fmpq | arb) -> str:
        """The proof that a term is near a number, or far from it."""
        if isinstance(term, Entry) and not self.bounds.is_given(term):
            lemma = self.bounds.lemma(term).name
            return f"{'rewrite' if isinstance(value, fmpq) else 'pose proof'} {lemma}. figure."
        return (
            f"{self.bounds.preparation(term)} {'figure' if isinstance(value, fmpq) else 'bounded'}."
        )

    def _equal(self, term: Term, value: fmpq | arb) -> str | None:
        """The proof that a term is a rational number: by rational steps, or as exponentials
        cancel, for which all is opened that is no rational number; None where that is too much."""
        if isinstance(value, fmpq):
            return f"{self.bounds.preparation(term)} same."
        opened = self.bounds.opening(term)
        return None if opened is None else f"{opened} same."


def within(of: str, printed: PrintedNumber) -> str:
    """The statement that a term is within half a unit of a printed number.

    >>> within("A 0 1", read_printed("0.1863"))
    'Rabs (A 0 1 - 1863 / 10000) <= 1 / 20000'
    """
    far = decimal_text(printed)
    sign = "+" if far.startswith("- ") else "-"
    return f"Rabs ({of} {sign} {far.removeprefix('- ')}) <= {number_text(printed.unit / 2)}"


# -- walkthroughs ------------------------------------------------------------------------


class _Writer:
    """Writes the parts of a file as they are needed."""

    def __init__(self, solution: Solution, places: int | None) -> None:
        self.solution = solution
        self.case = solution.case
        asked = {} if places is None else {"places": places}
        self._places = settings(self.case.sheet, asked).places
        program = self.case.program
        self._gradients = {x.serial: name for name, x in reversed([*program.gradients.items()])}
        named = dict(program.quantities)
        if program.upstream is not None:
            named.setdefault(f"d{self.case.output}", program.upstream)
        self.definitions = Definitions(
            named, lambda node: solution.quantity(node).rows, self._gradient
        )
        self.figures = Figures(self.definitions)
        self.parts: list[str | Theorem] = []
        self.unsealed: list[Unsealed] = []
        self._written: set[str] = set()
        self._losses: dict[str, Derivatives] = {}
        self._derivatives: dict[str, Derivative] = {}

    def add(self, *theorems: Theorem) -> None:
        """Write theorems, and before them the definitions and lemmas that are new."""
        for definition in self.definitions:
            if definition.name not in self._written:
                self._written.add(definition.name)
                self.parts.append(definition.text())
        self.parts += [*self.figures.bounds.taken(), *theorems]

    def figure(self, name: str, figure: Figure) -> None:
        """Write the theorem of an audited figure."""
        name, said = self.definitions.names.fresh(name), figure.description
        try:
            place = figure.node, figure.entry.i, figure.entry.j
            if figure.printed is None:
                self.add(self._hidden(name, said, self.definitions.condition(*place)))
                return
            if (size := self._size(name, said, figure)) is not None:
                self.add(size)
                return
            term = self.definitions.entry(*place)
            exact = figure.entry.value.rational()
            printed = Printed(said, term, figure.printed, figure.correct, exact)
            if isinstance(term, Entry) and term.name in self._derivatives:
                derivative = self._derivatives[term.name]
                self.add(self.figures.derivative(derivative, name, printed))
            else:
                self.add(self.figures.theorem(name, printed))
        except (Unstated, Exhausted) as why:
            self._leave(said, why)

    def _leave(self, said: str, why: Unstated | Exhausted) -> None:
        """Tell of what has no theorem."""
        self.unsealed.append(Unsealed(said, str(why) or SEALED.said()))

    def sheet(self) -> None:
        """Write the theorems of the figures that a sheet has of each step."""
        program = self.case.program
        for name in program.steps:
            node = program.quantities[name]
            quantity = self.solution.quantity(node, name)
            if quantity.symbols:
                self.unsealed.append(Unsealed(name, "a form in letters has no figure"))
                continue
            try:
                made = self.definitions.of(node)
            except Unstated:
                continue
            self._entries(quantity, made, "printed", self.figures.theorem)

    def _entries(
        self,
        quantity: Quantity,
        made: Definition,
        ending: str,
        stated: Callable[[str, Printed], Theorem],
    ) -> None:
        """Write the theorems of all entries of a quantity that a sheet prints, by a definition."""
        for i in range(made.grid[0]):
            for j in range(made.grid[1]):
                entry, term = EntryValue(quantity, i, j), made.at(i, j)
                if entry.is_masked:
                    continue
                wanted = "_".join(filter(None, (made.name, *map(str, term.indices), ending)))
                name = self.definitions.names.fresh(wanted)
                try:
                    charge(0)  # Where nothing is left, its digits are not worked out.
                    self.add(stated(name, self._printed(entry, term)))
                except (Unstated, Exhausted) as why:
                    self._leave(entry.place, why)

    def _printed(self, entry: EntryValue, term: Entry) -> Printed:
        """The figure that a sheet has of an entry. Raises :class:`Unstated`."""
        try:
            printed = read_printed(str(decimal(entry, self._places, self.case.rounding)))
        except Malformed:
            raise Unstated("a number of so many digits has no statement") from None
        assert printed is not None
        said = f"{entry.place} = {printed.text}"
        return Printed(said, term, printed, exact=entry.value.rational())

    def _gradient(self, node: Node) -> Definition | None:
        """The definition of a node that is a gradient; None of any other."""
        name = self._gradients.get(node.serial)
        if name is None or node is self.case.program.upstream:
            return None
        return self.derivative(name).gradient

    def derivative(self, name: str, letter: str = "") -> Derivative:
        """The derivative of the loss by a quantity: with all that flows into the output (''),
        what stands alone ("1"), or what stands before a letter. Raises :class:`Unstated`."""
        program = self.case.program
        if letter not in self._losses:
            output, upstream = program.quantities[self.case.output], program.upstream
            assert upstream is not None
            flowing = self.solution.quantity(upstream)
            if not letter and flowing.symbols:
                raise Unstated("what flows into the output has letters in it")
            rows = (flowing.coefficient(letter) if letter else flowing).rows
            self._losses[letter] = Derivatives(
                self.figures.bounds, self.definitions, output, rows, letter.strip("1")
            )
        made = self._losses[letter].by(program.quantities[name])
        if made.gradient.name not in self._derivatives:
            self._derivatives[made.gradient.name] = made
            self.add()
            self.parts.append(made.loss)
            self.add(made.theorem)
        return made

    def gradients(self) -> None:
        """Write the figures of gradients that a sheet has: that the derivative is there, and
        rounds to them; of an upstream gradient in letters those of each letter's coefficients."""
        program = self.case.program
        assert program.upstream is not None
        upstream = self.solution.quantity(program.upstream)
        for letter in ("1", *upstream.symbols) if upstream.symbols else ("",):
            flowing = upstream.coefficient(letter) if letter else upstream
            if letter == "1" and all(value == 0 for row in flowing.rows for value in row):
                continue
            for name in _stages(self.solution):
                quantity = self.solution.gradient(name)
                try:
                    derivative = self.derivative(name, letter)
                except (Unstated, Exhausted) as why:
                    self._leave(f"the gradient by {name}", why)
                    continue
                self._entries(
                    quantity.coefficient(letter) if letter else quantity,
                    derivative.gradient,
                    "",
                    partial(self.figures.derivative, derivative),
                )

    def _size(self, name: str, said: str, figure: Figure) -> Theorem | None:
        """That a quantity has so many rows or columns; None of what is no such figure."""
        match figure.claim.tree, figure.printed:
            case syntax.Call("rows" | "cols" as of, (syntax.Name(quantity),)), PrintedNumber():
                made = self.definitions.of(self.case.program.quantities[quantity])
                size = f"{made.name}_{of}"
                if size not in self._written:
                    self._written.add(size)
                    self.add()
                    count = made.grid[of == "cols"]
                    self.parts.append(f"Definition {size} : nat := {count}.")
                printed = figure.printed.value
                sign = "=" if figure.verdict is Verdict.HOLDS else "<>"
                proof = "reflexivity." if sign == "=" else "discriminate."
                return Theorem(name, f"{size} {sign} {printed}%nat", proof, said)
        return None

    @staticmethod
    def _hidden(name: str, said: str, condition: Asked | None) -> Theorem:
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


def sealed(case: str | Path | Case, places: int | None = None) -> Sealing:
    """The theorems of what a walkthrough prints: figures that it claims, and the entries that its
    sheet has, to so many decimal ``places``, by default those of the case; of an article its
    figures alone. Raises :class:`Malformed` with the faults of a case.

    >>> sealing = sealed("cat-sat-mat-causal")
    >>> print(next(x for x in sealing.file.sealing() if x.name == "A_1_0_printed").statement)
    Rabs (A 1 0 - 2689 / 10000) <= 1 / 20000
    """
    judged = audit(case)
    solution = solve(judged.case)
    writer = _Writer(solution, places)
    for name, node in judged.case.program.quantities.items():
        try:
            writer.definitions.of(node)
        except Unstated as why:
            writer.unsealed.append(Unsealed(name, str(why)))
    width = len(str(len(judged.figures)))
    with task(SEALED.most):
        for number, figure in enumerate(judged.figures, 1):
            writer.figure(f"figure_{number:0{width}}", figure)
        if judged.case.reading is None:
            writer.sheet()
        if judged.case.reading is None or judged.case.states_loss:
            writer.gradients()
    file = File(judged.case.name, judged.case.title, tuple(writer.parts))
    return Sealing("figures", file, tuple(writer.unsealed))
