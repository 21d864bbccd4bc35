"""Conditions of lines as premises of theorems, but those that the library sees to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from symattn.calculus import language as term
from symattn.calculus import line_reading
from symattn.calculus.draft import DerivationDraft
from symattn.calculus.language import Expr, Index
from symattn.errors import Malformed
from symattn.seal.line_terms import Terms, Unsayable

EVERY = " for all "
"""What says of a condition that it is one of all places."""
_RELATIONS = {"!=": "<>", ">=": ">=", "<=": "<=", ">": ">"}


class SideConditions:
    """Writes the conditions of one derivation's lines."""

    def __init__(self, draft: DerivationDraft, terms: Terms) -> None:
        self.draft, self.terms = draft, terms

    def of(self, conditions: Iterable[str], free: tuple[Index, ...]) -> list[str]:
        """Return those of a line, of its places or of all. Raises :class:`Unsayable`."""
        said: list[str] = []
        for each in conditions:
            try:
                said += self._of(each, () if EVERY in each else free)
            except Malformed:
                raise Unsayable(f"the condition {each}") from None
        return said

    def _of(self, condition: str, free: tuple[Index, ...]) -> Iterator[str]:
        said = condition.partition(EVERY)[0]
        relation = next(each for each in _RELATIONS if f" {each} " in said)
        left, _, right = said.partition(f" {relation} ")
        places = {index.name: self.terms.indices[index] for index in free}
        base, _, offset = left.partition(" + ")
        sizes = self.terms.sizes
        if relation == "<=" and base in places and right in sizes:
            yield f"({places[base]} + {offset or 0} < {sizes[right]})%nat"
        elif relation == ">=" and left in places:
            yield f"({int(right) - 1} <= {places[left]})%nat"
        elif relation == ">=" and left in sizes:
            yield f"({right} <= {sizes[left]})%nat"
        else:
            yield from self._of_numbers(left, relation, right, free)

    def _of_numbers(
        self, left: str, relation: str, right: str, free: tuple[Index, ...]
    ) -> Iterator[str]:
        terms = self.terms
        read = line_reading.hypothesis(f"{left} == {right}", self.draft.scope)
        if self._is_above(read.sides[0]):
            return
        named = {index.name: index for index in free}
        others = [index for index in read.free if index.name not in named]
        for index in read.free:
            if index.name in named:
                terms.indices[index] = terms.indices[named[index.name]]
        with terms.binding(*others) as names:
            bounds = "".join(f"{terms.within(index)} -> " for index in others)
            left, right = map(terms.text, read.sides)
        stated = f"{left} {_RELATIONS[relation]} {right}"
        yield f"(forall {' '.join(names)} : nat, {bounds}{stated})" if names else stated

    def _is_above(self, value: Expr, strictly: bool = True) -> bool:
        """Tell whether an expression is above 0, or not below it, by its form, as the library sees
        it."""
        match value:
            case term.AtMost() | term.Delta() | term.Power(_, exponent=2) if not strictly:
                return True
            case term.Number(number):
                return number > 0
            case term.Size() | term.Apply("exp") | term.Constant():
                return True
            case term.Entry(array) if array.body is not None:
                return self._is_above(array.body, strictly)
            case term.Entry(array):
                return any(
                    line.relation == ">"
                    and isinstance(side := line.sides[0], term.Entry)
                    and side.array is array
                    for line in self.draft.ground.hypotheses
                )
            case term.Sum(_, body):
                parts = body.factors if isinstance(body, term.Mul) else (body,)
                return all(
                    isinstance(each, term.AtMost | term.Delta) or self._is_above(each, strictly)
                    for each in parts
                )
            case term.Power(body):
                return self._is_above(body)
            case term.Mul(factors):
                return all(self._is_above(each, strictly) for each in factors)
            case term.Div(above, below):
                return self._is_above(above, strictly) and self._is_above(below)
            case term.Add(parts):
                return any(map(self._is_above, parts)) and all(
                    self._is_above(each, strictly=False) for each in parts
                )
        return False
