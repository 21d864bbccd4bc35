"""The lines of one derivation, proved by the kernel with rules that are chosen for it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from symattn.calculus.choices import Choices
from symattn.calculus.kernel.proof import Kernel, Last
from symattn.calculus.kernel.signs import Condition
from symattn.calculus.kernel.terms import Atom, Mono, Poly, Unproved, is_index, minus
from symattn.calculus.language import Array
from symattn.calculus.rewriting import Rewriting
from symattn.calculus.tensors import ParsedLine

_CASES = 24


class Prover:
    """Proves lines from definitions and equations."""

    def __init__(
        self,
        known: Sequence[ParsedLine] = (),
        random: Sequence[Array] = (),
        folded: frozenset[Array] = frozenset(),
    ) -> None:
        self.kernel = kernel = Kernel(folded)
        kernel.random = frozenset(random)
        self.choices = kernel.choose = Choices(kernel)
        self.rewriting = Rewriting(kernel)
        for line in known:
            if line.relation != "==":
                self._suppose(line)
        equations = [line for line in known if line.relation == "=="]
        for line in equations:
            with suppress(Unproved, RecursionError):
                numbers = kernel.assume(line.sides)
                self.choices.equations = self.rewriting.step
                for number in numbers:
                    self.rewriting.learn(number)
        kernel.forget()
        self.choices.symmetric.clear()

    def _suppose(self, line: ParsedLine) -> None:
        """Take it that one term is above another, or not below it."""
        kernel = self.kernel
        with suppress(Unproved, RecursionError):
            larger, smaller = map(kernel.read, line.sides)
            poly = minus(larger, smaller)
            relation = ">" if line.relation == ">" else ">="
            conditions = {Condition(relation, frozenset(poly.items()))}
            for index in line.free:
                conditions = kernel.quantified(conditions, index)
            kernel.know(conditions)

    def shown(self, line: ParsedLine) -> tuple[str, set[Condition]]:
        """Why a line was not shown for all sizes, nothing if it was; and its conditions."""
        kernel = self.kernel
        kernel.forget()
        try:
            kernel.differences(line.sides)
            meaning = {each for each in kernel.conditions if each in kernel.sources}
            before = kernel.known()
            kernel.know(meaning)
            kernel.forget()
            try:
                ways = kernel.differences(line.sides)
                shown = all(self._vanishes(way, 0) for way in ways)
                conditions = kernel.conditions | meaning
            finally:
                kernel.known(before)
            return ("" if shown else "its sides have different normal forms"), conditions
        except Unproved as reason:
            return str(reason), set()
        except (RecursionError, OverflowError, ZeroDivisionError):
            return "its normal form is too large", set()

    def _vanishes(self, poly: Poly, depth: int) -> bool:
        if not poly:
            return True
        if depth > _CASES:
            raise Unproved("too many cases")
        below = self.choices.below(poly)
        if below is not None:
            return all(self._vanishes(p, depth + 1) for p in self._after(poly, "clear", below))
        atoms = [atom for mono in poly for atom, _ in mono]
        rank = self.kernel.rank
        for atom in atoms:
            if atom.kind == "m" and rank(atom.data[1]) < rank(atom.data[0]):
                ways = self._after(poly, "reversal", atom)
                return all(self._vanishes(p, depth + 1) for p in ways)
        for atom in atoms:
            if atom.kind == "d" and any(
                is_index(at) and other[0] is not at[0] for at, other in (atom.data, atom.data[::-1])
            ):
                ways = self._after(poly, "cases", atom)
                return all(self._vanishes(p, depth + 1) for p in ways)
        return False

    def _after(self, poly: Poly, rule: str, data: object) -> list[Poly]:
        return self.kernel.last(poly, Last(rule, data))
