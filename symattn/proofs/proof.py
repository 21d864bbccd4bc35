"""Writing a derivation: each line is confirmed as it is added, or refused.

See the docstring of :mod:`symattn.proofs` for an example.
"""

from __future__ import annotations

from collections.abc import Sequence

from symattn.errors import Malformed, SymattnError
from symattn.proofs.checking import Checker, How, Sizes, read_sizes, weaker
from symattn.proofs.derivation import (
    Conclusion,
    Definition,
    Derivation,
    Equation,
    Numeric,
    Result,
    Step,
)
from symattn.proofs.language import Entry, Expr, Index, Scalar, Size, expression, partial, sum_over
from symattn.proofs.matrices import Array, Kind, Matrix


class RefusedStep(SymattnError):
    """A line of a proof is not so: names the derivation, the line, and where it fails."""

    def __init__(self, derivation: str, line: str, equation: str, where: str) -> None:
        self.derivation, self.line, self.equation, self.where = derivation, line, equation, where
        super().__init__(derivation, line, equation, where)

    def __str__(self) -> str:
        return f"{self.derivation}, {self.line}: {self.equation} fails at {self.where}"


class Proof:
    """A derivation being written.

    ``sizes`` are the concrete sizes at which every line is confirmed, besides
    all sizes at once; rectangular ones, so that a wrong transpose can't hide.
    """

    def __init__(
        self,
        name: str,
        *,
        statement: str,
        source: str,
        sizes: Sequence[Sizes],
        assumptions: Sequence[str] = (),
    ) -> None:
        self._name, self._statement, self._source = name, statement, source
        self._assumptions = list(assumptions)
        self._sizes = read_sizes(sizes, sizes[0] if sizes else ())
        self._checker = Checker(self._sizes)
        self._definitions: list[Definition] = []
        self._steps: list[Step] = []
        self._results: list[Result] = []
        self._part = ""

    # What the proof speaks of.

    def array(self, name: str, *axes: Size, kind: Kind = "number") -> Array:
        """A given array."""
        return Array(name, axes, kind)

    def scalar(self, name: str, kind: Kind = "number") -> Entry:
        """A given number."""
        return Array(name, (), kind)[()]

    def define(self, name: str, params: Sequence[Index], body: Scalar) -> Array:
        """An array whose entry at ``params`` is ``body``.

        A definition that reads like an earlier one (the same formula at other
        sizes) is not listed twice.
        """
        axes = tuple(index.size for index in params)
        array = Array(name, axes, params=tuple(params), body=expression(body))
        listed = Definition(array[tuple(params)], expression(body), "symbolic", self._part)
        if listed.text not in {line.text for line in self._definitions}:
            self._definitions.append(listed)
        return array

    def name(self, name: str, body: Scalar) -> Entry:
        """A number that stands for ``body``."""
        return self.define(name, (), body)[()]

    def loss(self, output: Array, upstream: Array, params: Sequence[Index]) -> Entry:
        """A loss that is any differentiable function of ``output``.

        Only its gradient in the output, ``upstream``, enters the gradients before
        it (chain rule), so it is checked as ``sum(upstream * output)``.
        """
        at = tuple(params)
        assumed = (
            f"L is any differentiable function of {output.name}; {upstream.name} is its gradient."
        )
        if assumed not in self._assumptions:
            self._assumptions.append(assumed)
        return Array("L", (), body=sum_over(*params, upstream[at] * output[at]))[()]

    def gradient(self, loss: Entry, array: Array, *params: Index) -> Array:
        """The gradient of the loss in an array, named ``d`` and the array's name."""
        return self.define(f"d{array.name}", params, partial(loss, array[params]))

    # The proof.

    def part(self, heading: str) -> None:
        """Start a part of the proof."""
        self._part = heading

    def step(self, lhs: Expr, rhs: Scalar, rule: str) -> None:
        """Add the line ``lhs = rhs``. Raises :class:`RefusedStep` where it is not so."""
        self._add(lhs, expression(rhs), rule, continues=False)

    def then(self, rhs: Scalar, rule: str) -> None:
        """Add ``= rhs`` to the line before."""
        if not self._steps or not isinstance(self._steps[-1].lhs, Expr):
            raise Malformed(f"{self._name}: there is no step to continue")
        self._add(self._steps[-1].lhs, expression(rhs), rule, continues=True)

    def _add(self, lhs: Expr, rhs: Expr, rule: str, continues: bool) -> None:
        number = len(self._steps) + 1
        how = self._confirmed(f"step {number}", Equation(lhs, rhs, "undecided"), lhs, rhs)
        self._steps.append(Step(lhs, rhs, how, number, rule, self._part, continues))

    def conclude(self, *matrix: Matrix) -> None:
        """Make the chain just written a result; ``matrix`` are both sides of its matrix form."""
        if not self._steps:
            raise Malformed(f"{self._name}: there is no step to conclude from")
        last = self._steps[-1]
        result = Result(Equation(last.lhs, last.rhs, last.how))
        if matrix:
            left, right = matrix
            form = Equation(left, right, "undecided")
            label = f"matrix form of step {last.number}"
            how = self._confirmed(label, form, *result.sides(left, right))
            result = Result(result.index, Equation(left, right, weaker(how, last.how)))
        self._results.append(result)

    def done(self, numeric: Numeric) -> Derivation:
        """The finished derivation; ``numeric`` yields what NumPy compares.

        Raises Malformed where there is no step or no conclusion.
        """
        if not self._steps or not self._results:
            raise Malformed(f"{self._name}: a derivation needs a step and a conclusion")
        return Derivation(
            self._name,
            self._statement,
            tuple(self._assumptions),
            self._source,
            tuple(self._definitions),
            tuple(self._steps),
            Conclusion(tuple(self._results)),
            self._sizes,
            numeric,
        )

    def _confirmed(self, line: str, equation: Equation, lhs: Expr, rhs: Expr) -> How:
        found = self._checker.confirm(lhs, rhs)
        if found.how == "refuted":
            raise RefusedStep(self._name, line, equation.text, found.where)
        return found.how
